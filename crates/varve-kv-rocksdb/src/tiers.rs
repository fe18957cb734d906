//! Sorted runs: how the files of a front table are merged, how many a read has to look through, and when they are
//! merged further.
//!
//! Files of equal age and size are merged together ("universal" compaction), so a row is rewritten once or twice on its
//! way, however large the store is; in levels each merge rewrites all of the level below. The price is more runs for a
//! read to look through. So many are allowed while tables are flushed one after the other, and few once that is over:
//! then they are merged further, in time that nobody else needs.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rust_rocksdb::properties as property;
use rust_rocksdb::{
    DB, DBCompactionStyle, Options, UniversalCompactOptions, UniversalCompactionStopStyle,
};
use varve_kv::TableSpec;

use crate::config::Tuning;

/// Levels of a store. In a store of tiers each level below level 0 is one run.
pub(crate) const LEVELS: usize = 7;
/// When the newer runs have this many percent of the bytes of the oldest, all are merged: bounds what overwritten and
/// deleted rows take. The oldest is compressed and some of the newer are not, so this is less in rows.
const NEWER_PERCENT_MAX: i32 = 300;
/// The same while nearly all rows that come are new: never.
const NEWER_PERCENT_INSERTING: i32 = 1_000_000;
/// Neighbours are merged together when neither is larger than the other by more percent than this. RocksDB's own rule
/// compares with the sum of the newer ones; these are not compressed and the older ones are, so each merge would take
/// the older ones in again.
const LIKE_PERCENT: i32 = 100;
/// Runs above the number that are merged at which nothing more is flushed.
const WAITING_MAX: i32 = 40;
/// Two flushes within this time: the space is being loaded.
const LOADED_WITHIN: Duration = Duration::from_secs(10);
/// RocksDB's names of the number of runs that are merged, and of the options of tiers.
const RUNS: &str = "level0_file_num_compaction_trigger";
const UNIVERSAL: &str = "compaction_options_universal";

/// Has the files of a table merged in tiers.
pub(crate) fn set(options: &mut Options, tuning: &Tuning) {
    let mut universal = UniversalCompactOptions::default();
    universal.set_max_size_amplification_percent(NEWER_PERCENT_MAX);
    universal.set_stop_style(UniversalCompactionStopStyle::Similar);
    universal.set_size_ratio(LIKE_PERCENT);
    options.set_compaction_style(DBCompactionStyle::Universal);
    options.set_universal_compaction_options(&universal);
    options.set_level_compaction_dynamic_level_bytes(false);
    options.set_level_zero_file_num_compaction_trigger(tuning.runs_loading);
    // Nobody writes to RocksDB's memtables but the replay of an older log; flushes are held back here.
    let stop = tuning.runs_loading + WAITING_MAX;
    options.set_level_zero_slowdown_writes_trigger(stop);
    options.set_level_zero_stop_writes_trigger(stop);
}

/// Sorted runs of a table: files of level 0, and other levels that have any.
pub(crate) fn count(db: &DB, table: &TableSpec) -> u64 {
    let Some(family) = db.cf_handle(table.name) else {
        return 0;
    };
    let files = |level| {
        let name = property::num_files_at_level(level);
        let files = db.property_int_value_cf(family, &name);
        files.ok().flatten().unwrap_or(0)
    };
    let deeper = (1..LEVELS).filter(|level| files(*level) > 0).count();
    files(0) + deeper as u64
}

/// The most sorted runs of any table.
pub(crate) fn most(db: &DB, tables: &[TableSpec]) -> u64 {
    let runs = tables.iter().map(|table| count(db, table));
    runs.max().unwrap_or(0)
}

/// How much merging waits: from 0, when no more runs are there than may be, to 1, when nothing more may be flushed.
pub(crate) fn backlog(db: &DB, tables: &[TableSpec], tuning: &Tuning) -> f64 {
    let over = most(db, tables) as f64 - f64::from(tuning.runs_loading);
    (over / f64::from(WAITING_MAX)).max(0.0)
}

/// How far the files of a table are merged now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Mode {
    /// Tables are flushed one after the other: many runs, and no more room than usual for what was overwritten.
    Loading = 0,
    /// The same, and what comes are new rows: merging them with all others would free nothing, and is put off.
    Inserting = 1,
    /// Nothing is flushed: few runs.
    Quiet = 2,
}

/// How far the files of a space are merged.
#[derive(Debug)]
pub(crate) struct Pace {
    runs_loading: i32,
    runs_quiet: i32,
    quiet_after: Duration,
    last_flush: Mutex<Instant>,
    new_rows: AtomicBool,
    /// By table, a [`Mode`].
    modes: Vec<AtomicU8>,
}

impl Pace {
    pub(crate) fn new(tables: &[TableSpec], tuning: &Tuning) -> Self {
        let loading = |_| AtomicU8::new(Mode::Loading as u8);
        Self {
            runs_loading: tuning.runs_loading,
            runs_quiet: tuning.runs_quiet,
            quiet_after: tuning.quiet_after,
            last_flush: Mutex::new(Instant::now()),
            new_rows: AtomicBool::new(false),
            modes: tables.iter().map(loading).collect(),
        }
    }

    /// Whether what is flushed next are new rows.
    pub(crate) fn expect(&self, new_rows: bool) {
        self.new_rows.store(new_rows, Ordering::Relaxed);
    }

    /// A table was flushed. When that happens often, merging is put off.
    pub(crate) fn flushed(&self, db: &DB, tables: &[TableSpec]) {
        let now = Instant::now();
        let before = std::mem::replace(&mut *self.last_flush.lock(), now);
        if now.duration_since(before) <= LOADED_WITHIN {
            let mode = match self.new_rows.load(Ordering::Relaxed) {
                true => Mode::Inserting,
                false => Mode::Loading,
            };
            self.set(db, tables, mode, |_| true);
        }
    }

    /// Called now and then: when nothing has been flushed for a while, tables of many runs are merged further.
    pub(crate) fn settle(&self, db: &DB, tables: &[TableSpec]) {
        if self.last_flush.lock().elapsed() >= self.quiet_after {
            let few = self.runs_quiet as u64;
            self.set(db, tables, Mode::Quiet, |table| count(db, table) >= few);
        }
    }

    fn set(&self, db: &DB, tables: &[TableSpec], mode: Mode, of: impl Fn(&TableSpec) -> bool) {
        let (runs, newer) = match mode {
            Mode::Loading => (self.runs_loading, NEWER_PERCENT_MAX),
            Mode::Inserting => (self.runs_loading, NEWER_PERCENT_INSERTING),
            Mode::Quiet => (self.runs_quiet, NEWER_PERCENT_MAX),
        };
        let values = [
            runs.to_string(),
            format!("{{max_size_amplification_percent={newer};}}"),
        ];
        let options = [(RUNS, &*values[0]), (UNIVERSAL, &*values[1])];
        for (table, now) in tables.iter().zip(&self.modes) {
            if now.load(Ordering::Relaxed) == mode as u8 || !of(table) {
                continue;
            }
            // Should it fail, reads or merges cost more than they need; the next call tries again.
            let set = |family| db.set_options_cf(family, &options);
            if db
                .cf_handle(table.name)
                .map(set)
                .is_some_and(|set| set.is_ok())
            {
                now.store(mode as u8, Ordering::Relaxed);
            }
        }
    }
}
