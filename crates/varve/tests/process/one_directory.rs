//! The users of two servers on one cluster, of which one is killed.
//! `VARVE_TEST_CASSANDRA=host:port` says where a node is.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::open_graph::Store;
use crate::server::ServerProcess;

/// `admin` and `ann` with the password `correct horse`.
const ADMIN: &str = "Basic YWRtaW46Y29ycmVjdCBob3JzZQ==";
const ANN: &str = "Basic YW5uOmNvcnJlY3QgaG9yc2U=";
const BOB: &str = "Basic Ym9iOmNvcnJlY3QgaG9yc2U=";

/// How long another server may take to lead the users: the lease, and what a busy machine adds.
const TAKES_OVER_WITHIN: Duration = Duration::from_secs(90);

/// After a lease that was not given back another server waits for so long; these servers' is longer
/// than a busy machine needs for what comes after a stop.
const LEASE: Duration = Duration::from_secs(15);

fn serve(store: &Store, key: &Path) -> ServerProcess {
    let mut command = store.command("serve");
    command
        .args(["--set", "auth.enabled=true", "--set"])
        .arg(format!(
            "storage.cassandra.lease_seconds={}",
            LEASE.as_secs()
        ))
        .arg("--set")
        .arg(format!("auth.cluster_key_file={}", key.display()))
        .env("VARVE_ADMIN_PASSWORD", "correct horse");
    ServerProcess::start(&mut command)
}

/// The status of a request of a user; 0 if there was no answer.
fn status(server: &ServerProcess, user: &str, method: &str, path: &str, body: &str) -> u16 {
    let client = server.client().with_header("authorization", user);
    client
        .try_ask(method, path, body)
        .map_or(0, |(status, _)| status)
}

#[track_caller]
fn await_status(server: &ServerProcess, user: &str, path: &str, wanted: u16) {
    let started = Instant::now();
    let mut found = 0;
    while started.elapsed() < TAKES_OVER_WITHIN {
        found = status(server, user, "GET", path, "");
        if found == wanted {
            return;
        }
        thread::sleep(Duration::from_millis(100));
    }
    panic!("{path}: {found}, and never {wanted}");
}

#[test]
fn servers_on_one_cluster_have_the_same_users() {
    let Some(store) = Store::of_cluster() else {
        println!("skipped: VARVE_TEST_CASSANDRA names no node");
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let key = folder.path().join("cluster.key");
    std::fs::write(&key, "0123456789abcdef0123456789abcdef").expect("written");
    let (a, b) = (serve(&store, &key), serve(&store, &key));
    await_status(&b, ADMIN, "/graphs", 200);
    let ann = r#"{"user_name": "ann", "user_password": "correct horse"}"#;
    assert_eq!(status(&b, ADMIN, "POST", "/auth/users", ann), 201);
    assert_eq!(
        status(&b, ADMIN, "POST", "/graphs/g", r#"{"schema": "open"}"#),
        201
    );
    for server in [&b, &a] {
        assert_eq!(status(server, ANN, "GET", "/auth/users/-30:ann", ""), 200);
        let refused = status(server, ANN, "GET", "/graphs/g/graph/vertices", "");
        assert_eq!(refused, 403);
        let read = status(server, ADMIN, "GET", "/graphs/g/graph/vertices", "");
        assert_eq!(read, 200);
        assert_eq!(server.ask("GET", "/graphs", "").0, 401);
    }

    // The server that leads the users is killed. The other goes on to know them, and leads them.
    a.kill();
    assert_eq!(status(&b, ANN, "GET", "/graphs", ""), 200);
    let bob = r#"{"user_name": "bob", "user_password": "correct horse"}"#;
    let started = Instant::now();
    while status(&b, ADMIN, "POST", "/auth/users", bob) != 201 {
        assert!(
            started.elapsed() < TAKES_OVER_WITHIN,
            "nobody leads the users"
        );
        thread::sleep(Duration::from_millis(200));
    }
    println!("led anew after {:.1} s", started.elapsed().as_secs_f64());
    let c = serve(&store, &key);
    for server in [&c, &b] {
        await_status(server, BOB, "/auth/users/-30:bob", 200);
    }
    assert_eq!(status(&c, ADMIN, "DELETE", "/auth/users/-30:ann", ""), 204);
    assert_eq!(status(&c, ANN, "GET", "/graphs", ""), 401);
    await_status(&b, ANN, "/graphs", 401);

    // A server that stops gives the users to the other at once.
    b.terminate();
    let started = Instant::now();
    let eve = r#"{"user_name": "eve", "user_password": "correct horse"}"#;
    while status(&c, ADMIN, "POST", "/auth/users", eve) != 201 {
        assert!(started.elapsed() < LEASE, "the lease was not given back");
        thread::sleep(Duration::from_millis(50));
    }
    println!(
        "led after a stop after {:.1} s",
        started.elapsed().as_secs_f64()
    );
    assert_eq!(status(&c, ADMIN, "DELETE", "/auth/users/-30:eve", ""), 204);

    // Without a server the users are read from the cluster.
    c.terminate();
    let listed = store.command("user").arg("list").output().expect("it runs");
    let said = String::from_utf8_lossy(&listed.stdout);
    let mut names: Vec<&str> = said.lines().collect();
    names.sort_unstable();
    assert_eq!(
        names,
        ["admin", "bob"],
        "{}",
        String::from_utf8_lossy(&listed.stderr)
    );
}
