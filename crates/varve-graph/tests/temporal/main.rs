//! The rules of time on a real graph over the in-memory engine, one small story each.

mod edges;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use varve_encoding::tables::TABLES;
use varve_graph::read::{HistoryPage, VersionKind};
use varve_graph::write::{
    Contention, EndCheck, Gaps, Missing, Mutation, WritePeriod, WriteRequest,
};
use varve_graph::{Graph, GraphOptions};
use varve_kv::memory::MemoryEngine;
use varve_kv::{ClusteringRange, Engine, Flow, Space};
use varve_model::{
    Clock, CommitVersion, Edge, EdgeId, EdgeLabelId, ElementId, Instant, PropertyKeyId,
    TemporalScope, Value, Vertex, VertexId, VertexLabelId,
};

struct StepClock(AtomicI64);

impl Clock for StepClock {
    fn now(&self) -> Instant {
        Instant(self.0.load(Ordering::SeqCst))
    }
}

struct Story {
    engine: MemoryEngine,
    clock: Arc<StepClock>,
    graph: Option<Arc<Graph>>,
    edges_max: usize,
    edge_bytes_max: usize,
}

const KEY: PropertyKeyId = PropertyKeyId(1);

impl Story {
    fn new() -> Self {
        let clock = Arc::new(StepClock(AtomicI64::new(1_000_000)));
        let mut story = Self {
            engine: MemoryEngine::new(),
            clock,
            graph: None,
            edges_max: 200_000,
            edge_bytes_max: 256 << 20,
        };
        story.open();
        story
    }

    fn open(&mut self) {
        let space = self.engine.open("g1", TABLES, true).expect("space");
        self.open_on(space);
    }

    fn open_on(&mut self, space: Arc<dyn Space>) {
        let mut options = GraphOptions::new(Arc::clone(&self.clock) as Arc<dyn Clock>);
        options.limits.vertex_delete_edges_max = self.edges_max;
        options.limits.vertex_delete_bytes_max = self.edge_bytes_max;
        self.graph = Some(Graph::open("g", space, &options).expect("graph"));
    }

    fn reopen(&mut self) {
        self.graph = None;
        self.open();
    }

    fn graph(&self) -> &Arc<Graph> {
        self.graph.as_ref().expect("open")
    }

    fn at(&self, micros: i64) {
        self.clock.0.store(micros, Ordering::SeqCst);
    }

    fn write(&self, mutation: Mutation, from: Option<i64>, to: Option<i64>) -> CommitVersion {
        let period = WritePeriod {
            from: from.map(Instant),
            to: to.map(Instant),
        };
        let request = WriteRequest {
            mutations: vec![mutation],
            period,
            ..WriteRequest::default()
        };
        self.graph().write_now(&request).expect("write")
    }

    fn put(&self, number: i32, from: Option<i64>, to: Option<i64>) -> CommitVersion {
        self.write(
            Mutation::PutVertex {
                vertex: vertex(number),
                fresh: false,
            },
            from,
            to,
        )
    }

    fn delete(&self, from: Option<i64>, to: Option<i64>) -> CommitVersion {
        let id = ElementId::Vertex(VertexId::text("a"));
        self.write(
            Mutation::Delete {
                id,
                missing: Missing::Ignore,
            },
            from,
            to,
        )
    }

    fn now(&self) -> Option<i32> {
        self.read(TemporalScope::NOW)
    }

    fn valid(&self, micros: i64) -> Option<i32> {
        self.read(TemporalScope {
            valid: Some(Instant(micros)),
            transaction: None,
        })
    }

    fn read(&self, scope: TemporalScope) -> Option<i32> {
        let one = self
            .graph()
            .vertex(&VertexId::text("a"), scope)
            .expect("read");
        let viewed = self.graph().view(scope).expect("view");
        assert_eq!(
            one,
            viewed.vertex(&VertexId::text("a")).expect("read"),
            "both ways to read agree"
        );
        one.map(|vertex| match vertex.properties.get(KEY) {
            Some(Value::Int(number)) => *number,
            other => panic!("{other:?}"),
        })
    }
}

fn vertex(number: i32) -> Vertex {
    let properties = [(KEY, Value::Int(number))].into_iter().collect();
    Vertex {
        id: VertexId::text("a"),
        label: VertexLabelId(1),
        properties,
    }
}

fn edge(from: &str, to: &str, sort: &str) -> Edge {
    let id = EdgeId {
        source: VertexId::text(from),
        parent: EdgeLabelId(1),
        label: EdgeLabelId(1),
        sort_values: sort.into(),
        target: VertexId::text(to),
    };
    let label = VertexLabelId(1);
    Edge {
        id,
        source_label: label,
        target_label: label,
        properties: Default::default(),
    }
}

#[test]
fn an_update_moves_the_old_state_to_the_past() {
    let story = Story::new();
    let first = story.put(1, None, None);
    story.at(2_000_000);
    let second = story.put(2, None, None);
    assert!(second > first);
    assert_eq!(story.now(), Some(2));
    assert_eq!(story.valid(1_500_000), Some(1));
    assert_eq!(story.valid(999_999), None);
    let then = TemporalScope {
        valid: None,
        transaction: Some(first),
    };
    assert_eq!(story.read(then), Some(1));
}

#[test]
fn a_delete_ends_now_but_not_the_past() {
    let story = Story::new();
    story.put(1, None, None);
    story.at(2_000_000);
    story.delete(None, None);
    assert_eq!(story.now(), None);
    assert_eq!(story.valid(1_999_999), Some(1));
    assert_eq!(story.valid(2_000_000), None);
    story.at(3_000_000);
    story.put(3, None, None);
    assert_eq!(story.now(), Some(3));
    assert_eq!(story.valid(2_500_000), None);
}

#[test]
fn a_retroactive_write_corrects_the_past_only() {
    let story = Story::new();
    let before = story.put(1, None, None);
    story.at(5_000_000);
    story.put(9, Some(500_000), Some(2_000_000));
    assert_eq!(story.now(), Some(1));
    assert_eq!(story.valid(700_000), Some(9));
    assert_eq!(story.valid(1_500_000), Some(9));
    assert_eq!(story.valid(2_000_000), Some(1));
    let then = TemporalScope {
        valid: Some(Instant(1_500_000)),
        transaction: Some(before),
    };
    assert_eq!(story.read(then), Some(1), "what was believed then");
}

#[test]
fn a_future_write_takes_effect_when_its_time_comes() {
    let mut story = Story::new();
    story.put(1, None, None);
    story.put(2, Some(4_000_000), Some(6_000_000));
    assert_eq!(story.now(), Some(1));
    story.at(4_000_000);
    assert_eq!(story.now(), Some(2));
    story.reopen();
    assert_eq!(story.now(), Some(2));
    story.at(6_000_000);
    assert_eq!(story.now(), Some(1), "the older state shows again");
    assert_eq!(story.valid(5_000_000), Some(2));
    story.put(3, None, None);
    assert_eq!(story.now(), Some(3));
    assert_eq!(story.valid(5_000_000), Some(2));
    assert_eq!(story.valid(3_000_000), Some(1));
}

#[test]
fn something_that_will_exist_leaves_no_trace_before() {
    let story = Story::new();
    story.put(1, Some(4_000_000), None);
    assert_eq!(story.now(), None);
    assert_eq!(story.valid(4_000_000), Some(1));
    story.at(4_500_000);
    assert_eq!(story.now(), Some(1));
    story.put(2, None, None);
    assert_eq!(story.valid(4_200_000), Some(1));
    assert_eq!(story.now(), Some(2));
}

#[test]
fn a_state_with_an_end_gives_way_by_itself() {
    let story = Story::new();
    story.put(1, None, Some(3_000_000));
    assert_eq!(story.now(), Some(1));
    story.at(3_000_000);
    assert_eq!(story.now(), None);
    assert_eq!(story.valid(2_999_999), Some(1));
    story.put(2, None, None);
    assert_eq!(story.now(), Some(2));
    assert_eq!(story.valid(2_999_999), Some(1));
}

#[test]
fn the_clock_may_go_back_but_transaction_time_does_not() {
    let mut story = Story::new();
    let first = story.put(1, None, None);
    story.at(10);
    let second = story.put(2, None, None);
    assert!(second > first);
    story.reopen();
    let third = story.put(3, None, None);
    assert!(third > second);
    assert_eq!(story.now(), Some(3));
    let then = TemporalScope {
        valid: None,
        transaction: Some(second),
    };
    assert_eq!(story.read(then), Some(2));
}

/// T6, across a restart with the clock turned back.
#[test]
fn what_was_read_as_past_stays_past_after_a_restart() {
    for orderly in [true, false] {
        let mut story = Story::new();
        let first = story.put(1, None, None);
        story.at(900_000_000);
        let read_past = CommitVersion::last_at(Instant(800_000_000));
        let then = TemporalScope {
            valid: None,
            transaction: Some(read_past),
        };
        assert_eq!(story.read(then), Some(1));
        story.at(2_000_000);
        if orderly {
            story.reopen();
        } else {
            // The process dies: nothing of it is dropped.
            let space = Arc::clone(story.graph().space());
            std::mem::forget(story.graph.take());
            story.open_on(space);
        }
        assert_eq!(story.graph().published(), first, "now does not run ahead");
        // A process that only reads takes nothing back of what an earlier one returned.
        let earlier = TemporalScope {
            valid: None,
            transaction: Some(CommitVersion::last_at(Instant(1_500_000))),
        };
        assert_eq!(story.read(earlier), Some(1));
        let space = Arc::clone(story.graph().space());
        story.graph = None;
        story.open_on(space);
        let second = story.put(2, None, None);
        assert!(
            second > read_past,
            "{second} after {read_past} was read as past"
        );
        let lead = second.instant().0 - read_past.instant().0;
        assert!(lead <= if orderly { 1 } else { 1_000_001 }, "{lead}");
        assert_eq!(story.read(then), Some(1));
        assert_eq!(story.now(), Some(2));
    }
}

#[test]
fn history_lists_every_event_once_newest_first() {
    let story = Story::new();
    let a = story.put(1, None, None);
    story.at(2_000_000);
    let b = story.put(2, Some(0), Some(500_000));
    let c = story.put(3, None, None);
    let d = story.delete(None, None);
    let id = ElementId::Vertex(VertexId::text("a"));
    let all = HistoryPage {
        before: None,
        limit: 100,
    };
    let versions = story
        .graph()
        .history(&id, TemporalScope::NOW, all)
        .expect("history");
    let listed: Vec<_> = versions
        .iter()
        .map(|v| (v.version, v.kind, v.superseded))
        .collect();
    assert_eq!(
        listed,
        [
            (d, VersionKind::Delete, None),
            (c, VersionKind::Put, Some(d)),
            (b, VersionKind::Put, None),
            (a, VersionKind::Put, Some(c)),
        ]
    );
    let page = HistoryPage {
        before: Some(c),
        limit: 1,
    };
    let versions = story
        .graph()
        .history(&id, TemporalScope::NOW, page)
        .expect("history");
    assert_eq!(versions.len(), 1);
    assert_eq!(versions[0].version, b);
}

#[test]
fn a_refused_request_changes_nothing() {
    let story = Story::new();
    let request = WriteRequest::now(vec![
        Mutation::PutVertex {
            vertex: vertex(1),
            fresh: false,
        },
        Mutation::Delete {
            id: ElementId::Vertex(VertexId::text("none")),
            missing: Missing::Refuse,
        },
    ]);
    assert!(story.graph().write_now(&request).is_err());
    assert_eq!(story.now(), None);
    story.put(2, None, None);
    assert_eq!(story.now(), Some(2));
}

#[test]
fn many_writers_lose_no_update() {
    let story = Story::new();
    story.put(0, None, None);
    let graph = story.graph();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..100 {
                    let modify = Box::new(|state: Option<varve_model::Element>| {
                        let Some(varve_model::Element::Vertex(mut vertex)) = state else {
                            panic!("the vertex is there");
                        };
                        let Some(Value::Int(old)) = vertex.properties.get(KEY) else {
                            panic!()
                        };
                        let new = Value::Int(old + 1);
                        vertex.properties.set(KEY, new);
                        Ok(varve_model::Element::Vertex(vertex))
                    });
                    let id = ElementId::Vertex(VertexId::text("a"));
                    let request = WriteRequest::now(vec![Mutation::Modify {
                        id,
                        ends: EndCheck::Skip,
                        gaps: Gaps::Keep,
                        modify,
                    }]);
                    graph.write_now(&request).expect("modify");
                }
            });
        }
    });
    assert_eq!(story.now(), Some(800));
}

/// However often an end was found before: what counts is whether it exists when the edge is
/// written.
#[test]
fn an_end_is_looked_at_again_after_it_has_changed() {
    let story = Story::new();
    let ends = EndCheck::Exist {
        labels_given: false,
    };
    let linked_until = |sort_values: &str, to: Option<i64>| {
        let edge = edge("a", "a", sort_values);
        let mut request = WriteRequest::now(vec![Mutation::PutEdge { edge, ends }]);
        request.period.to = to.map(Instant);
        story.graph().write_now(&request).is_ok()
    };
    let linked = |sort_values: &str| linked_until(sort_values, None);
    assert!(!linked("before it exists"));
    story.put(1, None, None);
    assert!(linked("1") && linked("2"));
    story.delete(None, None);
    assert!(!linked("after its deletion"));
    story.put(2, None, None);
    assert!(linked("3"));
    story.delete(Some(2_000_000), None);
    assert!(!linked("beyond its end"));
    assert!(linked_until("its end is still to come", Some(2_000_000)));
    story.at(2_000_001);
    assert!(!linked("after its end"));
    story.at(3_000_000);
    story.put(3, None, Some(4_000_000));
    assert!(!linked("for longer than it"));
    assert!(linked_until("for a while", Some(4_000_000)));
    story.at(4_000_001);
    assert!(!linked("after that while"));
    story.put(4, None, None);
    assert!(linked("4"));
    let both = vec![
        Mutation::Delete {
            id: ElementId::Vertex(VertexId::text("a")),
            missing: Missing::Refuse,
        },
        Mutation::PutEdge {
            edge: edge("a", "a", "5"),
            ends,
        },
    ];
    let refused = story.graph().write_now(&WriteRequest::now(both));
    assert!(refused.is_err(), "deleted by the same request");
    assert!(linked("6"), "that request had no effect");
}
