//! Binds a syntax tree: resolves names, checks what can be checked before a query runs, and makes
//! a plan.

mod batches;
mod calls;
mod clauses;
mod expression;
mod merge;
mod pattern;
mod period;
mod projection;
mod scope;
mod slice;
mod walk;
mod write;

pub(crate) use expression::{Outer, syntax, unsupported};
pub(crate) use pattern::{MatchPattern, PatternNode, PatternRelationship};
pub(crate) use period::Periods;
pub(crate) use scope::{Scope, Type};

use clauses::Branch;
use varve_view::SchemaView;

use crate::error::Outcome;
use crate::expression::Expr;
use crate::plan::order::Known;
use crate::plan::{Op, Pipeline, Plan, Subplan};
use crate::procedures::Procedures;
use crate::sizes::Sizes;
use crate::tree::{Query, Text, Times};

/// The most operators that call one another: those of a pipeline, and of the subqueries in it.
const OPERATORS_MAX: usize = 512;

/// What is common to all parts of a statement.
pub(crate) struct Binder<'b> {
    pub(crate) text: &'b str,
    pub(crate) schema: &'b dyn SchemaView,
    pub(crate) procedures: &'b dyn Procedures,
    pub(crate) sizes: Sizes<'b>,
    pub(crate) subplans: Vec<Subplan>,
    /// Whether an operator changes the graph.
    pub(crate) writes: bool,
    /// Whether a procedure is called, which may read it.
    pub(crate) reads: bool,
    /// Whether a pattern is matched or merged.
    pub(crate) matches: bool,
    /// The parameters that expressions use.
    pub(crate) parameters: Vec<Text>,
    /// The most operators that run within one another in the subqueries bound so far.
    pub(crate) depth: usize,
    /// The valid periods of the clauses that write.
    pub(crate) periods: Periods,
    /// Whether a `MATCH` names a point of valid time.
    pub(crate) has_slices: bool,
    /// The queries that are being bound, one within another.
    pub(crate) levels: usize,
    /// Whether a subquery runs in transactions of its own.
    pub(crate) commits: bool,
}

/// Columns by name.
pub(crate) type Columns = Vec<(Text, Type)>;

/// A bound query.
pub(crate) struct BoundQuery {
    pub(crate) pipeline: Pipeline,
    /// Its columns; `None` if it does not return.
    pub(crate) columns: Option<Columns>,
}

/// A bound statement.
pub(crate) struct BoundStatement {
    pub(crate) plan: Plan,
    pub(crate) columns: Columns,
    pub(crate) reads: bool,
    pub(crate) matches: bool,
    pub(crate) parameters: Vec<Text>,
    pub(crate) valid: Option<Expr>,
    pub(crate) system: Option<Expr>,
    pub(crate) periods: Periods,
}

impl<'b> Binder<'b> {
    pub(crate) fn new(
        text: &'b str,
        schema: &'b dyn SchemaView,
        procedures: &'b dyn Procedures,
        sizes: Sizes<'b>,
    ) -> Binder<'b> {
        Binder {
            text,
            schema,
            procedures,
            sizes,
            subplans: Vec::new(),
            writes: false,
            reads: false,
            matches: false,
            parameters: Vec::new(),
            depth: 0,
            periods: Periods::default(),
            has_slices: false,
            levels: 0,
            commits: false,
        }
    }

    pub(crate) fn known(&self) -> Known<'b> {
        let (schema, sizes) = (self.schema, self.sizes);
        Known { schema, sizes }
    }

    /// Remembers that an expression uses a parameter.
    pub(crate) fn parameter(&mut self, name: &Text) {
        if !self.parameters.contains(name) {
            self.parameters.push(name.clone());
        }
    }

    /// Adds the operators of a pipeline around the subqueries that were bound.
    pub(crate) fn deepen(&mut self, operators: usize, span: crate::tree::Span) -> Outcome<()> {
        self.depth += operators;
        if self.depth <= OPERATORS_MAX {
            return Ok(());
        }
        let message = format!("the query needs more than {OPERATORS_MAX} operators in a row");
        Err(syntax("TooDeep", span, message))
    }

    /// Binds a whole query.
    pub(crate) fn statement(mut self, query: &Query) -> Outcome<BoundStatement> {
        let (valid, system) = self.times(&query.times)?;
        let outer = Outer::default();
        let bound = self.query(query, &outer, false)?;
        Ok(BoundStatement {
            plan: Plan {
                root: bound.pipeline,
                subplans: self.subplans,
                writes: self.writes,
                commits: self.commits,
                properties: None,
            },
            columns: bound.columns.unwrap_or_default(),
            reads: self.reads || self.matches,
            matches: self.matches,
            parameters: self.parameters,
            valid,
            system,
            periods: self.periods,
        })
    }

    fn times(&mut self, times: &Times) -> Outcome<(Option<Expr>, Option<Expr>)> {
        let outer = Outer::default();
        let mut branch = Branch::new(self, &outer);
        let mut bind = |time: &Option<_>| {
            let time = time.as_ref().map(|time| branch.expr(time));
            Ok::<_, crate::CypherError>(time.transpose()?.map(|(time, _)| time))
        };
        Ok((bind(&times.valid)?, bind(&times.system)?))
    }

    /// Binds a query or subquery. `leading`: only a leading `WITH` sees the outer variables.
    pub(crate) fn query(
        &mut self,
        query: &Query,
        outer: &Outer,
        leading: bool,
    ) -> Outcome<BoundQuery> {
        let mut pipelines = Vec::with_capacity(query.branches.len());
        let mut columns: Option<Option<Columns>> = None;
        let mut depth = std::mem::take(&mut self.depth);
        self.levels += 1;
        let is_whole = self.levels == 1 && query.branches.len() == 1;
        for branch in &query.branches {
            let mut binder = Branch::new(self, outer);
            binder.is_whole = is_whole;
            binder.clauses(&branch.clauses, leading)?;
            let (mut ops, own, nested) = (binder.ops, binder.columns, binder.nested);
            self.deepen(ops.len() + nested, branch.span)?;
            depth = depth.max(std::mem::take(&mut self.depth));
            match (&columns, &own) {
                (Some(Some(first)), Some(own)) => {
                    if let Some(slots) = same_columns(first, own, branch.span)? {
                        ops.push(Op::Keep(slots));
                    }
                }
                (Some(None), Some(_)) | (Some(Some(_)), None) => {
                    let message = "either all parts of a UNION return rows, or none";
                    return Err(syntax("InvalidClauseComposition", branch.span, message));
                }
                _ => {}
            }
            if let (Some(Some(first)), Some(own)) = (&mut columns, &own) {
                for (name, typed) in first {
                    let other = own.iter().find(|(own, _)| own == name);
                    *typed = other.map_or(*typed, |(_, other)| typed.or(*other));
                }
            }
            columns.get_or_insert(own);
            pipelines.push(Pipeline { ops });
        }
        outer.is_visible.set(true);
        self.levels -= 1;
        self.depth = depth;
        let columns = columns.flatten();
        if pipelines.len() == 1 {
            let pipeline = pipelines.pop().unwrap_or_default();
            return Ok(BoundQuery { pipeline, columns });
        }
        let mut ops = vec![Op::Union(pipelines)];
        if !query.union_all {
            ops.push(Op::Distinct);
        }
        let pipeline = Pipeline { ops };
        Ok(BoundQuery { pipeline, columns })
    }
}

/// The slots of the columns of a part of a UNION, in the order of the first part's; `None` if they
/// have that order.
fn same_columns(
    first: &Columns,
    own: &Columns,
    span: crate::tree::Span,
) -> Outcome<Option<Vec<usize>>> {
    let place = |name: &Text| own.iter().position(|(own, _)| own == name);
    let slots: Option<Vec<usize>> = first.iter().map(|(name, _)| place(name)).collect();
    match slots {
        Some(slots) if first.len() == own.len() => {
            Ok((!slots.iter().copied().eq(0..slots.len())).then_some(slots))
        }
        _ => {
            let message = "all parts of a UNION have the same columns";
            Err(syntax("DifferentColumnsInUnion", span, message))
        }
    }
}
