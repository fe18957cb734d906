//! Conversion of values as sent to values of a property key's data type and cardinality.

use std::collections::HashSet;

use varve_model::value::{Cardinality, DataType, Uuid, nearest_float, parse_date};
use varve_model::{PropertyKey, Value};

use super::input::{JavaClass, RawValue};
use crate::{ErrorKind, GraphError};

/// Up to this many members, a SET finds equal ones by comparing each pair.
const PAIRWISE_MEMBERS_MAX: usize = 16;

/// Converts `raw` to a value of `key`. A scalar for a key of cardinality LIST or SET becomes a
/// collection of one; a SET keeps the first of equal members.
///
/// # Errors
/// [`crate::ErrorKind::InvalidArgument`] "Invalid property value '…' for key '…'…" when it does not
/// fit.
pub fn convert(key: &PropertyKey, raw: RawValue<'_>) -> Result<Value, GraphError> {
    match (key.cardinality, raw) {
        (Cardinality::Single, raw) => scalar(key, raw),
        (Cardinality::List, RawValue::List(items)) => members(key, items).map(Value::List),
        (Cardinality::Set, RawValue::List(items)) => {
            members(key, items).map(|items| Value::Set(distinct(items)))
        }
        (Cardinality::List, one) => Ok(Value::List(vec![scalar(key, one)?])),
        (Cardinality::Set, one) => Ok(Value::Set(vec![scalar(key, one)?])),
    }
}

/// Converts the value that a condition compares with to one value of the data type of `key`,
/// whatever its cardinality.
///
/// # Errors
/// As [`convert`], but HugeGraph has another message for a value of a wrong type in a query.
pub fn convert_condition(key: &PropertyKey, raw: RawValue<'_>) -> Result<Value, GraphError> {
    let (shown, class) = (raw.to_string(), raw.class_name());
    scalar(key, raw).map_err(|error| condition_error(key, &shown, class, error))
}

/// The error of a condition for the error of a conversion.
#[must_use]
pub fn condition_error(
    key: &PropertyKey,
    shown: &str,
    class: &str,
    error: GraphError,
) -> GraphError {
    let of_type = error.message.contains(", expect a value of type ");
    match error.kind == ErrorKind::InvalidArgument && of_type {
        true => wrong_type(key, shown, class),
        false => error,
    }
}

/// The error for a condition's value of a wrong type.
#[must_use]
pub fn wrong_type(key: &PropertyKey, shown: &str, class: &str) -> GraphError {
    let package = match class {
        "ArrayList" | "LinkedHashMap" | "UUID" => "java.util",
        "BigInteger" | "BigDecimal" => "java.math",
        _ => "java.lang",
    };
    GraphError::invalid(format!(
        "Invalid data type of query value '{shown}', expect {} for '{}', actual got class {package}.{class}",
        key.data_type, key.name
    ))
}

fn members(key: &PropertyKey, items: Vec<RawValue<'_>>) -> Result<Vec<Value>, GraphError> {
    items.into_iter().map(|item| scalar(key, item)).collect()
}

/// Removes the items that are equal to an earlier one.
#[must_use]
pub(super) fn distinct(items: Vec<Value>) -> Vec<Value> {
    let mut kept = Members::default();
    items.into_iter().for_each(|item| kept.add(item));
    kept.items
}

/// A growing list of different values.
#[derive(Debug, Default)]
pub(super) struct Members {
    items: Vec<Value>,
    seen: HashSet<Vec<u8>>,
}

impl Members {
    /// The different values among `items`, in their order.
    pub(super) fn of(items: &[Value]) -> Self {
        let mut members = Self::default();
        items.iter().for_each(|item| members.add(item.clone()));
        members
    }

    /// Whether an equal value is in the list. Values are equal if their stored bytes are, so NaN
    /// equals NaN.
    pub(super) fn contains(&self, item: &Value) -> bool {
        if self.seen.is_empty() {
            let wanted = bytes_of(item);
            self.items.iter().any(|known| bytes_of(known) == wanted)
        } else {
            self.seen.contains(&bytes_of(item))
        }
    }

    /// Adds a value, unless the list has an equal one.
    pub(super) fn add(&mut self, item: Value) {
        if self.contains(&item) {
            return;
        }
        if self.items.len() == PAIRWISE_MEMBERS_MAX {
            self.seen = self.items.iter().map(bytes_of).collect();
        }
        if !self.seen.is_empty() {
            self.seen.insert(bytes_of(&item));
        }
        self.items.push(item);
    }

    /// The values in the order in which they were added.
    pub(super) fn into_items(self) -> Vec<Value> {
        self.items
    }
}

fn bytes_of(value: &Value) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(32);
    varve_encoding::value::put_value(value, &mut bytes);
    bytes
}

fn scalar(key: &PropertyKey, raw: RawValue<'_>) -> Result<Value, GraphError> {
    match (key.data_type, raw) {
        // A key of whole numbers takes a number of another type by its text, as in Java.
        (DataType::Byte | DataType::Int | DataType::Long, RawValue::Typed { class, text })
            if class.is_number() =>
        {
            match text.parse() {
                Ok(number) => scalar(key, RawValue::Integer(number)),
                Err(_) => Err(unreadable(key, &RawValue::Typed { class, text })),
            }
        }
        (DataType::Text, RawValue::Text(text)) => Ok(Value::Text(text.into_owned())),
        (DataType::Boolean, RawValue::Boolean(flag)) => Ok(Value::Boolean(flag)),
        (DataType::Int, RawValue::Integer(number)) => match i32::try_from(number) {
            Ok(number) => Ok(Value::Int(number)),
            Err(_) => Err(unreadable(key, &RawValue::Integer(number))),
        },
        (DataType::Byte, RawValue::Integer(number)) => match i8::try_from(number) {
            Ok(number) => Ok(Value::Byte(number)),
            Err(_) => Err(unreadable(key, &RawValue::Integer(number))),
        },
        (DataType::Long, RawValue::Integer(number)) => Ok(Value::Long(number)),
        (DataType::Date, RawValue::Integer(millis)) => Ok(Value::Date(millis)),
        (DataType::Date, RawValue::Text(text)) => match parse_date(&text) {
            Some(millis) => Ok(Value::Date(millis)),
            None => Err(bad_date(key, &text)),
        },
        (
            DataType::Uuid,
            RawValue::Text(text)
            | RawValue::Typed {
                text,
                class: JavaClass::Uuid,
            },
        ) => match Uuid::parse(&text) {
            Some(uuid) => Ok(Value::Uuid(uuid.0)),
            None => Err(invalid(key, &text, format!("Invalid UUID string: {text}"))),
        },
        (DataType::Object, RawValue::Null) => Err(mismatch(key, &RawValue::Null)),
        (DataType::Object, any) => Ok(Value::Object(Box::new(any.into_datum()))),
        (DataType::Blob, RawValue::Text(text)) => blob_of_text(key, &text),
        (DataType::Blob, RawValue::List(items)) => blob_of_list(key, items),
        (DataType::Float | DataType::Double, raw) => floating(key, &raw),
        (_, raw) => Err(refused_number(key, &raw)),
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "a FLOAT or DOUBLE takes the nearest value of its width"
)]
fn floating(key: &PropertyKey, raw: &RawValue<'_>) -> Result<Value, GraphError> {
    let is_float = key.data_type == DataType::Float;
    let (double, float) = match raw {
        RawValue::Double(number) => (*number, nearest_float(*number)),
        RawValue::Integer(number) => (*number as f64, *number as f32),
        RawValue::Unsigned(number) => (*number as f64, *number as f32),
        RawValue::Text(text) => match special_number(text) {
            Some(number) => (number, number as f32),
            None => return Err(mismatch(key, raw)),
        },
        RawValue::Typed { class, text } if class.is_number() => {
            match (text.parse(), text.parse()) {
                (Ok(double), Ok(float)) => (double, float),
                _ => return Err(mismatch(key, raw)),
            }
        }
        _ => return Err(mismatch(key, raw)),
    };
    match is_float {
        true if float.is_infinite() && double.is_finite() => Err(mismatch(key, raw)),
        true => Ok(Value::Float(float)),
        false => Ok(Value::Double(double)),
    }
}

/// The FLOAT that is nearest to a number; `None` if the number is beyond its range.
pub(crate) fn narrowed(number: f64) -> Option<f32> {
    let narrow = nearest_float(number);
    (narrow.is_finite() || !number.is_finite()).then_some(narrow)
}

/// Parses the numbers that are sent as texts.
pub(super) fn special_number(text: &str) -> Option<f64> {
    match text {
        "NaN" => Some(f64::NAN),
        "Infinity" => Some(f64::INFINITY),
        "-Infinity" => Some(f64::NEG_INFINITY),
        _ => None,
    }
}

/// The error for a value that does not fit the key, for types other than FLOAT and DOUBLE. Numbers
/// that do not fit a whole-number type have their own message.
fn refused_number(key: &PropertyKey, raw: &RawValue<'_>) -> GraphError {
    let whole = matches!(
        key.data_type,
        DataType::Byte | DataType::Int | DataType::Long
    );
    let number = match raw {
        RawValue::Integer(_) | RawValue::Unsigned(_) | RawValue::Double(_) => true,
        RawValue::Text(text) => special_number(text).is_some(),
        _ => false,
    };
    if whole && number {
        unreadable(key, raw)
    } else {
        mismatch(key, raw)
    }
}

fn unreadable(key: &PropertyKey, raw: &RawValue<'_>) -> GraphError {
    let name = match key.data_type {
        DataType::Byte => "byte",
        DataType::Int => "int",
        _ => "long",
    };
    let reason = match raw {
        RawValue::Integer(number)
            if key.data_type == DataType::Byte && i32::try_from(*number).is_ok() =>
        {
            format!("Value out of range. Value:\"{raw}\" Radix:10")
        }
        _ => format!("For input string: \"{raw}\""),
    };
    invalid(
        key,
        &raw.to_string(),
        format!("Can't read '{raw}' as {name}: {reason}"),
    )
}

fn bad_date(key: &PropertyKey, text: &str) -> GraphError {
    invalid(
        key,
        text,
        format!(
            "Expected date format is: [yyyy-MM-dd, yyyy-MM-dd HH:mm:ss, yyyy-MM-dd HH:mm:ss.SSS], but got '{text}'"
        ),
    )
}

fn invalid(key: &PropertyKey, value: &str, reason: impl std::fmt::Display) -> GraphError {
    GraphError::invalid(format!(
        "Invalid property value '{value}' for key '{}': {reason}",
        key.name
    ))
}

fn mismatch(key: &PropertyKey, raw: &RawValue<'_>) -> GraphError {
    GraphError::invalid(format!(
        "Invalid property value '{raw}' for key '{}', expect a value of type {}, actual type {}",
        key.name,
        expected_class(key.data_type),
        raw.class_name()
    ))
}

/// The Java class of a data type's values in HugeGraph, for messages.
pub(super) fn expected_class(data_type: DataType) -> &'static str {
    match data_type {
        DataType::Object => "Object",
        DataType::Boolean => "Boolean",
        DataType::Byte => "Byte",
        DataType::Int => "Integer",
        DataType::Long => "Long",
        DataType::Float => "Float",
        DataType::Double => "Double",
        DataType::Text => "String",
        DataType::Blob => "Blob",
        DataType::Date => "Date",
        DataType::Uuid => "UUID",
    }
}

/// Decodes a blob from base64, or from hexadecimal digits after `0x`.
fn blob_of_text(key: &PropertyKey, text: &str) -> Result<Value, GraphError> {
    use base64::Engine as _;
    let bytes = match text.strip_prefix("0x") {
        Some(hex) => hex_bytes(hex),
        None => base64::engine::general_purpose::STANDARD.decode(text).ok(),
    };
    bytes.map(Value::Blob).ok_or_else(|| {
        invalid(
            key,
            text,
            "expect base64 text, or hexadecimal digits after '0x'",
        )
    })
}

fn hex_bytes(hex: &str) -> Option<Vec<u8>> {
    let digits = hex.as_bytes();
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16);
    digits
        .chunks_exact(2)
        .map(|pair| u8::try_from(digit(pair[0])? * 16 + digit(pair[1])?).ok())
        .collect()
}

/// Converts a list of bytes, −128 to 255 each, to a blob.
fn blob_of_list(key: &PropertyKey, items: Vec<RawValue<'_>>) -> Result<Value, GraphError> {
    let byte = |item: &RawValue<'_>| match item {
        RawValue::Integer(number) => i8::try_from(*number)
            .map(i8::cast_unsigned)
            .or_else(|_| u8::try_from(*number))
            .ok(),
        _ => None,
    };
    let mut bytes = Vec::with_capacity(items.len());
    for item in &items {
        let Some(value) = byte(item) else {
            let reason = format!("expect byte or int value, but got '{item}'");
            return Err(invalid(key, &RawValue::List(items).to_string(), reason));
        };
        bytes.push(value);
    }
    Ok(Value::Blob(bytes))
}
