//! `load`, `dump`, `config` and, with a data folder, `backup`, `restore` and `verify`.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;

use crate::server::{ServerProcess, run, serve_in_memory, shown, write};

const SCHEMA: &str = r#"{
    "propertykeys": [
        {"name": "name", "data_type": "TEXT"},
        {"name": "age", "data_type": "INT"},
        {"name": "since", "data_type": "DATE"},
        {"name": "tags", "data_type": "TEXT", "cardinality": "SET"}],
    "vertexlabels": [
        {"name": "person", "id_strategy": "PRIMARY_KEY", "primary_keys": ["name"],
         "properties": ["name", "age", "tags"], "nullable_keys": ["age", "tags"]},
        {"name": "ticket", "properties": ["name"]}],
    "edgelabels": [
        {"name": "knows", "source_label": "person", "target_label": "person",
         "properties": ["since"], "nullable_keys": ["since"]}],
    "indexlabels": [
        {"name": "byAge", "base_type": "VERTEX_LABEL", "base_value": "person", "index_type": "RANGE", "fields": ["age"]}]
}"#;

const MAPPING: &str = "\
[[vertex]]\nfile = \"people.csv\"\nlabel = \"person\"\nrename = { Name = \"name\" }\n\
[[edge]]\nfile = \"knows.csv\"\nlabel = \"knows\"\nsource = \"a\"\ntarget = \"b\"\ndate_format = \"day_month_year\"\n";

fn people(folder: &Path, count: usize) {
    let mut text = "Name,age,tags\n".to_owned();
    for number in 0..count {
        text.push_str(&format!("p{number},{},x;y\n", number % 90));
    }
    write(folder, "people.csv", &text);
    write(folder, "knows.csv", "a,b,since\np0,p1,31/12/2020\np1,p2,\n");
    write(folder, "schema.json", SCHEMA);
    write(folder, "map.toml", MAPPING);
}

fn load(server: &ServerProcess, folder: &Path, more: &[&str]) -> (i32, String) {
    let (map, schema) = (folder.join("map.toml"), folder.join("schema.json"));
    let mut arguments = vec!["load", "--server", &server.url, "--schema", shown(&schema)];
    arguments.extend(more);
    arguments.push(shown(&map));
    run(&arguments)
}

#[test]
fn files_are_loaded_and_found() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    people(dir.path(), 1234);
    let server = serve_in_memory();
    let (code, text) = load(&server, dir.path(), &["--batch", "100"]);
    assert_eq!(code, 0, "{text}");
    assert!(
        text.contains("1236 elements stored, 0 rows refused"),
        "{text}"
    );
    let vertex = server.must("GET", "/graphs/hugegraph/graph/vertices/%221:p7%22", "");
    assert_eq!(vertex["properties"]["age"], 7);
    assert_eq!(
        vertex["properties"]["tags"].as_array().map(Vec::len),
        Some(2)
    );
    let edges = server.must(
        "GET",
        "/graphs/hugegraph/graph/edges?vertex_id=%221:p0%22",
        "",
    );
    assert_eq!(edges["edges"][0]["inV"], "1:p1");
    assert_eq!(
        edges["edges"][0]["properties"]["since"],
        "2020-12-31 00:00:00.000"
    );
    assert!(
        !dir.path().join("map.toml.journal").exists(),
        "a complete load leaves no journal"
    );
}

#[test]
fn refused_rows_are_listed_and_the_rest_is_loaded() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    people(dir.path(), 0);
    write(
        dir.path(),
        "people.csv",
        "Name,age,tags\nann,1,\nbob,many,\ncid,3\n,4,\ndan,99999999999,\neve,5,\n",
    );
    write(
        dir.path(),
        "knows.csv",
        "a,b,since\nann,eve,\nann,nobody,\neve,ann,31.2.2020\n",
    );
    let server = serve_in_memory();
    let (code, text) = load(&server, dir.path(), &[]);
    assert_eq!(code, 3, "{text}");
    assert!(text.contains("3 elements stored, 6 rows refused"), "{text}");
    let bad = std::fs::read_to_string(dir.path().join("map.toml.bad")).expect("a report");
    for part in [
        "people.csv:3: column 'age': 'many' is not a whole number",
        "people.csv:4: 2 columns, but the header names 3",
        "people.csv:5: ",
        "people.csv:6: ",
        "knows.csv:3: ",
        "knows.csv:4: column 'since': '31.2.2020' is not a date",
    ] {
        assert!(bad.contains(part), "{part} is not in\n{bad}");
    }
    let (code, text) = load(&server, dir.path(), &["--max-errors", "1"]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("more than 1 bad rows"), "{text}");
}

#[test]
fn an_interrupted_load_goes_on() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    people(dir.path(), 1000);
    let mut text = std::fs::read_to_string(dir.path().join("people.csv")).expect("people");
    // The last rows are bad, so that the load ends early with most of the batches noted.
    for number in 0..5 {
        text.push_str(&format!("q{number},x,\n"));
    }
    write(dir.path(), "people.csv", &text);
    let server = serve_in_memory();
    let (code, text) = load(
        &server,
        dir.path(),
        &["--max-errors", "4", "--batch", "50", "--threads", "2"],
    );
    assert_eq!(code, 1, "{text}");
    assert!(dir.path().join("map.toml.journal").exists(), "{text}");
    let (code, text) = load(&server, dir.path(), &["--batch", "50"]);
    assert_eq!(code, 3, "{text}");
    assert!(text.contains("continuing an interrupted load"), "{text}");
    assert!(
        text.contains("1002 elements stored, 5 rows refused"),
        "{text}"
    );
    let history = server.must(
        "GET",
        "/graphs/hugegraph/graph/vertices/%221:p0%22/history",
        "",
    );
    assert_eq!(
        history["versions"].as_array().map(Vec::len),
        Some(1),
        "what was noted is not sent again"
    );
}

#[test]
fn a_dump_is_read_back() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    people(dir.path(), 300);
    let server = serve_in_memory();
    assert_eq!(load(&server, dir.path(), &[]).0, 0);
    // An element with an id of the server's making, an update and a version with an end.
    server.must(
        "POST",
        "/graphs/hugegraph/graph/vertices",
        r#"{"label":"ticket","properties":{"name":"t"}}"#,
    );
    let update = r#"{"label":"person","properties":{"age":77}}"#;
    server.must(
        "PUT",
        "/graphs/hugegraph/graph/vertices/%221:p5%22?action=append",
        update,
    );
    server.must("DELETE", "/graphs/hugegraph/graph/vertices/%221:p6%22", "");
    for (graph, more) in [("plain", None), ("past", Some("--history"))] {
        let file = dir.path().join(graph);
        let mut arguments = vec![
            "dump",
            "--server",
            &server.url,
            "--batch",
            "70",
            shown(&file),
        ];
        arguments.extend(more);
        let (code, text) = run(&arguments);
        assert_eq!(code, 0, "{text}");
        server.must("POST", &format!("/graphs/{graph}"), "{}");
        let (code, text) = run(&[
            "load",
            "--server",
            &server.url,
            "--graph",
            graph,
            shown(&file),
        ]);
        assert_eq!(code, 0, "{text}");
        let again = dir.path().join(format!("{graph}.again"));
        let (code, text) = run(&[
            "dump",
            "--server",
            &server.url,
            "--graph",
            graph,
            shown(&again),
        ]);
        assert_eq!(code, 0, "{text}");
        let first = dir.path().join("plain");
        assert_eq!(elements(&first), elements(&again), "{graph}");
        let age = server.must(
            "GET",
            &format!("/graphs/{graph}/graph/vertices/%221:p5%22"),
            "",
        );
        assert_eq!(age["properties"]["age"], 77);
    }
    let history = server.must("GET", "/graphs/past/graph/vertices/%221:p5%22/history", "");
    assert_eq!(
        history["versions"].as_array().map(Vec::len),
        Some(2),
        "{history}"
    );
    let deleted = server.must("GET", "/graphs/past/graph/vertices/%221:p6%22/history", "");
    let kinds = deleted["versions"].as_array().map(|versions| {
        let kinds = versions.iter().map(|version| version["kind"].as_str());
        kinds.collect::<Vec<_>>()
    });
    assert_eq!(kinds, Some(vec![Some("delete"), Some("put")]), "{deleted}");
    let (code, text) = run(&[
        "load",
        "--server",
        &server.url,
        shown(&dir.path().join("people.csv")),
    ]);
    assert!(code == 1 && text.contains("neither a dump"), "{text}");
}

/// The lines of elements, sorted.
fn elements(dump: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(dump).expect("a dump");
    let is_element =
        |line: &&str| line.starts_with("{\"vertex\":") || line.starts_with("{\"edge\":");
    let mut lines: Vec<String> = text.lines().filter(is_element).map(str::to_owned).collect();
    assert!(lines.len() > 300, "{} elements", lines.len());
    lines.sort();
    lines
}

#[test]
fn options_are_printed_and_checked() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let (code, text) = run(&["config", "--set", "server.port=9999"]);
    assert_eq!(code, 0, "{text}");
    let file = write(dir.path(), "varve.toml", &text);
    let (code, text) = run(&["config", "--config", shown(&file)]);
    assert!(code == 0 && text.contains("\nport = 9999\n"), "{text}");
    let file = write(dir.path(), "bad.toml", "[server]\nprot = 1\n");
    let (code, text) = run(&["serve", "--config", shown(&file)]);
    assert!(
        code == 1 && text.contains("bad.toml:2: unknown field `prot`"),
        "{text}"
    );
    let (code, text) = run(&["serve", "--durability", "often", "--engine", "memory"]);
    assert!(code == 1 && text.contains("durability must be"), "{text}");
}

#[cfg(feature = "engines")]
#[test]
fn a_backup_of_a_running_server_is_restored() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    people(dir.path(), 500);
    let data = dir.path().join("data");
    let server = crate::server::serve_on(&data);
    assert_eq!(load(&server, dir.path(), &[]).0, 0);
    let (code, text) = run(&["backup", "--server", &server.url, "monday"]);
    assert_eq!(code, 0, "{text}");
    // What comes after the backup is not in it.
    server.must("DELETE", "/graphs/hugegraph/graph/vertices/%221:p1%22", "");
    for bad in ["../out", ".hidden", "monday"] {
        let (code, text) = run(&["backup", "--server", &server.url, bad]);
        assert_eq!(code, 1, "{bad}: {text}");
    }
    let (code, text) = run(&["verify", "--server", &server.url]);
    assert!(
        code == 0 && text.contains("499 vertices, 0 edges") && text.contains("0 problems"),
        "{text}"
    );
    let (code, text) = run(&["verify", "--data-dir", shown(&data)]);
    assert!(code == 1 && text.contains("another process"), "{text}");
    assert!(server.terminate().0.success());

    let backup = data.join("backups/monday");
    let (code, text) = run(&["restore", "--check", shown(&backup)]);
    assert_eq!(code, 0, "{text}");
    let (code, text) = run(&["restore", shown(&backup), "--data-dir", shown(&data)]);
    assert!(code == 1 && text.contains("not empty"), "{text}");
    let restored = dir.path().join("restored");
    let (code, text) = run(&["restore", shown(&backup), "--data-dir", shown(&restored)]);
    assert_eq!(code, 0, "{text}");
    let (code, text) = run(&["verify", "--data-dir", shown(&restored)]);
    assert!(
        code == 0 && text.contains("500 vertices, 2 edges") && text.contains("0 problems"),
        "{text}"
    );
    let offline = dir.path().join("offline.jsonl");
    let (code, text) = run(&["dump", shown(&offline), "--data-dir", shown(&restored)]);
    assert!(code == 0 && text.contains("502 elements"), "{text}");
    let server = crate::server::serve_on(&restored);
    server.must("GET", "/graphs/hugegraph/graph/vertices/%221:p1%22", "");
    drop(server);

    // Offline, of a data folder that no server uses.
    let second = dir.path().join("tuesday");
    let (code, text) = run(&["backup", shown(&second), "--data-dir", shown(&restored)]);
    assert_eq!(code, 0, "{text}");
    flip_a_byte(&second);
    let (code, text) = run(&["restore", "--check", shown(&second)]);
    assert!(code == 1 && text.contains("damaged"), "{text}");
}

#[cfg(feature = "engines")]
fn flip_a_byte(backup: &Path) {
    let folder = backup.join("graphs/hugegraph");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    let file = files
        .iter()
        .find(|path| path.metadata().is_ok_and(|about| about.len() > 0))
        .expect("a file");
    let mut bytes = std::fs::read(file).expect("read");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(file, bytes).expect("written");
}

/// A server whose verification has found something; it ends with its process.
fn with_problems() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let (mut head, mut part) = (Vec::new(), [0; 1024]);
            // A body that is sent along has a brace at its end.
            let end = |head: &[u8]| match head.starts_with(b"GET") {
                true => head.ends_with(b"\r\n\r\n"),
                false => head.ends_with(b"}"),
            };
            while !end(&head) {
                let length = stream.read(&mut part).expect("a request");
                if length == 0 {
                    break;
                }
                head.extend_from_slice(&part[..length]);
            }
            let body = match head.starts_with(b"POST") {
                true => r#"{"job":1}"#,
                false => {
                    r#"{"status":"done","result":{"problem_count":1,"problems":["a row too many"]}}"#
                }
            };
            let length = body.len();
            let answer = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
            );
            stream.write_all(answer.as_bytes()).expect("an answer");
        }
    });
    format!("http://{address}")
}

#[test]
fn problems_have_another_exit_code_than_a_wrong_command_line() {
    let (code, text) = run(&["verify", "--server", &with_problems()]);
    assert!(
        code == 3 && text.contains("a row too many"),
        "{code} {text}"
    );
    let (code, text) = run(&["verify", "--no-such-option"]);
    assert_eq!(code, 2, "{text}");
}
