//! An engine with a quorum of all datacenters, as processes in several datacenters need. There is
//! one node here, so the tests show only that every statement works with it.

#![allow(clippy::unwrap_used, reason = "a failed call is a failed test")]

#[path = "support/node.rs"]
mod node;

use node::Scratch;
use varve_kv::{Batch, Durability, Engine, ReaderExt};
use varve_kv_cassandra::Consistency;
use varve_testkit::engine_suite::tables::{NAMED, POINTS, TABLES, all_rows, named, point};

#[test]
fn everything_may_be_asked_of_most_nodes_of_all_datacenters() {
    let asks = Scratch::configured(|config| config.consistency = Consistency::Quorum);
    let Some(engine) = asks else { return };
    let space = engine.open("s", TABLES, true).unwrap();
    let mut batch = Batch::new();
    batch.put(POINTS, &point(1), b"c", b"v");
    batch.put(NAMED, &named(b"a"), b"c", b"v");
    batch.delete_prefix(NAMED, &named(b"b"), b"");
    space.write(&batch, Durability::Sync).unwrap();
    assert!(engine.leader("s").unwrap().is_some());
    drop(space);
    assert_eq!(engine.leader("s").unwrap(), None);
    let space = engine.again().open("s", TABLES, false).unwrap();
    assert_eq!(space.get(POINTS, &point(1), b"c").unwrap().unwrap(), b"v");
    assert_eq!(all_rows(&*space, NAMED, None).len(), 1);
}
