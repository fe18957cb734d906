//! Answers on their way to clients: what they hold of one budget, and how fast they must be taken.
//!
//! An answer is held whole until it is sent. Each has the limit of its kind; here is the limit of all of them together, those of
//! other servers that are handed through included. What a write is answered is counted and never refused: whether it is
//! stored would be unknown then. Small answers of HTTP/1 are not counted: the number of connections bounds them.
//!
//! A client that does not take an answer would hold its share for ever, on a connection that is in use otherwise: HTTP/2 has a
//! window for each stream. So each counted answer has a deadline that moves on with the bytes taken of it.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use crate::config::ServerConfig;
use crate::runtime::ConnectionState;

/// The budget of one server.
#[derive(Debug)]
pub(crate) struct AnswerBudget {
    bytes: AtomicUsize,
    bytes_max: usize,
}

/// What one answer has of the budget, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Share {
    of: Arc<AnswerBudget>,
    bytes: usize,
    /// Whether it may exceed the budget.
    unlimited: bool,
}

impl AnswerBudget {
    pub(crate) fn new(bytes_max: usize) -> Arc<Self> {
        Arc::new(Self {
            bytes: AtomicUsize::new(0),
            bytes_max,
        })
    }

    /// Bytes held now.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// A share of no bytes yet.
    pub(crate) fn share(self: &Arc<Self>, unlimited: bool) -> Share {
        Share {
            of: Arc::clone(self),
            bytes: 0,
            unlimited,
        }
    }
}

impl Share {
    /// Makes the share at least `bytes` large. `false` if that would exceed the budget.
    #[must_use]
    pub(crate) fn reach(&mut self, bytes: usize) -> bool {
        let more = bytes.saturating_sub(self.bytes);
        let before = self.of.bytes.fetch_add(more, Ordering::Relaxed);
        self.bytes += more;
        self.unlimited || more == 0 || before.saturating_add(more) <= self.of.bytes_max
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.of.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// An answer that is being sent, for as long as any of it is left.
#[derive(Debug)]
pub(crate) struct Sending {
    _share: Share,
    connection: Arc<ConnectionState>,
    /// When it was handed over, in the serving thread's coarse milliseconds.
    since_ms: u64,
    taken: AtomicU64,
}

impl Sending {
    /// So many more bytes were taken.
    pub(crate) fn took(&self, bytes: usize) {
        self.taken.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    fn is_late(&self, pace: Pace) -> bool {
        let earned_ms = self.taken.load(Ordering::Relaxed) * 1000 / pace.bytes_per_second;
        self.connection.now().saturating_sub(self.since_ms) > pace.grace_ms + earned_ms
    }
}

/// How fast answers must be taken.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    grace_ms: u64,
    bytes_per_second: u64,
}

impl Pace {
    pub(crate) fn new(config: &ServerConfig) -> Self {
        Self {
            grace_ms: config.write_timeout_ms,
            bytes_per_second: config.min_answer_bytes_per_second,
        }
    }
}

/// The counted answers that one serving thread sends.
#[derive(Debug, Default)]
pub(crate) struct Underway {
    answers: Mutex<Vec<Weak<Sending>>>,
}

impl Underway {
    /// Counts an answer as one that is being sent.
    pub(crate) fn add(&self, share: Share, connection: &Arc<ConnectionState>) -> Arc<Sending> {
        let sending = Arc::new(Sending {
            _share: share,
            connection: Arc::clone(connection),
            since_ms: connection.now(),
            taken: AtomicU64::new(0),
        });
        self.answers.lock().push(Arc::downgrade(&sending));
        sending
    }

    /// Marks the connections of answers that were not taken in time.
    pub(crate) fn mark_late(&self, pace: Pace) {
        self.answers.lock().retain(|answer| {
            let Some(answer) = answer.upgrade() else {
                return false;
            };
            if answer.is_late(pace) {
                answer.connection.mark_late();
            }
            true
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_answers_together_stay_within_the_budget() {
        let budget = AnswerBudget::new(100);
        let mut one = budget.share(false);
        assert!(one.reach(60) && one.reach(50) && one.reach(70));
        let mut other = budget.share(false);
        assert!(!other.reach(40), "110 bytes");
        drop(other);
        let mut write = budget.share(true);
        assert!(write.reach(40), "it is counted, and not refused");
        assert_eq!(budget.bytes(), 110);
        drop(write);
        drop(one);
        assert_eq!(budget.bytes(), 0);
    }
}
