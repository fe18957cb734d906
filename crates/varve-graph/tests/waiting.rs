//! What holds while commits wait, to be stored (the committer is stopped at its look at the clock)
//! or to be prepared.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use varve_encoding::tables::TABLES;
use varve_graph::schema::{NewEdgeLabel, NewVertexLabel, SchemaKind};
use varve_graph::tasks::TaskStatus;
use varve_graph::write::{Contention, EndCheck, Missing, Mutation, WritePeriod, WriteRequest};
use varve_graph::{ErrorKind, Graph, GraphError, GraphOptions};
use varve_kv::{Engine, Flow, MemoryEngine};
use varve_model::{
    Clock, CommitVersion, Edge, EdgeId, EdgeLabelId, ElementId, Instant, TemporalScope, Vertex,
    VertexId, VertexLabelId,
};

const NOW: i64 = 1_000_000;
/// How long a task may take before the test gives up.
const WAIT_MAX: Duration = Duration::from_secs(60);

/// A clock that goes on only when it is advanced, and at which committers wait while it is shut.
#[derive(Default)]
struct Gate {
    later: AtomicI64,
    shut: Mutex<bool>,
    changed: Condvar,
}

impl Gate {
    fn set(&self, shut: bool) {
        *self.shut.lock() = shut;
        self.changed.notify_all();
    }
}

impl Clock for Gate {
    fn now(&self) -> Instant {
        if std::thread::current().name() == Some("varve-commit") {
            let mut shut = self.shut.lock();
            self.changed.wait_while(&mut shut, |shut| *shut);
        }
        Instant(NOW + self.later.load(Ordering::SeqCst))
    }
}

fn graph() -> (Arc<Graph>, Arc<Gate>) {
    let gate = Arc::new(Gate::default());
    let space = MemoryEngine::new()
        .open("g", TABLES, true)
        .expect("a space");
    let options = GraphOptions::new(Arc::clone(&gate) as Arc<dyn Clock>);
    let graph = Graph::open("g", space, &options).expect("a graph");
    let catalogue = graph.catalogue();
    catalogue
        .create_vertex_label(NewVertexLabel::named("v"))
        .expect("a label");
    catalogue
        .create_edge_label(NewEdgeLabel::between("e", "v", "v"))
        .expect("a label");
    (graph, gate)
}

fn edge_id() -> EdgeId {
    EdgeId {
        source: VertexId::text("a"),
        parent: EdgeLabelId(1),
        label: EdgeLabelId(1),
        sort_values: "".into(),
        target: VertexId::text("b"),
    }
}

fn put_edge() -> WriteRequest {
    let edge = Edge {
        id: edge_id(),
        source_label: VertexLabelId(1),
        target_label: VertexLabelId(1),
        properties: Default::default(),
    };
    let ends = EndCheck::Skip;
    WriteRequest::now(vec![Mutation::PutEdge { edge, ends }])
}

fn delete_vertex(id: &str, from: Option<i64>) -> WriteRequest {
    let id = ElementId::Vertex(VertexId::text(id));
    let missing = Missing::Ignore;
    WriteRequest {
        mutations: vec![Mutation::Delete { id, missing }],
        period: WritePeriod {
            from: from.map(Instant),
            to: None,
        },
        ..WriteRequest::default()
    }
}

#[test]
fn an_edge_that_one_vertex_takes_along_does_not_come_back_with_the_other() {
    let (graph, gate) = graph();
    graph.write_now(&put_edge()).expect("an edge");
    gate.set(true);
    let at_once = delete_vertex("b", None);
    let first = graph.write(&at_once, Contention::Refuse).expect("taken");
    // Prepared while the first waits, this one would store the edge again as it was, until its own
    // start.
    let planned = delete_vertex("a", Some(NOW + 5_000_000));
    let second = graph.write(&planned, Contention::Refuse).expect("taken");
    gate.set(false);
    first.expect("free").ticket.wait().expect("stored");
    match second {
        Some(written) => written.ticket.wait().expect("stored"),
        None => graph.write_now(&planned).expect("stored"),
    };
    let edge = graph.edge(&edge_id(), TemporalScope::NOW).expect("read");
    assert_eq!(edge, None);
}

#[test]
fn a_waiting_commit_does_not_hold_its_graph() {
    let (graph, gate) = graph();
    gate.set(true);
    let written = graph.write(&put_edge(), Contention::Refuse);
    let written = written.expect("taken").expect("free");
    let handles = Arc::strong_count(&graph);
    gate.set(false);
    written.ticket.wait().expect("stored");
    // The last handle would go on the committer's own thread, which cannot wait for itself.
    assert_eq!(handles, 1);
}

#[test]
fn what_was_read_with_an_older_schema_is_not_stored_under_a_removed_label() {
    let (graph, _gate) = graph();
    let task = graph
        .catalogue()
        .owned_by(None)
        .remove(SchemaKind::EdgeLabel, "e")
        .expect("a task");
    let ended = graph.tasks().wait_until_done(task, WAIT_MAX);
    assert_eq!(ended.expect("known").status, TaskStatus::Success);
    // The server checks labels when it reads a request, which may be before the removal.
    let error = graph.write_now(&put_edge()).expect_err("refused");
    assert_eq!(error.message, "Undefined edge label: 'e'");
    let vertex = Vertex {
        id: VertexId::text("a"),
        label: VertexLabelId(1),
        properties: Default::default(),
    };
    let put = Mutation::PutVertex {
        vertex,
        fresh: false,
    };
    let request = WriteRequest::now(vec![put]);
    graph.write_now(&request).expect("its label is usable");
    let task = graph
        .catalogue()
        .owned_by(None)
        .remove(SchemaKind::VertexLabel, "v")
        .expect("a task");
    let ended = graph.tasks().wait_until_done(task, WAIT_MAX);
    assert_eq!(ended.expect("known").status, TaskStatus::Success);
    let error = graph.write_now(&request).expect_err("refused");
    assert_eq!(error.message, "Undefined vertex label: 'v'");
}

/// Puts vertex a while the committer waits, until the clock has gone on by `wait` microseconds;
/// what becomes of it.
fn put_and_wait(
    graph: &Arc<Graph>,
    gate: &Gate,
    label: u32,
    to: Option<i64>,
    wait: i64,
) -> Result<CommitVersion, GraphError> {
    gate.set(true);
    let vertex = Vertex {
        id: VertexId::text("a"),
        label: VertexLabelId(label),
        properties: Default::default(),
    };
    let fresh = false;
    let period = WritePeriod {
        from: None,
        to: to.map(Instant),
    };
    let request = WriteRequest {
        mutations: vec![Mutation::PutVertex { vertex, fresh }],
        period,
        ..WriteRequest::default()
    };
    let written = graph.write(&request, Contention::Refuse);
    gate.later.fetch_add(wait, Ordering::SeqCst);
    gate.set(false);
    written.expect("taken").expect("free").ticket.wait()
}

#[test]
fn a_write_whose_end_passes_while_it_waits_is_not_stored() {
    let (graph, gate) = graph();
    let catalogue = graph.catalogue();
    let brief = NewVertexLabel {
        ttl: 1,
        ..NewVertexLabel::named("brief")
    };
    catalogue.create_vertex_label(brief).expect("a label");
    let id = ElementId::Vertex(VertexId::text("a"));
    let events = || {
        let view = graph.view(TemporalScope::NOW).expect("a view");
        let mut count = 0;
        view.visit_history(&id, None, &mut |_| {
            count += 1;
            Flow::Continue(())
        })
        .expect("a history");
        count
    };
    let refused = put_and_wait(&graph, &gate, 1, Some(NOW + 50), 50).expect_err("too late");
    assert_eq!(refused.kind, ErrorKind::InvalidArgument);
    assert!(refused.message.contains("valid_to"), "{}", refused.message);
    // A time to live of a millisecond, of which as much passes.
    let refused = put_and_wait(&graph, &gate, 2, None, 1_000).expect_err("too late");
    assert_eq!(refused.kind, ErrorKind::Busy);
    assert_eq!(events(), 0);
    let now = graph.now().0;
    put_and_wait(&graph, &gate, 1, Some(now + 50), 40).expect("in time");
    put_and_wait(&graph, &gate, 2, None, 900).expect("in time");
    assert_eq!(events(), 2);
    // Latches were released, and later writes are taken.
    graph.write_now(&delete_vertex("a", None)).expect("stored");
}
