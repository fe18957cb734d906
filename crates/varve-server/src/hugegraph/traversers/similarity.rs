//! `…/traversers/sameneighbors`, `jaccardsimilarity`, `adamicadar` and `resourceallocation`.

use std::borrow::Cow;

use serde::Deserialize;
use varve_traversal::similarity::{self, Weight};
use varve_traversal::{Search, Step, VertexNumber};

use super::answer::Answer;
use super::bodies::{IdJson, StepBody, Way, edge_labels};
use super::parameters::{
    DEGREE, Ground, LIMIT, capacity, default_capacity, default_limit, degrees, existing, limit,
    refused, required, step, top, vertex_of,
};
use crate::errors::ApiError;
use crate::request::RequestContext;
use crate::respond::HandlerResult;

/// The fewest vertices in a `vertex_list`.
const LIST_MIN: usize = 2;

/// The two vertices of a request, which must exist.
fn pair(
    context: &RequestContext,
    search: &mut Search<'_>,
    what: [&str; 2],
) -> Result<[VertexNumber; 2], ApiError> {
    let query = context.query()?;
    let vertex = vertex_of(query, "vertex", what[0])?;
    let other = vertex_of(query, "other", what[1])?;
    Ok([
        existing(context, search, &vertex, what[0])?,
        existing(context, search, &other, what[1])?,
    ])
}

/// The common neighbours of two vertices.
pub(super) fn same_neighbors(context: &RequestContext) -> HandlerResult {
    let query = context.query()?;
    let ground = Ground::of(context)?;
    let step = step(query, ground.schema())?;
    let limit = limit(query.integer("limit", LIMIT)?)?;
    let mut search = ground.search();
    let pair = pair(context, &mut search, ["vertex", "other vertex"])?;
    let same = similarity::same_neighbours(&mut search, &pair, &step, limit);
    let same = same.map_err(|error| refused(context, error))?;
    let mut answer = Answer::start(context, &ground);
    answer.ids("same_neighbors", &search, same)?;
    answer.measured(&search)
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SameNeighborsBody<'a> {
    #[serde(default, borrow)]
    vertex_list: Option<Vec<IdJson<'a>>>,
    #[serde(default)]
    direction: Way,
    #[serde(default, borrow)]
    labels: Option<Vec<Cow<'a, str>>>,
    #[serde(default = "default_degree")]
    max_degree: i64,
    #[serde(default = "default_limit")]
    limit: i64,
    #[serde(default)]
    with_vertex: bool,
}

const fn default_degree() -> i64 {
    DEGREE
}

/// The common neighbours of several vertices.
pub(super) fn same_neighbors_of_body(context: &RequestContext) -> HandlerResult {
    let body: SameNeighborsBody<'_> = context.json()?;
    let ground = Ground::of(context)?;
    let list = body.vertex_list.unwrap_or_default();
    if list.len() < LIST_MIN {
        return Err(ApiError::illegal_argument(format!(
            "vertex_list size can't be less than {LIST_MIN}"
        )));
    }
    let (max_degree, skip_degree) = degrees(body.max_degree, 0)?;
    let step = Step {
        direction: body.direction.direction(),
        labels: edge_labels(ground.schema(), body.labels)?,
        max_degree,
        skip_degree,
        ..Step::default()
    };
    let limit = limit(body.limit)?;
    let mut search = ground.search();
    let mut vertices = Vec::with_capacity(list.len());
    for id in &list {
        vertices.push(existing(context, &mut search, &id.id()?, "vertex")?);
    }
    let same = similarity::same_neighbours(&mut search, &vertices, &step, limit);
    let same = same.map_err(|error| refused(context, error))?;
    let mut answer = Answer::start(context, &ground);
    answer.ids("same_neighbors", &search, same.iter().copied())?;
    let mut seen = std::collections::HashSet::new();
    let mut shown = [vertices, same].concat();
    shown.retain(|vertex| seen.insert(*vertex));
    answer.vertices(&search, &shown, body.with_vertex)?;
    answer.measured(&search)
}

/// Jaccard's index of two vertices.
pub(super) fn jaccard(context: &RequestContext) -> HandlerResult {
    let ground = Ground::of(context)?;
    let step = step(context.query()?, ground.schema())?;
    let mut search = ground.search();
    let [vertex, other] = pair(context, &mut search, ["vertex", "other vertex"])?;
    let index = similarity::jaccard(&mut search, vertex, other, &step);
    let index = index.map_err(|error| refused(context, error))?;
    let mut answer = Answer::start(context, &ground);
    answer.json().key("jaccard_similarity").double(index);
    answer.measured(&search)
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct JaccardBody<'a> {
    #[serde(default, borrow)]
    vertex: Option<IdJson<'a>>,
    #[serde(default, borrow)]
    step: Option<StepBody<'a>>,
    #[serde(default = "default_top")]
    top: i64,
    #[serde(default = "default_capacity")]
    capacity: i64,
}

const fn default_top() -> i64 {
    100
}

/// Jaccard's index of a vertex and each vertex within two steps.
pub(super) fn jaccard_of_near(context: &RequestContext) -> HandlerResult {
    let body: JaccardBody<'_> = context.json()?;
    let ground = Ground::of(context)?;
    let id = required(body.vertex, "vertex")?.id()?;
    let step = required(body.step, "step")?.step(ground.schema())?;
    let top = top(body.top)?.unwrap_or(u64::MAX);
    let top = usize::try_from(top).unwrap_or(usize::MAX);
    let capacity = capacity(body.capacity)?;
    let mut search = ground.search();
    let vertex = existing(context, &mut search, &id, "vertex")?;
    let scores = similarity::jaccard_of_near(&mut search, vertex, &step, top, capacity);
    let scores = scores.map_err(|error| refused(context, error))?;
    let mut answer = Answer::start(context, &ground);
    answer.scores("jaccard_similarity", &search, &scores)?;
    answer.measured(&search)
}

/// The index of Adamic and Adar of two vertices.
pub(super) fn adamic_adar(context: &RequestContext) -> HandlerResult {
    link_prediction(context, "adamic_adar", Weight::InverseLogDegree)
}

/// The resource allocation index of two vertices.
pub(super) fn resource_allocation(context: &RequestContext) -> HandlerResult {
    link_prediction(context, "resource_allocation", Weight::InverseDegree)
}

fn link_prediction(context: &RequestContext, name: &str, weight: Weight) -> HandlerResult {
    let query = context.query()?;
    let ground = Ground::of(context)?;
    let step = step(query, ground.schema())?;
    let limit = limit(query.integer("limit", LIMIT)?)?;
    let mut search = ground.search();
    let ids = [
        vertex_of(query, "vertex", "source")?,
        vertex_of(query, "other", "target")?,
    ];
    if ids[0] == ids[1] {
        return Err(ApiError::illegal_argument(
            "The source and target vertex id can't be same",
        ));
    }
    let [vertex, other] = pair(context, &mut search, ["source", "target"])?;
    let index = similarity::link_prediction(&mut search, vertex, other, &step, limit, weight);
    let index = index.map_err(|error| refused(context, error))?;
    let mut answer = Answer::start(context, &ground);
    answer.json().key(name).double(index);
    answer.bare()
}
