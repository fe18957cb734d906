//! The cost of graph algorithms on a stored graph: copying it into memory, one iteration of
//! PageRank, and weakly connected components.
//!
//! The ends of edges are uniformly random, so no locality exists: the worst case for caches.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use varve_encoding::tables::TABLES;
use varve_graph::write::{EndCheck, Mutation, WriteRequest};
use varve_graph::{DurabilityMode, Graph, GraphOptions};
use varve_kv::Engine;
use varve_kv_rocksdb::{RocksConfig, RocksEngine};
use varve_model::time::SystemClock;
use varve_model::{
    Direction, Edge, EdgeId, EdgeLabelId, Properties, TemporalScope, Vertex, VertexId,
    VertexLabelId,
};
use varve_traversal::algorithms::{PageRank, page_rank, weak};
use varve_traversal::{Projection, ProjectionAsk};
use varve_view::Meter;

use super::workload::vertex_id;
use crate::environment;
use crate::owned::Folder;
use crate::process;
use crate::random::Random;

/// Elements in one commit of the load.
const BATCH: u64 = 2_500;
/// The number of PageRank iterations whose mean is the result. The time of a run with one iteration
/// is subtracted from that of a run with one more than this, so that the set-up does not count.
const ITERATIONS: u32 = 20;

/// The limits of the copy: CPU time in µs per edge, and bytes per edge.
const COPY_MICROS_MAX: f64 = 0.25;
const COPY_BYTES_MAX: f64 = 16.0;
/// The limit of one PageRank iteration: CPU time in ns per edge, which is 60 ms for 10 million
/// edges.
const ITERATION_NANOS_MAX: f64 = 6.0;

/// Prints the CPU time and memory of the copy and of the algorithms, beside their limits.
pub(crate) fn run(vertices: u64, edges: u64) -> Result<()> {
    eprintln!("writing {vertices} vertices and {edges} edges …");
    println!(
        "{vertices} vertices, {edges} edges; data on {}\n",
        environment::disk(&environment::Data::temporary())
    );
    let directory = Folder::new()?;
    let engine = RocksEngine::open(&RocksConfig::new(directory.path()))?;
    let space = engine.open("algorithms", TABLES, true)?;
    let mut options = GraphOptions::new(Arc::new(SystemClock));
    options.durability = DurabilityMode::None;
    let graph = Graph::open("algorithms", space, &options)?;
    load(&graph, vertices, edges)?;
    graph.space().compact()?;
    let view = graph.view(TemporalScope::NOW)?;
    let meter = Meter::unlimited();
    println!("| work | measured | limit |");
    println!("|---|--:|--:|");
    let count = edges as f64;
    for (name, direction) in [("both ways", None), ("outwards", Some(Direction::Out))] {
        let ask = ProjectionAsk {
            direction,
            ..ProjectionAsk::default()
        };
        let (copy, spent) = timed(|| Ok(Projection::new(&view, &ask, &meter)?))?;
        anyhow::ensure!(
            (copy.len() as u64, copy.edges() as u64) == (vertices, edges),
            "the copy has {} vertices and {} edges",
            copy.len(),
            copy.edges()
        );
        let micros = spent.as_secs_f64() * 1e6 / count;
        println!("| copy {name}, µs of CPU an edge | {micros:.3} | {COPY_MICROS_MAX} |");
        let bytes = copy.bytes() as f64 / count;
        println!("| copy {name}, bytes an edge | {bytes:.1} | {COPY_BYTES_MAX} |");
        if direction.is_none() {
            algorithms(&copy, &meter, count)?;
        }
    }
    Ok(())
}

fn algorithms(copy: &Projection, meter: &Meter, edges: f64) -> Result<()> {
    let ranks = |times| {
        let ask = PageRank {
            alpha: 0.15,
            times,
            precision: 0.0,
            sources: &[],
        };
        timed(|| Ok(page_rank(copy, &ask, meter)?))
    };
    let ((_, one), (_, many)) = (ranks(1)?, ranks(1 + ITERATIONS)?);
    let iteration = many.saturating_sub(one).as_secs_f64() / f64::from(ITERATIONS);
    println!(
        "| PageRank, ms of CPU an iteration | {:.1} | {:.1} |",
        iteration * 1e3,
        edges * ITERATION_NANOS_MAX / 1e6
    );
    let (components, spent) = timed(|| Ok(weak(copy, meter)?))?;
    println!(
        "| weakly connected components ({}), ms of CPU | {:.0} | |",
        components.count,
        spent.as_secs_f64() * 1e3
    );
    Ok(())
}

/// The result of `work`, and the CPU time that this process used for it.
fn timed<T>(work: impl FnOnce() -> Result<T>) -> Result<(T, Duration)> {
    let before = process::own_cpu_time();
    let made = work()?;
    let spent = process::own_cpu_time().saturating_sub(before);
    Ok((made, spent))
}

fn load(graph: &Arc<Graph>, vertices: u64, edges: u64) -> Result<()> {
    for first in (0..vertices).step_by(BATCH as usize) {
        let each = first..(first + BATCH).min(vertices);
        let mutations = each.map(|at| Mutation::PutVertex {
            vertex: Vertex {
                id: VertexId::text(&vertex_id(at)),
                label: VertexLabelId(1),
                properties: Properties::new(),
            },
            fresh: true,
        });
        graph.write_now(&WriteRequest::now(mutations.collect()))?;
    }
    for first in (0..edges).step_by(BATCH as usize) {
        let each = first..(first + BATCH).min(edges);
        let mutations = each.map(|at| edge(at, vertices)).collect();
        graph.write_now(&WriteRequest::now(mutations))?;
    }
    Ok(())
}

/// Edge number `at`; its number distinguishes it from others between the same vertices.
fn edge(at: u64, vertices: u64) -> Mutation {
    let mut random = Random::new(at);
    let mut end = || VertexId::text(&vertex_id(random.below(vertices)));
    let id = EdgeId {
        source: end(),
        parent: EdgeLabelId(1),
        label: EdgeLabelId(1),
        sort_values: format!("{at:x}").as_str().into(),
        target: end(),
    };
    let edge = Edge {
        id,
        source_label: VertexLabelId(1),
        target_label: VertexLabelId(1),
        properties: Properties::new(),
    };
    Mutation::PutEdge {
        edge,
        ends: EndCheck::Skip,
    }
}
