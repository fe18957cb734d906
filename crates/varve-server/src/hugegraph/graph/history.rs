//! `…/{id}/history`: the versions of an element, newest first, each with its valid period and its transaction time.
//!
//! ```json
//! {"versions":[{"version":459000,"recorded_at":"2026-11-21T22:00:00.000000Z","superseded_by":null,"superseded_at":null,
//!   "kind":"put","valid_from":"2026-11-21T22:00:00.000000Z","valid_to":null,"element":{…}}],"page":null}
//! ```
//! `recorded_at` and `superseded_at` bound the transaction time, `valid_from` and `valid_to` the valid time; null is no
//! bound. Deleting a history purges the element: nothing of it can be read any more, at any point of either time.
//! A version of kind `delete` says that the element does not exist in its period; its element is null. `page` is
//! what to ask for next, null at the end.

use varve_graph::read::{HistoryPage, Version, VersionKind};
use varve_graph::schema::Schema;
use varve_model::{CommitVersion, ElementId, Instant};

use super::ids::{OldForm, parse_edge_id, parse_vertex_id};
use super::submit::Target;
use super::{output, time};
use crate::JsonWriter;
use crate::errors::{ApiError, HandlerResult};
use crate::request::RequestContext;
use crate::respond::Response;

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
    let limit = query.integer("limit", LIMIT)?;
    if !(1..=LIMIT_MAX).contains(&limit) {
        return Err(ApiError::illegal_argument(format!(
            "The limit of a history must be in [1, {LIMIT_MAX}], but got {limit}"
        )));
    }
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let before = match query.get("page") {
        None | Some("") => None,
        Some(token) => Some(
            token
                .parse()
                .map(CommitVersion)
                .map_err(|_| ApiError::backend(format!("Invalid page: '{token}'")))?,
        ),
    };
    let target = Target::of(context)?;
    // One more than the page holds tells whether there is another page.
    let page = HistoryPage {
        before,
        limit: limit + 1,
    };
    let mut versions = target.graph.history(id, time::scope(query)?, page)?;
    if versions.is_empty() && before.is_none() {
        return Err(varve_graph::element::not_there(id).into());
    }
    let next = if versions.len() > limit {
        versions.truncate(limit);
        versions.last().map(|version| version.version)
    } else {
        None
    };
    let mut json = JsonWriter::with_capacity(versions.len() * 2 * output::ELEMENT_BYTES);
    json.begin_object().key("versions").begin_array();
    for version in &versions {
        write(&mut json, &target.schema, version);
    }
    json.end_array().key("page");
    match next {
        Some(next) => json.string(&next.to_string()),
        None => json.null(),
    };
    json.end_object();
    Ok(Response::ok(json.finish()))
}

fn write(json: &mut JsonWriter, schema: &Schema, version: &Version) {
    json.begin_object();
    json.key("version").unsigned(version.version.0);
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

fn instant(json: &mut JsonWriter, name: &str, instant: Option<Instant>) {
    json.key(name);
    match instant.and_then(time::instant_text) {
        Some(text) => json.string(&text),
        None => json.null(),
    };
}
