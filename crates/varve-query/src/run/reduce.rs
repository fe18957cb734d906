//! Reductions of a whole stream to one value: counts, sums, lists.

use rustc_hash::FxHashMap;

use super::context::{Context, SharedSegments, copied_bytes};
use super::row::{Row, counted};
use super::{BATCH_MAX, BoxedOperator, Operator, Reset};
use crate::plan::Reduce as Kind;
use crate::value::number::{Arithmetic, mean, times};
use crate::{QueryError, Value};

/// Gives one value for each segment.
pub(crate) struct Reduce {
    pub(crate) input: BoxedOperator,
    pub(crate) kind: Kind,
    pub(crate) segments: SharedSegments,
    pub(crate) done: bool,
}

impl Operator for Reduce {
    fn next(&mut self, cx: &mut Context<'_>, _: usize) -> Result<Option<Vec<Row>>, QueryError> {
        if std::mem::replace(&mut self.done, true) {
            return Ok(None);
        }
        let mut states: FxHashMap<u32, Accumulator> = FxHashMap::default();
        let mut held = 0;
        while let Some(rows) = self.input.next(cx, BATCH_MAX)? {
            cx.tick(rows.len())?;
            for row in rows {
                if self.kind == Kind::Fold {
                    cx.hold_values(&row.value, row.bulk)?;
                    let own = super::element::held(&row.value);
                    cx.meter.hold(own)?;
                    let each = size_of::<Value>() + copied_bytes(&row.value);
                    held += usize::try_from(row.bulk).unwrap_or(0) * each + own;
                }
                let state = states.entry(row.segment).or_default();
                state.add(self.kind, row.value, row.bulk)?;
            }
        }
        cx.meter.release(held);
        let mut out = Vec::new();
        for segment in self.segments.each() {
            let state = states.remove(&segment).unwrap_or_default();
            if let Some(value) = state.end(self.kind)? {
                out.push(Row {
                    segment,
                    ..Row::start(value.bounded()?, cx)
                });
            }
        }
        Ok(Some(out))
    }

    fn reset(&mut self, how: Reset) {
        self.done = false;
        self.input.reset(how);
    }
}

/// The intermediate state of a reduction.
#[derive(Default)]
pub(crate) struct Accumulator {
    count: u64,
    /// The number of values that were not null.
    numbers: u64,
    value: Option<Value>,
    list: Vec<Value>,
}

impl Accumulator {
    pub(crate) fn add(&mut self, kind: Kind, value: Value, bulk: u64) -> Result<(), QueryError> {
        self.count = self.count.saturating_add(bulk);
        match kind {
            Kind::Count => {}
            Kind::Fold => {
                for _ in 1..bulk {
                    self.list.push(value.clone());
                }
                self.list.push(value);
            }
            _ if value.is_null() => {}
            Kind::Sum | Kind::Mean => {
                self.numbers = counted(self.numbers.saturating_add(bulk))?;
                let product = times(&value, bulk)?;
                if !value.is_number() {
                    return Err(QueryError::cast(&value, "Number"));
                }
                self.value = Some(match self.value.take() {
                    Some(sum) => Arithmetic::Add.apply(&sum, &product)?,
                    None => product,
                });
            }
            Kind::Min | Kind::Max => {
                self.numbers = self.numbers.saturating_add(bulk);
                self.value = Some(match self.value.take() {
                    Some(best) => best_of(kind, best, value)?,
                    None => value,
                });
            }
        }
        Ok(())
    }

    /// The result; `None` if the reduction has none.
    pub(crate) fn end(self, kind: Kind) -> Result<Option<Value>, QueryError> {
        Ok(match kind {
            Kind::Count => Some(Value::count(counted(self.count)?)),
            Kind::Fold => Some(Value::list(self.list)),
            // All values were null.
            _ if self.value.is_none() && self.count > 0 => Some(Value::Null),
            Kind::Mean => self.value.and_then(|sum| mean(&sum, self.numbers)),
            Kind::Sum | Kind::Min | Kind::Max => self.value,
        })
    }
}

fn best_of(kind: Kind, best: Value, value: Value) -> Result<Value, QueryError> {
    if best.is_number() && value.is_number() {
        let arithmetic = match kind {
            Kind::Min => Arithmetic::Min,
            _ => Arithmetic::Max,
        };
        return arithmetic.apply(&best, &value);
    }
    let is_better = match kind {
        Kind::Min => value.order(&best).is_lt(),
        _ => value.order(&best).is_gt(),
    };
    Ok(if is_better { value } else { best })
}

/// Reduces the members of one value. A value that is not a collection is its own only member.
pub(crate) fn local(kind: Kind, value: &Value) -> Result<Option<Value>, QueryError> {
    if kind == Kind::Count {
        return Ok(Some(Value::count(super::range::length(value))));
    }
    let mut state = Accumulator::default();
    match value {
        Value::Map(map) => {
            for value in map.values() {
                state.add(kind, value.clone(), 1)?;
            }
        }
        other => match other.items() {
            Some(items) => {
                for item in items {
                    state.add(kind, item, 1)?;
                }
            }
            None => state.add(kind, other.clone(), 1)?,
        },
    }
    state.end(kind)
}
