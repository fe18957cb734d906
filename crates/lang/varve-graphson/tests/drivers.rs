//! Messages of drivers: values and bytecode as gremlinpython 3.8.1 writes them
//! (`fixtures/make.py`).

use varve_graphson::{
    Format, Frame, Request, Response, VALUES_MAX, Value, WireError, graphbinary, graphson,
    read_request, read_response, wants_texts, write_request, write_response,
};
use varve_gremlin::bytecode::from_bytecode;

const FIXTURES: &str = include_str!("fixtures/gremlinpython.tsv");

struct Fixture {
    name: &'static str,
    json: Option<Value>,
    binary: Option<(Vec<u8>, Value)>,
}

fn bytes(digits: &str) -> Vec<u8> {
    let pairs = digits.as_bytes().chunks(2);
    let byte = |pair| {
        let digits = std::str::from_utf8(pair).expect("ASCII");
        u8::from_str_radix(digits, 16).expect("two digits")
    };
    pairs.map(byte).collect()
}

fn fixtures() -> Vec<Fixture> {
    let fixture = |line: &'static str| {
        let parts: Vec<&str> = line.split('\t').collect();
        let [name, json, binary] = parts[..] else {
            panic!("{line}")
        };
        let json = (json != "-").then(|| {
            graphson::read(json.as_bytes()).unwrap_or_else(|error| panic!("{name}: {error}"))
        });
        let binary = (binary != "-").then(|| {
            let bytes = bytes(binary);
            let value = graphbinary::read(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
            (bytes, value)
        });
        Fixture { name, json, binary }
    };
    FIXTURES
        .lines()
        .filter(|line| !line.starts_with("request "))
        .map(fixture)
        .collect()
}

#[test]
fn both_formats_of_a_value_are_the_same_value() {
    let mut compared = 0;
    for Fixture { name, json, binary } in fixtures() {
        let (Some(json), Some((_, binary))) = (json, binary) else {
            continue;
        };
        // NaN is not equal to itself, and the driver encodes lists in predicates differently by
        // format.
        if name == "nan" || name.starts_with("bytecode") {
            continue;
        }
        assert_eq!(json, binary, "{name}");
        compared += 1;
    }
    assert!(compared > 30, "{compared}");
}

#[test]
fn what_is_written_is_what_the_driver_wrote() {
    for Fixture { name, binary, json } in fixtures() {
        if let Some((bytes, value)) = binary {
            let mut written = Vec::new();
            graphbinary::write(&value, &mut written);
            // The driver does not write large numbers in the shortest form.
            if name == "bigint" || name == "decimal" {
                assert_eq!(graphbinary::read(&written), Ok(value));
            } else {
                assert_eq!(written, bytes, "{name}");
            }
        }
        if let Some(value) = json.filter(|_| name != "nan") {
            let mut written = Vec::new();
            graphson::write(&value, &mut written);
            assert_eq!(graphson::read(&written), Ok(value), "{name}");
        }
    }
}

/// The text of each fixture's bytecode.
const TEXTS: &[(&str, &str)] = &[
    (
        "within",
        "g.V().has('person', 'name', P.within('marko', 'vadas')).out('knows').limit(2)",
    ),
    (
        "predicates",
        "g.V().is(P.gt(1).and(P.lt(3)).or(P.eq(9))).is(P.not(P.eq(1))).is(P.between(1, 2)).is(P.inside(1, 2))",
    ),
    (
        "text",
        "g.V().has('name', TextP.startingWith('m').and(TextP.regex('a.*')))",
    ),
    (
        "repeat",
        "g.V(1, 2L).repeat(__.out().simplePath()).until(__.hasId(3)).emit().path()",
    ),
    (
        "sources",
        "g.with('evaluationTimeout', 500).with('x', true).withSack(1.0, Operator.sum).withSideEffect('a', [1]).V()",
    ),
    (
        "strategies",
        "g.withStrategies(new SubgraphStrategy(vertices: __.hasLabel('person')), ReadOnlyStrategy, \
      new PartitionStrategy(partitionKey: 'p', writePartition: 'a', readPartitions: ['a', 'b'])).V()",
    ),
    ("without", "g.withoutStrategies(ReadOnlyStrategy).V()"),
    (
        "merge",
        "g.mergeV([(T.label): 'person', 'name': 'marko']).option(Merge.onCreate, ['age': Cardinality.list(33)]).option(Merge.onMatch, ['age': null])",
    ),
    (
        "merge edge",
        "g.mergeE([(Direction.OUT): 1, (Direction.IN): 2, (T.label): 'knows'])",
    ),
    ("binding", "g.V(1).out('knows')"),
    (
        "elements",
        "g.V(new Vertex(1, 'person')).addE('knows').to(new Vertex(2, 'person')).property('since', 2010)",
    ),
    (
        "choose",
        "g.V().choose(__.out().count()).option(2, __.values('name')).option(Pick.none, __.discard())",
    ),
    (
        "order",
        "g.V().order().by('age', Order.desc).by(T.id).by(__.out().count(), Order.asc).select(Pop.last, 'a')",
    ),
    (
        "options",
        "g.V().valueMap().with('~tinkerpop.valueMap.tokens', 2)",
    ),
    (
        "types",
        "g.V().values('age').is(P.typeOf(GType.INT)).asNumber(GType.LONG)",
    ),
    (
        "dates",
        "g.inject(datetime('2023-08-02T00:00:00Z')).dateAdd(DT.day, 1)",
    ),
    (
        "identity",
        "g.V().map(__.identity()).flatMap(__.identity())",
    ),
];

fn script(value: Value) -> String {
    let Value::Bytecode(bytecode) = value else {
        panic!("{value:?}")
    };
    let bytecode = bytecode.into_gremlin().expect("arguments only");
    from_bytecode(bytecode).map_or_else(
        |error| error.code.text().to_owned(),
        |tree| tree.to_string(),
    )
}

#[test]
fn bytecode_of_both_formats_is_the_traversal_that_the_client_wrote() {
    let mut compared = 0;
    for Fixture { name, json, binary } in fixtures() {
        let Some(name) = name.strip_prefix("bytecode ") else {
            continue;
        };
        let Some((_, text)) = TEXTS.iter().find(|(known, _)| *known == name) else {
            assert_eq!(name, "lambda");
            continue;
        };
        for value in json.into_iter().chain(binary.map(|(_, value)| value)) {
            assert_eq!(script(value), *text, "{name}");
            compared += 1;
        }
    }
    assert_eq!(compared, 2 * TEXTS.len());
}

#[test]
fn lambdas_are_refused_by_name() {
    let lambda = fixtures()
        .into_iter()
        .find(|fixture| fixture.name == "bytecode lambda");
    let lambda = lambda.expect("a fixture");
    assert_eq!(script(lambda.json.expect("JSON")), "gremlin_closure");
    assert_eq!(script(lambda.binary.expect("binary").1), "gremlin_closure");
}

#[test]
fn a_type_that_no_argument_has_is_an_error() {
    let path = br#"{"@type":"g:Path","@value":{"labels":{"@type":"g:List","@value":[]},"objects":{"@type":"g:List","@value":[]}}}"#;
    let path = graphson::read(path).expect("a path");
    assert_eq!(
        path.into_gremlin(),
        Err(WireError::Unsupported("Path".into()))
    );
}

/// The request with this name in both formats.
fn requests(name: &str) -> [Request; 2] {
    let line = FIXTURES
        .lines()
        .find_map(|line| line.strip_prefix("request ")?.strip_prefix(name));
    let frames: Vec<Vec<u8>> = line
        .expect("a request")
        .trim()
        .split('\t')
        .map(bytes)
        .collect();
    let read = |frame: &[u8], expected: Format| {
        let frame = Frame::split(frame).expect("a mime type");
        let (format, message) = (frame.format().expect("a known one"), frame.message);
        assert_eq!(format, expected);
        read_request(format, message, VALUES_MAX).expect("a request")
    };
    [
        read(&frames[0], Format::GraphSon),
        read(&frames[1], Format::GraphBinary),
    ]
}

#[test]
fn requests_of_both_formats_are_read() {
    let string = |text: &str| Value::String(text.into());
    let map = |key: &str, value: Value| Value::Map(vec![(string(key), value)]);
    for request in requests("eval") {
        assert_eq!(request.id, 0x3f3c_0000_0000_4000_8000_0000_0000_5e6f);
        assert_eq!(
            (request.op.as_str(), request.processor.as_str()),
            ("eval", "")
        );
        assert_eq!(request.argument("gremlin"), Some(&string("g.V(x)")));
        assert_eq!(request.argument("bindings"), Some(&map("x", Value::Int(1))));
        assert_eq!(
            request.argument("aliases"),
            Some(&map("g", string("gmodern")))
        );
        assert_eq!(request.argument("batchSize"), Some(&Value::Int(64)));
        assert_eq!(request.argument("session"), None);
    }
    for request in requests("bytecode") {
        assert_eq!(
            (request.op.as_str(), request.processor.as_str()),
            ("bytecode", "traversal")
        );
        let bytecode = request.argument("gremlin").cloned().expect("bytecode");
        assert_eq!(script(bytecode), "g.V(1).out()");
    }
    for request in requests("authentication") {
        assert_eq!(request.argument("sasl"), Some(&string("AHVzZXIAcGFzcw==")));
    }
    for request in requests("close") {
        assert_eq!(request.argument("session"), Some(&string("a1")));
    }
}

#[test]
fn requests_and_responses_survive_both_formats() {
    let [request, _] = requests("eval");
    let response = Response {
        id: Some(request.id),
        code: 206,
        message: "a \"b\"".into(),
        attributes: vec![("exceptions".into(), Value::List(vec![Value::Null]))],
        data: Value::List(vec![Value::Int(1)]),
    };
    let unread = Response {
        id: None,
        data: Value::Null,
        ..response.clone()
    };
    for format in [Format::GraphSon, Format::GraphBinary] {
        let mut bytes = Vec::new();
        write_request(format, &request, &mut bytes);
        assert_eq!(
            read_request(format, &bytes, VALUES_MAX).as_ref(),
            Ok(&request)
        );
        for response in [&response, &unread] {
            let mut bytes = Vec::new();
            write_response(format, response, &mut bytes);
            assert_eq!(read_response(format, &bytes).as_ref(), Ok(response));
        }
    }
    let mut bytes = Vec::new();
    write_response(Format::GraphSon, &unread, &mut bytes);
    assert_eq!(
        String::from_utf8_lossy(&bytes),
        r#"{"requestId":null,"status":{"message":"a \"b\"","code":206,"attributes":{"@type":"g:Map","@value":["exceptions",{"@type":"g:List","@value":[null]}]}},"result":{"data":null,"meta":{"@type":"g:Map","@value":[]}}}"#
    );
}

#[test]
fn frames_that_are_cut_make_errors() {
    for line in FIXTURES
        .lines()
        .filter_map(|line| line.strip_prefix("request "))
    {
        for frame in line.split('\t').skip(1).map(bytes) {
            for end in 0..frame.len() {
                let read = Frame::split(&frame[..end])
                    .and_then(|frame| read_request(frame.format()?, frame.message, VALUES_MAX));
                assert!(read.is_err(), "{end}");
            }
        }
    }
    let unknown = Frame::split(b"\x03a/b{}").expect("whole");
    assert!(unknown.format().is_err());
    assert_eq!(unknown.likely_format(), Format::GraphSon);
}

#[test]
fn a_frame_of_the_console_is_graphbinary_with_texts() {
    let frame = |mime: &str| [&[mime.len() as u8], mime.as_bytes(), b"x"].concat();
    let console = frame("application/vnd.graphbinary-v1.0-stringd");
    let console = Frame::split(&console).expect("whole");
    assert_eq!(console.format(), Ok(Format::GraphBinary));
    assert!(console.wants_texts() && console.message == b"x");
    assert!(wants_texts("application/vnd.graphbinary-v1.0-stringd; q=1"));
    for mime in ["application/vnd.graphbinary-v1.0", "application/json"] {
        let plain = frame(mime);
        assert!(
            !Frame::split(&plain).expect("whole").wants_texts(),
            "{mime}"
        );
    }
    let newer = frame("application/vnd.graphbinary-v4.0");
    let newer = Frame::split(&newer).expect("whole");
    assert!(newer.format().is_err());
    assert_eq!(newer.likely_format(), Format::GraphBinary);
}
