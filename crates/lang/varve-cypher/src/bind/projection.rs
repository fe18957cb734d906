//! `WITH` and `RETURN`.

use super::clauses::Branch;
use super::expression::{Aggregates, Exprs, Known, Mode, is_constant};
use super::{Scope, Type, syntax, walk};
use crate::error::Outcome;
use crate::expression::Expr;
use crate::functions::Types;
use crate::plan::{Op, SortKey};
use crate::tree::{Expression, ExpressionKind, Name, Projection, ProjectionItem, Span, Text};

/// A column of a projection.
struct Item {
    expression: Expression,
    name: Text,
}

impl Branch<'_, '_> {
    pub(super) fn with(&mut self, projection: &Projection) -> Outcome<()> {
        self.project(projection, false)
    }

    pub(super) fn returns(&mut self, projection: &Projection) -> Outcome<()> {
        self.project(projection, true)?;
        let each = self.scope.variables().iter();
        let columns = each.map(|one| (one.name.clone(), one.typed)).collect();
        self.columns = Some(columns);
        Ok(())
    }

    fn project(&mut self, projection: &Projection, returns: bool) -> Outcome<()> {
        self.projected(projection, returns)?;
        // Faults within the expressions are reported first.
        let unnamed = projection.items.iter().find(|item| {
            let is_variable = matches!(item.expression.kind, ExpressionKind::Variable(_));
            item.alias.is_none() && !is_variable
        });
        match unnamed {
            Some(item) if !returns => {
                let message = "an expression of WITH needs a name: AS name";
                Err(syntax("NoExpressionAlias", item.expression.span, message))
            }
            _ => Ok(()),
        }
    }

    fn projected(&mut self, projection: &Projection, returns: bool) -> Outcome<()> {
        let items = self.items(projection, returns)?;
        if items.iter().any(|item| walk::aggregates(&item.expression)) {
            return self.aggregated(&items, projection);
        }
        let mut bound = Vec::with_capacity(items.len());
        for item in &items {
            bound.push(self.expr(&item.expression)?);
        }
        let sorts = !projection.order.is_empty() || projection.filter.is_some();
        let keeps = sorts && !projection.distinct;
        let (exprs, types): (Vec<_>, Vec<_>) = bound.into_iter().unzip();
        let source = std::mem::take(&mut self.scope);
        let base = if keeps { source.width } else { 0 };
        self.ops.push(Op::Project {
            items: exprs,
            kept: base,
        });
        let columns = columns(&items, &types, base);
        let known: Known<'_> = known(&items, &types, base);
        if keeps {
            let mut both = source.clone();
            for one in columns.variables() {
                both.declare(one.name.clone(), one.slot, one.typed);
            }
            both.width = base + items.len();
            self.scope = both;
            self.tail(projection, known, || Mode::Rows)?;
            let slots = (base..base + items.len()).collect();
            self.ops.push(Op::Keep(slots));
            self.scope = self::columns(&items, &types, 0);
            return Ok(());
        }
        if projection.distinct {
            self.ops.push(Op::Distinct);
        }
        self.scope = columns;
        self.tail(projection, known, || Mode::After {
            source: &source,
            groups: false,
        })
    }

    /// A projection with aggregates: its other items are the keys of the groups.
    fn aggregated(&mut self, items: &[Item], projection: &Projection) -> Outcome<()> {
        let mut keys = Vec::new();
        let mut key_types: Known<'_> = Vec::new();
        for item in items {
            if !walk::aggregates(&item.expression) {
                let (key, typed) = self.expr(&item.expression)?;
                key_types.push((&item.expression, keys.len(), typed));
                keys.push(key);
            }
        }
        let mut aggregates = Aggregates {
            base: keys.len(),
            calls: Vec::new(),
        };
        let source = std::mem::take(&mut self.scope);
        let empty = Scope::default();
        let (mut exprs, mut types) = (Vec::new(), Vec::new());
        for item in items {
            let mut binder = Exprs {
                binder: &mut *self.binder,
                scope: &empty,
                outer: self.outer,
                locals: Vec::new(),
                known: key_types.clone(),
                mode: Mode::Groups {
                    source: &source,
                    aggregates: &mut aggregates,
                },
            };
            let (expr, typed) = binder.bind(&item.expression)?;
            exprs.push(expr);
            types.push(typed);
        }
        let calls = aggregates.calls.into_iter();
        self.ops.push(Op::Aggregate {
            keys,
            aggregates: calls.map(|(_, call, _)| call).collect(),
        });
        self.ops.push(Op::Project {
            items: exprs,
            kept: 0,
        });
        if projection.distinct {
            self.ops.push(Op::Distinct);
        }
        self.scope = columns(items, &types, 0);
        self.tail(projection, known(items, &types, 0), || Mode::After {
            source: &source,
            groups: true,
        })
    }

    /// `ORDER BY`, `SKIP`, `LIMIT` and `WHERE`, which see the clause's scope.
    fn tail<'m>(
        &mut self,
        projection: &'m Projection,
        known: Known<'m>,
        mode: impl Fn() -> Mode<'m>,
    ) -> Outcome<()> {
        let mut binder = Exprs {
            binder: &mut *self.binder,
            scope: &self.scope,
            outer: self.outer,
            locals: Vec::new(),
            known,
            mode: mode(),
        };
        let mut sort = Vec::with_capacity(projection.order.len());
        for key in &projection.order {
            sort.push(SortKey {
                value: binder.bind(&key.expression)?.0,
                descending: key.descending,
            });
        }
        let filter = projection.filter.as_ref();
        let filter = filter.map(|filter| binder.boolean(filter)).transpose()?;
        let mut count = |count: &Option<Expression>, word| {
            let count = count.as_ref().map(|count| self.count(count, word));
            count.transpose()
        };
        let skip = count(&projection.skip, "SKIP")?;
        let limit = count(&projection.limit, "LIMIT")?;
        if !sort.is_empty() {
            let top = limit.clone().map(|limit| (skip.clone(), limit));
            self.ops.push(Op::Sort { keys: sort, top });
        }
        self.ops.extend(skip.map(Op::Skip));
        if let Some(count) = limit {
            let drains = self.writes;
            self.ops.push(Op::Limit { count, drains });
        }
        self.ops.extend(filter.map(Op::Filter));
        Ok(())
    }

    /// The number of rows after `SKIP`, `LIMIT` or `OF`.
    pub(super) fn count(&mut self, count: &Expression, word: &str) -> Outcome<Expr> {
        let span = count.span;
        if !is_constant(count) {
            let message = format!("the number after {word} cannot depend on variables");
            return Err(syntax("NonConstantExpression", span, message));
        }
        if let ExpressionKind::Integer(number) = &count.kind
            && *number < 0
        {
            let message = format!("the number after {word} is negative");
            return Err(syntax("NegativeIntegerArgument", span, message));
        }
        let (bound, typed) = self.expr(count)?;
        if !typed.may_be(Types::INTEGER) {
            let message = format!("the number after {word} is an integer");
            return Err(syntax("InvalidArgumentType", span, message));
        }
        Ok(bound)
    }

    /// The columns of a projection, `*` included.
    fn items(&mut self, projection: &Projection, returns: bool) -> Outcome<Vec<Item>> {
        let mut items: Vec<Item> = Vec::with_capacity(projection.items.len());
        if projection.star {
            if returns && self.scope.variables().is_empty() {
                let message = "there are no variables, so * returns nothing";
                return Err(syntax("NoVariablesInScope", Span::default(), message));
            }
            let each = self.scope.variables().iter();
            items.extend(each.map(|one| variable(&one.name)));
        }
        for item in &projection.items {
            let name = self.column_name(item);
            if items.iter().any(|other| other.name == name) {
                let span = item.expression.span;
                let message = format!("two columns are named '{name}'");
                return Err(syntax("ColumnNameConflict", span, message));
            }
            items.push(Item {
                expression: item.expression.clone(),
                name,
            });
        }
        Ok(items)
    }

    fn column_name(&self, item: &ProjectionItem) -> Text {
        let span = item.expression.span;
        match (&item.alias, &item.expression.kind) {
            (Some(alias), _) => alias.text.clone(),
            (None, ExpressionKind::Variable(name)) => name.text.clone(),
            (None, _) => Text::new(span.of(self.binder.text).trim()),
        }
    }
}

fn variable(name: &Text) -> Item {
    let span = Span::default();
    let text = name.clone();
    Item {
        expression: Expression {
            kind: ExpressionKind::Variable(Name { text, span }),
            span,
        },
        name: name.clone(),
    }
}

/// The scope after a projection, whose columns begin at a slot.
fn columns(items: &[Item], types: &[Type], base: usize) -> Scope {
    let mut scope = Scope::default();
    for (at, (item, typed)) in items.iter().zip(types).enumerate() {
        scope.declare(item.name.clone(), base + at, *typed);
    }
    scope.width = base + items.len();
    scope
}

fn known<'i>(items: &'i [Item], types: &[Type], base: usize) -> Known<'i> {
    let each = items.iter().zip(types).enumerate();
    each.map(|(at, (item, typed))| (&item.expression, base + at, *typed))
        .collect()
}
