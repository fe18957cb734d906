//! TinkerPop's graph `modern`: four persons, two programs, six edges.

use std::sync::Arc;

use varve_model::schema::{
    AggregateType, EdgeLabelType, Frequency, IdStrategy, Retention, SchemaStatus, WriteType,
};
use varve_model::{
    Cardinality, CommitVersion, DataType, Datum, Edge, EdgeId, EdgeLabel, EdgeLabelId, Element,
    ElementId, Instant, Period, Properties, PropertyKey, PropertyKeyId, Value as Stored, Vertex,
    VertexId, VertexLabel, VertexLabelId,
};
use varve_query::Value;
use varve_query::value::{EdgeHandle, VertexHandle, Walked};
use varve_testkit::model::ModelView;
use varve_view::{PastVersion, SchemaView};

use crate::expected::Wanted;
use crate::generate::Random;

pub(crate) struct Modern {
    pub(crate) view: ModelView,
    pub(crate) schema: Names,
}

/// Property keys, vertex labels and edge labels, numbered from 1.
pub(crate) struct Names {
    keys: Vec<PropertyKey>,
    vertices: Vec<VertexLabel>,
    edges: Vec<EdgeLabel>,
}

const NAMES: [&str; 6] = ["marko", "vadas", "lop", "josh", "ripple", "peter"];
/// Edges as (source, label, target, weight in hundredths).
const EDGES: [(i64, u32, i64, u32); 6] = [
    (1, 1, 2, 50),
    (1, 1, 4, 100),
    (1, 2, 3, 40),
    (4, 2, 5, 100),
    (4, 2, 3, 40),
    (6, 2, 3, 20),
];

impl Modern {
    pub(crate) fn new() -> Self {
        let text = |text: &str| Stored::Text(text.to_owned());
        let person = |id: i64, name: &str, age: i32| Vertex {
            id: VertexId::Number(id),
            label: VertexLabelId(1),
            properties: [
                (PropertyKeyId(1), text(name)),
                (PropertyKeyId(2), Stored::Int(age)),
            ]
            .into_iter()
            .collect(),
        };
        let program = |id: i64, name: &str| Vertex {
            id: VertexId::Number(id),
            label: VertexLabelId(2),
            properties: [
                (PropertyKeyId(1), text(name)),
                (PropertyKeyId(3), text("java")),
            ]
            .into_iter()
            .collect(),
        };
        let vertices = vec![
            person(1, "marko", 29),
            person(2, "vadas", 27),
            program(3, "lop"),
            person(4, "josh", 32),
            program(5, "ripple"),
            person(6, "peter", 35),
        ];
        let edge = |(source, label, target, weight): (i64, u32, i64, u32)| Edge {
            id: edge_id(source, label, target),
            source_label: label_of(source),
            target_label: label_of(target),
            properties: Properties::from_iter([(
                PropertyKeyId(4),
                Stored::Double(f64::from(weight) / 100.0),
            )]),
        };
        Self::of(vertices, EDGES.into_iter().map(edge).collect())
    }

    /// A graph of the same schema.
    pub(crate) fn of(vertices: Vec<Vertex>, edges: Vec<Edge>) -> Self {
        Self {
            view: ModelView::of(vertices, edges),
            schema: Names::new(),
        }
    }

    /// A graph of the same schema without elements.
    pub(crate) fn empty() -> Self {
        Self {
            view: ModelView::of(Vec::new(), Vec::new()),
            schema: Names::new(),
        }
    }

    /// Random persons and programs in the same schema. Some have no age or language.
    pub(crate) fn random(random: &mut Random) -> Self {
        let count = i64::from(random.below(9)) + 4;
        let vertex = |id: i64, random: &mut Random| {
            let name = *random.of(&["ann", "bob", "cy", "dan", "eve"]);
            let mut properties = vec![(PropertyKeyId(1), Stored::Text(name.to_owned()))];
            if random.chance(3) {
                let age = 20 + i32::try_from(random.below(20)).expect("small");
                properties.push((PropertyKeyId(2), Stored::Int(age)));
            }
            if random.chance(2) {
                properties.push((PropertyKeyId(3), Stored::Text("java".to_owned())));
            }
            Vertex {
                id: VertexId::Number(id),
                label: label_of(id),
                properties: properties.into_iter().collect(),
            }
        };
        let vertices: Vec<Vertex> = (1..=count).map(|id| vertex(id, random)).collect();
        let past = past_of(&vertices, random);
        let mut edges: std::collections::BTreeMap<String, Edge> = std::collections::BTreeMap::new();
        for _ in 0..10 + random.below(30) {
            let mut end = || i64::from(random.below(15)) % count + 1;
            let (source, target) = (end(), end());
            let id = edge_id(source, *random.of(&[1, 2, 2, 4, 5]), target);
            let weight = f64::from(random.below(8)) / 4.0;
            let edge = Edge {
                id: id.clone(),
                source_label: label_of(source),
                target_label: label_of(target),
                properties: [(PropertyKeyId(4), Stored::Double(weight))]
                    .into_iter()
                    .collect(),
            };
            edges.insert(id.to_string(), edge);
        }
        Self {
            view: ModelView::of(vertices, edges.into_values().collect()).with_past(past),
            schema: Names::new(),
        }
    }

    /// A vertex by its name. The names of `modern` are known in every graph.
    pub(crate) fn vertex(&self, name: &str) -> Option<Value> {
        let wanted = Stored::Text(name.to_owned());
        let mut all = self.view.all_vertices().iter();
        let found = all.find(|vertex| vertex.properties.get(PropertyKeyId(1)) == Some(&wanted));
        let id = match found {
            Some(vertex) => vertex.id.clone(),
            None => VertexId::Number(number_of(name)?),
        };
        Some(Value::Vertex(Arc::new(VertexHandle::new(id, None))))
    }

    /// An edge by its ends and its label: `marko-knows->vadas`.
    pub(crate) fn edge(&self, text: &str) -> Option<Value> {
        let (source, rest) = text.split_once('-')?;
        let (label, target) = rest.split_once("->")?;
        let (source, target) = (self.vertex(source)?, self.vertex(target)?);
        let id = EdgeId {
            source: source.as_vertex_id()?,
            target: target.as_vertex_id()?,
            ..edge_id(0, self.schema.edge_label_named(label)?.id.0, 0)
        };
        let handle = EdgeHandle {
            source_label: VertexLabelId(1),
            target_label: VertexLabelId(1),
            properties: Properties::new(),
            newer: varve_query::value::NewerEdge::default(),
            label_name: "".into(),
            is_given: false,
            id,
        };
        Some(Value::Edge(Arc::new(handle), Walked::No))
    }

    pub(crate) fn parameter(&self, text: &str) -> Option<Value> {
        Wanted::read(text, self)?.value()
    }
}

/// Past versions of some vertices: their ages by year from 1970 on, and deletions.
pub(crate) fn past_of(vertices: &[Vertex], random: &mut Random) -> Vec<(ElementId, PastVersion)> {
    let mut past = Vec::new();
    for vertex in vertices {
        let count = random.below(4);
        for version in (1..=count).rev() {
            let mut then = vertex.clone();
            let age = 20 + i32::try_from(random.below(20)).expect("small");
            then.properties.set(PropertyKeyId(2), Stored::Int(age));
            let year = |year: u32| Instant(i64::from(year) * 365 * 86_400_000_000);
            let from = random.below(3);
            let version = PastVersion {
                version: CommitVersion(u64::from(version)),
                period: Period {
                    from: year(from),
                    to: year(from + 2),
                },
                element: random.chance(4).then_some(Element::Vertex(then)),
                superseded: (version < count).then_some(CommitVersion(u64::from(version) + 1)),
            };
            past.push((ElementId::Vertex(vertex.id.clone()), version));
        }
    }
    past
}

fn number_of(name: &str) -> Option<i64> {
    let at = NAMES.iter().position(|own| *own == name)?;
    i64::try_from(at + 1).ok()
}

const fn label_of(id: i64) -> VertexLabelId {
    VertexLabelId(if id == 3 || id == 5 { 2 } else { 1 })
}

pub(crate) fn edge_id(source: i64, label: u32, target: i64) -> EdgeId {
    EdgeId {
        source: VertexId::Number(source),
        parent: EdgeLabelId(if label > 3 { 3 } else { label }),
        label: EdgeLabelId(label),
        sort_values: "".into(),
        target: VertexId::Number(target),
    }
}

impl Names {
    /// The names of `modern`, and a parent label with two sub labels.
    fn new() -> Self {
        let mut names = Self::of(
            &[
                ("name", DataType::Text),
                ("age", DataType::Int),
                ("lang", DataType::Text),
                ("weight", DataType::Double),
            ],
            &["person", "software"],
            &["knows", "created", "wrote", "edited", "reviewed"],
        );
        names.edges[2].label_type = EdgeLabelType::Parent;
        for label in &mut names.edges[3..] {
            label.label_type = EdgeLabelType::Sub;
            label.parent = Some(EdgeLabelId(3));
        }
        names
    }

    /// These keys, vertex labels and edge labels.
    pub(crate) fn of(keys: &[(&str, DataType)], vertices: &[&str], edges: &[&str]) -> Self {
        let key = |id: u32, name: &str, data_type| PropertyKey {
            id: PropertyKeyId(id),
            name: name.to_owned(),
            data_type,
            cardinality: Cardinality::Single,
            aggregate_type: AggregateType::None,
            write_type: WriteType::Oltp,
            status: SchemaStatus::Created,
            user_data: Datum::Map(Vec::new()),
        };
        let vertex = |id: u32, name: &str| VertexLabel {
            id: VertexLabelId(id),
            name: name.to_owned(),
            id_strategy: IdStrategy::CustomizeNumber,
            properties: Vec::new(),
            primary_keys: Vec::new(),
            nullable_keys: Vec::new(),
            ttl: 0,
            ttl_start_time: None,
            enable_label_index: true,
            retention: Retention::All,
            status: SchemaStatus::Created,
            user_data: Datum::Map(Vec::new()),
        };
        let edge = |id: u32, name: &str| EdgeLabel {
            id: EdgeLabelId(id),
            name: name.to_owned(),
            label_type: EdgeLabelType::Normal,
            parent: None,
            link: None,
            frequency: Frequency::Single,
            sort_keys: Vec::new(),
            properties: Vec::new(),
            nullable_keys: Vec::new(),
            ttl: 0,
            ttl_start_time: None,
            enable_label_index: true,
            retention: Retention::All,
            status: SchemaStatus::Created,
            user_data: Datum::Map(Vec::new()),
        };
        let numbered = |at: usize| u32::try_from(at + 1).expect("few names");
        let keys = keys.iter().enumerate();
        let vertices = vertices.iter().enumerate();
        let edges = edges.iter().enumerate();
        Self {
            keys: keys
                .map(|(at, (name, kind))| key(numbered(at), name, *kind))
                .collect(),
            vertices: vertices
                .map(|(at, name)| vertex(numbered(at), name))
                .collect(),
            edges: edges.map(|(at, name)| edge(numbered(at), name)).collect(),
        }
    }
}

impl SchemaView for Names {
    fn property_key(&self, id: PropertyKeyId) -> Option<&PropertyKey> {
        self.keys.iter().find(|key| key.id == id)
    }

    fn property_key_named(&self, name: &str) -> Option<&PropertyKey> {
        self.keys.iter().find(|key| key.name == name)
    }

    fn property_keys(&self) -> Vec<PropertyKeyId> {
        self.keys.iter().map(|key| key.id).collect()
    }

    fn vertex_label(&self, id: VertexLabelId) -> Option<&VertexLabel> {
        self.vertices.iter().find(|label| label.id == id)
    }

    fn vertex_label_named(&self, name: &str) -> Option<&VertexLabel> {
        self.vertices.iter().find(|label| label.name == name)
    }

    fn edge_label(&self, id: EdgeLabelId) -> Option<&EdgeLabel> {
        self.edges.iter().find(|label| label.id == id)
    }

    fn edge_label_named(&self, name: &str) -> Option<&EdgeLabel> {
        self.edges.iter().find(|label| label.name == name)
    }
}
