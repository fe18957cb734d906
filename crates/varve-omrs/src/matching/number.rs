//! Compares numbers of different kinds by value.

use std::cmp::Ordering;

use crate::instances::Primitive;

/// A number of any kind. JSON has only one kind of number, so the kind that a client sends may
/// differ from the stored one.
#[derive(Debug, Clone, Copy)]
pub(super) enum Number<'a> {
    Whole(i64),
    Double(f64),
    /// Compared by its shortest text, as clients see it: `1.1`, not `1.10000002384185791015625`.
    Float(f32),
    Digits(&'a str),
}

/// A decimal number: sign, digits without leading and trailing zeros, and the exponent of the first
/// digit.
#[derive(Debug, PartialEq, Eq)]
struct Decimal {
    is_negative: bool,
    exponent: i64,
    digits: Vec<u8>,
}

impl<'a> Number<'a> {
    /// The number in a primitive value. A date is its milliseconds.
    pub(super) fn of(value: &'a Primitive) -> Option<Self> {
        Some(match value {
            Primitive::Byte(value) => Self::Whole(i64::from(*value)),
            Primitive::Short(value) => Self::Whole(i64::from(*value)),
            Primitive::Int(value) => Self::Whole(i64::from(*value)),
            Primitive::Long(value) => Self::Whole(*value),
            Primitive::Date(value) => Self::Whole(value.0),
            Primitive::Float(value) => Self::Float(*value),
            Primitive::Double(value) => Self::Double(*value),
            Primitive::BigInteger(value) => Self::Digits(value.text()),
            Primitive::BigDecimal(value) => Self::Digits(value.text()),
            _ => return None,
        })
    }

    /// Compares by value. NaN is equal to itself and greater than all others, as in Java's
    /// `compareTo`.
    pub(super) fn compare(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Whole(one), Self::Whole(other)) => one.cmp(&other),
            (Self::Double(one), Self::Double(other)) => compare_doubles(one, other),
            (Self::Float(one), Self::Float(other)) => {
                compare_doubles(f64::from(one), f64::from(other))
            }
            _ => match (self.special(), other.special()) {
                (None, None) => self.decimal().compare(&other.decimal()),
                (one, other) => compare_doubles(one.unwrap_or(0.0), other.unwrap_or(0.0)),
            },
        }
    }

    /// An infinity or NaN.
    fn special(self) -> Option<f64> {
        let value = match self {
            Self::Double(value) => value,
            Self::Float(value) => f64::from(value),
            Self::Whole(_) | Self::Digits(_) => return None,
        };
        (!value.is_finite()).then_some(value)
    }

    fn decimal(self) -> Decimal {
        match self {
            Self::Whole(value) => Decimal::from_text(&value.to_string()),
            Self::Double(value) => Decimal::from_text(&value.to_string()),
            Self::Float(value) => Decimal::from_text(&value.to_string()),
            Self::Digits(text) => Decimal::from_text(text),
        }
    }
}

fn compare_doubles(one: f64, other: f64) -> Ordering {
    one.partial_cmp(&other)
        .unwrap_or_else(|| one.is_nan().cmp(&other.is_nan()))
}

impl Decimal {
    /// Parses a decimal number.
    fn from_text(text: &str) -> Self {
        let is_negative = text.starts_with('-');
        let text = text.trim_start_matches(['-', '+']);
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let exponent: i64 = exponent.parse().unwrap_or(0);
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = whole.bytes().chain(fraction.bytes());
        let zeros = all.clone().take_while(|digit| *digit == b'0').count();
        let mut digits: Vec<u8> = all.skip(zeros).collect();
        while digits.last() == Some(&b'0') {
            digits.pop();
        }
        if digits.is_empty() {
            return Self {
                is_negative: false,
                exponent: 0,
                digits,
            };
        }
        Self {
            is_negative,
            exponent: exponent + whole.len() as i64 - zeros as i64,
            digits,
        }
    }

    fn compare(&self, other: &Self) -> Ordering {
        let sign = |of: &Self| match (of.digits.is_empty(), of.is_negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        };
        let signs = sign(self).cmp(&sign(other));
        if signs.is_ne() || self.digits.is_empty() {
            return signs;
        }
        let size = self
            .exponent
            .cmp(&other.exponent)
            .then_with(|| self.digits.cmp(&other.digits));
        if self.is_negative {
            size.reverse()
        } else {
            size
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instances::{BigDecimal, BigInteger};

    fn decimal(text: &str) -> Primitive {
        Primitive::BigDecimal(BigDecimal::from_text(text).expect(text))
    }

    fn integer(text: &str) -> Primitive {
        Primitive::BigInteger(BigInteger::from_text(text).expect(text))
    }

    fn order(one: &Primitive, other: &Primitive) -> Ordering {
        let one = Number::of(one).expect("a number");
        one.compare(Number::of(other).expect("a number"))
    }

    #[test]
    fn kinds_do_not_matter() {
        let fives = [
            Primitive::Byte(5),
            Primitive::Short(5),
            Primitive::Int(5),
            Primitive::Long(5),
            Primitive::Float(5.0),
            Primitive::Double(5.0),
            decimal("5.00"),
            decimal("0.05e2"),
            integer("5"),
        ];
        for one in &fives {
            for other in &fives {
                assert_eq!(order(one, other), Ordering::Equal, "{one:?} {other:?}");
            }
        }
        assert_eq!(
            order(&Primitive::Float(1.1), &Primitive::Double(1.1)),
            Ordering::Equal
        );
    }

    #[test]
    fn numbers_of_all_kinds_have_one_order() {
        let ascending = [
            Primitive::Double(f64::NEG_INFINITY),
            integer("-123456789012345678901234567890"),
            Primitive::Long(i64::MIN),
            decimal("-10.5"),
            Primitive::Int(-10),
            Primitive::Double(-0.001),
            Primitive::Byte(0),
            decimal("0.0009"),
            Primitive::Float(0.001),
            Primitive::Int(1),
            decimal("1.000000000000000000000000000001"),
            Primitive::Long(9),
            Primitive::Short(10),
            Primitive::Double(1e300),
            decimal("1e1000"),
            Primitive::Float(f32::INFINITY),
            Primitive::Double(f64::NAN),
        ];
        for (at, one) in ascending.iter().enumerate() {
            for (other_at, other) in ascending.iter().enumerate() {
                assert_eq!(
                    order(one, other),
                    at.cmp(&other_at),
                    "{one:?} against {other:?}"
                );
            }
        }
    }
}
