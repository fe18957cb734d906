//! Purges: nothing is left, of edges on either side.

use std::sync::Arc;

use varve_encoding::key;
use varve_encoding::tables::{EDGE, EVENT, TABLES, VERTEX};
use varve_graph::maintenance::purge;
use varve_graph::write::{EndCheck, Mutation, Touch, WriteRequest};
use varve_graph::{Graph, GraphError, GraphOptions};
use varve_kv::{Batch, Durability, Engine, Flow, MemoryEngine, TableId};
use varve_model::time::SystemClock;
use varve_model::{
    Direction, Edge, EdgeId, EdgeLabelId, ElementId, PropertyKeyId, Value, Vertex, VertexId,
    VertexLabelId,
};

fn graph() -> Arc<Graph> {
    let space = MemoryEngine::new()
        .open("g", TABLES, true)
        .expect("a space");
    let options = GraphOptions::new(Arc::new(SystemClock));
    Graph::open("g", space, &options).expect("a graph")
}

/// Partition and clustering keys of all rows.
fn rows(graph: &Graph, table: TableId) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut rows = Vec::new();
    let visited = graph.space().scan_table(table, None, &mut |row| {
        rows.push((row.partition.to_vec(), row.clustering.to_vec()));
        Flow::Continue(())
    });
    visited.expect("scanned");
    rows
}

/// As after a retention sweep that was stopped between the two, of a label that was set later to
/// keep all.
#[test]
fn what_only_one_side_of_an_edge_remembers_is_purged() {
    for direction in [Direction::Out, Direction::In] {
        let graph = graph();
        let id = EdgeId {
            source: VertexId::text("a"),
            parent: EdgeLabelId(1),
            label: EdgeLabelId(1),
            sort_values: "".into(),
            target: VertexId::text("b"),
        };
        for _ in 0..3 {
            let edge = Edge {
                id: id.clone(),
                source_label: VertexLabelId(1),
                target_label: VertexLabelId(1),
                properties: Default::default(),
            };
            let ends = EndCheck::Skip;
            let request = WriteRequest::now(vec![Mutation::PutEdge { edge, ends }]);
            graph.write_now(&request).expect("stored");
        }
        let owner = key::vertex_id(id.owner(direction));
        let mut forgotten = Batch::new();
        for (partition, clustering) in rows(&graph, EVENT) {
            if partition == owner {
                forgotten.delete(EVENT, &partition, &clustering);
            }
        }
        let written = graph.space().write(&forgotten, Durability::Buffered);
        written.expect("written");
        assert_eq!(rows(&graph, EVENT).len(), 2, "on the other side");
        let ticket = purge(&graph, &ElementId::Edge(id)).expect("purged");
        ticket.wait().expect("stored");
        for table in [EDGE, EVENT] {
            assert_eq!(rows(&graph, table), [], "{direction:?}");
        }
    }
}

/// The events that a transaction keeps of the vertices which it purges are bounded: it reads others
/// again.
#[test]
fn a_transaction_purges_vertices_however_long_their_events_are() {
    const EVENTS: usize = 9;
    for bytes in [10, 700_000] {
        let graph = graph();
        let vertices = ["a", "b", "c"].map(VertexId::text);
        for _ in 0..=EVENTS {
            for id in &vertices {
                let text = Value::Text("x".repeat(bytes));
                let vertex = Vertex {
                    id: id.clone(),
                    label: VertexLabelId(1),
                    properties: [(PropertyKeyId(1), text)].into_iter().collect(),
                };
                let fresh = false;
                let request = WriteRequest::now(vec![Mutation::PutVertex { vertex, fresh }]);
                graph.write_now(&request).expect("stored");
            }
        }
        assert_eq!(rows(&graph, EVENT).len(), vertices.len() * EVENTS);
        let touched: Vec<Touch<'_>> = vertices.iter().map(Touch::Change).collect();
        let purged = graph.transact(&touched, &mut |transaction| {
            for id in &vertices {
                transaction.purge(&ElementId::Vertex(id.clone()))?;
            }
            Ok::<(), GraphError>(())
        });
        purged.expect("purged");
        for table in [VERTEX, EVENT] {
            assert_eq!(rows(&graph, table), [], "{bytes}");
        }
    }
}
