//! Builds operators from a plan.

mod branching;
mod filtering;
mod gathering;

use std::rc::Rc;

use super::child::{Child, Key, Reader};
use super::context::{Segments, SharedSegments};
use super::each::{Batch, Each, Gather, OneByOne};
use super::expand::{self, Expand};
use super::fused;
use super::profile::{Measures, Profiling, Watched};
use super::repeat::Rounds;
use super::row::{Row, Track};
use super::source::{Inject, Nothing, Source, Start};
use super::write::Writing;
use super::{BoxedOperator, call, map, math};
use crate::plan::{Expanded, Fused, Name, Op, Plan, Reduce};
use crate::{QueryError, Value};

/// The context in which operators are built.
#[derive(Clone)]
pub(crate) struct Builder<'b> {
    pub(crate) schema: &'b dyn varve_view::SchemaView,
    pub(crate) segments: SharedSegments,
    pub(crate) track: Track,
    /// The initial sack of rows.
    pub(crate) sack: Option<Box<Value>>,
    /// Whether operators pass one row at a time and do not merge equal rows.
    one_by_one: bool,
    /// Whether the plan being built begins the query.
    first: bool,
    /// Whether the step being built begins a child.
    begins: bool,
    /// Loops that enclose the plan being built, innermost last.
    loops: Vec<(Option<Name>, Rounds)>,
    /// Collects metrics of the steps of the plan being built, if `profile()` needs them.
    pub(crate) measures: Option<Measures>,
}

impl<'b> Builder<'b> {
    pub(crate) fn new(
        schema: &'b dyn varve_view::SchemaView,
        track: Track,
        sack: Option<Box<Value>>,
        one_by_one: bool,
    ) -> Self {
        Self {
            schema,
            one_by_one,
            segments: Segments::one(),
            track,
            sack,
            first: true,
            begins: false,
            loops: Vec::new(),
            measures: None,
        }
    }

    /// Whether equal rows may be merged.
    pub(crate) fn may_merge(&self) -> bool {
        self.track != Track::Path && !self.one_by_one
    }

    /// A builder for a child with these segments.
    pub(crate) fn within(&self, segments: &SharedSegments) -> Self {
        Self {
            segments: Rc::clone(segments),
            begins: true,
            ..self.clone()
        }
    }

    /// A builder for the body and the tests of a loop.
    pub(crate) fn in_loop(&self, name: Option<Name>, rounds: &Rounds) -> Self {
        let mut within = self.clone();
        within.loops.push((name, Rc::clone(rounds)));
        within
    }

    /// Resolves a property key by its name.
    pub(crate) fn key(&self, name: &Name) -> Key {
        let key = self.schema.property_key_named(name);
        Key::new(name.clone(), key.map(|key| (key.id, key.data_type)))
    }

    fn children(&self, plans: &[Plan], local: bool) -> Result<Vec<Child>, QueryError> {
        let child = |plan| match local {
            true => Child::local(plan, self),
            false => Child::global(plan, self),
        };
        plans.iter().map(child).collect()
    }
}

/// Builds the operators of a query.
pub(crate) fn query(plan: &Plan, builder: &Builder<'_>) -> Result<BoxedOperator, QueryError> {
    let input: BoxedOperator = match plan.ops.first() {
        Some(Op::Inject(_)) => Box::new(Nothing),
        _ => Box::new(Start::new(builder.sack.clone())),
    };
    chain(plan, input, builder)
}

/// Builds the operators of a plan, with `input` as their input.
pub(crate) fn chain(
    plan: &Plan,
    mut input: BoxedOperator,
    builder: &Builder<'_>,
) -> Result<BoxedOperator, QueryError> {
    let mut later = builder.clone();
    later.first = false;
    later.begins = false;
    for (at, op) in plan.ops.iter().enumerate() {
        let rest = &plan.ops[at + 1..];
        // The children of a union that begins a query get an input without values.
        let begins = at == 0 && matches!(op, Op::Union(_) | Op::Inject(_));
        let own = if begins { builder } else { &later };
        input = match &own.measures {
            Some(measures) if !matches!(op, Op::Profile { .. }) => {
                let (at, nested) = measures.step(op);
                let mut within = own.clone();
                within.measures = Some(nested);
                let input = operator(op, rest, input, &within)?;
                let measures = measures.clone();
                Box::new(Watched {
                    input,
                    measures,
                    at,
                })
            }
            _ => operator(op, rest, input, own)?,
        };
        if builder.one_by_one {
            input = Box::new(OneByOne::new(input, false));
        }
    }
    Ok(input)
}

fn operator(
    op: &Op,
    rest: &[Op],
    input: BoxedOperator,
    builder: &Builder<'_>,
) -> Result<BoxedOperator, QueryError> {
    if let Op::Write(write) = op {
        return Ok(Box::new(Writing::new(write, input, builder)?));
    }
    let writes = op.children().into_iter().any(Plan::writes);
    let input = match writes || runs_alone(op) {
        true => Box::new(OneByOne::new(input, writes)),
        false => input,
    };
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
        | Op::Discard => filtering::filtering(op, input, builder)?,
        Op::Range { .. }
        | Op::Tail { .. }
        | Op::Sample { .. }
        | Op::Order { .. }
        | Op::Barrier
        | Op::NormSack => filtering::ordering(op, input, builder)?,
        Op::Reduce { .. }
        | Op::FoldWith { .. }
        | Op::Group { .. }
        | Op::GroupCount { .. }
        | Op::Aggregate { .. }
        | Op::Cap(_)
        | Op::Tree { .. }
        | Op::Subgraph { .. } => gathering::gathering(op, input, builder)?,
        Op::FlatMap { .. }
        | Op::SideEffect(_)
        | Op::Union(_)
        | Op::Coalesce(_)
        | Op::Optional(_)
        | Op::IfThenElse { .. }
        | Op::Branch { .. }
        | Op::Repeat(_) => branching::branching(op, input, builder)?,
        Op::Profile { into } => Box::new(Profiling {
            input,
            into: into.clone(),
            measures: builder.measures.clone().unwrap_or_default(),
            done: false,
        }),
        Op::Call(own) => call::operator(own, input, builder)?,
        Op::Fused(fused) => fused::operator(fused, merges(rest, builder), input, builder)?,
        _ => map::operator(op, input, builder)?,
    })
}

/// Whether a step runs a child with side effects for each traverser. The children of `union` and of
/// loops process the stream as a whole.
fn runs_alone(op: &Op) -> bool {
    let whole = matches!(op, Op::Union(_) | Op::Repeat(_) | Op::Fused(_));
    !whole && op.children().into_iter().any(Plan::has_effects)
}

/// A step that makes any number of rows from each row.
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

/// A step that filters rows.
fn passing<F>(input: BoxedOperator, fetch: bool, mut passes: F) -> BoxedOperator
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

/// A step that processes whole batches.
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
        Op::Source { .. } => Box::new(Source::of(op, input, builder)),
        Op::Inject(values) => Box::new(Inject {
            input,
            values: values.clone(),
            first: builder.first,
            behind: builder.begins,
            segments: Rc::clone(&builder.segments),
            given: false,
        }),
        Op::Expand {
            direction,
            labels,
            to,
        } => {
            let mut expand = Expand::new(input, *direction, labels, *to, builder);
            expand.merges = *to == Expanded::Vertices && merges(rest, builder);
            Box::new(expand)
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

/// Whether an expansion should merge equal rows: if a later step reads or looks up something for
/// each row. Only rows without a path can be merged.
fn merges(rest: &[Op], builder: &Builder<'_>) -> bool {
    let pays = |op: &Op| {
        matches!(
            op,
            Op::Expand { .. }
                | Op::Repeat(_)
                | Op::Fused(
                    Fused::Few { .. }
                        | Fused::Degrees { .. }
                        | Fused::Counts { .. }
                        | Fused::NeighbourValues { .. }
                )
                | Op::HasProperty { .. }
                | Op::HasKey(_)
                | Op::HasNot(_)
                | Op::Values(_)
                | Op::Dedup { .. }
                | Op::GroupCount { .. }
                | Op::Reduce {
                    reduce: Reduce::Count,
                    ..
                }
        )
    };
    let looped = !builder.loops.is_empty();
    builder.may_merge() && (looped || rest.iter().any(pays))
}

impl Builder<'_> {
    /// The round counter of the loop with this name, or of the innermost loop.
    pub(crate) fn rounds(&self, name: Option<&Name>) -> Option<Rounds> {
        let mut inwards = self.loops.iter().rev();
        let found = match name {
            None => inwards.next(),
            Some(name) => inwards.find(|(own, _)| own.as_ref() == Some(name)),
        };
        found.map(|(_, rounds)| Rc::clone(rounds))
    }
}

/// The operator of `math()`.
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
