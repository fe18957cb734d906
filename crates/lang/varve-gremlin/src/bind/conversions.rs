//! Steps that convert values: `concat`, `format`, `asNumber`, `asBool`, dates.

use std::sync::Arc;

use varve_query::plan::{FormatPart, Function, Op};
use varve_query::value::number::{NumberType, converted};
use varve_query::value::{DateTime, TextBuilder};
use varve_query::{QueryError, Value};

use super::Binder;
use super::arguments::{first, instant_of};
use super::lists::combination;
use crate::tree::{self, Argument, Dt, GType, Step, StepName};

impl Binder<'_> {
    /// Binds a step that converts values; `None` for other steps.
    pub(super) fn conversion(
        &self,
        step: &Step,
        behind: &[Step],
    ) -> Result<Option<Op>, QueryError> {
        Ok(Some(match step.name {
            StepName::Concat => self.concat(&step.arguments)?,
            StepName::Format => Op::Format {
                parts: format_parts(&self.name(first(step)?)?),
                by: self.bys(behind)?,
            },
            StepName::AsNumber => {
                let wanted = match step.arguments.first() {
                    Some(Argument::GType(wanted)) => Some(number_type(*wanted)?),
                    _ => None,
                };
                function("asNumber", move |value| as_number(value, wanted))
            }
            StepName::AsBool => function("asBool", as_bool),
            StepName::AsDate => function("asDate", as_date),
            StepName::DateAdd => {
                let [Argument::Dt(unit), count] = step.arguments.as_slice() else {
                    return Err(QueryError::invalid("dateAdd() needs a unit and a number"));
                };
                let (unit, count) = (*unit, self.value(count)?.as_long().unwrap_or_default());
                function("dateAdd", move |value| date_add(value, unit, count))
            }
            StepName::DateDiff => match first(step)? {
                Argument::Traversal(child) => {
                    let children = vec![self.plan(&child.steps)?];
                    combination("dateDiff", children, |value, results| {
                        date_diff(value, results.first().unwrap_or(&Value::Null))
                    })
                }
                other => {
                    let other = self.value(other)?;
                    function("dateDiff", move |value| date_diff(value, &other))
                }
            },
            _ => return Ok(None),
        }))
    }

    /// Binds `concat()`: texts and first results of children, concatenated. Null is skipped.
    fn concat(&self, arguments: &[Argument]) -> Result<Op, QueryError> {
        let mut children = Vec::new();
        let mut constants = Vec::new();
        for argument in arguments {
            match argument {
                Argument::Traversal(child) => children.push(self.plan(&child.steps)?),
                other => constants.push(self.value(other)?),
            }
        }
        Ok(combination("concat", children, move |value, results| {
            let mut text: Option<TextBuilder> = None;
            for part in std::iter::once(value).chain(&constants).chain(results) {
                match part {
                    Value::Null => {}
                    Value::Text(part) => text.get_or_insert_default().push(part)?,
                    other => {
                        return Err(QueryError::invalid(format!(
                            "String concat() can only take string as argument, encountered {}",
                            class_of(other)
                        )));
                    }
                }
            }
            Ok(text.map_or(Value::Null, |text| Value::Text(text.finish())))
        }))
    }
}

fn function(
    name: &'static str,
    apply: impl Fn(&Value) -> Result<Value, QueryError> + Send + Sync + 'static,
) -> Op {
    let apply = Arc::new(move |value: &Value| apply(value).map(Some));
    Op::Function(Function { name, apply })
}

/// The Java class name of a value.
fn class_of(value: &Value) -> &'static str {
    match value {
        Value::List(_) => "ArrayList",
        Value::Set(_) => "LinkedHashSet",
        Value::Map(_) => "LinkedHashMap",
        other => other.type_name(),
    }
}

/// Splits a format text at its variables: `%{name}`, and `%{_}` for the value of the next `by`.
fn format_parts(text: &str) -> Vec<FormatPart> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, (variable, after))) = rest
        .split_once("%{")
        .and_then(|(before, behind)| Some((before, behind.split_once('}')?)))
    {
        if !before.is_empty() {
            parts.push(FormatPart::Text(before.into()));
        }
        parts.push(match variable {
            "_" => FormatPart::Next,
            name => FormatPart::Variable(name.into()),
        });
        rest = after;
    }
    if !rest.is_empty() || parts.is_empty() {
        parts.push(FormatPart::Text(rest.into()));
    }
    parts
}

fn number_type(wanted: GType) -> Result<NumberType, QueryError> {
    Ok(match wanted {
        GType::Byte => NumberType::Byte,
        GType::Short => NumberType::Short,
        GType::Int => NumberType::Int,
        GType::Long => NumberType::Long,
        GType::BigInt => NumberType::BigInt,
        GType::Float => NumberType::Float,
        GType::Double => NumberType::Double,
        GType::BigDecimal => NumberType::BigDecimal,
        other => {
            return Err(QueryError::invalid(format!(
                "asNumber() requires a numeric type token, got {other}"
            )));
        }
    })
}

fn as_number(value: &Value, wanted: Option<NumberType>) -> Result<Value, QueryError> {
    let number = match value {
        Value::Null => return Ok(Value::Null),
        Value::Text(text) => varve_query::value::number::parsed(text).ok_or_else(|| {
            let text: String = text.chars().take(100).collect();
            QueryError::invalid(format!("Can't parse string '{text}' as number."))
        })?,
        Value::DateTime(instant) => Value::Long(instant.millis()),
        number if number.is_number() => number.clone(),
        other => {
            return Err(QueryError::invalid(format!(
                "Can't parse type {} as number.",
                class_of(other)
            )));
        }
    };
    match wanted {
        Some(wanted) => converted(&number, wanted),
        None => Ok(number),
    }
}

fn as_bool(value: &Value) -> Result<Value, QueryError> {
    let refused = |what: &str| QueryError::invalid(format!("Can't parse {what} as Boolean."));
    Ok(Value::Bool(match value {
        Value::Bool(value) => *value,
        Value::Text(text) if text.eq_ignore_ascii_case("true") => true,
        Value::Text(text) if text.eq_ignore_ascii_case("false") => false,
        Value::Text(text) => return Err(refused(&text.chars().take(100).collect::<String>())),
        number if number.is_number() => {
            let is_nan = matches!(number, Value::Double(value) if value.is_nan())
                || matches!(number, Value::Float(value) if value.is_nan());
            !is_nan && !number.equals(&Value::Int(0))
        }
        Value::Null => return Err(refused("null")),
        other => return Err(refused(class_of(other))),
    }))
}

fn as_date(value: &Value) -> Result<Value, QueryError> {
    let refused =
        |what: &str| QueryError::invalid(format!("Can't parse {what} as OffsetDateTime."));
    Ok(Value::DateTime(match value {
        Value::DateTime(instant) => *instant,
        Value::Text(text) => {
            let text: String = text.chars().take(100).collect();
            let read = tree::DateTime::from_text(&text).ok_or_else(|| refused(&text))?;
            instant_of(read)?
        }
        Value::BigInt(number) => match i64::try_from(number.as_ref()) {
            Ok(millis) => DateTime::of_millis(millis),
            Err(_) => return Err(refused(class_of(value))),
        },
        other => match other.as_long() {
            Some(millis) => DateTime::of_millis(millis),
            None => return Err(refused(class_of(other))),
        },
    }))
}

fn date_add(value: &Value, unit: Dt, count: i64) -> Result<Value, QueryError> {
    let Value::DateTime(instant) = value else {
        return Err(QueryError::invalid(format!(
            "dateAdd() step can only take OffsetDateTime as argument, encountered {}",
            class_of(value)
        )));
    };
    let seconds: i64 = match unit {
        Dt::Second => 1,
        Dt::Minute => 60,
        Dt::Hour => 3_600,
        Dt::Day => 86_400,
    };
    let millis = seconds.checked_mul(1_000);
    let millis = millis.and_then(|millis| millis.checked_mul(count));
    let sum = millis.and_then(|millis| instant.plus_millis(millis));
    let sum = sum.ok_or_else(|| QueryError::invalid("The date is out of range"))?;
    Ok(Value::DateTime(sum))
}

/// The second date subtracted from the first, in milliseconds. A null second date is 1970.
fn date_diff(value: &Value, other: &Value) -> Result<Value, QueryError> {
    let millis = |value: &Value| match value {
        Value::DateTime(instant) => Ok(instant.millis()),
        Value::Null => Ok(0),
        other => Err(QueryError::invalid(format!(
            "dateDiff() step can only take OffsetDateTime as argument, encountered {}",
            class_of(other)
        ))),
    };
    if value.is_null() {
        return Err(QueryError::invalid(
            "dateDiff() step can only take OffsetDateTime as argument, encountered null",
        ));
    }
    Ok(Value::Long(millis(value)?.saturating_sub(millis(other)?)))
}
