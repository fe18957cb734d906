//! Steps over texts and numbers.

use std::sync::Arc;

use varve_query::plan::{Function, Op};
use varve_query::value::{Size, TEXT_BYTES_MAX, too_long};
use varve_query::{QueryError, Value};

use super::Binder;
use super::arguments::scoped;
use crate::tree::{Step, StepName};
use varve_query::plan::Scope;

/// The steps of this module.
const STEPS: &[StepName] = &[
    StepName::AsString,
    StepName::Length,
    StepName::LTrim,
    StepName::RTrim,
    StepName::Replace,
    StepName::Reverse,
    StepName::Split,
    StepName::Substring,
    StepName::ToLower,
    StepName::ToUpper,
    StepName::Trim,
];

impl Binder<'_> {
    /// Binds a step over texts; `None` for other steps.
    pub(super) fn string_step(&self, step: &Step) -> Result<Option<Op>, QueryError> {
        if !STEPS.contains(&step.name) {
            return Ok(None);
        }
        let (scope, arguments) = scoped(step);
        let arguments = self.values(arguments)?;
        let text = |at: usize| match arguments.get(at) {
            Some(Value::Text(text)) => text.to_string(),
            _ => String::new(),
        };
        let of_text =
            |make: Box<dyn Fn(&str) -> Value + Send + Sync>| texts(step.name.text(), scope, make);
        Ok(Some(match step.name {
            StepName::ToUpper => of_text(Box::new(|text| Value::text(&text.to_uppercase()))),
            StepName::ToLower => of_text(Box::new(|text| Value::text(&text.to_lowercase()))),
            StepName::Trim => of_text(Box::new(|text| Value::text(text.trim()))),
            StepName::LTrim => of_text(Box::new(|text| Value::text(text.trim_start()))),
            StepName::RTrim => of_text(Box::new(|text| Value::text(text.trim_end()))),
            StepName::Length => of_text(Box::new(|text| {
                Value::Int(i32::try_from(text.chars().count()).unwrap_or(i32::MAX))
            })),
            StepName::Replace => {
                let (from, to) = (text(0), text(1));
                if to.len() > from.len().max(1) * 64 {
                    return Err(QueryError::invalid(
                        "replace() may make a text at most 64 times as long",
                    ));
                }
                // As in the reference, an empty or missing text is found nowhere.
                let finds = !from.is_empty() && !arguments.iter().any(Value::is_null);
                of_text(Box::new(move |text| match finds {
                    true => Value::text(&text.replace(&from, &to)),
                    false => Value::text(text),
                }))
            }
            StepName::Split => {
                let at_spaces = arguments.first().is_some_and(Value::is_null);
                let separator = text(0);
                of_text(Box::new(move |text| match at_spaces {
                    true => Value::list(text.split_whitespace().map(Value::text).collect()),
                    false => split(text, &separator),
                }))
            }
            StepName::Substring => {
                let bound = |at: usize| arguments.get(at).and_then(Value::as_long);
                let (from, to) = (bound(0).unwrap_or(0), bound(1));
                of_text(Box::new(move |text| substring(text, from, to)))
            }
            StepName::AsString => as_string(scope),
            StepName::Reverse => reverse(),
            _ => return Ok(None),
        }))
    }
}

/// A function of a text; in local scope, of each text of a list, a set or a path.
fn texts(name: &'static str, scope: Scope, make: Box<dyn Fn(&str) -> Value + Send + Sync>) -> Op {
    let refused = move |value: &Value| {
        let takes = match scope {
            Scope::Global => "() step can only take string as argument",
            Scope::Local => "(local) step can only take string or list of strings",
        };
        let class = value.type_name();
        QueryError::invalid(format!("The {name}{takes}, encountered {class}"))
    };
    let of = move |value: &Value| match value {
        Value::Null => Ok(Value::Null),
        Value::Text(text) => sized(make(text)),
        other => Err(refused(other)),
    };
    Op::Function(Function {
        name,
        apply: Arc::new(move |value| {
            let members = members(value).filter(|_| scope == Scope::Local);
            members
                .map_or_else(|| of(value), |members| each(members, &of))
                .map(Some)
        }),
    })
}

/// The members of a list, a set or a path; `None` for other values.
fn members(value: &Value) -> Option<Box<dyn Iterator<Item = &Value> + '_>> {
    match value {
        Value::List(items) => Some(Box::new(items.iter())),
        Value::Set(items) => Some(Box::new(items.iter())),
        Value::Path(path) => Some(Box::new(path.objects.iter())),
        _ => None,
    }
}

/// A list of what `make` makes of each member. Ends before it exceeds the bounds of a value.
fn each<'v>(
    members: impl Iterator<Item = &'v Value>,
    make: &dyn Fn(&Value) -> Result<Value, QueryError>,
) -> Result<Value, QueryError> {
    let mut made = Vec::new();
    let mut size = Size::default();
    for member in members {
        let value = make(member)?;
        size = size.plus(value.size()?);
        size.check()?;
        made.push(value);
    }
    Ok(Value::list(made))
}

/// Checks the length of a text.
fn sized(value: Value) -> Result<Value, QueryError> {
    match &value {
        Value::Text(text) if text.len() > TEXT_BYTES_MAX => Err(too_long()),
        _ => Ok(value),
    }
}

fn split(text: &str, separator: &str) -> Value {
    let parts: Vec<Value> = match separator {
        "" => text
            .chars()
            .map(|c| Value::text(c.encode_utf8(&mut [0; 4])))
            .collect(),
        separator => text.split(separator).map(Value::text).collect(),
    };
    Value::list(parts)
}

/// The characters from `from` (inclusive) to `to` (exclusive). Negative positions count from the
/// end.
fn substring(text: &str, from: i64, to: Option<i64>) -> Value {
    let count = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
    let place = |at: i64| {
        if at < 0 {
            (count + at).max(0)
        } else {
            at.min(count)
        }
    };
    let (from, to) = (place(from), to.map_or(count, place));
    let from = usize::try_from(from).unwrap_or(0);
    let to = usize::try_from(to).unwrap_or(0);
    let taken = text.chars().skip(from).take(to.saturating_sub(from));
    Value::text(&taken.collect::<String>())
}

/// `asString()`; in local scope, of each member of a list, a set or a path.
fn as_string(scope: Scope) -> Op {
    let text = |value: &Value| match value {
        Value::Null => Err(QueryError::invalid("Can't parse null as String.")),
        value => value.to_text().map(Value::Text),
    };
    Op::Function(Function {
        name: "asString",
        apply: Arc::new(move |value| {
            let members = members(value).filter(|_| scope == Scope::Local);
            members
                .map_or_else(|| text(value), |members| each(members, &text))
                .map(Some)
        }),
    })
}

/// `reverse()` of a text, or as a list of a list, a set or a path. Other values stay as they are.
fn reverse() -> Op {
    Op::Function(Function {
        name: "reverse",
        apply: Arc::new(|value| {
            if let Value::Text(text) = value {
                return Ok(Some(Value::text(&text.chars().rev().collect::<String>())));
            }
            let reversed = |members: Box<dyn Iterator<Item = &Value> + '_>| {
                let mut items: Vec<Value> = members.cloned().collect();
                items.reverse();
                Value::list(items)
            };
            Ok(Some(members(value).map_or_else(|| value.clone(), reversed)))
        }),
    })
}
