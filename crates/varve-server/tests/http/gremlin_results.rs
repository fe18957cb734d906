//! `/gremlin`: results that are neither plain values nor elements, in every format.

use serde_json::{Value as Json, json};
use varve_graphson::{Format, Value, read_response};
use varve_testkit::http::request;

use crate::fixture::Fixture;

fn people() -> Fixture {
    let fixture = Fixture::new();
    fixture.people();
    fixture
}

fn flat(fixture: &Fixture, script: &str) -> Json {
    let body = json!({"gremlin": script}).to_string();
    let answer = fixture.done("POST", "/gremlin", &body);
    assert_eq!(answer["status"]["code"], 200, "{answer}");
    answer["result"]["data"].clone()
}

/// The results in GraphSON 3 and in GraphBinary.
fn typed(fixture: &Fixture, script: &str) -> [Vec<Value>; 2] {
    let body = json!({"gremlin": script}).to_string();
    [
        "application/vnd.gremlin-v3.0+json",
        "application/vnd.graphbinary-v1.0",
    ]
    .map(|mime| {
        let accept = format!("accept: {mime}\r\n");
        let request = request("POST", "/gremlin", &accept, &body);
        let answer = fixture.server.connect().exchange(&request).unwrap();
        assert_eq!(answer.status, 200, "{script}");
        let format = Format::from_mime(mime).expect("a format");
        let response = read_response(format, &answer.body).expect("a response");
        match response.data {
            Value::List(items) => items,
            other => panic!("{other:?}"),
        }
    })
}

#[test]
fn a_subgraph_has_edges_and_what_they_join_in_every_format() {
    let fixture = people();
    let script = "g.V('1:marko').outE('created').subgraph('x').cap('x')";
    let shown = flat(&fixture, script);
    assert_eq!(shown[0]["edges"][0]["label"], "created");
    let vertices = shown[0]["vertices"].as_array().expect("vertices");
    let names: Vec<&Json> = vertices
        .iter()
        .map(|vertex| &vertex["properties"]["name"])
        .collect();
    assert_eq!(names, [&json!("marko"), &json!("lop")]);
    for results in typed(&fixture, script) {
        let [Value::Graph(graph)] = results.as_slice() else {
            panic!("{results:?}");
        };
        assert_eq!((graph.vertices.len(), graph.edges.len()), (2, 1));
        assert!(
            graph
                .vertices
                .iter()
                .all(|vertex| !vertex.properties.is_empty())
        );
    }
    assert_eq!(
        flat(&fixture, "g.V('1:nobody').outE().subgraph('x').cap('x')"),
        json!([{"vertices": [], "edges": []}])
    );
}

#[test]
fn a_profile_counts_what_each_step_gave() {
    let fixture = people();
    let script = "g.V('1:marko').out('knows').where(__.values('age')).profile()";
    let shown = &flat(&fixture, script)[0];
    let steps = shown["metrics"].as_array().expect("steps");
    let counts: Vec<&Json> = steps
        .iter()
        .map(|step| &step["counts"]["elementCount"])
        .collect();
    assert_eq!(counts, [&json!(1), &json!(2), &json!(2)]);
    let last = steps.last().expect("a step");
    assert_eq!(last["metrics"][0]["counts"]["elementCount"], 2);
    assert_eq!(last["metrics"][0]["id"], "2.0");
    for results in typed(&fixture, script) {
        let [Value::TraversalMetrics { metrics, .. }] = results.as_slice() else {
            panic!("{results:?}");
        };
        let count = |at: usize| {
            metrics[at]
                .counts
                .iter()
                .find(|(name, _)| name == "elementCount")
        };
        assert_eq!(count(1).map(|(_, count)| *count), Some(2));
        assert_eq!(metrics[2].nested[0].id, "2.0");
    }
    let kept = flat(&fixture, "g.V('1:marko').out('knows').profile('p').count()");
    assert_eq!(kept, json!([2]));
}

#[test]
fn an_explanation_has_the_steps_as_bound_and_as_they_run() {
    let fixture = people();
    let explained = flat(&fixture, "g.V().hasLabel('person').outE().inV().explain()");
    let steps = |which: &str| -> Vec<String> {
        let all = explained[0][which].as_array().expect("steps").iter();
        all.map(|step| step.as_str().expect("a text").to_owned())
            .collect()
    };
    let (original, last) = (steps("original"), steps("final"));
    assert_eq!(original.len(), 4, "{original:?}");
    assert!(last.len() < original.len(), "{last:?}");
    assert!(original[0].starts_with("Source"), "{original:?}");
    // Nothing runs.
    let writes = "g.addV('person').property('name','new').explain()";
    assert!(flat(&fixture, writes)[0]["final"].is_array());
    assert_eq!(flat(&fixture, "g.V('1:new').count()"), json!([0]));
}
