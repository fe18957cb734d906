//! The deadline of a thread's waits.
//!
//! A cluster may be unreachable for any time, and a thread that waits for it is blocked as long. So
//! work for a client with a deadline runs within [`until`]; otherwise a few such requests would
//! occupy every thread of a pool and the resources they hold. The rejected alternative is a
//! deadline parameter in every call.

use std::cell::Cell;
use std::time::Instant;

thread_local! {
    static DEADLINE: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Runs `work`; its waits on this thread end at `deadline`.
pub fn until<T>(deadline: Instant, work: impl FnOnce() -> T) -> T {
    with(Some(deadline), work)
}

/// Runs `work`; its waits on this thread have no deadline.
pub fn without_end<T>(work: impl FnOnce() -> T) -> T {
    with(None, work)
}

/// Returns this thread's deadline; `None` if its waits have none.
#[must_use]
pub fn current() -> Option<Instant> {
    DEADLINE.get()
}

fn with<T>(deadline: Option<Instant>, work: impl FnOnce() -> T) -> T {
    /// Restores the former deadline, also after a panic.
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
