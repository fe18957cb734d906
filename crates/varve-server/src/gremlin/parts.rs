//! An answer in parts: each has as many results as the client wants, and is rendered while the
//! client takes the earlier ones.

use std::sync::Arc;

use bytes::Bytes;
use compact_str::CompactString;
use varve_graph::registry::ServedGraph;
use varve_graphson::{Format, Items, Response, Value as WireValue};
use varve_query::Value;
use varve_view::Meter;

use super::evaluate::Ran;
use super::status::{NO_CONTENT, PARTIAL, SUCCESS};
use super::weight::{self, TooLarge};
use super::wire::{self, Renderer};

use crate::answers::{AnswerBudget, Share};
use crate::errors::ApiError;
use crate::state::AppState;

/// Results of one part, unless the client names a number.
pub(super) const BATCH: usize = 64;
/// A part ends once it has so many bytes, whatever its number of results: drivers refuse frames
/// above some megabytes.
pub(super) const PART_BYTES: usize = 1024 * 1024;
/// Parts that are rendered at one time end with the one that reaches this many bytes.
const TURN_BYTES: usize = 1024 * 1024;
/// Results that are rendered at one time are not counted up to this size, as over HTTP.
const SMALL_ANSWER_BYTES: usize = 16 * 1024;
/// Bytes of a part that are charged at once while it is written.
const CHARGE_STEP: usize = 64 * 1024;

/// How results are rendered.
#[derive(Debug, Clone, Copy)]
pub(super) struct Form {
    pub(super) id: u128,
    pub(super) format: Format,
    /// Results of one part.
    pub(super) batch: usize,
    /// Bytes with which a part ends, whatever its number of results.
    pub(super) part_bytes: usize,
    /// Whether all results must be in one part.
    pub(super) is_whole: bool,
    /// Whether each result is sent with its bulk.
    pub(super) traversers: bool,
    /// Whether each result is sent as its text.
    pub(super) texts: bool,
    /// Whether elements come without properties.
    pub(super) references: bool,
    /// Whether dates are sent only as milliseconds.
    pub(super) plain_dates: bool,
}

impl Form {
    /// Sets whether each result is sent as its text, which has no bulk.
    pub(super) const fn set_texts(&mut self, texts: bool) {
        self.texts = texts;
        self.traversers = self.traversers && !texts;
    }
}

/// Results that are not answered yet.
pub(super) struct Answer {
    form: Form,
    graph: Option<Arc<ServedGraph>>,
    results: std::vec::IntoIter<(Value, u64)>,
    /// The current result, and how often it is still to be written.
    current: Option<(Value, u64)>,
    began: bool,
    ended: bool,
    budget: Arc<AnswerBudget>,
    /// The most bytes of one result.
    bytes_max: usize,
    held: Share,
    held_bytes: usize,
    /// The share of the results in the memory of all queries.
    _memory: Meter,
}

/// Why results are not written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unwritten {
    /// The budget of answers is full.
    NoRoom,
    /// One result is larger than an answer may be.
    TooLarge,
}

impl Unwritten {
    /// The server's error.
    pub(super) fn into_api(self, state: &AppState) -> ApiError {
        match self {
            Self::NoRoom => state.too_many_answers(),
            Self::TooLarge => too_large(state.config().max_answer_bytes),
        }
    }
}

/// The error for an answer or a result that is larger than the limit.
pub(super) fn too_large(limit: usize) -> ApiError {
    ApiError::limit_exceeded(format!(
        "The answer is larger than the limit of {limit} bytes (server.max_answer_bytes): ask for \
         less"
    ))
}

/// One message, and its share of the budget of answers unless it is small.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) bytes: Bytes,
    pub(super) share: Option<Share>,
}

impl Answer {
    /// The answer to a program that ran.
    pub(super) fn new(ran: Ran, mut form: Form, state: &AppState) -> Self {
        let budget = state.answers();
        if let Some(batch) = ran.options.batch.filter(|_| !form.is_whole) {
            form.batch = usize::try_from(batch).unwrap_or(usize::MAX);
        }
        form.references = ran.options.references.unwrap_or(form.references);
        Self {
            form,
            graph: ran.graph,
            results: ran.results.into_iter(),
            current: None,
            began: false,
            ended: false,
            budget: Arc::clone(budget),
            bytes_max: state.config().max_answer_bytes,
            held: budget.share(false),
            held_bytes: usize::try_from(ran.meter.bytes()).unwrap_or(usize::MAX),
            _memory: ran.meter,
        }
    }

    /// Whether every result is written.
    pub(super) const fn is_done(&self) -> bool {
        self.ended
    }

    /// The next parts: all that are left, or about [`TURN_BYTES`].
    pub(super) fn write(&mut self) -> Result<Vec<Part>, Unwritten> {
        let none = wire::no_schema();
        let graph = self.graph.clone();
        let schema = graph.as_ref().map_or(&none, |graph| &graph.schema);
        let renderer = Renderer {
            schema,
            references: self.form.references,
            plain_dates: self.form.plain_dates,
        };
        let mut parts = Vec::new();
        let mut bytes = 0;
        while !self.ended && bytes < TURN_BYTES {
            let part = self.part(renderer)?;
            bytes += part.bytes.len();
            parts.push(part);
        }
        if bytes > SMALL_ANSWER_BYTES {
            self.charge(&mut parts)?;
        }
        // Results that wait for the client are counted; a complete answer is released at once.
        match self.ended || self.held.reach(self.held_bytes) {
            true => Ok(parts),
            false => Err(Unwritten::NoRoom),
        }
    }

    /// Gives each part its share of the budget, unless it has one.
    fn charge(&self, parts: &mut [Part]) -> Result<(), Unwritten> {
        for part in parts.iter_mut().filter(|part| part.share.is_none()) {
            let size = part.bytes.len();
            let share = part.share.insert(self.budget.share(false));
            if !share.reach(size) {
                return Err(Unwritten::NoRoom);
            }
        }
        Ok(())
    }

    /// The share of the budget that a result takes while it is written; `None` for a small one.
    fn weighed(&self, value: &Value) -> Result<Option<Share>, Unwritten> {
        let bytes = weight::of(value, self.bytes_max);
        let bytes = bytes.map_err(|TooLarge| Unwritten::TooLarge)?;
        if bytes <= SMALL_ANSWER_BYTES {
            return Ok(None);
        }
        let mut share = self.budget.share(false);
        match share.reach(bytes) {
            true => Ok(Some(share)),
            false => Err(Unwritten::NoRoom),
        }
    }

    fn part(&mut self, renderer: Renderer<'_>) -> Result<Part, Unwritten> {
        let mut items = Items::new(self.form.format);
        let mut written = self.budget.share(false);
        let mut charged = SMALL_ANSWER_BYTES;
        while items.count() < self.form.batch && items.bytes() < self.form.part_bytes {
            let Some((value, bulk)) = self.next() else {
                break;
            };
            let _share = self.weighed(&value)?;
            items.push(&match self.form {
                // Its length is about what was weighed.
                Form { texts: true, .. } => {
                    let text = value.to_text().map_err(|_| Unwritten::TooLarge)?;
                    WireValue::String(text.as_str().into())
                }
                Form {
                    traversers: true, ..
                } => WireValue::Traverser {
                    bulk: i64::try_from(bulk).unwrap_or(i64::MAX),
                    value: Box::new(renderer.value(&value)),
                },
                _ => renderer.value(&value),
            });
            // The message is assembled from the rendered results: both are in memory then.
            if 2 * items.bytes() > charged {
                charged = 2 * items.bytes() + CHARGE_STEP;
                if !written.reach(charged) {
                    return Err(Unwritten::NoRoom);
                }
            }
        }
        self.ended = !self.has_more();
        let code = match (self.ended, self.began || items.count() > 0) {
            (false, _) => PARTIAL,
            (true, true) => SUCCESS,
            // Over HTTP, an empty list is an answer like any other.
            (true, false) if self.form.is_whole => SUCCESS,
            (true, false) => NO_CONTENT,
        };
        self.began = true;
        let response = Response {
            id: Some(self.form.id),
            code,
            message: CompactString::default(),
            attributes: Vec::new(),
            data: WireValue::Null,
        };
        let mut bytes = Vec::with_capacity(items.bytes() + 256);
        match code {
            NO_CONTENT => varve_graphson::write_response(self.form.format, &response, &mut bytes),
            _ => items.write_response(&response, &mut bytes),
        }
        written.shrink(bytes.len());
        Ok(Part {
            bytes: bytes.into(),
            share: (charged > SMALL_ANSWER_BYTES).then_some(written),
        })
    }

    /// The next result: with its bulk if the form has bulks, else as often as the bulk says.
    fn next(&mut self) -> Option<(Value, u64)> {
        if !self.has_more() {
            return None;
        }
        let (value, left) = self.current.take()?;
        if self.form.traversers {
            return Some((value, left));
        }
        if left > 1 {
            self.current = Some((value.clone(), left - 1));
        }
        Some((value, 1))
    }

    /// Whether there is another result; makes it the current one.
    fn has_more(&mut self) -> bool {
        while self.current.is_none() {
            match self.results.next() {
                Some((_, 0)) => {}
                Some(next) => self.current = Some(next),
                None => return false,
            }
        }
        true
    }
}
