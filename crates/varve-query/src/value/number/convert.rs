//! Parsing of numbers, and conversion between their types.

use std::sync::Arc;

use num_bigint::BigInt;
use num_traits::{FromPrimitive, Num, ToPrimitive};
use varve_model::Decimal;

use super::Number;
use crate::{QueryError, Value};

/// The longest text that is parsed as a number, in bytes.
const TEXT_BYTES_MAX: usize = 4_096;

/// The type that a number is converted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the definition")]
pub enum NumberType {
    Byte,
    Short,
    Int,
    Long,
    BigInt,
    Float,
    Double,
    BigDecimal,
}

/// The most significant digits of a text that is read as a DOUBLE.
const DOUBLE_DIGITS_MAX: usize = 17;

/// Parses a number, with or without white space around it. A whole number is read as the narrowest
/// of INT, LONG and BIGINT, also in hexadecimal form, `0x1F`, and in octal form, `017`, as in the
/// reference. Any other number is read as a DOUBLE, or as a BIGDECIMAL if a DOUBLE has too few
/// digits or too small a range. The suffixes `L`, `f` and `d` give LONG, FLOAT and DOUBLE.
#[must_use]
pub fn parsed(text: &str) -> Option<Value> {
    let text = text.trim();
    if text.len() > TEXT_BYTES_MAX || text.contains('_') {
        return None;
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if !unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
        return None;
    }
    let is_alphanumeric = unsigned.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let digits = unsigned.strip_prefix('0').filter(|rest| !rest.is_empty());
    if let Some(digits) = digits.filter(|_| is_alphanumeric) {
        let (digits, radix) = match digits.strip_prefix(['x', 'X']) {
            Some(digits) => (digits, 16),
            None if digits.starts_with(|first: char| first.is_ascii_digit()) => (digits, 8),
            // `0L`, `0d`, `0e5`
            None => return suffixed(text),
        };
        let number = BigInt::from_str_radix(digits, radix).ok()?;
        let is_negative = text.starts_with('-');
        return Some(narrowest(if is_negative { -number } else { number }));
    }
    suffixed(text)
}

/// Parses a decimal number, perhaps with a suffix.
fn suffixed(text: &str) -> Option<Value> {
    if let Some(digits) = text.strip_suffix(['l', 'L']) {
        // The reference takes a minus before such a number, but no plus.
        let is_whole = !digits.starts_with('+');
        let number: BigInt = digits.parse().ok().filter(|_| is_whole)?;
        let long = number.to_i64().map(Value::Long);
        return long.or_else(|| Some(Value::BigInt(Arc::new(number))));
    }
    if let Ok(whole) = text.parse() {
        return Some(narrowest(whole));
    }
    let (digits, suffix) = match text.strip_suffix(['f', 'F', 'd', 'D']) {
        Some(digits) => (digits, text.as_bytes().last()),
        None => (text, None),
    };
    let plain = |byte: u8| byte.is_ascii_digit() || b".eE+-".contains(&byte);
    if !digits.bytes().all(plain) {
        return None;
    }
    match suffix {
        Some(b'f' | b'F') => digits
            .parse()
            .ok()
            .filter(|it: &f32| it.is_finite())
            .map(Value::Float),
        Some(_) => digits
            .parse()
            .ok()
            .filter(|it: &f64| it.is_finite())
            .map(Value::Double),
        None => fraction(digits),
    }
}

fn narrowest(whole: BigInt) -> Value {
    match (whole.to_i32(), whole.to_i64()) {
        (Some(number), _) => Value::Int(number),
        (None, Some(number)) => Value::Long(number),
        (None, None) => Value::BigInt(Arc::new(whole)),
    }
}

fn fraction(text: &str) -> Option<Value> {
    let number: f64 = text.parse().ok()?;
    let mantissa = text.split(['e', 'E']).next().unwrap_or(text);
    let digits = mantissa.bytes().filter(u8::is_ascii_digit);
    let digits = digits.skip_while(|digit| *digit == b'0').count();
    let fits = number.is_finite() && (number != 0.0 || digits == 0) && digits <= DOUBLE_DIGITS_MAX;
    match fits {
        true => Some(Value::Double(number)),
        false => Some(Value::BigDecimal(Arc::new(Decimal::parse(text)?))),
    }
}

/// Converts a number to another type. Conversion to a whole type drops the fraction.
///
/// # Errors
///
/// If the number is out of the type's range, or the value is not a number.
pub fn converted(value: &Value, wanted: NumberType) -> Result<Value, QueryError> {
    let number = Number::of(value).ok_or_else(|| QueryError::cast(value, "Number"))?;
    let overflow = |name: &str| {
        QueryError::invalid(format!(
            "Can't convert number of type {} to {name} due to overflow.",
            value.type_name()
        ))
    };
    let whole = |name: &str| -> Result<BigInt, QueryError> {
        match &number {
            Number::Whole(number, _) => Ok(BigInt::from(*number)),
            Number::BigInt(number) => Ok(number.as_ref().clone()),
            other => {
                let exact = match other {
                    // Exact, since the shortest text is rounded.
                    Number::Float(_) | Number::Double(_) => {
                        return BigInt::from_f64(other.to_f64().trunc())
                            .ok_or_else(|| overflow(name));
                    }
                    other => other.decimal().ok_or_else(|| overflow(name))?,
                };
                Ok(exact.with_scale(0).as_bigint_and_exponent().0)
            }
        }
    };
    Ok(match wanted {
        NumberType::Byte => Value::Byte(whole("Byte")?.to_i8().ok_or_else(|| overflow("Byte"))?),
        NumberType::Short => {
            Value::Short(whole("Short")?.to_i16().ok_or_else(|| overflow("Short"))?)
        }
        NumberType::Int => {
            let name = "Integer";
            Value::Int(whole(name)?.to_i32().ok_or_else(|| overflow(name))?)
        }
        NumberType::Long => Value::Long(whole("Long")?.to_i64().ok_or_else(|| overflow("Long"))?),
        NumberType::BigInt => Value::BigInt(Arc::new(whole("BigInteger")?)),
        NumberType::Float => {
            let wide = number.to_f64();
            #[allow(clippy::cast_possible_truncation, reason = "rounded, and checked")]
            let narrow = wide as f32;
            if narrow.is_infinite() && wide.is_finite() {
                return Err(overflow("Float"));
            }
            Value::Float(narrow)
        }
        NumberType::Double => Value::Double(match (&number, number.to_f64()) {
            (Number::BigInt(_) | Number::Decimal(_), wide) if !wide.is_finite() => {
                return Err(overflow("Double"));
            }
            // Converts by the shortest decimal text, not by the bits: 0.1 stays 0.1.
            (Number::Float(narrow), wide) => narrow.to_string().parse().unwrap_or(wide),
            (_, wide) => wide,
        }),
        NumberType::BigDecimal => {
            let exact = number.decimal().and_then(Decimal::new);
            Value::BigDecimal(Arc::new(exact.ok_or_else(|| overflow("BigDecimal"))?))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_read_as_the_narrowest_number() {
        assert_eq!(parsed("5"), Some(Value::Int(5)));
        assert_eq!(parsed("-0x10"), Some(Value::Int(-16)));
        assert_eq!(parsed("+017"), Some(Value::Int(15)));
        assert_eq!(parsed("00"), Some(Value::Int(0)));
        assert_eq!(parsed("0L"), Some(Value::Long(0)));
        assert_eq!(parsed("00.5"), Some(Value::Double(0.5)));
        assert_eq!(parsed("5000000000"), Some(Value::Long(5_000_000_000)));
        assert_eq!(parsed("2.5e1"), Some(Value::Double(25.0)));
        assert!(matches!(
            parsed("99999999999999999999"),
            Some(Value::BigInt(_))
        ));
        assert_eq!(parsed(" 5 "), Some(Value::Int(5)));
        assert_eq!(parsed("1L"), Some(Value::Long(1)));
        assert_eq!(parsed("1.5f"), Some(Value::Float(1.5)));
        assert_eq!(parsed("1d"), Some(Value::Double(1.0)));
        for text in ["1e400", "1e-400", "1.23456789012345678901"] {
            let decimal = Decimal::parse(text).map(|number| Value::BigDecimal(Arc::new(number)));
            assert_eq!(parsed(text), decimal);
        }
        for text in [
            "1n",
            "1e39f",
            "1e999999",
            "",
            "test",
            "1,000",
            "0x",
            "0xg",
            "NaN",
            "inf",
            "1_0",
            "e5",
            "--1",
            "08",
            "+02147483648",
            "010L",
            "+1L",
        ] {
            assert_eq!(parsed(text), None, "{text}");
        }
    }

    #[test]
    fn a_number_that_a_type_does_not_hold_is_refused() {
        let big = Decimal::parse("1e5000").expect("a number");
        let big = Value::BigDecimal(Arc::new(big));
        for (value, wanted) in [
            (Value::Int(300), NumberType::Byte),
            (Value::Double(1e300), NumberType::Float),
            (Value::Double(f64::NAN), NumberType::Int),
            (Value::Double(1e30), NumberType::Long),
            (big, NumberType::Double),
        ] {
            let refused = converted(&value, wanted)
                .expect_err("too large")
                .to_string();
            assert!(refused.ends_with("due to overflow."), "{refused}");
        }
    }
}
