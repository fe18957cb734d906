//! Operators that run a pipeline for rows.

use super::batch::ROWS;
use super::nested::Nested;
use super::{Batch, BoxedOperator, Cx, Operator};
use crate::error::Outcome;
use crate::held::Held;
use crate::plan::{Apply, Pipeline, ProcedureOp};
use crate::value::Value;

/// For each batch, the rows of each branch.
pub(crate) struct Union<'p> {
    input: BoxedOperator<'p>,
    branches: &'p [Pipeline],
    argument: Option<Batch>,
    /// The number of the branch, and the branch.
    running: Option<(usize, Nested<'p>)>,
}

impl<'p> Union<'p> {
    pub(crate) fn new(input: BoxedOperator<'p>, branches: &'p [Pipeline]) -> Union<'p> {
        Union {
            input,
            branches,
            argument: None,
            running: None,
        }
    }
}

impl Operator for Union<'_> {
    fn next(&mut self, cx: Cx<'_>) -> Outcome<Option<Batch>> {
        loop {
            if let Some((number, operator)) = &mut self.running {
                if let Some(batch) = operator.next(cx)? {
                    return Ok(Some(batch));
                }
                let next = *number + 1;
                self.running = match (self.branches.get(next), &self.argument) {
                    (Some(branch), Some(rows)) => {
                        Some((next, Nested::shown(cx, branch, rows.clone())))
                    }
                    _ => None,
                };
                continue;
            }
            self.argument = self.input.next(cx)?;
            match (self.branches.first(), &self.argument) {
                (Some(branch), Some(rows)) => {
                    self.running = Some((0, Nested::shown(cx, branch, rows.clone())));
                }
                _ => return Ok(None),
            }
        }
    }
}

/// The rows of a pipeline for each row; a row without any is kept.
pub(crate) struct Optional<'p> {
    input: BoxedOperator<'p>,
    inner: &'p Pipeline,
    /// The slot for the number of the row.
    number: usize,
    running: Option<Matching<'p>>,
}

/// A batch whose matches are read.
struct Matching<'p> {
    rows: Batch,
    matched: Vec<bool>,
    operator: Nested<'p>,
}

impl<'p> Optional<'p> {
    pub(crate) fn new(input: BoxedOperator<'p>, inner: &'p Pipeline, number: usize) -> Self {
        Optional {
            input,
            inner,
            number,
            running: None,
        }
    }
}

impl Operator for Optional<'_> {
    fn next(&mut self, cx: Cx<'_>) -> Outcome<Option<Batch>> {
        if self.running.is_none() {
            let Some(mut rows) = self.input.next(cx)? else {
                return Ok(None);
            };
            for at in 0..rows.len() {
                if let Some(slot) = rows.row_mut(at).get_mut(self.number) {
                    *slot = Value::Integer(i64::try_from(at).unwrap_or(i64::MAX));
                }
            }
            self.running = Some(Matching {
                matched: vec![false; rows.len()],
                operator: Nested::shown(cx, self.inner, rows.clone()),
                rows,
            });
        }
        let Some(running) = &mut self.running else {
            return Ok(None);
        };
        if let Some(batch) = running.operator.next(cx)? {
            for (row, _) in batch.rows() {
                let number = match row.get(self.number) {
                    Some(Value::Integer(number)) => usize::try_from(*number).ok(),
                    _ => None,
                };
                if let Some(matched) = number.and_then(|at| running.matched.get_mut(at)) {
                    *matched = true;
                }
            }
            return Ok(Some(batch));
        }
        let mut left = Batch::new(running.rows.width());
        for (at, (row, count)) in running.rows.rows().enumerate() {
            if !running.matched[at] {
                left.push(row, count);
            }
        }
        self.running = None;
        Ok(Some(left))
    }
}

/// Runs a subquery for each row.
pub(super) fn apply(cx: Cx<'_>, apply: &Apply, batch: &Batch) -> Outcome<Batch> {
    let columns = apply.columns.unwrap_or(0);
    let mut out = Batch::new(batch.width() + columns);
    let mut held = Held::new(cx.graph().meter);
    for (row, count) in batch.rows() {
        let mut locals = Vec::with_capacity(apply.inputs.len());
        for input in &apply.inputs {
            locals.push(cx.evaluate(input, row)?);
        }
        let inner = Cx {
            locals: &locals,
            ..cx
        };
        let mut nested = Nested::shown(cx, &apply.inner, Batch::of(Vec::new()));
        let mut any = false;
        while let Some(results) = nested.next(inner)? {
            if apply.columns.is_some() {
                for (result, times) in results.rows() {
                    any = true;
                    out.push_both(row, result.iter().cloned(), count.saturating_mul(times));
                }
                held.grow_to(out.bytes())?;
            }
        }
        if apply.columns.is_none() || apply.optional && !any {
            out.push(row, count);
        }
    }
    Ok(out)
}

/// Calls a procedure for each row.
pub(super) fn call(cx: Cx<'_>, call: &ProcedureOp, batch: &Batch) -> Outcome<Batch> {
    let mut out = Batch::new(batch.width() + call.columns.len());
    let mut held = Held::new(cx.graph().meter);
    for (row, count) in batch.rows() {
        cx.graph().meter.check()?;
        let mut arguments = Vec::with_capacity(call.arguments.len());
        for argument in &call.arguments {
            arguments.push(cx.evaluate(argument, row)?);
        }
        let (procedures, meter) = (cx.shared.procedures, cx.graph().meter);
        let before = meter.counted();
        let results = procedures.call(&call.name, &arguments, cx.graph())?;
        // What the call has held, it gives back when its results are in the rows.
        let own = meter.counted().saturating_sub(before);
        let own = usize::try_from(own).unwrap_or(usize::MAX);
        if call.is_void || call.optional && results.is_empty() {
            out.push(row, count);
            meter.release(own);
            continue;
        }
        for (at, result) in results.into_iter().enumerate() {
            if at % ROWS == 0 {
                held.grow_to(out.bytes())?;
                cx.graph().meter.check()?;
            }
            let column = |at: &usize| result.get(*at).cloned().unwrap_or(Value::Null);
            out.push_both(row, call.columns.iter().map(column), count);
        }
        meter.release(own);
    }
    Ok(out)
}
