//! Gremlin: random traversals on the engine over a stored graph, with its rules and without,
//! against an evaluator by the definitions over the model.
//!
//! `VARVE_GREMLIN_TRAVERSALS` sets how many traversals.

mod naive;
mod step;

use std::time::{Duration, Instant};

use varve_graph::read::View;
use varve_gremlin::bind::{NoVariables, bind};
use varve_gremlin::parse_traversal;
use varve_query::{Query, QueryError, QueryOptions, Value};
use varve_testkit::Random;
use varve_view::{CancelToken, Meter, MeterLimits};

use crate::history;

/// Traversals of one run.
const TRAVERSALS: u64 = 4_000;
/// Results of the engine that are asked for at a time.
const DEMAND: usize = 100;

/// The same text as the evaluator's for an equal value.
fn canonical(value: &Value) -> String {
    let each = |values: &[Value]| values.iter().map(canonical).collect::<Vec<_>>();
    match value {
        Value::Vertex(_) => format!("vertex {}", value.as_vertex_id().expect("an id")),
        Value::Edge(edge, _) => format!("edge {}", edge.id),
        Value::Int(n) => format!("int {n}"),
        Value::Long(n) => format!("long {n}"),
        Value::Text(text) => format!("'{text}'"),
        Value::List(values) => format!("[{}]", naive::sorted(each(values))),
        Value::Map(map) => {
            let texts = map
                .iter()
                .map(|(key, value)| format!("{}: {}", canonical(key), canonical(value)));
            format!("{{{}}}", naive::sorted(texts.collect()))
        }
        Value::Path(path) => format!("path({})", each(&path.objects).join(", ")),
        other => format!("{} {other}", other.type_name()),
    }
}

fn results(text: &str, view: &View, as_written: bool) -> Result<Vec<String>, QueryError> {
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
            texts.extend(std::iter::repeat_n(canonical(&value), times));
        }
    }
    texts.sort_unstable();
    Ok(texts)
}

#[test]
fn random_traversals_give_what_their_definitions_say() {
    let asked = std::env::var("VARVE_GREMLIN_TRAVERSALS");
    let count = asked.map_or(TRAVERSALS, |count| count.parse().expect("a number"));
    let (mut compared, mut empty) = (0, 0);
    let mut seed = 0;
    while compared < count {
        seed += 1;
        let mut random = Random::new(seed);
        let (view, model) = history::whole_point(seed, &mut random);
        let steps = step::traversal(&mut random);
        let Ok(wanted) = naive::results(&model, &steps) else {
            continue;
        };
        let mut wanted: Vec<String> = wanted.iter().map(naive::canonical).collect();
        wanted.sort_unstable();
        let texts: Vec<String> = steps.iter().map(ToString::to_string).collect();
        let text = format!("g.{}", texts.join("."));
        for as_written in [false, true] {
            let got = results(&text, &view, as_written);
            let got = got.unwrap_or_else(|error| panic!("seed {seed}: {text}: {error}"));
            assert_eq!(got, wanted, "seed {seed}, {text}, as written: {as_written}");
        }
        empty += u64::from(wanted.is_empty());
        compared += 1;
    }
    println!("{compared} traversals of {seed} drawn, {empty} without results");
    assert!(empty * 3 < compared, "{empty} of {compared} give nothing");
    assert!(compared * 2 > seed, "{compared} of {seed} are compared");
}
