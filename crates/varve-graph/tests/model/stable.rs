//! What was once read at a settled point of both times is read again, while others write, tidy and
//! destroy nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use varve_encoding::tables::TABLES;
use varve_graph::maintenance::tidy;
use varve_graph::query::{EdgeQuery, VertexQuery, collect_edges, collect_vertices};
use varve_graph::write::{EndCheck, Mutation, WritePeriod, WriteRequest};
use varve_graph::{DurabilityMode, Graph, GraphOptions};
use varve_model::time::SystemClock;
use varve_model::{
    Direction, Edge, EdgeId, Instant, Properties, TemporalScope, Value, Vertex, VertexId,
};
use varve_testkit::Random;
use varve_testkit::generate::labels::{AGE, KNOWS, PERSON, SINCE};
use varve_testkit::generate::plan;

use crate::engines::{Below, engine};
use crate::schema;

fn graph(below: Below) -> Arc<Graph> {
    let (engine, _dir) = engine(below);
    let space = engine.open("g", TABLES, true).expect("a space");
    let mut options = GraphOptions::new(Arc::new(SystemClock));
    options.durability = DurabilityMode::None;
    let graph = Graph::open("g", space, &options).expect("a graph");
    schema::create(graph.catalogue(), &plan(&mut Random::new(1)));
    graph
}

fn person(at: usize, age: i32) -> Mutation {
    let properties = [(AGE, Value::Int(age))].into_iter().collect();
    let id = VertexId::text(&format!("1:{at}"));
    Mutation::PutVertex {
        vertex: Vertex {
            id,
            label: PERSON,
            properties,
        },
        fresh: false,
    }
}

fn knows(source: usize, target: usize, since: i64) -> Mutation {
    let since = Value::Date(since);
    let id = EdgeId {
        source: VertexId::text(&format!("1:{source}")),
        parent: KNOWS,
        label: KNOWS,
        sort_values: varve_model::sortable::join_key_values([&since]),
        target: VertexId::text(&format!("1:{target}")),
    };
    let properties: Properties = [(SINCE, since)].into_iter().collect();
    let edge = Edge {
        id,
        source_label: PERSON,
        target_label: PERSON,
        properties,
    };
    Mutation::PutEdge {
        edge,
        ends: EndCheck::Skip,
    }
}

fn write(graph: &Arc<Graph>, mutations: Vec<Mutation>, from: Option<Instant>, to: Option<Instant>) {
    let period = WritePeriod { from, to };
    if let Err(refused) = graph.write_now(&WriteRequest {
        mutations,
        period,
        ..WriteRequest::default()
    }) {
        // On a busy machine a short period may be over before it is written.
        let over = from.is_none() && to.is_some_and(|to| to <= graph.now());
        assert!(over, "{refused:?}");
    }
}

/// Everything that can be listed at a point of both times.
fn everything(graph: &Arc<Graph>, scope: TemporalScope) -> (Vec<Vertex>, Vec<Edge>, Vec<Edge>) {
    let view = graph.view(scope).expect("a view");
    let all = VertexQuery {
        label: Some(PERSON),
        limit: -1,
        ..VertexQuery::default()
    };
    let (vertices, _) = collect_vertices(&view, view.schema(), &all).expect("vertices");
    let all = EdgeQuery {
        labels: vec![KNOWS],
        limit: -1,
        ..EdgeQuery::default()
    };
    let (edges, _) = collect_edges(&view, view.schema(), &all).expect("edges");
    let vertex = Some((VertexId::text("1:0"), Some(Direction::In)));
    let of_one = EdgeQuery {
        vertex,
        limit: -1,
        ..EdgeQuery::default()
    };
    let (of_one, _) = collect_edges(&view, view.schema(), &of_one).expect("edges");
    (vertices, edges, of_one)
}

/// Reports that the writer has ended, however it did.
struct Ended<'a>(&'a AtomicBool);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[test]
fn settled_answers_stay_while_others_write_and_tidy() {
    settled_answers_stay(Below::Memory);
}

/// Without states to read, and with replicas that are behind. Only periods without an end: where
/// one ends, events come back to be the row, against the order of reads.
#[test]
fn settled_answers_stay_on_replicas() {
    settled_answers_stay(Below::Replicas);
}

fn settled_answers_stay(below: Below) {
    let graph = graph(below);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (graph, done) = (&graph, &done);
        scope.spawn(move || {
            let _ended = Ended(done);
            let mut random = Random::new(9);
            for round in 0..4_000 {
                let (a, b) = (random.below(6), random.below(6));
                let now = graph.now();
                let (from, to) = match random.below(4) {
                    _ if below == Below::Replicas => (None, None),
                    0 => (Some(now.plus_micros(300)), Some(now.plus_micros(900))),
                    1 => (None, Some(now.plus_micros(50_000))),
                    2 => (Some(now.plus_micros(-5_000)), Some(now.plus_micros(2_000))),
                    _ => (None, None),
                };
                write(graph, vec![person(a, round), knows(a, b, 1)], from, to);
            }
        });
        scope.spawn(move || {
            while !done.load(Ordering::SeqCst) {
                tidy(graph, usize::MAX).expect("tidied");
            }
        });
        let mut asked = Vec::new();
        while !done.load(Ordering::SeqCst) {
            let scope = TemporalScope {
                valid: Some(graph.now()),
                transaction: Some(graph.published()),
            };
            asked.push((scope, everything(graph, scope)));
            let (scope, answer) = &asked[asked.len() / 2];
            assert_eq!(&everything(graph, *scope), answer, "{scope:?}");
        }
        for (scope, answer) in &asked {
            assert_eq!(&everything(graph, *scope), answer, "{scope:?}");
        }
    });
}

/// What is acknowledged before a read of whole commits shows in it, and of no commit a part, also
/// without states to read.
#[test]
fn whole_commits_are_read_on_every_engine() {
    const PERSONS: usize = 40;
    const ROUNDS: usize = 400;
    for below in [Below::Memory, Below::Replicas] {
        let graph = graph(below);
        let all_of = |round: usize| (0..PERSONS).map(|at| person(at, round as i32)).collect();
        write(&graph, all_of(0), None, None);
        let (acknowledged, done) = (AtomicUsize::new(0), AtomicBool::new(false));
        std::thread::scope(|scope| {
            let (graph, acknowledged, done) = (&graph, &acknowledged, &done);
            scope.spawn(move || {
                let _ended = Ended(done);
                for round in 1..ROUNDS {
                    write(graph, all_of(round), None, None);
                    acknowledged.store(round, Ordering::SeqCst);
                }
            });
            while !done.load(Ordering::SeqCst) {
                let before = acknowledged.load(Ordering::SeqCst);
                let (seen, _, _) = everything(graph, TemporalScope::WHOLE);
                assert_eq!(seen.len(), PERSONS, "{below:?}");
                let age = &seen[0].properties;
                for vertex in &seen {
                    assert_eq!(&vertex.properties, age, "half a commit, {below:?}");
                }
                let one = graph.vertex(&seen[0].id, TemporalScope::WHOLE);
                for vertex in [&seen[0], &one.expect("read").expect("a person")] {
                    let Some((_, Value::Int(age))) = vertex.properties.iter().next() else {
                        panic!("no age: {vertex:?}");
                    };
                    assert!(*age as usize >= before, "{age} after {before}, {below:?}");
                }
            }
        });
    }
}

/// More edges than an adjacency scan of the past takes at once, some only in the present, some only
/// in the past.
#[test]
#[expect(clippy::too_many_lines, reason = "one course of events")]
fn many_edges_of_the_past_are_all_seen_once() {
    const EDGES: usize = 1_700;
    let graph = graph(Below::Memory);
    write(
        &graph,
        (0..EDGES).map(|since| knows(0, 1, since as i64)).collect(),
        None,
        None,
    );
    let then = graph.now();
    let before = graph.published();
    for chunk in 0..3 {
        let doomed = (0..EDGES).filter(|since| since % 3 == 0 && since % 9 == chunk * 3);
        let delete = |since: usize| match knows(0, 1, since as i64) {
            Mutation::PutEdge { edge, .. } => Mutation::Delete {
                id: varve_model::ElementId::Edge(edge.id),
                missing: varve_graph::write::Missing::Refuse,
            },
            _ => unreachable!("an edge"),
        };
        write(&graph, doomed.map(delete).collect(), None, None);
    }
    write(
        &graph,
        (0..EDGES)
            .filter(|since| since % 5 == 0 && since % 3 != 0)
            .map(|since| knows(0, 1, since as i64))
            .collect(),
        None,
        None,
    );
    let count = |scope| {
        let view = graph.view(scope).expect("a view");
        let mut counts = Vec::new();
        for direction in [Direction::Out, Direction::In] {
            let owner = VertexId::text(if direction == Direction::Out {
                "1:0"
            } else {
                "1:1"
            });
            let query = EdgeQuery {
                vertex: Some((owner, Some(direction))),
                limit: 700,
                page: Some(String::new()),
                ..EdgeQuery::default()
            };
            let mut page = Some(String::new());
            let mut seen = Vec::new();
            while page.is_some() {
                let query = EdgeQuery {
                    page,
                    ..query.clone()
                };
                let (part, next) = collect_edges(&view, view.schema(), &query).expect("edges");
                seen.extend(part.into_iter().map(|edge| edge.id));
                page = next;
            }
            let all = seen.len();
            seen.sort();
            seen.dedup();
            assert_eq!(seen.len(), all, "none is seen twice");
            counts.push(all);
        }
        counts
    };
    let past = TemporalScope {
        valid: Some(then),
        transaction: Some(before),
    };
    assert_eq!(count(past), [EDGES, EDGES]);
    assert_eq!(
        count(TemporalScope {
            valid: Some(then),
            transaction: None
        }),
        [EDGES, EDGES]
    );
    let left = EDGES - EDGES.div_ceil(3);
    assert_eq!(count(TemporalScope::NOW), [left, left]);
    let now = TemporalScope {
        valid: Some(graph.now()),
        transaction: Some(graph.published()),
    };
    assert_eq!(count(now), [left, left]);
}
