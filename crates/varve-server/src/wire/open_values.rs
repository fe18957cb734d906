//! The values that only open graphs store, as JSON.

use varve_graph::element::text;
use varve_model::Value;
use varve_model::value::{DateTime, duration_text};

use super::output;
use crate::JsonWriter;

/// Decimals of these scales (digits after the point) are written without an exponent.
const PLAIN_SCALES: std::ops::RangeInclusive<i64> = 0..=1_000;

/// Writes a value that only open graphs store. Several values of one key become a list, a single
/// one itself.
pub(crate) fn write<'j>(json: &'j mut JsonWriter, stored: &Value) -> &'j mut JsonWriter {
    match stored {
        Value::Short(number) => json.integer(i64::from(*number)),
        Value::BigInt(number) => json.raw(number.to_string().as_bytes()),
        Value::BigDecimal(number) => {
            let (_, scale) = number.as_bigint_and_exponent();
            let digits = match PLAIN_SCALES.contains(&scale) {
                true => number.to_plain_string(),
                false => number.to_string(),
            };
            json.raw(digits.as_bytes())
        }
        Value::Char(one) => json.string(one.encode_utf8(&mut [0; 4])),
        Value::DateTime(at) => json.string(&instant(*at)),
        Value::Duration(span) => json.string(&duration_text(*span)),
        Value::Map(entries) => {
            json.begin_object();
            for (key, value) in entries {
                output::value(json.key(&text::of_value(key)), value);
            }
            json.end_object()
        }
        Value::Many(many) => match many.values() {
            [one] => output::value(json, &one.value),
            several => {
                json.begin_array();
                for one in several {
                    output::value(json, &one.value);
                }
                json.end_array()
            }
        },
        // `output::value` has an arm for each of the others.
        common => output::value(json, common),
    }
}

/// Formats an instant as ISO 8601 with its offset.
fn instant(at: DateTime) -> String {
    varve_query::value::DateTime::of_micros(at.micros, at.offset).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use varve_model::value::Duration;
    use varve_model::{Cardinality, Properties, PropertyKeyId};

    fn shown(value: &Value) -> String {
        let mut json = JsonWriter::with_capacity(64);
        output::value(&mut json, value);
        String::from_utf8(json.finish()).expect("text")
    }

    #[test]
    fn values_of_open_graphs_are_json() {
        let big = |text: &str| Value::BigInt(Box::new(text.parse().expect(text)));
        let decimal = |text: &str| {
            Value::BigDecimal(Box::new(varve_model::Decimal::parse(text).expect(text)))
        };
        let at = |micros, offset| Value::DateTime(DateTime { micros, offset });
        for (value, json) in [
            (Value::Short(-3), "-3"),
            (
                big("-123456789012345678901234567890"),
                "-123456789012345678901234567890",
            ),
            (decimal("1.50"), "1.50"),
            (Value::Char('é'), "\"é\""),
            (at(1, 3_600), "\"1970-01-01T01:00:00.000001+01:00\""),
            (
                at(i64::MIN, i32::MAX),
                "\"-290239-01-09T23:13:12.224192+596523:14:07\"",
            ),
            (
                Value::Duration(Duration {
                    seconds: 61,
                    nanos: 0,
                }),
                "\"PT1M1S\"",
            ),
            (
                Value::Map(vec![(Value::Int(1), Value::List(vec![Value::Short(2)]))]),
                "{\"1\":[2]}",
            ),
        ] {
            assert_eq!(shown(&value), json);
            let read: Result<serde_json::Value, _> = serde_json::from_str(json);
            assert!(read.is_ok(), "{json}");
        }
        for far in ["1e4000", "1e-4000", "-5E+7"] {
            let json = shown(&decimal(far));
            assert!(json.len() < 32, "{json}");
            assert!(
                serde_json::from_str::<serde::de::IgnoredAny>(&json).is_ok(),
                "{json}"
            );
        }
    }

    #[test]
    fn several_values_are_a_list_and_one_is_itself() {
        let key = PropertyKeyId(1);
        let mut properties = Properties::new();
        let mut add = |text: &str| {
            let value = Value::Text(text.to_owned());
            properties.write(key, Cardinality::List, value, Properties::new());
        };
        add("a");
        add("b");
        assert_eq!(shown(properties.get(key).expect("values")), "[\"a\",\"b\"]");
        properties.remove_value(key, 0);
        assert_eq!(shown(properties.get(key).expect("one")), "\"b\"");
    }
}
