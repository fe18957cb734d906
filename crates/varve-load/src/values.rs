//! Values of columns as JSON, in the types of the property keys.

use std::borrow::Cow;

use serde_json::Value as Json;
use varve_files::{Decimal, millis_of};
use varve_model::DataType;
use varve_model::id::escape_into;
use varve_model::sortable::join_key_values;
use varve_model::value::{Uuid, Value, nearest_float};

use crate::catalogue::Key;
use crate::mapping::Source;

/// A property's value as JSON. Texts of CSV are converted to the type of the property key.
pub(crate) fn property(
    value: &Json,
    key: Key,
    (source, column): (&Source, &str),
) -> Result<Json, String> {
    let one = |value| scalar(value, key.data_type, (source, column)).map(Cow::into_owned);
    if !key.is_list() {
        return one(value);
    }
    let members: Vec<Json> = match value {
        Json::Array(members) => members.clone(),
        Json::String(text) => {
            let inner = text
                .strip_prefix('[')
                .and_then(|text| text.strip_suffix(']'));
            let parts = inner.unwrap_or(text).split(&source.list_separator);
            parts.map(|part| Json::from(part.trim())).collect()
        }
        other => vec![other.clone()],
    };
    let members: Result<Vec<Json>, String> = members.iter().map(one).collect();
    members.map(Json::Array)
}

/// A value of this column as JSON.
pub(crate) fn scalar<'a>(
    value: &'a Json,
    data_type: DataType,
    (source, column): (&Source, &str),
) -> Result<Cow<'a, Json>, String> {
    if data_type == DataType::Date {
        let millis = millis_of(value, source.dates(column))?;
        return Ok(Cow::Owned(Json::from(millis)));
    }
    let fits = |number: i64| match data_type {
        DataType::Byte => i8::try_from(number).is_ok(),
        DataType::Int => i32::try_from(number).is_ok(),
        _ => true,
    };
    let too_large = |number: &dyn std::fmt::Display| {
        let (name, bits) = (
            data_type.name(),
            if data_type == DataType::Byte { 8 } else { 32 },
        );
        format!("{number} is no {name}, which has {bits} bits")
    };
    let Json::String(text) = value else {
        if value.as_i64().is_some_and(|number| !fits(number)) {
            return Err(too_large(value));
        }
        let is_text = data_type == DataType::Text && (value.is_number() || value.is_boolean());
        return Ok(match is_text {
            true => Cow::Owned(Json::from(value.to_string())),
            false => Cow::Borrowed(value),
        });
    };
    let wrong = |expected: &str| format!("'{text}' is not {expected}");
    let read = match data_type {
        DataType::Byte | DataType::Int | DataType::Long => text
            .trim()
            .parse::<i64>()
            .map_err(|_| wrong("a whole number"))
            .and_then(|number| match fits(number) {
                true => Ok(Json::from(number)),
                false => Err(too_large(&number)),
            }),
        DataType::Float | DataType::Double => {
            let number = source.decimal.real(text);
            number.ok_or_else(|| match source.decimal {
                Decimal::Point => wrong("a number"),
                Decimal::Comma => wrong("a number with a decimal comma"),
            })
        }
        DataType::Boolean => match text.trim().to_ascii_lowercase().as_str() {
            "true" => Ok(Json::Bool(true)),
            "false" => Ok(Json::Bool(false)),
            _ => Err(wrong("true or false")),
        },
        DataType::Object => serde_json::from_str(text).map_err(|_| wrong("JSON")),
        DataType::Text | DataType::Blob | DataType::Date | DataType::Uuid => {
            return Ok(Cow::Borrowed(value));
        }
    };
    read.map(Cow::Owned)
}

/// The id of a vertex of a label with custom ids.
pub(crate) fn custom_id<'a>(
    value: &'a Json,
    strategy: &str,
    column: &str,
) -> Result<Cow<'a, Json>, String> {
    match strategy {
        "CUSTOMIZE_UUID" => match value.as_str().and_then(Uuid::parse) {
            Some(uuid) => Ok(Cow::Owned(Json::from(uuid.to_string()))),
            None => Err(format!("column '{column}': {value} is not a UUID")),
        },
        "CUSTOMIZE_STRING" => match value {
            Json::String(_) => Ok(Cow::Borrowed(value)),
            other => Ok(Cow::Owned(Json::from(other.to_string()))),
        },
        "PRIMARY_KEY" => Err(format!(
            "the label's ids come from its primary keys; take `id = \"{column}\"` out of the mapping"
        )),
        _ => match value {
            Json::String(text) => text
                .trim()
                .parse::<i64>()
                .map(|id| Cow::Owned(Json::from(id)))
                .map_err(|_| format!("column '{column}': '{text}' is not a whole number")),
            other if other.is_i64() => Ok(Cow::Borrowed(other)),
            other => Err(format!(
                "column '{column}': {other} is not a whole number of 64 bits"
            )),
        },
    }
}

/// The id of a vertex with these primary keys.
pub(crate) fn key_id(label: i64, keys: &[Value]) -> String {
    let mut id = format!("{label}:");
    escape_into(&join_key_values(keys), ':', &mut id);
    id
}

/// A value of a primary key.
pub(crate) fn key_value(value: &Json, data_type: DataType) -> Result<Value, String> {
    let wrong = || format!("{value} is not a value of a {data_type:?} key");
    let whole = || value.as_i64().ok_or_else(wrong);
    let real = || value.as_f64().ok_or_else(wrong);
    let text = || value.as_str().ok_or_else(wrong);
    Ok(match data_type {
        DataType::Byte | DataType::Int | DataType::Long => Value::Long(whole()?),
        DataType::Date => Value::Date(whole()?),
        DataType::Float => Value::Float(nearest_float(real()?)),
        DataType::Double => Value::Double(real()?),
        DataType::Boolean => Value::Boolean(value.as_bool().ok_or_else(wrong)?),
        DataType::Uuid => Value::Uuid(Uuid::parse(text()?).ok_or_else(wrong)?.0),
        DataType::Text => Value::Text(text()?.to_owned()),
        DataType::Blob | DataType::Object => return Err(wrong()),
    })
}
