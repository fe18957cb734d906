//! What a statement has done, as Bolt says it.

use varve_bolt::{Map, Value};
use varve_cypher::{Measured, PlanTree};

use super::counters;
use super::engine::Summary;

/// The counters and the plan, if there are any.
pub(crate) fn metadata(summary: &Summary) -> Map {
    let mut metadata = Map::new();
    if summary.counters.contains_updates() {
        let counted = counters::all(&summary.counters).into_iter();
        let counted = counted.filter(|(_, count)| *count != 0);
        let mut stats: Map = counted
            .map(|(name, count)| (name.to_owned(), Value::Int(count)))
            .collect();
        stats.push(("contains-updates".to_owned(), Value::Bool(true)));
        metadata.push(("stats".to_owned(), Value::Map(stats)));
    }
    if let Some(tree) = &summary.plan {
        let name = if tree.measured.is_some() {
            "profile"
        } else {
            "plan"
        };
        metadata.push((name.to_owned(), plan(tree)));
    }
    metadata
}

fn plan(tree: &PlanTree) -> Value {
    let mut arguments = vec![("Details".to_owned(), Value::from(tree.details.as_str()))];
    let mut plan = vec![
        ("operatorType".to_owned(), Value::from(tree.name)),
        ("identifiers".to_owned(), Value::List(Vec::new())),
    ];
    if let Some(measured) = &tree.measured {
        let [rows, reads, time] = numbers(measured).map(Value::Int);
        // Some clients read the one, some the other.
        for (name, argument, value) in [
            ("rows", "Rows", rows),
            ("dbHits", "DbHits", reads),
            ("time", "Time", time),
        ] {
            arguments.push((argument.to_owned(), value.clone()));
            plan.push((name.to_owned(), value));
        }
        for name in ["pageCacheHits", "pageCacheMisses"] {
            plan.push((name.to_owned(), Value::Int(0)));
        }
        plan.push(("pageCacheHitRatio".to_owned(), Value::Float(0.0)));
    }
    plan.push(("args".to_owned(), Value::Map(arguments)));
    let children = tree.children.iter().map(self::plan).collect();
    plan.push(("children".to_owned(), children));
    Value::Map(plan)
}

/// Rows, reads, and the time in nanoseconds.
pub(super) fn numbers(measured: &Measured) -> [i64; 3] {
    let whole = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    let nanoseconds = i64::try_from(measured.time.as_nanos());
    [
        whole(measured.rows),
        whole(measured.reads),
        nanoseconds.unwrap_or(i64::MAX),
    ]
}
