//! How many graphs a server has.

use std::sync::Arc;

use varve_graph::{ErrorKind, GraphOptions, Registry};
use varve_kv::{Engine, MemoryEngine};
use varve_model::time::SystemClock;
use varve_testkit::SharedMemory;

fn open(engine: &Arc<MemoryEngine>, graphs_max: usize) -> Registry {
    let engine: Arc<dyn Engine> = Arc::<MemoryEngine>::clone(engine);
    let mut options = GraphOptions::new(Arc::new(SystemClock));
    options.limits.graphs_max = graphs_max;
    Registry::open(engine, options).expect("a registry")
}

#[test]
fn one_graph_over_the_limit_is_refused_and_all_that_are_there_are_opened() {
    let engine = Arc::new(MemoryEngine::new());
    let registry = open(&engine, 2);
    for name in ["a", "b"] {
        registry.create(name).expect("there is room");
    }
    let refused = registry.get_or_create("c").err().expect("refused");
    assert_eq!(refused.kind, ErrorKind::LimitExceeded);
    assert!(refused.message.contains("limits.graphs_max"), "{refused}");
    registry.get_or_create("b").expect("it is there");
    registry.clear("a").expect("no graph more");
    registry.drop_graph("a").expect("dropped");
    registry.create("c").expect("there is room again");
    drop(registry);

    let registry = open(&engine, 1);
    assert_eq!(registry.names(), ["b", "c"]);
    assert!(registry.create("d").is_err());
}

#[test]
fn at_the_limit_a_graph_of_another_server_has_existed() {
    let shared = SharedMemory::new();
    let server = |address| {
        let mut options = GraphOptions::new(Arc::new(SystemClock));
        options.limits.graphs_max = 1;
        Registry::open(shared.server(address), options).expect("a registry")
    };
    let (a, b) = (server("a"), server("b"));
    b.create("own").expect("there is room");
    a.create("g").expect("there is room");
    let error = |name| b.create(name).err().expect("refused").kind;
    assert_eq!(error("g"), ErrorKind::Existed);
    assert_eq!(error("h"), ErrorKind::LimitExceeded);
}
