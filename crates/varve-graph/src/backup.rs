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
//! checksums are SHA-256 in hexadecimal (in older backups XXH3, 64 bits); `end` counts the files.
//! Other lines are `left_out <graph>`, and in a store of backups `took_ms` and `new_bytes`.

mod manifest;
mod restore;
mod rows;

pub use manifest::{BackupFile, BackupKind, BackupManifest, Checksum, MANIFEST};
pub use restore::{Backup, BackupFiles, copy_spaces, restored};

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use varve_kv::fail_point;
use varve_kv::folder;

use crate::error::{ErrorKind, GraphError};
use crate::registry::{GraphLocation, Registry};

/// The folder of the graphs within a backup.
const GRAPHS: &str = "graphs";

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
    let mut manifest = BackupManifest::begun(kind, registry.options().clock.now().0);
    manifest.left_out = registry.names();
    manifest.left_out.retain(|name| !names.contains(name));
    manifest.graphs = names;
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
            let (bytes, checksum) = restore::measure(&path)?;
            manifest.files.push(BackupFile {
                path: path.strip_prefix(target).unwrap_or(&path).to_path_buf(),
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
