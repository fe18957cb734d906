//! Against a node that asks for a role and its password: who has none, or a wrong one, or too few
//! rights, gets an error at once; the rights that the documents name are enough. Rights that cannot
//! be read for a while are waited for; and what a write that was begun lacks has to be given before
//! anything else is written. What the end of the process cuts off is of unknown outcome.

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
/// What such a node has in its configuration. It remembers roles, so that the first one is let in
/// while nothing can be read of others, and rights for two seconds, as it does by default.
const ASKS_FOR_ROLES: &str = "authenticator: {class_name: PasswordAuthenticator}\n\
     authorizer: {class_name: CassandraAuthorizer}\nrole_manager: {class_name: CassandraRoleManager}\nroles_validity: 1h";
/// After how long a node looks anew at what a role may do.
const RIGHTS_REMEMBERED: Duration = Duration::from_secs(2);
/// How long the node may take to make its first role.
const TIMEOUT: Duration = Duration::from_secs(120);

/// A session of the role that every new cluster has.
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

/// What the node's first role says on the runtime that its session is on.
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

    /// Has what roles may do kept by so many nodes, of which there is one.
    fn keep_rights_by(&self, nodes: u32) {
        self.says(&format!(
            "ALTER KEYSPACE system_auth WITH replication = {{'class': 'NetworkTopologyStrategy', 'datacenter1': {nodes}}}"
        ));
    }
}

/// Does it again until it succeeds.
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

/// The node cannot tell for a while what the role may do.
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
    // The same opening goes on.
    patiently(|| put_point(space, 4));
    assert!(!is_there(space, 3) && is_there(space, 4));
    assert_eq!(space.lease().leadership, Leadership::Held);
}

/// The role loses a right that a write needs when its record is stored already.
fn what_is_refused_of_a_begun_write_ends_the_opening(first: &Superuser, engine: &CassandraEngine) {
    let space = engine.open("s", TABLES, false).unwrap();
    let keyspace = space.lease().incarnation.to_owned();
    let table = format!("\"{keyspace}\".points");
    // Whoever makes tables has the rights on each of them, too.
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
    // What the cluster would take must not come before that.
    let mut other = Batch::new();
    other.put(NAMED, &named(b"six"), b"c", b"v");
    let later = space.write(&other, Durability::Sync);
    println!("{later:?}");
    assert!(matches!(later, Err(KvError::Away { .. })), "{later:?}");
    drop(space);
    let refused = engine.open("s", TABLES, false).err();
    println!("{refused:?}");
    assert!(
        matches!(&refused, Some(KvError::Unavailable { detail, .. }) if detail.contains("cannot be finished")),
        "{refused:?}"
    );
    first.says(&format!("GRANT MODIFY ON TABLE {table} TO graphs"));
    let space = patiently(|| engine.open("s", TABLES, false));
    assert!(is_there(&*space, 5));
    let found = |name: &[u8]| space.get(NAMED, &named(name), b"c").unwrap().is_some();
    assert!(found(b"five") && !found(b"six"));
    put_point(&*space, 7).unwrap();
}

/// The node hangs with a write when the process is asked to end: whoever opens the space next finds
/// all of it, or nothing.
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
