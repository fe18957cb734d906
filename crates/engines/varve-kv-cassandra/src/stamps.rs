//! Timestamps: one for each batch, strictly increasing, independent of the clock and across
//! openings.
//!
//! A batch takes two microseconds: its range removals have the first, its rows the second. So rows
//! that a batch puts into a range that it has emptied stay. No timestamp exceeds a *bound* that is
//! stored with the lease before it is used; the next opening begins above it.

use std::collections::BTreeSet;

use parking_lot::Mutex;

/// The timestamps of one space.
#[derive(Debug)]
pub(crate) struct Stamps {
    state: Mutex<StampRange>,
}

#[derive(Debug)]
struct StampRange {
    /// The last used timestamp.
    last: i64,
    /// The greatest timestamp that may be used.
    bound: i64,
    /// The timestamps of batches that are not wholly stored yet.
    open: BTreeSet<i64>,
}

impl Stamps {
    /// Begins above `last`; no timestamp may be used before [`Stamps::grant`].
    pub(crate) fn after(last: i64) -> Self {
        let state = StampRange {
            last,
            bound: last,
            open: BTreeSet::new(),
        };
        Self {
            state: Mutex::new(state),
        }
    }

    /// Takes a timestamp for a batch that begins at `now` (microseconds since 1970); it and the
    /// next one belong to the batch. Returns `None` if the bound does not allow it.
    pub(crate) fn take(&self, now: i64) -> Option<i64> {
        let mut state = self.state.lock();
        let stamp = now.max(state.last + 1);
        if stamp + 1 > state.bound {
            return None;
        }
        state.last = stamp + 1;
        state.open.insert(stamp);
        Some(stamp)
    }

    /// Closes the batch of `stamp`: it is wholly stored, or nothing of it ever will be.
    pub(crate) fn close(&self, stamp: i64) {
        self.state.lock().open.remove(&stamp);
    }

    /// Returns the bound to store next, `lead` microseconds ahead.
    pub(crate) fn wanted(&self, now: i64, lead: i64) -> i64 {
        let state = self.state.lock();
        now.max(state.last).saturating_add(lead).max(state.bound)
    }

    /// Allows timestamps up to `bound`, which has been stored.
    pub(crate) fn grant(&self, bound: i64) {
        let mut state = self.state.lock();
        state.bound = state.bound.max(bound);
    }

    /// Returns the timestamp up to which every batch is wholly stored.
    pub(crate) fn settled(&self) -> i64 {
        let state = self.state.lock();
        state.open.first().map_or(state.last, |first| first - 1)
    }

    /// The last used timestamp.
    pub(crate) fn last(&self) -> i64 {
        self.state.lock().last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_grow_by_two_whatever_the_clock_says() {
        let stamps = Stamps::after(100);
        assert_eq!(stamps.take(500), None, "nothing is granted");
        stamps.grant(stamps.wanted(500, 1_000));
        assert_eq!(stamps.take(500), Some(500));
        assert_eq!(stamps.take(500), Some(502));
        assert_eq!(stamps.take(3), Some(504));
        assert_eq!(stamps.take(1_499), Some(1_499));
        assert_eq!(stamps.take(1_499), None, "beyond the bound");
    }

    #[test]
    fn they_begin_after_those_of_before() {
        let stamps = Stamps::after(10_000);
        stamps.grant(stamps.wanted(5, 100));
        assert_eq!(stamps.take(5), Some(10_001));
    }

    #[test]
    fn what_is_settled_lies_before_all_that_is_open() {
        let stamps = Stamps::after(0);
        stamps.grant(1_000);
        let (one, two) = (stamps.take(10).unwrap(), stamps.take(20).unwrap());
        assert_eq!(stamps.settled(), one - 1);
        stamps.close(two);
        assert_eq!(stamps.settled(), one - 1);
        stamps.close(one);
        assert_eq!(stamps.settled(), two + 1);
    }

    #[test]
    fn a_bound_never_goes_back() {
        let stamps = Stamps::after(0);
        stamps.grant(1_000);
        assert_eq!(stamps.wanted(5, 10), 1_000);
        stamps.grant(10);
        assert!(stamps.take(900).is_some());
    }
}
