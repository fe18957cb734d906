//! What the clients of Neo4j send beside plain Cypher: procedures, and numbers of elements.

use serde_json::json;
use varve_bolt::packstream::Value;
use varve_testserver::TestServer;

use crate::bolt::{Client, config, entry};

const SUCCESS: u8 = 0x70;

/// A server with an open graph `g`, and a client of it.
fn started() -> (TestServer, Client) {
    let server = TestServer::start(config());
    let made = server.send("POST", "/graphs/g", r#"{"schema":"open"}"#);
    assert!((200..300).contains(&made.status), "{}", made.text());
    let client = Client::of(&server, "anybody");
    (server, client)
}

#[track_caller]
fn refused(client: &mut Client, text: &str, code: &str) -> String {
    client.run(text, &[]);
    client.pull(-1);
    let (mut tag, mut failure) = client.receive();
    if tag == SUCCESS {
        (_, tag, failure) = client.records();
    } else {
        client.receive();
    }
    assert_ne!(tag, SUCCESS, "{text}");
    client.reset();
    client.expect(SUCCESS);
    assert_eq!(
        entry(&failure, "neo4j_code"),
        &Value::from(code),
        "{failure:?}"
    );
    match entry(&failure, "message") {
        Value::String(message) => message.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn procedures_about_the_schema_answer() {
    let (_server, mut client) = started();
    let all = |client: &mut Client, text: &str| client.all(text, &[]);
    all(
        &mut client,
        "CREATE (a:P:Q {name: 'Ann'})-[:KNOWS]->(b:P {name: 'Bob'})-[:KNOWS]->(:P {name: 'Bob'})",
    );
    for name in ["apoc.meta.graph", "apoc.meta.subGraph"] {
        let counts = all(
            &mut client,
            &format!(
                "CALL {name}({{}}) YIELD nodes, relationships \
                 RETURN [n IN nodes | n.name + n.count], \
                 [r IN relationships | apoc.any.property(r, 'type') + r.start + r.end]"
            ),
        );
        let texts = |items: &[&str]| items.iter().map(|item| Value::from(*item)).collect();
        let expected: [Value; 2] = [texts(&["P3", "Q1"]), texts(&["KNOWSPP", "KNOWSQP"])];
        assert_eq!(counts, expected, "{name}");
    }
    let values = all(
        &mut client,
        "CALL apoc.schema.properties.distinct('P', 'name') YIELD value \
         UNWIND value AS v WITH v ORDER BY v RETURN collect(v)",
    );
    assert_eq!(
        values,
        [["Ann", "Bob"].map(Value::from).into_iter().collect()]
    );
    assert_eq!(all(&mut client, "CALL apoc.schema.nodes()"), []);
    let typed = all(
        &mut client,
        "MATCH (n:Q) RETURN apoc.meta.cypher.types(n).name",
    );
    assert_eq!(typed, [Value::from("STRING")]);
    let names = all(
        &mut client,
        "CALL dbms.clientConfig() YIELD name, value \
         WHERE name = 'dbms.security.auth_enabled' RETURN value",
    );
    assert_eq!(names, [Value::from("false")]);
}

#[test]
fn indexes_of_nodes_are_listed_with_what_they_hold() {
    let (server, mut client) = started();
    let made = server.send("POST", "/graphs/hugegraph", "{}");
    assert_eq!(made.status, 201, "{}", made.text());
    let post = |path: &str, body: serde_json::Value| {
        let path = format!("/graphs/hugegraph/{path}");
        let answer = server.send("POST", &path, &body.to_string());
        assert!((200..300).contains(&answer.status), "{}", answer.text());
    };
    post(
        "schema/propertykeys",
        json!({"name": "name", "data_type": "TEXT"}),
    );
    post(
        "schema/vertexlabels",
        json!({"name": "book", "id_strategy": "CUSTOMIZE_STRING", "properties": ["name"]}),
    );
    post(
        "schema/indexlabels",
        json!({"name": "by_name", "base_type": "VERTEX_LABEL", "base_value": "book",
            "index_type": "SECONDARY", "fields": ["name"]}),
    );
    for (id, name) in [("a", "x"), ("b", "x")] {
        let properties = json!({ "name": name });
        post(
            "graph/vertices",
            json!({"label": "book", "id": id, "properties": properties}),
        );
    }
    let declared = [("db", Value::from("hugegraph"))];
    let index = client.all(
        "CALL apoc.schema.nodes() YIELD name, label, properties, type, size, valuesSelectivity \
         RETURN name, label, properties, type, size, valuesSelectivity",
        &declared,
    );
    let expected: [Value; 6] = [
        "by_name".into(),
        "book".into(),
        Value::List(vec!["name".into()]),
        "RANGE".into(),
        2.into(),
        Value::Float(0.5),
    ];
    assert_eq!(index, expected);
}

#[test]
fn procedures_that_write_change_elements() {
    let (_server, mut client) = started();
    let all = |client: &mut Client, text: &str| client.all(text, &[]);
    all(&mut client, "CREATE (:P {n: 1})-[:T]->(:P {n: 2})");
    let labels = all(
        &mut client,
        "MATCH (p:P) WITH collect(p) AS all CALL apoc.create.addLabels(all, ['Q', 'a b']) \
         YIELD node RETURN DISTINCT labels(node)",
    );
    let expected = ["P", "Q", "a b"].map(Value::from).into_iter().collect();
    assert_eq!(labels, [expected]);
    all(
        &mut client,
        "MATCH (p:P {n: 1})-[t:T]->() CALL db.create.setNodeVectorProperty(p, 'v', [1, 2.5]) \
         CALL db.create.setRelationshipVectorProperty(t, 'v', [0.5])",
    );
    let vectors = all(&mut client, "MATCH (p:P)-[t:T]->() RETURN p.v, t.v");
    let floats = |items: &[f64]| items.iter().map(|item| Value::Float(*item)).collect();
    assert_eq!(vectors, [floats(&[1.0, 2.5]), floats(&[0.5])]);
    refused(
        &mut client,
        "MATCH (p:P) CALL db.create.setNodeVectorProperty(p, 'v', ['x'])",
        "Neo.ClientError.Statement.ArgumentError",
    );
    let kept = "MATCH (p:P) CALL apoc.util.validate(p.n > 5, 'no', [0]) RETURN count(p)";
    assert_eq!(all(&mut client, kept), [2.into()]);
    let message = refused(
        &mut client,
        "MATCH (p:P {n: 1}) CALL apoc.util.validate(p.n < 5, '%s is 50% of %d, 100%', ['a', 7]) \
         RETURN p",
        "Neo.ClientError.Procedure.ProcedureCallFailed",
    );
    let end = "Caused by: java.lang.RuntimeException: a is 50% of 7, 100%";
    assert!(message.ends_with(end), "{message}");
}

#[test]
fn procedures_that_are_not_supported_are_named() {
    let (_server, mut client) = started();
    for name in [
        "db.index.fulltext.queryNodes",
        "db.index.vector.queryNodes",
        "db.cdc.current",
    ] {
        let message = refused(
            &mut client,
            &format!("CALL {name}('a')"),
            "Neo.ClientError.Statement.UnsupportedOperationError",
        );
        assert!(message.contains(name), "{message}");
    }
    refused(
        &mut client,
        "CALL no.such()",
        "Neo.ClientError.Procedure.ProcedureNotFound",
    );
    client.run("CREATE (:P)", &[("mode", "r".into())]);
    client.fails("Neo.ClientError.Statement.AccessMode");
}

#[test]
fn numbers_of_elements_are_those_that_bolt_shows() {
    let (server, mut client) = started();
    for script in ["g.addV('P').property(T.id, 'a text')", "g.addV('P')"] {
        let body = json!({"gremlin": script, "aliases": {"g": "__g_g"}});
        let answer = server.send("POST", "/gremlin", &body.to_string());
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    client.all(
        "MATCH (a:P), (b:P) WHERE elementId(a) = 'a text' CREATE (a)-[:T]->(b)",
        &[],
    );
    let found = client.all("MATCH (n:P) RETURN n, id(n)", &[]);
    assert_eq!(found.len(), 4);
    let mut numbers = Vec::new();
    for pair in found.chunks(2) {
        let [Value::Structure { fields, .. }, number] = pair else {
            panic!("{pair:?}");
        };
        assert_eq!(fields[0], *number);
        numbers.push(number.clone());
        for text in [
            "MATCH (n) WHERE id(n) = $id RETURN id(n)",
            "MATCH (n:P) WHERE id(n) IN [$id, 7] RETURN id(n)",
        ] {
            client.run_with(text, &[("id", number.clone())], &[]);
            client.pull(-1);
            client.expect(SUCCESS);
            assert_eq!(client.records().0, std::slice::from_ref(number), "{text}");
        }
    }
    // A hash is none of the ids that the server makes.
    let is_hash = |number: &&Value| matches!(number, Value::Int(number) if *number >= 1 << 62);
    assert_eq!(numbers.iter().filter(is_hash).count(), 1);
    let edges = client.all("MATCH ()-[r:T]->() WITH r LIMIT 1 RETURN r, id(r)", &[]);
    let [Value::Structure { fields, .. }, number] = &edges[..] else {
        panic!("{edges:?}");
    };
    assert_eq!(fields[0], *number);
    client.run_with(
        "MATCH ()-[r]->() WHERE id(r) = $id RETURN count(r)",
        &[("id", number.clone())],
        &[],
    );
    client.pull(-1);
    client.expect(SUCCESS);
    assert_eq!(client.records().0, [1.into()]);
}
