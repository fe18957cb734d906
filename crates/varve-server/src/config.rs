//! Every option of the HTTP server: name, unit, default, and what happens at the limit.
//!
//! A plain struct. Files, environment and flags are layered over it by the binary.

mod backup;
mod reading;
mod session;

pub use self::backup::BackupConfig;
pub use self::reading::ReadConsistency;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use varve_auth::AuthOptions;

use crate::bolt::BoltConfig;
use crate::explore::{ChangesConfig, ExploreConfig};
use crate::forwarded::{ForwardedHeader, Proxies};
use crate::load::LoadConfig;
use crate::section;
use crate::tls::TlsConfig;
use varve_session::audit::AuditLevel;

/// One mebibyte.
const MIB: usize = 1024 * 1024;

section! {
    /// The options of the HTTP server. Durations are in milliseconds, sizes in bytes.
    pub struct ServerConfig {
        /// Address to listen on.
        host: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST),
        /// Port to listen on; 0 takes a free port.
        port: u16 = 8080,
        /// Whether the server may listen beyond loopback without authentication. If false, it then
        /// refuses to start, since everyone who reaches it could read and change everything.
        allow_anonymous: bool = false,
        /// Host names by which clients reach this server, without port. `localhost` and IP
        /// addresses are always accepted. A request with another name in `Host` is answered 421.
        /// Pages from these names may change data; pages of other sites are answered 403. If
        /// several servers serve one cluster, give all of them the same names.
        public_names: Vec<String> = Vec::new(),
        /// Proxies whose header with the client's address is trusted: addresses and networks, as in
        /// `10.0.0.7` or `10.1.0.0/16`. The server uses the address for the throttle of failed
        /// logins, the white list, the audit trail and the limit on the followers of a client
        /// without a name. It ignores the header of other clients. If several servers serve one
        /// cluster, each must list the others here: it then trusts the client addresses in the
        /// requests that they forward.
        trusted_proxies: Vec<String> = Vec::new(),
        /// The header to which these proxies append the client's address: `x-forwarded-for` or
        /// `forwarded` (RFC 7239). The other header is ignored.
        forwarded_header: ForwardedHeader = ForwardedHeader::XForwardedFor,
        /// Where several servers share a store, the server that answers the reads of a client which
        /// does not say it: `leader` (the server that leads the graph, so reads see every write
        /// before them), or `bounded` (any server, as of a moment that is past for no longer than
        /// `staleness_ms`). A client says it with the header `Varve-Consistency`.
        read_consistency: ReadConsistency = ReadConsistency::Leader,
        /// How old a `bounded` read may be. With 0, each such read asks the leader for its position
        /// and sees every write before it.
        staleness_ms: u64 = 1000,
        /// Serving threads, each with its own listener and runtime; 0 means one for each core.
        threads: usize = 0,
        /// Connections that may wait to be accepted, per thread. The kernel limits it to
        /// `net.core.somaxconn`.
        backlog: i32 = 4096,
        /// Connections open at once. Further ones are answered 503 and closed.
        max_connections: usize = 18_000,
        /// Connections open at once from one address (of IPv6: from one /64 network). Further ones
        /// are answered 503 and closed. 0 is no limit; this machine's own addresses have none.
        /// Raise it if all clients come through one proxy.
        max_connections_per_address: usize = 4_096,
        /// Bytes of a request's head (request line and headers). Over it: 431. At least 8192.
        max_header_bytes: usize = 64 * 1024,
        /// Number of headers of one request. Over it: 431.
        max_headers: usize = 100,
        /// Bytes of a request body, both as sent and after decompression. Over it: 413. At most 1
        /// GiB.
        max_body_bytes: usize = 10 * MIB,
        /// The same for the batch resources, which accept larger bodies.
        max_batch_body_bytes: usize = 64 * MIB,
        /// Vertices that one batch request may carry, at most 100,000. Over it: 400.
        max_vertices_per_batch: usize = 2_500,
        /// Edges that one batch request may carry, at most 100,000. Over it: 400.
        max_edges_per_batch: usize = 2_500,
        /// Bytes of a listing's answer. Over it: 400; the client must then request smaller pages.
        max_answer_bytes: usize = 64 * MIB,
        /// Rows that one traversal may read. Over it: 400.
        max_traversal_rows: u64 = 50_000_000,
        /// Memory in bytes that one traversal may use, without its answer. Over it: 400.
        max_traversal_bytes: usize = 128 * MIB,
        /// Memory in bytes that all traversals and Gremlin requests may use together, at least
        /// `max_traversal_bytes`. A request for which no memory is left is answered 503.
        max_traversals_held_bytes: usize = 256 * MIB,
        /// Memory in bytes that one graph algorithm (`jobs/algorithm/…`) may use: its arrays and
        /// its copy of the graph, in which an edge takes 4 bytes for each direction. Each graph
        /// runs one algorithm at a time. Over the limit the task fails.
        max_algorithm_bytes: usize = 512 * MIB,
        /// Memory in bytes that all jobs may use together: graph algorithms and Gremlin scripts of
        /// all graphs. At least `max_algorithm_bytes`. A job for which no memory is left fails.
        max_jobs_held_bytes: usize = 512 * MIB,
        /// Bytes of answers that the server may hold at once, from when they are written until
        /// clients have received them. Forwarded answers of other servers count too. Over it reads
        /// are answered 503; answers to writes count, but are never refused. At least
        /// `max_answer_bytes`. Searches of the metadata repository have a second budget of this
        /// size, all together.
        max_held_answer_bytes: usize = 256 * MIB,
        /// Requests that one HTTP/2 connection may have open at once.
        max_http2_streams: u32 = 100,
        /// Time from the first byte of a request to the end of its head. After it the connection is
        /// closed.
        header_read_timeout_ms: u64 = 10_000,
        /// Time in which a body must arrive; `min_body_bytes_per_second` extends it. After it the
        /// answer is 408 and the connection is closed.
        body_read_timeout_ms: u64 = 10_000,
        /// A body that arrives at this rate or faster never times out.
        min_body_bytes_per_second: u64 = 4096,
        /// Time that an answer may wait until the client takes any byte of it; for HTTP/2, on each
        /// stream. After it the connection is closed.
        write_timeout_ms: u64 = 30_000,
        /// An answer that the client takes at this rate or faster never times out. A slower one
        /// does when it is more than `write_timeout_ms` behind this rate. Answers of HTTP/1 up to
        /// 16 KiB are exempt.
        min_answer_bytes_per_second: u64 = 64 * 1024,
        /// Time that a connection may stay open without a request.
        idle_timeout_ms: u64 = 60_000,
        /// Time that a handler may take. After it the answer is 503. Work that has not begun by
        /// then is not done; a write that has begun is answered `VRV-OUTCOME-UNKNOWN`.
        request_timeout_ms: u64 = 30_000,
        /// The same for creating, clearing and dropping a graph, which on a cluster create or
        /// remove all tables of the graph. Also for changing types of open metadata, which may add
        /// index entries to all instances, and for each 1,000 rows of a load of files. What has
        /// begun is completed even after a 503 `VRV-OUTCOME-UNKNOWN`. A second request to clear
        /// the graph meanwhile waits for the first.
        graph_change_timeout_ms: u64 = 300_000,
        /// Time that running requests have to finish after the server was told to stop.
        shutdown_timeout_ms: u64 = 8_000,
        /// Reads that may be in progress at once, without those that run in place on a serving
        /// thread.
        max_reads_in_flight: usize = 512,
        /// Writes that may be in progress at once. Most of their time they wait for the group
        /// commit.
        max_writes_in_flight: usize = 4096,
        /// Bytes of the bodies of read requests that the server may hold at once. Inflated bodies
        /// and parsed values have a second budget of this size.
        max_read_request_bytes: usize = 64 * MIB,
        /// The same for write requests.
        max_write_request_bytes: usize = 192 * MIB,
        /// Reads that may wait for admission, and as many writes; further ones are answered 503 at
        /// once.
        max_waiting_requests: usize = 16_384,
        /// Time that a request waits for admission before it is answered 503.
        admission_wait_ms: u64 = 5_000,
        /// Seconds in the header `Retry-After` of a 503.
        retry_after_seconds: u32 = 1,
        /// Threads for long reads (scans, queries), and as many for long writes (large batches). 0
        /// means twice the cores, at least 4. If the storage engine is reached over a network,
        /// these threads do all work on graphs, and 0 means 64.
        blocking_threads: usize = 0,
        /// Long reads that may wait for a thread, and as many long writes.
        blocking_queue: usize = 1024,
        /// Answers smaller than this are never compressed.
        gzip_min_bytes: usize = 1024,
        /// Compression level of gzip answers, 1 (fast) to 9 (small).
        gzip_level: u32 = 1,
        /// Requests that take longer than this are logged with their path; 0 logs none.
        slow_request_ms: u64 = 1000,
        /// Whether errors contain a trace. `PUT /exception/trace` changes it until the next start.
        allow_trace: bool = false,
        /// Address and port of a separate listener for `/admin` (backup, verification), which is
        /// then served only there. That listener also serves `/health`, `/metrics` and `/versions`.
        /// Port 0 takes a free port. Empty: `/admin` is served at the main address if that is a
        /// loopback address, and not at all otherwise.
        admin_listen: String = String::new(),
        /// The folder in which `POST /admin/backup` creates backups, and in which those to a store
        /// are prepared; empty means `backups` in the data folder. If both are on one file system,
        /// a backup shares files with the data.
        backup_root: PathBuf = PathBuf::new(),
        %
        /// The section `gremlin`.
        gremlin: GremlinConfig,
        %
        /// The section `bolt`.
        bolt: BoltConfig,
        %
        /// The section `auth`.
        auth: AuthConfig,
        %
        /// The section `explore`.
        explore: ExploreConfig,
        %
        /// The section `load`.
        load: LoadConfig,
        %
        /// The section `changes`.
        changes: ChangesConfig,
        %
        /// The section `backup`.
        backup: BackupConfig,
        %
        /// The section `tls`.
        tls: TlsConfig,
    }
}

section! {
    /// The options of `/gremlin`. Durations are in milliseconds.
    pub struct GremlinConfig {
        /// Address and port of a separate listener for TinkerPop's drivers, as in `127.0.0.1:8182`.
        /// Over HTTP it answers as TinkerPop's server does. WebSockets are also served at the main
        /// address. Port 0 takes a free port. Empty: there is no such listener.
        listen: String = String::new(),
        /// Additional names of traversal sources, each with its graph, as in `gmodern=modern`. A
        /// graph keeps its own names. If a graph has the same name as a source here, the name means
        /// that graph.
        sources: Vec<String> = Vec::new(),
        /// Sessions open at once, over all connections. Further ones are refused with the code 596.
        sessions_max: usize = 1_000,
        /// Time that a session may be without a request. After it the session ends, and its
        /// variables are lost.
        session_idle_ms: u64 = 600_000,
        /// Time that the transaction of a session may be open. After it the transaction is rolled
        /// back, since it keeps old states of its graph in memory.
        transaction_ms: u64 = 60_000,
        /// Elements that one transaction may change, including the edges that are deleted with a
        /// vertex. Over it the script fails, and nothing of the transaction is written.
        /// `g.with('commit_every', n)` commits earlier.
        transaction_elements_max: usize = 100_000,
        /// Approximate memory in bytes that the changes of one transaction may use. Over it the
        /// script fails, and nothing of the transaction is written.
        transaction_bytes_max: usize = 64 * MIB,
        /// Approximate memory in bytes that the changes of all open transactions and the variables
        /// of all sessions may use together. Over it: 503, or the code 596. Jobs have a second
        /// budget of this size.
        held_bytes_max: usize = 256 * MIB,
        /// Labels and property keys that an open graph may have. A script that would create a
        /// further one fails, and nothing is written.
        open_schema_max: usize = 10_000,
    }
}

section! {
    /// The options of authentication.
    pub struct AuthConfig {
        /// Whether clients must authenticate. If true, only `/`, `/versions`, `/apis`, `/health`,
        /// `/openapi.json` and logins are answered without authentication. The users are stored
        /// with the data. To create the first one, use `varve user password admin` or the variable
        /// `VARVE_ADMIN_PASSWORD`.
        enabled: bool = false,
        /// Seconds for which a token is valid after a login, at most.
        token_expire_seconds: u32 = 86_400,
        /// Least number of characters of a new password.
        password_min_length: usize = 8,
        /// Passwords that are checked at once; each check takes 19 MiB and a thread of low
        /// priority. 0 means half the number of cores, at least 1.
        logins_at_once: usize = 0,
        /// Logins that may wait for their check. Further ones are answered 429 at once.
        logins_waiting_max: usize = 64,
        /// Which requests the audit trail records: `off` (none), `security` (refusals, logins,
        /// changes of users, rights, schemas and whole graphs), `writes` (also every other change
        /// and every script), or `all`.
        audit: AuditLevel = AuditLevel::Security,
        /// The file of the audit trail, one line of JSON for each request. Empty: there is no audit
        /// trail.
        audit_file: PathBuf = PathBuf::new(),
        /// Requests that one user may have in progress at once. Further ones are answered 429. 0 is
        /// no limit.
        user_requests_in_flight: u32 = 0,
        /// Requests that one user may make in a second; a burst of as many is accepted. Further
        /// ones are answered 429. 0 is no limit.
        user_requests_per_second: u32 = 0,
        /// Memory in bytes that the running traversals and Gremlin requests of one user may use
        /// together. A query for which no memory is left is answered 503. 0 is no limit.
        user_query_bytes_max: usize = 0,
        /// Users that may act for other users: in their calls of the metadata repository, the path
        /// may name another user.
        act_for: Vec<String> = Vec::new(),
        /// A file with the key, at least 32 bytes, that all servers on one Cassandra cluster share.
        /// With it they authenticate when they request the users from each other. Required there,
        /// ignored elsewhere.
        cluster_key_file: PathBuf = PathBuf::new(),
        /// Seconds for which a server on a Cassandra cluster uses its copy of the users after its
        /// last contact with the server that leads them. After that, clients are answered 503. At
        /// least `storage.cassandra.lease_seconds` plus 15, so that another server can take over.
        users_copy_seconds: u32 = 60,
    }
}

impl AuthConfig {
    /// The options for the users' directory.
    pub fn options(&self) -> AuthOptions {
        AuthOptions {
            password_length_min: self.password_min_length,
            token_seconds: i64::from(self.token_expire_seconds),
            copy_seconds: self.users_copy_seconds,
        }
    }
}

/// Why a configuration was refused.
#[derive(Debug, thiserror::Error)]
#[error("server option '{option}': {reason}")]
pub struct ConfigError {
    /// The option's name.
    pub option: &'static str,
    /// What is wrong with its value.
    pub reason: String,
}

/// The default of `blocking_threads` if reads wait for a network.
const WAITING_THREADS: usize = 64;

/// The upper bound of the body limits, in bytes: it keeps the keys of a request's elements below 4
/// GiB.
const BODY_BYTES_MAX: usize = 1 << 30;

/// The largest batch that may be allowed: no reader of a body keeps more elements of a list.
pub(crate) const BATCH_ELEMENTS_MAX: usize = 100_000;

impl ServerConfig {
    /// Refuses values with which the server could not work.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.validate_least()?;
        for (option, value) in [
            ("max_read_request_bytes", self.max_read_request_bytes),
            ("max_write_request_bytes", self.max_write_request_bytes),
        ] {
            if u32::try_from(value).is_err() {
                return Err(ConfigError {
                    option,
                    reason: "must be below 4 GiB".to_owned(),
                });
            }
        }
        let (vertices, edges) = (self.max_vertices_per_batch, self.max_edges_per_batch);
        for (option, value, most) in [
            ("max_body_bytes", self.max_body_bytes, BODY_BYTES_MAX),
            (
                "max_batch_body_bytes",
                self.max_batch_body_bytes,
                BODY_BYTES_MAX,
            ),
            ("max_vertices_per_batch", vertices, BATCH_ELEMENTS_MAX),
            ("max_edges_per_batch", edges, BATCH_ELEMENTS_MAX),
        ] {
            if value > most {
                return Err(ConfigError {
                    option,
                    reason: format!("must be at most {most}, but is {value}"),
                });
            }
        }
        self.validate_names()?;
        Proxies::new(self)?;
        self.tls.validate()?;
        self.backup.validate()?;
        self.admin_address()?;
        self.gremlin_address()?;
        self.bolt_address()?;
        if !(1..=9).contains(&self.gzip_level) {
            let reason = format!("must be in 1..=9, but is {}", self.gzip_level);
            return Err(ConfigError {
                option: "gzip_level",
                reason,
            });
        }
        Ok(())
    }

    /// Refuses values that are too small.
    fn validate_least(&self) -> Result<(), ConfigError> {
        let at_least = |option, value: u64, least: u64| {
            if value < least {
                let reason = format!("must be at least {least}, but is {value}");
                return Err(ConfigError { option, reason });
            }
            Ok(())
        };
        let largest = self.max_body_bytes.max(self.max_batch_body_bytes);
        for (option, value, least) in [
            ("max_connections", self.max_connections, 1),
            ("max_header_bytes", self.max_header_bytes, 8192),
            ("max_headers", self.max_headers, 16),
            ("max_body_bytes", self.max_body_bytes, 1),
            ("max_batch_body_bytes", self.max_batch_body_bytes, 1),
            ("max_reads_in_flight", self.max_reads_in_flight, 1),
            ("max_writes_in_flight", self.max_writes_in_flight, 1),
            ("changes.reads_max", self.changes.reads_max, 1),
            (
                "max_read_request_bytes",
                self.max_read_request_bytes,
                largest,
            ),
            (
                "max_write_request_bytes",
                self.max_write_request_bytes,
                largest,
            ),
            (
                "max_held_answer_bytes",
                self.max_held_answer_bytes,
                self.max_answer_bytes,
            ),
            (
                "max_jobs_held_bytes",
                self.max_jobs_held_bytes,
                self.max_algorithm_bytes,
            ),
        ] {
            at_least(option, value as u64, least as u64)?;
        }
        for (option, value) in [
            ("min_body_bytes_per_second", self.min_body_bytes_per_second),
            (
                "min_answer_bytes_per_second",
                self.min_answer_bytes_per_second,
            ),
        ] {
            at_least(option, value, 1)?;
        }
        Ok(())
    }

    fn validate_names(&self) -> Result<(), ConfigError> {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        let is_name = |name: &&String| !name.is_empty() && name.bytes().all(is_part);
        let is_source = |source: &&String| {
            let (name, graph) = source.split_once('=').unwrap_or_default();
            let starts = name.starts_with(|first: char| first.is_ascii_alphabetic());
            let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
            starts && name.bytes().all(is_word) && !graph.is_empty()
        };
        let sources = &self.gremlin.sources;
        if let Some(source) = sources.iter().find(|source| !is_source(source)) {
            return Err(ConfigError {
                option: "gremlin.sources",
                reason: format!(
                    "must be names with graphs, as in gmodern=modern, but is '{source}'"
                ),
            });
        }
        match self.public_names.iter().find(|name| !is_name(name)) {
            None => Ok(()),
            Some(name) => Err(ConfigError {
                option: "public_names",
                reason: format!("'{name}' is no host name (without scheme and port)"),
            }),
        }
    }

    /// The address to bind.
    pub fn address(&self) -> SocketAddr {
        SocketAddr::new(self.host, self.port)
    }

    /// The address to bind for `/admin` alone; `None` if not configured.
    pub fn admin_address(&self) -> Result<Option<SocketAddr>, ConfigError> {
        optional_address("admin_listen", &self.admin_listen, "127.0.0.1:8081")
    }

    /// The address to bind for TinkerPop's drivers alone; `None` if not configured.
    pub fn gremlin_address(&self) -> Result<Option<SocketAddr>, ConfigError> {
        optional_address("gremlin.listen", &self.gremlin.listen, "127.0.0.1:8182")
    }

    /// The address to bind for Bolt; `None` if not configured.
    pub fn bolt_address(&self) -> Result<Option<SocketAddr>, ConfigError> {
        optional_address("bolt.listen", &self.bolt.listen, "127.0.0.1:7687")
    }

    /// The further names of traversal sources, each with its graph.
    pub fn gremlin_sources(&self) -> impl Iterator<Item = (&str, &str)> {
        let sources = self.gremlin.sources.iter();
        sources.filter_map(|source| source.split_once('='))
    }

    /// The number of serving threads, with 0 resolved to the number of cores.
    pub fn thread_count(&self) -> usize {
        if self.threads > 0 {
            self.threads
        } else {
            cores()
        }
    }

    /// The number of threads of each lane of the pool, with 0 resolved. `reads_wait`: they mostly
    /// wait for a network.
    pub fn blocking_thread_count(&self, reads_wait: bool) -> usize {
        match (self.blocking_threads, reads_wait) {
            (0, true) => WAITING_THREADS,
            (0, false) => (2 * cores()).max(4),
            (threads, _) => threads,
        }
    }

    /// `request_timeout_ms` as a duration.
    pub fn request_timeout(&self) -> Duration {
        Duration::from_millis(self.request_timeout_ms)
    }

    /// `staleness_ms` as a duration.
    pub fn staleness(&self) -> Duration {
        Duration::from_millis(self.staleness_ms)
    }

    /// `graph_change_timeout_ms` as a duration.
    pub fn graph_change_timeout(&self) -> Duration {
        Duration::from_millis(self.graph_change_timeout_ms)
    }

    /// `admission_wait_ms` as a duration.
    pub fn admission_wait(&self) -> Duration {
        Duration::from_millis(self.admission_wait_ms)
    }
}

/// The address that an option names; `None` if it is empty.
fn optional_address(
    option: &'static str,
    text: &str,
    example: &str,
) -> Result<Option<SocketAddr>, ConfigError> {
    if text.is_empty() {
        return Ok(None);
    }
    let refused = |_| ConfigError {
        option,
        reason: format!("must be an address and a port, as in {example}, but is '{text}'"),
    };
    text.parse().map(Some).map_err(refused)
}

/// The number of cores that this process may use.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_valid() {
        ServerConfig::default()
            .validate()
            .expect("the defaults are valid");
    }

    #[test]
    fn unknown_options_are_refused() {
        let bad = serde_json::from_str::<ServerConfig>(r#"{"prot": 1}"#);
        assert!(
            bad.unwrap_err()
                .to_string()
                .contains("unknown field `prot`")
        );
        let good = serde_json::from_str::<ServerConfig>(r#"{"port": 1, "host": "::1"}"#).unwrap();
        assert_eq!(good.address().to_string(), "[::1]:1");
    }

    #[test]
    fn impossible_values_are_refused_by_name() {
        let config = ServerConfig {
            max_header_bytes: 100,
            ..ServerConfig::default()
        };
        assert_eq!(config.validate().unwrap_err().option, "max_header_bytes");
        let config = ServerConfig {
            gzip_level: 0,
            ..ServerConfig::default()
        };
        assert_eq!(config.validate().unwrap_err().option, "gzip_level");
        for name in ["", "http://a.example", "a.example:80", "*"] {
            let config = ServerConfig {
                public_names: vec!["a.example".to_owned(), name.to_owned()],
                ..ServerConfig::default()
            };
            assert_eq!(config.validate().unwrap_err().option, "public_names");
        }
        for source in [
            "",
            "gmodern",
            "=modern",
            "gmodern=",
            "g m=modern",
            "1=modern",
        ] {
            let gremlin = GremlinConfig {
                sources: vec!["g=modern".to_owned(), source.to_owned()],
                ..GremlinConfig::default()
            };
            let config = ServerConfig {
                gremlin,
                ..ServerConfig::default()
            };
            let refused = config.validate().unwrap_err();
            assert_eq!(refused.option, "gremlin.sources", "{source}");
        }
        let config = ServerConfig {
            admin_listen: "8081".to_owned(),
            ..ServerConfig::default()
        };
        assert_eq!(config.validate().unwrap_err().option, "admin_listen");
        let config = ServerConfig {
            max_batch_body_bytes: BODY_BYTES_MAX + 1,
            max_read_request_bytes: BODY_BYTES_MAX + 1,
            max_write_request_bytes: BODY_BYTES_MAX + 1,
            ..ServerConfig::default()
        };
        assert_eq!(
            config.validate().unwrap_err().option,
            "max_batch_body_bytes"
        );
    }
}
