//! Queries that run are listed and cancelled, and slow requests are remembered.

use std::time::{Duration, Instant};

use serde_json::Value;
use varve_server::ServerConfig;
use varve_testkit::http::{Connection, request};

use crate::fixture::Fixture;

/// Walks around a loop for longer than a test has time for.
const ENDLESS: &str = "g.V('1:loop').repeat(out('knows')).times(100000000).count()";

/// A graph with an edge from a vertex to itself.
fn looped() -> Fixture {
    let fixture = Fixture::new();
    let vertex = serde_json::json!({"label": "person", "properties": {"name": "loop", "age": 1}});
    fixture.done("POST", "vertices", &vertex.to_string());
    let edge = serde_json::json!({"label": "knows", "outV": "1:loop", "inV": "1:loop",
        "properties": {"date": "2020-01-01"}});
    fixture.done("POST", "edges", &edge.to_string());
    fixture
}

fn begin(fixture: &Fixture, tag: &str) -> Connection {
    let mut client = fixture.server.connect();
    let body = serde_json::json!({"gremlin": ENDLESS}).to_string();
    let tag = format!("varve-query-tag: {tag}\r\n");
    client.send(&request("POST", "/gremlin", &tag, body));
    client
}

/// Waits until a query runs, and returns how it is listed.
fn listed(fixture: &Fixture, tag: &str) -> Value {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let list = fixture.done("GET", "/queries", "");
        let all = list["queries"].as_array().unwrap();
        if let Some(found) = all.iter().find(|query| query["tag"] == tag) {
            return found.clone();
        }
        assert!(Instant::now() < end, "{list}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_query_is_listed_and_cancelled_by_its_number_or_its_tag() {
    let fixture = looped();
    for by_tag in [true, false] {
        let mut client = begin(&fixture, "mine");
        let query = listed(&fixture, "mine");
        assert_eq!(query["text"], ENDLESS);
        assert_eq!(
            (query["kind"].as_str(), query["path"].as_str()),
            (Some("gremlin"), Some("/gremlin"))
        );
        let id = match by_tag {
            true => "mine",
            false => query["id"].as_str().unwrap(),
        };
        let answer = fixture.send("DELETE", &format!("/queries/{id}"), "");
        assert_eq!(answer.status, 204, "{}", answer.text());
        let answer = client.receive();
        assert_eq!(answer.status, 503, "{}", answer.text());
        assert!(answer.text().contains("VRV-CANCELLED"), "{}", answer.text());
        let left = fixture.done("GET", "/queries", "");
        assert_eq!(left["queries"].as_array().unwrap().len(), 0, "{left}");
        let gone = fixture.send("DELETE", &format!("/queries/{id}"), "");
        assert_eq!(gone.status, 404);
    }
}

#[test]
fn slow_requests_are_remembered() {
    let fixture = Fixture::with(ServerConfig {
        slow_request_ms: 1,
        admin_listen: String::new(),
        ..ServerConfig::default()
    });
    fixture.people();
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        fixture.send(
            "GET",
            "../traversers/kneighbor?source=%221:marko%22&max_depth=3",
            "",
        );
        let answer = fixture.server.get("/admin/slow");
        let slow: Value = serde_json::from_slice(&answer.body).unwrap();
        assert_eq!(slow["threshold_ms"], 1);
        let requests = slow["requests"].as_array().unwrap();
        let of_graph = requests.iter().find(|each| each["graph"] == "hugegraph");
        if let Some(each) = of_graph {
            assert!(
                each["path"]
                    .as_str()
                    .unwrap()
                    .starts_with("/graphs/hugegraph/"),
                "{each}"
            );
            assert!(requests.len() <= 200);
            return;
        }
        assert!(Instant::now() < end, "{slow}");
    }
}
