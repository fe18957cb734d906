//! Steps that reduce or collect all rows: counts, groups, side effects, trees.

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

use super::super::child::Reader;
use super::super::context::Context;
use super::super::effect::{self, Cap, Observe, Whole};
use super::super::group::{self, Gathered, GroupCount};
use super::super::reduce::{self, Reduce};
use super::super::row::Row;
use super::super::{BoxedOperator, map, subgraph};
use super::{Builder, each};
use crate::plan::{By, Name, Op, Scope};
use crate::value::ValueMap;
use crate::{QueryError, Value};

/// Builds steps that reduce or collect all rows.
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
        Op::Subgraph { into } => Box::new(Observe {
            input,
            done,
            observe: move |cx: &mut Context<'_>, rows: &[Row]| subgraph::add(cx, &into, rows),
        }),
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
    let mut key = Reader::new(key, builder)?;
    let mut gathered = Gathered::new(value, builder)?;
    let into = into.map(|name| (name, effect::joins(value)));
    Ok(keyed(into, input, builder, move |cx, rows| {
        group::group(cx, &mut key, &mut gathered, rows.into_owned())
    }))
}

fn group_count(
    key: &By,
    into: Option<Name>,
    input: BoxedOperator,
    builder: &Builder<'_>,
) -> Result<BoxedOperator, QueryError> {
    let mut key = Reader::new(key, builder)?;
    let Some(into) = into else {
        let segments = Rc::clone(&builder.segments);
        return Ok(Box::new(GroupCount {
            input,
            key,
            segments,
            done: false,
        }));
    };
    let into = Some((into, effect::summed as effect::Merge));
    Ok(keyed(into, input, builder, move |cx, rows| {
        group::group_count(cx, &mut key, &rows)
    }))
}

/// Builds a step that makes a map of all rows: as the result, or merged into a side effect.
fn keyed(
    into: Option<(Name, effect::Merge)>,
    input: BoxedOperator,
    builder: &Builder<'_>,
    mut map: impl FnMut(&mut Context<'_>, Cow<'_, [Row]>) -> Result<ValueMap, QueryError> + 'static,
) -> BoxedOperator {
    let segments = Rc::clone(&builder.segments);
    let done = false;
    match into {
        None => Box::new(Whole {
            input,
            segments,
            done,
            make: move |cx: &mut Context<'_>, rows: Vec<Row>| {
                Ok(Value::Map(Arc::new(map(cx, Cow::Owned(rows))?)))
            },
        }),
        Some((name, join)) => Box::new(Observe {
            input,
            done,
            observe: move |cx: &mut Context<'_>, rows: &[Row]| {
                let map = map(cx, Cow::Borrowed(rows))?;
                effect::merge(cx, &name, map, join)
            },
        }),
    }
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
