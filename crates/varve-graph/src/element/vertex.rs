//! Conversion of a vertex as sent to a vertex.

use std::sync::Arc;

use varve_model::id::VERTEX_ID_BYTES_MAX;
use varve_model::schema::IdStrategy;
use varve_model::sortable::{self, JoinedKey};
use varve_model::value::Uuid;
use varve_model::{Properties, PropertyKeyId, Vertex, VertexId, VertexLabel, VertexLabelId};

use super::Rules;
use super::input::{DEFAULT_VERTEX_LABEL, RawValue, VertexInput};
use super::properties::{self, Resolved};
use super::text::bracketed;
use super::typed;
use crate::GraphError;

/// A vertex to be stored.
#[derive(Debug, Clone, PartialEq)]
pub struct NewVertex {
    /// The vertex.
    pub vertex: Vertex,
    /// Whether its id was just generated, so no row can have it.
    pub fresh: bool,
}

impl Rules<'_> {
    /// Converts `input` to a vertex that replaces a stored one with the same id as a whole.
    ///
    /// # Errors
    /// [`crate::ErrorKind::InvalidArgument`] when the schema does not allow it.
    pub fn vertex(&self, input: VertexInput<'_>) -> Result<NewVertex, GraphError> {
        let label = input.label.clone();
        let (vertex, fresh) = self.vertex_draft(input, Purpose::Create)?;
        let label = self.vertex_label(label.as_deref())?;
        self.check_storable(&vertex.properties)?;
        if self.mode.wants_complete_vertices() {
            properties::check_complete(self.schema, &**label, &vertex.properties)?;
        }
        Ok(NewVertex { vertex, fresh })
    }

    fn vertex_label(&self, name: Option<&str>) -> Result<&Arc<VertexLabel>, GraphError> {
        self.schema
            .require_vertex_label(name.unwrap_or(DEFAULT_VERTEX_LABEL))
    }

    /// Converts `input` to a vertex, and returns whether its id was just generated. Required
    /// properties may be missing.
    pub(super) fn vertex_draft(
        &self,
        input: VertexInput<'_>,
        purpose: Purpose,
    ) -> Result<(Vertex, bool), GraphError> {
        let id = input.id.filter(|id| !id.is_null());
        let shown: &dyn std::fmt::Display = match &id {
            Some(id) => id,
            None => &"null",
        };
        let properties = properties::present(input.properties, "vertex", shown)?;
        if purpose == Purpose::Update && input.label.is_none() {
            return Err(GraphError::invalid("Vertex label name can't be null"));
        }
        let label = self.vertex_label(input.label.as_deref())?;
        if purpose == Purpose::Update
            && label.id_strategy == IdStrategy::Automatic
            && !self.takes_any_id(label)
        {
            return Err(GraphError::invalid(
                "Automatic Id strategy is not supported now",
            ));
        }
        let properties = properties::resolve(self.schema, properties)?;
        self.check_id_form(label, id.as_ref(), &properties)?;
        let properties = self.accept(&**label, properties)?;
        let (id, fresh) = self.vertex_id(label, id, &properties)?;
        let vertex = Vertex {
            id,
            label: label.id,
            properties,
        };
        Ok((vertex, fresh))
    }

    /// Whether the ids of the label's vertices may have any type: in an open graph, except for
    /// labels with primary keys.
    fn takes_any_id(&self, label: &VertexLabel) -> bool {
        self.schema.is_open() && label.id_strategy != IdStrategy::PrimaryKey
    }

    /// Checks that the input has an id of the form that the label's id strategy requires, or none.
    fn check_id_form(
        &self,
        label: &VertexLabel,
        id: Option<&RawValue<'_>>,
        properties: &[Resolved<'_, '_>],
    ) -> Result<(), GraphError> {
        let strategy = strategy_name(label.id_strategy);
        let of_label = format_args!(
            "id when id strategy is '{strategy}' for vertex label '{}'",
            label.name
        );
        if self.takes_any_id(label) {
            return Ok(());
        }
        let is_number = matches!(id, Some(RawValue::Integer(_)));
        let is_text = matches!(id, Some(RawValue::Text(_)));
        let refused = match label.id_strategy {
            IdStrategy::Automatic if self.mode.wants_vertex_ids() && !is_number => {
                format!("Must customize vertex number {of_label} in restoring mode")
            }
            IdStrategy::Automatic if self.mode.wants_vertex_ids() => return Ok(()),
            IdStrategy::Automatic | IdStrategy::PrimaryKey if id.is_some() => {
                format!("Can't customize vertex {of_label}")
            }
            IdStrategy::PrimaryKey => {
                let sent = |key: &PropertyKeyId| properties.iter().any(|(k, _)| k.id == *key);
                if label.primary_keys.iter().all(sent) {
                    return Ok(());
                }
                format!(
                    "The primary keys: {} of vertex label '{}' must be set when using '{strategy}' id strategy",
                    bracketed(self.schema.property_key_names(&label.primary_keys)),
                    label.name
                )
            }
            IdStrategy::CustomizeString | IdStrategy::CustomizeUuid if !is_text => {
                format!("Must customize vertex string {of_label}")
            }
            IdStrategy::CustomizeNumber if !is_number => {
                format!("Must customize vertex number {of_label}")
            }
            _ => return Ok(()),
        };
        Err(GraphError::invalid(refused))
    }

    /// The id, and whether it was just generated.
    fn vertex_id(
        &self,
        label: &VertexLabel,
        id: Option<RawValue<'_>>,
        properties: &Properties,
    ) -> Result<(VertexId, bool), GraphError> {
        let id = match (label.id_strategy, id) {
            (IdStrategy::PrimaryKey, _) => primary_key_id(label, properties)?,
            (_, Some(id)) if self.takes_types() => typed::vertex_id(self.schema, id)?,
            (IdStrategy::CustomizeUuid, Some(RawValue::Text(text))) => match uuid_id(&text) {
                Err(_) if self.takes_any_id(label) => vertex_id(&RawValue::Text(text))?,
                id => id?,
            },
            (_, Some(id)) => vertex_id(&id)?,
            (_, None) => return Ok((VertexId::Number((self.next_vertex_id)()), true)),
        };
        check_length(&id)?;
        Ok((id, false))
    }
}

/// What a converted vertex or edge is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// It is stored as it is.
    Create,
    /// It is combined with the stored element.
    Update,
}

/// Converts a vertex id from a body: a whole number or a text that is not empty.
///
/// # Errors
/// [`crate::ErrorKind::InvalidArgument`] for anything else, and for texts over
/// [`VERTEX_ID_BYTES_MAX`].
pub fn vertex_id(raw: &RawValue<'_>) -> Result<VertexId, GraphError> {
    let id = match raw {
        RawValue::Integer(number) => VertexId::Number(*number),
        RawValue::Text(text) if text.is_empty() => {
            return Err(GraphError::invalid("The id can't be null or empty"));
        }
        RawValue::Text(text) => VertexId::text(text),
        other => {
            return Err(GraphError::invalid(format!(
                "The vertex id must be formatted as Number/String/UUID, but got '{other}'"
            )));
        }
    };
    check_length(&id)?;
    Ok(id)
}

/// Parses an id that is a UUID, with or without dashes.
pub(super) fn uuid_id(text: &str) -> Result<VertexId, GraphError> {
    match Uuid::parse(text) {
        Some(uuid) => Ok(VertexId::Uuid(uuid.0)),
        None => Err(GraphError::invalid(format!("Invalid UUID string: {text}"))),
    }
}

fn check_length(id: &VertexId) -> Result<(), GraphError> {
    let length = id.text_bytes();
    if length <= VERTEX_ID_BYTES_MAX {
        return Ok(());
    }
    Err(GraphError::invalid(format!(
        "The max length of vertex id is {VERTEX_ID_BYTES_MAX}, but got {length}"
    )))
}

/// The id of a vertex whose label has primary keys.
///
/// # Errors
/// [`crate::ErrorKind::InvalidArgument`] when a primary key is missing or all are empty.
pub fn primary_key_id(
    label: &VertexLabel,
    properties: &Properties,
) -> Result<VertexId, GraphError> {
    let mut joined = JoinedKey::default();
    for key in &label.primary_keys {
        let value = properties
            .get(*key)
            .ok_or_else(|| GraphError::invalid("The value of primary key can't be null"))?;
        joined.push(value);
    }
    id_of_key(label.id, joined)
}

/// The id of a vertex with these primary-key values.
pub(super) fn id_of_key(label: VertexLabelId, joined: JoinedKey) -> Result<VertexId, GraphError> {
    let joined = joined.into_text();
    if joined.is_empty() {
        return Err(GraphError::invalid(
            "The value of primary key can't be empty",
        ));
    }
    properties::check_leading(&joined)?;
    Ok(sortable::primary_key_id(label, &joined))
}

fn strategy_name(strategy: IdStrategy) -> &'static str {
    match strategy {
        IdStrategy::Automatic => "AUTOMATIC",
        IdStrategy::PrimaryKey => "PRIMARY_KEY",
        IdStrategy::CustomizeString => "CUSTOMIZE_STRING",
        IdStrategy::CustomizeNumber => "CUSTOMIZE_NUMBER",
        IdStrategy::CustomizeUuid => "CUSTOMIZE_UUID",
    }
}
