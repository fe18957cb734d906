//! The promise of the row cache: no view gets a cached row that a flush known to the view has
//! overwritten.

use std::sync::atomic::AtomicBool;

use varve_kv::{Batch, Durability, Engine, Reader, ReaderExt, TableSpec, state_of};

use super::*;
use crate::hash::partition_hash;
use crate::{FrontMemoryEngine, FrontOptions};

const TABLE: TableId = TableId(3);

fn key<'a>(partition: &'a [u8], clustering: &'a [u8]) -> RowKey<'a> {
    RowKey {
        table: TABLE,
        partition,
        clustering,
        hash: partition_hash(TABLE, partition),
    }
}

fn rows(bytes: usize) -> SpaceRows {
    Arc::new(RowCache::new(bytes)).space()
}

/// Puts a row twice, after which it is cached.
fn keep(rows: &SpaceRows, generation: u64, key: &RowKey<'_>, value: &[u8]) {
    rows.put(generation, key, value);
    rows.put(generation, key, value);
}

fn value(rows: &SpaceRows, generation: u64, key: &RowKey<'_>) -> Option<Vec<u8>> {
    rows.get(generation, key)
        .map(|found| found.value().to_vec())
}

#[test]
fn without_room_a_row_is_kept_when_it_is_read_again() {
    // One set, which is full.
    let rows = rows(1);
    for name in [b"1", b"2", b"3", b"4"] {
        rows.put(0, &key(name, b""), b"v");
        assert_eq!(value(&rows, 0, &key(name, b"")), Some(b"v".to_vec()));
    }
    let row = key(b"p", b"c");
    rows.put(0, &row, b"v");
    assert_eq!(value(&rows, 0, &row), None);
    rows.put(0, &row, b"v");
    assert_eq!(value(&rows, 0, &row), Some(b"v".to_vec()));
}

#[test]
fn only_tables_whose_rows_were_read_may_have_any() {
    let rows = rows(1 << 16);
    assert!(rows.tables().is_empty());
    rows.put(0, &key(b"p", b"c"), &[0; SET_ROW_BYTES]);
    assert!(rows.tables().is_empty(), "too long to be kept");
    rows.put(0, &key(b"p", b"c"), b"v");
    assert!(rows.tables().has(TABLE) && !rows.tables().has(TableId(4)));
    rows.begin_generation();
    assert!(rows.tables().has(TABLE), "also in later generations");
}

#[test]
fn a_row_is_distinguished_from_all_others() {
    let rows = rows(1 << 16);
    let row = key(b"p", b"c");
    keep(&rows, 0, &row, b"v");
    assert_eq!(value(&rows, 0, &row), Some(b"v".to_vec()));
    assert_eq!(value(&rows, 0, &key(b"pc", b"")), None);
    assert_eq!(value(&rows, 0, &key(b"", b"pc")), None);
    assert_eq!(value(&rows, 0, &key(b"p", b"d")), None);
    let other = RowKey {
        table: TableId(4),
        ..row
    };
    assert_eq!(value(&rows, 0, &other), None);
}

#[test]
fn spaces_share_the_room_and_not_the_rows() {
    let cache = Arc::new(RowCache::new(1 << 16));
    let (one, two) = (Arc::clone(&cache).space(), cache.space());
    keep(&one, 0, &key(b"p", b"c"), b"one");
    assert_eq!(value(&two, 0, &key(b"p", b"c")), None);
    keep(&two, 0, &key(b"p", b"c"), b"two");
    assert_eq!(value(&one, 0, &key(b"p", b"c")), Some(b"one".to_vec()));
}

#[test]
fn a_row_that_changed_is_shown_to_nobody_whatever_the_order() {
    let rows = rows(1 << 16);
    let (row, other) = (key(b"p", b"c"), key(b"q", b"c"));
    keep(&rows, 0, &row, b"old");
    keep(&rows, 0, &other, b"same");
    let next = rows.begin_generation();
    // A reader with an old view is late: its row is not cached any more.
    rows.remove(&row);
    keep(&rows, 0, &row, b"old");
    assert_eq!(value(&rows, 0, &row), None);
    assert_eq!(value(&rows, next, &row), None);
    assert_eq!(value(&rows, next, &other), Some(b"same".to_vec()));
    // A row that the new view has read is not visible to the old one.
    keep(&rows, next, &row, b"new");
    assert_eq!(value(&rows, 0, &row), None);
    assert_eq!(value(&rows, next, &row), Some(b"new".to_vec()));
    assert_eq!(value(&rows, 0, &other), Some(b"same".to_vec()));
}

#[test]
fn a_prefix_delete_ends_all_rows_of_its_space() {
    let cache = Arc::new(RowCache::new(1 << 16));
    let (one, two) = (Arc::clone(&cache).space(), cache.space());
    keep(&one, 0, &key(b"p", b"c"), b"one");
    keep(&two, 0, &key(b"p", b"c"), b"two");
    let next = one.begin_generation();
    one.remove_all();
    assert_eq!(value(&one, next, &key(b"p", b"c")), None);
    assert_eq!(value(&two, 0, &key(b"p", b"c")), Some(b"two".to_vec()));
    keep(&one, next, &key(b"p", b"c"), b"new");
    assert_eq!(value(&one, next, &key(b"p", b"c")), Some(b"new".to_vec()));
}

#[test]
fn the_room_is_bounded_and_what_is_read_stays() {
    // One set.
    let rows = rows(1);
    assert_eq!(rows.cache.marks.len(), 1);
    keep(&rows, 0, &key(b"hot", b""), &[1; 200]);
    for number in 0..1000_u32 {
        let name = number.to_be_bytes();
        assert!(rows.get(0, &key(b"hot", b"")).is_some(), "{number}");
        keep(&rows, 0, &key(&name, b""), &vec![2; number as usize]);
        let set = rows.cache.set(0).expect("it was written to").lock();
        let bytes: usize = set.ways.iter().flatten().map(|kept| kept.row.len()).sum();
        assert!(bytes <= SET_ROW_BYTES);
    }
    assert_eq!(value(&rows, 0, &key(&900_u32.to_be_bytes(), b"")), None);
}

static TABLES: &[TableSpec] = &[TableSpec {
    name: "rows",
    partition_len: |key| (!key.is_empty()).then_some(1),
    point_reads: true,
    probed: Some(varve_kv::table::always),
    cold: false,
    summarize: None,
}];

fn number(reader: &dyn Reader, key: u8) -> u64 {
    let value = reader.get(TableId(0), &[key], b"").unwrap();
    value.map_or(0, |bytes| u64::from_be_bytes(bytes.try_into().unwrap()))
}

/// Increasing numbers are written to a few rows while small tables are flushed all the time. No
/// reader gets a smaller number than was read or acknowledged before, and a snapshot never changes.
#[test]
fn rows_never_go_back_while_tables_are_flushed() {
    const KEYS: u8 = 16;
    const ROUNDS: u64 = 400;
    let dir = tempfile::tempdir().unwrap();
    let options = FrontOptions {
        table_bytes: 600,
        ..FrontOptions::default()
    };
    let engine = FrontMemoryEngine::new(dir.path(), options);
    let space = engine.open("s", TABLES, true).unwrap();
    let acknowledged: Vec<AtomicU64> = (0..KEYS).map(|_| AtomicU64::new(0)).collect();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for reader in 0..2_u8 {
            let (space, acknowledged, done) = (&space, &acknowledged, &done);
            scope.spawn(move || {
                let mut kept: Option<(Arc<dyn Reader>, Vec<u64>)> = None;
                while !done.load(Ordering::Relaxed) {
                    for key in 0..KEYS {
                        let least = acknowledged[usize::from(key)].load(Ordering::Acquire);
                        let first = number(&**space, key);
                        let second = number(&**space, key);
                        assert!(
                            least <= first && first <= second,
                            "{least} {first} {second}"
                        );
                    }
                    if let Some((snapshot, numbers)) = &kept {
                        let again: Vec<u64> =
                            (0..KEYS).map(|key| number(&**snapshot, key)).collect();
                        assert_eq!(*numbers, again, "reader {reader}");
                    }
                    let snapshot = state_of(space);
                    let numbers = (0..KEYS).map(|key| number(&*snapshot, key)).collect();
                    kept = Some((snapshot, numbers));
                }
            });
        }
        for round in 1..=ROUNDS {
            // Some rows are written often and some rarely.
            let key = (round % 7 * (round % 5) % u64::from(KEYS)) as u8;
            let mut batch = Batch::new();
            batch.put(TableId(0), &[key], b"", &round.to_be_bytes());
            space.write(&batch, Durability::Buffered).unwrap();
            acknowledged[usize::from(key)].store(round, Ordering::Release);
        }
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_cache_that_nothing_was_written_to_has_no_sets() {
    let cache = Arc::new(RowCache::new(64 << 20));
    assert!(cache.chunks.iter().all(|chunk| chunk.get().is_none()));
    let rows = Arc::clone(&cache).space();
    assert!(rows.get(0, &key(b"p", b"c")).is_none());
    rows.put(0, &key(b"p", b"c"), b"value");
    assert!(rows.get(0, &key(b"p", b"c")).is_some());
    let made = cache.chunks.iter().filter(|chunk| chunk.get().is_some());
    assert_eq!(made.count(), 1);
}
