//! Figures of a space for metrics.

use rust_rocksdb::properties as property;
use rust_rocksdb::properties::PropName;
use varve_kv::{Statistic, TableSpec};

use crate::families::Db;
use crate::health::Events;
use crate::options::Shared;
use crate::tiers::{self, Looks};

fn statistic(name: &'static str, help: &'static str, value: f64) -> Statistic {
    Statistic { name, help, value }
}

/// The sum of a property over all tables. A table without a value counts as 0.
pub(crate) fn sum(db: &Db, tables: &[TableSpec], name: &PropName) -> u64 {
    let of = |table: &TableSpec| {
        let family = db.cf_handle(table.name)?;
        db.property_int_value_cf(&family, name).ok().flatten()
    };
    tables.iter().filter_map(of).sum()
}

/// Bytes of the memtables of a space.
pub(crate) fn memtable_bytes(db: &Db, tables: &[TableSpec]) -> u64 {
    sum(db, tables, property::SIZE_ALL_MEM_TABLES)
}

pub(crate) fn collect(
    db: &Db,
    tables: &[TableSpec],
    shared: &Shared,
    looks: &Looks,
    events: &Events,
) -> Vec<Statistic> {
    let mut all = memory(db, tables, shared);
    all.extend(files(db, tables, looks));
    all.extend(work(db, events));
    all
}

/// Memory of this space and of all spaces.
fn memory(db: &Db, tables: &[TableSpec], shared: &Shared) -> Vec<Statistic> {
    vec![
        statistic(
            "block_cache_bytes",
            "Bytes in the block cache, which all spaces share: blocks, indexes, filters and charged memtables.",
            shared.cache.get_usage() as f64,
        ),
        statistic(
            "block_cache_pinned_bytes",
            "Part of block_cache_bytes that is in use and cannot be evicted.",
            shared.cache.get_pinned_usage() as f64,
        ),
        statistic(
            "memory_limit_bytes",
            "The configured memory for the block cache and the memtables of all spaces.",
            shared.memory_bytes as f64,
        ),
        statistic(
            "all_memtables_bytes",
            "Bytes of the memtables of all spaces.",
            shared.memtable_bytes() as f64,
        ),
        statistic(
            "memtable_bytes",
            "Bytes of the memtables of this space.",
            memtable_bytes(db, tables) as f64,
        ),
        statistic(
            "table_reader_bytes",
            "Bytes of memory for open sorted files, outside the block cache.",
            of_tables(db, tables, property::ESTIMATE_TABLE_READERS_MEM),
        ),
    ]
}

/// Rows, sorted files and logs, and pending compaction.
fn files(db: &Db, tables: &[TableSpec], looks: &Looks) -> Vec<Statistic> {
    let wal_bytes: u64 = db
        .get_sorted_wal_files()
        .map(|files| files.iter().map(|file| file.size_file_bytes()).sum())
        .unwrap_or_default();
    vec![
        statistic(
            "estimated_rows",
            "Estimated number of rows; overwritten and deleted ones may count until they are compacted.",
            of_tables(db, tables, property::ESTIMATE_NUM_KEYS),
        ),
        statistic(
            "sst_bytes",
            "Bytes of the sorted files in use.",
            of_tables(db, tables, property::LIVE_SST_FILES_SIZE),
        ),
        statistic(
            "wal_bytes",
            "Bytes of the engine's logs that a restart would replay.",
            wal_bytes as f64,
        ),
        statistic(
            "pending_compaction_bytes",
            "Estimated bytes that compactions still have to rewrite.",
            of_tables(db, tables, property::ESTIMATE_PENDING_COMPACTION_BYTES),
        ),
        statistic(
            "sorted_runs",
            "Sorted runs that a read may have to search, in the table that has the most.",
            tiers::most(db, tables) as f64,
        ),
        statistic(
            "file_looks_total",
            "Rows searched in the sorted files; each scan of the files counts as four.",
            looks.all() as f64,
        ),
    ]
}

/// Background work, and the delays of writers.
fn work(db: &Db, events: &Events) -> Vec<Statistic> {
    vec![
        statistic(
            "running_compactions",
            "Running compactions.",
            of_space(db, property::NUM_RUNNING_COMPACTIONS),
        ),
        statistic(
            "running_flushes",
            "Running flushes.",
            of_space(db, property::NUM_RUNNING_FLUSHES),
        ),
        statistic(
            "write_stopped",
            "1 while writers are stopped, otherwise 0.",
            of_space(db, property::IS_WRITE_STOPPED),
        ),
        statistic(
            "delayed_write_rate_bytes_per_second",
            "The rate to which writers are slowed down; 0 if they are not.",
            of_space(db, property::ACTUAL_DELAYED_WRITE_RATE),
        ),
        statistic(
            "write_slow_downs_total",
            "How often a table began to slow down its writers.",
            events.slow_downs() as f64,
        ),
        statistic(
            "write_stops_total",
            "How often a table began to stop its writers.",
            events.stops() as f64,
        ),
        statistic(
            "background_errors_total",
            "Errors that stopped a flush, a compaction or a write.",
            events.background_errors() as f64,
        ),
        statistic(
            "open_snapshots",
            "Open snapshots.",
            of_space(db, property::NUM_SNAPSHOTS),
        ),
    ]
}

fn of_tables(db: &Db, tables: &[TableSpec], name: &PropName) -> f64 {
    sum(db, tables, name) as f64
}

fn of_space(db: &Db, name: &PropName) -> f64 {
    let value = db.property_int_value(name).ok().flatten();
    value.unwrap_or_default() as f64
}
