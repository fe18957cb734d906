//! Records the length of RocksDB's manifest, to detect a truncated one.
//!
//! The manifest lists the files of a store, one edit after another. RocksDB takes a truncated
//! manifest for one whose last edit was torn: it opens the older state and removes the files that
//! this state does not list. So a small file beside the manifest, the record, has a length up to
//! which the manifest was certainly on disk. A shorter manifest is refused before RocksDB reads it.
//!
//! The record itself may be lost: if it is missing or damaged, nothing is checked. Its one line has
//! the manifest's name, the length in bytes, and the CRC-32C of both in hexadecimal. Earlier
//! versions wrote no checksum.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use varve_kv::KvError;

use crate::errors::{WHAT_TO_DO, file_error};

const RECORD: &str = "VARVE-MANIFEST-LENGTH";
const RECORD_NEW: &str = "VARVE-MANIFEST-LENGTH.new";

/// Syncs the manifest in `dir`, and then records its length.
pub(crate) fn record(dir: &Path) -> io::Result<()> {
    let (name, path) = current(dir)?;
    let manifest = File::open(path)?;
    let length = manifest.metadata()?.len();
    manifest.sync_all()?;
    let noted = format!("{name} {length}");
    let checksum = crc32c::crc32c(noted.as_bytes());
    fs::write(dir.join(RECORD_NEW), format!("{noted} {checksum:08x}\n"))?;
    fs::rename(dir.join(RECORD_NEW), dir.join(RECORD))
}

/// Checks that the manifest in `dir` has at least the recorded length, and that `dir` has a
/// write-ahead log. Without a record, checks nothing. A manifest whose name is not the recorded one
/// may have any length.
///
/// # Errors
/// [`KvError::Corruption`] when the manifest is shorter than recorded, or there is no log. Another
/// error when `dir` cannot be read.
pub(crate) fn check(space: &str, dir: &Path) -> Result<(), KvError> {
    let failed = |error: io::Error| file_error(space, "reading the manifest's length", &error);
    let Some((name, recorded)) = recorded(space, dir) else {
        return Ok(());
    };
    let damaged = |what: String| KvError::Corruption {
        space: space.to_owned(),
        detail: format!("{what}. {WHAT_TO_DO}"),
    };
    if !has_log(dir).map_err(failed)? {
        return Err(damaged(format!("the log is missing in {}", dir.display())));
    }
    // RocksDB itself reports an invalid CURRENT or a missing manifest.
    let Ok((current, path)) = current(dir) else {
        return Ok(());
    };
    match fs::metadata(&path) {
        Ok(metadata) if current == name && metadata.len() < recorded => Err(damaged(format!(
            "{} was cut short: it has {} bytes and had {recorded}",
            path.display(),
            metadata.len()
        ))),
        _ => Ok(()),
    }
}

/// The name and path of the current manifest.
fn current(dir: &Path) -> io::Result<(String, PathBuf)> {
    let name = fs::read_to_string(dir.join("CURRENT"))?;
    let name = name.trim_end().to_owned();
    let path = dir.join(&name);
    Ok((name, path))
}

/// Returns the recorded name and length, or `None` if there is no record. A record that is damaged
/// or cannot be read is logged and counts as none.
fn recorded(space: &str, dir: &Path) -> Option<(String, u64)> {
    let path = dir.join(RECORD);
    let read = match fs::read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        read => read,
    };
    let noted = read.ok().and_then(|bytes| parse(&bytes));
    if noted.is_none() {
        let path = path.display();
        tracing::warn!(space, %path, "the file is damaged; the check for a truncated manifest is skipped");
    }
    noted
}

fn parse(bytes: &[u8]) -> Option<(String, u64)> {
    let line = std::str::from_utf8(bytes).ok()?.strip_suffix('\n')?;
    let mut parts = line.split(' ');
    let (name, length, checksum) = (parts.next()?, parts.next()?, parts.next());
    if let Some(checksum) = checksum {
        let noted = &line[..name.len() + 1 + length.len()];
        let expected = crc32c::crc32c(noted.as_bytes());
        (u32::from_str_radix(checksum, 16) == Ok(expected)).then_some(())?;
    }
    Some((name.to_owned(), length.parse().ok()?))
}

fn has_log(dir: &Path) -> io::Result<bool> {
    for entry in fs::read_dir(dir)? {
        if entry?
            .path()
            .extension()
            .is_some_and(|extension| extension == "log")
        {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_note_is_as_good_as_none() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: &[u8]| fs::write(dir.path().join(name), bytes).unwrap();
        write("CURRENT", b"MANIFEST-000001\n");
        write("MANIFEST-000001", &[7; 100]);
        write("000004.log", b"");
        record(dir.path()).unwrap();
        let sound = fs::read(dir.path().join(RECORD)).unwrap();
        check("s", dir.path()).unwrap();
        write("MANIFEST-000001", &[7; 99]);
        assert!(check("s", dir.path()).is_err());
        for at in 0..sound.len() {
            write(RECORD, &sound[..at]);
            check("s", dir.path()).unwrap();
            for flipped in [0x01, 0x80] {
                let mut damaged = sound.clone();
                damaged[at] ^= flipped;
                write(RECORD, &damaged);
                check("s", dir.path()).unwrap();
            }
        }
        // The form of earlier versions.
        write(RECORD, b"MANIFEST-000001 100\n");
        assert!(check("s", dir.path()).is_err());
    }
}
