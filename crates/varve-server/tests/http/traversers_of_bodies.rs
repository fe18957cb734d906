//! Traversers that are asked by a body: forms of request and answer, defaults, refusals.

use serde_json::json;

use crate::traversers::{get, path, post, world};

#[test]
fn paths_between_several_vertices() {
    let fixture = world();
    let all = json!({
        "sources": {"ids": ["1:marko", "nobody"]}, "targets": {"ids": ["2:lop", "1:peter"]},
        "step": {"direction": "BOTH"}, "max_depth": 2, "limit": -1, "with_vertex": true
    });
    let paths = post(&fixture, "paths", &all);
    assert_eq!(
        paths["paths"],
        json!([{"objects": ["1:marko", "2:lop"]},
               {"objects": ["1:marko", "1:josh", "2:lop"]},
               {"objects": ["1:marko", "1:josh", "1:peter"]}])
    );
    assert_eq!(paths["vertices"][0]["properties"]["name"], "marko");
    assert_eq!(paths["edges"].as_array().unwrap().len(), 4);
    let mut nearest = all.clone();
    nearest["nearest"] = json!(true);
    nearest["sources"] = json!({"label": "person", "properties": {"name": ["marko"]}});
    let nearest = post(&fixture, "paths", &nearest);
    assert_eq!(
        nearest["paths"],
        json!([{"objects": ["1:marko", "2:lop"]},
               {"objects": ["1:marko", "1:josh", "1:peter"]}])
    );
    let meeting = json!({
        "vertices": {"ids": ["1:vadas", "1:peter", "2:lop"]}, "step": {}, "max_depth": 3
    });
    let meeting = post(&fixture, "multinodeshortestpath", &meeting);
    assert_eq!(
        meeting["paths"],
        json!([{"objects": ["1:vadas", "1:marko", "1:josh", "1:peter"]},
               {"objects": ["1:vadas", "1:marko", "2:lop"]},
               {"objects": ["1:peter", "1:josh", "2:lop"]}])
    );
    assert_eq!(meeting["vertices"].as_array().unwrap().len(), 5);
    let near = json!({"vertex": "1:marko", "step": {"labels": ["created"]}, "top": 2});
    assert_eq!(
        post(&fixture, "jaccardsimilarity", &near),
        json!({"jaccard_similarity": {"1:josh": 1.0, "2:lop": 0.0}})
    );
}

#[test]
fn walks_along_steps() {
    let fixture = world();
    let knows = json!({"direction": "OUT", "labels": ["knows"]});
    let created = json!({"direction": "OUT", "labels": ["created"]});
    let mut weighed = created.clone();
    weighed["weight_by"] = json!("weight");
    let mut defaulted = knows.clone();
    defaulted["default_weight"] = json!(2);
    let marko = json!({"ids": ["1:marko"]});
    let walk = json!({"sources": marko, "steps": [defaulted, weighed], "sort_by": "DECR"});
    let walk = post(&fixture, "customizedpaths", &walk);
    assert_eq!(
        walk["paths"],
        json!([{"objects": ["1:marko", "1:josh", "2:lop"], "weights": [2.0, 0.4]}])
    );
    assert_eq!(walk["edges"].as_array().unwrap().len(), 2);
    let plain = json!({"sources": marko, "steps": [knows], "limit": 1});
    assert_eq!(
        post(&fixture, "customizedpaths", &plain)["paths"],
        json!([{"objects": ["1:marko", "1:josh"]}])
    );
    let template = json!({
        "sources": marko, "targets": {"ids": ["2:lop"]}, "steps": [knows, created]
    });
    let template = post(&fixture, "templatepaths", &template);
    assert_eq!(
        template["paths"],
        json!([{"objects": ["1:marko", "2:lop"]}, {"objects": ["1:marko", "1:josh", "2:lop"]}])
    );
    assert_eq!(template["edges"].as_array().unwrap().len(), 3);
    let mut crossing = json!({
        "sources": {"ids": ["1:marko", "1:josh"]}, "path_patterns": [{"steps": [created]}]
    });
    assert_eq!(
        post(&fixture, "customizedcrosspoints", &crossing),
        json!({"crosspoints": ["2:lop"], "paths": [], "vertices": ["2:lop"], "edges": []})
    );
    (crossing["with_path"], crossing["with_edge"]) = (json!(true), json!(true));
    let crossing = post(&fixture, "customizedcrosspoints", &crossing);
    assert_eq!(
        crossing["paths"],
        json!([{"objects": ["1:marko", "2:lop"]}, {"objects": ["1:josh", "2:lop"]}])
    );
    assert_eq!(crossing["edges"][1]["outV"], "1:josh");
}

#[test]
fn counts_ranks_and_likeness() {
    let fixture = world();
    let count = json!({"source": "1:marko", "steps": [{"direction": "OUT"}, {}]});
    assert_eq!(post(&fixture, "count", &count), json!({"count": 6}));
    let mut all = count.clone();
    all["contains_traversed"] = json!(true);
    assert_eq!(post(&fixture, "count", &all), json!({"count": 10}));
    let created = json!({"direction": "OUT", "labels": ["created"]});
    let back = json!({"direction": "IN", "labels": ["created"]});
    let rank = json!({"source": "1:marko", "steps": [created, back], "alpha": 0.5});
    assert_eq!(
        post(&fixture, "neighborrank", &rank),
        json!({"ranks": [{"1:marko": 1.0}, {"2:lop": 0.5}, {"1:josh": 0.25}]})
    );
    let personal = json!({"source": "1:marko", "label": "created", "max_depth": 2});
    let personal = post(&fixture, "personalrank", &personal);
    let josh = personal["1:josh"].as_f64().unwrap();
    assert!((josh - 0.36125).abs() < 1e-12, "{josh}");
    assert_eq!(personal.as_object().unwrap().len(), 1);
    let similar = json!({
        "sources": {"ids": ["1:marko"]}, "label": "created", "min_neighbors": 1, "alpha": 0.5,
        "with_intermediary": true
    });
    assert_eq!(
        post(&fixture, "fusiformsimilarity", &similar),
        json!({"similars": {"1:marko": [
                   {"id": "1:josh", "score": 1.0, "intermediaries": ["2:lop"]}]},
               "vertices": ["1:marko", "1:josh", "2:lop"]})
    );
}

#[test]
fn what_is_wrong_in_a_body_is_named() {
    let fixture = world();
    let one = json!({"ids": ["1:marko"]});
    let ids: Vec<String> = (0..11).map(|number| format!("1:p{number}")).collect();
    for id in &ids {
        let name = id.trim_start_matches("1:");
        let body = json!({"label": "person", "properties": {"name": name, "age": 1}});
        fixture.done("POST", "vertices", &body.to_string());
    }
    let paths = |sources: serde_json::Value| json!({"sources": sources, "targets": one, "step": {}, "max_depth": 2});
    for (name, body, message) in [
        (
            "paths",
            json!({"targets": one, "step": {}, "max_depth": 2}),
            "The sources of request can't be null",
        ),
        ("paths", paths(json!({})), "No source vertices provided"),
        (
            "paths",
            paths(json!({"ids": ["1:marko"], "label": "person"})),
            "Just provide one of ids or label of source vertices",
        ),
        (
            "paths",
            paths(json!({"ids": ["nobody"]})),
            "Not exist source vertices with ids [nobody]",
        ),
        (
            "paths",
            paths(json!({"label": "person", "properties": {"name": "nobody"}})),
            "Not exist source vertex with label 'person' and properties '{name=nobody}'",
        ),
        (
            "paths",
            paths(json!({"ids": ids})),
            "The number of source vertices must in [1, 10], but got: 11",
        ),
        (
            "paths",
            json!({"sources": one, "targets": one, "step": {}, "max_depth": 0}),
            "The depth of request must be in (0, 5000], but got: 0",
        ),
        (
            "paths",
            json!({"sources": one, "targets": {"ids": ["1:peter"]}, "step": {}, "max_depth": 3,
                   "capacity": 2}),
            "Exceed capacity '2' while finding template paths",
        ),
        (
            "multinodeshortestpath",
            json!({"vertices": one, "step": {}, "max_depth": 2}),
            "The number of vertices of multiple node shortest path must in [2, 10], but got: 1",
        ),
        (
            "jaccardsimilarity",
            json!({"vertex": "1:marko", "step": {}, "capacity": 3}),
            "Reach capacity '3'",
        ),
        (
            "jaccardsimilarity",
            json!({"vertex": "1:marko", "step": {}, "top": -1}),
            "The top must be >= 0, but got: -1",
        ),
        (
            "customizedpaths",
            json!({"sources": one, "steps": []}),
            "The steps of request can't be empty",
        ),
        (
            "customizedpaths",
            json!({"sources": one, "steps": [{"max_degree": 10}]}),
            "The max degree must be greater than or equal to sample, but got max degree 10 and sample 100",
        ),
        (
            "customizedpaths",
            json!({"sources": one, "steps": [{"weight_by": "city", "labels": ["created"]}],
                   "sort_by": "INCR"}),
            "The weight of an edge must be a number, but is Text(\"Shanghai\")",
        ),
        (
            "customizedpaths",
            json!({"sources": one, "steps": [{}, {}], "capacity": 2}),
            "Exceed capacity '2' while finding customized paths",
        ),
        (
            "templatepaths",
            json!({"sources": one, "targets": {"ids": ["1:peter"]}, "capacity": 1,
                   "steps": [{"max_times": 3}]}),
            "Exceed capacity '1' while finding template paths",
        ),
        (
            "customizedcrosspoints",
            json!({"sources": one, "path_patterns": [{"steps": [{}]}], "capacity": 1}),
            "Exceed capacity '1' while finding customized crosspoints",
        ),
        (
            "fusiformsimilarity",
            json!({"sources": one, "min_neighbors": 1, "alpha": 0}),
            "The alpha of request must be in range (0, 1], but got '0.0'",
        ),
        (
            "fusiformsimilarity",
            json!({"sources": one, "min_neighbors": 1, "alpha": 1, "min_groups": 1}),
            "Can't set min group count when group property not set",
        ),
        (
            "neighborrank",
            json!({"source": "1:marko", "steps": [{"top": 1001}], "alpha": 1}),
            "The top of each layer must be in (0, 1000], but got 1001",
        ),
        (
            "neighborrank",
            json!({"source": "1:marko", "steps": [{}], "alpha": 1, "capacity": 1}),
            "Exceed capacity '1' while finding neighbor rank",
        ),
        (
            "personalrank",
            json!({"source": "1:marko", "label": "knows"}),
            "The edge label for personal rank must link different vertex labels",
        ),
        (
            "count",
            json!({"source": "1:marko", "steps": [{"properties": {"date": "2016-01-10"}}]}),
            "The properties filter condition can be set only if just set one edge label",
        ),
        (
            "count",
            json!({"source": "1:marko",
                   "steps": [{"labels": ["created"], "properties": {"weight": 1}}]}),
            "The properties [weight] does not match sort keys of edge label 'created'",
        ),
        (
            "count",
            json!({"source": "nobody", "steps": [{}]}),
            "The source vertex with id 'nobody' does not exist",
        ),
    ] {
        fixture.refuses("POST", &path(name), &body.to_string(), 400, message);
    }
    // The same question in both forms.
    let pair = r#"source="1:marko"&target="2:lop"&max_depth=2"#;
    let by_body =
        json!({"sources": one, "targets": {"ids": ["2:lop"]}, "step": {}, "max_depth": 2});
    assert_eq!(
        get(&fixture, &format!("paths?{pair}"))["paths"],
        post(&fixture, "paths", &by_body)["paths"]
    );
}
