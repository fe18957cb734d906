//! A store of backups: made by schedule, on demand and offline; killed while it is written;
//! damaged; restored.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::observed::metrics;
use crate::server::{ServerProcess, VARVE, run, serve_on, shown};

/// How long a backup may take.
const TIMEOUT: Duration = Duration::from_secs(60);
const VERTICES: &str = "/graphs/hugegraph/graph/vertices";

/// A server on the folder `data`, with a store and more options.
fn serve(data: &Path, store: &Path, options: &[&str], fail_point: &str) -> ServerProcess {
    let mut command = Command::new(VARVE);
    command.arg("serve").arg("--data-dir").arg(data);
    command.arg("--set");
    command.arg(format!("backup.to={}", store.display()));
    for option in options {
        command.args(["--set", option]);
    }
    if !fail_point.is_empty() {
        command.env("VARVE_FAIL_POINT", fail_point);
    }
    ServerProcess::start(&mut command)
}

fn make_schema(server: &ServerProcess) {
    let label = json!({ "name": "v", "id_strategy": "CUSTOMIZE_NUMBER" });
    let path = "/graphs/hugegraph/schema/vertexlabels";
    server.must("POST", path, &label.to_string());
}

fn put(server: &ServerProcess, ids: std::ops::Range<u32>) {
    let vertex = |id| json!({ "label": "v", "id": id, "properties": {} });
    let vertices: Json = ids.map(vertex).collect();
    server.must("POST", &format!("{VERTICES}/batch"), &vertices.to_string());
}

fn vertices(server: &ServerProcess, scope: &str) -> Json {
    server.must("GET", &format!("{VERTICES}?limit=1000{scope}"), "")
}

fn status(server: &ServerProcess) -> Json {
    server.must("GET", "/admin/backups", "")
}

/// Waits until the status is as `is_so` wants.
#[track_caller]
fn wait(server: &ServerProcess, is_so: &dyn Fn(&Json) -> bool) -> Json {
    let started = Instant::now();
    loop {
        let status = status(server);
        if is_so(&status) {
            return status;
        }
        assert!(started.elapsed() < TIMEOUT, "{status}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The name of a backup that began after this call.
#[track_caller]
fn next_backup(server: &ServerProcess) -> Json {
    // One that is running may have begun before.
    let newest = |status: &Json| status["backups"][0]["created"].clone();
    let mut before = newest(&status(server));
    for _ in 0..2 {
        let found = wait(server, &|status| newest(status) != before);
        before = newest(&found);
    }
    status(server)["backups"][0].clone()
}

fn name(backup: &Json) -> &str {
    backup["name"].as_str().expect("a name")
}

/// Restores a backup to a new folder.
#[track_caller]
fn restore(store: &Path, at: &str, data: &Path) {
    let (code, text) = run(&[
        "restore",
        shown(store),
        "--at",
        at,
        "--data-dir",
        shown(data),
    ]);
    assert_eq!(code, 0, "{text}");
}

fn backup(server: &ServerProcess) -> (i32, String) {
    run(&["backup", "--server", &server.url])
}

/// The files in a folder of the store.
fn count(store: &Path, folder: &str) -> usize {
    std::fs::read_dir(store.join(folder)).map_or(0, Iterator::count)
}

#[test]
fn each_scheduled_backup_is_restored_as_it_was_and_answers_for_the_past() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let (data, store) = (dir.path().join("data"), dir.path().join("store"));
    let server = serve(&data, &store, &["backup.every=1s"], "");
    make_schema(&server);
    let mut taken = Vec::new();
    for round in 0..3_u32 {
        put(&server, round * 10..round * 10 + 10);
        taken.push((next_backup(&server), vertices(&server, "")));
    }
    let all = status(&server);
    let newest = all["backups"][0].clone();
    assert_eq!(newest["graphs"], json!(["hugegraph"]), "{all}");
    assert_eq!(
        (&all["to"], &all["every_seconds"]),
        (&json!("store"), &json!(1))
    );
    assert!(all["failure"].is_null() && all["next"].is_string(), "{all}");
    let (bytes, stored) = (newest["bytes"].as_u64(), all["stored_bytes"].as_u64());
    assert!(
        bytes > newest["new_bytes"].as_u64() && stored >= bytes,
        "{all}"
    );
    let page = metrics(&server);
    assert!(
        page.contains("varve_backups_total{outcome=\"failed\"} 0"),
        "{page}"
    );
    assert!(page.contains("varve_backup_every_seconds 1\n"), "{page}");
    assert!(!page.contains("varve_backup_last_success_timestamp_seconds 0\n"));
    assert!(server.terminate().0.success());

    for (at, (backup, then)) in taken.iter().enumerate() {
        let restored = dir.path().join(format!("restored-{at}"));
        restore(&store, name(backup), &restored);
        let server = serve_on(&restored);
        assert_eq!(vertices(&server, ""), *then, "{backup}");
        // A later backup answers as an earlier one, as of the instant at which that began.
        for (earlier, then) in &taken[..at] {
            let created = earlier["created"].as_str().expect("an instant");
            let scope = format!("&as_of_tx={created}");
            assert_eq!(vertices(&server, &scope), *then, "{backup} {earlier}");
        }
        server.kill();
    }
}

#[test]
fn backups_that_are_not_kept_are_removed_with_their_files() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let (data, store) = (dir.path().join("data"), dir.path().join("store"));
    let server = serve(&data, &store, &["backup.keep=2"], "");
    make_schema(&server);
    for round in 0..4 {
        put(&server, round * 10..round * 10 + 10);
        let (code, text) = backup(&server);
        assert!(code == 0 && text.contains("\"new_bytes\""), "{text}");
    }
    let all = status(&server);
    assert_eq!(all["backups"].as_array().map(Vec::len), Some(2), "{all}");
    assert_eq!(count(&store, "manifests"), 2);
    let page = metrics(&server);
    assert!(page.contains("varve_backups_kept 2\n"), "{page}");
    assert!(
        page.contains("varve_backups_total{outcome=\"done\"} 4\n"),
        "{page}"
    );
    for backup in all["backups"].as_array().expect("a list") {
        let (code, text) = run(&["restore", "--check", shown(&store), "--at", name(backup)]);
        assert!(code == 0 && text.contains("sound: hugegraph"), "{text}");
    }
    let named = |backup: &Json| backup["files"].as_u64().expect("a number");
    let most: u64 = all["backups"]
        .as_array()
        .expect("a list")
        .iter()
        .map(named)
        .sum();
    assert!(
        (count(&store, "files") as u64) < most,
        "shared files are kept once"
    );
    // Nothing of what was prepared is left.
    assert!(!data.join("backups/.incomplete").exists());
    // The list is read again after a restart; a failed backup is told and counted.
    server.kill();
    std::fs::rename(store.join("files"), store.join("away")).expect("renamed");
    std::fs::write(store.join("files"), "no folder").expect("written");
    let server = serve(&data, &store, &[], "");
    let again = wait(&server, &|status| status["backups"] == all["backups"]);
    assert!(again["failure"].is_null(), "{again}");
    let (code, text) = backup(&server);
    assert!(code == 1 && text.contains("files"), "{text}");
    let failed = status(&server);
    assert!(failed["failure"]["error"].is_string(), "{failed}");
    assert_eq!(failed["backups"], all["backups"]);
    assert!(metrics(&server).contains("varve_backups_total{outcome=\"failed\"} 1\n"));
    server.logged(&["ERROR", "failed", "backup"]);
}

#[test]
fn a_backup_that_is_killed_is_invisible_and_the_next_one_is_whole() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let (data, store) = (dir.path().join("data"), dir.path().join("store"));
    let server = serve(&data, &store, &[], "");
    make_schema(&server);
    put(&server, 0..10);
    server.kill();
    for point in ["backup.store:kill:3", "backup.named:kill"] {
        let mut server = serve(&data, &store, &[], point);
        // It may be gone before it answers.
        let _ = server.client().try_ask("POST", "/admin/backup", "{}");
        assert!(server.has_ended(), "{point} was not reached");
        let (code, text) = run(&["backups", shown(&store)]);
        assert!(code == 0 && text.starts_with("0 backups"), "{text}");
        assert!(
            count(&store, "files") > 1,
            "some were stored before {point}"
        );
    }
    let server = serve(&data, &store, &[], "");
    let (code, text) = backup(&server);
    assert_eq!(code, 0, "{text}");
    let then = vertices(&server, "");
    server.kill();
    let (code, text) = run(&["restore", "--check", shown(&store)]);
    assert!(code == 0 && text.contains("sound: hugegraph"), "{text}");
    let restored = dir.path().join("restored");
    restore(&store, "latest", &restored);
    assert_eq!(vertices(&serve_on(&restored), ""), then);
}

#[test]
fn a_store_is_written_listed_and_checked_offline() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let (data, store) = (dir.path().join("data"), dir.path().join("store"));
    let server = serve_on(&data);
    make_schema(&server);
    // Without a place nothing is known and nothing is done.
    let none = status(&server);
    assert_eq!((&none["to"], &none["backups"]), (&Json::Null, &json!([])));
    let (code, text) = backup(&server);
    assert!(code != 0 && text.contains("backup.to"), "{text}");
    server.kill();
    let address = format!("file://{}", store.display());
    for _ in 0..2 {
        let (code, text) = run(&["backup", &address, "--data-dir", shown(&data)]);
        assert!(code == 0 && text.contains("new: "), "{text}");
    }
    let option = format!("backup.to={}", store.display());
    let (code, listed) = run(&["backups", "--set", &option]);
    assert!(code == 0 && listed.contains("2 backups"), "{listed}");
    let first = listed
        .lines()
        .nth(1)
        .and_then(|line| line.split(' ').next());
    let first = first.expect("the older backup");
    // The file with the wrong content is named, then the one that is missing.
    let (code, text) = run(&["restore", "--check", &address, "--at", first]);
    assert_eq!(code, 0, "{text}");
    let files = std::fs::read_dir(store.join("files")).expect("a folder");
    let files = files.map(|entry| entry.expect("an entry").path());
    let file = files.max_by_key(|path| std::fs::metadata(path).expect("a file").len());
    let file = file.expect("a file");
    let content = std::fs::read(&file).expect("read");
    std::fs::write(&file, vec![0; content.len()]).expect("written");
    let digits = file.file_name().expect("a name").to_string_lossy();
    let names_it = |text: &str| text.contains(&*digits) && text.contains("graphs/hugegraph/");
    let of_either = ["latest", first].map(|at| run(&["restore", "--check", &address, "--at", at]));
    let found = |(code, text): &(i32, String)| *code == 1 && names_it(text);
    assert!(of_either.iter().any(found), "{of_either:?}");
    std::fs::remove_file(&file).expect("removed");
    let of_either = ["latest", first].map(|at| run(&["restore", "--check", &address, "--at", at]));
    assert!(of_either.iter().any(found), "{of_either:?}");
    for (arguments, says) in [
        (
            &["restore", &address, "--at", "yesterday"][..],
            "no backup 'yesterday'",
        ),
        (&["backups", "s3://Bad_Name/x"], "bucket"),
        (&["backups", "gs://bucket"], "s3://bucket/prefix"),
        (&["backups"], "backup.to"),
        (&["backups", "--set", "backup.every=1d"], "backup.to"),
        (&["backups", "--set", "backup.keep_for=soon"], "30d"),
        (
            &[
                "backups",
                "--set",
                "backup.endpoint=http://user:secret@host",
            ],
            "http://host:port",
        ),
    ] {
        let (code, text) = run(arguments);
        assert!(code != 0 && text.contains(says), "{arguments:?}: {text}");
        assert!(!text.contains("secret"), "{text}");
    }
}
