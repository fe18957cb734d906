//! `collect`.

use super::Accumulator;
use crate::error::Outcome;
use crate::value::{Graph, Value};

/// The values in the order of their rows.
#[derive(Default)]
pub(super) struct Collect(Vec<Value>);

impl Accumulator for Collect {
    fn add(&mut self, value: &Value, times: u64, graph: &Graph<'_>) -> Outcome<()> {
        match value {
            Value::Null => Ok(()),
            value => graph.push(&mut self.0, value, times),
        }
    }

    fn finish(self: Box<Self>) -> Outcome<Value> {
        Ok(Value::list(self.0))
    }
}
