//! RocksDB passes the suite of the storage seam.

#![allow(clippy::unwrap_used, reason = "a failed call is a failed test")]

use varve_kv_rocksdb::{MEMORY_BYTES_MIN, RocksConfig, RocksEngine};

fn engine() -> (RocksEngine, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let config = RocksConfig {
        memory_bytes: MEMORY_BYTES_MIN,
        ..RocksConfig::new(dir.path())
    };
    (RocksEngine::open(&config).unwrap(), dir)
}

varve_testkit::engine_suite!(engine());
