//! Cypher at its doors: Bolt, Neo4j's Query API, and HugeGraph's `…/cypher`.

use std::time::Duration;

use serde_json::{Value as Json, json};
use varve_bolt::packstream::Value;
use varve_bolt::request::Kind;
use varve_testkit::http::request;
use varve_testserver::TestServer;

use crate::authentication::{send, server_of, with_open_graph};
use crate::bolt::{Client, config, entry, map};

const SUCCESS: u8 = 0x70;

/// A server with an open graph `g`.
fn server() -> TestServer {
    let server = TestServer::start(config());
    let made = server.send("POST", "/graphs/g", r#"{"schema":"open"}"#);
    assert!((200..300).contains(&made.status), "{}", made.text());
    server
}

/// The rows of a statement over Bolt, with its parameters, and the metadata of its end.
fn rows(client: &mut Client, text: &str, parameters: &[(&str, Value)]) -> (Vec<Value>, Value) {
    client.run_with(text, parameters, &[]);
    client.pull(-1);
    client.expect(SUCCESS);
    let (records, tag, end) = client.records();
    assert_eq!(tag, SUCCESS, "{text}: {end:?}");
    (records, end)
}

fn one(client: &mut Client, text: &str) -> Value {
    let (mut records, _) = rows(client, text, &[]);
    assert_eq!(records.len(), 1, "{text}");
    records.pop().expect("a record")
}

fn texts(items: &[&str]) -> Value {
    items.iter().map(|item| Value::from(*item)).collect()
}

/// Absent properties are not removed; of a map, each entry counts.
#[test]
fn properties_are_counted_as_in_neo4j() {
    let server = server();
    let mut client = Client::of(&server, "anybody");
    rows(&mut client, "CREATE (:N {a: 1, b: 2})", &[]);
    for (text, wanted) in [
        ("MATCH (n:N) SET n.c = null REMOVE n.d, n.a", 1),
        ("MATCH (n:N) REMOVE n.a", 0),
        ("MATCH (n:N) SET n += {a: null, b: 3}", 2),
        ("MATCH (n:N) SET n = {a: null}", 2),
    ] {
        let (_, end) = rows(&mut client, text, &[]);
        let stats = match &end {
            Value::Map(entries) => entries.iter().find(|(key, _)| key == "stats"),
            _ => None,
        };
        let count = stats.map_or(Value::Int(0), |(_, stats)| match stats {
            Value::Map(of) => {
                let count = of.iter().find(|(key, _)| key == "properties-set");
                count.map_or(Value::Int(0), |(_, count)| count.clone())
            }
            _ => Value::Null,
        });
        assert_eq!(count, Value::Int(wanted), "{text}");
    }
}

#[test]
fn bolt_writes_and_reads_elements_with_their_summaries() {
    let server = server();
    let mut client = Client::of(&server, "anybody");
    let parameters = [("name", Value::from("Ann")), ("since", Value::Int(2020))];
    let (records, end) = rows(
        &mut client,
        "CREATE (a:Person:Author {name: $name})-[r:KNOWS {since: $since}]->(b:Person) \
         RETURN a, r, r.since = $since AS there",
        &parameters,
    );
    let [Value::Structure { tag, fields }, relationship, there] = &records[..] else {
        panic!("{records:?}");
    };
    assert_eq!((*tag, fields.len()), (b'N', 4));
    assert_eq!(fields[1], texts(&["Author", "Person"]));
    assert_eq!(entry(&fields[2], "name"), &Value::from("Ann"));
    let Value::Structure { tag, fields } = relationship else {
        panic!("{relationship:?}");
    };
    assert_eq!((*tag, fields.len()), (b'R', 8));
    assert_eq!(fields[3], Value::from("KNOWS"));
    assert_eq!(*there, Value::Bool(true));
    assert_eq!(entry(&end, "type"), &Value::from("rw"));
    let stats = entry(&end, "stats");
    for (name, count) in [
        ("nodes-created", 2),
        ("relationships-created", 1),
        ("labels-added", 3),
        ("properties-set", 2),
    ] {
        assert_eq!(entry(stats, name), &Value::Int(count), "{name}");
    }
    let Value::String(bookmark) = entry(&end, "bookmark") else {
        panic!("{end:?}");
    };
    let later = [("bookmarks", texts(&[bookmark]))];
    let path = client.all("MATCH p = (:Author)-[:KNOWS]->() RETURN p", &later);
    let [Value::Structure { tag: b'P', fields }] = &path[..] else {
        panic!("{path:?}");
    };
    assert_eq!(fields[2], Value::List(vec![1.into(), 1.into()]));
    let (_, end) = rows(&mut client, "MATCH (n) RETURN count(n)", &[]);
    assert_eq!(entry(&end, "type"), &Value::from("r"));
    for bookmark in ["nonsense", "varve:g:18446744073709551615"] {
        client.run("RETURN 1", &[("bookmarks", texts(&[bookmark]))]);
        client.pull(-1);
        client.expect(SUCCESS);
        client.fails("Neo.ClientError.Statement.ArgumentError");
        client.reset();
        client.expect(SUCCESS);
    }
}

#[test]
fn a_transaction_sees_its_own_changes_and_others_see_them_after_the_commit() {
    let server = server();
    let mut client = Client::of(&server, "anybody");
    let mut other = Client::of(&server, "anybody");
    let count = "MATCH (n) RETURN count(n)";
    client.send(Kind::Begin, &[map(&[])]);
    client.expect(SUCCESS);
    rows(&mut client, "CREATE (:A {x: 1})", &[]);
    rows(&mut client, "MATCH (a:A) CREATE (a)-[:T]->(:B)", &[]);
    assert_eq!(one(&mut client, count), Value::Int(2));
    assert_eq!(
        one(&mut client, "MATCH (:A)-[r:T]->(b) RETURN count(b)"),
        Value::Int(1)
    );
    assert_eq!(one(&mut other, count), Value::Int(0));
    client.send(Kind::Commit, &[]);
    let end = client.expect(SUCCESS);
    assert!(matches!(entry(&end, "bookmark"), Value::String(_)));
    assert_eq!(one(&mut other, count), Value::Int(2));
    client.send(Kind::Begin, &[map(&[])]);
    client.expect(SUCCESS);
    rows(&mut client, "MATCH (n) DETACH DELETE n", &[]);
    assert_eq!(one(&mut client, count), Value::Int(0));
    client.send(Kind::Rollback, &[]);
    client.expect(SUCCESS);
    assert_eq!(one(&mut client, count), Value::Int(2));
    // Two transactions that change one node: the second is told to try again.
    for client in [&mut client, &mut other] {
        client.send(Kind::Begin, &[map(&[])]);
        client.expect(SUCCESS);
        rows(client, "MATCH (a:A) SET a.x = a.x + 1", &[]);
    }
    client.send(Kind::Commit, &[]);
    client.expect(SUCCESS);
    other.send(Kind::Commit, &[]);
    other.fails("Neo.TransientError.Transaction.Outdated");
    // A transaction for reading.
    client.send(Kind::Begin, &[map(&[("mode", "r".into())])]);
    client.expect(SUCCESS);
    client.run("CREATE ()", &[]);
    client.fails("Neo.ClientError.Statement.AccessMode");
}

#[test]
fn statements_that_are_in_each_others_way_run_again() {
    const CLIENTS: usize = 4;
    const TIMES: i64 = 10;
    let server = server();
    rows(
        &mut Client::of(&server, "anybody"),
        "CREATE (:Counter {n: 0})",
        &[],
    );
    std::thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                let mut client = Client::of(&server, "anybody");
                for _ in 0..TIMES {
                    loop {
                        client.run("MATCH (c:Counter) SET c.n = c.n + 1 RETURN c.n", &[]);
                        client.pull(-1);
                        client.expect(SUCCESS);
                        let (records, tag, end) = client.records();
                        if tag == SUCCESS {
                            assert_eq!(records.len(), 1);
                            break;
                        }
                        // After too many runs the client is asked to try again.
                        let code = entry(&end, "neo4j_code");
                        assert_eq!(code, &"Neo.TransientError.Transaction.Outdated".into());
                        assert_eq!(records, []);
                        client.reset();
                        client.expect(SUCCESS);
                    }
                }
            });
        }
    });
    let mut client = Client::of(&server, "anybody");
    let count = one(&mut client, "MATCH (c:Counter) RETURN c.n");
    assert_eq!(count, Value::Int(CLIENTS as i64 * TIMES));
}

#[test]
fn metadata_and_clauses_read_the_past() {
    let server = server();
    let mut client = Client::of(&server, "anybody");
    let (_, end) = rows(&mut client, "CREATE (:A {x: 'old'})", &[]);
    let Value::String(bookmark) = entry(&end, "bookmark") else {
        panic!("{end:?}");
    };
    let version: i64 = bookmark
        .rsplit(':')
        .next()
        .and_then(|version| version.parse().ok())
        .expect("a version");
    rows(&mut client, "MATCH (a:A) SET a.x = 'new', a:B", &[]);
    let read = "MATCH (a:A) RETURN a.x, labels(a)";
    assert_eq!(
        client.all(read, &[]),
        [Value::from("new"), texts(&["A", "B"])]
    );
    let past = [("tx_metadata", map(&[("as_of_tx", Value::Int(version))]))];
    assert_eq!(client.all(read, &past), [Value::from("old"), texts(&["A"])]);
    let text = format!("FOR SYSTEM_TIME AS OF {version} {read}");
    assert_eq!(client.all(&text, &[]), [Value::from("old"), texts(&["A"])]);
    assert_eq!(
        client.all(
            "FOR VALID_TIME AS OF date('2001-01-01') MATCH (n) RETURN count(n)",
            &[]
        ),
        [Value::Int(0)]
    );
    client.run("CREATE ()", &past);
    client.pull(-1);
    client.expect(SUCCESS);
    client.fails("Neo.ClientError.Statement.ArgumentError");
}

#[test]
fn a_transaction_reads_one_state_at_all_valid_times() {
    let server = server();
    let mut client = Client::of(&server, "anybody");
    let mut other = Client::of(&server, "anybody");
    let later = "FOR VALID_TIME AS OF date('2999-01-01') MATCH (n) RETURN count(n)";
    client.send(Kind::Begin, &[map(&[])]);
    client.expect(SUCCESS);
    assert_eq!(one(&mut client, later), Value::Int(0));
    rows(&mut other, "CREATE (:A)", &[]);
    assert_eq!(one(&mut other, later), Value::Int(1));
    assert_eq!(one(&mut client, later), Value::Int(0));
    assert_eq!(one(&mut client, "MATCH (n) RETURN count(n)"), Value::Int(0));
    rows(&mut client, "CREATE (:B)", &[]);
    client.run(later, &[]);
    client.pull(-1);
    client.expect(SUCCESS);
    client.fails("Neo.ClientError.Statement.ArgumentError");
}

#[test]
fn a_commit_whose_records_come_too_late_must_not_be_sent_again() {
    let server = server();
    let mut client = Client::of(&server, "anybody");
    let text = "CREATE (:A) WITH $text AS t UNWIND range(1, 400) AS i RETURN t + i";
    let parameters = [("text", Value::from("x".repeat(1_000).as_str()))];
    client.run_with(text, &parameters, &[("tx_timeout", 3_000.into())]);
    client.pull(1);
    client.expect(SUCCESS);
    let (records, tag, _) = client.records();
    assert_eq!((records.len(), tag), (1, SUCCESS));
    std::thread::sleep(Duration::from_millis(3_500));
    client.pull(-1);
    let (_, _, failure) = client.records();
    assert_eq!(
        entry(&failure, "neo4j_code"),
        &Value::from("Neo.DatabaseError.Transaction.TransactionCommitFailed"),
        "{failure:?}"
    );
    client.reset();
    client.expect(SUCCESS);
    assert_eq!(
        one(&mut client, "MATCH (a:A) RETURN count(a)"),
        Value::Int(1)
    );
}

#[test]
fn temporal_values_and_bytes_pass_both_ways() {
    let server = server();
    let mut client = Client::of(&server, "anybody");
    let structure = |tag, fields: Vec<Value>| Value::Structure { tag, fields };
    for value in [
        Value::Null,
        Value::Float(1.5),
        Value::Bytes(vec![1, 2]),
        structure(b'D', vec![19_000.into()]),
        structure(b't', vec![3_600_000_000_000.into()]),
        structure(b'T', vec![1.into(), 3_600.into()]),
        structure(b'd', vec![1_700_000_000.into(), 5.into()]),
        structure(b'I', vec![1_700_000_000.into(), 5.into(), 7_200.into()]),
        structure(
            b'i',
            vec![1_700_000_000.into(), 5.into(), "Europe/Berlin".into()],
        ),
        structure(b'E', vec![1.into(), 2.into(), (-3).into(), 4.into()]),
        structure(
            b'X',
            vec![7_203.into(), Value::Float(1.0), Value::Float(2.0)],
        ),
        map(&[("a", Value::List(vec![1.into(), Value::Null]))]),
    ] {
        let (records, _) = rows(&mut client, "RETURN $v", &[("v", value.clone())]);
        assert_eq!(records, [value]);
    }
    // Stored, and read again.
    let at = structure(b'i', vec![1_700_000_000.into(), 5.into(), "UTC".into()]);
    rows(&mut client, "CREATE (:T {at: $at})", &[("at", at.clone())]);
    assert_eq!(one(&mut client, "MATCH (t:T) RETURN t.at"), at);
    let node = structure(b'N', vec![1.into(), texts(&[]), map(&[]), "1".into()]);
    client.run_with("RETURN $v", &[("v", node)], &[]);
    client.fails("Neo.ClientError.Statement.ArgumentError");
}

#[test]
fn wrong_statements_have_neo4js_codes_and_the_names_of_the_tck() {
    let server = server();
    let mut client = Client::of(&server, "anybody");
    for (text, code, detail) in [
        ("RETURN x", "Statement.SyntaxError", "UndefinedVariable"),
        (
            "RETURN $p",
            "Statement.ParameterMissing",
            "MissingParameter",
        ),
        (
            "CALL no.such()",
            "Procedure.ProcedureNotFound",
            "ProcedureNotFound",
        ),
        (
            "CREATE VECTOR INDEX v FOR (n:A) ON (n.x)",
            "Statement.UnsupportedOperationError",
            "CREATE VECTOR INDEX",
        ),
        (
            "CREATE (a)-[:T]->(b) DELETE a",
            "Schema.ConstraintValidationFailed",
            "DeleteConnectedNode",
        ),
    ] {
        client.run(text, &[]);
        client.pull(-1);
        let (tag, mut field) = client.receive();
        if tag == SUCCESS {
            field = client.receive().1;
        } else {
            client.receive();
        }
        let full = format!("Neo.ClientError.{code}");
        assert_eq!(entry(&field, "neo4j_code"), &Value::from(full), "{text}");
        let Value::String(message) = entry(&field, "message") else {
            panic!("{field:?}");
        };
        assert!(message.contains(detail), "{text}: {message}");
        client.reset();
        client.expect(SUCCESS);
    }
    assert_eq!(one(&mut client, "MATCH (n) RETURN count(n)"), Value::Int(0));
}

#[test]
fn the_catalogue_answers_what_clients_ask_first() {
    let server = server();
    let mut client = Client::of(&server, "anybody");
    rows(
        &mut client,
        "CREATE (:Person {name: 'Ann', age: 3})-[:KNOWS {since: 1}]->(:Person:Dog)",
        &[],
    );
    let all = |client: &mut Client, text: &str| rows(client, text, &[]).0;
    let components = all(&mut client, "CALL dbms.components()");
    assert_eq!(components[0], Value::from("Neo4j Kernel"));
    assert_eq!(components[1], texts(&["5.26.0"]));
    let labels = all(&mut client, "CALL db.labels()");
    assert_eq!(labels, [Value::from("Dog"), Value::from("Person")]);
    let types = all(
        &mut client,
        "CALL db.relationshipTypes() YIELD relationshipType",
    );
    assert_eq!(types, [Value::from("KNOWS")]);
    let keys = all(&mut client, "CALL db.propertyKeys()");
    assert_eq!(keys, ["age", "name", "since"].map(Value::from));
    let named = "SHOW PROCEDURES YIELD name WHERE name = 'apoc.meta.schema' \
                 RETURN count(name) > 0 AS there";
    assert_eq!(all(&mut client, named), [Value::Bool(true)]);
    assert_eq!(all(&mut client, "SHOW INDEXES"), []);
    assert_eq!(all(&mut client, "SHOW CONSTRAINTS"), []);
    let database = all(&mut client, "SHOW DATABASES YIELD name, default");
    assert!(database.contains(&Value::from("g")), "{database:?}");
    assert!(!all(&mut client, "SHOW FUNCTIONS YIELD name").is_empty());
    let properties = all(
        &mut client,
        "CALL apoc.meta.data({sample: 1000}) YIELD label, property, type, elementType \
         WHERE elementType = 'node' AND type <> 'RELATIONSHIP' AND label = 'Person' \
         RETURN property + ':' + type ORDER BY property",
    );
    assert_eq!(properties, ["age:INTEGER", "name:STRING"].map(Value::from));
    let other = all(
        &mut client,
        "CALL apoc.meta.data() YIELD label, property, other, type, elementType \
         WHERE type = 'RELATIONSHIP' AND elementType = 'node' \
         UNWIND other AS end RETURN label + property + end ORDER BY end",
    );
    let expected = ["PersonKNOWSDog", "PersonKNOWSPerson"];
    assert_eq!(other, expected.map(Value::from));
    let node_types = all(
        &mut client,
        "CALL db.schema.nodeTypeProperties() YIELD nodeType, propertyName, propertyTypes \
         WHERE propertyName = 'age' RETURN nodeType, propertyTypes",
    );
    assert_eq!(node_types, [":`Person`".into(), texts(&["Long"])]);
    for _ in 0..2 {
        let merged = all(
            &mut client,
            "CALL apoc.merge.node(['City'], {name: 'Rome'}, {made: 1}, {seen: true}) \
             YIELD node MATCH (p:Person {name: 'Ann'}) \
             CALL apoc.merge.relationship(p, 'LIVES', {}, {}, node, {}) YIELD rel \
             RETURN node.name, type(rel)",
        );
        assert_eq!(merged, ["Rome", "LIVES"].map(Value::from));
    }
    let counts = all(
        &mut client,
        "MATCH (c:City)<-[r:LIVES]-() RETURN count(*), collect(c.seen)",
    );
    assert_eq!(counts, [1.into(), Value::List(vec![Value::Bool(true)])]);
    let (_, end) = rows(&mut client, "CALL apoc.merge.node(['Z'], {x: 1})", &[]);
    let stats = entry(&end, "stats");
    assert_eq!(entry(stats, "nodes-created"), &Value::Int(1));
    let named = "SHOW DATABASES YIELD name AS `a AS b` WHERE `a AS b` = 'g'";
    assert_eq!(all(&mut client, named), [Value::from("g")]);
    client.run("EXPLAIN MATCH (n:Person) RETURN n", &[]);
    client.pull(-1);
    client.expect(SUCCESS);
    let (records, _, end) = client.records();
    assert_eq!(records, []);
    let plan = entry(&end, "plan");
    assert_eq!(entry(plan, "operatorType"), &Value::from("ProduceResults"));
}

#[test]
fn a_client_that_may_only_read_writes_nothing() {
    let server = with_open_graph(server_of(config()));
    let mut admin = Client::of(&server, "admin");
    rows(&mut admin, "CREATE (:A)", &[]);
    let mut reader = Client::of(&server, "reader");
    for text in [
        "CREATE (:A)",
        "MATCH (a:A) SET a.x = 1",
        "MATCH (a:A) DELETE a",
        "CALL apoc.merge.node(['A'], {x: 1})",
    ] {
        reader.run(text, &[]);
        reader.pull(-1);
        reader.fails("Neo.ClientError.Security.Forbidden");
        reader.receive();
        reader.reset();
        reader.expect(SUCCESS);
        let body = json!({"statement": text});
        let answer = send(&server, "reader", "POST", "/db/g/query/v2", &body);
        assert_eq!(answer.status, 403, "{}", answer.text());
    }
    let count = "MATCH (n) RETURN count(n), count(n.x)";
    let (counts, _) = rows(&mut reader, count, &[]);
    assert_eq!(counts, [1.into(), 0.into()]);
}

#[test]
fn names_of_what_a_client_may_not_read_are_not_listed() {
    let server = with_open_graph(server_of(config()));
    let mut admin = Client::of(&server, "admin");
    let text = "CREATE (:Seen {a: 1})-[:S]->(:Seen), (:Hidden {b: 1})-[:H]->(:Hidden)";
    rows(&mut admin, text, &[]);
    let post = |path: &str, body: Json| {
        let answer = send(&server, "admin", "POST", &format!("/auth/{path}"), &body);
        assert_eq!(answer.status, 201, "{}", answer.text());
    };
    post("groups", json!({"group_name": "some"}));
    let seen = json!([{"type": "GREMLIN"}, {"type": "VERTEX", "label": "Seen"},
        {"type": "EDGE", "label": "S"}]);
    let target = json!({"target_name": "some", "target_graph": "g", "target_url": "u",
        "target_resources": seen});
    post("targets", target);
    post(
        "belongs",
        json!({"user": "-30:nobody", "group": "-36:some"}),
    );
    for may in ["READ", "EXECUTE"] {
        let access = json!({"group": "-36:some", "target": "-44:some", "access_permission": may});
        post("accesses", access);
    }
    let mut client = Client::of(&server, "nobody");
    for (text, expected) in [
        ("CALL db.labels()", "Seen"),
        ("CALL db.relationshipTypes()", "S"),
        ("CALL db.propertyKeys()", "a"),
    ] {
        assert_eq!(
            rows(&mut client, text, &[]).0,
            [Value::from(expected)],
            "{text}"
        );
    }
}

fn posted(server: &TestServer, path: &str, head: &str, body: &str) -> (u16, Json) {
    let sent = request("POST", path, head, body);
    let answer = server.exchange(&sent);
    let json = serde_json::from_str(answer.text()).expect("JSON");
    (answer.status, json)
}

#[test]
fn the_query_api_answers_plain_and_typed_json() {
    let server = server();
    let path = "/db/g/query/v2";
    let body = json!({
        "statement": "CREATE (a:A {x: $x})-[r:T]->(b) RETURN a, r.y AS y, 1.0 AS f, [1, null] AS l",
        "parameters": {"x": 7},
        "includeCounters": true,
    });
    let (status, answer) = posted(&server, path, "", &body.to_string());
    assert_eq!(status, 202, "{answer}");
    assert_eq!(answer["data"]["fields"], json!(["a", "y", "f", "l"]));
    let row = &answer["data"]["values"][0];
    assert_eq!(row[0]["labels"], json!(["A"]));
    assert_eq!(row[0]["properties"], json!({"x": 7}));
    assert_eq!(
        (&row[1], &row[2], &row[3]),
        (&Json::Null, &json!(1.0), &json!([1, null]))
    );
    assert_eq!(answer["counters"]["nodesCreated"], 2);
    let typed = "accept: application/vnd.neo4j.query\r\n";
    let body = json!({
        "statement": "MATCH (a:A) RETURN a, date('2024-02-29') AS d, $p AS p",
        "parameters": {"p": 1},
        "bookmarks": answer["bookmarks"],
    });
    let (status, answer) = posted(&server, path, typed, &body.to_string());
    assert_eq!(status, 202, "{answer}");
    let row = &answer["data"]["values"][0];
    assert_eq!(row[0]["$type"], "Node");
    assert_eq!(
        row[0]["_value"]["_properties"]["x"],
        json!({"$type": "Integer", "_value": "7"})
    );
    assert_eq!(row[1], json!({"$type": "Date", "_value": "2024-02-29"}));
    let (status, answer) = posted(&server, path, "", r#"{"statement":"RETURN x"}"#);
    assert_eq!(status, 400);
    assert_eq!(
        answer["errors"][0]["code"],
        "Neo.ClientError.Statement.SyntaxError"
    );
    let read = r#"{"statement":"CREATE ()","accessMode":"READ"}"#;
    assert_eq!(posted(&server, path, "", read).0, 400);
    let nothing = posted(
        &server,
        "/db/nothing/query/v2",
        "",
        r#"{"statement":"RETURN 1"}"#,
    );
    assert_eq!(nothing.0, 404, "{}", nothing.1);
}

#[test]
fn hugegraphs_cypher_answers_in_its_form() {
    let server = server();
    let path = "/graphs/g/cypher";
    let run = |text: &str| {
        let sent = request("POST", path, "content-type: text/plain\r\n", text);
        let answer = server.exchange(&sent);
        assert_eq!(answer.status, 200, "{}", answer.text());
        serde_json::from_str::<Json>(answer.text()).expect("JSON")
    };
    let made = run("CREATE (a:person {name: 'm'})-[r:knows {since: 2010}]->(b:person) RETURN r");
    assert_eq!(made["status"]["code"], 200);
    let relationship = &made["result"]["data"][0]["r"];
    assert_eq!(relationship["_type"], "relationship");
    assert_eq!(relationship["_label"], "knows");
    assert_eq!(relationship["since"], 2010);
    let found = server.get("/graphs/g/cypher?cypher=MATCH%20(n%20%7Bname:'m'%7D)%20RETURN%20n");
    let found: Json = serde_json::from_str(found.text()).expect("JSON");
    let node = &found["result"]["data"][0]["n"];
    assert_eq!(
        (&node["_type"], &node["_label"], &node["name"]),
        (&json!("node"), &json!("person"), &json!("m"))
    );
    let path = run("MATCH p = (:person {name: 'm'})-[:knows]->() RETURN p, null AS x");
    let row = &path["result"]["data"][0];
    assert_eq!(row["p"].as_array().map(Vec::len), Some(3));
    assert_eq!(row["x"], Json::Null);
    let like = run("CREATE (n:A {`_id`: 'other', `_outV`: 1, x: 2}) RETURN n");
    let node = &like["result"]["data"][0]["n"];
    assert_ne!(node["_id"], "other");
    assert_eq!((&node["_outV"], &node["x"]), (&Json::Null, &json!(2)));
    let wrong = run("RETURN x");
    assert_eq!(wrong["status"]["code"], 400);
    assert_eq!(wrong["result"]["data"], Json::Null);
    let empty = server.get("/graphs/g/cypher");
    assert_eq!(empty.status, 400);
}
