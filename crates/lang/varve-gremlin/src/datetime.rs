//! Dates and times in Gremlin's notation.

use std::fmt;

use jiff::Timestamp;
use jiff::civil::{Date, Time};
use jiff::tz::Offset;

use crate::tree::DateTime;

/// The largest offset of a time from UTC, in seconds: that of Java's `ZoneOffset`.
const OFFSET_SECONDS_MAX: i32 = 18 * 3600;

impl DateTime {
    /// Parses `2023-08-02T00:00:00.000Z` and its shorter forms: without a fraction, without
    /// seconds, without a time, without a day. The offset is `Z`, `+01:00`, `+0100` or `+01`;
    /// without one, UTC.
    #[must_use]
    pub fn from_text(text: &str) -> Option<DateTime> {
        let (date, time) = match text.find(['T', ' ']) {
            Some(place) => (&text[..place], Some(&text[place + 1..])),
            None => (text, None),
        };
        let date: Date = match date.strip_suffix('Z').unwrap_or(date) {
            month if month.len() == 7 => format!("{month}-01").parse().ok()?,
            day if day.len() == 10 => day.parse().ok()?,
            _ => return None,
        };
        let (time, offset) = match time {
            Some(time) => {
                let end = time.find(['Z', '+', '-']).unwrap_or(time.len());
                (clock(&time[..end])?, offset(&time[end..])?)
            }
            None => (Time::midnight(), 0),
        };
        let zone = Offset::from_seconds(offset).ok()?;
        let instant = zone.to_timestamp(date.to_datetime(time)).ok()?;
        Some(DateTime::from_timestamp(instant, offset))
    }

    /// The instant with an offset in seconds east of UTC.
    #[must_use]
    pub fn from_timestamp(instant: Timestamp, offset: i32) -> DateTime {
        DateTime {
            seconds: instant.as_second() - i64::from(instant.subsec_nanosecond() < 0),
            nanoseconds: instant.subsec_nanosecond().rem_euclid(1_000_000_000) as u32,
            offset,
        }
    }

    /// The local date and time at the offset. An instant outside the years -9999 to 9999 becomes
    /// the nearest one inside.
    #[must_use]
    pub fn local(&self) -> jiff::civil::DateTime {
        let nanoseconds = i32::try_from(self.nanoseconds).unwrap_or(0);
        let outer = if self.seconds < 0 {
            Timestamp::MIN
        } else {
            Timestamp::MAX
        };
        let instant = Timestamp::new(self.seconds, nanoseconds).unwrap_or(outer);
        let zone = Offset::from_seconds(self.offset).unwrap_or(Offset::UTC);
        zone.to_datetime(instant)
    }
}

/// Parses `00:00`, `00:00:00` or `00:00:00.123`.
fn clock(text: &str) -> Option<Time> {
    let plain = text
        .bytes()
        .all(|byte| matches!(byte, b'0'..=b'9' | b':' | b'.'));
    if !plain || text.len() < 5 {
        return None;
    }
    text.parse().ok()
}

/// Parses `Z`, `+01:00`, `+0100`, `+01` or an empty text into seconds.
fn offset(text: &str) -> Option<i32> {
    let sign = match text.as_bytes().first() {
        None | Some(b'Z') => return (text.len() <= 1).then_some(0),
        Some(b'-') => -1,
        _ => 1,
    };
    let mut parts = [0, 0, 0];
    let digits = text[1..].bytes().filter(|byte| *byte != b':');
    let mut count = 0;
    for digit in digits {
        if !digit.is_ascii_digit() || count == 6 {
            return None;
        }
        parts[count / 2] = parts[count / 2] * 10 + i32::from(digit - b'0');
        count += 1;
    }
    let seconds = parts[0] * 3600 + parts[1] * 60 + parts[2];
    let valid = count > 0 && count % 2 == 0 && parts[1] < 60 && parts[2] < 60;
    (valid && seconds <= OFFSET_SECONDS_MAX).then_some(sign * seconds)
}

/// The form that [`DateTime::from_text`] reads, or `@seconds` for an instant outside the range of
/// dates.
impl fmt::Display for DateTime {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanoseconds = i32::try_from(self.nanoseconds).unwrap_or(0);
        let zone = Offset::from_seconds(self.offset).ok();
        let instant = Timestamp::new(self.seconds, nanoseconds).ok();
        let (Some(zone), Some(instant)) = (zone, instant) else {
            return write!(out, "@{}", self.seconds);
        };
        let local = zone.to_datetime(instant);
        write!(out, "{}T{}", local.date(), local.time())?;
        if self.offset == 0 {
            return out.write_str("Z");
        }
        let (sign, seconds) = (if self.offset < 0 { '-' } else { '+' }, self.offset.abs());
        write!(out, "{sign}{:02}:{:02}", seconds / 3600, seconds / 60 % 60)?;
        match seconds % 60 {
            0 => Ok(()),
            rest => write!(out, ":{rest:02}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(text: &str) -> Option<(i64, u32, i32)> {
        let read = DateTime::from_text(text)?;
        Some((read.seconds, read.nanoseconds, read.offset))
    }

    #[test]
    fn all_forms_of_a_date_are_read() {
        assert_eq!(seconds("2023-08-02T00:00:00Z"), Some((1_690_934_400, 0, 0)));
        assert_eq!(seconds("2023-08-02"), Some((1_690_934_400, 0, 0)));
        assert_eq!(seconds("2023-08"), Some((1_690_848_000, 0, 0)));
        assert_eq!(seconds("1969-12-31T23:59:59.5"), Some((-1, 500_000_000, 0)));
        assert_eq!(
            seconds("2023-08-02T01:30+01:30"),
            Some((1_690_934_400, 0, 5400))
        );
        assert_eq!(
            seconds("2018-03-22T00:35:44.741+1600"),
            Some((1_521_621_344, 741_000_000, 57_600))
        );
        for text in [
            "",
            "x",
            "2023",
            "2023-13-01",
            "2023-08-02T",
            "2023-08-02T00:00:00+19:00",
            "2023-08-02Tdé",
        ] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }

    #[test]
    fn a_printed_date_is_read_as_the_same_instant() {
        for text in [
            "2023-08-02T00:00:00Z",
            "1969-12-31T23:59:59.5Z",
            "2018-03-22T00:35:44.741-03:30",
        ] {
            let read = DateTime::from_text(text).unwrap();
            assert_eq!(DateTime::from_text(&read.to_string()), Some(read), "{read}");
        }
    }
}
