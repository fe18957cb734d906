//! An engine that counts the snapshots that somebody holds.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use varve_kv::{Engine, EngineLayer, KvError, Reader, ReaderLayer, Space, SpaceLayer, TableSpec};

/// How many snapshots are held.
pub(crate) type Held = Arc<AtomicUsize>;

pub(crate) struct CountedEngine {
    inner: Arc<dyn Engine>,
    held: Held,
}

impl CountedEngine {
    pub(crate) fn new(inner: Arc<dyn Engine>) -> (Self, Held) {
        let held = Held::default();
        let engine = Self {
            inner,
            held: Arc::clone(&held),
        };
        (engine, held)
    }
}

impl EngineLayer for CountedEngine {
    fn engine(&self) -> &dyn Engine {
        &*self.inner
    }

    fn open(
        &self,
        name: &str,
        tables: &'static [TableSpec],
        create: bool,
    ) -> Result<Arc<dyn Space>, KvError> {
        Ok(Arc::new(Counted {
            inner: self.inner.open(name, tables, create)?,
            held: Arc::clone(&self.held),
            is_snapshot: false,
        }))
    }
}

/// A space, or one of its snapshots.
struct Counted<R: ?Sized> {
    held: Held,
    is_snapshot: bool,
    inner: Arc<R>,
}

impl<R: ?Sized> Drop for Counted<R> {
    fn drop(&mut self) {
        if self.is_snapshot {
            self.held.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

impl<R: Reader + ?Sized + 'static> ReaderLayer for Counted<R> {
    type Below<'a> = R;

    fn read<T>(&self, read: impl FnOnce(&R) -> T) -> T {
        read(&self.inner)
    }
}

impl SpaceLayer for Counted<dyn Space> {
    fn space(&self) -> &dyn Space {
        &*self.inner
    }

    fn snapshot(self: Arc<Self>) -> Option<Arc<dyn Reader>> {
        let inner = Arc::clone(&self.inner).snapshot()?;
        self.held.fetch_add(1, Ordering::SeqCst);
        Some(Arc::new(Counted {
            held: Arc::clone(&self.held),
            is_snapshot: true,
            inner,
        }))
    }
}
