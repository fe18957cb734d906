//! Tests on the files of the operating system: threads, a full disk.

use std::sync::atomic::{AtomicBool, Ordering};

use super::*;

fn open_in(dir: &std::path::Path) -> (Log, Vec<u64>) {
    let mut numbers = Vec::new();
    let log = Log::open(dir, options(1 << 16, true), &mut |_, _, payload| {
        numbers.push(number_of(payload));
        Ok(())
    });
    (log.expect("the log opens"), numbers)
}

#[test]
fn one_appends_while_others_sync_and_somebody_verifies() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let log_dir = dir.path().join("log");
    let (mut log, _) = open_in(&log_dir);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            let (syncer, done) = (log.syncer(), &done);
            scope.spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    syncer.sync().expect("a sync");
                }
            });
        }
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                Log::verify("s", &log_dir).expect("a sound log");
            }
        });
        let remover = log.remover();
        for number in 0..3_000 {
            log.append(&payload(number)).expect("there is room");
            if number % 500 == 499 {
                let closed = log.rotate().expect("a rotation");
                if closed.0 > 2 {
                    remover
                        .remove_through(SegmentId(closed.0 - 2))
                        .expect("a removal");
                }
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    log.sync().expect("a sync");
    drop(log);
    let (_, numbers) = open_in(&log_dir);
    assert_eq!(numbers, (2_000..3_000).collect::<Vec<u64>>());
}

#[test]
fn a_small_disk_fills_up_and_goes_on() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let mount = std::process::Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"])
        .arg(dir.path())
        .output();
    if !mount.is_ok_and(|output| output.status.success()) {
        println!("skipped: this process may not mount a small file system");
        return;
    }
    let result = std::panic::catch_unwind(|| fill(dir.path()));
    let unmount = std::process::Command::new("umount")
        .arg("-l")
        .arg(dir.path())
        .status();
    assert!(unmount.is_ok_and(|status| status.success()));
    result.expect("the test passes");
}

fn fill(dir: &std::path::Path) {
    let ballast = dir.join("ballast");
    std::fs::write(&ballast, vec![1; 512 << 10]).expect("there is room");
    let log_dir = dir.join("log");
    let (mut log, _) = open_in(&log_dir);
    let mut expected = Vec::new();
    let mut refused = 0;
    for number in 0..20_000 {
        match log.append(&payload(number)) {
            Ok(()) => expected.push(number),
            Err(KvError::DiskFull { .. }) => refused += 1,
            Err(error) => panic!("{error}"),
        }
    }
    assert!(refused > 100 && expected.len() > 100, "{refused}");
    log.sync().expect("a sync needs no room");
    std::fs::remove_file(ballast).expect("it is there");
    for number in 20_000..20_100 {
        log.append(&payload(number)).expect("there is room again");
        expected.push(number);
    }
    log.rotate().expect("a rotation");
    drop(log);
    let (_, numbers) = open_in(&log_dir);
    assert_eq!(numbers, expected);
}
