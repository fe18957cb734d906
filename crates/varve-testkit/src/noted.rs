//! Any engine, with a record of each read: the table, and whether it was a get or a scan.
//!
//! Unlike [`WatchedEngine`](crate::WatchedEngine) it has all features of its engine, including
//! snapshots, so the record has exactly the reads that the engine itself would get.

use std::sync::Arc;

use parking_lot::Mutex;
use varve_kv::{
    Engine, EngineLayer, Flow, KvError, PartitionRange, Reader, ReaderLayer, Row, ScanRequest,
    Space, SpaceLayer, TableId, TableSpec,
};

/// The reads of all spaces of a [`NotedEngine`].
#[derive(Default)]
pub struct Looks(Mutex<Vec<String>>);

impl Looks {
    /// Takes the reads since the last call, in order: `get vertex` for a row, `scan event` for a
    /// partition, `scan 2 event` for several partitions in one call.
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
    /// Records the reads of `inner`.
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

impl EngineLayer for NotedEngine {
    fn engine(&self) -> &dyn Engine {
        &*self.inner
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
}

/// A space, or a snapshot of it.
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

impl<R: Reader + ?Sized + 'static> ReaderLayer for Noted<R> {
    type Below<'a> = R;

    fn read<T>(&self, read: impl FnOnce(&R) -> T) -> T {
        read(&self.inner)
    }

    fn get_with(
        &self,
        table: TableId,
        partition: &[u8],
        clustering: &[u8],
        found: &mut dyn FnMut(&[u8]),
    ) -> Result<bool, KvError> {
        self.note("get", table);
        self.inner.get_with(table, partition, clustering, found)
    }

    fn get_each(
        &self,
        table: TableId,
        keys: &[(&[u8], &[u8])],
        found: &mut dyn FnMut(usize, &[u8]),
    ) -> Result<(), KvError> {
        keys.iter().for_each(|_| self.note("get", table));
        self.inner.get_each(table, keys, found)
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
}

impl SpaceLayer for Noted<dyn Space> {
    fn space(&self) -> &dyn Space {
        &*self.inner
    }

    fn snapshot(self: Arc<Self>) -> Option<Arc<dyn Reader>> {
        let inner = Arc::clone(&self.inner).snapshot()?;
        Some(Arc::new(Noted {
            inner,
            tables: self.tables,
            looks: Arc::clone(&self.looks),
        }))
    }
}
