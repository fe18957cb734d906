//! Writes and reads nested values piece by piece, without a tree, for programs that represent them
//! in another way.

use super::{DATUM_DEPTH_MAX, FALSE, FLOAT, INT, LIST, MAP, NULL, Reader, TEXT, TRUE, encode_text};
use crate::DecodeError;

/// Appends a null.
pub fn put_null(out: &mut Vec<u8>) {
    out.push(NULL);
}

/// Appends a truth value.
pub fn put_bool(flag: bool, out: &mut Vec<u8>) {
    out.push(if flag { TRUE } else { FALSE });
}

/// Appends a whole number.
pub fn put_int(number: i64, out: &mut Vec<u8>) {
    out.push(INT);
    out.extend_from_slice(&number.to_be_bytes());
}

/// Appends a number with a fraction.
pub fn put_float(number: f64, out: &mut Vec<u8>) {
    out.push(FLOAT);
    out.extend_from_slice(&number.to_bits().to_be_bytes());
}

/// Appends a text.
pub fn put_text(text: &str, out: &mut Vec<u8>) {
    out.push(TEXT);
    encode_text(text, out);
}

/// A list or map that is being written. It holds the position of its count, which [`Members::end`]
/// writes.
#[derive(Debug)]
#[must_use = "the count is written by `end`"]
pub struct Members {
    at: usize,
    count: u32,
}

impl Members {
    /// Begins a list.
    pub fn list(out: &mut Vec<u8>) -> Self {
        Self::begin(LIST, out)
    }

    /// Begins a map.
    pub fn map(out: &mut Vec<u8>) -> Self {
        Self::begin(MAP, out)
    }

    fn begin(tag: u8, out: &mut Vec<u8>) -> Self {
        out.push(tag);
        let at = out.len();
        out.extend_from_slice(&[0; 4]);
        Self { at, count: 0 }
    }

    /// Counts a list's next item; its value is to be appended.
    pub const fn item(&mut self) {
        self.count += 1;
    }

    /// Appends the name of a map's next member; its value is to be appended.
    pub fn member(&mut self, name: &str, out: &mut Vec<u8>) {
        self.count += 1;
        encode_text(name, out);
    }

    /// Writes the count.
    pub fn end(self, out: &mut [u8]) {
        out[self.at..self.at + 4].copy_from_slice(&self.count.to_be_bytes());
    }
}

/// A piece of a nested value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Token<'a> {
    /// Absence of a value.
    Null,
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number with a fraction.
    Float(f64),
    /// Text.
    Text(&'a str),
    /// A list with this number of items, which follow.
    List(u32),
    /// A map with this number of members, which follow, each a name and a value.
    Map(u32),
}

/// Reads a nested value piece by piece.
pub struct Cursor<'a>(Reader<'a>);

impl<'a> Cursor<'a> {
    /// A cursor at the start of `bytes`.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self(Reader { bytes, at: 0 })
    }

    /// The error for a piece that the caller does not expect.
    #[must_use]
    pub fn error(&self) -> DecodeError {
        self.0.error()
    }

    /// Whether all bytes have been read.
    #[must_use]
    pub const fn is_at_end(&self) -> bool {
        self.0.at == self.0.bytes.len()
    }

    /// Reads the next piece.
    ///
    /// # Errors
    /// When there is no further piece.
    #[inline]
    pub fn token(&mut self) -> Result<Token<'a>, DecodeError> {
        Ok(match self.0.array::<1>()?[0] {
            NULL => Token::Null,
            FALSE => Token::Bool(false),
            TRUE => Token::Bool(true),
            INT => Token::Int(i64::from_be_bytes(self.0.array()?)),
            FLOAT => Token::Float(f64::from_bits(u64::from_be_bytes(self.0.array()?))),
            TEXT => Token::Text(self.name()?),
            LIST => Token::List(u32::from_be_bytes(self.0.array()?)),
            MAP => Token::Map(u32::from_be_bytes(self.0.array()?)),
            _ => return Err(self.error()),
        })
    }

    /// Reads the name of a map's next member.
    ///
    /// # Errors
    /// When there is no name.
    #[inline]
    pub fn name(&mut self) -> Result<&'a str, DecodeError> {
        self.0.borrowed_text()
    }

    /// Skips the next value.
    ///
    /// # Errors
    /// When there is no value, or it nests too deep.
    pub fn skip(&mut self) -> Result<(), DecodeError> {
        self.skip_at(0)
    }

    fn skip_at(&mut self, depth: usize) -> Result<(), DecodeError> {
        if depth > DATUM_DEPTH_MAX {
            return Err(self.error());
        }
        match self.token()? {
            Token::List(count) => (0..count).try_for_each(|_| self.skip_at(depth + 1)),
            Token::Map(count) => (0..count).try_for_each(|_| {
                self.name()?;
                self.skip_at(depth + 1)
            }),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use varve_model::Datum;

    use super::*;
    use crate::datum::{decode, to_bytes};

    #[test]
    fn what_is_written_in_pieces_is_the_tree() {
        let mut out = Vec::new();
        let mut map = Members::map(&mut out);
        map.member("n", &mut out);
        put_int(-7, &mut out);
        map.member("l", &mut out);
        let mut list = Members::list(&mut out);
        list.item();
        put_text("é", &mut out);
        list.item();
        put_null(&mut out);
        list.item();
        put_bool(true, &mut out);
        list.item();
        put_float(1.5, &mut out);
        list.end(&mut out);
        map.end(&mut out);
        let items = vec![
            Datum::Text("é".to_owned()),
            Datum::Null,
            Datum::Bool(true),
            Datum::Float(1.5),
        ];
        let tree = Datum::Map(vec![
            ("n".to_owned(), Datum::Int(-7)),
            ("l".to_owned(), Datum::List(items)),
        ]);
        assert_eq!(out, to_bytes(&tree));
        let mut cursor = Cursor::new(&out);
        assert_eq!(cursor.token(), Ok(Token::Map(2)));
        assert_eq!(cursor.name(), Ok("n"));
        assert_eq!(cursor.token(), Ok(Token::Int(-7)));
        assert_eq!(cursor.name(), Ok("l"));
        cursor.skip().expect("a list");
        assert!(cursor.is_at_end());
    }

    #[test]
    fn what_cannot_be_decoded_cannot_be_passed_over() {
        let deep = (0..200).fold(Datum::Null, |inner, _| Datum::List(vec![inner]));
        let mut bytes = to_bytes(&deep);
        assert!(decode(&bytes).is_err());
        assert!(Cursor::new(&bytes).skip().is_err());
        bytes.truncate(100);
        assert!(Cursor::new(&bytes).skip().is_err());
    }
}
