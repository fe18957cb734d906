//! Rules of property keys.

use std::sync::Arc;

use varve_model::PropertyKey;
use varve_model::PropertyKeyId;
use varve_model::schema::{AggregateType, IndexBase, IndexType, SchemaStatus, WriteType};
use varve_model::value::{Cardinality, DataType};
use varve_model::{IndexLabel, IndexLabelId};

use super::draft::{Draft, existing};
use super::kind::{SchemaElement, SchemaKind};
use super::name::check_name;
use super::request::{Action, NewPropertyKey, PropertyKeyChange, WithTask};
use super::user_data;
use crate::tasks::{NewTask, TaskId, TaskType};
use crate::{ErrorKind, GraphError};

fn not_allowed(message: String) -> GraphError {
    GraphError::new(ErrorKind::NotAllowed, message)
}

/// Creates a property key. An OLAP key gets its hidden index label and a task.
pub(super) fn create(
    draft: &mut Draft<'_>,
    new: NewPropertyKey,
) -> Result<WithTask<PropertyKey>, GraphError> {
    draft.check_given_id(SchemaKind::PropertyKey, new.id)?;
    check_name(&new.name)?;
    let found = draft.schema.property_key_by_name(&new.name);
    if let Some(element) = existing(found, new.check_exist, |old| Ok(is_same(old, &new)))? {
        let task = TaskId::NONE;
        return Ok(WithTask { element, task });
    }
    let id = draft.new_id::<PropertyKey>(new.id, |schema, id| {
        schema.property_key(PropertyKeyId(id)).is_some()
    })?;
    user_data::refuse_nulls(&new.user_data)?;
    check_aggregate(&new)?;
    check_olap(&new)?;
    let element = draft.put(PropertyKey {
        id: PropertyKeyId(id),
        name: new.name,
        data_type: new.data_type,
        cardinality: new.cardinality,
        aggregate_type: new.aggregate_type,
        write_type: new.write_type,
        status: SchemaStatus::Created,
        user_data: user_data::created(new.user_data, draft.now),
    });
    super::default_value::default_value(&element)?;
    let task = if element.write_type.is_olap() {
        create_olap_index(draft, &element)?;
        draft.add_task(about(TaskType::CreateOlap, &element))?
    } else {
        TaskId::NONE
    };
    Ok(WithTask { element, task })
}

fn about(task_type: TaskType, key: &PropertyKey) -> NewTask {
    NewTask::about(task_type, SchemaKind::PropertyKey, key.id.0, &key.name)
}

fn is_same(old: &PropertyKey, new: &NewPropertyKey) -> bool {
    old.data_type == new.data_type
        && old.cardinality == new.cardinality
        && old.aggregate_type == new.aggregate_type
        && old.write_type == new.write_type
}

fn check_aggregate(new: &NewPropertyKey) -> Result<(), GraphError> {
    let aggregate = new.aggregate_type;
    let collects = matches!(aggregate, AggregateType::Set | AggregateType::List);
    let matches_cardinality = matches!(
        (aggregate, new.cardinality),
        (AggregateType::Set, Cardinality::Set) | (AggregateType::List, Cardinality::List)
    );
    if aggregate == AggregateType::None || matches_cardinality {
        return Ok(());
    }
    if new.cardinality != Cardinality::Single || collects {
        return Err(not_allowed(format!(
            "Not allowed to set aggregate type '{aggregate}' for property key '{}' with cardinality '{}'",
            new.name, new.cardinality
        )));
    }
    let fits = match aggregate {
        AggregateType::Sum => new.data_type.is_number(),
        AggregateType::Max | AggregateType::Min => new.data_type.is_rangeable(),
        _ => true,
    };
    if fits {
        return Ok(());
    }
    Err(not_allowed(format!(
        "Not allowed to set aggregate type '{aggregate}' for property key '{}' with data type '{}'",
        new.name, new.data_type
    )))
}

fn check_olap(new: &NewPropertyKey) -> Result<(), GraphError> {
    if !new.write_type.is_olap() {
        return Ok(());
    }
    if new.aggregate_type != AggregateType::None {
        return Err(not_allowed(format!(
            "Not allowed to set aggregate type '{}' for olap property key '{}'",
            new.aggregate_type, new.name
        )));
    }
    if new.write_type == WriteType::OlapRange && !new.data_type.is_rangeable() {
        return Err(not_allowed(format!(
            "Not allowed to set write type to OLAP_RANGE for property key '{}' with data type '{}'",
            new.name, new.data_type
        )));
    }
    Ok(())
}

/// Creates the hidden index label of an indexed OLAP property key.
fn create_olap_index(draft: &mut Draft<'_>, key: &PropertyKey) -> Result<(), GraphError> {
    let index_type = match key.write_type {
        WriteType::OlapSecondary => IndexType::Secondary,
        WriteType::OlapRange => IndexType::Range,
        WriteType::Oltp | WriteType::OlapCommon => return Ok(()),
    };
    // No dump names a hidden element.
    let id = draft.hidden_index_id()?;
    draft.put(IndexLabel {
        id: IndexLabelId(id),
        name: format!("*olap_by_{}", key.name),
        base: IndexBase::Olap,
        index_type,
        fields: vec![key.id],
        buckets: 1,
        group: None,
        status: SchemaStatus::Created,
        user_data: user_data::created(Vec::new(), draft.now),
    });
    Ok(())
}

pub(super) fn change(
    draft: &mut Draft<'_>,
    action: Action,
    change: PropertyKeyChange,
) -> Result<Arc<PropertyKey>, GraphError> {
    let name = &change.name;
    let found = draft.schema.property_key_by_name(name);
    let mut key = found
        .map(|key| PropertyKey::clone(key))
        .ok_or_else(|| SchemaKind::PropertyKey.not_updatable(name))?;
    if change
        .data_type
        .is_some_and(|given| given != DataType::Text)
    {
        return Err(not_allowed(format!(
            "Not allowed to update data type for property key '{name}'"
        )));
    }
    if change
        .cardinality
        .is_some_and(|given| given != Cardinality::Single)
    {
        return Err(not_allowed(format!(
            "Not allowed to update cardinality for property key '{name}'"
        )));
    }
    match action {
        Action::Append => {
            user_data::refuse_nulls(&change.user_data)?;
            user_data::append(&mut key.user_data, change.user_data);
            super::default_value::default_value(&key)?;
        }
        Action::Eliminate => user_data::eliminate(&mut key.user_data, &change.user_data),
    }
    Ok(draft.put(key))
}

/// Clears the values of an OLAP property key.
pub(super) fn clear(
    draft: &mut Draft<'_>,
    name: &str,
) -> Result<WithTask<PropertyKey>, GraphError> {
    let found = draft.schema.property_key_by_name(name).cloned();
    let element = found.ok_or_else(|| SchemaKind::PropertyKey.not_updatable(name))?;
    if !element.write_type.is_olap() {
        return Err(GraphError::invalid(format!(
            "Only olap property key can do action clear, but got '{}'",
            element.tagged()
        )));
    }
    let task = draft.add_task(about(TaskType::ClearOlap, &element))?;
    Ok(WithTask { element, task })
}

/// Removes a property key: at once, or by a task if it is an OLAP key.
pub(super) fn remove(draft: &mut Draft<'_>, name: &str) -> Result<TaskId, GraphError> {
    let found = draft.schema.property_key_by_name(name).cloned();
    let key = found.ok_or_else(|| SchemaKind::PropertyKey.not_found(name))?;
    check_unused(draft, &key)?;
    if key.write_type.is_olap() {
        return draft.add_task(about(TaskType::RemoveOlap, &key));
    }
    draft.set_status(&key, SchemaStatus::Removed);
    Ok(TaskId::NONE)
}

/// Refuses to remove a key that is in a label.
pub(super) fn check_unused(draft: &Draft<'_>, key: &PropertyKey) -> Result<(), GraphError> {
    let schema = &draft.schema;
    let vertex = schema
        .all_vertex_labels()
        .find(|label| label.properties.contains(&key.id))
        .map(|label| (SchemaKind::VertexLabel, label.name.clone()));
    let user = vertex.or_else(|| {
        schema
            .all_edge_labels()
            .find(|label| label.properties.contains(&key.id))
            .map(|label| (SchemaKind::EdgeLabel, label.name.clone()))
    });
    match user {
        None => Ok(()),
        Some((kind, user)) => Err(not_allowed(format!(
            "Not allowed to remove property key: '{}' because the {} '{user}' is still using it.",
            key.tagged(),
            kind.readable()
        ))),
    }
}

/// Completes the removal of an OLAP property key and of its hidden index label.
pub(super) fn finish_removal(draft: &mut Draft<'_>, id: PropertyKeyId) -> Result<(), GraphError> {
    let Some(key) = draft.schema.property_key(id).cloned() else {
        return Ok(());
    };
    if !key.is_visible() {
        return Ok(());
    }
    check_unused(draft, &key)?;
    let hidden: Vec<Arc<IndexLabel>> = draft
        .schema
        .indexes_on(IndexBase::Olap)
        .iter()
        .filter(|index| index.fields.contains(&id))
        .cloned()
        .collect();
    for index in hidden {
        draft.set_status(&index, SchemaStatus::Removed);
    }
    draft.set_status(&key, SchemaStatus::Removed);
    Ok(())
}
