//! These tests use the node `VARVE_TEST_CASSANDRA=host:port`; without it, only tests that need no
//! node run.

use std::time::Duration;

use tokio::runtime::Runtime;
use varve_kv::{Engine, EngineExt};
use varve_testkit::engine_suite::tables::TABLES;

use super::*;
use crate::config::Consistency;
use crate::engine::CassandraEngine;

#[test]
fn leases_are_asked_for_where_they_were_given() {
    let of = |name: &str| Scope::Datacenter(name.to_owned());
    assert_eq!(passable(&of("dc1"), &Scope::All, "dc1"), Ok(()));
    assert_eq!(passable(&Scope::All, &of("dc2"), "dc2"), Ok(()));
    assert!(passable(&of("dc1"), &Scope::All, "dc2").is_err());
    assert!(passable(&of("dc1"), &of("dc2"), "dc2").is_err());
}

/// An engine with a separate list of spaces, and an attempt to change its scope.
struct Begun {
    runtime: Runtime,
    engine: CassandraEngine,
    attempt: Attempt,
}

/// Runs `test`, and then removes everything.
fn with_attempt(name: &str, test: impl FnOnce(&Begun)) {
    let Ok(node) = std::env::var("VARVE_TEST_CASSANDRA") else {
        println!("skipped: VARVE_TEST_CASSANDRA names no node");
        return;
    };
    let mut config = CassandraConfig::new(&node);
    config.keyspace = format!("t{}_{name}", std::process::id());
    config.lease = Duration::from_secs(10);
    config.request_timeout = Duration::from_secs(20);
    let engine = CassandraEngine::connect(config.clone()).expect("a node");
    config.consistency = Consistency::Quorum;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    let attempt = runtime.block_on(async {
        let cluster = Cluster::connect(config).await?;
        let table = ScopeTable::open(&cluster).await?;
        let row = table.find(&cluster).await?.expect("the engine's");
        Attempt::of(cluster, table, row).await
    });
    let begun = Begun {
        runtime,
        engine,
        attempt: attempt.expect("a node"),
    };
    test(&begun);
    for space in begun.engine.space_names().expect("a node") {
        begun
            .engine
            .drop_space(&space, None)
            .expect("it is not open");
    }
    begun.engine.remove_list().expect("nothing is left behind");
}

/// The server of that space has read that no change is in progress, and keeps the lease.
#[test]
fn a_space_that_is_made_after_the_first_look_is_found() {
    with_attempt("between", |begun| {
        let (runtime, attempt) = (&begun.runtime, &begun.attempt);
        let looked = runtime.block_on(attempt.look());
        looked.expect("nobody has a space open");
        let space = begun.engine.open("s", TABLES, true).expect("a space");
        let changed = runtime.block_on(attempt.change());
        assert!(matches!(changed, Err(Failure::InUse(_))), "{changed:?}");
        drop(space);
        let space = begun.engine.open("s", TABLES, false);
        drop(space.expect("what was agreed is as it was"));
    });
}

/// Otherwise it would end terms of servers whose scope another attempt has set.
#[test]
fn an_attempt_that_was_overtaken_takes_no_lease() {
    with_attempt("overtaken", |begun| {
        let (runtime, attempt) = (&begun.runtime, &begun.attempt);
        drop(begun.engine.open("s", TABLES, true).expect("a space"));
        runtime.block_on(attempt.begin()).expect("it is free");
        let mut config = attempt.cluster.config.clone();
        config.consistency = Consistency::LocalQuorum;
        runtime.block_on(change(config)).expect("it is taken back");
        let space = begun.engine.open("s", TABLES, false).expect("a space");
        let term = space.lease().term;
        drop(space);
        let ended = runtime.block_on(attempt.end_terms());
        assert_eq!(ended, Err(overtaken()));
        let space = begun.engine.open("s", TABLES, false).expect("a space");
        assert_eq!(space.lease().term, term + 2, "it has taken the lease");
        drop(space);
    });
}
