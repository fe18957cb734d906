//! The thread that looks after the graphs of a shared engine: see [`Registry::tend`].

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

/// The thread. Dropping it stops it after the graph that it is at.
pub struct Tending {
    signal: Arc<Signal>,
    thread: Option<JoinHandle<()>>,
}

impl Tending {
    /// Starts the thread, which looks at all graphs `every` so often. `report` gets the failures,
    /// with the graph's name; they are tried again.
    ///
    /// # Errors
    /// When no thread can be had.
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
    /// Waits; returns whether to go on.
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
            // It answers for its own panics.
            let _ = thread.join();
        }
    }
}
