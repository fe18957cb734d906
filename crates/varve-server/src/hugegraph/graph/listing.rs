//! Listings: vertices and edges by label, properties and adjacency, and by several ids.

use varve_graph::GraphError;
use varve_graph::query::{self, EdgeQuery, NextPage, VertexQuery};
use varve_kv::Flow;
use varve_model::{Direction, ElementId};

use super::submit::Target;
use super::timed::Timed;
use crate::JsonWriter;
use crate::errors::ApiError;
use crate::json::Detail;
use crate::request::{Query, RequestContext};
use crate::respond::{Growing, HandlerResult, Response};
use crate::wire::ids::{OldForm, parse_edge_id, parse_vertex_id};
use crate::wire::predicate::Reading;
use crate::wire::{output, predicate, time};

/// Elements that are written between two checks of the deadline.
const DEADLINE_EVERY: usize = 256;
/// The most edges of one vertex that are listed on the serving thread; this takes some hundred
/// microseconds.
const BRIEF_EDGES: usize = 128;
/// The most ids in one request.
const IDS_MAX: usize = 10_000;

/// A listing that grows element by element.
pub(super) struct Listing<'c> {
    answer: Growing<'c>,
    count: usize,
    failed: Option<ApiError>,
}

impl<'c> Listing<'c> {
    pub(super) fn start(context: &'c RequestContext, what: &str) -> Self {
        let mut answer = Growing::with_capacity(context, 4 * output::ELEMENT_BYTES);
        answer.json.begin_object().key(what).begin_array();
        Self {
            answer,
            count: 0,
            failed: None,
        }
    }

    /// Sets the detail of property values.
    fn show(&mut self, detail: Detail) {
        self.answer.json.set_detail(detail);
    }

    /// Adds an element. Breaks if this fails, if the answer is too large, or if the deadline has
    /// passed.
    pub(super) fn add(
        &mut self,
        write: impl FnOnce(&mut JsonWriter) -> Result<(), GraphError>,
    ) -> Flow {
        let written = write(&mut self.answer.json).map_err(ApiError::from);
        self.count += 1;
        let checked = written.and_then(|()| {
            self.answer.check()?;
            if self.count.is_multiple_of(DEADLINE_EVERY) {
                self.answer.check_deadline()?;
            }
            Ok(())
        });
        match checked {
            Ok(()) => Flow::Continue(()),
            Err(error) => {
                self.failed = Some(error);
                Flow::Break(())
            }
        }
    }

    /// Ends the answer, or returns the error at which [`Listing::add`] broke. `page`: `None`
    /// without paging, `Some(None)` on the last page, else the token of the next page.
    pub(super) fn finish(self, page: Option<NextPage>) -> HandlerResult {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let mut answer = self.answer;
        answer.json.end_array();
        match page {
            Some(Some(token)) => {
                answer.json.key("page").string(&token);
            }
            Some(None) => {
                answer.json.key("page").null();
            }
            None => {}
        }
        answer.json.end_object();
        Ok(answer.finish())
    }
}

/// The parameters that both listings have in common.
struct Range {
    offset: i64,
    limit: i64,
    page: Option<String>,
}

impl Range {
    fn of(query: &Query) -> Result<Self, ApiError> {
        const LIMIT: i64 = 100;
        Ok(Self {
            offset: query.integer("offset", 0)?,
            limit: query.integer("limit", LIMIT)?,
            // A `+` of a token that was not percent-encoded arrives as a space.
            page: query.get("page").map(|token| token.replace(' ', "+")),
        })
    }
}

fn reading(query: &Query, indexed: bool) -> Result<Reading, ApiError> {
    Ok(Reading {
        keep_start_p: query.boolean("keep_start_p", false)?,
        indexed,
    })
}

/// Vertices by label and properties.
pub(super) fn vertices(context: &RequestContext) -> HandlerResult {
    let parameters = context.query()?;
    let target = Target::of(context)?;
    let schema = &*target.schema;
    let range = Range::of(parameters)?;
    let properties = parameters.get("properties").unwrap_or("");
    let reading = reading(parameters, true)?;
    let label = match named(parameters, "label") {
        Some(name) => Some(schema.require_vertex_label(name)?.id),
        None => None,
    };
    let paging = range.page.is_some();
    let query = VertexQuery {
        label,
        conditions: predicate::conditions(schema, properties, reading)?,
        offset: range.offset,
        limit: range.limit,
        page: range.page,
    };
    let view = context.view(&target, time::scope(parameters)?)?;
    let mut answer = Listing::start(context, "vertices");
    answer.show(time::detail(parameters, schema)?);
    let page = query::vertices(
        &Timed::new(&view, context),
        schema,
        &query,
        &mut |id, row| answer.add(|json| output::vertex_row(json, schema, id, row)),
    )?;
    answer.finish(paging.then_some(page))
}

/// [`edges`] on the serving thread. `None` if the request names no vertex, if it names a point in
/// time, if its query cannot be parsed, or once about [`BRIEF_EDGES`] edges have been read.
pub(super) fn few_edges(context: &RequestContext) -> Option<HandlerResult> {
    let parameters = context.query().ok()?;
    named(parameters, "vertex_id")?;
    // A read of the past takes long even for few edges, since it reads large parts of the history.
    let is_past = ["as_of", "as_of_tx"].map(|name| parameters.get(name).is_some());
    if is_past.contains(&true) {
        return None;
    }
    edges_within(context, BRIEF_EDGES).transpose()
}

/// Edges by vertex, direction, label and properties.
pub(super) fn edges(context: &RequestContext) -> HandlerResult {
    let answer = edges_within(context, usize::MAX)?;
    answer.ok_or_else(|| ApiError::internal("A listing without a bound met one"))
}

/// [`edges`]; `None` once about `effort` edges have been read.
fn edges_within(context: &RequestContext, effort: usize) -> Result<Option<Response>, ApiError> {
    let parameters = context.query()?;
    let target = Target::of(context)?;
    let schema = &*target.schema;
    let direction = direction(parameters)?;
    let vertex = named(parameters, "vertex_id")
        .map(parse_vertex_id)
        .transpose()?;
    let range = Range::of(parameters)?;
    let properties = parameters.get("properties").unwrap_or("");
    let reading = reading(parameters, vertex.is_none())?;
    let labels = match named(parameters, "label") {
        Some(name) => vec![schema.require_edge_label(name)?.id],
        None => Vec::new(),
    };
    let paging = range.page.is_some();
    let query = EdgeQuery {
        vertex: vertex.map(|id| (id, direction)),
        labels,
        conditions: predicate::conditions(schema, properties, reading)?,
        offset: range.offset,
        limit: range.limit,
        page: range.page,
    };
    let view = context.view(&target, time::scope(parameters)?)?;
    let mut answer = Listing::start(context, "edges");
    answer.show(time::detail(parameters, schema)?);
    let timed = Timed::with_effort(&view, context, effort);
    let page = query::edges(&timed, schema, &query, &mut |id, row| {
        answer.add(|json| output::edge_row(json, schema, id, row))
    });
    if timed.is_spent() {
        return Ok(None);
    }
    answer.finish(paging.then_some(page?)).map(Some)
}

/// The value of a parameter; `None` also if it is empty.
pub(in crate::hugegraph) fn named<'q>(query: &'q Query, name: &str) -> Option<&'q str> {
    query.get(name).filter(|text| !text.is_empty())
}

/// The direction that the request names; `None` for both, which is the default.
pub(in crate::hugegraph) fn direction(query: &Query) -> Result<Option<Direction>, ApiError> {
    match query.get("direction") {
        None | Some("" | "BOTH") => Ok(None),
        Some("OUT") => Ok(Some(Direction::Out)),
        Some("IN") => Ok(Some(Direction::In)),
        Some(other) => Err(ApiError::illegal_argument(format!(
            "Direction value must be in [OUT, IN, BOTH], but got '{other}'"
        ))),
    }
}

/// The vertices of the given ids; those that do not exist are left out. 400 without ids, or with
/// more than [`IDS_MAX`].
pub(super) fn vertices_by_id(context: &RequestContext) -> HandlerResult {
    let target = Target::of(context)?;
    let ids = ids(context, |text| parse_vertex_id(text).map(ElementId::Vertex))?;
    by_id(context, &target, "vertices", &ids)
}

/// The edges of the given ids; those that do not exist are left out. 400 without ids, or with more
/// than [`IDS_MAX`].
pub(super) fn edges_by_id(context: &RequestContext) -> HandlerResult {
    let target = Target::of(context)?;
    let ids = ids(context, |text| {
        parse_edge_id(text, OldForm::Accepted).map(ElementId::Edge)
    })?;
    by_id(context, &target, "edges", &ids)
}

fn ids(
    context: &RequestContext,
    parse: impl Fn(&str) -> Result<ElementId, ApiError>,
) -> Result<Vec<ElementId>, ApiError> {
    let texts: Vec<&str> = context.query()?.all("ids").collect();
    if texts.is_empty() {
        return Err(ApiError::illegal_argument(
            "The ids parameter can't be null or empty",
        ));
    }
    if texts.len() > IDS_MAX {
        return Err(ApiError::illegal_argument(format!(
            "The ids parameter can't have more than {IDS_MAX} values"
        )));
    }
    texts.into_iter().map(parse).collect()
}

fn by_id(
    context: &RequestContext,
    target: &Target,
    what: &str,
    ids: &[ElementId],
) -> HandlerResult {
    let view = context.view(target, time::scope(context.query()?)?)?;
    let schema = &*target.schema;
    let mut answer = Listing::start(context, what);
    for id in ids {
        let mut flow = Flow::Continue(());
        match id {
            ElementId::Vertex(id) => view.with_vertex(id, &mut |row| {
                flow = answer.add(|json| output::vertex_row(json, schema, id, row));
            })?,
            ElementId::Edge(id) => view.with_edge(id, &mut |row| {
                flow = answer.add(|json| output::edge_row(json, schema, id, row));
            })?,
        };
        if flow.is_break() {
            break;
        }
    }
    answer.finish(None)
}
