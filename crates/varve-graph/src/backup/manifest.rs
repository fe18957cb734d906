//! The manifest of a backup: its text form, and the checksums that it lists.

use std::path::{Component, Path, PathBuf};

use sha2::{Digest as _, Sha256};
use xxhash_rust::xxh3::Xxh3;

/// The file name of the manifest within a backup's folder.
pub const MANIFEST: &str = "MANIFEST";
/// The first line of a manifest, for a backup of an engine's files and for one of rows.
const HEADS: [(&str, BackupKind); 2] = [
    ("varve-backup 1", BackupKind::Files),
    ("varve-backup 2", BackupKind::Rows),
];

/// A file of a backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupFile {
    /// The path below the backup's folder.
    pub path: PathBuf,
    /// The length in bytes.
    pub bytes: u64,
    /// The checksum in hexadecimal: SHA-256, or XXH3 with 64 bits in older backups.
    pub checksum: String,
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
    /// When the backup began, in microseconds since 1970. It has every write that was acknowledged
    /// before.
    pub created: i64,
    /// The graphs.
    pub graphs: Vec<String>,
    /// Graphs that could not be opened, or that another server led.
    pub left_out: Vec<String>,
    /// The files of all graphs.
    pub files: Vec<BackupFile>,
    /// Milliseconds from the begin to the end, in a store of backups; else 0.
    pub took_ms: u64,
    /// Bytes of the files that earlier backups of the store did not have; else 0.
    pub new_bytes: u64,
}

impl BackupManifest {
    /// The manifest of a backup that begins at `created` and has nothing yet.
    #[must_use]
    pub fn begun(kind: BackupKind, created: i64) -> Self {
        Self {
            kind,
            created,
            graphs: Vec::new(),
            left_out: Vec::new(),
            files: Vec::new(),
            took_ms: 0,
            new_bytes: 0,
        }
    }

    /// The total bytes of all files.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// The text of the manifest.
    #[must_use]
    pub fn to_text(&self) -> String {
        let head = HEADS.iter().find(|(_, kind)| *kind == self.kind);
        let head = head.map_or("", |(head, _)| head);
        let mut text = format!("{head}\ncreated {}\n", self.created);
        for (word, names) in [("graph", &self.graphs), ("left_out", &self.left_out)] {
            for name in names {
                text.push_str(&format!("{word} {name}\n"));
            }
        }
        for (word, number) in [("took_ms", self.took_ms), ("new_bytes", self.new_bytes)] {
            if number > 0 {
                text.push_str(&format!("{word} {number}\n"));
            }
        }
        for file in &self.files {
            let (checksum, bytes) = (&file.checksum, file.bytes);
            text.push_str(&format!(
                "file {checksum} {bytes} {}\n",
                file.path.display()
            ));
        }
        text.push_str(&format!("end {}\n", self.files.len()));
        text
    }

    /// Parses the text of a manifest; `None` if it is damaged, cut short, or names a path outside
    /// the backup.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let head = lines.next()?;
        let (_, kind) = *HEADS.iter().find(|(known, _)| *known == head)?;
        let created = lines.next()?.strip_prefix("created ")?.parse().ok()?;
        let mut manifest = Self::begun(kind, created);
        for line in lines {
            match line.split_once(' ')? {
                ("graph", name) => {
                    let inside = is_inside(Path::new(name)) && !name.contains('/');
                    manifest.graphs.push(inside.then(|| name.to_owned())?);
                }
                ("left_out", name) => manifest.left_out.push(name.to_owned()),
                ("took_ms", number) => manifest.took_ms = number.parse().ok()?,
                ("new_bytes", number) => manifest.new_bytes = number.parse().ok()?,
                ("file", rest) => manifest.files.push(parse_file(rest)?),
                ("end", count) => {
                    return (count.parse() == Ok(manifest.files.len())).then_some(manifest);
                }
                _ => return None,
            }
        }
        None
    }
}

/// Parses the line of a file, without its first word.
fn parse_file(line: &str) -> Option<BackupFile> {
    let (checksum, rest) = line.split_once(' ')?;
    let (bytes, path) = rest.split_once(' ')?;
    let lower_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let is_checksum = matches!(checksum.len(), XXH3_DIGITS | SHA256_DIGITS);
    let path = PathBuf::from(path);
    (is_checksum && checksum.bytes().all(lower_hex) && is_inside(&path)).then_some(())?;
    Some(BackupFile {
        path,
        bytes: bytes.parse().ok()?,
        checksum: checksum.to_owned(),
    })
}

/// Whether a path leads nowhere but below the folder to which it is relative.
fn is_inside(path: &Path) -> bool {
    let mut parts = path.components();
    parts.clone().next().is_some() && parts.all(|part| matches!(part, Component::Normal(_)))
}

const XXH3_DIGITS: usize = 16;
const SHA256_DIGITS: usize = 64;

/// A checksum that is being computed.
pub struct Checksum(Kind);

enum Kind {
    /// Of backups that were written by older versions.
    Xxh3(Box<Xxh3>),
    /// Of all new ones: it also names a file in a store.
    Sha256(Sha256),
}

impl Default for Checksum {
    /// The checksum of a new file.
    fn default() -> Self {
        Self(Kind::Sha256(Sha256::new()))
    }
}

impl Checksum {
    /// The kind of checksum with which `file` is listed.
    #[must_use]
    pub fn of(file: &BackupFile) -> Self {
        match file.checksum.len() {
            XXH3_DIGITS => Self(Kind::Xxh3(Box::default())),
            _ => Self::default(),
        }
    }

    /// Adds the next bytes.
    pub fn update(&mut self, piece: &[u8]) {
        match &mut self.0 {
            Kind::Xxh3(hash) => hash.update(piece),
            Kind::Sha256(hash) => hash.update(piece),
        }
    }

    /// The checksum of the bytes so far, in hexadecimal.
    #[must_use]
    pub fn digits(&self) -> String {
        match &self.0 {
            Kind::Xxh3(hash) => format!("{:016x}", hash.digest()),
            Kind::Sha256(hash) => {
                let digest = hash.clone().finalize();
                digest.iter().map(|byte| format!("{byte:02x}")).collect()
            }
        }
    }
}
