//! Queries of graphs with indexes on nodes and relationships give the rows that they give without
//! indexes, also within a transaction that has changed the graph, and begin at an index where that
//! finds less.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use varve_cypher::temporal::Clock;
use varve_cypher::{Context, Graph, Map, NoProcedures, PlanTree, Sizes, Value};
use varve_graph::optimistic::{OptimisticLimits, OptimisticTransaction};
use varve_graph::schema::{DefinitionKind, NewDefinition, SchemaMode};
use varve_graph::write::WritePeriod;
use varve_graph::{Graph as StoredGraph, GraphOptions, Registry};
use varve_kv::MemoryEngine;
use varve_model::time::SystemClock;
use varve_testkit::Random;
use varve_view::Meter;

const NODES: usize = 100;
const EDGES: usize = 200;

struct World {
    _registry: Registry,
    graph: Arc<StoredGraph>,
}

impl World {
    fn new(is_indexed: bool) -> World {
        let options = GraphOptions::new(Arc::new(SystemClock));
        let registry = Registry::open(Arc::new(MemoryEngine::new()), options).expect("a registry");
        let graph = registry.create_with("g", SchemaMode::Open);
        let graph = graph.expect("a graph");
        if is_indexed {
            for (name, is_of_edges, label, key) in [
                ("n", false, "A", "k"),
                ("r", true, "R", "k"),
                ("s", true, "S", "k"),
                ("rt", true, "R", "t"),
                ("v", false, "V", "v"),
                ("rv", true, "W", "v"),
            ] {
                let new = NewDefinition {
                    name: name.to_owned(),
                    kind: DefinitionKind::Range,
                    is_of_edges,
                    label: label.to_owned(),
                    keys: vec![key.to_owned()],
                    types: Vec::new(),
                };
                let changes = graph.catalogue().owned_by(None);
                let (_, tasks) = changes.create_definition(new).expect("an index");
                for task in tasks {
                    let done = graph.tasks().wait_until_done(task, Duration::from_secs(60));
                    done.expect("built");
                }
            }
        }
        World {
            _registry: registry,
            graph,
        }
    }

    fn begin(&self) -> OptimisticTransaction {
        let begun = self.graph.begin(OptimisticLimits::default());
        begun.expect("a transaction")
    }

    fn within(&self, transaction: &OptimisticTransaction, text: &str) -> (Vec<String>, PlanTree) {
        let (mut rows, plan, _) = self.asked(transaction, text);
        rows.sort();
        (rows, plan)
    }

    /// The rows in their order, the plan, and how many rows of tables were read.
    fn asked(
        &self,
        transaction: &OptimisticTransaction,
        text: &str,
    ) -> (Vec<String>, PlanTree, u64) {
        let meter = Meter::unlimited();
        let schema = self.graph.schema();
        let sizes = Sizes {
            graph: Some((transaction, &meter)),
        };
        let explained =
            varve_cypher::prepare(&format!("EXPLAIN {text}"), &*schema, &NoProcedures, sizes);
        let plan = explained.expect(text).explain().expect("a plan");
        let prepared = varve_cypher::prepare(text, &*schema, &NoProcedures, sizes).expect(text);
        let mut parameters = Map::new();
        let list = [7, 3, 7, 11].map(Value::Integer).to_vec();
        parameters.insert("one".into(), Value::Integer(7));
        parameters.insert("some".into(), Value::list(list));
        parameters.insert(
            "odd".into(),
            Value::list(vec![Value::Null, Value::Float(7.0)]),
        );
        parameters.insert("text".into(), Value::string("t3"));
        parameters.insert("none".into(), Value::list(Vec::new()));
        let context = Context {
            graph: Graph {
                view: transaction,
                schema: transaction,
                writer: prepared
                    .writes()
                    .then_some(transaction as &dyn varve_view::GraphWriter),
                meter: &meter,
            },
            parameters: &parameters,
            clock: Clock::now(),
            procedures: &NoProcedures,
        };
        let mut rows = varve_cypher::run(&prepared, context).expect(text);
        let mut texts = Vec::new();
        while let Some(batch) = rows.next().expect(text) {
            for (row, count) in batch.rows() {
                let values: Vec<String> = row.iter().map(ToString::to_string).collect();
                texts.extend((0..count).map(|_| values.join(" ")));
            }
        }
        drop(rows);
        (texts, plan, meter.rows())
    }

    fn run(&self, text: &str) -> (Vec<String>, PlanTree) {
        let transaction = self.begin();
        let done = self.within(&transaction, text);
        let committed = transaction.commit(WritePeriod::default());
        committed.expect("a commit");
        done
    }
}

fn names(plan: &PlanTree, found: &mut Vec<&'static str>) {
    found.push(plan.name);
    plan.children.iter().for_each(|child| names(child, found));
}

fn begins_at(plan: &PlanTree, name: &str) -> bool {
    let mut found = Vec::new();
    names(plan, &mut found);
    found.contains(&name)
}

fn data(random: &mut Random) -> String {
    let mut text = "CREATE ".to_owned();
    for at in 0..NODES {
        let label = ["", ":A", ":B", ":A:B"][random.below(4)];
        let k = random.below(20);
        let _ = write!(text, "(n{at}{label} {{i: {at}, k: {k}}}), ");
    }
    let edges = (0..EDGES).map(|at| {
        let (from, to) = (random.below(NODES), random.below(NODES));
        let name = ["R", "S", "T"][random.below(3)];
        let properties = match random.below(5) {
            0 => String::new(),
            1 => format!(", t: 't{}'", random.below(5)),
            _ => format!(", k: {}, t: 't{}'", random.below(20), random.below(5)),
        };
        format!("(n{from})-[:{name} {{i: {at}{properties}}}]->(n{to})")
    });
    text + &edges.collect::<Vec<_>>().join(", ")
}

/// Queries, and whether each begins at an indexed relationship.
const QUERIES: &[(&str, bool)] = &[
    ("MATCH (a)-[r:R {k: $one}]->(b) RETURN a.i, r.i, b.i", true),
    ("MATCH (a)<-[r:R {k: 7}]-(b) RETURN a.i, r.i, b.i", true),
    ("MATCH (a)-[r:R {k: $one}]-(b) RETURN a.i, r.i, b.i", true),
    (
        "MATCH (a)-[r:R]->(b) WHERE r.k IN $some RETURN a.i, r.i, b.i",
        true,
    ),
    (
        "MATCH (a)-[r:R]->(b) WHERE r.k IN $odd RETURN a.i, r.i, b.i",
        true,
    ),
    (
        "MATCH (a)-[r:R]->(b) WHERE r.k IN $none RETURN a.i, r.i, b.i",
        true,
    ),
    (
        "MATCH (a)-[r:R]->(b) WHERE r.k IN [3, 'x', date()] RETURN r.i",
        true,
    ),
    (
        "MATCH (a)-[r:R]->(b) WHERE r.k = null RETURN a.i, r.i, b.i",
        true,
    ),
    (
        "MATCH (a)-[r:R|S {k: $one}]->(b) RETURN a.i, r.i, b.i",
        true,
    ),
    ("MATCH (a)-[r:R {k: $one, t: $text}]->(b) RETURN r.i", true),
    (
        "MATCH (a:A)-[r:R {k: $one}]->(b:B) RETURN a.i, r.i, b.i",
        true,
    ),
    (
        "UNWIND $some AS k MATCH (a)-[r:R {k: k}]->(b) RETURN k, r.i",
        true,
    ),
    ("MATCH (a)-[r:R {k: 7}]->(a) RETURN a.i, r.i", true),
    (
        "MATCH p = (a)-[r:R {k: 7}]->(b)-[s]->(c) RETURN length(p), r.i, s.i",
        true,
    ),
    (
        "MATCH (a)-[r:R {k: 7}]-(b)-[s:R {k: 7}]-(c) RETURN a.i, r.i, s.i, c.i",
        true,
    ),
    ("MATCH (a)-[q]->(b)-[r:R {k: 7}]->(c) RETURN q.i, r.i", true),
    ("MATCH (a)-[r:R {k: $one}]->(b) RETURN count(*)", true),
    (
        "OPTIONAL MATCH (a)-[r:R {k: 77}]->(b) RETURN a.i, r.i",
        true,
    ),
    (
        "MATCH (x {i: 1}) OPTIONAL MATCH (a)-[r:R {k: x.k}]->(b) RETURN r.i",
        true,
    ),
    ("MATCH (a)-[r:T {k: $one}]->(b) RETURN a.i, r.i, b.i", false),
    ("MATCH (a)-[r {k: $one}]->(b) RETURN a.i, r.i, b.i", false),
    (
        "MATCH (a)-[r:R|T {k: $one}]->(b) RETURN a.i, r.i, b.i",
        false,
    ),
    ("MATCH (a)-[r:R*1..2 {k: $one}]->(b) RETURN a.i, b.i", false),
    (
        "MATCH (a:A {k: 999})-[r:R {k: $one}]->(b) RETURN a.i",
        false,
    ),
    ("MATCH (a:A) WHERE a.k IN $some RETURN a.i", false),
    ("MATCH (a:A) WHERE a.k IN $odd RETURN a.i", false),
    ("MATCH (a:A) WHERE a.k IN [] RETURN a.i", false),
    (
        "MATCH (a:A) WHERE a.k IN [3, 'x', date()] RETURN a.i",
        false,
    ),
    (
        "MATCH (a:A)-[r]->(b) WHERE a.k IN $some AND b.k IN [1, 2] RETURN r.i",
        false,
    ),
];

#[test]
fn queries_have_the_same_rows_with_and_without_indexes() {
    for seed in 0..6 {
        let mut random = Random::new(seed);
        let worlds = [World::new(true), World::new(false)];
        let text = data(&mut random);
        worlds.iter().for_each(|world| drop(world.run(&text)));
        let mut found = 0;
        for (query, by_relationship) in QUERIES {
            let [indexed, plain] = worlds.each_ref().map(|world| world.run(query));
            assert_eq!(indexed.0, plain.0, "{query}\n{text}");
            found += indexed.0.len();
            let begins = begins_at(&indexed.1, "RelationshipScan");
            assert_eq!(begins, *by_relationship, "{query}");
            assert!(!begins_at(&plain.1, "RelationshipScan"), "{query}");
        }
        assert!(found > QUERIES.len(), "{found}");
    }
}

#[test]
fn changes_of_a_transaction_are_seen_by_indexes() {
    let mut random = Random::new(9);
    let worlds = [World::new(true), World::new(false)];
    let text = data(&mut random);
    worlds.iter().for_each(|world| drop(world.run(&text)));
    let transactions = worlds.each_ref().map(World::begin);
    for change in [
        "MATCH ()-[r:R {k: 3}]->() SET r.k = 7 RETURN r.i",
        "MATCH ()-[r:R {k: 5}]->() DELETE r",
        "MATCH (a {i: 1}), (b {i: 2}) CREATE (a)-[:R {i: 1000, k: 7}]->(b)",
        "MATCH (a {i: 3}), (b {i: 4}) MERGE (a)-[r:R {k: 7}]->(b) SET r.i = 1001",
        "MERGE (a)-[r:R {k: 7}]->(b) SET r.t = 'seen'",
        "MATCH (a:A) WHERE a.k IN [1, 2] SET a.k = 3",
        "MATCH ()-[r:R {k: 7}]->() SET r.k = 8",
    ] {
        let at = |one: usize| worlds[one].within(&transactions[one], change);
        assert_eq!(at(0).0, at(1).0, "{change}");
        for (query, _) in QUERIES {
            let at = |one: usize| worlds[one].within(&transactions[one], query);
            assert_eq!(at(0).0, at(1).0, "{change}; {query}");
        }
    }
}

/// Values of all kinds, the same ones again and again so that bounds meet them.
fn value(random: &mut Random, is_mixed: bool) -> String {
    let number = random.below(12);
    let long = "x".repeat(70);
    let kinds = if is_mixed { 12 } else { 1 };
    match random.below(kinds) {
        0 | 1 => (i64::try_from(number).expect("small") - 4).to_string(),
        2 => format!("{}.5", number % 4),
        3 => ["-0.0", "0.0", "9007199254740992.0", "9007199254740993"][number % 4].to_owned(),
        4 => format!("'{}'", ["", "a", "ab", "abc", "b", "é", "aé"][number % 7]),
        5 => format!("'{long}{}'", ["", "a", "b"][number % 3]),
        6 => (number.is_multiple_of(2)).to_string(),
        7 => format!(
            "localdatetime('2024-01-0{}T00:00:00.00{}')",
            1 + number % 5,
            number % 3
        ),
        8 => format!(
            "localdatetime('2024-01-0{}T00:00:00.000000001')",
            1 + number % 5
        ),
        9 => format!("date('2024-01-0{}')", 1 + number % 5),
        10 => format!("[{number}, 'a']"),
        _ => format!("datetime('2024-01-0{}T00:00Z')", 1 + number % 5),
    }
}

#[test]
fn ranges_have_the_same_rows_with_and_without_indexes() {
    let (mut found, mut served) = (0, 0);
    for seed in 0..8 {
        let mut random = Random::new(100 + seed);
        let is_mixed = seed % 4 != 0;
        let nodes = (0..80).map(|at| {
            let label = [":V", ":V:X", ":X"][random.below(3)];
            format!(
                "(n{at}{label} {{i: {at}, v: {}}})",
                value(&mut random, is_mixed)
            )
        });
        let nodes: Vec<String> = nodes.collect();
        let edges = (0..80).map(|at| {
            let v = value(&mut random, is_mixed);
            format!("(n{})-[:W {{i: {at}, v: {v}}}]->(n{})", at % 7, at % 11)
        });
        let text = format!(
            "CREATE {}",
            nodes
                .into_iter()
                .chain(edges)
                .collect::<Vec<_>>()
                .join(", ")
        );
        let worlds = [World::new(true), World::new(false)];
        worlds.iter().for_each(|world| drop(world.run(&text)));
        let transactions = worlds.each_ref().map(World::begin);
        for round in 0..90 {
            let (a, b) = (value(&mut random, is_mixed), value(&mut random, is_mixed));
            let sign = ["<", "<=", ">", ">="];
            let (one, two) = (sign[random.below(4)], sign[random.below(4)]);
            let condition = match random.below(7) {
                0 => format!("n.v {one} {a}"),
                1 => format!("{a} {one} n.v"),
                2 => format!("n.v {one} {a} AND n.v {two} {b}"),
                3 => format!("{a} {one} n.v {two} {b}"),
                4 => format!("n.v STARTS WITH {a}"),
                5 => format!("n.v = {a}"),
                _ => format!("n.v {one} $one"),
            };
            let pattern = ["(n:V)", "()-[n:W]->()"][round % 2];
            let query = format!("MATCH {pattern} WHERE {condition} RETURN n.i, n.v");
            let [indexed, plain] = worlds.each_ref().map(|world| world.run(&query));
            assert_eq!(indexed.0, plain.0, "{query}\n{text}");
            found += plain.0.len();
            let mut details = Vec::new();
            scans(&indexed.1, &mut details);
            served += usize::from(details.iter().any(|one| one.contains(" by v")));
            // Within a transaction that has changed values.
            if round % 10 == 0 {
                let change = format!("MATCH (n:V) WHERE n.i % 9 = {} SET n.v = {a}", round / 10);
                for (world, transaction) in worlds.iter().zip(&transactions) {
                    world.within(transaction, &change);
                }
            }
            let [indexed, plain] =
                [0, 1].map(|one| worlds[one].within(&transactions[one], &query).0);
            assert_eq!(indexed, plain, "{query} in a transaction\n{text}");
        }
    }
    assert!(
        found > 1_000 && served > 200,
        "{found} rows, {served} by an index"
    );
}

/// `ORDER BY … LIMIT` on an indexed property: the same rows in the same order, and fewer reads
/// where the index has the order of the values.
#[test]
fn the_first_rows_are_found_by_an_index() {
    let mut random = Random::new(29);
    // Whole numbers; also missing ones; reals with NaN; values of several types; two label sets.
    let kinds: [&[&str]; 5] = [
        &["$i", "$i", "$i", "7"],
        &["$i", "$i", "null"],
        &["1.5", "$i.25", "0.0/0.0", "-0.0"],
        &["3", "$i", "'t'", "true", "[1000, $i]"],
        &["3", "$i"],
    ];
    for (kind, values) in kinds.into_iter().enumerate() {
        let nodes = (0..400).map(|at| {
            let number = random.below(500).to_string();
            let value = values[random.below(values.len())].replace("$i", &number);
            let label = match kind == 4 && at % 3 == 0 {
                true => ":V:X",
                false => ":V",
            };
            format!("(n{at}{label} {{i: {at}, v: {value}}})")
        });
        let mut text = format!("CREATE {}", nodes.collect::<Vec<_>>().join(", "));
        for at in 0..200 {
            let _ = write!(text, ", (n{})-[:W]->(n{})", at * 7 % 400, at);
        }
        let worlds = [World::new(true), World::new(false)];
        worlds.iter().for_each(|world| drop(world.run(&text)));
        let transactions = worlds.each_ref().map(World::begin);
        let mut fewer = 0;
        for round in 0..80 {
            let direction = ["", " DESC"][random.below(2)];
            let condition = [
                "n.v IS NOT NULL",
                "n.v >= 3",
                "n.v < 200",
                "true",
                "n.v > 3 AND n.i % 7 = 1",
                "n.v = 3",
            ][round % 6];
            let pattern = ["(n:V)", "(n:V)-[:W]->(m)", "(n:V:V)", "(n:V), (o:V {i: 3})"];
            let pattern = pattern[random.below(4)];
            let back = [
                "n.i, n.v",
                "n.i AS i, n.v AS v",
                "n.i, n.v, count(*)",
                "DISTINCT n.v, n.i",
            ];
            let (back, by) = match random.below(4) {
                1 => (back[1], format!("v{direction}, i")),
                at => (back[at], format!("n.v{direction}, n.i")),
            };
            let (skip, limit) = (random.below(9), random.below(40));
            let query = format!(
                "MATCH {pattern} WHERE {condition} RETURN {back} ORDER BY {by} \
                 SKIP {skip} LIMIT {limit}"
            );
            let [indexed, plain] = [0, 1].map(|one| worlds[one].asked(&transactions[one], &query));
            assert_eq!(indexed.0, plain.0, "{query}\n{text}");
            fewer += usize::from(!plain.0.is_empty() && indexed.2 * 2 < plain.2);
            if round >= 60 && round % 5 == 4 {
                let change = format!("MATCH (n:V) WHERE n.i % 9 = {} SET n.v = 5", round / 5 % 9);
                for (world, transaction) in worlds.iter().zip(&transactions) {
                    world.within(transaction, &change);
                }
            }
        }
        let least = [2, 1, 1, 0, 0][kind];
        assert!(fewer >= least, "kind {kind}: {fewer}");
    }
}

fn scans(plan: &PlanTree, found: &mut Vec<String>) {
    if plan.name.ends_with("Scan") {
        found.push(plan.details.clone());
    }
    plan.children.iter().for_each(|child| scans(child, found));
}

#[test]
fn patterns_begin_at_nodes_that_equal_known_ones() {
    let mut random = Random::new(17);
    let world = World::new(false);
    world.run(&data(&mut random));
    let mut found = 0;
    for (pattern, condition) in [
        ("(x)", "$x = startNode(r)"),
        ("(x:A)-->(y)", "startNode(r) = $x"),
        ("(x)-->(y)", "$x IN [startNode(r), endNode(r), null]"),
        (
            "(x)-->(y)",
            "($x = a AND y.k < 9) OR ($x = b AND y.k > 9) OR $x = null",
        ),
        ("(x), (y)", "$x = endNode(r) AND y.i = 3"),
    ] {
        // A list hides the node, so all nodes are tried.
        let [by_node, plain] = ["x", "head([x])"].map(|x| {
            let condition = condition.replace("$x", x);
            let text = format!(
                "MATCH (a:B)-[r:R]->(b) MATCH {pattern} WHERE {condition} RETURN a.i, r.i, x.i"
            );
            world.run(&text)
        });
        assert_eq!(by_node.0, plain.0, "{pattern} {condition}");
        found += plain.0.len();
        let is_by_id = [&by_node, &plain].map(|(_, plan)| {
            let mut details = Vec::new();
            scans(plan, &mut details);
            details.iter().any(|one| one.ends_with("by id"))
        });
        assert_eq!(is_by_id, [true, false], "{pattern} {condition}");
    }
    assert!(found > 100, "{found}");
}
