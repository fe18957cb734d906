//! The column families of a space's tables.
//!
//! Behind a front table a family is created with its table's first file: an open family takes about
//! 100 KiB, even if it is empty. A table without a family has never had files; its rows, if any,
//! are in the front table and its log.

use std::marker::PhantomData;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use parking_lot::Mutex;
use rust_librocksdb_sys::rocksdb_column_family_handle_t as Handle;
use rust_rocksdb::{
    AsColumnFamilyRef, DBRawIteratorWithThreadMode, DBWithThreadMode, Error, MultiThreaded,
    Options, SnapshotWithThreadMode,
};
use varve_kv::{TableId, TableSpec};

/// A database that can get further column families while it is read.
pub(crate) type Db = DBWithThreadMode<MultiThreaded>;
pub(crate) type Snapshot<'a> = SnapshotWithThreadMode<'a, Db>;
pub(crate) type RawIterator<'a> = DBRawIteratorWithThreadMode<'a, Db>;

/// The families by table.
pub(crate) struct Families {
    /// The handle of each table's family, or null if the table has none. The database keeps the
    /// handles until it is closed, since no family is ever dropped.
    handles: Vec<AtomicPtr<Handle>>,
    creating: Mutex<()>,
}

/// A table's family in an open database.
#[derive(Clone, Copy)]
pub(crate) struct Family<'a> {
    handle: *mut Handle,
    database: PhantomData<&'a Db>,
}

impl AsColumnFamilyRef for Family<'_> {
    fn inner(&self) -> *mut Handle {
        self.handle
    }
}

impl Families {
    pub(crate) fn of(db: &Db, tables: &[TableSpec]) -> Self {
        let handles = tables.iter().map(|table| AtomicPtr::new(find(db, table)));
        Self {
            handles: handles.collect(),
            creating: Mutex::default(),
        }
    }

    /// Returns the family of a table; `None` if the table has never had files.
    pub(crate) fn get(&self, table: TableId) -> Option<Family<'_>> {
        let handle = self.handles[usize::from(table.0)].load(Ordering::Acquire);
        (!handle.is_null()).then_some(Family {
            handle,
            database: PhantomData,
        })
    }

    /// Returns the family of a table, created if it is missing.
    ///
    /// # Errors
    /// When RocksDB cannot create it.
    pub(crate) fn get_or_create(
        &self,
        db: &Db,
        table: TableId,
        spec: &TableSpec,
        options: impl FnOnce() -> Options,
    ) -> Result<Family<'_>, Error> {
        let _creating = self.creating.lock();
        if let Some(family) = self.get(table) {
            return Ok(family);
        }
        // RocksDB may create the family but fail to write its options file, which nothing reads.
        // Then the call fails, too, but keeps the handle, unlike `create_cf`.
        let created = db.create_cfs([spec.name], &options());
        let handle = find(db, spec);
        match created {
            Err(error) if handle.is_null() => Err(error),
            _ => {
                self.handles[usize::from(table.0)].store(handle, Ordering::Release);
                Ok(Family {
                    handle,
                    database: PhantomData,
                })
            }
        }
    }
}

/// Returns the handle of a table's family, or null.
fn find(db: &Db, table: &TableSpec) -> *mut Handle {
    let family = db.cf_handle(table.name);
    family.map_or(ptr::null_mut(), |family| family.inner())
}
