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
use crate::wire::predicate::{Reading, condition_of_any};
use crate::wire::raw::{PropertiesJson, Raw};

/// A direction in a body.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum Way {
    Out,
    In,
    #[default]
    Both,
}

impl Way {
    pub(crate) const fn direction(self) -> Option<Direction> {
        match self {
            Self::Out => Some(Direction::Out),
            Self::In => Some(Direction::In),
            Self::Both => None,
        }
    }
}

/// A label, and the conditions on the properties of its elements.
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

pub(super) const fn degree() -> i64 {
    DEGREE
}

impl FilterSteps<'_> {
    /// The step, with its names resolved by the schema.
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
        // A filter without a label accepts edges of all labels, so all are read.
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

/// Reads the conditions on an element's properties: values, lists of alternative values, and
/// predicates.
pub(crate) fn conditions(
    schema: &Schema,
    properties: Option<PropertiesJson<'_>>,
) -> Result<Vec<Condition>, ApiError> {
    let reading = Reading {
        keep_start_p: false,
        indexed: false,
    };
    let members = properties.map_or_else(Vec::new, |properties| properties.0);
    let each = members.into_iter();
    each.map(|(name, value)| condition_of_any(schema, &name, value, reading))
        .collect()
}

/// The ids of edge labels.
pub(super) fn edge_labels(
    schema: &Schema,
    names: Option<Vec<Cow<'_, str>>>,
) -> Result<Vec<EdgeLabelId>, ApiError> {
    let names = names.unwrap_or_default().into_iter();
    names
        .map(|name| Ok(schema.require_edge_label(&name)?.id))
        .collect()
}

/// Declares a step of a body, with members in addition to those of all steps.
macro_rules! step_body {
    ($(#[$doc:meta])* $name:ident { $($(#[$attribute:meta])* $member:ident: $kind:ty,)* }) => {
        $(#[$doc])*
        #[derive(Debug, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(super) struct $name<'a> {
            #[serde(default)]
            pub(super) direction: $crate::hugegraph::traversers::bodies::Way,
            #[serde(default, borrow)]
            pub(super) labels: Option<Vec<std::borrow::Cow<'a, str>>>,
            #[serde(default, borrow)]
            pub(super) properties: Option<$crate::wire::raw::PropertiesJson<'a>>,
            #[serde(default = "crate::hugegraph::traversers::bodies::degree", alias = "degree")]
            pub(super) max_degree: i64,
            #[serde(default)]
            pub(super) skip_degree: Option<i64>,
            $($(#[$attribute])* pub(super) $member: $kind,)*
        }

        impl $name<'_> {
            /// The step, with its names resolved by the schema.
            pub(super) fn step(
                self,
                schema: &varve_graph::schema::Schema,
            ) -> Result<varve_traversal::Step, $crate::errors::ApiError> {
                $crate::hugegraph::traversers::bodies::PlainStep {
                    direction: self.direction,
                    labels: self.labels,
                    properties: self.properties,
                    max_degree: self.max_degree,
                    skip_degree: self.skip_degree.unwrap_or(0),
                }
                .step(schema)
            }
        }
    };
}
pub(super) use step_body;

step_body! {
    /// A step without members of its own.
    StepBody {}
}

/// The members of all steps.
pub(super) struct PlainStep<'a> {
    pub(super) direction: Way,
    pub(super) labels: Option<Vec<Cow<'a, str>>>,
    pub(super) properties: Option<PropertiesJson<'a>>,
    pub(super) max_degree: i64,
    pub(super) skip_degree: i64,
}

impl PlainStep<'_> {
    pub(super) fn step(self, schema: &Schema) -> Result<Step, ApiError> {
        let (max_degree, skip_degree) = degrees(self.max_degree, self.skip_degree)?;
        let conditions = conditions(schema, self.properties)?;
        let filter = (!conditions.is_empty()).then_some(EdgeFilter {
            label: None,
            conditions,
        });
        Ok(Step {
            direction: self.direction.direction(),
            labels: edge_labels(schema, self.labels)?,
            max_degree,
            skip_degree,
            edges: filter.into_iter().collect(),
            ..Step::default()
        })
    }
}

/// A vertex id in a body: a number, or a text.
#[derive(Debug, Deserialize)]
pub(super) struct IdJson<'a>(#[serde(borrow)] Raw<'a>);

impl IdJson<'_> {
    pub(super) fn id(&self) -> Result<VertexId, ApiError> {
        match &self.0.0 {
            // A UUID is written as `U"…"` in a text.
            RawValue::Text(text) if text.starts_with("U\"") => {
                crate::wire::ids::parse_vertex_id(text)
            }
            raw => Ok(vertex_id(raw)?),
        }
    }
}
