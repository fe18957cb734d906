//! Adding and merging vertices.

use std::sync::Arc;

use varve_view::{GraphWriter, VertexAddition};

use super::super::context::Context;
use super::super::row::Row;
use super::merge::{MergeParts, Wanted};
use super::property::{PropertyPart, Said, Written, with_writes};
use super::{Part, checked_name, search};
use crate::plan::Name;
use crate::value::VertexHandle;
use crate::{QueryError, Value};

/// Adds a vertex. A label that a property step gives takes precedence over `label`.
pub(super) fn add(
    cx: &mut Context<'_>,
    writer: &dyn GraphWriter,
    label: Option<&mut Part>,
    properties: &mut [PropertyPart],
    row: &Row,
) -> Result<Value, QueryError> {
    let said = Said::of(cx, properties, row)?;
    let label = match (label, &said.label) {
        (_, Some(label)) => Some(label.clone()),
        (Some(part), None) => {
            let label = part.of(cx, row)?;
            Some(label.ok_or_else(|| QueryError::unproductive(&row.value))?)
        }
        (None, None) => None,
    };
    let label = label.as_ref().map(label_name).transpose()?;
    create(cx, writer, label, said.id.as_ref(), &said.writes())
}

/// Returns the vertices that a merge finds, after applying its changes to them, or the one that it
/// adds.
pub(super) fn merge(
    cx: &mut Context<'_>,
    writer: &dyn GraphWriter,
    parts: &mut MergeParts,
    row: &Row,
) -> Result<Vec<Value>, QueryError> {
    let wanted = Wanted::vertex(&parts.search(cx, row)?)?;
    let plan = search::vertices(&wanted);
    let found = search::run(cx, &plan)?;
    if !found.is_empty() {
        parts.matched(cx, writer, row, &found)?;
        return Ok(found);
    }
    let whole = parts.addition(cx, row, &wanted, false)?;
    let vertex = create(
        cx,
        writer,
        whole.label.as_ref(),
        whole.id.as_ref(),
        &whole.properties,
    )?;
    writer.expect_absent(wanted.name("mergeV")?, search::again(plan));
    Ok(vec![vertex])
}

fn create(
    cx: &Context<'_>,
    writer: &dyn GraphWriter,
    label: Option<&Name>,
    id: Option<&Value>,
    properties: &[Written],
) -> Result<Value, QueryError> {
    let id = id.map(Value::to_stored).transpose()?;
    let added = with_writes(properties, |properties| {
        let vertex = VertexAddition {
            label: label.map(Name::as_str),
            id: id.as_ref(),
            properties,
        };
        writer.add_vertex(&vertex, cx.meter)
    })?;
    Ok(Value::Vertex(Arc::new(VertexHandle::new(added, None))))
}

/// The name of a label. Fails if the value is null, not a text, or not a valid name.
pub(super) fn label_name(value: &Value) -> Result<&Name, QueryError> {
    match value {
        Value::Text(name) => checked_name("Label", name),
        Value::Null => Err(QueryError::invalid("Label can not be null")),
        other => Err(QueryError::cast(other, "String")),
    }
}
