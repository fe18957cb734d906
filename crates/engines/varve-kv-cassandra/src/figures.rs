//! Figures of the engine, for metrics.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use varve_kv::Statistic;

/// Counters of one session with the cluster.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    requests: AtomicU64,
    failures: AtomicU64,
    repeated: AtomicU64,
    /// The time of all requests.
    micros: AtomicU64,
    /// Waits of reads, each for the requests that it has sent together.
    waits: AtomicU64,
    takeovers: AtomicU64,
    last_takeover: Mutex<Option<Instant>>,
}

fn add(counter: &AtomicU64, number: u64) {
    counter.fetch_add(number, Ordering::Relaxed);
}

impl Figures {
    /// Counts a request that took `time`.
    pub(crate) fn request(&self, time: Duration, has_failed: bool) {
        add(&self.requests, 1);
        add(&self.failures, u64::from(has_failed));
        add(&self.micros, u64::try_from(time.as_micros()).unwrap_or(0));
    }

    /// Counts a request that is sent again.
    pub(crate) fn repeated(&self) {
        add(&self.repeated, 1);
    }

    /// Counts a wait of a read.
    pub(crate) fn wait(&self) {
        add(&self.waits, 1);
    }

    /// Counts a space that was taken over from another server, which had not released it.
    pub(crate) fn takeover(&self) {
        add(&self.takeovers, 1);
        *self.last_takeover.lock() = Some(Instant::now());
    }

    pub(crate) fn statistics(&self) -> Vec<Statistic> {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed) as f64;
        let statistic = |name, help, value| Statistic { name, help, value };
        let mut all = vec![
            statistic(
                "cluster_requests_total",
                "Requests sent to the cluster; one that is sent again counts once.",
                count(&self.requests),
            ),
            statistic(
                "cluster_request_seconds_total",
                "Seconds that these requests took, until their answer or failure.",
                count(&self.micros) / 1e6,
            ),
            statistic(
                "cluster_requests_repeated_total",
                "Times that requests were sent again: without an answer, or after a failure.",
                count(&self.repeated),
            ),
            statistic(
                "cluster_failures_total",
                "Requests to the cluster that failed.",
                count(&self.failures),
            ),
            statistic(
                "cluster_read_waits_total",
                "Times that reads waited for the cluster; requests that are sent together count once.",
                count(&self.waits),
            ),
            statistic(
                "cluster_takeovers_total",
                "Graphs that this server took over from a server that had not released them.",
                count(&self.takeovers),
            ),
        ];
        let last = *self.last_takeover.lock();
        if let Some(last) = last {
            all.push(statistic(
                "cluster_last_takeover_seconds",
                "Seconds since the last of these takeovers.",
                last.elapsed().as_secs_f64(),
            ));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_happens_is_counted() {
        let figures = Figures::default();
        let value = |name: &str| {
            let all = figures.statistics();
            let found = all.into_iter().find(|figure| figure.name == name);
            found.map(|figure| figure.value)
        };
        assert_eq!(value("cluster_last_takeover_seconds"), None);
        figures.request(Duration::from_millis(250), false);
        figures.request(Duration::from_millis(500), true);
        figures.repeated();
        figures.wait();
        figures.takeover();
        for (name, expected) in [
            ("cluster_requests_total", 2.0),
            ("cluster_request_seconds_total", 0.75),
            ("cluster_requests_repeated_total", 1.0),
            ("cluster_failures_total", 1.0),
            ("cluster_read_waits_total", 1.0),
            ("cluster_takeovers_total", 1.0),
        ] {
            assert_eq!(value(name), Some(expected), "{name}");
        }
        assert!(value("cluster_last_takeover_seconds").is_some());
    }
}
