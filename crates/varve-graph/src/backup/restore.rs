//! Checks and restores a backup, wherever its files are.

use std::fs::{self, File};
use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};

use varve_encoding::tables::TABLES;
use varve_kv::Engine;
use varve_kv::folder::{RESTORE_INCOMPLETE, RESTORED};
use varve_model::time::{Clock as _, SystemClock};

use super::manifest::{BackupFile, BackupManifest, Checksum, MANIFEST};
use super::{GRAPHS, create_folders, failed, rows, sync_folder};
use crate::error::{ErrorKind, GraphError};

/// Bytes that one read of a file takes.
const READ_BYTES: usize = 1 << 20;

/// Where the files of a backup are.
pub trait BackupFiles {
    /// Opens a file for reading from its begin.
    ///
    /// # Errors
    /// When it does not exist or cannot be read.
    fn open(&self, file: &BackupFile) -> std::io::Result<Box<dyn Read + '_>>;

    /// How messages name a file.
    fn name(&self, file: &BackupFile) -> String;
}

/// The files of a backup that is a folder.
struct Folder(PathBuf);

impl BackupFiles for Folder {
    fn open(&self, file: &BackupFile) -> std::io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(File::open(self.0.join(&file.path))?))
    }

    fn name(&self, file: &BackupFile) -> String {
        self.0.join(&file.path).display().to_string()
    }
}

/// A complete backup.
pub struct Backup<'a> {
    /// Its content.
    pub manifest: BackupManifest,
    files: Box<dyn BackupFiles + 'a>,
}

impl<'a> Backup<'a> {
    /// The backup with this manifest, whose files are in `files`.
    pub fn new(manifest: BackupManifest, files: impl BackupFiles + 'a) -> Self {
        let files = Box::new(files);
        Self { manifest, files }
    }

    /// Reads the manifest of a backup that is a folder.
    ///
    /// # Errors
    /// When the manifest does not exist or cannot be read: the backup is incomplete, or the folder
    /// is not a backup.
    pub fn in_folder(source: &Path) -> Result<Self, GraphError> {
        let path = source.join(MANIFEST);
        let text = fs::read_to_string(&path).map_err(|error| {
            let reason = "it is not a backup, or one that was cut short";
            GraphError::new(
                ErrorKind::Storage,
                format!("{}: {error}: {reason}", path.display()),
            )
        })?;
        let manifest = BackupManifest::parse(&text).ok_or_else(|| {
            GraphError::new(
                ErrorKind::Storage,
                format!("{}: damaged manifest", path.display()),
            )
        })?;
        Ok(Self::new(manifest, Folder(source.to_path_buf())))
    }

    /// Reads every file and compares it with the manifest.
    ///
    /// # Errors
    /// When a file is missing, too long, too short or damaged; the message names it.
    pub fn check(&self) -> Result<(), GraphError> {
        let mut files = self.manifest.files.iter();
        files.try_for_each(|file| self.read(file, &mut |_| Ok(())))
    }

    /// Creates the graphs of a backup of rows in an engine, and verifies the checksum of every
    /// file. If it fails, the graph that it was about cannot be opened, only dropped; those before
    /// it are whole.
    ///
    /// # Errors
    /// [`ErrorKind::Existed`] when there is a graph with such a name; else when the backup is
    /// damaged, or the engine fails.
    pub fn restore_rows(&self, engine: &dyn Engine) -> Result<(), GraphError> {
        for graph in &self.manifest.graphs {
            rows::restore_graph(engine, graph, &mut |put| {
                for name in [rows::ROWS, rows::CHANGES] {
                    let path = PathBuf::from(GRAPHS).join(graph).join(name);
                    let file = self.manifest.files.iter().find(|file| file.path == path);
                    let file = file.ok_or_else(|| {
                        let message = format!("{}: not in the manifest", path.display());
                        GraphError::new(ErrorKind::Storage, message)
                    })?;
                    let mut input = self.open(file)?;
                    let name = self.files.name(file);
                    rows::read_batches(&mut input, Path::new(&name), put)?;
                    input.compare(&name)?;
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Copies the graphs of a backup of files into the new or empty folder `graphs`, which an
    /// engine can then open, and verifies the checksum of every file. The folder has the mark
    /// [`RESTORE_INCOMPLETE`] until all files are on stable storage and the copy has its own number
    /// ([`restored`]).
    ///
    /// # Errors
    /// [`ErrorKind::Existed`] when `graphs` is not empty; else when the backup is damaged or a file
    /// cannot be written. After an error `graphs` holds a part of the backup and must be removed.
    pub fn restore(&self, graphs: &Path) -> Result<(), GraphError> {
        create_folders(graphs)?;
        check_empty(graphs)?;
        let mark = graphs.join(RESTORE_INCOMPLETE);
        File::create(&mark).map_err(|error| failed(&mark, &error))?;
        sync_folder(graphs)?;
        for file in &self.manifest.files {
            let below = file.path.strip_prefix(GRAPHS).unwrap_or(&file.path);
            self.restore_file(file, &graphs.join(below))?;
        }
        for name in &self.manifest.graphs {
            sync_folder(&graphs.join(name))?;
        }
        number_copy(graphs)?;
        fs::remove_file(&mark).map_err(|error| failed(&mark, &error))?;
        sync_folder(graphs)
    }

    /// Copies one file and checks it.
    fn restore_file(&self, file: &BackupFile, target: &Path) -> Result<(), GraphError> {
        if let Some(folder) = target.parent() {
            create_folders(folder)?;
        }
        let mut copy = File::create(target).map_err(|error| failed(target, &error))?;
        self.read(file, &mut |piece| {
            copy.write_all(piece)
                .map_err(|error| failed(target, &error))
        })?;
        copy.sync_all().map_err(|error| failed(target, &error))
    }

    /// Reads a file in pieces, each passed to `take`, and checks it.
    fn read(&self, file: &BackupFile, take: &mut Take<'_>) -> Result<(), GraphError> {
        let name = self.files.name(file);
        let mut input = self.open(file)?;
        read_pieces(&mut input, Path::new(&name), take)?;
        input.compare(&name)
    }

    fn open<'b>(&'b self, file: &'b BackupFile) -> Result<Checked<'b>, GraphError> {
        let name = self.files.name(file);
        let input = self.files.open(file);
        Ok(Checked {
            input: input.map_err(|error| failed(Path::new(&name), &error))?,
            file,
            checksum: Checksum::of(file),
            bytes: 0,
        })
    }
}

/// What a reader of pieces does with each.
type Take<'a> = dyn FnMut(&[u8]) -> Result<(), GraphError> + 'a;

/// A file of a backup that is being read, and its checksum so far.
struct Checked<'a> {
    input: Box<dyn Read + 'a>,
    file: &'a BackupFile,
    checksum: Checksum,
    bytes: u64,
}

impl Checked<'_> {
    /// Compares what was read with the manifest.
    fn compare(&self, name: &str) -> Result<(), GraphError> {
        let (bytes, checksum) = (self.bytes, self.checksum.digits());
        if bytes == self.file.bytes && checksum == self.file.checksum {
            return Ok(());
        }
        let message = format!(
            "{name}: damaged: {bytes} bytes with checksum {checksum}, but the manifest says {} bytes with {}",
            self.file.bytes, self.file.checksum
        );
        Err(GraphError::new(ErrorKind::Storage, message))
    }
}

impl Read for Checked<'_> {
    fn read(&mut self, piece: &mut [u8]) -> std::io::Result<usize> {
        let read = self.input.read(piece)?;
        self.checksum.update(&piece[..read]);
        self.bytes += read as u64;
        Ok(read)
    }
}

fn read_pieces(input: &mut dyn Read, path: &Path, take: &mut Take<'_>) -> Result<(), GraphError> {
    let mut piece = vec![0; READ_BYTES];
    loop {
        let read = input
            .read(&mut piece)
            .map_err(|error| failed(path, &error))?;
        if read == 0 {
            return Ok(());
        }
        take(&piece[..read])?;
    }
}

/// The length and the checksum of a new file.
pub(super) fn measure(path: &Path) -> Result<(u64, String), GraphError> {
    let mut file = File::open(path).map_err(|error| failed(path, &error))?;
    let (mut bytes, mut checksum) = (0, Checksum::default());
    read_pieces(&mut file, path, &mut |piece| {
        checksum.update(piece);
        bytes += piece.len() as u64;
        Ok(())
    })?;
    Ok((bytes, checksum.digits()))
}

/// Creates the graphs of one engine in another one.
///
/// # Errors
/// As [`Backup::restore_rows`].
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

#[cfg(test)]
mod tests {
    use super::super::BackupKind;
    use super::*;

    fn backup() -> (tempfile::TempDir, BackupManifest) {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let file = dir.path().join("graphs/g/1.sst");
        fs::create_dir_all(file.parent().expect("a parent")).expect("created");
        fs::write(&file, b"rows").expect("written");
        let (bytes, checksum) = measure(&file).expect("read");
        let file = BackupFile {
            path: "graphs/g/1.sst".into(),
            bytes,
            checksum,
        };
        let manifest = BackupManifest {
            kind: BackupKind::Files,
            created: 7,
            graphs: vec!["g".into()],
            left_out: vec!["bad".into()],
            files: vec![file],
            took_ms: 8,
            new_bytes: 4,
        };
        fs::write(dir.path().join(MANIFEST), manifest.to_text()).expect("written");
        (dir, manifest)
    }

    #[test]
    fn what_was_backed_up_is_restored() {
        let (dir, manifest) = backup();
        let in_folder = Backup::in_folder(dir.path()).expect("a backup");
        assert_eq!(in_folder.manifest, manifest);
        in_folder.check().expect("sound");
        let target = dir.path().join("new");
        in_folder.restore(&target).expect("restored");
        assert_eq!(fs::read(target.join("g/1.sst")).expect("there"), b"rows");
        assert!(!target.join(RESTORE_INCOMPLETE).exists());
        assert_eq!(restored(dir.path()).expect("no mark"), 0);
        let other = dir.path().join("other");
        in_folder.restore(&other).expect("restored");
        let [one, two] = [&target, &other].map(|copy| restored(copy).expect("a mark"));
        assert!(one != 0 && one != two, "each copy has a name of its own");
        let again = in_folder.restore(&target).expect_err("not empty");
        assert_eq!(again.kind, ErrorKind::Existed);
    }

    #[test]
    fn a_backup_with_older_checksums_is_checked_and_restored() {
        let (dir, mut manifest) = backup();
        let digits = xxhash_rust::xxh3::xxh3_64(b"rows");
        manifest.files[0].checksum = format!("{digits:016x}");
        fs::write(dir.path().join(MANIFEST), manifest.to_text()).expect("written");
        let older = Backup::in_folder(dir.path()).expect("a backup");
        older.check().expect("sound");
        older.restore(&dir.path().join("new")).expect("restored");
        fs::write(dir.path().join("graphs/g/1.sst"), b"rosw").expect("written");
        let error = older.check().expect_err("damaged");
        assert!(error.message.contains("1.sst: damaged"), "{error}");
    }

    #[test]
    fn damage_is_named() {
        let (dir, _) = backup();
        let in_folder = Backup::in_folder(dir.path()).expect("a backup");
        fs::write(dir.path().join("graphs/g/1.sst"), b"rosw").expect("written");
        let error = in_folder.check().expect_err("damaged");
        assert!(error.message.contains("1.sst: damaged"), "{error}");
        let new = dir.path().join("new");
        let error = in_folder.restore(&new).expect_err("damaged");
        assert!(error.message.contains("1.sst: damaged"), "{error}");
        assert!(new.join(RESTORE_INCOMPLETE).exists());
        let error = in_folder.restore(&new).expect_err("a part is there");
        assert!(error.message.contains("a part of a backup"), "{error}");
        fs::remove_file(dir.path().join("graphs/g/1.sst")).expect("removed");
        assert!(in_folder.check().is_err());
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
            &text.replace("graph g", "graph ../g"),
            &text.replace(" graphs/g", " /graphs/g"),
        ] {
            fs::write(dir.path().join(MANIFEST), bad).expect("written");
            assert!(Backup::in_folder(dir.path()).is_err(), "{bad}");
        }
        fs::remove_file(dir.path().join(MANIFEST)).expect("removed");
        assert!(
            Backup::in_folder(dir.path())
                .err()
                .expect("none")
                .message
                .contains("cut short")
        );
    }
}
