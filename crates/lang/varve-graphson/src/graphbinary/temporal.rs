//! The types of `java.time`, and network addresses, in GraphBinary.

use std::net::IpAddr;

use jiff::civil;
use varve_model::time::Civil;

use super::code;
use super::read::Reader;
use super::wrong;
use crate::error::Result;
use crate::value::{DateTime, Duration, Temporal, Value};

/// The largest offset from UTC, in seconds: that of Java's `ZoneOffset`.
const OFFSET_SECONDS_MAX: i32 = 18 * 3_600;
/// Nanoseconds of a second.
const SECOND: u32 = 1_000_000_000;

impl Reader<'_> {
    /// Reads the value of one of these types, after its type code and flag. For other types,
    /// returns `None` and reads nothing.
    pub(super) fn temporal(&mut self, code: u8) -> Result<Option<Value>> {
        Ok(Some(match code {
            code::DURATION => {
                let (seconds, nanoseconds) = self.instant("Duration")?;
                Value::Duration(Duration {
                    seconds,
                    nanoseconds,
                })
            }
            code::OFFSET_DATE_TIME => Value::DateTime(self.date_time("OffsetDateTime")?),
            code::ADDRESS => {
                let length = self.length("InetAddress")?;
                let bytes = self.take(length, "an InetAddress")?;
                let four = <[u8; 4]>::try_from(bytes).map(IpAddr::from);
                let address = four.or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from));
                Value::Address(
                    address.map_err(|_| wrong("InetAddress", "it has not 4 or 16 bytes"))?,
                )
            }
            code::INSTANT => {
                let (seconds, nanoseconds) = self.instant("Instant")?;
                Value::Temporal(Temporal::Instant(seconds, nanoseconds))
            }
            code::LOCAL_DATE => Value::Temporal(Temporal::LocalDate(self.date()?)),
            code::LOCAL_DATE_TIME => {
                let both = self.date()?.to_datetime(self.time()?);
                Value::Temporal(Temporal::LocalDateTime(both))
            }
            code::LOCAL_TIME => Value::Temporal(Temporal::LocalTime(self.time()?)),
            code::MONTH_DAY => Value::Temporal(Temporal::MonthDay(self.i8()?, self.i8()?)),
            code::OFFSET_TIME => Value::Temporal(Temporal::OffsetTime(self.time()?, self.i32()?)),
            code::PERIOD => {
                Value::Temporal(Temporal::Period(self.i32()?, self.i32()?, self.i32()?))
            }
            code::YEAR => Value::Temporal(Temporal::Year(self.i32()?)),
            code::YEAR_MONTH => Value::Temporal(Temporal::YearMonth(self.i32()?, self.i8()?)),
            code::ZONED_DATE_TIME => {
                Value::Temporal(Temporal::ZonedDateTime(self.date_time("ZonedDateTime")?))
            }
            code::ZONE_OFFSET => Value::Temporal(Temporal::ZoneOffset(self.i32()?)),
            _ => return Ok(None),
        }))
    }

    fn instant(&mut self, kind: &str) -> Result<(i64, u32)> {
        let seconds = self.i64()?;
        let nanoseconds = u32::try_from(self.i32()?)
            .ok()
            .filter(|nanoseconds| *nanoseconds < SECOND);
        let nanoseconds =
            nanoseconds.ok_or_else(|| wrong(kind, "its nanoseconds are no part of a second"))?;
        Ok((seconds, nanoseconds))
    }

    fn date(&mut self) -> Result<civil::Date> {
        let (year, month, day) = (self.i32()?, self.i8()?, self.i8()?);
        let year =
            i16::try_from(year).map_err(|_| wrong("LocalDate", "its year is out of range"))?;
        civil::Date::new(year, month, day).map_err(|_| wrong("LocalDate", "it is no date"))
    }

    fn time(&mut self) -> Result<civil::Time> {
        let nanoseconds = self.i64()?;
        let second = i64::from(SECOND);
        if !(0..86_400 * second).contains(&nanoseconds) {
            return Err(wrong("LocalTime", "it is no time of a day"));
        }
        let (seconds, rest) = (nanoseconds / second, nanoseconds % second);
        let part = |value: i64| i8::try_from(value).unwrap_or(0);
        let time = civil::Time::new(
            part(seconds / 3_600),
            part(seconds / 60 % 60),
            part(seconds % 60),
            i32::try_from(rest).unwrap_or(0),
        );
        time.map_err(|_| wrong("LocalTime", "it is no time of a day"))
    }

    fn date_time(&mut self, kind: &str) -> Result<DateTime> {
        let (year, month, day) = (self.i32()?, self.i8()?, self.i8()?);
        let time = self.i64()?;
        let offset = self.i32()?;
        if offset.abs() > OFFSET_SECONDS_MAX {
            return Err(wrong(kind, "its offset is out of range"));
        }
        let second = i64::from(SECOND);
        let part = |value: i64| u32::try_from(value).ok();
        let instant = (0..86_400 * second).contains(&time).then(|| {
            let local = Civil {
                year: year.into(),
                month: month.try_into().ok()?,
                day: day.try_into().ok()?,
                second: part(time / second)?,
                nanos: part(time % second)?,
            };
            Some((local.seconds(offset)?, local.nanos))
        });
        let (seconds, nanoseconds) = instant
            .flatten()
            .ok_or_else(|| wrong(kind, "it is no date and time"))?;
        Ok(DateTime {
            seconds,
            nanoseconds,
            offset,
        })
    }
}

fn put_date(date: civil::Date, out: &mut Vec<u8>) {
    out.extend_from_slice(&i32::from(date.year()).to_be_bytes());
    out.extend_from_slice(&date.month().to_be_bytes());
    out.extend_from_slice(&date.day().to_be_bytes());
}

fn put_time(time: civil::Time, out: &mut Vec<u8>) {
    let minutes = i64::from(time.hour()) * 60 + i64::from(time.minute());
    let seconds = minutes * 60 + i64::from(time.second());
    let nanoseconds = seconds * i64::from(SECOND) + i64::from(time.subsec_nanosecond());
    out.extend_from_slice(&nanoseconds.to_be_bytes());
}

/// Appends the local date and time, and the offset. A year of more than 32 bits becomes the nearest
/// one.
pub(super) fn put_date_time(instant: DateTime, out: &mut Vec<u8>) {
    let local = instant.local();
    let limit = if local.year < 0 { i32::MIN } else { i32::MAX };
    let year = i32::try_from(local.year).unwrap_or(limit);
    out.extend_from_slice(&year.to_be_bytes());
    out.extend_from_slice(&[local.month, local.day]);
    let nanoseconds = i64::from(local.second) * i64::from(SECOND) + i64::from(local.nanos);
    out.extend_from_slice(&nanoseconds.to_be_bytes());
    out.extend_from_slice(&instant.offset.to_be_bytes());
}

/// The type code of a temporal value.
pub(super) const fn code_of(value: &Temporal) -> u8 {
    match value {
        Temporal::Instant(..) => code::INSTANT,
        Temporal::LocalDate(_) => code::LOCAL_DATE,
        Temporal::LocalDateTime(_) => code::LOCAL_DATE_TIME,
        Temporal::LocalTime(_) => code::LOCAL_TIME,
        Temporal::MonthDay(..) => code::MONTH_DAY,
        Temporal::OffsetTime(..) => code::OFFSET_TIME,
        Temporal::Period(..) => code::PERIOD,
        Temporal::Year(_) => code::YEAR,
        Temporal::YearMonth(..) => code::YEAR_MONTH,
        Temporal::ZonedDateTime(_) => code::ZONED_DATE_TIME,
        Temporal::ZoneOffset(_) => code::ZONE_OFFSET,
    }
}

/// Appends the value without type code and flag.
pub(super) fn put(value: &Temporal, out: &mut Vec<u8>) {
    match value {
        Temporal::Instant(seconds, nanoseconds) => {
            out.extend_from_slice(&seconds.to_be_bytes());
            out.extend_from_slice(&nanoseconds.to_be_bytes());
        }
        Temporal::LocalDate(date) => put_date(*date, out),
        Temporal::LocalDateTime(both) => {
            put_date(both.date(), out);
            put_time(both.time(), out);
        }
        Temporal::LocalTime(time) => put_time(*time, out),
        Temporal::MonthDay(month, day) => {
            out.extend_from_slice(&[month.cast_unsigned(), day.cast_unsigned()]);
        }
        Temporal::OffsetTime(time, offset) => {
            put_time(*time, out);
            out.extend_from_slice(&offset.to_be_bytes());
        }
        Temporal::Period(years, months, days) => {
            for part in [years, months, days] {
                out.extend_from_slice(&part.to_be_bytes());
            }
        }
        Temporal::Year(year) => out.extend_from_slice(&year.to_be_bytes()),
        Temporal::YearMonth(year, month) => {
            out.extend_from_slice(&year.to_be_bytes());
            out.push(month.cast_unsigned());
        }
        Temporal::ZonedDateTime(instant) => put_date_time(*instant, out),
        Temporal::ZoneOffset(offset) => out.extend_from_slice(&offset.to_be_bytes()),
    }
}
