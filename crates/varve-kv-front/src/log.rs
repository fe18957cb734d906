//! The write-ahead log: what was written since the last sorted files, in order, able to survive a crash.

use std::path::Path;

use varve_kv::KvError;

/// The number of a segment: one file of the log. Grows by one with each rotation, never used twice for different data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SegmentId(pub u64);

/// How a log behaves.
#[derive(Debug, Clone)]
pub struct LogOptions {
    /// The space's name, for messages.
    pub space: String,
    /// By how many bytes a segment grows ahead of what is written, so that a sync need not change the file's size.
    pub preallocate_bytes: u64,
    /// Whether a segment is on stable storage before the next one takes writes. Only a durability that promises nothing
    /// after a power loss goes without.
    pub sync_on_rotate: bool,
}

/// An open log. One process at a time may have a directory open; whoever opens it sees to that.
#[derive(Debug)]
pub struct Log {}

/// Syncs a log without borrowing it, so that others can append meanwhile.
#[derive(Debug, Clone)]
pub struct Syncer {}

impl Log {
    /// Opens the log in `dir`, creating it where there is none, and hands every stored payload to `replay`, in order.
    /// What was replayed is on stable storage when this returns, and new records go to a new segment.
    ///
    /// # Errors
    /// [`KvError::Corruption`] naming file and offset when damage lies before something that was surely stored; what
    /// `replay` returns; else when files cannot be read or written.
    pub fn open(
        _dir: &Path,
        _options: LogOptions,
        _replay: &mut dyn FnMut(SegmentId, &[u8]) -> Result<(), KvError>,
    ) -> Result<Self, KvError> {
        Ok(Self {})
    }

    /// Hands a record to the operating system with one write: it survives the end of the process, not yet that of the machine.
    ///
    /// # Errors
    /// [`KvError::DiskFull`] and [`KvError::ReadOnly`]: nothing of it is stored, the log goes on when space returns. Any
    /// other: unknown whether it is stored, and the log takes nothing until it is opened again.
    pub fn append(&mut self, _payload: &[u8]) -> Result<(), KvError> {
        Ok(())
    }

    /// Brings everything appended so far to stable storage.
    ///
    /// # Errors
    /// When it could not be; after that the log takes nothing until it is opened again.
    pub fn sync(&self) -> Result<(), KvError> {
        self.syncer().sync()
    }

    /// Something that syncs this log while others append.
    pub fn syncer(&self) -> Syncer {
        Syncer {}
    }

    /// The segment that takes new records.
    pub fn active(&self) -> SegmentId {
        SegmentId(1)
    }

    /// Closes the active segment, starts the next one and returns the closed one's number.
    ///
    /// # Errors
    /// [`KvError::DiskFull`] and [`KvError::ReadOnly`]: the active segment stays and goes on taking records. Any other as for
    /// [`Log::append`].
    pub fn rotate(&mut self) -> Result<SegmentId, KvError> {
        Ok(SegmentId(1))
    }

    /// Removes every segment up to and including `last`, whose content must be stored elsewhere for good.
    ///
    /// # Errors
    /// When `last` is the active segment or a file could not be removed. The log itself is unharmed, and what is left is
    /// removed by the next call or opening.
    pub fn remove_through(&self, _last: SegmentId) -> Result<(), KvError> {
        Ok(())
    }

    /// The bytes of all records that the log holds, closed segments included.
    pub fn bytes(&self) -> u64 {
        0
    }

    /// Reads the log in `dir` against its checksums. The log may be open: what is being written counts as a torn end.
    ///
    /// # Errors
    /// [`KvError::Corruption`] naming file and offset; else when a file cannot be read.
    pub fn verify(_space: &str, _dir: &Path) -> Result<(), KvError> {
        Ok(())
    }
}

impl Syncer {
    /// Brings everything appended so far to stable storage.
    ///
    /// # Errors
    /// As [`Log::sync`].
    pub fn sync(&self) -> Result<(), KvError> {
        Ok(())
    }
}
