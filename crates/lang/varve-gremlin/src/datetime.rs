//! Dates and times in Gremlin's notation.

use std::fmt;

use jiff::Timestamp;
use jiff::civil::Time;
use varve_model::time::{Civil, offset_text, write_offset};

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
        let date = date.strip_suffix('Z').unwrap_or(date);
        let date = match date.len() {
            7 => Civil::date_from_text(&format!("{date}-01")),
            _ => Civil::date_from_text(date),
        }?;
        let (time, offset) = match time {
            Some(time) => {
                let end = time.find(['Z', '+', '-']).unwrap_or(time.len());
                (clock(&time[..end])?, offset(&time[end..])?)
            }
            None => (Time::midnight(), 0),
        };
        let part = |part: i8| u32::try_from(part).unwrap_or(0);
        let minutes = part(time.hour()) * 60 + part(time.minute());
        let nanoseconds = u32::try_from(time.subsec_nanosecond()).ok()?;
        let local = Civil {
            second: minutes * 60 + part(time.second()),
            nanos: nanoseconds,
            ..date
        };
        Some(DateTime {
            seconds: local.seconds(offset)?,
            nanoseconds,
            offset,
        })
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

    /// The local date and time at the offset.
    #[must_use]
    pub fn local(&self) -> Civil {
        Civil::at(self.seconds, self.nanoseconds, self.offset)
    }

    /// The instant as Java writes it: without seconds that are zero.
    #[must_use]
    pub fn java_text(&self) -> String {
        offset_text(self.seconds, self.nanoseconds, self.offset)
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

/// The form that [`DateTime::from_text`] reads, always with seconds.
impl fmt::Display for DateTime {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let local = self.local();
        local.write_date(out)?;
        let minutes = local.second / 60;
        let (hours, second) = (minutes / 60, local.second % 60);
        write!(out, "T{hours:02}:{:02}:{second:02}", minutes % 60)?;
        if local.nanos != 0 {
            let digits = format!("{:09}", local.nanos);
            write!(out, ".{}", digits.trim_end_matches('0'))?;
        }
        write_offset(self.offset, out)
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
            "+10000-01-01T00:00:00Z",
            "-0001-12-31T00:00:00.000000001Z",
        ] {
            let read = DateTime::from_text(text).unwrap();
            assert_eq!(DateTime::from_text(&read.to_string()), Some(read), "{read}");
        }
    }
}
