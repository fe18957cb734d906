//! A vertex whose partition is in parts: what is asked below for the past of one of its edges.

use std::sync::Arc;

use varve_encoding::tables::{LARGE, TABLES};
use varve_graph::maintenance::purge;
use varve_graph::read::HistoryPage;
use varve_graph::schema::{NewEdgeLabel, NewVertexLabel};
use varve_graph::verify::verify;
use varve_graph::write::{EndCheck, Mutation, WriteRequest};
use varve_graph::{Graph, GraphOptions};
use varve_kv::Engine;
use varve_kv_parted::{PartOptions, PartRule, PartedEngine};
use varve_model::time::SystemClock;
use varve_model::{
    CommitVersion, Edge, EdgeId, EdgeLabelId, ElementId, TemporalScope, VertexId, VertexLabelId,
};
use varve_testkit::{Reads, ScatteredEngine, WatchedEngine};

const EDGES: usize = 60;
const VERSIONS: usize = 3;

fn graph() -> (Arc<Graph>, Arc<Reads>) {
    let (below, reads) = WatchedEngine::new(Arc::new(ScatteredEngine::new()));
    let rules: Vec<PartRule> = LARGE
        .iter()
        .map(|large| PartRule {
            table: large.table,
            together: large.together,
            of_prefix: large.of_prefix,
        })
        .collect();
    let options = PartOptions { bytes_max: 300 };
    let engine = PartedEngine::new(Arc::new(below), &rules, options);
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
    (graph, reads)
}

fn edge_id(n: usize) -> EdgeId {
    EdgeId {
        source: VertexId::text("hub"),
        parent: EdgeLabelId(1),
        label: EdgeLabelId(1),
        sort_values: "".into(),
        target: VertexId::text(&format!("v{n}")),
    }
}

fn put_edges(graph: &Arc<Graph>) -> CommitVersion {
    let put = |n| {
        let edge = Edge {
            id: edge_id(n),
            source_label: VertexLabelId(1),
            target_label: VertexLabelId(1),
            properties: Default::default(),
        };
        let ends = EndCheck::Skip;
        Mutation::PutEdge { edge, ends }
    };
    let request = WriteRequest::now((0..EDGES).map(put).collect());
    graph.write_now(&request).expect("stored")
}

#[test]
fn the_past_of_an_edge_is_asked_of_one_part_of_each_epoch() {
    let (graph, reads) = graph();
    let versions: Vec<CommitVersion> = (0..VERSIONS).map(|_| put_edges(&graph)).collect();
    let statistics = graph.space().statistics();
    let parts = statistics
        .iter()
        .find(|it| it.name == "parted_partition_parts")
        .expect("read");
    assert!(parts.value >= 73.0, "{parts:?}");
    // 3 rows, 24, 192, and the rest.
    const EPOCHS: u64 = 4;
    let id = ElementId::Edge(edge_id(7));
    let page = HistoryPage {
        before: None,
        limit: 10,
    };
    reads.forget();
    let history = graph.history(&id, TemporalScope::NOW, page);
    let read = reads.counted();
    let listed: Vec<CommitVersion> = history.expect("read").iter().map(|it| it.version).collect();
    assert!(listed.iter().eq(versions.iter().rev()), "{listed:?}");
    assert!(read.scans <= EPOCHS, "{read:?}");

    let first = TemporalScope {
        valid: None,
        transaction: Some(versions[0]),
    };
    reads.forget();
    let edge = graph.edge(&edge_id(7), first);
    assert!(edge.expect("read").is_some());
    let read = reads.counted();
    // One more looks for the end of the commit that the version belongs to.
    assert!(read.scans <= EPOCHS + 1, "{read:?}");

    reads.forget();
    let ticket = purge(&graph, &id).expect("purged");
    ticket.wait().expect("stored");
    // Its events are listed twice on the one side and once on the other, which may be in parts,
    // too.
    let read = reads.counted();
    assert!(read.scans <= 3 * EPOCHS, "{read:?}");
    let history = graph.history(&id, TemporalScope::NOW, page);
    assert!(history.expect("read").is_empty());
    let report = verify(&graph, 1, &mut |_| true).expect("verified");
    assert_eq!(report.problem_count, 0, "{:?}", report.problems);
}
