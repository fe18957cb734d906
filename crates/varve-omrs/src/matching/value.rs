//! Compares property values.

use std::cmp::Ordering;

use super::number::Number;
use crate::instances::{
    EnumPropertyValue, InstanceProperties, InstancePropertyValue, Primitive, PrimitivePropertyValue,
};

/// Compares two primitive values: numbers and dates by value, whatever their kinds, and texts by
/// characters. `None` when they cannot be compared.
#[must_use]
pub fn compare_primitives(one: &Primitive, other: &Primitive) -> Option<Ordering> {
    if let (Some(one), Some(other)) = (Number::of(one), Number::of(other)) {
        return Some(one.compare(other));
    }
    match (one, other) {
        (Primitive::Boolean(one), Primitive::Boolean(other)) => Some(one.cmp(other)),
        (Primitive::String(one), Primitive::String(other)) => Some(one.cmp(other)),
        (Primitive::Char(one), Primitive::Char(other)) => Some(one.cmp(other)),
        (Primitive::Char(one), Primitive::String(other)) => {
            Some((*one.encode_utf8(&mut [0; 4])).cmp(other.as_str()))
        }
        (Primitive::String(one), Primitive::Char(other)) => {
            Some(one.as_str().cmp(&*other.encode_utf8(&mut [0; 4])))
        }
        _ => None,
    }
}

/// Whether two primitive values are equal.
pub(super) fn are_equal(one: &Primitive, other: &Primitive) -> bool {
    match (one, other) {
        (Primitive::Object(one), Primitive::Object(other)) => one == other,
        _ => compare_primitives(one, other) == Some(Ordering::Equal),
    }
}

/// Whether two property values are equal. Their types are not compared.
pub(super) fn same_value(one: &InstancePropertyValue, other: &InstancePropertyValue) -> bool {
    use InstancePropertyValue as Value;
    match (one, other) {
        (Value::Primitive(one), Value::Primitive(other)) => match (&one.value, &other.value) {
            (Some(one), Some(other)) => are_equal(one, other),
            (None, None) => true,
            _ => false,
        },
        (Value::Enum(one), Value::Enum(other)) => same_enum(one, other),
        (Value::Struct(one), Value::Struct(other)) => {
            same_values(one.attributes.as_ref(), other.attributes.as_ref())
        }
        (Value::Map(one), Value::Map(other)) => {
            same_values(one.values.as_ref(), other.values.as_ref())
        }
        (Value::Array(one), Value::Array(other)) => {
            same_values(one.values.as_ref(), other.values.as_ref())
        }
        _ => false,
    }
}

/// Compares by symbolic name, or by number if one of them has no name.
pub(super) fn same_enum(one: &EnumPropertyValue, other: &EnumPropertyValue) -> bool {
    match (one.symbolic_name.as_deref(), other.symbolic_name.as_deref()) {
        (Some(one), Some(other)) => one == other,
        _ => one.ordinal == other.ordinal,
    }
}

fn same_values(one: Option<&InstanceProperties>, other: Option<&InstanceProperties>) -> bool {
    let count = |of: Option<&InstanceProperties>| of.map_or(0, |of| of.values.len());
    count(one) == count(other)
        && one.is_none_or(|one| {
            one.values.iter().all(|(name, value)| {
                let other = other.and_then(|other| other.get(name));
                other.is_some_and(|other| same_value(value, other))
            })
        })
}

/// The text of a string.
pub(super) fn string(value: &PrimitivePropertyValue) -> Option<&str> {
    match &value.value {
        Some(Primitive::String(text)) => Some(text),
        _ => None,
    }
}

/// Whether `test` holds for some string in a value: the value itself, an enum's symbolic name, or a
/// nested one.
pub(super) fn some_text(value: &InstancePropertyValue, test: &mut dyn FnMut(&str) -> bool) -> bool {
    let nested = match value {
        InstancePropertyValue::Primitive(value) => return string(value).is_some_and(test),
        InstancePropertyValue::Enum(value) => {
            return value.symbolic_name.as_deref().is_some_and(test);
        }
        InstancePropertyValue::Struct(value) => value.attributes.as_ref(),
        InstancePropertyValue::Map(value) => value.values.as_ref(),
        InstancePropertyValue::Array(value) => value.values.as_ref(),
    };
    nested.is_some_and(|nested| nested.values.values().any(|value| some_text(value, test)))
}

/// The sort key of a property. Values of different kinds are ordered by kind; missing values come
/// first.
#[derive(Debug, Clone)]
pub enum SortValue {
    /// The property has no value, or none that can be ordered.
    Missing,
    /// A primitive value.
    Primitive(Primitive),
}

impl SortValue {
    /// The sort key of a property with this value: a primitive value, or an enum's symbolic name.
    #[must_use]
    pub fn of_value(value: Option<&InstancePropertyValue>) -> Self {
        match value {
            Some(InstancePropertyValue::Primitive(PrimitivePropertyValue {
                value: Some(value),
                ..
            })) if !matches!(value, Primitive::Object(_)) => Self::Primitive(value.clone()),
            Some(InstancePropertyValue::Enum(EnumPropertyValue {
                symbolic_name: Some(name),
                ..
            })) => Self::Primitive(Primitive::String(name.clone())),
            _ => Self::Missing,
        }
    }

    /// Whether there is no value to order by.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Missing)
    }

    /// Compares two sort keys.
    #[must_use]
    pub fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Primitive(one), Self::Primitive(other)) => compare_primitives(one, other)
                .unwrap_or_else(|| kind_rank(one).cmp(&kind_rank(other))),
            (Self::Missing, Self::Missing) => Ordering::Equal,
            (Self::Missing, _) => Ordering::Less,
            (_, Self::Missing) => Ordering::Greater,
        }
    }
}

/// The rank of a value's kind. It orders values that cannot be compared, so that the order is
/// total.
fn kind_rank(value: &Primitive) -> u8 {
    match value {
        Primitive::Boolean(_) => 0,
        Primitive::Char(_) | Primitive::String(_) => 2,
        Primitive::Object(_) => 3,
        _ => 1,
    }
}
