//! Reads JSON within GraphSON's limits, and converts its errors to those of this crate.

use varve_json::{Fault, JsonError, Limits};
pub(crate) use varve_json::{Json, write_string};

use crate::budget::{JSON_NESTING_MAX, VALUES_MAX};
use crate::error::{Result, WireError};

/// Reads a text that is one JSON value.
///
/// # Errors
/// [`WireError::Malformed`] when the text is not JSON, [`WireError::TooDeep`] when it is nested
/// deeper than [`JSON_NESTING_MAX`], [`WireError::TooMany`] when it has more values than
/// `values_max` or [`VALUES_MAX`].
pub(crate) fn read(text: &[u8], values_max: usize) -> Result<Json<'_>> {
    let limits = Limits {
        bytes: usize::MAX,
        depth: JSON_NESTING_MAX,
        values: values_max.min(VALUES_MAX),
        string_bytes: usize::MAX,
    };
    Ok(Json::read(text, limits)?)
}

impl From<JsonError> for WireError {
    fn from(error: JsonError) -> Self {
        match error.fault() {
            Fault::TooDeep => WireError::TooDeep,
            Fault::TooMany => WireError::TooMany,
            Fault::Malformed | Fault::TooLong => WireError::Malformed {
                place: error.offset(),
                message: error.message().to_owned(),
            },
        }
    }
}
