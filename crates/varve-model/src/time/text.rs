//! Instants and commit versions as people write them.
//!
//! RFC 3339 (`2024-05-01T12:00:00.000001+02:00`), the same without offset or with a space for the
//! `T` (UTC), a plain date (its first instant, UTC); up to the end of the year 9999.

use jiff::civil::{Date, DateTime, Time, date};

use super::{CommitVersion, Instant};

/// Reads a commit version: a number, or an instant, which means its last version. `now` is
/// [`CommitVersion::MAX`], which no number and no instant yields.
#[must_use]
pub fn parse_version(text: &str) -> Option<CommitVersion> {
    if text == "now" {
        return Some(CommitVersion::MAX);
    }
    let number = text.parse().ok().map(CommitVersion);
    let version = number.or_else(|| parse_instant(text).map(CommitVersion::last_at));
    version.map(|version| version.min(CommitVersion(u64::MAX - 1)))
}

/// Reads an instant. All APIs and tools use this function.
#[must_use]
pub fn parse_instant(text: &str) -> Option<Instant> {
    if offset_hours(text).is_some_and(|hours| hours > OFFSET_HOURS_MAX) {
        return None;
    }
    let nanos = text
        .parse::<jiff::Timestamp>()
        .ok()
        .map(jiff::Timestamp::as_nanosecond)
        .or_else(|| civil(text))
        // A `Timestamp` ends a day before the year 9999 does, so that every offset has room.
        .or_else(|| civil(text.strip_suffix(['Z', 'z'])?))
        .or_else(|| {
            // A `+` that was not percent-encoded arrives as a space.
            let (rest, offset) = text.rsplit_once(' ')?;
            let timestamp: jiff::Timestamp = format!("{rest}+{offset}").parse().ok()?;
            Some(timestamp.as_nanosecond())
        })?;
    // Of nanoseconds, the part below a microsecond is cut towards the past.
    i64::try_from(nanos.div_euclid(1_000)).ok().map(Instant)
}

/// The most hours of an offset in RFC 3339; the parser accepts more.
const OFFSET_HOURS_MAX: u8 = 23;

/// The hours of the offset after the time of day: two digits after its sign, which arrives as a
/// space if a `+` was not percent-encoded.
fn offset_hours(text: &str) -> Option<u8> {
    let (_, time) = text.split_once(['T', 't', ' '])?;
    let (_, offset) = time.split_once(['+', '-', ' '])?;
    offset.get(..2)?.parse().ok()
}

const EPOCH: DateTime = date(1970, 1, 1).at(0, 0, 0, 0);

/// Nanoseconds since 1970 of a date, or a date and time, in UTC. Checks the characters first, since
/// the parser ignores an offset.
fn civil(text: &str) -> Option<i128> {
    let of = |text: &str, marks: &[u8]| {
        let mut bytes = text.bytes();
        bytes.all(|byte| byte.is_ascii_digit() || marks.contains(&byte))
    };
    let shown = match text.split_once(['T', 't', ' ']) {
        Some((_, time)) => of(time, b":.").then(|| text.parse::<DateTime>().ok())?,
        None => of(text, b"-")
            .then(|| text.parse::<Date>().ok())?
            .map(|day| day.to_datetime(Time::midnight())),
    };
    Some(shown?.duration_since(EPOCH).as_nanos())
}
