//! `…/{id}/timeline`: the states of an element along valid time, without overlap, as of one
//! transaction time.
//!
//! ```json
//! {"states":[{"valid_from":"2026-11-21T22:00:00.000000Z","valid_to":null,"version":459000,
//!   "as_of_tx":"459000","recorded_at":"2026-11-21T22:00:00.000000Z","element":{…}}],"page":null}
//! ```
//! The states are in ascending order of valid time; between them the element does not exist.
//! `version` is the version of the element's history that decides in the period. A version comes
//! several times if newer ones cover a part of its period. `as_of_tx` selects an earlier
//! transaction time. `page` is the token of the next page, null at the end.

use varve_graph::element::not_there;
use varve_graph::read::{Spell, Timeline, View};
use varve_graph::schema::Schema;
use varve_model::{ElementId, Instant, Period, TemporalScope};

use super::history::{instant, limit, until_deadline};
use super::submit::Target;
use crate::JsonWriter;
use crate::errors::ApiError;
use crate::request::RequestContext;
use crate::respond::{Growing, HandlerResult};
use crate::wire::ids::{OldForm, parse_edge_id, parse_vertex_id};
use crate::wire::{output, time};

/// States that are held in memory at once. Each may be as large as a request body.
const HELD_MAX: usize = 100;

/// The timeline of a vertex.
pub(super) fn vertex(context: &RequestContext) -> HandlerResult {
    let id = parse_vertex_id(context.path_parameter("id"))?;
    list(context, &ElementId::Vertex(id))
}

/// The timeline of an edge.
pub(super) fn edge(context: &RequestContext) -> HandlerResult {
    let id = parse_edge_id(context.path_parameter("id"), OldForm::Accepted)?;
    list(context, &ElementId::Edge(id))
}

fn list(context: &RequestContext, id: &ElementId) -> HandlerResult {
    let query = context.query()?;
    let limit = limit(query)?;
    let page = query.get("page").filter(|page| !page.is_empty());
    let from = match page {
        None => Instant::MIN,
        Some(token) => token
            .parse()
            .map(Instant)
            .map_err(|_| ApiError::backend(format!("Invalid page: '{token}'")))?,
    };
    let scope = TemporalScope {
        valid: None,
        ..time::scope(query)?
    };
    let target = Target::of(context)?;
    let view = context.view(&target, scope)?;
    let mut answer = Growing::with_capacity(context, 4 * output::ELEMENT_BYTES);
    answer.json.begin_object().key("states").begin_array();
    let (mut left, mut next) = (limit, Some(from));
    while let Some(at) = next.filter(|_| left > 0) {
        let part = part(context, &view, id, at, left.min(HELD_MAX))?;
        left -= part.spells.len();
        next = part.next;
        for spell in part.spells {
            if answer.is_full() {
                (left, next) = (0, Some(spell.period.from));
                break;
            }
            write(&mut answer.json, &target.schema, &spell);
            answer.keep()?;
        }
    }
    if left == limit && page.is_none() {
        return Err(not_there(id).into());
    }
    let json = answer.json.end_array().key("page");
    match next {
        Some(next) => json.string(&next.0.to_string()),
        None => json.null(),
    };
    json.end_object();
    Ok(answer.finish())
}

/// Reads up to `limit` states from an instant on.
fn part(
    context: &RequestContext,
    view: &View,
    id: &ElementId,
    from: Instant,
    limit: usize,
) -> Result<Timeline, ApiError> {
    until_deadline(context, |looked| {
        Ok(view.timeline(id, Period::since(from), limit, looked)?)
    })
}

fn write(json: &mut JsonWriter, schema: &Schema, spell: &Spell) {
    json.begin_object();
    instant(json, "valid_from", Some(spell.period.from));
    instant(json, "valid_to", Some(spell.period.to));
    json.key("version").unsigned(spell.version.0);
    json.key("as_of_tx").string(&spell.version.0.to_string());
    instant(json, "recorded_at", Some(spell.version.instant()));
    json.key("element");
    output::element(json, schema, &spell.element);
    json.end_object();
}
