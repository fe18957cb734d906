//! Checks conditions on stored rows, decoding only the properties that they name.

use varve_encoding::DecodeError;
use varve_encoding::row::PropertyReader;
use varve_encoding::value::{ValueRef, take_value};
use varve_model::many::values_of;
use varve_model::{Condition, Predicate, Properties, PropertyKeyId, Value};

use crate::index::tokenizer;

/// The conditions of a query, all of which an element must satisfy.
#[derive(Debug, Clone, Default)]
pub(super) struct Filter {
    conditions: Vec<Condition>,
    keys: Vec<PropertyKeyId>,
}

impl Filter {
    pub(super) fn new(conditions: &[Condition]) -> Self {
        let mut keys: Vec<PropertyKeyId> =
            conditions.iter().map(|condition| condition.key).collect();
        keys.sort_unstable();
        keys.dedup();
        Self {
            conditions: conditions.to_vec(),
            keys,
        }
    }

    /// Whether the properties satisfy all conditions. A `TextContains` on a collection whose
    /// property key is in `searched` looks for the words in each member, as the collection's search
    /// index does. On another collection it holds if a member equals the whole text.
    pub(super) fn holds(&self, properties: &Properties, searched: &[PropertyKeyId]) -> bool {
        self.conditions
            .iter()
            .all(|condition| match &condition.predicate {
                Predicate::TextContains(words) if searched.contains(&condition.key) => properties
                    .get(condition.key)
                    .is_some_and(|value| any_member_contains(value, words)),
                _ => condition.holds(properties, &tokenizer::contains_words),
            })
    }

    /// The property keys that [`Filter::holds`] needs, in ascending order.
    pub(super) fn keys(&self) -> &[PropertyKeyId] {
        &self.keys
    }
}

fn any_member_contains(value: &Value, words: &str) -> bool {
    let mut values = values_of(Some(value));
    values.any(|one| {
        one.value.members().iter().any(|member| match member {
            Value::Text(text) => tokenizer::contains_words(text, words),
            _ => false,
        })
    })
}

/// Decodes the properties of a row whose keys are in `keys` (ascending).
pub(crate) fn pick(
    mut reader: PropertyReader<'_>,
    keys: &[PropertyKeyId],
) -> Result<Properties, DecodeError> {
    if keys.is_empty() {
        return Ok(Properties::new());
    }
    let mut picked = Properties::with_capacity(keys.len().min(reader.len()));
    while let Some((key, value)) = reader.next_property()? {
        if keys.binary_search(&key).is_ok() {
            picked.set(key, owned_value(value)?);
        }
        if keys.last().is_some_and(|last| key >= *last) {
            break;
        }
    }
    Ok(picked)
}

/// Copies a value out of stored content.
///
/// # Errors
/// When the value is damaged.
pub fn owned_value(value: ValueRef<'_>) -> Result<Value, DecodeError> {
    Ok(match value {
        ValueRef::Text(text) => Value::Text(text.to_owned()),
        ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
        ValueRef::Boolean(flag) => Value::Boolean(flag),
        ValueRef::Integer(number, width) => width
            .value(number)
            .ok_or_else(|| DecodeError::new("a whole number", &number.to_be_bytes(), 0))?,
        ValueRef::Float(number) => Value::Float(number),
        ValueRef::Double(number) => Value::Double(number),
        ValueRef::Date(millis) => Value::Date(millis),
        ValueRef::Uuid(uuid) => Value::Uuid(uuid),
        ValueRef::Nested(bytes) => {
            take_value(bytes)
                .ok_or_else(|| DecodeError::new("a value", bytes, 0))?
                .0
        }
    })
}
