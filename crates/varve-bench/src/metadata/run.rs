//! Running the suite: the volumes one after another, progress, and the results.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use super::arguments::{MetadataArguments, Selection, Volume};
use super::client::Client;
use super::evidence::Evidence;
use super::plan::Plan;
use super::progress::{self, Watch};
use super::recorder::Recorder;
use super::report;
use super::result::{MetadataFile, Repository, VolumeRun};
use super::suite::{Runs, Settings, Suite};
use crate::api::serve::Served;
use crate::api::{environment, process};

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
        outcome = measure_volume(arguments, *volume, &plan, &mut file)?;
        if outcome.is_err() {
            break;
        }
    }
    file.environment.ended = environment::now();
    file.environment.load_average_end = environment::load_average();
    Ok((file, outcome))
}

/// Runs a volume. Its results so far are in `file`, also on disk, after every stage: a run that is cut short leaves them.
fn measure_volume(
    arguments: &MetadataArguments,
    volume: Volume,
    plan: &Plan,
    file: &mut MetadataFile,
) -> Result<Result<()>> {
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
    file.repository.metadata_collection_id = suite.home.clone();
    file.runs.push(VolumeRun {
        volume: volume.to_string(),
        instances_per_type: volume.instances,
        max_search_results: volume.page,
        booking: !arguments.no_booking,
        started: environment::now(),
        ..VolumeRun::default()
    });
    let mut watch = Watch::new(arguments, volume, pid);
    let begin = Instant::now();
    let (runs, outcome) = suite.run(plan, &mut watch, |suite, runs| {
        let kept = keep(file, suite, runs, begin).and_then(|()| match &arguments.json {
            Some(path) => file.write(path),
            None => Ok(()),
        });
        // Hours of measuring do not end with a full disk; what is missing in the end ends the run with an error.
        if let Err(error) = kept {
            progress::warn(&format!("the results so far are not on disk: {error:#}"));
        }
    });
    keep(file, &mut suite, &runs, begin)?;
    let all = arguments.types.is_none() && Selection::new(arguments).is_all();
    if let Some(run) = file.runs.last_mut() {
        run.complete = all && outcome.is_ok();
    }
    // What is measured is kept even if a later volume fails to start.
    if let Some(path) = &arguments.json {
        file.write(path)?;
    }
    Ok(outcome)
}

/// Puts what is measured so far into the last run of the file.
fn keep(file: &mut MetadataFile, suite: &mut Suite, runs: &Runs, begin: Instant) -> Result<()> {
    let (rows, failures) = suite.recorder.results()?;
    ensure!(!rows.is_empty(), "the suite has rows");
    if let Some(run) = file.runs.last_mut() {
        run.seconds = begin.elapsed().as_secs_f64();
        run.instances_created = suite.created;
        run.profiles = runs.values().cloned().collect();
        (run.rows, run.failures) = (rows, failures);
    }
    Ok(())
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
