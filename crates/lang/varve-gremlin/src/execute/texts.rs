//! Methods of texts, numbers, dates and other single values.

use varve_query::value::number::Arithmetic;
use varve_query::value::{TEXT_BYTES_MAX, too_long};
use varve_query::{QueryError, Value};

use super::errors::out_of_bounds;
use crate::tree::Text;

/// Calls a method of a single value; `None` if it has no such method.
pub(super) fn call(
    value: &Value,
    name: &str,
    arguments: &[Value],
) -> Result<Option<Value>, QueryError> {
    match value {
        Value::Text(text) => of_text(text, name, arguments),
        number if number.is_number() => of_number(number, name, arguments),
        _ => Ok(None),
    }
}

fn of_text(text: &Text, name: &str, arguments: &[Value]) -> Result<Option<Value>, QueryError> {
    let size = || text.chars().count();
    let length = |count: usize| Value::Int(i32::try_from(count).unwrap_or(i32::MAX));
    Ok(Some(match (name, arguments) {
        ("size" | "length", []) => length(size()),
        ("isEmpty", []) => Value::Bool(text.is_empty()),
        ("trim", []) => Value::text(text.trim()),
        ("toUpperCase", []) => Value::text(&text.to_uppercase()),
        ("toLowerCase", []) => Value::text(&text.to_lowercase()),
        ("reverse", []) => Value::Text(text.chars().rev().collect()),
        ("contains", [part]) => Value::Bool(text.contains(part.to_text()?.as_str())),
        ("startsWith", [part]) => Value::Bool(text.starts_with(part.to_text()?.as_str())),
        ("endsWith", [part]) => Value::Bool(text.ends_with(part.to_text()?.as_str())),
        ("concat" | "plus", [more]) => {
            let mut joined = text.clone();
            joined.push_str(&more.to_text()?);
            Value::Text(joined)
        }
        ("replace", [Value::Text(old), Value::Text(new)]) => {
            let count = text.matches(old.as_str()).count();
            if text.len() + count * new.len() > TEXT_BYTES_MAX {
                return Err(too_long());
            }
            Value::text(&text.replace(old.as_str(), new))
        }
        ("indexOf", [Value::Text(part)]) => match text.find(part.as_str()) {
            Some(at) => length(text[..at].chars().count()),
            None => Value::Int(-1),
        },
        ("split", [Value::Text(separator)]) if !separator.is_empty() => Value::list(
            text.split(separator.as_str())
                .map(Value::text)
                .collect::<Vec<_>>(),
        ),
        ("substring", [from]) => substring(text, from, None)?,
        ("substring", [from, to]) => substring(text, from, Some(to))?,
        ("charAt", [place]) => {
            let next = Arithmetic::Add.apply(place, &Value::Int(1))?;
            substring(text, place, Some(&next))?
        }
        ("toInteger" | "toLong" | "toDouble" | "toFloat" | "toBigDecimal", []) => {
            let wrong = |_| {
                QueryError::script(
                    "java.lang.NumberFormatException",
                    format!("For input string: \"{}\"", crate::literals::shortened(text)),
                )
            };
            let text = text.trim();
            match name {
                "toInteger" => Value::Int(text.parse().map_err(|_| wrong(()))?),
                "toLong" => Value::Long(text.parse().map_err(|_| wrong(()))?),
                "toFloat" => Value::Float(text.parse().map_err(|_| wrong(()))?),
                "toDouble" => Value::Double(text.parse().map_err(|_| wrong(()))?),
                _ => {
                    let read = crate::literals::number(&format!("{text}m"), false);
                    let read = read.map_err(|_| wrong(()))?;
                    crate::bind::value(&read, &crate::bind::NoVariables)?
                }
            }
        }
        _ => return Ok(None),
    }))
}

/// The characters from `from` (inclusive) to `to` (exclusive).
fn substring(text: &str, from: &Value, to: Option<&Value>) -> Result<Value, QueryError> {
    let size = text.chars().count();
    let place = |value: &Value| {
        let place = value.as_long().unwrap_or(-1);
        let found = usize::try_from(place).ok().filter(|place| *place <= size);
        found.ok_or_else(|| out_of_bounds(place, size))
    };
    let from = place(from)?;
    let to = to.map(place).transpose()?.unwrap_or(size);
    match to.checked_sub(from) {
        Some(count) => Ok(Value::Text(text.chars().skip(from).take(count).collect())),
        None => Err(out_of_bounds(i64::try_from(to).unwrap_or(-1), size)),
    }
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "Java narrows in the same way"
)]
fn of_number(number: &Value, name: &str, arguments: &[Value]) -> Result<Option<Value>, QueryError> {
    let whole = || {
        number
            .as_long()
            .or_else(|| number.as_f64().map(|x| x as i64))
    };
    let real = || number.as_f64().unwrap_or(f64::NAN);
    Ok(Some(match (name, arguments) {
        ("intValue" | "toInteger", []) => Value::Int(whole().unwrap_or(0) as i32),
        ("longValue" | "toLong", []) => Value::Long(whole().unwrap_or(0)),
        ("doubleValue" | "toDouble", []) => Value::Double(real()),
        ("floatValue" | "toFloat", []) => Value::Float(real() as f32),
        ("abs", []) => match number.compare(&Value::Int(0)) {
            varve_query::value::Comparison::Ordered(std::cmp::Ordering::Less) => {
                Arithmetic::Multiply.apply(number, &Value::Byte(-1))?
            }
            _ => number.clone(),
        },
        ("round", []) => Value::Long(real().round() as i64),
        ("plus", [other]) => Arithmetic::Add.apply(number, other)?,
        ("minus", [other]) => Arithmetic::Subtract.apply(number, other)?,
        _ => return Ok(None),
    }))
}
