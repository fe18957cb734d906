//! The node below the graph, as the server has it: partitions that grow large are continued in
//! others.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use varve_encoding::tables::LARGE;
use varve_kv::{Engine, KvError};
use varve_kv_cassandra::{CassandraConfig, CassandraEngine};
use varve_kv_parted::{PartOptions, PartRule, PartedEngine};

/// How large partitions may grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Below {
    /// As large as a server's: none is continued.
    Whole,
    /// A few rows.
    Parts,
}

impl Below {
    /// Whether the version of the last commit is stored ahead of it, so that after a failure it is
    /// not known exactly.
    pub(crate) fn keeps_versions_ahead(self) -> bool {
        true
    }

    fn bytes_max(self) -> u64 {
        match self {
            Self::Whole => 48 << 20,
            Self::Parts => 300,
        }
    }
}

/// At how many points of both times a case is read, at most: each has hundreds of reads.
pub(crate) const POINTS_MAX: usize = 8;

/// The engine of this process on the node.
pub(crate) fn cluster() -> &'static Arc<CassandraEngine> {
    static CLUSTER: OnceLock<Arc<CassandraEngine>> = OnceLock::new();
    CLUSTER.get_or_init(|| {
        let node = crate::node().expect("asked for only if there is one");
        let mut config = CassandraConfig::new(&node);
        config.keyspace = format!("m{}", std::process::id());
        Arc::new(CassandraEngine::connect(config).expect("the node can be reached"))
    })
}

/// How long what reads a graph in the background may keep it open.
const CLOSED_WITHIN: Duration = Duration::from_secs(30);

/// Removes the graph of a case, once that is closed.
pub(crate) struct KeepAlive;

impl Drop for KeepAlive {
    fn drop(&mut self) {
        let until = Instant::now() + CLOSED_WITHIN;
        let mut removed = cluster().drop_space("g", None);
        // It is open for as long as a page of its keys is being read.
        while matches!(removed, Err(KvError::InUse { .. })) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(20));
            removed = cluster().drop_space("g", None);
        }
        // A case that failed says more than that its graph is still open.
        assert!(removed.is_ok() || std::thread::panicking(), "{removed:?}");
    }
}

/// An engine without a space of the name that the cases use, and what must live as long as it.
pub(crate) fn engine(below: Below) -> (Box<dyn Engine>, KeepAlive) {
    let rules: Vec<PartRule> = LARGE
        .iter()
        .map(|large| PartRule {
            table: large.table,
            together: large.together,
            of_prefix: large.of_prefix,
        })
        .collect();
    let options = PartOptions {
        bytes_max: below.bytes_max(),
    };
    let inner: Arc<dyn Engine> = Arc::clone(cluster()) as _;
    (
        Box::new(PartedEngine::new(inner, &rules, options)),
        KeepAlive,
    )
}
