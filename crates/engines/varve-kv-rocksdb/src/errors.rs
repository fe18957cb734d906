//! Translates RocksDB's errors into those of the seam.

use rust_rocksdb::{Error, ErrorKind};
use varve_kv::KvError;

pub(crate) use varve_kv_front::log::file_error;

/// The operating system's messages for missing rights to open a file.
const NOT_PERMITTED: [&str; 2] = ["Permission denied", "Operation not permitted"];

/// Translates an error of a read. RocksDB passes the cause only as text, so fixed parts of it are
/// searched for.
pub(crate) fn kv_error(space: &str, error: &Error) -> KvError {
    classify(
        space,
        error.to_string(),
        error.kind() == ErrorKind::Corruption,
    )
}

fn classify(space: &str, detail: String, is_corruption: bool) -> KvError {
    let space = space.to_owned();
    let says = |words: &[&str]| words.iter().any(|word| detail.contains(word));
    if says(&["No space left on device", "Disk quota exceeded"]) {
        KvError::DiskFull { space, detail }
    } else if says(&["Read-only file system"]) {
        KvError::ReadOnly { space, detail }
    } else if says(&NOT_PERMITTED) {
        KvError::Unreadable {
            space,
            detail: format!(
                "{detail}. This is not damage: check the owner and rights of the files"
            ),
        }
    } else if is_corruption {
        KvError::Corruption { space, detail }
    } else if says(&["No such file or directory"]) {
        KvError::Corruption {
            space,
            detail: format!("a file is missing: {detail}"),
        }
    } else {
        KvError::Io { space, detail }
    }
}

/// Translates an error of a write.
pub(crate) fn write_error(space: &str, error: &Error) -> KvError {
    match kv_error(space, error) {
        KvError::Unreadable { space, .. } => KvError::ReadOnly {
            space,
            detail: error.to_string(),
        },
        other => other,
    }
}

/// Translates an error of opening, and adds what to do about it.
pub(crate) fn open_error(space: &str, error: &Error) -> KvError {
    let text = error.to_string();
    if text.contains("While lock file") || text.contains("lock hold by") {
        return KvError::Unavailable {
            space: space.to_owned(),
            detail: format!(
                "another process has it open; stop that process or use another data directory ({text})"
            ),
        };
    }
    match kv_error(space, error) {
        KvError::Corruption { space, detail } => KvError::Corruption {
            space,
            detail: format!("{detail}. {WHAT_TO_DO}"),
        },
        other => other,
    }
}

/// Advice for a store that cannot be opened.
pub(crate) const WHAT_TO_DO: &str = "Nothing was changed. Check the disk, keep a copy of the directory, and restore \
     the space from its last backup";

/// The operating system's message for a lack of file descriptors, of the process or the machine.
const NO_DESCRIPTORS: &str = "Too many open files";

/// Translates the error of a step that changes nothing when it fails: a lack of file descriptors
/// becomes [`KvError::Busy`], since a retry may succeed.
pub(crate) fn passing(error: KvError) -> KvError {
    match error {
        KvError::Io { space, detail } if detail.contains(NO_DESCRIPTORS) => KvError::Busy {
            space,
            detail: format!(
                "the process has no file descriptors left; flushing is retried: {detail}"
            ),
        },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_may_not_be_read_is_not_reported_as_damage() {
        let of = |text: &str| classify("s", text.to_owned(), text.starts_with("Corruption"));
        let error = of("Corruption: Can't access /000012.sst: IO error: Permission denied");
        assert!(matches!(error, KvError::Unreadable { .. }), "{error}");
        assert!(error.to_string().contains("not damage"), "{error}");
        let error = of("IO error: No such file or directory: 000012.sst");
        assert!(matches!(error, KvError::Corruption { .. }), "{error}");
        assert!(error.to_string().contains("a file is missing"), "{error}");
        let error = of("Corruption: block checksum mismatch in 000012.sst");
        assert!(matches!(error, KvError::Corruption { .. }), "{error}");
        let error = of("IO error: While pread: Input/output error");
        assert!(matches!(error, KvError::Io { .. }), "{error}");
    }
}
