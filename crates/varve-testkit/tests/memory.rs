//! The in-memory engine passes the suite: alone, behind a faulty engine without faults, and as the
//! replicas of a cluster.

mod bare {
    varve_testkit::engine_suite!((varve_kv::MemoryEngine::new(), ()));
}

mod wrapped {
    varve_testkit::engine_suite!(varve_testkit::FaultyEngine::new(Box::new(
        varve_kv::MemoryEngine::new()
    )));
}

mod replicated {
    varve_testkit::engine_suite!((varve_testkit::ReplicatedEngine::new(&[]).0, ()));
}
