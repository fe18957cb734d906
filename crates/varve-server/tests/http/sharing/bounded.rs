//! Reads that a server answers although another one leads the graph.

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Instant;

use super::*;

pub(super) const BOUNDED: &str = "Varve-Consistency: bounded\r\n";

pub(super) fn version(answer: &Answer) -> u64 {
    let version = answer.header("varve-version");
    version
        .expect("the answer names its version")
        .parse()
        .unwrap()
}

fn figure(server: &Server, name: &str) -> u64 {
    let answer = server.get("/metrics?type=prometheus");
    let mut lines = answer.text().lines().map(str::to_owned);
    let line = lines.find(|line| line.starts_with(&format!("{name} ")));
    let line = line.expect("the metric is there");
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

/// The reads that a server answered for graphs of others, and the requests that it forwarded.
pub(super) fn counts(server: &Server) -> (u64, u64) {
    let of = |name| figure(server, name);
    (
        of("varve_requests_followed_total"),
        of("varve_requests_forwarded_total"),
    )
}

pub(super) fn bookmarked(server: &Server, path: &str, bookmark: u64) -> Answer {
    let headers = format!("Varve-Bookmark: {bookmark}\r\n");
    server.ask_with("GET", path, &headers, &Value::Null)
}

/// A bounded read that `server` answers itself. It may forward some, where the position of the
/// leader came late or had passed.
pub(super) fn followed(server: &Server, path: &str, headers: &str) -> Answer {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let before = counts(server).0;
        let answer = server.ask_with("GET", path, headers, &Value::Null);
        match counts(server).0 - before {
            1 => return answer,
            _ => assert!(Instant::now() < end, "it forwards {path}"),
        }
    }
}

#[test]
fn every_server_reads_what_it_does_not_lead() {
    let (_, a, b) = two();
    for id in ["x", "y", "z"] {
        a.done("POST", &vertices(), &vertex(id));
    }
    let edges = format!("{GRAPH}/graph/edges");
    let label = json!({"name": "to", "source_label": "thing", "target_label": "thing"});
    a.done("POST", &format!("{GRAPH}/schema/edgelabels"), &label);
    for (from, to) in [("x", "y"), ("y", "z")] {
        let edge = json!({"label": "to", "outV": from, "outVLabel": "thing", "inV": to, "inVLabel": "thing", "properties": {}});
        a.done("POST", &edges, &edge);
    }
    a.done(
        "PUT",
        &format!("{}?action=append", path_of("y")),
        &json!({"label": "thing", "properties": {"note": "new"}}),
    );
    a.done("DELETE", &path_of("x"), &Value::Null);
    let query = "/gremlin?gremlin=g.V('y').out().values('name')&g=g".replace('\'', "%22");
    let paths = [
        path_of("y"),
        path_of("x"),
        vertices(),
        edges,
        format!("{GRAPH}/graph/vertices/%22y%22/history"),
        format!("{GRAPH}/traversers/kout?source=%22y%22&max_depth=1"),
        format!("{GRAPH}/explore/summary"),
        query,
    ];
    for path in &paths {
        let (led, followed) = (a.get(path), followed(&b, path, BOUNDED));
        assert_eq!(led.status, followed.status, "{path}");
        // The other answers name times and ids of their own.
        let own = ["gremlin", "traversers", "summary"];
        if !own.iter().any(|own| path.contains(own)) {
            assert_eq!(led.text(), followed.text(), "{path}");
        }
    }
    let before = counts(&b);
    b.get(&path_of("y"));
    let wanted = (before.0, before.1 + 1);
    assert_eq!(counts(&b), wanted, "without the header the leader answers");
}

/// Cypher over HTTP: statements that read are answered here, others by the leader.
#[test]
fn statements_that_read_are_answered_on_every_server() {
    let (_, a, b) = two();
    b.await_role("g", "follower");
    a.done("POST", &vertices(), &vertex("x"));
    let mut of = version(&a.ask("POST", &vertices(), &vertex("y")));
    let query = "/db/g/query/v2";
    let names = json!({"statement": "MATCH (n) RETURN n.name AS name ORDER BY name"});
    let read = |server: &Server, of: u64| {
        let bookmark = format!("Varve-Bookmark: {of}\r\n");
        let answer = server.ask_with("POST", query, &bookmark, &names);
        assert_eq!(answer.status, 202, "{}", answer.text());
        let body: Value = serde_json::from_slice(&answer.body).unwrap();
        (body["data"]["values"].clone(), body["bookmarks"].clone())
    };
    let before = counts(&b);
    assert_eq!(read(&b, of).0, json!([["x"], ["y"]]));
    let brief = format!("{GRAPH}/cypher?cypher=MATCH%20(n)%20RETURN%20n.name%20AS%20name");
    let brief = followed(&b, &brief, BOUNDED);
    assert!(brief.text().contains(r#"{"name":"x"},{"name":"y"}"#));
    assert!(counts(&b).0 > before.0);
    // A write, and a command that changes the schema.
    for statement in [
        "MATCH (n {name: 'x'}) SET n.name = 'w' RETURN n.name",
        "CREATE INDEX names FOR (n:thing) ON (n.name)",
    ] {
        let (before, body) = (counts(&b), json!({"statement": statement}));
        let answer = b.ask_with("POST", query, BOUNDED, &body);
        assert_eq!(answer.status, 202, "{}", answer.text());
        assert_eq!(counts(&b).1, before.1 + 1, "{statement}");
        of = of.max(version(&answer));
    }
    let (values, bookmarks) = read(&b, of);
    assert_eq!(values, json!([["w"], ["y"]]));
    // A bookmark in the body names a state after the position.
    a.done("DELETE", &path_of("y"), &Value::Null);
    let later = json!({"statement": "RETURN 1", "accessMode": "Read"});
    let later = a.ask("POST", query, &later);
    let later: Value = serde_json::from_slice(&later.body).unwrap();
    assert_ne!(later["bookmarks"], bookmarks);
    let mut asked = names.clone();
    asked["bookmarks"] = later["bookmarks"].clone();
    let answer = b.ask_with("POST", query, BOUNDED, &asked);
    assert_eq!(answer.status, 202, "{}", answer.text());
    let body: Value = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!(body["data"]["values"], json!([["w"]]));
}

#[test]
fn a_client_with_its_bookmark_reads_its_writes_anywhere() {
    let (_, a, b) = two();
    for round in 0..40 {
        let id = format!("v{round}");
        let writer = if round % 2 == 0 { &a } else { &b };
        let written = writer.ask("POST", &vertices(), &vertex(&id));
        assert_eq!(written.status, 201);
        let read = bookmarked(&b, &path_of(&id), version(&written));
        assert_eq!(read.status, 200, "{id}");
        assert!(version(&read) >= version(&written));
    }
    let (followed, _) = counts(&b);
    assert!(followed > 20, "{followed} of 40 were not forwarded");
    let bad = b.ask_with(
        "GET",
        &path_of("v0"),
        "Varve-Bookmark: soon\r\n",
        &Value::Null,
    );
    assert_eq!(bad.status, 400);
    let bad = b.ask_with(
        "GET",
        &path_of("v0"),
        "Varve-Consistency: no\r\n",
        &Value::Null,
    );
    assert_eq!(bad.status, 400);
}

#[test]
fn what_needs_the_leader_is_forwarded() {
    let (_, a, b) = two();
    b.await_role("g", "follower");
    a.done("POST", &vertices(), &vertex("x"));
    let script = json!({"gremlin": "g.addV('thing').property(T.id, 'new').property('name', 'n')", "aliases": {"g": "__g_g"}});
    let before = counts(&b);
    let written = b.ask_with("POST", "/gremlin", BOUNDED, &script);
    assert_eq!(written.status, 200, "{}", written.text());
    assert_eq!(a.get(&path_of("new")).status, 200);
    let key = "g.V('x').property('name', 'other')";
    let script = json!({"gremlin": key, "aliases": {"g": "__g_g"}});
    assert_eq!(b.ask_with("POST", "/gremlin", BOUNDED, &script).status, 200);
    let after = counts(&b);
    assert_eq!((after.0 - before.0, after.1 - before.1), (0, 2));
    // A moment after the position.
    let path = format!("{}?as_of_tx=now", path_of("x"));
    let read = b.ask_with("GET", &path, BOUNDED, &Value::Null);
    assert_eq!(read.status, 200, "{}", read.text());
}

/// The sum of two accounts never changes, and no later read shows an older state.
#[test]
fn no_read_is_torn_or_goes_back() {
    let shared = SharedMemory::new();
    let config = || ServerConfig {
        staleness_ms: 5,
        ..ServerConfig::default()
    };
    let a = Server::start_with(&shared, config());
    let b = Server::start_with(&shared, config());
    a.done("POST", GRAPH, &json!({}));
    let key = json!({"name": "value", "data_type": "INT", "cardinality": "SINGLE"});
    a.done("POST", &format!("{GRAPH}/schema/propertykeys"), &key);
    let label =
        json!({"name": "account", "id_strategy": "CUSTOMIZE_STRING", "properties": ["value"]});
    a.done("POST", &format!("{GRAPH}/schema/vertexlabels"), &label);
    let index = json!({"name": "by_value", "base_type": "VERTEX_LABEL", "base_value": "account", "index_type": "RANGE", "fields": ["value"]});
    let indexes = format!("{GRAPH}/schema/indexlabels");
    a.done("POST", &indexes, &index);
    let end = Instant::now() + Duration::from_secs(20);
    while !a
        .get(&format!("{indexes}/by_value"))
        .text()
        .contains("\"CREATED\"")
    {
        assert!(Instant::now() < end, "the index is made");
        thread::sleep(Duration::from_millis(10));
    }
    let account = |id: &str, value: i64| json!({"label": "account", "id": id, "properties": {"value": value}});
    let both = |one: i64| json!([account("one", one), account("two", 100 - one)]);
    let batch = format!("{GRAPH}/graph/vertices/batch");
    a.done("POST", &batch, &both(0));
    let (done, rounds) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut round: i64 = 0;
            while !done.load(Ordering::Relaxed) {
                round += 1;
                a.done("POST", &batch, &both(round % 100));
            }
        });
        let readers = [
            format!("{GRAPH}/graph/vertices?label=account"),
            format!(
                "{GRAPH}/graph/vertices?label=account&properties=%7B%22value%22:%22P.gte(0)%22%7D"
            ),
            format!("{GRAPH}/traversers/vertices?ids=%22one%22&ids=%22two%22"),
        ];
        let readers = readers.map(|path| {
            let (rounds, servers) = (&rounds, [&a, &b]);
            scope.spawn(move || {
                let mut bookmark = 0;
                for round in 0..300 {
                    let answer = bookmarked(servers[round % 2], &path, bookmark);
                    assert_eq!(answer.status, 200, "{}", answer.text());
                    assert!(version(&answer) >= bookmark, "it went back");
                    bookmark = version(&answer);
                    let body: Value = serde_json::from_slice(&answer.body).unwrap();
                    let values = body["vertices"].as_array().unwrap();
                    let value = |one: &Value| one["properties"]["value"].as_i64().unwrap();
                    let sum: i64 = values.iter().map(value).sum();
                    assert_eq!((values.len(), sum), (2, 100), "{body}");
                    rounds.fetch_add(1, Ordering::Relaxed);
                }
            })
        });
        let ended = readers.map(std::thread::ScopedJoinHandle::join);
        done.store(true, Ordering::Relaxed);
        for ended in ended {
            ended.expect("no read is torn");
        }
    });
    assert_eq!(rounds.load(Ordering::Relaxed), 900);
    let followed = counts(&a).0 + counts(&b).0;
    assert!(followed > 450, "{followed} of 900 were not forwarded");
}

/// Where the leader is lost meanwhile, the next one answers as of a position of its own, too: its
/// present may show a running commit in part.
#[test]
fn a_read_that_waits_for_the_next_leader_is_as_of_a_position() {
    let (shared, a, b) = two();
    a.done("POST", &vertices(), &vertex("x"));
    for round in 1..=20 {
        shared.expire("g");
        let read = b.ask_with("GET", &path_of("x"), BOUNDED, &Value::Null);
        assert_eq!(read.status, 200, "{}", read.text());
        assert_eq!(counts(&a).0 + counts(&b).0, round);
    }
}

#[test]
fn a_follower_follows_the_next_leader_and_the_next_space() {
    let (shared, a, b) = two();
    let c = Server::start(&shared);
    c.await_role("g", "follower");
    a.done("POST", &vertices(), &vertex("x"));
    assert_eq!(followed(&c, &path_of("x"), BOUNDED).status, 200);
    shared.expire("g");
    let written = b.ask("POST", &vertices(), &vertex("y"));
    assert_eq!(written.status, 201, "{}", written.text());
    // Any of them may lead now; two follow.
    let servers = [&a, &b, &c];
    let is_follower = |server: &&&Server| server.role("g") == "follower";
    let follower = servers.iter().find(is_follower).expect("one follows");
    let read = |id: &str, of: u64| {
        let bookmark = format!("Varve-Bookmark: {of}\r\n");
        followed(follower, &path_of(id), &bookmark).status
    };
    assert_eq!(read("y", version(&written)), 200);
    let clear = format!("{GRAPH}/clear?confirm_message=I%27m+sure+to+delete+all+data");
    b.done("DELETE", &clear, &Value::Null);
    schema(&b);
    let of = version(&b.ask("POST", &vertices(), &vertex("z")));
    assert_eq!(read("z", of), 200);
    assert_eq!(read("x", of), 404);
}
