//! Parameters of statements from JSON: plain, or each value with its type as the Query API sends
//! them.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map as JsonMap, Value as Json};
use varve_cypher::value::Point;
use varve_cypher::{Map, Value, temporal};

/// The parameters in a JSON object. `typed`: each value is an object with `$type` and `_value`.
///
/// # Errors
/// The parameter that cannot be read, and why.
pub(super) fn read(sent: &JsonMap<String, Json>, typed: bool) -> Result<Map, String> {
    let read = sent.iter().map(|(name, json)| {
        let value = match typed {
            true => typed_value(json),
            false => plain(json),
        };
        match value {
            Ok(value) => Ok((Arc::from(name.as_str()), value)),
            Err(reason) => Err(format!("the parameter '{name}' cannot be read: {reason}")),
        }
    });
    read.collect()
}

fn plain(json: &Json) -> Result<Value, String> {
    Ok(match json {
        Json::Null => Value::Null,
        Json::Bool(truth) => Value::Boolean(*truth),
        Json::Number(number) => match (number.as_i64(), number.is_u64()) {
            (Some(number), _) => Value::Integer(number),
            (None, true) => return Err(format!("{number} is no 64-bit integer")),
            (None, false) => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(text) => Value::string(text),
        Json::Array(items) => {
            let items = items.iter().map(plain);
            Value::list(items.collect::<Result<_, _>>()?)
        }
        Json::Object(members) => members_of(members, plain)?,
    })
}

fn members_of(
    members: &JsonMap<String, Json>,
    read: fn(&Json) -> Result<Value, String>,
) -> Result<Value, String> {
    let members = members.iter();
    let read = members.map(|(key, json)| Ok((Arc::from(key.as_str()), read(json)?)));
    Ok(Value::map(read.collect::<Result<_, String>>()?))
}

fn typed_value(json: &Json) -> Result<Value, String> {
    let parts = json
        .as_object()
        .and_then(|members| Some((members.get("$type")?.as_str()?, members.get("_value")?)));
    let Some((name, value)) = parts else {
        return Err("a value has '$type' and '_value'".to_owned());
    };
    let read = match (name, value) {
        ("Null", _) => Some(Value::Null),
        ("Boolean", Json::Bool(truth)) => Some(Value::Boolean(*truth)),
        ("Integer", Json::String(text)) => text.parse().ok().map(Value::Integer),
        ("Integer", Json::Number(number)) => number.as_i64().map(Value::Integer),
        ("Float", Json::String(text)) => text.parse().ok().map(Value::Float),
        ("Float", Json::Number(number)) => number.as_f64().map(Value::Float),
        ("String", Json::String(text)) => Some(Value::string(text)),
        ("Base64", Json::String(text)) => {
            let bytes = STANDARD.decode(text).ok();
            bytes.map(|bytes| Value::Bytes(Arc::from(bytes)))
        }
        ("List", Json::Array(items)) => {
            let items = items.iter().map(typed_value);
            Some(Value::list(items.collect::<Result<_, _>>()?))
        }
        ("Map", Json::Object(members)) => Some(members_of(members, typed_value)?),
        ("Boolean" | "Integer" | "Float" | "String" | "Base64" | "List" | "Map", _) => None,
        ("Point", Json::String(text)) => point(text),
        (
            "Date" | "LocalTime" | "Time" | "LocalDateTime" | "OffsetDateTime" | "ZonedDateTime"
            | "Duration",
            Json::String(text),
        ) => temporal::read(name, text),
        _ => return Err(format!("parameters of type {name} are not supported here")),
    };
    read.ok_or_else(|| format!("the value is no {name}"))
}

/// `SRID=7203;POINT (1.0 2.0)`, in three dimensions `POINT Z (1.0 2.0 3.0)`.
fn point(text: &str) -> Option<Value> {
    let (srid, rest) = text.strip_prefix("SRID=")?.split_once(';')?;
    let srid = srid.parse().ok()?;
    let rest = rest.trim().strip_prefix("POINT")?.trim_start();
    let rest = rest.strip_prefix('Z').map_or(rest, str::trim_start);
    let inner = rest.strip_prefix('(')?.strip_suffix(')')?;
    let numbers = inner.split_whitespace().map(|number| number.parse().ok());
    let numbers: Vec<f64> = numbers.collect::<Option<_>>()?;
    let point = match (numbers[..].as_ref(), srid) {
        (&[x, y], 4326 | 7203) => Point {
            srid,
            x,
            y,
            z: None,
        },
        (&[x, y, z], 4979 | 9157) => {
            let z = Some(z);
            Point { srid, x, y, z }
        }
        _ => return None,
    };
    Some(Value::Point(Box::new(point)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, typed: bool) -> Result<String, String> {
        let json: Json = serde_json::from_str(text).expect("JSON");
        let map = read(json.as_object().expect("an object"), typed)?;
        let value = map.get("p").expect("the parameter");
        Ok(format!("{} {value:?}", value.type_name()))
    }

    #[test]
    fn plain_and_typed_parameters_are_read() {
        for (text, typed, expected) in [
            (r#"{"p":1}"#, false, "INTEGER Integer(1)"),
            (r#"{"p":1.0}"#, false, "FLOAT Float(1.0)"),
            (
                r#"{"p":{"$type":"Integer","_value":"7"}}"#,
                true,
                "INTEGER Integer(7)",
            ),
            (
                r#"{"p":{"$type":"Float","_value":"NaN"}}"#,
                true,
                "FLOAT Float(NaN)",
            ),
            (
                r#"{"p":{"$type":"Date","_value":"1970-01-03"}}"#,
                true,
                "DATE Date(Date { days: 2 })",
            ),
            (
                r#"{"p":{"$type":"Point","_value":"SRID=7203;POINT (1.5 2)"}}"#,
                true,
                "POINT Point(Point { srid: 7203, x: 1.5, y: 2.0, z: None })",
            ),
        ] {
            assert_eq!(shown(text, typed).as_deref(), Ok(expected), "{text}");
        }
        for (text, typed) in [
            (r#"{"p":9223372036854775808}"#, false),
            (r#"{"p":1}"#, true),
            (r#"{"p":{"$type":"Integer","_value":"x"}}"#, true),
            (r#"{"p":{"$type":"Odd","_value":"x"}}"#, true),
            (r#"{"p":{"$type":"Date","_value":"x"}}"#, true),
            (
                r#"{"p":{"$type":"Point","_value":"SRID=1;POINT (1 2)"}}"#,
                true,
            ),
        ] {
            assert!(shown(text, typed).is_err(), "{text}");
        }
    }
}
