//! Reads values.

use std::str;

use super::{DEPTH_MAX, Map, Value, marker};
use crate::error::{BoltError, Result, excerpt};

/// Reads the one value that the bytes have.
///
/// No length in the bytes makes it allocate in advance of them: the values that a list, map or
/// structure announces must fit in the bytes left, together with those that the levels around it
/// still announce. So all levels together reserve at most `size_of::<Value>()` (32) bytes for each
/// byte of the input.
///
/// # Errors
/// If the bytes end too early, go on after the value, or are no PackStream; if a map has a key
/// twice; and for more than [`DEPTH_MAX`] levels.
pub fn read(bytes: &[u8]) -> Result<Value> {
    let mut reader = Reader {
        bytes,
        place: 0,
        announced: 0,
        depth: 0,
    };
    let value = reader.value()?;
    match reader.left() {
        0 => Ok(value),
        left => Err(reader.malformed(format!("{left} bytes follow the value"))),
    }
}

struct Reader<'b> {
    bytes: &'b [u8],
    place: usize,
    /// The fewest bytes that the open levels still need.
    announced: usize,
    depth: usize,
}

impl<'b> Reader<'b> {
    fn left(&self) -> usize {
        self.bytes.len() - self.place
    }

    fn malformed(&self, problem: String) -> BoltError {
        let place = self.place;
        BoltError::Malformed { place, problem }
    }

    fn take(&mut self, length: usize, what: &'static str) -> Result<&'b [u8]> {
        if length > self.left() {
            return Err(BoltError::Short(what));
        }
        let taken = &self.bytes[self.place..self.place + length];
        self.place += length;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N, what)?);
        Ok(array)
    }

    fn byte(&mut self, what: &'static str) -> Result<u8> {
        self.array::<1>(what).map(|[byte]| byte)
    }

    fn value(&mut self) -> Result<Value> {
        let code = self.byte("a value")?;
        let value = match code {
            0x00..=0x7F | 0xF0..=0xFF => Value::Int(i64::from(code as i8)),
            marker::INT_8 => Value::Int(i8::from_be_bytes(self.array("an Integer")?).into()),
            marker::INT_16 => Value::Int(i16::from_be_bytes(self.array("an Integer")?).into()),
            marker::INT_32 => Value::Int(i32::from_be_bytes(self.array("an Integer")?).into()),
            marker::INT_64 => Value::Int(i64::from_be_bytes(self.array("an Integer")?)),
            marker::NULL => Value::Null,
            marker::FALSE => Value::Bool(false),
            marker::TRUE => Value::Bool(true),
            marker::FLOAT => Value::Float(f64::from_be_bytes(self.array("a Float")?)),
            0x80..=0x8F | 0xD0..=0xD2 => Value::String(self.text(code)?.to_owned()),
            0xCC..=0xCE => {
                let length = self.length(code - marker::BYTES_8)?;
                Value::Bytes(self.take(length, "Bytes")?.to_vec())
            }
            0x90..=0x9F | 0xD4..=0xD6 => {
                let count = self.size(code, marker::LIST_8)?;
                Value::List(self.values(count)?)
            }
            0xA0..=0xAF | 0xD8..=0xDA => {
                let count = self.size(code, marker::MAP_8)?;
                Value::Map(self.map(count)?)
            }
            0xB0..=0xBF => {
                let tag = self.byte("a Structure")?;
                let fields = self.values(usize::from(code & 0x0F))?;
                Value::Structure { tag, fields }
            }
            _ => {
                self.place -= 1;
                return Err(self.malformed(format!("{code:02X} begins no value")));
            }
        };
        Ok(value)
    }

    /// A length of one, two or four bytes: `width` is 0, 1 or 2.
    fn length(&mut self, width: u8) -> Result<usize> {
        let length = match width {
            0 => u32::from(self.byte("a length")?),
            1 => u32::from(u16::from_be_bytes(self.array("a length")?)),
            _ => u32::from_be_bytes(self.array("a length")?),
        };
        match i32::try_from(length) {
            Ok(_) => Ok(length as usize),
            Err(_) => Err(self.malformed(format!("the length {length} is 2^31 or more"))),
        }
    }

    /// The length that follows `code`, or that it has in its low bits; `first` is the marker of the
    /// same type with a length of one byte.
    fn size(&mut self, code: u8, first: u8) -> Result<usize> {
        match code.checked_sub(first) {
            Some(width) => self.length(width),
            None => Ok(usize::from(code & 0x0F)),
        }
    }

    fn text(&mut self, code: u8) -> Result<&'b str> {
        let length = self.size(code, marker::STRING_8)?;
        let bytes = self.take(length, "a String")?;
        str::from_utf8(bytes).map_err(|_| {
            self.place -= length;
            self.malformed("the String is not UTF-8".to_owned())
        })
    }

    /// Begins a level of `count` values or entries, each of at least `bytes_min` bytes.
    fn enter(&mut self, count: usize, bytes_min: usize, what: &'static str) -> Result<()> {
        let announced = count
            .saturating_mul(bytes_min)
            .saturating_add(self.announced);
        if announced > self.left() {
            return Err(BoltError::Short(what));
        }
        if self.depth == DEPTH_MAX {
            return Err(BoltError::TooDeep);
        }
        self.announced = announced;
        self.depth += 1;
        Ok(())
    }

    fn values(&mut self, count: usize) -> Result<Vec<Value>> {
        self.enter(count, 1, "a List or a Structure")?;
        let mut values = Vec::with_capacity(count);
        for _ in 0..count {
            self.announced -= 1;
            values.push(self.value()?);
        }
        self.depth -= 1;
        Ok(values)
    }

    fn map(&mut self, count: usize) -> Result<Map> {
        // A key and a value, each of at least one byte.
        self.enter(count, 2, "a Dictionary")?;
        let start = self.place;
        let mut entries = Map::with_capacity(count);
        for _ in 0..count {
            self.announced -= 2;
            let code = self.byte("a Dictionary")?;
            if !matches!(code, 0x80..=0x8F | 0xD0..=0xD2) {
                self.place -= 1;
                return Err(self.malformed(format!("a key must be a String, not {code:02X}")));
            }
            let key = self.text(code)?.to_owned();
            entries.push((key, self.value()?));
        }
        self.depth -= 1;
        match repeated(&entries) {
            None => Ok(entries),
            Some(key) => Err(BoltError::Malformed {
                place: start,
                problem: format!("the Dictionary has the key {:?} twice", excerpt(key)),
            }),
        }
    }
}

/// A key that occurs twice.
fn repeated(entries: &Map) -> Option<&str> {
    let mut keys: Vec<&str> = entries.iter().map(|(key, _)| key.as_str()).collect();
    keys.sort_unstable();
    let twice = keys.windows(2).find(|pair| pair[0] == pair[1]);
    twice.map(|pair| pair[0])
}
