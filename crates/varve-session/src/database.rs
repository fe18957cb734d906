//! What all sessions of a server share: the graphs, the users, and the budgets.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use varve_auth::Auth;
use varve_graph::optimistic::HeldBytes;
use varve_graph::registry::{GraphCache, ServedGraph};
use varve_graph::{GraphError, Registry};
use varve_view::{CancelToken, ErrorKind, Meter, MeterLimits};

use crate::budget::admission::Admission;
use crate::budget::lanes::{BlockingPool, Lane, PoolError, Turn};
use crate::budget::memory;
use crate::budget::running::RunningWork;
use crate::budget::transactions::TransactionLimits;
use crate::budget::users::UserLimits;
use crate::place::ReadOnlyGraphs;
use crate::principal::{Logins, Policies};
use crate::{Failure, Identity};

/// The limits of sessions.
#[derive(Debug, Clone, Copy)]
pub struct SessionOptions {
    /// How long a piece of work may take.
    pub time_max: Duration,
    /// How long a change of a whole graph may take.
    pub lengthy_time_max: Duration,
    /// Rows that a query may read.
    pub rows_max: u64,
    /// Bytes that a query may hold.
    pub bytes_max: u64,
    /// After how many seconds refused work may be tried again.
    pub retry_after_seconds: u32,
}

/// What all sessions of a server share.
pub struct Database {
    /// The limits.
    pub options: SessionOptions,
    /// The graphs.
    pub graphs: Arc<Registry>,
    /// The graphs that can only be read.
    pub read_only: ReadOnlyGraphs,
    /// The authentication of clients; `None` where it is off.
    pub auth: Option<Arc<Auth>>,
    /// The limit of concurrent password checks.
    pub logins: Logins,
    /// The compiled policies of users.
    pub policies: Policies,
    /// The limits of each user.
    pub user_limits: UserLimits,
    /// The budgets of requests.
    pub admission: Admission,
    /// The threads for long work.
    pub pool: BlockingPool,
    /// The memory budget that all queries share.
    pub query_memory: Arc<HeldBytes>,
    /// The limits of transactions.
    pub transactions: TransactionLimits,
    /// The work that can be cancelled.
    pub running: RunningWork,
    /// The panics that work has ended with.
    pub panics: AtomicU64,
}

impl fmt::Debug for Database {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Database")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl Database {
    /// The authentication of clients; `None` where it is off.
    ///
    /// # Errors
    /// [`ErrorKind::Busy`] when this server's copy of the cluster's users is not current: no server
    /// leads the users, or the leader has not confirmed the copy for too long.
    pub fn current_auth(&self) -> Result<Option<&Arc<Auth>>, Failure> {
        match &self.auth {
            Some(auth) if !auth.is_current() => Err(self.unavailable(
                "The users of the cluster are not known for the moment: no server leads them, or it cannot be reached",
            )),
            auth => Ok(auth.as_ref()),
        }
    }

    /// The meter of a client's query within these limits.
    pub fn meter(&self, client: &Identity, limits: MeterLimits, cancel: CancelToken) -> Meter {
        let own = self.user_limits.query_memory(client);
        let budgets = [Some(Arc::clone(&self.query_memory)), own];
        memory::pausing(budgets.into_iter().flatten(), limits, cancel)
    }

    /// The limits of a query that must end by `deadline`.
    pub fn query_limits(&self, deadline: Instant) -> MeterLimits {
        MeterLimits {
            rows_max: self.options.rows_max,
            bytes_max: self.options.bytes_max,
            deadline: Some(deadline),
        }
    }

    /// Runs work on the pool in its turn.
    ///
    /// # Errors
    /// [`ErrorKind::Busy`] without room, or when the work has not begun by its deadline;
    /// [`ErrorKind::Internal`] when it panics.
    pub async fn in_lane<T, F>(
        &self,
        lane: Lane,
        (turn, time_max): (&Arc<Turn>, Duration),
        work: F,
    ) -> Result<T, Failure>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        match self.pool.run(lane, turn, work).await {
            Ok(value) => Ok(value),
            Err(PoolError::Busy(busy)) => Err(busy),
            Err(PoolError::NotBegun) => Err(self.timed_out(time_max)),
            Err(PoolError::Panicked(panic)) => Err(self.panicked(&*panic)),
        }
    }

    /// The failure of work whose time is over.
    pub fn timed_out(&self, time_max: Duration) -> Failure {
        let limit = time_max.as_millis();
        self.unavailable(format!(
            "The request took longer than the limit of {limit} ms"
        ))
    }

    /// The failure of work that may be tried again after a while.
    pub fn unavailable(&self, message: impl Into<String>) -> Failure {
        Failure {
            retry_after_seconds: Some(self.options.retry_after_seconds),
            ..Failure::new(ErrorKind::Busy, message)
        }
    }

    /// Counts and logs a panic; the failure of its work names the log line.
    pub fn panicked(&self, panic: &(dyn Any + Send)) -> Failure {
        let number = self.panics.fetch_add(1, Ordering::Relaxed);
        let text = panic
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "no text".to_owned());
        let incident = format!("{:x}-{number}", std::process::id());
        tracing::error!(incident, panic = text, "a handler panicked");
        Failure::new(
            ErrorKind::Internal,
            format!("Unexpected failure, see request id {incident} in the server's log"),
        )
    }
}

/// One serving thread's handle of the database. Sessions count their references here, so that the
/// count's cache line stays with its core.
#[derive(Debug)]
pub struct DatabaseHandle {
    database: Arc<Database>,
    cache: Arc<GraphCache>,
}

impl DatabaseHandle {
    /// The handle of one thread.
    pub fn new(database: Arc<Database>) -> Self {
        let cache = database.graphs.graph_cache();
        Self { database, cache }
    }

    /// The database.
    pub fn database(&self) -> &Arc<Database> {
        &self.database
    }

    /// A graph and its schema. Cheaper than the registry's look-up.
    ///
    /// # Errors
    /// As [`Registry::get`].
    pub fn served(&self, graph: &str) -> Result<Arc<ServedGraph>, GraphError> {
        self.cache.get(&self.database.graphs, graph)
    }
}
