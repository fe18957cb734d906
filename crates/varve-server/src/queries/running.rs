//! The requests in work that can be cancelled, and the last slow ones.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{HeaderName, Method, StatusCode, Uri};
use parking_lot::Mutex;
use tokio::sync::Notify;
use varve_auth::Principal;
use varve_model::Instant as WallInstant;
use varve_model::time::{Clock as _, SystemClock};
use varve_view::CancelToken;

use crate::identity::Identity;
use crate::request::RequestContext;
use crate::route::Route;

/// A name that a client gives to a request, so that it can cancel it.
const TAG: HeaderName = HeaderName::from_static("varve-query-tag");
/// The longest tag, in bytes.
const TAG_BYTES_MAX: usize = 64;
/// Slow requests that are remembered.
const SLOW_MAX: usize = 200;

/// A request in work.
#[derive(Debug)]
pub(crate) struct Running {
    pub(super) id: u64,
    pub(super) route: &'static Route,
    pub(super) method: Method,
    pub(super) uri: Uri,
    pub(super) graph: Option<String>,
    pub(super) user: Option<Arc<Principal>>,
    pub(super) body: Bytes,
    pub(super) tag: Option<String>,
    pub(super) at: WallInstant,
    pub(super) began: Instant,
    token: CancelToken,
    is_cancelled: AtomicBool,
    cancelled: Notify,
}

impl Running {
    /// Whether a client has cancelled it.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Acquire)
    }

    /// Waits until a client cancels it.
    pub(crate) async fn cancelled(&self) {
        self.cancelled.notified().await;
    }

    /// Cancels it.
    pub(super) fn cancel(&self) {
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
pub(crate) struct Queries {
    running: Mutex<BTreeMap<u64, Arc<Running>>>,
    last: AtomicU64,
}

impl Queries {
    /// Lists a request until [`Queries::end`].
    pub(crate) fn begin(&self, context: &RequestContext, token: &CancelToken) -> Arc<Running> {
        let tag = context.headers().get(TAG);
        let tag = tag
            .and_then(|tag| tag.to_str().ok())
            .filter(|tag| is_tag(tag));
        let running = Arc::new(Running {
            id: self.last.fetch_add(1, Ordering::Relaxed) + 1,
            route: context.route(),
            method: context.method().clone(),
            uri: context.uri().clone(),
            graph: context.graph_in_path().map(str::to_owned),
            user: context.identity().user().map(Arc::clone),
            body: context.body().clone(),
            tag: tag.map(str::to_owned),
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
    pub(crate) fn end(&self, running: &Running) {
        self.running.lock().remove(&running.id);
    }

    /// The requests that a client may see, oldest first.
    pub(super) fn seen_by(&self, identity: &Identity) -> Vec<Arc<Running>> {
        let running = self.running.lock();
        let own = running.values().filter(|running| running.is_of(identity));
        own.map(Arc::clone).collect()
    }
}

fn is_tag(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    (1..=TAG_BYTES_MAX).contains(&text.len()) && text.bytes().all(is_part)
}

/// A request that was slow.
#[derive(Debug)]
pub(crate) struct Slow {
    pub(crate) method: Method,
    pub(crate) uri: Uri,
    pub(crate) user: Option<Arc<Principal>>,
    pub(crate) status: StatusCode,
    pub(crate) elapsed: Duration,
}

/// The last slow requests, oldest first, each with when it ended.
#[derive(Debug, Default)]
pub(crate) struct SlowRequests(pub(super) Mutex<VecDeque<(WallInstant, Slow)>>);

impl SlowRequests {
    pub(crate) fn note(&self, slow: Slow) {
        let mut all = self.0.lock();
        if all.len() == SLOW_MAX {
            all.pop_front();
        }
        all.push_back((SystemClock.now(), slow));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_short_words() {
        assert!(is_tag("a-1_b.C") && is_tag(&"x".repeat(TAG_BYTES_MAX)));
        assert!(!is_tag("") && !is_tag("a b") && !is_tag(&"x".repeat(TAG_BYTES_MAX + 1)));
    }
}
