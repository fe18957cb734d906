//! Changes: every commit once and in order, whole, from any cursor; long polls and events.

use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use varve_graph::{GraphOptions, Registry};
use varve_kv::MemoryEngine;
use varve_model::schema::Retention;
use varve_model::time::{Clock as _, SystemClock};
use varve_model::value::date_text;
use varve_server::ServerConfig;
use varve_testkit::http::{Connection, request};
use varve_testserver::routes::GATE;

use crate::fixture::Fixture;
use crate::memory::await_that;

const CHANGES: &str = "/graphs/hugegraph/changes";
const EVENTS: &str = "accept: text/event-stream\r\n";

fn keeping() -> Fixture {
    keeping_with(ServerConfig::default())
}

fn keeping_with(config: ServerConfig) -> Fixture {
    let mut options = GraphOptions::new(Arc::new(SystemClock));
    options.changes = Some(Retention::All);
    let engine = Arc::new(MemoryEngine::new());
    let graphs = Arc::new(Registry::open(engine, options).unwrap());
    Fixture::on(config, graphs)
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

fn kinds_of(changes: &[Value]) -> Vec<(String, String)> {
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
    let (schema, start) = read(&fixture, "since=earliest");
    assert!(schema.iter().all(|change| change["kind"] == "schema"));
    fixture.people();
    fixture.done(
        "POST",
        "vertices?valid_from=2030-01-01",
        &person("marko", 50),
    );
    fixture.done("DELETE", "vertices/%221:josh%22", "");
    let (all, end) = read(&fixture, &format!("since={start}"));
    let kinds = kinds_of(&all);
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
    let kinds = kinds_of(&changes);
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
            kinds_of(&changes),
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
    client.send(&request(
        "GET",
        &format!("{CHANGES}?since=earliest"),
        EVENTS,
        "",
    ));
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
    let headers = format!("{EVENTS}last-event-id: {end}\r\n");
    again.send(&request("GET", CHANGES, &headers, ""));
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

#[test]
fn a_look_for_what_is_rare_ends_in_time_and_says_where_it_is() {
    let mut config = ServerConfig::default();
    config.changes.read_ms = 0;
    let fixture = keeping_with(config);
    let (_, start) = read(&fixture, "since=now");
    for age in 0..5 {
        fixture.done("POST", "vertices", &person("marko", age));
    }
    let (none, end) = read(&fixture, "since=now");
    assert_eq!(none, Vec::<Value>::new());
    let (mut cursor, mut looks) = (start, 0);
    while cursor != end {
        let (none, next) = read(&fixture, &format!("since={cursor}&labels=software"));
        assert_eq!(none, Vec::<Value>::new());
        let number = |cursor: &str| cursor.parse::<u64>().unwrap();
        assert!(number(&next) > number(&cursor), "each look comes further");
        (cursor, looks) = (next, looks + 1);
    }
    assert!(looks >= 5, "{looks}");
}

#[test]
fn a_reader_waits_for_what_it_asks_for() {
    let fixture = keeping();
    let (_, start) = read(&fixture, "since=now");
    let query = format!("since={start}&labels=software&wait=14s");
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| read(&fixture, &query));
        std::thread::sleep(Duration::from_millis(50));
        fixture.done("POST", "vertices", &person("other", 1));
        std::thread::sleep(Duration::from_millis(50));
        let body = json!({"label": "software", "properties": {"name": "lop", "lang": "java"}});
        fixture.done("POST", "vertices", &body.to_string());
        let (changes, _) = waits.join().unwrap();
        let lop = ("put".to_owned(), "\"2:lop\"".to_owned());
        assert_eq!(kinds_of(&changes), [lop]);
    });
}

fn follow(fixture: &Fixture, since: &str) -> Connection {
    let mut client = fixture.server.connect();
    client.send(&request(
        "GET",
        &format!("{CHANGES}?since={since}"),
        EVENTS,
        "",
    ));
    client
}

#[test]
fn followers_are_bounded() {
    let mut config = ServerConfig::default();
    config.changes.followers_max = 1;
    let fixture = keeping_with(config);
    let mut first = follow(&fixture, "earliest");
    assert!(first.receive_some().starts_with("HTTP/1.1 200"));
    for (accept, query) in [("text/event-stream", ""), ("*/*", "?wait=5s")] {
        let (path, accept) = (format!("{CHANGES}{query}"), format!("accept: {accept}\r\n"));
        let refused = fixture.server.exchange(&request("GET", &path, &accept, ""));
        assert_eq!(refused.status, 503, "{}", refused.text());
        assert!(refused.text().contains("changes.followers_max"));
        assert_eq!(refused.header("retry-after"), Some("1"));
    }
    // Who does not wait takes no place.
    read(&fixture, "since=earliest");
}

#[test]
fn followers_that_wake_together_take_no_room_of_other_reads() {
    let mut config = ServerConfig {
        blocking_threads: 1,
        blocking_queue: 2,
        admission_wait_ms: 1,
        ..ServerConfig::default()
    };
    config.changes.reads_max = 1;
    let fixture = keeping_with(config);
    let (_, start) = read(&fixture, "since=now");
    let each = (0..50).map(|_| {
        let mut client = fixture.server.connect();
        let path = format!("{CHANGES}?since={start}&wait=14s");
        client.send(&request("GET", &path, "", ""));
        client
    });
    let mut clients: Vec<_> = each.collect();
    await_that("all wait", || {
        let metrics = fixture.server.get("/metrics");
        metrics.text().contains("varve_changes_followers 50")
    });
    let people: Vec<Value> = (0..500)
        .map(|number| json!({"label": "person", "properties": {"name": format!("p{number}"), "age": 1}}))
        .collect();
    fixture.done("POST", "vertices/batch", &json!(people).to_string());
    for client in &mut clients {
        let answer = client.receive();
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(answer.text().lines().count(), 502);
    }
}

#[test]
fn a_read_that_is_not_a_followers_waits_for_its_turn_as_others_wait_for_admission() {
    let owner = GATE.take();
    let mut config = ServerConfig {
        blocking_threads: 1,
        admission_wait_ms: 1,
        ..ServerConfig::default()
    };
    config.changes.reads_max = 1;
    let fixture = keeping_with(config);
    let ask = |path: &str| {
        let mut client = fixture.server.connect();
        client.send(&request("GET", path, "", ""));
        client
    };
    let mut held = ask("/test/held");
    GATE.wait_for(1);
    // One of them has the turn, and waits for the only thread of the pool, which is at the gate.
    let (give, take) = mpsc::channel();
    for _ in 0..3 {
        let mut client = ask("/graphs/hugegraph/changes?since=earliest");
        let give = give.clone();
        std::thread::spawn(move || give.send(client.receive()));
    }
    for _ in 0..2 {
        let answer = take.recv().unwrap();
        assert_eq!(answer.status, 503, "{}", answer.text());
        assert!(answer.text().contains("changes.reads_max"));
        assert_eq!(answer.header("retry-after"), Some("1"));
    }
    GATE.open();
    assert_eq!(held.receive().status, 200);
    assert_eq!(take.recv().unwrap().status, 200);
    drop(owner);
}

#[test]
fn a_stream_that_nobody_takes_ends() {
    let config = ServerConfig {
        write_timeout_ms: 200,
        ..ServerConfig::default()
    };
    let fixture = keeping_with(config);
    let (_, start) = read(&fixture, "since=now");
    let large = "x".repeat(1_000_000);
    for number in 0..40 {
        let body = json!({
            "label": "book", "id": format!("b{number}"), "properties": {"name": format!("{number}{large}")}
        });
        fixture.done("POST", "vertices", &body.to_string());
    }
    let mut client = follow(&fixture, &start);
    assert!(client.receive_some().starts_with("HTTP/1.1 200"));
    await_that("the stream is cut", || {
        let metrics = fixture.server.get("/metrics");
        metrics.text().contains("varve_connections_cut_total 1")
    });
    let rest = client.receive_rest();
    assert!(rest.len() < 40_000_000, "{} bytes came", rest.len());
}

#[test]
fn changes_of_the_schema_come_before_what_they_are_for() {
    let fixture = keeping();
    let (_, start) = read(&fixture, "since=now");
    let schema = |kind: &str, body: Value| {
        fixture.done("POST", &format!("../schema/{kind}"), &body.to_string());
    };
    schema(
        "propertykeys",
        json!({"name": "colour", "data_type": "TEXT"}),
    );
    schema(
        "vertexlabels",
        json!({"name": "car", "properties": ["colour"], "primary_keys": ["colour"]}),
    );
    let car = json!({"label": "car", "properties": {"colour": "red"}});
    fixture.done("POST", "vertices", &car.to_string());
    let (all, _) = read(&fixture, &format!("since={start}"));
    let each: Vec<_> = all
        .iter()
        .map(|change| {
            (
                change["kind"].as_str().unwrap(),
                change["type"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        each,
        [
            ("schema", "propertykey"),
            ("schema", "vertexlabel"),
            ("put", "vertex")
        ]
    );
    assert_eq!(
        (&all[0]["name"], &all[1]["name"]),
        (&json!("colour"), &json!("car"))
    );
    assert_eq!(all[2]["element"]["label"], "car");
    let (only, _) = read(&fixture, &format!("since={start}&types=schema"));
    assert_eq!(only, all[..2]);
    let (none, _) = read(&fixture, &format!("since={start}&types=vertex,edge"));
    assert_eq!(none, all[2..]);
}

/// An instant of whole milliseconds as the API writes it.
fn text_of(at: varve_model::Instant) -> String {
    format!("{}000Z", date_text(at.millis()).replace(' ', "T"))
}

#[test]
fn planned_states_that_begin_and_end_come_if_asked_for() {
    let fixture = keeping();
    let (_, start) = read(&fixture, "since=now");
    let at = |millis: i64| varve_model::Instant::from_millis(SystemClock.now().millis() + millis);
    let (from, to) = (at(300), at(2_000));
    let period = format!("valid_from={}&valid_to={}", text_of(from), text_of(to));
    fixture.done("POST", &format!("vertices?{period}"), &person("ann", 1));
    let graph = fixture.server.state.graphs().get("hugegraph").unwrap();
    for boundary in [from, to] {
        await_that("the boundary is past", || graph.now() > boundary);
        varve_graph::maintenance::tidy(&graph, 100).unwrap();
    }
    let (all, _) = read(
        &fixture,
        &format!("since={start}&effective=true&before=true"),
    );
    let ann = |kind: &str| (kind.to_owned(), "\"1:ann\"".to_owned());
    assert_eq!(kinds_of(&all), [ann("put"), ann("began"), ann("ended")]);
    assert_eq!(all[1]["effective_at"], text_of(from));
    assert_eq!(all[1]["element"]["properties"]["age"], 1);
    assert_eq!(all[1]["before"], Value::Null);
    assert_eq!(all[2]["effective_at"], text_of(to));
    assert_eq!(all[2]["before"]["properties"]["age"], 1);
    let (without, end) = read(&fixture, &format!("since={start}"));
    assert_eq!(kinds_of(&without), [ann("put")]);
    assert_eq!(
        read(&fixture, &format!("since={end}&effective=true"))
            .0
            .len(),
        0
    );
}
