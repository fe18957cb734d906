//! POST `…/traversers/paths` and `multinodeshortestpath`: paths between several vertices.

use std::ops::RangeInclusive;

use serde::Deserialize;
use varve_traversal::paths::{SimplePaths, paths_of_pairs};
use varve_traversal::shortest::{Shortest, paths_between_all};
use varve_traversal::{Parallel, Path, Search, Step, edges_of};

use super::answer::{Answer, Whole};
use super::bodies::StepBody;
use super::parameters::{Ground, capacity, default_capacity, limit, positive, refused, required};
use super::paths::{default_paths, depth_of_request};
use super::sources::{ENDS, VerticesBody, check_count};
use crate::request::RequestContext;
use crate::respond::HandlerResult;

/// The number of vertices in a `multinodeshortestpath`.
const MEETING: RangeInclusive<usize> = 2..=10;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PathsBody<'a> {
    #[serde(default, borrow)]
    sources: Option<VerticesBody<'a>>,
    #[serde(default, borrow)]
    targets: Option<VerticesBody<'a>>,
    #[serde(default, borrow)]
    step: Option<StepBody<'a>>,
    #[serde(default)]
    max_depth: i64,
    #[serde(default)]
    nearest: bool,
    #[serde(default = "default_capacity")]
    capacity: i64,
    #[serde(default = "default_paths")]
    limit: i64,
    #[serde(default)]
    with_vertex: bool,
    #[serde(default)]
    with_edge: bool,
}

/// All simple paths from several vertices to several others, or the shortest ones.
pub(super) fn paths(context: &RequestContext) -> HandlerResult {
    let body: PathsBody<'_> = context.json()?;
    let ground = Ground::of(context)?;
    let (sources, targets) = (
        required(body.sources, "sources")?,
        required(body.targets, "targets")?,
    );
    let step = required(body.step, "step")?.step(ground.schema())?;
    let ask = SimplePaths {
        depth: depth_of_request(body.max_depth)?,
        capacity: capacity(body.capacity)?.finding("template paths"),
        limit: limit(body.limit)?,
        nearest: body.nearest,
    };
    let mut search = ground.search();
    let sources = sources.numbers(context, &ground, &mut search)?;
    let targets = targets.numbers(context, &ground, &mut search)?;
    check_count(&sources, &ENDS, "source vertices")?;
    check_count(&targets, &ENDS, "target vertices")?;
    let paths = paths_of_pairs(&mut search, &sources, &targets, &step, &ask);
    let paths = paths.map_err(|error| refused(context, error))?;
    let whole = Whole {
        vertices: body.with_vertex,
        edges: body.with_edge,
    };
    finish(context, &ground, search, &paths, &step, whole)
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MultiNodeBody<'a> {
    #[serde(default, borrow)]
    vertices: Option<VerticesBody<'a>>,
    #[serde(default, borrow)]
    step: Option<StepBody<'a>>,
    #[serde(default)]
    max_depth: i64,
    #[serde(default = "default_capacity")]
    capacity: i64,
    #[serde(default)]
    with_vertex: bool,
    #[serde(default)]
    with_edge: bool,
}

/// A shortest path for each pair of several vertices.
pub(super) fn shortest(context: &RequestContext) -> HandlerResult {
    let body: MultiNodeBody<'_> = context.json()?;
    let ground = Ground::of(context)?;
    let vertices = required(body.vertices, "vertices")?;
    let step = required(body.step, "step")?.step(ground.schema())?;
    let ask = Shortest {
        depth: positive(body.max_depth, "max depth")?,
        capacity: capacity(body.capacity)?,
        all: false,
    };
    let mut search = ground.search();
    let vertices = vertices.numbers(context, &ground, &mut search)?;
    check_count(
        &vertices,
        &MEETING,
        "vertices of multiple node shortest path",
    )?;
    let paths = paths_between_all(&mut search, &vertices, &step, &ask);
    let paths = paths.map_err(|error| refused(context, error))?;
    let whole = Whole {
        vertices: body.with_vertex,
        edges: body.with_edge,
    };
    finish(context, &ground, search, &paths, &step, whole)
}

fn finish(
    context: &RequestContext,
    ground: &Ground,
    mut search: Search<'_>,
    paths: &[Path],
    step: &Step,
    whole: Whole,
) -> HandlerResult {
    let measure = search.measure();
    let edges = edges_of(&mut search, paths, step, Parallel::Last);
    let edges = edges.map_err(|error| refused(context, error))?;
    search.restore(measure);
    let mut answer = Answer::start(context, ground);
    answer.paths("paths", &search, paths)?;
    answer.with_elements(&search, paths, &edges, whole)
}
