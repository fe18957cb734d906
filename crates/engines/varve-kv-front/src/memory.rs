//! The front table over the in-memory engine: for tests of the front table and of the layers above,
//! without sorted files.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use varve_kv::{
    Batch, Durability, Engine, EngineLayer, Flow, KvError, MemoryEngine, Reader, ReaderLayer,
    Space, SpaceLayer, TableId, TableSpec, state_of,
};

use crate::base::{Base, SortedTable};
use crate::options::{Budget, FrontOptions};
use crate::partitions::PartitionCache;
use crate::rows::RowCache;
use crate::space::{FrontConfig, FrontSpace};
use crate::watch::Watch;

/// Memory for the presence filters: the first four segments.
const PRESENCE_BYTES: usize = 6 << 20;

/// Faults that flushes meet, for tests of failing and blocked flushes.
#[derive(Debug, Default)]
pub struct FlushControls {
    held: AtomicBool,
    full: AtomicBool,
    without_descriptors: AtomicBool,
}

impl FlushControls {
    /// Sets whether flushes wait, as if compaction had fallen behind.
    pub fn hold(&self, held: bool) {
        self.held.store(held, Ordering::Release);
    }

    /// Sets whether flushes fail for lack of file descriptors.
    pub fn take_descriptors(&self, taken: bool) {
        self.without_descriptors.store(taken, Ordering::Release);
    }

    /// Sets whether flushes fail because the disk is full.
    pub fn fill_disk(&self, full: bool) {
        self.full.store(full, Ordering::Release);
    }
}

/// The engine: the logs are in a directory, everything else is in memory.
#[derive(Debug)]
pub struct FrontMemoryEngine {
    memory: MemoryEngine,
    dir: PathBuf,
    options: FrontOptions,
    budget: Arc<Budget>,
    rows: Arc<RowCache>,
    partitions: Arc<PartitionCache>,
    presence: Arc<Budget>,
    watch: Arc<Watch>,
    controls: Arc<FlushControls>,
}

impl FrontMemoryEngine {
    /// Creates an engine without spaces that stores its logs in `dir`.
    #[must_use]
    pub fn new(dir: &Path, options: FrontOptions) -> Self {
        let limit = options.table_bytes.saturating_mul(options.frozen_max + 1);
        Self {
            memory: MemoryEngine::new(),
            dir: dir.to_path_buf(),
            options,
            budget: Arc::new(Budget::new(limit)),
            // Small, so that rows evict each other.
            rows: Arc::new(RowCache::new(16 << 10)),
            partitions: Arc::new(PartitionCache::new(16 << 10, Arc::new(Budget::new(0)))),
            presence: Arc::new(Budget::new(PRESENCE_BYTES)),
            watch: Arc::default(),
            controls: Arc::default(),
        }
    }

    /// The faults for the flushes of all spaces.
    #[must_use]
    pub fn controls(&self) -> &FlushControls {
        &self.controls
    }

    fn log_dir(&self, name: &str) -> PathBuf {
        self.dir.join(name).join("log")
    }
}

impl EngineLayer for FrontMemoryEngine {
    fn engine(&self) -> &dyn Engine {
        &self.memory
    }

    fn open(
        &self,
        name: &str,
        tables: &'static [TableSpec],
        create: bool,
    ) -> Result<Arc<dyn Space>, KvError> {
        let space = self.memory.open(name, tables, create)?;
        let config = FrontConfig {
            name: name.to_owned(),
            tables,
            log_dir: self.log_dir(name),
            options: self.options.clone(),
            budget: Arc::clone(&self.budget),
            rows: Arc::clone(&self.rows),
            partitions: Arc::clone(&self.partitions),
            presence: Arc::clone(&self.presence),
            watch: Arc::clone(&self.watch),
        };
        Ok(FrontSpace::open(
            config,
            Arc::new(MemoryBase {
                space,
                controls: Arc::clone(&self.controls),
            }),
        )?)
    }

    fn drop_space(&self, name: &str, incarnation: Option<&str>) -> Result<(), KvError> {
        self.memory.drop_space(name, incarnation)?;
        match std::fs::remove_dir_all(self.dir.join(name)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(KvError::Io {
                space: name.to_owned(),
                detail: format!("removing the log: {error}"),
            }),
            _ => Ok(()),
        }
    }
}

struct MemoryBase {
    space: Arc<dyn Space>,
    controls: Arc<FlushControls>,
}

impl Base for MemoryBase {
    fn state(self: Arc<Self>) -> Arc<dyn Reader> {
        state_of(&self.space)
    }

    fn ingest(&self, tables: &[SortedTable<'_>]) -> Result<(), KvError> {
        if self.controls.full.load(Ordering::Acquire) {
            return Err(KvError::DiskFull {
                space: String::new(),
                detail: "a test fills it".to_owned(),
            });
        }
        if self.controls.without_descriptors.load(Ordering::Acquire) {
            return Err(KvError::Busy {
                space: String::new(),
                detail: "a test has taken the file descriptors".to_owned(),
            });
        }
        // One batch for each table: as with files, the tables are not ingested atomically together.
        for table in tables {
            let mut batch = Batch::new();
            for (partition, prefix) in table.deletes() {
                batch.delete_prefix(table.table(), partition, prefix);
            }
            table.rows(|row| {
                let (partition, clustering) = row.key.split_at(row.partition_len);
                match row.value {
                    Some(value) => drop(batch.put(table.table(), partition, clustering, value)),
                    None => batch.delete(table.table(), partition, clustering),
                }
                Ok::<(), KvError>(())
            })?;
            self.space.write(&batch, Durability::Sync)?;
        }
        Ok(())
    }

    fn may_hold(&self, table: TableId) -> bool {
        let mut any = false;
        let scanned = self.space.scan_table(table, None, &mut |_| {
            any = true;
            Flow::Break(())
        });
        any || scanned.is_err()
    }

    fn backlog(&self) -> f64 {
        f64::from(u8::from(self.controls.held.load(Ordering::Acquire)))
    }
}

impl ReaderLayer for MemoryBase {
    type Below<'a> = dyn Space;

    fn read<T>(&self, read: impl FnOnce(&Self::Below<'_>) -> T) -> T {
        read(&*self.space)
    }
}

impl SpaceLayer for MemoryBase {
    fn space(&self) -> &dyn Space {
        &*self.space
    }

    fn snapshot(self: Arc<Self>) -> Option<Arc<dyn Reader>> {
        Arc::clone(&self.space).snapshot()
    }
}
