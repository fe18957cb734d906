//! A writing process is killed at random moments; all acknowledged batches must survive.

#![allow(clippy::unwrap_used, reason = "a failed call is a failed test")]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;

use varve_kv::{Batch, Durability, Engine, ReaderExt, Space};
use varve_kv_front::FrontOptions;
use varve_kv_rocksdb::{FrontTable, MEMORY_BYTES_MIN, RocksConfig, RocksEngine, Tuning};
use varve_testkit::engine_suite::tables::{
    COLD, NAMED, POINTS, TABLES, all_rows, cold, named, point,
};
use varve_testkit::{Random, once_unlocked};

const WRITERS: u64 = 4;
const ROUNDS_DEFAULT: u64 = 12;
/// Set for the process that is killed: the directory for its writes.
const CHILD_DIR: &str = "VARVE_CRASH_CHILD_DIR";
const CHILD_DURABILITY: &str = "VARVE_CRASH_CHILD_DURABILITY";
const CHILD_FRONT: &str = "VARVE_CRASH_CHILD_FRONT";

fn open(dir: &Path, front: bool) -> (RocksEngine, Arc<dyn Space>) {
    let config = RocksConfig {
        memory_bytes: MEMORY_BYTES_MIN,
        front: if front {
            FrontTable::With(FrontOptions {
                table_bytes: 64 << 10,
                log_preallocate_bytes: 16 << 10,
                ..FrontOptions::default()
            })
        } else {
            FrontTable::Off
        },
        // Small, so that every round flushes and compacts.
        tuning: Tuning {
            memtable_bytes: 256 << 10,
            ..Tuning::default()
        },
        ..RocksConfig::new(dir)
    };
    let engine = once_unlocked(|| RocksEngine::open(&config)).unwrap();
    let space = engine.open("crash", TABLES, true).unwrap();
    (engine, space)
}

/// Batch `number` of `writer`: rows in three tables whose content follows from the number, and a
/// delete of the previous batch's row in one of them.
fn batch_of(writer: u64, number: u64) -> Batch {
    let mut random = Random::new(writer << 40 | number);
    let mut batch = Batch::new();
    let name = point(writer << 40 | number);
    let length = random.below(4000);
    batch.put(POINTS, &name, b"", &random.bytes(length));
    batch.put(COLD, &cold(&name), b"c", &number.to_be_bytes());
    batch.put(NAMED, &newest(writer), b"newest", &number.to_be_bytes());
    if number > 1 {
        batch.delete(COLD, &cold(&point(writer << 40 | (number - 1))), b"c");
    }
    batch
}

fn newest(writer: u64) -> Vec<u8> {
    named(format!("writer{writer}").as_bytes())
}

/// The number of the last batch of `writer` that is stored.
fn last_stored(space: &dyn Space, writer: u64) -> u64 {
    let value = space.get(NAMED, &newest(writer), b"newest").unwrap();
    value.map_or(0, |value| u64::from_be_bytes(value[..].try_into().unwrap()))
}

/// Not a test itself: the code of the killed process.
#[test]
#[ignore = "run by the other test in a process of its own"]
fn child_that_is_killed() {
    let Some(dir) = std::env::var_os(CHILD_DIR) else {
        return;
    };
    let durability = match std::env::var(CHILD_DURABILITY).as_deref() {
        Ok("sync") => Durability::Sync,
        _ => Durability::Buffered,
    };
    let front = std::env::var_os(CHILD_FRONT).is_some();
    let (_engine, space) = open(Path::new(&dir), front);
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let space = &space;
            scope.spawn(move || {
                for number in last_stored(&**space, writer) + 1.. {
                    space.write(&batch_of(writer, number), durability).unwrap();
                    // One write call, so that a line is whole or absent.
                    let line = format!("{writer} {number}\n");
                    std::io::stderr().write_all(line.as_bytes()).unwrap();
                }
            });
        }
    });
}

/// Starts the child, kills it after `acknowledgements` lines, and returns the last acknowledged
/// number of each writer.
fn run_and_kill(
    dir: &Path,
    durability: &str,
    front: bool,
    acknowledgements: usize,
) -> [u64; WRITERS as usize] {
    let mut command = Command::new(std::env::current_exe().unwrap());
    if front {
        command.env(CHILD_FRONT, "1");
    }
    let mut child = command
        .args([
            "--exact",
            "child_that_is_killed",
            "--ignored",
            "--nocapture",
        ])
        .env(CHILD_DIR, dir)
        .env(CHILD_DURABILITY, durability)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut acknowledged = [0; WRITERS as usize];
    let mut note = |line: String| {
        let (writer, number) = line
            .split_once(' ')
            .unwrap_or_else(|| panic!("child: {line}"));
        let writer: usize = writer.parse().unwrap_or_else(|_| panic!("child: {line}"));
        acknowledged[writer] = number.parse().unwrap();
    };
    for _ in 0..acknowledgements {
        note(
            lines
                .next()
                .expect("the child goes on until it is killed")
                .unwrap(),
        );
    }
    child.kill().unwrap();
    // Batches acknowledged before the signal count, too.
    lines.map_while(Result::ok).for_each(&mut note);
    child.wait().unwrap();
    acknowledged
}

/// Checks that the rows of all stored batches exist, whole and unchanged, and no others.
fn check(space: &dyn Space, acknowledged: &[u64; WRITERS as usize]) {
    let mut rows = 0;
    for writer in 0..WRITERS {
        let last = last_stored(space, writer);
        let acknowledged = acknowledged[writer as usize];
        assert!(
            last >= acknowledged,
            "writer {writer}: acknowledged {acknowledged}, stored is {last}"
        );
        assert!(
            last <= acknowledged + 1 || acknowledged == 0,
            "writer {writer}: {last} after {acknowledged}"
        );
        for number in 1..=last {
            let batch = batch_of(writer, number);
            for op in batch.ops() {
                let varve_kv::Op::Put {
                    table,
                    partition,
                    clustering,
                    value,
                } = op
                else {
                    continue;
                };
                let got = space.get(table, partition, clustering).unwrap();
                match table {
                    POINTS => assert_eq!(got.as_deref(), Some(value)),
                    COLD => assert_eq!(got.is_some(), number == last),
                    _ => assert!(got.is_some()),
                }
            }
        }
        rows += last as usize;
    }
    assert_eq!(all_rows(space, POINTS, None).len(), rows);
    assert!(all_rows(space, COLD, None).len() <= WRITERS as usize);
}

#[test]
fn acknowledged_batches_survive_a_kill() {
    kill_again_and_again(|_| false);
}

#[test]
fn acknowledged_batches_survive_a_kill_behind_a_front_table() {
    kill_again_and_again(|_| true);
}

/// The next start may be with or without a front table, independent of the killed process.
#[test]
fn acknowledged_batches_survive_a_kill_between_both() {
    kill_again_and_again(|random| random.one_in(2));
}

/// `VARVE_CRASH_ROUNDS` and `VARVE_SEED` choose longer and other runs.
fn kill_again_and_again(front: fn(&mut Random) -> bool) {
    let number = |name: &str| {
        std::env::var(name)
            .ok()
            .and_then(|value| value.parse().ok())
    };
    let rounds = number("VARVE_CRASH_ROUNDS").unwrap_or(ROUNDS_DEFAULT);
    let seed = number("VARVE_SEED").unwrap_or(1);
    println!("VARVE_SEED={seed} VARVE_CRASH_ROUNDS={rounds}");
    let mut random = Random::new(seed);
    let dir = tempfile::tempdir().unwrap();
    let mut known = [0; WRITERS as usize];
    for round in 0..rounds {
        let acknowledgements = match round % 4 {
            0 => random.below(3),
            _ => 20 + random.below(400),
        };
        let durability = if round % 3 == 2 { "buffered" } else { "sync" };
        let acknowledged =
            run_and_kill(dir.path(), durability, front(&mut random), acknowledgements);
        for (known, acknowledged) in known.iter_mut().zip(acknowledged) {
            *known = acknowledged.max(*known);
        }
        let (_engine, space) = open(dir.path(), front(&mut random));
        check(&*space, &known);
        for writer in 0..WRITERS {
            known[writer as usize] = last_stored(&*space, writer);
        }
        if round % 5 == 4 {
            space.verify_checksums().unwrap();
        }
    }
    assert!(known.iter().all(|last| *last > 0), "nothing was written");
}
