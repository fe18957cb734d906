//! Dates of input files, as milliseconds since 1970.

use serde_json::Value as Json;
use varve_model::value::parse_date;

use super::mapping::DateFormat;

/// The milliseconds since 1970 UTC that `value` means.
///
/// # Errors
/// A sentence that says what was expected.
pub(crate) fn millis_of(value: &Json, format: DateFormat) -> Result<i64, String> {
    let text = match value {
        Json::String(text) => text.trim(),
        Json::Number(number) => {
            let whole = number
                .as_i64()
                .ok_or_else(|| format!("{number} is not a date"))?;
            return Ok(if format == DateFormat::EpochSeconds {
                whole * 1000
            } else {
                whole
            });
        }
        other => return Err(format!("{other} is not a date")),
    };
    let wrong = |expected: &str| format!("'{text}' is not a date of the form {expected}");
    match format {
        DateFormat::Auto => date_or_instant(text).ok_or_else(|| {
            wrong("yyyy-MM-dd, yyyy-MM-dd HH:mm:ss[.SSS], RFC 3339, or milliseconds since 1970")
        }),
        DateFormat::EpochSeconds => {
            let seconds = text
                .parse::<i64>()
                .ok()
                .and_then(|seconds| seconds.checked_mul(1000));
            seconds.ok_or_else(|| wrong("seconds since 1970"))
        }
        DateFormat::EpochMillis => text.parse().map_err(|_| wrong("milliseconds since 1970")),
        DateFormat::DayMonthYear => day_first(text, false).ok_or_else(|| wrong("dd/MM/yyyy")),
        DateFormat::MonthDayYear => day_first(text, true).ok_or_else(|| wrong("MM/dd/yyyy")),
    }
}

fn date_or_instant(text: &str) -> Option<i64> {
    if let Some(millis) = parse_date(text).or_else(|| text.parse().ok()) {
        return Some(millis);
    }
    // RFC 3339: a date, `T` or a blank, a time, perhaps a fraction, and a zone.
    let (date, rest) = (text.get(..10)?, text.get(11..)?);
    let zone_at = rest.find(['Z', 'z', '+', '-']);
    let (time, zone) = rest.split_at(zone_at.unwrap_or(rest.len()));
    let offset_minutes = match zone {
        "" | "Z" | "z" => 0,
        zone => {
            let (hours, minutes) = zone[1..].split_once(':')?;
            let minutes = hours.parse::<i64>().ok()? * 60 + minutes.parse::<i64>().ok()?;
            if zone.starts_with('-') {
                -minutes
            } else {
                minutes
            }
        }
    };
    let (seconds, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let known = fraction.len() <= 9 && fraction.bytes().all(|byte| byte.is_ascii_digit());
    let millis: i64 = known
        .then(|| format!("{fraction:0<3}")[..3].parse().ok())
        .flatten()?;
    let at = parse_date(&format!("{date} {seconds}"))?;
    Some(at + millis - offset_minutes * 60_000)
}

fn day_first(text: &str, month_first: bool) -> Option<i64> {
    let parts: Vec<&str> = text.split(['/', '.', '-']).collect();
    let [first, second, year] = parts[..] else {
        return None;
    };
    let (day, month) = if month_first {
        (second, first)
    } else {
        (first, second)
    };
    parse_date(&format!("{year:0>4}-{month:0>2}-{day:0>2}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read() {
        let day = 86_400_000;
        for (text, format, expected) in [
            ("1970-01-02", DateFormat::Auto, day),
            ("1970-01-02 00:00:00.007", DateFormat::Auto, day + 7),
            ("1970-01-02T00:00:00Z", DateFormat::Auto, day),
            ("1970-01-02T01:30:00.5+01:30", DateFormat::Auto, day + 500),
            (
                "1970-01-01T23:00:00.123456-01:00",
                DateFormat::Auto,
                day + 123,
            ),
            ("86400000", DateFormat::Auto, day),
            ("86400", DateFormat::EpochSeconds, day),
            ("2/1/1970", DateFormat::DayMonthYear, day),
            ("01/02/1970", DateFormat::MonthDayYear, day),
        ] {
            assert_eq!(millis_of(&Json::from(text), format), Ok(expected), "{text}");
        }
        assert_eq!(
            millis_of(&Json::from(86_400), DateFormat::EpochSeconds),
            Ok(day)
        );
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
            "é1970-01-02T00:00",
        ] {
            assert!(
                millis_of(&Json::from(text), DateFormat::Auto).is_err(),
                "{text}"
            );
        }
        assert!(millis_of(&Json::from("31/02/2020"), DateFormat::DayMonthYear).is_err());
        assert!(millis_of(&Json::Bool(true), DateFormat::Auto).is_err());
    }
}
