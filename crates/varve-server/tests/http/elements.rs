//! Vertices and edges over REST: the recorded exchanges of a real HugeGraph server, and what it lacks: both times,
//! histories, and requests that carry vertices and edges together.

use serde_json::{Value, json};
use varve_graph::Graph;
use varve_graph::schema::{BaseType, NewEdgeLabel, NewIndexLabel, NewPropertyKey, NewVertexLabel};
use varve_model::Datum;
use varve_model::schema::{EdgeLabelType, Frequency, IdStrategy, IndexType};
use varve_model::value::{Cardinality, DataType};
use varve_server::ServerConfig;

use crate::harness::{Answer, TestServer};

const BASE: &str = "/graphs/hugegraph/graph";

pub(crate) struct Fixture {
    pub(crate) server: TestServer,
}

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|name| (*name).to_owned()).collect()
}

fn property_keys(graph: &Graph) {
    for (name, data_type, cardinality) in [
        ("name", DataType::Text, Cardinality::Single),
        ("age", DataType::Int, Cardinality::Single),
        ("city", DataType::Text, Cardinality::Single),
        ("lang", DataType::Text, Cardinality::Single),
        ("date", DataType::Date, Cardinality::Single),
        ("price", DataType::Int, Cardinality::Single),
        ("weight", DataType::Double, Cardinality::Single),
        ("hobby", DataType::Text, Cardinality::Set),
        ("tags", DataType::Text, Cardinality::List),
        ("blob", DataType::Blob, Cardinality::Single),
        ("obj", DataType::Object, Cardinality::Single),
        ("f", DataType::Float, Cardinality::Single),
        ("u", DataType::Uuid, Cardinality::Single),
        ("def", DataType::Text, Cardinality::Single),
    ] {
        let mut key = NewPropertyKey {
            data_type,
            cardinality,
            ..NewPropertyKey::named(name)
        };
        if name == "def" {
            key.user_data = vec![("~default_value".to_owned(), Datum::Text("dd".to_owned()))];
        }
        graph.catalogue().create_property_key(key).unwrap();
    }
}

fn vertex_labels(graph: &Graph) {
    let all = [
        "name", "age", "date", "weight", "hobby", "tags", "blob", "obj", "f", "u", "def",
    ];
    type Spec<'a> = (
        &'a str,
        Option<IdStrategy>,
        &'a [&'a str],
        &'a [&'a str],
        &'a [&'a str],
    );
    let specs: [Spec<'_>; 7] = [
        (
            "person",
            None,
            &["name", "age", "city"],
            &["name"],
            &["city"],
        ),
        (
            "software",
            None,
            &["name", "lang", "price"],
            &["name"],
            &["price"],
        ),
        (
            "book",
            Some(IdStrategy::CustomizeString),
            &["name", "price"],
            &[],
            &["price"],
        ),
        (
            "num",
            Some(IdStrategy::CustomizeNumber),
            &["name"],
            &[],
            &["name"],
        ),
        (
            "uu",
            Some(IdStrategy::CustomizeUuid),
            &["name"],
            &[],
            &["name"],
        ),
        ("auto", None, &["name"], &[], &["name"]),
        ("all", Some(IdStrategy::CustomizeString), &all, &[], &all),
    ];
    for (name, id_strategy, properties, primary, nullable) in specs {
        let label = NewVertexLabel {
            id_strategy,
            properties: names(properties),
            primary_keys: names(primary),
            nullable_keys: names(nullable),
            ..NewVertexLabel::named(name)
        };
        graph.catalogue().create_vertex_label(label).unwrap();
    }
}

fn edge_labels(graph: &Graph) {
    let properties = names(&["date", "city", "weight"]);
    let nullable_keys = names(&["city", "weight"]);
    let knows = NewEdgeLabel {
        frequency: Some(Frequency::Multiple),
        properties: properties.clone(),
        sort_keys: names(&["date"]),
        nullable_keys: nullable_keys.clone(),
        ..NewEdgeLabel::between("knows", "person", "person")
    };
    let created = NewEdgeLabel {
        properties,
        nullable_keys,
        ..NewEdgeLabel::between("created", "person", "software")
    };
    let parent = NewEdgeLabel {
        label_type: EdgeLabelType::Parent,
        ..NewEdgeLabel::named("par")
    };
    let sub = NewEdgeLabel {
        label_type: EdgeLabelType::Sub,
        parent: Some("par".to_owned()),
        ..NewEdgeLabel::between("sub1", "person", "software")
    };
    for label in [knows, created, parent, sub] {
        graph.catalogue().create_edge_label(label).unwrap();
    }
    let index = |name, index_type, label, fields: &[&str]| NewIndexLabel {
        rebuild: false,
        ..NewIndexLabel::on(name, BaseType::VertexLabel, label, index_type, fields)
    };
    for index in [
        index("byAge", IndexType::Range, "person", &["age"]),
        index("byCity", IndexType::Secondary, "person", &["city"]),
        index("byHobby", IndexType::Secondary, "all", &["hobby"]),
        index("byName", IndexType::Unique, "book", &["name"]),
    ] {
        graph.catalogue().create_index_label(index).unwrap();
    }
}

impl Fixture {
    pub(crate) fn new() -> Self {
        Self::with(ServerConfig::default())
    }

    pub(crate) fn with(config: ServerConfig) -> Self {
        let server = TestServer::start(config);
        let graph = server.state.graphs().create("hugegraph").unwrap();
        property_keys(&graph);
        vertex_labels(&graph);
        edge_labels(&graph);
        Self { server }
    }

    pub(crate) fn send(&self, verb: &str, path: &str, body: &str) -> Answer {
        self.server.exchange(&format!(
            "{verb} {BASE}/{path} HTTP/1.1\r\nhost: h\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len()
        ))
    }

    /// Sends a request whose answer must be `status` and exactly this text.
    #[track_caller]
    fn says(&self, verb: &str, path: &str, body: &str, status: u16, text: &str) {
        let answer = self.send(verb, path, body);
        assert_eq!(
            (answer.status, answer.text()),
            (status, text),
            "{verb} {path} {body}"
        );
    }

    /// Sends a request that must be refused with this status and message.
    #[track_caller]
    pub(crate) fn refuses(&self, verb: &str, path: &str, body: &str, status: u16, message: &str) {
        let answer = self.send(verb, path, body);
        let got: Value = serde_json::from_slice(&answer.body).unwrap_or(Value::Null);
        assert_eq!(
            (answer.status, got["message"].as_str()),
            (status, Some(message)),
            "{verb} {path} {body}: {}",
            answer.text()
        );
    }

    /// Sends a request that must succeed, and returns its answer.
    #[track_caller]
    pub(crate) fn done(&self, verb: &str, path: &str, body: &str) -> Value {
        let answer = self.send(verb, path, body);
        assert!(
            (200..300).contains(&answer.status),
            "{verb} {path} {body}: {}",
            answer.text()
        );
        serde_json::from_slice(&answer.body).unwrap_or(Value::Null)
    }

    /// Marko, vadas, josh, lop and three edges.
    fn people(&self) {
        let vertices = r#"[{"label":"person","properties":{"name":"marko","age":29,"city":"Beijing"}},
            {"label":"person","properties":{"name":"vadas","age":27,"city":"Hongkong"}},
            {"label":"person","properties":{"name":"josh","age":32,"city":"Beijing"}},
            {"label":"software","properties":{"name":"lop","lang":"java","price":328}}]"#;
        self.done("POST", "vertices/batch", vertices);
        for body in [
            r#"{"label":"knows","outV":"1:marko","inV":"1:vadas","properties":{"date":"2016-01-10","weight":0.5}}"#,
            r#"{"label":"knows","outV":"1:marko","inV":"1:josh","properties":{"date":"2013-02-20","weight":1.0}}"#,
            r#"{"label":"created","outV":"1:marko","inV":"2:lop","properties":{"date":"2017-12-10","city":"Shanghai","weight":0.4}}"#,
        ] {
            self.done("POST", "edges", body);
        }
    }
}

/// The ids of the elements under `key`.
fn ids(answer: &Value, key: &str) -> Vec<String> {
    let id = |element: &Value| match &element["id"] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    answer[key].as_array().unwrap().iter().map(id).collect()
}

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
        answer.text().starts_with("Unrecognized field \"foo\""),
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
        answer.text().contains("from String \"NOPE\""),
        "{}",
        answer.text()
    );
}

#[test]
fn listings_and_predicates() {
    let fixture = Fixture::new();
    fixture.people();
    let list = |properties: &str| {
        let encoded: String = properties.bytes().map(|b| format!("%{b:02X}")).collect();
        format!("vertices?label=person&properties={encoded}")
    };
    for (properties, expected) in [
        (r#"{"city":"Beijing"}"#, &["1:josh", "1:marko"][..]),
        (r#"{"age":29}"#, &["1:marko"]),
        (r#"{"age":"P.gt(29)"}"#, &["1:josh"]),
        (r#"{"age":"P.between(27,32)"}"#, &["1:marko", "1:vadas"]),
        (r#"{"age":"P.inside(27,32)"}"#, &["1:marko"]),
        (r#"{"age":"P.outside(28,31)"}"#, &["1:josh", "1:vadas"]),
        (r#"{"age":"P.within(27,29)"}"#, &["1:marko", "1:vadas"]),
        (
            r#"{"city":"P.within(\"Beijing\")"}"#,
            &["1:josh", "1:marko"],
        ),
        (r#"{"name":"marko","age":29}"#, &["1:marko"]),
        (r#"{"age":[29,30]}"#, &[]),
        ("{}", &["1:josh", "1:marko", "1:vadas"]),
    ] {
        let mut found = ids(&fixture.done("GET", &list(properties), ""), "vertices");
        found.sort();
        assert_eq!(found, expected, "{properties}");
    }
    for (properties, message) in [
        (
            r#"{"city":"P.eq(\"Beijing\")"}"#,
            "Invalid value 'Beijing', expect a number",
        ),
        (r#"{"age":"P.foo(1)"}"#, "Not support predicate 'foo'"),
        (
            r#"{"age":"P.gt(abc)"}"#,
            "Invalid value 'abc', expect a number",
        ),
        (
            r#"{"age":"P.between(1)"}"#,
            "Invalid numbers size 1, expect 2",
        ),
        (r#"{"age":"P.gt"}"#, "Invalid predicate: P.gt"),
        (r#"{"nope":1}"#, "Undefined property key: 'nope'"),
        ("bad", "Invalid request with properties: bad"),
        ("null", "Invalid request with properties: null"),
        (
            r#"{"age":"x"}"#,
            "Invalid data type of query value 'x', expect INT for 'age', actual got class java.lang.String",
        ),
    ] {
        fixture.refuses("GET", &list(properties), "", 400, message);
    }
    fixture.refuses(
        "GET",
        "vertices?label=none",
        "",
        400,
        "Undefined vertex label: 'none'",
    );
    fixture.refuses(
        "GET",
        "vertices?limit=-2",
        "",
        400,
        "Not a legal range: [0, -2]",
    );
    fixture.refuses(
        "GET",
        "edges?vertex_id=%221%3Ajosh%22&direction=out",
        "",
        400,
        "Direction value must be in [OUT, IN, BOTH], but got 'out'",
    );
    let out = fixture.done("GET", "edges?vertex_id=%221%3Amarko%22&direction=OUT&label=knows&properties=%7B%22date%22%3A%22P.gt%28%5C%222014-01-01%5C%22%29%22%7D", "");
    assert_eq!(ids(&out, "edges"), ["S1:marko>1>1>7L8dqHW0>S1:vadas"]);
    let mut token = String::new();
    let mut paged = Vec::new();
    loop {
        let answer = fixture.done("GET", &format!("vertices?limit=3&page={token}"), "");
        paged.extend(ids(&answer, "vertices"));
        match &answer["page"] {
            Value::String(next) => token = next.replace('+', "%2B").replace('/', "%2F"),
            end => {
                assert!(end.is_null());
                break;
            }
        }
    }
    assert_eq!(paged.len(), 4);
    assert!(fixture.done("GET", "vertices", "").get("page").is_none());
}

#[test]
fn elements_by_several_ids() {
    let fixture = Fixture::new();
    fixture.people();
    let get = |path: &str| {
        let answer = fixture
            .server
            .get(&format!("/graphs/hugegraph/traversers/{path}"));
        serde_json::from_slice::<Value>(&answer.body).unwrap()
    };
    let found = get("vertices?ids=%221%3Amarko%22&ids=%221%3Anone%22&ids=%222%3Alop%22");
    assert_eq!(ids(&found, "vertices"), ["1:marko", "2:lop"]);
    let found = get("edges?ids=S1%3Amarko%3E2%3E2%3E%3ES2%3Alop&ids=S1%3Ax%3E2%3E2%3E%3ES2%3Alop");
    assert_eq!(ids(&found, "edges"), ["S1:marko>2>2>>S2:lop"]);
    assert_eq!(
        get("vertices")["message"],
        "The ids parameter can't be null or empty"
    );
}

#[test]
fn everything_is_scanned_page_by_page() {
    let fixture = Fixture::new();
    fixture.people();
    let get = |path: &str| {
        let answer = fixture
            .server
            .get(&format!("/graphs/hugegraph/traversers/{path}"));
        serde_json::from_slice::<Value>(&answer.body).unwrap()
    };
    let shards = get("vertices/shards?split_size=1048576");
    assert_eq!(shards["shards"].as_array().unwrap().len(), 1);
    let all = |path: &str, key: &str| {
        let mut found = Vec::new();
        let mut page = String::new();
        loop {
            let answer = get(&format!(
                "{path}?start=AA%3D%3D&end=%2Fw%3D%3D&page_limit=2&page={page}"
            ));
            found.extend(ids(&answer, key));
            match &answer["page"] {
                Value::String(next) => page = next.replace('+', "%2B"),
                _ => break,
            }
        }
        found.sort();
        found
    };
    let vertices = all("vertices/scan", "vertices");
    assert_eq!(vertices, ["1:josh", "1:marko", "1:vadas", "2:lop"]);
    assert_eq!(all("edges/scan", "edges").len(), 3);
    assert_eq!(ids(&get("edges/scan"), "edges").len(), 3);
    assert_eq!(
        get("vertices/shards?split_size=10")["message"],
        "The split-size must be >= 1048576 bytes, but got 10"
    );
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
fn both_times() {
    let fixture = Fixture::new();
    let put = |age: i64, period: &str| {
        let body = json!({"label": "person", "properties": {"name": "t", "age": age}}).to_string();
        fixture.done("POST", &format!("vertices?{period}"), &body);
    };
    put(1, "valid_from=2000-01-01");
    put(2, "valid_from=2010-01-01");
    let history = fixture.done("GET", "vertices/%221%3At%22/history", "");
    let versions = history["versions"].as_array().unwrap();
    assert_eq!(versions.len(), 2);
    let known = versions[0]["version"].as_u64().unwrap();
    put(3, "valid_from=2005-01-01&valid_to=2006-01-01T00:00:00Z");
    let age = |query: &str| {
        let answer = fixture.send("GET", &format!("vertices/%221%3At%22?{query}"), "");
        let body: Value = serde_json::from_slice(&answer.body).unwrap();
        body["properties"]["age"].as_i64()
    };
    for (query, expected) in [
        ("", Some(2)),
        ("as_of=1999-12-31", None),
        ("as_of=2000-01-01", Some(1)),
        ("as_of=2005-06-01T00:00:00%2B02:00", Some(3)),
        ("as_of=2006-01-01", Some(1)),
        ("as_of=2010-01-01", Some(2)),
    ] {
        assert_eq!(age(query), expected, "{query}");
    }
    assert_eq!(age(&format!("as_of=2005-06-01&as_of_tx={known}")), Some(1));
    let listed = fixture.done("GET", "vertices?label=person&as_of=2005-06-01", "");
    assert_eq!(listed["vertices"][0]["properties"]["age"], 3);

    let first = fixture.done("GET", "vertices/%221%3At%22/history?limit=2", "");
    let page = first["page"].as_str().unwrap();
    let second = fixture.done(
        "GET",
        &format!("vertices/%221%3At%22/history?limit=2&page={page}"),
        "",
    );
    assert_eq!(
        (
            second["versions"].as_array().unwrap().len(),
            &second["page"]
        ),
        (1, &Value::Null)
    );
    let newest = &first["versions"][0];
    assert_eq!(newest["valid_from"], "2005-01-01T00:00:00.000000Z");
    assert_eq!(newest["valid_to"], "2006-01-01T00:00:00.000000Z");
    assert_eq!(newest["kind"], "put");
    assert_eq!(newest["element"]["properties"]["age"], 3);

    fixture.says("DELETE", "vertices/%221%3At%22", "", 204, "");
    assert_eq!(age(""), None);
    assert_eq!(age("as_of=2012-01-01"), Some(2));
    let history = fixture.done("GET", "vertices/%221%3At%22/history", "");
    assert_eq!(history["versions"][0]["kind"], "delete");
    assert!(history["versions"][0]["element"].is_null());
    for bad in ["as_of=yesterday", "as_of_tx=-1", "as_of_tx=9999-01-01"] {
        assert_eq!(
            fixture
                .send("GET", &format!("vertices/%221%3At%22?{bad}"), "")
                .status,
            400,
            "{bad}"
        );
    }
    let body = json!({"label": "person", "properties": {"name": "t", "age": 1}}).to_string();
    let empty = fixture.send(
        "POST",
        "vertices?valid_from=2010-01-01&valid_to=2010-01-01",
        &body,
    );
    assert_eq!(empty.status, 400);
}

#[test]
fn a_purged_vertex_leaves_nothing_at_any_time() {
    let fixture = Fixture::new();
    fixture.people();
    let before = fixture.done("GET", "vertices/%221%3Amarko%22/history", "");
    let recorded = before["versions"][0]["recorded_at"]
        .as_str()
        .unwrap()
        .to_owned();
    let history = "vertices/%221%3Amarko%22/history";
    fixture.refuses(
        "DELETE",
        history,
        "",
        400,
        "Please take the message: I'm sure to purge all versions",
    );
    fixture.says("DELETE", "vertices/%221%3Amarko%22", "", 204, "");
    let then = format!("vertices/%221%3Amarko%22?as_of={recorded}");
    assert_eq!(fixture.send("GET", &then, "").status, 200);
    let purge = format!("{history}?confirm_message=I%27m%20sure%20to%20purge%20all%20versions");
    fixture.says("DELETE", &purge, "", 204, "");
    assert_eq!(fixture.send("GET", &then, "").status, 404);
    assert_eq!(fixture.send("GET", history, "").status, 404);
    let edges = fixture.done(
        "GET",
        &format!("edges?vertex_id=%221%3Ajosh%22&as_of={recorded}"),
        "",
    );
    assert_eq!(edges["edges"], json!([]));
    let people = fixture.done(
        "GET",
        &format!("vertices?label=person&as_of={recorded}"),
        "",
    );
    assert!(!ids(&people, "vertices").contains(&"1:marko".to_owned()));
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

#[test]
fn a_vertex_lists_few_edges_and_many() {
    let fixture = Fixture::with(ServerConfig::default());
    let people: Vec<Value> = (0..300)
        .map(|at| json!({"label":"person","properties":{"name":format!("p{at}"),"age":at}}))
        .collect();
    fixture.done("POST", "vertices/batch", &json!(people).to_string());
    let knows: Vec<Value> = (1..300)
        .map(|at| {
            json!({"label":"knows","outV":"1:p0","outVLabel":"person","inV":format!("1:p{at}"),
                "inVLabel":"person","properties":{"date":"2020-01-01"}})
        })
        .collect();
    fixture.done("POST", "edges/batch", &json!(knows).to_string());
    // Below, around and above what is listed in place.
    for limit in [1, 100, 127, 128, 129, 299, -1] {
        let path = format!("edges?vertex_id=%221:p0%22&direction=OUT&limit={limit}");
        let listed = ids(&fixture.done("GET", &path, ""), "edges");
        let expected = usize::try_from(limit).unwrap_or(299);
        assert_eq!(listed.len(), expected, "{path}");
    }
    let pages = fixture.done("GET", "edges?vertex_id=%221:p0%22&limit=250&page", "");
    assert_eq!(ids(&pages, "edges").len(), 250);
    assert!(pages["page"].is_string());
}

#[test]
fn an_answer_that_is_too_large_is_refused() {
    let fixture = Fixture::with(ServerConfig {
        max_answer_bytes: 4096,
        ..ServerConfig::default()
    });
    let many: Vec<Value> = (0..100)
        .map(|id| json!({"label": "num", "id": id, "properties": {"name": "x".repeat(100)}}))
        .collect();
    fixture.done("POST", "vertices/batch", &json!(many).to_string());
    fixture.refuses(
        "GET",
        "vertices",
        "",
        400,
        "The answer is larger than the limit of 4096 bytes: ask for pages",
    );
    let page = fixture.done("GET", "vertices?page=&limit=5", "");
    assert_eq!(page["vertices"].as_array().unwrap().len(), 5);
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
