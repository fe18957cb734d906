//! Properties of offline analysis (write types OLAP_*). Any vertex may have them, whatever its
//! label declares. An analysis writes them one by one; other writes of the vertex keep them.

use std::sync::Arc;

use varve_model::{Element, ElementId, Properties, PropertyKey, PropertyKeyId, Vertex};

use super::convert::convert;
use super::input::{RawValue, VertexInput};
use super::update::not_there;
use super::vertex::vertex_id;
use super::{NewVertex, Rules, properties};
use crate::GraphError;
use crate::schema::Schema;
use crate::write::{EndCheck, Gaps, Modifier, Mutation};

impl Rules<'_> {
    /// The mutation that creates the vertex of `input`, or replaces it except for its values of
    /// offline analyses. An input with an id, without a label, and with one property of an offline
    /// analysis sets that property of an existing vertex.
    ///
    /// # Errors
    /// As [`Rules::vertex`].
    pub fn put_vertex(
        &self,
        schema: &Arc<Schema>,
        input: VertexInput<'_>,
    ) -> Result<Mutation, GraphError> {
        let input = match self.olap_value(input)? {
            Ok(set) => return Ok(set),
            Err(input) => input,
        };
        let NewVertex { vertex, fresh } = self.vertex(input)?;
        if fresh || !self.schema.has_olap_keys() {
            return Ok(Mutation::PutVertex { vertex, fresh });
        }
        let (schema, id) = (Arc::clone(schema), ElementId::Vertex(vertex.id.clone()));
        Ok(modification(id, Gaps::Fill, move |state| {
            let mut vertex = vertex.clone();
            if let Some(Element::Vertex(old)) = &state {
                keep(&schema, &old.properties, &mut vertex);
            }
            Ok(Element::Vertex(vertex))
        }))
    }

    /// The mutation that sets a value of an offline analysis; or the input, if it is another one.
    fn olap_value<'i>(
        &self,
        input: VertexInput<'i>,
    ) -> Result<Result<Mutation, VertexInput<'i>>, GraphError> {
        let Some(key) = self.olap_key(&input) else {
            return Ok(Err(input));
        };
        let id = vertex_id(&input.id.unwrap_or(RawValue::Null))?;
        let properties = properties::present(input.properties, "vertex", &id)?;
        let Some((_, raw)) = properties.into_iter().next() else {
            return Err(GraphError::invalid(
                "The properties of vertex can't be null",
            ));
        };
        let value = convert(key, raw)?;
        let (key, id) = (key.id, ElementId::Vertex(id));
        let of = id.clone();
        Ok(Ok(modification(id, Gaps::Keep, move |state| {
            let mut vertex = vertex_of(state).ok_or_else(|| not_there(&of))?;
            vertex.properties.set(key, value.clone());
            Ok(Element::Vertex(vertex))
        })))
    }

    /// The property key, if the input is a value of an offline analysis.
    fn olap_key(&self, input: &VertexInput<'_>) -> Option<&Arc<PropertyKey>> {
        let id = input.id.as_ref().filter(|id| !id.is_null());
        let [(name, _)] = input.properties.as_deref()? else {
            return None;
        };
        let key = self.schema.require_property_key(name).ok()?;
        let is_value = id.is_some() && input.label.is_none() && key.write_type.is_olap();
        is_value.then_some(key)
    }
}

/// Copies the values of offline analyses from a vertex's stored properties.
pub(super) fn keep(schema: &Schema, stored: &Properties, vertex: &mut Vertex) {
    let kept = stored.iter().filter(|(key, _)| schema.is_olap_key(*key));
    for (key, value) in kept {
        vertex.properties.set(key, value.clone());
    }
}

/// The mutation that removes a property of an offline analysis from a vertex, in all states of the
/// write's period.
pub(crate) fn remove_olap_value(id: ElementId, key: PropertyKeyId) -> Mutation {
    let of = id.clone();
    modification(id, Gaps::Keep, move |state| {
        let mut vertex = vertex_of(state).ok_or_else(|| not_there(&of))?;
        vertex.properties.remove(key);
        Ok(Element::Vertex(vertex))
    })
}

fn vertex_of(state: Option<Element>) -> Option<Vertex> {
    match state? {
        Element::Vertex(vertex) => Some(vertex),
        Element::Edge(_) => None,
    }
}

fn modification(
    id: ElementId,
    gaps: Gaps,
    modify: impl Fn(Option<Element>) -> Result<Element, GraphError> + Send + Sync + 'static,
) -> Mutation {
    let modify: Modifier = Box::new(modify);
    Mutation::Modify {
        id,
        ends: EndCheck::Skip,
        gaps,
        modify,
    }
}
