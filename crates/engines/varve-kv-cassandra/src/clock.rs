//! The clock by which a lease is measured, and the one by which timestamps are taken.
//!
//! A lease is measured by two clocks, since each may stand still while time passes. The time since
//! boot continues while the machine is suspended, unlike the monotonic clock of `Instant`. It
//! stands still while a hypervisor has stopped the machine. The wall clock is corrected after such
//! a stop, at once or a while later. It may be corrected for other reasons, also backwards.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// If the wall clock has advanced further than the time since boot by more than this, the latter
/// must have stood still. Corrections of running clocks are far smaller.
const STEP: Duration = Duration::from_secs(1);

/// The time of both clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment {
    /// Since boot, or since another fixed point.
    running: Duration,
    /// Since 1970.
    wall: Duration,
}

impl Moment {
    pub(crate) fn now() -> Self {
        // A wall clock before 1970 counts as 1970.
        let wall = SystemTime::now().duration_since(UNIX_EPOCH);
        Self {
            running: running(),
            wall: wall.unwrap_or_default(),
        }
    }

    /// Returns the time since `earlier`, by the clock that has advanced further. `None` if the time
    /// since boot stood still: then nobody knows how long.
    pub(crate) fn since(self, earlier: Self) -> Option<Duration> {
        let running = self.running.saturating_sub(earlier.running);
        let wall = self.wall.saturating_sub(earlier.wall);
        (wall.saturating_sub(running) <= STEP).then_some(running.max(wall))
    }

    /// Adds to the time since boot and to the wall clock.
    #[cfg(test)]
    pub(crate) fn later(self, running: Duration, wall: Duration) -> Self {
        Self {
            running: self.running + running,
            wall: self.wall + wall,
        }
    }

    /// Subtracts from both clocks.
    #[cfg(test)]
    pub(crate) fn earlier(self, by: Duration) -> Self {
        Self {
            running: self.running.saturating_sub(by),
            wall: self.wall - by,
        }
    }
}

/// The time since boot, also while the machine is suspended.
#[cfg(target_os = "linux")]
pub(crate) fn running() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Other systems use the monotonic clock. It may stand still while the machine is suspended; the
/// wall clock reveals that.
#[cfg(not(target_os = "linux"))]
pub(crate) fn running() -> Duration {
    use std::sync::OnceLock;
    use std::time::Instant;

    static FIRST: OnceLock<Instant> = OnceLock::new();
    FIRST.get_or_init(Instant::now).elapsed()
}

/// Microseconds since 1970 by this machine's clock.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn the_clock_that_went_further_tells() {
        let then = Moment::now();
        let since = |running, wall| then.later(running, wall).since(then);
        assert_eq!(since(5 * SECOND, 5 * SECOND), Some(5 * SECOND));
        assert_eq!(since(5 * SECOND, 6 * SECOND), Some(6 * SECOND));
        // The wall clock was set back, or is not corrected yet.
        assert_eq!(since(5 * SECOND, Duration::ZERO), Some(5 * SECOND));
        assert_eq!(then.since(then.later(SECOND, SECOND)), Some(Duration::ZERO));
    }

    #[test]
    fn nobody_knows_how_long_it_was_when_one_stood_still() {
        let then = Moment::now();
        let since = |running, wall| then.later(running, wall).since(then);
        assert_eq!(since(Duration::ZERO, 2 * SECOND), None);
        assert_eq!(since(5 * SECOND, 3_600 * SECOND), None);
    }

    #[test]
    fn it_goes_on() {
        let then = Moment::now();
        std::thread::sleep(Duration::from_millis(20));
        let since = Moment::now().since(then);
        assert!(since.is_none_or(|since| since >= Duration::from_millis(20)));
    }
}
