//! Sessions with the cluster: one for all threads, and one for each serving thread.
//!
//! The tasks of a session run on the runtime in which it was made. So a serving thread, which has a
//! runtime of its own, gets a session of its own: its requests then need no other thread. They are
//! fewer hand-overs, which cost more than the requests themselves.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use scylla::client::PoolSize;
use scylla::client::execution_profile::ExecutionProfile;
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use scylla::policies::load_balancing::LoadBalancingPolicy;
use scylla::statement::{Consistency, SerialConsistency};

use crate::config::{self, CassandraConfig};
use crate::failure::Failure;
use crate::nodes::Nodes;
use crate::tls;

/// The timeout of a change of tables and keyspaces: all nodes must agree on it.
pub(crate) const DEFINITION_TIMEOUT: Duration = Duration::from_secs(60);
/// The interval of checks for agreement.
const AGREEMENT_INTERVAL: Duration = Duration::from_millis(50);
/// The interval of keep-alive messages on idle connections, and their timeout: then a node that
/// hangs is avoided.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5);
const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(8);
/// The wait before a thread tries again to get a session of its own.
const SESSION_PAUSE: Duration = Duration::from_secs(5);

/// The sessions of a cluster.
pub(crate) struct Sessions {
    /// The session for all threads without one of their own.
    pub(crate) common: Arc<Session>,
    consistency: Consistency,
    threads: Mutex<HashMap<ThreadId, OwnSession>>,
}

/// The session of one thread.
#[derive(Default)]
struct OwnSession {
    session: Option<Arc<Session>>,
    tried: Option<Instant>,
}

impl Sessions {
    /// Connects the common session.
    pub(crate) async fn connect(
        config: &CassandraConfig,
        consistency: Consistency,
        nodes: &Arc<Nodes>,
    ) -> Result<Self, Failure> {
        let common = session(config, consistency, nodes, config.connections).await?;
        Ok(Self {
            common: Arc::new(common),
            consistency,
            threads: Mutex::default(),
        })
    }

    /// The session for requests of this thread.
    pub(crate) fn here(&self) -> Arc<Session> {
        let threads = self.threads.lock();
        let own = threads.get(&thread::current().id());
        let own = own.and_then(|own| own.session.clone());
        own.unwrap_or_else(|| Arc::clone(&self.common))
    }

    /// Gives this thread, which is that of a runtime of its own, a session of its own. It is made
    /// in the background; if that fails, it is tried again after a while.
    pub(crate) fn settle(self: &Arc<Self>, config: &CassandraConfig, nodes: &Arc<Nodes>) {
        let thread = thread::current().id();
        let mut threads = self.threads.lock();
        let own = threads.entry(thread).or_default();
        let is_due = own
            .tried
            .is_none_or(|tried| tried.elapsed() > SESSION_PAUSE);
        if own.session.is_some() || !is_due {
            return;
        }
        own.tried = Some(Instant::now());
        drop(threads);
        let sessions = Arc::downgrade(self);
        let (config, nodes) = (config.clone(), Arc::clone(nodes));
        let consistency = self.consistency;
        tokio::spawn(async move {
            let made = session(&config, consistency, &nodes, 1).await;
            let (Ok(made), Some(sessions)) = (made, sessions.upgrade()) else {
                return;
            };
            let mut threads = sessions.threads.lock();
            threads.entry(thread).or_default().session = Some(Arc::new(made));
        });
    }
}

/// Connects a session, whose tasks run on the current runtime.
async fn session(
    config: &CassandraConfig,
    consistency: Consistency,
    nodes: &Arc<Nodes>,
    connections: usize,
) -> Result<Session, Failure> {
    let profile = ExecutionProfile::builder()
        .consistency(consistency)
        .serial_consistency(Some(serial(config.consistency)))
        .request_timeout(Some(config.request_timeout))
        .load_balancing_policy(Arc::clone(nodes) as Arc<dyn LoadBalancingPolicy>)
        .build();
    let connections = NonZeroUsize::new(connections).unwrap_or(NonZeroUsize::MIN);
    let mut builder = SessionBuilder::new()
        .known_nodes(&config.contact_points)
        .default_execution_profile_handle(profile.into_handle())
        .pool_size(PoolSize::PerHost(connections))
        .connection_timeout(config.request_timeout)
        .keepalive_interval(KEEPALIVE_INTERVAL)
        .keepalive_timeout(KEEPALIVE_TIMEOUT)
        // Fetch only the metadata that routing needs, and only after keyspaces were created, not
        // after each table.
        .fetch_full_schema_metadata(false)
        .refresh_metadata_on_auto_schema_agreement(false)
        .schema_agreement_interval(AGREEMENT_INTERVAL)
        .schema_agreement_timeout(DEFINITION_TIMEOUT);
    if let Some(credentials) = &config.credentials {
        builder = builder.user(&credentials.user, &credentials.password);
    }
    if let Some(tls) = &config.tls {
        builder = builder.tls_context(Some(tls::client(tls)?));
    }
    Ok(builder.build().await?)
}

/// The consistency of reads and writes.
pub(crate) fn plain(of: config::Consistency) -> Consistency {
    match of {
        config::Consistency::LocalQuorum => Consistency::LocalQuorum,
        config::Consistency::Quorum => Consistency::Quorum,
    }
}

/// The consistency of conditional changes. It covers the same nodes, as otherwise two datacenters
/// would decide independently.
pub(crate) fn serial(of: config::Consistency) -> SerialConsistency {
    match of {
        config::Consistency::LocalQuorum => SerialConsistency::LocalSerial,
        config::Consistency::Quorum => SerialConsistency::Serial,
    }
}
