//! The durable mark: a file with the position up to which the log is known to be on stable
//! storage.
//!
//! Each record says so of those before it. The mark says it of the last ones, so a log whose end
//! was cut off or overwritten is told from one that ends there. It is written after each sync and
//! not synced itself: it survives the end of the process, and after a power cut it is as old as
//! the system's last write of it. What it says is always true, so losing it only weakens the check.

use std::io;
use std::sync::Arc;

use super::disk::{Disk, DiskFile};
use super::format::{MARK_BYTES, MARK_NAME, decode_mark, encode_mark};

/// The position in the file; 0 when there is none that can be read.
pub(crate) fn read(disk: &dyn Disk) -> u64 {
    let read = || -> io::Result<Option<u64>> {
        let mut content = [0; MARK_BYTES];
        let filled = disk.open(MARK_NAME, false)?.read(&mut content, 0)?;
        Ok(decode_mark(&content[..filled]))
    };
    read().ok().flatten().unwrap_or(0)
}

/// The file of a log that is on stable storage up to `position`; `None` when it cannot be written.
pub(crate) fn open(disk: &dyn Disk, position: u64) -> Option<Arc<dyn DiskFile>> {
    let opened = || -> io::Result<Arc<dyn DiskFile>> {
        let file = match disk.open(MARK_NAME, true) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => disk.create(MARK_NAME)?,
            opened => opened?,
        };
        file.write([&encode_mark(position), &[]], 0)
            .map_err(|(_, error)| error)?;
        file.sync()?;
        disk.sync_names()?;
        Ok(file)
    };
    opened().ok()
}
