//! Removing elements and properties.

use varve_model::ElementId;
use varve_view::{GraphWriter, Occurrence};

use super::super::context::Context;
use crate::value::Owner;
use crate::{QueryError, Value};

/// Removes an element or a property. Removing it twice is not an error.
pub(super) fn remove(
    cx: &Context<'_>,
    writer: &dyn GraphWriter,
    value: &Value,
) -> Result<(), QueryError> {
    match value {
        Value::Vertex(vertex) => {
            let id = ElementId::Vertex(vertex.id().clone());
            writer.remove(&id, cx.meter)?;
        }
        Value::Edge(edge, _) => writer.remove(&ElementId::Edge(edge.id.clone()), cx.meter)?,
        Value::VertexProperty(property) => {
            let id = ElementId::Vertex(property.vertex.id().clone());
            let which = Occurrence::Number(property.number);
            writer.remove_property(&id, &property.name, which, cx.meter)?;
        }
        Value::Property(property) => match &property.owner {
            Owner::Edge(edge) => {
                let id = ElementId::Edge(edge.id.clone());
                writer.remove_property(&id, &property.name, Occurrence::All, cx.meter)?;
            }
            Owner::VertexProperty(owner) => {
                let of = (owner.name.as_str(), owner.number);
                let meta = (property.name.as_str(), None);
                writer.set_meta(owner.vertex.id(), of, meta, cx.meter)?;
            }
        },
        other => {
            return Err(QueryError::invalid(format!(
                "The incoming object is not removable: {}",
                other.shown()
            )));
        }
    }
    Ok(())
}
