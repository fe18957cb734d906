//! Random patterns on random graphs: as many matches as a naive search finds, however the pattern
//! is written, and whatever is bound before it.

use std::fmt::Write as _;
use std::sync::Arc;

use varve_cypher::temporal::Clock;
use varve_cypher::{Context, Graph, Map, NoProcedures, Sizes};
use varve_graph::optimistic::OptimisticLimits;
use varve_graph::schema::SchemaMode;
use varve_graph::write::WritePeriod;
use varve_graph::{Graph as StoredGraph, GraphOptions, Registry};
use varve_kv::MemoryEngine;
use varve_model::time::SystemClock;
use varve_view::Meter;

const GRAPHS: usize = 12;
const PATTERNS: usize = 60;
const LABELS: [&str; 2] = ["A", "B"];
const TYPES: [&str; 2] = ["R", "S"];

/// A small generator of numbers, the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).expect("small") % bound.max(1)
    }

    fn one_in(&mut self, bound: usize) -> bool {
        self.below(bound) == 0
    }
}

/// Nodes with a label or none; edges with ends and types.
struct Model {
    nodes: Vec<Option<usize>>,
    edges: Vec<(usize, usize, usize)>,
}

#[derive(Clone, Copy, PartialEq)]
enum Direction {
    Right,
    Left,
    Either,
}

#[derive(Clone)]
struct Step {
    from: usize,
    to: usize,
    direction: Direction,
    edge_type: Option<usize>,
    length: Option<(usize, usize)>,
}

/// Variables with labels, and steps between them.
struct Pattern {
    labels: Vec<Option<usize>>,
    steps: Vec<Step>,
}

impl Model {
    fn random(random: &mut Random) -> Model {
        let nodes = 3 + random.below(4);
        let label = |random: &mut Random| (!random.one_in(3)).then(|| random.below(2));
        let labels = (0..nodes).map(|_| label(random)).collect();
        let edge =
            |random: &mut Random| (random.below(nodes), random.below(nodes), random.below(2));
        let edges = (0..3 + random.below(8)).map(|_| edge(random)).collect();
        Model {
            nodes: labels,
            edges,
        }
    }

    fn text(&self) -> String {
        let mut text = "CREATE ".to_owned();
        for (at, label) in self.nodes.iter().enumerate() {
            let label = label.map_or(String::new(), |label| format!(":{}", LABELS[label]));
            let _ = write!(text, "(n{at}{label} {{i: {at}}}), ");
        }
        let edges = self.edges.iter();
        let edges: Vec<String> = edges
            .map(|(from, to, edge_type)| format!("(n{from})-[:{}]->(n{to})", TYPES[*edge_type]))
            .collect();
        text + &edges.join(", ")
    }

    fn fits(&self, pattern: &Pattern, variable: usize, node: usize) -> bool {
        pattern.labels[variable].is_none_or(|label| self.nodes[node] == Some(label))
    }

    /// The matches of the steps from `at` on.
    fn count(
        &self,
        pattern: &Pattern,
        at: usize,
        bound: &mut Vec<Option<usize>>,
        used: &mut Vec<usize>,
    ) -> u64 {
        let Some(step) = pattern.steps.get(at) else {
            return 1;
        };
        let starts: Vec<usize> = match bound[step.from] {
            Some(node) => vec![node],
            None => (0..self.nodes.len()).collect(),
        };
        let before = bound[step.from];
        let mut count = 0;
        for start in starts {
            if self.fits(pattern, step.from, start) {
                bound[step.from] = Some(start);
                count += self.walk(pattern, at, start, 0, bound, used);
            }
        }
        bound[step.from] = before;
        count
    }

    fn walk(
        &self,
        pattern: &Pattern,
        at: usize,
        node: usize,
        length: usize,
        bound: &mut Vec<Option<usize>>,
        used: &mut Vec<usize>,
    ) -> u64 {
        let step = &pattern.steps[at];
        let (min, max) = step.length.unwrap_or((1, 1));
        let mut count = 0;
        if length >= min {
            let is_end =
                bound[step.to].is_none_or(|to| to == node) && self.fits(pattern, step.to, node);
            if is_end {
                let before = bound[step.to].replace(node);
                count += self.count(pattern, at + 1, bound, used);
                bound[step.to] = before;
            }
        }
        if length == max {
            return count;
        }
        for (edge, (from, to, edge_type)) in self.edges.iter().enumerate() {
            if used.contains(&edge) || step.edge_type.is_some_and(|wanted| wanted != *edge_type) {
                continue;
            }
            let mut ends = Vec::new();
            if step.direction != Direction::Left && *from == node {
                ends.push(*to);
            }
            if step.direction != Direction::Right && *to == node && (ends.is_empty() || from != to)
            {
                ends.push(*from);
            }
            for end in ends {
                used.push(edge);
                count += self.walk(pattern, at, end, length + 1, bound, used);
                used.pop();
            }
        }
        count
    }

    fn matches(&self, pattern: &Pattern) -> u64 {
        self.count(
            pattern,
            0,
            &mut vec![None; pattern.labels.len()],
            &mut Vec::new(),
        )
    }
}

impl Pattern {
    fn random(random: &mut Random) -> Pattern {
        let variables = 2 + random.below(3);
        let label = |random: &mut Random| random.one_in(3).then(|| random.below(2));
        let labels = (0..variables).map(|_| label(random)).collect();
        let mut steps: Vec<Step> = Vec::new();
        // Each variable is reached by a step from one before it.
        for to in 1..variables {
            let from = random.below(to);
            steps.push(Step::random(from, to, random));
        }
        for _ in 0..random.below(2) {
            let (from, to) = (random.below(variables), random.below(variables));
            steps.push(Step::random(from, to, random));
        }
        Pattern { labels, steps }
    }

    fn node(&self, variable: usize, with_label: bool) -> String {
        let label = self.labels[variable].filter(|_| with_label);
        let label = label.map_or(String::new(), |label| format!(":{}", LABELS[label]));
        format!("(v{variable}{label})")
    }

    /// The pattern, with its steps in some order and each in either way of writing it.
    fn text(&self, random: &mut Random) -> String {
        let mut order: Vec<usize> = (0..self.steps.len()).collect();
        for at in 0..order.len() {
            order.swap(at, random.below(self.steps.len()));
        }
        let mut said = vec![false; self.labels.len()];
        let mut parts = Vec::new();
        for at in order {
            let step = &self.steps[at];
            let turned = random.one_in(2);
            let (from, to) = if turned {
                (step.to, step.from)
            } else {
                (step.from, step.to)
            };
            let mut node = |variable: usize| {
                // A label is said once, or again.
                let says = !std::mem::replace(&mut said[variable], true) || random.one_in(3);
                self.node(variable, says)
            };
            let (from, to) = (node(from), node(to));
            let edge_type = step
                .edge_type
                .map_or(String::new(), |one| format!(":{}", TYPES[one]));
            let length = step
                .length
                .map_or(String::new(), |(min, max)| format!("*{min}..{max}"));
            let name = if random.one_in(3) {
                format!("r{at}")
            } else {
                String::new()
            };
            let inner = format!("[{name}{edge_type}{length}]");
            let right = match step.direction {
                Direction::Either => None,
                Direction::Right => Some(!turned),
                Direction::Left => Some(turned),
            };
            let part = match right {
                None => format!("{from}-{inner}-{to}"),
                Some(true) => format!("{from}-{inner}->{to}"),
                Some(false) => format!("{from}<-{inner}-{to}"),
            };
            let path = if random.one_in(4) {
                format!("p{at} = ")
            } else {
                String::new()
            };
            parts.push(path + &part);
        }
        parts.join(", ")
    }
}

impl Step {
    fn random(from: usize, to: usize, random: &mut Random) -> Step {
        let direction = match random.below(3) {
            0 => Direction::Right,
            1 => Direction::Left,
            _ => Direction::Either,
        };
        let min = random.below(3);
        Step {
            from,
            to,
            direction,
            edge_type: random.one_in(2).then(|| random.below(2)),
            length: random.one_in(3).then(|| (min, min + random.below(2))),
        }
    }
}

fn run(graph: &Arc<StoredGraph>, text: &str) -> String {
    let meter = Meter::unlimited();
    let schema = graph.schema();
    let transaction = graph.begin(OptimisticLimits::default()).expect("begun");
    let sizes = Sizes {
        graph: Some((&transaction, &meter)),
    };
    let prepared = varve_cypher::prepare(text, &*schema, &NoProcedures, sizes);
    let prepared = prepared.unwrap_or_else(|error| panic!("{text}: {error}"));
    let parameters = Map::new();
    let context = Context {
        graph: Graph {
            view: &transaction,
            schema: &transaction,
            writer: prepared
                .writes()
                .then_some(&transaction as &dyn varve_view::GraphWriter),
            meter: &meter,
        },
        parameters: &parameters,
        clock: Clock::now(),
        procedures: &NoProcedures,
    };
    let mut rows = varve_cypher::run(&prepared, context).expect("a query");
    let mut texts = Vec::new();
    while let Some(batch) = rows
        .next()
        .unwrap_or_else(|error| panic!("{text}: {error}"))
    {
        for (row, count) in batch.rows() {
            let values: Vec<String> = row.iter().map(ToString::to_string).collect();
            texts.extend((0..count).map(|_| values.join(" ")));
        }
    }
    drop(rows);
    if prepared.writes() {
        transaction
            .commit(WritePeriod::default())
            .expect("a commit");
    }
    texts.join(", ")
}

/// Checks one pattern, alone and with parts of it bound before.
fn check(model: &Model, graph: &Arc<StoredGraph>, random: &mut Random) {
    let pattern = Pattern::random(random);
    let wanted = model.matches(&pattern).to_string();
    let mut is = |before: &str, after: &str| {
        let text = format!(
            "{before}MATCH {} {after}RETURN count(*)",
            pattern.text(random)
        );
        assert_eq!(run(graph, &text), wanted, "{text}\n{}", model.text());
    };
    is("", "");
    is("MATCH (v0) WITH v0 ", "");
    is("MATCH (v1) WITH v1 MATCH (v0) ", "");
    is("", "WHERE v0.i >= 0 AND v1.i < 100 ");
    is("", "WITH v1 UNWIND [v1] AS v WITH v MATCH (v) ");
    is(
        "",
        "WITH v0, v1 WITH v0.i AS i, count(*) AS c UNWIND range(1, c) AS x ",
    );
    is("UNWIND [0] AS x CALL (x) { ", "RETURN x AS y } ");
    let last = pattern.labels.len() - 1;
    is(
        &format!("MATCH (v{last}) WITH collect(v{last}) AS all UNWIND all AS v{last} "),
        "",
    );
    // Of a bound relationship of the first step.
    let step = &pattern.steps[0];
    if step.length.is_none() {
        let text = pattern.text(&mut Random(77));
        let named = if text.contains("[r0") { text } else { return };
        let text = format!("MATCH ()-[r0]->() WITH r0 MATCH {named} RETURN count(*)");
        assert_eq!(run(graph, &text), wanted, "{text}\n{}", model.text());
    }
    // Existence, and matches that may be missing.
    let mut found = 0;
    let mut each = 0;
    for node in 0..model.nodes.len() {
        let mut bound = vec![None; pattern.labels.len()];
        bound[0] = Some(node);
        let count = model.count(&pattern, 0, &mut bound, &mut Vec::new());
        found += u64::from(count > 0);
        each += count.max(1);
    }
    let text = format!(
        "MATCH (v0) WHERE EXISTS {{ MATCH {} }} RETURN count(*)",
        pattern.text(random)
    );
    assert_eq!(
        run(graph, &text),
        found.to_string(),
        "{text}\n{}",
        model.text()
    );
    let text = format!(
        "MATCH (v0) OPTIONAL MATCH {} RETURN count(*)",
        pattern.text(random)
    );
    assert_eq!(
        run(graph, &text),
        each.to_string(),
        "{text}\n{}",
        model.text()
    );
}

#[test]
fn patterns_have_the_matches_of_a_naive_search() {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    for _ in 0..GRAPHS {
        let options = GraphOptions::new(Arc::new(SystemClock));
        let registry = Registry::open(Arc::new(MemoryEngine::new()), options).expect("a registry");
        let graph = registry
            .create_with("g", SchemaMode::Open)
            .expect("a graph");
        let model = Model::random(&mut random);
        run(&graph, &model.text());
        for _ in 0..PATTERNS {
            check(&model, &graph, &mut random);
        }
    }
}

#[test]
fn shortest_paths_are_the_shortest_of_all_paths() {
    let mut random = Random(0x1234_5678_9abc_def1);
    for _ in 0..GRAPHS {
        let options = GraphOptions::new(Arc::new(SystemClock));
        let registry = Registry::open(Arc::new(MemoryEngine::new()), options).expect("a registry");
        let graph = registry
            .create_with("g", SchemaMode::Open)
            .expect("a graph");
        let model = Model::random(&mut random);
        run(&graph, &model.text());
        for step in [
            "-[r*1..4]-",
            "-[r:R*1..4]->",
            "<-[r:R|S*0..3]-",
            "-[r:S]->",
            "-[r:R*2..3]-",
        ] {
            let size = if step.contains('*') { "size(r)" } else { "1" };
            let sum = "sum(a.i * 1000 + b.i * 10 + l) AS s, count(*) AS c";
            let one = format!(
                "MATCH (a), (b) MATCH p = shortestPath((a){step}(b)) WITH a, b, length(p) AS l \
                 RETURN {sum}"
            );
            let naive = format!("MATCH (a){step}(b) WITH a, b, min({size}) AS l RETURN {sum}");
            assert_eq!(
                run(&graph, &one),
                run(&graph, &naive),
                "{one}\n{}",
                model.text()
            );
            let all = format!("MATCH (a), (b), p = allShortestPaths((a){step}(b)) RETURN count(p)");
            let naive = format!(
                "MATCH (a){step}(b) WITH a, b, collect({size}) AS l, min({size}) AS m \
                 RETURN coalesce(sum(size([x IN l WHERE x = m])), 0)"
            );
            assert_eq!(
                run(&graph, &all),
                run(&graph, &naive),
                "{all}\n{}",
                model.text()
            );
            // A condition on the path makes the search try longer ones.
            let one = format!(
                "MATCH (a), (b) MATCH p = shortestPath((a){step}(b)) \
                 WHERE all(n IN nodes(p) WHERE n.i <> 1) WITH a, b, length(p) AS l RETURN {sum}"
            );
            let naive = format!(
                "MATCH p = (a){step}(b) WHERE all(n IN nodes(p) WHERE n.i <> 1) \
                 WITH a, b, min(length(p)) AS l RETURN {sum}"
            );
            assert_eq!(
                run(&graph, &one),
                run(&graph, &naive),
                "{one}\n{}",
                model.text()
            );
        }
    }
}
