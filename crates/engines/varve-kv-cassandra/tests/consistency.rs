//! All processes on a list of spaces must use the same consistency, which can be changed while none
//! of them has a space open. There is only one node of one datacenter here, so the tests show only
//! which processes are accepted or refused.

#![allow(clippy::unwrap_used, reason = "a failed call is a failed test")]

#[path = "support/node.rs"]
mod node;

use std::sync::Barrier;

use node::{Scratch, asked};
use varve_kv::{Batch, Durability, Engine, KvError, ReaderExt};
use varve_kv_cassandra::{CassandraConfig, CassandraEngine, Consistency};
use varve_testkit::engine_suite::tables::{POINTS, TABLES, point};

const LOCAL: &str = "local_quorum in datacenter1";

fn with(engine: &Scratch, consistency: Consistency) -> CassandraConfig {
    CassandraConfig {
        consistency,
        ..engine.config().clone()
    }
}

fn refused(config: CassandraConfig) -> String {
    match CassandraEngine::connect(config).err() {
        Some(KvError::Unavailable { detail, .. }) => detail,
        other => panic!("it is not refused: {other:?}"),
    }
}

fn stored(engine: &Scratch) -> Vec<String> {
    let select = format!("SELECT value FROM \"{}\".settings", engine.keyspace());
    asked(engine, &[select])
}

/// The time at which the row was written, in microseconds.
fn written(engine: &Scratch) -> i64 {
    let select = format!(
        "SELECT writetime(value) FROM \"{}\".settings",
        engine.keyspace()
    );
    asked(engine, &[select])[0]
}

#[test]
fn who_asks_other_nodes_is_refused() {
    let Some(one) = Scratch::new() else { return };
    assert_eq!(stored(&one), [LOCAL]);
    let message = refused(with(&one, Consistency::Quorum));
    for part in [LOCAL, "consistency quorum,", "change-consistency"] {
        assert!(message.contains(part), "{message}");
    }
    drop(one.again());
}

/// A list of an earlier version has no such row: the first process inserts its consistency.
#[test]
fn a_list_of_before_is_completed() {
    let Some(one) = Scratch::new() else { return };
    drop(one.open("s", TABLES, true).unwrap());
    let table = format!("\"{}\".settings", one.keyspace());
    asked::<String>(&one, &[format!("TRUNCATE {table}")]);
    drop(one.open("s", TABLES, false).unwrap());
    assert_eq!(stored(&one), [LOCAL]);
    let before = format!("{}_before", one.keyspace());
    let definitions = [
        format!(
            "CREATE KEYSPACE \"{before}\" WITH replication = {{'class': 'NetworkTopologyStrategy', 'datacenter1': 1}}"
        ),
        format!(
            "CREATE TABLE \"{before}\".spaces (space text PRIMARY KEY, keyspace_name text, state text)"
        ),
    ];
    asked::<String>(&one, &definitions);
    let other = Scratch::of_keyspace(&before).unwrap();
    assert_eq!(stored(&other), [LOCAL]);
    other.remove_list().unwrap();
}

#[test]
fn of_two_that_start_at_once_with_different_ones_one_is_refused() {
    let Some(one) = Scratch::new() else { return };
    let table = format!("\"{}\".settings", one.keyspace());
    for _ in 0..4 {
        asked::<String>(&one, &[format!("TRUNCATE {table}")]);
        let together = Barrier::new(2);
        let start = |consistency| {
            let config = with(&one, consistency);
            together.wait();
            CassandraEngine::connect(config).err()
        };
        let both = std::thread::scope(|scope| {
            [Consistency::LocalQuorum, Consistency::Quorum]
                .map(|of| scope.spawn(move || start(of)))
                .map(|started| started.join().unwrap())
        });
        let unavailable = both
            .iter()
            .flatten()
            .filter(|error| matches!(error, KvError::Unavailable { .. }));
        assert_eq!(unavailable.count(), 1, "{both:?}");
        let expected = if both[0].is_none() { LOCAL } else { "quorum" };
        assert_eq!(stored(&one), [expected]);
    }
    // Removed, so that the scratch engines can remove the list.
    asked::<String>(&one, &[format!("TRUNCATE {table}")]);
}

#[test]
fn it_is_changed_while_nobody_has_a_space_open() {
    let Some(one) = Scratch::new() else { return };
    let (local, quorum) = (
        with(&one, Consistency::LocalQuorum),
        with(&one, Consistency::Quorum),
    );
    let space = one.open("s", TABLES, true).unwrap();
    let mut batch = Batch::new();
    batch.put(POINTS, &point(1), b"c", b"v");
    space.write(&batch, Durability::Sync).unwrap();
    let held = CassandraEngine::change_consistency(quorum.clone()).unwrap_err();
    assert!(matches!(held, KvError::InUse { .. }), "{held}");
    assert!(held.to_string().contains("'s'"), "{held}");
    let term = space.lease().term;
    drop(space);
    let space = one.open("s", TABLES, false).unwrap();
    assert_eq!(
        space.lease().term,
        term + 2,
        "nothing was done to the lease"
    );
    drop(space);

    let changed = CassandraEngine::change_consistency(quorum.clone()).unwrap();
    assert_eq!((&*changed.before, &*changed.now), (LOCAL, "quorum"));
    let sent = written(&one);
    let again = CassandraEngine::change_consistency(quorum.clone()).unwrap();
    assert_eq!(again.before, "quorum");
    assert!(
        written(&one) > sent,
        "it waits for each datacenter once more"
    );
    let other = CassandraEngine::connect(quorum).unwrap();
    let space = other.open("s", TABLES, false).unwrap();
    assert!(space.lease().term > term + 4, "terms of before have ended");
    assert_eq!(space.get(POINTS, &point(1), b"c").unwrap().unwrap(), b"v");
    let term = space.lease().term;
    drop(space);
    // A process that was connected before can open nothing any more, and does not block others.
    for create in [false, true] {
        let name = if create { "t" } else { "s" };
        let refused = one.open(name, TABLES, create).err();
        let message = format!("{refused:?}");
        assert!(
            message.contains("Unavailable") && message.contains(LOCAL),
            "{message}"
        );
    }
    assert!(one.drop_space("s", None).is_err());
    let space = other.open("s", TABLES, false).unwrap();
    assert_eq!(
        space.lease().term,
        term + 2,
        "nobody took the lease to find out"
    );
    drop(space);
    drop(other);
    refused(local.clone());
    CassandraEngine::change_consistency(local).unwrap();
    drop(one.open("s", TABLES, false).unwrap());
}

/// Otherwise the servers would continue with another list than the one reported as changed.
#[test]
fn a_list_that_is_not_there_is_not_made_by_a_change() {
    let Some(one) = Scratch::new() else { return };
    let keyspace = format!("{}_mistyped", one.keyspace());
    let config = CassandraConfig {
        keyspace: keyspace.clone(),
        ..with(&one, Consistency::Quorum)
    };
    let refused = CassandraEngine::change_consistency(config).unwrap_err();
    let message = refused.to_string();
    assert!(matches!(refused, KvError::Missing { .. }), "{message}");
    assert!(
        message.contains("there is no keyspace") && message.contains(&keyspace),
        "{message}"
    );
    let made = format!(
        "SELECT keyspace_name FROM system_schema.keyspaces WHERE keyspace_name = '{keyspace}'"
    );
    assert!(asked::<String>(&one, &[made]).is_empty());
}

#[test]
fn a_change_that_was_broken_off_lets_nobody_in_until_it_is_made_or_taken_back() {
    let Some(one) = Scratch::new() else { return };
    drop(one.open("s", TABLES, true).unwrap());
    let half = format!(
        "UPDATE \"{}\".settings SET next = 'quorum by another' WHERE name = 'consistency' IF EXISTS",
        one.keyspace()
    );
    let (local, quorum) = (
        with(&one, Consistency::LocalQuorum),
        with(&one, Consistency::Quorum),
    );
    for to in [&local, &quorum] {
        asked::<bool>(&one, std::slice::from_ref(&half));
        for config in [&local, &quorum] {
            assert!(refused(config.clone()).contains("is being changed"));
        }
        let during = one.open("s", TABLES, false).err();
        assert!(
            matches!(during, Some(KvError::Unavailable { .. })),
            "{during:?}"
        );
        CassandraEngine::change_consistency(to.clone()).unwrap();
        drop(CassandraEngine::connect(to.clone()).unwrap());
    }
    CassandraEngine::change_consistency(local).unwrap();
}
