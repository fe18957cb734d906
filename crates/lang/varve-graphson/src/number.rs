//! Limits of big numbers, and UUIDs as text.

use bigdecimal::BigDecimal;
use varve_gremlin::NUMBER_DIGITS_MAX;
use varve_model::Decimal;

use crate::error::{Result, WireError};

/// The most bytes of a binary BigInteger: enough for a number of [`NUMBER_DIGITS_MAX`] decimal
/// digits.
pub(crate) const BIG_BYTES_MAX: usize = NUMBER_DIGITS_MAX * 5 / 12;

/// Checks that the text of a number has at most [`NUMBER_DIGITS_MAX`] + 12 bytes.
pub(crate) fn checked_big<'t>(kind: &str, text: &'t str) -> Result<&'t str> {
    // The 12 further bytes are for a sign, a point and an exponent.
    if text.len() > NUMBER_DIGITS_MAX + 12 {
        let message = format!("it has more than {NUMBER_DIGITS_MAX} digits");
        return Err(WireError::value(kind, message));
    }
    Ok(text)
}

/// A decimal number, if its digits and its scale are within the bound of such numbers.
pub(crate) fn checked_decimal(kind: &str, value: BigDecimal) -> Result<Decimal> {
    let decimal = Decimal::new(value);
    decimal.ok_or_else(|| WireError::value(kind, "it has too many digits or too large a scale"))
}

/// Parses a UUID: 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12, separated by `-`. `None`
/// for other texts.
pub(crate) fn uuid(text: &str) -> Option<u128> {
    let bytes = text.as_bytes();
    let mut value = 0;
    for (place, byte) in bytes.iter().enumerate() {
        if matches!(place, 8 | 13 | 18 | 23) {
            if *byte != b'-' {
                return None;
            }
        } else {
            let digit = char::from(*byte).to_digit(16)?;
            value = value << 4 | u128::from(digit);
        }
    }
    (bytes.len() == 36).then_some(value)
}

pub(crate) fn uuid_text(value: u128) -> String {
    let digits = format!("{value:032x}");
    let groups = [
        &digits[..8],
        &digits[8..12],
        &digits[12..16],
        &digits[16..20],
        &digits[20..],
    ];
    groups.join("-")
}
