//! A process that writes batches over several partitions is killed at each step of a commit. The
//! next opening of the space finds each batch whole or not at all, and every acknowledged batch.

#![allow(clippy::unwrap_used, reason = "a failed call is a failed test")]

#[path = "support/node.rs"]
mod node;

use std::io::Write;
use std::process::Command;

use node::Scratch;
use varve_kv::{Batch, Durability, Engine, ReaderExt, Space, fail_point};
use varve_testkit::engine_suite::tables::{NAMED, POINTS, TABLES, all_rows, named, point};

/// Set for the process that is killed: the keyspace, and the fail point at which it dies.
const CHILD_KEYSPACE: &str = "VARVE_CRASH_CHILD_KEYSPACE";
const CHILD_PLACE: &str = "VARVE_CRASH_CHILD_PLACE";
/// Rows of each batch, each in a separate partition.
const ROWS: u64 = 24;

/// Each batch replaces the rows of the one before it, and removes a row that only that one had.
fn batch_of(number: u64) -> Batch {
    let mut batch = Batch::new();
    for row in 0..ROWS {
        batch.put(POINTS, &point(row), b"c", &point(number));
    }
    batch.delete_prefix(NAMED, &named(b"own"), b"");
    batch.put(NAMED, &named(b"own"), &point(number), b"");
    batch
}

/// In the process that is to be killed: writes batches until then, and reports the acknowledged
/// ones.
fn is_child(batch_of: impl Fn(u64) -> Batch) -> bool {
    let Ok(keyspace) = std::env::var(CHILD_KEYSPACE) else {
        return false;
    };
    let engine = Scratch::of_keyspace(&keyspace).unwrap();
    let space = engine.open("crash", TABLES, true).unwrap();
    fail_point::arm(&std::env::var(CHILD_PLACE).unwrap()).unwrap();
    for number in 1.. {
        space.write(&batch_of(number), Durability::Sync).unwrap();
        println!("acknowledged {number}");
        std::io::stdout().flush().unwrap();
    }
    true
}

/// Runs this binary's `test` as the process that is killed at `place`; returns the last
/// acknowledged batch.
fn killed_at(engine: &Scratch, test: &str, place: &str) -> u64 {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(CHILD_KEYSPACE, engine.keyspace())
        .env(CHILD_PLACE, place)
        .env("VARVE_TEST_CASSANDRA", engine.node())
        .output()
        .unwrap();
    assert!(!output.status.success(), "{place} was not reached");
    let printed = String::from_utf8_lossy(&output.stdout);
    let acknowledged = printed
        .lines()
        .filter_map(|line| line.strip_prefix("acknowledged ")?.parse::<u64>().ok())
        .max()
        .unwrap_or(0);
    assert!(
        acknowledged >= 1,
        "{place}: {printed}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    acknowledged
}

/// Returns the number of the batch whose rows a space has; all rows must be of one batch.
fn shown(space: &dyn Space) -> u64 {
    let rows = all_rows(space, POINTS, None);
    let Some((_, _, first)) = rows.first() else {
        assert!(all_rows(space, NAMED, None).is_empty());
        return 0;
    };
    assert_eq!(rows.len() as u64, ROWS);
    for (_, _, value) in &rows {
        assert_eq!(value, first, "half of a batch");
    }
    let own = all_rows(space, NAMED, None);
    assert_eq!(own.len(), 1, "half of a batch");
    assert_eq!(&own[0].1, first, "half of a batch");
    u64::from_be_bytes(first[..].try_into().unwrap())
}

#[test]
fn a_crash_leaves_no_half_of_a_batch() {
    if is_child(batch_of) {
        return;
    }
    let Some(engine) = Scratch::new() else { return };
    let mut least = 0;
    for (place, decided) in [
        ("cluster.stamped:kill:3", false),
        ("cluster.decided:kill:2", true),
        ("cluster.piece:kill:5", true),
        ("cluster.carried:kill:2", true),
    ] {
        let acknowledged = killed_at(&engine, "a_crash_leaves_no_half_of_a_batch", place);
        // Waits until the lease of the killed process has expired.
        let space = engine.open("crash", TABLES, false).unwrap();
        let found = shown(&*space);
        println!("{place}: {acknowledged} acknowledged, {found} found");
        let expected = acknowledged + u64::from(decided);
        assert_eq!(found, expected, "{place}");
        least = least.max(found);
        // A process that starts again counts from one, and its batches must still be the newer
        // ones.
        space.write(&batch_of(0), Durability::Sync).unwrap();
        assert_eq!(shown(&*space), 0, "{place}: an older batch has won");
        drop(space);
    }
    assert!(least > 0);
}

/// A batch's write to a single partition comes from its record alone. Otherwise a request that a
/// node has delayed until another server has the space would be taken for that server's.
#[test]
fn a_batch_of_one_partition_is_carried_out_by_whoever_opens_the_space_next() {
    let batch_of = |number| {
        let mut batch = Batch::new();
        batch.put(POINTS, &point(0), b"c", &point(number));
        batch
    };
    if is_child(batch_of) {
        return;
    }
    let Some(engine) = Scratch::new() else { return };
    let test = "a_batch_of_one_partition_is_carried_out_by_whoever_opens_the_space_next";
    let acknowledged = killed_at(&engine, test, "cluster.decided:kill:2");
    let space = engine.open("crash", TABLES, false).unwrap();
    let found = space.get(POINTS, &point(0), b"c").unwrap();
    assert_eq!(found.as_deref(), Some(&point(acknowledged + 1)[..]));
}
