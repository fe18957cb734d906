//! What requests may take of memory: bodies as they are inflated and read, and answers until they
//! are taken.

use std::io::Read;
use std::time::{Duration, Instant};

use varve_server::ServerConfig;
use varve_testkit::http::{Answer, Connection, request};
use varve_testserver::TestServer;

use crate::protocol::gzip;

const MIB: usize = 1 << 20;
/// Numbers whose list takes about 34 MiB, which is more than sockets hold.
const LONG: &str = "/test/list?count=5000000";

fn post_gzip(server: &TestServer, body: &[u8]) -> Answer {
    post_packed(server, &gzip(body))
}

fn post_packed(server: &TestServer, packed: &[u8]) -> Answer {
    let request = request("POST", "/test/echo", "content-encoding: gzip\r\n", packed);
    server.connect().exchange(&request).unwrap()
}

/// Waits until something is so, which other threads bring about.
pub(crate) fn await_that(what: &str, is_so: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_body_is_refused_for_what_it_takes_once_it_is_read() {
    let server = TestServer::start(ServerConfig {
        max_body_bytes: MIB,
        max_batch_body_bytes: MIB,
        max_write_request_bytes: MIB,
        max_read_request_bytes: MIB,
        ..ServerConfig::default()
    });
    let list = |count: usize| [b"[".as_slice(), &b"1,".repeat(count), b"1]"].concat();
    let text = [b"\"".as_slice(), &vec![b'a'; MIB / 4], b"\""].concat();
    for _ in 0..3 {
        assert_eq!(post_gzip(&server, &list(100_000)).status, 413);
        assert_eq!(post_gzip(&server, &list(10_000)).status, 200);
        assert_eq!(post_gzip(&server, &text).status, 200);
    }
    let plain = request("POST", "/test/echo", "", list(100_000));
    assert_eq!(server.connect().exchange(&plain).unwrap().status, 413);
    await_that("all shares are given back", || {
        server.state.admission().writes().bytes_held() == 0
    });
}

fn head_of_echo(bytes: usize) -> String {
    format!(
        "PUT /test/echo HTTP/1.1\r\nhost: h\r\ncontent-type: application/json\r\ncontent-length: {bytes}\r\n\r\n"
    )
}

#[test]
fn a_client_that_announces_much_and_sends_little_holds_little() {
    let server = TestServer::start(ServerConfig {
        max_body_bytes: MIB,
        max_batch_body_bytes: MIB,
        max_write_request_bytes: MIB,
        ..ServerConfig::default()
    });
    let sent = 40_000;
    let mut slow = server.connect();
    slow.send(&[head_of_echo(MIB).as_bytes(), &vec![b' '; sent]].concat());
    let writes = server.state.admission().writes();
    await_that("the first bytes have arrived", || {
        writes.bytes_held() >= sent
    });
    assert!(writes.bytes_held() <= 2 * sent, "{}", writes.bytes_held());
    let body = vec![b' '; MIB - 2 * sent];
    let mut other = server.connect();
    other.send(&[head_of_echo(body.len()).as_bytes(), &body].concat());
    assert_eq!(other.receive().status, 200);
}

#[test]
fn bodies_that_fill_the_budget_together_come_to_their_ends() {
    const COUNT: usize = 4;
    let server = TestServer::start(ServerConfig {
        max_body_bytes: MIB,
        max_batch_body_bytes: MIB,
        max_write_request_bytes: MIB,
        admission_wait_ms: 20_000,
        ..ServerConfig::default()
    });
    let body = vec![b' '; MIB - 1];
    let (first, rest) = body.split_at(MIB / COUNT);
    let mut clients: Vec<Connection> = (0..COUNT).map(|_| server.connect()).collect();
    for client in &mut clients {
        client.send(&[head_of_echo(body.len()).as_bytes(), first].concat());
    }
    let writes = server.state.admission().writes();
    await_that("the budget is full", || writes.bytes_held() > MIB * 3 / 4);
    std::thread::scope(|scope| {
        for mut client in clients {
            scope.spawn(move || {
                client.send(rest);
                assert_eq!(client.receive().status, 200);
            });
        }
    });
    await_that("all shares are given back", || writes.bytes_held() == 0);
}

#[test]
fn a_gzip_body_that_declares_too_little_is_read_all_the_same() {
    let server = TestServer::with_defaults();
    let (first, second) = (vec![b' '; 300_000], b"[1]");
    // Two members: the size at the end is that of the second.
    let packed = [gzip(&first), gzip(second)].concat();
    let answer = post_packed(&server, &packed);
    assert_eq!((answer.status, answer.body.len()), (200, 300_003));
}

#[test]
fn answers_that_are_not_taken_leave_no_room_for_others() {
    let server = TestServer::start(ServerConfig {
        max_answer_bytes: 40 * MIB,
        max_held_answer_bytes: 40 * MIB,
        ..ServerConfig::default()
    });
    let mut slow = server.connect();
    slow.send(&request("GET", LONG, "", ""));
    let mut first = [0; 16];
    slow.stream.read_exact(&mut first).unwrap();
    let refused = server.get(LONG);
    assert_eq!(refused.status, 503, "the budget is taken");
    assert!(refused.header("retry-after").is_some());
    assert_eq!(server.get("/test/list?count=100").status, 200);
    drop(slow);
    await_that("the share is given back", || server.get(LONG).status == 200);
}

/// A connection of HTTP/2 that has asked for a path and lets no byte of an answer come.
pub(crate) fn with_closed_window(server: &TestServer, path: &str) -> Connection {
    let mut client = server.connect();
    client.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    // SETTINGS: an initial window (4) of 0 bytes.
    client.send(&[0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0]);
    let mut block = vec![0x82, 0x86, 0x04, path.len() as u8];
    block.extend_from_slice(path.as_bytes());
    block.extend_from_slice(&[0x41, 1, b'h']);
    let mut frame = vec![0, 0, block.len() as u8, 1, 0x05, 0, 0, 0, 1];
    frame.extend_from_slice(&block);
    client.send(&frame);
    client
}

#[test]
fn a_stream_that_takes_nothing_ends_its_connection() {
    let server = TestServer::start(ServerConfig {
        write_timeout_ms: 200,
        ..ServerConfig::default()
    });
    for path in ["/versions", "/test/list?count=100000"] {
        let mut client = with_closed_window(&server, path);
        client.receive_rest();
    }
    assert_eq!(server.get("/versions").status, 200);
}

/// Whether the answer to the request of [`with_closed_window`] begins with status 200.
fn is_answered(client: &mut Connection) -> bool {
    let mut head = [0; 9];
    loop {
        client.stream.read_exact(&mut head).unwrap();
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        let mut payload = vec![0; length];
        client.stream.read_exact(&mut payload).unwrap();
        // HEADERS of the answer: 200 has an index, 503 is a literal status.
        if head[3] == 1 {
            return payload[0] == 0x88;
        }
    }
}

#[test]
fn an_answer_of_http2_counts_however_small() {
    let server = TestServer::start(ServerConfig {
        max_answer_bytes: 100,
        max_held_answer_bytes: 150,
        ..ServerConfig::default()
    });
    let mut held = with_closed_window(&server, "/versions");
    // A second request before this one is answered could take the room first.
    assert!(is_answered(&mut held));
    let mut other = with_closed_window(&server, "/versions");
    assert!(!is_answered(&mut other), "what is held leaves no room");
    drop(held);
    await_that("the share is given back", || {
        is_answered(&mut with_closed_window(&server, "/versions"))
    });
}
