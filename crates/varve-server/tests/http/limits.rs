//! Bad input, slow clients, overload, stop: a clear answer or a cut, and the others are served on.

mod sizes;

use std::time::{Duration, Instant};

use varve_server::{AppState, Listeners, ServerConfig};
use varve_testkit::http::{Answer, Connection};
use varve_testserver::routes::GATE;
use varve_testserver::{TestServer, on_a_free_port};

use crate::protocol::gzip;

/// Time limits short enough for a test.
fn impatient() -> ServerConfig {
    ServerConfig {
        header_read_timeout_ms: 1_000,
        body_read_timeout_ms: 1_000,
        idle_timeout_ms: 2_000,
        write_timeout_ms: 2_000,
        min_body_bytes_per_second: 1_000_000_000,
        ..ServerConfig::default()
    }
}

#[track_caller]
fn served_on(server: &TestServer) {
    assert_eq!(server.get("/versions").status, 200);
}

#[test]
fn a_slow_head_is_cut() {
    let server = TestServer::start(impatient());
    let mut slow = server.connect();
    slow.send(b"GET /versions HTTP/1.1\r\nhost: h\r\nx-a: ");
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(60) {
        // One byte at a time keeps the connection busy, and must not keep it open.
        if std::io::Write::write_all(&mut slow.stream, b"a").is_err() {
            served_on(&server);
            return;
        }
        std::thread::park_timeout(Duration::from_millis(20));
    }
    panic!("a slow head was never cut");
}

#[test]
fn an_idle_connection_is_closed_also_when_it_never_spoke() {
    let server = TestServer::start(impatient());
    let mut silent = server.connect();
    let mut idle = server.connect();
    assert_eq!(idle.get("/versions").status, 200);
    assert_eq!(silent.receive_rest(), b"");
    assert_eq!(idle.receive_rest(), b"");
    served_on(&server);
}

#[test]
fn a_server_whose_graphs_are_not_open_answers_503_and_hands_its_sockets_over() {
    let config = on_a_free_port(ServerConfig::default());
    let listeners = Listeners::bind(&config).unwrap();
    let waiting = AppState::waiting(&config).unwrap();
    let waiting = varve_server::start_on(listeners.share().unwrap(), &waiting).unwrap();
    let address = listeners.address();
    let mut early = Connection::to(address);
    for path in [
        "/graphs",
        "/graphs/hugegraph/graph/vertices",
        "/graphs/none",
    ] {
        let answer = Connection::to(address).get(path);
        assert_eq!(answer.status, 503, "{path}");
        assert!(answer.text().contains("The graphs are not open yet"));
        assert!(answer.text().contains("ServiceUnavailableException"));
        assert!(answer.header("retry-after").is_some());
        assert_eq!(answer.header("connection"), Some("close"));
    }
    for (path, status) in [("/versions", 200), ("/metrics", 200), ("/health", 503)] {
        assert_eq!(Connection::to(address).get(path).status, status, "{path}");
    }
    assert_eq!(early.get("/versions").status, 200);
    // Whoever has asked before the stop is answered.
    let mut before: Vec<Connection> = (0..20).map(|_| Connection::to(address)).collect();
    for client in &mut before {
        client.send(b"GET /graphs HTTP/1.1\r\nhost: h\r\n\r\n");
    }
    waiting.stop_accepting().unwrap();
    // Whoever comes between the two waits in the kernel.
    let mut between: Vec<Connection> = (0..20).map(|_| Connection::to(address)).collect();
    for client in &mut between {
        client.send(b"GET /graphs HTTP/1.1\r\nhost: h\r\n\r\n");
    }
    let graphs = varve_server::in_memory().unwrap();
    graphs.create("hugegraph").unwrap();
    let server = TestServer::on_listeners(listeners, config, graphs, None);
    waiting.wait();
    for client in &mut before {
        // By the one or, where it still lay in the kernel, by the other.
        assert!(matches!(client.receive().status, 200 | 503));
    }
    for client in &mut between {
        let listed = client.receive();
        listed.is(200, r#"{"graphs":["hugegraph"]}"#);
    }
    drop((early, between, server));
}

#[test]
fn a_half_sent_body_is_timed_out() {
    let server = TestServer::start(impatient());
    let mut client = server.connect();
    client.send(b"POST /test/echo HTTP/1.1\r\nhost: h\r\ncontent-type: application/json\r\ncontent-length: 10\r\n\r\n[1,");
    let answer = client.receive();
    assert_eq!(
        (answer.status, answer.header("connection")),
        (408, Some("close"))
    );
    assert_eq!(client.receive_rest(), b"");
    served_on(&server);
}

#[test]
fn a_client_that_goes_away_in_its_body_harms_nobody() {
    let server = TestServer::with_defaults();
    for _ in 0..50 {
        let mut client = server.connect();
        client.send(b"POST /test/echo HTTP/1.1\r\nhost: h\r\ncontent-type: application/json\r\ncontent-length: 10\r\n\r\n[1,");
    }
    served_on(&server);
    assert_eq!(server.state.admission().writes().bytes_held(), 0);
}

#[test]
fn a_client_that_takes_no_answer_is_cut() {
    let server = TestServer::start(impatient());
    let mut greedy = server.connect();
    let request = b"GET /test/list?count=2000000 HTTP/1.1\r\nhost: h\r\n\r\n";
    greedy.send(&request.repeat(4));
    let started = Instant::now();
    while server
        .state
        .metrics()
        .connections_cut
        .load(std::sync::atomic::Ordering::Relaxed)
        == 0
    {
        assert!(
            started.elapsed() < Duration::from_secs(20),
            "it was never cut"
        );
        std::thread::park_timeout(Duration::from_millis(20));
    }
    served_on(&server);
}

#[test]
fn panics_are_500_and_the_server_lives_on() {
    let server = TestServer::with_defaults();
    for path in ["/test/panic", "/test/panic-async", "/test/panic-pooled"] {
        let mut client = server.connect();
        let answer = client.get(path);
        assert_eq!(answer.status, 500);
        assert!(
            answer.text().contains("see request id "),
            "{}",
            answer.text()
        );
        assert_eq!(
            client.get("/versions").status,
            200,
            "the connection lives on"
        );
    }
    let panics = server
        .state
        .database()
        .panics
        .load(std::sync::atomic::Ordering::Relaxed);
    assert_eq!(panics, 3);
}

#[test]
fn a_handler_that_never_ends_is_timed_out() {
    let config = ServerConfig {
        request_timeout_ms: 50,
        ..ServerConfig::default()
    };
    let server = TestServer::start(config);
    let answer = server.get("/test/forever");
    assert_eq!(
        (answer.status, answer.header("retry-after")),
        (503, Some("1"))
    );
    served_on(&server);
}

fn put_held(server: &TestServer) -> std::thread::JoinHandle<Answer> {
    let address = server.address();
    std::thread::spawn(move || {
        let mut client = Connection::to(address);
        client.send(b"PUT /test/held HTTP/1.1\r\nhost: h\r\ncontent-length: 0\r\n\r\n");
        client.receive()
    })
}

#[test]
fn over_the_budget_writes_wait_and_then_are_503_while_reads_go_on() {
    let owner = GATE.take();
    let config = ServerConfig {
        max_writes_in_flight: 2,
        admission_wait_ms: 100,
        retry_after_seconds: 7,
        ..ServerConfig::default()
    };
    let server = TestServer::start(config);
    let inside = [put_held(&server), put_held(&server)];
    GATE.wait_for(2);
    let refused = put_held(&server).join().unwrap();
    assert_eq!(
        (refused.status, refused.header("retry-after")),
        (503, Some("7")),
        "{}",
        refused.text()
    );
    assert!(
        refused
            .text()
            .contains("class jakarta.ws.rs.ServiceUnavailableException")
    );
    assert_eq!(server.get("/test/list").status, 200);
    GATE.open();
    for write in inside {
        write.join().unwrap().is(200, "true");
    }
    put_held(&server).join().unwrap().is(200, "true");
    drop(owner);
}

/// Waits for an answer to `request` on a thread of its own.
fn send_aside(server: &TestServer, request: String) -> std::thread::JoinHandle<Answer> {
    let address = server.address();
    std::thread::spawn(move || {
        let mut client = Connection::to(address);
        client.send(request.as_bytes());
        client.receive()
    })
}

fn create_key(name: &str) -> String {
    let body = format!(r#"{{"name":"{name}"}}"#);
    format!(
        "POST /graphs/hugegraph/schema/propertykeys HTTP/1.1\r\nhost: h\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

#[test]
fn a_write_out_of_time_in_the_queue_is_not_done_and_one_that_has_begun_is_of_unknown_outcome() {
    let owner = GATE.take();
    let server = TestServer::start(ServerConfig {
        blocking_threads: 1,
        request_timeout_ms: 300,
        ..ServerConfig::default()
    });
    server.state.graphs().create("hugegraph").unwrap();
    let begun = put_held(&server);
    GATE.wait_for(1);
    let queued = send_aside(&server, create_key("late")).join().unwrap();
    assert_eq!(
        (queued.status, queued.header("retry-after")),
        (503, Some("1"))
    );
    assert!(!queued.text().contains("VRV-OUTCOME-UNKNOWN"));
    let begun = begun.join().unwrap();
    assert_eq!((begun.status, begun.header("retry-after")), (503, None));
    assert!(
        begun.text().contains(r#""cause":"VRV-OUTCOME-UNKNOWN""#),
        "{}",
        begun.text()
    );
    GATE.open();
    while server.state.database().pool.in_work() > 0 {
        std::thread::yield_now();
    }
    let key = server.get("/graphs/hugegraph/schema/propertykeys/late");
    assert_eq!(key.status, 404, "{}", key.text());
    drop(owner);
}

#[test]
fn a_write_is_carried_out_while_reads_hold_all_their_threads() {
    let owner = GATE.take();
    let server = TestServer::start(ServerConfig {
        blocking_threads: 1,
        ..ServerConfig::default()
    });
    server.state.graphs().create("hugegraph").unwrap();
    let read = || {
        let request = "GET /test/held HTTP/1.1\r\nhost: h\r\n\r\n";
        send_aside(&server, request.to_owned())
    };
    let reads = [read(), read()];
    GATE.wait_for(1);
    let written = send_aside(&server, create_key("name")).join().unwrap();
    assert_eq!(written.status, 202, "{}", written.text());
    GATE.open();
    for read in reads {
        read.join().unwrap().is(200, "true");
    }
    drop(owner);
}

/// An empty body in chunks: its end is not known with the head.
#[test]
fn a_control_request_needs_no_thread_of_reads_wherever_its_empty_body_ends() {
    let owner = GATE.take();
    let server = TestServer::start(ServerConfig {
        blocking_threads: 1,
        ..ServerConfig::default()
    });
    let held = send_aside(
        &server,
        "GET /test/held HTTP/1.1\r\nhost: h\r\n\r\n".to_owned(),
    );
    GATE.wait_for(1);
    let asked = "GET /metrics HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\
                 content-type: application/json\r\n\r\n0\r\n\r\n";
    let answer = server.exchange(asked);
    assert_eq!(answer.status, 200, "{}", answer.text());
    GATE.open();
    held.join().unwrap().is(200, "true");
    drop(owner);
}

#[test]
fn a_small_gzip_body_that_grows_large_is_not_inflated_on_a_serving_thread() {
    let owner = GATE.take();
    let server = TestServer::start(ServerConfig {
        blocking_threads: 1,
        ..ServerConfig::default()
    });
    let held = put_held(&server);
    GATE.wait_for(1);
    let post = |plain: &[u8]| {
        let packed = gzip(plain);
        let head = format!(
            "POST /test/echo HTTP/1.1\r\nhost: h\r\ncontent-type: application/json\r\n\
             content-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
            packed.len()
        );
        let mut client = server.connect();
        client.send(&[head.as_bytes(), &packed].concat());
        client
    };
    // Over the limit of a body: inflated in place it would be refused at once.
    let mut large = post(&vec![b' '; 20_000_000]);
    // It waits for the thread that is held; small ones need none.
    assert_eq!(post(b"[1]").receive().text(), "[1]");
    let started = Instant::now();
    while server.state.database().pool.in_work() < 2 {
        assert!(
            started.elapsed() < Duration::from_secs(20),
            "it is not on the pool"
        );
        std::thread::yield_now();
    }
    GATE.open();
    assert_eq!(large.receive().status, 413);
    held.join().unwrap().is(200, "true");
    drop(owner);
}

#[test]
fn a_stop_answers_what_is_in_work_and_closes_the_rest() {
    let owner = GATE.take();
    let server = TestServer::with_defaults();
    let mut idle = server.connect();
    assert_eq!(idle.get("/versions").status, 200);
    let in_work = put_held(&server);
    GATE.wait_for(1);
    let address = server.address();
    server.request_stop();
    assert_eq!(idle.receive_rest(), b"");
    GATE.open();
    let answer = in_work.join().unwrap();
    answer.is(200, "true");
    assert_eq!(answer.header("connection"), Some("close"));
    server.wait();
    assert!(
        std::net::TcpStream::connect(address).is_err(),
        "nobody listens any more"
    );
    drop(owner);
}

#[test]
fn a_stop_does_not_wait_for_ever() {
    let owner = GATE.take();
    let config = ServerConfig {
        shutdown_timeout_ms: 50,
        ..ServerConfig::default()
    };
    let server = TestServer::start(config);
    let mut stuck = server.connect();
    stuck.send(b"PUT /test/held HTTP/1.1\r\nhost: h\r\ncontent-length: 0\r\n\r\n");
    GATE.wait_for(1);
    server.request_stop();
    server.wait();
    assert_eq!(stuck.receive_rest(), b"");
    GATE.open();
    drop(owner);
}

#[test]
fn one_connection_too_many_is_refused_with_a_reason() {
    let config = ServerConfig {
        max_connections: 2,
        ..ServerConfig::default()
    };
    let server = TestServer::start(config);
    let mut clients = [server.connect(), server.connect()];
    for client in &mut clients {
        assert_eq!(client.get("/versions").status, 200);
    }
    let refused = server.connect().receive();
    assert_eq!(
        (refused.status, refused.header("retry-after")),
        (503, Some("1"))
    );
    let [mut first, second] = clients;
    let health = first.get("/health");
    assert!(
        health.text().contains(r#""code":"busy""#),
        "{}",
        health.text()
    );
    drop(first);
    while server.state.open_connections() > 1 {
        std::thread::yield_now();
    }
    served_on(&server);
    drop(second);
}

#[test]
fn a_thousand_slow_clients_hold_nobody_up() {
    let server = TestServer::start(impatient());
    let parts: [&[u8]; 4] = [
        b"",
        b"GET /vers",
        b"POST /test/echo HTTP/1.1\r\nhost: h\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n[1,",
        b"PUT /test/echo HTTP/1.1\r\nhost: h\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n5\r\n[1",
    ];
    let slow: Vec<Connection> = (0..1000)
        .map(|index: usize| {
            let mut client = server.connect();
            client.send(parts[index % parts.len()]);
            client
        })
        .collect();
    let mut client = server.connect();
    for _ in 0..100 {
        assert_eq!(client.get("/versions").status, 200);
    }
    // Each is cut, or answered 408 and closed.
    for mut client in slow {
        let rest = client.receive_rest();
        assert!(rest.is_empty() || rest.starts_with(b"HTTP/1.1 408"));
    }
    assert_eq!(server.state.admission().writes().bytes_held(), 0);
    served_on(&server);
}
