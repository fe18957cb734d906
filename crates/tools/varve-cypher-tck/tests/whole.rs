//! Questions about a whole graph, asked in pairs: one is planned as one read of both directions of
//! each node and reads only the properties that it names, the other is not. Their answers are equal
//! now and in the past, with and without a policy.

use std::sync::Arc;

use varve_cypher::temporal::Clock;
use varve_cypher::{Context, Graph, Map, NoProcedures, Prepared, Sizes};
use varve_graph::optimistic::OptimisticLimits;
use varve_graph::read::View;
use varve_graph::schema::SchemaMode;
use varve_graph::write::WritePeriod;
use varve_graph::{Graph as StoredGraph, GraphOptions, Registry};
use varve_kv::MemoryEngine;
use varve_model::time::SystemClock;
use varve_model::{Condition, Predicate, TemporalScope, Value};
use varve_view::{AccessPolicy, Coverage, ElementPolicy, GraphWriter, Meter, SchemaView};

const GRAPHS: u64 = 3;
const NODES: u64 = 40;
const EDGES: u64 = 200;

/// A small generator of numbers, the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) % bound
    }
}

fn prepare(graph: &StoredGraph, text: &str) -> Prepared {
    let prepared = varve_cypher::prepare(text, &*graph.schema(), &NoProcedures, Sizes::UNKNOWN);
    prepared.unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The rows, in the order of their texts.
fn rows(prepared: &Prepared, graph: Graph<'_>) -> Vec<String> {
    let parameters = Map::new();
    let context = Context {
        graph,
        parameters: &parameters,
        clock: Clock::now(),
        procedures: &NoProcedures,
    };
    let mut rows = varve_cypher::run(prepared, context).expect("a query");
    let mut texts = Vec::new();
    while let Some(batch) = rows.next().expect("rows") {
        for (row, count) in batch.rows() {
            let values: Vec<String> = row.iter().map(ToString::to_string).collect();
            texts.extend((0..count).map(|_| values.join(" ")));
        }
    }
    texts.sort();
    texts
}

fn read(graph: &StoredGraph, view: &View, text: &str) -> Vec<String> {
    let meter = Meter::unlimited();
    let schema = graph.schema();
    let graph_of = Graph {
        view,
        schema: &*schema,
        writer: None,
        meter: &meter,
    };
    rows(&prepare(graph, text), graph_of)
}

fn write(graph: &Arc<StoredGraph>, text: &str) -> Vec<String> {
    let meter = Meter::unlimited();
    let transaction = graph.begin(OptimisticLimits::default()).expect("begun");
    let graph_of = Graph {
        view: &transaction,
        schema: &transaction,
        writer: Some(&transaction as &dyn GraphWriter),
        meter: &meter,
    };
    let rows = rows(&prepare(graph, text), graph_of);
    let committed = transaction.commit(WritePeriod::default());
    committed.expect("a commit");
    rows
}

/// Nodes of two labels or none, some without a property; edges of two types, loops and parallel
/// ones among them.
fn fill(graph: &Arc<StoredGraph>, random: &mut Random) {
    for number in 0..NODES {
        let label = ["", ":A", ":B", ":A"][usize::try_from(random.below(4)).expect("small")];
        let more = match random.below(3) {
            0 => "",
            1 => ", j: 'text'",
            _ => ", j: 7, k: [1, 2]",
        };
        write(graph, &format!("CREATE ({label} {{i: {number}{more}}})"));
    }
    for number in 0..EDGES {
        let (from, to) = (random.below(NODES), random.below(NODES));
        let to = if number % 20 == 0 { from } else { to };
        let name = ["R", "S"][usize::try_from(random.below(2)).expect("small")];
        let create = format!("CREATE (a)-[:{name} {{w: {number}}}]->(b)");
        write(
            graph,
            &format!("MATCH (a {{i: {from}}}), (b {{i: {to}}}) {create}"),
        );
    }
}

/// Pairs of questions: the first is planned better.
fn questions() -> Vec<[String; 2]> {
    let mut questions = Vec::new();
    let shapes = [
        "(a{x})-[r{t}]->(b{y})-[s{t}]->(c{z})",
        "(a{x})<-[r{t}]-(b{y})<-[s{t}]-(c{z})",
    ];
    let ends = [
        "RETURN count(*)",
        "RETURN c.i, c.j, count(*)",
        "RETURN b.i + c.i, count(c.j)",
    ];
    for shape in shapes {
        for [x, y, z] in [
            ["", "", ""],
            [":A", ":A", ":A"],
            [":B", ":A", ""],
            ["", "", ":B"],
        ] {
            for name in ["", ":R", ":S"] {
                let shape = shape.replace("{x}", x).replace("{y}", y);
                let shape = shape.replace("{z}", z).replace("{t}", name);
                for condition in ["", "b.i < 30 AND c.i > 5 AND "] {
                    for end in ends {
                        // Of the second, the relationships are read.
                        let other = format!("{shape} WHERE {condition}r.w >= 0 {end}");
                        let own = condition.strip_suffix("AND ").unwrap_or_default();
                        let own = if own.is_empty() { "" } else { "WHERE " }.to_owned() + own;
                        questions.push([
                            format!("MATCH {shape} {own}{end}"),
                            format!("MATCH (b{y}) WITH b SKIP 0 MATCH {other}"),
                        ]);
                    }
                }
            }
        }
    }
    questions
}

/// Pairs of questions: the first names the properties that it reads.
const NAMED: [[&str; 2]; 5] = [
    [
        "MATCH (a)-[r]->(b) WHERE a.i < b.i RETURN a.j, r.w, b.k",
        "MATCH (a)-[r]->(b) WITH properties(a) AS a, properties(r) AS r, properties(b) AS b \
         WHERE a.i < b.i RETURN a.j, r.w, b.k",
    ],
    [
        "MATCH (a:A) WITH a AS x, a.i AS i WHERE x.j = 7 RETURN i, x.k",
        "MATCH (a:A) WITH properties(a) AS x WHERE x.j = 7 RETURN x.i, x.k",
    ],
    [
        "MATCH (a)-->(b) WITH b, count(a) AS n ORDER BY n DESC, b.i LIMIT 5 RETURN b.i, b.j, n",
        "MATCH (a)-->(b) WITH b, properties(b) AS p, count(a) AS n ORDER BY n DESC, p.i LIMIT 5 \
         RETURN p.i, p.j, n",
    ],
    [
        "MATCH (a) WITH a ORDER BY a.i LIMIT 9 MATCH (a)-->(b) RETURN b.j, labels(b), id(b) <> 0",
        "MATCH (a) WITH a ORDER BY a.i LIMIT 9 MATCH (a)-->(b) WITH b, properties(b) AS p \
         RETURN p.j, labels(b), id(b) <> 0",
    ],
    [
        "MATCH (a) WHERE a.i < 20 RETURN a.none, a.j IS NULL, count(*)",
        "MATCH (a) WITH properties(a) AS a WHERE a.i < 20 RETURN a.none, a.j IS NULL, count(*)",
    ],
];

/// A policy that hides one label's edges and some nodes.
fn policy(graph: &StoredGraph) -> Arc<AccessPolicy> {
    let schema = graph.schema();
    let i = SchemaView::property_key_named(&*schema, "i").expect("a key");
    let mut some = Coverage::default();
    some.add(vec![Condition {
        key: i.id,
        predicate: Predicate::Lt(Value::Int(33)),
    }]);
    let labels = schema.vertex_labels().expect("a list").into_iter();
    let types = schema.edge_labels().expect("a list").into_iter();
    Arc::new(AccessPolicy {
        read: ElementPolicy {
            vertices: labels.map(|label| (label, some.clone())).collect(),
            edges: types.map(|label| (label, Coverage::All)).collect(),
        },
        ..AccessPolicy::default()
    })
}

#[test]
fn better_plans_give_the_same_answers() {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let questions = questions();
    for _ in 0..GRAPHS {
        let options = GraphOptions::new(Arc::new(SystemClock));
        let registry = Registry::open(Arc::new(MemoryEngine::new()), options).expect("a registry");
        let created = registry.create_with("g", SchemaMode::Open);
        let graph = created.expect("a graph");
        fill(&graph, &mut random);
        let before = graph.view(TemporalScope::NOW).expect("a view");
        let before = before.last_commit().expect("a version");
        write(&graph, "MATCH ()-[r]->() WHERE r.w % 7 = 0 DELETE r");
        write(&graph, "MATCH (n) WHERE n.i % 11 = 0 DETACH DELETE n");
        write(&graph, "MATCH (n) WHERE n.i % 5 = 0 SET n.j = 'new'");
        let past = TemporalScope {
            transaction: Some(before),
            ..TemporalScope::NOW
        };
        let policy = policy(&graph);
        let mut answers = Vec::new();
        for scope in [TemporalScope::NOW, past] {
            let view = graph.view(scope).expect("a view");
            let guarded = view.clone().guarded_by(Some(&policy));
            for view in [&view, &guarded] {
                let mut own = Vec::new();
                for [one, other] in &questions {
                    let answer = read(&graph, view, one);
                    assert_eq!(answer, read(&graph, view, other), "{one}");
                    own.push(answer);
                }
                for [one, other] in NAMED {
                    assert_eq!(read(&graph, view, one), read(&graph, view, other), "{one}");
                }
                answers.push(own);
            }
        }
        for (at, one) in answers.iter().enumerate() {
            assert!(!answers[..at].contains(one), "views differ");
        }
        let is_both =
            |text: &str| format!("{:?}", prepare(&graph, text).explain()).contains(" and ");
        let planned = questions.iter().filter(|[one, _]| is_both(one)).count();
        // Both steps are one look-up where nothing is kept of either.
        let counted =
            |[one, _]: &&[String; 2]| one.ends_with("RETURN count(*)") && !one.contains("WHERE");
        let counted = questions.iter().filter(counted).count();
        assert!(planned * 2 > counted, "{planned} of {counted}");
        assert!(!questions.iter().any(|[_, other]| is_both(other)));
    }
}

#[test]
fn a_query_reads_the_keys_that_it_has_made() {
    let options = GraphOptions::new(Arc::new(SystemClock));
    let registry = Registry::open(Arc::new(MemoryEngine::new()), options).expect("a registry");
    let created = registry.create_with("g", SchemaMode::Open);
    let graph = created.expect("a graph");
    write(&graph, "UNWIND [1, 2, 3] AS i CREATE ({i: i})");
    let text = "MATCH (n) WHERE n.i > 1 SET n.new = n.i WITH n WHERE n.new > 1 RETURN n.new";
    assert_eq!(write(&graph, text), ["2", "3"]);
}
