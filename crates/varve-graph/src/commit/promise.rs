//! What readers have read as past, kept over restarts.
//!
//! A read as of a transaction time makes that time past: later commits get greater versions. The
//! committer keeps that in memory. A restart with a clock that was turned back would forget it, so
//! a bound is stored that no such time exceeds. It lies a little ahead, which makes one small write
//! for all reads of that while, and none for reads up to the newest commit, whose version is stored
//! anyway. An orderly stop takes the rest of the lead back.

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

/// How far the stored bound lies ahead of what was asked for, in microseconds.
const LEAD_MICROS: i64 = 1_000_000;

const PARTITION: &[u8] = &[0];
const READ_PAST: &[u8] = b"told_past";

/// The bound of one graph.
pub(crate) struct Promise(Arc<StoredBound>);

struct StoredBound {
    space: Arc<dyn Space>,
    /// Whether storing it may take as long as the store is away.
    may_wait: bool,
    /// No time that was read as past exceeds it. What is stored is not less, but where a store that
    /// cannot be written is done without.
    bound: AtomicU64,
    /// The greatest time that was read as past, by this process or as the stored bound says.
    newest: AtomicU64,
    storing: Mutex<Storing>,
    stored: Condvar,
}

/// How it is stored where that may take as long as the store is away.
#[derive(Default)]
struct Storing {
    under_way: bool,
    /// Attempts that have failed, and why the last one did.
    failures: u64,
    failure: String,
}

impl Promise {
    /// Reads the bound; also gives the version that every commit's must exceed.
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

    /// Makes sure that a restart will know `version` as past.
    ///
    /// A store of this process alone that cannot be written does not keep anybody from reading: the
    /// promise then holds until the process ends, and storing it is tried again after a while. One
    /// that does not say whether it can is waited for; and as others may write there later, who
    /// would not know of it, what it does not take is not promised.
    ///
    /// # Errors
    /// [`ErrorKind::Busy`] when the time that this thread has is over first, or such a store does
    /// not take it.
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
                let message = format!("It cannot be stored now that this time is past: {why}");
                return Err(GraphError::new(ErrorKind::Busy, message));
            }
            if !storing.under_way {
                let ahead = version.instant().plus_micros(LEAD_MICROS);
                let bound = CommitVersion::last_at(ahead).max(version);
                if !kept.may_wait {
                    // It holds as long as the process does.
                    let _ = kept.store(bound);
                    kept.bound.store(bound.0, Ordering::Release);
                    break;
                }
                storing.under_way = true;
                if !self.begin(bound) {
                    storing.under_way = false;
                    return Err(GraphError::new(ErrorKind::Busy, "No thread is to be had"));
                }
            }
            if !deadline::wait(&kept.stored, &mut storing) {
                return Err(deadline::too_late());
            }
        }
        Ok(())
    }

    /// Has the bound stored by a thread of its own, as nobody knows how long a cluster takes.
    /// `false` if there is none to be had.
    fn begin(&self, bound: CommitVersion) -> bool {
        let kept = Arc::clone(&self.0);
        let work = move || kept.finish(bound);
        let thread = std::thread::Builder::new().name("varve-promise".into());
        thread.spawn(work).is_ok()
    }
}

impl StoredBound {
    fn finish(&self, bound: CommitVersion) {
        // The engine answers for its panics; nobody is to wait for ever for one.
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
        // While a write is under way the lead stays: a restart then numbers on from it.
        if storing.under_way || !has_lead {
            return;
        }
        // If it cannot be taken back, versions jump by the lead.
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
