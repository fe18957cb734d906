//! Dates and instants of input files, all parsed by the server's parser, which uses `jiff`.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde_json::Value as Json;
use varve_server::parse_instant;

use super::mapping::DateFormat;

/// The milliseconds since 1970 UTC of a date or instant.
///
/// # Errors
/// A message with the expected format.
pub(crate) fn millis_of(value: &Json, format: DateFormat) -> Result<i64, String> {
    let text = match value {
        Json::String(text) => text.trim().to_owned(),
        Json::Number(number) => number.to_string(),
        other => return Err(format!("{other} is not a date")),
    };
    let wrong = |expected: &str| format!("'{text}' is not a date of the form {expected}");
    match format {
        // A number alone may be days, seconds, milliseconds or the digits of a date.
        DateFormat::Auto => instant_millis(&text).ok_or_else(|| {
            wrong(
                "yyyy-MM-dd, yyyy-MM-dd HH:mm:ss[.SSS] or RFC 3339; for numbers say \
                 date_format = \"epoch_millis\" or \"epoch_seconds\"",
            )
        }),
        DateFormat::EpochSeconds => {
            let seconds = text.parse::<i64>().ok();
            let millis = seconds.and_then(|seconds| seconds.checked_mul(1000));
            millis.ok_or_else(|| wrong("seconds since 1970"))
        }
        DateFormat::EpochMillis => text.parse().map_err(|_| wrong("milliseconds since 1970")),
        DateFormat::DayMonthYear => civil("%d/%m/%Y", &text).ok_or_else(|| wrong("dd/MM/yyyy")),
        DateFormat::MonthDayYear => civil("%m/%d/%Y", &text).ok_or_else(|| wrong("MM/dd/yyyy")),
    }
}

/// A start or end of valid time, as a text for the server.
///
/// # Errors
/// As [`millis_of`].
pub(crate) fn instant_of(value: &Json, format: DateFormat) -> Result<String, String> {
    if let (Json::String(text), DateFormat::Auto) = (value, format) {
        return match parse_instant(text) {
            // The text may have microseconds.
            Some(_) => Ok(text.clone()),
            None => Err(format!("{value} is not a date or an instant")),
        };
    }
    let millis = millis_of(value, format)?;
    let instant = Timestamp::from_millisecond(millis);
    instant
        .map(|instant| instant.to_string())
        .map_err(|_| format!("{value} is out of range"))
}

fn instant_millis(text: &str) -> Option<i64> {
    parse_instant(text).map(|instant| instant.0.div_euclid(1000))
}

/// A date with `/`, `.` or `-` as separator. The year must have four digits, since two leave the
/// century open.
fn civil(form: &str, text: &str) -> Option<i64> {
    let text = text.replace(['.', '-'], "/");
    let (_, year) = text.rsplit_once('/')?;
    let date = Date::strptime(form, &text).ok()?;
    let at = date.to_zoned(TimeZone::UTC).ok()?;
    (year.len() == 4).then(|| at.timestamp().as_millisecond())
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
        ] {
            assert_eq!(millis_of(&Json::from(text), format), Ok(expected), "{text}");
        }
        let seconds = millis_of(&Json::from(86_400), DateFormat::EpochSeconds);
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
            // Seconds, not the second of January.
            (
                "19700102",
                DateFormat::EpochSeconds,
                Ok("1970-08-17T00:15:02Z"),
            ),
            ("1970-01-02", DateFormat::EpochMillis, Err(())),
        ] {
            let read = instant_of(&Json::from(text), format).map_err(|_| ());
            assert_eq!(read, expected.map(str::to_owned), "{text}");
        }
    }

    #[test]
    fn digits_are_a_date_and_not_milliseconds() {
        let may = millis_of(&Json::from("2020-05-01"), DateFormat::Auto);
        assert_eq!(millis_of(&Json::from("20200501"), DateFormat::Auto), may);
        let number = millis_of(&Json::from(1_588_291_200_000_i64), DateFormat::Auto);
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
                millis_of(&Json::from(text), DateFormat::Auto).is_err(),
                "{text}"
            );
        }
        for text in ["31/02/2020", "1/2/70", "1/2", "20200501"] {
            let read = millis_of(&Json::from(text), DateFormat::DayMonthYear);
            assert!(read.is_err(), "{text}");
        }
        assert!(millis_of(&Json::Bool(true), DateFormat::Auto).is_err());
        assert!(millis_of(&Json::from(i64::MAX), DateFormat::EpochSeconds).is_err());
    }
}
