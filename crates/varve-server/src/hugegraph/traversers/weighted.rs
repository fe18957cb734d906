//! `…/traversers/weightedshortestpath` and `…/traversers/singlesourceshortestpath`.

use varve_model::PropertyKeyId;
use varve_traversal::weighted::{Lightest, WeightedPath, lightest_edges, lightest_paths};
use varve_traversal::{Path, Search, Step};

use super::answer::{Answer, Whole};
use super::parameters::{
    CAPACITY, Ground, capacity, degrees_below_capacity, existing, limit, refused, step, vertex_of,
};
use crate::errors::ApiError;
use crate::hugegraph::graph::named;
use crate::request::RequestContext;
use crate::respond::HandlerResult;

/// The most paths of an answer, unless the client names another number.
const LIMIT: i64 = 10;

/// The lightest path between two vertices.
pub(super) fn between(context: &RequestContext) -> HandlerResult {
    let query = context.query()?;
    let ground = Ground::of(context)?;
    let (step, mut ask) = request(context, &ground)?;
    if named(query, "weight").is_none() {
        let message = "The weight property can't be null";
        return Err(ApiError::illegal_argument(message));
    }
    let source = vertex_of(query, "source", "source vertex")?;
    let target = vertex_of(query, "target", "target vertex")?;
    let mut search = ground.search();
    let source = existing(context, &mut search, &source, "source vertex")?;
    let target = existing(context, &mut search, &target, "target vertex")?;
    ask.target = Some(target);
    let mut paths = lightest_paths(&mut search, source, &step, &ask)
        .map_err(|error| refused(context, error))?;
    // The path of a vertex to itself, without an edge, is not answered.
    paths.retain(|found| found.path.vertices.len() > 1);
    let mut answer = Answer::start(context, &ground);
    answer.json().key("path").begin_object();
    if let Some(found) = paths.first() {
        path_members(&mut answer, &search, found)?;
    }
    answer.json().end_object();
    finish(context, search, answer, &paths, &step, ask.weight)
}

/// The lightest paths from a vertex to others.
pub(super) fn from_one(context: &RequestContext) -> HandlerResult {
    let query = context.query()?;
    let ground = Ground::of(context)?;
    let (step, mut ask) = request(context, &ground)?;
    ask.limit = limit(query.integer("limit", LIMIT)?)?;
    let source = vertex_of(query, "source", "source vertex")?;
    let mut search = ground.search();
    let source = existing(context, &mut search, &source, "source vertex")?;
    let paths = lightest_paths(&mut search, source, &step, &ask);
    let paths = paths.map_err(|error| refused(context, error))?;
    let mut answer = Answer::start(context, &ground);
    answer.json().key("paths").begin_object();
    for found in &paths {
        let last = found.path.vertices.last().copied().unwrap_or(source);
        let id = search.id(last).map_err(|error| refused(context, error))?;
        answer.json().key(&id.to_string()).begin_object();
        path_members(&mut answer, &search, found)?;
        answer.json().end_object();
    }
    answer.json().end_object();
    finish(context, search, answer, &paths, &step, ask.weight)
}

/// Reads the step, and the parameters that both requests have in common. If the weight property is
/// not defined, every edge has the default weight, as in HugeGraph.
fn request(context: &RequestContext, ground: &Ground) -> Result<(Step, Lightest), ApiError> {
    let query = context.query()?;
    let step = step(query, ground.schema())?;
    degrees_below_capacity(query)?;
    let key = named(query, "weight").and_then(|name| ground.schema().property_key_by_name(name));
    let ask = Lightest {
        weight: key.map(|key| key.id),
        capacity: capacity(query.integer("capacity", CAPACITY)?)?,
        target: None,
        limit: u64::MAX,
    };
    Ok((step, ask))
}

fn path_members(
    answer: &mut Answer<'_>,
    search: &Search<'_>,
    found: &WeightedPath,
) -> Result<(), ApiError> {
    answer.json().key("weight").double(found.weight);
    answer.ids("vertices", search, found.path.vertices.iter().copied())
}

/// Ends the answer with the vertices and edges of the paths and the measure.
fn finish(
    context: &RequestContext,
    mut search: Search<'_>,
    answer: Answer<'_>,
    paths: &[WeightedPath],
    step: &Step,
    weight: Option<PropertyKeyId>,
) -> HandlerResult {
    let query = context.query()?;
    let measure = search.measure();
    let edges = lightest_edges(&mut search, paths, step, weight);
    let edges = edges.map_err(|error| refused(context, error))?;
    search.restore(measure);
    let walked: Vec<Path> = paths.iter().map(|found| found.path.clone()).collect();
    answer.with_elements(&search, &walked, &edges, Whole::of(query)?)
}
