//! This process among the servers: its row, by which it relies on the leases of all its spaces.
//!
//! A process that could not renew its row in time stops writing. It continues if its row still
//! exists: then no other process has ended it. Otherwise all its spaces are lost, and the next
//! opening registers the process under a new name.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use varve_kv::Leadership;

use crate::bridge::Bridge;
use crate::clock::Moment;
use crate::cluster::Cluster;
use crate::failure::Failure;
use crate::open::unique_name;
use crate::servers::{Leads, renewal};
use crate::watch::Watch;

/// How long a closing space or server waits until its lease is given back.
pub(crate) const RELEASE_WAIT: Duration = Duration::from_secs(5);
/// The wait after a failed renewal; it doubles with each, up to a quarter of the interval of
/// renewals.
const AGAIN_FIRST: Duration = Duration::from_millis(50);

/// A registration of this process.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) name: String,
    lease: Duration,
    state: Mutex<MemberState>,
    changed: watch::Sender<u64>,
    /// Notified when the row must be written now: to renew it, or to publish the led spaces.
    wanted: Notify,
}

#[derive(Debug)]
struct MemberState {
    /// When the last renewal that succeeded was begun.
    asked: Moment,
    /// The counter of the last renewal that was begun.
    counter: i64,
    /// Why it is lost for good.
    lost: Option<String>,
    leads: Leads,
    /// The number of changes of `leads`, and how many of them are stored.
    changes: u64,
    stored: u64,
}

impl Member {
    /// A registration that was begun at `asked` and has succeeded.
    pub(crate) fn registered(name: String, asked: Moment, lease: Duration) -> Self {
        let state = MemberState {
            asked,
            counter: 0,
            lost: None,
            leads: Leads::new(),
            changes: 0,
            stored: 0,
        };
        Self {
            name,
            lease,
            state: Mutex::new(state),
            changed: watch::Sender::new(0),
            wanted: Notify::new(),
        }
    }

    /// For how long the leases can still be relied on; zero also if the clocks do not tell how much
    /// time has passed.
    pub(crate) fn left(&self, now: Moment) -> Duration {
        let gone = now.since(self.state.lock().asked);
        gone.map_or(Duration::ZERO, |gone| self.lease.saturating_sub(gone))
    }

    /// Whether this process may rely on its leases. If that is suspended, requests a renewal.
    pub(crate) fn leadership(&self, now: Moment) -> Leadership {
        if self.lost().is_some() {
            return Leadership::Lost;
        }
        if !self.left(now).is_zero() {
            return Leadership::Held;
        }
        self.wanted.notify_one();
        Leadership::Suspended
    }

    /// Why the leases are lost for good; `None` if they are not.
    pub(crate) fn lost(&self) -> Option<String> {
        self.state.lock().lost.clone()
    }

    /// Returns a receiver that is told of each renewal and of the loss.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// Wakes those who wait for a change.
    pub(crate) fn notify(&self) {
        self.changed.send_modify(|count| *count += 1);
    }

    /// Notes that this process leads a keyspace with that term, or no longer leads it, and tells
    /// the other servers soon.
    pub(crate) fn leads(&self, keyspace: &str, term: Option<i64>) {
        let mut state = self.state.lock();
        match term {
            Some(term) => state.leads.insert(keyspace.to_owned(), term),
            None => state.leads.remove(keyspace),
        };
        state.changes += 1;
        drop(state);
        self.wanted.notify_one();
    }

    /// Records a renewal that was begun at `asked`.
    pub(crate) fn renewed(&self, asked: Moment) {
        self.state.lock().asked = asked;
        self.notify();
    }

    /// Records that another process has ended the row.
    pub(crate) fn ended(&self) {
        let ended = "another server, which has ended it".to_owned();
        self.state.lock().lost.get_or_insert(ended);
        self.notify();
    }

    /// Renews the row. If it has been ended, notes that; that is no failure.
    async fn renew(&self, cluster: &Cluster, watch: &Watch) -> Result<(), Failure> {
        let asked = Moment::now();
        let (counter, changes, leads) = {
            let mut state = self.state.lock();
            state.counter += 1;
            let leads = (state.stored < state.changes).then(|| state.leads.clone());
            (state.counter, state.changes, leads)
        };
        let renewed = watch
            .table
            .renew(cluster, &self.name, counter, leads.as_ref());
        if renewed.await? {
            self.state.lock().stored = changes;
            self.renewed(asked);
        } else {
            tracing::error!("another server has ended this server's lease: its spaces are lost");
            self.ended();
        }
        Ok(())
    }

    /// Renews the row until it is ended.
    async fn keep(self: Arc<Self>, cluster: Arc<Cluster>, watch: Arc<Watch>) {
        let every = renewal(self.lease);
        while self.lost().is_none() {
            tokio::select! {
                () = tokio::time::sleep(every) => {}
                () = self.wanted.notified() => {}
            }
            let mut again = AGAIN_FIRST;
            while let Err(failure) = self.renew(&cluster, &watch).await {
                let left_ms = self.left(Moment::now()).as_millis() as u64;
                tracing::warn!(
                    left_ms,
                    failure = failure.text(),
                    "the lease is not renewed yet"
                );
                tokio::time::sleep(again).await;
                again = (2 * again).min(every / 4);
            }
        }
    }
}

/// A registration, which ends when this is dropped: with the engine and the last open space.
pub(crate) struct Membership {
    pub(crate) member: Arc<Member>,
    cluster: Arc<Cluster>,
    watch: Arc<Watch>,
    bridge: Arc<Bridge>,
    keeper: JoinHandle<()>,
}

impl Membership {
    /// Registers this process.
    pub(crate) fn begin(
        bridge: &Arc<Bridge>,
        cluster: &Arc<Cluster>,
        watch: &Arc<Watch>,
    ) -> Result<Self, Failure> {
        let (of_cluster, of_watch) = (Arc::clone(cluster), Arc::clone(watch));
        let registered = bridge.wait(async move {
            let (name, asked) = (unique_name(), Moment::now());
            of_watch.table.insert(&of_cluster, &name).await?;
            let lease = of_cluster.config.lease;
            Ok(Arc::new(Member::registered(name, asked, lease)))
        });
        let failed = || Err(Failure::Refused("the driver failed".to_owned()));
        let member: Arc<Member> = registered.unwrap_or_else(failed)?;
        let keep = Arc::clone(&member).keep(Arc::clone(cluster), Arc::clone(watch));
        Ok(Self {
            keeper: bridge.spawn(keep),
            member,
            cluster: Arc::clone(cluster),
            watch: Arc::clone(watch),
            bridge: Arc::clone(bridge),
        })
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        self.keeper.abort();
        if self.member.lost().is_some() {
            return;
        }
        let (cluster, watch) = (Arc::clone(&self.cluster), Arc::clone(&self.watch));
        let member = Arc::clone(&self.member);
        let _ = self.bridge.wait(async move {
            // A renewal under way has no greater counter.
            let counter = member.state.lock().counter;
            let ended = watch.table.end(&cluster, &member.name, counter);
            match tokio::time::timeout(RELEASE_WAIT, ended).await {
                Ok(Ok(_)) => {}
                Ok(Err(failure)) => {
                    tracing::warn!(
                        failure = failure.text(),
                        "the lease was not given back; it ends by itself"
                    );
                }
                Err(_) => tracing::warn!("the lease was not given back; it ends by itself"),
            }
        });
    }
}
