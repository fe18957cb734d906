//! TinkerPop's scenarios on the engine: what reads the graph `modern`.
//!
//! `not_yet.txt` names the scenarios that do not pass. One that passes must leave the list.

mod expected;
mod feature;
mod modern;

use std::collections::{BTreeSet, HashMap};

use varve_gremlin::bind::Bound;
use varve_gremlin::execute::{Host, Results, Source, execute};
use varve_gremlin::parse_script;
use varve_query::{Query, QueryError, QueryOptions, Value};
use varve_view::Meter;

use expected::{Wanted, matches};
use feature::{Outcome, Scenario};
use modern::Modern;

struct OneGraph<'g> {
    graph: &'g Modern,
    effects: Vec<(String, Value)>,
    as_written: bool,
}

impl Host for OneGraph<'_> {
    fn run(&mut self, _: &Source, bound: &Bound, most: Option<u64>) -> Result<Results, QueryError> {
        let meter = Meter::unlimited();
        let mut options = QueryOptions {
            as_written: self.as_written,
            ..bound.options.clone()
        };
        for (name, value) in &self.effects {
            let effect = (name.as_str().into(), value.clone(), None);
            options.side_effects.push(effect);
        }
        let graph = self.graph;
        let mut query = Query::new(&bound.plan, &graph.view, &graph.schema, &meter, options)?;
        let mut results = Vec::new();
        let most = most.map_or(usize::MAX, |most| most as usize);
        while results.len() < most {
            let Some(batch) = query.next(most - results.len())? else {
                break;
            };
            query.fill(&batch)?;
            results.extend(batch);
            if results.len() > 1_000_000 {
                return Err(QueryError::invalid("too many results"));
            }
        }
        results.truncate(most);
        Ok(results)
    }
}

/// What went wrong, or nothing.
fn run(scenario: &Scenario, graph: &Modern, as_written: bool) -> Result<(), String> {
    let script = parse_script(&scenario.text).map_err(|error| format!("parse: {error}"))?;
    let mut bindings = HashMap::new();
    for (name, text) in &scenario.parameters {
        let value = graph
            .parameter(text)
            .ok_or_else(|| format!("parameter {text}"))?;
        bindings.insert(name.as_str().into(), value);
    }
    let mut effects = Vec::new();
    for (name, text) in &scenario.effects {
        let value = graph
            .parameter(text)
            .ok_or_else(|| format!("side effect {text}"))?;
        effects.push((name.clone(), value));
    }
    let mut host = OneGraph {
        graph,
        effects,
        as_written,
    };
    let results = execute(&script, bindings, &mut host);
    let results = match (&scenario.outcome, results) {
        (Outcome::Error(None), Err(_)) => return Ok(()),
        (Outcome::Error(Some(text)), Err(error)) => {
            let told = error.to_string().to_lowercase();
            return match told.contains(&text.to_lowercase()) {
                true => Ok(()),
                false => Err(format!("error: {error}, wanted {text}")),
            };
        }
        (_, Err(error)) => return Err(format!("error: {error}")),
        (Outcome::Error(_), Ok(_)) => return Err("no error".to_owned()),
        (_, Ok(results)) => results,
    };
    let mut values: Vec<Value> = Vec::new();
    for (value, bulk) in results {
        for _ in 0..bulk {
            values.push(value.clone());
        }
    }
    // `iterated next` compares the members of the first result.
    if scenario.next {
        values = match values.first().and_then(Value::items) {
            Some(items) => items,
            None => values,
        };
    }
    compare(scenario, graph, &values)
}

fn compare(scenario: &Scenario, graph: &Modern, values: &[Value]) -> Result<(), String> {
    let told = || {
        let texts: Vec<String> = values
            .iter()
            .take(12)
            .map(|value| format!("{value}"))
            .collect();
        format!("got {} {}", values.len(), texts.join(" | "))
    };
    match &scenario.outcome {
        Outcome::Empty if values.is_empty() => Ok(()),
        Outcome::Empty => Err(told()),
        Outcome::Count(count) if values.len() == *count => Ok(()),
        Outcome::Count(_) => Err(told()),
        Outcome::Rows { rows, ordered, of } => {
            let wanted: Option<Vec<Wanted>> =
                rows.iter().map(|row| Wanted::read(row, graph)).collect();
            let Some(wanted) = wanted else {
                return Err(format!("cannot read {rows:?}"));
            };
            let good = match (of, ordered) {
                (true, _) => values
                    .iter()
                    .all(|value| wanted.iter().any(|wanted| matches(value, wanted))),
                (false, true) => {
                    values.len() == wanted.len()
                        && values
                            .iter()
                            .zip(&wanted)
                            .all(|(value, wanted)| matches(value, wanted))
                }
                (false, false) => same_bag(values, &wanted),
            };
            if good { Ok(()) } else { Err(told()) }
        }
        Outcome::Error(_) => Err("no error".to_owned()),
        Outcome::Other(what) => Err(format!("outcome {what}")),
    }
}

fn same_bag(values: &[Value], wanted: &[Wanted]) -> bool {
    let mut open: Vec<&Wanted> = wanted.iter().collect();
    values.len() == wanted.len()
        && values.iter().all(|value| {
            let found = open.iter().position(|wanted| matches(value, wanted));
            found.map(|at| open.swap_remove(at)).is_some()
        })
}

fn listed() -> BTreeSet<String> {
    let names = include_str!("not_yet.txt").lines();
    let names = names.map(|line| line.split('\t').next().unwrap_or("").trim().to_owned());
    names
        .filter(|name| !name.is_empty() && !name.starts_with('#'))
        .collect()
}

fn check(as_written: bool) {
    let graph = Modern::new();
    let mut failed: Vec<(String, String)> = Vec::new();
    let mut passed = 0;
    for scenario in feature::scenarios() {
        if scenario.graph != "modern" || scenario.writes() {
            continue;
        }
        let caught = std::panic::catch_unwind(|| run(&scenario, &graph, as_written));
        match caught.unwrap_or_else(|_| Err("panic".to_owned())) {
            Ok(()) => passed += 1,
            Err(why) => failed.push((scenario.name.clone(), why)),
        }
    }
    if let Ok(path) = std::env::var("VARVE_GREMLIN_FAILED") {
        let lines: Vec<String> = failed
            .iter()
            .map(|(name, why)| format!("{name}\t{}", why.replace('\n', " ")))
            .collect();
        std::fs::write(path, lines.join("\n") + "\n").expect("the list of what failed");
    }
    let listed = listed();
    let names: BTreeSet<String> = failed.iter().map(|(name, _)| name.clone()).collect();
    let new: Vec<&(String, String)> = failed
        .iter()
        .filter(|(name, _)| !listed.contains(name))
        .collect();
    let better: Vec<&String> = listed.difference(&names).collect();
    println!("{passed} passed, {} do not", failed.len());
    assert!(
        new.is_empty(),
        "{} of {passed} fail now: {new:#?}",
        new.len()
    );
    assert!(
        better.is_empty(),
        "pass now, so leave the list: {better:#?}"
    );
}

#[test]
#[ignore = "needs the feature files: run tests/gremlin/run.sh"]
fn scenarios_that_read_the_modern_graph_pass() {
    check(false);
}

#[test]
#[ignore = "needs the feature files: run tests/gremlin/run.sh"]
fn scenarios_pass_with_the_plan_as_it_is_written() {
    check(true);
}
