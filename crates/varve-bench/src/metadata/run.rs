//! Running the suite: the volumes one after another, progress, and the results.

use std::collections::BTreeMap;
use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::arguments::{MetadataArguments, Selection, Volume};
use super::client::Client;
use super::evidence::Evidence;
use super::plan::Plan;
use super::profile::Profile;
use super::recorder::Recorder;
use super::report;
use super::result::{MetadataFile, ProfileRun, Repository, VolumeRun};
use super::suite::{Settings, Suite};
use crate::api::serve::Served;
use crate::api::{environment, process};

/// How often the line of progress changes.
const PROGRESS_EVERY: Duration = Duration::from_millis(200);
/// Exit code when test cases failed.
const EXIT_FAILED: u8 = 3;

/// Runs the suite, or reports on files.
///
/// # Errors
/// When no repository answers, or a file cannot be read or written. Test cases that fail are an exit code instead.
pub fn run(arguments: &MetadataArguments) -> Result<ExitCode> {
    let files = match arguments.from.is_empty() {
        true => {
            let (file, outcome) = measure(arguments)?;
            write(arguments, std::slice::from_ref(&file))?;
            outcome?;
            vec![file]
        }
        false => {
            let paths = arguments.from.iter();
            let files: Vec<_> = paths
                .map(|it| MetadataFile::read(it))
                .collect::<Result<_>>()?;
            write(arguments, &files)?;
            files
        }
    };
    let mut profiles = files
        .iter()
        .flat_map(|it| &it.runs)
        .flat_map(|it| &it.profiles);
    Ok(match profiles.any(|it| it.failed > 0) {
        true => ExitCode::from(EXIT_FAILED),
        false => ExitCode::SUCCESS,
    })
}

/// Runs the volumes. When the repository goes away, what was measured until then comes with the error.
fn measure(arguments: &MetadataArguments) -> Result<(MetadataFile, Result<()>)> {
    let mut environment = environment::describe();
    environment.machine = arguments.machine.clone();
    environment.seed = arguments.seed;
    environment.generator_threads = 1;
    let title = arguments.title.as_deref().unwrap_or("Open metadata suite");
    let repository = Repository {
        name: arguments.name.clone(),
        url: arguments.url.clone(),
        server_name: arguments.server_name.clone(),
        user: arguments.user.clone(),
        durability: arguments.durability.clone(),
        ..Repository::default()
    };
    let mut file = MetadataFile::new(title, environment, repository);
    let limit = arguments.types.map(|count| count as usize);
    let plan = Plan::new(limit);
    let mut outcome = Ok(());
    for volume in &arguments.volume {
        let (run, ended) = measure_volume(arguments, *volume, &plan, &mut file.repository)?;
        file.runs.push(run);
        // What is measured is kept even if a later volume fails to start.
        if let Some(path) = &arguments.json {
            file.write(path)?;
        }
        outcome = ended;
        if outcome.is_err() {
            break;
        }
    }
    file.environment.ended = environment::now();
    file.environment.load_average_end = environment::load_average();
    Ok((file, outcome))
}

fn measure_volume(
    arguments: &MetadataArguments,
    volume: Volume,
    plan: &Plan,
    repository: &mut Repository,
) -> Result<(VolumeRun, Result<()>)> {
    let durability = arguments.durability.as_deref().unwrap_or("sync");
    let served = match &arguments.serve {
        Some(binary) => Some(Served::start(binary, durability, &settings_of(arguments))?),
        None => None,
    };
    let url = served.as_ref().map_or(&arguments.url, |served| &served.url);
    let client = Client::new(url, &arguments.server_name, &arguments.user)?;
    let pid = arguments
        .server_pid
        .or_else(|| served.as_ref().map(Served::pid))
        .or_else(|| process::listener(client.address()));
    let folder = arguments.evidence.as_ref();
    let folder = folder.map(|folder| folder.join(volume.to_string()));
    let evidence = folder.map(|folder| Evidence::new(&folder)).transpose()?;
    let settings = Settings {
        volume,
        user: arguments.user.clone(),
        seed: arguments.seed,
        booking: !arguments.no_booking,
        selection: Selection::new(arguments),
    };
    let mut suite = Suite::new(client, Recorder::new(evidence), plan, settings)
        .with_context(|| format!("{url}, server {}", arguments.server_name))?;
    repository.metadata_collection_id = suite.home.clone();
    let started = environment::now();
    let mut watch = Watch::new(volume, pid, arguments.quiet);
    let begin = Instant::now();
    let (profiles, outcome) = suite.run(plan, &mut watch);
    let seconds = begin.elapsed().as_secs_f64();
    let all = arguments.types.is_none() && Selection::new(arguments).is_all();
    let created = suite.created;
    let (rows, failures) = suite.recorder.finish()?;
    ensure!(!rows.is_empty(), "the suite has rows");
    let run = VolumeRun {
        volume: volume.to_string(),
        instances_per_type: volume.instances,
        max_search_results: volume.page,
        booking: !arguments.no_booking,
        started,
        seconds,
        instances_created: created,
        complete: all && outcome.is_ok(),
        profiles,
        rows,
        failures,
    };
    Ok((run, outcome))
}

/// What a server of our own is started with: it is a metadata repository under the name that the paths have.
fn settings_of(arguments: &MetadataArguments) -> Vec<String> {
    let name = serde_json::Value::from(arguments.server_name.as_str());
    let mut settings = vec![
        "omrs.enabled=true".to_owned(),
        format!("omrs.server_names=[{name}]"),
    ];
    settings.extend(arguments.serve_set.iter().cloned());
    settings
}

fn write(arguments: &MetadataArguments, files: &[MetadataFile]) -> Result<()> {
    if let (Some(path), [file]) = (&arguments.json, files) {
        file.write(path)?;
    }
    if let Some(path) = &arguments.report {
        let page = report::html(files);
        std::fs::write(path, page).with_context(|| format!("writing {}", path.display()))?;
    }
    let tables = report::markdown(files);
    match &arguments.markdown {
        Some(path) => {
            std::fs::write(path, tables).with_context(|| format!("writing {}", path.display()))
        }
        None => {
            print!("{tables}");
            Ok(())
        }
    }
}

/// Looks on: the server's process, and the person before the terminal.
#[derive(Debug)]
pub(crate) struct Watch {
    volume: Volume,
    pid: Option<u32>,
    quiet: bool,
    terminal: bool,
    begin: Instant,
    shown: Option<Instant>,
}

impl Watch {
    pub(crate) fn new(volume: Volume, pid: Option<u32>, quiet: bool) -> Self {
        Self {
            volume,
            pid,
            quiet,
            terminal: std::io::stderr().is_terminal(),
            begin: Instant::now(),
            shown: None,
        }
    }

    /// CPU time of the server so far, in seconds.
    pub(crate) fn server_cpu(&self) -> Option<f64> {
        self.pid
            .and_then(process::cpu_time)
            .map(|it| it.as_secs_f64())
    }

    /// Resident memory of the server, in bytes.
    pub(crate) fn server_resident(&self) -> Option<u64> {
        self.pid.and_then(process::resident)
    }

    /// A type is over.
    pub(crate) fn progress(&mut self, suite: &Suite, profile: Profile, done: usize, all: usize) {
        let is_due = self.shown.is_none_or(|at| at.elapsed() >= PROGRESS_EVERY);
        if self.quiet || !self.terminal || !is_due {
            return;
        }
        self.shown = Some(Instant::now());
        let line = format!(
            "{} {:2} {}: {done} of {all} types, {} calls, {} failed, {:.0} s",
            self.volume,
            profile.id(),
            profile.name(),
            suite.recorder.calls(),
            suite.recorder.failures(),
            self.begin.elapsed().as_secs_f64(),
        );
        // A line that cannot be shown is no reason to end a measurement.
        let _ = write!(std::io::stderr(), "\r\x1b[K{line}");
    }

    /// A stage is over: a line of its own for each profile.
    pub(crate) fn stage_over(
        &mut self,
        suite: &Suite,
        profiles: &[Profile],
        runs: &BTreeMap<Profile, ProfileRun>,
    ) {
        if self.quiet {
            return;
        }
        let clear = if self.terminal { "\r\x1b[K" } else { "" };
        for profile in profiles {
            let Some(run) = runs.get(profile) else {
                continue;
            };
            let memory = run.server_resident_bytes.map_or(String::new(), |bytes| {
                format!(", server {} MiB", bytes >> 20)
            });
            let _ = writeln!(
                std::io::stderr(),
                "{clear}{} {:2} {}: {:.1} s, {} of {} types failed, {} calls so far{memory}",
                self.volume,
                profile.id(),
                profile.name(),
                run.seconds,
                run.failed,
                run.cases,
                suite.recorder.calls(),
            );
        }
    }
}
