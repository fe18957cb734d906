//! Properties of offline analyses: written one by one, read when the graph's read mode says so.

use std::time::Duration;

use serde_json::{Value, json};

use crate::fixture::{Fixture, ids};

const MARKO: &str = "vertices/%221%3Amarko%22";
/// `{"rank":"P.gte(0.5)"}`
const BY_RANK: &str = "vertices?properties=%7B%22rank%22%3A%22P.gte(0.5)%22%7D";
/// `{"group":"g"}`
const BY_GROUP: &str = "vertices?properties=%7B%22group%22%3A%22g%22%7D";
/// `{"note":"n"}`
const BY_NOTE: &str = "vertices?properties=%7B%22note%22%3A%22n%22%7D";

/// Waits for the task that an answer names.
fn ended(fixture: &Fixture, answer: &Value) {
    let id = answer["task_id"].as_u64().expect("a task");
    assert_ne!(id, 0);
    for _ in 0..1000 {
        let task = fixture.done("GET", &format!("../tasks/{id}"), "");
        match task["task_status"].as_str() {
            Some("success") => return,
            Some("failed") => panic!("{task}"),
            _ => std::thread::sleep(Duration::from_millis(5)),
        }
    }
    panic!("task {id} does not end");
}

/// People, and values of three keys of offline analyses.
fn analysed() -> Fixture {
    let fixture = Fixture::new();
    fixture.people();
    for body in [
        json!({"name": "rank", "data_type": "DOUBLE", "write_type": "OLAP_RANGE"}),
        json!({"name": "group", "write_type": "OLAP_SECONDARY"}),
        json!({"name": "note", "write_type": "OLAP_COMMON"}),
    ] {
        let made = fixture.done("POST", "../schema/propertykeys", &body.to_string());
        ended(&fixture, &made);
    }
    fixture.done(
        "POST",
        "vertices",
        r#"{"id":"1:marko","properties":{"rank":0.7}}"#,
    );
    let batch = json!([
        {"id": "1:josh", "properties": {"rank": 0.2}},
        {"id": "2:lop", "properties": {"rank": 0.5}},
        {"id": "1:marko", "properties": {"group": "g"}},
        {"id": "1:marko", "properties": {"note": "n"}},
    ]);
    let stored = fixture.done("POST", "vertices/batch", &batch.to_string());
    assert_eq!(stored, json!(["1:josh", "2:lop", "1:marko", "1:marko"]));
    fixture
}

fn read_mode(fixture: &Fixture, mode: &str) {
    let mode = json!(mode).to_string();
    fixture.done("PUT", "../graph_read_mode", &mode);
}

fn marko(fixture: &Fixture) -> Value {
    fixture.done("GET", MARKO, "")["properties"].clone()
}

fn gremlin(fixture: &Fixture, script: &str) -> Value {
    let body = json!({"gremlin": script}).to_string();
    fixture.done("POST", "/gremlin", &body)["result"]["data"].clone()
}

#[test]
fn values_of_offline_analyses_are_read_only_in_a_mode_that_shows_them() {
    let fixture = analysed();
    let plain = json!({"name": "marko", "age": 29, "city": "Beijing"});
    let all = json!({"name": "marko", "age": 29, "city": "Beijing", "rank": 0.7, "group": "g", "note": "n"});
    assert_eq!(marko(&fixture), plain);
    assert_eq!(
        gremlin(&fixture, "g.V('1:marko').values('rank')"),
        json!([])
    );
    assert_eq!(
        gremlin(&fixture, "g.V('1:marko').properties().count()"),
        json!([3])
    );
    for path in [BY_RANK, BY_NOTE] {
        let answer = fixture.send("GET", path, "");
        assert_eq!(answer.status, 400);
        assert!(
            answer.text().contains("NotAllowException"),
            "{}",
            answer.text()
        );
        assert!(
            answer
                .text()
                .contains("when graph-read-mode is 'OLTP_ONLY'")
        );
    }
    read_mode(&fixture, "ALL");
    assert_eq!(marko(&fixture), all);
    assert_eq!(
        gremlin(&fixture, "g.V('1:marko').values('rank')"),
        json!([0.7])
    );
    let found = fixture.done("GET", "../traversers/vertices?ids=%221%3Amarko%22", "");
    assert_eq!(found["vertices"][0]["properties"], all);
    read_mode(&fixture, "OLTP_ONLY");
    assert_eq!(marko(&fixture), plain);
}

#[test]
fn values_of_offline_analyses_are_found_by_their_indexes_under_any_label() {
    let fixture = analysed();
    read_mode(&fixture, "ALL");
    let found = |path: &str| ids(&fixture.done("GET", path, ""), "vertices");
    assert_eq!(found(BY_RANK), ["1:marko", "2:lop"]);
    assert_eq!(found(&format!("{BY_RANK}&label=software")), ["2:lop"]);
    assert_eq!(found(BY_GROUP), ["1:marko"]);
    let none = "Don't accept query based on properties [note] that are not indexed in any label, \
                may not match secondary condition";
    fixture.refuses("GET", BY_NOTE, "", 400, none);
    assert_eq!(
        gremlin(&fixture, "g.V().has('rank', P.gte(0.5)).count()"),
        json!([2])
    );
    // An index kept for labels that are made later too.
    fixture.done(
        "POST",
        "../schema/vertexlabels",
        r#"{"name":"later","id_strategy":"CUSTOMIZE_STRING"}"#,
    );
    fixture.done(
        "POST",
        "vertices",
        r#"{"label":"later","id":"l","properties":{}}"#,
    );
    fixture.done(
        "POST",
        "vertices",
        r#"{"id":"l","properties":{"rank":0.9}}"#,
    );
    assert_eq!(found(BY_RANK), ["1:marko", "2:lop", "l"]);
}

#[test]
fn writes_of_a_vertex_keep_its_values_of_offline_analyses() {
    let fixture = analysed();
    read_mode(&fixture, "ALL");
    let kept =
        |age: u64| json!({"name": "marko", "age": age, "rank": 0.7, "group": "g", "note": "n"});
    let whole = r#"{"label":"person","properties":{"name":"marko","age":1}}"#;
    fixture.done("POST", "vertices", whole);
    assert_eq!(marko(&fixture), kept(1));
    fixture.done("POST", "vertices/batch", &format!("[{whole}]"));
    assert_eq!(marko(&fixture), kept(1));
    fixture.done(
        "PUT",
        &format!("{MARKO}?action=append"),
        r#"{"properties":{"age":2}}"#,
    );
    assert_eq!(marko(&fixture), kept(2));
    let update = json!({
        "vertices": [{"label": "person", "properties": {"name": "marko", "age": 3}}],
        "update_strategies": {"age": "SUM"},
    });
    fixture.done("PUT", "vertices/batch", &update.to_string());
    assert_eq!(marko(&fixture), kept(5));
}

#[test]
fn only_an_analysis_writes_values_of_offline_analyses() {
    let fixture = analysed();
    let body = r#"{"label":"person","properties":{"name":"marko","age":1,"rank":0.5}}"#;
    let message = "Invalid property 'rank' for vertex label 'person(id=1)'";
    fixture.refuses("POST", "vertices", body, 400, message);
    let message = "Undefined vertex label: 'vertex'";
    for body in [
        r#"{"properties":{"rank":0.5}}"#,
        r#"{"id":"1:marko","properties":{"rank":0.5,"group":"c"}}"#,
        r#"{"id":"1:marko","properties":{"age":5}}"#,
        r#"{"id":"1:marko","properties":{}}"#,
    ] {
        fixture.refuses("POST", "vertices", body, 400, message);
    }
    let message = "Invalid property value 'x' for key 'rank', expect a value of type Double, actual type String";
    let body = r#"{"id":"1:marko","properties":{"rank":"x"}}"#;
    fixture.refuses("POST", "vertices", body, 400, message);
    let message = "Vertex '1:nobody' does not exist";
    let body = r#"{"id":"1:nobody","properties":{"rank":0.5}}"#;
    fixture.refuses("POST", "vertices", body, 404, message);
    let message = "Can't update property for vertex '1:marko' because there is no property key 'rank' in its vertex label";
    let body = r#"{"properties":{"rank":0.5}}"#;
    fixture.refuses("PUT", &format!("{MARKO}?action=append"), body, 400, message);
}

#[test]
fn clearing_and_removing_a_key_of_offline_analysis_takes_its_values() {
    let fixture = analysed();
    read_mode(&fixture, "ALL");
    let rank = "../schema/propertykeys/rank";
    let cleared = fixture.done("PUT", &format!("{rank}?action=clear"), r#"{"name":"rank"}"#);
    ended(&fixture, &cleared);
    let left = json!({"name": "marko", "age": 29, "city": "Beijing", "group": "g", "note": "n"});
    assert_eq!(marko(&fixture), left);
    assert_eq!(ids(&fixture.done("GET", BY_RANK, ""), "vertices"), [""; 0]);
    fixture.done(
        "POST",
        "vertices",
        r#"{"id":"1:marko","properties":{"rank":0.9}}"#,
    );
    assert_eq!(
        ids(&fixture.done("GET", BY_RANK, ""), "vertices"),
        ["1:marko"]
    );
    let removed = fixture.done("DELETE", rank, "");
    ended(&fixture, &removed);
    assert_eq!(marko(&fixture), left);
    fixture.refuses("GET", BY_RANK, "", 400, "Undefined property key: 'rank'");
    let indexes = fixture.done("GET", "../schema/indexlabels", "");
    let names: Vec<&Value> = indexes["indexlabels"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|it| &it["name"])
        .collect();
    assert!(!names.contains(&&json!("*olap_by_rank")), "{names:?}");
}
