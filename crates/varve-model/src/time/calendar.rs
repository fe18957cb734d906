//! Dates and times of day in the proleptic Gregorian calendar, as far as seconds of 64 bits reach.

use std::fmt;

const DAY_SECONDS: i128 = 86_400;
/// No instant of 64 bits is in a later year.
const YEARS_MAX: u64 = 300_000_000_000;

/// A date and a time of day at some offset from UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Civil {
    /// The year; 0 is the year before 1.
    pub year: i64,
    /// The month, from 1.
    pub month: u8,
    /// The day of the month, from 1.
    pub day: u8,
    /// The second of the day.
    pub second: u32,
    /// Nanoseconds after it.
    pub nanos: u32,
}

impl Civil {
    /// The local time of an instant: `seconds` since 1970 UTC and `nanos` after them, at `offset`
    /// seconds east of UTC.
    #[must_use]
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "parts of a date, and days of seconds that have 64 bits"
    )]
    pub fn at(seconds: i64, nanos: u32, offset: i32) -> Self {
        let local = i128::from(seconds) + i128::from(offset);
        let days = local.div_euclid(DAY_SECONDS) as i64;
        let (year, month, day) = civil_from_days(days);
        Self {
            year,
            month: month as u8,
            day: day as u8,
            second: local.rem_euclid(DAY_SECONDS) as u32,
            nanos,
        }
    }

    /// Seconds since 1970 UTC of this local time at an offset; `None` if there is no such date, or
    /// the result has more than 64 bits.
    #[must_use]
    pub fn seconds(&self, offset: i32) -> Option<i64> {
        if self.year.unsigned_abs() > YEARS_MAX {
            return None;
        }
        let days = days_from_civil(self.year, self.month.into(), self.day.into());
        let seconds = i128::from(days) * DAY_SECONDS + i128::from(self.second) - i128::from(offset);
        let seconds = i64::try_from(seconds).ok()?;
        // Another date: the day or the month does not exist.
        (Self::at(seconds, self.nanos, offset) == *self).then_some(seconds)
    }

    /// Reads a date as Java writes it: a year of at least four digits, with a sign if it has more
    /// or is negative, then month and day. The time of day is midnight.
    #[must_use]
    pub fn date_from_text(text: &str) -> Option<Self> {
        let (rest, day) = text.rsplit_once('-')?;
        let (year, month) = rest.rsplit_once('-')?;
        let digits = year.strip_prefix(['+', '-']).unwrap_or(year);
        let plain = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        let fits = match year.starts_with('+') {
            true => digits.len() > 4,
            false => digits.len() == 4 || year.starts_with('-') && digits.len() > 4,
        };
        if !fits || digits.len() > 12 || month.len() != 2 || day.len() != 2 {
            return None;
        }
        if !plain(digits) || !plain(month) || !plain(day) {
            return None;
        }
        Some(Self {
            year: year.parse().ok()?,
            month: month.parse().ok()?,
            day: day.parse().ok()?,
            second: 0,
            nanos: 0,
        })
    }

    /// Writes the date as Java's `LocalDate` does: `2024-05-01`, `+10000-01-01`, `-0001-12-31`.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_date(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        let Self {
            year, month, day, ..
        } = *self;
        match year {
            0..=9_999 => write!(out, "{year:04}")?,
            10_000.. => write!(out, "+{year}")?,
            _ => write!(out, "-{:04}", year.unsigned_abs())?,
        }
        write!(out, "-{month:02}-{day:02}")
    }

    /// Writes the time of day as Java's `LocalTime` does: without seconds that are zero, and with
    /// 3, 6 or 9 digits of a fraction.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_time(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        let (minutes, second) = (self.second / 60, self.second % 60);
        write!(out, "{:02}:{:02}", minutes / 60, minutes % 60)?;
        if second != 0 || self.nanos != 0 {
            write!(out, ":{second:02}")?;
        }
        match self.nanos {
            0 => Ok(()),
            nanos if nanos % 1_000_000 == 0 => write!(out, ".{:03}", nanos / 1_000_000),
            nanos if nanos % 1_000 == 0 => write!(out, ".{:06}", nanos / 1_000),
            nanos => write!(out, ".{nanos:09}"),
        }
    }
}

/// Writes an offset from UTC as Java does: `Z`, `+01:30`, `-00:00:01`.
///
/// # Errors
/// Those of `out`.
pub fn write_offset(seconds: i32, out: &mut dyn fmt::Write) -> fmt::Result {
    if seconds == 0 {
        return out.write_str("Z");
    }
    let sign = if seconds < 0 { '-' } else { '+' };
    let seconds = seconds.unsigned_abs();
    write!(out, "{sign}{:02}:{:02}", seconds / 3_600, seconds / 60 % 60)?;
    match seconds % 60 {
        0 => Ok(()),
        rest => write!(out, ":{rest:02}"),
    }
}

/// An instant at an offset, as Java's `OffsetDateTime` writes it.
///
/// ```
/// use varve_model::time::offset_text;
/// assert_eq!(offset_text(253_402_300_800, 0, 0), "+10000-01-01T00:00Z");
/// ```
#[must_use]
pub fn offset_text(seconds: i64, nanos: u32, offset: i32) -> String {
    let mut text = String::new();
    let local = Civil::at(seconds, nanos, offset);
    // Writing to a text does not fail.
    let _ = local
        .write_date(&mut text)
        .and_then(|()| fmt::Write::write_char(&mut text, 'T'))
        .and_then(|()| local.write_time(&mut text))
        .and_then(|()| write_offset(offset, &mut text));
    text
}

/// Days since 1970-01-01 of a date of the proleptic Gregorian calendar (Howard Hinnant's published
/// algorithm).
pub(crate) fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Year, month and day of a day counted from 1970-01-01.
pub(crate) fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    (era * 400 + year + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_written_as_java_does() {
        for (seconds, nanos, offset, text) in [
            (0, 0, 0, "1970-01-01T00:00Z"),
            (253_402_300_799, 0, 0, "9999-12-31T23:59:59Z"),
            (253_402_300_800, 0, 0, "+10000-01-01T00:00Z"),
            (253_402_300_799, 0, 1, "+10000-01-01T00:00+00:00:01"),
            (
                9_223_372_036_854_775,
                807_000_000,
                0,
                "+292278994-08-17T07:12:55.807Z",
            ),
            (
                -9_223_372_036_854_776,
                192_000_000,
                0,
                "-292275055-05-16T16:47:04.192Z",
            ),
            (-62_167_219_200, 0, 0, "0000-01-01T00:00Z"),
            (-62_167_219_201, 5_000, 0, "-0001-12-31T23:59:59.000005Z"),
            (951_782_400, 0, 5_400, "2000-02-29T01:30+01:30"),
            (-1, 1, -60, "1969-12-31T23:58:59.000000001-00:01"),
        ] {
            assert_eq!(offset_text(seconds, nanos, offset), text);
            let local = Civil::at(seconds, nanos, offset);
            assert_eq!(local.seconds(offset), Some(seconds), "{text}");
            let date = text.split('T').next().expect("a date");
            let read = Civil::date_from_text(date).expect(date);
            assert_eq!(
                (read.year, read.month, read.day),
                (local.year, local.month, local.day)
            );
        }
        for text in [
            "10000-01-01",
            "+2024-01-01",
            "24-01-01",
            "2024-1-01",
            "+99999999999999-01-01",
        ] {
            assert_eq!(Civil::date_from_text(text), None, "{text}");
        }
        let none = Civil::date_from_text("2023-02-29").expect("parts");
        assert_eq!(none.seconds(0), None);
        for extreme in [i64::MIN, i64::MAX] {
            assert!(!offset_text(extreme, 0, 64_800).is_empty());
        }
    }
}
