//! What a plan needs at run time: paths, properties, labels.

use std::sync::Arc;

use indexmap::IndexMap;
use varve_model::{EdgeId, EdgeLabelId, PropertyKeyId};
use varve_view::SchemaView;

use super::context::Effect;
use super::row::Track;
use super::source::Wanted;
use crate::Value;
use crate::plan::write::Write;
use crate::plan::{
    By, ElementKind, End, Expanded, FormatPart, Fused, MapOf, Name, Op, Plan, Reduce,
};

/// The part of a traverser's path that the plan's rows must record.
pub(crate) fn track(plan: &Plan) -> Track {
    let mut track = Track::Nothing;
    plan.walk(&mut |op| {
        track = track.max(match op {
            Op::Path { .. } | Op::Tree { .. } | Op::SimplePath { .. } => Track::Path,
            Op::Scoped(_)
            | Op::Select { .. }
            | Op::SelectChild { .. }
            | Op::WhereLabels { .. }
            | Op::Math { .. }
            | Op::Format { .. }
            | Op::Bind { .. }
            | Op::Bound { .. }
            | Op::As(_) => Track::Labels,
            Op::Dedup { labels, .. } if !labels.is_empty() => Track::Labels,
            _ => Track::Nothing,
        });
    });
    let mut reaches = true;
    walked_edges(plan, false, &mut reaches);
    match reaches {
        true => track,
        false => Track::Path,
    }
}

/// Whether the results of a plan are edges that the last step to change the path has walked.
/// `walked`: whether its input is. `reaches` becomes false if `otherV` gets other edges: the vertex
/// that they were reached from is then known from the path only.
fn walked_edges(plan: &Plan, mut walked: bool, reaches: &mut bool) -> bool {
    for op in &plan.ops {
        if matches!(op, Op::EndVertex(End::Other)) {
            *reaches &= walked;
        }
        let within = walked
            && !matches!(
                op,
                Op::Select { .. }
                    | Op::SelectChild { .. }
                    | Op::Path { .. }
                    | Op::SimplePath { .. }
                    | Op::Tree { .. }
                    | Op::WhereLabels { .. }
                    | Op::ElementMap(_)
                    | Op::Repeat(_)
                    | Op::Call(_)
            );
        let children = op.children().into_iter();
        let ends: Vec<bool> = children
            .map(|child| walked_edges(child, within, reaches))
            .collect();
        walked = match op {
            Op::Expand { to, .. } | Op::Fused(Fused::Few { to, .. }) => *to == Expanded::Edges,
            Op::FlatMap { .. } | Op::Union(_) | Op::Coalesce(_) => ends.iter().all(|end| *end),
            Op::Optional(_) => walked && ends.iter().all(|end| *end),
            Op::IfThenElse { .. } => ends.iter().skip(1).all(|end| *end),
            Op::Write(write) => walked && matches!(write.as_ref(), Write::Set(_)),
            op => walked && op.passes_on(),
        };
    }
    walked
}

/// The keys of all properties that a step reads or the results contain, ascending.
pub(crate) fn projection(plan: &Plan, schema: &dyn SchemaView) -> Vec<PropertyKeyId> {
    let mut all = gives_elements(&plan.ops);
    let mut names: Vec<Name> = Vec::new();
    plan.walk(&mut |op| {
        match op {
            Op::Values(keys) | Op::Properties(keys) => {
                all |= keys.is_empty();
                names.extend(keys.iter().cloned());
            }
            Op::ElementMap(map) => {
                all |= map.keys.is_empty();
                names.extend(map.keys.iter().cloned());
            }
            Op::HasProperty { key, .. }
            | Op::HasPropertyChild { key, .. }
            | Op::HasKey(key)
            | Op::HasNot(key)
            | Op::Fused(
                Fused::Ordered { key, .. }
                | Fused::Column {
                    by: By::Key(key), ..
                },
            ) => names.push(key.clone()),
            Op::Format { parts, .. } => names.extend(parts.iter().filter_map(|part| match part {
                FormatPart::Variable(name) => Some(name.clone()),
                _ => None,
            })),
            _ => {}
        }
        for by in op.readers() {
            names.extend(by.key().cloned());
        }
    });
    if all {
        return schema.property_keys();
    }
    let ids = names
        .iter()
        .filter_map(|name| schema.property_key_named(name));
    let mut ids: Vec<PropertyKeyId> = ids.map(|key| key.id).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// Whether the results may be elements or contain elements.
fn gives_elements(ops: &[Op]) -> bool {
    for op in ops.iter().rev() {
        match op {
            Op::Is(_)
            | Op::Dedup { .. }
            | Op::Range { .. }
            | Op::Tail { .. }
            | Op::Order { .. }
            | Op::As(_)
            | Op::Profile { .. }
            | Op::Barrier => {}
            Op::Reduce {
                reduce: Reduce::Fold | Reduce::Min | Reduce::Max,
                ..
            } => {}
            Op::Reduce { .. }
            | Op::Values(_)
            | Op::Id
            | Op::Label
            | Op::Math { .. }
            | Op::Loops(_)
            | Op::Fused(
                Fused::Degrees { .. }
                | Fused::Elements { .. }
                | Fused::Column { .. }
                | Fused::Counts { .. }
                | Fused::NeighbourValues { .. },
            )
            | Op::Discard => return false,
            Op::ElementMap(map) if map.of != MapOf::Properties && map.by.is_none() => return false,
            Op::GroupCount {
                key: By::Key(_) | By::VisibleKey(..) | By::Token(_),
                into: None,
            } => return false,
            Op::GroupCount {
                key: By::Identity,
                into: None,
            } => {}
            _ => return true,
        }
    }
    true
}

/// Resolves the labels and ids of a source.
pub(crate) fn wanted(
    schema: &dyn SchemaView,
    kind: ElementKind,
    ids: &Option<Vec<Value>>,
    labels: &Option<Vec<Name>>,
) -> Wanted {
    match (ids, labels, kind) {
        (Some(ids), _, ElementKind::Vertex) => {
            Wanted::VertexIds(ids.iter().filter_map(Value::as_vertex_id).collect())
        }
        (Some(ids), _, ElementKind::Edge) => {
            let (own, given): (Vec<_>, Vec<_>) = ids
                .iter()
                .map(|id| (edge_id(id), id))
                .partition(|(id, _)| id.is_some());
            Wanted::EdgeIds {
                ids: own.into_iter().filter_map(|(id, _)| id).collect(),
                given: given
                    .into_iter()
                    .filter_map(|(_, id)| id.as_vertex_id())
                    .collect(),
            }
        }
        (None, None, kind) => Wanted::of_kind(kind),
        (None, Some(labels), ElementKind::Vertex) => {
            let found = labels
                .iter()
                .filter_map(|name| schema.vertex_label_named(name));
            let mut ids: Vec<_> = found.map(|label| label.id).collect();
            with_subtypes(&mut ids, |label| schema.vertex_subtypes(label));
            match ids.is_empty() {
                true => Wanted::None,
                false => Wanted::Vertices(ids),
            }
        }
        (None, Some(labels), ElementKind::Edge) => match edge_labels(schema, labels) {
            Some(ids) if !ids.is_empty() => Wanted::Edges(ids),
            _ => Wanted::None,
        },
    }
}

fn edge_id(value: &Value) -> Option<EdgeId> {
    match value {
        Value::Edge(edge, _) => Some(edge.id.clone()),
        Value::Text(text) => EdgeId::parse(text).ok(),
        _ => None,
    }
}

/// Adds the subtypes of labels.
fn with_subtypes<'s, L: Copy + Ord + 's>(labels: &mut Vec<L>, subtypes: impl Fn(L) -> &'s [L]) {
    let below: Vec<L> = labels
        .iter()
        .flat_map(|label| subtypes(*label))
        .copied()
        .collect();
    if !below.is_empty() {
        labels.extend(below);
        labels.sort_unstable();
        labels.dedup();
    }
}

/// The edge labels with these names, and their subtypes; `None` if names are given and the schema
/// has none of them.
pub(crate) fn edge_labels(schema: &dyn SchemaView, names: &[Name]) -> Option<Vec<EdgeLabelId>> {
    let found = names
        .iter()
        .filter_map(|name| schema.edge_label_named(name));
    let mut ids: Vec<EdgeLabelId> = found.map(|label| label.id).collect();
    with_subtypes(&mut ids, |label| schema.edge_subtypes(label));
    (names.is_empty() || !ids.is_empty()).then_some(ids)
}

/// The side effects of the steps, with empty values.
pub(crate) fn effects(plan: &Plan) -> IndexMap<Name, Effect> {
    let mut effects = IndexMap::new();
    plan.walk(&mut |op| {
        let (name, value) = match op {
            Op::Aggregate { into, .. } => (into, Value::list(Vec::new())),
            Op::Group {
                into: Some(into), ..
            }
            | Op::GroupCount {
                into: Some(into), ..
            } => (into, Value::map([])),
            Op::Tree {
                into: Some(into), ..
            } => (into, Value::Tree(Arc::default())),
            Op::Subgraph { into } => (into, Value::Graph(Arc::default())),
            _ => return,
        };
        let operator = None;
        effects.insert(name.clone(), Effect { value, operator });
    });
    effects
}
