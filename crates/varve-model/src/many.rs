//! Several values under one property key of a vertex, each with a number and meta-properties.
//!
//! Only vertices of open graphs have them. A single value with number 0 and without meta-properties
//! is stored as a plain [`Value`], so it costs the same as in a declared graph.

use crate::value::{Cardinality, Value};
use crate::{Properties, PropertyKeyId};

/// One of several values.
#[derive(Debug, Clone, PartialEq)]
pub struct Numbered {
    /// The number that identifies the value among those of its key, as long as it exists.
    pub number: u32,
    /// The value; never [`Value::Many`].
    pub value: Value,
    /// The properties of this property; their values are never [`Value::Many`].
    pub meta: Properties,
}

/// The values of one key: at least one, ascending by number.
#[derive(Debug, Clone, PartialEq)]
pub struct Many(Vec<Numbered>);

/// One value of a key, as a reader sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OneValue<'a> {
    /// Its number; 0 for a plain one.
    pub number: u32,
    /// The value.
    pub value: &'a Value,
    /// The properties of this property; `None` for a plain one.
    pub meta: Option<&'a Properties>,
}

impl Many {
    /// These values, unless there are none, their numbers do not ascend, or one of them or of their
    /// meta-properties is a [`Value::Many`] itself.
    #[must_use]
    pub fn new(values: Vec<Numbered>) -> Option<Self> {
        let plain = |value: &Value| !matches!(value, Value::Many(_));
        let ascend = values
            .windows(2)
            .all(|pair| pair[0].number < pair[1].number);
        let all_plain = values
            .iter()
            .all(|it| plain(&it.value) && it.meta.iter().all(|(_, value)| plain(value)));
        (!values.is_empty() && ascend && all_plain).then_some(Self(values))
    }

    /// The values, ascending by number.
    #[must_use]
    pub fn values(&self) -> &[Numbered] {
        &self.0
    }
}

impl Properties {
    /// The values of `key`, ascending by number: none, a plain one, or several.
    pub fn values(&self, key: PropertyKeyId) -> impl Iterator<Item = OneValue<'_>> {
        values_of(self.get(key))
    }

    /// Writes one value of `key` with these meta-properties, and returns its number.
    ///
    /// SINGLE replaces all values of the key. LIST adds one after them. SET does the same, unless
    /// the key has an identical value: that one stays and gets the meta-properties.
    pub fn write(
        &mut self,
        key: PropertyKeyId,
        cardinality: Cardinality,
        value: Value,
        meta: Properties,
    ) -> u32 {
        let mut values = match cardinality {
            Cardinality::Single => Vec::new(),
            Cardinality::List | Cardinality::Set => self.take_values(key),
        };
        let equal = match cardinality {
            Cardinality::Set => values.iter().position(|it| it.value.is_identical(&value)),
            Cardinality::Single | Cardinality::List => None,
        };
        let at = match equal {
            Some(at) => {
                for (key, value) in meta.into_pairs() {
                    values[at].meta.set(key, value);
                }
                at
            }
            None => {
                let number = values.last().map_or(0, |last| last.number + 1);
                values.push(Numbered {
                    number,
                    value,
                    meta,
                });
                values.len() - 1
            }
        };
        let number = values[at].number;
        self.put_values(key, values);
        number
    }

    /// Removes the value of `key` with this number; returns whether it existed.
    pub fn remove_value(&mut self, key: PropertyKeyId, number: u32) -> bool {
        let mut values = self.take_values(key);
        let before = values.len();
        values.retain(|it| it.number != number);
        let removed = values.len() < before;
        self.put_values(key, values);
        removed
    }

    /// Sets a meta-property of the value of `key` with this number, or removes it (`None`); returns
    /// whether the value exists.
    pub fn write_meta(
        &mut self,
        key: PropertyKeyId,
        number: u32,
        meta: PropertyKeyId,
        value: Option<Value>,
    ) -> bool {
        let mut values = self.take_values(key);
        let found = values.iter_mut().find(|it| it.number == number);
        let is_there = found.is_some();
        if let Some(found) = found {
            match value {
                Some(value) => found.meta.set(meta, value),
                None => drop(found.meta.remove(meta)),
            }
        }
        self.put_values(key, values);
        is_there
    }

    fn take_values(&mut self, key: PropertyKeyId) -> Vec<Numbered> {
        match self.remove(key) {
            None => Vec::new(),
            Some(Value::Many(many)) => many.0,
            Some(value) => vec![Numbered {
                number: 0,
                value,
                meta: Properties::new(),
            }],
        }
    }

    /// Stores the values of a key; a single one with number 0 and without meta-properties as a
    /// plain value.
    fn put_values(&mut self, key: PropertyKeyId, mut values: Vec<Numbered>) {
        match values.as_slice() {
            [] => {}
            [lone] if lone.number == 0 && lone.meta.is_empty() => {
                let lone = values.pop().expect("there is one");
                self.set(key, lone.value);
            }
            _ => self.set(key, Value::Many(Box::new(Many(values)))),
        }
    }
}

/// The values in a stored value: those of a [`Value::Many`], else the value itself; none for
/// `None`.
pub fn values_of(stored: Option<&Value>) -> impl Iterator<Item = OneValue<'_>> {
    let (plain, many) = match stored {
        Some(Value::Many(many)) => (None, many.values()),
        plain => (plain, [].as_slice()),
    };
    let plain = plain.map(|value| OneValue {
        number: 0,
        value,
        meta: None,
    });
    let many = many.iter().map(|it| OneValue {
        number: it.number,
        value: &it.value,
        meta: Some(&it.meta),
    });
    plain.into_iter().chain(many)
}
