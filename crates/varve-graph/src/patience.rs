//! Until when a thread may wait for the commits of others.
//!
//! A read of the past waits for the commits that it has met, a write for the latches that others hold and until it is stored; where
//! the store is a cluster, a commit may stay open for as long as the cluster is away. Whoever works for a client that does not wait for ever says so with [`until`], around all that it
//! does: else a few such requests would keep every thread of a pool. The road not taken is a deadline among the parameters of
//! every call.

use std::cell::Cell;
use std::time::Instant;

use parking_lot::{Condvar, MutexGuard};

use crate::error::{ErrorKind, GraphError};

thread_local! {
    static DEADLINE: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Runs `work`, whose waits for commits of others on this thread end at `deadline`, as failures of kind [`ErrorKind::Busy`].
pub fn until<T>(deadline: Instant, work: impl FnOnce() -> T) -> T {
    with(Some(deadline), work)
}

/// Runs `work`, whose waits end with what is waited for only.
pub(crate) fn without_end<T>(work: impl FnOnce() -> T) -> T {
    with(None, work)
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

/// Waits once, at most as long as this thread may. `false` if its time is over.
pub(crate) fn wait<T>(changed: &Condvar, state: &mut MutexGuard<'_, T>) -> bool {
    match DEADLINE.get() {
        None => changed.wait(state),
        Some(deadline) => {
            if Instant::now() >= deadline {
                return false;
            }
            // Whoever waits looks again in any case.
            let _ = changed.wait_until(state, deadline);
        }
    }
    true
}

/// What to tell when the time is over.
pub(crate) const TOO_LATE: &str =
    "The request's time was over before a write that it has to wait for was stored";

/// The same, as an error.
pub(crate) fn too_late() -> GraphError {
    GraphError::new(ErrorKind::Busy, TOO_LATE)
}

#[cfg(test)]
mod tests {
    use parking_lot::Mutex;

    use super::*;

    #[test]
    fn a_wait_ends_with_the_time_and_only_within_it() {
        let (changed, state) = (Condvar::new(), Mutex::new(()));
        let over = Instant::now();
        assert!(!until(over, || wait(&changed, &mut state.lock())));
        let caught = std::panic::catch_unwind(|| until(over, || panic!("on purpose")));
        assert!(caught.is_err());
        assert_eq!(DEADLINE.get(), None);
    }
}
