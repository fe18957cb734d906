//! Functions of strings. Positions and lengths count characters.

use super::{Function, Returns, Types, bad_value, integer};
use crate::error::{CypherError, Outcome, argument_error};
use crate::expression::Frame;
use crate::value::Value;

/// Bytes of a short text with its place in a list.
const PART_BYTES: usize = 48;

const S: Types = Types::STRING;
const I: Types = Types::INTEGER;
const TEXT: Returns = Returns::One(Types::STRING);
const NUMBER: Returns = Returns::One(Types::INTEGER);

pub(super) const TABLE: &[Function] = &[
    Function::new("toUpper", &[S], TEXT, upper),
    Function::new("upper", &[S], TEXT, upper),
    Function::new("toLower", &[S], TEXT, lower),
    Function::new("lower", &[S], TEXT, lower),
    Function::new("trim", &[S], TEXT, |values, _| trimmed(values, true, true)),
    Function::new("btrim", &[S, S], TEXT, |values, _| {
        trimmed(values, true, true)
    })
    .required(1),
    Function::new("ltrim", &[S, S], TEXT, |values, _| {
        trimmed(values, true, false)
    })
    .required(1),
    Function::new("rtrim", &[S, S], TEXT, |values, _| {
        trimmed(values, false, true)
    })
    .required(1),
    Function::new("left", &[S, I], TEXT, |values, _| {
        let (text, count) = text_and_count(values)?;
        Ok(Value::string(text.chars().take(count).collect::<String>()))
    }),
    Function::new("right", &[S, I], TEXT, |values, _| {
        let (text, count) = text_and_count(values)?;
        let skipped = text.chars().count().saturating_sub(count);
        Ok(Value::string(
            text.chars().skip(skipped).collect::<String>(),
        ))
    }),
    Function::new("substring", &[S, I, I], TEXT, substring).required(2),
    Function::new("replace", &[S, S, S], TEXT, replace),
    Function::new(
        "split",
        &[S, S.or(Types::LIST)],
        Returns::ListOf(Types::STRING),
        split,
    ),
    Function::new("char_length", &[S], NUMBER, length),
    Function::new("character_length", &[S], NUMBER, length),
];

/// The first argument, a string.
fn text(values: &[Value]) -> Outcome<&str> {
    match values {
        [Value::String(text), ..] => Ok(text),
        _ => Err(bad_value("STRING", values.first())),
    }
}

fn negative() -> CypherError {
    argument_error("NumberOutOfRange", "a length or a position is negative")
}

fn count(value: Option<&Value>) -> Outcome<usize> {
    match value {
        Some(Value::Integer(number)) => usize::try_from(*number).map_err(|_| negative()),
        other => Err(bad_value("INTEGER", other)),
    }
}

fn text_and_count(values: &[Value]) -> Outcome<(&str, usize)> {
    Ok((text(values)?, count(values.get(1))?))
}

fn upper(values: &[Value], _: &Frame<'_>) -> Outcome<Value> {
    Ok(Value::string(text(values)?.to_uppercase()))
}

fn lower(values: &[Value], _: &Frame<'_>) -> Outcome<Value> {
    Ok(Value::string(text(values)?.to_lowercase()))
}

fn length(values: &[Value], _: &Frame<'_>) -> Outcome<Value> {
    Ok(integer(text(values)?.chars().count()))
}

/// Without white space, or the given characters, at the start or the end.
fn trimmed(values: &[Value], start: bool, end: bool) -> Outcome<Value> {
    let mut rest = text(values)?;
    let set = match values.get(1) {
        None => None,
        Some(_) => Some(text(&values[1..])?),
    };
    let drops = |c: char| set.map_or(c.is_whitespace(), |set| set.contains(c));
    if start {
        rest = rest.trim_start_matches(drops);
    }
    if end {
        rest = rest.trim_end_matches(drops);
    }
    Ok(Value::string(rest))
}

fn substring(values: &[Value], _: &Frame<'_>) -> Outcome<Value> {
    let (text, from) = text_and_count(values)?;
    let length = match values.get(2) {
        None => usize::MAX,
        length => count(length)?,
    };
    Ok(Value::string(
        text.chars().skip(from).take(length).collect::<String>(),
    ))
}

fn replace(values: &[Value], frame: &Frame<'_>) -> Outcome<Value> {
    let [Value::String(text), Value::String(from), Value::String(to)] = values else {
        return Err(bad_value(
            "STRING",
            values.iter().find(|v| !matches!(v, Value::String(_))),
        ));
    };
    // An empty text is found between all characters.
    let finds = text.len().saturating_add(1);
    let most = finds.saturating_mul(to.len()).saturating_add(text.len());
    if most > (1 << 20) {
        let finds = text.matches(&**from).count();
        let bytes = finds.saturating_mul(to.len()).saturating_add(text.len());
        frame.graph.room(bytes)?;
    }
    Ok(Value::string(text.replace(&**from, to)))
}

fn split(values: &[Value], frame: &Frame<'_>) -> Outcome<Value> {
    let text = text(values)?;
    let delimiters = match values.get(1) {
        Some(Value::String(one)) => vec![one.to_string()],
        Some(Value::List(all)) if all.iter().any(Value::is_null) => return Ok(Value::Null),
        Some(Value::List(all)) => {
            let strings = all.iter().map(|one| match one {
                Value::String(one) => Ok(one.to_string()),
                other => Err(bad_value("STRING", Some(other))),
            });
            strings.collect::<Outcome<Vec<String>>>()?
        }
        other => return Err(bad_value("STRING", other)),
    };
    if delimiters.iter().any(String::is_empty) {
        let bytes = text.chars().count().saturating_mul(PART_BYTES);
        frame.graph.room(bytes)?;
        let characters = text.chars().map(|c| Value::string(c.to_string()));
        return Ok(Value::list(characters.collect()));
    }
    // The first delimiter in the text ends a part; of two at one place, the first given. A place
    // that lies ahead stays known, so that each delimiter is looked for once.
    let find = |one: &str, from: usize| {
        let found = text.get(from..).and_then(|rest| rest.find(one));
        found.map_or(usize::MAX, |at| from + at)
    };
    let mut places: Vec<usize> = delimiters.iter().map(|one| find(one, 0)).collect();
    let (mut parts, mut from) = (Vec::new(), 0);
    loop {
        let next = places.iter().zip(&delimiters).min_by_key(|(at, _)| **at);
        let Some((at, width)) = next.map(|(at, one)| (*at, one.len())) else {
            break;
        };
        if at == usize::MAX {
            break;
        }
        frame.graph.room(PART_BYTES + at - from)?;
        parts.push(Value::string(text.get(from..at).unwrap_or_default()));
        from = at + width;
        for (place, one) in places.iter_mut().zip(&delimiters) {
            if *place < from {
                *place = find(one, from);
            }
        }
    }
    parts.push(Value::string(text.get(from..).unwrap_or_default()));
    Ok(Value::list(parts))
}
