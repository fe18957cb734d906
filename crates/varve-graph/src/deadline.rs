//! Until when a thread may wait for the commits of others.
//!
//! A read of the past waits for the commits that it has met, a write for the latches that others
//! hold and until it is stored; where the store is a cluster, a commit may stay open for as long as
//! the cluster is away. They wait as long as [`varve_kv::deadline`] says; so does the store below.

use std::time::Instant;

use parking_lot::{Condvar, MutexGuard};
pub(crate) use varve_kv::deadline::without_end;

use crate::error::{ErrorKind, GraphError};

/// Runs `work`, whose waits for commits of others on this thread end at `deadline`, as failures of
/// kind [`ErrorKind::Busy`].
pub fn until<T>(deadline: Instant, work: impl FnOnce() -> T) -> T {
    varve_kv::deadline::until(deadline, work)
}

/// Waits once, at most as long as this thread may. `false` if its time is over.
pub(crate) fn wait<T>(changed: &Condvar, state: &mut MutexGuard<'_, T>) -> bool {
    match varve_kv::deadline::current() {
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
    fn a_wait_ends_with_the_time() {
        let (changed, state) = (Condvar::new(), Mutex::new(()));
        let over = Instant::now();
        assert!(!until(over, || wait(&changed, &mut state.lock())));
    }
}
