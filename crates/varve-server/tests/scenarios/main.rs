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
#[path = "../../../varve-gremlin/tests/engine/report.rs"]
mod report;

mod modern {
    pub(crate) use crate::graph::OpenGraph as Modern;
}

use std::collections::HashMap;

use varve_query::Value;

use expected::Wanted;
use feature::Scenario;
use graph::OpenGraph;
use report::Report;

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

#[test]
#[ignore = "needs the feature files: run tests/gremlin/run.sh"]
fn scenarios_that_change_a_graph_pass() {
    let mut report = Report::default();
    for scenario in feature::scenarios() {
        let changes = scenario.fills || scenario.writes();
        if changes && matches!(scenario.graph.as_str(), "empty" | "modern") {
            report.run(&scenario, || run(&scenario), |_| false);
        }
    }
    report.check(&report::listed(include_str!("not_yet.txt")));
}
