//! The mark: a small file beside the log's directory that names the log that belongs there, and its
//! extent.
//!
//! Each record of a log has the position up to which the log was stored before it. The mark has
//! that position for the last records, so a log that was cut off or overwritten is distinguished
//! from a complete one. The mark is in the directory of the sorted files, so the log that continues
//! these files is also distinguished from the log of another space and from an older log.
//!
//! The mark is overwritten in place, in one sector. The log's id and the first segment needed, with
//! its position, must not be lost, so a change of them is synced. The durable and the acknowledged
//! position are not synced: they survive the end of the process, and after a power loss they are
//! those that the operating system wrote last. They are never too large, so an older mark only
//! weakens the check.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use super::disk::{Disk, DiskFile};
use super::format::{MARK_BYTES, MARK_NAME, Mark};
use super::recover::UNFINISHED;

/// The mark is written again after this many bytes of acknowledged records without a sync.
const STEP_BYTES: u64 = 4 << 10;

/// What a reader finds in place of the mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MarkFile {
    Absent,
    /// The empty file that stands for the mark of a log of format 1.
    Empty,
    Damaged,
    Mark(Mark),
}

/// Reads the mark in the directory beside the log.
pub(crate) fn read(beside: &dyn Disk) -> io::Result<MarkFile> {
    let file = match beside.open(MARK_NAME, false) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(MarkFile::Absent),
        file => file?,
    };
    let mut content = [0; MARK_BYTES + 1];
    let filled = file.read(&mut content, 0)?;
    Ok(match Mark::decode(&content[..filled]) {
        Some(mark) => MarkFile::Mark(mark),
        None if filled == 0 => MarkFile::Empty,
        None => MarkFile::Damaged,
    })
}

/// Creates a mark atomically, on stable storage.
pub(crate) fn create(beside: &dyn Disk, mark: &Mark) -> io::Result<()> {
    let unfinished = format!("{MARK_NAME}{UNFINISHED}");
    let file = beside.create(&unfinished)?;
    file.write([&mark.encode(), &[]], 0)
        .map_err(|(_, error)| error)?;
    file.sync()?;
    beside.rename(&unfinished, MARK_NAME)?;
    beside.sync_names()
}

/// Brings a mark that was read to stable storage: it may have been written without a sync.
pub(crate) fn store(beside: &dyn Disk, mark: &Mark) -> io::Result<()> {
    let file = beside.open(MARK_NAME, true)?;
    file.write([&mark.encode(), &[]], 0)
        .map_err(|(_, error)| error)?;
    file.sync()
}

/// The mark of an open log.
#[derive(Debug)]
pub(crate) struct Marker {
    file: Arc<dyn DiskFile>,
    /// The mark as it was written last. If that write failed, the file may have an older one.
    mark: Mutex<Mark>,
    acknowledged: AtomicU64,
    /// The acknowledged position of `mark`.
    noted: AtomicU64,
}

impl Marker {
    /// Writes the mark of a log that is now open, and syncs it.
    pub(crate) fn open(beside: &dyn Disk, mark: Mark) -> io::Result<Self> {
        let marker = Self {
            file: beside.open(MARK_NAME, true)?,
            mark: Mutex::new(mark),
            acknowledged: AtomicU64::new(mark.acknowledged),
            noted: AtomicU64::new(mark.acknowledged),
        };
        marker.write(|_| ())?;
        marker.file.sync()?;
        Ok(marker)
    }

    /// Notes that the log is on stable storage up to `position`.
    pub(crate) fn durable(&self, position: u64) {
        self.acknowledged.fetch_max(position, Ordering::AcqRel);
        // If the write fails, the log is still valid, only less well checked.
        let _ = self.write(|mark| mark.durable = mark.durable.max(position));
    }

    /// Notes that the log was acknowledged up to `position` without a sync. Writes the mark only
    /// every [`STEP_BYTES`].
    pub(crate) fn acknowledge(&self, position: u64) {
        self.acknowledged.fetch_max(position, Ordering::AcqRel);
        if position >= self.noted.load(Ordering::Relaxed) + STEP_BYTES {
            self.note();
        }
    }

    /// Writes the acknowledged position, unless it was written already.
    pub(crate) fn note(&self) {
        if self.noted.load(Ordering::Relaxed) < self.acknowledged.load(Ordering::Acquire) {
            // An error is ignored, as in [`Marker::durable`].
            let _ = self.write(|_| ());
        }
    }

    /// Stores durably that `first` is the first segment needed, and that it begins at the position
    /// `flushed`.
    pub(crate) fn flushed(&self, first: super::SegmentId, flushed: u64) -> io::Result<()> {
        self.write(|mark| {
            mark.first = first;
            mark.flushed = flushed;
        })?;
        self.file.sync()
    }

    fn write(&self, change: impl FnOnce(&mut Mark)) -> io::Result<()> {
        // Held during the write, so that an older state never overwrites a newer one.
        let mut mark = self.mark.lock();
        change(&mut mark);
        mark.acknowledged = self.acknowledged.load(Ordering::Acquire);
        self.noted.store(mark.acknowledged, Ordering::Relaxed);
        let written = self.file.write([&mark.encode(), &[]], 0);
        written.map_err(|(_, error)| error)
    }
}
