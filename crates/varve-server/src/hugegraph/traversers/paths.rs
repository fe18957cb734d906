//! `…/traversers/paths`, `crosspoints` and `edgeexist`.

use varve_traversal::between::{Between, edges_between};
use varve_traversal::crosspoints::{self, Crosspoints};
use varve_traversal::paths::{SimplePaths, simple_paths};
use varve_traversal::{Search, VertexNumber};

use super::answer::Answer;
use super::parameters::{
    CAPACITY, Ground, NO_LIMIT, capacity, existing, limit, refused, step, vertex_of,
};
use crate::errors::ApiError;
use crate::hugegraph::graph::named;
use crate::request::{Query, RequestContext};
use crate::respond::HandlerResult;

/// The most paths in an answer, unless the request has another limit.
pub(super) const PATHS_LIMIT: i64 = 10;
/// The most edges in an answer, unless the request has another limit.
const EDGES_LIMIT: i64 = 100;
/// The largest `max_depth`.
const DEPTH_MAX: i64 = 5_000;

/// Reads `max_depth`, the most edges of a path; 400 if it is out of bounds.
fn path_depth(query: &Query) -> Result<u64, ApiError> {
    let depth = query.integer("max_depth", 0)?;
    if !(1..=DEPTH_MAX).contains(&depth) {
        return Err(ApiError::illegal_argument(format!(
            "The depth must be in (0, {DEPTH_MAX}], but got: {depth}"
        )));
    }
    Ok(depth.unsigned_abs())
}

/// [`path_depth`] for the value in a body.
pub(super) fn depth_of_request(depth: i64) -> Result<u64, ApiError> {
    if !(1..=DEPTH_MAX).contains(&depth) {
        return Err(ApiError::illegal_argument(format!(
            "The depth of request must be in (0, {DEPTH_MAX}], but got: {depth}"
        )));
    }
    Ok(depth.unsigned_abs())
}

/// [`PATHS_LIMIT`], for bodies without a limit.
pub(super) const fn default_paths() -> i64 {
    PATHS_LIMIT
}

/// The source and the target of a request, which must exist.
fn ends(context: &RequestContext, search: &mut Search<'_>) -> Result<[VertexNumber; 2], ApiError> {
    let query = context.query()?;
    let source = vertex_of(query, "source", "source vertex")?;
    let target = vertex_of(query, "target", "target vertex")?;
    Ok([
        existing(context, search, &source, "source vertex")?,
        existing(context, search, &target, "target vertex")?,
    ])
}

/// All simple paths between two vertices.
pub(super) fn simple(context: &RequestContext) -> HandlerResult {
    let query = context.query()?;
    let ground = Ground::of(context)?;
    let step = step(query, ground.schema())?;
    let ask = SimplePaths {
        depth: path_depth(query)?,
        capacity: capacity(query.integer("capacity", CAPACITY)?)?,
        limit: limit(query.integer("limit", PATHS_LIMIT)?)?,
        nearest: false,
    };
    let mut search = ground.search();
    let [source, target] = ends(context, &mut search)?;
    let paths = simple_paths(&mut search, source, target, &step, &ask);
    let paths = paths.map_err(|error| refused(context, error))?;
    let mut answer = Answer::start(context, &ground);
    answer.paths("paths", &search, &paths)?;
    answer.measured(&search)
}

/// The vertices at which walks from two vertices meet.
pub(super) fn crosspoints(context: &RequestContext) -> HandlerResult {
    let query = context.query()?;
    let ground = Ground::of(context)?;
    let step = step(query, ground.schema())?;
    let ask = Crosspoints {
        depth: path_depth(query)?,
        capacity: capacity(query.integer("capacity", CAPACITY)?)?,
        limit: limit(query.integer("limit", PATHS_LIMIT)?)?,
    };
    let mut search = ground.search();
    let [source, target] = ends(context, &mut search)?;
    let found = crosspoints::crosspoints(&mut search, source, target, &step, &ask);
    let found = found.map_err(|error| refused(context, error))?;
    let mut answer = Answer::start(context, &ground);
    answer.crossings("crosspoints", &search, &found)?;
    answer.measured(&search)
}

/// The edges from one vertex to another. The vertices need not exist.
pub(super) fn edge_exist(context: &RequestContext) -> HandlerResult {
    let query = context.query()?;
    let ground = Ground::of(context)?;
    let source = vertex_of(query, "source", "source vertex")?;
    let target = vertex_of(query, "target", "target vertex")?;
    let labels = match named(query, "label") {
        Some(name) => vec![ground.schema().require_edge_label(name)?.id],
        None => Vec::new(),
    };
    let limit = match query.integer("limit", EDGES_LIMIT)? {
        NO_LIMIT => u64::MAX,
        limit => u64::try_from(limit).unwrap_or(0),
    };
    let ask = Between {
        labels: &labels,
        sort_values: named(query, "sort_values"),
        limit,
    };
    let mut search = ground.search();
    let failed = |error| refused(context, error);
    let from = search.number(&source).map_err(failed)?;
    let to = search.number(&target).map_err(failed)?;
    let edges = edges_between(&mut search, [from, to], &ask).map_err(failed)?;
    let mut answer = Answer::start(context, &ground);
    answer.edges(&edges, true)?;
    answer.bare()
}
