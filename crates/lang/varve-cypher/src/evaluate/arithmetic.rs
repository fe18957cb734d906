//! Arithmetic: checked for integers, and with durations for temporal values.

use std::fmt::Write;

use super::wrong_type;
use crate::error::{CypherError, Outcome, arithmetic_error, type_error};
use crate::temporal::{Duration, out_of_range};
use crate::value::{Graph, Plain, Value};

fn overflow() -> CypherError {
    arithmetic_error("IntegerOverflow", "the result does not fit an INTEGER")
}

fn no_operator(op: &str, left: &Value, right: &Value) -> CypherError {
    let (left, right) = (left.type_name(), right.type_name());
    type_error(
        "InvalidArgumentType",
        format!("{left} {op} {right} is not defined"),
    )
}

#[expect(
    clippy::cast_precision_loss,
    reason = "arithmetic of mixed numbers is by float"
)]
const fn float(integer: i64) -> f64 {
    integer as f64
}

/// Two numbers of one type.
enum Numbers {
    Integers(i64, i64),
    Floats(f64, f64),
}

fn numbers(left: &Value, right: &Value) -> Option<Numbers> {
    Some(match (left, right) {
        (Value::Integer(left), Value::Integer(right)) => Numbers::Integers(*left, *right),
        (Value::Float(left), Value::Float(right)) => Numbers::Floats(*left, *right),
        (Value::Integer(left), Value::Float(right)) => Numbers::Floats(float(*left), *right),
        (Value::Float(left), Value::Integer(right)) => Numbers::Floats(*left, float(*right)),
        _ => return None,
    })
}

fn is_null(left: &Value, right: &Value) -> bool {
    left.is_null() || right.is_null()
}

pub(super) fn negate(operand: &Value) -> Outcome<Value> {
    match operand {
        Value::Null => Ok(Value::Null),
        Value::Integer(number) => number
            .checked_neg()
            .map(Value::Integer)
            .ok_or_else(overflow),
        Value::Float(number) => Ok(Value::Float(-number)),
        Value::Duration(duration) => boxed(duration.times(-1)),
        other => Err(wrong_type("INTEGER, FLOAT or DURATION", other)),
    }
}

pub(super) fn plus(operand: Value) -> Outcome<Value> {
    match operand {
        Value::Null | Value::Integer(_) | Value::Float(_) => Ok(operand),
        other => Err(wrong_type("INTEGER or FLOAT", &other)),
    }
}

fn boxed(duration: Option<Duration>) -> Outcome<Value> {
    match duration {
        Some(duration) => Ok(Value::Duration(Box::new(duration))),
        None => Err(out_of_range()),
    }
}

pub(super) fn add(left: &Value, right: &Value, graph: &Graph<'_>) -> Outcome<Value> {
    if is_null(left, right) {
        return Ok(Value::Null);
    }
    match numbers(left, right) {
        Some(Numbers::Integers(left, right)) => {
            return left
                .checked_add(right)
                .map(Value::Integer)
                .ok_or_else(overflow);
        }
        Some(Numbers::Floats(left, right)) => return Ok(Value::Float(left + right)),
        None => {}
    }
    match (left, right) {
        (Value::List(_), _) | (_, Value::List(_)) => joined(left, right, graph),
        (Value::String(_), _) | (_, Value::String(_)) => concatenated(left, right, graph),
        (Value::Duration(left), Value::Duration(right)) => boxed(left.plus(right)),
        (Value::Duration(duration), _) => shifted(right, duration, "+", left),
        (_, Value::Duration(duration)) => shifted(left, duration, "+", right),
        _ => Err(no_operator("+", left, right)),
    }
}

/// A list of both operands' items; an operand that is no list is one item.
fn joined(left: &Value, right: &Value, graph: &Graph<'_>) -> Outcome<Value> {
    let length = |value: &Value| match value {
        Value::List(items) => items.len(),
        _ => 1,
    };
    let length = length(left).saturating_add(length(right));
    graph.room(length.saturating_mul(size_of::<Value>()))?;
    let items = |value: &Value| match value {
        Value::List(items) => items.to_vec(),
        item => vec![item.clone()],
    };
    let mut all = items(left);
    all.extend(items(right));
    Ok(Value::list(all))
}

/// The texts of both operands.
fn concatenated(left: &Value, right: &Value, graph: &Graph<'_>) -> Outcome<Value> {
    let length = |value: &Value| match value {
        Value::String(text) => text.len(),
        _ => 0,
    };
    // The text is made, and then copied into a value.
    let bytes = length(left).saturating_add(length(right)).saturating_mul(2);
    graph.room(bytes)?;
    let mut text = String::new();
    for value in [left, right] {
        match value {
            Value::String(part) => text.push_str(part),
            Value::Null
            | Value::Map(_)
            | Value::Node(_)
            | Value::Relationship(_)
            | Value::Path(_)
            | Value::List(_)
            | Value::Bytes(_) => return Err(no_operator("+", left, right)),
            // A String can always be written to.
            other => drop(write!(text, "{}", Plain(other))),
        }
    }
    Ok(Value::string(text))
}

/// `a || b`, for two strings or two lists.
pub(super) fn concatenate(left: &Value, right: &Value, graph: &Graph<'_>) -> Outcome<Value> {
    match (left, right) {
        _ if is_null(left, right) => Ok(Value::Null),
        (Value::List(_), Value::List(_)) => joined(left, right, graph),
        (Value::String(_), Value::String(_)) => concatenated(left, right, graph),
        _ => Err(no_operator("||", left, right)),
    }
}

/// A date or time moved by a duration.
fn shifted(value: &Value, by: &Duration, op: &str, other: &Value) -> Outcome<Value> {
    let moved = match value {
        Value::Date(date) => date.plus(by).map(Value::Date),
        Value::LocalTime(time) => Some(Value::LocalTime(time.plus(by))),
        Value::Time(time) => Some(Value::Time(time.plus(by))),
        Value::LocalDateTime(at) => at.plus(by).map(Value::LocalDateTime),
        Value::DateTime(at) => at.plus(by).map(|at| Value::DateTime(Box::new(at))),
        _ => return Err(no_operator(op, value, other)),
    };
    moved.ok_or_else(out_of_range)
}

pub(super) fn subtract(left: &Value, right: &Value) -> Outcome<Value> {
    if is_null(left, right) {
        return Ok(Value::Null);
    }
    match numbers(left, right) {
        Some(Numbers::Integers(left, right)) => {
            return left
                .checked_sub(right)
                .map(Value::Integer)
                .ok_or_else(overflow);
        }
        Some(Numbers::Floats(left, right)) => return Ok(Value::Float(left - right)),
        None => {}
    }
    let Value::Duration(duration) = right else {
        return Err(no_operator("-", left, right));
    };
    let reverse = duration.times(-1).ok_or_else(out_of_range)?;
    match left {
        Value::Duration(left) => boxed(left.plus(&reverse)),
        _ => shifted(left, &reverse, "-", right),
    }
}

pub(super) fn multiply(left: &Value, right: &Value) -> Outcome<Value> {
    if is_null(left, right) {
        return Ok(Value::Null);
    }
    match numbers(left, right) {
        Some(Numbers::Integers(left, right)) => {
            return left
                .checked_mul(right)
                .map(Value::Integer)
                .ok_or_else(overflow);
        }
        Some(Numbers::Floats(left, right)) => return Ok(Value::Float(left * right)),
        None => {}
    }
    match (left, right) {
        (Value::Duration(duration), factor) | (factor, Value::Duration(duration)) => match factor {
            Value::Integer(factor) => boxed(duration.times(*factor)),
            Value::Float(factor) => boxed(duration.scaled(|part| part * factor)),
            _ => Err(no_operator("*", left, right)),
        },
        _ => Err(no_operator("*", left, right)),
    }
}

fn division_by_zero() -> CypherError {
    arithmetic_error("DivisionByZero", "an INTEGER is divided by zero")
}

pub(super) fn divide(left: &Value, right: &Value) -> Outcome<Value> {
    if is_null(left, right) {
        return Ok(Value::Null);
    }
    match numbers(left, right) {
        Some(Numbers::Integers(_, 0)) => return Err(division_by_zero()),
        Some(Numbers::Integers(left, right)) => {
            return left
                .checked_div(right)
                .map(Value::Integer)
                .ok_or_else(overflow);
        }
        Some(Numbers::Floats(left, right)) => return Ok(Value::Float(left / right)),
        None => {}
    }
    match (left, right) {
        (Value::Duration(_), Value::Integer(0)) => Err(division_by_zero()),
        (Value::Duration(duration), Value::Integer(divisor)) => {
            boxed(duration.scaled(|part| part / float(*divisor)))
        }
        (Value::Duration(duration), Value::Float(divisor)) => {
            boxed(duration.scaled(|part| part / divisor))
        }
        _ => Err(no_operator("/", left, right)),
    }
}

pub(super) fn modulo(left: &Value, right: &Value) -> Outcome<Value> {
    if is_null(left, right) {
        return Ok(Value::Null);
    }
    match numbers(left, right) {
        Some(Numbers::Integers(_, 0)) => Err(division_by_zero()),
        // The least integer modulo -1 is 0, though its quotient overflows.
        Some(Numbers::Integers(left, right)) => Ok(Value::Integer(left.wrapping_rem(right))),
        Some(Numbers::Floats(left, right)) => Ok(Value::Float(left % right)),
        None => Err(no_operator("%", left, right)),
    }
}

/// A power is always a float.
pub(super) fn power(left: &Value, right: &Value) -> Outcome<Value> {
    if is_null(left, right) {
        return Ok(Value::Null);
    }
    match numbers(left, right) {
        Some(Numbers::Integers(left, right)) => Ok(Value::Float(float(left).powf(float(right)))),
        Some(Numbers::Floats(left, right)) => Ok(Value::Float(left.powf(right))),
        None => Err(no_operator("^", left, right)),
    }
}
