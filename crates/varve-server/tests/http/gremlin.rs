//! `/gremlin`: forms of request and answer, names of graphs, refusals, both times, limits. What
//! steps mean is the business of `varve-gremlin`, whose tests run TinkerPop's scenarios.

use serde_json::{Value, json};
use varve_server::{GremlinConfig, ServerConfig};

use crate::fixture::Fixture;

fn people() -> Fixture {
    let fixture = Fixture::new();
    fixture.people();
    fixture
}

fn post(fixture: &Fixture, body: &Value) -> Value {
    let answer = fixture.done("POST", "/gremlin", &body.to_string());
    assert_eq!(answer["status"]["code"], 200, "{answer}");
    answer["result"]["data"].clone()
}

fn data(fixture: &Fixture, script: &str) -> Value {
    post(fixture, &json!({"gremlin": script}))
}

fn refuses(fixture: &Fixture, script: &str, status: u16, exception: &str, message: &str) {
    let body = json!({"gremlin": script}).to_string();
    let answer = fixture.send("POST", "/gremlin", &body);
    let text = answer.text().to_owned();
    assert_eq!(answer.status, status, "{script}: {text}");
    assert!(text.contains(exception), "{script}: {text}");
    assert!(text.contains(message), "{script}: {text}");
}

#[test]
fn results_are_flat_json() {
    let fixture = people();
    let marko = json!({
        "id": "1:marko", "label": "person", "type": "vertex",
        "properties": {"name": "marko", "age": 29, "city": "Beijing"}
    });
    assert_eq!(data(&fixture, "g.V('1:marko')"), json!([marko]));
    assert_eq!(
        data(
            &fixture,
            "g.V('1:marko').out('knows').values('name').order()"
        ),
        json!(["josh", "vadas"])
    );
    let edge = &data(&fixture, "g.V('2:lop').inE()")[0];
    assert_eq!(
        (&edge["type"], &edge["outV"], &edge["inV"], &edge["label"]),
        (
            &json!("edge"),
            &json!("1:marko"),
            &json!("2:lop"),
            &json!("created")
        )
    );
    assert_eq!(
        data(
            &fixture,
            "g.V('1:josh').as('a').in('knows').path().by('name')"
        ),
        json!([{"labels": [["a"], []], "objects": ["josh", "marko"]}])
    );
    assert_eq!(
        data(&fixture, "g.V('1:vadas').valueMap(true,'age')"),
        json!([{"id": "1:vadas", "label": "person", "age": [27]}])
    );
    assert_eq!(
        data(&fixture, "g.V('1:vadas').properties('age')"),
        json!([{"id": "1:vadas>age", "value": 27, "label": "age"}])
    );
    assert_eq!(
        data(&fixture, "g.V().groupCount().by(label)"),
        json!([{"person": 3, "software": 1}])
    );
    assert_eq!(data(&fixture, "g.V('1:nobody')"), json!([]));
}

#[test]
fn filters_behind_a_source_use_an_index_where_there_is_one() {
    let fixture = people();
    for (script, names) in [
        (
            "g.V().has('person','name','josh').values('name')",
            json!(["josh"]),
        ),
        (
            "g.V().hasLabel('person').has('age',gt(28)).values('name').order()",
            json!(["josh", "marko"]),
        ),
        (
            "g.V().has('city','Beijing').values('name').order()",
            json!(["josh", "marko"]),
        ),
        ("g.V().has('lang','java').values('name')", json!(["lop"])),
        (
            "g.E().has('weight',gt(0.6)).inV().values('name')",
            json!(["josh"]),
        ),
    ] {
        assert_eq!(data(&fixture, script), names, "{script}");
    }
}

#[test]
fn a_script_has_variables_and_statements() {
    let fixture = people();
    assert_eq!(data(&fixture, "n = g.V().count().next(); n"), json!([4]));
    assert_eq!(data(&fixture, "1"), json!([1]));
    assert_eq!(data(&fixture, ""), json!([null]));
    assert_eq!(data(&fixture, "g.V().hasNext()"), json!([true]));
    assert_eq!(data(&fixture, "g.V().iterate()"), json!([]));
    assert_eq!(
        post(
            &fixture,
            &json!({"gremlin": "g.V(x).values('name')", "bindings": {"x": "1:josh"}})
        ),
        json!(["josh"])
    );
    // Words of Gremlin, where no variable has their name.
    for name in ["from", "to", "day", "set", "outV"] {
        let script = format!("g.V({name}).values('name')");
        let bindings = json!({name: "1:josh"});
        let asked = post(&fixture, &json!({"gremlin": script, "bindings": bindings}));
        assert_eq!(asked, json!(["josh"]), "{name}");
        let refused = fixture.send("POST", "/gremlin", &json!({"gremlin": script}).to_string());
        assert_eq!(refused.status, 400, "{name}: {}", refused.text());
    }
    let answer = fixture.done(
        "GET",
        "/gremlin?gremlin=g.V(x).values('age')&bindings.x=1%3Ajosh&language=gremlin-groovy",
        "",
    );
    assert_eq!(answer["result"]["data"], json!([32]));
}

#[test]
fn graphs_have_the_further_names_that_the_configuration_gives_them() {
    let sources = ["gother=other", "gone=missing", "hugegraph=other"];
    let fixture = Fixture::with(ServerConfig {
        gremlin: GremlinConfig {
            sources: sources.map(str::to_owned).to_vec(),
            ..GremlinConfig::default()
        },
        ..ServerConfig::default()
    });
    fixture.people();
    fixture.server.state.graphs().create("other").unwrap();
    assert_eq!(data(&fixture, "gother.V().count()"), json!([0]));
    let body = json!({"gremlin": "g.V().count()", "aliases": {"g": "gother"}});
    assert_eq!(post(&fixture, &body), json!([0]));
    // A graph's own name stays its own.
    assert_eq!(data(&fixture, "g.V().count()"), json!([4]));
    refuses(
        &fixture,
        "gone.V()",
        400,
        "groovy.lang.MissingPropertyException",
        "No such property: gone",
    );
}

#[test]
fn graphs_have_the_names_that_clients_use() {
    let fixture = people();
    fixture.server.state.graphs().create("other").unwrap();
    for name in [
        "hugegraph",
        "__g_hugegraph",
        "DEFAULT-hugegraph",
        "__g_DEFAULT-hugegraph",
    ] {
        let body = json!({"gremlin": "g.V().count()", "aliases": {"g": name, "graph": name}});
        assert_eq!(post(&fixture, &body), json!([4]), "{name}");
    }
    let body = json!({"gremlin": "g.V().count()", "aliases": {"g": "__g_other"}});
    assert_eq!(post(&fixture, &body), json!([0]));
    assert_eq!(data(&fixture, "g.V().count()"), json!([4]));
    assert_eq!(data(&fixture, "other.traversal().V().count()"), json!([0]));
    let body = json!({"gremlin": "g.V()", "aliases": {"g": "__g_none"}}).to_string();
    fixture.refuses(
        "POST",
        "/gremlin",
        &body,
        400,
        "Could not rebind [g] to [__g_none] as [__g_none] not in the Graph or TraversalSource \
         global bindings",
    );
}

#[test]
fn what_is_no_gremlin_is_refused_with_the_exceptions_that_clients_know() {
    let fixture = people();
    let missing = "groovy.lang.MissingMethodException";
    refuses(
        &fixture,
        "g.V2()",
        400,
        missing,
        ".V2() is applicable for argument types: ()",
    );
    let compile = "org.codehaus.groovy.control.MultipleCompilationErrorsException";
    refuses(
        &fixture,
        "g.V().filter{it}",
        400,
        compile,
        "Closures are not supported",
    );
    // The place, as over a WebSocket.
    refuses(
        &fixture,
        "g.V()\n  .filter{it}",
        400,
        compile,
        "Failed to interpret Gremlin query: Query parsing failed at line 2, character position at 9, ",
    );
    refuses(
        &fixture,
        "System.exit(-1)",
        403,
        "",
        "Not allowed to call System.exit() via Gremlin",
    );
    refuses(&fixture, "h.V()", 400, "groovy.lang.Missing", "h");
    refuses(
        &fixture,
        "g.V().pageRank()",
        400,
        "NotSupportException",
        "pageRank",
    );
    fixture.refuses("POST", "/gremlin", "{", 400, "body could not be parsed");
    fixture.refuses("POST", "/gremlin", "{}", 400, "no gremlin script supplied");
    fixture.refuses(
        "GET",
        "/gremlin",
        "",
        400,
        "The request query can't be empty",
    );
}

#[test]
fn a_traversal_sees_the_graph_at_both_times() {
    let fixture = people();
    fixture.done(
        "PUT",
        "vertices/%221%3Amarko%22?action=append",
        r#"{"label":"person","properties":{"age":30}}"#,
    );
    let age = "g.V('1:marko').values('age')";
    assert_eq!(data(&fixture, age), json!([30]));
    let first = fixture.done("GET", "vertices/%221%3Amarko%22/history", "");
    let versions = first["versions"].as_array().expect("versions");
    let version = versions
        .iter()
        .map(|version| version["version"].as_u64().unwrap())
        .min()
        .unwrap();
    let then = format!("g.with('as_of_tx','{version}').V('1:marko').values('age')");
    assert_eq!(data(&fixture, &then), json!([29]));
    let body = json!({"gremlin": age}).to_string();
    let answer = fixture.done("POST", &format!("/gremlin?as_of_tx={version}"), &body);
    assert_eq!(answer["result"]["data"], json!([29]));
    // A time at another place is not ignored.
    let body = json!({"gremlin": age, "as_of": "2000-01-01"}).to_string();
    let message = "as_of and as_of_tx are parameters of the URL, or options of the source: \
                   g.with('as_of', '2024-05-01'); a body has none";
    fixture.refuses("POST", "/gremlin", &body, 400, message);
    assert_eq!(
        data(&fixture, "g.with('as_of','2000-01-01').V().count()"),
        json!([0])
    );
}

#[test]
fn a_query_ends_at_its_limits() {
    let fixture = Fixture::with(ServerConfig {
        max_traversal_rows: 1_000,
        ..ServerConfig::default()
    });
    fixture.people();
    let limit = "(server.max_traversal_rows)";
    refuses(
        &fixture,
        "g.V().repeat(both()).count()",
        400,
        "LimitExceed",
        limit,
    );
    assert_eq!(data(&fixture, "g.V().limit(1).count()"), json!([1]));
    let fixture = Fixture::with(ServerConfig {
        max_traversal_bytes: 64 << 10,
        ..ServerConfig::default()
    });
    fixture.people();
    let limit = "(server.max_traversal_bytes)";
    refuses(
        &fixture,
        "g.V().V().V().V().V().V().fold()",
        400,
        "LimitExceed",
        limit,
    );
}

#[test]
fn texts_that_grow_without_end_are_refused_and_the_server_goes_on() {
    let fixture = Fixture::with(ServerConfig {
        request_timeout_ms: 1_000,
        ..ServerConfig::default()
    });
    fixture.people();
    for script in [
        "g.inject(1).repeat(local(fold()))",
        "g.V().repeat(both()).times(40).fold()",
        "g.V().repeat(both()).times(30).aggregate('x').cap('x')",
        "g.V().repeat(both()).times(60).coin(0.5).count()",
        "g.inject(1).union(identity(),identity()).repeat(union(identity(),identity())).as('a').count()",
        "x=0..1000000; g.V().constant(x).unfold().constant(x).unfold().fold()",
    ] {
        let body = json!({"gremlin": script}).to_string();
        let answer = fixture.send("POST", "/gremlin", &body);
        let by_limit = answer.status == 503 || answer.text().contains("LimitExceed");
        let by_size = answer.text().contains("A value may");
        assert!(by_limit || by_size, "{script}: {}", answer.text());
        assert_eq!(data(&fixture, "g.V().count()"), json!([4]), "{script}");
    }
}
