//! Any engine, with its reads counted, and with other work done between two of them: what a cluster
//! may do between two requests.

use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use varve_kv::{
    Batch, Capabilities, Durability, Engine, Flow, Isolation, KvError, NewestState, PartitionRange,
    Reader, Row, ScanRequest, Snapshot, Space, Statistic, TableId, TableSpec,
};

/// What is done before a read.
type Interruption = Box<dyn FnOnce() + Send>;

/// What was read through a [`WatchedEngine`], by all its spaces together, since [`Reads::forget`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counted {
    /// Rows that scans of partitions visited.
    pub rows: u64,
    /// Scans of one partition each.
    pub scans: u64,
    /// Calls of [`Reader::scan_many`], whose scans count too.
    pub scan_manys: u64,
    /// Rows that were asked for.
    pub gets: u64,
    /// Calls of [`Reader::multi_get`], whose rows count too.
    pub multi_gets: u64,
    /// Calls of any of these: what waits for the engine one after the other.
    pub calls: u64,
}

/// The controls of a [`WatchedEngine`].
#[derive(Default)]
pub struct Reads {
    counted: Mutex<Counted>,
    /// Reads to let pass, and what to do before the next one.
    interrupt: Mutex<Option<(u64, Interruption)>>,
}

impl Reads {
    /// What was read.
    #[must_use]
    pub fn counted(&self) -> Counted {
        *self.counted.lock()
    }

    /// Counts from nothing on.
    pub fn forget(&self) {
        *self.counted.lock() = Counted::default();
    }

    /// Does `what` before the `n`-th read from now of one row or one partition (`n` = 1: the next
    /// one), on the thread that reads.
    pub fn before_read(&self, n: u64, what: impl FnOnce() + Send + 'static) {
        *self.interrupt.lock() = Some((n.saturating_sub(1), Box::new(what)));
    }

    fn count(&self, add: impl FnOnce(&mut Counted)) {
        add(&mut self.counted.lock());
    }

    fn on_read(&self) {
        let mut interrupt = self.interrupt.lock();
        let what = match &mut *interrupt {
            Some((0, _)) => interrupt.take(),
            Some((left, _)) => {
                *left -= 1;
                None
            }
            None => None,
        };
        drop(interrupt);
        if let Some((_, what)) = what {
            what();
        }
    }
}

/// The engine. It asks for the rows of a [`Reader::multi_get`] one by one, the last one first: an
/// engine may ask in any order.
pub struct WatchedEngine {
    inner: Arc<dyn Engine>,
    reads: Arc<Reads>,
}

impl WatchedEngine {
    /// Watches `inner`.
    #[must_use]
    pub fn new(inner: Arc<dyn Engine>) -> (Self, Arc<Reads>) {
        let reads = Arc::new(Reads::default());
        let engine = Self {
            inner,
            reads: Arc::clone(&reads),
        };
        (engine, reads)
    }
}

impl Engine for WatchedEngine {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            isolation: Isolation::Partition,
            ..self.inner.capabilities()
        }
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
        Ok(Arc::new(WatchedSpace {
            inner: self.inner.open(name, tables, create)?,
            reads: Arc::clone(&self.reads),
        }))
    }

    fn drop_space(&self, name: &str) -> Result<(), KvError> {
        self.inner.drop_space(name)
    }
}

struct WatchedSpace {
    inner: Arc<dyn Space>,
    reads: Arc<Reads>,
}

impl WatchedSpace {
    fn get_one(
        &self,
        table: TableId,
        partition: &[u8],
        clustering: &[u8],
    ) -> Result<Option<Vec<u8>>, KvError> {
        self.reads.on_read();
        self.reads.count(|counted| counted.gets += 1);
        self.inner.get(table, partition, clustering)
    }

    fn scan_one(
        &self,
        request: ScanRequest<'_>,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
    ) -> Result<(), KvError> {
        self.reads.on_read();
        self.reads.count(|counted| counted.scans += 1);
        self.inner.scan(request, &mut |clustering, value| {
            self.reads.count(|counted| counted.rows += 1);
            visit(clustering, value)
        })
    }
}

impl Reader for WatchedSpace {
    fn get(
        &self,
        table: TableId,
        partition: &[u8],
        clustering: &[u8],
    ) -> Result<Option<Vec<u8>>, KvError> {
        self.reads.count(|counted| counted.calls += 1);
        self.get_one(table, partition, clustering)
    }

    fn multi_get(
        &self,
        table: TableId,
        keys: &[(&[u8], &[u8])],
    ) -> Result<Vec<Option<Vec<u8>>>, KvError> {
        self.reads.count(|counted| {
            counted.calls += 1;
            counted.multi_gets += 1;
        });
        let last_first = keys.iter().rev();
        let values =
            last_first.map(|(partition, clustering)| self.get_one(table, partition, clustering));
        let mut values: Vec<Option<Vec<u8>>> = values.collect::<Result<_, _>>()?;
        values.reverse();
        Ok(values)
    }

    fn known_absent(&self, table: TableId, partition: &[u8], clustering: &[u8]) -> bool {
        self.inner.known_absent(table, partition, clustering)
    }

    fn scan(
        &self,
        request: ScanRequest<'_>,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
    ) -> Result<(), KvError> {
        self.reads.count(|counted| counted.calls += 1);
        self.scan_one(request, visit)
    }

    fn scan_many(
        &self,
        table: TableId,
        ranges: &[PartitionRange<'_>],
        visit: &mut dyn FnMut(usize, &[u8], &[u8]) -> Flow,
    ) -> Result<(), KvError> {
        self.reads.count(|counted| {
            counted.calls += 1;
            counted.scan_manys += 1;
        });
        for (at, range) in ranges.iter().enumerate() {
            let request = range.request(table);
            self.scan_one(request, &mut |clustering, value| {
                visit(at, clustering, value)
            })?;
        }
        Ok(())
    }

    fn scan_table(
        &self,
        table: TableId,
        after: Option<(&[u8], &[u8])>,
        visit: &mut dyn FnMut(Row<'_>) -> Flow,
    ) -> Result<(), KvError> {
        self.inner.scan_table(table, after, visit)
    }

    fn partition_order(&self, table: TableId, partition: &[u8]) -> Vec<u8> {
        self.inner.partition_order(table, partition)
    }
}

impl Space for WatchedSpace {
    fn write(&self, batch: &Batch, durability: Durability) -> Result<(), KvError> {
        self.inner.write(batch, durability)
    }

    fn sync(&self) -> Result<(), KvError> {
        self.inner.sync()
    }

    fn isolation(&self) -> Isolation {
        Isolation::Partition
    }

    fn snapshot(self: Arc<Self>) -> Arc<dyn Snapshot> {
        Arc::new(NewestState(self))
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
