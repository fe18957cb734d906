//! Tests of the evaluator.

use super::{evaluate, relates};
use crate::expression::{BinaryOp, CompareOp, Expr, ReduceExpr};
use crate::testing::{in_frame, odd_values};
use crate::value::{Key, Value, equal, order};

fn constant(value: impl Into<i64>) -> Expr {
    Expr::Constant(Value::Integer(value.into()))
}

fn value_of(expr: &Expr) -> String {
    match in_frame(&Vec::new(), |frame| evaluate(expr, frame)) {
        Ok(value) => value.to_string(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn no_operator_panics() {
    use BinaryOp::*;

    let ops = [
        Add,
        Subtract,
        Multiply,
        Divide,
        Modulo,
        Power,
        Concatenate,
        In,
        StartsWith,
        EndsWith,
        Contains,
        Matches,
    ];
    let values = odd_values();
    for left in &values {
        let operand = || Box::new(Expr::Constant(left.clone()));
        value_of(&Expr::Negate(operand()));
        value_of(&Expr::Plus(operand()));
        value_of(&Expr::Not(operand()));
        value_of(&Expr::Property(operand(), "year".into()));
        for right in &values {
            let other = || Box::new(Expr::Constant(right.clone()));
            for op in ops {
                value_of(&Expr::Binary(op, operand(), other()));
            }
            value_of(&Expr::Index(operand(), other()));
            value_of(&Expr::Slice(operand(), Some(other()), None));
            value_of(&Expr::Slice(operand(), None, Some(other())));
        }
    }
}

#[test]
fn orders_agree_for_all_values() {
    let values = odd_values();
    for left in &values {
        assert!(order(left, left).is_eq(), "{left}");
        for right in &values {
            assert_eq!(
                order(left, right),
                order(right, left).reverse(),
                "{left}, {right}"
            );
            let same = order(left, right).is_eq();
            assert_eq!(Key(left.clone()) == Key(right.clone()), same);
            if let Some(truth) = equal(left, right) {
                let is_nan = matches!(left, Value::Float(float) if float.is_nan());
                assert_eq!(truth, same && !is_nan, "{left} = {right}");
            }
            let less = relates(CompareOp::Less, left, right);
            assert_eq!(less, relates(CompareOp::Greater, right, left));
            if less == Some(true) {
                assert!(order(left, right).is_lt(), "{left} < {right}");
            }
            for third in &values {
                if order(left, right).is_le() && order(right, third).is_le() {
                    assert!(order(left, third).is_le(), "{left}, {right}, {third}");
                }
            }
        }
    }
}

#[test]
fn integers_overflow_with_an_error() {
    let least = || Box::new(constant(i64::MIN));
    let minus_one = || Box::new(constant(-1));
    for op in [BinaryOp::Add, BinaryOp::Multiply, BinaryOp::Divide] {
        let found = value_of(&Expr::Binary(op, least(), minus_one()));
        assert!(
            found.starts_with("ArithmeticError: IntegerOverflow"),
            "{found}"
        );
    }
    let rest = Expr::Binary(BinaryOp::Modulo, least(), minus_one());
    assert_eq!(value_of(&rest), "0");
    let zero = Expr::Binary(BinaryOp::Divide, least(), Box::new(constant(0)));
    assert!(value_of(&zero).starts_with("ArithmeticError: DivisionByZero"));
}

#[test]
fn large_integers_and_floats_compare_exactly() {
    let large = 1_i64 << 53;
    let float = Value::Float(9_007_199_254_740_992.0);
    assert_eq!(equal(&Value::Integer(large), &float), Some(true));
    assert_eq!(equal(&Value::Integer(large + 1), &float), Some(false));
    let end = Value::Float(9_223_372_036_854_775_808.0);
    assert_eq!(
        relates(CompareOp::Less, &Value::Integer(i64::MAX), &end),
        Some(true)
    );
    assert_eq!(
        equal(
            &Value::Integer(i64::MIN),
            &Value::Float(-9_223_372_036_854_775_808.0)
        ),
        Some(true)
    );
    assert_eq!(
        relates(CompareOp::Greater, &Value::Float(-0.5), &Value::Integer(-1)),
        Some(true)
    );
}

#[test]
fn reduce_refuses_deep_nesting() {
    let list = Value::list((0..100_000).map(Value::Integer).collect());
    let nest = Expr::Reduce(Box::new(ReduceExpr {
        local: 0,
        initial: Expr::List(Vec::new()),
        list: Expr::Constant(list),
        step: Expr::List(vec![Expr::Local(0)]),
    }));
    assert!(value_of(&nest).contains("1,000 levels"));
}

#[test]
fn a_value_takes_24_bytes() {
    assert_eq!(size_of::<Value>(), 24);
}
