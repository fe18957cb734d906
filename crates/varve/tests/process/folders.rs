//! Data folders: what a command makes in them, what it removes from them, and what it leaves as it is.

use std::path::Path;

use crate::server::{Server, run, shown};

/// All files and folders below a folder, sorted.
fn inside(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(inside(&path));
        }
        found.push(shown(&path).to_owned());
    }
    found.sort();
    found
}

#[test]
fn a_graph_named_like_a_file_of_the_engine_is_refused_and_costs_nothing() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let data = dir.path().join("data");
    let server = Server::on(&data);
    let (status, answer) = server.ask("POST", "/graphs/LOCK", "{}");
    assert_eq!(status, 400, "{answer}");
    assert!(server.terminate().0.success());
    assert!(data.join("graphs/LOCK").is_file());
    let server = Server::on(&data);
    server.must("GET", "/graphs/hugegraph/schema", "");
    assert!(server.terminate().0.success());
    let (code, text) = run(&["verify", "--data-dir", shown(&data)]);
    assert_eq!(code, 0, "{text}");
}

#[test]
fn a_leftover_in_the_trash_that_is_no_space_prevents_no_start() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let data = dir.path().join("data");
    assert!(Server::on(&data).terminate().0.success());
    // What builds left that took the engine's lock file for a space.
    let left = data.join("graphs/.trash-LOCK-0");
    std::fs::write(&left, "").expect("written");
    let server = Server::on(&data);
    server.must("GET", "/graphs/hugegraph/schema", "");
    drop(server);
    let (code, text) = run(&["verify", "--data-dir", shown(&data)]);
    assert_eq!(code, 0, "{text}");
    assert!(left.exists());
}

#[test]
fn commands_without_a_server_create_nothing_where_there_is_no_data() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let (missing, other) = (dir.path().join("missing"), dir.path().join("other"));
    std::fs::create_dir_all(other.join("graphs/holiday")).expect("created");
    std::fs::write(other.join("graphs/holiday/today.log"), "x").expect("written");
    let before = inside(dir.path());
    let target = dir.path().join("target");
    for data in [&missing, &other] {
        for command in ["verify", "backup", "dump"] {
            let mut arguments = vec![command, "--data-dir", shown(data)];
            if command != "verify" {
                arguments.push(shown(&target));
            }
            let (code, text) = run(&arguments);
            assert_eq!(code, 2, "{arguments:?}: {text}");
            assert!(text.contains("there is no data in"), "{text}");
            assert_eq!(inside(dir.path()), before, "{arguments:?}");
        }
    }
    for check in [true, false] {
        let mut arguments = vec!["restore", shown(&missing), "--data-dir", shown(&target)];
        arguments.extend(check.then_some("--check"));
        let (code, text) = run(&arguments);
        assert_eq!(code, 2, "{text}");
        assert_eq!(inside(dir.path()), before, "{arguments:?}");
    }
}

#[test]
fn a_backup_has_the_graphs_that_are_stored_and_no_others() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let (data, target) = (dir.path().join("data"), dir.path().join("target"));
    let server = Server::on(&data);
    server.must("POST", "/graphs/other", "{}");
    let drop = "/graphs/hugegraph?confirm_message=I%27m+sure+to+drop+the+graph";
    server.must("DELETE", drop, "");
    assert!(server.terminate().0.success());
    let (code, text) = run(&["backup", shown(&target), "--data-dir", shown(&data)]);
    assert!(code == 0 && text.contains("backed up other:"), "{text}");
    assert!(!data.join("graphs/hugegraph").exists());
}

#[test]
fn a_restore_that_was_cut_short_is_not_taken_for_a_data_folder() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let inside = |name: &str| dir.path().join(name);
    let (data, backup, restored) = (inside("data"), inside("backup"), inside("restored"));
    let server = Server::on(&data);
    server.must("POST", "/graphs/second", "{}");
    assert!(server.terminate().0.success());
    let (code, text) = run(&["backup", shown(&backup), "--data-dir", shown(&data)]);
    assert_eq!(code, 0, "{text}");
    // The first graph is restored whole, the second is not.
    std::fs::write(backup.join("graphs/second/CURRENT"), "no manifest").expect("written");
    let restore = ["restore", shown(&backup), "--data-dir", shown(&restored)];
    let (code, text) = run(&restore);
    assert!(code == 1 && text.contains("damaged"), "{text}");
    assert!(restored.join("graphs/hugegraph/CURRENT").exists());
    for command in ["verify", "serve"] {
        let (code, text) = run(&[command, "--data-dir", shown(&restored)]);
        assert!(code == 1 && text.contains("a restore was cut short"), "{text}");
    }
    let (code, text) = run(&restore);
    assert!(code == 1 && text.contains("a part of a backup"), "{text}");
}

#[test]
fn a_damaged_note_of_the_manifests_length_prevents_no_start() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let data = dir.path().join("data");
    assert!(Server::on(&data).terminate().0.success());
    let note = data.join("graphs/hugegraph/VARVE-MANIFEST-LENGTH");
    std::fs::write(&note, [0xff; 24]).expect("written");
    let server = Server::on(&data);
    server.must("GET", "/graphs/hugegraph/schema", "");
}
