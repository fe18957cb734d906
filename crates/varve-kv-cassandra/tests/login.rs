//! Against a node that asks for a role and its password: who has none, or a wrong one, or too few rights, is told so at once;
//! the rights that the documents name are enough.

#![cfg(feature = "driver")]
#![allow(clippy::unwrap_used, reason = "a failed call is a failed test")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use varve_kv::{Batch, Durability, Engine, KvError};
use varve_kv_cassandra::{CassandraConfig, CassandraEngine, Credentials};
use varve_testkit::engine_suite::tables::{POINTS, TABLES, point};

/// Another than that of the other tests' nodes.
const PORT: &str = "19342";
/// What such a node has in its configuration.
const ASKS_FOR_ROLES: &str = "authenticator: {class_name: PasswordAuthenticator}\n\
     authorizer: {class_name: CassandraAuthorizer}\nrole_manager: {class_name: CassandraRoleManager}";
/// How long the node may take to make its first role.
const PATIENCE: Duration = Duration::from_secs(120);

/// A node, removed when this is dropped.
struct Node {
    script: PathBuf,
    dir: PathBuf,
}

impl Node {
    /// `None` where none can run.
    fn start() -> Option<Self> {
        let script =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/cassandra/cluster.sh");
        if !Command::new(&script)
            .arg("can-run")
            .output()
            .unwrap()
            .status
            .success()
        {
            eprintln!("skipped, as no Cassandra node can run here");
            return None;
        }
        let name = format!("varve-cassandra-login-{}", std::process::id());
        let node = Self {
            script,
            dir: std::env::temp_dir().join(name),
        };
        node.run(&["start", "--while", &std::process::id().to_string()]);
        Some(node)
    }

    fn run(&self, arguments: &[&str]) {
        let status = Command::new(&self.script)
            .args(arguments)
            .env("VARVE_CASSANDRA_DIR", &self.dir)
            .env("VARVE_CASSANDRA_PORT", PORT)
            .env("VARVE_CASSANDRA_NODES", "1")
            .env("VARVE_CASSANDRA_HEAP", "512m")
            .env("VARVE_CASSANDRA_EXTRA", ASKS_FOR_ROLES)
            .status();
        assert!(status.unwrap().success(), "{arguments:?}");
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.run(&["clean"]);
    }
}

fn address() -> String {
    format!("127.0.0.1:{PORT}")
}

/// A session of the role that every new cluster has.
async fn superuser() -> Session {
    let started = Instant::now();
    loop {
        let session = SessionBuilder::new()
            .known_node(address())
            .user("cassandra", "cassandra")
            .build()
            .await;
        match session {
            Ok(session) => return session,
            Err(error) => assert!(started.elapsed() < PATIENCE, "{error}"),
        }
    }
}

fn config(user: &str, password: &str) -> CassandraConfig {
    let mut config = CassandraConfig::new(&address());
    config.request_timeout = Duration::from_secs(20);
    config.credentials = (!user.is_empty()).then(|| Credentials {
        user: user.to_owned(),
        password: password.to_owned(),
    });
    config
}

#[test]
fn a_role_with_its_password_and_the_rights_that_are_documented_is_let_in() {
    let Some(_node) = Node::start() else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let session = superuser().await;
        for statement in [
            "CREATE ROLE graphs WITH PASSWORD = 'right' AND LOGIN = true",
            "GRANT CREATE ON ALL KEYSPACES TO graphs",
            "CREATE ROLE nobody WITH PASSWORD = 'right' AND LOGIN = true",
        ] {
            session.query_unpaged(statement, ()).await.unwrap();
        }
    });
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
    let found = space.get(POINTS, &point(2), b"c").unwrap();
    assert_eq!(found.as_deref(), Some(&b"v"[..]));
    drop(space);
    engine.drop_space("s").unwrap();
    engine.remove_list().unwrap();
}
