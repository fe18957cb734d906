//! `…/explore/export`: all elements of one state, or of a label, streamed.
//!
//! The answer is made in pieces while it is sent, each on the pool, all on one view. A failure cuts
//! the connection, so that the client does not take a part for the whole. So does a change of the
//! client's rights after which it may read less than the view shows.

mod format;
mod table;

use std::collections::BTreeSet;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::stream;
use http::StatusCode;
use http::header::{CONTENT_DISPOSITION, HeaderValue};
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use varve_model::schema::EdgeLabelType;
use varve_model::{EdgeLabelId, ElementId, PropertyKeyId, VertexLabelId};
use varve_session::Identity;
use varve_view::{CancelToken, Elements, Flow, ScanAsk, ScanPosition, SchemaView, ViewError};

use self::format::{Format, Writer};
use super::read_request::Snapshot;
use crate::errors::ApiError;
use crate::request::RequestContext;
use crate::respond::{Body, Cut, HandlerResult, Response};
use crate::state::AppState;
use crate::wire::time::scope as graph_scope;

/// Elements of one piece.
const PIECE: usize = 1_000;

/// Slots for exports.
#[derive(Debug)]
pub(crate) struct Exports(Arc<Semaphore>);

impl Exports {
    pub(crate) fn new(most: usize) -> Self {
        Self(Arc::new(Semaphore::new(most)))
    }

    fn place(&self, state: &AppState) -> Result<OwnedSemaphorePermit, ApiError> {
        let place = Arc::clone(&self.0).try_acquire_owned();
        place.map_err(|_| {
            ApiError::unavailable(
                "Too many exports at once (explore.exports_max)",
                state.config().retry_after_seconds,
            )
        })
    }
}

/// A label whose elements are exported.
#[derive(Debug, Clone, Copy)]
enum Part {
    Vertices(VertexLabelId),
    Edges(EdgeLabelId),
}

/// An export in work.
struct Export {
    state: Arc<AppState>,
    snapshot: Snapshot,
    writer: Writer,
    /// The labels that are still to be exported, in reverse order.
    parts: Vec<Part>,
    /// Where the current label continues.
    from: Option<ScanPosition>,
    deadline: Instant,
    /// The client's identity.
    identity: Identity,
    _place: OwnedSemaphorePermit,
}

/// Answers with a stream of elements.
pub(super) fn export(context: &RequestContext) -> HandlerResult {
    let state = context.shared_state();
    let query = context.query()?;
    let format = Format::named(query.get("format").unwrap_or("jsonl"))?;
    let place = state.feature::<Exports>().place(&state)?;
    let snapshot = Snapshot::of(context, graph_scope(query)?)?;
    let kinds = format.kinds(query.get("elements").filter(|kind| !kind.is_empty()))?;
    let label = query.get("label").filter(|label| !label.is_empty());
    let (parts, is_one) = (parts(&snapshot, kinds, label)?, label.is_some());
    let name = format!("{}{}", context.graph_name(), format.ending(kinds));
    let disposition = format!("attachment; filename=\"{name}\"");
    let disposition = HeaderValue::try_from(disposition)
        .unwrap_or_else(|_| HeaderValue::from_static("attachment"));
    let limit = Duration::from_millis(state.config().explore.export_timeout_ms);
    let export = Export {
        writer: Writer::new(
            format,
            kinds,
            &snapshot,
            &columns(&snapshot, &parts, is_one),
        )?,
        state: Arc::clone(&state),
        snapshot,
        parts,
        from: None,
        deadline: Instant::now() + limit,
        identity: context.identity().clone(),
        _place: place,
    };
    let deadline = export.deadline;
    let waiting: Waiting = Arc::new(Mutex::new(Some(Box::new(export))));
    let reader = context.again(deadline);
    let pieces = stream::unfold(Some((waiting, reader, false)), move |at| {
        let state = Arc::clone(&state);
        async move {
            let (waiting, reader, is_timed) = at?;
            if !is_timed {
                tokio::spawn(end_at(deadline, Arc::downgrade(&waiting)));
            }
            let export = waiting.lock().take();
            let Some(export) = export else {
                return Some((Err(cut(&ViewError::Deadline)), None));
            };
            if let Err(error) = reader.check_still_allowed() {
                return Some((Err(Cut(error.message().to_owned())), None));
            }
            let piece = state.run_blocking(move || export.piece()).await;
            Some(match piece {
                Ok(Ok((piece, export))) => {
                    let goes_on = export.is_some();
                    *waiting.lock() = export;
                    (Ok(piece), goes_on.then_some((waiting, reader, true)))
                }
                Ok(Err(error)) => (Err(cut(&error)), None),
                Err(error) => (Err(Cut(error.message().to_owned())), None),
            })
        }
    });
    let body = Body::streamed(pieces);
    let response = Response::new(StatusCode::OK, format.content_type(), body);
    Ok(response.header(CONTENT_DISPOSITION, disposition))
}

/// An export between two pieces.
type Waiting = Arc<Mutex<Option<Box<Export>>>>;

/// Ends an export whose client reads no more, so that its view and its slot are released.
async fn end_at(deadline: Instant, waiting: Weak<Mutex<Option<Box<Export>>>>) {
    tokio::time::sleep_until(deadline.into()).await;
    if let Some(waiting) = waiting.upgrade() {
        waiting.lock().take();
    }
}

fn cut(error: &ViewError) -> Cut {
    tracing::warn!(%error, "an export ended early");
    Cut(error.to_string())
}

/// The properties of elements with these labels that have columns: all of the schema. Only those
/// of the labels, if one label is exported, or in a graph that a program presents, where each label
/// has but some of very many.
fn columns(snapshot: &Snapshot, parts: &[Part], is_one: bool) -> Vec<PropertyKeyId> {
    let schema = snapshot.schema();
    if schema.presentation().is_none() && !is_one {
        return SchemaView::property_keys(schema);
    }
    let of_part = |part: &Part| match *part {
        Part::Vertices(id) => schema
            .vertex_label(id)
            .map(|label| schema.seen_in_vertices(label)),
        Part::Edges(id) => schema
            .edge_label(id)
            .map(|label| schema.seen_in_edges(label)),
    };
    let all = parts.iter().filter_map(of_part).flatten();
    all.collect::<BTreeSet<PropertyKeyId>>()
        .into_iter()
        .collect()
}

/// The labels to export, those of vertices before those of edges, reversed.
fn parts(
    snapshot: &Snapshot,
    (vertices, edges): (bool, bool),
    label: Option<&str>,
) -> Result<Vec<Part>, ApiError> {
    let schema = snapshot.schema();
    let of_vertices = schema.all_vertex_labels();
    let of_vertices = of_vertices.map(|label| (&label.name, Part::Vertices(label.id)));
    let of_edges = schema.all_edge_labels();
    let of_edges = of_edges.filter(|label| label.label_type != EdgeLabelType::Parent);
    let of_edges = of_edges.map(|label| (&label.name, Part::Edges(label.id)));
    let all = of_vertices
        .filter(|_| vertices)
        .chain(of_edges.filter(|_| edges));
    let named = label.filter(|name| !name.is_empty());
    let parts = all.filter(|(name, _)| named.is_none_or(|named| *name == named));
    let mut parts: Vec<Part> = parts.map(|(_, part)| part).collect();
    if let Some(name) = named.filter(|_| parts.is_empty()) {
        return Err(ApiError::illegal_argument(format!(
            "Undefined label of the elements that are exported: '{name}'"
        )));
    }
    parts.reverse();
    Ok(parts)
}

/// A piece, and the export if more pieces follow.
type Made = (Bytes, Option<Box<Export>>);

impl Export {
    /// Makes the next piece.
    fn piece(mut self: Box<Self>) -> Result<Made, ViewError> {
        self.writer.begin();
        let mut left = PIECE;
        while let Some(part) = self.parts.last().copied() {
            if left == 0 {
                return Ok((self.writer.take()?, Some(self)));
            }
            let (ids, next) = self.ids(part, left)?;
            left = left.saturating_sub(ids.len().max(1));
            self.write(&ids)?;
            self.from = next;
            if self.from.is_none() {
                self.parts.pop();
            }
        }
        self.writer.end();
        Ok((self.writer.take()?, None))
    }

    fn meter(&self) -> varve_view::Meter {
        let database = self.state.database();
        let limits = database.query_limits(self.deadline);
        database.meter(&self.identity, limits, CancelToken::default())
    }

    /// The next elements of a label, and the position at which it continues.
    fn ids(
        &self,
        part: Part,
        most: usize,
    ) -> Result<(Vec<ElementId>, Option<ScanPosition>), ViewError> {
        let (of_vertices, of_edges);
        let elements = match part {
            Part::Vertices(label) => {
                of_vertices = [label];
                Elements::Vertices(&of_vertices)
            }
            Part::Edges(label) => {
                of_edges = [label];
                Elements::Edges(&of_edges)
            }
        };
        let ask = ScanAsk {
            elements,
            conditions: &[],
            order: None,
            properties: &[],
        };
        let (view, meter) = (self.snapshot.view(), self.meter());
        let (mut ids, mut failed) = (Vec::with_capacity(most), None);
        let next = view.scan(&ask, self.from.as_ref(), most, &meter, &mut |found| {
            match found.id(view) {
                Ok(id) => ids.push(id),
                Err(error) => failed = Some(error),
            }
            Flow::Continue(())
        })?;
        failed.map_or(Ok((ids, next)), Err)
    }

    fn write(&mut self, ids: &[ElementId]) -> Result<(), ViewError> {
        let meter = self.meter();
        for id in ids {
            if let Some(state) = self.snapshot.state(id, &meter)? {
                self.writer.element(self.snapshot.schema(), &state);
            }
        }
        Ok(())
    }
}
