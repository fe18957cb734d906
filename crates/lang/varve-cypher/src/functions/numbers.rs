//! Functions of numbers, and random ones.

use std::cell::Cell;
use std::f64::consts::{E, PI};
use std::hash::{BuildHasher, RandomState};

use super::{Function, Returns, Types, bad_value};
use crate::error::{Outcome, argument_error, arithmetic_error};
use crate::expression::Frame;
use crate::value::Value;

const N: Types = Types::NUMBER;
const FLOAT: Returns = Returns::One(Types::FLOAT);
const MODES: &str = "UP, DOWN, CEILING, FLOOR, HALF_UP, HALF_DOWN or HALF_EVEN";

/// A function of one number whose result is a float.
macro_rules! of_float {
    ($name:literal, $body:expr) => {
        Function::new($name, &[N], FLOAT, |values, _| {
            let body: fn(f64) -> f64 = $body;
            Ok(Value::Float(body(float(values.first())?)))
        })
    };
}

pub(super) const TABLE: &[Function] = &[
    Function::new("abs", &[N], Returns::Argument(0), abs),
    Function::new("sign", &[N], Returns::One(Types::INTEGER), sign),
    Function::new("round", &[N, Types::INTEGER, Types::STRING], FLOAT, round).required(1),
    of_float!("ceil", f64::ceil),
    of_float!("ceiling", f64::ceil),
    of_float!("floor", f64::floor),
    of_float!("sqrt", f64::sqrt),
    of_float!("exp", f64::exp),
    of_float!("log", f64::ln),
    of_float!("ln", f64::ln),
    of_float!("log10", f64::log10),
    of_float!("sin", f64::sin),
    of_float!("cos", f64::cos),
    of_float!("tan", f64::tan),
    of_float!("cot", |x| 1.0 / x.tan()),
    of_float!("asin", f64::asin),
    of_float!("acos", f64::acos),
    of_float!("atan", f64::atan),
    of_float!("sinh", f64::sinh),
    of_float!("cosh", f64::cosh),
    of_float!("tanh", f64::tanh),
    of_float!("coth", |x| 1.0 / x.tanh()),
    of_float!("haversin", |x| (1.0 - x.cos()) / 2.0),
    of_float!("degrees", f64::to_degrees),
    of_float!("radians", f64::to_radians),
    Function::new("atan2", &[N, N], FLOAT, |values, _| {
        Ok(Value::Float(
            float(values.first())?.atan2(float(values.get(1))?),
        ))
    }),
    Function::new("isNaN", &[N], Returns::One(Types::BOOLEAN), |values, _| {
        Ok(Value::Boolean(float(values.first())?.is_nan()))
    }),
    Function::new("e", &[], FLOAT, |_, _| Ok(Value::Float(E))),
    Function::new("pi", &[], FLOAT, |_, _| Ok(Value::Float(PI))),
    Function::new("rand", &[], FLOAT, |_, _| Ok(Value::Float(unit(random())))),
    Function::new("randomUUID", &[], Returns::One(Types::STRING), random_uuid),
];

#[expect(
    clippy::cast_precision_loss,
    reason = "functions of floats take integers too"
)]
fn float(value: Option<&Value>) -> Outcome<f64> {
    match value {
        Some(Value::Float(number)) => Ok(*number),
        Some(Value::Integer(number)) => Ok(*number as f64),
        other => Err(bad_value("INTEGER or FLOAT", other)),
    }
}

fn abs(values: &[Value], _: &Frame<'_>) -> Outcome<Value> {
    match values {
        [Value::Integer(number)] => number.checked_abs().map(Value::Integer).ok_or_else(|| {
            arithmetic_error("IntegerOverflow", "the result does not fit an INTEGER")
        }),
        _ => Ok(Value::Float(float(values.first())?.abs())),
    }
}

fn sign(values: &[Value], _: &Frame<'_>) -> Outcome<Value> {
    let number = float(values.first())?;
    Ok(Value::Integer(
        i64::from(number > 0.0) - i64::from(number < 0.0),
    ))
}

/// `round(number)` rounds ties up; with a precision, the mode says how, HALF_UP by default.
fn round(values: &[Value], _: &Frame<'_>) -> Outcome<Value> {
    let number = float(values.first())?;
    let precision = match values.get(1) {
        None => {
            let floor = number.floor();
            let up = f64::from(u8::from(number - floor >= 0.5));
            return Ok(Value::Float(floor + up));
        }
        Some(Value::Integer(precision)) => *precision,
        other => return Err(bad_value("INTEGER", other)),
    };
    let mode = match values.get(2) {
        None => "HALF_UP",
        Some(Value::String(mode)) => mode,
        other => return Err(bad_value("STRING", other)),
    };
    let precision = i32::try_from(precision)
        .ok()
        .filter(|at| (0..=400).contains(at));
    let Some(precision) = precision else {
        return Err(argument_error(
            "NumberOutOfRange",
            "the precision is not 0 to 400",
        ));
    };
    match round_decimal(number, precision, &mode.to_ascii_uppercase()) {
        Some(number) => Ok(Value::Float(number)),
        None => {
            let message = format!("the mode of round() is {MODES}");
            Err(argument_error("InvalidArgumentValue", message))
        }
    }
}

/// A number rounded to so many decimal places, as its shortest decimal text is. `None` for an
/// unknown mode.
fn round_decimal(number: f64, places: i32, mode: &str) -> Option<f64> {
    let negative = number.is_sign_negative();
    let text = format!("{:e}", number.abs());
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let digits: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).collect();
    let exponent: i32 = exponent.parse().unwrap_or(0);
    // The digits before this one are kept.
    let kept = usize::try_from(exponent + 1 + places).unwrap_or(0);
    let is_below = exponent + 1 + places < 0;
    let rest = digits.get(kept..).unwrap_or_default();
    let has_rest = rest.iter().any(|digit| *digit != b'0');
    let first = if is_below {
        b'0'
    } else {
        rest.first().copied().unwrap_or(b'0')
    };
    let beyond = rest.iter().skip(1).any(|digit| *digit != b'0');
    let is_half = first == b'5' && !beyond;
    let above = first > b'5' || (first == b'5' && beyond);
    let odd = kept > 0 && digits.get(kept - 1).is_some_and(|digit| digit % 2 == 1);
    let up = match mode {
        "UP" => has_rest,
        "DOWN" => false,
        "CEILING" => has_rest && !negative,
        "FLOOR" => has_rest && negative,
        "HALF_UP" => above || is_half,
        "HALF_DOWN" => above,
        "HALF_EVEN" => above || (is_half && odd),
        _ => return None,
    };
    if !number.is_finite() || !has_rest {
        return Some(number);
    }
    let whole: String = digits
        .iter()
        .take(kept)
        .map(|digit| char::from(*digit))
        .collect();
    let whole: u64 = if whole.is_empty() {
        0
    } else {
        whole.parse().unwrap_or(0)
    };
    let found: f64 = format!("{}e{}", whole + u64::from(up), -places)
        .parse()
        .ok()?;
    Some(if negative { -found } else { found })
}

/// The next 64 random bits of this thread: xorshift, seeded by the standard library's hasher.
fn random() -> u64 {
    thread_local! {
        static STATE: Cell<u64> = Cell::new(RandomState::new().hash_one(0_u8) | 1);
    }
    STATE.with(|state| {
        let mut bits = state.get();
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        state.set(bits);
        bits.wrapping_mul(0x2545_F491_4F6C_DD1D)
    })
}

/// A number from 0 to below 1.
#[expect(clippy::cast_precision_loss, reason = "53 bits fit a float")]
fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

/// A UUID of version 4. It is not for secrets.
fn random_uuid(_: &[Value], _: &Frame<'_>) -> Outcome<Value> {
    let bits = (u128::from(random()) << 64) | u128::from(random());
    let version = (bits & !(0xF << 76)) | (4 << 76);
    let uuid = (version & !(0b11 << 62)) | (0b10 << 62);
    Ok(Value::string(varve_model::value::Uuid(uuid).to_string()))
}
