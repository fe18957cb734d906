//! Remembers how long RocksDB's manifest was, to notice when it has been cut short.
//!
//! The manifest lists the files of a store, one edit after another. RocksDB takes a manifest that ends early for one
//! whose last edit was torn: it opens the older state and removes the files which that does not know. So a small file
//! beside it holds a length up to which the manifest was surely on disk; a shorter one is refused before RocksDB sees
//! it. The file itself need not survive: without it nothing is checked.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use varve_kv::KvError;

use crate::errors::{WHAT_TO_DO, file_error};

const RECORD: &str = "VARVE-MANIFEST-LENGTH";
const RECORD_NEW: &str = "VARVE-MANIFEST-LENGTH.new";

/// Notes the present length of the manifest in `dir`, having made sure that so much is on disk.
pub(crate) fn record(dir: &Path) -> io::Result<()> {
    let (name, path) = current(dir)?;
    let manifest = File::open(path)?;
    let length = manifest.metadata()?.len();
    manifest.sync_all()?;
    fs::write(dir.join(RECORD_NEW), format!("{name} {length}\n"))?;
    fs::rename(dir.join(RECORD_NEW), dir.join(RECORD))
}

/// Checks the manifest in `dir` against what was noted, and that there is a log at all.
///
/// # Errors
/// [`KvError::Corruption`] when the manifest is shorter than it was or the logs are gone; else when it cannot be read.
pub(crate) fn check(space: &str, dir: &Path) -> Result<(), KvError> {
    let failed = |error: io::Error| file_error(space, "reading the manifest's length", &error);
    let Some((name, recorded)) = recorded(dir).map_err(failed)? else {
        return Ok(());
    };
    let damaged = |what: String| KvError::Corruption {
        space: space.to_owned(),
        detail: format!("{what}. {WHAT_TO_DO}"),
    };
    if !has_log(dir).map_err(failed)? {
        return Err(damaged(format!("the log is missing in {}", dir.display())));
    }
    // RocksDB itself reports a CURRENT that makes no sense or a manifest that is missing.
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

/// Name and path of the manifest in use.
fn current(dir: &Path) -> io::Result<(String, PathBuf)> {
    let name = fs::read_to_string(dir.join("CURRENT"))?;
    let name = name.trim_end().to_owned();
    let path = dir.join(&name);
    Ok((name, path))
}

/// What was noted; `None` when nothing was, or a crash cut it short.
fn recorded(dir: &Path) -> io::Result<Option<(String, u64)>> {
    let text = match fs::read_to_string(dir.join(RECORD)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        text => text?,
    };
    let parts = text
        .strip_suffix('\n')
        .and_then(|line| line.split_once(' '));
    Ok(parts.and_then(|(name, length)| Some((name.to_owned(), length.parse().ok()?))))
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
