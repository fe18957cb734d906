//! Order and hash of numbers by value.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use bigdecimal::BigDecimal;
use num_bigint::BigInt;
use num_traits::{FromPrimitive, ToPrimitive};

use super::Number;

/// 2^63: no LONG is as large.
const BEYOND_LONG: f64 = 9_223_372_036_854_775_808.0;

impl Number {
    /// The order by value; `None` if one is NaN.
    pub(crate) fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Whole(a, _), Self::Whole(b, _)) => Some(a.cmp(b)),
            _ if self.is_float() && other.is_float() => self.to_f64().partial_cmp(&other.to_f64()),
            (Self::Whole(a, _), _) if other.is_float() => with_float(*a, other.to_f64()),
            (_, Self::Whole(b, _)) if self.is_float() => {
                with_float(*b, self.to_f64()).map(Ordering::reverse)
            }
            _ => match (self.comparable(), other.comparable()) {
                (Some(a), Some(b)) => Some(a.cmp(&b)),
                // NaN or infinite, beside a number that is neither.
                (None, _) => self.to_f64().partial_cmp(&0.0),
                (_, None) => 0.0.partial_cmp(&other.to_f64()),
            },
        }
    }

    /// The order by value, NaN last.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        self.compare(other).unwrap_or_else(|| {
            let is_nan = |number: &Self| number.to_f64().is_nan();
            is_nan(self).cmp(&is_nan(other))
        })
    }

    /// The value for comparison: exact if it is whole, else that of the shortest text of a DOUBLE.
    /// `None` for NaN and infinities.
    fn comparable(&self) -> Option<BigDecimal> {
        match self {
            Self::Float(_) | Self::Double(_) => {
                let number = self.to_f64();
                match number.fract() == 0.0 {
                    true => BigInt::from_f64(number).map(BigDecimal::from),
                    false => Self::Double(number).decimal(),
                }
            }
            other => other.decimal(),
        }
    }

    /// Hashes the value, so that numbers that compare as equal have one hash.
    pub(crate) fn hash_by_value<H: Hasher>(&self, state: &mut H) {
        match self {
            Self::Whole(number, _) => number.hash(state),
            Self::BigInt(number) => hash_whole(number, state),
            Self::Float(_) | Self::Double(_) => hash_float(self.to_f64(), state),
            Self::Decimal(number) => {
                let (digits, scale) = number.normalized().into_bigint_and_scale();
                match u32::try_from(-scale) {
                    Ok(zeros) => hash_whole(&(digits * BigInt::from(10).pow(zeros)), state),
                    Err(_) => hash_fraction(&digits, scale, state),
                }
            }
        }
    }
}

/// The order of a whole number and a float; `None` for NaN.
#[allow(clippy::cast_possible_truncation, reason = "checked to be in range")]
fn with_float(number: i64, float: f64) -> Option<Ordering> {
    if float.is_nan() {
        return None;
    }
    if float >= BEYOND_LONG {
        return Some(Ordering::Less);
    }
    if float < -BEYOND_LONG {
        return Some(Ordering::Greater);
    }
    let fraction = 0.0.partial_cmp(&float.fract())?;
    Some(number.cmp(&(float.trunc() as i64)).then(fraction))
}

#[allow(clippy::cast_possible_truncation, reason = "checked to be in range")]
fn hash_float<H: Hasher>(number: f64, state: &mut H) {
    if number.fract() == 0.0 {
        match (-BEYOND_LONG..BEYOND_LONG).contains(&number) {
            true => (number as i64).hash(state),
            false => hash_whole(&BigInt::from_f64(number).unwrap_or_default(), state),
        }
        return;
    }
    // The shortest digits, without zeros at their end.
    let text = format!("{number:e}");
    let parts = text.split_once('e').and_then(|(digits, exponent)| {
        let places = digits.split_once('.').map_or(0, |(_, places)| places.len());
        let exponent: i64 = exponent.parse().ok()?;
        let digits: i64 = digits.replace('.', "").parse().ok()?;
        Some((digits, i64::try_from(places).ok()? - exponent))
    });
    match parts {
        Some((digits, scale)) => (digits, scale).hash(state),
        // NaN and infinities.
        None => text.hash(state),
    }
}

fn hash_whole<H: Hasher>(number: &BigInt, state: &mut H) {
    match number.to_i64() {
        Some(number) => number.hash(state),
        None => number.hash(state),
    }
}

fn hash_fraction<H: Hasher>(digits: &BigInt, scale: i64, state: &mut H) {
    match digits.to_i64() {
        Some(digits) => (digits, scale).hash(state),
        None => (digits, scale).hash(state),
    }
}
