//! Snapshots that own the space they read.

use std::mem::ManuallyDrop;
use std::sync::Arc;

use rust_rocksdb::ReadOptions;
use varve_kv::ReaderLayer;

use crate::families::Snapshot as RocksSnapshot;
use crate::space::RocksSpace;
use crate::view::View;

/// One state of a space, and the space, which the snapshot keeps open.
pub(crate) struct OwnedSnapshot {
    /// Borrows from `space`, despite its lifetime; dropped before `space`.
    snapshot: ManuallyDrop<RocksSnapshot<'static>>,
    point_options: ReadOptions,
    space: Arc<RocksSpace>,
}

impl OwnedSnapshot {
    pub(crate) fn new(space: Arc<RocksSpace>) -> Self {
        let snapshot = space.db().snapshot();
        let mut point_options = ReadOptions::default();
        point_options.set_snapshot(&snapshot);
        // SAFETY: the snapshot borrows the database inside `space`, which lives on the heap behind
        // the `Arc` and does not move. `self` keeps the `Arc` and drops the snapshot first; the
        // longer lifetime never leaves this module.
        let snapshot =
            unsafe { std::mem::transmute::<RocksSnapshot<'_>, RocksSnapshot<'static>>(snapshot) };
        Self {
            snapshot: ManuallyDrop::new(snapshot),
            point_options,
            space,
        }
    }
}

impl ReaderLayer for OwnedSnapshot {
    type Below<'a> = View<'a>;

    fn read<T>(&self, read: impl FnOnce(&View<'_>) -> T) -> T {
        read(&View {
            snapshot: Some(&self.snapshot),
            point_options: &self.point_options,
            ..self.space.view()
        })
    }
}

impl Drop for OwnedSnapshot {
    fn drop(&mut self) {
        // SAFETY: dropped here and nowhere else, and not used after; `space` is dropped after this.
        unsafe { ManuallyDrop::drop(&mut self.snapshot) }
    }
}
