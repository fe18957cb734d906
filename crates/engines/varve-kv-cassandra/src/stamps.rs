//! Timestamps: one for each batch, strictly increasing, independent of the clock and across
//! openings.
//!
//! A batch takes two microseconds: its range removals have the first, its rows the second. So rows
//! that a batch puts into a range that it has emptied stay. No timestamp exceeds a *bound* that is
//! stored with the lease before it is used; the next opening begins above it.

use parking_lot::Mutex;

/// The lead of a new bound over the clock, in microseconds. A bound is stored when half of it is
/// used, so a space that is written stores one each ten seconds.
const LEAD: i64 = 20_000_000;

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
}

/// Returns a bound for timestamps after `last`.
pub(crate) fn bound_after(last: i64, now: i64) -> i64 {
    now.max(last).saturating_add(LEAD)
}

impl Stamps {
    /// Begins above `last`; no timestamp may be used before [`Stamps::grant`].
    pub(crate) fn after(last: i64) -> Self {
        let state = StampRange { last, bound: last };
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
        Some(stamp)
    }

    /// Whether a batch can take a timestamp now.
    pub(crate) fn may_take(&self, now: i64) -> bool {
        self.left(now) > 1
    }

    /// Whether so little is left below the bound that the next one should be stored.
    pub(crate) fn run_short(&self, now: i64) -> bool {
        self.left(now) < LEAD / 2
    }

    fn left(&self, now: i64) -> i64 {
        let state = self.state.lock();
        state.bound - now.max(state.last)
    }

    /// Returns the bound to store next.
    pub(crate) fn wanted(&self, now: i64) -> i64 {
        let state = self.state.lock();
        bound_after(state.last, now).max(state.bound)
    }

    /// Allows timestamps up to `bound`, which has been stored.
    pub(crate) fn grant(&self, bound: i64) {
        let mut state = self.state.lock();
        state.bound = state.bound.max(bound);
    }

    /// The greatest timestamp that may be used.
    pub(crate) fn bound(&self) -> i64 {
        self.state.lock().bound
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
        assert!(!stamps.may_take(500));
        assert_eq!(stamps.take(500), None, "nothing is granted");
        stamps.grant(stamps.wanted(500));
        assert!(stamps.may_take(500) && !stamps.run_short(500));
        assert_eq!(stamps.take(500), Some(500));
        assert_eq!(stamps.take(500), Some(502));
        assert_eq!(stamps.take(3), Some(504));
        let last = 499 + LEAD;
        assert!(stamps.run_short(last));
        assert_eq!(stamps.take(last), Some(last));
        assert!(!stamps.may_take(last));
        assert_eq!(stamps.take(last), None, "beyond the bound");
    }

    #[test]
    fn they_begin_after_those_of_before() {
        let stamps = Stamps::after(10_000);
        stamps.grant(stamps.wanted(5));
        assert_eq!(stamps.take(5), Some(10_001));
    }

    #[test]
    fn a_bound_never_goes_back() {
        let stamps = Stamps::after(0);
        stamps.grant(2 * LEAD);
        assert_eq!(stamps.wanted(5), 2 * LEAD);
        stamps.grant(10);
        assert!(stamps.take(900).is_some());
    }
}
