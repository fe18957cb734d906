//! Steps that change the graph.
//!
//! A writing step reads its whole input before its first change. So the steps before it see the
//! graph without its changes, and a step whose input includes the elements that it adds terminates.
//! Then it processes one value at a time; each sees the changes made for the values before it.

mod drop;
mod edge;
mod merge;
mod property;
mod search;
mod vertex;

use varve_view::GraphWriter;

use super::build::Builder;
use super::child::Child;
use super::context::Context;
use super::each::drain;
use super::row::Row;
use super::{BoxedOperator, Operator, Reset};
use crate::plan::Name;
use crate::plan::write::{EdgeEnd, Given, Merge, Write};
use crate::{QueryError, Value};
use edge::End;
use merge::MergeParts;
use property::PropertyPart;

/// A constant, or a child that computes the value from the input row.
pub(super) enum Part {
    Value(Value),
    Child(Child),
}

impl Part {
    fn new(given: &Given, builder: &Builder<'_>) -> Result<Self, QueryError> {
        Ok(match given {
            Given::Value(value) => Self::Value(value.clone()),
            Given::Child(plan) => Self::Child(Child::local(plan, builder)?),
        })
    }

    fn maybe(given: Option<&Given>, builder: &Builder<'_>) -> Result<Option<Self>, QueryError> {
        given.map(|given| Self::new(given, builder)).transpose()
    }

    /// The value; `None` if the child has no result.
    fn of(&mut self, cx: &mut Context<'_>, row: &Row) -> Result<Option<Value>, QueryError> {
        match self {
            Self::Value(value) => Ok(Some(value.clone())),
            Self::Child(child) => {
                let firsts = child.firsts(cx, std::slice::from_ref(row))?;
                Ok(firsts.into_iter().next().flatten().map(|row| row.value))
            }
        }
    }
}

/// The change that a writing step makes for each row.
enum Change {
    AddVertex {
        label: Option<Part>,
        properties: Vec<PropertyPart>,
    },
    AddEdge {
        label: Part,
        source: Option<End>,
        target: Option<End>,
        properties: Vec<PropertyPart>,
    },
    Set(Vec<PropertyPart>),
    Drop,
    MergeVertex(MergeParts),
    MergeEdge(MergeParts),
}

impl Change {
    fn new(write: &Write, builder: &Builder<'_>) -> Result<Self, QueryError> {
        let end = |end: &Option<EdgeEnd>| -> Result<Option<End>, QueryError> {
            end.as_ref().map(|end| End::new(end, builder)).transpose()
        };
        Ok(match write {
            Write::AddVertex { label, properties } => Self::AddVertex {
                label: Part::maybe(label.as_ref(), builder)?,
                properties: PropertyPart::all(properties, builder)?,
            },
            Write::AddEdge {
                label,
                source,
                target,
                properties,
            } => {
                edge::check_properties(properties, builder.schema)?;
                Self::AddEdge {
                    label: Part::new(label, builder)?,
                    source: end(source)?,
                    target: end(target)?,
                    properties: PropertyPart::all(properties, builder)?,
                }
            }
            Write::Set(properties) => Self::Set(PropertyPart::all(properties, builder)?),
            Write::Drop => Self::Drop,
            Write::MergeVertex(merge) => Self::MergeVertex(merge_parts(merge, false, builder)?),
            Write::MergeEdge(merge) => Self::MergeEdge(merge_parts(merge, true, builder)?),
        })
    }

    /// Changes the graph for one row, and adds the resulting rows to `out`.
    fn apply(
        &mut self,
        cx: &mut Context<'_>,
        writer: &dyn GraphWriter,
        row: &Row,
        out: &mut Vec<Row>,
    ) -> Result<(), QueryError> {
        match self {
            Self::AddVertex { label, properties } => {
                let vertex = vertex::add(cx, writer, label.as_mut(), properties, row)?;
                out.push(row.at(vertex, cx.track));
            }
            Self::AddEdge {
                label,
                source,
                target,
                properties,
            } => {
                let ends = (source.as_mut(), target.as_mut());
                let edge = edge::add(cx, writer, label, ends, properties, row)?;
                out.push(row.at(edge, cx.track));
            }
            Self::Set(properties) => {
                property::set(cx, writer, properties, row)?;
                out.push(row.with(property::fresh(cx, &row.value)?));
            }
            Self::Drop => drop::remove(cx, writer, &row.value)?,
            Self::MergeVertex(merge) => {
                for vertex in vertex::merge(cx, writer, merge, row)? {
                    out.push(row.at(vertex, cx.track));
                }
            }
            Self::MergeEdge(merge) => {
                for edge in edge::merge(cx, writer, merge, row)? {
                    out.push(row.at(edge, cx.track));
                }
            }
        }
        Ok(())
    }
}

fn merge_parts(
    merge: &Merge,
    edges: bool,
    builder: &Builder<'_>,
) -> Result<MergeParts, QueryError> {
    let part = |given: &Option<Given>| Part::maybe(given.as_ref(), builder);
    let parts = MergeParts {
        search: part(&merge.search)?,
        also: merge.also.clone(),
        on_create: part(&merge.on_create)?,
        on_match: part(&merge.on_match)?,
        source: part(&merge.source)?,
        target: part(&merge.target)?,
    };
    parts.check(edges)?;
    Ok(parts)
}

/// A step that writes.
pub(crate) struct Writing {
    input: BoxedOperator,
    change: Change,
    done: bool,
}

impl Writing {
    pub(crate) fn new(
        write: &Write,
        input: BoxedOperator,
        builder: &Builder<'_>,
    ) -> Result<Self, QueryError> {
        let change = Change::new(write, builder)?;
        let done = false;
        Ok(Self {
            input,
            change,
            done,
        })
    }
}

impl Operator for Writing {
    fn next(&mut self, cx: &mut Context<'_>, _: usize) -> Result<Option<Vec<Row>>, QueryError> {
        if std::mem::replace(&mut self.done, true) {
            return Ok(None);
        }
        let rows = drain(self.input.as_mut(), cx)?;
        let Some(writer) = cx.writer else {
            return Err(QueryError::invalid("The graph may only be read here"));
        };
        let mut out = Vec::with_capacity(rows.len());
        for row in rows {
            let (segment, bulk) = (row.segment, row.bulk);
            let alone = Row {
                bulk: 1,
                segment: 0,
                ..row
            };
            // A drop of equal traversers needs to run only once.
            let times = match self.change {
                Change::Drop => 1,
                _ => bulk,
            };
            for _ in 0..times {
                cx.tick(1)?;
                let before = out.len();
                self.change.apply(cx, writer, &alone, &mut out)?;
                for row in &mut out[before..] {
                    row.segment = segment;
                }
                cx.meter.hold((out.len() - before) * Row::BYTES)?;
            }
        }
        cx.meter.release(out.len() * Row::BYTES);
        Ok(Some(out))
    }

    fn reset(&mut self, how: Reset) {
        self.done = false;
        self.input.reset(how);
    }
}

/// Checks a label or a key: it must be neither empty nor begin with `~`.
fn checked_name<'n>(what: &str, name: &'n Name) -> Result<&'n Name, QueryError> {
    if name.starts_with('~') {
        return Err(QueryError::invalid(format!(
            "{what} can not be a hidden key: {name}"
        )));
    }
    if name.is_empty() {
        return Err(QueryError::invalid(format!(
            "{what} can not be the empty string"
        )));
    }
    Ok(name)
}
