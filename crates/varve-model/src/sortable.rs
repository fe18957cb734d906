//! HugeGraph's text forms of key values: primary-key vertex ids and the sort values of edge ids.
//!
//! Values are joined by `!`. Whole numbers of up to 64 bits and dates use a sortable form: one
//! hexadecimal digit with the number of base-64 digits, then these digits, most significant first.
//! So the texts sort as the numbers do. Negative numbers get a leading `0` and encode n + 2^63.
//! Floating-point numbers are first converted to integers of the same order.

use compact_str::{CompactString, format_compact};

use crate::id::{escape_into, needs_guard};
use crate::value::{Uuid, Value};
use crate::{VertexId, VertexLabelId};

const DIGITS: &[u8; 64] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~";

/// Key values joined as HugeGraph does, with a backquote before each `!` inside a part. Unlike in
/// HugeGraph, a part that ends in a backquote and any number of `~` gets one more `~` if another
/// part follows: the backquote must not escape the separator.
#[derive(Debug, Default)]
pub struct JoinedKey {
    text: CompactString,
    has_parts: bool,
}

impl JoinedKey {
    /// Appends a value.
    pub fn push(&mut self, value: &Value) {
        match value {
            Value::Text(text) => self.push_text(text),
            other => {
                self.separate();
                self.text.push_str(&key_part(other));
            }
        }
    }

    /// Appends a text.
    pub fn push_text(&mut self, text: &str) {
        self.separate();
        escape_into(text, '!', &mut self.text);
    }

    /// Ends the part before, if there is one, with its guard and the separator.
    fn separate(&mut self) {
        if self.has_parts {
            if needs_guard(&self.text) {
                self.text.push('~');
            }
            self.text.push('!');
        }
        self.has_parts = true;
    }

    /// The joined values.
    #[must_use]
    pub fn into_text(self) -> CompactString {
        self.text
    }
}

/// All of `values`, joined.
#[must_use]
pub fn join_key_values<'v>(values: impl IntoIterator<Item = &'v Value>) -> CompactString {
    let mut joined = JoinedKey::default();
    for value in values {
        joined.push(value);
    }
    joined.into_text()
}

/// The id of a vertex with primary keys: the label's id, `:`, and the joined key values, with a
/// backquote before each `:`.
#[must_use]
pub fn primary_key_id(label: VertexLabelId, joined: &str) -> VertexId {
    let mut text = format_compact!("{label}:");
    escape_into(joined, ':', &mut text);
    VertexId::Text(text)
}

/// The text of one key value: text unchanged; whole numbers of up to 64 bits, floating-point
/// numbers and dates in the sortable form; booleans and UUIDs in their usual text form. Empty for
/// all other values.
#[must_use]
pub fn key_part(value: &Value) -> CompactString {
    match value {
        Value::Text(text) => text.into(),
        Value::Boolean(flag) => format_compact!("{flag}"),
        Value::Uuid(uuid) => format_compact!("{}", Uuid(*uuid)),
        Value::Float(number) => encode_number(i64::from(sortable_f32(*number))),
        Value::Double(number) => encode_number(sortable_f64(*number)),
        other => other.as_i64().map(encode_number).unwrap_or_default(),
    }
}

/// The hidden sort value that distinguishes an edge from parallel ones, as in open graphs. `number`
/// is drawn when the edge is created. Numbers ascend, so later edges between two vertices come
/// after earlier ones.
#[must_use]
pub fn drawn_sort_value(number: i64) -> CompactString {
    encode_number(number)
}

/// The hidden sort value of an edge whose writer gave it an id. It never equals that of a drawn
/// number.
#[must_use]
pub fn given_sort_value(id: &VertexId) -> CompactString {
    match id {
        VertexId::Number(number) => format_compact!("~L{number}"),
        VertexId::Uuid(uuid) => format_compact!("~U{}", Uuid(*uuid)),
        VertexId::Text(text) => format_compact!("~S{text}"),
    }
}

/// The id that the writer of an edge gave, from its hidden sort value; `None` for a drawn number,
/// or if the text is not such a value.
#[must_use]
pub fn given_id(sort_value: &str) -> Option<VertexId> {
    let given = sort_value.strip_prefix('~')?;
    let rest = given.get(1..)?;
    match given.as_bytes()[0] {
        b'L' => rest.parse().ok().map(VertexId::Number),
        b'U' => Uuid::parse(rest).map(|uuid| VertexId::Uuid(uuid.0)),
        b'S' => Some(VertexId::text(rest)),
        _ => None,
    }
}

/// The sortable text of a whole number: `5` → `15`, `1000000` → `43p90`, `-5` → `0B7~~~~~~~~~w`.
#[must_use]
pub fn encode_number(number: i64) -> CompactString {
    let negative = number < 0;
    let rest = if negative {
        number.wrapping_sub(i64::MIN).unsigned_abs()
    } else {
        number.unsigned_abs()
    };
    let count = (u64::BITS - rest.leading_zeros()).div_ceil(6).max(1);
    let mut text = CompactString::default();
    if negative {
        text.push('0');
    }
    text.push(char::from(b"0123456789ABCDEF"[count as usize & 15]));
    for at in (0..count).rev() {
        text.push(char::from(DIGITS[(rest >> (6 * at)) as usize & 63]));
    }
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
    fn hidden_sort_values_order_as_drawn_and_keep_given_ids() {
        let drawn = [1, 2, 1 << 40, i64::MAX].map(drawn_sort_value);
        assert!(drawn.windows(2).all(|pair| pair[0] < pair[1]), "{drawn:?}");
        for id in [
            VertexId::Number(5),
            VertexId::text("5"),
            VertexId::text("~L5"),
            VertexId::text("é"),
            VertexId::Uuid(5),
        ] {
            assert_eq!(given_id(&given_sort_value(&id)), Some(id));
        }
        assert!(drawn.iter().all(|number| given_id(number).is_none()));
        for other in ["", "~", "~é", "~Lx", "~X5", "5"] {
            assert_eq!(given_id(other), None, "{other}");
        }
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
        let texts: Vec<CompactString> = numbers.iter().map(|n| encode_number(*n)).collect();
        assert!(texts.windows(2).all(|pair| pair[0] < pair[1]), "{texts:?}");
    }

    #[test]
    fn separators_inside_a_part_are_escaped() {
        let values = [Value::Text("m!n".into()), Value::Int(5)];
        assert_eq!(join_key_values(&values), "m`!n!15");
    }
}
