//! Decimal numbers of bounded size.

use std::fmt;
use std::ops::Deref;

use bigdecimal::BigDecimal;

/// A decimal number whose digits and decimal places are bounded. A number such as `1E+100000000` is
/// short to write, but its digits fill megabytes as soon as something adds to it or prints it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Decimal(BigDecimal);

impl Decimal {
    /// The most digits of a number, and the most decimal places to the right or, as zeros, to the
    /// left.
    pub const DIGITS_MAX: u64 = 5_000;

    /// This number, or `None` if it exceeds [`Decimal::DIGITS_MAX`].
    #[must_use]
    pub fn new(number: BigDecimal) -> Option<Self> {
        // A digit has more than 3 bits: the bits bound the cost of counting the digits.
        let (digits, scale) = number.as_bigint_and_scale();
        let fits = digits.bits() <= Self::DIGITS_MAX * 4
            && scale.unsigned_abs() <= Self::DIGITS_MAX
            && number.digits() <= Self::DIGITS_MAX;
        fits.then_some(Self(number))
    }

    /// Reads a number, with or without an exponent. `None` if it is none, or exceeds the bound.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        // Room for a sign, a point and an exponent. Reading a text takes the square of its length.
        if text.len() as u64 > Self::DIGITS_MAX + 16 {
            return None;
        }
        Self::new(text.parse().ok()?)
    }
}

impl Deref for Decimal {
    type Target = BigDecimal;

    fn deref(&self) -> &BigDecimal {
        &self.0
    }
}

impl From<i64> for Decimal {
    fn from(number: i64) -> Self {
        Self(number.into())
    }
}

impl fmt::Display for Decimal {
    /// As Java's `BigDecimal`: without an exponent if the scale is not negative and the first digit
    /// is at most six places after the point.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, scale) = self.0.as_bigint_and_scale();
        let digits = number.magnitude().to_string();
        if number.sign() == num_bigint::Sign::Minus {
            f.write_str("-")?;
        }
        let places = i64::try_from(digits.len()).unwrap_or(i64::MAX);
        let exponent = places - 1 - scale;
        if scale < 0 || exponent < -6 {
            let (first, rest) = digits.split_at(1);
            f.write_str(first)?;
            if !rest.is_empty() {
                write!(f, ".{rest}")?;
            }
            return match exponent {
                0 => Ok(()),
                _ => write!(f, "E{exponent:+}"),
            };
        }
        match usize::try_from(places - scale) {
            _ if scale == 0 => f.write_str(&digits),
            Ok(whole) if whole > 0 => write!(f, "{}.{}", &digits[..whole], &digits[whole..]),
            _ => {
                let zeros = usize::try_from(scale - places).unwrap_or(0);
                write!(f, "0.{:0<zeros$}{digits}", "")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_beyond_the_bound_has_no_constructor() {
        for text in ["1E100000000", "1E-100000000", "1e5001", &"9".repeat(5_001)] {
            assert_eq!(Decimal::parse(text), None);
        }
        assert!(Decimal::new(BigDecimal::new(1.into(), -100_000_000)).is_none());
        for text in ["1E5000", "1E-5000", "-12.50", &"9".repeat(5_000)] {
            assert!(Decimal::parse(text).is_some(), "{text}");
        }
    }

    #[test]
    fn numbers_are_written_as_java_does() {
        for (digits, scale, text) in [
            (0, 0, "0"),
            (0, 2, "0.00"),
            (150, 2, "1.50"),
            (-5, 3, "-0.005"),
            (1, 6, "0.000001"),
            (1, 7, "1E-7"),
            (12, 8, "1.2E-7"),
            (1, -20, "1E+20"),
            (-123, -2, "-1.23E+4"),
            (100, 0, "100"),
            (0, 7, "0E-7"),
        ] {
            let number = Decimal::new(BigDecimal::new(digits.into(), scale)).expect(text);
            assert_eq!(number.to_string(), text);
        }
    }
}
