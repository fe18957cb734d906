//! Steps that make something of all rows: counts, groups, side effects, trees.

use std::rc::Rc;

use super::super::child::Reader;
use super::super::context::Context;
use super::super::effect::{self, Cap, Observe, Whole};
use super::super::group::{self, Gathered};
use super::super::reduce::{self, Reduce};
use super::super::row::Row;
use super::super::{BoxedOperator, map};
use super::{Builder, each};
use crate::plan::{By, Name, Op, Scope};
use crate::{QueryError, Value};

/// Steps that make something of all rows.
pub(super) fn gathering(
    op: &Op,
    input: BoxedOperator,
    builder: &Builder<'_>,
) -> Result<BoxedOperator, QueryError> {
    let segments = Rc::clone(&builder.segments);
    let done = false;
    Ok(match op.clone() {
        Op::Reduce {
            reduce: kind,
            scope: Scope::Global,
        } => Box::new(Reduce {
            input,
            kind,
            segments,
            done,
        }),
        Op::Reduce { reduce: kind, .. } => {
            map::values(input, false, move |_, value| reduce::local(kind, value))
        }
        Op::FoldWith { seed, operator } => Box::new(Whole {
            input,
            segments,
            done,
            make: move |cx: &mut Context<'_>, rows: Vec<Row>| {
                let mut folded = seed.clone();
                for row in rows {
                    for _ in 0..row.bulk {
                        cx.tick(0)?;
                        folded = effect::joined(operator, &folded, &row.value)?;
                    }
                }
                Ok(folded)
            },
        }),
        Op::Group { key, value, into } => group_of(&key, &value, into, input, builder)?,
        Op::GroupCount { key, into } => group_count(&key, into, input, builder)?,
        Op::Aggregate { into, by, scope } => aggregate(into, &by, scope, input, builder)?,
        Op::Cap(names) => Box::new(Cap {
            input,
            names,
            segments,
            done,
        }),
        Op::Tree { by, into } => tree(&by, into, input, builder)?,
        _ => input,
    })
}

fn group_of(
    key: &By,
    value: &By,
    into: Option<Name>,
    input: BoxedOperator,
    builder: &Builder<'_>,
) -> Result<BoxedOperator, QueryError> {
    let segments = Rc::clone(&builder.segments);
    let done = false;
    let mut key = Reader::new(key, builder)?;
    let mut gathered = Gathered::new(value, builder)?;
    let joins = effect::joins(value);
    Ok(match into {
        None => Box::new(Whole {
            input,
            segments,
            done,
            make: move |cx: &mut Context<'_>, rows: Vec<Row>| {
                let map = group::group(cx, &mut key, &mut gathered, rows)?;
                Ok(Value::Map(std::sync::Arc::new(map)))
            },
        }),
        Some(name) => Box::new(Observe {
            input,
            done,
            observe: move |cx: &mut Context<'_>, rows: &[Row]| {
                let map = group::group(cx, &mut key, &mut gathered, rows.to_vec())?;
                effect::merge(cx, &name, map, joins)
            },
        }),
    })
}

fn group_count(
    key: &By,
    into: Option<Name>,
    input: BoxedOperator,
    builder: &Builder<'_>,
) -> Result<BoxedOperator, QueryError> {
    let segments = Rc::clone(&builder.segments);
    let done = false;
    let mut key = Reader::new(key, builder)?;
    let mut counted = move |cx: &mut Context<'_>, rows: &[Row]| {
        let mut counts = indexmap::IndexMap::default();
        group::group_count(cx, &mut key, rows, &mut counts)?;
        let entry = |(key, count)| (key, Value::count(count));
        Ok::<_, QueryError>(counts.into_iter().map(entry).collect())
    };
    Ok(match into {
        None => Box::new(Whole {
            input,
            segments,
            done,
            make: move |cx: &mut Context<'_>, rows: Vec<Row>| {
                Ok(Value::Map(std::sync::Arc::new(counted(cx, &rows)?)))
            },
        }),
        Some(name) => Box::new(Observe {
            input,
            done,
            observe: move |cx: &mut Context<'_>, rows: &[Row]| {
                let map = counted(cx, rows)?;
                effect::merge(cx, &name, map, effect::summed)
            },
        }),
    })
}

fn aggregate(
    into: Name,
    by: &By,
    scope: Scope,
    input: BoxedOperator,
    builder: &Builder<'_>,
) -> Result<BoxedOperator, QueryError> {
    let done = false;
    let mut reader = Reader::new(by, builder)?;
    Ok(match scope {
        Scope::Global => Box::new(Observe {
            input,
            done,
            observe: move |cx: &mut Context<'_>, rows: &[Row]| {
                effect::add(cx, &into, &mut reader, rows)
            },
        }),
        Scope::Local => each(input, false, move |cx, row, out| {
            effect::add(cx, &into, &mut reader, std::slice::from_ref(&row))?;
            out.push(row);
            Ok(())
        }),
    })
}

fn tree(
    by: &[By],
    into: Option<Name>,
    input: BoxedOperator,
    builder: &Builder<'_>,
) -> Result<BoxedOperator, QueryError> {
    let segments = Rc::clone(&builder.segments);
    let done = false;
    let mut readers = Reader::each(by, builder)?;
    Ok(match into {
        None => Box::new(Whole {
            input,
            segments,
            done,
            make: move |cx: &mut Context<'_>, rows: Vec<Row>| map::tree(cx, &mut readers, &rows),
        }),
        Some(name) => Box::new(Observe {
            input,
            done,
            observe: move |cx: &mut Context<'_>, rows: &[Row]| {
                let tree = map::tree(cx, &mut readers, rows)?;
                effect::graft(cx, &name, tree)
            },
        }),
    })
}
