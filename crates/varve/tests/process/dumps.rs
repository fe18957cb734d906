//! `dump --history` and `load`: the copy of a graph that was changed in both times shows what the
//! graph shows, at every instant.

use std::process::Command;

use serde_json::{Value as Json, json};

use crate::acknowledged::{Random, SCHEMA};
use crate::server::{ServerProcess, VARVE, run, serve_in_memory, shown};

/// Instants at which periods begin and end.
const INSTANTS: [&str; 6] = [
    "2010-01-01",
    "2012-06-01",
    "2015-03-01",
    "2018-01-01",
    "2020-05-05",
    "2024-01-01",
];
const VERTICES: u64 = 4;
const WRITES: u64 = 300;
/// An instant before all, one in each period between two, and one after all.
const LOOKS: [&str; 7] = [
    "2009-01-01",
    "2011-01-01",
    "2013-01-01",
    "2016-01-01",
    "2019-01-01",
    "2021-01-01",
    "2025-01-01",
];

/// A period, as parameters: of ten, four have no end.
fn period(random: &mut Random) -> String {
    let from = random.below(INSTANTS.len() as u64 - 1);
    let more = 1 + random.below(INSTANTS.len() as u64 - 1 - from);
    let instant = |at: u64| INSTANTS[usize::try_from(at).expect("an index")];
    match random.below(10) {
        0..4 => format!("valid_from={}", instant(from)),
        _ => format!(
            "valid_from={}&valid_to={}",
            instant(from),
            instant(from + more)
        ),
    }
}

/// Writes to one of a few vertices, or to an edge between two; the server may refuse it.
fn write_something(server: &ServerProcess, random: &mut Random, number: u64) {
    let graph = "/graphs/hugegraph/graph";
    let [one, other] = [0; 2].map(|_| format!("v{}", random.below(VERTICES)));
    let (period, kind) = (period(random), random.below(10));
    let vertex = json!({ "label": "thing", "id": one, "properties": { "n": number } });
    let edge = json!({
        "label": "link", "outV": one, "inV": other, "outVLabel": "thing", "inVLabel": "thing",
        "properties": { "n": number },
    });
    match kind {
        0..4 => server.ask(
            "POST",
            &format!("{graph}/vertices?{period}"),
            &vertex.to_string(),
        ),
        4 => server.ask(
            "DELETE",
            &format!("{graph}/vertices/%22{one}%22?{period}"),
            "",
        ),
        5 => {
            let path = format!("{graph}/edges/S{one}%3E1%3E1%3E%3ES{other}?{period}");
            server.ask("DELETE", &path, "")
        }
        _ => server.ask(
            "POST",
            &format!("{graph}/edges?{period}"),
            &edge.to_string(),
        ),
    };
}

/// What a graph shows at an instant, in one order.
fn shows(server: &ServerProcess, graph: &str, what: &str, at: &str) -> Vec<String> {
    let path = format!("/graphs/{graph}/graph/{what}?limit=-1&as_of={at}");
    let answer = server.must("GET", &path, "");
    let elements = answer[what].as_array().expect("a list").iter();
    let mut elements: Vec<String> = elements.map(Json::to_string).collect();
    elements.sort();
    elements
}

/// A vertex whose id is a UUID, which is deleted in a part of its period.
fn write_uuid(server: &ServerProcess) {
    let label = r#"{"name":"tagged","id_strategy":"CUSTOMIZE_UUID","properties":["n"]}"#;
    server.must("POST", "/graphs/hugegraph/schema/vertexlabels", label);
    let graph = "/graphs/hugegraph/graph/vertices";
    let id = "00000000-0000-4000-8000-000000000001";
    let vertex = json!({ "label": "tagged", "id": id, "properties": { "n": 1 } });
    server.must(
        "POST",
        &format!("{graph}?valid_from=2012-06-01"),
        &vertex.to_string(),
    );
    let period = "valid_from=2015-03-01&valid_to=2018-01-01";
    server.must("DELETE", &format!("{graph}/U%22{id}%22?{period}"), "");
}

#[test]
fn a_dump_with_history_is_loaded_whole_and_shows_the_same_at_every_instant() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let server = serve_in_memory();
    for (kind, body) in SCHEMA {
        server.must("POST", &format!("/graphs/hugegraph/schema/{kind}"), body);
    }
    let mut random = Random::new(20_210);
    for number in 0..WRITES {
        write_something(&server, &mut random, number);
    }
    write_uuid(&server);
    let file = dir.path().join("all.jsonl");
    let dump = ["dump", "--history", "--server", &server.url, shown(&file)];
    let (code, said) = run(&dump);
    assert_eq!(code, 0, "{said}");
    server.must("POST", "/graphs/copy", "{}");
    let load = [
        "load",
        "--server",
        &server.url,
        "--graph",
        "copy",
        shown(&file),
    ];
    let (code, said) = run(&load);
    assert!(code == 0 && said.contains("0 rows refused"), "{said}");
    let mut edges = 0;
    for at in LOOKS {
        for what in ["vertices", "edges"] {
            let [own, copy] = ["hugegraph", "copy"].map(|graph| shows(&server, graph, what, at));
            assert_eq!(own, copy, "{what} at {at}");
            edges += usize::from(what == "edges") * own.len();
        }
    }
    assert!(edges > 0, "the graph has edges to compare");
    let (code, said) = run(&["verify", "--server", &server.url, "--graph", "copy"]);
    assert!(code == 0 && said.contains("0 problems"), "{said}");
}

#[test]
fn a_dump_with_history_has_what_is_asked_for_one_by_one() {
    const COUNT: usize = 60;
    let dir = tempfile::tempdir().expect("a temporary folder");
    let mut command = Command::new(VARVE);
    command.args(["serve", "--engine", "memory"]);
    // Less than all versions together, so that the list has ids alone in the end.
    command.args(["--set", "server.max_answer_bytes=65536"]);
    let server = ServerProcess::start(&mut command);
    let schema = "/graphs/hugegraph/schema";
    let key = r#"{"name":"text","data_type":"TEXT"}"#;
    server.must("POST", &format!("{schema}/propertykeys"), key);
    let labels = [
        ("named", "CUSTOMIZE_STRING"),
        ("tagged", "CUSTOMIZE_UUID"),
        ("counted", "CUSTOMIZE_NUMBER"),
    ];
    for (name, strategy) in labels {
        let label = json!({ "name": name, "id_strategy": strategy, "properties": ["text"] });
        server.must(
            "POST",
            &format!("{schema}/vertexlabels"),
            &label.to_string(),
        );
    }
    for number in 0..COUNT {
        let uuid = format!("00000000-0000-4000-8000-{number:012}");
        for (label, id) in [
            ("named", json!(uuid)),
            ("tagged", json!(uuid)),
            ("counted", json!(number)),
        ] {
            let properties = json!({ "text": "x".repeat(2_000) });
            let vertex = json!({ "label": label, "id": id, "properties": properties });
            server.must(
                "POST",
                "/graphs/hugegraph/graph/vertices",
                &vertex.to_string(),
            );
        }
    }
    let file = dir.path().join("all.jsonl");
    let state = dir.path().join("state.jsonl");
    for (form, file) in [(Some("--history"), &file), (None, &state)] {
        // Elements that one answer cannot have are asked for in smaller pages.
        let mut dump = vec!["dump", "--server", &server.url, shown(file)];
        dump.extend(form);
        let (code, said) = run(&dump);
        assert_eq!(code, 0, "{said}");
        let text = std::fs::read_to_string(file).expect("a dump");
        for (label, _) in labels {
            let of_label = format!("\"label\":\"{label}\"");
            let count = text
                .lines()
                .filter(|line| line.starts_with("{\"vertex\"") && line.contains(&of_label))
                .count();
            assert_eq!(count, COUNT, "{label}");
        }
    }
}
