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
    /// The certificates of the authorities that sign the nodes' certificates, or the nodes' own
    /// ones.
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

/// How many replicas must answer before a request has succeeded. The same rule holds for reads, for
/// writes, and for conditional changes such as claims of leases. So any two requests are answered
/// by at least one common replica.
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
    /// The datacenter to whose nodes requests are sent.
    pub datacenter: String,
    /// The number of replicas of each row in the datacenter, for new spaces.
    pub replication: u8,
    /// Further datacenters that get the same number of replicas of each row, for new spaces.
    pub further_datacenters: Vec<String>,
    /// The replicas that must answer a request.
    pub consistency: Consistency,
    /// The name of the keyspace that has the list of spaces: lower-case letters, digits and `_`.
    /// The names of the spaces' own keyspaces begin with it.
    pub keyspace: String,
    /// For clusters that require a password.
    pub credentials: Option<Credentials>,
    /// For clusters that use TLS.
    pub tls: Option<Tls>,
    /// The number of connections to each node; 0 counts as 1.
    pub connections: usize,
    /// The most calls that may be under way at once; 0 counts as 1.
    pub in_flight_max: usize,
    /// How long a call waits for a permit before it is refused as busy.
    pub room_wait: Duration,
    /// The timeout of one request, and of connecting. Changes of tables and keyspaces have a longer
    /// one.
    pub request_timeout: Duration,
    /// For how long a process relies on its leases after a renewal began. After a crash, another
    /// process waits as long and a sixteenth more.
    pub lease: Duration,
    /// The number of threads of the runtime.
    pub io_threads: usize,
    /// The memory in bytes for the presence filters of all spaces. With a filter, inserts need not
    /// read absent rows. A space whose filter gets no memory works without one.
    pub known_bytes_max: usize,
    /// The address that this process writes into its leases. Other processes, or people, reach the
    /// process that has a space open by it.
    pub address: String,
    /// Whether other processes open the same spaces in turn. Then opening a space fails at once
    /// while another process has its lease, instead of waiting for the lease to expire.
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
            lease: Duration::from_secs(4),
            io_threads: 2,
            known_bytes_max: 480 << 20,
            address: format!("process {}", std::process::id()),
            shared: false,
        }
    }
}
