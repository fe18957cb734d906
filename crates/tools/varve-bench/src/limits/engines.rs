//! The limits of the engines: RocksDB alone and our own engine, with the bytes that the server's
//! engine got.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::{Result, anyhow, ensure};
use varve_encoding::{key, tables};
use varve_kv::{Batch, Durability, Engine as _, Space, TableId};
use varve_kv_rocksdb::{FrontTable, RocksConfig, RocksEngine};
use varve_model::{Direction, EdgeId, VertexId};

use super::scenarios::Measure;
use crate::api::payload::{Naming, VertexKind};
use crate::api::scenario::{Data, GraphAddress, Scenario};
use crate::environment;
use crate::owned::Folder;
use crate::process;
use crate::random::Random;
use crate::result::{Columns, Cpu, Load, Model, More, Row};

/// An engine with a space of its own.
pub(super) struct BareEngine {
    space: Arc<dyn Space>,
    _engine: RocksEngine,
    _folder: Folder,
}

impl BareEngine {
    /// Opens an empty store, with the front table or without.
    pub(super) fn open(has_front: bool) -> Result<Self> {
        let folder = Folder::new()?;
        let mut config = RocksConfig::new(folder.path());
        if !has_front {
            config.front = FrontTable::Off;
        }
        let engine = RocksEngine::open(&config)?;
        Ok(Self {
            space: engine.open("limit", tables::TABLES, true)?,
            _engine: engine,
            _folder: folder,
        })
    }

    pub(super) fn settle(&self) -> Result<()> {
        Ok(self.space.compact()?)
    }

    /// Writes batches, each of a request with this number of elements.
    pub(super) fn write(
        &self,
        batches: &[Batch],
        items: u32,
        durability: Durability,
        threads: usize,
    ) -> Result<Row> {
        let next = AtomicUsize::new(0);
        measure(batches.len() as u64, items, threads, || {
            while let Some(batch) = batches.get(next.fetch_add(1, Ordering::Relaxed)) {
                self.space.write(batch, durability)?;
            }
            Ok(())
        })
    }

    /// Reads rows, on one thread.
    pub(super) fn read(&self, keys: &[RowKey]) -> Result<Row> {
        measure(keys.len() as u64, 1, 1, || {
            for (table, partition, clustering) in keys {
                let found = (self.space).get_with(*table, partition, clustering, &mut |_| {})?;
                ensure!(found, "the engine misses a row that was written");
            }
            Ok(())
        })
    }
}

/// Runs `work` on this number of threads, and measures this process.
fn measure(
    requests: u64,
    items: u32,
    threads: usize,
    work: impl Fn() -> Result<()> + Sync,
) -> Result<Row> {
    let started = environment::now();
    let (cpu, from) = (process::own_cpu_time(), Instant::now());
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(&work)).collect();
        running
            .into_iter()
            .try_for_each(|thread| thread.join().map_err(|_| anyhow!("a thread panicked"))?)
    })?;
    let elapsed_s = from.elapsed().as_secs_f64().max(1e-9);
    let cpu_s = process::own_cpu_time().saturating_sub(cpu).as_secs_f64();
    let throughput = requests as f64 / elapsed_s;
    Ok(Row {
        load: Load {
            model: Model::Closed,
            users: threads as u32,
            hold_s: elapsed_s,
            ..Load::default()
        },
        items_per_request: items,
        started,
        elapsed_s,
        columns: Columns {
            samples: requests,
            throughput,
            ..Columns::default()
        },
        more: More {
            items_per_s: throughput * f64::from(items),
            ..More::default()
        },
        cpu: Cpu::of(Some(cpu_s), 0.0, requests, requests * u64::from(items)),
        ..Row::default()
    })
}

/// A row: its table, partition key and clustering key.
pub(super) type RowKey = (TableId, Vec<u8>, Vec<u8>);

/// The keys of the rows that answer `count` requests of a read, chosen in the same way.
pub(super) fn read_keys(
    what: &Measure,
    data: &Data,
    place: &GraphAddress,
    count: u64,
    seed: u64,
) -> Result<Vec<RowKey>> {
    let (naming, sizes, mut random) = (&data.naming, &data.sizes, Random::new(seed));
    (0..count)
        .map(|_| match what.scenario {
            Scenario::EdgeById => {
                edge_key(naming, random.below(sizes.edges), sizes.vertices, place)
            }
            _ => Ok(vertex_key(naming, random.below(sizes.vertices))),
        })
        .collect()
}

fn text_id(naming: &Naming, number: u64) -> String {
    String::from_utf8_lossy(&naming.id(VertexKind::Plain, number)).into_owned()
}

fn vertex_key(naming: &Naming, number: u64) -> RowKey {
    let id = key::vertex_id(&VertexId::text(&text_id(naming, number)));
    (tables::VERTEX, id, key::VERTEX_CLUSTERING.to_vec())
}

fn edge_key(naming: &Naming, number: u64, vertices: u64, place: &GraphAddress) -> Result<RowKey> {
    let (source, target) = naming.ends(number, vertices);
    let middle = place.edge_middle.replace("%3E", ">");
    let (source, target) = (text_id(naming, source), text_id(naming, target));
    let text = format!("S{source}{middle}S{target}");
    let id = EdgeId::parse(&text).map_err(|error| anyhow!("{text}: {error}"))?;
    let clustering = key::edge_clustering(&id, Direction::Out);
    Ok((tables::EDGE, key::vertex_id(&id.source), clustering))
}
