//! Arithmetic of durations, and of dates and times with durations.

use std::cmp::Ordering;

use super::zone::Zone;
use super::{
    Date, DateTime, Duration, LocalDateTime, LocalTime, NANOS_PER_DAY, NANOS_PER_SECOND, Time,
};

/// The average month of the Gregorian calendar, in seconds.
const MONTH_SECONDS: f64 = 2_629_746.0;
const DAY_SECONDS: f64 = 86_400.0;
const SECOND: i128 = NANOS_PER_SECOND as i128;

/// A duration that is summed up. Fractions of a unit are added to the smaller units.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    months: i64,
    days: i64,
    nanos: i128,
}

impl Parts {
    /// Adds whole years and a fraction of one. `None` on overflow, as in all of these.
    pub(crate) fn years(&mut self, whole: i64, part: f64) -> Option<()> {
        let months = part * 12.0;
        self.months(whole.checked_mul(12)?, 0.0)?;
        self.months(floor(months), months.fract())
    }

    /// Adds whole months and a fraction of a quarter.
    pub(crate) fn quarters(&mut self, months: i64, part: f64) -> Option<()> {
        self.months(months, 0.0)?;
        let months = part * 3.0;
        self.months(floor(months), months.fract())
    }

    pub(crate) fn months(&mut self, whole: i64, part: f64) -> Option<()> {
        self.months = self.months.checked_add(whole)?;
        let seconds = part * MONTH_SECONDS;
        let days = floor(seconds / DAY_SECONDS);
        self.days(days, 0.0)?;
        self.seconds(0, seconds % DAY_SECONDS)
    }

    pub(crate) fn weeks(&mut self, whole: i64, part: f64) -> Option<()> {
        let days = part * 7.0;
        self.days(whole.checked_mul(7)?, 0.0)?;
        self.days(floor(days), days.fract())
    }

    pub(crate) fn days(&mut self, whole: i64, part: f64) -> Option<()> {
        self.days = self.days.checked_add(whole)?;
        self.seconds(0, part * DAY_SECONDS)
    }

    pub(crate) fn seconds(&mut self, whole: i64, part: f64) -> Option<()> {
        self.nanos(i128::from(whole) * SECOND)?;
        // Fractions of nanoseconds are dropped, after the error of binary fractions is rounded off.
        self.nanos(i128::from(floor((part * 1e12).round() / 1e3)))
    }

    pub(crate) fn nanos(&mut self, nanos: i128) -> Option<()> {
        self.nanos = self.nanos.checked_add(nanos)?;
        Some(())
    }

    pub(crate) fn duration(&self) -> Option<Duration> {
        Duration::of(self.months, self.days, self.nanos)
    }
}

/// The whole part, towards zero.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a number out of range saturates and overflows in the sum"
)]
fn floor(number: f64) -> i64 {
    number.trunc() as i64
}

impl Duration {
    /// A duration of months, days and nanoseconds; `None` if its average length overflows 64 bits
    /// of seconds.
    pub(crate) fn of(months: i64, days: i64, nanos: i128) -> Option<Duration> {
        let duration = Duration {
            months,
            days,
            seconds: i64::try_from(nanos.div_euclid(SECOND)).ok()?,
            nanos: u32::try_from(nanos.rem_euclid(SECOND)).ok()?,
        };
        i64::try_from(duration.average_seconds()).ok()?;
        Some(duration)
    }

    /// Seconds and nanoseconds, in nanoseconds.
    pub(crate) fn total_nanos(&self) -> i128 {
        i128::from(self.seconds) * SECOND + i128::from(self.nanos)
    }

    pub(crate) fn plus(&self, other: &Duration) -> Option<Duration> {
        Duration::of(
            self.months.checked_add(other.months)?,
            self.days.checked_add(other.days)?,
            self.total_nanos() + other.total_nanos(),
        )
    }

    /// The duration so many times.
    pub(crate) fn times(&self, factor: i64) -> Option<Duration> {
        Duration::of(
            self.months.checked_mul(factor)?,
            self.days.checked_mul(factor)?,
            self.total_nanos().checked_mul(i128::from(factor))?,
        )
    }

    /// The duration with each part changed by a function on floats.
    #[expect(clippy::cast_precision_loss, reason = "fractions are floats")]
    pub(crate) fn scaled(&self, scale: impl Fn(f64) -> f64) -> Option<Duration> {
        let mut parts = Parts::default();
        let months = scale(self.months as f64);
        let days = scale(self.days as f64);
        let seconds = scale(self.seconds as f64);
        let nanos = scale(f64::from(self.nanos));
        let largest = 9.0e18;
        if [months, days, seconds, nanos]
            .iter()
            .any(|number| !number.is_finite() || number.abs() > largest)
        {
            return None;
        }
        parts.months(floor(months), months.fract())?;
        parts.days(floor(days), days.fract())?;
        parts.seconds(floor(seconds), seconds.fract())?;
        parts.nanos(i128::from(floor(nanos)))?;
        parts.duration()
    }

    /// The length with average months and days of 24 hours, in seconds.
    fn average_seconds(&self) -> i128 {
        i128::from(self.months) * 2_629_746
            + i128::from(self.days) * 86_400
            + i128::from(self.seconds)
    }
}

impl Ord for Duration {
    /// By average length, then by parts.
    fn cmp(&self, other: &Duration) -> Ordering {
        let lengths = self.average_seconds().cmp(&other.average_seconds());
        lengths
            .then(self.nanos.cmp(&other.nanos))
            .then(self.months.cmp(&other.months))
            .then(self.days.cmp(&other.days))
    }
}

impl PartialOrd for Duration {
    fn partial_cmp(&self, other: &Duration) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Date {
    /// The date a duration later: its months, its days, and the whole days of its seconds.
    pub(crate) fn plus(self, duration: &Duration) -> Option<Date> {
        let date = self.plus_months(duration.months)?;
        let days = i64::try_from(duration.total_nanos() / i128::from(NANOS_PER_DAY)).ok()?;
        date.plus_days(duration.days.checked_add(days)?)
    }
}

impl LocalTime {
    /// The time a duration later, of which only seconds count; it wraps at midnight.
    pub(crate) fn plus(self, duration: &Duration) -> LocalTime {
        let day = i128::from(NANOS_PER_DAY);
        let nanos = (i128::from(self.nanos) + duration.total_nanos()).rem_euclid(day);
        LocalTime {
            nanos: i64::try_from(nanos).unwrap_or(0),
        }
    }
}

impl Time {
    /// The time a duration later, at the same offset.
    pub(crate) fn plus(self, duration: &Duration) -> Time {
        let clock = LocalTime { nanos: self.nanos };
        Time {
            nanos: clock.plus(duration).nanos,
            ..self
        }
    }
}

impl LocalDateTime {
    /// Months and days later.
    pub(crate) fn plus_calendar(self, months: i64, days: i64) -> Option<LocalDateTime> {
        let date = self.date().plus_months(months)?.plus_days(days)?;
        Some(date.at(self.time()))
    }

    pub(crate) fn plus(self, duration: &Duration) -> Option<LocalDateTime> {
        let later = self.plus_calendar(duration.months, duration.days)?;
        LocalDateTime::of_nanos(later.total_nanos() + duration.total_nanos())
    }
}

impl DateTime {
    /// Months and days later on the zone's clock.
    pub(crate) fn plus_calendar(&self, months: i64, days: i64) -> Option<DateTime> {
        let local = self.local.plus_calendar(months, days)?;
        Zone::of_datetime(self).at_local(local, Some(self.offset))
    }

    /// A duration later: months and days on the zone's clock, then seconds in real time.
    pub(crate) fn plus(&self, duration: &Duration) -> Option<DateTime> {
        let later = match (duration.months, duration.days) {
            (0, 0) => self.clone(),
            (months, days) => self.plus_calendar(months, days)?,
        };
        let nanos = later.utc().total_nanos() + duration.total_nanos();
        Zone::of_datetime(self).at_utc(LocalDateTime::of_nanos(nanos)?)
    }
}
