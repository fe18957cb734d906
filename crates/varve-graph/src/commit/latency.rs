//! How long commits take, from when they are prepared until they are stored.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Bucket `i` counts times below 2^i microseconds; the last one has everything longer (about 34 s
/// and more).
pub const LATENCY_BUCKETS: usize = 26;

/// The times of a graph's commits since it was opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CommitLatency {
    /// Commits by their time, see [`LATENCY_BUCKETS`].
    pub buckets: [u64; LATENCY_BUCKETS],
    /// The sum of all times, in nanoseconds.
    pub nanos: u64,
}

/// The same, while commits are added.
#[derive(Default)]
pub(super) struct Latencies {
    buckets: [AtomicU64; LATENCY_BUCKETS],
    nanos: AtomicU64,
}

impl Latencies {
    pub(super) fn add(&self, time: Duration) {
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let micros = nanos / 1_000;
        let bucket = (u64::BITS - micros.leading_zeros()) as usize;
        self.buckets[bucket.min(LATENCY_BUCKETS - 1)].fetch_add(1, Ordering::Relaxed);
        self.nanos.fetch_add(nanos, Ordering::Relaxed);
    }

    pub(super) fn get(&self) -> CommitLatency {
        CommitLatency {
            buckets: std::array::from_fn(|at| self.buckets[at].load(Ordering::Relaxed)),
            nanos: self.nanos.load(Ordering::Relaxed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_counted_in_the_bucket_above_it() {
        let latencies = Latencies::default();
        for nanos in [0, 999, 1_000, 3_999, u64::MAX] {
            latencies.add(Duration::from_nanos(nanos));
        }
        let CommitLatency { buckets, .. } = latencies.get();
        assert_eq!(buckets[..3], [2, 1, 1]);
        assert_eq!(buckets[LATENCY_BUCKETS - 1], 1);
        assert_eq!(buckets.iter().sum::<u64>(), 5);
    }
}
