//! Reads of the past beside a write under way, on an engine without states: what was asked for and
//! published is found, whichever replicas answer.

use std::sync::Arc;
use std::time::Duration;

use varve_encoding::tables::{EDGE, EVENT, EVENT_INDEX, INDEX};
use varve_graph::read::HistoryPage;
use varve_graph::write::{Missing, Mutation, WriteRequest};
use varve_graph::{ErrorKind, deadline};
use varve_kv::{ClusteringRange, Flow, TableId};
use varve_model::schema::IndexType;
use varve_model::{CommitVersion, ElementId, TemporalScope};
use varve_testkit::{Fault, Faults, FaultyEngine, Replicas, ReplicatedEngine};

use crate::world::{START, World, as_of, id, in_city, valid_at};

/// The replicas that have a write last are asked for the past.
const PAST: &[TableId] = &[EVENT, EVENT_INDEX];
/// For a reader that does not wait as it must, to show it.
const NOTICED_WITHIN: Duration = Duration::from_millis(200);

fn world() -> (World, Arc<Replicas>) {
    let (engine, replicas) = ReplicatedEngine::new(PAST);
    let world = World::on(engine);
    world.person_index(IndexType::Secondary, "city");
    (world, replicas)
}

/// What `read` finds while `write` is half way.
fn beside<T: Send>(
    (world, replicas): &(World, Arc<Replicas>),
    write: impl FnOnce(&World) -> CommitVersion + Send,
    read: impl FnOnce(&World) -> T + Send,
) -> T {
    replicas.hold();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| write(world));
        replicas.wait_until_held();
        let reader = scope.spawn(|| read(world));
        replicas.wait_for_stale_read(NOTICED_WITHIN);
        replicas.release();
        writer.join().expect("the write ends");
        reader.join().expect("the read ends")
    })
}

/// What `read`, whose time is over, finds while `write` is half way, however late it begins.
fn beside_to_its_end<T: Send>(
    (world, replicas): &(World, Arc<Replicas>),
    write: impl FnOnce(&World) -> CommitVersion + Send,
    read: impl FnOnce(&World) -> T + Send,
) -> T {
    replicas.hold();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| write(world));
        replicas.wait_until_held();
        let reader = scope.spawn(|| read(world));
        let started = std::time::Instant::now();
        while !reader.is_finished() && started.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(1));
        }
        let has_ended = reader.is_finished();
        replicas.release();
        writer.join().expect("the write ends");
        let found = reader.join().expect("the read ends");
        assert!(has_ended, "it does not wait for the write");
        found
    })
}

#[test]
fn the_version_that_an_update_supersedes_is_found() {
    let world = world();
    let first = world.0.put("ann", 30, "Rome");
    let age = |world: &World, scope: TemporalScope| {
        let vertex = world.graph.vertex(&id("ann"), scope).expect("read");
        vertex.map(|vertex| format!("{:?}", vertex.properties))
    };
    let before = age(&world.0, as_of(first));
    assert!(before.is_some());
    let found = beside(
        &world,
        |world| world.put("ann", 31, "Oslo"),
        |world| age(world, as_of(first)),
    );
    assert_eq!(found, before);
    // Of what was valid then the same holds, without a transaction time.
    let then = valid_at(START + 1_500);
    let before = age(&world.0, then);
    assert!(before.is_some());
    let found = beside(
        &world,
        |world| world.put("ann", 32, "Oslo"),
        |world| age(world, then),
    );
    assert_eq!(found, before);
}

#[test]
fn a_read_of_the_past_waits_no_longer_than_its_time() {
    let world = world();
    let first = world.0.put("ann", 30, "Rome");
    let over = std::time::Instant::now();
    let read = beside_to_its_end(
        &world,
        |world| world.put("ann", 31, "Oslo"),
        |world| deadline::until(over, || world.graph.vertex(&id("ann"), as_of(first))),
    );
    let error = read.expect_err("the write is not stored within the time");
    assert_eq!(error.kind, ErrorKind::Busy, "{error}");
}

#[test]
fn a_point_that_is_not_stored_as_past_is_waited_for_no_longer_than_the_time() {
    let (world, replicas) = world();
    let first = world.put("ann", 30, "Rome");
    world.clock.step(1_000);
    let read = || world.graph.vertex(&id("ann"), as_of(first.next()));
    replicas.hold();
    let refused = deadline::until(std::time::Instant::now(), read);
    replicas.release();
    let error = refused.expect_err("it is not stored within the time");
    assert_eq!(error.kind, ErrorKind::Busy, "{error}");
    assert!(read().expect("stored by now").is_some());
}

/// A graph on an engine without states whose calls fail on demand.
fn faulty_world() -> (World, Arc<Faults>) {
    let (engine, _) = ReplicatedEngine::new(PAST);
    let (engine, faults) = FaultyEngine::new(Box::new(engine));
    (World::on(engine), faults)
}

#[test]
fn a_point_that_cannot_be_stored_as_past_is_not_read_as_past() {
    let (world, faults) = faulty_world();
    let first = world.put("ann", 30, "Rome");
    world.clock.step(1_000);
    let read = || world.graph.vertex(&id("ann"), as_of(first.next()));
    for fault in [Fault::Away, Fault::ReadOnly] {
        faults.fail_write(1, fault);
        let error = read().expect_err("whoever has the space next would not know");
        assert_eq!(error.kind, ErrorKind::Busy, "{error}");
    }
    assert!(read().expect("stored by now").is_some());
}

#[test]
fn a_write_that_another_server_may_finish_is_of_unknown_outcome_and_the_last_one() {
    let (world, faults) = faulty_world();
    let first = world.put("ann", 30, "Rome");
    let write = |age| {
        let written = world
            .graph
            .write_now(&world.put_request("ann", age, "Oslo"));
        written.expect_err("not stored").kind
    };
    faults.fail_write(1, Fault::Undecided);
    assert_eq!(write(31), ErrorKind::OutcomeUnknown);
    assert_eq!(write(32), ErrorKind::Busy, "nothing happened");
    // The row may be the one that is undecided, so what was before it is not known either.
    let past = valid_at(START - 1_000);
    let read = world.graph.vertex(&id("ann"), past);
    assert_eq!(read.expect_err("undecided").kind, ErrorKind::Busy);
    let row = world.graph.vertex(&id("ann"), as_of(first));
    assert!(row.expect("it answers by itself").is_some());
}

#[test]
fn a_write_waits_no_longer_than_its_time_for_another_or_to_be_stored() {
    let world = world();
    world.0.put("ann", 30, "Rome");
    let over = std::time::Instant::now();
    let (same, other) = beside_to_its_end(
        &world,
        |world| world.put("ann", 31, "Oslo"),
        |world| {
            let write = |name| {
                deadline::until(over, || {
                    world.graph.write_now(&world.put_request(name, 33, "Oslo"))
                })
            };
            (write("ann"), write("bob"))
        },
    );
    let kind = |written: Result<_, varve_graph::GraphError>| written.expect_err("too late").kind;
    assert_eq!(kind(same), ErrorKind::Busy, "nothing happened");
    assert_eq!(kind(other), ErrorKind::OutcomeUnknown);
    // It was in the queue before this one.
    world.0.put("cleo", 30, "Rome");
    let stored = world.0.graph.vertex(&id("bob"), TemporalScope::NOW);
    assert!(stored.expect("read").is_some(), "it went on by itself");
}

#[test]
fn what_a_deletion_removes_is_found() {
    let world = world();
    world.0.put("ann", 30, "Rome");
    world.0.put("bob", 30, "Rome");
    let edge = world.0.edge("ann", "bob", 1);
    let found = beside(
        &world,
        |world| world.delete("ann"),
        |world| {
            let vertex = world.graph.vertex(&id("ann"), as_of(edge)).expect("read");
            let edges = world.find_edges(as_of(edge), &[]);
            (vertex.is_some(), edges.len())
        },
    );
    assert_eq!(found, (true, 1));
}

#[test]
fn a_history_has_what_is_being_moved() {
    let world = world();
    world.0.put("ann", 30, "Rome");
    let second = world.0.put("ann", 31, "Rome");
    let page = HistoryPage {
        before: None,
        limit: 10,
    };
    let found = beside(
        &world,
        |world| world.put("ann", 32, "Rome"),
        |world| {
            let id = ElementId::Vertex(id("ann"));
            let history = world.graph.history(&id, as_of(second), page);
            history.expect("read").len()
        },
    );
    assert_eq!(found, 2);
}

#[test]
fn an_index_finds_what_an_update_takes_out_of_it() {
    let world = world();
    let first = world.0.put("ann", 30, "Rome");
    let found = beside(
        &world,
        |world| world.put("ann", 30, "Oslo"),
        |world| world.find(as_of(first), &in_city("Rome")),
    );
    assert_eq!(found.len(), 1);
}

/// An entry that is moved between the reads of one search: the past is read after the present,
/// piece by piece.
#[test]
fn an_index_finds_what_is_updated_while_it_is_read() {
    /// More than are read at once, so that the present is read in several pieces.
    const PEOPLE: usize = 300;
    for scan in 1..=6 {
        let (world, replicas) = world();
        for person in 0..PEOPLE {
            world.put(&format!("p{person:03}"), 30, "Rome");
        }
        let all = world.graph.published();
        let graph = Arc::clone(&world.graph);
        let request = world.put_request("p299", 30, "Oslo");
        replicas.before_scan(INDEX, scan, move || {
            graph.write_now(&request).expect("write");
        });
        let found = world.find(as_of(all), &in_city("Rome"));
        assert_eq!(found.len(), PEOPLE, "before scan {scan}");
    }
}

/// An edge that goes while the edges of a vertex are walked as of before: rows are read before
/// events, piece by piece.
#[test]
fn a_walk_finds_edges_that_go_while_it_is_under_way() {
    /// More than one piece.
    const FRIENDS: usize = 600;
    for (table, scan) in [EDGE, EVENT]
        .into_iter()
        .flat_map(|table| (1..=3).map(move |scan| (table, scan)))
    {
        let (world, replicas) = world();
        world.put("ann", 30, "Rome");
        for friend in 0..FRIENDS {
            let friend = format!("f{friend:03}");
            world.put(&friend, 30, "Rome");
            world.edge("ann", &friend, 1);
        }
        let all = world.graph.published();
        let graph = Arc::clone(&world.graph);
        let doomed = ["f010", "f300", "f599"].map(|friend| Mutation::Delete {
            id: ElementId::Vertex(id(friend)),
            missing: Missing::Refuse,
        });
        let request = WriteRequest::now(Vec::from(doomed));
        world.clock.step(1_000);
        replicas.before_scan(table, scan, move || {
            graph.write_now(&request).expect("write");
        });
        let view = world.graph.view(as_of(all)).expect("view");
        let mut found = 0;
        view.adjacent(&id("ann"), &ClusteringRange::all(), &mut |_| {
            found += 1;
            Flow::Continue(())
        })
        .expect("walk");
        assert_eq!(found, FRIENDS, "before scan {scan} of {table:?}");
    }
}
