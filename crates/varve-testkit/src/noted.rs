//! Any engine, with a note of each look that is taken into it: which table, and whether for a row
//! or through a partition.
//!
//! Unlike [`WatchedEngine`](crate::WatchedEngine) it is what its engine is, committed states
//! included: what is noted is what the engine by itself would be asked.

use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use varve_kv::{
    Batch, Capabilities, Durability, Engine, Flow, Isolation, KvError, PartitionRange, Reader, Row,
    ScanRequest, Snapshot, Space, Statistic, TableId, TableSpec,
};

/// The looks into a [`NotedEngine`], by all its spaces together.
#[derive(Default)]
pub struct Looks(Mutex<Vec<String>>);

impl Looks {
    /// The looks since this was asked last, in their order: `get vertex` for a row, `scan event`
    /// through a partition, `scan 2 event` through several with one call.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock())
    }

    fn note(&self, look: String) {
        self.0.lock().push(look);
    }
}

/// The engine.
pub struct NotedEngine {
    inner: Arc<dyn Engine>,
    looks: Arc<Looks>,
}

impl NotedEngine {
    /// Notes the looks into `inner`.
    #[must_use]
    pub fn new(inner: Arc<dyn Engine>) -> (Self, Arc<Looks>) {
        let looks = Arc::new(Looks::default());
        let engine = Self {
            inner,
            looks: Arc::clone(&looks),
        };
        (engine, looks)
    }
}

impl Engine for NotedEngine {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn spaces(&self) -> Result<Vec<String>, KvError> {
        self.inner.spaces()
    }

    fn open(
        &self,
        name: &str,
        tables: &'static [TableSpec],
        create: bool,
    ) -> Result<Arc<dyn Space>, KvError> {
        Ok(Arc::new(Noted {
            inner: self.inner.open(name, tables, create)?,
            tables,
            looks: Arc::clone(&self.looks),
        }))
    }

    fn drop_space(&self, name: &str) -> Result<(), KvError> {
        self.inner.drop_space(name)
    }
}

/// A space, or one of its states.
struct Noted<R: ?Sized> {
    inner: Arc<R>,
    tables: &'static [TableSpec],
    looks: Arc<Looks>,
}

impl<R: ?Sized> Noted<R> {
    fn note(&self, what: &str, table: TableId) {
        let name = self.tables[usize::from(table.0)].name;
        self.looks.note(format!("{what} {name}"));
    }
}

impl<R: Reader + ?Sized> Reader for Noted<R> {
    fn get(
        &self,
        table: TableId,
        partition: &[u8],
        clustering: &[u8],
    ) -> Result<Option<Vec<u8>>, KvError> {
        self.note("get", table);
        self.inner.get(table, partition, clustering)
    }

    fn known_absent(&self, table: TableId, partition: &[u8], clustering: &[u8]) -> bool {
        self.inner.known_absent(table, partition, clustering)
    }

    fn scan(
        &self,
        request: ScanRequest<'_>,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
    ) -> Result<(), KvError> {
        self.note("scan", request.table);
        self.inner.scan(request, visit)
    }

    fn scan_many(
        &self,
        table: TableId,
        ranges: &[PartitionRange<'_>],
        visit: &mut dyn FnMut(usize, &[u8], &[u8]) -> Flow,
    ) -> Result<(), KvError> {
        self.note(&format!("scan {}", ranges.len()), table);
        self.inner.scan_many(table, ranges, visit)
    }

    fn scan_table(
        &self,
        table: TableId,
        after: Option<(&[u8], &[u8])>,
        visit: &mut dyn FnMut(Row<'_>) -> Flow,
    ) -> Result<(), KvError> {
        self.note("scan all of", table);
        self.inner.scan_table(table, after, visit)
    }

    fn partition_order(&self, table: TableId, partition: &[u8]) -> Vec<u8> {
        self.inner.partition_order(table, partition)
    }
}

impl Snapshot for Noted<dyn Snapshot> {}

impl Space for Noted<dyn Space> {
    fn write(&self, batch: &Batch, durability: Durability) -> Result<(), KvError> {
        self.inner.write(batch, durability)
    }

    fn sync(&self) -> Result<(), KvError> {
        self.inner.sync()
    }

    fn isolation(&self) -> Isolation {
        self.inner.isolation()
    }

    fn snapshot(self: Arc<Self>) -> Arc<dyn Snapshot> {
        Arc::new(Noted {
            inner: Arc::clone(&self.inner).snapshot(),
            tables: self.tables,
            looks: Arc::clone(&self.looks),
        })
    }

    fn checkpoint(&self, dir: &Path) -> Result<(), KvError> {
        self.inner.checkpoint(dir)
    }

    fn compact(&self) -> Result<(), KvError> {
        self.inner.compact()
    }

    fn verify_checksums(&self) -> Result<(), KvError> {
        self.inner.verify_checksums()
    }

    fn statistics(&self) -> Vec<Statistic> {
        self.inner.statistics()
    }
}
