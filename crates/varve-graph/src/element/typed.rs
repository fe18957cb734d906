//! Values with their types: the form of values in dumps of open graphs, which an open graph in mode
//! RESTORING accepts.
//!
//! Texts and truth values have their plain form. Every other value is an object with one member,
//! whose name is the type.

use base64::Engine as _;
use varve_model::many::{Many, Numbered};
use varve_model::value::{DateTime, Duration, Uuid};
use varve_model::{DataType, Decimal, Properties, PropertyKey, PropertyKeyId, Value, VertexId};

use super::convert::{narrowed, special_number};
use super::input::RawValue;
use super::vertex;
use crate::GraphError;
use crate::schema::Schema;

/// Converts `raw` to a value of `key`.
///
/// # Errors
/// [`crate::ErrorKind::InvalidArgument`] for another form, and for a value of another type than the
/// key's.
pub(super) fn convert(
    schema: &Schema,
    key: &PropertyKey,
    raw: RawValue<'_>,
) -> Result<Value, GraphError> {
    let shown = raw.to_string();
    let takes = |value: &Value| {
        key.data_type == DataType::Object
            || match value {
                Value::Many(many) => many
                    .values()
                    .iter()
                    .all(|one| one.value.data_type() == key.data_type),
                one => one.data_type() == key.data_type,
            }
    };
    value(schema, raw).filter(takes).ok_or_else(|| {
        GraphError::invalid(format!(
            "Invalid property value '{shown}' for key '{}', expect a value of type {} with its type",
            key.name, key.data_type
        ))
    })
}

/// Converts `raw` to a vertex id.
///
/// # Errors
/// As [`vertex::vertex_id`].
pub(super) fn vertex_id(schema: &Schema, raw: RawValue<'_>) -> Result<VertexId, GraphError> {
    match raw {
        RawValue::Map(_) => {
            let shown = raw.to_string();
            match value(schema, raw) {
                Some(Value::Uuid(uuid)) => Ok(VertexId::Uuid(uuid)),
                _ => Err(GraphError::invalid(format!("Invalid vertex id '{shown}'"))),
            }
        }
        plain => vertex::vertex_id(&plain),
    }
}

fn value(schema: &Schema, raw: RawValue<'_>) -> Option<Value> {
    let members = match raw {
        RawValue::Text(text) => return Some(Value::Text(text.into_owned())),
        RawValue::Boolean(flag) => return Some(Value::Boolean(flag)),
        RawValue::Map(members) => members,
        _ => return None,
    };
    let [(name, raw)] = <[_; 1]>::try_from(members).ok()?;
    Some(match &*name {
        "BYTE" => Value::Byte(integer(&raw)?.try_into().ok()?),
        "SHORT" => Value::Short(integer(&raw)?.try_into().ok()?),
        "INT" => Value::Int(integer(&raw)?.try_into().ok()?),
        "LONG" => Value::Long(integer(&raw)?),
        "FLOAT" => Value::Float(float(&raw)?),
        "DOUBLE" => Value::Double(double(&raw)?),
        "DATE" => Value::Date(integer(&raw)?),
        "UUID" => Value::Uuid(Uuid::parse(text(&raw)?)?.0),
        "BLOB" => {
            let base64 = base64::engine::general_purpose::STANDARD;
            Value::Blob(base64.decode(text(&raw)?).ok()?)
        }
        "OBJECT" => Value::Object(Box::new(raw.into_datum())),
        "LIST" => Value::List(values(schema, raw)?),
        "SET" => Value::Set(values(schema, raw)?),
        "BIG_INTEGER" => {
            // Reading a number takes the square of its length.
            let digits = text(&raw)?;
            let is_short = digits.len() as u64 <= Decimal::DIGITS_MAX + 1;
            Value::BigInt(Box::new(is_short.then(|| digits.parse().ok())??))
        }
        "BIG_DECIMAL" => {
            let [digits, scale] = items(raw)?;
            let exponent = integer(&scale)?.checked_neg()?;
            let written = format!("{}E{exponent}", text(&digits)?);
            Value::BigDecimal(Box::new(Decimal::parse(&written)?))
        }
        "CHAR" => {
            let mut all = text(&raw)?.chars();
            let one = all.next()?;
            all.next().is_none().then_some(Value::Char(one))?
        }
        "DATE_TIME" => {
            let [micros, offset] = items(raw)?;
            Value::DateTime(DateTime {
                micros: integer(&micros)?,
                offset: integer(&offset)?.try_into().ok()?,
            })
        }
        "DURATION" => {
            let [seconds, nanos] = items(raw)?;
            Value::Duration(Duration {
                seconds: integer(&seconds)?,
                nanos: integer(&nanos)?
                    .try_into()
                    .ok()
                    .filter(|it| *it < 1_000_000_000)?,
            })
        }
        "MAP" => Value::Map(entries(schema, raw)?),
        "MANY" => Value::Many(Box::new(many(schema, raw)?)),
        _ => return None,
    })
}

fn integer(raw: &RawValue<'_>) -> Option<i64> {
    match raw {
        RawValue::Integer(number) => Some(*number),
        _ => None,
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a dump writes whole numbers that are doubles"
)]
fn double(raw: &RawValue<'_>) -> Option<f64> {
    match raw {
        RawValue::Double(number) => Some(*number),
        RawValue::Integer(number) => Some(*number as f64),
        RawValue::Unsigned(number) => Some(*number as f64),
        RawValue::Text(text) => special_number(text),
        _ => None,
    }
}

/// Reads a FLOAT, of which a dump writes the double that it is.
fn float(raw: &RawValue<'_>) -> Option<f32> {
    double(raw).and_then(narrowed)
}

fn text<'r>(raw: &'r RawValue<'_>) -> Option<&'r str> {
    match raw {
        RawValue::Text(text) => Some(text),
        _ => None,
    }
}

fn items<const N: usize>(raw: RawValue<'_>) -> Option<[RawValue<'_>; N]> {
    match raw {
        RawValue::List(items) => items.try_into().ok(),
        _ => None,
    }
}

fn values(schema: &Schema, raw: RawValue<'_>) -> Option<Vec<Value>> {
    match raw {
        RawValue::List(items) => items.into_iter().map(|item| value(schema, item)).collect(),
        _ => None,
    }
}

fn entries(schema: &Schema, raw: RawValue<'_>) -> Option<Vec<(Value, Value)>> {
    let RawValue::List(all) = raw else {
        return None;
    };
    let entry = |raw| {
        let [key, of_key] = items(raw)?;
        Some((value(schema, key)?, value(schema, of_key)?))
    };
    all.into_iter().map(entry).collect()
}

fn many(schema: &Schema, raw: RawValue<'_>) -> Option<Many> {
    let RawValue::List(all) = raw else {
        return None;
    };
    let one = |raw| {
        let [number, of_number, meta] = items(raw)?;
        Some(Numbered {
            number: integer(&number)?.try_into().ok()?,
            value: value(schema, of_number)?,
            meta: properties(schema, meta)?,
        })
    };
    Many::new(all.into_iter().map(one).collect::<Option<_>>()?)
}

/// Converts meta-properties.
fn properties(schema: &Schema, raw: RawValue<'_>) -> Option<Properties> {
    let RawValue::Map(members) = raw else {
        return None;
    };
    let mut properties = Properties::new();
    for (number, raw) in members {
        let key = PropertyKeyId(number.parse().ok()?);
        schema.property_key(key)?;
        properties.set(key, value(schema, raw)?);
    }
    Some(properties)
}
