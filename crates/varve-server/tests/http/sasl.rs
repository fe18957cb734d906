//! Clients of the WebSocket that say who they are by SASL PLAIN, as TinkerPop's drivers do.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde_json::json;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use varve_graphson::{Format, Response, Value};
use varve_server::ServerConfig;
use varve_testserver::TestServer;
use varve_testserver::driver::{Driver, FORMATS, text};

use crate::authentication::{PASSWORD, send_as, server, server_of, token, with_open_graph};
use crate::memory::await_that;

fn open_graph() -> TestServer {
    with_open_graph(server())
}

fn plain(user: &str, password: &str) -> Value {
    text(&STANDARD.encode(format!("\0{user}\0{password}")))
}

/// Sends a script; the graph is `g`.
fn ask(driver: &mut Driver, script: &str) -> u128 {
    let aliases = varve_testserver::driver::map(&[("g", text("__g_g"))]);
    driver.send(
        "",
        "eval",
        &[("gremlin", text(script)), ("aliases", aliases)],
    )
}

/// Answers a challenge.
fn say(driver: &mut Driver, user: &str, password: &str) -> u128 {
    let mechanism = ("saslMechanism", text("PLAIN"));
    let arguments = [mechanism, ("sasl", plain(user, password))];
    driver.send("traversal", "authentication", &arguments)
}

#[track_caller]
fn expect(driver: &mut Driver, id: u128, code: i32) -> Response {
    let response = driver.receive();
    assert_eq!(
        (response.id, response.code),
        (Some(id), code),
        "{response:?}"
    );
    response
}

#[test]
fn the_first_request_is_held_back_until_its_client_has_said_who_it_is() {
    let server = open_graph();
    for format in FORMATS {
        let mut driver = Driver::connect(&server, format);
        let first = ask(&mut driver, "g.inject(1)");
        expect(&mut driver, first, 407);
        // Others wait with it. Answers to different requests may come in any order.
        let second = ask(&mut driver, "g.inject(2)");
        say(&mut driver, "reader", PASSWORD);
        let mut answers = [driver.receive(), driver.receive()];
        answers.sort_by_key(|answer| answer.id);
        for (answer, (id, number)) in answers.iter().zip([(first, 1), (second, 2)]) {
            assert_eq!((answer.id, answer.code), (Some(id), 200), "{answer:?}");
            assert_eq!(answer.data, Value::List(vec![Value::Int(number)]));
        }
        let third = ask(&mut driver, "g.V().count()");
        expect(&mut driver, third, 200);
        let write = ask(&mut driver, "g.addV('x')");
        expect(&mut driver, write, 403);
        // Who is known already stays who it is.
        let again = say(&mut driver, "admin", PASSWORD);
        expect(&mut driver, again, 204);
        let write = ask(&mut driver, "g.addV('x')");
        expect(&mut driver, write, 403);
    }
}

#[test]
fn a_client_may_say_who_it_is_before_it_asks_for_anything() {
    let server = open_graph();
    let mut driver = Driver::connect(&server, Format::GraphBinary);
    let said = say(&mut driver, "writer", PASSWORD);
    expect(&mut driver, said, 204);
    let write = ask(&mut driver, "g.addV('x').count()");
    expect(&mut driver, write, 200);
}

#[test]
fn what_is_not_right_refuses_what_was_held_back_and_the_next_request_is_challenged_again() {
    let server = open_graph();
    let mut driver = Driver::connect(&server, Format::GraphSon);
    for (user, password) in [
        ("reader", "wrong"),
        ("nobody at all", PASSWORD),
        ("forged.token.x", ""),
    ] {
        let first = ask(&mut driver, "g.V()");
        expect(&mut driver, first, 407);
        let second = ask(&mut driver, "g.V()");
        say(&mut driver, user, password);
        for id in [first, second] {
            let response = expect(&mut driver, id, 401);
            assert_eq!(response.message, "Authentication failed");
        }
    }
    let first = ask(&mut driver, "g.V()");
    expect(&mut driver, first, 407);
    let other = [
        ("saslMechanism", text("GSSAPI")),
        ("sasl", plain("reader", PASSWORD)),
    ];
    driver.send("", "authentication", &other);
    let response = expect(&mut driver, first, 401);
    assert!(response.message.contains("PLAIN"), "{response:?}");
    let bad = [("sasl", text("%%"))];
    let id = driver.send("", "authentication", &bad);
    expect(&mut driver, id, 401);
    let first = ask(&mut driver, "g.V().count()");
    expect(&mut driver, first, 407);
    say(&mut driver, "reader", PASSWORD);
    expect(&mut driver, first, 200);
    // One that may not run scripts is known, and refused.
    let mut driver = Driver::connect(&server, Format::GraphSon);
    let first = ask(&mut driver, "g.V()");
    expect(&mut driver, first, 407);
    say(&mut driver, "nobody", PASSWORD);
    expect(&mut driver, first, 403);
}

#[test]
fn a_token_comes_as_the_name_and_ends_with_its_logout() {
    let server = open_graph();
    let token = token(&server, "reader");
    let bare = token.strip_prefix("Bearer ").unwrap();
    let mut driver = Driver::connect(&server, Format::GraphBinary);
    let first = ask(&mut driver, "g.V().count()");
    expect(&mut driver, first, 407);
    say(&mut driver, bare, "");
    expect(&mut driver, first, 200);
    let logout = send_as(&server, Some(&token), "DELETE", "/auth/logout", &json!({}));
    assert_eq!(logout.status, 204);
    let after = ask(&mut driver, "g.V().count()");
    expect(&mut driver, after, 401);
}

#[test]
fn a_session_keeps_the_order_of_what_was_held_back() {
    let server = open_graph();
    let mut driver = Driver::connect(&server, Format::GraphBinary);
    let mut ids = Vec::new();
    for number in 0..100 {
        let script = match number {
            0 => "x = 0".to_owned(),
            _ => "x = x + 1".to_owned(),
        };
        let arguments = [("gremlin", text(&script)), ("session", text("s"))];
        ids.push(driver.send("session", "eval", &arguments));
    }
    expect(&mut driver, ids[0], 407);
    say(&mut driver, "reader", PASSWORD);
    for (number, id) in ids.into_iter().enumerate() {
        let response = expect(&mut driver, id, 200);
        let number = i32::try_from(number).unwrap();
        assert_eq!(response.data, Value::List(vec![Value::Int(number)]));
    }
}

#[test]
fn failed_logins_of_a_connection_are_slowed_down_as_others() {
    let server = open_graph();
    let mut driver = Driver::connect(&server, Format::GraphSon);
    for _ in 0..10 {
        let id = say(&mut driver, "writer", "wrong");
        expect(&mut driver, id, 401);
    }
    let id = say(&mut driver, "writer", PASSWORD);
    let response = expect(&mut driver, id, 401);
    assert!(response.message.contains("try again in"), "{response:?}");
}

/// The code with which the server closes the connection, after answers with the code 407.
fn close_code(driver: &mut Driver) -> CloseCode {
    loop {
        match driver.socket.read() {
            Ok(Message::Close(Some(frame))) => return frame.code,
            Ok(answer) => assert!(answer.is_binary(), "{answer:?}"),
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn what_waits_for_a_login_is_bounded_with_all_that_it_takes() {
    let server = open_graph();
    let mut driver = Driver::connect(&server, Format::GraphBinary);
    let frame = {
        let mut frame = vec![Format::GraphSon.mime().len() as u8];
        frame.extend_from_slice(Format::GraphSon.mime().as_bytes());
        frame.extend_from_slice(br#"{"requestId":"41d2e28a-20a4-4ab0-b379-d810dede3786","#);
        frame.extend_from_slice(br#""op":"eval","args":{"gremlin":"1"}}"#);
        Bytes::from(frame)
    };
    // Fewer bytes than a client may send, in more messages than the server holds.
    assert!(frame.len() * 500 < 64 << 10);
    for _ in 0..500 {
        // The server may have closed the connection already.
        let _ = driver.socket.send(Message::Binary(frame.clone()));
    }
    assert_eq!(close_code(&mut driver), CloseCode::Policy);
    drop(driver);
    let admission = server.state.admission();
    await_that("the share is given back", || {
        admission.strangers_bytes() == 0
    });
}

#[test]
fn a_websocket_without_login_ends_when_the_time_of_a_request_is_over() {
    let server = with_open_graph(server_of(ServerConfig {
        request_timeout_ms: 1_500,
        ..ServerConfig::default()
    }));
    let mut silent = Driver::connect(&server, Format::GraphSon);
    let mut waiting = Driver::connect(&server, Format::GraphSon);
    let id = ask(&mut waiting, "g.V()");
    expect(&mut waiting, id, 407);
    for driver in [&mut silent, &mut waiting] {
        assert_eq!(close_code(driver), CloseCode::Policy);
    }
    let mut known = Driver::connect(&server, Format::GraphSon);
    let said = say(&mut known, "reader", PASSWORD);
    expect(&mut known, said, 204);
    std::thread::sleep(std::time::Duration::from_millis(2_000));
    let id = ask(&mut known, "g.V().count()");
    expect(&mut known, id, 200);
}

#[test]
fn a_client_that_is_not_known_may_not_send_much() {
    let server = open_graph();
    let mut driver = Driver::connect(&server, Format::GraphSon);
    let large = format!("g.inject('{}')", "x".repeat(100_000));
    ask(&mut driver, &large);
    match driver.socket.read() {
        Ok(Message::Close(Some(frame))) => assert_eq!(frame.code, CloseCode::Policy),
        other => panic!("{other:?}"),
    }
    // Over HTTP nothing is held back.
    let answer = send_as(
        &server,
        None,
        "POST",
        "/gremlin",
        &json!({"gremlin": "g.V()"}),
    );
    assert_eq!(answer.status, 401);
    let answer = send_as(&server, None, "GET", "/gremlin?gremlin=g.V()", &json!({}));
    assert_eq!(answer.status, 401);
}
