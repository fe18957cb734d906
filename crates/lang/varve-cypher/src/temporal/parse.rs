//! Temporal values from text: the forms of ISO 8601, extended and basic.

use super::zone::{Zone, offset_of};
use super::{Date, DateTime, Duration, LocalDateTime, LocalTime, NANOS_PER_SECOND, Time, YEAR_MAX};

/// Reads a text from its start.
struct Reader<'t> {
    rest: &'t str,
}

impl<'t> Reader<'t> {
    const fn new(rest: &'t str) -> Reader<'t> {
        Reader { rest }
    }

    fn skip(&mut self, mark: char) -> bool {
        match self.rest.strip_prefix(mark) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// The digits at the start.
    fn digits(&self) -> usize {
        self.rest.bytes().take_while(u8::is_ascii_digit).count()
    }

    /// A number of exactly so many digits.
    fn number(&mut self, width: usize) -> Option<i64> {
        let (digits, rest) = self.rest.split_at_checked(width)?;
        if width == 0 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        self.rest = rest;
        digits.parse().ok()
    }

    /// The nanoseconds of a fraction after its mark: one digit to nine.
    fn fraction(&mut self) -> Option<i64> {
        let (digits, rest) = self.rest.split_at_checked(self.digits())?;
        self.rest = rest;
        nanos_of(digits)
    }

    fn end<T>(&self, value: T) -> Option<T> {
        self.rest.is_empty().then_some(value)
    }
}

/// The nanoseconds of the digits of a fraction of a second.
fn nanos_of(digits: &str) -> Option<i64> {
    if digits.is_empty() || digits.len() > 9 {
        return None;
    }
    format!("{digits:0<9}").parse().ok()
}

/// A date: `2015-07-21`, `20150721`, `2015-07`, `2015-W30-2`, `2015-202`, `2015-Q3-21`, `2015` and
/// the basic forms of these. Years of other than four digits have a sign.
pub(crate) fn date(text: &str) -> Option<Date> {
    let mut reader = Reader::new(text);
    let sign = match (reader.skip('-'), reader.skip('+')) {
        (false, false) => None,
        (true, false) => Some(-1),
        (false, true) => Some(1),
        (true, true) => return None,
    };
    let width = if sign.is_some() {
        reader.digits().clamp(4, 9)
    } else {
        4
    };
    let year = reader.number(width)? * sign.unwrap_or(1);
    if !(-YEAR_MAX..=YEAR_MAX).contains(&year) {
        return None;
    }
    let extended = reader.skip('-');
    if reader.skip('W') {
        return week_date(reader, year, extended);
    }
    if reader.skip('Q') {
        let quarter = reader.number(1)?;
        let has_day = !reader.rest.is_empty() && reader.skip('-') == extended;
        let day = if has_day { reader.number(2)? } else { 1 };
        return reader.end(quarter_date(year, quarter, day)?);
    }
    match (reader.digits(), extended) {
        (0, false) => reader.end(Date::of(year, 1, 1)?),
        (3, _) => {
            let day = reader.number(3)?;
            reader.end(ordinal_date(year, day)?)
        }
        (2, true) => {
            let month = reader.number(2)?;
            let day = if reader.skip('-') {
                reader.number(2)?
            } else {
                1
            };
            reader.end(Date::of(year, month, day)?)
        }
        (2 | 4, false) => {
            let month = reader.number(2)?;
            let day = if reader.rest.is_empty() {
                1
            } else {
                reader.number(2)?
            };
            reader.end(Date::of(year, month, day)?)
        }
        _ => None,
    }
}

fn week_date(mut reader: Reader<'_>, year: i64, extended: bool) -> Option<Date> {
    let week = reader.number(2)?;
    if reader.rest.is_empty() {
        return date_of_week(year, week, 1);
    }
    if reader.skip('-') != extended {
        return None;
    }
    let day = reader.number(1)?;
    reader.end(date_of_week(year, week, day)?)
}

/// The date of an ISO week and a day of it.
pub(crate) fn date_of_week(year: i64, week: i64, day: i64) -> Option<Date> {
    let exists = (-YEAR_MAX..=YEAR_MAX).contains(&year)
        && (1..=super::calendar::weeks(year)).contains(&week)
        && (1..=7).contains(&day);
    let first = exists.then(|| Date::first_week(year))?;
    first.plus_days((week - 1) * 7 + day - 1)
}

/// The date of a day of a year, from 1.
pub(crate) fn ordinal_date(year: i64, day: i64) -> Option<Date> {
    let exists = (-YEAR_MAX..=YEAR_MAX).contains(&year)
        && (1..=super::calendar::year_days(year)).contains(&day);
    exists
        .then(|| Date::first_of_year(year))?
        .plus_days(day - 1)
}

/// The date of a day of a quarter, both from 1.
pub(crate) fn quarter_date(year: i64, quarter: i64, day: i64) -> Option<Date> {
    let exists = (1..=4).contains(&quarter) && (1..=92).contains(&day);
    let first = exists.then(|| Date::of(year, quarter * 3 - 2, 1))??;
    let date = first.plus_days(day - 1)?;
    (date.quarter() == quarter).then_some(date)
}

/// A time of day without an offset: `21:40:32.142`, `214032.142`, `21:40`, `2140`, `21`.
pub(crate) fn local_time(text: &str) -> Option<LocalTime> {
    let mut reader = Reader::new(text);
    let hour = reader.number(2)?;
    let extended = reader.skip(':');
    if reader.rest.is_empty() {
        return if extended {
            None
        } else {
            LocalTime::of(hour, 0, 0, 0)
        };
    }
    let minute = reader.number(2)?;
    if reader.rest.is_empty() {
        return LocalTime::of(hour, minute, 0, 0);
    }
    if reader.skip(':') != extended {
        return None;
    }
    let second = reader.number(2)?;
    let nanos = match reader.skip('.') || reader.skip(',') {
        true => reader.fraction()?,
        false => 0,
    };
    reader.end(LocalTime::of(hour, minute, second, nanos)?)
}

/// An offset: `Z`, `+01`, `+0100`, `+01:00`, `+01:00:30`.
pub(crate) fn offset(text: &str) -> Option<i32> {
    let mut reader = Reader::new(text);
    if reader.skip('Z') || reader.skip('z') {
        return reader.end(0);
    }
    let sign = match (reader.skip('+'), reader.skip('-')) {
        (true, false) => 1,
        (false, true) => -1,
        _ => return None,
    };
    let mut total = reader.number(2)? * 3_600;
    for unit in [60, 1] {
        if reader.rest.is_empty() {
            break;
        }
        reader.skip(':');
        let part = reader.number(2)?;
        if part > 59 {
            return None;
        }
        total += part * unit;
    }
    reader.end(offset_of(sign * total)?)
}

/// A time of day with an offset; without one, it is UTC.
pub(crate) fn time(text: &str) -> Option<Time> {
    let (clock, shift) = split_offset(text);
    let offset = if shift.is_empty() { 0 } else { offset(shift)? };
    let nanos = local_time(clock)?.nanos;
    Some(Time { nanos, offset })
}

/// A time of day and the offset after it.
fn split_offset(text: &str) -> (&str, &str) {
    let at = text.find(['Z', 'z', '+', '-']).unwrap_or(text.len());
    text.split_at(at)
}

/// A date, and a time of day after a `T`, without an offset.
pub(crate) fn local_datetime(text: &str) -> Option<LocalDateTime> {
    match text.split_once(['T', 't']) {
        Some((day, clock)) => Some(date(day)?.at(local_time(clock)?)),
        None => Some(date(text)?.midnight()),
    }
}

/// A date and a time of day in a zone, which is UTC by default: an offset, a name in brackets, or
/// both.
pub(crate) fn datetime(text: &str) -> Option<DateTime> {
    let (text, name) = match text.strip_suffix(']') {
        Some(text) => {
            let (text, name) = text.split_once('[')?;
            (text, Some(name))
        }
        None => (text, None),
    };
    let (day, clock) = text.split_once(['T', 't']).unwrap_or((text, "00"));
    let (clock, shift) = split_offset(clock);
    let local = date(day)?.at(local_time(clock)?);
    let shift = match shift {
        "" => None,
        shift => Some(offset(shift)?),
    };
    let Some(name) = name else {
        return Zone::Offset(shift.unwrap_or(0)).at_local(local, None);
    };
    let zone = Zone::of(name)?;
    let found = zone.at_local(local, shift)?;
    match shift {
        Some(shift) if shift != found.offset => zone.at_utc(local.plus_seconds(-i64::from(shift))?),
        _ => Some(found),
    }
}

/// A duration: `P1Y2M3W4DT5H6M7.8S`, in which each number may have a sign and a fraction, or
/// `P2012-02-02T14:37:21.545`.
pub(crate) fn duration(text: &str) -> Option<Duration> {
    let negative = text.starts_with('-');
    let body = text.strip_prefix(['-', '+']).unwrap_or(text);
    let body = body.strip_prefix(['P', 'p'])?;
    let found = duration_by_date(body).or_else(|| duration_by_units(body))?;
    if negative {
        found.times(-1)
    } else {
        Some(found)
    }
}

/// The form that looks like a date and a time.
fn duration_by_date(body: &str) -> Option<Duration> {
    let (day, clock) = body.split_once(['T', 't']).unwrap_or((body, "00:00:00"));
    let mut reader = Reader::new(day);
    let year = reader.number(4)?;
    let extended = reader.skip('-');
    let month = reader.number(2)?;
    if reader.skip('-') != extended {
        return None;
    }
    let days = reader.number(2)?;
    reader.end(())?;
    let time = local_time(clock)?;
    Some(Duration {
        months: year * 12 + month,
        days,
        seconds: time.nanos / NANOS_PER_SECOND,
        nanos: u32::try_from(time.nanos % NANOS_PER_SECOND).ok()?,
    })
}

/// The form of numbers with units, in their order, each at most once.
fn duration_by_units(body: &str) -> Option<Duration> {
    let mut rest = body;
    let (mut total, mut last, mut in_time) = (super::arithmetic::Parts::default(), 0, false);
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        if let Some(time) = rest.strip_prefix(['T', 't']) {
            if in_time || time.is_empty() {
                return None;
            }
            (in_time, rest) = (true, time);
            continue;
        }
        let end = rest.find(|c: char| c.is_ascii_alphabetic())?;
        let (number, unit) = (rest.get(..end)?, rest.get(end..end + 1)?);
        rest = rest.get(end + 1..)?;
        let place = 1 + match (unit.to_ascii_uppercase().as_str(), in_time) {
            ("Y", false) => 0,
            ("M", false) => 1,
            ("W", false) => 2,
            ("D", false) => 3,
            ("H", true) => 4,
            ("M", true) => 5,
            ("S", true) => 6,
            _ => return None,
        };
        if place <= last {
            return None;
        }
        last = place;
        add_unit(&mut total, place, number)?;
    }
    total.duration()
}

/// Adds a number with a sign and a fraction in the unit of a place.
fn add_unit(total: &mut super::arithmetic::Parts, place: u8, number: &str) -> Option<()> {
    let negative = number.starts_with('-');
    let digits = number.strip_prefix(['-', '+']).unwrap_or(number);
    let (whole, fraction) = digits.split_once(['.', ',']).unwrap_or((digits, "0"));
    let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if !all_digits(whole) || !all_digits(fraction) {
        return None;
    }
    let sign = if negative { -1 } else { 1 };
    let whole = whole.parse::<i64>().ok()?.checked_mul(sign)?;
    #[expect(clippy::cast_precision_loss, reason = "the sign is 1 or -1")]
    let part = format!("0.{fraction}").parse::<f64>().ok()? * sign as f64;
    match place {
        1 => total.years(whole, part),
        2 => total.months(whole, part),
        3 => total.weeks(whole, part),
        4 => total.days(whole, part),
        5 => total.seconds(whole.checked_mul(3_600)?, part * 3_600.0),
        6 => total.seconds(whole.checked_mul(60)?, part * 60.0),
        _ => {
            let nanos = nanos_of(fraction)? * sign;
            total.seconds(whole, 0.0)?;
            total.nanos(i128::from(nanos))
        }
    }
}
