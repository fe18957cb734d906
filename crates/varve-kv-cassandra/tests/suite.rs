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
