//! Parsing of numbers, and conversion between their types.

use std::sync::Arc;

use bigdecimal::BigDecimal;
use num_bigint::BigInt;
use num_traits::{Num, ToPrimitive};

use super::{BITS_MAX, DIGITS_MAX, Number};
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
    /// The number's own type: no conversion.
    Any,
}

/// Parses a number: a whole number into the narrowest of INT, LONG and BIGINT, any other number
/// into DOUBLE. Whole numbers may be hexadecimal: `0x1F`.
#[must_use]
pub fn parsed(text: &str) -> Option<Value> {
    if text.len() > TEXT_BYTES_MAX || text.contains('_') {
        return None;
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if !unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
        return None;
    }
    let hexadecimal = unsigned
        .strip_prefix("0x")
        .or_else(|| unsigned.strip_prefix("0X"));
    let whole = match hexadecimal {
        Some(digits) if digits.bytes().all(|digit| digit.is_ascii_hexdigit()) => {
            let number = BigInt::from_str_radix(digits, 16).ok()?;
            Some(if text.starts_with('-') {
                -number
            } else {
                number
            })
        }
        Some(_) => return None,
        None => text.parse::<BigInt>().ok(),
    };
    let Some(whole) = whole else {
        let digits = |byte: u8| byte.is_ascii_digit() || b".eE+-".contains(&byte);
        let plain = text.bytes().all(digits);
        return plain.then(|| text.parse().ok().map(Value::Double))?;
    };
    Some(match (whole.to_i32(), whole.to_i64()) {
        (Some(number), _) => Value::Int(number),
        (None, Some(number)) => Value::Long(number),
        (None, None) => Value::BigInt(Arc::new(whole)),
    })
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
                let exact = other.exact().ok_or_else(|| overflow(name))?;
                // Checked before the conversion: a number with a huge exponent would need as many
                // digits.
                let digits = exact.digits().cast_signed() - exact.fractional_digit_count();
                if digits > i64::try_from(BITS_MAX).unwrap_or(i64::MAX) {
                    return Err(overflow(name));
                }
                Ok(exact.with_scale(0).as_bigint_and_exponent().0)
            }
        }
    };
    Ok(match wanted {
        NumberType::Any => value.clone(),
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
            let exact = match &number {
                Number::Double(value) => value.to_string().parse::<BigDecimal>().ok(),
                Number::Float(value) => value.to_string().parse::<BigDecimal>().ok(),
                other => other.exact(),
            };
            let exact = exact.ok_or_else(|| overflow("BigDecimal"))?;
            match exact.digits() > DIGITS_MAX {
                true => return Err(overflow("BigDecimal")),
                false => Value::BigDecimal(Arc::new(exact)),
            }
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
        assert_eq!(parsed("5000000000"), Some(Value::Long(5_000_000_000)));
        assert_eq!(parsed("2.5e1"), Some(Value::Double(25.0)));
        assert!(matches!(
            parsed("99999999999999999999"),
            Some(Value::BigInt(_))
        ));
        for text in [
            "", "test", "1,000", "0x", "0xg", "NaN", "inf", "1_0", "e5", "--1",
        ] {
            assert_eq!(parsed(text), None, "{text}");
        }
    }

    #[test]
    fn a_number_that_a_type_does_not_hold_is_refused() {
        let big: BigDecimal = "1e1000000000".parse().expect("a number");
        let big = Value::BigDecimal(Arc::new(big));
        for (value, wanted) in [
            (Value::Int(300), NumberType::Byte),
            (Value::Double(1e300), NumberType::Float),
            (Value::Double(f64::NAN), NumberType::Int),
            (Value::Double(1e30), NumberType::Long),
            (big.clone(), NumberType::BigInt),
            (big, NumberType::Double),
        ] {
            let refused = converted(&value, wanted)
                .expect_err("too large")
                .to_string();
            assert!(refused.ends_with("due to overflow."), "{refused}");
        }
    }
}
