//! An engine that records the batches written to it, so that the same bytes can be written to
//! another engine.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use varve_kv::{
    Batch, Durability, Engine, EngineLayer, KvError, MemoryEngine, Reader, ReaderLayer, Space,
    SpaceLayer, TableSpec,
};

/// The batches of successful writes to all spaces, in the order in which the writes ended.
#[derive(Debug, Default)]
pub(super) struct Batches(Mutex<Vec<Batch>>);

impl Batches {
    fn all(&self) -> MutexGuard<'_, Vec<Batch>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The batches since the last call.
    pub(super) fn take(&self) -> Vec<Batch> {
        std::mem::take(&mut *self.all())
    }
}

/// The in-memory engine with recording.
#[derive(Default)]
pub(super) struct RecordingEngine {
    inner: MemoryEngine,
    pub(super) batches: Arc<Batches>,
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
    batches: Arc<Batches>,
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
        self.batches.all().push(batch.clone());
        Ok(())
    }
}
