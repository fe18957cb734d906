//! Calls of functions and aggregates.

use super::{Exprs, Mode, Typed, syntax};
use crate::bind::{Type, walk};
use crate::error::{Error, ErrorClass, Outcome};
use crate::expression::Expr;
use crate::functions::{self, Returns, Types};
use crate::plan::AggregateCall;
use crate::tree::{self, Expression, ExpressionKind as Kind, Span};
use crate::value::Value;

impl Exprs<'_, '_> {
    /// A call of a function or an aggregate.
    pub(super) fn call(&mut self, expression: &Expression, call: &tree::Call) -> Outcome<Typed> {
        let name = call.name.text();
        if functions::lookup_aggregate(&name).is_some() {
            return self.aggregate(expression);
        }
        if let ([argument], true) = (&*call.arguments, name.eq_ignore_ascii_case("exists"))
            && let Kind::Pattern(_) = &argument.kind
        {
            return self.bind(argument);
        }
        let span = call.name.span();
        let Some(function) = functions::lookup(&name) else {
            if functions::is_missing(&name) {
                let message = format!("{name}() is not supported");
                let class = ErrorClass::NotSupported;
                return Err(Error::compile(class, "NotSupported", span, message).into());
            }
            let message = format!("there is no function '{name}'");
            return Err(syntax("UnknownFunction", span, message));
        };
        if call.distinct {
            let message = format!("DISTINCT is for aggregates, and {name} is none");
            return Err(syntax("UnexpectedSyntax", span, message));
        }
        if !function.takes(call.arguments.len()) {
            return Err(arguments(&name, span, call.arguments.len()));
        }
        let mut bound = Vec::with_capacity(call.arguments.len());
        let mut types = Vec::with_capacity(call.arguments.len());
        for (at, argument) in call.arguments.iter().enumerate() {
            let (expr, typed) = self.bind(argument)?;
            self.argument(&name, function.parameter(at), typed, argument.span)?;
            bound.push(expr);
            types.push(typed);
        }
        let typed = returned(function.returns, &types);
        Ok((Expr::Call(function, bound), typed))
    }

    fn argument(&self, name: &str, takes: Types, typed: Type, span: Span) -> Outcome<()> {
        if typed.may_be(takes) {
            return Ok(());
        }
        let text = span.of(self.binder.text);
        let message = format!("{name}() does not take {text}");
        Err(syntax("InvalidArgumentType", span, message))
    }

    /// A call of an aggregate, `count(*)` included.
    pub(super) fn aggregate(&mut self, expression: &Expression) -> Outcome<Typed> {
        let span = expression.span;
        let scope = self.scope;
        let (source, is_group) = match &self.mode {
            Mode::Groups { source, .. } if self.locals.is_empty() => (*source, true),
            Mode::After { groups: true, .. } => (scope, false),
            _ => {
                let message = "aggregates are not allowed here";
                return Err(syntax("InvalidAggregation", span, message));
            }
        };
        let (call, typed) = {
            let mut inner = Exprs {
                binder: &mut *self.binder,
                scope: source,
                outer: self.outer,
                locals: Vec::new(),
                known: Vec::new(),
                mode: Mode::Rows,
            };
            inner.aggregate_call(expression)?
        };
        let Mode::Groups { aggregates, .. } = &mut self.mode else {
            let message = "an aggregate of ORDER BY must be one of the columns";
            return Err(syntax("InvalidAggregation", span, message));
        };
        debug_assert!(is_group);
        let same = |(known, ..): &(Expression, AggregateCall, Type)| known == expression;
        let at = match aggregates.calls.iter().position(same) {
            Some(at) => at,
            None => {
                aggregates.calls.push((expression.clone(), call, typed));
                aggregates.calls.len() - 1
            }
        };
        Ok((Expr::Slot(aggregates.base + at), typed))
    }

    fn aggregate_call(&mut self, expression: &Expression) -> Outcome<(AggregateCall, Type)> {
        let (name, given, distinct) = match &expression.kind {
            Kind::Call(call) => (call.name.text(), &*call.arguments, call.distinct),
            _ => ("count".to_owned(), &[][..], false),
        };
        let span = expression.span;
        let Some(function) = functions::lookup_aggregate(&name) else {
            return Err(syntax("UnknownFunction", span, name));
        };
        let is_star = matches!(expression.kind, Kind::CountStar);
        if !is_star && given.len() != function.parameters.len() {
            return Err(arguments(&name, span, given.len()));
        }
        let mut bound = Vec::with_capacity(given.len().max(1));
        let mut types = Vec::new();
        for (at, argument) in given.iter().enumerate() {
            check_argument(argument)?;
            let (expr, typed) = self.bind(argument)?;
            let takes = function.parameters.get(at).copied().unwrap_or(Types::ANY);
            self.argument(&name, takes, typed, argument.span)?;
            bound.push(expr);
            types.push(typed);
        }
        if is_star {
            bound.push(Expr::Constant(Value::Boolean(true)));
        }
        let typed = returned(function.returns, &types);
        let call = AggregateCall {
            function,
            distinct,
            arguments: bound,
        };
        Ok((call, typed))
    }
}

/// Checks that the argument of an aggregate has no aggregate, and no random number.
fn check_argument(argument: &Expression) -> Outcome<()> {
    if walk::aggregates(argument) {
        let message = "an aggregate cannot be the argument of another one";
        return Err(syntax("NestedAggregation", argument.span, message));
    }
    let is_random = &mut |part: &Expression| match &part.kind {
        Kind::Call(call) => call.name.text().eq_ignore_ascii_case("rand"),
        _ => false,
    };
    if walk::any(argument, is_random) {
        let message = "the argument of an aggregate cannot be a random number";
        return Err(syntax("NonConstantExpression", argument.span, message));
    }
    Ok(())
}

fn arguments(name: &str, span: Span, given: usize) -> crate::CypherError {
    let message = format!("{name}() does not take {given} arguments");
    syntax("InvalidNumberOfArguments", span, message)
}

/// The type of a result.
fn returned(returns: Returns, arguments: &[Type]) -> Type {
    let argument = |at: usize| arguments.get(at).copied().unwrap_or(Type::ANY);
    match returns {
        Returns::One(kinds) => Type::one(kinds),
        Returns::ListOf(kinds) => Type::list_of(kinds),
        Returns::Argument(at) => argument(at),
        Returns::ItemOf(at) => argument(at).item(),
        Returns::Union => arguments.iter().fold(Type::NULL, |all, one| all.or(*one)),
    }
}
