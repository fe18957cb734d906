//! Whether a space can be written: the effects of a failed write, and recovery from a full disk.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;
use rust_rocksdb::event_listener::{
    BackgroundErrorStatus, DBBackgroundErrorReason, DBWriteStallCondition, EventListener,
    FlushJobInfo, MutableStatus, WriteStallInfo,
};
use varve_kv::KvError;

use crate::errors::{file_error, write_error};
use crate::families::Db;
use crate::manifest;

/// Disk space that recovery needs besides the flushed memtables: for a new log and manifest.
const RECOVERY_MARGIN_BYTES: u64 = 4 << 20;

/// Events that RocksDB's threads report and writers read. Writers also note a full disk here.
#[derive(Debug, Default)]
pub(crate) struct Events {
    disk_full: AtomicBool,
    slow_downs: AtomicU64,
    stops: AtomicU64,
    background_errors: AtomicU64,
    /// The first error that more disk space does not resolve.
    failed: Mutex<Option<String>>,
}

impl Events {
    /// How often RocksDB began to delay the writers of a table.
    pub(crate) fn slow_downs(&self) -> u64 {
        self.slow_downs.load(Ordering::Relaxed)
    }

    /// How often RocksDB began to stop the writers of a table.
    pub(crate) fn stops(&self) -> u64 {
        self.stops.load(Ordering::Relaxed)
    }

    /// The first error of RocksDB's threads that more disk space does not resolve.
    pub(crate) fn failed(&self) -> Option<String> {
        self.failed.lock().clone()
    }

    /// The number of errors that stopped a flush, a compaction or a write.
    pub(crate) fn background_errors(&self) -> u64 {
        self.background_errors.load(Ordering::Relaxed)
    }
}

/// Receives RocksDB's events.
pub(crate) struct Listener {
    pub(crate) events: Arc<Events>,
    /// The directory of the space's files.
    pub(crate) path: PathBuf,
}

impl EventListener for Listener {
    fn on_flush_completed(&self, _job: &FlushJobInfo) {
        // RocksDB may now remove the log of the flushed rows, so a later loss of the manifest's end
        // must be noticed. If the manifest's length cannot be recorded, the store is still valid,
        // only less well checked.
        let _ = manifest::record(&self.path);
    }

    fn on_background_error(&self, _reason: DBBackgroundErrorReason, status: MutableStatus) {
        self.events
            .background_errors
            .fetch_add(1, Ordering::Relaxed);
        if let Err(error) = status.result() {
            match write_error("", error) {
                KvError::DiskFull { .. } => self.events.disk_full.store(true, Ordering::Release),
                other => {
                    let mut failed = self.events.failed.lock();
                    failed.get_or_insert_with(|| other.to_string());
                }
            }
        }
    }

    fn on_error_recovery_begin(
        &self,
        _reason: DBBackgroundErrorReason,
        _status: &BackgroundErrorStatus,
        automatic: &mut bool,
    ) {
        // RocksDB would retry every few seconds without checking for free space, and a failed retry
        // can end all recovery. Instead, the next write resumes RocksDB once there is space.
        *automatic = false;
    }

    fn on_stall_conditions_changed(&self, info: &WriteStallInfo) {
        match info.cur() {
            DBWriteStallCondition::KDelayed => &self.events.slow_downs,
            DBWriteStallCondition::KStopped => &self.events.stops,
            DBWriteStallCondition::KNormal => return,
        }
        .fetch_add(1, Ordering::Relaxed);
    }
}

/// The state of a space's write path.
#[derive(Debug)]
pub(crate) struct Health {
    space: String,
    path: PathBuf,
    events: Arc<Events>,
    broken: AtomicBool,
    /// Why writes are refused, once `broken` is set.
    reason: Mutex<String>,
    /// Held while one writer tries to recover.
    recovery: Mutex<()>,
}

impl Health {
    pub(crate) fn new(space: &str, path: &Path, events: Arc<Events>) -> Self {
        Self {
            space: space.to_owned(),
            path: path.to_path_buf(),
            events,
            broken: AtomicBool::new(false),
            reason: Mutex::default(),
            recovery: Mutex::default(),
        }
    }

    pub(crate) fn events(&self) -> &Events {
        &self.events
    }

    /// Must be called before each write. Fails if an earlier write broke the space
    /// ([`Health::write_failed`]). If the disk was full, tries to recover first.
    pub(crate) fn before_write(
        &self,
        db: &Db,
        memtable_bytes: impl Fn() -> u64,
    ) -> Result<(), KvError> {
        if self.broken.load(Ordering::Acquire) {
            return Err(KvError::Io {
                space: self.space.clone(),
                detail: format!(
                    "an earlier write failed; writes are refused until the space is reopened: {}",
                    self.reason.lock()
                ),
            });
        }
        if self.events.disk_full.load(Ordering::Acquire) {
            self.recover(db, memtable_bytes());
        }
        Ok(())
    }

    /// Takes RocksDB out of its error state if there is enough space for its recovery. Without a
    /// recovery, the write is still tried: RocksDB can continue to write when only a compaction
    /// found no space.
    fn recover(&self, db: &Db, memtable_bytes: u64) {
        let _guard = self.recovery.lock();
        if !self.events.disk_full.load(Ordering::Acquire) {
            return;
        }
        let Ok(disk) = rustix::fs::statvfs(&self.path) else {
            return;
        };
        let free = disk.f_bavail.saturating_mul(disk.f_frsize);
        if free < memtable_bytes.saturating_add(RECOVERY_MARGIN_BYTES) {
            return;
        }
        // Cleared first: a new error during recovery sets it again.
        self.events.disk_full.store(false, Ordering::Release);
        if db.resume().is_err() {
            self.events.disk_full.store(true, Ordering::Release);
        }
    }

    /// Translates the error of a write into the seam's. A full disk is noted, so that the next
    /// write tries to recover. Any other error but a read-only one breaks the space: writes fail
    /// until it is opened again.
    pub(crate) fn write_failed(&self, error: &rust_rocksdb::Error) -> KvError {
        self.remember(write_error(&self.space, error))
    }

    /// As [`Health::write_failed`], for an error of the file system outside RocksDB.
    pub(crate) fn failed(&self, error: &std::io::Error) -> KvError {
        self.remember(file_error(&self.space, "writing", error))
    }

    fn remember(&self, error: KvError) -> KvError {
        match &error {
            KvError::DiskFull { .. } => self.events.disk_full.store(true, Ordering::Release),
            KvError::ReadOnly { .. } => {}
            other => {
                *self.reason.lock() = other.to_string();
                self.broken.store(true, Ordering::Release);
            }
        }
        error
    }
}
