//! Dates and instants of input files, all parsed by the server's parser or by a pattern.

use std::str::FromStr;

use jiff::SignedDuration;
use jiff::civil::{DateTime, date};
use jiff::fmt::strtime;
use serde_json::Value as Json;
use varve_model::time::parse_instant;

const EPOCH: DateTime = date(1970, 1, 1).at(0, 0, 0, 0);
const SECOND_NANOS: i128 = 1_000_000_000;

/// The date and time of day in UTC of an instant in nanoseconds since 1970; `None` after the year
/// 9999. A `Timestamp` of the library ends a day earlier.
pub(crate) fn utc(nanos: i128) -> Option<DateTime> {
    let seconds = i64::try_from(nanos.div_euclid(SECOND_NANOS)).ok()?;
    let rest = i32::try_from(nanos.rem_euclid(SECOND_NANOS)).ok()?;
    EPOCH.checked_add(SignedDuration::new(seconds, rest)).ok()
}

/// A format of dates.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum DateFormat {
    /// `yyyy-MM-dd`, `yyyy-MM-dd HH:mm:ss[.SSS]`, or the same with `T` and a zone (RFC 3339).
    #[default]
    Auto,
    /// Seconds since 1970.
    EpochSeconds,
    /// Milliseconds since 1970.
    EpochMillis,
    /// Day first: `dd/MM/yyyy`, `dd.MM.yyyy` or `dd-MM-yyyy`.
    DayMonthYear,
    /// Month first: `MM/dd/yyyy`.
    MonthDayYear,
    /// A pattern of `yyyy`, `MM`, `MMM` (Jan), `MMMM` (January), `dd`, `HH`, `mm`, `ss`.
    Pattern(Pattern),
}

/// A pattern of dates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    /// As the user wrote it.
    text: String,
    /// As the parser reads it.
    form: String,
    has_time: bool,
}

impl FromStr for DateFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(match text {
            "auto" => Self::Auto,
            "epoch_seconds" => Self::EpochSeconds,
            "epoch_millis" => Self::EpochMillis,
            "day_month_year" => Self::DayMonthYear,
            "month_day_year" => Self::MonthDayYear,
            pattern => Self::Pattern(Pattern::of(pattern).ok_or_else(|| {
                format!(
                    "'{pattern}' is not a format of dates: say auto, epoch_seconds, epoch_millis, \
                     day_month_year, month_day_year, or a pattern such as \"dd.MM.yyyy HH:mm\" of \
                     yyyy, MM, MMM, MMMM, dd, HH, mm and ss"
                )
            })?),
        })
    }
}

impl Pattern {
    fn of(text: &str) -> Option<Self> {
        let (mut form, mut rest) = (String::new(), text);
        while let Some(first) = rest.chars().next() {
            let run = rest.len() - rest.trim_start_matches(first).len();
            form.push_str(match &rest[..run] {
                "yyyy" => "%Y",
                "MM" | "M" => "%m",
                "MMM" => "%b",
                "MMMM" => "%B",
                "dd" | "d" => "%d",
                "HH" | "H" => "%H",
                "mm" => "%M",
                "ss" => "%S",
                other if !first.is_alphanumeric() && first != '%' => other,
                "T" => "T",
                _ => return None,
            });
            rest = &rest[run..];
        }
        let has = |part: &str| form.contains(part);
        let is_day = has("%Y") && has("%d") && (has("%m") || has("%b") || has("%B"));
        let has_time = has("%H");
        is_day.then_some(Self {
            text: text.to_owned(),
            form,
            has_time,
        })
    }

    fn millis(&self, text: &str) -> Option<i64> {
        let parsed = strtime::parse(&self.form, text).ok()?;
        // A year of two digits leaves the century open.
        if parsed.year().is_none_or(|year| year < 1000) {
            return None;
        }
        let at: DateTime = match self.has_time {
            true => parsed.to_datetime().ok()?,
            false => parsed.to_date().ok()?.into(),
        };
        i64::try_from(at.duration_since(EPOCH).as_millis()).ok()
    }
}

/// The milliseconds since 1970 UTC of a date or instant, by the first of the formats that fits.
///
/// # Errors
/// A message with the expected formats.
pub fn millis_of(value: &Json, formats: &[DateFormat]) -> Result<i64, String> {
    let text = match value {
        Json::String(text) => text.trim().to_owned(),
        Json::Number(number) => number.to_string(),
        other => return Err(format!("{other} is not a date")),
    };
    let found = formats.iter().find_map(|format| format.millis(&text));
    found.ok_or_else(|| {
        let expected: Vec<&str> = formats.iter().map(DateFormat::expected).collect();
        let expected = expected.join(" or ");
        format!("'{text}' is not a date of the form {expected}")
    })
}

/// A start or end of valid time, as a text for the server.
///
/// # Errors
/// As [`millis_of`].
pub fn instant_of(value: &Json, formats: &[DateFormat]) -> Result<String, String> {
    if let Json::String(text) = value
        && formats.first() == Some(&DateFormat::Auto)
        && parse_instant(text).is_some()
    {
        // The text may have microseconds.
        return Ok(text.clone());
    }
    let millis = millis_of(value, formats)?;
    let at = utc(i128::from(millis) * 1_000_000);
    at.map(|at| format!("{at}Z"))
        .ok_or_else(|| format!("{value} is out of range"))
}

impl DateFormat {
    fn millis(&self, text: &str) -> Option<i64> {
        match self {
            // A number alone may be days, seconds, milliseconds or the digits of a date.
            Self::Auto => parse_instant(text).map(|instant| instant.0.div_euclid(1000)),
            Self::EpochSeconds => text.parse::<i64>().ok()?.checked_mul(1000),
            Self::EpochMillis => text.parse().ok(),
            Self::DayMonthYear => civil("dd/MM/yyyy", text),
            Self::MonthDayYear => civil("MM/dd/yyyy", text),
            Self::Pattern(pattern) => pattern.millis(text),
        }
    }

    fn expected(&self) -> &str {
        match self {
            Self::Auto => {
                "yyyy-MM-dd, yyyy-MM-dd HH:mm:ss[.SSS] or RFC 3339; for numbers say \
                 date_format = \"epoch_millis\" or \"epoch_seconds\""
            }
            Self::EpochSeconds => "seconds since 1970",
            Self::EpochMillis => "milliseconds since 1970",
            Self::DayMonthYear => "dd/MM/yyyy",
            Self::MonthDayYear => "MM/dd/yyyy",
            Self::Pattern(pattern) => &pattern.text,
        }
    }
}

/// A date with `/`, `.` or `-` as separator.
fn civil(pattern: &str, text: &str) -> Option<i64> {
    let text = text.replace(['.', '-'], "/");
    let (_, year) = text.rsplit_once('/')?;
    (year.len() == 4).then(|| Pattern::of(pattern)?.millis(&text))?
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400_000;

    #[test]
    fn every_form_is_read() {
        for (text, format, expected) in [
            ("1970-01-02", DateFormat::Auto, DAY),
            ("19700102", DateFormat::Auto, DAY),
            ("1970-01-02 00:00:00.007", DateFormat::Auto, DAY + 7),
            ("1970-01-02T00:00:00Z", DateFormat::Auto, DAY),
            ("1970-01-02T01:30:00.5+01:30", DateFormat::Auto, DAY + 500),
            (
                "1970-01-01T23:00:00.123456-01:00",
                DateFormat::Auto,
                DAY + 123,
            ),
            ("86400000", DateFormat::EpochMillis, DAY),
            ("86400", DateFormat::EpochSeconds, DAY),
            ("2/1/1970", DateFormat::DayMonthYear, DAY),
            ("02.01.1970", DateFormat::DayMonthYear, DAY),
            ("01/02/1970", DateFormat::MonthDayYear, DAY),
            ("31.12.9999", DateFormat::DayMonthYear, 2_932_896 * DAY),
        ] {
            assert_eq!(
                millis_of(&Json::from(text), &[format]),
                Ok(expected),
                "{text}"
            );
        }
        let seconds = millis_of(&Json::from(86_400), &[DateFormat::EpochSeconds]);
        assert_eq!(seconds, Ok(DAY));
    }

    #[test]
    fn valid_times_have_the_format_of_dates() {
        for (text, format, expected) in [
            ("02/01/1970", DateFormat::Auto, Err(())),
            ("1970-01-02", DateFormat::Auto, Ok("1970-01-02")),
            (
                "02/01/1970",
                DateFormat::DayMonthYear,
                Ok("1970-01-02T00:00:00Z"),
            ),
            (
                "31/12/9999",
                DateFormat::DayMonthYear,
                Ok("9999-12-31T00:00:00Z"),
            ),
            // Seconds, not the second of January.
            (
                "19700102",
                DateFormat::EpochSeconds,
                Ok("1970-08-17T00:15:02Z"),
            ),
            ("1970-01-02", DateFormat::EpochMillis, Err(())),
        ] {
            let read = instant_of(&Json::from(text), &[format]).map_err(|_| ());
            assert_eq!(read, expected.map(str::to_owned), "{text}");
        }
    }

    #[test]
    fn digits_are_a_date_and_not_milliseconds() {
        let may = millis_of(&Json::from("2020-05-01"), &[DateFormat::Auto]);
        assert_eq!(millis_of(&Json::from("20200501"), &[DateFormat::Auto]), may);
        let number = millis_of(&Json::from(1_588_291_200_000_i64), &[DateFormat::Auto]);
        assert!(number.unwrap_err().contains("epoch_millis"));
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for text in [
            "",
            "soon",
            "1970-13-01",
            "1970-01-02T",
            "1970-01-02Tx",
            "1970-01-02T00:00:00+1",
            "2020-05-01T00:00:00+99:99",
            "1588291200",
            "é1970-01-02T00:00",
        ] {
            assert!(
                millis_of(&Json::from(text), &[DateFormat::Auto]).is_err(),
                "{text}"
            );
        }
        for text in ["31/02/2020", "1/2/70", "1/2", "20200501"] {
            let read = millis_of(&Json::from(text), &[DateFormat::DayMonthYear]);
            assert!(read.is_err(), "{text}");
        }
        assert!(millis_of(&Json::Bool(true), &[DateFormat::Auto]).is_err());
        assert!(millis_of(&Json::from(i64::MAX), &[DateFormat::EpochSeconds]).is_err());
    }

    #[test]
    fn the_first_format_that_fits_reads_a_date() {
        let formats = |texts: &[&str]| -> Vec<DateFormat> {
            texts
                .iter()
                .map(|text| text.parse().expect("a format"))
                .collect()
        };
        let two = formats(&["dd.MM.yyyy", "auto"]);
        for text in ["02.01.1970", "1970-01-02", "2.1.1970"] {
            assert_eq!(millis_of(&Json::from(text), &two), Ok(DAY), "{text}");
        }
        let timed = formats(&["d MMM yyyy HH:mm"]);
        let read = millis_of(&Json::from("2 Jan 1970 00:01"), &timed);
        assert_eq!(read, Ok(DAY + 60_000));
        for text in ["02.01.70", "01/02/1970", "2 Jan 1970"] {
            let refused = millis_of(&Json::from(text), &two).unwrap_err();
            assert!(refused.contains("dd.MM.yyyy or yyyy-MM-dd"), "{refused}");
        }
        for pattern in ["yy-MM-dd", "Q", "", "yyyy", "dd.MM.yyyy %s"] {
            assert!(pattern.parse::<DateFormat>().is_err(), "{pattern}");
        }
    }
}
