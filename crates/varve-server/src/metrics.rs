//! Counters and response times, per route and per serving thread.
//!
//! Each serving thread counts in its own shard, which no other thread writes: so plain loads and
//! stores suffice, without a locked instruction or a shared cache line. A scrape adds the shards
//! up.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::StatusCode;

/// The buckets of response times: those of the times of commits.
pub const BUCKETS: usize = varve_graph::LATENCY_BUCKETS;

/// The statuses with a counter of their own; all others share the last one.
pub(crate) const STATUSES: [u16; 20] = [
    101, 200, 201, 202, 204, 400, 401, 403, 404, 405, 406, 408, 413, 415, 421, 500, 501, 503, 507,
    0,
];

/// The index of a status in [`STATUSES`]; the last one is for all others.
fn status_place(status: StatusCode) -> usize {
    let known = STATUSES.iter().position(|known| *known == status.as_u16());
    known.unwrap_or(STATUSES.len() - 1)
}

/// The registry of one server.
pub struct Metrics {
    shards: Box<[Shard]>,
    /// Requests forwarded to the servers that lead their graphs.
    pub forwarded: AtomicU64,
    /// Reads answered here as of a position of their graphs' leaders.
    pub followed: AtomicU64,
    /// Connections accepted.
    pub connections_accepted: AtomicU64,
    /// Connections refused because too many were open.
    pub connections_refused: AtomicU64,
    /// Connections closed before their TLS handshake was complete.
    pub tls_handshakes_failed: AtomicU64,
    /// Connections closed because they were slow or idle, or because their client was gone.
    pub connections_cut: AtomicU64,
    /// Failed attempts to accept a connection, for example without free file descriptors.
    pub accept_errors: AtomicU64,
}

/// A value at the time of a scrape.
#[derive(Debug, Clone)]
pub struct Gauge {
    /// Prometheus name, e.g. `varve_open_connections`.
    pub name: &'static str,
    /// One line of help.
    pub help: &'static str,
    /// The value.
    pub value: f64,
}

type Shard = Box<[RouteStats]>;

#[derive(Default)]
struct RouteStats {
    statuses: [AtomicU64; STATUSES.len()],
    nanos: AtomicU64,
    max_nanos: AtomicU64,
    buckets: [AtomicU64; BUCKETS],
}

/// The counts of one route over all threads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RouteTotals {
    /// Answers below 400.
    pub succeeded: u64,
    /// Answers of 400 and more.
    pub failed: u64,
    /// Answers by status, in the order of [`STATUSES`].
    pub(crate) statuses: [u64; STATUSES.len()],
    /// Sum of response times in nanoseconds.
    pub nanos: u64,
    /// Longest response time in nanoseconds.
    pub max_nanos: u64,
    /// Response times by power of two of microseconds, see [`BUCKETS`].
    pub buckets: [u64; BUCKETS],
}

impl RouteTotals {
    /// All answers.
    pub fn total(&self) -> u64 {
        self.succeeded + self.failed
    }

    /// Mean response time in milliseconds.
    pub fn mean_ms(&self) -> f64 {
        self.nanos as f64 / 1e6 / self.total().max(1) as f64
    }

    /// A quantile of the response time in milliseconds, exact to a factor of two.
    pub fn quantile_ms(&self, quantile: f64) -> f64 {
        let rank = (quantile * self.total() as f64).ceil() as u64;
        let mut seen = 0;
        for (index, count) in self.buckets.iter().enumerate() {
            seen += count;
            if seen >= rank && *count > 0 {
                let upper = bucket_limit_seconds(index).unwrap_or(f64::INFINITY) * 1e3;
                return upper.min(self.max_nanos as f64 / 1e6);
            }
        }
        0.0
    }
}

/// The upper limit of a bucket in seconds; `None` for the last, which has none.
pub fn bucket_limit_seconds(index: usize) -> Option<f64> {
    (index + 1 < BUCKETS).then(|| (1u64 << index) as f64 / 1e6)
}

impl Metrics {
    /// One shard for each thread, with `routes` routes and one more for requests without a route.
    pub(crate) fn new(threads: usize, routes: usize) -> Self {
        let shard = || (0..=routes).map(|_| RouteStats::default()).collect();
        Self {
            shards: (0..threads).map(|_| shard()).collect(),
            forwarded: AtomicU64::new(0),
            followed: AtomicU64::new(0),
            connections_accepted: AtomicU64::new(0),
            connections_refused: AtomicU64::new(0),
            tls_handshakes_failed: AtomicU64::new(0),
            connections_cut: AtomicU64::new(0),
            accept_errors: AtomicU64::new(0),
        }
    }

    /// Counts one answer. `route` is the route's index, or the number of routes if none was found.
    /// Only the thread with the number `thread` may call this, or counts are lost.
    pub(crate) fn record(
        &self,
        thread: usize,
        route: usize,
        status: StatusCode,
        elapsed: Duration,
    ) {
        let stats = &self.shards[thread][route];
        let nanos = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        add(&stats.statuses[status_place(status)], 1);
        add(&stats.nanos, nanos);
        if nanos > stats.max_nanos.load(Ordering::Relaxed) {
            stats.max_nanos.store(nanos, Ordering::Relaxed);
        }
        let micros = nanos / 1000;
        let bucket = (u64::BITS - micros.leading_zeros()) as usize;
        add(&stats.buckets[bucket.min(BUCKETS - 1)], 1);
    }

    /// The sums of one route.
    pub fn totals(&self, route: usize) -> RouteTotals {
        let mut totals = RouteTotals::default();
        for shard in &self.shards {
            let stats = &shard[route];
            for (sum, count) in totals.statuses.iter_mut().zip(&stats.statuses) {
                *sum += count.load(Ordering::Relaxed);
            }
            totals.nanos += stats.nanos.load(Ordering::Relaxed);
            totals.max_nanos = totals
                .max_nanos
                .max(stats.max_nanos.load(Ordering::Relaxed));
            for (sum, bucket) in totals.buckets.iter_mut().zip(&stats.buckets) {
                *sum += bucket.load(Ordering::Relaxed);
            }
        }
        // Statuses without a counter of their own are failures: 429, 431, 504.
        let is_success = |status: &u16| (100..400).contains(status);
        for (status, count) in STATUSES.iter().zip(totals.statuses) {
            match is_success(status) {
                true => totals.succeeded += count,
                false => totals.failed += count,
            }
        }
        totals
    }
}

/// Adds to a counter that only the calling thread writes.
fn add(counter: &AtomicU64, number: u64) {
    let sum = counter.load(Ordering::Relaxed).wrapping_add(number);
    counter.store(sum, Ordering::Relaxed);
}

impl std::fmt::Debug for Metrics {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Metrics")
            .field("shards", &self.shards.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_summed_and_quantiles_bounded() {
        let metrics = Metrics::new(2, 1);
        for thread in [0, 1] {
            for micros in [0, 1, 3, 900] {
                metrics.record(thread, 0, StatusCode::OK, Duration::from_micros(micros));
            }
        }
        metrics.record(1, 0, StatusCode::NOT_FOUND, Duration::from_secs(3600));
        let totals = metrics.totals(0);
        assert_eq!((totals.succeeded, totals.failed), (8, 1));
        assert_eq!(totals.statuses[status_place(StatusCode::OK)], 8);
        assert_eq!(totals.statuses[status_place(StatusCode::NOT_FOUND)], 1);
        assert_eq!(totals.buckets.iter().sum::<u64>(), 9);
        assert_eq!(totals.buckets[BUCKETS - 1], 1);
        assert_eq!(totals.quantile_ms(0.5), 0.004);
        assert_eq!(totals.quantile_ms(1.0), 3_600_000.0);
        assert_eq!(metrics.totals(1), RouteTotals::default());
    }
}
