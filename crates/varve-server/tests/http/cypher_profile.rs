//! `PROFILE`: what the operators of a query have done.

use serde_json::{Value as Json, json};
use varve_bolt::packstream::Value;
use varve_testserver::TestServer;

use crate::bolt::{Client, config, entry};
use crate::cypher_schema::online;

const SUCCESS: u8 = 0x70;

/// A server with an open graph `g`, in which ten nodes `:A` have 30 relationships to one `:B`.
fn server() -> TestServer {
    let server = TestServer::start(config());
    let made = server.send("POST", "/graphs/g", r#"{"schema":"open"}"#);
    assert!((200..300).contains(&made.status), "{}", made.text());
    let text = "CREATE (b:B) WITH b UNWIND range(1, 10) AS i CREATE (a:A {i: i}) WITH a, b \
                UNWIND [1, 2, 3] AS j CREATE (a)-[:T {j: j}]->(b)";
    ask(&server, text);
    server
}

fn ask(server: &TestServer, statement: &str) -> Json {
    let body = json!({ "statement": statement }).to_string();
    let answer = server.send("POST", "/db/g/query/v2", &body);
    assert_eq!(answer.status, 202, "{statement}: {}", answer.text());
    serde_json::from_str(answer.text()).expect("JSON")
}

/// Name, rows and reads of the operators, the last one first.
fn lines(plan: &Json) -> Vec<(String, i64, i64)> {
    let number = |name: &str| plan[name].as_i64().unwrap_or_else(|| panic!("{plan}"));
    let name = plan["operatorType"].as_str().unwrap().to_owned();
    let mut all = vec![(name, number("records"), number("dbHits"))];
    assert!(
        number("time") >= 0 && plan["hasPageCacheStats"] == false,
        "{plan}"
    );
    for child in plan["children"].as_array().unwrap() {
        all.extend(lines(child));
    }
    all
}

fn find<'l>(lines: &'l [(String, i64, i64)], name: &str) -> &'l (String, i64, i64) {
    let found = lines.iter().find(|line| line.0 == name);
    found.unwrap_or_else(|| panic!("no {name}: {lines:?}"))
}

#[test]
fn the_query_api_gives_the_rows_and_reads_of_each_operator() {
    let server = server();
    let text = "MATCH (a:A)-[r:T]->(b) WHERE r.j < 3 RETURN a.i, r.j";
    let plain = ask(&server, text);
    assert_eq!(plain["profiledQueryPlan"], Json::Null);
    let answer = ask(&server, &format!("PROFILE {text}"));
    let rows = |answer: &Json| answer["data"]["values"].as_array().map(Vec::len);
    assert_eq!((rows(&answer), rows(&plain)), (Some(20), Some(20)));
    assert_eq!(answer["queryPlan"], Json::Null);
    let profile = lines(&answer["profiledQueryPlan"]);
    assert_eq!(
        (profile[0].0.as_str(), profile[0].1),
        ("ProduceResults", 20)
    );
    assert_eq!(find(&profile, "NodeScan").1, 10);
    assert!(find(&profile, "NodeScan").2 >= 10, "{profile:?}");
    assert_eq!(find(&profile, "Expand").1, 30);
    assert!(find(&profile, "Expand").2 >= 30, "{profile:?}");
    assert_eq!(find(&profile, "Filter").1, 20);
    // An operator does not count what those before it read.
    let filtered = lines(
        &ask(
            &server,
            "PROFILE UNWIND [1, 2, 3] AS i WITH i WHERE i > 1 RETURN i",
        )["profiledQueryPlan"],
    );
    assert!(filtered.iter().all(|line| line.2 == 0), "{filtered:?}");
    assert_eq!(find(&filtered, "Filter").1, 2);
}

#[test]
fn subqueries_are_measured_over_all_their_runs() {
    let server = server();
    let text = "PROFILE MATCH (a:A) CALL (a) { MATCH (a)-[r]->() RETURN r.j AS j UNION ALL \
                RETURN 0 AS j } OPTIONAL MATCH (a)<-[x]-() \
                WHERE EXISTS { (a)-->(:B) } RETURN j";
    let answer = ask(&server, text);
    let profile = lines(&answer["profiledQueryPlan"]);
    assert_eq!(find(&profile, "OptionalApply").1, 40);
    assert_eq!(find(&profile, "Apply").1, 40);
    assert_eq!(find(&profile, "Union").1, 40);
    let expands: Vec<i64> = profile
        .iter()
        .filter(|line| line.0 == "Expand")
        .map(|line| line.1)
        .collect();
    assert!(expands.contains(&30), "{profile:?}");
    // One that writes is carried out, once for each row.
    let text = "PROFILE MATCH (a:A) CALL (a) { CREATE (c:C {i: a.i}) RETURN c } \
                IN TRANSACTIONS OF 3 ROWS RETURN c.i";
    let profile = lines(&ask(&server, text)["profiledQueryPlan"]);
    assert_eq!(find(&profile, "TransactionApply").1, 10);
    assert_eq!(find(&profile, "Write").1, 10);
    let count = ask(&server, "MATCH (c:C) RETURN count(c)");
    assert_eq!(count["data"]["values"], json!([[10]]));
    // A statement that returns nothing, one that lists, and one that is only explained.
    let profile = lines(&ask(&server, "PROFILE MATCH (c:C) DELETE c")["profiledQueryPlan"]);
    assert_eq!((profile[0].1, find(&profile, "Write").1), (0, 10));
    let listed = ask(&server, "PROFILE SHOW DATABASES YIELD name");
    assert_eq!(listed["data"]["values"], json!([["g"]]));
    let profile = lines(&listed["profiledQueryPlan"]);
    assert_eq!(find(&profile, "ProcedureCall").1, 1);
    let explained = ask(&server, "EXPLAIN SHOW DATABASES YIELD name");
    assert_eq!(explained["data"]["values"], json!([]));
    assert_eq!(explained["queryPlan"]["records"], Json::Null);
}

#[test]
fn drivers_find_a_profile_in_the_summary() {
    let server = server();
    let mut client = Client::of(&server, "anybody");
    client.run("PROFILE MATCH (a:A) RETURN a", &[]);
    client.pull(-1);
    client.expect(SUCCESS);
    let (records, tag, end) = client.records();
    assert_eq!((records.len(), tag), (10, SUCCESS), "{end:?}");
    let profile = entry(&end, "profile");
    for (name, value) in [
        ("operatorType", Value::from("ProduceResults")),
        ("rows", Value::Int(10)),
        ("pageCacheHits", Value::Int(0)),
        ("pageCacheMisses", Value::Int(0)),
        ("pageCacheHitRatio", Value::Float(0.0)),
        ("identifiers", Value::List(Vec::new())),
    ] {
        assert_eq!(entry(profile, name), &value, "{name}");
    }
    assert_eq!(entry(entry(profile, "args"), "Rows"), &Value::Int(10));
    let mut below = profile;
    while entry(below, "operatorType") != &Value::from("NodeScan") {
        let Value::List(children) = entry(below, "children") else {
            panic!("{below:?}");
        };
        below = &children[0];
        assert!(matches!(entry(below, "time"), Value::Int(0..)), "{below:?}");
    }
    assert!(
        matches!(entry(below, "dbHits"), Value::Int(10..)),
        "{below:?}"
    );
    // Without it there is none.
    client.run("MATCH (a:A) RETURN a", &[]);
    client.pull(-1);
    client.expect(SUCCESS);
    let (_, _, end) = client.records();
    let Value::Map(entries) = &end else {
        panic!("{end:?}");
    };
    assert!(entries.iter().all(|(name, _)| name != "profile"), "{end:?}");
}

#[test]
fn an_index_answers_a_list_of_any_length() {
    let server = server();
    ask(&server, "CREATE INDEX FOR (c:C) ON (c.number)");
    ask(&server, "CREATE INDEX FOR (c:C) ON (c.mixed)");
    let made = "UNWIND range(1, 5000) AS i \
                CREATE (:C {number: i, mixed: toString(i)}), (:C {mixed: i})";
    ask(&server, made);
    online(&server, "g");
    for (key, list) in [
        ("number", "range(5001, 6200)"),
        ("mixed", "[x IN range(5001, 6200) | toString(x)]"),
    ] {
        let text = format!("WITH {list} AS l MATCH (c:C) WHERE c.{key} IN l RETURN c.{key}");
        let profile = lines(&ask(&server, &format!("PROFILE {text}"))["profiledQueryPlan"]);
        assert!(find(&profile, "NodeScan").2 < 1_000, "{key} {profile:?}");
    }
}
