//! Runs the suite for each volume (size of a run), one after another, and writes the results.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::arguments::{MetadataArguments, Selection, Volume};
use super::client::Client;
use super::part::Part;
use super::plan::Plan;
use super::profile::Profile;
use super::report;
use super::result::{MetadataFile, Repository, RowResult, VolumeRun};
use super::suite::{Keeping, Runs, Settings, Suite};
use super::watch::Watch;
use crate::environment::Data;
use crate::process;
use crate::progress;
use crate::result::{EXIT_FAILED, put};
use crate::serve::{self, KeptData, Served};

/// Runs the suite, or reports on result files.
///
/// # Errors
/// When no repository answers, or a file cannot be read or written. Failures within the suite are
/// reported by the exit code instead.
pub fn run(arguments: &MetadataArguments) -> Result<ExitCode> {
    let files = match arguments.from.is_empty() {
        true => {
            let (file, outcome) = measure(arguments)?;
            let written = write(arguments, std::slice::from_ref(&file));
            if let (Err(_), Err(error)) = (&outcome, &written) {
                progress::warn(&format!("{error:#}"));
            }
            outcome.and(written)?;
            vec![file]
        }
        false => {
            let files = read(&arguments.from)?;
            write(arguments, &files)?;
            files
        }
    };
    let mut runs = files.iter().flat_map(|it| &it.runs);
    let is_wrong = |run: &VolumeRun| {
        let has_failed = run.profiles.iter().any(|it| it.failed > 0);
        has_failed || run.rows.iter().any(RowResult::has_wrong_calls)
    };
    Ok(match runs.any(is_wrong) {
        true => ExitCode::from(EXIT_FAILED),
        false => ExitCode::SUCCESS,
    })
}

fn read(files: &[PathBuf]) -> Result<Vec<MetadataFile>> {
    files.iter().map(|path| MetadataFile::read(path)).collect()
}

/// The report of result files: the HTML page, and the tables as Markdown.
///
/// # Errors
/// When a file cannot be read.
pub(crate) fn report_of(files: &[PathBuf]) -> Result<(String, String)> {
    let files = read(files)?;
    Ok((report::html(&files), report::markdown(&files)))
}

/// Runs the volumes. If a volume fails or is incomplete, the error is returned together with the
/// results so far.
fn measure(arguments: &MetadataArguments) -> Result<(MetadataFile, Result<()>)> {
    let until = arguments.minutes.map(|minutes| Instant::now() + minutes);
    let repository = repository(arguments)?;
    let mut file = match (&arguments.common.json, arguments.go_on) {
        (Some(path), true) => {
            let file = MetadataFile::read(path)?;
            file.repository.goes_on_as(&repository)?;
            file
        }
        (Some(path), false) => {
            MetadataFile::check_new(path)?;
            new_file(arguments, repository)
        }
        (None, _) => new_file(arguments, repository),
    };
    let mut volumes = arguments.volume.iter();
    volumes.try_for_each(|volume| Part::check(arguments, *volume, &file))?;
    if arguments.common.serve.is_none() && arguments.volume.len() > 1 {
        progress::warn(
            "each volume after the first meets what those before it leave in the repository",
        );
    }
    let limit = arguments.types.map(|count| count as usize);
    let plan = Plan::new(limit);
    let mut outcome = Ok(());
    for (at, volume) in arguments.volume.iter().enumerate() {
        if outcome.is_err() || until.is_some_and(|until| Instant::now() >= until) {
            break;
        }
        outcome = match measure_volume(arguments, *volume, &plan, &mut file, until) {
            Ok(outcome) => outcome,
            Err(error) if at > 0 => Err(error),
            // Nothing was measured, so no file is changed.
            Err(error) => return Err(error),
        };
    }
    file.environment.end();
    Ok((file, outcome))
}

fn new_file(arguments: &MetadataArguments, repository: Repository) -> MetadataFile {
    let data = match (&arguments.data_dir, &arguments.common.serve) {
        (Some(folder), _) => Data::Folder(folder.clone()),
        (None, Some(_)) => Data::temporary(),
        (None, None) => Data::Elsewhere,
    };
    let environment = arguments.common.environment(&data, 1);
    let title = arguments
        .common
        .title
        .as_deref()
        .unwrap_or("Open metadata suite");
    MetadataFile::new(title, environment, repository)
}

/// The repository as described by the arguments.
fn repository(arguments: &MetadataArguments) -> Result<Repository> {
    let version = arguments
        .common
        .serve
        .as_deref()
        .map(serve::version)
        .transpose()?;
    Ok(Repository {
        name: arguments.name.clone(),
        url: arguments.common.url.clone(),
        server_name: arguments.server_name.clone(),
        user: arguments.user.clone(),
        durability: arguments.durability.clone(),
        serve_set: arguments.common.serve_set.clone(),
        version,
        ..Repository::default()
    })
}

/// Runs the suite for one volume. Saves the results in `file` and on disk after every profile, and
/// at intervals within a long one, so that an interrupted run can continue.
///
/// # Errors
/// The outer error comes before the first measurement, the inner one after it.
fn measure_volume(
    arguments: &MetadataArguments,
    volume: Volume,
    plan: &Plan,
    file: &mut MetadataFile,
    until: Option<Instant>,
) -> Result<Result<()>> {
    let mut part = Part::of(arguments, volume, file)?;
    let selection = Selection::new(arguments);
    let Some(first) = part.first_left(&selection)? else {
        ensure!(part.goes_on(), "no profile is to run");
        return Ok(Ok(()));
    };
    let served = serve(arguments, volume, part.goes_on())?;
    let url = served
        .as_ref()
        .map_or(&arguments.common.url, |served| &served.url);
    if let Some(served) = &served {
        file.repository.url.clone_from(&served.url);
    }
    let client = Client::new(
        (url, &arguments.common.trust),
        &arguments.server_name,
        &arguments.user,
    )?;
    let pid = arguments
        .common
        .server_pid
        .or_else(|| served.as_ref().map(Served::pid))
        .or_else(|| process::listener(client.address()));
    let settings = Settings {
        volume,
        user: arguments.user.clone(),
        seed: arguments.common.seed,
        booking: !arguments.no_booking,
        selection,
        few_types: arguments.types.is_some(),
    };
    let mut suite = Suite::new(client, part.recorder(arguments)?, plan, settings)
        .with_context(|| format!("{url}, server {}", arguments.server_name))?;
    part.begin(&mut suite, file, first)?;
    if let (Some(path), true) = (&arguments.common.json, part.goes_on()) {
        file.write(path)?;
    }
    let mut watch = Watch::new(arguments, volume, pid);
    let over = part.over();
    let mut keep = |suite: &mut Suite, runs: &Runs, next: Option<Profile>| {
        part.carried.at_work = next.map(Profile::id);
        warn_unless_kept(part.keep(file, suite, runs));
        warn_unless_kept(write_json(arguments, file));
    };
    let every = Duration::from_secs(arguments.keep_every);
    let mut keeping = Keeping::new(every, until, &mut keep);
    let (runs, outcome) = suite.run(plan, &mut watch, over, &mut keeping);
    let kept = part.end(file, &mut suite, &runs, outcome.is_ok());
    // Written here, so that the results are on disk even if the tool is killed in a later volume.
    warn_unless_kept(write_json(arguments, file));
    Ok(outcome.and(kept))
}

fn write_json(arguments: &MetadataArguments, file: &MetadataFile) -> Result<()> {
    let path = arguments.common.json.as_ref();
    path.map_or(Ok(()), |path| file.write(path))
}

/// Only warns if results were not saved, so that a full disk does not end hours of measuring. If
/// results are still missing at the end, the run ends with an error.
fn warn_unless_kept(kept: Result<()>) {
    if let Err(error) = kept {
        progress::warn(&format!("the results so far are not on disk: {error:#}"));
    }
}

/// Starts a server of our own, if requested. If the run `goes_on`, the server opens the data of the
/// earlier part.
fn serve(arguments: &MetadataArguments, volume: Volume, goes_on: bool) -> Result<Option<Served>> {
    let Some(binary) = &arguments.common.serve else {
        return Ok(None);
    };
    let durability = arguments.durability.as_deref().unwrap_or("sync");
    let settings = settings_of(arguments);
    let Some(folder) = &arguments.data_dir else {
        ensure!(
            !goes_on,
            "--continue with --serve needs the --data-dir of the earlier run"
        );
        return Served::start(binary, durability, &settings).map(Some);
    };
    let data = KeptData {
        folder: folder.join(volume.to_string()),
        again: goes_on,
    };
    Served::start_keeping(data, binary, durability, &settings).map(Some)
}

/// The options of a server of our own: a metadata repository with the server name of the arguments.
fn settings_of(arguments: &MetadataArguments) -> Vec<String> {
    let name = serde_json::Value::from(arguments.server_name.as_str());
    let mut settings = vec![
        "omrs.enabled=true".to_owned(),
        format!("omrs.server_names=[{name}]"),
    ];
    settings.extend(arguments.common.serve_set.iter().cloned());
    settings
}

/// Writes the results and the report. A failure to write one does not prevent the other.
fn write(arguments: &MetadataArguments, files: &[MetadataFile]) -> Result<()> {
    let tables = report::markdown(files);
    let tables = match &arguments.markdown {
        Some(path) => put(path, &tables),
        None => {
            print!("{tables}");
            Ok(())
        }
    };
    let json = match (&arguments.common.json, files) {
        (Some(path), [file]) => file.write(path),
        _ => Ok(()),
    };
    let page = arguments.report.as_ref();
    let page = page.map_or(Ok(()), |path| put(path, &report::html(files)));
    json.and(page).and(tables)
}
