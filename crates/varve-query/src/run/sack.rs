//! Sacks at a barrier.

use std::collections::HashMap;

use super::context::Context;
use super::effect::joined;
use super::row::{Row, Track, counted, merge_class, merged};
use crate::value::number::{Arithmetic, times};
use crate::{QueryError, Value};

/// Merges equal rows of one segment at a barrier.
pub(crate) fn met(cx: &Context<'_>, rows: Vec<Row>) -> Result<Vec<Row>, QueryError> {
    let asked = cx.once || cx.sack_merge.is_some();
    if cx.track == Track::Path || !(cx.merges || asked) {
        return Ok(rows);
    }
    let mut rows = merged(rows);
    if let Some(operator) = cx.sack_merge {
        let mut places: HashMap<(u8, Value), usize, foldhash::fast::RandomState> =
            HashMap::default();
        let mut kept: Vec<Row> = Vec::with_capacity(rows.len());
        for row in rows {
            let Some(class) = merge_class(&row.value).filter(|_| row.path.is_none()) else {
                kept.push(row);
                continue;
            };
            let place = places.entry((class, row.value.clone()));
            let place = *place.or_insert(kept.len());
            match kept.get_mut(place) {
                None => kept.push(row),
                Some(first) => {
                    let (a, b) = (first.sack.take(), row.sack);
                    let sack = joined(operator, &a.unwrap_or_default(), &b.unwrap_or_default())?;
                    first.sack = Some(Box::new(sack));
                    first.bulk = first.bulk.saturating_add(row.bulk);
                }
            }
        }
        rows = kept;
    }
    if cx.once {
        rows.iter_mut().for_each(|row| row.bulk = 1);
    }
    Ok(rows)
}

/// Divides each sack of one segment by the sum of all.
pub(crate) fn normed(mut rows: Vec<Row>) -> Result<Vec<Row>, QueryError> {
    let is_big = |row: &Row| {
        matches!(
            row.sack.as_deref(),
            Some(Value::BigInt(_) | Value::BigDecimal(_))
        )
    };
    let mut total = match rows.iter().any(is_big) {
        true => Value::BigDecimal(std::sync::Arc::new(0.into())),
        false => Value::Double(0.0),
    };
    for row in &rows {
        let sack = row.sack.as_deref().unwrap_or(&Value::Null);
        total = Arithmetic::Add.apply(&total, &times(sack, counted(row.bulk)?)?)?;
    }
    for row in &mut rows {
        let sack = row.sack.as_deref().unwrap_or(&Value::Null);
        row.sack = Some(Box::new(Arithmetic::Divide.apply(sack, &total)?));
    }
    Ok(rows)
}
