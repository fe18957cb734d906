//! Random traversals have the same results in the optimised engine and in the plain one, which
//! applies no rules, passes one row at a time and merges no rows. `VARVE_GREMLIN_TRAVERSALS` sets
//! the number of traversals.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use varve_gremlin::execute::execute;
use varve_gremlin::parse_script;
use varve_query::{QueryError, Value};
use varve_view::MeterLimits;

use crate::OneGraph;
use crate::generate::{Random, is_in_order, traversal};
use crate::modern::Modern;

/// The number of traversals in one run.
const TRAVERSALS: u64 = 2_000;
/// The number of traversals on each graph.
const EACH: u64 = 20;

/// A value as text. Members of sets, maps and lists are sorted, except in a list with a defined
/// order.
fn shown(value: &Value, is_in_order: bool) -> String {
    match value {
        Value::List(items) if is_in_order => {
            let each: Vec<String> = items.iter().map(canonical).collect();
            format!("[{}]", each.join(","))
        }
        other => canonical(other),
    }
}

/// A value as text. Members of lists, sets and maps are sorted.
fn canonical(value: &Value) -> String {
    let sorted = |mut texts: Vec<String>| {
        texts.sort_unstable();
        texts.join(",")
    };
    match value {
        Value::List(items) => format!("[{}]", sorted(items.iter().map(canonical).collect())),
        Value::Set(items) => format!("{{{}}}", sorted(items.iter().map(canonical).collect())),
        Value::Map(map) => {
            let entry = |(key, value)| format!("{}={}", canonical(key), canonical(value));
            format!("map({})", sorted(map.iter().map(entry).collect()))
        }
        Value::Path(path) => {
            let objects: Vec<String> = path.objects.iter().map(canonical).collect();
            format!("path({})", objects.join(","))
        }
        Value::Tree(tree) => {
            let entry = |(key, below): (&Value, &varve_query::value::Tree)| {
                let below = Value::Tree(std::sync::Arc::new(below.clone()));
                format!("{}={}", canonical(key), canonical(&below))
            };
            format!("tree({})", sorted(tree.0.iter().map(entry).collect()))
        }
        Value::Graph(graph) => {
            format!(
                "graph({})",
                sorted(graph.members().map(canonical).collect())
            )
        }
        other => format!("{}:{}", other.type_name(), other.shown()),
    }
}

pub(crate) fn results(
    text: &str,
    graph: &Modern,
    as_written: bool,
) -> Result<Vec<String>, QueryError> {
    let script = parse_script(text).map_err(|error| QueryError::invalid(error.to_string()))?;
    // Traversals that exceed these limits are skipped.
    let limits = MeterLimits {
        rows_max: 20_000,
        bytes_max: 2 << 20,
        deadline: Some(Instant::now() + Duration::from_secs(5)),
    };
    let mut host = OneGraph {
        graph,
        effects: Vec::new(),
        as_written,
        limits,
    };
    let results = execute(&script, HashMap::new(), &mut host)?;
    let mut texts = Vec::new();
    for (value, bulk) in results {
        let bulk = usize::try_from(bulk).expect("few results");
        texts.extend(std::iter::repeat_n(shown(&value, is_in_order(text)), bulk));
    }
    texts.sort_unstable();
    Ok(texts)
}

/// The difference between both engines, if there is one.
pub(crate) fn differs(text: &str, graph: &Modern) -> Option<String> {
    let fast = results(text, graph, false);
    let plain = results(text, graph, true);
    match (&fast, &plain) {
        (Err(QueryError::View(_)), _) | (_, Err(QueryError::View(_))) => None,
        (Ok(fast), Ok(plain)) if fast == plain => None,
        (Err(fast), Err(plain)) if fast.to_string() == plain.to_string() => None,
        _ => Some(format!(
            "{text}\n  fast: {fast:.400?}\n  plain: {plain:.400?}"
        )),
    }
}

#[test]
fn random_traversals_give_the_same_with_and_without_rules() {
    let count = std::env::var("VARVE_GREMLIN_TRAVERSALS");
    let count = count.map_or(TRAVERSALS, |count| count.parse().expect("a number"));
    let mut wrong = Vec::new();
    let (mut empty, mut refused) = (0, 0);
    let mut graph = Modern::new();
    for seed in 0..count {
        if seed % EACH == EACH - 1 {
            graph = Modern::random(&mut Random::new(seed));
        }
        let text = traversal(&mut Random::new(seed));
        if let Some(difference) = differs(&text, &graph) {
            wrong.push(format!("{seed}: {difference}"));
        }
        match results(&text, &graph, false) {
            Ok(results) => empty += u64::from(results.is_empty()),
            Err(_) => refused += 1,
        }
    }
    println!("{count} traversals, {empty} without results, {refused} refused");
    let shown = wrong.iter().take(8).cloned().collect::<Vec<_>>().join("\n");
    assert!(
        wrong.is_empty(),
        "{} of {count} differ:\n{shown}",
        wrong.len()
    );
    assert!(refused * 10 < count, "{refused} of {count} are refused");
    assert!(empty * 3 < count, "{empty} of {count} give nothing");
}

#[test]
fn an_edge_of_a_sub_label_is_of_its_parents_label_too() {
    let graph = (0..)
        .map(|seed| Modern::random(&mut Random::new(seed)))
        .find(|graph| {
            let count = results("g.E().hasLabel('edited')", graph, true);
            count.is_ok_and(|edges| edges.len() > 2)
        });
    let graph = graph.expect("a graph with such edges");
    let count = |text: &str| results(text, &graph, false).expect("results").len();
    let edited = count("g.E().hasLabel('edited')");
    assert_eq!(edited, count("g.E().hasLabel('wrote').hasLabel('edited')"));
    assert_eq!(
        edited,
        count("g.E().barrier().hasLabel('wrote').hasLabel('edited')")
    );
    assert_eq!(edited, count("g.V().in('edited')"));
    assert_eq!(
        edited,
        count("g.V().inE('wrote').hasLabel('edited').outV().hasLabel('person', 'software')")
    );
    assert_eq!(0, count("g.E().hasLabel('edited').hasLabel(neq('wrote'))"));
    assert_eq!(
        edited,
        count("g.E().hasLabel('edited').label().is('edited')")
    );
}
