//! `limit`, `skip`, `range`, `tail`: by position, in each segment.

use rustc_hash::FxHashMap;

use super::context::{Context, SharedSegments};
use super::row::Row;
use super::{BoxedOperator, Operator, Reset};
use crate::value::ValueMap;
use crate::{QueryError, Value};

/// The rows from position `low` (inclusive) to `high` (exclusive), in each segment.
pub(crate) struct Range {
    pub(crate) input: BoxedOperator,
    pub(crate) low: u64,
    pub(crate) high: Option<u64>,
    pub(crate) segments: SharedSegments,
    pub(crate) seen: FxHashMap<u32, u64>,
    /// Whether the input has been read.
    pub(crate) pulled: bool,
}

impl Range {
    /// Whether every segment is complete.
    fn is_done(&self) -> bool {
        let Some(high) = self.high else {
            return false;
        };
        let full = self.seen.values().filter(|seen| **seen >= high).count();
        high == 0 || full == self.segments.count.get() as usize
    }
}

impl Operator for Range {
    fn next(
        &mut self,
        cx: &mut Context<'_>,
        demand: usize,
    ) -> Result<Option<Vec<Row>>, QueryError> {
        if self.is_done() {
            // The steps before it change the graph all the same.
            let pulls = cx.writer.is_some() && !std::mem::replace(&mut self.pulled, true);
            if pulls && self.high == Some(0) {
                self.input.next(cx, 1)?;
            }
            return Ok(None);
        }
        self.pulled = true;
        let mut wanted = demand;
        if let (Some(high), 1) = (self.high, self.segments.count.get()) {
            let left = high - self.seen.get(&0).copied().unwrap_or(0);
            wanted = wanted.min(usize::try_from(left).unwrap_or(usize::MAX));
        }
        let Some(rows) = self.input.next(cx, wanted)? else {
            return Ok(None);
        };
        let mut out = Vec::with_capacity(rows.len());
        for mut row in rows {
            let seen = self.seen.entry(row.segment).or_insert(0);
            let from = (*seen).max(self.low);
            let until = seen.saturating_add(row.bulk);
            *seen = until;
            let until = self.high.map_or(until, |high| until.min(high));
            if until > from {
                // A bulk that saturated stays too large to count.
                if until < u64::MAX {
                    row.bulk = until - from;
                }
                out.push(row);
            }
        }
        Ok(Some(out))
    }

    fn reset(&mut self, how: Reset) {
        self.seen.clear();
        self.pulled = false;
        self.input.reset(how);
    }
}

/// The last `count` rows of one segment.
pub(crate) fn tail(rows: Vec<Row>, count: u64) -> Vec<Row> {
    let mut left = count;
    let mut kept: Vec<Row> = Vec::new();
    for mut row in rows.into_iter().rev() {
        if left == 0 {
            break;
        }
        row.bulk = row.bulk.min(left);
        left -= row.bulk;
        kept.push(row);
    }
    kept.reverse();
    kept
}

/// The members of a collection from `low` (inclusive) to `high` (exclusive). Any other value is
/// returned unchanged.
pub(crate) fn local(value: &Value, low: u64, high: Option<u64>) -> Value {
    let low = usize::try_from(low).unwrap_or(usize::MAX);
    let high = high.map_or(usize::MAX, |high| {
        usize::try_from(high).unwrap_or(usize::MAX)
    });
    let count = high.saturating_sub(low);
    match value {
        Value::List(items) => Value::list(items.iter().skip(low).take(count).cloned().collect()),
        Value::Set(items) => Value::set(items.iter().skip(low).take(count).cloned()),
        Value::Path(path) => {
            let objects = path.objects.iter().skip(low).take(count);
            Value::list(objects.cloned().collect())
        }
        other => match other.as_map() {
            Some(map) => {
                let entries = map.iter().skip(low).take(count);
                let entry = |(key, value): (&Value, &Value)| (key.clone(), value.clone());
                Value::Map(std::sync::Arc::new(
                    entries.map(entry).collect::<ValueMap>(),
                ))
            }
            None => other.clone(),
        },
    }
}

/// The number of members of a collection; 1 for any other value.
pub(crate) fn length(value: &Value) -> u64 {
    match value {
        Value::List(items) => items.len() as u64,
        Value::Set(items) => items.len() as u64,
        Value::Map(map) => map.len() as u64,
        Value::Path(path) => path.objects.len() as u64,
        Value::Tree(tree) => tree.0.len() as u64,
        _ => 1,
    }
}
