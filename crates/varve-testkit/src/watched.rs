//! A test engine that wraps any other engine. It counts reads, and can run other work between two
//! of them, as concurrent clients of a cluster do between two requests.

use std::sync::Arc;

use parking_lot::Mutex;
use varve_kv::{
    Engine, EngineLayer, Flow, KvError, PartitionRange, Reader, ReaderLayer, ScanRequest, Space,
    SpaceLayer, TableId, TableSpec,
};

/// Work to run before a read.
type Interruption = Box<dyn FnOnce() + Send>;

/// The reads of all spaces of a [`WatchedEngine`] since [`Reads::forget`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counted {
    /// Rows visited by scans of partitions.
    pub rows: u64,
    /// Scans of one partition.
    pub scans: u64,
    /// Calls of [`Reader::scan_many`]; their scans are included in `scans`.
    pub scan_manys: u64,
    /// Rows read by key.
    pub gets: u64,
    /// Calls of [`Reader::get_each`]; their rows are included in `gets`.
    pub batched_gets: u64,
    /// Calls of any kind: sequential round trips to the engine.
    pub calls: u64,
}

/// The controls of a [`WatchedEngine`].
#[derive(Default)]
pub struct Reads {
    counted: Mutex<Counted>,
    /// The number of reads to let pass, and the work to run before the next one.
    interrupt: Mutex<Option<(u64, Interruption)>>,
}

impl Reads {
    /// The counts.
    #[must_use]
    pub fn counted(&self) -> Counted {
        *self.counted.lock()
    }

    /// Resets the counts.
    pub fn forget(&self) {
        *self.counted.lock() = Counted::default();
    }

    /// Runs `what` once, on the reading thread, before the `n`-th read from now (`n` = 1: the next
    /// one). A read is one of a single row or of a single partition.
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

/// An engine that counts the reads of another one. It reads the rows of a [`Reader::get_each`] one
/// by one, in reverse order, since engines may read in any order.
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

impl EngineLayer for WatchedEngine {
    fn engine(&self) -> &dyn Engine {
        &*self.inner
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
        found: &mut dyn FnMut(&[u8]),
    ) -> Result<bool, KvError> {
        self.reads.on_read();
        self.reads.count(|counted| counted.gets += 1);
        self.inner.get_with(table, partition, clustering, found)
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

impl ReaderLayer for WatchedSpace {
    type Below<'a> = dyn Space;

    fn read<T>(&self, read: impl FnOnce(&Self::Below<'_>) -> T) -> T {
        read(&*self.inner)
    }

    fn get_with(
        &self,
        table: TableId,
        partition: &[u8],
        clustering: &[u8],
        found: &mut dyn FnMut(&[u8]),
    ) -> Result<bool, KvError> {
        self.reads.count(|counted| counted.calls += 1);
        self.get_one(table, partition, clustering, found)
    }

    fn get_each(
        &self,
        table: TableId,
        keys: &[(&[u8], &[u8])],
        found: &mut dyn FnMut(usize, &[u8]),
    ) -> Result<(), KvError> {
        self.reads.count(|counted| {
            counted.calls += 1;
            counted.batched_gets += 1;
        });
        for (at, (partition, clustering)) in keys.iter().enumerate().rev() {
            self.get_one(table, partition, clustering, &mut |value| found(at, value))?;
        }
        Ok(())
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
}

impl SpaceLayer for WatchedSpace {
    fn space(&self) -> &dyn Space {
        &*self.inner
    }

    fn snapshot(self: Arc<Self>) -> Option<Arc<dyn Reader>> {
        None
    }
}
