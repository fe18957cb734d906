//! Translates errors of the log's files into those of the seam.

use std::io;

use rustix::io::Errno;
use varve_kv::KvError;

/// Advice for a log that cannot be read.
pub(crate) const WHAT_TO_DO: &str = "Nothing was changed. Check the disk, keep a copy of the directory, and put the \
     right log back, restore the graph from its last backup, or go on without what cannot be read: varve recover-log";

/// Returns the seam's error for an error of a file; `doing` names the operation.
pub fn file_error(space: &str, doing: &str, error: &io::Error) -> KvError {
    use io::ErrorKind as Io;
    let space = space.to_owned();
    let detail = format!("{doing}: {error}");
    match error.kind() {
        Io::StorageFull | Io::QuotaExceeded => KvError::DiskFull { space, detail },
        Io::ReadOnlyFilesystem | Io::PermissionDenied => KvError::ReadOnly { space, detail },
        _ => KvError::Io { space, detail },
    }
}

/// Returns the seam's error for a file that could not be created. A lack of file descriptors, of
/// the process or of the machine, is [`KvError::Busy`]: nothing was changed, and a retry may
/// succeed.
pub(crate) fn not_created(space: &str, doing: &str, error: &io::Error) -> KvError {
    match Errno::from_io_error(error) {
        Some(Errno::MFILE | Errno::NFILE) => KvError::Busy {
            space: space.to_owned(),
            detail: format!("{doing}: no file descriptors are left; it is retried: {error}"),
        },
        _ => file_error(space, doing, error),
    }
}

/// Whether a write that failed with this error has stored no record, so that later writes can
/// continue. The file may have a part of the record, which the caller cuts off.
pub(crate) fn nothing_stored(error: &KvError) -> bool {
    matches!(error, KvError::DiskFull { .. } | KvError::ReadOnly { .. })
}
