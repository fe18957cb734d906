//! `UNWIND`.

use std::sync::Arc;

use super::batch::ROWS;
use super::{Batch, BoxedOperator, Cx, Operator};
use crate::error::Outcome;
use crate::expression::Expr;
use crate::value::Value;

/// Makes a row of each item of a list.
pub(crate) struct Unwind<'p> {
    input: BoxedOperator<'p>,
    list: &'p Expr,
    /// Input rows, and the one whose list is next.
    waiting: (Batch, usize),
    /// The items of the row before that one, and how many of them were given.
    items: Option<(Arc<Vec<Value>>, usize)>,
    /// Bytes of the rows that were given last.
    held: usize,
}

impl<'p> Unwind<'p> {
    pub(crate) fn new(input: BoxedOperator<'p>, list: &'p Expr) -> Unwind<'p> {
        Unwind {
            input,
            list,
            waiting: (Batch::default(), 0),
            items: None,
            held: 0,
        }
    }

    /// Gives items of one row until the batch is full.
    fn give(&mut self, out: &mut Batch) {
        let Some((items, given)) = &mut self.items else {
            return;
        };
        let (batch, next) = &self.waiting;
        let at = next.saturating_sub(1);
        let end = items.len().min(*given + ROWS - out.len());
        for item in items.get(*given..end).unwrap_or_default() {
            out.push_both(batch.row(at), [item.clone()], batch.count(at));
        }
        *given = end;
        if end == items.len() {
            self.items = None;
        }
    }

    /// The rows of the waiting ones, at most a batch.
    fn rows(&mut self, cx: Cx<'_>) -> Outcome<Batch> {
        let mut out = Batch::new(self.waiting.0.width() + 1);
        loop {
            self.give(&mut out);
            let (batch, next) = &mut self.waiting;
            if out.len() >= ROWS || *next == batch.len() {
                return Ok(out);
            }
            let list = cx.evaluate(self.list, batch.row(*next))?;
            *next += 1;
            self.items = match list {
                Value::Null => None,
                Value::List(items) => Some((items, 0)),
                one => Some((Arc::new(vec![one]), 0)),
            };
        }
    }

    fn is_done(&self) -> bool {
        self.items.is_none() && self.waiting.1 == self.waiting.0.len()
    }
}

impl Operator for Unwind<'_> {
    fn next(&mut self, cx: Cx<'_>) -> Outcome<Option<Batch>> {
        let meter = cx.graph().meter;
        meter.release(std::mem::take(&mut self.held));
        loop {
            if self.is_done() {
                match self.input.next(cx)? {
                    Some(batch) => self.waiting = (batch, 0),
                    None => return Ok(None),
                }
            }
            meter.check()?;
            let out = self.rows(cx)?;
            if !out.is_empty() {
                self.held = out.bytes();
                meter.hold(self.held)?;
                return Ok(Some(out));
            }
        }
    }
}
