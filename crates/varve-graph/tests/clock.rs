//! A graph whose newest commit is ahead of the clock, since that is wrong or was.

use std::sync::Arc;
use std::time::Duration;

use varve_encoding::tables::TABLES;
use varve_graph::write::{Mutation, WriteRequest};
use varve_graph::{ErrorKind, Graph, GraphError, GraphOptions};
use varve_kv::Engine;
use varve_kv::memory::MemoryEngine;
use varve_model::{CommitVersion, Instant, TemporalScope, Vertex, VertexId, VertexLabelId};
use varve_testkit::ManualClock;

const NOW: Instant = Instant(1_700_000_000_000_000);
const HOUR: i64 = 3_600_000_000;
const TEN_YEARS: i64 = 87_600 * HOUR;

fn open(
    engine: &MemoryEngine,
    clock: &Arc<ManualClock>,
    ahead_max: Option<Duration>,
) -> Result<Arc<Graph>, GraphError> {
    let space = engine.open("g", TABLES, true)?;
    let mut options = GraphOptions::new(Arc::clone(clock) as _);
    options.clock_ahead_max = ahead_max;
    Graph::open("g", space, &options)
}

fn put(graph: &Arc<Graph>) -> CommitVersion {
    let vertex = Vertex {
        id: VertexId::text("a"),
        label: VertexLabelId(1),
        properties: Default::default(),
    };
    let put = Mutation::PutVertex {
        vertex,
        fresh: false,
    };
    graph
        .write_now(&WriteRequest::now(vec![put]))
        .expect("stored")
}

#[test]
fn a_graph_that_is_far_ahead_of_the_clock_is_opened_only_if_so_asked() {
    let (engine, clock) = (MemoryEngine::new(), Arc::new(ManualClock::new(NOW)));
    let max = Some(Duration::from_secs(3_600));
    clock.step(TEN_YEARS);
    let graph = open(&engine, &clock, max).expect("an empty graph");
    let future = put(&graph);
    drop(graph);
    clock.set(NOW);
    let error = open(&engine, &clock, max).map(|_| ()).expect_err("refused");
    assert_eq!(error.kind, ErrorKind::Storage);
    assert!(error.message.contains("3650 days ahead"), "{error}");
    assert!(error.message.contains("clock_ahead_max_seconds"), "{error}");

    let graph = open(&engine, &clock, None).expect("asked for");
    assert_eq!(graph.now(), future.instant(), "now stands still");
    assert_eq!(graph.ahead_of_clock().as_secs(), 87_600 * 3_600);
    let later = put(&graph);
    assert!(later > future);
    let now = graph.vertex(&VertexId::text("a"), TemporalScope::NOW);
    assert!(now.expect("read").is_some());
    drop(graph);

    clock.set(NOW.plus_micros(TEN_YEARS - HOUR));
    let graph = open(&engine, &clock, max).expect("within the bound");
    clock.step(2 * HOUR);
    assert_eq!(graph.ahead_of_clock(), Duration::ZERO, "caught up");
}

#[test]
fn what_was_read_as_past_counts_as_the_newest_commit_does() {
    let (engine, clock) = (MemoryEngine::new(), Arc::new(ManualClock::new(NOW)));
    let graph = open(&engine, &clock, None).expect("open");
    put(&graph);
    clock.step(TEN_YEARS);
    let present = TemporalScope {
        valid: None,
        transaction: Some(CommitVersion::last_at(clock_now(&clock))),
    };
    graph.view(present).expect("read");
    drop(graph);
    clock.set(NOW);
    let refused = open(&engine, &clock, Some(Duration::from_secs(3_600)));
    assert!(refused.is_err());
}

fn clock_now(clock: &ManualClock) -> Instant {
    varve_model::Clock::now(clock)
}
