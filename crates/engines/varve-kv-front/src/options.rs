//! The options of a front table, and the memory budget that the front tables of all spaces share.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Options of a front table.
#[derive(Debug, Clone)]
pub struct FrontOptions {
    /// Memory in bytes at which a table is frozen and queued for its flush. A batch goes into one
    /// table as a whole, so a table may be larger by one batch.
    pub table_bytes: usize,
    /// The number of frozen tables that may wait to be flushed. If it is reached and the active
    /// table is full, writers wait.
    pub frozen_max: usize,
    /// The longest time for which a row stays in memory before it is flushed. It bounds the replay
    /// after a crash for a space that is seldom written.
    pub age_max: Duration,
    /// How long a write waits for room before it is refused as [`varve_kv::KvError::Busy`].
    pub wait_max: Duration,
    /// By how many bytes a segment of the log is allocated ahead of the records.
    pub log_preallocate_bytes: u64,
}

impl Default for FrontOptions {
    fn default() -> Self {
        Self {
            table_bytes: 64 << 20,
            frozen_max: 3,
            age_max: Duration::from_secs(600),
            wait_max: Duration::from_secs(10),
            log_preallocate_bytes: 4 << 20,
        }
    }
}

/// A memory budget that all spaces share. One is for the front tables that take writes or wait to
/// be flushed, another for the presence filters.
#[derive(Debug)]
pub struct Budget {
    limit: usize,
    used: AtomicUsize,
}

impl Budget {
    /// Creates a budget of `limit` bytes.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            used: AtomicUsize::new(0),
        }
    }

    /// Bytes in use.
    #[must_use]
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// The limit in bytes.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Bytes that are not in use.
    pub(crate) fn left(&self) -> usize {
        self.limit.saturating_sub(self.used())
    }

    pub(crate) fn exceeded(&self) -> bool {
        self.used() >= self.limit
    }

    pub(crate) fn take(&self, bytes: usize) {
        self.used.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Takes a share of the bytes that are left, and returns its size. `share` decides it from the
    /// number of bytes left; with `None`, nothing is taken.
    pub(crate) fn try_take(&self, share: impl Fn(usize) -> Option<usize>) -> Option<usize> {
        let mut used = self.used();
        loop {
            let bytes = share(self.limit.saturating_sub(used))?;
            match self.used.compare_exchange_weak(
                used,
                used + bytes,
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Some(bytes),
                Err(now) => used = now,
            }
        }
    }

    pub(crate) fn give_back(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}
