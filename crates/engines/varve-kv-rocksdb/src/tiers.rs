//! Compaction in tiers: how many sorted runs a table may have, and when they are merged.
//!
//! Files of similar age and size are merged together ("universal" compaction), so a row is
//! rewritten once or twice, however large the store is; with levelled compaction each merge
//! rewrites all of the level below. The price is more runs for a read to search. So the limit on
//! runs is high while flushes follow each other, and low once the table is quiet: then compaction
//! continues, in idle time. The limit is higher still while new rows are loaded and reads rarely
//! search the files: the cost of more runs for reads is weighed against the cost of compaction.
//!
//! **The memory of a compaction** holds the filter and the index of the file that it writes, until
//! that file is complete. In level 0 a run is one file, however large; below level 0 a run is a
//! whole level, of files of bounded size. RocksDB writes the output of a compaction into the level
//! above the next older run. If that run is in level 0, so is the output. Therefore a compaction
//! takes all small runs down to the oldest file of level 0, and there are more levels than large
//! runs. Some large files may remain in level 0, after two compactions at once or a small flush
//! between large ones; a compaction of everything moves them to the last level once the table is
//! quiet.

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

/// Levels of a store. Each level below level 0 is one run. So there must be a level for each large
/// run, and some for small runs, which RocksDB moves into free levels while level 0 is empty.
pub(crate) const LEVELS: usize = 40;
/// When the newer runs reach this percentage of the bytes of the oldest, all runs are merged. It
/// bounds the space of overwritten and deleted rows. The oldest run is compressed and some newer
/// ones are not, so the percentage of rows is lower.
const NEWER_PERCENT_MAX: i32 = 300;
/// [`NEWER_PERCENT_MAX`] while nearly all written rows are new: in effect never.
const NEWER_PERCENT_INSERTING: i32 = 1_000_000;
/// [`NEWER_PERCENT_MAX`] if level 0 has too many rows for one file: in effect always.
const NEWER_PERCENT_LEVEL0: i32 = 1;
/// Adjacent runs are merged if neither is larger than the other by more than this percentage.
/// RocksDB's default compares a run with the sum of the newer ones. These are not compressed and
/// older runs are, so each compaction would include the older runs again.
const LIKE_PERCENT: i32 = 300;
/// Flushes stop when this many runs exceed the number that starts a compaction. While 64 runs are
/// merged, about 40 new ones arrive.
const WAITING_MAX: i32 = 96;
/// The most runs of one compaction: enough for all small runs, including those that arrived during
/// the previous compaction. A compaction of everything has no such limit.
const MERGED_MAX: i32 = 192;
/// A run is large if it has this many times the rows of the table's usual flush: it is the output
/// of a compaction. Large runs do not count towards the next one.
const LARGE_FROM: u64 = 8;
/// The usual size of a flush decreases by this fraction (1 / 16) with each smaller flush.
const USUAL_PART: u64 = 16;
/// When a table has this many large runs, they are merged with each other, even while it is
/// written.
const LARGE_MAX: i32 = 32;
/// The number of runs at which RocksDB itself delays writers, and delays flushes for a checkpoint
/// or a shutdown. It is never reached. Only the replay of an older log writes to its memtables, and
/// this module delays the flushes of the front table.
const STOP_NEVER: i32 = 10_000;
/// Look-ups in the files for each flushed row at which the cost of one more run for reads equals
/// the saving in compaction. A look-up checks the filter of a run, whose block is often not cached
/// (3 to 5 µs); merging a row takes 0.4 to 0.55 µs.
const LOOKS_A_ROW: f64 = 1.0 / 8.0;
/// A scan counts as this many look-ups: it opens every run that the filter of partitions does not
/// exclude.
pub(crate) const LOOKS_A_SCAN: u64 = 4;
/// The weight of earlier flushes in the moving average of look-ups.
const EARLIER_SHARE: f64 = 0.5;
/// If two flushes follow within this time, the space is being loaded.
const LOADED_WITHIN: Duration = Duration::from_secs(10);
/// RocksDB's names of two options: the number of runs that starts a compaction, and the options of
/// universal compaction.
const RUNS: &str = "level0_file_num_compaction_trigger";
const UNIVERSAL: &str = "compaction_options_universal";

/// Sets a table's options to compaction in tiers.
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

/// Sorted runs of a table: the files of level 0, and every other level that has files.
pub(crate) fn count(db: &Db, table: &TableSpec) -> u64 {
    let Some(family) = db.cf_handle(table.name) else {
        return 0;
    };
    let levels = db.property_value_cf(&family, property::LEVELSTATS);
    runs_of(&levels.ok().flatten().unwrap_or_default())
}

/// Counts sorted runs in RocksDB's text of level statistics: a line for each level, with its
/// number, its files and their size.
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
    // If RocksDB cannot report the files, level 0 counts as empty.
    let files = db.live_files().unwrap_or_default();
    let own = files
        .iter()
        .filter(|file| file.level == 0 && file.column_family_name == table.name);
    own.map(|file| file.num_entries).sum()
}

/// The runs of each table that have [`LARGE_FROM`] times so many rows.
fn large(db: &Db, tables: &[TableSpec], rows: &[u64]) -> Vec<i32> {
    // If RocksDB cannot report the files, no run counts as large.
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

/// The state of a space after a flush.
struct Seen<'a> {
    at: Instant,
    /// Rows that were flushed.
    rows: u64,
    /// The runs of the table that has the most.
    runs: i32,
    /// For each table, the number of large runs.
    large: &'a [i32],
}

/// Counts the look-ups of readers in the files.
#[derive(Debug, Default)]
pub(crate) struct Looks {
    all: AtomicU64,
    /// The count at the last flush.
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

    /// The look-ups since the last call.
    fn take(&self) -> u64 {
        let all = self.all();
        all - self.before.swap(all, Ordering::Relaxed)
    }
}

/// When the runs of a table are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Rule {
    /// The number of sorted runs that starts a compaction.
    runs: i32,
    /// See [`NEWER_PERCENT_MAX`].
    newer_percent: i32,
}

/// Decides how many runs the tables of a space may have, and how much writers are delayed.
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
    /// For each table: see [`Pace::usual`].
    usual_rows: Mutex<Vec<u64>>,
    /// The number of runs above which writers are delayed, the longer the more there are.
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
            // A store that was loaded just before the start may have this many.
            runs_most: AtomicI32::new(tuning.runs_inserting.max(tuning.runs_loading)),
            rules: Mutex::new(vec![loading; tables.len()]),
        }
    }

    /// Sets whether the rows of the next flushes are new rows.
    pub(crate) fn expect(&self, new_rows: bool) {
        self.new_rows.store(new_rows, Ordering::Relaxed);
    }

    /// How far compaction is behind: 0 up to the allowed number of runs, 1 when nothing more may be
    /// flushed.
    pub(crate) fn backlog(&self, db: &Db, tables: &[TableSpec]) -> f64 {
        let may_be = self.runs_most.load(Ordering::Relaxed);
        let over = most(db, tables) as f64 - f64::from(may_be);
        (over / f64::from(WAITING_MAX)).max(0.0)
    }

    /// Call after a flush; `rows` is the number of flushed rows for each table. Frequent flushes
    /// raise the number of runs that starts a compaction.
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

    /// The usual number of rows of a flush for each table, updated by the last flush. It decreases
    /// slowly, so that an occasional small flush, forced by a shortage of memory, makes no run
    /// count as large.
    fn usual(&self, rows: &[u64]) -> Vec<u64> {
        let mut usual = self.usual_rows.lock();
        usual.resize(rows.len(), 0);
        for (usual, now) in usual.iter_mut().zip(rows) {
            *usual = (*now).max(*usual - *usual / USUAL_PART);
        }
        usual.clone()
    }

    /// [`Pace::flushed`], given the state after the flush and a function that sets a table's
    /// options.
    ///
    /// RocksDB starts a compaction at a number of runs, whatever their sizes. If large runs
    /// counted, small ones would be merged as soon as they arrive, two or three at a time; once
    /// none is left, all large ones would be merged at once, which keeps one thread busy for
    /// minutes while new runs arrive.
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
            // RocksDB does not count runs that are being merged. So while it merges many large
            // runs, it still merges small ones.
            runs: match large(table) {
                many if many >= LARGE_MAX => many,
                few => worth + few,
            },
            newer_percent: match new_rows {
                true => NEWER_PERCENT_INSERTING,
                false => NEWER_PERCENT_MAX,
            },
        };
        // The number rises only while flushes follow each other.
        let loading = seen.at.duration_since(before) <= LOADED_WITHIN;
        let any = |wanted: &Rule, now: &Rule, _: &TableSpec| loading || wanted.runs < now.runs;
        self.set(tables, wanted, any, set);
        // If fewer runs are allowed than before, compaction reduces them while writes go on. The
        // limit is never below the number that starts a compaction in RocksDB: otherwise writers
        // would wait for compactions that never start.
        let may_be = self.runs_most.load(Ordering::Relaxed).min(seen.runs);
        let may_be = may_be.max(self.runs_loading).max(self.in_force());
        self.runs_most.store(may_be, Ordering::Relaxed);
    }

    /// The highest number of runs in the tables' rules.
    fn in_force(&self) -> i32 {
        let rules = self.rules.lock();
        rules.iter().map(|rule| rule.runs).max().unwrap_or(0)
    }

    /// The number of runs whose cost for reads is worth the saving in compaction: `runs_loading`,
    /// doubled repeatedly up to `runs_inserting` while new rows are loaded and the files are rarely
    /// read.
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

    /// Called periodically. When nothing has been flushed for `quiet_after`, tables with many runs
    /// are compacted further.
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
            // If it fails, reads or compactions cost more than necessary; the next call tries
            // again.
            if set(table, &[(RUNS, &*values[0]), (UNIVERSAL, &*values[1])]) {
                *now = rule;
            }
        }
    }
}

/// Options of a table by name, and their new values.
type Changes<'a> = [(&'a str, &'a str); 2];

/// A function that changes options of a table of the database and returns whether it succeeded.
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

    /// The allowed number of runs after 20 flushes, with `looks` look-ups before each.
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
        // The worthwhile number of further runs is `LOOKS_A_ROW`, an eighth, divided by the
        // look-ups a row. With one look-up in 768 rows it is 768 / 8 = 96, and 32 + 96 = 128. With
        // one in about 667 rows it is 83, and 32 + 83 = 115 is less than 32 doubled twice.
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
        summarize: None,
    }];

    fn seen(at: Instant, runs: i32) -> Seen<'static> {
        Seen {
            at,
            rows: ROWS,
            runs,
            large: &[0],
        }
    }

    /// A space that is being loaded, with a limit of 128 runs.
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
                    // There are 60 runs, so 60 are allowed, and a compaction starts at 32; unless
                    // RocksDB did not accept the options.
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
