//! What `varve load` checks before it sends, what it goes on with, and what a failed dump leaves.

use std::path::Path;

use crate::server::{ServerProcess, VARVE, run, serve_in_memory, shown, write};

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

fn load(server: &ServerProcess, folder: &Path, mapping: &str, more: &[&str]) -> (i32, String) {
    let map = write(folder, "map.toml", mapping);
    let mut arguments = vec!["load", "--server", &server.url];
    arguments.extend(more);
    arguments.push(shown(&map));
    run(&arguments)
}

fn schema(server: &ServerProcess, folder: &Path) {
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

fn edge_count(server: &ServerProcess) -> Option<usize> {
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
    write(dir.path(), "empty.csv", "");
    write(dir.path(), "more.csv", "a,b,sinse\nann,bob,2020-01-01\n");
    let server = serve_in_memory();
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
        (KNOWS.replace("knows.csv", "twice.csv"), "column 'a_2' of "),
        (
            format!("{KNOWS}rename = {{ a = \"since\" }}\n"),
            "columns 'a' and 'since' of ",
        ),
        (
            KNOWS.replace("knows.csv", "empty.csv"),
            "empty.csv: it is empty, without a header",
        ),
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
    let server = serve_in_memory();
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
    let server = serve_in_memory();
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

/// Runs the binary in a folder; returns its exit code and all it wrote.
fn run_in(folder: &Path, arguments: &[&str]) -> (i32, String) {
    let output = std::process::Command::new(VARVE)
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the binary runs");
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    (output.status.code().unwrap_or(-1), text)
}

#[test]
fn the_documented_example_runs() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operating.md");
    let page = std::fs::read_to_string(page).expect("the page");
    let (_, part) = page.split_once("\n## Load and dump\n").expect("the part");
    let (part, _) = part.split_once("\n## ").expect("its end");
    let dir = tempfile::tempdir().expect("a temporary folder");
    // A block whose line before ends in a name in quotes is that file.
    let mut commands = Vec::new();
    let mut blocks = part.split("\n```");
    let mut before = blocks.next().expect("text");
    while let (Some(block), Some(after)) = (blocks.next(), blocks.next()) {
        let (kind, text) = block.split_once('\n').expect("a block has lines");
        let name = before
            .trim_end()
            .strip_suffix("`:")
            .and_then(|text| text.rsplit('`').next());
        if let Some(name) = name {
            write(dir.path(), name, &format!("{text}\n"));
        }
        if kind == "sh" {
            commands.extend(text.lines());
        }
        before = after;
    }
    assert_eq!(commands.len(), 2, "{commands:?}");
    let server = serve_in_memory();
    for (command, said) in commands
        .iter()
        .zip(["4 elements would be sent", "4 elements stored"])
    {
        let mut arguments: Vec<&str> = command.split(' ').skip(1).collect();
        arguments.extend(["--server", &server.url]);
        let (code, text) = run_in(dir.path(), &arguments);
        assert!(code == 0 && text.contains(said), "{command}: {text}");
    }
    let ann = server.must("GET", "/graphs/hugegraph/graph/vertices/%22p1%22", "");
    assert_eq!(ann["properties"]["name"], "Ann");
    assert_eq!(ann["properties"]["tags"].as_array().map(Vec::len), Some(2));
    let then = "/graphs/hugegraph/graph/edges?as_of=2019-12-01";
    let edges = server.must("GET", then, "");
    assert_eq!(edges["edges"].as_array().map(Vec::len), Some(1), "{edges}");
}

#[test]
fn a_mapping_and_a_schema_are_inferred_that_load_the_files() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    write(
        dir.path(),
        "person.csv",
        "code,name,age,born,height\np1,Ann,50,1970-01-02,1.7\np2,Bob,,,\n",
    );
    write(
        dir.path(),
        "city.jsonl",
        "{\"id\":7,\"name\":\"Ulm\",\"tags\":[\"a\",\"b\"],\"box\":{\"x\":1}}\n",
    );
    write(
        dir.path(),
        "lives.csv",
        "source_id,target_id,valid_from,rent\np1,7,2019-01-01,5000000000\np2,7,,1\n",
    );
    let files = ["load", "--infer", "person.csv", "city.jsonl", "lives.csv"];
    let (code, text) = run_in(dir.path(), &files);
    assert_eq!(code, 0, "{text}");
    let server = serve_in_memory();
    let arguments = ["load", "mapping.toml", "--server", &server.url];
    let (code, text) = run_in(dir.path(), &arguments);
    assert!(
        code == 0 && text.contains("5 elements stored, 0 rows refused"),
        "{text}"
    );
    let ann = server.must("GET", "/graphs/hugegraph/graph/vertices/%22p1%22", "");
    assert_eq!(ann["properties"]["age"], 50);
    assert_eq!(ann["properties"]["height"], 1.7);
    let ulm = server.must("GET", "/graphs/hugegraph/graph/vertices/7", "");
    assert_eq!(ulm["properties"]["tags"][1], "b");
    let then = "/graphs/hugegraph/graph/edges?as_of=2019-12-01";
    let edges = server.must("GET", then, "");
    assert_eq!(
        edges["edges"][0]["properties"]["rent"], 5_000_000_000_i64,
        "{edges}"
    );
    // What is there is not written over.
    let (code, text) = run_in(dir.path(), &files);
    assert!(code == 0 && text.contains("wrote mapping-2.toml"), "{text}");
}

#[test]
fn an_exported_graph_is_loaded_again() {
    const VALUES: &str = r#"{
        "propertykeys": [
            {"name": "name", "data_type": "TEXT"},
            {"name": "tags", "data_type": "TEXT", "cardinality": "LIST"},
            {"name": "born", "data_type": "DATE"},
            {"name": "=rate", "data_type": "DOUBLE"}],
        "vertexlabels": [
            {"name": "first", "properties": ["name"]},
            {"name": "person", "id_strategy": "PRIMARY_KEY", "primary_keys": ["name"],
             "properties": ["name", "tags", "born", "=rate"], "nullable_keys": ["tags", "born", "=rate"]},
            {"name": "city", "id_strategy": "CUSTOMIZE_NUMBER", "properties": ["name"]}],
        "edgelabels": [
            {"name": "lives", "source_label": "person", "target_label": "city",
             "properties": ["born"], "nullable_keys": ["born"]}]
    }"#;
    let dir = tempfile::tempdir().expect("a temporary folder");
    let schema = write(dir.path(), "schema.json", VALUES);
    let people = "{\"name\":\"a:!b\",\"tags\":[\"x;y\",\"=1\"],\"born\":\"1970-01-02\",\"=rate\":-1.5}\n\
                  {\"name\":\"=1+1\",\"tags\":[]}\n{\"name\":\"'=x\"}\n{\"name\":\"'tis, \\\"so\\\"\"}\n";
    write(dir.path(), "people.jsonl", people);
    write(dir.path(), "city.csv", "id,name\n-7,Ulm\n");
    write(
        dir.path(),
        "lives.csv",
        "who,where,born\na:!b,-7,2020-01-01\n=1+1,-7,\n",
    );
    let mapping = "[[vertex]]\nfile = \"people.jsonl\"\nlabel = \"person\"\n\
                   [[vertex]]\nfile = \"city.csv\"\nlabel = \"city\"\nid = \"id\"\n\
                   [[edge]]\nfile = \"lives.csv\"\nlabel = \"lives\"\nsource = \"who\"\ntarget = \"where\"\n";
    let server = serve_in_memory();
    let (code, text) = load(&server, dir.path(), mapping, &["--schema", shown(&schema)]);
    assert_eq!(code, 0, "{text}");
    for (kind, file) in [("vertices", "v.csv"), ("edges", "e.csv")] {
        let path = format!("/graphs/hugegraph/explore/export?format=csv&elements={kind}");
        let table = server.must("GET", &path, "");
        write(dir.path(), file, table.as_str().expect("a text"));
    }
    // The labels have other numbers there.
    let other = serve_in_memory();
    let schema = VALUES.replace(r#"{"name": "first", "properties": ["name"]},"#, "");
    let schema = write(dir.path(), "schema.json", &schema);
    let mapping = "[[vertex]]\nfile = \"v.csv\"\n[[edge]]\nfile = \"e.csv\"\n";
    let (code, text) = load(&other, dir.path(), mapping, &["--schema", shown(&schema)]);
    assert!(
        code == 0 && text.contains("7 elements stored, 0 rows refused"),
        "{text}"
    );
    let content = |server: &ServerProcess, kind: &str| {
        let all = server.must("GET", &format!("/graphs/hugegraph/graph/{kind}"), "");
        let all = all[kind].as_array().expect("elements").iter();
        let mut texts: Vec<String> = all
            .map(|each| format!("{} {}", each["label"], each["properties"]))
            .collect();
        texts.sort();
        texts
    };
    for kind in ["vertices", "edges"] {
        assert_eq!(content(&other, kind), content(&server, kind));
    }
    let ulm = other.must("GET", "/graphs/hugegraph/graph/vertices/-7", "");
    assert_eq!(ulm["label"], "city");
    let mapping = "[[edge]]\nfile = \"v.csv\"\n";
    let (code, text) = load(&other, dir.path(), mapping, &["--restart"]);
    assert!(code == 1 && text.contains("no column '~from'"), "{text}");
    for format in ["csv", "jsonl", "parquet", "arrow"] {
        let folder = dir.path().join(format);
        let dump = [
            "dump",
            shown(&folder),
            "--format",
            format,
            "--server",
            &server.url,
        ];
        let (code, text) = run(&dump);
        assert_eq!(code, 0, "{format} {text}");
        let third = serve_in_memory();
        let mapping = folder.join("mapping.toml");
        let (code, text) = run(&["load", shown(&mapping), "--server", &third.url]);
        assert!(
            code == 0 && text.contains("7 elements stored, 0 rows refused"),
            "{format} {text}"
        );
        for kind in ["vertices", "edges"] {
            assert_eq!(content(&third, kind), content(&server, kind), "{format}");
        }
        let (code, text) = run(&dump);
        assert!(code == 1 && text.contains("exists"), "{text}");
    }
    let file = dir.path().join("all.gexf");
    let (code, text) = run(&[
        "dump",
        shown(&file),
        "--format",
        "gexf",
        "--server",
        &server.url,
    ]);
    assert_eq!(code, 0, "{text}");
    let written = std::fs::read_to_string(&file).expect("a file");
    assert_eq!(written.matches("<node ").count(), 5);
}

/// Two labels with the same ids of the writer's choice.
const TWO_LABELS: &str = r#"{
    "vertexlabels": [
        {"name": "a", "id_strategy": "CUSTOMIZE_NUMBER"},
        {"name": "b", "id_strategy": "CUSTOMIZE_NUMBER"}]
}"#;

#[test]
fn a_row_with_the_id_of_another_label_is_refused_each_time() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let schema = write(dir.path(), "schema.json", TWO_LABELS);
    write(dir.path(), "a.csv", "id\n1\n2\n");
    write(dir.path(), "b.csv", "id\n1\n3\n");
    let mapping = "[[vertex]]\nfile = \"a.csv\"\nlabel = \"a\"\nid = \"id\"\n\
                   [[vertex]]\nfile = \"b.csv\"\nlabel = \"b\"\nid = \"id\"\n";
    let server = serve_in_memory();
    // The second run sends the refused rows again, unless it knows the rows of the first.
    for _ in 0..2 {
        let more = ["--schema", shown(&schema)];
        let (code, text) = load(&server, dir.path(), mapping, &more);
        assert!(
            code == 3 && text.contains("3 elements stored, 1 rows refused"),
            "{code} {text}"
        );
        let bad = std::fs::read_to_string(dir.path().join("map.toml.bad")).expect("a report");
        assert!(
            bad.contains("b.csv:2: a row of label 'a' has the same id"),
            "{bad}"
        );
        let one = server.must("GET", "/graphs/hugegraph/graph/vertices/1", "");
        assert_eq!(one["label"], "a");
    }
}

#[test]
fn inferred_labels_with_the_same_ids_keep_all_their_rows() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    write(dir.path(), "a.csv", "id;x\n1;p\n2;q\n");
    write(dir.path(), "b.csv", "id,y\r1,q\r");
    write(dir.path(), "c.csv", "from_id,to_id\n2,1\n");
    let files = ["load", "--infer", "a.csv", "b.csv", "c.csv"];
    let (code, text) = run_in(dir.path(), &files);
    assert_eq!(code, 0, "{text}");
    let server = serve_in_memory();
    let arguments = ["load", "mapping.toml", "--server", &server.url];
    let (code, text) = run_in(dir.path(), &arguments);
    assert!(
        code == 0 && text.contains("4 elements stored, 0 rows refused"),
        "{text}"
    );
    let vertices = server.must("GET", "/graphs/hugegraph/graph/vertices", "");
    assert_eq!(vertices["vertices"].as_array().map(Vec::len), Some(3));
    assert_eq!(edge_count(&server), Some(1));
}

#[test]
fn a_dry_run_tells_what_is_wrong_and_sends_nothing() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    files(dir.path());
    write(
        dir.path(),
        "knows.csv",
        "a,b,since\nann,bob,2020-01-01\nann,bob,soon\n",
    );
    let server = serve_in_memory();
    let schema = dir.path().join("schema.json");
    let mapping = format!("{PEOPLE}{KNOWS}");
    let more = ["--dry-run", "--schema", shown(&schema)];
    let (code, text) = load(&server, dir.path(), &mapping, &more);
    assert_eq!(code, 3, "{text}");
    assert!(
        text.contains("3 elements would be sent, 1 rows are wrong"),
        "{text}"
    );
    let bad = std::fs::read_to_string(dir.path().join("map.toml.bad")).expect("the report");
    assert!(bad.contains("knows.csv:3: column 'since': 'soon'"), "{bad}");
    assert!(!dir.path().join("map.toml.journal").exists());
    let labels = server.must("GET", "/graphs/hugegraph/schema/vertexlabels", "");
    assert_eq!(labels["vertexlabels"].as_array().map(Vec::len), Some(0));
}

#[test]
fn files_in_gzip_and_patterns_of_names_are_loaded() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    files(dir.path());
    let packed = |name: &str, text: &str| {
        let file = std::fs::File::create(dir.path().join(name)).expect("created");
        let mut out = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        std::io::Write::write_all(&mut out, text.as_bytes()).expect("written");
        out.finish().expect("written");
    };
    packed("people-1.csv.gz", "id,name\nann,Ann\n");
    packed(
        "people-2.csv.gz",
        "id,name\nbob,Bob\ncarl,\"Carl\n\nthe Great\"\n",
    );
    let server = serve_in_memory();
    let schema = dir.path().join("schema.json");
    let mapping = PEOPLE.replace("people.csv", "people-*.csv.gz");
    let (code, text) = load(&server, dir.path(), &mapping, &["--schema", shown(&schema)]);
    assert!(
        code == 0 && text.contains("3 elements stored, 0 rows refused"),
        "{text}"
    );
    let carl = server.must("GET", "/graphs/hugegraph/graph/vertices/%22carl%22", "");
    assert_eq!(carl["properties"]["name"], "Carl\n\nthe Great");
    let mapping = PEOPLE.replace("people.csv", "nobody-*.csv");
    let (code, text) = load(&server, dir.path(), &mapping, &[]);
    assert!(code == 1 && text.contains("no file matches"), "{text}");
}

#[test]
fn arrays_zstd_charsets_and_dates_of_two_forms_are_loaded() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    files(dir.path());
    let write = |name: &str, bytes: &[u8]| {
        std::fs::write(dir.path().join(name), bytes).expect("written");
    };
    write(
        "people.json",
        b"[{\"id\":\"ann\",\"name\":\"Ann\"},\n {\"id\":\"bob\"}]",
    );
    write("latin.csv", b"id;name\ncarl;M\xfcller\n");
    let mapping = |more: &str| {
        format!(
            "{}{}charset = \"latin1\"\n{more}",
            PEOPLE.replace("people.csv", "people.json"),
            PEOPLE.replace("people.csv", "latin.csv")
        )
    };
    let server = serve_in_memory();
    let schema = dir.path().join("schema.json");
    let (code, text) = load(
        &server,
        dir.path(),
        &mapping(""),
        &["--schema", shown(&schema)],
    );
    assert!(
        code == 0 && text.contains("3 elements stored, 0 rows refused"),
        "{text}"
    );
    let carl = server.must("GET", "/graphs/hugegraph/graph/vertices/%22carl%22", "");
    assert_eq!(carl["properties"]["name"], "Müller");
    for (more, fault) in [
        ("decimal = \";\"\n", "`decimal` is"),
        (
            "date_format = \"yy-M\"\n",
            "'yy-M' is not a format of dates",
        ),
        (
            "format = \"xlsx\"\n",
            "format 'xlsx': it is one of csv, jsonl",
        ),
    ] {
        let (code, text) = load(&server, dir.path(), &mapping(more), &[]);
        assert!(code == 1 && text.contains(fault), "{text}");
    }
}

#[test]
fn rows_of_different_periods_go_in_one_request() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    files(dir.path());
    let mut people = "id,name,since\n".to_owned();
    for number in 0..300 {
        let day = 1 + number % 28;
        people.push_str(&format!(
            "p{},Name {number},20{:02}-01-{day:02}\n",
            number / 2,
            number % 2 * 10 + 1
        ));
    }
    write(dir.path(), "people.csv", &people);
    let server = serve_in_memory();
    let schema = dir.path().join("schema.json");
    let mapping = format!("{PEOPLE}valid_from = \"since\"\n");
    let more = [
        "--schema",
        shown(&schema),
        "--batch",
        "100",
        "--threads",
        "1",
    ];
    let (code, text) = load(&server, dir.path(), &mapping, &more);
    assert!(
        code == 0 && text.contains("150 elements stored, 0 rows refused"),
        "{text}"
    );
    assert!(text.contains("150 rows are further states"), "{text}");
    // Three hundred rows of 56 periods, each person with two states: three times two batches.
    let counters = server.must("GET", "/metrics/counters", "");
    let requests = &counters["graphs/graph/graph/vertices/batch/POST/TOTAL_COUNTER"]["count"];
    assert_eq!(requests, 6, "{counters}");
    let of = |year: u16| {
        let path = format!("/graphs/hugegraph/graph/vertices/%22p7%22?as_of={year}-12-31");
        server.must("GET", &path, "")["properties"]["name"].clone()
    };
    assert_eq!((of(2001), of(2011)), ("Name 14".into(), "Name 15".into()));
}

#[test]
fn many_threads_store_the_states_of_an_element_in_the_order_of_their_rows() {
    const PEOPLE_MAX: usize = 40;
    const STATES: usize = 60;
    let dir = tempfile::tempdir().expect("a temporary folder");
    files(dir.path());
    let mut people = "id,name\n".to_owned();
    for number in 0..PEOPLE_MAX * STATES {
        let state = number / PEOPLE_MAX;
        people.push_str(&format!("p{},state {state}\n", number % PEOPLE_MAX));
    }
    write(dir.path(), "people.csv", &people);
    let server = serve_in_memory();
    let schema = dir.path().join("schema.json");
    let more = ["--schema", shown(&schema), "--batch", "3", "--threads", "8"];
    let (code, text) = load(&server, dir.path(), PEOPLE, &more);
    assert!(code == 0 && text.contains("40 elements stored"), "{text}");
    assert!(text.contains("2360 rows replaced an earlier row"), "{text}");
    for person in 0..PEOPLE_MAX {
        let path = format!("/graphs/hugegraph/graph/vertices/%22p{person}%22");
        let name = &server.must("GET", &path, "")["properties"]["name"];
        assert_eq!(*name, "state 59", "p{person}");
    }
}

#[test]
fn a_failed_dump_leaves_no_file() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let server = serve_in_memory();
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

#[test]
fn loading_a_file_again_makes_no_version_if_the_mapping_says_so() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    files(dir.path());
    let server = serve_in_memory();
    schema(&server, dir.path());
    let versions = || {
        let path = "/graphs/hugegraph/graph/vertices/%22bob%22/history";
        let history = server.must("GET", path, "");
        history["versions"].as_array().map(Vec::len)
    };
    let before = versions();
    let skipping = format!("skip_unchanged = true\n{PEOPLE}{KNOWS}");
    let (code, text) = load(&server, dir.path(), &skipping, &[]);
    assert!(code == 0 && text.contains("3 elements stored"), "{text}");
    assert_eq!(versions(), before);
    write(dir.path(), "people.csv", "id,name\nann,Ann\nbob,Bobby\n");
    let (code, text) = load(&server, dir.path(), &skipping, &[]);
    assert_eq!(code, 0, "{text}");
    assert_eq!(versions(), before.map(|count| count + 1));
    let plain = format!("{PEOPLE}{KNOWS}");
    let (code, text) = load(&server, dir.path(), &plain, &[]);
    assert_eq!(code, 0, "{text}");
    assert_eq!(versions(), before.map(|count| count + 2));
}
