//! Equality in three-valued logic.

use super::{Map, Value, order};

/// `a = b`: unknown (`None`) where a null decides. Values of different types are unequal, but an
/// integer equals the float of the same number.
pub(crate) fn equal(left: &Value, right: &Value) -> Option<bool> {
    match (left, right) {
        (Value::Null, _) | (_, Value::Null) => None,
        (Value::List(left), Value::List(right)) => equal_lists(left, right),
        (Value::Map(left), Value::Map(right)) => equal_maps(left, right),
        (Value::Float(left), Value::Float(right)) => Some(left == right),
        (Value::Point(left), Value::Point(right)) => Some(left == right),
        (Value::Float(float), Value::Integer(_)) | (Value::Integer(_), Value::Float(float)) => {
            Some(!float.is_nan() && order(left, right).is_eq())
        }
        _ => Some(order(left, right).is_eq()),
    }
}

fn equal_lists(left: &[Value], right: &[Value]) -> Option<bool> {
    if left.len() != right.len() {
        return Some(false);
    }
    all_equal(left.iter().zip(right))
}

fn equal_maps(left: &Map, right: &Map) -> Option<bool> {
    let same_keys =
        left.len() == right.len() && left.iter().zip(right.iter()).all(|(a, b)| a.0 == b.0);
    if !same_keys {
        return Some(false);
    }
    all_equal(left.iter().zip(right.iter()).map(|(a, b)| (a.1, b.1)))
}

fn all_equal<'v>(pairs: impl Iterator<Item = (&'v Value, &'v Value)>) -> Option<bool> {
    let mut known = true;
    for (left, right) in pairs {
        match equal(left, right) {
            Some(true) => {}
            Some(false) => return Some(false),
            None => known = false,
        }
    }
    known.then_some(true)
}

/// The value of a key of a map, null if it has none.
pub(crate) fn entry_of_map(map: &Map, key: &str) -> Value {
    map.get(key).cloned().unwrap_or(Value::Null)
}
