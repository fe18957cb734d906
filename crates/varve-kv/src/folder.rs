//! Folders of a store: their creation such that they survive power loss, and the marker files of a
//! restored store.

use std::fs::{self, File};
use std::io;
use std::path::Path;

/// The marker file in the folder of an embedded engine's spaces while a backup is being restored
/// into it. It is written before the first space and removed after the last one. An engine refuses
/// to open a folder that has it.
pub const RESTORE_INCOMPLETE: &str = "RESTORE-INCOMPLETE";

/// The file in the folder of an embedded engine's spaces with the decimal number of this restored
/// copy of a backup. Folders that were not restored do not have it.
pub const RESTORED: &str = "RESTORED";

/// As [`fs::create_dir_all`]; brings every new folder to stable storage.
///
/// # Errors
/// When a folder cannot be created or its parent cannot be synced.
pub fn create_folders(path: &Path) -> io::Result<()> {
    let made: Vec<&Path> = path
        .ancestors()
        .take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists())
        .collect();
    fs::create_dir_all(path)?;
    made.into_iter().try_for_each(sync_parent)
}

/// Brings the names in a folder to stable storage.
///
/// # Errors
/// When the folder cannot be opened or synced.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

fn sync_parent(path: &Path) -> io::Result<()> {
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    sync_folder(parent.unwrap_or(Path::new(".")))
}
