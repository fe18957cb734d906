//! Guarantees of the registry about its graphs, at starts and after failures.

use super::*;
use varve_encoding::tables::{META, TABLES};
use varve_kv::{Batch, Durability, EngineExt, MemoryEngine, ReaderExt};
use varve_model::time::SystemClock;
use varve_testkit::faulty::{Fault, Faults, FaultyEngine};

fn open(engine: &Arc<MemoryEngine>) -> Registry {
    let engine: Arc<dyn Engine> = Arc::<MemoryEngine>::clone(engine);
    Registry::open(engine, GraphOptions::new(Arc::new(SystemClock))).unwrap()
}

fn put(graph: &Graph) {
    let mut batch = Batch::new();
    batch.put(META, b"v", b"x", b"1");
    graph.space().write(&batch, Durability::Sync).unwrap();
}

fn holds_data(graph: &Graph) -> bool {
    graph.space().get(META, b"v", b"x").unwrap().is_some()
}

#[test]
fn names_are_checked() {
    let registry = open(&Arc::new(MemoryEngine::new()));
    for good in ["a", "hugegraph", "A_1", &"a".repeat(40)] {
        registry.create(good).unwrap();
    }
    for bad in ["", "1a", "_a", "a-b", "ä", "a/b", "LOCK", &"a".repeat(41)] {
        assert_eq!(
            registry.create(bad).err().unwrap().kind,
            ErrorKind::InvalidArgument,
            "{bad}"
        );
    }
    assert_eq!(registry.create("a").err().unwrap().kind, ErrorKind::Existed);
    assert_eq!(
        registry.get("none").err().unwrap().message,
        "Graph 'none' does not exist"
    );
}

#[test]
fn clearing_leaves_old_readers_alone_and_new_ones_see_nothing() {
    let engine = Arc::new(MemoryEngine::new());
    let registry = open(&engine);
    let old = registry.create("g").unwrap();
    put(&old);
    let new = registry.clear("g").unwrap();
    assert!(holds_data(&old) && !holds_data(&new));
    assert_eq!(engine.space_names().unwrap(), ["_1_g", "g"]);
    put(&new);
    drop((old, new));
    registry.clear("g").unwrap();
    assert_eq!(
        engine.space_names().unwrap(),
        ["_2_g"],
        "what nobody uses is removed"
    );
    drop(registry);
    assert_eq!(open(&engine).names(), ["g"]);
}

#[test]
fn closing_lets_all_graphs_go() {
    let engine = Arc::new(MemoryEngine::new());
    let registry = open(&engine);
    put(&registry.create("g").unwrap());
    registry.close();
    assert!(registry.names().is_empty());
    assert!(
        holds_data(&open(&engine).get("g").unwrap()),
        "the space is free to be opened"
    );
}

#[test]
fn a_clear_that_did_not_come_to_its_mark_did_nothing() {
    let engine = Arc::new(MemoryEngine::new());
    let registry = open(&engine);
    put(&registry.create("g").unwrap());
    drop(registry);
    drop(engine.open("_1_g", TABLES, true).unwrap());
    let registry = open(&engine);
    assert!(holds_data(&registry.get("g").unwrap()));
    assert_eq!(engine.space_names().unwrap(), ["g"]);
}

#[test]
fn a_clear_that_failed_loses_nothing_at_the_next_start() {
    let memory = Box::new(MemoryEngine::new());
    let (engine, faults) = FaultyEngine::new(memory);
    let engine: Arc<dyn Engine> = Arc::new(engine);
    let options = GraphOptions::new(Arc::new(SystemClock));
    let registry = Registry::open(Arc::clone(&engine), options.clone()).unwrap();
    put(&registry.create("g").unwrap());
    faults.fail_writes_from(1, Fault::DiskFull);
    let error = registry.clear("g").err().expect("the disk is full");
    assert_eq!(error.kind, ErrorKind::Unwritable);
    faults.heal();
    assert!(holds_data(&registry.get("g").unwrap()));
    drop(registry);
    let registry = Registry::open(Arc::clone(&engine), options.clone()).unwrap();
    assert!(holds_data(&registry.get("g").unwrap()));
}

#[test]
fn a_clear_that_is_asked_for_twice_clears_once() {
    let engine = Arc::new(MemoryEngine::new());
    let registry = open(&engine);
    put(&registry.create("g").unwrap());
    let new = registry.clear_generation("g", 0).unwrap();
    put(&new);
    // The second caller called before the first one's clear was done.
    let same = registry.clear_generation("g", 0).unwrap();
    assert!(Arc::ptr_eq(&new, &same) && holds_data(&same));
    drop((new, same));
    assert!(!holds_data(&registry.clear("g").unwrap()));
}

#[test]
fn what_a_refused_clear_has_made_is_never_taken_for_the_graph() {
    let (engine, faults) = FaultyEngine::new(Box::new(MemoryEngine::new()));
    let engine: Arc<dyn Engine> = Arc::new(engine);
    let options = GraphOptions::new(Arc::new(SystemClock));
    let registry = Registry::open(Arc::clone(&engine), options.clone()).unwrap();
    put(&registry.create("g").unwrap());
    faults.fail_write(1, Fault::Away);
    let error = registry.clear("g").err().expect("the store is away");
    assert_eq!(error.kind, ErrorKind::Busy);
    assert!(holds_data(&registry.get("g").unwrap()));
    put(&registry.clear("g").unwrap());
    drop(registry);
    let registry = Registry::open(engine, options).unwrap();
    assert!(holds_data(&registry.get("g").unwrap()));
}

#[test]
fn a_clear_of_unknown_outcome_leaves_the_graph_whole_or_empty() {
    for (fault, whole) in [(Fault::IoLost, true), (Fault::IoStored, false)] {
        let memory = Box::new(MemoryEngine::new());
        let (engine, faults) = FaultyEngine::new(memory);
        let engine: Arc<dyn Engine> = Arc::new(engine);
        let options = GraphOptions::new(Arc::new(SystemClock));
        let registry = Registry::open(Arc::clone(&engine), options.clone()).unwrap();
        put(&registry.create("g").unwrap());
        faults.fail_write(1, fault);
        assert!(registry.clear("g").is_err(), "the mark fails");
        drop(registry);
        let registry = Registry::open(engine, options).unwrap();
        assert_eq!(holds_data(&registry.get("g").unwrap()), whole, "{fault:?}");
    }
}

#[test]
fn a_dropped_graph_stays_dropped_while_it_is_still_used_and_after_a_restart() {
    let engine = Arc::new(MemoryEngine::new());
    let registry = open(&engine);
    let used = registry.create("g").unwrap();
    registry.drop_graph("g").unwrap();
    assert!(registry.get("g").is_err());
    let again = registry.create("g").unwrap();
    put(&again);
    assert!(!holds_data(&used));
    registry.create("h").unwrap();
    let held = registry.get("h").unwrap();
    registry.drop_graph("h").unwrap();
    drop((used, again, held, registry));
    let registry = open(&engine);
    assert_eq!(registry.names(), ["g"]);
    assert!(holds_data(&registry.get("g").unwrap()));
    assert_eq!(engine.space_names().unwrap(), ["_1_g"]);
}

fn faulty() -> (Arc<dyn Engine>, Arc<Faults>, GraphOptions) {
    let (engine, faults) = FaultyEngine::new(Box::new(MemoryEngine::new()));
    (
        Arc::new(engine),
        faults,
        GraphOptions::new(Arc::new(SystemClock)),
    )
}

#[test]
fn a_dropped_space_that_cannot_be_removed_stops_no_graph() {
    let (engine, faults, options) = faulty();
    let registry = Registry::open(Arc::clone(&engine), options.clone()).unwrap();
    registry.create("old").unwrap();
    put(&registry.create("g").unwrap());
    faults.fail_removal("old", Fault::ReadOnly);
    let error = registry.drop_graph("old").expect_err("its files stay");
    assert_eq!(error.kind, ErrorKind::OutcomeUnknown);
    // It affects neither other graphs nor a new graph with its name.
    registry.clear("g").unwrap();
    put(&registry.get("g").unwrap());
    registry.create("old").unwrap();
    registry
        .drop_graph("old")
        .expect_err("the first one's files stay");
    drop(registry);
    let registry = Registry::open(Arc::clone(&engine), options).unwrap();
    assert_eq!(registry.names(), ["g"]);
    assert!(holds_data(&registry.get("g").unwrap()));
    let reports = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&reports);
    registry.observe(move |graph, change| seen.lock().push((graph.to_owned(), change)));
    registry.retry_removals();
    let reports = std::mem::take(&mut *reports.lock());
    assert!(
        matches!(&reports[..], [(graph, Change::NotRemoved { .. })] if graph == "old"),
        "{reports:?}"
    );
    faults.heal();
    registry.retry_removals();
    assert_eq!(engine.space_names().unwrap(), ["_1_g"]);
}

#[test]
fn a_damaged_dropped_space_hides_no_graph() {
    let (engine, faults, options) = faulty();
    let registry = Registry::open(Arc::clone(&engine), options.clone()).unwrap();
    registry.create("g").unwrap();
    faults.fail_removal("g", Fault::ReadOnly);
    registry.clear("g").err().expect("the old files stay");
    drop(registry);
    faults.fail_opening("g", Fault::Corruption);
    // Its space may come from a failed clear.
    let registry = Registry::open(Arc::clone(&engine), options.clone()).unwrap();
    assert!(registry.get("g").is_err());
    assert_eq!(registry.unopened().len(), 1);
    drop(registry);
    put_into(&*engine, "_1_g");
    let registry = Registry::open(Arc::clone(&engine), options.clone()).unwrap();
    assert!(holds_data(&registry.get("g").unwrap()));
    assert!(registry.unopened().is_empty());
    faults.heal();
    registry.retry_removals();
    assert_eq!(engine.space_names().unwrap(), ["_1_g"]);
}

fn put_into(engine: &dyn Engine, space: &str) {
    let mut batch = Batch::new();
    batch.put(META, b"v", b"x", b"1");
    let space = engine.open(space, TABLES, false).unwrap();
    space.write(&batch, Durability::Sync).unwrap();
}

#[test]
fn a_graph_that_cannot_be_opened_can_be_dropped() {
    let (engine, faults, options) = faulty();
    let registry = Registry::open(Arc::clone(&engine), options.clone()).unwrap();
    for name in ["bad", "full", "good"] {
        registry.create(name).unwrap();
    }
    drop(registry);
    drop(engine.open("_1_bad", TABLES, true).unwrap());
    faults.fail_opening("bad", Fault::Corruption);
    // For example, the log of an earlier version cannot be converted.
    faults.fail_opening("full", Fault::DiskFull);
    let registry = Registry::open(Arc::clone(&engine), options).unwrap();
    assert_eq!(registry.open_names(), ["good"]);
    assert_eq!(registry.unopened().len(), 2);
    assert!(registry.create("bad").is_err());
    registry.drop_graph("bad").unwrap();
    assert_eq!(registry.names(), ["full", "good"]);
    assert_eq!(engine.space_names().unwrap(), ["full", "good"]);
    faults.heal();
    put(&registry.create("bad").unwrap());
}
