//! Sorted runs: how the files of a front table are merged, how many a read has to look through, and
//! when they are merged further.
//!
//! Files of equal age and size are merged together ("universal" compaction), so a row is rewritten
//! once or twice on its way, however large the store is; in levels each merge rewrites all of the
//! level below. The price is more runs for a read to look through. So many are allowed while tables
//! are flushed one after the other, and few once that is over: then they are merged further, in
//! time that nobody else needs. More are allowed while new rows are loaded and hardly anything is
//! looked for in the files: what their number costs reads is weighed against what merging costs.
//!
//! **What a merge keeps in memory** is the filter and the index of the file that it writes, until
//! that is whole. In level 0 a run is one file, however large; below it a run is a level of its
//! own, of files of bounded size. RocksDB writes a merge's result into the level above the next
//! older run, and so into level 0 where that lies there. Therefore all small runs are merged at
//! once, down to the oldest file of level 0, and there are more levels than large runs. What a
//! merge beside another one, or a small flush between large ones, leaves in level 0 all the same
//! goes with everything else into the last level, once nothing is flushed.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rust_rocksdb::properties as property;
use rust_rocksdb::{
    DBCompactionStyle, Options, UniversalCompactOptions, UniversalCompactionStopStyle,
};
use varve_kv::TableSpec;

use crate::config::Tuning;
use crate::families::Db;

/// Levels of a store. In a store of tiers each level below level 0 is one run: as many as large
/// runs may be, and some for small ones, which RocksDB takes into free levels while level 0 is
/// empty.
pub(crate) const LEVELS: usize = 40;
/// When the newer runs have this many percent of the bytes of the oldest, all are merged: bounds
/// what overwritten and deleted rows take. The oldest is compressed and some of the newer are not,
/// so this is less in rows.
const NEWER_PERCENT_MAX: i32 = 300;
/// The same while nearly all rows that come are new: never.
const NEWER_PERCENT_INSERTING: i32 = 1_000_000;
/// The same where level 0 has too many rows to merge them there: always.
const NEWER_PERCENT_LEVEL0: i32 = 1;
/// Neighbours are merged together when neither is larger than the other by more percent than this.
/// RocksDB's own rule compares with the sum of the newer ones; these are not compressed and the
/// older ones are, so each merge would take the older ones in again.
const LIKE_PERCENT: i32 = 300;
/// Runs above the number that are merged at which nothing more is flushed. While 64 are merged some
/// 40 come.
const WAITING_MAX: i32 = 96;
/// Runs that are merged at once, at most: all small ones, also those that came while others were
/// merged. Merging everything takes all runs whatever their number.
const MERGED_MAX: i32 = 192;
/// A run with so many times the rows that a flush brings its table was merged, and is large: it is
/// not counted among those that are to be merged next.
const LARGE_FROM: u64 = 8;
/// What a flush usually brings falls by one part in so many with each that brings less.
const USUAL_PART: u64 = 16;
/// Large runs of a table that are left as they are while it is written to: fewer than this. So many
/// are merged with each other.
const LARGE_MAX: i32 = 32;
/// Runs at which RocksDB would hold back writers, and flushes for a checkpoint or an end: none.
/// Nobody writes to its memtables but the replay of an older log, and flushes are held back here.
const STOP_NEVER: i32 = 10_000;
/// Looks into the files for each row that is flushed, at which one run more costs reads what
/// merging one row less saves: a look asks a run's filter, whose block is often not cached (3 to 5
/// µs), and merging a row takes 0.4 to 0.55 µs.
const LOOKS_A_ROW: f64 = 1.0 / 8.0;
/// Looks that a scan counts for: it opens every run that its partition's filter does not leave out.
pub(crate) const LOOKS_A_SCAN: u64 = 4;
/// How much of what was seen at earlier flushes counts beside the last one.
const EARLIER_SHARE: f64 = 0.5;
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
    universal.set_max_merge_width(MERGED_MAX);
    options.set_compaction_style(DBCompactionStyle::Universal);
    options.set_universal_compaction_options(&universal);
    options.set_level_compaction_dynamic_level_bytes(false);
    options.set_level_zero_file_num_compaction_trigger(tuning.runs_loading);
    options.set_level_zero_slowdown_writes_trigger(STOP_NEVER);
    options.set_level_zero_stop_writes_trigger(STOP_NEVER);
}

/// Sorted runs of a table: files of level 0, and other levels that have any.
pub(crate) fn count(db: &Db, table: &TableSpec) -> u64 {
    let Some(family) = db.cf_handle(table.name) else {
        return 0;
    };
    let levels = db.property_value_cf(&family, property::LEVELSTATS);
    runs_of(&levels.ok().flatten().unwrap_or_default())
}

/// Sorted runs by RocksDB's table of the levels: a line for each with its number, its files and
/// their size.
fn runs_of(levels: &str) -> u64 {
    let runs = levels.lines().filter_map(|line| {
        let mut numbers = line.split_whitespace().map(str::parse::<u64>);
        match (numbers.next()?.ok()?, numbers.next()?.ok()?) {
            (0, files) => Some(files),
            (_, files) => Some(files.min(1)),
        }
    });
    runs.sum()
}

/// The most sorted runs of any table.
pub(crate) fn most(db: &Db, tables: &[TableSpec]) -> u64 {
    let runs = tables.iter().map(|table| count(db, table));
    runs.max().unwrap_or(0)
}

/// Rows of a table's files of level 0.
fn level0_rows(db: &Db, table: &TableSpec) -> u64 {
    // Should the files not be told, they are merged as others are.
    let files = db.live_files().unwrap_or_default();
    let own = files
        .iter()
        .filter(|file| file.level == 0 && file.column_family_name == table.name);
    own.map(|file| file.num_entries).sum()
}

/// The runs of each table that have [`LARGE_FROM`] times so many rows.
fn large(db: &Db, tables: &[TableSpec], rows: &[u64]) -> Vec<i32> {
    // Should they not be told, the rule is that of a store that has none.
    let files = db.live_files().unwrap_or_default();
    let of = |(table, rows): (&TableSpec, &u64)| {
        let least = rows.saturating_mul(LARGE_FROM).max(1);
        let mut levels = [0_u64; LEVELS];
        let mut large = 0;
        let own = files
            .iter()
            .filter(|file| file.column_family_name == table.name);
        for file in own {
            match usize::try_from(file.level) {
                Ok(0) => large += i32::from(file.num_entries >= least),
                Ok(level) if level < LEVELS => levels[level] += file.num_entries,
                _ => (),
            }
        }
        large + levels.iter().filter(|in_level| **in_level >= least).count() as i32
    };
    tables.iter().zip(rows).map(of).collect()
}

/// What is seen after a flush.
struct Seen<'a> {
    at: Instant,
    /// Rows that were flushed.
    rows: u64,
    /// The most runs that a table has.
    runs: i32,
    /// By table: runs that are large.
    large: &'a [i32],
}

/// Looks into the files that readers have taken.
#[derive(Debug, Default)]
pub(crate) struct Looks {
    all: AtomicU64,
    /// At the last flush.
    before: AtomicU64,
}

impl Looks {
    pub(crate) fn add(&self, count: u64) {
        self.all.fetch_add(count, Ordering::Relaxed);
    }

    /// All of them so far.
    pub(crate) fn all(&self) -> u64 {
        self.all.load(Ordering::Relaxed)
    }

    /// Those since this was last asked.
    fn take(&self) -> u64 {
        let all = self.all();
        all - self.before.swap(all, Ordering::Relaxed)
    }
}

/// How far the files of a table are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Rule {
    /// Sorted runs at which some are merged.
    runs: i32,
    /// See [`NEWER_PERCENT_MAX`].
    newer_percent: i32,
}

/// How far the files of a space are merged.
#[derive(Debug)]
pub(crate) struct Pace {
    runs_loading: i32,
    runs_inserting: i32,
    runs_quiet: i32,
    level0_rows_max: u64,
    quiet_after: Duration,
    last_flush: Mutex<Instant>,
    new_rows: AtomicBool,
    pub(crate) looks: Looks,
    looks_a_row: Mutex<f64>,
    /// By table: see [`Pace::usual`].
    usual_rows: Mutex<Vec<u64>>,
    /// Runs above which writers are held back more and more.
    runs_most: AtomicI32,
    /// By table.
    rules: Mutex<Vec<Rule>>,
}

impl Pace {
    pub(crate) fn new(tables: &[TableSpec], tuning: &Tuning) -> Self {
        let loading = Rule {
            runs: tuning.runs_loading,
            newer_percent: NEWER_PERCENT_MAX,
        };
        Self {
            runs_loading: tuning.runs_loading,
            runs_inserting: tuning.runs_inserting.max(tuning.runs_loading),
            runs_quiet: tuning.runs_quiet,
            level0_rows_max: tuning.level0_rows_max,
            quiet_after: tuning.quiet_after,
            last_flush: Mutex::new(Instant::now()),
            new_rows: AtomicBool::new(false),
            looks: Looks::default(),
            looks_a_row: Mutex::new(0.0),
            usual_rows: Mutex::new(vec![0; tables.len()]),
            // A store that was loaded just before may have as many.
            runs_most: AtomicI32::new(tuning.runs_inserting.max(tuning.runs_loading)),
            rules: Mutex::new(vec![loading; tables.len()]),
        }
    }

    /// Whether what is flushed next are new rows.
    pub(crate) fn expect(&self, new_rows: bool) {
        self.new_rows.store(new_rows, Ordering::Relaxed);
    }

    /// How much merging waits: from 0, when no more runs are there than may be, to 1, when nothing
    /// more may be flushed.
    pub(crate) fn backlog(&self, db: &Db, tables: &[TableSpec]) -> f64 {
        let may_be = self.runs_most.load(Ordering::Relaxed);
        let over = most(db, tables) as f64 - f64::from(may_be);
        (over / f64::from(WAITING_MAX)).max(0.0)
    }

    /// So many rows, by table, were flushed. When that happens often, merging is put off.
    pub(crate) fn flushed(&self, db: &Db, tables: &[TableSpec], rows: &[u64]) {
        let runs = i32::try_from(most(db, tables)).unwrap_or(i32::MAX);
        let large = large(db, tables, &self.usual(rows));
        let seen = Seen {
            at: Instant::now(),
            rows: rows.iter().sum(),
            runs,
            large: &large,
        };
        self.after_flush(&seen, tables, set_in(db));
    }

    /// The rows that a flush usually brings each table, when the last one brought so many: a small
    /// one now and then, for want of memory elsewhere, makes no run large.
    fn usual(&self, rows: &[u64]) -> Vec<u64> {
        let mut usual = self.usual_rows.lock();
        usual.resize(rows.len(), 0);
        for (usual, now) in usual.iter_mut().zip(rows) {
            *usual = (*now).max(*usual - *usual / USUAL_PART);
        }
        usual.clone()
    }

    /// The same with what was seen, and with what changes the options of a table.
    ///
    /// RocksDB merges when there are as many runs as its rule says, whatever their sizes. Were
    /// large runs counted like others, a few small ones would be merged as soon as they come, two
    /// or three at a time, and once none of those is left all the large ones at once: minutes of
    /// one thread, with new runs coming all the while.
    fn after_flush(
        &self,
        seen: &Seen<'_>,
        tables: &[TableSpec],
        set: impl Fn(&TableSpec, &Changes<'_>) -> bool,
    ) {
        let before = std::mem::replace(&mut *self.last_flush.lock(), seen.at);
        let new_rows = self.new_rows.load(Ordering::Relaxed);
        let worth = self.worth(seen.rows, new_rows);
        let large = |table: usize| seen.large.get(table).copied().unwrap_or(0);
        let wanted = |table: usize| Rule {
            // What is being merged does not count for RocksDB: while so many large ones are, small
            // ones go on.
            runs: match large(table) {
                many if many >= LARGE_MAX => many,
                few => worth + few,
            },
            newer_percent: match new_rows {
                true => NEWER_PERCENT_INSERTING,
                false => NEWER_PERCENT_MAX,
            },
        };
        // More runs are left only where flushes follow each other.
        let loading = seen.at.duration_since(before) <= LOADED_WITHIN;
        let any = |wanted: &Rule, now: &Rule, _: &TableSpec| loading || wanted.runs < now.runs;
        self.set(tables, wanted, any, set);
        // Runs that were allowed before are merged down to what is allowed now, beside writers that
        // go on. It is never less than what makes RocksDB merge: else writers would be held back,
        // or stopped, for merges that do not come.
        let may_be = self.runs_most.load(Ordering::Relaxed).min(seen.runs);
        let may_be = may_be.max(self.runs_loading).max(self.in_force());
        self.runs_most.store(may_be, Ordering::Relaxed);
    }

    /// The most runs that some table's rule leaves.
    fn in_force(&self) -> i32 {
        let rules = self.rules.lock();
        rules.iter().map(|rule| rule.runs).max().unwrap_or(0)
    }

    /// How many runs are worth what they cost reads: `runs_loading`, or that doubled and doubled
    /// again up to `runs_inserting` while new rows come and the files are hardly read.
    fn worth(&self, rows: u64, new_rows: bool) -> i32 {
        let looks = self.looks.take() as f64 / rows.max(1) as f64;
        let mut seen = self.looks_a_row.lock();
        *seen = *seen * EARLIER_SHARE + looks * (1.0 - EARLIER_SHARE);
        let mut runs = self.runs_loading;
        if new_rows {
            let worth = f64::from(runs) + LOOKS_A_ROW / *seen;
            while runs < self.runs_inserting && f64::from(runs) * 2.0 <= worth {
                runs = (runs * 2).min(self.runs_inserting);
            }
        }
        runs
    }

    /// Called now and then: when nothing has been flushed for a while, tables of many runs are
    /// merged further.
    pub(crate) fn settle(&self, db: &Db, tables: &[TableSpec]) {
        if self.last_flush.lock().elapsed() >= self.quiet_after {
            let many = |table: &TableSpec| count(db, table) >= self.runs_quiet as u64;
            let rule = |index: usize| Rule {
                runs: self.runs_quiet,
                newer_percent: match tables.get(index) {
                    Some(table) if many(table) && level0_rows(db, table) > self.level0_rows_max => {
                        NEWER_PERCENT_LEVEL0
                    }
                    _ => NEWER_PERCENT_MAX,
                },
            };
            let of = |_: &Rule, _: &Rule, table: &TableSpec| many(table);
            self.set(tables, rule, of, set_in(db));
        }
    }

    fn set(
        &self,
        tables: &[TableSpec],
        rule: impl Fn(usize) -> Rule,
        of: impl Fn(&Rule, &Rule, &TableSpec) -> bool,
        set: impl Fn(&TableSpec, &Changes<'_>) -> bool,
    ) {
        let rules = &mut *self.rules.lock();
        for (index, (table, now)) in tables.iter().zip(rules).enumerate() {
            let rule = rule(index);
            if *now == rule || !of(&rule, now, table) {
                continue;
            }
            let values = [
                rule.runs.to_string(),
                format!("{{max_size_amplification_percent={};}}", rule.newer_percent),
            ];
            // Should it fail, reads or merges cost more than they need; the next call tries again.
            if set(table, &[(RUNS, &*values[0]), (UNIVERSAL, &*values[1])]) {
                *now = rule;
            }
        }
    }
}

/// Options of a table by name, and their new values.
type Changes<'a> = [(&'a str, &'a str); 2];

/// Changes options of tables of a database, and says whether that was done.
fn set_in(db: &Db) -> impl Fn(&TableSpec, &Changes<'_>) -> bool {
    |table, options| {
        let family = db.cf_handle(table.name);
        family.is_some_and(|family| db.set_options_cf(&family, options).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: u64 = 1_000_000;

    fn pace() -> Pace {
        let tuning = Tuning {
            runs_loading: 32,
            runs_inserting: 192,
            ..Tuning::default()
        };
        Pace::new(&[], &tuning)
    }

    /// What is allowed after some flushes with so many looks before each.
    fn worth(pace: &Pace, looks: u64, new_rows: bool) -> i32 {
        let flushes = (0..20).map(|_| {
            pace.looks.add(looks);
            pace.worth(ROWS, new_rows)
        });
        flushes.last().unwrap_or_default()
    }

    #[test]
    fn as_many_runs_as_reads_do_not_pay_for() {
        let pace = pace();
        assert_eq!(worth(&pace, 0, true), 192);
        assert_eq!(worth(&pace, 0, false), 32, "rows that come again");
        // So many more are worth it as `LOOKS_A_ROW`, an eighth, is divided by the looks a row:
        // where 1 row in 768 is looked for 768 / 8 = 96, which with 32 makes 128; where 1 in 667
        // is, 83 and so 115, which is short of doubling 32 twice.
        assert_eq!(worth(&pace, ROWS / 768 - 1, true), 128);
        assert_eq!(worth(&pace, ROWS / 768 + 200, true), 64);
        assert_eq!(worth(&pace, ROWS / 100, true), 32);
        assert_eq!(worth(&pace, 100 * ROWS, true), 32);
        assert_eq!(worth(&pace, 0, true), 192, "nothing is read any more");
    }

    static TABLES: &[TableSpec] = &[TableSpec {
        name: "rows",
        partition_len: |_| Some(8),
        point_reads: true,
        probed: None,
        cold: false,
    }];

    fn seen(at: Instant, runs: i32) -> Seen<'static> {
        Seen {
            at,
            rows: ROWS,
            runs,
            large: &[0],
        }
    }

    /// A space that is being loaded: 128 runs may stand.
    fn loaded(at: Instant) -> Pace {
        let tuning = Tuning {
            runs_loading: 32,
            runs_inserting: 128,
            ..Tuning::default()
        };
        let pace = Pace::new(TABLES, &tuning);
        pace.expect(true);
        pace.after_flush(&seen(at, 60), TABLES, |_, _| true);
        pace
    }

    #[test]
    fn writers_are_never_held_for_merges_that_do_not_come() {
        let at = Instant::now();
        let held_from = |pace: &Pace| pace.runs_most.load(Ordering::Relaxed);
        for new_rows in [false, true] {
            for gap in [1, 15, 600] {
                for succeeds in [true, false] {
                    let pace = loaded(at);
                    assert_eq!((pace.in_force(), held_from(&pace)), (128, 128));
                    pace.expect(new_rows);
                    for flush in 1..20 {
                        pace.looks.add(ROWS);
                        let now = at + Duration::from_secs(gap * flush);
                        let set = |_: &TableSpec, _: &Changes<'_>| succeeds;
                        pace.after_flush(&seen(now, 60), TABLES, set);
                        assert!(held_from(&pace) >= pace.in_force());
                    }
                    // With 60 runs there, 60 may be, and more than 32 are merged; or it could not
                    // be said to RocksDB.
                    let expected = if succeeds { (32, 60) } else { (128, 128) };
                    assert_eq!((pace.in_force(), held_from(&pace)), expected);
                }
            }
        }
    }

    #[test]
    fn more_runs_are_left_only_where_flushes_follow_each_other() {
        let at = Instant::now();
        let tuning = Tuning {
            runs_loading: 32,
            runs_inserting: 128,
            ..Tuning::default()
        };
        let pace = Pace::new(TABLES, &tuning);
        pace.expect(true);
        let flush = |seconds| {
            let now = at + Duration::from_secs(seconds);
            pace.after_flush(&seen(now, 3), TABLES, |_, _| true);
            (pace.in_force(), pace.runs_most.load(Ordering::Relaxed))
        };
        assert_eq!(flush(3_600), (32, 32));
        assert_eq!(flush(7_200), (32, 32));
        assert_eq!(flush(7_201), (128, 128));
    }

    #[test]
    fn a_small_flush_makes_no_run_large() {
        let pace = pace();
        assert_eq!(pace.usual(&[ROWS, 10]), [ROWS, 10]);
        assert_eq!(pace.usual(&[5, 200]), [ROWS - ROWS / 16, 200]);
        for _ in 0..200 {
            pace.usual(&[100, 100]);
        }
        assert_eq!(pace.usual(&[100, 100]), [100, 100]);
    }

    #[test]
    fn large_runs_stay_beside_those_that_are_merged_next() {
        let at = Instant::now();
        let pace = loaded(at);
        let after = |seconds: u64, looks: u64, large: i32| {
            for flush in 0..20 {
                pace.looks.add(looks);
                let seen = Seen {
                    large: &[large],
                    ..seen(at + Duration::from_secs(seconds + flush), 100)
                };
                pace.after_flush(&seen, TABLES, |_, _| true);
            }
            pace.in_force()
        };
        assert_eq!(after(1, 0, 12), 140);
        assert_eq!(after(30, ROWS, 0), 32);
        assert_eq!(after(60, ROWS, 12), 44);
        assert_eq!(after(90, ROWS, 31), 63);
        assert_eq!(after(120, ROWS, 32), 32, "they are merged, too");
        assert_eq!(after(150, ROWS, 40), 40);
        assert_eq!(after(180, ROWS, 1), 33);
    }

    #[test]
    fn a_level_below_the_first_is_one_run() {
        let levels = "Level Files Size(MB)\n--------------------\n  0       12       99\n  1        0        0\n  2       65     4001\n 39        1        1\n";
        assert_eq!(runs_of(levels), 14);
        assert_eq!(runs_of(""), 0);
    }

    #[test]
    fn one_flush_without_reads_does_not_change_much() {
        let pace = pace();
        assert_eq!(worth(&pace, ROWS, true), 32);
        assert_eq!(pace.worth(ROWS, true), 32);
        assert_eq!(pace.worth(ROWS, true), 32);
    }

    #[test]
    fn a_table_without_rows_divides_by_nothing() {
        let pace = pace();
        assert_eq!(pace.worth(0, true), 192);
        pace.looks.add(5);
        assert_eq!(pace.worth(0, true), 32);
    }
}
