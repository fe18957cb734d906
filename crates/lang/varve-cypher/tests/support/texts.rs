//! Valid texts: each construct that the parser reads, as clients write it, and as it is printed.

/// Texts that are printed as they are.
pub(crate) const SAME: &[&str] = &[
    // Reading.
    "MATCH (n) RETURN n",
    "MATCH (a:Person {name: 'Ann'})-[r:KNOWS]->(b) WHERE a.age > 30 RETURN b.name AS name",
    "MATCH (a)-->(b)<--(c)--(d)<-->(e) RETURN *",
    "MATCH (a:A&B)--(b:A|B) RETURN a, b",
    "MATCH (c:!A), (d:%), (e:(A|B)&!C) RETURN c",
    "MATCH p = (a)-[:A|B*1..3]->(b) RETURN p",
    "MATCH (a)-[*]->(b)-[*2]->(c)-[r*2..]-(d)-[*..3]-(e) RETURN r",
    "MATCH p = shortestPath((a)-[:KNOWS*]-(b)) RETURN p",
    "MATCH allShortestPaths((a)-[*..5]-(b)) RETURN 1",
    "MATCH (n WHERE n.x = 1)-[r WHERE r.y = 2]->() RETURN n",
    "MATCH (n:$(label)) RETURN n",
    "MATCH (m:$any($labels)) RETURN m",
    "OPTIONAL MATCH (a)-->(b) USING INDEX a:Person(name, age) USING SCAN b:Person \
     USING JOIN ON a, b WHERE b.x IS NOT NULL RETURN b",
    "UNWIND [1, 2, 3] AS x RETURN x",
    "MATCH (n) WITH DISTINCT n, count(*) AS c ORDER BY c DESC, n.name SKIP 1 LIMIT $limit \
     WHERE c > 1 RETURN *, c + 1 AS d",
    "RETURN 1 AS a UNION RETURN 2 AS a",
    "RETURN 1 AS a UNION ALL RETURN 2 AS a UNION ALL RETURN 3 AS a",
    "USE graph.other MATCH (n) RETURN n",
    "MATCH (n) FINISH",
    // Writing.
    "CREATE (a:A&B {x: 1})-[:R {y: 2}]->(b $properties)",
    "MERGE (a)-[e:RELATES_TO {uuid: $uuid}]->(b) ON CREATE SET e.new = true, e:X \
     ON MATCH SET e += $map",
    "MATCH (n) SET n = $map, n.x = 1, n[$key] = 2, n:$(node.labels), n:A:B RETURN n",
    "MATCH (n) REMOVE n.x, n:A:B, n[$key]",
    "MATCH (n)-[r]-() DELETE r DETACH DELETE n",
    "MATCH (n) FOREACH (x IN [1, 2] | CREATE ({x: x}) SET n.x = x)",
    // Calls.
    "CALL db.labels",
    "CALL db.labels() YIELD label AS name WHERE name STARTS WITH 'A' RETURN name",
    "CALL db.ping() YIELD *",
    "OPTIONAL CALL db.index.fulltext.queryNodes('i', $text, {limit: 10}) YIELD node, score \
     RETURN node",
    "MATCH (n) CALL { WITH n RETURN n.x AS x UNION RETURN 1 AS x } RETURN x",
    "MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF $n ROWS",
    "MATCH (n) CALL (*) { SET n.x = 1 } IN 4 CONCURRENT TRANSACTIONS OF 10 ROWS \
     ON ERROR CONTINUE REPORT STATUS AS s RETURN s",
    "UNWIND $rows AS row CALL { WITH row MERGE (:A) } IN TRANSACTIONS ON ERROR FAIL",
    "OPTIONAL CALL () { MATCH (n) RETURN n } RETURN n",
    // Times.
    "FOR VALID_TIME AS OF date('2024-05-01') FOR SYSTEM_TIME AS OF $t MATCH (a) RETURN a",
    "MATCH (a) FOR VALID_TIME AS OF b.since WHERE a.x = 1 RETURN a",
    "MATCH (a) FOR VALID_TIME FROM $a TO $b RETURN a",
    "MATCH (a) FOR VALID_TIME BETWEEN $a AND $b RETURN a",
    "MATCH (a) FOR VALID_TIME ALL RETURN a",
    "CREATE (a) FOR VALID_TIME FROM $a TO $b",
    "MATCH (a) SET a.x = 1 FOR VALID_TIME FROM $a REMOVE a.y DELETE a FOR VALID_TIME FROM $b",
    "MERGE (a) FOR VALID_TIME FROM date('2024-01-01')",
    // Expressions.
    "RETURN 1 + 2 * 3 ^ 4 - 5 / 6 % 7",
    "RETURN (1 + 2) * 3, -(1), -x, +x, -1, --x, a.b.c[0][1..2][..].d",
    "RETURN a OR b XOR c AND NOT d, (a OR b) AND c, NOT (a AND b), (NOT a) = b",
    "RETURN 1 < a <= 3 <> 4 >= 5 = 6 > 7",
    "RETURN a IN b, a STARTS WITH 'x', a ENDS WITH 'x', a CONTAINS 'x', a =~ 'x.*', a || b",
    "RETURN a IS NULL, a IS NOT NULL, a IS :: INTEGER NOT NULL, a IS NOT :: LIST<STRING>, \
     a IS :: ANY<INTEGER | FLOAT>, a IS NFC NORMALIZED",
    "RETURN n:A&B, n:!A, n:(A|B)",
    "RETURN null, true, false, 1.5, 1e100, 'it\\'s', \"a\\\\b\"",
    "RETURN [], [1, [2]], {}, {a: 1, `b c`: {d: 2}}",
    "RETURN [x IN xs WHERE x > 1 | x + 1], [x IN xs], [x IN xs | x], [x IN xs WHERE x:A | x.y]",
    "RETURN [(a)-->(b) WHERE b.x | b.y], [p = (a)-[:R]-() | p]",
    "RETURN n {.name, .*, extra: 1 + 2, other}, n {}",
    "RETURN CASE WHEN a THEN 1 ELSE 2 END, CASE x WHEN 1, 2 THEN 'a' END",
    "RETURN reduce(sum = 0, x IN xs | sum + x)",
    "RETURN all(x IN xs WHERE x), any(x IN xs WHERE x), none(x IN xs WHERE x), \
     single(x IN xs WHERE x)",
    "RETURN count(*), count(DISTINCT x), apoc.coll.toSet(xs), exists(n.x), date()",
    "MATCH (a) WHERE (a)-->() AND NOT (a)-[:R]->(b) OR exists((a)--()) RETURN a",
    "RETURN EXISTS { MATCH (a)-->(b) WHERE b.x }, COUNT { MATCH (a) }, \
     COLLECT { MATCH (a) RETURN a.x }",
    "RETURN $a, $0, $`a b`, `a b`, `RETURN`, `a``b`, ü",
    // Commands.
    "CREATE RANGE INDEX name IF NOT EXISTS FOR (n:A) ON (n.x, n.y)",
    "CREATE TEXT INDEX FOR ()-[r:R]-() ON (r.x) OPTIONS {a: 1}",
    "CREATE LOOKUP INDEX FOR (n) ON EACH labels(n)",
    "CREATE LOOKUP INDEX FOR ()-[r]-() ON EACH type(r)",
    "CREATE CONSTRAINT name IF NOT EXISTS FOR (n:A) REQUIRE (n.x, n.y) IS UNIQUE",
    "CREATE CONSTRAINT FOR (n:A) REQUIRE (n.x) IS KEY OPTIONS $options",
    "CREATE CONSTRAINT FOR ()-[r:R]-() REQUIRE (r.x) IS NOT NULL",
    "CREATE CONSTRAINT FOR (n:A) REQUIRE (n.x) IS :: STRING",
    "CREATE DATABASE name IF NOT EXISTS OPTIONS {schema: 'open'}",
    "CREATE OR REPLACE DATABASE $name",
    "DROP INDEX name IF EXISTS",
    "DROP CONSTRAINT $name",
    "DROP DATABASE name IF EXISTS",
    "SHOW VECTOR INDEXES YIELD name, labelsOrTypes AS labels ORDER BY name LIMIT 5 \
     WHERE name = 'x' RETURN count(name) > 0 AS found",
    "SHOW INDEXES WHERE type = 'RANGE'",
    "SHOW CONSTRAINTS YIELD *",
    "SHOW NODE KEY CONSTRAINTS",
    "SHOW RELATIONSHIP PROPERTY TYPE CONSTRAINTS",
    "SHOW PROCEDURES YIELD name WHERE name = 'apoc.meta.schema' RETURN count(name) > 0",
    "SHOW BUILT IN FUNCTIONS",
    "SHOW DATABASES",
    "SHOW DEFAULT DATABASE",
    "SHOW HOME DATABASE",
    "SHOW CURRENT USER YIELD user",
    "SHOW DATABASE name YIELD name",
    "EXPLAIN MATCH (n) RETURN n",
    "CYPHER 5 runtime=slotted PROFILE MATCH (n) RETURN n",
    "CYPHER 25 RETURN 1",
];

/// Texts, and how they are printed.
pub(crate) const OTHER: &[(&str, &str)] = &[
    (
        "CALL { CREATE (:A) } IN TRANSACTIONS REPORT STATUS AS s ON ERROR BREAK OF 1 ROW RETURN s",
        "CALL { CREATE (:A) } IN TRANSACTIONS OF 1 ROWS ON ERROR BREAK REPORT STATUS AS s RETURN s",
    ),
    // Spellings of Cypher.
    ("match (n) return n;", "MATCH (n) RETURN n"),
    (
        "MATCH (n:A:B:C)-[:X|:Y]-() RETURN n",
        "MATCH (n:A&B&C)-[:X|Y]-() RETURN n",
    ),
    ("MATCH (n IS A|B) RETURN n IS A", "MATCH (n:A|B) RETURN n:A"),
    ("MATCH (n) RETURN n:A|B", "MATCH (n) RETURN n:(A|B)"),
    (
        "MATCH (a)-[r:R]->{1,3}(b)-->+(c)-->*(d)-->{2}(e) RETURN r",
        "MATCH (a)-[r:R*1..3]->(b)-[*1..]->(c)-[*0..]->(d)-[*2]->(e) RETURN r",
    ),
    (
        "RETURN 0x1F, 0o17, 1_000, .5, 5.e1, 1.5E3, -0x8000000000000000",
        "RETURN 31, 15, 1000, 0.5, 5.e1, 1500.0, -9223372036854775808",
    ),
    ("RETURN 'a''b', \"\\u0041\\t\"", "RETURN 'a\\'b', 'A\\t'"),
    ("RETURN 1 != 2 /* a */ // b", "RETURN 1 <> 2"),
    ("RETURN ((a)), ((a) + (b)) + c", "RETURN a, (a + b) + c"),
    ("RETURN a + (b + c) * d", "RETURN a + (b + c) * d"),
    ("RETURN 1<-x", "RETURN 1 < -x"),
    ("RETURN Infinity, NaN", "RETURN Infinity, NaN"),
    (
        "RETURN x IS TYPED INT | STRING LIST, x IS :: TIMESTAMP WITH TIME ZONE",
        "RETURN x IS :: ANY<INTEGER | LIST<STRING>>, x IS :: ZONED DATETIME",
    ),
    (
        "RETURN EXISTS { (a)-->(b) WHERE a.x }, COUNT { (a) }",
        "RETURN EXISTS { MATCH (a)-->(b) WHERE a.x }, COUNT { MATCH (a) }",
    ),
    (
        "MATCH (n) SET n IS A, n:B&C NODETACH DELETE n",
        "MATCH (n) SET n:A, n:B:C DELETE n",
    ),
    (
        "MERGE (n) ON MATCH SET n.x = 1 ON CREATE SET n.y = 2",
        "MERGE (n) ON CREATE SET n.y = 2 ON MATCH SET n.x = 1",
    ),
    // GQL.
    ("INSERT (a:A&B)", "CREATE (a:A&B)"),
    (
        "FOR x IN [1] LET y = x, z = y FILTER z > 1 RETURN z OFFSET 2",
        "UNWIND [1] AS x WITH *, x AS y, y AS z WITH * WHERE z > 1 RETURN z SKIP 2",
    ),
    (
        "MATCH (a) RETURN a.x AS x NEXT RETURN x + 1 AS y NEXT RETURN y",
        "MATCH (a) WITH a.x AS x WITH x + 1 AS y RETURN y",
    ),
    (
        "RETURN 1 AS a UNION RETURN 2 AS a NEXT RETURN a",
        "CALL () { RETURN 1 AS a UNION RETURN 2 AS a } RETURN a",
    ),
    (
        "FOR valid_time IN [1] RETURN valid_time",
        "UNWIND [1] AS valid_time RETURN valid_time",
    ),
    // Commands.
    (
        "CREATE INDEX FOR (n:A) ON n.x",
        "CREATE RANGE INDEX FOR (n:A) ON (n.x)",
    ),
    (
        "CREATE FULLTEXT INDEX edges IF NOT EXISTS FOR ()-[e:R]-() ON EACH [e.name, e.fact]",
        "CREATE FULLTEXT INDEX edges IF NOT EXISTS FOR ()-[e:R]-() ON (e.name, e.fact)",
    ),
    (
        "CREATE VECTOR INDEX v FOR (n:A) ON (n.e) OPTIONS {indexConfig: \
         {`vector.dimensions`: 3, `vector.similarity_function`: 'cosine'}}",
        "CREATE VECTOR INDEX v FOR (n:A) ON (n.e) OPTIONS {indexConfig: \
         {`vector.dimensions`: 3, `vector.similarity_function`: 'cosine'}}",
    ),
    (
        "CREATE CONSTRAINT FOR ()-[r:R]->() REQUIRE r.x IS REL KEY",
        "CREATE CONSTRAINT FOR ()-[r:R]-() REQUIRE (r.x) IS KEY",
    ),
    ("SHOW ALL FUNCTIONS EXECUTABLE", "SHOW FUNCTIONS"),
    ("SHOW UNIQUE CONSTRAINTS", "SHOW UNIQUENESS CONSTRAINTS"),
    (
        "CREATE DATABASE a.b WAIT 5 SECONDS",
        "CREATE DATABASE `a.b`",
    ),
    ("EXPLAIN CYPHER 5 RETURN 1", "CYPHER 5 EXPLAIN RETURN 1"),
    // Words as names.
    (
        "MATCH (match:Match {return: 1})-[set:SET]->(where) RETURN match.with AS order, case",
        "MATCH (`match`:Match {return: 1})-[`set`:SET]->(`where`) \
         RETURN `match`.with AS `order`, `case`",
    ),
    (
        "WITH [1] AS all WITH all UNWIND all AS x RETURN ALL x",
        "WITH [1] AS `all` WITH `all` UNWIND `all` AS x RETURN x",
    ),
    (
        "WITH 1 AS exists, 2 AS count RETURN exists, count {.x}, count {x: 1}",
        "WITH 1 AS `exists`, 2 AS `count` RETURN `exists`, `count` {.x}, `count` {x: 1}",
    ),
];

/// Texts of the kinds that clients send: agents' memories, drivers, object mappers.
pub(crate) const CLIENTS: &[&str] = &[
    "UNWIND $nodes AS node MERGE (n:Entity {uuid: node.uuid}) SET n:$(node.labels) SET n = node \
     WITH n, node CALL db.create.setNodeVectorProperty(n, \"name_embedding\", \
     node.name_embedding) RETURN n.uuid AS uuid",
    "MATCH (source:Entity {uuid: $edge.source}) MATCH (target:Entity {uuid: $edge.target}) \
     MERGE (source)-[e:RELATES_TO {uuid: $edge.uuid}]->(target) SET e = $edge RETURN e.uuid AS uuid",
    "UNWIND $origins AS origin MATCH path = (:Entity|Episodic {uuid: origin})\
     -[:RELATES_TO|MENTIONS*1..3]->(:Entity) UNWIND relationships(path) AS rel \
     MATCH (n:Entity)-[e:RELATES_TO {uuid: rel.uuid}]-(m:Entity) \
     WHERE e.group_id IN $group_ids AND (e.valid_at <= $at OR e.valid_at IS NULL) \
     RETURN DISTINCT e.uuid AS uuid, properties(e) AS attributes, startNode(e).uuid AS source \
     LIMIT $limit",
    "MATCH (n:Entity|Episodic|Community) WHERE n.group_id IN $ids \
     CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF $batch ROWS",
    "CALL db.index.fulltext.queryNodes(\"node_name_and_summary\", $query, {limit: $limit}) \
     YIELD node AS n, score WHERE n.group_id IN $ids \
     WITH n, score ORDER BY score DESC LIMIT $limit RETURN n.uuid AS uuid, labels(n) AS labels",
    "MATCH (n:Entity) WITH n, vector.similarity.cosine(n.name_embedding, $v) AS score \
     WHERE score > $min RETURN n.uuid, score ORDER BY score DESC LIMIT 10;",
    "CREATE FULLTEXT INDEX node_name IF NOT EXISTS FOR (n:Entity) \
     ON EACH [n.name, n.summary, n.group_id]",
    "CREATE INDEX entity_uuid IF NOT EXISTS FOR (n:Entity) ON (n.uuid)",
    "SHOW INDEXES YIELD name, type, entityType, labelsOrTypes, properties, options \
     WHERE type = 'VECTOR' AND (name = $i OR (labelsOrTypes[0] = $l AND properties[0] = $p)) \
     RETURN name, labelsOrTypes, properties, options",
    "SHOW PROCEDURES YIELD name WHERE name = 'apoc.meta.schema' RETURN count(name) > 0 AS has",
    "CALL apoc.meta.data({sample: $sample}) YIELD label, other, elementType, type, property \
     WHERE NOT type = 'RELATIONSHIP' AND elementType = 'node' AND NOT label IN $excluded \
     WITH label AS nodeLabels, collect({property: property, type: type}) AS properties \
     RETURN {labels: nodeLabels, properties: properties} AS output",
    "CALL dbms.components() YIELD name, versions, edition \
     UNWIND versions AS version RETURN name, version, edition",
    "MATCH (this:`Movie`) WHERE this.`title` = $param0 CALL { WITH this \
     MATCH (this)<-[edge:ACTED_IN]-(actor:Person) WITH actor {.name, .born} AS actor \
     RETURN collect(actor) AS actors } RETURN this {.title, actors: actors} AS this",
    "MATCH (n) WHERE elementId(n) = $self OPTIONAL MATCH (n)-[r]-() RETURN n, \
     [(n)-[:KNOWS]->(m) WHERE m.age >= 18 | m {.*, id: elementId(m)}] AS known",
];
