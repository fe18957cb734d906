//! The thread that does a server's upkeep: tidying, retention of history, forgetting old tasks.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant as MonotonicInstant};

use parking_lot::{Condvar, Mutex};

use super::{sweep, tidy};
use crate::error::GraphError;
use crate::registry::Registry;

/// How often upkeep runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MaintenanceOptions {
    /// Between two looks for boundaries that have passed. Default 1 s.
    pub tidy_every: Duration,
    /// Between two walks over the events, and over the tasks, for retention. Default 1 h.
    pub retention_every: Duration,
    /// How long a task is kept after it has ended; `None` for ever. Default 7 days.
    pub tasks_kept: Option<Duration>,
    /// Boundaries tidied per graph at a time (count). Default 10,000.
    pub tidy_limit: usize,
}

impl Default for MaintenanceOptions {
    fn default() -> Self {
        Self {
            tidy_every: Duration::from_secs(1),
            retention_every: Duration::from_secs(3_600),
            tasks_kept: Some(Duration::from_secs(7 * 24 * 3_600)),
            tidy_limit: 10_000,
        }
    }
}

#[derive(Default)]
struct Signal {
    stop: Mutex<bool>,
    changed: Condvar,
}

/// Upkeep of all graphs of a registry. Dropping it stops the thread after the step it is in.
pub struct Maintenance {
    signal: Arc<Signal>,
    thread: Option<JoinHandle<()>>,
}

impl Maintenance {
    /// Starts the thread. `report` is told of failures, which are tried again with the next round.
    ///
    /// # Errors
    /// When no thread can be had.
    pub fn start(
        registry: Arc<Registry>,
        options: MaintenanceOptions,
        report: impl Fn(&str, &GraphError) + Send + 'static,
    ) -> Result<Self, std::io::Error> {
        let signal = Arc::new(Signal::default());
        let shared = Arc::clone(&signal);
        let thread = std::thread::Builder::new()
            .name("varve-upkeep".into())
            .spawn(move || run(&registry, options, &shared, &report))?;
        Ok(Self {
            signal,
            thread: Some(thread),
        })
    }
}

impl Drop for Maintenance {
    fn drop(&mut self) {
        *self.signal.stop.lock() = true;
        self.signal.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn run(
    registry: &Registry,
    options: MaintenanceOptions,
    signal: &Signal,
    report: &dyn Fn(&str, &GraphError),
) {
    let mut swept = MonotonicInstant::now();
    // Tasks are looked at in the first round too, for they are few: a server that is often restarted forgets them as well.
    let mut first = true;
    loop {
        {
            let mut stop = signal.stop.lock();
            if !*stop {
                signal.changed.wait_for(&mut stop, options.tidy_every);
            }
            if *stop {
                return;
            }
        }
        let sweeping = swept.elapsed() >= options.retention_every;
        for name in registry.open_names() {
            // A graph may be dropped meanwhile.
            let Ok(graph) = registry.get(&name) else {
                continue;
            };
            if let Err(error) = tidy(&graph, options.tidy_limit) {
                report(graph.name(), &error);
            }
            if sweeping && let Err(error) = sweep(&graph) {
                report(graph.name(), &error);
            }
            if let Some(kept) = options.tasks_kept.filter(|_| sweeping || first)
                && let Err(error) = graph.tasks().forget_ended(kept)
            {
                report(graph.name(), &error);
            }
        }
        first = false;
        if sweeping {
            swept = MonotonicInstant::now();
        }
    }
}
