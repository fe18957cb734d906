//! The `properties` parameter of queries: a JSON object of values and `P.…` predicates, read as
//! conditions.

use std::borrow::Cow;

use serde::Deserialize as _;
use varve_graph::element::{RawValue, condition_error, convert, convert_condition, wrong_type};
use varve_graph::schema::Schema;
use varve_model::value::{Cardinality, DataType, parse_date};
use varve_model::{Condition, Predicate, PropertyKey, Value};

use super::raw::{PropertiesJson, Raw};
use crate::ApiError;

/// The start of a text that is a predicate.
const CALL: &str = "P.";

/// How the values of a query are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reading {
    /// Texts that begin with `P.` are values, not predicates.
    pub(crate) keep_start_p: bool,
    /// Equality with a property that has several values is refused, since no index answers it;
    /// clients must use containment.
    pub(crate) indexed: bool,
}

/// Reads the conditions of a `properties` parameter.
pub(crate) fn conditions(
    schema: &Schema,
    text: &str,
    reading: Reading,
) -> Result<Vec<Condition>, ApiError> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let Ok(PropertiesJson(members)) = serde_json::from_str(text) else {
        return Err(ApiError::illegal_argument(format!(
            "Invalid request with properties: {text}"
        )));
    };
    members
        .into_iter()
        .map(|(name, value)| condition(schema, &name, value, reading))
        .collect()
}

/// Reads one condition: a value, or a text that is a predicate.
pub(crate) fn condition(
    schema: &Schema,
    name: &str,
    value: RawValue<'_>,
    reading: Reading,
) -> Result<Condition, ApiError> {
    let parsed = match &value {
        RawValue::Text(text) if !reading.keep_start_p && text.starts_with(CALL) => {
            Some(parse(text)?)
        }
        _ => None,
    };
    let key = schema.require_property_key(name)?;
    let predicate = match parsed {
        Some(Asked::Compare(method, bounds)) => comparison(key, method, bounds)?,
        Some(Asked::Within(values)) => {
            let values = values.into_iter().map(|value| member(key, value));
            Predicate::Within(values.collect::<Result<_, _>>()?)
        }
        Some(Asked::TextContains(words)) => text_contains(key, words)?,
        Some(Asked::Contains(value)) => contains(key, value)?,
        None => equality(key, value, reading)?,
    };
    Ok(Condition {
        key: key.id,
        predicate,
    })
}

/// [`condition`], for bodies in which a list means "any of these values".
pub(crate) fn condition_of_any(
    schema: &Schema,
    name: &str,
    value: RawValue<'_>,
    reading: Reading,
) -> Result<Condition, ApiError> {
    let key = schema.require_property_key(name)?;
    match value {
        RawValue::List(values) if key.cardinality == Cardinality::Single => {
            let values = values.into_iter().map(|value| member(key, value));
            Ok(Condition {
                key: key.id,
                predicate: Predicate::Within(values.collect::<Result<_, _>>()?),
            })
        }
        value => condition(schema, name, value, reading),
    }
}

/// The conditions of a right's property and its value or predicate; `None` if they have no meaning.
pub(crate) fn condition_of_right(
    schema: &Schema,
    name: &str,
    value: &serde_json::Value,
) -> Option<Vec<Condition>> {
    let text = value.as_str().unwrap_or_default();
    if let Some(rest) = text.strip_prefix("P.without(") {
        let key = schema.require_property_key(name).ok()?;
        let values = list(rest.strip_suffix(')')?).ok()?;
        let of = |value| {
            Some(Condition {
                key: key.id,
                predicate: Predicate::Neq(member(key, value).ok()?),
            })
        };
        let all: Option<Vec<Condition>> = values.into_iter().map(of).collect();
        // `P.without()` of no values would mean that the property exists, and no condition can
        // express that.
        return all.filter(|all| !all.is_empty());
    }
    let Raw(value) = Raw::deserialize(value).ok()?;
    let reading = Reading {
        keep_start_p: false,
        indexed: false,
    };
    condition(schema, name, value, reading)
        .ok()
        .map(|condition| vec![condition])
}

/// A parsed predicate whose values are not yet converted.
enum Asked<'a> {
    /// A comparison with one or two numbers (dates in milliseconds).
    Compare(Comparison, Vec<RawValue<'a>>),
    Within(Vec<RawValue<'a>>),
    TextContains(RawValue<'a>),
    Contains(RawValue<'a>),
}

#[derive(Clone, Copy)]
enum Comparison {
    Eq,
    Neq,
    Lt,
    Lte,
    Gt,
    Gte,
    Between,
    Inside,
    Outside,
}

fn parse(text: &str) -> Result<Asked<'_>, ApiError> {
    let malformed = || ApiError::huge(format!("Invalid predicate: {text}"));
    let call = text
        .strip_prefix(CALL)
        .and_then(|rest| rest.split_once('('));
    let (method, rest) = call.ok_or_else(malformed)?;
    let arguments = rest.strip_suffix(')').ok_or_else(malformed)?;
    if method.is_empty() || !method.bytes().all(|b| b.is_ascii_lowercase()) {
        return Err(malformed());
    }
    let one = |comparison| Ok(Asked::Compare(comparison, vec![number(arguments)?]));
    let two = |comparison| Ok(Asked::Compare(comparison, numbers(arguments)?));
    match method {
        "eq" => one(Comparison::Eq),
        "neq" => one(Comparison::Neq),
        "lt" => one(Comparison::Lt),
        "lte" => one(Comparison::Lte),
        "gt" => one(Comparison::Gt),
        "gte" => one(Comparison::Gte),
        "between" => two(Comparison::Between),
        "inside" => two(Comparison::Inside),
        "outside" => two(Comparison::Outside),
        "within" => Ok(Asked::Within(list(arguments)?)),
        "textcontains" => Ok(Asked::TextContains(single(arguments)?)),
        "contains" => Ok(Asked::Contains(single(arguments)?)),
        unknown => Err(ApiError::not_supported(format!(
            "Not support predicate '{unknown}'"
        ))),
    }
}

/// A number, or a date (with or without quotes), which becomes its milliseconds.
fn number(argument: &str) -> Result<RawValue<'static>, ApiError> {
    let refused = |shown: &str| ApiError::huge(format!("Invalid value '{shown}', expect a number"));
    match serde_json::from_str::<Raw<'_>>(argument) {
        Ok(Raw(value)) => as_number(&value).ok_or_else(|| refused(&value.to_string())),
        Err(_) => parse_date(argument.trim())
            .map(RawValue::Integer)
            .ok_or_else(|| refused(argument)),
    }
}

fn as_number(value: &RawValue<'_>) -> Option<RawValue<'static>> {
    match value {
        RawValue::Integer(number) => Some(RawValue::Integer(*number)),
        RawValue::Unsigned(number) => Some(RawValue::Unsigned(*number)),
        RawValue::Double(number) => Some(RawValue::Double(*number)),
        RawValue::Text(text) => parse_date(text)
            .or_else(|| text.parse().ok())
            .map(RawValue::Integer)
            .or_else(|| text.parse().ok().map(RawValue::Double)),
        _ => None,
    }
}

fn numbers(arguments: &str) -> Result<Vec<RawValue<'static>>, ApiError> {
    const COUNT: usize = 2;
    let values = list(arguments)?;
    if values.len() != COUNT {
        return Err(ApiError::huge(format!(
            "Invalid numbers size {}, expect {COUNT}",
            values.len()
        )));
    }
    let converted = values.iter().map(|value| {
        as_number(value).ok_or_else(|| {
            ApiError::huge(format!("Invalid value '{value}', expect a list of number"))
        })
    });
    converted.collect()
}

fn list(arguments: &str) -> Result<Vec<RawValue<'static>>, ApiError> {
    match serde_json::from_str::<Raw<'_>>(&format!("[{arguments}]")) {
        Ok(Raw(RawValue::List(items))) => Ok(items.into_iter().map(owned).collect()),
        _ => Err(ApiError::huge(format!(
            "Invalid value '{arguments}', expect a list"
        ))),
    }
}

fn single(argument: &str) -> Result<RawValue<'_>, ApiError> {
    serde_json::from_str::<Raw<'_>>(argument)
        .map(|raw| raw.0)
        .map_err(|_| ApiError::huge(format!("Invalid value '{argument}', expect a single value")))
}

fn owned(value: RawValue<'_>) -> RawValue<'static> {
    match value {
        RawValue::Null => RawValue::Null,
        RawValue::Boolean(flag) => RawValue::Boolean(flag),
        RawValue::Integer(number) => RawValue::Integer(number),
        RawValue::Unsigned(number) => RawValue::Unsigned(number),
        RawValue::Double(number) => RawValue::Double(number),
        RawValue::Text(text) => RawValue::Text(Cow::Owned(text.into_owned())),
        RawValue::Typed { class, text } => RawValue::Typed {
            class,
            text: Cow::Owned(text.into_owned()),
        },
        RawValue::List(items) => RawValue::List(items.into_iter().map(owned).collect()),
        RawValue::Map(members) => RawValue::Map(
            members
                .into_iter()
                .map(|(name, value)| (Cow::Owned(name.into_owned()), owned(value)))
                .collect(),
        ),
    }
}

fn comparison(
    key: &PropertyKey,
    comparison: Comparison,
    bounds: Vec<RawValue<'_>>,
) -> Result<Predicate, ApiError> {
    let mut bounds = bounds.into_iter().map(|bound| member(key, bound));
    let mut next = || {
        bounds
            .next()
            .unwrap_or_else(|| Err(ApiError::huge("Invalid numbers size, expect one more")))
    };
    Ok(match comparison {
        Comparison::Eq => Predicate::Eq(next()?),
        Comparison::Neq => Predicate::Neq(next()?),
        Comparison::Lt => Predicate::Lt(next()?),
        Comparison::Lte => Predicate::Lte(next()?),
        Comparison::Gt => Predicate::Gt(next()?),
        Comparison::Gte => Predicate::Gte(next()?),
        Comparison::Between => Predicate::Between(next()?, next()?),
        Comparison::Inside => Predicate::Inside(next()?, next()?),
        Comparison::Outside => Predicate::Outside(next()?, next()?),
    })
}

fn text_contains(key: &PropertyKey, words: RawValue<'_>) -> Result<Predicate, ApiError> {
    match words {
        RawValue::Text(words) if key.data_type == DataType::Text => {
            Ok(Predicate::TextContains(words.into_owned()))
        }
        other => Err(unfit(key, &other)),
    }
}

fn contains(key: &PropertyKey, value: RawValue<'_>) -> Result<Predicate, ApiError> {
    if key.cardinality == Cardinality::Single {
        return Err(ApiError::illegal_argument(format!(
            "The property '{}' holds one value, so it can't be asked for what it contains",
            key.name
        )));
    }
    Ok(Predicate::Contains(member(key, value)?))
}

fn equality(
    key: &PropertyKey,
    value: RawValue<'_>,
    reading: Reading,
) -> Result<Predicate, ApiError> {
    let is_list = matches!(value, RawValue::List(_));
    if key.cardinality == Cardinality::Single {
        if is_list && key.data_type != DataType::Blob && key.data_type != DataType::Object {
            // No single value equals a list.
            return Ok(Predicate::Within(Vec::new()));
        }
        return Ok(Predicate::Eq(member(key, value)?));
    }
    if reading.indexed {
        return Err(ApiError::illegal_argument(format!(
            "The relation of property '{}' must be CONTAINS or TEXT_CONTAINS, but got EQ",
            key.name
        )));
    }
    let shown = value.to_string();
    let class = value.class_name();
    let converted = convert(key, value);
    Ok(Predicate::Eq(converted.map_err(|error| {
        condition_error(key, &shown, class, error)
    })?))
}

/// A value of the key's data type.
fn member(key: &PropertyKey, value: RawValue<'_>) -> Result<Value, ApiError> {
    Ok(convert_condition(key, value)?)
}

fn unfit(key: &PropertyKey, value: &RawValue<'_>) -> ApiError {
    wrong_type(key, &value.to_string(), value.class_name()).into()
}
