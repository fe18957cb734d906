//! The state that all serving threads share.

mod worker;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use varve_auth::{Auth, Store};
use varve_graph::optimistic::HeldBytes;
use varve_graph::registry::GraphLocation;
use varve_graph::{GraphError, GraphOptions, Registry, deadline};
use varve_kv::MemoryEngine;
use varve_model::time::SystemClock;

use crate::admission::Admission;
use crate::answers::AnswerBudget;
use crate::audit::{Audit, AuditLevel};
use crate::blocking::{BlockingPool, Lane, PoolError, Turn};
use crate::config::{AuthConfig, ConfigError, GremlinConfig, ServerConfig, cores};
use crate::errors::ApiError;
use crate::forwarded::Proxies;
use crate::health::{Health, Trouble};
use crate::hugegraph::{ServerJobs, owner_check};
use crate::logins::Logins;
use crate::metrics::Metrics;
use crate::omrs::Metadata;
use crate::policies::Policies;
use crate::queries::{Queries, SlowRequests};
use crate::query_memory;
use crate::route::{Class, Route};
use crate::router::Router;
use crate::sharing::{self, SharedUsers};
use crate::tls::{Tls, TlsError};
use crate::user_limits::UserLimits;

use worker::serving_threads;
pub(crate) use worker::{ADMIN_THREADS, Door, WorkerHandle};

/// Why a server could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// An option has an invalid value.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The graphs could not be opened.
    #[error("open the graphs: {0}")]
    Graphs(#[from] GraphError),
    /// The users could not be read.
    #[error("open the users: {0}")]
    Auth(#[from] varve_auth::AuthError),
    /// The certificate or its key cannot be used.
    #[error("serve TLS: {0}")]
    Tls(#[from] TlsError),
    /// A thread, a socket or a file could not be opened.
    #[error("{what}: {source}")]
    Io {
        /// The operation that failed.
        what: String,
        /// Why it failed.
        source: std::io::Error,
    },
}

/// Graphs of metadata repositories that this server does not serve: they are read-only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LockedGraphs {
    /// The graphs with these names.
    These(Vec<String>),
    /// Every graph that keeps a repository, checked with each request: on a cluster, the graphs
    /// that a server leads change.
    WithRepositories,
}

impl From<Vec<String>> for LockedGraphs {
    fn from(names: Vec<String>) -> Self {
        Self::These(names)
    }
}

/// The shared state: configuration, routes, budgets, counters; and the graphs.
pub struct AppState {
    config: ServerConfig,
    router: Router,
    admission: Admission,
    pool: BlockingPool,
    answers: Arc<AnswerBudget>,
    metrics: Metrics,
    health: Health,
    graphs: Arc<Registry>,
    reads_wait: bool,
    metadata: Option<Metadata>,
    auth: Option<Arc<Auth>>,
    /// The copy of the users' directory on a cluster; `None` elsewhere.
    pub(crate) shared_users: Option<SharedUsers>,
    audit: Option<Audit>,
    pub(crate) user_limits: UserLimits,
    tls: Option<Tls>,
    pub(crate) proxies: Proxies,
    logins: Logins,
    locked_graphs: LockedGraphs,
    is_shared: bool,
    /// Whether the graphs are not open yet.
    waiting: bool,
    trace: AtomicBool,
    stopping: AtomicBool,
    jobs: crate::admin::Jobs,
    started: Instant,
    incidents: AtomicU64,
    pub(crate) open_connections: std::sync::atomic::AtomicUsize,
    /// Open sessions of `/gremlin`.
    pub(crate) gremlin_sessions: std::sync::atomic::AtomicUsize,
    /// The limits of the transactions and sessions of `/gremlin`.
    pub(crate) transactions: crate::gremlin::TransactionLimits,
    /// The memory budget that all queries share.
    query_memory: Arc<HeldBytes>,
    policies: Policies,
    /// Slots for exports.
    exports: crate::explore::Exports,
    /// Readers that wait for changes.
    followers: crate::explore::Followers,
    queries: Queries,
    slow_requests: SlowRequests,
}

impl AppState {
    /// Sets up the state with graphs in memory: for tests, and to measure the cost of HTTP alone.
    pub fn new(config: ServerConfig) -> Result<Arc<Self>, SetupError> {
        Self::with_routes(config, in_memory()?, &[])
    }

    /// Sets up the state with these graphs.
    pub fn with_graphs(
        config: ServerConfig,
        graphs: Arc<Registry>,
    ) -> Result<Arc<Self>, SetupError> {
        Self::with_routes(config, graphs, &[])
    }

    /// Sets up the state with further routes beside those of this crate.
    pub fn with_routes(
        config: ServerConfig,
        graphs: Arc<Registry>,
        more: &[&'static [Route]],
    ) -> Result<Arc<Self>, SetupError> {
        Self::with_metadata(config, graphs, more, None, LockedGraphs::These(Vec::new()))
    }

    /// Sets up the state of a server whose graphs cannot be opened yet: requests that need them are
    /// answered 503.
    pub fn waiting(config: &ServerConfig) -> Result<Arc<Self>, SetupError> {
        let config = ServerConfig {
            // None of its answers needs long work.
            blocking_threads: 1,
            admin_listen: String::new(),
            gremlin: GremlinConfig::default(),
            auth: AuthConfig {
                enabled: false,
                ..config.auth.clone()
            },
            ..config.clone()
        };
        let mut state = Self::with_graphs(config, in_memory()?)?;
        let own = Arc::get_mut(&mut state).expect("nobody else has it yet");
        own.waiting = true;
        Ok(state)
    }

    /// Sets up the state with further routes and a metadata repository, which is stored in one of
    /// these graphs. `locked_graphs` are read-only.
    pub fn with_metadata(
        config: ServerConfig,
        graphs: Arc<Registry>,
        more: &[&'static [Route]],
        metadata: Option<Metadata>,
        locked_graphs: impl Into<LockedGraphs>,
    ) -> Result<Arc<Self>, SetupError> {
        config.validate()?;
        let mut tables = crate::routes::tables();
        tables.extend_from_slice(more);
        let router = Router::new(&tables);
        let auth = open_auth(&config.auth, &graphs)?;
        sharing::check_tls(&config, &graphs)?;
        let shared_users = SharedUsers::open(&config, &graphs)?;
        // Until the users are known, jobs of users wait ([`crate::sharing`]).
        if let Some(auth) = auth.as_ref().filter(|auth| auth.is_current()) {
            check_owners(&graphs, auth);
        }
        let audit = open_audit(&config.auth)?;
        let tls = Tls::open(&config.tls)?;
        let reads_wait = graphs.capabilities().reads_may_wait;
        let pool = BlockingPool::start(&config, reads_wait).map_err(|source| SetupError::Io {
            what: "start the pool".to_owned(),
            source,
        })?;
        Ok(Arc::new(Self {
            admission: Admission::new(&config),
            answers: AnswerBudget::new(config.max_held_answer_bytes),
            metrics: Metrics::new(serving_threads(&config), router.routes().len()),
            health: Health::default(),
            trace: AtomicBool::new(config.allow_trace),
            stopping: AtomicBool::new(false),
            jobs: crate::admin::Jobs::default(),
            started: Instant::now(),
            incidents: AtomicU64::new(0),
            open_connections: std::sync::atomic::AtomicUsize::new(0),
            gremlin_sessions: std::sync::atomic::AtomicUsize::new(0),
            transactions: crate::gremlin::TransactionLimits::new(&config.gremlin),
            query_memory: query_memory::of_queries(&config),
            policies: Policies::default(),
            exports: crate::explore::Exports::new(config.explore.exports_max),
            followers: crate::explore::Followers::new(&config.changes, config.retry_after_seconds),
            queries: Queries::default(),
            slow_requests: SlowRequests::default(),
            is_shared: graphs.is_shared(),
            graphs,
            reads_wait,
            metadata,
            auth,
            shared_users,
            audit,
            user_limits: UserLimits::new(&config.auth),
            proxies: Proxies::new(&config)?,
            tls,
            logins: Logins::new(&config, cores()),
            locked_graphs: locked_graphs.into(),
            waiting: false,
            router,
            pool,
            config,
        }))
    }

    /// TLS; `None` where it is off.
    pub(crate) fn tls(&self) -> Option<&Tls> {
        self.tls.as_ref()
    }

    /// The options.
    pub fn config(&self) -> &ServerConfig {
        &self.config
    }

    /// The routes.
    pub fn router(&self) -> &Router {
        &self.router
    }

    /// The graphs.
    pub fn graphs(&self) -> &Arc<Registry> {
        &self.graphs
    }

    /// Whether reads of graphs wait for a network, so that a serving thread must not do them.
    pub(crate) fn reads_wait(&self) -> bool {
        self.reads_wait
    }

    /// The metadata repository, if this server serves one.
    pub(crate) fn metadata(&self) -> Option<&Metadata> {
        self.metadata.as_ref()
    }

    /// The authentication of clients; `None` where it is off.
    pub fn auth(&self) -> Option<&Arc<Auth>> {
        self.auth.as_ref()
    }

    /// The audit trail, if there is one.
    pub(crate) fn audit(&self) -> Option<&Audit> {
        self.audit.as_ref()
    }

    /// The limit of concurrent password checks.
    pub(crate) fn logins(&self) -> &Logins {
        &self.logins
    }

    /// The read-only graphs of other metadata repositories.
    pub(crate) fn locked_graphs(&self) -> &LockedGraphs {
        &self.locked_graphs
    }

    /// Whether the graphs are not open yet.
    pub(crate) fn is_waiting(&self) -> bool {
        self.waiting
    }

    /// Whether other servers lead some of the graphs.
    pub(crate) fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// The jobs of `/admin`.
    pub(crate) fn jobs(&self) -> &crate::admin::Jobs {
        &self.jobs
    }

    /// The budgets.
    pub fn admission(&self) -> &Admission {
        &self.admission
    }

    /// The budget of answers.
    pub(crate) fn answers(&self) -> &Arc<AnswerBudget> {
        &self.answers
    }

    /// The 503 for an answer that exceeds the budget of answers.
    #[track_caller]
    pub(crate) fn too_many_answers(&self) -> ApiError {
        let message = format!(
            "The server holds {} bytes of answers that clients have not received yet, and has no memory for one more",
            self.answers.bytes()
        );
        ApiError::unavailable(message, self.config.retry_after_seconds)
    }

    /// The pool for long work.
    pub fn pool(&self) -> &BlockingPool {
        &self.pool
    }

    /// The counters.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// The server errors seen so far.
    pub(crate) fn health(&self) -> &Health {
        &self.health
    }

    /// Writes that have succeeded, over all routes.
    pub(crate) fn writes_done(&self) -> u64 {
        let routes = self.router.routes().iter().enumerate();
        let writes = routes.filter(|(_, route)| route.class == Class::Write);
        writes
            .map(|(index, _)| self.metrics.totals(index).succeeded)
            .sum()
    }

    /// Records and logs the error of a request.
    pub(crate) fn note_error(&self, error: &ApiError, uri: &http::Uri) {
        self.health.note(error, uri, || self.writes_done());
    }

    /// As [`AppState::note_error`], for an error of another API than HugeGraph's.
    pub(crate) fn note_trouble(&self, trouble: Trouble, uri: &http::Uri, message: &str) {
        self.health
            .note_as(trouble, uri, message, || self.writes_done());
    }

    /// When the server was set up.
    pub fn started(&self) -> Instant {
        self.started
    }

    /// Connections open now.
    pub fn open_connections(&self) -> usize {
        self.open_connections.load(Ordering::Relaxed)
    }

    /// Sessions of `/gremlin` open now.
    pub fn gremlin_sessions(&self) -> usize {
        self.gremlin_sessions.load(Ordering::Relaxed)
    }

    /// The running requests that can be cancelled.
    pub(crate) fn queries(&self) -> &Queries {
        &self.queries
    }

    /// The last slow requests.
    pub(crate) fn slow_requests(&self) -> &SlowRequests {
        &self.slow_requests
    }

    /// Slots for exports.
    pub(crate) fn exports(&self) -> &crate::explore::Exports {
        &self.exports
    }

    /// Readers that wait for changes.
    pub(crate) fn followers(&self) -> &crate::explore::Followers {
        &self.followers
    }

    /// The compiled policies of users.
    pub(crate) fn policies(&self) -> &Policies {
        &self.policies
    }

    /// The memory budget that all queries share.
    pub(crate) fn query_memory(&self) -> &Arc<HeldBytes> {
        &self.query_memory
    }

    /// Bytes that open transactions and the variables of sessions of `/gremlin` hold now.
    pub fn gremlin_held_bytes(&self) -> usize {
        self.transactions.held.held()
    }

    /// Bytes of answers that are held until clients have taken them.
    pub fn answer_bytes(&self) -> usize {
        self.answers.bytes()
    }

    /// Whether errors carry a trace.
    pub fn trace(&self) -> bool {
        self.trace.load(Ordering::Relaxed)
    }

    /// Switches the trace of errors.
    pub fn set_trace(&self, on: bool) {
        self.trace.store(on, Ordering::Relaxed);
    }

    /// Whether a stop was requested.
    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    pub(crate) fn set_stopping(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    /// Runs long work on the pool for reads; waits for room up to `admission_wait_ms`, then 503. A
    /// panic in it is a 500.
    pub async fn run_blocking<T, F>(&self, work: F) -> Result<T, ApiError>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        self.run_beside(Lane::Reads, work).await
    }

    /// As [`AppState::run_blocking`], in either lane. The work must change nothing.
    pub(crate) async fn run_beside<T, F>(&self, lane: Lane, work: F) -> Result<T, ApiError>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        let limit = self.config.graph_change_timeout();
        let turn = Turn::until(Instant::now() + limit);
        self.in_lane(lane, &turn, limit, work).await
    }

    /// Runs a request's work on the pool in its turn. Within the work, waits for other commits end
    /// at the request's deadline.
    pub(crate) async fn run_request<T, F>(
        &self,
        route: &Route,
        (deadline, turn): (Instant, &Arc<Turn>),
        work: F,
    ) -> Result<T, ApiError>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        let limit = self.time_limit(route);
        let work = move || deadline::until(deadline, work);
        self.in_lane(Lane::of(route.class), turn, limit, work).await
    }

    async fn in_lane<T, F>(
        &self,
        lane: Lane,
        turn: &Arc<Turn>,
        limit: Duration,
        work: F,
    ) -> Result<T, ApiError>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        match self.pool.run(lane, turn, work).await {
            Ok(value) => Ok(value),
            Err(PoolError::Busy(error)) => Err(error),
            Err(PoolError::NotBegun) => Err(self.timed_out(limit)),
            Err(PoolError::Panicked(panic)) => Err(self.panicked(&*panic)),
        }
    }

    /// How long a request to that route may take.
    pub(crate) fn time_limit(&self, route: &Route) -> Duration {
        match route.lengthy {
            true => self.config.graph_change_timeout(),
            false => self.config.request_timeout(),
        }
    }

    /// The 503 for a request whose time is over.
    #[track_caller]
    pub(crate) fn timed_out(&self, limit: Duration) -> ApiError {
        let limit = limit.as_millis();
        let message = format!("The request took longer than the limit of {limit} ms");
        ApiError::unavailable(message, self.config.retry_after_seconds)
    }

    /// Counts and logs a panic; the 500 for its request names the log line.
    pub(crate) fn panicked(&self, panic: &(dyn std::any::Any + Send)) -> ApiError {
        self.metrics.panics.fetch_add(1, Ordering::Relaxed);
        let text = panic
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "no text".to_owned());
        let number = self.incidents.fetch_add(1, Ordering::Relaxed);
        let incident = format!("{:x}-{number}", std::process::id());
        tracing::error!(incident, panic = text, "a handler panicked");
        ApiError::internal(format!(
            "Unexpected failure, see request id {incident} in the server's log"
        ))
    }
}

/// Makes the jobs of these graphs check whether their owners may still run them.
pub(crate) fn check_owners(graphs: &Registry, auth: &Arc<Auth>) {
    if let Some(jobs) = &graphs.options().jobs {
        jobs.check_owners_by(owner_check(auth));
    }
}

/// Opens the users' directory of these graphs, where authentication is on. If another server leads
/// it, this one follows with a copy.
fn open_auth(config: &AuthConfig, graphs: &Registry) -> Result<Option<Arc<Auth>>, SetupError> {
    if !config.enabled {
        return Ok(None);
    }
    let auth = match graphs.look_at_system(true)? {
        GraphLocation::Here(graph) => Auth::open(Store::open(graph)?, config.options())?,
        _ => Auth::following(config.options())?,
    };
    Ok(Some(Arc::new(auth)))
}

fn open_audit(config: &AuthConfig) -> Result<Option<Audit>, SetupError> {
    let path = &config.audit_file;
    if !config.enabled || config.audit == AuditLevel::Off || path.as_os_str().is_empty() {
        return Ok(None);
    }
    let audit = Audit::open(config.audit, path).map_err(|source| SetupError::Io {
        what: format!("open {} (auth.audit_file)", path.display()),
        source,
    })?;
    Ok(Some(audit))
}

/// Graphs that exist in memory only.
pub fn in_memory() -> Result<Arc<Registry>, SetupError> {
    let mut options = GraphOptions::new(Arc::new(SystemClock));
    options.jobs = Some(Arc::new(ServerJobs::new(&ServerConfig::default())));
    Ok(Arc::new(Registry::open(
        Arc::new(MemoryEngine::new()),
        options,
    )?))
}

impl fmt::Debug for AppState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("AppState")
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}
