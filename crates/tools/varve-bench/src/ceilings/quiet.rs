//! Waiting until nothing is done behind a measurement: files that an earlier row left to be merged
//! would otherwise be paid for by the next one, whoever it measures.

use std::time::{Duration, Instant};

use crate::process;

/// How long the processes are looked at before each decision.
const WINDOW: Duration = Duration::from_millis(250);
/// So many windows in a row must be quiet.
const WINDOWS: u32 = 4;
/// A window is quiet when the processes together use less than this part of one processor.
const QUIET_SHARE: f64 = 0.04;
/// After so long the measurement begins all the same, and the report says so.
const LONGEST: Duration = Duration::from_secs(180);

/// Waits until this process and process `server` have done nothing for a second; whether they came
/// to that.
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
