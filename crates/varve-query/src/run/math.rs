//! Calculations of `math()`.

use super::child::Reader;
use super::context::Context;
use super::filter::without_value;
use super::map::labelled;
use super::row::Row;
use crate::plan::Math;
use crate::value::number::Number;
use crate::{QueryError, Value};

/// The result for one row; `None` if a reader has no value. The variables use the readers in turn,
/// in the order of their first use.
///
/// # Errors
/// If a variable has no value or one that is not a number, a divisor is zero, a function is
/// unknown, or a read fails.
pub(crate) fn evaluate(
    cx: &mut Context<'_>,
    expression: &Math,
    readers: &mut [Reader],
    row: &Row,
) -> Result<Option<f64>, QueryError> {
    let mut names = Vec::new();
    variables(expression, &mut names);
    let mut values = Vec::with_capacity(names.len());
    let count = readers.len().max(1);
    let mut at = 0;
    for name in names {
        let own = match name {
            "_" => None,
            name => labelled(cx, row, None, &name.into()),
        };
        // A label or a key of this name wins over the constant.
        if let (None, Some(constant)) = (&own, constant(name)) {
            values.push((name, constant));
            continue;
        }
        let reader = &mut readers[at % count];
        at += 1;
        let value = match (name, own) {
            // A child of `by()` may read the sack or a label of the row, so it gets the whole row.
            ("_", _) => reader.read(cx, std::slice::from_ref(row))?.remove(0),
            (_, Some(value)) => reader.read_value(cx, &value)?,
            (name, None) => return Err(without_value(name)),
        };
        let Some(value) = value else {
            return Ok(None);
        };
        let number = Number::of(&value).ok_or_else(|| QueryError::cast(&value, "Number"))?;
        values.push((name, number.to_f64()));
    }
    compute(expression, &values).map(Some)
}

/// The constant with this name.
fn constant(name: &str) -> Option<f64> {
    match name {
        "e" => Some(std::f64::consts::E),
        "pi" | "π" => Some(std::f64::consts::PI),
        _ => None,
    }
}

/// Appends the variables to `names`, each once, in the order of their first use.
fn variables<'m>(expression: &'m Math, names: &mut Vec<&'m str>) {
    match expression {
        Math::Number(_) => {}
        Math::Variable(name) => {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        Math::Negate(inner) | Math::Function(_, inner) => variables(inner, names),
        Math::Binary(_, a, b) => {
            variables(a, names);
            variables(b, names);
        }
    }
}

fn compute(expression: &Math, values: &[(&str, f64)]) -> Result<f64, QueryError> {
    Ok(match expression {
        Math::Number(number) => *number,
        Math::Variable(name) => {
            let found = values.iter().find(|(own, _)| *own == name.as_str());
            found.map_or(f64::NAN, |(_, value)| *value)
        }
        Math::Negate(inner) => -compute(inner, values)?,
        Math::Binary(operator, a, b) => {
            let (a, b) = (compute(a, values)?, compute(b, values)?);
            match operator {
                '+' => a + b,
                '-' => a - b,
                '*' => a * b,
                '/' if b == 0.0 => return Err(QueryError::arithmetic("Division by zero!")),
                '/' => a / b,
                '%' if b == 0.0 => return Err(QueryError::arithmetic("Division by zero!")),
                '%' => a % b,
                _ => a.powf(b),
            }
        }
        Math::Function(name, inner) => {
            let x = compute(inner, values)?;
            function(name, x)
                .ok_or_else(|| QueryError::invalid(format!("math() knows no function '{name}'")))?
        }
    })
}

fn function(name: &str, x: f64) -> Option<f64> {
    Some(match name {
        "abs" => x.abs(),
        "acos" => x.acos(),
        "asin" => x.asin(),
        "atan" => x.atan(),
        "cbrt" => x.cbrt(),
        "ceil" => x.ceil(),
        "cos" => x.cos(),
        "cosh" => x.cosh(),
        "exp" => x.exp(),
        "floor" => x.floor(),
        "log" => x.ln(),
        "log10" => x.log10(),
        "log2" => x.log2(),
        "signum" => match x {
            x if x > 0.0 => 1.0,
            x if x < 0.0 => -1.0,
            _ => 0.0,
        },
        "sin" => x.sin(),
        "sinh" => x.sinh(),
        "sqrt" => x.sqrt(),
        "tan" => x.tan(),
        "tanh" => x.tanh(),
        _ => return None,
    })
}

pub(crate) const fn value(result: f64) -> Value {
    Value::Double(result)
}
