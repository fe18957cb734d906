//! Tests how a node handles requests for leases that it carries out late. They need
//! `VARVE_TEST_CASSANDRA=host:port` and are skipped without it.

use super::{LeaseRow, LeaseTable, TABLE, definition};
use crate::cluster::Cluster;
use crate::config::CassandraConfig;
use crate::schema::drop_keyspace;
use crate::servers::{self, Leads, ServerTable};

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
        config.keyspace.clone_from(&keyspace);
        let cluster = Cluster::connect(config).await.expect("a session");
        let replication = "{'class': 'NetworkTopologyStrategy', 'datacenter1': 1}";
        let made = format!("CREATE KEYSPACE {keyspace} WITH replication = {replication}");
        cluster.define(made).await.expect("a keyspace");
        for definition in [definition(&keyspace), servers::definition(&keyspace)] {
            cluster.define(definition).await.expect("a table");
        }
        let table = LeaseTable::open(&cluster, &keyspace).await;
        let table = table.expect("its statements");
        table.create(&cluster).await.expect("a row");
        test(cluster, table).await;
        let again = CassandraConfig::new(&node);
        let cluster = Cluster::connect(again).await.expect("a session");
        let dropped = drop_keyspace(&cluster, &keyspace).await;
        dropped.expect("nothing is left behind");
    });
}

fn taken(before: &LeaseRow, owner: &str) -> LeaseRow {
    LeaseRow {
        owner: Some(owner.to_owned()),
        address: Some(owner.to_owned()),
        expires: None,
        term: before.term + 1,
        bound: before.bound + 1_000,
        settled: before.settled,
    }
}

/// The leader is suspended until its row is ended. Another server reads the lease, and its claim is
/// delayed for long. Meanwhile the leader continues and stores batches above the bound that the
/// other server has read. The next claimant must know of these batches.
#[test]
fn a_claim_that_comes_after_a_new_bound_is_refused() {
    with_lease("late", |cluster, table| async move {
        let claim = async |before: &LeaseRow, after: &LeaseRow| {
            table.claim(&cluster, before, after).await.expect("sent")
        };
        let read = async || table.read(&cluster).await.expect("the row");
        let begun = read().await;
        assert_eq!(begun, LeaseRow::default());
        let leader = taken(&begun, "leader");
        assert!(claim(&begun, &leader).await);
        assert!(!claim(&begun, &taken(&begun, "another")).await);
        assert_eq!(read().await, leader);
        for stored in [
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
            let before = read().await;
            let went_on = table.store(&cluster, &stored).await;
            assert!(went_on.expect("sent"), "the term is still the leader's");
            assert_eq!(read().await, stored);
            let late = claim(&before, &taken(&before, "another")).await;
            assert!(!late, "it goes by old numbers");
            let older = table.store(&cluster, &leader).await;
            assert!(!older.expect("sent"), "a late copy");
        }
        let before = read().await;
        let another = taken(&before, "another");
        assert!(claim(&before, &another).await);
        let stored = table.store(&cluster, &before).await;
        assert!(!stored.expect("sent"), "its term has ended");
        let released = table.release(&cluster, &before).await;
        released.expect("sent");
        assert_eq!(read().await, another, "it is not the leader's to release");
    });
}

/// A server of an earlier version has the lease until its name expires.
#[test]
fn a_lease_of_an_earlier_version_expires() {
    with_lease("earlier", |cluster, table| async move {
        let keyspace = &cluster.config.keyspace;
        let claim = format!(
            "UPDATE {keyspace}.{TABLE} USING TTL 1000 SET owner = 'a', address = 'a:1' WHERE slot = 0 IF owner = null"
        );
        cluster.define(claim).await.expect("sent");
        let row = table.read(&cluster).await.expect("the row");
        assert!(row.expires.is_some_and(|left| left > 900), "{row:?}");
        assert_eq!(row.living_owner(), Some("a"));
    });
}

/// Nodes may carry out copies of a renewal in any order, and after the row was ended.
#[test]
fn late_renewals_of_a_server_change_nothing() {
    with_lease("servers", |cluster, _| async move {
        let table = ServerTable::open(&cluster).await.expect("statements");
        table.insert(&cluster, "a").await.expect("a new row");
        let renew = async |counter: i64, leads: Option<&Leads>| {
            let renewed = table.renew(&cluster, "a", counter, leads).await;
            renewed.expect("sent")
        };
        let leads = Leads::from([("k".to_owned(), 7)]);
        assert!(renew(1, None).await);
        assert!(renew(2, Some(&leads)).await);
        assert!(renew(2, Some(&leads)).await, "a copy");
        assert!(!renew(1, None).await, "a late copy");
        let rows = table.all(&cluster).await.expect("rows");
        assert_eq!(rows.len(), 1);
        assert_eq!((rows[0].counter, &rows[0].leads), (2, &leads));
        assert_eq!(rows[0].lease, cluster.config.lease);
        assert!(table.insert(&cluster, "a").await.is_err(), "it is taken");

        let end = async |counter| table.end(&cluster, "a", counter).await.expect("sent");
        assert!(!end(1).await, "it was renewed since");
        assert!(table.exists(&cluster, "a").await.expect("asked"));
        assert!(end(2).await);
        assert!(!renew(3, None).await, "an ended row does not return");
        assert!(!renew(3, Some(&leads)).await);
        assert!(!table.exists(&cluster, "a").await.expect("asked"));
        assert!(table.all(&cluster).await.expect("rows").is_empty());
    });
}
