//! Cost limits of searches.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The cost limits of one search or graph query.
#[derive(Debug, Clone)]
pub struct Limits {
    /// The most instances that it examines.
    pub examined_max: usize,
    /// The most bytes of instances that it holds at a time, estimated: its answer and its
    /// candidates.
    pub held_bytes_max: usize,
    /// The memory budget of all searches together.
    pub held_by_all: Arc<HeldBudget>,
    /// The most time that it may take.
    pub time_max: Duration,
    /// The most bytes of an answer. A larger one is not sent.
    pub answer_bytes_max: usize,
    /// Called at each check of the clock, where long searches yield to short work.
    pub pause: fn(),
}

/// A memory budget, in bytes, that several searches share.
#[derive(Debug)]
pub struct HeldBudget {
    held: AtomicUsize,
    max: usize,
}

impl HeldBudget {
    /// A budget of `max` bytes.
    #[must_use]
    pub fn new(max: usize) -> Arc<Self> {
        Arc::new(Self {
            held: AtomicUsize::new(0),
            max,
        })
    }

    /// The most bytes that may be held.
    #[must_use]
    pub fn max(&self) -> usize {
        self.max
    }

    /// Bytes held now.
    #[must_use]
    pub fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    /// Takes bytes from the budget. Returns false, and takes none, if there is no room.
    pub(super) fn take(&self, bytes: usize) -> bool {
        let before = self.held.fetch_add(bytes, Ordering::Relaxed);
        let has_room = before.saturating_add(bytes) <= self.max;
        if !has_room {
            self.give_back(bytes);
        }
        has_room
    }

    pub(super) fn give_back(&self, bytes: usize) {
        self.held.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// Enough to page through a repository of millions of instances without a page token; some ten
/// seconds of work.
const EXAMINED_MAX: usize = 5_000_000;
/// Enough for some hundred thousand instances of usual size.
const HELD_BYTES_MAX: usize = 256 << 20;
/// The server's default time limit of a request.
const TIME_MAX: Duration = Duration::from_secs(30);
/// More than a client reads at once without being prepared for it.
const ANSWER_BYTES_MAX: usize = 256 << 20;

impl Default for Limits {
    fn default() -> Self {
        Self {
            examined_max: EXAMINED_MAX,
            held_bytes_max: HELD_BYTES_MAX,
            held_by_all: HeldBudget::new(usize::MAX),
            time_max: TIME_MAX,
            answer_bytes_max: ANSWER_BYTES_MAX,
            pause: || {},
        }
    }
}
