//! Measures the compaction of sorted files of edges, and reads before and after it, under different
//! options of RocksDB.
//!
//! ```text
//! merge_figures [--runs N] [--rows N] [--reads N] [--repeat N] [--dir PATH]
//!   [part of a variant's name ...]
//! ```
//!
//! The rows are those of edges, two per edge, in one table: a partition for each vertex, about ten
//! outgoing and ten incoming edges; keys of 29 bytes and values of 20. `--runs` front tables of
//! `--rows` rows are each flushed to a file, and then compacted to one run. Results are processor
//! time in microseconds, the least of all repetitions, since other work on the machine can only
//! lengthen it. "writing" is the writer's thread, "flushing" all other threads meanwhile. Reads use
//! a cache that has all blocks ("warm"), or one too small for them ("cold": the blocks are in the
//! system's page cache).

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rust_rocksdb::{BlockBasedOptions, Options};
use rustix::time::{ClockId, clock_gettime};
use varve_kv::{Batch, ClusteringRange, Durability, Engine, Flow, ScanRequest, Space};
use varve_kv::{TableId, TableSpec};
use varve_kv_front::FrontOptions;
use varve_kv_rocksdb::{FrontTable, RocksConfig, RocksEngine, Tuning};

type Outcome<T> = Result<T, Box<dyn Error>>;

const EDGES: TableId = TableId(0);

static TABLES: &[TableSpec] = &[TableSpec {
    name: "edge",
    partition_len: |key| {
        let length = 1 + usize::from(key.first()?.checked_sub(ID_TAG)?);
        (key.len() >= length).then_some(length)
    },
    point_reads: false,
    probed: None,
    cold: false,
}];

/// The byte before an id, to which the id's length is added.
const ID_TAG: u8 = 0x40;
const ID_BYTES: usize = 9;
const BATCH_EDGES: u64 = 500;
/// The approximate number of outgoing edges of a vertex.
const DEGREE: u64 = 10;
/// Memory of the engine for writes, compactions and warm reads, and for cold reads.
const MEMORY: u64 = 2 << 30;
const MEMORY_COLD: u64 = 64 << 20;

struct Settings {
    runs: u64,
    rows: u64,
    reads: u64,
    repeat: u32,
    dir: PathBuf,
    filters: Vec<String>,
}

fn settings() -> Outcome<Settings> {
    let mut settings = Settings {
        runs: 32,
        rows: 100_000,
        reads: 50_000,
        repeat: 3,
        dir: std::env::temp_dir(),
        filters: Vec::new(),
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--runs" => settings.runs = value()?.parse()?,
            "--rows" => settings.rows = value()?.parse()?,
            "--reads" => settings.reads = value()?.parse()?,
            "--repeat" => settings.repeat = value()?.parse()?,
            "--dir" => settings.dir = value()?.into(),
            _ => settings.filters.push(argument),
        }
    }
    Ok(settings)
}

/// A set of options, given by its differences from the default.
struct Variant {
    name: &'static str,
    tuning: Tuning,
}

fn variants() -> Vec<Variant> {
    let with = |name, change: fn(&mut Tuning)| {
        let mut tuning = Tuning {
            runs_loading: 10_000,
            runs_quiet: 10_000,
            ..Tuning::default()
        };
        change(&mut tuning);
        Variant { name, tuning }
    };
    let table = |name, alter: fn(&mut Options, &mut BlockBasedOptions)| {
        let mut variant = with(name, |_| ());
        variant.tuning.alter_table = alter;
        variant
    };
    let space = |name, alter: fn(&mut Options)| {
        let mut variant = with(name, |_| ());
        variant.tuning.alter_space = alter;
        variant
    };
    vec![
        with("chosen", |_| ()),
        with("block 4K", |it| it.block_bytes = 4 << 10),
        with("block 8K", |it| it.block_bytes = 8 << 10),
        with("block 16K", |it| it.block_bytes = 16 << 10),
        with("block 32K", |it| it.block_bytes = 32 << 10),
        table("restart 8", |_, it| it.set_block_restart_interval(8)),
        table("restart 16", |_, it| it.set_block_restart_interval(16)),
        table("restart 32", |_, it| it.set_block_restart_interval(32)),
        table("LZ4 x1", |it, _| it.set_compression_options(-14, -1, 0, 0)),
        table("LZ4 x4", |it, _| it.set_compression_options(-14, -4, 0, 0)),
        table("LZ4 x16", |it, _| {
            it.set_compression_options(-14, -16, 0, 0);
        }),
        with("no LZ4", |it| it.compress = false),
        space("merged by 1 thread", |it| it.set_max_subcompactions(1)),
        space("merged by 2 threads", |it| it.set_max_subcompactions(2)),
        space("read 256K ahead", |it| {
            it.set_compaction_readahead_size(256 << 10);
        }),
        space("read 512K ahead", |it| {
            it.set_compaction_readahead_size(512 << 10);
        }),
        space("read 2M ahead", |it| {
            it.set_compaction_readahead_size(2 << 20);
        }),
        table("pieces 16K", |_, it| it.set_metadata_block_size(16 << 10)),
        table("plain index", |_, it| {
            it.set_enable_index_compression(false)
        }),
        table("values apart", |_, it| {
            it.set_separate_key_value_in_data_block(true);
        }),
        with("filter 8 bits", |it| it.filter_bits = 8.0),
        with("whole filters", |it| it.partition_filters = false),
        table("no keys in filters", |_, it| {
            it.set_whole_key_filtering(false)
        }),
    ]
}

fn seconds(clock: ClockId) -> f64 {
    let time = clock_gettime(clock);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Measures the processor time of the process and of this thread since its creation.
struct Stopwatch {
    process: f64,
    thread: f64,
}

impl Stopwatch {
    fn start() -> Self {
        Self {
            process: seconds(ClockId::ProcessCPUTime),
            thread: seconds(ClockId::ThreadCPUTime),
        }
    }

    fn process(&self) -> f64 {
        seconds(ClockId::ProcessCPUTime) - self.process
    }

    fn thread(&self) -> f64 {
        seconds(ClockId::ThreadCPUTime) - self.thread
    }
}

/// Spreads numbers over all 64 bits, one to one.
fn mix(number: u64) -> u64 {
    let mut bits = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    bits ^ (bits >> 32)
}

/// A vertex's partition key.
fn vertex(number: u64) -> [u8; 1 + ID_BYTES] {
    let mut key = [b'v'; 1 + ID_BYTES];
    key[0] = ID_TAG + ID_BYTES as u8;
    let digits = format!("{:08x}", mix(number) as u32);
    key[2..].copy_from_slice(digits.as_bytes());
    key
}

const OUT: u8 = 1;
const IN: u8 = 2;

/// The clustering key of an edge on one of its sides: direction, label, no other label, no sort
/// values, the other end.
fn edge(direction: u8, other: u64) -> [u8; 19] {
    let mut key = [0; 19];
    key[0] = direction;
    key[4] = 1;
    key[9..].copy_from_slice(&vertex(other));
    key
}

/// A head with the commit version, equal for all rows of a batch, and one property.
fn value(number: u64) -> [u8; 20] {
    let mut value = [0; 20];
    value[1..9].copy_from_slice(&(0x0006_4000_0000_0000 + number / BATCH_EDGES).to_be_bytes());
    value[9..18].copy_from_slice(b"\x01\x03\x02\x08since");
    value[18..].copy_from_slice(&(mix(number) as u16).to_be_bytes());
    value
}

/// The ends of edge `number`.
fn ends(number: u64, vertices: u64) -> (u64, u64) {
    (mix(number) % vertices, mix(number ^ 0x5555_5555) % vertices)
}

struct Store {
    space: Arc<dyn Space>,
    _engine: RocksEngine,
}

fn open(dir: &Path, variant: &Variant, memory_bytes: u64) -> Outcome<Store> {
    let config = RocksConfig {
        memory_bytes,
        front: FrontTable::With(FrontOptions {
            // Flushed only by closing, so that each run has exactly `--rows` rows.
            table_bytes: 1 << 30,
            ..FrontOptions::default()
        }),
        tuning: variant.tuning.clone(),
        ..RocksConfig::new(dir)
    };
    let engine = RocksEngine::open(&config)?;
    let space = engine.open("merged", TABLES, true)?;
    Ok(Store {
        space,
        _engine: engine,
    })
}

/// The results of one repetition.
#[derive(Debug, Clone, Copy)]
struct Figures {
    /// Microseconds per row: writer, flush, compaction.
    write: f64,
    flush: f64,
    merge: f64,
    /// Microseconds per read of a row, and of a list of about twenty: from many runs, and from one
    /// run with a warm and a cold cache.
    runs: [f64; 2],
    warm: [f64; 2],
    cold: [f64; 2],
    /// Bytes of files per row, before and after compaction.
    bytes: [f64; 2],
}

impl Figures {
    fn least(self, other: Self) -> Self {
        let pair = |one: [f64; 2], other: [f64; 2]| [one[0].min(other[0]), one[1].min(other[1])];
        Self {
            write: self.write.min(other.write),
            flush: self.flush.min(other.flush),
            merge: self.merge.min(other.merge),
            runs: pair(self.runs, other.runs),
            warm: pair(self.warm, other.warm),
            cold: pair(self.cold, other.cold),
            bytes: other.bytes,
        }
    }
}

fn sst_bytes(space: &dyn Space) -> f64 {
    let statistics = space.statistics();
    let figure = statistics.iter().find(|it| it.name == "sst_bytes");
    figure.map_or(0.0, |it| it.value)
}

/// Returns the microseconds for reading an edge, and the edges of a vertex. Each `turn` reads
/// different rows, so that none is in the row cache.
fn read(space: &dyn Space, settings: &Settings, edges: u64, turn: u64) -> Outcome<[f64; 2]> {
    let vertices = edges / DEGREE;
    let get = |n: u64| {
        let (source, target) = ends(mix(n ^ turn << 32) % edges, vertices);
        space.get_with(EDGES, &vertex(source), &edge(OUT, target), &mut |_| ())
    };
    let range = ClusteringRange::all();
    let scan = |n: u64| {
        let partition = vertex(mix(n) % vertices);
        let request = ScanRequest {
            table: EDGES,
            partition: &partition,
            range: &range,
            reverse: false,
        };
        let mut rows = 0u64;
        space
            .scan(request, &mut |_, _| {
                rows += 1;
                Flow::Continue(())
            })
            .map(|()| rows)
    };
    for n in 0..settings.reads / 2 {
        scan(n + settings.reads)?;
    }
    let watch = Stopwatch::start();
    for n in 0..settings.reads {
        if !get(n)? {
            return Err("an edge is missing".into());
        }
    }
    let gets = watch.thread();
    let watch = Stopwatch::start();
    let mut rows = 0;
    for n in 0..settings.reads {
        rows += scan(n)?;
    }
    let scans = watch.thread();
    if rows < settings.reads * DEGREE {
        return Err("edges are missing".into());
    }
    let each = 1e6 / settings.reads as f64;
    Ok([gets * each, scans * each])
}

fn measure(settings: &Settings, variant: &Variant) -> Outcome<Figures> {
    let dir = tempfile::tempdir_in(&settings.dir)?;
    let rows = (settings.runs * settings.rows) as f64;
    let edges = settings.runs * settings.rows / 2;
    let vertices = edges / DEGREE;
    let mut batch = Batch::new();
    let (mut write, mut flush, mut number) = (0.0, 0.0, 0);
    for run in 1..=settings.runs {
        let store = open(dir.path(), variant, MEMORY)?;
        let watch = Stopwatch::start();
        while number < edges * run / settings.runs {
            batch.clear();
            for n in number..number + BATCH_EDGES {
                let ((source, target), value) = (ends(n, vertices), value(n));
                batch.put(EDGES, &vertex(source), &edge(OUT, target), &value);
                batch.put(EDGES, &vertex(target), &edge(IN, source), &value);
            }
            number += BATCH_EDGES;
            store.space.write(&batch, Durability::Buffered)?;
        }
        let writer = watch.thread();
        drop(store);
        write += writer;
        flush += watch.process() - writer;
    }
    let store = open(dir.path(), variant, MEMORY)?;
    let space = &*store.space;
    let flushed = sst_bytes(space);
    let runs = read(space, settings, edges, 1)?;
    let watch = Stopwatch::start();
    space.compact()?;
    let merge = watch.process();
    let merged = sst_bytes(space);
    let warm = read(space, settings, edges, 2)?;
    drop(store);
    let store = open(dir.path(), variant, MEMORY_COLD)?;
    let cold = read(&*store.space, settings, edges, 3)?;
    Ok(Figures {
        write: write * 1e6 / rows,
        flush: flush * 1e6 / rows,
        merge: merge * 1e6 / rows,
        runs,
        warm,
        cold,
        bytes: [flushed / rows, merged / rows],
    })
}

fn main() -> Outcome<()> {
    let settings = settings()?;
    let wanted = |variant: &Variant| {
        let named = |filter: &String| variant.name.contains(filter.as_str());
        settings.filters.is_empty() || settings.filters.iter().any(named)
    };
    let variants: Vec<Variant> = variants().into_iter().filter(wanted).collect();
    // In turns, so that a busy moment does not affect only one variant.
    let mut least: Vec<Option<Figures>> = vec![None; variants.len()];
    for _ in 0..settings.repeat {
        for (variant, least) in variants.iter().zip(&mut least) {
            let figures = measure(&settings, variant)?;
            eprintln!("{}: {figures:.2?}", variant.name);
            *least = Some(least.map_or(figures, |least| least.least(figures)));
        }
    }
    println!(
        "| options | writing | flushing | merging | row, list of many runs | row, list, warm | row, list, cold | bytes flushed, merged |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|");
    for (variant, figures) in variants.iter().zip(&least) {
        let Some(it) = figures else { continue };
        let pair = |[one, other]: [f64; 2]| format!("{one:.2}, {other:.2}");
        println!(
            "| {} | {:.3} | {:.3} | {:.3} | {} | {} | {} | {:.1}, {:.1} |",
            variant.name,
            it.write,
            it.flush,
            it.merge,
            pair(it.runs),
            pair(it.warm),
            pair(it.cold),
            it.bytes[0],
            it.bytes[1],
        );
    }
    Ok(())
}
