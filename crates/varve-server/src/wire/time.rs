//! The query parameters for a point of both times or a valid period, and the text form of instants:
//! RFC 3339 in UTC with six decimals.

use jiff::SignedDuration;
use jiff::civil::{DateTime, date};
use varve_graph::schema::Schema;
use varve_graph::write::WritePeriod;
pub use varve_model::time::parse_instant;
use varve_model::time::parse_version;
use varve_model::{CommitVersion, Instant, TemporalScope};

use crate::json::Detail;
use crate::request::RequestContext;
use crate::{ApiError, Query};

const EPOCH: DateTime = date(1970, 1, 1).at(0, 0, 0, 0);

/// Formats an instant. `None` for the ends of time and for instants outside the years −9999 to
/// 9999.
pub(crate) fn instant_text(instant: Instant) -> Option<String> {
    if instant == Instant::FOREVER || instant == Instant::MIN {
        return None;
    }
    let since = SignedDuration::from_micros(instant.0);
    Some(format!("{:.6}Z", EPOCH.checked_add(since).ok()?))
}

/// Whether a read names no transaction time. A read as of a transaction time may have to wait for
/// running commits, and a serving thread must not wait.
pub(crate) fn waits_for_nothing(context: &RequestContext) -> bool {
    context
        .query()
        .is_ok_and(|query| query.get("as_of_tx").is_none())
}

/// The point of both times that `as_of` and `as_of_tx` name.
pub(crate) fn scope(query: &Query) -> Result<TemporalScope, ApiError> {
    scope_of(query.get("as_of"), query.get("as_of_tx"))
}

/// The point of both times that these texts name.
pub(crate) fn scope_of(
    as_of: Option<&str>,
    as_of_tx: Option<&str>,
) -> Result<TemporalScope, ApiError> {
    let valid = as_of.map(|text| instant("as_of", text));
    Ok(TemporalScope {
        valid: valid.transpose()?,
        transaction: as_of_tx.map(commit_version).transpose()?,
    })
}

/// Returns the detail of property values. With `stored=true` an answer also has properties that the
/// read mode hides, and in an open graph the types of values.
pub(crate) fn detail(query: &Query, schema: &Schema) -> Result<Detail, ApiError> {
    Ok(match query.boolean("stored", false)? {
        false => Detail::Seen,
        true if schema.is_open() => Detail::Typed,
        true => Detail::Stored,
    })
}

/// The valid period that `valid_from` and `valid_to` name.
pub(crate) fn period(query: &Query) -> Result<WritePeriod, ApiError> {
    let read = |name: &str| query.get(name).map(|text| instant(name, text)).transpose();
    Ok(WritePeriod {
        from: read("valid_from")?,
        to: read("valid_to")?,
    })
}

pub(crate) fn instant(name: &str, text: &str) -> Result<Instant, ApiError> {
    parse_instant(text).ok_or_else(|| {
        ApiError::illegal_argument(format!(
            "The {name} must be a date or an RFC 3339 instant such as '2024-05-01T12:00:00Z', up to the year 9999, but got '{text}'"
        ))
    })
}

/// Reads a commit version, or an instant as its last version. `now` is [`CommitVersion::MAX`],
/// which no number and no instant yields.
pub(crate) fn commit_version(text: &str) -> Result<CommitVersion, ApiError> {
    parse_version(text).ok_or_else(|| {
        ApiError::illegal_argument(format!(
            "The as_of_tx must be a commit version, an RFC 3339 instant such as '2024-05-01T12:00:00Z', or 'now', but got '{text}'"
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
            ("1970-01-01T23:59:00+23:59", 0),
            ("1970-01-01", 0),
            ("1970-01-02 00:00:01", 86_401_000_000),
            ("1970-01-02T00:00:01.5", 86_401_500_000),
            ("1969-12-31T23:59:59.9999999Z", -1),
            ("9999-12-31", 253_402_214_400_000_000),
            ("9999-12-31T23:59:59Z", 253_402_300_799_000_000),
            ("9999-12-31 23:59:59.999999", 253_402_300_799_999_999),
            ("0000-01-01", -62_167_219_200_000_000),
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
            "10000-01-01",
            "9999-12-31T23:59:59-08:00",
            "2020-01-01T00:00:00-27:00",
            "2020-01-01T00:00:00 27:00",
            "2020-01-01T00:00:00+24:00",
            "2020-01-01T00:00:00-25:59",
            "2020-01-01 00:00:00 24:30",
            "2020-01-01T00:00:00+2459",
            "2020-01-01ZZ",
        ] {
            assert_eq!(parse_instant(bad), None, "{bad}");
        }
        for micros in [
            0,
            1,
            -1,
            1_700_000_000_123_456,
            253_402_300_799_999_999,
            -62_167_219_200_000_000,
        ] {
            let text = instant_text(Instant(micros)).expect("in range");
            assert_eq!(parse_instant(&text), Some(Instant(micros)), "{text}");
        }
        let text = instant_text(Instant(1_500_000)).expect("in range");
        assert_eq!(text, "1970-01-01T00:00:01.500000Z");
        assert_eq!(instant_text(Instant::FOREVER), None);
        assert_eq!(instant_text(Instant(i64::MAX - 1)), None);
    }

    #[test]
    fn scopes_and_periods() {
        let query = Query::parse("as_of=1970-01-02&as_of_tx=256").expect("query");
        let scope = scope(&query).expect("scope");
        assert_eq!(scope.valid, Some(Instant(86_400_000_000)));
        assert_eq!(scope.transaction, Some(CommitVersion(256)));
        let version = |text| commit_version(text).expect("a version").0;
        assert_eq!(version("now"), u64::MAX);
        assert_eq!(version("18446744073709551615"), u64::MAX - 1);
        let query = Query::parse("valid_to=1970-01-01T00:00:01Z").expect("query");
        let period = period(&query).expect("period");
        assert_eq!((period.from, period.to), (None, Some(Instant(1_000_000))));
        assert!(super::scope(&Query::parse("as_of=yesterday").expect("query")).is_err());
    }
}
