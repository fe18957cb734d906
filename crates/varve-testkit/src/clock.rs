//! A clock that moves only when a test moves it.

use std::sync::atomic::{AtomicI64, Ordering};

use varve_model::{Clock, Instant};

/// Shows the time that was set: it can stand still, jump, and go backwards.
#[derive(Debug)]
pub struct ManualClock {
    micros: AtomicI64,
}

impl ManualClock {
    /// A clock that shows `at`.
    #[must_use]
    pub fn new(at: Instant) -> Self {
        Self {
            micros: AtomicI64::new(at.0),
        }
    }

    /// Moves the clock by `micros`, backwards if negative.
    pub fn step(&self, micros: i64) {
        self.micros.fetch_add(micros, Ordering::SeqCst);
    }

    /// Sets the clock.
    pub fn set(&self, at: Instant) {
        self.micros.store(at.0, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Instant {
        Instant(self.micros.load(Ordering::SeqCst))
    }
}
