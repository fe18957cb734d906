//! Queries on a real graph over the in-memory engine: what the write path and index building leave in the indexes is
//! what queries need, now and at every other point of both times.

use std::sync::Arc;
use std::time::Duration;

use varve_graph::maintenance::tidy;
use varve_graph::query::{EdgeQuery, VertexQuery, collect_edges, collect_vertices};
use varve_graph::schema::{
    BaseType, NewEdgeLabel, NewIndexLabel, NewPropertyKey, NewVertexLabel, SchemaKind,
};
use varve_graph::tasks::{TaskId, TaskStatus};
use varve_graph::write::{EndCheck, Missing, Mutation, WritePeriod, WriteRequest};
use varve_graph::{Graph, GraphOptions, Registry};
use varve_kv::MemoryEngine;
use varve_model::schema::IndexType;
use varve_model::{
    Clock, CommitVersion, Condition, DataType, Edge, EdgeId, EdgeLabelId, ElementId, Instant,
    Predicate, PropertyKeyId, TemporalScope, Value, Vertex, VertexId, VertexLabelId, sortable,
};
use varve_testkit::ManualClock;

const NAME: PropertyKeyId = PropertyKeyId(1);
const AGE: PropertyKeyId = PropertyKeyId(2);
const CITY: PropertyKeyId = PropertyKeyId(3);
const PERSON: VertexLabelId = VertexLabelId(1);
const KNOWS: EdgeLabelId = EdgeLabelId(1);
const START: i64 = 1_000_000_000;
/// Longer than any task of these tests takes; only a failing test waits for it.
const PATIENCE: Duration = Duration::from_secs(60);

struct World {
    clock: Arc<ManualClock>,
    graph: Arc<Graph>,
    _registry: Registry,
}

impl World {
    fn new() -> Self {
        let clock = Arc::new(ManualClock::new(Instant(START)));
        let options = GraphOptions::new(Arc::clone(&clock) as Arc<dyn Clock>);
        let registry = Registry::open(Arc::new(MemoryEngine::new()), options).expect("registry");
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

    fn index(
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

    fn person_index(&self, index_type: IndexType, field: &str) -> TaskStatus {
        self.index(
            &format!("by_{field}"),
            (BaseType::VertexLabel, "person"),
            index_type,
            &[field],
        )
    }

    fn done(&self, task: TaskId) -> TaskStatus {
        self.graph
            .tasks()
            .wait_until_done(task, PATIENCE)
            .expect("task")
            .status
    }

    fn write(&self, mutation: Mutation, from: Option<i64>, to: Option<i64>) -> CommitVersion {
        let period = WritePeriod {
            from: from.map(Instant),
            to: to.map(Instant),
        };
        self.clock.step(1_000);
        self.graph
            .write_now(&WriteRequest {
                mutations: vec![mutation],
                period,
            })
            .expect("write")
    }

    fn put(&self, name: &str, age: i32, city: &str) -> CommitVersion {
        self.put_during(name, age, city, None, None)
    }

    fn put_during(
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

    fn edge(&self, source: &str, target: &str, age: i32) -> CommitVersion {
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

    fn delete(&self, name: &str) -> CommitVersion {
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

    fn find(&self, scope: TemporalScope, conditions: &[(PropertyKeyId, Predicate)]) -> Vec<String> {
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

    fn find_edges(
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

fn id(name: &str) -> VertexId {
    sortable::primary_key_id(PERSON, &[text(name)])
}

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

fn person(name: &str, age: i32, city: &str) -> Vertex {
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

fn in_city(city: &str) -> [(PropertyKeyId, Predicate); 1] {
    [(CITY, Predicate::Eq(text(city)))]
}

fn older_than(age: i32) -> [(PropertyKeyId, Predicate); 1] {
    [(AGE, Predicate::Gt(Value::Int(age)))]
}

fn as_of(version: CommitVersion) -> TemporalScope {
    TemporalScope {
        valid: None,
        transaction: Some(version),
    }
}

fn valid_at(micros: i64) -> TemporalScope {
    TemporalScope {
        valid: Some(Instant(micros)),
        transaction: None,
    }
}

const NOTHING: [&str; 0] = [];

#[test]
fn the_present_and_the_past_are_found_by_their_values() {
    let world = World::new();
    assert_eq!(
        world.person_index(IndexType::Secondary, "city"),
        TaskStatus::Success
    );
    assert_eq!(
        world.person_index(IndexType::Range, "age"),
        TaskStatus::Success
    );
    let born = world.put("a", 20, "X");
    let moved = world.put("a", 30, "Y");
    world.put("b", 25, "Y");
    let gone = world.delete("a");
    assert_eq!(world.find(TemporalScope::NOW, &in_city("Y")), ["1:b"]);
    assert_eq!(world.find(TemporalScope::NOW, &in_city("X")), NOTHING);
    assert_eq!(world.find(TemporalScope::NOW, &older_than(10)), ["1:b"]);
    assert_eq!(world.find(as_of(born), &in_city("X")), ["1:a"]);
    assert_eq!(world.find(as_of(born), &older_than(10)), ["1:a"]);
    assert_eq!(world.find(as_of(moved), &in_city("X")), NOTHING);
    assert_eq!(world.find(as_of(moved), &older_than(25)), ["1:a"]);
    assert_eq!(world.find(as_of(gone), &older_than(10)), ["1:b"]);
    assert_eq!(world.find(as_of(moved), &[]), ["1:a"]);
    assert_eq!(
        world.find(valid_at(moved.instant().0), &in_city("Y")),
        ["1:a"]
    );
}

#[test]
fn an_index_made_later_finds_what_was_written_before() {
    let world = World::new();
    let born = world.put("a", 20, "X");
    world.put("a", 30, "Y");
    world.put("b", 25, "Y");
    world.edge("a", "b", 5);
    let edged = world.edge("b", "a", 6);
    world.delete("a");
    assert_eq!(
        world.person_index(IndexType::Secondary, "city"),
        TaskStatus::Success
    );
    assert_eq!(
        world.index(
            "by_age",
            (BaseType::EdgeLabel, "knows"),
            IndexType::Range,
            &["age"]
        ),
        TaskStatus::Success
    );
    assert_eq!(world.find(TemporalScope::NOW, &in_city("Y")), ["1:b"]);
    assert_eq!(world.find(as_of(born), &in_city("X")), ["1:a"]);
    assert_eq!(
        world.find_edges(TemporalScope::NOW, &older_than(0)),
        NOTHING
    );
    assert_eq!(
        world.find_edges(as_of(edged), &older_than(0)),
        ["S1:a>1>1>>S1:b", "S1:b>1>1>>S1:a"]
    );
    let again = world
        .graph
        .catalogue()
        .rebuild(SchemaKind::VertexLabel, "person")
        .expect("rebuild");
    assert_eq!(world.done(again), TaskStatus::Success);
    assert_eq!(world.find(TemporalScope::NOW, &in_city("Y")), ["1:b"]);
    assert_eq!(world.find(as_of(born), &in_city("X")), ["1:a"]);
}

/// A state that is written ahead, or comes back when another ends, is found once it holds, tidied or not, whether the
/// index was there when it was written or not.
fn what_becomes_present_is_found(index_first: bool) {
    let world = World::new();
    if index_first {
        assert_eq!(
            world.person_index(IndexType::Secondary, "city"),
            TaskStatus::Success
        );
    }
    world.put_during("ahead", 1, "X", Some(START + 1_000_000), None);
    world.put("back", 1, "X");
    world.put_during("back", 1, "Y", None, Some(START + 1_000_000));
    world.put_during(
        "brief",
        1,
        "X",
        Some(START + 1_000_000),
        Some(START + 2_000_000),
    );
    if !index_first {
        assert_eq!(
            world.person_index(IndexType::Secondary, "city"),
            TaskStatus::Success
        );
    }
    assert_eq!(world.find(TemporalScope::NOW, &in_city("X")), NOTHING);
    assert_eq!(world.find(TemporalScope::NOW, &in_city("Y")), ["1:back"]);
    assert_eq!(
        world.find(valid_at(START + 1_500_000), &in_city("X")),
        ["1:back", "1:ahead", "1:brief"]
    );
    world.clock.set(Instant(START + 1_500_000));
    for _ in 0..2 {
        assert_eq!(
            world.find(TemporalScope::NOW, &in_city("X")),
            ["1:back", "1:ahead", "1:brief"]
        );
        assert_eq!(world.find(TemporalScope::NOW, &in_city("Y")), NOTHING);
        tidy(&world.graph, 100).expect("tidied");
    }
    world.clock.set(Instant(START + 2_500_000));
    for _ in 0..2 {
        assert_eq!(
            world.find(TemporalScope::NOW, &in_city("X")),
            ["1:back", "1:ahead"]
        );
        assert_eq!(world.find(TemporalScope::NOW, &[]), ["1:back", "1:ahead"]);
        tidy(&world.graph, 100).expect("tidied");
    }
    assert_eq!(
        world.find(valid_at(START + 1_500_000), &in_city("X")),
        ["1:back", "1:ahead", "1:brief"]
    );
    assert_eq!(
        world.find(valid_at(START + 10_000), &in_city("Y")),
        ["1:back"]
    );
}

#[test]
fn what_becomes_present_is_found_by_an_index_from_before() {
    what_becomes_present_is_found(true);
}

#[test]
fn what_becomes_present_is_found_by_an_index_made_between() {
    what_becomes_present_is_found(false);
}

#[test]
fn a_unique_index_over_equal_values_is_refused() {
    let world = World::new();
    world.put("a", 20, "X");
    world.put("b", 20, "Y");
    assert_eq!(
        world.person_index(IndexType::Unique, "age"),
        TaskStatus::Failed
    );
    assert_eq!(
        world.person_index(IndexType::Unique, "city"),
        TaskStatus::Success
    );
    let second = Mutation::PutVertex {
        vertex: person("c", 1, "X"),
        fresh: false,
    };
    let error = world
        .graph
        .write_now(&WriteRequest::now(vec![second]))
        .expect_err("taken");
    assert_eq!(
        error.message,
        "Unique constraint by_city(id=2) conflict is found for v[1:c]"
    );
}

#[test]
fn a_removed_index_leaves_nothing_behind() {
    let world = World::new();
    assert_eq!(
        world.person_index(IndexType::Secondary, "city"),
        TaskStatus::Success
    );
    let born = world.put("a", 20, "X");
    world.put("a", 20, "Y");
    let task = world
        .graph
        .catalogue()
        .remove_index_label("by_city")
        .expect("removal");
    assert_eq!(world.done(task), TaskStatus::Success);
    assert_eq!(
        world.person_index(IndexType::Secondary, "city"),
        TaskStatus::Success
    );
    assert_eq!(world.find(TemporalScope::NOW, &in_city("Y")), ["1:a"]);
    assert_eq!(world.find(as_of(born), &in_city("X")), ["1:a"]);
}

#[test]
fn pages_of_the_past_do_not_move() {
    let world = World::new();
    for at in 0..30 {
        world.put(&format!("v{at}"), at, "X");
    }
    let full = world.graph.published();
    let query = |page| VertexQuery {
        limit: 7,
        page: Some(page),
        ..VertexQuery::default()
    };
    let mut found = Vec::new();
    let mut token = Some(String::new());
    let mut pages = 0;
    while let Some(page) = token {
        let view = world.graph.view(as_of(full)).expect("view");
        let (part, next) = collect_vertices(&view, view.schema(), &query(page)).expect("page");
        found.extend(part.iter().map(|vertex| vertex.id.to_string()));
        token = next;
        world.put(&format!("later{pages}"), 0, "Y");
        world.put(&format!("v{}", 10 + pages), 99, "Z");
        pages += 1;
        assert!(pages < 10, "pages end");
    }
    let mut expected: Vec<String> = (0..30)
        .map(|at| id(&format!("v{at}")).to_string())
        .collect();
    expected.sort();
    found.sort();
    assert_eq!(found, expected);
}
