//! Thousands of idle keep-alive connections: all accepted, cheap, and the others are served.
//!
//! A test of its own process, since it measures the process's memory.
#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::Ordering;

use varve_server::{AppState, ServerConfig};

/// Both ends are in this process, so a connection takes two descriptors. The variable overrides the
/// number.
const CONNECTIONS: (&str, usize) = ("VARVE_IDLE_CONNECTIONS", 2000);

/// What a connection may cost, its client's share included.
const BYTES_MAX: usize = 40_000;

fn resident_bytes() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

fn get_versions(stream: &mut TcpStream) {
    stream
        .write_all(b"GET /versions HTTP/1.1\r\nhost: localhost\r\n\r\n")
        .unwrap();
    let mut buffer = [0; 1024];
    let count = stream.read(&mut buffer).unwrap();
    assert!(buffer[..count].starts_with(b"HTTP/1.1 200"));
}

#[test]
fn thousands_of_idle_connections_are_cheap() {
    let (variable, default) = CONNECTIONS;
    let wanted = std::env::var(variable).map_or(default, |text| text.parse().unwrap());
    let config = ServerConfig {
        port: 0,
        threads: 2,
        ..ServerConfig::default()
    };
    let state = AppState::new(config).unwrap();
    let server = varve_server::start(&state).unwrap();
    let connect = || TcpStream::connect(server.address()).unwrap();
    get_versions(&mut connect());
    let before = resident_bytes();
    let mut idle: Vec<TcpStream> = (0..wanted).map(|_| connect()).collect();
    idle.iter_mut().for_each(get_versions);
    let each = resident_bytes().saturating_sub(before) / wanted;
    println!("{wanted} idle connections: {each} bytes each");
    assert!(each < BYTES_MAX, "{each} bytes a connection");
    get_versions(&mut connect());
    // The others are the first and the last, which may be closed by now.
    assert!(state.open_connections() >= wanted);
    let accepted = state.metrics().connections_accepted.load(Ordering::Relaxed);
    assert_eq!(accepted as usize, wanted + 2);
    drop(idle);
    server.stop();
    server.wait();
}
