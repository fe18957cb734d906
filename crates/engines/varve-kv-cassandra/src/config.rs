//! The configuration of the engine.

use std::path::PathBuf;
use std::time::Duration;

/// The role of this client in the cluster.
#[derive(Clone)]
pub struct Credentials {
    /// The role.
    pub user: String,
    /// Its password.
    pub password: String,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credentials")
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

/// TLS to the cluster. All files are PEM.
#[derive(Debug, Clone)]
pub struct Tls {
    /// The certificates that sign those of the nodes, or the nodes' own ones.
    pub trusted: PathBuf,
    /// For clusters that require client certificates.
    pub identity: Option<Identity>,
    /// Whether a node's certificate must name the IP address by which the node was reached.
    pub verify_host: bool,
}

/// The certificate of this process.
#[derive(Debug, Clone)]
pub struct Identity {
    /// The certificate, and the chain from it to a certificate that the cluster trusts.
    pub certificate: PathBuf,
    /// The certificate's key, not encrypted.
    pub key: PathBuf,
}

/// The replicas that must answer before a request counts. It holds for reads, for writes, and for
/// conditional changes such as claims of leases. The answers to two requests always have at least
/// one replica in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Consistency {
    /// A quorum of the replicas in the datacenter. All processes must use the same datacenter.
    #[default]
    LocalQuorum,
    /// A quorum of the replicas in all datacenters: for processes in several datacenters.
    Quorum,
}

/// The connection to the cluster, and the way to use it.
#[derive(Debug, Clone)]
pub struct CassandraConfig {
    /// The first nodes to connect to, each `host:port`; the others are found through them.
    pub contact_points: Vec<String>,
    /// The datacenter whose nodes are used.
    pub datacenter: String,
    /// The number of replicas in the datacenter of each row of a new space.
    pub replication: u8,
    /// Further datacenters with the same number of replicas.
    pub further_datacenters: Vec<String>,
    /// The replicas that must answer a request.
    pub consistency: Consistency,
    /// The name of the keyspace with the list of spaces, and the prefix of the names of their
    /// keyspaces: lower-case letters, digits and `_`.
    pub keyspace: String,
    /// For clusters that require a password.
    pub credentials: Option<Credentials>,
    /// For clusters that use TLS.
    pub tls: Option<Tls>,
    /// The number of connections to each node.
    pub connections: usize,
    /// The most calls that may be under way at once.
    pub in_flight_max: usize,
    /// How long a call waits for a permit before it is refused as busy.
    pub room_wait: Duration,
    /// The timeout of one request.
    pub request_timeout: Duration,
    /// How long a lease lasts without a renewal; another process waits as long after a crash. It is
    /// relied on for 4 seconds less, because clocks differ, so it must be longer than that.
    pub lease: Duration,
    /// The number of threads of the runtime.
    pub io_threads: usize,
    /// The memory in bytes for the presence filters of all spaces, with which inserts need not read
    /// absent rows. A space whose filter gets no memory works without one.
    pub known_bytes_max: usize,
    /// The address of this process in its leases, by which other processes, or people, reach the
    /// process that has a space open.
    pub address: String,
    /// Whether other processes open the same spaces in turn. Then opening does not wait for another
    /// process's lease.
    pub shared: bool,
}

impl CassandraConfig {
    /// The defaults, for one node on this machine.
    #[must_use]
    pub fn new(contact_point: &str) -> Self {
        Self {
            contact_points: vec![contact_point.to_owned()],
            datacenter: "datacenter1".to_owned(),
            replication: 1,
            further_datacenters: Vec::new(),
            consistency: Consistency::default(),
            keyspace: "varve".to_owned(),
            credentials: None,
            tls: None,
            connections: 2,
            in_flight_max: 1024,
            room_wait: Duration::from_secs(2),
            request_timeout: Duration::from_secs(12),
            lease: Duration::from_secs(15),
            io_threads: 2,
            known_bytes_max: 480 << 20,
            address: format!("process {}", std::process::id()),
            shared: false,
        }
    }
}
