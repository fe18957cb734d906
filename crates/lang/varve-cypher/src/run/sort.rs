//! `ORDER BY`.

use std::cmp::Ordering;

use super::batch::ROWS;
use super::drain::{ENTRY_BYTES, Given};
use super::number::number;
use super::ordered::Order;
use super::{Batch, BoxedOperator, Cx, Operator, matching};
use crate::error::Outcome;
use crate::expression::Expr;
use crate::plan::SortKey;
use crate::value::{Value, order};

/// The most rows that are asked for in the order of an index: more cost less by a scan.
const ORDERED_MAX: usize = 10_000;

/// Orders rows.
pub(crate) struct Sort<'p> {
    input: BoxedOperator<'p>,
    keys: &'p [SortKey],
    top: Option<&'p (Option<Expr>, Expr)>,
    given: Option<Given>,
}

/// A row with what it is ordered by.
struct Keyed {
    keys: Vec<Value>,
    row: Vec<Value>,
    count: u64,
}

impl Keyed {
    fn bytes(&self) -> usize {
        ENTRY_BYTES + size_of_val(&*self.keys) + size_of_val(&*self.row)
    }
}

impl<'p> Sort<'p> {
    pub(crate) fn new(
        input: BoxedOperator<'p>,
        keys: &'p [SortKey],
        top: Option<&'p (Option<Expr>, Expr)>,
    ) -> Sort<'p> {
        Sort {
            input,
            keys,
            top,
            given: None,
        }
    }

    /// How many rows are needed at most.
    fn most(&self, cx: Cx<'_>) -> Outcome<usize> {
        let Some((skip, limit)) = self.top else {
            return Ok(usize::MAX);
        };
        let skipped = skip.as_ref().map(|skip| number(cx, skip, "SKIP"));
        let most = number(cx, limit, "LIMIT")?.saturating_add(skipped.transpose()?.unwrap_or(0));
        Ok(usize::try_from(most).unwrap_or(usize::MAX))
    }

    fn compare(&self, one: &Keyed, other: &Keyed) -> Ordering {
        let pairs = one.keys.iter().zip(&other.keys).zip(self.keys);
        let mut orders = pairs.map(|((one, other), key)| match key.descending {
            true => order(other, one),
            false => order(one, other),
        });
        orders
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    }

    fn by_first(&self, one: &Value, other: &Value) -> Ordering {
        match self.keys[0].descending {
            true => order(other, one),
            false => order(one, other),
        }
    }

    fn sorted(&mut self, cx: Cx<'_>) -> Outcome<Batch> {
        let meter = cx.graph().meter;
        let most = self.most(cx)?;
        let mut rows: Vec<Keyed> = Vec::new();
        let mut width = 0;
        let is_in_order = (1..=ORDERED_MAX).contains(&most)
            && match Order::of(&self.keys[0].value, self.keys[0].descending) {
                Some(order) => self.input.comes_in(cx, &order)?,
                None => false,
            };
        while let Some(batch) = self.input.next(cx)? {
            width = batch.width();
            for key in self.keys {
                matching::prefetch(cx, &key.value, batch.values())?;
            }
            for (row, count) in batch.rows() {
                let mut keys = Vec::with_capacity(self.keys.len());
                for key in self.keys {
                    keys.push(cx.evaluate(&key.value, row)?);
                }
                let row = row.to_vec();
                let keyed = Keyed { keys, row, count };
                meter.hold(keyed.bytes())?;
                rows.push(keyed);
            }
            // By the first key, all further rows come behind the newest one.
            if is_in_order && rows.len() > most {
                let newest = rows[rows.len() - 1].keys[0].clone();
                self.cut(cx, &mut rows, most);
                if self.by_first(&rows[most - 1].keys[0], &newest).is_lt() {
                    break;
                }
            }
            if rows.len() > most.saturating_mul(2).saturating_add(ROWS) {
                self.cut(cx, &mut rows, most);
            }
        }
        self.cut(cx, &mut rows, most);
        let mut out = Batch::new(width);
        for keyed in rows {
            out.push_both(&[], keyed.row, keyed.count);
        }
        Ok(out)
    }

    /// Orders rows, and drops those behind the first `most`.
    fn cut(&self, cx: Cx<'_>, rows: &mut Vec<Keyed>, most: usize) {
        // A stable order: equal rows stay in the order in which they came.
        rows.sort_by(|one, other| self.compare(one, other));
        let dropped = rows.drain(most.min(rows.len())..);
        let bytes = dropped.map(|keyed| keyed.bytes()).sum();
        cx.graph().meter.release(bytes);
    }
}

impl Operator for Sort<'_> {
    fn next(&mut self, cx: Cx<'_>) -> Outcome<Option<Batch>> {
        if self.given.is_none() {
            let _watched = cx.graph().meter.watched();
            self.given = Some(Given::new(self.sorted(cx)?));
            cx.graph().meter.check()?;
        }
        Ok(self.given.as_mut().and_then(Given::next))
    }
}
