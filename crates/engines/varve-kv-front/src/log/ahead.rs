//! Room in a segment before it is needed, so that a sync has little to store besides the records.
//!
//! Room that was only allocated is distinguished from written room by the file system: the first
//! sync of records in it stores that change, too, as a sync does that finds the file longer than
//! before. So where records are few between two syncs, the room is filled with zeros, some way
//! ahead, and the sync of one record pays for that of many. Where they are many it stays as it is:
//! their bytes would be written twice. Both read as zeros, so nothing that reads the log can tell
//! them apart.

use std::io;

use super::disk::DiskFile;

/// Into how many parts what is allocated at once is cut, each of which is filled or not.
const PARTS: u64 = 4;
/// Room is filled where no more bytes than this were written for each sync lately.
const FEW_BYTES: u64 = 64 << 10;
/// Zeros written with one call.
static ZEROS: [u8; 64 << 10] = [0; 64 << 10];

/// The room of one segment. All positions are offsets in its file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ahead {
    /// Up to where the file has room.
    allocated: u64,
    /// Up to where it was decided whether to fill; at most `allocated`, but where room could not be
    /// allocated.
    decided: u64,
    /// Up to where records went when that was decided, and how many syncs there had been.
    since: (u64, u64),
}

impl Ahead {
    /// No room behind `offset`; `syncs` were made until now.
    pub(super) fn none(offset: u64, syncs: u64) -> Self {
        Self {
            allocated: offset,
            decided: offset,
            since: (offset, syncs),
        }
    }

    /// Has room for a record from `offset` to `end`. `step` is how much is allocated at once,
    /// `syncs` how many were made until now.
    ///
    /// # Errors
    /// When the file system fails for another reason than that it has no room, or cannot allocate:
    /// there the write itself finds out.
    pub(super) fn reach(
        &mut self,
        file: &dyn DiskFile,
        (offset, end): (u64, u64),
        step: u64,
        syncs: u64,
    ) -> io::Result<()> {
        if end <= self.decided || step == 0 {
            return Ok(());
        }
        if end > self.allocated {
            let wanted = end.next_multiple_of(step);
            match file.allocate(offset, wanted - offset) {
                Ok(()) => self.allocated = wanted,
                Err(error) if is_for_the_write_to_find(&error) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        let (records, synced) = self.since;
        let few = end - records <= (syncs - synced).saturating_mul(FEW_BYTES);
        self.since = (end, syncs);
        self.decided = end
            .next_multiple_of((step / PARTS).max(1))
            .min(self.allocated);
        match few.then(|| fill(file, end, self.decided)) {
            Some(Err(error)) if !is_for_the_write_to_find(&error) => Err(error),
            _ => Ok(()),
        }
    }
}

fn is_for_the_write_to_find(error: &io::Error) -> bool {
    use io::ErrorKind as Io;
    matches!(
        error.kind(),
        Io::StorageFull
            | Io::QuotaExceeded
            | Io::FileTooLarge
            | Io::Unsupported
            | Io::Interrupted
            | Io::PermissionDenied
            | Io::ReadOnlyFilesystem
    )
}

fn fill(file: &dyn DiskFile, from: u64, to: u64) -> io::Result<()> {
    let mut at = from;
    while at < to {
        let count = ((to - at) as usize).min(ZEROS.len());
        file.write([&ZEROS[..count], &[]], at)
            .map_err(|(_, error)| error)?;
        at += count as u64;
    }
    Ok(())
}
