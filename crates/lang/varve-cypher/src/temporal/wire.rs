//! Temporal values as clients send them.

use super::{DateTime, LocalDateTime, Zone, parse};
use crate::value::Value;

impl DateTime {
    /// The date-time at an instant in a zone, by the zone's name or offset (`Europe/Berlin`,
    /// `+02:00`); `None` for an unknown zone, or outside the years that there are.
    #[must_use]
    pub fn in_zone(utc: LocalDateTime, zone: &str) -> Option<DateTime> {
        Zone::of(zone)?.at_utc(utc)
    }
}

/// A temporal value from the text that [`Value`] prints, by the name of its type in Neo4j's Query
/// API, such as `LocalDateTime`; `None` for other names, and for texts of another form.
#[must_use]
pub fn read(kind: &str, text: &str) -> Option<Value> {
    match kind {
        "Date" => parse::date(text).map(Value::Date),
        "LocalTime" => parse::local_time(text).map(Value::LocalTime),
        "Time" => parse::time(text).map(Value::Time),
        "LocalDateTime" => parse::local_datetime(text).map(Value::LocalDateTime),
        "OffsetDateTime" | "ZonedDateTime" => {
            let at = parse::datetime(text)?;
            Some(Value::DateTime(Box::new(at)))
        }
        "Duration" => {
            let duration = parse::duration(text)?;
            Some(Value::Duration(Box::new(duration)))
        }
        _ => None,
    }
}
