//! What answers tell a client that may not know something, and what keeps them from others.

use serde_json::json;

use super::{PASSWORD, basic, send, send_as, server, with_open_graph};

#[test]
fn a_graph_that_a_client_may_not_read_has_no_name_in_gremlin() {
    let server = with_open_graph(server());
    let schema = json!({"schema": "open"});
    let made = send(&server, "admin", "POST", "/graphs/secret", &schema);
    assert_eq!(made.status, 201, "{}", made.text());
    let ask = |user: &str, script: &str, alias: &str| {
        let body = json!({"gremlin": script, "aliases": {"g": alias}});
        send(&server, user, "POST", "/gremlin", &body)
    };
    for alias in [
        "secret",
        "__g_secret",
        "DEFAULT-secret",
        "__g_DEFAULT-secret",
    ] {
        let hidden = ask("reader", "g.V().count()", alias);
        let absent = ask(
            "reader",
            "g.V().count()",
            &alias.replace("secret", "absent"),
        );
        assert_eq!(hidden.status, 400, "{}", hidden.text());
        let hidden_text = hidden.text().replace("secret", "absent");
        let without_id = |text: &str| text.split("\"requestId\"").next().unwrap().to_owned();
        assert_eq!(without_id(&hidden_text), without_id(absent.text()));
        assert_eq!(ask("admin", "g.V().count()", alias).status, 200);
    }
    for script in ["secret.V().count()", "__g_secret.V().count()"] {
        let hidden = ask("reader", script, "__g_g");
        let absent = ask("reader", &script.replace("secret", "absent"), "__g_g");
        assert_eq!(hidden.status, absent.status, "{}", hidden.text());
    }
}

#[test]
fn no_cache_keeps_an_answer_and_no_browser_guesses_its_type() {
    let server = with_open_graph(server());
    for (user, path, status) in [
        (Some("reader"), "/graphs", 200),
        (Some("reader"), "/graphs/g/graph/vertices?limit=1", 200),
        (Some("nobody"), "/graphs/g/graph/vertices?limit=1", 403),
        (None, "/graphs", 401),
        (None, "/nothing", 401),
        (None, "/health", 200),
    ] {
        let user = user.map(|user| basic(user, PASSWORD));
        let answer = send_as(&server, user.as_deref(), "GET", path, &json!({}));
        assert_eq!(answer.status, status, "{path}");
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{path}");
        let options = answer.header("x-content-type-options");
        assert_eq!(options, Some("nosniff"), "{path}");
    }
}

#[test]
fn a_password_may_begin_like_a_token() {
    let server = server();
    let password = "varve_is_not_a_token";
    let change = json!({ "user_password": password });
    let path = "/auth/users/-30:reader";
    assert_eq!(send(&server, "reader", "PUT", path, &change).status, 200);
    for _ in 0..2 {
        let right = basic("reader", password);
        let answer = send_as(&server, Some(&right), "GET", "/graphs", &json!({}));
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    let wrong = basic("reader", "varve_is_another");
    let answer = send_as(&server, Some(&wrong), "GET", "/graphs", &json!({}));
    assert_eq!(answer.status, 401);
}

#[test]
fn names_have_no_control_characters() {
    let server = server();
    for name in ["a\nb", "a\u{1b}[31mb", "\u{7f}", "a\u{85}b"] {
        for (path, body) in [
            (
                "/auth/users",
                json!({"user_name": name, "user_password": "long enough"}),
            ),
            ("/auth/groups", json!({ "group_name": name })),
            ("/auth/tokens", json!({ "token_name": name })),
        ] {
            let answer = send(&server, "admin", "POST", path, &body);
            assert_eq!(answer.status, 400, "{path}: {}", answer.text());
            assert!(answer.text().contains("control characters"), "{path}");
        }
    }
}

#[test]
fn the_metadata_repository_slows_failed_logins_down_by_http_too() {
    let server = server();
    let path = "/servers/varve/open-metadata/repository-services/users/reader/types/all";
    let ask = |password: &str| {
        let proof = basic("reader", password);
        send_as(&server, Some(&proof), "GET", path, &json!({}))
    };
    for _ in 0..10 {
        assert_eq!(ask("wrong").status, 401);
    }
    let late = ask(PASSWORD);
    assert_eq!(late.status, 429, "{}", late.text());
    assert!(late.header("retry-after").is_some());
}
