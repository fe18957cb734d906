//! Values that only open graphs store. Values of declared graphs never reach this module.

use bigdecimal::BigDecimal;
use num_bigint::BigInt;
use varve_model::value::{DateTime, Duration};
use varve_model::{Decimal, Many, Numbered, Properties, PropertyKeyId, Value};

use super::{DEPTH_MAX, OPEN_FROM, put_bytes, put_integer, put_sized, put_value};
use super::{put_varint, put_zigzag};
use super::{take_bytes, take_integer, take_nested, take_varint};
use crate::key::{put_schema_id, take_schema_id};

const SHORT: u8 = OPEN_FROM;
const BIG_INT: u8 = 16;
const BIG_DECIMAL: u8 = 17;
const CHAR: u8 = 18;
const DATE_TIME: u8 = 19;
const DURATION: u8 = 20;
const MAP: u8 = 21;
pub(super) const MANY: u8 = 22;

const NANOS_PER_SECOND: u32 = 1_000_000_000;

type Taken<'a> = Option<(Value, &'a [u8])>;

/// Appends a value that only open graphs store.
pub(super) fn put(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Short(number) => put_integer(SHORT, i64::from(*number), out),
        Value::BigInt(number) => put_bytes(BIG_INT, &number.to_signed_bytes_be(), out),
        Value::BigDecimal(number) => {
            let (digits, scale) = number.as_bigint_and_exponent();
            put_integer(BIG_DECIMAL, scale, out);
            put_sized(&digits.to_signed_bytes_be(), out);
        }
        Value::Char(one) => {
            out.push(CHAR);
            put_varint(u64::from(u32::from(*one)), out);
        }
        Value::DateTime(at) => {
            put_integer(DATE_TIME, at.micros, out);
            put_zigzag(i64::from(at.offset), out);
        }
        Value::Duration(span) => {
            put_integer(DURATION, span.seconds, out);
            put_varint(u64::from(span.nanos), out);
        }
        Value::Map(entries) => {
            out.push(MAP);
            put_varint(entries.len() as u64, out);
            for (key, value) in entries {
                put_value(key, out);
                put_value(value, out);
            }
        }
        Value::Many(many) => put_many(many, out),
        // `put_value` has a tag for each of the others.
        common => put_value(common, out),
    }
}

fn put_many(many: &Many, out: &mut Vec<u8>) {
    out.push(MANY);
    put_varint(many.values().len() as u64, out);
    for numbered in many.values() {
        put_varint(u64::from(numbered.number), out);
        put_value(&numbered.value, out);
        put_varint(numbered.meta.len() as u64, out);
        for (key, value) in numbered.meta.iter() {
            put_schema_id(key.0, out);
            put_value(value, out);
        }
    }
}

/// Reads the value that follows `tag`; also returns what follows it.
pub(super) fn take(tag: u8, rest: &[u8], depth: u8) -> Taken<'_> {
    Some(match tag {
        SHORT => {
            let (number, rest) = take_integer(rest)?;
            (Value::Short(i16::try_from(number).ok()?), rest)
        }
        BIG_INT => {
            let (number, rest) = take_big(rest)?;
            (Value::BigInt(Box::new(number)), rest)
        }
        BIG_DECIMAL => {
            let (scale, rest) = take_integer(rest)?;
            let (digits, rest) = take_big(rest)?;
            let number = Decimal::new(BigDecimal::new(digits, scale))?;
            (Value::BigDecimal(Box::new(number)), rest)
        }
        CHAR => {
            let (code, rest) = take_varint(rest)?;
            let one = char::from_u32(u32::try_from(code).ok()?)?;
            (Value::Char(one), rest)
        }
        DATE_TIME => {
            let (micros, rest) = take_integer(rest)?;
            let (offset, rest) = take_integer(rest)?;
            let offset = i32::try_from(offset).ok()?;
            (Value::DateTime(DateTime { micros, offset }), rest)
        }
        DURATION => {
            let (seconds, rest) = take_integer(rest)?;
            let (nanos, rest) = take_varint(rest)?;
            let nanos = u32::try_from(nanos).ok()?;
            if nanos >= NANOS_PER_SECOND {
                return None;
            }
            (Value::Duration(Duration { seconds, nanos }), rest)
        }
        MAP if depth < DEPTH_MAX => take_map(rest, depth)?,
        MANY if depth == 0 => take_many(rest)?,
        _ => return None,
    })
}

fn take_map(rest: &[u8], depth: u8) -> Taken<'_> {
    let (count, mut rest) = take_varint(rest)?;
    let mut entries = Vec::new();
    for _ in 0..count {
        let (key, after) = take_nested(rest, depth + 1)?;
        let (value, after) = take_nested(after, depth + 1)?;
        entries.push((key, value));
        rest = after;
    }
    Some((Value::Map(entries), rest))
}

fn take_many(rest: &[u8]) -> Taken<'_> {
    let (count, mut rest) = take_varint(rest)?;
    let mut values = Vec::new();
    for _ in 0..count {
        let (number, after) = take_varint(rest)?;
        let number = u32::try_from(number).ok()?;
        // At depth 1, where a value cannot be a MANY itself.
        let (value, after) = take_nested(after, 1)?;
        let (metas, mut after) = take_varint(after)?;
        let mut meta = Properties::new();
        for _ in 0..metas {
            let (key, of_key) = take_schema_id(after)?;
            let (value, of_value) = take_nested(of_key, 1)?;
            meta.set(PropertyKeyId(key), value);
            after = of_value;
        }
        values.push(Numbered {
            number,
            value,
            meta,
        });
        rest = after;
    }
    Some((Value::Many(Box::new(Many::new(values)?)), rest))
}

/// Reads a whole number: its length, and its shortest two's complement.
fn take_big(bytes: &[u8]) -> Option<(BigInt, &[u8])> {
    let (bytes, rest) = take_bytes(bytes)?;
    let number = BigInt::from_signed_bytes_be(bytes);
    (number.to_signed_bytes_be() == bytes).then_some((number, rest))
}
