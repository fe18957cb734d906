//! The storage engines with persistent data, and how the options configure them.

use std::sync::Arc;
use std::time::Duration;

use varve_encoding::tables::LARGE;
use varve_kv::Engine;
use varve_kv_cassandra::{
    CassandraConfig, CassandraEngine, Consistency, Credentials, Identity, Tls,
};
use varve_kv_parted::{PartOptions, PartRule, PartedEngine};
use varve_kv_rocksdb::{FrontTable, RocksConfig, RocksEngine};

use super::Absent;
use crate::CommandError;
use crate::config::Config;
use crate::data::{graphs_folder, memory_bytes};

/// The fewest background jobs of RocksDB. One is reserved for flushes, which leaves two for
/// compactions. The second compaction runs only when compaction has fallen behind, as during a long
/// one; without it, files would accumulate until nothing could be flushed.
const BACKGROUND_JOBS_MIN: u16 = 3;

/// The most background jobs of RocksDB. No memory setting includes the buffers of a compaction, so
/// the number is bounded on machines of any size.
const BACKGROUND_JOBS_MAX: u16 = 16;

/// Opens RocksDB in the data folder.
///
/// # Errors
/// When another process has the folder open, the folder cannot be written, or there is no store and
/// `absent` forbids creating one.
pub(crate) fn rocksdb(config: &Config, absent: Absent) -> Result<Arc<dyn Engine>, CommandError> {
    let options = rocksdb_options(config);
    let engine = match absent {
        Absent::Create => RocksEngine::open(&options),
        Absent::Refuse => RocksEngine::open_existing(&options),
    };
    Ok(Arc::new(engine?))
}

/// The options of RocksDB.
pub(crate) fn rocksdb_options(config: &Config) -> RocksConfig {
    let folder = graphs_folder(&config.storage.data_dir);
    // Answers remove the folder prefix from absolute paths, and log lines show where the files are.
    let folder = std::path::absolute(&folder).unwrap_or(folder);
    let mut options = RocksConfig::new(&folder);
    options.memory_bytes = memory_bytes(config);
    options.front = FrontTable::Share(config.storage.front_table_bytes);
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    options.background_jobs = u16::try_from(cores)
        .unwrap_or(BACKGROUND_JOBS_MAX)
        .clamp(BACKGROUND_JOBS_MIN, BACKGROUND_JOBS_MAX);
    options
}

/// The options of the cluster.
fn cluster(config: &Config, advertised: Option<String>) -> CassandraConfig {
    let options = &config.storage.cassandra;
    let credentials = (!options.user.is_empty()).then(|| Credentials {
        user: options.user.clone(),
        password: options.password.clone(),
    });
    CassandraConfig {
        contact_points: options.contact_points.clone(),
        datacenter: options.datacenter.clone(),
        replication: options.replication,
        further_datacenters: options.further_datacenters.clone(),
        consistency: match &*options.consistency {
            "quorum" => Consistency::Quorum,
            // Validation has refused all other values.
            _ => Consistency::LocalQuorum,
        },
        keyspace: options.keyspace.clone(),
        credentials,
        tls: (!options.tls_trusted_file.is_empty()).then(|| Tls {
            trusted: options.tls_trusted_file.clone().into(),
            identity: (!options.tls_key_file.is_empty()).then(|| Identity {
                certificate: options.tls_certificate_file.clone().into(),
                key: options.tls_key_file.clone().into(),
            }),
            verify_host: options.tls_verify_host,
        }),
        connections: options.connections_per_node,
        in_flight_max: options.in_flight_max,
        room_wait: Duration::from_millis(options.room_wait_ms),
        request_timeout: Duration::from_millis(options.request_timeout_ms),
        lease: Duration::from_secs(options.lease_seconds),
        io_threads: options.io_threads,
        known_bytes_max: usize::try_from(memory_bytes(config)).unwrap_or(usize::MAX) / 4,
        shared: advertised.is_some(),
        address: advertised.unwrap_or_else(|| format!("process {}", std::process::id())),
    }
}

/// Connects to the cluster. Other servers on it reach this one at `advertised`.
///
/// # Errors
/// When the cluster refuses, or there is no data and `absent` forbids creating it.
pub(crate) fn cassandra(
    config: &Config,
    advertised: Option<String>,
    absent: Absent,
) -> Result<Arc<dyn Engine>, CommandError> {
    let cluster = cluster(config, advertised);
    let engine = Arc::new(match absent {
        Absent::Create => CassandraEngine::connect(cluster)?,
        Absent::Refuse => CassandraEngine::connect_existing(cluster)?,
    });
    let rules: Vec<PartRule> = LARGE
        .iter()
        .map(|large| PartRule {
            table: large.table,
            together: large.together,
            of_prefix: large.of_prefix,
        })
        .collect();
    let parts = PartOptions {
        bytes_max: config.storage.cassandra.partition_mib << 20,
    };
    Ok(Arc::new(PartedEngine::new(engine, &rules, parts)))
}

/// Sets the consistency of all servers on the cluster to that of the options. Returns a message for
/// people.
///
/// # Errors
/// When the engine is not Cassandra, a server has a graph open, or the cluster cannot be reached.
pub(crate) fn change_consistency(config: &Config) -> Result<String, CommandError> {
    if config.storage.engine != "cassandra" {
        return Err("storage.engine must be cassandra".into());
    }
    let changed = CassandraEngine::change_consistency(cluster(config, None))?;
    let keyspace = &config.storage.cassandra.keyspace;
    let now = changed.now;
    let (said, when) = match changed.before == now {
        true => (
            format!("the servers already have consistency {now}"),
            "If it was another before, and not all was repaired since: before",
        ),
        false => (
            format!(
                "the servers have consistency {now} now, and had {}",
                changed.before
            ),
            "Before",
        ),
    };
    Ok(format!(
        "{said}. {when} one is started repair the keyspaces {keyspace} and {keyspace}_… on all nodes"
    ))
}
