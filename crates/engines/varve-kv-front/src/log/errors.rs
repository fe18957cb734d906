//! Failures of files in the seam's words.

use std::io;

use rustix::io::Errno;
use varve_kv::KvError;

/// Advice for a log that cannot be read.
pub(crate) const WHAT_TO_DO: &str = "Nothing was changed. Check the disk, keep a copy of the directory, and put the \
     right log back, restore the graph from its last backup, or go on without what cannot be read: varve recover-log";

/// What a file's error means for the caller of the seam.
pub(crate) fn file_error(space: &str, doing: &str, error: &io::Error) -> KvError {
    use io::ErrorKind as Io;
    let space = space.to_owned();
    let detail = format!("{doing}: {error}");
    match error.kind() {
        Io::StorageFull | Io::QuotaExceeded => KvError::DiskFull { space, detail },
        Io::ReadOnlyFilesystem | Io::PermissionDenied => KvError::ReadOnly { space, detail },
        _ => KvError::Io { space, detail },
    }
}

/// What it means that a file could not be created. For want of file descriptors, of the process or
/// of the machine, that is one that may pass: nothing was changed. A file that is there already
/// needs none.
pub(crate) fn not_created(space: &str, doing: &str, error: &io::Error) -> KvError {
    match Errno::from_io_error(error) {
        Some(Errno::MFILE | Errno::NFILE) => KvError::Busy {
            space: space.to_owned(),
            detail: format!("{doing}, which is tried again: no file descriptors are left: {error}"),
        },
        _ => file_error(space, doing, error),
    }
}

/// Whether a write that failed so has stored nothing, so that work can go on.
pub(crate) fn nothing_stored(error: &KvError) -> bool {
    matches!(error, KvError::DiskFull { .. } | KvError::ReadOnly { .. })
}
