//! Temporal values from maps of fields, and from other temporal values.

use super::parse::{date_of_week, ordinal_date, quarter_date};
use super::zone::Zone;
use super::{Date, DateTime, LocalDateTime, LocalTime, Time};
use crate::error::{Outcome, argument_error, type_error};
use crate::value::{Map, Value};

/// The types of temporal values that are points in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Date,
    LocalTime,
    Time,
    LocalDateTime,
    DateTime,
}

impl Kind {
    pub(crate) const fn has_date(self) -> bool {
        matches!(self, Kind::Date | Kind::LocalDateTime | Kind::DateTime)
    }

    pub(crate) const fn has_time(self) -> bool {
        !matches!(self, Kind::Date)
    }

    pub(crate) const fn has_zone(self) -> bool {
        matches!(self, Kind::Time | Kind::DateTime)
    }
}

/// The parts of a temporal value; those that its type lacks are absent.
#[derive(Debug, Clone, Default)]
pub(crate) struct Parts {
    pub(crate) date: Option<Date>,
    pub(crate) time: Option<LocalTime>,
    pub(crate) zone: Option<Zone>,
    /// The offset, which decides where a zone's clock shows a time twice.
    pub(crate) offset: Option<i32>,
}

impl Parts {
    /// The parts of a point in time; `None` for other values.
    pub(crate) fn of(value: &Value) -> Option<Parts> {
        Some(match value {
            Value::Date(date) => Parts {
                date: Some(*date),
                ..Parts::default()
            },
            Value::LocalTime(time) => Parts {
                time: Some(*time),
                ..Parts::default()
            },
            Value::Time(time) => Parts {
                time: Some(LocalTime { nanos: time.nanos }),
                zone: Some(Zone::Offset(time.offset)),
                offset: Some(time.offset),
                date: None,
            },
            Value::LocalDateTime(at) => Parts {
                date: Some(at.date()),
                time: Some(at.time()),
                ..Parts::default()
            },
            Value::DateTime(at) => Parts {
                date: Some(at.local.date()),
                time: Some(at.local.time()),
                zone: Some(Zone::of_datetime(at)),
                offset: Some(at.offset),
            },
            _ => return None,
        })
    }

    fn local(&self) -> LocalDateTime {
        let date = self.date.unwrap_or(Date { days: 0 });
        date.at(self.time.unwrap_or(LocalTime::MIDNIGHT))
    }

    /// The value of a type with these parts. A time is midnight by default, a zone UTC.
    pub(crate) fn value(&self, kind: Kind) -> Outcome<Value> {
        let time = self.time.unwrap_or(LocalTime::MIDNIGHT);
        let zone = self.zone.as_ref().unwrap_or(&Zone::UTC);
        let missing = || invalid("the value has no date");
        Ok(match kind {
            Kind::Date => Value::Date(self.date.ok_or_else(missing)?),
            Kind::LocalTime => Value::LocalTime(time),
            Kind::Time => {
                let nanos = time.nanos;
                Value::Time(Time {
                    nanos,
                    offset: self.offset_of(zone)?,
                })
            }
            Kind::LocalDateTime => Value::LocalDateTime(self.date.ok_or_else(missing)?.at(time)),
            Kind::DateTime => {
                self.date.ok_or_else(missing)?;
                let at = zone.at_local(self.local(), self.offset);
                Value::DateTime(Box::new(at.ok_or_else(out_of_range)?))
            }
        })
    }

    /// The zone's offset at this date and time.
    fn offset_of(&self, zone: &Zone) -> Outcome<i32> {
        let at = zone.at_local(self.local(), self.offset);
        Ok(at.ok_or_else(out_of_range)?.offset)
    }

    /// The same moment in another zone.
    fn moved(&self, to: Zone) -> Outcome<Parts> {
        let from = self.zone.as_ref().unwrap_or(&Zone::UTC);
        let at = from.at_local(self.local(), self.offset);
        let at: DateTime = at
            .and_then(|at| to.at_utc(at.utc()))
            .ok_or_else(out_of_range)?;
        Ok(Parts {
            date: self.date.map(|_| at.local.date()),
            time: Some(at.local.time()),
            zone: Some(to),
            offset: Some(at.offset),
        })
    }
}

pub(crate) fn invalid(message: impl Into<String>) -> crate::error::CypherError {
    argument_error("InvalidArgumentValue", message)
}

pub(crate) fn out_of_range() -> crate::error::CypherError {
    argument_error("NumberOutOfRange", "the date or duration is out of range")
}

/// A temporal value as another type: parts are dropped, or have defaults.
///
/// # Errors
/// When the value is not temporal, or lacks a date that the type needs.
pub(crate) fn convert(kind: Kind, value: &Value) -> Outcome<Value> {
    let parts = Parts::of(value).ok_or_else(|| not_temporal(value))?;
    if kind.has_time() && !kind.has_date() && parts.time.is_none() {
        return Err(invalid("the value has no time"));
    }
    parts.value(kind)
}

fn not_temporal(value: &Value) -> crate::error::CypherError {
    let name = value.type_name();
    type_error(
        "InvalidArgumentType",
        format!("{name} is not a temporal value"),
    )
}

const DATE_FIELDS: &[&str] = &[
    "year",
    "month",
    "day",
    "week",
    "dayOfWeek",
    "ordinalDay",
    "quarter",
    "dayOfQuarter",
];
const TIME_FIELDS: &[&str] = &[
    "hour",
    "minute",
    "second",
    "millisecond",
    "microsecond",
    "nanosecond",
];
const EPOCH_FIELDS: &[&str] = &["epochSeconds", "epochMillis", "nanosecond"];

/// A value of a type from a map of fields, with other temporal values under `date`, `time` and
/// `datetime`. A time of day in a zone with a name has the zone's offset of `today`.
///
/// # Errors
/// When a field is unknown, is missing, has a wrong type, or is out of range.
pub(crate) fn from_map(kind: Kind, map: &Map, today: Date) -> Outcome<Value> {
    if map.get("epochSeconds").is_some() || map.get("epochMillis").is_some() {
        return from_epoch(kind, map);
    }
    check_fields(kind, map, true)?;
    let (date, time) = selected(map)?;
    let mut parts = Parts::default();
    if kind.has_date() {
        let base = date.as_ref().and_then(|date| date.date);
        if kind.has_time() && base.is_none() {
            check_day(map)?;
        }
        parts.date = Some(build_date(map, base)?);
    } else {
        parts.date = Some(today);
    }
    if kind.has_time() {
        let base = time.as_ref().and_then(|time| time.time);
        parts.time = Some(build_time(map, base, !kind.has_date(), false)?);
    }
    if !kind.has_zone() {
        return parts.value(kind);
    }
    if let Some(time) = time {
        // A time of day has an offset and no zone.
        let offset = time.offset.filter(|_| kind == Kind::Time);
        parts.zone = offset.map(Zone::Offset).or(time.zone);
        parts.offset = time.offset;
    }
    match (zone_of(map)?, &parts.zone) {
        (Some(zone), Some(_)) => parts.moved(zone)?.value(kind),
        (Some(zone), None) => Parts {
            zone: Some(zone),
            ..parts
        }
        .value(kind),
        (None, _) => parts.value(kind),
    }
}

/// Refuses a time of day without a day: each larger unit must be there.
fn check_day(map: &Map) -> Outcome<()> {
    let has = |key: &str| map.get(key).is_some();
    let has_time = has("time") || TIME_FIELDS.iter().any(|key| has(key));
    let missing = if has("week") || has("dayOfWeek") {
        ["week", "dayOfWeek"].into_iter().find(|key| !has(key))
    } else if has("quarter") || has("dayOfQuarter") {
        ["quarter", "dayOfQuarter"]
            .into_iter()
            .find(|key| !has(key))
    } else if has("ordinalDay") {
        None
    } else {
        ["month", "day"].into_iter().find(|key| !has(key))
    };
    match missing.filter(|_| has_time) {
        Some(key) => Err(invalid(format!("a time of day needs the field '{key}'"))),
        None => Ok(()),
    }
}

/// The temporal values from which date and time are taken.
fn selected(map: &Map) -> Outcome<(Option<Parts>, Option<Parts>)> {
    let parts = |key: &str| match map.get(key) {
        None => Ok(None),
        Some(value) => match Parts::of(value) {
            Some(parts) => Ok(Some(parts)),
            None => Err(not_temporal(value)),
        },
    };
    if let Some(both) = parts("datetime")? {
        if both.date.is_none() {
            return Err(invalid("the value of 'datetime' has no date"));
        }
        return Ok((Some(both.clone()), Some(both)));
    }
    let (date, time) = (parts("date")?, parts("time")?);
    if date.as_ref().is_some_and(|date| date.date.is_none()) {
        return Err(invalid("the value of 'date' has no date"));
    }
    if time.as_ref().is_some_and(|time| time.time.is_none()) {
        return Err(invalid("the value of 'time' has no time"));
    }
    Ok((date, time))
}

fn from_epoch(kind: Kind, map: &Map) -> Outcome<Value> {
    let known = |key: &str| EPOCH_FIELDS.contains(&key) || key == "timezone";
    if kind != Kind::DateTime || !map.iter().all(|(key, _)| known(key)) {
        return Err(invalid(
            "epoch fields combine with 'nanosecond' and 'timezone' only",
        ));
    }
    for key in ["epochSeconds", "epochMillis"] {
        if map.get(key).is_some_and(Value::is_null) {
            return Err(invalid(format!("field '{key}' is null")));
        }
    }
    let seconds = integer(map, "epochSeconds")?.unwrap_or(0);
    let millis = integer(map, "epochMillis")?.unwrap_or(0);
    let nanos = integer(map, "nanosecond")?.unwrap_or(0);
    check_nanosecond(nanos)?;
    let nanos = i128::from(nanos);
    let total = i128::from(seconds) * 1_000_000_000 + i128::from(millis) * 1_000_000 + nanos;
    from_nanos(total, &zone_of(map)?.unwrap_or(Zone::UTC))
}

/// Refuses what is no nanosecond of a second.
///
/// # Errors
/// When it is negative, or a second or more.
pub(crate) fn check_nanosecond(nanos: i64) -> Outcome<()> {
    match (0..1_000_000_000).contains(&nanos) {
        true => Ok(()),
        false => Err(invalid("the nanosecond is not 0 to 999999999")),
    }
}

/// The date and time of so many nanoseconds since 1970 UTC.
///
/// # Errors
/// When the year is out of range.
pub(crate) fn from_nanos(nanos: i128, zone: &Zone) -> Outcome<Value> {
    let at = LocalDateTime::of_nanos(nanos).and_then(|utc| zone.at_utc(utc));
    Ok(Value::DateTime(Box::new(at.ok_or_else(out_of_range)?)))
}

/// Refuses fields that a type does not have.
///
/// # Errors
/// When there is one.
pub(crate) fn check_fields(kind: Kind, map: &Map, selects: bool) -> Outcome<()> {
    for (key, value) in map.iter() {
        let key: &str = key;
        let known = match key {
            "date" => selects && kind.has_date(),
            "time" => selects && kind.has_time(),
            "datetime" => selects && kind.has_date() && kind.has_time(),
            "timezone" => kind.has_zone(),
            _ => {
                (kind.has_date() && DATE_FIELDS.contains(&key))
                    || (kind.has_time() && TIME_FIELDS.contains(&key))
            }
        };
        if !known {
            return Err(invalid(format!(
                "a value of this type has no field '{key}'"
            )));
        }
        if value.is_null() && ["date", "time", "datetime", "timezone"].contains(&key) {
            return Err(invalid(format!("field '{key}' is null")));
        }
    }
    Ok(())
}

/// The zone of the field `timezone`.
///
/// # Errors
/// When it is not the name of a zone, nor an offset.
pub(crate) fn zone_of(map: &Map) -> Outcome<Option<Zone>> {
    match map.get("timezone") {
        None => Ok(None),
        Some(Value::String(name)) => match Zone::of(name) {
            Some(zone) => Ok(Some(zone)),
            None => Err(invalid(format!("there is no time zone '{name}'"))),
        },
        Some(other) => Err(not_a("STRING", "timezone", other)),
    }
}

fn not_a(expected: &str, key: &str, value: &Value) -> crate::error::CypherError {
    let found = value.type_name();
    type_error(
        "InvalidArgumentType",
        format!("field '{key}': expected {expected}, found {found}"),
    )
}

/// The value of a field that is null: its first one. Years and parts of a day are counted from 0.
fn first_of(key: &str) -> i64 {
    i64::from(DATE_FIELDS.contains(&key) && key != "year")
}

/// The number of a field.
fn integer(map: &Map, key: &str) -> Outcome<Option<i64>> {
    match map.get(key) {
        None => Ok(None),
        Some(Value::Integer(number)) => Ok(Some(*number)),
        Some(Value::Null) => Ok(Some(first_of(key))),
        Some(other) => Err(not_a("INTEGER", key, other)),
    }
}

/// The date of the fields; what they lack is the base's, or the first of its unit.
///
/// # Errors
/// When the date does not exist, or fields are missing or do not go together.
pub(crate) fn build_date(map: &Map, base: Option<Date>) -> Outcome<Date> {
    let field = |key: &str| integer(map, key);
    let year = field("year")?;
    let missing = || invalid("the year is missing");
    let (week, weekday) = (field("week")?, field("dayOfWeek")?);
    let (quarter, day_of_quarter) = (field("quarter")?, field("dayOfQuarter")?);
    let (ordinal, month, day) = (field("ordinalDay")?, field("month")?, field("day")?);
    let groups = [
        week.is_some() || weekday.is_some(),
        quarter.is_some() || day_of_quarter.is_some(),
        ordinal.is_some(),
        month.is_some() || day.is_some(),
    ];
    if groups.iter().filter(|given| **given).count() > 1 {
        return Err(invalid("fields of different forms of dates"));
    }
    let found = if groups[0] {
        let year = year
            .or(base.map(|base| base.week().0))
            .ok_or_else(missing)?;
        let week = week.or(base.map(|base| base.week().1));
        let week = week.ok_or_else(|| invalid("the week is missing"))?;
        let weekday = weekday.or(base.map(Date::weekday)).unwrap_or(1);
        date_of_week(year, week, weekday)
    } else if groups[1] {
        let year = year.or(base.map(Date::year)).ok_or_else(missing)?;
        let quarter = quarter.or(base.map(Date::quarter));
        let quarter = quarter.ok_or_else(|| invalid("the quarter is missing"))?;
        let own = base.map(|base| base.days - base.first_of_quarter().days + 1);
        quarter_date(year, quarter, day_of_quarter.or(own).unwrap_or(1))
    } else if let Some(ordinal) = ordinal {
        let year = year.or(base.map(Date::year)).ok_or_else(missing)?;
        ordinal_date(year, ordinal)
    } else {
        let own = base.map(Date::fields);
        let year = year.or(own.map(|own| own.0)).ok_or_else(missing)?;
        if own.is_none() && day.is_some() && month.is_none() {
            return Err(invalid("the month is missing"));
        }
        let month = month.or(own.map(|own| own.1)).unwrap_or(1);
        Date::of(year, month, day.or(own.map(|own| own.2)).unwrap_or(1))
    };
    found.ok_or_else(|| invalid("there is no such date"))
}

/// The time of day of the fields; what they lack is the base's, or zero. With `keeps`, a field for
/// a part of the second leaves the larger parts of the base as they are.
///
/// # Errors
/// When a field is out of range, or a larger unit is missing.
pub(crate) fn build_time(
    map: &Map,
    base: Option<LocalTime>,
    needs_hour: bool,
    keeps: bool,
) -> Outcome<LocalTime> {
    let field = |key: &str| integer(map, key);
    let units = [field("hour")?, field("minute")?, field("second")?];
    let (milli, micro) = (field("millisecond")?, field("microsecond")?);
    let nano = field("nanosecond")?;
    let has_part = milli.is_some() || micro.is_some() || nano.is_some();
    if base.is_none() {
        let mut missing = needs_hour && units[0].is_none();
        for at in 1..3 {
            missing |= units[at].is_some() && units[at - 1].is_none();
        }
        missing |= has_part && units[2].is_none();
        if missing {
            return Err(invalid("a larger unit of the time is missing"));
        }
    }
    let own = base.unwrap_or(LocalTime::MIDNIGHT).fields();
    let part = match has_part {
        true => sub_second((milli, micro, nano), if keeps { own.3 } else { 0 })?,
        false => own.3,
    };
    let [hour, minute, second] = units;
    let (hour, minute) = (hour.unwrap_or(own.0), minute.unwrap_or(own.1));
    let found = LocalTime::of(hour, minute, second.unwrap_or(own.2), part);
    found.ok_or_else(|| invalid("there is no such time"))
}

/// Nanoseconds of the second from the fields, each of which is limited by the larger ones given.
fn sub_second(parts: (Option<i64>, Option<i64>, Option<i64>), own: i64) -> Outcome<i64> {
    let (milli, micro, nano) = parts;
    let fits = |number: Option<i64>, end: i64| (0..end).contains(&number.unwrap_or(0));
    let micro_end = if milli.is_some() { 1_000 } else { 1_000_000 };
    let nano_end = match (milli, micro) {
        (_, Some(_)) => 1_000,
        (Some(_), None) => 1_000_000,
        (None, None) => 1_000_000_000,
    };
    if !fits(milli, 1_000) || !fits(micro, micro_end) || !fits(nano, nano_end) {
        return Err(invalid("a part of the second is out of range"));
    }
    let given = milli.unwrap_or(0) * 1_000_000 + micro.unwrap_or(0) * 1_000 + nano.unwrap_or(0);
    let kept = match (milli, micro) {
        (Some(_), _) => 0,
        (None, Some(_)) => own / 1_000_000 * 1_000_000,
        (None, None) => own / 1_000 * 1_000,
    };
    let total = kept + given;
    match total < 1_000_000_000 {
        true => Ok(total),
        false => Err(invalid("a part of the second is out of range")),
    }
}
