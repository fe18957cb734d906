//! The mark: a small file beside the log's directory that says which log belongs there, and how far
//! it goes.
//!
//! The records of a log say up to where it was stored before them; the mark says it of the last
//! ones, so a log whose end was cut off or overwritten is distinguished from one that ends there.
//! It lies with the sorted files, so it distinguishes the log of another space, and an older log,
//! from the one whose rest they have.
//!
//! It is overwritten in place, in one sector. What must not be lost, the log's id and the first
//! segment needed, is synced. How far the log goes is not: it survives the end of the process, and
//! after a power loss it is as old as the system's last write of it. What it says is always true,
//! so an older one only weakens the check.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use super::disk::{Disk, DiskFile};
use super::format::{MARK_BYTES, MARK_NAME, Mark};
use super::recover::UNFINISHED;

/// After so many bytes of acknowledged records that are not synced the mark is written again.
const STEP_BYTES: u64 = 4 << 10;

/// What is found where a mark should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MarkFile {
    Absent,
    /// The empty file with which earlier builds noted that there is a log.
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

/// Puts a mark there, whole or not at all.
pub(crate) fn create(beside: &dyn Disk, mark: &Mark) -> io::Result<()> {
    let unfinished = format!("{MARK_NAME}{UNFINISHED}");
    let file = beside.create(&unfinished)?;
    file.write([&mark.encode(), &[]], 0)
        .map_err(|(_, error)| error)?;
    file.sync()?;
    beside.rename(&unfinished, MARK_NAME)?;
    beside.sync_names()
}

/// Brings a mark that was read to stable storage: it may be there only for this session.
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
    /// As it is in the file.
    mark: Mutex<Mark>,
    acknowledged: AtomicU64,
    /// The same as it is in the file.
    noted: AtomicU64,
}

impl Marker {
    /// Writes the mark of a log that is open now, and syncs it.
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

    /// Notes that so much is on stable storage.
    pub(crate) fn durable(&self, position: u64) {
        self.acknowledged.fetch_max(position, Ordering::AcqRel);
        // Without it the log is no worse, only less well watched.
        let _ = self.write(|mark| mark.durable = mark.durable.max(position));
    }

    /// Notes that so much was acknowledged without a sync, not each time.
    pub(crate) fn acknowledge(&self, position: u64) {
        self.acknowledged.fetch_max(position, Ordering::AcqRel);
        if position >= self.noted.load(Ordering::Relaxed) + STEP_BYTES {
            self.note();
        }
    }

    /// Writes what was acknowledged, if the file does not say so.
    pub(crate) fn note(&self) {
        if self.noted.load(Ordering::Relaxed) < self.acknowledged.load(Ordering::Acquire) {
            // As for what is durable.
            let _ = self.write(|_| ());
        }
    }

    /// Makes it known for good that `first` is the first segment needed, and begins at the position
    /// `flushed`.
    pub(crate) fn flushed(&self, first: super::SegmentId, flushed: u64) -> io::Result<()> {
        self.write(|mark| {
            mark.first = first;
            mark.flushed = flushed;
        })?;
        self.file.sync()
    }

    fn write(&self, change: impl FnOnce(&mut Mark)) -> io::Result<()> {
        // Held while it is written, so that an older state never comes after a newer one.
        let mut mark = self.mark.lock();
        change(&mut mark);
        mark.acknowledged = self.acknowledged.load(Ordering::Acquire);
        self.noted.store(mark.acknowledged, Ordering::Relaxed);
        let written = self.file.write([&mark.encode(), &[]], 0);
        written.map_err(|(_, error)| error)
    }
}
