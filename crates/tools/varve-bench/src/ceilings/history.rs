//! What history costs reads of the present: the same reads on a store with one version of each
//! element and on a store with several.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use varve_encoding::tables::TABLES;
use varve_graph::write::{EndCheck, Mutation, WriteRequest};
use varve_graph::{DurabilityMode, Graph, GraphOptions};
use varve_kv::{ClusteringRange, Engine, Flow};
use varve_kv_rocksdb::{RocksConfig, RocksEngine};
use varve_model::time::SystemClock;
use varve_model::{
    Edge, EdgeId, EdgeLabelId, Properties, PropertyKeyId, TemporalScope, Value, Vertex, VertexId,
    VertexLabelId,
};

use super::workload::vertex_id;
use crate::environment;
use crate::owned::Folder;
use crate::process;
use crate::random::Random;

/// Edges written out of each vertex. Those to the same vertex are one edge.
const DEGREE: u64 = 10;
/// Rounds of each kind of read, alternating between the two stores.
const ROUNDS: usize = 5;

struct Store {
    graph: Arc<Graph>,
    vertices: u64,
    _engine: RocksEngine,
    _directory: Folder,
}

/// Prints the rates of reads of the present on both stores, in reads per CPU second, and their
/// ratio.
pub(crate) fn run(vertices: u64, versions: u32) -> Result<()> {
    eprintln!(
        "writing {vertices} vertices and {} edges, 1 and {versions} versions …",
        vertices * DEGREE
    );
    println!(
        "data on {}\n",
        environment::disk(&environment::Data::temporary())
    );
    let stores = [
        Store::build(vertices, 1)?,
        Store::build(vertices, versions)?,
    ];
    println!("| read of the present | 1 version, reads per CPU-s | {versions} versions | ratio |");
    println!("|---|--:|--:|--:|");
    for (name, read) in [
        (
            "vertex by id",
            Store::read_vertices as fn(&Store, u64) -> Result<u64>,
        ),
        ("edges of a vertex", Store::read_edges),
    ] {
        let mut spent = [(0_u64, Duration::ZERO); 2];
        for round in 0..ROUNDS {
            for (store, spent) in stores.iter().zip(&mut spent) {
                read(store, 99)?;
                let before = process::own_cpu_time();
                let started = Instant::now();
                while started.elapsed() < Duration::from_secs(1) {
                    spent.0 += read(store, round as u64)?;
                }
                spent.1 += process::own_cpu_time().saturating_sub(before);
            }
        }
        let rate = |(count, cpu): (u64, Duration)| count as f64 / cpu.as_secs_f64().max(1e-9);
        let (one, many) = (rate(spent[0]), rate(spent[1]));
        println!("| {name} | {one:.0} | {many:.0} | {:.2} |", many / one);
    }
    Ok(())
}

impl Store {
    fn build(vertices: u64, versions: u32) -> Result<Self> {
        let directory = Folder::new()?;
        let engine = RocksEngine::open(&RocksConfig::new(directory.path()))?;
        let space = engine.open("history", TABLES, true)?;
        let mut options = GraphOptions::new(Arc::new(SystemClock));
        options.durability = DurabilityMode::None;
        let graph = Graph::open("history", space, &options)?;
        let store = Self {
            graph,
            vertices,
            _engine: engine,
            _directory: directory,
        };
        for version in 0..versions {
            for first in (0..vertices).step_by(50) {
                let mutations = (first..(first + 50).min(vertices))
                    .flat_map(|at| store.element(at, version))
                    .collect();
                store.graph.write_now(&WriteRequest::now(mutations))?;
            }
        }
        store.graph.space().compact()?;
        Ok(store)
    }

    fn element(&self, at: u64, version: u32) -> Vec<Mutation> {
        let text = format!("the state of this element in its version number {version:010}");
        let properties: Properties = [(PropertyKeyId(1), Value::Text(text))]
            .into_iter()
            .collect();
        let label = VertexLabelId(1);
        let source = VertexId::text(&vertex_id(at));
        let vertex = Vertex {
            id: source.clone(),
            label,
            properties: properties.clone(),
        };
        let mut mutations = vec![Mutation::PutVertex {
            vertex,
            fresh: false,
        }];
        for edge in 0..DEGREE {
            let target = VertexId::text(&vertex_id(
                Random::new(at * DEGREE + edge).below(self.vertices),
            ));
            let id = EdgeId {
                source: source.clone(),
                parent: EdgeLabelId(1),
                label: EdgeLabelId(1),
                sort_values: "".into(),
                target,
            };
            let properties = properties.clone();
            let edge = Edge {
                id,
                source_label: label,
                target_label: label,
                properties,
            };
            mutations.push(Mutation::PutEdge {
                edge,
                ends: EndCheck::Skip,
            });
        }
        mutations
    }

    fn read_vertices(&self, seed: u64) -> Result<u64> {
        let mut random = Random::new(seed);
        for _ in 0..1_000 {
            let id = VertexId::text(&vertex_id(random.below(self.vertices)));
            let found = self
                .graph
                .with_vertex(&id, TemporalScope::NOW, &mut |_| {})?;
            anyhow::ensure!(found, "a vertex is missing");
        }
        Ok(1_000)
    }

    fn read_edges(&self, seed: u64) -> Result<u64> {
        let mut random = Random::new(seed);
        let view = self.graph.view(TemporalScope::NOW)?;
        let mut edges = 0;
        for _ in 0..200 {
            let id = VertexId::text(&vertex_id(random.below(self.vertices)));
            view.adjacent(&id, &ClusteringRange::all(), &mut |_| {
                edges += 1;
                Flow::Continue(())
            })?;
        }
        anyhow::ensure!(edges > 0, "the edges are missing");
        Ok(200)
    }
}
