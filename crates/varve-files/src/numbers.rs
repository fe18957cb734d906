//! Numbers of CSV cells.

use std::borrow::Cow;

use serde_json::{Number, Value};

/// The least digits of a number that 64 bits may not hold.
const DIGITS_OF_64_BITS: usize = 19;

/// The mark before the fraction of a number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Decimal {
    /// `1.5`.
    #[default]
    Point,
    /// `1,5`.
    Comma,
}

impl Decimal {
    /// The text with a point before its fraction; `None` if it has a point although a comma is
    /// expected.
    fn pointed(self, text: &str) -> Option<String> {
        match self {
            Self::Point => Some(text.to_owned()),
            Self::Comma if text.contains('.') => None,
            Self::Comma => Some(text.replacen(',', ".", 1)),
        }
    }

    /// A number, or the name of a value that JSON has no number for. A text like `1e400` is
    /// neither.
    #[must_use]
    pub fn real(self, text: &str) -> Option<Value> {
        let text = self.pointed(text.trim())?;
        let number: f64 = text.parse().ok()?;
        if number.is_infinite() && text.bytes().any(|byte| byte.is_ascii_digit()) {
            return None;
        }
        Some(real(number))
    }
}

/// A number, or the name of a value that JSON has no number for.
pub(crate) fn real(number: f64) -> Value {
    let name = match number {
        _ if number.is_nan() => "NaN",
        _ if number > 0.0 => "Infinity",
        _ => "-Infinity",
    };
    let finite = Number::from_f64(number);
    finite.map_or_else(|| Value::from(name), Value::Number)
}

/// A text of JSON in which whole numbers over 64 bits are texts: as numbers they would lose digits.
pub(crate) fn with_all_digits(json: &[u8]) -> Cow<'_, [u8]> {
    let mut parts = json.split(|byte| !byte.is_ascii_digit());
    if !parts.any(|digits| digits.len() >= DIGITS_OF_64_BITS) {
        return Cow::Borrowed(json);
    }
    let mut out = Vec::with_capacity(json.len() + 2);
    let (mut rest, mut in_text) = (json, false);
    while let Some((first, after)) = rest.split_first() {
        let is_number = |byte: &&u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
        let length = match (in_text, first) {
            (true, b'\\') => 2.min(rest.len()),
            (false, b'-' | b'0'..=b'9') => 1 + after.iter().take_while(is_number).count(),
            _ => 1,
        };
        in_text ^= *first == b'"';
        let (token, others) = rest.split_at(length);
        rest = others;
        match !in_text && is_over_64_bits(token) {
            true => {
                out.push(b'"');
                out.extend_from_slice(token);
                out.push(b'"');
            }
            false => out.extend_from_slice(token),
        }
    }
    Cow::Owned(out)
}

/// Whether a token of JSON is a whole number over 64 bits.
fn is_over_64_bits(token: &[u8]) -> bool {
    let digits = token.strip_prefix(b"-").unwrap_or(token);
    let is_whole = digits.len() >= DIGITS_OF_64_BITS
        && digits.first() != Some(&b'0')
        && digits.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(token).unwrap_or_default();
    is_whole && text.parse::<i64>().is_err() && text.parse::<u64>().is_err()
}

/// A decimal number as JSON: exact, or as a text if a double cannot hold it. A fraction of zeros
/// does not count.
#[must_use]
pub fn whole_or_real(text: &str) -> Value {
    let text = match text.split_once('.') {
        Some((whole, fraction)) if fraction.bytes().all(|byte| byte == b'0') => whole,
        Some(_) => text.trim_end_matches('0'),
        None => text,
    };
    if let Ok(whole) = text.parse::<i64>() {
        return Value::from(whole);
    }
    let digits = text.bytes().filter(u8::is_ascii_digit);
    let digits = digits.skip_while(|digit| *digit == b'0').count();
    match text.parse::<f64>() {
        // Every decimal number of 15 digits is the only one nearest to its double.
        Ok(number) if digits <= 15 => real(number),
        _ => Value::from(text),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_comma_stands_before_the_fraction() {
        assert_eq!(Decimal::Comma.real("1,5"), Some(json!(1.5)));
        assert_eq!(Decimal::Comma.real("-3"), Some(json!(-3.0)));
        for text in ["1.5", "1,000,5", "1.000,5", ","] {
            assert_eq!(Decimal::Comma.real(text), None, "{text}");
        }
        assert_eq!(Decimal::Point.real("1,5"), None);
    }

    #[test]
    fn whole_numbers_over_64_bits_become_texts() {
        let whole = |text: &str| {
            let text = with_all_digits(text.as_bytes());
            String::from_utf8(text.into_owned()).expect("UTF-8")
        };
        let long = "123456789012345678901";
        let text =
            format!(r#"{{"a":{long}, "b":[-{long},1.{long},{long}e2],"{long}":"\"{long}"}}"#);
        assert_eq!(
            whole(&text),
            format!(r#"{{"a":"{long}", "b":["-{long}",1.{long},{long}e2],"{long}":"\"{long}"}}"#)
        );
        for text in [
            r#"{"a":9223372036854775807,"b":-9223372036854775808,"c":18446744073709551615}"#,
            r#"{"a":00000000000000000000001}"#,
            r#"{"a":"ends in a backslash 1234567890123456789\"#,
        ] {
            assert_eq!(whole(text), text);
        }
        assert_eq!(whole("18446744073709551616"), r#""18446744073709551616""#);
        assert_eq!(whole("-9223372036854775809"), r#""-9223372036854775809""#);
    }

    #[test]
    fn long_decimals_stay_exact() {
        assert_eq!(whole_or_real("12"), json!(12));
        assert_eq!(whole_or_real("12.50"), json!(12.5));
        assert_eq!(whole_or_real("0.500000000000000000"), json!(0.5));
        assert_eq!(whole_or_real("-5.000000000000000000"), json!(-5));
        assert_eq!(whole_or_real("100"), json!(100));
        let long = "12345678901234.5678";
        assert_eq!(whole_or_real(long), json!(long));
    }
}
