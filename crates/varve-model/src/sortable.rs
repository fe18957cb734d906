//! HugeGraph's text forms of key values: primary-key vertex ids and the sort values of edge ids.
//!
//! Values are joined by `!`. Numbers and dates use a sortable form: base-64 digits, most significant first, preceded
//! by one hexadecimal digit that counts them, so that texts order as numbers do; negative numbers get a leading `0`
//! and encode n + 2^63; floating-point numbers first become integers of the same order.

use crate::id::{escape_guarded_into, escape_into};
use crate::value::{Uuid, Value};
use crate::{VertexId, VertexLabelId};

const DIGITS: &[u8; 64] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~";

/// Joins key values as HugeGraph does, escaping `!` inside a part.
#[must_use]
pub fn join_key_values(values: &[Value]) -> String {
    let mut joined = String::new();
    if let Some((last, others)) = values.split_last() {
        for value in others {
            escape_guarded_into(&key_part(value), '!', &mut joined);
            joined.push('!');
        }
        escape_into(&key_part(last), '!', &mut joined);
    }
    joined
}

/// The id of a vertex made of its primary-key values: the label's id, `:`, the values joined and escaped.
#[must_use]
pub fn primary_key_id(label: VertexLabelId, values: &[Value]) -> VertexId {
    let mut text = format!("{label}:");
    escape_into(&join_key_values(values), ':', &mut text);
    VertexId::text(&text)
}

/// The text of one key value: text as it is, numbers and dates sortable, the rest in its usual text form.
#[must_use]
pub fn key_part(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Boolean(flag) => flag.to_string(),
        Value::Uuid(uuid) => Uuid(*uuid).to_string(),
        Value::Float(number) => encode_number(i64::from(sortable_f32(*number))),
        Value::Double(number) => encode_number(sortable_f64(*number)),
        other => other.as_i64().map(encode_number).unwrap_or_default(),
    }
}

/// The sortable text of a whole number: `5` → `15`, `1000000` → `43p90`, `-5` → `0B7~~~~~~~~~w`.
#[must_use]
pub fn encode_number(number: i64) -> String {
    let negative = number < 0;
    let mut rest = if negative {
        number.wrapping_sub(i64::MIN).unsigned_abs()
    } else {
        number.unsigned_abs()
    };
    let mut digits = Vec::with_capacity(13);
    loop {
        digits.push(DIGITS[(rest & 63) as usize]);
        rest >>= 6;
        if rest == 0 {
            break;
        }
    }
    let mut text = String::with_capacity(digits.len() + 2);
    if negative {
        text.push('0');
    }
    text.push(char::from(b"0123456789ABCDEF"[digits.len() & 15]));
    text.extend(digits.iter().rev().map(|digit| char::from(*digit)));
    text
}

fn sortable_f32(number: f32) -> i32 {
    let bits = number.to_bits().cast_signed();
    if bits >= 0 { bits } else { bits ^ i32::MAX }
}

fn sortable_f64(number: f64) -> i64 {
    let bits = number.to_bits().cast_signed();
    if bits >= 0 { bits } else { bits ^ i64::MAX }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_measured_on_the_original() {
        assert_eq!(encode_number(5), "15");
        assert_eq!(encode_number(0), "10");
        assert_eq!(encode_number(1_000_000), "43p90");
        assert_eq!(encode_number(-5), "0B7~~~~~~~~~w");
        assert_eq!(encode_number(1_577_923_200_000), "7MyZZKG0");
        assert_eq!(key_part(&Value::Double(1.5)), "B3~t00000000");
        assert_eq!(key_part(&Value::Double(-1.5)), "0B407~~~~~~~~");
    }

    #[test]
    fn texts_order_as_numbers_do() {
        let numbers = [
            i64::MIN,
            -1_000_000,
            -5,
            -1,
            0,
            1,
            63,
            64,
            4095,
            4096,
            i64::MAX,
        ];
        let texts: Vec<String> = numbers.iter().map(|n| encode_number(*n)).collect();
        assert!(texts.windows(2).all(|pair| pair[0] < pair[1]), "{texts:?}");
    }

    #[test]
    fn separators_inside_a_part_are_escaped() {
        let values = [Value::Text("m!n".into()), Value::Int(5)];
        assert_eq!(join_key_values(&values), "m`!n!15");
    }
}
