//! Gremlin: random traversals on the engine over a stored graph, with its rules and without,
//! against an evaluator by the definitions over the model.
//!
//! The traversals have all steps and predicates of the language but those of [`LEFT_OUT`].
//! `VARVE_GREMLIN_TRAVERSALS` sets how many traversals, `VARVE_GREMLIN_SEED` the first seed.

mod draw;
mod naive;
mod step;
mod value;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use varve_graph::read::View;
use varve_gremlin::bind::{NoVariables, bind};
use varve_gremlin::parse_traversal;
use varve_gremlin::tree::{PredicateName, StepName};
use varve_query::value::Owner;
use varve_query::{Query, QueryError, QueryOptions, Value};
use varve_testkit::Random;
use varve_view::{CancelToken, Meter, MeterLimits, SchemaView};

use crate::history;
use step::{Argument, Step, Test};
use value::sorted;

/// Traversals of one run.
const TRAVERSALS: u64 = 4_000;
/// Results of the engine that are asked for at a time.
const DEMAND: usize = 100;

/// Differences that are shown.
const SHOWN: usize = 8;

/// Steps that no traversal has, and why.
const LEFT_OUT: [(&[StepName], &str); 5] = [
    (
        &[
            StepName::AddE,
            StepName::AddV,
            StepName::Drop,
            StepName::MergeE,
            StepName::MergeV,
            StepName::Property,
        ],
        "they write: the tests of transactions have them",
    ),
    (
        &[
            StepName::ConnectedComponent,
            StepName::Io,
            StepName::PageRank,
            StepName::PeerPressure,
            StepName::Read,
            StepName::ShortestPath,
            StepName::Write,
        ],
        "the server refuses them",
    ),
    (&[StepName::Fail], "it gives no result"),
    (
        &[StepName::Profile, StepName::TimeLimit],
        "what they give depends on the clock",
    ),
    (
        &[StepName::Call],
        "services of the server have tests of their own",
    ),
];

/// As `canonical`, with the members of so many levels of lists in their order.
fn in_order(value: &Value, levels: usize) -> String {
    match value {
        Value::List(values) if levels > 0 => {
            let each = values.iter().map(|value| in_order(value, levels - 1));
            format!("[{}]", each.collect::<Vec<_>>().join(", "))
        }
        other => canonical(other),
    }
}

/// The same text as the evaluator's for an equal value.
fn canonical(value: &Value) -> String {
    let each = |values: &[Value]| values.iter().map(canonical).collect::<Vec<_>>();
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => format!("bool {value}"),
        Value::Int(n) => format!("int {n}"),
        Value::Long(n) => format!("long {n}"),
        Value::Double(n) => format!("double {n:?}"),
        Value::Text(text) => format!("'{text}'"),
        Value::DateTime(instant) => {
            assert_eq!(instant.offset(), 0, "{instant}");
            format!("date {}", instant.millis())
        }
        Value::Vertex(_) => format!("vertex {}", value.as_vertex_id().expect("an id")),
        Value::Edge(edge, _) => format!("edge {}", edge.id),
        Value::VertexProperty(property) => {
            let (id, key) = (property.vertex.id(), &property.name);
            format!("property {id} {key} {}", canonical(&property.value))
        }
        Value::Property(property) => {
            assert!(matches!(property.owner, Owner::Edge(_)));
            format!("property {} {}", property.name, canonical(&property.value))
        }
        Value::List(values) => format!("[{}]", sorted(each(values))),
        Value::Set(values) => format!("set[{}]", sorted(values.iter().map(canonical).collect())),
        Value::Map(map) => {
            let texts = map
                .iter()
                .map(|(key, value)| format!("{}: {}", canonical(key), canonical(value)));
            format!("{{{}}}", sorted(texts.collect()))
        }
        Value::Entry(entry) => format!("{} = {}", canonical(&entry.0), canonical(&entry.1)),
        Value::Path(path) => {
            let objects = path.objects.iter().zip(&path.labels);
            let object = |(value, labels): (&Value, &Vec<_>)| {
                let labels = labels.iter().map(ToString::to_string).collect();
                format!("{}@{}", canonical(value), sorted(labels))
            };
            format!(
                "path({})",
                objects.map(object).collect::<Vec<_>>().join(", ")
            )
        }
        Value::Tree(tree) => {
            let branch = |(key, below): (&Value, &varve_query::value::Tree)| {
                let below = Value::Tree(std::sync::Arc::new(below.clone()));
                format!("{}: {}", canonical(key), canonical(&below))
            };
            format!("tree({})", sorted(tree.0.iter().map(branch).collect()))
        }
        Value::Graph(graph) => {
            let members = graph.members().map(canonical);
            format!("graph({})", sorted(members.collect()))
        }
        Value::Token(token) => format!("token {token}"),
        other => format!("{} {}", other.type_name(), other.shown()),
    }
}

fn results(
    text: &str,
    levels_in_order: usize,
    view: &View,
    as_written: bool,
) -> Result<Vec<String>, QueryError> {
    let traversal =
        parse_traversal(text).map_err(|error| QueryError::invalid(error.to_string()))?;
    let bound =
        bind(&traversal, &NoVariables).map_err(|error| QueryError::invalid(error.to_string()))?;
    let options = QueryOptions {
        as_written,
        ..bound.options
    };
    let limits = MeterLimits {
        deadline: Some(Instant::now() + Duration::from_secs(20)),
        ..MeterLimits::NONE
    };
    let meter = Meter::new(limits, CancelToken::default());
    let mut query = Query::new(&bound.plan, view, view.schema(), &meter, options)?;
    let mut texts = Vec::new();
    while let Some(batch) = query.next(DEMAND)? {
        for (value, bulk) in batch {
            let times = usize::try_from(bulk).expect("few");
            texts.extend(std::iter::repeat_n(
                in_order(&value, levels_in_order),
                times,
            ));
        }
    }
    texts.sort_unstable();
    Ok(texts)
}

/// A traversal as text.
fn text_of(traversal: &draw::Traversal) -> String {
    let steps = traversal.settings.iter().chain(&traversal.steps);
    let texts: Vec<String> = steps.map(ToString::to_string).collect();
    format!("g.{}", texts.join("."))
}

fn number_from(variable: &str, otherwise: u64) -> u64 {
    let asked = std::env::var(variable);
    asked.map_or(otherwise, |asked| asked.parse().expect("a number"))
}

/// What the traversals had that were compared.
#[derive(Default)]
struct Compared {
    count: u64,
    /// Those without results.
    empty: u64,
    /// Those with a list of two different members in an order that is known.
    in_order: u64,
    steps: BTreeSet<&'static str>,
    predicates: BTreeSet<&'static str>,
}

impl Compared {
    fn add(&mut self, traversal: &draw::Traversal, wanted: &[value::Value]) {
        self.count += 1;
        self.empty += u64::from(wanted.is_empty());
        let has_order = |value: &value::Value| match value {
            value::Value::List(values) => values.iter().any(|value| *value != values[0]),
            _ => false,
        };
        let is_in_order = traversal.levels_in_order > 0 && wanted.iter().any(has_order);
        self.in_order += u64::from(is_in_order);
        for step in &traversal.steps {
            step.visit(&mut |step: &Step| {
                self.steps.insert(step.name);
                for argument in &step.arguments {
                    if let Argument::Test(test) = argument {
                        self.add_test(test);
                    }
                }
            });
        }
    }

    fn add_test(&mut self, test: &Test) {
        match test {
            Test::Is(name, _) => {
                self.predicates.insert(name);
            }
            Test::And(a, b) | Test::Or(a, b) => {
                self.add_test(a);
                self.add_test(b);
            }
            Test::Not(inner) => self.add_test(inner),
        }
    }

    /// Every step and every predicate is among them.
    fn check_names(&self) {
        let left_out = |name: &StepName| LEFT_OUT.iter().any(|(names, _)| names.contains(name));
        let missing: Vec<&str> = StepName::ALL
            .iter()
            .filter(|name| !left_out(name) && !self.steps.contains(name.text()))
            .map(|name| name.text())
            .collect();
        assert_eq!(missing, [] as [&str; 0]);
        // HugeGraph's own have tests of their own.
        let others = [PredicateName::TextContains, PredicateName::Contains];
        let missing: Vec<&str> = PredicateName::ALL
            .iter()
            .filter(|name| !others.contains(name) && !self.predicates.contains(name.text()))
            .map(|name| name.text())
            .collect();
        assert_eq!(missing, [] as [&str; 0]);
    }
}

/// Whether an error refuses a label that the schema lacks: a condition must name one that exists,
/// which the definitions do not ask.
fn names_no_label(error: &str, view: &View) -> bool {
    let named = error.strip_prefix("Undefined ").and_then(|rest| {
        let (what, name) = rest.split_once(" label: '")?;
        Some((what, name.strip_suffix('\'')?))
    });
    let schema = view.schema();
    match named {
        Some(("vertex", name)) => SchemaView::vertex_label_named(schema, name).is_none(),
        Some(("edge", name)) => SchemaView::edge_label_named(schema, name).is_none(),
        _ => false,
    }
}

/// How the engine's results differ from those that are wanted, with its rules and without.
fn difference(traversal: &draw::Traversal, view: &View, wanted: &[value::Value]) -> Option<String> {
    let text = text_of(traversal);
    let levels = traversal.levels_in_order;
    let mut wanted: Vec<String> = wanted.iter().map(|value| value.in_order(levels)).collect();
    wanted.sort_unstable();
    [false, true].into_iter().find_map(|as_written| {
        let found = match results(&text, levels, view, as_written) {
            Ok(found) if found == wanted => return None,
            Ok(found) => format!("{found:?}"),
            Err(error) if names_no_label(&error.to_string(), view) => return None,
            Err(error) => error.to_string(),
        };
        Some(format!(
            "{text}\n  as written: {as_written}\n  found:  {found:.400}\n  \
             wanted: {wanted:.400?}"
        ))
    })
}

#[test]
fn random_traversals_give_what_their_definitions_say() {
    let count = number_from("VARVE_GREMLIN_TRAVERSALS", TRAVERSALS);
    let first = number_from("VARVE_GREMLIN_SEED", 1);
    let mut compared = Compared::default();
    let mut wrong: Vec<String> = Vec::new();
    let mut seed = first;
    while compared.count < count {
        let mut random = Random::new(seed);
        let (view, model) = history::whole_point(seed, &mut random);
        let traversal = draw::traversal(&mut random);
        seed += 1;
        let Ok(wanted) = naive::results(&model, &traversal.settings, &traversal.steps) else {
            continue;
        };
        let difference = difference(&traversal, &view, &wanted);
        wrong.extend(difference.map(|difference| format!("seed {}: {difference}", seed - 1)));
        compared.add(&traversal, &wanted);
    }
    let drawn = seed - first;
    let Compared {
        empty, in_order, ..
    } = compared;
    println!(
        "{count} of {drawn} traversals, {empty} without results, {in_order} with lists in order"
    );
    let shown = wrong
        .iter()
        .take(SHOWN)
        .cloned()
        .collect::<Vec<_>>()
        .join("\n");
    let differ = wrong.len();
    assert!(wrong.is_empty(), "{differ} of {count} differ:\n{shown}");
    assert!(empty * 3 < count, "{empty} of {count} give nothing");
    assert!(count * 2 > drawn, "{count} of {drawn} are compared");
    if count >= TRAVERSALS {
        compared.check_names();
        assert!(
            in_order * 200 > count,
            "{in_order} of {count} have an order"
        );
    }
}
