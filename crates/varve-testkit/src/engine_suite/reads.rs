//! Reads of single rows.

use varve_kv::{Batch, Durability, Engine, Reader, ReaderExt, Space, state_of};

use super::tables::{COLD, NAMED, POINTS, SINGLE, cold, named, open, point, put};

/// "A row is (table, partition key, clustering key) -> value."
pub fn a_row_is_found_by_all_three_parts_of_its_key(engine: &dyn Engine) {
    let space = open(engine);
    put(&*space, POINTS, &point(1), b"c", b"one");
    put(&*space, POINTS, &point(2), b"c", b"two");
    put(&*space, POINTS, &point(1), b"d", b"three");
    put(&*space, NAMED, &named(b"1234567"), b"c", b"four");
    put(&*space, SINGLE, b"", b"\0\0\0\0\0\0\0\x01c", b"five");
    let get = |partition: u64, clustering: &[u8]| {
        space.get(POINTS, &point(partition), clustering).unwrap()
    };
    assert_eq!(get(1, b"c").as_deref(), Some(&b"one"[..]));
    assert_eq!(get(2, b"c").as_deref(), Some(&b"two"[..]));
    assert_eq!(get(1, b"d").as_deref(), Some(&b"three"[..]));
    let other = space.get(NAMED, &named(b"1234567"), b"c").unwrap();
    assert_eq!(other.as_deref(), Some(&b"four"[..]));
    let single = space.get(SINGLE, b"", b"\0\0\0\0\0\0\0\x01c").unwrap();
    assert_eq!(single.as_deref(), Some(&b"five"[..]));
}

/// "Missing rows are not errors: reads return `None`."
pub fn a_missing_row_is_none(engine: &dyn Engine) {
    let space = open(engine);
    put(&*space, POINTS, &point(7), b"abc", b"v");
    for (partition, clustering) in [(7, &b"ab"[..]), (7, b"abcd"), (7, b""), (8, b"abc")] {
        assert_eq!(
            space.get(POINTS, &point(partition), clustering).unwrap(),
            None
        );
    }
    assert_eq!(space.get(NAMED, &named(b"7"), b"abc").unwrap(), None);
    assert_eq!(space.get(COLD, &cold(b""), b"").unwrap(), None);
}

/// Clustering keys, values, and the partition key of a table with one partition may be empty; an
/// empty value is not a missing row.
pub fn keys_and_values_may_be_empty(engine: &dyn Engine) {
    let space = open(engine);
    put(&*space, POINTS, &point(0), b"", b"");
    put(&*space, SINGLE, b"", b"", b"");
    put(&*space, COLD, &cold(b""), b"", b"");
    assert_eq!(space.get(POINTS, &point(0), b"").unwrap(), Some(vec![]));
    assert_eq!(space.get(SINGLE, b"", b"").unwrap(), Some(vec![]));
    assert_eq!(space.get(COLD, &cold(b""), b"").unwrap(), Some(vec![]));
    assert_eq!(space.get(POINTS, &point(1), b"").unwrap(), None);
}

/// Values may be larger than any property.
pub fn a_value_of_a_mebibyte_comes_back(engine: &dyn Engine) {
    let space = open(engine);
    let value: Vec<u8> = (0..1u32 << 20).map(|n| (n % 251) as u8).collect();
    for n in 0..4 {
        put(&*space, POINTS, &point(n), b"big", &value);
    }
    for round in 0..2 {
        for n in 0..4 {
            let got = space.get(POINTS, &point(n), b"big").unwrap();
            assert!(
                got.as_deref() == Some(&value[..]),
                "round {round}, value {n}"
            );
        }
        space.compact().unwrap();
    }
}

/// Keys may be long.
pub fn long_keys_come_back(engine: &dyn Engine) {
    let space = open(engine);
    let name = vec![b'n'; 8_000];
    let clustering = vec![0xFF; 8_000];
    put(&*space, NAMED, &named(&name), &clustering, b"far");
    let got = space.get(NAMED, &named(&name), &clustering).unwrap();
    assert_eq!(got.as_deref(), Some(&b"far"[..]));
    let shorter = space
        .get(NAMED, &named(&name), &clustering[..7_999])
        .unwrap();
    assert_eq!(shorter, None);
}

/// `get_with` passes the value to its visitor once, and returns whether the row exists.
pub fn get_with_hands_out_the_value_once(engine: &dyn Engine) {
    let space = open(engine);
    put(&*space, POINTS, &point(1), b"c", b"value");
    let snapshot = state_of(&space);
    let readers: [&dyn Reader; 2] = [&*space, &*snapshot];
    for reader in readers {
        let mut seen = Vec::new();
        let found = reader
            .get_with(POINTS, &point(1), b"c", &mut |value| {
                seen.push(value.to_vec());
            })
            .unwrap();
        assert!(found);
        assert_eq!(seen, [b"value".to_vec()]);
        let missing = reader
            .get_with(POINTS, &point(2), b"c", &mut |_| {
                panic!("there is no such row")
            })
            .unwrap();
        assert!(!missing);
    }
}

/// "The position and value of each of these rows that exists."
pub fn get_each_hands_out_each_value_once(engine: &dyn Engine) {
    let space = open(engine);
    for n in 0..200u64 {
        put(&*space, POINTS, &point(n * 2), b"c", &point(n));
    }
    let partitions: Vec<Vec<u8>> = (0..500u64).map(|n| point((n * 7919) % 400)).collect();
    let asked: Vec<(&[u8], &[u8])> = partitions.iter().map(|key| (&key[..], &b"c"[..])).collect();
    let check = |space: &dyn Reader| {
        let mut found = vec![None; asked.len()];
        let mut show = |at: usize, value: &[u8]| {
            let before = found[at].replace(value.to_vec());
            assert_eq!(before, None, "once");
        };
        space.get_each(POINTS, &asked, &mut show).unwrap();
        assert_eq!(found, space.multi_get(POINTS, &asked).unwrap());
    };
    check(&*space);
    check(&*state_of(&space));
    space.compact().unwrap();
    put(&*space, POINTS, &point(0), b"c", b"newer");
    let mut batch = Batch::new();
    batch.delete(POINTS, &point(2), b"c");
    space.write(&batch, Durability::Buffered).unwrap();
    check(&*space);
}

/// "The values of many rows of one table, in the order given."
pub fn multi_get_answers_in_the_order_asked(engine: &dyn Engine) {
    let space = open(engine);
    for n in 0..200u64 {
        put(&*space, POINTS, &point(n * 2), b"c", &point(n));
    }
    let partitions: Vec<Vec<u8>> = (0..500u64).map(|n| point((n * 7919) % 400)).collect();
    let asked: Vec<(&[u8], &[u8])> = partitions.iter().map(|key| (&key[..], &b"c"[..])).collect();
    let check = |got: Vec<Option<Vec<u8>>>| {
        assert_eq!(got.len(), asked.len());
        for (n, value) in (0..500u64).zip(got) {
            let key = (n * 7919) % 400;
            let expected = (key % 2 == 0).then(|| point(key / 2));
            assert_eq!(value, expected, "key {key}");
        }
    };
    check(space.multi_get(POINTS, &asked).unwrap());
    check(state_of(&space).multi_get(POINTS, &asked).unwrap());
    assert!(space.multi_get(POINTS, &[]).unwrap().is_empty());
}

/// "`false` means unknown, and is always correct": an existing row is never known to be absent,
/// however it was written.
pub fn a_row_that_is_there_is_never_known_to_be_absent(engine: &dyn Engine) {
    let space = open(engine);
    let mut batch = Batch::new();
    for n in 0..2_000 {
        batch.put(POINTS, &point(n), b"", b"v");
        batch.put(NAMED, &named(b"many"), &n.to_be_bytes(), b"v");
        batch.put(COLD, &cold(b"c"), &n.to_be_bytes(), b"v");
        if n % 100 == 0 {
            space.write(&batch, Durability::Buffered).unwrap();
            batch.clear();
        }
    }
    space.write(&batch, Durability::Sync).unwrap();
    let check = |space: &dyn Space| {
        for n in 0..2_000 {
            assert!(!space.is_known_absent(POINTS, &point(n), b""));
            assert!(!space.is_known_absent(NAMED, &named(b"many"), &n.to_be_bytes()));
            assert!(!space.is_known_absent(COLD, &cold(b"c"), &n.to_be_bytes()));
        }
        // A row that is known to be absent does not exist.
        for n in 2_000..8_000 {
            space.is_known_absent(POINTS, &point(n), b"");
            assert_eq!(space.get(POINTS, &point(n), b"").unwrap(), None);
        }
    };
    check(&*space);
    space.compact().unwrap();
    check(&*space);
    drop(space);
    let space = open(engine);
    check(&*space);
    put(&*space, POINTS, &point(9_000), b"", b"v");
    assert!(!space.is_known_absent(POINTS, &point(9_000), b""));
    check(&*space);
}
