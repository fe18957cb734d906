//! `…/{id}/history`: the versions of an element, newest first, each with its valid period and its
//! transaction time.
//!
//! ```json
//! {"versions":[{"version":459000,"as_of_tx":"459000","recorded_at":"2026-11-21T22:00:00.000000Z","superseded_by":null,"superseded_at":null,
//!   "kind":"put","valid_from":"2026-11-21T22:00:00.000000Z","valid_to":null,"element":{…}}],"page":null}
//! ```
//! `as_of_tx` is the version as a text, for readers that keep numbers as doubles. `recorded_at` and
//! `superseded_at` bound the transaction time, `valid_from` and `valid_to` the valid time; null is
//! no bound. Deleting a history purges the element: nothing of it can be read any more, at any
//! point of either time. A version of kind `delete` says that the element does not exist in its
//! period; its element is null. `page` is what to ask for next, null at the end. With `as_of` only
//! versions whose period covers that instant are listed: all that was ever said about it.
//! `vertices/history` and `edges/history` list the ids of all that has a history, also of what does
//! not exist any more; with `versions=true` each with its versions, so that a dump takes a request
//! for a page of elements. With `stored=true` the list has UUIDs as `{"UUID":"…"}`, which
//! distinguishes them from texts.

use varve_graph::GraphError;
use varve_graph::read::{EverPage, Version, VersionKind, View};
use varve_graph::schema::Schema;
use varve_kv::Flow;
use varve_model::{CommitVersion, ElementId, Instant, TemporalScope};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;

use super::ids::{OldForm, parse_edge_id, parse_vertex_id};
use super::submit::Target;
use super::{output, time, typed_values};
use crate::JsonWriter;
use crate::errors::{ApiError, HandlerResult};
use crate::request::{Query, RequestContext};
use crate::respond::{Growing, Response};

/// Versions of one page unless another number is asked for.
const LIMIT: i64 = 100;
/// The most versions of one page.
const LIMIT_MAX: i64 = 10_000;

/// The history of a vertex.
pub(super) fn vertex(context: &RequestContext) -> HandlerResult {
    let id = parse_vertex_id(context.path_parameter("id"))?;
    list(context, &ElementId::Vertex(id))
}

/// The history of an edge.
pub(super) fn edge(context: &RequestContext) -> HandlerResult {
    let id = parse_edge_id(context.path_parameter("id"), OldForm::Accepted)?;
    list(context, &ElementId::Edge(id))
}

/// The ids of all vertices that have a history.
pub(super) fn all_vertices(context: &RequestContext) -> HandlerResult {
    ever(context, View::ever_vertices)
}

/// The ids of all edges that have a history.
pub(super) fn all_edges(context: &RequestContext) -> HandlerResult {
    ever(context, View::ever_edges)
}

/// Gives a page of ids, after the page that gave the token; the last argument may end it at any
/// row.
type Ever =
    fn(&View, Option<&[u8]>, usize, &mut dyn FnMut() -> Flow) -> Result<EverPage, GraphError>;

fn ever(context: &RequestContext, ever: Ever) -> HandlerResult {
    let query = context.query()?;
    let limit = limit(query)?;
    let page = query.get("page").filter(|page| !page.is_empty());
    let bad = |token| ApiError::backend(format!("Invalid page: '{token}'"));
    let after = page.map(|token| BASE64.decode(token).map_err(|_| bad(token)));
    let with_versions = query.boolean("versions", false)?;
    let scope = time::scope(query)?;
    if scope.transaction.is_some() && !with_versions {
        return Err(ApiError::illegal_argument(
            "The as_of_tx parameter belongs to versions=true: which ids have a history is told as of now",
        ));
    }
    let target = Target::of(context)?;
    let view = context.view(&target, TemporalScope::NOW)?;
    let mut looked_at = 0_usize;
    let mut late = Ok(());
    let mut looked = || {
        looked_at += 1;
        if looked_at.is_multiple_of(DEADLINE_EVERY) {
            late = context.check_deadline();
        }
        if late.is_ok() {
            Flow::Continue(())
        } else {
            Flow::Break(())
        }
    };
    let found = ever(&view, after.transpose()?.as_deref(), limit, &mut looked)?;
    late?;
    let is_stored = query.boolean("stored", false)?;
    let mut answer = Growing::with_capacity(context, 32 * found.ids.len() + 64);
    answer.json.set_detail(time::detail(query, &target.schema)?);
    answer.json.begin_object().key("ids").begin_array();
    for id in &found.ids {
        match id {
            ElementId::Vertex(id) if is_stored => typed_values::vertex_id(&mut answer.json, id),
            ElementId::Vertex(id) => output::vertex_id(&mut answer.json, id),
            ElementId::Edge(id) => output::edge_id(&mut answer.json, id),
        }
    }
    answer.json.end_array();
    if with_versions {
        answer = histories(context, &target, scope, &found.ids, answer)?;
    }
    answer.json.key("page");
    match found.next {
        Some(next) => answer.json.string(&BASE64.encode(next)),
        None => answer.json.null(),
    };
    answer.json.end_object();
    Ok(answer.finish())
}

/// Versions of one element within a page of elements; its own history has the others.
const VERSIONS_MAX: usize = 1_000;

/// Writes the history of each element; null once the answer is as long as it may be.
fn histories<'c>(
    context: &'c RequestContext,
    target: &Target,
    scope: TemporalScope,
    ids: &[ElementId],
    answer: Growing<'c>,
) -> Result<Growing<'c>, ApiError> {
    let view = context.view(target, scope)?;
    let mut page = Page::new(context, answer, VERSIONS_MAX);
    page.answer.json.key("histories").begin_array();
    for id in ids {
        if page.answer.is_full() {
            page.answer.json.null();
            continue;
        }
        (page.left, page.last, page.next) = (VERSIONS_MAX, None, None);
        page.answer
            .json
            .begin_object()
            .key("versions")
            .begin_array();
        view.visit_history(id, None, &mut |version| {
            page.look(&target.schema, Some(&version))
        })?;
        std::mem::replace(&mut page.failed, Ok(()))?;
        page.end_versions();
    }
    page.answer.json.end_array();
    Ok(page.answer)
}

/// How many are asked for.
pub(super) fn limit(query: &Query) -> Result<usize, ApiError> {
    let limit = query.integer("limit", LIMIT)?;
    let within = (1..=LIMIT_MAX).contains(&limit);
    let limit = usize::try_from(limit).ok().filter(|_| within);
    limit.ok_or_else(|| {
        let given = query.get("limit").unwrap_or_default();
        ApiError::illegal_argument(format!(
            "The limit of a history must be in [1, {LIMIT_MAX}], but got {given}"
        ))
    })
}

/// What a client must say to purge, as it must to clear or drop a graph.
const PURGE_MESSAGE: &str = "I'm sure to purge all versions";

/// Purges a vertex with all its versions and every edge it ever had.
pub(super) fn purge_vertex(context: &RequestContext) -> HandlerResult {
    let id = parse_vertex_id(context.path_parameter("id"))?;
    purge(context, &ElementId::Vertex(id))
}

/// Purges an edge with all its versions.
pub(super) fn purge_edge(context: &RequestContext) -> HandlerResult {
    let id = parse_edge_id(context.path_parameter("id"), OldForm::Refused)?;
    purge(context, &ElementId::Edge(id))
}

fn purge(context: &RequestContext, id: &ElementId) -> HandlerResult {
    if context.query()?.get("confirm_message") != Some(PURGE_MESSAGE) {
        let message = format!("Please take the message: {PURGE_MESSAGE}");
        return Err(ApiError::illegal_argument(message));
    }
    let graph = context.graph()?;
    varve_graph::maintenance::purge(&graph, id)?.wait()?;
    Ok(Response::no_content())
}

fn list(context: &RequestContext, id: &ElementId) -> HandlerResult {
    let query = context.query()?;
    let limit = limit(query)?;
    let before = match query.get("page") {
        None | Some("") => None,
        Some(token) => Some(
            token
                .parse()
                .map(CommitVersion)
                .map_err(|_| ApiError::backend(format!("Invalid page: '{token}'")))?,
        ),
    };
    let scope = time::scope(query)?;
    let target = Target::of(context)?;
    let mut answer = Growing::with_capacity(context, 4 * output::ELEMENT_BYTES);
    answer.json.set_detail(time::detail(query, &target.schema)?);
    let mut page = Page::new(context, answer, limit);
    page.answer
        .json
        .begin_object()
        .key("versions")
        .begin_array();
    let view = context.view(&target, scope)?;
    view.visit_history(id, before, &mut |version| {
        let asked = scope.valid.is_none_or(|at| version.period.covers(at));
        page.look(&target.schema, asked.then_some(&version))
    })?;
    std::mem::replace(&mut page.failed, Ok(()))?;
    if page.last.is_none() && before.is_none() {
        return Err(varve_graph::element::not_there(id).into());
    }
    page.end_versions();
    Ok(page.answer.finish())
}

/// How many versions are looked at between two looks at the clock.
pub(super) const DEADLINE_EVERY: usize = 256;

/// A page of versions that grows until it is full: by number, or by bytes, for each version may be
/// as large as a body.
struct Page<'c> {
    context: &'c RequestContext,
    answer: Growing<'c>,
    left: usize,
    looked_at: usize,
    last: Option<CommitVersion>,
    next: Option<CommitVersion>,
    failed: Result<(), ApiError>,
}

impl<'c> Page<'c> {
    fn new(context: &'c RequestContext, answer: Growing<'c>, left: usize) -> Self {
        Self {
            context,
            answer,
            left,
            looked_at: 0,
            last: None,
            next: None,
            failed: Ok(()),
        }
    }

    /// Ends the list of versions and the object around it.
    fn end_versions(&mut self) {
        let json = &mut self.answer.json;
        json.end_array().key("page");
        match self.next {
            Some(next) => json.string(&next.to_string()),
            None => json.null(),
        };
        json.end_object();
    }

    /// Takes a version that was asked for, or counts one that was not. Breaks when the page is full
    /// or time is over.
    fn look(&mut self, schema: &Schema, version: Option<&Version>) -> Flow {
        self.looked_at += 1;
        if self.looked_at.is_multiple_of(DEADLINE_EVERY) {
            self.failed = self.context.check_deadline();
            if self.failed.is_err() {
                return Flow::Break(());
            }
        }
        let Some(version) = version else {
            return Flow::Continue(());
        };
        if self.left == 0 || (self.answer.is_full() && self.last.is_some()) {
            self.next = self.last;
            return Flow::Break(());
        }
        write(&mut self.answer.json, schema, version);
        self.left -= 1;
        self.last = Some(version.version);
        self.failed = self.answer.keep();
        match self.failed {
            Ok(()) => Flow::Continue(()),
            Err(_) => Flow::Break(()),
        }
    }
}

fn write(json: &mut JsonWriter, schema: &Schema, version: &Version) {
    json.begin_object();
    json.key("version").unsigned(version.version.0);
    json.key("as_of_tx").string(&version.version.0.to_string());
    instant(json, "recorded_at", Some(version.version.instant()));
    json.key("superseded_by");
    match version.superseded {
        Some(newer) => json.unsigned(newer.0),
        None => json.null(),
    };
    let superseded = version.superseded.map(CommitVersion::instant);
    instant(json, "superseded_at", superseded);
    json.key("kind").string(match version.kind {
        VersionKind::Put => "put",
        VersionKind::Delete => "delete",
    });
    instant(json, "valid_from", Some(version.period.from));
    instant(json, "valid_to", Some(version.period.to));
    json.key("element");
    match &version.element {
        Some(element) => output::element(json, schema, element),
        None => {
            json.null();
        }
    }
    json.end_object();
}

/// Writes a member that is an instant; null for the ends of time.
pub(super) fn instant(json: &mut JsonWriter, name: &str, instant: Option<Instant>) {
    json.key(name);
    match instant.and_then(time::instant_text) {
        Some(text) => json.string(&text),
        None => json.null(),
    };
}
