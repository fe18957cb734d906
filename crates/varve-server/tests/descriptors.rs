//! Out of file descriptors: open connections are served on, and accepting goes on when there are
//! some again.
//!
//! A test of its own process, since it lowers the process's limit.

use std::fs::File;
use std::sync::atomic::Ordering;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use varve_server::ServerConfig;
use varve_testserver::TestServer;

#[test]
fn out_of_descriptors_open_connections_are_served_on() {
    let server = TestServer::start(ServerConfig {
        threads: 1,
        ..ServerConfig::default()
    });
    let state = &server.state;
    let limit = getrlimit(Resource::Nofile);
    assert_eq!(limit.current, limit.maximum, "the start raises the limit");
    setrlimit(
        Resource::Nofile,
        Rlimit {
            current: Some(64),
            maximum: limit.maximum,
        },
    )
    .unwrap();

    let mut open = server.connect();
    assert_eq!(open.get("/versions").status, 200);
    let mut fillers = Vec::new();
    while let Ok(file) = File::open("/dev/null") {
        fillers.push(file);
    }
    fillers.pop();
    // The last descriptor is the client's; there is none left for the server's end.
    let mut waiting = server.connect();
    while state.metrics().accept_errors.load(Ordering::Relaxed) == 0 {
        std::thread::yield_now();
    }
    assert_eq!(open.get("/versions").status, 200);
    drop(fillers);
    let answer = waiting.get("/versions");
    assert_eq!(answer.status, 200, "it recovers by itself");
}
