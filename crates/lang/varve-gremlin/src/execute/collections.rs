//! Methods of lists, sets, maps and their entries: reading ones and mutating ones.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::sync::Arc;

use varve_query::value::number::Arithmetic;
use varve_query::value::{TextBuilder, sort};
use varve_query::{QueryError, Value};

use super::arithmetic::contains;
use super::environment::Item;
use super::errors::{no_such_method, out_of_bounds};
use super::{bytes_of, member_bytes};
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

/// The number of members of a collection that is shared, so that a change copies it.
pub(super) fn shared_members(value: &Value) -> Option<usize> {
    let (references, members) = match value {
        Value::List(items) => (Arc::strong_count(items), items.len()),
        Value::Set(items) => (Arc::strong_count(items), items.len()),
        Value::Map(map) => (Arc::strong_count(map), map.len()),
        _ => return None,
    };
    (references > 1).then_some(members)
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
        ("remove", Value::List(items), [key]) if index_in(items, key).is_some() => {
            items.len() / MOVES_A_STEP
        }
        ("remove", Value::Set(_) | Value::Map(_), _) => size(held) / MOVES_A_STEP,
        ("remove" | "removeAll", ..) => size(held) + given,
        ("addAll" | "putAll", ..) => given,
        _ => 0,
    };
    cost as u64
}

/// The bytes that a change copies from the members of the added values; 0 if each value becomes one
/// member.
pub(super) fn spread_bytes(held: &Value, name: &str, added: &[Value]) -> usize {
    let spreads = |value: &Value| match name {
        "addAll" | "putAll" => true,
        "add" => matches!((held, value), (Value::Map(_), Value::Map(_))),
        _ => false,
    };
    let spread = added.iter().filter(|value| spreads(value));
    spread.map(bytes_of).sum()
}

/// The bytes of the list that `flatten` makes. The members may be one list many times, so that the
/// result takes more than they do.
pub(super) fn flat_bytes(held: &Value) -> usize {
    let flat = |member: &Value| match member {
        Value::List(_) | Value::Set(_) => members_of(member).into_iter().map(member_bytes).sum(),
        other => member_bytes(other),
    };
    members_of(held).into_iter().map(flat).sum()
}

/// The members of a list, a set or a path, without copies of them; of other values, none.
fn members_of(held: &Value) -> Vec<&Value> {
    match held {
        Value::List(items) => items.iter().collect(),
        Value::Set(items) => items.iter().collect(),
        Value::Path(path) => path.objects.iter().collect(),
        _ => Vec::new(),
    }
}

/// Calls `work` with a test whether a value is among the members of `others`, or among the entries
/// of a map.
pub(super) fn with_lookup<R>(others: &Value, work: impl FnOnce(&dyn Fn(&Value) -> bool) -> R) -> R {
    let entries = match others {
        Value::Map(_) => others.items().unwrap_or_default(),
        _ => Vec::new(),
    };
    let members: HashSet<&Value> = members_of(others).into_iter().chain(&entries).collect();
    work(&|value| members.contains(value))
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
            with_lookup(&gone, |is_gone| match held {
                Value::List(items) => Arc::make_mut(items).retain(|item| !is_gone(item)),
                Value::Set(items) => Arc::make_mut(items).retain(|item| !is_gone(item)),
                _ => {}
            });
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

/// The index in a list that an INT is; `None` for other values, and if it is out of range.
fn index_in(items: &[Value], key: &Value) -> Option<usize> {
    matches!(key, Value::Int(_))
        .then(|| place_in(items.len(), key).ok())
        .flatten()
        .filter(|place| *place < items.len())
}

/// Removes a member. From a map, or from a list by an INT in range (an index), returns the removed
/// value, or null if the map has no such key. Otherwise removes the first equal member, and returns
/// whether there was one.
fn remove(held: &mut Value, key: &Value) -> Value {
    match held {
        Value::Map(map) => Arc::make_mut(map).shift_remove(key).unwrap_or_default(),
        Value::Set(items) => Value::Bool(Arc::make_mut(items).shift_remove(key)),
        Value::List(items) => {
            let by_place = index_in(items, key);
            let items = Arc::make_mut(items);
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
        (Value::List(_) | Value::Set(_) | Value::Path(_), _, _) if !is_cheap(name) => {
            return of_items(&members_of(held), name, arguments);
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
    items: &[&Value],
    name: &str,
    arguments: &[Value],
) -> Result<Option<Value>, QueryError> {
    let count = |value: &Value| place_in(0, value).unwrap_or(0).min(items.len());
    let copied = |items: &[&Value]| Value::list(items.iter().copied().cloned().collect());
    let each = || items.iter().copied();
    Ok(Some(match (name, arguments) {
        ("toList" | "asList", []) => copied(items),
        ("toSet", []) => Value::set(each().cloned()),
        ("unique", []) => {
            let mut seen = HashSet::new();
            Value::list(each().filter(|item| seen.insert(*item)).cloned().collect())
        }
        ("reverse", []) => Value::list(each().rev().cloned().collect()),
        ("sort", []) => copied(&sort(items.to_vec(), |a, b| a.order(b))),
        ("sum", []) => {
            let first = items.first().copied().cloned().unwrap_or_default();
            let mut rest = each().skip(1);
            rest.try_fold(first, |sum, item| Arithmetic::Add.apply(&sum, item))?
        }
        ("min", []) => each()
            .min_by(|a, b| a.order(b))
            .cloned()
            .unwrap_or_default(),
        ("max", []) => each()
            .max_by(|a, b| a.order(b))
            .cloned()
            .unwrap_or_default(),
        ("join", [between]) => Value::Text(joined(items, &between.to_text()?)?),
        ("join", []) => Value::Text(joined(items, "")?),
        ("indexOf", [item]) => {
            let found = each().position(|one| one.equals(item));
            let at = found.and_then(|at| i32::try_from(at).ok());
            Value::Int(at.unwrap_or(-1))
        }
        ("count", [item]) => Value::count(each().filter(|one| one.equals(item)).count() as u64),
        ("take", [number]) => copied(&items[..count(number)]),
        ("drop", [number]) => copied(&items[count(number)..]),
        ("subList", [from, to]) => {
            let size = items.len();
            let (from, to) = (place_in(size, from)?, place_in(size, to)?);
            let picked = items.get(from..to).ok_or_else(|| out_of_bounds(-1, size))?;
            copied(picked)
        }
        ("flatten", []) => {
            let mut flat = Vec::new();
            for item in each() {
                match item {
                    Value::List(_) | Value::Set(_) => {
                        flat.extend(members_of(item).into_iter().cloned());
                    }
                    _ => flat.push(item.clone()),
                }
            }
            Value::list(flat)
        }
        ("intersect", [other]) => with_lookup(other, |is_other| {
            Value::list(each().filter(|item| is_other(item)).cloned().collect())
        }),
        _ => return Ok(None),
    }))
}

/// The items as text, joined by a separator.
fn joined(items: &[&Value], between: &str) -> Result<Text, QueryError> {
    let mut text = TextBuilder::default();
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            text.push(between)?;
        }
        text.push_value(item)?;
    }
    Ok(text.finish())
}
