//! File descriptors are exhausted and become available again.

#![allow(clippy::unwrap_used, reason = "a failed call is a failed test")]

use std::fs::File;
use std::process::Command;
use std::thread;

use varve_kv::{Engine, Space, TableId};
use varve_kv_rocksdb::{MEMORY_BYTES_MIN, RocksConfig, RocksEngine};
use varve_testkit::engine_suite::tables::{
    COLD, NAMED, POINTS, SINGLE, TABLES, all_rows, cold, named, point, put,
};

/// Set for the process that may open few files.
const FEW: &str = "VARVE_TEST_FEW_DESCRIPTORS";
/// The number of files that it may open.
const FEW_COUNT: &str = "256";

/// The limit is per process, so the test runs in a separate process.
#[test]
fn flushing_goes_on_once_descriptors_are_free() {
    if std::env::var_os(FEW).is_some() {
        return run_out_of_descriptors();
    }
    let test = "flushing_goes_on_once_descriptors_are_free";
    let child = Command::new("sh")
        .args([
            "-c",
            &format!("ulimit -n {FEW_COUNT} && exec \"$0\" \"$@\""),
        ])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(FEW, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success(), "{text}");
}

fn figure(space: &dyn Space, name: &str) -> f64 {
    let statistics = space.statistics();
    let named = statistics.iter().find(|statistic| statistic.name == name);
    named.unwrap().value
}

/// Writes a row into each table, each of which gets a family at the first flush.
fn put_in_each(space: &dyn Space, number: u64) {
    let clustering = number.to_be_bytes();
    put(space, POINTS, &point(number), b"", b"v");
    put(space, NAMED, &named(b"p"), &clustering, b"v");
    put(space, COLD, &cold(b"p"), &clustering, b"v");
    put(space, SINGLE, b"", &clustering, b"v");
}

fn run_out_of_descriptors() {
    let dir = tempfile::tempdir().unwrap();
    let engine = RocksEngine::open(&RocksConfig {
        memory_bytes: MEMORY_BYTES_MIN,
        ..RocksConfig::new(&dir.path().join("data"))
    })
    .unwrap();
    let space = engine.open("s", TABLES, true).unwrap();
    let failures = || figure(&*space, "front_flush_failures_total");
    let waiting = || figure(&*space, "front_frozen_tables");
    let mut taken = Vec::new();
    while let Ok(file) = File::open("/dev/null") {
        taken.push(file);
    }
    // With each further descriptor a flush gets one step further; none of its failures may be
    // final.
    let mut rows = 0;
    loop {
        put_in_each(&*space, rows);
        rows += 1;
        let failed = failures();
        // A checkpoint begins with a flush; there are too few descriptors for the copy itself.
        let _ = space.checkpoint(&dir.path().join(rows.to_string()));
        while waiting() > 0.0 && failures() == failed {
            thread::yield_now();
        }
        if figure(&*space, "front_flushes_total") > 0.0 {
            break;
        }
        taken.pop().expect("without the others there is room");
    }
    assert!(failures() > 0.0, "no flush met the limit");
    drop(taken);
    put_in_each(&*space, rows);
    rows += 1;
    while waiting() > 0.0 {
        thread::yield_now();
    }
    space.compact().unwrap();
    for (table, spec) in TABLES.iter().enumerate() {
        let found = all_rows(&*space, TableId(table as u8), None);
        assert_eq!(found.len() as u64, rows, "{}", spec.name);
    }
}
