//! Generic operators: over rows, over batches, over segments.

use std::collections::VecDeque;

use super::context::{BYTES_A_ROW, Context, copied_bytes};
use super::row::{Row, Track};
use super::{BoxedOperator, Operator, Reset};
use crate::QueryError;

/// Makes any number of rows from each row.
pub(crate) struct Each<F> {
    pub(crate) input: BoxedOperator,
    /// Whether the content of vertices must be read first.
    pub(crate) fetch: bool,
    pub(crate) make: F,
    /// Charged bytes of the batch that was given last.
    pub(crate) held: usize,
}

/// Bytes of a batch that are charged together. Smaller batches are not charged.
const HOLD_EVERY: usize = 1 << 20;

impl<F> Operator for Each<F>
where
    F: FnMut(&mut Context<'_>, Row, &mut Vec<Row>) -> Result<(), QueryError>,
{
    fn next(
        &mut self,
        cx: &mut Context<'_>,
        demand: usize,
    ) -> Result<Option<Vec<Row>>, QueryError> {
        let Some(rows) = self.input.next(cx, demand)? else {
            return Ok(None);
        };
        if self.fetch {
            cx.fetch_rows(&rows)?;
        }
        cx.meter.release(std::mem::take(&mut self.held));
        let mut out = Vec::with_capacity(rows.len());
        // Bytes that are not charged yet.
        let mut open = 0;
        for row in rows {
            let before = out.len();
            (self.make)(cx, row, &mut out)?;
            let made = &out[before..];
            let bytes = made.iter().map(Row::bytes).sum::<usize>();
            cx.tick(made.len() + bytes / BYTES_A_ROW)?;
            open += bytes;
            if open > HOLD_EVERY {
                self.held += open;
                cx.meter.hold(std::mem::take(&mut open))?;
            }
            if cx.track == Track::Path {
                made.iter().try_for_each(|row| cx.hold_place(&row.value))?;
            }
        }
        Ok(Some(out))
    }

    fn reset(&mut self, how: Reset) {
        self.input.reset(how);
    }
}

/// Transforms each batch.
pub(crate) struct Batch<F> {
    pub(crate) input: BoxedOperator,
    pub(crate) make: F,
}

impl<F> Operator for Batch<F>
where
    F: FnMut(&mut Context<'_>, Vec<Row>) -> Result<Vec<Row>, QueryError>,
{
    fn next(
        &mut self,
        cx: &mut Context<'_>,
        demand: usize,
    ) -> Result<Option<Vec<Row>>, QueryError> {
        match self.input.next(cx, demand)? {
            Some(rows) if rows.is_empty() => Ok(Some(rows)),
            Some(rows) => {
                cx.tick(rows.len())?;
                (self.make)(cx, rows).map(Some)
            }
            None => Ok(None),
        }
    }

    fn reset(&mut self, how: Reset) {
        self.input.reset(how);
    }
}

/// Waits for all rows, then transforms the rows of each segment.
pub(crate) struct Gather<F> {
    pub(crate) input: BoxedOperator,
    pub(crate) done: bool,
    pub(crate) make: F,
}

impl<F> Operator for Gather<F>
where
    F: FnMut(&mut Context<'_>, Vec<Row>) -> Result<Vec<Row>, QueryError>,
{
    fn next(&mut self, cx: &mut Context<'_>, _: usize) -> Result<Option<Vec<Row>>, QueryError> {
        if std::mem::replace(&mut self.done, true) {
            return Ok(None);
        }
        let mut out = Vec::new();
        for rows in by_segment(drain(self.input.as_mut(), cx)?) {
            out.append(&mut (self.make)(cx, rows)?);
        }
        Ok(Some(out))
    }

    fn reset(&mut self, how: Reset) {
        self.done = false;
        self.input.reset(how);
    }
}

/// Passes one traverser at a time, so that each meets the side effects and the changes of the graph
/// that the next step made for the traversers before it.
pub(crate) struct OneByOne {
    input: BoxedOperator,
    /// Whether all rows of the input must come before the first traverser passes.
    eager: bool,
    begun: bool,
    rows: VecDeque<Row>,
}

impl OneByOne {
    pub(crate) const fn new(input: BoxedOperator, eager: bool) -> Self {
        Self {
            input,
            eager,
            begun: false,
            rows: VecDeque::new(),
        }
    }
}

impl Operator for OneByOne {
    fn next(&mut self, cx: &mut Context<'_>, _: usize) -> Result<Option<Vec<Row>>, QueryError> {
        if self.rows.is_empty() {
            match (self.eager, std::mem::replace(&mut self.begun, true)) {
                (true, true) => return Ok(None),
                (true, false) => self.rows.extend(drain(self.input.as_mut(), cx)?),
                (false, _) => match self.input.next(cx, 1)? {
                    Some(rows) => self.rows.extend(rows),
                    None => return Ok(None),
                },
            }
        }
        cx.tick(0)?;
        Ok(Some(match self.rows.front_mut() {
            Some(row) if row.bulk > 1 => {
                row.bulk -= 1;
                vec![Row {
                    bulk: 1,
                    ..row.clone()
                }]
            }
            _ => self.rows.pop_front().into_iter().collect(),
        }))
    }

    fn reset(&mut self, how: Reset) {
        self.begun = false;
        self.rows.clear();
        self.input.reset(how);
    }
}

/// Reads an operator to its end.
pub(crate) fn drain(
    input: &mut dyn Operator,
    cx: &mut Context<'_>,
) -> Result<Vec<Row>, QueryError> {
    let mut all = Vec::new();
    let mut held = 0;
    while let Some(mut rows) = input.next(cx, super::BATCH_MAX)? {
        cx.tick(rows.len())?;
        let own = |row: &Row| {
            let sack = row.sack.as_deref().map_or(0, copied_bytes);
            Row::BYTES + super::element::held(&row.value) + sack
        };
        let bytes = rows.iter().map(own).sum();
        cx.meter.hold(bytes)?;
        held += bytes;
        all.append(&mut rows);
    }
    cx.meter.release(held);
    Ok(all)
}

/// Groups rows by segment, ascending. Rows of one segment keep their order.
pub(crate) fn by_segment(mut rows: Vec<Row>) -> Vec<Vec<Row>> {
    if rows.is_empty() {
        return Vec::new();
    }
    if rows.iter().all(|row| row.segment == rows[0].segment) {
        return vec![rows];
    }
    rows.sort_by_key(|row| row.segment);
    let mut parts: Vec<Vec<Row>> = Vec::new();
    for row in rows {
        match parts.last_mut() {
            Some(part) if part[0].segment == row.segment => part.push(row),
            _ => parts.push(vec![row]),
        }
    }
    parts
}
