//! What REST clients see of an open graph: an ordinary schema, values of every kind.

use varve_graph::schema::{FirstUse, LabelUse};
use varve_graph::write::{Mutation, WriteRequest};
use varve_model::schema::IdStrategy;
use varve_model::value::DateTime;
use varve_model::{Cardinality, DataType, Properties, PropertyKeyId, Value, Vertex, VertexId};
use varve_server::ServerConfig;
use varve_testkit::http::Answer;
use varve_testserver::TestServer;

const NAME: PropertyKeyId = PropertyKeyId(1);
const ANY: PropertyKeyId = PropertyKeyId(2);

#[track_caller]
fn json(answer: &Answer, status: u16) -> serde_json::Value {
    assert_eq!(answer.status, status, "{}", answer.text());
    serde_json::from_slice(&answer.body).expect("JSON")
}

/// The open graph `o`, whose label person has vertices 1 and "1".
fn server() -> TestServer {
    let server = TestServer::start(ServerConfig::default());
    let created = server.send("POST", "/graphs/o", r#"{"schema":"open"}"#);
    assert_eq!(created.status, 201);
    let graph = server.state.graphs().get("o").expect("the graph");
    let used = FirstUse {
        vertex_labels: vec![LabelUse {
            name: "person",
            ids: Some(IdStrategy::CustomizeNumber),
            keys: vec![("name", DataType::Text), ("any", DataType::Object)],
        }],
        edge_labels: vec![LabelUse {
            name: "knows",
            ..LabelUse::default()
        }],
        ..FirstUse::default()
    };
    let schema = graph.catalogue().ensure(&used).expect("the schema");
    let label = schema.vertex_label_by_name("person").expect("made").id;
    let mut properties = Properties::new();
    for name in ["marko", "mark"] {
        let meta = [(ANY, Value::Short(1))].into_iter().collect();
        let name = Value::Text(name.to_owned());
        properties.write(NAME, Cardinality::List, name, meta);
    }
    properties.set(
        ANY,
        Value::Map(vec![
            (Value::Int(1), Value::List(vec![Value::Short(2)])),
            (
                Value::Text("at".into()),
                Value::DateTime(DateTime {
                    micros: 1,
                    offset: 0,
                }),
            ),
        ]),
    );
    let vertex = |id, properties| Mutation::PutVertex {
        vertex: Vertex {
            id,
            label,
            properties,
        },
        fresh: false,
    };
    let request = WriteRequest::now(vec![
        vertex(VertexId::Number(1), properties),
        vertex(VertexId::text("1"), Properties::new()),
    ]);
    graph.write_now(&request).expect("written");
    server
}

#[test]
fn the_schema_of_an_open_graph_is_an_ordinary_one() {
    let server = server();
    let label = json(&server.get("/graphs/o/schema/vertexlabels/person"), 200);
    assert_eq!(label["id_strategy"], "CUSTOMIZE_NUMBER");
    assert_eq!(label["properties"], serde_json::json!(["name", "any"]));
    assert_eq!(label["nullable_keys"], label["properties"]);
    let label = json(&server.get("/graphs/o/schema/edgelabels/knows"), 200);
    assert_eq!(label["frequency"], "MULTIPLE");
    assert_eq!(label["links"], serde_json::json!([]));
    let key = json(&server.get("/graphs/o/schema/propertykeys/any"), 200);
    assert_eq!(key["data_type"], "OBJECT");
    let key = r#"{"name":"declared","data_type":"INT"}"#;
    let made = server.send("POST", "/graphs/o/schema/propertykeys", key);
    assert_eq!(made.status, 202, "{}", made.text());
}

#[test]
fn values_of_every_kind_are_plain_json() {
    let server = server();
    let vertex = json(&server.get("/graphs/o/graph/vertices/1"), 200);
    assert_eq!(
        vertex["properties"],
        serde_json::json!({
            "name": ["marko", "mark"],
            "any": {"1": [2], "at": "1970-01-01T00:00:00.000001Z"}
        })
    );
    let listed = json(&server.get("/graphs/o/graph/vertices?label=person"), 200);
    assert_eq!(listed["vertices"].as_array().map(Vec::len), Some(2));
    let text = r#"/graphs/o/graph/vertices/"1""#.replace('"', "%22");
    assert_eq!(json(&server.get(&text), 200)["id"], "1");
    let history = "/graphs/o/graph/vertices/1/history";
    assert_eq!(server.get(history).status, 200);
}

#[test]
fn vertices_take_any_id_and_edges_are_parallel() {
    let server = server();
    for (id, shown) in [("2", "2"), (r#""two""#, r#""two""#)] {
        let body = format!(r#"{{"label":"person","id":{id},"properties":{{"any":[1,"x"]}}}}"#);
        let made = json(&server.send("POST", "/graphs/o/graph/vertices", &body), 201);
        assert_eq!(made["id"].to_string(), shown);
    }
    let body = r#"{"label":"person","properties":{}}"#;
    let made = json(&server.send("POST", "/graphs/o/graph/vertices", body), 201);
    assert!(made["id"].is_i64(), "{made}");
    let edge = r#"{"label":"knows","outV":1,"inV":"two","properties":{}}"#;
    let make = || json(&server.send("POST", "/graphs/o/graph/edges", edge), 201);
    let (first, second) = (make(), make());
    assert_ne!(first["id"], second["id"]);
    assert_eq!(first["outVLabel"], "person");
    let edges = json(&server.get("/graphs/o/graph/edges?label=knows"), 200);
    let ids: Vec<&serde_json::Value> = edges["edges"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|edge| &edge["id"])
        .collect();
    assert_eq!(ids, [&first["id"], &second["id"]]);
    let unknown = r#"{"label":"person","id":3,"properties":{"new":1}}"#;
    let refused = server.send("POST", "/graphs/o/graph/vertices", unknown);
    assert_eq!(refused.status, 400, "{}", refused.text());
}
