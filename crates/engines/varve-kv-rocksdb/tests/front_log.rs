//! The log of a front table: its loss is detected, and a start without a front table loses none of
//! its rows.

#![allow(clippy::unwrap_used, reason = "a failed call is a failed test")]

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use varve_kv::{Batch, Durability, Engine, KvError, ReaderExt, Space, fail_point};
use varve_kv_rocksdb::{FrontTable, MEMORY_BYTES_MIN, RocksConfig, RocksEngine};
use varve_testkit::engine_suite::tables::{POINTS, TABLES, point};

const ROWS: u64 = 100;

/// Runs one test at a time, since a fail point acts in any thread of the process.
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

/// Creates a data directory as a crash leaves it: all rows are only in the log.
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
            let message = refused.to_string();
            assert!(matches!(refused, KvError::Corruption { .. }), "{message}");
            assert!(
                message.contains("front-log") && message.contains("backup"),
                "{message}"
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
    // Rows that cannot be flushed to the files stay in the log.
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

/// Converts a log to format 1: shorter heads, other checksums, an empty file as its mark.
fn as_of_an_earlier_build(space: &Path) {
    fs::write(space.join("VARVE-FRONT-LOG"), b"").unwrap();
    for entry in fs::read_dir(space.join("front-log")).unwrap() {
        let path = entry.unwrap().path();
        let content = fs::read(&path).unwrap();
        let mut earlier = content[..36].to_vec();
        earlier[11] = 1;
        let sum = crc32c::crc32c(&earlier);
        earlier.extend(sum.to_be_bytes());
        let base = u64::from_be_bytes(content[20..28].try_into().unwrap());
        let mut at = 60;
        while content[at + 16] != 0 {
            let head = &content[at..at + 17];
            let length = u32::from_be_bytes(head[..4].try_into().unwrap()) as usize;
            let position = base + (at as u64 - 60);
            let summed = [&content[12..20], &position.to_be_bytes(), head].concat();
            earlier.extend(head);
            earlier.extend(crc32c::crc32c(&summed).to_be_bytes());
            earlier.extend(&content[at + 21..at + 21 + length]);
            at += 21 + length;
        }
        earlier.resize(content.len(), 0);
        fs::write(&path, earlier).unwrap();
    }
}

#[test]
fn a_log_of_an_earlier_build_is_brought_to_the_files_and_a_new_one_begun() {
    let _alone = alone();
    for front in [on(), FrontTable::Off] {
        let image = crashed();
        let (dir, space_dir) = (image.path(), image.path().join("s"));
        as_of_an_earlier_build(&space_dir);
        // An interrupted conversion is repeated.
        fail_point::arm("front.file:io_error").unwrap();
        assert!(open(&engine(dir, front.clone())).is_err());
        for _ in 0..2 {
            assert!(all_there(&*open(&engine(dir, front.clone())).unwrap()));
            let segments = fs::read_dir(space_dir.join("front-log"));
            for segment in segments.into_iter().flatten() {
                assert_eq!(fs::read(segment.unwrap().path()).unwrap()[11], 2);
            }
        }
    }
}

#[test]
fn a_removal_of_a_log_that_was_interrupted_is_finished() {
    let _alone = alone();
    let image = crashed();
    let (dir, space_dir) = (image.path(), image.path().join("s"));
    // All rows are in the files; the log is only renamed.
    drop(open(&engine(dir, on())).unwrap());
    let left_over = space_dir.join("front-log.flushed");
    fs::rename(space_dir.join("front-log"), &left_over).unwrap();
    assert!(all_there(&*open(&engine(dir, on())).unwrap()));
    assert!(!left_over.exists());
}

#[test]
fn what_an_earlier_build_left_of_a_log_is_removed() {
    let _alone = alone();
    let image = crashed();
    let left_over = image.path().join("s/front-log.old");
    fs::create_dir(&left_over).unwrap();
    fs::write(left_over.join("00000001.front"), b"x").unwrap();
    let engine = engine(image.path(), on());
    assert!(all_there(&*open(&engine).unwrap()));
    assert!(!left_over.exists());
}

#[test]
fn nothing_is_removed_where_a_name_is_refused() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let other = dir.path().join("other/front-log.flushed");
    fs::create_dir_all(&other).unwrap();
    let engine = engine(&dir.path().join("data"), on());
    for opened in [
        engine.open("../other", TABLES, false).map(drop),
        engine.recover_log("../other", TABLES).map(drop),
    ] {
        assert!(matches!(opened, Err(KvError::InvalidName { .. })));
    }
    assert!(other.exists());
}
