//! An answer that grows while it is made, within its limit and the budget of all answers.

use bytes::Bytes;

use super::{Body, Response};
use crate::answers::Share;
use crate::errors::ApiError;
use crate::json::JsonWriter;
use crate::request::RequestContext;

/// What has been written is put aside in pieces of this size, so that nothing is copied as the answer grows.
const PIECE_BYTES: usize = 256 * 1024;

/// An answer under way. Whoever writes it calls [`Growing::keep`] now and then.
#[derive(Debug)]
pub(crate) struct Growing<'c> {
    context: &'c RequestContext,
    /// What is written next.
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

    /// Whether it is larger than an answer may be.
    pub(crate) fn is_full(&self) -> bool {
        let limit = self.context.state().config().max_answer_bytes;
        self.pieces_bytes + self.json.len() > limit
    }

    /// 400 when it is larger than an answer may be; else as [`Growing::keep`].
    pub(crate) fn check(&mut self) -> Result<(), ApiError> {
        if self.is_full() {
            let limit = self.context.state().config().max_answer_bytes;
            return Err(ApiError::limit_exceeded(format!(
                "The answer is larger than the limit of {limit} bytes: ask for pages"
            )));
        }
        self.keep()
    }

    /// Puts aside what was written, once it is a piece; 503 when all answers leave no room for it.
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

    /// 200 with what was written.
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
