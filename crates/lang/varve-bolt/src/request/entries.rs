//! The entries of a request's dictionary, taken out by name. A null is the same as no entry.

use super::Kind;
use crate::error::{BoltError, Result};
use crate::packstream::{Map, Value};

/// The entries that were not taken yet.
pub(super) struct Entries {
    pub(super) request: Kind,
    entries: Map,
}

impl Entries {
    /// The entries of a field that must be a dictionary.
    pub(super) fn of(request: Kind, field: &'static str, value: Value) -> Result<Entries> {
        match value {
            Value::Map(entries) => Ok(Entries { request, entries }),
            value => Err(wrong(request, field, "a Dictionary", &value)),
        }
    }

    /// All entries that are left.
    pub(super) fn rest(self) -> Map {
        self.entries
    }

    /// The value of an entry; null if there is none.
    pub(super) fn take(&mut self, name: &str) -> Value {
        let place = self.entries.iter().position(|(key, _)| key == name);
        place.map_or(Value::Null, |place| self.entries.swap_remove(place).1)
    }

    pub(super) fn string(&mut self, name: &'static str) -> Result<Option<String>> {
        match self.take(name) {
            Value::Null => Ok(None),
            Value::String(text) => Ok(Some(text)),
            value => Err(self.wrong(name, "a String", &value)),
        }
    }

    /// A text for which the empty one stands for none, as drivers write it for "no database".
    pub(super) fn non_empty(&mut self, name: &'static str) -> Result<Option<String>> {
        Ok(self.string(name)?.filter(|text| !text.is_empty()))
    }

    pub(super) fn required_string(&mut self, name: &'static str) -> Result<String> {
        let text = self.string(name)?;
        text.ok_or_else(|| self.wrong(name, "a String", &Value::Null))
    }

    pub(super) fn map(&mut self, name: &'static str) -> Result<Option<Map>> {
        match self.take(name) {
            Value::Null => Ok(None),
            Value::Map(entries) => Ok(Some(entries)),
            value => Err(self.wrong(name, "a Dictionary", &value)),
        }
    }

    /// The error of an entry.
    pub(super) fn wrong(
        &self,
        name: &'static str,
        expected: &'static str,
        value: &Value,
    ) -> BoltError {
        wrong(self.request, name, expected, value)
    }
}

/// The error of a field or entry with this value. It shows numbers, but no texts, which may be
/// secret.
pub(super) fn wrong(
    request: Kind,
    field: &'static str,
    expected: &'static str,
    value: &Value,
) -> BoltError {
    let found = match value {
        Value::Null => "null or missing".to_owned(),
        Value::Int(value) => value.to_string(),
        value => value.type_name().to_owned(),
    };
    BoltError::Field {
        request,
        field,
        expected,
        found,
    }
}

/// A list of texts; null is the empty one.
pub(super) fn strings(request: Kind, field: &'static str, value: Value) -> Result<Vec<String>> {
    let expected = "a List of Strings";
    let values = match value {
        Value::Null => return Ok(Vec::new()),
        Value::List(values) => values,
        value => return Err(wrong(request, field, expected, &value)),
    };
    let text = |value| match value {
        Value::String(text) => Ok(text),
        value => Err(wrong(request, field, expected, &value)),
    };
    values.into_iter().map(text).collect()
}
