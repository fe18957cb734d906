//! The rules for vertices and edges, with the sentences that HugeGraph 1.5.0 was recorded to
//! answer.

#![expect(
    clippy::too_many_lines,
    reason = "a test is a list of cases, best read from top to bottom"
)]

use std::borrow::Cow;
use std::sync::Arc;

use varve_encoding::row;
use varve_graph::element::{
    EdgeForm, EdgeInput, RawValue, Rules, Strategies, UpdateAction, UpdateStrategy, VertexInput,
    change,
};
use varve_graph::schema::{
    GraphMode, NewEdgeLabel, NewPropertyKey, NewVertexLabel, Schema, SchemaMode,
};
use varve_graph::write::{EndCheck, IdRef, Mutation, WriteRequest};
use varve_graph::{Graph, GraphError, GraphOptions, Registry};
use varve_kv::memory::MemoryEngine;
use varve_model::schema::{AggregateType, EdgeLabelType, Frequency, IdStrategy};
use varve_model::time::SystemClock;
use varve_model::value::{Cardinality, DataType};
use varve_model::{Datum, EdgeId, ElementId, TemporalScope, Value, Vertex, VertexId};

mod edges;
mod inserts;
mod updates;
mod vertices;

struct Fixture {
    _registry: Registry,
    graph: Arc<Graph>,
    schema: Arc<Schema>,
}

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|name| (*name).to_owned()).collect()
}

/// The property keys and labels of the recording.
fn fixture() -> Fixture {
    fixture_of(SchemaMode::Declared)
}

fn fixture_of(mode: SchemaMode) -> Fixture {
    let options = GraphOptions::new(Arc::new(SystemClock));
    let engine = Arc::new(MemoryEngine::new());
    let registry = Registry::open(engine, options).expect("registry");
    let graph = registry.create_with("g", mode).expect("graph");
    let catalogue = graph.catalogue();
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
        ("u", DataType::Uuid, Cardinality::Single),
        ("blob", DataType::Blob, Cardinality::Single),
        ("flag", DataType::Boolean, Cardinality::Single),
        ("b", DataType::Byte, Cardinality::Single),
        ("l", DataType::Long, Cardinality::Single),
        ("f", DataType::Float, Cardinality::Single),
        ("obj", DataType::Object, Cardinality::Single),
        ("cnt", DataType::Int, Cardinality::Single),
        ("def", DataType::Text, Cardinality::Single),
    ] {
        let mut key = NewPropertyKey {
            data_type,
            cardinality,
            ..NewPropertyKey::named(name)
        };
        if name == "cnt" {
            key.aggregate_type = AggregateType::Sum;
        }
        if name == "def" {
            key.user_data = vec![("~default_value".to_owned(), Datum::Text("dd".to_owned()))];
        }
        catalogue.create_property_key(key).expect(name);
    }
    let all = [
        "name", "age", "city", "date", "weight", "hobby", "tags", "u", "blob", "flag", "b", "l",
        "f", "obj", "cnt", "def",
    ];
    for (name, strategy, properties, primary, nullable) in [
        (
            "person",
            Some(IdStrategy::PrimaryKey),
            &["name", "age", "city"][..],
            &["name"][..],
            &["city"][..],
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
        (
            "multi",
            None,
            &["name", "age", "date"],
            &["name", "age", "date"],
            &[],
        ),
        ("all", Some(IdStrategy::CustomizeString), &all, &[], &all),
        (
            "strict",
            Some(IdStrategy::CustomizeString),
            &["def", "age"],
            &[],
            &[],
        ),
    ] {
        let label = NewVertexLabel {
            id_strategy: strategy,
            properties: names(properties),
            primary_keys: names(primary),
            nullable_keys: names(nullable),
            ..NewVertexLabel::named(name)
        };
        catalogue.create_vertex_label(label).expect(name);
    }
    create_edge_labels(&graph);
    let schema = graph.schema();
    Fixture {
        _registry: registry,
        graph,
        schema,
    }
}

fn create_edge_labels(graph: &Graph) {
    let knows = NewEdgeLabel {
        frequency: Some(Frequency::Multiple),
        properties: names(&["date", "city", "weight"]),
        sort_keys: names(&["date"]),
        nullable_keys: names(&["city", "weight"]),
        ..NewEdgeLabel::between("knows", "person", "person")
    };
    let created = NewEdgeLabel {
        properties: names(&["date", "city", "weight"]),
        nullable_keys: names(&["city", "weight"]),
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
    let ids = NewEdgeLabel::between("ids", "uu", "num");
    for label in [knows, created, parent, sub, ids] {
        graph
            .catalogue()
            .create_edge_label(label)
            .expect("edge label");
    }
}

type Pairs<'a> = Vec<(Cow<'a, str>, RawValue<'a>)>;

fn text(value: &str) -> RawValue<'_> {
    RawValue::Text(Cow::Borrowed(value))
}

fn int(value: i64) -> RawValue<'static> {
    RawValue::Integer(value)
}

fn texts<'a>(values: &[&'a str]) -> RawValue<'a> {
    RawValue::List(values.iter().map(|value| text(value)).collect())
}

fn pairs<'a>(properties: &[(&'a str, RawValue<'a>)]) -> Pairs<'a> {
    properties
        .iter()
        .map(|(name, value)| (Cow::Borrowed(*name), value.clone()))
        .collect()
}

fn vertex_input<'a>(
    label: &'a str,
    id: Option<RawValue<'a>>,
    properties: &[(&'a str, RawValue<'a>)],
) -> VertexInput<'a> {
    VertexInput {
        label: Some(Cow::Borrowed(label)),
        id,
        properties: Some(pairs(properties)),
    }
}

impl Fixture {
    fn vertex(&self, mode: GraphMode, input: VertexInput<'_>) -> Result<Vertex, GraphError> {
        let next = || 77;
        let rules = Rules {
            schema: &self.schema,
            mode,
            next_vertex_id: &next,
            next_edge_number: &next,
        };
        rules.vertex(input).map(|new| new.vertex)
    }

    fn edge(&self, input: EdgeInput<'_>, form: EdgeForm) -> Result<EdgeId, GraphError> {
        let next = || 77;
        let rules = Rules {
            schema: &self.schema,
            mode: GraphMode::None,
            next_vertex_id: &next,
            next_edge_number: &next,
        };
        rules.edge(input, form).map(|new| new.edge.id)
    }

    fn value(&self, vertex: &Vertex, name: &str) -> Option<Value> {
        let key = self.schema.property_key_by_name(name).expect(name).id;
        vertex.properties.get(key).cloned()
    }
}

const SINGLE: EdgeForm = EdgeForm {
    labels_required: false,
    ends_checked: true,
};
const BATCH: EdgeForm = EdgeForm {
    labels_required: true,
    ends_checked: true,
};
const UNCHECKED: EdgeForm = EdgeForm {
    labels_required: true,
    ends_checked: false,
};

fn edge_input<'a>(
    label: &'a str,
    ends: (&'a str, &'a str),
    labels: (Option<&'a str>, Option<&'a str>),
    properties: &[(&'a str, RawValue<'a>)],
) -> EdgeInput<'a> {
    EdgeInput {
        id: None,
        label: Some(Cow::Borrowed(label)),
        source: Some(text(ends.0)),
        source_label: labels.0.map(Cow::Borrowed),
        target: Some(text(ends.1)),
        target_label: labels.1.map(Cow::Borrowed),
        properties: Some(pairs(properties)),
    }
}

impl Fixture {
    fn store(&self, mutation: Mutation) -> Result<(), GraphError> {
        self.graph
            .write_now(&WriteRequest::now(vec![mutation]))
            .map(drop)
    }

    fn put(&self, input: VertexInput<'_>) {
        let vertex = self.vertex(GraphMode::None, input).expect("accepted");
        self.store(Mutation::PutVertex {
            vertex,
            fresh: false,
        })
        .expect("stored");
    }

    fn change(
        &self,
        id: ElementId,
        action: UpdateAction,
        properties: &[(&str, RawValue<'_>)],
    ) -> Result<(), GraphError> {
        let properties = properties
            .iter()
            .map(|(name, value)| (Cow::Owned((*name).to_owned()), value.clone()))
            .collect();
        self.store(change(&self.schema, id, Some(properties), action)?)
    }

    fn stored(&self, id: &str) -> Vertex {
        let found = self.graph.vertex(&VertexId::text(id), TemporalScope::NOW);
        found.expect("read").expect("there")
    }
}
