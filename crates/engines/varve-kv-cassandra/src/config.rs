//! What the engine must know of the cluster.

use std::path::PathBuf;
use std::time::Duration;

/// The name under which the cluster knows this client.
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

/// The encrypted way to the cluster. All files are PEM.
#[derive(Debug, Clone)]
pub struct Tls {
    /// Certificates of whoever signs those of the nodes, or of the nodes themselves.
    pub trusted: PathBuf,
    /// For clusters that ask their clients for a certificate.
    pub identity: Option<Identity>,
    /// Whether a node's certificate must name the IP address that it is reached by.
    pub verify_host: bool,
}

/// What this process shows of itself.
#[derive(Debug, Clone)]
pub struct Identity {
    /// Its certificate, and those between it and what the cluster trusts.
    pub certificate: PathBuf,
    /// The key of that, not encrypted.
    pub key: PathBuf,
}

/// How many nodes must have answered before a request counts. It holds for reads, for writes, and
/// for what is changed only if nobody else has changed it, as claims are: of two such answers
/// always one node gave both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Consistency {
    /// Most of those of the datacenter that keep what it is about. All processes must ask the same
    /// datacenter.
    #[default]
    LocalQuorum,
    /// Most of those of all datacenters: for processes in several.
    Quorum,
}

/// How to reach the cluster and what to ask of it.
#[derive(Debug, Clone)]
pub struct CassandraConfig {
    /// Nodes to begin with, each `host:port`; the others are found through them.
    pub contact_points: Vec<String>,
    /// The datacenter whose nodes are asked.
    pub datacenter: String,
    /// How many nodes of the datacenter keep each row of a space that is created.
    pub replication: u8,
    /// Further datacenters of which as many do.
    pub further_datacenters: Vec<String>,
    /// How many of them must have answered.
    pub consistency: Consistency,
    /// Name of the keyspace that lists the spaces, and the start of the names of theirs: lower-case
    /// letters, digits and `_`.
    pub keyspace: String,
    /// For clusters that ask for a password.
    pub credentials: Option<Credentials>,
    /// For clusters that are spoken to over TLS.
    pub tls: Option<Tls>,
    /// Connections to each node.
    pub connections: usize,
    /// Requests to the cluster that may be under way at once.
    pub in_flight_max: usize,
    /// How long a call waits for room among them before it is refused as busy.
    pub room_wait: Duration,
    /// How long one request may take.
    pub request_timeout: Duration,
    /// How long a process keeps a space without renewing its claim; so long another waits after a
    /// crash. It is relied on for 4 seconds less, as clocks differ, so it must be longer than that.
    pub lease: Duration,
    /// Threads that speak with the cluster.
    pub io_threads: usize,
    /// Memory in bytes that the keys of the rows of all spaces may take together, so that inserts
    /// need not ask whether a row is there. The spaces for whose keys there is no room ask.
    pub known_bytes_max: usize,
    /// What the lease says of this process: where the other processes, or the person who asks,
    /// reach whoever has a space open.
    pub address: String,
    /// Whether other processes are to have the same spaces open in turn. Then opening does not wait
    /// for a lease that another has.
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
