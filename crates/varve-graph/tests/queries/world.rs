//! A graph of people, and shorthands to write and to find.

use std::sync::Arc;
use std::time::Duration;

use varve_graph::query::{EdgeQuery, VertexQuery, collect_edges, collect_vertices};
use varve_graph::schema::{BaseType, NewEdgeLabel, NewIndexLabel, NewPropertyKey, NewVertexLabel};
use varve_graph::tasks::{TaskId, TaskStatus};
use varve_graph::write::{EndCheck, Missing, Mutation, WritePeriod, WriteRequest};
use varve_graph::{Graph, GraphOptions, Registry};
use varve_kv::{Engine, MemoryEngine};
use varve_model::schema::IndexType;
use varve_model::{
    Clock, CommitVersion, Condition, DataType, Edge, EdgeId, EdgeLabelId, ElementId, Instant,
    Predicate, PropertyKeyId, TemporalScope, Value, Vertex, VertexId, VertexLabelId, sortable,
};
use varve_testkit::ManualClock;

pub(crate) const NAME: PropertyKeyId = PropertyKeyId(1);
pub(crate) const AGE: PropertyKeyId = PropertyKeyId(2);
pub(crate) const CITY: PropertyKeyId = PropertyKeyId(3);
pub(crate) const PERSON: VertexLabelId = VertexLabelId(1);
pub(crate) const KNOWS: EdgeLabelId = EdgeLabelId(1);
pub(crate) const START: i64 = 1_000_000_000;
/// Longer than any task of these tests takes; only a failing test waits for it.
const TIMEOUT: Duration = Duration::from_secs(60);

pub(crate) struct World {
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) graph: Arc<Graph>,
    _registry: Registry,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::on(MemoryEngine::new())
    }

    pub(crate) fn on(engine: impl Engine + 'static) -> Self {
        let clock = Arc::new(ManualClock::new(Instant(START)));
        let options = GraphOptions::new(Arc::clone(&clock) as Arc<dyn Clock>);
        let registry = Registry::open(Arc::new(engine), options).expect("registry");
        let graph = registry.create("g").expect("graph");
        let catalogue = graph.catalogue();
        for (name, data_type) in [
            ("name", DataType::Text),
            ("age", DataType::Int),
            ("city", DataType::Text),
        ] {
            let key = NewPropertyKey {
                data_type,
                ..NewPropertyKey::named(name)
            };
            catalogue.create_property_key(key).expect("property key");
        }
        let names = |names: &[&str]| {
            names
                .iter()
                .map(|name| (*name).to_owned())
                .collect::<Vec<_>>()
        };
        let person = NewVertexLabel {
            properties: names(&["name", "age", "city"]),
            primary_keys: names(&["name"]),
            nullable_keys: names(&["age", "city"]),
            ..NewVertexLabel::named("person")
        };
        assert_eq!(
            catalogue.create_vertex_label(person).expect("person").id,
            PERSON
        );
        let knows = NewEdgeLabel {
            source: Some("person".into()),
            target: Some("person".into()),
            properties: names(&["age", "city"]),
            nullable_keys: names(&["age", "city"]),
            ..NewEdgeLabel::named("knows")
        };
        assert_eq!(catalogue.create_edge_label(knows).expect("knows").id, KNOWS);
        Self {
            clock,
            graph,
            _registry: registry,
        }
    }

    pub(crate) fn index(
        &self,
        name: &str,
        base: (BaseType, &str),
        index_type: IndexType,
        fields: &[&str],
    ) -> TaskStatus {
        let new = NewIndexLabel::on(name, base.0, base.1, index_type, fields);
        let task = self
            .graph
            .catalogue()
            .create_index_label(new)
            .expect("index label")
            .task;
        self.done(task)
    }

    pub(crate) fn person_index(&self, index_type: IndexType, field: &str) -> TaskStatus {
        self.index(
            &format!("by_{field}"),
            (BaseType::VertexLabel, "person"),
            index_type,
            &[field],
        )
    }

    pub(crate) fn done(&self, task: TaskId) -> TaskStatus {
        self.graph
            .tasks()
            .wait_until_done(task, TIMEOUT)
            .expect("task")
            .status
    }

    pub(crate) fn write(
        &self,
        mutation: Mutation,
        from: Option<i64>,
        to: Option<i64>,
    ) -> CommitVersion {
        let period = WritePeriod {
            from: from.map(Instant),
            to: to.map(Instant),
        };
        self.clock.step(1_000);
        self.graph
            .write_now(&WriteRequest {
                mutations: vec![mutation],
                period,
                ..WriteRequest::default()
            })
            .expect("write")
    }

    pub(crate) fn put(&self, name: &str, age: i32, city: &str) -> CommitVersion {
        self.put_during(name, age, city, None, None)
    }

    pub(crate) fn put_during(
        &self,
        name: &str,
        age: i32,
        city: &str,
        from: Option<i64>,
        to: Option<i64>,
    ) -> CommitVersion {
        self.write(
            Mutation::PutVertex {
                vertex: person(name, age, city),
                fresh: false,
            },
            from,
            to,
        )
    }

    /// What [`World::put`] asks for.
    pub(crate) fn put_request(&self, name: &str, age: i32, city: &str) -> WriteRequest {
        self.clock.step(1_000);
        WriteRequest::now(vec![Mutation::PutVertex {
            vertex: person(name, age, city),
            fresh: false,
        }])
    }

    pub(crate) fn edge(&self, source: &str, target: &str, age: i32) -> CommitVersion {
        let edge = Edge {
            id: EdgeId {
                source: id(source),
                parent: KNOWS,
                label: KNOWS,
                sort_values: "".into(),
                target: id(target),
            },
            source_label: PERSON,
            target_label: PERSON,
            properties: [(AGE, Value::Int(age))].into_iter().collect(),
        };
        self.write(
            Mutation::PutEdge {
                edge,
                ends: EndCheck::Skip,
            },
            None,
            None,
        )
    }

    pub(crate) fn delete(&self, name: &str) -> CommitVersion {
        let id = ElementId::Vertex(id(name));
        self.write(
            Mutation::Delete {
                id,
                missing: Missing::Refuse,
            },
            None,
            None,
        )
    }

    pub(crate) fn find(
        &self,
        scope: TemporalScope,
        conditions: &[(PropertyKeyId, Predicate)],
    ) -> Vec<String> {
        let query = VertexQuery {
            label: Some(PERSON),
            conditions: all(conditions),
            limit: -1,
            ..VertexQuery::default()
        };
        let view = self.graph.view(scope).expect("view");
        let (found, _) = collect_vertices(&view, view.schema(), &query).expect("served");
        found.iter().map(|vertex| vertex.id.to_string()).collect()
    }

    pub(crate) fn find_edges(
        &self,
        scope: TemporalScope,
        conditions: &[(PropertyKeyId, Predicate)],
    ) -> Vec<String> {
        let query = EdgeQuery {
            labels: vec![KNOWS],
            conditions: all(conditions),
            limit: -1,
            ..EdgeQuery::default()
        };
        let view = self.graph.view(scope).expect("view");
        let (found, _) = collect_edges(&view, view.schema(), &query).expect("served");
        found.iter().map(|edge| edge.id.to_string()).collect()
    }
}

fn all(conditions: &[(PropertyKeyId, Predicate)]) -> Vec<Condition> {
    conditions
        .iter()
        .map(|(key, predicate)| Condition {
            key: *key,
            predicate: predicate.clone(),
        })
        .collect()
}

pub(crate) fn id(name: &str) -> VertexId {
    sortable::primary_key_id(PERSON, name)
}

pub(crate) fn text(text: &str) -> Value {
    Value::Text(text.into())
}

pub(crate) fn person(name: &str, age: i32, city: &str) -> Vertex {
    let properties = [
        (NAME, text(name)),
        (AGE, Value::Int(age)),
        (CITY, text(city)),
    ]
    .into_iter()
    .collect();
    Vertex {
        id: id(name),
        label: PERSON,
        properties,
    }
}

pub(crate) fn in_city(city: &str) -> [(PropertyKeyId, Predicate); 1] {
    [(CITY, Predicate::Eq(text(city)))]
}

pub(crate) fn older_than(age: i32) -> [(PropertyKeyId, Predicate); 1] {
    [(AGE, Predicate::Gt(Value::Int(age)))]
}

pub(crate) fn as_of(version: CommitVersion) -> TemporalScope {
    TemporalScope {
        valid: None,
        transaction: Some(version),
    }
}

pub(crate) fn valid_at(micros: i64) -> TemporalScope {
    TemporalScope {
        valid: Some(Instant(micros)),
        transaction: None,
    }
}
