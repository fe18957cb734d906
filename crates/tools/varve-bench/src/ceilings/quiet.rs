//! Waits until no background work runs. Otherwise the next measurement would include compactions
//! that an earlier row caused.

use std::time::{Duration, Instant};

use crate::process;

/// The time over which CPU use is measured before each decision.
const WINDOW: Duration = Duration::from_millis(250);
/// The number of quiet windows in a row that end the wait.
const WINDOWS: u32 = 4;
/// In a quiet window, both processes together use less than this share of one processor.
const QUIET_SHARE: f64 = 0.04;
/// The longest wait. After it the measurement begins anyway, and the report says so.
const LONGEST: Duration = Duration::from_secs(180);

/// Waits until this process and the process `server` have been quiet for a second, or for
/// [`LONGEST`]. Returns whether they were quiet.
pub(super) fn wait(server: u32) -> bool {
    let used = || process::cpu_time(server).unwrap_or_default() + process::own_cpu_time();
    let started = Instant::now();
    let mut quiet = 0;
    while quiet < WINDOWS {
        if started.elapsed() > LONGEST {
            return false;
        }
        let (before, from) = (used(), Instant::now());
        std::thread::sleep(WINDOW);
        let share = used().saturating_sub(before).as_secs_f64() / from.elapsed().as_secs_f64();
        quiet = if share < QUIET_SHARE { quiet + 1 } else { 0 };
    }
    true
}
