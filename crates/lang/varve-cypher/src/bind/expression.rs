//! Expressions: names are resolved, and static types checked.

use std::cell::Cell;
use std::sync::Arc;

use super::walk;
use super::{Binder, Scope, Type};
use crate::error::{CypherError, Error, ErrorClass, Outcome};
use crate::expression::{
    CaseExpr, ComprehensionExpr, Expr, LabelTest, MapProjection, ProjectionEntry, QuantifiedExpr,
    ReduceExpr,
};
use crate::functions::Types;
use crate::plan::AggregateCall;
use crate::tree::{self, Expression, ExpressionKind as Kind, Name, Sign, Span, TestKind, Text};
use crate::value::Value;

mod calls;
mod operators;
mod subqueries;

pub(crate) use subqueries::is_constant;

/// The variables around a subquery. The subquery has their values as its first locals.
#[derive(Debug, Default)]
pub(crate) struct Outer {
    pub(crate) variables: Vec<OuterVariable>,
    /// Whether expressions see them.
    pub(crate) is_visible: Cell<bool>,
}

/// A variable around a subquery.
#[derive(Debug)]
pub(crate) struct OuterVariable {
    pub(crate) name: Text,
    pub(crate) typed: Type,
    /// Its value in the outer row.
    pub(crate) source: Expr,
    pub(crate) used: Cell<bool>,
}

impl Outer {
    pub(crate) fn get(&self, name: &str) -> Option<(usize, &OuterVariable)> {
        if !self.is_visible.get() {
            return None;
        }
        let mut each = self.variables.iter().enumerate();
        each.find(|(_, one)| one.name == name)
    }

    /// The inputs of the subquery, once it is bound.
    pub(crate) fn inputs(&self) -> Vec<Expr> {
        let each = self.variables.iter();
        each.map(|one| match one.used.get() {
            true => one.source.clone(),
            false => Expr::Constant(Value::Null),
        })
        .collect()
    }
}

/// Aggregates of a projection.
#[derive(Debug, Default)]
pub(crate) struct Aggregates {
    /// The slot of the first.
    pub(crate) base: usize,
    pub(crate) calls: Vec<(Expression, AggregateCall, Type)>,
}

/// What aggregates and variables mean in an expression.
pub(crate) enum Mode<'x> {
    /// Aggregates are not allowed.
    Rows,
    /// The expression is evaluated for a group: an item of a projection that aggregates. Variables
    /// of the source are seen by the arguments of aggregates only.
    Groups {
        source: &'x Scope,
        aggregates: &'x mut Aggregates,
    },
    /// The expression follows a projection that aggregates or is distinct, and sees its columns.
    After { source: &'x Scope, groups: bool },
}

/// Expressions that are known already, with their slots.
pub(crate) type Known<'x> = Vec<(&'x Expression, usize, Type)>;

/// Binds expressions.
pub(crate) struct Exprs<'x, 'b> {
    pub(crate) binder: &'x mut Binder<'b>,
    pub(crate) scope: &'x Scope,
    pub(crate) outer: &'x Outer,
    /// Variables of enclosing comprehensions.
    pub(crate) locals: Vec<(Text, Type)>,
    pub(crate) known: Known<'x>,
    pub(crate) mode: Mode<'x>,
}

/// An error of the class `SyntaxError` at a place of the text.
pub(crate) fn syntax(detail: &'static str, span: Span, message: impl Into<String>) -> CypherError {
    Error::compile(ErrorClass::SyntaxError, detail, span, message).into()
}

/// A construct that is not supported.
pub(crate) fn unsupported(span: Span, what: impl Into<String>) -> CypherError {
    let what = what.into() + " is not supported";
    Error::compile(ErrorClass::NotSupported, "NotSupported", span, what).into()
}

fn undefined(name: &Name) -> CypherError {
    let message = format!("the variable '{}' is not defined", name.text);
    syntax("UndefinedVariable", name.span, message)
}

/// The type of a value of one of two types; of any type if the second one is always null.
fn either(one: Type, other: Type, tree: &Expression) -> Type {
    match tree.kind {
        Kind::Null => Type::ANY,
        _ => one.or(other),
    }
}

type Typed = (Expr, Type);

impl Exprs<'_, '_> {
    /// Binds an expression and returns its static type.
    pub(crate) fn bind(&mut self, expression: &Expression) -> Outcome<Typed> {
        if let Some(known) = self.known(expression) {
            return Ok(known);
        }
        let one = |kinds| Type::one(kinds);
        Ok(match &expression.kind {
            Kind::Null => (Expr::Constant(Value::Null), Type::NULL),
            Kind::Boolean(one) => (Expr::Constant(Value::Boolean(*one)), Type::BOOLEAN),
            Kind::Integer(number) => (Expr::Constant(Value::Integer(*number)), Type::INTEGER),
            Kind::Float(number) => (Expr::Constant(Value::Float(*number)), one(Types::FLOAT)),
            Kind::String(text) => (Expr::Constant(Value::string(text)), one(Types::STRING)),
            Kind::Parameter(name) => {
                self.binder.parameter(&name.text);
                (Expr::Parameter(name.text.clone()), Type::ANY)
            }
            Kind::Variable(name) => self.variable(name)?,
            Kind::List(items) => self.list(items)?,
            Kind::Map(entries) => {
                let mut bound = Vec::with_capacity(entries.len());
                for entry in entries {
                    let key = Arc::from(entry.key.text.as_str());
                    bound.push((key, self.bind(&entry.value)?.0));
                }
                (Expr::Map(bound).folded(), one(Types::MAP))
            }
            Kind::Property(subject, key) => self.property(subject, key)?,
            Kind::Index(subject, index) => self.index(subject, index)?,
            Kind::Slice(subject, bounds) => self.slice(subject, bounds)?,
            Kind::Not(operand) => {
                let operand = self.boolean(operand)?;
                (Expr::Not(Box::new(operand)), Type::BOOLEAN)
            }
            Kind::Sign(sign, operand) => self.sign(*sign, operand)?,
            Kind::Chain(first, links) => self.chain(first, links)?,
            Kind::Is(subject, test) => self.is(subject, test)?,
            Kind::HasLabels(subject, labels) => {
                let (subject, typed) = self.bind(subject)?;
                self.expect(
                    typed,
                    Types::ELEMENT,
                    expression.span,
                    "a node or relationship",
                )?;
                let test = label_test(labels)?;
                (
                    Expr::HasLabels(Box::new(subject), Box::new(test)),
                    Type::BOOLEAN,
                )
            }
            Kind::Call(call) => self.call(expression, call)?,
            Kind::CountStar => self.aggregate(expression)?,
            Kind::Case(case) => self.case(case)?,
            _ => self.scoped(expression)?,
        })
    }

    /// Expressions that declare variables.
    fn scoped(&mut self, expression: &Expression) -> Outcome<Typed> {
        Ok(match &expression.kind {
            Kind::ListComprehension(one) => self.comprehension(one)?,
            Kind::Reduce(one) => self.reduce(one)?,
            Kind::Quantified(one) => self.quantified(one)?,
            Kind::MapProjection(one) => self.map_projection(one)?,
            Kind::PatternComprehension(one) => self.pattern_comprehension(one)?,
            Kind::Pattern(pattern) => self.pattern(pattern)?,
            Kind::Subquery(kind, query) => self.subquery(*kind, query)?,
            _ => return Err(unsupported(expression.span, "this expression")),
        })
    }

    /// Binds an expression that must be a truth value.
    pub(crate) fn boolean(&mut self, expression: &Expression) -> Outcome<Expr> {
        let (bound, typed) = self.bind(expression)?;
        self.expect(typed, Types::BOOLEAN, expression.span, "a truth value")?;
        Ok(bound)
    }

    /// Fails if values of a static type cannot be of these kinds.
    pub(crate) fn expect(&self, typed: Type, kinds: Types, span: Span, what: &str) -> Outcome<()> {
        if typed.may_be(kinds) {
            return Ok(());
        }
        let text = span.of(self.binder.text);
        let message = format!("{text} is never {what}");
        Err(syntax("InvalidArgumentType", span, message))
    }

    fn known(&self, expression: &Expression) -> Option<Typed> {
        let found = self.known.iter().find(|(known, ..)| *known == expression)?;
        let shadows = |(name, _): &(Text, Type)| walk::mentions(expression, name);
        let slot = (Expr::Slot(found.1), found.2);
        (!self.locals.iter().any(shadows)).then_some(slot)
    }

    /// The first free place on the stack of locals.
    fn next_local(&self) -> usize {
        self.outer.variables.len() + self.locals.len()
    }

    /// The value of a variable.
    pub(crate) fn variable(&mut self, name: &Name) -> Outcome<Typed> {
        let found = self.resolve(&name.text);
        found.ok_or_else(|| self.missing(name))
    }

    fn resolve(&self, name: &Text) -> Option<Typed> {
        if let Some(at) = self.locals.iter().rposition(|(local, _)| local == name) {
            let local = self.outer.variables.len() + at;
            return Some((Expr::Local(local), self.locals[at].1));
        }
        if let Some(variable) = self.scope.get(name) {
            return Some((Expr::Slot(variable.slot), variable.typed));
        }
        if let Mode::Groups { source, .. } | Mode::After { source, .. } = &self.mode {
            let is_key = |(key, ..): &&(&Expression, usize, Type)| match &key.kind {
                Kind::Variable(one) => one.text == *name,
                _ => false,
            };
            if let Some((_, slot, typed)) = self.known.iter().find(is_key) {
                return Some((Expr::Slot(*slot), *typed));
            }
            if source.get(name).is_some() {
                return None;
            }
        }
        let (at, outer) = self.outer.get(name)?;
        outer.used.set(true);
        Some((Expr::Local(at), outer.typed))
    }

    /// Why a variable is not there.
    fn missing(&self, name: &Name) -> CypherError {
        let ambiguous = || {
            let message = format!(
                "'{}' is neither a grouping key nor inside an aggregate",
                name.text
            );
            syntax("AmbiguousAggregationExpression", name.span, message)
        };
        let in_key = |(key, ..): &(&Expression, usize, Type)| walk::mentions(key, &name.text);
        match &self.mode {
            Mode::Groups { source, .. } if source.get(&name.text).is_some() => ambiguous(),
            Mode::After {
                source,
                groups: true,
            } if source.get(&name.text).is_some() && self.known.iter().any(in_key) => ambiguous(),
            _ => undefined(name),
        }
    }

    fn list(&mut self, items: &[Expression]) -> Outcome<Typed> {
        let mut bound = Vec::with_capacity(items.len());
        let (mut kinds, mut has_null) = (Types::NONE, false);
        for item in items {
            let (item, typed) = self.bind(item)?;
            bound.push(item);
            has_null |= typed.kinds.is_none();
            kinds = kinds | typed.kinds;
        }
        // Items of several types, or null ones, are checked when they are used.
        let mixed = kinds.0.count_ones() > 1 && !kinds.is_in(Types::NUMBER);
        if has_null || mixed {
            kinds = Types::ANY;
        }
        Ok((Expr::List(bound).folded(), Type::list_of(kinds)))
    }

    fn property(&mut self, subject: &Expression, key: &Name) -> Outcome<Typed> {
        let span = subject.span;
        let (subject, typed) = self.bind(subject)?;
        let owners = Types::MAP | Types::ELEMENT | Types::TEMPORAL | Types::POINT;
        if !typed.may_be(owners) {
            let class = match typed.may_be(Types::PATH) {
                true => ErrorClass::SyntaxError,
                false => ErrorClass::TypeError,
            };
            let text = span.of(self.binder.text);
            let message = format!("{text} has no properties");
            return Err(Error::compile(class, "InvalidArgumentType", span, message).into());
        }
        let key = Arc::from(key.text.as_str());
        Ok((Expr::Property(Box::new(subject), key), Type::ANY))
    }

    fn index(&mut self, subject: &Expression, index: &Expression) -> Outcome<Typed> {
        let span = subject.span;
        let (subject, typed) = self.bind(subject)?;
        let owners = Types::LIST | Types::MAP | Types::ELEMENT | Types::STRING;
        if !typed.may_be(owners) {
            let message = format!("{} is no list or map", span.of(self.binder.text));
            let class = ErrorClass::TypeError;
            return Err(Error::compile(class, "InvalidArgumentType", span, message).into());
        }
        let (index, _) = self.bind(index)?;
        let item = match typed.kinds == Types::LIST {
            true => typed.item(),
            false => Type::ANY,
        };
        Ok((Expr::Index(Box::new(subject), Box::new(index)), item))
    }

    fn slice(&mut self, subject: &Expression, bounds: &tree::SliceBounds) -> Outcome<Typed> {
        let (bound, typed) = self.bind(subject)?;
        self.expect(typed, Types::LIST | Types::STRING, subject.span, "a list")?;
        let mut bind = |bound: &Option<Expression>| -> Outcome<Option<Box<Expr>>> {
            let bound = bound.as_ref().map(|bound| self.bind(bound));
            Ok(bound.transpose()?.map(|(bound, _)| Box::new(bound)))
        };
        let (from, to) = (bind(&bounds.from)?, bind(&bounds.to)?);
        Ok((Expr::Slice(Box::new(bound), from, to), typed))
    }

    fn sign(&mut self, sign: Sign, operand: &Expression) -> Outcome<Typed> {
        let (bound, typed) = self.bind(operand)?;
        let kinds = Types::NUMBER | Types::DURATION;
        self.expect(typed, kinds, operand.span, "a number")?;
        let bound = Box::new(bound);
        let expr = match sign {
            Sign::Plus => Expr::Plus(bound),
            Sign::Minus => Expr::Negate(bound),
        };
        Ok((expr, typed))
    }

    fn is(&mut self, subject: &Expression, test: &tree::Test) -> Outcome<Typed> {
        let span = subject.span;
        let (subject, _) = self.bind(subject)?;
        let subject = Box::new(subject);
        let expr = match &test.kind {
            TestKind::Null => Expr::IsNull(subject, test.negated),
            TestKind::Type(typed) => Expr::IsType(subject, Box::new(typed.clone()), test.negated),
            TestKind::Normalized(_) => return Err(unsupported(span, "IS NORMALIZED")),
        };
        Ok((expr, Type::BOOLEAN))
    }

    fn case(&mut self, case: &tree::Case) -> Outcome<Typed> {
        let subject = case.subject.as_ref().map(|one| self.bind(one));
        let subject = subject.transpose()?.map(|(subject, _)| subject);
        let mut result = Type::NULL;
        let mut branches = Vec::with_capacity(case.branches.len());
        for branch in &case.branches {
            let mut operands = Vec::with_capacity(branch.operands.len());
            for operand in &branch.operands {
                operands.push(match subject.is_some() {
                    true => self.bind(operand)?.0,
                    false => self.boolean(operand)?,
                });
            }
            let (value, typed) = self.bind(&branch.value)?;
            result = either(result, typed, &branch.value);
            branches.push((operands, value));
        }
        let otherwise = case.otherwise.as_ref().map(|one| self.bind(one));
        let otherwise = otherwise.transpose()?;
        let otherwise = otherwise.zip(case.otherwise.as_ref());
        let otherwise = otherwise.map(|((otherwise, typed), tree)| {
            result = either(result, typed, tree);
            otherwise
        });
        let case = CaseExpr {
            subject,
            branches,
            otherwise,
        };
        Ok((Expr::Case(Box::new(case)), result))
    }

    /// Binds a list and, with its items in a local, what `inner` binds.
    fn items<T>(
        &mut self,
        list: &Expression,
        variable: &Name,
        inner: impl FnOnce(&mut Self) -> Outcome<T>,
    ) -> Outcome<(Expr, usize, T, Type)> {
        let (bound, typed) = self.bind(list)?;
        self.expect(typed, Types::LIST, list.span, "a list")?;
        let local = self.next_local();
        self.locals.push((variable.text.clone(), typed.item()));
        let inner = inner(self);
        self.locals.pop();
        Ok((bound, local, inner?, typed))
    }

    fn comprehension(&mut self, one: &tree::ListComprehension) -> Outcome<Typed> {
        let (list, local, (filter, result), typed) =
            self.items(&one.list, &one.variable, |this| {
                let filter = one.filter.as_ref().map(|filter| this.boolean(filter));
                let result = one.result.as_ref().map(|result| this.bind(result));
                Ok((filter.transpose()?, result.transpose()?))
            })?;
        let typed = match &result {
            Some((_, item)) => Type::list_of(item.kinds),
            None => Type::list_of(typed.item().kinds),
        };
        let comprehension = ComprehensionExpr {
            local,
            list,
            filter,
            result: result.map(|(result, _)| result),
        };
        Ok((Expr::ListComprehension(Box::new(comprehension)), typed))
    }

    fn quantified(&mut self, one: &tree::Quantified) -> Outcome<Typed> {
        let inner = |this: &mut Self| this.boolean(&one.predicate);
        let (list, local, predicate, _) = self.items(&one.list, &one.variable, inner)?;
        let quantified = QuantifiedExpr {
            quantifier: one.quantifier,
            local,
            list,
            predicate,
        };
        Ok((Expr::Quantified(Box::new(quantified)), Type::BOOLEAN))
    }

    fn reduce(&mut self, one: &tree::Reduce) -> Outcome<Typed> {
        let (initial, _) = self.bind(&one.initial)?;
        let (list, typed) = self.bind(&one.list)?;
        self.expect(typed, Types::LIST, one.list.span, "a list")?;
        let local = self.next_local();
        self.locals.push((one.accumulator.text.clone(), Type::ANY));
        self.locals.push((one.variable.text.clone(), typed.item()));
        let step = self.bind(&one.step);
        self.locals.truncate(self.locals.len() - 2);
        let reduce = ReduceExpr {
            local,
            initial,
            list,
            step: step?.0,
        };
        Ok((Expr::Reduce(Box::new(reduce)), Type::ANY))
    }

    fn map_projection(&mut self, one: &tree::MapProjection) -> Outcome<Typed> {
        let (subject, typed) = self.variable(&one.variable)?;
        let kinds = Types::MAP | Types::ELEMENT;
        self.expect(
            typed,
            kinds,
            one.variable.span,
            "a node, relationship or map",
        )?;
        let mut entries = Vec::with_capacity(one.entries.len());
        for entry in &one.entries {
            let name = |name: &Name| Arc::<str>::from(name.text.as_str());
            entries.push(match entry {
                tree::ProjectionEntry::Property(key) => ProjectionEntry::Property(name(key)),
                tree::ProjectionEntry::All => ProjectionEntry::All,
                tree::ProjectionEntry::Entry(entry) => {
                    ProjectionEntry::Value(name(&entry.key), self.bind(&entry.value)?.0)
                }
                tree::ProjectionEntry::Variable(variable) => {
                    ProjectionEntry::Value(name(variable), self.variable(variable)?.0)
                }
            });
        }
        let projection = MapProjection { subject, entries };
        let expr = Expr::MapProjection(Box::new(projection));
        Ok((expr, Type::one(Types::MAP)))
    }
}

/// A label expression without dynamic labels.
pub(crate) fn label_test(labels: &tree::LabelExpression) -> Outcome<LabelTest> {
    use tree::LabelExpression as Label;
    let all = |labels: &[Label]| labels.iter().map(label_test).collect::<Outcome<Vec<_>>>();
    Ok(match labels {
        Label::Name(name) => LabelTest::Name(Arc::from(name.text.as_str())),
        Label::Any => LabelTest::Any,
        Label::Not(label) => LabelTest::Not(Box::new(label_test(label)?)),
        Label::And(labels) => LabelTest::And(all(labels)?),
        Label::Or(labels) => LabelTest::Or(all(labels)?),
        Label::Dynamic(expression) | Label::DynamicAny(expression) => {
            return Err(unsupported(expression.span, "a dynamic label in a pattern"));
        }
    })
}
