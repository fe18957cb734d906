//! What the repository is tested on: a store on a graph in memory, its clock, and what happens
//! while it changes types.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use varve_encoding::tables::{META, TABLES, VERTEX};
use varve_graph::{DurabilityMode, Graph, GraphOptions};
use varve_kv::{
    Batch, Durability, Engine, EngineLayer, Flow, KvError, MemoryEngine, Op, Reader, ReaderLayer,
    Row, Space, SpaceLayer, TableId, TableSpec,
};
use varve_model::{Clock, Instant};
use varve_omrs::graph_store::{GraphStore, InstanceDerivers};

/// A clock that goes on by some microseconds each time that it is read.
pub(crate) struct Ticking {
    now: AtomicI64,
    tick: AtomicI64,
}

impl Ticking {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            now: AtomicI64::new(1_700_000_000_000_000),
            tick: AtomicI64::new(1_000),
        })
    }

    /// Lets all that follows happen in the same millisecond.
    pub(crate) fn stop(&self) {
        self.tick.store(0, Ordering::Relaxed);
    }
}

impl Clock for Ticking {
    fn now(&self) -> Instant {
        let tick = self.tick.load(Ordering::Relaxed);
        Instant(self.now.fetch_add(tick, Ordering::Relaxed))
    }
}

/// A store without instances.
pub(crate) fn store() -> Arc<GraphStore> {
    store_on(&MemoryEngine::new(), Ticking::new())
}

/// A store without instances, with its clock.
pub(crate) fn store_and_clock() -> (Arc<GraphStore>, Arc<Ticking>) {
    let clock = Ticking::new();
    let store = store_on(&MemoryEngine::new(), Arc::clone(&clock));
    (store, clock)
}

/// A store without instances on an engine.
pub(crate) fn store_on(engine: &dyn Engine, clock: Arc<Ticking>) -> Arc<GraphStore> {
    let space = engine.open("metadata", TABLES, true).unwrap();
    let mut options = GraphOptions::new(clock);
    options.durability = DurabilityMode::None;
    options.derivers = Some(Arc::new(InstanceDerivers));
    let graph = Graph::open("metadata", space, &options).unwrap();
    Arc::new(GraphStore::open(graph))
}

type Meanwhile = Box<dyn FnOnce() -> Result<(), KvError> + Send>;
type Keeping = Box<dyn FnMut(&str) -> Result<(), KvError> + Send>;

/// What happens while the store changes types.
#[derive(Default)]
pub(crate) struct Orders {
    meanwhile: Mutex<VecDeque<Meanwhile>>,
    keeping: Mutex<Option<Keeping>>,
}

impl Orders {
    /// Makes the next making of entries for other types take as long as `work`, and fail with it;
    /// called again, the one after it.
    pub(crate) fn while_types_change(
        &self,
        work: impl FnOnce() -> Result<(), KvError> + Send + 'static,
    ) {
        self.meanwhile.lock().unwrap().push_back(Box::new(work));
    }

    /// Whether all that was to happen has happened.
    pub(crate) fn are_done(&self) -> bool {
        self.meanwhile.lock().unwrap().is_empty()
    }

    /// Calls `test` with the name of each note of the repository before it is kept.
    pub(crate) fn before_notes(
        &self,
        test: impl FnMut(&str) -> Result<(), KvError> + Send + 'static,
    ) {
        *self.keeping.lock().unwrap() = Some(Box::new(test));
    }
}

/// An engine that follows [`Orders`].
struct Ordered {
    inner: MemoryEngine,
    orders: Arc<Orders>,
}

impl EngineLayer for Ordered {
    fn engine(&self) -> &dyn Engine {
        &self.inner
    }

    fn open(
        &self,
        name: &str,
        tables: &'static [TableSpec],
        create: bool,
    ) -> Result<Arc<dyn Space>, KvError> {
        Ok(Arc::new(OrderedSpace {
            inner: self.inner.open(name, tables, create)?,
            orders: Arc::clone(&self.orders),
        }))
    }
}

struct OrderedSpace {
    inner: Arc<dyn Space>,
    orders: Arc<Orders>,
}

impl ReaderLayer for OrderedSpace {
    type Below<'a> = dyn Space;

    fn read<T>(&self, read: impl FnOnce(&Self::Below<'_>) -> T) -> T {
        read(&*self.inner)
    }

    /// The store goes through all entities when it makes their entries.
    fn scan_table(
        &self,
        table: TableId,
        after: Option<(&[u8], &[u8])>,
        visit: &mut dyn FnMut(Row<'_>) -> Flow,
    ) -> Result<(), KvError> {
        if table == VERTEX && after.is_none() {
            let work = self.orders.meanwhile.lock().unwrap().pop_front();
            work.map_or(Ok(()), |work| work())?;
        }
        self.inner.scan_table(table, after, visit)
    }
}

impl SpaceLayer for OrderedSpace {
    fn space(&self) -> &dyn Space {
        &*self.inner
    }

    fn write(&self, batch: &Batch, durability: Durability) -> Result<(), KvError> {
        for op in batch.ops() {
            if let Op::Put {
                table: META,
                clustering,
                ..
            } = op
                && let Some(name) = clustering.strip_prefix(b"note ")
                && let Some(test) = &mut *self.orders.keeping.lock().unwrap()
            {
                test(std::str::from_utf8(name).unwrap())?;
            }
        }
        self.inner.write(batch, durability)
    }

    fn snapshot(self: Arc<Self>) -> Option<Arc<dyn Reader>> {
        Arc::clone(&self.inner).snapshot()
    }
}

/// A store without instances, and what is to happen while it changes types.
pub(crate) fn store_and_orders() -> (Arc<GraphStore>, Arc<Orders>) {
    let orders = Arc::new(Orders::default());
    let engine = Ordered {
        inner: MemoryEngine::new(),
        orders: Arc::clone(&orders),
    };
    (store_on(&engine, Ticking::new()), orders)
}
