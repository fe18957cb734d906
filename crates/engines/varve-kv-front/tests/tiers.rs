//! Cases that the suite cannot test on an unknown engine: crashes, snapshots during flushes,
//! partitions of every size, delayed writers.

#![allow(clippy::unwrap_used, reason = "a failed call is a failed test")]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tempfile::TempDir;
use varve_kv::{
    Batch, ClusteringRange, Durability, Engine, KvError, OpKind, PartitionRange, RawOp, Reader,
    ReaderExt, Space, TableId, state_of,
};
use varve_kv_front::{FrontMemoryEngine, FrontOptions};
use varve_testkit::Random;
use varve_testkit::engine_suite::tables::{
    NAMED, POINTS, SINGLE, TABLES, all_rows, keys, named, point, put, rows, summarized,
};

fn temporary() -> TempDir {
    // In memory if possible: every flush begins a segment.
    tempfile::tempdir_in("/dev/shm")
        .or_else(|_| tempfile::tempdir())
        .unwrap()
}

fn options(table_bytes: usize) -> FrontOptions {
    FrontOptions {
        table_bytes,
        log_preallocate_bytes: 4096,
        ..FrontOptions::default()
    }
}

fn open(engine: &dyn Engine) -> Arc<dyn Space> {
    engine.open("s", TABLES, true).unwrap()
}

fn figure(space: &dyn Space, name: &str) -> f64 {
    let statistics = space.statistics();
    let found = statistics
        .iter()
        .find(|statistic| statistic.name == name)
        .unwrap();
    found.value
}

/// Copies the files of an engine's logs as a crash at this moment would leave them.
fn copy_logs(from: &Path, to: &Path) {
    fs::create_dir_all(to.join("s/log")).unwrap();
    for dir in ["s", "s/log"] {
        for entry in fs::read_dir(from.join(dir)).unwrap() {
            let entry = entry.unwrap();
            if entry.path().is_file() {
                fs::copy(entry.path(), to.join(dir).join(entry.file_name())).unwrap();
            }
        }
    }
}

type Model = BTreeMap<(u8, Vec<u8>, Vec<u8>), Vec<u8>>;

fn apply(model: &mut Model, batch: &Batch) {
    let mut at = 0;
    while let Some(op) = RawOp::read(batch.bytes(), at) {
        let (partition, clustering) = (op.partition().to_vec(), op.clustering().to_vec());
        match op.kind {
            OpKind::Put => drop(model.insert((op.table.0, partition, clustering), op.value.into())),
            OpKind::Delete => drop(model.remove(&(op.table.0, partition, clustering))),
            OpKind::DeletePrefix => model.retain(|(table, p, c), _| {
                (*table, p) != (op.table.0, &partition) || !c.starts_with(&clustering)
            }),
        }
        at = op.end;
    }
}

fn random_batch(random: &mut Random) -> Batch {
    let mut batch = Batch::new();
    for _ in 0..=random.below(12) {
        let (table, partition) = match random.below(3) {
            0 => (POINTS, point(random.below(40) as u64)),
            1 => (NAMED, named(&[b'a' + random.below(5) as u8])),
            _ => (SINGLE, Vec::new()),
        };
        let clustering = random
            .bytes(2)
            .iter()
            .map(|byte| byte % 8)
            .collect::<Vec<_>>();
        match random.below(20) {
            0 => batch.delete_prefix(table, &partition, &clustering[..random.below(2)]),
            1..5 => batch.delete(table, &partition, &clustering),
            _ => {
                let length = random.below(40);
                batch.put(table, &partition, &clustering, &random.bytes(length));
            }
        }
    }
    batch
}

fn same(reader: &(impl Reader + ?Sized), model: &Model) {
    for table in [POINTS, NAMED, SINGLE] {
        let got = all_rows(reader, table, None);
        let expected: Vec<_> = model
            .iter()
            .filter(|((t, _, _), _)| *t == table.0)
            .map(|((_, p, c), value)| (p.clone(), c.clone(), value.clone()))
            .collect();
        assert_eq!(got, expected, "table {}", table.0);
    }
    for ((table, partition, clustering), value) in model {
        let got = reader.get(TableId(*table), partition, clustering).unwrap();
        assert_eq!(got.as_ref(), Some(value));
    }
}

/// The log alone restores everything, even if rows were flushed to a base that is lost with the
/// process.
#[test]
fn what_was_acknowledged_is_replayed_after_a_crash_at_any_moment() {
    for seed in 0..20 {
        let mut random = Random::new(seed);
        let (dir, image) = (temporary(), temporary());
        // Never flushed, since the in-memory base would be lost with its process.
        let engine = FrontMemoryEngine::new(dir.path(), options(1 << 20));
        let space = open(&engine);
        let mut model = Model::new();
        let crash_at = random.below(60);
        for _ in 0..crash_at {
            let batch = random_batch(&mut random);
            space.write(&batch, Durability::Buffered).unwrap();
            apply(&mut model, &batch);
        }
        copy_logs(dir.path(), image.path());
        // The next opening has smaller tables, so the replay itself flushes.
        let table_bytes = if random.one_in(2) { 2048 } else { 1 << 20 };
        let again = FrontMemoryEngine::new(image.path(), options(table_bytes));
        let space = open(&again);
        same(&*space, &model);
        // It continues from that state.
        for _ in 0..20 {
            let batch = random_batch(&mut random);
            space.write(&batch, Durability::Buffered).unwrap();
            apply(&mut model, &batch);
        }
        same(&*space, &model);
        drop(space);
        same(&*open(&again), &model);
    }
}

/// A log is replayed by the tables' names, so a version with another order of the tables reads it
/// correctly.
#[test]
fn a_replayed_log_finds_its_tables_by_name() {
    static TURNED: &[varve_kv::TableSpec] = &[TABLES[3], TABLES[2], TABLES[1], TABLES[0]];
    let (dir, image) = (temporary(), temporary());
    let engine = FrontMemoryEngine::new(dir.path(), options(1 << 20));
    let space = open(&engine);
    put(&*space, POINTS, &point(1), b"c", b"v");
    copy_logs(dir.path(), image.path());
    let again = FrontMemoryEngine::new(image.path(), options(1 << 20));
    let space = again.open("s", TURNED, true).unwrap();
    let got = space.get(TableId(3), &point(1), b"c").unwrap();
    assert_eq!(got.as_deref(), Some(&b"v"[..]));
    assert!(all_rows(&*space, TableId(0), None).is_empty());
}

#[test]
fn a_clean_end_leaves_nothing_to_replay() {
    let dir = temporary();
    let engine = FrontMemoryEngine::new(dir.path(), options(1 << 20));
    let space = open(&engine);
    put(&*space, POINTS, &point(1), b"", &[7; 5000]);
    assert!(figure(&*space, "front_log_bytes") > 5000.0);
    drop(space);
    let space = open(&engine);
    assert_eq!(figure(&*space, "front_bytes"), 0.0);
    assert!(figure(&*space, "front_log_bytes") < 200.0);
    assert_eq!(all_rows(&*space, POINTS, None).len(), 1);
}

/// Snapshots taken at random moments keep their state while tables are frozen, flushed and dropped.
#[test]
fn snapshots_keep_their_state_over_flushes() {
    for seed in 0..10 {
        let mut random = Random::new(seed);
        let dir = temporary();
        let engine = FrontMemoryEngine::new(dir.path(), options(1500));
        let space = open(&engine);
        let mut model = Model::new();
        let mut held = Vec::new();
        for _ in 0..200 {
            let batch = random_batch(&mut random);
            space.write(&batch, Durability::Buffered).unwrap();
            apply(&mut model, &batch);
            match random.below(12) {
                0 => held.push((state_of(&space), model.clone())),
                1 if !held.is_empty() => {
                    let at = random.below(held.len());
                    let (snapshot, model) = &held[at];
                    same(&**snapshot, model);
                }
                2 => same(&*space, &model),
                3 if random.one_in(6) => space.compact().unwrap(),
                _ => {}
            }
        }
        for (snapshot, model) in &held {
            same(&**snapshot, model);
        }
        same(&*space, &model);
        assert!(
            figure(&*space, "front_flushes_total") > 3.0,
            "tables were flushed"
        );
    }
}

/// Both sides of an edge, written in one batch, become visible together to readers during flushes.
#[test]
fn readers_see_batches_wholly_while_tables_are_flushed() {
    const ENDS: u64 = 7;
    let dir = temporary();
    let engine = FrontMemoryEngine::new(dir.path(), options(3000));
    let space = open(&engine);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let (space, done) = (&space, &done);
        for _ in 0..2 {
            scope.spawn(move || {
                let mut looks = 0u64;
                while !done.load(Ordering::Acquire) || looks == 0 {
                    looks += 1;
                    let snapshot = state_of(space);
                    let end = looks % ENDS;
                    let out = keys(&*snapshot, NAMED, &named(format!("out{end}").as_bytes()));
                    let back = keys(&*snapshot, NAMED, &named(format!("in{end}").as_bytes()));
                    assert_eq!(out, back, "a side of an edge shows without the other");
                }
            });
        }
        for n in 0..2_000u64 {
            let mut batch = Batch::new();
            let end = n % ENDS;
            for side in ["out", "in"] {
                let partition = named(format!("{side}{end}").as_bytes());
                batch.put(NAMED, &partition, &point(n), b"edge");
                if n > 200 {
                    batch.delete(NAMED, &partition, &point(n - 20 * ENDS));
                }
            }
            space.write(&batch, Durability::Buffered).unwrap();
        }
        done.store(true, Ordering::Release);
    });
}

/// One vertex with very many edges, inserted in three orders, and scanned from both ends meanwhile.
#[test]
fn a_large_partition_stays_sorted() {
    const ROWS: u64 = 30_000;
    for order in 0..3u64 {
        let dir = temporary();
        let engine = FrontMemoryEngine::new(dir.path(), options(1 << 30));
        let space = open(&engine);
        let hub = named(b"hub");
        let key = |n: u64| match order {
            0 => point(n),
            1 => point(ROWS - n),
            _ => point(n.wrapping_mul(0x9E37_79B9_7F4A_7C15)),
        };
        let mut expected = Vec::new();
        for from in (0..ROWS).step_by(500) {
            let mut batch = Batch::new();
            for n in from..from + 500 {
                batch.put(NAMED, &hub, &key(n), b"v");
                expected.push(key(n));
            }
            space.write(&batch, Durability::Buffered).unwrap();
        }
        expected.sort();
        assert_eq!(keys(&*space, NAMED, &hub), expected);
        let mut backwards: Vec<_> = rows(&*space, NAMED, &hub, &ClusteringRange::all(), true)
            .into_iter()
            .map(|(clustering, _)| clustering)
            .collect();
        backwards.reverse();
        assert_eq!(backwards, expected);
        for n in (0..ROWS).step_by(97) {
            assert!(space.get(NAMED, &hub, &key(n)).unwrap().is_some());
        }
        assert!(space.get(NAMED, &hub, b"absent").unwrap().is_none());
    }
}

/// The scan of a partition does not visit all versions of a row that is overwritten repeatedly, as
/// a counter is.
#[test]
fn many_versions_of_one_row_show_once() {
    let dir = temporary();
    let engine = FrontMemoryEngine::new(dir.path(), options(1 << 30));
    let space = open(&engine);
    put(&*space, NAMED, &named(b"p"), b"a", b"first");
    let old = state_of(&space);
    for n in 0..5_000u64 {
        put(&*space, NAMED, &named(b"p"), b"m", &point(n));
    }
    put(&*space, NAMED, &named(b"p"), b"z", b"last");
    for reverse in [false, true] {
        let mut got = rows(
            &*space,
            NAMED,
            &named(b"p"),
            &ClusteringRange::all(),
            reverse,
        );
        if reverse {
            got.reverse();
        }
        let values: Vec<_> = got.iter().map(|(_, value)| value.clone()).collect();
        assert_eq!(values, [b"first".to_vec(), point(4_999), b"last".to_vec()]);
    }
    assert_eq!(keys(&*old, NAMED, &named(b"p")), [b"a".to_vec()]);
    assert_eq!(all_rows(&*space, NAMED, None).len(), 3);
}

/// Writes rows of 2,000 bytes until one is refused; returns the error and the number of stored
/// rows.
fn write_until_refused(space: &dyn Space) -> (KvError, u64) {
    for n in 0..1_000u64 {
        let mut batch = Batch::new();
        batch.put(POINTS, &point(n), b"", &[n as u8; 2000]);
        if let Err(refusal) = space.write(&batch, Durability::Buffered) {
            assert!(space.get(POINTS, &point(n), b"").unwrap().is_none());
            return (refusal, n);
        }
    }
    panic!("no write was refused");
}

/// While flushes are blocked, writers are refused as busy once the tables are full. Nothing of a
/// refused batch is stored, and writes succeed again once flushes do.
#[test]
fn writers_are_refused_when_flushing_does_not_keep_up() {
    let dir = temporary();
    let limits = FrontOptions {
        wait_max: Duration::from_millis(1),
        frozen_max: 2,
        ..options(20_000)
    };
    let engine = FrontMemoryEngine::new(dir.path(), limits);
    let space = open(&engine);
    engine.controls().hold(true);
    let (refusal, stored) = write_until_refused(&*space);
    assert!(matches!(refusal, KvError::Busy { .. }), "{refusal}");
    assert_eq!(figure(&*space, "front_frozen_tables"), 2.0);
    let limit = figure(&*space, "front_limit_bytes");
    assert!(figure(&*space, "front_bytes") <= limit + 2_200.0);
    assert_eq!(all_rows(&*space, POINTS, None).len() as u64, stored);
    engine.controls().hold(false);
    space.compact().unwrap();
    put(&*space, POINTS, &point(stored), b"", b"v");
    assert_eq!(all_rows(&*space, POINTS, None).len() as u64, stored + 1);
}

/// A write may have to wait as soon as the unflushed part of a table exceeds the space left for
/// writes, long before that space is used up.
#[test]
fn writers_are_held_back_before_the_room_is_used_up() {
    let dir = temporary();
    let table = 50_000;
    let limits = FrontOptions {
        frozen_max: 1,
        ..options(table)
    };
    let engine = FrontMemoryEngine::new(dir.path(), limits);
    let space = open(&engine);
    // The flush makes no progress, and there is no other backlog.
    engine.controls().fill_disk(true);
    let mut next = 0;
    let mut write_until = |done: &dyn Fn() -> bool| {
        while !done() {
            put(&*space, POINTS, &point(next), b"", b"v");
            next += 1;
        }
        figure(&*space, "front_bytes")
    };
    let full = write_until(&|| figure(&*space, "front_frozen_tables") > 0.0);
    assert!(!space.write_may_wait(), "the flush has only begun");
    let held = write_until(&|| space.write_may_wait()) - full;
    let share = held / table as f64;
    assert!((0.1..0.5).contains(&share), "{share} of the table");
    engine.controls().fill_disk(false);
}

/// If flushes find the disk full, writers continue until memory is full and then get that error;
/// free space ends it without a restart.
#[test]
fn a_full_disk_at_flushing_passes_when_room_returns() {
    let dir = temporary();
    let limits = FrontOptions {
        frozen_max: 2,
        ..options(20_000)
    };
    let engine = FrontMemoryEngine::new(dir.path(), limits);
    let space = open(&engine);
    engine.controls().fill_disk(true);
    let (refusal, stored) = write_until_refused(&*space);
    assert!(matches!(refusal, KvError::DiskFull { .. }), "{refusal}");
    assert!(stored > 20, "memory took writes meanwhile");
    assert!(space.compact().is_err());
    engine.controls().fill_disk(false);
    // The flusher's next try finds space; its time is not promised.
    while figure(&*space, "front_frozen_tables") > 0.0 {
        thread::yield_now();
    }
    put(&*space, POINTS, &point(stored), b"", b"v");
    space.compact().unwrap();
    assert_eq!(all_rows(&*space, POINTS, None).len() as u64, stored + 1);
}

/// The same for a lack of file descriptors: writers get an error that permits a retry.
#[test]
fn missing_descriptors_at_flushing_pass_when_some_are_free() {
    let dir = temporary();
    let limits = FrontOptions {
        frozen_max: 2,
        ..options(20_000)
    };
    let engine = FrontMemoryEngine::new(dir.path(), limits);
    let space = open(&engine);
    engine.controls().take_descriptors(true);
    let (refusal, stored) = write_until_refused(&*space);
    assert!(matches!(refusal, KvError::Busy { .. }), "{refusal}");
    assert!(figure(&*space, "front_flush_failures_total") > 0.0);
    engine.controls().take_descriptors(false);
    // The flusher's next try finds some; its time is not promised.
    while figure(&*space, "front_frozen_tables") > 0.0 {
        thread::yield_now();
    }
    put(&*space, POINTS, &point(stored), b"", b"v");
    space.compact().unwrap();
    assert_eq!(all_rows(&*space, POINTS, None).len() as u64, stored + 1);
}

/// Set in the separate process in which the test runs.
const ALONE: &str = "VARVE_TEST_WITHOUT_DESCRIPTORS";

/// The same if the process really has no descriptors, so that the log cannot begin a segment: the
/// table grows to twice its limit, then writers get an error that permits a retry, and the retry
/// succeeds.
#[test]
fn missing_descriptors_at_freezing_pass_when_some_are_free() {
    if std::env::var_os(ALONE).is_none() {
        // In a separate process, since the other tests need descriptors.
        let name = "missing_descriptors_at_freezing_pass_when_some_are_free";
        let own = std::env::current_exe().unwrap();
        let output = Command::new(own)
            .args(["--exact", name, "--nocapture"])
            .env(ALONE, "1")
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && printed.contains("1 passed"),
            "{output:?}"
        );
        return;
    }
    const TABLE_BYTES: usize = 20_000;
    let few = Rlimit {
        current: Some(64),
        maximum: getrlimit(Resource::Nofile).maximum,
    };
    setrlimit(Resource::Nofile, few).unwrap();
    let dir = temporary();
    let engine = FrontMemoryEngine::new(dir.path(), options(TABLE_BYTES));
    let space = open(&engine);
    put(&*space, POINTS, &point(0), b"", b"v");
    let taken: Vec<File> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
    let (refusal, stored) = write_until_refused(&*space);
    assert!(matches!(refusal, KvError::Busy { .. }), "{refusal}");
    assert!(figure(&*space, "front_bytes") >= 2.0 * TABLE_BYTES as f64);
    assert_eq!(figure(&*space, "front_frozen_tables"), 0.0);
    assert!(matches!(space.compact(), Err(KvError::Busy { .. })));
    assert_eq!(all_rows(&*space, POINTS, None).len() as u64, stored);
    drop(taken);
    // The flusher's next try finds some; its time is not promised.
    while figure(&*space, "front_flushes_total") == 0.0 {
        thread::yield_now();
    }
    put(&*space, POINTS, &point(stored), b"", b"v");
    space.compact().unwrap();
    assert_eq!(all_rows(&*space, POINTS, None).len() as u64, stored + 1);
}

/// A rarely written table is flushed once it is old enough, so that its log is removed.
#[test]
fn an_old_table_is_flushed_though_it_is_not_full() {
    let dir = temporary();
    let limits = FrontOptions {
        age_max: Duration::from_millis(20),
        ..options(1 << 30)
    };
    let engine = FrontMemoryEngine::new(dir.path(), limits);
    let space = open(&engine);
    put(&*space, POINTS, &point(1), b"", b"v");
    // It must happen; the time is not promised.
    while figure(&*space, "front_flushes_total") == 0.0 {
        thread::yield_now();
    }
    assert_eq!(figure(&*space, "front_frozen_tables"), 0.0);
    assert_eq!(all_rows(&*space, POINTS, None).len(), 1);
}

/// Only rows of files have a summary, which is of their partition as it is: a table with a row of
/// the range hides it, and a flush replaces it.
#[test]
fn rows_of_files_have_summaries_where_no_table_has_a_row() {
    let dir = temporary();
    let engine = FrontMemoryEngine::new(dir.path(), options(1 << 20));
    let space = open(&engine);
    let (one, other) = (named(b"a"), named(b"b"));
    let ranges = ["x", "y"].map(|prefix| ClusteringRange::prefix(prefix.as_bytes()));
    // Of both partitions, the keys in both ranges; "-" if the rows have to be read.
    let shown = |reader: &dyn Reader| {
        let scans = [&one, &other].into_iter().flat_map(|partition| {
            let of = |range| PartitionRange { partition, range };
            ranges.iter().map(of)
        });
        let scans: Vec<PartitionRange<'_>> = scans.collect();
        let mut texts = Vec::new();
        let visit = &mut |at: usize, summary: Option<&[u8]>| {
            let PartitionRange { partition, range } = scans[at];
            let rows = summary.map(|summary| summarized(partition, summary));
            texts.push(rows.map_or("-".to_owned(), |rows| {
                let keys = rows.into_iter().map(|(key, _)| key);
                let keys = keys.filter(|key| range.contains(key)).collect::<Vec<_>>();
                String::from_utf8(keys.concat()).unwrap()
            }));
        };
        reader.summaries(NAMED, &scans, visit).unwrap();
        texts.join(" ")
    };
    for key in ["x1", "x2", "y1"] {
        put(&*space, NAMED, &one, key.as_bytes(), b"value");
    }
    assert_eq!(shown(&*space), "- - - -");
    space.compact().unwrap();
    assert_eq!(shown(&*space), "x1x2 y1  ");
    let before = Arc::clone(&space).snapshot().unwrap();
    put(&*space, NAMED, &one, b"y2", b"value");
    put(&*space, NAMED, &other, b"x1", b"value");
    assert_eq!(shown(&*space), "x1x2 - - ");
    space.compact().unwrap();
    assert_eq!(shown(&*space), "x1x2 y1y2 x1 ");
    assert!(["x1x2 y1  ", "- - - -"].contains(&&*shown(&*before)));
    let mut batch = Batch::new();
    batch.delete(NAMED, &one, b"x1");
    space.write(&batch, Durability::Sync).unwrap();
    assert_eq!(shown(&*space), "- y1y2 x1 ");
    space.compact().unwrap();
    assert_eq!(shown(&*space), "x2 y1y2 x1 ");
    let mut batch = Batch::new();
    batch.delete_prefix(NAMED, &one, b"y");
    space.write(&batch, Durability::Sync).unwrap();
    assert_eq!(shown(&*space), "- - - -");
    space.compact().unwrap();
    assert_eq!(shown(&*space), "x2  x1 ");
    for number in 0..8_u8 {
        put(&*space, NAMED, &one, &[b'x', b'a' + number], b"value");
    }
    space.compact().unwrap();
    assert_eq!(
        shown(&*space),
        "- - x1 ",
        "of nine rows there is no summary"
    );
}
