//! Values of open graphs with their types, in the form of dumps; [`varve_graph::element`] reads
//! them.
//!
//! Texts and booleans are written plainly. Every other value is an object with one member, named
//! after its type: `{"SHORT":3}`. The keys of a value's own properties are ids of property keys.

use base64::Engine as _;
use varve_graph::content::ValueRef;
use varve_graph::{GraphError, content};
use varve_model::value::Uuid;
use varve_model::{Value, VertexId};

use super::output;
use crate::JsonWriter;
use crate::datum;

/// Writes a stored value with its type.
pub(crate) fn stored(json: &mut JsonWriter, stored: ValueRef<'_>) -> Result<(), GraphError> {
    match stored {
        ValueRef::Text(text) => {
            json.string(text);
        }
        other => {
            value(json, &content::owned_value(other)?);
        }
    }
    Ok(())
}

/// Writes a value with its type.
pub(crate) fn value<'j>(json: &'j mut JsonWriter, stored: &Value) -> &'j mut JsonWriter {
    let number = |json: &mut JsonWriter, number: i64| {
        json.integer(number);
    };
    match stored {
        Value::Text(text) => return json.string(text),
        Value::Boolean(flag) => return json.boolean(*flag),
        _ => json.begin_object(),
    };
    json.key(name(stored));
    match stored {
        Value::Text(_) | Value::Boolean(_) => {}
        Value::Byte(one) => number(json, i64::from(*one)),
        Value::Short(one) => number(json, i64::from(*one)),
        Value::Int(one) => number(json, i64::from(*one)),
        Value::Long(one) | Value::Date(one) => number(json, *one),
        Value::Float(_) | Value::Double(_) | Value::Blob(_) | Value::Uuid(_) => plain(json, stored),
        Value::Object(object) => datum::write(object, json),
        Value::List(items) | Value::Set(items) => {
            json.begin_array();
            for item in items {
                value(json, item);
            }
            json.end_array();
        }
        Value::BigInt(digits) => {
            json.string(&digits.to_string());
        }
        Value::BigDecimal(decimal) => {
            let (digits, scale) = decimal.as_bigint_and_exponent();
            json.begin_array().string(&digits.to_string());
            json.integer(scale).end_array();
        }
        Value::Char(one) => {
            json.string(one.encode_utf8(&mut [0; 4]));
        }
        Value::DateTime(at) => {
            json.begin_array().integer(at.micros);
            json.integer(i64::from(at.offset)).end_array();
        }
        Value::Duration(span) => {
            json.begin_array().integer(span.seconds);
            json.integer(i64::from(span.nanos)).end_array();
        }
        Value::Map(entries) => {
            json.begin_array();
            for (key, of_key) in entries {
                json.begin_array();
                value(value(json, key), of_key);
                json.end_array();
            }
            json.end_array();
        }
        Value::Many(many) => {
            json.begin_array();
            for one in many.values() {
                json.begin_array().integer(i64::from(one.number));
                value(json, &one.value).begin_object();
                for (key, of_key) in one.meta.iter() {
                    value(json.key(&key.to_string()), of_key);
                }
                json.end_object().end_array();
            }
            json.end_array();
        }
    }
    json.end_object()
}

/// Writes the id of a vertex: a number or a text plainly, a UUID with its type.
pub(crate) fn vertex_id(json: &mut JsonWriter, id: &VertexId) {
    match id {
        VertexId::Number(number) => json.integer(*number),
        VertexId::Text(text) => json.string(text),
        VertexId::Uuid(uuid) => value(json, &Value::Uuid(*uuid)),
    };
}

/// Writes a value whose plain form is exact.
fn plain(json: &mut JsonWriter, stored: &Value) {
    match stored {
        Value::Float(number) => output::double(json, f64::from(*number)),
        Value::Double(number) => output::double(json, *number),
        Value::Blob(bytes) => json.string(&base64::engine::general_purpose::STANDARD.encode(bytes)),
        Value::Uuid(uuid) => json.string(&Uuid(*uuid).to_string()),
        _ => json.null(),
    };
}

/// The name of a value's type.
const fn name(stored: &Value) -> &'static str {
    match stored {
        Value::Boolean(_) => "BOOLEAN",
        Value::Byte(_) => "BYTE",
        Value::Short(_) => "SHORT",
        Value::Int(_) => "INT",
        Value::Long(_) => "LONG",
        Value::Float(_) => "FLOAT",
        Value::Double(_) => "DOUBLE",
        Value::Text(_) => "TEXT",
        Value::Blob(_) => "BLOB",
        Value::Date(_) => "DATE",
        Value::Uuid(_) => "UUID",
        Value::Object(_) => "OBJECT",
        Value::List(_) => "LIST",
        Value::Set(_) => "SET",
        Value::BigInt(_) => "BIG_INTEGER",
        Value::BigDecimal(_) => "BIG_DECIMAL",
        Value::Char(_) => "CHAR",
        Value::DateTime(_) => "DATE_TIME",
        Value::Duration(_) => "DURATION",
        Value::Map(_) => "MAP",
        Value::Many(_) => "MANY",
    }
}
