//! Adding and merging edges.

use std::collections::HashSet;

use varve_model::VertexId;
use varve_view::{EdgeAddition, GraphWriter, SchemaView};

use super::super::build::Builder;
use super::super::context::Context;
use super::super::filter::scoped;
use super::super::row::Row;
use super::super::source::edges_of_ids;
use super::merge::{MergeParts, Wanted, Whole};
use super::property::{PropertyPart, Said, Written, with_writes};
use super::vertex::label_name;
use super::{Part, search};
use crate::plan::Name;
use crate::plan::write::{EdgeEnd, Property, PropertyName};
use crate::value::Token;
use crate::{QueryError, Value};

/// The label of a merged edge, if the merge has none.
const DEFAULT_LABEL: &str = "edge";

/// An end of an edge to be added.
pub(super) enum End {
    Label(Name),
    Part(Part),
}

impl End {
    pub(super) fn new(end: &EdgeEnd, builder: &Builder<'_>) -> Result<Self, QueryError> {
        Ok(match end {
            EdgeEnd::Label(label) => Self::Label(label.clone()),
            EdgeEnd::Given(given) => Self::Part(Part::new(given, builder)?),
        })
    }

    /// The value of an end; the row's own value if no end is given.
    fn of(
        end: Option<&mut Self>,
        cx: &mut Context<'_>,
        row: &Row,
    ) -> Result<Option<Value>, QueryError> {
        match end {
            None => Ok(Some(row.value.clone())),
            Some(Self::Label(label)) => scoped(cx, row, label).map(Some),
            Some(Self::Part(part)) => part.of(cx, row),
        }
    }
}

pub(super) fn add(
    cx: &mut Context<'_>,
    writer: &dyn GraphWriter,
    label: &mut Part,
    ends: (Option<&mut End>, Option<&mut End>),
    properties: &mut [PropertyPart],
    row: &Row,
) -> Result<Value, QueryError> {
    let said = Said::of(cx, properties, row)?;
    let label = match &said.label {
        Some(label) => label.clone(),
        None => {
            let label = label.of(cx, row)?;
            label.ok_or_else(|| QueryError::unproductive(&row.value))?
        }
    };
    let label = label_name(&label)?.clone();
    let source = End::of(ends.0, cx, row)?;
    let source = vertex_of(cx, &label, "from", source.as_ref())?;
    let target = End::of(ends.1, cx, row)?;
    let target = vertex_of(cx, &label, "to", target.as_ref())?;
    let edge = (&label, said.id.as_ref(), (&source, &target));
    create(cx, writer, edge, &said.writes())
}

/// Refuses a property that is given twice, before the query changes anything. An edge of an open
/// graph has one value of a key; what a graph with a schema does is decided by the key.
pub(super) fn check_properties(
    properties: &[Property],
    schema: &dyn SchemaView,
) -> Result<(), QueryError> {
    if !schema.is_open() {
        return Ok(());
    }
    let mut names = HashSet::new();
    let again = properties.iter().find(|property| match &property.name {
        PropertyName::Key(name) => !names.insert(name),
        PropertyName::Token(_) | PropertyName::Child(_) => false,
    });
    match again {
        Some(property) => Err(QueryError::invalid(format!(
            "Multi-properties are not supported by this step: '{}' is given twice",
            property.name
        ))),
        None => Ok(()),
    }
}

/// The id of an existing vertex.
fn vertex_of(
    cx: &Context<'_>,
    label: &Name,
    end: &str,
    value: Option<&Value>,
) -> Result<VertexId, QueryError> {
    let value = value.unwrap_or(&Value::Null);
    let found = match value.as_vertex_id() {
        Some(id) => search::exists(cx, &id)?.then_some(id),
        None => None,
    };
    found.ok_or_else(|| {
        QueryError::invalid(format!(
            "The value given to addE({label}).{end}() must resolve to a Vertex or the ID of a \
             Vertex present in the graph. The provided value does not match any vertices in the \
             graph: {}",
            value.shown()
        ))
    })
}

fn create(
    cx: &Context<'_>,
    writer: &dyn GraphWriter,
    (label, id, (source, target)): (&Name, Option<&Value>, (&VertexId, &VertexId)),
    properties: &[Written],
) -> Result<Value, QueryError> {
    let id = id.map(Value::to_stored).transpose()?;
    let added = with_writes(properties, |properties| {
        let edge = EdgeAddition {
            label,
            id: id.as_ref(),
            source,
            target,
            properties,
        };
        writer.add_edge(&edge, cx.meter)
    })?;
    let read = edges_of_ids(cx, std::slice::from_ref(&added))?;
    let gone = || QueryError::invalid(format!("The edge {added} was not added"));
    read.into_iter().next().ok_or_else(gone)
}

/// Returns the edges that a merge finds, or the one that it adds.
pub(super) fn merge(
    cx: &mut Context<'_>,
    writer: &dyn GraphWriter,
    parts: &mut MergeParts,
    row: &Row,
) -> Result<Vec<Value>, QueryError> {
    let mut wanted = Wanted::edge(&parts.search(cx, row)?)?;
    parts.check_options(&wanted)?;
    resolve(cx, parts, row, &mut wanted)?;
    let plan = search::edges(&wanted, search::nearer_end(cx, &wanted)?);
    let found = search::run(cx, &plan)?;
    if !found.is_empty() {
        parts.matched(cx, writer, row, &found)?;
        return Ok(found);
    }
    let mut whole = parts.addition(cx, row, &wanted, true)?;
    parts.check_options(&whole)?;
    resolve(cx, parts, row, &mut whole)?;
    let (source, target) = (end_of(cx, &whole, true)?, end_of(cx, &whole, false)?);
    let label = whole.label.clone().unwrap_or_else(|| DEFAULT_LABEL.into());
    let edge = (&label, whole.id.as_ref(), (&source, &target));
    let edge = create(cx, writer, edge, &whole.properties)?;
    writer.expect_absent(wanted.name("mergeE")?, search::again(plan));
    Ok(vec![edge])
}

/// Replaces `Merge.outV` and `Merge.inV` by the values of their options.
fn resolve(
    cx: &mut Context<'_>,
    parts: &mut MergeParts,
    row: &Row,
    wanted: &mut Whole,
) -> Result<(), QueryError> {
    for end in [&mut wanted.source, &mut wanted.target] {
        let part = match end {
            Some(Value::Token(Token::OutV)) => &mut parts.source,
            Some(Value::Token(Token::InV)) => &mut parts.target,
            _ => continue,
        };
        let given = match part {
            Some(part) => part.of(cx, row)?,
            None => None,
        };
        *end = match given {
            // A map describes the vertex to search for.
            Some(Value::Map(map)) => {
                let vertices = search::vertices(&Wanted::vertex(&Value::Map(map))?);
                search::run(cx, &vertices)?.into_iter().next()
            }
            other => other,
        };
    }
    Ok(())
}

/// The id of the vertex at an end of an edge to be added.
fn end_of(cx: &Context<'_>, whole: &Whole, source: bool) -> Result<VertexId, QueryError> {
    let (value, name) = match source {
        true => (&whole.source, "Out"),
        false => (&whole.target, "In"),
    };
    let Some(value) = value else {
        return Err(QueryError::invalid(format!(
            "{name} Vertex not specified in edge merge"
        )));
    };
    let id = value.as_vertex_id();
    let found = match id {
        Some(id) => search::exists(cx, &id)?.then_some(id),
        None => None,
    };
    found.ok_or_else(|| {
        QueryError::invalid(format!(
            "Vertex id could not be resolved from mergeE: {}",
            value.shown()
        ))
    })
}
