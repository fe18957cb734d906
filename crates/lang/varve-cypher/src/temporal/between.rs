//! Differences of temporal values.

use super::zone::Zone;
use super::{Date, DateTime, Duration, LocalDateTime, LocalTime, NANOS_PER_DAY};
use crate::value::Value;

/// The units of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Units {
    /// Months, days and seconds.
    All,
    Months,
    Days,
    Seconds,
}

/// A temporal value as parts, of which it has some.
struct Moment {
    date: Option<Date>,
    time: LocalTime,
    zone: Option<Zone>,
    /// The offset, which decides where the zone's clock shows a time twice.
    offset: Option<i32>,
}

fn moment(value: &Value) -> Option<Moment> {
    let (date, time, zone, offset) = match value {
        Value::Date(date) => (Some(*date), LocalTime::MIDNIGHT, None, None),
        Value::LocalTime(time) => (None, *time, None, None),
        Value::Time(time) => {
            let zone = Some(Zone::Offset(time.offset));
            (
                None,
                LocalTime { nanos: time.nanos },
                zone,
                Some(time.offset),
            )
        }
        Value::LocalDateTime(at) => (Some(at.date()), at.time(), None, None),
        Value::DateTime(at) => {
            let zone = Some(Zone::of_datetime(at));
            (
                Some(at.local.date()),
                at.local.time(),
                zone,
                Some(at.offset),
            )
        }
        _ => return None,
    };
    Some(Moment {
        date,
        time,
        zone,
        offset,
    })
}

/// The duration from one temporal value to another. What one lacks, the date or the zone, is the
/// other's. The outer `None` says that a value is not temporal, the inner one that the duration
/// overflows.
pub(crate) fn between(from: &Value, to: &Value, units: Units) -> Option<Option<Duration>> {
    let (from, to) = (moment(from)?, moment(to)?);
    Some(difference(&from, &to, units))
}

fn difference(from: &Moment, to: &Moment, units: Units) -> Option<Duration> {
    let has_dates = from.date.is_some() && to.date.is_some();
    let any_date = from.date.or(to.date).unwrap_or(Date { days: 0 });
    let zone = from.zone.as_ref().or(to.zone.as_ref());
    let place = |moment: &Moment| {
        let local = moment.date.unwrap_or(any_date).at(moment.time);
        let zone = moment.zone.as_ref().or(zone).unwrap_or(&Zone::UTC);
        zone.at_local(local, moment.offset)
    };
    let (start, end) = (place(from)?, place(to)?);
    let zone = zone.unwrap_or(&Zone::UTC);
    let end = zone.at_utc(end.utc())?;
    let months = match units {
        Units::All | Units::Months if has_dates => months_between(start.local, end.local),
        _ => 0,
    };
    let start = match months {
        0 => start,
        _ => start.plus_calendar(months, 0)?,
    };
    let days = match units {
        Units::All | Units::Days if has_dates => days_between(start.local, end.local),
        _ => 0,
    };
    let nanos = match units {
        Units::All | Units::Seconds => {
            let start = if days == 0 {
                start
            } else {
                start.plus_calendar(0, days)?
            };
            rest(&start, &end)
        }
        _ => 0,
    };
    Duration::of(months, days, nanos)
}

fn rest(start: &DateTime, end: &DateTime) -> i128 {
    end.utc().total_nanos() - start.utc().total_nanos()
}

/// The full months from one moment to another.
fn months_between(from: LocalDateTime, to: LocalDateTime) -> i64 {
    let count = |at: LocalDateTime| {
        let (year, month, day) = at.date().fields();
        (year * 12 + month, (day, at.time()))
    };
    let ((first, start), (last, end)) = (count(from), count(to));
    let months = last - first;
    match months {
        1.. if end < start => months - 1,
        ..=-1 if end > start => months + 1,
        _ => months,
    }
}

/// The full days from one moment to another.
fn days_between(from: LocalDateTime, to: LocalDateTime) -> i64 {
    let days = (to.total_nanos() - from.total_nanos()) / i128::from(NANOS_PER_DAY);
    i64::try_from(days).unwrap_or(0)
}
