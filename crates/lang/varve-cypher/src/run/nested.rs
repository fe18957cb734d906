//! Pipelines inside other operators.

use varve_view::Flow;

use super::build::{build, build_shown};
use super::{Batch, BoxedOperator, Cx};
use crate::error::Outcome;
use crate::evaluate::evaluate;
use crate::expression::{Frame, Subplans};
use crate::plan::{Pipeline, Subplan};
use crate::value::Value;

/// A pipeline that ends before the query. Of what its operators hold, nothing outlives it.
pub(super) struct Nested<'p> {
    operator: BoxedOperator<'p>,
    /// Bytes that its operators hold.
    held: usize,
}

impl<'p> Nested<'p> {
    /// A pipeline that begins with some rows.
    pub(super) fn of(pipeline: &'p Pipeline, argument: Batch) -> Nested<'p> {
        Nested {
            operator: build(pipeline, argument),
            held: 0,
        }
    }

    /// As [`Nested::of`], of a pipeline that `EXPLAIN` shows.
    pub(super) fn shown(cx: Cx<'_>, pipeline: &'p Pipeline, argument: Batch) -> Nested<'p> {
        Nested {
            operator: build_shown(pipeline, argument, cx.shared),
            held: 0,
        }
    }

    /// The next rows; none at the end.
    pub(super) fn next(&mut self, cx: Cx<'_>) -> Outcome<Option<Batch>> {
        let before = counted(cx);
        let batch = self.operator.next(cx)?;
        let held = self.held.saturating_add(counted(cx));
        self.held = held.saturating_sub(before);
        if batch.is_none() {
            self.end(cx);
        }
        Ok(batch)
    }

    /// Releases what the operators hold. Whoever stops before the end of the rows must call it.
    pub(super) fn end(&mut self, cx: Cx<'_>) {
        cx.graph().meter.release(std::mem::take(&mut self.held));
    }
}

/// The bytes that operators hold. Snapshots, and the nodes that a query has met, are kept until it
/// ends.
pub(super) fn counted(cx: Cx<'_>) -> usize {
    let counted = usize::try_from(cx.graph().meter.counted()).unwrap_or(usize::MAX);
    counted.saturating_sub(cx.shared.nodes.bytes() + cx.shared.snapshots.bytes())
}

impl Subplans for Cx<'_> {
    fn rows(
        &self,
        plan: usize,
        frame: &mut Frame<'_>,
        visit: &mut dyn FnMut(&Value, u64) -> Outcome<Flow>,
    ) -> Outcome<()> {
        let Some(subplan) = self.shared.plan.subplans.get(plan) else {
            return Ok(());
        };
        match &self.shared.profile {
            Some(profile) => profile.hidden(|| self.rows_of(subplan, frame, visit)),
            None => self.rows_of(subplan, frame, visit),
        }
    }
}

impl Cx<'_> {
    fn rows_of(
        &self,
        subplan: &Subplan,
        frame: &mut Frame<'_>,
        visit: &mut dyn FnMut(&Value, u64) -> Outcome<Flow>,
    ) -> Outcome<()> {
        let mut locals = Vec::with_capacity(subplan.inputs.len());
        for input in &subplan.inputs {
            locals.push(evaluate(input, frame)?);
        }
        let cx = Cx {
            locals: &locals,
            ..*self
        };
        let mut nested = Nested::of(&subplan.pipeline, Batch::of(Vec::new()));
        while let Some(batch) = nested.next(cx)? {
            for (row, count) in batch.rows() {
                if visit(row.first().unwrap_or(&Value::Null), count)?.is_break() {
                    nested.end(cx);
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}
