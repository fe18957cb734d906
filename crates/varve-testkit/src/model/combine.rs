//! The results of updates that combine a stored and a sent value.

use varve_model::{Properties, PropertyKeyId, Value};

/// How a batch update combines a stored and a sent value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "HugeGraph's names are the definition")]
pub enum Strategy {
    Sum,
    Bigger,
    Smaller,
    Union,
    Intersection,
    Append,
    Eliminate,
    Override,
}

/// Sets the properties `new`, or adds to collections; a SET keeps each member once.
pub fn append(properties: &mut Properties, new: &Properties) {
    for (key, value) in new.iter() {
        let value = match (properties.get(key), value) {
            (Some(Value::List(old)), Value::List(new)) => {
                Value::List(old.iter().chain(new).cloned().collect())
            }
            (Some(Value::Set(old)), Value::Set(new)) => Value::Set(union(old, new)),
            _ => value.clone(),
        };
        properties.set(key, value);
    }
}

fn union(old: &[Value], new: &[Value]) -> Vec<Value> {
    let mut members = old.to_vec();
    for value in new {
        if !members.contains(value) {
            members.push(value.clone());
        }
    }
    members
}

/// Adds the properties that are only stored to the sent ones. Combines properties that both have by
/// the key's strategy; without one, the sent value stays.
pub fn combine_all(
    sent: &mut Properties,
    stored: &Properties,
    strategies: &[(PropertyKeyId, Strategy)],
) {
    for (key, old) in stored.iter() {
        let strategy = strategies.iter().find(|(named, _)| *named == key);
        match (sent.get(key), strategy) {
            (None, _) => sent.set(key, old.clone()),
            (Some(new), Some((_, strategy))) => sent.set(key, combine(*strategy, old, new)),
            (Some(_), None) => {}
        }
    }
}

/// Combines a stored and a sent value of one type.
///
/// # Panics
/// When the strategy does not fit the values, which is a mistake of the test.
#[must_use]
pub fn combine(strategy: Strategy, old: &Value, new: &Value) -> Value {
    use std::cmp::Ordering::{Greater, Less};
    match (strategy, old, new) {
        (Strategy::Override, _, _) => new.clone(),
        (Strategy::Bigger, _, _) => match new.compare(old) {
            Some(Greater) => new.clone(),
            _ => old.clone(),
        },
        (Strategy::Smaller, _, _) => match new.compare(old) {
            Some(Less) => new.clone(),
            _ => old.clone(),
        },
        (Strategy::Sum, Value::Int(a), Value::Int(b)) => Value::Int(a + b),
        (Strategy::Sum, Value::Long(a), Value::Long(b)) => Value::Long(a + b),
        (Strategy::Sum, Value::Double(a), Value::Double(b)) => Value::Double(a + b),
        (Strategy::Union, Value::Set(a), Value::Set(b)) => Value::Set(union(a, b)),
        (Strategy::Intersection, Value::Set(a), Value::Set(b)) => Value::Set(
            a.iter()
                .filter(|value| b.contains(value))
                .cloned()
                .collect(),
        ),
        (Strategy::Append, Value::List(a), Value::List(b)) => {
            Value::List(a.iter().chain(b).cloned().collect())
        }
        (Strategy::Append, Value::Set(a), Value::Set(b)) => Value::Set(union(a, b)),
        (Strategy::Eliminate, Value::List(a), Value::List(b)) => Value::List(
            a.iter()
                .filter(|value| !b.contains(value))
                .cloned()
                .collect(),
        ),
        (Strategy::Eliminate, Value::Set(a), Value::Set(b)) => Value::Set(
            a.iter()
                .filter(|value| !b.contains(value))
                .cloned()
                .collect(),
        ),
        _ => panic!("{strategy:?} of {old:?} and {new:?}"),
    }
}
