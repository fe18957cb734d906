//! A table has a column family once it has its first file.

#![allow(clippy::unwrap_used, reason = "a failed call is a failed test")]

use std::path::Path;
use std::sync::Arc;

use rust_rocksdb::{DB, Options};
use varve_kv::{
    Batch, ClusteringRange, Durability, Engine, Flow, PartitionRange, Reader, ReaderExt,
    ScanRequest, Space, TableId,
};
use varve_kv_rocksdb::{FrontTable, MEMORY_BYTES_MIN, RocksConfig, RocksEngine};
use varve_testkit::engine_suite::tables::{POINTS, TABLES, point};

const SPACE: &str = "s";

fn open(dir: &Path, front: FrontTable) -> (RocksEngine, Arc<dyn Space>) {
    let engine = RocksEngine::open(&RocksConfig {
        memory_bytes: MEMORY_BYTES_MIN,
        front,
        ..RocksConfig::new(dir)
    });
    let engine = engine.unwrap();
    let space = engine.open(SPACE, TABLES, true).unwrap();
    (engine, space)
}

fn on() -> FrontTable {
    FrontTable::Share(1 << 20)
}

/// The tables of a store that have families.
fn families(dir: &Path) -> Vec<String> {
    let mut names = DB::list_cf(&Options::default(), dir.join(SPACE)).unwrap();
    names.retain(|name| name != "default");
    names.sort();
    names
}

fn all() -> Vec<String> {
    let mut names: Vec<String> = TABLES.iter().map(|table| table.name.to_owned()).collect();
    names.sort();
    names
}

fn put(space: &dyn Space, number: u64) {
    let mut batch = Batch::new();
    batch.put(POINTS, &point(number), b"", b"v");
    space.write(&batch, Durability::Sync).unwrap();
}

/// The number of rows that each kind of read finds in a table.
fn found(reader: &dyn Reader, table: TableId, partition: &[u8]) -> [usize; 5] {
    let range = ClusteringRange::all();
    let keys = [(partition, &b""[..]); 8];
    let ranges = PartitionRange::of_each(&[partition], &range);
    let mut rows = [0; 5];
    rows[0] += usize::from(reader.get(table, partition, b"").unwrap().is_some());
    reader
        .get_each(table, &keys, &mut |_, _| rows[1] += 1)
        .unwrap();
    for reverse in [false, true] {
        let request = ScanRequest {
            table,
            partition,
            range: &range,
            reverse,
        };
        let mut visit = |_: &[u8], _: &[u8]| {
            rows[2] += 1;
            Flow::Continue(())
        };
        reader.scan(request, &mut visit).unwrap();
    }
    let mut visit = |_: usize, _: &[u8], _: &[u8]| {
        rows[3] += 1;
        Flow::Continue(())
    };
    reader.scan_many(table, &ranges, &mut visit).unwrap();
    let mut visit = |_: varve_kv::Row<'_>| {
        rows[4] += 1;
        Flow::Continue(())
    };
    reader.scan_table(table, None, &mut visit).unwrap();
    rows
}

#[test]
fn a_table_has_a_family_from_its_first_file_on() {
    let dir = tempfile::tempdir().unwrap();
    let (engine, space) = open(dir.path(), on());
    assert!(
        families(dir.path()).is_empty(),
        "{:?}",
        families(dir.path())
    );
    put(&*space, 1);
    assert!(families(dir.path()).is_empty(), "its row is in the log");
    let before = Arc::clone(&space).snapshot().unwrap();
    put(&*space, 2);
    space.compact().unwrap();
    let own = TABLES[usize::from(POINTS.0)].name;
    assert_eq!(families(dir.path()), [own]);
    for (table, _) in TABLES.iter().enumerate() {
        let table = TableId(table as u8);
        let has = usize::from(table == POINTS);
        let expected = [has, has * 8, has * 2, has, has * 2];
        assert_eq!(found(&*space, table, &point(1)), expected);
    }
    assert_eq!(found(&*before, POINTS, &point(2)), [0, 0, 0, 0, 1]);
    assert_eq!(found(&*before, POINTS, &point(1)), [1, 8, 2, 1, 1]);
    space.verify_checksums().unwrap();
    let copy = dir.path().join("copy");
    space.checkpoint(&copy.join(SPACE)).unwrap();
    drop((before, space, engine));
    for dir in [dir.path(), &copy] {
        let (_engine, space) = open(dir, on());
        assert_eq!(families(dir), [own]);
        assert_eq!(found(&*space, POINTS, &point(2)), [1, 8, 2, 1, 2]);
        drop(space);
    }
}

#[test]
fn stores_are_opened_that_have_families_for_all_tables() {
    let dir = tempfile::tempdir().unwrap();
    // Without a front table, which creates all families.
    let (engine, space) = open(dir.path(), FrontTable::Off);
    assert_eq!(families(dir.path()), all());
    put(&*space, 1);
    drop((space, engine));
    let (engine, space) = open(dir.path(), on());
    put(&*space, 2);
    space.compact().unwrap();
    assert_eq!(found(&*space, POINTS, &point(1)), [1, 8, 2, 1, 2]);
    drop((space, engine));
    assert_eq!(families(dir.path()), all());
}

#[test]
fn without_a_front_table_the_missing_families_are_created() {
    let dir = tempfile::tempdir().unwrap();
    let (engine, space) = open(dir.path(), on());
    put(&*space, 1);
    drop((space, engine));
    assert_ne!(families(dir.path()), all());
    let (_engine, space) = open(dir.path(), FrontTable::Off);
    assert_eq!(families(dir.path()), all());
    put(&*space, 2);
    assert_eq!(found(&*space, POINTS, &point(1)), [1, 8, 2, 1, 2]);
}
