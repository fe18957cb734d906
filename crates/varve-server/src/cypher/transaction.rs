//! A transaction that a client has begun and commits itself, over any door.

use std::sync::Arc;
use std::time::{Duration, Instant};

use varve_graph::registry::ServedGraph;
use varve_session::budget::transactions::{SessionSlot, TransactionLimits};
use varve_session::work::Work;
use varve_session::{Action, Failure, Session};
use varve_view::ErrorKind;

use super::target::Target;

/// A transaction between its begin and its commit.
pub(crate) struct Transaction {
    /// Its work between its statements; `None` before the first one.
    work: Option<Work>,
    began: Instant,
    /// Whether it was open for too long.
    is_late: bool,
    _slot: SessionSlot,
}

impl Transaction {
    /// # Errors
    /// [`ErrorKind::Busy`] when too many are open.
    pub(crate) fn begin(limits: &TransactionLimits) -> Result<Self, Failure> {
        let slot = limits.enter().ok_or_else(|| {
            let most = limits.sessions_max;
            let message = format!(
                "The server has {most} open sessions and transactions (gremlin.sessions_max)"
            );
            Failure::new(ErrorKind::Busy, message)
        })?;
        Ok(Self {
            work: None,
            began: Instant::now(),
            is_late: false,
            _slot: slot,
        })
    }

    /// The time before it is too old; `None` once it is.
    pub(crate) fn left(&self, age_max: Duration) -> Option<Duration> {
        (!self.is_late).then(|| age_max.saturating_sub(self.began.elapsed()))
    }

    /// Ends a transaction that is too old: its view keeps old states of the graph in memory.
    pub(crate) fn end_late(&mut self) {
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

    /// Takes the work for the next statement on this target; `None` if that has no graph. A
    /// transaction reads one state.
    ///
    /// # Errors
    /// [`ErrorKind::Conflict`] when it is too old; [`ErrorKind::InvalidArgument`] when the graph
    /// was replaced, or the client's rights have changed.
    pub(crate) fn work(
        &mut self,
        session: &Session,
        target: &Target,
    ) -> Result<Option<Work>, Failure> {
        self.check_age()?;
        let Target::Graph(served) = target else {
            return Ok(None);
        };
        let access = session.access_to(served);
        let work = match self.work.take() {
            Some(mut work) => {
                check_graph(&work, served)?;
                work.admit(access)?;
                work
            }
            None => {
                let own = (Arc::clone(&served.graph), access);
                Work::new(own, true, &session.database().transactions)
            }
        };
        Ok(Some(work))
    }

    /// Gives the work back after a statement; `None` if it is lost.
    pub(crate) fn keep(&mut self, work: Option<Work>) {
        self.work = work;
    }

    /// Takes the work to commit it; `None` if there is nothing to commit.
    ///
    /// # Errors
    /// [`ErrorKind::Conflict`] when it is too old.
    pub(crate) fn into_work(mut self) -> Result<Option<Work>, Failure> {
        self.check_age()?;
        Ok(self.work.take())
    }
}

/// Checks, before the commit of changed work, whether the client may still write.
///
/// # Errors
/// [`ErrorKind::Denied`] if it may not; [`ErrorKind::InvalidArgument`] when the graph was replaced,
/// or the client's rights have changed.
pub(crate) fn check_commit(work: &mut Work, session: &Session) -> Result<(), Failure> {
    let name = work.graph.name().to_owned();
    session.decide(Action::Write, &name)?;
    let served = session.served(&name)?;
    check_graph(work, &served)?;
    work.admit(session.access_to(&served))
}

fn check_graph(work: &Work, served: &ServedGraph) -> Result<(), Failure> {
    match Arc::ptr_eq(&work.graph, &served.graph) {
        true => Ok(()),
        false => Err(Failure::new(
            ErrorKind::InvalidArgument,
            format!(
                "The graph '{}' was cleared or removed meanwhile: the transaction is rolled back",
                work.graph.name()
            ),
        )),
    }
}
