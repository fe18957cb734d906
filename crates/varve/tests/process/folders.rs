//! Data folders: what a command makes in them, what it removes from them, and what it leaves as it
//! is.

use std::path::Path;

use crate::server::{run, serve_on, shown};

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
    let server = serve_on(&data);
    let (status, answer) = server.ask("POST", "/graphs/LOCK", "{}");
    assert_eq!(status, 400, "{answer}");
    assert!(server.terminate().0.success());
    assert!(data.join("graphs/LOCK").is_file());
    let server = serve_on(&data);
    server.must("GET", "/graphs/hugegraph/schema", "");
    assert!(server.terminate().0.success());
    let (code, text) = run(&["verify", "--data-dir", shown(&data)]);
    assert_eq!(code, 0, "{text}");
}

#[test]
fn a_leftover_in_the_trash_that_is_no_space_prevents_no_start() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let data = dir.path().join("data");
    assert!(serve_on(&data).terminate().0.success());
    // What builds left that took the engine's lock file for a space.
    let left = data.join("graphs/.trash-LOCK-0");
    std::fs::write(&left, "").expect("written");
    let server = serve_on(&data);
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
        for command in ["verify", "recover-log", "backup", "dump"] {
            let mut arguments = vec![command, "--data-dir", shown(data)];
            if ["backup", "dump"].contains(&command) {
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
    let server = serve_on(&data);
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
    let server = serve_on(&data);
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
        assert!(
            code == 1 && text.contains("a restore was cut short"),
            "{text}"
        );
    }
    let (code, text) = run(&restore);
    assert!(code == 1 && text.contains("a part of a backup"), "{text}");
}

#[test]
fn a_damaged_note_of_the_manifests_length_prevents_no_start() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let data = dir.path().join("data");
    assert!(serve_on(&data).terminate().0.success());
    let note = data.join("graphs/hugegraph/VARVE-MANIFEST-LENGTH");
    std::fs::write(&note, [0xff; 24]).expect("written");
    let server = serve_on(&data);
    server.must("GET", "/graphs/hugegraph/schema", "");
}

/// A data folder with the graphs `hugegraph` and `bad`, of which `bad` has lost a file that nothing
/// works without.
fn with_a_damaged_graph(data: &Path) {
    let server = serve_on(data);
    server.must("POST", "/graphs/bad", "{}");
    assert!(server.terminate().0.success());
    std::fs::remove_file(data.join("graphs/bad/CURRENT")).expect("removed");
}

#[test]
fn a_damaged_graph_does_not_stop_the_others() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let data = dir.path().join("data");
    with_a_damaged_graph(&data);
    let server = serve_on(&data);
    let key = r#"{"name":"n","data_type":"INT"}"#;
    server.must("POST", "/graphs/hugegraph/schema/propertykeys", key);
    for (method, path, body) in [
        ("GET", "/graphs/bad/schema", ""),
        ("POST", "/graphs/bad/schema/propertykeys", key),
        ("POST", "/graphs/bad", "{}"),
    ] {
        let (status, answer) = server.ask(method, path, body);
        let message = answer["message"].as_str().unwrap_or_default();
        assert!(
            status == 500 && message.contains("'bad'") && message.contains("VRV-STORAGE"),
            "{method} {path}: {status} {answer}"
        );
    }
    let health = server.must("GET", "/health", "");
    assert_eq!(health["status"], "DEGRADED", "{health}");
    assert!(health["graphs"]["bad"].is_string(), "{health}");
    let cluster = server.must("GET", "/cluster", "");
    assert_eq!(cluster["graphs"][0]["state"], "failed", "{cluster}");
    let metrics = server.must("GET", "/metrics?type=prometheus", "");
    let metrics = metrics.as_str().unwrap_or_default();
    for line in [
        "varve_graph_open{graph=\"bad\"} 0",
        "varve_graph_open{graph=\"hugegraph\"} 1",
    ] {
        assert!(metrics.contains(line), "{metrics}");
    }
    let (code, text) = run(&["backup", "--server", &server.url, "monday"]);
    assert!(
        code == 3 && text.contains("\"left_out\":[\"bad\"]"),
        "{text}"
    );
    assert!(server.terminate().0.success());
    let (code, text) = run(&["verify", "--data-dir", shown(&data)]);
    assert!(
        code == 3
            && text.contains("bad: it cannot be opened")
            && text.contains("hugegraph: 0 vertices"),
        "{text}"
    );
    let target = dir.path().join("target");
    let (code, text) = run(&["backup", shown(&target), "--data-dir", shown(&data)]);
    assert!(code == 3 && text.contains("left out bad:"), "{text}");
    assert!(target.join("graphs/hugegraph").exists() && !target.join("graphs/bad").exists());
}

#[test]
fn a_damaged_graph_can_be_dropped() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let data = dir.path().join("data");
    with_a_damaged_graph(&data);
    let server = serve_on(&data);
    let drop = "/graphs/bad?confirm_message=I%27m+sure+to+drop+the+graph";
    let (status, answer) = server.ask("DELETE", drop, "");
    assert_eq!(status, 204, "{answer}");
    assert!(!data.join("graphs/bad").exists());
    assert_eq!(server.must("GET", "/health", "")["status"], "UP");
    server.must("POST", "/graphs/bad", "{}");
    server.must("GET", "/graphs/bad/schema", "");
}

#[test]
fn a_server_none_of_whose_graphs_can_be_opened_does_not_start() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let data = dir.path().join("data");
    with_a_damaged_graph(&data);
    std::fs::remove_file(data.join("graphs/hugegraph/CURRENT")).expect("removed");
    let (code, text) = run(&[
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--data-dir",
        shown(&data),
    ]);
    assert!(
        code == 1 && text.contains("graph 'bad' cannot be opened"),
        "{text}"
    );
}

/// Text that hardly compresses.
fn noise(seed: u64, length: usize) -> String {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(b'a' + (state % 26) as u8)
    };
    (0..length).map(|_| next()).collect()
}

/// A data folder with `count` vertices of a kilobyte, all in sorted files.
fn with_vertices(data: &Path, count: u64) {
    let server = serve_on(data);
    let graph = "/graphs/hugegraph";
    let key = r#"{"name":"text","data_type":"TEXT"}"#;
    server.must("POST", &format!("{graph}/schema/propertykeys"), key);
    let label = r#"{"name":"page","id_strategy":"CUSTOMIZE_STRING","properties":["text"]}"#;
    server.must("POST", &format!("{graph}/schema/vertexlabels"), label);
    let vertex = |n: u64| {
        let text = noise(n, 1_000);
        format!(r#"{{"id":"v{n}","label":"page","properties":{{"text":"{text}"}}}}"#)
    };
    let numbers: Vec<u64> = (0..count).collect();
    for batch in numbers.chunks(500) {
        let vertices: Vec<String> = batch.iter().copied().map(vertex).collect();
        let body = format!("[{}]", vertices.join(","));
        server.must("POST", &format!("{graph}/graph/vertices/batch"), &body);
    }
    server.must("PUT", &format!("{graph}/compact"), "");
    assert!(server.terminate().0.success());
}

#[test]
fn verify_goes_on_behind_what_cannot_be_read_and_says_how_far_it_goes() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let data = dir.path().join("data");
    with_vertices(&data, 4_000);
    let (code, text) = run(&["verify", "--data-dir", shown(&data)]);
    assert!(code == 0 && text.contains("4000 vertices"), "{text}");
    let files = inside(&data.join("graphs/hugegraph")).into_iter();
    let of_vertices = files
        .filter(|file| file.ends_with(".sst"))
        .max_by_key(|file| std::fs::metadata(file).expect("a file").len())
        .expect("a sorted file");
    let mut bytes = std::fs::read(&of_vertices).expect("read");
    for part in [1, 3] {
        let at = bytes.len() * part / 4;
        bytes[at] ^= 1;
    }
    std::fs::write(&of_vertices, bytes).expect("written");
    let (code, text) = run(&["verify", "--data-dir", shown(&data)]);
    assert_eq!(code, 3, "{text}");
    let extents = text.lines().filter(|line| {
        line.starts_with("hugegraph: vertex: cannot be read from after ")
            && line.contains(" to before ")
    });
    assert_eq!(extents.count(), 2, "{text}");
    let counted = text.lines().find_map(|line| {
        let line = line.strip_prefix("hugegraph: ")?;
        line.split_once(" vertices")?.0.parse::<u64>().ok()
    });
    // Each lost block has some vertices, and nothing else is lost.
    assert!(
        counted.is_some_and(|count| (3_000..4_000).contains(&count)),
        "{text}"
    );
}
