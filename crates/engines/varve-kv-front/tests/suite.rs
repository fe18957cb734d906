//! The engine suite over the front table with the in-memory engine: with tables so small that each
//! case uses every tier, with a flush after every write, and without a flush until the end.

#![allow(clippy::unwrap_used, reason = "a failed call is a failed test")]

use std::time::Duration;

use tempfile::TempDir;
use varve_kv_front::{FrontMemoryEngine, FrontOptions};

fn engine(table_bytes: usize) -> (FrontMemoryEngine, TempDir) {
    // In memory if possible: every flush begins a segment, which takes milliseconds on a disk.
    let dir = tempfile::tempdir_in("/dev/shm")
        .or_else(|_| tempfile::tempdir())
        .unwrap();
    let options = FrontOptions {
        table_bytes,
        log_preallocate_bytes: 4096,
        wait_max: Duration::from_secs(60),
        ..FrontOptions::default()
    };
    (FrontMemoryEngine::new(dir.path(), options), dir)
}

mod tiny_tables {
    use super::engine;
    varve_testkit::engine_suite!(engine(2048));
}

mod a_flush_for_each_write {
    use super::engine;
    varve_testkit::engine_suite!(engine(1));
}

mod no_flush {
    use super::engine;
    varve_testkit::engine_suite!(engine(1 << 30));
}
