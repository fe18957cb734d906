//! What a statement has done, as Bolt says it.

use varve_bolt::{Map, Value};
use varve_cypher::PlanTree;

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
        metadata.push(("plan".to_owned(), plan(tree)));
    }
    metadata
}

fn plan(tree: &PlanTree) -> Value {
    let details = ("Details".to_owned(), Value::from(tree.details.as_str()));
    Value::Map(vec![
        ("operatorType".to_owned(), Value::from(tree.name)),
        ("identifiers".to_owned(), Value::List(Vec::new())),
        ("args".to_owned(), Value::Map(vec![details])),
        (
            "children".to_owned(),
            tree.children.iter().map(plan).collect(),
        ),
    ])
}
