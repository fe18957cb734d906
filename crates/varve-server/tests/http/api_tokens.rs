//! API tokens: what programs come in with in place of a password.

use serde_json::{Value, json};
use varve_graphson::Format;
use varve_testkit::http::Answer;
use varve_testserver::TestServer;
use varve_testserver::driver::{Driver, map, text};

use crate::authentication::{PASSWORD, basic, send, send_as, server, token};

/// Makes a token; its text and its id.
fn make(server: &TestServer, user: &str, body: &Value) -> (String, String) {
    let answer = send(server, user, "POST", "/auth/tokens", body);
    assert_eq!(answer.status, 201, "{}", answer.text());
    let made: Value = serde_json::from_slice(&answer.body).unwrap();
    let of = |field: &str| made[field].as_str().unwrap().to_owned();
    (of("token"), of("id"))
}

fn get(server: &TestServer, authorization: &str, path: &str) -> Answer {
    send_as(server, Some(authorization), "GET", path, &json!({}))
}

fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}

fn graphs(server: &TestServer) {
    for graph in ["g", "h"] {
        let path = format!("/graphs/{graph}");
        let made = send(server, "admin", "POST", &path, &json!({"schema": "open"}));
        assert_eq!(made.status, 201, "{}", made.text());
    }
}

#[test]
fn a_token_comes_in_by_each_way_until_it_is_revoked() {
    let server = server();
    graphs(&server);
    let (token, id) = make(&server, "reader", &json!({"token_name": "load"}));
    assert!(token.starts_with(&format!("varve_{id}_")), "{token}");
    let vertices = "/graphs/g/graph/vertices";
    for header in [bearer(&token), basic("reader", &token)] {
        for _ in 0..2 {
            assert_eq!(get(&server, &header, vertices).status, 200);
        }
        assert_eq!(
            get(&server, &header, "/graphs/h/graph/vertices").status,
            403
        );
    }
    get(&server, &bearer(&token), "/auth/verify")
        .is(200, r#"{"user_id":"-30:reader","user_name":"reader"}"#);
    // Of another user it is no password, and it gives no login.
    assert_eq!(get(&server, &basic("writer", &token), vertices).status, 401);
    let body = json!({"user_name": "reader", "user_password": token});
    assert_eq!(
        send_as(&server, None, "POST", "/auth/login", &body).status,
        401
    );
    let last = if token.ends_with('A') { 'B' } else { 'A' };
    let damaged = format!("{}{last}", &token[..token.len() - 1]);
    for wrong in [damaged.as_str(), "varve_", "varve_0_x"] {
        assert_eq!(
            get(&server, &bearer(wrong), vertices).status,
            401,
            "{wrong}"
        );
    }
    let mut driver = Driver::connect(&server, Format::GraphBinary);
    let aliases = map(&[("g", text("__g_g"))]);
    let count = [("gremlin", text("g.V().count()")), ("aliases", aliases)];
    driver.send("", "eval", &count);
    assert_eq!(driver.receive().code, 407);
    let plain = base64::Engine::encode(
        &base64::engine::general_purpose::STANDARD,
        format!("\0reader\0{token}"),
    );
    driver.send("", "authentication", &[("sasl", text(&plain))]);
    assert_eq!(driver.receive().code, 200);

    let list = send(&server, "reader", "GET", "/auth/tokens", &json!({}));
    let list: Value = serde_json::from_slice(&list.body).unwrap();
    let listed = &list["tokens"][0];
    assert_eq!(
        (&listed["id"], &listed["token_name"]),
        (&json!(id), &json!("load"))
    );
    assert!(
        listed["token_used"].is_string() && listed.get("token").is_none(),
        "{listed}"
    );

    let path = format!("/auth/tokens/{id}");
    assert_eq!(
        send(&server, "writer", "DELETE", &path, &json!({})).status,
        404
    );
    assert_eq!(
        send(&server, "reader", "DELETE", &path, &json!({})).status,
        204
    );
    for header in [bearer(&token), basic("reader", &token)] {
        assert_eq!(
            get(&server, &header, vertices).status,
            401,
            "from the next request on"
        );
    }
    driver.send("", "eval", &count);
    assert_eq!(driver.receive().code, 401);
}

#[test]
fn a_restricted_token_allows_less_than_its_user_may_do() {
    let server = server();
    graphs(&server);
    let add = |header: &str, graph: &str| {
        let body = json!({"gremlin": "g.addV('x')", "aliases": {"g": format!("__g_{graph}")}});
        send_as(&server, Some(header), "POST", "/gremlin", &body).status
    };
    let reads = json!({"token_name": "r", "token_reads_only": true});
    let reads = bearer(&make(&server, "writer", &reads).0);
    assert_eq!(get(&server, &reads, "/graphs/g/graph/vertices").status, 200);
    assert_eq!(add(&reads, "g"), 403);
    let all = bearer(&make(&server, "writer", &json!({"token_name": "w"})).0);
    assert_eq!(add(&all, "g"), 200);
    let of_h = json!({"token_name": "h", "token_graphs": ["h"]});
    let of_h = bearer(&make(&server, "admin", &of_h).0);
    assert_eq!(add(&of_h, "h"), 200);
    assert_eq!(add(&of_h, "g"), 400);
    get(&server, &of_h, "/graphs").is(200, r#"{"graphs":["h"]}"#);
    // What is the administrator's own it does not have, and it can get no more.
    for (verb, path, body) in [
        ("GET", "/metrics", json!({})),
        ("DELETE", "/graphs/h/clear", json!({})),
        ("POST", "/auth/tokens", json!({"token_name": "more"})),
        (
            "PUT",
            "/auth/users/-30:admin",
            json!({"user_password": "taken over"}),
        ),
        (
            "POST",
            "/auth/users",
            json!({"user_name": "eve", "user_password": "long enough"}),
        ),
    ] {
        let answer = send_as(&server, Some(&of_h), verb, path, &body);
        assert_eq!(answer.status, 403, "{verb} {path}: {}", answer.text());
    }
    let path = "/auth/users/-30:writer";
    let own = json!({"user_password": "another one"});
    assert_eq!(
        send_as(&server, Some(&reads), "PUT", path, &own).status,
        403
    );
    // One without a restriction is its user, but makes no tokens.
    let more = json!({"token_name": "more"});
    assert_eq!(
        send_as(&server, Some(&all), "POST", "/auth/tokens", &more).status,
        403
    );
}

#[test]
fn a_token_ends_in_its_time_and_with_its_user() {
    let server = server();
    let short = json!({"token_name": "short", "token_expire": 1});
    let (short, _) = make(&server, "nobody", &short);
    let (long, _) = make(&server, "nobody", &json!({"token_name": "long"}));
    assert_eq!(get(&server, &bearer(&long), "/graphs").status, 200);
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    assert_eq!(get(&server, &bearer(&short), "/graphs").status, 401);
    // Another password ends logins, and not what programs come in with.
    let change = json!({"user_password": "battery staple"});
    let path = "/auth/users/-30:nobody";
    assert_eq!(send(&server, "nobody", "PUT", path, &change).status, 200);
    assert_eq!(get(&server, &bearer(&long), "/graphs").status, 200);
    assert_eq!(
        send(&server, "admin", "DELETE", path, &json!({})).status,
        204
    );
    assert_eq!(get(&server, &bearer(&long), "/graphs").status, 401);
    let user = json!({"user_name": "nobody", "user_password": PASSWORD});
    assert_eq!(
        send(&server, "admin", "POST", "/auth/users", &user).status,
        201
    );
    assert_eq!(
        get(&server, &bearer(&long), "/graphs").status,
        401,
        "nor of the next one"
    );
}

#[test]
fn tokens_of_others_are_the_administrators_to_see_and_revoke() {
    let server = server();
    let (token_text, id) = make(&server, "reader", &json!({"token_name": "load"}));
    let path = "/auth/tokens?user=-30:reader";
    assert_eq!(send(&server, "writer", "GET", path, &json!({})).status, 403);
    let list = send(&server, "admin", "GET", path, &json!({}));
    assert!(
        list.text().contains(&id) && !list.text().contains(&token_text),
        "{}",
        list.text()
    );
    let login = token(&server, "admin");
    let path = format!("/auth/tokens/{id}");
    assert_eq!(
        send_as(&server, Some(&login), "DELETE", &path, &json!({})).status,
        204
    );
    assert_eq!(
        send_as(&server, Some(&login), "DELETE", &path, &json!({})).status,
        404
    );
}

#[test]
fn what_makes_no_sense_is_refused() {
    let server = server();
    for (user, body) in [
        ("reader", json!({})),
        ("reader", json!({"token_name": ""})),
        ("reader", json!({"token_name": "a", "token_expire": 0})),
        ("reader", json!({"token_name": "x".repeat(10_000)})),
        ("reader", json!({"token_name": "a", "other": 1})),
        (
            "admin",
            json!({"token_name": "a", "token_reads_only": true}),
        ),
    ] {
        let answer = send(&server, user, "POST", "/auth/tokens", &body);
        assert_eq!(answer.status, 400, "{body}: {}", answer.text());
    }
    for _ in 0..varve_auth::API_TOKENS_MAX {
        make(&server, "reader", &json!({"token_name": "a"}));
    }
    let more = json!({"token_name": "a"});
    let answer = send(&server, "reader", "POST", "/auth/tokens", &more);
    assert_eq!(answer.status, 400, "{}", answer.text());
}

#[test]
fn a_token_sets_no_password() {
    let server = server();
    graphs(&server);
    let (token, _) = make(&server, "reader", &json!({"token_name": "load"}));
    let body = json!({"user_password": "another password"});
    let path = "/auth/users/-30:reader";
    let refused = send_as(&server, Some(&bearer(&token)), "PUT", path, &body);
    assert_eq!(refused.status, 403, "{}", refused.text());
    let phone = json!({"user_phone": "1"});
    let changed = send_as(&server, Some(&bearer(&token)), "PUT", path, &phone);
    assert_eq!(changed.status, 200, "{}", changed.text());
    assert_eq!(send(&server, "reader", "PUT", path, &body).status, 200);
}
