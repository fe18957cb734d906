//! `SET` and `REMOVE`.

use std::collections::HashSet;
use std::sync::Arc;

use varve_model::ElementId;
use varve_view::{GraphWriter, Occurrence, PropertyWrite};

use super::{Cx, constraint, deleted, element_id, entries, label_names, present, vertex_id};
use crate::error::{Outcome, type_error};
use crate::expression::Expr;
use crate::labels;
use crate::plan::{LabelChange, RemoveOp, SetOp};
use crate::value::{Content, Node, Value};

pub(super) fn set(
    cx: Cx<'_>,
    writer: &dyn GraphWriter,
    items: &[SetOp],
    row: &[Value],
) -> Outcome<()> {
    for item in items {
        match item {
            SetOp::Property {
                element,
                key,
                value,
            } => {
                if let Some(changed) = begin(cx, writer, element, row)? {
                    let key = key_of(cx, key, row)?;
                    let value = cx.evaluate(value, row)?;
                    count(cx, put(cx, writer, &changed, &key, &value)?);
                }
            }
            SetOp::Properties {
                element,
                map,
                keeps,
            } => replace(cx, writer, (element, map, *keeps), row)?,
            SetOp::Labels(change) => change_labels(cx, writer, (change, true), row)?,
        }
    }
    Ok(())
}

pub(super) fn remove(
    cx: Cx<'_>,
    writer: &dyn GraphWriter,
    items: &[RemoveOp],
    row: &[Value],
) -> Outcome<()> {
    for item in items {
        match item {
            RemoveOp::Property { element, key } => {
                if let Some(changed) = begin(cx, writer, element, row)? {
                    let key = key_of(cx, key, row)?;
                    count(cx, put(cx, writer, &changed, &key, &Value::Null)?);
                }
            }
            RemoveOp::Labels(change) => change_labels(cx, writer, (change, false), row)?,
        }
    }
    Ok(())
}

/// An element that is changed, and what it was before.
type Changed = (ElementId, Arc<Content>);

/// The element to change; `None` if it is null.
fn begin(
    cx: Cx<'_>,
    writer: &dyn GraphWriter,
    element: &Expr,
    row: &[Value],
) -> Outcome<Option<Changed>> {
    let value = present::value(cx.evaluate(element, row)?);
    let Some(id) = element_id(cx, &value)? else {
        return Ok(None);
    };
    writer.begin_change(&id, cx.graph().meter)?;
    let content = match &value {
        Value::Node(node) => node.content(cx.graph())?,
        Value::Relationship(one) => one.content(cx.graph())?,
        _ => None,
    };
    content
        .map(|content| Some((id, content)))
        .ok_or_else(deleted)
}

fn key_of(cx: Cx<'_>, key: &Expr, row: &[Value]) -> Outcome<Arc<str>> {
    match cx.evaluate(key, row)? {
        Value::String(key) => Ok(key),
        other => {
            let message = format!(
                "the key of a property is a string, not {}",
                other.type_name()
            );
            Err(type_error("MapElementAccessByNonString", message))
        }
    }
}

/// Writes a property; null removes it. Returns whether the counters count it: a removal only if the
/// element has the property.
fn put(
    cx: Cx<'_>,
    writer: &dyn GraphWriter,
    (id, content): &Changed,
    key: &str,
    value: &Value,
) -> Outcome<bool> {
    let (graph, meter) = (cx.graph(), cx.graph().meter);
    if value.is_null() {
        let Some(known) = graph.schema.property_key_named(key) else {
            return Ok(false);
        };
        writer.remove_property(id, key, Occurrence::All, meter)?;
        return Ok(content.properties.get(known.id).is_some());
    }
    let property = PropertyWrite {
        key,
        value: &value.to_stored_as(graph.declared_key(key))?,
        cardinality: None,
        meta: &[],
    };
    writer.set_property(id, &property, meter)?;
    Ok(true)
}

fn count(cx: Cx<'_>, is_change: bool) {
    cx.count(|counters| counters.properties_set += u64::from(is_change));
}

/// `SET n = map` and `SET n += map`.
fn replace(
    cx: Cx<'_>,
    writer: &dyn GraphWriter,
    (element, map, keeps): (&Expr, &Expr, bool),
    row: &[Value],
) -> Outcome<()> {
    let Some(changed) = begin(cx, writer, element, row)? else {
        return Ok(());
    };
    let map = cx.evaluate(map, row)?;
    let new = entries(cx, &map)?;
    if !keeps {
        let element = present::value(cx.evaluate(element, row)?);
        let kept: HashSet<&Arc<str>> = new.iter().map(|(key, _)| key).collect();
        for (key, _) in entries(cx, &element)? {
            if !kept.contains(&key) {
                count(cx, put(cx, writer, &changed, &key, &Value::Null)?);
            }
        }
    }
    // Of a map, nulls count too.
    for (key, value) in &new {
        put(cx, writer, &changed, key, value)?;
        count(cx, true);
    }
    Ok(())
}

/// Adds labels to a node, or removes them.
fn change_labels(
    cx: Cx<'_>,
    writer: &dyn GraphWriter,
    (change, adds): (&LabelChange, bool),
    row: &[Value],
) -> Outcome<()> {
    let value = present::value(cx.evaluate(&change.element, row)?);
    let node: &Arc<Node> = match &value {
        Value::Null => return Ok(()),
        Value::Node(node) => node,
        other => {
            let message = format!("{} has no labels", other.type_name());
            return Err(type_error("InvalidArgumentType", message));
        }
    };
    begin(cx, writer, &change.element, row)?;
    let graph = cx.graph();
    let content = node.content(graph)?.ok_or_else(deleted)?;
    let label = content.label.unwrap_or(node.label);
    let old = labels::names(graph.schema, label);
    let mut new = old.clone();
    for name in label_names(cx, &change.labels, row)? {
        let known = new.contains(&name);
        match adds {
            true if !known => new.push(name),
            false => new.retain(|own| *own != name),
            true => {}
        }
    }
    let (before, after) = (old.len() as u64, new.len() as u64);
    // In a period, states with other labels than now are refused, also if the labels stay.
    if before == after && !change.in_period {
        return Ok(());
    }
    let label = labels::vertex_label(graph.schema, new)
        .map_err(|reason| constraint("InvalidLabels", reason))?;
    let label = label.as_deref().unwrap_or(labels::DEFAULT_LABEL);
    writer.set_label(&vertex_id(cx, node)?, label, graph.meter)?;
    cx.count(|counters| {
        counters.labels_added += after.saturating_sub(before);
        counters.labels_removed += before.saturating_sub(after);
    });
    Ok(())
}
