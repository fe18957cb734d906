//! Out of file descriptors: open connections are served on, and accepting goes on when there are
//! some again.
//!
//! A test of its own process, since it lowers the process's limit.
#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use varve_server::{AppState, ServerConfig};

fn get_versions(stream: &mut TcpStream) -> String {
    stream
        .write_all(b"GET /versions HTTP/1.1\r\nhost: localhost\r\n\r\n")
        .unwrap();
    let mut buffer = [0; 1024];
    let count = stream.read(&mut buffer).unwrap();
    String::from_utf8_lossy(&buffer[..count]).into_owned()
}

#[test]
fn out_of_descriptors_open_connections_are_served_on() {
    let config = ServerConfig {
        port: 0,
        threads: 1,
        ..ServerConfig::default()
    };
    let state = AppState::new(config).unwrap();
    let server = varve_server::start(&state).unwrap();
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

    let connect = || {
        let stream = TcpStream::connect(server.address()).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        stream
    };
    let mut open = connect();
    assert!(get_versions(&mut open).starts_with("HTTP/1.1 200"));
    let mut fillers = Vec::new();
    while let Ok(file) = File::open("/dev/null") {
        fillers.push(file);
    }
    fillers.pop();
    // The last descriptor is the client's; there is none left for the server's end.
    let mut waiting = connect();
    while state.metrics().accept_errors.load(Ordering::Relaxed) == 0 {
        std::thread::yield_now();
    }
    assert!(get_versions(&mut open).starts_with("HTTP/1.1 200"));
    drop(fillers);
    assert!(
        get_versions(&mut waiting).starts_with("HTTP/1.1 200"),
        "it recovers by itself"
    );
    server.stop();
    server.wait();
}
