//! The limits of a suspended leader once another process has its space.

#![allow(clippy::unwrap_used, reason = "a failed call is a failed test")]

#[path = "support/node.rs"]
mod node;

use std::time::Duration;

use node::{Scratch, asked};
use varve_kv::{Batch, Durability, Engine, KvError, Leadership, Space};
use varve_testkit::engine_suite::tables::{POINTS, TABLES, all_rows, point};

/// Far longer than a test, so that no clock of the leader shows that its lease has ended, and the
/// leader does not renew it meanwhile: as when a hypervisor has stopped its machine together with
/// both clocks.
const LEASE: Duration = Duration::from_secs(3_600);

/// Every batch replaces the rows of the one before it.
fn write(space: &dyn Space, number: u64) -> Result<(), KvError> {
    let mut batch = Batch::new();
    for row in 0..24 {
        batch.put(POINTS, &point(row), b"c", &point(number));
    }
    space.write(&batch, Durability::Sync)
}

/// The numbers of the batches whose rows a space shows.
fn shown(space: &dyn Space) -> Vec<u64> {
    let rows = all_rows(space, POINTS, None);
    let numbers = rows
        .iter()
        .map(|(_, _, value)| u64::from_be_bytes(value[..].try_into().unwrap()));
    let mut numbers: Vec<u64> = numbers.collect();
    numbers.dedup();
    numbers
}

/// Ends the leader's row among the servers, as another server does.
fn end(engine: &Scratch, leader: &dyn Space) {
    let (keyspace, list) = (leader.lease().incarnation.to_owned(), engine.keyspace());
    let owner = format!("SELECT owner FROM \"{keyspace}\".varve_lease WHERE slot = 0");
    let owner: Vec<String> = asked(engine, &[owner]);
    let statement = format!(
        "DELETE FROM \"{list}\".servers WHERE slot = 0 AND name = '{}' IF EXISTS",
        owner[0]
    );
    assert_eq!(asked::<bool>(engine, &[statement]), [true]);
}

#[test]
fn a_leader_whose_clocks_stood_still_acknowledges_nothing_once_another_has_its_space() {
    let Some(engine) = Scratch::configured(|config| config.lease = LEASE) else {
        return;
    };
    let other = engine.again();
    let leader = engine.open("s", TABLES, true).unwrap();
    write(&*leader, 1).unwrap();
    end(&engine, &*leader);
    let next = other.open("s", TABLES, false).unwrap();
    assert_eq!(
        leader.lease().leadership,
        Leadership::Held,
        "by its own clocks"
    );

    let written = write(&*leader, 2);
    assert!(
        matches!(&written, Err(KvError::OutcomeUnknown { .. })),
        "{written:?}"
    );
    assert_eq!(leader.lease().leadership, Leadership::Lost);
    assert_eq!(shown(&*next), [1], "nothing of it is carried out");
    drop(next);
    let next = other.open("s", TABLES, false).unwrap();
    assert_eq!(shown(&*next), [1], "its record does not count");
    write(&*next, 3).unwrap();
    assert_eq!(shown(&*next), [3]);
}

/// The lease may be ended meanwhile: as long as no process has taken it, the next one to do so will
/// find the record.
#[test]
fn a_write_counts_as_long_as_the_term_is_the_writers() {
    let Some(engine) = Scratch::configured(|config| config.lease = LEASE) else {
        return;
    };
    let other = engine.again();
    let leader = engine.open("s", TABLES, true).unwrap();
    end(&engine, &*leader);
    write(&*leader, 1).unwrap();
    let next = other.open("s", TABLES, false).unwrap();
    assert_eq!(shown(&*next), [1]);
}
