//! The session with the cluster, and the bound on what is under way in it.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use scylla::client::PoolSize;
use scylla::client::execution_profile::ExecutionProfile;
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use scylla::errors::ExecutionError;
use scylla::policies::load_balancing::DefaultPolicy;
use scylla::policies::retry::{DefaultRetryPolicy, FallthroughRetryPolicy};
use scylla::response::query_result::{QueryResult, QueryRowsResult};
use scylla::response::{PagingState, PagingStateResponse};
use scylla::serialize::row::SerializeRow;
use scylla::statement::batch::Batch;
use scylla::statement::prepared::PreparedStatement;
use scylla::statement::{Consistency, SerialConsistency, Statement};
use tokio::sync::{Semaphore, SemaphorePermit, watch};

use crate::config::CassandraConfig;
use crate::failure::Failure;

/// How long a change of tables and keyspaces may take: all nodes must agree on it.
const DEFINITION_TIMEOUT: Duration = Duration::from_secs(60);
/// How often agreement is asked for.
const AGREEMENT_INTERVAL: Duration = Duration::from_millis(50);

/// The session.
pub(crate) struct Cluster {
    session: Session,
    pub(crate) config: CassandraConfig,
    room: Semaphore,
    closing: watch::Sender<bool>,
    pub(crate) requests: AtomicU64,
    pub(crate) failures: AtomicU64,
}

/// One page of rows, and where the next one begins.
pub(crate) struct Page {
    pub(crate) rows: QueryRowsResult,
    pub(crate) next: Option<PagingState>,
}

/// What a prepared statement is for, which decides how it is repeated and what it waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// Reads, of most replicas as everything else; the driver may ask another node.
    Read,
    /// Writes with a timestamp of their own; repeated here, where it is known what a failure means.
    Write,
    /// Conditional changes, and reads in one order with them: not repeated, as a repeated one would find itself in its way.
    Conditional,
}

impl Cluster {
    /// Connects.
    ///
    /// # Errors
    /// When no contact point answers, or the datacenter has no node.
    pub(crate) async fn connect(config: CassandraConfig) -> Result<Self, Failure> {
        let profile = ExecutionProfile::builder()
            .consistency(Consistency::LocalQuorum)
            .serial_consistency(Some(SerialConsistency::LocalSerial))
            .request_timeout(Some(config.request_timeout))
            .load_balancing_policy(
                DefaultPolicy::builder()
                    .prefer_datacenter(config.datacenter.clone())
                    .token_aware(true)
                    .build(),
            )
            .build();
        let connections = NonZeroUsize::new(config.connections).unwrap_or(NonZeroUsize::MIN);
        let mut builder = SessionBuilder::new()
            .known_nodes(&config.contact_points)
            .default_execution_profile_handle(profile.into_handle())
            .pool_size(PoolSize::PerHost(connections))
            .connection_timeout(config.request_timeout)
            // What routing needs, and no more: fetched anew when keyspaces were made, not after each table.
            .fetch_full_schema_metadata(false)
            .refresh_metadata_on_auto_schema_agreement(false)
            .schema_agreement_interval(AGREEMENT_INTERVAL)
            .schema_agreement_timeout(DEFINITION_TIMEOUT);
        if let Some(credentials) = &config.credentials {
            builder = builder.user(&credentials.user, &credentials.password);
        }
        let session = builder.build().await?;
        let cluster = Self {
            session,
            room: Semaphore::new(config.in_flight_max.max(1)),
            closing: watch::Sender::new(false),
            requests: AtomicU64::new(0),
            failures: AtomicU64::new(0),
            config,
        };
        cluster.check_datacenter()?;
        Ok(cluster)
    }

    fn check_datacenter(&self) -> Result<(), Failure> {
        let state = self.session.get_cluster_state();
        let nodes = state.get_nodes_info();
        let here = |name: &Option<String>| name.as_deref() == Some(&*self.config.datacenter);
        if nodes.iter().any(|node| here(&node.datacenter)) {
            return Ok(());
        }
        let mut known: Vec<&str> = nodes
            .iter()
            .filter_map(|node| node.datacenter.as_deref())
            .collect();
        known.sort_unstable();
        known.dedup();
        Err(Failure::Refused(format!(
            "there is no datacenter '{}'; the cluster has {}",
            self.config.datacenter,
            known.join(", ")
        )))
    }

    /// How many nodes the datacenter has.
    pub(crate) fn node_count(&self) -> usize {
        let state = self.session.get_cluster_state();
        let nodes = state.get_nodes_info().iter();
        let here = |name: &Option<String>| name.as_deref() == Some(&*self.config.datacenter);
        nodes.filter(|node| here(&node.datacenter)).count()
    }

    /// Says that nobody is to wait for the cluster any more.
    pub(crate) fn close(&self) {
        self.closing.send_replace(true);
    }

    /// Whether [`Cluster::close`] was called.
    pub(crate) fn closing(&self) -> watch::Receiver<bool> {
        self.closing.subscribe()
    }

    /// Takes part in what may be under way at once; `None` if there is no room in time.
    pub(crate) async fn enter(&self) -> Option<SemaphorePermit<'_>> {
        let room = tokio::time::timeout(self.config.room_wait, self.room.acquire()).await;
        room.ok()?.ok()
    }

    /// Requests under way.
    pub(crate) fn in_flight(&self) -> usize {
        let most = self.config.in_flight_max.max(1);
        most.saturating_sub(self.room.available_permits())
    }

    /// Prepares a statement for its use.
    pub(crate) async fn prepare(&self, cql: &str, of: Use) -> Result<PreparedStatement, Failure> {
        let mut statement = self.session.prepare(cql).await?;
        statement.set_is_idempotent(of != Use::Conditional);
        match of {
            Use::Read => {
                statement.set_retry_policy(Some(Arc::new(DefaultRetryPolicy::new())));
            }
            Use::Write | Use::Conditional => {
                statement.set_retry_policy(Some(Arc::new(FallthroughRetryPolicy::new())));
            }
        }
        Ok(statement)
    }

    /// Runs a statement of which no rows are wanted, or few.
    pub(crate) async fn run(
        &self,
        statement: &PreparedStatement,
        values: impl SerializeRow,
    ) -> Result<QueryResult, Failure> {
        self.counted(self.session.execute_unpaged(statement, values).await)
    }

    /// Runs several statements as one request.
    pub(crate) async fn run_batch(
        &self,
        batch: &Batch,
        values: Vec<impl SerializeRow>,
    ) -> Result<QueryResult, Failure> {
        self.counted(self.session.batch(batch, values).await)
    }

    /// Reads one page.
    pub(crate) async fn page(
        &self,
        statement: &PreparedStatement,
        values: impl SerializeRow,
        from: PagingState,
    ) -> Result<Page, Failure> {
        let answer = self
            .session
            .execute_single_page(statement, values, from)
            .await;
        let (result, next) = self.counted(answer)?;
        let rows = result
            .into_rows_result()
            .map_err(|error| Failure::Unknown(error.to_string()))?;
        let next = match next {
            PagingStateResponse::HasMorePages { state } => Some(state),
            PagingStateResponse::NoMorePages => None,
        };
        Ok(Page { rows, next })
    }

    /// Runs a statement that defines or removes tables or keyspaces, and waits until all nodes know.
    pub(crate) async fn define(&self, cql: String) -> Result<(), Failure> {
        let mut statement = Statement::new(cql);
        statement.set_request_timeout(Some(DEFINITION_TIMEOUT));
        self.counted(self.session.query_unpaged(statement, ()).await)?;
        Ok(())
    }

    /// Learns of keyspaces and tables that were made, so that requests go to the nodes that keep their rows.
    pub(crate) async fn learn(&self) -> Result<(), Failure> {
        let learnt = self.session.refresh_metadata().await;
        learnt.map_err(|error| Failure::NotDone(error.to_string()))
    }

    fn counted<T>(&self, answer: Result<T, ExecutionError>) -> Result<T, Failure> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        answer.map_err(|error| {
            self.failures.fetch_add(1, Ordering::Relaxed);
            error.into()
        })
    }
}
