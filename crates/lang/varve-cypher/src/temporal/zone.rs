//! Time zones by name, from a database that is built in: answers do not depend on the machine.

use std::sync::{Arc, LazyLock};

use jiff::Timestamp;
use jiff::tz::{AmbiguousOffset, TimeZone, TimeZoneDatabase};

use super::{Date, DateTime, LocalDateTime, NANOS_PER_SECOND, Time};

/// The largest offset, in seconds.
const OFFSET_MAX: i64 = 18 * 3_600;
/// The years in which the database is asked; before, the first rule is in force, and after, the
/// last one is repeated every 400 years.
const FIRST_YEAR: i64 = -9_000;
const LAST_YEAR: i64 = 9_000;

static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// A time zone.
#[derive(Debug, Clone)]
pub(crate) enum Zone {
    /// A fixed offset, in seconds east of UTC.
    Offset(i32),
    /// A zone with a name.
    Named(Arc<str>, TimeZone),
}

impl Zone {
    pub(crate) const UTC: Zone = Zone::Offset(0);

    /// The zone with a name, or of an offset such as `+01:00` or `Z`.
    pub(crate) fn of(text: &str) -> Option<Zone> {
        if let Some(offset) = super::parse::offset(text) {
            return Some(Zone::Offset(offset));
        }
        let zone = ZONES.get(text).ok()?;
        // The database finds names in any case; the name as it is registered is kept.
        let name = zone.iana_name().unwrap_or(text);
        Some(Zone::Named(name.into(), zone))
    }

    /// The zone of a date and time.
    pub(crate) fn of_datetime(at: &DateTime) -> Zone {
        let named = at.zone.as_deref().and_then(Zone::of);
        named.unwrap_or(Zone::Offset(at.offset))
    }

    pub(crate) fn name(&self) -> Option<Arc<str>> {
        match self {
            Zone::Offset(_) => None,
            Zone::Named(name, _) => Some(Arc::clone(name)),
        }
    }

    /// The offset at a moment of UTC.
    fn offset_at(&self, utc: LocalDateTime) -> i32 {
        match self {
            Zone::Offset(offset) => *offset,
            Zone::Named(_, zone) => match Timestamp::from_second(near(utc).seconds) {
                Ok(at) => zone.to_offset(at).seconds(),
                Err(_) => 0,
            },
        }
    }

    /// The offset at a moment on the zone's clock. In a gap, the one before it; where the clock
    /// shows a time twice, `wish` if that is one of both, else the earlier.
    fn offset_on(&self, local: LocalDateTime, wish: Option<i32>) -> i32 {
        let Zone::Named(_, zone) = self else {
            return self.offset_at(local);
        };
        let Some(local) = civil(near(local)) else {
            return 0;
        };
        match zone.to_ambiguous_timestamp(local).offset() {
            AmbiguousOffset::Unambiguous { offset } => offset.seconds(),
            AmbiguousOffset::Gap { before, .. } => before.seconds(),
            AmbiguousOffset::Fold { before, after } => match wish {
                Some(wish) if wish == after.seconds() => wish,
                _ => before.seconds(),
            },
        }
    }

    /// The date and time of a moment of UTC in this zone.
    pub(crate) fn at_utc(&self, utc: LocalDateTime) -> Option<DateTime> {
        let offset = self.offset_at(utc);
        Some(DateTime {
            local: utc.plus_seconds(i64::from(offset))?,
            offset,
            zone: self.name(),
        })
    }

    /// The date and time that this zone's clock shows. A time in a gap moves on by its length.
    pub(crate) fn at_local(&self, local: LocalDateTime, wish: Option<i32>) -> Option<DateTime> {
        let offset = self.offset_on(local, wish);
        self.at_utc(local.plus_seconds(-i64::from(offset))?)
    }
}

/// A moment at which the zone has the same offset, in years that the database knows.
fn near(at: LocalDateTime) -> LocalDateTime {
    let year = at.date().year();
    let cycles = match year {
        _ if year < FIRST_YEAR => (year - FIRST_YEAR).div_euclid(400),
        _ if year > LAST_YEAR => (year - LAST_YEAR).div_euclid(400) + 1,
        _ => 0,
    };
    LocalDateTime {
        seconds: at.seconds - cycles * 146_097 * 86_400,
        ..at
    }
}

fn civil(at: LocalDateTime) -> Option<jiff::civil::DateTime> {
    let (year, month, day) = at.date().fields();
    let (hour, minute, second, nano) = at.time().fields();
    let small = |number: i64| i8::try_from(number).ok();
    jiff::civil::DateTime::new(
        i16::try_from(year).ok()?,
        small(month)?,
        small(day)?,
        small(hour)?,
        small(minute)?,
        small(second)?,
        i32::try_from(nano).ok()?,
    )
    .ok()
}

/// An offset of so many seconds, if it is within ±18 hours.
pub(crate) fn offset_of(seconds: i64) -> Option<i32> {
    let fits = (-OFFSET_MAX..=OFFSET_MAX).contains(&seconds);
    fits.then(|| i32::try_from(seconds).ok()).flatten()
}

impl DateTime {
    /// The same moment on UTC's clock.
    pub(crate) fn utc(&self) -> LocalDateTime {
        LocalDateTime {
            seconds: self.local.seconds - i64::from(self.offset),
            ..self.local
        }
    }
}

impl Time {
    /// Nanoseconds since UTC's midnight; they may be negative or exceed a day.
    pub(crate) fn utc_nanos(self) -> i64 {
        self.nanos - i64::from(self.offset) * NANOS_PER_SECOND
    }
}

impl Ord for DateTime {
    /// By moment, then by offset and name.
    fn cmp(&self, other: &DateTime) -> std::cmp::Ordering {
        let moments = self.utc().cmp(&other.utc());
        moments
            .then(self.offset.cmp(&other.offset))
            .then_with(|| self.zone.cmp(&other.zone))
    }
}

impl PartialOrd for DateTime {
    fn partial_cmp(&self, other: &DateTime) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Time {
    /// By moment, then by offset.
    fn cmp(&self, other: &Time) -> std::cmp::Ordering {
        let moments = self.utc_nanos().cmp(&other.utc_nanos());
        moments.then(self.offset.cmp(&other.offset))
    }
}

impl PartialOrd for Time {
    fn partial_cmp(&self, other: &Time) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Date {
    pub(crate) const fn midnight(self) -> LocalDateTime {
        LocalDateTime {
            seconds: self.days * 86_400,
            nanos: 0,
        }
    }
}
