//! `…/traversers/shortestpath` and `…/traversers/allshortestpaths`.

use varve_traversal::shortest::{Shortest, shortest_paths};
use varve_traversal::{Parallel, Path, Search, edges_of};

use super::answer::{Answer, Whole};
use super::parameters::{
    CAPACITY, Ground, capacity, degrees_below_capacity, existing, positive, refused, step,
    vertex_of,
};
use crate::errors::ApiError;
use crate::request::RequestContext;
use crate::respond::HandlerResult;

/// One path with as few edges as possible.
pub(super) fn one(context: &RequestContext) -> HandlerResult {
    let ground = Ground::of(context)?;
    let mut search = ground.search();
    let paths = found(context, &ground, &mut search, false)?;
    let mut answer = Answer::start(context, &ground);
    let vertices = paths.first().map_or(&[][..], |path| &path.vertices);
    answer.ids("path", &search, vertices.iter().copied())?;
    finish(context, &ground, search, answer, &paths, Parallel::First)
}

/// All paths with as few edges as possible.
pub(super) fn all(context: &RequestContext) -> HandlerResult {
    let ground = Ground::of(context)?;
    let mut search = ground.search();
    let paths = found(context, &ground, &mut search, true)?;
    let mut answer = Answer::start(context, &ground);
    answer.paths("paths", &search, &paths)?;
    finish(context, &ground, search, answer, &paths, Parallel::Last)
}

fn found(
    context: &RequestContext,
    ground: &Ground,
    search: &mut Search<'_>,
    all: bool,
) -> Result<Vec<Path>, ApiError> {
    let query = context.query()?;
    let step = step(query, ground.schema())?;
    let ask = Shortest {
        depth: positive(query.integer("max_depth", 0)?, "max depth")?,
        capacity: capacity(query.integer("capacity", CAPACITY)?)?,
        all,
    };
    degrees_below_capacity(query)?;
    let source = vertex_of(query, "source", "source vertex")?;
    let target = vertex_of(query, "target", "target vertex")?;
    let source = existing(context, search, &source, "source vertex")?;
    let target = existing(context, search, &target, "target vertex")?;
    let paths = shortest_paths(search, source, target, &step, &ask);
    paths.map_err(|error| refused(context, error))
}

/// Ends the answer with the vertices and edges of the paths and the measure.
fn finish(
    context: &RequestContext,
    ground: &Ground,
    mut search: Search<'_>,
    answer: Answer<'_>,
    paths: &[Path],
    parallel: Parallel,
) -> HandlerResult {
    let query = context.query()?;
    let measure = search.measure();
    let step = step(query, ground.schema())?;
    let edges = edges_of(&mut search, paths, &step, parallel);
    let edges = edges.map_err(|error| refused(context, error))?;
    search.restore(measure);
    answer.with_elements(&search, paths, &edges, Whole::of(query)?)
}
