//! An engine that fails on demand; [`KvError`] documents the meaning of each failure.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use varve_kv::{
    Absences, Batch, Durability, Engine, EngineLayer, Flow, KvError, PartitionRange, Reader,
    ReaderExt, ReaderLayer, Row, ScanRequest, Space, SpaceLayer, TableId, TableSpec,
};

/// How a call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The disk is full: nothing is stored; later writes succeed.
    DiskFull,
    /// The files are read-only: nothing is stored; later writes succeed.
    ReadOnly,
    /// The store cannot be reached: nothing is stored; later writes succeed.
    Away,
    /// The write fails although it was stored; later writes fail until the space is reopened.
    IoStored,
    /// The write fails and was not stored; later writes fail until the space is reopened.
    IoLost,
    /// The write reports an unknown outcome and is not stored; later writes fail until the space is
    /// reopened.
    Undecided,
    /// The call finds damage. If it is a write, later writes fail until the space is reopened.
    Corruption,
}

/// The controls of a [`FaultyEngine`], shared by all its spaces. By default nothing fails.
#[derive(Debug, Default)]
pub struct Faults {
    state: Mutex<Orders>,
}

#[derive(Debug, Default)]
struct Orders {
    /// The number of calls that succeed before the fault, the fault, and whether it is permanent.
    write: Option<(u64, Fault, bool)>,
    read: Option<(u64, Fault, bool)>,
    writes_seen: u64,
    /// The faults of opening and of removing spaces, by name, until [`Faults::heal`].
    opening: BTreeMap<String, Fault>,
    removal: BTreeMap<String, Fault>,
}

impl Faults {
    /// Lets the `n`-th write from now fail once (`n` = 1: the next one). A sync counts as a write.
    pub fn fail_write(&self, n: u64, fault: Fault) {
        self.state.lock().write = Some((n.saturating_sub(1), fault, false));
    }

    /// Lets all writes fail, beginning with the `n`-th from now, until [`Faults::heal`].
    pub fn fail_writes_from(&self, n: u64, fault: Fault) {
        self.state.lock().write = Some((n.saturating_sub(1), fault, true));
    }

    /// Lets the `n`-th read call from now fail once.
    pub fn fail_read(&self, n: u64, fault: Fault) {
        self.state.lock().read = Some((n.saturating_sub(1), fault, false));
    }

    /// Lets opening that space fail, until [`Faults::heal`].
    pub fn fail_opening(&self, space: &str, fault: Fault) {
        self.state.lock().opening.insert(space.to_owned(), fault);
    }

    /// Lets removing that space fail, until [`Faults::heal`].
    pub fn fail_removal(&self, space: &str, fault: Fault) {
        self.state.lock().removal.insert(space.to_owned(), fault);
    }

    /// Cancels all faults. A space that refuses writes until it is reopened continues to do so.
    pub fn heal(&self) {
        let mut state = self.state.lock();
        state.write = None;
        state.read = None;
        state.opening.clear();
        state.removal.clear();
    }

    /// The number of writes and syncs so far, including failed ones.
    #[must_use]
    pub fn writes_seen(&self) -> u64 {
        self.state.lock().writes_seen
    }

    fn on_opening(&self, space: &str) -> Result<(), KvError> {
        fault_of(&self.state.lock().opening, space)
    }

    fn on_removal(&self, space: &str) -> Result<(), KvError> {
        fault_of(&self.state.lock().removal, space)
    }

    fn on_write(&self) -> Option<Fault> {
        let mut state = self.state.lock();
        state.writes_seen += 1;
        due(&mut state.write)
    }

    fn on_read(&self, space: &str) -> Result<(), KvError> {
        match due(&mut self.state.lock().read) {
            Some(fault) => Err(error_of(fault, space)),
            None => Ok(()),
        }
    }
}

fn fault_of(faults: &BTreeMap<String, Fault>, space: &str) -> Result<(), KvError> {
    match faults.get(space) {
        Some(fault) => Err(error_of(*fault, space)),
        None => Ok(()),
    }
}

fn due(order: &mut Option<(u64, Fault, bool)>) -> Option<Fault> {
    let (left, fault, stays) = order.as_mut()?;
    if *left > 0 {
        *left -= 1;
        return None;
    }
    let fault = *fault;
    if !*stays {
        *order = None;
    }
    Some(fault)
}

fn error_of(fault: Fault, space: &str) -> KvError {
    let space = space.to_owned();
    let detail = "ordered by a test".to_owned();
    match fault {
        Fault::DiskFull => KvError::DiskFull { space, detail },
        Fault::ReadOnly => KvError::ReadOnly { space, detail },
        Fault::Away => KvError::Away { space, detail },
        Fault::IoStored | Fault::IoLost => KvError::Io { space, detail },
        Fault::Undecided => KvError::OutcomeUnknown { space, detail },
        Fault::Corruption => KvError::Corruption { space, detail },
    }
}

/// Any engine, with failures on demand.
pub struct FaultyEngine {
    inner: Arc<dyn Engine>,
    faults: Arc<Faults>,
}

impl FaultyEngine {
    /// Wraps `inner`. Nothing fails until the returned controls set a fault.
    #[must_use]
    pub fn new(inner: Box<dyn Engine>) -> (Self, Arc<Faults>) {
        Self::over(inner.into())
    }

    /// [`FaultyEngine::new`] over a shared engine.
    #[must_use]
    pub fn over(inner: Arc<dyn Engine>) -> (Self, Arc<Faults>) {
        let faults = Arc::new(Faults::default());
        let engine = Self {
            inner,
            faults: Arc::clone(&faults),
        };
        (engine, faults)
    }
}

impl EngineLayer for FaultyEngine {
    fn engine(&self) -> &dyn Engine {
        &*self.inner
    }

    fn open(
        &self,
        name: &str,
        tables: &'static [TableSpec],
        create: bool,
    ) -> Result<Arc<dyn Space>, KvError> {
        self.faults.on_opening(name)?;
        let inner = self.inner.open(name, tables, create)?;
        Ok(Faulty::new(inner, name, &self.faults))
    }

    fn drop_space(&self, name: &str, incarnation: Option<&str>) -> Result<(), KvError> {
        self.faults.on_removal(name)?;
        self.inner.drop_space(name, incarnation)
    }
}

/// A space, or a snapshot of it.
struct Faulty<R: ?Sized> {
    inner: Arc<R>,
    name: String,
    faults: Arc<Faults>,
    broken: Mutex<bool>,
}

impl<R: ?Sized> Faulty<R> {
    fn new(inner: Arc<R>, name: &str, faults: &Arc<Faults>) -> Arc<Self> {
        Arc::new(Self {
            inner,
            name: name.to_owned(),
            faults: Arc::clone(faults),
            broken: Mutex::new(false),
        })
    }

    /// The underlying reader, or the error that is set for this read.
    fn on_read(&self) -> Result<&R, KvError> {
        self.faults.on_read(&self.name)?;
        Ok(&self.inner)
    }

    fn writing(&self, store: impl Fn() -> Result<(), KvError>) -> Result<(), KvError> {
        let mut broken = self.broken.lock();
        if *broken {
            return Err(KvError::Io {
                space: self.name.clone(),
                detail: "an earlier write failed; open the space again".to_owned(),
            });
        }
        let Some(fault) = self.faults.on_write() else {
            return store();
        };
        if fault == Fault::IoStored {
            store()?;
        }
        *broken = !matches!(fault, Fault::DiskFull | Fault::ReadOnly | Fault::Away);
        Err(error_of(fault, &self.name))
    }
}

impl<R: Reader + ?Sized + 'static> ReaderLayer for Faulty<R> {
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
        self.on_read()?
            .get_with(table, partition, clustering, found)
    }

    fn get_each(
        &self,
        table: TableId,
        keys: &[(&[u8], &[u8])],
        found: &mut dyn FnMut(usize, &[u8]),
    ) -> Result<(), KvError> {
        // One read for each row, so that a fault can occur between any two rows.
        for (at, (partition, clustering)) in keys.iter().enumerate() {
            let found = &mut |value: &[u8]| found(at, value);
            self.on_read()?
                .get_with(table, partition, clustering, found)?;
        }
        Ok(())
    }

    /// Reads each row. So the result is exact, and tests see rows that are known to be absent and
    /// rows that are not.
    fn known_absent(&self, rows: &[(TableId, &[u8], &[u8])]) -> Absences {
        let absent = |(table, partition, clustering): &(TableId, &[u8], &[u8])| {
            matches!(self.inner.get(*table, partition, clustering), Ok(None))
        };
        rows.iter().map(absent).collect()
    }

    fn scan(
        &self,
        request: ScanRequest<'_>,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
    ) -> Result<(), KvError> {
        self.on_read()?.scan(request, visit)
    }

    fn scan_many(
        &self,
        table: TableId,
        ranges: &[PartitionRange<'_>],
        visit: &mut dyn FnMut(usize, &[u8], &[u8]) -> Flow,
    ) -> Result<(), KvError> {
        for (at, range) in ranges.iter().enumerate() {
            let visit = &mut |clustering: &[u8], value: &[u8]| visit(at, clustering, value);
            self.on_read()?.scan(range.request(table), visit)?;
        }
        Ok(())
    }

    fn scan_table(
        &self,
        table: TableId,
        after: Option<(&[u8], &[u8])>,
        visit: &mut dyn FnMut(Row<'_>) -> Flow,
    ) -> Result<(), KvError> {
        self.on_read()?.scan_table(table, after, visit)
    }
}

impl SpaceLayer for Faulty<dyn Space> {
    fn space(&self) -> &dyn Space {
        &*self.inner
    }

    fn write(&self, batch: &Batch, durability: Durability) -> Result<(), KvError> {
        self.writing(|| self.inner.write(batch, durability))
    }

    fn sync(&self) -> Result<(), KvError> {
        self.writing(|| self.inner.sync())
    }

    fn snapshot(self: Arc<Self>) -> Option<Arc<dyn Reader>> {
        let inner = Arc::clone(&self.inner).snapshot()?;
        Some(Faulty::new(inner, &self.name, &self.faults))
    }

    fn verify_checksums(&self) -> Result<(), KvError> {
        self.on_read()?.verify_checksums()
    }
}

#[cfg(test)]
mod tests {
    use varve_kv::{
        Batch, Durability, Engine, KvError, MemoryEngine, ReaderExt, Space, TableId, TableSpec,
    };

    use super::{Fault, FaultyEngine};

    static TABLES: &[TableSpec] = &[TableSpec {
        name: "t",
        partition_len: |key| key.first().map(|_| 1),
        point_reads: true,
        probed: Some(varve_kv::table::always),
        cold: false,
        summarize: None,
    }];

    fn put(space: &dyn Space, key: u8) -> Result<(), KvError> {
        let mut batch = Batch::new();
        batch.put(TableId(0), &[key], b"", b"v");
        space.write(&batch, Durability::Sync)
    }

    fn has(space: &dyn Space, key: u8) -> bool {
        space.get(TableId(0), &[key], b"").unwrap().is_some()
    }

    #[test]
    fn the_nth_write_finds_a_full_disk_and_the_next_one_works() {
        let (engine, faults) = FaultyEngine::new(Box::new(MemoryEngine::new()));
        let space = engine.open("s", TABLES, true).unwrap();
        faults.fail_write(2, Fault::DiskFull);
        put(&*space, 1).unwrap();
        assert!(matches!(put(&*space, 2), Err(KvError::DiskFull { .. })));
        put(&*space, 3).unwrap();
        assert!(has(&*space, 1) && !has(&*space, 2) && has(&*space, 3));
        assert_eq!(faults.writes_seen(), 3);
    }

    #[test]
    fn after_an_io_error_nothing_is_written_until_the_space_is_opened_again() {
        for (fault, stored) in [(Fault::IoStored, true), (Fault::IoLost, false)] {
            let (engine, faults) = FaultyEngine::new(Box::new(MemoryEngine::new()));
            let space = engine.open("s", TABLES, true).unwrap();
            faults.fail_write(1, fault);
            assert!(matches!(put(&*space, 1), Err(KvError::Io { .. })));
            assert!(matches!(put(&*space, 2), Err(KvError::Io { .. })));
            drop(space);
            let space = engine.open("s", TABLES, false).unwrap();
            put(&*space, 3).unwrap();
            assert_eq!(has(&*space, 1), stored);
            assert!(!has(&*space, 2) && has(&*space, 3));
        }
    }

    #[test]
    fn reads_fail_when_ordered() {
        let (engine, faults) = FaultyEngine::new(Box::new(MemoryEngine::new()));
        let space = engine.open("s", TABLES, true).unwrap();
        faults.fail_read(2, Fault::Corruption);
        assert!(!has(&*space, 1));
        let damaged = space.get(TableId(0), &[1], b"");
        assert!(matches!(damaged, Err(KvError::Corruption { .. })));
        assert!(!has(&*space, 1));
    }
}
