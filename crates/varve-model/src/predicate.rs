//! Conditions on property values, as HugeGraph's `P.…` predicates state them.

use std::cmp::Ordering;

use crate::{Datum, Properties, PropertyKeyId, Value};

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
    /// Near these bounds: all values that a query language may find between them, and more.
    Near(Bounds),
}

/// Closed bounds of one kind: texts, numbers or dates. Values of another kind and lists are
/// outside, but those whose kind has no order of its own here are within: the query's language
/// decides.
#[derive(Debug, Clone, PartialEq)]
pub struct Bounds {
    /// The least value; `None` = without.
    pub from: Option<Value>,
    /// The greatest value; `None` = without.
    pub to: Option<Value>,
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
            Self::Near(bounds) => bounds.contain(value),
        }
    }
}

/// A kind of values with an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Texts, by their bytes.
    Text,
    /// Numbers of fixed width.
    Number,
    /// Dates in milliseconds.
    Date,
    /// True and false.
    Boolean,
}

impl Kind {
    /// The kind of a value; `None` if a language may see it as a value of several kinds.
    #[must_use]
    pub const fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Text(_) => Some(Self::Text),
            Value::Byte(_) | Value::Short(_) | Value::Int(_) | Value::Long(_) => Some(Self::Number),
            Value::Float(_) | Value::Double(_) => Some(Self::Number),
            Value::Date(_) => Some(Self::Date),
            Value::Boolean(_) => Some(Self::Boolean),
            _ => None,
        }
    }
}

impl Bounds {
    /// The kind of the bounds; `None` if they have none, and contain everything.
    #[must_use]
    pub fn kind(&self) -> Option<Kind> {
        self.from.as_ref().or(self.to.as_ref()).and_then(Kind::of)
    }

    /// Whether a value is within. An index that serves bounds has an entry of each such value
    /// there.
    fn contain(&self, value: &Value) -> bool {
        let kind = self.kind();
        match value {
            Value::Object(datum) => match &**datum {
                Datum::Bool(flag) => return self.contain(&Value::Boolean(*flag)),
                Datum::Int(number) => return self.contain(&Value::Long(*number)),
                Datum::Float(number) => return self.contain(&Value::Double(*number)),
                Datum::Text(text) => return self.contain(&Value::Text(text.clone())),
                Datum::Null | Datum::List(_) | Datum::Map(_) => return true,
            },
            // A language may read a UUID as its text.
            Value::Uuid(_) => return kind == Some(Kind::Text),
            Value::List(_) | Value::Set(_) | Value::Blob(_) => return false,
            _ => {}
        }
        match (Kind::of(value), kind) {
            (None, _) | (_, None) => true,
            (Some(own), Some(kind)) if own != kind => false,
            _ => {
                // A NaN is in no order, and not within: it may be at either end of an index.
                let is = |bound: &Option<Value>, outside: Ordering| match bound {
                    None => true,
                    Some(bound) => compared(value, bound).is_some_and(|order| order != outside),
                };
                is(&self.from, Ordering::Less) && is(&self.to, Ordering::Greater)
            }
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

    #[test]
    fn bounds_contain_what_a_language_may_find() {
        let near = |from: Option<Value>, to: Option<Value>| Predicate::Near(Bounds { from, to });
        let holds = |near: &Predicate, value: Value| near.holds(&value, &|_, _| false);
        let numbers = near(Some(Value::Long(5)), Some(Value::Double(7.5)));
        for value in [Value::Int(5), Value::Double(7.5), Value::Float(6.0)] {
            assert!(holds(&numbers, value));
        }
        for value in [Value::Long(4), Value::Double(7.6), Value::Text("6".into())] {
            assert!(!holds(&numbers, value));
        }
        assert!(holds(&numbers, Value::Short(6)));
        for nan in [f64::NAN, -f64::NAN] {
            assert!(!holds(&numbers, Value::Double(nan)));
        }
        assert!(!holds(&numbers, Value::Short(1)));
        assert!(!holds(&numbers, Value::List(vec![Value::Long(6)])));
        assert!(holds(&numbers, Value::Object(Box::new(Datum::Int(6)))));
        assert!(!holds(&numbers, Value::Object(Box::new(Datum::Int(8)))));
        // Beyond 2^53, rounding leaves neighbours within.
        let large = near(Some(Value::Double(9_007_199_254_740_992.0)), None);
        assert!(holds(&large, Value::Long(9_007_199_254_740_993)));
        let texts = near(None, Some(Value::Text("b".into())));
        assert!(holds(&texts, Value::Text("b".into())));
        assert!(!holds(&texts, Value::Text("ba".into())));
        assert!(!holds(&texts, Value::Long(1)));
    }
}
