//! Nested values ([`Datum`]) as self-describing bytes: schema records, tasks, variables, OBJECT
//! properties.
//!
//! One tag byte, then: nothing (null, false, true), 8 bytes big endian (integer, IEEE double), or a
//! length in 4 bytes big endian and the content (text, list, map). New readers read old records:
//! members are found by name.

mod stream;

use varve_model::Datum;

pub use self::stream::{Cursor, Members, Token, put_bool, put_float, put_int, put_null, put_text};
use crate::DecodeError;

const NULL: u8 = 0;
const FALSE: u8 = 1;
const TRUE: u8 = 2;
const INT: u8 = 3;
const FLOAT: u8 = 4;
const TEXT: u8 = 5;
const LIST: u8 = 6;
const MAP: u8 = 7;

/// How deep values may nest.
pub const DATUM_DEPTH_MAX: usize = 128;

/// Appends `datum` to `out`.
pub fn encode(datum: &Datum, out: &mut Vec<u8>) {
    match datum {
        Datum::Null => out.push(NULL),
        Datum::Bool(flag) => out.push(if *flag { TRUE } else { FALSE }),
        Datum::Int(number) => {
            out.push(INT);
            out.extend_from_slice(&number.to_be_bytes());
        }
        Datum::Float(number) => {
            out.push(FLOAT);
            out.extend_from_slice(&number.to_bits().to_be_bytes());
        }
        Datum::Text(text) => {
            out.push(TEXT);
            encode_text(text, out);
        }
        Datum::List(items) => {
            out.push(LIST);
            encode_len(items.len(), out);
            items.iter().for_each(|item| encode(item, out));
        }
        Datum::Map(members) => {
            out.push(MAP);
            encode_len(members.len(), out);
            for (name, value) in members {
                encode_text(name, out);
                encode(value, out);
            }
        }
    }
}

/// `datum` as bytes.
#[must_use]
pub fn to_bytes(datum: &Datum) -> Vec<u8> {
    let mut out = Vec::new();
    encode(datum, &mut out);
    out
}

/// Reads a value that fills `bytes`.
///
/// # Errors
/// When the bytes hold anything else.
pub fn decode(bytes: &[u8]) -> Result<Datum, DecodeError> {
    let mut reader = Reader { bytes, at: 0 };
    let datum = reader.datum(0)?;
    if reader.at == bytes.len() {
        Ok(datum)
    } else {
        Err(reader.error())
    }
}

fn encode_len(length: usize, out: &mut Vec<u8>) {
    let length = u32::try_from(length).expect("records are bounded far below 4 GiB");
    out.extend_from_slice(&length.to_be_bytes());
}

fn encode_text(text: &str, out: &mut Vec<u8>) {
    encode_len(text.len(), out);
    out.extend_from_slice(text.as_bytes());
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn error(&self) -> DecodeError {
        DecodeError::new("a record", self.bytes, self.at)
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], DecodeError> {
        let end = self.at.checked_add(length).ok_or_else(|| self.error())?;
        let part = self.bytes.get(self.at..end).ok_or_else(|| self.error())?;
        self.at = end;
        Ok(part)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    fn text(&mut self) -> Result<String, DecodeError> {
        self.borrowed_text().map(str::to_owned)
    }

    fn borrowed_text(&mut self) -> Result<&'a str, DecodeError> {
        let length = u32::from_be_bytes(self.array()?) as usize;
        let bytes = self.take(length)?;
        std::str::from_utf8(bytes).map_err(|_| self.error())
    }

    fn datum(&mut self, depth: usize) -> Result<Datum, DecodeError> {
        if depth > DATUM_DEPTH_MAX {
            return Err(self.error());
        }
        Ok(match self.array::<1>()?[0] {
            NULL => Datum::Null,
            FALSE => Datum::Bool(false),
            TRUE => Datum::Bool(true),
            INT => Datum::Int(i64::from_be_bytes(self.array()?)),
            FLOAT => Datum::Float(f64::from_bits(u64::from_be_bytes(self.array()?))),
            TEXT => Datum::Text(self.text()?),
            LIST => {
                let length = u32::from_be_bytes(self.array()?);
                let items = (0..length).map(|_| self.datum(depth + 1));
                Datum::List(items.collect::<Result<_, _>>()?)
            }
            MAP => {
                let length = u32::from_be_bytes(self.array()?);
                let members = (0..length).map(|_| Ok((self.text()?, self.datum(depth + 1)?)));
                Datum::Map(members.collect::<Result<_, DecodeError>>()?)
            }
            _ => return Err(self.error()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_datum() -> impl Strategy<Value = Datum> {
        let leaf = prop_oneof![
            Just(Datum::Null),
            any::<bool>().prop_map(Datum::Bool),
            any::<i64>().prop_map(Datum::Int),
            any::<f64>()
                .prop_filter("equality", |f| !f.is_nan())
                .prop_map(Datum::Float),
            ".*".prop_map(Datum::Text),
        ];
        leaf.prop_recursive(4, 32, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Datum::List),
                prop::collection::vec((".*", inner), 0..6).prop_map(Datum::Map),
            ]
        })
    }

    proptest! {
        #[test]
        fn round_trip(datum in any_datum()) {
            prop_assert_eq!(decode(&to_bytes(&datum)).expect("own bytes"), datum);
        }

        #[test]
        fn decoding_anything_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = decode(&bytes);
        }
    }
}
