//! The default value of a property key, declared in its user data.

use varve_model::schema::DEFAULT_VALUE;
use varve_model::value::{Cardinality, DataType, Uuid, Value, parse_date};
use varve_model::{Datum, PropertyKey};

use crate::GraphError;
use crate::element::narrowed;

/// Returns the value of elements without the property; `None` if the key declares no default.
///
/// # Errors
/// [`crate::ErrorKind::InvalidArgument`] when the declared default does not fit the key's data type
/// and cardinality. This never happens for keys that the catalogue created or changed.
pub fn default_value(key: &PropertyKey) -> Result<Option<Value>, GraphError> {
    let Some(datum) = key.user_data.get(DEFAULT_VALUE) else {
        return Ok(None);
    };
    let value = match (key.cardinality, datum) {
        (Cardinality::Single, one) => scalar(key.data_type, one),
        (Cardinality::List, Datum::List(items)) => scalars(key.data_type, items).map(Value::List),
        (Cardinality::Set, Datum::List(items)) => {
            scalars(key.data_type, items).map(|values| Value::Set(distinct(values)))
        }
        (Cardinality::List, one) => scalar(key.data_type, one).map(|v| Value::List(vec![v])),
        (Cardinality::Set, one) => scalar(key.data_type, one).map(|v| Value::Set(vec![v])),
    };
    let refused = || {
        GraphError::invalid(format!(
            "Invalid user data '{DEFAULT_VALUE}' of property key '{}': it does not fit {} {}",
            key.name, key.cardinality, key.data_type
        ))
    };
    value.map(Some).ok_or_else(refused)
}

fn scalars(data_type: DataType, items: &[Datum]) -> Option<Vec<Value>> {
    items.iter().map(|item| scalar(data_type, item)).collect()
}

fn distinct(values: Vec<Value>) -> Vec<Value> {
    let mut kept: Vec<Value> = Vec::with_capacity(values.len());
    for value in values {
        if !kept.contains(&value) {
            kept.push(value);
        }
    }
    kept
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a default of a FLOAT or DOUBLE is the nearest one, as with any number written to them"
)]
fn scalar(data_type: DataType, datum: &Datum) -> Option<Value> {
    let number = |datum: &Datum| match datum {
        Datum::Int(number) => Some(*number as f64),
        Datum::Float(number) => Some(*number),
        Datum::Text(text) => match text.as_str() {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            _ => None,
        },
        _ => None,
    };
    match (data_type, datum) {
        (DataType::Object, any) => Some(Value::Object(Box::new(any.clone()))),
        (DataType::Boolean, Datum::Bool(flag)) => Some(Value::Boolean(*flag)),
        (DataType::Byte, Datum::Int(number)) => i8::try_from(*number).ok().map(Value::Byte),
        (DataType::Int, Datum::Int(number)) => i32::try_from(*number).ok().map(Value::Int),
        (DataType::Long, Datum::Int(number)) => Some(Value::Long(*number)),
        (DataType::Float, any) => number(any).and_then(narrowed).map(Value::Float),
        (DataType::Double, any) => number(any).map(Value::Double),
        (DataType::Text, Datum::Text(text)) => Some(Value::Text(text.clone())),
        (DataType::Date, Datum::Int(millis)) => Some(Value::Date(*millis)),
        (DataType::Date, Datum::Text(text)) => parse_date(text).map(Value::Date),
        (DataType::Uuid, Datum::Text(text)) => Uuid::parse(text).map(|uuid| Value::Uuid(uuid.0)),
        (DataType::Blob, Datum::List(items)) => {
            let byte = |item: &Datum| match item {
                Datum::Int(byte) => i8::try_from(*byte)
                    .map(i8::cast_unsigned)
                    .or_else(|_| u8::try_from(*byte))
                    .ok(),
                _ => None,
            };
            let bytes: Option<Vec<u8>> = items.iter().map(byte).collect();
            bytes.map(Value::Blob)
        }
        _ => None,
    }
}
