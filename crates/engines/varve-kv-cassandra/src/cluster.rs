//! The session with the cluster, and the limit on concurrent requests.

use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::StreamExt;
use futures::stream::FuturesUnordered;
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
use crate::failure::{self, Failure};
use crate::figures::Figures;
use crate::nodes::{self, Asked, Near, Nodes};
use crate::sessions::{DEFINITION_TIMEOUT, Sessions, plain, serial};

/// The longest wait for agreement when other processes may be creating tables.
const AGREEMENT_TIMEOUT: Duration = Duration::from_secs(10);
/// The time without an answer after which a request is sent once more, perhaps to another node: the
/// first node may hang.
const COPY_AFTER: Duration = Duration::from_secs(2);
/// The time without an answer after which the request's node is in doubt, if it has answered
/// nothing else meanwhile.
const DOUBT_AFTER: Duration = Duration::from_millis(500);
/// The most copies of one request that may be under way, including the first one.
const COPIES_MAX: usize = 3;
/// The most requests that may have copies at once: an overloaded cluster must not get three times
/// the load.
const COPIED_MAX: usize = 32;
/// The first pause before an execution is repeated whose statement the node has evicted. Each pause
/// is twice the one before.
const EVICTED_PAUSE: Duration = Duration::from_millis(20);
/// The longest such pause. It is short, since a busy node may evict the statement again and again.
const EVICTED_PAUSE_MAX: Duration = Duration::from_millis(160);
/// The number of checks whether there are as many nodes as replicas, and the wait before each
/// further check.
const NODES_LOOKS: usize = 20;
const NODES_WAIT: Duration = Duration::from_millis(500);

/// The session.
pub(crate) struct Cluster {
    sessions: Arc<Sessions>,
    nodes: Arc<Nodes>,
    pub(crate) config: CassandraConfig,
    room: Semaphore,
    copied: Semaphore,
    closing: watch::Sender<bool>,
    pub(crate) figures: Figures,
}

/// One page of rows, and the state from which the next page is read.
pub(crate) struct Page {
    pub(crate) rows: QueryRowsResult,
    pub(crate) next: Option<PagingState>,
}

/// The use of a prepared statement, which decides how it is retried and which replicas it waits
/// for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// Reads, from a quorum as all requests; the driver may ask another node.
    Read,
    /// Writes with a timestamp; retried by this crate, which knows what a failure means.
    Write,
    /// Conditional changes, and reads that are linearized with them: not retried, as a retry would
    /// conflict with the first request.
    Conditional,
}

impl Cluster {
    /// Connects.
    ///
    /// # Errors
    /// When no contact point answers, or the datacenter has no node.
    pub(crate) async fn connect(config: CassandraConfig) -> Result<Self, Failure> {
        let consistency = plain(config.consistency);
        Self::connect_at(config, consistency).await
    }

    /// Connects; reads and writes wait for a quorum of each datacenter. Conditional changes are
    /// decided as usual.
    ///
    /// # Errors
    /// As [`Cluster::connect`].
    pub(crate) async fn connect_widely(config: CassandraConfig) -> Result<Self, Failure> {
        Self::connect_at(config, Consistency::EachQuorum).await
    }

    async fn connect_at(
        config: CassandraConfig,
        consistency: Consistency,
    ) -> Result<Self, Failure> {
        let nodes = Nodes::new(
            DefaultPolicy::builder()
                .prefer_datacenter(config.datacenter.clone())
                .token_aware(true)
                .build(),
        );
        let sessions = Sessions::connect(&config, consistency, &nodes).await?;
        let cluster = Self {
            sessions: Arc::new(sessions),
            nodes,
            room: Semaphore::new(config.in_flight_max.max(1)),
            copied: Semaphore::new(COPIED_MAX),
            closing: watch::Sender::new(false),
            figures: Figures::default(),
            config,
        };
        cluster.check_datacenter()?;
        Ok(cluster)
    }

    fn check_datacenter(&self) -> Result<(), Failure> {
        let state = self.sessions.common.get_cluster_state();
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

    /// The number of nodes of the configured datacenter.
    pub(crate) fn node_count(&self) -> usize {
        self.node_count_in(&self.config.datacenter)
    }

    fn node_count_in(&self, datacenter: &str) -> usize {
        self.nodes_in(datacenter).len()
    }

    /// The host ids of a datacenter's nodes.
    fn nodes_in(&self, datacenter: &str) -> Vec<u128> {
        let state = self.sessions.common.get_cluster_state();
        let nodes = state.get_nodes_info().iter();
        let here = |name: &Option<String>| name.as_deref() == Some(datacenter);
        nodes
            .filter(|node| here(&node.datacenter))
            .map(|node| node.host_id.as_u128())
            .collect()
    }

    /// Returns the number of nodes of a datacenter. Repeats the check for a while if there are
    /// fewer than `wanted`: the queried node may not know a node that was just started.
    pub(crate) async fn node_count_settled(&self, datacenter: &str, wanted: usize) -> usize {
        for _ in 0..NODES_LOOKS {
            if self.node_count_in(datacenter) >= wanted {
                break;
            }
            tokio::time::sleep(NODES_WAIT).await;
            // A failure is ignored, since the check is repeated.
            let _ = self.learn().await;
        }
        self.node_count_in(datacenter)
    }

    /// The consistency of a read that is linearized with all conditional changes.
    pub(crate) fn in_order(&self) -> Consistency {
        match serial(self.config.consistency) {
            SerialConsistency::Serial => Consistency::Serial,
            SerialConsistency::LocalSerial => Consistency::LocalSerial,
        }
    }

    /// Returns the host id of the first replica of a partition in the ring; 0 if it is unknown.
    pub(crate) fn home(&self, statement: &PreparedStatement, partition: &[u8]) -> u128 {
        let Some(table) = statement.get_table_spec() else {
            return 0;
        };
        let Ok(Some(token)) = statement.calculate_token(&(partition, b"".as_slice())) else {
            return 0;
        };
        let state = self.sessions.common.get_cluster_state();
        let nodes = state.get_token_endpoints(table.ks_name(), table.table_name(), token);
        nodes.first().map_or(0, |(node, _)| node.host_id.as_u128())
    }

    /// Prepares this thread, which is that of a runtime of its own, for its own requests.
    pub(crate) fn settle(&self) {
        self.sessions.settle(&self.config, &self.nodes);
    }

    /// Makes all waits for the cluster end.
    pub(crate) fn close(&self) {
        self.closing.send_replace(true);
    }

    /// Returns a receiver that shows whether [`Cluster::close`] was called.
    pub(crate) fn closing(&self) -> watch::Receiver<bool> {
        self.closing.subscribe()
    }

    /// Takes a permit for concurrent requests; `None` if there is none in time.
    pub(crate) async fn enter(&self) -> Option<SemaphorePermit<'_>> {
        let room = tokio::time::timeout(self.config.room_wait, self.room.acquire()).await;
        room.ok()?.ok()
    }

    /// The number of nodes that have stopped answering.
    pub(crate) fn silent_nodes(&self) -> usize {
        self.nodes.silent()
    }

    /// The number of calls under way.
    pub(crate) fn in_flight(&self) -> usize {
        let most = self.config.in_flight_max.max(1);
        most.saturating_sub(self.room.available_permits())
    }

    /// Prepares a statement for its use.
    pub(crate) async fn prepare(&self, cql: &str, of: Use) -> Result<PreparedStatement, Failure> {
        let mut statement = self.sessions.common.prepare(cql).await?;
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

    /// Runs a statement that returns few or no rows.
    pub(crate) async fn run(
        &self,
        statement: &PreparedStatement,
        values: impl SerializeRow + Sync,
    ) -> Result<QueryResult, Failure> {
        let values = &values;
        let session = &*self.sessions.here();
        let request = || self.prepared(|| session.execute_unpaged(statement, values));
        self.answered(statement.get_is_idempotent(), request).await
    }

    /// [`Cluster::run`] for a statement on several partitions, of which `partition` is one: it is
    /// sent to the first replica of that one.
    pub(crate) async fn run_near(
        &self,
        statement: &PreparedStatement,
        values: impl SerializeRow + Sync,
        partition: &[u8],
    ) -> Result<QueryResult, Failure> {
        if self.node_count() <= 1 {
            return self.run(statement, values).await;
        }
        let mut statement = statement.clone();
        let node = self.home(&statement, partition);
        statement.set_load_balancing_policy(Some(Near::new(&self.nodes, node)));
        self.run(&statement, values).await
    }

    /// Runs several statements as one request.
    pub(crate) async fn run_batch(
        &self,
        batch: &Batch,
        values: Vec<impl SerializeRow + Sync>,
    ) -> Result<QueryResult, Failure> {
        let values = &values;
        let request = || self.sessions.common.batch(batch, values);
        self.answered(batch.get_is_idempotent(), request).await
    }

    /// [`Cluster::run`] for a repeatable request that is urgent. Its copies do not count against
    /// the limit on copies; each is sent `copy_after` after the one before.
    pub(crate) async fn run_urgent(
        &self,
        statement: &PreparedStatement,
        values: impl SerializeRow + Sync,
        copy_after: Duration,
    ) -> Result<QueryResult, Failure> {
        let values = &values;
        let request = || self.prepared(|| self.sessions.common.execute_unpaged(statement, values));
        let begun = Instant::now();
        let mut first = std::pin::pin!(request());
        if let Ok(answer) = tokio::time::timeout(copy_after, &mut first).await {
            return self.counted(begun, answer);
        }
        self.figures.repeated();
        self.counted(begun, first_success(first, request, copy_after).await)
    }

    /// Reads one page.
    pub(crate) async fn page(
        &self,
        statement: &PreparedStatement,
        values: impl SerializeRow + Sync,
        from: PagingState,
    ) -> Result<Page, Failure> {
        let values = &values;
        let session = &*self.sessions.here();
        let page = || session.execute_single_page(statement, values, from.clone());
        let request = || self.prepared(page);
        let answer = self.answered(statement.get_is_idempotent(), request).await;
        let (result, next) = answer?;
        let rows = result
            .into_rows_result()
            .map_err(|error| Failure::Unknown(error.to_string()))?;
        let next = match next {
            PagingStateResponse::HasMorePages { state } => Some(state),
            PagingStateResponse::NoMorePages => None,
        };
        Ok(Page { rows, next })
    }

    /// Runs a statement that defines or removes tables or keyspaces, and waits for the agreement of
    /// all nodes.
    pub(crate) async fn define(&self, cql: String) -> Result<(), Failure> {
        let mut statement = Statement::new(cql);
        statement.set_request_timeout(Some(DEFINITION_TIMEOUT));
        let begun = Instant::now();
        let defined = self.sessions.common.query_unpaged(statement, ()).await;
        self.counted(begun, defined)?;
        Ok(())
    }

    /// Waits a while for all reachable nodes to agree on the schema. Must be called if other
    /// processes may be creating tables: a table that one node knows may be unknown to the next.
    pub(crate) async fn agree(&self) {
        let agreed = self.sessions.common.await_schema_agreement();
        // Without agreement, the next request reports the missing table.
        let _ = tokio::time::timeout(AGREEMENT_TIMEOUT, agreed).await;
    }

    /// Refreshes the metadata of keyspaces and tables, so that requests are routed to the replicas.
    pub(crate) async fn learn(&self) -> Result<(), Failure> {
        let learnt = self.sessions.common.refresh_metadata().await;
        learnt.map_err(|error| Failure::NotDone(error.to_string()))
    }

    /// Returns the answer to a request. A repeatable request is repeated while it has no answer.
    /// Then the first success is the answer; without a success, the worst failure is
    /// ([`Failure::worst`]).
    async fn answered<T, F>(&self, repeatable: bool, request: impl Fn() -> F) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, ExecutionError>>,
    {
        let begun = Instant::now();
        let (asked, first) = nodes::asking(request());
        let mut first = std::pin::pin!(first);
        if let Ok(answer) = tokio::time::timeout(DOUBT_AFTER, &mut first).await {
            return self.counted(begun, answer);
        }
        self.unanswered(&asked);
        if !repeatable {
            return self.counted(begun, first.await);
        }
        // Every request may be sent to another node than a silent one: the other nodes then get no
        // more requests in all than the silent node would have answered.
        let past = tokio::select! {
            biased;
            answer = &mut first => return self.counted(begun, answer),
            () = self.passable(&asked) => true,
            () = tokio::time::sleep(COPY_AFTER.saturating_sub(DOUBT_AFTER)) => false,
        };
        let _place = if past {
            None
        } else {
            self.unanswered(&asked);
            tokio::select! {
                biased;
                answer = &mut first => return self.counted(begun, answer),
                () = self.passable(&asked) => None,
                place = self.copied.acquire() => place.ok(),
            }
        };
        self.figures.repeated();
        self.counted(begun, first_success(first, request, COPY_AFTER).await)
    }

    /// Notes that a request has no answer yet. Ignored if there is only one node.
    fn unanswered(&self, asked: &Asked) {
        if self.node_count() > 1 {
            nodes::unanswered(&self.nodes, &self.sessions.common, asked);
        }
    }

    /// Waits until the node of a request is silent, and another node is not.
    async fn passable(&self, asked: &Asked) {
        let all = || self.nodes_in(&self.config.datacenter);
        self.nodes.passable(asked, all).await;
    }

    /// [`prepared`] with the timeout of a request as the limit.
    async fn prepared<T, F>(&self, execution: impl Fn() -> F) -> Result<T, ExecutionError>
    where
        F: Future<Output = Result<T, ExecutionError>>,
    {
        prepared(self.config.request_timeout, execution).await
    }

    fn counted<T>(
        &self,
        begun: Instant,
        answer: Result<T, impl Into<Failure>>,
    ) -> Result<T, Failure> {
        self.figures.request(begun.elapsed(), answer.is_err());
        answer.map_err(Into::into)
    }
}

/// Repeats the execution of a single prepared statement while the node has evicted the statement.
/// No repetition begins later than `limit` after the start.
///
/// The driver prepares such a statement and repeats its execution once; a node whose cache is
/// smaller than the statements in use may have evicted it again by then. An execution without its
/// statement has changed nothing, so conditional statements are repeated too. The driver itself
/// repeats batches until their timeout.
async fn prepared<T, F>(limit: Duration, execution: impl Fn() -> F) -> Result<T, ExecutionError>
where
    F: Future<Output = Result<T, ExecutionError>>,
{
    let started = Instant::now();
    let mut pause = EVICTED_PAUSE;
    loop {
        let answer = execution().await;
        let is_evicted = matches!(&answer, Err(error) if failure::is_unprepared(error));
        if !is_evicted || started.elapsed() + pause > limit {
            return answer;
        }
        tokio::time::sleep(pause).await;
        pause = (2 * pause).min(EVICTED_PAUSE_MAX);
    }
}

/// Waits for a request, and for copies of it that are sent one after the other until one succeeds.
async fn first_success<T, E, F>(
    mut first: Pin<&mut impl Future<Output = Result<T, E>>>,
    request: impl Fn() -> F,
    copy_after: Duration,
) -> Result<T, Failure>
where
    E: Into<Failure>,
    F: Future<Output = Result<T, E>>,
{
    let mut copies = FuturesUnordered::from_iter([request()]);
    let mut sent = 2;
    let mut failures: Vec<Failure> = Vec::new();
    let mut first_failed = false;
    while failures.len() < sent {
        tokio::select! {
            biased;
            answer = &mut first, if !first_failed => match answer {
                Ok(answer) => return Ok(answer),
                Err(error) => {
                    first_failed = true;
                    failures.push(error.into());
                }
            },
            Some(answer) = copies.next() => match answer {
                Ok(answer) => return Ok(answer),
                Err(error) => failures.push(error.into()),
            },
            () = tokio::time::sleep(copy_after), if sent < COPIES_MAX => {
                copies.push(request());
                sent += 1;
            }
        }
    }
    Err(Failure::worst(failures).expect("at least two requests have failed"))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// The behaviour of a request.
    #[derive(Clone)]
    enum Does {
        Hang,
        /// Answers after enough time for many copies.
        AnswerLate(u32),
        Answer(Result<u32, Failure>),
    }

    /// Returns the result of a request whose copies behave like this, and the number of copies
    /// sent.
    fn first_of(copies: &[Does]) -> (Result<u32, Failure>, usize) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .expect("a runtime");
        let sent = Cell::new(0);
        let request = || {
            let does = copies[sent.replace(sent.get() + 1)].clone();
            async move {
                match does {
                    Does::Hang => std::future::pending().await,
                    Does::AnswerLate(number) => {
                        tokio::time::sleep(Duration::from_millis(30)).await;
                        Ok(number)
                    }
                    Does::Answer(answer) => answer,
                }
            }
        };
        let answer = runtime.block_on(async {
            let first = std::pin::pin!(request());
            first_success(first, request, Duration::from_millis(1)).await
        });
        (answer, sent.get())
    }

    #[test]
    fn a_request_on_a_node_that_hangs_is_answered_by_another() {
        use Does::{Answer, AnswerLate, Hang};
        assert_eq!(first_of(&[Hang, Answer(Ok(2))]), (Ok(2), 2));
        assert_eq!(first_of(&[Hang, Hang, AnswerLate(3)]), (Ok(3), 3));
        assert_eq!(first_of(&[Answer(Ok(1)), Hang]), (Ok(1), 2));
    }

    #[test]
    #[expect(clippy::result_large_err, reason = "it is the driver's error")]
    fn an_execution_is_repeated_only_while_its_statement_is_evicted() {
        use scylla::errors::{DbError, RequestAttemptError};
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .expect("a runtime");
        let failed = |error| {
            let attempt = RequestAttemptError::DbError(error, "why".to_owned());
            Err(ExecutionError::from(attempt))
        };
        let evicted = || DbError::Unprepared {
            statement_id: vec![1].into(),
        };
        // The result where the first executions find the statement evicted, and the number of
        // executions.
        let run = |limit: Duration, evictions: usize, then: fn() -> Result<u32, DbError>| {
            let sent = Cell::new(0);
            let execution = || async {
                match sent.replace(sent.get() + 1) < evictions {
                    true => failed(evicted()),
                    false => then().or_else(failed),
                }
            };
            let answer = runtime.block_on(prepared(limit, execution));
            (answer.map_err(Failure::from), sent.get())
        };
        let long = Duration::from_secs(60);
        assert_eq!(run(long, 0, || Ok(7)), (Ok(7), 1));
        assert_eq!(run(long, 2, || Ok(7)), (Ok(7), 3));
        let (failed, sent) = run(long, 1, || Err(DbError::Overloaded));
        assert!(matches!(failed, Err(Failure::Unknown(_))), "{failed:?}");
        assert_eq!(sent, 2);
        let (failed, sent) = run(EVICTED_PAUSE, usize::MAX, || Ok(7));
        assert!(matches!(failed, Err(Failure::NotDone(_))), "{failed:?}");
        assert!((1..3).contains(&sent), "{sent}");
    }

    #[test]
    fn of_copies_that_all_failed_the_failure_that_leaves_most_open_counts() {
        let not_done = || Err(Failure::NotDone("too few replicas".to_owned()));
        let unknown = || Err(Failure::Unknown("no answer".to_owned()));
        let of = |answers: [Result<u32, Failure>; 2]| first_of(&answers.map(Does::Answer)).0;
        // The first request may still be carried out.
        assert_eq!(of([unknown(), not_done()]), unknown());
        assert_eq!(of([not_done(), unknown()]), unknown());
        assert_eq!(of([not_done(), Ok(2)]), Ok(2));
        assert_eq!(of([not_done(), not_done()]), not_done());
    }
}
