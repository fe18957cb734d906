//! The state that all serving threads share.

mod features;
mod worker;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use varve_auth::Auth;
use varve_graph::{Registry, deadline};
use varve_session::budget::admission::Admission;
use varve_session::budget::lanes::{Lane, Turn};
use varve_session::{Database, Failure};

use crate::answers::AnswerBudget;
use crate::config::ServerConfig;
use crate::errors::ApiError;
use crate::forwarded::Proxies;
use crate::health::{Health, Trouble};
use crate::metrics::Metrics;
use crate::queries::SlowRequests;
use crate::route::{Class, Route};
use crate::router::Router;
use crate::tls::Tls;
use varve_session::audit::Audit;

pub(crate) use features::Features;
pub(crate) use worker::{ADMIN_THREADS, Door, WorkerHandle, serving_threads};

/// The shared state: configuration, routes, counters; and what all sessions share.
pub struct AppState {
    pub(crate) config: ServerConfig,
    pub(crate) router: Router,
    pub(crate) database: Arc<Database>,
    pub(crate) answers: Arc<AnswerBudget>,
    pub(crate) metrics: Metrics,
    pub(crate) health: Health,
    pub(crate) reads_wait: bool,
    pub(crate) audit: Option<Audit>,
    pub(crate) tls: Option<Tls>,
    pub(crate) proxies: Proxies,
    pub(crate) is_shared: bool,
    /// Whether the graphs are not open yet.
    pub(crate) waiting: bool,
    pub(crate) trace: AtomicBool,
    pub(crate) stopping: AtomicBool,
    pub(crate) started: Instant,
    pub(crate) open_connections: AtomicUsize,
    pub(crate) slow_requests: SlowRequests,
    pub(crate) features: Features,
}

impl AppState {
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

    /// What all sessions share.
    pub fn database(&self) -> &Arc<Database> {
        &self.database
    }

    /// The graphs.
    pub fn graphs(&self) -> &Arc<Registry> {
        &self.database.graphs
    }

    /// Whether reads of graphs wait for a network, so that a serving thread must not do them.
    pub(crate) fn reads_wait(&self) -> bool {
        self.reads_wait
    }

    /// The graph of the metadata repository, if this server serves one. Only the repository may
    /// change it.
    pub(crate) fn repository_graph(&self) -> Option<&str> {
        self.database.read_only.repository.as_deref()
    }

    /// A feature that every server has.
    pub(crate) fn feature<T: 'static>(&self) -> &T {
        let feature = self.find_feature();
        feature.expect("`setup` adds the features of all modules")
    }

    /// A feature, if this server has it.
    pub(crate) fn find_feature<T: 'static>(&self) -> Option<&T> {
        self.features.find()
    }

    /// The authentication of clients; `None` where it is off.
    pub fn auth(&self) -> Option<&Arc<Auth>> {
        self.database.auth.as_ref()
    }

    /// The audit trail, if there is one.
    pub(crate) fn audit(&self) -> Option<&Audit> {
        self.audit.as_ref()
    }

    /// Whether the graphs are not open yet.
    pub(crate) fn is_waiting(&self) -> bool {
        self.waiting
    }

    /// Whether other servers lead some of the graphs.
    pub(crate) fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// The budgets.
    pub fn admission(&self) -> &Admission {
        &self.database.admission
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

    /// As [`AppState::note_error`], for a failure over a protocol without paths, which `of` names.
    pub(crate) fn note_failure(&self, failure: &Failure, of: &'static str) {
        let (kind, message) = (failure.kind, failure.message.clone());
        let error = ApiError::from(Failure::new(kind, message));
        self.note_error(&error, &http::Uri::from_static(of));
    }

    /// When the server was set up.
    pub fn started(&self) -> Instant {
        self.started
    }

    /// Connections open now.
    pub fn open_connections(&self) -> usize {
        self.open_connections.load(Ordering::Relaxed)
    }

    /// The last slow requests.
    pub(crate) fn slow_requests(&self) -> &SlowRequests {
        &self.slow_requests
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
        Ok(self.database.in_lane(lane, (&turn, limit), work).await?)
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
        let lane = Lane::of(route.class);
        Ok(self.database.in_lane(lane, (turn, limit), work).await?)
    }

    /// How long a request to that route may take.
    pub(crate) fn time_limit(&self, route: &Route) -> Duration {
        match route.lengthy {
            true => self.config.graph_change_timeout(),
            false => self.config.request_timeout(),
        }
    }
}

impl fmt::Debug for AppState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("AppState")
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}
