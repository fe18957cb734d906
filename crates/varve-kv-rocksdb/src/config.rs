//! What an operator may choose.

use std::path::{Path, PathBuf};

/// Memory of the engine when nothing is said: 512 MiB.
pub const MEMORY_BYTES_DEFAULT: u64 = 512 << 20;

/// The least memory the engine starts with: below it, index and filter blocks push each other out of the cache and a
/// read costs a thousand times what it should.
pub const MEMORY_BYTES_MIN: u64 = 64 << 20;

/// Settings of a [`RocksEngine`](crate::RocksEngine).
#[derive(Debug, Clone)]
pub struct RocksConfig {
    /// The directory with one subdirectory for each space; created if it is missing. One process at a time uses it.
    pub data_dir: PathBuf,
    /// Bytes for the block cache (with indexes and filters) and the memtables of all spaces together. At least
    /// [`MEMORY_BYTES_MIN`]. Not counted: iterators, buffers of compactions (some tens of MiB), and the page cache.
    pub memory_bytes: u64,
    /// Threads for flushes and compactions, shared by all spaces. At least 2.
    pub background_jobs: u16,
    /// Files that one space may hold open. `None`: an eighth of what the process may open, between 64 and 4,096.
    pub open_files_per_space: Option<u32>,
}

impl RocksConfig {
    /// The defaults for `data_dir`.
    #[must_use]
    pub fn new(data_dir: &Path) -> Self {
        Self {
            data_dir: data_dir.to_path_buf(),
            memory_bytes: MEMORY_BYTES_DEFAULT,
            background_jobs: 2,
            open_files_per_space: None,
        }
    }
}
