//! Numbers of any size, stored as digits.

/// The most digits of a number, and its largest exponent. Larger numbers are refused, since Java's
/// `BigDecimal` takes long to print them.
const DIGITS_MAX: usize = 10_000;

/// A whole number of any size, as digits without leading zeros.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BigInteger(Box<str>);

/// A decimal number of any size, in its given form. Different forms are different numbers, as in
/// Java: `1.0` and `1.00` have different scales.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BigDecimal(Box<str>);

impl BigInteger {
    /// Parses digits with an optional sign; `None` when the text is no whole number, or too long.
    ///
    /// ```
    /// use varve_omrs::instances::BigInteger;
    /// assert_eq!(BigInteger::from_text("-007").unwrap().text(), "-7");
    /// assert_eq!(BigInteger::from_text("1.5"), None);
    /// ```
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        let (sign, digits) = signed(text);
        if !are_digits(digits) {
            return None;
        }
        match digits.trim_start_matches('0') {
            "" => Some(Self("0".into())),
            digits => Some(Self(format!("{sign}{digits}").into())),
        }
    }

    /// The digits.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }
}

impl BigDecimal {
    /// Parses a decimal number; `None` when the text is none, or too long.
    ///
    /// ```
    /// use varve_omrs::instances::BigDecimal;
    /// assert_eq!(BigDecimal::from_text("12.50").unwrap().text(), "12.50");
    /// assert_eq!(BigDecimal::from_text("NaN"), None);
    /// ```
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        let (sign, number) = signed(text);
        let (mantissa, exponent) = match number.split_once(['e', 'E']) {
            None => (number, None),
            Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        };
        let (whole, fraction) = match mantissa.split_once('.') {
            None => (mantissa, None),
            Some((whole, fraction)) => (whole, Some(fraction)),
        };
        let is_number = are_digits(whole) && fraction.is_none_or(are_digits);
        let exponent_fits = exponent.is_none_or(|exponent| {
            let value: Option<i64> = exponent.parse().ok();
            value.is_some_and(|value| value.unsigned_abs() <= DIGITS_MAX as u64)
        });
        if !is_number || !exponent_fits {
            return None;
        }
        // JSON has no leading zeros and no plus.
        let whole = match whole.trim_start_matches('0') {
            "" => "0",
            digits => digits,
        };
        Some(Self(
            format!("{sign}{whole}{}", &number[mantissa_whole(number)..]).into(),
        ))
    }

    /// The number in its given form.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }
}

/// The end of the whole part of a number without a sign.
fn mantissa_whole(number: &str) -> usize {
    let end = number.find(|character: char| !character.is_ascii_digit());
    end.unwrap_or(number.len())
}

fn signed(text: &str) -> (&str, &str) {
    match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    }
}

fn are_digits(text: &str) -> bool {
    !text.is_empty() && text.len() <= DIGITS_MAX && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_keep_their_scale_and_are_json() {
        let cases = [
            ("0", "0"),
            ("-0.10", "-0.10"),
            ("+5.00", "5.00"),
            ("007.5", "7.5"),
            ("1E+3", "1E+3"),
            (
                "123456789012345678901234567890.5",
                "123456789012345678901234567890.5",
            ),
        ];
        for (text, wanted) in cases {
            let decimal = BigDecimal::from_text(text).expect(text);
            assert_eq!(decimal.text(), wanted);
            serde_json::from_str::<f64>(decimal.text()).expect(text);
        }
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in [
            "",
            "-",
            ".5",
            "5.",
            "1e",
            "1e99999999",
            "0x1",
            "1 ",
            "Infinity",
        ] {
            assert_eq!(BigDecimal::from_text(text), None, "{text}");
        }
        for text in ["", "-", "1.0", "1e3", "--1", "one"] {
            assert_eq!(BigInteger::from_text(text), None, "{text}");
        }
        assert_eq!(BigInteger::from_text(&"9".repeat(DIGITS_MAX + 1)), None);
    }

    #[test]
    fn zero_has_no_sign() {
        assert_eq!(BigInteger::from_text("-0"), BigInteger::from_text("0"));
    }
}
