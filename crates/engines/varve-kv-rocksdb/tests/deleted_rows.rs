//! A scan of many ranges skips few of the deleted rows after them.

#![allow(clippy::unwrap_used, reason = "a failed call is a failed test")]

use std::sync::Arc;

use rust_rocksdb::perf::{PerfContext, PerfMetric, PerfStatsLevel, set_perf_stats};
use varve_kv::{Batch, ClusteringRange, Durability, Engine, Flow, PartitionRange, Space, TableId};
use varve_kv_rocksdb::{FrontTable, MEMORY_BYTES_MIN, RocksConfig, RocksEngine};
use varve_testkit::engine_suite::tables::{NAMED, POINTS, TABLES, named, point};

/// Partitions with rows. In partition `EMPTIED` all rows between the first three and the last one
/// were deleted.
const PARTITIONS: u64 = 200;
const EMPTIED: u64 = 4;
/// The last row of that partition, and about the number of its deleted rows.
const DELETED: u32 = 50_000;

fn partition(table: TableId, n: u64) -> Vec<u8> {
    match table == POINTS {
        true => point(n),
        false => named(format!("p{n:04}").as_bytes()),
    }
}

fn filled(table: TableId) -> (Arc<dyn Space>, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let config = RocksConfig {
        memory_bytes: MEMORY_BYTES_MIN,
        front: FrontTable::Off,
        ..RocksConfig::new(dir.path())
    };
    let engine = RocksEngine::open(&config).unwrap();
    let space = engine.open("s", TABLES, true).unwrap();
    let mut batch = Batch::new();
    for n in 0..PARTITIONS {
        for row in 0..3u32 {
            batch.put(table, &partition(table, n), &row.to_be_bytes(), b"row");
        }
    }
    for row in 3..DELETED {
        let key = partition(table, EMPTIED);
        batch.put(table, &key, &row.to_be_bytes(), b"gone");
    }
    batch.put(
        table,
        &partition(table, EMPTIED),
        &DELETED.to_be_bytes(),
        b"row",
    );
    space.write(&batch, Durability::Buffered).unwrap();
    batch.clear();
    for row in 3..DELETED {
        batch.delete(table, &partition(table, EMPTIED), &row.to_be_bytes());
    }
    space.write(&batch, Durability::Buffered).unwrap();
    (space, dir)
}

/// Returns the rows of these ranges, and the number of deleted rows that the scan skips.
fn scan(
    space: &dyn Space,
    table: TableId,
    asked: &[(u64, ClusteringRange)],
) -> (Vec<(u64, u32)>, u64) {
    let partitions: Vec<_> = asked.iter().map(|(n, _)| partition(table, *n)).collect();
    let ranges = partitions.iter().zip(asked);
    let ranges: Vec<_> = ranges
        .map(|(partition, (_, range))| PartitionRange { partition, range })
        .collect();
    let mut visited = Vec::new();
    let mut context = PerfContext::default();
    set_perf_stats(PerfStatsLevel::EnableCount);
    context.reset();
    let scanned = space.scan_many(table, &ranges, &mut |at, clustering, value| {
        assert_eq!(value, b"row");
        let row = clustering.try_into().map(u32::from_be_bytes);
        visited.push((asked[at].0, row.unwrap()));
        Flow::Continue(())
    });
    let passed = context.metric(PerfMetric::InternalDeleteSkippedCount);
    set_perf_stats(PerfStatsLevel::Disable);
    scanned.unwrap();
    (visited, passed)
}

#[test]
fn few_deleted_rows_beyond_the_ranges_are_passed() {
    for table in [POINTS, NAMED] {
        let (space, _dir) = filled(table);
        let few = ClusteringRange {
            from: Vec::new(),
            to: Some(3u32.to_be_bytes().to_vec()),
        };
        for count in [PARTITIONS, EMPTIED + 1] {
            let asked: Vec<_> = (0..count).map(|n| (n, few.clone())).collect();
            let (visited, passed) = scan(&*space, table, &asked);
            let all = (0..count).flat_map(|n| (0..3).map(move |row| (n, row)));
            assert_eq!(visited, all.collect::<Vec<_>>());
            assert!(passed < 1_000, "{passed} of {DELETED}");
        }
    }
}

#[test]
fn rows_behind_many_deleted_ones_of_their_range_are_found() {
    for table in [POINTS, NAMED] {
        let (space, _dir) = filled(table);
        let from = |row: u32| ClusteringRange {
            from: row.to_be_bytes().to_vec(),
            to: None,
        };
        for count in [PARTITIONS, EMPTIED + 2] {
            for first in [0, 2, 3, 5] {
                let asked: Vec<_> = (0..count).map(|n| (n, from(first))).collect();
                let (visited, _) = scan(&*space, table, &asked);
                let mut wanted = Vec::new();
                for n in 0..count {
                    wanted.extend((first..3).map(|row| (n, row)));
                    wanted.extend((n == EMPTIED).then_some((n, DELETED)));
                }
                assert_eq!(visited, wanted);
            }
        }
    }
}
