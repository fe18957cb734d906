//! Constraints of existence, key and type by Cypher's commands, at all doors.

use serde_json::json;

use crate::cypher_schema::{code, counter, open_server, rows};

const VIOLATED: &str = "ClientError.Schema.ConstraintValidationFailed";
const FAILED: &str = "DatabaseError.Schema.ConstraintCreationFailed";
const UNSUPPORTED: &str = "ClientError.Statement.UnsupportedOperationError";

#[test]
fn constraints_have_the_names_types_and_errors_of_neo4j() {
    let server = open_server();
    let made = |text: &str| counter(&server, text, "constraintsAdded");
    for (text, added) in [
        ("CREATE CONSTRAINT e FOR (n:A) REQUIRE n.x IS NOT NULL", 1),
        (
            "CREATE CONSTRAINT e IF NOT EXISTS FOR (n:A) REQUIRE n.x IS NOT NULL",
            0,
        ),
        (
            "CREATE CONSTRAINT f IF NOT EXISTS FOR (n:A) REQUIRE n.x IS NOT NULL",
            0,
        ),
        (
            "CREATE CONSTRAINT k FOR (n:A) REQUIRE (n.x, n.y) IS NODE KEY",
            1,
        ),
        (
            "CREATE CONSTRAINT t FOR (n:A) REQUIRE n.x IS :: INTEGER | STRING",
            1,
        ),
        (
            "CREATE CONSTRAINT l FOR (n:A) REQUIRE n.z IS TYPED LIST<FLOAT NOT NULL>",
            1,
        ),
        (
            "CREATE CONSTRAINT re FOR ()-[r:T]-() REQUIRE r.x IS NOT NULL",
            1,
        ),
        (
            "CREATE CONSTRAINT rk FOR ()-[r:T]-() REQUIRE r.y IS RELATIONSHIP KEY",
            1,
        ),
        (
            "CREATE CONSTRAINT rt FOR ()-[r:T]-() REQUIRE r.x IS :: ZONED DATETIME",
            1,
        ),
    ] {
        assert_eq!(made(text), added, "{text}");
    }
    for (text, expected) in [
        (
            "CREATE CONSTRAINT e FOR (n:A) REQUIRE n.x IS NOT NULL",
            "ClientError.Schema.EquivalentSchemaRuleAlreadyExists",
        ),
        (
            "CREATE CONSTRAINT f FOR (n:A) REQUIRE n.x IS NOT NULL",
            "ClientError.Schema.ConstraintAlreadyExists",
        ),
        (
            "CREATE CONSTRAINT IF NOT EXISTS FOR (n:A) REQUIRE n.x IS :: FLOAT",
            "ClientError.Schema.ConstraintAlreadyExists",
        ),
        (
            "CREATE CONSTRAINT FOR (n:A) REQUIRE (n.x, n.y) IS UNIQUE",
            "ClientError.Schema.ConstraintAlreadyExists",
        ),
        (
            "CREATE INDEX FOR (n:A) ON (n.x, n.y)",
            "ClientError.Schema.ConstraintAlreadyExists",
        ),
        (
            "CREATE CONSTRAINT FOR (n:A) REQUIRE (n.x, n.y) IS NOT NULL",
            UNSUPPORTED,
        ),
        (
            "CREATE CONSTRAINT FOR (n:A) REQUIRE n.w IS :: INTEGER NOT NULL",
            UNSUPPORTED,
        ),
        (
            "CREATE CONSTRAINT FOR (n:A) REQUIRE n.w IS :: MAP",
            UNSUPPORTED,
        ),
        (
            "CREATE CONSTRAINT FOR (n:A) REQUIRE n.w IS :: LIST<LIST<INTEGER>>",
            UNSUPPORTED,
        ),
    ] {
        assert_eq!(code(&server, "g", text), expected, "{text}");
    }
    let shown = rows(
        &server,
        "g",
        "SHOW CONSTRAINTS YIELD name, type, entityType, labelsOrTypes, properties, ownedIndex, \
         propertyType, createStatement ORDER BY name",
    );
    let node = |name: &str,
                kind: &str,
                keys: &[&str],
                owned: Option<&str>,
                of: Option<&str>,
                rule: &str| {
        let on: Vec<String> = keys.iter().map(|key| format!("n.`{key}`")).collect();
        let text = format!(
            "CREATE CONSTRAINT `{name}` FOR (n:`A`) REQUIRE ({}) {rule}",
            on.join(", ")
        );
        json!([name, kind, "NODE", ["A"], keys, owned, of, text])
    };
    let relationship =
        |name: &str, kind: &str, key: &str, owned: Option<&str>, of: Option<&str>, rule: &str| {
            let text =
                format!("CREATE CONSTRAINT `{name}` FOR ()-[r:`T`]-() REQUIRE (r.`{key}`) {rule}");
            json!([name, kind, "RELATIONSHIP", ["T"], [key], owned, of, text])
        };
    let either = "INTEGER | STRING";
    let list = "LIST<FLOAT NOT NULL>";
    let zoned = "ZONED DATETIME";
    assert_eq!(
        shown,
        json!([
            node(
                "e",
                "NODE_PROPERTY_EXISTENCE",
                &["x"],
                None,
                None,
                "IS NOT NULL"
            ),
            node("k", "NODE_KEY", &["x", "y"], Some("k"), None, "IS NODE KEY"),
            node(
                "l",
                "NODE_PROPERTY_TYPE",
                &["z"],
                None,
                Some(list),
                &format!("IS :: {list}")
            ),
            relationship(
                "re",
                "RELATIONSHIP_PROPERTY_EXISTENCE",
                "x",
                None,
                None,
                "IS NOT NULL"
            ),
            relationship(
                "rk",
                "RELATIONSHIP_KEY",
                "y",
                Some("rk"),
                None,
                "IS RELATIONSHIP KEY"
            ),
            relationship(
                "rt",
                "RELATIONSHIP_PROPERTY_TYPE",
                "x",
                None,
                Some(zoned),
                &format!("IS :: {zoned}")
            ),
            node(
                "t",
                "NODE_PROPERTY_TYPE",
                &["x"],
                None,
                Some(either),
                &format!("IS :: {either}")
            ),
        ])
    );
    // What is shown can be run again.
    for row in shown.as_array().expect("rows") {
        let text = row[7].as_str().expect("a statement");
        let expected = "ClientError.Schema.EquivalentSchemaRuleAlreadyExists";
        assert_eq!(code(&server, "g", text), expected, "{text}");
    }
    let names = |text: &str| rows(&server, "g", text);
    assert_eq!(
        names("SHOW NODE KEY CONSTRAINTS YIELD name"),
        json!([["k"]])
    );
    assert_eq!(
        names("SHOW EXISTENCE CONSTRAINTS YIELD name RETURN name ORDER BY name"),
        json!([["e"], ["re"]])
    );
    assert_eq!(
        names("SHOW REL PROPERTY TYPE CONSTRAINTS YIELD name"),
        json!([["rt"]])
    );
    assert_eq!(
        names("SHOW INDEXES YIELD name, owningConstraint RETURN * ORDER BY name"),
        json!([["k", "k"], ["rk", "rk"]])
    );
    assert_eq!(
        counter(&server, "DROP CONSTRAINT e", "constraintsRemoved"),
        1
    );
    assert_eq!(
        names("SHOW NODE EXISTENCE CONSTRAINTS YIELD name"),
        json!([])
    );
}

#[test]
fn constraints_hold_at_every_door() {
    let server = open_server();
    rows(
        &server,
        "g",
        "CREATE (:A {x: 'old'}), (:B), (:C)-[:T {x: 1}]->(:C)",
    );
    for (text, element) in [
        ("CREATE CONSTRAINT FOR (n:B) REQUIRE n.x IS NOT NULL", "v["),
        (
            "CREATE CONSTRAINT FOR (n:A) REQUIRE n.x IS :: INTEGER",
            "v[",
        ),
        ("CREATE CONSTRAINT FOR (n:A) REQUIRE n.y IS NODE KEY", "v["),
        (
            "CREATE CONSTRAINT FOR ()-[r:T]-() REQUIRE r.x IS :: STRING",
            "e[",
        ),
    ] {
        assert_eq!(code(&server, "g", text), FAILED, "{text}");
        let (_, answer) = crate::cypher_schema::asked(&server, "g", text);
        let message = answer["errors"][0]["message"].as_str().expect("a message");
        assert!(message.contains(element), "{message}");
    }
    assert_eq!(rows(&server, "g", "SHOW CONSTRAINTS"), json!([]));
    for text in [
        "CREATE CONSTRAINT e FOR (n:A) REQUIRE n.x IS NOT NULL",
        "CREATE CONSTRAINT t FOR (n:A) REQUIRE n.x IS :: STRING",
        "CREATE CONSTRAINT r FOR ()-[r:T]-() REQUIRE r.x IS NOT NULL",
    ] {
        assert_eq!(counter(&server, text, "constraintsAdded"), 1, "{text}");
    }
    for text in [
        "CREATE (:A)",
        "CREATE (:A:C {x: 1})",
        "MATCH (b:B) SET b:A",
        "MATCH (a:A) REMOVE a.x",
        "MATCH (a:A) SET a.x = 1",
        "MATCH (a:A) SET a = {y: 1}",
        "MATCH (a:A), (b:B) CREATE (a)-[:T]->(b)",
        "MATCH ()-[r:T]->() SET r.x = null",
        "MERGE (:A {y: 1})",
    ] {
        assert_eq!(code(&server, "g", text), VIOLATED, "{text}");
    }
    // Only the end of a transaction counts.
    rows(&server, "g", "CREATE (a:A) WITH a SET a.x = 'new'");
    for script in [
        "g.addV('A')",
        "g.V().hasLabel('A').properties('x').drop()",
        "g.V().hasLabel('A').property('x', 7)",
    ] {
        let body = json!({"gremlin": script, "aliases": {"g": "__g_g"}});
        let answer = server.send("POST", "/gremlin", &body.to_string());
        assert!(
            answer.text().contains("must have the property"),
            "{}",
            answer.text()
        );
    }
    let wrong = json!({"label": "A", "properties": {"x": 7}});
    for (path, body) in [
        ("vertices", wrong.clone()),
        ("vertices/batch", json!([wrong])),
    ] {
        let path = format!("/graphs/g/graph/{path}");
        let answer = server.send("POST", &path, &body.to_string());
        assert_eq!(answer.status, 400, "{}", answer.text());
        assert!(
            answer.text().contains("VRV-CONSTRAINT"),
            "{}",
            answer.text()
        );
    }
    let left = "MATCH (a:A) RETURN a.x ORDER BY a.x";
    assert_eq!(rows(&server, "g", left), json!([["new"], ["old"]]));
}

#[test]
fn a_declared_schema_says_itself_what_its_elements_have() {
    let server = varve_testserver::TestServer::start(crate::bolt::config());
    let made = server.send("POST", "/graphs/hugegraph", "{}");
    assert_eq!(made.status, 201, "{}", made.text());
    let text = "CREATE CONSTRAINT FOR (n:person) REQUIRE n.name IS NOT NULL";
    assert_eq!(code(&server, "hugegraph", text), UNSUPPORTED);
}
