//! A store of backups: adds, lists, opens and removes them.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::time::Instant;

use varve_graph::backup::{
    Backup, BackupFile, BackupFiles, BackupManifest, Checksum, write_backup,
};
use varve_graph::{ErrorKind, GraphError, Registry};
use varve_kv::fail_point;

use crate::bucket::Bucket;
use crate::folder::{Folder, PART};
use crate::keep::Keep;
use crate::place::{FILES, Location, MANIFESTS, Place, PlaceOptions};

/// Bytes that one read of a file takes.
const READ_BYTES: usize = 1 << 20;
/// The most bytes of a manifest: some 10 million files.
const MANIFEST_BYTES_MAX: u64 = 1 << 30;

/// A complete backup of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// Its name: the instant at which it began, so that names sort by age.
    pub name: String,
    /// Its content.
    pub manifest: BackupManifest,
}

/// A store of backups.
pub struct Store {
    place: Box<dyn Place>,
    /// How messages name it.
    shown: String,
}

impl Store {
    /// Prepares access to a store; creates, reads and sends nothing.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] when the options are wrong.
    pub fn open(options: &PlaceOptions) -> Result<Self, GraphError> {
        let illegal = |message: String| GraphError::new(ErrorKind::InvalidArgument, message);
        let place: Box<dyn Place> = match Location::parse(&options.to).map_err(illegal)? {
            Location::Folder(folder) => Box::new(Folder(folder)),
            Location::Bucket { name, prefix } => {
                let bucket = Bucket::open(&name, &prefix, options);
                Box::new(bucket.map_err(|error| illegal(format!("{}: {error}", options.to)))?)
            }
        };
        let shown = options.to.trim_end_matches('/').to_owned();
        Ok(Self { place, shown })
    }

    /// All complete backups, the oldest first.
    ///
    /// # Errors
    /// When the place cannot be read, or a manifest is damaged.
    pub fn list(&self) -> Result<Vec<Stored>, GraphError> {
        let names = self.names()?;
        names.into_iter().map(|name| self.stored(name)).collect()
    }

    /// The names of all complete backups, the oldest first.
    fn names(&self) -> Result<Vec<String>, GraphError> {
        let objects = self.place.list(MANIFESTS);
        let objects = objects.map_err(|error| self.failed(MANIFESTS, &error))?;
        let names = objects.into_iter().map(|object| object.name);
        let mut names: Vec<String> = names.filter(|name| is_name(name)).collect();
        names.sort_unstable();
        Ok(names)
    }

    fn stored(&self, name: String) -> Result<Stored, GraphError> {
        let key = format!("{MANIFESTS}/{name}");
        let mut text = String::new();
        let read = self.place.read(&key).and_then(|input| {
            let mut input = input.take(MANIFEST_BYTES_MAX);
            input.read_to_string(&mut text)
        });
        read.map_err(|error| self.failed(&key, &error))?;
        match BackupManifest::parse(&text) {
            Some(manifest) => Ok(Stored { name, manifest }),
            None => Err(self.failed(&key, &"damaged manifest")),
        }
    }

    /// Opens the backup with this name, or the newest one.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there is none; else as [`Store::list`].
    pub fn backup(&self, name: Option<&str>) -> Result<(String, Backup<'_>), GraphError> {
        let mut names = self.names()?;
        let found = match name {
            Some(name) => names.into_iter().find(|it| it == name),
            None => names.pop(),
        };
        let Some(found) = found else {
            let message = match name {
                Some(name) => format!("{}: there is no backup '{name}'", self.shown),
                None => format!("{}: there is no backup", self.shown),
            };
            return Err(GraphError::new(ErrorKind::NotFound, message));
        };
        let stored = self.stored(found)?;
        Ok((stored.name, Backup::new(stored.manifest, self)))
    }

    /// Backs up all graphs that are open here, as [`write_backup`] does: first to the folder
    /// `stage`, whose content is lost, then from there to the store. `proceed` is asked every now
    /// and then; if it says no, the backup ends with an error. Files that are stored by then are
    /// used by the next one.
    ///
    /// # Errors
    /// As [`write_backup`], or when the place cannot be written.
    pub fn add(
        &self,
        registry: &Registry,
        stage: &Path,
        proceed: &dyn Fn() -> bool,
    ) -> Result<Stored, GraphError> {
        let began = Instant::now();
        remove_stage(stage)?;
        let written = write_backup(registry, stage);
        let added = written.and_then(|manifest| self.add_written(manifest, stage, began, proceed));
        // A stage that stays is removed before the next backup.
        let _ = remove_stage(stage);
        added
    }

    /// Stores the backup that is in the folder `stage`.
    fn add_written(
        &self,
        mut manifest: BackupManifest,
        stage: &Path,
        began: Instant,
        proceed: &dyn Fn() -> bool,
    ) -> Result<Stored, GraphError> {
        let name = name_of(manifest.created);
        // Names sort by age: what would be the oldest would be removed, or restored by nobody.
        if let Some(newest) = self.names()?.last().filter(|newest| **newest >= name) {
            let message = format!(
                "{}: the backup '{name}' is not newer than '{newest}': is the clock right?",
                self.shown
            );
            return Err(GraphError::new(ErrorKind::Existed, message));
        }
        manifest.new_bytes = self.add_files(&manifest, stage, proceed)?;
        manifest.took_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let key = format!("{MANIFESTS}/{name}");
        let added = fail_point::BACKUP_NAMED.reach();
        let added = added.and_then(|()| self.put(&key, manifest.to_text().as_bytes()));
        added.map_err(|error| self.failed(&key, &error))?;
        Ok(Stored { name, manifest })
    }

    /// Stores the files that the store does not have. Returns their bytes.
    fn add_files(
        &self,
        manifest: &BackupManifest,
        stage: &Path,
        proceed: &dyn Fn() -> bool,
    ) -> Result<u64, GraphError> {
        let objects = self.place.list(FILES);
        let objects = objects.map_err(|error| self.failed(FILES, &error))?;
        let sizes = objects
            .into_iter()
            .map(|object| (object.name, object.bytes));
        let mut sizes: HashMap<String, u64> = sizes.collect();
        let mut new_bytes = 0;
        for file in &manifest.files {
            if sizes.insert(file.checksum.clone(), file.bytes) == Some(file.bytes) {
                continue;
            }
            let added = fail_point::BACKUP_STORE.reach();
            let added = added.and_then(|()| self.add_file(file, stage, proceed));
            added.map_err(|error| self.failed(&key_of(file), &error))?;
            new_bytes += file.bytes;
        }
        Ok(new_bytes)
    }

    /// Stores a file under its checksum, unless it has changed since that was computed.
    fn add_file(
        &self,
        file: &BackupFile,
        stage: &Path,
        proceed: &dyn Fn() -> bool,
    ) -> io::Result<()> {
        let mut input = File::open(stage.join(&file.path))?;
        let mut upload = self.place.begin(&key_of(file), file.bytes)?;
        let mut checksum = Checksum::of(file);
        let mut piece = vec![0; READ_BYTES];
        loop {
            if !proceed() {
                return Err(io::Error::other("the server stops"));
            }
            let read = input.read(&mut piece)?;
            if read == 0 {
                break;
            }
            checksum.update(&piece[..read]);
            upload.write(&piece[..read])?;
        }
        match checksum.digits() == file.checksum {
            true => upload.finish(),
            false => Err(io::Error::other("the file changed while it was copied")),
        }
    }

    fn put(&self, key: &str, content: &[u8]) -> io::Result<()> {
        let mut upload = self.place.begin(key, content.len() as u64)?;
        upload.write(content)?;
        upload.finish()
    }

    /// Removes the backups that `keep` does not keep at the instant `now`, in microseconds, and
    /// then all files of backups that no backup has. Returns the backups that are left, the oldest
    /// first. Only backups of all graphs count: one that left out a graph pushes out none that has
    /// it.
    ///
    /// # Errors
    /// When the place cannot be read or written. If a manifest is damaged, nothing is removed: the
    /// files of its backup are unknown.
    pub fn prune(&self, keep: &Keep, now: i64) -> Result<Vec<Stored>, GraphError> {
        let mut backups = self.list()?;
        let all = backups.iter().enumerate();
        let whole = all.filter(|(_, backup)| backup.manifest.left_out.is_empty());
        let whole: Vec<(usize, i64)> = whole.map(|(at, it)| (at, it.manifest.created)).collect();
        let created: Vec<i64> = whole.iter().map(|(_, created)| *created).collect();
        let surplus = match keep.surplus(&created, now) {
            0 => 0,
            surplus => whole.get(surplus).map_or(0, |(at, _)| *at),
        };
        let removed = backups.drain(..surplus);
        for key in removed.map(|backup| format!("{MANIFESTS}/{}", backup.name)) {
            let removed = self.place.remove(&key);
            removed.map_err(|error| self.failed(&key, &error))?;
        }
        let files = backups.iter().flat_map(|backup| &backup.manifest.files);
        let kept: HashSet<&str> = files.map(|file| file.checksum.as_str()).collect();
        let objects = self.place.list(FILES);
        for object in objects.map_err(|error| self.failed(FILES, &error))? {
            if is_file(&object.name) && !kept.contains(object.name.as_str()) {
                let key = format!("{FILES}/{}", object.name);
                let removed = self.place.remove(&key);
                removed.map_err(|error| self.failed(&key, &error))?;
            }
        }
        Ok(backups)
    }

    fn failed(&self, key: &str, error: &dyn std::fmt::Display) -> GraphError {
        let message = format!("{}/{key}: {error}", self.shown);
        GraphError::new(ErrorKind::Storage, message)
    }
}

impl BackupFiles for &Store {
    fn open(&self, file: &BackupFile) -> io::Result<Box<dyn Read + '_>> {
        self.place.read(&key_of(file))
    }

    fn name(&self, file: &BackupFile) -> String {
        Store::name(self, file)
    }
}

impl Store {
    /// How messages name a file: the object, and the file that it is.
    fn name(&self, file: &BackupFile) -> String {
        format!("{}/{} ({})", self.shown, key_of(file), file.path.display())
    }
}

fn key_of(file: &BackupFile) -> String {
    format!("{FILES}/{}", file.checksum)
}

/// The bytes of the files of all these backups, each file once.
#[must_use]
pub fn stored_bytes(backups: &[Stored]) -> u64 {
    let files = backups.iter().flat_map(|backup| &backup.manifest.files);
    let once: HashMap<&str, u64> = files.map(|file| (&*file.checksum, file.bytes)).collect();
    once.values().sum()
}

/// The name of a backup that began at this instant, as in `20261130T141924.123Z`.
fn name_of(created: i64) -> String {
    let instant = jiff::Timestamp::from_microsecond(created).unwrap_or_default();
    instant.strftime("%Y%m%dT%H%M%S.%3fZ").to_string()
}

/// Whether a name has the form of [`name_of`]. Other objects beside the manifests are ignored.
fn is_name(name: &str) -> bool {
    let form = "00000000T000000.000Z";
    name.len() == form.len()
        && name
            .bytes()
            .zip(form.bytes())
            .all(|(byte, form)| match form {
                b'0' => byte.is_ascii_digit(),
                _ => byte == form,
            })
}

/// Whether a name is that of a file of a backup, or of one that is being written. Other objects
/// beside the files are ignored.
fn is_file(name: &str) -> bool {
    let is_checksum = |name: &str| {
        let mut bytes = name.bytes();
        name.len() == 64 && bytes.all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    match name.strip_suffix(PART) {
        None => is_checksum(name),
        Some(name) => match name.split_once('-') {
            Some((FILES, name)) => is_checksum(name),
            Some((MANIFESTS, name)) => is_name(name),
            _ => false,
        },
    }
}

fn remove_stage(stage: &Path) -> Result<(), GraphError> {
    match fs::remove_dir_all(stage) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            let message = format!("{}: {error}", stage.display());
            Err(GraphError::new(ErrorKind::Storage, message))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
