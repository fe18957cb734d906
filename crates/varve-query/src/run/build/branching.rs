//! Steps that send rows through children.

use std::rc::Rc;

use super::super::BoxedOperator;
use super::super::branch::{self, Pick, Router, Union};
use super::super::child::{Child, Reader};
use super::super::repeat::Repeat;
use super::{Builder, batch};
use crate::QueryError;
use crate::plan::{By, Choice, Op, Plan};

/// Builds steps that send rows through children.
pub(super) fn branching(
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
        } => chosen(input, branch, (options, *first), builder)?,
        Op::Repeat(repeat) => Box::new(Repeat::new(input, repeat, builder)?),
        _ => input,
    })
}

/// Builds `choose()` and `branch()` with options: the value of `branch` selects the options.
fn chosen(
    input: BoxedOperator,
    branch: &By,
    (options, first): (&[(Choice, Plan)], bool),
    builder: &Builder<'_>,
) -> Result<BoxedOperator, QueryError> {
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
        first,
    };
    let plans: Vec<Plan> = options.iter().map(|(_, plan)| plan.clone()).collect();
    union(input, router, &plans, first, builder)
}

fn union(
    input: BoxedOperator,
    router: Router,
    plans: &[Plan],
    passes: bool,
    builder: &Builder<'_>,
) -> Result<BoxedOperator, QueryError> {
    let gathers = plans.iter().any(Plan::gathers);
    Ok(Box::new(Union {
        input,
        children: match router {
            Router::All if !gathers => builder.children(plans, false)?,
            // A child that gathers makes a value of the rows that it gets, and none of no rows.
            _ => {
                let routed = plans.iter().map(|plan| Child::routed(plan, builder));
                routed.collect::<Result<_, _>>()?
            }
        },
        router,
        segments: Rc::clone(&builder.segments),
        passes,
        gathers,
        current: plans.len(),
        ended: false,
    }))
}
