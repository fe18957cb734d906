//! Measures the processes of the server and of this tool, and shows the progress of the suite.

use std::time::{Duration, Instant};

use super::profile::Profile;
use super::suite::Suite;
use crate::process;
use crate::progress::Progress;
use crate::result::ProfileRun;

/// The least interval of the progress line on a terminal.
const TERMINAL_EVERY: Duration = Duration::from_millis(200);
/// The least interval of progress lines elsewhere.
const LOG_EVERY: Duration = Duration::from_secs(60);

/// The observer of a suite.
#[derive(Debug)]
pub(crate) struct Watch {
    pid: Option<u32>,
    progress: Progress,
    shown: Instant,
}

/// The CPU time used up to an instant: by the server, if it is known, and by this tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Used {
    server: Option<Duration>,
    own: Duration,
}

impl Watch {
    pub(crate) fn new(pid: Option<u32>, progress: Progress) -> Self {
        Self {
            pid,
            progress,
            shown: Instant::now(),
        }
    }

    pub(crate) fn used(&self) -> Used {
        Used {
            server: self.pid.and_then(process::cpu_time),
            own: process::own_cpu_time(),
        }
    }

    /// Adds to `run` the CPU time that was used since `before`, and sets its memory.
    pub(crate) fn charge(&self, before: Used, run: &mut ProfileRun) {
        let now = self.used();
        run.tool_cpu_s += now.own.saturating_sub(before.own).as_secs_f64();
        if let (Some(before), Some(now)) = (before.server, now.server) {
            let seconds = now.saturating_sub(before).as_secs_f64();
            *run.server_cpu_s.get_or_insert_default() += seconds;
        }
        run.server_resident_bytes = self.pid.and_then(process::resident);
    }

    /// Shows the progress after a type, unless the last line is too recent.
    pub(crate) fn show(&mut self, suite: &Suite, profile: Profile, done: usize, all: usize) {
        let every = match self.progress {
            Progress::Quiet => return,
            Progress::Terminal => TERMINAL_EVERY,
            Progress::Log => LOG_EVERY,
        };
        if self.shown.elapsed() < every && done < all {
            return;
        }
        self.shown = Instant::now();
        let line = format!(
            "{} {:2} {}: {done} of {all} types, {} calls so far, {} failed test cases",
            suite.volume,
            profile.id(),
            profile.name(),
            suite.recorder.calls(),
            suite.recorder.failures(),
        );
        match done < all {
            true => self.progress.show(&line),
            false => self.progress.say(&line),
        }
    }
}
