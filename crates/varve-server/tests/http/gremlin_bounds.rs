//! What a client may do to the WebSocket of drivers: send halves, send without end, take nothing.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use tokio_tungstenite::tungstenite::Message;
use varve_graphson::{Format, Value};
use varve_server::ServerConfig;
use varve_testserver::driver::{Driver, FORMATS, map, results, text};

use crate::fixture::Fixture;
use crate::memory::await_that;

/// A connection that has become a WebSocket, without a client behind it.
fn raw(fixture: &Fixture) -> TcpStream {
    let mut client = fixture.server.connect();
    client.send(
        b"GET /gremlin HTTP/1.1\r\nhost: h\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
          sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    );
    assert_eq!(client.receive().status, 101);
    client.stream
}

/// The beginning of a masked frame of so many bytes.
fn head(bytes: u64) -> Vec<u8> {
    let mut head = vec![0x82, 0x80 | 127];
    head.extend_from_slice(&bytes.to_be_bytes());
    head.extend_from_slice(&[0; 4]);
    head
}

fn count(fixture: &Fixture) -> Vec<Value> {
    Driver::connect(&fixture.server, Format::GraphSon).results("g.V().count()")
}

#[test]
fn a_thousand_connections_that_send_halves_are_cut_and_others_are_served() {
    let fixture = Fixture::with(ServerConfig {
        body_read_timeout_ms: 2_000,
        ..ServerConfig::default()
    });
    fixture.people();
    let halves: Vec<TcpStream> = (0..1_000)
        .map(|number| {
            let mut stream = raw(&fixture);
            let frame = [head(9_000_000), vec![b'x'; 100 * (number % 5)]].concat();
            let sent = 1 + number % frame.len();
            stream.write_all(&frame[..sent]).unwrap();
            stream
        })
        .collect();
    assert_eq!(count(&fixture), [Value::Long(4)]);
    for mut stream in halves {
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        let mut rest = [0; 16];
        assert!(
            matches!(stream.read(&mut rest), Ok(0) | Err(_)),
            "it is still open"
        );
    }
    assert_eq!(count(&fixture), [Value::Long(4)]);
}

#[test]
fn messages_that_arrive_take_no_more_than_the_budget_of_bodies() {
    let fixture = Fixture::with(ServerConfig {
        max_body_bytes: 1 << 20,
        max_batch_body_bytes: 1 << 20,
        max_read_request_bytes: 2 << 20,
        admission_wait_ms: 500,
        body_read_timeout_ms: 20_000,
        ..ServerConfig::default()
    });
    fixture.people();
    let gate = fixture.server.state.admission().reads();
    let mut streams: Vec<TcpStream> = (0..16).map(|_| raw(&fixture)).collect();
    for stream in &mut streams {
        stream
            .set_write_timeout(Some(Duration::from_millis(200)))
            .unwrap();
        // What finds no room stays in the kernel, or the connection is closed.
        let _ = stream.write_all(&head(1 << 20));
        let _ = stream.write_all(&vec![b'x'; 900_000]);
        // The first one is in before others come; between many that come at once none may get
        // enough, and all are refused.
        await_that("one has its room", || gate.bytes_held() >= 900_000);
    }
    assert!(
        gate.bytes_held() > 0 && gate.bytes_held() <= 2 << 20,
        "{}",
        gate.bytes_held()
    );
    drop(streams);
    while gate.bytes_held() > 0 {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(count(&fixture), [Value::Long(4)]);
}

#[test]
fn values_of_a_message_are_charged_before_they_are_read() {
    let fixture = Fixture::with(ServerConfig {
        max_body_bytes: 1 << 20,
        max_batch_body_bytes: 1 << 20,
        max_read_request_bytes: 4 << 20,
        ..ServerConfig::default()
    });
    fixture.people();
    let mut driver = Driver::connect(&fixture.server, Format::GraphBinary);
    let bound = |value: Value| [("gremlin", text("1")), ("bindings", map(&[("x", value)]))];
    // A long text is one value.
    let long = driver.ask("", "eval", &bound(text(&"x".repeat(1_000_000))));
    assert_eq!(results(long), [Value::Int(1)]);
    let many = driver.ask("", "eval", &bound(Value::List(vec![Value::Null; 10_000])));
    assert_eq!(results(many), [Value::Int(1)]);
    let more = driver.ask("", "eval", &bound(Value::List(vec![Value::Null; 200_000])));
    assert_eq!(more[0].code, 499, "{more:?}");
    assert!(more[0].message.contains("bytes of memory"), "{more:?}");
}

#[test]
fn an_answer_waits_for_a_client_that_takes_nothing_and_the_client_is_cut() {
    let fixture = Fixture::with(ServerConfig {
        write_timeout_ms: 1_000,
        ..ServerConfig::default()
    });
    fixture.people();
    let mut driver = Driver::connect(&fixture.server, Format::GraphBinary);
    let long = text(&"x".repeat(20_000));
    let arguments = [
        (
            "gremlin",
            text("x = 0..1999; g.inject(x).unfold().constant(t)"),
        ),
        ("bindings", map(&[("t", long)])),
    ];
    driver.send("", "eval", &arguments);
    let budget = &fixture.server.state;
    while budget.answer_bytes() == 0 {
        std::thread::yield_now();
    }
    let mut most = 0;
    while budget.answer_bytes() > 0 {
        most = most.max(budget.answer_bytes());
        std::thread::sleep(Duration::from_millis(5));
    }
    // The results are 40 MB; some parts of them are written before the client takes them.
    assert!(most < 40_000_000 + (16 << 20), "{most}");
    assert_eq!(count(&fixture), [Value::Long(4)]);
}

#[test]
fn messages_without_end_hold_no_more_than_their_connection_may() {
    let fixture = Fixture::new();
    fixture.people();
    for format in FORMATS {
        let mut driver = Driver::connect(&fixture.server, format);
        let long = "g.V(1) // ".to_owned() + &"x".repeat(4_000);
        let ids: Vec<u128> = (0..300)
            .map(|_| driver.send("", "eval", &[("gremlin", text(&long))]))
            .collect();
        let mut answered: Vec<u128> = ids.iter().map(|_| driver.receive().id.unwrap()).collect();
        answered.sort_unstable();
        assert_eq!(answered, ids);
    }
}

#[test]
fn random_bytes_are_refused_or_end_their_connection_and_nothing_else() {
    let fixture = Fixture::new();
    fixture.people();
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    let tries = std::env::var("VARVE_FUZZ_FRAMES").map_or(300, |count| count.parse().unwrap());
    let mut driver = Driver::connect(&fixture.server, Format::GraphSon);
    for number in 0..tries {
        let mime = [Format::GraphSon, Format::GraphBinary][number % 2].mime();
        let mut frame = vec![mime.len() as u8];
        frame.extend_from_slice(mime.as_bytes());
        let valid = br#"{"requestId":"41d2e28a-20a4-4ab0-b379-d810dede3786","op":"eval","args":{"gremlin":"1"}}"#;
        frame.extend_from_slice(valid);
        for _ in 0..1 + random() % 8 {
            let at = random() as usize % frame.len();
            match random() % 3 {
                0 => frame[at] = random() as u8,
                1 => frame.truncate(at + 1),
                _ => frame.insert(at, random() as u8),
            }
        }
        driver.socket.send(Message::Binary(frame.into())).unwrap();
        // Every message has an answer, of whatever kind.
        assert!(driver.socket.read().unwrap().is_binary());
    }
    for _ in 0..tries.min(100) {
        let mut stream = raw(&fixture);
        let bytes: Vec<u8> = (0..random() % 64).map(|_| random() as u8).collect();
        let _ = stream.write_all(&bytes);
    }
    assert_eq!(count(&fixture), [Value::Long(4)]);
    let panics = &fixture.server.state.database().panics;
    assert_eq!(panics.load(std::sync::atomic::Ordering::Relaxed), 0);
}

#[test]
fn a_result_larger_than_an_answer_may_be_is_refused_before_it_is_written() {
    let fixture = Fixture::with(ServerConfig {
        max_answer_bytes: 4 << 20,
        ..ServerConfig::default()
    });
    fixture.people();
    // Each list is ten times the one before and takes next to nothing: all share one text.
    let list = |name, of| format!("{name} = [{}]; ", [of; 10].join(", "));
    let lists = [
        list("a", "t"),
        list("b", "a"),
        list("c", "b"),
        list("d", "c"),
    ];
    let large = format!("t = 'x' * 1000; {}[d]", lists.concat());
    let fits = format!("t = 'x' * 100; {}[d]", lists.concat());
    let folded = "g.V('1:marko').repeat(union(identity(), identity())).times(15).fold()";
    for format in FORMATS {
        let mut driver = Driver::connect(&fixture.server, format);
        for script in [&large, folded] {
            driver.refuses(script, 500, "server.max_answer_bytes");
        }
        assert_eq!(driver.results("g.V().count()"), [Value::Long(4)]);
        // What is within the limit is answered, whatever it shares.
        assert_eq!(driver.results(&fits).len(), 1);
    }
}

#[test]
fn pings_do_not_release_the_bytes_of_a_message_that_arrives() {
    let fixture = Fixture::with(ServerConfig {
        max_body_bytes: 1 << 20,
        max_batch_body_bytes: 1 << 20,
        max_read_request_bytes: 4 << 20,
        body_read_timeout_ms: 20_000,
        ..ServerConfig::default()
    });
    fixture.people();
    let gate = fixture.server.state.admission().reads();
    let mut stream = raw(&fixture);
    // The first fragment of a message, whole.
    let mut first = head(500_000);
    first[0] = 0x02;
    stream.write_all(&first).unwrap();
    stream.write_all(&vec![b'x'; 500_000]).unwrap();
    let ping = [0x89, 0x80 | 4, 0, 0, 0, 0, b'p', b'i', b'n', b'g'];
    let mut pong = [0; 6];
    for _ in 0..3 {
        stream.write_all(&ping).unwrap();
        stream.read_exact(&mut pong).unwrap();
        assert_eq!(&pong, b"\x8a\x04ping");
        assert!(gate.bytes_held() >= 500_000, "{}", gate.bytes_held());
    }
    drop(stream);
    while gate.bytes_held() > 0 {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(count(&fixture), [Value::Long(4)]);
}

#[test]
fn a_message_that_is_read_holds_what_its_values_take_and_no_more() {
    let fixture = Fixture::with(ServerConfig {
        max_body_bytes: 1 << 20,
        max_batch_body_bytes: 1 << 20,
        max_read_request_bytes: 4 << 20,
        admission_wait_ms: 300,
        ..ServerConfig::default()
    });
    fixture.people();
    let bound = |script: &str| {
        let value = map(&[("x", text(&"x".repeat(900_000)))]);
        [("gremlin", text(script)), ("bindings", value)]
    };
    let mut first = Driver::connect(&fixture.server, Format::GraphBinary);
    let id = first.send("", "eval", &bound("sleep(3000); 1"));
    let mut other = Driver::connect(&fixture.server, Format::GraphBinary);
    // While the first one sleeps, this is read.
    let second = other.ask("", "eval", &bound("2"));
    assert_eq!(results(second), [Value::Int(2)]);
    let done = first.receive();
    assert_eq!((done.id, done.code), (Some(id), 200), "{done:?}");
}
