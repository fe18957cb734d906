//! The steps of POST bodies.

use std::borrow::Cow;

use serde::Deserialize;
use varve_graph::element::{RawValue, vertex_id};
use varve_graph::schema::Schema;
use varve_model::schema::EdgeLabelType;
use varve_model::{Condition, Direction, EdgeLabelId, VertexId};
use varve_traversal::{EdgeFilter, Step, VertexFilter};

use super::parameters::{DEGREE, degrees};
use crate::errors::ApiError;
use crate::hugegraph::graph::{PropertiesJson, Raw, Reading, condition};

/// A direction in a body.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum Way {
    Out,
    In,
    #[default]
    Both,
}

impl Way {
    pub(super) const fn direction(self) -> Option<Direction> {
        match self {
            Self::Out => Some(Direction::Out),
            Self::In => Some(Direction::In),
            Self::Both => None,
        }
    }
}

/// A label and what the properties of its elements must satisfy.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LabelFilter<'a> {
    #[serde(default, borrow)]
    label: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    properties: Option<PropertiesJson<'a>>,
}

/// The `steps` of k-out and k-neighbor.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FilterSteps<'a> {
    #[serde(default)]
    direction: Way,
    #[serde(default = "degree", alias = "degree")]
    max_degree: i64,
    #[serde(default)]
    skip_degree: i64,
    #[serde(default, borrow)]
    edge_steps: Vec<LabelFilter<'a>>,
    #[serde(default, borrow)]
    vertex_steps: Vec<LabelFilter<'a>>,
}

const fn degree() -> i64 {
    DEGREE
}

impl FilterSteps<'_> {
    /// The step, its names looked up in the schema.
    pub(super) fn step(self, schema: &Schema) -> Result<Step, ApiError> {
        let (max_degree, skip_degree) = degrees(self.max_degree, self.skip_degree)?;
        let mut labels = Vec::new();
        let mut edges = Vec::new();
        for filter in self.edge_steps {
            let conditions = conditions(schema, filter.properties)?;
            match filter.label.filter(|name| !name.is_empty()) {
                Some(name) => {
                    let label = schema.require_edge_label(&name)?;
                    labels.push(label.id);
                    for id in with_sub_labels(schema, label.id) {
                        edges.push(EdgeFilter {
                            label: Some(id),
                            conditions: conditions.clone(),
                        });
                    }
                }
                None => edges.push(EdgeFilter {
                    label: None,
                    conditions,
                }),
            }
        }
        // A filter of any label: the others read nothing less.
        if edges.iter().any(|filter| filter.label.is_none()) {
            labels.clear();
        }
        let mut vertices = Vec::new();
        for filter in self.vertex_steps {
            let name = filter.label.filter(|name| !name.is_empty());
            let label = name.map(|name| schema.require_vertex_label(&name).map(|label| label.id));
            vertices.push(VertexFilter {
                label: label.transpose()?,
                conditions: conditions(schema, filter.properties)?,
            });
        }
        Ok(Step {
            direction: self.direction.direction(),
            labels,
            max_degree,
            skip_degree,
            edges,
            vertices,
            ..Step::default()
        })
    }
}

/// A label, and its sub labels if it is a parent.
fn with_sub_labels(schema: &Schema, label: EdgeLabelId) -> Vec<EdgeLabelId> {
    let is_parent = schema
        .edge_label(label)
        .is_some_and(|label| label.label_type == EdgeLabelType::Parent);
    let mut labels = vec![label];
    if is_parent {
        let subs = schema
            .all_edge_labels()
            .filter(|sub| sub.parent == Some(label));
        labels.extend(subs.map(|sub| sub.id));
    }
    labels
}

fn conditions(
    schema: &Schema,
    properties: Option<PropertiesJson<'_>>,
) -> Result<Vec<Condition>, ApiError> {
    let reading = Reading {
        keep_start_p: false,
        indexed: false,
    };
    let members = properties.map_or_else(Vec::new, |properties| properties.0);
    let each = members.into_iter();
    each.map(|(name, value)| condition(schema, &name, value, reading))
        .collect()
}

/// A vertex id in a body: a number, or a text.
#[derive(Debug, Deserialize)]
pub(super) struct IdJson<'a>(#[serde(borrow)] Raw<'a>);

impl IdJson<'_> {
    pub(super) fn id(&self) -> Result<VertexId, ApiError> {
        match &self.0.0 {
            // A UUID stands as `U"…"` in a text.
            RawValue::Text(text) if text.starts_with("U\"") => {
                crate::hugegraph::graph::parse_vertex_id(text)
            }
            raw => Ok(vertex_id(raw)?),
        }
    }
}
