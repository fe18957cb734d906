//! The versions that reads have fixed, remembered over restarts.
//!
//! A read as of a transaction time fixes that time: later commits get greater versions. The
//! committer keeps the newest fixed version in memory. After a restart with a clock that was turned
//! back, it would be unknown, so an upper bound of all fixed versions is stored. The bound is a
//! second ahead, so one small write serves all reads of that second. A read up to the newest commit
//! needs no bound, since the version of that commit is stored anyway. An orderly stop lowers the
//! bound to the newest fixed version.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use parking_lot::{Condvar, Mutex};
use varve_encoding::tables::COUNTER;
use varve_kv::{Batch, Durability, KvError, ReaderExt, Space, has_snapshots};
use varve_model::CommitVersion;

use super::CLOSE_WAIT_MAX;
use crate::deadline;
use crate::error::{ErrorKind, GraphError};

/// How far the stored bound is ahead of the version that needs it, in microseconds.
const LEAD_MICROS: i64 = 1_000_000;

const PARTITION: &[u8] = &[0];
const READ_PAST: &[u8] = b"told_past";

/// The bound of one graph.
pub(crate) struct Promise(Arc<StoredBound>);

struct StoredBound {
    space: Arc<dyn Space>,
    /// Whether a write may wait for an absent cluster: the engine has no snapshots.
    may_wait: bool,
    /// The upper bound of the fixed versions. The stored bound is not less, unless a local store
    /// could not be written.
    bound: AtomicU64,
    /// The newest version that this process has fixed, or the bound stored by an earlier one.
    newest: AtomicU64,
    storing: Mutex<Storing>,
    stored: Condvar,
}

/// The state of storing the bound on a cluster.
#[derive(Default)]
struct Storing {
    under_way: bool,
    /// The number of failed attempts, and the reason of the last one.
    failures: u64,
    failure: String,
}

impl Promise {
    /// Reads the stored bound. Returns the promise and the bound: every later commit must get a
    /// greater version.
    ///
    /// # Errors
    /// When the store fails or is damaged.
    pub(crate) fn open(space: Arc<dyn Space>) -> Result<(Self, CommitVersion), GraphError> {
        let stored = match space.get(COUNTER, PARTITION, READ_PAST)? {
            None => 0,
            Some(bytes) => u64::from_be_bytes(bytes.as_slice().try_into().map_err(|_| {
                let message = "The stored bound of what is past is damaged";
                GraphError::new(ErrorKind::Storage, message)
            })?),
        };
        let promise = Self(Arc::new(StoredBound {
            may_wait: !has_snapshots(&space),
            space,
            bound: AtomicU64::new(stored),
            newest: AtomicU64::new(stored),
            storing: Mutex::default(),
            stored: Condvar::new(),
        }));
        Ok((promise, CommitVersion(stored)))
    }

    /// Ensures that `version` is still fixed after a restart.
    ///
    /// If the store belongs to this process alone and cannot be written, reads go on: `version` is
    /// fixed until the process ends, and the bound is stored with a later read. On a cluster this
    /// waits until the bound is stored, and fails if it cannot be stored, since another server may
    /// lead the graph next and would not know the bound.
    ///
    /// # Errors
    /// [`ErrorKind::Busy`] when this thread's deadline passes first, or a cluster does not store
    /// the bound.
    pub(crate) fn cover(&self, version: CommitVersion) -> Result<(), GraphError> {
        let kept = &self.0;
        kept.newest.fetch_max(version.0, Ordering::Relaxed);
        let is_covered = || version.0 <= kept.bound.load(Ordering::Acquire);
        if is_covered() {
            return Ok(());
        }
        let mut storing = kept.storing.lock();
        let failures = storing.failures;
        while !is_covered() {
            if storing.failures != failures {
                let why = &storing.failure;
                let message = format!("That this time has passed cannot be stored: {why}");
                return Err(GraphError::new(ErrorKind::Busy, message));
            }
            if !storing.under_way {
                let ahead = version.instant().plus_micros(LEAD_MICROS);
                let bound = CommitVersion::last_at(ahead).max(version);
                if !kept.may_wait {
                    // If this fails, `version` is fixed until the process ends.
                    let _ = kept.store(bound);
                    kept.bound.store(bound.0, Ordering::Release);
                    break;
                }
                storing.under_way = true;
                if !self.begin(bound) {
                    storing.under_way = false;
                    return Err(GraphError::new(ErrorKind::Busy, "No thread is available"));
                }
            }
            if !deadline::wait(&kept.stored, &mut storing) {
                return Err(deadline::too_late());
            }
        }
        Ok(())
    }

    /// Stores the bound on a new thread, since a write to a cluster may take any time. Returns
    /// `false` if no thread can be started.
    fn begin(&self, bound: CommitVersion) -> bool {
        let kept = Arc::clone(&self.0);
        let work = move || kept.finish(bound);
        let thread = std::thread::Builder::new().name("varve-promise".into());
        thread.spawn(work).is_ok()
    }
}

impl StoredBound {
    fn finish(&self, bound: CommitVersion) {
        // The engine reports its panics. They are caught here so that no reader waits for ever.
        let stored = catch_unwind(AssertUnwindSafe(|| self.store(bound)));
        let mut storing = self.storing.lock();
        storing.under_way = false;
        match stored {
            Ok(Ok(())) => self.bound.store(bound.0, Ordering::Release),
            failed => {
                storing.failures += 1;
                storing.failure = match failed {
                    Ok(Err(error)) => error.to_string(),
                    _ => "the engine failed, see the log".to_owned(),
                };
            }
        }
        drop(storing);
        self.stored.notify_all();
    }

    fn store(&self, bound: CommitVersion) -> Result<(), KvError> {
        let mut batch = Batch::new();
        batch.put(COUNTER, PARTITION, READ_PAST, &bound.0.to_be_bytes());
        self.space.write(&batch, Durability::Buffered)
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        let kept = &self.0;
        let newest = kept.newest.load(Ordering::Relaxed);
        let mut storing = kept.storing.lock();
        let has_lead = (1..kept.bound.load(Ordering::Acquire)).contains(&newest);
        // While a write is running, the bound is not lowered. After a restart, versions continue
        // after the bound.
        if storing.under_way || !has_lead {
            return;
        }
        // If the bound cannot be lowered, versions jump ahead by `LEAD_MICROS` after a restart.
        if !kept.may_wait {
            let _ = kept.store(CommitVersion(newest));
            return;
        }
        storing.under_way = self.begin(CommitVersion(newest));
        let end = Instant::now() + CLOSE_WAIT_MAX;
        kept.stored
            .wait_while_until(&mut storing, |storing| storing.under_way, end);
    }
}
