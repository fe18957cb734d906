//! Compares results with the outcome that a scenario expects.

use varve_query::Value;

use crate::expected::{Wanted, matches};
use crate::feature::{Outcome, Scenario};
use crate::modern::Modern;

/// Checks the results or the error of a scenario's traversal. The error describes the difference.
pub(crate) fn check(
    scenario: &Scenario,
    graph: &Modern,
    results: Result<Vec<Value>, String>,
) -> Result<(), String> {
    let mut values = match (&scenario.outcome, results) {
        (Outcome::Error(None), Err(_)) => return Ok(()),
        (Outcome::Error(Some(text)), Err(error)) => {
            return match error.to_lowercase().contains(&text.to_lowercase()) {
                true => Ok(()),
                false => Err(format!("error: {error}, wanted {text}")),
            };
        }
        (_, Err(error)) => return Err(format!("error: {error}")),
        (Outcome::Error(_), Ok(_)) => return Err("no error".to_owned()),
        (_, Ok(values)) => values,
    };
    // `iterated next` compares the members of the first result.
    if scenario.next {
        values = match values.first() {
            Some(Value::Tree(_)) => values,
            first => first.and_then(Value::items).unwrap_or(values),
        };
    }
    compare(scenario, graph, &values)
}

fn compare(scenario: &Scenario, graph: &Modern, values: &[Value]) -> Result<(), String> {
    let mismatch = || {
        let texts: Vec<String> = values
            .iter()
            .take(12)
            .map(|value| value.shown().to_string())
            .collect();
        format!("got {} {}", values.len(), texts.join(" | "))
    };
    match &scenario.outcome {
        Outcome::Empty if values.is_empty() => Ok(()),
        Outcome::Empty => Err(mismatch()),
        Outcome::Count(count) if values.len() == *count => Ok(()),
        Outcome::Count(_) => Err(mismatch()),
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
            if good { Ok(()) } else { Err(mismatch()) }
        }
        Outcome::Tree(nodes) => {
            let wanted = Wanted::tree(nodes, graph).ok_or("cannot read the tree")?;
            match values {
                [value] if matches(value, &wanted) => Ok(()),
                _ => Err(mismatch()),
            }
        }
        Outcome::Subgraph(rows) => {
            let wanted: Option<Vec<Wanted>> =
                rows.iter().map(|row| Wanted::read(row, graph)).collect();
            let wanted = wanted.ok_or_else(|| format!("cannot read {rows:?}"))?;
            let Some(Value::Graph(graph)) = values.first() else {
                return Err(mismatch());
            };
            let members: Vec<Value> = graph.members().cloned().collect();
            match same_bag(&members, &wanted) {
                true => Ok(()),
                false => Err(format!("got {members:?}")),
            }
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
