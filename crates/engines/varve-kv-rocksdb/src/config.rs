//! What an operator may choose.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rust_rocksdb::{BlockBasedOptions, Options};
use varve_kv_front::FrontOptions;

/// Memory of the engine when nothing is said: 512 MiB.
pub const MEMORY_BYTES_DEFAULT: u64 = 512 << 20;

/// The least memory the engine starts with: below it, index and filter blocks push each other out
/// of the cache and a read costs a thousand times what it should.
pub const MEMORY_BYTES_MIN: u64 = 64 << 20;

/// At how many bytes a front table is flushed when nothing is said: 160 MiB. The larger, the fewer
/// files to merge.
pub const FRONT_TABLE_BYTES_DEFAULT: usize = 160 << 20;

/// Settings of a [`RocksEngine`](crate::RocksEngine).
#[derive(Debug, Clone)]
pub struct RocksConfig {
    /// The directory with one subdirectory for each space; created if it is missing. One process at
    /// a time uses it.
    pub data_dir: PathBuf,
    /// Bytes for the block cache (with indexes and filters), the memtables and the front tables of
    /// all spaces together. At least [`MEMORY_BYTES_MIN`]. Not counted: iterators, what compactions
    /// keep (some tens of MiB, 300 at most), and the page cache.
    pub memory_bytes: u64,
    /// Threads for flushes and compactions, shared by all spaces. At least 2.
    pub background_jobs: u16,
    /// Whether writes go to a table in memory of our own before RocksDB, and how it behaves.
    pub front: FrontTable,
    /// What was chosen by measurement; for measuring again, not for operators.
    pub tuning: Tuning,
    /// Files that one space may hold open. `None`: an eighth of what the process may open, between
    /// 64 and 4,096.
    pub open_files_per_space: Option<u32>,
}

/// What is before RocksDB.
#[derive(Debug, Clone)]
pub enum FrontTable {
    /// Nothing: batches go to RocksDB's log and memtables. What the log of a front table still
    /// holds is brought over when a space is opened.
    Off,
    /// A front table that is flushed at so many bytes; all of them share three eighths of
    /// [`RocksConfig::memory_bytes`], and no table gets more than a third of that.
    Share(usize),
    /// A front table with these options; its memory comes besides.
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

/// Options whose values were chosen by measurement (`docs/decisions/0003-rocksdb-options.md`,
/// program `raw_figures`).
#[derive(Debug, Clone)]
pub struct Tuning {
    /// A table's memtable is flushed at this size in bytes, or sooner when memory is short.
    pub memtable_bytes: usize,
    /// Part of a memtable given to a filter of its keys, so that reads of absent rows skip it.
    pub memtable_filter_share: f64,
    /// Skip list, or a hash of skip lists by partition for the tables that are scanned.
    pub memtable_hashed: bool,
    /// Size of a data block in bytes; history gets twice this.
    pub block_bytes: usize,
    /// Bits of filter for each key.
    pub filter_bits: f64,
    /// Whether the filter and the index of a file are cut into small pieces that the cache holds
    /// singly.
    pub partition_filters: bool,
    /// Whether blocks of the lower levels are compressed with LZ4.
    pub compress: bool,
    /// Whether data blocks of point-read tables carry a hash index.
    pub block_hash_index: bool,
    /// Files in level 0 of a table that start a compaction: flushed memtables.
    pub level0_compact: i32,
    /// The same with a front table, and without tiers: fewer compactions of more files cost less.
    pub level0_compact_front: i32,
    /// Whether the files of a front table are merged in tiers rather than in levels.
    pub tiers: bool,
    /// Sorted runs of a table that are merged while tables are flushed one after the other.
    pub runs_loading: i32,
    /// The most of them while nearly all rows that come are new and hardly anything is looked for
    /// in the files.
    pub runs_inserting: i32,
    /// Sorted runs of a table that are merged once none has been flushed for `quiet_after`. At most
    /// so many are left then.
    pub runs_quiet: i32,
    /// See `runs_quiet`.
    pub quiet_after: Duration,
    /// Rows of a table in level 0 above which all of its files are merged then, into the last
    /// level, rather than those with each other: a merge that writes into level 0 keeps 10 bits for
    /// each row in memory.
    pub level0_rows_max: u64,
    /// Bytes of the first level below level 0.
    pub level_base_bytes: u64,
    /// From how many rows on a batch is put in the order of its keys.
    pub sort_batches_from: usize,
    /// Changes options of spaces, and of tables, that have no field of their own here.
    pub alter_space: fn(&mut Options),
    /// See `alter_space`.
    pub alter_table: fn(&mut Options, &mut BlockBasedOptions),
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            memtable_bytes: 32 << 20,
            memtable_filter_share: 0.02,
            memtable_hashed: false,
            block_bytes: 8 << 10,
            filter_bits: 10.0,
            partition_filters: true,
            compress: true,
            block_hash_index: false,
            level0_compact: 4,
            level0_compact_front: 8,
            tiers: true,
            runs_loading: 32,
            runs_inserting: 64,
            runs_quiet: 6,
            quiet_after: Duration::from_secs(30),
            level0_rows_max: 256_000_000,
            level_base_bytes: 256 << 20,
            sort_batches_from: 64,
            alter_space: |_| (),
            alter_table: |_, _| (),
        }
    }
}
