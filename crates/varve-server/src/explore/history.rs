//! `…/explore/history`: the versions of one element, for a chart of both times.
//!
//! In the chart, valid time runs across and transaction time upwards. Each version is a rectangle:
//! across, its valid period; upwards, from its recording on without end. The rectangles are painted
//! oldest first, so newer versions cover older ones.

use varve_model::{Element, ElementId, Properties};
use varve_view::PastVersion;

use super::bodies::limit_of_query;
use super::output::{Answer, element_members};
use super::read_request::{ReadRequest, write_instant};
use super::versions::{Piece, Versions};
use crate::JsonWriter;
use crate::errors::ApiError;
use crate::request::RequestContext;
use crate::respond::HandlerResult;
use crate::wire::ids::{OldForm, parse_edge_id, parse_vertex_id};

/// The default of the query parameter `limit`: the most versions in an answer.
const LIMIT: usize = 100;

/// Answers with the newest versions of an element, newest first. Fails if it has none.
pub(super) fn history(context: &RequestContext) -> HandlerResult {
    let query = context.query()?;
    let id = query.required("ref")?;
    let id = match query.required("type")? {
        "vertex" => ElementId::Vertex(parse_vertex_id(id)?),
        "edge" => ElementId::Edge(parse_edge_id(id, OldForm::Accepted)?),
        other => {
            return Err(ApiError::illegal_argument(format!(
                "The type must be vertex or edge, but got '{other}'"
            )));
        }
    };
    let request = ReadRequest::of(context)?;
    let most = request.limits().versions_max;
    let limit = limit_of_query(&request, LIMIT, most, "versions_max")?;
    // More versions than `limit` are read, to find the changes and the decided periods of those
    // that are shown.
    let every = request.snapshot.every();
    let versions = request.or_refuse(Versions::of(every, &id, most, &request.meter))?;
    if versions.all.is_empty() {
        return Err(varve_graph::element::not_there(&id).into());
    }
    let pieces = versions.pieces();
    let mut answer = Answer::start(&request);
    answer.json().key("versions").begin_array();
    for at in 0..versions.all.len().min(limit) {
        write(answer.json(), &request, (&versions, at), &pieces);
        answer.growing.check()?;
    }
    answer.json().end_array();
    Ok(answer.finish(versions.truncated || versions.all.len() > limit))
}

fn write(
    json: &mut JsonWriter,
    request: &ReadRequest<'_>,
    (versions, at): (&Versions, usize),
    pieces: &[Piece],
) {
    let version = &versions.all[at];
    json.begin_object();
    json.key("version").string(&version.version.to_string());
    write_instant(json, "recorded_at", version.version.instant());
    json.key("superseded_by");
    match version.superseded {
        Some(newer) => json.string(&newer.to_string()),
        None => json.null(),
    };
    json.key("kind").string(match version.element {
        Some(_) => "put",
        None => "delete",
    });
    write_instant(json, "valid_from", version.period.from);
    write_instant(json, "valid_to", version.period.to);
    json.key("decides").begin_array();
    for piece in pieces.iter().filter(|piece| piece.version == at) {
        json.begin_object();
        write_instant(json, "from", piece.period.from);
        write_instant(json, "to", piece.period.to);
        json.end_object();
    }
    json.end_array().key("badges").begin_array();
    for badge in badges(versions, at, pieces) {
        json.string(badge);
    }
    json.end_array().key("properties_changed").begin_array();
    for key in changed_keys(versions, at) {
        if !request.schema().hides(key) {
            json.string(request.schema().property_key_name(key));
        }
    }
    json.end_array().key("element");
    match &version.element {
        Some(element) => {
            json.begin_object();
            element_members(json, request.schema(), element);
            json.end_object();
        }
        None => {
            json.null();
        }
    }
    json.end_object();
}

fn badges(versions: &Versions, at: usize, pieces: &[Piece]) -> Vec<&'static str> {
    let version = &versions.all[at];
    let mut badges = Vec::new();
    if versions.is_correction(at) {
        badges.push("correction");
    }
    if version.period.from > version.version.instant() {
        badges.push("planned");
    }
    if version.element.is_none() {
        badges.push("deleted");
    }
    let mut own = pieces.iter().filter(|piece| piece.version == at);
    match own.next() {
        None => badges.push("superseded"),
        Some(piece) if piece.period != version.period => badges.push("superseded_in_part"),
        Some(_) => {}
    }
    badges
}

/// The properties that a version changes, compared with the state that was recorded before for the
/// start of its period. None if the version is a delete, or there was no such state.
fn changed_keys(versions: &Versions, at: usize) -> Vec<varve_model::PropertyKeyId> {
    let version = &versions.all[at];
    let covers = |older: &&PastVersion| older.period.covers(version.period.from);
    let before = versions.all[at + 1..].iter().find(covers);
    let before = before.and_then(|older| older.element.as_ref());
    match (&version.element, before) {
        (Some(element), Some(before)) => changed(before.properties(), element.properties()),
        _ => Vec::new(),
    }
}

/// The keys of the properties whose values differ, or that only one of the two has.
pub(super) fn changed(one: &Properties, other: &Properties) -> Vec<varve_model::PropertyKeyId> {
    let keys = one.iter().chain(other.iter()).map(|(key, _)| key);
    let mut keys: Vec<_> = keys
        .filter(|key| one.get(*key) != other.get(*key))
        .collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// Whether two states of the same element have the same label and properties.
pub(super) fn is_same(one: &Element, other: &Element) -> bool {
    let label = |element: &Element| match element {
        Element::Vertex(vertex) => Some(vertex.label),
        Element::Edge(_) => None,
    };
    label(one) == label(other) && changed(one.properties(), other.properties()).is_empty()
}
