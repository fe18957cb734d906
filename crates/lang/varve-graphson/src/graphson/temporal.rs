//! The types of `java.time` and addresses as texts.

use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::civil;

use super::read::string;
use crate::error::{Result, WireError};
use crate::json::Json;
use crate::value::{DateTime, Duration, Temporal, Value};

/// Reads a value of one of these types; `None` for other types.
pub(super) fn read(kind: &str, json: &Json<'_>) -> Result<Option<Value>> {
    let Some(name) = kind.strip_prefix("gx:") else {
        return Ok(None);
    };
    let known = [
        "Duration",
        "Instant",
        "LocalDate",
        "LocalDateTime",
        "LocalTime",
        "MonthDay",
        "OffsetDateTime",
        "OffsetTime",
        "Period",
        "Year",
        "YearMonth",
        "ZonedDateTime",
        "ZoneOffset",
        "InetAddress",
        "ByteBuffer",
    ];
    if !known.contains(&name) {
        return Ok(None);
    }
    let text = match json {
        Json::Number(text) => (*text).into(),
        other => string(kind, other.clone())?,
    };
    let value = parse(name, &text);
    value
        .map(Some)
        .ok_or_else(|| WireError::value(kind, format!("'{text:.60}' is none")))
}

fn parse(name: &str, text: &str) -> Option<Value> {
    let temporal = match name {
        "Duration" => return duration(text).map(Value::Duration),
        "OffsetDateTime" => return date_time(text).map(Value::DateTime),
        "InetAddress" => {
            // Java's form is host/address.
            let address = text.rsplit('/').next().unwrap_or(text);
            return address.parse().ok().map(Value::Address);
        }
        "ByteBuffer" => return bytes(text).map(Value::Binary),
        "Instant" => {
            let instant = date_time(text)?;
            Temporal::Instant(instant.seconds, instant.nanoseconds)
        }
        "LocalDate" => Temporal::LocalDate(text.parse().ok()?),
        "LocalDateTime" => {
            let (date, time) = text.split_once('T')?;
            Temporal::LocalDateTime(date.parse::<civil::Date>().ok()?.to_datetime(clock(time)?))
        }
        "LocalTime" => Temporal::LocalTime(clock(text)?),
        "MonthDay" => {
            let (month, day) = text.strip_prefix("--")?.split_once('-')?;
            Temporal::MonthDay(month.parse().ok()?, day.parse().ok()?)
        }
        "OffsetTime" => {
            let place = text.find(['Z', '+', '-'])?;
            let instant = date_time(&format!("1970-01-01T{text}"))?;
            Temporal::OffsetTime(clock(&text[..place])?, instant.offset)
        }
        "Period" => period(text)?,
        "Year" => Temporal::Year(text.parse().ok()?),
        "YearMonth" => {
            let (year, month) = text.rsplit_once('-')?;
            Temporal::YearMonth(year.parse().ok()?, month.parse().ok()?)
        }
        "ZonedDateTime" => {
            let instant = text.split('[').next().unwrap_or(text);
            Temporal::ZonedDateTime(date_time(instant)?)
        }
        "ZoneOffset" => {
            let instant = date_time(&format!("1970-01-01T00:00{text}"))?;
            Temporal::ZoneOffset(instant.offset)
        }
        _ => return None,
    };
    Some(Value::Temporal(temporal))
}

/// Decodes base64. gremlinpython instead sends one character for each byte.
fn bytes(text: &str) -> Option<Vec<u8>> {
    let characters = || {
        text.chars()
            .map(|one| u8::try_from(u32::from(one)).ok())
            .collect()
    };
    STANDARD.decode(text).ok().or_else(characters)
}

/// Bytes in base64.
pub(super) fn bytes_text(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

fn date_time(text: &str) -> Option<DateTime> {
    text.contains('T').then(|| DateTime::from_text(text))?
}

/// Parses a time of day, with or without seconds.
fn clock(text: &str) -> Option<civil::Time> {
    let plain = text
        .bytes()
        .all(|byte| matches!(byte, b'0'..=b'9' | b':' | b'.'));
    (plain && text.len() >= 5).then(|| text.parse().ok())?
}

/// Parses `PnDTnHnMn.nS`, where each number may have a sign.
fn duration(text: &str) -> Option<Duration> {
    let negative = text.starts_with('-');
    let mut rest = text
        .strip_prefix(['-', '+'])
        .unwrap_or(text)
        .strip_prefix('P')?;
    let (mut seconds, mut nanoseconds) = (0_i64, 0_i64);
    let mut units = 0;
    while !rest.is_empty() {
        rest = rest.strip_prefix('T').unwrap_or(rest);
        let end = rest.find(|next: char| !matches!(next, '0'..='9' | '-' | '+' | '.'))?;
        let factor = match rest.as_bytes()[end] {
            b'D' => 86_400,
            b'H' => 3_600,
            b'M' => 60,
            b'S' => 1,
            _ => return None,
        };
        let (whole, fraction) = rest[..end].split_once('.').unwrap_or((&rest[..end], ""));
        let sign = if whole.starts_with('-') { -1 } else { 1 };
        let part: i64 = whole.parse().ok()?;
        seconds = seconds.checked_add(part.checked_mul(factor)?)?;
        if !fraction.is_empty() {
            let digits = fraction.len();
            if factor != 1 || digits > 9 || !fraction.bytes().all(|digit| digit.is_ascii_digit()) {
                return None;
            }
            nanoseconds = sign * fraction.parse::<i64>().ok()? * 10_i64.pow(9 - digits as u32);
        }
        rest = &rest[end + 1..];
        units += 1;
    }
    if units == 0 {
        return None;
    }
    if negative {
        (seconds, nanoseconds) = (seconds.checked_neg()?, -nanoseconds);
    }
    let borrowed = i64::from(nanoseconds < 0);
    Some(Duration {
        seconds: seconds.checked_sub(borrowed)?,
        nanoseconds: (nanoseconds + borrowed * 1_000_000_000) as u32,
    })
}

/// Parses `PnYnMnD`. A week is seven days.
fn period(text: &str) -> Option<Temporal> {
    let mut rest = text.strip_prefix('P')?;
    let (mut years, mut months, mut days) = (0_i32, 0_i32, 0_i32);
    while !rest.is_empty() {
        let end = rest.find(|next: char| next.is_ascii_alphabetic())?;
        let number: i32 = rest[..end].parse().ok()?;
        match rest.as_bytes()[end] {
            b'Y' => years = number,
            b'M' => months = number,
            b'W' => days = days.checked_add(number.checked_mul(7)?)?,
            b'D' => days = days.checked_add(number)?,
            _ => return None,
        }
        rest = &rest[end + 1..];
    }
    Some(Temporal::Period(years, months, days))
}

/// A duration in Java's notation.
pub(super) fn duration_text(duration: Duration) -> String {
    let mut seconds =
        i128::from(duration.seconds) * 1_000_000_000 + i128::from(duration.nanoseconds);
    if seconds == 0 {
        return "PT0S".to_owned();
    }
    let mut text = String::from("PT");
    let hour = 3_600_000_000_000;
    for (unit, nanoseconds) in [('H', hour), ('M', hour / 60)] {
        let whole = seconds / nanoseconds;
        if whole != 0 {
            let _ = write!(text, "{whole}{unit}");
        }
        seconds %= nanoseconds;
    }
    if seconds != 0 {
        let (whole, fraction) = (seconds / 1_000_000_000, (seconds % 1_000_000_000).abs());
        let sign = if seconds < 0 && whole == 0 { "-" } else { "" };
        let _ = write!(text, "{sign}{whole}");
        if fraction != 0 {
            let digits = format!("{fraction:09}");
            let _ = write!(text, ".{}", digits.trim_end_matches('0'));
        }
        text.push('S');
    }
    text
}

fn clock_text(time: civil::Time) -> String {
    let text = time.to_string();
    text.strip_suffix(":00")
        .filter(|short| short.len() == 5)
        .unwrap_or(&text)
        .to_owned()
}

fn offset_text(seconds: i32) -> String {
    if seconds == 0 {
        return "Z".to_owned();
    }
    let sign = if seconds < 0 { '-' } else { '+' };
    let seconds = seconds.abs();
    let mut text = format!("{sign}{:02}:{:02}", seconds / 3600, seconds / 60 % 60);
    if seconds % 60 != 0 {
        let _ = write!(text, ":{:02}", seconds % 60);
    }
    text
}

/// The type and the text of a temporal value.
pub(super) fn text(value: &Temporal) -> (&'static str, String) {
    match value {
        Temporal::Instant(seconds, nanoseconds) => {
            let instant = DateTime {
                seconds: *seconds,
                nanoseconds: *nanoseconds,
                offset: 0,
            };
            ("gx:Instant", instant.to_string())
        }
        Temporal::LocalDate(date) => ("gx:LocalDate", date.to_string()),
        Temporal::LocalDateTime(both) => {
            let text = format!("{}T{}", both.date(), clock_text(both.time()));
            ("gx:LocalDateTime", text)
        }
        Temporal::LocalTime(time) => ("gx:LocalTime", clock_text(*time)),
        Temporal::MonthDay(month, day) => ("gx:MonthDay", format!("--{month:02}-{day:02}")),
        Temporal::OffsetTime(time, offset) => {
            let text = format!("{}{}", clock_text(*time), offset_text(*offset));
            ("gx:OffsetTime", text)
        }
        Temporal::Period(years, months, days) => {
            let mut text = String::from("P");
            for (number, unit) in [(years, 'Y'), (months, 'M'), (days, 'D')] {
                if *number != 0 {
                    let _ = write!(text, "{number}{unit}");
                }
            }
            if text.len() == 1 {
                text.push_str("0D");
            }
            ("gx:Period", text)
        }
        Temporal::Year(year) => ("gx:Year", year.to_string()),
        Temporal::YearMonth(year, month) => ("gx:YearMonth", format!("{year:04}-{month:02}")),
        Temporal::ZonedDateTime(instant) => ("gx:ZonedDateTime", instant.java_text()),
        Temporal::ZoneOffset(offset) => ("gx:ZoneOffset", offset_text(*offset)),
    }
}
