//! Valid time and transaction time: instants, periods, commit versions, and the point of both times
//! at which a read is made.

mod calendar;
mod text;

use std::fmt;

pub use calendar::{Civil, offset_text, write_offset};
pub(crate) use calendar::{civil_from_days, days_from_civil};
pub use text::{parse_instant, parse_version};

/// Microseconds since 1970-01-01T00:00:00Z, in valid time. Negative before 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(pub i64);

impl Instant {
    /// Before every other instant; as the start of a period: "since ever".
    pub const MIN: Self = Self(i64::MIN);
    /// After every other instant; as the end of a period: "until further notice".
    pub const FOREVER: Self = Self(i64::MAX);

    /// The instant `millis` milliseconds after 1970, saturating at the ends of the range.
    #[must_use]
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis.saturating_mul(1_000))
    }

    /// Whole milliseconds since 1970, rounded towards the past.
    #[must_use]
    pub const fn millis(self) -> i64 {
        self.0.div_euclid(1_000)
    }

    /// This instant moved by `micros` microseconds, saturating at the ends of the range.
    #[must_use]
    pub const fn plus_micros(self, micros: i64) -> Self {
        Self(self.0.saturating_add(micros))
    }
}

/// A half-open period of valid time, `[from, to)`. Never empty once built by [`Period::new`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Period {
    /// First instant inside.
    pub from: Instant,
    /// First instant after; [`Instant::FOREVER`] when it does not end.
    pub to: Instant,
}

impl Period {
    /// The period `[from, to)`, or `None` when it would be empty.
    #[must_use]
    pub fn new(from: Instant, to: Instant) -> Option<Self> {
        (from < to).then_some(Self { from, to })
    }

    /// The period from `from` on, without an end.
    #[must_use]
    pub const fn since(from: Instant) -> Self {
        Self {
            from,
            to: Instant::FOREVER,
        }
    }

    /// Whether the period contains `instant`.
    #[must_use]
    pub fn covers(self, instant: Instant) -> bool {
        self.from <= instant && instant < self.to
    }

    /// Whether the two periods share an instant.
    #[must_use]
    pub fn overlaps(self, other: Self) -> bool {
        self.from < other.to && other.from < self.to
    }
}

/// Transaction time: a strictly growing number given to each commit.
///
/// The upper 56 bits are microseconds since 1970 by the committing server's clock, smoothed so that
/// they never go back. The lower 8 bits distinguish commits of one microsecond and, in a cluster,
/// contain the server's slot. An instant of transaction time therefore maps to a commit version
/// without a look-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct CommitVersion(pub u64);

impl CommitVersion {
    /// Before every commit.
    pub const ZERO: Self = Self(0);
    /// After every commit.
    pub const MAX: Self = Self(u64::MAX);
    /// How many low bits distinguish commits within one microsecond.
    pub const LOW_BITS: u32 = 8;
    /// How many versions one microsecond has.
    pub const PER_MICROSECOND: usize = 1 << Self::LOW_BITS;

    /// The first commit version of the microsecond `at`; instants before 1970 give
    /// [`CommitVersion::ZERO`].
    #[must_use]
    pub fn first_at(at: Instant) -> Self {
        let micros = u64::try_from(at.0).unwrap_or(0);
        Self(micros.min(u64::MAX >> Self::LOW_BITS) << Self::LOW_BITS)
    }

    /// The last commit version of the microsecond `at`: reading "as of" that instant sees every
    /// commit of it.
    #[must_use]
    pub fn last_at(at: Instant) -> Self {
        Self(Self::first_at(at).0 | ((1 << Self::LOW_BITS) - 1))
    }

    /// The instant at which this commit happened.
    #[must_use]
    pub fn instant(self) -> Instant {
        Instant(i64::try_from(self.0 >> Self::LOW_BITS).unwrap_or(i64::MAX))
    }

    /// The version that is `commits` after this one.
    #[must_use]
    pub const fn plus(self, commits: usize) -> Self {
        Self(self.0 + commits as u64)
    }

    /// The first version, from this one on, that begins a run of `versions` within one microsecond.
    /// `versions` is at most [`CommitVersion::PER_MICROSECOND`].
    #[must_use]
    pub fn with_room(self, versions: usize) -> Self {
        let used = (self.0 & (Self::PER_MICROSECOND as u64 - 1)) as usize;
        match used + versions <= Self::PER_MICROSECOND {
            true => self,
            false => Self::first_at(self.instant().plus_micros(1)),
        }
    }

    /// The version right after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for CommitVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// The point of both times that a read sees. `None` means now / the newest commit.
///
/// The state of an element at (V, T) is the content of the newest event with commit version ≤ T
/// whose period covers V.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct TemporalScope {
    /// The instant of valid time; `None` = now.
    pub valid: Option<Instant>,
    /// The commit version; `None` = everything committed, [`CommitVersion::MAX`] = everything that
    /// was committed before the read, and of each commit all or nothing, also on an engine without
    /// snapshots ([`TemporalScope::WHOLE`]).
    pub transaction: Option<CommitVersion>,
}

impl TemporalScope {
    /// The present in both times: such reads touch current tables only.
    pub const NOW: Self = Self {
        valid: None,
        transaction: None,
    };

    /// The present, with whole commits only: a read waits for the commits that began before it.
    pub const WHOLE: Self = Self {
        valid: None,
        transaction: Some(CommitVersion::MAX),
    };

    /// Whether this is the present in both times.
    #[must_use]
    pub const fn is_now(&self) -> bool {
        self.valid.is_none() && self.transaction.is_none()
    }
}

/// A source of time. Always an argument, never a global, so that tests can step, stop and turn it
/// back.
pub trait Clock: Send + Sync {
    /// The current instant. May go backwards; callers that need order smooth it.
    fn now(&self) -> Instant;
}

/// The machine's wall clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Instant {
        let now = std::time::SystemTime::now();
        let micros = match now.duration_since(std::time::UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_micros()).unwrap_or(i64::MAX),
            Err(before) => i64::try_from(before.duration().as_micros()).map_or(i64::MIN, |m| -m),
        };
        Instant(micros)
    }
}
