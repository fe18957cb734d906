//! An engine that records the batches written to it, so that the same bytes can be written to
//! another engine.

use std::sync::Arc;

use parking_lot::Mutex;
use varve_kv::{
    Batch, Durability, Engine, EngineLayer, KvError, MemoryEngine, Reader, ReaderLayer, Space,
    SpaceLayer, TableSpec,
};

/// The batches of successful writes to all spaces, in the order in which the writes ended.
pub(crate) type Batches = Arc<Mutex<Vec<Batch>>>;

/// The in-memory engine with recording.
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

impl EngineLayer for RecordingEngine {
    fn engine(&self) -> &dyn Engine {
        &self.inner
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
}

struct RecordingSpace {
    inner: Arc<dyn Space>,
    batches: Batches,
}

impl ReaderLayer for RecordingSpace {
    type Below<'a> = dyn Space;

    fn read<T>(&self, read: impl FnOnce(&Self::Below<'_>) -> T) -> T {
        read(&*self.inner)
    }
}

impl SpaceLayer for RecordingSpace {
    fn space(&self) -> &dyn Space {
        &*self.inner
    }

    fn snapshot(self: Arc<Self>) -> Option<Arc<dyn Reader>> {
        Arc::clone(&self.inner).snapshot()
    }

    fn write(&self, batch: &Batch, durability: Durability) -> Result<(), KvError> {
        self.inner.write(batch, durability)?;
        self.batches.lock().push(batch.clone());
        Ok(())
    }
}
