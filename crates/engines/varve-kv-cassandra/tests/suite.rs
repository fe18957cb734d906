//! A real Cassandra node passes the suite of the storage seam. The tests use the node
//! `VARVE_TEST_CASSANDRA=host:port` with one datacenter `datacenter1`; without it they print that
//! and pass.

#![allow(clippy::unwrap_used, reason = "a failed call is a failed test")]

#[path = "support/node.rs"]
mod node;

use node::{Scratch, asked};

fn engine() -> Option<(Scratch, ())> {
    Some((Scratch::new()?, ()))
}

varve_testkit::engine_suite!(match engine() {
    Some(engine) => engine,
    None => return,
});

/// Only one server at a time: a second engine is refused while the first renews its lease, and
/// admitted once the first is closed.
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
    assert!(two.drop_space("s", None).is_err());
    drop(space);
    drop(two.open("s", TABLES, false).unwrap());
    two.drop_space("s", None).unwrap();
}

/// Servers that start at once on an empty cluster create one list, even if each uses another node.
#[test]
fn servers_that_start_at_once_have_one_list() {
    use std::sync::Barrier;
    use varve_kv::{Engine, EngineExt};
    use varve_testkit::engine_suite::tables::TABLES;

    const SPACES: [&str; 4] = ["a", "b", "c", "d"];
    let Some(other) = Scratch::new() else { return };
    let keyspace = format!("{}_first", other.keyspace());
    let together = Barrier::new(SPACES.len());
    let start = |space: &str| {
        together.wait();
        let engine = Scratch::of_keyspace(&keyspace).unwrap();
        drop(engine.open(space, &TABLES[..1], true).unwrap());
        engine
    };
    let engines: Vec<Scratch> = std::thread::scope(|scope| {
        let started = SPACES.map(|space| scope.spawn(|| start(space)));
        started.into_iter().map(|one| one.join().unwrap()).collect()
    });
    for engine in &engines {
        assert_eq!(engine.space_names().unwrap(), SPACES);
    }
    for space in SPACES {
        engines[0].drop_space(space, None).unwrap();
    }
    engines[0].remove_list().unwrap();
}

/// Two servers that start at once on an empty cluster create the same space. The one that has it
/// afterwards has all written rows, and the other removes nothing of it.
#[test]
fn a_space_that_two_make_at_once_is_one_of_them() {
    use std::sync::Barrier;
    use varve_kv::{Batch, Durability, Engine, EngineExt, ReaderExt};
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
    assert_eq!(two.space_names().unwrap(), ["s"]);
    let space = one.open("s", TABLES, false).unwrap();
    let found = space.get(POINTS, &point(2), b"c").unwrap();
    assert_eq!(found.as_deref(), Some(&b"v"[..]));
}

/// Additional tables of a later version are created by the owner of the lease, with the id that any
/// concurrent creator would give them.
#[test]
fn tables_that_are_missing_are_made_under_the_lease() {
    use varve_kv::{Engine, KvError};
    use varve_testkit::engine_suite::tables::TABLES;

    let Some(before) = Scratch::new() else { return };
    let later = before.again();
    let space = before.open("s", &TABLES[..2], true).unwrap();
    let keyspace = before.spaces().unwrap().remove(0).incarnation;
    let ids = || {
        let select = "SELECT CAST(id AS text) FROM system_schema.tables WHERE keyspace_name =";
        asked::<String>(&before, &[format!("{select} '{keyspace}'")])
    };
    let first = ids();
    assert_eq!(first.len(), 4, "the lease's and the log's too");
    assert!(first.iter().all(|id| &id[14..15] == "8"), "{first:?}");
    let refused = later.open("s", TABLES, false).err();
    assert!(
        matches!(&refused, Some(KvError::Unavailable { detail, .. }) if detail.contains("has it open")),
        "{refused:?}"
    );
    assert_eq!(ids(), first, "another has it open");
    drop(space);
    drop(later.open("s", TABLES, false).unwrap());
    assert_eq!(ids().len(), TABLES.len() + 2);
    let newer = before.open("s", &TABLES[..2], false).err();
    assert!(
        matches!(&newer, Some(KvError::Unavailable { detail, .. }) if detail.contains("does not know")),
        "{newer:?}"
    );
}

/// An installation keeps its list even if the list has a name that another's space might have:
/// names are never guessed.
#[test]
fn an_installation_takes_no_keyspace_of_another() {
    use varve_kv::{Engine, EngineExt};
    use varve_testkit::engine_suite::tables::TABLES;

    let Some(one) = Scratch::new() else { return };
    let other = Scratch::of_keyspace(&format!("{}_a", one.keyspace())).unwrap();
    drop(other.open("b", TABLES, true).unwrap());
    drop(one.open("a", TABLES, true).unwrap());
    drop(one.open("a_b", TABLES, true).unwrap());
    assert_eq!(other.space_names().unwrap(), ["b"]);
    drop(other.open("b", TABLES, false).unwrap());
    one.drop_space("a", None).unwrap();
    one.drop_space("a_b", None).unwrap();
    drop(other.open("b", TABLES, false).unwrap());
    other.drop_space("b", None).unwrap();
    other.remove_list().unwrap();
}

/// Unfinished creations are removed on request, with their keyspaces; spaces stay.
#[test]
fn what_was_begun_is_removed_and_nothing_else() {
    use varve_kv::{Engine, EngineExt};
    use varve_testkit::engine_suite::tables::TABLES;

    let Some(engine) = Scratch::new() else { return };
    drop(engine.open("g", TABLES, true).unwrap());
    let list = engine.keyspace();
    let begin = |space: &str| {
        [
            format!(
                "CREATE KEYSPACE {list}_{space}_1 WITH replication = \
                 {{'class': 'NetworkTopologyStrategy', 'datacenter1': 1}}"
            ),
            format!(
                "INSERT INTO {list}.spaces (space, keyspace_name, state) \
                 VALUES ('{space}', '{list}_{space}_1', 'creating') IF NOT EXISTS"
            ),
        ]
    };
    asked::<bool>(&engine, &[begin("one"), begin("other")].concat());
    let listed = || {
        let mut spaces = asked::<String>(&engine, &[format!("SELECT space FROM {list}.spaces")]);
        spaces.sort();
        spaces
    };
    let kept = || {
        let select = "SELECT keyspace_name FROM system_schema.keyspaces".to_owned();
        let mut all = asked::<String>(&engine, &[select]);
        all.retain(|name| name.starts_with(list) && name.ends_with("_1"));
        all
    };
    assert_eq!(listed(), ["g", "one", "other"]);
    assert_eq!(engine.space_names().unwrap(), ["g"]);
    engine.clear_begun(&|space| space == "one").unwrap();
    assert_eq!(listed(), ["g", "other"]);
    assert_eq!(kept(), [format!("{list}_other_1")]);
    engine.clear_begun(&|_| true).unwrap();
    assert_eq!(listed(), ["g"]);
    assert_eq!(kept(), Vec::<String>::new());
    drop(engine.open("g", TABLES, false).unwrap());
}

/// A failed opening releases its lease, so that another server may try, and every attempt reports
/// the reason.
#[test]
fn an_opening_that_fails_keeps_no_lease() {
    use varve_kv::{Batch, Durability, Engine, KvError, ReaderExt};
    use varve_testkit::engine_suite::tables::{POINTS, TABLES, point};

    let Some(engine) = Scratch::new() else { return };
    let space = engine.open("s", TABLES, true).unwrap();
    let mut batch = Batch::new();
    batch.put(POINTS, &point(1), b"c", b"v");
    space.write(&batch, Durability::Sync).unwrap();
    drop(space);
    let keyspace = engine.spaces().unwrap().remove(0).incarnation;
    let row = "WHERE p = 1 AND c = 0xff";
    let damage = format!("INSERT INTO {keyspace}.varve_records (p, c, v) VALUES (1, 0xff, 0x00)");
    asked::<bool>(&engine, &[damage]);
    let other = engine.again();
    for engine in [&engine, &other, &engine] {
        let failed = engine.open("s", TABLES, false).err();
        assert!(
            matches!(failed, Some(KvError::Corruption { .. })),
            "{failed:?}"
        );
        assert!(engine.leader("s").unwrap().is_none());
    }
    asked::<bool>(
        &engine,
        &[format!("DELETE FROM {keyspace}.varve_records {row}")],
    );
    let space = other.open("s", TABLES, false).unwrap();
    assert_eq!(
        space.get(POINTS, &point(1), b"c").unwrap().as_deref(),
        Some(&b"v"[..])
    );
}

/// The log becomes empty, also while timestamps are ahead of the clock, as after it was set back.
#[test]
fn the_log_becomes_empty() {
    use std::time::{Duration, Instant, SystemTime};
    use varve_kv::{Batch, Durability, Engine, ReaderExt, Space};
    use varve_testkit::engine_suite::tables::{POINTS, TABLES, point};

    let Some(engine) = Scratch::new() else { return };
    drop(engine.open("s", TABLES, true).unwrap());
    let keyspace = engine.spaces().unwrap().remove(0).incarnation;
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap();
    let ahead = (now + Duration::from_secs(3_600)).as_micros();
    let put_ahead = format!("UPDATE {keyspace}.varve_lease SET bound = {ahead} WHERE slot = 0");
    asked::<bool>(&engine, &[put_ahead]);
    let space = engine.open("s", TABLES, false).unwrap();
    let write = |space: &dyn Space, row: u64| {
        let mut batch = Batch::new();
        batch.put(POINTS, &point(row), b"c", b"v");
        batch.put(POINTS, &point(row + 1), b"c", &point(row));
        space.write(&batch, Durability::Sync).unwrap();
    };
    let kept = || {
        let count = format!("SELECT COUNT(*) FROM {keyspace}.varve_records");
        asked::<i64>(&engine, &[count])[0]
    };
    for round in 0..2 {
        (10 * round..10 * round + 10).for_each(|row| write(&*space, row));
        let began = Instant::now();
        while kept() > 0 {
            assert!(began.elapsed() < Duration::from_secs(120), "{}", kept());
            std::thread::sleep(Duration::from_millis(100));
        }
    }
    write(&*space, 100);
    drop(space);
    let space = engine.open("s", TABLES, false).unwrap();
    for row in [9, 19, 100] {
        let found = space.get(POINTS, &point(row + 1), b"c").unwrap();
        let last = if row == 9 {
            b"v".to_vec()
        } else {
            point(row).to_vec()
        };
        assert_eq!(found, Some(last), "{row}");
    }
}

/// A space that had rows when it was opened learns their keys after its first insert. From then on
/// inserts need not read.
#[test]
fn the_keys_of_rows_of_before_are_learnt() {
    use std::time::{Duration, Instant};
    use varve_kv::{Batch, Durability, Engine, ReaderExt, Space};
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
    assert!(!space.is_known_absent(POINTS, &point(ROWS), b"c"));
    write(&*space, ROWS..ROWS + 1);
    let began = Instant::now();
    while !space.is_known_absent(POINTS, &point(ROWS + 1), b"c") {
        assert!(began.elapsed() < Duration::from_secs(120));
        std::thread::sleep(Duration::from_millis(20));
    }
    for row in 0..=ROWS {
        assert!(!space.is_known_absent(POINTS, &point(row), b"c"));
        assert!(!space.is_known_absent(SINGLE, b"", &point(row)));
    }
}

/// A keyspace that is listed but missing, restored in part or made anew is not opened, and can be
/// removed.
#[test]
fn a_keyspace_without_its_lease_is_refused_and_can_be_removed() {
    use varve_kv::{Engine, EngineExt, KvError};
    use varve_testkit::engine_suite::tables::TABLES;

    let Some(engine) = Scratch::new() else { return };
    for (statement, says) in [
        ("DROP KEYSPACE {}", "is missing"),
        ("DROP TABLE {}.varve_lease", "restored in part"),
        ("TRUNCATE {}.varve_lease", "made anew"),
    ] {
        drop(engine.open("s", TABLES, true).unwrap());
        let keyspace = engine.spaces().unwrap().remove(0).incarnation;
        asked::<String>(&engine, &[statement.replace("{}", &keyspace)]);
        for create in [false, true] {
            let refused = engine.open("s", TABLES, create).err();
            assert!(
                matches!(&refused, Some(KvError::Unavailable { detail, .. }) if detail.contains(says)),
                "{statement}: {refused:?}"
            );
        }
        engine.drop_space("s", Some(&keyspace)).unwrap();
        assert!(engine.space_names().unwrap().is_empty());
    }
}

/// A space whose keyspace is made anew while it is open is lost at the next write.
#[test]
fn a_keyspace_that_is_made_anew_is_not_written() {
    use varve_kv::{Batch, Durability, Engine, Leadership};
    use varve_testkit::engine_suite::tables::{POINTS, TABLES, point};

    let Some(engine) = Scratch::new() else { return };
    let space = engine.open("s", TABLES, true).unwrap();
    let keyspace = space.lease().incarnation.to_owned();
    asked::<String>(&engine, &[format!("TRUNCATE {keyspace}.varve_lease")]);
    let mut batch = Batch::new();
    batch.put(POINTS, &point(1), b"c", b"v");
    assert!(space.write(&batch, Durability::Sync).is_err());
    assert_eq!(space.lease().leadership, Leadership::Lost);
}

/// Full scans visit every row once and in order, however the rows are spread over partitions, and
/// whatever the scans before have learned.
#[test]
fn scans_that_read_ahead_visit_every_row_once() {
    use varve_kv::{Batch, Durability, Engine, Flow};
    use varve_testkit::engine_suite::tables::{POINTS, TABLES, point};

    let Some(engine) = Scratch::new() else { return };
    let space = engine.open("s", TABLES, true).unwrap();
    let mut expected = Vec::new();
    let mut add = |partition: u64, rows: u32| {
        let mut batch = Batch::new();
        for row in 0..rows {
            batch.put(POINTS, &point(partition), &row.to_be_bytes(), b"v");
            let order = space.partition_order(POINTS, &point(partition));
            expected.push((order, row.to_be_bytes().to_vec()));
        }
        space.write(&batch, Durability::Sync).unwrap();
        expected.sort();
        for most in [usize::MAX, 1, 700, 5_000] {
            let mut found = Vec::new();
            let mut after: Option<(Vec<u8>, Vec<u8>)> = None;
            loop {
                let (mut seen, mut last) = (0, None);
                let from = after.as_ref().map(|(p, c)| (&p[..], &c[..]));
                let visited = space.scan_table(POINTS, from, &mut |row| {
                    let order = space.partition_order(POINTS, row.partition);
                    found.push((order, row.clustering.to_vec()));
                    last = Some((row.partition.to_vec(), row.clustering.to_vec()));
                    seen += 1;
                    match seen < most {
                        true => Flow::Continue(()),
                        false => Flow::Break(()),
                    }
                });
                visited.unwrap();
                match last.filter(|_| seen == most) {
                    // Single rows are tried at the beginning only.
                    Some(_) if most == 1 && found.len() >= 20 => break,
                    None => break,
                    last => after = last,
                }
            }
            match most {
                1 => assert_eq!(found, expected[..found.len()]),
                _ => assert_eq!(found, expected),
            }
        }
    };
    add(1, 3);
    for partition in 2..40 {
        add(partition, 50);
    }
    add(40, 6_000);
    for partition in 41..60 {
        add(partition, 200);
    }
}
