//! The types of temporal values.

use std::sync::Arc;

/// The largest year, and minus the least.
pub const YEAR_MAX: i64 = 999_999_999;

pub(crate) const NANOS_PER_SECOND: i64 = 1_000_000_000;
pub(crate) const NANOS_PER_DAY: i64 = 86_400 * NANOS_PER_SECOND;

/// A date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    /// Days since 1970-01-01.
    pub days: i64,
}

/// A time of day without a zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalTime {
    /// Nanoseconds since midnight, below 86,400,000,000,000.
    pub nanos: i64,
}

/// A time of day with an offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Time {
    /// Nanoseconds since midnight at the offset.
    pub nanos: i64,
    /// Seconds east of UTC, within ±18 hours.
    pub offset: i32,
}

/// A date and a time of day without a zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalDateTime {
    /// Seconds since 1970-01-01T00:00 on the same clock.
    pub seconds: i64,
    /// Nanoseconds after them, below 1,000,000,000.
    pub nanos: u32,
}

/// A date and a time of day in a zone.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DateTime {
    /// Date and time on the zone's clock.
    pub local: LocalDateTime,
    /// Seconds east of UTC at that moment.
    pub offset: i32,
    /// The zone's name; none if it is only an offset.
    pub zone: Option<Arc<str>>,
}

/// A span of time, in three units that have no fixed proportions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Duration {
    /// Months.
    pub months: i64,
    /// Days.
    pub days: i64,
    /// Seconds, rounded down.
    pub seconds: i64,
    /// Nanoseconds after them, below 1,000,000,000.
    pub nanos: u32,
}
