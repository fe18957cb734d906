//! Measures the storage engine alone, with rows of the sizes that graphs have, and compares
//! options.
//!
//! `raw_figures [--seconds N] [--rows N] [--dir PATH] [part of a case's name ...]`
//!
//! Writes: batches of 200 vertices (key 24 bytes, value 120) and of 500 edges (two rows each: key
//! 40, value 40), with hashed or ascending keys. `tiers 0`, `tiers 1` and `tiers 4` read with that
//! number of frozen front tables. "drained" includes all flushes and compactions. Results per
//! CPU-second (of all threads of the process) are valid on a busy machine, too. Results by wall
//! time are valid only on an idle one.

mod reads;
mod rows;
mod writes;

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

use reads::{read_cases, scan_cases, tier_cases};
use rows::{edge_clustering, edge_end, edges, mix, value, vertex_key, vertices};
use writes::{WRITES, open_case, write_case};

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

impl Variant {
    fn with(name: &'static str, change: fn(&mut Tuning)) -> Self {
        let mut variant = Self {
            name,
            memory_bytes: 768 << 20,
            front: FrontTable::Off,
            tuning: Tuning::default(),
        };
        change(&mut variant.tuning);
        variant
    }

    fn chosen(name: &'static str) -> Self {
        Self::with(name, |_| ())
    }

    fn with_front(name: &'static str, change: fn(&mut Tuning)) -> Self {
        Self {
            front: FrontTable::Share(64 << 20),
            ..Self::with(name, change)
        }
    }
}

fn variants() -> Vec<Variant> {
    let mut variants = vec![Variant::chosen("chosen")];
    variants.extend(front_variants());
    variants.extend(engine_variants());
    variants
}

/// Variants with a front table.
fn front_variants() -> Vec<Variant> {
    let with = Variant::with_front;
    vec![
        with("front", |_| ()),
        with("front, no compression", |t| t.compress = false),
        with("front, 8 runs", |t| {
            t.runs_loading = 8;
            t.runs_inserting = 8;
        }),
        with("front, levels of 4 files", |t| {
            t.tiers = false;
            t.level0_compact_front = 4;
        }),
        with("front, levels of 12 files", |t| {
            t.tiers = false;
            t.level0_compact_front = 12;
        }),
    ]
}

/// Variants of RocksDB alone.
fn engine_variants() -> Vec<Variant> {
    let with = Variant::with;
    vec![
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
            memory_bytes: 64 << 20,
            ..Variant::chosen("memory 64M")
        },
        Variant {
            memory_bytes: 4 << 30,
            ..Variant::chosen("memory 4G")
        },
    ]
}

fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Measures wall and CPU seconds since its creation.
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
