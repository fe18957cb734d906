//! Operators of scripts on values, by Groovy's rules.

use std::cmp::Ordering;
use std::sync::Arc;

use bigdecimal::{BigDecimal, RoundingMode};
use varve_model::Decimal;
use varve_query::value::number::Arithmetic;
use varve_query::value::{Comparison, TEXT_BYTES_MAX, TextBuilder, too_long};
use varve_query::{QueryError, Value};

use super::collections::with_lookup;
use super::errors::ILLEGAL_ARGUMENT;
use crate::tree::BinaryOperator;

/// Decimal places of a quotient that is not exact.
const QUOTIENT_DIGITS: i64 = 10;

/// Bytes of a text that are scanned in one step.
const TEXT_BYTES_A_STEP: usize = 256;

/// Groovy's truth: null, zero and empty values are false.
pub(super) fn truth(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Text(text) => !text.is_empty(),
        Value::List(items) => !items.is_empty(),
        Value::Set(items) => !items.is_empty(),
        Value::Map(map) => !map.is_empty(),
        number if number.is_number() => !number.equals(&Value::Int(0)),
        _ => true,
    }
}

/// The steps charged for an operator that reads the whole value.
pub(super) fn cost(value: &Value) -> Result<u64, QueryError> {
    Ok(match value {
        Value::List(_) | Value::Set(_) | Value::Map(_) | Value::Path(_) | Value::Tree(_) => {
            value.members()? as u64
        }
        Value::Text(text) => (text.len() / TEXT_BYTES_A_STEP) as u64,
        _ => 0,
    })
}

/// `+a` or `-a`.
pub(super) fn signed(value: &Value, minus: bool) -> Result<Value, QueryError> {
    match minus {
        true => Arithmetic::Multiply.apply(value, &Value::Byte(-1)),
        false => Arithmetic::Add.apply(value, &Value::Byte(0)),
    }
}

pub(super) fn binary(operator: BinaryOperator, a: &Value, b: &Value) -> Result<Value, QueryError> {
    use BinaryOperator as B;
    Ok(match operator {
        B::Equal => Value::Bool(a.equals(b)),
        B::NotEqual => Value::Bool(!a.equals(b)),
        B::Less => Value::Bool(compare(a, b)? == Ordering::Less),
        B::LessOrEqual => Value::Bool(compare(a, b)? != Ordering::Greater),
        B::Greater => Value::Bool(compare(a, b)? == Ordering::Greater),
        B::GreaterOrEqual => Value::Bool(compare(a, b)? != Ordering::Less),
        B::Compare => Value::Int(compare(a, b)? as i32),
        B::In => Value::Bool(contains(b, a)?),
        B::Add => return add(a, b),
        B::Subtract => return subtract(a, b),
        B::Multiply => return multiply(a, b),
        B::Divide => return divide(a, b),
        B::Remainder => return remainder(a, b),
        B::Power => return power(a, b),
        B::And | B::Or | B::Append => return Err(refused(operator, a, b)),
    })
}

fn refused(operator: BinaryOperator, a: &Value, b: &Value) -> QueryError {
    let (a, b) = (a.type_name(), b.type_name());
    QueryError::script(
        "groovy.lang.MissingMethodException",
        format!("No signature of method: {a}.{operator} is applicable for argument types: ({b})"),
    )
}

fn compare(a: &Value, b: &Value) -> Result<Ordering, QueryError> {
    // Null is less than any other value.
    if a.is_null() || b.is_null() {
        return Ok(b.is_null().cmp(&a.is_null()));
    }
    match a.compare(b) {
        Comparison::Ordered(order) => Ok(order),
        Comparison::None => {
            let (x, y) = (a.type_name(), b.type_name());
            Err(QueryError::script(
                ILLEGAL_ARGUMENT,
                format!("Cannot compare {x} and {y}"),
            ))
        }
    }
}

/// Whether a collection contains this member, a map this key, or a text this part.
pub(super) fn contains(held: &Value, wanted: &Value) -> Result<bool, QueryError> {
    Ok(match held {
        Value::List(items) => items.iter().any(|item| item.equals(wanted)),
        Value::Set(items) => wanted.is_in(items),
        Value::Map(map) => map.contains_key(wanted),
        Value::Text(text) => text.contains(wanted.to_text()?.as_str()),
        Value::Null => false,
        other => return Err(refused(BinaryOperator::In, other, wanted)),
    })
}

fn add(a: &Value, b: &Value) -> Result<Value, QueryError> {
    match (a, b) {
        (Value::Text(_), _) | (_, Value::Text(_)) => joined(a, b),
        (Value::List(items), _) => {
            let mut all = items.as_ref().clone();
            match b.items() {
                Some(more) if !matches!(b, Value::Map(_)) => all.extend(more),
                _ => all.push(b.clone()),
            }
            Ok(Value::list(all))
        }
        (Value::Set(items), _) => {
            let mut all = items.as_ref().clone();
            match b.items() {
                Some(more) if !matches!(b, Value::Map(_)) => all.extend(more),
                _ => drop(all.insert(b.clone())),
            }
            Ok(Value::Set(Arc::new(all)))
        }
        (Value::Map(map), Value::Map(more)) => {
            let mut all = map.as_ref().clone();
            all.extend(more.iter().map(|(key, value)| (key.clone(), value.clone())));
            Ok(Value::Map(Arc::new(all)))
        }
        _ if a.is_number() && b.is_number() => Arithmetic::Add.apply(a, b),
        _ => Err(refused(BinaryOperator::Add, a, b)),
    }
}

/// Two values concatenated as text.
fn joined(a: &Value, b: &Value) -> Result<Value, QueryError> {
    let mut text = TextBuilder::default();
    text.push_value(a)?;
    text.push_value(b)?;
    Ok(Value::Text(text.finish()))
}

fn subtract(a: &Value, b: &Value) -> Result<Value, QueryError> {
    match (a, b) {
        (Value::List(items), _) => {
            let left = |is_gone: &dyn Fn(&Value) -> bool| {
                let left = items.iter().filter(|item| !is_gone(item));
                Value::list(left.cloned().collect())
            };
            Ok(match b {
                Value::List(_) | Value::Set(_) => with_lookup(b, left),
                other => left(&|item| item == other),
            })
        }
        (Value::Text(text), _) => {
            let part = b.to_text()?;
            Ok(Value::text(&text.replacen(part.as_str(), "", 1)))
        }
        _ if a.is_number() && b.is_number() => Arithmetic::Subtract.apply(a, b),
        _ => Err(refused(BinaryOperator::Subtract, a, b)),
    }
}

fn multiply(a: &Value, b: &Value) -> Result<Value, QueryError> {
    if let (Value::Text(text), Some(times)) = (a, b.as_long()) {
        let times = usize::try_from(times)
            .map_err(|_| QueryError::invalid("A text cannot be repeated less than 0 times"))?;
        if text.len().saturating_mul(times) > TEXT_BYTES_MAX {
            return Err(too_long());
        }
        return Ok(Value::text(&text.repeat(times)));
    }
    match a.is_number() && b.is_number() {
        true => Arithmetic::Multiply.apply(a, b),
        false => Err(refused(BinaryOperator::Multiply, a, b)),
    }
}

/// The quotient. Of whole numbers that do not divide evenly, it is a decimal number, as in Groovy.
fn divide(a: &Value, b: &Value) -> Result<Value, QueryError> {
    let (Some(x), Some(y)) = (a.as_long(), b.as_long()) else {
        return match a.is_number() && b.is_number() {
            true => Arithmetic::Divide.apply(a, b),
            false => Err(refused(BinaryOperator::Divide, a, b)),
        };
    };
    if y == 0 || x.checked_rem(y).is_none_or(|rest| rest == 0) {
        return Arithmetic::Divide.apply(a, b);
    }
    let exact = BigDecimal::from(x) / BigDecimal::from(y);
    let rounded = exact.with_scale_round(QUOTIENT_DIGITS, RoundingMode::HalfUp);
    // At most 19 digits, and ten decimal places.
    let quotient = Decimal::new(rounded.normalized());
    Ok(quotient.map_or(Value::Null, |quotient| {
        Value::BigDecimal(Arc::new(quotient))
    }))
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "rounded, as Java does"
)]
fn remainder(a: &Value, b: &Value) -> Result<Value, QueryError> {
    let (Some(x), Some(y)) = (a.as_long(), b.as_long()) else {
        let (Some(x), Some(y)) = (a.as_f64(), b.as_f64()) else {
            return Err(refused(BinaryOperator::Remainder, a, b));
        };
        return Ok(Value::Double(x % y));
    };
    if y == 0 {
        return Err(QueryError::Arithmetic("/ by zero"));
    }
    let rest = x.checked_rem(y).unwrap_or(0);
    Ok(match (a, b) {
        (Value::Long(_), _) | (_, Value::Long(_)) => Value::Long(rest),
        _ => Value::Int(rest as i32),
    })
}

fn power(a: &Value, b: &Value) -> Result<Value, QueryError> {
    if let (Some(x), Some(y)) = (a.as_long(), b.as_long())
        && let Ok(y) = u32::try_from(y)
        && let Some(result) = x.checked_pow(y)
    {
        let narrow = match (a, i32::try_from(result)) {
            (Value::Long(_), _) | (_, Err(_)) => None,
            (_, Ok(result)) => Some(result),
        };
        return Ok(narrow.map_or(Value::Long(result), Value::Int));
    }
    match (a.as_f64(), b.as_f64()) {
        (Some(x), Some(y)) => Ok(Value::Double(x.powf(y))),
        _ => Err(refused(BinaryOperator::Power, a, b)),
    }
}
