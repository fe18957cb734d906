//! `…/traversers/kout` and `…/traversers/kneighbor`.

use serde::Deserialize;
use varve_traversal::neighbourhood::{self, KOut};
use varve_traversal::{Parallel, Search, Step, Tree, VertexNumber, edges_of, path_bytes};

use super::answer::{Answer, vertices_of};
use super::bodies::{FilterSteps, IdJson};
use super::parameters::{
    CAPACITY, Ground, LIMIT, NO_LIMIT, capacity, default_capacity, default_limit, existing, limit,
    positive, refused, required, step, vertex_of,
};
use crate::errors::ApiError;
use crate::request::RequestContext;
use crate::respond::HandlerResult;

/// K-out with query parameters: the vertices `max_depth` steps away.
pub(super) fn k_out(context: &RequestContext) -> HandlerResult {
    let query = context.query()?;
    let ground = Ground::of(context)?;
    let step = step(query, ground.schema())?;
    let depth = positive(query.integer("max_depth", 0)?, "k-out max_depth")?;
    let (most, answer_limit) = (
        query.integer("capacity", CAPACITY)?,
        query.integer("limit", LIMIT)?,
    );
    let ask = KOut {
        depth,
        nearest: query.boolean("nearest", true)?,
        capacity: capacity(most)?,
        counts_all: true,
        limit: limit(answer_limit)?,
    };
    if most != NO_LIMIT && (answer_limit == NO_LIMIT || answer_limit > most) {
        return Err(ApiError::illegal_argument(format!(
            "Capacity can't be less than limit, but got capacity '{most}' and limit '{answer_limit}'"
        )));
    }
    let count_only = query.boolean("count_only", false)?;
    let id = vertex_of(query, "source", "source vertex")?;
    let mut search = ground.search();
    let source = existing(context, &mut search, &id, "source vertex")?;
    let tree = neighbourhood::k_out(&mut search, source, &step, &ask);
    let tree = tree.map_err(|error| refused(context, error))?;
    let last = tree.last().iter().map(|reached| reached.vertex);
    counted_or_listed(context, &ground, &search, last.collect(), count_only)
}

/// K-neighbor with query parameters: the vertices within `max_depth` steps.
pub(super) fn k_neighbor(context: &RequestContext) -> HandlerResult {
    let query = context.query()?;
    let ground = Ground::of(context)?;
    let step = step(query, ground.schema())?;
    let depth = positive(query.integer("max_depth", 0)?, "k-neighbor max_depth")?;
    let limit = limit(query.integer("limit", LIMIT)?)?;
    let count_only = query.boolean("count_only", false)?;
    let id = vertex_of(query, "source", "source vertex")?;
    let mut search = ground.search();
    let source = existing(context, &mut search, &id, "source vertex")?;
    let tree = neighbourhood::k_neighbor(&mut search, source, &step, depth, limit);
    let tree = tree.map_err(|error| refused(context, error))?;
    counted_or_listed(
        context,
        &ground,
        &search,
        tree.reached().collect(),
        count_only,
    )
}

fn counted_or_listed(
    context: &RequestContext,
    ground: &Ground,
    search: &Search<'_>,
    vertices: Vec<VertexNumber>,
    count_only: bool,
) -> HandlerResult {
    let mut answer = Answer::start(context, ground);
    match count_only {
        true => {
            let json = answer.json().key("vertices_size");
            json.unsigned(vertices.len() as u64);
        }
        false => answer.ids("vertices", search, vertices)?,
    }
    answer.measured(search)
}

/// The body of a k-out request.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct KOutBody<'a> {
    #[serde(default, borrow)]
    source: Option<IdJson<'a>>,
    #[serde(default, borrow)]
    steps: Option<FilterSteps<'a>>,
    #[serde(default)]
    max_depth: i64,
    #[serde(default = "yes")]
    nearest: bool,
    #[serde(default)]
    count_only: bool,
    #[serde(default = "default_capacity")]
    capacity: i64,
    #[serde(default = "default_limit")]
    limit: i64,
    #[serde(default)]
    with_vertex: bool,
    #[serde(default)]
    with_path: bool,
    #[serde(default)]
    with_edge: bool,
    #[serde(default)]
    traverse_mode: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct KNeighborBody<'a> {
    #[serde(default, borrow)]
    source: Option<IdJson<'a>>,
    #[serde(default, borrow)]
    steps: Option<FilterSteps<'a>>,
    #[serde(default)]
    max_depth: i64,
    #[serde(default)]
    count_only: bool,
    #[serde(default = "default_limit")]
    limit: i64,
    #[serde(default)]
    with_vertex: bool,
    #[serde(default)]
    with_path: bool,
    #[serde(default)]
    with_edge: bool,
}

const fn yes() -> bool {
    true
}

/// The parts of an answer to a POST request.
#[derive(Debug, Clone, Copy)]
struct AnswerParts {
    count_only: bool,
    vertices: bool,
    paths: bool,
    edges: bool,
}

impl AnswerParts {
    fn check(self) -> Result<Self, ApiError> {
        if self.count_only && (self.vertices || self.paths || self.edges) {
            return Err(ApiError::illegal_argument(
                "Can't return vertex, edge or path when count only",
            ));
        }
        Ok(self)
    }
}

/// Reads the source and the step of a POST request.
fn begin(
    ground: &Ground,
    source: Option<IdJson<'_>>,
    steps: Option<FilterSteps<'_>>,
) -> Result<(varve_model::VertexId, Step), ApiError> {
    let source = required(source, "source")?;
    let steps = required(steps, "steps")?;
    Ok((source.id()?, steps.step(ground.schema())?))
}

/// K-out with a body: the vertices `max_depth` steps away.
pub(super) fn k_out_of_body(context: &RequestContext) -> HandlerResult {
    const MODES: [&str; 2] = ["breadth_first_search", "depth_first_search"];
    let body: KOutBody<'_> = context.json()?;
    let ground = Ground::of(context)?;
    let (id, step) = begin(&ground, body.source, body.steps)?;
    let ask = KOut {
        depth: positive(body.max_depth, "k-out max_depth")?,
        nearest: body.nearest,
        capacity: capacity(body.capacity)?,
        counts_all: false,
        limit: limit(body.limit)?,
    };
    let parts = AnswerParts {
        count_only: body.count_only,
        vertices: body.with_vertex,
        paths: body.with_path,
        edges: body.with_edge,
    };
    let parts = parts.check()?;
    // Both modes give the same answer here.
    if let Some(mode) = body.traverse_mode
        && !MODES.contains(&mode.to_lowercase().as_str())
    {
        return Err(ApiError::illegal_argument(format!(
            "The traverse mode must be one of 'breadth_first_search' or 'depth_first_search', but got '{mode}'"
        )));
    }
    let mut search = ground.search();
    let source = existing(context, &mut search, &id, "source vertex")?;
    let tree = neighbourhood::k_out(&mut search, source, &step, &ask);
    let tree = tree.map_err(|error| refused(context, error))?;
    let last = tree.layers.len() - 1;
    let of_last = (0..tree.last().len()).map(|position| (last, position));
    write_tree(
        context,
        &ground,
        search,
        "kout",
        &step,
        &tree,
        of_last.collect(),
        parts,
    )
}

/// K-neighbor with a body: the vertices within `max_depth` steps.
pub(super) fn k_neighbor_of_body(context: &RequestContext) -> HandlerResult {
    let body: KNeighborBody<'_> = context.json()?;
    let ground = Ground::of(context)?;
    let (id, step) = begin(&ground, body.source, body.steps)?;
    let depth = positive(body.max_depth, "k-neighbor max_depth")?;
    let limit = limit(body.limit)?;
    let parts = AnswerParts {
        count_only: body.count_only,
        vertices: body.with_vertex,
        paths: body.with_path,
        edges: body.with_edge,
    };
    let parts = parts.check()?;
    let mut search = ground.search();
    let source = existing(context, &mut search, &id, "source vertex")?;
    let tree = neighbourhood::k_neighbor(&mut search, source, &step, depth, limit);
    let tree = tree.map_err(|error| refused(context, error))?;
    let layers = tree.layers.iter().enumerate().skip(1);
    let of_all = layers
        .flat_map(|(layer, reached)| (0..reached.len()).map(move |position| (layer, position)));
    write_tree(
        context,
        &ground,
        search,
        "kneighbor",
        &step,
        &tree,
        of_all.collect(),
        parts,
    )
}

/// Writes the answer to a POST request. `results` are positions in the tree, as (layer, position).
#[expect(clippy::too_many_arguments, reason = "each is a part of one answer")]
fn write_tree(
    context: &RequestContext,
    ground: &Ground,
    mut search: Search<'_>,
    name: &str,
    step: &Step,
    tree: &Tree,
    results: Vec<(usize, usize)>,
    parts: AnswerParts,
) -> HandlerResult {
    let vertex = |(layer, position): &(usize, usize)| tree.layers[*layer][*position].vertex;
    let numbers: Vec<VertexNumber> = results.iter().map(vertex).collect();
    let mut answer = Answer::start(context, ground);
    let (mut paths, mut vertices, mut edges) = (Vec::new(), numbers.clone(), Vec::new());
    if parts.count_only {
        vertices.clear();
    }
    let measure = search.measure();
    if parts.paths {
        for (layer, position) in &results {
            let held = ground.meter.hold(path_bytes(layer + 1));
            held.map_err(|error| refused(context, error.into()))?;
            paths.push(tree.path(*layer, *position));
        }
        vertices = vertices_of(&paths);
        let found = edges_of(&mut search, &paths, step, Parallel::Last);
        edges = found.map_err(|error| refused(context, error))?;
        search.restore(measure);
    }
    match parts.count_only {
        true => answer.ids(name, &search, [])?,
        false => answer.ids(name, &search, numbers.iter().copied())?,
    }
    answer.json().key("size").unsigned(numbers.len() as u64);
    answer.paths("paths", &search, &paths)?;
    answer.vertices(&search, &vertices, parts.vertices)?;
    answer.edges(&edges, parts.edges)?;
    answer.measured(&search)
}
