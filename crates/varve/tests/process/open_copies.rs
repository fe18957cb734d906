//! Dump, load, backup, restore, verify, clear and drop of an open graph.

use std::path::Path;

use serde_json::json;

use crate::server::{ServerProcess, run, serve_in_memory, shown};

/// A value of every type, several values of one key, properties of properties, ids of every kind,
/// parallel edges, and a change that leaves a past.
const FILL: &str = r#"
g.addV('thing').property(T.id, 1)
  .property('bool', true).property('byte', 1b).property('short', 2s).property('int', 3)
  .property('long', 4l).property('big', 123456789012345678901234567890n)
  .property('float', 1.5f).property('double', 0.1d).property('nan', NaN)
  .property('decimal', 1.50m).property('text', 'a')
  .property('uuid', UUID('41d2e28a-20a4-4ab0-b379-d810dede3786'))
  .property('instant', datetime('2023-08-02T00:00:00.000001+01:00'))
  .property('list', [1, 2s, 'a', [true]]).property('set', {1, 'b'})
  .property('map', ['k': 1, 2: [3.5m]])
  .property('mixed', 'text')
  .property(list, 'name', 'marko', 'since', 2001, 'by', 'x').property(list, 'name', 'marko')
  .property(list, 'name', 'mark', 'since', 2003s)
  .addV('thing').property(T.id, '1').property('mixed', 7).property('text', 'b')
  .addV('other').property(T.id, UUID('11111111-20a4-4ab0-b379-d810dede3786')).property('mixed', 7l)
  .addV('thing').property(T.id, UUID('22222222-20a4-4ab0-b379-d810dede3786'))
  .addV('thing').property(T.id, '33333333-20a4-4ab0-b379-d810dede3786')
  .iterate();
g.V(1).as('a').V('1').as('b')
  .addE('knows').from('a').to('b').property('weight', 0.5f)
  .addE('knows').from('a').to('b').property('weight', 1)
  .addE('knows').from('b').to('b').iterate();
g.V(1).as('a').V(UUID('11111111-20a4-4ab0-b379-d810dede3786')).addE('made').from('a').iterate()
"#;

fn gremlin(server: &ServerProcess, graph: &str, script: &str) -> serde_json::Value {
    let name = format!("__g_{graph}");
    let body = json!({"gremlin": script, "aliases": {"g": name}}).to_string();
    server.must("POST", "/gremlin", &body)["result"]["data"].clone()
}

#[track_caller]
fn succeeds(arguments: &[&str]) -> String {
    let (code, text) = run(arguments);
    assert_eq!(code, 0, "{arguments:?}: {text}");
    text
}

/// The lines of a dump but for the first, which says when it was made.
fn lines(dump: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(dump).expect("a dump");
    let mut lines: Vec<String> = text.lines().skip(1).map(str::to_owned).collect();
    assert!(lines.len() > 20, "{text}");
    lines.sort();
    lines
}

fn open_graph(server: &ServerProcess, name: &str) {
    server.must("POST", &format!("/graphs/{name}"), r#"{"schema":"open"}"#);
}

fn filled(server: &ServerProcess) {
    open_graph(server, "open");
    gremlin(server, "open", FILL);
    gremlin(
        server,
        "open",
        "g.V('1').property('text', 'c').iterate(); g.V('1').properties('mixed').drop().iterate()",
    );
}

#[test]
fn a_dump_of_an_open_graph_keeps_types_numbers_and_ids() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let server = serve_in_memory();
    filled(&server);
    for command in [
        "CREATE INDEX byText FOR (n:thing) ON (n.text)",
        "CREATE CONSTRAINT mixed FOR (n:thing) REQUIRE n.mixed IS UNIQUE",
        "CREATE CONSTRAINT text FOR (n:thing) REQUIRE n.text IS :: STRING",
        "CREATE CONSTRAINT weight FOR ()-[r:knows]-() REQUIRE r.weight IS :: FLOAT | INTEGER",
    ] {
        let body = json!({ "statement": command }).to_string();
        server.must("POST", "/db/open/query/v2", &body);
    }
    for (copy, more) in [("plain", None), ("past", Some("--history"))] {
        let path = |name: &str| dir.path().join(format!("{copy}.{name}"));
        let (first, again) = (path("first"), path("again"));
        let dump = |graph: &str, file: &Path| {
            let mut arguments = vec![
                "dump",
                "--server",
                &server.url,
                "--graph",
                graph,
                shown(file),
            ];
            arguments.extend(more);
            succeeds(&arguments);
        };
        dump("open", &first);
        open_graph(&server, copy);
        let text = succeeds(&[
            "load",
            "--server",
            &server.url,
            "--graph",
            copy,
            shown(&first),
        ]);
        assert!(text.contains(" 0 rows refused"), "{text}");
        dump(copy, &again);
        assert_eq!(lines(&first), lines(&again), "{copy}");
        let made = lines(&first);
        let made = made.iter().filter(|line| line.contains("definition"));
        assert_eq!(made.count(), 4, "{copy}");
        for script in [
            "g.V(1).valueMap(true).toString()",
            "g.V(1).properties('name').as('p').properties().count()",
            "g.V(1).values('short').math('_ / 4')",
            "g.V(UUID('22222222-20a4-4ab0-b379-d810dede3786')).count()",
            "g.V('33333333-20a4-4ab0-b379-d810dede3786').count()",
            "g.E().id().order()",
        ] {
            let answer = gremlin(&server, copy, script);
            assert_eq!(answer, gremlin(&server, "open", script), "{script}");
            assert_ne!(answer, json!([]), "{script}");
        }
        // It is an open graph as before: new labels and keys, and more edges side by side.
        gremlin(
            &server,
            copy,
            "g.addV('new').property('fresh', 1b).addE('knows').to(__.V(1)).iterate()",
        );
    }
    let history = server.must("GET", "/graphs/past/graph/vertices/%221%22/history", "");
    assert!(
        history["versions"]
            .as_array()
            .is_some_and(|all| all.len() >= 2),
        "{history}"
    );
    // Into no graph of the other kind.
    server.must("POST", "/graphs/declared", "{}");
    let file = dir.path().join("plain.first");
    let (code, text) = run(&[
        "load",
        "--server",
        &server.url,
        "--graph",
        "declared",
        shown(&file),
    ]);
    assert!(
        code == 1 && text.contains("goes into an open graph"),
        "{text}"
    );
}

#[cfg(feature = "engines")]
#[test]
fn an_open_graph_is_backed_up_restored_verified_cleared_and_dropped() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let data = dir.path().join("data");
    let server = crate::server::serve_on(&data);
    filled(&server);
    let before = dir.path().join("before");
    succeeds(&[
        "dump",
        "--server",
        &server.url,
        "--graph",
        "open",
        shown(&before),
    ]);
    succeeds(&["backup", "--server", &server.url, "monday"]);
    gremlin(&server, "open", "g.V().drop().iterate()");
    let text = succeeds(&["verify", "--server", &server.url]);
    assert!(text.contains("0 problems"), "{text}");
    assert!(server.terminate().0.success());
    let (backup, restored) = (data.join("backups/monday"), dir.path().join("restored"));
    succeeds(&["restore", shown(&backup), "--data-dir", shown(&restored)]);
    let text = succeeds(&["verify", "--data-dir", shown(&restored)]);
    assert!(
        text.contains("5 vertices, 4 edges") && text.contains("0 problems"),
        "{text}"
    );
    let after = dir.path().join("after");
    succeeds(&[
        "dump",
        shown(&after),
        "--graph",
        "open",
        "--data-dir",
        shown(&restored),
    ]);
    assert_eq!(lines(&before), lines(&after));
    let server = crate::server::serve_on(&restored);
    let confirm = |text: &str| text.replace(' ', "%20").replace('\'', "%27");
    let all = confirm("I'm sure to delete all data");
    server.must(
        "DELETE",
        &format!("/graphs/open/clear?confirm_message={all}"),
        "",
    );
    assert_eq!(gremlin(&server, "open", "g.V().count()"), json!([0]));
    gremlin(&server, "open", FILL);
    assert_eq!(gremlin(&server, "open", "g.V().count()"), json!([5]));
    let drop = confirm("I'm sure to drop the graph");
    server.must(
        "DELETE",
        &format!("/graphs/open?confirm_message={drop}"),
        "",
    );
    assert_eq!(server.ask("GET", "/graphs/open", "").0, 404);
    open_graph(&server, "open");
    assert_eq!(gremlin(&server, "open", "g.V().count()"), json!([0]));
}
