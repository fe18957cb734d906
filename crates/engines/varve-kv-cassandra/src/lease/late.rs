//! Tests how a node handles requests for a lease that it carries out late. They need
//! `VARVE_TEST_CASSANDRA=host:port` and are skipped without it.

use std::time::Duration;

use super::{LeaseRow, LeaseTable, definition};
use crate::cluster::Cluster;
use crate::config::CassandraConfig;
use crate::schema::drop_keyspace;

/// The length of the leases in these tests, short so that they expire.
const LENGTH: Duration = Duration::from_secs(2);

/// Runs `test` with the lease of a new keyspace.
fn with_lease<F: Future<Output = ()>>(name: &str, test: impl FnOnce(Cluster, LeaseTable) -> F) {
    let Ok(node) = std::env::var("VARVE_TEST_CASSANDRA") else {
        println!("skipped: VARVE_TEST_CASSANDRA names no node");
        return;
    };
    let keyspace = format!("t{}_{name}", std::process::id());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let mut config = CassandraConfig::new(&node);
        config.lease = LENGTH;
        let cluster = Cluster::connect(config).await.expect("a session");
        let replication = "{'class': 'NetworkTopologyStrategy', 'datacenter1': 1}";
        let made = format!("CREATE KEYSPACE {keyspace} WITH replication = {replication}");
        cluster.define(made).await.expect("a keyspace");
        let defined = cluster.define(definition(&keyspace)).await;
        defined.expect("a table");
        let table = LeaseTable::open(&cluster, &keyspace).await;
        test(cluster, table.expect("its statements")).await;
        let again = CassandraConfig::new(&node);
        let cluster = Cluster::connect(again).await.expect("a session");
        let dropped = drop_keyspace(&cluster, &keyspace).await;
        dropped.expect("nothing is left behind");
    });
}

/// Waits until the lease has no owner, and returns its row.
async fn free(cluster: &Cluster, table: &LeaseTable) -> LeaseRow {
    loop {
        let row = table.read(cluster).await.expect("the row");
        if row.owner.is_none() {
            return row;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

fn taken(before: &LeaseRow, owner: &str) -> LeaseRow {
    LeaseRow {
        owner: Some(owner.to_owned()),
        address: Some(owner.to_owned()),
        term: before.term + 1,
        bound: before.bound + 1_000,
        settled: before.settled,
    }
}

/// The leader is suspended until its lease has expired. Another server reads the row, and its claim
/// is delayed for long. Meanwhile the leader continues, renews, stores batches above the bound that
/// the other server has read, and is killed. The next claimant must know of these batches.
#[test]
fn a_claim_that_comes_after_a_renewal_is_refused() {
    with_lease("late", |cluster, table| async move {
        let claim = async |before: &LeaseRow, after: &LeaseRow| {
            table.claim(&cluster, before, after).await.expect("sent")
        };
        let begun = free(&cluster, &table).await;
        let leader = taken(&begun, "leader");
        assert!(claim(&begun, &leader).await);
        assert!(!claim(&begun, &taken(&begun, "another")).await);
        for renewed in [
            LeaseRow {
                bound: leader.bound + 5_000,
                ..leader.clone()
            },
            LeaseRow {
                bound: leader.bound + 5_000,
                settled: leader.bound + 4_000,
                ..leader.clone()
            },
        ] {
            let before = free(&cluster, &table).await;
            let after = taken(&before, "another");
            let went_on = table.extend(&cluster, &renewed).await;
            assert!(went_on.expect("sent"), "the term is still the leader's");
            assert!(!claim(&before, &after).await, "the leader has it again");
            let now = free(&cluster, &table).await;
            assert_eq!((now.bound, now.settled), (renewed.bound, renewed.settled));
            assert!(!claim(&before, &after).await, "it goes by old numbers");
        }
        let before = free(&cluster, &table).await;
        assert!(claim(&before, &taken(&before, "another")).await);
        let leader_again = table.extend(&cluster, &leader).await;
        assert!(!leader_again.expect("sent"), "its term has ended");
    });
}
