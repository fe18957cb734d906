//! Folders of a store: made so that they survive power loss, and the mark of one that is not whole.

use std::fs::{self, File};
use std::io;
use std::path::Path;

/// A file in the folder of an embedded engine's spaces that says: a backup is being restored here.
/// It is there before the first space and removed after the last, and an engine opens no folder
/// that has it.
pub const RESTORE_INCOMPLETE: &str = "RESTORE-INCOMPLETE";

/// A file in the folder of an embedded engine's spaces with the decimal number of this restored
/// copy of a backup. A folder that was not restored has none.
pub const RESTORED: &str = "RESTORED";

/// As [`fs::create_dir_all`], and every folder that was made is on stable storage.
///
/// # Errors
/// When a folder cannot be made or its parent cannot be synced.
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
