//! Waits until no background work runs. Otherwise the next measurement would include compactions
//! that an earlier one caused.

use std::time::{Duration, Instant};

use crate::process;

/// The time over which CPU use is measured before each decision.
const WINDOW: Duration = Duration::from_millis(250);
/// In a quiet window, both processes together use less than this share of one processor.
const QUIET_SHARE: f64 = 0.04;
/// The longest wait. After it the measurement begins anyway, and its row says so.
const LONGEST: Duration = Duration::from_secs(180);

/// Waits until this process and the process `server` have been quiet for `seconds`, or for
/// [`LONGEST`]. Returns whether they were quiet.
pub(super) fn wait(server: u32, seconds: f64) -> bool {
    let used = || process::cpu_time(server).unwrap_or_default() + process::own_cpu_time();
    let (started, mut quiet_s) = (Instant::now(), 0.0);
    while quiet_s < seconds {
        if started.elapsed() > LONGEST {
            return false;
        }
        let (before, from) = (used(), Instant::now());
        std::thread::sleep(WINDOW);
        let elapsed_s = from.elapsed().as_secs_f64();
        let share = used().saturating_sub(before).as_secs_f64() / elapsed_s;
        quiet_s = if share < QUIET_SHARE {
            quiet_s + elapsed_s
        } else {
            0.0
        };
    }
    true
}
