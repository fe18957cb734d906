//! Vertices of open graphs that change their label: what is read now, in the past, and of edges.

use std::collections::BTreeSet;
use std::sync::Arc;

use varve_graph::optimistic::{OptimisticLimits, OptimisticTransaction};
use varve_graph::schema::SchemaMode;
use varve_graph::verify::verify;
use varve_graph::write::WritePeriod;
use varve_graph::{ErrorKind, Graph, GraphOptions, Registry};
use varve_kv::MemoryEngine;
use varve_model::{
    Clock, CommitVersion, EdgeId, ElementId, Instant, TemporalScope, Value, VertexId,
};
use varve_testkit::ManualClock;
use varve_view::{
    EdgeAddition, Elements, Expand, Flow, GraphView, GraphWriter, Meter, PropertyWrite, ScanAsk,
    SchemaView, VertexAddition,
};

const START: Instant = Instant(1_700_000_000_000_000);

fn graph(mode: SchemaMode) -> (Registry, Arc<Graph>) {
    let clock = Arc::new(ManualClock::new(START)) as Arc<dyn Clock>;
    let engine = Arc::new(MemoryEngine::new());
    let registry = Registry::open(engine, GraphOptions::new(clock)).expect("a registry");
    let graph = registry.create_with("g", mode).expect("a graph");
    (registry, graph)
}

fn begin(graph: &Arc<Graph>) -> OptimisticTransaction {
    let limits = OptimisticLimits::default();
    graph.begin(limits).expect("begun")
}

fn commit(transaction: OptimisticTransaction) -> CommitVersion {
    let done = transaction.commit(WritePeriod::default());
    done.expect("committed").expect("changes")
}

fn add_vertex(transaction: &OptimisticTransaction, label: &str) -> VertexId {
    let name = Value::Text("x".to_owned());
    let property = PropertyWrite {
        key: "name",
        value: &name,
        cardinality: None,
        meta: &[],
    };
    let vertex = VertexAddition {
        label: Some(label),
        id: None,
        properties: &[property],
    };
    let added = transaction.add_vertex(&vertex, &Meter::unlimited());
    added.expect("a vertex")
}

fn add_edge(transaction: &OptimisticTransaction, ends: (&VertexId, &VertexId)) -> EdgeId {
    let edge = EdgeAddition {
        label: "knows",
        id: None,
        source: ends.0,
        target: ends.1,
        properties: &[],
    };
    let added = transaction.add_edge(&edge, &Meter::unlimited());
    added.expect("an edge")
}

/// The vertices of a label.
fn of_label(view: &dyn GraphView, schema: &dyn SchemaView, label: &str) -> BTreeSet<VertexId> {
    let Some(label) = schema.vertex_label_named(label) else {
        return BTreeSet::new();
    };
    let ask = ScanAsk {
        elements: Elements::Vertices(&[label.id]),
        conditions: &[],
        order: None,
        properties: &[],
    };
    let (mut found, mut from, meter) = (BTreeSet::new(), None, Meter::unlimited());
    loop {
        let scanned = view.scan(&ask, from.as_ref(), 100, &meter, &mut |element| {
            if let Ok(ElementId::Vertex(id)) = element.id(view) {
                found.insert(id);
            }
            Flow::Continue(())
        });
        from = scanned.expect("scanned");
        if from.is_none() {
            return found;
        }
    }
}

/// The labels of the vertices beside one, by its edges.
fn beside(view: &dyn GraphView, schema: &dyn SchemaView, id: &VertexId) -> Vec<String> {
    let mut key = Vec::new();
    view.put_vertex_key(id, &mut key);
    let mut found = Vec::new();
    let read = view.neighbours(
        &[&key],
        &Expand::default(),
        &Meter::unlimited(),
        &mut |_, seen| {
            let label = schema.vertex_label(seen.other_label).expect("a label");
            found.push(label.name.to_string());
            Flow::Continue(())
        },
    );
    read.expect("read");
    found
}

#[test]
fn a_vertex_changes_its_label_and_keeps_its_past_and_its_edges() {
    let (_registry, graph) = graph(SchemaMode::Open);
    let transaction = begin(&graph);
    let (a, b) = (add_vertex(&transaction, "A"), add_vertex(&transaction, "B"));
    add_edge(&transaction, (&a, &b));
    add_edge(&transaction, (&b, &a));
    let own = add_edge(&transaction, (&a, &a));
    let before = commit(transaction);

    let transaction = begin(&graph);
    let meter = Meter::unlimited();
    transaction.set_label(&a, "A::C", &meter).expect("changed");
    let new = add_edge(&transaction, (&a, &b));
    let one: BTreeSet<VertexId> = BTreeSet::from([a.clone()]);
    let expected = |view: &dyn GraphView, schema: &dyn SchemaView| {
        assert_eq!(of_label(view, schema, "A"), BTreeSet::new());
        assert_eq!(of_label(view, schema, "A::C"), one);
        assert_eq!(beside(view, schema, &b), ["A::C"; 3]);
        let mut beside_a = beside(view, schema, &a);
        beside_a.sort_unstable();
        assert_eq!(beside_a, ["A::C", "A::C", "B", "B", "B"]);
    };
    expected(&transaction, &transaction);
    commit(transaction);

    let view = graph.view(TemporalScope::NOW).expect("a view");
    let schema = graph.schema();
    expected(&view, &*schema);
    for edge in [&own, &new] {
        let edge = graph.edge(edge, TemporalScope::NOW).expect("read");
        let label = schema.vertex_label_by_name("A::C").expect("a label").id;
        assert_eq!(edge.expect("there").source_label, label);
    }
    let past = TemporalScope {
        valid: None,
        transaction: Some(before),
    };
    let past = graph.view(past).expect("a view");
    assert_eq!(of_label(&past, &*schema, "A"), one);
    assert_eq!(of_label(&past, &*schema, "A::C"), BTreeSet::new());
    assert_eq!(beside(&past, &*schema, &b), ["A"; 2]);
    let sound = verify(&graph, 1, &mut |_| true).expect("verified");
    assert!(sound.is_sound());
}

#[test]
fn a_new_vertex_changes_its_label_before_it_is_stored() {
    let (_registry, graph) = graph(SchemaMode::Open);
    let transaction = begin(&graph);
    let (a, b) = (add_vertex(&transaction, "A"), add_vertex(&transaction, "B"));
    add_edge(&transaction, (&a, &b));
    let meter = Meter::unlimited();
    transaction.set_label(&b, "C", &meter).expect("changed");
    transaction.set_label(&b, "D", &meter).expect("changed");
    commit(transaction);
    let view = graph.view(TemporalScope::NOW).expect("a view");
    assert_eq!(beside(&view, &*graph.schema(), &a), ["D"]);
    let sound = verify(&graph, 1, &mut |_| true).expect("verified");
    assert!(sound.is_sound());
}

#[test]
fn an_edge_that_another_commit_adds_refuses_the_change() {
    let (_registry, graph) = graph(SchemaMode::Open);
    let transaction = begin(&graph);
    let (a, b) = (add_vertex(&transaction, "A"), add_vertex(&transaction, "B"));
    commit(transaction);
    let transaction = begin(&graph);
    let meter = Meter::unlimited();
    transaction.set_label(&a, "C", &meter).expect("changed");
    let other = begin(&graph);
    add_edge(&other, (&b, &a));
    commit(other);
    let refused = transaction.commit(WritePeriod::default());
    assert!(refused.is_err(), "{refused:?}");
}

#[test]
fn states_with_other_labels_in_the_period_refuse_the_change() {
    let (_registry, graph) = graph(SchemaMode::Open);
    let meter = Meter::unlimited();
    let since = |micros: i64| WritePeriod {
        from: Some(Instant(START.0 - micros)),
        to: None,
    };
    let transaction = begin(&graph);
    let a = add_vertex(&transaction, "A");
    transaction.commit(since(3_000)).expect("committed");
    let change = |label: &str, period: WritePeriod| {
        let transaction = begin(&graph);
        transaction.set_label(&a, label, &meter).expect("changed");
        transaction
            .commit(period)
            .map_err(|error| error.to_string())
    };
    change("A::B", since(1_000)).expect("one state");
    for label in ["A::B::C", "A"] {
        change(label, since(500)).expect("one state");
        change("A::B", since(500)).expect("one state");
    }
    // The state before has the label "A".
    for label in ["A::B::C", "A::B", "C"] {
        let refused = change(label, since(2_000)).expect_err("two states");
        assert!(refused.contains("other labels"), "{label}: {refused}");
    }
    change("A", since(2_000)).expect("the label of the other state");
    let sound = verify(&graph, 1, &mut |_| true).expect("verified");
    assert!(sound.is_sound());
}

#[test]
fn a_declared_graph_refuses_another_label() {
    let (_registry, graph) = graph(SchemaMode::Declared);
    let transaction = begin(&graph);
    let refused = transaction.set_label(&VertexId::Number(1), "A", &Meter::unlimited());
    let refused = refused.expect_err("refused");
    assert_eq!(refused.kind(), Some(ErrorKind::NotSupported));
}
