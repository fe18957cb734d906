//! The database `system`: questions about the server and its databases, without a graph.

use serde_json::{Value as Json, json};
use varve_bolt::packstream::Value;
use varve_bolt::request::Kind;
use varve_testserver::TestServer;

use crate::authentication::{send, server_of, with_open_graph};
use crate::bolt::{Client, config, entry, map};

const SUCCESS: u8 = 0x70;
const PATH: &str = "/db/system/query/v2";

/// A server with users and the open graph `g`, which sessions use that name no graph.
fn server() -> TestServer {
    with_open_graph(server_of(config()))
}

fn ask(server: &TestServer, user: &str, path: &str, statement: &str) -> (u16, Json) {
    let answer = send(
        server,
        user,
        "POST",
        path,
        &json!({ "statement": statement }),
    );
    let json = serde_json::from_str(answer.text()).expect("JSON");
    (answer.status, json)
}

fn code((_, answer): &(u16, Json)) -> &str {
    let code = answer["errors"][0]["code"].as_str();
    code.unwrap_or_else(|| panic!("{answer}"))
}

/// What runs there, and its rows for a user who may read the graph `g`.
fn statements() -> Vec<(&'static str, Json)> {
    vec![
        ("RETURN 1 AS n", json!([[1]])),
        ("UNWIND [1, 2] AS n RETURN n * 2 AS m", json!([[2], [4]])),
        ("SHOW DATABASES YIELD name, default", json!([["g", true]])),
        ("SHOW DEFAULT DATABASE YIELD name", json!([["g"]])),
        ("SHOW HOME DATABASE YIELD name", json!([["g"]])),
        ("SHOW CURRENT USER YIELD user", json!([["reader"]])),
        (
            "CALL dbms.components() YIELD name, edition",
            json!([["Neo4j Kernel", "community"]]),
        ),
        ("CALL db.ping()", json!([[true]])),
        ("CALL db.info() YIELD name", json!([["system"]])),
        (
            "SHOW PROCEDURES YIELD name, worksOnSystem WHERE name IN ['db.labels', 'db.ping'] \
             RETURN name, worksOnSystem",
            json!([["db.labels", false], ["db.ping", true]]),
        ),
        (
            "SHOW PROCEDURES YIELD name, signature, argumentDescription AS a, returnDescription AS r \
             WHERE name = 'apoc.meta.schema' RETURN signature, a[0].default, r[0].type",
            json!([[
                "apoc.meta.schema(config = {} :: MAP) :: (value :: MAP)",
                "DefaultParameterValue{value={}, type=MAP}",
                "MAP"
            ]]),
        ),
        (
            "SHOW FUNCTIONS YIELD name, signature, argumentDescription AS a, returnDescription \
             WHERE name IN ['abs', 'left', 'collect'] \
             RETURN signature, [x IN a | x.description] AS a, returnDescription",
            json!([
                [
                    "abs(input :: INTEGER | FLOAT) :: INTEGER | FLOAT",
                    ["input :: INTEGER | FLOAT"],
                    "INTEGER | FLOAT"
                ],
                [
                    "collect(input :: ANY) :: LIST<ANY>",
                    ["input :: ANY"],
                    "LIST<ANY>"
                ],
                [
                    "left(input1 :: STRING, input2 :: INTEGER) :: STRING",
                    ["input1 :: STRING", "input2 :: INTEGER"],
                    "STRING"
                ]
            ]),
        ),
    ]
}

/// What needs a graph.
const OF_GRAPHS: [&str; 9] = [
    "MATCH (n) RETURN n",
    "CREATE (n)",
    "RETURN EXISTS { (:A) } AS a",
    "MERGE (n:A)",
    "CALL db.labels()",
    "CALL apoc.meta.schema()",
    "SHOW INDEXES",
    "CREATE INDEX FOR (n:A) ON (n.x)",
    "DROP CONSTRAINT c",
];

const NEEDS_GRAPH: &str = "Neo.ClientError.Statement.SemanticError";

#[test]
fn the_query_api_answers_without_a_graph() {
    let server = server();
    for (text, wanted) in statements() {
        let (status, answer) = ask(&server, "reader", PATH, text);
        assert_eq!(
            (status, &answer["data"]["values"]),
            (202, &wanted),
            "{text}: {answer}"
        );
    }
    for text in OF_GRAPHS {
        // The administrator may do all, but not here.
        let refused = ask(&server, "admin", PATH, text);
        assert_eq!((refused.0, code(&refused)), (400, NEEDS_GRAPH), "{text}");
    }
    let message =
        ask(&server, "admin", PATH, "MATCH (n) RETURN n").1["errors"][0]["message"].clone();
    let message = message.as_str().unwrap();
    assert!(
        message.contains("only be executed in a user database: MATCH (n) RETURN n"),
        "{message}"
    );
    // A bookmark of it is one that other databases take.
    let (_, answer) = ask(&server, "reader", PATH, "RETURN 1 AS n");
    let body = json!({"statement": "RETURN 1 AS n", "bookmarks": answer["bookmarks"]});
    assert_eq!(
        send(&server, "reader", "POST", "/db/g/query/v2", &body).status,
        202
    );
    // Its clients need a user, but no rights on a graph.
    assert_eq!(ask(&server, "nobody", PATH, "RETURN 1 AS n").0, 202);
    let shown = ask(&server, "nobody", PATH, "SHOW DATABASES YIELD name");
    assert_eq!(shown.1["data"]["values"], json!([]));
    let stranger = server.send("POST", PATH, r#"{"statement":"RETURN 1 AS n"}"#);
    assert_eq!(stranger.status, 401);
    let profile = ask(&server, "reader", PATH, "PROFILE RETURN 1 AS n");
    assert_eq!(profile.1["profiledQueryPlan"]["records"], 1);
}

#[test]
fn databases_are_made_and_dropped_there() {
    let server = server();
    for (user, text) in [
        ("reader", "CREATE DATABASE x"),
        ("writer", "DROP DATABASE g"),
    ] {
        let refused = ask(&server, user, PATH, text);
        assert_eq!(
            (refused.0, code(&refused)),
            (403, "Neo.ClientError.Security.Forbidden")
        );
    }
    assert_eq!(ask(&server, "admin", PATH, "CREATE DATABASE x").0, 202);
    assert_eq!(ask(&server, "admin", "/db/x/query/v2", "CREATE (n)").0, 202);
    let taken = "Neo.ClientError.Database.ExistingDatabaseFound";
    for name in ["x", "system"] {
        let again = ask(&server, "admin", PATH, &format!("CREATE DATABASE {name}"));
        assert_eq!(code(&again), taken);
    }
    assert_eq!(ask(&server, "admin", PATH, "DROP DATABASE x").0, 202);
    assert_eq!(
        ask(&server, "admin", "/db/x/query/v2", "RETURN 1 AS n").0,
        404
    );
    // In a transaction of the Query API as outside.
    let (status, begun) = ask(&server, "admin", &format!("{PATH}/tx"), "CREATE DATABASE y");
    assert_eq!(status, 202, "{begun}");
    let own = format!("{PATH}/tx/{}", begun["transaction"]["id"].as_str().unwrap());
    let (_, shown) = ask(&server, "admin", &own, "SHOW DATABASES YIELD name");
    assert_eq!(shown["data"]["values"], json!([["g"], ["y"]]));
    let (status, done) = ask(&server, "admin", &format!("{own}/commit"), "RETURN 2 AS n");
    assert_eq!(
        (status, &done["data"]["values"]),
        (202, &json!([[2]])),
        "{done}"
    );
    // A graph of that name hides it.
    let open = json!({"schema": "open"});
    assert_eq!(
        send(&server, "admin", "POST", "/graphs/system", &open).status,
        201
    );
    assert_eq!(ask(&server, "admin", PATH, "CREATE (n)").0, 202);
    assert_eq!(ask(&server, "reader", PATH, "RETURN 1 AS n").0, 403);
}

#[test]
fn bolt_answers_without_a_graph() {
    let server = server();
    let mut client = Client::of(&server, "reader");
    let system = || ("db", Value::from("system"));
    for (text, wanted) in statements() {
        let wanted = wanted
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|row| row.as_array().unwrap());
        let records = client.all(text, &[system()]);
        let shown: Vec<Json> = records.iter().map(json_of).collect();
        assert!(wanted.eq(shown.iter()), "{text}: {shown:?}");
    }
    for text in OF_GRAPHS {
        client.run(text, &[system()]);
        client.pull(-1);
        let (mut tag, mut field) = client.receive();
        if tag == SUCCESS {
            (tag, field) = client.receive();
        } else {
            client.receive();
        }
        assert_ne!(tag, SUCCESS, "{text}");
        assert_eq!(
            entry(&field, "neo4j_code"),
            &Value::from(NEEDS_GRAPH),
            "{text}"
        );
        client.reset();
        client.expect(SUCCESS);
    }
    // In a transaction.
    client.send(Kind::Begin, &[map(&[system()])]);
    client.expect(SUCCESS);
    assert_eq!(client.all("RETURN 1", &[]), [Value::Int(1)]);
    assert_eq!(
        client.all("SHOW DATABASES YIELD name", &[]),
        [Value::from("g")]
    );
    client.send(Kind::Commit, &[]);
    client.expect(SUCCESS);
    // The metadata names it, with a bookmark that other databases take.
    client.run("RETURN 1", &[system()]);
    client.pull(-1);
    client.expect(SUCCESS);
    let (_, _, end) = client.records();
    assert_eq!(entry(&end, "db"), &Value::from("system"));
    let bookmarks = Value::List(vec![entry(&end, "bookmark").clone()]);
    assert_eq!(
        client.all("RETURN 2", &[("bookmarks", bookmarks)]),
        [Value::Int(2)]
    );
    let mut nobody = Client::of(&server, "nobody");
    assert_eq!(nobody.all("RETURN 1", &[system()]), [Value::Int(1)]);
}

fn json_of(value: &Value) -> Json {
    match value {
        Value::Int(number) => json!(number),
        Value::Bool(is_so) => json!(is_so),
        Value::String(text) => json!(text),
        Value::List(items) => items.iter().map(json_of).collect(),
        other => panic!("{other:?}"),
    }
}
