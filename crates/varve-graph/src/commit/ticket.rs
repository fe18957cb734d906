//! Tickets, by which the caller of a commit waits until it is stored.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use parking_lot::{Condvar, Mutex};
use varve_model::CommitVersion;

use crate::deadline;
use crate::error::{ErrorKind, GraphError};

/// Why a commit failed; cheap to clone for every commit of a group.
#[derive(Debug, Clone)]
pub(crate) struct CommitFailure {
    pub(crate) kind: ErrorKind,
    pub(crate) message: Arc<str>,
}

type Outcome = Result<CommitVersion, CommitFailure>;

#[derive(Debug, Default)]
struct TicketState {
    outcome: Option<Outcome>,
    waker: Option<Waker>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<TicketState>,
    done: Condvar,
}

/// The future outcome of a submitted commit. Await it, or block on [`Ticket::wait`]. Dropping the
/// ticket does not cancel the commit.
#[derive(Debug)]
#[must_use = "an unwaited ticket says nothing about whether the commit is stored"]
pub struct Ticket(Arc<Shared>);

/// The committer's end of a ticket. Dropped without an outcome, it notifies the waiter that the
/// commit failed.
#[derive(Debug)]
pub(crate) struct Completer {
    shared: Option<Arc<Shared>>,
    /// When the commit was prepared.
    pub(super) began: Instant,
}

pub(crate) fn ticket() -> (Ticket, Completer) {
    let shared = Arc::new(Shared::default());
    let completer = Completer {
        shared: Some(Arc::clone(&shared)),
        began: Instant::now(),
    };
    (Ticket(shared), completer)
}

impl Ticket {
    /// A ticket for a commit that changes nothing.
    pub(crate) fn done(version: CommitVersion) -> Self {
        let (ticket, completer) = ticket();
        completer.complete(Ok(version));
        ticket
    }

    /// Blocks until the commit is stored as the configured durability says.
    ///
    /// # Errors
    /// When the commit could not be stored; [`ErrorKind::OutcomeUnknown`] when this thread's
    /// deadline passes first: the commit goes on then, and may be stored.
    pub fn wait(self) -> Result<CommitVersion, GraphError> {
        let mut state = self.0.state.lock();
        loop {
            if let Some(outcome) = state.outcome.take() {
                return outcome.map_err(into_error);
            }
            if !deadline::wait(&self.0.done, &mut state) {
                let message = "The request's time was over before it was known whether its write is stored. Read what it was to \
                               change before sending it again";
                return Err(GraphError::new(ErrorKind::OutcomeUnknown, message));
            }
        }
    }
}

impl Completer {
    pub(crate) fn complete(mut self, outcome: Outcome) {
        self.finish(outcome);
    }

    fn finish(&mut self, outcome: Outcome) {
        let Some(shared) = self.shared.take() else {
            return;
        };
        let mut state = shared.state.lock();
        state.outcome = Some(outcome);
        let waker = state.waker.take();
        drop(state);
        shared.done.notify_all();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Drop for Completer {
    fn drop(&mut self) {
        let message = "The commit was given up; whether it is stored is unknown".into();
        self.finish(Err(CommitFailure {
            kind: ErrorKind::Storage,
            message,
        }));
    }
}

impl Future for Ticket {
    type Output = Result<CommitVersion, GraphError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.0.state.lock();
        match state.outcome.take() {
            Some(outcome) => Poll::Ready(outcome.map_err(into_error)),
            None => {
                state.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

fn into_error(failure: CommitFailure) -> GraphError {
    GraphError::new(failure.kind, &*failure.message)
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn who_has_no_more_time_learns_that_the_outcome_is_unknown() {
        let (waiting, completer) = ticket();
        let waited = deadline::until(Instant::now(), || waiting.wait());
        assert_eq!(
            waited.expect_err("not stored").kind,
            ErrorKind::OutcomeUnknown
        );
        completer.complete(Ok(CommitVersion(1)));
        let stored = deadline::until(Instant::now(), || Ticket::done(CommitVersion(2)).wait());
        assert_eq!(stored.expect("it was stored before"), CommitVersion(2));
    }
}
