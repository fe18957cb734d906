//! Answers that go on for a while, and clients that lose their rights meanwhile.

use std::sync::Arc;

use serde_json::{Value, json};
use varve_graph::{GraphOptions, Registry};
use varve_kv::MemoryEngine;
use varve_model::schema::Retention;
use varve_model::time::SystemClock;
use varve_server::{AuthConfig, ServerConfig};
use varve_testkit::http::{Connection, request};
use varve_testserver::TestServer;

use crate::authentication::{self, basic, users};
use crate::fixture::Fixture;
use crate::memory::await_that;

/// Their texts together are more than the system holds for a client that does not read.
const SOFTWARE: usize = 8_000;
const TEXT_BYTES: usize = 2_500;

fn post(server: &TestServer, path: &str, body: &Value) {
    let answer = authentication::send(server, "admin", "POST", path, body);
    assert!(answer.status < 300, "{path}: {}", answer.text());
}

fn delete(server: &TestServer, path: &str) {
    let answer = authentication::send(server, "admin", "DELETE", path, &json!(null));
    assert_eq!(answer.status, 204, "{path}: {}", answer.text());
}

/// Lets ann read these resources, by a target of this name.
fn grant(server: &TestServer, target: &str, resources: &Value) {
    let body = json!({"target_name": target, "target_graph": "hugegraph", "target_url": "",
                      "target_resources": resources});
    post(server, "/auth/targets", &body);
    let body = json!({"group": "-36:anns", "target": format!("-44:{target}"), "access_permission": "READ"});
    post(server, "/auth/accesses", &body);
}

fn fixture() -> Fixture {
    let mut options = GraphOptions::new(Arc::new(SystemClock));
    options.changes = Some(Retention::All);
    let graphs = Arc::new(Registry::open(Arc::new(MemoryEngine::new()), options).unwrap());
    let auth = AuthConfig {
        enabled: true,
        ..AuthConfig::default()
    };
    let config = ServerConfig {
        auth,
        ..ServerConfig::default()
    };
    let fixture = Fixture::on(config, graphs);
    users(&fixture.server, &["ann"]);
    post(
        &fixture.server,
        "/auth/groups",
        &json!({"group_name": "anns"}),
    );
    let body = json!({"user": "-30:ann", "group": "-36:anns"});
    post(&fixture.server, "/auth/belongs", &body);
    fixture
}

/// A connection on which ann gets an answer that has begun.
fn begun(server: &TestServer, path: &str, accept: &str) -> (Connection, String) {
    let mut client = server.connect();
    let header = basic("ann", authentication::PASSWORD);
    let headers = format!("connection: close\r\nauthorization: {header}\r\naccept: {accept}\r\n");
    client.send(&request(
        "GET",
        &format!("/graphs/hugegraph/{path}"),
        &headers,
        "",
    ));
    let start = client.receive_some();
    assert!(start.starts_with("HTTP/1.1 200"), "{start}");
    (client, start)
}

#[test]
fn an_export_is_cut_when_its_user_may_not_see_any_more_all_that_it_shows() {
    let fixture = fixture();
    let server = &fixture.server;
    let software = json!([{"type": "VERTEX", "label": "software"}, {"type": "EDGE"}]);
    grant(server, "software", &software);
    grant(
        server,
        "people",
        &json!([{"type": "VERTEX", "label": "person"}]),
    );
    let text = "x".repeat(TEXT_BYTES);
    let each = (0..SOFTWARE).map(|number| {
        json!({"label": "software", "properties": {"name": format!("s{number}"), "lang": text, "price": 1}})
    });
    for batch in each.collect::<Vec<_>>().chunks(2_000) {
        post(
            server,
            "/graphs/hugegraph/graph/vertices/batch",
            &json!(batch),
        );
    }
    let whole = |mut client: Connection| client.receive_rest().ends_with(b"0\r\n\r\n");
    // More rights are no reason to cut it.
    let (client, _) = begun(server, "explore/export", "*/*");
    grant(
        server,
        "books",
        &json!([{"type": "VERTEX", "label": "book"}]),
    );
    assert!(whole(client));
    // The right that is gone need not be one on what would come next.
    let (client, _) = begun(server, "explore/export", "*/*");
    delete(server, "/auth/targets/-44:people");
    assert!(!whole(client));
    let (client, _) = begun(server, "explore/export", "*/*");
    delete(server, "/auth/users/-30:ann");
    assert!(!whole(client));
}

#[test]
fn a_stream_of_changes_ends_before_it_tells_what_its_user_may_not_know_any_more() {
    let fixture = fixture();
    let server = &fixture.server;
    grant(server, "all", &json!([{"type": "ALL"}]));
    let add = |name: &str| {
        let body =
            json!({"label": "software", "properties": {"name": name, "lang": "x", "price": 1}});
        post(server, "/graphs/hugegraph/graph/vertices", &body);
    };
    add("before");
    let (mut client, mut text) = begun(server, "changes?since=earliest", "text/event-stream");
    while !text.contains("event: caught_up") {
        text += &client.receive_some();
    }
    assert!(text.contains("before"), "{text}");
    delete(server, "/auth/targets/-44:all");
    add("after");
    let rest = String::from_utf8(client.receive_rest()).unwrap();
    assert!(!rest.contains("after"), "{rest}");
}

#[test]
fn a_script_that_commits_in_parts_ends_when_its_user_loses_rights() {
    let fixture = fixture();
    let server = &fixture.server;
    grant(server, "all", &json!([{"type": "ALL"}]));
    let body = json!({"target_name": "written", "target_graph": "hugegraph", "target_url": "",
                      "target_resources": [{"type": "ALL"}]});
    post(server, "/auth/targets", &body);
    let count = || {
        let body = json!({"gremlin": "g.V().count()"});
        let answer = authentication::send(server, "admin", "POST", "/gremlin", &body);
        let answer: Value = serde_json::from_slice(&answer.body).unwrap();
        answer["result"]["data"][0].as_u64().unwrap()
    };
    for permission in ["WRITE", "EXECUTE"] {
        let body =
            json!({"group": "-36:anns", "target": "-44:written", "access_permission": permission});
        post(server, "/auth/accesses", &body);
    }
    let script = "g = g.with('commit_every',1); for (i in 0..499) { \
                  g.addV('person').property('name','p'+i).property('age',1).iterate(); sleep(10) }";
    let answer = std::thread::scope(|scope| {
        let body = json!({"gremlin": script});
        let asked =
            scope.spawn(move || authentication::send(server, "ann", "POST", "/gremlin", &body));
        await_that("a part is stored", || count() > 1);
        delete(server, "/auth/targets/-44:written");
        asked.join().unwrap()
    });
    assert_eq!(answer.status, 403, "{}", answer.text());
    assert!(answer.text().contains("committed in between is stored"));
    assert!(count() < 500);
}
