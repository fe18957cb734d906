//! Rules of vertex labels.

use std::sync::Arc;

use varve_model::schema::{IdStrategy, SchemaStatus};
use varve_model::{VertexLabel, VertexLabelId};

use super::draft::{Draft, existing};
use super::edge_label;
use super::kind::SchemaKind;
use super::label::{
    self, Before, Changeable, Fixed, key_list, key_set, refuse_change, same_members,
};
use super::name::{bracketed, check_name, distinct, refuse_repeats};
use super::request::{Action, NewVertexLabel, VertexLabelChange};
use super::snapshot::Schema;
use super::user_data;
use crate::GraphError;

pub(super) fn create(
    draft: &mut Draft<'_>,
    new: NewVertexLabel,
) -> Result<Arc<VertexLabel>, GraphError> {
    draft.check_given_id(SchemaKind::VertexLabel, new.id)?;
    refuse_repeats("primary keys", &new.primary_keys)?;
    check_name(&new.name)?;
    let schema = &draft.schema;
    let found = schema.vertex_label_by_name(&new.name);
    if let Some(old) = existing(found, new.check_exist, |old| is_same(schema, old, &new))? {
        return Ok(old);
    }
    let id = draft.new_id::<VertexLabel>(new.id, |schema, id| {
        schema.vertex_label(VertexLabelId(id)).is_some()
    })?;
    let schema = &draft.schema;
    let properties = key_set(schema, &new.properties)?;
    let id_strategy = check_id_strategy(&new)?;
    let fixed = Fixed {
        kind: SchemaKind::VertexLabel,
        label: &new.name,
        called: "primaryKeys",
        keys: &new.primary_keys,
    };
    let before = Before::default();
    label::check_nullable(schema, before, &new.properties, &new.nullable_keys, fixed)?;
    user_data::refuse_nulls(&new.user_data)?;
    let ttl = label::new_ttl(
        schema,
        SchemaKind::VertexLabel,
        &new.name,
        &new.properties,
        new.ttl,
        new.ttl_start_time.as_deref(),
    )?;
    let retention = user_data::asked_retention(new.history.as_deref(), &new.user_data)?;
    let mut label = VertexLabel {
        id: VertexLabelId(id),
        id_strategy,
        properties,
        primary_keys: key_list(schema, &new.primary_keys)?,
        nullable_keys: key_set(schema, &new.nullable_keys)?,
        ttl: ttl.millis,
        ttl_start_time: ttl.start,
        enable_label_index: new.enable_label_index,
        retention: retention.unwrap_or_default(),
        status: SchemaStatus::Created,
        user_data: user_data::created(new.user_data, draft.now),
        name: new.name,
    };
    user_data::show_retention(&mut label.user_data, label.retention);
    Ok(draft.put(label))
}

fn is_same(schema: &Schema, old: &VertexLabel, new: &NewVertexLabel) -> Result<bool, GraphError> {
    Ok(
        same_members(&old.properties, &key_set(schema, &new.properties)?)
            && same_members(&old.primary_keys, &key_list(schema, &new.primary_keys)?)
            && same_members(&old.nullable_keys, &key_set(schema, &new.nullable_keys)?)
            && old.enable_label_index == new.enable_label_index,
    )
}

/// Checks the id strategy and the primary keys. The default strategy depends on whether there are
/// primary keys.
fn check_id_strategy(new: &NewVertexLabel) -> Result<IdStrategy, GraphError> {
    let has_keys = !new.primary_keys.is_empty();
    let strategy = new.id_strategy.unwrap_or(if has_keys {
        IdStrategy::PrimaryKey
    } else {
        IdStrategy::Automatic
    });
    if strategy != IdStrategy::PrimaryKey {
        return if has_keys {
            Err(GraphError::invalid(format!(
                "Not allowed to assign primary keys when using '{strategy}' id strategy"
            )))
        } else {
            Ok(strategy)
        };
    }
    if !has_keys {
        return Err(GraphError::invalid(format!(
            "Must assign some primary keys when using '{strategy}' id strategy"
        )));
    }
    let properties = distinct(&new.properties);
    if properties.is_empty() {
        return Err(GraphError::invalid(format!(
            "The properties of vertex label '{}' can't be empty when id strategy is '{strategy}'",
            new.name
        )));
    }
    let missing = new
        .primary_keys
        .iter()
        .find(|key| !properties.contains(&key.as_str()));
    match missing {
        None => Ok(strategy),
        Some(key) => Err(GraphError::invalid(format!(
            "The primary key '{key}' of vertex label '{}' must be contained in properties: {}",
            new.name,
            bracketed(&properties)
        ))),
    }
}

pub(super) fn change(
    draft: &mut Draft<'_>,
    action: Action,
    change: VertexLabelChange,
) -> Result<Arc<VertexLabel>, GraphError> {
    let name = &change.name;
    let found = draft.schema.vertex_label_by_name(name);
    let mut label = found
        .map(|label| VertexLabel::clone(label))
        .ok_or_else(|| SchemaKind::VertexLabel.not_updatable(name))?;
    refuse_change::<VertexLabel>(!change.primary_keys.is_empty(), "primary keys", name)?;
    refuse_change::<VertexLabel>(change.id_strategy.is_some(), "id strategy", name)?;
    let indexed = change.enable_label_index.is_some();
    refuse_change::<VertexLabel>(indexed, "enable_label_index", name)?;
    let parts = Changeable {
        kind: SchemaKind::VertexLabel,
        label: &label.name,
        called: "primaryKeys",
        fixed: &label.primary_keys,
        properties: &mut label.properties,
        nullable_keys: &mut label.nullable_keys,
        ttl: &mut label.ttl,
        ttl_start_time: &mut label.ttl_start_time,
        retention: &mut label.retention,
        user_data: &mut label.user_data,
    };
    parts.apply(&draft.schema, action, change.label)?;
    let label = draft.put(label);
    edge_label::check_ttl_at(&draft.schema, label.id)?;
    Ok(label)
}
