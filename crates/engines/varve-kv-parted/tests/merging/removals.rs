//! Removals during reads: their visibility, the amount that is read again, and the space of
//! tombstones.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use varve_kv::{Batch, ClusteringRange, Durability, Flow, ReaderExt, ScanRequest, Space};
use varve_testkit::engine_suite::tables::{NAMED, delete, point, put, rows};
use varve_testkit::{Counted, Random, Reads};

use crate::{PAGE, PARTS, ROWS, SHARE, fill, hub, open, parts, some};

/// Removes a row before every n-th read from now on, beginning with this key.
fn remove_before_reads(space: &Arc<dyn Space>, reads: &Arc<Reads>, n: u64, key: u64) {
    let (space, again) = (Arc::clone(space), Arc::clone(reads));
    reads.before_read(n, move || {
        delete(&*space, NAMED, &hub(), &point(key));
        remove_before_reads(&space, &again, n, key + 1);
    });
}

/// Scans all rows during removals; returns the amount read, and the number of removed rows.
fn scan_beside_removals(keys: &[u64], n: u64, reverse: bool) -> (Counted, u64) {
    let (space, reads) = open(SHARE);
    fill(&*space, keys);
    assert_eq!(parts(&*space), PARTS);
    // Most of these are in older epochs, at any position of the scan.
    const FIRST: u64 = 4_000;
    reads.forget();
    remove_before_reads(&space, &reads, n, FIRST);
    let mut found = some(&*space, &ClusteringRange::all(), reverse, usize::MAX);
    let read = reads.counted();
    reads.before_read(u64::MAX, || {});
    if reverse {
        found.reverse();
    }
    assert!(found.is_sorted_by(|a, b| a < b), "each row once");
    let all = ClusteringRange::all();
    let left = some(&*space, &all, false, usize::MAX);
    let expected: BTreeSet<u64> = keys.iter().copied().collect();
    let gone = (FIRST..).take_while(|key| !left.contains(key) && *key < ROWS);
    let removed = FIRST..FIRST + gone.count() as u64;
    assert!(!removed.is_empty());
    let stays = |key: &&u64| !removed.contains(key);
    let found: BTreeSet<u64> = found.into_iter().collect();
    assert!(found.is_subset(&expected));
    assert!(left.iter().eq(expected.iter().filter(stays)));
    assert!((found.iter().filter(stays)).eq(expected.iter().filter(stays)));
    (read, removed.end - removed.start)
}

/// Not much more than a scan without removals.
fn asks_little(read: &Counted, case: &str) {
    assert!(
        read.rows <= ROWS * 4 / 3 + PARTS * PAGE && read.scans <= PARTS * 4,
        "{case}: {read:?}"
    );
}

/// However often rows are removed during it, a scan does not start over, and reads again only pages
/// of older epochs.
#[test]
fn removals_beside_a_scan_do_not_make_it_read_everything_again() {
    let growing: Vec<u64> = (0..ROWS).collect();
    let mut mixed = growing.clone();
    let mut random = Random::new(3);
    mixed.sort_by_cached_key(|_| random.bits());
    for n in [1, 2, 7, 50] {
        for reverse in [false, true] {
            let (read, removed) = scan_beside_removals(&growing, n, reverse);
            asks_little(&read, &format!("growing, {n}, {reverse}, {removed}"));
            let (read, removed) = scan_beside_removals(&mixed, n, reverse);
            asks_little(&read, &format!("mixed, {n}, {reverse}, {removed}"));
        }
    }
}

/// A row is removed twice while its parts are read: the first removal puts a tombstone, which hides
/// the older epochs, and the second deletes it. A reader that has read the oldest epoch before the
/// first removal and the newest one after the second must not see the oldest row.
#[test]
fn what_was_hidden_is_never_seen_again() {
    for how in ["forward", "backward", "get", "multi_get"] {
        // How often the row was not seen, and how often it was.
        let mut interrupted = [0; 2];
        // The test ends when there is no read left to interrupt.
        for n in 1.. {
            let (space, reads) = open(300);
            let row = point(1);
            put(&*space, NAMED, &hub(), &row, b"oldest");
            for key in 2..10 {
                put(&*space, NAMED, &hub(), &point(key), b"v");
            }
            assert_eq!(parts(&*space), 9);
            put(&*space, NAMED, &hub(), &row, b"newer");
            let writer = Arc::clone(&space);
            let removed = row.clone();
            let ran = Arc::new(AtomicBool::new(false));
            let runs = Arc::clone(&ran);
            reads.before_read(n, move || {
                delete(&*writer, NAMED, &hub(), &removed);
                delete(&*writer, NAMED, &hub(), &removed);
                runs.store(true, Ordering::SeqCst);
            });
            let all = ClusteringRange::all();
            let seen = match how {
                "get" => space.get(NAMED, &hub(), &row).unwrap(),
                "multi_get" => {
                    let partition = hub();
                    let keys: [(&[u8], &[u8]); 2] = [(&partition, &row), (&partition, b"other")];
                    space.multi_get(NAMED, &keys).unwrap().swap_remove(0)
                }
                _ => {
                    let found = rows(&*space, NAMED, &hub(), &all, how == "backward");
                    let mut of_row = found.into_iter().filter(|(key, _)| *key == row);
                    of_row.next().map(|(_, value)| value)
                }
            };
            let case = format!("{how}, before read {n}: {seen:?}");
            assert!(
                seen.as_deref().is_none_or(|seen| seen == b"newer"),
                "{case}"
            );
            if !ran.load(Ordering::SeqCst) {
                assert!(seen.is_some(), "{case}");
                break;
            }
            interrupted[usize::from(seen.is_some())] += 1;
        }
        // A get reads both parts before the row is decided. A scan reads nine parts, some of them
        // after that of the row.
        let [gone, there] = interrupted;
        match how {
            "get" | "multi_get" => assert!(gone >= 2, "{how}"),
            _ => assert!(gone > 0 && there > 0 && gone + there >= 9, "{how}"),
        }
    }
}

/// A scan of nine parts that buffers pages of the oldest one while it reads on in others. A
/// buffered row is removed twice, before a read or before a row is shown. Returns whether the
/// removal before the read was done, and whether the row was seen.
fn scan_with_rows_waiting(reverse: bool, before_read: u64, before_row: usize) -> (bool, bool) {
    let key = |key: u64| match reverse {
        true => point(10_000 - key),
        false => point(key),
    };
    let row = key(5_050);
    let (space, reads) = open(20_000);
    let fill = |keys: Range<u64>, value: &[u8]| {
        for first in keys.clone().step_by(10) {
            let mut batch = Batch::new();
            for of in first..keys.end.min(first + 10) {
                batch.put(NAMED, &hub(), &key(of), value);
            }
            space.write(&batch, Durability::Buffered).unwrap();
        }
    };
    fill(5_000..5_190, b"oldest");
    // In each of the eight other parts, more than a page before those rows.
    fill(0..1_250, b"newer");
    fill(5_000..5_190, b"newer");
    assert_eq!(parts(&*space), 9);
    let (writer, removed) = (Arc::clone(&space), row.clone());
    let remove = move || {
        delete(&*writer, NAMED, &hub(), &removed);
        delete(&*writer, NAMED, &hub(), &removed);
    };
    let ran = Arc::new(AtomicBool::new(false));
    let (runs, first) = (Arc::clone(&ran), remove.clone());
    reads.before_read(before_read, move || {
        first();
        runs.store(true, Ordering::SeqCst);
    });
    let case = format!("{reverse}, before read {before_read}, before row {before_row}");
    let (mut shown, mut is_there) = (0, false);
    let request = ScanRequest {
        table: NAMED,
        partition: &hub(),
        range: &ClusteringRange::all(),
        reverse,
    };
    let mut visit = |key: &[u8], value: &[u8]| {
        assert_eq!(value, b"newer", "{case}");
        is_there |= key == row;
        shown += 1;
        if shown == before_row {
            remove();
        }
        Flow::Continue(())
    };
    space.scan(request, &mut visit).unwrap();
    assert_eq!(shown, 1_439 + usize::from(is_there), "{case}");
    (ran.load(Ordering::SeqCst), is_there)
}

/// The same for a row whose page in the oldest epoch is buffered while other parts are read on.
#[test]
fn what_was_hidden_is_not_kept_either() {
    for reverse in [false, true] {
        let mut interrupted = [0; 2];
        for n in 1.. {
            let (ran, is_there) = scan_with_rows_waiting(reverse, n, usize::MAX);
            if !ran {
                assert!(is_there);
                break;
            }
            interrupted[usize::from(is_there)] += 1;
        }
        let [gone, there] = interrupted;
        assert!(gone > 9 && there > 0, "{reverse}: {interrupted:?}");
        // About the first eight hundred rows come from the first pages; the row is among the last.
        for (row, is_seen) in [(1, false), (600, false), (1_439, true)] {
            let (_, is_there) = scan_with_rows_waiting(reverse, u64::MAX, row);
            assert_eq!(is_there, is_seen, "{reverse}, before row {row}");
        }
    }
}

/// For each key, the number of the last acknowledged write, and of the last removal that was begun.
#[derive(Default)]
struct KeyWrites {
    done: AtomicU64,
    removal: AtomicU64,
}

/// Sets the flag that ends the threads, even if a test fails.
struct Ended<'a>(&'a AtomicBool);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Checks the value read for a key: it must be that of the last write before the read began, or of
/// a later one.
fn check(key: u64, before: u64, seen: Option<&[u8]>, writes: &KeyWrites) {
    match seen {
        Some(value) => {
            let write = u64::from_be_bytes(value.try_into().unwrap());
            assert!(
                write >= before,
                "key {key} had write {before}, and {write} was seen"
            );
        }
        None => {
            let removal = writes.removal.load(Ordering::SeqCst);
            assert!(
                removal >= before,
                "key {key} had write {before}, and is gone"
            );
        }
    }
}

/// Readers concurrent with a writer that puts rows, removes them twice and puts them again, while
/// epochs begin.
#[test]
fn readers_see_nothing_that_was_over_when_they_began() {
    const KEYS: u64 = 24;
    const WRITES: u64 = 2_500;
    let (space, _) = open(400);
    let writes: Vec<KeyWrites> = (0..KEYS).map(|_| KeyWrites::default()).collect();
    let ended = AtomicBool::new(false);
    let read = |mut random: Random| {
        while !ended.load(Ordering::SeqCst) {
            let before: Vec<u64> = writes
                .iter()
                .map(|it| it.done.load(Ordering::SeqCst))
                .collect();
            if random.one_in(3) {
                let reverse = random.one_in(2);
                let found = rows(&*space, NAMED, &hub(), &ClusteringRange::all(), reverse);
                let found: BTreeMap<Vec<u8>, Vec<u8>> = found.into_iter().collect();
                for key in 0..KEYS {
                    let seen = found.get(&point(key)).map(Vec::as_slice);
                    check(key, before[key as usize], seen, &writes[key as usize]);
                }
                continue;
            }
            let key = random.below(KEYS as usize) as u64;
            let seen = space.get(NAMED, &hub(), &point(key)).unwrap();
            check(
                key,
                before[key as usize],
                seen.as_deref(),
                &writes[key as usize],
            );
        }
    };
    std::thread::scope(|scope| {
        let _ended = Ended(&ended);
        for seed in 1..3 {
            scope.spawn(move || read(Random::new(seed)));
        }
        let mut random = Random::new(0);
        for write in 1..=WRITES {
            let key = random.below(KEYS as usize) as u64;
            let of_key = &writes[key as usize];
            if random.one_in(2) {
                put(&*space, NAMED, &hub(), &point(key), &point(write));
            } else {
                of_key.removal.store(write, Ordering::SeqCst);
                delete(&*space, NAMED, &hub(), &point(key));
                delete(&*space, NAMED, &hub(), &point(key));
            }
            of_key.done.store(write, Ordering::SeqCst);
        }
    });
    assert!(parts(&*space) > 73);
}

/// A tombstone counts towards the bytes of the newest epoch as a row does.
#[test]
fn marks_count_to_what_a_partition_has_taken() {
    let (space, _) = open(10_000);
    for key in 0..100 {
        put(&*space, NAMED, &hub(), &point(key), b"v");
    }
    assert_eq!(parts(&*space), 9);
    // The last row is in the second epoch, which takes 800.
    for key in 0..99 {
        delete(&*space, NAMED, &hub(), &point(key));
    }
    for key in 1_000..1_695 {
        put(&*space, NAMED, &hub(), &point(key), b"v");
    }
    assert_eq!(parts(&*space), 9);
    for key in 2_000..2_010 {
        put(&*space, NAMED, &hub(), &point(key), b"v");
    }
    assert_eq!(parts(&*space), 73);
}
