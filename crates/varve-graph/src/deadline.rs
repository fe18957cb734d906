//! How long a thread may wait for the commits of others.
//!
//! A read of the past waits for the commits that it has met. A write waits for the latches that
//! others hold, and until it is stored. On a cluster, a commit may stay open for as long as the
//! cluster is away. All these waits, and those of the engine, end at the thread's deadline
//! ([`varve_kv::deadline`]).

use std::time::Instant;

use parking_lot::{Condvar, MutexGuard};
pub(crate) use varve_kv::deadline::without_end;

use crate::error::{ErrorKind, GraphError};

/// Runs `work` with a deadline for this thread. Its waits for the commits of others fail at
/// `deadline` with [`ErrorKind::Busy`].
pub fn until<T>(deadline: Instant, work: impl FnOnce() -> T) -> T {
    varve_kv::deadline::until(deadline, work)
}

/// Waits once for a notification, at most until this thread's deadline. Returns `false` if it has
/// passed.
pub(crate) fn wait<T>(changed: &Condvar, state: &mut MutexGuard<'_, T>) -> bool {
    match varve_kv::deadline::current() {
        None => changed.wait(state),
        Some(deadline) => {
            if Instant::now() >= deadline {
                return false;
            }
            // The caller checks its condition again in any case.
            let _ = changed.wait_until(state, deadline);
        }
    }
    true
}

/// The message when the deadline has passed.
pub(crate) const TOO_LATE: &str =
    "The deadline of the request passed before a write that it must wait for was stored";

/// The error with [`TOO_LATE`].
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
