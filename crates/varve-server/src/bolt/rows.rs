//! The records of a result, on their way from the thread that reads the graph to the client.
//!
//! The reader makes one batch ahead. It waits, at most until its deadline, while the client has not
//! asked for more.

use std::sync::Arc;
use std::time::Instant;

use bytes::BytesMut;
use parking_lot::{Condvar, Mutex};
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use varve_bolt::{Map, Response, Version, framing};
use varve_query::QueryError;
use varve_session::Failure;
use varve_session::budget::lanes::aside;
use varve_session::work::Work;
use varve_view::ViewError;

/// Records as messages, and where each ends.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) bytes: BytesMut,
    pub(super) ends: Vec<usize>,
}

impl Batch {
    /// Adds a record.
    pub(super) fn add(&mut self, record: &Response, version: Version) -> Result<(), QueryError> {
        let framed = framing::frame(&mut self.bytes, |bytes| record.write(version, bytes));
        framed.map_err(|error| QueryError::Limit(error.to_string()))?;
        self.ends.push(self.bytes.len());
        Ok(())
    }
}

/// How a query ended.
pub(super) struct Outcome {
    /// The metadata of its summary.
    pub(super) done: Result<Map, Failure>,
    /// The work, with which its transaction goes on; `None` if it is lost.
    pub(super) work: Option<Work>,
}

#[derive(Default)]
struct State {
    batch: Option<Batch>,
    outcome: Option<Outcome>,
    /// Whether nobody takes records any more.
    is_closed: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// Tells the reader that its batch is taken, or that nobody takes it.
    taken: Condvar,
    /// Tells the taker that there is a batch, or the outcome.
    given: Notify,
}

/// The end of the reader.
#[derive(Clone)]
pub(super) struct Feed(Arc<Shared>);

impl Feed {
    /// Gives a batch once the one before is taken.
    ///
    /// # Errors
    /// [`ViewError::Deadline`] when the client does not take it in time; [`ViewError::Cancelled`]
    /// when nobody takes it any more; [`QueryError::Limit`] without a thread for others.
    pub(super) fn give(&self, batch: Batch, deadline: Instant) -> Result<(), QueryError> {
        let is_waiting = {
            let state = self.0.state.lock();
            state.batch.is_some() || state.is_closed
        };
        if is_waiting {
            let waited = aside(|| self.wait(deadline));
            waited.unwrap_or_else(|| {
                Err(QueryError::Limit(
                    "Too many results and scripts wait for their clients: take all records, or try again later"
                        .to_owned(),
                ))
            })?;
        }
        self.0.state.lock().batch = Some(batch);
        self.0.given.notify_one();
        Ok(())
    }

    /// Waits until the last batch is taken.
    fn wait(&self, deadline: Instant) -> Result<(), QueryError> {
        let mut state = self.0.state.lock();
        loop {
            match (&state.batch, state.is_closed) {
                (_, true) => return Err(ViewError::Cancelled.into()),
                (None, false) => return Ok(()),
                (Some(_), false) => {}
            }
            if self.0.taken.wait_until(&mut state, deadline).timed_out() {
                return Err(ViewError::Deadline.into());
            }
        }
    }

    /// Whether nobody takes records any more.
    pub(super) fn is_closed(&self) -> bool {
        self.0.state.lock().is_closed
    }

    /// Ends the result.
    pub(super) fn end(&self, outcome: Outcome) {
        self.0.state.lock().outcome = Some(outcome);
        self.0.given.notify_one();
    }
}

/// The end of the client. Dropped, it ends the query.
pub(super) struct Rows {
    shared: Arc<Shared>,
    query: Option<AbortHandle>,
    current: Batch,
    /// Records of the current batch that are taken.
    taken: usize,
    /// Whether the query may end before its last record, as one that only reads.
    pub(super) may_end_early: bool,
}

impl Rows {
    /// A result without records, and the feed that gives them.
    pub(super) fn new() -> (Self, Feed) {
        let shared = Arc::<Shared>::default();
        let feed = Feed(Arc::clone(&shared));
        let rows = Self {
            shared,
            query: None,
            current: Batch::default(),
            taken: 0,
            may_end_early: true,
        };
        (rows, feed)
    }

    /// The task of the query, which ends with the rows.
    pub(super) fn of(&mut self, query: AbortHandle) {
        self.query = Some(query);
    }

    /// Waits until there is a record, or the end. Returns whether there is a record. May be dropped
    /// before it is ready.
    pub(super) async fn has_more(&mut self) -> bool {
        loop {
            if self.taken < self.current.ends.len() {
                return true;
            }
            {
                let mut state = self.shared.state.lock();
                if let Some(batch) = state.batch.take() {
                    self.current = batch;
                    self.taken = 0;
                    self.shared.taken.notify_one();
                    continue;
                }
                if state.outcome.is_some() {
                    return false;
                }
            }
            self.shared.given.notified().await;
        }
    }

    /// The next records of the current batch, at most `most`, as bytes, and how many they are.
    pub(super) fn take(&mut self, most: u64) -> (BytesMut, u64) {
        let left = self.current.ends.len() - self.taken;
        let count = left.min(usize::try_from(most).unwrap_or(usize::MAX));
        let start = self.end_of_taken();
        self.taken += count;
        let end = self.end_of_taken();
        (self.current.bytes.split_to(end - start), count as u64)
    }

    fn end_of_taken(&self) -> usize {
        let last = self.taken.checked_sub(1);
        last.map_or(0, |last| self.current.ends[last])
    }

    /// Takes no more records, and ends the query. May be dropped before it is ready.
    pub(super) async fn discard(&mut self) {
        self.shared.state.lock().is_closed = true;
        self.shared.taken.notify_one();
        while self.shared.state.lock().outcome.is_none() {
            // The batch before it may have been told of.
            self.shared.given.notified().await;
        }
    }

    /// How the query ended, after its last record or a [`Rows::discard`].
    pub(super) fn outcome(&mut self) -> Option<Outcome> {
        self.shared.state.lock().outcome.take()
    }
}

impl Drop for Rows {
    fn drop(&mut self) {
        self.shared.state.lock().is_closed = true;
        self.shared.taken.notify_one();
        if let Some(query) = &self.query {
            query.abort();
        }
    }
}
