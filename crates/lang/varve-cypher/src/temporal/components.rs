//! The components of temporal values, such as `year` or `epochSeconds`.

use super::print::OffsetText;
use super::{Date, DateTime, Duration, LocalTime, NANOS_PER_SECOND};
use crate::value::Value;

/// The component of a temporal value by its name; `None` if the value has no such component.
pub(crate) fn component(value: &Value, name: &str) -> Option<Value> {
    match value {
        Value::Date(date) => of_date(*date, name),
        Value::LocalTime(time) => of_time(*time, name),
        Value::Time(time) => {
            let clock = LocalTime { nanos: time.nanos };
            of_time(clock, name).or_else(|| of_offset(time.offset, None, name))
        }
        Value::LocalDateTime(at) => of_date(at.date(), name).or_else(|| of_time(at.time(), name)),
        Value::DateTime(at) => of_datetime(at, name),
        Value::Duration(duration) => of_duration(duration, name),
        _ => None,
    }
}

fn of_date(date: Date, name: &str) -> Option<Value> {
    let (year, month, day) = date.fields();
    let number = match name {
        "year" => year,
        "quarter" => date.quarter(),
        "month" => month,
        "week" => date.week().1,
        "weekYear" => date.week().0,
        "day" => day,
        "ordinalDay" => date.ordinal(),
        "weekDay" | "dayOfWeek" => date.weekday(),
        "dayOfQuarter" => date.days - date.first_of_quarter().days + 1,
        _ => return None,
    };
    Some(Value::Integer(number))
}

fn of_time(time: LocalTime, name: &str) -> Option<Value> {
    let (hour, minute, second, nano) = time.fields();
    let number = match name {
        "hour" => hour,
        "minute" => minute,
        "second" => second,
        "millisecond" => nano / 1_000_000,
        "microsecond" => nano / 1_000,
        "nanosecond" => nano,
        _ => return None,
    };
    Some(Value::Integer(number))
}

fn of_offset(offset: i32, zone: Option<&str>, name: &str) -> Option<Value> {
    Some(match name {
        "timezone" => match zone {
            Some(zone) => Value::string(zone),
            None => Value::string(OffsetText(offset).to_string()),
        },
        "offset" => Value::string(OffsetText(offset).to_string()),
        "offsetMinutes" => Value::Integer(i64::from(offset / 60)),
        "offsetSeconds" => Value::Integer(i64::from(offset)),
        _ => return None,
    })
}

fn of_datetime(at: &DateTime, name: &str) -> Option<Value> {
    let utc = at.utc();
    match name {
        "epochSeconds" => Some(Value::Integer(utc.seconds)),
        "epochMillis" => {
            let millis = utc.seconds.checked_mul(1_000)?;
            Some(Value::Integer(millis + i64::from(utc.nanos) / 1_000_000))
        }
        _ => of_date(at.local.date(), name)
            .or_else(|| of_time(at.local.time(), name))
            .or_else(|| of_offset(at.offset, at.zone.as_deref(), name)),
    }
}

fn of_duration(duration: &Duration, name: &str) -> Option<Value> {
    let Duration {
        months,
        days,
        seconds,
        nanos,
    } = *duration;
    let nano = i64::from(nanos);
    let total = |per_second: i64| {
        let whole = seconds.checked_mul(per_second)?;
        whole.checked_add(nano / (NANOS_PER_SECOND / per_second))
    };
    let number = match name {
        "years" => months / 12,
        "quarters" => months / 3,
        "months" => months,
        "weeks" => days / 7,
        "days" => days,
        "hours" => seconds / 3_600,
        "minutes" => seconds / 60,
        "seconds" => seconds,
        "milliseconds" => total(1_000)?,
        "microseconds" => total(1_000_000)?,
        "nanoseconds" => total(NANOS_PER_SECOND)?,
        "quartersOfYear" => months / 3 % 4,
        "monthsOfQuarter" => months % 3,
        "monthsOfYear" => months % 12,
        "daysOfWeek" => days % 7,
        "minutesOfHour" => seconds / 60 % 60,
        "secondsOfMinute" => seconds % 60,
        "millisecondsOfSecond" => nano / 1_000_000,
        "microsecondsOfSecond" => nano / 1_000,
        "nanosecondsOfSecond" => nano,
        _ => return None,
    };
    Some(Value::Integer(number))
}
