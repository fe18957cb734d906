//! How many times a view asks its engine for what many vertices have: a cluster's answers are
//! waited for.

use std::sync::Arc;

use varve_encoding::tables::TABLES;
use varve_graph::schema::{NewEdgeLabel, NewVertexLabel};
use varve_graph::write::{EndCheck, Mutation, WriteRequest};
use varve_graph::{Graph, GraphOptions};
use varve_kv::{Engine, MemoryEngine};
use varve_model::time::SystemClock;
use varve_model::{
    CommitVersion, Edge, EdgeId, EdgeLabelId, TemporalScope, Vertex, VertexId, VertexLabelId,
};
use varve_testkit::{Reads, WatchedEngine};
use varve_view::{CancelToken, Expand, Flow, GraphView, Meter, MeterLimits, ViewError};

/// The vertices of the frontier; each has an edge to the next.
const VERTICES: usize = 1_000;
/// The edges of one more vertex, more than are read of each of many together.
const SPOKES: usize = 300;
/// The most calls for all of them.
const CALLS_MAX: u64 = 40;

fn id(n: usize) -> VertexId {
    VertexId::text(&format!("v{n}"))
}

fn edge_id(n: usize) -> EdgeId {
    EdgeId {
        source: id(n),
        parent: EdgeLabelId(1),
        label: EdgeLabelId(1),
        sort_values: "".into(),
        target: id((n + 1) % VERTICES),
    }
}

/// A graph whose elements all have a past, and the version at which they were new.
fn graph() -> (Arc<Graph>, Arc<Reads>, CommitVersion) {
    let (engine, reads) = WatchedEngine::new(Arc::new(MemoryEngine::new()));
    let space = engine.open("g", TABLES, true).expect("a space");
    let options = GraphOptions::new(Arc::new(SystemClock));
    let graph = Graph::open("g", space, &options).expect("a graph");
    let catalogue = graph.catalogue();
    catalogue
        .create_vertex_label(NewVertexLabel::named("v"))
        .expect("a label");
    catalogue
        .create_edge_label(NewEdgeLabel::between("e", "v", "v"))
        .expect("a label");
    let vertex = |n| {
        let vertex = Vertex {
            id: id(n),
            label: VertexLabelId(1),
            properties: Default::default(),
        };
        let fresh = false;
        Mutation::PutVertex { vertex, fresh }
    };
    let edge = |n| Mutation::PutEdge {
        edge: Edge {
            id: edge_id(n),
            source_label: VertexLabelId(1),
            target_label: VertexLabelId(1),
            properties: Default::default(),
        },
        ends: EndCheck::Skip,
    };
    let spoke = |n| {
        let mut id = edge_id(n);
        id.source = VertexId::text("hub");
        Mutation::PutEdge {
            edge: Edge {
                id,
                source_label: VertexLabelId(1),
                target_label: VertexLabelId(1),
                properties: Default::default(),
            },
            ends: EndCheck::Skip,
        }
    };
    let mut first = None;
    for _ in 0..2 {
        let elements = (0..VERTICES).flat_map(|n| [vertex(n), edge(n)]);
        let elements = elements.chain((0..SPOKES).map(spoke));
        let request = WriteRequest::now(elements.collect());
        let version = graph.write_now(&request).expect("stored");
        first.get_or_insert(version);
    }
    (graph, reads, first.expect("a version"))
}

fn each_time(first: CommitVersion) -> [TemporalScope; 2] {
    let past = TemporalScope {
        valid: None,
        transaction: Some(first),
    };
    [TemporalScope::NOW, past]
}

#[test]
fn a_hop_from_a_thousand_vertices_takes_few_calls() {
    let (graph, reads, first) = graph();
    for scope in each_time(first) {
        let view = graph.view(scope).expect("a view");
        let mut keys = vec![Vec::new(); VERTICES];
        for (n, key) in keys.iter_mut().enumerate() {
            view.put_vertex_key(&id(n), key);
        }
        let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
        let meter = Meter::unlimited();
        reads.forget();
        let mut seen = vec![0; VERTICES];
        let ask = Expand::default();
        view.neighbours(&keys, &ask, &meter, &mut |at, _| {
            seen[at] += 1;
            Flow::Continue(())
        })
        .expect("neighbours");
        let of_hub = |n| usize::from((n + VERTICES - 1) % VERTICES < SPOKES);
        let wanted: Vec<usize> = (0..VERTICES).map(|n| 2 + of_hub(n)).collect();
        assert_eq!(seen, wanted, "{scope:?}");
        let read = reads.counted();
        assert!(read.calls <= CALLS_MAX, "{scope:?}: {read:?}");

        reads.forget();
        let mut exist = vec![false; VERTICES];
        view.vertices(&keys, &[], &meter, &mut |at, _, _| exist[at] = true)
            .expect("vertices");
        assert_eq!(exist, [true; VERTICES], "{scope:?}");
        let read = reads.counted();
        assert!(read.calls <= CALLS_MAX, "{scope:?}: {read:?}");
    }
}

#[test]
fn all_edges_of_a_large_vertex_are_shown_among_those_of_others() {
    let (graph, _, first) = graph();
    for scope in each_time(first) {
        let view = graph.view(scope).expect("a view");
        let key = |id: &VertexId| {
            let mut key = Vec::new();
            view.put_vertex_key(id, &mut key);
            key
        };
        let keys = [id(0), VertexId::text("hub"), id(1)].map(|id| key(&id));
        let keys = keys.each_ref().map(Vec::as_slice);
        let mut seen = Vec::new();
        let meter = Meter::unlimited();
        view.neighbours(&keys, &Expand::default(), &meter, &mut |at, edge| {
            seen.push((at, edge.other.to_vec()));
            Flow::Continue(())
        })
        .expect("neighbours");
        let mut of_hub: Vec<Vec<u8>> = (0..SPOKES).map(|n| key(&edge_id(n).target)).collect();
        of_hub.sort();
        let shown = seen.iter().filter(|(at, _)| *at == 1);
        assert!(shown.map(|(_, other)| other).eq(&of_hub), "{scope:?}");
        assert_eq!(seen.len(), SPOKES + 2 + 3, "{scope:?}");
    }
}

#[test]
fn a_thousand_elements_take_few_calls() {
    let (graph, reads, first) = graph();
    let vertices: Vec<VertexId> = (0..VERTICES).map(id).collect();
    let edges: Vec<EdgeId> = (0..VERTICES).map(edge_id).collect();
    for scope in each_time(first) {
        let view = graph.view(scope).expect("a view");
        reads.forget();
        let mut seen = Vec::new();
        let mut show = |at, _: &[u8]| {
            seen.push(at);
            Flow::Continue(())
        };
        view.visit_vertices(&vertices, &mut show).expect("vertices");
        view.visit_edges(&edges, &mut show).expect("edges");
        assert!(seen.iter().copied().eq((0..VERTICES).chain(0..VERTICES)));
        let mut found = 0;
        view.edges(&edges, &[], &Meter::unlimited(), &mut |_, _| found += 1)
            .expect("edges");
        assert_eq!(found, VERTICES);
        let read = reads.counted();
        assert!(read.calls <= CALLS_MAX, "{scope:?}: {read:?}");
    }
}

#[test]
fn a_read_of_many_vertices_ends_when_it_is_cancelled() {
    let (graph, _, first) = graph();
    for scope in each_time(first) {
        let view = graph.view(scope).expect("a view");
        let mut key = Vec::new();
        view.put_vertex_key(&id(1), &mut key);
        let keys = vec![&*key; 5_000];
        let limits = MeterLimits {
            rows_max: u64::MAX,
            bytes_max: u64::MAX,
            deadline: None,
        };
        let cancel = CancelToken::default();
        let meter = Meter::new(limits, cancel.clone());
        let mut read = 0;
        let result = view.vertices(&keys, &[], &meter, &mut |_, _, _| {
            read += 1;
            cancel.cancel();
        });
        assert!(matches!(result, Err(ViewError::Cancelled)), "{result:?}");
        assert!(read < keys.len() / 2, "{read} were read");
    }
}
