//! Ends work that cannot fail: equality, order and hashes of large values, and regular expressions.
//!
//! Such work has no access to the meter of its query, and traits such as [`Hash`] give it no way to
//! return an error. So a thread watches a meter ([`Meter::watched`]), and the work asks [`go_on`]
//! while it proceeds. Once that is false, it stops with any answer. Whoever watches then checks the
//! meter, which fails, before anything is made of the answer.

use std::cell::{Cell, RefCell};
use std::time::Instant;

use crate::{CancelToken, Meter};

/// Steps between two checks of the clock and the cancel token. A step takes about as long as
/// comparing two small numbers, so this is some ten microseconds.
const CHECK_EVERY: usize = 8_192;
/// Bytes of a text that are one step.
const BYTES_A_STEP: usize = 32;

/// What ends the work of a thread.
#[derive(Clone)]
struct Ends {
    deadline: Option<Instant>,
    cancel: CancelToken,
}

impl Ends {
    fn have_come(&self) -> bool {
        let is_late = |deadline| Instant::now() >= deadline;
        self.cancel.is_cancelled() || self.deadline.is_some_and(is_late)
    }
}

thread_local! {
    static ENDS: RefCell<Option<Ends>> = const { RefCell::new(None) };
    static STEPS: Cell<usize> = const { Cell::new(0) };
    static IS_OVER: Cell<bool> = const { Cell::new(false) };
}

/// While it lives, the thread's work ends with its meter.
#[must_use]
pub struct Watched {
    before: Option<Ends>,
    was_over: bool,
}

impl std::fmt::Debug for Watched {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Watched")
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        ENDS.set(self.before.take());
        IS_OVER.set(self.was_over);
    }
}

impl Meter {
    /// Ends the work of this thread by the meter's deadline and cancel token, until the result is
    /// dropped.
    pub fn watched(&self) -> Watched {
        let ends = Ends {
            deadline: self.deadline(),
            cancel: self.cancel_token().clone(),
        };
        Watched {
            before: ENDS.replace(Some(ends)),
            was_over: IS_OVER.replace(false),
        }
    }
}

/// Counts steps of work. False: the deadline has passed or the query is cancelled, so the work is
/// to stop at once.
#[must_use]
pub fn go_on(steps: usize) -> bool {
    if IS_OVER.get() {
        return false;
    }
    let counted = STEPS.get().saturating_add(steps);
    if counted < CHECK_EVERY {
        STEPS.set(counted);
        return true;
    }
    STEPS.set(0);
    let is_over = ENDS.with_borrow(|ends| ends.as_ref().is_some_and(Ends::have_come));
    IS_OVER.set(is_over);
    !is_over
}

/// Counts the steps of reading so many bytes, as [`go_on`].
#[must_use]
pub fn go_on_bytes(bytes: usize) -> bool {
    bytes < BYTES_A_STEP || go_on(bytes / BYTES_A_STEP)
}

/// Whether work of this thread was told to stop.
#[must_use]
pub fn is_over() -> bool {
    IS_OVER.get()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MeterLimits;

    #[test]
    fn work_ends_with_the_meter_that_its_thread_watches() {
        assert!(go_on(2 * CHECK_EVERY), "nothing is watched");
        let token = CancelToken::default();
        let meter = Meter::new(MeterLimits::NONE, token.clone());
        let watched = meter.watched();
        assert!(go_on(2 * CHECK_EVERY));
        token.cancel();
        assert!(!go_on(CHECK_EVERY) && is_over() && !go_on(0));
        {
            let _inner = Meter::unlimited().watched();
            assert!(go_on(2 * CHECK_EVERY));
        }
        assert!(is_over(), "the outer meter is watched again");
        drop(watched);
        assert!(go_on(2 * CHECK_EVERY) && !is_over());
        let late = MeterLimits {
            deadline: Some(Instant::now()),
            ..MeterLimits::NONE
        };
        let _late = Meter::new(late, CancelToken::default()).watched();
        assert!(!go_on_bytes(CHECK_EVERY * BYTES_A_STEP));
    }
}
