//! The amounts that a scan, and a batch, read from the parts.

use std::collections::BTreeMap;
use std::sync::Arc;

use varve_kv::{Batch, ClusteringRange, Durability, Engine};
use varve_kv_parted::{PartOptions, PartRule, PartedEngine};
use varve_testkit::engine_suite::tables::{COLD, NAMED, TABLES, cold, named, point, put, rows};
use varve_testkit::{FaultyEngine, Random, ScatteredEngine, WatchedEngine};

use crate::{PAGE, PARTS, ROWS, SHARE, fill, hub, open, parts, some};

/// The oldest epoch has the smallest keys, and the next one the following keys.
#[test]
fn rows_whose_keys_grow_are_read_once() {
    let (space, reads) = open(SHARE);
    fill(&*space, &(0..ROWS).collect::<Vec<_>>());
    assert_eq!(parts(&*space), PARTS);
    for reverse in [false, true] {
        reads.forget();
        let mut keys = some(&*space, &ClusteringRange::all(), reverse, usize::MAX);
        if reverse {
            keys.reverse();
        }
        assert_eq!(keys, (0..ROWS).collect::<Vec<_>>());
        let read = reads.counted();
        assert!(
            read.rows <= ROWS * 4 / 3 + PARTS * PAGE,
            "{reverse}: {read:?}"
        );
        // On average at least 20 rows per request, though most parts have 170 rows.
        assert!(read.scans <= ROWS / 20, "{reverse}: {read:?}");
    }
}

/// A page of each part, and the requested rows.
#[test]
fn a_scan_that_resumes_reads_a_page_of_each_part() {
    let (space, reads) = open(SHARE);
    fill(&*space, &(0..ROWS).collect::<Vec<_>>());
    const WANTED: usize = 1_000;
    for reverse in [false, true] {
        let mut range = ClusteringRange::all();
        let mut seen = Vec::new();
        loop {
            reads.forget();
            let keys = some(&*space, &range, reverse, WANTED);
            let read = reads.counted();
            assert!(
                read.rows <= PARTS * PAGE + 2 * 1_128 + WANTED as u64,
                "{read:?}"
            );
            assert!(read.scans <= PARTS * 2, "{read:?}");
            seen.extend_from_slice(&keys);
            let Some(last) = keys.last() else { break };
            match reverse {
                true => range.to = Some(point(*last)),
                false => range.from = [&point(*last)[..], &[0]].concat(),
            }
        }
        if reverse {
            seen.reverse();
        }
        assert_eq!(seen, (0..ROWS).collect::<Vec<_>>());
    }
}

/// Rows of all epochs interleaved, some of them hidden, and some tombstones.
#[test]
fn rows_in_any_order_are_read_once_too() {
    let (space, reads) = open(SHARE);
    let mut random = Random::new(7);
    let mut model: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
    let keys: Vec<u64> = (0..ROWS).map(|_| random.bits() % (ROWS * 2)).collect();
    fill(&*space, &keys);
    model.extend(keys.iter().map(|key| (*key, b"v".to_vec())));
    for _ in 0..100 {
        let mut batch = Batch::new();
        for _ in 0..40 {
            let key = random.bits() % (ROWS * 2);
            if random.one_in(3) {
                batch.put(NAMED, &hub(), &point(key), b"new");
                model.insert(key, b"new".to_vec());
            } else {
                batch.delete(NAMED, &hub(), &point(key));
                model.remove(&key);
            }
        }
        space.write(&batch, Durability::Buffered).unwrap();
    }
    let expected: Vec<(Vec<u8>, Vec<u8>)> = model
        .iter()
        .map(|(key, value)| (point(*key), value.clone()))
        .collect();
    for reverse in [false, true] {
        reads.forget();
        let mut found = rows(&*space, NAMED, &hub(), &ClusteringRange::all(), reverse);
        if reverse {
            found.reverse();
        }
        assert_eq!(found, expected);
        let read = reads.counted();
        // Including hidden rows, there are at most as many rows as were written.
        let written = ROWS + 100 * 40;
        assert!(
            read.rows <= written * 4 / 3 + PARTS * PAGE,
            "{reverse}: {read:?}"
        );
    }
}

/// The limit on the bytes of a page.
#[test]
fn a_page_of_large_rows_is_short() {
    const VALUE: usize = 100_000;
    let (space, reads) = open(20 * VALUE as u64);
    for key in 0..170 {
        put(&*space, NAMED, &hub(), &point(key), &vec![7; VALUE]);
    }
    let parts = parts(&*space);
    assert_eq!(parts, 9);
    reads.forget();
    let all = ClusteringRange::all();
    assert_eq!(some(&*space, &all, false, 1), [0]);
    let read = reads.counted();
    assert!(read.rows <= (8 << 20) / VALUE as u64 + parts, "{read:?}");
    let found = rows(&*space, NAMED, &hub(), &all, false);
    assert_eq!(found.len(), 170);
    assert!(found.iter().all(|(_, value)| value.len() == VALUE));
}

/// If a range determines the parts of its rows, only one part of each epoch is read, or only the
/// partition itself.
#[test]
fn rows_that_lie_together_are_read_where_they_lie() {
    let (inner, reads) = WatchedEngine::new(Arc::new(ScatteredEngine::new()));
    let rule = PartRule {
        table: "named",
        together: |key| key.get(..2).filter(|first| !first.starts_with(b"s")),
        of_prefix: |prefix| match prefix.first()? {
            b's' => Some(None),
            _ => prefix.get(..2).map(Some),
        },
    };
    let engine = PartedEngine::new(Arc::new(inner), &[rule], PartOptions { bytes_max: 300 });
    let space = engine.open("s", TABLES, true).unwrap();
    let mut model = BTreeMap::new();
    for round in 0..3_u8 {
        for n in 0..40_u8 {
            let mut batch = Batch::new();
            for key in [[b'a', n, round], [b'a', n, 9], [b's', n, round]] {
                batch.put(NAMED, &hub(), &key, &[round]);
                model.insert(key.to_vec(), vec![round]);
            }
            space.write(&batch, Durability::Buffered).unwrap();
        }
    }
    let parts = parts(&*space);
    assert!(parts >= 73, "{parts}");
    let epochs = if parts == 73 {
        3
    } else {
        3 + (parts - 73) / 256
    };
    let asks = |range: ClusteringRange, most: u64| {
        for reverse in [false, true] {
            reads.forget();
            let mut found = rows(&*space, NAMED, &hub(), &range, reverse);
            if reverse {
                found.reverse();
            }
            let inside = model.iter().filter(|(key, _)| range.contains(key));
            let inside: Vec<_> = inside
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect();
            assert_eq!(found, inside, "{range:?}");
            let read = reads.counted();
            assert!(read.scans <= most, "{range:?}: {read:?}, {epochs} epochs");
            assert!(!found.is_empty());
        }
    };
    for n in [0, 7, 39] {
        asks(ClusteringRange::prefix(&[b'a', n]), epochs);
        asks(ClusteringRange::prefix(&[b's', n]), 1);
        let from_one = ClusteringRange {
            from: vec![b'a', n, 1],
            to: Some(vec![b'a', n, 0xFF]),
        };
        asks(from_one, epochs);
    }
    asks(ClusteringRange::prefix(b"a"), 2 * parts);
    asks(ClusteringRange::prefix(b"s"), 1);
    asks(ClusteringRange::all(), 2 * parts);
}

/// A batch reads older epochs in one call for each table, without rows that are known to be absent.
#[test]
fn the_removals_of_a_batch_read_at_once() {
    // This engine knows for every row whether it is absent.
    let (knowing, _) = FaultyEngine::new(Box::new(ScatteredEngine::new()));
    let engines: [(Arc<dyn Engine>, bool); 2] = [
        (Arc::new(ScatteredEngine::new()), false),
        (Arc::new(knowing), true),
    ];
    for (below, knows) in engines {
        let (inner, reads) = WatchedEngine::new(below);
        let rule = |table| PartRule {
            table,
            together: |clustering| Some(clustering),
            of_prefix: |_| None,
        };
        let rules = [rule("named"), rule("cold")];
        let engine = PartedEngine::new(Arc::new(inner), &rules, PartOptions { bytes_max: 300 });
        let space = engine.open("s", TABLES, true).unwrap();
        let partitions = [
            (NAMED, named(b"a")),
            (NAMED, named(b"b")),
            (COLD, cold(b"c")),
        ];
        for key in 0..20 {
            for (table, partition) in &partitions {
                put(&*space, *table, partition, &point(key), b"v");
            }
        }
        let mut batch = Batch::new();
        for key in 0..20 {
            for (table, partition) in &partitions {
                batch.delete(*table, partition, &point(key));
            }
        }
        reads.forget();
        space.write(&batch, Durability::Buffered).unwrap();
        let read = reads.counted();
        // In each partition, 20 rows have one older part; 2 of them are in it.
        let (calls, rows_asked) = (read.batched_gets, read.gets);
        assert_eq!((calls, rows_asked), (2, if knows { 6 } else { 60 }));
        let all = ClusteringRange::all();
        for (table, partition) in &partitions {
            assert!(rows(&*space, *table, partition, &all, false).is_empty());
        }
    }
}
