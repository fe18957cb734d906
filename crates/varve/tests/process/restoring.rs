//! `load` of a dump leaves the graph in the mode in which it was, however the load ends.

use std::path::Path;

use serde_json::json;

use crate::server::{ServerProcess, run, serve_in_memory, shown, write};

const MODE: &str = "/graphs/hugegraph/mode";
const HEAD: &str = r#"{"varve_dump":1}"#;
const KEY: &str =
    r#"{"propertykeys":{"id":1,"name":"n","data_type":"INT","cardinality":"SINGLE"}}"#;
const LABEL: &str = r#"{"vertexlabels":{"id":1,"name":"thing","id_strategy":"CUSTOMIZE_STRING","properties":["n"]}}"#;
const VERTEX: &str = r#"{"vertex":{"id":"a","label":"thing","properties":{"n":1}}}"#;
/// Its property key does not exist.
const BAD_LABEL: &str = r#"{"vertexlabels":{"id":2,"name":"other","id_strategy":"CUSTOMIZE_STRING","properties":["none"]}}"#;
/// A value of the wrong type.
const BAD_VERTEX: &str = r#"{"vertex":{"id":"b","label":"thing","properties":{"n":"text"}}}"#;

/// Loads a dump with these lines; returns the exit code and all that the load printed.
fn load(server: &ServerProcess, folder: &Path, lines: &[&str], more: &[&str]) -> (i32, String) {
    let dump = write(folder, "dump.jsonl", &lines.join("\n"));
    let mut arguments = vec!["load", "--server", &server.url, "--restart", shown(&dump)];
    arguments.extend(more);
    run(&arguments)
}

fn set_mode(server: &ServerProcess, mode: &str) {
    server.must("PUT", MODE, &json!(mode).to_string());
}

#[track_caller]
fn has_mode(server: &ServerProcess, mode: &str) {
    assert_eq!(server.must("GET", MODE, ""), json!({ "mode": mode }));
}

/// A dump, and how its load ends.
struct Case {
    lines: &'static [&'static str],
    options: &'static [&'static str],
    exit: i32,
    said: &'static str,
}

const CASES: &[Case] = &[
    Case {
        lines: &[HEAD, KEY, "{"],
        options: &[],
        exit: 1,
        said: "EOF while parsing",
    },
    Case {
        lines: &[HEAD, KEY, LABEL, BAD_LABEL],
        options: &[],
        exit: 1,
        said: "creating \"other\" of vertexlabels",
    },
    Case {
        lines: &[HEAD, r#"{"propertykeys":1}"#],
        options: &[],
        exit: 1,
        said: "not an object",
    },
    Case {
        lines: &[HEAD, KEY, LABEL, VERTEX, BAD_VERTEX],
        options: &[],
        exit: 3,
        said: "1 rows refused",
    },
    Case {
        lines: &[HEAD, KEY, LABEL, VERTEX, BAD_VERTEX],
        options: &["--max-errors", "0"],
        exit: 1,
        said: "start the same command",
    },
    Case {
        lines: &[HEAD, KEY, LABEL, VERTEX],
        options: &[],
        exit: 0,
        said: "1 elements stored",
    },
];

#[test]
fn a_load_sets_the_mode_back_however_it_ends() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    // A graph that is in mode RESTORING before was left so by a load that was killed.
    let modes = [
        ("NONE", "NONE"),
        ("LOADING", "LOADING"),
        ("RESTORING", "NONE"),
    ];
    for case in CASES {
        for (before, after) in modes {
            let server = serve_in_memory();
            set_mode(&server, before);
            let (code, text) = load(&server, dir.path(), case.lines, case.options);
            assert!(
                code == case.exit && text.contains(case.said),
                "{code}: {text}"
            );
            assert!(!text.contains("RESTORING"), "{text}");
            has_mode(&server, after);
        }
    }
}

#[test]
fn a_file_that_is_no_dump_leaves_the_mode_alone() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let server = serve_in_memory();
    set_mode(&server, "MERGING");
    let (code, text) = load(&server, dir.path(), &["{}"], &[]);
    assert!(code == 1 && text.contains("neither a dump"), "{text}");
    has_mode(&server, "MERGING");
}
