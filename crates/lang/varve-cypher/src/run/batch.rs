//! Rows in batches.

use std::ops::Range;

use crate::error::Outcome;
use crate::expression::{NULL, Row};
use crate::value::Value;

/// Rows that operators aim at in one batch.
pub(crate) const ROWS: usize = 1_024;

/// Rows with the same slots. Each row stands for a number of equal rows.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    width: usize,
    len: usize,
    /// Row after row.
    values: Vec<Value>,
    /// `None`: each row stands for itself.
    counts: Option<Vec<u64>>,
}

impl Batch {
    /// An empty batch of rows with `width` slots.
    pub(crate) fn new(width: usize) -> Batch {
        Batch {
            width,
            ..Batch::default()
        }
    }

    /// One row, which stands for itself.
    pub(crate) fn of(row: Vec<Value>) -> Batch {
        Batch {
            width: row.len(),
            len: 1,
            values: row,
            counts: None,
        }
    }

    /// The number of slots of each row.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// The number of rows, not counting equal ones.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The values of a row.
    #[must_use]
    pub fn row(&self, at: usize) -> &[Value] {
        let start = at * self.width;
        self.values
            .get(start..start + self.width)
            .unwrap_or_default()
    }

    /// How many equal rows a row stands for; at least one.
    #[must_use]
    pub fn count(&self, at: usize) -> u64 {
        let counts = self.counts.as_ref();
        counts
            .and_then(|counts| counts.get(at).copied())
            .unwrap_or(1)
    }

    /// The rows, each with the number of equal rows that it stands for.
    pub fn rows(&self) -> impl Iterator<Item = (&[Value], u64)> {
        (0..self.len).map(|at| (self.row(at), self.count(at)))
    }

    /// The values of each row.
    pub(crate) fn values(&self) -> impl Iterator<Item = &[Value]> + Clone {
        (0..self.len).map(|at| self.row(at))
    }

    /// Moves some of the rows into a batch of their own. Nulls take their place.
    pub(crate) fn take(&mut self, rows: Range<usize>) -> Batch {
        let end = rows.end.min(self.len);
        let start = rows.start.min(end);
        let values = &mut self.values[start * self.width..end * self.width];
        Batch {
            width: self.width,
            len: end - start,
            values: values
                .iter_mut()
                .map(|value| std::mem::replace(value, Value::Null))
                .collect(),
            counts: self.counts.as_ref().map(|all| all[start..end].to_vec()),
        }
    }

    /// Keeps the rows for which `keep` is true.
    ///
    /// # Errors
    /// Those of `keep`.
    pub(crate) fn retain(
        &mut self,
        mut keep: impl FnMut(&[Value]) -> Outcome<bool>,
    ) -> Outcome<()> {
        let (width, mut kept) = (self.width, 0);
        for at in 0..self.len {
            if !keep(self.row(at))? {
                continue;
            }
            if kept < at {
                let (before, from) = self.values.split_at_mut(at * width);
                before[kept * width..(kept + 1) * width].swap_with_slice(&mut from[..width]);
                if let Some(counts) = &mut self.counts {
                    counts[kept] = counts[at];
                }
            }
            kept += 1;
        }
        self.len = kept;
        self.values.truncate(kept * width);
        if let Some(counts) = &mut self.counts {
            counts.truncate(kept);
        }
        Ok(())
    }

    pub(crate) fn row_mut(&mut self, at: usize) -> &mut [Value] {
        let start = at * self.width;
        self.values
            .get_mut(start..start + self.width)
            .unwrap_or_default()
    }

    /// Adds a row: `values` up to the batch's width, and nulls for missing ones.
    pub(crate) fn push(&mut self, values: &[Value], count: u64) {
        let taken = values.len().min(self.width);
        self.values.extend_from_slice(&values[..taken]);
        self.pad(self.width - taken);
        self.counted(count);
    }

    /// Adds a row of two parts.
    pub(crate) fn push_both(
        &mut self,
        first: &[Value],
        more: impl IntoIterator<Item = Value>,
        count: u64,
    ) {
        let end = self.values.len() + self.width;
        self.values.extend_from_slice(first);
        self.values.extend(more);
        self.values.truncate(end);
        self.pad(end - self.values.len());
        self.counted(count);
    }

    fn pad(&mut self, by: usize) {
        self.values.extend(std::iter::repeat_n(Value::Null, by));
    }

    fn counted(&mut self, count: u64) {
        self.len += 1;
        if count != 1 && self.counts.is_none() {
            self.counts = Some(vec![1; self.len - 1]);
        }
        if let Some(counts) = &mut self.counts {
            counts.push(count);
        }
    }

    /// Adds the rows of another batch of the same width.
    pub(crate) fn append(&mut self, other: Batch) {
        if self.is_empty() {
            *self = other;
            return;
        }
        for (row, count) in other.rows() {
            self.push(row, count);
        }
    }

    /// The bytes that the rows themselves take.
    pub(crate) fn bytes(&self) -> usize {
        self.len * (self.width * size_of::<Value>() + 8)
    }
}

/// A row of a batch, for expressions.
pub(crate) struct RowOf<'r>(pub(crate) &'r [Value]);

impl Row for RowOf<'_> {
    fn slot(&self, slot: usize) -> &Value {
        self.0.get(slot).unwrap_or(&NULL)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(batch: &Batch) -> String {
        let rows = batch.rows().map(|(row, count)| {
            let values: Vec<String> = row.iter().map(ToString::to_string).collect();
            format!("{} x{count}", values.join(","))
        });
        rows.collect::<Vec<_>>().join("; ")
    }

    fn numbers(counts: &[u64]) -> Batch {
        let mut batch = Batch::new(2);
        for (at, count) in (0..).zip(counts) {
            batch.push(&[Value::Integer(at), Value::Integer(10 * at)], *count);
        }
        batch
    }

    #[test]
    fn rows_that_are_kept_keep_their_counts() {
        let mut batch = numbers(&[1, 5, 2, 7]);
        let odd = |row: &[Value]| Ok(matches!(row, [Value::Integer(1 | 3), _]));
        batch.retain(odd).expect("kept");
        assert_eq!(text(&batch), "1,10 x5; 3,30 x7");
        batch.push(&[Value::Null], 4);
        assert_eq!(text(&batch), "1,10 x5; 3,30 x7; NULL,NULL x4");
        batch.retain(|_| Ok(false)).expect("kept");
        assert_eq!((batch.len(), text(&batch)), (0, String::new()));
    }

    #[test]
    fn rows_are_moved_in_parts() {
        for counts in [&[1, 1, 1][..], &[1, 5, 2]] {
            let mut batch = numbers(counts);
            let parts = [batch.take(0..2), batch.take(2..9), batch.take(3..5)];
            let texts = parts.each_ref().map(text).join("|");
            let [a, b, c] = [counts[0], counts[1], counts[2]];
            assert_eq!(texts, format!("0,0 x{a}; 1,10 x{b}|2,20 x{c}|"));
        }
    }
}
