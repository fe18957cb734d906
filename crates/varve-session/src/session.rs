//! One client's work on the graphs, whatever its protocol and language.

use std::sync::Arc;
use std::time::{Duration, Instant};

use varve_graph::GraphError;
use varve_graph::read::View;
use varve_graph::registry::ServedGraph;
use varve_model::TemporalScope;
use varve_query::QueryError;
use varve_view::{AccessPolicy, CancelToken, ErrorKind, Meter, ViewError};

use crate::budget::lanes::{Turn, yield_to_others};
use crate::budget::running::Running;
use crate::database::{Database, DatabaseHandle};
use crate::{Action, Failure, Identity};

/// One request of a client: who asks, until when, and whether somebody still waits for the answer.
#[derive(Debug)]
pub struct Session {
    handle: Arc<DatabaseHandle>,
    /// The client's identity.
    pub identity: Identity,
    /// The instant after which the work is given up. Long work checks it regularly.
    pub deadline: Instant,
    /// The time that the work was given.
    pub time_max: Duration,
    /// The graph that this server follows, if the work reads it here.
    followed: Option<Arc<ServedGraph>>,
    /// Whether its work has begun; `None` for work that runs in place and ends there.
    pub(crate) turn: Option<Arc<Turn>>,
    /// Cancelled when nobody waits for the answer any more; `None` for writes and for work that
    /// runs in place.
    pub(crate) cancel: Option<CancelToken>,
    /// Its entry in the list of running work; `None` as for `cancel`.
    pub(crate) running: Option<Arc<Running>>,
}

impl Session {
    /// The session of a client whose work may take `time_max`, of which some may have passed before
    /// `deadline` was set.
    pub fn new(
        handle: Arc<DatabaseHandle>,
        identity: Identity,
        (deadline, time_max): (Instant, Duration),
    ) -> Self {
        Self {
            handle,
            identity,
            deadline,
            time_max,
            followed: None,
            turn: None,
            cancel: None,
            running: None,
        }
    }

    /// The same client with a new deadline; its work has not begun.
    #[must_use]
    pub fn again(&self, deadline: Instant) -> Self {
        let (handle, identity) = (Arc::clone(&self.handle), self.identity.clone());
        Self::new(handle, identity, (deadline, self.time_max))
    }

    /// What all sessions share.
    pub fn database(&self) -> &Arc<Database> {
        self.handle.database()
    }

    /// The client's identity.
    pub const fn identity(&self) -> &Identity {
        &self.identity
    }

    /// The same client, which reads this followed graph here.
    #[must_use]
    pub fn on_followed(self, followed: Arc<ServedGraph>) -> Self {
        Self {
            followed: Some(followed),
            ..self
        }
    }

    /// Refuses what changes something while the work reads a followed graph: the work would have to
    /// be repeated where that graph is led.
    ///
    /// # Errors
    /// [`ErrorKind::Elsewhere`] in that case.
    pub fn check_may_change(&self) -> Result<(), GraphError> {
        let followed = self.followed.as_ref();
        followed.map_or(Ok(()), |followed| followed.graph.check_led())
    }

    /// A graph and its schema.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there is none.
    pub fn served(&self, graph: &str) -> Result<Arc<ServedGraph>, GraphError> {
        match &self.followed {
            Some(followed) if followed.graph.name() == graph => Ok(Arc::clone(followed)),
            _ => self.handle.served(graph),
        }
    }

    /// The client's policy for the elements of a graph; `None` = everything is allowed.
    pub fn access_to(&self, served: &ServedGraph) -> Option<Arc<AccessPolicy>> {
        self.database().policies.of(&self.identity, served)
    }

    /// The client's view of a graph at a point of both times: the only way from a request to a
    /// view.
    ///
    /// # Errors
    /// As [`varve_graph::Graph::view`].
    pub fn view(&self, served: &ServedGraph, scope: TemporalScope) -> Result<View, GraphError> {
        let view = served.graph.view(scope)?;
        Ok(view.guarded_by(self.access_to(served).as_ref()))
    }

    /// Sets the action of a query on this graph, once it is known and before anything changes.
    ///
    /// # Errors
    /// [`ErrorKind::Denied`] if the client may not take it, or the graph can only be read.
    pub fn decide(&self, action: Action, graph: &str) -> Result<(), Failure> {
        self.identity.check_query(action, graph)?;
        self.database().check_action(action, graph)?;
        if let Some(turn) = self.turn.as_ref().filter(|_| action.changes()) {
            turn.will_change();
        }
        Ok(())
    }

    /// Whether the work has begun. Work without a turn gets a new one, which nobody else uses.
    pub fn turn(&self) -> Arc<Turn> {
        let given = self.turn.as_ref().map(Arc::clone);
        given.unwrap_or_else(|| Turn::until(self.deadline))
    }

    /// The token that ends a long read once nobody waits for its answer.
    pub fn cancel_token(&self) -> CancelToken {
        self.cancel.clone().unwrap_or_default()
    }

    /// The meter of a query, with the limits of the server and of the client.
    pub fn meter(&self) -> Meter {
        let limits = self.database().query_limits(self.deadline);
        let token = self.cancel_token();
        self.database().meter(&self.identity, limits, token)
    }

    /// The failure of work that was given up: a client has cancelled it, or its time is over.
    pub fn too_late(&self) -> Failure {
        self.too_late_after(self.time_max)
    }

    /// [`Session::too_late`] for work whose own time limit may be shorter.
    pub fn too_late_after(&self, limit: Duration) -> Failure {
        match self.running.as_ref().is_some_and(|own| own.is_cancelled()) {
            true => Failure::cancelled(),
            false => self.database().timed_out(limit.min(self.time_max)),
        }
    }

    /// For loops in long work: lets short reads run first.
    ///
    /// # Errors
    /// [`Session::too_late`] once the time is over or nobody waits for the answer.
    pub fn check_deadline(&self) -> Result<(), Failure> {
        yield_to_others();
        let is_cancelled = self.cancel.as_ref().is_some_and(CancelToken::is_cancelled);
        match !is_cancelled && Instant::now() < self.deadline {
            true => Ok(()),
            false => Err(self.too_late()),
        }
    }

    /// The failure of a query.
    pub fn failed(&self, error: QueryError) -> Failure {
        let kind = match &error {
            QueryError::View(_) => ErrorKind::Storage,
            QueryError::Limit(_) => ErrorKind::LimitExceeded,
            QueryError::Unsupported(_) => ErrorKind::NotSupported,
            QueryError::NotAllowed(_) => ErrorKind::NotAllowed,
            QueryError::Invalid(_)
            | QueryError::Unbound(_)
            | QueryError::Cast { .. }
            | QueryError::Arithmetic(_)
            | QueryError::Fail(_)
            | QueryError::Script { .. } => ErrorKind::InvalidArgument,
        };
        match error {
            QueryError::View(error) => self.failed_read(error),
            error => Failure::new(kind, error.to_string()),
        }
    }

    /// The failure of a read through a view.
    pub fn failed_read(&self, error: ViewError) -> Failure {
        match error {
            ViewError::Deadline | ViewError::Cancelled => self.too_late(),
            error @ ViewError::Rows { .. } => Failure::new(
                ErrorKind::LimitExceeded,
                format!("{error} (server.max_traversal_rows)"),
            ),
            error @ ViewError::Memory { .. } => Failure::new(
                ErrorKind::LimitExceeded,
                format!("{error} (server.max_traversal_bytes)"),
            ),
            ViewError::NoIndex(message) => Failure::new(ErrorKind::NoIndex, message),
            ViewError::Store(error) => Failure {
                retry_after_seconds: Some(self.database().options.retry_after_seconds),
                ..GraphError::from(*error).into()
            },
        }
    }
}
