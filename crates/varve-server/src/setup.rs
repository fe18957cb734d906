//! Sets up a server: routes, features, users, budgets. Only this module and `routes` list the
//! modules with resources.

mod error;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::time::Instant;

use varve_auth::{Auth, Store};
use varve_graph::registry::GraphLocation;
use varve_graph::{GraphOptions, Registry};
use varve_kv::MemoryEngine;
use varve_model::time::SystemClock;
use varve_session::Database;
use varve_session::budget::admission::Admission;
use varve_session::budget::lanes::BlockingPool;
use varve_session::budget::memory;
use varve_session::budget::running::RunningWork;
use varve_session::budget::transactions::TransactionLimits;
use varve_session::budget::users::UserLimits;
use varve_session::place::{LockedGraphs, ReadOnlyGraphs};
use varve_session::principal::{Logins, Policies};

pub use self::error::SetupError;
use crate::answers::AnswerBudget;
use crate::config::{AuthConfig, GremlinConfig, ServerConfig, cores};
use crate::forwarded::Proxies;
use crate::health::Health;
use crate::jobs::{ServerJobs, check_owners};
use crate::metrics::Metrics;
use crate::omrs::Metadata;
use crate::queries::SlowRequests;
use crate::route::Route;
use crate::router::Router;
use crate::sharing::{self, Following, SharedUsers};
use crate::state::{AppState, Features, serving_threads};
use crate::tls::Tls;
use crate::wire::predicate::condition_of_right;
use crate::{admin, cypher, explore, load, routes};
use varve_session::audit::{Audit, AuditLevel};

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
        let mut tables = routes::tables();
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
        let pool = BlockingPool::start(config.pool_options(reads_wait)).map_err(|source| {
            SetupError::Io {
                what: "start the pool".to_owned(),
                source,
            }
        })?;
        let mut features = features(&config)?;
        let repository_graph = metadata.as_ref().map(|metadata| metadata.graph.clone());
        if let Some(metadata) = metadata {
            features.add(metadata);
        }
        if graphs.is_shared() {
            features.add(Following::default());
        }
        if let Some(users) = shared_users {
            features.add(users);
        }
        Ok(Arc::new(Self {
            answers: AnswerBudget::new(config.max_held_answer_bytes),
            metrics: Metrics::new(serving_threads(&config), router.routes().len()),
            health: Health::default(),
            trace: AtomicBool::new(config.allow_trace),
            stopping: AtomicBool::new(false),
            started: Instant::now(),
            open_connections: AtomicUsize::new(0),
            slow_requests: SlowRequests::default(),
            features,
            is_shared: graphs.is_shared(),
            database: Arc::new(Database {
                options: config.session_options(),
                read_only: ReadOnlyGraphs {
                    repository: repository_graph,
                    locked: locked_graphs.into(),
                },
                auth,
                logins: Logins::new(config.login_limits(cores())),
                policies: Policies::new(condition_of_right),
                user_limits: UserLimits::new(config.auth.user_options()),
                admission: Admission::new(&config.admission_limits()),
                pool,
                query_memory: memory::of_queries(config.max_traversals_held_bytes),
                transactions: TransactionLimits::new(config.gremlin.transaction_options()),
                running: RunningWork::default(),
                panics: AtomicU64::new(0),
                graphs,
            }),
            reads_wait,
            audit,
            proxies: Proxies::new(&config)?,
            tls,
            waiting: false,
            router,
            config,
        }))
    }

    /// Sessions of `/gremlin` open now.
    pub fn gremlin_sessions(&self) -> usize {
        self.database.transactions.sessions()
    }

    /// Bytes that open transactions and the variables of sessions of `/gremlin` hold now.
    pub fn gremlin_held_bytes(&self) -> usize {
        self.database.transactions.held().held()
    }
}

/// What the modules of this crate keep for as long as the server runs.
fn features(config: &ServerConfig) -> Result<Features, SetupError> {
    let mut features = Features::default();
    admin::add_to(&mut features, config)?;
    cypher::add_to(&mut features);
    explore::add_to(&mut features, config);
    load::add_to(&mut features, config);
    Ok(features)
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
