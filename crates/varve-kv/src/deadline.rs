//! Until when a thread may wait.
//!
//! Where the store is a cluster, what a thread waits for may take as long as the cluster is away.
//! Whoever works for a client that does not wait for ever says so with [`until`], around all that
//! it does: else a few such requests would keep every thread of a pool, and what they hold. The
//! road not taken is a deadline among the parameters of every call.

use std::cell::Cell;
use std::time::Instant;

thread_local! {
    static DEADLINE: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Runs `work`, whose waits on this thread end at `deadline`.
pub fn until<T>(deadline: Instant, work: impl FnOnce() -> T) -> T {
    with(Some(deadline), work)
}

/// Runs `work`, whose waits end with what is waited for only.
pub fn without_end<T>(work: impl FnOnce() -> T) -> T {
    with(None, work)
}

/// When the waits of this thread end; `None`: with what is waited for.
#[must_use]
pub fn current() -> Option<Instant> {
    DEADLINE.get()
}

fn with<T>(deadline: Option<Instant>, work: impl FnOnce() -> T) -> T {
    /// What held before holds again, also after a panic.
    struct Before(Option<Instant>);
    impl Drop for Before {
        fn drop(&mut self) {
            DEADLINE.set(self.0);
        }
    }
    let _before = Before(DEADLINE.replace(deadline));
    work()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_holds_within_its_work_only() {
        let (one, two) = (Instant::now(), Instant::now());
        until(one, || {
            assert_eq!(current(), Some(one));
            until(two, || assert_eq!(current(), Some(two)));
            without_end(|| assert_eq!(current(), None));
            assert_eq!(current(), Some(one));
        });
        let caught = std::panic::catch_unwind(|| until(one, || panic!("on purpose")));
        assert!(caught.is_err());
        assert_eq!(current(), None);
    }
}
