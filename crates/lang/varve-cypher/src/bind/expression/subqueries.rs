//! Subqueries, pattern predicates and pattern comprehensions.

use std::cell::Cell;

use super::{Expr, Exprs, Mode, Outer, OuterVariable, Typed, syntax};
use crate::bind::Type;
use crate::bind::clauses::Branch;
use crate::error::Outcome;
use crate::functions::Types;
use crate::plan::{Op, Pipeline, Subplan};
use crate::tree::{
    Expression, ExpressionKind as Kind, PathKind, PathPattern, PatternComprehension, Query,
    SubqueryKind,
};

impl Exprs<'_, '_> {
    /// What a subquery of this expression sees.
    fn outer(&self) -> Outer {
        let mut outer = Outer {
            variables: Vec::new(),
            is_visible: Cell::new(true),
        };
        let mut add = |name: &crate::tree::Text, typed, source| {
            if outer.get(name).is_none() {
                outer.variables.push(OuterVariable {
                    name: name.clone(),
                    typed,
                    source,
                    used: Cell::new(false),
                });
            }
        };
        let base = self.outer.variables.len();
        for (at, (name, typed)) in self.locals.iter().enumerate().rev() {
            add(name, *typed, Expr::Local(base + at));
        }
        for variable in self.scope.variables() {
            add(&variable.name, variable.typed, Expr::Slot(variable.slot));
        }
        if !matches!(self.mode, Mode::Rows) {
            for (key, slot, typed) in &self.known {
                if let Kind::Variable(name) = &key.kind {
                    add(&name.text, *typed, Expr::Slot(*slot));
                }
            }
        }
        if self.outer.is_visible.get() {
            for (at, one) in self.outer.variables.iter().enumerate() {
                add(&one.name, one.typed, Expr::Local(at));
            }
        }
        outer
    }

    /// Registers a subplan; marks what it uses of the variables around this expression.
    fn subplan(&mut self, pipeline: Pipeline, outer: &Outer, kind: SubqueryKind) -> usize {
        let inputs = outer.inputs();
        for input in &inputs {
            if let Expr::Local(local) = input
                && let Some(one) = self.outer.variables.get(*local)
            {
                one.used.set(true);
            }
        }
        self.binder.subplans.push(Subplan {
            pipeline,
            inputs,
            reads_value: kind == SubqueryKind::Collect,
        });
        self.binder.subplans.len() - 1
    }

    /// `EXISTS { … }`, `COUNT { … }` and `COLLECT { … }`.
    pub(super) fn subquery(&mut self, kind: SubqueryKind, query: &Query) -> Outcome<Typed> {
        let outer = self.outer();
        let bound = self.binder.query(query, &outer, false)?;
        let typed = match kind {
            SubqueryKind::Exists => Type::BOOLEAN,
            SubqueryKind::Count => Type::INTEGER,
            SubqueryKind::Collect => {
                let columns = bound.columns.as_deref().unwrap_or_default();
                let [(_, typed)] = columns else {
                    let span = query.branches.first().map(|one| one.span);
                    let message = "COLLECT returns exactly one column";
                    return Err(syntax(
                        "UnexpectedSyntax",
                        span.unwrap_or_default(),
                        message,
                    ));
                };
                Type::list_of(typed.kinds)
            }
        };
        let number = self.subplan(bound.pipeline, &outer, kind);
        Ok((Expr::Subquery(kind, number), typed))
    }

    /// A pattern as an expression: whether it has a match, or its shortest path.
    pub(super) fn pattern(&mut self, pattern: &PathPattern) -> Outcome<Typed> {
        let outer = self.outer();
        let around = std::mem::take(&mut self.binder.depth);
        let mut branch = Branch::new(self.binder, &outer);
        let slots = branch.pattern_part(pattern, None, false)?;
        let (kind, typed) = match pattern.kind {
            PathKind::All => (SubqueryKind::Exists, Type::BOOLEAN),
            PathKind::ShortestPath => (SubqueryKind::Collect, Type::PATH),
            PathKind::AllShortestPaths => (SubqueryKind::Collect, Type::list_of(Types::PATH)),
        };
        if let Some(path) = slots.path {
            branch.ops.push(Op::Keep(vec![path]));
        }
        let ops = std::mem::take(&mut branch.ops);
        self.binder.deepen(ops.len(), pattern.span)?;
        self.binder.depth = self.binder.depth.max(around);
        let number = self.subplan(Pipeline { ops }, &outer, kind);
        let value = Expr::Subquery(kind, number);
        Ok(match pattern.kind {
            PathKind::ShortestPath => {
                let first = Expr::Constant(crate::value::Value::Integer(0));
                (Expr::Index(Box::new(value), Box::new(first)), typed)
            }
            _ => (value, typed),
        })
    }

    /// `[pattern WHERE filter | result]`.
    pub(super) fn pattern_comprehension(&mut self, one: &PatternComprehension) -> Outcome<Typed> {
        let outer = self.outer();
        let around = std::mem::take(&mut self.binder.depth);
        let mut branch = Branch::new(self.binder, &outer);
        branch.pattern_part(&one.pattern, one.filter.as_ref(), true)?;
        let (result, typed) = branch.expr(&one.result)?;
        branch.ops.push(Op::Project {
            items: vec![result],
            kept: 0,
        });
        let ops = std::mem::take(&mut branch.ops);
        self.binder.deepen(ops.len(), one.pattern.span)?;
        self.binder.depth = self.binder.depth.max(around);
        let number = self.subplan(Pipeline { ops }, &outer, SubqueryKind::Collect);
        let typed = Type::list_of(typed.kinds);
        Ok((Expr::Subquery(SubqueryKind::Collect, number), typed))
    }
}

/// Whether an expression is constant: without variables, and patterns.
pub(crate) fn is_constant(expression: &Expression) -> bool {
    !super::walk::any(expression, &mut |part| {
        matches!(
            part.kind,
            Kind::Variable(_)
                | Kind::Pattern(_)
                | Kind::PatternComprehension(_)
                | Kind::Subquery(..)
                | Kind::MapProjection(_)
                | Kind::CountStar
        ) || super::walk::is_aggregate(part)
    })
}
