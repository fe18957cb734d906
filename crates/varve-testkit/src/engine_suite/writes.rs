//! Batches.

use varve_kv::{Batch, ClusteringRange, Durability, Engine, ReaderExt};

use super::tables::{
    COLD, NAMED, POINTS, SINGLE, all_rows, cold, keys, named, open, point, put, rows,
};

/// "Writes to be applied together, in order: of two writes to the same row, the later one wins."
pub fn a_later_write_to_the_same_row_wins(engine: &dyn Engine) {
    let space = open(engine);
    let mut batch = Batch::new();
    batch.put(POINTS, &point(1), b"twice", b"first");
    batch.put(POINTS, &point(1), b"twice", b"second");
    batch.put(POINTS, &point(1), b"gone", b"v");
    batch.delete(POINTS, &point(1), b"gone");
    batch.delete(POINTS, &point(1), b"back");
    batch.put(POINTS, &point(1), b"back", b"v");
    space.write(&batch, Durability::Buffered).unwrap();
    let get = |clustering: &[u8]| space.get(POINTS, &point(1), clustering).unwrap();
    assert_eq!(get(b"twice"), Some(b"second".to_vec()));
    assert_eq!(get(b"gone"), None);
    assert_eq!(get(b"back"), Some(b"v".to_vec()));
    put(&*space, POINTS, &point(1), b"twice", b"third");
    assert_eq!(get(b"twice"), Some(b"third".to_vec()));
}

/// "Removing a missing one does nothing."
pub fn deleting_a_missing_row_does_nothing(engine: &dyn Engine) {
    let space = open(engine);
    put(&*space, POINTS, &point(1), b"b", b"v");
    let mut batch = Batch::new();
    batch.delete(POINTS, &point(1), b"a");
    batch.delete(POINTS, &point(2), b"b");
    batch.delete_prefix(POINTS, &point(3), b"");
    space.write(&batch, Durability::Buffered).unwrap();
    assert_eq!(all_rows(&*space, POINTS, None).len(), 1);
}

/// "Removes every row of a partition whose clustering key starts with `prefix`", also for an empty
/// prefix or one of 0xFF bytes.
pub fn delete_prefix_removes_exactly_its_rows(engine: &dyn Engine) {
    let space = open(engine);
    let clusterings: [&[u8]; 8] = [
        b"",
        b"a",
        b"ab",
        b"ab\xFF",
        b"ac",
        b"\xFF",
        b"\xFF\xFF",
        b"\xFF\xFF\x01",
    ];
    let prefixes: [&[u8]; 5] = [b"ab", b"\xFF", b"\xFF\xFF", b"", b"zzz"];
    for (table, target, neighbour) in [
        (POINTS, point(0xFF), point(0x100)),
        (NAMED, named(b"a"), named(b"aa")),
        (COLD, cold(b"\xFF"), cold(b"\xFF\xFF")),
        (POINTS, point(u64::MAX), point(u64::MAX - 1)),
    ] {
        for prefix in prefixes {
            for clustering in clusterings {
                put(&*space, table, &target, clustering, b"v");
                put(&*space, table, &neighbour, clustering, b"v");
            }
            let mut batch = Batch::new();
            batch.delete_prefix(table, &target, prefix);
            space.write(&batch, Durability::Buffered).unwrap();
            let expected: Vec<Vec<u8>> = clusterings
                .iter()
                .filter(|key| !key.starts_with(prefix))
                .map(|key| key.to_vec())
                .collect();
            assert_eq!(keys(&*space, table, &target), expected);
            assert_eq!(keys(&*space, table, &neighbour).len(), clusterings.len());
            for clustering in clusterings {
                let got = space.get(table, &target, clustering).unwrap();
                assert_eq!(got.is_none(), clustering.starts_with(prefix));
            }
            space.compact().unwrap();
            assert_eq!(keys(&*space, table, &target), expected);
        }
    }
    put(&*space, SINGLE, b"", b"x", b"v");
    let mut batch = Batch::new();
    batch.delete_prefix(SINGLE, b"", b"");
    space.write(&batch, Durability::Buffered).unwrap();
    assert!(all_rows(&*space, SINGLE, None).is_empty());
}

/// A `delete_prefix` removes earlier rows, including those of its own batch, but no later ones.
pub fn delete_prefix_keeps_its_place_in_the_batch(engine: &dyn Engine) {
    let space = open(engine);
    let partition = named(b"p");
    put(&*space, NAMED, &partition, b"k-stored", b"v");
    let mut batch = Batch::new();
    batch.put(NAMED, &partition, b"k-before", b"v");
    batch.delete_prefix(NAMED, &partition, b"k");
    batch.put(NAMED, &partition, b"k-after", b"v");
    space.write(&batch, Durability::Buffered).unwrap();
    assert_eq!(keys(&*space, NAMED, &partition), [b"k-after".to_vec()]);
}

/// A sweep "does not change the effect of the batch". Rows outside of its range stay, and so do
/// rows that the batch puts before or after the sweep. Earlier and later writes are unaffected.
pub fn a_sweep_removes_what_its_batch_deletes(engine: &dyn Engine) {
    const ROWS: u8 = 60;
    let space = open(engine);
    let inside = ClusteringRange {
        from: vec![10],
        to: Some(vec![50]),
    };
    for (table, partition) in [
        (POINTS, point(7)),
        (NAMED, named(b"hub")),
        (COLD, cold(b"hub")),
    ] {
        // Twice, so that removed rows of the first round are in the range.
        for round in [b"one", b"two"] {
            for n in 0..ROWS {
                put(&*space, table, &partition, &[n], b"v");
            }
            // A key between two others, which the batch deletes by itself.
            put(&*space, table, &partition, &[20, 0], b"v");
            let mut batch = Batch::new();
            batch.delete(table, &partition, &[20, 0]);
            batch.put(table, &partition, &[30], round);
            for n in (10..50).rev().filter(|n| *n != 30) {
                batch.delete(table, &partition, &[n]);
            }
            batch.sweep(table, &partition, inside.clone());
            batch.put(table, &partition, &[25], round);
            batch.put(table, &partition, &[40, 1], round);
            space.write(&batch, Durability::Buffered).unwrap();
            let outside = (0..ROWS).filter(|n| !inside.contains(&[*n]));
            let mut expected: Vec<Vec<u8>> = outside.map(|n| vec![n]).collect();
            expected.extend([vec![25], vec![30], vec![40, 1]]);
            expected.sort();
            assert_eq!(keys(&*space, table, &partition), expected);
            for key in [&[25][..], &[30], &[40, 1]] {
                let got = space.get(table, &partition, key).unwrap();
                assert_eq!(got.as_deref(), Some(&round[..]));
            }
            assert_eq!(space.get(table, &partition, &[20, 0]).unwrap(), None);
            put(&*space, table, &partition, &[20], b"later");
            let got = space.get(table, &partition, &[20]).unwrap();
            assert_eq!(got.as_deref(), Some(&b"later"[..]));
            let all = rows(&*space, table, &partition, &ClusteringRange::all(), true);
            assert_eq!(all.len(), expected.len() + 1);
        }
    }
}

/// A batch may be empty.
pub fn an_empty_batch_is_accepted(engine: &dyn Engine) {
    let space = open(engine);
    space.write(&Batch::new(), Durability::Sync).unwrap();
    space.write(&Batch::new(), Durability::Buffered).unwrap();
    assert!(all_rows(&*space, POINTS, None).is_empty());
}

/// "Applies a batch": a batch may span all tables and partitions of a space.
pub fn a_batch_spans_tables_and_partitions(engine: &dyn Engine) {
    let space = open(engine);
    let mut batch = Batch::new();
    batch.put(POINTS, &point(1), b"c", b"1");
    batch.put(NAMED, &named(b"n"), b"c", b"2");
    batch.put(COLD, &cold(b"n"), b"c", b"3");
    batch.put(SINGLE, b"", b"c", b"4");
    let mut more = Batch::new();
    let at = more.put(POINTS, &point(2), b"c", b"?");
    let moved = batch.byte_len();
    batch.append(&more);
    batch.bytes_mut()[at + moved] = b'5';
    space.write(&batch, Durability::Sync).unwrap();
    let get = |table, partition: &[u8]| space.get(table, partition, b"c").unwrap().unwrap();
    assert_eq!(get(POINTS, &point(1)), b"1");
    assert_eq!(get(NAMED, &named(b"n")), b"2");
    assert_eq!(get(COLD, &cold(b"n")), b"3");
    assert_eq!(get(SINGLE, b""), b"4");
    assert_eq!(get(POINTS, &point(2)), b"5");
}

/// A batch may have tens of thousands of rows.
pub fn many_rows_in_one_batch(engine: &dyn Engine) {
    let space = open(engine);
    let mut batch = Batch::new();
    for n in 0..50_000u64 {
        // Multiplication by an odd number visits every key once, out of order.
        let key = n.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        batch.put(POINTS, &point(key), b"c", &n.to_le_bytes());
    }
    space.write(&batch, Durability::Buffered).unwrap();
    for n in (0..50_000u64).step_by(97) {
        let key = n.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let got = space.get(POINTS, &point(key), b"c").unwrap();
        assert_eq!(got.as_deref(), Some(&n.to_le_bytes()[..]));
    }
    assert_eq!(all_rows(&*space, POINTS, None).len(), 50_000);
}

/// A batch may be written twice, and may be cleared, filled and written again.
pub fn a_batch_may_be_cleared_and_used_again(engine: &dyn Engine) {
    let space = open(engine);
    let mut batch = Batch::new();
    for n in 0..10u64 {
        batch.clear();
        batch.put(POINTS, &point(n), b"", &point(n));
        space.write(&batch, Durability::Buffered).unwrap();
        space.write(&batch, Durability::Buffered).unwrap();
    }
    assert_eq!(all_rows(&*space, POINTS, None).len(), 10);
}

/// `sync` and `compact` do not change what reads return.
pub fn rows_survive_sync_and_compaction(engine: &dyn Engine) {
    let space = open(engine);
    for n in 0..100u64 {
        put(&*space, POINTS, &point(n), b"", &point(n));
        put(&*space, COLD, &cold(b"c"), &point(n), &point(n));
    }
    let before = (
        all_rows(&*space, POINTS, None),
        all_rows(&*space, COLD, None),
    );
    space.sync().unwrap();
    space.compact().unwrap();
    let after = (
        all_rows(&*space, POINTS, None),
        all_rows(&*space, COLD, None),
    );
    assert_eq!(before, after);
    put(&*space, POINTS, &point(50), b"", b"new");
    let got = space.get(POINTS, &point(50), b"").unwrap();
    assert_eq!(got.as_deref(), Some(&b"new"[..]));
    let range = ClusteringRange::prefix(&[0]);
    assert_eq!(rows(&*space, COLD, &cold(b"c"), &range, true).len(), 100);
}

/// "Reads all stored data and checks it against its checksums": a sound store passes.
pub fn a_sound_store_verifies(engine: &dyn Engine) {
    let space = open(engine);
    space.verify_checksums().unwrap();
    for n in 0..1_000u64 {
        put(&*space, POINTS, &point(n), b"", &point(n));
    }
    space.verify_checksums().unwrap();
    space.compact().unwrap();
    space.verify_checksums().unwrap();
}

/// Statistics are usable as metrics: unique snake-case names, a help text, finite values.
pub fn statistics_have_names_and_finite_values(engine: &dyn Engine) {
    let space = open(engine);
    put(&*space, POINTS, &point(1), b"", b"");
    let statistics = space.statistics();
    assert!(!statistics.is_empty());
    let mut names: Vec<_> = statistics.iter().map(|statistic| statistic.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), statistics.len(), "a name occurs twice");
    for statistic in statistics {
        assert!(statistic.value.is_finite(), "{}", statistic.name);
        assert!(!statistic.help.is_empty(), "{}", statistic.name);
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        assert!(statistic.name.bytes().all(plain), "{}", statistic.name);
    }
}
