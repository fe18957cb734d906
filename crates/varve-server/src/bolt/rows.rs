//! The records of a result, on their way from the thread that reads the graph to the client.
//!
//! The reader makes one batch ahead. It waits, at most until its deadline, while the client has not
//! asked for more.

use std::sync::Arc;
use std::time::Instant;

use bytes::BytesMut;
use parking_lot::{Condvar, Mutex};
use tokio::sync::Notify;
use varve_bolt::{Response, Version, framing};
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

#[derive(Default)]
struct State {
    batch: Option<Batch>,
    /// How the query ended.
    outcome: Option<Result<Option<Work>, Failure>>,
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
    /// when nobody takes it any more.
    pub(super) fn give(&self, batch: Batch, deadline: Instant) -> Result<(), ViewError> {
        let is_waiting = {
            let state = self.0.state.lock();
            state.batch.is_some() || state.is_closed
        };
        if is_waiting {
            // Without a thread for its place, the work waits in it.
            let waited = aside(|| self.wait(deadline));
            waited.unwrap_or_else(|| self.wait(deadline))?;
        }
        self.0.state.lock().batch = Some(batch);
        self.0.given.notify_one();
        Ok(())
    }

    /// Waits until the last batch is taken.
    fn wait(&self, deadline: Instant) -> Result<(), ViewError> {
        let mut state = self.0.state.lock();
        loop {
            match (&state.batch, state.is_closed) {
                (_, true) => return Err(ViewError::Cancelled),
                (None, false) => return Ok(()),
                (Some(_), false) => {}
            }
            if self.0.taken.wait_until(&mut state, deadline).timed_out() {
                return Err(ViewError::Deadline);
            }
        }
    }

    /// Ends the result. The work goes on to the next query of its transaction.
    pub(super) fn end(&self, outcome: Result<Option<Work>, Failure>) {
        self.0.state.lock().outcome = Some(outcome);
        self.0.given.notify_one();
    }
}

/// The end of the client. Dropped, it ends the reader.
pub(super) struct Rows {
    shared: Arc<Shared>,
    current: Batch,
    /// Records of the current batch that are taken.
    taken: usize,
}

impl Rows {
    /// A result without records, and the feed that gives them.
    pub(super) fn new() -> (Self, Feed) {
        let shared = Arc::<Shared>::default();
        let feed = Feed(Arc::clone(&shared));
        let rows = Self {
            shared,
            current: Batch::default(),
            taken: 0,
        };
        (rows, feed)
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
        let start = self
            .taken
            .checked_sub(1)
            .map_or(0, |last| self.current.ends[last]);
        self.taken += count;
        let end = self
            .taken
            .checked_sub(1)
            .map_or(0, |last| self.current.ends[last]);
        (self.current.bytes.split_to(end - start), count as u64)
    }

    /// How the query ended, after its last record.
    pub(super) fn outcome(&mut self) -> Result<Option<Work>, Failure> {
        let outcome = self.shared.state.lock().outcome.take();
        outcome.unwrap_or(Ok(None))
    }
}

impl Drop for Rows {
    fn drop(&mut self) {
        self.shared.state.lock().is_closed = true;
        self.shared.taken.notify_one();
    }
}
