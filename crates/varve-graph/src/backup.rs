//! Backups: a consistent copy of every graph, with a checksum of every file.
//!
//! A backup is a folder: `graphs/<graph>/` is a space that RocksDB can open, or, from a cluster,
//! has the rows of the graph ([`rows`]). `MANIFEST` lists every file with its length and its
//! checksum. The manifest is written last and synced, so a folder without one is an incomplete
//! backup. The engine serves requests meanwhile. The copies of different graphs may be of different
//! points in time, since graphs are independent.
//!
//! The manifest is text, one item a line:
//!
//! ```text
//! varve-backup 1
//! created 1795305600000000
//! graph hugegraph
//! file 8a1f… 1048576 graphs/hugegraph/000012.sst
//! end 1
//! ```
//! The first line of a backup of rows is `varve-backup 2`. `created` is in microseconds since 1970;
//! checksums are XXH3, 64 bits, in hexadecimal; `end` counts the files.

mod rows;

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use varve_encoding::tables::TABLES;
use varve_kv::folder::{self, RESTORE_INCOMPLETE, RESTORED};
use varve_kv::{Engine, fail_point};
use varve_model::time::{Clock as _, SystemClock};
use xxhash_rust::xxh3::Xxh3;

use crate::error::{ErrorKind, GraphError};
use crate::registry::{GraphLocation, Registry};

/// The file name of the manifest within a backup.
pub const MANIFEST: &str = "MANIFEST";
/// The first line of a manifest, for a backup of an engine's files and for one of rows.
const HEADS: [(&str, BackupKind); 2] = [
    ("varve-backup 1", BackupKind::Files),
    ("varve-backup 2", BackupKind::Rows),
];
/// The folder of the graphs within a backup.
const GRAPHS: &str = "graphs";
/// Bytes that one read of a file takes.
const READ_BYTES: usize = 1 << 20;

/// A file of a backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupFile {
    /// The path below the backup's folder.
    pub path: PathBuf,
    /// The length in bytes.
    pub bytes: u64,
    /// The XXH3 checksum.
    pub checksum: u64,
}

/// What the files of a backup are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackupKind {
    /// Files that RocksDB opens.
    Files,
    /// Rows, which any engine restores.
    Rows,
}

/// The content of a backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupManifest {
    /// What the files are.
    pub kind: BackupKind,
    /// When the backup began, in microseconds since 1970.
    pub created: i64,
    /// The graphs.
    pub graphs: Vec<String>,
    /// The files of all graphs.
    pub files: Vec<BackupFile>,
}

impl BackupManifest {
    /// The total bytes of all files.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    fn to_text(&self) -> String {
        let head = HEADS.iter().find(|(_, kind)| *kind == self.kind);
        let head = head.map_or("", |(head, _)| head);
        let mut text = format!("{head}\ncreated {}\n", self.created);
        for graph in &self.graphs {
            text.push_str(&format!("graph {graph}\n"));
        }
        for file in &self.files {
            let line = format!(
                "file {:016x} {} {}\n",
                file.checksum,
                file.bytes,
                file.path.display()
            );
            text.push_str(&line);
        }
        text.push_str(&format!("end {}\n", self.files.len()));
        text
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let head = lines.next()?;
        let (_, kind) = *HEADS.iter().find(|(known, _)| *known == head)?;
        let created = lines.next()?.strip_prefix("created ")?.parse().ok()?;
        let mut manifest = Self {
            kind,
            created,
            graphs: Vec::new(),
            files: Vec::new(),
        };
        for line in lines {
            match line.split_once(' ')? {
                ("graph", name) => manifest.graphs.push(name.to_owned()),
                ("file", rest) => {
                    let (checksum, rest) = rest.split_once(' ')?;
                    let (bytes, path) = rest.split_once(' ')?;
                    let path = PathBuf::from(path);
                    let plain = path
                        .components()
                        .all(|part| matches!(part, std::path::Component::Normal(_)));
                    manifest.files.push(BackupFile {
                        path: plain.then_some(path)?,
                        bytes: bytes.parse().ok()?,
                        checksum: u64::from_str_radix(checksum, 16).ok()?,
                    });
                }
                ("end", count) => {
                    return (count.parse() == Ok(manifest.files.len())).then_some(manifest);
                }
                _ => return None,
            }
        }
        None
    }
}

/// The error where no graph is open, as this one.
fn nothing_to_copy(registry: &Registry, name: &str) -> GraphError {
    let why = match registry.place(name) {
        GraphLocation::There(leader) => format!("is led by the server at {}", leader.address),
        _ => match registry.why_unopened(name) {
            Some(reason) => format!("cannot be opened: {reason}"),
            None => "is not open".to_owned(),
        },
    };
    let message = format!("No graph can be backed up here: '{name}' {why}");
    GraphError::new(ErrorKind::IllegalState, message)
}

/// Writes a backup of all graphs that are open here, including the system graph, into the new
/// folder `target`. Graphs that cannot be opened ([`Registry::unopened`]), or that other servers
/// lead, are left out.
///
/// # Errors
/// [`ErrorKind::Existed`] when `target` exists; [`ErrorKind::IllegalState`] when there are graphs,
/// and none is open here; else when a graph cannot be copied or a file cannot
/// be written. The files written so far stay there, without a manifest.
pub fn write_backup(registry: &Registry, target: &Path) -> Result<BackupManifest, GraphError> {
    if target.exists() {
        let message = format!(
            "'{}' exists already: a backup needs a new folder",
            target.display()
        );
        return Err(GraphError::new(ErrorKind::Existed, message));
    }
    let all = registry.names_with_system()?;
    let is_open = |name: &&String| registry.get_with_system(name).is_ok();
    let names: Vec<String> = all.iter().filter(is_open).cloned().collect();
    if let Some(name) = all.first().filter(|_| names.is_empty()) {
        return Err(nothing_to_copy(registry, name));
    }
    let graphs_folder = target.join(GRAPHS);
    create_folders(&graphs_folder)?;
    let copies_rows = |name: &String| {
        let graph = registry.get_with_system(name);
        graph.is_ok_and(|graph| graph.recorded().is_some())
    };
    let kind = match names.iter().any(copies_rows) {
        true => BackupKind::Rows,
        false => BackupKind::Files,
    };
    let mut manifest = BackupManifest {
        kind,
        created: registry.options().clock.now().0,
        graphs: names,
        files: Vec::new(),
    };
    for name in &manifest.graphs {
        let folder = graphs_folder.join(name);
        fail_point::BACKUP_COPY
            .reach()
            .map_err(|error| failed(&folder, &error))?;
        match kind {
            BackupKind::Files => registry.checkpoint(name, &folder)?,
            BackupKind::Rows => {
                create_folders(&folder)?;
                rows::copy_graph(&*registry.get_with_system(name)?, &folder)?;
                sync_folder(&folder)?;
            }
        }
        fail_point::BACKUP_COPIED
            .reach()
            .map_err(|error| failed(&folder, &error))?;
        for path in files_below(&folder)? {
            let (bytes, checksum) = read_through(&path, &mut |_| Ok(()))?;
            let path = path.strip_prefix(target).unwrap_or(&path).to_path_buf();
            manifest.files.push(BackupFile {
                path,
                bytes,
                checksum,
            });
        }
    }
    let path = target.join(MANIFEST);
    let written = fail_point::BACKUP_MANIFEST.reach().and_then(|()| {
        let mut file = File::create(&path)?;
        file.write_all(manifest.to_text().as_bytes())?;
        file.sync_all()?;
        fail_point::BACKUP_LISTED.reach()
    });
    written.map_err(|error| failed(&path, &error))?;
    sync_folder(&graphs_folder)?;
    sync_folder(target)?;
    Ok(manifest)
}

/// Reads the manifest of a backup.
///
/// # Errors
/// When the manifest does not exist or cannot be read: the backup is incomplete, or the folder is
/// not a backup.
pub fn read_manifest(source: &Path) -> Result<BackupManifest, GraphError> {
    let path = source.join(MANIFEST);
    let text = fs::read_to_string(&path).map_err(|error| {
        let reason = "it is not a backup, or one that was cut short";
        GraphError::new(
            ErrorKind::Storage,
            format!("{}: {error}: {reason}", path.display()),
        )
    })?;
    BackupManifest::parse(&text).ok_or_else(|| {
        GraphError::new(
            ErrorKind::Storage,
            format!("{}: damaged manifest", path.display()),
        )
    })
}

/// Reads every file of a backup and compares it with the manifest.
///
/// # Errors
/// When a file is missing, too long, too short or damaged; the message names it.
pub fn check_backup(source: &Path) -> Result<BackupManifest, GraphError> {
    let manifest = read_manifest(source)?;
    for file in &manifest.files {
        let (bytes, checksum) = read_through(&source.join(&file.path), &mut |_| Ok(()))?;
        compare(source, file, bytes, checksum)?;
    }
    Ok(manifest)
}

/// Creates the graphs of a backup of rows in an engine, and verifies the checksum of every file. If
/// it fails, the graph that it was about cannot be opened, only dropped; those before it are whole.
///
/// # Errors
/// [`ErrorKind::Existed`] when there is a graph with such a name; else when the backup is damaged,
/// or the engine fails.
pub fn restore_rows(source: &Path, engine: &dyn Engine) -> Result<BackupManifest, GraphError> {
    let manifest = read_manifest(source)?;
    for graph in &manifest.graphs {
        rows::restore_graph(engine, graph, &mut |put| {
            for name in [rows::ROWS, rows::CHANGES] {
                let path = PathBuf::from(GRAPHS).join(graph).join(name);
                let file = manifest.files.iter().find(|file| file.path == path);
                let file = file.ok_or_else(|| {
                    let message = format!("{}: not in the manifest", path.display());
                    GraphError::new(ErrorKind::Storage, message)
                })?;
                let full = source.join(&path);
                let input = File::open(&full).map_err(|error| failed(&full, &error))?;
                let mut input = Hashing {
                    input,
                    hash: Xxh3::new(),
                    bytes: 0,
                };
                rows::read_batches(&mut input, &full, put)?;
                compare(source, file, input.bytes, input.hash.digest())?;
            }
            Ok(())
        })?;
    }
    Ok(manifest)
}

/// Creates the graphs of one engine in another one.
///
/// # Errors
/// As [`restore_rows`].
pub fn copy_spaces(
    from: &dyn Engine,
    graphs: &[String],
    to: &dyn Engine,
) -> Result<(), GraphError> {
    for graph in graphs {
        let space = from.open(graph, TABLES, false)?;
        rows::restore_graph(to, graph, &mut |put| rows::visit_batches(&*space, put))?;
    }
    Ok(())
}

/// A file that is being read, and its checksum so far.
struct Hashing {
    input: File,
    hash: Xxh3,
    bytes: u64,
}

impl std::io::Read for Hashing {
    fn read(&mut self, piece: &mut [u8]) -> std::io::Result<usize> {
        let read = self.input.read(piece)?;
        self.hash.update(&piece[..read]);
        self.bytes += read as u64;
        Ok(read)
    }
}

/// Copies the graphs of a backup into the new or empty folder `graphs`, which an engine can then
/// open, and verifies the checksum of every file. The folder has the mark [`RESTORE_INCOMPLETE`]
/// until all files are on stable storage and the copy has its own number ([`restored`]).
///
/// # Errors
/// [`ErrorKind::Existed`] when `graphs` is not empty; else when the backup is damaged or a file
/// cannot be written. After an error `graphs` holds a part of the backup and must be removed.
pub fn restore_backup(source: &Path, graphs: &Path) -> Result<BackupManifest, GraphError> {
    let manifest = read_manifest(source)?;
    create_folders(graphs)?;
    check_empty(graphs)?;
    let mark = graphs.join(RESTORE_INCOMPLETE);
    File::create(&mark).map_err(|error| failed(&mark, &error))?;
    sync_folder(graphs)?;
    for file in &manifest.files {
        let below = file.path.strip_prefix(GRAPHS).unwrap_or(&file.path);
        restore_file(source, file, &graphs.join(below))?;
    }
    for name in &manifest.graphs {
        sync_folder(&graphs.join(name))?;
    }
    number_copy(graphs)?;
    fs::remove_file(&mark).map_err(|error| failed(&mark, &error))?;
    sync_folder(graphs)?;
    Ok(manifest)
}

/// Stores the unique number of this copy of a backup: the present instant in microseconds.
fn number_copy(graphs: &Path) -> Result<(), GraphError> {
    let path = graphs.join(RESTORED);
    let number = SystemClock.now().0;
    let written = File::create(&path).and_then(|mut file| {
        file.write_all(format!("{number}\n").as_bytes())?;
        file.sync_all()
    });
    written.map_err(|error| failed(&path, &error))
}

/// Reads the number of the restored copy of a backup in a folder; 0 if the folder is not a restored
/// copy. See [`crate::GraphOptions::restored`].
///
/// # Errors
/// When the folder's mark cannot be read.
pub fn restored(graphs: &Path) -> Result<u64, GraphError> {
    let path = graphs.join(RESTORED);
    match fs::read_to_string(&path) {
        Ok(text) => text.trim().parse().map_err(|_| {
            let message = format!("{}: not a number", path.display());
            GraphError::new(ErrorKind::Storage, message)
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(failed(&path, &error)),
    }
}

/// Refuses to restore into a folder that is not empty.
fn check_empty(graphs: &Path) -> Result<(), GraphError> {
    let mut inside = fs::read_dir(graphs).map_err(|error| failed(graphs, &error))?;
    if inside.next().is_none() {
        return Ok(());
    }
    let shown = graphs.display();
    let message = match graphs.join(RESTORE_INCOMPLETE).exists() {
        true => format!("'{shown}' holds a part of a backup: remove it, then restore again"),
        false => format!("'{shown}' is not empty: a backup is restored to a new data folder"),
    };
    Err(GraphError::new(ErrorKind::Existed, message))
}

/// Copies one file of a backup and checks it.
fn restore_file(source: &Path, file: &BackupFile, target: &Path) -> Result<(), GraphError> {
    if let Some(folder) = target.parent() {
        create_folders(folder)?;
    }
    let mut copy = File::create(target).map_err(|error| failed(target, &error))?;
    let (bytes, checksum) = read_through(&source.join(&file.path), &mut |piece| {
        copy.write_all(piece)
            .map_err(|error| failed(target, &error))
    })?;
    copy.sync_all().map_err(|error| failed(target, &error))?;
    compare(source, file, bytes, checksum)
}

fn compare(source: &Path, file: &BackupFile, bytes: u64, checksum: u64) -> Result<(), GraphError> {
    if (bytes, checksum) == (file.bytes, file.checksum) {
        return Ok(());
    }
    let path = source.join(&file.path);
    let message = format!(
        "{}: damaged: {bytes} bytes with checksum {checksum:016x}, but the manifest says {} bytes with {:016x}",
        path.display(),
        file.bytes,
        file.checksum
    );
    Err(GraphError::new(ErrorKind::Storage, message))
}

/// Reads a file in pieces, each passed to `piece_read`; returns its length and checksum.
fn read_through(
    path: &Path,
    piece_read: &mut dyn FnMut(&[u8]) -> Result<(), GraphError>,
) -> Result<(u64, u64), GraphError> {
    let mut file = File::open(path).map_err(|error| failed(path, &error))?;
    let mut piece = vec![0; READ_BYTES];
    let mut hash = Xxh3::new();
    let mut bytes = 0;
    loop {
        let read = file
            .read(&mut piece)
            .map_err(|error| failed(path, &error))?;
        if read == 0 {
            return Ok((bytes, hash.digest()));
        }
        hash.update(&piece[..read]);
        piece_read(&piece[..read])?;
        bytes += read as u64;
    }
}

/// All files below a folder, sorted.
fn files_below(folder: &Path) -> Result<Vec<PathBuf>, GraphError> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| failed(folder, &error))? {
        let path = entry.map_err(|error| failed(folder, &error))?.path();
        if path.is_dir() {
            files.extend(files_below(&path)?);
        } else {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn create_folders(folder: &Path) -> Result<(), GraphError> {
    folder::create_folders(folder).map_err(|error| failed(folder, &error))
}

fn sync_folder(folder: &Path) -> Result<(), GraphError> {
    folder::sync_folder(folder).map_err(|error| failed(folder, &error))
}

fn failed(path: &Path, error: &std::io::Error) -> GraphError {
    let kind = match error.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::ReadOnlyFilesystem => {
            ErrorKind::Unwritable
        }
        _ => ErrorKind::Storage,
    };
    GraphError::new(kind, format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backup() -> (tempfile::TempDir, BackupManifest) {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let file = dir.path().join("graphs/g/1.sst");
        fs::create_dir_all(file.parent().expect("a parent")).expect("created");
        fs::write(&file, b"rows").expect("written");
        let (bytes, checksum) = read_through(&file, &mut |_| Ok(())).expect("read");
        let file = BackupFile {
            path: "graphs/g/1.sst".into(),
            bytes,
            checksum,
        };
        let manifest = BackupManifest {
            kind: BackupKind::Files,
            created: 7,
            graphs: vec!["g".into()],
            files: vec![file],
        };
        fs::write(dir.path().join(MANIFEST), manifest.to_text()).expect("written");
        (dir, manifest)
    }

    #[test]
    fn what_was_backed_up_is_restored() {
        let (dir, manifest) = backup();
        assert_eq!(check_backup(dir.path()).expect("sound"), manifest);
        let target = dir.path().join("new");
        assert_eq!(
            restore_backup(dir.path(), &target).expect("restored"),
            manifest
        );
        assert_eq!(fs::read(target.join("g/1.sst")).expect("there"), b"rows");
        assert!(!target.join(RESTORE_INCOMPLETE).exists());
        assert_eq!(restored(dir.path()).expect("no mark"), 0);
        let other = dir.path().join("other");
        restore_backup(dir.path(), &other).expect("restored");
        let [one, two] = [&target, &other].map(|copy| restored(copy).expect("a mark"));
        assert!(one != 0 && one != two, "each copy has a name of its own");
        let again = restore_backup(dir.path(), &target).expect_err("not empty");
        assert_eq!(again.kind, ErrorKind::Existed);
    }

    #[test]
    fn damage_is_named() {
        let (dir, _) = backup();
        fs::write(dir.path().join("graphs/g/1.sst"), b"rosw").expect("written");
        let error = check_backup(dir.path()).expect_err("damaged");
        assert!(error.message.contains("1.sst: damaged"), "{error}");
        let new = dir.path().join("new");
        let error = restore_backup(dir.path(), &new).expect_err("damaged");
        assert!(error.message.contains("1.sst: damaged"), "{error}");
        assert!(new.join(RESTORE_INCOMPLETE).exists());
        let error = restore_backup(dir.path(), &new).expect_err("a part is there");
        assert!(error.message.contains("a part of a backup"), "{error}");
        fs::remove_file(dir.path().join("graphs/g/1.sst")).expect("removed");
        assert!(check_backup(dir.path()).is_err());
    }

    #[test]
    fn a_manifest_that_was_cut_or_leads_outside_is_refused() {
        let (dir, manifest) = backup();
        let text = manifest.to_text();
        for bad in [
            &text[..text.len() - 3],
            "",
            "varve-backup 2\n",
            &text.replace("graphs/g", "../g"),
        ] {
            fs::write(dir.path().join(MANIFEST), bad).expect("written");
            assert!(read_manifest(dir.path()).is_err(), "{bad}");
        }
        fs::remove_file(dir.path().join(MANIFEST)).expect("removed");
        assert!(
            read_manifest(dir.path())
                .expect_err("none")
                .message
                .contains("cut short")
        );
    }
}
