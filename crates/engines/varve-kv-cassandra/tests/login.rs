//! A node that requires a role and its password. A client without one, with a wrong one or with too
//! few rights gets an error at once; the documented rights suffice. Writes wait for rights that
//! cannot be read for a while. If a begun write lacks a right, the right must be granted before
//! anything else is written. The outcome of a write that the end of the process interrupts is
//! unknown.

#![allow(clippy::unwrap_used, reason = "a failed call is a failed test")]

#[path = "support/nodes.rs"]
mod nodes;

use std::time::{Duration, Instant};

use nodes::Nodes;
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use tokio::runtime::Runtime;
use varve_kv::{Batch, Durability, Engine, KvError, Leadership, ReaderExt, Space};
use varve_kv_cassandra::{CassandraConfig, CassandraEngine, Credentials};
use varve_testkit::engine_suite::tables::{NAMED, POINTS, TABLES, named, point};

const NODE: Nodes = Nodes {
    name: "login",
    port: 19342,
    number: 1,
    settings: &[
        ("VARVE_CASSANDRA_HEAP", "512m"),
        ("VARVE_CASSANDRA_EXTRA", ASKS_FOR_ROLES),
    ],
};
/// Additions to the configuration of such a node. It caches roles, so that the first role can log
/// in while others cannot be read, and rights for two seconds, as by default.
const ASKS_FOR_ROLES: &str = "authenticator: {class_name: PasswordAuthenticator}\n\
     authorizer: {class_name: CassandraAuthorizer}\nrole_manager: {class_name: CassandraRoleManager}\nroles_validity: 1h";
/// The time after which a node reads the rights of a role again.
const RIGHTS_REMEMBERED: Duration = Duration::from_secs(2);
/// The longest wait for the node to create its first role.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Opens a session of the role that every new cluster has.
async fn superuser() -> Session {
    let started = Instant::now();
    loop {
        let session = SessionBuilder::new()
            .known_node(NODE.address(1))
            .user("cassandra", "cassandra")
            .build()
            .await;
        match session {
            Ok(session) => return session,
            Err(error) => assert!(started.elapsed() < TIMEOUT, "{error}"),
        }
    }
}

fn config(user: &str, password: &str) -> CassandraConfig {
    let mut config = CassandraConfig::new(&NODE.address(1));
    config.request_timeout = Duration::from_secs(20);
    config.credentials = (!user.is_empty()).then(|| Credentials {
        user: user.to_owned(),
        password: password.to_owned(),
    });
    config
}

/// The session of the node's first role, and its runtime.
struct Superuser {
    runtime: Runtime,
    session: Session,
}

impl Superuser {
    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let session = runtime.block_on(superuser());
        Self { runtime, session }
    }

    fn says(&self, statement: &str) {
        let said = self.session.query_unpaged(statement, ());
        self.runtime.block_on(said).unwrap();
    }

    /// Sets the replication of roles' rights to this number of nodes, of which one exists.
    fn keep_rights_by(&self, nodes: u32) {
        self.says(&format!(
            "ALTER KEYSPACE system_auth WITH replication = {{'class': 'NetworkTopologyStrategy', 'datacenter1': {nodes}}}"
        ));
    }
}

/// Repeats a call until it succeeds.
fn patiently<T>(what: impl Fn() -> Result<T, KvError>) -> T {
    let started = Instant::now();
    loop {
        match what() {
            Ok(done) => return done,
            Err(error) => assert!(started.elapsed() < TIMEOUT, "{error}"),
        }
        std::thread::sleep(Duration::from_millis(200));
    }
}

fn put_point(space: &dyn Space, number: u64) -> Result<(), KvError> {
    let mut batch = Batch::new();
    batch.put(POINTS, &point(number), b"c", b"v");
    space.write(&batch, Durability::Sync)
}

fn is_there(space: &dyn Space, number: u64) -> bool {
    let found = space.get(POINTS, &point(number), b"c");
    found.unwrap().is_some()
}

#[test]
fn a_role_with_its_password_and_the_rights_that_are_documented_is_let_in() {
    let Some(_started) = NODE.start("VARVE_TEST_CASSANDRA") else {
        return;
    };
    let first = Superuser::new();
    for statement in [
        "CREATE ROLE graphs WITH PASSWORD = 'right' AND LOGIN = true",
        "GRANT CREATE ON ALL KEYSPACES TO graphs",
        "CREATE ROLE nobody WITH PASSWORD = 'right' AND LOGIN = true",
    ] {
        first.says(statement);
    }
    for (user, password) in [
        ("", ""),
        ("graphs", "wrong"),
        ("none", "right"),
        ("nobody", "right"),
    ] {
        let refused = CassandraEngine::connect(config(user, password)).err();
        println!("'{user}': {refused:?}");
        assert!(
            matches!(refused, Some(KvError::Unavailable { .. })),
            "'{user}' {refused:?}"
        );
    }
    let engine = CassandraEngine::connect(config("graphs", "right")).unwrap();
    let space = engine.open("s", TABLES, true).unwrap();
    let mut batch = Batch::new();
    batch.put(POINTS, &point(1), b"c", b"v");
    batch.put(POINTS, &point(2), b"c", b"v");
    space.write(&batch, Durability::Sync).unwrap();
    assert!(is_there(&*space, 2));
    rights_that_cannot_be_read_are_waited_for(&first, &engine, &*space);
    drop(space);
    what_is_refused_of_a_begun_write_ends_the_opening(&first, &engine);
    the_end_cuts_a_write_off();
    engine.drop_space("s", None).unwrap();
    engine.remove_list().unwrap();
}

/// The node cannot read the rights of the role for a while.
fn rights_that_cannot_be_read_are_waited_for(
    first: &Superuser,
    engine: &CassandraEngine,
    space: &dyn Space,
) {
    first.keep_rights_by(3);
    std::thread::sleep(RIGHTS_REMEMBERED + Duration::from_millis(500));
    let written = put_point(space, 3);
    let read = space.get(POINTS, &point(2), b"c");
    let looked = engine.leader("s");
    first.keep_rights_by(1);
    println!("{written:?}\n{read:?}\n{looked:?}");
    assert!(matches!(written, Err(KvError::Away { .. })), "{written:?}");
    assert!(matches!(read, Err(KvError::Away { .. })), "{read:?}");
    assert!(matches!(looked, Err(KvError::Away { .. })), "{looked:?}");
    // The same opening continues.
    patiently(|| put_point(space, 4));
    assert!(!is_there(space, 3) && is_there(space, 4));
    assert_eq!(space.lease().leadership, Leadership::Held);
}

/// The role loses a right that a write needs after its record was stored.
fn what_is_refused_of_a_begun_write_ends_the_opening(first: &Superuser, engine: &CassandraEngine) {
    let space = engine.open("s", TABLES, false).unwrap();
    let keyspace = space.lease().incarnation.to_owned();
    let table = format!("\"{keyspace}\".points");
    // The creator of tables also has the rights on each of them.
    first.says(&format!(
        "REVOKE MODIFY ON KEYSPACE \"{keyspace}\" FROM graphs"
    ));
    first.says(&format!("REVOKE MODIFY ON TABLE {table} FROM graphs"));
    std::thread::sleep(RIGHTS_REMEMBERED + Duration::from_millis(500));
    let mut batch = Batch::new();
    batch.put(POINTS, &point(5), b"c", b"v");
    batch.put(NAMED, &named(b"five"), b"c", b"v");
    let written = space.write(&batch, Durability::Sync);
    println!("{written:?}");
    assert!(
        matches!(written, Err(KvError::OutcomeUnknown { .. })),
        "{written:?}"
    );
    assert_eq!(space.lease().leadership, Leadership::Lost);
    // Writes that the cluster would accept must not overtake the refused one.
    let mut other = Batch::new();
    other.put(NAMED, &named(b"six"), b"c", b"v");
    let later = space.write(&other, Durability::Sync);
    println!("{later:?}");
    assert!(matches!(later, Err(KvError::Away { .. })), "{later:?}");
    drop(space);
    let refused = engine.open("s", TABLES, false).err();
    println!("{refused:?}");
    assert!(
        matches!(&refused, Some(KvError::Unavailable { detail, .. }) if detail.contains("cannot be applied")),
        "{refused:?}"
    );
    first.says(&format!("GRANT MODIFY ON TABLE {table} TO graphs"));
    let space = patiently(|| engine.open("s", TABLES, false));
    assert!(is_there(&*space, 5));
    let found = |name: &[u8]| space.get(NAMED, &named(name), b"c").unwrap().is_some();
    assert!(found(b"five") && !found(b"six"));
    put_point(&*space, 7).unwrap();
}

/// The node hangs during a write while the process is asked to end: the next opening of the space
/// finds all of the write or nothing.
fn the_end_cuts_a_write_off() {
    let mut impatient = config("graphs", "right");
    impatient.request_timeout = Duration::from_secs(3);
    let engine = CassandraEngine::connect(impatient).unwrap();
    let space = engine.open("s", TABLES, false).unwrap();
    let mut batch = Batch::new();
    batch.put(POINTS, &point(8), b"c", b"v");
    batch.put(NAMED, &named(b"eight"), b"c", b"v");
    NODE.run(&["pause", "1"]);
    engine.stop_waiting();
    let written = space.write(&batch, Durability::Sync);
    NODE.run(&["resume", "1"]);
    println!("{written:?}");
    assert!(
        matches!(written, Err(KvError::OutcomeUnknown { .. })),
        "{written:?}"
    );
    drop(space);
    let engine = CassandraEngine::connect(config("graphs", "right")).unwrap();
    let space = patiently(|| engine.open("s", TABLES, false));
    let named = space.get(NAMED, &named(b"eight"), b"c").unwrap();
    assert_eq!(is_there(&*space, 8), named.is_some(), "half of a batch");
}
