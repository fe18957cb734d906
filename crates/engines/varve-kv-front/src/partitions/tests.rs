//! The promise of the partition cache: it shows the rows of the files, and no view gets a partition
//! that a flush known to the view has changed.

use super::*;
use crate::hash::partition_hash;

const TABLE: TableId = TableId(3);

fn key(partition: &[u8]) -> PartitionKey<'_> {
    PartitionKey {
        table: TABLE,
        partition,
        hash: partition_hash(TABLE, partition),
    }
}

/// A budget that gives the cache nothing.
fn nothing() -> Arc<Budget> {
    Arc::new(Budget::new(0))
}

fn partitions(bytes: usize) -> SpacePartitions {
    Arc::new(PartitionCache::new(bytes, nothing())).space(&[], Arc::default())
}

fn block(partition: &[u8], rows: &[(&[u8], &[u8])]) -> Block {
    let mut builder = Builder::default();
    for (clustering, value) in rows {
        assert!(builder.add(clustering, value, usize::MAX).is_continue());
    }
    builder.take(&key(partition), None).expect("it is not full")
}

fn range(from: &[u8], to: Option<&[u8]>) -> ClusteringRange {
    ClusteringRange {
        from: from.to_vec(),
        to: to.map(<[u8]>::to_vec),
    }
}

/// The clustering keys of a range in a block.
fn scanned(block: &Block, range: &ClusteringRange, reverse: bool) -> Vec<Vec<u8>> {
    let mut keys = Vec::new();
    let _ = block.scan(range, reverse, &mut |clustering, value| {
        assert_eq!(value, [clustering, b"!"].concat());
        keys.push(clustering.to_vec());
        Flow::Continue(())
    });
    keys
}

/// What is found: the number of rows of the block, or what the caller is to do.
fn found(of: &SpacePartitions, generation: u64, name: &[u8], range: &ClusteringRange) -> String {
    match of.find(generation, &key(name), range) {
        Found::Whole(rows) | Found::Range(rows) => rows.len().to_string(),
        other => format!("{other:?}"),
    }
}

fn whole(of: &SpacePartitions, generation: u64, name: &[u8]) -> String {
    found(of, generation, name, &ClusteringRange::all())
}

#[test]
fn a_block_shows_each_range_as_a_list_does() {
    let keys: Vec<Vec<u8>> = (0..40_u8)
        .map(|n| {
            vec![b'k'; usize::from(n % 7)]
                .into_iter()
                .chain([n])
                .collect()
        })
        .collect();
    let mut sorted = keys;
    sorted.sort();
    let values: Vec<Vec<u8>> = sorted.iter().map(|key| [&key[..], b"!"].concat()).collect();
    let rows: Vec<(&[u8], &[u8])> = sorted
        .iter()
        .zip(&values)
        .map(|(k, v)| (&k[..], &v[..]))
        .collect();
    let block = block(b"p", &rows);
    let mut bounds = sorted.clone();
    bounds.extend([vec![], b"kk".to_vec(), vec![255]]);
    for from in &bounds {
        for to in bounds.iter().map(Some).chain([None]) {
            let range = range(from, to.map(Vec::as_slice));
            let mut expected: Vec<Vec<u8>> = sorted
                .iter()
                .filter(|key| range.contains(key))
                .cloned()
                .collect();
            assert_eq!(scanned(&block, &range, false), expected, "{range:?}");
            expected.reverse();
            assert_eq!(scanned(&block, &range, true), expected, "{range:?}");
        }
    }
    let mut first = 0;
    let flow = block.scan(&ClusteringRange::all(), false, &mut |_, _| {
        first += 1;
        Flow::Break(())
    });
    assert!(flow.is_break() && first == 1);
    assert_eq!(self::block(b"p", &[]).len(), 0);
}

#[test]
fn a_partition_is_distinguished_from_all_others() {
    let cache = Arc::new(PartitionCache::new(1 << 20, nothing()));
    let (one, two) = (
        Arc::clone(&cache).space(&[], Arc::default()),
        cache.space(&[], Arc::default()),
    );
    one.put(0, &key(b"p"), Some(block(b"p", &[(b"a", b"a!")])));
    assert_eq!(whole(&one, 0, b"p"), "1");
    assert_eq!(whole(&two, 0, b"p"), "WantWhole");
    assert_eq!(whole(&one, 0, b"q"), "WantWhole");
    let other = PartitionKey {
        table: TableId(4),
        ..key(b"p")
    };
    let found = one.find(0, &other, &ClusteringRange::all());
    assert!(matches!(found, Found::Unwanted), "{found:?}");
    assert!(one.tables().has(TABLE) && two.tables().is_empty());
}

#[test]
fn a_partition_that_changed_is_shown_to_nobody_whatever_the_order() {
    let of = partitions(1 << 20);
    of.put(0, &key(b"p"), Some(block(b"p", &[(b"a", b"a!")])));
    of.put(0, &key(b"q"), Some(block(b"q", &[])));
    of.generation.store(1, Ordering::SeqCst);
    of.remove(&key(b"p"));
    // A reader with an old view is late: what it has read is not added.
    of.put(0, &key(b"p"), Some(block(b"p", &[(b"a", b"a!")])));
    assert_eq!(whole(&of, 0, b"p"), "Unwanted");
    assert_eq!(whole(&of, 1, b"p"), "WantWhole");
    assert_eq!(
        (whole(&of, 0, b"q"), whole(&of, 1, b"q")),
        ("0".to_owned(), "0".to_owned())
    );
    // What the new view has read is not shown to the old one.
    of.put(
        1,
        &key(b"p"),
        Some(block(b"p", &[(b"a", b"a!"), (b"b", b"b!")])),
    );
    assert_eq!(
        (whole(&of, 0, b"p"), whole(&of, 1, b"p")),
        ("Unwanted".to_owned(), "2".to_owned())
    );
    // A prefix delete ends all that was read before.
    of.generation.store(2, Ordering::SeqCst);
    of.remove_before(2);
    for name in [b"p", b"q"] {
        assert_eq!(whole(&of, 2, name), "WantWhole");
    }
}

#[test]
fn ranges_of_a_large_partition_are_kept_when_they_are_read_again() {
    let of = partitions(8 << 20);
    let name = b"p";
    let (one, other) = (range(b"c", Some(b"d")), range(b"c", None));
    let rows = || Some(block(name, &[(b"c", b"c!")]));
    of.put_range(0, &key(name), &one, rows());
    assert_eq!(found(&of, 0, name, &one), "WantWhole", "it is not large");
    of.put(0, &key(name), None);
    assert_eq!(found(&of, 0, name, &one), "UnwantedRange");
    assert_eq!(found(&of, 0, name, &one), "WantRange");
    of.put_range(0, &key(name), &one, rows());
    assert_eq!(found(&of, 0, name, &one), "1");
    assert_eq!(found(&of, 0, name, &other), "UnwantedRange");
    // A range that is too large itself is read from the files each time.
    let all = ClusteringRange::all();
    of.put_range(0, &key(name), &all, None);
    for _ in 0..3 {
        assert_eq!(found(&of, 0, name, &all), "UnwantedRange");
    }
    for number in 0..90_u8 {
        let range = range(&[number], Some(&[number + 1]));
        of.put_range(0, &key(name), &range, Some(block(name, &[])));
        assert_eq!(found(&of, 0, name, &range), "0");
    }
    assert_eq!(found(&of, 0, name, &one), "1");
    // Ranges end with their partition, also if it is large again later.
    of.generation.store(1, Ordering::SeqCst);
    of.remove(&key(name));
    assert_eq!(found(&of, 1, name, &one), "WantWhole");
    of.put_range(1, &key(name), &one, rows());
    of.put(1, &key(name), None);
    assert_eq!(found(&of, 1, name, &one), "UnwantedRange");
    // What an older view has read is not added.
    of.put_range(0, &key(name), &one, rows());
    assert_eq!(found(&of, 1, name, &one), "WantRange");
}

#[test]
fn the_room_is_bounded_and_what_is_read_stays() {
    let bytes = 64 << 10;
    let of = partitions(bytes);
    let long = vec![0; 1000];
    let rows = |name: &[u8]| Some(block(name, &[(b"a", &long)]));
    of.put(0, &key(b"hot"), rows(b"hot"));
    let mut refused = 0;
    for number in 0..1000_u32 {
        let name = number.to_be_bytes();
        assert_eq!(whole(&of, 0, b"hot"), "1", "{number}");
        let first = whole(&of, 0, &name);
        if number < 40 {
            assert_eq!(first, "WantWhole", "there is room");
        }
        refused += usize::from(first == "Unwanted");
        assert_eq!(whole(&of, 0, &name), "WantWhole");
        of.put(0, &key(&name), rows(&name));
        let shard = of.cache.shards[0].lock();
        assert!(shard.bytes <= bytes);
        let sum: usize = shard.slots.iter().map(|slot| slot.kept.bytes()).sum();
        assert_eq!((shard.bytes, shard.index.len()), (sum, shard.slots.len()));
    }
    assert!(
        refused > 900,
        "without room, not when it is read for the first time"
    );
}

#[test]
fn a_builder_is_full_at_its_limit_and_empty_after_it() {
    let mut builder = Builder::default();
    assert!(builder.add(b"a", &[0; 100], 90).is_break());
    assert!(builder.take(&key(b"p"), None).is_none());
    assert!(builder.add(b"a", b"a!", 90).is_continue());
    let rows = builder.take(&key(b"p"), None).expect("there is room");
    assert_eq!(scanned(&rows, &ClusteringRange::all(), false), [b"a"]);
}

#[test]
fn the_cache_gives_up_what_others_take_of_the_common_budget() {
    let beside = Arc::new(Budget::new(256 << 10));
    let cache = Arc::new(PartitionCache::new(64 << 10, Arc::clone(&beside)));
    let of = Arc::clone(&cache).space(&[], Arc::default());
    let bytes = || -> usize { cache.shards.iter().map(|shard| shard.lock().bytes).sum() };
    for number in 0..500_u32 {
        let name = number.to_be_bytes();
        of.put(0, &key(&name), Some(block(&name, &[(b"a", &[0; 1000])])));
    }
    cache.trim();
    assert!((192 << 10..=320 << 10).contains(&bytes()), "{}", bytes());
    beside.take(256 << 10);
    cache.trim();
    assert!((32 << 10..=64 << 10).contains(&bytes()), "{}", bytes());
    beside.take(1 << 20);
    cache.trim();
    assert!(bytes() <= 64 << 10);
}
