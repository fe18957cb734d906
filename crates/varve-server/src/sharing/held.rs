//! What a server holds of the answers that it hands through, for all requests together.
//!
//! An answer is held whole until it is sent, so that no client gets half of one. Each has the limit of its kind of answer; here
//! is the limit of all. What a write is answered is counted and never refused: whether it is stored would be unknown then.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;

/// The budget of one server.
#[derive(Debug)]
pub(crate) struct HeldAnswers {
    bytes: AtomicUsize,
    bytes_max: usize,
}

/// What one answer has of the budget, given back when it is dropped.
#[derive(Debug)]
pub(super) struct Share {
    of: Arc<HeldAnswers>,
    bytes: usize,
    /// Whether it may exceed the budget.
    unlimited: bool,
}

impl HeldAnswers {
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
    pub(super) fn share(self: &Arc<Self>, unlimited: bool) -> Share {
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
    pub(super) fn reach(&mut self, bytes: usize) -> bool {
        let more = bytes.saturating_sub(self.bytes);
        let before = self.of.bytes.fetch_add(more, Ordering::Relaxed);
        self.bytes += more;
        self.unlimited || more == 0 || before.saturating_add(more) <= self.of.bytes_max
    }

    /// An answer that gives the share back when it is sent, or nobody wants it any more.
    pub(super) fn around(self, answer: Bytes) -> Bytes {
        if self.bytes == 0 {
            return answer;
        }
        Bytes::from_owner(Kept {
            answer,
            _share: self,
        })
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.of.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

struct Kept {
    answer: Bytes,
    _share: Share,
}

impl AsRef<[u8]> for Kept {
    fn as_ref(&self) -> &[u8] {
        &self.answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_answers_together_stay_within_the_budget() {
        let held = HeldAnswers::new(100);
        let mut one = held.share(false);
        assert!(one.reach(60) && one.reach(50) && one.reach(70));
        let mut other = held.share(false);
        assert!(!other.reach(40), "110 bytes");
        drop(other);
        let mut write = held.share(true);
        assert!(write.reach(40), "it is counted, and not refused");
        assert_eq!(held.bytes(), 110);
        let answer = one.around(Bytes::from_static(b"answer"));
        drop(write);
        let part = answer.slice(..2);
        drop(answer);
        assert_eq!((held.bytes(), &*part), (70, &b"an"[..]));
        drop(part);
        assert_eq!(held.bytes(), 0);
    }
}
