//! An answer that grows while it is written, within its own limit and the budget of all answers.

use bytes::Bytes;
use varve_graph::tasks::TaskProgress;

use super::{Body, Response};
use crate::answers::Share;
use crate::errors::ApiError;
use crate::json::JsonWriter;
use crate::request::RequestContext;

/// Finished pieces have this size: the answer grows without copying.
const PIECE_BYTES: usize = 256 * 1024;

/// The owner of an answer: a request or a task.
#[derive(Debug, Clone, Copy)]
enum Owner<'c> {
    Request(&'c RequestContext),
    /// A task, which keeps its result of at most this many bytes.
    Task(&'c TaskProgress, usize),
}

/// An answer that is being written. Its writer calls [`Growing::keep`] after each element.
#[derive(Debug)]
pub(crate) struct Growing<'c> {
    owner: Owner<'c>,
    /// The piece that is being written.
    pub(crate) json: JsonWriter,
    pieces: Vec<Bytes>,
    pieces_bytes: usize,
    share: Option<Share>,
}

impl<'c> Growing<'c> {
    pub(crate) fn with_capacity(context: &'c RequestContext, bytes: usize) -> Self {
        Self::owned(Owner::Request(context), bytes)
    }

    /// The result of a task, of at most `limit` bytes.
    pub(crate) fn of_task(progress: &'c TaskProgress, limit: usize) -> Self {
        Self::owned(Owner::Task(progress, limit), 0)
    }

    fn owned(owner: Owner<'c>, bytes: usize) -> Self {
        Self {
            owner,
            json: JsonWriter::with_capacity(bytes),
            pieces: Vec::new(),
            pieces_bytes: 0,
            share: None,
        }
    }

    /// 503 once the request's time is over, or the task is cancelled.
    pub(crate) fn check_deadline(&self) -> Result<(), ApiError> {
        match self.owner {
            Owner::Request(context) => context.check_deadline(),
            Owner::Task(progress, _) => Ok(progress.check()?),
        }
    }

    fn limit(&self) -> usize {
        match self.owner {
            Owner::Request(context) => context.state().config().max_answer_bytes,
            Owner::Task(_, limit) => limit,
        }
    }

    /// Whether the answer is larger than the limit.
    pub(crate) fn is_full(&self) -> bool {
        self.pieces_bytes + self.json.len() > self.limit()
    }

    /// 400 if the answer is larger than the limit; else as [`Growing::keep`].
    pub(crate) fn check(&mut self) -> Result<(), ApiError> {
        if self.is_full() {
            return Err(self.too_large());
        }
        self.keep()
    }

    /// Charges a long text before it is written.
    pub(crate) fn expect(&mut self, bytes: usize) -> Result<(), ApiError> {
        if bytes < PIECE_BYTES {
            return Ok(());
        }
        let all = (self.pieces_bytes + self.json.len()).saturating_add(bytes);
        if all > self.limit() {
            return Err(self.too_large());
        }
        self.json.reserve(bytes);
        self.charge(all)
    }

    /// Makes the share of the budget at least `bytes` large; tasks have none.
    fn charge(&mut self, bytes: usize) -> Result<(), ApiError> {
        let Owner::Request(context) = self.owner else {
            return Ok(());
        };
        let state = context.state();
        let share = self
            .share
            .get_or_insert_with(|| state.answers().share(false));
        match share.reach(bytes) {
            true => Ok(()),
            false => Err(state.too_many_answers()),
        }
    }

    fn too_large(&self) -> ApiError {
        let limit = self.limit();
        ApiError::limit_exceeded(format!(
            "The answer is larger than the limit of {limit} bytes: ask for pages"
        ))
    }

    /// Ends a piece once it is large enough, and charges it. 503 if the budget of all answers is
    /// full.
    pub(crate) fn keep(&mut self) -> Result<(), ApiError> {
        let is_piece = self.json.len() >= PIECE_BYTES;
        if !is_piece || matches!(self.owner, Owner::Task(..)) {
            return Ok(());
        }
        let mut piece = self.json.take_piece();
        // Its capacity may be twice its length, and it is kept until the client has taken it.
        piece.shrink_to_fit();
        self.pieces_bytes += piece.len();
        self.pieces.push(Bytes::from(piece));
        self.charge(self.pieces_bytes + PIECE_BYTES)
    }

    /// The result of a task.
    pub(crate) fn into_text(self) -> Result<String, ApiError> {
        String::from_utf8(self.json.finish()).map_err(|_| ApiError::internal("not UTF-8"))
    }

    /// The answer, with status 200.
    pub(crate) fn finish(mut self) -> Response {
        let last = Bytes::from(self.json.finish());
        if self.pieces.is_empty() {
            return Response::ok(last);
        }
        self.pieces.push(last);
        let body: Body = self.pieces.into_iter().collect();
        Response::ok(body).holding(self.share)
    }
}
