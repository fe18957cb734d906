//! Conditions on property values, as HugeGraph's `P.…` predicates state them.

use std::cmp::Ordering;

use crate::{Properties, PropertyKeyId, Value};

/// What a property value must satisfy. Bounds have been converted to the property key's data type.
#[derive(Debug, Clone, PartialEq)]
pub enum Predicate {
    /// Equal to; a collection equals a collection with the same members.
    Eq(Value),
    /// Present and not equal to.
    Neq(Value),
    /// Less than.
    Lt(Value),
    /// Less than or equal to.
    Lte(Value),
    /// Greater than.
    Gt(Value),
    /// Greater than or equal to.
    Gte(Value),
    /// In `[from, to)`.
    Between(Value, Value),
    /// In `(from, to)`.
    Inside(Value, Value),
    /// Below the first or above the second.
    Outside(Value, Value),
    /// Equal to one of these.
    Within(Vec<Value>),
    /// Text that contains the words of this text, by the search index's tokenizer.
    TextContains(String),
    /// Collection that contains this member.
    Contains(Value),
}

/// A predicate on one property.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// The property.
    pub key: PropertyKeyId,
    /// The predicate that its value must satisfy.
    pub predicate: Predicate,
}

impl Predicate {
    /// Whether `value` satisfies this predicate. [`Predicate::TextContains`] is decided by
    /// `contains_words(text, words)`, since only the search index knows the tokenizer.
    pub fn holds(&self, value: &Value, contains_words: &dyn Fn(&str, &str) -> bool) -> bool {
        let is = |bound: &Value, wanted: &[Ordering]| {
            compared(value, bound).is_some_and(|order| wanted.contains(&order))
        };
        use Ordering::{Equal, Greater, Less};
        if let Value::Many(many) = value {
            // Of several values, one that satisfies the predicate is enough.
            let mut values = many.values().iter();
            return values.any(|it| self.holds(&it.value, contains_words));
        }
        match self {
            Self::Eq(bound) => same(value, bound),
            Self::Neq(bound) => !same(value, bound),
            Self::Lt(bound) => is(bound, &[Less]),
            Self::Lte(bound) => is(bound, &[Less, Equal]),
            Self::Gt(bound) => is(bound, &[Greater]),
            Self::Gte(bound) => is(bound, &[Greater, Equal]),
            Self::Between(from, to) => is(from, &[Greater, Equal]) && is(to, &[Less]),
            Self::Inside(from, to) => is(from, &[Greater]) && is(to, &[Less]),
            Self::Outside(low, high) => is(low, &[Less]) || is(high, &[Greater]),
            Self::Within(values) => values.iter().any(|bound| same(value, bound)),
            Self::TextContains(words) => match value {
                Value::Text(text) => contains_words(text, words),
                Value::List(items) | Value::Set(items) => items
                    .iter()
                    .any(|item| matches!(item, Value::Text(text) if text == words)),
                _ => false,
            },
            Self::Contains(member) => match value {
                Value::List(items) | Value::Set(items) => {
                    items.iter().any(|item| same(item, member))
                }
                _ => false,
            },
        }
    }
}

impl Condition {
    /// Whether the element with `properties` satisfies this condition; a missing property satisfies
    /// none.
    pub fn holds(
        &self,
        properties: &Properties,
        contains_words: &dyn Fn(&str, &str) -> bool,
    ) -> bool {
        properties
            .get(self.key)
            .is_some_and(|value| self.predicate.holds(value, contains_words))
    }
}

/// Equality of values: numbers by their value whatever their width, collections member by member.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::List(x) | Value::Set(x), Value::List(y) | Value::Set(y)) => {
            x.len() == y.len() && x.iter().zip(y).all(|(x, y)| same(x, y))
        }
        _ => compared(a, b).map_or(a == b, |order| order == Ordering::Equal),
    }
}

/// The order of two values as conditions see it: unlike in [`Value::compare`], zeros of both signs
/// are equal, and NaN has no order.
fn compared(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Float(_) | Value::Double(_), _) | (_, Value::Float(_) | Value::Double(_)) => {
            a.as_f64()?.partial_cmp(&b.as_f64()?)
        }
        _ => a.compare(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_of_both_signs_are_equal_and_nan_satisfies_no_comparison() {
        let holds = |predicate: Predicate, value: f64| {
            predicate.holds(&Value::Double(value), &|_, _| false)
        };
        let number = Value::Double;
        for zero in [0.0, -0.0] {
            for value in [0.0, -0.0] {
                assert!(holds(Predicate::Eq(number(zero)), value));
                assert!(holds(Predicate::Within(vec![number(zero)]), value));
                assert!(holds(Predicate::Lte(number(zero)), value));
                assert!(holds(Predicate::Gte(number(zero)), value));
                assert!(!holds(Predicate::Neq(number(zero)), value));
                assert!(!holds(Predicate::Lt(number(zero)), value));
                assert!(!holds(Predicate::Gt(number(zero)), value));
            }
            assert!(holds(Predicate::Neq(number(zero)), f64::NAN));
            for predicate in [
                Predicate::Eq(number(f64::NAN)),
                Predicate::Gt(number(zero)),
                Predicate::Lte(number(zero)),
                Predicate::Outside(number(zero), number(1.0)),
            ] {
                assert!(!holds(predicate, f64::NAN));
            }
        }
    }
}
