//! GraphSON 3.0: JSON with typed values.

mod elements;
mod read;
mod temporal;
mod write;

use crate::budget::{Budget, NESTING_MAX, VALUES_MAX};
use crate::error::Result;
use crate::json;
use crate::value::Value;

pub(crate) use elements::path;
pub(crate) use read::Reader;
pub use write::write;

/// Reads one value. Plain JSON is accepted too: objects become maps, whole numbers `Int` or wider.
///
/// # Errors
///
/// If the bytes are not GraphSON, contain an unknown type, or exceed a limit.
pub fn read(bytes: &[u8]) -> Result<Value> {
    let json = json::read(bytes, VALUES_MAX)?;
    reader(VALUES_MAX).value(json)
}

/// The string of a value in GraphSON, for these types.
pub(crate) fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::Binary(bytes) => Some(temporal::bytes_text(bytes)),
        Value::Duration(length) => Some(temporal::duration_text(*length)),
        Value::Temporal(other) => Some(temporal::text(other).1),
        Value::Address(address) => Some(address.to_string()),
        _ => None,
    }
}

pub(crate) fn reader(values_max: usize) -> Reader {
    Reader {
        budget: Budget::new(NESTING_MAX, values_max),
    }
}
