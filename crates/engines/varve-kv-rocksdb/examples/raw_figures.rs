//! Measures the storage engine alone, with rows of the sizes that graphs make, and compares
//! options.
//!
//! `raw_figures [--seconds N] [--rows N] [--dir PATH] [part of a case's name ...]`
//!
//! Writes: batches of 200 vertices (key 24 bytes, value 120) and of 500 edges (two rows each: key
//! 40, value 40), with hashed or ascending keys. `tiers 0`, `tiers 1` and `tiers 4` read with so
//! many frozen front tables. "drained" counts the flushes and compactions up to the end. Figures
//! for each CPU-second (all threads of the process) hold on a busy machine too; those by the clock
//! only on a quiet one.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use varve_kv::{
    Batch, ClusteringRange, Durability, Engine, Flow, Op, PartitionRange, ScanRequest, Space,
    TableId, TableSpec,
};
use varve_kv::{ReaderExt, fail_point, state_of};
use varve_kv_front::FrontOptions;
use varve_kv_rocksdb::{FrontTable, RocksConfig, RocksEngine, Tuning};

type Outcome<T> = Result<T, Box<dyn Error>>;

const VERTICES: TableId = TableId(0);
const OUT: TableId = TableId(1);
const IN: TableId = TableId(2);

static TABLES: &[TableSpec] = &[
    TableSpec {
        name: "vertices",
        partition_len: |key| (key.len() >= 24).then_some(24),
        point_reads: true,
        probed: Some(varve_kv::table::always),
        cold: false,
    },
    TableSpec {
        name: "out_edges",
        partition_len: |key| (key.len() >= 16).then_some(16),
        point_reads: false,
        probed: None,
        cold: false,
    },
    TableSpec {
        name: "in_edges",
        partition_len: |key| (key.len() >= 16).then_some(16),
        point_reads: false,
        probed: None,
        cold: false,
    },
];

struct Settings {
    seconds: u64,
    rows: u64,
    dir: PathBuf,
    filters: Vec<String>,
}

fn settings() -> Outcome<Settings> {
    let mut settings = Settings {
        seconds: 8,
        rows: 2_000_000,
        dir: std::env::temp_dir(),
        filters: Vec::new(),
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--seconds" => settings.seconds = value()?.parse()?,
            "--rows" => settings.rows = value()?.parse()?,
            "--dir" => settings.dir = value()?.into(),
            _ => settings.filters.push(argument),
        }
    }
    Ok(settings)
}

/// One set of options.
struct Variant {
    name: &'static str,
    memory_bytes: u64,
    front: FrontTable,
    tuning: Tuning,
}

#[expect(clippy::too_many_lines, reason = "a table of options")]
fn variants() -> Vec<Variant> {
    let base = || Variant {
        name: "chosen",
        memory_bytes: 768 << 20,
        front: FrontTable::Off,
        tuning: Tuning::default(),
    };
    let with = |name, change: fn(&mut Tuning)| {
        let mut variant = Variant { name, ..base() };
        change(&mut variant.tuning);
        variant
    };
    vec![
        base(),
        Variant {
            name: "front",
            front: FrontTable::Share(64 << 20),
            ..base()
        },
        Variant {
            front: FrontTable::Share(64 << 20),
            ..with("front, no compression", |t| t.compress = false)
        },
        Variant {
            front: FrontTable::Share(64 << 20),
            ..with("front, 8 runs", |t| {
                t.runs_loading = 8;
                t.runs_inserting = 8;
            })
        },
        Variant {
            front: FrontTable::Share(64 << 20),
            ..with("front, levels of 4 files", |t| {
                t.tiers = false;
                t.level0_compact_front = 4;
            })
        },
        Variant {
            front: FrontTable::Share(64 << 20),
            ..with("front, levels of 12 files", |t| {
                t.tiers = false;
                t.level0_compact_front = 12;
            })
        },
        with("unsorted", |t| t.sort_batches_from = usize::MAX),
        with("memtable 4M", |t| t.memtable_bytes = 4 << 20),
        with("memtable 8M", |t| t.memtable_bytes = 8 << 20),
        with("memtable 16M", |t| t.memtable_bytes = 16 << 20),
        with("memtable 64M", |t| t.memtable_bytes = 64 << 20),
        with("whole filters", |t| t.partition_filters = false),
        Variant {
            memory_bytes: 64 << 20,
            ..with("whole filters, 64M", |t| t.partition_filters = false)
        },
        with("no memtable filter", |t| t.memtable_filter_share = 0.0),
        with("hashed memtable", |t| t.memtable_hashed = true),
        with("block 4K", |t| t.block_bytes = 4 << 10),
        with("block 16K", |t| t.block_bytes = 16 << 10),
        with("no compression", |t| t.compress = false),
        with("filter 16 bits", |t| t.filter_bits = 16.0),
        with("block hash index", |t| t.block_hash_index = true),
        Variant {
            name: "memory 64M",
            memory_bytes: 64 << 20,
            ..base()
        },
        Variant {
            name: "memory 4G",
            memory_bytes: 4 << 30,
            ..base()
        },
    ]
}

fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Wall and CPU seconds since it was made.
struct Stopwatch {
    wall: Instant,
    cpu: f64,
}

impl Stopwatch {
    fn start() -> Self {
        Self {
            wall: Instant::now(),
            cpu: cpu_seconds(),
        }
    }

    fn wall(&self) -> f64 {
        self.wall.elapsed().as_secs_f64()
    }

    fn cpu(&self) -> f64 {
        cpu_seconds() - self.cpu
    }
}

/// Spreads numbers over all 64 bits, one to one.
fn mix(number: u64) -> u64 {
    let mut bits = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    bits ^ (bits >> 32)
}

fn vertex_key(number: u64, ascending: bool) -> [u8; 24] {
    let mut key = [b'v'; 24];
    let first = if ascending { number } else { mix(number) };
    key[..8].copy_from_slice(&first.to_be_bytes());
    key
}

fn edge_end(number: u64) -> [u8; 16] {
    let mut key = [b'e'; 16];
    key[..8].copy_from_slice(&mix(number).to_be_bytes());
    key
}

fn edge_clustering(number: u64) -> [u8; 24] {
    let mut key = [b'c'; 24];
    key[8..16].copy_from_slice(&mix(number).to_be_bytes());
    key
}

/// Half random, half repeated, as property values are.
fn value<const N: usize>(number: u64) -> [u8; N] {
    let mut value = [0; N];
    for (at, chunk) in value.chunks_mut(16).enumerate() {
        let bytes = mix(number.wrapping_add(at as u64)).to_le_bytes();
        let length = chunk.len().min(8);
        chunk[..length].copy_from_slice(&bytes[..length]);
    }
    value
}

fn vertices(batch: &mut Batch, from: u64, count: u64, ascending: bool) {
    for n in from..from + count {
        batch.put(VERTICES, &vertex_key(n, ascending), b"", &value::<120>(n));
    }
}

/// Edges whose ends are random among `ends` vertices.
fn edges(batch: &mut Batch, from: u64, count: u64, ends: u64) {
    for n in from..from + count {
        let (source, target) = (mix(n) % ends, mix(n ^ 0x5555) % ends);
        batch.put(
            OUT,
            &edge_end(source),
            &edge_clustering(target),
            &value::<40>(n),
        );
        batch.put(
            IN,
            &edge_end(target),
            &edge_clustering(source),
            &value::<40>(n),
        );
    }
}

struct Store {
    space: Arc<dyn Space>,
    _engine: RocksEngine,
    _dir: tempfile::TempDir,
}

fn open(settings: &Settings, variant: &Variant) -> Outcome<Store> {
    let dir = tempfile::tempdir_in(&settings.dir)?;
    let config = RocksConfig {
        memory_bytes: variant.memory_bytes,
        front: variant.front.clone(),
        tuning: variant.tuning.clone(),
        ..RocksConfig::new(dir.path())
    };
    let engine = RocksEngine::open(&config)?;
    let space = engine.open("raw", TABLES, true)?;
    Ok(Store {
        space,
        _engine: engine,
        _dir: dir,
    })
}

/// What is written: batches from a running number.
type Fill = fn(&mut Batch, u64) -> u64;

struct Write {
    name: &'static str,
    fill: Fill,
    durability: Durability,
    /// Whether each vertex is looked up before it is written, as insertion does to find out whether
    /// it exists.
    looked_up: bool,
}

const V200: Write = Write {
    name: "v200 hashed",
    fill: |batch, n| {
        vertices(batch, n, 200, false);
        200
    },
    durability: Durability::Buffered,
    looked_up: false,
};

const WRITES: [Write; 9] = [
    V200,
    Write {
        name: "v200 hashed sync",
        durability: Durability::Sync,
        ..V200
    },
    Write {
        name: "v200 looked up",
        looked_up: true,
        ..V200
    },
    Write {
        name: "v200 ascending",
        fill: |batch, n| {
            vertices(batch, n, 200, true);
            200
        },
        ..V200
    },
    Write {
        name: "e500 hashed",
        fill: |batch, n| {
            edges(batch, n, 500, 1 << 40);
            500
        },
        ..V200
    },
    Write {
        name: "e500 looked up",
        fill: |batch, n| {
            // About ten edges for each vertex by the end.
            edges(batch, n, 500, 200_000);
            500
        },
        looked_up: true,
        ..V200
    },
    Write {
        name: "e5000 hashed",
        fill: |batch, n| {
            edges(batch, n, 5000, 1 << 40);
            5000
        },
        ..V200
    },
    Write {
        name: "e5000 degree 10",
        fill: |batch, n| {
            edges(batch, n, 5000, 200_000);
            5000
        },
        ..V200
    },
    Write {
        name: "v1 hashed sync",
        fill: |batch, n| {
            vertices(batch, n, 1, false);
            1
        },
        durability: Durability::Sync,
        ..V200
    },
];

fn write_case(settings: &Settings, variant: &Variant, case: &Write) -> Outcome<()> {
    let name = case.name;
    let store = open(settings, variant)?;
    let mut batch = Batch::new();
    let mut pauses = Vec::new();
    let (mut elements, mut rows, mut repeated) = (0, 0, 0);
    let watch = Stopwatch::start();
    // Single writes are few in a second whatever the machine does.
    let end = if name.starts_with("v1 ") {
        settings.rows / 100
    } else {
        settings.rows
    };
    while rows < end {
        batch.clear();
        elements += (case.fill)(&mut batch, elements);
        rows += batch.len() as u64;
        let before = Instant::now();
        if case.looked_up {
            for op in batch.ops() {
                if let Op::Put {
                    table: table @ (VERTICES | OUT),
                    partition,
                    clustering,
                    ..
                } = op
                {
                    let found = store
                        .space
                        .get_with(table, partition, clustering, &mut |_| ())?;
                    repeated += u64::from(found);
                }
            }
        }
        store.space.write(&batch, case.durability)?;
        pauses.push(before.elapsed());
    }
    let (wall, cpu) = (watch.wall(), watch.cpu());
    if repeated > elements / 100 {
        return Err("new elements were there already".into());
    }
    store.space.compact()?;
    let drained = watch.cpu();
    pauses.sort_unstable();
    let pause =
        |part: usize| pauses[(pauses.len() * part / 1000).min(pauses.len() - 1)].as_micros();
    let rows = rows as f64;
    println!(
        "{:17} | {:20} | {:5.2} M rows | {:8.0} rows/s | {:4.2} cores | {:8.0} rows/cpu-s | drained {:8.0} rows/cpu-s | batch us p50 {} p99 {} max {}",
        name,
        variant.name,
        rows / 1e6,
        rows / wall,
        cpu / wall,
        rows / cpu,
        rows / drained,
        pause(500),
        pause(990),
        pause(1000),
    );
    Ok(())
}

/// Repeats `work`, which says how many things it did, and prints how many were done in a second.
fn repeat(
    settings: &Settings,
    variant: &Variant,
    name: &str,
    things: &str,
    mut work: impl FnMut(u64) -> Outcome<u64>,
) -> Outcome<()> {
    let span = Duration::from_secs(settings.seconds.div_ceil(3));
    let warm = Instant::now();
    let mut n = 0;
    while warm.elapsed() < span {
        work(n)?;
        n += 1;
    }
    let watch = Stopwatch::start();
    let (mut done, mut calls) = (0, 0);
    while watch.wall.elapsed() < span {
        done += work(n)?;
        n += 1;
        calls += 1;
    }
    let (wall, cpu) = (watch.wall(), watch.cpu());
    println!(
        "{name:24} | {:20} | {:9.0} {things}/s | {:9.0} {things}/cpu-s | {:6.2} us a call",
        variant.name,
        done as f64 / wall,
        done as f64 / cpu,
        cpu * 1e6 / f64::from(calls),
    );
    Ok(())
}

fn read_cases(settings: &Settings, variant: &Variant) -> Outcome<()> {
    let store = open(settings, variant)?;
    let space = &store.space;
    let mut batch = Batch::new();
    for n in (0..settings.rows).step_by(1000) {
        batch.clear();
        vertices(&mut batch, n, 1000, false);
        space.write(&batch, Durability::Buffered)?;
    }
    space.compact()?;
    let rows = settings.rows;
    let key = |n: u64| vertex_key(mix(n) % rows, false);
    repeat(settings, variant, "get", "gets", |n| {
        Ok(space.get(VERTICES, &key(n), b"")?.map_or(0, |_| 1))
    })?;
    let snapshot = state_of(space);
    repeat(settings, variant, "get, snapshot", "gets", |n| {
        Ok(snapshot.get(VERTICES, &key(n), b"")?.map_or(0, |_| 1))
    })?;
    repeat(settings, variant, "get_with", "gets", |n| {
        let mut bytes = 0;
        let found = space.get_with(VERTICES, &key(n), b"", &mut |value| bytes += value.len())?;
        Ok(u64::from(found && bytes == 120))
    })?;
    for size in [8, 64, 512] {
        repeat(
            settings,
            variant,
            &format!("multi_get {size}"),
            "gets",
            |n| {
                let keys: Vec<_> = (0..size).map(|at| key(n * size + at)).collect();
                let keys: Vec<(&[u8], &[u8])> =
                    keys.iter().map(|key| (&key[..], &b""[..])).collect();
                Ok(space.multi_get(VERTICES, &keys)?.iter().flatten().count() as u64)
            },
        )?;
    }
    repeat(settings, variant, "get, absent", "gets", |n| {
        let found = space.get_with(VERTICES, &vertex_key(rows + n, false), b"", &mut |_| ())?;
        Ok(u64::from(!found))
    })?;
    Ok(())
}

fn scan_cases(settings: &Settings, variant: &Variant, degree: u64) -> Outcome<()> {
    let store = open(settings, variant)?;
    let space = &store.space;
    let sources = settings.rows / degree;
    let mut batch = Batch::new();
    for n in (0..settings.rows).step_by(500) {
        batch.clear();
        for n in n..n + 500 {
            let (source, target) = (n % sources, n);
            batch.put(
                OUT,
                &edge_end(source),
                &edge_clustering(target),
                &value::<40>(n),
            );
        }
        space.write(&batch, Durability::Buffered)?;
    }
    space.compact()?;
    let range = ClusteringRange::all();
    let scan = |n: u64, reverse: bool| {
        let mut rows = 0;
        let partition = edge_end(mix(n) % sources);
        let request = ScanRequest {
            table: OUT,
            partition: &partition,
            range: &range,
            reverse,
        };
        space.scan(request, &mut |_, _| {
            rows += 1;
            Flow::Continue(())
        })?;
        Ok(rows)
    };
    let name = |what: &str| format!("{what}, degree {degree}");
    repeat(settings, variant, &name("scan"), "edges", |n| {
        scan(n, false)
    })?;
    repeat(settings, variant, &name("scan back"), "edges", |n| {
        scan(n, true)
    })?;
    repeat(settings, variant, &name("scan_many 64"), "edges", |n| {
        let partitions: Vec<_> = (0..64)
            .map(|at| edge_end(mix(n * 64 + at) % sources))
            .collect();
        let partitions: Vec<&[u8]> = partitions.iter().map(|key| &key[..]).collect();
        let ranges = PartitionRange::of_each(&partitions, &range);
        let mut rows = 0;
        space.scan_many(OUT, &ranges, &mut |_, _, _| {
            rows += 1;
            Flow::Continue(())
        })?;
        Ok(rows)
    })?;
    repeat(settings, variant, &name("scan, absent"), "lists", |n| {
        let partition = edge_end(mix(n) | 1 << 60);
        let request = ScanRequest {
            table: OUT,
            partition: &partition,
            range: &range,
            reverse: false,
        };
        space.scan(request, &mut |_, _| Flow::Continue(()))?;
        Ok(1)
    })
}

/// Reads of rows in the sorted files while so many frozen tables, which do not have them, stand
/// before those.
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn tier_cases(settings: &Settings, frozen: u64) -> Outcome<()> {
    const DEGREE: u64 = 10;
    let variant = Variant {
        name: "front",
        memory_bytes: 768 << 20,
        front: FrontTable::With(FrontOptions {
            table_bytes: 8 << 20,
            frozen_max: 16,
            ..FrontOptions::default()
        }),
        tuning: Tuning::default(),
    };
    let store = open(settings, &variant)?;
    let space = &store.space;
    let (rows, sources) = (settings.rows, settings.rows / DEGREE);
    let mut batch = Batch::new();
    for n in (0..rows).step_by(500) {
        batch.clear();
        vertices(&mut batch, n, 500, false);
        for n in n..n + 500 {
            let (source, target) = (edge_end(n % sources), edge_clustering(n));
            batch.put(OUT, &source, &target, &value::<40>(n));
        }
        space.write(&batch, Durability::Buffered)?;
    }
    space.compact()?;
    let tables = || {
        let statistics = space.statistics();
        let figure = statistics
            .iter()
            .find(|figure| figure.name == "front_frozen_tables");
        figure.map_or(0.0, |figure| figure.value) as u64
    };
    if frozen > 0 {
        // The flusher waits, so that the tables stay; the process ends before it is done.
        fail_point::arm("front.file:pause:3600000")?;
    }
    let mut n = rows;
    while tables() < frozen {
        batch.clear();
        vertices(&mut batch, n, 500, false);
        edges(&mut batch, n, 500, 1 << 40);
        n += 500;
        space.write(&batch, Durability::Buffered)?;
    }
    let name = |what: &str| format!("{what}, {frozen} frozen");
    let key = |n: u64| vertex_key(mix(n) % rows, false);
    let found = |key: &[u8]| space.get_with(VERTICES, key, b"", &mut |_| ());
    repeat(settings, &variant, &name("get"), "gets", |n| {
        Ok(u64::from(found(&key(n))?))
    })?;
    repeat(settings, &variant, &name("absent"), "gets", |n| {
        Ok(u64::from(!found(&vertex_key(1 << 40 | n, false))?))
    })?;
    if frozen > 0 {
        let written = n - rows;
        repeat(settings, &variant, &name("get in front"), "gets", |n| {
            Ok(u64::from(found(&vertex_key(
                rows + mix(n) % written,
                false,
            ))?))
        })?;
    }
    let range = ClusteringRange::all();
    repeat(settings, &variant, &name("scan 10"), "edges", |n| {
        let partition = edge_end(mix(n) % sources);
        let mut rows = 0;
        let request = ScanRequest {
            table: OUT,
            partition: &partition,
            range: &range,
            reverse: false,
        };
        space.scan(request, &mut |_, _| {
            rows += 1;
            Flow::Continue(())
        })?;
        Ok(rows)
    })?;
    if frozen > 0 {
        // Not dropped: that would wait for the flusher.
        std::mem::forget(store);
    }
    Ok(())
}

/// Copies the files of a space; returns the bytes of its logs.
fn copy_files(from: &Path, to: &Path) -> Outcome<u64> {
    std::fs::create_dir(to)?;
    let mut log_bytes = 0;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            log_bytes += copy_files(&entry.path(), &to)?;
            continue;
        }
        let copied = std::fs::copy(entry.path(), to);
        let path = entry.path();
        let kind = path.extension().and_then(|kind| kind.to_str());
        // A compaction may remove a file that was listed.
        if matches!(kind, Some("log" | "front")) {
            log_bytes += copied?;
        }
    }
    Ok(log_bytes)
}

/// How long a store takes to open: closed in order, and as a crash leaves it with its log
/// unflushed.
fn open_case(settings: &Settings, variant: &Variant) -> Outcome<()> {
    let Store {
        space,
        _engine: engine,
        _dir: dir,
    } = open(settings, variant)?;
    let mut batch = Batch::new();
    let mut fill = |space: &Arc<dyn Space>, from: u64, to: u64| {
        for n in (from..to).step_by(200) {
            batch.clear();
            vertices(&mut batch, n, 200, false);
            space.write(&batch, Durability::Buffered)?;
        }
        Ok::<_, varve_kv::KvError>(())
    };
    fill(&space, 0, settings.rows)?;
    space.compact()?;
    let watch = Stopwatch::start();
    drop(space);
    let closed = watch.wall();
    let watch = Stopwatch::start();
    let space = engine.open("raw", TABLES, false)?;
    let opened = watch.wall();
    fill(&space, settings.rows, settings.rows + 1_000_000)?;
    let image = tempfile::tempdir_in(&settings.dir)?;
    let log_bytes = copy_files(&dir.path().join("raw"), &image.path().join("raw"))?;
    let crashed = RocksEngine::open(&RocksConfig {
        memory_bytes: variant.memory_bytes,
        front: variant.front.clone(),
        tuning: variant.tuning.clone(),
        ..RocksConfig::new(image.path())
    })?;
    let watch = Stopwatch::start();
    let recovered = crashed.open("raw", TABLES, false)?;
    println!(
        "open | {:20} | {:.2} M rows | closed {closed:.3} s | opened {opened:.3} s | after a crash with {} MiB of log {:.3} s",
        variant.name,
        settings.rows as f64 / 1e6,
        log_bytes >> 20,
        watch.wall(),
    );
    drop((recovered, space));
    Ok(())
}

fn main() -> Outcome<()> {
    let settings = settings()?;
    for frozen in [0, 1, 4] {
        let asked = format!("tiers {frozen}");
        if settings.filters.contains(&asked) {
            return tier_cases(&settings, frozen);
        }
    }
    for variant in variants() {
        let wanted = |case: &str| {
            let name = format!("{} / {case}", variant.name);
            settings.filters.is_empty()
                || settings
                    .filters
                    .iter()
                    .any(|filter| name.contains(filter.as_str()))
        };
        for case in &WRITES {
            if wanted(&format!("write {}", case.name)) {
                write_case(&settings, &variant, case)?;
            }
        }
        if wanted("open") {
            open_case(&settings, &variant)?;
        }
        if wanted("read") {
            read_cases(&settings, &variant)?;
        }
        for degree in [10, 100] {
            if wanted(&format!("scan {degree}")) {
                scan_cases(&settings, &variant, degree)?;
            }
        }
    }
    Ok(())
}
