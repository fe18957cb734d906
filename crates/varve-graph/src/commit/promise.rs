//! What readers were told is past, kept over restarts.
//!
//! A read as of a transaction time makes that time past: later commits get greater versions. The committer keeps that in
//! memory. A restart with a clock that was turned back would forget it, so a bound is stored that no told time exceeds.
//! It lies a little ahead, which makes one small write for all reads of that while, and none for reads up to the newest
//! commit, whose version is stored anyway. An orderly stop takes the rest of the lead back.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use varve_encoding::tables::COUNTER;
use varve_kv::{Batch, Durability, Space};
use varve_model::CommitVersion;

use crate::error::{ErrorKind, GraphError};

/// How far the stored bound lies ahead of what was asked for, in microseconds.
const LEAD_MICROS: i64 = 1_000_000;

const PARTITION: &[u8] = &[0];
const TOLD_PAST: &[u8] = b"told_past";

/// The bound of one graph.
pub(crate) struct Promise {
    space: Arc<dyn Space>,
    /// No time that was told past exceeds it, and what is stored is not less.
    bound: AtomicU64,
    /// The greatest time that was told past, by this process or as the stored bound says.
    told: AtomicU64,
    storing: Mutex<()>,
}

impl Promise {
    /// Reads the bound; also gives the version that every commit's must exceed.
    ///
    /// # Errors
    /// When the store fails or is damaged.
    pub(crate) fn open(space: Arc<dyn Space>) -> Result<(Self, CommitVersion), GraphError> {
        let stored = match space.get(COUNTER, PARTITION, TOLD_PAST)? {
            None => 0,
            Some(bytes) => u64::from_be_bytes(bytes.as_slice().try_into().map_err(|_| {
                let message = "The stored bound of what is past is damaged";
                GraphError::new(ErrorKind::Storage, message)
            })?),
        };
        let promise = Self {
            space,
            bound: AtomicU64::new(stored),
            told: AtomicU64::new(stored),
            storing: Mutex::new(()),
        };
        Ok((promise, CommitVersion(stored)))
    }

    /// Makes sure that a restart will know `version` as past.
    ///
    /// A store that cannot be written does not keep anybody from reading: the promise then holds until the process ends,
    /// and storing it is tried again after a while.
    pub(crate) fn cover(&self, version: CommitVersion) {
        self.told.fetch_max(version.0, Ordering::Relaxed);
        if version.0 <= self.bound.load(Ordering::Acquire) {
            return;
        }
        let _one_at_a_time = self.storing.lock();
        if version.0 <= self.bound.load(Ordering::Acquire) {
            return;
        }
        let ahead = version.instant().plus_micros(LEAD_MICROS);
        let bound = CommitVersion::last_at(ahead).max(version);
        self.store(bound);
        self.bound.store(bound.0, Ordering::Release);
    }

    fn store(&self, bound: CommitVersion) {
        let mut batch = Batch::new();
        batch.put(COUNTER, PARTITION, TOLD_PAST, &bound.0.to_be_bytes());
        let _ = self.space.write(&batch, Durability::Buffered);
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        let told = *self.told.get_mut();
        if (1..*self.bound.get_mut()).contains(&told) {
            self.store(CommitVersion(told));
        }
    }
}
