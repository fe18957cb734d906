//! TinkerPop's scenarios that change a graph, on an open graph of the real engine.
//!
//! `not_yet.txt` names the scenarios that do not pass. One that passes must leave the list.

#[path = "../../../varve-gremlin/tests/engine/expected.rs"]
mod expected;
#[path = "../../../varve-gremlin/tests/engine/feature.rs"]
mod feature;
mod graph;
#[path = "../../../varve-gremlin/tests/engine/outcome.rs"]
mod outcome;

mod modern {
    pub(crate) use crate::graph::OpenGraph as Modern;
}

use std::collections::{BTreeSet, HashMap};

use varve_query::Value;

use expected::Wanted;
use feature::Scenario;
use graph::OpenGraph;

/// What went wrong, or nothing.
fn run(scenario: &Scenario) -> Result<(), String> {
    let graph = OpenGraph::new();
    if scenario.graph == "modern" {
        graph.fill();
    }
    for text in &scenario.filling {
        graph
            .run(text, HashMap::new(), &[])
            .map_err(|error| format!("filling: {error}"))?;
    }
    let read = |(name, text): &(String, String)| {
        let value = Wanted::read(text, &graph).and_then(|wanted| wanted.value());
        let value = value.ok_or_else(|| format!("parameter {text}"))?;
        Ok((name.clone(), value))
    };
    let bindings = scenario.parameters.iter().map(read);
    let bindings = bindings.collect::<Result<HashMap<String, Value>, String>>()?;
    let effects = scenario.effects.iter().map(read);
    let effects = effects.collect::<Result<Vec<_>, String>>()?;
    let results = graph.run(&scenario.text, bindings.clone(), &effects);
    outcome::check(scenario, &graph, results)?;
    for (count, text) in &scenario.counts {
        let counted = graph.run(text, bindings.clone(), &[]);
        let counted = counted.map_err(|error| format!("{text}: {error}"))?;
        if counted.len() != *count {
            return Err(format!("{} of {text}, wanted {count}", counted.len()));
        }
    }
    Ok(())
}

fn listed() -> BTreeSet<String> {
    let names = include_str!("not_yet.txt").lines();
    let names = names.map(|line| line.split('\t').next().unwrap_or("").trim().to_owned());
    names
        .filter(|name| !name.is_empty() && !name.starts_with('#'))
        .collect()
}

#[test]
#[ignore = "needs the feature files: run tests/gremlin/run.sh"]
fn scenarios_that_change_a_graph_pass() {
    let mut failed: Vec<(String, String)> = Vec::new();
    let mut passed = 0;
    for scenario in feature::scenarios() {
        let changes = scenario.fills || scenario.writes();
        if !changes || !matches!(scenario.graph.as_str(), "empty" | "modern") {
            continue;
        }
        let caught = std::panic::catch_unwind(|| run(&scenario));
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
    let new = failed.iter().filter(|(name, _)| !listed.contains(name));
    let new: Vec<&(String, String)> = new.collect();
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
