//! A JSON reader for element bodies. It borrows texts without escapes and has no messages.
//!
//! `serde_json` reads all that this reader accepts as the same value. On any error this reader
//! declines; then `serde_json` reads the body again into the same types, and reports the error with
//! its position.

use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;
use varve_json::plain_end;

/// The most digits with which a whole number always fits in 64 bits with a sign.
const WHOLE_DIGITS_MAX: usize = 18;
/// The most digits that, read as a whole number, are exact as an `f64`.
const EXACT_DIGITS_MAX: usize = 15;
/// Objects and lists nest as deep as `serde_json` lets them.
const DEPTH_MAX: u8 = 127;

/// The powers of ten that a `f64` holds exactly, as far as [`EXACT_DIGITS_MAX`] needs them.
const POWERS: [f64; EXACT_DIGITS_MAX + 1] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
];

/// Reads a document by a seed; `None` if it is declined.
pub(crate) fn read<'a, S: DeserializeSeed<'a>>(document: &'a [u8], seed: S) -> Option<S::Value> {
    let mut quick = Quick {
        text: std::str::from_utf8(document).ok()?,
        at: 0,
        depth: 0,
    };
    let value = seed.deserialize(&mut quick).ok()?;
    quick.skip_space();
    (quick.at == document.len()).then_some(value)
}

/// The document is not JSON, or not of the expected type.
#[derive(Debug)]
struct Declined;

impl fmt::Display for Declined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the document was declined")
    }
}

impl std::error::Error for Declined {}

impl de::Error for Declined {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

/// A position in a document.
struct Quick<'de> {
    text: &'de str,
    at: usize,
    depth: u8,
}

impl<'de> Quick<'de> {
    fn skip_space(&mut self) {
        let bytes = self.text.as_bytes();
        while matches!(bytes.get(self.at), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    #[inline]
    fn peek(&mut self) -> Result<u8, Declined> {
        match self.text.as_bytes().get(self.at) {
            // Bodies are mostly written without white space.
            Some(byte) if *byte > b' ' => Ok(*byte),
            _ => self.peek_after_space(),
        }
    }

    fn peek_after_space(&mut self) -> Result<u8, Declined> {
        self.skip_space();
        self.text.as_bytes().get(self.at).copied().ok_or(Declined)
    }

    /// Consumes this character, which must be next.
    #[inline]
    fn sign(&mut self, sign: u8) -> Result<(), Declined> {
        let found = self.peek()? == sign;
        self.at += 1;
        if found { Ok(()) } else { Err(Declined) }
    }

    fn word(&mut self, word: &str) -> Result<(), Declined> {
        let found = self.text.as_bytes()[self.at..].starts_with(word.as_bytes());
        self.at += word.len();
        if found { Ok(()) } else { Err(Declined) }
    }

    /// A text, after its opening quote.
    #[inline]
    fn string<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Declined> {
        let (bytes, start) = (self.text.as_bytes(), self.at);
        let end = plain_end(bytes, start).ok_or(Declined)?;
        if bytes[end] != b'"' {
            return visitor.visit_string(self.escaped(end)?);
        }
        self.at = end + 1;
        visitor.visit_borrowed_str(self.text.get(start..end).ok_or(Declined)?)
    }

    /// The text that began here, with an escape at `end`.
    #[cold]
    fn escaped(&mut self, mut end: usize) -> Result<String, Declined> {
        let (bytes, quote) = (self.text.as_bytes(), self.at - 1);
        while bytes[end] != b'"' {
            // The letter after a backslash may be a quote; a control character is refused below.
            end = plain_end(bytes, end + 2).ok_or(Declined)?;
        }
        self.at = end + 1;
        serde_json::from_str(&self.text[quote..self.at]).map_err(|_| Declined)
    }

    #[inline]
    fn number<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Declined> {
        let (bytes, begin) = (self.text.as_bytes(), self.at);
        let negative = bytes[begin] == b'-';
        self.at += usize::from(negative);
        let start = self.at;
        let whole = self.digits(0);
        let whole_digits = self.at - start;
        let next = bytes.get(self.at);
        let leads_with_zero = whole_digits > 1 && bytes[start] == b'0';
        let fits = (1..=WHOLE_DIGITS_MAX).contains(&whole_digits) && !leads_with_zero;
        if fits && !matches!(next, Some(b'.' | b'e' | b'E')) && !(negative && whole == 0) {
            return match negative {
                true => visitor.visit_i64(-whole.cast_signed()),
                false => visitor.visit_u64(whole),
            };
        }
        if fits && next == Some(&b'.') {
            self.at += 1;
            let point = self.at;
            let digits = self.digits(whole);
            let places = self.at - point;
            let exact = places > 0 && whole_digits + places <= EXACT_DIGITS_MAX;
            if exact && !matches!(bytes.get(self.at), Some(b'e' | b'E')) {
                #[expect(
                    clippy::cast_precision_loss,
                    reason = "fifteen digits are exact, and so are their quotient's both parts: it is rounded once"
                )]
                let number = digits as f64 / POWERS[places];
                return visitor.visit_f64(if negative { -number } else { number });
            }
        }
        self.odd_number(begin, visitor)
    }

    /// Numbers outside the fast path, and malformed ones.
    #[cold]
    fn odd_number<V: Visitor<'de>>(
        &mut self,
        begin: usize,
        visitor: V,
    ) -> Result<V::Value, Declined> {
        let bytes = &self.text.as_bytes()[begin..];
        let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
        let length = bytes.iter().take_while(|byte| is_part(byte)).count();
        self.at = begin + length;
        let text = &self.text[begin..self.at];
        if is_decimal(text) {
            // Exact, and quicker than `serde_json`.
            let number: f64 = text.parse().map_err(|_| Declined)?;
            return match number.is_finite() {
                true => visitor.visit_f64(number),
                false => Err(Declined),
            };
        }
        let mut exact = serde_json::Deserializer::from_slice(&bytes[..length]);
        let value = exact.deserialize_any(visitor).map_err(|_| Declined)?;
        exact.end().map_err(|_| Declined)?;
        Ok(value)
    }

    /// Consumes digits and appends them to those of `number`. If there are too many, only their
    /// count is meaningful.
    #[inline]
    fn digits(&mut self, mut number: u64) -> u64 {
        for byte in &self.text.as_bytes()[self.at..] {
            if !byte.is_ascii_digit() {
                break;
            }
            number = number.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'));
            self.at += 1;
        }
        number
    }

    /// Consumes the bracket that opens an object or a list.
    #[inline]
    fn open<'q>(&'q mut self, opening: u8, closing: u8) -> Result<Inside<'q, 'de>, Declined> {
        self.sign(opening)?;
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(Declined);
        }
        Ok(Inside {
            quick: self,
            closing,
            begins: true,
            ended: false,
        })
    }

    #[inline]
    fn object<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Declined> {
        let mut inside = self.open(b'{', b'}')?;
        let value = visitor.visit_map(&mut inside)?;
        inside.whole(value)
    }

    #[inline]
    fn list<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Declined> {
        let mut inside = self.open(b'[', b']')?;
        let value = visitor.visit_seq(&mut inside)?;
        inside.whole(value)
    }
}

impl<'de> Deserializer<'de> for &mut Quick<'de> {
    type Error = Declined;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Declined> {
        match self.peek()? {
            b'"' => {
                self.at += 1;
                self.string(visitor)
            }
            b'-' | b'0'..=b'9' => self.number(visitor),
            b'{' => self.object(visitor),
            b'[' => self.list(visitor),
            b't' => self.word("true").and_then(|()| visitor.visit_bool(true)),
            b'f' => self.word("false").and_then(|()| visitor.visit_bool(false)),
            b'n' => self.word("null").and_then(|()| visitor.visit_unit()),
            _ => Err(Declined),
        }
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Declined> {
        match self.peek()? {
            b'n' => self.word("null").and_then(|()| visitor.visit_none()),
            _ => visitor.visit_some(self),
        }
    }

    #[inline]
    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Declined> {
        self.sign(b'"')?;
        self.string(visitor)
    }

    #[inline]
    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Declined> {
        self.object(visitor)
    }

    #[inline]
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Declined> {
        self.list(visitor)
    }

    // For these types, some forms that `serde_json` accepts are declined.
    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char string bytes byte_buf unit
        unit_struct newtype_struct tuple tuple_struct struct enum identifier ignored_any
    }
}

/// Whether a text of digits, signs, points and `e`s has the form of a JSON number with a point, as
/// far as [`str::parse`] is less strict.
fn is_decimal(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let Some((whole, rest)) = digits.split_once('.') else {
        return false;
    };
    let is_whole = whole == "0" || whole.starts_with(|first| matches!(first, '1'..='9'));
    is_whole && rest.starts_with(|first: char| first.is_ascii_digit())
}

/// The name of a member.
struct Key<'q, 'de>(&'q mut Quick<'de>);

impl<'de> Deserializer<'de> for Key<'_, 'de> {
    type Error = Declined;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Declined> {
        self.0.sign(b'"')?;
        self.0.string(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier
        ignored_any
    }
}

/// The members of an object or the elements of a list.
struct Inside<'q, 'de> {
    quick: &'q mut Quick<'de>,
    closing: u8,
    begins: bool,
    ended: bool,
}

impl Inside<'_, '_> {
    /// Whether there is another one; consumes the comma before it, or the closing bracket.
    #[inline]
    fn another(&mut self) -> Result<bool, Declined> {
        if std::mem::take(&mut self.begins) {
            if self.quick.peek()? != self.closing {
                return Ok(true);
            }
            self.quick.at += 1;
        } else {
            let next = self.quick.peek()?;
            self.quick.at += 1;
            if next == b',' {
                return Ok(true);
            }
            if next != self.closing {
                return Err(Declined);
            }
        }
        self.quick.depth -= 1;
        self.ended = true;
        Ok(false)
    }

    /// Returns the value if it was made of all members or elements; declines otherwise.
    #[inline]
    fn whole<T>(self, value: T) -> Result<T, Declined> {
        if self.ended { Ok(value) } else { Err(Declined) }
    }
}

impl<'de> MapAccess<'de> for &mut Inside<'_, 'de> {
    type Error = Declined;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Declined> {
        if !self.another()? {
            return Ok(None);
        }
        seed.deserialize(Key(self.quick)).map(Some)
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Declined> {
        self.quick.sign(b':')?;
        seed.deserialize(&mut *self.quick)
    }
}

impl<'de> SeqAccess<'de> for &mut Inside<'_, 'de> {
    type Error = Declined;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Declined> {
        match self.another()? {
            true => seed.deserialize(&mut *self.quick).map(Some),
            false => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests;
