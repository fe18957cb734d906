//! The explorer's session: a cookie in place of a token.

use serde_json::{Value, json};
use varve_testkit::http::Answer;
use varve_testserver::TestServer;

use super::{PASSWORD, server};

const HOST: &str = "localhost:8080";

/// Sends a request as the explorer's page does, with these headers besides.
fn page(server: &TestServer, line: &str, headers: &[(&str, &str)], body: Option<&Value>) -> Answer {
    page_at(server, HOST, line, headers, body)
}

/// The same of a page that was loaded from `host`.
fn page_at(
    server: &TestServer,
    host: &str,
    line: &str,
    headers: &[(&str, &str)],
    body: Option<&Value>,
) -> Answer {
    let body = body.map(Value::to_string).unwrap_or_default();
    let mut text = format!("{line} HTTP/1.1\r\nhost: {host}\r\n");
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    if !body.is_empty() {
        text.push_str(&format!(
            "content-type: application/json\r\ncontent-length: {}\r\n",
            body.len()
        ));
    }
    server.exchange(&format!("{text}\r\n{body}"))
}

/// Begins a session: the attributes of its cookie, and the cookie as a browser sends it.
fn begin(server: &TestServer, user: &str, origin: &str) -> (String, String) {
    begin_at(server, HOST, user, origin)
}

/// The same for a page that was loaded from `host`.
pub(super) fn begin_at(
    server: &TestServer,
    host: &str,
    user: &str,
    origin: &str,
) -> (String, String) {
    let body = json!({"user_name": user, "user_password": PASSWORD});
    let answer = page_at(
        server,
        host,
        "POST /ui/session",
        &[("origin", origin)],
        Some(&body),
    );
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.text(), format!(r#"{{"user_name":"{user}"}}"#));
    let set = answer.header("set-cookie").expect("a cookie").to_owned();
    let (cookie, attributes) = set.split_once("; ").expect("attributes");
    (attributes.to_owned(), cookie.to_owned())
}

#[test]
fn a_session_is_a_cookie_that_scripts_cannot_read() {
    let server = server();
    let (attributes, cookie) = begin(&server, "admin", "http://localhost:8080");
    assert_eq!(attributes, "Path=/; HttpOnly; SameSite=Strict");
    let with = ("cookie", cookie.as_str());
    let own = ("sec-fetch-site", "same-origin");
    let users = "GET /auth/users";
    assert_eq!(page(&server, users, &[], None).status, 401);
    assert_eq!(page(&server, users, &[own, with], None).status, 200);
    // Browsers would ask for a password in a window of their own for `Basic`.
    let script = [("x-requested-with", "XMLHttpRequest")];
    let refused = page(&server, users, &script, None);
    assert_eq!(
        refused.header("www-authenticate"),
        Some(r#"Bearer realm="varve""#)
    );
    let among = format!("theme=dark; {cookie};x=1");
    assert_eq!(
        page(&server, users, &[("cookie", &among)], None).status,
        200
    );
    let session = page(&server, "GET /ui/session", &[own, with], None);
    assert_eq!(session.text(), r#"{"user_name":"admin"}"#);

    let ended = page(&server, "DELETE /ui/session", &[own, with], None);
    assert_eq!(ended.status, 204);
    let set = ended.header("set-cookie").expect("a cookie");
    assert!(set.starts_with("varve-session-8080=; Max-Age=0; "), "{set}");
    // Whoever kept the cookie has nothing.
    assert_eq!(page(&server, users, &[own, with], None).status, 401);
    // What needs no login is served all the same.
    assert_eq!(page(&server, "GET /versions", &[with], None).status, 200);
    let session = page(&server, "GET /ui/session", &[with], None);
    assert_eq!(session.text(), r#"{"user_name":null}"#);
    assert_eq!(
        page(&server, "DELETE /ui/session", &[with], None).status,
        204
    );
}

#[test]
fn a_session_counts_for_pages_of_this_server_only() {
    let server = server();
    let (attributes, cookie) = begin(&server, "admin", "https://localhost:8080");
    assert!(attributes.ends_with("; Secure"), "{attributes}");
    let with = ("cookie", cookie.as_str());
    for foreign in [
        ("origin", "http://localhost:3000"),
        ("origin", "null"),
        ("sec-fetch-site", "same-site"),
        ("sec-fetch-site", "cross-site"),
    ] {
        let answer = page(&server, "GET /auth/users", &[with, foreign], None);
        assert_eq!(answer.status, 401, "{foreign:?}");
    }
    // A picture of another port's page has no such header, and a query may write.
    let query = "GET /gremlin?gremlin=1";
    assert_eq!(page(&server, query, &[with], None).status, 401);
    let other_port = ("origin", "http://localhost:8081");
    assert_eq!(page(&server, query, &[with, other_port], None).status, 401);
    for own in [
        ("origin", "https://localhost:8080"),
        ("sec-fetch-site", "same-origin"),
        ("x-requested-with", "XMLHttpRequest"),
    ] {
        let answer = page(&server, query, &[with, own], None);
        assert_eq!(answer.status, 200, "{own:?}: {}", answer.text());
    }
    let login = json!({"user_name": "admin", "user_password": PASSWORD});
    let foreign = [("origin", "http://evil.example")];
    let answer = page(&server, "POST /ui/session", &foreign, Some(&login));
    assert_eq!(answer.status, 403);
    // Nor can another site end a session.
    for foreign in [
        ("origin", "http://evil.example"),
        ("origin", "http://localhost:3000"),
        ("sec-fetch-site", "cross-site"),
    ] {
        let answer = page(&server, "DELETE /ui/session", &[with, foreign], None);
        assert_eq!(answer.status, 403, "{foreign:?}");
        assert!(answer.header("set-cookie").is_none(), "{foreign:?}");
    }
    let session = page(&server, "GET /ui/session", &[with], None);
    assert_eq!(session.text(), r#"{"user_name":"admin"}"#);
}

#[test]
fn servers_on_two_ports_of_a_host_have_a_cookie_each() {
    let (one, other) = (server(), server());
    let (_, of_one) = begin_at(&one, HOST, "admin", "http://localhost:8080");
    let (_, of_other) = begin_at(&other, "localhost:8081", "reader", "http://localhost:8081");
    assert!(of_one.starts_with("varve-session-8080="), "{of_one}");
    assert!(of_other.starts_with("varve-session-8081="), "{of_other}");
    // A browser sends the cookies of all ports.
    let both = format!("{of_one}; {of_other}");
    let headers = [("cookie", both.as_str()), ("sec-fetch-site", "same-origin")];
    let ended = page_at(
        &other,
        "localhost:8081",
        "DELETE /ui/session",
        &headers,
        None,
    );
    assert_eq!(ended.status, 204);
    let set = ended.header("set-cookie").expect("a cookie");
    assert!(set.starts_with("varve-session-8081=; "), "{set}");
    let session = page(&one, "GET /ui/session", &headers, None);
    assert_eq!(session.text(), r#"{"user_name":"admin"}"#);
    // Where the port is the scheme's own the name has none.
    let (_, plain) = begin_at(&one, "localhost", "admin", "http://localhost");
    assert!(plain.starts_with("varve-session="), "{plain}");
    let as_own = [("cookie", plain.as_str()), headers[1]];
    assert_eq!(page(&one, "GET /auth/users", &as_own, None).status, 401);
}

#[test]
fn a_wrong_password_begins_no_session_and_a_header_wins_over_the_cookie() {
    let server = server();
    let wrong = json!({"user_name": "admin", "user_password": "wrong"});
    let answer = page(&server, "POST /ui/session", &[], Some(&wrong));
    assert_eq!(answer.status, 401);
    assert!(answer.header("set-cookie").is_none());
    let (_, cookie) = begin(&server, "admin", "http://localhost:8080");
    let headers = [("cookie", cookie.as_str()), ("authorization", "Bearer x")];
    assert_eq!(page(&server, "GET /auth/users", &headers, None).status, 401);
}
