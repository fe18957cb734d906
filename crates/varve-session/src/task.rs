//! Runs a piece of work by the rules: it waits for its turn, keeps its deadline, and ends when it
//! is cancelled or nobody waits for it any more.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use varve_graph::deadline;
use varve_kv::attempt;
use varve_view::{CancelToken, ErrorKind};

use crate::budget::lanes::{Lane, Turn};
use crate::budget::running::{Listing, Running};
use crate::{Action, Class, Database, Failure, Session};

/// How long after its deadline a write that has begun may still report its outcome.
const OUTCOME_WAIT: Duration = Duration::from_millis(500);

/// The message about a write whose outcome is not known by then.
const TIME_OVER: &str = "The request's time was over before it was known whether its write is stored. Read what it was \
                         to change before sending it again";

/// Work that a client waits for.
pub type Pending<T, E> = Pin<Box<dyn Future<Output = Result<T, E>>>>;

/// A piece of work of a session. Dropped, it ends the work of a read: its time is over, or its
/// client has gone.
pub struct Task<'d> {
    database: &'d Database,
    class: Class,
    deadline: Instant,
    time_max: Duration,
    turn: Arc<Turn>,
    token: Option<CancelToken>,
    running: Option<Arc<Running>>,
    is_answered: bool,
}

impl Session {
    /// Begins a piece of work of the session's database. With a listing, it is listed and can be
    /// cancelled. Without one it goes on to its end even if nobody waits for it, as a write must.
    pub fn begin<'d>(
        &mut self,
        database: &'d Database,
        (class, action): (Class, Action),
        listing: Option<Listing>,
    ) -> Task<'d> {
        let turn = Turn::until(self.deadline);
        if action.changes() {
            turn.will_change();
        }
        self.turn = Some(Arc::clone(&turn));
        self.cancel = listing.is_some().then(CancelToken::default);
        let listing = listing.zip(self.cancel.as_ref());
        self.running =
            listing.map(|(listing, token)| database.running.begin(listing, &self.identity, token));
        Task {
            database,
            class,
            deadline: self.deadline,
            time_max: self.time_max,
            turn,
            token: self.cancel.clone(),
            running: self.running.clone(),
            is_answered: false,
        }
    }
}

impl Task<'_> {
    /// Whether the work has begun.
    pub fn turn(&self) -> &Arc<Turn> {
        &self.turn
    }

    /// Marks the work as answered without [`Task::end`].
    pub fn answered(&mut self) {
        self.is_answered = true;
    }

    /// Runs work on the pool.
    ///
    /// # Errors
    /// As [`Task::end`].
    pub async fn on_pool<T, F>(self, work: F) -> Result<T, Failure>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        let (lane, deadline) = (Lane::of(self.class), self.deadline);
        let work = move || deadline::until(deadline, work);
        let turn = Arc::clone(&self.turn);
        let database = self.database;
        let running = database.in_lane(lane, (&turn, self.time_max), work);
        self.wait(pin!(running)).await
    }

    /// Runs a read on this thread, if its own reads of the engine do not block it
    /// ([`varve_kv::attempt`]); else on the pool. `in_place` returns `None` if the work exceeds
    /// what may run in place.
    ///
    /// # Errors
    /// As [`Task::end`].
    pub async fn tried<C, T>(
        self,
        subject: C,
        in_place: impl Fn(&C) -> Option<T>,
        work: impl FnOnce(&C) -> T + Send + 'static,
    ) -> Result<T, Failure>
    where
        C: Send + 'static,
        T: Send + 'static,
    {
        let (lane, deadline, time_max) = (Lane::of(self.class), self.deadline, self.time_max);
        let (turn, database) = (Arc::clone(&self.turn), self.database);
        let running = async move {
            if let Some(Some(result)) = attempt::run(|| in_place(&subject)).await {
                return Ok(result);
            }
            let work = move || deadline::until(deadline, || work(&subject));
            database.in_lane(lane, (&turn, time_max), work).await
        };
        self.wait(pin!(running)).await
    }

    /// Waits for the turn of the work, then for its end.
    ///
    /// # Errors
    /// [`ErrorKind::Busy`] without room, or once the time is over; [`ErrorKind::Cancelled`];
    /// [`ErrorKind::OutcomeUnknown`] for a write that does not report its outcome in time;
    /// [`ErrorKind::Internal`] when the work panics; and those of the work.
    pub async fn end<T, E: From<Failure>>(self, mut work: Pending<T, E>) -> Result<T, E> {
        self.wait(work.as_mut()).await
    }

    async fn wait<T, E: From<Failure>>(
        mut self,
        work: Pin<&mut (dyn Future<Output = Result<T, E>> + '_)>,
    ) -> Result<T, E> {
        let running = self.running.clone();
        let result = cancellable(running.as_deref(), &self.turn, self.in_turn(work)).await;
        self.is_answered = true;
        result
    }

    /// Waits for the turn of the work and then for its end. Work that ends at its first poll takes
    /// no slot and no timer: it has run in place, and a core runs one such piece of work at a time.
    async fn in_turn<T, E: From<Failure>>(
        &self,
        mut work: Pin<&mut (dyn Future<Output = Result<T, E>> + '_)>,
    ) -> Result<T, E> {
        let _slot = match self.database.admission.gate(self.class) {
            None => None,
            Some(gate) if gate.has_room() => {
                if let Some(result) = self.poll_once(&mut work).await {
                    return result;
                }
                // The work has begun and goes on, with a slot or without: so at most one request
                // for each core exceeds the budget.
                gate.try_enter()
            }
            Some(gate) => Some(gate.enter().await?),
        };
        let deadline = tokio::time::Instant::from_std(self.deadline);
        let in_time = tokio::time::timeout_at(deadline, self.catch(&mut work)).await;
        if let Ok(result) = in_time {
            return result;
        }
        if self.turn.give_up() || !self.turn.changes() {
            return Err(self.database.timed_out(self.time_max).into());
        }
        // The waits inside the work end at the deadline too, and the work then reports its outcome.
        tokio::time::timeout(OUTCOME_WAIT, self.catch(&mut work))
            .await
            .unwrap_or_else(|_| Err(Failure::new(ErrorKind::OutcomeUnknown, TIME_OVER).into()))
    }

    /// Polls the work once; returns its result if it has ended.
    async fn poll_once<T, E: From<Failure>>(
        &self,
        work: &mut Pin<&mut (dyn Future<Output = Result<T, E>> + '_)>,
    ) -> Option<Result<T, E>> {
        poll_fn(|context| {
            let polled = catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context)));
            Poll::Ready(match polled {
                Ok(Poll::Ready(result)) => Some(result),
                Ok(Poll::Pending) => None,
                Err(panic) => Some(Err(self.database.panicked(&*panic).into())),
            })
        })
        .await
    }

    /// Polls the work to its end; a panic in it becomes a failure.
    async fn catch<T, E: From<Failure>>(
        &self,
        work: &mut Pin<&mut (dyn Future<Output = Result<T, E>> + '_)>,
    ) -> Result<T, E> {
        poll_fn(
            |context| match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context))) {
                Ok(poll) => poll,
                Err(panic) => Poll::Ready(Err(self.database.panicked(&*panic).into())),
            },
        )
        .await
    }
}

impl Drop for Task<'_> {
    fn drop(&mut self) {
        if let Some(token) = &self.token {
            token.cancel();
        }
        if let Some(running) = &self.running {
            self.database.running.end(running, self.is_answered);
        }
    }
}

/// Waits for the end of work, or until a client cancels it. Work that may have changed something
/// goes on to its end.
async fn cancellable<T, E: From<Failure>>(
    running: Option<&Running>,
    turn: &Turn,
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    let mut work = pin!(work);
    let Some(running) = running else {
        return work.await;
    };
    tokio::select! {
        biased;
        result = &mut work => return result,
        () = running.cancelled() => {}
    }
    if turn.give_up() || !turn.changes() {
        return Err(Failure::cancelled().into());
    }
    work.await
}
