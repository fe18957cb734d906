//! Whether a graph has boundaries to look for.

use parking_lot::Mutex;
use varve_model::{CommitVersion, Instant};

/// What the last look at the boundaries of a graph found: the newest visible commit before it, and
/// the next boundary. So an idle graph need not be looked at, which costs a cluster a request.
#[derive(Debug, Default)]
pub(crate) struct LastLook(Mutex<Option<(CommitVersion, Option<Instant>)>>);

impl LastLook {
    /// Whether no boundary has passed `now`. Every new boundary is of a commit, which is visible
    /// once it is stored.
    pub(super) fn is_current(&self, published: CommitVersion, now: Instant) -> bool {
        let last = *self.0.lock();
        last.is_some_and(|(at, next)| at == published && next.is_none_or(|next| now < next))
    }

    pub(super) fn note(&self, published: CommitVersion, next: Option<Instant>) {
        *self.0.lock() = Some((published, next));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_is_looked_at_after_a_commit_and_at_its_next_boundary() {
        let last = LastLook::default();
        let [one, two] = [1, 2].map(|at| CommitVersion::last_at(Instant(at)));
        assert!(!last.is_current(one, Instant(5)), "nothing is known");
        last.note(one, Some(Instant(7)));
        assert!(last.is_current(one, Instant(6)));
        assert!(!last.is_current(one, Instant(7)), "the boundary");
        assert!(!last.is_current(two, Instant(6)), "a commit");
        last.note(two, None);
        assert!(last.is_current(two, Instant(i64::MAX)));
    }
}
