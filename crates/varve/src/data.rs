//! The data folder: its layout, and how its storage engine is opened.
//!
//! `graphs/` belongs to the engine and has one folder for each graph. `backups/` is the default for
//! online backups. One process at a time opens a data folder; the engine locks it.

use std::sync::Arc;
use std::time::Duration;

use varve_graph::backup::restored;
use varve_graph::{DurabilityMode, GraphOptions, Registry};
use varve_kv::memory::MemoryEngine;
use varve_kv::{Engine, KvError};
use varve_model::schema::Retention;
use varve_model::time::SystemClock;
use varve_omrs::graph_store::InstanceDerivers;

use varve_server::ServerJobs;

use crate::config::{Config, Durability};
use crate::engines::{self, Absent};
use crate::{CommandError, logging};

/// The folder of the engine within a data folder.
const GRAPHS: &str = "graphs";

/// The folder of the engine's files.
pub(crate) fn graphs_folder(data_dir: &std::path::Path) -> std::path::PathBuf {
    data_dir.join(GRAPHS)
}

/// Opens the storage engine for a server; creates the store if there is none. If several servers
/// can serve the same graphs, the others reach this one at its advertised address.
///
/// # Errors
/// When another process has the folder open, the folder cannot be written, this binary lacks the
/// engine, or the options give no address that other servers can reach.
pub(crate) fn open_server_engine(config: &Config) -> Result<Arc<dyn Engine>, CommandError> {
    match config.storage.engine.as_str() {
        "memory" => Ok(Arc::new(MemoryEngine::new())),
        "cassandra" => engines::cassandra(config, Some(config.advertised()?), Absent::Create),
        _ => {
            keep_private(&config.storage.data_dir);
            engines::rocksdb(config, Absent::Create)
        }
    }
}

/// Opens all graphs that are stored, for a command that works on them beside servers, and starts
/// its log. Creates neither a store nor a graph.
///
/// # Errors
/// [`KvError::Missing`] where there is no data; else as [`open_server_engine`] and [`open_graphs`].
pub(crate) fn open_stored(config: &Config) -> Result<Arc<Registry>, CommandError> {
    logging::start_for_command(&config.log);
    let engine = match config.storage.engine.as_str() {
        "memory" => {
            return Err(Box::new(KvError::Missing {
                store: "the engine memory".to_owned(),
                detail: "it loses its data when its process ends".to_owned(),
            }));
        }
        "cassandra" => engines::cassandra(config, None, Absent::Refuse)?,
        _ => engines::rocksdb(config, Absent::Refuse)?,
    };
    // Only servers decide which changes are kept.
    open_all(config, engine, None, None)
}

/// Removes the rights of other users on an existing data folder.
fn keep_private(data_dir: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt as _;

    const OTHERS: u32 = 0o077;
    let Ok(metadata) = std::fs::metadata(data_dir) else {
        // The folder does not exist yet; it will be created with the process's umask.
        return;
    };
    let mode = metadata.permissions().mode();
    if mode & OTHERS != 0 {
        let private = std::fs::Permissions::from_mode(mode & !OTHERS);
        if let Err(error) = std::fs::set_permissions(data_dir, private) {
            // The folder belongs to another user, such as the one that mounted it for a container.
            tracing::debug!(folder = %data_dir.display(), %error, "the permissions of the data folder could not be changed");
        }
    }
}

/// Opens all graphs of `engine`, and creates the missing ones of `graph.create`. A graph whose
/// newest commit is further ahead of the clock than `clock_ahead_max` is refused.
///
/// # Errors
/// When a graph is damaged or cannot be created.
pub(crate) fn open_graphs(
    config: &Config,
    engine: Arc<dyn Engine>,
    clock_ahead_max: Option<Duration>,
) -> Result<Arc<Registry>, CommandError> {
    let changes = config.kept_changes()?;
    let graphs = open_all(config, engine, clock_ahead_max, Some(changes))?;
    for name in &config.graph.create {
        graphs.ensure(name)?;
    }
    Ok(graphs)
}

fn open_all(
    config: &Config,
    engine: Arc<dyn Engine>,
    clock_ahead_max: Option<Duration>,
    changes: Option<Retention>,
) -> Result<Arc<Registry>, CommandError> {
    let mut options = GraphOptions::new(Arc::new(SystemClock));
    options.clock_ahead_max = clock_ahead_max;
    options.durability = match config.durability()? {
        Durability::Sync => DurabilityMode::Sync,
        Durability::Interval(every) => DurabilityMode::Interval(every),
        Durability::None => DurabilityMode::None,
    };
    options.changes = changes;
    if config.storage.engine == "rocksdb" {
        options.restored = restored(&graphs_folder(&config.storage.data_dir))?;
    }
    options.limits = config.limits.limits();
    options.limits.open_schema_max = config.gremlin.open_schema_max;
    // Every command that writes, purges or verifies open metadata then maintains its index entries.
    options.derivers = Some(Arc::new(InstanceDerivers));
    options.jobs = Some(Arc::new(ServerJobs::new(&config.whole_server())));
    Ok(Arc::new(Registry::open(engine, options)?))
}

/// The memory budget of all graphs in bytes: the option, or a quarter of the limit of the machine
/// or its control group.
pub(crate) fn memory_bytes(config: &Config) -> u64 {
    match config.storage.memory_mib {
        0 => (memory_limit() / 4).max(MEMORY_BYTES_MIN),
        mebibytes => mebibytes << 20,
    }
}

/// The smallest budget without the option, in bytes.
const MEMORY_BYTES_MIN: u64 = 256 << 20;
/// The memory that is assumed if the system does not report it, in bytes.
const MEMORY_BYTES_ASSUMED: u64 = 2 << 30;

fn memory_limit() -> u64 {
    let total = std::fs::read_to_string("/proc/meminfo")
        .ok()
        .and_then(|text| {
            let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
            line.split_whitespace()
                .nth(1)?
                .parse::<u64>()
                .ok()
                .map(|kibibytes| kibibytes << 10)
        });
    let group = std::fs::read_to_string("/sys/fs/cgroup/memory.max")
        .ok()
        .and_then(|text| text.trim().parse::<u64>().ok());
    match (total, group) {
        (Some(total), Some(group)) => total.min(group),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => MEMORY_BYTES_ASSUMED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_what_was_asked_for_or_a_share() {
        let mut config = Config::default();
        assert!(memory_bytes(&config) >= MEMORY_BYTES_MIN);
        config.storage.memory_mib = 300;
        assert_eq!(memory_bytes(&config), 300 << 20);
    }

    #[test]
    fn limits_are_the_graphs_own_unless_set() {
        let own = varve_graph::Limits::default();
        assert_eq!(Config::default().limits.limits(), own);
    }

    #[test]
    fn the_wanted_graphs_are_created() {
        let mut config = Config::default();
        config.storage.engine = "memory".to_owned();
        config.graph.create.push("second".to_owned());
        let engine = open_server_engine(&config).unwrap();
        let graphs = open_graphs(&config, engine, None).unwrap();
        assert_eq!(graphs.names(), ["hugegraph", "second"]);
    }
}
