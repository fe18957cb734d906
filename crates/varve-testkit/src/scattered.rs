//! The in-memory engine with partitions as in a cluster: in the order of a hash, and separate
//! whatever their keys are. A sweep of a batch also works as on a cluster: it removes everything
//! between rows that the batch deletes one after another.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};
use std::sync::Arc;

use parking_lot::Mutex;
use varve_kv::{
    Batch, Capabilities, ClusteringRange, Durability, Engine, EngineLayer, Flow, KvError,
    MemoryEngine, Op, Reader, Row, ScanRequest, Space, SpaceLayer, Sweep, TableId, TableSpec,
};

/// The length of the prefix of a partition's key in bytes: its hash and its length.
const BEFORE: usize = 10;

/// The engine.
#[derive(Default)]
pub struct ScatteredEngine {
    inner: MemoryEngine,
}

impl ScatteredEngine {
    /// An engine without spaces.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

fn stored(partition: &[u8]) -> Vec<u8> {
    let mut hasher = DefaultHasher::new();
    hasher.write(partition);
    let mut key = hasher.finish().to_be_bytes().to_vec();
    key.extend_from_slice(&u16::try_from(partition.len()).unwrap().to_be_bytes());
    key.extend_from_slice(partition);
    key
}

fn stored_len(bytes: &[u8]) -> Option<usize> {
    let length = u16::from_be_bytes([*bytes.get(8)?, *bytes.get(9)?]);
    let length = BEFORE + usize::from(length);
    (bytes.len() >= length).then_some(length)
}

fn stored_specs(tables: &'static [TableSpec]) -> &'static [TableSpec] {
    type Made = (&'static [TableSpec], &'static [TableSpec]);
    static MADE: Mutex<Vec<Made>> = Mutex::new(Vec::new());
    let mut made = MADE.lock();
    if let Some((_, specs)) = made.iter().find(|(of, _)| std::ptr::eq(*of, tables)) {
        return specs;
    }
    let specs = tables.iter().map(|spec| TableSpec {
        partition_len: stored_len,
        ..*spec
    });
    let specs: &'static [TableSpec] = specs.collect::<Vec<_>>().leak();
    made.push((tables, specs));
    specs
}

impl EngineLayer for ScatteredEngine {
    fn engine(&self) -> &dyn Engine {
        &self.inner
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::local("scattered")
    }

    fn open(
        &self,
        name: &str,
        tables: &'static [TableSpec],
        create: bool,
    ) -> Result<Arc<dyn Space>, KvError> {
        let inner = self.inner.open(name, stored_specs(tables), create)?;
        Ok(Arc::new(ScatteredSpace(inner)))
    }
}

struct ScatteredSpace(Arc<dyn Space>);

impl ScatteredSpace {
    /// Removes the stored rows between rows that the batch deletes one after another, if it puts
    /// none between them.
    fn sweep(&self, batch: &Batch, sweep: &Sweep, scattered: &mut Batch) -> Result<(), KvError> {
        let mut puts: BTreeMap<&[u8], bool> = BTreeMap::new();
        for op in batch.ops() {
            let (table, partition, key, is_put) = match op {
                Op::Put {
                    table,
                    partition,
                    clustering,
                    ..
                } => (table, partition, clustering, true),
                Op::Delete {
                    table,
                    partition,
                    clustering,
                } => (table, partition, clustering, false),
                Op::DeletePrefix { .. } => continue,
            };
            if table == sweep.table && partition == sweep.partition && sweep.range.contains(key) {
                puts.insert(key, is_put);
            }
        }
        let rows: Vec<(&[u8], bool)> = puts.into_iter().collect();
        let partition = stored(&sweep.partition);
        for run in rows.chunk_by(|a, b| a.1 == b.1) {
            let [(first, false), .., (last, false)] = run else {
                continue;
            };
            let range = ClusteringRange {
                from: first.to_vec(),
                to: Some(last.to_vec()),
            };
            let request = ScanRequest {
                table: sweep.table,
                partition: &partition,
                range: &range,
                reverse: false,
            };
            self.0.scan(request, &mut |key, _| {
                scattered.delete(sweep.table, &partition, key);
                Flow::Continue(())
            })?;
        }
        Ok(())
    }
}

impl Reader for ScatteredSpace {
    fn get_with(
        &self,
        table: TableId,
        partition: &[u8],
        clustering: &[u8],
        found: &mut dyn FnMut(&[u8]),
    ) -> Result<bool, KvError> {
        self.0
            .get_with(table, &stored(partition), clustering, found)
    }

    fn scan(
        &self,
        request: ScanRequest<'_>,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
    ) -> Result<(), KvError> {
        let partition = stored(request.partition);
        let partition = partition.as_slice();
        self.0.scan(
            ScanRequest {
                partition,
                ..request
            },
            visit,
        )
    }

    fn scan_table(
        &self,
        table: TableId,
        after: Option<(&[u8], &[u8])>,
        visit: &mut dyn FnMut(Row<'_>) -> Flow,
    ) -> Result<(), KvError> {
        let after = after.map(|(partition, clustering)| (stored(partition), clustering));
        let after = after
            .as_ref()
            .map(|(partition, clustering)| (partition.as_slice(), *clustering));
        self.0.scan_table(table, after, &mut |row| {
            visit(Row {
                partition: &row.partition[BEFORE..],
                ..row
            })
        })
    }

    fn partition_order(&self, _table: TableId, partition: &[u8]) -> Vec<u8> {
        stored(partition)
    }

    /// Returns every second partition key.
    fn cuts(&self, table: TableId) -> Vec<Vec<u8>> {
        let mut all: Vec<Vec<u8>> = Vec::new();
        let scanned = self.scan_table(table, None, &mut |row| {
            if all.last().is_none_or(|last| last != row.partition) {
                all.push(row.partition.to_vec());
            }
            Flow::Continue(())
        });
        scanned.expect("a store in memory");
        all.into_iter().step_by(2).collect()
    }
}

impl SpaceLayer for ScatteredSpace {
    fn space(&self) -> &dyn Space {
        &*self.0
    }

    fn write(&self, batch: &Batch, durability: Durability) -> Result<(), KvError> {
        let mut scattered = Batch::new();
        for sweep in batch.sweeps() {
            self.sweep(batch, sweep, &mut scattered)?;
        }
        for op in batch.ops() {
            match op {
                Op::Put {
                    table,
                    partition,
                    clustering,
                    value,
                } => {
                    scattered.put(table, &stored(partition), clustering, value);
                }
                Op::Delete {
                    table,
                    partition,
                    clustering,
                } => scattered.delete(table, &stored(partition), clustering),
                Op::DeletePrefix {
                    table,
                    partition,
                    prefix,
                } => scattered.delete_prefix(table, &stored(partition), prefix),
            }
        }
        self.0.write(&scattered, durability)
    }

    fn snapshot(self: Arc<Self>) -> Option<Arc<dyn Reader>> {
        None
    }
}
