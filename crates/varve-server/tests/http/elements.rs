//! Vertices and edges over REST: the recorded exchanges of a real HugeGraph server, and requests
//! that carry vertices and edges together.

use serde_json::{Value, json};

use crate::fixture::{Fixture, ids};

#[test]
fn vertices_are_created_read_and_deleted() {
    let fixture = Fixture::new();
    let marko = r#"{"id":"1:marko","label":"person","type":"vertex","properties":{"name":"marko","age":29,"city":"Beijing"}}"#;
    let body = r#"{"properties":{"city":"Beijing","age":29,"name":"marko"},"type":"vertex","label":"person"}"#;
    fixture.says("POST", "vertices", body, 201, marko);
    fixture.says("GET", "vertices/%221%3Amarko%22", "", 200, marko);
    let without = r#"{"label":"person","properties":{"name":"marko","age":30}}"#;
    let shown = r#"{"id":"1:marko","label":"person","type":"vertex","properties":{"name":"marko","age":30}}"#;
    fixture.says("POST", "vertices", without, 201, shown);
    fixture.says("GET", "vertices/%221%3Amarko%22", "", 200, shown);
    fixture.refuses(
        "GET",
        "vertices/1%3Amarko",
        "",
        400,
        "The vertex id must be formatted as Number/String/UUID, but got '1:marko'",
    );
    fixture.refuses(
        "GET",
        "vertices/%221%3Anone%22",
        "",
        404,
        "Vertex '1:none' does not exist",
    );
    fixture.says("DELETE", "vertices/%221%3Amarko%22", "", 204, "");
    fixture.refuses(
        "DELETE", "vertices/%221%3Amarko%22", "", 400,
        "No such vertex with id: '1:marko', org.apache.hugegraph.exception.NotFoundException: Vertex '1:marko' does not exist",
    );
    fixture.says(
        "DELETE",
        "vertices/%221%3Amarko%22?label=person",
        "",
        204,
        "",
    );
}

#[test]
fn every_kind_of_id_and_value_comes_back() {
    let fixture = Fixture::new();
    for (body, path, id, properties) in [
        (
            r#"{"label":"num","id":9007199254740993,"properties":{}}"#,
            "9007199254740993",
            "9007199254740993",
            "{}",
        ),
        (
            r#"{"label":"num","id":-5,"properties":{"name":"neg"}}"#,
            "-5",
            "-5",
            r#"{"name":"neg"}"#,
        ),
        (
            r#"{"label":"uu","id":"835e1153928149578691cf79258e90eb","properties":{}}"#,
            "U%22835e1153-9281-4957-8691-cf79258e90eb%22",
            r#""835e1153-9281-4957-8691-cf79258e90eb""#,
            "{}",
        ),
        (
            r#"{"label":"book","id":"a\"\\\u00e9>","properties":{"name":"b"}}"#,
            "%22a%5C%22%5C%5C%C3%A9%3E%22",
            r#""a\"\\é>""#,
            r#"{"name":"b"}"#,
        ),
        (
            r#"{"label":"all","id":"v","properties":{"weight":1e10,"f":0.1,"date":0,"hobby":["x","y","x"],"tags":"t",
                "blob":"0x6869","obj":{"a":[1,null,{"b":1.5}]},"u":"835E1153928149578691CF79258E90EB"}}"#,
            "%22v%22",
            r#""v""#,
            r#"{"date":"1970-01-01 00:00:00.000","weight":1.0E10,"hobby":["x","y"],"tags":["t"],"blob":"aGk=","obj":{"a":[1,null,{"b":1.5}]},"f":0.1,"u":"835e1153-9281-4957-8691-cf79258e90eb","def":"dd"}"#,
        ),
        (
            r#"{"label":"all","id":"w","properties":{"weight":"NaN","def":"own"}}"#,
            "%22w%22",
            r#""w""#,
            r#"{"weight":"NaN","def":"own"}"#,
        ),
    ] {
        let label: Value = serde_json::from_str(body).unwrap();
        let shown = format!(
            r#"{{"id":{id},"label":{},"type":"vertex","properties":{properties}}}"#,
            label["label"]
        );
        fixture.says("POST", "vertices", body, 201, &shown);
        fixture.says("GET", &format!("vertices/{path}"), "", 200, &shown);
    }
    let auto = fixture.done("POST", "vertices", r#"{"label":"auto","properties":{}}"#);
    let id = auto["id"].as_i64().unwrap();
    assert_eq!(
        fixture.done("GET", &format!("vertices/{id}"), "")["id"],
        auto["id"]
    );
}

#[test]
fn bodies_that_are_no_elements_are_refused() {
    let fixture = Fixture::new();
    let answer = fixture.send(
        "POST",
        "vertices",
        r#"{"label":"person","foo":1,"properties":{}}"#,
    );
    assert_eq!(answer.status, 400);
    assert!(
        answer
            .text()
            .contains(r#""message":"Unrecognized field \"foo\""#),
        "{}",
        answer.text()
    );
    for body in [
        "{",
        "[]",
        "5",
        r#"{"label":["x"],"properties":{}}"#,
        r#"{"properties":5}"#,
        "{}x",
    ] {
        assert_eq!(fixture.send("POST", "vertices", body).status, 400, "{body}");
        assert_eq!(fixture.send("POST", "edges", body).status, 400, "{body}");
    }
    let deep = format!(
        r#"{{"label":"all","id":"v","properties":{{"obj":{}{}}}}}"#,
        "[".repeat(5000),
        "]".repeat(5000)
    );
    assert_eq!(fixture.send("POST", "vertices", &deep).status, 400);
    fixture.refuses(
        "POST",
        "vertices",
        "null",
        400,
        "The request body can't be empty",
    );
    fixture.refuses(
        "POST",
        "vertices/batch",
        "[]",
        400,
        "The number of vertices can't be 0",
    );
    fixture.refuses(
        "POST",
        "vertices/batch",
        "[null]",
        400,
        "The batch body can't contain null record",
    );
    let many: Vec<Value> = (0..2501)
        .map(|id| json!({"label":"num","id":id,"properties":{}}))
        .collect();
    let too_many = "Too many vertices for one time post, the maximum number is '2500'";
    fixture.refuses(
        "POST",
        "vertices/batch",
        &json!(many).to_string(),
        400,
        too_many,
    );
    let bad_one = r#"[{"label":"person","properties":{"name":"p2","age":1}},{"label":"person","properties":{"name":"p3"}}]"#;
    fixture.refuses(
        "POST", "vertices/batch", bad_one, 400,
        "All non-null property keys [name, age] of vertex label 'person' must be set, missed keys [age]",
    );
    fixture.refuses(
        "GET",
        "vertices/%221%3Ap2%22",
        "",
        404,
        "Vertex '1:p2' does not exist",
    );
}

#[test]
fn edges_are_created_read_and_deleted() {
    let fixture = Fixture::new();
    fixture.people();
    let id = "S1%3Amarko%3E1%3E1%3E7L8dqHW0%3ES1%3Avadas";
    let shown = r#"{"id":"S1:marko>1>1>7L8dqHW0>S1:vadas","label":"knows","type":"edge","outV":"1:marko","outVLabel":"person","inV":"1:vadas","inVLabel":"person","properties":{"date":"2016-01-10 00:00:00.000","weight":0.5}}"#;
    fixture.says("GET", &format!("edges/{id}"), "", 200, shown);
    let old_form = fixture.done("GET", "edges/S1%3Amarko%3E2%3E%3ES2%3Alop", "");
    assert_eq!(old_form["id"], "S1:marko>2>2>>S2:lop");
    let sub = r#"{"label":"sub1","outV":"1:marko","inV":"2:lop","properties":{}}"#;
    assert_eq!(
        fixture.done("POST", "edges", sub)["id"],
        "S1:marko>3>4>>S2:lop"
    );
    for (body, message) in [
        (
            r#"{"label":"knows","outV":"1:none","inV":"1:josh","properties":{"date":"2020-05-06"}}"#,
            "Invalid vertex id '1:none'",
        ),
        (
            r#"{"label":"knows","outV":"1:marko","outVLabel":"software","inV":"1:josh","inVLabel":"person","properties":{"date":"2020-05-06"}}"#,
            "The label of vertex '1:marko' is unmatched, users expect label 'software', actual label stored is 'person'",
        ),
        (
            r#"{"label":"knows","outV":"1:marko","inV":"2:lop","properties":{"date":"2020-05-06"}}"#,
            "Undefined link of edge label 'knows': 'person' -> 'software'",
        ),
        (
            r#"{"label":"knows","inV":"1:josh","properties":{}}"#,
            "Expect source vertex id",
        ),
    ] {
        fixture.refuses("POST", "edges", body, 400, message);
    }
    let dangling = r#"[{"label":"knows","outV":"1:ghost","outVLabel":"person","inV":"1:josh","inVLabel":"person","properties":{"date":"2021-01-01"}}]"#;
    fixture.refuses(
        "POST",
        "edges/batch",
        dangling,
        400,
        "Invalid vertex id '1:ghost'",
    );
    fixture.says(
        "POST",
        "edges/batch?check_vertex=false",
        dangling,
        201,
        r#"["S1:ghost>1>1>7NQwFc00>S1:josh"]"#,
    );
    fixture.says("DELETE", &format!("edges/{id}"), "", 204, "");
    fixture.refuses(
        "DELETE", &format!("edges/{id}"), "", 400,
        "No such edge with id: 'S1:marko>1>1>7L8dqHW0>S1:vadas', org.apache.hugegraph.exception.NotFoundException: Edge 'S1:marko>1>1>7L8dqHW0>S1:vadas' does not exist",
    );
    fixture.refuses(
        "DELETE", "edges/bad", "", 400,
        "No such edge with id: 'bad', org.apache.hugegraph.exception.NotFoundException: Edge id must be formatted as 5~6 parts, but got 1 parts: 'bad'",
    );
    fixture.says("DELETE", "vertices/%221%3Amarko%22", "", 204, "");
    let left = fixture.done("GET", "edges?vertex_id=%221%3Ajosh%22", "");
    assert_eq!(ids(&left, "edges"), ["S1:ghost>1>1>7NQwFc00>S1:josh"]);
}

#[test]
fn vertices_and_edges_in_one_request() {
    let fixture = Fixture::new();
    let batch = |weight: Value| {
        json!({
            "vertices": [
                {"label": "person", "properties": {"name": "a", "age": 1}},
                {"label": "person", "properties": {"name": "b", "age": 2}},
            ],
            "edges": [
                {"label": "knows", "outV": "1:a", "inV": "1:b", "properties": {"date": "2020-01-02", "weight": weight}},
            ],
        })
        .to_string()
    };
    fixture.refuses(
        "POST", "batch", &batch(json!("heavy")), 400,
        "Invalid property value 'heavy' for key 'weight', expect a value of type Double, actual type String",
    );
    fixture.refuses(
        "GET",
        "vertices/%221%3Aa%22",
        "",
        404,
        "Vertex '1:a' does not exist",
    );
    fixture.says(
        "POST",
        "batch",
        &batch(json!(0.5)),
        201,
        r#"{"vertices":["1:a","1:b"],"edges":["S1:a>1>1>7MyZZKG0>S1:b"]}"#,
    );
    let dangling = json!({
        "vertices": [{"label": "person", "properties": {"name": "c", "age": 1}}],
        "edges": [{"label": "knows", "outV": "1:c", "inV": "1:none", "properties": {"date": "2020-01-02"}}],
    });
    fixture.refuses(
        "POST",
        "batch",
        &dangling.to_string(),
        400,
        "Invalid vertex id '1:none'",
    );
    fixture.refuses(
        "GET",
        "vertices/%221%3Ac%22",
        "",
        404,
        "Vertex '1:c' does not exist",
    );
    fixture.refuses(
        "POST",
        "batch",
        "{}",
        400,
        "The number of vertices and edges can't be 0",
    );
}

#[test]
fn large_batches_take_the_same_way() {
    let fixture = Fixture::new();
    let many: Vec<Value> = (0..500)
        .map(|id| json!({"label": "num", "id": id, "properties": {"name": "x".repeat(100)}}))
        .collect();
    let stored = fixture.done("POST", "vertices/batch", &json!(many).to_string());
    assert_eq!(stored.as_array().unwrap().len(), 500);
    let listed = fixture.done("GET", "vertices?limit=-1", "");
    assert_eq!(listed["vertices"].as_array().unwrap().len(), 500);
}
