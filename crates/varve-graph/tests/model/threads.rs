//! Threads that write at the same time: what they did is what the model does when it takes their
//! commits one after the other, in the order of their versions.

use std::sync::Arc;

use varve_encoding::tables::TABLES;
use varve_graph::verify::verify;
use varve_graph::write::{WritePeriod, WriteRequest};
use varve_graph::{DurabilityMode, ErrorKind, Graph, GraphOptions};
use varve_model::time::SystemClock;
use varve_model::{
    CommitVersion, Edge, EdgeId, Element, ElementId, Instant, Properties, TemporalScope, Value,
    Vertex, VertexId,
};
use varve_testkit::Random;
use varve_testkit::generate::labels::{AGE, CODE, HAS, ITEM, MARKS, PERSON, WEIGHT};
use varve_testkit::generate::{SchemaPlan, plan};
use varve_testkit::model::{Change, Model, Point, Request};

use crate::engines::{Below, engine};
use crate::requests::mutation;
use crate::schema;

const THREADS: u64 = 4;
const WRITES: usize = 250;
/// Microseconds to the ends of periods: far from any instant at which the test runs.
const FAR: i64 = 3_600_000_000;

/// A request over few elements, so that threads meet: whole writes, updates that read, edges with
/// checked ends, deletions, unique values. Each that is not refused is a commit.
fn request(random: &mut Random, thread: u64, base: Instant) -> Request {
    let count = 1 + random.below(3);
    let mut changes: Vec<Change> = (0..count).map(|_| change(random)).collect();
    // A vertex of the thread's own: every request changes something.
    let id = VertexId::text(&format!("own {thread}"));
    let properties = Properties::new();
    let own = Element::Vertex(Vertex {
        id,
        label: PERSON,
        properties,
    });
    changes.push(Change::Put {
        element: own,
        check_ends: false,
    });
    let (from, to) = match random.below(6) {
        0 => (
            Some(base.plus_micros(-2 * FAR)),
            Some(base.plus_micros(-FAR)),
        ),
        1 => (Some(base.plus_micros(FAR)), Some(base.plus_micros(2 * FAR))),
        2 => (None, Some(base.plus_micros(2 * FAR))),
        _ => (None, None),
    };
    Request {
        changes,
        from,
        to,
        skip_unchanged: false,
    }
}

fn change(random: &mut Random) -> Change {
    let person = ["1:a", "1:b"][random.below(2)];
    let item = ["x", "yy", "1"][random.below(3)];
    let ids = [
        ElementId::Vertex(VertexId::text(person)),
        ElementId::Vertex(VertexId::text(item)),
        has(random, person, item).id(),
    ];
    match random.below(8) {
        0 => {
            let properties = [(AGE, Value::Int(random.below(100) as i32))]
                .into_iter()
                .collect();
            let id = VertexId::text(person);
            Change::Put {
                element: Element::Vertex(Vertex {
                    id,
                    label: PERSON,
                    properties,
                }),
                check_ends: false,
            }
        }
        1 | 2 => {
            let properties = [(CODE, Value::Long(random.below(3) as i64))]
                .into_iter()
                .collect();
            let id = VertexId::text(item);
            Change::Put {
                element: Element::Vertex(Vertex {
                    id,
                    label: ITEM,
                    properties,
                }),
                check_ends: false,
            }
        }
        3 | 4 => Change::Put {
            element: has(random, person, item),
            check_ends: true,
        },
        5 => {
            let mark = Value::List(vec![Value::Int(random.below(1_000_000) as i32)]);
            Change::Append {
                id: ids[1].clone(),
                properties: [(MARKS, mark)].into_iter().collect(),
            }
        }
        6 => Change::Append {
            id: ids[1].clone(),
            properties: [(CODE, Value::Long(random.below(3) as i64))]
                .into_iter()
                .collect(),
        },
        _ => Change::Delete {
            id: ids[random.below(3)].clone(),
            refuse_missing: true,
        },
    }
}

fn has(random: &mut Random, person: &str, item: &str) -> Element {
    let id = EdgeId {
        source: VertexId::text(person),
        parent: HAS,
        label: HAS,
        sort_values: "".into(),
        target: VertexId::text(item),
    };
    let properties: Properties = [(WEIGHT, Value::Double(random.below(10) as f64))]
        .into_iter()
        .collect();
    Element::Edge(Edge {
        id,
        source_label: PERSON,
        target_label: ITEM,
        properties,
    })
}

/// What one thread wrote, with the versions that were returned.
fn write(
    graph: &Arc<Graph>,
    plan: &SchemaPlan,
    seed: u64,
    base: Instant,
) -> Vec<(CommitVersion, Request)> {
    let mut random = Random::new(seed);
    let mut done = Vec::new();
    for _ in 0..WRITES {
        let request = request(&mut random, seed, base);
        let mutations = request
            .changes
            .iter()
            .map(|change| mutation(graph, plan, change, &|_| false).expect("a change"))
            .collect();
        match graph.write_now(&WriteRequest {
            mutations,
            period: WritePeriod {
                from: request.from,
                to: request.to,
            },
            ..WriteRequest::default()
        }) {
            Ok(version) => done.push((version, request)),
            Err(error) => assert!(
                matches!(
                    error.kind,
                    ErrorKind::InvalidArgument | ErrorKind::Unique | ErrorKind::NotFound
                ),
                "{error}"
            ),
        }
    }
    done
}

#[test]
fn concurrent_writes_are_some_order_of_them() {
    for seed in 0..8 {
        concurrent(seed, Below::Memory);
        concurrent(seed, Below::FrontTable);
        concurrent(seed, Below::Replicas);
        concurrent(seed, Below::Parts);
    }
}

fn concurrent(seed: u64, below: Below) {
    let plan = plan(&mut Random::new(seed));
    let (engine, _dir) = engine(below);
    let space = engine.open("g", TABLES, true).expect("a space");
    let mut options = GraphOptions::new(Arc::new(SystemClock));
    options.durability = DurabilityMode::None;
    let graph = Graph::open("g", space, &options).expect("a graph");
    schema::create(graph.catalogue(), &plan);
    let base = graph.now();
    let mut done: Vec<(CommitVersion, Request)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| {
                let (graph, plan) = (&graph, &plan);
                scope.spawn(move || write(graph, plan, seed * THREADS + thread, base))
            })
            .collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().expect("no panic"))
            .collect()
    });
    done.sort_by_key(|(version, _)| *version);
    let mut model = Model::new(plan.model.clone());
    for (version, request) in &done {
        let planned = model.plan(request, version.instant());
        let planned = planned.unwrap_or_else(|refusal| {
            panic!("seed {seed}: {request:?} was not refused for {refusal:?}")
        });
        model.commit(&planned, *version);
    }
    let offsets = [-2 * FAR, -FAR, FAR, 2 * FAR].map(|offset| Some(base.plus_micros(offset)));
    for valid in std::iter::once(None).chain(offsets) {
        let at = Point {
            valid: valid.unwrap_or(graph.now()),
            version: CommitVersion::MAX,
        };
        let scope = TemporalScope {
            valid,
            transaction: None,
        };
        for id in model.ids() {
            let found = match &id {
                ElementId::Vertex(id) => graph
                    .vertex(id, scope)
                    .map(|found| found.map(Element::Vertex)),
                ElementId::Edge(id) => graph.edge(id, scope).map(|found| found.map(Element::Edge)),
            };
            assert_eq!(
                found.expect("read").as_ref(),
                model.state(&id, at),
                "seed {seed}: {id} at {valid:?}"
            );
        }
    }
    let report = verify(&graph, 2, &mut |_| true).expect("the store works");
    assert!(report.is_sound(), "seed {seed}: {:?}", report.problems);
}
