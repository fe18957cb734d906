//! Adjacent deleted rows, more of them than a node skips in one read: the remaining rows can still
//! be read. The tests take shorter with a low `tombstone_failure_threshold`; with a very high one
//! they are skipped.

#![allow(clippy::unwrap_used, reason = "a failed call is a failed test")]

#[path = "support/node.rs"]
mod node;

use std::sync::Arc;
use std::time::Instant;

use node::{Scratch, asked};
use varve_kv::{
    Batch, ClusteringRange, Durability, Engine, Flow, KvError, PartitionRange, ReaderExt,
    ScanRequest, Space, deadline,
};
use varve_testkit::engine_suite::tables::{
    NAMED, POINTS, Rows, TABLES, all_rows, named, point, put, rows,
};

/// The most tombstones that are created.
const REMOVED_MAX: u64 = 30_000;
/// The number of their groups in one partition, each with a row after it.
const PLACES: u8 = 6;
/// Rows that one batch puts or deletes.
const BATCH: u64 = 2_000;

/// Creates a space, and returns it with a number of rows above the node's threshold. `None` if no
/// node is configured, or its threshold is too high.
fn space(engine: &Scratch) -> Option<(Arc<dyn Space>, u64)> {
    let setting =
        "SELECT value FROM system_views.settings WHERE name = 'tombstone_failure_threshold'";
    let threshold: Vec<String> = asked(engine, &[setting.to_owned()]);
    let threshold: u64 = threshold[0].parse().unwrap();
    let many = threshold + threshold / 2;
    if many > REMOVED_MAX {
        println!("skipped: the node steps over {threshold} removed rows");
        return None;
    }
    Some((engine.open("s", TABLES, true).unwrap(), many))
}

/// Keys like those of graphs: a common prefix, then the difference.
fn key(n: u64) -> Vec<u8> {
    [b"\x01\x03label".as_slice(), &n.to_be_bytes()].concat()
}

fn put_all(space: &dyn Space, partition: &[u8], many: u64) {
    for first in (0..many).step_by(BATCH as usize) {
        let mut batch = Batch::new();
        for n in first..many.min(first + BATCH) {
            batch.put(NAMED, partition, &key(n), b"v");
        }
        space.write(&batch, Durability::Buffered).unwrap();
    }
}

/// Deletes all rows except those in `left`.
fn remove_all(space: &dyn Space, partition: &[u8], many: u64, left: &[u64], sweeps: bool) {
    for first in (0..many).step_by(BATCH as usize) {
        let end = many.min(first + BATCH);
        let mut batch = Batch::new();
        for n in (first..end).filter(|n| !left.contains(n)) {
            batch.delete(NAMED, partition, &key(n));
        }
        if sweeps {
            let next = |n: &&u64| (first..end).contains(*n);
            let mut from = first;
            for n in left.iter().filter(next).chain([&end]) {
                let range = ClusteringRange {
                    from: key(from),
                    to: Some(key(*n)),
                };
                batch.sweep(NAMED, partition, range);
                from = n + 1;
            }
        }
        space.write(&batch, Durability::Buffered).unwrap();
    }
}

fn failures(engine: &dyn Engine) -> f64 {
    let statistics = engine.statistics();
    let failures = statistics
        .iter()
        .find(|it| it.name == "cluster_failures_total");
    failures.unwrap().value
}

/// Runs a read, and prints its duration and the number of its failed requests.
fn timed<T>(engine: &dyn Engine, what: &str, read: impl FnOnce() -> T) -> T {
    let (begun, before) = (Instant::now(), failures(engine));
    let found = read();
    let failed = failures(engine) - before;
    println!("{what}: {:.1?}, {failed} requests failed", begun.elapsed());
    found
}

#[test]
fn what_is_left_between_removed_rows_is_read() {
    let Some(engine) = Scratch::new() else { return };
    let Some((space, many)) = space(&engine) else {
        return;
    };
    let space = &*space;
    let left = [0, many / 2, many - 1];
    let (hub, empty, other) = (named(b"hub"), named(b"empty"), named(b"other"));
    for partition in [&hub, &empty] {
        put_all(space, partition, many);
    }
    remove_all(space, &hub, many, &left, false);
    remove_all(space, &empty, many, &[], false);
    for n in 0..20 {
        put(space, NAMED, &named(&[b'a' + n]), b"c", b"v");
    }
    put(space, NAMED, &other, b"c", b"v");
    let expected: Vec<Vec<u8>> = left.iter().map(|n| key(*n)).collect();
    let keys_of = |range: &ClusteringRange, reverse| {
        let found: Rows = rows(space, NAMED, &hub, range, reverse);
        found.into_iter().map(|(key, _)| key).collect::<Vec<_>>()
    };
    let all = ClusteringRange::all();
    for time in ["first", "second"] {
        let found = timed(&engine, time, || keys_of(&all, false));
        assert_eq!(found, expected);
        let mut backwards = timed(&engine, "backwards", || keys_of(&all, true));
        backwards.reverse();
        assert_eq!(backwards, expected);
    }
    let some = ClusteringRange {
        from: key(1),
        to: Some(key(many - 1)),
    };
    assert_eq!(keys_of(&some, false), expected[1..2]);
    let none = timed(&engine, "none", || rows(space, NAMED, &empty, &all, false));
    assert!(none.is_empty());
    let mut seen = Vec::new();
    let partitions: [&[u8]; 4] = [&other, &hub, &empty, &other];
    let ranges = PartitionRange::of_each(&partitions, &all);
    let visited = space.scan_many(NAMED, &ranges, &mut |at, key, _| {
        seen.push((at, key.to_vec()));
        Flow::Continue(())
    });
    visited.unwrap();
    let of_hub = expected.iter().map(|key| (1, key.clone()));
    let wanted: Vec<(usize, Vec<u8>)> = [(0, b"c".to_vec())]
        .into_iter()
        .chain(of_hub)
        .chain([(3, b"c".to_vec())])
        .collect();
    assert_eq!(seen, wanted);

    let whole = timed(&engine, "all", || all_rows(space, NAMED, None));
    assert_eq!(whole.len(), 20 + 1 + left.len());
    // Resumes after every row, as an interrupted scan does.
    for (at, (partition, clustering, _)) in whole.iter().enumerate() {
        let rest = all_rows(space, NAMED, Some((partition, clustering)));
        assert_eq!(rest, whole[at + 1..]);
    }
    space.verify_checksums().unwrap();
}

/// The limit on failures counts from the last row found, so only a range with few rows, or none,
/// reaches it.
#[test]
fn a_search_that_comes_to_rows_goes_on() {
    let Some(engine) = Scratch::new() else { return };
    let Some((space, many)) = space(&engine) else {
        return;
    };
    let space = &*space;
    let hub = named(b"hub");
    // Distant groups with a long common prefix, which takes many steps to split.
    let key = |place: u8, n: u64| [&[place][..], &[1; 24], &n.to_be_bytes()].concat();
    for place in 0..PLACES {
        for first in (0..many).step_by(BATCH as usize) {
            let mut batch = Batch::new();
            for n in first..many.min(first + BATCH) {
                batch.delete(NAMED, &hub, &key(place, n));
            }
            space.write(&batch, Durability::Buffered).unwrap();
        }
        put(space, NAMED, &hub, &key(place, many), b"v");
    }
    let all = ClusteringRange::all();
    let before = failures(&engine);
    let found = timed(&engine, "all places", || {
        rows(space, NAMED, &hub, &all, false)
    });
    assert_eq!(found.len(), usize::from(PLACES));
    assert!(failures(&engine) - before > 300.0, "it did not take many");
}

/// Otherwise a write that has to read there would hold its latches for as long as its search takes.
#[test]
fn a_search_ends_with_the_time_of_who_waits_for_it() {
    let Some(engine) = Scratch::new() else { return };
    let Some((space, many)) = space(&engine) else {
        return;
    };
    let space = &*space;
    let hub = named(b"hub");
    put_all(space, &hub, many);
    remove_all(space, &hub, many, &[many - 1], false);
    let range = ClusteringRange::all();
    let scan = || {
        let mut found = Vec::new();
        let request = ScanRequest {
            table: NAMED,
            partition: &hub,
            range: &range,
            reverse: false,
        };
        let scanned = space.scan(request, &mut |key, _| {
            found.push(key.to_vec());
            Flow::Continue(())
        });
        scanned.map(|()| found)
    };
    let late = |read: &dyn Fn() -> Result<(), KvError>| {
        let before = failures(&engine);
        let refused = deadline::until(Instant::now(), read).unwrap_err();
        assert!(matches!(refused, KvError::Tombstones { .. }), "{refused}");
        assert!(refused.to_string().contains("deadline"), "{refused}");
        failures(&engine) - before
    };
    assert_eq!(late(&|| scan().map(drop)), 1.0);
    let full = || space.scan_table(NAMED, None, &mut |_| Flow::Continue(()));
    assert_eq!(late(&full), 1.0);
    // Each search begins where the previous one ended, until it has found the partition.
    let mut steps = 0;
    let there = loop {
        match deadline::until(Instant::now(), full).unwrap_err() {
            KvError::Tombstones { .. } => steps += 1,
            other => break other,
        }
        assert!(steps < 24, "it does not come further");
    };
    assert!(matches!(there, KvError::Away { .. }), "{there}");
    assert_eq!(scan().unwrap(), [key(many - 1)]);
    // The same in the pieces that were small enough: none of them failed.
    let before = failures(&engine);
    let refused = deadline::until(Instant::now(), scan).unwrap_err();
    assert!(matches!(refused, KvError::Away { .. }), "{refused}");
    assert!(refused.to_string().contains("deadline"), "{refused}");
    assert_eq!(failures(&engine), before);
    assert_eq!(all_rows(space, NAMED, None).len(), 1);
}

#[test]
fn a_sweep_leaves_nothing_to_step_over() {
    let Some(engine) = Scratch::new() else { return };
    let Some((space, many)) = space(&engine) else {
        return;
    };
    let space = &*space;
    let hub = named(b"hub");
    let left = [0, many / 2, many - 1];
    put_all(space, &hub, many);
    remove_all(space, &hub, many, &left, true);
    let before = failures(&engine);
    let mut found = Vec::new();
    let range = ClusteringRange::all();
    let request = ScanRequest {
        table: NAMED,
        partition: &hub,
        range: &range,
        reverse: false,
    };
    let scanned = timed(&engine, "swept", || {
        space.scan(request, &mut |key, _| {
            found.push(key.to_vec());
            Flow::Continue(())
        })
    });
    scanned.unwrap();
    let expected: Vec<Vec<u8>> = left.iter().map(|n| key(*n)).collect();
    assert_eq!(found, expected);
    assert!(failures(&engine) <= before, "a request failed");
    // A row that was put again exists.
    put(space, NAMED, &hub, &key(5), b"again");
    assert_eq!(
        space.get(NAMED, &hub, &key(5)).unwrap().as_deref(),
        Some(&b"again"[..])
    );
    assert_eq!(space.get(NAMED, &hub, &key(6)).unwrap(), None);
    assert_eq!(space.get(POINTS, &point(6), b"c").unwrap(), None);
}
