//! The data directory: which subdirectories are spaces, and removing one without leaving a half.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use varve_kv::{KvError, fail_point};

use crate::errors::{WHAT_TO_DO, file_error};

/// Start of the name of a directory that is being removed.
const TRASH: &str = ".trash-";
/// Held locked as long as an engine uses the directory.
const LOCK: &str = "LOCK";
/// Names a space may have, in bytes.
const NAME_BYTES_MAX: usize = 48;

/// What a directory is, judged by its files.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// No such directory, or the rest of a creation that did not finish.
    Nothing,
    /// A store.
    Store,
    /// A store that lost its CURRENT file: RocksDB would take it for a new one and remove its data.
    Headless,
}

/// A data directory that no other engine uses.
#[derive(Debug)]
pub(crate) struct DataDir {
    path: PathBuf,
    /// Closing the file gives the lock back.
    _lock: File,
}

impl DataDir {
    /// Creates the directory if it is missing, locks it, and finishes removals that a crash cut short.
    pub(crate) fn open(path: &Path) -> Result<Self, KvError> {
        let shown = path.display().to_string();
        let failed = |doing: &str, error: &io::Error| file_error(&shown, doing, error);
        fs::create_dir_all(path).map_err(|error| failed("creating the data directory", &error))?;
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path.join(LOCK))
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

    /// What lies where the space `name` would be.
    pub(crate) fn look(&self, name: &str) -> io::Result<Found> {
        let path = self.path_of(name);
        match fs::metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
            Err(error) => return Err(error),
            Ok(metadata) if !metadata.is_dir() => return Ok(Found::Nothing),
            Ok(_) => {}
        }
        if path.join("CURRENT").exists() {
            return Ok(Found::Store);
        }
        for entry in fs::read_dir(&path)? {
            let name = entry?.file_name();
            let extension = Path::new(&name).extension();
            // CURRENT is written before the first log and the first table.
            if extension.is_some_and(|extension| extension == "sst" || extension == "log") {
                return Ok(Found::Headless);
            }
        }
        Ok(Found::Nothing)
    }

    /// The spaces there are, ascending; damaged ones too, so that they are not taken for missing.
    pub(crate) fn spaces(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            let Ok(name) = entry?.file_name().into_string() else {
                continue;
            };
            if is_space_name(&name) && self.look(&name)? != Found::Nothing {
                names.push(name);
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Removes a space: it is renamed first, in one step, so that a crash leaves it whole or gone.
    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        fail_point::SPACE_REMOVE.reach()?;
        let trash = (0u32..)
            .map(|n| self.path.join(format!("{TRASH}{name}-{n}")))
            .find(|path| !path.exists())
            .expect("there are more names than directories");
        match fs::rename(self.path_of(name), &trash) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            renamed => renamed?,
        }
        fail_point::SPACE_RENAMED.reach()?;
        self.sync()?;
        fail_point::SPACE_TRASHED.reach()?;
        fs::remove_dir_all(&trash)
    }

    /// Makes additions and renames of subdirectories survive power loss.
    pub(crate) fn sync(&self) -> io::Result<()> {
        File::open(&self.path)?.sync_all()
    }

    fn empty_trash(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with(TRASH) {
                fs::remove_dir_all(entry.path())?;
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

fn is_space_name(name: &str) -> bool {
    (1..=NAME_BYTES_MAX).contains(&name.len())
        && name != LOCK
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_user_of_the_directory_is_told_so() {
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
        make(".hidden", "CURRENT");
        fs::write(dir.path().join("file"), b"CURRENT").unwrap();
        assert_eq!(data.spaces().unwrap(), ["good", "headless"]);
        assert_eq!(data.look("headless").unwrap(), Found::Headless);
        assert_eq!(data.look("unfinished").unwrap(), Found::Nothing);
        assert_eq!(data.look("file").unwrap(), Found::Nothing);
    }

    #[test]
    fn a_removal_cut_short_is_finished_at_the_next_start() {
        let dir = tempfile::tempdir().unwrap();
        let trash = dir.path().join(".trash-old-0");
        fs::create_dir_all(trash.join("deep")).unwrap();
        let data = DataDir::open(dir.path()).unwrap();
        assert!(!trash.exists());
        fs::create_dir_all(dir.path().join("space")).unwrap();
        fs::write(dir.path().join("space/CURRENT"), b"").unwrap();
        data.remove("space").unwrap();
        data.remove("space").unwrap();
        assert!(data.spaces().unwrap().is_empty());
    }
}
