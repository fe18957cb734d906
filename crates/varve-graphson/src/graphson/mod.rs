//! GraphSON 3.0: JSON whose values have types.

mod elements;
mod read;
mod temporal;
mod write;

use std::str;

use crate::budget::{Budget, NESTING_MAX};
use crate::error::{Result, WireError};
use crate::json::Json;
use crate::value::Value;

pub(crate) use elements::path;
pub(crate) use read::Reader;
pub use write::write;

/// Reads one value. Plain JSON is a value too: objects are maps, whole numbers `Int` or wider.
///
/// # Errors
/// If the bytes are no GraphSON, name an unknown type, or exceed a limit.
pub fn read(bytes: &[u8]) -> Result<Value> {
    let json = Json::read(text(bytes)?)?;
    reader().value(json)
}

pub(crate) fn text(bytes: &[u8]) -> Result<&str> {
    str::from_utf8(bytes).map_err(|wrong| WireError::Malformed {
        place: wrong.valid_up_to(),
        message: "the text is not UTF-8".to_owned(),
    })
}

pub(crate) fn reader() -> Reader {
    Reader {
        budget: Budget::new(NESTING_MAX),
    }
}
