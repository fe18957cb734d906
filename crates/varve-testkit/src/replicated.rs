//! An in-memory engine that behaves as a replicated store with quorum reads while a write is being
//! applied: some reads see the write, and later ones do not.
//!
//! There are two stores, `ahead` and `behind`. A write is applied to `ahead` at once, and to
//! `behind` when the test allows it; only then does it return. Reads of the tables that the test
//! names use `behind`, all others use `ahead`. This is as with replicas A, B and C after a write
//! has reached A: a quorum of A and B sees it, one of B and C does not.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use varve_kv::{
    Batch, Capabilities, Durability, Engine, EngineLayer, Flow, KvError, MemoryEngine, Reader, Row,
    ScanRequest, Space, SpaceLayer, TableId, TableSpec,
};

/// Work to run before a scan.
type Interruption = Box<dyn FnOnce() + Send>;

/// The controls of a [`ReplicatedEngine`], shared by all its spaces. Unless [`Replicas::hold`] is
/// called, a write does not stop between the two stores.
pub struct Replicas {
    /// The tables that are read from the store that is behind.
    behind: &'static [TableId],
    state: Mutex<Interference>,
    changed: Condvar,
}

#[derive(Default)]
struct Interference {
    /// Whether a write must stop between the two stores.
    hold: bool,
    /// Whether a write is stopped there.
    held: bool,
    /// The number of reads of the store that is behind while a write was stopped, since the last
    /// [`Replicas::hold`].
    stale_reads: u64,
    /// A table, the number of its scans to let pass, and the work to run before the next one.
    interrupt: Option<(TableId, u64, Interruption)>,
}

impl Replicas {
    /// Makes every write stop between the two stores, until [`Replicas::release`].
    pub fn hold(&self) {
        let mut state = self.state.lock();
        (state.hold, state.stale_reads) = (true, 0);
    }

    /// Waits until a write is stopped between the two stores.
    pub fn wait_until_held(&self) {
        let mut state = self.state.lock();
        self.changed.wait_while(&mut state, |state| !state.held);
    }

    /// Waits until the store that is behind has been read while a write was stopped, but not longer
    /// than `at_most`.
    pub fn wait_for_stale_read(&self, at_most: Duration) {
        let mut state = self.state.lock();
        let none = |state: &mut Interference| state.stale_reads == 0;
        self.changed.wait_while_for(&mut state, none, at_most);
    }

    /// Lets the stopped write continue, and later ones pass.
    pub fn release(&self) {
        self.state.lock().hold = false;
        self.changed.notify_all();
    }

    /// Runs `what` once, before the `n`-th call of [`Reader::scan`] on `table` from now (`n` counts
    /// from 1), on the scanning thread. Replaces earlier work that has not run yet.
    pub fn before_scan(&self, table: TableId, n: u64, what: impl FnOnce() + Send + 'static) {
        let left = n.saturating_sub(1);
        self.state.lock().interrupt = Some((table, left, Box::new(what)));
    }

    fn half_way(&self) {
        let mut state = self.state.lock();
        state.held = state.hold;
        self.changed.notify_all();
        self.changed.wait_while(&mut state, |state| state.hold);
        state.held = false;
    }

    fn reads_behind(&self, table: TableId) -> bool {
        let behind = self.behind.contains(&table);
        let mut state = self.state.lock();
        if behind && state.held {
            state.stale_reads += 1;
            self.changed.notify_all();
        }
        behind
    }

    fn on_scan(&self, table: TableId) {
        let mut state = self.state.lock();
        let due = match &mut state.interrupt {
            Some((of, left, _)) if *of == table => {
                let due = *left == 0;
                *left = left.saturating_sub(1);
                due
            }
            _ => false,
        };
        let what = if due { state.interrupt.take() } else { None };
        drop(state);
        if let Some((_, _, what)) = what {
            what();
        }
    }
}

/// The engine with two stores. It has no snapshots.
pub struct ReplicatedEngine {
    ahead: MemoryEngine,
    behind: MemoryEngine,
    replicas: Arc<Replicas>,
}

impl ReplicatedEngine {
    /// An engine without spaces, and its controls. The tables of `behind` are read from the store
    /// that is behind.
    #[must_use]
    pub fn new(behind: &'static [TableId]) -> (Self, Arc<Replicas>) {
        let replicas = Arc::new(Replicas {
            behind,
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let engine = Self {
            ahead: MemoryEngine::new(),
            behind: MemoryEngine::new(),
            replicas: Arc::clone(&replicas),
        };
        (engine, replicas)
    }
}

impl EngineLayer for ReplicatedEngine {
    fn engine(&self) -> &dyn Engine {
        &self.ahead
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::local("replicated")
    }

    fn open(
        &self,
        name: &str,
        tables: &'static [TableSpec],
        create: bool,
    ) -> Result<Arc<dyn Space>, KvError> {
        Ok(Arc::new(ReplicatedSpace {
            ahead: self.ahead.open(name, tables, create)?,
            behind: self.behind.open(name, tables, create)?,
            replicas: Arc::clone(&self.replicas),
        }))
    }

    fn drop_space(&self, name: &str, incarnation: Option<&str>) -> Result<(), KvError> {
        self.ahead.drop_space(name, incarnation)?;
        self.behind.drop_space(name, incarnation)
    }
}

struct ReplicatedSpace {
    ahead: Arc<dyn Space>,
    behind: Arc<dyn Space>,
    replicas: Arc<Replicas>,
}

impl ReplicatedSpace {
    /// The store that a read of `table` uses. Counts the read if it is stale.
    fn of(&self, table: TableId) -> &dyn Space {
        let behind = self.replicas.reads_behind(table);
        let found = if behind { &self.behind } else { &self.ahead };
        &**found
    }
}

impl Reader for ReplicatedSpace {
    fn get_with(
        &self,
        table: TableId,
        partition: &[u8],
        clustering: &[u8],
        found: &mut dyn FnMut(&[u8]),
    ) -> Result<bool, KvError> {
        self.of(table).get_with(table, partition, clustering, found)
    }

    fn scan(
        &self,
        request: ScanRequest<'_>,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
    ) -> Result<(), KvError> {
        self.replicas.on_scan(request.table);
        self.of(request.table).scan(request, visit)
    }

    fn partition_order(&self, _: TableId, partition: &[u8]) -> Vec<u8> {
        partition.to_vec()
    }

    fn scan_table(
        &self,
        table: TableId,
        after: Option<(&[u8], &[u8])>,
        visit: &mut dyn FnMut(Row<'_>) -> Flow,
    ) -> Result<(), KvError> {
        self.of(table).scan_table(table, after, visit)
    }
}

impl SpaceLayer for ReplicatedSpace {
    fn space(&self) -> &dyn Space {
        &*self.ahead
    }

    fn write(&self, batch: &Batch, durability: Durability) -> Result<(), KvError> {
        self.ahead.write(batch, durability)?;
        self.replicas.half_way();
        self.behind.write(batch, durability)
    }

    fn snapshot(self: Arc<Self>) -> Option<Arc<dyn Reader>> {
        None
    }
}
