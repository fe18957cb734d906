//! Changes: every commit once and in order, whole, from any cursor; long polls and events.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use varve_graph::{GraphOptions, Registry};
use varve_kv::MemoryEngine;
use varve_model::schema::Retention;
use varve_model::time::SystemClock;
use varve_server::ServerConfig;

use crate::fixture::Fixture;

fn keeping() -> Fixture {
    let mut options = GraphOptions::new(Arc::new(SystemClock));
    options.changes = Retention::All;
    let engine = Arc::new(MemoryEngine::new());
    let graphs = Arc::new(Registry::open(engine, options).unwrap());
    Fixture::on(ServerConfig::default(), graphs)
}

fn lines(fixture: &Fixture, query: &str) -> Vec<Value> {
    let answer = fixture.send("GET", &format!("../changes?{query}"), "");
    assert_eq!(answer.status, 200, "{}", answer.text());
    let lines = answer.text().lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The changes without the lines around them, and where to go on.
fn read(fixture: &Fixture, query: &str) -> (Vec<Value>, String) {
    let lines = lines(fixture, query);
    let [head, changes @ .., tail] = &lines[..] else {
        panic!("{lines:?}");
    };
    assert!(head["graph_id"].is_string());
    (
        changes.to_vec(),
        tail["caught_up_to"].as_str().unwrap().to_owned(),
    )
}

fn told(changes: &[Value]) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let each = changes.iter();
    each.map(|change| (text(&change["kind"]), text(&change["ref"])))
        .collect()
}

fn person(name: &str, age: i64) -> String {
    json!({"label": "person", "properties": {"name": name, "age": age}}).to_string()
}

#[test]
fn every_commit_comes_once_whole_and_in_order() {
    let fixture = keeping();
    let (none, start) = read(&fixture, "since=earliest");
    assert_eq!(none, Vec::<Value>::new());
    fixture.people();
    fixture.done(
        "POST",
        "vertices?valid_from=2030-01-01",
        &person("marko", 50),
    );
    fixture.done("DELETE", "vertices/%221:josh%22", "");
    let (all, end) = read(&fixture, &format!("since={start}"));
    let kinds = told(&all);
    assert_eq!(kinds.len(), 4 + 3 + 1 + 2, "{kinds:?}");
    assert!(
        all[..4]
            .iter()
            .all(|change| change["of"] == 4 && change["version"] == all[0]["version"])
    );
    assert_eq!(all[7]["valid_from"], "2030-01-01T00:00:00.000000Z");
    assert_eq!(all[7]["element"]["properties"]["age"], 50);
    let deleted: Vec<_> = kinds[8..].iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(deleted, ["delete", "delete"]);
    let versions: Vec<u64> = all
        .iter()
        .map(|change| change["version"].as_str().unwrap().parse().unwrap())
        .collect();
    assert!(versions.is_sorted());
    // In pieces of any size it is the same.
    for limit in [1, 3, 100] {
        let (mut cursor, mut pieces) = (start.clone(), Vec::new());
        loop {
            let (some, next) = read(&fixture, &format!("since={cursor}&limit={limit}"));
            if some.is_empty() {
                break;
            }
            pieces.extend(some);
            cursor = next;
        }
        assert_eq!((pieces, cursor), (all.clone(), end.clone()));
    }
    let (until, _) = read(&fixture, &format!("since={start}&until={}", versions[3]));
    assert_eq!(until, all[..4]);
    let (edges, _) = read(
        &fixture,
        &format!("since={start}&types=edge&labels=created"),
    );
    assert_eq!(edges.len(), 1);
    let (with_before, _) = read(&fixture, &format!("since={}&before=true", versions[7]));
    let josh = with_before
        .iter()
        .find(|change| change["ref"] == "\"1:josh\"")
        .unwrap();
    assert_eq!(josh["before"]["properties"]["age"], 32);
}

#[test]
fn a_sequenced_update_and_a_purge_are_changes() {
    let fixture = keeping();
    fixture.people();
    let (_, start) = read(&fixture, "");
    fixture.done(
        "POST",
        "vertices?valid_from=2031-01-01",
        &person("marko", 51),
    );
    let body = json!({"label": "person", "properties": {"city": "Oslo"}}).to_string();
    fixture.done(
        "PUT",
        "vertices/%221:marko%22?action=append&valid_from=2030-01-01&valid_to=2040-01-01",
        &body,
    );
    fixture.done(
        "DELETE",
        "vertices/%221:vadas%22/history?confirm_message=I%27m%20sure%20to%20purge%20all%20versions",
        "",
    );
    let (changes, _) = read(&fixture, &format!("since={start}"));
    let kinds = told(&changes);
    let of = |kind: &str, id: &str| (kind.to_owned(), format!("\"1:{id}\""));
    assert_eq!(
        kinds,
        [
            of("put", "marko"),
            of("put", "marko"),
            of("put", "marko"),
            of("purge", "vadas")
        ]
    );
    assert_eq!(
        (&changes[1]["of"], &changes[1]["version"]),
        (&json!(2), &changes[2]["version"])
    );
}

#[test]
fn a_reader_waits_until_something_happens() {
    let fixture = keeping();
    fixture.people();
    let (_, start) = read(&fixture, "since=now");
    let began = Instant::now();
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| read(&fixture, &format!("since={start}&wait=10s")));
        std::thread::sleep(Duration::from_millis(50));
        fixture.done("POST", "vertices", &person("late", 1));
        let (changes, _) = waits.join().unwrap();
        assert_eq!(
            told(&changes),
            [("put".to_owned(), "\"1:late\"".to_owned())]
        );
    });
    assert!(began.elapsed() < Duration::from_secs(10));
}

#[test]
fn events_go_on_and_begin_again_where_they_were() {
    let fixture = keeping();
    fixture.people();
    let (all, end) = read(&fixture, "since=earliest");
    let mut client = fixture.server.connect();
    client.send(b"GET /graphs/hugegraph/changes?since=earliest HTTP/1.1\r\nhost: h\r\naccept: text/event-stream\r\n\r\n");
    let mut text = String::new();
    while !text.contains("event: caught_up") {
        text.push_str(&client.receive_some());
    }
    assert!(text.contains("content-type: text/event-stream"), "{text}");
    assert_eq!(text.matches("event: change").count(), all.len());
    assert!(text.contains(&format!("id: {end}\n")), "{text}");
    fixture.done("POST", "vertices", &person("late", 1));
    let mut more = String::new();
    while !more.contains("event: caught_up") {
        more.push_str(&client.receive_some());
    }
    assert!(
        more.contains("1:late") && !more.contains("1:marko"),
        "{more}"
    );
    let mut again = fixture.server.connect();
    again.send(format!("GET /graphs/hugegraph/changes HTTP/1.1\r\nhost: h\r\naccept: text/event-stream\r\nlast-event-id: {end}\r\n\r\n").as_bytes());
    let mut rest = String::new();
    while !rest.contains("event: caught_up") {
        rest.push_str(&again.receive_some());
    }
    assert!(
        rest.contains("1:late") && !rest.contains("1:marko"),
        "{rest}"
    );
}

#[test]
fn a_cursor_of_another_time_or_graph_is_refused() {
    let fixture = keeping();
    fixture.people();
    let head = lines(&fixture, "since=earliest")[0].clone();
    let old = fixture.send("GET", "../changes?since=2001-01-01", "");
    assert_eq!(old.status, 410, "{}", old.text());
    assert!(old.text().contains("VRV-CHANGES-GONE"), "{}", old.text());
    // As after a restore: the cursor is newer than the graph.
    let ahead = fixture.send("GET", "../changes?since=2100-01-01", "");
    assert_eq!(ahead.status, 410, "{}", ahead.text());
    let id = head["graph_id"].as_str().unwrap();
    assert_eq!(
        fixture
            .send("GET", &format!("../changes?graph_id={id}"), "")
            .status,
        200
    );
    assert_eq!(fixture.send("GET", "../changes?graph_id=0", "").status, 409);
    let off = Fixture::new();
    off.refuses(
        "GET",
        "../changes",
        "",
        400,
        "The graph keeps no changes: see the option graph.changes",
    );
}
