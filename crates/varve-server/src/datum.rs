//! Free-form values ([`Datum`]: user data, variables) from and to JSON.

use std::collections::HashMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use varve_model::Datum;

use crate::json::JsonWriter;

/// A [`Datum`] that can be read from JSON. Members keep their order; a repeated name keeps its
/// first place and its last value. Whole numbers beyond 64 bits become numbers with a fraction.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonDatum(pub Datum);

impl<'de> Deserialize<'de> for JsonDatum {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DatumVisitor).map(Self)
    }
}

struct DatumVisitor;

impl<'de> Visitor<'de> for DatumVisitor {
    type Value = Datum;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Datum, E> {
        Ok(Datum::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Datum, E> {
        Ok(Datum::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Datum, E> {
        Ok(Datum::Int(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Datum, E> {
        Ok(i64::try_from(value).map_or(Datum::Float(value as f64), Datum::Int))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Datum, E> {
        Ok(Datum::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Datum, E> {
        Ok(Datum::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Datum, E> {
        Ok(Datum::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Datum, A::Error> {
        let mut list = Vec::new();
        while let Some(JsonDatum(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Datum::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Datum, A::Error> {
        let mut map: Vec<(String, Datum)> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        while let Some((name, JsonDatum(value))) = members.next_entry::<String, JsonDatum>()? {
            match places.get(&name) {
                Some(place) => map[*place].1 = value,
                None => {
                    places.insert(name.clone(), map.len());
                    map.push((name, value));
                }
            }
        }
        Ok(Datum::Map(map))
    }
}

/// Writes a value as JSON.
pub fn write(value: &Datum, json: &mut JsonWriter) {
    match value {
        Datum::Null => json.null(),
        Datum::Bool(value) => json.boolean(*value),
        Datum::Int(value) => json.integer(*value),
        Datum::Float(value) => json.double(*value),
        Datum::Text(value) => json.string(value),
        Datum::List(items) => {
            json.begin_array();
            items.iter().for_each(|item| write(item, json));
            json.end_array()
        }
        Datum::Map(members) => {
            json.begin_object();
            for (name, value) in members {
                json.key(name);
                write(value, json);
            }
            json.end_object()
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_and_written_unchanged() {
        for text in [
            r#"{"b":[1,-2,1.5,"x",null,true],"a":{}}"#,
            "9223372036854775807",
            r#""é\"""#,
            "[]",
        ] {
            let JsonDatum(value) = serde_json::from_str(text).unwrap();
            let mut json = JsonWriter::default();
            write(&value, &mut json);
            assert_eq!(String::from_utf8(json.finish()).unwrap(), text);
        }
        let JsonDatum(value) = serde_json::from_str(r#"{"a":1,"b":2,"a":3}"#).unwrap();
        let pair = |name: &str, value| (name.to_owned(), Datum::Int(value));
        assert_eq!(value, Datum::Map(vec![pair("a", 3), pair("b", 2)]));
        let JsonDatum(value) = serde_json::from_str("9223372036854775808").unwrap();
        assert_eq!(value, Datum::Float(9_223_372_036_854_775_808.0));
    }
}
