//! Instants in text, and the query parameters that ask for a point of both times or say a valid period.
//!
//! Read: RFC 3339 (`2024-05-01T12:00:00.000001+02:00`), the same without offset or with a space for the `T` (UTC), a
//! plain date (its first instant, UTC). Written: RFC 3339 in UTC with six decimals.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use varve_graph::write::WritePeriod;
use varve_model::{CommitVersion, Instant, TemporalScope};

use crate::{ApiError, Query};

/// Reads an instant.
pub(crate) fn parse_instant(text: &str) -> Option<Instant> {
    let timestamp = text
        .parse::<jiff::Timestamp>()
        .ok()
        .or_else(|| in_utc(text.parse::<DateTime>().ok()?))
        .or_else(|| {
            in_utc(
                text.parse::<Date>()
                    .ok()?
                    .to_datetime(jiff::civil::Time::midnight()),
            )
        })
        .or_else(|| {
            // A `+` that was not percent-encoded arrives as a space.
            let (rest, offset) = text.rsplit_once(' ')?;
            format!("{rest}+{offset}").parse::<jiff::Timestamp>().ok()
        })?;
    // Of nanoseconds, the part below a microsecond is cut towards the past.
    i64::try_from(timestamp.as_nanosecond().div_euclid(1_000))
        .ok()
        .map(Instant)
}

fn in_utc(civil: DateTime) -> Option<jiff::Timestamp> {
    TimeZone::UTC.to_timestamp(civil).ok()
}

/// Writes an instant; `None` for the ends of time, which have no text.
pub(crate) fn instant_text(instant: Instant) -> Option<String> {
    if instant == Instant::FOREVER || instant == Instant::MIN {
        return None;
    }
    let timestamp = jiff::Timestamp::from_microsecond(instant.0).ok()?;
    Some(format!("{timestamp:.6}"))
}

/// The point of both times that `as_of` and `as_of_tx` ask for.
pub(crate) fn scope(query: &Query) -> Result<TemporalScope, ApiError> {
    let valid = match query.get("as_of") {
        Some(text) => Some(instant("as_of", text)?),
        None => None,
    };
    let transaction = match query.get("as_of_tx") {
        Some(text) => Some(commit_version(text)?),
        None => None,
    };
    Ok(TemporalScope { valid, transaction })
}

/// The valid period that `valid_from` and `valid_to` say.
pub(crate) fn period(query: &Query) -> Result<WritePeriod, ApiError> {
    let read = |name: &str| query.get(name).map(|text| instant(name, text)).transpose();
    Ok(WritePeriod {
        from: read("valid_from")?,
        to: read("valid_to")?,
    })
}

fn instant(name: &str, text: &str) -> Result<Instant, ApiError> {
    parse_instant(text).ok_or_else(|| {
        ApiError::illegal_argument(format!(
            "The {name} must be a date or an RFC 3339 instant such as '2024-05-01T12:00:00Z', but got '{text}'"
        ))
    })
}

/// A commit version, or the last one of an instant.
pub(crate) fn commit_version(text: &str) -> Result<CommitVersion, ApiError> {
    if let Ok(version) = text.parse::<u64>() {
        return Ok(CommitVersion(version));
    }
    parse_instant(text).map(CommitVersion::last_at).ok_or_else(|| {
        ApiError::illegal_argument(format!(
            "The as_of_tx must be a commit version or an RFC 3339 instant such as '2024-05-01T12:00:00Z', but got '{text}'"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_read_and_written() {
        for (text, micros) in [
            ("1970-01-01T00:00:00Z", 0),
            ("1970-01-01T02:00:00.000001+02:00", 1),
            ("1970-01-01T02:00:00 02:00", 0),
            ("1970-01-01", 0),
            ("1970-01-02 00:00:01", 86_401_000_000),
            ("1970-01-02T00:00:01.5", 86_401_500_000),
            ("1969-12-31T23:59:59.9999999Z", -1),
        ] {
            assert_eq!(parse_instant(text), Some(Instant(micros)), "{text}");
        }
        for bad in [
            "",
            "x",
            "1970",
            "1970-13-01",
            "1970-01-01T25:00:00Z",
            "12345",
        ] {
            assert_eq!(parse_instant(bad), None, "{bad}");
        }
        for micros in [0, 1, -1, 1_700_000_000_123_456] {
            let text = instant_text(Instant(micros)).expect("in range");
            assert_eq!(parse_instant(&text), Some(Instant(micros)), "{text}");
        }
        let text = instant_text(Instant(1_500_000)).expect("in range");
        assert_eq!(text, "1970-01-01T00:00:01.500000Z");
        assert_eq!(instant_text(Instant::FOREVER), None);
    }

    #[test]
    fn scopes_and_periods() {
        let query = Query::parse("as_of=1970-01-02&as_of_tx=256&valid_to=1970-01-01T00:00:01Z")
            .expect("query");
        let scope = scope(&query).expect("scope");
        assert_eq!(scope.valid, Some(Instant(86_400_000_000)));
        assert_eq!(scope.transaction, Some(CommitVersion(256)));
        let period = period(&query).expect("period");
        assert_eq!((period.from, period.to), (None, Some(Instant(1_000_000))));
        assert!(super::scope(&Query::parse("as_of=yesterday").expect("query")).is_err());
    }
}
