//! The engine: spaces by name.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use rust_rocksdb::{ColumnFamilyDescriptor, Options};
use varve_kv::{
    Capabilities, Engine, KvError, Space, SpaceId, TableSpec, check_space_name, fail_point,
};
use varve_kv_front::log::{Log, Salvaged};
use varve_kv_front::{FrontConfig, FrontOptions, FrontSpace};

use crate::config::RocksConfig;
use crate::directory::{DataDir, DirectoryContent, foreign, headless};
use crate::errors::{file_error, open_error};
use crate::families::Db;
use crate::front_log;
use crate::health::{Events, Health, Listener};
use crate::manifest;
use crate::options::Shared;
use crate::space::RocksSpace;
use crate::wal;

/// RocksDB creates this column family itself; nothing is stored in it.
const DEFAULT_FAMILY: &str = rust_rocksdb::DEFAULT_COLUMN_FAMILY_NAME;

/// The engine on RocksDB.
pub struct RocksEngine {
    directory: DataDir,
    shared: Arc<Shared>,
    open: Arc<Mutex<BTreeSet<String>>>,
}

impl RocksEngine {
    /// Opens the data directory, creating it if it is missing, and removes the remains of dropped
    /// spaces. Opens no space.
    ///
    /// # Errors
    /// [`KvError::Unavailable`] when another process uses the directory or the settings are
    /// invalid; otherwise when the directory cannot be written.
    pub fn open(config: &RocksConfig) -> Result<Self, KvError> {
        let shared = Shared::new(config)?;
        Ok(Self::of(DataDir::open(&config.data_dir)?, shared))
    }

    /// As [`RocksEngine::open`], for readers of data that must exist: creates nothing in other
    /// folders.
    ///
    /// # Errors
    /// [`KvError::Missing`] if no engine has stored data there; otherwise as [`RocksEngine::open`].
    pub fn open_existing(config: &RocksConfig) -> Result<Self, KvError> {
        let shared = Shared::new(config)?;
        Ok(Self::of(DataDir::open_existing(&config.data_dir)?, shared))
    }

    fn of(directory: DataDir, shared: Shared) -> Self {
        Self {
            directory,
            shared: Arc::new(shared),
            open: Arc::default(),
        }
    }
}

/// Marks a space as open until it is dropped.
pub(crate) struct OpenMark {
    name: String,
    open: Arc<Mutex<BTreeSet<String>>>,
}

impl OpenMark {
    fn set(name: &str, open: &Arc<Mutex<BTreeSet<String>>>) -> Result<Self, KvError> {
        if !open.lock().insert(name.to_owned()) {
            return Err(unavailable(name, "it is open already"));
        }
        Ok(Self {
            name: name.to_owned(),
            open: Arc::clone(open),
        })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for OpenMark {
    fn drop(&mut self) {
        self.open.lock().remove(&self.name);
    }
}

fn unavailable(space: &str, detail: &str) -> KvError {
    KvError::Unavailable {
        space: space.to_owned(),
        detail: detail.to_owned(),
    }
}

impl RocksEngine {
    /// Opens a space's files.
    fn open_files(
        &self,
        name: &str,
        tables: &'static [TableSpec],
        create: bool,
    ) -> Result<Arc<RocksSpace>, KvError> {
        let mark = OpenMark::set(name, &self.open)?;
        let path = self.directory.path_of(name);
        let found = self
            .directory
            .look(name)
            .map_err(|error| file_error(name, "looking for the space", &error))?;
        let is_new = match found {
            DirectoryContent::Nothing | DirectoryContent::Begun if !create => {
                return Err(unavailable(name, "it does not exist"));
            }
            DirectoryContent::Nothing | DirectoryContent::Begun => true,
            DirectoryContent::Store => false,
            DirectoryContent::Headless => return Err(headless(name, &path)),
            DirectoryContent::Foreign => return Err(foreign(name, &path)),
        };
        let events = Arc::new(Events::default());
        let listener = Listener {
            events: Arc::clone(&events),
            path: path.clone(),
        };
        let mut options = self.shared.space_options(name, listener);
        options.create_if_missing(is_new);
        let mut stored = Vec::new();
        if !is_new {
            manifest::check(name, &path)?;
            stored = stored_tables(name, &path, tables, &options)?;
            wal::check(name, &path)?;
        }
        // Without a front table, a batch may be for any table.
        let has_family = |table: &&TableSpec| {
            self.shared.front.is_none() || stored.iter().any(|name| name == table.name)
        };
        let families = tables
            .iter()
            .filter(has_family)
            .map(|table| {
                let options = self.shared.table_options(table);
                ColumnFamilyDescriptor::new(table.name, options)
            })
            .chain([ColumnFamilyDescriptor::new(
                DEFAULT_FAMILY,
                Options::default(),
            )]);
        let creating = |error| file_error(name, "creating the space", &error);
        if is_new {
            fail_point::SPACE_CREATE.reach().map_err(creating)?;
        }
        let db = Db::open_cf_descriptors(&options, &path, families)
            .map_err(|error| open_error(name, &error))?;
        if is_new {
            fail_point::SPACE_CREATED.reach().map_err(creating)?;
            self.directory
                .sync()
                .map_err(|error| file_error(name, "syncing the data directory", &error))?;
        }
        // Opening has created a new manifest.
        manifest::record(&path)
            .map_err(|error| file_error(name, "noting the manifest's length", &error))?;
        let health = Health::new(name, &path, events);
        let shared = Arc::clone(&self.shared);
        Ok(Arc::new(RocksSpace::new(db, tables, health, shared, mark)))
    }

    /// Opens the front table over a space.
    fn with_front(
        &self,
        name: &str,
        tables: &'static [TableSpec],
        space: Arc<RocksSpace>,
        options: FrontOptions,
    ) -> Result<Arc<FrontSpace>, KvError> {
        let path = self.directory.path_of(name);
        let config = FrontConfig {
            name: name.to_owned(),
            tables,
            log_dir: front_log::path(&path),
            options,
            budget: Arc::clone(&self.shared.front_budget),
            rows: Arc::clone(&self.shared.rows),
            partitions: Arc::clone(&self.shared.partitions),
            presence: Arc::clone(&self.shared.presence),
            watch: Arc::clone(&self.shared.watch),
        };
        FrontSpace::open(config, space)
    }

    /// Flushes the log of a front table to the space's files, removes the log, and opens the files
    /// again.
    fn without_log(
        &self,
        name: &str,
        tables: &'static [TableSpec],
        space: Arc<RocksSpace>,
    ) -> Result<Arc<RocksSpace>, KvError> {
        let front = self.with_front(name, tables, space, FrontOptions::default())?;
        front.flush()?;
        drop(front);
        front_log::remove(name, &self.directory.path_of(name))?;
        self.open_files(name, tables, false)
    }

    /// Recovers a space with a damaged log: stores the records before the damage in the sorted
    /// files, and moves the log away. Does nothing if the log is sound.
    ///
    /// # Errors
    /// When the space does not exist or is open, its files are damaged, or files cannot be read or
    /// written.
    pub fn recover_log(
        &self,
        name: &str,
        tables: &'static [TableSpec],
    ) -> Result<LogRecovery, KvError> {
        check_space_name(name)?;
        let path = self.directory.path_of(name);
        front_log::finish_removal(name, &path)?;
        let log = front_log::path(&path);
        let damage = match Log::verify(name, &log) {
            Ok(()) => return Ok(LogRecovery::Sound),
            Err(KvError::Corruption { detail, .. }) => detail,
            Err(error) => return Err(error),
        };
        let space = self.open_files(name, tables, false)?;
        let salvaged = varve_kv_front::recover_log(name, tables, &log, &*space)?;
        drop(space);
        let aside = front_log::put_aside(name, &path)?;
        Ok(LogRecovery::Recovered {
            damage,
            salvaged,
            aside,
        })
    }
}

/// The result of [`RocksEngine::recover_log`].
#[derive(Debug)]
pub enum LogRecovery {
    /// Nothing was done: the log is sound, or there is none.
    Sound,
    /// The log was moved away, and the space can be opened.
    Recovered {
        /// Why the log was refused.
        damage: String,
        /// The part that was stored.
        salvaged: Salvaged,
        /// The directory where the log is now.
        aside: PathBuf,
    },
}

impl Engine for RocksEngine {
    fn capabilities(&self) -> Capabilities {
        Capabilities::local("rocksdb")
    }

    fn spaces(&self) -> Result<Vec<SpaceId>, KvError> {
        let names = self.directory.spaces();
        let names = names.map_err(|error| file_error("", "listing the data directory", &error))?;
        Ok(names.into_iter().map(SpaceId::local).collect())
    }

    fn open(
        &self,
        name: &str,
        tables: &'static [TableSpec],
        create: bool,
    ) -> Result<Arc<dyn Space>, KvError> {
        check_space_name(name)?;
        let path = self.directory.path_of(name);
        front_log::finish_removal(name, &path)?;
        let log_goes = match &self.shared.front {
            Some(_) => front_log::is_of_earlier_build(&path),
            None => front_log::is_there(&path),
        };
        let mut space = self.open_files(name, tables, create)?;
        if log_goes {
            space = self.without_log(name, tables, space)?;
        }
        match &self.shared.front {
            Some(options) => Ok(self.with_front(name, tables, space, options.clone())?),
            None => Ok(space),
        }
    }

    fn drop_space(&self, name: &str, _incarnation: Option<&str>) -> Result<(), KvError> {
        check_space_name(name)?;
        // Keeps the space from being opened during its removal.
        let _mark = OpenMark::set(name, &self.open)
            .map_err(|_| unavailable(name, "it is open; close it before dropping it"))?;
        self.directory
            .remove(name)
            .map_err(|error| file_error(name, "removing the space", &error))
    }
}

/// Returns the names of a store's column families. Refuses a store with a table that is not in the
/// list: a newer version wrote it.
fn stored_tables(
    name: &str,
    path: &Path,
    tables: &[TableSpec],
    options: &Options,
) -> Result<Vec<String>, KvError> {
    let stored = Db::list_cf(options, path).map_err(|error| open_error(name, &error))?;
    for family in &stored {
        let known = family == DEFAULT_FAMILY || tables.iter().any(|table| table.name == family);
        if !known {
            let detail = format!("it has a table '{family}' that this version does not know");
            return Err(unavailable(name, &detail));
        }
    }
    Ok(stored)
}
