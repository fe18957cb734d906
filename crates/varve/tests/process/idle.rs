//! What graphs cost that nobody uses.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::server::{ServerProcess, serve_on};

const GRAPHS: usize = 20;
/// How long threads may take to end, under whatever load the machine has.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The names of a server's threads.
fn threads(server: &ServerProcess) -> Vec<String> {
    let tasks = PathBuf::from(format!("/proc/{}/task", server.id()));
    let entries = std::fs::read_dir(tasks).expect("a running process");
    let name = |entry: std::io::Result<std::fs::DirEntry>| {
        std::fs::read_to_string(entry.ok()?.path().join("comm")).ok()
    };
    entries.filter_map(name).collect()
}

#[test]
fn idle_graphs_have_no_threads() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let server = serve_on(dir.path());
    let key = r#"{"name":"n","data_type":"INT"}"#;
    let write = |number: usize, value: usize| {
        let variable = format!("/graphs/g{number}/variables/v");
        server.must("PUT", &variable, &format!("{{\"data\":{value}}}"));
    };
    server.must("POST", "/graphs/first", "{}");
    let before = threads(&server).len();
    for number in 0..GRAPHS {
        server.must("POST", &format!("/graphs/g{number}"), "{}");
        let keys = format!("/graphs/g{number}/schema/propertykeys");
        server.must("POST", &keys, key);
        // A schema change that runs as a task.
        server.must("DELETE", &format!("{keys}/n"), "");
        write(number, 1);
    }
    let begun = Instant::now();
    let of_graphs = loop {
        let of_graph = |name: &String| {
            ["varve-commit", "varve-flush", "varve-task", "varve-learn"]
                .iter()
                .any(|start| name.starts_with(start))
        };
        let of_graphs = threads(&server)
            .iter()
            .filter(|name| of_graph(name))
            .count();
        if of_graphs == 0 || begun.elapsed() > TIMEOUT {
            break of_graphs;
        }
        std::thread::sleep(Duration::from_millis(200));
    };
    assert_eq!(of_graphs, 0);
    // Nor others of another name.
    let after = threads(&server).len();
    assert!(after < before + GRAPHS, "{before} threads, then {after}");
    write(3, 2);
    let answer = server.must("GET", "/graphs/g3/variables/v", "");
    assert_eq!(answer["v"], 2, "{answer}");
    assert!(server.terminate().0.success());
}

/// Resident memory of a server in KiB.
fn resident(server: &ServerProcess) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.id()));
    let status = status.expect("a running process");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.expect("a size").parse().expect("a number")
}

/// The graphs have one variable each and no files.
#[test]
fn an_empty_graph_takes_less_than_a_mebibyte() {
    const MEASURED: u64 = 60;
    let dir = tempfile::tempdir().expect("a temporary folder");
    let server = serve_on(dir.path());
    let create = |name: &str| {
        server.must("POST", &format!("/graphs/{name}"), "{}");
        let variable = format!("/graphs/{name}/variables/v");
        server.must("PUT", &variable, r#"{"data":1}"#);
    };
    // What the first graphs take is the server's: threads, buffers, the cache of blocks.
    for number in 0..10 {
        create(&format!("first{number}"));
    }
    let before = resident(&server);
    for number in 0..MEASURED {
        create(&format!("g{number}"));
    }
    let each = resident(&server).saturating_sub(before) / MEASURED;
    assert!(each < 1024, "{each} KiB");
    assert!(server.terminate().0.success());
}
