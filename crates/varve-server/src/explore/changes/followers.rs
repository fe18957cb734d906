//! Followers: readers that wait for changes. This module limits their number and their concurrent
//! reads, and wakes them.
//!
//! One task per followed graph polls the graph's version for all followers.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::IpAddr;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use varve_auth::Id;
use varve_graph::Graph;
use varve_model::CommitVersion;

use super::ChangesConfig;
use crate::errors::ApiError;
use crate::request::RequestContext;
use crate::runtime::counted_as;
use crate::state::AppState;

/// Interval of the poll for new versions.
const POLL_EVERY: Duration = Duration::from_millis(10);

/// The client whose limit a follower counts towards.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Client {
    User(Id),
    Address(IpAddr),
}

impl Client {
    /// The user of a request, or without one its address. `None` for loopback addresses without a
    /// user: they have no limit.
    fn of(context: &RequestContext) -> Option<Self> {
        if let Some(user) = context.identity().user() {
            return Some(Self::User(user.id.clone()));
        }
        let address = counted_as(context.address);
        (!address.is_loopback()).then_some(Self::Address(address))
    }
}

/// The numbers of followers.
#[derive(Debug, Default)]
struct Counts {
    all: usize,
    of_clients: HashMap<Client, usize>,
}

/// Readers that wait for changes.
#[derive(Debug)]
pub(crate) struct Followers {
    counts: Arc<Mutex<Counts>>,
    max: usize,
    /// 0 is no limit.
    per_client_max: usize,
    retry_after_seconds: u32,
    /// The versions of the followed graphs.
    watched: Arc<Mutex<Vec<Watched>>>,
    /// Slots for concurrent reads.
    reads: Arc<Semaphore>,
}

/// A graph that is followed.
#[derive(Debug)]
struct Watched {
    graph: Weak<Graph>,
    version: watch::Receiver<CommitVersion>,
}

/// A follower's slot. Dropping it makes the slot free.
#[derive(Debug)]
pub(super) struct FollowerSlot {
    counts: Arc<Mutex<Counts>>,
    client: Option<Client>,
}

impl Drop for FollowerSlot {
    fn drop(&mut self) {
        let mut counts = self.counts.lock();
        counts.all -= 1;
        let Some(client) = self.client.take() else {
            return;
        };
        if let Entry::Occupied(mut count) = counts.of_clients.entry(client) {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
    }
}

/// Why a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WaitEnd {
    /// The graph has a newer version.
    Commit,
    /// The time to wait is over.
    TimeOver,
    /// The server is stopping, or no longer serves the graph.
    Gone,
}

impl Followers {
    pub(crate) fn new(config: &ChangesConfig, retry_after_seconds: u32) -> Self {
        Self {
            counts: Arc::default(),
            max: config.followers_max,
            per_client_max: config.followers_per_client_max,
            retry_after_seconds,
            watched: Arc::default(),
            reads: Arc::new(Semaphore::new(config.reads_max.min(Semaphore::MAX_PERMITS))),
        }
    }

    /// The number of followers.
    pub(crate) fn count(&self) -> usize {
        self.counts.lock().all
    }

    /// Counts the reader of a request as a follower. 503 if there are too many followers, 429 if
    /// its client has too many.
    pub(super) fn enter(&self, context: &RequestContext) -> Result<FollowerSlot, ApiError> {
        self.enter_as(Client::of(context))
    }

    fn enter_as(&self, client: Option<Client>) -> Result<FollowerSlot, ApiError> {
        let mut counts = self.counts.lock();
        if counts.all >= self.max {
            let message = format!(
                "{} readers follow changes already (changes.followers_max)",
                self.max
            );
            return Err(ApiError::unavailable(message, self.retry_after_seconds));
        }
        if let Some(client) = &client {
            let own = counts.of_clients.entry(client.clone()).or_default();
            if self.per_client_max != 0 && *own >= self.per_client_max {
                let message = format!(
                    "The client already has {} followers of changes \
                     (changes.followers_per_client_max)",
                    self.per_client_max
                );
                let seconds = self.retry_after_seconds;
                return Err(ApiError::too_many_requests(message, seconds));
            }
            *own += 1;
        }
        counts.all += 1;
        Ok(FollowerSlot {
            counts: Arc::clone(&self.counts),
            client,
        })
    }

    /// Waits for a slot to read, at most until `end`. 503 if none becomes free.
    pub(super) async fn turn_to_read(
        &self,
        end: Instant,
    ) -> Result<OwnedSemaphorePermit, ApiError> {
        let busy = || {
            ApiError::unavailable(
                "Too many reads of changes at once (changes.reads_max)",
                self.retry_after_seconds,
            )
        };
        let turn = Arc::clone(&self.reads).acquire_owned();
        match tokio::time::timeout_at(end.into(), turn).await {
            Ok(Ok(turn)) => Ok(turn),
            Ok(Err(_)) | Err(_) => Err(busy()),
        }
    }

    /// Waits until a graph has a version after `since`, at most until `end`. Ends early if the
    /// server is stopping or no longer serves the graph.
    pub(super) async fn wait(
        &self,
        state: &Arc<AppState>,
        graph: &Arc<Graph>,
        since: CommitVersion,
        end: Instant,
    ) -> WaitEnd {
        if state.is_stopping() || !is_served(state, graph) {
            return WaitEnd::Gone;
        }
        // The time is checked before the version: otherwise waits would never end while commits
        // without a requested change keep coming.
        if Instant::now() >= end {
            return WaitEnd::TimeOver;
        }
        if graph.published() > since {
            return WaitEnd::Commit;
        }
        let mut version = self.watch(state, graph);
        let newer = version.wait_for(|version| *version > since);
        match tokio::time::timeout_at(end.into(), newer).await {
            Ok(Ok(_)) => WaitEnd::Commit,
            Ok(Err(_)) => WaitEnd::Gone,
            Err(_) => WaitEnd::TimeOver,
        }
    }

    /// The channel with a graph's version. Starts the task that polls it if there is none.
    fn watch(&self, state: &Arc<AppState>, graph: &Arc<Graph>) -> watch::Receiver<CommitVersion> {
        let mut watched = self.watched.lock();
        // A sender whose serving thread has ended is gone.
        watched.retain(|each| each.version.has_changed().is_ok());
        let is_of = |each: &&Watched| std::ptr::eq(each.graph.as_ptr(), Arc::as_ptr(graph));
        if let Some(known) = watched.iter().find(is_of) {
            return known.version.clone();
        }
        let (sender, version) = watch::channel(graph.published());
        let graph = Arc::downgrade(graph);
        watched.push(Watched {
            graph: Weak::clone(&graph),
            version: version.clone(),
        });
        let all = Arc::clone(&self.watched);
        tokio::spawn(notify_followers(Arc::clone(state), graph, sender, all));
        version
    }
}

/// Whether this server serves the graph.
fn is_served(state: &AppState, graph: &Arc<Graph>) -> bool {
    let now = state.graphs().get(graph.name());
    now.is_ok_and(|now| Arc::ptr_eq(&now, graph))
}

/// Polls a graph's version and sends it to the followers. Ends when no follower waits, the graph is
/// dropped or no longer served here, or the server is stopping.
async fn notify_followers(
    state: Arc<AppState>,
    graph: Weak<Graph>,
    sender: watch::Sender<CommitVersion>,
    watched: Arc<Mutex<Vec<Watched>>>,
) {
    loop {
        tokio::time::sleep(POLL_EVERY).await;
        let Some(graph) = graph.upgrade() else {
            return;
        };
        if state.is_stopping() || !is_served(&state, &graph) {
            return;
        }
        let now = graph.published();
        sender.send_if_modified(|version| std::mem::replace(version, now) != now);
        // The lock keeps [`Followers::watch`] from adding a receiver. The only one left is that of
        // the list.
        let mut watched = watched.lock();
        if sender.receiver_count() == 1 {
            watched.retain(|each| !std::ptr::eq(each.graph.as_ptr(), Arc::as_ptr(&graph)));
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn followers_have_so_many_places_in_all_and_each_client_fewer() {
        let config = ChangesConfig {
            followers_max: 4,
            followers_per_client_max: 2,
            ..ChangesConfig::default()
        };
        let followers = Followers::new(&config, 1);
        let from = |text: &str| Some(Client::Address(text.parse().expect("an address")));
        let enter = |client| {
            followers
                .enter_as(client)
                .map_err(|error| error.status().as_u16())
        };
        let first = enter(from("10.0.0.1")).expect("a place");
        let _second = enter(from("10.0.0.1")).expect("a place");
        assert_eq!(enter(from("10.0.0.1")).err(), Some(429));
        let _other = enter(from("10.0.0.2")).expect("a place");
        let own = enter(None).expect("a place");
        assert_eq!(enter(None).err(), Some(503));
        drop((first, own));
        assert_eq!(followers.count(), 2);
        let _again = enter(from("10.0.0.1")).expect("a place");
        assert_eq!(followers.counts.lock().of_clients.len(), 2);
    }

    #[tokio::test]
    async fn so_many_read_at_once_and_the_others_in_their_turn() {
        let config = ChangesConfig {
            reads_max: 2,
            ..ChangesConfig::default()
        };
        let followers = Followers::new(&config, 1);
        let now = Instant::now();
        let late = now + Duration::from_secs(60);
        let first = followers.turn_to_read(late).await.expect("a turn");
        let _second = followers.turn_to_read(late).await.expect("a turn");
        assert!(followers.turn_to_read(now).await.is_err());
        drop(first);
        assert!(followers.turn_to_read(now).await.is_ok());
    }
}
