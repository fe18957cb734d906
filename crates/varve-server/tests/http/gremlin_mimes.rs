//! The WebSocket of TinkerPop's drivers: the mime types of messages, and errors in their format.

use varve_graphson::{Format, Value};
use varve_testserver::driver::{Driver, map, results, text};

use crate::fixture::Fixture;

fn people() -> Fixture {
    let fixture = Fixture::new();
    fixture.people();
    fixture
}

#[test]
fn the_console_gets_texts() {
    let fixture = people();
    let mut console = Driver::connect(&fixture.server, Format::GraphBinary);
    console.mime = "application/vnd.graphbinary-v1.0-stringd";
    let names = "g.V('1:marko').out('knows').order().by('name')";
    assert_eq!(
        console.results(names),
        [text("v[1:josh]"), text("v[1:vadas]")]
    );
    assert_eq!(
        console.results("[1, 2.5, null]"),
        ["1", "2.5", "null"].map(text)
    );
    assert_eq!(
        console.results("g.inject(7, 7).barrier()"),
        [text("7"), text("7")]
    );
    console.refuses("g.V2()", 597, "No signature of method");
}

#[test]
fn an_error_about_the_mime_type_comes_in_the_format_that_its_client_reads() {
    let fixture = people();
    for (format, mime) in [
        (Format::GraphBinary, "application/vnd.graphbinary-v4.0"),
        (Format::GraphSon, "application/vnd.gremlin-v9.0+json"),
        (Format::GraphSon, "application/vnd.gremlin-v2.0+json"),
        (Format::GraphSon, "application/vnd.gremlin-v1.0+json"),
        (
            Format::GraphSon,
            "application/vnd.gremlin-v3.0+json;types=false",
        ),
    ] {
        let mut driver = Driver::connect(&fixture.server, format);
        driver.mime = mime;
        let parts = driver.eval("1");
        assert_eq!(parts[0].code, 498, "{parts:?}");
        assert!(parts[0].message.contains(mime), "{parts:?}");
    }
}

#[test]
fn names_of_variables_that_are_words_are_refused() {
    let fixture = people();
    for format in [Format::GraphSon, Format::GraphBinary] {
        let mut driver = Driver::connect(&fixture.server, format);
        for name in ["id", "label", "key", "value", "values"] {
            let arguments = [
                ("gremlin", text("1")),
                ("bindings", map(&[("x", text("1")), (name, text("1"))])),
            ];
            let parts = driver.ask("", "eval", &arguments);
            assert_eq!(parts[0].code, 499, "{parts:?}");
            let message = format!("invalid parameters key of [{name}]");
            assert!(parts[0].message.contains(&message), "{parts:?}");
        }
        let arguments = [
            ("gremlin", text("x")),
            ("bindings", map(&[("x", Value::Int(1))])),
        ];
        assert_eq!(results(driver.ask("", "eval", &arguments)), [Value::Int(1)]);
    }
}

#[test]
fn errors_have_a_code_among_their_attributes() {
    let fixture = people();
    let mut driver = Driver::connect(&fixture.server, Format::GraphSon);
    let mut code = |script: &str| {
        let parts = driver.eval(script);
        let found = parts[0].attributes.iter().find(|(name, _)| name == "code");
        match found {
            Some((_, Value::String(code))) => code.to_string(),
            other => panic!("{script}: {other:?} of {parts:?}"),
        }
    };
    assert_eq!(code("g.V2()"), "VRV-QUERY");
    assert_eq!(code("g.V().has('zz', 1)"), "VRV-QUERY");
    assert_eq!(code("g.inject(1).fail()"), "VRV-QUERY-FAIL");
    assert_eq!(
        code("g.with('evaluationTimeout', 20).V().repeat(both()).count()"),
        "VRV-TIMEOUT"
    );
    assert_eq!(code("g.addV('nolabel').property('name','x')"), "VRV-ARG");
}
