//! Preallocation of a segment, so that a sync has little to store besides the records.
//!
//! File systems distinguish allocated bytes from written ones. The first sync of records in
//! allocated bytes also stores that change, as does a sync of a file that has grown. So if there
//! are few bytes between two syncs, the allocated bytes ahead are filled with zeros, and one sync
//! pays for that change for many later ones. If there are many, the bytes are not filled, since
//! they would be written twice. Both read as zeros, so readers of the log cannot distinguish them.

use std::io;

use super::disk::DiskFile;

/// The number of parts of one allocation; each part is filled or not.
const PARTS: u64 = 4;
/// Parts are filled if at most this many bytes per sync were written recently.
const FEW_BYTES: u64 = 64 << 10;
/// Zeros written with one call.
static ZEROS: [u8; 64 << 10] = [0; 64 << 10];

/// The preallocated bytes of one segment. All positions are offsets in its file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ahead {
    /// The end of the allocated bytes.
    allocated: u64,
    /// The offset up to which filling was decided; at most `allocated`, unless an allocation
    /// failed.
    decided: u64,
    /// At that decision: the end of the records, and the number of syncs.
    since: (u64, u64),
}

impl Ahead {
    /// Nothing is preallocated after `offset`; `syncs` were made until now.
    pub(super) fn none(offset: u64, syncs: u64) -> Self {
        Self {
            allocated: offset,
            decided: offset,
            since: (offset, syncs),
        }
    }

    /// Ensures that a record from `offset` to `end` has preallocated bytes. `step` is the size of
    /// an allocation, `syncs` the number of syncs so far.
    ///
    /// # Errors
    /// When the file system fails. A lack of space or of support for allocation is no error here:
    /// the following write reports it, or succeeds.
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
