//! Rules of index labels.

use std::sync::Arc;

use varve_model::schema::{AggregateType, IdStrategy, IndexBase, IndexType, SchemaStatus};
use varve_model::value::{Cardinality, DataType};
use varve_model::{IndexLabel, IndexLabelId, PropertyKey, PropertyKeyId};

use super::draft::{Draft, existing};
use super::kind::SchemaKind;
use super::label::key_list;
use super::name::{bracketed, check_name, refuse_repeats};
use super::request::{Action, BaseType, IndexLabelChange, NewIndexLabel, WithTask};
use super::snapshot::Schema;
use super::user_data;
use crate::tasks::{NewTask, TaskId, TaskType};
use crate::{ErrorKind, GraphError};

/// The label that a new index label is on.
struct Base<'a> {
    base: IndexBase,
    kind: SchemaKind,
    name: &'a str,
    properties: &'a [PropertyKeyId],
    /// The primary keys of the label; empty unless they make its ids.
    primary_keys: &'a [PropertyKeyId],
}

/// Creates an index label, removes those that it makes superfluous unless `keeps_others`, and adds
/// the task that indexes existing elements.
pub(super) fn create(
    draft: &mut Draft<'_>,
    new: NewIndexLabel,
    keeps_others: bool,
) -> Result<WithTask<IndexLabel>, GraphError> {
    draft.check_given_id(SchemaKind::IndexLabel, new.id)?;
    refuse_repeats("index fields", &new.fields)?;
    check_name(&new.name)?;
    let schema = &draft.schema;
    let mut definitions = schema.definitions().iter();
    if definitions.any(|definition| definition.of.name == new.name) {
        return Err(SchemaKind::IndexLabel.existed(&new.name));
    }
    let found = schema.index_label_by_name(&new.name);
    if let Some(element) = existing(found, new.check_exist, |old| is_same(schema, old, &new))? {
        let task = TaskId::NONE;
        return Ok(WithTask { element, task });
    }
    let id = draft.new_id::<IndexLabel>(new.id, |schema, id| {
        schema.index_label(IndexLabelId(id)).is_some()
    })?;
    let base = base(&draft.schema, &new)?;
    let fields = check_fields(&draft.schema, &base, &new)?;
    check_primary_keys(&draft.schema, &base, &new, &fields)?;
    check_repeated(&draft.schema, &base, &new, &fields)?;
    user_data::refuse_nulls(&new.user_data)?;
    let base = base.base;
    let superseded = match keeps_others {
        true => Vec::new(),
        false => superseded(&draft.schema, base, new.index_type, &fields),
    };
    let mut removals = Vec::with_capacity(superseded.len());
    for old in &superseded {
        draft.set_status(old, SchemaStatus::Deleting);
        removals.push(draft.add_task(about(TaskType::RemoveSchema, old))?);
    }
    let status = if new.rebuild {
        SchemaStatus::Creating
    } else {
        SchemaStatus::Created
    };
    let element = draft.put(IndexLabel {
        id: IndexLabelId(id),
        name: new.name,
        base,
        index_type: new.index_type,
        fields,
        buckets: 1,
        group: None,
        status,
        user_data: user_data::created(new.user_data, draft.now),
    });
    let task = if new.rebuild {
        let mut rebuild = about(TaskType::RebuildIndex, &element);
        rebuild.dependencies = removals;
        draft.add_task(rebuild)?
    } else {
        TaskId::NONE
    };
    Ok(WithTask { element, task })
}

/// A task about an index label.
pub(super) fn about(task_type: TaskType, index: &IndexLabel) -> NewTask {
    NewTask::about(task_type, SchemaKind::IndexLabel, index.id.0, &index.name)
}

fn base<'a>(schema: &'a Schema, new: &NewIndexLabel) -> Result<Base<'a>, GraphError> {
    Ok(match new.base_type {
        BaseType::VertexLabel => {
            let label = schema.require_vertex_label(&new.base)?;
            let keyed = label.id_strategy == IdStrategy::PrimaryKey;
            Base {
                base: IndexBase::Vertex(label.id),
                kind: SchemaKind::VertexLabel,
                name: &label.name,
                properties: &label.properties,
                primary_keys: if keyed { &label.primary_keys } else { &[] },
            }
        }
        BaseType::EdgeLabel => {
            let label = schema.require_edge_label(&new.base)?;
            Base {
                base: IndexBase::Edge(label.id),
                kind: SchemaKind::EdgeLabel,
                name: &label.name,
                properties: &label.properties,
                primary_keys: &[],
            }
        }
    })
}

fn is_same(schema: &Schema, old: &IndexLabel, new: &NewIndexLabel) -> Result<bool, GraphError> {
    let base = base(schema, new)?.base;
    let fields = key_list(schema, &new.fields)?;
    Ok(old.base == base
        && old.index_type == new.index_type
        && super::label::same_members(&old.fields, &fields))
}

/// Checks that the fields can have an index of this type, and resolves them.
fn check_fields(
    schema: &Schema,
    base: &Base<'_>,
    new: &NewIndexLabel,
) -> Result<Vec<PropertyKeyId>, GraphError> {
    if new.fields.is_empty() {
        return Err(GraphError::invalid(format!(
            "The 'index fields' of '{}' can't be empty",
            new.name
        )));
    }
    let mut keys = Vec::with_capacity(new.fields.len());
    for field in &new.fields {
        let key = schema.require_property_key(field).map_err(|_| {
            GraphError::invalid(format!(
                "Can't build index on undefined property key '{field}' for '{}': '{}'",
                base.kind.readable(),
                base.name
            ))
        })?;
        check_field(key, new)?;
        keys.push(Arc::clone(key));
    }
    check_olap(&keys, new)?;
    let fields: Vec<PropertyKeyId> = keys.iter().map(|key| key.id).collect();
    if !fields.iter().all(|id| base.properties.contains(id)) {
        return Err(GraphError::invalid(format!(
            "Not all index fields '{}' are contained in schema properties '{}'",
            bracketed(&new.fields),
            bracketed(&schema.property_key_names(base.properties))
        )));
    }
    match new.index_type {
        IndexType::Range => check_range(&keys)?,
        IndexType::Search => check_search(&keys)?,
        _ => {}
    }
    Ok(fields)
}

fn check_field(key: &PropertyKey, new: &NewIndexLabel) -> Result<(), GraphError> {
    let unindexable = matches!(
        key.aggregate_type,
        AggregateType::Sum | AggregateType::Set | AggregateType::List
    );
    if unindexable {
        return Err(GraphError::invalid(format!(
            "The aggregate type {} is not indexable",
            key.aggregate_type
        )));
    }
    if key.data_type == DataType::Object {
        return Err(GraphError::invalid(format!(
            "Not allowed to build index on property key '{}' whose data type is {}",
            key.name, key.data_type
        )));
    }
    if key.cardinality != Cardinality::Single && new.fields.len() > 1 {
        return Err(GraphError::invalid(format!(
            "Not allowed to build union index on property key '{}' whose cardinality is multiple",
            key.name
        )));
    }
    Ok(())
}

fn check_olap(keys: &[Arc<PropertyKey>], new: &NewIndexLabel) -> Result<(), GraphError> {
    let olap = keys.iter().filter(|key| key.write_type.is_olap()).count();
    if olap == 0 {
        return Ok(());
    }
    let (fields, name) = (bracketed(&new.fields), &new.name);
    let message = if olap > 1 {
        format!(
            "Can't build index on multiple olap properties, but got fields '{fields}' for index label '{name}'"
        )
    } else if keys.len() > 1 {
        format!(
            "Can't build index on olap properties and oltp properties in one index label, but got fields '{fields}' for index label '{name}'"
        )
    } else if !matches!(new.index_type, IndexType::Secondary | IndexType::Range) {
        format!(
            "Only secondary and range index can be built on olap property, but got index type '{}' on olap property key '{}' for index label '{name}'",
            new.index_type, new.fields[0]
        )
    } else {
        return Ok(());
    };
    Err(GraphError::invalid(message))
}

fn check_range(keys: &[Arc<PropertyKey>]) -> Result<(), GraphError> {
    let [key] = keys else {
        return Err(one_field("Range", keys));
    };
    if key.cardinality != Cardinality::Single {
        return Err(GraphError::invalid(format!(
            "Not allowed to build range index on property '{}' whose cardinality is multiple",
            key.name
        )));
    }
    if !key.data_type.is_rangeable() {
        return Err(GraphError::invalid(format!(
            "Range index can only build on numeric or date property, but got {}({})",
            key.data_type, key.name
        )));
    }
    Ok(())
}

fn check_search(keys: &[Arc<PropertyKey>]) -> Result<(), GraphError> {
    let [key] = keys else {
        return Err(one_field("Search", keys));
    };
    if key.data_type != DataType::Text {
        return Err(GraphError::invalid(format!(
            "Search index can only build on text property, but got {}({})",
            key.data_type, key.name
        )));
    }
    Ok(())
}

fn one_field(which: &str, keys: &[Arc<PropertyKey>]) -> GraphError {
    let names: Vec<&str> = keys.iter().map(|key| key.name.as_str()).collect();
    GraphError::invalid(format!(
        "{which} index can only build on one field, but got {} fields: '{}'",
        keys.len(),
        bracketed(&names)
    ))
}

/// Refuses an index whose fields include every primary key: it would find at most one vertex, which
/// its id finds without an index.
fn check_primary_keys(
    schema: &Schema,
    base: &Base<'_>,
    new: &NewIndexLabel,
    fields: &[PropertyKeyId],
) -> Result<(), GraphError> {
    let concerned = match new.index_type {
        IndexType::Secondary | IndexType::Unique => true,
        IndexType::Shard => no_line(schema, fields),
        IndexType::Range | IndexType::Search => false,
    };
    let keys = base.primary_keys;
    if !concerned || keys.is_empty() || !keys.iter().all(|key| fields.contains(key)) {
        return Ok(());
    }
    Err(GraphError::invalid(format!(
        "No need to build index on properties {}, because they contains all primary keys {} for vertex label '{}'",
        bracketed(&new.fields),
        bracketed(&schema.property_key_names(keys)),
        base.name
    )))
}

/// Whether no field has a data type with an order, so that a range on the fields is meaningless.
fn no_line(schema: &Schema, fields: &[PropertyKeyId]) -> bool {
    fields.iter().all(|id| {
        schema
            .property_key(*id)
            .is_some_and(|key| !key.data_type.is_rangeable())
    })
}

/// Refuses an index label if an existing one already serves the same conditions.
fn check_repeated(
    schema: &Schema,
    base: &Base<'_>,
    new: &NewIndexLabel,
    fields: &[PropertyKeyId],
) -> Result<(), GraphError> {
    use IndexType::{Range, Search, Secondary, Shard, Unique};
    let serving: &[IndexType] = match new.index_type {
        Range => &[Range],
        Search => &[Search],
        Secondary => &[Range, Secondary, Shard],
        Shard if no_line(schema, fields) => &[Secondary, Shard],
        Shard if fields.len() == 1 => &[Range, Shard],
        Shard => &[Shard],
        Unique => &[Unique],
    };
    let repeats = |old: &&Arc<IndexLabel>| {
        let covered = if new.index_type == Unique {
            old.fields.iter().all(|id| fields.contains(id))
        } else {
            old.fields.starts_with(fields)
        };
        covered && serving.contains(&old.index_type) && old.status != SchemaStatus::Deleting
    };
    let Some(old) = schema.indexes_on(base.base).iter().find(repeats) else {
        return Ok(());
    };
    Err(GraphError::invalid(format!(
        "Repeated new index label {}({}) with fields {} due to existed index label {}({}) with fields {}",
        new.name,
        exact_name(schema, new.index_type, fields),
        bracketed(&new.fields),
        old.name,
        exact_name(schema, old.index_type, &old.fields),
        bracketed(&old.fields)
    )))
}

/// Returns the name of an index type in messages: range indexes are distinguished by the width of
/// their values.
fn exact_name(schema: &Schema, index_type: IndexType, fields: &[PropertyKeyId]) -> &'static str {
    let data_type = fields
        .first()
        .and_then(|id| schema.property_key(*id))
        .map(|key| key.data_type);
    match (index_type, data_type) {
        (IndexType::Range, Some(DataType::Byte | DataType::Int)) => "RANGE_INT",
        (IndexType::Range, Some(DataType::Float)) => "RANGE_FLOAT",
        (IndexType::Range, Some(DataType::Double)) => "RANGE_DOUBLE",
        (IndexType::Range, Some(_)) => "RANGE_LONG",
        _ => index_type.name(),
    }
}

/// Returns the index labels that a new one makes superfluous: those of the same or a weaker type on
/// a prefix of its fields; for UNIQUE, those whose fields include all of its own.
fn superseded(
    schema: &Schema,
    base: IndexBase,
    new: IndexType,
    fields: &[PropertyKeyId],
) -> Vec<Arc<IndexLabel>> {
    use IndexType::{Range, Secondary, Shard, Unique};
    let is_weaker = |old: &IndexLabel| {
        old.index_type == new
            || match (new, old.index_type) {
                (Shard, Secondary) | (Range, Secondary | Shard) => true,
                (Secondary, Shard) => no_line(schema, &old.fields),
                _ => false,
            }
    };
    let is_covered = |old: &IndexLabel| {
        if new == Unique {
            fields.iter().all(|id| old.fields.contains(id))
        } else {
            fields.starts_with(&old.fields)
        }
    };
    let gone = |old: &&Arc<IndexLabel>| {
        old.status != SchemaStatus::Deleting
            && is_weaker(old)
            && is_covered(old)
            && schema.definition_of(old.id).is_none()
    };
    schema
        .indexes_on(base)
        .iter()
        .filter(gone)
        .cloned()
        .collect()
}

pub(super) fn change(
    draft: &mut Draft<'_>,
    action: Action,
    change: IndexLabelChange,
) -> Result<Arc<IndexLabel>, GraphError> {
    let name = &change.name;
    let found = draft.schema.index_label_by_name(name);
    let mut index = found
        .map(|index| IndexLabel::clone(index))
        .ok_or_else(|| SchemaKind::IndexLabel.not_updatable(name))?;
    if !change.fields.is_empty() {
        let message = format!("Not allowed to update index fields for index label '{name}'");
        return Err(GraphError::new(ErrorKind::NotAllowed, message));
    }
    match action {
        Action::Append => {
            user_data::refuse_nulls(&change.user_data)?;
            user_data::append(&mut index.user_data, change.user_data);
        }
        Action::Eliminate => user_data::eliminate(&mut index.user_data, &change.user_data),
    }
    Ok(draft.put(index))
}
