//! Answers on their way to clients: they share one budget of bytes, and clients must take them at a
//! minimum rate.
//!
//! The server holds an answer whole until it is sent. One answer has its own limit; this module
//! limits all together, including answers of other servers that are forwarded. The answer to a
//! write is counted and never refused: the client would not know whether the write is stored. Small
//! answers over HTTP/1 are not counted: the number of connections bounds them.
//!
//! A client that does not read an answer would hold its share forever. The connection may be in use
//! all the same, since HTTP/2 has a window for each stream. So each counted answer has a deadline,
//! which every byte taken extends.

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

/// One answer's share of the budget, returned when it is dropped.
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

    /// Makes the share at most `bytes` large.
    pub(crate) fn shrink(&mut self, bytes: usize) {
        let less = self.bytes.saturating_sub(bytes);
        self.of.bytes.fetch_sub(less, Ordering::Relaxed);
        self.bytes -= less;
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.of.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// An answer that is being sent. It lives until the last byte is taken.
#[derive(Debug)]
pub(crate) struct Sending {
    _share: Share,
    connection: Arc<ConnectionState>,
    /// When the sending began, in the serving thread's coarse milliseconds.
    since_ms: u64,
    taken: AtomicU64,
}

impl Sending {
    /// Counts bytes that the client has taken.
    pub(crate) fn took(&self, bytes: usize) {
        self.taken.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    fn is_late(&self, pace: Pace) -> bool {
        let earned_ms = self.taken.load(Ordering::Relaxed) * 1000 / pace.bytes_per_second;
        self.connection.now().saturating_sub(self.since_ms) > pace.grace_ms + earned_ms
    }
}

/// The minimum rate at which clients must take answers.
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
    /// Adds an answer that is being sent.
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
        one.shrink(20);
        assert_eq!(budget.bytes(), 20);
        drop(one);
        assert_eq!(budget.bytes(), 0);
    }
}
