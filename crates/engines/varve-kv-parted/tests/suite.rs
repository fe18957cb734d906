//! The contract of the seam, with partitions that go into parts after a few rows.
//!
//! One sentence of it does not hold for them: that a scan sees all rows of a batch in a partition,
//! or none. So the table of that case has whole partitions in the first run; the second run
//! includes that table in all other cases.

#![allow(clippy::unwrap_used, reason = "a failed call is a failed test")]

use std::sync::Arc;

use varve_kv::{
    Batch, ClusteringRange, Durability, Engine, Flow, KvError, PartitionRange, ReaderExt,
    ScanRequest, Space,
};
use varve_kv_parted::{PartOptions, PartRule, PartedEngine};
use varve_testkit::engine_suite::tables::{
    COLD, NAMED, POINTS, Rows, TABLES, all_rows, cold, named, point, rows,
};
use varve_testkit::{ScatteredEngine, SharedMemory};

/// Three rows fill a partition.
const TINY: PartOptions = PartOptions { bytes_max: 300 };

const fn rule(table: &'static str) -> PartRule {
    PartRule {
        table,
        together: |clustering| Some(clustering),
        of_prefix: |_| None,
    }
}

fn engine(rules: &[PartRule]) -> (PartedEngine, ()) {
    let inner = Arc::new(ScatteredEngine::new());
    (PartedEngine::new(inner, rules, TINY), ())
}

fn all_in_parts() -> PartedEngine {
    engine(&[rule("points"), rule("named"), rule("cold")]).0
}

varve_testkit::engine_suite!(engine(&[rule("points"), rule("cold")]));

mod scattered {
    varve_testkit::engine_suite!((varve_testkit::ScatteredEngine::new(), ()));
}

macro_rules! in_parts {
    ($($group:ident: [$($case:ident),*],)*) => {
        mod in_parts {
            $($(
                #[test]
                fn $case() {
                    varve_testkit::engine_suite::$group::$case(&super::all_in_parts());
                }
            )*)*
        }
    };
}

in_parts!(
    reads: [
        a_row_is_found_by_all_three_parts_of_its_key,
        a_missing_row_is_none,
        keys_and_values_may_be_empty,
        multi_get_answers_in_the_order_asked,
        get_with_hands_out_the_value_once
    ],
    scans: [
        rows_come_in_the_order_of_their_clustering_bytes,
        a_scan_stays_inside_its_partition,
        a_scan_keeps_to_its_range,
        ranges_of_full_bytes_end_with_the_partition,
        reverse_is_the_same_backwards,
        a_break_ends_the_scan,
        a_visitor_may_use_the_space,
        scan_many_visits_ranges_as_given,
        scan_many_break_ends_one_range_only,
        scan_table_visits_every_row_once,
        scan_table_repeats_its_order,
        scan_table_resumes_after_any_row,
        scan_table_resumes_after_a_removed_row,
        partitions_that_extend_each_other_stay_apart
    ],
    writes: [
        a_later_write_to_the_same_row_wins,
        delete_prefix_removes_exactly_its_rows,
        delete_prefix_keeps_its_place_in_the_batch,
        a_sweep_removes_what_its_batch_deletes,
        a_batch_spans_tables_and_partitions,
        many_rows_in_one_batch
    ],
    threads: [sixteen_threads_write_and_read, a_write_shows_to_every_thread_once_it_returns],
    differential: [random_work_agrees_with_a_sorted_map],
);

fn put_each(space: &dyn Space, keys: impl Iterator<Item = u64>, value: &[u8]) {
    for key in keys {
        let mut batch = Batch::new();
        batch.put(NAMED, &named(b"hub"), &point(key), value);
        space.write(&batch, Durability::Buffered).unwrap();
    }
}

fn figure(space: &dyn Space, name: &str) -> f64 {
    let statistics = space.statistics();
    let found = statistics.iter().find(|statistic| statistic.name == name);
    found.unwrap().value
}

fn keys(rows: &Rows) -> Vec<u64> {
    let key = |(key, _): &(Vec<u8>, Vec<u8>)| u64::from_be_bytes(key[..].try_into().unwrap());
    rows.iter().map(key).collect()
}

/// More rows than a page of a part, of all epochs interleaved, overwritten and removed.
#[test]
fn a_partition_in_parts_reads_as_one() {
    let engine = all_in_parts();
    let space = engine.open("s", TABLES, true).unwrap();
    put_each(&*space, (0..4_000).step_by(2), b"old");
    put_each(&*space, (0..4_000).step_by(3), b"new");
    for key in (0..4_000).step_by(5) {
        let mut batch = Batch::new();
        batch.delete(NAMED, &named(b"hub"), &point(key));
        space.write(&batch, Durability::Buffered).unwrap();
    }
    // Each epoch takes 3, 24, 192, then 768 rows.
    assert_eq!(figure(&*space, "parted_partitions"), 1.0);
    assert_eq!(
        figure(&*space, "parted_partition_parts"),
        (1 + 8 + 64 + 256 * 5) as f64
    );
    let expected: Vec<(Vec<u8>, Vec<u8>)> = (0..4_000_u64)
        .filter(|key| key % 5 != 0 && (key % 2 == 0 || key % 3 == 0))
        .map(|key| {
            let value: &[u8] = if key % 3 == 0 { b"new" } else { b"old" };
            (point(key), value.to_vec())
        })
        .collect();
    let check = |space: &dyn Space| {
        let all = ClusteringRange::all();
        let found = rows(space, NAMED, &named(b"hub"), &all, false);
        assert_eq!(keys(&found), keys(&expected));
        assert_eq!(found, expected);
        let mut backwards = rows(space, NAMED, &named(b"hub"), &all, true);
        backwards.reverse();
        assert_eq!(backwards, expected);
        let range = ClusteringRange {
            from: point(1_000),
            to: Some(point(3_000)),
        };
        let some = rows(space, NAMED, &named(b"hub"), &range, false);
        let inside = expected.iter().filter(|(key, _)| range.contains(key));
        assert_eq!(some.len(), inside.count());
        for key in [0, 2, 3, 4, 9, 10, 3_999] {
            let found = space.get(NAMED, &named(b"hub"), &point(key)).unwrap();
            let expected = expected.iter().find(|(of, _)| *of == point(key));
            assert_eq!(found.as_ref(), expected.map(|(_, value)| value), "{key}");
        }
    };
    check(&*space);
    drop(space);
    check(&*engine.open("s", TABLES, false).unwrap());
}

/// A follower reads whole partitions, and leaves those in parts to the process that leads the
/// space, which tells by the layout when it has begun parts.
#[test]
fn a_follower_leaves_partitions_in_parts_to_the_leader() {
    let shared = SharedMemory::of(Box::new(ScatteredEngine::new()));
    let server = |address: &str| PartedEngine::new(shared.server(address), &[rule("named")], TINY);
    let (leader, follower) = (server("a"), server("b"));
    let space = leader.open("s", TABLES, true).unwrap();
    put_each(&*space, 0..2, b"v");
    let id = leader.spaces().unwrap().remove(0);
    let (before, layout) = (follower.follow(&id, TABLES).unwrap(), space.layout());
    let all = ClusteringRange::all();
    let hub = named(b"hub");
    assert_eq!(rows(&*before, NAMED, &hub, &all, false).len(), 2);
    put_each(&*space, 2..40, b"v");
    assert!(space.layout() > layout);
    let space = follower.follow(&id, TABLES).unwrap();
    let led = |read: Result<(), KvError>| assert!(matches!(read, Err(KvError::Led { .. })));
    let key = point(1);
    led(space.get(NAMED, &hub, &key).map(drop));
    led(space.multi_get(NAMED, &[(&hub, &key)]).map(drop));
    let request = ScanRequest {
        table: NAMED,
        partition: &hub,
        range: &all,
        reverse: false,
    };
    led(space.scan(request, &mut |_, _| Flow::Continue(())));
    led(space.scan_table(NAMED, None, &mut |_| Flow::Continue(())));
    let ranges = PartitionRange::of_each(&[&hub], &all);
    led(space.scan_many(NAMED, &ranges, &mut |_, _, _| Flow::Continue(())));
    let other = named(b"other");
    assert_eq!(space.get(NAMED, &other, &key).unwrap(), None);
    assert_eq!(space.get(POINTS, &point(1), b"c").unwrap(), None);
    let mut batch = Batch::new();
    batch.put(POINTS, &point(1), b"c", b"v");
    led(space.write(&batch, Durability::Buffered));
}

/// Rows written without the layer can be read with it, and their bytes count when they are read.
#[test]
fn a_space_of_another_time_is_opened_as_it_is() {
    let inner: Arc<dyn Engine> = Arc::new(ScatteredEngine::new());
    let space = inner.open("s", TABLES, true).unwrap();
    put_each(&*space, 0..50, b"v");
    drop(space);
    let engine = PartedEngine::new(inner, &[rule("named")], TINY);
    let space = engine.open("s", TABLES, false).unwrap();
    let all = ClusteringRange::all();
    assert_eq!(rows(&*space, NAMED, &named(b"hub"), &all, false).len(), 50);
    assert_eq!(figure(&*space, "parted_partitions"), 0.0);
    // The scan has found that the partition is full.
    put_each(&*space, 50..51, b"v");
    assert_eq!(figure(&*space, "parted_partitions"), 1.0);
    assert_eq!(rows(&*space, NAMED, &named(b"hub"), &all, false).len(), 51);
}

/// A full scan resumes correctly if a partition was parted since.
#[test]
fn a_full_scan_goes_on_when_partitions_are_parted_meanwhile() {
    let engine = all_in_parts();
    let space = engine.open("s", TABLES, true).unwrap();
    for name in 1..=40_u64 {
        let mut batch = Batch::new();
        batch.put(
            NAMED,
            &named(&point(name | 0x0101_0101_0101_0100)),
            b"first",
            b"v",
        );
        space.write(&batch, Durability::Buffered).unwrap();
    }
    let mut seen: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    loop {
        let after = seen.last().cloned();
        let after = after.as_ref().map(|(p, c)| (p.as_slice(), c.as_slice()));
        let mut row = None;
        space
            .scan_table(NAMED, after, &mut |found| {
                row = Some((found.partition.to_vec(), found.clustering.to_vec()));
                Flow::Break(())
            })
            .unwrap();
        let Some(row) = row else { break };
        if row.1 == b"first" && seen.len().is_multiple_of(3) {
            let mut batch = Batch::new();
            for n in 0..9_u8 {
                batch.put(NAMED, &row.0, &[b'z', n], b"v");
            }
            space.write(&batch, Durability::Buffered).unwrap();
        }
        seen.push(row);
    }
    let all = all_rows(&*space, NAMED, None);
    assert!(all.len() > 40 && figure(&*space, "parted_partitions") > 5.0);
    let all: Vec<_> = all.into_iter().map(|(p, c, _)| (p, c)).collect();
    assert_eq!(seen, all);
}

/// A full scan skips the parts also where clustering keys consist of many 0xFF bytes, and resumes
/// after any row.
#[test]
fn a_full_scan_passes_rows_with_the_greatest_keys() {
    let engine = all_in_parts();
    let space = engine.open("s", TABLES, true).unwrap();
    let lengths = (0..3).chain(62..80).chain([600]);
    let full: Vec<Vec<u8>> = lengths.map(|length| vec![0xFF; length]).collect();
    for name in [&b"a"[..], b"hub", b"z"] {
        for key in &full {
            let mut batch = Batch::new();
            batch.put(NAMED, &named(name), key, b"v");
            space.write(&batch, Durability::Buffered).unwrap();
        }
    }
    assert_eq!(figure(&*space, "parted_partitions"), 3.0);
    let all = all_rows(&*space, NAMED, None);
    let mut partitions: Vec<_> = all.iter().map(|(partition, ..)| partition).collect();
    partitions.dedup();
    assert_eq!((all.len(), partitions.len()), (3 * full.len(), 3));
    for (at, (partition, clustering, _)) in all.iter().enumerate() {
        assert_eq!(*clustering, full[at % full.len()]);
        let rest = all_rows(&*space, NAMED, Some((partition, clustering)));
        assert_eq!(rest, all[at + 1..]);
    }
}

/// Rows that stay together are in one part, whatever their table; the others are not moved.
#[test]
fn what_belongs_together_lies_together() {
    let inner: Arc<dyn Engine> = Arc::new(ScatteredEngine::new());
    let by_first = |table| PartRule {
        table,
        together: |clustering| clustering.get(..1).filter(|first| *first != b"s"),
        of_prefix: |_| None,
    };
    let engine = PartedEngine::new(
        Arc::clone(&inner),
        &[by_first("points"), by_first("named"), by_first("cold")],
        TINY,
    );
    let space = engine.open("s", TABLES, true).unwrap();
    let mut batch = Batch::new();
    for n in 0..60_u8 {
        for (table, partition) in [(COLD, cold(b"hub")), (POINTS, point(7))] {
            batch.put(table, &partition, &[n, 1], b"v");
            batch.put(table, &partition, &[n, 2], b"v");
        }
    }
    batch.put(COLD, &cold(b"hub"), b"stays", b"v");
    space.write(&batch, Durability::Buffered).unwrap();
    assert_eq!(
        space.get(COLD, &cold(b"hub"), b"stays").unwrap().as_deref(),
        Some(&b"v"[..])
    );
    drop(space);
    let below = PartedEngine::new(inner, &[], TINY);
    let below = below.open("s", TABLES, false).unwrap();
    let mut parts = std::collections::BTreeSet::new();
    for (partition, clustering, _) in all_rows(&*below, COLD, None) {
        let part = partition.strip_prefix(&cold(b"hub")[..]).unwrap().to_vec();
        match &clustering[..] {
            b"stays" => assert!(part.is_empty()),
            [_, 1] => assert!(parts.insert((clustering[0], part))),
            other => assert!(parts.contains(&(other[0], part))),
        }
    }
    assert_eq!(parts.len(), 60);
}

/// A removed row does not remain in an older part, whether it was overwritten before or not.
#[test]
fn what_is_removed_is_nowhere() {
    let inner: Arc<dyn Engine> = Arc::new(ScatteredEngine::new());
    let engine = PartedEngine::new(Arc::clone(&inner), &[rule("cold")], TINY);
    let space = engine.open("s", TABLES, true).unwrap();
    let hub = cold(b"hub");
    let write = |work: &dyn Fn(&mut Batch, u8)| {
        for n in 0..60_u8 {
            let mut batch = Batch::new();
            work(&mut batch, n);
            space.write(&batch, Durability::Buffered).unwrap();
        }
    };
    write(&|batch, n| {
        batch.put(COLD, &hub, &[n], b"secret");
    });
    write(&|batch, n| {
        if n % 2 == 0 {
            batch.put(COLD, &hub, &[n], b"secret again");
        }
    });
    write(&|batch, n| batch.delete(COLD, &hub, &[n]));
    let all = ClusteringRange::all();
    assert_eq!(rows(&*space, COLD, &hub, &all, false), Rows::new());
    drop(space);
    let below = PartedEngine::new(inner, &[], TINY);
    let below = below.open("s", TABLES, false).unwrap();
    let kept = all_rows(&*below, COLD, None);
    assert!(kept.iter().any(|(partition, ..)| *partition != hub));
    let secret = |value: &[u8]| value.windows(6).any(|it| it == b"secret");
    assert!(!kept.iter().any(|(.., value)| secret(value)));
}

/// Work of the engine below is not left out by the layer.
#[test]
fn what_was_begun_below_is_removed() {
    let shared = SharedMemory::new();
    let engine = PartedEngine::new(shared.server("a"), &[], TINY);
    shared.begin("one");
    shared.begin("other");
    engine.clear_begun(&|name| name == "one").unwrap();
    assert!(!shared.finish("one", TABLES));
    assert!(shared.finish("other", TABLES));
}
