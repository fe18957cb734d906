//! `…/{id}/history`: the versions of an element, newest first, each with its valid period and its
//! transaction time.
//!
//! ```json
//! {"versions":[{"version":459000,"as_of_tx":"459000","recorded_at":"2026-11-21T22:00:00.000000Z",
//! "superseded_by":null,"superseded_at":null,"kind":"put",
//! "valid_from":"2026-11-21T22:00:00.000000Z","valid_to":null,"element":{…}}],"page":null}
//! ```
//! `as_of_tx` is the version as a text, for clients that read numbers as doubles. `recorded_at` and
//! `superseded_at` bound the transaction time, `valid_from` and `valid_to` the valid time; null is
//! no bound. In the period of a version of kind `delete` the element does not exist; its `element`
//! is null. `page` is the token of the next page, null at the end. With `as_of`, only versions
//! whose period covers that instant are listed.
//!
//! `vertices/history` and `edges/history` list the ids of all elements that have a history, whether
//! or not they exist now. With `versions=true` the answer also has the elements' versions, so that
//! a dump takes one request for each page of elements. With `stored=true` the list has UUIDs as
//! `{"UUID":"…"}`, which distinguishes them from texts.
//!
//! Deleting a history purges the element: no read finds it any more, at any point of both times.

use varve_graph::GraphError;
use varve_graph::read::{EverPage, StoredHistories, Version, VersionKind, View};
use varve_graph::schema::Schema;
use varve_kv::Flow;
use varve_model::{CommitVersion, ElementId, Instant, TemporalScope};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;

use super::submit::Target;
use crate::JsonWriter;
use crate::errors::ApiError;
use crate::request::{Query, RequestContext};
use crate::respond::{Growing, HandlerResult, Response};
use crate::wire::ids::{OldForm, parse_edge_id, parse_vertex_id};
use crate::wire::{output, time, typed_values};

/// Entries of a page, unless the request names a limit.
const LIMIT: i64 = 100;
/// The most entries of one page.
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

/// Runs `read` with a callback for each row. After the request's deadline, the callback stops the
/// read, and the result is a 503.
pub(super) fn until_deadline<T>(
    context: &RequestContext,
    read: impl FnOnce(&mut dyn FnMut() -> Flow) -> Result<T, ApiError>,
) -> Result<T, ApiError> {
    let mut looked_at = 0_usize;
    let mut late = Ok(());
    let mut looked = || {
        looked_at += 1;
        if looked_at.is_multiple_of(DEADLINE_EVERY) {
            late = context.check_deadline();
        }
        match late {
            Ok(()) => Flow::Continue(()),
            Err(_) => Flow::Break(()),
        }
    };
    let found = read(&mut looked)?;
    late.map(|()| found)
}

/// Reads a page of ids. Its arguments are the view, the token of the page before, the limit, and a
/// function that is called for each row and may end the page.
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
            "The as_of_tx parameter needs versions=true: without it, the answer lists the ids that have a history now",
        ));
    }
    let target = Target::of(context)?;
    let view = context.view(&target, TemporalScope::NOW)?;
    let after = after.transpose()?;
    let found = until_deadline(context, |looked| {
        Ok(ever(&view, after.as_deref(), limit, looked)?)
    })?;
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

/// The most versions of one element in a page of elements. The element's own history has the
/// others.
const VERSIONS_MAX: usize = 1_000;

/// Elements whose histories are read together.
const ELEMENTS_TOGETHER: usize = 1_000;

/// Writes the history of each element; once the answer is full, null for each of the others.
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
    for ids in ids.chunks(ELEMENTS_TOGETHER) {
        let read = match page.answer.is_full() {
            true => StoredHistories::default(),
            false => view.read_histories(ids)?,
        };
        for of in ids.iter().enumerate() {
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
            view.visit_read_history(&read, of, &mut |version| {
                page.look(&target.schema, Some(&version))
            })?;
            std::mem::replace(&mut page.failed, Ok(()))?;
            page.end_versions();
        }
    }
    page.answer.json.end_array();
    Ok(page.answer)
}

/// Reads the limit of a page; 400 if it is out of range.
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

/// The confirmation that a purge requires, as clearing and dropping a graph do.
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

/// Versions that are read between two checks of the deadline.
const DEADLINE_EVERY: usize = 256;

/// A page of versions. It is full at a number of versions or of bytes, since each version may be as
/// large as a request body.
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

    /// Adds a version; `None` is a version that the request does not select. Breaks if the page is
    /// full or the deadline has passed.
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
