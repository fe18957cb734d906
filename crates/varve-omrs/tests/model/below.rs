//! What the repository is tested on: a graph in memory.

use std::sync::Arc;

use varve_encoding::tables::TABLES;
use varve_graph::{DurabilityMode, Graph, GraphOptions};
use varve_kv::{Engine, MemoryEngine};
use varve_model::Instant;
use varve_omrs::graph_store::{GraphStore, InstanceDerivers};
use varve_testkit::ManualClock;

/// A store without instances, and its clock, which shows so many milliseconds since 1970 until it
/// is set.
pub(crate) fn open(millis: i64) -> (Arc<GraphStore>, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::new(Instant(millis * 1000)));
    let space = MemoryEngine::new().open("metadata", TABLES, true).unwrap();
    let mut options = GraphOptions::new(Arc::clone(&clock) as Arc<_>);
    options.durability = DurabilityMode::None;
    options.derivers = Some(Arc::new(InstanceDerivers));
    let graph = Graph::open("metadata", space, &options).unwrap();
    (Arc::new(GraphStore::open(graph)), clock)
}
