//! Every route, asked by every kind of client.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use varve_server::route::Verb;
use varve_server::{Route, ServerConfig};
use varve_testserver::TestServer;

use super::{PASSWORD, add_users, basic, grant, request, send_as, server_of, token};

/// What the rules of the documentation say that a client gets at a route: 401, 403 or anything else
/// (0). Knows the paths, and nothing of what the routes declare.
fn expected(route: &Route, client: &str) -> u16 {
    let path: Vec<&str> = route.pattern.split('/').collect();
    let verb = route.verb.as_str();
    let is_open = matches!(
        path[..],
        [""] | ["apis" | "versions" | "health" | "openapi.json"] | ["ui", ..]
    ) || path.ends_with(&["login"]);
    if is_open {
        return 0;
    }
    // They have a proof of their own.
    if matches!(path[..], ["cluster", "users" | "position"]) {
        return 403;
    }
    if ["none", "wrong", "forged", "expired", "ended"].contains(&client) {
        return 401;
    }
    if client == "admin" {
        return 0;
    }
    // What any user may ask, and be answered as far as its own rights go.
    let is_of_any_user = matches!(
        path[..],
        ["graphs"]
            | ["queries", ..]
            | ["graphspaces", ..]
            | ["auth", ..]
            | ["graphs", "{graph}", "auth", ..]
    );
    if is_of_any_user {
        return 0;
    }
    if path == ["gremlin"] {
        return if matches!(client, "nobody" | "modeller") {
            403
        } else {
            0
        };
    }
    let level = match (&path[..], verb) {
        (["graphs", "{graph}", "graph", _, "{id}", "history"], "DELETE") => "administer",
        (["graphs", "{graph}"], "GET") => "see",
        (["graphs", "{graph}", "schema", ..], "GET") => "read the schema",
        (["graphs", "{graph}", "schema", ..], _) => "change the schema",
        (["graphs", "{graph}", "jobs", "rebuild", ..], _) => "change the schema",
        (["graphs", "{graph}", "variables" | "graph" | "tasks", ..], "GET") => "read",
        (["graphs", "{graph}", "traversers", .., "shards"], _) => "read",
        (["graphs", "{graph}", "explore", "load_sample"], "POST") => "write",
        (["graphs", "{graph}", "explore" | "changes", ..], _) => "read",
        (["graphs", "{graph}", "traversers" | "cypher", ..], _) => "read",
        // The statement decides whether it writes.
        (["db", "{graph}", ..], _) => "read",
        (["graphs", "{graph}", "mode" | "graph_read_mode"], "GET") => "read",
        (
            [
                "graphs",
                "{graph}",
                "mode" | "snapshot_create" | "snapshot_resume",
            ],
            "PUT",
        ) => "write",
        (
            [
                "graphs",
                "{graph}",
                "variables" | "graph" | "load" | "tasks" | "jobs",
                ..,
            ],
            _,
        ) => "write",
        _ => "administer",
    };
    let is_schema = matches!(level, "read the schema" | "change the schema");
    let is_allowed = match client {
        "reader" => matches!(level, "see" | "read" | "read the schema"),
        "writer" => level != "administer",
        "modeller" => level == "see" || is_schema,
        _ => false,
    };
    match is_allowed {
        true => 0,
        false => 403,
    }
}

/// The headers of each client, by name; a wrong password apart.
fn clients(server: &TestServer) -> Vec<(&'static str, Option<String>)> {
    let ended = token(server, "admin");
    let logout = send_as(server, Some(&ended), "DELETE", "/auth/logout", &json!({}));
    assert_eq!(logout.status, 204);
    let mut forged = token(server, "admin");
    let at = forged.len() - 10;
    let other = if forged.as_bytes()[at] == b'a' {
        "b"
    } else {
        "a"
    };
    forged.replace_range(at..=at, other);
    let mut clients = vec![
        ("none", None),
        ("forged", Some(forged)),
        ("ended", Some(ended)),
        ("expired", Some(expired(server))),
    ];
    for user in ["nobody", "reader", "writer", "modeller", "owner", "admin"] {
        clients.push((user, Some(token(server, user))));
    }
    clients
}

/// A token of the administrator whose time is over.
fn expired(server: &TestServer) -> String {
    let body = json!({"user_name": "admin", "user_password": PASSWORD, "token_expire": 1});
    let answer = send_as(server, None, "POST", "/auth/login", &body);
    let answer: Value = serde_json::from_slice(&answer.body).unwrap();
    let token = format!("Bearer {}", answer["token"].as_str().unwrap());
    let verify = || send_as(server, Some(&token), "GET", "/auth/verify", &json!({})).status;
    let began = Instant::now();
    while verify() == 200 {
        assert!(began.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(50));
    }
    token
}

/// Sends the request of a route, with a body that makes no sense, and checks the status.
fn check(server: &TestServer, route: &Route, path: &str, client: &str, header: Option<&str>) {
    let verb = route.verb.as_str();
    let text = request(header, verb, path, &json!({}));
    // What is sent makes no sense, so the API's description does not matter here.
    let mut connection = server.connect();
    connection.send(&text);
    let answer = connection.receive();
    let got = match answer.status {
        status @ (401 | 403) => status,
        _ => 0,
    };
    // The metadata repository and /admin have refusals of their own. A record is its user's and
    // the administrator's, which the handler knows; and nobody makes managers.
    let own = ["servers/", "admin", "auth/managers"];
    let is_own = own.iter().any(|own| route.pattern.starts_with(own))
        || route.pattern.contains("auth/{kind}/{id}");
    let wanted = expected(route, client);
    assert!(
        got == wanted || (is_own && wanted != 401 && got != 401),
        "{verb} {path} as {client}: {} instead of {wanted}: {}",
        answer.status,
        answer.text()
    );
}

#[test]
fn each_route_answers_each_client_as_the_rules_say() {
    // So that each wrong password comes from an address of its own and none is slowed down.
    let server = server_of(ServerConfig {
        trusted_proxies: vec!["127.0.0.1".to_owned()],
        ..ServerConfig::default()
    });
    add_users(&server, &["modeller"]);
    grant(&server, "modeller", "g", &["ANY"], "SCHEMA");
    let clients = clients(&server);
    let mut looked_at = 0;
    for route in server.state.router().routes() {
        if route.pattern.contains("test/") {
            continue;
        }
        // There is no such graph, so nothing is harmed by what is allowed.
        let path = route
            .pattern
            .replace("{graph}", "g")
            .replace("{kind}", "users");
        let path = format!("/{}", path.replace(['{', '}'], ""));
        // It switches the server's own errors over.
        let is_switch = route.verb == Verb::Put && path == "/exception/trace";
        for (client, header) in &clients {
            if is_switch && *client == "admin" {
                continue;
            }
            check(&server, route, &path, client, header.as_deref());
            if path.starts_with("/graphs/") {
                let path = format!("/graphspaces/DEFAULT{path}");
                check(&server, route, &path, client, header.as_deref());
            }
        }
        let (high, low) = (looked_at / 250, looked_at % 250);
        let wrong = basic("admin", "wrong");
        let wrong = format!("{wrong}\r\nx-forwarded-for: 10.0.{high}.{low}");
        check(&server, route, &path, "wrong", Some(&wrong));
        looked_at += 1;
    }
    assert!(looked_at > 100);
}
