//! Indexes and constraints by Cypher's commands, at all its doors.

use serde_json::{Value as Json, json};
use varve_bolt::packstream::Value;
use varve_bolt::request::Kind;
use varve_testkit::Random;
use varve_testkit::http::request;
use varve_testserver::TestServer;

use crate::authentication::{send, server_of, with_open_graph};
use crate::bolt::{Client, config, entry, map};
use crate::memory::await_that;

const SUCCESS: u8 = 0x70;

pub(crate) fn open_server() -> TestServer {
    let server = TestServer::start(config());
    made(&server, "g");
    server
}

fn made(server: &TestServer, graph: &str) {
    let made = server.send("POST", &format!("/graphs/{graph}"), r#"{"schema":"open"}"#);
    assert!((200..300).contains(&made.status), "{}", made.text());
}

/// The answer of the Query API.
pub(crate) fn asked(server: &TestServer, graph: &str, text: &str) -> (u16, Json) {
    let body = json!({"statement": text, "includeCounters": true}).to_string();
    let path = format!("/db/{graph}/query/v2");
    let answer = server.exchange(&request("POST", &path, "", &body));
    let json = serde_json::from_str(answer.text()).expect("JSON");
    (answer.status, json)
}

/// The rows of a statement.
#[track_caller]
pub(crate) fn rows(server: &TestServer, graph: &str, text: &str) -> Json {
    let (status, mut answer) = asked(server, graph, text);
    assert_eq!(status, 202, "{text}: {answer}");
    answer["data"]["values"].take()
}

/// Neo4j's code of the error of a statement.
#[track_caller]
pub(crate) fn code(server: &TestServer, graph: &str, text: &str) -> String {
    let (status, answer) = asked(server, graph, text);
    assert!(status >= 400, "{text}: {answer}");
    let code = answer["errors"][0]["code"].as_str().expect("a code");
    code.strip_prefix("Neo.").expect("Neo4j's").to_owned()
}

#[track_caller]
pub(crate) fn counter(server: &TestServer, text: &str, name: &str) -> i64 {
    let (status, answer) = asked(server, "g", text);
    assert_eq!(status, 202, "{text}: {answer}");
    let counters = &answer["counters"];
    let count = counters[name].as_i64().expect("a counter");
    assert_eq!(counters["containsUpdates"], json!(count > 0), "{text}");
    count
}

pub(crate) fn online(server: &TestServer, graph: &str) {
    let pending = "SHOW INDEXES YIELD state WHERE state <> 'ONLINE' RETURN count(*)";
    await_that("all indexes are built", || {
        rows(server, graph, pending) == json!([[0]])
    });
}

#[test]
fn indexes_have_the_names_counters_and_errors_of_neo4j() {
    let server = open_server();
    let made = |text: &str| counter(&server, text, "indexesAdded");
    assert_eq!(made("CREATE INDEX a IF NOT EXISTS FOR (n:A) ON (n.x)"), 1);
    assert_eq!(made("CREATE INDEX a IF NOT EXISTS FOR (n:A) ON (n.x)"), 0);
    assert_eq!(made("CREATE INDEX b IF NOT EXISTS FOR (n:A) ON (n.x)"), 0);
    assert_eq!(made("CREATE INDEX a IF NOT EXISTS FOR (n:B) ON (n.x)"), 0);
    assert_eq!(made("CREATE TEXT INDEX t FOR (n:A) ON (n.x)"), 1);
    assert_eq!(made("CREATE POINT INDEX FOR (n:A) ON (n.x)"), 1);
    assert_eq!(made("CREATE RANGE INDEX two FOR (n:A) ON (n.x, n.y)"), 1);
    assert_eq!(made("CREATE INDEX `a b` FOR ()-[r:T]-() ON (r.x)"), 1);
    assert_eq!(
        made("CREATE LOOKUP INDEX l IF NOT EXISTS FOR (n) ON EACH labels(n)"),
        0
    );
    for (text, expected) in [
        (
            "CREATE INDEX a FOR (n:A) ON (n.x)",
            "ClientError.Schema.EquivalentSchemaRuleAlreadyExists",
        ),
        (
            "CREATE INDEX b FOR (n:A) ON (n.x)",
            "ClientError.Schema.IndexAlreadyExists",
        ),
        (
            "CREATE INDEX a FOR (n:B) ON (n.x)",
            "ClientError.Schema.IndexWithNameAlreadyExists",
        ),
        (
            "CREATE LOOKUP INDEX FOR ()-[r]-() ON EACH type(r)",
            "ClientError.Schema.IndexAlreadyExists",
        ),
        (
            "CREATE CONSTRAINT FOR (n:A) REQUIRE n.x IS UNIQUE",
            "ClientError.Schema.IndexAlreadyExists",
        ),
        ("DROP INDEX none", "DatabaseError.Schema.IndexDropFailed"),
        (
            "DROP CONSTRAINT a",
            "DatabaseError.Schema.ConstraintDropFailed",
        ),
        ("DROP INDEX $name", "ClientError.Statement.ParameterMissing"),
        (
            "CREATE FULLTEXT INDEX f FOR (n:A) ON EACH [n.x]",
            "ClientError.Statement.UnsupportedOperationError",
        ),
        (
            "CREATE VECTOR INDEX v FOR (n:A) ON (n.x)",
            "ClientError.Statement.UnsupportedOperationError",
        ),
    ] {
        assert_eq!(code(&server, "g", text), expected, "{text}");
    }
    let listed = rows(
        &server,
        "g",
        "SHOW RANGE INDEXES YIELD name, state, type, entityType, labelsOrTypes, properties, \
         createStatement ORDER BY name",
    );
    let shown = |name: &str, entity: &str, label: &str, keys: &[&str], on: &str| {
        let made = format!("CREATE RANGE INDEX `{name}` FOR {on}");
        json!([name, "ONLINE", "RANGE", entity, [label], keys, made])
    };
    assert_eq!(
        listed,
        json!([
            shown("a", "NODE", "A", &["x"], "(n:`A`) ON (n.`x`)"),
            shown(
                "a b",
                "RELATIONSHIP",
                "T",
                &["x"],
                "()-[r:`T`]-() ON (r.`x`)"
            ),
            shown("two", "NODE", "A", &["x", "y"], "(n:`A`) ON (n.`x`, n.`y`)"),
        ])
    );
    let generated = rows(&server, "g", "SHOW POINT INDEXES YIELD name");
    let generated = generated[0][0].as_str().expect("a name");
    assert!(
        generated.starts_with("index_") && generated.len() == 14,
        "{generated}"
    );
    let dropped = |text: &str| counter(&server, text, "indexesRemoved");
    assert_eq!(dropped("DROP INDEX none IF EXISTS"), 0);
    assert_eq!(dropped("DROP INDEX `a b`"), 1);
    let names = rows(
        &server,
        "g",
        "SHOW INDEXES YIELD name WHERE name CONTAINS 'a' RETURN name",
    );
    assert_eq!(names, json!([["a"]]));
}

#[test]
fn commands_run_in_transactions_that_have_not_changed_data() {
    let server = open_server();
    let mut client = Client::of(&server, "anybody");
    let mut ran = |text: &str| {
        client.run(text, &[]);
        client.pull(-1);
        client.expect(SUCCESS);
        client.expect(SUCCESS)
    };
    let end = ran("CREATE INDEX a FOR (n:A) ON (n.x)");
    assert_eq!(entry(&end, "type"), &Value::from("s"));
    assert_eq!(entry(entry(&end, "stats"), "indexes-added"), &Value::Int(1));
    client.send(Kind::Begin, &[map(&[])]);
    client.expect(SUCCESS);
    let name = [("name", Value::from("b"))];
    client.run_with("CREATE INDEX $name FOR (n:B) ON (n.x)", &name, &[]);
    client.pull(-1);
    client.expect(SUCCESS);
    client.expect(SUCCESS);
    client.run("CREATE (:B {x: 1})", &[]);
    client.pull(-1);
    client.expect(SUCCESS);
    client.expect(SUCCESS);
    client.run("CREATE INDEX c FOR (n:B) ON (n.y)", &[]);
    client.pull(-1);
    client.expect(SUCCESS);
    client.fails("Neo.ClientError.Transaction.ForbiddenDueToTransactionType");
    client.reset();
    client.expect(SUCCESS);
    let names = client.all("SHOW INDEXES YIELD name RETURN name ORDER BY name", &[]);
    assert_eq!(names, [Value::from("a"), Value::from("b")]);
    client.run("CREATE INDEX d FOR (n:D) ON (n.x)", &[("mode", "r".into())]);
    client.fails("Neo.ClientError.Statement.AccessMode");
}

#[test]
fn unique_values_hold_at_every_door() {
    let server = open_server();
    rows(&server, "g", "CREATE (:A {x: 'old'}), (:B {x: 'old'})");
    let text = "CREATE CONSTRAINT c FOR (n:A) REQUIRE n.x IS UNIQUE";
    assert_eq!(counter(&server, text, "constraintsAdded"), 1);
    assert_eq!(
        code(&server, "g", text),
        "ClientError.Schema.EquivalentSchemaRuleAlreadyExists"
    );
    for (text, expected) in [
        (
            "CREATE CONSTRAINT FOR (n:A) REQUIRE n.x IS UNIQUE",
            "ClientError.Schema.ConstraintAlreadyExists",
        ),
        (
            "CREATE INDEX FOR (n:A) ON (n.x)",
            "ClientError.Schema.ConstraintAlreadyExists",
        ),
        (
            "CREATE INDEX c FOR (n:B) ON (n.x)",
            "ClientError.Schema.ConstraintWithNameAlreadyExists",
        ),
        ("DROP INDEX c", "DatabaseError.Schema.IndexDropFailed"),
    ] {
        assert_eq!(code(&server, "g", text), expected, "{text}");
    }
    let again = "CREATE CONSTRAINT c IF NOT EXISTS FOR (n:A) REQUIRE n.x IS UNIQUE";
    assert_eq!(counter(&server, again, "constraintsAdded"), 0);
    let violated = "ClientError.Schema.ConstraintValidationFailed";
    for text in [
        "CREATE (:A {x: 'old'})",
        "CREATE (:A:C {x: 'old'})",
        "MATCH (b:B) SET b:A",
        "CREATE (a:A {x: 1}), (b:A:B {x: 1.0})",
        "CREATE (:A {x: 'new'}) WITH 1 AS one MATCH (a:A {x: 'old'}) SET a.x = 'new'",
    ] {
        assert_eq!(code(&server, "g", text), violated, "{text}");
    }
    let twice = asked(&server, "g", "CREATE (:A {x: 'old'})").1.to_string();
    let words = "already exists with label `A` and property `x` = old";
    assert!(twice.contains(words), "{twice}");
    let script = json!({"gremlin": "g.addV('A').property('x', 'old')",
        "aliases": {"g": "__g_g"}});
    let answer = server.send("POST", "/gremlin", &script.to_string());
    assert!(
        answer.text().contains("Unique constraint c("),
        "{}",
        answer.text()
    );
    let vertex = json!({"label": "A", "properties": {"x": "old"}});
    let answer = server.send("POST", "/graphs/g/graph/vertices", &vertex.to_string());
    assert!(
        answer.status >= 400 && answer.text().contains("Unique"),
        "{}",
        answer.text()
    );
    assert_eq!(
        rows(&server, "g", "MATCH (n:A) RETURN count(*)"),
        json!([[1]])
    );
    assert_eq!(
        rows(&server, "g", "SHOW UNIQUE CONSTRAINTS"),
        rows(&server, "g", "SHOW CONSTRAINTS")
    );
    assert_eq!(rows(&server, "g", "SHOW REL UNIQUE CONSTRAINTS"), json!([]));
    assert_eq!(rows(&server, "g", "SHOW KEY CONSTRAINTS"), json!([]));
    let shown = "SHOW CONSTRAINTS YIELD name, type, entityType, labelsOrTypes, properties, \
                 ownedIndex, createStatement";
    assert_eq!(
        rows(&server, "g", shown),
        json!([[
            "c",
            "UNIQUENESS",
            "NODE",
            ["A"],
            ["x"],
            "c",
            "CREATE CONSTRAINT `c` FOR (n:`A`) REQUIRE (n.`x`) IS UNIQUE"
        ]])
    );
    let owner = rows(&server, "g", "SHOW INDEXES YIELD name, owningConstraint");
    assert_eq!(owner, json!([["c", "c"]]));
    assert_eq!(
        counter(&server, "DROP CONSTRAINT c", "constraintsRemoved"),
        1
    );
    rows(&server, "g", "CREATE (:A {x: 'old'})");
    assert_eq!(
        code(&server, "g", text),
        "DatabaseError.Schema.ConstraintCreationFailed"
    );
    assert_eq!(rows(&server, "g", "SHOW CONSTRAINTS"), json!([]));
    rows(&server, "g", "CREATE (:A {x: 'old'})");
}

#[test]
fn merges_of_a_unique_value_at_once_make_one_node() {
    let server = open_server();
    rows(
        &server,
        "g",
        "CREATE CONSTRAINT FOR (n:A) REQUIRE n.x IS UNIQUE",
    );
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let server = &server;
            scope.spawn(move || {
                let set = if thread % 2 == 0 { "A" } else { "A:B" };
                for value in 0..10 {
                    let merge =
                        format!("MERGE (n:A {{x: {value}}}) ON CREATE SET n:{set} RETURN 1");
                    assert_eq!(rows(server, "g", &merge), json!([[1]]));
                }
            });
        }
    });
    let count = "MATCH (n:A) RETURN count(*), count(DISTINCT n.x)";
    assert_eq!(rows(&server, "g", count), json!([[10, 10]]));
}

#[test]
fn a_declared_graph_has_indexes_of_its_labels() {
    let server = TestServer::start(config());
    let made = server.send("POST", "/graphs/hugegraph", "{}");
    assert_eq!(made.status, 201, "{}", made.text());
    let schema = "/graphs/hugegraph/schema";
    for (path, body) in [
        (
            "propertykeys",
            json!({"name": "name", "data_type": "TEXT", "cardinality": "SINGLE"}),
        ),
        (
            "propertykeys",
            json!({"name": "age", "data_type": "INT", "cardinality": "SINGLE"}),
        ),
        (
            "vertexlabels",
            json!({"name": "person", "id_strategy": "AUTOMATIC",
            "properties": ["name", "age"], "nullable_keys": ["name", "age"]}),
        ),
    ] {
        let answer = server.send("POST", &format!("{schema}/{path}"), &body.to_string());
        assert!((200..300).contains(&answer.status), "{}", answer.text());
    }
    let ask = |text: &str| rows(&server, "hugegraph", text);
    ask("CREATE CONSTRAINT both FOR (n:person) REQUIRE (n.name, n.age) IS UNIQUE");
    ask("CREATE CONSTRAINT age FOR (n:person) REQUIRE n.age IS UNIQUE");
    ask("CREATE INDEX byAge FOR (n:person) ON (n.age)");
    ask("CREATE INDEX byName FOR (n:person) ON (n.name, n.age)");
    ask("CREATE CONSTRAINT one FOR (n:person) REQUIRE n.name IS UNIQUE");
    let shown = server.send("GET", &format!("{schema}/indexlabels/byAge"), "");
    assert!(
        shown.text().contains(r#""index_type":"RANGE""#),
        "{}",
        shown.text()
    );
    for text in [
        "CREATE INDEX FOR (n:none) ON (n.age)",
        "CREATE INDEX FOR (n:person) ON (n.none)",
    ] {
        assert_eq!(
            code(&server, "hugegraph", text),
            "ClientError.Statement.ArgumentError"
        );
    }
    ask("CREATE (:person {name: 'ann', age: 3})");
    let twice = code(
        &server,
        "hugegraph",
        "CREATE (:person {name: 'ann', age: 4})",
    );
    assert_eq!(twice, "ClientError.Schema.ConstraintValidationFailed");
    online(&server, "hugegraph");
    assert_eq!(
        ask("MATCH (n:person {age: 3}) RETURN n.name"),
        json!([["ann"]])
    );
    let names = ask("SHOW INDEXES YIELD name RETURN name ORDER BY name");
    assert_eq!(
        names,
        json!([["age"], ["both"], ["byAge"], ["byName"], ["one"]])
    );
    ask("DROP INDEX byAge");
    ask("DROP CONSTRAINT one");
    ask("CREATE (:person {name: 'ann', age: 4})");
}

#[test]
fn the_schema_is_for_those_who_may_change_it() {
    let server = with_open_graph(server_of(config()));
    let body = json!({"statement": "CREATE INDEX a FOR (n:A) ON (n.x)"});
    for (user, expected) in [("reader", 403), ("writer", 202)] {
        let answer = send(&server, user, "POST", "/db/g/query/v2", &body);
        assert_eq!(answer.status, expected, "{user}: {}", answer.text());
    }
    let mut client = Client::of(&server, "reader");
    client.run("DROP INDEX a IF EXISTS", &[]);
    client.fails("Neo.ClientError.Security.Forbidden");
}

#[test]
fn administrators_make_and_drop_databases() {
    let server = with_open_graph(server_of(config()));
    let mut client = Client::of(&server, "admin");
    client.all("CREATE DATABASE h IF NOT EXISTS", &[]);
    client.all("CREATE DATABASE h IF NOT EXISTS WAIT", &[]);
    client.all("CREATE (:A:B {x: 1})", &[("db", "h".into())]);
    client.all("DROP DATABASE none IF EXISTS", &[]);
    for (text, code) in [
        ("CREATE DATABASE h", "Database.ExistingDatabaseFound"),
        ("DROP DATABASE none", "Database.DatabaseNotFound"),
        ("DROP DATABASE g", "Statement.ArgumentError"),
    ] {
        client.run(text, &[("db", "g".into())]);
        client.pull(-1);
        client.expect(SUCCESS);
        client.fails(&format!("Neo.ClientError.{code}"));
        client.reset();
        client.expect(SUCCESS);
    }
    let mut writer = Client::of(&server, "writer");
    writer.run("CREATE DATABASE i", &[("db", "g".into())]);
    writer.fails("Neo.ClientError.Security.Forbidden");
    client.all("DROP DATABASE h", &[("db", "g".into())]);
    client.run("RETURN 1", &[("db", "h".into())]);
    client.fails("Neo.ClientError.Database.DatabaseNotFound");
}

/// Cases of [`answers_are_those_of_a_graph_without_indexes`].
const CASES: u64 = 3;

#[test]
fn answers_are_those_of_a_graph_without_indexes() {
    let server = open_server();
    for seed in 0..CASES {
        let mut random = Random::new(seed);
        let (plain, indexed) = (format!("p{seed}"), format!("i{seed}"));
        made(&server, &plain);
        made(&server, &indexed);
        let mut defined = Vec::new();
        for step in 0..60 {
            if random.one_in(5) {
                let command = command(&mut random, &mut defined);
                rows(&server, &indexed, &command);
            }
            let (write, question) = (change(&mut random, step), question(&mut random));
            for text in [&write, &question] {
                let expected = rows(&server, &plain, text);
                assert_eq!(
                    rows(&server, &indexed, text),
                    expected,
                    "seed {seed}: {text}"
                );
            }
        }
        online(&server, &indexed);
        for _ in 0..20 {
            let text = question(&mut random);
            let expected = rows(&server, &plain, &text);
            assert_eq!(
                rows(&server, &indexed, &text),
                expected,
                "seed {seed}: {text}"
            );
        }
    }
}

fn one_of<'a>(random: &mut Random, items: &[&'a str]) -> &'a str {
    items[random.below(items.len())]
}

const LABELS: &[&str] = &["A", "B", "C"];
const SETS: &[&str] = &["A", "B", "A:B", "A:C", "B:C", "A:B:C"];
const KEYS: &[&str] = &["x", "y"];
const VALUES: &[&str] = &[
    "0",
    "1",
    "1.0",
    "2.5",
    "'a'",
    "'b'",
    "true",
    "['a']",
    "[1]",
    "date('2024-01-01')",
    "0.0",
    "-0.0",
];

/// Creates an index, or drops one.
fn command(random: &mut Random, defined: &mut Vec<String>) -> String {
    if random.one_in(4) && !defined.is_empty() {
        return format!("DROP INDEX {} IF EXISTS", defined.pop().unwrap());
    }
    let name = format!("i{}", random.below(1 << 30));
    let label = one_of(random, LABELS);
    let keys = one_of(random, &["n.x", "n.y", "n.x, n.y", "n.y, n.x"]);
    let kind = one_of(random, &["", "TEXT "]);
    defined.push(name.clone());
    format!("CREATE {kind}INDEX {name} IF NOT EXISTS FOR (n:{label}) ON ({keys})")
}

fn change(random: &mut Random, id: u64) -> String {
    let (key, value) = (one_of(random, KEYS), one_of(random, VALUES));
    let (label, other) = (one_of(random, LABELS), one_of(random, LABELS));
    match random.below(8) {
        0 => format!("MATCH (n:{label}) WHERE n.id % 3 = 0 SET n.{key} = {value}"),
        1 => format!("MATCH (n:{label}) WHERE n.id % 4 = 1 SET n:{other}"),
        2 => format!("MATCH (n:{label}:{other}) WHERE n.id % 5 = 1 REMOVE n:{label}"),
        3 => format!("MATCH (n:{label}) WHERE n.id % 7 = 2 REMOVE n.{key}"),
        4 => format!("MATCH (n:{label} {{{key}: {value}}}) WHERE n.id % 6 = 3 DELETE n"),
        _ => {
            let set = one_of(random, SETS);
            let second = one_of(random, VALUES);
            format!("CREATE (:{set} {{id: {id}, {key}: {value}, z: {second}}})")
        }
    }
}

fn question(random: &mut Random) -> String {
    let (key, value) = (one_of(random, KEYS), one_of(random, VALUES));
    let (label, other) = (one_of(random, LABELS), one_of(random, VALUES));
    let condition = match random.below(6) {
        0 => format!("n.{key} > {value}"),
        1 => format!("n.{key} <= {value}"),
        2 => format!("n.x = {value} AND n.y = {other}"),
        3 => format!("n.{key} IN [{value}, {other}]"),
        4 => format!("n.{key} STARTS WITH 'a'"),
        _ => format!("n.{key} = {value}"),
    };
    format!("MATCH (n:{label}) WHERE {condition} RETURN n.id ORDER BY n.id")
}
