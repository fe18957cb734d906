//! The short way of reading an ordinary insert: one pass over the bytes, for elements written as
//! clients write them.
//!
//! It takes a subset of JSON: objects with the known members, each once; texts without escapes;
//! whole numbers up to 18 digits and fractions up to 15, without exponent; `true` and `false`. What
//! it takes it reads as [`super::input`] does. At anything else it gives up, and the body is read
//! the long way, which knows every case and says what is wrong.

use std::borrow::Cow;

use varve_graph::element::{EdgeInput, RawProperty, RawValue};

use super::input::{EdgeJson, VertexJson};
use super::periods::Given;

use varve_json::plain_end;

/// Digits of a whole number that surely fits 64 bits.
const WHOLE_DIGITS_MAX: usize = 18;
/// Digits of a number whose value as a `f64` is exact before the point is set.
const EXACT_DIGITS_MAX: usize = 15;

/// The powers of ten that a `f64` holds exactly, as far as [`EXACT_DIGITS_MAX`] needs them.
const POWERS: [f64; EXACT_DIGITS_MAX + 1] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
];

/// A body that is read.
pub(super) struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

/// The members of an element that were there, by their bits.
#[derive(Default)]
struct Seen(u16);

impl Seen {
    /// `None` when the member was there before.
    fn once(&mut self, bit: u16) -> Option<()> {
        let new = self.0 & bit == 0;
        self.0 |= bit;
        new.then_some(())
    }
}

impl<'a> Scanner<'a> {
    /// Starts at the front; `None` if the body is not UTF-8.
    pub(super) fn new(body: &'a [u8]) -> Option<Self> {
        let text = std::str::from_utf8(body).ok()?;
        Some(Self { text, at: 0 })
    }

    /// The elements of an array, up to `limit`, each read by `read` into `element` and then handed
    /// to `each`; returns how many there were.
    pub(super) fn array<T>(
        &mut self,
        limit: usize,
        element: &mut T,
        read: fn(&mut Self, &mut T) -> Option<()>,
        mut each: impl FnMut(&T) -> Option<()>,
    ) -> Option<()> {
        self.sign(b'[')?;
        for _ in 0..limit {
            read(self, element)?;
            each(element)?;
            match self.next_sign()? {
                b',' => {}
                b']' => return self.end(),
                _ => return None,
            }
        }
        None
    }

    /// Nothing but white space is left.
    pub(super) fn end(&mut self) -> Option<()> {
        self.skip_space();
        (self.at == self.text.len()).then_some(())
    }

    /// Reads a vertex, reusing the memory of the one before.
    pub(super) fn vertex(&mut self, read: &mut VertexJson<'a>) -> Option<()> {
        let VertexJson(vertex, given) = read;
        *given = Given::default();
        vertex.id = None;
        vertex.label = None;
        let mut seen = Seen::default();
        let mut kept = vertex.properties.take().unwrap_or_default();
        self.sign(b'{')?;
        loop {
            match self.name()? {
                "label" => {
                    seen.once(1)?;
                    vertex.label = Some(Cow::Borrowed(self.string()?));
                }
                "id" => {
                    seen.once(2)?;
                    vertex.id = Some(self.scalar()?);
                }
                "properties" => {
                    seen.once(4)?;
                    self.properties(&mut kept)?;
                    vertex.properties = Some(std::mem::take(&mut kept));
                }
                "type" => {
                    seen.once(8)?;
                    self.string()?;
                }
                name => self.period(name, given, &mut seen)?,
            }
            match self.next_sign()? {
                b',' => {}
                b'}' => return Some(()),
                _ => return None,
            }
        }
    }

    /// Reads a member that says something of an element's period.
    fn period(&mut self, name: &str, given: &mut Given<'a>, seen: &mut Seen) -> Option<()> {
        let (bit, bound) = match name {
            "valid_from" => (128, &mut given.from),
            "valid_to" => (256, &mut given.to),
            _ => return None,
        };
        seen.once(bit)?;
        *bound = Some(RawValue::Text(Cow::Borrowed(self.string()?)));
        Some(())
    }

    /// Reads an edge, reusing the memory of the one before.
    pub(super) fn edge(&mut self, read: &mut EdgeJson<'a>) -> Option<()> {
        let EdgeJson(edge, given) = read;
        *given = Given::default();
        let mut kept = edge.properties.take().unwrap_or_default();
        *edge = EdgeInput::default();
        let mut seen = Seen::default();
        self.sign(b'{')?;
        loop {
            match self.name()? {
                "label" => {
                    seen.once(1)?;
                    edge.label = Some(Cow::Borrowed(self.string()?));
                }
                "outV" => {
                    seen.once(2)?;
                    edge.source = Some(self.scalar()?);
                }
                "inV" => {
                    seen.once(4)?;
                    edge.target = Some(self.scalar()?);
                }
                "outVLabel" => {
                    seen.once(8)?;
                    edge.source_label = Some(Cow::Borrowed(self.string()?));
                }
                "inVLabel" => {
                    seen.once(16)?;
                    edge.target_label = Some(Cow::Borrowed(self.string()?));
                }
                "properties" => {
                    seen.once(32)?;
                    self.properties(&mut kept)?;
                    edge.properties = Some(std::mem::take(&mut kept));
                }
                "type" => {
                    seen.once(64)?;
                    self.string()?;
                }
                name => self.period(name, given, &mut seen)?,
            }
            match self.next_sign()? {
                b',' => {}
                b'}' => return Some(()),
                _ => return None,
            }
        }
    }

    fn properties(&mut self, properties: &mut Vec<RawProperty<'a>>) -> Option<()> {
        properties.clear();
        self.sign(b'{')?;
        if self.peek()? == b'}' {
            return self.sign(b'}');
        }
        loop {
            let name = Cow::Borrowed(self.name()?);
            properties.push((name, self.scalar()?));
            match self.next_sign()? {
                b',' => {}
                b'}' => return Some(()),
                _ => return None,
            }
        }
    }

    /// A member's name and the colon after it.
    fn name(&mut self) -> Option<&'a str> {
        let name = self.string()?;
        self.sign(b':')?;
        Some(name)
    }

    fn string(&mut self) -> Option<&'a str> {
        self.sign(b'"')?;
        let bytes = self.text.as_bytes();
        let end = plain_end(bytes, self.at)?;
        if bytes[end] != b'"' {
            return None;
        }
        let text = self.text.get(self.at..end)?;
        self.at = end + 1;
        Some(text)
    }

    fn scalar(&mut self) -> Option<RawValue<'a>> {
        match self.peek()? {
            b'"' => self
                .string()
                .map(|text| RawValue::Text(Cow::Borrowed(text))),
            b'-' | b'0'..=b'9' => self.number(),
            b't' => self.word("true", RawValue::Boolean(true)),
            b'f' => self.word("false", RawValue::Boolean(false)),
            _ => None,
        }
    }

    fn word(&mut self, word: &str, value: RawValue<'a>) -> Option<RawValue<'a>> {
        let found = self.text.as_bytes()[self.at..].starts_with(word.as_bytes());
        self.at += word.len();
        found.then_some(value)
    }

    fn number(&mut self) -> Option<RawValue<'a>> {
        let bytes = self.text.as_bytes();
        let negative = bytes[self.at] == b'-';
        self.at += usize::from(negative);
        let start = self.at;
        let whole = self.digits(0)?;
        let whole_digits = self.at - start;
        let leading_zero = bytes[start] == b'0' && whole_digits > 1;
        if leading_zero || whole_digits > WHOLE_DIGITS_MAX {
            return None;
        }
        match bytes.get(self.at) {
            Some(b'.') => {
                self.at += 1;
                let point = self.at;
                let digits = self.digits(whole)?;
                let places = self.at - point;
                let exact = whole_digits + places <= EXACT_DIGITS_MAX;
                if !exact || matches!(bytes.get(self.at), Some(b'e' | b'E')) {
                    return None;
                }
                #[expect(
                    clippy::cast_precision_loss,
                    reason = "fifteen digits are exact, and so are their quotient's both parts: it is rounded once"
                )]
                let number = digits as f64 / POWERS[places];
                Some(RawValue::Double(if negative { -number } else { number }))
            }
            Some(b'e' | b'E') => None,
            // The long way makes it a number with a fraction.
            _ if negative && whole == 0 => None,
            _ => Some(RawValue::Integer(if negative { -whole } else { whole })),
        }
    }

    /// One digit or more, appended to those of `number`. Of too many the value is of no use, their
    /// count is.
    fn digits(&mut self, mut number: i64) -> Option<i64> {
        let start = self.at;
        for byte in &self.text.as_bytes()[start..] {
            if !byte.is_ascii_digit() {
                break;
            }
            number = number.wrapping_mul(10).wrapping_add(i64::from(byte - b'0'));
            self.at += 1;
        }
        (self.at > start).then_some(number)
    }

    fn skip_space(&mut self) {
        let bytes = self.text.as_bytes();
        while matches!(bytes.get(self.at), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    fn peek(&mut self) -> Option<u8> {
        self.skip_space();
        self.text.as_bytes().get(self.at).copied()
    }

    fn next_sign(&mut self) -> Option<u8> {
        let sign = self.peek()?;
        self.at += 1;
        Some(sign)
    }

    fn sign(&mut self, sign: u8) -> Option<()> {
        (self.next_sign()? == sign).then_some(())
    }
}

#[cfg(test)]
mod tests;
