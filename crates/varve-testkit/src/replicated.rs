//! The in-memory engine as majority reads show it while a write is being applied to the replicas.
//!
//! There are two stores. A write reaches the first one at once, and the second one when the test
//! allows it; only then does it return. Reads of some tables use the store that is ahead, reads of
//! the others the store that is behind: after a write to A, a majority of {A, B} has it, and one of
//! {B, C} does not.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use varve_kv::{
    Batch, Capabilities, Durability, Engine, EngineLayer, Flow, KvError, MemoryEngine, Reader, Row,
    ScanRequest, Space, SpaceLayer, TableId, TableSpec,
};

/// Work to run before a scan.
type Interruption = Box<dyn FnOnce() + Send>;

/// The controls of a [`ReplicatedEngine`], shared by all its spaces. By default both stores get
/// every write at once.
pub struct Replicas {
    /// The tables that are read from the store that is behind.
    behind: &'static [TableId],
    state: Mutex<Interference>,
    changed: Condvar,
}

#[derive(Default)]
struct Interference {
    /// Whether writes stop between the two stores.
    hold: bool,
    /// Whether a write has stopped there.
    held: bool,
    /// Reads of the store that is behind while a write was stopped.
    stale_reads: u64,
    /// A table, the number of its scans to let pass, and the work to run before the next one.
    interrupt: Option<(TableId, u64, Interruption)>,
}

impl Replicas {
    /// Stops the next write between the two stores, until [`Replicas::release`].
    pub fn hold(&self) {
        let mut state = self.state.lock();
        (state.hold, state.stale_reads) = (true, 0);
    }

    /// Waits until a write has stopped between the two stores.
    pub fn wait_until_held(&self) {
        let mut state = self.state.lock();
        self.changed.wait_while(&mut state, |state| !state.held);
    }

    /// Waits for a read of the store that is behind while a write is stopped, for `at_most` this
    /// time.
    pub fn wait_for_stale_read(&self, at_most: Duration) {
        let mut state = self.state.lock();
        let none = |state: &mut Interference| state.stale_reads == 0;
        self.changed.wait_while_for(&mut state, none, at_most);
    }

    /// Lets the stopped write continue.
    pub fn release(&self) {
        self.state.lock().hold = false;
        self.changed.notify_all();
    }

    /// Runs `what` before the `n`-th scan of `table` from now, on the scanning thread.
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

/// The engine.
pub struct ReplicatedEngine {
    ahead: MemoryEngine,
    behind: MemoryEngine,
    replicas: Arc<Replicas>,
}

impl ReplicatedEngine {
    /// An engine without spaces; the tables of `behind` are read from the replicas that have a
    /// write last.
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
    /// The replicas that a read of `table` finds.
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
