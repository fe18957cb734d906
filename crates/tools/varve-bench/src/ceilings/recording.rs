//! An engine that keeps every batch written through it, so that the same bytes can be written again
//! elsewhere.

use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use varve_kv::memory::MemoryEngine;
use varve_kv::{
    Batch, Durability, Engine, Flow, KvError, Reader, Row, ScanRequest, Snapshot, Space, Statistic,
    TableId, TableSpec,
};

/// The batches written, in order.
pub(crate) type Batches = Arc<Mutex<Vec<Batch>>>;

/// The in-memory engine, recording.
pub(crate) struct RecordingEngine {
    inner: MemoryEngine,
    batches: Batches,
}

impl RecordingEngine {
    pub(crate) fn new() -> (Arc<Self>, Batches) {
        let batches = Batches::default();
        let engine = Self {
            inner: MemoryEngine::new(),
            batches: Arc::clone(&batches),
        };
        (Arc::new(engine), batches)
    }
}

impl Engine for RecordingEngine {
    fn name(&self) -> &'static str {
        self.inner.name()
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
        let inner = self.inner.open(name, tables, create)?;
        Ok(Arc::new(RecordingSpace {
            inner,
            batches: Arc::clone(&self.batches),
        }))
    }

    fn drop_space(&self, name: &str) -> Result<(), KvError> {
        self.inner.drop_space(name)
    }
}

struct RecordingSpace {
    inner: Arc<dyn Space>,
    batches: Batches,
}

impl Reader for RecordingSpace {
    fn get(
        &self,
        table: TableId,
        partition: &[u8],
        clustering: &[u8],
    ) -> Result<Option<Vec<u8>>, KvError> {
        self.inner.get(table, partition, clustering)
    }

    fn known_absent(&self, table: TableId, partition: &[u8], clustering: &[u8]) -> bool {
        self.inner.known_absent(table, partition, clustering)
    }

    fn known_absent_each(&self, rows: &[(TableId, &[u8], &[u8])]) -> Vec<bool> {
        self.inner.known_absent_each(rows)
    }

    fn scan(
        &self,
        request: ScanRequest<'_>,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
    ) -> Result<(), KvError> {
        self.inner.scan(request, visit)
    }

    fn scan_table(
        &self,
        table: TableId,
        after: Option<(&[u8], &[u8])>,
        visit: &mut dyn FnMut(Row<'_>) -> Flow,
    ) -> Result<(), KvError> {
        self.inner.scan_table(table, after, visit)
    }
}

impl Space for RecordingSpace {
    fn write(&self, batch: &Batch, durability: Durability) -> Result<(), KvError> {
        self.inner.write(batch, durability)?;
        self.batches.lock().push(batch.clone());
        Ok(())
    }

    fn write_may_wait(&self) -> bool {
        self.inner.write_may_wait()
    }

    fn sync(&self) -> Result<(), KvError> {
        self.inner.sync()
    }

    fn snapshot(self: Arc<Self>) -> Arc<dyn Snapshot> {
        Arc::clone(&self.inner).snapshot()
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
