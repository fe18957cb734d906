//! `…/traversers/customizedpaths`, `templatepaths` and `customizedcrosspoints`: walks along steps.

use std::borrow::Cow;

use serde::Deserialize;
use varve_traversal::customized::{
    Crossroads, Customized, Sorting, WeighedStep, customized_crosspoints, customized_paths,
};
use varve_traversal::template::{RepeatedStep, Template, template_paths};
use varve_traversal::{Path, Search, Step, Stepped, edges_of_steps};

use super::answer::{Answer, Whole};
use super::bodies::{StepBody, step_body};
use super::parameters::{
    Ground, NO_LIMIT, bounded, capacity, default_capacity, limit, positive, refused, required,
};
use super::paths::default_paths;
use super::sources::{ENDS, VerticesBody, check_count};
use crate::errors::ApiError;
use crate::request::RequestContext;
use crate::respond::HandlerResult;

step_body! {
    /// A step whose edges are weighed, and of which the first `sample` are taken.
    CustomizedStep {
        #[serde(default, borrow)]
        weight_by: Option<Cow<'a, str>>,
        #[serde(default)]
        default_weight: f64,
        #[serde(default = "default_sample")]
        sample: i64,
    }
}

const fn default_sample() -> i64 {
    100
}

impl CustomizedStep<'_> {
    fn weighed(mut self, ground: &Ground) -> Result<WeighedStep, ApiError> {
        let (sample, max_degree) = (self.sample, self.max_degree);
        let most = bounded(sample, "sample")?;
        if max_degree != NO_LIMIT && max_degree < sample {
            return Err(ApiError::illegal_argument(format!(
                "The max degree must be greater than or equal to sample, but got max degree {max_degree} and sample {sample}"
            )));
        }
        let name = self.weight_by.take().filter(|name| !name.is_empty());
        let key = name.map(|name| {
            ground
                .schema()
                .require_property_key(&name)
                .map(|key| key.id)
        });
        Ok(WeighedStep {
            weight: key.transpose()?,
            default_weight: self.default_weight,
            sample: most,
            step: self.step(ground.schema())?,
        })
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum SortBy {
    #[default]
    None,
    Incr,
    Decr,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CustomizedBody<'a> {
    #[serde(default, borrow)]
    sources: Option<VerticesBody<'a>>,
    #[serde(default, borrow)]
    steps: Option<Vec<CustomizedStep<'a>>>,
    #[serde(default)]
    sort_by: SortBy,
    #[serde(default = "default_capacity")]
    capacity: i64,
    #[serde(default = "default_paths")]
    limit: i64,
    #[serde(default)]
    with_vertex: bool,
    #[serde(default)]
    with_edge: bool,
}

/// The list of steps, which must not be empty.
fn some_steps<T>(steps: Option<Vec<T>>) -> Result<Vec<T>, ApiError> {
    let steps = steps.filter(|steps| !steps.is_empty());
    steps.ok_or_else(|| ApiError::illegal_argument("The steps of request can't be empty"))
}

/// Walks that follow the steps one after the other.
pub(super) fn paths(context: &RequestContext) -> HandlerResult {
    let body: CustomizedBody<'_> = context.json()?;
    let ground = Ground::of(context)?;
    let sources = required(body.sources, "sources")?;
    let steps = some_steps(body.steps)?.into_iter();
    let steps: Vec<WeighedStep> = steps
        .map(|step| step.weighed(&ground))
        .collect::<Result<_, _>>()?;
    let ask = Customized {
        sorting: match body.sort_by {
            SortBy::None => Sorting::None,
            SortBy::Incr => Sorting::Ascending,
            SortBy::Decr => Sorting::Descending,
        },
        capacity: capacity(body.capacity)?,
        limit: limit(body.limit)?,
    };
    let mut search = ground.search();
    let sources = sources.numbers(context, &ground, &mut search)?;
    let found = customized_paths(&mut search, &sources, &steps, &ask);
    let found = found.map_err(|error| refused(context, error))?;
    let mut answer = Answer::start(context, &ground);
    answer.weighed("paths", &search, &found, ask.sorting != Sorting::None)?;
    let whole = Whole {
        vertices: body.with_vertex,
        edges: body.with_edge,
    };
    let paths = found.into_iter().map(|weighed| weighed.path).collect();
    let steps: Vec<&Step> = steps.iter().map(|step| &step.step).collect();
    finish(context, search, answer, paths, &steps, whole)
}

step_body! {
    /// A step that is walked up to a number of times.
    TemplateStep {
        #[serde(default = "one")]
        max_times: i64,
    }
}

const fn one() -> i64 {
    1
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TemplateBody<'a> {
    #[serde(default, borrow)]
    sources: Option<VerticesBody<'a>>,
    #[serde(default, borrow)]
    targets: Option<VerticesBody<'a>>,
    #[serde(default, borrow)]
    steps: Option<Vec<TemplateStep<'a>>>,
    #[serde(default)]
    with_ring: bool,
    #[serde(default = "default_capacity")]
    capacity: i64,
    #[serde(default = "default_paths")]
    limit: i64,
    #[serde(default)]
    with_vertex: bool,
    #[serde(default)]
    with_edge: bool,
}

/// Paths that walk each step up to its number of times.
pub(super) fn template(context: &RequestContext) -> HandlerResult {
    let body: TemplateBody<'_> = context.json()?;
    let ground = Ground::of(context)?;
    let (sources, targets) = (
        required(body.sources, "sources")?,
        required(body.targets, "targets")?,
    );
    let mut steps = Vec::new();
    for step in some_steps(body.steps)? {
        steps.push(RepeatedStep {
            max_times: positive(step.max_times, "max times")?,
            step: step.step(ground.schema())?,
        });
    }
    let ask = Template {
        with_ring: body.with_ring,
        capacity: capacity(body.capacity)?,
        limit: limit(body.limit)?,
    };
    let mut search = ground.search();
    let sources = sources.numbers(context, &ground, &mut search)?;
    let targets = targets.numbers(context, &ground, &mut search)?;
    check_count(&sources, &ENDS, "source vertices")?;
    check_count(&targets, &ENDS, "target vertices")?;
    let found = template_paths(&mut search, &sources, &targets, &steps, &ask);
    let found = found.map_err(|error| refused(context, error))?;
    let mut answer = Answer::start(context, &ground);
    let paths: Vec<Path> = found.iter().map(|found| found.path.clone()).collect();
    answer.paths("paths", &search, &paths)?;
    let whole = Whole {
        vertices: body.with_vertex,
        edges: body.with_edge,
    };
    let steps: Vec<&Step> = steps.iter().map(|step| &step.step).collect();
    finish(context, search, answer, found, &steps, whole)
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pattern<'a> {
    #[serde(default, borrow)]
    steps: Option<Vec<StepBody<'a>>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CrosspointsBody<'a> {
    #[serde(default, borrow)]
    sources: Option<VerticesBody<'a>>,
    #[serde(default, borrow)]
    path_patterns: Option<Vec<Pattern<'a>>>,
    #[serde(default = "default_capacity")]
    capacity: i64,
    #[serde(default = "default_paths")]
    limit: i64,
    #[serde(default)]
    with_path: bool,
    #[serde(default)]
    with_vertex: bool,
    #[serde(default)]
    with_edge: bool,
}

/// The vertices that every source reaches along one of the patterns.
pub(super) fn crosspoints(context: &RequestContext) -> HandlerResult {
    let body: CrosspointsBody<'_> = context.json()?;
    let ground = Ground::of(context)?;
    let sources = required(body.sources, "sources")?;
    let patterns = body.path_patterns.filter(|patterns| !patterns.is_empty());
    let patterns = patterns
        .ok_or_else(|| ApiError::illegal_argument("The path patterns of request can't be empty"))?;
    let mut walked: Vec<Vec<Step>> = Vec::new();
    for pattern in patterns {
        let steps = some_steps(pattern.steps)?.into_iter();
        let steps = steps.map(|step| step.step(ground.schema()));
        walked.push(steps.collect::<Result<_, _>>()?);
    }
    let ask = Crossroads {
        capacity: capacity(body.capacity)?,
        limit: limit(body.limit)?,
        with_paths: body.with_path,
    };
    let mut search = ground.search();
    let sources = sources.numbers(context, &ground, &mut search)?;
    let crossed = customized_crosspoints(&mut search, &sources, &walked, &ask);
    let crossed = crossed.map_err(|error| refused(context, error))?;
    let mut answer = Answer::start(context, &ground);
    let crosspoints = crossed.crosspoints;
    answer.ids("crosspoints", &search, crosspoints.iter().copied())?;
    let paths: Vec<Path> = crossed
        .paths
        .iter()
        .map(|found| found.path.clone())
        .collect();
    answer.paths("paths", &search, &paths)?;
    if !body.with_path {
        answer.vertices(&search, &crosspoints, body.with_vertex)?;
        answer.edges(&[], false)?;
        return answer.measured(&search);
    }
    let whole = Whole {
        vertices: body.with_vertex,
        edges: body.with_edge,
    };
    let steps: Vec<&Step> = walked.iter().flatten().collect();
    finish(context, search, answer, crossed.paths, &steps, whole)
}

/// Ends the answer with the vertices and edges of the paths and the measure.
fn finish(
    context: &RequestContext,
    mut search: Search<'_>,
    answer: Answer<'_>,
    paths: Vec<Stepped>,
    steps: &[&Step],
    whole: Whole,
) -> HandlerResult {
    let measure = search.measure();
    let edges = edges_of_steps(&mut search, paths.iter(), steps);
    let edges = edges.map_err(|error| refused(context, error))?;
    search.restore(measure);
    let paths: Vec<Path> = paths.into_iter().map(|stepped| stepped.path).collect();
    answer.with_elements(&search, &paths, &edges, whole)
}
