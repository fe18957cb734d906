//! Makes the operators of plans.

use super::profile::{Profile, Profiled};
use super::{Batch, BoxedOperator, Cx, Operator, Shared};
use super::{
    at, drain, relationship_scan, rows, scan, sort, subquery, transactions, unwind, walks, write,
};
use crate::error::Outcome;
use crate::plan::{Op, Pipeline};

/// The operators of a pipeline, which begins with the rows of `argument`.
pub(crate) fn build(pipeline: &Pipeline, argument: Batch) -> BoxedOperator<'_> {
    let mut operator: BoxedOperator<'_> = Box::new(Argument(Some(argument)));
    for op in &pipeline.ops {
        operator = build_one(op, operator);
    }
    operator
}

/// As [`build`], of a pipeline that `EXPLAIN` shows: its operators are measured if the query says
/// so.
pub(crate) fn build_shown<'p>(
    pipeline: &'p Pipeline,
    argument: Batch,
    shared: &Shared<'_>,
) -> BoxedOperator<'p> {
    if shared.profile.as_ref().is_none_or(Profile::is_hidden) {
        return build(pipeline, argument);
    }
    let mut operator: BoxedOperator<'_> = Box::new(Argument(Some(argument)));
    for op in &pipeline.ops {
        operator = Box::new(Profiled::new(op, build_one(op, operator)));
    }
    operator
}

fn build_one<'p>(op: &'p Op, input: BoxedOperator<'p>) -> BoxedOperator<'p> {
    match op {
        Op::Aggregate { keys, aggregates } => {
            Box::new(drain::Grouping::new(input, keys, aggregates))
        }
        Op::Distinct => Box::new(drain::Distinct::new(input)),
        Op::Sort { keys, top } => Box::new(sort::Sort::new(input, keys, top.as_ref())),
        Op::Unwind(list) => Box::new(unwind::Unwind::new(input, list)),
        Op::Skip(count) => Box::new(rows::Skip::new(input, count)),
        Op::Limit { count, drains } => Box::new(rows::Limit::new(input, count, *drains)),
        Op::Union(branches) => Box::new(subquery::Union::new(input, branches)),
        Op::Optional { inner, number } => Box::new(subquery::Optional::new(input, inner, *number)),
        Op::At { at, moved, inner } => Box::new(at::At::new(input, (at.as_ref(), moved), inner)),
        Op::Transactions(one) => Box::new(transactions::Transactions::new(input, one)),
        Op::Eager => Box::new(drain::Eager::new(input)),
        Op::Write(steps) => Box::new(write::Write::new(input, steps)),
        Op::NodeScan(scan) => Box::new(scan::Scan::new(input, scan)),
        Op::RelationshipScan(scan) => Box::new(relationship_scan::Scan::new(input, scan)),
        Op::VarExpand(expand) => Box::new(walks::Walks::new(input, expand)),
        Op::Finish => Box::new(drain::Finish { input }),
        _ => Box::new(rows::Each::new(input, op)),
    }
}

/// Gives the rows that a pipeline begins with.
struct Argument(Option<Batch>);

impl Operator for Argument {
    fn next(&mut self, _: Cx<'_>) -> Outcome<Option<Batch>> {
        Ok(self.0.take())
    }
}
