//! What `varve load` checks before it sends, what it goes on with, and what a failed dump leaves.

use std::path::Path;

use crate::server::{Server, run, shown, write};

const SCHEMA: &str = r#"{
    "propertykeys": [
        {"name": "name", "data_type": "TEXT"},
        {"name": "since", "data_type": "DATE"}],
    "vertexlabels": [
        {"name": "person", "id_strategy": "CUSTOMIZE_STRING", "properties": ["name"], "nullable_keys": ["name"]}],
    "edgelabels": [
        {"name": "knows", "source_label": "person", "target_label": "person",
         "properties": ["since"], "nullable_keys": ["since"]}]
}"#;

const PEOPLE: &str = "[[vertex]]\nfile = \"people.csv\"\nlabel = \"person\"\nid = \"id\"\n";
const KNOWS: &str =
    "[[edge]]\nfile = \"knows.csv\"\nlabel = \"knows\"\nsource = \"a\"\ntarget = \"b\"\n";

fn files(folder: &Path) {
    write(folder, "schema.json", SCHEMA);
    write(folder, "people.csv", "id,name\nann,Ann\nbob,Bob\n");
    write(folder, "knows.csv", "a,b,since\nann,bob,2020-01-01\n");
}

fn load(server: &Server, folder: &Path, mapping: &str, more: &[&str]) -> (i32, String) {
    let map = write(folder, "map.toml", mapping);
    let mut arguments = vec!["load", "--server", &server.url];
    arguments.extend(more);
    arguments.push(shown(&map));
    run(&arguments)
}

fn schema(server: &Server, folder: &Path) {
    let (map, schema) = (
        write(folder, "none.toml", PEOPLE),
        folder.join("schema.json"),
    );
    let (code, text) = run(&[
        "load",
        "--server",
        &server.url,
        "--schema",
        shown(&schema),
        shown(&map),
    ]);
    assert_eq!(code, 0, "{text}");
}

fn edge_count(server: &Server) -> Option<usize> {
    let edges = server.must("GET", "/graphs/hugegraph/graph/edges", "");
    edges["edges"].as_array().map(Vec::len)
}

#[test]
fn a_mapping_is_checked_before_a_row_is_sent() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    files(dir.path());
    write(
        dir.path(),
        "rows.jsonl",
        "{\"a\":\"ann\",\"b\":\"bob\",\"since\":\"2020-01-01\"}\n",
    );
    write(dir.path(), "twice.csv", "a,b,a\nann,bob,ann\n");
    write(dir.path(), "more.csv", "a,b,sinse\nann,bob,2020-01-01\n");
    let server = Server::in_memory();
    schema(&server, dir.path());
    let jsonl = KNOWS.replace("knows.csv", "rows.jsonl");
    for (mapping, message) in [
        (
            format!("{KNOWS}valid_from = \"sinse\"\n"),
            "knows.csv: not in the header (did you mean 'since'?)",
        ),
        (
            format!("{jsonl}valid_to = \"sinse\"\n"),
            "rows.jsonl: not in any row (did you mean 'since'?)",
        ),
        (
            format!("{KNOWS}rename = {{ since = \"sinc\" }}\n"),
            "'sinc' is not a property of label 'knows' (did you mean 'since'?)",
        ),
        (
            KNOWS.replace("knows.csv", "more.csv"),
            "'sinse' is not a property of label 'knows' (did you mean 'since'?)",
        ),
        (KNOWS.replace("knows.csv", "twice.csv"), "column 'a' of "),
        (
            KNOWS.replace("\"knows\"", "\"knws\""),
            "there is no edge label 'knws' (did you mean 'knows'?)",
        ),
    ] {
        let (code, text) = load(&server, dir.path(), &mapping, &[]);
        assert!(code == 1 && text.contains(message), "{code} {text}");
    }
    assert_eq!(edge_count(&server), Some(0));
    assert!(!dir.path().join("map.toml.journal").exists());
    assert!(!dir.path().join("map.toml.bad").exists());
}

#[test]
fn refused_rows_are_tried_again_and_the_others_are_not() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    files(dir.path());
    write(
        dir.path(),
        "knows.csv",
        "a,b,since\nann,bob,\nann,cid,\nbob,ann,\n",
    );
    let server = Server::in_memory();
    schema(&server, dir.path());
    let (code, text) = load(&server, dir.path(), KNOWS, &[]);
    assert!(
        code == 3 && text.contains("2 elements stored, 1 rows refused"),
        "{code} {text}"
    );
    let bad = std::fs::read_to_string(dir.path().join("map.toml.bad")).expect("a report");
    assert!(
        bad.lines().count() == 1 && bad.contains("knows.csv:3: the vertex 'cid' does not exist"),
        "{bad}"
    );
    let cid = r#"{"label":"person","id":"cid","properties":{}}"#;
    server.must("POST", "/graphs/hugegraph/graph/vertices", cid);
    let (code, text) = load(&server, dir.path(), KNOWS, &[]);
    assert!(
        code == 0 && text.contains("3 elements stored, 0 rows refused"),
        "{code} {text}"
    );
    assert_eq!(edge_count(&server), Some(3));
    let history = server.must(
        "GET",
        "/graphs/hugegraph/graph/edges/Sann%3E1%3E1%3E%3ESbob/history",
        "",
    );
    assert_eq!(history["versions"].as_array().map(Vec::len), Some(1));
    assert!(!dir.path().join("map.toml.bad").exists());
    assert!(!dir.path().join("map.toml.journal").exists());
}

#[test]
fn a_constant_time_holds_for_all_rows() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    files(dir.path());
    let server = Server::in_memory();
    schema(&server, dir.path());
    let people = format!("{PEOPLE}valid_from = 2000-01-01\n");
    let (code, text) = load(&server, dir.path(), &people, &[]);
    assert_eq!(code, 0, "{text}");
    let vertex = "/graphs/hugegraph/graph/vertices/%22ann%22?as_of=";
    server.must("GET", &format!("{vertex}2000-01-02"), "");
    assert_eq!(server.ask("GET", &format!("{vertex}1999-12-31"), "").0, 404);
    let early = format!("{KNOWS}valid_from = 1990-01-01T00:00:00Z\n");
    let (code, text) = load(&server, dir.path(), &early, &["--restart"]);
    assert_eq!(code, 3, "{text}");
    let bad = std::fs::read_to_string(dir.path().join("map.toml.bad")).expect("a report");
    assert!(bad.contains("'ann' does not exist then"), "{bad}");
}

#[test]
fn a_failed_dump_leaves_no_file() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let server = Server::in_memory();
    let file = dir.path().join("dump.jsonl");
    let (code, text) = run(&[
        "dump",
        "--server",
        &server.url,
        "--graph",
        "nosuch",
        shown(&file),
    ]);
    assert_eq!(code, 1, "{text}");
    let left = std::fs::read_dir(dir.path()).expect("a folder").count();
    assert_eq!(left, 0, "a failed dump removes what it wrote");
    std::fs::write(&file, "mine").expect("written");
    let (code, text) = run(&["dump", "--server", &server.url, shown(&file)]);
    assert_eq!(code, 1, "{text}");
    assert_eq!(std::fs::read_to_string(&file).expect("the file"), "mine");
}
