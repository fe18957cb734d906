//! WebSockets of users.

use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, HandshakeError, Message, WebSocket, client};

use super::{PASSWORD, basic, send, send_as, server, token};
use crate::harness::TestServer;

/// Opens a WebSocket with this header; the status if it is refused.
fn open(server: &TestServer, authorization: Option<&str>) -> Result<WebSocket<TcpStream>, u16> {
    let stream = TcpStream::connect(server.address()).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    let url = format!("ws://{}/gremlin", server.address());
    let mut request = url.into_client_request().unwrap();
    if let Some(value) = authorization {
        let headers = request.headers_mut();
        headers.insert("authorization", value.parse().unwrap());
    }
    match client(request, stream) {
        Ok((socket, _)) => Ok(socket),
        Err(HandshakeError::Failure(Error::Http(response))) => Err(response.status().as_u16()),
        Err(error) => panic!("{error}"),
    }
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
