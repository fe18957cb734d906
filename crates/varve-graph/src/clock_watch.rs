//! Wrong clocks: how far a graph's newest commit may be ahead of the clock, and the warnings about
//! a clock that jumps.
//!
//! Commit versions never go back. If the clock was once far ahead, "now" stands still until the
//! clock has caught up: see `docs/time.md`.

use std::time::{Duration, Instant as MonotonicInstant};

use varve_model::{CommitVersion, Instant};

use crate::error::{ErrorKind, GraphError};

/// The least difference between two clocks that is reported.
const DIFFERENCE_REPORTED: Duration = Duration::from_secs(10);

/// Refuses to open a graph whose newest commit version is further ahead of the clock than
/// `ahead_max`; `None` = no limit.
///
/// # Errors
/// [`ErrorKind::Storage`] with the difference.
pub(crate) fn check_ahead(
    name: &str,
    newest: CommitVersion,
    clock: Instant,
    ahead_max: Option<Duration>,
) -> Result<(), GraphError> {
    let ahead = ahead(newest.instant(), clock);
    let Some(max) = ahead_max.filter(|max| ahead > *max) else {
        return Ok(());
    };
    let (ahead, max) = (shown(ahead), shown(max));
    Err(GraphError::new(
        ErrorKind::Storage,
        format!(
            "The newest commit of graph '{name}' is {ahead} ahead of this machine's clock, more than the {max} that \
             storage.clock_ahead_max_seconds allows: correct the clock; if the clock is right and was wrong before, \
             see docs/time.md, \"When the clock is wrong\""
        ),
    ))
}

/// How far `newest` is ahead of the clock; zero if it is not.
pub(crate) fn ahead(newest: Instant, clock: Instant) -> Duration {
    let micros = newest.0.saturating_sub(clock.0);
    Duration::from_micros(u64::try_from(micros).unwrap_or(0))
}

/// A duration as text, in seconds, minutes, hours or days.
fn shown(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let (unit, name) = match seconds {
        0..120 => (1, "seconds"),
        120..7_200 => (60, "minutes"),
        7_200..172_800 => (3_600, "hours"),
        _ => (86_400, "days"),
    };
    format!("{} {name}", seconds / unit)
}

/// Compares the wall clock with the monotonic clock.
#[derive(Debug)]
pub(crate) struct ClockWatch {
    wall: Instant,
    passed: MonotonicInstant,
}

impl ClockWatch {
    /// Begins with these times of both clocks.
    pub(crate) fn new(wall: Instant, passed: MonotonicInstant) -> Self {
        Self { wall, passed }
    }

    /// Returns a warning if the two clocks have advanced by different amounts since the last call.
    pub(crate) fn look(&mut self, wall: Instant, passed: MonotonicInstant) -> Option<String> {
        let went = wall.0.saturating_sub(self.wall.0);
        let took = passed.saturating_duration_since(self.passed).as_micros();
        let jump = went.saturating_sub(i64::try_from(took).unwrap_or(i64::MAX));
        *self = Self::new(wall, passed);
        let size = Duration::from_micros(jump.unsigned_abs());
        if size < DIFFERENCE_REPORTED {
            return None;
        }
        let size = shown(size);
        Some(match jump > 0 {
            true => format!(
                "the clock jumped {size} ahead (it was set, or the machine slept): commits have that time from now on, and no later \
                 commit has an earlier one"
            ),
            false => format!("the clock jumped {size} back: it was set"),
        })
    }
}

/// The warning about a graph whose newest commit is `ahead` of the clock; `None` if the difference
/// is too small to report.
pub(crate) fn ahead_message(ahead: Duration) -> Option<String> {
    (ahead >= DIFFERENCE_REPORTED).then(|| {
        let ahead = shown(ahead);
        format!(
            "the newest commit is {ahead} ahead of the clock: what counts as now stands still until the clock has passed it"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jump_of_the_clock_is_reported_once_and_the_passing_of_time_is_not() {
        let begun = MonotonicInstant::now();
        let mut watch = ClockWatch::new(Instant(0), begun);
        let mut look = |wall_seconds: i64, passed: u64| {
            let wall = Instant(wall_seconds * 1_000_000);
            watch.look(wall, begun + Duration::from_secs(passed))
        };
        assert_eq!(look(100, 100), None);
        assert_eq!(look(111, 105), None);
        let ahead = look(3_600 * 24 * 365, 106).expect("a year");
        assert!(ahead.contains("364 days ahead"), "{ahead}");
        assert_eq!(look(3_600 * 24 * 365 + 1, 107), None);
        let back = look(108, 108).expect("back again");
        assert!(back.contains("364 days back"), "{back}");
    }
}
