//! Chains of operators.

use super::{Exprs, Typed};
use crate::bind::Type;
use crate::error::Outcome;
use crate::expression::{BinaryOp, CompareOp, Expr};
use crate::functions::Types;
use crate::tree::{ChainLink, Expression, Operator, Precedence};

impl Exprs<'_, '_> {
    /// Operators of one precedence.
    pub(super) fn chain(&mut self, first: &Expression, links: &[ChainLink]) -> Outcome<Typed> {
        let precedence = links.first().map(|link| link.operator.precedence());
        match precedence {
            Some(Precedence::Or | Precedence::Xor | Precedence::And) => self.logic(first, links),
            Some(Precedence::Comparison) => {
                let (bound, _) = self.bind(first)?;
                let mut rest = Vec::with_capacity(links.len());
                for link in links {
                    let (operand, _) = self.bind(&link.operand)?;
                    rest.push((compare_op(link.operator), operand));
                }
                Ok((Expr::Compare(Box::new(bound), rest), Type::BOOLEAN))
            }
            _ => {
                let (first_operand, mut typed) = self.bind(first)?;
                let mut span = first.span;
                let mut rest = Vec::with_capacity(links.len());
                for link in links {
                    let (right, right_type) = self.bind(&link.operand)?;
                    let right_span = link.operand.span;
                    typed = self.check(link.operator, (typed, span), (right_type, right_span))?;
                    rest.push((binary_op(link.operator), right));
                    span.end = right_span.end;
                }
                Ok((binary(first_operand, rest), typed))
            }
        }
    }

    fn logic(&mut self, first: &Expression, links: &[ChainLink]) -> Outcome<Typed> {
        let mut operands = vec![self.boolean(first)?];
        for link in links {
            operands.push(self.boolean(&link.operand)?);
        }
        let expr = match links.first().map(|link| link.operator) {
            Some(Operator::Or) => Expr::Or(operands),
            Some(Operator::Xor) => Expr::Xor(operands),
            _ => Expr::And(operands),
        };
        Ok((expr, Type::BOOLEAN))
    }

    /// Checks the static types of two operands, and returns the result's.
    fn check(
        &self,
        operator: Operator,
        (left, left_span): (Type, crate::tree::Span),
        (right, right_span): (Type, crate::tree::Span),
    ) -> Outcome<Type> {
        let both = |kinds: Types, what: &str| {
            self.expect(left, kinds, left_span, what)?;
            self.expect(right, kinds, right_span, what)
        };
        match operator {
            Operator::In => {
                self.expect(right, Types::LIST, right_span, "a list")?;
                Ok(Type::BOOLEAN)
            }
            Operator::StartsWith | Operator::EndsWith | Operator::Contains | Operator::Matches => {
                Ok(Type::BOOLEAN)
            }
            Operator::Subtract => {
                both(Types::NUMBER | Types::TEMPORAL, "a number")?;
                Ok(number(left, right, Types::ANY))
            }
            Operator::Multiply | Operator::Divide => {
                both(Types::NUMBER | Types::DURATION, "a number")?;
                Ok(number(left, right, Types::NUMBER | Types::DURATION))
            }
            Operator::Modulo => {
                both(Types::NUMBER, "a number")?;
                Ok(number(left, right, Types::NUMBER))
            }
            Operator::Power => {
                both(Types::NUMBER, "a number")?;
                Ok(Type::one(Types::FLOAT))
            }
            _ => Ok(sum(left, right)),
        }
    }
}

/// The type of `a + b` and `a || b`.
fn sum(left: Type, right: Type) -> Type {
    let is_list = |one: Type| one.kinds == Types::LIST;
    match (is_list(left), is_list(right)) {
        (true, true) => Type::list_of(left.items | right.items),
        (true, false) | (false, true) => Type::list_of(Types::ANY),
        (false, false) if left.kinds == Types::STRING && right.kinds == Types::STRING => {
            Type::one(Types::STRING)
        }
        _ => number(left, right, Types::ANY),
    }
}

fn number(left: Type, right: Type, otherwise: Types) -> Type {
    let known = |one: Type| !one.kinds.is_none() && one.kinds.is_in(Types::NUMBER);
    if !known(left) || !known(right) {
        return Type::one(otherwise);
    }
    let is = |one: Type, kind| one.kinds == kind;
    if is(left, Types::INTEGER) && is(right, Types::INTEGER) {
        Type::INTEGER
    } else if is(left, Types::FLOAT) || is(right, Types::FLOAT) {
        Type::one(Types::FLOAT)
    } else {
        Type::one(Types::NUMBER)
    }
}

/// Operators that apply from the left.
fn binary(first: Expr, mut rest: Vec<(BinaryOp, Expr)>) -> Expr {
    match (rest.len(), rest.pop()) {
        (1, Some((op, right))) => Expr::Binary(op, Box::new(first), Box::new(right)),
        (_, last) => {
            rest.extend(last);
            Expr::Chain(Box::new(first), rest)
        }
    }
}

const fn compare_op(operator: Operator) -> CompareOp {
    match operator {
        Operator::NotEqual => CompareOp::NotEqual,
        Operator::Less => CompareOp::Less,
        Operator::LessEqual => CompareOp::LessEqual,
        Operator::Greater => CompareOp::Greater,
        Operator::GreaterEqual => CompareOp::GreaterEqual,
        _ => CompareOp::Equal,
    }
}

const fn binary_op(operator: Operator) -> BinaryOp {
    match operator {
        Operator::In => BinaryOp::In,
        Operator::StartsWith => BinaryOp::StartsWith,
        Operator::EndsWith => BinaryOp::EndsWith,
        Operator::Contains => BinaryOp::Contains,
        Operator::Matches => BinaryOp::Matches,
        Operator::Subtract => BinaryOp::Subtract,
        Operator::Concatenate => BinaryOp::Concatenate,
        Operator::Multiply => BinaryOp::Multiply,
        Operator::Divide => BinaryOp::Divide,
        Operator::Modulo => BinaryOp::Modulo,
        Operator::Power => BinaryOp::Power,
        _ => BinaryOp::Add,
    }
}
