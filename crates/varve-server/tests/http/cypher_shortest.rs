//! Shortest paths in Cypher, compared with all walks of the same patterns.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};
use varve_testkit::Random;
use varve_testserver::TestServer;

use crate::authentication::{send, server_of, with_open_graph};
use crate::bolt::config;

/// Nodes of a graph.
const NODES: usize = 7;

fn rows(server: &TestServer, text: &str, parameters: &Json) -> Vec<Json> {
    let body = json!({"statement": text, "parameters": parameters});
    let answer = send(server, "admin", "POST", "/db/g/query/v2", &body);
    assert_eq!(answer.status, 202, "{text}: {}", answer.text());
    let mut answer: Json = serde_json::from_str(answer.text()).unwrap();
    serde_json::from_value(answer["data"]["values"].take()).unwrap()
}

/// A graph with loops, parallel relationships, and parts that may not be connected.
fn make(server: &TestServer, random: &mut Random) {
    rows(server, "MATCH (n) DETACH DELETE n", &json!({}));
    let nodes: Vec<usize> = (0..NODES).collect();
    let create = "UNWIND $nodes AS n CREATE (:P {n: n})";
    rows(server, create, &json!({"nodes": nodes}));
    let mut draw = |below: usize| random.below(below);
    let relationships: Vec<Json> = (0..4 + draw(10))
        .map(|_| json!([draw(NODES), draw(NODES), draw(4)]))
        .collect();
    let create = "UNWIND $all AS one MATCH (a:P {n: one[0]}), (b:P {n: one[1]}) \
                  CREATE (a)-[:R {w: one[2]}]->(b)";
    rows(server, create, &json!({"all": relationships}));
}

/// The paths of a pattern between each two nodes, by their ends: the elements of each.
fn paths(server: &TestServer, pattern: &str, condition: &str) -> Vec<(String, Json)> {
    let text = format!(
        "MATCH (a:P), (b:P) WHERE a <> b MATCH {pattern} {condition} RETURN a.n, b.n, \
         [n IN nodes(p) | n.n], [r IN relationships(p) | elementId(r)]"
    );
    rows(server, &text, &json!({}))
        .iter()
        .map(|row| (format!("{} {}", row[0], row[1]), json!([row[2], row[3]])))
        .collect()
}

/// The number of relationships of a path.
fn length(path: &Json) -> usize {
    path[1].as_array().unwrap().len()
}

#[test]
fn shortest_paths_are_the_shortest_of_all_walks() {
    let server = with_open_graph(server_of(config()));
    let mut random = Random::new(20_261_130);
    let mut connected = 0;
    for _ in 0..12 {
        make(&server, &mut random);
        for (left, right) in [("-", "->"), ("<-", "-"), ("-", "-")] {
            for (most, condition) in [
                (5, ""),
                (2, ""),
                (5, "WHERE all(r IN relationships(p) WHERE r.w > 0)"),
            ] {
                let walk = format!("(a){left}[:R*1..{most}]{right}(b)");
                let all = paths(&server, &format!("p = {walk}"), condition);
                let least = |ends: &str| {
                    let of = all.iter().filter(|(own, _)| own == ends);
                    of.map(|(_, path)| length(path)).min()
                };
                let wanted: BTreeSet<String> = all
                    .iter()
                    .filter(|(ends, path)| least(ends) == Some(length(path)))
                    .map(|(ends, path)| format!("{ends}: {path}"))
                    .collect();
                let found = paths(&server, &format!("p = allShortestPaths({walk})"), condition);
                let count = found.len();
                let found: BTreeSet<String> = found
                    .iter()
                    .map(|(ends, path)| format!("{ends}: {path}"))
                    .collect();
                assert_eq!(found, wanted, "{walk} {condition}");
                assert_eq!(found.len(), count, "a path twice: {walk} {condition}");
                // One of them for each two ends that are connected.
                let one = paths(&server, &format!("p = shortestPath({walk})"), condition);
                let ends: BTreeSet<&String> = all.iter().map(|(ends, _)| ends).collect();
                assert_eq!(one.len(), ends.len(), "{walk} {condition}");
                for (ends, path) in &one {
                    let path = format!("{ends}: {path}");
                    assert!(wanted.contains(&path), "{path}: {walk} {condition}");
                }
                connected += ends.len();
            }
        }
    }
    assert!(connected > 500, "{connected}");
}

/// From a to z there are 50 ways of two steps and as many of three, and many others lead to z.
#[test]
fn many_neighbours_are_read_in_pieces() {
    let server = with_open_graph(server_of(config()));
    let make = "CREATE (a:P {n: 'a'}), (z:P {n: 'z'}) WITH a, z UNWIND range(1, 50) AS i \
                CREATE (a)-[:R]->(:M {i: i})-[:R]->(z), (:N)-[:R]->(z), \
                       (a)-[:S]->(:M)-[:S]->(:M)-[:S]->(z)";
    rows(&server, make, &json!({}));
    for (pattern, paths, length) in [
        ("shortestPath((a)-[:R*]->(z))", 1, 2),
        ("allShortestPaths((a)-[*]->(z))", 50, 2),
        ("shortestPath((z)-[*]-(a))", 1, 2),
        ("allShortestPaths((z)<-[:S*..3]-(a))", 50, 3),
        ("allShortestPaths((z)<-[:S*..2]-(a))", 0, 3),
        ("shortestPath((a)<-[*]-(z))", 0, 0),
    ] {
        let text = format!(
            "MATCH (a:P {{n: 'a'}}), (z:P {{n: 'z'}}) MATCH p = {pattern} \
             RETURN length(p), [n IN nodes(p) | elementId(n)]"
        );
        let found = rows(&server, &text, &json!({}));
        let different: BTreeSet<String> = found.iter().map(Json::to_string).collect();
        assert_eq!(different.len(), paths, "{pattern}");
        assert!(found.iter().all(|row| row[0] == json!(length)), "{pattern}");
    }
}
