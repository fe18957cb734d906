//! Syncing, apart from writing: one syncs for all that was appended before it, while others append.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;
use varve_kv::{KvError, fail_point};

use super::disk::DiskFile;
use super::errors;
use super::mark::Marker;

/// What the writer and those who sync share.
#[derive(Debug)]
pub(crate) struct Progress {
    pub(crate) space: String,
    /// The position behind the last record handed to the operating system.
    appended: AtomicU64,
    /// The position up to which everything is on stable storage.
    durable: AtomicU64,
    /// How often files were synced since the log was opened.
    syncs: AtomicU64,
    /// The files that may hold more than is on stable storage; the one that takes records is the
    /// last.
    unsynced: Mutex<Vec<Arc<dyn DiskFile>>>,
    /// Held by whoever syncs.
    syncing: Mutex<()>,
    /// Where it is noted how far the log goes; none for a log of earlier builds.
    marker: Option<Arc<Marker>>,
    broken: AtomicBool,
    /// Why it is broken.
    reason: Mutex<String>,
}

/// Syncs a log without borrowing it, so that others can append meanwhile.
#[derive(Debug, Clone)]
pub struct Syncer(pub(crate) Arc<Progress>);

impl Syncer {
    /// Brings everything appended so far to stable storage. Costs nothing if another has done so
    /// already.
    ///
    /// # Errors
    /// As [`Log::sync`](super::Log::sync).
    pub fn sync(&self) -> Result<(), KvError> {
        self.0.sync()
    }

    /// Notes how far the log goes that was acknowledged without a sync, if that is not noted yet.
    /// Never syncs.
    pub fn note(&self) {
        if let Some(marker) = &self.0.marker {
            marker.note();
        }
    }
}

impl Progress {
    /// For a log of which everything up to `position` is on stable storage.
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

    /// How often files were synced since the log was opened.
    pub(crate) fn syncs(&self) -> u64 {
        self.syncs.load(Ordering::Relaxed)
    }

    /// To be called once the bytes before `position` have been handed over.
    pub(crate) fn set_appended(&self, position: u64) {
        self.appended.store(position, Ordering::Release);
    }

    /// What was appended so far is acknowledged before it is synced.
    pub(crate) fn acknowledge(&self) {
        if let Some(marker) = &self.marker {
            marker.acknowledge(self.appended());
        }
    }

    /// From now on, records go to `file`. `synced` says that the files before it need no sync.
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

    /// Fails if nothing may be written any more.
    pub(crate) fn check(&self) -> Result<(), KvError> {
        if !self.broken.load(Ordering::Acquire) {
            return Ok(());
        }
        Err(KvError::Io {
            space: self.space.clone(),
            detail: format!(
                "an earlier write failed, so nothing is written until the space is opened again: {}",
                self.reason.lock()
            ),
        })
    }

    /// Nothing may be written after this failure, whatever kind it is: what the file holds is
    /// unknown.
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

    /// Whether a failed write has stored nothing; otherwise it breaks the log.
    pub(crate) fn failed(&self, doing: &str, error: &std::io::Error) -> KvError {
        let failure = errors::file_error(&self.space, doing, error);
        if errors::nothing_stored(&failure) {
            return failure;
        }
        self.broke(doing, error)
    }
}
