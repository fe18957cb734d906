//! An answer that grows while it is written, within its own limit and the budget of all answers.

use bytes::Bytes;

use super::{Body, Response};
use crate::answers::Share;
use crate::errors::ApiError;
use crate::json::JsonWriter;
use crate::request::RequestContext;

/// Finished pieces have this size: the answer grows without copying.
const PIECE_BYTES: usize = 256 * 1024;

/// An answer that is being written. Its writer calls [`Growing::keep`] after each element.
#[derive(Debug)]
pub(crate) struct Growing<'c> {
    context: &'c RequestContext,
    /// The piece that is being written.
    pub(crate) json: JsonWriter,
    pieces: Vec<Bytes>,
    pieces_bytes: usize,
    share: Option<Share>,
}

impl<'c> Growing<'c> {
    pub(crate) fn with_capacity(context: &'c RequestContext, bytes: usize) -> Self {
        Self {
            context,
            json: JsonWriter::with_capacity(bytes),
            pieces: Vec::new(),
            pieces_bytes: 0,
            share: None,
        }
    }

    /// The request that is answered.
    pub(crate) fn context(&self) -> &'c RequestContext {
        self.context
    }

    /// Whether the answer is larger than the limit.
    pub(crate) fn is_full(&self) -> bool {
        let limit = self.context.state().config().max_answer_bytes;
        self.pieces_bytes + self.json.len() > limit
    }

    /// 400 if the answer is larger than the limit; else as [`Growing::keep`].
    pub(crate) fn check(&mut self) -> Result<(), ApiError> {
        if self.is_full() {
            let limit = self.context.state().config().max_answer_bytes;
            return Err(ApiError::limit_exceeded(format!(
                "The answer is larger than the limit of {limit} bytes: ask for pages"
            )));
        }
        self.keep()
    }

    /// Ends a piece once it is large enough, and charges it. 503 if the budget of all answers is
    /// full.
    pub(crate) fn keep(&mut self) -> Result<(), ApiError> {
        if self.json.len() < PIECE_BYTES {
            return Ok(());
        }
        let piece = self.json.take_piece();
        self.pieces_bytes += piece.len();
        self.pieces.push(Bytes::from(piece));
        let state = self.context.state();
        let share = self
            .share
            .get_or_insert_with(|| state.answers().share(false));
        match share.reach(self.pieces_bytes + PIECE_BYTES) {
            true => Ok(()),
            false => Err(state.too_many_answers()),
        }
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
