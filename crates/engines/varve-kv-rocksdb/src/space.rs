//! One space: a RocksDB database.

use std::cell::RefCell;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use parking_lot::RwLock;
use rust_rocksdb::checkpoint::Checkpoint;
use rust_rocksdb::{
    AsColumnFamilyRef, CompactOptions, FlushOptions, ReadOptions, WaitForCompactOptions,
    WriteBatch, WriteOptions,
};
use varve_kv::fail_point::{self, FailPoint};
use varve_kv::{
    Batch, Durability, KvError, Reader, ReaderLayer, Space, Statistic, TableId, TableSpec,
};

use crate::batch::Encoder;
use crate::checksums;
use crate::engine::OpenMark;
use crate::errors::{file_error, kv_error};
use crate::families::{Db, Families, Family};
use crate::health::Health;
use crate::ingest::Ingest;
use crate::options::Shared;
use crate::snapshot::OwnedSnapshot;
use crate::statistics;
use crate::view::View;

/// The buffer of a batch is reused for the next one, unless it is larger than this.
const BATCH_BUFFER_KEPT_BYTES: usize = 4 << 20;
/// A batch of at least this number of operations is sorted by key.
const SORT_BATCHES_FROM: usize = 64;

thread_local! {
    static ENCODER: RefCell<Encoder> = RefCell::default();
}

pub(crate) struct RocksSpace {
    name: String,
    tables: &'static [TableSpec],
    families: Families,
    /// The ids of the column families, by table; set at the first write to the memtables.
    ids: OnceLock<Vec<u32>>,
    health: Health,
    /// Writers hold it shared. A writer whose prefix delete needs the stored keys holds it
    /// exclusively.
    writers: RwLock<()>,
    synced: WriteOptions,
    buffered: WriteOptions,
    point_options: ReadOptions,
    shared: Arc<Shared>,
    pub(crate) ingest: Ingest,
    db: Db,
    /// Dropped after the database. From then on the space may be opened again.
    _open: OpenMark,
}

impl RocksSpace {
    pub(crate) fn new(
        db: Db,
        tables: &'static [TableSpec],
        health: Health,
        shared: Arc<Shared>,
        open: OpenMark,
    ) -> Self {
        let mut synced = WriteOptions::default();
        synced.set_sync(true);
        let families = Families::of(&db, tables);
        let ingest = Ingest::new(&db, tables, &shared);
        Self {
            name: open.name().to_owned(),
            tables,
            families,
            ids: OnceLock::new(),
            health,
            writers: RwLock::default(),
            synced,
            buffered: WriteOptions::default(),
            point_options: ReadOptions::default(),
            shared,
            ingest,
            db,
            _open: open,
        }
    }

    pub(crate) fn db(&self) -> &Db {
        &self.db
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn tables(&self) -> &'static [TableSpec] {
        self.tables
    }

    pub(crate) fn view(&self) -> View<'_> {
        View {
            space: &self.name,
            db: &self.db,
            families: &self.families,
            tables: self.tables,
            snapshot: None,
            point_options: &self.point_options,
            looks: &self.ingest.pace.looks,
        }
    }

    pub(crate) fn failed(&self, error: &rust_rocksdb::Error) -> KvError {
        kv_error(&self.name, error)
    }

    /// Passes a fail point. A failure that it is armed with counts as a failed write.
    pub(crate) fn reached(&self, point: &'static FailPoint) -> Result<(), KvError> {
        point.reach().map_err(|error| self.health.failed(&error))
    }

    /// Converts the error of a write to a [`KvError`], and records it if it forbids further writes.
    pub(crate) fn write_failed(&self, error: &rust_rocksdb::Error) -> KvError {
        self.health.write_failed(error)
    }

    /// The first error of RocksDB's background threads that more disk space would not resolve.
    pub(crate) fn background_failure(&self) -> Option<String> {
        self.health.events().failed()
    }

    pub(crate) fn before_write(&self) -> Result<(), KvError> {
        self.health.before_write(&self.db, || {
            statistics::memtable_bytes(&self.db, self.tables)
        })
    }

    /// Returns the family of a table for a write, created if it is missing.
    ///
    /// # Errors
    /// When RocksDB cannot create it.
    pub(crate) fn family_to_write(
        &self,
        table: TableId,
    ) -> Result<Family<'_>, rust_rocksdb::Error> {
        let spec = &self.tables[usize::from(table.0)];
        let options = || self.shared.table_options(spec);
        self.families.get_or_create(&self.db, table, spec, options)
    }

    /// The ids of all tables' families, which are created if they are missing.
    fn ids(&self) -> Result<&[u32], KvError> {
        if let Some(ids) = self.ids.get() {
            return Ok(ids);
        }
        let of = |table: usize| match self.family_to_write(TableId(table as u8)) {
            Ok(family) => Ok(family.id()),
            Err(error) => Err(self.write_failed(&error)),
        };
        let ids = (0..self.tables.len()).map(of).collect::<Result<_, _>>()?;
        Ok(self.ids.get_or_init(|| ids))
    }

    /// Encodes and writes a batch; `unbounded` as in [`Encoder::encode`].
    fn write_encoded(
        &self,
        batch: &Batch,
        durability: Durability,
        encoder: &mut Encoder,
        unbounded: impl FnMut(usize, &[u8]) -> Result<Vec<Vec<u8>>, Encode>,
    ) -> Result<(), Encode> {
        let ids = self.ids().map_err(Encode::Failed)?;
        let bytes = encoder.encode(batch, ids, SORT_BATCHES_FROM, unbounded)?;
        let encoded = WriteBatch::from_data(bytes);
        let options = match durability {
            Durability::Sync => &self.synced,
            Durability::Buffered => &self.buffered,
        };
        self.reached(&fail_point::SPACE_WRITE)
            .map_err(Encode::Failed)?;
        self.db
            .write_opt(&encoded, options)
            .map_err(|error| Encode::Failed(self.health.write_failed(&error)))?;
        self.reached(&fail_point::SPACE_WRITTEN)
            .map_err(Encode::Failed)
    }

    fn write_with(
        &self,
        batch: &Batch,
        durability: Durability,
        encoder: &mut Encoder,
    ) -> Result<(), KvError> {
        let shared = self.writers.read();
        let first = self.write_encoded(batch, durability, encoder, |_, _| Err(Encode::NeedsKeys));
        drop(shared);
        let again = match first {
            Err(Encode::NeedsKeys) => {
                let _alone = self.writers.write();
                self.write_encoded(batch, durability, encoder, |table, start| {
                    self.keys_under(table, start).map_err(Encode::Failed)
                })
            }
            done => done,
        };
        match again {
            Ok(()) => Ok(()),
            Err(Encode::Failed(error)) => Err(error),
            Err(Encode::NeedsKeys) => unreachable!("the second encoding is given the keys"),
        }
    }

    /// All stored keys of a table that start with `start`.
    pub(crate) fn keys_under(&self, table: usize, start: &[u8]) -> Result<Vec<Vec<u8>>, KvError> {
        let Some(family) = self.families.get(TableId(table as u8)) else {
            return Ok(Vec::new());
        };
        let mut options = ReadOptions::default();
        options.set_total_order_seek(true);
        let mut rows = self.db.raw_iterator_cf_opt(&family, options);
        let mut keys = Vec::new();
        rows.seek(start);
        while let Some(key) = rows.key().filter(|key| key.starts_with(start)) {
            keys.push(key.to_vec());
            rows.next();
        }
        rows.status().map_err(|error| self.failed(&error))?;
        Ok(keys)
    }

    /// The families of all tables that have one.
    fn open_families(&self) -> impl Iterator<Item = Family<'_>> {
        let of = |table: usize| self.families.get(TableId(table as u8));
        (0..self.tables.len()).filter_map(of)
    }

    fn flush(&self) -> Result<(), rust_rocksdb::Error> {
        let families: Vec<_> = self.open_families().collect();
        let families: Vec<_> = families.iter().collect();
        let mut options = FlushOptions::default();
        options.set_wait(true);
        self.db.flush_cfs_opt(&families, &options)
    }
}

/// Why a batch was not encoded or written.
enum Encode {
    /// A prefix delete needs the stored keys.
    NeedsKeys,
    Failed(KvError),
}

impl Space for RocksSpace {
    fn write(&self, batch: &Batch, durability: Durability) -> Result<(), KvError> {
        self.before_write()?;
        if batch.is_empty() {
            return Ok(());
        }
        ENCODER.with_borrow_mut(|encoder| {
            let done = self.write_with(batch, durability, encoder);
            encoder.shrink(BATCH_BUFFER_KEPT_BYTES);
            done
        })
    }

    fn sync(&self) -> Result<(), KvError> {
        self.before_write()?;
        self.reached(&fail_point::SPACE_SYNC)?;
        self.db
            .flush_wal(true)
            .map_err(|error| self.health.write_failed(&error))
    }

    fn snapshot(self: Arc<Self>) -> Option<Arc<dyn Reader>> {
        Some(Arc::new(OwnedSnapshot::new(self)))
    }

    fn checkpoint(&self, dir: &Path) -> Result<(), KvError> {
        if let Some(parent) = dir.parent() {
            varve_kv::folder::create_folders(parent)
                .map_err(|error| file_error(&self.name, "creating the copy's directory", &error))?;
        }
        Checkpoint::new(&self.db)
            .and_then(|checkpoint| checkpoint.create_checkpoint(dir))
            .map_err(|error| self.failed(&error))
    }

    fn compact(&self) -> Result<(), KvError> {
        self.before_write()?;
        self.flush()
            .map_err(|error| self.health.write_failed(&error))?;
        let options = CompactOptions::default();
        for family in self.open_families() {
            self.db
                .compact_range_cf_opt(&family, None::<&[u8]>, None::<&[u8]>, &options);
        }
        self.db
            .wait_for_compact(&WaitForCompactOptions::default())
            .map_err(|error| self.failed(&error))
    }

    fn verify_checksums(&self) -> Result<(), KvError> {
        checksums::verify(self)
    }

    fn statistics(&self) -> Vec<Statistic> {
        statistics::collect(
            &self.db,
            self.tables,
            &self.shared,
            &self.ingest.pace.looks,
            self.health.events(),
        )
    }
}

impl Drop for RocksSpace {
    fn drop(&mut self) {
        // After a flush, the next opening has no log to replay. If the flush fails, the log still
        // has all rows.
        let _ = self.flush();
    }
}

impl ReaderLayer for RocksSpace {
    type Below<'a> = View<'a>;

    fn read<T>(&self, read: impl FnOnce(&View<'_>) -> T) -> T {
        read(&self.view())
    }
}
