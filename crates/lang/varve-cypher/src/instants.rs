//! Values that name points of both times.

use varve_model::time::{parse_instant, parse_version};
use varve_model::{CommitVersion, Instant};

use crate::error::{Outcome, argument_error, type_error};
use crate::temporal::DateTime;
use crate::value::Value;

/// The instant of `FOR VALID_TIME`.
///
/// # Errors
/// When it is null, or no date, date-time or text of one.
pub(crate) fn instant_of(value: &Value) -> Outcome<Instant> {
    if value.is_null() {
        let message = "an instant of FOR VALID_TIME is null";
        return Err(type_error("InvalidArgumentType", message));
    }
    let text = text_of(value)?;
    parse_instant(&text).ok_or_else(|| {
        let message = format!(
            "The instant of FOR VALID_TIME must be a date or an RFC 3339 instant such as \
             '2024-05-01T12:00:00Z', up to the year 9999, but got '{text}'"
        );
        argument_error("InvalidArgumentValue", message)
    })
}

/// The commit of `FOR SYSTEM_TIME AS OF`: a number, or as [`instant_of`].
///
/// # Errors
/// As [`instant_of`].
pub(crate) fn version_of(value: &Value) -> Outcome<CommitVersion> {
    let text = match value {
        Value::Integer(number) => number.to_string(),
        other => text_of(other)?,
    };
    parse_version(&text).ok_or_else(|| {
        let message = format!(
            "FOR SYSTEM_TIME AS OF takes a commit version, an RFC 3339 instant such as \
             '2024-05-01T12:00:00Z', or 'now', but got '{text}'"
        );
        argument_error("InvalidArgumentValue", message)
    })
}

fn text_of(value: &Value) -> Outcome<String> {
    match value {
        Value::String(text) => Ok(text.to_string()),
        Value::Date(_) | Value::LocalDateTime(_) => Ok(value.to_string()),
        Value::DateTime(at) => Ok(utc_text(at).unwrap_or_else(|| value.to_string())),
        other => {
            let message = format!(
                "FOR VALID_TIME and FOR SYSTEM_TIME take a date, a date-time or a text, but got {}",
                other.type_name()
            );
            Err(type_error("InvalidArgumentType", message))
        }
    }
}

/// A date-time as a text in UTC, since named zones are not part of instants' texts.
fn utc_text(at: &DateTime) -> Option<String> {
    let mut utc = at.clone();
    utc.local.seconds = utc.local.seconds.checked_sub(utc.offset.into())?;
    Some(format!("{}Z", Value::LocalDateTime(utc.local)))
}
