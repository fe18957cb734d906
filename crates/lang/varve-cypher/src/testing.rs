//! For unit tests: a graph without elements, and a frame in it.

use varve_view::{CancelToken, EmptyGraph, Flow, Meter, MeterLimits};

use crate::error::{Outcome, not_supported};
use crate::expression::{Frame, Subplans};
use crate::prepared::{Context, prepare, run};
use crate::procedures::NoProcedures;
use crate::sizes::Sizes;
use crate::temporal::Clock;
use crate::value::{Graph, Map, Value};

struct NoSubplans;

impl Subplans for NoSubplans {
    fn rows(
        &self,
        _: usize,
        _: &mut Frame<'_>,
        _: &mut dyn FnMut(&Value, u64) -> Outcome<Flow>,
    ) -> Outcome<()> {
        Err(not_supported("subqueries"))
    }
}

/// Calls `work` with a frame for a row of an empty graph.
pub(crate) fn in_frame<T>(row: &Vec<Value>, work: impl FnOnce(&mut Frame<'_>) -> T) -> T {
    let meter = Meter::unlimited();
    let graph = Graph {
        view: &EmptyGraph,
        schema: &EmptyGraph,
        writer: None,
        meter: &meter,
    };
    work(&mut Frame {
        graph: &graph,
        parameters: &Map::new(),
        row,
        locals: Vec::new(),
        clock: &Clock::now(),
        subplans: &NoSubplans,
    })
}

/// Calls `work` with an empty graph, for a query that may hold so many bytes.
pub(crate) fn in_graph<T>(bytes_max: u64, work: impl FnOnce(&Graph<'_>) -> T) -> T {
    let limits = MeterLimits {
        bytes_max,
        ..MeterLimits::NONE
    };
    work(&Graph {
        view: &EmptyGraph,
        schema: &EmptyGraph,
        writer: None,
        meter: &Meter::new(limits, CancelToken::default()),
    })
}

/// A value of each type, and those at the ends of their ranges.
pub(crate) fn odd_values() -> Vec<Value> {
    let call = |name: &str, text: &str| {
        let function = crate::functions::lookup(name).expect(name);
        let arguments = [Value::string(text)];
        in_frame(&Vec::new(), |frame| (function.body)(&arguments, frame)).expect(text)
    };
    let one = Value::Integer(1);
    let pair = (std::sync::Arc::from("year"), Value::Integer(2024));
    vec![
        Value::Null,
        Value::Boolean(true),
        Value::Integer(0),
        one.clone(),
        Value::Integer(-1),
        Value::Integer(i64::MIN),
        Value::Integer(i64::MAX),
        Value::Float(0.0),
        Value::Float(-0.5),
        Value::Float(1e300),
        Value::Float(f64::NAN),
        Value::Float(f64::NEG_INFINITY),
        Value::string(""),
        Value::string("wé\u{10FFFF}"),
        Value::string("week"),
        Value::string("hour"),
        Value::string("Europe/Stockholm"),
        Value::list(Vec::new()),
        Value::list(vec![one.clone(), Value::Null, Value::string("a")]),
        Value::map(Map::new()),
        Value::map([pair].into_iter().collect()),
        call("date", "-999999999-01-01"),
        call("date", "+999999999-12-31"),
        call("localtime", "23:59:59.999999999"),
        call("time", "00:00-18:00"),
        call("localdatetime", "+999999999-12-31T23:59:59.999999999"),
        call("datetime", "-999999999-01-02T00:00[Europe/Stockholm]"),
        call("datetime", "+999999999-12-31T23:59+18:00"),
        call("duration", "P1000000000000M1000000000000D"),
        call("duration", "PT-9223372036854775807S"),
        call("duration", "P1Y-1DT0.5S"),
    ]
}

/// The rows of a query on an empty graph, as text, or its error.
pub(crate) fn rows_of(text: &str) -> String {
    rows_within(text, u64::MAX)
}

/// The same, if the query may hold so many bytes.
pub(crate) fn rows_within(text: &str, bytes_max: u64) -> String {
    let limits = MeterLimits {
        bytes_max,
        ..MeterLimits::NONE
    };
    let rows = || -> Outcome<Vec<String>> {
        let prepared = prepare(text, &EmptyGraph, &NoProcedures, Sizes::UNKNOWN)?;
        let meter = Meter::new(limits, CancelToken::default());
        let parameters = Map::new();
        let mut rows = run(
            &prepared,
            Context {
                graph: Graph {
                    view: &EmptyGraph,
                    schema: &EmptyGraph,
                    writer: None,
                    meter: &meter,
                },
                parameters: &parameters,
                clock: Clock::now(),
                procedures: &NoProcedures,
            },
        )?;
        let mut found = Vec::new();
        while let Some(batch) = rows.next()? {
            for (row, _) in batch.rows() {
                let values: Vec<String> = row.iter().map(ToString::to_string).collect();
                found.push(values.join(", "));
            }
        }
        Ok(found)
    };
    match rows() {
        Ok(rows) => rows.join("; "),
        Err(error) => error.to_string(),
    }
}
