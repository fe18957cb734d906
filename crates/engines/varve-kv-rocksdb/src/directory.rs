//! The data directory: finds the subdirectories that are spaces, and removes spaces atomically.
//!
//! A subdirectory is a space if its name is one of a space and it contains RocksDB's `CURRENT`, or
//! a table or log file with a number as its name. The engine also removes the remains of spaces: an
//! unfinished creation, and a removed space that waits for its removal. It never opens, renames or
//! removes content of others, unless this content is inside a space that is removed.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use varve_kv::folder::{self, RESTORE_INCOMPLETE};
use varve_kv::{KvError, LOCK_FILE, fail_point, is_space_name};

use crate::errors::{WHAT_TO_DO, file_error};

/// The prefix of the name of a directory that is being removed; the space's name, `-` and a number
/// follow.
const TRASH: &str = ".trash-";

/// The kind of a directory, judged by its files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DirectoryContent {
    /// The path does not exist.
    Nothing,
    /// A file, or a folder with content that this engine did not create.
    Foreign,
    /// The remains of an unfinished creation, perhaps an empty folder.
    Begun,
    /// A store.
    Store,
    /// A store without its CURRENT file. RocksDB would treat it as a new store and remove its data.
    Headless,
}

/// A data directory that no other engine uses.
#[derive(Debug)]
pub(crate) struct DataDir {
    path: PathBuf,
    /// Closing the file releases the lock.
    _lock: File,
}

impl DataDir {
    /// Creates the directory if it is missing, locks it, and finishes interrupted removals. Refused
    /// while another engine has the lock, or after a restore that did not finish.
    pub(crate) fn open(path: &Path) -> Result<Self, KvError> {
        folder::create_folders(path).map_err(|error| {
            let shown = path.display().to_string();
            file_error(&shown, "creating the data directory", &error)
        })?;
        Self::lock(path)
    }

    /// As [`DataDir::open`], but if no engine has stored data there, creates nothing and returns
    /// [`KvError::Missing`].
    pub(crate) fn open_existing(path: &Path) -> Result<Self, KvError> {
        let missing = |detail: &str| KvError::Missing {
            store: path.display().to_string(),
            detail: detail.to_owned(),
        };
        match is_data_dir(path) {
            Ok(true) => Self::lock(path),
            Ok(false) => Err(missing("the folder is not a data folder")),
            Err(error) if is_missing(&error) => Err(missing(&error.to_string())),
            Err(error) => {
                let shown = path.display().to_string();
                Err(file_error(&shown, "reading the data directory", &error))
            }
        }
    }

    fn lock(path: &Path) -> Result<Self, KvError> {
        let shown = path.display().to_string();
        let failed = |doing: &str, error: &io::Error| file_error(&shown, doing, error);
        if path.join(RESTORE_INCOMPLETE).exists() {
            return Err(KvError::Unavailable {
                space: shown,
                detail: format!(
                    "{RESTORE_INCOMPLETE} in it says that a restore was cut short; remove this folder and restore the \
                     backup again"
                ),
            });
        }
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path.join(LOCK_FILE))
            .map_err(|error| failed("opening the lock file of the data directory", &error))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => {
                return Err(KvError::Unavailable {
                    space: shown,
                    detail: "another process uses this data directory; stop that process or use \
                             another directory"
                        .to_owned(),
                });
            }
            Err(fs::TryLockError::Error(error)) => {
                return Err(failed("locking the data directory", &error));
            }
        }
        let directory = Self {
            path: path.to_path_buf(),
            _lock: lock,
        };
        directory
            .empty_trash()
            .map_err(|error| failed("finishing the removal of a dropped space", &error))?;
        Ok(directory)
    }

    pub(crate) fn path_of(&self, space: &str) -> PathBuf {
        self.path.join(space)
    }

    /// Returns what exists at the path of the space `name`.
    pub(crate) fn look(&self, name: &str) -> io::Result<DirectoryContent> {
        look(&self.path_of(name))
    }

    /// Returns the existing spaces, ascending; damaged ones too, so that they do not seem missing.
    pub(crate) fn spaces(&self) -> io::Result<Vec<String>> {
        spaces(&self.path)
    }

    /// Removes a space, or the remains of an unfinished creation. The folder is renamed first, in
    /// one step, so that after a crash the space is whole or gone. A missing path, and one with
    /// content that this engine did not create ([`DirectoryContent::Foreign`]), stay as they are.
    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        fail_point::SPACE_REMOVE.reach()?;
        if matches!(
            self.look(name)?,
            DirectoryContent::Nothing | DirectoryContent::Foreign
        ) {
            return Ok(());
        }
        let trash = (0u32..)
            .map(|n| self.path.join(format!("{TRASH}{name}-{n}")))
            .find(|path| !path.exists())
            .expect("there are more names than directories");
        fs::rename(self.path_of(name), &trash)?;
        fail_point::SPACE_RENAMED.reach()?;
        self.sync()?;
        fail_point::SPACE_TRASHED.reach()?;
        fs::remove_dir_all(&trash)
    }

    /// Makes created and renamed subdirectories survive power loss.
    pub(crate) fn sync(&self) -> io::Result<()> {
        folder::sync_folder(&self.path)
    }

    /// Finishes interrupted removals. A path that is not a removed space, or cannot be removed,
    /// only occupies disk space: it stays, and a warning is logged.
    fn empty_trash(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.path)? {
            let path = entry?.path();
            let name = path.file_name().and_then(OsStr::to_str);
            let Some(trash) = name.and_then(|name| name.strip_prefix(TRASH)) else {
                continue;
            };
            let removed = match is_removed_space(&path, trash) {
                Ok(true) => fs::remove_dir_all(&path),
                Ok(false) => Err(io::Error::other("this engine did not create it")),
                Err(error) => Err(error),
            };
            if let Err(error) = removed {
                let path = path.display();
                tracing::warn!(%path, %error, "the folder was not removed; remove it by hand if it is not needed");
            }
        }
        Ok(())
    }
}

/// The error for a store without its CURRENT file.
pub(crate) fn headless(name: &str, path: &Path) -> KvError {
    KvError::Corruption {
        space: name.to_owned(),
        detail: format!(
            "the file CURRENT is missing in {}, though there is data. {WHAT_TO_DO}",
            path.display()
        ),
    }
}

/// The error for a path of a space with content that this engine did not create.
pub(crate) fn foreign(name: &str, path: &Path) -> KvError {
    KvError::Unavailable {
        space: name.to_owned(),
        detail: format!(
            "{} is not a space; move it to another folder",
            path.display()
        ),
    }
}

/// Whether an error means that a directory does not exist; a file in its place counts as missing.
fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Whether an engine has stored data in a directory.
fn is_data_dir(path: &Path) -> io::Result<bool> {
    let has_spaces = !spaces(path)?.is_empty();
    let is_marked = [LOCK_FILE, RESTORE_INCOMPLETE]
        .iter()
        .any(|file| path.join(file).is_file());
    Ok(has_spaces || is_marked)
}

/// The spaces in a data directory, ascending.
fn spaces(path: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(path)? {
        let Ok(name) = entry?.file_name().into_string() else {
            continue;
        };
        // Opening a space that cannot be examined reports why; the other spaces stay usable.
        let is_space = |name: &str| {
            let found = look(&path.join(name));
            matches!(
                found,
                Ok(DirectoryContent::Store | DirectoryContent::Headless) | Err(_)
            )
        };
        if is_space_name(&name) && is_space(&name) {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// Returns what exists at `path`.
fn look(path: &Path) -> io::Result<DirectoryContent> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(DirectoryContent::Nothing);
        }
        Err(error) => return Err(error),
        Ok(_) if !path.is_dir() => return Ok(DirectoryContent::Foreign),
        Ok(_) => {}
    }
    if path.join("CURRENT").exists() {
        return Ok(DirectoryContent::Store);
    }
    let mut found = DirectoryContent::Begun;
    for entry in fs::read_dir(path)? {
        let name = entry?.file_name();
        // CURRENT is written before the first log and the first table.
        if is_numbered(&name) {
            return Ok(DirectoryContent::Headless);
        }
        if !is_engine_file(&name) {
            found = DirectoryContent::Foreign;
        }
    }
    Ok(found)
}

/// Whether this engine has moved a folder to the trash and created all its content, judged by the
/// names.
fn is_removed_space(path: &Path, trash: &str) -> io::Result<bool> {
    let named = trash.rsplit_once('-').is_some_and(|(space, number)| {
        is_space_name(space) && number.bytes().all(|byte| byte.is_ascii_digit())
    });
    if !named || !fs::symlink_metadata(path)?.is_dir() {
        return Ok(false);
    }
    for entry in fs::read_dir(path)? {
        if !is_engine_file(&entry?.file_name()) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether a file name is that of a RocksDB table or log.
fn is_numbered(name: &OsStr) -> bool {
    let parts = name.to_str().and_then(|name| name.rsplit_once('.'));
    parts.is_some_and(|(number, kind)| {
        matches!(kind, "sst" | "log") && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// Whether this engine may have created a file or folder of this name in a space.
fn is_engine_file(name: &OsStr) -> bool {
    const STARTS: [&str; 8] = [
        "CURRENT",
        "IDENTITY",
        "LOCK",
        "LOG",
        "MANIFEST-",
        "OPTIONS-",
        "VARVE-",
        "front-",
    ];
    // RocksDB adds the first suffix to the names of some files while it writes them, and the second
    // to files that it removes slowly.
    const ENDS: [&str; 2] = [".dbtmp", ".trash"];
    let Some(name) = name.to_str() else {
        return false;
    };
    is_numbered(OsStr::new(name))
        || STARTS.iter().any(|start| name.starts_with(start))
        || ENDS.iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_user_of_the_directory_is_refused_with_the_reason() {
        let dir = tempfile::tempdir().unwrap();
        let first = DataDir::open(dir.path()).unwrap();
        let second = DataDir::open(dir.path()).unwrap_err();
        assert!(
            matches!(&second, KvError::Unavailable { detail, .. } if detail.contains("another process"))
        );
        drop(first);
        DataDir::open(dir.path()).unwrap();
    }

    #[test]
    fn what_is_no_data_directory_is_left_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let refused = |path: &Path| {
            let error = DataDir::open_existing(path).unwrap_err();
            assert!(matches!(error, KvError::Missing { .. }), "{error}");
        };
        refused(&dir.path().join("missing"));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
        fs::write(dir.path().join("photo.jpg"), b"x").unwrap();
        refused(dir.path());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        drop(DataDir::open(dir.path()).unwrap());
        DataDir::open_existing(dir.path()).unwrap();
    }

    #[test]
    fn only_directories_of_stores_are_spaces() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::open(dir.path()).unwrap();
        let make = |name: &str, file: &str| {
            fs::create_dir_all(dir.path().join(name)).unwrap();
            fs::write(dir.path().join(name).join(file), b"").unwrap();
        };
        make("good", "CURRENT");
        make("headless", "000012.sst");
        make("unfinished", "MANIFEST-000001");
        make("lost+found", "CURRENT");
        make("server_logs", "today.log");
        make(".hidden", "CURRENT");
        fs::write(dir.path().join("file"), b"CURRENT").unwrap();
        assert_eq!(data.spaces().unwrap(), ["good", "headless"]);
        assert_eq!(data.look("headless").unwrap(), DirectoryContent::Headless);
        assert_eq!(data.look("unfinished").unwrap(), DirectoryContent::Begun);
        assert_eq!(data.look("server_logs").unwrap(), DirectoryContent::Foreign);
        assert_eq!(data.look("file").unwrap(), DirectoryContent::Foreign);
    }

    #[test]
    fn a_removal_cut_short_is_finished_at_the_next_start() {
        let dir = tempfile::tempdir().unwrap();
        let trash = dir.path().join(".trash-old-0");
        fs::create_dir_all(trash.join("front-log")).unwrap();
        let data = DataDir::open(dir.path()).unwrap();
        assert!(!trash.exists());
        fs::create_dir_all(dir.path().join("space")).unwrap();
        fs::write(dir.path().join("space/CURRENT"), b"").unwrap();
        data.remove("space").unwrap();
        data.remove("space").unwrap();
        assert!(data.spaces().unwrap().is_empty());
    }

    #[test]
    fn only_spaces_are_removed_and_a_leftover_that_is_none_prevents_no_start() {
        let dir = tempfile::tempdir().unwrap();
        let inside = |name: &str| dir.path().join(name);
        for file in [".trash-LOCK-0", "file"] {
            fs::write(inside(file), b"x").unwrap();
        }
        for folder in [".trash-photos-0", "photos"] {
            fs::create_dir_all(inside(folder)).unwrap();
            fs::write(inside(folder).join("one.jpg"), b"x").unwrap();
        }
        let data = DataDir::open(dir.path()).unwrap();
        data.remove("file").unwrap();
        data.remove("photos").unwrap();
        for left in [
            ".trash-LOCK-0",
            "file",
            ".trash-photos-0/one.jpg",
            "photos/one.jpg",
            "LOCK",
        ] {
            assert!(inside(left).exists(), "{left}");
        }
        fs::create_dir_all(inside("begun")).unwrap();
        data.remove("begun").unwrap();
        assert!(!inside("begun").exists());
    }
}
