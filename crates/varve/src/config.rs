//! The configuration: one struct for each section. Four layers, each overriding the one before:
//! defaults, TOML file, environment, flags.
//!
//! Each layer is a TOML table that is merged into the table of the layers before. The file is first
//! parsed alone, so that an error in it has its file and line. Errors in the other layers name the
//! variable or the flag.

mod checks;
mod document;
mod layers;

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use toml::Table;
use varve_graph::Limits;
use varve_graph::maintenance::MaintenanceOptions;
use varve_graph::schema::parse_retention;
use varve_model::schema::Retention;
use varve_server::{
    AuthConfig, BackupConfig, BoltConfig, ChangesConfig, ExploreConfig, GremlinConfig, LoadConfig,
    OmrsConfig, OptionDoc, ServerConfig, TlsConfig, section,
};

pub(crate) use document::{markdown, toml_text};
use layers::{environment_key, file_error, merge, set};

section! {
    /// Where and how the data is kept.
    pub(crate) struct StorageConfig {
        /// The storage engine. `rocksdb` keeps the data on disk; `memory` loses it when the server
        /// stops; `cassandra` keeps it in an Apache Cassandra cluster, see
        /// `[storage.cassandra]`.
        engine: String = "rocksdb".to_owned(),
        /// The data folder; it is created if it is missing. Only one server at a time may use it.
        data_dir: PathBuf = PathBuf::from("data"),
        /// When a write is acknowledged. `sync`: when it is on disk, which survives power loss.
        /// `interval:<ms>`: at once; a crash of the process loses nothing, power loss at most the
        /// writes of the last so many milliseconds. `none`: at once, and the operating system
        /// decides when the write reaches the disk.
        durability: String = "sync".to_owned(),
        /// Memory in MiB that all graphs together may use for caches and write buffers; 0 takes a
        /// quarter of the machine's memory. At least 256. With Cassandra only a quarter of it is
        /// used, for the keys of rows.
        memory_mib: u64 = 1920,
        /// Size in bytes at which a graph's front table, the table in memory that takes its writes,
        /// is flushed to sorted files. At least 16 KiB, and at most an eighth of the memory. It may
        /// change at any start.
        front_table_bytes: usize = 160 << 20,
        /// Seconds by which the newest commit of a graph may be ahead of this machine's clock when
        /// the server opens the graph. Otherwise the graph is not opened, since the clock is wrong
        /// now or was wrong at that commit. 0 opens it whatever the clock shows. See `time.md`.
        clock_ahead_max_seconds: u64 = 3_600,
        @
        /// The cluster, for the engine `cassandra`.
        cassandra: CassandraOptions,
    }
}

impl StorageConfig {
    /// The largest accepted lead of a graph's newest commit over the clock; `None` = no limit.
    pub(crate) fn clock_ahead_max(&self) -> Option<Duration> {
        let seconds = self.clock_ahead_max_seconds;
        (seconds > 0).then(|| Duration::from_secs(seconds))
    }
}

section! {
    /// The Cassandra cluster that keeps the data.
    pub(crate) struct CassandraOptions {
        /// Nodes to which the server connects first, each `host:port`. It finds the others through
        /// them.
        contact_points: Vec<String> = vec!["127.0.0.1:9042".to_owned()],
        /// The datacenter whose nodes this server uses. Cassandra calls its first one
        /// `datacenter1`.
        datacenter: String = "datacenter1".to_owned(),
        /// Replicas of each row in that datacenter, 1 to 9, for graphs that are created from now
        /// on. If the datacenter has fewer nodes, creating a graph is refused.
        replication: u8 = 3,
        /// Name of the keyspace that lists the graphs: 1 to 16 lower-case letters, digits and `_`,
        /// the first a letter. The keyspace of a graph is named with this, `_`, the graph's name
        /// and digits.
        keyspace: String = "varve".to_owned(),
        /// Other datacenters in which `replication` nodes also keep each row, for graphs that are
        /// created from now on.
        further_datacenters: Vec<String> = Vec::new(),
        /// How many replicas of a row must have answered, for reads and writes alike.
        /// `local_quorum`: most of those in `datacenter`, which must be the same for all servers.
        /// `quorum`: most of all, which servers in several datacenters need. All servers on these
        /// keyspaces must have the same level: a server with another one does not start.
        /// `varve change-consistency` changes it while no server runs. Lower levels are refused,
        /// since reads could miss writes that were just acknowledged.
        consistency: String = "local_quorum".to_owned(),
        /// The role with which to log in, for clusters that require one; empty for none.
        user: String = String::new(),
        /// The password of that role. Set it in the environment rather than in a file that others
        /// may read. `varve config` does not print it.
        password: String = String::new(),
        /// A PEM file with the certificates of the authorities that sign the nodes' certificates.
        /// If it is given, the server uses only TLS to reach the cluster.
        tls_trusted_file: String = String::new(),
        /// A PEM file with this server's certificate, for clusters that require one of their
        /// clients.
        tls_certificate_file: String = String::new(),
        /// A PEM file with the key of that certificate, not encrypted.
        tls_key_file: String = String::new(),
        /// Whether a node's certificate must name the IP address by which this server reaches the
        /// node. If false, everyone who has a certificate of the same authority can impersonate a
        /// node.
        tls_verify_host: bool = true,
        /// Connections to each node.
        connections_per_node: usize = 2,
        /// Calls to the cluster in flight at once. A further one waits for `room_wait_ms`, then it
        /// is answered 503.
        in_flight_max: usize = 1024,
        /// Milliseconds that a call waits when `in_flight_max` is reached.
        room_wait_ms: u64 = 2_000,
        /// Milliseconds that one request to the cluster may take. It should be longer than the
        /// cluster's own timeouts.
        request_timeout_ms: u64 = 12_000,
        /// Seconds for which this server relies on its leases of graphs without a renewal, 2 to
        /// 3600. When it has not reached the cluster for so long, it refuses writes until it has
        /// renewed them. After a crash, other servers wait a little longer before they take the
        /// graphs over.
        lease_seconds: u64 = 4,
        /// Approximate size in MiB, 1 to 1024, at which a partition of the cluster counts as full.
        /// Further edges of a vertex with very many edges, and further entries of an index, then go
        /// to additional partitions. The size is that of the written data before compression.
        /// Cassandra recommends at most 100 MiB for a partition. The value may change: data that is
        /// already stored can be read with any value.
        partition_mib: u64 = 48,
        /// Threads that communicate with the cluster.
        io_threads: usize = 2,
        /// The address, `host:port`, at which the other servers on these keyspaces reach this one,
        /// to forward requests for the graphs that it leads. Empty takes `server.host` and
        /// `server.port`; the host must then not be an unspecified address such as `0.0.0.0`.
        advertise: String = String::new(),
    }
}

section! {
    /// Which graphs are created at start, and how long changes are kept.
    pub(crate) struct GraphConfig {
        /// Graphs that are created at start if they are missing. HugeGraph's clients expect one
        /// with the name `hugegraph`.
        create: Vec<String> = vec!["hugegraph".to_owned()],
        /// How long the server keeps, for `GET …/changes`, what each commit changed: `off`, `all`,
        /// or a time such as `7d` or `12h`. Each commit then writes one more row. If it is switched
        /// off and on again, the record begins anew.
        changes: String = "off".to_owned(),
    }
}

section! {
    /// Limits on the number of graphs, on deletions and on waiting commits.
    pub(crate) struct LimitsConfig {
        /// Graphs that the server may have. Creating one more is answered 400. Graphs that exist
        /// already are opened, whatever their number.
        graphs_max: usize = 256,
        /// Edges that are deleted with a vertex in one commit. If the vertex has more, its edges
        /// are deleted before it, in several commits.
        vertex_delete_edges_max: usize = 200_000,
        /// Bytes of the keys and contents of all edges that are deleted with vertices in one
        /// commit, at most 1 GiB. If a single vertex has more, its edges are deleted before it, in
        /// several commits. If that is not possible (several vertices, a given period, a purge),
        /// the answer is 400.
        vertex_delete_bytes_max: usize = 256 << 20,
        /// Bytes of waiting commits that are merged into one write of the storage engine.
        commit_group_bytes_max: usize = 4 << 20,
        /// Bytes of commits of one graph that may wait to be written. Over it, writes are answered
        /// 503.
        commit_queue_bytes_max: usize = 64 << 20,
    }
}

section! {
    /// Background maintenance.
    pub(crate) struct MaintenanceConfig {
        /// Milliseconds between two checks for valid times that have begun or ended, 10 to 3600000.
        /// The checks keep the tables of current rows small; reads are correct without them.
        tidy_interval_ms: u64 = 1_000,
        /// Seconds between two runs that delete history older than the retention of its label, and
        /// tasks older than `task_retention_hours`; 1 to 604800.
        retention_interval_seconds: u64 = 3_600,
        /// Hours for which a task is kept after it has ended; 0 keeps it for ever. (HugeGraph keeps
        /// tasks until they are deleted.)
        task_retention_hours: u64 = 168,
    }
}

section! {
    /// What the server writes to standard error.
    pub(crate) struct LogConfig {
        /// The least severe level that is logged: `error`, `warn`, `info`, `debug` or `trace`.
        level: String = "info".to_owned(),
        /// The form of a line: `text` for people, `json` for programs (one object a line:
        /// `timestamp`, `level`, `target`, `message` and the fields of the event).
        format: LogFormat = LogFormat::Text,
    }
}

/// How log lines are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// All options.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    /// `[server]`
    pub(crate) server: ServerConfig,
    /// `[storage]`
    pub(crate) storage: StorageConfig,
    /// `[graph]`
    pub(crate) graph: GraphConfig,
    /// `[limits]`
    pub(crate) limits: LimitsConfig,
    /// `[auth]`
    pub(crate) auth: AuthConfig,
    /// `[tls]`
    pub(crate) tls: TlsConfig,
    /// `[gremlin]`
    pub(crate) gremlin: GremlinConfig,
    /// `[bolt]`
    pub(crate) bolt: BoltConfig,
    /// `[explore]`
    pub(crate) explore: ExploreConfig,
    /// `[load]`
    pub(crate) load: LoadConfig,
    /// `[changes]`
    pub(crate) changes: ChangesConfig,
    /// `[backup]`
    pub(crate) backup: BackupConfig,
    /// `[maintenance]`
    pub(crate) maintenance: MaintenanceConfig,
    /// `[omrs]`
    pub(crate) omrs: OmrsConfig,
    /// `[log]`
    pub(crate) log: LogConfig,
}

/// A documented section.
#[derive(Debug)]
pub(crate) struct Section {
    name: &'static str,
    about: &'static str,
    options: &'static [OptionDoc],
}

/// The sections in the order in which they are documented.
const SECTIONS: &[Section] = &[
    Section {
        name: "server",
        about: "The HTTP server: address, limits, time limits",
        options: ServerConfig::DOCS,
    },
    Section {
        name: "storage",
        about: "Where and how the data is kept",
        options: StorageConfig::DOCS,
    },
    Section {
        name: "storage.cassandra",
        about: "The Apache Cassandra cluster, for the engine `cassandra`, see [cassandra.md](cassandra.md)",
        options: CassandraOptions::DOCS,
    },
    Section {
        name: "graph",
        about: "Which graphs are created at start, and how long changes are kept",
        options: GraphConfig::DOCS,
    },
    Section {
        name: "limits",
        about: "Limits on the number of graphs, on deletions and on waiting commits",
        options: LimitsConfig::DOCS,
    },
    Section {
        name: "auth",
        about: "Who may do what, see [authentication.md](authentication.md)",
        options: AuthConfig::DOCS,
    },
    Section {
        name: "tls",
        about: "TLS on the server's own listeners, see [tls.md](tls.md)",
        options: TlsConfig::DOCS,
    },
    Section {
        name: "gremlin",
        about: "Gremlin: a listener for drivers, and limits, see [gremlin.md](gremlin.md)",
        options: GremlinConfig::DOCS,
    },
    Section {
        name: "bolt",
        about: "Bolt: a listener for Neo4j's drivers, see [bolt.md](bolt.md)",
        options: BoltConfig::DOCS,
    },
    Section {
        name: "explore",
        about: "Limits on the explorer's requests, see [explorer-api.md](explorer-api.md)",
        options: ExploreConfig::DOCS,
    },
    Section {
        name: "load",
        about: "Limits on files that are loaded over HTTP, see [operating.md](operating.md#load-and-dump)",
        options: LoadConfig::DOCS,
    },
    Section {
        name: "changes",
        about: "Limits on readers that follow the changes of commits, see [changes.md](changes.md)",
        options: ChangesConfig::DOCS,
    },
    Section {
        name: "backup",
        about: "Backups to a store, by schedule or on demand, see [operating.md](operating.md#backup-and-restore)",
        options: BackupConfig::DOCS,
    },
    Section {
        name: "maintenance",
        about: "Background maintenance",
        options: MaintenanceConfig::DOCS,
    },
    Section {
        name: "omrs",
        about: "The open-metadata repository (Egeria OMRS), see [metadata-rest.md](metadata-rest.md)",
        options: OmrsConfig::DOCS,
    },
    Section {
        name: "log",
        about: "What the server writes to standard error",
        options: LogConfig::DOCS,
    },
];

/// Why the options were refused; the text names the file and line, the variable or the flag.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct ConfigError(String);

impl ConfigError {
    /// An error with this message.
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

/// When a write is acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// When it is on stable storage.
    Sync,
    /// At once; acknowledged writes are synced at this interval.
    Interval(Duration),
    /// At once; the operating system decides when a write reaches stable storage.
    None,
}

impl FromStr for Durability {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Self, ConfigError> {
        match text {
            "sync" => Ok(Self::Sync),
            "none" => Ok(Self::None),
            _ => text
                .strip_prefix("interval:")
                .and_then(|millis| millis.parse().ok())
                .filter(|millis| (1..=60_000).contains(millis))
                .map(|millis| Self::Interval(Duration::from_millis(millis)))
                .ok_or_else(|| {
                    ConfigError::new(format!(
                        "durability must be sync, none or interval:<ms> with 1 to 60000 ms, but is '{text}'"
                    ))
                }),
        }
    }
}

/// The settings from the flags of `varve serve`.
#[derive(Debug, Default)]
pub(crate) struct Overrides {
    /// `--config`
    pub(crate) file: Option<PathBuf>,
    /// `section.option` and value, each from a flag of that name.
    pub(crate) settings: Vec<(String, String)>,
}

impl Config {
    /// Merges all layers and validates the result.
    ///
    /// # Errors
    /// When the file cannot be read, or a layer has an unknown option or a value that is not
    /// accepted.
    pub(crate) fn load(
        overrides: &Overrides,
        environment: impl Iterator<Item = (String, String)>,
    ) -> Result<Self, ConfigError> {
        let mut table = Self::default().to_table();
        if let Some(path) = &overrides.file {
            let name = path.display().to_string();
            let text = std::fs::read_to_string(path)
                .map_err(|error| ConfigError::new(format!("cannot read {name}: {error}")))?;
            Self::from_file_text(&name, &text)?;
            let layer: Table = text
                .parse()
                .map_err(|error| file_error(&name, &text, &error))?;
            merge(&mut table, layer);
        }
        for (name, value) in environment {
            if let Some(key) = environment_key(&name, &value)? {
                set(
                    &mut table,
                    &key,
                    &value,
                    &format!("environment variable {name}"),
                )?;
            }
        }
        for (key, value) in &overrides.settings {
            set(&mut table, key, value, &format!("setting '{key}'"))?;
        }
        let config: Self = table
            .try_into()
            .map_err(|error: toml::de::Error| ConfigError::new(error.message()))?;
        config.validate()?;
        Ok(config)
    }

    /// Parses the text of a file over the defaults.
    fn from_file_text(name: &str, text: &str) -> Result<Self, ConfigError> {
        toml::from_str(text).map_err(|error| file_error(name, text, &error))
    }

    /// The retention of changes.
    pub(crate) fn kept_changes(&self) -> Result<Retention, ConfigError> {
        match self.graph.changes.as_str() {
            "off" => Ok(Retention::None),
            text => parse_retention(text).map_err(|_| {
                ConfigError::new(format!(
                    "graph.changes must be off, all or a time such as 7d, but is '{text}'"
                ))
            }),
        }
    }

    /// The options of the HTTP server, including `[gremlin]`, `[auth]`, `[explore]`, `[load]`,
    /// `[changes]`, `[backup]` and `[tls]`.
    pub(crate) fn whole_server(&self) -> ServerConfig {
        ServerConfig {
            gremlin: self.gremlin.clone(),
            bolt: self.bolt.clone(),
            auth: self.auth.clone(),
            explore: self.explore.clone(),
            load: self.load.clone(),
            changes: self.changes.clone(),
            backup: self.backup.clone(),
            tls: self.tls.clone(),
            ..self.server.clone()
        }
    }

    /// The address at which other servers reach this one.
    ///
    /// # Errors
    /// When `advertise` is empty and the server listens on the unspecified address.
    pub(crate) fn advertised(&self) -> Result<String, ConfigError> {
        let named = &self.storage.cassandra.advertise;
        if !named.is_empty() {
            return Ok(named.clone());
        }
        if self.server.host.is_unspecified() {
            let text = format!(
                "server.host is {}, an address at which other servers cannot reach this one: \
                 set storage.cassandra.advertise to host:port",
                self.server.host
            );
            return Err(ConfigError::new(text));
        }
        Ok(self.server.address().to_string())
    }

    /// A warning if this server advertises a loopback address although the cluster has nodes on
    /// other machines: servers on other machines could not forward requests to it.
    pub(crate) fn unreachable_by_others(&self) -> Option<String> {
        let address = self.advertised().ok()?;
        let nodes = &self.storage.cassandra.contact_points;
        if !is_loopback(&address) || nodes.iter().all(|node| is_loopback(node)) {
            return None;
        }
        Some(format!(
            "this server announces {address} to the other servers on this cluster, but that is a loopback address: \
             if they are on other machines, set storage.cassandra.advertise or server.host to an address that they reach"
        ))
    }

    /// `storage.durability`, parsed.
    pub(crate) fn durability(&self) -> Result<Durability, ConfigError> {
        self.storage.durability.parse()
    }

    fn to_table(&self) -> Table {
        Table::try_from(self)
            .expect("every option is a text, a number, a truth value or a list of texts")
    }
}

/// Whether the host of `host:port` is a loopback address or name.
fn is_loopback(address: &str) -> bool {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    match host.parse::<std::net::IpAddr>() {
        Ok(ip) => ip.is_loopback(),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

impl LimitsConfig {
    /// The limits of a graph.
    pub(crate) fn limits(&self) -> Limits {
        Limits {
            vertex_delete_edges_max: self.vertex_delete_edges_max,
            vertex_delete_bytes_max: self.vertex_delete_bytes_max,
            commit_group_bytes_max: self.commit_group_bytes_max,
            commit_queue_bytes_max: self.commit_queue_bytes_max,
            graphs_max: self.graphs_max,
            ..Limits::default()
        }
    }
}

impl MaintenanceConfig {
    /// The options of the background maintenance.
    pub(crate) fn options(&self) -> MaintenanceOptions {
        let kept = self.task_retention_hours;
        MaintenanceOptions {
            tidy_every: Duration::from_millis(self.tidy_interval_ms),
            retention_every: Duration::from_secs(self.retention_interval_seconds),
            tasks_kept: (kept > 0).then(|| Duration::from_secs(kept.saturating_mul(3_600))),
            ..MaintenanceOptions::default()
        }
    }
}

#[cfg(test)]
mod tests;
