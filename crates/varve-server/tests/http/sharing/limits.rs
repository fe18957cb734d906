//! What handing on may take, and what is said of a request that nobody was sent.

use std::net::TcpStream;

use socket2::{Domain, Socket, Type};
use varve_server::ChangesConfig;

use super::*;
use crate::memory::await_that;

/// A server that takes no connection, and refuses none: whoever connects waits.
struct Hung {
    address: SocketAddr,
    _socket: Socket,
    _waiting: Vec<TcpStream>,
}

impl Hung {
    fn start() -> Self {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        socket
            .bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into())
            .unwrap();
        socket.listen(1).unwrap();
        let address = socket.local_addr().unwrap().as_socket().unwrap();
        let mut waiting = Vec::new();
        // Once nobody accepts them, the kernel takes a few and then no more.
        while let Ok(stream) = TcpStream::connect_timeout(&address, Duration::from_millis(300)) {
            waiting.push(stream);
        }
        Self {
            address,
            _socket: socket,
            _waiting: waiting,
        }
    }
}

/// A server that follows one that takes no connection, and what keeps the latter in the lead.
fn behind_a_hung_leader(
    config: ServerConfig,
) -> (Arc<SharedMemory>, Server, Hung, Arc<dyn varve_kv::Space>) {
    let shared = SharedMemory::new();
    let server = Server::start_with(&shared, config);
    server.done("POST", GRAPH, &json!({}));
    schema(&server);
    let hung = Hung::start();
    let lease = take_lease(&shared, &hung.address.to_string());
    server.await_role("g", "follower");
    (shared, server, hung, lease)
}

#[test]
fn a_write_that_could_not_be_sent_in_time_is_known_not_to_be_stored() {
    let config = ServerConfig {
        request_timeout_ms: 5_000,
        ..ServerConfig::default()
    };
    let (_shared, server, _hung, _lease) = behind_a_hung_leader(config);
    let write = server.ask("POST", &vertices(), &vertex("y"));
    let text = write.text();
    assert_eq!(write.status, 503, "{text}");
    assert!(!text.contains("VRV-OUTCOME-UNKNOWN"), "{text}");
    assert!(write.header("retry-after").is_some());
}

#[test]
fn a_write_that_could_not_be_sent_to_a_lost_leader_is_done_by_the_next() {
    let (_shared, server, _hung, lease) = behind_a_hung_leader(ServerConfig::default());
    thread::scope(|scope| {
        let write = scope.spawn(|| server.done("POST", &vertices(), &vertex("y")));
        while server.state.metrics().forwarded.load(Ordering::Relaxed) == 0 {
            thread::yield_now();
        }
        drop(lease);
        write.join().unwrap();
    });
    assert_eq!(server.role("g"), "leader");
}

#[test]
fn all_answers_on_their_way_through_have_one_limit() {
    let shared = SharedMemory::new();
    let leader = Server::start(&shared);
    let config = ServerConfig {
        max_answer_bytes: 200,
        max_held_answer_bytes: 200,
        ..ServerConfig::default()
    };
    let follower = Server::start_with(&shared, config);
    leader.done("POST", GRAPH, &json!({}));
    schema(&leader);
    follower.await_role("g", "follower");
    let long = "x".repeat(300);
    let body = json!({"label": "thing", "id": "long", "properties": {"name": long}});
    let made = follower.done("POST", &vertices(), &body);
    assert_eq!(
        made["properties"]["name"], long,
        "a write's answer is not refused"
    );
    follower.done("POST", &vertices(), &vertex("short"));
    for _ in 0..3 {
        let refused = follower.get(&path_of("long"));
        assert_eq!(refused.status, 503, "{}", refused.text());
        assert!(refused.header("retry-after").is_some());
        follower.done("GET", &path_of("short"), &Value::Null);
    }
    leader.done("GET", &path_of("long"), &Value::Null);
}

/// Asks for changes through a server, from this address, as a proxy of this client does.
fn follow(server: &Server, source: &str, client: &str, wait: &str) -> Connection {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    let source = SocketAddr::new(source.parse().unwrap(), 0);
    socket.bind(&source.into()).unwrap();
    socket.connect(&server.address().into()).unwrap();
    let mut connection = Connection::on(TcpStream::from(socket));
    let headers = format!("x-forwarded-for: {client}\r\n");
    let path = format!("{GRAPH}/changes?wait={wait}");
    connection.send(&request("GET", &path, &headers, ""));
    connection
}

#[test]
fn the_leader_counts_the_followers_of_each_client_of_another_server() {
    let shared = SharedMemory::new();
    let start = || {
        let config = ServerConfig {
            trusted_proxies: vec!["127.0.0.1".to_owned()],
            changes: ChangesConfig {
                followers_per_client_max: 1,
                ..ChangesConfig::default()
            },
            ..ServerConfig::default()
        };
        Server::start_keeping(&shared, config, None, Retention::All)
    };
    let (leader, follower) = (start(), start());
    leader.done("POST", GRAPH, &json!({}));
    schema(&leader);
    follower.await_role("g", "follower");
    let (proxy, client, other) = ("127.0.0.1", "198.51.100.1", "198.51.100.2");
    let mut first = follow(&follower, proxy, client, "14s");
    await_that("the leader counts it", || {
        let metrics = leader.get("/metrics");
        metrics.text().contains("varve_changes_followers 1")
    });
    let status = |source: &str, client: &str| {
        let answer = follow(&follower, source, client, "1ms").receive();
        answer.status
    };
    assert_eq!(status(proxy, client), 429);
    assert_eq!(status(proxy, other), 200);
    // Who is no proxy does not choose its address.
    assert_eq!(status("127.0.0.2", client), 200);
    leader.done("POST", &vertices(), &vertex("x"));
    assert_eq!(first.receive().status, 200);
}
