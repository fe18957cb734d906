//! Text forms of values in messages, as Java prints them in HugeGraph: clients compare the text.

use std::fmt::Write;

use varve_model::Value;
use varve_model::value::{Uuid, date_text, duration_text};

/// Values longer than this many characters are cut in messages about one property.
const SHOWN_CHARS_MAX: usize = 20;

/// A double as Java prints it: `1.0`, `0.001`, `1.0E10`, `NaN`, `-Infinity`.
#[must_use]
pub fn of_double(number: f64) -> String {
    let mut out = String::with_capacity(24);
    put_scientific(&format!("{number:e}"), &mut out);
    out
}

/// A float as Java prints it, with the fewest digits that read back as the same float.
#[must_use]
pub fn of_float(number: f32) -> String {
    let mut out = String::with_capacity(16);
    put_scientific(&format!("{number:e}"), &mut out);
    out
}

/// The double with the digits of a float: 0.1 for the float 0.1.
pub(super) fn shortest(number: f32) -> f64 {
    number.to_string().parse().unwrap_or(f64::from(number))
}

/// Rewrites a number from Rust's shortest scientific form (`-1.25e3`) to Java's form: plain between
/// 0.001 and ten million, scientific with `E` and at least one digit after the point otherwise.
fn put_scientific(shortest: &str, out: &mut String) {
    let Some((mantissa, exponent)) = shortest.split_once('e') else {
        out.push_str(match shortest {
            "inf" => "Infinity",
            "-inf" => "-Infinity",
            other => other,
        });
        return;
    };
    let mantissa = match mantissa.strip_prefix('-') {
        Some(positive) => {
            out.push('-');
            positive
        }
        None => mantissa,
    };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (first, rest) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    match exponent {
        0..=6 => {
            let whole = exponent as usize;
            let (inside, fraction) = rest.split_at(whole.min(rest.len()));
            out.push_str(first);
            out.push_str(inside);
            out.extend(std::iter::repeat_n('0', whole - inside.len()));
            out.push('.');
            out.push_str(if fraction.is_empty() { "0" } else { fraction });
        }
        -3..=-1 => {
            out.push_str("0.");
            out.extend(std::iter::repeat_n('0', (-exponent - 1) as usize));
            out.push_str(first);
            out.push_str(rest);
        }
        _ => {
            let rest = if rest.is_empty() { "0" } else { rest };
            let _ = write!(out, "{first}.{rest}E{exponent}");
        }
    }
}

/// A value in a message.
#[must_use]
pub fn of_value(value: &Value) -> String {
    match value {
        Value::Boolean(flag) => flag.to_string(),
        Value::Byte(number) => number.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Long(number) => number.to_string(),
        Value::Float(number) => of_float(*number),
        Value::Double(number) => of_double(*number),
        Value::Text(text) => text.clone(),
        Value::Blob(bytes) => format!("{} bytes", bytes.len()),
        Value::Date(millis) => date_text(*millis),
        Value::Uuid(uuid) => Uuid(*uuid).to_string(),
        Value::Object(_) => "an object".to_owned(),
        Value::List(items) | Value::Set(items) => bracketed(items.iter().map(of_value)),
        Value::Short(number) => number.to_string(),
        Value::BigInt(number) => number.to_string(),
        Value::BigDecimal(number) => number.to_string(),
        Value::Char(one) => one.to_string(),
        Value::DateTime(at) => date_text(at.micros.div_euclid(1_000)),
        Value::Duration(span) => duration_text(*span),
        Value::Map(entries) => {
            let entry =
                |(key, value): &(Value, Value)| format!("{}={}", of_value(key), of_value(value));
            bracketed(entries.iter().map(entry))
        }
        Value::Many(many) => bracketed(many.values().iter().map(|one| of_value(&one.value))),
    }
}

/// A value in a message about one property: cut when it is long.
pub(crate) fn of_value_short(value: &Value) -> String {
    let whole = of_value(value);
    if whole.chars().count() <= SHOWN_CHARS_MAX {
        return whole;
    }
    let mut short: String = whole.chars().take(SHOWN_CHARS_MAX - 3).collect();
    short.push_str("...");
    short
}

/// Lists items as `[a, b]`.
pub(super) fn bracketed<T: AsRef<str>>(items: impl IntoIterator<Item = T>) -> String {
    let mut out = String::from("[");
    for (at, item) in items.into_iter().enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        out.push_str(item.as_ref());
    }
    out.push(']');
    out
}

/// The Java class that holds a value, for messages.
pub(super) fn class_name(value: &Value) -> &'static str {
    match value {
        Value::Boolean(_) => "Boolean",
        Value::Byte(_) => "Byte",
        Value::Int(_) => "Integer",
        Value::Long(_) => "Long",
        Value::Float(_) => "Float",
        Value::Double(_) => "Double",
        Value::Text(_) => "String",
        Value::Blob(_) => "Blob",
        Value::Date(_) => "Date",
        Value::Uuid(_) => "UUID",
        Value::Object(_) => "Object",
        Value::List(_) => "ArrayList",
        Value::Set(_) => "LinkedHashSet",
        Value::Short(_) => "Short",
        Value::BigInt(_) => "BigInteger",
        Value::BigDecimal(_) => "BigDecimal",
        Value::Char(_) => "Character",
        Value::DateTime(_) => "OffsetDateTime",
        Value::Duration(_) => "Duration",
        Value::Map(_) => "LinkedHashMap",
        Value::Many(_) => "VertexProperties",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_are_laid_out_as_java_does() {
        for (number, text) in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (-1.5, "-1.5"),
            (0.001, "0.001"),
            (0.000_999, "9.99E-4"),
            (0.012_5, "0.0125"),
            (9_999_999.0, "9999999.0"),
            (1e7, "1.0E7"),
            (12_345_678.9, "1.23456789E7"),
            (1_234.5, "1234.5"),
            (100.0, "100.0"),
            (1e100, "1.0E100"),
            (f64::MAX, "1.7976931348623157E308"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "Infinity"),
            (f64::NEG_INFINITY, "-Infinity"),
        ] {
            assert_eq!(of_double(number), text);
        }
        assert_eq!(of_float(0.1), "0.1");
        assert_eq!(of_float(1e10), "1.0E10");
    }

    #[test]
    fn every_double_reads_back() {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        for _ in 0..20_000 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let number = f64::from_bits(state);
            if number.is_finite() {
                let text = of_double(number);
                assert_eq!(text.parse::<f64>().ok(), Some(number), "{text}");
            }
        }
    }

    #[test]
    fn long_values_are_cut() {
        assert_eq!(of_value_short(&Value::Text("x".repeat(20))).len(), 20);
        assert_eq!(
            of_value_short(&Value::Text("abcdefghijklmnopqrstu".into())),
            "abcdefghijklmnopq..."
        );
    }
}
