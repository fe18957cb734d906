//! `CALL { … } IN TRANSACTIONS`: statements that commit in parts.

use serde_json::{Value as Json, json};
use varve_bolt::packstream::Value;
use varve_bolt::request::Kind;
use varve_server::{GremlinConfig, ServerConfig};
use varve_testserver::TestServer;

use crate::authentication::{send, server_of, with_open_graph};
use crate::bolt::{Client, config, map};
use crate::memory::await_that;

const SUCCESS: u8 = 0x70;

/// A server with an open graph `g`, where a transaction may change so many elements.
fn server(elements_max: usize) -> TestServer {
    let server = TestServer::start(ServerConfig {
        gremlin: GremlinConfig {
            transaction_elements_max: elements_max,
            ..GremlinConfig::default()
        },
        ..config()
    });
    let made = server.send("POST", "/graphs/g", r#"{"schema":"open"}"#);
    assert!((200..300).contains(&made.status), "{}", made.text());
    server
}

fn post(server: &TestServer, path: &str, body: &Json) -> (u16, Json) {
    let answer = server.send("POST", &format!("/db/g/query/v2{path}"), &body.to_string());
    let json = serde_json::from_str(answer.text()).expect("JSON");
    (answer.status, json)
}

/// The rows of a statement.
#[track_caller]
fn rows(server: &TestServer, statement: &str) -> Json {
    let (status, answer) = post(server, "", &json!({ "statement": statement }));
    assert_eq!(status, 202, "{statement}: {answer}");
    answer["data"]["values"].clone()
}

/// The code and the message of a statement that fails.
#[track_caller]
fn fails(server: &TestServer, statement: &str) -> (String, String) {
    let (status, answer) = post(server, "", &json!({ "statement": statement }));
    assert!(status >= 400, "{statement}: {answer}");
    let text = |name: &str| answer["errors"][0][name].as_str().unwrap().to_owned();
    (text("code"), text("message"))
}

const COUNT: &str = "MATCH (n) RETURN count(n)";

#[test]
fn more_than_a_transaction_may_hold_is_written_and_deleted_in_batches() {
    let server = server(1_000);
    let (code, message) = fails(&server, "UNWIND range(1, 5000) AS i CREATE (:N {i: i})");
    assert_eq!(code, "Neo.ClientError.Statement.ArgumentError", "{message}");
    assert_eq!(rows(&server, COUNT), json!([[0]]));
    let constraint = "CREATE CONSTRAINT FOR (n:N) REQUIRE n.i IS UNIQUE";
    rows(&server, constraint);
    let list: Vec<Json> = (0..5_000).map(|i| json!({ "i": i })).collect();
    let statement = "UNWIND $rows AS row CALL { WITH row MERGE (n:N {i: row.i}) SET n.even = \
                     row.i % 2 = 0 } IN TRANSACTIONS OF 900 ROWS";
    let body = json!({"statement": statement, "parameters": {"rows": list},
                      "includeCounters": true});
    let (status, answer) = post(&server, "", &body);
    assert_eq!(
        (status, &answer["counters"]["nodesCreated"]),
        (202, &json!(5_000)),
        "{answer}"
    );
    // A bookmark names the last commit.
    assert!(
        answer["bookmarks"][0].as_str().unwrap().len() > 5,
        "{answer}"
    );
    assert_eq!(rows(&server, COUNT), json!([[5_000]]));
    // As neomodel and Graphiti send it, the number as a parameter.
    let some = "MATCH (n) WHERE n.even CALL { WITH n DETACH DELETE n } IN TRANSACTIONS";
    assert_eq!(rows(&server, some), json!([]));
    assert_eq!(rows(&server, COUNT), json!([[2_500]]));
    let body = json!({"statement": "MATCH (n) CALL (n) {DETACH DELETE n} IN TRANSACTIONS OF $n ROWS",
                      "parameters": {"n": 100}});
    let (status, answer) = post(&server, "", &body);
    assert_eq!(status, 202, "{answer}");
    assert_eq!(rows(&server, COUNT), json!([[0]]));
}

#[test]
fn a_batch_sees_what_the_batches_before_have_committed() {
    let server = server(100);
    let statement = "UNWIND range(1, 9) AS i CALL (i) { OPTIONAL MATCH (o:N) WITH i, count(o) AS seen \
                     CREATE (n:N {i: i}) RETURN n, seen } IN TRANSACTIONS OF 4 ROWS \
                     RETURN i, n.i, seen ORDER BY i";
    let wanted: Vec<Json> = (1..10).map(|i| json!([i, i, i - 1])).collect();
    assert_eq!(rows(&server, statement), json!(wanted));
    // A row keeps an element, but not what it was before the first commit.
    let statement = "MATCH (n:N {i: 1}) WITH n, n.x AS before UNWIND [1, 2, 3] AS i \
                     CALL (n, i) { SET n.x = coalesce(n.x, 0) + i } IN TRANSACTIONS OF 1 ROW \
                     RETURN before, n.x";
    assert_eq!(
        rows(&server, statement),
        json!([[null, 6], [null, 6], [null, 6]])
    );
    // What a batch deletes is gone for the next ones.
    let statement = "MATCH (a:N {i: 1}) CREATE (a)-[:T]->(:M), (a)-[:T]->(:M)";
    rows(&server, statement);
    let statement = "MATCH (a:N {i: 1})-[r:T]->(m) CALL (a) { DETACH DELETE a } \
                     IN TRANSACTIONS OF 1 ROW RETURN count(*)";
    assert_eq!(rows(&server, statement), json!([[2]]));
    assert_eq!(
        rows(&server, "MATCH (n:N {i: 1}) RETURN count(n)"),
        json!([[0]])
    );
    // The rest of the statement is a commit of its own.
    let statement = "UNWIND [1, 2] AS i CALL (i) { CREATE (p:P {i: i}) RETURN p } IN TRANSACTIONS \
                     OF 1 ROW SET p.last = true WITH p CREATE (:Q)";
    rows(&server, statement);
    let statement = "MATCH (p:P {last: true}) WITH count(p) AS p MATCH (q:Q) RETURN p, count(q)";
    assert_eq!(rows(&server, statement), json!([[2, 2]]));
    // One that writes nothing.
    let statement = "UNWIND [1, 2] AS i CALL (i) { RETURN 10 * i AS j } IN TRANSACTIONS OF 1 ROW \
                     ON ERROR BREAK REPORT STATUS AS s RETURN j, s.committed, s.transactionId";
    assert_eq!(
        rows(&server, statement),
        json!([[10, true, null], [20, true, null]])
    );
}

#[test]
fn what_follows_an_error_is_for_the_statement_to_say() {
    let server = server(100);
    let statement = |rest: &str| {
        format!(
            "UNWIND [1, 2, 0, 4, 5] AS i CALL (i) {{ CREATE (n:N {{x: 12 / i}}) RETURN n.x AS x }} \
             IN TRANSACTIONS OF 2 ROWS {rest}"
        )
    };
    let count = || rows(&server, "MATCH (n) RETURN count(n)")[0][0].clone();
    let clear = || rows(&server, "MATCH (n) DETACH DELETE n");
    let own = "RETURN i, x, s.started, s.committed, s.errorMessage IS NULL, \
               s.transactionId IS NULL";
    let done = rows(
        &server,
        &statement(&format!("ON ERROR CONTINUE REPORT STATUS AS s {own}")),
    );
    let wanted = json!([
        [1, 12, true, true, true, false],
        [2, 6, true, true, true, false],
        [0, null, true, false, false, true],
        [4, null, true, false, false, true],
        [5, 2, true, true, true, false],
    ]);
    assert_eq!(done, wanted);
    assert_eq!(count(), 3);
    clear();
    let done = rows(
        &server,
        &statement(&format!("ON ERROR BREAK REPORT STATUS AS s {own}")),
    );
    let wanted = json!([
        [1, 12, true, true, true, false],
        [2, 6, true, true, true, false],
        [0, null, true, false, false, true],
        [4, null, true, false, false, true],
        [5, null, false, false, true, true],
    ]);
    assert_eq!(done, wanted);
    assert_eq!(count(), 2);
    clear();
    for rest in ["RETURN i", "ON ERROR FAIL RETURN i"] {
        let (code, message) = fails(&server, &statement(rest));
        // Drivers must not send it again: a part is stored.
        assert_eq!(
            code,
            "Neo.DatabaseError.Transaction.TransactionCommitFailed"
        );
        assert!(
            message.contains("committed in between is stored"),
            "{message}"
        );
        assert!(message.contains("zero"), "{message}");
        assert_eq!(count(), 2);
        clear();
    }
    // Nothing is stored yet: the error is that of the query.
    let (code, _) = fails(
        &server,
        &statement("RETURN i").replace("[1, 2, 0", "[0, 1, 2"),
    );
    assert_eq!(code, "Neo.ClientError.Statement.ArithmeticError");
    assert_eq!(count(), 0);
    // A batch may hold what a transaction may, and what fails is not counted.
    let body = json!({"includeCounters": true, "statement":
        "UNWIND [50, 200, 60] AS n CALL (n) { UNWIND range(1, n) AS i CREATE (:N) } \
         IN TRANSACTIONS OF 1 ROW ON ERROR CONTINUE"});
    let (_, answer) = post(&server, "", &body);
    assert_eq!(answer["counters"]["nodesCreated"], 110, "{answer}");
    assert_eq!(count(), 110);
}

#[test]
fn a_constraint_holds_for_each_batch() {
    let server = server(100);
    rows(&server, "CREATE CONSTRAINT FOR (n:N) REQUIRE n.i IS UNIQUE");
    let statement = "UNWIND [1, 2, 1, 3, 4, 4, 5] AS i CALL (i) { CREATE (n:N {i: i}) RETURN n } \
                     IN TRANSACTIONS OF 2 ROWS ON ERROR CONTINUE REPORT STATUS AS s \
                     RETURN n IS NULL, s.committed, s.errorMessage";
    let done = rows(&server, statement);
    let is_null: Vec<bool> = done
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row[0] == true)
        .collect();
    assert_eq!(
        is_null,
        [false, false, true, true, true, true, false],
        "{done}"
    );
    assert_eq!(
        rows(&server, "MATCH (n:N) RETURN n.i ORDER BY n.i"),
        json!([[1], [2], [5]])
    );
}

#[test]
fn a_batch_that_breaks_a_rule_leaves_the_others() {
    for rule in ["n.i IS NOT NULL", "n.i IS :: INTEGER", "n.i IS NODE KEY"] {
        let server = server(100);
        rows(
            &server,
            &format!("CREATE CONSTRAINT FOR (n:N) REQUIRE {rule}"),
        );
        let wrong = match rule {
            "n.i IS :: INTEGER" => "'two'",
            _ => "null",
        };
        let statement = format!(
            "UNWIND [1, {wrong}, 3] AS i CALL (i) {{ CREATE (:N {{i: i}}) }} \
             IN TRANSACTIONS OF 1 ROW ON ERROR CONTINUE REPORT STATUS AS s RETURN s.committed"
        );
        assert_eq!(
            rows(&server, &statement),
            json!([[true], [false], [true]]),
            "{rule}"
        );
        assert_eq!(rows(&server, "MATCH (n:N) RETURN count(n)"), json!([[2]]));
    }
}

#[test]
fn two_statements_that_count_at_the_same_time_lose_nothing() {
    let server = server(100);
    rows(&server, "CREATE (:Counter {n: 0})");
    let statement = "UNWIND range(1, 150) AS i CALL { MATCH (c:Counter) SET c.n = c.n + 1 } \
                     IN TRANSACTIONS OF 1 ROW ON ERROR CONTINUE REPORT STATUS AS s \
                     RETURN sum(CASE WHEN s.committed THEN 1 ELSE 0 END)";
    let committed: i64 = std::thread::scope(|scope| {
        let each: Vec<_> = (0..3)
            .map(|_| scope.spawn(|| rows(&server, statement)))
            .collect();
        let each = each.into_iter().map(|one| one.join().unwrap());
        each.map(|done| done[0][0].as_i64().unwrap()).sum()
    });
    // Batches whose commits conflict run again.
    assert!(committed > 150, "{committed}");
    assert_eq!(
        rows(&server, "MATCH (c:Counter) RETURN c.n"),
        json!([[committed]])
    );
}

#[test]
fn it_is_refused_where_its_commits_would_be_wrong() {
    let server = server(100);
    let batches = "UNWIND [1] AS i CALL (i) { CREATE (:N) } IN TRANSACTIONS";
    let code = "Neo.DatabaseError.Transaction.TransactionStartFailed";
    let (_, begun) = post(&server, "/tx", &json!({}));
    let own = format!("/tx/{}", begun["transaction"]["id"].as_str().unwrap());
    let (status, answer) = post(&server, &own, &json!({ "statement": batches }));
    assert_eq!(
        (status, &answer["errors"][0]["code"]),
        (400, &json!(code)),
        "{answer}"
    );
    let message = answer["errors"][0]["message"].as_str().unwrap();
    assert!(message.contains("in an implicit transaction"), "{message}");
    let mut client = Client::of(&server, "anybody");
    client.send(Kind::Begin, &[map(&[])]);
    client.expect(SUCCESS);
    client.run(batches, &[]);
    client.fails(code);
    client.reset();
    client.expect(SUCCESS);
    for (text, code) in [
        (
            "CREATE (:A) WITH 1 AS i CALL (i) { CREATE (:N) } IN TRANSACTIONS",
            "SyntaxError",
        ),
        (
            "UNWIND [1] AS i CALL (i) { CALL (i) { CREATE (:N) } IN TRANSACTIONS }",
            "SyntaxError",
        ),
        (
            "CALL { CREATE (:N) } IN TRANSACTIONS RETURN 1 AS x UNION RETURN 2 AS x",
            "SyntaxError",
        ),
        (
            "CALL { CREATE (:N) } IN TRANSACTIONS OF -1 ROWS",
            "SyntaxError",
        ),
        (
            "CALL { CREATE (:N) } IN TRANSACTIONS OF 0 ROWS",
            "ArgumentError",
        ),
        (
            "CALL { CREATE (:N) } IN TRANSACTIONS OF 'a' ROWS",
            "SyntaxError",
        ),
        (
            "CALL { CREATE (:N) } IN TRANSACTIONS REPORT STATUS AS s RETURN s",
            "SyntaxError",
        ),
        (
            "CALL { CREATE (:N) } IN TRANSACTIONS ON ERROR RETRY",
            "SyntaxError",
        ),
        (
            "CALL { CREATE (:N) } IN TRANSACTIONS OF $n ROWS",
            "ParameterMissing",
        ),
    ] {
        let wanted = format!("Neo.ClientError.Statement.{code}");
        assert_eq!(fails(&server, text).0, wanted, "{text}");
    }
    assert_eq!(rows(&server, COUNT), json!([[0]]));
    // Explained, it does nothing, also in a transaction.
    client.send(Kind::Begin, &[map(&[])]);
    client.expect(SUCCESS);
    assert_eq!(
        client.all(&format!("EXPLAIN {batches}"), &[]),
        Vec::<Value>::new()
    );
    assert_eq!(rows(&server, COUNT), json!([[0]]));
}

#[test]
fn its_user_must_keep_the_right_to_write() {
    let batches = "UNWIND range(1, 100000) AS i CALL { CREATE (:N) } IN TRANSACTIONS OF 1 ROW";
    for over_bolt in [false, true] {
        let server = with_open_graph(server_of(config()));
        let ask = |user: &str, statement: &str| {
            let body = json!({ "statement": statement });
            send(&server, user, "POST", "/db/g/query/v2", &body)
        };
        assert_eq!(ask("reader", batches).status, 403);
        let count = || {
            let answer = ask("admin", COUNT);
            let answer: Json = serde_json::from_str(answer.text()).unwrap();
            answer["data"]["values"][0][0].as_u64().unwrap()
        };
        let message = std::thread::scope(|scope| {
            let asked = scope.spawn(|| match over_bolt {
                false => ask("writer", batches).text().to_owned(),
                true => {
                    let mut client = Client::of(&server, "writer");
                    client.run(batches, &[]);
                    client.pull(-1);
                    client.expect(SUCCESS);
                    format!("{:?}", client.records())
                }
            });
            await_that("a part is stored", || count() > 1);
            let path = "/auth/targets/-44:writer_target";
            assert_eq!(
                send(&server, "admin", "DELETE", path, &json!(null)).status,
                204
            );
            asked.join().unwrap()
        });
        assert!(
            message.contains("committed in between is stored"),
            "{message}"
        );
        assert!(count() < 100_000);
    }
}
