//! Compaction in tiers: a store can change between tiers and levels, and a quiet store is compacted
//! to few runs.

#![allow(clippy::unwrap_used, reason = "a failed call is a failed test")]

use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rust_rocksdb::{LogLevel, Options};
use varve_kv::{Batch, ClusteringRange, Durability, Engine, ReaderExt, Space};
use varve_kv_front::FrontOptions;
use varve_kv_rocksdb::{FrontTable, MEMORY_BYTES_MIN, RocksConfig, RocksEngine, Tuning};
use varve_testkit::Random;
use varve_testkit::engine_suite::tables::{NAMED, POINTS, TABLES, named, point, rows};

const ROWS: u64 = 4_000;

fn open(dir: &Path, front: FrontTable, tuning: Tuning) -> Arc<dyn Space> {
    let config = RocksConfig {
        memory_bytes: MEMORY_BYTES_MIN,
        front,
        tuning,
        ..RocksConfig::new(dir)
    };
    RocksEngine::open(&config)
        .unwrap()
        .open("s", TABLES, true)
        .unwrap()
}

fn tiny() -> FrontTable {
    FrontTable::With(FrontOptions {
        table_bytes: 16 << 10,
        log_preallocate_bytes: 4096,
        // Each of hundreds of flushes may wait for a compaction.
        wait_max: Duration::from_secs(60),
        ..FrontOptions::default()
    })
}

fn levels() -> Tuning {
    Tuning {
        tiers: false,
        level_base_bytes: 64 << 10,
        ..Tuning::default()
    }
}

fn tiers() -> Tuning {
    Tuning {
        runs_loading: 6,
        runs_inserting: 6,
        ..Tuning::default()
    }
}

/// The value of row `n` after the rounds up to `round`. Round `r` writes the row if `r + 1` divides
/// `n`; later rounds than 0 remove it instead if 7 divides `n`.
fn value(n: u64, round: u64) -> Option<u64> {
    let last = (0..=round)
        .rev()
        .find(|round| n.is_multiple_of(*round + 1))?;
    (last == 0 || !n.is_multiple_of(7)).then_some(last)
}

fn write(space: &dyn Space, round: u64) {
    for first in (0..ROWS).step_by(50) {
        let mut batch = Batch::new();
        // In no order, so that the key ranges of all files overlap.
        let scattered = (first..first + 50).map(|n| n * 1_597 % ROWS);
        for n in scattered.filter(|n| n.is_multiple_of(round + 1)) {
            let stored = value(n, round).map(u64::to_be_bytes);
            match &stored {
                Some(value) => {
                    batch.put(POINTS, &point(n), b"", value);
                    batch.put(NAMED, &named(b"all"), &n.to_be_bytes(), value);
                }
                None => {
                    batch.delete(POINTS, &point(n), b"");
                    batch.delete(NAMED, &named(b"all"), &n.to_be_bytes());
                }
            }
        }
        space.write(&batch, Durability::Buffered).unwrap();
    }
}

fn check(space: &dyn Space, round: u64) {
    let expected = |n| value(n, round).map(|value| value.to_be_bytes().to_vec());
    for n in 0..ROWS {
        assert_eq!(
            space.get(POINTS, &point(n), b"").unwrap(),
            expected(n),
            "{n} in {round}"
        );
    }
    let stored = rows(space, NAMED, &named(b"all"), &ClusteringRange::all(), false);
    let of = |n: u64| expected(n).map(|value| (n.to_be_bytes().to_vec(), value));
    assert_eq!(
        stored,
        (0..ROWS).filter_map(of).collect::<Vec<_>>(),
        "{round}"
    );
    space.verify_checksums().unwrap();
}

#[test]
fn a_store_in_levels_goes_on_in_tiers_and_back() {
    let dir = tempfile::tempdir().unwrap();
    let ways = [
        (tiny(), levels()),
        (tiny(), tiers()),
        (FrontTable::Off, Tuning::default()),
        (tiny(), tiers()),
        (tiny(), levels()),
        (tiny(), tiers()),
    ];
    for (round, (front, tuning)) in (0..).zip(ways) {
        let space = open(dir.path(), front, tuning);
        if round > 0 {
            check(&*space, round - 1);
        }
        write(&*space, round);
        check(&*space, round);
        if round == 0 {
            // So that there is a lower level.
            space.compact().unwrap();
            check(&*space, round);
            write(&*space, round);
        }
    }
}

fn runs(space: &dyn Space) -> f64 {
    let all = space.statistics();
    let mut runs = all.iter().filter(|it| it.name == "sorted_runs");
    runs.next().unwrap().value
}

/// Writes rows into a run of the last level and into so many small runs that some are in level 0.
/// Then opens the space without flushes, and waits until compaction by `tuning` has left at most
/// `most` runs.
fn merged_in_quiet(tuning: Tuning, most: f64) {
    let dir = tempfile::tempdir().unwrap();
    let loading = Tuning {
        runs_loading: 1_000,
        quiet_after: Duration::from_secs(3_600),
        ..tuning
    };
    let space = open(dir.path(), tiny(), loading.clone());
    write(&*space, 0);
    for n in ROWS..ROWS + 400 {
        let mut batch = Batch::new();
        let bytes = Random::new(n).bytes(5_000);
        batch.put(POINTS, &point(n), b"", &bytes);
        batch.put(NAMED, &named(b"others"), &n.to_be_bytes(), &bytes);
        space.write(&batch, Durability::Buffered).unwrap();
    }
    space.compact().unwrap();
    // While level 0 is empty, RocksDB moves each file into a free level below it.
    while runs(&*space) < 50.0 {
        write(&*space, 1);
    }
    space.sync().unwrap();
    drop(space);
    // Closing has flushed the rest.
    let space = open(dir.path(), tiny(), loading.clone());
    assert!(runs(&*space) > 49.0, "nothing is merged under load");
    drop(space);
    let quiet = Tuning {
        quiet_after: Duration::ZERO,
        ..loading
    };
    let space = open(dir.path(), tiny(), quiet);
    let until = Instant::now() + Duration::from_secs(300);
    while runs(&*space) > most {
        assert!(Instant::now() < until, "{} runs", runs(&*space));
        std::thread::sleep(Duration::from_millis(10));
    }
    check(&*space, 1);
}

#[test]
fn few_runs_are_left_once_nothing_is_flushed() {
    let tuning = Tuning {
        runs_quiet: 3,
        ..Tuning::default()
    };
    // Runs up to the number that starts a compaction may remain, if none are of similar size.
    merged_in_quiet(tuning, 3.0);
}

#[test]
fn more_rows_than_may_be_in_level_0_are_merged_with_everything() {
    let tuning = Tuning {
        runs_quiet: 3,
        level0_rows_max: 0,
        ..Tuning::default()
    };
    merged_in_quiet(tuning, 1.0);
}

/// Key `n` of rows in no order, so that the key ranges of all files overlap.
fn scattered(n: u64) -> Vec<u8> {
    point(n.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

fn insert(space: &dyn Space, numbers: Range<u64>) {
    for n in numbers {
        let mut batch = Batch::new();
        batch.put(POINTS, &scattered(n), b"", &[7; 64]);
        space.write(&batch, Durability::Buffered).unwrap();
    }
}

/// The lines of RocksDB's log about completed compactions, for spaces that are opened with
/// [`log_merges`].
static MERGES: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn log_merges(options: &mut Options) {
    options.set_callback_logger(LogLevel::Info, |_, line| {
        if line.contains("\"compaction_finished\"") {
            MERGES.lock().unwrap().push(line.to_owned());
        }
    });
}

/// The levels that compactions have written to.
fn levels_written() -> Vec<u64> {
    let level = |line: &String| {
        let (_, after) = line.split_once("\"output_level\": ")?;
        after.split(',').next()?.parse().ok()
    };
    MERGES.lock().unwrap().iter().filter_map(level).collect()
}

#[test]
fn what_is_merged_under_load_lies_below_level_0() {
    let dir = tempfile::tempdir().unwrap();
    // So many more runs than levels that the newest half of them is in level 0.
    let tuning = Tuning {
        runs_loading: 80,
        runs_inserting: 80,
        quiet_after: Duration::from_secs(3_600),
        alter_space: log_merges,
        ..Tuning::default()
    };
    let space = open(dir.path(), tiny(), tuning);
    let until = Instant::now() + Duration::from_secs(300);
    let mut next = 0;
    while levels_written().is_empty() {
        assert!(Instant::now() < until, "{} runs", runs(&*space));
        insert(&*space, next..next + 500);
        next += 500;
    }
    let written = levels_written();
    assert!(written[0] > 0, "{written:?}");
    for n in 0..next {
        let stored = space.get(POINTS, &scattered(n), b"").unwrap();
        assert_eq!(stored.as_deref(), Some(&[7; 64][..]), "{n} of {next}");
    }
}

#[test]
fn many_runs_are_left_while_new_rows_come_and_few_when_the_files_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let tuning = Tuning {
        runs_loading: 4,
        runs_inserting: 64,
        quiet_after: Duration::from_secs(3_600),
        ..Tuning::default()
    };
    let space = open(dir.path(), tiny(), tuning);
    let mut next = 0;
    let until = Instant::now() + Duration::from_secs(300);
    while runs(&*space) < 24.0 {
        assert!(
            Instant::now() < until,
            "{} runs of {next} rows",
            runs(&*space)
        );
        insert(&*space, next..next + 500);
        next += 500;
    }
    let read = |n: u64| space.get(POINTS, &scattered(n), b"").unwrap();
    let mut asked = 0;
    while runs(&*space) > 12.0 {
        assert!(
            Instant::now() < until,
            "{} runs of {next} rows",
            runs(&*space)
        );
        insert(&*space, next..next + 10);
        next += 10;
        // Different rows each time: recently read ones are cached and not read from the files.
        for _ in 0..50 {
            asked = (asked + 1_597) % next;
            assert!(read(asked).is_some(), "{asked}");
        }
    }
    for n in 0..next {
        assert_eq!(read(n).as_deref(), Some(&[7; 64][..]), "{n} of {next}");
    }
}
