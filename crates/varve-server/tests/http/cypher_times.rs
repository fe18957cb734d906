//! Writes of Cypher with a valid period, and histories.

use serde_json::{Value as Json, json};
use varve_testserver::TestServer;

use crate::authentication::{send, server_of, with_open_graph};
use crate::bolt::config;

/// The status and the body of a statement's answer.
fn ask(server: &TestServer, user: &str, text: &str, parameters: &Json) -> (u16, Json) {
    let body = json!({"statement": text, "parameters": parameters});
    let answer = send(server, user, "POST", "/db/g/query/v2", &body);
    (answer.status, serde_json::from_str(answer.text()).unwrap())
}

/// The rows of a statement of the administrator, which must succeed.
fn rows(server: &TestServer, text: &str) -> Json {
    let (status, mut answer) = ask(server, "admin", text, &json!({"from": "2020-01-01"}));
    assert_eq!(status, 202, "{text}: {answer}");
    answer["data"]["values"].take()
}

/// The code of the error of a statement, and its message.
fn fault(server: &TestServer, text: &str) -> (String, String) {
    let (_, answer) = ask(
        server,
        "admin",
        text,
        &json!({"from": "2020-01-01", "none": null}),
    );
    let error = &answer["errors"][0];
    let text = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
    (text("code"), text("message"))
}

#[test]
fn what_a_statement_writes_is_valid_in_its_period() {
    let server = with_open_graph(server_of(config()));
    rows(
        &server,
        "CREATE (a:P {name: 'Ann', town: 'Rome'})-[:KNOWS]->(:P {name: 'Bob'}) \
         FOR VALID_TIME FROM date('2019-01-01')",
    );
    rows(
        &server,
        "MATCH (a:P {name: 'Ann'}) SET a.town = 'Oslo' FOR VALID_TIME FROM '2022-01-01' \
         SET a.job = 'cook' FOR VALID_TIME FROM date('2022-01-01').year + '-01-01'",
    );
    // A sequenced change: each state of the period keeps the rest.
    rows(
        &server,
        "MATCH (a:P {name: 'Ann'}) SET a.mail = 'x' \
         FOR VALID_TIME FROM $from TO datetime('2023-01-01T00:00Z')",
    );
    rows(
        &server,
        "MATCH (:P)-[r:KNOWS]->() DELETE r FOR VALID_TIME FROM '2021-01-01' TO '2021-02-01'",
    );
    rows(
        &server,
        "MERGE (:P {name: 'Cid'}) FOR VALID_TIME FROM '2024-01-01'",
    );
    for (at, wanted) in [
        ("2018-12-31", json!([])),
        ("2019-06-01", json!([["Rome", null, null, 1]])),
        ("2020-06-01", json!([["Rome", null, "x", 1]])),
        ("2021-01-15", json!([["Rome", null, "x", 0]])),
        ("2022-06-01", json!([["Oslo", "cook", "x", 1]])),
        ("2023-06-01", json!([["Oslo", "cook", null, 1]])),
    ] {
        let text = format!(
            "FOR VALID_TIME AS OF '{at}' MATCH (a:P {{name: 'Ann'}}) \
             RETURN a.town, a.job, a.mail, COUNT {{ (a)-[:KNOWS]->() }}"
        );
        assert_eq!(rows(&server, &text), wanted, "{at}");
    }
    let names = "MATCH (n:P) RETURN count(n)";
    assert_eq!(rows(&server, names), json!([[3]]));
    let before = format!("FOR VALID_TIME AS OF '2023-12-31' {names}");
    assert_eq!(rows(&server, &before), json!([[2]]));
}

#[test]
fn periods_that_a_statement_cannot_have_are_refused() {
    let server = with_open_graph(server_of(config()));
    rows(&server, "CREATE (:P {name: 'Ann'})");
    for (text, code, part) in [
        (
            "CREATE () CREATE () FOR VALID_TIME FROM '2020-01-01'",
            "Neo.ClientError.Statement.SyntaxError",
            "or none does",
        ),
        (
            "UNWIND ['2020-01-01'] AS at CREATE () FOR VALID_TIME FROM at",
            "Neo.ClientError.Statement.SyntaxError",
            "without variables",
        ),
        (
            "CREATE () FOR VALID_TIME FROM '2020-01-01' CREATE () FOR VALID_TIME FROM '2021-01-01'",
            "Neo.ClientError.Statement.ArgumentError",
            "different periods",
        ),
        (
            "CREATE () FOR VALID_TIME FROM $none",
            "Neo.ClientError.Statement.TypeError",
            "is null",
        ),
        (
            "CREATE () FOR VALID_TIME FROM '2020-01-01' TO '2019-01-01'",
            "Neo.ClientError.Statement.ArgumentError",
            "",
        ),
        (
            "MATCH (n:P) DELETE n FOR VALID_TIME FROM '2020-01-01'",
            "Neo.ClientError.Statement.UnsupportedOperationError",
            "use DETACH DELETE",
        ),
        (
            "MATCH (n:P) SET n.x = 1 FOR VALID_TIME FROM '2020-01-01' TO '2020-02-01'",
            "Neo.ClientError.Statement.EntityNotFound",
            "does not exist",
        ),
        // The end of the relationship does not exist then; the statement is not run again.
        (
            "MATCH (a:P) CREATE (a)-[:KNOWS]->(a) FOR VALID_TIME FROM '2020-01-01'",
            "Neo.ClientError.Statement.ArgumentError",
            "",
        ),
    ] {
        let (found, message) = fault(&server, text);
        assert_eq!(found, code, "{text}: {message}");
        assert!(message.contains(part), "{text}: {message}");
    }
    assert_eq!(rows(&server, "MATCH (n) RETURN count(n)"), json!([[1]]));
}

#[test]
fn a_history_has_every_version() {
    let server = with_open_graph(server_of(config()));
    rows(
        &server,
        "CREATE (:P {name: 'Ann'}) FOR VALID_TIME FROM '2019-01-01'",
    );
    let id = rows(&server, "MATCH (n:P) RETURN elementId(n)")[0][0].clone();
    rows(
        &server,
        "MATCH (n:P) SET n.x = 1 FOR VALID_TIME FROM '2020-01-01' TO '2021-01-01'",
    );
    let columns =
        "RETURN valid_from.year, valid_to.year, kind, properties, recorded_at.year > 2000";
    let yields = "recorded_at, valid_from, valid_to, kind, properties";
    let text = format!("MATCH (n:P) CALL varve.history(n) YIELD {yields} {columns}");
    let two = json!([
        [2020, 2021, "put", {"name": "Ann", "x": 1}, true],
        [2019, null, "put", {"name": "Ann"}, true],
    ]);
    assert_eq!(rows(&server, &text), two);
    rows(
        &server,
        "MATCH (n:P) DETACH DELETE n FOR VALID_TIME FROM '2022-01-01'",
    );
    // The node exists no longer: it is named by its id.
    assert_eq!(rows(&server, &text), json!([]));
    let by_id = format!("CALL varve.history({id}) YIELD {yields} {columns}");
    let found = rows(&server, &by_id);
    assert_eq!(found[0], json!([2022, null, "delete", null, true]));
    assert_eq!(found[1], two[0]);
    assert_eq!(found.as_array().map(Vec::len), Some(3));
    let at = format!("FOR VALID_TIME AS OF '2020-06-01' {by_id}");
    assert_eq!(rows(&server, &at), two);
    let versions = format!("CALL varve.history({id}) YIELD version RETURN version");
    let first = rows(&server, &versions)[2][0].clone();
    let known = format!("FOR SYSTEM_TIME AS OF {first} {versions}");
    assert_eq!(rows(&server, &known), json!([[first]]));
    assert_eq!(
        rows(&server, "CALL varve.history(null) YIELD kind RETURN kind"),
        json!([])
    );
    let (code, message) = fault(&server, "CALL varve.history(7) YIELD kind RETURN kind");
    assert_eq!(code, "Neo.ClientError.Statement.TypeError", "{message}");
}

#[test]
fn histories_and_other_points_show_what_the_client_may_read() {
    let server = with_open_graph(server_of(config()));
    rows(&server, "CREATE (:Seen {a: 1}), (:Hidden {a: 2})");
    let post = |path: &str, body: Json| {
        let answer = send(&server, "admin", "POST", &format!("/auth/{path}"), &body);
        assert_eq!(answer.status, 201, "{}", answer.text());
    };
    post("groups", json!({"group_name": "some"}));
    let target = json!({"target_name": "some", "target_graph": "g", "target_url": "u",
        "target_resources": [{"type": "GREMLIN"}, {"type": "VERTEX", "label": "Seen"},
            {"type": "EDGE", "label": "none"}]});
    post("targets", target);
    let belongs = json!({"user": "-30:nobody", "group": "-36:some"});
    post("belongs", belongs);
    for may in ["READ", "EXECUTE"] {
        let access = json!({"group": "-36:some", "target": "-44:some", "access_permission": may});
        post("accesses", access);
    }
    for (label, wanted) in [("Seen", 1), ("Hidden", 0)] {
        let id = format!("MATCH (n:{label}) RETURN elementId(n)");
        let id = rows(&server, &id)[0][0].clone();
        for text in [
            format!("CALL varve.history({id}) YIELD kind RETURN count(*)"),
            format!("MATCH (n:{label}) FOR VALID_TIME AS OF '2999-01-01' RETURN count(n)"),
            format!("PROFILE MATCH (n:{label}) RETURN count(n)"),
            format!(
                "MATCH (n:{label}) WITH n MATCH (n) FOR VALID_TIME AS OF '2999-01-01' RETURN count(n)"
            ),
        ] {
            assert_eq!(rows(&server, &text), json!([[1]]));
            let (_, answer) = ask(&server, "nobody", &text, &json!({}));
            assert_eq!(
                answer["data"]["values"],
                json!([[wanted]]),
                "{text}: {answer}"
            );
            // Reads would count what is hidden.
            let answer = answer.to_string();
            let mut hits = answer.split("\"dbHits\":").skip(1).peekable();
            assert_eq!(
                hits.peek().is_some(),
                text.starts_with("PROFILE"),
                "{answer}"
            );
            assert!(hits.all(|rest| rest.starts_with("0,")), "{answer}");
        }
    }
}

#[test]
fn a_statement_that_changes_nothing_fixes_no_period() {
    let server = with_open_graph(server_of(config()));
    let tx = |path: &str, text: &str| {
        let path = format!("/db/g/query/v2/tx{path}");
        let answer = send(&server, "admin", "POST", &path, &json!({"statement": text}));
        serde_json::from_str::<Json>(answer.text()).expect("JSON")
    };
    let begun = tx("", "MATCH (n:None) SET n.x = 1");
    let own = format!("/{}", begun["transaction"]["id"].as_str().expect("an id"));
    let made = tx(&own, "CREATE (:P) FOR VALID_TIME FROM '2020-01-01'");
    assert_eq!(made["errors"], Json::Null, "{made}");
    // A change fixes it.
    let refused = tx(&own, "CREATE (:P)");
    let message = refused["errors"][0]["message"].as_str().unwrap_or_default();
    assert!(message.contains("one valid period"), "{refused}");
    // The failure has rolled the transaction back.
    let begun = tx("", "MATCH (n:None) SET n.x = 1");
    let own = format!("/{}", begun["transaction"]["id"].as_str().expect("an id"));
    tx(&own, "CREATE (:P) FOR VALID_TIME FROM '2020-01-01'");
    tx(&format!("{own}/commit"), "RETURN 1");
    let then = "FOR VALID_TIME AS OF '2020-06-01' MATCH (n:P) RETURN count(n)";
    assert_eq!(rows(&server, then), json!([[1]]));
}

#[test]
fn versions_of_changed_elements_are_refused_within_their_transaction() {
    let server = with_open_graph(server_of(config()));
    rows(&server, "CREATE (:P {name: 'Ann'}), (:P {name: 'Bob'})");
    let tx = |path: &str, text: &str| {
        let path = format!("/db/g/query/v2/tx{path}");
        let answer = send(&server, "admin", "POST", &path, &json!({"statement": text}));
        serde_json::from_str::<Json>(answer.text()).expect("JSON")
    };
    for question in [
        "RETURN version(n) > 0",
        "RETURN valid_from(n) IS NULL",
        "CALL varve.history(n) YIELD kind RETURN kind",
        "CALL varve.history(elementId(n)) YIELD kind RETURN kind",
    ] {
        let begun = tx("", "MATCH (n:P {name: 'Ann'}) SET n.x = 1");
        let id = begun["transaction"]["id"].as_str().expect("an id");
        let own = format!("/{id}");
        let other = tx(&own, &format!("MATCH (n:P {{name: 'Bob'}}) {question}"));
        assert_eq!(other["errors"], Json::Null, "{question}: {other}");
        let changed = tx(&own, &format!("MATCH (n:P {{name: 'Ann'}}) {question}"));
        let message = changed["errors"][0]["message"].as_str().unwrap_or_default();
        let part = "that the transaction has changed";
        assert!(message.contains(part), "{question}: {changed}");
    }
}

#[test]
fn a_text_that_names_several_nodes_has_no_history() {
    let server = with_open_graph(server_of(config()));
    for id in ["7", "'7'", "8"] {
        let script = format!("g.addV('P').property(T.id, {id})");
        let body = json!({"gremlin": script, "aliases": {"g": "__g_g"}});
        let answer = send(&server, "admin", "POST", "/gremlin", &body);
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    let of = |id: &str| format!("CALL varve.history('{id}') YIELD kind RETURN kind");
    assert_eq!(rows(&server, &of("8")), json!([["put"]]));
    let (code, message) = fault(&server, &of("7"));
    assert_eq!(code, "Neo.ClientError.Statement.ArgumentError", "{message}");
    assert!(message.contains("several nodes"), "{message}");
}

/// Ann has moved from Rome to Oslo, and knew Bob until 2021.
const MOVED: [&str; 3] = [
    "CREATE (a:P {name: 'Ann', town: 'Rome'})-[:KNOWS]->(:P {name: 'Bob', town: 'Bonn'}) \
     FOR VALID_TIME FROM '2019-01-01'",
    "MATCH (a:P {name: 'Ann'}) SET a.town = 'Oslo' FOR VALID_TIME FROM '2022-01-01'",
    "MATCH ()-[r:KNOWS]->() DELETE r FOR VALID_TIME FROM '2021-01-01'",
];

#[test]
fn a_match_reads_at_its_own_point_of_valid_time() {
    let server = with_open_graph(server_of(config()));
    for text in MOVED {
        rows(&server, text);
    }
    for (text, wanted) in [
        // Within the MATCH, what was bound before has its state of then; after it, that of now.
        (
            "MATCH (a:P {name: 'Ann'}) MATCH (a)-[:KNOWS]->(b) FOR VALID_TIME AS OF '2020-06-01' \
             WHERE a.town = 'Rome' RETURN a.town, b.name",
            json!([["Oslo", "Bob"]]),
        ),
        (
            "MATCH (a:P {name: 'Ann'}) MATCH (a {town: 'Oslo'}) \
             FOR VALID_TIME AS OF '2020-06-01' RETURN a.town",
            json!([]),
        ),
        // What the pattern does not name keeps its own state.
        (
            "MATCH (a:P {name: 'Ann'}) MATCH (b:P) FOR VALID_TIME AS OF '2020-06-01' \
             WHERE a.town = 'Oslo' AND b.town = 'Rome' RETURN a.town, b.town",
            json!([["Oslo", "Rome"]]),
        ),
        (
            "MATCH (a:P {name: 'Ann'}) MATCH (a)-[:KNOWS]->(b) FOR VALID_TIME AS OF '2020-06-01' \
             WITH * RETURN a.name, b.name, COUNT { (a)-->() }",
            json!([["Ann", "Bob", 0]]),
        ),
        // The point may be different in each row.
        (
            "UNWIND ['2018-06-01', '2020-06-01', '2022-06-01'] AS at \
             OPTIONAL MATCH (a:P {name: 'Ann'}) FOR VALID_TIME AS OF at \
             RETURN at, a.town, toString(valid_from(a)) ORDER BY at",
            json!([
                ["2018-06-01", null, null],
                ["2020-06-01", "Rome", "2019-01-01T00:00:00Z"],
                ["2022-06-01", "Oslo", "2022-01-01T00:00:00Z"]
            ]),
        ),
        // A node is equal to itself at another point.
        (
            "MATCH (was:P) FOR VALID_TIME AS OF '2020-06-01' MATCH (is:P) \
             WHERE was = is AND was.town <> is.town RETURN was.town, is.town",
            json!([["Rome", "Oslo"]]),
        ),
        (
            "MATCH p = (:P {name: 'Ann'})-[:KNOWS*1..2]->() FOR VALID_TIME AS OF '2020-06-01' \
             MATCH (a:P {name: 'Ann'}) \
             RETURN [n IN nodes(p) | n.town], a.town, COUNT { (a)--() }, size(relationships(p))",
            json!([[["Rome", "Bonn"], "Oslo", 0, 1]]),
        ),
        // A node that does not exist then is not found.
        ("CREATE (:Q) RETURN 1", json!([[1]])),
        (
            "MATCH (q:Q) OPTIONAL MATCH (q) FOR VALID_TIME AS OF '2020-06-01' \
             OPTIONAL MATCH (q)--(o) FOR VALID_TIME AS OF '2020-06-01' RETURN count(q), o",
            json!([[1, null]]),
        ),
        (
            "MATCH (q:Q) MATCH (q) FOR VALID_TIME AS OF '2020-06-01' RETURN count(q)",
            json!([[0]]),
        ),
        (
            "FOR VALID_TIME AS OF '2020-06-01' MATCH (a:P {name: 'Ann'}) \
             MATCH (b:P {name: 'Ann'}) FOR VALID_TIME AS OF '2022-06-01' RETURN a.town, b.town",
            json!([["Rome", "Oslo"]]),
        ),
        (
            "MATCH (a:P {name: 'Ann'}) CALL (a) { MATCH (a)-[:KNOWS]->(b) \
             FOR VALID_TIME AS OF '2020-06-01' RETURN b } RETURN b.name",
            json!([["Bob"]]),
        ),
    ] {
        assert_eq!(rows(&server, text), wanted, "{text}");
    }
}

#[test]
fn a_statement_that_reads_the_past_writes_now() {
    let server = with_open_graph(server_of(config()));
    for text in MOVED {
        rows(&server, text);
    }
    let now = "MATCH (a:P {name: 'Ann'}) RETURN a.town, a.was";
    for (text, wanted) in [
        // What was bound in the past keeps that state.
        (
            "MATCH (a:P {name: 'Ann'}) FOR VALID_TIME AS OF '2020-06-01' \
             SET a.was = a.town RETURN a.town, a.was",
            json!([["Rome", null]]),
        ),
        (now, json!([["Oslo", "Rome"]])),
        // Only what is there now is replaced.
        (
            "MATCH (a:P {name: 'Ann'}) FOR VALID_TIME AS OF '2020-06-01' \
             SET a = {name: a.name, town: a.town} RETURN properties(a)",
            json!([[{"name": "Ann", "town": "Rome"}]]),
        ),
        (now, json!([["Rome", null]])),
        // Relationships of then, made again.
        (
            "MATCH (a)-[r:KNOWS]->(b) FOR VALID_TIME AS OF '2020-06-01' \
             MERGE (a)-[n:KNEW]->(b) ON CREATE SET n.type = type(r) RETURN a.town, n.type",
            json!([["Rome", "KNOWS"]]),
        ),
        (
            "MATCH (a)-[r:KNOWS]->(b) FOR VALID_TIME AS OF '2020-06-01' \
             MERGE (a)-[n:KNEW]->(b) ON MATCH SET n.again = true RETURN n.again",
            json!([[true]]),
        ),
        (
            "MATCH (b:P {town: 'Bonn'}) FOR VALID_TIME AS OF '2020-06-01' \
             CREATE (b)-[:SEEN]->(:Q {town: b.town})",
            json!([]),
        ),
        (
            "MATCH (a)-[r]->(b) RETURN type(r), labels(b) ORDER BY type(r)",
            json!([["KNEW", ["P"]], ["SEEN", ["Q"]]]),
        ),
        (
            "MATCH (b:P {name: 'Bob'}) FOR VALID_TIME AS OF '2020-06-01' DETACH DELETE b",
            json!([]),
        ),
        ("MATCH (n) RETURN count(n)", json!([[2]])),
        (
            "MATCH (b:P {name: 'Bob'}) FOR VALID_TIME AS OF '2020-06-01' RETURN b.town",
            json!([["Bonn"]]),
        ),
    ] {
        assert_eq!(rows(&server, text), wanted, "{text}");
    }
    // What is gone now cannot be changed.
    let text = "MATCH (b:P {name: 'Bob'}) FOR VALID_TIME AS OF '2020-06-01' SET b.x = 1";
    let (code, message) = fault(&server, text);
    assert_eq!(
        code, "Neo.ClientError.Statement.EntityNotFound",
        "{message}"
    );
}

#[test]
fn points_that_a_match_cannot_have_are_refused() {
    let server = with_open_graph(server_of(config()));
    for text in MOVED {
        rows(&server, text);
    }
    let unsupported = "Neo.ClientError.Statement.UnsupportedOperationError";
    for (text, code, part) in [
        (
            "MATCH (a:P) FOR VALID_TIME AS OF '2020-06-01' SET a.x = 1 \
             WITH a MATCH (b:P) FOR VALID_TIME AS OF '2020-06-02' RETURN b",
            "Neo.ClientError.Statement.ArgumentError",
            "Uncommitted changes",
        ),
        (
            "MATCH (a:P) FOR VALID_TIME FROM '2020-06-01' TO '2021-06-01' RETURN a",
            unsupported,
            "a period FOR VALID_TIME",
        ),
        (
            "MATCH (a:P) FOR VALID_TIME ALL RETURN a",
            unsupported,
            "FOR VALID_TIME ALL",
        ),
        (
            "MATCH (a)-[r]->(b) MATCH (a)-[r]->(b) FOR VALID_TIME AS OF '2020-06-01' RETURN a",
            unsupported,
            "the relationship 'r'",
        ),
        (
            "MATCH (a:P) FOR VALID_TIME AS OF $none RETURN a",
            "Neo.ClientError.Statement.TypeError",
            "is null",
        ),
        (
            "MATCH (a:P) FOR VALID_TIME AS OF 'noon' RETURN a",
            "Neo.ClientError.Statement.ArgumentError",
            "'noon'",
        ),
        (
            "MATCH (a:P) FOR VALID_TIME AS OF a.since RETURN a",
            "Neo.ClientError.Statement.SyntaxError",
            "'a' is not defined",
        ),
    ] {
        let (found, message) = fault(&server, text);
        assert_eq!(found, code, "{text}: {message}");
        assert!(message.contains(part), "{text}: {message}");
    }
    // What a transaction has changed has no state at another point yet.
    let tx = |path: &str, text: &str| {
        let path = format!("/db/g/query/v2/tx{path}");
        let answer = send(&server, "admin", "POST", &path, &json!({"statement": text}));
        serde_json::from_str::<Json>(answer.text()).expect("JSON")
    };
    let then = "MATCH (a:P) FOR VALID_TIME AS OF '2020-06-01' RETURN count(a)";
    let begun = tx("", then);
    assert_eq!(begun["data"]["values"], json!([[2]]), "{begun}");
    let own = format!("/{}", begun["transaction"]["id"].as_str().expect("an id"));
    tx(&own, "CREATE (:P)");
    let refused = tx(&own, then);
    let message = refused["errors"][0]["message"].as_str().unwrap_or_default();
    assert!(message.contains("Uncommitted changes"), "{refused}");
}
