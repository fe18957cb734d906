//! WebSockets of users.

use std::net::TcpStream;

use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::{Message, WebSocket};
use varve_testserver::{TestServer, driver};

use super::session::begin_at;
use super::{PASSWORD, basic, send, send_as, server, token, with_open_graph};

/// Opens a WebSocket with this header; the status if it is refused.
fn open(server: &TestServer, authorization: Option<&str>) -> Result<WebSocket<TcpStream>, u16> {
    let header = authorization.map(|value| ("authorization", value));
    open_with(server, header.as_slice())
}

/// The same with these headers.
fn open_with(
    server: &TestServer,
    sent: &[(&'static str, &str)],
) -> Result<WebSocket<TcpStream>, u16> {
    driver::open(server.address(), "/gremlin", sent)
}

/// The code that a script is answered with.
fn code(socket: &mut WebSocket<TcpStream>, script: &str) -> i64 {
    let request = json!({
        "requestId": "5f2f0f6e-0e4c-4d0f-8a1b-0a4c6d1f2e3d", "op": "eval", "processor": "",
        "args": {"gremlin": script, "language": "gremlin-groovy", "aliases": {"g": "__g_g"}},
    });
    socket.send(Message::text(request.to_string())).unwrap();
    let answer = socket.read().unwrap().into_data();
    let answer: Value = serde_json::from_slice(&answer).unwrap();
    answer["status"]["code"].as_i64().unwrap()
}

#[test]
fn a_websocket_is_a_users_as_long_as_what_it_was_opened_with_counts() {
    let server = server();
    let schema = json!({"schema": "open"});
    assert_eq!(
        send(&server, "admin", "POST", "/graphs/g", &schema).status,
        201
    );
    let wrong = basic("reader", "wrong");
    assert_eq!(open(&server, Some(&wrong)).err(), Some(401));
    assert_eq!(
        open(&server, Some(&token(&server, "nobody"))).err(),
        Some(403)
    );
    let token = token(&server, "reader");
    let mut by_token = open(&server, Some(&token)).unwrap();
    let mut by_password = open(&server, Some(&basic("reader", PASSWORD))).unwrap();
    for socket in [&mut by_token, &mut by_password] {
        assert_eq!(code(socket, "g.V().count()"), 200);
        assert_ne!(code(socket, "g.addV('x')"), 200);
    }
    let logout = send_as(&server, Some(&token), "DELETE", "/auth/logout", &json!({}));
    assert_eq!(logout.status, 204);
    assert_ne!(code(&mut by_token, "g.V().count()"), 200);
    assert_eq!(code(&mut by_password, "g.V().count()"), 200);
    let path = "/auth/accesses/S-36:readers>-55>-55>11>S-44:reader_target";
    let path = path.replace('>', "%3E");
    assert_eq!(
        send(&server, "admin", "DELETE", &path, &json!({})).status,
        204
    );
    assert_ne!(
        code(&mut by_password, "g.V().count()"),
        200,
        "the right is gone"
    );
}

#[test]
fn a_page_of_this_server_opens_a_websocket_with_its_session_and_no_other_page_does() {
    let server = with_open_graph(server());
    let host = server.address().to_string();
    let own = format!("http://{host}");
    let (_, cookie) = begin_at(&server, &host, "reader", &own);
    let cookie = ("cookie", cookie.as_str());
    // Browsers send `Origin` with every WebSocket, and pages of any site may open one.
    for foreign in ["http://evil.example", "http://127.0.0.1:1", "null"] {
        let refused = open_with(&server, &[cookie, ("origin", foreign)]);
        assert_eq!(refused.err(), Some(403), "{foreign}");
    }
    // Who is no browser opens it without a user, and is asked for one.
    let mut unsaid = open_with(&server, &[cookie]).unwrap();
    assert_eq!(code(&mut unsaid, "g.V().count()"), 407);
    let mut socket = open_with(&server, &[cookie, ("origin", &own)]).unwrap();
    assert_eq!(code(&mut socket, "g.V().count()"), 200);
    assert_ne!(code(&mut socket, "g.addV('x')"), 200);
    let line = "DELETE /ui/session HTTP/1.1";
    let head = format!(
        "{line}\r\nhost: {host}\r\norigin: {own}\r\ncookie: {}\r\n\r\n",
        cookie.1
    );
    assert_eq!(server.exchange(&head).status, 204);
    assert_ne!(code(&mut socket, "g.V().count()"), 200, "the session ended");
}
