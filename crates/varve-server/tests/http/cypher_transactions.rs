//! Transactions of Neo4j's Query API.

use std::time::Duration;

use serde_json::{Value as Json, json};
use varve_server::{GremlinConfig, ServerConfig};
use varve_testkit::http::request;
use varve_testserver::TestServer;

use crate::authentication::{send, server_of, with_open_graph};
use crate::memory::await_that;

const PATH: &str = "/db/g/query/v2";

/// A server with an open graph `g`.
fn server_with(config: ServerConfig) -> TestServer {
    let server = TestServer::start(config);
    let made = server.send("POST", "/graphs/g", r#"{"schema":"open"}"#);
    assert!((200..300).contains(&made.status), "{}", made.text());
    server
}

fn post(server: &TestServer, path: &str, body: &str) -> (u16, Json) {
    let answer = server.send("POST", &format!("{PATH}{path}"), body);
    let json = serde_json::from_str(answer.text()).expect("JSON");
    (answer.status, json)
}

#[track_caller]
fn ok(server: &TestServer, path: &str, statement: &str) -> Json {
    let (status, answer) = post(server, path, &json!({ "statement": statement }).to_string());
    assert_eq!(status, 202, "{answer}");
    answer
}

/// Begins a transaction, and returns its path.
fn begin(server: &TestServer, body: &str) -> String {
    let (status, answer) = post(server, "/tx", body);
    assert_eq!(status, 202, "{answer}");
    let transaction = &answer["transaction"];
    let expires = transaction["expires"].as_str().expect("an instant");
    assert!(expires.ends_with('Z'), "{expires}");
    format!("/tx/{}", transaction["id"].as_str().expect("an id"))
}

fn count(server: &TestServer, path: &str) -> Json {
    ok(server, path, "MATCH (n) RETURN count(n)")["data"]["values"][0][0].clone()
}

fn code(answer: &(u16, Json)) -> (u16, &str) {
    let code = answer.1["errors"][0]["code"].as_str();
    (answer.0, code.unwrap_or_else(|| panic!("{}", answer.1)))
}

const GONE: (u16, &str) = (404, "Neo.ClientError.Transaction.TransactionNotFound");

#[test]
fn a_transaction_is_begun_used_and_committed() {
    let server = server_with(ServerConfig::default());
    let own = begin(&server, "");
    let made = ok(&server, &own, "CREATE (a:A {x: 1}) RETURN a.x");
    assert_eq!(made["data"]["values"], json!([[1]]));
    assert_eq!(made["queryType"], "rw");
    assert_eq!(
        format!("/tx/{}", made["transaction"]["id"].as_str().unwrap()),
        own
    );
    assert_eq!(count(&server, &own), 1);
    assert_eq!(count(&server, ""), 0);
    // Without a statement it only answers how long it may be open.
    assert_eq!(post(&server, &own, "{}").1["data"], Json::Null);
    let (status, done) = post(&server, &format!("{own}/commit"), "");
    assert_eq!(status, 202, "{done}");
    let bookmark = done["bookmarks"][0].as_str().expect("a bookmark");
    let later = json!({"statement": "MATCH (n) RETURN n.x", "bookmarks": [bookmark]});
    let (_, found) = post(&server, "", &later.to_string());
    assert_eq!(found["data"]["values"], json!([[1]]));
    assert_eq!(code(&post(&server, &own, "{}")), GONE);
    assert_eq!(code(&post(&server, &format!("{own}/commit"), "")), GONE);
    // With the first statement at its begin, and the last one at its commit.
    let (_, begun) = post(&server, "/tx", r#"{"statement":"CREATE (:B) RETURN 2"}"#);
    assert_eq!(begun["data"]["values"], json!([[2]]));
    let own = format!("/tx/{}", begun["transaction"]["id"].as_str().unwrap());
    let last = ok(
        &server,
        &format!("{own}/commit"),
        "MATCH (n) RETURN count(n)",
    );
    assert_eq!(last["data"]["values"], json!([[2]]));
    assert_eq!(count(&server, ""), 2);
    assert_eq!(server.state.gremlin_sessions(), 0);
}

#[test]
fn the_time_at_its_begin_is_that_of_its_statements() {
    let server = server_with(ServerConfig::default());
    ok(&server, "", "CREATE (:A)");
    let (status, begun) = post(&server, "/tx?as_of=2001-01-01", "{}");
    assert_eq!(status, 202, "{begun}");
    let own = format!("/tx/{}", begun["transaction"]["id"].as_str().unwrap());
    assert_eq!(count(&server, &own), 0);
    let now = format!("{own}?as_of=2999-01-01");
    assert_eq!(count(&server, &now), 1);
}

#[test]
fn a_transaction_that_is_rolled_back_or_fails_leaves_nothing() {
    let server = server_with(ServerConfig::default());
    let own = begin(&server, "{}");
    ok(&server, &own, "CREATE (:A)");
    let ended = server.send("DELETE", &format!("{PATH}{own}"), "");
    assert_eq!((ended.status, ended.text()), (200, "{}"));
    assert_eq!(
        server.send("DELETE", &format!("{PATH}{own}"), "").status,
        404
    );
    let own = begin(&server, "{}");
    ok(&server, &own, "CREATE (:A)");
    let wrong = post(&server, &own, r#"{"statement":"RETURN x"}"#);
    assert_eq!(code(&wrong), (400, "Neo.ClientError.Statement.SyntaxError"));
    assert_eq!(code(&post(&server, &own, "{}")), GONE);
    let own = begin(&server, r#"{"accessMode":"Read"}"#);
    assert_eq!(count(&server, &own), 0);
    let write = post(&server, &own, r#"{"statement":"CREATE (:A)"}"#);
    assert_eq!(code(&write), (400, "Neo.ClientError.Statement.AccessMode"));
    // A body that cannot be read ends nothing.
    let own = begin(&server, "");
    assert_eq!(post(&server, &own, "{").0, 400);
    assert_eq!(count(&server, &own), 0);
    let other = post(&server, "/tx/none", "{}");
    assert_eq!(code(&other), GONE);
    let elsewhere = format!("/db/hugegraph/query/v2{own}");
    assert_eq!(server.send("POST", &elsewhere, "{}").status, 404);
    server.send("DELETE", &format!("{PATH}{own}"), "");
    assert_eq!(server.state.gremlin_sessions(), 0);
    assert_eq!(server.state.gremlin_held_bytes(), 0);
    // Of two that change one node, the second is told to try again.
    ok(&server, "", "CREATE (:C {n: 0})");
    let both = [begin(&server, ""), begin(&server, "")];
    for own in &both {
        ok(&server, own, "MATCH (c:C) SET c.n = c.n + 1");
    }
    let [first, second] = both.map(|own| post(&server, &format!("{own}/commit"), ""));
    assert_eq!(first.0, 202, "{}", first.1);
    assert_eq!(code(&second).1, "Neo.TransientError.Transaction.Outdated");
}

#[test]
fn transactions_are_bounded_in_number_and_age() {
    let server = server_with(ServerConfig {
        gremlin: GremlinConfig {
            sessions_max: 2,
            transaction_ms: 300,
            ..GremlinConfig::default()
        },
        ..ServerConfig::default()
    });
    let own = begin(&server, r#"{"statement":"CREATE (:A {x: 'text'})"}"#);
    begin(&server, "");
    let more = post(&server, "/tx", "");
    let busy = (503, "Neo.TransientError.General.DatabaseUnavailable");
    assert_eq!(code(&more), busy);
    await_that("they are too old", || server.state.gremlin_sessions() == 0);
    assert_eq!(server.state.gremlin_held_bytes(), 0);
    assert_eq!(code(&post(&server, &format!("{own}/commit"), "")), GONE);
    assert_eq!(count(&server, ""), 0);
    // Those that begin later end, too.
    begin(&server, "");
    std::thread::sleep(Duration::from_millis(50));
    begin(&server, "");
    await_that("they are too old", || server.state.gremlin_sessions() == 0);
}

#[test]
fn a_transaction_belongs_to_its_user() {
    let server = with_open_graph(server_of(ServerConfig::default()));
    let tx = format!("{PATH}/tx");
    let begun = send(&server, "writer", "POST", &tx, &json!({}));
    let begun: Json = serde_json::from_str(begun.text()).expect("JSON");
    let own = format!(
        "{tx}/{}",
        begun["transaction"]["id"].as_str().expect("an id")
    );
    let statement = json!({"statement": "CREATE (:A)"});
    let of = |user: &str, verb: &str, path: &str, body: &Json| {
        send(&server, user, verb, path, body).status
    };
    for user in ["admin", "reader"] {
        assert_eq!(of(user, "POST", &own, &statement), 404, "{user}");
        assert_eq!(of(user, "DELETE", &own, &json!({})), 404, "{user}");
    }
    assert_eq!(of("nobody", "POST", &own, &statement), 403);
    assert_eq!(of("writer", "POST", &own, &statement), 202);
    assert_eq!(
        of("writer", "POST", &format!("{own}/commit"), &json!({})),
        202
    );
    let begun = send(&server, "reader", "POST", &tx, &json!({}));
    let begun: Json = serde_json::from_str(begun.text()).expect("JSON");
    let own = format!(
        "{tx}/{}",
        begun["transaction"]["id"].as_str().expect("an id")
    );
    assert_eq!(of("reader", "POST", &own, &statement), 403);
    assert_eq!(server.state.gremlin_sessions(), 0);
}

#[test]
fn the_root_names_the_query_api() {
    let mut config = ServerConfig::default();
    config.bolt.listen = String::new();
    let server = server_with(config);
    let plain: Json = serde_json::from_str(server.get("/").text()).expect("JSON");
    assert_eq!(plain["service"], "varve");
    assert_eq!(plain["neo4j_version"], Json::Null);
    let head = request("GET", "/", "accept: application/json\r\n", "");
    let root = server.exchange(&head);
    let root: Json = serde_json::from_str(root.text()).expect("JSON");
    assert_eq!(root["neo4j_version"], "5.26.0");
    let query = root["query"].as_str().expect("an address");
    assert!(query.ends_with("/db/{databaseName}/query/v2"), "{query}");
    assert_eq!(root["bolt_direct"], Json::Null);
}
