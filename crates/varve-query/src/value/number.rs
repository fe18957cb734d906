//! Numbers of mixed widths: comparison and arithmetic as TinkerPop defines them.
//!
//! The result has the wider type of the two. If one operand is a float, so is the result; it has 32
//! bits only if both operands fit there, and is a BIGDECIMAL if the other has more than 64 bits. A
//! number that overflows becomes wider: a whole number up to LONG, a FLOAT to DOUBLE. A LONG that
//! overflows is an error.
//!
//! Numbers of unlike types are compared by value: whole numbers exactly, a fraction of a DOUBLE by
//! its shortest decimal text, so that 0.1 equals the BIGDECIMAL 0.1.

mod compare;
mod convert;

use std::cmp::Ordering;
use std::ops::{Add, Div, Mul, Sub};
use std::sync::Arc;

use bigdecimal::BigDecimal;
use num_bigint::BigInt;
use num_traits::{ToPrimitive, Zero};
use varve_model::Decimal;

use super::Value;
use crate::QueryError;

pub use convert::{NumberType, converted, parsed};

/// The most bits of a whole number that arithmetic may result in.
const BITS_MAX: u64 = 16_384;

/// A number with its width.
#[derive(Debug, Clone)]
pub(crate) enum Number {
    /// A whole number and its width in bits: 8, 16, 32 or 64.
    Whole(i64, u8),
    BigInt(Arc<BigInt>),
    Float(f32),
    Double(f64),
    Decimal(Arc<Decimal>),
}

/// An operation on two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the definition")]
pub enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Min,
    Max,
}

impl Number {
    pub(crate) fn of(value: &Value) -> Option<Self> {
        Some(match value {
            Value::Byte(number) => Self::Whole(i64::from(*number), 8),
            Value::Short(number) => Self::Whole(i64::from(*number), 16),
            Value::Int(number) => Self::Whole(i64::from(*number), 32),
            Value::Long(number) => Self::Whole(*number, 64),
            Value::BigInt(number) => Self::BigInt(Arc::clone(number)),
            Value::Float(number) => Self::Float(*number),
            Value::Double(number) => Self::Double(*number),
            Value::BigDecimal(number) => Self::Decimal(Arc::clone(number)),
            _ => return None,
        })
    }

    /// The number as a DOUBLE, rounded.
    #[allow(clippy::cast_precision_loss, reason = "rounded, as said")]
    pub(crate) fn to_f64(&self) -> f64 {
        match self {
            Self::Whole(number, _) => *number as f64,
            Self::BigInt(number) => number.to_f64().unwrap_or(f64::NAN),
            Self::Float(number) => f64::from(*number),
            Self::Double(number) => *number,
            Self::Decimal(number) => number.to_f64().unwrap_or(f64::NAN),
        }
    }

    /// The value in decimal digits, for a float those of its text in Java, `7.0`; `None` for NaN
    /// and infinities.
    fn decimal(&self) -> Option<BigDecimal> {
        match self {
            Self::Whole(number, _) => Some(BigDecimal::from(*number)),
            Self::BigInt(number) => Some(BigDecimal::from(number.as_ref().clone())),
            Self::Float(number) => Value::Float(*number).to_text().ok()?.parse().ok(),
            Self::Double(number) => Value::Double(*number).to_text().ok()?.parse().ok(),
            Self::Decimal(number) => Some(BigDecimal::clone(number)),
        }
    }

    const fn is_nan(&self) -> bool {
        match self {
            Self::Float(number) => number.is_nan(),
            Self::Double(number) => number.is_nan(),
            _ => false,
        }
    }

    const fn is_float(&self) -> bool {
        matches!(self, Self::Float(_) | Self::Double(_))
    }

    fn value(self) -> Value {
        match self {
            Self::Whole(number, bits) => whole(number, bits),
            Self::BigInt(number) => Value::BigInt(number),
            Self::Float(number) => Value::Float(number),
            Self::Double(number) => Value::Double(number),
            Self::Decimal(number) => Value::BigDecimal(number),
        }
    }
}

/// A whole number in the narrowest type that can store it and has at least `bits` bits.
fn whole(number: i64, bits: u8) -> Value {
    if bits <= 8
        && let Ok(number) = i8::try_from(number)
    {
        return Value::Byte(number);
    }
    if bits <= 16
        && let Ok(number) = i16::try_from(number)
    {
        return Value::Short(number);
    }
    if bits <= 32
        && let Ok(number) = i32::try_from(number)
    {
        return Value::Int(number);
    }
    Value::Long(number)
}

impl Arithmetic {
    /// Applies the operation to two numbers. If one of them is null, the result is `a`.
    ///
    /// # Errors
    ///
    /// If one is not a number, if a LONG overflows, and on division by zero.
    pub fn apply(self, a: &Value, b: &Value) -> Result<Value, QueryError> {
        if a.is_null() || b.is_null() {
            return Ok(a.clone());
        }
        let number =
            |value: &Value| Number::of(value).ok_or_else(|| QueryError::cast(value, "Number"));
        let (x, y) = (number(a)?, number(b)?);
        if matches!(self, Self::Min | Self::Max) {
            // NaN is neither the least nor the greatest of several numbers.
            if x.is_nan() || y.is_nan() {
                return Ok(if x.is_nan() { b } else { a }.clone());
            }
            let first = match self {
                Self::Min => x.order(&y) != Ordering::Greater,
                _ => x.order(&y) != Ordering::Less,
            };
            return Ok(widened(if first { &x } else { &y }, &x, &y));
        }
        match (&x, &y) {
            (Number::Whole(p, m), Number::Whole(q, n)) => self.whole(*p, *q, (*m).max(*n)),
            (Number::Float(p), Number::Float(q)) => Ok(self.floats(*p, *q)),
            // A FLOAT and a whole number of at most 32 bits give a FLOAT, as in the reference.
            #[allow(clippy::cast_precision_loss, reason = "rounded, as the reference does")]
            (Number::Float(p), Number::Whole(q, ..=32)) => Ok(self.floats(*p, *q as f32)),
            #[allow(clippy::cast_precision_loss, reason = "rounded, as the reference does")]
            (Number::Whole(p, ..=32), Number::Float(q)) => Ok(self.floats(*p as f32, *q)),
            (Number::Decimal(_), _) | (_, Number::Decimal(_)) => self.decimal(&x, &y),
            (Number::BigInt(_), other) | (other, Number::BigInt(_)) if other.is_float() => {
                self.decimal(&x, &y)
            }
            _ if x.is_float() || y.is_float() => {
                Ok(Value::Double(self.join(x.to_f64(), y.to_f64())))
            }
            _ => self.big(&x, &y),
        }
    }

    fn whole(self, a: i64, b: i64, bits: u8) -> Result<Value, QueryError> {
        let result = match self {
            Self::Add => a.checked_add(b),
            Self::Subtract => a.checked_sub(b),
            Self::Multiply => a.checked_mul(b),
            Self::Divide if b == 0 => return Err(QueryError::arithmetic("/ by zero")),
            Self::Divide => a.checked_div(b),
            Self::Min => Some(a.min(b)),
            Self::Max => Some(a.max(b)),
        };
        result
            .map(|number| whole(number, bits))
            .ok_or_else(|| QueryError::arithmetic("long overflow"))
    }

    /// The result for two FLOATs: a DOUBLE if it is too large for 32 bits.
    fn floats(self, a: f32, b: f32) -> Value {
        let narrow = self.join(a, b);
        match narrow.is_infinite() && a.is_finite() && b.is_finite() {
            true => Value::Double(self.join(f64::from(a), f64::from(b))),
            false => Value::Float(narrow),
        }
    }

    /// Applies the operation to two numbers of one type. A minimum or maximum is one of the two.
    fn join<T>(self, a: T, b: T) -> T
    where
        T: PartialOrd + Add<Output = T> + Sub<Output = T> + Mul<Output = T> + Div<Output = T>,
    {
        match self {
            Self::Add => a + b,
            Self::Subtract => a - b,
            Self::Multiply => a * b,
            Self::Divide => a / b,
            Self::Min => match b < a {
                true => b,
                false => a,
            },
            Self::Max => match b > a {
                true => b,
                false => a,
            },
        }
    }

    fn decimal(self, a: &Number, b: &Number) -> Result<Value, QueryError> {
        let (Some(x), Some(y)) = (a.decimal(), b.decimal()) else {
            return Ok(Value::Double(self.join(a.to_f64(), b.to_f64())));
        };
        if self == Self::Divide && y.is_zero() {
            return Err(QueryError::arithmetic("Division by zero"));
        }
        let result = Decimal::new(self.join(x, y));
        let result = result.ok_or(QueryError::arithmetic("The number has too many digits"))?;
        Ok(Value::BigDecimal(Arc::new(result)))
    }

    fn big(self, a: &Number, b: &Number) -> Result<Value, QueryError> {
        let of = |number: &Number| match number {
            Number::Whole(number, _) => BigInt::from(*number),
            Number::BigInt(number) => number.as_ref().clone(),
            // Floats take other ways.
            Number::Float(_) | Number::Double(_) | Number::Decimal(_) => BigInt::default(),
        };
        let (x, y) = (of(a), of(b));
        if self == Self::Divide && y.is_zero() {
            return Err(QueryError::arithmetic("BigInteger divide by zero"));
        }
        let result = self.join(x, y);
        if result.bits() > BITS_MAX {
            return Err(QueryError::arithmetic("The number is too large"));
        }
        Ok(Value::BigInt(Arc::new(result)))
    }
}

/// One of two numbers, in the wider type of the two.
fn widened(number: &Number, x: &Number, y: &Number) -> Value {
    let is_big = |number: &Number| matches!(number, Number::BigInt(_));
    let is_wide = |number: &Number| matches!(number, Number::Whole(_, 64) | Number::Double(_));
    match (x, y, number) {
        (Number::Whole(_, m), Number::Whole(_, n), Number::Whole(value, _)) => {
            whole(*value, (*m).max(*n))
        }
        _ if matches!(x, Number::Decimal(_))
            || matches!(y, Number::Decimal(_))
            || (is_big(x) || is_big(y)) && (x.is_float() || y.is_float()) =>
        {
            match number.decimal().and_then(Decimal::new) {
                Some(exact) => Value::BigDecimal(Arc::new(exact)),
                None => number.clone().value(),
            }
        }
        (_, _, Number::Whole(value, _)) if is_big(x) || is_big(y) => {
            Value::BigInt(Arc::new((*value).into()))
        }
        #[allow(
            clippy::cast_possible_truncation,
            reason = "a FLOAT, or at most 32 bits"
        )]
        _ if (x.is_float() || y.is_float()) && !is_wide(x) && !is_wide(y) => {
            Value::Float(number.to_f64() as f32)
        }
        _ if x.is_float() || y.is_float() => Value::Double(number.to_f64()),
        _ => number.clone().value(),
    }
}

/// A sum divided by a count: a DOUBLE, or a BIGDECIMAL if the sum is a BIGINT or a BIGDECIMAL.
pub(crate) fn mean(sum: &Value, count: u64) -> Option<Value> {
    let number = Number::of(sum)?;
    if count == 0 {
        return None;
    }
    match number {
        Number::BigInt(_) | Number::Decimal(_) => {
            let mean = Decimal::new(number.decimal()? / BigDecimal::from(count))?;
            Some(Value::BigDecimal(Arc::new(mean)))
        }
        #[allow(clippy::cast_precision_loss, reason = "a mean is rounded")]
        _ => Some(Value::Double(number.to_f64() / count as f64)),
    }
}

pub(crate) fn times(number: &Value, bulk: u64) -> Result<Value, QueryError> {
    match bulk {
        1 => Ok(number.clone()),
        _ => {
            let bulk = i64::try_from(bulk).map_err(|_| {
                QueryError::arithmetic(
                    "A sum of more than 2^63 - 1 equal values cannot be computed",
                )
            })?;
            // The factor has the narrowest type, so that the number's own width decides.
            Arithmetic::Multiply.apply(number, &whole(bulk, 8))
        }
    }
}
