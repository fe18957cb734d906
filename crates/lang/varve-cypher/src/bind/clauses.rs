//! Clauses: each adds operators to the pipeline of its branch, and changes the scope.

use std::cell::Cell;

use super::expression::{Exprs, Known, Mode, OuterVariable};
use super::pattern::PatternSlots;
use super::{Binder, Columns, Outer, Scope, Type, syntax, unsupported};
use crate::error::Outcome;
use crate::expression::Expr;
use crate::functions::Types;
use crate::plan::{Apply, Op, Pipeline, Transactions, WriteStep, order};
use crate::tree::{
    Clause, Expression, Imports, MatchClause, Name, PathPattern, SubqueryCall, Text,
};

/// A sequence of clauses that is being bound.
pub(crate) struct Branch<'x, 'b> {
    pub(crate) binder: &'x mut Binder<'b>,
    pub(crate) outer: &'x Outer,
    pub(crate) scope: Scope,
    pub(crate) ops: Vec<Op>,
    /// Whether one of the operators writes.
    pub(crate) writes: bool,
    /// Whether one of the operators writes what is not committed with a part.
    pub(crate) is_changed: bool,
    /// Whether it is all of the statement.
    pub(crate) is_whole: bool,
    /// What `RETURN` returns.
    pub(crate) columns: Option<Columns>,
    /// Operators that run within those of the pipeline.
    pub(crate) nested: usize,
}

impl<'x, 'b> Branch<'x, 'b> {
    pub(crate) fn new(binder: &'x mut Binder<'b>, outer: &'x Outer) -> Branch<'x, 'b> {
        Branch {
            binder,
            outer,
            scope: Scope::default(),
            ops: Vec::new(),
            writes: false,
            is_changed: false,
            is_whole: false,
            columns: None,
            nested: 0,
        }
    }

    /// Binds clauses. `leading`: only a leading `WITH` sees the outer variables.
    pub(crate) fn clauses(&mut self, clauses: &[Clause], leading: bool) -> Outcome<()> {
        if let [Clause::Call(call)] = clauses {
            return self.standalone_call(call);
        }
        for (at, clause) in clauses.iter().enumerate() {
            let is_import = at == 0 && matches!(clause, Clause::With(_));
            self.outer.is_visible.set(!leading || is_import);
            self.clause(clause)?;
        }
        Ok(())
    }

    pub(crate) fn clause(&mut self, clause: &Clause) -> Outcome<()> {
        match clause {
            Clause::Use(name) => Err(unsupported(name.span(), "USE")),
            Clause::Match(clause) => self.match_clause(clause),
            Clause::Unwind(list, name) => self.unwind(list, name),
            Clause::With(projection) => self.with(projection),
            Clause::Return(projection) => self.returns(projection),
            Clause::Finish => {
                self.ops.push(Op::Finish);
                Ok(())
            }
            Clause::Write(clause, period) => {
                self.period(period.as_deref())?;
                self.write(clause)
            }
            Clause::Merge(clause, period) => {
                self.period(period.as_deref())?;
                self.merge(clause)
            }
            Clause::Foreach(clause) => self.foreach(clause),
            Clause::Call(call) => self.call(call),
            Clause::Subquery(call) => self.apply(call),
        }
    }

    /// An expression binder for the clause's rows.
    pub(crate) fn exprs(&mut self) -> Exprs<'_, 'b> {
        Exprs {
            binder: &mut *self.binder,
            scope: &self.scope,
            outer: self.outer,
            locals: Vec::new(),
            known: Known::new(),
            mode: Mode::Rows,
        }
    }

    pub(crate) fn expr(&mut self, expression: &Expression) -> Outcome<(Expr, Type)> {
        self.exprs().bind(expression)
    }

    pub(crate) fn condition(&mut self, expression: &Expression) -> Outcome<Expr> {
        self.exprs().boolean(expression)
    }

    /// Adds slots to the rows that come from the last reading operator. Slots for a step of writing
    /// are added before the first of its operator's steps.
    pub(crate) fn extend(&mut self, by: usize) {
        if by == 0 {
            return;
        }
        let at = match self.ops.last() {
            Some(Op::Write(_)) => self.ops.len() - 1,
            _ => self.ops.len(),
        };
        match at.checked_sub(1).and_then(|at| self.ops.get_mut(at)) {
            Some(Op::Extend(slots)) => *slots += by,
            _ => self.ops.insert(at, Op::Extend(by)),
        }
    }

    /// Notes that an operator writes.
    pub(crate) fn will_write(&mut self) {
        self.writes = true;
        self.is_changed = true;
        self.binder.writes = true;
    }

    /// Adds a step of writing.
    pub(crate) fn step(&mut self, step: WriteStep) {
        self.will_write();
        match self.ops.last_mut() {
            Some(Op::Write(steps)) => steps.push(step),
            _ => self.ops.push(Op::Write(vec![step])),
        }
    }

    /// Fails if there is a variable of this name.
    pub(crate) fn check_new(&self, name: &Name) -> Outcome<()> {
        let is_outer = self.outer.get(&name.text).is_some();
        if self.scope.get(&name.text).is_none() && !is_outer {
            return Ok(());
        }
        let message = format!("the variable '{}' is bound already", name.text);
        Err(syntax("VariableAlreadyBound", name.span, message))
    }

    fn unwind(&mut self, list: &Expression, name: &Name) -> Outcome<()> {
        let (bound, typed) = self.expr(list)?;
        self.check_new(name)?;
        let item = match typed.kinds == Types::LIST {
            true => typed.item(),
            false => Type::ANY,
        };
        self.ops.push(Op::Unwind(bound));
        let slot = self.scope.new_slot();
        self.scope.declare(name.text.clone(), slot, item);
        Ok(())
    }

    fn match_clause(&mut self, clause: &MatchClause) -> Outcome<()> {
        self.binder.matches = true;
        let slice = self.slice(clause.slice.as_ref(), &clause.patterns)?;
        let first = self.scope.width;
        let pins = self.ops.len();
        let mut pattern = self.bind_patterns(&clause.patterns, true)?;
        let pinned = self.ops.len() - pins;
        if let Some(filter) = &clause.filter {
            pattern.filter(self.condition(filter)?);
        }
        let number = clause.optional.then(|| self.scope.new_slot());
        self.extend(self.scope.width - first - pinned);
        let mut ops = order::plan(&pattern, &self.binder.subplans, self.binder.known())?;
        if let Some(slice) = slice {
            self.nested += ops.len();
            ops = vec![self.ended(slice, Pipeline { ops })];
        }
        match number {
            Some(number) => {
                self.nested += ops.len();
                let inner = Pipeline { ops };
                self.ops.push(Op::Optional { inner, number });
            }
            None => self.ops.extend(ops),
        }
        Ok(())
    }

    /// Binds one pattern of an expression, with a condition. `introduces`: it may have new
    /// variables.
    pub(crate) fn pattern_part(
        &mut self,
        pattern: &PathPattern,
        filter: Option<&Expression>,
        introduces: bool,
    ) -> Outcome<PatternSlots> {
        self.binder.matches = true;
        let patterns = std::slice::from_ref(pattern);
        let slice = self.slice(None, patterns)?;
        let first = self.scope.width;
        let pins = self.ops.len();
        let mut bound = self.bind_patterns(patterns, introduces)?;
        let pinned = self.ops.len() - pins;
        if let Some(filter) = filter {
            bound.filter(self.condition(filter)?);
        }
        self.extend(self.scope.width - first - pinned);
        let ops = order::plan(&bound, &self.binder.subplans, self.binder.known())?;
        match slice {
            Some(slice) => {
                self.nested += ops.len();
                let at = self.ended(slice, Pipeline { ops });
                self.ops.push(at);
            }
            None => self.ops.extend(ops),
        }
        Ok(PatternSlots {
            path: bound.paths.first().map(|path| path.slot),
        })
    }

    /// Makes the value of an outer variable a slot, for a pattern. Its slot comes before those that
    /// the pattern adds.
    pub(crate) fn pin(&mut self, name: &Text) -> Option<(usize, Type)> {
        let (at, outer) = self.outer.get(name)?;
        outer.used.set(true);
        let typed = outer.typed;
        self.ops.push(Op::Project {
            items: vec![Expr::Local(at)],
            kept: self.scope.width,
        });
        let slot = self.scope.new_slot();
        self.scope.declare(name.clone(), slot, typed);
        Some((slot, typed))
    }

    /// `CALL { … }`.
    fn apply(&mut self, call: &SubqueryCall) -> Outcome<()> {
        let span = call.query.branches.first().map(|one| one.span);
        let span = span.unwrap_or_default();
        let batches = call.batches.as_ref();
        let batches = batches.map(|batches| self.batches(batches, span));
        let batches = batches.transpose()?;
        let (outer, leading) = self.imports(&call.imports)?;
        let writes = std::mem::take(&mut self.binder.writes);
        let bound = self.binder.query(&call.query, &outer, leading)?;
        let inner_writes = std::mem::replace(&mut self.binder.writes, writes);
        self.binder.writes |= inner_writes;
        self.writes |= inner_writes;
        self.is_changed |= inner_writes && batches.is_none();
        for (name, _) in bound.columns.iter().flatten() {
            if self.scope.get(name).is_some() {
                let message = format!("the variable '{name}' is bound already");
                return Err(syntax("VariableAlreadyBound", span, message));
            }
        }
        for one in &outer.variables {
            if let (Expr::Local(local), true) = (&one.source, one.used.get())
                && let Some(one) = self.outer.variables.get(*local)
            {
                one.used.set(true);
            }
        }
        let apply = Apply {
            inner: bound.pipeline,
            inputs: outer.inputs(),
            columns: bound.columns.as_ref().map(Vec::len),
            optional: call.optional,
        };
        match batches {
            Some((rows, on_error, status)) => {
                let reports = status.is_some();
                self.ops.push(Op::Transactions(Box::new(Transactions {
                    apply,
                    rows,
                    on_error,
                    reports,
                })));
                self.declare_all(bound.columns);
                if let Some(name) = status {
                    self.check_new(&name)?;
                    self.declare_all(Some(vec![(name.text, Type::one(Types::MAP))]));
                }
            }
            None if inner_writes => {
                let ops = [Op::Eager, Op::Apply(apply), Op::Eager];
                self.ops.extend(ops);
                self.declare_all(bound.columns);
            }
            None => {
                self.ops.push(Op::Apply(apply));
                self.declare_all(bound.columns);
            }
        }
        Ok(())
    }

    /// Declares the columns that a subquery adds.
    fn declare_all(&mut self, columns: Option<Columns>) {
        for (name, typed) in columns.into_iter().flatten() {
            let slot = self.scope.new_slot();
            self.scope.declare(name, slot, typed);
        }
    }

    /// What a subquery sees.
    fn imports(&mut self, imports: &Imports) -> Outcome<(Outer, bool)> {
        let mut variables = Vec::new();
        let mut add = |name: &Text, typed, source| {
            variables.push(OuterVariable {
                name: name.clone(),
                typed,
                source,
                used: Cell::new(false),
            });
        };
        if let Imports::Named(names) = imports {
            for name in names {
                let (source, typed) = self.exprs().variable(name)?;
                add(&name.text, typed, source);
            }
        } else {
            for one in self.scope.variables() {
                add(&one.name, one.typed, Expr::Slot(one.slot));
            }
            for (at, one) in self.outer.variables.iter().enumerate() {
                if self.scope.get(&one.name).is_none() && self.outer.get(&one.name).is_some() {
                    add(&one.name, one.typed, Expr::Local(at));
                }
            }
        }
        let outer = Outer {
            variables,
            is_visible: Cell::new(true),
        };
        Ok((outer, matches!(imports, Imports::LeadingWith)))
    }
}
