//! Syncs of the log, which do not block writes: one sync covers all records appended before it,
//! while other threads append.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;
use varve_kv::{KvError, fail_point};

use super::disk::DiskFile;
use super::errors;
use super::mark::Marker;

/// The state that the writer shares with the threads that sync.
#[derive(Debug)]
pub(crate) struct Progress {
    pub(crate) space: String,
    /// The position after the last record passed to the operating system.
    appended: AtomicU64,
    /// The position up to which everything is on stable storage.
    durable: AtomicU64,
    /// The number of successful calls of [`Progress::sync`] that had something to sync.
    syncs: AtomicU64,
    /// The files that may have bytes that are not on stable storage. New records go to the last
    /// one.
    unsynced: Mutex<Vec<Arc<dyn DiskFile>>>,
    /// Held during a sync.
    syncing: Mutex<()>,
    /// Writes the mark; `None` for a log of format 1.
    marker: Option<Arc<Marker>>,
    broken: AtomicBool,
    /// Why the log is broken; empty unless it is.
    reason: Mutex<String>,
}

/// Syncs a log without borrowing it, so that others can append meanwhile.
#[derive(Debug, Clone)]
pub struct Syncer(pub(crate) Arc<Progress>);

impl Syncer {
    /// Brings everything appended so far to stable storage. Waits for a running sync first, and
    /// does nothing more if that sync or an earlier one covered everything.
    ///
    /// # Errors
    /// As [`Log::sync`](super::Log::sync).
    pub fn sync(&self) -> Result<(), KvError> {
        self.0.sync()
    }

    /// Writes the position up to which records were acknowledged to the mark, unless the mark
    /// already has it. Never syncs. Does nothing for a log of format 1. A failed write is ignored.
    pub fn note(&self) {
        if let Some(marker) = &self.0.marker {
            marker.note();
        }
    }
}

impl Progress {
    /// Creates the state of a log that is on stable storage up to `position`.
    pub(crate) fn new(
        space: &str,
        position: u64,
        active: Arc<dyn DiskFile>,
        marker: Option<Arc<Marker>>,
    ) -> Self {
        Self {
            space: space.to_owned(),
            appended: AtomicU64::new(position),
            durable: AtomicU64::new(position),
            syncs: AtomicU64::new(0),
            unsynced: Mutex::new(vec![active]),
            syncing: Mutex::default(),
            marker,
            broken: AtomicBool::new(false),
            reason: Mutex::default(),
        }
    }

    pub(crate) fn appended(&self) -> u64 {
        self.appended.load(Ordering::Acquire)
    }

    pub(crate) fn durable(&self) -> u64 {
        self.durable.load(Ordering::Acquire)
    }

    /// The number of successful syncs since the log was opened, without those that close a segment.
    pub(crate) fn syncs(&self) -> u64 {
        self.syncs.load(Ordering::Relaxed)
    }

    /// Must be called once the bytes before `position` were passed to the operating system.
    pub(crate) fn set_appended(&self, position: u64) {
        self.appended.store(position, Ordering::Release);
    }

    /// Notes that the records appended so far are acknowledged before a sync.
    pub(crate) fn acknowledge(&self) {
        if let Some(marker) = &self.marker {
            marker.acknowledge(self.appended());
        }
    }

    /// Makes `file` take the next records, which begin at `position`. `synced`: everything before
    /// `position` is on stable storage.
    pub(crate) fn start(&self, file: Arc<dyn DiskFile>, position: u64, synced: bool) {
        let mut unsynced = self.unsynced.lock();
        if synced {
            unsynced.clear();
            self.durable.fetch_max(position, Ordering::AcqRel);
        }
        unsynced.push(file);
        drop(unsynced);
        self.set_appended(position);
    }

    pub(crate) fn sync(&self) -> Result<(), KvError> {
        let target = self.appended();
        let _alone = self.syncing.lock();
        self.check()?;
        if self.durable() >= target {
            return Ok(());
        }
        let files = self.unsynced.lock().clone();
        fail_point::LOG_SYNC
            .reach()
            .map_err(|error| self.broke("syncing the log", &error))?;
        for file in &files {
            file.sync()
                .map_err(|error| self.broke("syncing the log", &error))?;
        }
        if let Some((_, closed)) = files.split_last() {
            let is_synced =
                |file: &Arc<dyn DiskFile>| closed.iter().any(|closed| Arc::ptr_eq(closed, file));
            self.unsynced.lock().retain(|file| !is_synced(file));
        }
        self.syncs.fetch_add(1, Ordering::Relaxed);
        self.durable.fetch_max(target, Ordering::AcqRel);
        if let Some(marker) = &self.marker {
            marker.durable(target);
        }
        Ok(())
    }

    /// Fails if the log is broken.
    pub(crate) fn check(&self) -> Result<(), KvError> {
        if !self.broken.load(Ordering::Acquire) {
            return Ok(());
        }
        Err(KvError::Io {
            space: self.space.clone(),
            detail: format!(
                "an earlier write failed; writes are refused until the space is reopened: {}",
                self.reason.lock()
            ),
        })
    }

    /// Breaks the log: after the failure the content of its file is unknown, so nothing more may be
    /// written. Returns the error for the caller. [`Progress::check`] reports the first failure.
    pub(crate) fn broke(&self, doing: &str, error: &std::io::Error) -> KvError {
        let detail = format!("{doing}: {error}");
        let mut reason = self.reason.lock();
        if !self.broken.swap(true, Ordering::AcqRel) {
            reason.clone_from(&detail);
        }
        KvError::Io {
            space: self.space.clone(),
            detail,
        }
    }

    /// Turns a failed write into an error. Breaks the log, unless the error shows that nothing was
    /// stored: the disk is full, or files cannot be written.
    pub(crate) fn failed(&self, doing: &str, error: &std::io::Error) -> KvError {
        let failure = errors::file_error(&self.space, doing, error);
        if errors::nothing_stored(&failure) {
            return failure;
        }
        self.broke(doing, error)
    }
}
