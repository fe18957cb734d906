//! Turns the body of a schema request, from REST or from a script, into a call of the catalogue:
//! checks required members and sets defaults.

use std::sync::Arc;

use varve_graph::Graph;
use varve_graph::schema::{
    Action, BaseType, EdgeLabelChange, IndexLabelChange, LabelChange, NewEdgeLabel, NewIndexLabel,
    NewPropertyKey, NewVertexLabel, OwnedChanges, PropertyKeyChange, SchemaKind, UserData,
    VertexLabelChange, WithTask,
};
use varve_model::schema::{AggregateType, EdgeLabelType, WriteType};
use varve_model::value::{Cardinality, DataType};
use varve_model::{EdgeLabel, IndexLabel, PropertyKey, VertexLabel};

use super::messages::{
    EdgeLabelBody, IndexLabelBody, Links, Members, OrDefault, PropertyKeyBody, VertexLabelBody,
    Wire,
};
use crate::errors::ApiError;

/// The name in a body; 400 if it is missing.
pub(super) fn required_name(kind: SchemaKind, name: Option<String>) -> Result<String, ApiError> {
    let message = || format!("The name of {} can't be null", kind.readable());
    name.ok_or_else(|| ApiError::illegal_argument(message()))
}

fn wire<T>(value: Option<Wire<T>>, default: T) -> T {
    value.map_or(default, |Wire(value)| value)
}

fn defaulted<T>(value: Option<Wire<OrDefault<T>>>) -> Option<T> {
    value.and_then(|Wire(OrDefault(value))| value)
}

fn members(value: Option<Members>) -> UserData {
    value.map_or_else(Vec::new, |Members(members)| members)
}

/// An id as clients send it: 0 means none.
fn given_id(id: Option<i64>) -> Option<i64> {
    id.filter(|id| *id != 0)
}

pub(super) fn new_key(
    catalogue: &OwnedChanges<'_>,
    body: PropertyKeyBody,
) -> Result<WithTask<PropertyKey>, ApiError> {
    let name = required_name(SchemaKind::PropertyKey, body.name)?;
    if body.properties.is_some_and(|names| !names.is_empty()) {
        return Err(ApiError::illegal_argument(
            "Not allowed to pass properties when creating property key since it doesn't support meta properties currently",
        ));
    }
    Ok(catalogue.create_property_key(NewPropertyKey {
        id: given_id(body.id),
        name,
        data_type: wire(body.data_type, DataType::Text),
        cardinality: wire(body.cardinality, Cardinality::Single),
        aggregate_type: wire(body.aggregate_type, AggregateType::None),
        write_type: wire(body.write_type, WriteType::Oltp),
        user_data: members(body.user_data),
        check_exist: body.check_exist.unwrap_or(true),
    })?)
}

pub(super) fn change_key(
    graph: &Graph,
    action: Action,
    body: PropertyKeyBody,
) -> Result<Arc<PropertyKey>, ApiError> {
    let change = PropertyKeyChange {
        name: required_name(SchemaKind::PropertyKey, body.name)?,
        data_type: body.data_type.map(|Wire(value)| value),
        cardinality: body.cardinality.map(|Wire(value)| value),
        user_data: members(body.user_data),
    };
    Ok(graph.catalogue().change_property_key(action, change)?)
}

pub(super) fn new_vertex_label(
    graph: &Graph,
    body: VertexLabelBody,
) -> Result<Arc<VertexLabel>, ApiError> {
    Ok(graph.catalogue().create_vertex_label(NewVertexLabel {
        id: given_id(body.id),
        name: required_name(SchemaKind::VertexLabel, body.name)?,
        id_strategy: defaulted(body.id_strategy),
        properties: body.properties.unwrap_or_default(),
        primary_keys: body.primary_keys.unwrap_or_default(),
        nullable_keys: body.nullable_keys.unwrap_or_default(),
        ttl: body.ttl.unwrap_or_default(),
        ttl_start_time: body.ttl_start_time,
        enable_label_index: body.enable_label_index.unwrap_or(true),
        history: body.history,
        user_data: members(body.user_data),
        check_exist: body.check_exist.unwrap_or(true),
    })?)
}

pub(super) fn change_vertex_label(
    graph: &Graph,
    action: Action,
    body: VertexLabelBody,
) -> Result<Arc<VertexLabel>, ApiError> {
    let change = VertexLabelChange {
        name: required_name(SchemaKind::VertexLabel, body.name)?,
        id_strategy: defaulted(body.id_strategy),
        primary_keys: body.primary_keys.unwrap_or_default(),
        enable_label_index: body.enable_label_index,
        label: LabelChange {
            properties: body.properties.unwrap_or_default(),
            nullable_keys: body.nullable_keys.unwrap_or_default(),
            ttl: body.ttl.unwrap_or_default(),
            ttl_start_time: body.ttl_start_time,
            history: body.history,
            user_data: members(body.user_data),
        },
    };
    Ok(graph.catalogue().change_vertex_label(action, change)?)
}

pub(super) fn new_edge_label(
    graph: &Graph,
    body: EdgeLabelBody,
) -> Result<Arc<EdgeLabel>, ApiError> {
    Ok(graph.catalogue().create_edge_label(NewEdgeLabel {
        id: given_id(body.id),
        name: required_name(SchemaKind::EdgeLabel, body.name)?,
        label_type: wire(body.edgelabel_type, EdgeLabelType::Normal),
        parent: body.parent_label,
        source: body.source_label,
        target: body.target_label,
        links: body.links.map_or_else(Vec::new, |Links(links)| links),
        frequency: defaulted(body.frequency),
        sort_keys: body.sort_keys.unwrap_or_default(),
        properties: body.properties.unwrap_or_default(),
        nullable_keys: body.nullable_keys.unwrap_or_default(),
        ttl: body.ttl.unwrap_or_default(),
        ttl_start_time: body.ttl_start_time,
        enable_label_index: body.enable_label_index.unwrap_or(true),
        history: body.history,
        user_data: members(body.user_data),
        check_exist: body.check_exist.unwrap_or(true),
    })?)
}

pub(super) fn change_edge_label(
    graph: &Graph,
    action: Action,
    body: EdgeLabelBody,
) -> Result<Arc<EdgeLabel>, ApiError> {
    let change = EdgeLabelChange {
        name: required_name(SchemaKind::EdgeLabel, body.name)?,
        source: body.source_label,
        target: body.target_label,
        links: body.links.map_or_else(Vec::new, |Links(links)| links),
        frequency: defaulted(body.frequency),
        sort_keys: body.sort_keys.unwrap_or_default(),
        enable_label_index: body.enable_label_index,
        label: LabelChange {
            properties: body.properties.unwrap_or_default(),
            nullable_keys: body.nullable_keys.unwrap_or_default(),
            ttl: body.ttl.unwrap_or_default(),
            ttl_start_time: body.ttl_start_time,
            history: body.history,
            user_data: members(body.user_data),
        },
    };
    Ok(graph.catalogue().change_edge_label(action, change)?)
}

/// The base type and the base value of an index label; 400 if one is missing.
fn base(
    name: &str,
    base_type: Option<&str>,
    base_value: Option<String>,
) -> Result<(BaseType, String), ApiError> {
    let refuse = |what: &str| {
        ApiError::illegal_argument(format!("The {what} of index label '{name}' can't be null"))
    };
    let base_type = match base_type.ok_or_else(|| refuse("base type"))? {
        "VERTEX_LABEL" => BaseType::VertexLabel,
        "EDGE_LABEL" => BaseType::EdgeLabel,
        _ => {
            return Err(ApiError::illegal_argument(format!(
                "The base type of index label '{name}' can only be either VERTEX_LABEL or EDGE_LABEL"
            )));
        }
    };
    let base = base_value.ok_or_else(|| refuse("base value"))?;
    Ok((base_type, base))
}

pub(super) fn new_index_label(
    catalogue: &OwnedChanges<'_>,
    body: IndexLabelBody,
) -> Result<WithTask<IndexLabel>, ApiError> {
    let name = required_name(SchemaKind::IndexLabel, body.name)?;
    let (base_type, base) = base(&name, body.base_type.as_deref(), body.base_value)?;
    let Some(Wire(index_type)) = body.index_type else {
        return Err(ApiError::illegal_argument(format!(
            "The index type of index label '{name}' can't be null"
        )));
    };
    Ok(catalogue.create_index_label(NewIndexLabel {
        id: given_id(body.id),
        name,
        base_type,
        base,
        index_type,
        fields: body.fields.unwrap_or_default(),
        rebuild: body.rebuild.unwrap_or(true),
        user_data: members(body.user_data),
        check_exist: body.check_exist.unwrap_or(true),
    })?)
}

/// Returns 400 if a change names a base or an index type, which cannot change.
pub(super) fn check_index_change(body: &IndexLabelBody) -> Result<(), ApiError> {
    let name = required_name(SchemaKind::IndexLabel, body.name.clone())?;
    for (given, what) in [
        (body.base_type.is_some(), "base type"),
        (body.base_value.is_some(), "base value"),
        (body.index_type.is_some(), "index type"),
    ] {
        if given {
            return Err(ApiError::illegal_argument(format!(
                "The {what} of index label '{name}' must be null"
            )));
        }
    }
    Ok(())
}

pub(super) fn change_index_label(
    graph: &Graph,
    action: Action,
    body: IndexLabelBody,
) -> Result<Arc<IndexLabel>, ApiError> {
    check_index_change(&body)?;
    let change = IndexLabelChange {
        name: required_name(SchemaKind::IndexLabel, body.name)?,
        fields: body.fields.unwrap_or_default(),
        user_data: members(body.user_data),
    };
    Ok(graph.catalogue().change_index_label(action, change)?)
}
