//! Two servers that create, clear and drop the same graph at once, interleaved in all ways.

use varve_encoding::tables::META;
use varve_kv::{Batch, Durability, EngineExt, KvError, ReaderExt};
use varve_model::time::SystemClock;
use varve_testkit::SharedMemory;

use super::*;
use crate::graph::GraphOptions;
use crate::registry::GraphLocation;

fn server(shared: &Arc<SharedMemory>, address: &str) -> Arc<Registry> {
    let options = GraphOptions::new(Arc::new(SystemClock));
    Arc::new(Registry::open(shared.server(address), options).unwrap())
}

fn tend(registry: &Registry) {
    registry.tend(&|name, error| panic!("{name}: {error}"));
}

fn put(graph: &Graph) {
    put_into(&**graph.space());
}

fn put_into(space: &dyn Space) {
    let mut batch = Batch::new();
    batch.put(META, b"v", b"x", b"1");
    space.write(&batch, Durability::Sync).unwrap();
}

fn holds_data(registry: &Registry) -> bool {
    let graph = registry.get("g").unwrap();
    graph.space().get(META, b"v", b"x").unwrap().is_some()
}

/// Stops all servers, and checks that a new one finds the graph with its data, in one space only.
#[track_caller]
fn holds_at_last(shared: &Arc<SharedMemory>, servers: &[&Registry]) {
    for server in servers {
        server.close();
    }
    let last = server(shared, "last");
    assert!(holds_data(&last), "what was acknowledged is lost");
    tend(&last);
    assert_eq!(shared.server("last").space_names().unwrap().len(), 1);
}

/// Creates and drops a graph whose space is not removed yet.
fn leave_marked(shared: &Arc<SharedMemory>, by: &Registry, addresses: &[&str]) {
    for address in addresses {
        shared.refuse_removals(address, true);
    }
    by.create("g").unwrap();
    by.drop_graph("g").unwrap();
    assert_eq!(shared.server("x").space_names().unwrap(), ["g"]);
}

#[test]
fn of_two_that_make_a_graph_while_an_older_one_goes_the_later_gives_up() {
    let shared = SharedMemory::new();
    let (a, b) = (server(&shared, "a"), server(&shared, "b"));
    leave_marked(&shared, &a, &["a", "b"]);
    tend(&b);
    let (of_b, refusals) = (Arc::clone(&b), Arc::clone(&shared));
    // The first server has listed the old space, and is about to create the next one.
    shared.before_open("a", "_1_g", move || {
        refusals.refuse_removals("b", false);
        tend(&of_b);
        put(&of_b.create("g").unwrap());
    });
    let refused = a.create("g").err().expect("another server was faster");
    assert_eq!(refused.kind, ErrorKind::Existed);
    shared.refuse_removals("a", false);
    assert!(holds_data(&b));
    holds_at_last(&shared, &[&b, &a]);
}

#[test]
fn a_space_below_the_graph_of_another_is_given_up() {
    let shared = SharedMemory::new();
    let (a, b) = (server(&shared, "a"), server(&shared, "b"));
    let (of_b, between) = (Arc::clone(&b), Arc::clone(&shared));
    // The first server has listed no space at all.
    shared.before_open("a", "g", move || {
        leave_marked(&between, &of_b, &["b"]);
        put(&of_b.create("g").unwrap());
        between.refuse_removals("b", false);
        tend(&of_b);
        assert_eq!(between.server("x").space_names().unwrap(), ["_1_g"]);
    });
    let refused = a.create("g").err().expect("another server was faster");
    assert_eq!(refused.kind, ErrorKind::Existed);
    holds_at_last(&shared, &[&b, &a]);
}

#[test]
fn a_space_that_another_has_dropped_is_not_taken_for_a_new_one() {
    let shared = SharedMemory::new();
    let (a, b) = (server(&shared, "a"), server(&shared, "b"));
    let (of_b, between) = (Arc::clone(&b), Arc::clone(&shared));
    shared.before_open("a", "g", move || {
        between.refuse_removals("b", true);
        put(&of_b.create("g").unwrap());
        of_b.drop_graph("g").unwrap();
    });
    let made = a.create("g").unwrap();
    drop(made);
    assert!(!holds_data(&a), "what was dropped is back");
    put(&a.get("g").unwrap());
    shared.refuse_removals("b", false);
    holds_at_last(&shared, &[&a, &b]);
}

#[test]
fn a_graph_that_another_has_made_and_left_is_not_taken_for_a_new_one() {
    let shared = SharedMemory::new();
    let (a, b) = (server(&shared, "a"), server(&shared, "b"));
    let of_b = Arc::clone(&b);
    shared.before_open("a", "g", move || {
        put(&of_b.create("g").unwrap());
        of_b.close();
    });
    let refused = a.create("g").err().expect("another server was faster");
    assert_eq!(refused.kind, ErrorKind::Existed);
    holds_at_last(&shared, &[&a]);
}

#[test]
fn a_clear_whose_graph_was_taken_meanwhile_leaves_no_space_below_that_of_another() {
    let shared = SharedMemory::new();
    let (a, b) = (server(&shared, "a"), server(&shared, "b"));
    a.create("g").unwrap();
    let (of_b, between) = (Arc::clone(&b), Arc::clone(&shared));
    shared.before_open("a", "_1_g", move || {
        between.expire("g");
        tend(&of_b);
        of_b.clear("g").unwrap();
        put(&of_b.clear("g").unwrap());
        assert_eq!(between.server("x").space_names().unwrap(), ["_2_g"]);
    });
    assert!(a.clear("g").is_err(), "the graph is led by another server");
    assert!(holds_data(&b));
    holds_at_last(&shared, &[&b, &a]);
}

/// A server with a graph with data in a space of generation 1, and an empty older space whose
/// creator has crashed.
fn with_an_empty_space_below() -> (Arc<SharedMemory>, Arc<Registry>) {
    let shared = SharedMemory::new();
    let a = server(&shared, "a");
    leave_marked(&shared, &a, &["a"]);
    put(&a.create("g").unwrap());
    shared.refuse_removals("a", false);
    tend(&a);
    drop(shared.server("gone").open("g", TABLES, true).unwrap());
    assert_eq!(shared.server("x").space_names().unwrap(), ["_1_g", "g"]);
    (shared, a)
}

#[test]
fn what_was_left_below_a_graph_is_not_led_by_others_and_is_removed_by_its_leader() {
    let (shared, a) = with_an_empty_space_below();
    let b = server(&shared, "b");
    tend(&b);
    assert!(
        matches!(b.place("g"), GraphLocation::There(_)),
        "{:?}",
        b.place("g")
    );
    let left = shared.server("x").open("g", TABLES, false).unwrap();
    assert_eq!(left.lease().term, 2, "nobody but its maker has had it open");
    drop(left);
    tend(&a);
    tend(&a);
    assert_eq!(shared.server("x").space_names().unwrap(), ["_1_g"]);
    tend(&b);
    assert!(
        matches!(b.place("g"), GraphLocation::There(_)),
        "{:?}",
        b.place("g")
    );
    holds_at_last(&shared, &[&a, &b]);
}

#[test]
fn of_two_spaces_without_a_mark_the_one_with_content_is_the_graph() {
    let (shared, a) = with_an_empty_space_below();
    holds_at_last(&shared, &[&a]);
}

#[test]
fn of_two_spaces_with_content_none_is_removed() {
    let (shared, a) = with_an_empty_space_below();
    let below = shared.server("gone").open("g", TABLES, false).unwrap();
    put_into(&*below);
    drop(below);
    a.close();
    let b = server(&shared, "b");
    let why = b.why_unopened("g");
    assert!(why.is_some_and(|why| why.contains("two spaces")));
    assert_eq!(reported_by_tending(&b).len(), 1);
    assert_eq!(shared.server("x").space_names().unwrap(), ["_1_g", "g"]);
}

#[test]
fn a_removal_that_is_refused_for_long_is_reported() {
    let shared = SharedMemory::new();
    let a = server(&shared, "a");
    let reported = Arc::new(parking_lot::Mutex::new(Vec::new()));
    let sink = Arc::clone(&reported);
    a.observe(move |graph, change| sink.lock().push((graph.to_owned(), change)));
    leave_marked(&shared, &a, &["a"]);
    for _ in 0..20 {
        tend(&a);
    }
    let reported = reported.lock();
    assert_eq!(reported.len(), 2, "{reported:?}");
    let (graph, change) = &reported[0];
    let text = format!("{change:?}");
    assert!(graph == "g" && text.contains("8 attempts"), "{text}");
}

/// Two servers and two graphs, one of which no server can open any more.
fn with_one_that_cannot_be_opened() -> (Arc<SharedMemory>, Arc<Registry>) {
    let shared = SharedMemory::new();
    let (a, b) = (server(&shared, "a"), server(&shared, "b"));
    put(&a.create("g").unwrap());
    a.create("h").unwrap();
    tend(&b);
    shared.refuse_opening("g", true);
    a.close();
    (shared, b)
}

fn reported_by_tending(registry: &Registry) -> Vec<String> {
    let reported = parking_lot::Mutex::new(Vec::new());
    registry.tend(&|name, error| reported.lock().push(format!("{name}: {error}")));
    reported.into_inner()
}

#[test]
fn a_graph_that_cannot_be_opened_is_reported() {
    let (shared, b) = with_one_that_cannot_be_opened();
    let error = b.look("g").expect_err("it is no matter of waiting");
    assert_eq!(error.kind, ErrorKind::Storage);
    assert!(error.message.contains("does not know"), "{error}");
    let error = b.get("g").err().expect("it is not open");
    assert!(error.message.contains("does not know"), "{error}");
    assert_eq!(
        b.create("g").err().map(|error| error.kind),
        Some(ErrorKind::Existed)
    );
    let reported = reported_by_tending(&b);
    assert!(
        reported.len() == 1 && reported[0].starts_with("g: "),
        "{reported:?}"
    );
    assert!(b.get("h").is_ok(), "the other one is served");
    assert_eq!(b.names(), ["g", "h"]);
    assert!(
        reported_by_tending(&b).is_empty(),
        "it is not tried each time"
    );
    // Once another server can open it, that server leads it.
    shared.refuse_opening("g", false);
    let c = server(&shared, "c");
    assert!(holds_data(&c));
    assert!(matches!(b.look("g"), Ok(GraphLocation::There(_))));
    for _ in 0..2 {
        tend(&b);
    }
    assert_eq!(b.why_unopened("g"), None);
    c.close();
    assert!(matches!(b.look("g"), Ok(GraphLocation::Here(_))));
    assert!(holds_data(&b));
}

#[test]
fn a_server_starts_beside_a_graph_that_cannot_be_opened_and_takes_it_when_it_can() {
    let (shared, b) = with_one_that_cannot_be_opened();
    b.close();
    let c = server(&shared, "c");
    assert!(c.get("h").is_ok(), "the other one is served");
    assert!(
        c.why_unopened("g")
            .is_some_and(|why| why.contains("does not know"))
    );
    assert!(
        !reported_by_tending(&c).is_empty(),
        "who starts it reads why"
    );
    shared.refuse_opening("g", false);
    assert!(c.look("g").is_err(), "requests do not try");
    for _ in 0..3 {
        tend(&c);
    }
    assert!(holds_data(&c));
    assert_eq!(c.why_unopened("g"), None);
}

#[test]
fn a_graph_that_cannot_be_opened_can_be_dropped_and_made_again() {
    let (shared, b) = with_one_that_cannot_be_opened();
    assert!(b.look("g").is_err() && b.why_unopened("g").is_some());
    b.drop_graph("g").unwrap();
    assert_eq!(shared.server("x").space_names().unwrap(), ["h"]);
    assert!(matches!(b.look("g"), Ok(GraphLocation::Unknown)));
    assert_eq!(b.why_unopened("g"), None);
    shared.refuse_opening("g", false);
    b.create("g").unwrap();
    assert!(!holds_data(&b));
}

#[test]
fn a_graph_that_another_server_could_open_is_not_dropped() {
    let (shared, b) = with_one_that_cannot_be_opened();
    assert!(b.look("g").is_err() && b.why_unopened("g").is_some());
    shared.refuse_opening("g", false);
    let c = server(&shared, "c");
    assert!(b.drop_graph("g").is_err());
    assert!(holds_data(&c));
}

#[test]
fn while_a_graph_is_opened_that_could_not_be_requests_wait() {
    let (shared, b) = with_one_that_cannot_be_opened();
    assert!(b.look("g").is_err() && b.why_unopened("g").is_some());
    shared.refuse_opening("g", false);
    // The state while the tending thread opens a graph.
    let opening = shared.server("b").open("g", TABLES, false).unwrap();
    assert!(matches!(b.look("g"), Ok(GraphLocation::Nobody)));
    drop(opening);
    assert!(
        b.look("g").is_err(),
        "nobody is at it, and requests do not try"
    );
    tend(&b);
    assert!(holds_data(&b));
}

/// An error of a space whose keyspace does not exist any more.
fn says_that_it_is_gone(space: String) -> KvError {
    let detail = "its lease table does not exist".to_owned();
    KvError::Io { space, detail }
}

fn says_that_it_is_away(space: String) -> KvError {
    let detail = "too few replicas".to_owned();
    KvError::Away { space, detail }
}

/// Two graphs without a leader; whether one of them has a leader cannot be found out.
fn with_one_of_unknown_leader() -> Arc<SharedMemory> {
    let shared = SharedMemory::new();
    let a = server(&shared, "a");
    put(&a.create("g").unwrap());
    a.create("h").unwrap();
    a.close();
    shared.refuse_asking("g", Some(says_that_it_is_gone));
    shared
}

#[test]
fn a_server_starts_beside_a_graph_whose_leader_is_unknown() {
    let shared = with_one_of_unknown_leader();
    let b = server(&shared, "b");
    assert!(b.get("h").is_ok(), "the other one is served");
    assert_eq!(b.names(), ["g", "h"]);
    assert!(
        matches!(b.place("g"), GraphLocation::Nobody),
        "{:?}",
        b.place("g")
    );
    for _ in 0..5 {
        let error = b.look("g").expect_err("it is no matter of waiting");
        assert_eq!(error.kind, ErrorKind::Storage);
        assert!(error.message.contains("lease table"), "{error}");
    }
    assert_eq!(
        b.create("g").err().map(|error| error.kind),
        Some(ErrorKind::Existed)
    );
    // Requests did not delay the next attempt.
    let reported: Vec<usize> = (0..5).map(|_| reported_by_tending(&b).len()).collect();
    assert_eq!(reported, [1, 0, 1, 0, 0], "ever more seldom");
    shared.refuse_asking("g", None);
    for _ in 0..2 {
        tend(&b);
    }
    assert!(holds_data(&b));
    assert_eq!(b.why_unopened("g"), None);
}

#[test]
fn a_running_server_finds_out_that_the_leader_of_a_graph_is_unknown() {
    let shared = SharedMemory::new();
    let (a, b) = (server(&shared, "a"), server(&shared, "b"));
    put(&a.create("g").unwrap());
    tend(&b);
    shared.refuse_asking("g", Some(says_that_it_is_gone));
    assert_eq!(reported_by_tending(&b).len(), 1);
    assert!(
        matches!(b.place("g"), GraphLocation::Nobody),
        "{:?}",
        b.place("g")
    );
    assert!(
        b.why_unopened("g")
            .is_some_and(|why| why.contains("lease table"))
    );
    assert_eq!(a.why_unopened("g"), None, "it has it open");
    shared.refuse_asking("g", None);
    assert!(matches!(b.look("g"), Ok(GraphLocation::There(_))));
    for _ in 0..2 {
        tend(&b);
    }
    assert_eq!(b.why_unopened("g"), None);
}

#[test]
fn what_was_removed_since_it_was_listed_is_not_noted() {
    let shared = SharedMemory::new();
    let (a, b) = (server(&shared, "a"), server(&shared, "b"));
    a.create("g").unwrap();
    let known = b.generations().unwrap().remove("g").unwrap();
    a.drop_graph("g").unwrap();
    shared.refuse_asking("g", Some(says_that_it_is_gone));
    b.look_again("g", &known).unwrap();
    assert_eq!(b.why_unopened("g"), None);
    tend(&b);
    assert!(b.names().is_empty());
}

#[test]
fn a_cluster_that_is_away_is_waited_for_and_no_fault_of_the_graph() {
    let shared = SharedMemory::new();
    let (a, b) = (server(&shared, "a"), server(&shared, "b"));
    a.create("g").unwrap();
    tend(&b);
    shared.refuse_asking("g", Some(says_that_it_is_away));
    for _ in 0..3 {
        assert_eq!(reported_by_tending(&b).len(), 1);
    }
    assert_eq!(b.why_unopened("g"), None);
    assert!(
        matches!(b.place("g"), GraphLocation::There(_)),
        "{:?}",
        b.place("g")
    );
    let options = GraphOptions::new(Arc::new(SystemClock));
    let refused = Registry::open(shared.server("c"), options).err();
    assert_eq!(refused.map(|error| error.kind), Some(ErrorKind::Busy));
}

#[test]
fn what_is_being_made_while_a_server_closes_is_not_made_behind_it() {
    let shared = SharedMemory::new();
    let a = server(&shared, "a");
    shared.occupy("g", true);
    let (sender, reported) = std::sync::mpsc::channel();
    shared.before_open("a", "g", move || sender.send(()).unwrap());
    let of_a = Arc::clone(&a);
    let making = std::thread::spawn(move || of_a.create("g").map(drop));
    reported.recv().unwrap();
    // The server closes while the other thread waits for the space.
    a.close();
    shared.occupy("g", false);
    let refused = making.join().unwrap().expect_err("the server stops");
    assert_eq!(refused.kind, ErrorKind::Busy);
    assert!(refused.message.contains("the server stops"), "{refused}");
    assert!(a.create("h").is_err());
    assert!(a.open_names().is_empty());
    assert!(shared.server("x").space_names().unwrap().is_empty());
}

#[test]
fn a_server_that_has_closed_takes_no_graph() {
    let shared = SharedMemory::new();
    let a = server(&shared, "a");
    put(&a.create("g").unwrap());
    a.close();
    tend(&a);
    assert!(matches!(a.look("g"), Ok(GraphLocation::Nobody)));
    assert!(holds_data(&server(&shared, "b")));
}
