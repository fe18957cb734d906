//! A real Cassandra node passes the suite of the storage seam. Without Java and Maven to run one, the tests say so and
//! pass. `VARVE_TEST_CASSANDRA=host:port` takes a node that runs already, with one datacenter `datacenter1`.

#![cfg(feature = "driver")]
#![allow(clippy::unwrap_used, reason = "a failed call is a failed test")]

mod node;

use node::Scratch;

fn engine() -> Option<(Scratch, ())> {
    Some((Scratch::new()?, ()))
}

varve_testkit::engine_suite!(match engine() {
    Some(engine) => engine,
    None => return,
});

/// "One server at a time": a second engine is refused while the first renews its lease, and let in once it is closed.
#[test]
fn a_space_is_open_in_one_process_at_a_time() {
    use varve_kv::{Engine, KvError};
    use varve_testkit::engine_suite::tables::TABLES;

    let Some(one) = Scratch::new() else { return };
    let two = one.again();
    let space = one.open("s", TABLES, true).unwrap();
    let refused = two.open("s", TABLES, false).err();
    assert!(
        matches!(&refused, Some(KvError::Unavailable { detail, .. }) if detail.contains("has it open")),
        "{refused:?}"
    );
    assert!(two.drop_space("s").is_err());
    drop(space);
    drop(two.open("s", TABLES, false).unwrap());
    two.drop_space("s").unwrap();
}

/// Two servers that start at once on an empty cluster make the same space: whichever has it afterwards has all that was
/// written, and the other removes nothing of it.
#[test]
fn a_space_that_two_make_at_once_is_one_of_them() {
    use std::sync::Barrier;
    use varve_kv::{Batch, Durability, Engine};
    use varve_testkit::engine_suite::tables::{POINTS, TABLES, point};

    let Some(one) = Scratch::new() else { return };
    let two = one.again();
    let together = Barrier::new(2);
    let make = |engine: &Scratch| {
        together.wait();
        let space = engine.open("s", TABLES, true);
        if let Ok(space) = &space {
            let mut batch = Batch::new();
            batch.put(POINTS, &point(1), b"c", b"v");
            batch.put(POINTS, &point(2), b"c", b"v");
            space.write(&batch, Durability::Sync).unwrap();
        }
        space.map(drop)
    };
    let made = std::thread::scope(|scope| {
        let other = scope.spawn(|| make(&two));
        [make(&one), other.join().unwrap()]
    });
    println!("{made:?}");
    assert!(made.iter().any(Result::is_ok), "{made:?}");
    assert_eq!(two.spaces().unwrap(), ["s"]);
    let space = one.open("s", TABLES, false).unwrap();
    let found = space.get(POINTS, &point(2), b"c").unwrap();
    assert_eq!(found.as_deref(), Some(&b"v"[..]));
}

/// An installation whose list is called as another's space might be keeps it: names are not guessed.
#[test]
fn an_installation_takes_no_keyspace_of_another() {
    use varve_kv::Engine;
    use varve_testkit::engine_suite::tables::TABLES;

    let Some(one) = Scratch::new() else { return };
    let other = Scratch::of_keyspace(&format!("{}_a", one.keyspace())).unwrap();
    drop(other.open("b", TABLES, true).unwrap());
    drop(one.open("a", TABLES, true).unwrap());
    drop(one.open("a_b", TABLES, true).unwrap());
    assert_eq!(other.spaces().unwrap(), ["b"]);
    drop(other.open("b", TABLES, false).unwrap());
    one.drop_space("a").unwrap();
    one.drop_space("a_b").unwrap();
    drop(other.open("b", TABLES, false).unwrap());
    other.drop_space("b").unwrap();
    other.remove_list().unwrap();
}

/// A space that had rows when it was opened learns their keys with its first insert: from then on inserts need not ask.
#[test]
fn the_keys_of_rows_of_before_are_learnt() {
    use std::time::{Duration, Instant};
    use varve_kv::{Batch, Durability, Engine, Space};
    use varve_testkit::engine_suite::tables::{POINTS, SINGLE, TABLES, point};

    const ROWS: u64 = 2_500;
    let Some(engine) = Scratch::new() else { return };
    let write = |space: &dyn Space, rows: std::ops::Range<u64>| {
        let mut batch = Batch::new();
        for row in rows {
            batch.put(POINTS, &point(row), b"c", b"v");
            batch.put(SINGLE, b"", &point(row), b"v");
        }
        space.write(&batch, Durability::Sync).unwrap();
    };
    let space = engine.open("s", TABLES, true).unwrap();
    write(&*space, 0..ROWS);
    drop(space);
    let space = engine.open("s", TABLES, false).unwrap();
    assert!(!space.known_absent(POINTS, &point(ROWS), b"c"));
    write(&*space, ROWS..ROWS + 1);
    let began = Instant::now();
    while !space.known_absent(POINTS, &point(ROWS + 1), b"c") {
        assert!(began.elapsed() < Duration::from_secs(120));
        std::thread::sleep(Duration::from_millis(20));
    }
    for row in 0..=ROWS {
        assert!(!space.known_absent(POINTS, &point(row), b"c"));
        assert!(!space.known_absent(SINGLE, b"", &point(row)));
    }
}
