//! Operators that need one row at a time.

use super::batch::ROWS;
use super::expand::KnownSteps;
use super::number::number;
use super::ordered::Order;
use super::remembered::Remembered;
use super::{Batch, BoxedOperator, Cx, Operator, expand, matching, paths, shortest, subquery};
use crate::error::Outcome;
use crate::expression::Expr;
use crate::plan::Op;
use crate::value::Value;

/// An operator that makes rows of each row.
pub(crate) struct Each<'p> {
    input: BoxedOperator<'p>,
    op: &'p Op,
    /// Input rows, and how many of them are done.
    waiting: (Batch, usize),
    /// Rows that are taken at once: few at first, so that a small limit reads little.
    at_once: usize,
    /// Results of a condition on one node.
    remembered: Option<Remembered>,
    /// Steps of nodes that were seen before.
    steps: KnownSteps,
    /// Bytes of the rows that were given last.
    held: usize,
    is_done: bool,
}

impl<'p> Each<'p> {
    pub(crate) fn new(input: BoxedOperator<'p>, op: &'p Op) -> Each<'p> {
        let remembered = match op {
            Op::Filter(condition) => Remembered::of(condition),
            _ => None,
        };
        Each {
            input,
            op,
            remembered,
            steps: KnownSteps::default(),
            waiting: (Batch::default(), 0),
            at_once: 4,
            held: 0,
            is_done: false,
        }
    }

    /// The next rows of the input.
    fn take(&mut self, cx: Cx<'_>) -> Outcome<Option<Batch>> {
        let (batch, done) = &mut self.waiting;
        if *done == batch.len() {
            match self.input.next(cx)? {
                Some(next) => (*batch, *done) = (next, 0),
                None => return Ok(None),
            }
        }
        if *done == 0 && batch.len() <= self.at_once {
            return Ok(Some(std::mem::take(batch)));
        }
        let end = batch.len().min(*done + self.at_once);
        let taken = batch.take(*done..end);
        *done = end;
        if *done == batch.len() {
            (*batch, *done) = (Batch::default(), 0);
        }
        Ok(Some(taken))
    }
}

impl Operator for Each<'_> {
    fn comes_in(&mut self, cx: Cx<'_>, order: &Order<'_>) -> Outcome<bool> {
        let order = match self.op {
            Op::Extend(_) => Some(order.clone()),
            Op::Filter(condition) => Some(order.filtered(condition)),
            Op::Project { items, kept } => order.before(items, *kept),
            // The steps of a row come where the row came.
            Op::Expand(one) => Some(order.clone()).filter(|order| {
                let is_new = |slot: usize| order.reads(slot);
                !is_new(one.relationship) && (one.is_to_bound || !is_new(one.to))
            }),
            _ => None,
        };
        match order {
            Some(order) => self.input.comes_in(cx, &order),
            None => Ok(false),
        }
    }

    fn next(&mut self, cx: Cx<'_>) -> Outcome<Option<Batch>> {
        let meter = cx.graph().meter;
        meter.release(std::mem::take(&mut self.held));
        while !self.is_done {
            let Some(batch) = self.take(cx)? else {
                self.is_done = true;
                break;
            };
            if batch.is_empty() {
                continue;
            }
            meter.check()?;
            let out = match (self.op, &mut self.remembered) {
                (Op::Filter(condition), Some(remembered)) if cx.graph().writer.is_none() => {
                    filtered(cx, condition, remembered, batch)?
                }
                (Op::Expand(one), _) => expand::expand(cx, one, &mut self.steps, &batch)?,
                _ => transformed(cx, self.op, batch)?,
            };
            if out.len() > 2 * ROWS {
                self.at_once = (self.at_once / 2).max(1);
            } else if out.len() < ROWS / 2 {
                self.at_once = (self.at_once * 4).min(ROWS);
            }
            if !out.is_empty() {
                self.held = out.bytes();
                meter.hold(self.held)?;
                return Ok(Some(out));
            }
        }
        Ok(None)
    }
}

/// The rows for which a condition on one node holds.
fn filtered(
    cx: Cx<'_>,
    condition: &Expr,
    remembered: &mut Remembered,
    mut batch: Batch,
) -> Outcome<Batch> {
    let new = batch.values().filter(|row| !remembered.knows(row));
    matching::prefetch(cx, condition, new)?;
    batch.retain(|row| remembered.holds(cx, condition, row))?;
    Ok(batch)
}

/// The rows that an operator makes of a batch.
fn transformed(cx: Cx<'_>, op: &Op, batch: Batch) -> Outcome<Batch> {
    match op {
        Op::Extend(by) => {
            let mut out = Batch::new(batch.width() + by);
            batch.rows().for_each(|(row, count)| out.push(row, count));
            Ok(out)
        }
        Op::Project { items, kept } => project(cx, items, *kept, &batch),
        Op::Keep(slots) => {
            let mut out = Batch::new(slots.len());
            for (row, count) in batch.rows() {
                let slot = |slot: &usize| row.get(*slot).cloned().unwrap_or(Value::Null);
                out.push_both(&[], slots.iter().map(slot), count);
            }
            Ok(out)
        }
        Op::Filter(condition) => {
            matching::prefetch(cx, condition, batch.values())?;
            let mut out = batch;
            out.retain(|row| cx.holds(condition, row))?;
            Ok(out)
        }
        Op::Ends(ends) => paths::ends(cx, ends, &batch),
        Op::Shortest(one) => shortest::shortest(cx, one, &batch),
        Op::MakePath { path, parts } => {
            let mut out = batch;
            for at in 0..out.len() {
                let value = paths::path_of(parts, out.row(at));
                if let Some(slot) = out.row_mut(at).get_mut(*path) {
                    *slot = value;
                }
            }
            Ok(out)
        }
        Op::Apply(apply) => subquery::apply(cx, apply, &batch),
        Op::Call(call) => subquery::call(cx, call, &batch),
        _ => Ok(batch),
    }
}

fn project(cx: Cx<'_>, items: &[Expr], kept: usize, batch: &Batch) -> Outcome<Batch> {
    for item in items {
        matching::prefetch(cx, item, batch.values())?;
    }
    let mut out = Batch::new(kept + items.len());
    let mut values = Vec::with_capacity(items.len());
    for (row, count) in batch.rows() {
        for item in items {
            values.push(match item {
                // Values of constants in a subquery are locals of its row.
                Expr::Local(local) => cx.locals.get(*local).cloned().unwrap_or(Value::Null),
                _ => cx.evaluate(item, row)?,
            });
        }
        out.push_both(&row[..kept], values.drain(..), count);
    }
    Ok(out)
}

/// Leaves out the first rows.
pub(crate) struct Skip<'p> {
    input: BoxedOperator<'p>,
    count: &'p Expr,
    left: Option<u64>,
}

impl<'p> Skip<'p> {
    pub(crate) fn new(input: BoxedOperator<'p>, count: &'p Expr) -> Skip<'p> {
        let left = None;
        Skip { input, count, left }
    }
}

impl Operator for Skip<'_> {
    fn next(&mut self, cx: Cx<'_>) -> Outcome<Option<Batch>> {
        let mut left = match self.left {
            Some(left) => left,
            None => number(cx, self.count, "SKIP")?,
        };
        let Some(batch) = self.input.next(cx)? else {
            return Ok(None);
        };
        let out = match left {
            0 => batch,
            _ => {
                let mut out = Batch::new(batch.width());
                for (row, count) in batch.rows() {
                    let skipped = left.min(count);
                    left -= skipped;
                    if skipped < count {
                        out.push(row, count - skipped);
                    }
                }
                out
            }
        };
        self.left = Some(left);
        Ok(Some(out))
    }
}

/// Gives the first rows.
pub(crate) struct Limit<'p> {
    input: BoxedOperator<'p>,
    count: &'p Expr,
    drains: bool,
    left: Option<u64>,
}

impl<'p> Limit<'p> {
    pub(crate) fn new(input: BoxedOperator<'p>, count: &'p Expr, drains: bool) -> Limit<'p> {
        Limit {
            input,
            count,
            drains,
            left: None,
        }
    }
}

impl Operator for Limit<'_> {
    fn next(&mut self, cx: Cx<'_>) -> Outcome<Option<Batch>> {
        let mut left = match self.left {
            Some(left) => left,
            None => number(cx, self.count, "LIMIT")?,
        };
        self.left = Some(left);
        if left == 0 {
            if self.drains {
                while self.input.next(cx)?.is_some() {}
            }
            return Ok(None);
        }
        let Some(batch) = self.input.next(cx)? else {
            return Ok(None);
        };
        let mut out = Batch::new(batch.width());
        for (row, count) in batch.rows() {
            let taken = left.min(count);
            left -= taken;
            if taken > 0 {
                out.push(row, taken);
            }
        }
        self.left = Some(left);
        Ok(Some(out))
    }
}
