//! Optimistic transactions: what they show before they commit, what they store, and when another
//! commit refuses them.

mod conflicts;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use varve_encoding::tables::{EVENT, EVENT_INDEX, TABLES};
use varve_graph::optimistic::{CommitEvery, OptimisticLimits, OptimisticTransaction};
use varve_graph::schema::{BaseType, NewEdgeLabel, NewIndexLabel, NewPropertyKey, NewVertexLabel};
use varve_graph::write::WritePeriod;
use varve_graph::{ErrorKind, Graph, GraphError, GraphOptions};
use varve_kv::{Engine, MemoryEngine};
use varve_model::schema::{Frequency, IdStrategy, IndexType};
use varve_model::time::SystemClock;
use varve_model::{
    DataType, Edge, EdgeId, EdgeLabelId, ElementId, Instant, Properties, PropertyKeyId,
    TemporalScope, Value, Vertex, VertexId, VertexLabelId,
};
use varve_testkit::model::ModelView;
use varve_testkit::view_suite::{Questions, compare};
use varve_testkit::{Random, ReplicatedEngine};
use varve_view::{
    EdgeAddition, Elements, Flow, GraphView, GraphWriter, Meter, Occurrence, PropertyWrite,
    ScanAsk, ScannedElement, SchemaView, VertexAddition, ViewError,
};

const NAME: PropertyKeyId = PropertyKeyId(1);
const AGE: PropertyKeyId = PropertyKeyId(2);
const YEAR: PropertyKeyId = PropertyKeyId(3);
const LABELS: [&str; 2] = ["person", "robot"];
const EDGES: [&str; 2] = ["knows", "made"];
const VERTICES: usize = 8;

/// A graph on an engine with snapshots, and on one without, whose past is read a moment later.
fn graphs() -> [Arc<Graph>; 2] {
    let (replicas, _) = ReplicatedEngine::new(&[EVENT, EVENT_INDEX]);
    [graph_on(&MemoryEngine::new()), graph_on(&replicas)]
}

fn graph_on(engine: &dyn Engine) -> Arc<Graph> {
    let space = engine.open("g", TABLES, true).expect("a space");
    let options = GraphOptions::new(Arc::new(SystemClock));
    let graph = Graph::open("g", space, &options).expect("a graph");
    let catalogue = graph.catalogue();
    for (name, data_type) in [
        ("name", DataType::Text),
        ("age", DataType::Int),
        ("year", DataType::Int),
    ] {
        let key = NewPropertyKey {
            data_type,
            ..NewPropertyKey::named(name)
        };
        catalogue.create_property_key(key).expect("a key");
    }
    for label in LABELS {
        let label = NewVertexLabel {
            id_strategy: Some(IdStrategy::CustomizeString),
            properties: vec!["name".into(), "age".into()],
            nullable_keys: vec!["name".into(), "age".into()],
            ..NewVertexLabel::named(label)
        };
        catalogue.create_vertex_label(label).expect("a label");
    }
    for (label, from, to) in [
        (EDGES[0], "person", "person"),
        (EDGES[1], "person", "robot"),
    ] {
        let label = NewEdgeLabel {
            frequency: Some(Frequency::Multiple),
            sort_keys: vec!["year".into()],
            properties: vec!["year".into(), "age".into()],
            nullable_keys: vec!["age".into()],
            ..NewEdgeLabel::between(label, from, to)
        };
        catalogue.create_edge_label(label).expect("a label");
    }
    for (name, base_type, base) in [
        ("personByAge", BaseType::VertexLabel, "person"),
        ("knowsByAge", BaseType::EdgeLabel, "knows"),
    ] {
        let index = NewIndexLabel::on(name, base_type, base, IndexType::Range, &["age"]);
        catalogue.create_index_label(index).expect("an index");
    }
    graph
}

/// What the graph should be, with changes that are not committed.
#[derive(Clone, Default)]
struct Model {
    vertices: BTreeMap<VertexId, Vertex>,
    edges: BTreeMap<EdgeId, Edge>,
}

fn vertex_id(n: usize) -> VertexId {
    VertexId::text(&format!("v{n}"))
}

fn label_of(n: usize) -> usize {
    usize::from(n % 3 == 2)
}

fn write<'w>(key: &'w str, value: &'w Value) -> PropertyWrite<'w> {
    PropertyWrite {
        key,
        value,
        cardinality: None,
        meta: &[],
    }
}

impl Model {
    fn view(&self) -> ModelView {
        let vertices = self.vertices.values().cloned().collect();
        ModelView::of(vertices, self.edges.values().cloned().collect())
    }

    /// One random change, here and there.
    fn change(&mut self, transaction: &OptimisticTransaction, random: &mut Random) {
        let meter = Meter::unlimited();
        let n = random.below(VERTICES);
        let id = vertex_id(n);
        let age = Value::Int(random.below(4) as i32);
        match random.below(7) {
            0 | 1 => {
                let label = label_of(n);
                let text = Value::Text(format!("v{n}"));
                let given = VertexAddition {
                    label: Some(LABELS[label]),
                    id: Some(&text),
                    properties: &[write("age", &age)],
                };
                let added = transaction.add_vertex(&given, &meter).expect("a vertex");
                assert_eq!(added, id);
                let vertex = Vertex {
                    id: id.clone(),
                    label: VertexLabelId(label as u32 + 1),
                    properties: Properties::from_iter([(AGE, age)]),
                };
                self.vertices.insert(id, vertex);
            }
            2 => {
                let name = Value::Text(format!("n{}", random.below(3)));
                let element = ElementId::Vertex(id.clone());
                let done = transaction.set_property(&element, &write("name", &name), &meter);
                assert_eq!(done.is_ok(), self.vertices.contains_key(&id));
                if let Some(vertex) = self.vertices.get_mut(&id) {
                    vertex.properties.set(NAME, name);
                }
            }
            3 => {
                let element = ElementId::Vertex(id.clone());
                let which = Occurrence::All;
                let done = transaction.remove_property(&element, "age", which, &meter);
                assert_eq!(done.is_ok(), self.vertices.contains_key(&id));
                if let Some(vertex) = self.vertices.get_mut(&id) {
                    vertex.properties.remove(AGE);
                }
            }
            4 if random.one_in(2) => {
                let element = ElementId::Vertex(id.clone());
                transaction.remove(&element, &meter).expect("removed");
                self.vertices.remove(&id);
                self.edges
                    .retain(|edge, _| edge.source != id && edge.target != id);
            }
            5 => self.change_edge(transaction, random),
            _ => {
                let to = random.below(VERTICES);
                self.add_edge(transaction, random, (n, to));
            }
        }
    }

    fn add_edge(
        &mut self,
        transaction: &OptimisticTransaction,
        random: &mut Random,
        (from, to): (usize, usize),
    ) {
        let year = random.below(2) as i32;
        let label = label_of(to);
        let (source, target) = (vertex_id(from), vertex_id(to));
        let value = Value::Int(year);
        let given = EdgeAddition {
            label: EDGES[label],
            id: None,
            source: &source,
            target: &target,
            properties: &[write("year", &value)],
        };
        let added = transaction.add_edge(&given, &Meter::unlimited());
        let fits = label_of(from) == 0
            && self.vertices.contains_key(&source)
            && self.vertices.contains_key(&target);
        assert_eq!(added.is_ok(), fits);
        if let Ok(id) = added {
            let edge = Edge {
                id: id.clone(),
                source_label: VertexLabelId(1),
                target_label: VertexLabelId(label as u32 + 1),
                properties: Properties::from_iter([(YEAR, value)]),
            };
            self.edges.insert(id, edge);
        }
    }

    fn change_edge(&mut self, transaction: &OptimisticTransaction, random: &mut Random) {
        let meter = Meter::unlimited();
        let at = random.below(self.edges.len().max(1));
        let Some(id) = self.edges.keys().nth(at).cloned() else {
            return;
        };
        let element = ElementId::Edge(id.clone());
        match random.one_in(3) {
            true => {
                transaction.remove(&element, &meter).expect("removed");
                self.edges.remove(&id);
            }
            false => {
                let age = Value::Int(random.below(4) as i32);
                let done = transaction.set_property(&element, &write("age", &age), &meter);
                done.expect("changed");
                let edge = self.edges.get_mut(&id).expect("an edge");
                edge.properties.set(AGE, age);
            }
        }
    }
}

fn same(view: &dyn GraphView, model: &Model, random: &mut Random) {
    let vertices: Vec<VertexId> = (0..VERTICES + 2).map(vertex_id).collect();
    let questions = Questions {
        vertices: &vertices,
        vertex_labels: &[VertexLabelId(1), VertexLabelId(2), VertexLabelId(9)],
        labels: &[EdgeLabelId(1), EdgeLabelId(2), EdgeLabelId(9)],
        properties: &[NAME, AGE, YEAR],
    };
    if let Err(difference) = compare(view, &model.view(), &questions, random, 3) {
        panic!("{difference}");
    }
}

#[test]
fn a_transaction_shows_its_own_changes_and_its_commit_stores_them() {
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let graph = &graphs()[usize::from(seed % 3 == 2)];
        let mut model = Model::default();
        for _ in 0..3 {
            let transaction = graph.begin(OptimisticLimits::default()).expect("begun");
            // Some commit in between.
            let every = random.one_in(2).then(|| CommitEvery {
                elements: Some(1 + random.below(4)),
                period: WritePeriod::default(),
                check: None,
            });
            transaction.commit_every(every);
            let before = model.clone();
            for _ in 0..random.below(12) {
                model.change(&transaction, &mut random);
                same(&transaction, &model, &mut random);
            }
            let is_whole = !transaction.has_committed();
            if is_whole {
                let view = graph.view(TemporalScope::NOW).expect("a view");
                same(&view, &before, &mut random);
            }
            if is_whole && random.one_in(4) {
                // Given up: nothing has happened.
                drop(transaction);
                model = before;
            } else {
                transaction
                    .commit(WritePeriod::default())
                    .expect("committed");
            }
            same(
                &graph.view(TemporalScope::NOW).expect("a view"),
                &model,
                &mut random,
            );
        }
    }
}

fn add(transaction: &OptimisticTransaction, n: usize, age: i32) {
    let (id, age) = (Value::Text(format!("v{n}")), Value::Int(age));
    let given = VertexAddition {
        label: Some("person"),
        id: Some(&id),
        properties: &[write("age", &age)],
    };
    let added = transaction.add_vertex(&given, &Meter::unlimited());
    added.expect("a vertex");
}

fn set_age(transaction: &OptimisticTransaction, n: usize, age: i32) {
    let (element, age) = (ElementId::Vertex(vertex_id(n)), Value::Int(age));
    let done = transaction.set_property(&element, &write("age", &age), &Meter::unlimited());
    done.expect("changed");
}

fn begin(graph: &Arc<Graph>) -> OptimisticTransaction {
    graph.begin(OptimisticLimits::default()).expect("begun")
}

fn commit(transaction: OptimisticTransaction) -> Result<(), ErrorKind> {
    let done = transaction.commit(WritePeriod::default());
    done.map(|_| ()).map_err(|error| error.kind)
}

fn link(transaction: &OptimisticTransaction, source: usize, target: usize) {
    let (source, target) = (vertex_id(source), vertex_id(target));
    let year = Value::Int(2020);
    let given = EdgeAddition {
        label: "knows",
        id: None,
        source: &source,
        target: &target,
        properties: &[write("year", &year)],
    };
    let added = transaction.add_edge(&given, &Meter::unlimited());
    added.expect("an edge");
}

#[test]
fn a_vertex_whose_edges_fill_a_part_is_removed_in_one_of_its_own() {
    const EDGES: usize = 7;
    for graph in graphs() {
        let transaction = begin(&graph);
        (0..=EDGES + 2).for_each(|n| add(&transaction, n, 1));
        (1..=EDGES).for_each(|n| link(&transaction, 0, n));
        assert_eq!(commit(transaction), Ok(()));
        let limits = OptimisticLimits {
            elements_max: EDGES + 1,
            ..OptimisticLimits::default()
        };
        let transaction = graph.begin(limits).expect("begun");
        transaction.commit_every(Some(CommitEvery {
            elements: Some(100),
            period: WritePeriod::default(),
            check: None,
        }));
        set_age(&transaction, EDGES + 1, 2);
        let remove = |n: usize| {
            let id = ElementId::Vertex(vertex_id(n));
            transaction.remove(&id, &Meter::unlimited())
        };
        remove(0).expect("removed with its edges");
        remove(EDGES + 2).expect("removed");
        assert_eq!(commit(transaction), Ok(()));
        let view = graph.view(TemporalScope::NOW).expect("a view");
        let is_there = |n| view.vertex(&vertex_id(n)).expect("read").is_some();
        assert_eq!([0, 1, EDGES + 2].map(is_there), [false, true, false]);
    }
}

#[test]
fn a_part_that_may_not_be_stored_ends_the_transaction() {
    for graph in graphs() {
        let parts = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&parts);
        let transaction = begin(&graph);
        transaction.commit_every(Some(CommitEvery {
            elements: Some(1),
            period: WritePeriod::default(),
            check: Some(Arc::new(move || {
                match counted.fetch_add(1, Ordering::Relaxed) {
                    0 | 1 => Ok(()),
                    _ => Err(GraphError::new(ErrorKind::Denied, "no more")),
                }
            })),
        }));
        (0..3).for_each(|n| add(&transaction, n, 1));
        let last = VertexAddition {
            label: Some("person"),
            id: Some(&Value::Text("v3".to_owned())),
            properties: &[],
        };
        let refused = transaction.add_vertex(&last, &Meter::unlimited());
        assert!(refused.is_err_and(|error| error.to_string().contains("no more")));
        drop(transaction);
        let view = graph.view(TemporalScope::NOW).expect("a view");
        let is_there = |n| view.vertex(&vertex_id(n)).expect("read").is_some();
        assert_eq!([0, 1, 2, 3].map(is_there), [true, true, false, false]);
    }
}

/// The transaction commits where it is told to, and not before.
fn told(graph: &Arc<Graph>, elements_max: usize) -> OptimisticTransaction {
    let limits = OptimisticLimits {
        elements_max,
        ..OptimisticLimits::default()
    };
    let transaction = graph.begin(limits).expect("begun");
    transaction.commit_every(Some(CommitEvery {
        elements: None,
        period: WritePeriod::default(),
        check: None,
    }));
    transaction
}

#[test]
fn parts_are_committed_and_dropped_where_the_caller_says_so() {
    let meter = Meter::unlimited();
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let graph = &graphs()[usize::from(seed % 2 == 1)];
        let mut model = Model::default();
        let transaction = told(graph, 1_000);
        let mut stored = model.clone();
        for _ in 0..20 {
            match random.below(6) {
                0 => {
                    let version = transaction.commit_part(&meter).expect("committed");
                    assert_eq!(version.or(transaction.last_part()), transaction.last_part());
                    stored = model.clone();
                    let view = graph.view(TemporalScope::NOW).expect("a view");
                    same(&view, &stored, &mut random);
                }
                1 => {
                    transaction.drop_part(&meter).expect("dropped");
                    model = stored.clone();
                }
                _ => model.change(&transaction, &mut random),
            }
            same(&transaction, &model, &mut random);
        }
        drop(transaction);
        let view = graph.view(TemporalScope::NOW).expect("a view");
        same(&view, &stored, &mut random);
    }
}

fn age_of(view: &dyn GraphView, n: usize) -> i32 {
    let (mut key, mut found) = (Vec::new(), 0);
    view.put_vertex_key(&vertex_id(n), &mut key);
    let read = view.vertices(
        &[&key],
        &[AGE],
        &Meter::unlimited(),
        &mut |_, _, properties| {
            if let Some(Value::Int(age)) = properties.get(AGE) {
                found = *age;
            }
        },
    );
    read.expect("read");
    found
}

#[test]
fn a_part_that_conflicts_can_be_made_again() {
    let meter = Meter::unlimited();
    let graph = &graphs()[0];
    let other = begin(graph);
    (0..4).for_each(|n| add(&other, n, 1));
    assert_eq!(commit(other), Ok(()));
    let transaction = told(graph, 3);
    set_age(&transaction, 0, 2);
    assert!(transaction.commit_part(&meter).expect("stored").is_some());
    set_age(&transaction, 1, 2);
    let other = begin(graph);
    set_age(&other, 1, 10);
    set_age(&other, 2, 10);
    assert_eq!(commit(other), Ok(()));
    let refused = transaction.commit_part(&meter).expect_err("a conflict");
    assert_eq!(refused.kind(), Some(ErrorKind::Conflict));
    transaction.drop_part(&meter).expect("dropped");
    // It reads the newest state, and what was read before counts as changed.
    let age = |n: usize| age_of(&transaction, n);
    assert_eq!([0, 1, 2].map(age), [2, 10, 10]);
    let element = ElementId::Vertex(vertex_id(2));
    assert_eq!(transaction.changed_at(&element), transaction.changes());
    set_age(&transaction, 1, 3);
    assert!(transaction.commit_part(&meter).expect("stored").is_some());
    assert_eq!(transaction.commit_part(&meter).expect("nothing"), None);
    // It never commits by itself.
    (0..3).for_each(|n| set_age(&transaction, n, 4));
    let (element, age) = (ElementId::Vertex(vertex_id(3)), Value::Int(4));
    let refused = transaction.set_property(&element, &write("age", &age), &meter);
    let refused = refused.expect_err("too much");
    assert_eq!(refused.kind(), Some(ErrorKind::LimitExceeded));
    drop(transaction);
    let whole = begin(graph);
    set_age(&whole, 0, 5);
    let refused = whole.commit_part(&meter).expect_err("no parts");
    assert_eq!(refused.kind(), Some(ErrorKind::NotSupported));
}

fn within(from: i64, to: i64) -> WritePeriod {
    WritePeriod {
        from: Some(Instant(from)),
        to: Some(Instant(to)),
    }
}

/// Age and name of the first vertex at an instant.
fn state_at(graph: &Graph, at: i64) -> Option<(Option<i64>, bool)> {
    let scope = TemporalScope {
        valid: Some(Instant(at)),
        transaction: None,
    };
    let vertex = graph.vertex(&vertex_id(0), scope).expect("read")?;
    let age = vertex.properties.get(AGE).and_then(Value::as_i64);
    Some((age, vertex.properties.get(NAME).is_some()))
}

#[test]
fn a_change_in_a_period_changes_every_state_in_it_and_nothing_else() {
    for graph in graphs() {
        let first = begin(&graph);
        add(&first, 0, 1);
        let forever = i64::MAX;
        assert!(first.commit(within(1_000, forever)).is_ok());
        let second = begin(&graph);
        set_age(&second, 0, 2);
        assert!(second.commit(within(3_000, forever)).is_ok());
        // The name is changed in a part of both states, and each keeps its age.
        let third = begin(&graph);
        let (element, name) = (ElementId::Vertex(vertex_id(0)), Value::Text("n".to_owned()));
        let done = third.set_property(&element, &write("name", &name), &Meter::unlimited());
        done.expect("changed");
        assert!(third.commit(within(2_000, 4_000)).is_ok());
        let states = [500, 1_500, 2_500, 3_500, 5_000].map(|at| state_at(&graph, at));
        let state = |age, is_named| Some((Some(age), is_named));
        let wanted = [(1, false), (1, true), (2, true), (2, false)].map(|(a, n)| state(a, n));
        assert_eq!((states[0], &states[1..]), (None, &wanted[..]));
        // Where it exists nowhere in the period, there is nothing to change.
        let fourth = begin(&graph);
        set_age(&fourth, 0, 3);
        // No other commit is the reason, so it is no conflict.
        let refused = fourth.commit(within(1, 2)).map_err(|error| error.kind);
        assert_eq!(refused, Err(ErrorKind::NotFound));
        // What was gone in between is written as a whole.
        let fifth = begin(&graph);
        let removed = fifth.remove(&element, &Meter::unlimited());
        removed.expect("removed");
        add(&fifth, 0, 4);
        assert!(fifth.commit(within(1, 2)).is_ok());
        assert_eq!(state_at(&graph, 1), state(4, false));
    }
}

#[test]
fn over_a_limit_a_change_is_refused_and_the_others_stay() {
    for graph in graphs() {
        let limits = OptimisticLimits {
            elements_max: 2,
            ..OptimisticLimits::default()
        };
        let transaction = graph.begin(limits).expect("begun");
        add(&transaction, 0, 1);
        add(&transaction, 1, 1);
        set_age(&transaction, 1, 2);
        let id = Value::Text("v2".to_owned());
        let third = VertexAddition {
            label: Some("person"),
            id: Some(&id),
            properties: &[],
        };
        let refused = transaction.add_vertex(&third, &Meter::unlimited());
        assert!(refused.is_err());
        assert_eq!(commit(transaction), Ok(()));
        let exists = |n| {
            graph
                .vertex(&vertex_id(n), TemporalScope::NOW)
                .expect("read")
        };
        assert!(exists(1).is_some() && exists(2).is_none());
    }
}

#[test]
fn a_scan_ends_where_each_element_adds_another() {
    for graph in graphs() {
        let transaction = begin(&graph);
        add(&transaction, 0, 1);
        add(&transaction, 1, 1);
        let ask = ScanAsk {
            elements: Elements::Vertices(&[]),
            conditions: &[],
            order: None,
            properties: &[],
        };
        let (mut from, mut seen) = (None, 0);
        loop {
            let meter = Meter::unlimited();
            let next = transaction.scan(&ask, from.as_ref(), 1, &meter, &mut |_| {
                seen += 1;
                Flow::Continue(())
            });
            from = next.expect("scanned");
            if from.is_none() {
                break;
            }
            add(&transaction, seen + 1, 1);
            assert!(seen < 10, "it goes on for ever");
        }
        assert_eq!(seen, 2);
    }
}
