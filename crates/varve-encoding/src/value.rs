//! Property values in rows: a tag byte and a payload. Not ordered; [`crate::index`] has the ordered
//! form.
//!
//! Whole numbers and dates are zigzag variable-length integers; texts, blobs and objects have a
//! variable-length length; collections a variable-length count and tagged members.

mod open;

use varve_model::Value;

use crate::datum;

/// The most levels of nested lists, sets and maps; one that is itself a property's value has one
/// level.
pub const DEPTH_MAX: u8 = 64;

const FALSE: u8 = 1;
const TRUE: u8 = 2;
const BYTE: u8 = 3;
const INT: u8 = 4;
const LONG: u8 = 5;
const FLOAT: u8 = 6;
const DOUBLE: u8 = 7;
const TEXT: u8 = 8;
const BLOB: u8 = 9;
const DATE: u8 = 10;
const UUID: u8 = 11;
const OBJECT: u8 = 12;
const LIST: u8 = 13;
const SET: u8 = 14;

/// The first of the tags that only open graphs write ([`open`]).
const OPEN_FROM: u8 = 15;

/// A value that borrows from the row it is read from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ValueRef<'a> {
    /// TEXT
    Text(&'a str),
    /// BLOB
    Blob(&'a [u8]),
    /// BOOLEAN
    Boolean(bool),
    /// BYTE, INT and LONG
    Integer(i64, Width),
    /// FLOAT
    Float(f32),
    /// DOUBLE
    Double(f64),
    /// DATE: milliseconds since 1970
    Date(i64),
    /// UUID
    Uuid(u128),
    /// OBJECT, LIST, SET and values that only open graphs store: the encoded value, for
    /// [`take_value`].
    Nested(&'a [u8]),
}

/// The width of the type of a whole number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// BYTE
    Byte,
    /// INT
    Int,
    /// LONG
    Long,
}

impl Width {
    /// A whole number of this width; `None` when it does not fit.
    #[must_use]
    pub fn value(self, number: i64) -> Option<Value> {
        Some(match self {
            Self::Byte => Value::Byte(number.try_into().ok()?),
            Self::Int => Value::Int(number.try_into().ok()?),
            Self::Long => Value::Long(number),
        })
    }
}

/// Appends a value.
pub fn put_value(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Boolean(flag) => out.push(if *flag { TRUE } else { FALSE }),
        Value::Byte(number) => out.extend_from_slice(&[BYTE, number.cast_unsigned()]),
        Value::Int(number) => put_integer(INT, i64::from(*number), out),
        Value::Long(number) => put_integer(LONG, *number, out),
        Value::Date(millis) => put_integer(DATE, *millis, out),
        Value::Float(number) => {
            out.push(FLOAT);
            out.extend_from_slice(&number.to_bits().to_be_bytes());
        }
        Value::Double(number) => {
            out.push(DOUBLE);
            out.extend_from_slice(&number.to_bits().to_be_bytes());
        }
        Value::Text(text) => put_bytes(TEXT, text.as_bytes(), out),
        Value::Blob(bytes) => put_bytes(BLOB, bytes, out),
        Value::Uuid(uuid) => {
            out.push(UUID);
            out.extend_from_slice(&uuid.to_be_bytes());
        }
        Value::Object(object) => put_bytes(OBJECT, &datum::to_bytes(object), out),
        Value::List(items) => put_items(LIST, items, out),
        Value::Set(items) => put_items(SET, items, out),
        rare => open::put(rare, out),
    }
}

/// Appends what [`put_value`] appends for a [`Value::Text`].
pub fn put_text(text: &str, out: &mut Vec<u8>) {
    put_bytes(TEXT, text.as_bytes(), out);
}

/// Appends what [`put_value`] appends for a [`Value::Object`] whose nested value is encoded already
/// ([`crate::datum`]).
pub fn put_object(datum: &[u8], out: &mut Vec<u8>) {
    put_bytes(OBJECT, datum, out);
}

/// The encoded nested value of an OBJECT, from its [`ValueRef::Nested`].
#[must_use]
pub fn object_bytes(nested: &[u8]) -> Option<&[u8]> {
    let (tag, rest) = nested.split_first()?;
    let (bytes, rest) = take_bytes(rest)?;
    (*tag == OBJECT && rest.is_empty()).then_some(bytes)
}

/// Reads a value; also returns what follows.
#[must_use]
pub fn take_value(bytes: &[u8]) -> Option<(Value, &[u8])> {
    take_nested(bytes, 0)
}

fn take_nested(bytes: &[u8], depth: u8) -> Option<(Value, &[u8])> {
    let (tag, rest) = bytes.split_first()?;
    Some(match *tag {
        LIST | SET => {
            if depth >= DEPTH_MAX {
                return None;
            }
            let (count, mut rest) = take_varint(rest)?;
            let mut items = Vec::new();
            for _ in 0..count {
                let (item, after) = take_nested(rest, depth + 1)?;
                items.push(item);
                rest = after;
            }
            (
                if *tag == LIST {
                    Value::List(items)
                } else {
                    Value::Set(items)
                },
                rest,
            )
        }
        OBJECT => {
            let (object, rest) = take_bytes(rest)?;
            (Value::Object(Box::new(datum::decode(object).ok()?)), rest)
        }
        BYTE => {
            let (number, rest) = rest.split_first()?;
            (Value::Byte(number.cast_signed()), rest)
        }
        INT => {
            let (number, rest) = take_integer(rest)?;
            (Value::Int(i32::try_from(number).ok()?), rest)
        }
        LONG => {
            let (number, rest) = take_integer(rest)?;
            (Value::Long(number), rest)
        }
        OPEN_FROM.. => open::take(*tag, rest, depth)?,
        _ => {
            let (value, rest) = take_value_ref(bytes)?;
            (owned(value)?, rest)
        }
    })
}

fn owned(value: ValueRef<'_>) -> Option<Value> {
    Some(match value {
        ValueRef::Text(text) => Value::Text(text.to_owned()),
        ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
        ValueRef::Boolean(flag) => Value::Boolean(flag),
        ValueRef::Float(number) => Value::Float(number),
        ValueRef::Double(number) => Value::Double(number),
        ValueRef::Date(millis) => Value::Date(millis),
        ValueRef::Uuid(uuid) => Value::Uuid(uuid),
        ValueRef::Integer(..) | ValueRef::Nested(_) => return None,
    })
}

/// Like [`take_value_ref`], but does not check the content of an OBJECT: for readers that decode
/// the nested value piece by piece, and so detect damage themselves.
#[must_use]
pub fn take_value_ref_shallow(bytes: &[u8]) -> Option<(ValueRef<'_>, &[u8])> {
    let (tag, rest) = bytes.split_first()?;
    if *tag != OBJECT {
        return take_value_ref(bytes);
    }
    let (_, after) = take_bytes(rest)?;
    Some((ValueRef::Nested(&bytes[..bytes.len() - after.len()]), after))
}

/// Whether an encoded value is a [`Value::Many`]: several values of one property.
#[must_use]
pub fn is_many(bytes: &[u8]) -> bool {
    bytes.first() == Some(&open::MANY)
}

/// Returns the bytes after a value. Checks the value only as far as this requires.
#[must_use]
#[inline]
pub fn after_value(bytes: &[u8]) -> Option<&[u8]> {
    match bytes.split_first()? {
        (&(TEXT | BLOB | OBJECT), rest) => Some(take_bytes(rest)?.1),
        (&(INT | LONG | DATE), rest) => Some(take_varint(rest)?.1),
        _ => Some(take_value_ref(bytes)?.1),
    }
}

/// Reads a value without copying it; also returns what follows.
#[must_use]
#[inline]
pub fn take_value_ref(bytes: &[u8]) -> Option<(ValueRef<'_>, &[u8])> {
    let (tag, rest) = bytes.split_first()?;
    Some(match *tag {
        FALSE => (ValueRef::Boolean(false), rest),
        TRUE => (ValueRef::Boolean(true), rest),
        BYTE => {
            let (number, rest) = rest.split_first()?;
            (
                ValueRef::Integer(i64::from(number.cast_signed()), Width::Byte),
                rest,
            )
        }
        INT => {
            let (number, rest) = take_integer(rest)?;
            (ValueRef::Integer(number, Width::Int), rest)
        }
        LONG => {
            let (number, rest) = take_integer(rest)?;
            (ValueRef::Integer(number, Width::Long), rest)
        }
        DATE => {
            let (millis, rest) = take_integer(rest)?;
            (ValueRef::Date(millis), rest)
        }
        FLOAT => {
            let (bits, rest) = rest.split_first_chunk::<4>()?;
            (
                ValueRef::Float(f32::from_bits(u32::from_be_bytes(*bits))),
                rest,
            )
        }
        DOUBLE => {
            let (bits, rest) = rest.split_first_chunk::<8>()?;
            (
                ValueRef::Double(f64::from_bits(u64::from_be_bytes(*bits))),
                rest,
            )
        }
        TEXT => {
            let (text, rest) = take_bytes(rest)?;
            (ValueRef::Text(std::str::from_utf8(text).ok()?), rest)
        }
        BLOB => {
            let (blob, rest) = take_bytes(rest)?;
            (ValueRef::Blob(blob), rest)
        }
        UUID => {
            let (uuid, rest) = rest.split_first_chunk::<16>()?;
            (ValueRef::Uuid(u128::from_be_bytes(*uuid)), rest)
        }
        OBJECT => {
            let (object, after) = take_bytes(rest)?;
            let mut cursor = datum::Cursor::new(object);
            cursor.skip().ok()?;
            if !cursor.is_at_end() {
                return None;
            }
            (ValueRef::Nested(&bytes[..bytes.len() - after.len()]), after)
        }
        LIST | SET | OPEN_FROM.. => {
            let (_, after) = take_nested(bytes, 0)?;
            (ValueRef::Nested(&bytes[..bytes.len() - after.len()]), after)
        }
        _ => return None,
    })
}

fn put_integer(tag: u8, number: i64, out: &mut Vec<u8>) {
    out.push(tag);
    put_zigzag(number, out);
}

fn put_zigzag(number: i64, out: &mut Vec<u8>) {
    put_varint(((number << 1) ^ (number >> 63)).cast_unsigned(), out);
}

#[inline]
fn take_integer(bytes: &[u8]) -> Option<(i64, &[u8])> {
    let (zigzag, rest) = take_varint(bytes)?;
    Some((
        (zigzag >> 1).cast_signed() ^ -(zigzag & 1).cast_signed(),
        rest,
    ))
}

fn put_bytes(tag: u8, bytes: &[u8], out: &mut Vec<u8>) {
    out.push(tag);
    put_sized(bytes, out);
}

fn put_sized(bytes: &[u8], out: &mut Vec<u8>) {
    put_varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

#[inline]
fn take_bytes(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = take_varint(bytes)?;
    rest.split_at_checked(usize::try_from(length).ok()?)
}

fn put_items(tag: u8, items: &[Value], out: &mut Vec<u8>) {
    out.push(tag);
    put_varint(items.len() as u64, out);
    items.iter().for_each(|item| put_value(item, out));
}

/// Appends a number in 7-bit groups, least significant first.
pub(crate) fn put_varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push((number & 0x7F) as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Reads a number written by [`put_varint`]; also returns what follows.
#[inline]
pub(crate) fn take_varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    match bytes.split_first()? {
        (byte @ 0..0x80, rest) => Some((u64::from(*byte), rest)),
        _ => take_long_varint(bytes),
    }
}

fn take_long_varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut number = 0_u64;
    for (at, byte) in bytes.iter().take(10).enumerate() {
        let group = u64::from(byte & 0x7F);
        if at == 9 && group > 1 {
            return None;
        }
        number |= group << (7 * at);
        if byte & 0x80 == 0 {
            return Some((number, &bytes[at + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests;
