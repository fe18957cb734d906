//! The work that can be cancelled while it runs.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use parking_lot::Mutex;
use tokio::sync::Notify;
use varve_auth::Principal;
use varve_model::Instant as WallInstant;
use varve_model::time::{Clock as _, SystemClock};
use varve_view::CancelToken;

use crate::Identity;

/// How the list of running work shows a request of a protocol.
pub trait Shown: Debug + Send + Sync {
    /// The verb, or the kind of the message.
    fn method(&self) -> &str;

    /// The path, if the protocol has paths.
    fn path(&self) -> &str;

    /// The text of the query, or what stands for it. It may be long.
    fn text(&self) -> Option<String>;
}

/// Work to be listed.
#[derive(Debug)]
pub struct Listing {
    /// Its kind, such as the name of a language.
    pub kind: &'static str,
    /// Its graph, if it names one.
    pub graph: Option<String>,
    /// The name by which its client may cancel it.
    pub tag: Option<String>,
    /// The request.
    pub shown: Box<dyn Shown>,
}

/// A request in work.
#[derive(Debug)]
pub struct Running {
    /// Its number.
    pub id: u64,
    /// What it is.
    pub listing: Listing,
    /// The client, where authentication is on.
    pub user: Option<Arc<Principal>>,
    /// When it began.
    pub at: WallInstant,
    /// When it began, on the steady clock.
    pub began: Instant,
    token: CancelToken,
    is_cancelled: AtomicBool,
    cancelled: Notify,
}

impl Running {
    /// Whether a client has cancelled it.
    pub fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Acquire)
    }

    /// Waits until a client cancels it.
    pub async fn cancelled(&self) {
        self.cancelled.notified().await;
    }

    /// Cancels it.
    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Release);
        self.token.cancel();
        self.cancelled.notify_one();
    }

    fn is_of(&self, identity: &Identity) -> bool {
        let own = || {
            let user = identity.user().zip(self.user.as_ref());
            user.is_some_and(|(one, other)| {
                // A restricted token shows only its own requests.
                let is_same = one.api_token == other.api_token;
                one.account() == other.account() && (is_same || !identity.is_restricted())
            })
        };
        identity.is_administrator() || own()
    }
}

/// All requests in work that may be cancelled.
#[derive(Debug, Default)]
pub struct RunningWork {
    running: Mutex<BTreeMap<u64, Arc<Running>>>,
    last: AtomicU64,
    abandoned: AtomicU64,
}

impl RunningWork {
    /// Lists a request until [`RunningWork::end`].
    pub(crate) fn begin(
        &self,
        listing: Listing,
        identity: &Identity,
        token: &CancelToken,
    ) -> Arc<Running> {
        let running = Arc::new(Running {
            id: self.last.fetch_add(1, Ordering::Relaxed) + 1,
            listing,
            user: identity.user().map(Arc::clone),
            at: SystemClock.now(),
            began: Instant::now(),
            token: token.clone(),
            is_cancelled: AtomicBool::new(false),
            cancelled: Notify::new(),
        });
        self.running.lock().insert(running.id, Arc::clone(&running));
        running
    }

    /// Removes a request from the list.
    pub(crate) fn end(&self, running: &Running, is_answered: bool) {
        self.running.lock().remove(&running.id);
        if !is_answered {
            self.abandoned.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The requests that a client may see, oldest first.
    pub fn seen_by(&self, identity: &Identity) -> Vec<Arc<Running>> {
        let running = self.running.lock();
        let own = running.values().filter(|running| running.is_of(identity));
        own.map(Arc::clone).collect()
    }

    /// Requests that ended before they were answered: nobody waited for them any more.
    pub fn abandoned(&self) -> u64 {
        self.abandoned.load(Ordering::Relaxed)
    }
}
