//! A space with a front table over its sorted files: writes, snapshots, maintenance.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;

use arc_swap::ArcSwap;
use parking_lot::{Condvar, Mutex};
use varve_kv::fail_point::{self, FailPoint};
use varve_kv::{
    Absences, Batch, Durability, KvError, Reader, ReaderLayer, Space, Statistic, TableId, TableSpec,
};

use crate::base::Base;
use crate::flusher::{self, FlushState, Frozen};
use crate::log::{Log, LogOptions, Remover, Syncer};
use crate::options::{Budget, FrontOptions};
use crate::partitions::PartitionCache;
use crate::presence::Presence;
use crate::record::{self, RecordReader};
use crate::rows::RowCache;
use crate::table::{Scratch, Table};
use crate::view::{Moment, View};
use crate::watch::{Watch, Watched};

/// The arguments with which a space is opened, besides the base.
#[derive(Debug)]
pub struct FrontConfig {
    /// The space's name, for messages.
    pub name: String,
    /// Its tables, in the order of their ids.
    pub tables: &'static [TableSpec],
    /// The directory of its log, created if it is missing.
    pub log_dir: PathBuf,
    /// The options of its front table.
    pub options: FrontOptions,
    /// The memory budget of the front tables, shared with other spaces.
    pub budget: Arc<Budget>,
    /// The cache of rows of the base that are read often, shared with other spaces.
    pub rows: Arc<RowCache>,
    /// The cache of small partitions of the base, shared with other spaces.
    pub partitions: Arc<PartitionCache>,
    /// The memory budget of the presence filters, shared with other spaces.
    pub presence: Arc<Budget>,
    /// The thread that maintains idle spaces, shared with other spaces.
    pub watch: Arc<Watch>,
}

/// A space whose writes go to a log and to a front table. Full tables are sorted and flushed to a
/// [`Base`]. Dropping the space flushes everything, so that the next opening has nothing to replay.
/// What could not be flushed stays in the log.
pub struct FrontSpace {
    shared: Arc<Shared>,
    watched: Option<Watched>,
}

/// The part that a space shares with its flusher, its learner and the watch.
pub(crate) struct Shared {
    /// A reference to itself, for the threads that it starts.
    pub(crate) own: Weak<Shared>,
    pub(crate) config: FrontConfig,
    pub(crate) base: Arc<dyn Base>,
    pub(crate) view: ArcSwap<View>,
    pub(crate) presence: Arc<Presence>,
    /// Held while the view is replaced: by a writer that freezes the active table, or by the
    /// flusher after a flush.
    replacing: Mutex<()>,
    writer: Mutex<Writer>,
    pub(crate) syncer: Syncer,
    remover: Remover,
    pub(crate) flush: Mutex<FlushState>,
    /// Notified when the queue or the outcome of flushes has changed.
    pub(crate) changed: Condvar,
    /// The thread that adds the keys of the sorted files to the presence filter.
    learner: Mutex<Option<JoinHandle<()>>>,
    /// Held while files are ingested, and while a checkpoint needs them unchanged.
    pub(crate) ingesting: Mutex<()>,
    /// Whether some files of a table may have been ingested and others not. Changes only while
    /// `ingesting` is held.
    pub(crate) taken_in_partly: AtomicBool,
}

struct Writer {
    log: Log,
    /// Whether the active segment has the record that maps table ids to names.
    named: bool,
    /// Why writes are refused until the space is opened again, if a fail point broke the space.
    /// Other failures break the log itself.
    broken: Option<String>,
    scratch: Scratch,
}

impl FrontSpace {
    /// Opens a front table over `base`, replaying the log.
    ///
    /// # Errors
    /// When the log is damaged or was written by a newer version, when files cannot be read or
    /// written, or when the thread of the watch does not start.
    pub fn open(config: FrontConfig, base: Arc<dyn Base>) -> Result<Arc<Self>, KvError> {
        let (log, active) = replay(&config, &*base)?;
        config.budget.take(active.bytes());
        let presence = Presence::new(config.tables, &*base, &active, Arc::clone(&config.presence));
        let presence = Arc::new(presence);
        let tables = 0..config.tables.len();
        let rows = Arc::clone(&config.rows).space();
        let partitions =
            Arc::clone(&config.partitions).space(config.tables, rows.shared_generation());
        let view = View {
            active: Arc::new(active),
            frozen: Vec::new(),
            base: Arc::clone(&base).state(),
            base_holds: tables.map(|n| base.may_hold(table_id(n))).collect(),
            rows: Arc::new(rows),
            partitions: Arc::new(partitions),
            generation: 0,
            presence: Arc::clone(&presence),
        };
        let watch = Arc::clone(&config.watch);
        let shared = Arc::new_cyclic(|own| Shared {
            own: Weak::clone(own),
            config,
            base,
            view: ArcSwap::from_pointee(view),
            presence,
            replacing: Mutex::default(),
            syncer: log.syncer(),
            remover: log.remover(),
            writer: Mutex::new(Writer {
                log,
                named: false,
                broken: None,
                scratch: Scratch::default(),
            }),
            flush: Mutex::default(),
            changed: Condvar::new(),
            learner: Mutex::default(),
            ingesting: Mutex::default(),
            taken_in_partly: AtomicBool::new(false),
        });
        let watched = watch.add(&shared).map_err(|error| KvError::Io {
            space: shared.config.name.clone(),
            detail: format!("the thread that watches tables did not start: {error}"),
        })?;
        Ok(Arc::new(Self {
            shared,
            watched: Some(watched),
        }))
    }

    /// Flushes everything that was written before the call, and removes it from the log.
    ///
    /// # Errors
    /// When the log is broken, its segment cannot be closed, or a flush failed. Rows that were not
    /// flushed are still in the log.
    pub fn flush(&self) -> Result<(), KvError> {
        self.shared.freeze(&mut self.shared.writer.lock())?;
        self.shared.wait_for_flushes()
    }
}

pub(crate) fn table_id(number: usize) -> varve_kv::TableId {
    varve_kv::TableId(u8::try_from(number).expect("there are at most 256 tables"))
}

/// Opens the log and replays it into a table. Whenever the table is full, it is ingested into the
/// base, and a new table is begun. Returns the log and the last table.
fn replay(config: &FrontConfig, base: &dyn Base) -> Result<(Log, Table), KvError> {
    let mut active = Table::new(0);
    let mut scratch = Scratch::default();
    let mut reader = RecordReader::new(&config.name, config.tables);
    let options = LogOptions {
        space: config.name.clone(),
        preallocate_bytes: config.options.log_preallocate_bytes,
        // A table's log is synced before the table is flushed, on the flusher's thread.
        sync_on_rotate: false,
    };
    let log = Log::open(&config.log_dir, options, &mut |log, _, payload| {
        let Some(record) = reader.read(payload)? else {
            return Ok(());
        };
        active.apply(record, &mut scratch);
        active.publish();
        if active.bytes() >= config.options.table_bytes {
            // A batch may be spread over several files. So the log with the whole batch must be
            // durable before the first file is.
            log.make_durable()?;
            flusher::ingest(base, config.tables.len(), &active)?;
            active = Table::new(0);
        }
        Ok(())
    })?;
    Ok((log, active))
}

impl Shared {
    pub(crate) fn view(&self) -> Arc<View> {
        self.view.load_full()
    }

    /// Freezes the active table, unless it is empty, and queues it for the flusher. Returns whether
    /// it was frozen. The flush state keeps the error, so that writes do not try again.
    fn freeze(&self, writer: &mut Writer) -> Result<bool, KvError> {
        let frozen = self.try_freeze(writer);
        let failed = frozen.as_ref().err();
        let failed = failed.map(|error| flusher::again(error, &self.config.name));
        self.flush.lock().not_frozen = failed;
        frozen
    }

    fn try_freeze(&self, writer: &mut Writer) -> Result<bool, KvError> {
        if let Some(reason) = &writer.broken {
            return Err(self.broken(reason));
        }
        let full = Arc::clone(&self.view.load().active);
        if full.published() == 0 {
            return Ok(false);
        }
        let segment = writer.log.rotate()?;
        writer.named = false;
        let next = Arc::new(Table::new(full.partitions()));
        self.replace(|view| View {
            active: next,
            frozen: std::iter::once(&view.active)
                .chain(&view.frozen)
                .cloned()
                .collect(),
            base: Arc::clone(&view.base),
            base_holds: view.base_holds.clone(),
            rows: Arc::clone(&view.rows),
            partitions: Arc::clone(&view.partitions),
            generation: view.generation,
            presence: Arc::clone(&view.presence),
        });
        let mut state = self.flush.lock();
        state.enqueue(Frozen {
            table: full,
            segment,
        });
        self.start_flusher(&mut state);
        drop(state);
        self.changed.notify_all();
        fail_point::FRONT_FROZEN.pass();
        Ok(true)
    }

    /// [`Shared::freeze`] for callers that do not hold the writer's lock.
    pub(crate) fn freeze_now(&self) -> Result<bool, KvError> {
        self.freeze(&mut self.writer.lock())
    }

    /// Starts the thread that adds the keys of the sorted files to the presence filter, once enough
    /// reads of absent rows would gain from it.
    pub(crate) fn start_learner(&self) {
        let mut learner = self.learner.lock();
        if learner.is_some() || !self.presence.wants_to_learn() {
            return;
        }
        let Some(own) = self.own.upgrade() else {
            return;
        };
        let learn = move || {
            // Readers of a damaged file get the error themselves.
            let _ = own
                .presence
                .learn(&*own.base, || own.view().rows.generation());
        };
        let thread = std::thread::Builder::new().name(format!("varve-learn-{}", self.config.name));
        *learner = thread.spawn(learn).ok();
    }

    /// Replaces the current view.
    pub(crate) fn replace(&self, next: impl FnOnce(&View) -> View) {
        let _alone = self.replacing.lock();
        let next = next(&self.view.load());
        self.view.store(Arc::new(next));
    }

    /// Removes the log's segments up to that of a flushed table.
    pub(crate) fn forget(&self, frozen: &Frozen) {
        // A segment whose removal fails is removed with the next one or by the next opening. If
        // that opening replays it, the result is the same. Removal needs syncs, so it does not hold
        // the writer's lock.
        let _ = self.remover.remove_through(frozen.segment);
        fail_point::FRONT_FORGOTTEN.pass();
    }

    fn write(&self, batch: &Batch, durability: Durability) -> Result<(), KvError> {
        self.admit(batch.byte_len())?;
        if u32::try_from(batch.byte_len() + record::RECORD_HEAD).is_err() {
            return Err(KvError::Busy {
                space: self.config.name.clone(),
                detail: "a batch of 4 GiB or more must be written in parts".to_owned(),
            });
        }
        let mut writer = self.writer.lock();
        let writer = &mut *writer;
        if batch.is_empty() {
            return Ok(());
        }
        let record = record::batch(batch.bytes());
        self.log(writer, &record, durability)?;
        let view = self.view.load();
        let table = &view.active;
        let before = table.bytes();
        table.apply(record, &mut writer.scratch);
        self.presence
            .add_batch(&table.arena, writer.scratch.hashed());
        self.config.budget.take(table.bytes() - before);
        fail_point::FRONT_APPLIED.pass();
        table.publish();
        if self.is_full(table) {
            let state = self.flush.lock();
            // A failed freeze is retried by the watch, not by every write.
            let freezes =
                state.len() < self.config.options.frozen_max && state.not_frozen.is_none();
            drop(state);
            if freezes {
                // If freezing fails, the table grows beyond its limit for a while.
                let _ = self.freeze(writer);
            }
        }
        Ok(())
    }

    /// Appends a record to the log, and syncs the log if `durability` requires it. The first record
    /// of a segment is the one that maps table ids to names.
    fn log(
        &self,
        writer: &mut Writer,
        record: &[u8],
        durability: Durability,
    ) -> Result<(), KvError> {
        if let Some(reason) = &writer.broken {
            return Err(self.broken(reason));
        }
        if !writer.named {
            writer.log.append(&record::names(self.config.tables))?;
            writer.named = true;
        }
        self.reached(writer, &fail_point::SPACE_WRITE)?;
        writer.log.append(record)?;
        self.reached(writer, &fail_point::FRONT_APPENDED)?;
        match durability {
            Durability::Sync => writer.log.sync()?,
            Durability::Buffered => writer.log.acknowledge(),
        }
        self.reached(writer, &fail_point::SPACE_WRITTEN)
    }

    /// Treats the failure of a fail point as a failure of the log: a full disk refuses this call
    /// only, any other error breaks the space.
    fn reached(&self, writer: &mut Writer, point: &'static FailPoint) -> Result<(), KvError> {
        point.reach().map_err(|error| {
            let space = self.config.name.clone();
            let detail = error.to_string();
            if error.kind() == std::io::ErrorKind::StorageFull {
                return KvError::DiskFull { space, detail };
            }
            writer.broken = Some(detail.clone());
            KvError::Io { space, detail }
        })
    }

    pub(crate) fn broken(&self, reason: &dyn std::fmt::Display) -> KvError {
        KvError::Io {
            space: self.config.name.clone(),
            detail: format!(
                "an earlier write failed; writes are refused until the space is reopened: {reason}"
            ),
        }
    }

    /// Whether a table should be frozen: it has `table_bytes`, or an eighth of them while the
    /// memory budget of all front tables is exceeded.
    pub(crate) fn is_full(&self, table: &Table) -> bool {
        let most = self.config.options.table_bytes;
        table.bytes() >= most || (self.config.budget.exceeded() && table.bytes() >= most / 8)
    }
}

impl Space for FrontSpace {
    fn write(&self, batch: &Batch, durability: Durability) -> Result<(), KvError> {
        self.shared.write(batch, durability)
    }

    fn write_may_wait(&self) -> bool {
        self.shared.is_pressed()
    }

    fn sync(&self) -> Result<(), KvError> {
        {
            let mut writer = self.shared.writer.lock();
            self.shared.reached(&mut writer, &fail_point::SPACE_SYNC)?;
        }
        self.shared.syncer.sync()
    }

    fn snapshot(self: Arc<Self>) -> Option<Arc<dyn Reader>> {
        // The view must be loaded before the number of published blocks.
        let view = self.shared.view();
        let visible = view.active.published();
        Some(Arc::new(FrontSnapshot {
            view,
            visible,
            _space: self,
        }))
    }

    fn checkpoint(&self, dir: &Path) -> Result<(), KvError> {
        self.flush()?;
        // No table is ingested during the copy, so it has each flushed table either wholly or not
        // at all. Flushes wait for the lock, writes do not.
        let _still = self.shared.ingesting.lock();
        if self.shared.taken_in_partly.load(Ordering::Relaxed) {
            return Err(KvError::Busy {
                space: self.shared.config.name.clone(),
                detail: "a table was stored in part, and the rest is retried: copy it later"
                    .to_owned(),
            });
        }
        self.shared.base.checkpoint(dir)
    }

    fn compact(&self) -> Result<(), KvError> {
        self.flush()?;
        self.shared.base.compact()
    }

    fn verify_checksums(&self) -> Result<(), KvError> {
        Log::verify(&self.shared.config.name, &self.shared.config.log_dir)?;
        self.shared.base.verify_checksums()
    }

    fn statistics(&self) -> Vec<Statistic> {
        let mut statistics = self.shared.base.statistics();
        let log_bytes = self.shared.writer.lock().log.bytes();
        statistics.extend(self.shared.statistics(log_bytes));
        statistics
    }
}

impl Drop for FrontSpace {
    fn drop(&mut self) {
        drop(self.watched.take());
        // If freezing fails, the log still has everything.
        let _ = self.shared.freeze_now();
        let flusher = self.shared.flush.lock().stop();
        self.shared.changed.notify_all();
        self.shared.presence.stop();
        let learner = self.shared.learner.lock().take();
        for thread in [learner, flusher].into_iter().flatten() {
            // A panic of a thread was already reported by that thread.
            let _ = thread.join();
        }
        let view = self.shared.view();
        let left = std::iter::once(&view.active).chain(&view.frozen);
        let left: usize = left.map(|table| table.bytes()).sum();
        self.shared.config.budget.give_back(left);
    }
}

impl ReaderLayer for FrontSpace {
    type Below<'a> = Moment<'a>;

    fn read<T>(&self, read: impl FnOnce(&Moment<'_>) -> T) -> T {
        let view = self.shared.view.load();
        read(&view.now())
    }

    /// Does not load the view: that atomic operation would prevent the processor from fetching the
    /// cache lines of many rows in parallel.
    fn known_absent(&self, rows: &[(TableId, &[u8], &[u8])]) -> Absences {
        self.shared.presence.lacks_each(rows, None)
    }
}

/// One state of a space: a view and the number of blocks of its active table that were published.
struct FrontSnapshot {
    view: Arc<View>,
    visible: u32,
    /// Keeps the space open.
    _space: Arc<FrontSpace>,
}

impl ReaderLayer for FrontSnapshot {
    type Below<'a> = Moment<'a>;

    fn read<T>(&self, read: impl FnOnce(&Moment<'_>) -> T) -> T {
        read(&self.view.at(self.visible))
    }
}
