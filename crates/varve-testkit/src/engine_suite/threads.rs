//! Many threads on one space.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use varve_kv::{Batch, ClusteringRange, Durability, Engine, ReaderExt, has_snapshots, state_of};

use super::tables::{COLD, NAMED, POINTS, all_rows, cold, keys, named, open, point, put, rows};

const THREADS: u64 = 16;

/// Sixteen threads write rows. Each reads its own rows back at once; finally all rows exist.
pub fn sixteen_threads_write_and_read(engine: &dyn Engine) {
    const ROWS: u64 = 300;
    let space = open(engine);
    let start = Barrier::new(THREADS as usize);
    thread::scope(|scope| {
        for t in 0..THREADS {
            let (space, start) = (&space, &start);
            scope.spawn(move || {
                start.wait();
                for n in 0..ROWS {
                    let key = point(n * THREADS + t);
                    put(&**space, POINTS, &key, &[t as u8], &key);
                    put(&**space, NAMED, &named(b"shared"), &key, b"");
                    let got = space.get(POINTS, &key, &[t as u8]).unwrap();
                    assert_eq!(got.as_deref(), Some(&key[..]));
                    if n % 64 == 0 {
                        let mine = keys(&**space, NAMED, &named(b"shared"))
                            .iter()
                            .filter(|key| key[7] % 16 == t as u8)
                            .count() as u64;
                        assert_eq!(mine, n + 1);
                    }
                }
            });
        }
    });
    let all = all_rows(&*space, POINTS, None);
    assert_eq!(all.len() as u64, THREADS * ROWS);
    assert_eq!(
        keys(&*space, NAMED, &named(b"shared")).len() as u64,
        THREADS * ROWS
    );
}

/// "One scan sees all rows of a batch in a partition or none", whether or not the engine has
/// snapshots.
pub fn a_batch_shows_wholly_in_a_partition(engine: &dyn Engine) {
    const WRITERS: u64 = 3;
    const BATCHES: u64 = 100;
    const ROWS: u64 = 20;
    let space = open(engine);
    let write = |number: u64| {
        let mut batch = Batch::new();
        for n in 0..ROWS {
            batch.put(NAMED, &named(b"one"), &point(n), &point(number));
            // So that the batch has rows in other partitions, too.
            batch.put(POINTS, &point(n), b"", &point(number));
        }
        space.write(&batch, Durability::Buffered).unwrap();
    };
    write(0);
    let writing = AtomicU64::new(WRITERS);
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (write, writing) = (&write, &writing);
            scope.spawn(move || {
                for n in 0..BATCHES {
                    write(writer * BATCHES + n + 1);
                }
                writing.fetch_sub(1, Ordering::Release);
            });
        }
        for _ in 0..2 {
            let (space, writing) = (&space, &writing);
            scope.spawn(move || {
                let all = ClusteringRange::all();
                let mut looks = 0;
                while writing.load(Ordering::Acquire) > 0 || looks == 0 {
                    looks += 1;
                    let got = rows(&**space, NAMED, &named(b"one"), &all, false);
                    assert_eq!(got.len() as u64, ROWS);
                    let first = &got[0].1;
                    let whole = got.iter().all(|(_, value)| value == first);
                    assert!(whole, "a scan saw a part of a batch: {got:?}");
                }
            });
        }
    });
}

/// "Applies a batch atomically": no snapshot sees a part of a batch. After all writes have
/// returned, all rows are those of one batch; of an engine without snapshots, only this is checked.
pub fn a_batch_shows_wholly_or_not_at_all(engine: &dyn Engine) {
    const WRITERS: u64 = 4;
    const BATCHES: u64 = 200;
    let space = open(engine);
    let states = has_snapshots(&space);
    let rows: Vec<_> = (0..8u64)
        .flat_map(|n| {
            [
                (POINTS, point(n), b"c".to_vec()),
                (NAMED, named(&point(n | 0x0101_0101_0101_0101)), point(n)),
                (COLD, cold(&point(n)), vec![]),
            ]
        })
        .collect();
    let write = |number: u64| {
        let mut batch = Batch::new();
        for (table, partition, clustering) in &rows {
            batch.put(*table, partition, clustering, &point(number));
        }
        space.write(&batch, Durability::Buffered).unwrap();
    };
    write(0);
    let writing = AtomicU64::new(WRITERS);
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (write, writing) = (&write, &writing);
            scope.spawn(move || {
                for n in 0..BATCHES {
                    write(writer * BATCHES + n + 1);
                }
                writing.fetch_sub(1, Ordering::Release);
            });
        }
        for _ in 0..4 {
            let (space, rows, writing) = (&space, &rows, &writing);
            scope.spawn(move || {
                let mut looks = 0;
                while writing.load(Ordering::Acquire) > 0 || looks == 0 {
                    looks += 1;
                    let snapshot = state_of(space);
                    let (table, partition, clustering) = &rows[0];
                    let first = snapshot.get(*table, partition, clustering).unwrap();
                    for (table, partition, clustering) in rows {
                        let got = snapshot.get(*table, partition, clustering).unwrap();
                        if states {
                            assert_eq!(got, first, "a snapshot saw a part of a batch");
                        }
                    }
                }
            });
        }
    });
    let values = rows.iter().map(|(table, partition, clustering)| {
        let got = space.get(*table, partition, clustering).unwrap();
        got.expect("each batch has a row here")
    });
    let mut values: Vec<Vec<u8>> = values.collect();
    values.dedup();
    assert_eq!(values.len(), 1, "rows of different batches are left");
}

/// "Returns once the batch ... is visible to every later read": to those of all threads.
pub fn a_write_shows_to_every_thread_once_it_returns(engine: &dyn Engine) {
    const WRITES: u64 = 1_000;
    let space = open(engine);
    let written = AtomicU64::new(0);
    let failed = AtomicBool::new(false);
    thread::scope(|scope| {
        let (space, written, failed) = (&space, &written, &failed);
        scope.spawn(move || {
            for n in 1..=WRITES {
                put(&**space, POINTS, &point(7), b"", &point(n));
                written.store(n, Ordering::Release);
                if failed.load(Ordering::Relaxed) {
                    return;
                }
            }
        });
        for _ in 0..4 {
            scope.spawn(move || {
                loop {
                    let floor = written.load(Ordering::Acquire);
                    let got = space.get(POINTS, &point(7), b"").unwrap();
                    let got = got.map_or(0, |got| u64::from_be_bytes(got[..].try_into().unwrap()));
                    if got < floor {
                        failed.store(true, Ordering::Relaxed);
                        panic!("read {got} after {floor} had been written");
                    }
                    if floor == WRITES {
                        return;
                    }
                }
            });
        }
    });
}
