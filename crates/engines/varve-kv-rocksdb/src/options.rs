//! RocksDB's options, derived from ours. `docs/decisions/0003-rocksdb-options.md` explains each
//! value.

use std::sync::Arc;

use rust_rocksdb::{
    BlockBasedIndexType, BlockBasedOptions, Cache, ChecksumType, DBCompressionType, DBRecoveryMode,
    Env, FileChecksumGenFactory, LogLevel, Options, SstFileManager, WriteBufferManager,
};
use rustix::process::{Resource, getrlimit};
use varve_kv::{KvError, TableSpec};
use varve_kv_front::{Budget, FrontOptions, PartitionCache, RowCache, Watch};

use crate::config::{FrontTable, MEMORY_BYTES_MIN, RocksConfig, Tuning};
use crate::health::Listener;
use crate::partition;
use crate::tiers;

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// Share of the memory that memtables may use: three eighths. It is charged to the block cache.
const MEMTABLE_SHARE: (usize, usize) = (3, 8);
/// The same with a front table: memtables then get only the rows of an older log that is replayed.
const MEMTABLE_SHARE_FRONT: (usize, usize) = (1, 16);
/// Share of the memory for front tables: three eighths, or [`FRONT_MOST_HALVES`] if that is less.
/// The rest goes to the presence filters.
const FRONT_SHARE: (usize, usize) = (3, 8);
/// Share of the memory for the row cache if there is a front table: an eighth.
const ROW_SHARE: (usize, usize) = (1, 8);
/// Share of the memory for the partition cache alone if there is a front table. The cache also uses
/// what the presence filters leave of theirs.
const PARTITION_SHARE: (usize, usize) = (1, 16);
/// Share of the memory for the presence filters if there is a front table: five sixteenths, and the
/// memory that front tables leave of theirs. By default that suffices for about 430 million rows.
/// It is allocated as rows are added.
const PRESENCE_SHARE: (usize, usize) = (5, 16);
/// Front tables of one space for which the share has memory: one takes writes, one is being
/// flushed, and a third one waits or is being sorted. The larger they are, the fewer files are
/// compacted.
const FRONT_TABLES: usize = 3;
/// The limit on all front tables together, in halves of the size at which one is flushed: three
/// tables of one space, and half a table for other spaces.
const FRONT_MOST_HALVES: usize = 7;
/// Tables of a space that may wait to be flushed, including the one that is being flushed.
const FROZEN_TABLES: usize = 1;
/// Memtables of one table, including those being flushed; when there are this many, writers wait.
const MEMTABLES_PER_TABLE_MAX: i32 = 4;
/// The part of a memtable for a filter of its keys, so that reads of absent rows skip it.
const MEMTABLE_FILTER_SHARE: f64 = 0.02;
/// The number of level-0 files of a table, which are flushed memtables, that starts a compaction.
const LEVEL0_COMPACT: i32 = 4;
/// The same with a front table and without tiers: fewer compactions of more files cost less.
const LEVEL0_COMPACT_FRONT: i32 = 8;
/// The size of a data block; history gets twice this.
const BLOCK_BYTES: usize = 8 * KIB;
/// Bits of a file's filter for each key.
const FILTER_BITS: f64 = 10.0;
/// The size of a piece of a partitioned index or filter.
const META_BLOCK_BYTES: usize = 4 * KIB;
const FORMAT_VERSION: i32 = 6;
const FILE_BYTES: u64 = 64 << 20;
const LEVEL0_SLOW_DOWN: i32 = 20;
pub(crate) const LEVEL0_STOP: i32 = 36;
/// Threads that share one compaction, unless it writes a file of level 0.
const MERGE_THREADS: u32 = 2;
/// The number of newest levels, or runs, whose files are not compressed.
const PLAIN_LEVELS: usize = 2;
const PLAIN_LEVELS_TIERS: usize = 4;
/// Threads of the whole process for compactions of everything, which take long; other compactions
/// continue beside them.
const WHOLE_MERGES: i32 = 1;
/// Bounds the replay after a crash, which takes about 20 ms per MiB. When the log exceeds it, the
/// tables with rows in the oldest part are flushed.
const LOG_BYTES_MAX: u64 = 64 << 20;
/// The log is written to disk in pieces of this size while it grows, so that a later sync has
/// little to do.
const SYNC_STEP_BYTES: u64 = MIB as u64;
/// RocksDB itself never uses a smaller limit on open files, whatever its options are.
const OPEN_FILES_MIN: u32 = 64;
const OPEN_FILES_MAX: u32 = 4_096;

/// The rate, in bytes per second, at which compacted files are removed, in pieces of 64 MiB.
/// Removing gigabytes at once blocks all writes to the file system for a second.
const REMOVED_BYTES_PER_SECOND: i64 = 512 << 20;
/// The ratio of files waiting for removal to the store above which RocksDB would remove them at
/// once; never reached.
const REMOVED_RATIO_MAX: f64 = 2.0;

/// The part that all spaces of an engine share.
pub(crate) struct Shared {
    pub(crate) cache: Cache,
    memtables: WriteBufferManager,
    pub(crate) memory_bytes: usize,
    memtable_share: usize,
    background_jobs: i32,
    open_files: i32,
    pub(crate) tuning: Tuning,
    /// The options of front tables; `None` without front tables.
    pub(crate) front: Option<FrontOptions>,
    pub(crate) front_budget: Arc<Budget>,
    /// The cache of single rows of the files, for reads through a front table.
    pub(crate) rows: Arc<RowCache>,
    /// The cache of small partitions of the files, likewise.
    pub(crate) partitions: Arc<PartitionCache>,
    pub(crate) presence: Arc<Budget>,
    /// Maintains idle front tables.
    pub(crate) watch: Arc<Watch>,
    /// Removes files, in a thread of its own.
    removal: SstFileManager,
}

/// The division of the memory; the rest is the block cache.
struct Shares {
    memtables: usize,
    front: usize,
    /// For the row cache.
    rows: usize,
    /// For the partition cache.
    partitions: usize,
    /// For the presence filters.
    presence: usize,
}

impl Shares {
    fn of(front: &FrontTable, memory_bytes: usize) -> Self {
        let of = |share: (usize, usize)| memory_bytes / share.1 * share.0;
        let most = match front {
            FrontTable::Off => {
                return Self {
                    memtables: of(MEMTABLE_SHARE),
                    front: 0,
                    rows: 0,
                    partitions: 0,
                    presence: 0,
                };
            }
            FrontTable::Share(bytes) => (bytes / 2).saturating_mul(FRONT_MOST_HALVES),
            FrontTable::With(_) => of(FRONT_SHARE),
        };
        Self {
            memtables: of(MEMTABLE_SHARE_FRONT),
            front: of(FRONT_SHARE).min(most),
            rows: of(ROW_SHARE),
            partitions: of(PARTITION_SHARE),
            presence: of(PRESENCE_SHARE) + of(FRONT_SHARE).saturating_sub(most),
        }
    }
}

/// Returns the front table's options; `share` is the memory of all front tables together.
fn front_options(front: &FrontTable, share: usize) -> Option<FrontOptions> {
    match front {
        FrontTable::Off => None,
        FrontTable::Share(bytes) => Some(FrontOptions {
            table_bytes: (share / FRONT_TABLES).min(*bytes),
            frozen_max: FROZEN_TABLES,
            ..FrontOptions::default()
        }),
        FrontTable::With(options) => Some(options.clone()),
    }
}

impl Shared {
    pub(crate) fn new(config: &RocksConfig) -> Result<Self, KvError> {
        let refuse = |detail: String| KvError::Unavailable {
            space: config.data_dir.display().to_string(),
            detail,
        };
        if config.memory_bytes < MEMORY_BYTES_MIN {
            return Err(refuse(format!(
                "memory_bytes is {}, the least is {MEMORY_BYTES_MIN}",
                config.memory_bytes
            )));
        }
        let memory_bytes = usize::try_from(config.memory_bytes)
            .map_err(|_| refuse("memory_bytes is more than this machine can address".to_owned()))?;
        let shares = Shares::of(&config.front, memory_bytes);
        // 0: the cache estimates the size of its entries itself.
        let cache_bytes =
            memory_bytes - shares.front - shares.rows - shares.partitions - shares.presence;
        let cache = Cache::new_hyper_clock_cache(cache_bytes, 0);
        let memtables = WriteBufferManager::new_write_buffer_manager_with_cache(
            shares.memtables,
            // Each table's limits delay its writers; a stall of all spaces could wait for an idle
            // one.
            false,
            cache.clone(),
        );
        let presence = Arc::new(Budget::new(shares.presence));
        let open_files = config.open_files_per_space.unwrap_or_else(open_files_limit);
        Ok(Self {
            cache,
            memtables,
            memory_bytes,
            memtable_share: shares.memtables,
            background_jobs: i32::from(config.background_jobs.max(2)),
            open_files: open_files.clamp(OPEN_FILES_MIN, OPEN_FILES_MAX) as i32,
            tuning: config.tuning.clone(),
            front: front_options(&config.front, shares.front),
            rows: Arc::new(RowCache::new(shares.rows)),
            partitions: Arc::new(PartitionCache::new(
                shares.partitions,
                Arc::clone(&presence),
            )),
            presence,
            watch: Arc::default(),
            removal: removal(),
            front_budget: Arc::new(Budget::new(
                shares.front / FRONT_TABLES * (FRONT_TABLES - 1),
            )),
        })
    }

    /// The memory of all spaces' memtables now, in bytes.
    pub(crate) fn memtable_bytes(&self) -> usize {
        self.memtables.get_usage()
    }

    /// Whether compaction is in tiers: it is for the files of a front table, while the files of
    /// RocksDB's memtables are compacted in levels.
    pub(crate) fn in_tiers(&self) -> bool {
        self.front.is_some() && self.tuning.tiers
    }

    fn memtable_size(&self) -> usize {
        (self.memtable_share / 3).min(self.tuning.memtable_bytes)
    }

    /// Returns the options of a space.
    pub(crate) fn space_options(&self, space: &str, listener: Listener) -> Options {
        let mut options = Options::default();
        options.create_missing_column_families(true);
        options.set_paranoid_checks(true);
        // The replay ends at the first bad record; the module `wal` has checked that it is a torn
        // end.
        options.set_wal_recovery_mode(DBRecoveryMode::PointInTime);
        // Checksums of whole files: the checksums of blocks do not cover all bytes.
        options.set_file_checksum_gen_factory(&FileChecksumGenFactory::crc32c());
        options.set_track_and_verify_wals_in_manifest(true);
        options.set_max_background_jobs(self.background_jobs);
        if let Ok(mut environment) = Env::new() {
            environment.set_bottom_priority_background_threads(WHOLE_MERGES);
            options.set_env(&environment);
        }
        options.set_sst_file_manager(&self.removal);
        options.set_max_subcompactions(MERGE_THREADS);
        options.set_max_open_files(self.open_files);
        options.set_max_file_opening_threads(2);
        options.set_write_buffer_manager(&self.memtables);
        options.set_max_total_wal_size(LOG_BYTES_MAX.min(self.memtable_share as u64));
        options.set_wal_bytes_per_sync(SYNC_STEP_BYTES);
        options.set_bytes_per_sync(SYNC_STEP_BYTES);
        log_to_ours(&mut options, space);
        options.set_stats_dump_period_sec(0);
        options.set_stats_persist_period_sec(0);
        options.add_event_listener(listener);
        (self.tuning.alter_space)(&mut options);
        options
    }

    /// Returns the options of a table.
    pub(crate) fn table_options(&self, table: &TableSpec) -> Options {
        let mut options = Options::default();
        options.set_write_buffer_size(self.memtable_size());
        options.set_max_write_buffer_number(MEMTABLES_PER_TABLE_MAX);
        options.set_level_compaction_dynamic_level_bytes(true);
        options.set_max_bytes_for_level_base(self.tuning.level_base_bytes);
        options.set_target_file_size_base(FILE_BYTES);
        options.set_num_levels(tiers::LEVELS as i32);
        options.set_level_zero_file_num_compaction_trigger(match self.front {
            Some(_) => LEVEL0_COMPACT_FRONT,
            None => LEVEL0_COMPACT,
        });
        options.set_level_zero_slowdown_writes_trigger(LEVEL0_SLOW_DOWN);
        options.set_level_zero_stop_writes_trigger(LEVEL0_STOP);
        if self.in_tiers() {
            tiers::set(&mut options, &self.tuning);
        }
        // The newest levels are rewritten soon.
        let mut levels = [DBCompressionType::Lz4; tiers::LEVELS];
        let plain = match self.in_tiers() {
            true => PLAIN_LEVELS_TIERS,
            false => PLAIN_LEVELS,
        };
        levels[..plain].fill(DBCompressionType::None);
        options.set_compression_per_level(&levels);
        options.set_bottommost_compression_type(if table.cold {
            DBCompressionType::Zstd
        } else {
            DBCompressionType::Lz4
        });
        if !table.point_reads {
            options.set_prefix_extractor(partition::extractor(table));
        }
        // Behind a front table nothing is written to memtables, and each of their filters would be
        // allocated at once.
        if self.front.is_none() {
            options.set_memtable_prefix_bloom_ratio(MEMTABLE_FILTER_SHARE);
            options.set_memtable_whole_key_filtering(filters_whole_keys(table));
        }
        options.set_block_based_table_factory(&self.block_options(table));
        options
    }

    fn block_options(&self, table: &TableSpec) -> BlockBasedOptions {
        let mut block = BlockBasedOptions::default();
        block.set_block_cache(&self.cache);
        // History is read sequentially, and larger blocks compress better.
        let factor = if table.cold { 2 } else { 1 };
        block.set_block_size(BLOCK_BYTES * factor);
        block.set_format_version(FORMAT_VERSION);
        block.set_checksum_type(ChecksumType::XXH3);
        block.set_bloom_filter(FILTER_BITS, false);
        block.set_whole_key_filtering(filters_whole_keys(table));
        block.set_index_type(BlockBasedIndexType::TwoLevelIndexSearch);
        block.set_partition_filters(true);
        block.set_metadata_block_size(META_BLOCK_BYTES);
        block.set_cache_index_and_filter_blocks(true);
        block.set_pin_top_level_index_and_filter(true);
        block.set_pin_l0_filter_and_index_blocks_in_cache(true);
        block.set_optimize_filters_for_memory(true);
        block
    }
}

/// Directs RocksDB's log to ours: errors always, the rest at level DEBUG. A log file for each space
/// would cost an idle one 0.3 MiB of buffers.
fn log_to_ours(options: &mut Options, space: &str) {
    let least = match tracing::enabled!(tracing::Level::DEBUG) {
        true => LogLevel::Info,
        false => LogLevel::Error,
    };
    let space = space.to_owned();
    options.set_callback_logger(least, move |level, line| match level {
        LogLevel::Error | LogLevel::Fatal => tracing::warn!(space, "RocksDB: {}", line.trim_end()),
        _ => tracing::debug!(space, "RocksDB: {}", line.trim_end()),
    });
}

/// Creates the remover of files, with a bounded rate, for all spaces.
fn removal() -> SstFileManager {
    let files = SstFileManager::new();
    files.set_delete_rate_bytes_per_second(REMOVED_BYTES_PER_SECOND);
    files.set_max_trash_db_ratio(REMOVED_RATIO_MAX);
    files
}

/// Whether a table's filters contain whole keys, besides the partition keys that they contain if
/// the table is scanned. A new row is looked up before it is written, and should be found absent
/// without a search; history is only appended.
fn filters_whole_keys(table: &TableSpec) -> bool {
    table.point_reads || !table.cold
}

/// An eighth of the number of files that the process may open.
fn open_files_limit() -> u32 {
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    u32::try_from(limit / 8).unwrap_or(u32::MAX)
}
