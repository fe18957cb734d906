//! A server with a graph of people, software and what they hold, and requests to it.

use std::sync::Arc;

use serde_json::Value;
use varve_graph::schema::{BaseType, NewEdgeLabel, NewIndexLabel, NewPropertyKey, NewVertexLabel};
use varve_graph::{Graph, Registry};
use varve_model::Datum;
use varve_model::schema::{EdgeLabelType, Frequency, IdStrategy, IndexType};
use varve_model::value::{Cardinality, DataType};
use varve_server::ServerConfig;
use varve_testkit::http::Answer;
use varve_testserver::TestServer;

const GRAPH: &str = "/graphs/hugegraph";

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
        Self::on(config, varve_server::in_memory().unwrap())
    }

    pub(crate) fn on(config: ServerConfig, graphs: Arc<Registry>) -> Self {
        let server = TestServer::on(config, graphs, None);
        let graph = server.state.graphs().create("hugegraph").unwrap();
        property_keys(&graph);
        vertex_labels(&graph);
        edge_labels(&graph);
        Self { server }
    }

    /// Sends a request to what lies below `graph/`, or with `../` beside it, or with `/` anywhere.
    pub(crate) fn send(&self, verb: &str, path: &str, body: &str) -> Answer {
        let path = match path.strip_prefix("../") {
            Some(beside) => format!("{GRAPH}/{beside}"),
            None if path.starts_with('/') => path.to_owned(),
            None => format!("{GRAPH}/graph/{path}"),
        };
        self.server.send(verb, &path, body)
    }

    /// Sends a request whose answer must be `status` and exactly this text.
    #[track_caller]
    pub(crate) fn says(&self, verb: &str, path: &str, body: &str, status: u16, text: &str) {
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
    pub(crate) fn people(&self) {
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
pub(crate) fn ids(answer: &Value, key: &str) -> Vec<String> {
    let id = |element: &Value| match &element["id"] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    answer[key].as_array().unwrap().iter().map(id).collect()
}
