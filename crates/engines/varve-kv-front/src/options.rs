//! How a front table behaves, and the memory that the front tables of all spaces share.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Options of a front table.
#[derive(Debug, Clone)]
pub struct FrontOptions {
    /// Memory in bytes at which a table is frozen and handed to be flushed. A batch goes into one
    /// table whole, so a table may be larger by one batch.
    pub table_bytes: usize,
    /// Frozen tables that may wait to be flushed. With so many waiting and the active one full,
    /// writers wait.
    pub frozen_max: usize,
    /// How long a row stays in memory at most before it is flushed. Bounds what a start after a
    /// crash must replay for a space that is seldom written.
    pub age_max: Duration,
    /// How long a write waits for room before it is refused as [`varve_kv::KvError::Busy`].
    pub wait_max: Duration,
    /// By how many bytes a segment of the log grows ahead of what is written.
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

/// Memory of the front tables of all spaces that wait to be flushed or take writes.
#[derive(Debug)]
pub struct Budget {
    limit: usize,
    used: AtomicUsize,
}

impl Budget {
    /// A budget of so many bytes.
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

    pub(crate) fn exceeded(&self) -> bool {
        self.used() >= self.limit
    }

    pub(crate) fn take(&self, bytes: usize) {
        self.used.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Takes as much as `share` makes of what is left.
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
