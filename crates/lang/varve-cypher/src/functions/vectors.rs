//! Similarities of vectors, which are lists of numbers.

use super::{Function, Returns, Types, bad_value};
use crate::error::{CypherError, Outcome, argument_error};
use crate::expression::Frame;
use crate::value::Value;

const LIST: Types = Types::LIST;
const FLOAT: Returns = Returns::One(Types::FLOAT);

pub(super) const TABLE: &[Function] = &[
    Function::new("vector.similarity.cosine", &[LIST, LIST], FLOAT, cosine),
    Function::new(
        "vector.similarity.euclidean",
        &[LIST, LIST],
        FLOAT,
        euclidean,
    ),
];

fn invalid(message: &str) -> CypherError {
    argument_error("InvalidArgumentValue", message)
}

#[expect(clippy::cast_precision_loss, reason = "vectors are of floats")]
fn number(value: &Value) -> Outcome<f64> {
    match value {
        Value::Float(number) if number.is_finite() => Ok(*number),
        Value::Integer(number) => Ok(*number as f64),
        Value::Float(_) => Err(invalid("a vector has finite numbers only")),
        other => Err(bad_value("INTEGER or FLOAT", Some(other))),
    }
}

/// Adds up a function of the numbers at each position of two vectors of one length.
fn sums<const N: usize>(values: &[Value], each: fn(f64, f64) -> [f64; N]) -> Outcome<[f64; N]> {
    let [Value::List(left), Value::List(right)] = values else {
        let wrong = values.iter().find(|value| !matches!(value, Value::List(_)));
        return Err(bad_value("LIST", wrong));
    };
    if left.len() != right.len() || left.is_empty() {
        return Err(invalid(
            "vectors have the same number of dimensions, at least one",
        ));
    }
    let mut sums = [0.0; N];
    for (left, right) in left.iter().zip(right.iter()) {
        let parts = each(number(left)?, number(right)?);
        for (sum, part) in sums.iter_mut().zip(parts) {
            *sum += part;
        }
    }
    Ok(sums)
}

/// The cosine of the angle between two vectors, scaled from -1 … 1 to 0 … 1.
fn cosine(values: &[Value], _: &Frame<'_>) -> Outcome<Value> {
    let [dot, left, right] = sums(values, |left, right| {
        [left * right, left * left, right * right]
    })?;
    let norm = left.sqrt() * right.sqrt();
    if norm == 0.0 || !norm.is_finite() {
        return Err(invalid("a vector's length must be positive and finite"));
    }
    Ok(Value::Float(f64::midpoint(
        1.0,
        (dot / norm).clamp(-1.0, 1.0),
    )))
}

/// The inverse of 1 plus the square of the distance.
fn euclidean(values: &[Value], _: &Frame<'_>) -> Outcome<Value> {
    let [square] = sums(values, |left, right| [(left - right).powi(2)])?;
    Ok(Value::Float(1.0 / (1.0 + square)))
}
