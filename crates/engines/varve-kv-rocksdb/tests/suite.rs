//! RocksDB passes the suite of the storage seam.

#![allow(clippy::unwrap_used, reason = "a failed call is a failed test")]

use varve_kv_front::FrontOptions;
use varve_kv_rocksdb::{FrontTable, MEMORY_BYTES_MIN, RocksConfig, RocksEngine};

fn engine(front: FrontTable) -> (RocksEngine, tempfile::TempDir) {
    // In memory if possible: small front tables cause many small files, each of which takes
    // milliseconds on a disk.
    let dir = tempfile::tempdir_in("/dev/shm")
        .or_else(|_| tempfile::tempdir())
        .unwrap();
    let config = RocksConfig {
        memory_bytes: MEMORY_BYTES_MIN,
        front,
        ..RocksConfig::new(dir.path())
    };
    (RocksEngine::open(&config).unwrap(), dir)
}

mod bare {
    use super::*;
    varve_testkit::engine_suite!(engine(FrontTable::Off));
}

mod behind_a_front_table {
    use super::*;
    varve_testkit::engine_suite!(engine(FrontTable::Share(64 << 20)));
}

mod behind_tiny_front_tables {
    use super::*;
    varve_testkit::engine_suite!(engine(FrontTable::With(FrontOptions {
        table_bytes: 4096,
        log_preallocate_bytes: 4096,
        // Each of hundreds of flushes may wait for a compaction.
        wait_max: std::time::Duration::from_secs(60),
        ..FrontOptions::default()
    })));
}
