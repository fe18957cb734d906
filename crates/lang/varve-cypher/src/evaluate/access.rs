//! Access to properties, keys, items and labels.

use std::sync::Arc;

use varve_model::{Value as Stored, VertexLabelId};

use super::wrong_type;
use crate::error::{Error, ErrorClass, Outcome, argument_error, type_error};
use crate::expression::Frame;
use crate::labels;
use crate::temporal::component;
use crate::value::{Content, Graph, Map, Node, Point, Relationship, Value, entry_of_map};

/// The value of a key of an element or a map, or of a component; null if it is absent.
///
/// # Errors
/// As [`content_of`], and when the value has neither keys nor such a component.
pub(crate) fn property(subject: &Value, key: &str, frame: &Frame<'_>) -> Outcome<Value> {
    match subject {
        Value::Null => Ok(Value::Null),
        Value::Map(map) => Ok(entry_of_map(map, key)),
        Value::Node(_) | Value::Relationship(_) => {
            let Some(content) = content_of(subject, frame)? else {
                return Ok(Value::Null);
            };
            let key = frame.graph.schema.property_key_named(key);
            let stored = key.and_then(|key| content.properties.get(key.id));
            frame.graph.room(stored.map_or(0, bytes_of))?;
            Ok(stored.map_or(Value::Null, Value::from_stored))
        }
        Value::Point(point) => coordinate(point, key).ok_or_else(|| {
            let message = format!("{point} has no component '{key}'");
            argument_error("InvalidArgumentValue", message)
        }),
        Value::Date(_)
        | Value::LocalTime(_)
        | Value::Time(_)
        | Value::LocalDateTime(_)
        | Value::DateTime(_)
        | Value::Duration(_) => component(subject, key).ok_or_else(|| {
            let name = subject.type_name();
            let message = format!("{name} has no component '{key}'");
            type_error("InvalidArgumentValue", message)
        }),
        other => Err(wrong_type("NODE, RELATIONSHIP or MAP", other)),
    }
}

/// The bytes of the value that is made of a stored text, blob or list.
fn bytes_of(stored: &Stored) -> usize {
    match stored {
        Stored::Text(text) => text.len(),
        Stored::Blob(bytes) => bytes.len(),
        Stored::List(items) | Stored::Set(items) => items
            .iter()
            .map(|item| size_of::<Value>() + bytes_of(item))
            .sum(),
        _ => 0,
    }
}

fn coordinate(point: &Point, key: &str) -> Option<Value> {
    let geographic = matches!(point.srid, 4326 | 4979);
    let number = match key {
        "x" => Some(point.x),
        "y" => Some(point.y),
        "z" => point.z,
        "longitude" if geographic => Some(point.x),
        "latitude" if geographic => Some(point.y),
        "height" if geographic => point.z,
        "srid" => return Some(Value::Integer(i64::from(point.srid))),
        "crs" => return Some(Value::string(point.crs())),
        _ => None,
    };
    number.map(Value::Float)
}

/// The content of a node or relationship; `None` if the graph has never had it.
///
/// # Errors
/// When the query has deleted it, or the value is neither.
pub(crate) fn content_of(element: &Value, frame: &Frame<'_>) -> Outcome<Option<Arc<Content>>> {
    let content = match element {
        Value::Node(node) => node.content(frame.graph)?,
        Value::Relationship(one) => one.content(frame.graph)?,
        other => return Err(wrong_type("NODE or RELATIONSHIP", other)),
    };
    // Without a writer, an edge may still have an end that does not exist.
    if content.is_none() && frame.graph.writer.is_some() {
        let class = ErrorClass::EntityNotFound;
        let message = "the element was deleted by this query";
        return Err(Error::run(class, "DeletedEntityAccess", message).into());
    }
    Ok(content)
}

/// The vertex label of a node.
///
/// # Errors
/// As [`content_of`].
pub(super) fn label_of(node: &Arc<Node>, frame: &Frame<'_>) -> Outcome<VertexLabelId> {
    if frame.graph.writer.is_none() {
        return Ok(node.label);
    }
    let content = content_of(&Value::Node(Arc::clone(node)), frame)?;
    Ok(content
        .and_then(|content| content.label)
        .unwrap_or(node.label))
}

/// The labels of a node.
///
/// # Errors
/// As [`content_of`].
pub(crate) fn labels_of(node: &Arc<Node>, frame: &Frame<'_>) -> Outcome<Vec<Arc<str>>> {
    Ok(labels::names(frame.graph.schema, label_of(node, frame)?))
}

/// The type of a relationship; empty if the schema no longer has it.
pub(crate) fn relationship_type<'g>(one: &Relationship, frame: &Frame<'g>) -> &'g str {
    let label = frame.graph.schema.edge_label(one.label);
    label.map_or("", |label| label.name.as_str())
}

/// All properties of an element, or the map itself.
///
/// # Errors
/// As [`content_of`].
pub(crate) fn properties_of(value: &Value, frame: &Frame<'_>) -> Outcome<Arc<Map>> {
    if let Value::Map(map) = value {
        return Ok(Arc::clone(map));
    }
    let Some(content) = content_of(value, frame)? else {
        return Ok(Arc::default());
    };
    let bytes = content
        .properties
        .iter()
        .map(|(_, stored)| bytes_of(stored));
    frame.graph.room(bytes.sum())?;
    let named = content.properties.iter().filter_map(|(id, stored)| {
        let key = frame.graph.schema.property_key(id)?;
        Some((Arc::from(key.name.as_str()), Value::from_stored(stored)))
    });
    Ok(Arc::new(
        named.filter(|(_, value)| !value.is_null()).collect(),
    ))
}

/// The keys of an element or a map.
///
/// # Errors
/// As [`content_of`].
pub(crate) fn keys_of(value: &Value, frame: &Frame<'_>) -> Outcome<Value> {
    let properties = properties_of(value, frame)?;
    let keys = properties
        .iter()
        .map(|(key, _)| Value::String(Arc::clone(key)));
    Ok(Value::list(keys.collect()))
}

/// `subject[index]`.
pub(super) fn index(subject: &Value, index: &Value, frame: &Frame<'_>) -> Outcome<Value> {
    match (subject, index) {
        (Value::Null, _) | (_, Value::Null) => Ok(Value::Null),
        (Value::List(items), Value::Integer(at)) => {
            let at = position(*at, items.len());
            Ok(at
                .and_then(|at| items.get(at))
                .cloned()
                .unwrap_or(Value::Null))
        }
        (Value::List(_), other) => {
            let message = format!("the index of a list is {}", other.type_name());
            Err(type_error("ListElementAccessByNonInteger", message))
        }
        (Value::Map(_) | Value::Node(_) | Value::Relationship(_), Value::String(key)) => {
            property(subject, key, frame)
        }
        (Value::Map(_) | Value::Node(_) | Value::Relationship(_), other) => {
            let message = format!("the key of a map is {}", other.type_name());
            Err(type_error("MapElementAccessByNonString", message))
        }
        (Value::Integer(_) | Value::Float(_) | Value::Boolean(_) | Value::String(_), _)
        | (Value::Path(_) | Value::Bytes(_), _) => Err(wrong_type("LIST or MAP", subject)),
        (_, Value::String(key)) => property(subject, key, frame),
        _ => Err(wrong_type("LIST or MAP", subject)),
    }
}

/// The position of an index that counts from the end if it is negative; `None` before the start.
fn position(at: i64, length: usize) -> Option<usize> {
    match usize::try_from(at) {
        Ok(at) => Some(at),
        Err(_) => length.checked_sub(usize::try_from(at.unsigned_abs()).ok()?),
    }
}

/// `subject[from..to]`.
pub(super) fn slice(
    subject: &Value,
    from: Option<&Value>,
    to: Option<&Value>,
    graph: &Graph<'_>,
) -> Outcome<Value> {
    let items = match subject {
        Value::List(items) => items,
        Value::Null => return Ok(Value::Null),
        other => return Err(wrong_type("LIST", other)),
    };
    let bound = |bound: Option<&Value>, default: usize| match bound {
        None => Ok(Some(default)),
        Some(Value::Null) => Ok(None),
        Some(Value::Integer(at)) => Ok(Some(
            position(*at, items.len()).unwrap_or(0).min(items.len()),
        )),
        Some(other) => Err(wrong_type("INTEGER", other)),
    };
    let (from, to) = (bound(from, 0)?, bound(to, items.len())?);
    let Some((from, to)) = from.zip(to) else {
        return Ok(Value::Null);
    };
    let items = items.get(from..to).unwrap_or_default();
    graph.room(size_of_val(items))?;
    Ok(Value::list(items.to_vec()))
}
