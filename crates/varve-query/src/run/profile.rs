//! `profile()` and `explain()`: the steps of a plan, and their metrics.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use super::context::Context;
use super::each::drain;
use super::effect::put;
use super::row::Row;
use super::{BATCH_MAX, BoxedOperator, Operator, Reset};
use crate::plan::{Name, Op, Plan};
use crate::value::{Profile, StepMetrics};
use crate::{QueryError, Value};

/// The most bytes of a step's text.
const STEP_TEXT_MAX: usize = 500;

/// Metrics of the steps of one chain.
#[derive(Debug, Clone, Default)]
pub(crate) struct Measures(Rc<RefCell<Vec<Measured>>>);

/// Metrics of one step.
#[derive(Debug)]
struct Measured {
    name: String,
    /// Time spent in this step and the steps before it.
    nanoseconds: u64,
    traversers: u64,
    elements: u64,
    nested: Measures,
}

impl Measures {
    /// Adds a step. Returns its index, and the metrics of its children.
    pub(crate) fn step(&self, op: &Op) -> (usize, Self) {
        let mut steps = self.0.borrow_mut();
        let nested = Self::default();
        steps.push(Measured {
            name: step_text(op),
            nanoseconds: 0,
            traversers: 0,
            elements: 0,
            nested: nested.clone(),
        });
        (steps.len() - 1, nested)
    }

    fn metrics(&self) -> Vec<StepMetrics> {
        let mut before = 0;
        let steps = self.0.borrow();
        let each = steps.iter().map(|step| StepMetrics {
            name: step.name.clone(),
            nanoseconds: step
                .nanoseconds
                .saturating_sub(std::mem::replace(&mut before, step.nanoseconds)),
            traversers: step.traversers,
            elements: step.elements,
            nested: step.nested.metrics(),
        });
        each.collect()
    }
}

/// Measures the step before it.
pub(crate) struct Watched {
    pub(crate) input: BoxedOperator,
    pub(crate) measures: Measures,
    pub(crate) at: usize,
}

impl Operator for Watched {
    fn next(
        &mut self,
        cx: &mut Context<'_>,
        demand: usize,
    ) -> Result<Option<Vec<Row>>, QueryError> {
        let begun = Instant::now();
        let rows = self.input.next(cx, demand)?;
        let took = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        if let Some(step) = self.measures.0.borrow_mut().get_mut(self.at) {
            step.nanoseconds = step.nanoseconds.saturating_add(took);
            let rows = rows.as_deref().unwrap_or_default();
            step.traversers += rows.len() as u64;
            let bulks = rows.iter().map(|row| row.bulk);
            step.elements = bulks.fold(step.elements, u64::saturating_add);
        }
        Ok(rows)
    }

    fn reset(&mut self, how: Reset) {
        self.input.reset(how);
    }
}

/// Runs the steps before it to their end, then reports their metrics.
pub(crate) struct Profiling {
    pub(crate) input: BoxedOperator,
    pub(crate) into: Option<Name>,
    pub(crate) measures: Measures,
    pub(crate) done: bool,
}

impl Operator for Profiling {
    fn next(&mut self, cx: &mut Context<'_>, _: usize) -> Result<Option<Vec<Row>>, QueryError> {
        if std::mem::replace(&mut self.done, true) {
            return Ok(None);
        }
        let rows = match self.into {
            Some(_) => drain(self.input.as_mut(), cx)?,
            None => {
                while self.input.next(cx, BATCH_MAX)?.is_some() {
                    cx.tick(1)?;
                }
                Vec::new()
            }
        };
        let steps = self.measures.metrics();
        let profile = Value::Profile(Arc::new(Profile { steps }));
        Ok(Some(match &self.into {
            None => vec![Row::new(profile)],
            Some(name) => {
                put(cx, name, profile);
                rows
            }
        }))
    }

    fn reset(&mut self, how: Reset) {
        self.done = false;
        self.input.reset(how);
    }
}

/// Describes a plan as bound and as rewritten.
pub(crate) fn explained(plan: &Plan, rewritten: &Plan) -> Value {
    let texts = |plan: &Plan| {
        let each = plan.ops.iter().map(|op| Value::text(&step_text(op)));
        Value::list(each.collect())
    };
    Value::map([
        (Value::text("original"), texts(plan)),
        (Value::text("intermediate"), Value::list(Vec::new())),
        (Value::text("final"), texts(rewritten)),
    ])
}

/// The beginning of a step as text. The rest is not written.
fn step_text(op: &Op) -> String {
    struct Beginning(String);

    impl std::fmt::Write for Beginning {
        fn write_str(&mut self, text: &str) -> std::fmt::Result {
            let left = STEP_TEXT_MAX.saturating_sub(self.0.len());
            self.0.push_str(&text[..text.floor_char_boundary(left)]);
            match text.len() > left {
                true => Err(std::fmt::Error),
                false => Ok(()),
            }
        }
    }

    let mut text = Beginning(String::new());
    match write!(text, "{op:?}") {
        Ok(()) => text.0,
        Err(_) => text.0 + "…",
    }
}
