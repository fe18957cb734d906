//! Scripts over HTTP: what HugeGraph's clients send, with the answers and the refusals they know.

use serde_json::{Value, json};

use crate::fixture::Fixture;

/// The aliases that HugeGraph's Java client sends.
fn aliases() -> Value {
    json!({"graph": "hugegraph", "g": "__g_hugegraph"})
}

fn data(fixture: &Fixture, script: &str) -> Value {
    let body = json!({
        "gremlin": script, "bindings": {}, "language": "gremlin-groovy", "aliases": aliases()
    });
    let answer = fixture.done("POST", "/gremlin", &body.to_string());
    assert_eq!(answer["status"]["code"], 200, "{script}: {answer}");
    answer["result"]["data"].clone()
}

/// Status, exception and message of the refusal.
fn refused(fixture: &Fixture, script: &str) -> (u16, String, String) {
    let body = json!({"gremlin": script, "aliases": aliases()}).to_string();
    let answer = fixture.send("POST", "/gremlin", &body);
    let response: Value = serde_json::from_str(answer.text()).expect("JSON");
    let text = |name: &str| response[name].as_str().unwrap_or_default().to_owned();
    (answer.status, text("exception"), text("message"))
}

#[test]
fn what_the_suites_and_documents_of_hugegraph_send_runs() {
    let fixture = Fixture::new();
    fixture.people();
    for (script, wanted) in [
        ("1 + 2", json!([3])),
        ("[1,'a',null,1.5,true]", json!([1, "a", null, 1.5, true])),
        (
            "hugegraph.traversal().V('1:marko').values('name')",
            json!(["marko"]),
        ),
        (
            "graph = hugegraph; g = graph.traversal(); g.V().toList().size()",
            json!([4]),
        ),
        (
            "this.binding.'DEFAULT-hugegraph'.traversal().V().count()",
            json!([4]),
        ),
        (
            "for (int i = 0; i < 3; i++) { try { sleep(1) } catch (InterruptedException e) { break; } }",
            json!([null]),
        ),
        ("Thread.sleep(1L)", json!([null])),
        ("g.tx().commit()", json!([null])),
        (
            "g.V().has('person', 'name', 'marko').next().value('age')",
            json!([29]),
        ),
        (
            "v = g.V('1:marko').next()\nv.value('name') + v.label()",
            json!(["markoperson"]),
        ),
    ] {
        assert_eq!(data(&fixture, script), wanted, "{script}");
    }
}

/// The text of hugegraph-ai that reads what a graph has: the client takes the entries by their
/// places.
#[test]
fn a_map_is_answered_entry_by_entry() {
    let fixture = Fixture::new();
    fixture.people();
    let script = "def res = [:];\n\
        res.vertex_num = g.V().count().next();\n\
        res.edge_num = g.E().count().next();\n\
        res.vertices = g.V().id().order().limit(2).toList();\n\
        res.note = \"only\";\n\
        return res;";
    assert_eq!(
        data(&fixture, script),
        json!([
            {"vertex_num": 4}, {"edge_num": 3}, {"vertices": ["1:josh", "1:marko"]},
            {"note": "only"}
        ])
    );
}

#[test]
fn a_refused_script_has_the_exception_that_clients_know() {
    let fixture = Fixture::new();
    fixture.people();
    for (script, status, exception, message) in [
        (
            "g.V2()",
            400,
            "groovy.lang.MissingMethodException",
            "V2() is applicable for argument types: ()",
        ),
        (
            "x = 1; x.toUpperCase()",
            400,
            "groovy.lang.MissingMethodException",
            "No signature of method: Integer.toUpperCase()",
        ),
        (
            "unknown + 1",
            400,
            "groovy.lang.MissingPropertyException",
            "No such property: unknown",
        ),
        (
            "g.V('none').next()",
            400,
            "java.util.NoSuchElementException",
            "",
        ),
        ("1 / 0", 400, "java.lang.ArithmeticException", "/ by zero"),
        (
            "System.exit(-1)",
            403,
            "",
            "Not allowed to call System.exit() via Gremlin",
        ),
        (
            "g.V().map { it.get() }",
            400,
            "MultipleCompilationErrorsException",
            "Closures are not supported",
        ),
        (
            "while (true) { }",
            400,
            "LimitExceedException",
            "A script may take 10000000 steps",
        ),
    ] {
        let (job_status, job_exception, job_message) = refused(&fixture, script);
        assert_eq!(job_status, status, "{script}: {job_message}");
        assert!(
            job_exception.contains(exception),
            "{script}: {job_exception}"
        );
        assert!(job_message.contains(message), "{script}: {job_message}");
    }
}
