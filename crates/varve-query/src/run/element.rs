//! Parts of one value: ids, labels, properties, members of maps.

use std::sync::Arc;

use compact_str::CompactString;
use smallvec::SmallVec;
use varve_model::many::values_of;
use varve_model::{DataType, Properties, PropertyKeyId, Value as Stored};

use super::child::{Child, Key};
use super::context::Context;
use super::row::Row;
use crate::value::{Owner, Property, Token, VertexProperty};
use crate::{QueryError, Value};

/// Bytes charged for a property without its text.
const PROPERTY_BYTES: usize = 64;

/// The properties of an element that have been read.
pub(crate) fn properties(value: &Value) -> Option<&Properties> {
    match value {
        Value::Vertex(vertex) => vertex.content()?.map(|content| &content.properties),
        Value::Edge(edge, _) => Some(edge.properties()),
        Value::VertexProperty(property) => Some(property.current_meta()),
        _ => None,
    }
}

/// An estimate of the heap bytes of a value: its text, or the properties read from an element.
pub(crate) fn held(value: &Value) -> usize {
    let texts = |properties: &Properties| -> usize {
        let each = properties.iter().map(|(_, value)| match value {
            varve_model::Value::Text(text) => text.len(),
            varve_model::Value::Blob(bytes) => bytes.len(),
            varve_model::Value::List(items) | varve_model::Value::Set(items) => items.len() * 48,
            varve_model::Value::Map(entries) => entries.len() * 96,
            varve_model::Value::Many(many) => many.values().len() * 96,
            _ => 0,
        });
        each.sum::<usize>() + properties.len() * PROPERTY_BYTES
    };
    match value {
        Value::Text(text) => text.len(),
        Value::Vertex(_) | Value::Edge(..) => properties(value).map_or(0, texts),
        _ => 0,
    }
}

/// Whether any value of one property of an element satisfies `test`.
pub(crate) fn any_property(
    cx: &Context<'_>,
    value: &Value,
    key: &Key,
    mut test: impl FnMut(&Value) -> Result<bool, QueryError>,
) -> Result<bool, QueryError> {
    for own in property_each(cx, value, key) {
        if test(&own)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The values of one property of an element.
pub(crate) fn property_each(cx: &Context<'_>, value: &Value, key: &Key) -> SmallVec<[Value; 1]> {
    let found = key.id(cx).and_then(|(id, data_type)| {
        let stored = properties(value)?.get(id)?;
        Some((stored, data_type))
    });
    let Some((stored, data_type)) = found else {
        return SmallVec::new();
    };
    let each = values_of(Some(stored));
    each.map(|one| Value::of_property(one.value, data_type))
        .collect()
}

/// The value of one property of an element; of several values, the first.
pub(crate) fn property(cx: &Context<'_>, value: &Value, key: &Key) -> Option<Value> {
    let (id, data_type) = key.id(cx)?;
    let stored = properties(value)?.get(id)?;
    Some(Value::of_property(stored, data_type))
}

/// A property of an element, or a member of a map.
pub(crate) fn member(
    cx: &Context<'_>,
    value: &Value,
    key: &Key,
) -> Result<Option<Value>, QueryError> {
    match value {
        Value::Vertex(_) | Value::Edge(..) | Value::VertexProperty(_) => {
            Ok(property(cx, value, key))
        }
        Value::Property(_) => Ok(None),
        Value::Map(_) | Value::Tree(_) => Ok(entry(value, &key.name)),
        Value::Entry(entry) => {
            let is_it = entry.0 == Value::Text(key.name.clone());
            Ok(is_it.then(|| entry.1.clone()))
        }
        other => Err(QueryError::invalid(format!(
            "The by(\"{}\") modulator can only be applied to a traverser that is an Element or a \
             Map - it is being applied to [{}] a {} class instead",
            key.name,
            other.shown(),
            other.type_name()
        ))),
    }
}

/// The entry of a map or a tree whose key is this text.
pub(crate) fn entry(value: &Value, name: &CompactString) -> Option<Value> {
    match value {
        Value::Map(map) => map.get(&Value::Text(name.clone())).cloned(),
        Value::Tree(tree) => {
            let below = tree.0.get(&Value::Text(name.clone()))?;
            Some(Value::Tree(Arc::new(below.clone())))
        }
        _ => None,
    }
}

/// As [`member`], but of a vertex only a property for which `visible` has a result.
pub(crate) fn visible_member(
    cx: &mut Context<'_>,
    value: &Value,
    key: &Key,
    visible: &mut Child,
) -> Result<Option<Value>, QueryError> {
    if !matches!(value, Value::Vertex(_)) {
        return member(cx, value, key);
    }
    let shown = visible_properties(cx, value, std::slice::from_ref(key), visible)?;
    Ok(shown.into_iter().next().map(|(_, _, value)| value))
}

/// The properties of a vertex for which `visible` has a result: each with its name, as a property
/// object, and its value.
pub(crate) fn visible_properties(
    cx: &mut Context<'_>,
    value: &Value,
    keys: &[Key],
    visible: &mut Child,
) -> Result<Vec<(CompactString, Value, Value)>, QueryError> {
    let all = property_values(cx, value, keys).into_iter();
    let rows: Vec<Row> = all.map(|property| Row::start(property, cx)).collect();
    let exist = visible.exist(cx, &rows)?;
    let shown = rows.into_iter().zip(exist).filter(|(_, exists)| *exists);
    let each = shown.filter_map(|(row, _)| match &row.value {
        Value::VertexProperty(own) => {
            Some((own.name.clone(), row.value.clone(), own.value.clone()))
        }
        _ => None,
    });
    Ok(each.collect())
}

/// The id, label, key or value of a value.
pub(crate) fn token(
    cx: &Context<'_>,
    value: &Value,
    token: Token,
) -> Result<Option<Value>, QueryError> {
    let refused = || {
        QueryError::invalid(format!(
            "{} is a {}, which has no {token}",
            value.shown(),
            value.type_name()
        ))
    };
    Ok(match (token, value) {
        (Token::Id, Value::Vertex(vertex)) => Some(Value::of_id(vertex.id())),
        (Token::Id, Value::Edge(edge, _)) => Some(edge.id_value()),
        (Token::Id, Value::VertexProperty(property)) => Some(Value::text(&property.id())),
        (Token::Label, Value::Vertex(vertex)) => {
            let label = vertex.label().map(|label| cx.vertex_label(label));
            Some(Value::text(label.unwrap_or_default()))
        }
        (Token::Label, Value::Edge(edge, _)) => Some(Value::text(cx.edge_label(edge.label()))),
        (Token::Label | Token::Key, Value::VertexProperty(property)) => {
            Some(Value::Text(property.name.clone()))
        }
        (Token::Label | Token::Key, Value::Property(property)) => {
            Some(Value::Text(property.name.clone()))
        }
        (Token::Value, Value::VertexProperty(property)) => Some(property.value.clone()),
        (Token::Value, Value::Property(property)) => Some(property.value.clone()),
        (Token::Key, Value::Entry(entry)) => Some(entry.0.clone()),
        (Token::Value, Value::Entry(entry)) => Some(entry.1.clone()),
        _ => return Err(refused()),
    })
}

/// The element that a property belongs to.
pub(crate) fn owner(value: &Value) -> Result<Value, QueryError> {
    match value {
        Value::VertexProperty(property) => Ok(Value::Vertex(property.vertex.clone())),
        Value::Property(property) => Ok(property.owner()),
        other => Err(QueryError::cast(other, "Property")),
    }
}

/// The keys or the values of a map or an entry; the labels or the objects of a path.
pub(crate) fn column(value: &Value, keys: bool) -> Result<Value, QueryError> {
    if let Some(map) = value.as_map() {
        return Ok(match keys {
            true => Value::set(map.keys().cloned()),
            false => Value::list(map.values().cloned().collect()),
        });
    }
    Ok(match (value, keys) {
        (Value::Entry(entry), true) => entry.0.clone(),
        (Value::Entry(entry), false) => entry.1.clone(),
        (Value::Path(path), true) => {
            let labels = path.labels.iter();
            let set = |labels: &Vec<CompactString>| {
                Value::set(labels.iter().map(|label| Value::Text(label.clone())))
            };
            Value::list(labels.map(set).collect())
        }
        (Value::Path(path), false) => Value::list(path.objects.clone()),
        _ => {
            return Err(QueryError::invalid(format!(
                "The provided object does not have accessible {}: {}",
                if keys { "keys" } else { "values" },
                value.type_name()
            )));
        }
    })
}

/// The properties of an element with the names, ids and types of their keys. If `keys` is empty,
/// all; else those, in the order of `keys`.
fn named<'v>(
    cx: &'v Context<'_>,
    value: &'v Value,
    keys: &'v [Key],
) -> impl Iterator<Item = (CompactString, PropertyKeyId, DataType, &'v Stored)> {
    let properties = properties(value);
    let asked = keys.iter().filter_map(move |key| {
        let (id, data_type) = key.id(cx)?;
        Some((key.name.clone(), id, data_type, properties?.get(id)?))
    });
    let all = properties.filter(|_| keys.is_empty());
    let all = all.into_iter().flat_map(Properties::iter);
    let all = all.filter_map(|(id, stored)| {
        let key = cx.schema.property_key(id)?;
        Some((CompactString::new(&key.name), id, key.data_type, stored))
    });
    asked.chain(all)
}

/// The property values of an element with the names of their keys; several values of a key give
/// several pairs. If `keys` is empty, all; else those, in the order of `keys`.
pub(crate) fn pairs(cx: &Context<'_>, value: &Value, keys: &[Key]) -> Vec<(CompactString, Value)> {
    let mut pairs = Vec::new();
    for (name, _, data_type, stored) in named(cx, value, keys) {
        match stored {
            Stored::Many(many) => {
                for own in many.values() {
                    let own = Value::of_property(&own.value, data_type);
                    pairs.push((name.clone(), own));
                }
            }
            plain => pairs.push((name, Value::of_property(plain, data_type))),
        }
    }
    pairs
}

/// The properties of an element as property objects.
pub(crate) fn property_values(cx: &Context<'_>, value: &Value, keys: &[Key]) -> Vec<Value> {
    let mut all = Vec::new();
    for (name, key, data_type, stored) in named(cx, value, keys) {
        let Value::Vertex(vertex) = value else {
            let owner = match value {
                Value::Edge(edge, _) => Owner::Edge(Arc::clone(edge)),
                Value::VertexProperty(property) => Owner::VertexProperty(Arc::clone(property)),
                _ => continue,
            };
            let value = Value::of_property(stored, data_type);
            all.push(Value::Property(Arc::new(Property { owner, name, value })));
            continue;
        };
        for one in values_of(Some(stored)) {
            all.push(Value::VertexProperty(Arc::new(VertexProperty {
                vertex: Arc::clone(vertex),
                key,
                name: name.clone(),
                number: one.number,
                value: Value::of_property(one.value, data_type),
                meta: one.meta.cloned().unwrap_or_default(),
            })));
        }
    }
    all
}
