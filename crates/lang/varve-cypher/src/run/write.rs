//! Operators that change the graph.

mod create;
mod delete;
mod merge;
mod present;
mod set;

use std::sync::Arc;

use varve_model::{ElementId, Value as Stored};
use varve_view::{GraphWriter, PropertyWrite};

use super::batch::ROWS;
use super::build::build;
use super::drain::{Given, all};
use super::matching::vertex_id;
use super::{Batch, BoxedOperator, Cx, Operator};
use crate::error::{Error, ErrorClass, Outcome, not_supported, type_error};
use crate::expression::Expr;
use crate::held::Held;
use crate::plan::{LabelPart, Pipeline, WriteStep};
use crate::value::Value;

/// Does each step for all rows, and then gives the rows.
pub(crate) struct Write<'p> {
    input: BoxedOperator<'p>,
    steps: &'p [WriteStep],
    given: Option<Given>,
    /// Bytes of the rows, while they are given.
    held: usize,
}

impl<'p> Write<'p> {
    pub(crate) fn new(input: BoxedOperator<'p>, steps: &'p [WriteStep]) -> Write<'p> {
        Write {
            input,
            steps,
            given: None,
            held: 0,
        }
    }
}

impl Operator for Write<'_> {
    fn next(&mut self, cx: Cx<'_>) -> Outcome<Option<Batch>> {
        if self.given.is_none() {
            let mut held = Held::new(cx.graph().meter);
            let rows = all(&mut self.input, cx, &mut held)?;
            let mut rows = unfolded(rows, &mut held)?;
            for step in self.steps {
                rows = done(cx, step, rows)?;
                held.grow_to(rows.bytes())?;
            }
            self.held = held.keep();
            self.given = Some(Given::new(rows));
        }
        let given = self.given.as_mut().and_then(Given::next);
        if given.is_none() {
            // A FOREACH may run as many of these as its list has items.
            cx.graph().meter.release(std::mem::take(&mut self.held));
        }
        Ok(given)
    }
}

/// Rows that stand for themselves: each of several equal rows changes the graph.
pub(super) fn unfolded(rows: Batch, held: &mut Held<'_>) -> Outcome<Batch> {
    if rows.rows().all(|(_, count)| count == 1) {
        return Ok(rows);
    }
    let mut out = Batch::new(rows.width());
    for (row, count) in rows.rows() {
        for _ in 0..count {
            held.add(size_of_val(row))?;
            out.push(row, 1);
        }
    }
    Ok(out)
}

fn done(cx: Cx<'_>, step: &WriteStep, mut rows: Batch) -> Outcome<Batch> {
    let writer = writer(cx)?;
    match step {
        WriteStep::Create(pattern) => {
            for at in 0..rows.len() {
                check(cx, at)?;
                create::create(cx, writer, pattern, rows.row_mut(at))?;
            }
        }
        WriteStep::Merge(one) => return merge::merge(cx, writer, one, &rows),
        WriteStep::Set(items) => {
            for (at, (row, _)) in rows.rows().enumerate() {
                check(cx, at)?;
                set::set(cx, writer, items, row)?;
            }
        }
        WriteStep::Remove(items) => {
            for (at, (row, _)) in rows.rows().enumerate() {
                check(cx, at)?;
                set::remove(cx, writer, items, row)?;
            }
        }
        WriteStep::Delete { elements, detach } => {
            delete::delete(cx, writer, elements, *detach, &rows)?;
        }
        WriteStep::Foreach { list, width, inner } => {
            for (at, (row, _)) in rows.rows().enumerate() {
                check(cx, at)?;
                foreach(cx, list, *width, inner, row)?;
            }
        }
    }
    Ok(rows)
}

/// Checks the limits at every so many rows.
fn check(cx: Cx<'_>, at: usize) -> Outcome<()> {
    match at % ROWS {
        0 => Ok(cx.graph().meter.check()?),
        _ => Ok(()),
    }
}

fn foreach(cx: Cx<'_>, list: &Expr, width: usize, inner: &Pipeline, row: &[Value]) -> Outcome<()> {
    let items = match cx.evaluate(list, row)? {
        Value::Null => return Ok(()),
        Value::List(items) => items,
        other => {
            let message = format!("FOREACH takes a list, not {}", other.type_name());
            return Err(type_error("InvalidArgumentType", message));
        }
    };
    for (at, item) in items.iter().enumerate() {
        check(cx, at)?;
        let mut inner_row = row.get(..width).unwrap_or(row).to_vec();
        inner_row.push(item.clone());
        let mut operator = build(inner, Batch::of(inner_row));
        while operator.next(cx)?.is_some() {}
    }
    Ok(())
}

/// The writer of the query.
fn writer<'c>(cx: Cx<'c>) -> Outcome<&'c dyn GraphWriter> {
    let writer = cx.shared.graph.writer;
    writer.ok_or_else(|| not_supported("a change of this view of the graph"))
}

/// Properties to write: those that are not null.
struct Properties(Vec<(Arc<str>, Stored)>);

impl Properties {
    /// Evaluates the map of an element to create.
    fn of(cx: Cx<'_>, properties: Option<&Expr>, row: &[Value]) -> Outcome<Properties> {
        let Some(properties) = properties else {
            return Ok(Properties(Vec::new()));
        };
        let value = cx.evaluate(properties, row)?;
        let mut stored = Vec::new();
        for (key, value) in entries(cx, &value)? {
            if !value.is_null() {
                let declared = cx.graph().declared_key(&key);
                stored.push((key, value.to_stored_as(declared)?));
            }
        }
        Ok(Properties(stored))
    }

    fn writes(&self) -> Vec<PropertyWrite<'_>> {
        let each = self.0.iter();
        each.map(|(key, value)| PropertyWrite {
            key,
            value,
            cardinality: None,
            meta: &[],
        })
        .collect()
    }
}

/// The entries of a map, or the properties of an element.
fn entries(cx: Cx<'_>, value: &Value) -> Outcome<Vec<(Arc<str>, Value)>> {
    let graph = cx.graph();
    let content = match value {
        Value::Null => return Ok(Vec::new()),
        Value::Map(map) => {
            let each = map.iter();
            return Ok(each
                .map(|(key, value)| (Arc::clone(key), value.clone()))
                .collect());
        }
        Value::Node(node) => node.content(graph)?,
        Value::Relationship(one) => one.content(graph)?,
        other => {
            let message = format!("expected a map, but got {}", other.type_name());
            return Err(type_error("InvalidArgumentType", message));
        }
    };
    let content = content.ok_or_else(deleted)?;
    let mut entries = Vec::with_capacity(content.properties.len());
    for (key, value) in content.properties.iter() {
        if let Some(key) = graph.schema.property_key(key) {
            entries.push((Arc::from(&*key.name), Value::from_stored(value)));
        }
    }
    Ok(entries)
}

/// What reading a deleted element fails with.
fn deleted() -> crate::CypherError {
    let message = "the element was deleted";
    Error::run(ErrorClass::EntityNotFound, "DeletedEntityAccess", message).into()
}

/// The labels that parts name.
fn label_names(cx: Cx<'_>, parts: &[LabelPart], row: &[Value]) -> Outcome<Vec<Arc<str>>> {
    let mut names = Vec::with_capacity(parts.len());
    for part in parts {
        let value = match part {
            LabelPart::Name(name) => {
                names.push(Arc::clone(name));
                continue;
            }
            LabelPart::Dynamic(expr) => cx.evaluate(expr, row)?,
        };
        let items = match value {
            Value::List(items) => items.to_vec(),
            one => vec![one],
        };
        for item in items {
            let Value::String(name) = item else {
                let message = format!("a label is a string, not {}", item.type_name());
                return Err(type_error("InvalidArgumentType", message));
            };
            names.push(name);
        }
    }
    Ok(names)
}

/// The id of a node or relationship; `None` if the value is null.
fn element_id(cx: Cx<'_>, value: &Value) -> Outcome<Option<ElementId>> {
    Ok(match value {
        Value::Null => None,
        Value::Node(node) => Some(ElementId::Vertex(vertex_id(cx, node)?)),
        Value::Relationship(one) => Some(ElementId::Edge(one.id.clone())),
        other => {
            let name = other.type_name();
            let message = format!("expected a node or relationship, but got {name}");
            return Err(type_error("InvalidArgumentType", message));
        }
    })
}

/// A rule of the data model that a change breaks.
fn constraint(detail: &'static str, message: impl Into<String>) -> crate::CypherError {
    Error::run(ErrorClass::ConstraintValidationFailed, detail, message).into()
}
