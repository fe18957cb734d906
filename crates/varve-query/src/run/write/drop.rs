//! Removal of elements and properties.

use varve_model::ElementId;
use varve_view::{GraphWriter, Occurrence};

use super::super::context::Context;
use crate::{QueryError, Value};

/// Removes what a value stands for. What is gone already stays gone.
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
            writer.remove_property(&id, &property.name, Occurrence::All, cx.meter)?;
        }
        Value::Property(property) => {
            let id = ElementId::Edge(property.edge.id.clone());
            writer.remove_property(&id, &property.name, Occurrence::All, cx.meter)?;
        }
        other => {
            return Err(QueryError::invalid(format!(
                "The incoming object is not removable: {other}"
            )));
        }
    }
    Ok(())
}
