//! Traversers and refactorings as procedures of Cypher.

use serde_json::{Value as Json, json};
use varve_testserver::TestServer;

use crate::authentication::{send, server_of, with_open_graph};
use crate::bolt::config;

fn ask(server: &TestServer, user: &str, text: &str) -> (u16, Json) {
    let body = json!({"statement": text});
    let answer = send(server, user, "POST", "/db/g/query/v2", &body);
    (answer.status, serde_json::from_str(answer.text()).unwrap())
}

fn rows(server: &TestServer, text: &str) -> Json {
    let (status, mut answer) = ask(server, "admin", text);
    assert_eq!(status, 202, "{text}: {answer}");
    answer["data"]["values"].take()
}

fn code(server: &TestServer, user: &str, text: &str) -> String {
    let (_, answer) = ask(server, user, text);
    let code = answer["errors"][0]["code"].as_str();
    code.unwrap_or_default().to_owned()
}

/// A square of a, b, c and d with a way of one relationship from a to c that is heavy, and e behind
/// d. The way from a to c is there since 2020.
fn square() -> TestServer {
    let server = with_open_graph(server_of(config()));
    for text in [
        "CREATE (a:P {n: 'a'}), (b:P {n: 'b'}), (c:P {n: 'c'}), (d:P {n: 'd'}), (e:P {n: 'e'}), \
         (a)-[:R {w: 1}]->(b), (b)-[:R {w: 1}]->(c), (c)-[:R {w: 1}]->(d), (d)-[:S {w: 1}]->(a), \
         (d)-[:R {w: 2}]->(e) FOR VALID_TIME FROM '2019-01-01'",
        "MATCH (a:P {n: 'a'}), (c:P {n: 'c'}) CREATE (a)-[:R {w: 5}]->(c) \
         FOR VALID_TIME FROM '2020-01-01'",
    ] {
        rows(&server, text);
    }
    server
}

const ENDS: &str = "MATCH (a:P {n: 'a'}), (c:P {n: 'c'}) ";
const NAMES: &str = "[n IN nodes(path) | n.n] AS names";

#[test]
fn traversers_are_procedures() {
    let server = square();
    for (call, wanted) in [
        (
            "CALL varve.kout(a, 2) YIELD node RETURN node.n ORDER BY node.n".to_owned(),
            json!([["e"]]),
        ),
        (
            "CALL varve.kout(a, 1, {direction: 'OUT'}) YIELD node RETURN node.n ORDER BY node.n"
                .to_owned(),
            json!([["b"], ["c"]]),
        ),
        (
            "CALL varve.kout(a, 9) YIELD node RETURN count(*)".to_owned(),
            json!([[0]]),
        ),
        (
            "CALL varve.kneighbor(a, 2, {direction: 'out', types: ['R', 'None']}) \
             YIELD node, distance RETURN node.n, distance ORDER BY node.n"
                .to_owned(),
            json!([["b", 1], ["c", 1], ["d", 2]]),
        ),
        (
            "CALL varve.kneighbor(a, 2, {types: ['None']}) YIELD node RETURN count(*)".to_owned(),
            json!([[0]]),
        ),
        (
            format!("CALL varve.shortestPath(a, c) YIELD path, length RETURN {NAMES}, length"),
            json!([[["a", "c"], 1]]),
        ),
        (
            format!(
                "CALL varve.shortestPath(a, c, {{types: ['S', 'R'], direction: 'IN', all: true}}) \
                 YIELD path RETURN {NAMES}, [r IN relationships(path) | type(r)]"
            ),
            json!([[["a", "d", "c"], ["S", "R"]]]),
        ),
        (
            format!(
                "CALL varve.weightedShortestPath(a, c, 'w') YIELD path, weight \
                 RETURN {NAMES}, weight"
            ),
            json!([[["a", "b", "c"], 2.0]]),
        ),
        (
            format!(
                "CALL varve.paths(a, c, 2) YIELD path, length \
                 RETURN {NAMES}, length ORDER BY length, names"
            ),
            json!([[["a", "c"], 1], [["a", "b", "c"], 2], [["a", "d", "c"], 2]]),
        ),
        (
            format!(
                "CALL varve.rings(a, 4, {{direction: 'OUT'}}) YIELD path, length \
                 RETURN {NAMES}, length ORDER BY length"
            ),
            json!([[["a", "c", "d", "a"], 3], [["a", "b", "c", "d", "a"], 4]]),
        ),
        (
            "CALL varve.sameNeighbors(a, c) YIELD node RETURN node.n ORDER BY node.n".to_owned(),
            json!([["b"], ["d"]]),
        ),
        (
            "CALL varve.jaccardSimilarity(a, c) YIELD similarity RETURN similarity".to_owned(),
            json!([[0.5]]),
        ),
        (
            "CALL varve.kout(null, 1) YIELD node RETURN count(*)".to_owned(),
            json!([[0]]),
        ),
    ] {
        let text = format!("{ENDS}{call}");
        assert_eq!(rows(&server, &text), wanted, "{text}");
    }
    // At another point of valid time.
    let text = format!(
        "FOR VALID_TIME AS OF '2019-06-01' {ENDS}\
         CALL varve.shortestPath(a, c, {{direction: 'OUT'}}) YIELD length RETURN length"
    );
    assert_eq!(rows(&server, &text), json!([[2]]), "{text}");
    let shown = rows(
        &server,
        "SHOW PROCEDURES YIELD name, signature WHERE name = 'varve.kout' RETURN signature",
    );
    let signature = shown[0][0].as_str().unwrap_or_default();
    assert!(
        signature.starts_with("varve.kout(source :: NODE, depth :: INTEGER, config"),
        "{shown}"
    );
}

/// Ranks and parts of [`square`], whose relationships are R but for d to a.
#[test]
fn algorithms_are_procedures() {
    let server = square();
    for (call, wanted) in [
        (
            "CALL varve.algo.degree() YIELD node, degree RETURN node.n, degree ORDER BY node.n",
            json!([["a", 3], ["b", 2], ["c", 3], ["d", 3], ["e", 1]]),
        ),
        (
            "CALL varve.algo.degree({direction: 'OUT', types: ['R'], labels: ['P']}) \
             YIELD node, degree RETURN node.n, degree ORDER BY node.n",
            json!([["a", 2], ["b", 1], ["c", 1], ["d", 1], ["e", 0]]),
        ),
        (
            "CALL varve.algo.degree({types: ['no']}) YIELD degree RETURN sum(degree), count(*)",
            json!([[0, 5]]),
        ),
        (
            "CALL varve.algo.degree({labels: ['no']}) YIELD degree RETURN count(*)",
            json!([[0]]),
        ),
        (
            "CALL varve.algo.wcc({types: ['S']}) YIELD node, group \
             WITH group, node.n AS n ORDER BY n WITH group, collect(n) AS all \
             RETURN all ORDER BY all",
            json!([[["a", "d"]], [["b"]], [["c"]], [["e"]]]),
        ),
        (
            "CALL varve.algo.scc() YIELD node, group \
             WITH group, node.n AS n ORDER BY n WITH group, collect(n) AS all \
             RETURN all ORDER BY all",
            json!([[["a", "b", "c", "d"]], [["e"]]]),
        ),
        (
            "CALL varve.algo.triangles() YIELD node, triangles, coefficient \
             RETURN node.n, triangles, coefficient ORDER BY node.n",
            json!([
                ["a", 2, 2.0 / 3.0],
                ["b", 1, 1.0],
                ["c", 2, 2.0 / 3.0],
                ["d", 1, 1.0 / 3.0],
                ["e", 0, 0.0]
            ]),
        ),
        (
            "CALL varve.algo.kcore() YIELD node, core RETURN node.n, core ORDER BY node.n",
            json!([["a", 2], ["b", 2], ["c", 2], ["d", 2], ["e", 1]]),
        ),
        (
            "CALL varve.algo.pageRank() YIELD score RETURN round(sum(score), 6)",
            json!([[1.0]]),
        ),
        (
            "CALL varve.algo.pageRank({alpha: 1, sources: [a]}) YIELD node, score \
             WHERE score > 0 RETURN node.n, score",
            json!([["a", 1.0]]),
        ),
        (
            "CALL varve.algo.sssp(a, {direction: 'OUT', types: ['R'], weight: 'w'}) \
             YIELD node, distance RETURN node.n, distance ORDER BY distance",
            json!([["a", 0.0], ["b", 1.0], ["c", 2.0], ["d", 3.0], ["e", 5.0]]),
        ),
        (
            "CALL varve.algo.sssp(c, {direction: 'OUT', types: ['R']}) \
             YIELD node, distance RETURN node.n, distance ORDER BY distance",
            json!([["c", 0.0], ["d", 1.0], ["e", 2.0]]),
        ),
        (
            "CALL varve.algo.sssp(null) YIELD node RETURN count(*)",
            json!([[0]]),
        ),
        (
            "CALL varve.algo.betweenness({direction: 'OUT', types: ['R']}) YIELD node, score \
             WHERE score > 0 RETURN node.n, score ORDER BY node.n",
            json!([["c", 4.0], ["d", 3.0]]),
        ),
        (
            "CALL varve.algo.closeness({depth: 1}) YIELD node, score \
             RETURN node.n, score ORDER BY node.n",
            json!([["a", 3.0], ["b", 2.0], ["c", 3.0], ["d", 3.0], ["e", 1.0]]),
        ),
    ] {
        let text = format!("{ENDS}{call}");
        assert_eq!(rows(&server, &text), wanted, "{text}");
    }
    for name in ["eigenvector", "louvain", "lpa", "stress"] {
        let text = format!("CALL varve.algo.{name}() YIELD node RETURN count(node.n)");
        assert_eq!(rows(&server, &text), json!([[5]]), "{text}");
    }
    // Before the way from a to c was there.
    let past = "FOR VALID_TIME AS OF '2019-06-01' \
                CALL varve.algo.degree() YIELD degree RETURN sum(degree)";
    assert_eq!(rows(&server, past), json!([[10]]));
    for call in [
        "CALL varve.algo.pageRank({alpha: 0})",
        "CALL varve.algo.pageRank({times: 2001})",
        "CALL varve.algo.pageRank({direction: 'OUT'})",
        "CALL varve.algo.pageRank({sources: [1]})",
        "CALL varve.algo.closeness({formula: 'x'})",
        "MATCH (n {n: 'a'}) CALL varve.algo.sssp(n, {depth: 1})",
    ] {
        let text = format!("{call} YIELD node RETURN node");
        let argument = "Neo.ClientError.Statement.ArgumentError";
        let type_error = "Neo.ClientError.Statement.TypeError";
        let code = code(&server, "admin", &text);
        assert!([argument, type_error].contains(&&*code), "{text}: {code}");
    }
}

#[test]
fn what_a_traverser_cannot_do_is_refused() {
    let server = square();
    let argument = "Neo.ClientError.Statement.ArgumentError";
    for call in [
        "CALL varve.kout(a, 0)",
        "CALL varve.kout(a, 1, {direction: 'up'})",
        "CALL varve.kout(a, 1, {depht: 3})",
        "CALL varve.kout(a, 1, {limit: -1})",
        "CALL varve.kneighbor(a, 1, {types: 'R'})",
        "CALL varve.weightedShortestPath(a, c, 'n2') YIELD path WITH path, a, c \
         SET a.x = 1 WITH a CALL varve.kout(a, 1, {types: [1]}) YIELD node RETURN node",
    ] {
        let text = format!("{ENDS}{call}");
        let text = match text.contains("YIELD") {
            true => text,
            false => format!("{text} YIELD node RETURN node"),
        };
        assert_eq!(code(&server, "admin", &text), argument, "{text}");
    }
    assert_eq!(rows(&server, "MATCH (n) RETURN count(n.x)"), json!([[0]]));
    rows(&server, "MATCH (d {n: 'd'})-[r:R]->() SET r.w = -1");
    let text = "MATCH (a {n: 'a'}), (e {n: 'e'}) \
                CALL varve.weightedShortestPath(a, e, 'w') YIELD weight RETURN weight";
    assert_eq!(code(&server, "admin", text), argument);
}

#[test]
fn nodes_are_merged() {
    let server = with_open_graph(server_of(config()));
    rows(
        &server,
        "CREATE (a:A {n: 'a', x: 1, only: 'a'}), (b:B {n: 'b', x: 2}), (c {n: 'c', x: 2}), (o:O), \
         (a)-[:R {v: 1}]->(o), (b)-[:R {v: 2}]->(o), (o)-[:S]->(b), (b)-[:T]->(c), (c)-[:L]->(c)",
    );
    let merge = |config: &str| {
        format!(
            "MATCH (a {{n: 'a'}}), (b {{n: 'b'}}), (c {{n: 'c'}}) \
             CALL apoc.refactor.mergeNodes([a, b, c, a], {config}) YIELD node \
             RETURN labels(node), properties(node)"
        )
    };
    assert_eq!(
        code(&server, "admin", &merge("{properties: 'mix'}")),
        "Neo.ClientError.Statement.ArgumentError"
    );
    let merged = rows(
        &server,
        &merge("{properties: {n: 'discard', `.*`: 'combine'}, mergeRels: true}"),
    );
    let properties = json!({"n": "a", "x": [1, 2], "only": "a"});
    assert_eq!(merged, json!([[["A", "B"], properties]]));
    let all = rows(
        &server,
        "MATCH (s)-[r]->(t) RETURN s.n, type(r), t.n, r.v ORDER BY type(r), s.n",
    );
    assert_eq!(
        all,
        json!([
            ["a", "L", "a", null],
            ["a", "R", null, [1, 2]],
            [null, "S", "a", null],
            ["a", "T", "a", null]
        ])
    );
    assert_eq!(rows(&server, "MATCH (n) RETURN count(n)"), json!([[2]]));
    assert_eq!(
        code(&server, "reader", &merge("{}")),
        "Neo.ClientError.Security.Forbidden"
    );
}

#[test]
fn the_schema_is_shown_as_maps() {
    let server = with_open_graph(server_of(config()));
    rows(&server, "CREATE (:A {x: 1})-[:R]->(:B)");
    rows(&server, "CREATE INDEX ax FOR (n:A) ON (n.x)");
    let shown = rows(
        &server,
        "CALL db.schema.visualization() YIELD nodes, relationships \
         UNWIND nodes AS n WITH n, relationships ORDER BY n.name \
         RETURN n.name, n.indexes, n.constraints, relationships",
    );
    let ways = json!([{"name": "R", "start": "A", "end": "B"}]);
    assert_eq!(shown, json!([["A", ["ax"], [], ways], ["B", [], [], ways]]));
}
