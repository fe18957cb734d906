//! Steps that filter rows, order them, or select them by position.

use std::rc::Rc;

use super::super::child::{Child, Reader};
use super::super::filter::{self, Dedup};
use super::super::group;
use super::super::range::{self, Range};
use super::super::row::Row;
use super::super::{BoxedOperator, element, map, sack};
use super::{Builder, batch, each, gather, passing};
use crate::plan::{Op, Scope};
use crate::{QueryError, Value};

/// Builds steps that filter rows.
pub(super) fn filtering(
    op: &Op,
    input: BoxedOperator,
    builder: &Builder<'_>,
) -> Result<BoxedOperator, QueryError> {
    Ok(match op.clone() {
        Op::Is(predicate) => passing(input, false, move |_, row| predicate.holds(&row.value)),
        Op::HasProperty { key, predicate } => {
            let key = builder.key(&key);
            passing(input, true, move |cx, row| {
                filter::has_property(cx, &row.value, &key, &predicate)
            })
        }
        Op::HasPropertyChild { key, child } => {
            let key = builder.key(&key);
            let mut child = Child::local(&child, builder)?;
            passing(input, true, move |cx, row| {
                let asked = element::property_each(cx, &row.value, &key).into_iter();
                let asked: Vec<Row> = asked
                    .map(|value| Row {
                        value,
                        ..row.clone()
                    })
                    .collect();
                Ok(child.exist(cx, &asked)?.contains(&true))
            })
        }
        Op::HasToken { token, predicate } => {
            let fetch = token == crate::value::Token::Label;
            passing(input, fetch, move |cx, row| {
                filter::has_token(cx, &row.value, token, &predicate)
            })
        }
        Op::HasKey(key) => {
            let key = builder.key(&key);
            passing(input, true, move |cx, row| {
                Ok(element::property(cx, &row.value, &key).is_some())
            })
        }
        Op::HasNot(key) => {
            let key = builder.key(&key);
            passing(input, true, move |cx, row| {
                Ok(element::property(cx, &row.value, &key).is_none())
            })
        }
        other => filtering_rows(other, input, builder)?,
    })
}

/// Builds filters on more than a row's value: on children, labels, paths, and other rows.
fn filtering_rows(
    op: Op,
    input: BoxedOperator,
    builder: &Builder<'_>,
) -> Result<BoxedOperator, QueryError> {
    Ok(match op {
        Op::Where { child, not } => {
            let mut child = Child::local(&child, builder)?;
            batch(input, move |cx, rows| {
                let exist = child.exist(cx, &rows)?;
                Ok(filter::keep(rows, &exist, !not))
            })
        }
        Op::Junction { children, all } => {
            let mut children = builder.children(&children, true)?;
            batch(input, move |cx, rows| {
                filter::junction(cx, &mut children, all, rows)
            })
        }
        Op::WhereLabels {
            start,
            predicate,
            by,
        } => {
            let mut readers = Reader::each(&by, builder)?;
            batch(input, move |cx, rows| {
                filter::where_labels(cx, start.as_ref(), &predicate, &mut readers, rows)
            })
        }
        Op::Dedup {
            labels,
            by,
            scope: Scope::Global,
        } => Box::new(Dedup {
            input,
            labels,
            reader: Reader::new(&by.unwrap_or_default(), builder)?,
            seen: std::collections::HashSet::default(),
            held: 0,
            returned: 0,
        }),
        Op::Dedup { .. } => map::values(input, false, |_, value| {
            Ok(Some(match value.items() {
                Some(items) => Value::set(items),
                None => Value::set([value.clone()]),
            }))
        }),
        Op::Coin(probability) => coin(input, probability),
        Op::SimplePath {
            simple,
            by,
            from,
            to,
        } => {
            let mut readers = Reader::each(&by, builder)?;
            passing(input, false, move |cx, row| {
                let path = map::between(row.whole_path(), from.as_ref(), to.as_ref())?;
                let path = map::read_path(cx, path, &mut readers)?;
                Ok(path.is_some_and(|path| filter::is_simple(&path) == simple))
            })
        }
        _ => passing(input, false, |_, _| Ok(false)),
    })
}

/// Passes each traverser of a row with this probability.
fn coin(input: BoxedOperator, probability: f64) -> BoxedOperator {
    each(input, false, move |cx, mut row, out| {
        let mut hits = 0;
        for _ in 0..row.bulk {
            cx.tick(0)?;
            hits += u64::from(cx.random.fraction() < probability);
        }
        if hits > 0 {
            row.bulk = hits;
            out.push(row);
        }
        Ok(())
    })
}

/// Builds steps that order rows, or select them by position.
pub(super) fn ordering(
    op: &Op,
    input: BoxedOperator,
    builder: &Builder<'_>,
) -> Result<BoxedOperator, QueryError> {
    Ok(match op.clone() {
        Op::Range {
            low,
            high,
            scope: Scope::Global,
        } => Box::new(Range {
            input,
            low,
            high,
            segments: Rc::clone(&builder.segments),
            seen: rustc_hash::FxHashMap::default(),
            pulled: false,
        }),
        Op::Range { low, high, .. } => map::values(input, false, move |_, value| {
            Ok(Some(range::local(value, low, high)))
        }),
        Op::Tail {
            count,
            scope: Scope::Global,
        } => gather(input, move |_, rows| Ok(range::tail(rows, count))),
        Op::Tail { count, .. } => map::values(input, false, move |_, value| {
            let low = range::length(value).saturating_sub(count);
            Ok(Some(range::local(value, low, None)))
        }),
        Op::Sample { count, by, scope } => {
            let mut reader = Reader::new(&by.unwrap_or_default(), builder)?;
            match scope {
                Scope::Global => gather(input, move |cx, rows| {
                    group::sample(cx, count, &mut reader, rows)
                }),
                Scope::Local => map::values(input, false, move |cx, value| {
                    group::sample_within(cx, count, value).map(Some)
                }),
            }
        }
        Op::Order { by, scope } => {
            let each = by
                .iter()
                .map(|(by, way)| Ok((Reader::new(by, builder)?, *way)));
            let mut sorting = each.collect::<Result<group::Sorting, QueryError>>()?;
            if sorting.is_empty() {
                sorting.push((Reader::Identity, crate::plan::Ordering::Ascending));
            }
            match scope {
                Scope::Global => gather(input, move |cx, rows| {
                    let rows = match cx.once {
                        true => sack::met(cx, rows)?,
                        false => rows,
                    };
                    group::sorted(cx, &mut sorting, rows)
                }),
                Scope::Local => map::values(input, false, move |cx, value| {
                    group::sorted_within(cx, &mut sorting, value).map(Some)
                }),
            }
        }
        Op::NormSack => gather(input, |_, rows| sack::normed(rows)),
        _ => gather(input, |cx, rows| sack::met(cx, rows)),
    })
}
