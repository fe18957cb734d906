//! CPU time of processes, from `/proc`.

use std::time::Duration;

use anyhow::{Context, Result};

/// Clock ticks a second that `/proc` counts in: 100 on every Linux of this architecture.
const TICKS_PER_SECOND: u64 = 100;

/// User and system time that the process has used.
pub(crate) fn used_by(pid: u32) -> Result<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).context("reading /proc")?;
    // The command's name in parentheses may hold spaces; fields 14 and 15 come after it.
    let after = stat.rsplit_once(')').context("a /proc line")?.1;
    let mut fields = after.split_ascii_whitespace().skip(11);
    let mut ticks = || {
        fields
            .next()
            .and_then(|field| field.parse::<u64>().ok())
            .context("a field")
    };
    let total = ticks()? + ticks()?;
    Ok(Duration::from_millis(total * 1_000 / TICKS_PER_SECOND))
}
