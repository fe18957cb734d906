//! Updates of one element and of batches, and several writers of one element.

use serde_json::json;

use crate::fixture::{Fixture, ids};

#[test]
fn updates_of_one_element() {
    let fixture = Fixture::new();
    fixture.people();
    let marko = "vertices/%221%3Amarko%22";
    let append = format!("{marko}?action=append");
    fixture.says(
        "PUT", &append, r#"{"label":"person","properties":{"age":30,"city":"Wuhan"}}"#, 200,
        r#"{"id":"1:marko","label":"person","type":"vertex","properties":{"name":"marko","age":30,"city":"Wuhan"}}"#,
    );
    fixture.says(
        "PUT", &format!("{marko}?action=eliminate"), r#"{"properties":{"city":"any"}}"#, 200,
        r#"{"id":"1:marko","label":"person","type":"vertex","properties":{"name":"marko","age":30}}"#,
    );
    fixture.refuses(
        "PUT",
        &append,
        r#"{"properties":{"name":"x"}}"#,
        400,
        "Can't update primary key: 'name'",
    );
    fixture.refuses(
        "PUT",
        marko,
        r#"{"properties":{}}"#,
        400,
        "The action param can't be empty",
    );
    fixture.refuses(
        "PUT",
        &format!("{marko}?action=nope"),
        r#"{"properties":{}}"#,
        415,
        "Not support action 'nope'",
    );
    fixture.refuses(
        "PUT",
        "vertices/%221%3Anone%22?action=append",
        r#"{"properties":{"age":1}}"#,
        404,
        "Vertex '1:none' does not exist",
    );
    let edge = "edges/S1%3Amarko%3E1%3E1%3E7Jopua00%3ES1%3Ajosh?action=append";
    fixture.refuses(
        "PUT",
        edge,
        r#"{"properties":{"date":"2011-01-01"}}"#,
        400,
        "Can't update sort key: 'date'",
    );
    fixture.refuses(
        "PUT", edge, r#"{"id":"other","properties":{"weight":0.5}}"#, 400,
        "The ids are different between url and request body ('S1:marko>1>1>7Jopua00>S1:josh' != 'other')",
    );
    let changed = fixture.done("PUT", edge, r#"{"properties":{"weight":0.7}}"#);
    assert_eq!(changed["properties"]["weight"], 0.7);
}

#[test]
fn batch_updates() {
    let fixture = Fixture::new();
    fixture.people();
    let body = json!({
        "update_strategies": {"age": "SUM"},
        "vertices": [
            {"label": "person", "properties": {"name": "marko", "age": 1}},
            {"label": "person", "properties": {"name": "new", "age": 7}},
            {"label": "person", "properties": {"name": "marko", "age": 2}},
        ],
    });
    fixture.says(
        "PUT", "vertices/batch", &body.to_string(), 200,
        r#"{"vertices":[{"id":"1:marko","label":"person","type":"vertex","properties":{"name":"marko","age":32,"city":"Beijing"}},{"id":"1:new","label":"person","type":"vertex","properties":{"name":"new","age":7}}]}"#,
    );
    let edge = |check_vertex: bool, target: &str| {
        json!({
            "edges": [{"label": "created", "outV": "1:marko", "outVLabel": "person", "inV": target,
                       "inVLabel": "software", "properties": {"date": "2017-12-10", "weight": 0.1}}],
            "update_strategies": {"weight": "SUM"},
            "check_vertex": check_vertex,
        })
        .to_string()
    };
    let updated = fixture.done("PUT", "edges/batch", &edge(false, "2:lop"));
    assert_eq!(updated["edges"][0]["properties"]["weight"], 0.5);
    assert_eq!(updated["edges"][0]["properties"]["city"], "Shanghai");
    fixture.refuses(
        "PUT",
        "edges/batch",
        &edge(true, "2:none"),
        400,
        "Invalid vertex id '2:none'",
    );
    fixture.done("PUT", "edges/batch", &edge(false, "2:none"));
    for (body, message) in [
        (
            json!({"vertices": [{"label": "auto", "properties": {}}], "update_strategies": {"name": "OVERRIDE"}}),
            "Automatic Id strategy is not supported now",
        ),
        (
            json!({"vertices": [{"label": "num", "id": 1, "properties": {}}], "update_strategies": {}}),
            "Parameter 'update_strategies' can't be empty",
        ),
        (
            json!({"vertices": [], "update_strategies": {"age": "SUM"}}),
            "The number of vertices can't be 0",
        ),
        (
            json!({"vertices": [{"label": "num", "id": 1, "properties": {}}], "update_strategies": {"age": "SUM"}, "create_if_not_exist": false}),
            "Parameter 'create_if_not_exist' dose not support false now",
        ),
    ] {
        fixture.refuses("PUT", "vertices/batch", &body.to_string(), 400, message);
    }
    let nope = json!({"vertices": [], "update_strategies": {"age": "NOPE"}}).to_string();
    let answer = fixture.send("PUT", "vertices/batch", &nope);
    assert!(
        answer.text().contains(r#"from String \"NOPE\""#),
        "{}",
        answer.text()
    );
}

#[test]
fn a_strategy_must_fit_the_type_of_its_property_though_nothing_is_combined() {
    let fixture = Fixture::new();
    fixture.people();
    for (strategies, message) in [
        (
            json!({"name": "SUM"}),
            "Property type must be Number for strategy SUM, but got type String, String",
        ),
        (
            json!({"age": "OVERRIDE", "city": "BIGGER"}),
            "Property type must be Date or Number for strategy BIGGER, but got type String, String",
        ),
        (
            json!({"age": "UNION"}),
            "Property type must be Set or List for strategy UNION, but got type Integer, Integer",
        ),
    ] {
        let body = json!({
            "vertices": [{"label": "person", "properties": {"name": "new", "age": 1}}],
            "update_strategies": strategies,
        });
        fixture.refuses("PUT", "vertices/batch", &body.to_string(), 400, message);
    }
    let edges = json!({
        "edges": [{"label": "created", "outV": "1:marko", "outVLabel": "person", "inV": "2:lop",
                   "inVLabel": "software", "properties": {"date": "2017-12-10"}}],
        "update_strategies": {"city": "SUM"},
    });
    let message = "Property type must be Number for strategy SUM, but got type String, String";
    fixture.refuses("PUT", "edges/batch", &edges.to_string(), 400, message);
    fixture.refuses(
        "GET",
        "vertices/%221%3Anew%22",
        "",
        404,
        "Vertex '1:new' does not exist",
    );
}

#[test]
fn a_batch_update_that_names_too_little_is_refused_as_the_original_does() {
    let fixture = Fixture::new();
    fixture.people();
    let vertex = json!({"label": "person", "properties": {"name": "new", "age": 1}});
    let edge = json!({"label": "created", "outV": "1:marko", "outVLabel": "person", "inV": "2:lop",
                      "inVLabel": "software", "properties": {"date": "2017-12-10"}});
    let without = |element: &serde_json::Value, member: &str| {
        let mut element = element.clone();
        element.as_object_mut().expect("an object").remove(member);
        element
    };
    let sum = json!({"age": "SUM"});
    let no_strategies = "Parameter 'update_strategies' can't be empty";
    let must_create = "Parameter 'create_if_not_exist' dose not support false now";
    let no_null = "The batch body can't contain null record";
    for (what, body, message) in [
        ("vertices", json!(null), "BatchVertexRequest can't be null"),
        ("edges", json!(null), "BatchEdgeRequest can't be null"),
        (
            "vertices",
            json!({"update_strategies": sum}),
            "Parameter 'vertices' can't be null",
        ),
        (
            "edges",
            json!({"edges": null, "update_strategies": sum}),
            "Parameter 'edges' can't be null",
        ),
        ("vertices", json!({"vertices": [vertex]}), no_strategies),
        (
            "vertices",
            json!({"vertices": [vertex], "update_strategies": null}),
            no_strategies,
        ),
        (
            "edges",
            json!({"edges": [edge], "update_strategies": {}}),
            no_strategies,
        ),
        (
            "edges",
            json!({"edges": [], "update_strategies": sum}),
            "The number of edges can't be 0",
        ),
        (
            "vertices",
            json!({"vertices": [vertex, null], "update_strategies": sum}),
            no_null,
        ),
        (
            "edges",
            json!({"edges": [null], "update_strategies": sum}),
            no_null,
        ),
        (
            "vertices",
            json!({"vertices": [vertex], "update_strategies": sum, "create_if_not_exist": null}),
            must_create,
        ),
        (
            "edges",
            json!({"edges": [edge], "update_strategies": sum, "create_if_not_exist": false}),
            must_create,
        ),
        (
            "vertices",
            json!({"vertices": [without(&vertex, "label")], "update_strategies": sum}),
            "Vertex label name can't be null",
        ),
        (
            "edges",
            json!({"edges": [without(&edge, "label")], "update_strategies": sum}),
            "Edge label name can't be null",
        ),
        (
            "edges",
            json!({"edges": [without(&edge, "outVLabel")], "update_strategies": sum}),
            "Invalid vertex label 'null'",
        ),
        (
            "vertices",
            json!({"vertices": [without(&vertex, "properties")], "update_strategies": sum}),
            "The properties of vertex can't be null",
        ),
    ] {
        fixture.refuses(
            "PUT",
            &format!("{what}/batch"),
            &body.to_string(),
            400,
            message,
        );
    }
}

#[test]
fn writers_of_one_vertex_lose_nothing() {
    const WRITERS: usize = 8;
    const ROUNDS: usize = 40;
    let fixture = Fixture::new();
    fixture.done(
        "POST",
        "vertices",
        r#"{"label":"person","properties":{"name":"sum","age":0}}"#,
    );
    let body = json!({
        "vertices": [{"label": "person", "properties": {"name": "sum", "age": 1}}],
        "update_strategies": {"age": "SUM"},
    })
    .to_string();
    std::thread::scope(|scope| {
        for _ in 0..WRITERS {
            scope.spawn(|| {
                for _ in 0..ROUNDS {
                    fixture.done("PUT", "vertices/batch", &body);
                }
            });
        }
    });
    let stored = fixture.done("GET", "vertices/%221%3Asum%22", "");
    assert_eq!(stored["properties"]["age"], WRITERS * ROUNDS);
    let found = fixture.done(
        "GET",
        "vertices?label=person&properties=%7B%22age%22%3A320%7D",
        "",
    );
    assert_eq!(ids(&found, "vertices"), ["1:sum"]);
    let history = fixture.done("GET", "vertices/%221%3Asum%22/history?limit=10000", "");
    let versions = history["versions"].as_array().unwrap();
    assert_eq!(versions.len(), WRITERS * ROUNDS + 1);
}
