//! Functions of lists, and those of any value.

use std::sync::Arc;

use super::{Function, Returns, Types, bad_value, integer};
use crate::error::{Outcome, argument_error};
use crate::expression::Frame;
use crate::value::{Value, equal};

const ANY: Types = Types::ANY;
const LIST: Types = Types::LIST;
const COUNTED: Types = Types::LIST.or(Types::STRING);

pub(super) const TABLE: &[Function] = &[
    // The evaluator runs `coalesce` itself.
    Function::new("coalesce", &[ANY], Returns::Union, |_, _| Ok(Value::Null))
        .lenient()
        .variadic(),
    Function::new("nullIf", &[ANY, ANY], Returns::Argument(0), null_if).lenient(),
    Function::new(
        "exists",
        &[ANY],
        Returns::One(Types::BOOLEAN),
        |values, _| Ok(Value::Boolean(!values.iter().any(Value::is_null))),
    )
    .lenient(),
    Function::new("head", &[LIST], Returns::ItemOf(0), |values, _| {
        Ok(items(values)?.first().cloned().unwrap_or(Value::Null))
    }),
    Function::new("last", &[LIST], Returns::ItemOf(0), |values, _| {
        Ok(items(values)?.last().cloned().unwrap_or(Value::Null))
    }),
    Function::new("tail", &[LIST], Returns::Argument(0), |values, _| {
        Ok(Value::list(
            items(values)?.get(1..).unwrap_or_default().to_vec(),
        ))
    }),
    Function::new("size", &[COUNTED], Returns::One(Types::INTEGER), size),
    Function::new("reverse", &[COUNTED], Returns::Argument(0), reverse),
    Function::new(
        "isEmpty",
        &[COUNTED.or(Types::MAP)],
        Returns::One(Types::BOOLEAN),
        is_empty,
    ),
    Function::new(
        "range",
        &[ANY, ANY, ANY],
        Returns::ListOf(Types::INTEGER),
        range,
    )
    .required(2),
];

/// The items of the first argument.
fn items(values: &[Value]) -> Outcome<&Arc<Vec<Value>>> {
    match values {
        [Value::List(items), ..] => Ok(items),
        _ => Err(bad_value("LIST", values.first())),
    }
}

fn null_if(values: &[Value], _: &Frame<'_>) -> Outcome<Value> {
    match values {
        [left, right] if equal(left, right) == Some(true) => Ok(Value::Null),
        [left, _] => Ok(left.clone()),
        _ => Err(bad_value("two values", None)),
    }
}

fn size(values: &[Value], _: &Frame<'_>) -> Outcome<Value> {
    match values {
        [Value::List(items)] => Ok(integer(items.len())),
        [Value::String(text)] => Ok(integer(text.chars().count())),
        _ => Err(bad_value("LIST or STRING", values.first())),
    }
}

fn is_empty(values: &[Value], _: &Frame<'_>) -> Outcome<Value> {
    Ok(Value::Boolean(match values {
        [Value::List(items)] => items.is_empty(),
        [Value::String(text)] => text.is_empty(),
        [Value::Map(map)] => map.is_empty(),
        _ => return Err(bad_value("LIST, MAP or STRING", values.first())),
    }))
}

fn reverse(values: &[Value], _: &Frame<'_>) -> Outcome<Value> {
    match values {
        [Value::List(items)] => Ok(Value::list(items.iter().rev().cloned().collect())),
        [Value::String(text)] => Ok(Value::string(text.chars().rev().collect::<String>())),
        _ => Err(bad_value("LIST or STRING", values.first())),
    }
}

fn range(values: &[Value], frame: &Frame<'_>) -> Outcome<Value> {
    let (mut bounds, mut count) = ([0, 0, 1], 0);
    for (bound, value) in bounds.iter_mut().zip(values) {
        let Value::Integer(number) = value else {
            let message = format!("range() of {}", value.type_name());
            return Err(argument_error("InvalidArgumentType", message));
        };
        *bound = *number;
    }
    let [first, last, step] = bounds.map(i128::from);
    if step == 0 {
        return Err(argument_error(
            "NumberOutOfRange",
            "the step of range() is zero",
        ));
    }
    if (last - first).signum() * step.signum() >= 0 {
        count = (last - first) / step + 1;
    }
    // The list must fit the query's memory before it is made.
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let bytes = count.saturating_mul(size_of::<Value>());
    frame.graph.room(bytes)?;
    let numbers = (0..count).map_while(|at| {
        let number = first + step * i128::try_from(at).ok()?;
        i64::try_from(number).ok().map(Value::Integer)
    });
    Ok(Value::list(numbers.collect()))
}
