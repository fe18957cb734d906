//! Values as keys of groups.

use std::hash::{Hash, Hasher};
use std::mem::discriminant;

use super::{Relationship, Value};

/// A value that is equal to another one if both are in one group: nulls are equal, a NaN equals
/// itself, and 1 equals 1.0.
#[derive(Debug, Clone)]
pub(crate) struct Key(pub(crate) Value);

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        super::order(&self.0, &other.0).is_eq()
    }
}

impl Eq for Key {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        hash(&self.0, state);
    }
}

fn hash<H: Hasher>(value: &Value, state: &mut H) {
    match value {
        // Numbers of both types must have one hash.
        Value::Float(float) => return hash_float(*float, state),
        other => discriminant(other).hash(state),
    }
    match value {
        Value::Null | Value::Float(_) => {}
        Value::Boolean(truth) => truth.hash(state),
        Value::Integer(integer) => integer.hash(state),
        Value::String(text) => text.hash(state),
        Value::List(items) => {
            items.len().hash(state);
            items.iter().for_each(|item| hash(item, state));
        }
        Value::Map(map) => {
            map.len().hash(state);
            for (key, value) in map.iter() {
                key.hash(state);
                hash(value, state);
            }
        }
        Value::Node(node) => node.key.hash(state),
        Value::Relationship(one) => hash_edge(one, state),
        Value::Path(path) => {
            path.nodes.iter().for_each(|node| node.key.hash(state));
            let edges = path.relationships.iter();
            edges.for_each(|one| hash_edge(one, state));
        }
        Value::Date(date) => date.hash(state),
        Value::LocalTime(time) => time.hash(state),
        Value::Time(time) => time.hash(state),
        Value::LocalDateTime(time) => time.hash(state),
        Value::DateTime(time) => time.hash(state),
        Value::Duration(duration) => duration.hash(state),
        // Zeros of unlike sign are equal.
        Value::Point(point) => (point.srid, (point.x + 0.0).to_bits()).hash(state),
        Value::Bytes(bytes) => bytes.hash(state),
    }
}

fn hash_edge<H: Hasher>(one: &Relationship, state: &mut H) {
    one.id.hash(state);
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "the cast is checked by casting back"
)]
fn hash_float<H: Hasher>(float: f64, state: &mut H) {
    let whole = float as i64;
    if whole as f64 == float && whole != i64::MAX {
        hash(&Value::Integer(whole), state);
    } else if float.is_nan() {
        f64::NAN.to_bits().hash(state);
    } else {
        float.to_bits().hash(state);
    }
}
