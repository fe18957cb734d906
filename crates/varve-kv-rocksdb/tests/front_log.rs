//! The log of a front table: it is not lost unnoticed, and going without a front table loses nothing that is in it.

#![allow(clippy::unwrap_used, reason = "a failed call is a failed test")]

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use varve_kv::{Batch, Durability, Engine, KvError, Space, fail_point};
use varve_kv_rocksdb::{FrontTable, MEMORY_BYTES_MIN, RocksConfig, RocksEngine};
use varve_testkit::engine_suite::tables::{POINTS, TABLES, point};

const ROWS: u64 = 100;

/// One test at a time: a fail point is hit by whoever of the process comes by.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn engine(dir: &Path, front: FrontTable) -> RocksEngine {
    RocksEngine::open(&RocksConfig {
        memory_bytes: MEMORY_BYTES_MIN,
        front,
        ..RocksConfig::new(dir)
    })
    .unwrap()
}

fn open(engine: &RocksEngine) -> Result<Arc<dyn Space>, KvError> {
    engine.open("s", TABLES, true)
}

fn on() -> FrontTable {
    FrontTable::Share(1 << 20)
}

/// A data directory as a crash leaves it: all rows are in the log only.
fn crashed() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let engine = engine(dir.path(), on());
    let space = open(&engine).unwrap();
    for n in 0..ROWS {
        let mut batch = Batch::new();
        batch.put(POINTS, &point(n), b"", b"v");
        space.write(&batch, Durability::Sync).unwrap();
    }
    let image = tempfile::tempdir().unwrap();
    copy(dir.path(), image.path());
    image
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let (path, to) = {
            let entry = entry.unwrap();
            (entry.path(), to.join(entry.file_name()))
        };
        if path.is_dir() {
            fs::create_dir(&to).unwrap();
            copy(&path, &to);
        } else {
            fs::copy(&path, &to).unwrap();
        }
    }
}

fn all_there(space: &dyn Space) -> bool {
    (0..ROWS).all(|n| space.get(POINTS, &point(n), b"").unwrap().is_some())
}

#[test]
fn a_lost_log_is_refused() {
    let _alone = alone();
    for front in [on(), FrontTable::Off] {
        let image = crashed();
        let log = image.path().join("s/front-log");
        let files = fs::read_dir(&log).unwrap().map(|it| it.unwrap().path());
        let files: Vec<_> = files.collect();
        files.iter().for_each(|file| fs::remove_file(file).unwrap());
        for _ in 0..2 {
            let refused = open(&engine(image.path(), front.clone())).err().unwrap();
            let told = refused.to_string();
            assert!(matches!(refused, KvError::Corruption { .. }), "{told}");
            assert!(
                told.contains("front-log") && told.contains("backup"),
                "{told}"
            );
            let _ = fs::remove_dir(&log);
        }
    }
}

#[test]
fn going_without_a_front_table_keeps_what_its_log_has() {
    let _alone = alone();
    let image = crashed();
    let (dir, log) = (image.path(), image.path().join("s/front-log"));
    // What cannot be brought to the files stays in the log.
    fail_point::arm("front.file:io_error").unwrap();
    assert!(open(&engine(dir, FrontTable::Off)).is_err());
    assert!(log.exists());
    for front in [FrontTable::Off, FrontTable::Off, on(), FrontTable::Off] {
        let without = matches!(front, FrontTable::Off);
        let engine = engine(dir, front);
        let space = open(&engine).unwrap();
        assert!(all_there(&*space));
        assert_eq!(log.exists(), !without);
    }
}

#[test]
fn a_copy_without_log_is_whole() {
    let _alone = alone();
    let image = crashed();
    let dir = tempfile::tempdir().unwrap();
    {
        let engine = engine(image.path(), on());
        open(&engine)
            .unwrap()
            .checkpoint(&dir.path().join("s"))
            .unwrap();
    }
    assert!(!dir.path().join("s/front-log").exists());
    let engine = engine(dir.path(), on());
    assert!(all_there(&*open(&engine).unwrap()));
}
