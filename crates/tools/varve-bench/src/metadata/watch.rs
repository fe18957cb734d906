//! Watches the suite: measures the processes of the server and of this tool, and shows the profile,
//! the rate and the time left.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::arguments::{MetadataArguments, Selection, Volume};
use super::profile::{Profile, ROWS, RowInfo};
use super::result::ProfileRun;
use super::suite::{Runs, Suite};
use crate::process;
use crate::progress::Progress;

/// The least interval of the progress line on a terminal.
const TERMINAL_EVERY: Duration = Duration::from_millis(200);
/// The least interval of progress lines elsewhere.
const LOG_EVERY: Duration = Duration::from_secs(60);
/// The instances of each type in the published run, whose calls in each row are known.
const COUNTED_INSTANCES: f64 = 5.0;
/// The weight of a graph walk, in multiples of its limit: its answers have hundreds of instances.
const WALK_WEIGHT: f64 = 10.0;

/// The observer of a suite.
#[derive(Debug)]
pub(crate) struct Watch {
    volume: Volume,
    pid: Option<u32>,
    progress: Progress,
    begin: Instant,
    shown: Option<Instant>,
    estimate: Estimate,
    stage: StageBegin,
}

/// The CPU time used up to an instant: by the server, in seconds, and by this tool. The server's is
/// `None` if it is unknown.
#[derive(Debug)]
pub(crate) struct Used {
    server: Option<f64>,
    own: Duration,
}

impl Used {
    pub(crate) fn until_now(watch: &Watch) -> Self {
        Self {
            server: watch.server_cpu(),
            own: process::own_cpu_time(),
        }
    }

    /// Adds to `run` the CPU time that was used since the last charge, and sets its resident
    /// memory.
    pub(crate) fn charge(&mut self, watch: &Watch, run: &mut ProfileRun) {
        let before = std::mem::replace(self, Self::until_now(watch));
        run.tool_cpu_s += self.own.saturating_sub(before.own).as_secs_f64();
        if let (Some(before), Some(after)) = (before.server, self.server) {
            *run.server_cpu_s.get_or_insert_default() += after - before;
        }
        run.server_resident_bytes = watch.server_resident();
        run.tool_resident_bytes = process::resident(std::process::id());
    }
}

/// The state when the current stage began.
#[derive(Debug)]
struct StageBegin {
    profiles: Vec<Profile>,
    /// The number of types that were complete before.
    over: usize,
    at: Instant,
    /// The number of calls in the last progress line, and its time; it may be of an earlier stage.
    shown: (u64, Instant),
}

impl Watch {
    pub(crate) fn new(arguments: &MetadataArguments, volume: Volume, pid: Option<u32>) -> Self {
        let now = Instant::now();
        Self {
            volume,
            pid,
            progress: Progress::new(arguments.common.quiet),
            begin: now,
            shown: None,
            estimate: Estimate::new(&Selection::new(arguments), volume),
            stage: StageBegin {
                profiles: Vec::new(),
                over: 0,
                at: now,
                shown: (0, now),
            },
        }
    }

    /// Marks a profile as completed by an earlier run.
    pub(crate) fn is_over(&mut self, profile: Profile) {
        self.estimate.over(profile);
    }

    /// CPU time of the server so far, in seconds; `None` if its process is unknown.
    pub(crate) fn server_cpu(&self) -> Option<f64> {
        self.pid
            .and_then(process::cpu_time)
            .map(|it| it.as_secs_f64())
    }

    /// Resident memory of the server, in bytes; `None` if its process is unknown.
    pub(crate) fn server_resident(&self) -> Option<u64> {
        self.pid.and_then(process::resident)
    }

    /// Begins a stage, in which these profiles take turns; `over` types are complete already.
    pub(crate) fn stage_begins(&mut self, profiles: &[Profile], over: usize) {
        self.stage.profiles = profiles.to_vec();
        self.stage.over = over;
        self.stage.at = Instant::now();
    }

    /// Shows the progress after a type, unless the last line is too recent or the output is quiet.
    pub(crate) fn progress(&mut self, suite: &Suite, done: usize, all: usize) {
        let every = match self.progress {
            Progress::Quiet => return,
            Progress::Terminal => TERMINAL_EVERY,
            Progress::Log => LOG_EVERY,
        };
        if self.shown.unwrap_or(self.begin).elapsed() < every {
            return;
        }
        let Some(profile) = self.stage.profiles.last() else {
            return;
        };
        let share = done as f64 / all.max(1) as f64;
        let calls = suite.recorder.calls();
        let (before, at) = std::mem::replace(&mut self.stage.shown, (calls, Instant::now()));
        let rate = calls.saturating_sub(before) as f64 / at.elapsed().as_secs_f64();
        let (here, left) = (done - self.stage.over.min(done), all - done);
        let of_profile = self
            .stage
            .at
            .elapsed()
            .mul_f64(left as f64 / here.max(1) as f64);
        let of_all = self
            .estimate
            .left(&self.stage.profiles, share, self.begin.elapsed());
        self.shown = Some(Instant::now());
        self.progress.show(&format!(
            "{} {:2} {}: {done} of {all} types, {calls} calls, {rate:.0}/s, {} failed, {}; left: this profile {}, all about {}",
            self.volume,
            profile.id(),
            profile.name(),
            suite.recorder.failures(),
            span(self.begin.elapsed()),
            span(of_profile),
            of_all.map_or_else(|| "?".to_owned(), span),
        ));
    }

    /// Marks the profiles of a completed stage as completed, and prints a line for each one that
    /// ran.
    pub(crate) fn stage_over(&mut self, suite: &Suite, runs: &Runs) {
        for profile in &self.stage.profiles {
            self.estimate.over(*profile);
        }
        for profile in &self.stage.profiles {
            let Some(run) = runs.get(profile) else {
                continue;
            };
            let memory = run.server_resident_bytes.map_or(String::new(), |bytes| {
                format!(", server {} MiB", bytes >> 20)
            });
            let own = run.tool_resident_bytes.unwrap_or_default() >> 20;
            self.progress.say(&format!(
                "{} {:2} {}: {:.1} s ({:.1} s CPU of this tool), {} of {} types failed, {} calls so far{memory}, tool {own} MiB",
                self.volume,
                profile.id(),
                profile.name(),
                run.seconds,
                run.tool_cpu_s,
                run.failed,
                run.cases,
                suite.recorder.calls(),
            ));
        }
    }
}

/// Hours and minutes from 2 hours on, minutes and seconds from 2 minutes on, otherwise seconds.
fn span(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..=119 => format!("{seconds} s"),
        seconds @ 120..=7_199 => format!("{}:{:02} min", seconds / 60, seconds % 60),
        seconds => format!("{}:{:02} h", seconds / 3_600, seconds / 60 % 60),
    }
}

/// The work of each profile, without a unit: the calls of its rows in the published run, scaled to
/// this volume and weighted by the limits of the rows.
#[derive(Debug)]
struct Estimate {
    work: BTreeMap<Profile, f64>,
    done: Vec<Profile>,
}

impl Estimate {
    fn new(selection: &Selection, volume: Volume) -> Self {
        let times = f64::from(volume.instances) / COUNTED_INSTANCES;
        let mut work = BTreeMap::new();
        let is_timed = |info: &&RowInfo| {
            selection.runs(info.row.profile) && !selection.leaves_out(info.row.method)
        };
        for info in ROWS.iter().filter(is_timed) {
            let walks = [Profile::GraphQueries, Profile::GraphHistoryQueries];
            let weight = if walks.contains(&info.row.profile) {
                WALK_WEIGHT
            } else {
                1.0
            };
            let calls = info.calls_published as f64 * times;
            *work.entry(info.row.profile).or_default() += calls * weight * info.limit.median_us();
        }
        Self {
            work,
            done: Vec::new(),
        }
    }

    fn over(&mut self, profile: Profile) {
        if !self.done.contains(&profile) {
            self.done.push(profile);
        }
    }

    /// The time left when `share` of the running profiles is done after `elapsed`; `None` while no
    /// work is done.
    fn left(&self, at_work: &[Profile], share: f64, elapsed: Duration) -> Option<Duration> {
        let all: f64 = self.work.values().sum();
        let done = self.work.iter().map(|(profile, work)| {
            // A further stage of a completed profile adds little.
            match (self.done.contains(profile), at_work.contains(profile)) {
                (true, _) => *work,
                (false, true) => work * share,
                (false, false) => 0.0,
            }
        });
        let done: f64 = done.sum();
        let ratio = (all - done) / done;
        ratio.is_finite().then(|| elapsed.mul_f64(ratio.max(0.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_follows_from_the_work_that_is_done() {
        let volume = Volume {
            instances: 1_280,
            page: 10,
        };
        let mut estimate = Estimate::new(&Selection::default(), volume);
        let hour = Duration::from_secs(3_600);
        assert_eq!(estimate.left(&[], 0.0, hour), None);
        let left = |estimate: &Estimate, share| {
            let at_work = [Profile::GraphQueries];
            estimate.left(&at_work, share, hour).expect("some is done")
        };
        let (half, more) = (left(&estimate, 0.5), left(&estimate, 0.75));
        assert!(half > hour && more < half, "{half:?} {more:?}");
        for profile in Profile::ALL {
            estimate.over(*profile);
        }
        assert_eq!(left(&estimate, 1.0), Duration::ZERO);
    }

    #[test]
    fn times_are_written_as_long_as_they_are() {
        let span_of = |seconds| span(Duration::from_secs(seconds));
        assert_eq!(span_of(119), "119 s");
        assert_eq!(span_of(125), "2:05 min");
        assert_eq!(span_of(3 * 3_600 + 61), "3:01 h");
    }
}
