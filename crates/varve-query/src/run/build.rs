//! Makes operators from a plan.

use std::rc::Rc;

use super::branch::{self, Pick, Router, Union};
use super::child::{Child, Key, Reader};
use super::context::{Segments, SharedSegments};
use super::each::{Batch, Each, Gather};
use super::effect::{self, Cap, Observe, Whole};
use super::expand::{self, Expand};
use super::filter::{self, Dedup};
use super::group::{self, Gathered};
use super::range::{self, Range};
use super::reduce::{self, Reduce};
use super::repeat::{Repeat, Rounds};
use super::row::{Row, Track, merged};
use super::source::{Inject, Nothing, Source, Start};
use super::{BoxedOperator, element, map, math};
use crate::plan::{Choice, Expanded, Name, Op, Plan, Scope};
use crate::{QueryError, Value};

/// What operators are made with.
#[derive(Clone)]
pub(crate) struct Builder<'b> {
    pub(crate) schema: &'b dyn varve_view::SchemaView,
    pub(crate) segments: SharedSegments,
    pub(crate) track: Track,
    /// What rows carry at first.
    pub(crate) sack: Option<Box<Value>>,
    /// Whether the plan that is built begins the query.
    first: bool,
    /// Loops around the plan that is built, innermost last.
    loops: Vec<(Option<Name>, Rounds)>,
}

impl<'b> Builder<'b> {
    pub(crate) fn new(
        schema: &'b dyn varve_view::SchemaView,
        track: Track,
        sack: Option<Box<Value>>,
    ) -> Self {
        Self {
            schema,
            segments: Segments::one(),
            track,
            sack,
            first: true,
            loops: Vec::new(),
        }
    }

    /// For a child with these segments.
    pub(crate) fn within(&self, segments: &SharedSegments) -> Self {
        Self {
            segments: Rc::clone(segments),
            ..self.clone()
        }
    }

    /// For the body and the tests of a loop.
    pub(crate) fn in_loop(&self, name: Option<Name>, rounds: &Rounds) -> Self {
        let mut within = self.clone();
        within.loops.push((name, Rc::clone(rounds)));
        within
    }

    /// A property key by its name.
    pub(crate) fn key(&self, name: &Name) -> Key {
        let key = self.schema.property_key_named(name);
        Key {
            name: name.clone(),
            id: key.map(|key| (key.id, key.data_type)),
        }
    }

    fn children(&self, plans: &[Plan], local: bool) -> Result<Vec<Child>, QueryError> {
        let child = |plan| match local {
            true => Child::local(plan, self),
            false => Child::global(plan, self),
        };
        plans.iter().map(child).collect()
    }
}

/// The operators of a query.
pub(crate) fn query(plan: &Plan, builder: &Builder<'_>) -> Result<BoxedOperator, QueryError> {
    let input: BoxedOperator = match plan.ops.first() {
        Some(Op::Inject(_)) => Box::new(Nothing),
        _ => Box::new(Start::new(builder.sack.clone())),
    };
    chain(plan, input, builder)
}

/// The operators of a plan behind others.
pub(crate) fn chain(
    plan: &Plan,
    mut input: BoxedOperator,
    builder: &Builder<'_>,
) -> Result<BoxedOperator, QueryError> {
    let mut later = builder.clone();
    later.first = false;
    for (at, op) in plan.ops.iter().enumerate() {
        let rest = &plan.ops[at + 1..];
        // A union that begins a query hands its children nothing that is a value.
        let begins = at == 0 && matches!(op, Op::Union(_) | Op::Inject(_));
        let own = if begins { builder } else { &later };
        input = operator(op, rest, input, own)?;
    }
    Ok(input)
}

fn operator(
    op: &Op,
    rest: &[Op],
    input: BoxedOperator,
    builder: &Builder<'_>,
) -> Result<BoxedOperator, QueryError> {
    Ok(match op {
        Op::Source { .. } | Op::Inject(_) | Op::Expand { .. } | Op::EndVertex(_) => {
            reading(op, rest, input, builder)
        }
        Op::Is(_)
        | Op::HasProperty { .. }
        | Op::HasPropertyChild { .. }
        | Op::HasToken { .. }
        | Op::HasKey(_)
        | Op::HasNot(_)
        | Op::Where { .. }
        | Op::Junction { .. }
        | Op::WhereLabels { .. }
        | Op::Dedup { .. }
        | Op::Coin(_)
        | Op::SimplePath { .. }
        | Op::Discard => filtering(op, input, builder)?,
        Op::Range { .. } | Op::Tail { .. } | Op::Sample { .. } | Op::Order { .. } | Op::Barrier => {
            ordering(op, input, builder)?
        }
        Op::Reduce { .. }
        | Op::FoldWith { .. }
        | Op::Group { .. }
        | Op::GroupCount { .. }
        | Op::Aggregate { .. }
        | Op::Cap(_)
        | Op::Tree { .. } => gathering(op, input, builder)?,
        Op::FlatMap { .. }
        | Op::SideEffect(_)
        | Op::Union(_)
        | Op::Coalesce(_)
        | Op::Optional(_)
        | Op::IfThenElse { .. }
        | Op::Branch { .. }
        | Op::Repeat(_) => branching(op, input, builder)?,
        _ => map::operator(op, input, builder)?,
    })
}

/// A step that makes each row into any number of rows.
pub(crate) fn each<F>(input: BoxedOperator, fetch: bool, make: F) -> BoxedOperator
where
    F: FnMut(&mut super::Context<'_>, Row, &mut Vec<Row>) -> Result<(), QueryError> + 'static,
{
    let held = 0;
    Box::new(Each {
        input,
        fetch,
        make,
        held,
    })
}

/// A step that lets rows pass.
fn filter<F>(input: BoxedOperator, fetch: bool, mut passes: F) -> BoxedOperator
where
    F: FnMut(&mut super::Context<'_>, &Row) -> Result<bool, QueryError> + 'static,
{
    each(input, fetch, move |cx, row, out| {
        if passes(cx, &row)? {
            out.push(row);
        }
        Ok(())
    })
}

/// A step over batches.
pub(crate) fn batch<F>(input: BoxedOperator, make: F) -> BoxedOperator
where
    F: FnMut(&mut super::Context<'_>, Vec<Row>) -> Result<Vec<Row>, QueryError> + 'static,
{
    Box::new(Batch { input, make })
}

fn gather<F>(input: BoxedOperator, make: F) -> BoxedOperator
where
    F: FnMut(&mut super::Context<'_>, Vec<Row>) -> Result<Vec<Row>, QueryError> + 'static,
{
    let done = false;
    Box::new(Gather { input, done, make })
}

fn reading(op: &Op, rest: &[Op], input: BoxedOperator, builder: &Builder<'_>) -> BoxedOperator {
    match op {
        Op::Source {
            kind,
            ids,
            labels,
            conditions,
        } => {
            let wanted = super::analysis::wanted(builder.schema, *kind, ids, labels);
            Box::new(Source::new(input, wanted, conditions.clone()))
        }
        Op::Inject(values) => Box::new(Inject {
            input,
            values: values.clone(),
            sack: builder.sack.clone(),
            first: builder.first,
            segments: Rc::clone(&builder.segments),
            given: false,
        }),
        Op::Expand {
            direction,
            labels,
            to,
        } => {
            let expand = Expand {
                input,
                direction: *direction,
                labels: super::analysis::edge_labels(builder.schema, labels),
                to: *to,
                segments: Rc::clone(&builder.segments),
                held: 0,
            };
            let again = |op: &Op| matches!(op, Op::Expand { .. } | Op::Repeat(_));
            let looped = !builder.loops.is_empty();
            let merges = builder.track == Track::Nothing && *to == Expanded::Vertices;
            match merges && (looped || rest.iter().any(again)) {
                true => batch(Box::new(expand), |_, rows| Ok(merged(rows))),
                false => Box::new(expand),
            }
        }
        Op::EndVertex(end) => {
            let end = *end;
            each(input, false, move |cx, row, out| {
                expand::ends(cx, &row, end, out)
            })
        }
        _ => input,
    }
}

fn filtering(
    op: &Op,
    input: BoxedOperator,
    builder: &Builder<'_>,
) -> Result<BoxedOperator, QueryError> {
    Ok(match op.clone() {
        Op::Is(predicate) => filter(input, false, move |_, row| predicate.holds(&row.value)),
        Op::HasProperty { key, predicate } => {
            let key = builder.key(&key);
            filter(input, true, move |_, row| {
                filter::has_property(&row.value, &key, &predicate)
            })
        }
        Op::HasPropertyChild { key, child } => {
            let key = builder.key(&key);
            let mut child = Child::local(&child, builder)?;
            filter(input, true, move |cx, row| {
                let Some(value) = element::property(&row.value, &key) else {
                    return Ok(false);
                };
                let asked = Row {
                    value,
                    ..row.clone()
                };
                Ok(child.exist(cx, &[asked])?[0])
            })
        }
        Op::HasToken { token, predicate } => {
            let fetch = token == crate::value::Token::Label;
            filter(input, fetch, move |cx, row| {
                filter::has_token(cx, &row.value, token, &predicate)
            })
        }
        Op::HasKey(key) => {
            let key = builder.key(&key);
            filter(input, true, move |_, row| {
                Ok(element::property(&row.value, &key).is_some())
            })
        }
        Op::HasNot(key) => {
            let key = builder.key(&key);
            filter(input, true, move |_, row| {
                Ok(element::property(&row.value, &key).is_none())
            })
        }
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
                None => value.clone(),
            }))
        }),
        Op::Coin(probability) => each(input, false, move |cx, mut row, out| {
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
        }),
        Op::SimplePath {
            simple,
            by,
            from,
            to,
        } => {
            let mut readers = Reader::each(&by, builder)?;
            filter(input, false, move |cx, row| {
                let path = map::between(row.whole_path(), from.as_ref(), to.as_ref());
                let path = map::read_path(cx, path, &mut readers)?;
                Ok(path.is_some_and(|path| filter::is_simple(&path) == simple))
            })
        }
        _ => filter(input, false, |_, _| Ok(false)),
    })
}

fn ordering(
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
                    let Some(items) = value.items() else {
                        return Ok(Some(value.clone()));
                    };
                    let rows = items.into_iter().map(Row::new).collect();
                    let rows = group::sample(cx, count, &mut reader, rows)?;
                    Ok(Some(Value::list(
                        rows.into_iter().map(|row| row.value).collect(),
                    )))
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
                Scope::Global => {
                    gather(input, move |cx, rows| group::sorted(cx, &mut sorting, rows))
                }
                Scope::Local => map::values(input, false, move |cx, value| {
                    group::sorted_within(cx, &mut sorting, value).map(Some)
                }),
            }
        }
        _ => {
            let merges = builder.track == Track::Nothing;
            gather(input, move |_, rows| {
                Ok(if merges { merged(rows) } else { rows })
            })
        }
    })
}

fn gathering(
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
            make: move |cx: &mut super::Context<'_>, rows: Vec<Row>| {
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
        Op::Group { key, value, into } => {
            let mut key = Reader::new(&key, builder)?;
            let mut gathered = Gathered::new(&value, builder)?;
            let joins = effect::joins(&value);
            match into {
                None => Box::new(Whole {
                    input,
                    segments,
                    done,
                    make: move |cx: &mut super::Context<'_>, rows: Vec<Row>| {
                        let map = group::group(cx, &mut key, &mut gathered, rows)?;
                        Ok(Value::Map(std::sync::Arc::new(map)))
                    },
                }),
                Some(name) => Box::new(Observe {
                    input,
                    done,
                    observe: move |cx: &mut super::Context<'_>, rows: &[Row]| {
                        let map = group::group(cx, &mut key, &mut gathered, rows.to_vec())?;
                        effect::merge(cx, &name, map, joins)
                    },
                }),
            }
        }
        Op::GroupCount { key, into } => {
            let mut key = Reader::new(&key, builder)?;
            let mut counted = move |cx: &mut super::Context<'_>, rows: &[Row]| {
                let mut counts = indexmap::IndexMap::default();
                group::group_count(cx, &mut key, rows, &mut counts)?;
                let entry = |(key, count)| (key, Value::count(count));
                Ok::<_, QueryError>(counts.into_iter().map(entry).collect())
            };
            match into {
                None => Box::new(Whole {
                    input,
                    segments,
                    done,
                    make: move |cx: &mut super::Context<'_>, rows: Vec<Row>| {
                        Ok(Value::Map(std::sync::Arc::new(counted(cx, &rows)?)))
                    },
                }),
                Some(name) => Box::new(Observe {
                    input,
                    done,
                    observe: move |cx: &mut super::Context<'_>, rows: &[Row]| {
                        let map = counted(cx, rows)?;
                        effect::merge(cx, &name, map, effect::summed)
                    },
                }),
            }
        }
        Op::Aggregate { into, by, scope } => {
            let mut reader = Reader::new(&by, builder)?;
            match scope {
                Scope::Global => Box::new(Observe {
                    input,
                    done,
                    observe: move |cx: &mut super::Context<'_>, rows: &[Row]| {
                        effect::add(cx, &into, &mut reader, rows)
                    },
                }),
                Scope::Local => each(input, false, move |cx, row, out| {
                    effect::add(cx, &into, &mut reader, std::slice::from_ref(&row))?;
                    out.push(row);
                    Ok(())
                }),
            }
        }
        Op::Cap(names) => Box::new(Cap {
            input,
            names,
            segments,
            done,
        }),
        Op::Tree { by, into } => {
            let mut readers = Reader::each(&by, builder)?;
            match into {
                None => Box::new(Whole {
                    input,
                    segments,
                    done,
                    make: move |cx: &mut super::Context<'_>, rows: Vec<Row>| {
                        map::tree(cx, &mut readers, &rows)
                    },
                }),
                Some(name) => Box::new(Observe {
                    input,
                    done,
                    observe: move |cx: &mut super::Context<'_>, rows: &[Row]| {
                        let tree = map::tree(cx, &mut readers, rows)?;
                        effect::graft(cx, &name, tree)
                    },
                }),
            }
        }
        _ => input,
    })
}

fn branching(
    op: &Op,
    input: BoxedOperator,
    builder: &Builder<'_>,
) -> Result<BoxedOperator, QueryError> {
    Ok(match op {
        Op::FlatMap {
            child,
            first,
            local,
        } => {
            let (mut child, first, local) = (Child::local(child, builder)?, *first, *local);
            batch(input, move |cx, rows| {
                branch::flat_map(cx, &mut child, first, local, rows)
            })
        }
        Op::SideEffect(child) => {
            let mut child = Child::local(child, builder)?;
            batch(input, move |cx, rows| {
                child.results(cx, &rows)?;
                Ok(rows)
            })
        }
        Op::Coalesce(plans) => {
            let mut children = builder.children(plans, true)?;
            batch(input, move |cx, rows| {
                branch::coalesce(cx, &mut children, rows, false)
            })
        }
        Op::Optional(plan) => {
            let mut children = builder.children(std::slice::from_ref(plan), true)?;
            batch(input, move |cx, rows| {
                branch::coalesce(cx, &mut children, rows, true)
            })
        }
        Op::Union(plans) => union(input, Router::All, plans, false, builder)?,
        Op::IfThenElse {
            condition,
            then,
            otherwise,
        } => {
            let router = Router::Exists(Child::local(condition, builder)?);
            union(
                input,
                router,
                &[then.clone(), otherwise.clone()],
                false,
                builder,
            )?
        }
        Op::Branch {
            branch,
            options,
            first,
        } => {
            let choice = |(choice, _): &(Choice, Plan)| {
                Ok(match choice {
                    Choice::Value(value) => Pick::Value(value.clone()),
                    Choice::Predicate(predicate) => Pick::Predicate(predicate.clone()),
                    Choice::Child(plan) => Pick::Child(Child::local(plan, builder)?),
                    Choice::None => Pick::None,
                    Choice::Unproductive => Pick::Unproductive,
                    Choice::Any => Pick::Any,
                })
            };
            let router = Router::Read {
                reader: Reader::new(branch, builder)?,
                choices: options
                    .iter()
                    .map(choice)
                    .collect::<Result<_, QueryError>>()?,
                first: *first,
            };
            let plans: Vec<Plan> = options.iter().map(|(_, plan)| plan.clone()).collect();
            union(input, router, &plans, *first, builder)?
        }
        Op::Repeat(repeat) => Box::new(Repeat::new(input, repeat, builder)?),
        _ => input,
    })
}

fn union(
    input: BoxedOperator,
    router: Router,
    plans: &[Plan],
    passes: bool,
    builder: &Builder<'_>,
) -> Result<BoxedOperator, QueryError> {
    Ok(Box::new(Union {
        input,
        children: match router {
            Router::All => builder.children(plans, false)?,
            _ => {
                let routed = plans.iter().map(|plan| Child::routed(plan, builder));
                routed.collect::<Result<_, _>>()?
            }
        },
        router,
        segments: Rc::clone(&builder.segments),
        passes,
        gathers: plans.iter().any(Plan::gathers),
        current: plans.len(),
        ended: false,
    }))
}

impl Builder<'_> {
    /// The rounds of the loop with this name, or of the innermost one.
    pub(crate) fn rounds(&self, name: Option<&Name>) -> Option<Rounds> {
        let mut inwards = self.loops.iter().rev();
        let found = match name {
            None => inwards.next(),
            Some(name) => inwards.find(|(own, _)| own.as_ref() == Some(name)),
        };
        found.map(|(_, rounds)| Rc::clone(rounds))
    }
}

/// The calculation of `math()`.
pub(crate) fn calculation(
    input: BoxedOperator,
    expression: crate::plan::Math,
    mut readers: Vec<Reader>,
) -> BoxedOperator {
    each(input, false, move |cx, row, out| {
        if let Some(result) = math::evaluate(cx, &expression, &mut readers, &row)? {
            out.push(row.at(math::value(result), cx.track));
        }
        Ok(())
    })
}
