//! Conversions of one value: texts, numbers, truth values, dates.

use super::super::step::{Argument, Step};
use super::super::value::{DAY, SOME_DAY, Value};

/// `None`: the step is none of these.
pub(super) fn converted(step: &Step, value: &Value) -> Option<Value> {
    let is_of_text = matches!(
        step.name,
        "length"
            | "toUpper"
            | "toLower"
            | "trim"
            | "lTrim"
            | "rTrim"
            | "replace"
            | "split"
            | "substring"
    );
    if is_of_text || step.name == "asString" {
        let each = |value: &Value| match (step.name, value) {
            ("asString", value) => Value::Text(value.as_text()),
            (_, Value::Text(text)) => of_text(step, text),
            (_, other) => panic!("{step} of {other:?}"),
        };
        return Some(match value {
            Value::List(values) if step.says("local") => {
                Value::List(values.iter().map(each).collect())
            }
            value => each(value),
        });
    }
    Some(match step.name {
        "reverse" => match value {
            Value::Text(text) => Value::Text(text.chars().rev().collect()),
            other => {
                let mut members = other.members().expect("a list");
                members.reverse();
                Value::List(members)
            }
        },
        "asNumber" => as_number(step, value),
        "asBool" => Value::Bool(match value {
            Value::Bool(value) => *value,
            Value::Text(text) => text == "true",
            number => number.as_f64().expect("a number") != 0.0,
        }),
        "asDate" => Value::Date(match value {
            Value::Date(millis) | Value::Int(millis) | Value::Long(millis) => *millis,
            Value::Text(text) => {
                assert!(text.starts_with("2020-02-28"), "the one date: {text}");
                SOME_DAY
            }
            other => panic!("no date: {other:?}"),
        }),
        "dateAdd" => {
            let [Argument::Word(unit), _] = step.arguments.as_slice() else {
                panic!("{step}")
            };
            let unit = match *unit {
                "DT.day" => DAY,
                "DT.hour" => DAY / 24,
                "DT.minute" => DAY / 1_440,
                _ => DAY / 86_400,
            };
            match value {
                Value::Date(millis) => Value::Date(millis + unit * step.number(1)),
                other => panic!("no date: {other:?}"),
            }
        }
        _ => return None,
    })
}

fn as_number(step: &Step, value: &Value) -> Value {
    let number = match value {
        // A text is the number that it writes.
        Value::Text(text) => match text.parse() {
            Ok(number) => Value::Int(number),
            Err(_) => Value::Double(text.parse().expect("a number")),
        },
        Value::Date(millis) => Value::Long(*millis),
        other => other.clone(),
    };
    let as_double = number.as_f64().expect("a number");
    match step.arguments.first() {
        None => number,
        Some(Argument::Word("GType.INT")) => Value::Int(as_double.trunc() as i64),
        Some(Argument::Word("GType.LONG")) => Value::Long(as_double.trunc() as i64),
        Some(Argument::Word("GType.DOUBLE")) => Value::Double(as_double),
        other => panic!("no test has {other:?}"),
    }
}

fn of_text(step: &Step, text: &str) -> Value {
    let names = step.names();
    Value::Text(match step.name {
        "length" => return Value::Int(text.chars().count() as i64),
        "toUpper" => text.to_uppercase(),
        "toLower" => text.to_lowercase(),
        "trim" => text.trim().to_owned(),
        "lTrim" => text.trim_start().to_owned(),
        "rTrim" => text.trim_end().to_owned(),
        "replace" => text.replace(names[0], names[1]),
        "split" => {
            let parts: Vec<String> = match names[0] {
                "" => text.chars().map(String::from).collect(),
                separator => text.split(separator).map(str::to_owned).collect(),
            };
            return Value::List(parts.into_iter().map(Value::Text).collect());
        }
        "substring" => {
            let count = text.chars().count() as i64;
            let place = |at: i64| match at {
                // From the end.
                at if at < 0 => (count + at).max(0),
                at => at.min(count),
            };
            let bounds: Vec<i64> = step
                .rest()
                .iter()
                .map(|argument| match argument {
                    Argument::Value(Value::Int(at)) => place(*at),
                    other => panic!("{step}: {other}"),
                })
                .collect();
            let to = bounds.get(1).copied().unwrap_or(count);
            let kept = text
                .chars()
                .zip(0..)
                .filter(|(_, at)| (bounds[0]..to).contains(at));
            kept.map(|(letter, _)| letter).collect()
        }
        other => unreachable!("{other} is of no text"),
    })
}
