//! Values of Cypher as stored values and back.
//!
//! Date-times and durations that the stored types hold exactly have those types, which other
//! languages know. Other temporal values and points are stored as a map of one entry, whose key
//! names the type and whose value is the text.

use std::sync::Arc;

use varve_model::value::{DateTime as StoredDateTime, Duration as StoredDuration, TAG, Uuid};
use varve_model::{DataType, Datum, PropertyKey, Value as Stored, many};

use super::{Map, Point, Value};
use crate::error::{Outcome, type_error};
use crate::temporal::{DateTime, Duration, LocalDateTime, NANOS_PER_SECOND, parse};

impl Value {
    /// The value as a property of a declared key is stored. One of type DATE takes dates and
    /// date-times of whole milliseconds.
    ///
    /// # Errors
    /// As [`Value::to_stored`], and when a date-time has parts of a millisecond.
    pub(crate) fn to_stored_as(&self, key: Option<&PropertyKey>) -> Outcome<Stored> {
        let is_date = key.is_some_and(|key| key.data_type == DataType::Date);
        let at = match self {
            Value::List(items) if is_date => {
                let items = items.iter().map(|item| item.to_stored_as(key));
                return Ok(Stored::List(items.collect::<Outcome<Vec<Stored>>>()?));
            }
            Value::Date(date) if is_date => date.midnight(),
            Value::LocalDateTime(at) if is_date => *at,
            Value::DateTime(at) if is_date => at.utc(),
            _ => return self.to_stored(),
        };
        let millis = at.seconds.checked_mul(1_000);
        match millis {
            Some(millis) if at.nanos % 1_000_000 == 0 => {
                Ok(Stored::Date(millis + i64::from(at.nanos / 1_000_000)))
            }
            _ => {
                let message = format!("a property of type DATE has whole milliseconds, not {self}");
                Err(type_error("InvalidPropertyType", message))
            }
        }
    }

    /// The value as a property is stored.
    ///
    /// # Errors
    /// `InvalidPropertyType` when properties cannot have such a value.
    pub(crate) fn to_stored(&self) -> Outcome<Stored> {
        Ok(match self {
            Value::List(items) => {
                let items = items.iter().map(|item| match item {
                    Value::List(_) | Value::Null => Err(not_storable("LIST", item)),
                    item => item.to_stored(),
                });
                Stored::List(items.collect::<Outcome<Vec<Stored>>>()?)
            }
            Value::Boolean(truth) => Stored::Boolean(*truth),
            Value::Integer(number) => Stored::Long(*number),
            Value::Float(number) => Stored::Double(*number),
            Value::String(text) => Stored::Text(text.to_string()),
            Value::Bytes(bytes) => Stored::Blob(bytes.to_vec()),
            Value::Date(_)
            | Value::LocalTime(_)
            | Value::Time(_)
            | Value::LocalDateTime(_)
            | Value::DateTime(_)
            | Value::Duration(_) => {
                exact(self).unwrap_or_else(|| tagged(self.type_name(), self.to_string()))
            }
            Value::Point(point) => tagged(self.type_name(), point_text(point)),
            Value::Null
            | Value::Map(_)
            | Value::Node(_)
            | Value::Relationship(_)
            | Value::Path(_) => return Err(not_storable("a property", self)),
        })
    }

    /// The value of a stored property.
    pub(crate) fn from_stored(stored: &Stored) -> Value {
        match stored {
            Stored::Boolean(truth) => Value::Boolean(*truth),
            Stored::Byte(number) => Value::Integer(i64::from(*number)),
            Stored::Short(number) => Value::Integer(i64::from(*number)),
            Stored::Int(number) => Value::Integer(i64::from(*number)),
            Stored::Long(number) => Value::Integer(*number),
            Stored::Float(number) => Value::Float(f64::from(*number)),
            Stored::Double(number) => Value::Float(*number),
            Stored::Text(text) => Value::string(text),
            Stored::Char(one) => Value::string(one.to_string()),
            Stored::Uuid(uuid) => Value::string(Uuid(*uuid).to_string()),
            Stored::Blob(bytes) => Value::Bytes(Arc::from(bytes.as_slice())),
            Stored::Date(millis) => local_datetime(*millis),
            Stored::DateTime(at) => datetime(*at),
            Stored::Duration(span) => Value::Duration(Box::new(Duration {
                seconds: span.seconds,
                nanos: span.nanos,
                ..Duration::default()
            })),
            Stored::BigInt(number) => whole(&number.to_string()),
            Stored::BigDecimal(number) => {
                let text = number.to_string();
                text.parse().map_or(Value::string(&text), Value::Float)
            }
            Stored::Object(datum) => from_datum(datum),
            Stored::List(items) | Stored::Set(items) => {
                Value::list(items.iter().map(Value::from_stored).collect())
            }
            Stored::Map(entries) => from_entries(entries),
            Stored::Many(_) => {
                let mut all: Vec<Value> = many::values_of(Some(stored))
                    .map(|one| Value::from_stored(one.value))
                    .collect();
                match all.len() {
                    1 => all.remove(0),
                    _ => Value::list(all),
                }
            }
        }
    }
}

fn not_storable(place: &str, value: &Value) -> crate::error::CypherError {
    let message = format!("{place} cannot hold {}", value.type_name());
    type_error("InvalidPropertyType", message)
}

/// The stored value that [`Value::from_stored`] reads as the same value, if there is one.
fn exact(value: &Value) -> Option<Stored> {
    let fits = |nanos: u32, unit: u32| nanos.is_multiple_of(unit);
    match value {
        Value::LocalDateTime(at) if fits(at.nanos, 1_000_000) => {
            let millis = at.seconds.checked_mul(1_000)?;
            millis
                .checked_add(i64::from(at.nanos / 1_000_000))
                .map(Stored::Date)
        }
        Value::DateTime(at) if at.zone.is_none() && fits(at.local.nanos, 1_000) => {
            let micros = at.utc().seconds.checked_mul(1_000_000)?;
            Some(Stored::DateTime(StoredDateTime {
                micros: micros.checked_add(i64::from(at.local.nanos / 1_000))?,
                offset: at.offset,
            }))
        }
        Value::Duration(span) if span.months == 0 && span.days == 0 => {
            Some(Stored::Duration(StoredDuration {
                seconds: span.seconds,
                nanos: span.nanos,
            }))
        }
        _ => None,
    }
}

fn tagged(name: &str, text: String) -> Stored {
    let key = Stored::Text(format!("{TAG}{name}"));
    Stored::Map(vec![(key, Stored::Text(text))])
}

fn point_text(point: &Point) -> String {
    let Point { srid, x, y, z } = point;
    let z = z.map_or(String::new(), |z| format!(" {z}"));
    format!("{srid} {x} {y}{z}")
}

fn point(text: &str) -> Option<Point> {
    let mut parts = text.split(' ');
    let srid = parts.next()?.parse().ok()?;
    let (x, y) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let z = parts.next().map(str::parse).transpose().ok()?;
    Some(Point { srid, x, y, z })
}

/// The value of a map that [`tagged`] made.
fn untagged(key: &str, text: &str) -> Option<Value> {
    Some(match key.strip_prefix(TAG)? {
        "DATE" => Value::Date(parse::date(text)?),
        "LOCAL TIME" => Value::LocalTime(parse::local_time(text)?),
        "ZONED TIME" => Value::Time(parse::time(text)?),
        "LOCAL DATETIME" => Value::LocalDateTime(parse::local_datetime(text)?),
        "ZONED DATETIME" => Value::DateTime(Box::new(parse::datetime(text)?)),
        "DURATION" => Value::Duration(Box::new(parse::duration(text)?)),
        "POINT" => Value::Point(Box::new(point(text)?)),
        _ => return None,
    })
}

fn from_entries(entries: &[(Stored, Stored)]) -> Value {
    if let [(Stored::Text(key), Stored::Text(text))] = entries
        && let Some(value) = untagged(key, text)
    {
        return value;
    }
    let entries = entries.iter().map(|(key, value)| {
        let key = match key {
            Stored::Text(key) => Arc::from(key.as_str()),
            other => Arc::from(Value::from_stored(other).to_string()),
        };
        (key, Value::from_stored(value))
    });
    Value::map(entries.collect::<Map>())
}

fn from_datum(datum: &Datum) -> Value {
    match datum {
        Datum::Null => Value::Null,
        Datum::Bool(truth) => Value::Boolean(*truth),
        Datum::Int(number) => Value::Integer(*number),
        Datum::Float(number) => Value::Float(*number),
        Datum::Text(text) => Value::string(text),
        Datum::List(items) => Value::list(items.iter().map(from_datum).collect()),
        Datum::Map(entries) => {
            let entries = entries
                .iter()
                .map(|(key, value)| (Arc::from(key.as_str()), from_datum(value)));
            Value::map(entries.collect::<Map>())
        }
    }
}

/// An integer, or its text if it does not fit 64 bits.
fn whole(text: &str) -> Value {
    text.parse().map_or(Value::string(text), Value::Integer)
}

fn local_datetime(millis: i64) -> Value {
    let nanos = i128::from(millis) * 1_000_000;
    LocalDateTime::of_nanos(nanos).map_or(Value::Null, Value::LocalDateTime)
}

fn datetime(at: StoredDateTime) -> Value {
    let utc = i128::from(at.micros) * 1_000;
    let local = utc + i128::from(at.offset) * i128::from(NANOS_PER_SECOND);
    match LocalDateTime::of_nanos(local) {
        Some(local) => Value::DateTime(Box::new(DateTime {
            local,
            offset: at.offset,
            zone: None,
        })),
        None => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::odd_values;
    use crate::value::order;

    #[test]
    fn values_are_read_as_they_were_stored() {
        let mut stored = 0;
        for value in odd_values() {
            if let Ok(one) = value.to_stored() {
                stored += 1;
                assert!(order(&Value::from_stored(&one), &value).is_eq(), "{value}");
            }
            let list = Value::list(vec![value.clone(), value.clone()]);
            if let Ok(many) = list.to_stored() {
                assert!(order(&Value::from_stored(&many), &list).is_eq(), "{list}");
            }
        }
        assert!(stored > 20, "{stored}");
        let point = Value::Point(Box::new(Point {
            srid: 9157,
            x: 0.1,
            y: -2.0,
            z: Some(1e300),
        }));
        let text = Value::from_stored(&point.to_stored().expect("a point")).to_string();
        assert_eq!(text, point.to_string());
        assert!(Value::map(Map::new()).to_stored().is_err());
    }
}
