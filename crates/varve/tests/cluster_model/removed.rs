//! Very much that is removed: a vertex with more edges than a commit takes, and than a node steps
//! over removed rows of, and vertices of a label. A node that steps over few
//! (`tombstone_failure_threshold`) makes more of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use varve_encoding::tables::TABLES;
use varve_graph::query::{VertexQuery, collect_vertices};
use varve_graph::schema::{NewEdgeLabel, NewVertexLabel};
use varve_graph::write::{EndCheck, Missing, Mutation, WriteRequest};
use varve_graph::{Graph, GraphOptions};
use varve_kv::{ClusteringRange, Engine, Flow};
use varve_model::time::SystemClock;
use varve_model::{
    Edge, EdgeId, EdgeLabelId, ElementId, TemporalScope, Vertex, VertexId, VertexLabelId,
};

use crate::engines::{Below, engine};

/// Vertices that are deleted.
const VERTICES: usize = 5_000;
/// Steps in which the edges of a vertex go, about.
const STEPS: usize = 10;
/// Mutations of one request.
const REQUEST: usize = 1_000;

fn graph(engine: &dyn Engine, edges_max: usize) -> Arc<Graph> {
    let space = engine.open("g", TABLES, true).expect("a space");
    let mut options = GraphOptions::new(Arc::new(SystemClock));
    options.limits.vertex_delete_edges_max = edges_max;
    let graph = Graph::open("g", space, &options).expect("a graph");
    let catalogue = graph.catalogue();
    catalogue
        .create_vertex_label(NewVertexLabel::named("v"))
        .expect("a label");
    catalogue
        .create_edge_label(NewEdgeLabel::between("e", "v", "v"))
        .expect("a label");
    graph
}

fn put_vertex(id: VertexId) -> Mutation {
    let vertex = Vertex {
        id,
        label: VertexLabelId(1),
        properties: Default::default(),
    };
    Mutation::PutVertex {
        vertex,
        fresh: false,
    }
}

/// An edge of the hub, to it or from it, whose other end is not asked for.
fn put_edge(n: usize) -> Mutation {
    let (hub, other) = (VertexId::text("hub"), VertexId::Number(n as i64));
    let (source, target) = match n % 2 {
        0 => (hub, other),
        _ => (other, hub),
    };
    let id = EdgeId {
        source,
        parent: EdgeLabelId(1),
        label: EdgeLabelId(1),
        sort_values: "".into(),
        target,
    };
    let edge = Edge {
        id,
        source_label: VertexLabelId(1),
        target_label: VertexLabelId(1),
        properties: Default::default(),
    };
    let ends = EndCheck::Skip;
    Mutation::PutEdge { edge, ends }
}

fn delete(id: VertexId) -> Mutation {
    Mutation::Delete {
        id: ElementId::Vertex(id),
        missing: Missing::Refuse,
    }
}

fn write_all(graph: &Arc<Graph>, mutations: impl Iterator<Item = Mutation>) {
    let mut mutations = mutations.peekable();
    while mutations.peek().is_some() {
        let request = WriteRequest::now(mutations.by_ref().take(REQUEST).collect());
        graph.write_now(&request).expect("stored");
    }
}

/// How many edges the hub has.
fn edges(graph: &Arc<Graph>) -> usize {
    let view = graph.view(TemporalScope::NOW).expect("a view");
    let mut found = 0;
    let hub = VertexId::text("hub");
    view.adjacent(&hub, &ClusteringRange::all(), &mut |_| {
        found += 1;
        Flow::Continue(())
    })
    .expect("read");
    found
}

pub(crate) fn a_vertex_with_very_many_edges_is_deleted_while_it_is_read(below: Below) {
    // Each read asks every part.
    let count = match below {
        Below::Whole => 5_000,
        Below::Parts => 300,
    };
    let (engine, kept) = engine(below);
    let graph = graph(&*engine, count / STEPS);
    let hub = || VertexId::text("hub");
    for round in 0..2 {
        write_all(&graph, [put_vertex(hub())].into_iter());
        assert_eq!(edges(&graph), 0, "round {round}");
        write_all(&graph, (0..count).map(put_edge));
        assert_eq!(edges(&graph), count, "round {round}");
        let deleted = AtomicBool::new(false);
        let seen = std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let mut seen = vec![count];
                while !deleted.load(Ordering::Acquire) {
                    seen.push(edges(&graph));
                }
                seen
            });
            let request = WriteRequest::now(vec![delete(hub())]);
            let stored = graph.write_now(&request);
            deleted.store(true, Ordering::Release);
            stored.expect("deleted in steps");
            reader.join().expect("every read is answered")
        });
        assert!(seen.is_sorted_by(|a, b| a >= b), "{seen:?}");
        assert_eq!(edges(&graph), 0, "round {round}");
        println!("{below:?}: {} reads beside the deletion", seen.len() - 1);
    }
    drop(graph);
    drop(kept);
}

pub(crate) fn a_label_is_listed_when_most_of_its_vertices_are_deleted() {
    let (engine, kept) = engine(Below::Whole);
    let graph = graph(&*engine, VERTICES);
    let id = |n: usize| VertexId::Number(n as i64);
    write_all(&graph, (0..=VERTICES).map(id).map(put_vertex));
    write_all(&graph, (0..VERTICES).map(id).map(delete));
    let query = VertexQuery {
        label: Some(VertexLabelId(1)),
        limit: 10,
        ..VertexQuery::default()
    };
    let view = graph.view(TemporalScope::NOW).expect("a view");
    let (listed, _) = collect_vertices(&view, view.schema(), &query).expect("listed");
    let ids: Vec<VertexId> = listed.into_iter().map(|vertex| vertex.id).collect();
    assert_eq!(ids, [id(VERTICES)]);
    drop(view);
    drop(graph);
    drop(kept);
}
