//! `…/traversers/neighborrank`, `personalrank` and `count`.

use std::borrow::Cow;

use serde::Deserialize;
use varve_graph::schema::Schema;
use varve_model::{Direction, VertexId};
use varve_traversal::count::{self, Count};
use varve_traversal::ranks::{PersonalRank, RankStep, WithLabel, neighbour_rank, personal_rank};
use varve_traversal::{Search, Step, VertexNumber};

use super::answer::Answer;
use super::bodies::{IdJson, step_body};
use super::parameters::{
    DEGREE, Ground, alpha, capacity, default_capacity, degrees, existing, limit, refused, required,
};
use crate::errors::ApiError;
use crate::request::RequestContext;
use crate::respond::HandlerResult;

/// The name of these requests in error messages.
const RANK: &str = "rank request";
/// The largest `top` of a step.
const TOP_MAX: i64 = 1_000;
/// The most rounds of a personal rank.
const ROUNDS_MAX: i64 = 5_000;

step_body! {
    /// A step of a neighbour rank.
    RankStepBody {
        #[serde(default = "default_top")]
        top: i64,
    }
}

const fn default_top() -> i64 {
    10
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NeighborRankBody<'a> {
    #[serde(default, borrow)]
    source: Option<IdJson<'a>>,
    #[serde(default, borrow)]
    steps: Option<Vec<RankStepBody<'a>>>,
    #[serde(default)]
    alpha: f64,
    #[serde(default = "default_capacity")]
    capacity: i64,
}

/// Ranks of the vertices that each step leads to.
pub(super) fn neighbour(context: &RequestContext) -> HandlerResult {
    let body: NeighborRankBody<'_> = context.json()?;
    let ground = Ground::of(context)?;
    let id = required(body.source, "source")?.id()?;
    let given = body.steps.filter(|steps| !steps.is_empty());
    let given = given
        .ok_or_else(|| ApiError::illegal_argument("The steps of rank request can't be empty"))?;
    let mut steps = Vec::new();
    for step in given {
        let top = step.top;
        if !(1..=TOP_MAX).contains(&top) {
            return Err(ApiError::illegal_argument(format!(
                "The top of each layer must be in (0, {TOP_MAX}], but got {top}"
            )));
        }
        steps.push(RankStep {
            step: step.step(ground.schema())?,
            top: usize::try_from(top).unwrap_or(usize::MAX),
        });
    }
    let alpha = alpha(body.alpha, RANK)?;
    let capacity = capacity(body.capacity)?;
    let mut search = ground.search();
    let source = existing(context, &mut search, &id, "source vertex")?;
    let layers = neighbour_rank(&mut search, source, &steps, alpha, capacity);
    let layers = layers.map_err(|error| refused(context, error))?;
    let mut answer = Answer::start(context, &ground);
    answer.json().key("ranks").begin_array();
    for layer in &layers {
        answer.json().begin_object();
        answer.score_members(&search, layer)?;
        answer.json().end_object();
    }
    answer.json().end_array();
    answer.bare()
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
enum WithLabelBody {
    #[serde(rename = "SAME_LABEL")]
    Same,
    #[serde(rename = "OTHER_LABEL")]
    Other,
    #[default]
    #[serde(rename = "BOTH_LABEL")]
    Both,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PersonalRankBody<'a> {
    #[serde(default, borrow)]
    source: Option<IdJson<'a>>,
    #[serde(default, borrow)]
    label: Option<Cow<'a, str>>,
    #[serde(default = "default_alpha")]
    alpha: f64,
    /// Accepted and ignored, as in HugeGraph.
    #[serde(default, rename = "max_diff")]
    _max_diff: f64,
    #[serde(default = "default_degree", alias = "degree")]
    max_degree: i64,
    #[serde(default = "default_ranks")]
    limit: i64,
    #[serde(default = "default_rounds")]
    max_depth: i64,
    #[serde(default)]
    with_label: WithLabelBody,
    #[serde(default = "yes")]
    sorted: bool,
}

const fn default_alpha() -> f64 {
    0.85
}

const fn default_degree() -> i64 {
    DEGREE
}

const fn default_ranks() -> i64 {
    100
}

const fn default_rounds() -> i64 {
    5
}

const fn yes() -> bool {
    true
}

/// Ranks of the vertices around a source, over edges between two labels.
pub(super) fn personal(context: &RequestContext) -> HandlerResult {
    let body: PersonalRankBody<'_> = context.json()?;
    let ground = Ground::of(context)?;
    let missing =
        |what: &str| ApiError::illegal_argument(format!("The {what} of {RANK} can't be null"));
    let id = body
        .source
        .ok_or_else(|| missing("source vertex id"))?
        .id()?;
    let label = body.label.filter(|label| !label.is_empty());
    let label = label.ok_or_else(|| missing("edge label"))?;
    let alpha = alpha(body.alpha, RANK)?;
    if !(2..=ROUNDS_MAX).contains(&body.max_depth) {
        return Err(ApiError::illegal_argument(format!(
            "The max depth of {RANK} must be in range (1, {ROUNDS_MAX}], but got '{}'",
            body.max_depth
        )));
    }
    let (max_degree, skip_degree) = degrees(body.max_degree, 0)?;
    let most = limit(body.limit)?;
    let mut search = ground.search();
    let source = existing(context, &mut search, &id, "source vertex")?;
    let (step, direction) = way_of(context, &search, source, &id, &label, ground.schema())?;
    let step = Step {
        max_degree,
        skip_degree,
        ..step
    };
    let ask = PersonalRank {
        direction,
        alpha,
        rounds: body.max_depth.unsigned_abs(),
        with_label: match body.with_label {
            WithLabelBody::Same => WithLabel::Same,
            WithLabelBody::Other => WithLabel::Other,
            WithLabelBody::Both => WithLabel::Both,
        },
        sorted: body.sorted,
        limit: usize::try_from(most).unwrap_or(usize::MAX),
    };
    let ranks = personal_rank(&mut search, source, &step, &ask);
    let ranks = ranks.map_err(|error| refused(context, error))?;
    let mut answer = Answer::start(context, &ground);
    answer.score_members(&search, &ranks)?;
    answer.bare()
}

/// The step over an edge label between two different vertex labels, and the direction in which its
/// edges leave the source.
fn way_of(
    context: &RequestContext,
    search: &Search<'_>,
    source: VertexNumber,
    id: &VertexId,
    label: &str,
    schema: &Schema,
) -> Result<(Step, Direction), ApiError> {
    let edges = schema.require_edge_label(label)?;
    let link = edges.link.filter(|(source, target)| source != target);
    let Some(link) = link else {
        return Err(ApiError::illegal_argument(
            "The edge label for personal rank must link different vertex labels",
        ));
    };
    let own = search
        .label(source)
        .map_err(|error| refused(context, error))?;
    let direction = match own {
        Some(own) if own == link.0 => Direction::Out,
        Some(own) if own == link.1 => Direction::In,
        _ => {
            return Err(ApiError::illegal_argument(format!(
                "The vertex '{id}' doesn't link with edge label '{label}'"
            )));
        }
    };
    let step = Step {
        labels: vec![edges.id],
        ..Step::default()
    };
    Ok((step, direction))
}

/// The default `skip_degree` of a step.
const COUNT_SKIP_DEGREE: i64 = 100_000;

step_body! {
    /// A step whose edges are counted.
    CountStep {}
}

impl CountStep<'_> {
    /// The step. Its properties must be the sort keys of its one label.
    fn counted(mut self, schema: &Schema) -> Result<Step, ApiError> {
        let members = self.properties.as_ref();
        let names = members.map_or_else(Vec::new, |properties| {
            properties
                .0
                .iter()
                .map(|(name, _)| name.to_string())
                .collect()
        });
        if !names.is_empty() {
            let labels = self.labels.as_deref().unwrap_or_default();
            let [label] = labels else {
                return Err(ApiError::illegal_argument(
                    "The properties filter condition can be set only if just set one edge label",
                ));
            };
            let mut keys = schema.require_edge_label(label)?.sort_keys.clone();
            let mut given = Vec::new();
            for name in &names {
                given.push(schema.require_property_key(name)?.id);
            }
            keys.sort_unstable();
            given.sort_unstable();
            if keys != given {
                return Err(ApiError::illegal_argument(format!(
                    "The properties [{}] does not match sort keys of edge label '{label}'",
                    names.join(", ")
                )));
            }
        }
        self.skip_degree.get_or_insert(COUNT_SKIP_DEGREE);
        self.step(schema)
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CountBody<'a> {
    #[serde(default, borrow)]
    source: Option<IdJson<'a>>,
    #[serde(default, borrow)]
    steps: Option<Vec<CountStep<'a>>>,
    #[serde(default)]
    contains_traversed: bool,
    #[serde(default = "default_dedup")]
    dedup_size: i64,
}

const fn default_dedup() -> i64 {
    1_000_000
}

/// The number of edges that the last step reaches.
pub(super) fn count(context: &RequestContext) -> HandlerResult {
    let body: CountBody<'_> = context.json()?;
    let ground = Ground::of(context)?;
    let id = required(body.source, "source")?.id()?;
    let given = body.steps.filter(|steps| !steps.is_empty());
    let given = given.ok_or_else(|| ApiError::illegal_argument("The steps can't be empty"))?;
    let steps = given.into_iter().map(|step| step.counted(ground.schema()));
    let steps: Vec<Step> = steps.collect::<Result<_, _>>()?;
    let remembered_max = match u64::try_from(body.dedup_size) {
        Ok(most) => Some(most),
        Err(_) if body.dedup_size == super::parameters::NO_LIMIT => None,
        Err(_) => {
            return Err(ApiError::illegal_argument(format!(
                "The dedup size parameter must be >= 0 or == -1, but got: {}",
                body.dedup_size
            )));
        }
    };
    let ask = Count {
        contains_traversed: body.contains_traversed,
        remembered_max,
    };
    let mut search = ground.search();
    let source = existing(context, &mut search, &id, "source vertex")?;
    let count = count::count(&mut search, source, &steps, &ask);
    let count = count.map_err(|error| refused(context, error))?;
    let mut answer = Answer::start(context, &ground);
    answer.json().key("count").unsigned(count);
    answer.bare()
}
