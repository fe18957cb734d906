//! `varve backup` and `varve restore`: copies of all graphs, of a running server or of an unused
//! data folder, or of the graphs on a cluster.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use indicatif::ProgressBar;
use serde_json::{Value as Json, json};
use varve_graph::backup::{
    BackupKind, BackupManifest, check_backup, copy_spaces, read_manifest, restore_backup,
    restore_rows, write_backup,
};
use varve_kv::{Engine, KvError};

use crate::cli::{BackupArguments, RestoreArguments};
use crate::config::Config;
use crate::data;
use crate::engines::{self, Absent};
use crate::rest::GraphClient;
use crate::{CommandError, NOT_ALL_WELL};

/// The interval between two polls of a job.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Backs up a running server (`--server`), or the data folder that the options name. The target is
/// a name in the first case, and a new folder in the second. Graphs that cannot be opened are left
/// out.
pub(crate) fn backup(arguments: &BackupArguments) -> Result<ExitCode, CommandError> {
    if let Some(server) = &arguments.server {
        let name = arguments
            .target
            .to_str()
            .ok_or("the name of a backup must be text")?;
        let client = GraphClient::new(server, "", &arguments.trust)?;
        let result = wait_for_job(&client, "/admin/backup", &json!({ "name": name }))?;
        println!("backup: {result}");
        let left_out = result.get("left_out").and_then(Json::as_array);
        return Ok(ended(left_out.is_none_or(Vec::is_empty)));
    }
    let graphs = data::open_stored(&arguments.options.load()?)?;
    let manifest = write_backup(&graphs, &arguments.target)?;
    print_manifest("backed up", &manifest);
    let unopened = graphs.unopened();
    for (graph, reason) in &unopened {
        println!("left out {graph}: it cannot be opened: {reason}");
    }
    Ok(ended(unopened.is_empty()))
}

/// The exit code of a written backup: success only if it is of all graphs.
fn ended(of_all: bool) -> ExitCode {
    match of_all {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(NOT_ALL_WELL),
    }
}

/// Restores a backup to the engine of the options, which has no such graphs yet, or only checks it
/// (`--check`).
pub(crate) fn restore(arguments: &RestoreArguments) -> Result<ExitCode, CommandError> {
    if !arguments.source.is_dir() {
        return Err(Box::new(KvError::Missing {
            store: arguments.source.display().to_string(),
            detail: "there is no such folder".to_owned(),
        }));
    }
    if arguments.check {
        print_manifest("sound:", &check_backup(&arguments.source)?);
        return Ok(ExitCode::SUCCESS);
    }
    let config = arguments.options.load()?;
    let manifest = read_manifest(&arguments.source)?;
    match (config.storage.engine.as_str(), manifest.kind) {
        ("cassandra", kind) => {
            let cluster = engines::cassandra(&config, None, Absent::Create)?;
            match kind {
                BackupKind::Rows => drop(restore_rows(&arguments.source, &*cluster)?),
                BackupKind::Files => copy_files(arguments, &config, &manifest, &*cluster)?,
            }
            print_manifest("restored", &manifest);
            return Ok(ExitCode::SUCCESS);
        }
        (_, BackupKind::Rows) => {
            new_folder(&data::graphs_folder(&config.storage.data_dir))?;
            let engine = engines::rocksdb(&config, Absent::Create)?;
            restore_rows(&arguments.source, &*engine)?;
        }
        (_, BackupKind::Files) => {
            let folder = data::graphs_folder(&config.storage.data_dir);
            restore_backup(&arguments.source, &folder)?;
        }
    }
    print_manifest("restored", &manifest);
    println!(
        "start it with: varve serve --data-dir {}",
        config.storage.data_dir.display()
    );
    Ok(ExitCode::SUCCESS)
}

/// Refuses a folder that has graphs already.
fn new_folder(folder: &Path) -> Result<(), CommandError> {
    let holds_something = std::fs::read_dir(folder).is_ok_and(|mut it| it.next().is_some());
    if holds_something {
        let shown = folder.display();
        return Err(
            format!("'{shown}' is not empty: a backup is restored to a new data folder").into(),
        );
    }
    Ok(())
}

/// Restores RocksDB's files to a folder below the temporary one, and copies their graphs to the
/// cluster.
fn copy_files(
    arguments: &RestoreArguments,
    config: &Config,
    manifest: &BackupManifest,
    cluster: &dyn Engine,
) -> Result<(), CommandError> {
    let folder = tempfile::tempdir()?;
    let mut files = config.clone();
    files.storage.data_dir = folder.path().to_path_buf();
    restore_backup(&arguments.source, &data::graphs_folder(folder.path()))?;
    let engine = engines::rocksdb(&files, Absent::Refuse)?;
    copy_spaces(&*engine, &manifest.graphs, cluster)?;
    Ok(())
}

fn print_manifest(done: &str, manifest: &BackupManifest) {
    let (graphs, files) = (manifest.graphs.join(", "), manifest.files.len());
    println!(
        "{done} {graphs}: {files} files, {} bytes, checksums right",
        manifest.bytes()
    );
}

/// Starts an `/admin` job and waits, for any time, until it ends. Returns its result, or its error
/// if it failed.
pub(crate) fn wait_for_job(
    client: &GraphClient,
    path: &str,
    request: &Json,
) -> Result<Json, CommandError> {
    let started = client.send("POST", path, &request.to_string())?;
    let started: Json = serde_json::from_str(&started)?;
    let id = started
        .get("job")
        .and_then(Json::as_u64)
        .ok_or("the server names no job")?;
    let bar = ProgressBar::new_spinner();
    loop {
        let job: Json = client.get(&format!("/admin/jobs/{id}"))?;
        let status = job.get("status").and_then(Json::as_str);
        match status {
            Some("running") => {
                if let Some(rows) = job.get("rows").and_then(Json::as_u64).filter(|it| *it > 0) {
                    bar.set_message(format!("{rows} rows"));
                }
                bar.tick();
                std::thread::sleep(LOOK_EVERY);
                continue;
            }
            _ => bar.finish_and_clear(),
        }
        match status {
            Some("done") => return Ok(job.get("result").cloned().unwrap_or_default()),
            _ => {
                let reason = job.get("error").and_then(Json::as_str).unwrap_or("unknown");
                return Err(reason.to_owned().into());
            }
        }
    }
}
