//! A transaction that the client has begun.

use std::sync::Arc;
use std::time::{Duration, Instant};

use varve_bolt::request::Extra;
use varve_graph::Graph;
use varve_session::Failure;
use varve_session::budget::transactions::{SessionSlot, TransactionLimits};
use varve_session::work::Work;
use varve_view::ErrorKind;

/// A transaction between BEGIN and COMMIT.
pub(super) struct Transaction {
    pub(super) graph: Option<String>,
    pub(super) time_max: Option<Duration>,
    /// Its work between its queries; `None` before the first one.
    pub(super) work: Option<Work>,
    /// Queries that were run.
    pub(super) queries: u64,
    began: Instant,
    /// Whether it was open for too long.
    is_late: bool,
    _slot: SessionSlot,
}

impl Transaction {
    /// # Errors
    /// [`ErrorKind::Busy`] when too many are open.
    pub(super) fn begin(extra: Extra, limits: &TransactionLimits) -> Result<Self, Failure> {
        let slot = limits.enter().ok_or_else(|| {
            let most = limits.sessions_max;
            let message = format!(
                "The server has {most} open sessions and transactions (gremlin.sessions_max)"
            );
            Failure::new(ErrorKind::Busy, message)
        })?;
        Ok(Self {
            graph: extra.db,
            time_max: extra.tx_timeout,
            work: None,
            queries: 0,
            began: Instant::now(),
            is_late: false,
            _slot: slot,
        })
    }

    /// The time before it is too old; `None` once it is.
    pub(super) fn left(&self, age_max: Duration) -> Option<Duration> {
        (!self.is_late).then(|| age_max.saturating_sub(self.began.elapsed()))
    }

    /// Ends a transaction that is too old: its view keeps old states of the graph in memory.
    pub(super) fn end_late(&mut self) {
        self.is_late = true;
        self.work = None;
    }

    fn check_age(&self) -> Result<(), Failure> {
        match self.is_late {
            false => Ok(()),
            true => Err(Failure::new(
                ErrorKind::Conflict,
                "The transaction was open for too long (gremlin.transaction_ms) and is rolled back",
            )),
        }
    }

    /// Takes the work for the next query on this graph; `None` for the first query.
    ///
    /// # Errors
    /// [`ErrorKind::Conflict`] when it is too old; [`ErrorKind::InvalidArgument`] when the graph
    /// was replaced.
    pub(super) fn take(&mut self, graph: &Arc<Graph>) -> Result<Option<Work>, Failure> {
        self.check_age()?;
        self.queries += 1;
        match self.work.take() {
            Some(work) if !Arc::ptr_eq(&work.graph, graph) => Err(Failure::new(
                ErrorKind::InvalidArgument,
                format!(
                    "The graph '{}' was cleared or removed meanwhile: the transaction is rolled back",
                    graph.name()
                ),
            )),
            work => Ok(work),
        }
    }

    /// # Errors
    /// [`ErrorKind::Conflict`] when it is too old; as [`Work::commit`].
    pub(super) fn commit(mut self) -> Result<(), Failure> {
        self.check_age()?;
        match &mut self.work {
            Some(work) => Ok(work.commit()?),
            None => Ok(()),
        }
    }
}
