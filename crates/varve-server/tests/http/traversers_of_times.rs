//! Every traverser as of a transaction time and as of a valid time.

use serde_json::{Value, json};

use crate::fixture::Fixture;
use crate::traversers::{get, post, world};

const ENDS: &str = r#"source="1:marko"&target="1:peter""#;
const SOURCE: &str = r#"source="1:marko""#;
const PAIR: &str = r#"vertex="1:marko"&other="1:peter""#;

/// One question to each traverser that is asked by parameters.
fn questions() -> Vec<String> {
    vec![
        format!("kout?{SOURCE}&max_depth=1"),
        format!("kneighbor?{SOURCE}&max_depth=2"),
        format!("sameneighbors?{PAIR}"),
        format!("jaccardsimilarity?{PAIR}"),
        format!("adamicadar?{PAIR}"),
        format!("resourceallocation?{PAIR}"),
        format!("shortestpath?{ENDS}&max_depth=3&with_vertex=true&with_edge=true"),
        format!("allshortestpaths?{ENDS}&max_depth=3&with_edge=true"),
        format!("weightedshortestpath?{ENDS}&weight=weight"),
        format!("singlesourceshortestpath?{SOURCE}&weight=weight&with_vertex=true"),
        format!("paths?{ENDS}&max_depth=3"),
        format!("crosspoints?{ENDS}&max_depth=3"),
        format!("rings?{SOURCE}&max_depth=3&with_edge=true"),
        format!("rays?{SOURCE}&max_depth=2"),
        r#"edgeexist?source="1:marko"&target="1:josh""#.to_owned(),
        r#"vertices?ids="1:josh""#.to_owned(),
    ]
}

/// One question to each traverser that is asked by a body.
fn bodies() -> Vec<(&'static str, Value)> {
    let (marko, peter) = (json!({"ids": ["1:marko"]}), json!({"ids": ["1:peter"]}));
    let out = json!({"direction": "OUT"});
    let created = json!({"direction": "OUT", "labels": ["created"]});
    vec![
        (
            "kout",
            json!({"source": "1:marko", "steps": {}, "max_depth": 1, "with_vertex": true}),
        ),
        (
            "kneighbor",
            json!({"source": "1:marko", "steps": {}, "max_depth": 2, "with_path": true}),
        ),
        (
            "sameneighbors",
            json!({"vertex_list": ["1:marko", "1:peter"]}),
        ),
        (
            "jaccardsimilarity",
            json!({"vertex": "1:marko", "step": {}}),
        ),
        (
            "paths",
            json!({"sources": marko, "targets": peter, "step": {}, "max_depth": 3, "with_edge": true}),
        ),
        (
            "multinodeshortestpath",
            json!({"vertices": {"ids": ["1:marko", "1:peter"]}, "step": {}, "max_depth": 3}),
        ),
        (
            "customizedpaths",
            json!({"sources": marko, "steps": [{"direction": "OUT", "weight_by": "weight"}], "sort_by": "INCR"}),
        ),
        (
            "templatepaths",
            json!({"sources": marko, "targets": {"ids": ["1:vadas", "1:josh"]}, "steps": [out]}),
        ),
        (
            "customizedcrosspoints",
            json!({"sources": {"ids": ["1:marko", "1:peter"]}, "path_patterns": [{"steps": [out]}], "with_path": true}),
        ),
        (
            "fusiformsimilarity",
            json!({"sources": marko, "min_neighbors": 1, "alpha": 0.1, "with_vertex": true}),
        ),
        (
            "neighborrank",
            json!({"source": "1:marko", "steps": [out, out], "alpha": 0.5}),
        ),
        (
            "personalrank",
            json!({"source": "1:marko", "label": "created", "max_depth": 2, "with_label": "BOTH_LABEL"}),
        ),
        (
            "count",
            json!({"source": "1:marko", "steps": [created, {"direction": "IN"}], "contains_traversed": true}),
        ),
    ]
}

/// The answers to all questions; `time` is the query's end, such as `&as_of=…`, or empty.
fn answers(fixture: &Fixture, time: &str) -> Vec<(String, Value)> {
    let mut answers = Vec::new();
    for question in questions() {
        let answer = get(fixture, &format!("{question}{time}"));
        answers.push((question, answer));
    }
    for (name, body) in bodies() {
        let answer = post(
            fixture,
            &format!("{name}{}", time.replacen('&', "?", 1)),
            &body,
        );
        answers.push((format!("POST {name}"), answer));
    }
    answers
}

#[test]
fn every_traverser_answers_as_of_both_times() {
    let fixture = world();
    let last = r#"{"label":"person","properties":{"name":"last","age":1}}"#;
    fixture.done("POST", "vertices", last);
    let before = answers(&fixture, "");
    let history = fixture.done("GET", "vertices/%221%3Alast%22/history", "");
    let version = &history["versions"][0];
    let [known, valid] = ["as_of_tx", "valid_from"].map(|time| version[time].as_str().unwrap());
    // Corrected: what is left of marko's is one edge of another weight.
    fixture.done("DELETE", "vertices/%221%3Ajosh%22?label=person", "");
    fixture.done("DELETE", "vertices/%222%3Alop%22?label=software", "");
    let heavier = r#"{"label":"knows","outV":"1:marko","inV":"1:vadas","properties":{"date":"2016-01-10","weight":0.9}}"#;
    fixture.done("POST", "edges", heavier);
    // Sources must exist.
    let lop = r#"{"label":"software","properties":{"name":"lop","lang":"java","price":1}}"#;
    fixture.done("POST", "vertices", lop);
    let created =
        r#"{"label":"created","outV":"1:marko","inV":"2:lop","properties":{"date":"2018-01-01"}}"#;
    fixture.done("POST", "edges", created);
    for ((question, now), (_, then)) in answers(&fixture, "").iter().zip(&before) {
        assert_ne!(now, then, "{question}: the same now");
    }
    for time in [
        format!("&as_of_tx={known}"),
        format!("&as_of={valid}"),
        format!("&as_of={valid}&as_of_tx={known}"),
    ] {
        for ((question, at), (_, then)) in answers(&fixture, &time).iter().zip(&before) {
            assert_eq!(at, then, "{question}: {time}");
        }
    }
}
