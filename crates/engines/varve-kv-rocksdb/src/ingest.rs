//! Implements [`Base`], the store below a front table, by ingesting sorted tables as files.
//!
//! Each table's rows become one file, which is written outside the database and then linked into
//! it. RocksDB's log and memtables are not used, so keys are compared only when files are
//! compacted.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rust_rocksdb::properties as property;
use rust_rocksdb::{DBCompressionType, IngestExternalFileOptions, Options, SstFileWriter};
use varve_kv::range::prefix_end;
use varve_kv::{KvError, Reader, TableId, TableSpec, fail_point};
use varve_kv_front::{Base, SortedTable};

use crate::errors::{file_error, passing};
use crate::families::Db;
use crate::manifest;
use crate::options::{LEVEL0_STOP, Shared};
use crate::snapshot::OwnedSnapshot;
use crate::space::RocksSpace;
use crate::tiers::Pace;

/// The directory of unfinished files, inside the space's directory. After a crash its content is
/// useless.
const NEW_FILES: &str = "front-new";

/// Descriptors that RocksDB may need for each ingested file. One of them is for the directory of a
/// new family, which it keeps open.
const DESCRIPTORS_A_TABLE: usize = 3;
/// Further descriptors: for directories, for the manifest, and for other threads in the meantime.
const DESCRIPTORS_BESIDE: usize = 12;

/// The state for ingesting files.
pub(crate) struct Ingest {
    dir: PathBuf,
    /// By table, the options for writing its files.
    options: Vec<Options>,
    /// By table, whether it may have rows.
    holds: Vec<AtomicBool>,
    pub(crate) pace: Pace,
}

impl Ingest {
    pub(crate) fn new(db: &Db, tables: &[TableSpec], shared: &Shared) -> Self {
        let dir = db.path().join(NEW_FILES);
        // Files that cannot be removed only occupy disk space.
        let _ = fs::remove_dir_all(&dir);
        let options = tables.iter().map(|table| {
            let mut options = shared.table_options(table);
            // The first levels, where files arrive, are not compressed: they are rewritten soon.
            options.set_compression_per_level(&[]);
            options.set_compression_type(DBCompressionType::None);
            options.set_bottommost_compression_type(DBCompressionType::None);
            options
        });
        let holds = tables
            .iter()
            .map(|table| AtomicBool::new(has_rows(db, table)));
        Self {
            dir,
            options: options.collect(),
            holds: holds.collect(),
            pace: Pace::new(tables, &shared.tuning),
        }
    }
}

/// Whether the table has rows in sorted files or memtables.
fn has_rows(db: &Db, table: &TableSpec) -> bool {
    let Some(family) = db.cf_handle(table.name) else {
        return false;
    };
    let figures = [
        property::TOTAL_SST_FILES_SIZE,
        property::NUM_ENTRIES_ACTIVE_MEM_TABLE,
        property::NUM_ENTRIES_IMM_MEM_TABLES,
    ];
    let empty = |name| matches!(db.property_int_value_cf(&family, name), Ok(Some(0)));
    !figures.into_iter().all(empty)
}

impl RocksSpace {
    fn file_of(&self, table: TableId) -> PathBuf {
        let spec = &self.tables()[usize::from(table.0)];
        self.ingest.dir.join(format!("{}.sst", spec.name))
    }

    /// Writes the file of a table. Returns its path and number of entries; `None` if there are
    /// none.
    fn write_file(&self, sorted: &SortedTable<'_>) -> Result<Option<(PathBuf, u64)>, KvError> {
        self.reached(&fail_point::FRONT_FILE)?;
        let mut entries = 0u64;
        let path = self.file_of(sorted.table());
        // Missing rights may be temporary, as a full disk may be: both refuse writes only.
        let failed = |error: rust_rocksdb::Error| {
            passing(match self.failed(&error) {
                KvError::Unreadable { space, detail } => KvError::ReadOnly { space, detail },
                other => other,
            })
        };
        let mut file = SstFileWriter::create(&self.ingest.options[usize::from(sorted.table().0)]);
        file.open(&path).map_err(failed)?;
        // A deleted prefix without an upper bound cannot be deleted as a range: its stored keys are
        // deleted one by one.
        let mut doomed = Vec::new();
        for (partition, prefix) in sorted.deletes() {
            let start = [partition, prefix].concat();
            match prefix_end(&start) {
                Some(end) => {
                    file.delete_range(&start, &end).map_err(failed)?;
                    entries += 1;
                }
                None => doomed.extend(self.keys_under(usize::from(sorted.table().0), &start)?),
            }
        }
        doomed.sort_unstable();
        doomed.dedup();
        entries += doomed.len() as u64;
        let mut doomed = doomed.into_iter().peekable();
        sorted.rows(|row| {
            while let Some(key) = doomed.next_if(|key| key.as_slice() < row.key) {
                file.delete(key).map_err(failed)?;
            }
            doomed.next_if(|key| key == row.key);
            entries += 1;
            match row.value {
                Some(value) => file.put(row.key, value),
                None => file.delete(row.key),
            }
            .map_err(failed)
        })?;
        for key in doomed {
            file.delete(key).map_err(failed)?;
        }
        if entries == 0 {
            // RocksDB cannot create an empty file. There are no entries if the table only deletes
            // prefixes without an upper bound, and no stored key has them.
            return Ok(None);
        }
        file.finish().map_err(failed)?;
        self.reached(&fail_point::FRONT_FILED)?;
        Ok(Some((path, entries)))
    }

    fn take_in(&self, table: TableId, file: &Path) -> Result<(), KvError> {
        let family = self
            .family_to_write(table)
            .map_err(|error| self.not_taken_in(&error))?;
        let mut options = IngestExternalFileOptions::default();
        options.set_move_files(true);
        self.ingest.holds[usize::from(table.0)].store(true, Ordering::Release);
        self.db()
            .ingest_external_file_cf_opts(&family, &options, vec![file])
            .map_err(|error| self.not_taken_in(&error))?;
        self.reached(&fail_point::FRONT_INGESTED)
    }

    /// Opens as many file descriptors as the ingestion of all tables needs, and some more, so that
    /// no other thread takes them meanwhile: if RocksDB cannot open a file after it has begun to
    /// change its manifest, it stops working. Before a table is ingested, its share of the
    /// descriptors is closed, and another thread may take them before RocksDB does. This race is
    /// short, but possible.
    fn reserve_descriptors(&self) -> Result<Vec<File>, KvError> {
        let wanted = DESCRIPTORS_A_TABLE * self.tables().len() + DESCRIPTORS_BESIDE;
        (0..wanted)
            .map(|_| File::open(&self.ingest.dir))
            .collect::<std::io::Result<_>>()
            .map_err(|error| passing(file_error(self.name(), "reserving descriptors", &error)))
    }

    /// Returns the error of a failed ingestion. If RocksDB lacked a file descriptor before it
    /// changed anything, the ingestion can be retried. If it had begun to change its manifest, it
    /// would have reported a background error. If a failure left a family in the manifest, but no
    /// handle to it, the retry fails because the family exists, and that error is final.
    fn not_taken_in(&self, error: &rust_rocksdb::Error) -> KvError {
        match passing(self.failed(error)) {
            busy @ KvError::Busy { .. } if self.background_failure().is_none() => busy,
            _ => self.write_failed(error),
        }
    }

    /// Writes and ingests a file for each table that has rows. Returns the number of entries by
    /// table.
    fn ingest_files(&self, tables: &[SortedTable<'_>]) -> Result<Vec<u64>, KvError> {
        let mut rows = vec![0; self.tables().len()];
        let mut files = Vec::with_capacity(tables.len());
        let mut reserved = self.reserve_descriptors()?;
        for sorted in tables {
            if let Some((file, entries)) = self.write_file(sorted)? {
                files.push((sorted.table(), file));
                rows[usize::from(sorted.table().0)] += entries;
            }
        }
        for (left, (table, file)) in (1..=files.len()).rev().zip(&files) {
            let share = reserved.len().div_ceil(left);
            reserved.truncate(reserved.len() - share);
            self.take_in(*table, file)?;
        }
        Ok(rows)
    }
}

impl Base for RocksSpace {
    fn state(self: Arc<Self>) -> Arc<dyn Reader> {
        Arc::new(OwnedSnapshot::new(self))
    }

    fn ingest(&self, tables: &[SortedTable<'_>]) -> Result<(), KvError> {
        self.before_write()?;
        let dir = &self.ingest.dir;
        let failed = |error: std::io::Error| {
            let doing = "preparing the directory of new files";
            passing(file_error(self.name(), doing, &error))
        };
        fs::create_dir_all(dir).map_err(failed)?;
        let done = self.ingest_files(tables);
        // Ingested files have been moved away; files that an error left are written again.
        let _ = fs::remove_dir_all(dir);
        let rows = done?;
        if self.shared().in_tiers() {
            self.ingest.pace.flushed(self.db(), self.tables(), &rows);
        }
        // The log of the ingested rows may be removed now, so the manifest must not lose them.
        manifest::record(self.db().path()).map_err(|error| {
            let doing = "noting the manifest's length";
            passing(file_error(self.name(), doing, &error))
        })
    }

    fn check(&self) -> Result<(), KvError> {
        self.before_write()?;
        match self.background_failure() {
            None => Ok(()),
            Some(detail) => Err(KvError::Io {
                space: self.name().to_owned(),
                detail: format!("compaction has stopped: {detail}"),
            }),
        }
    }

    fn may_hold(&self, table: TableId) -> bool {
        self.ingest.holds[usize::from(table.0)].load(Ordering::Acquire)
    }

    fn backlog(&self) -> f64 {
        if self.shared().in_tiers() {
            return self.ingest.pace.backlog(self.db(), self.tables());
        }
        let files = |table: &TableSpec| {
            let family = self.db().cf_handle(table.name)?;
            let name = property::num_files_at_level(0);
            self.db()
                .property_int_value_cf(&family, &name)
                .ok()
                .flatten()
        };
        let most = self.tables().iter().filter_map(files).max().unwrap_or(0);
        most as f64 / f64::from(LEVEL0_STOP)
    }

    fn expect(&self, new_rows: bool) {
        self.ingest.pace.expect(new_rows);
    }

    fn settle(&self) {
        if self.shared().in_tiers() {
            self.ingest.pace.settle(self.db(), self.tables());
        }
    }
}
