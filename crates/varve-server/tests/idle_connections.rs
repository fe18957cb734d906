//! Thousands of idle keep-alive connections: all accepted, cheap, and the others are served.
//!
//! A test of its own process, since it measures the process's memory.
#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use std::sync::atomic::Ordering;

use varve_testkit::http::Connection;
use varve_testserver::TestServer;

/// Both ends are in this process, so a connection takes two descriptors. The variable overrides the
/// number.
const CONNECTIONS: (&str, usize) = ("VARVE_IDLE_CONNECTIONS", 2000);

/// What a connection may cost, its client's share included.
const BYTES_MAX: usize = 40_000;

fn resident_bytes() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

#[test]
fn thousands_of_idle_connections_are_cheap() {
    let (variable, default) = CONNECTIONS;
    let wanted = std::env::var(variable).map_or(default, |text| text.parse().unwrap());
    let server = TestServer::with_defaults();
    let connect = || server.connect();
    assert_eq!(connect().get("/versions").status, 200);
    let before = resident_bytes();
    let mut idle: Vec<Connection> = (0..wanted).map(|_| connect()).collect();
    for connection in &mut idle {
        assert_eq!(connection.get("/versions").status, 200);
    }
    let each = resident_bytes().saturating_sub(before) / wanted;
    println!("{wanted} idle connections: {each} bytes each");
    assert!(each < BYTES_MAX, "{each} bytes a connection");
    assert_eq!(connect().get("/versions").status, 200);
    // The others are the first and the last, which may be closed by now.
    assert!(server.state.open_connections() >= wanted);
    let accepted = server
        .state
        .metrics()
        .connections_accepted
        .load(Ordering::Relaxed);
    assert_eq!(accepted as usize, wanted + 2);
}
