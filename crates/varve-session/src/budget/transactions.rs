//! The limits of transactions, and of the sessions that keep one open between requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use varve_graph::optimistic::{HeldBytes, OptimisticLimits};

/// Names the owners of the budget in the error about an exhausted budget.
const WHOSE: &str = "All open transactions and sessions together (gremlin.held_bytes_max)";

/// The options of transactions.
#[derive(Debug, Clone, Copy)]
pub struct TransactionOptions {
    /// Elements that one transaction may change.
    pub elements_max: usize,
    /// Bytes that one transaction may hold.
    pub bytes_max: usize,
    /// Bytes that all transactions and the variables of sessions may hold together.
    pub held_bytes_max: usize,
    /// How long a transaction may be open between requests.
    pub age_max: Duration,
    /// Sessions that may be open.
    pub sessions_max: usize,
}

/// The limits of transactions and sessions, and the sessions that are open.
#[derive(Debug)]
pub struct TransactionLimits {
    /// The limits of one transaction.
    pub(crate) one: OptimisticLimits,
    held: Arc<HeldBytes>,
    /// How long a transaction may be open between requests.
    pub age_max: Duration,
    /// Sessions that may be open.
    pub sessions_max: usize,
    sessions: Arc<AtomicUsize>,
}

impl TransactionLimits {
    /// Limits with a budget of their own.
    pub fn new(options: TransactionOptions) -> Self {
        let held = Arc::new(HeldBytes::new(options.held_bytes_max, WHOSE));
        Self {
            one: OptimisticLimits {
                elements_max: options.elements_max,
                bytes_max: options.bytes_max,
                all: Some(Arc::clone(&held)),
            },
            held,
            age_max: options.age_max,
            sessions_max: options.sessions_max,
            sessions: Arc::default(),
        }
    }

    /// The budget of all transactions and the variables of sessions.
    pub const fn held(&self) -> &Arc<HeldBytes> {
        &self.held
    }

    /// Sessions that are open now.
    pub fn sessions(&self) -> usize {
        self.sessions.load(Ordering::Relaxed)
    }

    /// A place for one more session; `None` if there is none.
    pub fn enter(&self) -> Option<SessionSlot> {
        let more = |open| (open < self.sessions_max).then_some(open + 1);
        let entered = self
            .sessions
            .try_update(Ordering::Relaxed, Ordering::Relaxed, more);
        entered
            .ok()
            .map(|_| SessionSlot(Arc::clone(&self.sessions)))
    }
}

/// The place of an open session.
#[derive(Debug)]
pub struct SessionSlot(Arc<AtomicUsize>);

impl Drop for SessionSlot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
