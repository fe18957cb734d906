//! Damaged, missing and unwritable files.

#![allow(clippy::unwrap_used, reason = "a failed call is a failed test")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use varve_kv::{Batch, Durability, Engine, EngineExt, KvError, ReaderExt, Space};
use varve_kv_rocksdb::{FrontTable, MEMORY_BYTES_MIN, RocksConfig, RocksEngine, Tuning};
use varve_testkit::engine_suite::tables::{
    COLD, NAMED, POINTS, TABLES, all_rows, cold, named, point, put,
};
use varve_testkit::{Random, once_unlocked};

fn engine(dir: &Path) -> Result<RocksEngine, KvError> {
    let config = RocksConfig {
        memory_bytes: MEMORY_BYTES_MIN,
        // The tests are about faults of RocksDB's own log and files.
        front: FrontTable::Off,
        tuning: Tuning {
            memtable_bytes: 1 << 20,
            ..Tuning::default()
        },
        ..RocksConfig::new(dir)
    };
    once_unlocked(|| RocksEngine::open(&config))
}

fn open(engine: &RocksEngine) -> Result<Arc<dyn Space>, KvError> {
    engine.open("s", TABLES, true)
}

/// Copies the files of the space `s` as a crash of the machine would leave them, without closing
/// the space. There are no concurrent writes; a copy during which RocksDB's own threads changed the
/// files is discarded.
fn crash_image(from: &Path) -> tempfile::TempDir {
    for _ in 0..1_000 {
        let image = tempfile::tempdir().unwrap();
        let to = image.path().join("s");
        fs::create_dir(&to).unwrap();
        let before = listing(from);
        let copied = before
            .iter()
            .all(|(name, _)| fs::copy(from.join("s").join(name), to.join(name)).is_ok());
        if copied && listing(from) == before {
            return image;
        }
    }
    panic!("the files never rested");
}

/// Names and lengths of the space's files.
fn listing(dir: &Path) -> Vec<(std::ffi::OsString, Option<u64>)> {
    let mut files: Vec<_> = fs::read_dir(dir.join("s"))
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            // `None` if the file was removed since.
            let length = entry.metadata().ok().map(|metadata| metadata.len());
            (entry.file_name(), length)
        })
        .collect();
    files.sort();
    files
}

/// The space's files with this extension or name, the largest first.
fn files(dir: &Path, kind: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(dir.join("s"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension().is_some_and(|extension| extension == kind)
                || path
                    .file_name()
                    .unwrap()
                    .to_string_lossy()
                    .starts_with(kind)
        })
        .collect();
    files.sort_by_key(|path| std::cmp::Reverse(path.metadata().unwrap().len()));
    files
}

/// Batch `n`: a row in each of three tables.
fn batch(n: u64) -> Batch {
    let mut batch = Batch::new();
    batch.put(POINTS, &point(n), b"", &Random::new(n).bytes(300));
    batch.put(NAMED, &named(b"all"), &point(n), b"v");
    batch.put(COLD, &cold(&point(n)), b"c", &[7; 100]);
    batch
}

fn filled(dir: &Path, batches: u64) -> (RocksEngine, Arc<dyn Space>) {
    let engine = engine(dir).unwrap();
    let space = open(&engine).unwrap();
    for n in 0..batches {
        space.write(&batch(n), Durability::Buffered).unwrap();
    }
    (engine, space)
}

/// Asserts that exactly the batches `0..n` for some `n` are stored, each whole, and returns `n`.
fn whole_batches(space: &dyn Space) -> u64 {
    let points = all_rows(space, POINTS, None);
    let count = points.len() as u64;
    for n in 0..count {
        let got = space.get(POINTS, &point(n), b"").unwrap();
        assert_eq!(got, Some(Random::new(n).bytes(300)));
        assert!(
            space
                .get(NAMED, &named(b"all"), &point(n))
                .unwrap()
                .is_some()
        );
        assert!(space.get(COLD, &cold(&point(n)), b"c").unwrap().is_some());
    }
    assert_eq!(all_rows(space, NAMED, None).len() as u64, count);
    assert_eq!(all_rows(space, COLD, None).len() as u64, count);
    count
}

fn refusal(dir: &Path) -> KvError {
    let engine = engine(dir).unwrap();
    match open(&engine) {
        Err(error) => error,
        Ok(space) => panic!("opened, with {} batches", whole_batches(&*space)),
    }
}

#[test]
fn a_torn_end_of_the_log_is_cut_at_a_whole_batch() {
    let dir = tempfile::tempdir().unwrap();
    let (_engine, _space) = filled(dir.path(), 200);
    let mut counts = Vec::new();
    for cut in (0..20_000).step_by(987) {
        let image = crash_image(dir.path());
        let log = &files(image.path(), "log")[0];
        let length = log.metadata().unwrap().len();
        let file = fs::File::options().write(true).open(log).unwrap();
        file.set_len(length - cut).unwrap();
        let engine = engine(image.path()).unwrap();
        counts.push(whole_batches(&*open(&engine).unwrap()));
    }
    assert_eq!(counts[0], 200);
    assert!(
        counts.windows(2).all(|pair| pair[0] > pair[1]),
        "{counts:?}"
    );
}

#[test]
fn garbage_over_the_last_page_of_the_log_costs_only_what_it_covers() {
    let dir = tempfile::tempdir().unwrap();
    let (_engine, _space) = filled(dir.path(), 200);
    let image = crash_image(dir.path());
    let log = &files(image.path(), "log")[0];
    let mut bytes = fs::read(log).unwrap();
    let length = bytes.len();
    bytes[length - 4096..].copy_from_slice(&Random::new(3).bytes(4096));
    fs::write(log, bytes).unwrap();
    let engine = engine(image.path()).unwrap();
    let count = whole_batches(&*open(&engine).unwrap());
    assert!((180..200).contains(&count), "{count}");
}

#[test]
fn damage_in_the_middle_of_the_log_is_refused_and_named() {
    let dir = tempfile::tempdir().unwrap();
    let (_engine, _space) = filled(dir.path(), 200);
    let length = files(dir.path(), "log")[0].metadata().unwrap().len();
    for at in (0..length - 2_000).step_by(9_973) {
        let image = crash_image(dir.path());
        let log = &files(image.path(), "log")[0];
        let mut bytes = fs::read(log).unwrap();
        bytes[at as usize] ^= 1;
        fs::write(log, &bytes).unwrap();
        let error = refusal(image.path());
        assert!(matches!(error, KvError::Corruption { .. }), "{error}");
        let text = error.to_string();
        assert!(
            text.contains(".log is damaged at byte") && text.contains("backup"),
            "{text}"
        );
        // Nothing was changed.
        assert_eq!(fs::read(log).unwrap(), bytes);
    }
}

#[test]
fn a_flipped_byte_in_a_sorted_file_is_found_and_named() {
    let dir = tempfile::tempdir().unwrap();
    let (engine_, space) = filled(dir.path(), 3_000);
    space.compact().unwrap();
    drop((space, engine_));
    let mut random = Random::new(1);
    let ssts = files(dir.path(), "sst");
    assert!(ssts.len() >= 3);
    for round in 0..60 {
        let image = crash_image(dir.path());
        let name = ssts[round % ssts.len()].file_name().unwrap();
        let damaged = image.path().join("s").join(name);
        let mut bytes = fs::read(&damaged).unwrap();
        // Mostly in the data, sometimes near the end, where indexes and the footer are.
        let at = match round % 3 {
            0 => bytes.len() - 1 - random.below(bytes.len().min(2_000)),
            _ => random.below(bytes.len()),
        };
        bytes[at] ^= 1 << random.below(8);
        fs::write(&damaged, bytes).unwrap();
        let name = name.to_str().unwrap();
        let place = format!("byte {at} of {name}");
        let engine = engine(image.path()).unwrap();
        let error = match open(&engine) {
            Err(error) => error,
            Ok(space) => {
                for (n, (_, _, value)) in sound_rows(&*space).into_iter().enumerate() {
                    assert_eq!(value, Random::new(n as u64).bytes(300), "{place}");
                }
                match space.verify_checksums() {
                    Err(error) => error,
                    Ok(()) => panic!("{place} was not noticed"),
                }
            }
        };
        assert!(
            matches!(error, KvError::Corruption { .. }),
            "{place}: {error}"
        );
        assert!(error.to_string().contains(name), "{place}: {error}");
    }
}

#[test]
fn every_damaged_file_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let (engine_, space) = filled(dir.path(), 3_000);
    space.compact().unwrap();
    drop((space, engine_));
    let ssts = files(dir.path(), "sst");
    assert!(ssts.len() >= 3);
    for file in &ssts {
        let mut bytes = fs::read(file).unwrap();
        // In the first block of rows.
        bytes[20] ^= 1;
        fs::write(file, bytes).unwrap();
    }
    let engine = engine(dir.path()).unwrap();
    let error = open(&engine).unwrap().verify_checksums().unwrap_err();
    assert!(matches!(error, KvError::Corruption { .. }), "{error}");
    for file in &ssts {
        let name = file.file_name().unwrap().to_str().unwrap();
        assert!(error.to_string().contains(name), "{name}: {error}");
    }
}

/// The rows that can be read, in order; reading may end with an error, but not with other rows.
fn sound_rows(space: &dyn Space) -> Vec<(Vec<u8>, Vec<u8>, Vec<u8>)> {
    let mut rows = Vec::new();
    let outcome = space.scan_table(POINTS, None, &mut |row| {
        rows.push((
            row.partition.to_vec(),
            row.clustering.to_vec(),
            row.value.to_vec(),
        ));
        varve_kv::Flow::Continue(())
    });
    match outcome {
        Ok(()) => assert_eq!(rows.len(), 3_000),
        Err(error) => assert!(matches!(error, KvError::Corruption { .. }), "{error}"),
    }
    rows
}

#[test]
fn missing_files_are_refused_with_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let (engine_, space) = filled(dir.path(), 500);
    space.compact().unwrap();
    for n in 500..600 {
        space.write(&batch(n), Durability::Sync).unwrap();
    }
    for kind in ["MANIFEST", "CURRENT", "sst", "log"] {
        let image = crash_image(dir.path());
        let file = &files(image.path(), kind)[0];
        fs::remove_file(file).unwrap();
        let error = refusal(image.path());
        assert!(
            matches!(error, KvError::Corruption { .. }),
            "{kind}: {error}"
        );
        let text = error.to_string();
        let name = file.file_name().unwrap().to_str().unwrap();
        // Without any log, its former name is unknown.
        let named = text.contains(name) || kind == "log" && text.contains("the log is missing");
        assert!(named && text.contains("backup"), "{kind}: {text}");
        // A refused store is still listed, and still refused without `create`.
        let engine = engine(image.path()).unwrap();
        assert_eq!(engine.space_names().unwrap(), ["s"]);
        assert!(engine.open("s", TABLES, false).is_err());
    }
    drop((space, engine_));
}

#[test]
fn truncated_files_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (engine_, space) = filled(dir.path(), 500);
    space.compact().unwrap();
    for kind in ["MANIFEST", "CURRENT", "sst"] {
        for keep in [0, 1, 2] {
            let image = crash_image(dir.path());
            let file = &files(image.path(), kind)[0];
            let length = file.metadata().unwrap().len();
            let opened = fs::File::options().write(true).open(file).unwrap();
            opened.set_len(length * keep / 4).unwrap();
            let error = refusal(image.path());
            assert!(
                matches!(error, KvError::Corruption { .. }),
                "{kind}: {error}"
            );
            assert!(error.to_string().contains("backup"), "{kind}: {error}");
        }
    }
    drop((space, engine_));
}

/// A small separate file system, or `None` where mounting is not allowed.
struct Disk {
    dir: tempfile::TempDir,
}

impl Disk {
    fn mount(size: &str) -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        let done = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"])
            .arg(dir.path())
            .output();
        match done {
            Ok(output) if output.status.success() => Some(Self { dir }),
            _ => {
                eprintln!("skipped: file systems cannot be mounted here");
                None
            }
        }
    }

    /// Retries while a file is open for writing: a process that another test starts may have it
    /// open until it executes its own program.
    fn remount(&self, options: &str) {
        let done = (0..1_000).any(|_| {
            let status = Command::new("mount")
                .args(["-o", &format!("remount,{options}")])
                .arg(self.dir.path())
                .status();
            status.unwrap().success()
        });
        assert!(done, "remount,{options}");
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount")
            .arg("-l")
            .arg(self.dir.path())
            .status();
    }
}

#[test]
fn a_full_disk_refuses_writes_until_there_is_room() {
    let Some(disk) = Disk::mount("48m") else {
        return;
    };
    let data = disk.dir.path().join("data");
    let ballast = disk.dir.path().join("ballast");
    fs::write(&ballast, vec![1; 30 << 20]).unwrap();
    let engine_ = engine(&data).unwrap();
    let space = open(&engine_).unwrap();
    let big = |n: u64| {
        let mut batch = batch(n);
        batch.put(POINTS, &point(n), b"big", &Random::new(n).bytes(20_000));
        batch
    };
    let mut written = Vec::new();
    let mut refused = Vec::new();
    for n in 0..2_000 {
        let durability = if n % 7 == 0 {
            Durability::Sync
        } else {
            Durability::Buffered
        };
        match space.write(&big(n), durability) {
            Ok(()) => written.push(n),
            Err(KvError::DiskFull { .. }) => refused.push(n),
            Err(error) => panic!("{error}"),
        }
        if refused.len() == 50 {
            break;
        }
    }
    assert_eq!(refused.len(), 50, "the disk never filled up");
    assert!(written.len() > 100);
    let check = |space: &dyn Space, written: &[u64], refused: &[u64]| {
        for n in written {
            let got = space.get(POINTS, &point(*n), b"big").unwrap();
            assert_eq!(got, Some(Random::new(*n).bytes(20_000)));
        }
        for n in refused {
            assert_eq!(space.get(POINTS, &point(*n), b"big").unwrap(), None);
            assert_eq!(space.get(COLD, &cold(&point(*n)), b"c").unwrap(), None);
        }
    };
    // Reads continue.
    check(&*space, &written, &refused);
    fs::remove_file(&ballast).unwrap();
    // Writes succeed again at once.
    for n in 10_000..10_300 {
        space.write(&big(n), Durability::Sync).unwrap();
        written.push(n);
    }
    check(&*space, &written, &refused);
    drop(space);
    let space = open(&engine_).unwrap();
    check(&*space, &written, &refused);
    space.verify_checksums().unwrap();
}

#[test]
fn a_full_disk_and_a_crash_lose_nothing_acknowledged() {
    let Some(disk) = Disk::mount("24m") else {
        return;
    };
    let engine_ = engine(disk.dir.path()).unwrap();
    let space = open(&engine_).unwrap();
    let mut n = 0;
    while space.write(&batch(n), Durability::Buffered).is_ok() {
        n += 1;
    }
    let refused = space.write(&batch(n), Durability::Sync);
    assert!(
        matches!(refused, Err(KvError::DiskFull { .. })),
        "{refused:?}"
    );
    let image = crash_image(disk.dir.path());
    let engine = engine(image.path()).unwrap();
    assert_eq!(whole_batches(&*open(&engine).unwrap()), n);
}

const LIMITED_DIR: &str = "VARVE_LIMITED_CHILD_DIR";

/// Not a test itself: runs with a limit of 4 MiB on the size of files, which is neither a full disk
/// nor a read-only one.
#[test]
#[ignore = "run by the next test in a process of its own"]
fn child_with_limited_files() {
    let Some(dir) = std::env::var_os(LIMITED_DIR) else {
        return;
    };
    let engine = engine(Path::new(&dir)).unwrap();
    let space = open(&engine).unwrap();
    let mut batches = 0;
    let mut big = Batch::new();
    big.put(POINTS, &point(u64::MAX), b"", &vec![0; 5 << 20]);
    for n in 0..50 {
        space.write(&batch(n), Durability::Sync).unwrap();
        batches += 1;
    }
    let first = space.write(&big, Durability::Sync);
    assert!(matches!(first, Err(KvError::Io { .. })), "{first:?}");
    for durability in [Durability::Sync, Durability::Buffered] {
        let later = space.write(&batch(batches), durability).unwrap_err();
        assert!(later.to_string().contains("reopened"), "{later}");
    }
    assert!(space.sync().is_err() && space.compact().is_err());
    assert_eq!(whole_batches(&*space), batches, "reads go on");
}

#[test]
fn after_a_write_error_nothing_is_acknowledged_until_the_space_is_opened_again() {
    let dir = tempfile::tempdir().unwrap();
    let child = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 4096; exec \"$0\" \"$@\""])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "child_with_limited_files", "--ignored"])
        .env(LIMITED_DIR, dir.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stdout);
    assert!(
        child.status.success() && said.contains("1 passed"),
        "{said}"
    );
    let engine = engine(dir.path()).unwrap();
    let space = open(&engine).unwrap();
    assert_eq!(whole_batches(&*space), 50);
    space.write(&batch(50), Durability::Sync).unwrap();
    assert_eq!(whole_batches(&*space), 51);
}

#[test]
fn a_read_only_disk_is_reported_as_such() {
    let Some(disk) = Disk::mount("64m") else {
        return;
    };
    drop(filled(disk.dir.path(), 10));
    disk.remount("ro");
    let error = engine(disk.dir.path()).err().unwrap();
    assert!(matches!(error, KvError::ReadOnly { .. }), "{error}");
    disk.remount("rw");
    let engine = engine(disk.dir.path()).unwrap();
    assert_eq!(whole_batches(&*open(&engine).unwrap()), 10);
}

#[test]
fn a_checkpoint_opens_as_a_space_with_the_rows_of_its_moment() {
    let dir = tempfile::tempdir().unwrap();
    let (engine_, space) = filled(dir.path(), 300);
    let copy = tempfile::tempdir().unwrap();
    space.checkpoint(&copy.path().join("s")).unwrap();
    for n in 300..400 {
        space.write(&batch(n), Durability::Buffered).unwrap();
    }
    let copied = engine(copy.path()).unwrap();
    assert_eq!(whole_batches(&*open(&copied).unwrap()), 300);
    assert_eq!(whole_batches(&*space), 400);
    assert!(
        space.checkpoint(&copy.path().join("s")).is_err(),
        "over an existing copy"
    );
    drop((space, engine_));
}

#[test]
fn too_little_memory_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let config = RocksConfig {
        memory_bytes: MEMORY_BYTES_MIN - 1,
        ..RocksConfig::new(dir.path())
    };
    let error = RocksEngine::open(&config).err().unwrap();
    assert!(error.to_string().contains("memory_bytes"), "{error}");
}

#[test]
fn there_are_few_files_and_no_log_of_the_engine() {
    let dir = tempfile::tempdir().unwrap();
    for n in 0..20 {
        let engine_ = engine(dir.path()).unwrap();
        let space = open(&engine_).unwrap();
        put(&*space, POINTS, &point(n), b"", b"v");
    }
    assert!(files(dir.path(), "LOG").is_empty());
    assert!(files(dir.path(), "").len() < 40);
}
