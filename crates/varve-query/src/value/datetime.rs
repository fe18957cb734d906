//! Instants.

use std::fmt;
use std::hash::{Hash, Hasher};

/// An instant with the offset it was written with. Its range is that of a DATE: milliseconds of 64
/// bits.
#[derive(Debug, Clone, Copy)]
pub struct DateTime {
    millis: i64,
    /// Microseconds after them, below 1,000.
    micros: u16,
    offset: i32,
}

impl DateTime {
    /// An instant in UTC, from milliseconds since 1970.
    #[must_use]
    pub const fn of_millis(millis: i64) -> Self {
        Self {
            millis,
            micros: 0,
            offset: 0,
        }
    }

    /// An instant from microseconds since 1970 UTC, at an offset in seconds east of UTC.
    #[must_use]
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a remainder"
    )]
    pub const fn of_micros(micros: i64, offset: i32) -> Self {
        Self {
            millis: micros.div_euclid(1_000),
            micros: micros.rem_euclid(1_000) as u16,
            offset,
        }
    }

    /// An instant from seconds since 1970 UTC and nanoseconds after them, which are rounded down to
    /// microseconds. `None` beyond milliseconds of 64 bits.
    #[must_use]
    pub fn of_seconds(seconds: i64, nanos: u32, offset: i32) -> Option<Self> {
        let micros = i128::from(seconds) * 1_000_000 + i128::from(nanos / 1_000);
        Some(Self {
            millis: i64::try_from(micros.div_euclid(1_000)).ok()?,
            micros: u16::try_from(micros.rem_euclid(1_000)).ok()?,
            offset,
        })
    }

    /// The instant so many milliseconds later, at the same offset; `None` beyond 64 bits.
    #[must_use]
    pub const fn plus_millis(self, millis: i64) -> Option<Self> {
        match self.millis.checked_add(millis) {
            Some(millis) => Some(Self { millis, ..self }),
            None => None,
        }
    }

    /// Milliseconds since 1970 UTC, rounded down.
    #[must_use]
    pub const fn millis(&self) -> i64 {
        self.millis
    }

    /// Whether the instant is a whole number of milliseconds.
    #[must_use]
    pub const fn has_whole_millis(&self) -> bool {
        self.micros == 0
    }

    /// Microseconds since 1970 UTC; `None` beyond 64 bits.
    #[must_use]
    pub fn micros(&self) -> Option<i64> {
        let millis = self.millis.checked_mul(1_000)?;
        millis.checked_add(i64::from(self.micros))
    }

    /// Seconds since 1970 UTC, and nanoseconds after them.
    #[must_use]
    pub fn seconds(&self) -> (i64, u32) {
        let millis = u32::try_from(self.millis.rem_euclid(1_000)).unwrap_or(0);
        let nanos = millis * 1_000_000 + u32::from(self.micros) * 1_000;
        (self.millis.div_euclid(1_000), nanos)
    }

    /// Seconds east of UTC.
    #[must_use]
    pub const fn offset(&self) -> i32 {
        self.offset
    }

    /// The instant without its offset, in the order of time.
    pub(crate) const fn instant(&self) -> (i64, u16) {
        (self.millis, self.micros)
    }
}

impl PartialEq for DateTime {
    fn eq(&self, other: &Self) -> bool {
        self.instant() == other.instant()
    }
}

impl Eq for DateTime {}

impl Hash for DateTime {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.instant().hash(state);
    }
}

impl fmt::Display for DateTime {
    /// As Java's `OffsetDateTime`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, nanos) = self.seconds();
        f.write_str(&varve_model::time::offset_text(
            seconds,
            nanos,
            self.offset(),
        ))
    }
}
