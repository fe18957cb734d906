//! Makes the parts of a plan from a query, or refuses a query that would have to scan a whole
//! label.
//!
//! The first access path that applies is used: ids (if all primary keys are given), the edges of a
//! vertex, an index. Conditions that it does not cover are checked on each element. A query with
//! neither a label nor conditions reads the whole table. Every other query without an access path
//! is refused with HugeGraph's message.

use std::sync::Arc;

use varve_encoding::key;
use varve_kv::ClusteringRange;
use varve_model::schema::{EdgeLabelType, IdStrategy, IndexBase};
use varve_model::{
    Condition, Direction, EdgeLabel, IndexLabel, Predicate, Value, VertexId, VertexLabel, sortable,
};

use super::alternatives::{Usable, is_collection, usable};
use super::plan::{Alternative, ElementLabel, Leg, Parts, Source};
use super::sort_keys;
use super::{EdgeQuery, VertexQuery};
use crate::schema::Schema;
use crate::{ErrorKind, GraphError};

/// The most ids that a product of `within` lists on primary keys may give; beyond it an index is
/// used.
const PRIMARY_KEY_IDS_MAX: usize = 10_000;

/// Returns the parts of a vertex query's plan.
pub(super) fn vertices(schema: &Schema, query: &VertexQuery) -> Result<Parts, GraphError> {
    let conditions = &query.conditions;
    refuse_hidden(schema, conditions)?;
    let Some(id) = query.label else {
        if conditions.is_empty() {
            return Ok(vec![Alternative::only(vec![Leg::of(Source::All)])]);
        }
        let labels = schema
            .all_vertex_labels()
            .map(|label| (IndexBase::Vertex(label.id), ElementLabel::Vertex(label.id)));
        return any_label(schema, labels, conditions);
    };
    let label = schema
        .vertex_label(id)
        .ok_or_else(|| GraphError::invalid(format!("Undefined vertex label: '{id}'")))?;
    if let Some(ids) = primary_key_ids(label, conditions) {
        let leg = Leg {
            label: Some(ElementLabel::Vertex(id)),
            ..Leg::of(Source::Vertices(ids))
        };
        return Ok(vec![Alternative::only(vec![leg])]);
    }
    if conditions.is_empty() {
        return Ok(vec![Alternative::only(vec![vertex_label_listing(label)?])]);
    }
    let found = usable(
        schema,
        IndexBase::Vertex(id),
        ElementLabel::Vertex(id),
        conditions,
    );
    let part = alternatives_or_refuse(
        schema,
        found,
        &format!("label '{}'", label.name),
        true,
        conditions,
    )?;
    Ok(vec![part])
}

/// Refuses conditions on properties that the graph's read mode hides.
pub(super) fn refuse_hidden(schema: &Schema, conditions: &[Condition]) -> Result<(), GraphError> {
    let mut keys = conditions.iter().map(|condition| condition.key);
    let Some(key) = keys.find(|key| schema.hides(*key)) else {
        return Ok(());
    };
    let message = format!(
        "Not allowed to query by olap property key '{}(id={key})' when graph-read-mode is '{}'",
        schema.property_key_name(key),
        schema.read_mode()
    );
    Err(GraphError::new(ErrorKind::NotAllowed, message))
}

/// Returns the leg that lists all vertices of a label.
pub(super) fn vertex_label_listing(label: &VertexLabel) -> Result<Leg, GraphError> {
    use varve_encoding::index::{IndexId, partition};
    if !label.enable_label_index {
        return Err(label_index_disabled(&label.name, label.id.0));
    }
    let entries = super::plan::Entries {
        partitions: vec![partition(IndexId::VertexLabel(label.id), 0, &[])],
        range: ClusteringRange::all(),
        values: 0,
        reverse: false,
        check: None,
    };
    Ok(Leg {
        label: Some(ElementLabel::Vertex(label.id)),
        ..Leg::of(Source::Entries(entries))
    })
}

fn label_index_disabled(name: &str, id: u32) -> GraphError {
    let message = format!("Don't accept query by label '{name}(id={id})', label index is disabled");
    GraphError::new(ErrorKind::NoIndex, message)
}

/// Returns the ids of the vertices, if the conditions give values for all primary keys.
pub(super) fn primary_key_ids(
    label: &VertexLabel,
    conditions: &[Condition],
) -> Option<Vec<VertexId>> {
    if label.id_strategy != IdStrategy::PrimaryKey {
        return None;
    }
    let mut tuples: Vec<Vec<Value>> = vec![Vec::new()];
    for primary_key in &label.primary_keys {
        let asked = conditions
            .iter()
            .filter(|condition| condition.key == *primary_key)
            .find_map(|condition| match &condition.predicate {
                Predicate::Eq(value) => Some(std::slice::from_ref(value)),
                Predicate::Within(values) => Some(values.as_slice()),
                _ => None,
            })?;
        let values: Vec<Value> = asked.iter().flat_map(Value::equal_forms).collect();
        if tuples.len().saturating_mul(values.len()) > PRIMARY_KEY_IDS_MAX {
            return None;
        }
        let extend = |tuple: &Vec<Value>, value: &Value| {
            [tuple.as_slice(), std::slice::from_ref(value)].concat()
        };
        tuples = tuples
            .iter()
            .flat_map(|tuple| values.iter().map(move |value| extend(tuple, value)))
            .collect();
    }
    let mut ids: Vec<VertexId> = Vec::with_capacity(tuples.len());
    for tuple in &tuples {
        let id = sortable::primary_key_id(label.id, &sortable::join_key_values(tuple));
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Some(ids)
}

/// Returns the parts of an edge query's plan.
pub(super) fn edges(schema: &Schema, query: &EdgeQuery) -> Result<Parts, GraphError> {
    let conditions = &query.conditions;
    let labels: Vec<&Arc<EdgeLabel>> = query
        .labels
        .iter()
        .map(|id| {
            schema
                .edge_label(*id)
                .ok_or_else(|| GraphError::invalid(format!("Undefined edge label: '{id}'")))
        })
        .collect::<Result<_, _>>()?;
    if let Some((owner, direction)) = &query.vertex {
        let ranges = adjacency_ranges(schema, &labels, *direction, conditions);
        let legs = ranges
            .into_iter()
            .filter(|range| !range.is_empty())
            .map(|range| {
                Leg::of(Source::Adjacent {
                    owner: owner.clone(),
                    range,
                })
            });
        return Ok(vec![Alternative::only(legs.collect())]);
    }
    if labels.is_empty() {
        if conditions.is_empty() {
            return Ok(vec![Alternative::only(vec![Leg::of(Source::All)])]);
        }
        let labels = schema
            .all_edge_labels()
            .map(|label| (IndexBase::Edge(label.id), ElementLabel::Edge(label.id)));
        return any_label(schema, labels, conditions);
    }
    let mut parts = Parts::new();
    let mut seen = Vec::new();
    for label in labels
        .iter()
        .flat_map(|label| with_sub_labels(schema, label, conditions))
    {
        if seen.contains(&label.id) {
            continue;
        }
        seen.push(label.id);
        if conditions.is_empty() {
            parts.push(Alternative::only(vec![edge_label_listing(label)?]));
            continue;
        }
        parts.extend(of_edge_label(schema, label, conditions)?);
    }
    if parts.is_empty() && !conditions.is_empty() {
        let name = labels.first().map_or("", |label| label.name.as_str());
        return Err(no_index(
            schema,
            &format!("label '{name}'"),
            true,
            conditions,
        ));
    }
    Ok(parts)
}

/// Returns the part of an edge query's plan for one label; `None` if no edge of the label can
/// satisfy the conditions.
fn of_edge_label(
    schema: &Schema,
    label: &EdgeLabel,
    conditions: &[Condition],
) -> Result<Option<Vec<Alternative>>, GraphError> {
    // An edge of a label without the property satisfies no condition on it.
    let knows = |condition: &Condition| label.properties.contains(&condition.key);
    if !conditions.iter().all(knows) && label.label_type != EdgeLabelType::Normal {
        return Ok(None);
    }
    let found = usable(
        schema,
        IndexBase::Edge(label.id),
        ElementLabel::Edge(label.id),
        conditions,
    );
    let of = format!("label '{}'", label.name);
    alternatives_or_refuse(schema, found, &of, true, conditions).map(Some)
}

/// Returns the label and, for a PARENT label, its SUB labels. Removed SUB labels are included only
/// without conditions: their edges exist in the past, but they have no index.
pub(super) fn with_sub_labels<'a>(
    schema: &'a Schema,
    label: &'a Arc<EdgeLabel>,
    conditions: &[Condition],
) -> Vec<&'a Arc<EdgeLabel>> {
    let mut labels = vec![label];
    if label.label_type == EdgeLabelType::Parent {
        if conditions.is_empty() {
            labels.extend(schema.sub_labels_ever(label.id));
        } else {
            labels.extend(schema.sub_labels(label.id));
        }
    }
    labels
}

/// Returns the leg that lists all edges of a label, without those of its SUB labels.
pub(super) fn edge_label_listing(label: &EdgeLabel) -> Result<Leg, GraphError> {
    if !label.enable_label_index {
        return Err(label_index_disabled(&label.name, label.id.0));
    }
    let parent = label.parent.unwrap_or(label.id);
    Ok(Leg::of(Source::EdgesOfLabel {
        parent,
        label: label.id,
    }))
}

/// Ranges of a vertex's edges: OUT before IN, labels in the order of the query.
fn adjacency_ranges(
    schema: &Schema,
    labels: &[&Arc<EdgeLabel>],
    direction: Option<Direction>,
    conditions: &[Condition],
) -> Vec<ClusteringRange> {
    let directions = match direction {
        Some(direction) => vec![direction],
        None => vec![Direction::Out, Direction::In],
    };
    let mut ranges: Vec<ClusteringRange> = Vec::new();
    for direction in directions {
        if labels.is_empty() {
            ranges.push(ClusteringRange::prefix(&key::direction_prefix(direction)));
        }
        for label in labels {
            let of_label = match label.label_type {
                EdgeLabelType::Parent => {
                    vec![ClusteringRange::prefix(&key::edge_label_prefix(
                        direction, label.id, None,
                    ))]
                }
                EdgeLabelType::Normal | EdgeLabelType::Sub => {
                    sort_keys::ranges(schema, label, direction, conditions)
                }
            };
            let new = of_label
                .into_iter()
                .filter(|range| !ranges.contains(range))
                .collect::<Vec<_>>();
            ranges.extend(new);
        }
    }
    ranges
}

/// Serves a query without a label from the labels that have an index for the conditions. Other
/// labels are left out, as in HugeGraph.
fn any_label(
    schema: &Schema,
    labels: impl Iterator<Item = (IndexBase, ElementLabel)>,
    conditions: &[Condition],
) -> Result<Parts, GraphError> {
    let mut parts = Parts::new();
    let mut incomplete = None;
    for (base, label) in labels {
        let found = usable(schema, base, label, conditions);
        if found.alternatives.is_empty() {
            incomplete = incomplete.or(found.incomplete);
        } else {
            parts.push(found.alternatives);
        }
    }
    // An index of an open graph is one of several that belong together.
    if let (true, Some(index)) = (parts.is_empty() || schema.is_open(), incomplete) {
        return Err(not_complete(&index));
    }
    if parts.is_empty() {
        return Err(no_index(schema, "any label", false, conditions));
    }
    Ok(parts)
}

fn alternatives_or_refuse(
    schema: &Schema,
    found: Usable,
    place: &str,
    with_label: bool,
    conditions: &[Condition],
) -> Result<Vec<Alternative>, GraphError> {
    if !found.alternatives.is_empty() {
        return Ok(found.alternatives);
    }
    match found.incomplete {
        Some(index) => Err(not_complete(&index)),
        None => Err(no_index(schema, place, with_label, conditions)),
    }
}

fn not_complete(index: &IndexLabel) -> GraphError {
    let (name, id) = (&index.name, index.id);
    let status = format!("{:?}", index.status).to_uppercase();
    GraphError::invalid(format!(
        "Can't query by label index '{name}(id={id})' due to it's in status {status}(CREATED expected)"
    ))
}

/// HugeGraph's error. It counts the label itself as one condition for a secondary index.
fn no_index(
    schema: &Schema,
    place: &str,
    with_label: bool,
    conditions: &[Condition],
) -> GraphError {
    if let Some(refusal) = equality_on_collection(schema, conditions) {
        return refusal;
    }
    let mut names: Vec<&str> = Vec::new();
    let (mut secondary, mut range, mut search, mut not_equal) = (with_label, false, false, false);
    for condition in conditions {
        let name = schema.property_key_name(condition.key);
        if !names.contains(&name) {
            names.push(name);
        }
        match &condition.predicate {
            Predicate::Eq(_) | Predicate::Within(_) | Predicate::Contains(_) => secondary = true,
            Predicate::Neq(_) => not_equal = true,
            Predicate::TextContains(_) => search = true,
            Predicate::Lt(_)
            | Predicate::Lte(_)
            | Predicate::Gt(_)
            | Predicate::Gte(_)
            | Predicate::Between(..)
            | Predicate::Inside(..)
            | Predicate::Outside(..)
            | Predicate::Near(_) => range = true,
        }
    }
    let kinds = [
        (secondary, "secondary"),
        (range, "range"),
        (search, "search"),
        (not_equal, "not-equal"),
    ];
    let kinds: Vec<&str> = kinds
        .iter()
        .filter(|(asked, _)| *asked)
        .map(|(_, kind)| *kind)
        .collect();
    let message = format!(
        "Don't accept query based on properties [{}] that are not indexed in {place}, may not match {} condition",
        names.join(", "),
        kinds.join("/")
    );
    GraphError::new(ErrorKind::NoIndex, message)
}

/// Returns HugeGraph's error for equality with a whole collection that has an index: an index on a
/// collection has its members.
fn equality_on_collection(schema: &Schema, conditions: &[Condition]) -> Option<GraphError> {
    let condition = conditions.iter().find(|condition| {
        let equality = matches!(condition.predicate, Predicate::Eq(_) | Predicate::Within(_));
        equality
            && is_collection(schema, condition.key)
            && schema
                .all_index_labels()
                .any(|index| index.fields.first() == Some(&condition.key))
    })?;
    let name = schema.property_key_name(condition.key);
    let message =
        format!("The relation of property '{name}' must be CONTAINS or TEXT_CONTAINS, but got EQ");
    Some(GraphError::new(ErrorKind::IllegalState, message))
}
