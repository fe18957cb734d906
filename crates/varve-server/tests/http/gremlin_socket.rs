//! The WebSocket of TinkerPop's drivers: both formats, requests of all kinds, parts, errors, many
//! requests at a time, what ends a connection.

use std::io::Write;
use std::time::Duration;

use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, Message};
use varve_graphson::{DateTime, Format, Response, Value, read_response};
use varve_server::ServerConfig;
use varve_testserver::driver::{Driver, FORMATS, map, results, step, steps, text};

use crate::fixture::Fixture;

fn people() -> Fixture {
    let fixture = Fixture::new();
    fixture.people();
    fixture
}

#[test]
fn scripts_and_bytecode_are_answered_in_both_formats() {
    let fixture = people();
    for format in FORMATS {
        let mut driver = Driver::connect(&fixture.server, format);
        let names = "g.V('1:marko').out('knows').values('name').order()";
        assert_eq!(driver.results(names), [text("josh"), text("vadas")]);
        let arguments = [
            ("gremlin", text("g.V(x).values('age')")),
            ("bindings", map(&[("x", text("1:marko"))])),
            ("aliases", map(&[("g", text("__g_hugegraph"))])),
        ];
        let ages = driver.ask("", "eval", &arguments);
        assert_eq!(results(ages), [Value::Int(29)]);
        let traversal = steps(&[
            step("V", &[]),
            step("hasLabel", &[text("person")]),
            step("label", &[]),
            step("barrier", &[]),
        ]);
        let arguments = [
            ("gremlin", traversal),
            ("aliases", map(&[("g", text("g"))])),
        ];
        let labels = driver.ask("traversal", "bytecode", &arguments);
        let traverser = Value::Traverser {
            bulk: 3,
            value: Box::new(text("person")),
        };
        assert_eq!(results(labels), [traverser]);
        let nothing = driver.eval("g.V('1:nobody')");
        assert_eq!((nothing.len(), nothing[0].code), (1, 204));
    }
}

#[test]
fn elements_come_with_their_properties_unless_tokens_are_asked_for() {
    let fixture = people();
    for format in FORMATS {
        let mut driver = Driver::connect(&fixture.server, format);
        let found = driver.results("g.V('1:marko').outE('knows').inV().has('name','vadas').path()");
        let [Value::Path(path)] = found.as_slice() else {
            panic!("{found:?}");
        };
        let [
            Value::Vertex(marko),
            Value::Edge(knows),
            Value::Vertex(vadas),
        ] = path.objects.as_slice()
        else {
            panic!("{path:?}");
        };
        assert_eq!(
            (marko.id.clone(), marko.label.as_str()),
            (text("1:marko"), "person")
        );
        let of = |vertex: &varve_graphson::Vertex| {
            let each = vertex.properties.iter();
            each.map(|property| (property.label.to_string(), property.value.clone()))
                .collect::<Vec<_>>()
        };
        assert!(
            of(marko).contains(&("age".to_owned(), Value::Int(29))),
            "{marko:?}"
        );
        assert!(
            of(vadas).contains(&("name".to_owned(), text("vadas"))),
            "{vadas:?}"
        );
        assert_eq!(
            (knows.out_id.clone(), knows.in_label.as_str()),
            (text("1:marko"), "person")
        );
        assert!(!knows.properties.is_empty(), "{knows:?}");
        let arguments = [
            ("gremlin", text("g.V('1:marko')")),
            ("materializeProperties", text("tokens")),
        ];
        let found = results(driver.ask("", "eval", &arguments));
        let [Value::Vertex(marko)] = found.as_slice() else {
            panic!("{found:?}");
        };
        assert!(marko.properties.is_empty(), "{marko:?}");
        let option = "g.with('materializeProperties','tokens').V('1:marko')";
        let found = driver.results(option);
        let [Value::Vertex(marko)] = found.as_slice() else {
            panic!("{found:?}");
        };
        assert!(marko.properties.is_empty(), "{marko:?}");
    }
}

#[test]
fn results_come_in_parts_of_the_size_that_the_client_asks_for() {
    let fixture = people();
    for format in FORMATS {
        let mut driver = Driver::connect(&fixture.server, format);
        let script = "x = 0..149; g.inject(x).unfold()";
        let parts = driver.eval(script);
        let codes: Vec<i32> = parts.iter().map(|part| part.code).collect();
        assert_eq!(codes, [206, 206, 200]);
        let numbers: Vec<Value> = (0..150).map(Value::Int).collect();
        assert_eq!(results(parts), numbers);
        for (batch, count) in [(100, 2), (150, 1), (1, 150)] {
            let arguments = [("gremlin", text(script)), ("batchSize", Value::Int(batch))];
            let parts = driver.ask("", "eval", &arguments);
            assert_eq!(parts.len(), count, "{batch}");
            assert_eq!(results(parts), numbers);
        }
    }
}

#[test]
fn large_answers_end_their_parts_early() {
    let fixture = people();
    let mut driver = Driver::connect(&fixture.server, Format::GraphBinary);
    // 150 texts of 100,000 bytes: more than one part may have, though the batch is larger.
    let long = text(&"x".repeat(100_000));
    let arguments = [
        (
            "gremlin",
            text("x = 0..149; g.inject(x).unfold().constant(t)"),
        ),
        ("bindings", map(&[("t", long.clone())])),
        ("batchSize", Value::Int(1_000)),
    ];
    let parts = driver.ask("", "eval", &arguments);
    assert!(parts.len() > 1, "{}", parts[0].message);
    let all = results(parts);
    assert_eq!(all, vec![long; 150]);
}

#[test]
fn what_is_refused_has_the_codes_of_the_protocol() {
    let fixture = people();
    for format in FORMATS {
        let mut driver = Driver::connect(&fixture.server, format);
        driver.refuses("g.V().filter{it}", 597, "Failed to interpret Gremlin query");
        driver.refuses("g.V(", 597, "Query parsing failed at line 1");
        driver.refuses("h.V()", 597, "No such property: h");
        driver.refuses("System.exit(-1)", 597, "System.exit()");
        let status_of = |parts: Vec<Response>| (parts[0].code, parts[0].message.to_string());
        let parts = driver.ask("", "foo", &[]);
        assert_eq!(
            status_of(parts),
            (
                498,
                "Message with op code [foo] is not recognized.".to_owned()
            )
        );
        let parts = driver.ask("elsewhere", "eval", &[]);
        assert_eq!(
            status_of(parts),
            (499, "Invalid OpProcessor requested [elsewhere]".to_owned())
        );
        let parts = driver.ask("", "eval", &[]);
        assert_eq!(parts[0].code, 499);
        let arguments = [
            ("gremlin", text("g.V()")),
            ("aliases", map(&[("g", text("nowhere"))])),
        ];
        let (code, message) = status_of(driver.ask("", "eval", &arguments));
        assert_eq!(code, 499);
        assert_eq!(
            message,
            "Could not alias [g] to [nowhere] as [nowhere] not in the Graph or TraversalSource \
             global bindings"
        );
        let unknown = steps(&[step("nonsense", &[])]);
        let (code, _) = status_of(driver.ask("traversal", "bytecode", &[("gremlin", unknown)]));
        assert_eq!(code, 599);
        let failing = steps(&[step("V", &[]), step("limit", &[text("x")])]);
        let (code, _) = status_of(driver.ask("traversal", "bytecode", &[("gremlin", failing)]));
        assert!(matches!(code, 500 | 599), "{code}");
        // The connection goes on.
        assert_eq!(driver.results("g.V().count()"), [Value::Long(4)]);
    }
}

#[test]
fn a_request_ends_when_the_time_that_it_names_is_over() {
    let fixture = people();
    let endless = "g.V().repeat(both()).count()";
    for format in FORMATS {
        let mut driver = Driver::connect(&fixture.server, format);
        let arguments = [
            ("gremlin", text(endless)),
            ("evaluationTimeout", Value::Int(30)),
        ];
        let parts = driver.ask("", "eval", &arguments);
        assert_eq!(parts[0].code, 598, "{parts:?}");
        let threshold = "'evaluationTimeout' threshold of 30 ms";
        assert!(parts[0].message.contains(threshold), "{parts:?}");
        driver.refuses(
            "g.with('evaluationTimeout', 30).V().repeat(both()).count()",
            598,
            "'evaluationTimeout' threshold",
        );
    }
}

#[test]
fn requests_of_one_connection_are_worked_on_side_by_side() {
    let fixture = people();
    let mut driver = Driver::connect(&fixture.server, Format::GraphBinary);
    let endless = [
        ("gremlin", text("g.V().repeat(both()).count()")),
        ("evaluationTimeout", Value::Int(10_000)),
    ];
    driver.send("", "eval", &endless);
    let count = [("gremlin", text("g.V().count()"))];
    for _ in 0..10 {
        let id = driver.send("", "eval", &count);
        let answer = driver.receive();
        assert_eq!((answer.id, answer.code), (Some(id), 200), "{answer:?}");
    }
    let ids: Vec<u128> = (0..200).map(|_| driver.send("", "eval", &count)).collect();
    let mut answered: Vec<u128> = (0..200).map(|_| driver.receive().id.unwrap()).collect();
    answered.sort_unstable();
    assert_eq!(answered, ids);
}

#[test]
fn a_query_ends_when_its_connection_does() {
    let fixture = people();
    let mut driver = Driver::connect(&fixture.server, Format::GraphSon);
    let endless = [("gremlin", text("g.V().repeat(both()).count()"))];
    driver.send("", "eval", &endless);
    let gate = fixture.server.state.admission().reads();
    while gate.in_flight() == 0 {
        std::thread::yield_now();
    }
    drop(driver);
    while gate.in_flight() > 0 || fixture.server.state.database().pool.in_work() > 0 {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(fixture.server.state.database().running.abandoned(), 1);
}

#[test]
fn a_text_frame_is_graphson_without_a_type() {
    let fixture = people();
    let mut driver = Driver::connect(&fixture.server, Format::GraphSon);
    let request = r#"{"requestId":"41d2e28a-20a4-4ab0-b379-d810dede3786","op":"eval",
        "args":{"gremlin":"g.V(x).values('name')","bindings":{"x":"1:marko"}}}"#;
    driver.socket.send(Message::text(request)).unwrap();
    let answer = driver.socket.read().unwrap();
    assert!(answer.is_text(), "{answer:?}");
    let answer = read_response(Format::GraphSon, &answer.into_data()).unwrap();
    assert_eq!(results(vec![answer]), [text("marko")]);
}

#[test]
fn a_message_that_is_none_is_refused_and_the_connection_goes_on() {
    let fixture = people();
    let mut driver = Driver::connect(&fixture.server, Format::GraphSon);
    for frame in [
        b"".as_slice(),
        b"\x05plain",
        b"\xffapplication/json",
        b"\x10application/json{",
        b"\x10application/json{\"requestId\":7}",
        b"\x20application/vnd.graphbinary-v1.0\x81",
    ] {
        let frame = frame.to_vec();
        driver
            .socket
            .send(Message::Binary(frame.clone().into()))
            .unwrap();
        let answer = driver.socket.read().unwrap().into_data();
        let format = match frame.ends_with(b"v1.0\x81") {
            true => Format::GraphBinary,
            false => Format::GraphSon,
        };
        let answer = read_response(format, &answer).unwrap();
        assert_eq!((answer.id, answer.code), (None, 498), "{answer:?}");
    }
    // What cannot be read is refused under its own id.
    let unknown = br#"{"requestId":"41d2e28a-20a4-4ab0-b379-d810dede3786","op":"eval",
        "args":{"gremlin":{"@type":"g:Nonsense","@value":1}}}"#;
    let frame = [b"\x10application/json".as_slice(), unknown].concat();
    driver.socket.send(Message::Binary(frame.into())).unwrap();
    let answer = driver.receive();
    assert_eq!(answer.id, Some(0x41d2_e28a_20a4_4ab0_b379_d810_dede_3786));
    assert_eq!(driver.results("g.V().count()"), [Value::Long(4)]);
}

#[test]
fn a_message_over_the_limit_closes_the_connection_with_the_reason() {
    let fixture = Fixture::with(ServerConfig {
        max_body_bytes: 10_000,
        ..ServerConfig::default()
    });
    fixture.people();
    let mut driver = Driver::connect(&fixture.server, Format::GraphSon);
    let long = format!("g.V().has('name','{}')", "x".repeat(9_000));
    assert_eq!(driver.results(&long).len(), 0);
    let longer = format!("g.V().has('name','{}')", "x".repeat(10_000));
    driver.send("", "eval", &[("gremlin", text(&longer))]);
    match driver.socket.read() {
        Ok(Message::Close(Some(frame))) => assert_eq!(frame.code, CloseCode::Size),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_stop_answers_what_is_in_work_and_closes() {
    let fixture = people();
    let mut driver = Driver::connect(&fixture.server, Format::GraphSon);
    assert_eq!(driver.results("g.V().count()"), [Value::Long(4)]);
    fixture.server.request_stop();
    match driver.socket.read() {
        Ok(Message::Close(Some(frame))) => assert_eq!(frame.code, CloseCode::Away),
        other => panic!("{other:?}"),
    }
    fixture.server.wait();
}

#[test]
fn the_handshake_names_what_is_missing_and_pages_of_other_sites_are_refused() {
    let fixture = people();
    let upgrade =
        "GET /gremlin HTTP/1.1\r\nhost: h\r\nconnection: upgrade\r\nupgrade: websocket\r\n";
    let send = |headers: &str| {
        let mut client = fixture.server.connect();
        client.send(format!("{upgrade}{headers}\r\n").as_bytes());
        client.receive()
    };
    let version = send("sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n");
    assert_eq!(version.status, 400);
    assert!(version.text().contains("Sec-WebSocket-Version: 13"));
    let key = send("sec-websocket-version: 13\r\n");
    assert!(key.text().contains("Sec-WebSocket-Key"), "{}", key.text());
    let whole = "sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    let accepted = send(whole);
    assert_eq!(accepted.status, 101);
    let accept = accepted.header("sec-websocket-accept");
    assert_eq!(accept, Some("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
    let foreign = send(&format!("{whole}origin: https://evil.example\r\n"));
    assert_eq!(foreign.status, 403);
}

#[test]
fn drivers_before_3_8_get_dates_as_milliseconds() {
    let fixture = people();
    let script = "g.inject(datetime('2023-08-02T01:00:00.5+01:00')).fold()";
    for format in FORMATS {
        for (version, wanted) in [
            ("3.7.3", Value::Date(1_690_934_400_500)),
            (
                "3.8.1",
                Value::DateTime(DateTime {
                    seconds: 1_690_934_400,
                    nanoseconds: 500_000_000,
                    offset: 3_600,
                }),
            ),
        ] {
            let agent = format!("NotAvailable Gremlin-Python.{version} 3.11.2 Linux.6.1 x86_64");
            let mut driver = Driver::named(&fixture.server, format, "/gremlin", &agent);
            let list = Value::List(vec![wanted]);
            assert_eq!(driver.results(script), [list], "{version} {format:?}");
        }
    }
}

#[test]
fn the_parameters_of_the_address_hold_for_every_request_of_the_connection() {
    let fixture = people();
    let mut driver = Driver::at(
        &fixture.server,
        Format::GraphSon,
        "/gremlin?as_of=2000-01-01",
    );
    assert_eq!(driver.results("g.V().count()"), [Value::Long(0)]);
}

#[test]
fn a_frame_without_a_mask_ends_the_connection() {
    let fixture = people();
    let mut driver = Driver::connect(&fixture.server, Format::GraphSon);
    driver.socket.get_mut().write_all(&[0x82, 1, 0]).unwrap();
    match driver.socket.read() {
        Ok(Message::Close(Some(frame))) => assert_eq!(frame.code, CloseCode::Protocol),
        Err(Error::ConnectionClosed | Error::Io(_) | Error::Protocol(_)) => {}
        other => panic!("{other:?}"),
    }
}
