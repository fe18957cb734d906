//! The location of a front table's log in its space, and its removal as a whole.
//!
//! The log is the only copy of recently acknowledged writes. So a small file beside the log, the
//! *mark*, names the log that belongs to the space. If that log is missing, or there is another
//! one, the space is refused as damaged. A copy of the space that was made without a log has no
//! mark.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use varve_kv::KvError;
use varve_kv_front::log::mark_of;

use crate::errors::file_error;

/// The directory of the log, inside the space's directory.
const LOG: &str = "front-log";
/// The directory's name once nothing in it is needed.
const LEFT_OVER: &str = "front-log.flushed";
/// The name that an earlier version gave such a directory, after it had removed the mark.
const LEFT_OVER_EARLIER: &str = "front-log.old";
/// The prefix of the directory's name, before a number, after recovery from a damaged log.
const DAMAGED: &str = "front-log.damaged-";

/// The log's directory in the space's.
pub(crate) fn path(space_dir: &Path) -> PathBuf {
    space_dir.join(LOG)
}

/// Whether there is a log, or must be one because there is a mark.
pub(crate) fn is_there(space_dir: &Path) -> bool {
    let log = path(space_dir);
    log.exists() || mark_of(&log).exists()
}

/// Whether the log has format 1: its mark is an empty file or missing. Such a log is flushed to the
/// sorted files and removed.
pub(crate) fn is_of_earlier_build(space_dir: &Path) -> bool {
    let log = path(space_dir);
    match fs::metadata(mark_of(&log)) {
        Ok(mark) => mark.len() == 0,
        Err(_) => log.exists(),
    }
}

/// Removes a log that is no longer needed, and its mark. The directory is renamed first, so that
/// after a crash the log is whole or gone.
///
/// # Errors
/// When it cannot be removed; [`finish_removal`] continues an interrupted removal.
pub(crate) fn remove(space: &str, space_dir: &Path) -> Result<(), KvError> {
    let log = path(space_dir);
    let removed = absent(fs::remove_dir_all(space_dir.join(LEFT_OVER)))
        .and_then(|()| absent(fs::rename(&log, space_dir.join(LEFT_OVER))))
        .and_then(|()| sync(space_dir));
    removed.map_err(|error| not_removed(space, &error))?;
    finish_removal(space, space_dir)
}

/// Finishes an interrupted removal: removes the mark, unless there is a newer log, and then the
/// renamed directory. Must be called before a space is opened.
///
/// # Errors
/// When the remains cannot be removed.
pub(crate) fn finish_removal(space: &str, space_dir: &Path) -> Result<(), KvError> {
    absent(fs::remove_dir_all(space_dir.join(LEFT_OVER_EARLIER)))
        .map_err(|error| not_removed(space, &error))?;
    let (log, left_over) = (path(space_dir), space_dir.join(LEFT_OVER));
    if !left_over.exists() {
        return Ok(());
    }
    let unmarked = match log.exists() {
        // The mark belongs to a newer log.
        true => Ok(()),
        false => absent(fs::remove_file(mark_of(&log))).and_then(|()| sync(space_dir)),
    };
    unmarked
        .and_then(|()| absent(fs::remove_dir_all(&left_over)))
        .map_err(|error| not_removed(space, &error))
}

/// Moves a damaged log and its mark away, and returns their new directory.
///
/// # Errors
/// When a file cannot be moved.
pub(crate) fn put_aside(space: &str, space_dir: &Path) -> Result<PathBuf, KvError> {
    let aside = (1u32..)
        .map(|n| space_dir.join(format!("{DAMAGED}{n}")))
        .find(|path| !path.exists())
        .expect("there are more names than directories");
    let log = path(space_dir);
    let moved = absent(fs::rename(&log, &aside))
        .and_then(|()| fs::create_dir_all(&aside))
        .and_then(|()| absent(fs::rename(mark_of(&log), mark_of(&aside.join(LOG)))))
        .and_then(|()| sync(&aside))
        .and_then(|()| sync(space_dir));
    moved.map_err(|error| file_error(space, "putting the damaged log aside", &error))?;
    Ok(aside)
}

fn not_removed(space: &str, error: &io::Error) -> KvError {
    file_error(space, "removing the log of the front table", error)
}

fn sync(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

/// Ignores the error that a file or directory does not exist.
fn absent(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}
