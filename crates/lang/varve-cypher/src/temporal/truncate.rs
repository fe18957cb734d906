//! Truncation of temporal values to a unit.

use super::construct::{
    Kind, Parts, build_date, build_time, check_fields, invalid, out_of_range, zone_of,
};
use super::{Date, LocalTime, NANOS_PER_SECOND};
use crate::error::Outcome;
use crate::value::{Map, Value};

/// The start of the unit that a temporal value is in, as a value of a type, with fields changed by
/// a map. A time of day in a zone with a name has the zone's offset of `today`.
///
/// # Errors
/// When the unit is unknown or the type has none, the value lacks a part, or as
/// [`super::construct::from_map`].
pub(crate) fn truncate(
    kind: Kind,
    unit: &str,
    value: &Value,
    (map, today): (&Map, Date),
) -> Outcome<Value> {
    let Some(parts) = Parts::of(value) else {
        return Err(invalid("only points in time are truncated"));
    };
    check_fields(kind, map, false)?;
    let unit = unit.to_ascii_lowercase();
    let mut parts = match time_unit(&unit) {
        Some(nanos) if kind.has_time() => truncate_time(parts, nanos)?,
        None if kind.has_date() || unit == "day" => truncate_date(parts, &unit)?,
        _ => return Err(invalid(format!("the type has no unit '{unit}'"))),
    };
    if kind.has_date() {
        let Some(date) = parts.date else {
            return Err(invalid("the value has no date"));
        };
        parts.date = Some(build_date(map, Some(date))?);
    } else if parts.date.is_none() {
        parts.date = Some(today);
    }
    if kind.has_time() {
        let Some(time) = parts.time else {
            return Err(invalid("the value has no time"));
        };
        parts.time = Some(build_time(map, Some(time), false, true)?);
    }
    if let Some(zone) = zone_of(map)? {
        (parts.zone, parts.offset) = (Some(zone), None);
    }
    parts.value(kind)
}

/// The nanoseconds of a unit smaller than a day.
fn time_unit(unit: &str) -> Option<i64> {
    Some(match unit {
        "hour" => 3_600 * NANOS_PER_SECOND,
        "minute" => 60 * NANOS_PER_SECOND,
        "second" => NANOS_PER_SECOND,
        "millisecond" => 1_000_000,
        "microsecond" => 1_000,
        _ => return None,
    })
}

fn truncate_time(parts: Parts, unit: i64) -> Outcome<Parts> {
    // A date begins at midnight, which no such unit changes.
    let nanos = parts.time.unwrap_or(LocalTime::MIDNIGHT).nanos;
    Ok(Parts {
        time: Some(LocalTime {
            nanos: nanos - nanos % unit,
        }),
        ..parts
    })
}

fn truncate_date(parts: Parts, unit: &str) -> Outcome<Parts> {
    let date = match parts.date {
        Some(date) => Some(first_day(date, unit)?),
        None if unit == "day" => None,
        None => return Err(invalid("the value has no date")),
    };
    Ok(Parts {
        date,
        time: Some(LocalTime::MIDNIGHT),
        ..parts
    })
}

fn first_day(date: Date, unit: &str) -> Outcome<Date> {
    let (year, month, _) = date.fields();
    let of_years = |years: i64| Date::of(year.div_euclid(years) * years, 1, 1);
    let found = match unit {
        "millennium" => of_years(1_000),
        "century" => of_years(100),
        "decade" => of_years(10),
        "year" => of_years(1),
        "weekyear" => Some(Date::first_week(date.week().0)),
        "quarter" => Some(date.first_of_quarter()),
        "month" => Date::of(year, month, 1),
        "week" => date.plus_days(1 - date.weekday()),
        "day" => Some(date),
        _ => return Err(invalid(format!("there is no unit '{unit}'"))),
    };
    found.ok_or_else(out_of_range)
}
