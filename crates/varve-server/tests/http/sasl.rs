//! Clients of the WebSocket that say who they are by SASL PLAIN, as TinkerPop's drivers do.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use varve_graphson::{Format, Response, Value};

use crate::authentication::{PASSWORD, send_as, server, token, with_open_graph};
use crate::driver::{Driver, FORMATS, text};
use crate::harness::TestServer;

fn open_graph() -> TestServer {
    with_open_graph(server())
}

fn connect(server: &TestServer, format: Format) -> Driver {
    Driver::of(server.address(), format, "/gremlin", "")
}

fn plain(user: &str, password: &str) -> Value {
    text(&STANDARD.encode(format!("\0{user}\0{password}")))
}

/// Sends a script; the graph is `g`.
fn ask(driver: &mut Driver, script: &str) -> u128 {
    let aliases = crate::driver::map(&[("g", text("__g_g"))]);
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
        let mut driver = connect(&server, format);
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
    let mut driver = connect(&server, Format::GraphBinary);
    let said = say(&mut driver, "writer", PASSWORD);
    expect(&mut driver, said, 204);
    let write = ask(&mut driver, "g.addV('x').count()");
    expect(&mut driver, write, 200);
}

#[test]
fn what_is_not_right_refuses_what_was_held_back_and_the_next_request_is_challenged_again() {
    let server = open_graph();
    let mut driver = connect(&server, Format::GraphSon);
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
    let mut driver = connect(&server, Format::GraphSon);
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
    let mut driver = connect(&server, Format::GraphBinary);
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
    let mut driver = connect(&server, Format::GraphBinary);
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
    let mut driver = connect(&server, Format::GraphSon);
    for _ in 0..10 {
        let id = say(&mut driver, "writer", "wrong");
        expect(&mut driver, id, 401);
    }
    let id = say(&mut driver, "writer", PASSWORD);
    let response = expect(&mut driver, id, 401);
    assert!(response.message.contains("try again in"), "{response:?}");
}

#[test]
fn a_client_that_is_not_known_may_not_send_much() {
    let server = open_graph();
    let mut driver = connect(&server, Format::GraphSon);
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
