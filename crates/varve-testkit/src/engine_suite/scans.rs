//! Scans: order, ranges, many partitions, whole tables.

use std::collections::BTreeMap;

use varve_kv::{
    Batch, ClusteringRange, Durability, Engine, Flow, PartitionRange, ReaderExt, ScanRequest,
    Space, state_of,
};

use crate::random::Random;

use super::tables::{
    COLD, NAMED, POINTS, SINGLE, all_rows, cold, delete, keys, named, open, point, put, rows,
};

/// Clustering keys, in ascending order, that a wrong comparison easily misorders.
const TRICKY: &[&[u8]] = &[
    b"",
    b"\0",
    b"\0\0",
    b"\0\xFF",
    b"\x01",
    b"a",
    b"a\0",
    b"aa",
    b"b",
    b"\x7F",
    b"\x80",
    b"\xFE\xFF",
    b"\xFF",
    b"\xFF\0",
    b"\xFF\xFE",
    b"\xFF\xFF",
    b"\xFF\xFF\xFF\x01",
    &[0xFF; 64],
    &[0xFF; 70],
];

fn fill_tricky(space: &dyn Space, table: varve_kv::TableId, partition: &[u8]) {
    // Neither ascending nor descending.
    for at in (0..TRICKY.len()).map(|n| (n * 7) % TRICKY.len()) {
        put(space, table, partition, TRICKY[at], &[at as u8]);
    }
}

/// "Rows are ordered by clustering key."
pub fn rows_come_in_the_order_of_their_clustering_bytes(engine: &dyn Engine) {
    let space = open(engine);
    for (table, partition) in [
        (POINTS, point(u64::MAX)),
        (NAMED, named(b"\xFF\xFF")),
        (COLD, cold(b"\xFF")),
        (SINGLE, vec![]),
    ] {
        fill_tricky(&*space, table, &partition);
        let expected: Vec<_> = (0..TRICKY.len())
            .map(|at| (TRICKY[at].to_vec(), vec![at as u8]))
            .collect();
        let all = ClusteringRange::all();
        assert_eq!(rows(&*space, table, &partition, &all, false), expected);
        space.compact().unwrap();
        assert_eq!(rows(&*space, table, &partition, &all, false), expected);
    }
}

/// A scan sees only its partition, although the keys of other partitions are adjacent.
pub fn a_scan_stays_inside_its_partition(engine: &dyn Engine) {
    let space = open(engine);
    for n in [0, 1, 2, 0xFE, 0xFF, 0x100, u64::MAX - 1, u64::MAX] {
        put(&*space, POINTS, &point(n), b"", b"");
        put(&*space, POINTS, &point(n), b"\xFF\xFF", b"");
    }
    let all = ClusteringRange::all();
    for n in [0, 1, 0xFF, u64::MAX] {
        let expected = vec![vec![], b"\xFF\xFF".to_vec()];
        assert_eq!(keys(&*space, POINTS, &point(n)), expected);
        let backwards = rows(&*space, POINTS, &point(n), &all, true);
        assert_eq!(backwards.len(), 2);
    }
    assert!(keys(&*space, POINTS, &point(3)).is_empty());
    assert!(rows(&*space, POINTS, &point(3), &all, true).is_empty());
    assert!(keys(&*space, POINTS, &point(0x101)).is_empty());
}

/// "The clustering keys k of one partition with from <= k < to."
pub fn a_scan_keeps_to_its_range(engine: &dyn Engine) {
    let space = open(engine);
    let partition = named(b"p");
    fill_tricky(&*space, NAMED, &partition);
    let mut ends: Vec<Option<&[u8]>> = TRICKY.iter().map(|key| Some(*key)).collect();
    ends.push(None);
    for from in TRICKY {
        for to in &ends {
            let range = ClusteringRange {
                from: from.to_vec(),
                to: to.map(<[u8]>::to_vec),
            };
            let expected: Vec<Vec<u8>> = TRICKY
                .iter()
                .filter(|key| range.contains(key))
                .map(|key| key.to_vec())
                .collect();
            for reverse in [false, true] {
                let mut got: Vec<Vec<u8>> = rows(&*space, NAMED, &partition, &range, reverse)
                    .into_iter()
                    .map(|(key, _)| key)
                    .collect();
                if reverse {
                    got.reverse();
                }
                assert_eq!(got, expected, "{range:?}, reverse: {reverse}");
            }
        }
    }
}

/// A prefix of 0xFF bytes has no successor; the range ends with the partition.
pub fn ranges_of_full_bytes_end_with_the_partition(engine: &dyn Engine) {
    let space = open(engine);
    for partition in [point(1), point(2), point(u64::MAX)] {
        fill_tricky(&*space, POINTS, &partition);
    }
    for partition in [point(1), point(u64::MAX)] {
        for (prefix, count) in [
            (&b"\xFF"[..], 7),
            (b"\xFF\xFF", 4),
            (b"\xFF\xFF\xFF\xFF", 2),
            (&[0xFF; 64], 2),
            (&[0xFF; 65], 1),
            (&[0xFF; 71], 0),
        ] {
            for reverse in [false, true] {
                let range = ClusteringRange::prefix(prefix);
                let got = rows(&*space, POINTS, &partition, &range, reverse);
                assert_eq!(got.len(), count, "prefix {prefix:02x?}, reverse: {reverse}");
                assert!(got.iter().all(|(key, _)| key.starts_with(prefix)));
            }
        }
    }
}

/// "Whether the scan runs from the last key to the first."
pub fn reverse_is_the_same_backwards(engine: &dyn Engine) {
    let space = open(engine);
    for n in 0..1_000u32 {
        put(&*space, COLD, &cold(b"x"), &n.to_be_bytes(), b"v");
    }
    space.compact().unwrap();
    for n in 1_000..1_500u32 {
        put(&*space, COLD, &cold(b"x"), &n.to_be_bytes(), b"v");
    }
    let range = ClusteringRange {
        from: 100u32.to_be_bytes().to_vec(),
        to: Some(1_400u32.to_be_bytes().to_vec()),
    };
    let forwards = rows(&*space, COLD, &cold(b"x"), &range, false);
    let mut backwards = rows(&*space, COLD, &cold(b"x"), &range, true);
    backwards.reverse();
    assert_eq!(forwards.len(), 1_300);
    assert_eq!(forwards, backwards);
}

/// "... calling `visit(clustering, value)` until it breaks or the range ends."
pub fn a_break_ends_the_scan(engine: &dyn Engine) {
    let space = open(engine);
    for n in 0..10u8 {
        put(&*space, POINTS, &point(1), &[n], b"");
    }
    for reverse in [false, true] {
        let mut seen = Vec::new();
        let range = ClusteringRange::all();
        let request = ScanRequest {
            table: POINTS,
            partition: &point(1),
            range: &range,
            reverse,
        };
        space
            .scan(request, &mut |clustering, _| {
                seen.push(clustering[0]);
                if seen.len() == 3 {
                    Flow::Break(())
                } else {
                    Flow::Continue(())
                }
            })
            .unwrap();
        assert_eq!(seen, if reverse { [9, 8, 7] } else { [0, 1, 2] });
    }
    let mut count = 0;
    space
        .scan_table(POINTS, None, &mut |_| {
            count += 1;
            Flow::Break(())
        })
        .unwrap();
    assert_eq!(count, 1);
}

/// "A [`Space`] returns the newest committed state at each call": a scan sees one state, and its
/// visitor may read and write meanwhile.
pub fn a_visitor_may_use_the_space(engine: &dyn Engine) {
    let space = open(engine);
    for n in 0..10u8 {
        put(&*space, POINTS, &point(1), &[n], b"old");
    }
    let mut seen = Vec::new();
    let range = ClusteringRange::all();
    let request = ScanRequest {
        table: POINTS,
        partition: &point(1),
        range: &range,
        reverse: false,
    };
    space
        .scan(request, &mut |clustering, value| {
            assert_eq!(value, b"old");
            seen.push(clustering[0]);
            put(&*space, POINTS, &point(1), &[clustering[0] + 1], b"new");
            delete(&*space, POINTS, &point(1), &[9]);
            let next = space.get(POINTS, &point(1), &[clustering[0] + 1]).unwrap();
            assert_eq!(next.is_some(), clustering[0] != 8);
            Flow::Continue(())
        })
        .unwrap();
    assert_eq!(seen, (0..10).collect::<Vec<u8>>());
}

/// "Ranges come in the order given, rows in order within each"; a partition may occur twice.
pub fn scan_many_visits_ranges_as_given(engine: &dyn Engine) {
    let space = open(engine);
    for n in 0..20u64 {
        for c in 0..=(n % 4) as u8 {
            put(&*space, POINTS, &point(n), &[c], &point(n));
        }
    }
    let asked: Vec<u64> = vec![19, 0, 5, 99, 5, 18, 1, 7];
    let partitions: Vec<Vec<u8>> = asked.iter().map(|n| point(*n)).collect();
    let slices: Vec<&[u8]> = partitions.iter().map(Vec::as_slice).collect();
    // The last range is empty. All others start at 1, and the first one ends before 2.
    let open = |from: u8, to: Option<u8>| ClusteringRange {
        from: vec![from],
        to: to.map(|to| vec![to]),
    };
    let (most, few, none) = (open(1, None), open(1, Some(2)), open(2, Some(2)));
    let mut ranges = PartitionRange::of_each(&slices, &most);
    ranges[0].range = &few;
    ranges[7].range = &none;
    let mut expected = Vec::new();
    for (at, n) in asked.iter().enumerate().filter(|(_, n)| **n < 20) {
        let rows = (1..=(n % 4) as u8).filter(|c| ranges[at].range.contains(&[*c]));
        expected.extend(rows.map(|c| (at, vec![c], point(*n))));
    }
    let mut got = Vec::new();
    let mut visit = |at: usize, clustering: &[u8], value: &[u8]| {
        got.push((at, clustering.to_vec(), value.to_vec()));
        Flow::Continue(())
    };
    space.scan_many(POINTS, &ranges, &mut visit).unwrap();
    let snapshot = state_of(&space);
    snapshot.scan_many(POINTS, &ranges, &mut visit).unwrap();
    assert_eq!(got, [expected.clone(), expected].concat());
}

/// The same with many ranges: near and distant, ascending and not, some twice or nested.
pub fn scan_many_visits_many_ranges(engine: &dyn Engine) {
    let space = open(engine);
    let mut random = Random::new(7);
    let mut batch = Batch::new();
    let rows = |n: u64| (n % 23) as u8;
    for n in 0..1_000u64 {
        for c in 0..rows(n) {
            batch.put(POINTS, &point(n), &[c, 0], &[c]);
        }
    }
    space.write(&batch, Durability::Buffered).unwrap();
    // Some partitions in order, then others in any order; every third range breaks after some rows.
    let mut asked: Vec<u64> = (0..400).map(|_| random.below(1_100) as u64).collect();
    asked.sort_unstable();
    asked.extend((0..200).map(|_| random.below(1_100) as u64));
    asked.extend(500..700);
    let partitions: Vec<Vec<u8>> = asked.iter().map(|n| point(*n)).collect();
    let range = |random: &mut Random| ClusteringRange {
        from: vec![random.below(12) as u8],
        to: (!random.one_in(3)).then(|| vec![random.below(24) as u8]),
    };
    let of_each: Vec<ClusteringRange> = asked.iter().map(|_| range(&mut random)).collect();
    let ranges = partitions.iter().zip(&of_each);
    let ranges: Vec<PartitionRange<'_>> = ranges
        .map(|(partition, range)| PartitionRange { partition, range })
        .collect();
    let most = |at: usize| {
        if at.is_multiple_of(3) {
            at % 5 + 1
        } else {
            usize::MAX
        }
    };
    let mut expected = Vec::new();
    for (at, n) in asked.iter().enumerate().filter(|(_, n)| **n < 1_000) {
        let within = (0..rows(*n)).filter(|c| of_each[at].contains(&[*c, 0]));
        expected.extend(within.take(most(at)).map(|c| (at, c)));
    }
    let mut got: Vec<(usize, u8)> = Vec::new();
    let mut count = (usize::MAX, 0);
    space
        .scan_many(POINTS, &ranges, &mut |at, clustering, value| {
            assert_eq!(clustering, [value[0], 0]);
            got.push((at, value[0]));
            count = if count.0 == at {
                (at, count.1 + 1)
            } else {
                (at, 1)
            };
            match count.1 < most(at) {
                true => Flow::Continue(()),
                false => Flow::Break(()),
            }
        })
        .unwrap();
    assert_eq!(got, expected);
}

/// "A break ends the scan of that range only."
pub fn scan_many_break_ends_one_range_only(engine: &dyn Engine) {
    let space = open(engine);
    for n in 0..4u64 {
        for c in 0..5u8 {
            put(&*space, POINTS, &point(n), &[c], b"");
        }
    }
    let partitions: Vec<Vec<u8>> = (0..4).map(point).collect();
    let slices: Vec<&[u8]> = partitions.iter().map(Vec::as_slice).collect();
    let mut got = Vec::new();
    space
        .scan_many(
            POINTS,
            &PartitionRange::of_each(&slices, &ClusteringRange::all()),
            &mut |at, clustering, _| {
                got.push((at, clustering[0]));
                if at % 2 == 0 {
                    Flow::Break(())
                } else {
                    Flow::Continue(())
                }
            },
        )
        .unwrap();
    let expected = [
        (0, 0),
        (1, 0),
        (1, 1),
        (1, 2),
        (1, 3),
        (1, 4),
        (2, 0),
        (3, 0),
        (3, 1),
        (3, 2),
        (3, 3),
        (3, 4),
    ];
    assert_eq!(got, expected);
}

fn fill_table(space: &dyn Space) -> usize {
    let mut batch = Batch::new();
    let mut count = 0;
    for n in 0..60u64 {
        for c in 0..(n % 5) as u8 {
            batch.put(POINTS, &point(n * 0x0101_0101), &[c, 0xFF], &point(n));
            count += 1;
        }
    }
    space.write(&batch, Durability::Buffered).unwrap();
    count
}

/// "Visits all rows of a table ... rows of a partition come together and in order."
pub fn scan_table_visits_every_row_once(engine: &dyn Engine) {
    let space = open(engine);
    let count = fill_table(&*space);
    put(&*space, NAMED, &named(b"other"), b"c", b"another table");
    let got = all_rows(&*space, POINTS, None);
    assert_eq!(got.len(), count);
    let mut last_of: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
    let mut current: Option<Vec<u8>> = None;
    for (partition, clustering, value) in got {
        if current.as_ref() != Some(&partition) {
            assert!(
                !last_of.contains_key(&partition),
                "a partition came in two pieces"
            );
            current = Some(partition.clone());
        }
        let n = u64::from_be_bytes(value[..].try_into().unwrap());
        assert_eq!(partition, point(n * 0x0101_0101));
        let before = last_of.insert(partition, clustering.clone());
        assert!(
            before.is_none_or(|before| before < clustering),
            "rows out of order"
        );
    }
    assert_eq!(last_of.len(), 48);
}

/// "The order of partitions is the engine's own and does not change while the table is not
/// written."
pub fn scan_table_repeats_its_order(engine: &dyn Engine) {
    let space = open(engine);
    fill_table(&*space);
    let first = all_rows(&*space, POINTS, None);
    put(&*space, NAMED, &named(b"other"), b"c", b"another table");
    assert_eq!(all_rows(&*space, POINTS, None), first);
    assert_eq!(all_rows(&*state_of(&space), POINTS, None), first);
}

/// "A scan resumes right after the row `after`."
pub fn scan_table_resumes_after_any_row(engine: &dyn Engine) {
    let space = open(engine);
    fill_table(&*space);
    let all = all_rows(&*space, POINTS, None);
    for at in 0..all.len() {
        let (partition, clustering, _) = &all[at];
        let rest = all_rows(&*space, POINTS, Some((partition, clustering)));
        assert_eq!(rest, all[at + 1..]);
    }
    put(&*space, SINGLE, b"", b"", b"first");
    put(&*space, SINGLE, b"", b"\0", b"second");
    assert_eq!(all_rows(&*space, SINGLE, Some((b"", b""))).len(), 1);
    assert!(all_rows(&*space, SINGLE, Some((b"", b"\0"))).is_empty());
}

/// "... whether or not that row still exists."
pub fn scan_table_resumes_after_a_removed_row(engine: &dyn Engine) {
    let space = open(engine);
    fill_table(&*space);
    let all = all_rows(&*space, POINTS, None);
    for at in (0..all.len()).step_by(3) {
        let (partition, clustering, _) = &all[at];
        delete(&*space, POINTS, partition, clustering);
    }
    for at in (0..all.len()).step_by(3) {
        let (partition, clustering, _) = &all[at];
        let rest = all_rows(&*space, POINTS, Some((partition, clustering)));
        let expected: Vec<_> = (at + 1..all.len())
            .filter(|at| at % 3 != 0)
            .map(|at| all[at].clone())
            .collect();
        assert_eq!(rest, expected);
    }
}

/// "Returns partition keys that split a table into parts": a scan that resumes after a cut visits
/// exactly the rows that follow it in the order of partitions, before and after a flush.
pub fn scans_of_parts_visit_every_row_once(engine: &dyn Engine) {
    let space = open(engine);
    fill_table(&*space);
    for name in [&b""[..], b"a", b"aa", b"aaa", b"aa\xFF", b"ab", b"b"] {
        for clustering in [&b""[..], b"a", b"\0a"] {
            put(&*space, NAMED, &named(name), clustering, name);
            put(&*space, COLD, &cold(name), clustering, name);
        }
    }
    put(&*space, SINGLE, b"", b"a", b"one");
    for _ in 0..2 {
        for table in [POINTS, NAMED, COLD, SINGLE] {
            let all = all_rows(&*space, table, None);
            for cut in space.cuts(table) {
                let order = space.partition_order(table, &cut);
                let is_behind =
                    |(partition, clustering, _): &(Vec<u8>, Vec<u8>, Vec<u8>)| match *partition
                        == cut
                    {
                        true => !clustering.is_empty(),
                        false => space.partition_order(table, partition) > order,
                    };
                let behind: Vec<_> = all.iter().filter(|row| is_behind(row)).cloned().collect();
                assert!(all.ends_with(&behind), "{cut:02x?}");
                assert_eq!(
                    all_rows(&*space, table, Some((&cut, b""))),
                    behind,
                    "{cut:02x?}"
                );
            }
        }
        space.compact().unwrap();
    }
}

/// "Partition keys of a table are self-delimiting": partitions stay separate even if one name is a
/// prefix of another.
pub fn partitions_that_extend_each_other_stay_apart(engine: &dyn Engine) {
    let space = open(engine);
    let names: [&[u8]; 6] = [b"", b"a", b"aa", b"aaa", b"aa\xFF", b"ab"];
    for name in names {
        for clustering in [&b""[..], b"a", b"a\0", b"\0a"] {
            put(&*space, NAMED, &named(name), clustering, name);
            put(&*space, COLD, &cold(name), clustering, name);
        }
    }
    for name in names {
        for (table, partition) in [(NAMED, named(name)), (COLD, cold(name))] {
            let got = rows(&*space, table, &partition, &ClusteringRange::all(), false);
            assert_eq!(got.len(), 4);
            assert!(got.iter().all(|(_, value)| value == name));
        }
    }
    assert_eq!(all_rows(&*space, NAMED, None).len(), 24);
}
