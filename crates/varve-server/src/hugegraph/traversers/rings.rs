//! `…/traversers/rings` and `…/traversers/rays`.

use varve_traversal::rings::{self, Rings};
use varve_traversal::{Parallel, Path, Search, Step, TraversalError, VertexNumber, edges_of};

use super::answer::{Answer, Whole};
use super::parameters::{
    CAPACITY, Ground, capacity, existing, limit, positive, refused, step, vertex_of,
};
use super::paths::PATHS_LIMIT;
use crate::request::RequestContext;
use crate::respond::HandlerResult;

type Finder = fn(&mut Search<'_>, VertexNumber, &Step, &Rings) -> Result<Vec<Path>, TraversalError>;

/// The walks that end at their source or, if requested, at another of their vertices.
pub(super) fn rings(context: &RequestContext) -> HandlerResult {
    walks(context, "rings", rings::rings)
}

/// The walks that cannot be continued, or have `max_depth` edges.
pub(super) fn rays(context: &RequestContext) -> HandlerResult {
    walks(context, "rays", rings::rays)
}

fn walks(context: &RequestContext, name: &str, find: Finder) -> HandlerResult {
    let query = context.query()?;
    let ground = Ground::of(context)?;
    let step = step(query, ground.schema())?;
    let ask = Rings {
        depth: positive(query.integer("max_depth", 0)?, "max depth")?,
        source_in_ring: query.boolean("source_in_ring", true)?,
        capacity: capacity(query.integer("capacity", CAPACITY)?)?,
        limit: limit(query.integer("limit", PATHS_LIMIT)?)?,
    };
    let id = vertex_of(query, "source", "source vertex")?;
    let mut search = ground.search();
    let source = existing(context, &mut search, &id, "source vertex")?;
    let failed = |error| refused(context, error);
    let paths = find(&mut search, source, &step, &ask).map_err(failed)?;
    let measure = search.measure();
    let edges = edges_of(&mut search, &paths, &step, Parallel::Last).map_err(failed)?;
    search.restore(measure);
    let mut answer = Answer::start(context, &ground);
    answer.paths(name, &search, &paths)?;
    answer.with_elements(&search, &paths, &edges, Whole::of(query)?)
}
