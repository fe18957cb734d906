//! Methods of lists, sets, maps and their entries: reading ones and mutating ones.

use std::cmp::Ordering;
use std::sync::Arc;

use varve_query::value::ValueSet;
use varve_query::value::number::Arithmetic;
use varve_query::{QueryError, Value};

use super::arithmetic::contains;
use super::environment::Item;
use super::errors::{no_such_method, out_of_bounds};
use super::texts::to_text;
use crate::tree::Text;

/// Methods that read at most one member.
const CHEAP: &[&str] = &[
    "size",
    "isEmpty",
    "get",
    "getAt",
    "first",
    "last",
    "head",
    "containsKey",
    "getKey",
    "getValue",
    "getOrDefault",
];

/// The number of members that may be shifted in one step.
const MOVES_A_STEP: usize = 64;

/// Whether the cost of a method is independent of the size of the collection.
pub(super) fn is_cheap(name: &str) -> bool {
    CHEAP.contains(&name)
}

/// Whether a method mutates its receiver.
pub(super) fn changes(name: &str) -> bool {
    matches!(
        name,
        "add" | "addAll" | "put" | "putAll" | "remove" | "removeAll" | "clear"
    )
}

/// Calls `copy` for a list, set or map: with whether it is shared, with the value itself, and with
/// the number of its members. A change of a shared collection copies its members.
pub(super) fn copied(value: &Value, copy: &mut impl FnMut(bool, &Value, usize)) {
    match value {
        Value::List(items) => copy(Arc::strong_count(items) > 1, value, items.len()),
        Value::Set(items) => copy(Arc::strong_count(items) > 1, value, items.len()),
        Value::Map(map) => copy(Arc::strong_count(map) > 1, value, map.len()),
        _ => {}
    }
}

/// The index in a list of this size. A negative number counts from the end. The result may be equal
/// to the size or greater: the caller checks this.
///
/// # Errors
/// When `place` is not a whole number, or is before the start of the list.
pub(super) fn place_in(size: usize, place: &Value) -> Result<usize, QueryError> {
    let wanted = place
        .as_long()
        .ok_or_else(|| QueryError::cast(place, "Integer"))?;
    let size_signed = i64::try_from(size).unwrap_or(i64::MAX);
    let from_start = if wanted < 0 {
        wanted + size_signed
    } else {
        wanted
    };
    usize::try_from(from_start).map_err(|_| out_of_bounds(wanted, size))
}

/// Adds a member to a list or set, or an entry or all entries of a map to a map. Returns whether
/// the collection has changed; true for lists and maps.
///
/// # Errors
/// When the receiver has no method `add` for this value.
pub(super) fn add(held: &mut Value, value: Value) -> Result<Value, QueryError> {
    match (&mut *held, value) {
        (Value::List(items), value) => {
            Arc::make_mut(items).push(value);
            Ok(Value::Bool(true))
        }
        (Value::Set(items), value) => Ok(Value::Bool(Arc::make_mut(items).insert(value))),
        (Value::Map(map), Value::Entry(entry)) => {
            Arc::make_mut(map).insert(entry.0.clone(), entry.1.clone());
            Ok(Value::Bool(true))
        }
        (Value::Map(map), Value::Map(more)) => {
            let entries = more.iter().map(|(key, value)| (key.clone(), value.clone()));
            Arc::make_mut(map).extend(entries);
            Ok(Value::Bool(true))
        }
        (_, value) => Err(no_such_method(
            &Item::Value(held.clone()),
            "add",
            &[Item::Value(value)],
        )),
    }
}

/// Sets the member of a map or list for a key. Returns the previous member, or null if there was
/// none. In a list, the index after the last member appends one.
///
/// # Errors
/// When the index is not a whole number, or is out of bounds; when the receiver is no map or list.
pub(super) fn put(held: &mut Value, key: Value, value: Value) -> Result<Value, QueryError> {
    match held {
        Value::Map(map) => Ok(Arc::make_mut(map).insert(key, value).unwrap_or_default()),
        Value::List(items) => {
            let place = place_in(items.len(), &key)?;
            let items = Arc::make_mut(items);
            match place.cmp(&items.len()) {
                Ordering::Less => Ok(std::mem::replace(&mut items[place], value)),
                Ordering::Equal => {
                    items.push(value);
                    Ok(Value::Null)
                }
                Ordering::Greater => Err(out_of_bounds(
                    key.as_long().unwrap_or_default(),
                    items.len(),
                )),
            }
        }
        other => Err(super::errors::no_such_property(
            &Item::Value(other.clone()),
            "[]",
        )),
    }
}

/// The steps charged for a mutating method: one for each member that it compares, or inserts from
/// another collection, and one for each [`MOVES_A_STEP`] members that it may shift. `add`, `put`
/// and `clear` cost nothing here.
pub(super) fn change_cost(held: &Value, name: &str, arguments: &[Value]) -> u64 {
    let size = |value: &Value| match value {
        Value::List(items) => items.len(),
        Value::Set(items) => items.len(),
        Value::Map(map) => map.len(),
        _ => 0,
    };
    let given: usize = arguments.iter().map(size).sum();
    let cost = match (name, held, arguments) {
        ("remove", Value::List(_), [Value::Int(_)])
        | ("remove", Value::Set(_) | Value::Map(_), _) => size(held) / MOVES_A_STEP,
        ("remove" | "removeAll", ..) => size(held) + given,
        ("addAll" | "putAll", ..) => given,
        _ => 0,
    };
    cost as u64
}

/// Calls a mutating method.
///
/// # Errors
/// When there is no such method with these arguments, or an index is wrong, as in [`put`]. Members
/// added until then stay.
pub(super) fn change(
    held: &mut Value,
    name: &str,
    mut arguments: Vec<Value>,
) -> Result<Value, QueryError> {
    if arguments.len() > 2 {
        let given: Vec<Item> = arguments.into_iter().map(Item::Value).collect();
        return Err(no_such_method(&Item::Value(held.clone()), name, &given));
    }
    let second = (arguments.len() == 2).then(|| arguments.pop()).flatten();
    let first = arguments.pop();
    match (name, first, second) {
        ("add", Some(value), None) => add(held, value),
        ("put", Some(key), Some(value)) => put(held, key, value),
        ("addAll" | "putAll", Some(more), None) => {
            for item in more.items().unwrap_or_default() {
                add(held, item)?;
            }
            Ok(Value::Bool(true))
        }
        ("remove", Some(key), None) => Ok(remove(held, &key)),
        ("removeAll", Some(gone), None) => {
            let gone: ValueSet = gone.items().unwrap_or_default().into_iter().collect();
            match held {
                Value::List(items) => Arc::make_mut(items).retain(|item| !gone.contains(item)),
                Value::Set(items) => Arc::make_mut(items).retain(|item| !gone.contains(item)),
                _ => {}
            }
            Ok(Value::Bool(true))
        }
        ("clear", None, None) => {
            match held {
                Value::List(items) => *items = Arc::default(),
                Value::Set(items) => *items = Arc::default(),
                Value::Map(map) => *map = Arc::default(),
                _ => {}
            }
            Ok(Value::Null)
        }
        (_, first, second) => {
            let given: Vec<Item> = first.into_iter().chain(second).map(Item::Value).collect();
            Err(no_such_method(&Item::Value(held.clone()), name, &given))
        }
    }
}

/// Removes a member. From a map, or from a list by an INT in range (an index), returns the removed
/// value, or null if the map has no such key. Otherwise removes the first equal member, and returns
/// whether there was one.
fn remove(held: &mut Value, key: &Value) -> Value {
    match held {
        Value::Map(map) => Arc::make_mut(map).shift_remove(key).unwrap_or_default(),
        Value::Set(items) => Value::Bool(Arc::make_mut(items).shift_remove(key)),
        Value::List(items) => {
            let items = Arc::make_mut(items);
            let by_place = matches!(key, Value::Int(_))
                .then(|| place_in(items.len(), key).ok())
                .flatten()
                .filter(|place| *place < items.len());
            match by_place {
                Some(place) => items.remove(place),
                None => {
                    let found = items.iter().position(|item| item.equals(key));
                    Value::Bool(found.map(|place| items.remove(place)).is_some())
                }
            }
        }
        _ => Value::Null,
    }
}

/// Calls a reading method; `None` if there is no such method with these arguments.
pub(super) fn call(
    held: &Value,
    name: &str,
    arguments: &[Value],
) -> Result<Option<Value>, QueryError> {
    let size = |count: usize| Value::Int(i32::try_from(count).unwrap_or(i32::MAX));
    let found = match (held, name, arguments) {
        (Value::Entry(entry), "getKey", []) => entry.0.clone(),
        (Value::Entry(entry), "getValue", []) => entry.1.clone(),
        (Value::Map(map), _, _) => return of_map(map, name, arguments),
        (Value::Path(path), "size", []) => size(path.objects.len()),
        (Value::Path(path), "objects", []) => Value::list(path.objects.clone()),
        (Value::Path(path), "labels", []) => {
            let each = path
                .labels
                .iter()
                .map(|labels| Value::set(labels.iter().map(|label| Value::Text(label.clone()))));
            Value::list(each.collect())
        }
        (Value::List(items), "size", []) => size(items.len()),
        (Value::Set(items), "size", []) => size(items.len()),
        (Value::List(items), "isEmpty", []) => Value::Bool(items.is_empty()),
        (Value::Set(items), "isEmpty", []) => Value::Bool(items.is_empty()),
        (Value::List(items), "get" | "getAt", [place]) => {
            let at = place_in(items.len(), place)?;
            let wrong = || out_of_bounds(place.as_long().unwrap_or_default(), items.len());
            items.get(at).cloned().ok_or_else(wrong)?
        }
        (Value::List(items), "first" | "head", []) => items.first().cloned().unwrap_or_default(),
        (Value::List(items), "last", []) => items.last().cloned().unwrap_or_default(),
        (Value::List(_) | Value::Set(_), "contains", [item]) => Value::Bool(contains(held, item)?),
        (Value::List(_) | Value::Set(_) | Value::Path(_), _, _) => {
            let items = held.items().unwrap_or_default();
            return of_items(items, name, arguments);
        }
        _ => return Ok(None),
    };
    Ok(Some(found))
}

fn of_map(
    map: &varve_query::value::ValueMap,
    name: &str,
    arguments: &[Value],
) -> Result<Option<Value>, QueryError> {
    Ok(Some(match (name, arguments) {
        ("size", []) => Value::Int(i32::try_from(map.len()).unwrap_or(i32::MAX)),
        ("isEmpty", []) => Value::Bool(map.is_empty()),
        ("get" | "getAt", [key]) => map.get(key).cloned().unwrap_or_default(),
        ("get" | "getOrDefault", [key, other]) => map.get(key).unwrap_or(other).clone(),
        ("containsKey", [key]) => Value::Bool(map.contains_key(key)),
        ("containsValue", [value]) => Value::Bool(map.values().any(|one| one.equals(value))),
        ("keySet", []) => Value::set(map.keys().cloned()),
        ("values", []) => Value::list(map.values().cloned().collect()),
        ("entrySet", []) => Value::list(
            map.iter()
                .map(|(key, value)| Value::Entry(Arc::new((key.clone(), value.clone()))))
                .collect(),
        ),
        // Members of a map that represents a schema element.
        ("name" | "id" | "status", []) => match map.get(&Value::text(name)) {
            Some(value) => value.clone(),
            None => return Ok(None),
        },
        _ => return Ok(None),
    }))
}

fn of_items(
    mut items: Vec<Value>,
    name: &str,
    arguments: &[Value],
) -> Result<Option<Value>, QueryError> {
    let count = |value: &Value| place_in(0, value).ok();
    Ok(Some(match (name, arguments) {
        ("toList" | "asList", []) => Value::list(items),
        ("toSet" | "unique", []) if name == "toSet" => Value::set(items),
        ("unique", []) => Value::list(Value::set(items).items().unwrap_or_default()),
        ("reverse", []) => {
            items.reverse();
            Value::list(items)
        }
        ("sort", []) => {
            items.sort_by(Value::order);
            Value::list(items)
        }
        ("sum", []) => {
            let mut each = items.into_iter();
            let first = each.next().unwrap_or_default();
            each.try_fold(first, |sum, item| Arithmetic::Add.apply(&sum, &item))?
        }
        ("min", []) => items.into_iter().min_by(Value::order).unwrap_or_default(),
        ("max", []) => items.into_iter().max_by(Value::order).unwrap_or_default(),
        ("join", [between]) => Value::Text(joined(&items, &to_text(between)?)?),
        ("join", []) => Value::Text(joined(&items, "")?),
        ("indexOf", [item]) => {
            let found = items.iter().position(|one| one.equals(item));
            let at = found.and_then(|at| i32::try_from(at).ok());
            Value::Int(at.unwrap_or(-1))
        }
        ("count", [item]) => {
            Value::count(items.iter().filter(|one| one.equals(item)).count() as u64)
        }
        ("take", [number]) => {
            items.truncate(count(number).unwrap_or(0));
            Value::list(items)
        }
        ("drop", [number]) => {
            let gone = count(number).unwrap_or(0).min(items.len());
            Value::list(items.split_off(gone))
        }
        ("subList", [from, to]) => {
            let size = items.len();
            let (from, to) = (place_in(size, from)?, place_in(size, to)?);
            let picked = items.get(from..to).ok_or_else(|| out_of_bounds(-1, size))?;
            Value::list(picked.to_vec())
        }
        ("flatten", []) => {
            let mut flat = Vec::new();
            for item in items {
                match &item {
                    Value::List(_) | Value::Set(_) => flat.extend(item.items().unwrap_or_default()),
                    _ => flat.push(item),
                }
            }
            Value::list(flat)
        }
        ("intersect", [other]) => {
            let other: ValueSet = other.items().unwrap_or_default().into_iter().collect();
            items.retain(|item| other.contains(item));
            Value::list(items)
        }
        _ => return Ok(None),
    }))
}

/// The items as text, joined by a separator. Stops without an error once the text is longer than
/// [`super::TEXT_BYTES_MAX`].
fn joined(items: &[Value], between: &str) -> Result<Text, QueryError> {
    let mut text = Text::default();
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            text.push_str(between);
        }
        text.push_str(&to_text(item)?);
        if text.len() > super::TEXT_BYTES_MAX {
            break;
        }
    }
    Ok(text)
}
