//! `varve backup`, `varve backups` and `varve restore`: copies of all graphs, of a running server,
//! of an unused data folder, or of the graphs on a cluster; in folders of their own or in a store.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use indicatif::{HumanBytes, ProgressBar};
use serde_json::{Value as Json, json};
use varve_backup::{Location, PlaceOptions, Store};
use varve_graph::backup::{Backup, BackupKind, BackupManifest, copy_spaces, write_backup};
use varve_kv::{Engine, KvError};
use varve_model::time::{Clock as _, SystemClock};

use crate::cli::{BackupArguments, BackupsArguments, LATEST, RestoreArguments};
use crate::config::Config;
use crate::data;
use crate::engines::{self, Absent};
use crate::rest::GraphClient;
use crate::{CommandError, NOT_ALL_WELL};

/// The interval between two polls of a job.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// The folder of a data folder in which a backup to a store is prepared.
const STAGE: &str = "backups/.incomplete";

/// Backs up a running server (`--server`), or the data folder that the options name. Graphs that
/// cannot be opened are left out.
pub(crate) fn backup(arguments: &BackupArguments) -> Result<ExitCode, CommandError> {
    let target = arguments.target.as_deref();
    if let Some(server) = &arguments.server {
        let request = match target.map(Path::to_str) {
            Some(name) => json!({ "name": name.ok_or("the name of a backup must be text")? }),
            None => json!({}),
        };
        let client = GraphClient::new(server, "", &arguments.trust)?;
        let result = wait_for_job(&client, "/admin/backup", &request)?;
        println!("backup: {result}");
        let left_out = result.get("left_out").and_then(Json::as_array);
        return Ok(ended(left_out.is_none_or(Vec::is_empty)));
    }
    let config = arguments.options.load()?;
    let address = target.and_then(Path::to_str).unwrap_or_default();
    let graphs = match target {
        Some(folder) if !Location::is_address(address) => {
            let graphs = data::open_stored(&config)?;
            print_manifest("backed up", &write_backup(&graphs, folder)?);
            graphs
        }
        _ => {
            let store = store(target.map(|_| address), &config)?;
            let graphs = data::open_stored(&config)?;
            let stage = config.storage.data_dir.join(STAGE);
            let added = store.add(&graphs, &stage, &|| true)?;
            print_manifest(&format!("{} has", added.name), &added.manifest);
            println!("new: {} bytes", added.manifest.new_bytes);
            // The options' rules are those of the options' store.
            if target.is_none() {
                store.prune(&config.backup.kept()?, SystemClock.now().0)?;
            }
            graphs
        }
    };
    let unopened = graphs.unopened();
    for (graph, reason) in &unopened {
        println!("left out {graph}: it cannot be opened: {reason}");
    }
    Ok(ended(unopened.is_empty()))
}

/// The store at this place, or that of the options.
fn store(place: Option<&str>, config: &Config) -> Result<Store, CommandError> {
    let options = match place {
        Some(place) => PlaceOptions {
            to: place.to_owned(),
            ..config.backup.place()
        },
        None => config.backup.place(),
    };
    if options.to.is_empty() {
        return Err("name a folder or a store, or set the option backup.to".into());
    }
    Ok(Store::open(&options)?)
}

/// Lists the backups of a store, the newest first.
pub(crate) fn list(arguments: &BackupsArguments) -> Result<ExitCode, CommandError> {
    let store = store(arguments.store.as_deref(), &arguments.options.load()?)?;
    let backups = store.list()?;
    for backup in backups.iter().rev() {
        let manifest = &backup.manifest;
        println!(
            "{}  {} in {} files, {} new, {} ms, {}",
            backup.name,
            HumanBytes(manifest.bytes()),
            manifest.files.len(),
            HumanBytes(manifest.new_bytes),
            manifest.took_ms,
            manifest.graphs.join(", ")
        );
        if !manifest.left_out.is_empty() {
            println!("  left out: {}", manifest.left_out.join(", "));
        }
    }
    let bytes = HumanBytes(varve_backup::stored_bytes(&backups));
    println!("{} backups, {bytes} in all", backups.len());
    Ok(ExitCode::SUCCESS)
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
    let config = arguments.options.load()?;
    let (source, at) = (arguments.source.as_str(), arguments.at.as_str());
    let folder = Path::new(source);
    if !Location::is_address(source) && !folder.is_dir() {
        return Err(Box::new(KvError::Missing {
            store: source.to_owned(),
            detail: "there is no such folder".to_owned(),
        }));
    }
    if Location::is_store(source) {
        let store = store(Some(source), &config)?;
        let (name, backup) = store.backup((at != LATEST).then_some(at))?;
        println!("backup {name}");
        return restore_from(&backup, &config, arguments.check);
    }
    if at != LATEST {
        return Err(format!("'{source}' is one backup, not a store: leave --at out").into());
    }
    restore_from(&Backup::in_folder(folder)?, &config, arguments.check)
}

fn restore_from(
    backup: &Backup<'_>,
    config: &Config,
    only_check: bool,
) -> Result<ExitCode, CommandError> {
    let manifest = &backup.manifest;
    if only_check {
        backup.check()?;
        print_manifest("sound:", manifest);
        return Ok(ExitCode::SUCCESS);
    }
    match (config.storage.engine.as_str(), manifest.kind) {
        ("cassandra", kind) => {
            let cluster = engines::cassandra(config, None, Absent::Create)?;
            match kind {
                BackupKind::Rows => backup.restore_rows(&*cluster)?,
                BackupKind::Files => copy_files(backup, config, &*cluster)?,
            }
            print_manifest("restored", manifest);
            return Ok(ExitCode::SUCCESS);
        }
        (_, BackupKind::Rows) => {
            new_folder(&data::graphs_folder(&config.storage.data_dir))?;
            let engine = engines::rocksdb(config, Absent::Create)?;
            backup.restore_rows(&*engine)?;
        }
        (_, BackupKind::Files) => backup.restore(&data::graphs_folder(&config.storage.data_dir))?,
    }
    print_manifest("restored", manifest);
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
    backup: &Backup<'_>,
    config: &Config,
    cluster: &dyn Engine,
) -> Result<(), CommandError> {
    let folder = tempfile::tempdir()?;
    let mut files = config.clone();
    files.storage.data_dir = folder.path().to_path_buf();
    backup.restore(&data::graphs_folder(folder.path()))?;
    let engine = engines::rocksdb(&files, Absent::Refuse)?;
    copy_spaces(&*engine, &backup.manifest.graphs, cluster)?;
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
