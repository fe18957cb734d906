//! The orders of values: that of `<`, which leaves pairs unordered, and the total one.

use std::cmp::Ordering;

use super::{Map, Path, Point, Relationship, Value};

/// 2^63, the first float above all integers.
const INTEGERS_END: f64 = 9_223_372_036_854_775_808.0;

/// The order of `<` and `>`: `None` where values cannot be compared, or a null decides. NaN is
/// not compared here: see [`is_nan`].
pub(crate) fn compare(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Null, _) | (_, Value::Null) => None,
        (Value::List(left), Value::List(right)) => compare_lists(left, right),
        _ if is_number(left) && is_number(right) => {
            (!is_nan(left) && !is_nan(right)).then(|| order(left, right))
        }
        (Value::Boolean(_), Value::Boolean(_))
        | (Value::String(_), Value::String(_))
        | (Value::Date(_), Value::Date(_))
        | (Value::LocalTime(_), Value::LocalTime(_))
        | (Value::Time(_), Value::Time(_))
        | (Value::LocalDateTime(_), Value::LocalDateTime(_))
        | (Value::DateTime(_), Value::DateTime(_)) => Some(order(left, right)),
        _ => None,
    }
}

/// Whether the order of two numbers is false in every direction, since one of them is a NaN.
pub(crate) fn is_unordered(left: &Value, right: &Value) -> bool {
    is_number(left) && is_number(right) && (is_nan(left) || is_nan(right))
}

fn is_number(value: &Value) -> bool {
    matches!(value, Value::Integer(_) | Value::Float(_))
}

fn is_nan(value: &Value) -> bool {
    matches!(value, Value::Float(float) if float.is_nan())
}

fn compare_lists(left: &[Value], right: &[Value]) -> Option<Ordering> {
    for (left, right) in left.iter().zip(right) {
        match compare(left, right)? {
            Ordering::Equal => {}
            unequal => return Some(unequal),
        }
    }
    Some(left.len().cmp(&right.len()))
}

/// The place of a value's type in the total order.
const fn rank(value: &Value) -> u8 {
    match value {
        Value::Map(_) => 0,
        Value::Node(_) => 1,
        Value::Relationship(_) => 2,
        Value::List(_) => 3,
        Value::Path(_) => 4,
        Value::Point(_) => 5,
        Value::DateTime(_) => 6,
        Value::LocalDateTime(_) => 7,
        Value::Date(_) => 8,
        Value::Time(_) => 9,
        Value::LocalTime(_) => 10,
        Value::Duration(_) => 11,
        Value::Bytes(_) => 12,
        Value::String(_) => 13,
        Value::Boolean(_) => 14,
        Value::Integer(_) | Value::Float(_) => 15,
        Value::Null => 16,
    }
}

/// The total order of `ORDER BY`, `min` and `max`, ascending: types in their order, a NaN after
/// all numbers, null last. Values are equal in it if they are in one group.
pub(crate) fn order(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Map(left), Value::Map(right)) => order_maps(left, right),
        (Value::Node(left), Value::Node(right)) => left.key.cmp(&right.key),
        (Value::Relationship(left), Value::Relationship(right)) => order_edges(left, right),
        (Value::List(left), Value::List(right)) => order_lists(left, right),
        (Value::Path(left), Value::Path(right)) => order_paths(left, right),
        (Value::Point(left), Value::Point(right)) => order_points(left, right),
        (Value::DateTime(left), Value::DateTime(right)) => left.cmp(right),
        (Value::LocalDateTime(left), Value::LocalDateTime(right)) => left.cmp(right),
        (Value::Date(left), Value::Date(right)) => left.cmp(right),
        (Value::Time(left), Value::Time(right)) => left.cmp(right),
        (Value::LocalTime(left), Value::LocalTime(right)) => left.cmp(right),
        (Value::Duration(left), Value::Duration(right)) => left.cmp(right),
        (Value::Bytes(left), Value::Bytes(right)) => left.cmp(right),
        (Value::String(left), Value::String(right)) => left.cmp(right),
        (Value::Boolean(left), Value::Boolean(right)) => left.cmp(right),
        (Value::Integer(left), Value::Integer(right)) => left.cmp(right),
        (Value::Float(left), Value::Float(right)) => order_floats(*left, *right),
        (Value::Integer(left), Value::Float(right)) => order_mixed(*left, *right),
        (Value::Float(left), Value::Integer(right)) => order_mixed(*right, *left).reverse(),
        _ => rank(left).cmp(&rank(right)),
    }
}

fn order_floats(left: f64, right: f64) -> Ordering {
    let order = left.partial_cmp(&right);
    order.unwrap_or_else(|| left.is_nan().cmp(&right.is_nan()))
}

/// The order of an integer and a float, without rounding the integer.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the float is within the range of integers and has no fraction"
)]
fn order_mixed(integer: i64, float: f64) -> Ordering {
    if float.is_nan() || float >= INTEGERS_END {
        return Ordering::Less;
    }
    if float < -INTEGERS_END {
        return Ordering::Greater;
    }
    let whole = float.floor();
    let order = integer.cmp(&(whole as i64));
    // An integer that equals the floor is less than a float with a fraction.
    order.then(order_floats(whole, float))
}

fn order_lists(left: &[Value], right: &[Value]) -> Ordering {
    let items = left
        .iter()
        .zip(right)
        .map(|(left, right)| order(left, right));
    first_unequal(items).then(left.len().cmp(&right.len()))
}

fn order_maps(left: &Map, right: &Map) -> Ordering {
    let both = || left.iter().zip(right.iter());
    left.len()
        .cmp(&right.len())
        .then_with(|| first_unequal(both().map(|(left, right)| left.0.cmp(right.0))))
        .then_with(|| first_unequal(both().map(|(left, right)| order(left.1, right.1))))
}

fn order_edges(left: &Relationship, right: &Relationship) -> Ordering {
    left.id.cmp(&right.id)
}

fn order_paths(left: &Path, right: &Path) -> Ordering {
    let nodes = left.nodes.iter().zip(&right.nodes);
    let edges = left.relationships.iter().zip(&right.relationships);
    let steps = nodes.map(|(left, right)| left.key.cmp(&right.key));
    let walks = edges.map(|(left, right)| order_edges(left, right));
    first_unequal(steps)
        .then_with(|| first_unequal(walks))
        .then(left.nodes.len().cmp(&right.nodes.len()))
}

fn order_points(left: &Point, right: &Point) -> Ordering {
    let z = |point: &Point| point.z.unwrap_or(0.0);
    left.srid
        .cmp(&right.srid)
        .then(order_floats(left.x, right.x))
        .then(order_floats(left.y, right.y))
        .then(order_floats(z(left), z(right)))
}

fn first_unequal(mut orders: impl Iterator<Item = Ordering>) -> Ordering {
    orders
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}
