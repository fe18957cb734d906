//! The file system as the log uses it: a seam, so that tests can lose unsynced bytes.

use std::fmt::Debug;
use std::fs::{self, File};
use std::io::{self, IoSlice};
use std::os::unix::fs::{FileExt, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rustix::fs::FallocateFlags;
use xxhash_rust::xxh3::xxh3_64;

/// The file with the random id of the system's last start.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// A directory.
pub(crate) trait Disk: Debug + Send + Sync {
    /// The names of its files.
    fn list(&self) -> io::Result<Vec<String>>;
    /// Opens a file for reading and, with `writable`, for writing.
    fn open(&self, name: &str, writable: bool) -> io::Result<Arc<dyn DiskFile>>;
    /// Creates an empty file, replacing an existing one of that name.
    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>>;
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;
    fn remove(&self, name: &str) -> io::Result<()>;
    /// Brings created, renamed and removed names to stable storage.
    fn sync_names(&self) -> io::Result<()>;
    /// A number that identifies the period in which written bytes cannot be lost, even if they are
    /// not synced. It changes when the machine restarts, or when the directory is on another
    /// device. 0 if the system does not report it.
    fn session(&self) -> u64;
    /// The path of a file, for messages.
    fn path(&self, name: &str) -> PathBuf;
}

/// An open file.
pub(crate) trait DiskFile: Debug + Send + Sync {
    fn bytes(&self) -> io::Result<u64>;
    /// Reads up to the length of `into`; less only at the end.
    fn read(&self, into: &mut [u8], offset: u64) -> io::Result<usize>;
    /// Writes the parts one after another, with one call if the system accepts all bytes. An
    /// error is returned with the number of bytes that were written before it.
    fn write(&self, parts: [&[u8]; 2], offset: u64) -> Result<(), (u64, io::Error)>;
    /// Allocates these bytes, which read as zeros until they are written.
    fn allocate(&self, offset: u64, bytes: u64) -> io::Result<()>;
    /// Truncates the file to `bytes`.
    fn cut(&self, bytes: u64) -> io::Result<()>;
    /// Brings content and length to stable storage.
    fn sync(&self) -> io::Result<()>;
}

/// A directory of the operating system.
#[derive(Debug)]
pub(crate) struct OsDisk {
    dir: PathBuf,
    /// The open directory, from the first sync of names on. So later syncs need no descriptor,
    /// which might be lacking just after a rename.
    names: OnceLock<File>,
}

impl OsDisk {
    pub(crate) fn new(dir: &Path) -> Self {
        Self {
            dir: dir.to_path_buf(),
            names: OnceLock::new(),
        }
    }
}

impl Disk for OsDisk {
    fn list(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.dir)? {
            if let Ok(name) = entry?.file_name().into_string() {
                names.push(name);
            }
        }
        Ok(names)
    }

    fn open(&self, name: &str, writable: bool) -> io::Result<Arc<dyn DiskFile>> {
        let file = File::options()
            .read(true)
            .write(writable)
            .open(self.dir.join(name))?;
        Ok(Arc::new(file))
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(self.dir.join(name))?;
        Ok(Arc::new(file))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.dir.join(from), self.dir.join(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.dir.join(name))
    }

    fn sync_names(&self) -> io::Result<()> {
        if let Some(names) = self.names.get() {
            return names.sync_all();
        }
        let names = File::open(&self.dir)?;
        names.sync_all()?;
        // Another thread may have set it already; one is enough.
        let _ = self.names.set(names);
        Ok(())
    }

    fn session(&self) -> u64 {
        let device = fs::metadata(&self.dir).map(|metadata| metadata.dev());
        match (fs::read(BOOT_ID), device) {
            (Ok(mut boot), Ok(device)) => {
                boot.extend(device.to_be_bytes());
                xxh3_64(&boot)
            }
            _ => 0,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }
}

impl DiskFile for File {
    fn bytes(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut done = 0;
        while done < into.len() {
            match self.read_at(&mut into[done..], offset + done as u64) {
                Ok(0) => break,
                Ok(count) => done += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }

    fn write(&self, parts: [&[u8]; 2], offset: u64) -> Result<(), (u64, io::Error)> {
        let [mut first, mut second] = parts;
        let mut done = 0;
        while !(first.is_empty() && second.is_empty()) {
            let slices = [IoSlice::new(first), IoSlice::new(second)];
            match rustix::io::pwritev(self, &slices, offset + done) {
                Ok(0) => return Err((done, io::ErrorKind::WriteZero.into())),
                Ok(count) => {
                    done += count as u64;
                    let of_first = count.min(first.len());
                    first = &first[of_first..];
                    second = &second[count - of_first..];
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err((done, error.into())),
            }
        }
        Ok(())
    }

    fn allocate(&self, offset: u64, bytes: u64) -> io::Result<()> {
        Ok(rustix::fs::fallocate(
            self,
            FallocateFlags::empty(),
            offset,
            bytes,
        )?)
    }

    fn cut(&self, bytes: u64) -> io::Result<()> {
        self.set_len(bytes)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }
}
