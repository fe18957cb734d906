//! The settings that an operator may choose.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rust_rocksdb::Options;
use varve_kv_front::FrontOptions;

/// The engine's memory by default: 512 MiB.
pub const MEMORY_BYTES_DEFAULT: u64 = 512 << 20;

/// The least memory with which the engine starts. Below it, index and filter blocks evict each
/// other from the cache, and a read costs a thousand times as much.
pub const MEMORY_BYTES_MIN: u64 = 64 << 20;

/// The default size at which a front table is flushed: 160 MiB. The larger it is, the fewer files
/// are compacted.
pub const FRONT_TABLE_BYTES_DEFAULT: usize = 160 << 20;

/// Settings of a [`RocksEngine`](crate::RocksEngine).
#[derive(Debug, Clone)]
pub struct RocksConfig {
    /// The directory with one subdirectory for each space; created if it is missing. Only one
    /// process at a time may use it.
    pub data_dir: PathBuf,
    /// Bytes for the block cache (with indexes and filters), the memtables and the front tables of
    /// all spaces together. At least [`MEMORY_BYTES_MIN`]. Not counted: iterators, the memory of
    /// compactions (some tens of MiB, 300 at most), and the page cache.
    pub memory_bytes: u64,
    /// Threads for flushes and compactions, shared by all spaces. At least 2.
    pub background_jobs: u16,
    /// Whether writes go to a front table before RocksDB, and its options.
    pub front: FrontTable,
    /// Values that were chosen by measurement. They are fields for tests, not for operators.
    pub tuning: Tuning,
    /// The number of files that one space may hold open. `None`: an eighth of the process's limit,
    /// between 64 and 4,096.
    pub open_files_per_space: Option<u32>,
}

/// The layer over RocksDB.
#[derive(Debug, Clone)]
pub enum FrontTable {
    /// None: batches go to RocksDB's log and memtables. The remaining log of a front table is
    /// flushed when a space is opened.
    Off,
    /// A front table that is flushed at this number of bytes. All front tables share three eighths
    /// of [`RocksConfig::memory_bytes`], and no table gets more than a third of that.
    Share(usize),
    /// A front table with these options; its memory is not part of [`RocksConfig::memory_bytes`].
    With(FrontOptions),
}

impl RocksConfig {
    /// The defaults for `data_dir`.
    #[must_use]
    pub fn new(data_dir: &Path) -> Self {
        Self {
            data_dir: data_dir.to_path_buf(),
            memory_bytes: MEMORY_BYTES_DEFAULT,
            background_jobs: 2,
            front: FrontTable::Share(FRONT_TABLE_BYTES_DEFAULT),
            tuning: Tuning::default(),
            open_files_per_space: None,
        }
    }
}

/// Options whose values were chosen by measurement (`docs/decisions/0003-rocksdb-options.md` and
/// `docs/decisions/0020-compaction-in-tiers.md`). Tests choose others.
#[derive(Debug, Clone)]
pub struct Tuning {
    /// A table's memtable is flushed at this size in bytes, or sooner when memory is short.
    pub memtable_bytes: usize,
    /// Whether the files of a front table are compacted in tiers rather than in levels.
    pub tiers: bool,
    /// The number of sorted runs of a table that starts a compaction while flushes follow each
    /// other.
    pub runs_loading: i32,
    /// The highest such number while nearly all written rows are new and the files are rarely read.
    pub runs_inserting: i32,
    /// The number of sorted runs of a table that starts a compaction once there was no flush for
    /// `quiet_after`. At most this many runs then remain.
    pub runs_quiet: i32,
    /// See `runs_quiet`.
    pub quiet_after: Duration,
    /// The number of rows in level 0 above which a quiet table is compacted as a whole, into the
    /// last level. A compaction that writes into level 0 holds 10 bits in memory for each row.
    pub level0_rows_max: u64,
    /// Bytes of the first level below level 0.
    pub level_base_bytes: u64,
    /// Changes options of spaces that have no field here.
    pub alter_space: fn(&mut Options),
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            memtable_bytes: 32 << 20,
            tiers: true,
            runs_loading: 32,
            runs_inserting: 64,
            runs_quiet: 6,
            quiet_after: Duration::from_secs(30),
            level0_rows_max: 256_000_000,
            level_base_bytes: 256 << 20,
            alter_space: |_| (),
        }
    }
}
