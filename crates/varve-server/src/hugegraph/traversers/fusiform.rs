//! `…/traversers/fusiformsimilarity`.

use std::borrow::Cow;

use serde::Deserialize;
use varve_traversal::fusiform::{Fusiform, Spindles, fusiform_similarity};
use varve_traversal::{Step, VertexNumber};

use super::answer::Answer;
use super::bodies::Way;
use super::parameters::{
    DEGREE, Ground, alpha, capacity, default_capacity, degrees, limit, refused, required, top,
};
use super::paths::default_paths;
use super::sources::VerticesBody;
use crate::errors::ApiError;
use crate::request::RequestContext;
use crate::respond::HandlerResult;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FusiformBody<'a> {
    #[serde(default, borrow)]
    sources: Option<VerticesBody<'a>>,
    #[serde(default, borrow)]
    label: Option<Cow<'a, str>>,
    #[serde(default)]
    direction: Way,
    #[serde(default)]
    min_neighbors: i64,
    #[serde(default)]
    alpha: f64,
    #[serde(default = "one")]
    min_similars: i64,
    #[serde(default)]
    top: i64,
    #[serde(default, borrow)]
    group_property: Option<Cow<'a, str>>,
    #[serde(default)]
    min_groups: i64,
    #[serde(default = "default_degree")]
    max_degree: i64,
    #[serde(default = "default_capacity")]
    capacity: i64,
    #[serde(default = "default_paths")]
    limit: i64,
    #[serde(default)]
    with_intermediary: bool,
    #[serde(default)]
    with_vertex: bool,
}

const fn one() -> i64 {
    1
}

const fn default_degree() -> i64 {
    DEGREE
}

impl FusiformBody<'_> {
    fn ask(&self, ground: &Ground) -> Result<Fusiform, ApiError> {
        let refuse = |message: String| Err(ApiError::illegal_argument(message));
        let (neighbours_min, similars_min) = (self.min_neighbors, self.min_similars);
        if neighbours_min <= 0 {
            return refuse(format!(
                "The min neighbor count must be > 0, but got: {neighbours_min}"
            ));
        }
        let alpha = alpha(self.alpha, "request")?;
        if similars_min < 1 {
            return refuse(format!(
                "The min similar count of request must be >= 1, but got: {similars_min}"
            ));
        }
        let top = top(self.top)?;
        let property = self
            .group_property
            .as_deref()
            .filter(|name| !name.is_empty());
        let groups = match (property, self.min_groups) {
            (None, 0) => None,
            (None, _) => {
                return refuse("Can't set min group count when group property not set".to_owned());
            }
            (Some(_), ..=0) => {
                return refuse("Must set min group count when group property set".to_owned());
            }
            (Some(name), least) => {
                let key = ground.schema().require_property_key(name)?.id;
                Some((key, least.unsigned_abs()))
            }
        };
        Ok(Fusiform {
            neighbours_min: neighbours_min.unsigned_abs(),
            alpha,
            similars_min: similars_min.unsigned_abs(),
            top,
            groups,
            capacity: capacity(self.capacity)?,
            limit: limit(self.limit)?,
        })
    }

    fn step(&self, ground: &Ground) -> Result<Step, ApiError> {
        let label = self.label.as_deref().filter(|name| !name.is_empty());
        let label = label.map(|name| {
            ground
                .schema()
                .require_edge_label(name)
                .map(|label| label.id)
        });
        let (max_degree, skip_degree) = degrees(self.max_degree, 0)?;
        Ok(Step {
            direction: self.direction.direction(),
            labels: label.transpose()?.into_iter().collect(),
            max_degree,
            skip_degree,
            ..Step::default()
        })
    }
}

/// The vertices that share neighbours with each source.
pub(super) fn similar(context: &RequestContext) -> HandlerResult {
    let mut body: FusiformBody<'_> = context.json()?;
    let ground = Ground::of(context)?;
    let sources = required(body.sources.take(), "sources")?;
    let (ask, step) = (body.ask(&ground)?, body.step(&ground)?);
    let mut search = ground.search();
    let sources = sources.numbers(context, &ground, &mut search)?;
    let found = fusiform_similarity(&mut search, &sources, &step, &ask);
    let found = found.map_err(|error| refused(context, error))?;
    let mut answer = Answer::start(context, &ground);
    answer.spindles("similars", &search, &found, body.with_intermediary)?;
    let vertices = vertices_of(&found, body.with_intermediary);
    answer.vertices(&search, &vertices, body.with_vertex)?;
    answer.measured(&search)
}

/// The vertices of an answer, each once.
fn vertices_of(found: &Spindles, with_intermediary: bool) -> Vec<VertexNumber> {
    let mut vertices = Vec::new();
    for (source, similar) in found {
        vertices.push(*source);
        for similar in similar {
            vertices.push(similar.vertex);
            if with_intermediary {
                vertices.extend(&similar.shared);
            }
        }
    }
    let mut seen = std::collections::HashSet::new();
    vertices.retain(|vertex| seen.insert(*vertex));
    vertices
}
