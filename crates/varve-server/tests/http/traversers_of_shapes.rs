//! Questions that come to a great many paths, under the limits that a server has by default: each
//! ends with its whole answer or with the limit that it is over.

use serde_json::{Value, json};

use crate::fixture::Fixture;
use crate::traversers::{path, post};

/// Elements of one request.
const BATCH: usize = 500;

/// A graph of vertices 0 to `vertices`, and these edges.
fn graph(vertices: usize, edges: &[(usize, usize)]) -> Fixture {
    let fixture = Fixture::new();
    let label = json!({"name": "v", "id_strategy": "CUSTOMIZE_NUMBER"});
    fixture.done("POST", "../schema/vertexlabels", &label.to_string());
    let label = json!({"name": "e", "source_label": "v", "target_label": "v"});
    fixture.done("POST", "../schema/edgelabels", &label.to_string());
    let numbers: Vec<usize> = (0..vertices).collect();
    for numbers in numbers.chunks(BATCH) {
        let vertices = numbers
            .iter()
            .map(|id| json!({"label": "v", "id": id, "properties": {}}));
        let body = Value::from_iter(vertices);
        fixture.done("POST", "vertices/batch", &body.to_string());
    }
    for edges in edges.chunks(BATCH) {
        let edges = edges.iter().map(|(from, to)| {
            json!({"label": "e", "outV": from, "inV": to, "outVLabel": "v", "inVLabel": "v",
                   "properties": {}})
        });
        let body = Value::from_iter(edges);
        fixture.done("POST", "edges/batch?check_vertex=false", &body.to_string());
    }
    fixture
}

/// The answer, whole.
fn get(fixture: &Fixture, rest: &str) -> Value {
    fixture.done("GET", &path(rest), "")
}

fn count(answer: &Value, key: &str) -> usize {
    let list = answer[key].as_array();
    list.unwrap_or_else(|| panic!("{key} of {answer}")).len()
}

/// The question is refused, and the refusal names this limit.
fn ends_at(fixture: &Fixture, verb: &str, rest: &str, body: &str, limit: &str) {
    let answer = fixture.send(verb, &path(rest), body);
    let said: Value = serde_json::from_slice(&answer.body).unwrap_or(Value::Null);
    let message = said["message"].as_str().unwrap_or_default();
    assert_eq!(answer.status, 400, "{verb} {rest} {body}: {message}");
    assert!(message.contains(limit), "{verb} {rest} {body}: {message}");
}

const BYTES: &str = "server.max_traversal_bytes";

#[test]
fn a_chain_of_diamonds_has_more_paths_than_fit() {
    const DIAMONDS: usize = 30;
    let diamond = |n: usize| {
        let at = 3 * n;
        [
            (at, at + 1),
            (at, at + 2),
            (at + 1, at + 3),
            (at + 2, at + 3),
        ]
    };
    let edges: Vec<(usize, usize)> = (0..DIAMONDS).flat_map(diamond).collect();
    let end = 3 * DIAMONDS;
    let fixture = graph(end + 1, &edges);
    let ends = format!("source=0&target={end}&direction=OUT&max_depth=60");
    let one = get(&fixture, &format!("shortestpath?{ends}"));
    assert_eq!(count(&one, "path"), 2 * DIAMONDS + 1);
    let some = get(&fixture, &format!("paths?{ends}"));
    assert_eq!(count(&some, "paths"), 10);
    ends_at(
        &fixture,
        "GET",
        &format!("allshortestpaths?{ends}"),
        "",
        BYTES,
    );
    ends_at(
        &fixture,
        "GET",
        &format!("paths?{ends}&limit=-1"),
        "",
        BYTES,
    );
    ends_at(
        &fixture,
        "GET",
        "rays?source=0&direction=OUT&max_depth=60",
        "",
        BYTES,
    );
    let crossing = format!("crosspoints?source=0&target={end}&max_depth=60&limit=-1");
    ends_at(&fixture, "GET", &crossing, "", BYTES);
    let step = json!({"direction": "OUT"});
    let steps = json!({"sources": {"ids": [0]}, "steps": vec![&step; 60], "sort_by": "INCR"});
    ends_at(
        &fixture,
        "POST",
        "customizedpaths",
        &steps.to_string(),
        BYTES,
    );
    let step = json!({"direction": "OUT", "max_times": 60});
    let template = json!({"sources": {"ids": [0]}, "targets": {"ids": [end]}, "steps": [step]});
    ends_at(
        &fixture,
        "POST",
        "templatepaths",
        &template.to_string(),
        BYTES,
    );
    let near = get(&fixture, "kneighbor?source=0&max_depth=5000");
    assert_eq!(count(&near, "vertices"), end);
    let step = json!({"direction": "OUT"});
    let counted = json!({"source": 0, "steps": vec![&step; 60], "contains_traversed": true});
    let counted = post(&fixture, "count", &counted);
    assert_eq!(counted["count"], 1 + 4 * DIAMONDS);
}

#[test]
fn a_clique_has_more_rings_and_paths_than_fit() {
    const VERTICES: usize = 60;
    let pair = |from: usize| (from + 1..VERTICES).map(move |to| (from, to));
    let edges: Vec<(usize, usize)> = (0..VERTICES).flat_map(pair).collect();
    let fixture = graph(VERTICES, &edges);
    for question in [
        "rings?source=0&max_depth=5000&limit=-1",
        "rays?source=0&max_depth=5000",
        "paths?source=0&target=1&max_depth=5000&limit=-1",
    ] {
        ends_at(&fixture, "GET", question, "", BYTES);
    }
    let rings = get(&fixture, "rings?source=0&max_depth=3&limit=-1");
    assert_eq!(count(&rings, "rings"), (VERTICES - 1) * (VERTICES - 2) / 2);
    let out = get(&fixture, "kout?source=0&max_depth=500&nearest=false");
    assert_eq!(count(&out, "vertices"), VERTICES - 1);
    let near = json!({"vertex": 0, "step": {}, "top": 0});
    let near = post(&fixture, "jaccardsimilarity", &near);
    assert_eq!(
        near["jaccard_similarity"].as_object().unwrap().len(),
        VERTICES - 1
    );
    let rank = json!({"source": 0, "steps": [{}, {}, {}], "alpha": 1});
    assert_eq!(count(&post(&fixture, "neighborrank", &rank), "ranks"), 4);
}

#[test]
fn a_star_of_ten_thousand_is_answered() {
    const RAYS: usize = 10_000;
    let edges: Vec<(usize, usize)> = (1..=RAYS).map(|to| (0, to)).collect();
    let fixture = graph(RAYS + 1, &edges);
    let out = get(&fixture, "kout?source=0&max_depth=1");
    assert_eq!(count(&out, "vertices"), RAYS);
    let other = get(&fixture, "kneighbor?source=1&max_depth=2&count_only=true");
    assert_eq!(other["vertices_size"], RAYS);
    let between = get(
        &fixture,
        &format!("paths?source=1&target={RAYS}&max_depth=5000"),
    );
    assert_eq!(between["paths"], json!([{"objects": [1, 0, RAYS]}]));
    let rays = get(&fixture, "rays?source=1&max_depth=5000&limit=-1");
    assert_eq!(count(&rays, "rays"), RAYS - 1);
    let near = json!({"vertex": 1, "step": {}, "top": 1});
    let near = post(&fixture, "jaccardsimilarity", &near);
    assert_eq!(near["jaccard_similarity"], json!({"2": 1.0}));
    let similar = json!({"sources": {"label": "v"}, "direction": "IN", "min_neighbors": 1,
                         "alpha": 1, "limit": 1, "top": 1});
    let similar = post(&fixture, "fusiformsimilarity", &similar);
    assert_eq!(similar["similars"]["1"][0]["score"], 1.0);
    let counted = json!({"source": 1, "steps": [{}, {}, {}]});
    assert_eq!(
        post(&fixture, "count", &counted),
        json!({"count": RAYS - 1})
    );
}

#[test]
fn a_chain_of_twenty_thousand_is_walked_to_its_end() {
    const EDGES: usize = 20_000;
    let edges: Vec<(usize, usize)> = (0..EDGES).map(|from| (from, from + 1)).collect();
    let fixture = graph(EDGES + 1, &edges);
    let whole = format!("source=0&target={EDGES}&max_depth={EDGES}");
    let path = get(&fixture, &format!("shortestpath?{whole}"));
    assert_eq!(count(&path, "path"), EDGES + 1);
    let near = get(&fixture, &format!("kneighbor?source=0&max_depth={EDGES}"));
    assert_eq!(count(&near, "vertices"), EDGES);
    let rays = get(
        &fixture,
        &format!("rays?source=0&direction=OUT&max_depth={EDGES}"),
    );
    assert_eq!(count(&rays["rays"][0], "objects"), EDGES + 1);
    let rings = get(&fixture, &format!("rings?source=0&max_depth={EDGES}"));
    assert_eq!(count(&rings, "rings"), 0);
    let none = get(
        &fixture,
        &format!("paths?source=0&target={EDGES}&max_depth=5000"),
    );
    assert_eq!(count(&none, "paths"), 0);
    let lightest = format!("weightedshortestpath?source=0&target={EDGES}&weight=weight");
    assert_eq!(get(&fixture, &lightest)["path"]["weight"], EDGES as f64);
    // The paths to all of its vertices are 200 million numbers.
    ends_at(
        &fixture,
        "GET",
        "singlesourceshortestpath?source=0&limit=-1",
        "",
        BYTES,
    );
}
