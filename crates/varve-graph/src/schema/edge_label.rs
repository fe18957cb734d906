//! Rules of edge labels.

use std::sync::Arc;

use varve_model::schema::{EdgeLabelType, Frequency, SchemaStatus};
use varve_model::{EdgeLabel, EdgeLabelId, PropertyKeyId, VertexLabelId};

use super::draft::{Draft, existing};
use super::kind::{SchemaElement, SchemaKind};
use super::label::{
    self, Before, Changeable, Fixed, key_list, key_set, refuse_change, same_members,
};
use super::mode::GraphMode;
use super::name::{bracketed, check_name, distinct, refuse_repeats};
use super::request::{Action, EdgeLabelChange, NewEdgeLabel};
use super::snapshot::Schema;
use super::user_data;
use crate::{ErrorKind, GraphError};

pub(super) fn create(
    draft: &mut Draft<'_>,
    new: NewEdgeLabel,
) -> Result<Arc<EdgeLabel>, GraphError> {
    draft.check_given_id(SchemaKind::EdgeLabel, new.id)?;
    refuse_repeats("sort keys", &new.sort_keys)?;
    let links = links(&new)?;
    // A dump may have a label without links, which an open graph created on first use.
    let links_any = draft.schema.is_open()
        && draft.mode == GraphMode::Restoring
        && new.label_type == EdgeLabelType::Normal
        && links.is_empty();
    let parent = parent(&draft.schema, &new)?;
    check_name(&new.name)?;
    let schema = &draft.schema;
    let found = schema.edge_label_by_name(&new.name);
    let same = |old: &EdgeLabel| is_same(schema, old, &new, &links);
    if let Some(old) = existing(found, new.check_exist, same)? {
        return Ok(old);
    }
    let id = draft.new_id::<EdgeLabel>(new.id, |schema, id| {
        schema.edge_label(EdgeLabelId(id)).is_some()
    })?;
    let schema = &draft.schema;
    let link = match links_any {
        true => None,
        false => check_link(schema, &new, &links)?,
    };
    let properties = key_set(schema, &new.properties)?;
    let sort_keys = match links_any && new.sort_keys.is_empty() {
        true => Vec::new(),
        false => check_sort_keys(schema, &new)?,
    };
    if let Some(parent) = parent {
        check_siblings(schema, parent, &sort_keys)?;
    }
    check_nullable(schema, &new)?;
    user_data::refuse_nulls(&new.user_data)?;
    let ttl = label::new_ttl(
        schema,
        SchemaKind::EdgeLabel,
        &new.name,
        &new.properties,
        new.ttl,
        new.ttl_start_time.as_deref(),
    )?;
    let retention = user_data::asked_retention(new.history.as_deref(), &new.user_data)?;
    let mut label = EdgeLabel {
        id: EdgeLabelId(id),
        label_type: new.label_type,
        parent,
        link,
        frequency: new.frequency.unwrap_or(Frequency::Single),
        sort_keys,
        properties,
        nullable_keys: key_set(schema, &new.nullable_keys)?,
        ttl: ttl.millis,
        ttl_start_time: ttl.start,
        enable_label_index: new.enable_label_index,
        retention: retention.unwrap_or_default(),
        status: SchemaStatus::Created,
        user_data: user_data::created(new.user_data, draft.now),
        name: new.name,
    };
    check_ttl(schema, &label)?;
    user_data::show_retention(&mut label.user_data, label.retention);
    Ok(draft.put(label))
}

fn check_nullable(schema: &Schema, new: &NewEdgeLabel) -> Result<(), GraphError> {
    let fixed = Fixed {
        kind: SchemaKind::EdgeLabel,
        label: &new.name,
        called: "sortKeys",
        keys: &new.sort_keys,
    };
    let before = Before::default();
    label::check_nullable(schema, before, &new.properties, &new.nullable_keys, fixed)
}

/// Returns the distinct pairs of label names that a request links. Half a pair is ignored.
fn links(new: &NewEdgeLabel) -> Result<Vec<(&str, &str)>, GraphError> {
    let mut links: Vec<(&str, &str)> = Vec::new();
    if let (Some(source), Some(target)) = (&new.source, &new.target) {
        links.push((source, target));
    }
    for (source, target) in &new.links {
        let link = (source.as_str(), target.as_str());
        if !links.contains(&link) {
            links.push(link);
        }
    }
    Ok(links)
}

/// Returns the parent of a SUB label. Refuses a label of another type that names a parent.
fn parent(schema: &Schema, new: &NewEdgeLabel) -> Result<Option<EdgeLabelId>, GraphError> {
    if new.label_type != EdgeLabelType::Sub {
        return match &new.parent {
            None => Ok(None),
            Some(parent) => Err(GraphError::invalid(format!(
                "Only an edge label of type SUB has a parent, but edge label '{}' of type {} names '{parent}'",
                new.name, new.label_type
            ))),
        };
    }
    let Some(parent) = &new.parent else {
        return Err(GraphError::invalid(
            "When creating a subtype edgeLabel, the edgeLabel name of the parent type edgeLabel must be entered",
        ));
    };
    let found = schema.edge_label_by_name(parent);
    let Some(found) = found.filter(|label| label.is_usable()) else {
        return Err(GraphError::not_found(format!(
            "Can't create subtype edge label '{}' since it's parent edge label doesn't exist",
            new.name
        )));
    };
    if found.label_type != EdgeLabelType::Parent {
        return Err(GraphError::invalid(format!(
            "Can't create subtype edge label '{}' since edge label '{parent}' is of type {}, not PARENT",
            new.name, found.label_type
        )));
    }
    Ok(Some(found.id))
}

fn check_link(
    schema: &Schema,
    new: &NewEdgeLabel,
    links: &[(&str, &str)],
) -> Result<Option<(VertexLabelId, VertexLabelId)>, GraphError> {
    if new.label_type == EdgeLabelType::Parent {
        return if links.is_empty() {
            Ok(None)
        } else {
            Err(GraphError::invalid(
                "The links of the parent edge label must be empty",
            ))
        };
    }
    let (source, target) = match links {
        [] => {
            return Err(GraphError::invalid(
                "The links of standard and subtype edge label can't be empty",
            ));
        }
        [link] => *link,
        _ => {
            return Err(GraphError::invalid(
                "The links size of standard and subtype edge label must be 1",
            ));
        }
    };
    let end = |which: &str, name: &str| {
        let label = schema.require_vertex_label(name).map(|label| label.id);
        label.map_err(|_| {
            GraphError::invalid(format!(
                "Undefined {which} vertex label '{name}' in edge label '{}'",
                new.name
            ))
        })
    };
    Ok(Some((end("source", source)?, end("target", target)?)))
}

fn check_sort_keys(schema: &Schema, new: &NewEdgeLabel) -> Result<Vec<PropertyKeyId>, GraphError> {
    let multiple = new.frequency == Some(Frequency::Multiple);
    if multiple && new.sort_keys.is_empty() {
        return Err(GraphError::invalid(
            "EdgeLabel must contain sortKeys when the cardinality property is multiple",
        ));
    }
    if !multiple && !new.sort_keys.is_empty() {
        return Err(GraphError::invalid(
            "EdgeLabel can't contain sortKeys when the cardinality property is single",
        ));
    }
    let properties = distinct(&new.properties);
    if !new.sort_keys.is_empty() && properties.is_empty() {
        return Err(GraphError::invalid(format!(
            "The properties can't be empty when exist sort keys for edge label '{}'",
            new.name
        )));
    }
    let missing = new
        .sort_keys
        .iter()
        .find(|key| !properties.contains(&key.as_str()));
    if let Some(key) = missing {
        return Err(GraphError::invalid(format!(
            "The sort key '{key}' must be contained in properties '{}' for edge label '{}'",
            bracketed(&properties),
            new.name
        )));
    }
    key_list(schema, &new.sort_keys)
}

/// Checks that all SUB labels of one parent have the same sort keys, so that their edges sort
/// together.
fn check_siblings(
    schema: &Schema,
    parent: EdgeLabelId,
    sort_keys: &[PropertyKeyId],
) -> Result<(), GraphError> {
    let Some(sibling) = schema.sub_labels(parent).next() else {
        return Ok(());
    };
    if sibling.sort_keys == sort_keys {
        return Ok(());
    }
    Err(GraphError::invalid(format!(
        "The sortKeys of each sub edgelabel need to be consistent. Currently, the sortKeys of already exist edgelabel are '{}', and the sortKeys of newly added sub edgelabel are '{}'",
        bracketed(&schema.property_key_names(&sibling.sort_keys)),
        bracketed(&schema.property_key_names(sort_keys))
    )))
}

/// Checks that the edges of a label cannot outlive the vertices that it links.
fn check_ttl(schema: &Schema, label: &EdgeLabel) -> Result<(), GraphError> {
    let ends = label
        .link
        .and_then(|(source, target)| schema.vertex_label(source).zip(schema.vertex_label(target)));
    let Some((source, target)) = ends else {
        return Ok(());
    };
    let fits = |limit: i64| limit == 0 || label.ttl <= limit;
    if fits(source.ttl) && fits(target.ttl) {
        return Ok(());
    }
    Err(GraphError::invalid(format!(
        "The ttl({}) of edge label '{}' should less than ttl({}) of source label '{}' and ttl({}) of target label '{}'",
        label.ttl, label.name, source.ttl, source.name, target.ttl, target.name
    )))
}

/// Checks every edge label that links a vertex label whose time to live has changed.
pub(super) fn check_ttl_at(schema: &Schema, changed: VertexLabelId) -> Result<(), GraphError> {
    let touches = |label: &&Arc<EdgeLabel>| {
        label
            .link
            .is_some_and(|(source, target)| source == changed || target == changed)
    };
    schema
        .all_edge_labels()
        .filter(touches)
        .try_for_each(|label| check_ttl(schema, label))
}

fn is_same(
    schema: &Schema,
    old: &EdgeLabel,
    new: &NewEdgeLabel,
    links: &[(&str, &str)],
) -> Result<bool, GraphError> {
    let linked = old.link.is_none_or(|(source, target)| {
        let names = (
            schema.vertex_label_name(source),
            schema.vertex_label_name(target),
        );
        links.contains(&names)
    });
    Ok(linked
        && old.label_type == new.label_type
        && old.frequency == new.frequency.unwrap_or(Frequency::Single)
        && old.enable_label_index == new.enable_label_index
        && same_members(&old.properties, &key_set(schema, &new.properties)?)
        && same_members(&old.sort_keys, &key_list(schema, &new.sort_keys)?)
        && same_members(&old.nullable_keys, &key_set(schema, &new.nullable_keys)?))
}

pub(super) fn change(
    draft: &mut Draft<'_>,
    action: Action,
    change: EdgeLabelChange,
) -> Result<Arc<EdgeLabel>, GraphError> {
    let name = &change.name;
    let found = draft.schema.edge_label_by_name(name);
    let mut label = found
        .map(|label| EdgeLabel::clone(label))
        .ok_or_else(|| SchemaKind::EdgeLabel.not_updatable(name))?;
    check_fixed(&change)?;
    let parts = Changeable {
        kind: SchemaKind::EdgeLabel,
        label: &label.name,
        called: "sortKeys",
        fixed: &label.sort_keys,
        properties: &mut label.properties,
        nullable_keys: &mut label.nullable_keys,
        ttl: &mut label.ttl,
        ttl_start_time: &mut label.ttl_start_time,
        retention: &mut label.retention,
        user_data: &mut label.user_data,
    };
    parts.apply(&draft.schema, action, change.label)?;
    check_ttl(&draft.schema, &label)?;
    Ok(draft.put(label))
}

fn check_fixed(change: &EdgeLabelChange) -> Result<(), GraphError> {
    let name = &change.name;
    let linked = !change.links.is_empty() || (change.source.is_some() && change.target.is_some());
    let must_be_null = [
        (linked, "source/target label"),
        (change.source.is_some(), "source label"),
        (change.target.is_some(), "target label"),
    ];
    if let Some((_, what)) = must_be_null.into_iter().find(|(given, _)| *given) {
        let message =
            format!("Not allowed to update {what} for edge label '{name}', it must be null");
        return Err(GraphError::new(ErrorKind::NotAllowed, message));
    }
    refuse_change::<EdgeLabel>(change.frequency.is_some(), "frequency", name)?;
    refuse_change::<EdgeLabel>(!change.sort_keys.is_empty(), "sort keys", name)?;
    let indexed = change.enable_label_index.is_some();
    refuse_change::<EdgeLabel>(indexed, "enable_label_index", name)
}
