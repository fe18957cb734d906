//! What the audit trail logs of logins, WebSockets, scripts and the metadata repository; and the
//! white list.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use varve_graphson::Format;
use varve_server::AuthConfig;
use varve_testkit::http::request;
use varve_testserver::TestServer;
use varve_testserver::driver::{Driver, map, text};

use crate::authentication::{PASSWORD, basic, send, send_as, server, server_with, with_open_graph};

fn audited(path: &Path) -> TestServer {
    with_open_graph(server_with(AuthConfig {
        audit_file: path.to_owned(),
        ..AuthConfig::default()
    }))
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(!text.contains(PASSWORD) && !text.contains("a wrong secret"));
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn logins_are_logged_with_their_names_and_the_clients_request_ids() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.ndjson");
    let server = audited(&path);
    let body = json!({"user_name": "ann", "user_password": "a wrong secret"});
    assert_eq!(
        send_as(&server, None, "POST", "/auth/login", &body).status,
        401
    );
    let wrong = basic("bob", "a wrong secret");
    let headers = format!("authorization: {wrong}\r\nx-request-id: r-17\r\n");
    let refused = server.exchange(&request("GET", "/graphs", &headers, ""));
    assert_eq!(refused.status, 401);
    let lines = lines(&path);
    let of = |name: &str| lines.iter().find(|line| line["login"] == name).unwrap();
    assert_eq!(
        (&of("ann")["status"], &of("ann")["route"]),
        (&json!(401), &json!("auth/login"))
    );
    assert_eq!(
        (&of("bob")["status"], &of("bob")["request"]),
        (&json!(401), &json!("r-17"))
    );
}

#[test]
fn messages_of_websockets_and_changes_of_the_schema_by_scripts_are_logged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.ndjson");
    let server = audited(&path);
    let mut driver = Driver::connect(&server, Format::GraphSon);
    let aliases = map(&[("g", text("__g_g"))]);
    let arguments = [("gremlin", text("g.addV('x')")), ("aliases", aliases)];
    driver.send("", "eval", &arguments);
    assert_eq!(driver.receive().code, 407);
    for _ in 0..3 {
        driver.send("", "eval", &arguments);
    }
    for (password, code) in [("a wrong secret", 401), (PASSWORD, 403)] {
        let plain = STANDARD.encode(format!("\0reader\0{password}"));
        driver.send("", "authentication", &[("sasl", text(&plain))]);
        assert_eq!(driver.receive().code, code);
        if code == 401 {
            for _ in 0..3 {
                assert_eq!(driver.receive().code, code);
            }
            driver.send("", "eval", &arguments);
            assert_eq!(driver.receive().code, 407);
        }
    }
    let script = "graph.schema().propertyKey('k').asText().ifNotExist().create()";
    let body = json!({"gremlin": script, "aliases": {"graph": "g", "g": "__g_g"}});
    let made = send(&server, "admin", "POST", "/gremlin", &body);
    assert_eq!(made.status, 200, "{}", made.text());
    let lines = lines(&path);
    let logged = |wanted: &[(&str, Value)]| {
        let fits = |line: &&Value| wanted.iter().all(|(key, value)| line[*key] == *value);
        assert!(
            lines.iter().any(|line| fits(&line)),
            "{wanted:?}: {lines:?}"
        );
    };
    let socket = ("method", json!("WEBSOCKET"));
    logged(&[
        socket.clone(),
        ("login", json!("reader")),
        ("status", json!(401)),
    ]);
    logged(&[
        socket.clone(),
        ("login", json!("reader")),
        ("status", json!(200)),
    ]);
    logged(&[socket, ("user", json!("reader")), ("status", json!(403))]);
    // The requests that waited for the failed login have no lines of their own.
    let refused = |line: &&Value| line["method"] == "WEBSOCKET" && line["status"] == 401;
    assert_eq!(lines.iter().filter(refused).count(), 1, "{lines:?}");
    logged(&[
        ("action", json!("schema")),
        ("route", json!("gremlin")),
        ("graph", json!("g")),
        ("user", json!("admin")),
    ]);
}

#[test]
fn the_white_list_keeps_other_addresses_out_but_for_itself() {
    let server = server();
    let list = |user: &str| send(&server, user, "GET", "/whiteiplist", &json!({}));
    assert_eq!(list("reader").status, 403);
    list("admin").is(200, r#"{"whiteIpList":[]}"#);
    let post = |body: Value| send(&server, "admin", "POST", "/whiteiplist", &body);
    post(json!({"action": "load", "ips": ["10.0.0.0/8", "999.1.1.1"]})).is(
        202,
        r#"{"added_ips":["10.0.0.0/8"],"existed_ips":[],"illegal_ips":["999.1.1.1"]}"#,
    );
    for bad in [
        json!({"action": "load"}),
        json!({"ips": []}),
        json!({"action": "x", "ips": []}),
    ] {
        assert_eq!(post(bad).status, 400);
    }
    let switch = |status: &str| {
        let path = format!("/whiteiplist?status={status}");
        send(&server, "admin", "PUT", &path, &json!({}))
    };
    assert_eq!(switch("maybe").status, 400);
    switch("true").is(200, r#"{"WhiteIpListOpen":true}"#);
    let graphs = || send(&server, "admin", "GET", "/graphs", &json!({}));
    let refused = graphs();
    assert_eq!(refused.status, 403);
    assert!(
        refused
            .text()
            .contains("Remote ip '127.0.0.1' is not permitted")
    );
    let body = json!({"user_name": "admin", "user_password": PASSWORD});
    assert_eq!(
        send_as(&server, None, "POST", "/auth/login", &body).status,
        403
    );
    assert_eq!(server.get("/versions").status, 200);
    assert_eq!(list("reader").status, 403);
    assert_eq!(
        post(json!({"action": "load", "ips": ["127.0.0.1"]})).status,
        202
    );
    assert_eq!(graphs().status, 200);
    post(json!({"action": "remove", "ips": ["127.0.0.1", "10.9.9.9"]})).is(
        202,
        r#"{"non_existed_ips":["10.9.9.9"],"removed_ips":["127.0.0.1"]}"#,
    );
    assert_eq!(graphs().status, 403);
    switch("false").is(200, r#"{"WhiteIpListOpen":false}"#);
    assert_eq!(graphs().status, 200);
}

#[test]
fn a_user_has_no_more_requests_than_its_limits_allow() {
    let server = server_with(AuthConfig {
        user_requests_per_second: 100,
        ..AuthConfig::default()
    });
    let get = |user: &str| send(&server, user, "GET", "/graphs", &json!({})).status;
    // A connection of its own for each is slower than the limit may be: so many must be refused
    // only where they come faster, and others are never kept waiting.
    let refused = (0..1_000).filter(|_| get("reader") == 429).count();
    assert!(refused < 1_000);
    assert_eq!(get("writer"), 200);
    let server = server_with(AuthConfig {
        user_requests_in_flight: 1,
        ..AuthConfig::default()
    });
    let gate = &varve_testserver::routes::GATE;
    let _owner = gate.take();
    let login = crate::authentication::token(&server, "admin");
    let mut held = server.connect();
    let header = format!("authorization: {login}\r\n");
    held.send(&request("GET", "/test/held", &header, ""));
    gate.wait_for(1);
    let second = send_as(&server, Some(&login), "GET", "/graphs", &json!({}));
    assert_eq!(second.status, 429, "{}", second.text());
    assert_eq!(
        send(&server, "reader", "GET", "/graphs", &json!({})).status,
        200
    );
    gate.open();
    assert_eq!(held.receive().status, 200);
    assert_eq!(
        send_as(&server, Some(&login), "GET", "/graphs", &json!({})).status,
        200
    );
}

#[test]
fn the_queries_of_a_user_hold_no_more_than_its_limit() {
    let server = server_with(AuthConfig {
        user_query_bytes_max: 1 << 20,
        ..AuthConfig::default()
    });
    let run = |items: u64| {
        let script =
            format!("x = []; for (i in 1..{items}) {{ x.add('a text that is held') }}; x.size()");
        let body = json!({"gremlin": script});
        send(&server, "reader", "POST", "/gremlin", &body)
    };
    assert_eq!(run(100).status, 200);
    let refused = run(100_000);
    assert_eq!(refused.status, 503, "{}", refused.text());
    assert!(refused.text().contains("auth.user_query_bytes_max"));
    assert_eq!(run(100).status, 200);
}

#[test]
fn the_audit_trail_says_who_was_refused_and_who_changed_rights_and_no_secret() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.ndjson");
    let server = server_with(AuthConfig {
        audit_file: path.clone(),
        ..AuthConfig::default()
    });
    send(
        &server,
        "reader",
        "DELETE",
        "/graphs/g/clear?confirm_message=x",
        &json!({}),
    );
    send(&server, "reader", "GET", "/graphs", &json!({}));
    send_as(
        &server,
        Some(&basic("admin", "a wrong secret")),
        "GET",
        "/graphs",
        &json!({}),
    );
    let lines = lines(&path);
    let refused = lines.iter().find(|line| line["status"] == 403).unwrap();
    assert_eq!(refused["user"], "reader");
    assert_eq!(
        (&refused["graph"], &refused["route"]),
        (&json!("g"), &json!("graphs/{graph}/clear"))
    );
    let failed = lines.iter().find(|line| line["status"] == 401).unwrap();
    assert_eq!(
        (&failed["user"], &failed["login"], &failed["address"]),
        (&Value::Null, &json!("admin"), &json!("127.0.0.1"))
    );
    assert!(
        lines
            .iter()
            .any(|line| line["route"] == "auth/{kind}" && line["user"] == "admin")
    );
    assert!(
        lines
            .iter()
            .all(|line| line["route"] != "graphs" || line["status"] == 401),
        "reads are not in it"
    );
}
