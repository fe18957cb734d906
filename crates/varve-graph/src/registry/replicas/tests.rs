//! What a server reads of a graph that another one leads, whatever the leader does meanwhile.

use std::sync::atomic::{AtomicUsize, Ordering};

use varve_kv::Flow;
use varve_kv_parted::{PartOptions, PartedEngine};
use varve_model::schema::Retention;
use varve_model::time::SystemClock;
use varve_model::{ElementId, TemporalScope, Vertex, VertexId, VertexLabelId};
use varve_testkit::{ScatteredEngine, SharedMemory};

use super::*;
use crate::changes::{Change, CommitChange};
use crate::commit::Standing;
use crate::error::ErrorKind;
use crate::graph::GraphOptions;
use crate::read::View;
use crate::schema::NewVertexLabel;
use crate::write::{Missing, Mutation, WriteRequest};

/// Asks the leader in this process, and counts the questions.
struct Asks {
    leader: Arc<Registry>,
    count: AtomicUsize,
}

impl AskLeader for Asks {
    fn position(&self, graph: &str) -> Option<Position> {
        self.count.fetch_add(1, Ordering::SeqCst);
        self.leader.position(graph).ok()
    }
}

struct Pair {
    shared: Arc<SharedMemory>,
    leader: Arc<Registry>,
    follower: Registry,
    asks: Arc<Asks>,
}

impl Pair {
    fn new() -> Self {
        // Without snapshots, as a cluster.
        let memory = Arc::new(ScatteredEngine::new());
        let options = PartOptions { bytes_max: 1 << 20 };
        let shared = SharedMemory::of(Box::new(PartedEngine::new(memory, &[], options)));
        let server = |address: &str| {
            let mut options = GraphOptions::new(Arc::new(SystemClock));
            options.changes = Some(Retention::All);
            Registry::open(shared.server(address), options).unwrap()
        };
        let leader = Arc::new(server("a"));
        let graph = leader.create("g").unwrap();
        let label = NewVertexLabel::named("v");
        graph.catalogue().create_vertex_label(label).unwrap();
        let asks = Arc::new(Asks {
            leader: Arc::clone(&leader),
            count: AtomicUsize::new(0),
        });
        Self {
            follower: server("b"),
            shared,
            leader,
            asks,
        }
    }

    fn led(&self) -> Arc<Graph> {
        self.leader.get("g").unwrap()
    }

    fn write(&self, mutation: Mutation) -> CommitVersion {
        let request = WriteRequest::now(vec![mutation]);
        self.led().write_now(&request).unwrap()
    }

    fn put(&self, id: i64) -> CommitVersion {
        let vertex = Vertex {
            id: VertexId::Number(id),
            label: VertexLabelId(1),
            properties: Default::default(),
        };
        self.write(Mutation::PutVertex {
            vertex,
            fresh: false,
        })
    }

    fn delete(&self, id: i64) -> CommitVersion {
        self.write(Mutation::Delete {
            id: ElementId::Vertex(VertexId::Number(id)),
            missing: Missing::Ignore,
        })
    }

    /// A replica as of now.
    fn follow(&self) -> Arc<Replica> {
        let at = (self.leader.position("g").unwrap(), Instant::now());
        let asks: Arc<dyn AskLeader> = Arc::<Asks>::clone(&self.asks);
        self.follower.follow("g", at, &asks).unwrap()
    }

    fn asked(&self) -> usize {
        self.asks.count.load(Ordering::SeqCst)
    }
}

fn view(graph: &Graph) -> View {
    graph.view(TemporalScope::NOW).unwrap()
}

/// The ids of the vertices that commits after `since` put or deleted; `None` if that is not kept.
/// `meanwhile` is called with each commit.
fn changed(
    graph: &Graph,
    since: CommitVersion,
    meanwhile: &dyn Fn(),
) -> Option<Vec<(ElementId, bool)>> {
    let mut changed = Vec::new();
    let read = graph.visit_changes(since, &mut || true, &mut |commit| {
        for change in commit.changes {
            if let CommitChange::Element(change) = change {
                let Change::Event { element, .. } = change.change else {
                    panic!("no event of {}", change.id);
                };
                changed.push((change.id, element.is_some()));
            }
        }
        meanwhile();
        Flow::Continue(())
    });
    read.unwrap().map(|_| changed)
}

fn has(graph: &Graph, id: i64) -> bool {
    let vertex = view(graph).vertex(&VertexId::Number(id));
    vertex.unwrap().is_some()
}

#[test]
fn a_replica_shows_the_state_of_its_position_whatever_follows() {
    let pair = Pair::new();
    pair.put(1);
    pair.put(2);
    pair.delete(2);
    let replica = pair.follow();
    let graph = &replica.for_request().graph;
    assert!(has(graph, 1), "its row decides");
    assert_eq!(pair.asked(), 0);
    pair.delete(1);
    pair.put(2);
    pair.put(3);
    assert!(has(graph, 1) && !has(graph, 2) && !has(graph, 3));
    assert!(pair.asked() > 0, "events are read after the commits ended");
    assert_eq!(graph.standing(), Some(Standing::Holds));
    let later = pair.follow();
    let graph = &later.for_request().graph;
    assert!(!has(graph, 1) && has(graph, 2) && has(graph, 3));
    assert!(later.position.version > replica.position.version);
}

#[test]
fn a_replica_is_shared_while_it_is_new_and_far_enough() {
    let pair = Pair::new();
    let replica = pair.follow();
    let version = replica.position.version;
    let kept = |version| pair.follower.replica("g", Some(replica.asked), version);
    assert!(kept(version).is_some());
    let next = CommitVersion(version.0 + 1);
    assert!(kept(next).is_none());
    let later = Some(Instant::now());
    assert!(pair.follower.replica("g", later, version).is_none());
    pair.put(1);
    pair.follow();
    assert!(kept(next).is_some());
}

#[test]
fn without_an_answer_of_the_leader_nothing_of_the_past_is_read() {
    let pair = Pair::new();
    pair.put(1);
    let replica = pair.follow();
    pair.delete(1);
    pair.shared.suspend("g", true);
    let graph = &replica.for_request().graph;
    let read = view(graph).vertex(&VertexId::Number(1));
    assert_eq!(read.err().unwrap().kind, ErrorKind::Elsewhere);
    assert_eq!(graph.standing(), Some(Standing::Passed));
    let other = &replica.for_request().graph;
    assert_eq!(
        other.standing(),
        Some(Standing::Holds),
        "each request for itself"
    );
}

#[test]
fn a_change_of_the_schema_ends_what_depends_on_it() {
    let pair = Pair::new();
    pair.put(1);
    let replica = pair.follow();
    pair.delete(1);
    let label = NewVertexLabel::named("w");
    let catalogue = Arc::clone(pair.led().catalogue());
    catalogue.create_vertex_label(label).unwrap();
    let graph = &replica.for_request().graph;
    assert!(graph.schema().vertex_label_by_name("w").is_none());
    let read = view(graph).vertex(&VertexId::Number(1));
    assert_eq!(read.err().unwrap().kind, ErrorKind::Elsewhere);
    let later = pair.follow();
    let graph = &later.for_request().graph;
    assert!(graph.schema().vertex_label_by_name("w").is_some());
}

#[test]
fn a_replica_changes_nothing_and_reads_nothing_later() {
    let pair = Pair::new();
    let version = pair.put(1);
    let replica = pair.follow();
    let refused = |work: &dyn Fn(&Arc<Graph>) -> Result<(), GraphError>| {
        let graph = Arc::clone(&replica.for_request().graph);
        assert_eq!(work(&graph).err().unwrap().kind, ErrorKind::Elsewhere);
        graph.standing()
    };
    let put = Mutation::PutVertex {
        vertex: Vertex {
            id: VertexId::Number(9),
            label: VertexLabelId(1),
            properties: Default::default(),
        },
        fresh: false,
    };
    let request = WriteRequest::now(vec![put]);
    let written = refused(&|graph| graph.write_now(&request).map(drop));
    assert_eq!(written, Some(Standing::NeedsLeader));
    refused(&|graph| {
        let label = NewVertexLabel::named("w");
        graph.catalogue().create_vertex_label(label).map(drop)
    });
    let checked = refused(&|graph| graph.check_led());
    assert_eq!(checked, Some(Standing::NeedsLeader));
    let later = pair.put(2);
    let at = |transaction| TemporalScope {
        valid: None,
        transaction: Some(transaction),
    };
    refused(&|graph| graph.view(at(later)).map(drop));
    let graph = &replica.for_request().graph;
    assert!(graph.view(at(version)).is_ok());
    let now = graph.view(at(CommitVersion::MAX)).unwrap();
    assert_eq!(now.version(), replica.position.version);
}

#[test]
fn the_next_leader_is_followed_anew() {
    let pair = Pair::new();
    pair.put(1);
    let replica = pair.follow();
    pair.delete(1);
    pair.shared.expire("g");
    let third = {
        let options = GraphOptions::new(Arc::new(SystemClock));
        Arc::new(Registry::open(pair.shared.server("c"), options).unwrap())
    };
    let asks: Arc<dyn AskLeader> = Arc::new(Asks {
        leader: Arc::clone(&third),
        count: AtomicUsize::new(0),
    });
    let at = (third.position("g").unwrap(), Instant::now());
    let next = pair.follower.follow("g", at, &asks).unwrap();
    assert!(next.position.term > replica.position.term);
    assert!(!has(&next.for_request().graph, 1));
    let old = &replica.for_request().graph;
    let read = view(old).vertex(&VertexId::Number(1));
    assert_eq!(
        read.err().unwrap().kind,
        ErrorKind::Elsewhere,
        "the lease is lost"
    );
}

#[test]
fn the_changes_up_to_a_position_are_read_whatever_follows() {
    let pair = Pair::new();
    let (began, _) = pair.led().changes_kept().unwrap().unwrap();
    let first = pair.put(1);
    pair.put(2);
    pair.delete(1);
    let replica = pair.follow();
    let graph = &replica.for_request().graph;
    assert_eq!(graph.changes_kept().unwrap(), Some((began, began)));
    pair.put(1);
    pair.delete(2);
    pair.put(3);
    let of = |id, there| (ElementId::Vertex(VertexId::Number(id)), there);
    let nothing = || {};
    let all = [of(1, true), of(2, true), of(1, false)];
    assert_eq!(changed(graph, began, &nothing).unwrap(), all);
    assert_eq!(changed(graph, first, &nothing).unwrap(), all[1..]);
    assert_eq!(graph.standing(), Some(Standing::Holds));
    // The leader deletes changes by age while they are read.
    let forget = || {
        let (led, version) = (pair.led(), replica.position.version);
        led.kept_changes().put(&led.notes(), version, true).unwrap();
    };
    let graph = &replica.for_request().graph;
    assert_eq!(changed(graph, began, &forget), None);
    assert_eq!(changed(graph, first, &nothing), None);
    let led = pair.led();
    assert!(changed(&led, replica.position.version, &nothing).is_some());
    let (_, oldest) = led.changes_kept().unwrap().unwrap();
    let further = || {
        let version = led.published();
        led.kept_changes().put(&led.notes(), version, true).unwrap();
    };
    assert_eq!(changed(&led, oldest, &further), None, "at the leader, too");
}
