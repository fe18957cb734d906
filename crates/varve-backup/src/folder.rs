//! A folder as a place of backups.

use std::fs::{self, File};
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};

use varve_kv::folder::{create_folders, sync_folder};

use crate::place::{FILES, Object, Place, Upload};

/// The end of the name of a file that is being written. It is among the files, where what no
/// backup names is removed.
pub(crate) const PART: &str = ".part";

pub(crate) struct Folder(pub(crate) PathBuf);

impl Place for Folder {
    fn list(&self, folder: &str) -> io::Result<Vec<Object>> {
        let entries = match fs::read_dir(self.0.join(folder)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut objects = Vec::new();
        for entry in entries {
            let entry = entry?;
            objects.push(Object {
                name: entry.file_name().to_string_lossy().into_owned(),
                bytes: entry.metadata()?.len(),
            });
        }
        Ok(objects)
    }

    fn read(&self, key: &str) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(File::open(self.0.join(key))?))
    }

    fn begin(&self, key: &str, _: u64) -> io::Result<Box<dyn Upload + '_>> {
        let target = self.0.join(key);
        create_folders(target.parent().unwrap_or(&self.0))?;
        let parts = self.0.join(FILES);
        create_folders(&parts)?;
        let part = parts.join(format!("{}{PART}", key.replace('/', "-")));
        Ok(Box::new(Part {
            file: File::create(&part)?,
            part,
            target,
        }))
    }

    fn remove(&self, key: &str) -> io::Result<()> {
        match fs::remove_file(self.0.join(key)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }
}

/// A file that is being written beside its final name.
struct Part {
    file: File,
    part: PathBuf,
    target: PathBuf,
}

impl Upload for Part {
    fn write(&mut self, piece: &[u8]) -> io::Result<()> {
        self.file.write_all(piece)
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        self.file.sync_all()?;
        fs::rename(&self.part, &self.target)?;
        sync_folder(self.target.parent().unwrap_or(Path::new(".")))
    }
}
