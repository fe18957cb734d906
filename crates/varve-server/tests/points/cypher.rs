//! Cypher: random patterns over a stored graph, with plans that count edges and check conditions
//! early, against all assignments of the pattern over the model.
//!
//! `VARVE_TEST_CYPHER_PATTERNS` sets how many patterns, `VARVE_TEST_CYPHER_SEED` the first seed.

use std::collections::BTreeMap;

use varve_cypher::temporal::Clock;
use varve_cypher::{Context, Graph, Map, NoProcedures, Sizes, Value as Found, prepare, run};
use varve_graph::read::View;
use varve_model::{Edge, Properties, Value, Vertex};
use varve_testkit::Random;
use varve_testkit::model::ModelView;
use varve_view::Meter;

use crate::history::{self, EDGE_LABELS, KEY, KEYS, NAMES, VERTEX_LABELS};

/// Patterns of one run.
const PATTERNS: u64 = 4_000;
const VARIABLES: [&str; 3] = ["a", "b", "c"];

#[derive(Debug, Clone, Copy, PartialEq)]
enum Direction {
    Right,
    Left,
    Either,
}

struct Step {
    direction: Direction,
    /// The types; empty = all.
    types: Vec<usize>,
    is_named: bool,
}

/// A condition on a property of the node at a place of the pattern.
struct Condition {
    place: usize,
    test: Test,
}

enum Test {
    Less(i64),
    AtLeast(i64),
    Named(&'static str),
    NotNamed(&'static str),
    HasNoAge,
    Either(i64, &'static str),
    Doubled(i64),
    /// The second part fails for nodes that the first one excludes.
    Guarded(i64),
}

/// What is returned: properties of nodes, by which rows are counted, and a sum.
struct Returned {
    groups: Vec<(usize, usize)>,
    sum: Option<usize>,
}

struct Pattern {
    /// The label of each node.
    labels: Vec<Option<usize>>,
    steps: Vec<Step>,
    conditions: Vec<Condition>,
    returned: Returned,
}

impl Test {
    fn draw(random: &mut Random) -> Test {
        let number = random.below(5) as i64;
        let name = *random.pick(&NAMES);
        match random.below(8) {
            0 => Test::Less(number),
            1 => Test::AtLeast(number),
            2 => Test::Named(name),
            3 => Test::NotNamed(name),
            4 => Test::HasNoAge,
            5 => Test::Either(number, name),
            6 => Test::Guarded(9 - number),
            _ => Test::Doubled(number),
        }
    }

    fn text(&self, of: &str) -> String {
        match self {
            Test::Less(number) => format!("{of}.age < {number}"),
            Test::AtLeast(number) => format!("{of}.age >= {number}"),
            Test::Named(name) => format!("{of}.name = '{name}'"),
            Test::NotNamed(name) => format!("NOT {of}.name = '{name}'"),
            Test::HasNoAge => format!("{of}.age IS NULL"),
            Test::Either(number, name) => {
                format!("({of}.age = {number} OR {of}.name = '{name}')")
            }
            Test::Doubled(number) => format!("{of}.age + {of}.age > {number}"),
            Test::Guarded(number) => {
                format!(
                    "{of}.age IS NOT NULL AND 10 / coalesce({of}.age - {of}.age + 1, 0) > {number}"
                )
            }
        }
    }

    fn holds(&self, properties: &Properties) -> bool {
        let age = age(properties);
        let name = match properties.get(KEYS[1].0) {
            Some(Value::Text(name)) => Some(name.as_str()),
            _ => None,
        };
        match self {
            Test::Less(number) => age.is_some_and(|age| age < *number),
            Test::AtLeast(number) => age.is_some_and(|age| age >= *number),
            Test::Named(wanted) => name == Some(*wanted),
            Test::NotNamed(wanted) => name.is_some_and(|name| name != *wanted),
            Test::HasNoAge => age.is_none(),
            Test::Either(number, wanted) => age == Some(*number) || name == Some(*wanted),
            Test::Doubled(number) => age.is_some_and(|age| age + age > *number),
            Test::Guarded(number) => age.is_some() && 10 > *number,
        }
    }
}

fn age(properties: &Properties) -> Option<i64> {
    properties.get(KEY).and_then(Value::as_i64)
}

impl Pattern {
    fn draw(random: &mut Random) -> Pattern {
        let steps = 1 + random.below(2);
        let label =
            |random: &mut Random| random.one_in(4).then(|| random.below(VERTEX_LABELS.len()));
        let step = |random: &mut Random| Step {
            direction: *random.pick(&[Direction::Right, Direction::Left, Direction::Either]),
            types: (0..random.below(4) * random.below(2))
                .map(|_| random.below(EDGE_LABELS.len()))
                .collect(),
            is_named: random.one_in(2),
        };
        let condition = |random: &mut Random| Condition {
            place: random.below(steps + 1),
            test: Test::draw(random),
        };
        let group = |random: &mut Random| (random.below(steps + 1), random.below(KEYS.len()));
        Pattern {
            labels: (0..=steps).map(|_| label(random)).collect(),
            steps: (0..steps).map(|_| step(random)).collect(),
            conditions: (0..random.below(3)).map(|_| condition(random)).collect(),
            returned: Returned {
                groups: (0..random.below(3)).map(|_| group(random)).collect(),
                sum: random.one_in(3).then(|| random.below(steps + 1)),
            },
        }
    }

    fn text(&self) -> String {
        let node = |place: usize| {
            let label = self.labels[place].map(|label| format!(":{}", VERTEX_LABELS[label]));
            format!("({}{})", VARIABLES[place], label.unwrap_or_default())
        };
        let mut text = format!("MATCH {}", node(0));
        for (number, step) in self.steps.iter().enumerate() {
            let types: Vec<&str> = step.types.iter().map(|label| EDGE_LABELS[*label]).collect();
            let types = match types.is_empty() {
                true => String::new(),
                false => format!(":{}", types.join("|")),
            };
            let name = if step.is_named {
                format!("r{number}")
            } else {
                String::new()
            };
            let (left, right) = match step.direction {
                Direction::Right => ("-", "->"),
                Direction::Left => ("<-", "-"),
                Direction::Either => ("-", "-"),
            };
            text += &format!("{left}[{name}{types}]{right}{}", node(number + 1));
        }
        let conditions = self
            .conditions
            .iter()
            .map(|one| one.test.text(VARIABLES[one.place]));
        let conditions: Vec<String> = conditions.collect();
        if !conditions.is_empty() {
            text += &format!(" WHERE {}", conditions.join(" AND "));
        }
        let groups = self.returned.groups.iter().enumerate();
        let groups = groups.map(|(number, (place, key))| {
            format!("{}.{} AS g{number}, ", VARIABLES[*place], KEYS[*key].1)
        });
        let sum = self
            .returned
            .sum
            .map(|place| format!(", sum({}.age)", VARIABLES[place]));
        let groups: String = groups.collect();
        text + &format!(" RETURN {groups}count(*){}", sum.unwrap_or_default())
    }

    /// All rows, as text: the groups, the count and the sum.
    fn wanted(&self, model: &ModelView) -> Vec<String> {
        let mut groups: BTreeMap<Vec<String>, (u64, i64)> = BTreeMap::new();
        for first in model.all_vertices() {
            self.assign(model, &mut vec![first], &mut Vec::new(), &mut groups);
        }
        if groups.is_empty() && self.returned.groups.is_empty() {
            groups.insert(Vec::new(), (0, 0));
        }
        let row = |(mut row, (count, sum)): (Vec<String>, (u64, i64))| {
            row.push(count.to_string());
            row.extend(self.returned.sum.map(|_| sum.to_string()));
            row.join(" ")
        };
        let mut rows: Vec<String> = groups.into_iter().map(row).collect();
        rows.sort_unstable();
        rows
    }

    fn assign<'m>(
        &self,
        model: &'m ModelView,
        nodes: &mut Vec<&'m Vertex>,
        edges: &mut Vec<&'m Edge>,
        groups: &mut BTreeMap<Vec<String>, (u64, i64)>,
    ) {
        let last = nodes[nodes.len() - 1];
        let label = self.labels[nodes.len() - 1];
        if label.is_some_and(|label| last.label.0 as usize != label + 1) {
            return;
        }
        let Some(step) = self.steps.get(edges.len()) else {
            let holds = |one: &Condition| one.test.holds(&nodes[one.place].properties);
            if self.conditions.iter().all(holds) {
                let each = self.returned.groups.iter();
                let key = each.map(|(place, key)| shown(&nodes[*place].properties, *key));
                let (count, sum) = groups.entry(key.collect()).or_default();
                *count += 1;
                let summed = self.returned.sum.and_then(|at| age(&nodes[at].properties));
                *sum += summed.unwrap_or(0);
            }
            return;
        };
        for edge in model.all_edges() {
            let is_of = step.types.is_empty()
                || step
                    .types
                    .iter()
                    .any(|label| edge.id.label.0 as usize == label + 1);
            if !is_of || edges.iter().any(|other| other.id == edge.id) {
                continue;
            }
            let (source, target) = (&edge.id.source, &edge.id.target);
            let out = (*source == last.id && step.direction != Direction::Left).then_some(target);
            let back = (*target == last.id && step.direction != Direction::Right).then_some(source);
            // A loop is one relationship, also where both directions are walked.
            let back = back.filter(|_| out.is_none() || source != target);
            for other in out.into_iter().chain(back) {
                let all = model.all_vertices();
                let other = all
                    .iter()
                    .find(|vertex| vertex.id == *other)
                    .expect("an end");
                nodes.push(other);
                edges.push(edge);
                self.assign(model, nodes, edges, groups);
                nodes.pop();
                edges.pop();
            }
        }
    }
}

fn shown(properties: &Properties, key: usize) -> String {
    match properties.get(KEYS[key].0) {
        None => "null".to_owned(),
        Some(Value::Text(text)) => format!("{text:?}"),
        Some(other) => other.as_i64().expect("a number").to_string(),
    }
}

fn found(text: &str, view: &View) -> Result<Vec<String>, String> {
    let schema = view.schema();
    let prepared = prepare(text, schema, &NoProcedures, Sizes::UNKNOWN);
    let prepared = prepared.map_err(|error| error.to_string())?;
    let (meter, parameters) = (Meter::unlimited(), Map::default());
    let graph = Graph {
        view,
        schema,
        writer: None,
        meter: &meter,
    };
    let context = Context {
        graph,
        parameters: &parameters,
        clock: Clock::now(),
        procedures: &NoProcedures,
    };
    let mut rows = run(&prepared, context).map_err(|error| error.to_string())?;
    let mut texts = Vec::new();
    while let Some(batch) = rows.next().map_err(|error| error.to_string())? {
        for (row, count) in batch.rows() {
            let row: Vec<String> = row
                .iter()
                .map(|value| match value {
                    Found::Null => "null".to_owned(),
                    Found::String(text) => format!("{text:?}"),
                    other => other.to_string(),
                })
                .collect();
            texts.extend((0..count).map(|_| row.join(" ")));
        }
    }
    texts.sort_unstable();
    Ok(texts)
}

fn number_from(variable: &str, otherwise: u64) -> u64 {
    let asked = std::env::var(variable);
    asked.map_or(otherwise, |asked| asked.parse().expect("a number"))
}

#[test]
fn random_patterns_give_what_their_definition_says() {
    let count = number_from("VARVE_TEST_CYPHER_PATTERNS", PATTERNS);
    let first = number_from("VARVE_TEST_CYPHER_SEED", 1);
    let mut matched = 0;
    for seed in first..first + count {
        let mut random = Random::new(seed);
        let (view, model) = history::whole_point(seed, &mut random);
        let pattern = Pattern::draw(&mut random);
        let text = pattern.text();
        let wanted = pattern.wanted(&model);
        assert_eq!(
            found(&text, &view),
            Ok(wanted.clone()),
            "seed {seed}: {text}"
        );
        let is_empty = wanted.is_empty() || wanted == ["0"] || wanted == ["0 0"];
        matched += u64::from(!is_empty);
    }
    assert!(matched * 4 > count, "{matched} of {count} patterns match");
}
