//! One of three nodes hangs: its process is suspended, so its connections stay open and nothing
//! answers. Writes bypass it, and none is lost. The rate of writes is printed; the test requires at
//! least a tenth of the rate before. It starts three nodes, so it runs only if `VARVE_TEST_CLUSTER`
//! is set, as by `tests/cassandra/faults.sh`.

#![allow(clippy::unwrap_used, reason = "a failed call is a failed test")]

#[path = "support/nodes.rs"]
mod nodes;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use nodes::Nodes;
use varve_kv::{Batch, Durability, Engine, ReaderExt, Space};
use varve_kv_cassandra::{CassandraConfig, CassandraEngine};
use varve_testkit::engine_suite::tables::{NAMED, TABLES, named};

const NODES: Nodes = Nodes {
    name: "hanging",
    port: 19742,
    number: 3,
    settings: &[],
};
/// Writers, each with one write under way, and the partitions of each write.
const WRITERS: u64 = 8;
const PARTITIONS: u64 = 12;
/// The duration of each part of the test.
const PART: Duration = Duration::from_secs(6);
/// The longest wait for the first answer of a resumed node.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Ends the writers, even if a test fails.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn silent(engine: &dyn Engine) -> f64 {
    let statistics = engine.statistics();
    let silent = statistics
        .iter()
        .find(|it| it.name == "cluster_silent_nodes");
    silent.unwrap().value
}

fn partition(writer: u64, n: u64) -> Vec<u8> {
    named(format!("{writer}-{n}").as_bytes())
}

/// Writes until `stop`; returns how many writes were acknowledged.
fn write(space: &dyn Space, writer: u64, written: &AtomicU64, stop: &AtomicBool) -> u64 {
    let mut count = 0;
    while !stop.load(Ordering::Relaxed) {
        let mut batch = Batch::new();
        for n in 0..PARTITIONS {
            let partition = partition(writer, count * PARTITIONS + n);
            batch.put(NAMED, &partition, b"c", b"v");
        }
        space.write(&batch, Durability::Sync).unwrap();
        count += 1;
        written.fetch_add(1, Ordering::Relaxed);
    }
    count
}

#[test]
fn writes_go_on_past_a_node_that_hangs() {
    let Some(_started) = NODES.start("VARVE_TEST_CLUSTER") else {
        return;
    };
    let mut config = CassandraConfig::new(&NODES.address(1));
    config.contact_points = (1..=3).map(|n| NODES.address(n)).collect();
    config.replication = 3;
    let engine = CassandraEngine::connect(config).unwrap();
    let space = engine.open("s", TABLES, true).unwrap();
    let (space, written, stop) = (&*space, AtomicU64::new(0), AtomicBool::new(false));
    let (written, stop) = (&written, &stop);
    let part = |what: &str| {
        let before = written.load(Ordering::Relaxed);
        std::thread::sleep(PART);
        let count = written.load(Ordering::Relaxed) - before;
        println!("{what}: {count} writes in {PART:?}");
        count
    };
    let counts: Vec<u64> = std::thread::scope(|scope| {
        let stopping = Stop(stop);
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| scope.spawn(move || write(space, writer, written, stop)))
            .collect();
        part("first");
        let before = part("all nodes answer");
        NODES.run(&["pause", "2"]);
        let beside = part("one hangs");
        assert_eq!(silent(&engine), 1.0, "nobody has noticed");
        assert!(10 * beside > before, "{beside} writes, {before} before");
        NODES.run(&["resume", "2"]);
        let resumed = Instant::now();
        while silent(&engine) > 0.0 {
            assert!(resumed.elapsed() < TIMEOUT, "it is not asked any more");
            std::thread::sleep(Duration::from_millis(50));
        }
        part("all answer again");
        drop(stopping);
        writers
            .into_iter()
            .map(|writer| writer.join().unwrap())
            .collect()
    });
    for (writer, count) in (0..).zip(counts) {
        let keys: Vec<Vec<u8>> = (0..count * PARTITIONS)
            .map(|n| partition(writer, n))
            .collect();
        let keys: Vec<(&[u8], &[u8])> = keys.iter().map(|key| (&**key, &b"c"[..])).collect();
        let found = space.multi_get(NAMED, &keys).unwrap();
        let lost = found.iter().filter(|value| value.is_none()).count();
        assert_eq!(lost, 0, "of writer {writer}'s {} rows", keys.len());
    }
}
