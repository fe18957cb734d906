//! Measures the processor time of a row in a front table, in nanoseconds. The cases write to one
//! large partition, some with reads in between, or to many small partitions.
//!
//! `cargo run --release -p varve-kv-front --example hub [part of a case's name ...]`

use std::error::Error;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};
use varve_kv::{
    Batch, ClusteringRange, Durability, Engine, KvError, ScanRequest, Space, TableId, TableSpec,
};
use varve_kv_front::{FrontMemoryEngine, FrontOptions};

static TABLES: &[TableSpec] = &[TableSpec {
    name: "edges",
    partition_len: |key| (key.len() >= 8).then_some(8),
    point_reads: false,
    probed: None,
    cold: false,
}];

const EDGES: TableId = TableId(0);
const HUB: &[u8] = b"the hub.";

/// The work of a case on a space; returns the number of rows that it writes.
type Work = fn(&dyn Space) -> Result<u64, KvError>;

static CASES: &[(&str, Work)] = &[
    ("write 600,000, batches of 500", |space| {
        write_hub(space, 600_000, 500)
    }),
    ("write 2,000,000, batches of 500", |space| {
        write_hub(space, 2_000_000, 500)
    }),
    ("write 600,000, scan all", |space| {
        let rows = write_hub(space, 600_000, 500)?;
        let started = Instant::now();
        let first = scan(space, 1)?;
        eprintln!("    the first row after {:?}", started.elapsed());
        let started = Instant::now();
        let all = scan(space, usize::MAX)?;
        eprintln!("    all rows after {:?}", started.elapsed());
        assert_eq!((first, all), (1, 600_000));
        Ok(rows)
    }),
    ("a present row read before each write", |space| {
        read_between(space, 1, |n| n / 2)
    }),
    ("an absent row read before each write", |space| {
        read_between(space, 1, |n| n)
    }),
    ("500 present rows read, 500 written", |space| {
        read_between(space, 500, |n| n / 2)
    }),
    ("100 rows scanned after each 1,000", |space| {
        for step in 0..300 {
            write_rows(space, step * 1_000..(step + 1) * 1_000, |_| HUB.to_vec())?;
            assert_eq!(scan(space, 100)?, 100);
        }
        Ok(300_000)
    }),
    ("partitions of 1", |space| partitions(space, 600_000)),
    ("partitions of 5", |space| partitions(space, 120_000)),
    ("partitions of 20", |space| partitions(space, 30_000)),
    ("partitions of 50", |space| partitions(space, 12_000)),
    ("partitions of 200", |space| partitions(space, 3_000)),
    ("a row read before each, in partitions of 10", |space| {
        read_before_each(space, 30_000)
    }),
    ("a row read before each, in partitions of 50", |space| {
        read_before_each(space, 6_000)
    }),
];

fn mixed(n: u64) -> u64 {
    let n = (n ^ (n >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (n ^ (n >> 32)).wrapping_mul(0x94D0_49BB_1331_11EB)
}

fn key(n: u64) -> [u8; 16] {
    let mut key = *b"label -><random>";
    key[8..].copy_from_slice(&mixed(n).to_be_bytes());
    key
}

fn write_rows(
    space: &dyn Space,
    rows: std::ops::Range<u64>,
    partition: impl Fn(u64) -> Vec<u8>,
) -> Result<(), KvError> {
    let mut batch = Batch::new();
    for n in rows {
        batch.put(EDGES, &partition(n), &key(n), &[0; 40]);
    }
    space.write(&batch, Durability::Buffered)
}

fn write_hub(space: &dyn Space, rows: u64, each: u64) -> Result<u64, KvError> {
    for step in 0..rows / each {
        write_rows(space, step * each..(step + 1) * each, |_| HUB.to_vec())?;
    }
    Ok(rows)
}

/// Writes 300,000 rows in batches of `each`. Before each batch, reads as many rows; `read` maps the
/// number of a row in the batch to the number of the row to read.
fn read_between(space: &dyn Space, each: u64, read: fn(u64) -> u64) -> Result<u64, KvError> {
    for step in 0..300_000 / each {
        let rows = step * each..(step + 1) * each;
        for n in rows.clone() {
            let present = read(n) < rows.start;
            let found = space.get_with(EDGES, HUB, &key(read(n)), &mut |_| {})?;
            assert_eq!(found, present);
        }
        write_rows(space, rows, |_| HUB.to_vec())?;
    }
    Ok(300_000)
}

fn scan(space: &dyn Space, most: usize) -> Result<usize, KvError> {
    let mut rows = 0;
    let request = ScanRequest {
        table: EDGES,
        partition: HUB,
        range: &ClusteringRange::all(),
        reverse: false,
    };
    space.scan(request, &mut |_, _| {
        rows += 1;
        match rows < most {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    })?;
    Ok(rows)
}

/// Writes 600,000 rows, spread at random over this number of partitions.
fn partitions(space: &dyn Space, partitions: u64) -> Result<u64, KvError> {
    for step in 0..1_200 {
        write_rows(space, step * 500..(step + 1) * 500, |n| {
            (mixed(n + 7_777_777_777) % partitions)
                .to_be_bytes()
                .to_vec()
        })?;
    }
    Ok(600_000)
}

/// Writes 300,000 rows in batches of one, spread at random over this number of partitions. Looks up
/// one key of the row's partition before each write.
fn read_before_each(space: &dyn Space, partitions: u64) -> Result<u64, KvError> {
    let partition = |n: u64| {
        (mixed(n + 7_777_777_777) % partitions)
            .to_be_bytes()
            .to_vec()
    };
    for n in 0..300_000 {
        space.get_with(EDGES, &partition(n), &key(n / 2), &mut |_| {})?;
        write_rows(space, n..n + 1, partition)?;
    }
    Ok(300_000)
}

fn cpu_nanos() -> i64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

fn main() -> Result<(), Box<dyn Error>> {
    let filters: Vec<String> = std::env::args().skip(1).collect();
    for (name, work) in CASES {
        if !filters.is_empty() && !filters.iter().any(|filter| name.contains(filter)) {
            continue;
        }
        let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir())?;
        let options = FrontOptions {
            table_bytes: usize::MAX,
            ..FrontOptions::default()
        };
        let engine = FrontMemoryEngine::new(dir.path(), options);
        let space: Arc<dyn Space> = engine.open("hub", TABLES, true)?;
        let started = cpu_nanos();
        let rows = work(&*space)?;
        let nanos = (cpu_nanos() - started) / i64::try_from(rows)?;
        println!("{nanos:6} ns a row: {name}");
        // Not dropped, since dropping the space would flush it.
        std::mem::forget(space);
    }
    std::process::exit(0);
}
