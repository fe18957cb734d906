//! The upkeep thread of a server: tidying, retention of history and of changes, deletion of old
//! tasks.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant as MonotonicInstant};

use parking_lot::{Condvar, Mutex};

use super::{sweep, tidy};
use crate::clock_watch::{ClockWatch, ahead_message};
use crate::error::GraphError;
use crate::graph::Graph;
use crate::registry::Registry;

/// How often upkeep runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MaintenanceOptions {
    /// The time between two rounds of tidying. Default 1 s.
    pub tidy_every: Duration,
    /// The time between two scans of the events, and of the tasks, for retention. Default 1 h.
    pub retention_every: Duration,
    /// How long a task is kept after it has ended; `None`: for ever. Default 7 days.
    pub tasks_kept: Option<Duration>,
    /// Boundaries tidied per graph in one round (count). Default 10,000.
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

/// A report of upkeep.
#[derive(Debug)]
pub enum Finding<'f> {
    /// A step failed for a graph; it is retried in the next round.
    Failed {
        /// The graph's name.
        graph: &'f str,
        /// Why.
        error: &'f GraphError,
    },
    /// A graph's newest commit is ahead of the clock. Reported once until the clock has caught up.
    AheadOfClock {
        /// The graph's name.
        graph: &'f str,
        /// How far, and the consequence.
        detail: &'f str,
    },
    /// The wall clock has advanced by another amount than the monotonic clock.
    ClockJumped {
        /// How far, and the consequence.
        detail: &'f str,
    },
}

type Report<'r> = &'r dyn Fn(Finding<'_>);

/// Upkeep of all graphs of a registry. Dropping it stops the thread at the end of its round.
pub struct Maintenance {
    signal: Arc<Signal>,
    thread: Option<JoinHandle<()>>,
}

impl Maintenance {
    /// Starts the thread. `report` is called with each finding.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn start(
        registry: Arc<Registry>,
        options: MaintenanceOptions,
        report: impl Fn(Finding<'_>) + Send + 'static,
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

fn run(registry: &Registry, options: MaintenanceOptions, signal: &Signal, report: Report<'_>) {
    let clock = &registry.options().clock;
    let mut watch = ClockWatch::new(clock.now(), MonotonicInstant::now());
    let mut ahead = BTreeSet::new();
    let mut swept = MonotonicInstant::now();
    // Old tasks are deleted in the first round too, so that a server that is often restarted
    // deletes them as well.
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
        if let Some(detail) = watch.look(clock.now(), MonotonicInstant::now()) {
            report(Finding::ClockJumped { detail: &detail });
        }
        for name in registry.open_names() {
            // A graph may be dropped meanwhile.
            let Ok(graph) = registry.get(&name) else {
                continue;
            };
            report_ahead(&graph, &mut ahead, report);
            let kept = options.tasks_kept.filter(|_| sweeping || first);
            look_after(&graph, options.tidy_limit, (sweeping, first), kept, report);
        }
        registry.retry_removals();
        first = false;
        if sweeping {
            swept = MonotonicInstant::now();
        }
    }
}

/// Reports a graph whose newest commit is ahead of the clock, once until the clock has caught up.
/// `reported`: the graphs that were reported.
fn report_ahead(graph: &Graph, reported: &mut BTreeSet<String>, report: Report<'_>) {
    match ahead_message(graph.ahead_of_clock()) {
        Some(detail) => {
            if reported.insert(graph.name().to_owned()) {
                let graph = graph.name();
                report(Finding::AheadOfClock {
                    graph,
                    detail: &detail,
                });
            }
        }
        None => {
            reported.remove(graph.name());
        }
    }
}

/// Runs one round of upkeep of one graph. `sweeping`: with retention; `first`: the first round;
/// `kept`: the retention of ended tasks, if they are to be deleted in this round.
fn look_after(
    graph: &Arc<Graph>,
    tidy_limit: usize,
    (sweeping, first): (bool, bool),
    kept: Option<Duration>,
    report: Report<'_>,
) {
    let failed = |error: GraphError| {
        let graph = graph.name();
        report(Finding::Failed {
            graph,
            error: &error,
        });
    };
    if let Err(error) = tidy(graph, tidy_limit) {
        failed(error);
    }
    if sweeping && let Err(error) = sweep(graph) {
        failed(error);
    }
    // In the first round too, for rows that an earlier process has not deleted.
    if (sweeping || first)
        && let Err(error) = crate::changes::forget(graph)
    {
        failed(error);
    }
    if let Some(kept) = kept
        && let Err(error) = graph.tasks().forget_ended(kept)
    {
        failed(error);
    }
}

#[cfg(test)]
mod tests {
    use varve_kv::MemoryEngine;
    use varve_model::{CommitVersion, Instant, TemporalScope};
    use varve_testkit::ManualClock;

    use super::*;
    use crate::graph::GraphOptions;

    #[test]
    fn a_graph_ahead_of_the_clock_is_reported_once_until_the_clock_has_caught_up() {
        let clock = Arc::new(ManualClock::new(Instant(100_000_000)));
        let options = GraphOptions::new(Arc::clone(&clock) as _);
        let registry = Registry::open(Arc::new(MemoryEngine::new()), options).expect("open");
        let graph = registry.create("g").expect("a graph");
        let now = TemporalScope {
            valid: None,
            transaction: Some(CommitVersion::last_at(Instant(100_000_000))),
        };
        graph.view(now).expect("what is now is past from here on");
        let details = std::cell::RefCell::new(Vec::new());
        let report = |finding: Finding<'_>| {
            if let Finding::AheadOfClock { detail, .. } = finding {
                details.borrow_mut().push(detail.to_owned());
            }
        };
        let mut reported = BTreeSet::new();
        for step in [
            0,
            -1_000_000,
            -20_000_000,
            -1_000_000,
            50_000_000,
            -90_000_000,
        ] {
            clock.step(step);
            report_ahead(&graph, &mut reported, &report);
        }
        let details = details.into_inner();
        assert_eq!(details.len(), 2, "{details:?}");
        assert!(details[0].contains("21 seconds ahead"), "{details:?}");
    }
}
