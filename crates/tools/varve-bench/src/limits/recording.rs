//! An engine that records the batches written to it, so that the same bytes can be written to
//! another engine.

use std::sync::{Arc, Mutex, PoisonError};

use varve_kv::{
    Batch, Durability, Engine, EngineLayer, KvError, MemoryEngine, Reader, ReaderLayer, Space,
    SpaceLayer, TableSpec,
};

/// The batches of successful writes to all spaces, in the order in which the writes ended.
#[derive(Debug, Clone, Default)]
pub(super) struct Batches(Arc<Mutex<Vec<Batch>>>);

impl Batches {
    fn push(&self, batch: Batch) {
        let mut batches = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        batches.push(batch);
    }

    /// The batches since the last call.
    pub(super) fn take(&self) -> Vec<Batch> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The in-memory engine with recording.
pub(super) struct RecordingEngine {
    inner: MemoryEngine,
    batches: Batches,
}

impl RecordingEngine {
    pub(super) fn new() -> (Arc<Self>, Batches) {
        let batches = Batches::default();
        let engine = Self {
            inner: MemoryEngine::new(),
            batches: batches.clone(),
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
            batches: self.batches.clone(),
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
        self.batches.push(batch.clone());
        Ok(())
    }
}
