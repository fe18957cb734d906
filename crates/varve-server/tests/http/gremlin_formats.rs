//! `/gremlin` over HTTP as TinkerPop's server answers it: where `Accept` or the body's type names
//! its formats, and at the listener of its own.

use std::net::SocketAddr;

use serde_json::{Value as Json, json};
use varve_graphson::{Bytecode, Format, Instruction, Request, Value, read_response, write_request};
use varve_server::{GremlinConfig, ServerConfig};
use varve_testkit::http::{Answer, Connection, request};

use crate::fixture::Fixture;

const GRAPHSON: &str = "application/vnd.gremlin-v3.0+json";
const GRAPHBINARY: &str = "application/vnd.graphbinary-v1.0";

fn people() -> Fixture {
    let fixture = Fixture::with(ServerConfig {
        gremlin: GremlinConfig {
            listen: "127.0.0.1:0".to_owned(),
            ..GremlinConfig::default()
        },
        ..ServerConfig::default()
    });
    fixture.people();
    fixture
}

fn send(address: SocketAddr, headers: &str, body: &[u8]) -> Answer {
    let request = request("POST", "/gremlin", headers, body);
    Connection::to(address).exchange(&request).unwrap()
}

fn script(text: &str) -> Vec<u8> {
    json!({"gremlin": text}).to_string().into_bytes()
}

#[track_caller]
fn results(answer: &Answer, mime: &str) -> Vec<Value> {
    assert_eq!(
        answer.status,
        200,
        "{:?}",
        String::from_utf8_lossy(&answer.body)
    );
    assert_eq!(answer.header("content-type"), Some(mime));
    let format = Format::from_mime(mime).unwrap();
    let response = read_response(format, &answer.body).unwrap();
    match (response.code, response.data) {
        (200, Value::List(items)) => items,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_types_that_a_client_accepts_decide_how_results_are_written() {
    let fixture = people();
    let address = fixture.server.address();
    let json_type = "content-type: application/json\r\n";
    let body = script("g.V('1:marko').values('age')");
    for mime in [GRAPHSON, GRAPHBINARY] {
        let answer = send(address, &format!("{json_type}accept: {mime}\r\n"), &body);
        assert_eq!(results(&answer, mime), [Value::Int(29)]);
        let several = format!("{json_type}accept: text/html, {mime}, */*;q=0.1\r\n");
        assert_eq!(
            results(&send(address, &several, &body), mime),
            [Value::Int(29)]
        );
        let none = script("g.V('1:nobody')");
        let answer = send(address, &format!("{json_type}accept: {mime}\r\n"), &none);
        assert_eq!(results(&answer, mime), []);
    }
    for accept in ["", "accept: */*\r\n", "accept: application/json\r\n"] {
        let answer = send(address, &format!("{json_type}{accept}"), &body);
        let flat: Json = serde_json::from_str(answer.text()).unwrap();
        assert_eq!(flat["result"]["data"], json!([29]), "{accept}");
    }
    for other in [
        "text/html",
        "application/vnd.gremlin-v2.0+json",
        "application/vnd.gremlin-v3.0+json;types=false",
        "application/vnd.gremlin-v1.0+json; q=0.9",
    ] {
        let refused = send(address, &format!("{json_type}accept: {other}\r\n"), &body);
        assert_eq!(refused.status, 406, "{other}");
        let refused = send(address, &format!("content-type: {other}\r\n"), &body);
        assert_eq!(refused.status, 415, "{other}");
    }
    // All results are in one answer, and elements are whole.
    let many = script("x = 0..999; g.with('batchSize', 10).inject(x).unfold()");
    let answer = send(
        address,
        &format!("{json_type}accept: {GRAPHBINARY}\r\n"),
        &many,
    );
    assert_eq!(results(&answer, GRAPHBINARY).len(), 1_000);
    let vertex = script("g.V('1:marko')");
    let answer = send(
        address,
        &format!("{json_type}accept: {GRAPHSON}\r\n"),
        &vertex,
    );
    let found = results(&answer, GRAPHSON);
    let [Value::Vertex(marko)] = found.as_slice() else {
        panic!("{found:?}");
    };
    assert_eq!(marko.properties.len(), 3);
}

#[test]
fn the_console_gets_texts() {
    let fixture = people();
    let mime = "application/vnd.graphbinary-v1.0-stringd";
    let headers = format!("content-type: application/json\r\naccept: {mime}\r\n");
    let body = script("[g.V('1:marko').next(), 1.5, null, [a: 1], 'x']");
    let answer = send(fixture.server.address(), &headers, &body);
    let texts = ["v[1:marko]", "1.5", "null", "{a=1}", "x"];
    assert_eq!(
        results(&answer, mime),
        texts.map(|text| Value::String(text.into()))
    );
}

#[test]
fn bodies_may_be_plain_json_graphson_or_messages() {
    let fixture = people();
    let address = fixture.server.address();
    let bound = json!({"gremlin": "g.V(x).values('age')", "bindings": {"x": "1:marko"},
        "aliases": {"g": "__g_hugegraph"}, "language": "gremlin-lang"});
    let accept = format!("accept: {GRAPHSON}\r\n");
    let answer = send(address, &accept, bound.to_string().as_bytes());
    assert_eq!(
        results(&answer, GRAPHSON),
        [Value::Int(29)],
        "without a type"
    );
    let typed = json!({"gremlin": "g.inject(x)", "bindings": {"x":
        {"@type": "g:Int64", "@value": 7}}});
    let answer = send(address, &accept, typed.to_string().as_bytes());
    assert_eq!(results(&answer, GRAPHSON), [Value::Long(7)]);
    let step = |name: &str, arguments: &[Value]| Instruction {
        name: name.into(),
        arguments: arguments.to_vec(),
    };
    let traversal = Bytecode {
        steps: vec![
            step("inject", &[Value::Int(1), Value::Int(1)]),
            step("barrier", &[]),
        ],
        source: Vec::new(),
    };
    let request = Request {
        id: 7,
        op: "bytecode".into(),
        processor: "traversal".into(),
        arguments: vec![("gremlin".into(), Value::Bytecode(traversal))],
    };
    let traverser = Value::Traverser {
        bulk: 2,
        value: Box::new(Value::Int(1)),
    };
    for mime in [GRAPHSON, GRAPHBINARY] {
        let mut body = Vec::new();
        write_request(Format::from_mime(mime).unwrap(), &request, &mut body);
        let answer = send(address, &format!("content-type: {mime}\r\n"), &body);
        assert_eq!(results(&answer, mime), std::slice::from_ref(&traverser));
    }
    let get = "GET /gremlin?gremlin=g.V(x).count()&bindings.x=1:marko HTTP/1.1\r\nhost: h\r\n";
    let mut client = Connection::to(address);
    client.send(format!("{get}{accept}\r\n").as_bytes());
    assert_eq!(results(&client.receive(), GRAPHSON), [Value::Long(1)]);
}

#[test]
fn errors_have_the_form_of_tinkerpops_server() {
    let fixture = people();
    let headers = format!("content-type: application/json\r\naccept: {GRAPHSON}\r\n");
    for (body, status, exception, message) in [
        (
            script("g.V().nonsense()"),
            500,
            "groovy.lang.MissingMethodException",
            "nonsense",
        ),
        (
            script("h.V()"),
            500,
            "groovy.lang.MissingPropertyException",
            "No such property: h",
        ),
        (
            script("g.with('evaluationTimeout', 20).V().repeat(both()).count()"),
            500,
            "java.util.concurrent.TimeoutException",
            "evaluationTimeout",
        ),
        (
            b"{".to_vec(),
            400,
            "OpProcessorException",
            "could not be parsed",
        ),
        (b"{}".to_vec(), 400, "OpProcessorException", "[gremlin]"),
    ] {
        let answer = send(fixture.server.address(), &headers, &body);
        assert_eq!(answer.status, status, "{}", answer.text());
        let error: Json = serde_json::from_str(answer.text()).unwrap();
        let class = error["Exception-Class"].as_str().unwrap();
        assert!(class.contains(exception), "{error}");
        assert!(
            error["message"].as_str().unwrap().contains(message),
            "{error}"
        );
        assert_eq!(error["exceptions"], json!([class]));
        let code = error["code"].as_str().unwrap();
        assert!(code.starts_with("VRV-"), "{error}");
        if message == "evaluationTimeout" {
            let text = error["message"].as_str().unwrap();
            assert!(text.contains("threshold of 20 ms"), "{text}");
        }
    }
}

#[test]
fn the_listener_of_its_own_answers_as_tinkerpops_server_and_serves_nothing_else() {
    let fixture = people();
    let address = fixture.server.gremlin_address();
    let body = script("g.V('1:marko').values('age')");
    for headers in ["", "accept: */*\r\n", "accept: application/json\r\n"] {
        let answer = send(address, headers, &body);
        assert_eq!(results(&answer, "application/json"), [Value::Int(29)]);
    }
    let get = |path: &str| {
        let mut client = Connection::to(address);
        client.get(path)
    };
    assert_eq!(get("/health").status, 200);
    let other = get("/graphs");
    assert_eq!(other.status, 404);
    assert!(other.text().contains("gremlin.listen"), "{}", other.text());
}

#[test]
fn a_page_of_another_site_may_not_ask() {
    let fixture = people();
    let origin = "origin: https://evil.example\r\n";
    let body = script("g.V()");
    assert_eq!(send(fixture.server.address(), origin, &body).status, 403);
    assert_eq!(
        send(fixture.server.gremlin_address(), origin, &body).status,
        403
    );
}
