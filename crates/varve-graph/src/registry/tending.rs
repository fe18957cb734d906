//! The thread that calls [`Registry::tend`] at intervals.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use super::Registry;
use crate::error::GraphError;

#[derive(Default)]
struct Signal {
    stop: Mutex<bool>,
    changed: Condvar,
}

/// The tending thread. Dropping it stops the thread after the current round.
pub struct Tending {
    signal: Arc<Signal>,
    thread: Option<JoinHandle<()>>,
}

impl Tending {
    /// Starts the thread, which checks all graphs at each interval `every`. `report` is called with
    /// each error and the graph's name; failed operations are tried again.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn start(
        registry: Arc<Registry>,
        every: Duration,
        report: impl Fn(&str, &GraphError) + Send + 'static,
    ) -> Result<Self, std::io::Error> {
        let signal = Arc::new(Signal::default());
        let shared = Arc::clone(&signal);
        let thread = std::thread::Builder::new()
            .name("varve-leading".into())
            .spawn(move || {
                while shared.waits(every) {
                    registry.tend(&report);
                }
            })?;
        Ok(Self {
            signal,
            thread: Some(thread),
        })
    }
}

impl Signal {
    /// Waits for `time` or the stop signal. Returns whether to continue.
    fn waits(&self, time: Duration) -> bool {
        let mut stop = self.stop.lock();
        if !*stop {
            self.changed.wait_for(&mut stop, time);
        }
        !*stop
    }
}

impl Drop for Tending {
    fn drop(&mut self) {
        *self.signal.stop.lock() = true;
        self.signal.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has already been reported.
            let _ = thread.join();
        }
    }
}
