//! The ceilings of the engines: RocksDB alone and our own engine, with the bytes that the server's
//! engine got.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::{Result, anyhow, ensure};
use varve_encoding::{key, tables};
use varve_kv::{Batch, Durability, Engine as _, Space, TableId};
use varve_kv_rocksdb::{FrontTable, RocksConfig, RocksEngine};
use varve_model::{Direction, EdgeId, VertexId};

use super::scenarios::{Measure, sizes};
use super::{Options, SEED, naming};
use crate::api::payload::VertexKind;
use crate::api::result::Measured;
use crate::api::scenario::{GraphAddress, Scenario, Sizes};
use crate::owned::Folder;
use crate::process;
use crate::random::{Random, mix};

/// The two engines, each with a space of its own.
pub(super) struct Engines {
    pub(super) spaces: Vec<(&'static str, Arc<dyn Space>)>,
    _engines: Vec<RocksEngine>,
    _directories: Vec<Folder>,
}

impl Engines {
    pub(super) fn open() -> Result<Self> {
        let (mut spaces, mut engines, mut directories) = (Vec::new(), Vec::new(), Vec::new());
        for name in ["rocksdb", "front table"] {
            let directory = Folder::new()?;
            let mut config = RocksConfig::new(directory.path());
            if name == "rocksdb" {
                config.front = FrontTable::Off;
            }
            let engine = RocksEngine::open(&config)?;
            let space = engine.open("ceiling", tables::TABLES, true)?;
            spaces.push((name, space));
            engines.push(engine);
            directories.push(directory);
        }
        Ok(Self {
            spaces,
            _engines: engines,
            _directories: directories,
        })
    }
}

/// Runs `work` on this number of threads, each with its number, and measures this process.
fn measure(
    items: u64,
    threads: usize,
    work: impl Fn(usize) -> Result<()> + Sync,
) -> Result<Measured> {
    let (cpu, started) = (process::own_cpu_time(), Instant::now());
    std::thread::scope(|scope| {
        let work = &work;
        let running: Vec<_> = (0..threads)
            .map(|at| scope.spawn(move || work(at)))
            .collect();
        running
            .into_iter()
            .try_for_each(|thread| thread.join().map_err(|_| anyhow!("a thread panicked"))?)
    })?;
    let elapsed_s = started.elapsed().as_secs_f64().max(1e-9);
    let cpu_s = process::own_cpu_time().saturating_sub(cpu).as_secs_f64();
    Ok(Measured {
        items,
        elapsed_s,
        cpu_s,
        items_per_s: items as f64 / elapsed_s,
        cpu_us_per_item: cpu_s * 1e6 / items.max(1) as f64,
        ..Measured::default()
    })
}

/// Writes a scenario's batches to an engine.
pub(super) fn write_engine(
    space: &Arc<dyn Space>,
    what: &Measure,
    batches: &[Batch],
    options: &Options,
) -> Result<Measured> {
    // Writers that wait for a sync at the same time share it, like the server's users.
    let (durability, threads) = match options.durability.as_str() {
        "sync" => (Durability::Sync, what.users as usize),
        _ => (Durability::Buffered, options.engine_threads),
    };
    let items =
        u64::from(what.scenario.items(&sizes(options.percent))) * what.count(options.percent);
    let next = AtomicUsize::new(0);
    measure(items, threads, |_| {
        while let Some(batch) = batches.get(next.fetch_add(1, Ordering::Relaxed)) {
            space.write(batch, durability)?;
        }
        Ok(())
    })
}

/// A row: its table, partition key and clustering key.
pub(super) type RowKey = (TableId, Vec<u8>, Vec<u8>);

/// The keys of the rows that answer a scenario's requests, chosen in the same way.
pub(super) fn read_keys(
    what: &Measure,
    sizes: &Sizes,
    place: &GraphAddress,
    percent: u64,
) -> Result<Vec<RowKey>> {
    let mut random = Random::new(mix(SEED));
    (0..what.count(percent))
        .map(|_| match what.scenario {
            Scenario::EdgeById => edge_key(random.below(sizes.edges), sizes.vertices, place),
            _ => Ok(vertex_key(random.below(sizes.vertices))),
        })
        .collect()
}

/// Reads rows from an engine.
pub(super) fn read_engine(
    space: &Arc<dyn Space>,
    keys: &[RowKey],
    threads: usize,
) -> Result<Measured> {
    measure(keys.len() as u64, threads, |thread| {
        for (table, partition, clustering) in keys.iter().skip(thread).step_by(threads) {
            let found = space.get_with(*table, partition, clustering, &mut |_| {})?;
            ensure!(found, "the engine misses a row that was written");
        }
        Ok(())
    })
}

fn text_id(number: u64) -> VertexId {
    VertexId::text(&String::from_utf8_lossy(
        &naming().id(VertexKind::Plain, number),
    ))
}

fn vertex_key(number: u64) -> RowKey {
    let id = key::vertex_id(&text_id(number));
    (tables::VERTEX, id, key::VERTEX_CLUSTERING.to_vec())
}

fn edge_key(number: u64, vertices: u64, place: &GraphAddress) -> Result<RowKey> {
    let (source, target) = naming().ends(number, vertices);
    let middle = place.edge_middle.replace("%3E", ">");
    let id = |number| String::from_utf8_lossy(&naming().id(VertexKind::Plain, number)).into_owned();
    let text = format!("S{}{middle}S{}", id(source), id(target));
    let id = EdgeId::parse(&text).map_err(|error| anyhow!("{text}: {error}"))?;
    let clustering = key::edge_clustering(&id, Direction::Out);
    Ok((tables::EDGE, key::vertex_id(&id.source), clustering))
}
