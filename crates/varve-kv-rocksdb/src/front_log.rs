//! Where a space keeps the log of its front table: that it is not lost unnoticed, and removing it as a whole.
//!
//! The log is the only place of what was acknowledged lately, so a small file beside it says that there is one; a log
//! that is gone is then refused as damage, not taken for a new one. A copy of the space that was made without log does
//! not have that file.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use varve_kv::KvError;

use crate::errors::{WHAT_TO_DO, file_error};

/// The directory of the log, inside the space's.
const LOG: &str = "front-log";
/// The same once nothing in it is needed.
const LEFT_OVER: &str = "front-log.old";
/// Says that there is a log.
const NOTE: &str = "VARVE-FRONT-LOG";

/// The log's directory in the space's.
pub(crate) fn path(space_dir: &Path) -> PathBuf {
    space_dir.join(LOG)
}

/// Whether there is a log, or should be.
pub(crate) fn is_there(space_dir: &Path) -> bool {
    space_dir.join(NOTE).exists() || path(space_dir).exists()
}

/// To be called before the log is opened: refuses one that was lost.
///
/// # Errors
/// [`KvError::Corruption`] when there was a log and is none.
pub(crate) fn check(space: &str, space_dir: &Path) -> Result<(), KvError> {
    let log = path(space_dir);
    let mut inside = fs::read_dir(&log).into_iter().flatten();
    if !space_dir.join(NOTE).exists() || inside.next().is_some() {
        return Ok(());
    }
    Err(KvError::Corruption {
        space: space.to_owned(),
        detail: format!("the log {} is missing. {WHAT_TO_DO}", log.display()),
    })
}

/// To be called once the log is open, before anything is written to it.
///
/// # Errors
/// When the file cannot be written.
pub(crate) fn note(space: &str, space_dir: &Path) -> Result<(), KvError> {
    let note = space_dir.join(NOTE);
    if note.exists() {
        return Ok(());
    }
    let written = File::create(note).and_then(|_| sync(space_dir));
    written.map_err(|error| file_error(space, "noting that there is a log", &error))
}

/// Removes a log of which nothing is needed any more. It is renamed first, so that a crash leaves it whole or gone.
///
/// # Errors
/// When it cannot be removed; the next call goes on where this one ended.
pub(crate) fn remove(space: &str, space_dir: &Path) -> Result<(), KvError> {
    let old = space_dir.join(LEFT_OVER);
    let removed = absent(fs::remove_dir_all(&old))
        .and_then(|()| absent(fs::remove_file(space_dir.join(NOTE))))
        .and_then(|()| sync(space_dir))
        .and_then(|()| absent(fs::rename(path(space_dir), &old)))
        .and_then(|()| sync(space_dir))
        .and_then(|()| absent(fs::remove_dir_all(&old)));
    removed.map_err(|error| file_error(space, "removing the log of the front table", &error))
}

fn sync(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

/// What is not there need not be removed.
fn absent(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}
