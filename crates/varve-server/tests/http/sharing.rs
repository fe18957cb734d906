//! Several servers on one engine: who leads, who hands on, and what becomes of requests when a
//! leader goes. The engine is in memory, with leases that end when a test says so.

mod bolt;
mod bounded;
mod following;
mod forwarded;
mod limits;
mod repository;
mod users;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use varve_graph::registry::Tending;
use varve_graph::{GraphOptions, Registry};
use varve_kv::Engine;
use varve_model::schema::Retention;
use varve_model::time::SystemClock;
use varve_server::{AppState, Listeners, LockedGraphs, Metadata, ServerConfig};
use varve_testkit::SharedMemory;
use varve_testkit::http::{Answer, Connection, request};
use varve_testserver::{TestServer, on_a_free_port};

const TEND_EVERY: Duration = Duration::from_millis(20);

/// One of the servers.
struct Server {
    /// Ends before the server.
    _tending: Tending,
    server: TestServer,
}

impl Deref for Server {
    type Target = TestServer;

    fn deref(&self) -> &TestServer {
        &self.server
    }
}

impl Server {
    fn start(shared: &Arc<SharedMemory>) -> Self {
        Self::start_with(shared, ServerConfig::default())
    }

    fn start_with(shared: &Arc<SharedMemory>, config: ServerConfig) -> Self {
        Self::start_as(shared, config, None)
    }

    fn start_as(
        shared: &Arc<SharedMemory>,
        config: ServerConfig,
        metadata: Option<Metadata>,
    ) -> Self {
        Self::start_keeping(shared, config, metadata, Retention::None)
    }

    fn start_keeping(
        shared: &Arc<SharedMemory>,
        config: ServerConfig,
        metadata: Option<Metadata>,
        changes: Retention,
    ) -> Self {
        let config = ServerConfig {
            threads: 1,
            ..on_a_free_port(config)
        };
        let listeners = Listeners::bind(&config).unwrap();
        let engine: Arc<dyn Engine> = shared.server(&listeners.address().to_string());
        let mut options = GraphOptions::new(Arc::new(SystemClock));
        options.changes = Some(changes);
        let graphs = Arc::new(Registry::open(engine, options).unwrap());
        let server = TestServer::on_listeners(listeners, config, Arc::clone(&graphs), metadata);
        let tending = Tending::start(graphs, TEND_EVERY, |_, _| {}).unwrap();
        Self {
            _tending: tending,
            server,
        }
    }

    fn ask(&self, verb: &str, path: &str, body: &Value) -> Answer {
        self.ask_with(verb, path, "", body)
    }

    fn ask_with(&self, verb: &str, path: &str, headers: &str, body: &Value) -> Answer {
        let body = match body {
            Value::Null => String::new(),
            body => body.to_string(),
        };
        let request = request(verb, path, headers, body);
        self.connect().exchange(&request).unwrap()
    }

    fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &Value::Null)
    }

    /// The request is answered with success.
    #[track_caller]
    fn done(&self, verb: &str, path: &str, body: &Value) -> Value {
        let answer = self.ask(verb, path, body);
        assert!(
            (200..300).contains(&answer.status),
            "{verb} {path}: {} {}",
            answer.status,
            answer.text()
        );
        serde_json::from_slice(&answer.body).unwrap_or(Value::Null)
    }

    /// The role of this server for the graph, in the words of `/cluster`.
    fn role(&self, graph: &str) -> String {
        let answer = self.get("/cluster");
        let response: Value = serde_json::from_slice(&answer.body).unwrap();
        let graphs = response["graphs"].as_array().unwrap().clone();
        let found = graphs.iter().find(|it| it["name"] == graph);
        found.map_or("unknown".to_owned(), |it| {
            it["state"].as_str().unwrap().to_owned()
        })
    }

    fn await_role(&self, graph: &str, wanted: &str) {
        for _ in 0..1_000 {
            if self.role(graph) == wanted {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("{graph} is {} and never {wanted}", self.role(graph));
    }

    fn await_no_graphs(&self) {
        for _ in 0..1_000 {
            if self.done("GET", "/graphs", &Value::Null) == json!({"graphs": []}) {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("graphs that were dropped are listed for good");
    }

    /// Stops as by SIGTERM, and gives its graphs up.
    fn stop(self) {
        let state = Arc::clone(&self.state);
        drop(self);
        state.graphs().close();
    }
}

const GRAPH: &str = "/graphs/g";

/// Two servers with a graph that the first leads.
fn two() -> (Arc<SharedMemory>, Server, Server) {
    let shared = SharedMemory::new();
    let (a, b) = (Server::start(&shared), Server::start(&shared));
    a.done("POST", GRAPH, &json!({}));
    schema(&a);
    (shared, a, b)
}

fn schema(server: &Server) {
    for name in ["name", "note"] {
        let key = json!({"name": name, "data_type": "TEXT", "cardinality": "SINGLE"});
        server.done("POST", &format!("{GRAPH}/schema/propertykeys"), &key);
    }
    let label = json!({"name": "thing", "id_strategy": "CUSTOMIZE_STRING", "properties": ["name", "note"], "nullable_keys": ["name", "note"]});
    server.done("POST", &format!("{GRAPH}/schema/vertexlabels"), &label);
}

fn vertex(id: &str) -> Value {
    json!({"label": "thing", "id": id, "properties": {"name": id}})
}

fn vertices() -> String {
    format!("{GRAPH}/graph/vertices")
}

fn path_of(id: &str) -> String {
    format!("{GRAPH}/graph/vertices/%22{id}%22")
}

#[test]
fn what_one_server_makes_the_other_has_at_once() {
    let (_, a, b) = two();
    for round in 0..50 {
        let (one, other) = if round % 2 == 0 { (&a, &b) } else { (&b, &a) };
        let name = format!("label{round}");
        let label = json!({"name": name, "id_strategy": "CUSTOMIZE_STRING", "properties": []});
        one.done("POST", &format!("{GRAPH}/schema/vertexlabels"), &label);
        let id = format!("v{round}");
        other.done(
            "POST",
            &vertices(),
            &json!({"label": name, "id": id, "properties": {}}),
        );
        assert_eq!(one.done("GET", &path_of(&id), &Value::Null)["label"], name);
    }
    assert_eq!(a.role("g"), "leader");
    assert_eq!(b.role("g"), "follower");
}

#[test]
fn answers_are_handed_through_as_they_are() {
    let (_, a, b) = two();
    b.done("POST", &vertices(), &vertex("x"));
    for path in [path_of("x"), path_of("none"), vertices()] {
        let (from_a, from_b) = (a.get(&path), b.get(&path));
        assert_eq!(from_a.status, from_b.status);
        assert_eq!(from_a.text(), from_b.text());
        assert_eq!(from_a.header("content-type"), from_b.header("content-type"));
    }
    let bad = b.ask("POST", &vertices(), &json!({"label": "nothing"}));
    assert_eq!(bad.status, 400, "{}", bad.text());
    let head = b.ask("HEAD", &path_of("x"), &Value::Null);
    assert_eq!(head.status, 200);
    assert_eq!(b.get("/graphs/none/graph/vertices/1").status, 404);
}

#[test]
fn both_list_make_clear_and_drop_graphs() {
    let (_, a, b) = two();
    b.done("POST", "/graphs/h", &json!({}));
    assert_eq!(b.role("h"), "leader");
    for server in [&a, &b] {
        let listed = server.done("GET", "/graphs", &Value::Null);
        assert_eq!(listed, json!({"graphs": ["g", "h"]}));
        let again = server.ask("POST", "/graphs/h", &json!({}));
        assert_eq!(again.status, 400, "{}", again.text());
    }
    b.done("POST", &vertices(), &vertex("x"));
    let clear = format!("{GRAPH}/clear?confirm_message=I%27m+sure+to+delete+all+data");
    b.done("DELETE", &clear, &Value::Null);
    for server in [&a, &b] {
        assert_eq!(server.get(&path_of("x")).status, 404);
    }
    let drop = "?confirm_message=I%27m+sure+to+drop+the+graph";
    a.done("DELETE", &format!("/graphs/h{drop}"), &Value::Null);
    b.done("DELETE", &format!("{GRAPH}{drop}"), &Value::Null);
    for (server, dropped) in [(&a, "g"), (&b, "h")] {
        let listed = server.done("GET", "/graphs", &Value::Null);
        let listed = listed["graphs"].as_array().unwrap();
        assert!(!listed.contains(&json!(dropped)), "{listed:?}");
    }
    for server in [&a, &b] {
        // The other server lists it until it is removed, which is once the request that dropped it
        // has let it go.
        server.await_no_graphs();
        assert_eq!(server.get(&path_of("x")).status, 404);
    }
    b.done("POST", GRAPH, &json!({}));
    schema(&a);
}

#[test]
fn when_a_leader_is_lost_the_other_leads_and_the_first_follows() {
    let (shared, a, b) = two();
    a.done("POST", &vertices(), &vertex("before"));
    shared.expire("g");
    // Both ask before anybody leads: the request waits.
    b.done("POST", &vertices(), &vertex("after"));
    a.await_role("g", "follower");
    assert_eq!(b.role("g"), "leader");
    for id in ["before", "after"] {
        a.done("GET", &path_of(id), &Value::Null);
    }
    // And back again: what the first server remembered of the graph is not what it answers.
    b.done(
        "PUT",
        &format!("{}?action=append", path_of("before")),
        &json!({"label": "thing", "properties": {"note": "b"}}),
    );
    shared.expire("g");
    a.await_role("g", "leader");
    b.await_role("g", "follower");
    let response = b.done("GET", &path_of("before"), &Value::Null);
    assert_eq!(response["properties"]["note"], "b");
}

#[test]
fn a_server_that_stops_hands_over_at_once() {
    let (_, a, b) = two();
    a.done("POST", &vertices(), &vertex("x"));
    a.stop();
    b.done("GET", &path_of("x"), &Value::Null);
    assert_eq!(b.role("g"), "leader");
}

#[test]
fn requests_wait_while_it_is_unknown_who_leads() {
    let (shared, a, b) = two();
    shared.suspend("g", true);
    a.await_role("g", "suspended");
    thread::scope(|scope| {
        let asked: Vec<_> = [&a, &b]
            .into_iter()
            .enumerate()
            .map(|(at, server)| {
                let id = format!("v{at}");
                scope.spawn(move || server.done("POST", &vertices(), &vertex(&id)))
            })
            .collect();
        shared.suspend("g", false);
        for asked in asked {
            asked.join().unwrap();
        }
    });
    assert_eq!(a.get(&path_of("v1")).status, 200);
}

#[test]
fn without_a_leader_a_request_ends_with_its_time() {
    let shared = SharedMemory::new();
    let config = ServerConfig {
        request_timeout_ms: 300,
        ..ServerConfig::default()
    };
    let a = Server::start_with(&shared, config);
    a.done("POST", GRAPH, &json!({}));
    shared.suspend("g", true);
    let answer = a.get(&path_of("x"));
    assert_eq!(answer.status, 503, "{}", answer.text());
    assert!(answer.header("retry-after").is_some());
    assert_eq!(a.get("/cluster").status, 200, "what is local answers");
}

#[test]
fn a_graph_that_nobody_can_open_says_why_and_the_others_are_served() {
    let (shared, a, b) = two();
    a.done("POST", "/graphs/h", &json!({}));
    shared.refuse_opening("g", true);
    a.stop();
    b.await_role("g", "failed");
    // One that starts then serves the others, too.
    let c = Server::start(&shared);
    c.await_role("g", "failed");
    for server in [&b, &c] {
        let written = server.ask("POST", &vertices(), &vertex("x"));
        for answer in [server.get(&path_of("x")), written] {
            assert_eq!(answer.status, 500, "{}", answer.text());
            assert!(answer.text().contains("does not know"), "{}", answer.text());
        }
        let response = server.done("GET", "/cluster", &Value::Null);
        let reason = response["graphs"][0]["reason"].as_str().unwrap();
        assert!(reason.contains("does not know"), "{reason}");
        server.done("GET", "/graphs/h/schema/vertexlabels", &Value::Null);
        let listed = server.done("GET", "/graphs", &Value::Null);
        assert_eq!(listed, json!({"graphs": ["g", "h"]}));
    }
    shared.refuse_opening("g", false);
    for _ in 0..1_000 {
        if [&b, &c].iter().any(|server| server.role("g") == "leader") {
            break;
        }
        thread::sleep(Duration::from_millis(10));
    }
    for server in [&b, &c] {
        server.done("GET", &vertices(), &Value::Null);
    }
}

#[test]
fn what_was_handed_on_is_not_handed_on_again() {
    let (_, _a, b) = two();
    let answer = b.ask_with(
        "GET",
        &path_of("x"),
        "x-varve-forwarded: 1\r\n",
        &Value::Null,
    );
    assert_eq!(answer.status, 421, "{}", answer.text());
}

/// A server that takes the lease of the graph, and breaks off every request that it is sent, or
/// never answers it.
struct BadLeader {
    asked: Arc<AtomicUsize>,
    space: Option<Arc<dyn varve_kv::Space>>,
}

#[derive(Clone, Copy)]
enum Bad {
    BreaksOff,
    IsSilent,
}

/// Takes the lease of the graph for the server at `address`.
fn take_lease(shared: &Arc<SharedMemory>, address: &str) -> Arc<dyn varve_kv::Space> {
    let engine = shared.server(address);
    loop {
        shared.expire("g");
        if let Ok(space) = engine.open("g", &[], false) {
            return space;
        }
    }
}

impl BadLeader {
    fn take(shared: &Arc<SharedMemory>, answer: Bad) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let asked = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&asked);
        thread::spawn(move || {
            let mut silent = Vec::new();
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut head = [0; 4096];
                if stream.read(&mut head).unwrap() > 0 {
                    counter.fetch_add(1, Ordering::SeqCst);
                }
                match answer {
                    // Not a head of an answer: the connection just ends.
                    Bad::BreaksOff => drop(stream.flush()),
                    Bad::IsSilent => silent.push(stream),
                }
            }
        });
        Self {
            asked,
            space: Some(take_lease(shared, &address)),
        }
    }

    fn await_asked(&self) {
        for _ in 0..1_000 {
            if self.asked.load(Ordering::SeqCst) > 0 {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("nobody asked it");
    }
}

#[test]
fn a_write_whose_leader_was_lost_is_not_guessed_about_and_a_read_is_done_again() {
    let (shared, a, b) = two();
    a.done("POST", &vertices(), &vertex("x"));
    let mut bad = BadLeader::take(&shared, Bad::BreaksOff);
    b.await_role("g", "follower");
    a.await_role("g", "follower");
    let answer = b.ask("POST", &vertices(), &vertex("y"));
    assert_eq!(answer.status, 503, "{}", answer.text());
    assert!(
        answer.text().contains("VRV-OUTCOME-UNKNOWN"),
        "{}",
        answer.text()
    );
    assert!(answer.header("retry-after").is_none());
    bad.await_asked();
    thread::scope(|scope| {
        let read = scope.spawn(|| b.done("GET", &path_of("x"), &Value::Null));
        bad.space.take();
        assert_eq!(read.join().unwrap()["id"], "x");
    });
}

#[test]
fn a_write_that_the_leader_does_not_answer_in_time_is_not_guessed_about() {
    let shared = SharedMemory::new();
    let config = ServerConfig {
        request_timeout_ms: 5_000,
        ..ServerConfig::default()
    };
    let b = Server::start_with(&shared, config);
    b.done("POST", GRAPH, &json!({}));
    schema(&b);
    let bad = BadLeader::take(&shared, Bad::IsSilent);
    b.await_role("g", "follower");
    let write = b.ask("POST", &vertices(), &vertex("y"));
    assert_eq!(write.status, 503, "{}", write.text());
    let text = write.text();
    assert!(text.contains("VRV-OUTCOME-UNKNOWN"), "{text}");
    assert!(write.header("retry-after").is_none());
    bad.await_asked();
    let read = b.get(&path_of("x"));
    assert_eq!(read.status, 503, "{}", read.text());
    assert!(read.header("retry-after").is_some());
}

#[test]
fn nothing_is_lost_when_the_leader_changes_all_the_time() {
    let (shared, a, b) = two();
    let kept = thread::scope(|scope| {
        let writers: Vec<_> = [&a, &b]
            .into_iter()
            .enumerate()
            .map(|(at, server)| {
                scope.spawn(move || {
                    let mut kept = Vec::new();
                    for number in 0..100 {
                        let id = format!("w{at}_{number}");
                        let answer = server.ask("POST", &vertices(), &vertex(&id));
                        match answer.status {
                            201 => kept.push(id),
                            503 => {}
                            status => panic!("{status} {}", answer.text()),
                        }
                    }
                    kept
                })
            })
            .collect();
        for _ in 0..10 {
            thread::sleep(Duration::from_millis(30));
            shared.expire("g");
        }
        let kept = writers.into_iter().map(|writer| writer.join().unwrap());
        kept.flatten().collect::<Vec<_>>()
    });
    assert!(!kept.is_empty());
    for id in kept {
        for server in [&a, &b] {
            assert_eq!(server.get(&path_of(&id)).status, 200, "{id}");
        }
    }
}
