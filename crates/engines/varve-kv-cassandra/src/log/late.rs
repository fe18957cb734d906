//! Tests that what a node executes late, after another server has taken over, changes nothing. They
//! need `VARVE_TEST_CASSANDRA=host:port` and are skipped without it.

use std::sync::Arc;

use varve_kv::{Batch, Durability, Engine, ReaderExt};
use varve_testkit::engine_suite::tables::{POINTS, TABLES, point};

use super::{Log, Stored, TABLE};
use crate::cluster::Cluster;
use crate::config::CassandraConfig;
use crate::engine::CassandraEngine;
use crate::lease::LeaseTable;
use crate::plan::Plan;
use crate::record::Record;
use crate::send::send_all;
use crate::statements;

fn batch(rows: std::ops::Range<u64>, value: &[u8]) -> Batch {
    let mut batch = Batch::new();
    for row in rows {
        batch.put(POINTS, &point(row), b"c", value);
    }
    batch
}

#[test]
fn records_and_pieces_of_an_earlier_server_that_come_late_change_nothing() {
    let Ok(node) = std::env::var("VARVE_TEST_CASSANDRA") else {
        println!("skipped: VARVE_TEST_CASSANDRA names no node");
        return;
    };
    let mut config = CassandraConfig::new(&node);
    config.keyspace = format!("t{}_late_log", std::process::id());
    let engine = CassandraEngine::connect(config.clone()).expect("a node");
    let space = engine.open("s", TABLES, true).expect("a space");
    let written = space.write(&batch(0..2, b"earlier"), Durability::Sync);
    written.expect("written");
    let keyspace = space.lease().incarnation.to_owned();
    drop(space);

    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    let cluster = runtime.block_on(Cluster::connect(config));
    let cluster = cluster.expect("a session");
    // The last timestamp of the earlier server.
    let stamp = runtime.block_on(async {
        let table = LeaseTable::open(&cluster, &keyspace).await?;
        Ok::<_, crate::failure::Failure>(table.read(&cluster).await?.bound - 1)
    });
    let stamp = stamp.expect("the lease");
    let space = engine.open("s", TABLES, false).expect("a space");
    let written = space.write(&batch(0..1, b"newer"), Durability::Sync);
    written.expect("written");

    runtime.block_on(async {
        let log = Log::open(&cluster, &keyspace, TABLE).await.expect("a log");
        let record = Record::of(&batch(0..4, b"late"), TABLES);
        let nothing = Stored::nothing_of(&record);
        let put = log.put(&cluster, (stamp, stamp), &record, &nothing).await;
        put.expect("a late record");
        let store = statements::prepare(&cluster, &keyspace, TABLES).await;
        let record = Record::of(&batch(0..2, b"earlier"), TABLES);
        let plan = Plan::of(Arc::clone(&record.bytes), record.start, &[]).expect("a plan");
        let failed = send_all(&cluster, &store.expect("statements"), &plan, stamp, None).await;
        assert!(failed.is_empty(), "{failed:?}");
    });
    drop(space);
    let space = engine.open("s", TABLES, false).expect("a space");
    let found = [0, 1, 2, 3].map(|row| space.get(POINTS, &point(row), b"c").expect("read"));
    let expected = [Some(&b"newer"[..]), Some(b"earlier"), None, None];
    assert_eq!(found.each_ref().map(Option::as_deref), expected);
    drop(space);
    engine.drop_space("s", None).expect("it is not open");
    engine.remove_list().expect("nothing is left behind");
}
