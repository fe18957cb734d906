//! Conversion of an edge as sent to an edge.

use std::sync::Arc;

use compact_str::CompactString;
use varve_model::id::EDGE_ID_BYTES_MAX;
use varve_model::schema::{EdgeLabelType, IdStrategy};
use varve_model::sortable::{drawn_sort_value, join_key_values};
use varve_model::{Edge, EdgeId, EdgeLabel, EdgeLabelId, Properties, VertexId, VertexLabelId};

use super::Rules;
use super::input::{EdgeInput, RawValue};
use super::properties;
use super::typed;
use super::vertex::{Purpose, uuid_id, vertex_id};
use crate::GraphError;
use crate::schema::Schema;

/// The rules for the end vertices of an edge as sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EdgeForm {
    /// Whether the labels of both ends must be named; otherwise both or neither.
    pub labels_required: bool,
    /// Whether the end vertices and their labels are checked when the edge is stored. Otherwise the
    /// named labels are assumed to be right.
    pub ends_checked: bool,
}

/// An edge to be stored.
#[derive(Debug, Clone, PartialEq)]
pub struct NewEdge {
    /// The edge. If its end labels were not named, they are those of its label's link, or 0 without
    /// a link.
    pub edge: Edge,
    /// Whether the end labels were named.
    pub labels_given: bool,
}

impl Rules<'_> {
    /// Converts `input` to an edge that replaces a stored one with the same id as a whole. An id in
    /// the input is ignored, as HugeGraph does; only its hidden sort value is used.
    ///
    /// # Errors
    /// [`crate::ErrorKind::InvalidArgument`] when the schema does not allow it.
    pub fn edge(&self, input: EdgeInput<'_>, form: EdgeForm) -> Result<NewEdge, GraphError> {
        let new = self.edge_draft(input, form, Purpose::Create)?;
        if let Some(label) = self.schema.edge_label(new.edge.id.label) {
            self.check_storable(&new.edge.properties)?;
            properties::check_complete(self.schema, &**label, &new.edge.properties)?;
        }
        Ok(new)
    }

    /// Converts `input` to an edge. Required properties may be missing, except sort keys.
    pub(super) fn edge_draft(
        &self,
        input: EdgeInput<'_>,
        form: EdgeForm,
        purpose: Purpose,
    ) -> Result<NewEdge, GraphError> {
        let expected = |what: &str| GraphError::invalid(format!("Expect {what}"));
        let name = input.label.ok_or_else(|| match purpose {
            Purpose::Create => expected("the label of edge"),
            Purpose::Update => GraphError::invalid("Edge label name can't be null"),
        })?;
        let end = |raw: Option<RawValue<'_>>, what: &str| {
            raw.filter(|raw| !raw.is_null())
                .ok_or_else(|| expected(what))
                .map(|raw| match self.takes_types() {
                    true => typed::vertex_id(self.schema, raw),
                    false => vertex_id(&raw),
                })
        };
        let source = end(input.source, "source vertex id")?;
        let target = end(input.target, "target vertex id")?;
        let named = (input.source_label.as_deref(), input.target_label.as_deref());
        if purpose == Purpose::Create {
            check_named(named, form)?;
        }
        let shown = input.id.as_deref().unwrap_or("null");
        let properties = properties::present(input.properties, "edge", &shown)?;
        let given = self.end_labels(named, form)?;
        let (source, target) = (source?, target?);
        let label = self.schema.require_edge_label(&name)?;
        let ends = match given {
            Some(ends) => ends,
            None => label.link.unwrap_or((VertexLabelId(0), VertexLabelId(0))),
        };
        let source = self.end_id(source, ends.0)?;
        let target = self.end_id(target, ends.1)?;
        if !form.ends_checked {
            check_link(self.schema, label.id, ends)?;
        }
        let properties = properties::resolve(self.schema, properties)?;
        let sent = |key| properties.iter().any(|(sent, _)| sent.id == key);
        if !label.sort_keys.iter().all(|key| sent(*key)) {
            return Err(GraphError::invalid(format!(
                "The sort key(s) must be set for the edge with label: '{}'",
                label.name
            )));
        }
        let properties = self.accept(&**label, properties)?;
        let hidden = match label.has_hidden_sort() {
            true => Some(self.hidden_sort(input.id.as_deref())),
            false => None,
        };
        let edge = Edge {
            id: edge_id(label, source, target, &properties, hidden)?,
            source_label: ends.0,
            target_label: ends.1,
            properties,
        };
        if let (Purpose::Update, Some(sent)) = (purpose, &input.id) {
            check_same_id(&edge.id, sent)?;
        }
        Ok(NewEdge {
            edge,
            labels_given: given.is_some(),
        })
    }

    /// The hidden sort value of an edge: that of the id as sent, or a new one.
    fn hidden_sort(&self, sent: Option<&str>) -> CompactString {
        let sent = sent.and_then(|id| EdgeId::parse(id).ok());
        match sent {
            Some(id) if !id.sort_values.is_empty() => id.sort_values,
            _ => drawn_sort_value((self.next_edge_number)()),
        }
    }

    /// The labels of both ends, if they are named.
    fn end_labels(
        &self,
        named: (Option<&str>, Option<&str>),
        form: EdgeForm,
    ) -> Result<Option<(VertexLabelId, VertexLabelId)>, GraphError> {
        if named == (None, None) && form.ends_checked && !form.labels_required {
            return Ok(None);
        }
        let find = |name: Option<&str>, which: &str| {
            let name = name.unwrap_or("null");
            match self.schema.require_vertex_label(name) {
                Ok(label) => Ok(label.id),
                Err(_) => {
                    let which = if form.labels_required { "" } else { which };
                    Err(GraphError::invalid(format!(
                        "Invalid {which}vertex label '{name}'"
                    )))
                }
            }
        };
        Ok(Some((find(named.0, "source ")?, find(named.1, "target ")?)))
    }

    /// The id of an end vertex. Bodies have UUIDs as texts; the label decides whether a text is a
    /// UUID.
    fn end_id(&self, id: VertexId, label: VertexLabelId) -> Result<VertexId, GraphError> {
        if self.takes_types() {
            return Ok(id);
        }
        let strategy = self.schema.vertex_label(label).map(|l| l.id_strategy);
        match (&id, strategy) {
            (VertexId::Text(text), Some(IdStrategy::CustomizeUuid)) => match uuid_id(text) {
                // In an open graph, vertices of one label may have ids of several types.
                Err(_) if self.schema.is_open() => Ok(id),
                id => id,
            },
            _ => Ok(id),
        }
    }
}

fn check_named(
    (source, target): (Option<&str>, Option<&str>),
    form: EdgeForm,
) -> Result<(), GraphError> {
    let message = if !form.labels_required {
        if source.is_some() == target.is_some() {
            return Ok(());
        }
        "The both source and target vertex label are either passed in, or not passed in"
    } else if source.is_none() {
        "Expect source vertex label"
    } else if target.is_none() {
        "Expect target vertex label"
    } else {
        return Ok(());
    };
    Err(GraphError::invalid(message))
}

/// Checks that edges of `label` may connect vertices of these labels. A PARENT label links what any
/// of its SUB labels links; a label that the schema does not know links everything.
///
/// # Errors
/// [`crate::ErrorKind::InvalidArgument`] "Undefined link of edge label …".
pub fn check_link(
    schema: &Schema,
    label: EdgeLabelId,
    ends: (VertexLabelId, VertexLabelId),
) -> Result<(), GraphError> {
    let allowed = schema
        .edge_label(label)
        .is_none_or(|known| match known.label_type {
            EdgeLabelType::Parent => schema.sub_labels(label).any(|sub| sub.link == Some(ends)),
            // A label without a link, created on first use, links everything.
            EdgeLabelType::Normal | EdgeLabelType::Sub => {
                known.link.is_none_or(|link| link == ends)
            }
        });
    if allowed {
        return Ok(());
    }
    Err(GraphError::invalid(format!(
        "Undefined link of edge label '{}': '{}' -> '{}'",
        schema.edge_label_name(label),
        schema.vertex_label_name(ends.0),
        schema.vertex_label_name(ends.1)
    )))
}

fn edge_id(
    label: &Arc<EdgeLabel>,
    source: VertexId,
    target: VertexId,
    properties: &Properties,
    hidden: Option<CompactString>,
) -> Result<EdgeId, GraphError> {
    let values = label
        .sort_keys
        .iter()
        .filter_map(|key| properties.get(*key));
    let joined = hidden.unwrap_or_else(|| join_key_values(values));
    properties::check_leading(&joined)?;
    let id = EdgeId {
        source,
        parent: label.parent.unwrap_or(label.id),
        label: label.id,
        sort_values: joined,
        target,
    };
    let length = id.sort_values.len() + id.source.text_bytes() + id.target.text_bytes();
    if length > EDGE_ID_BYTES_MAX {
        return Err(GraphError::invalid(format!(
            "The max length of edge id is {EDGE_ID_BYTES_MAX}, but got {length}"
        )));
    }
    Ok(id)
}

fn check_same_id(id: &EdgeId, sent: &str) -> Result<(), GraphError> {
    let own = id.to_string();
    if own == sent {
        return Ok(());
    }
    Err(GraphError::invalid(format!(
        "The ids are different between server and request body ('{own}' != '{sent}'). And note the sort key values should either be null or equal to the origin value when specified edge id"
    )))
}
