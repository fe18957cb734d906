//! Reads JSON piece by piece: each call of the reader names what the caller expects next.

mod known;

pub use known::Known;

use std::borrow::Cow;

use crate::scan::{self, Bounds};
use crate::{Fault, JsonError};

/// The limits of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Length of the document in bytes.
    pub bytes: usize,
    /// The most levels of nested objects and lists.
    pub depth: usize,
    /// The most values, of every kind and at every depth.
    pub values: usize,
    /// Length of one string in bytes, as written (with its escapes).
    pub string_bytes: usize,
}

impl Limits {
    /// The limits of requests, unless configured otherwise: 16 MiB, 128 levels, a million values,
    /// strings of 4 MiB.
    pub const DEFAULT: Self = Self {
        bytes: 16 << 20,
        depth: 128,
        values: 1_000_000,
        string_bytes: 4 << 20,
    };

    /// The limits of stored documents, which were accepted once, perhaps under other limits. The
    /// depth, which bounds the stack, is the greatest that a server can be configured to accept.
    pub const KEPT: Self = Self {
        bytes: usize::MAX,
        depth: 1024,
        values: usize::MAX,
        string_bytes: usize::MAX,
    };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// The most bytes that the reader looks ahead for `class` properties that are not first, as a
/// multiple of the document's length. Writers put them first, which costs nothing; without a bound,
/// nested objects that put them last would cost the square of the document's depth.
const LOOK_AHEAD_FACTOR: usize = 8;

/// A position in a document, and what is left of its limits.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    /// The greatest depth since [`Reader::remembered`] reset it.
    deepest: usize,
    values_left: usize,
    look_ahead_left: usize,
    limits: Limits,
}

impl<'a> Reader<'a> {
    /// A reader at the start of a document.
    ///
    /// # Errors
    /// When it is longer than `limits` allow, or not UTF-8.
    pub fn new(document: &'a [u8], limits: Limits) -> Result<Self, JsonError> {
        if document.len() > limits.bytes {
            let message = format!(
                "the document has {} bytes, more than the {} allowed",
                document.len(),
                limits.bytes
            );
            return Err(JsonError::new(limits.bytes, message).of(Fault::TooLong));
        }
        let text = std::str::from_utf8(document)
            .map_err(|error| JsonError::new(error.valid_up_to(), "not UTF-8"))?;
        Ok(Self {
            text,
            at: 0,
            depth: 0,
            deepest: 0,
            values_left: limits.values,
            look_ahead_left: document.len().saturating_mul(LOOK_AHEAD_FACTOR),
            limits,
        })
    }

    /// An error at this position.
    #[must_use]
    pub fn error(&self, message: impl Into<String>) -> JsonError {
        JsonError::new(self.at, message)
    }

    /// Checks that only white space is left.
    ///
    /// # Errors
    /// When something follows the document's value.
    pub fn end(&mut self) -> Result<(), JsonError> {
        self.white_space();
        match self.byte() {
            None => Ok(()),
            Some(_) => Err(self.error("something follows the value")),
        }
    }

    #[inline]
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    #[inline]
    fn white_space(&mut self) {
        self.at = scan::after_space(self.text.as_bytes(), self.at);
    }

    /// The first byte of the next value.
    #[inline]
    pub(crate) fn peek(&mut self) -> Result<u8, JsonError> {
        self.white_space();
        self.byte()
            .ok_or_else(|| self.error("the document ends too early"))
    }

    pub(crate) fn count(&mut self) -> Result<(), JsonError> {
        let Some(left) = self.values_left.checked_sub(1) else {
            let message = format!("more than {} values", self.limits.values);
            return Err(self.error(message).of(Fault::TooMany));
        };
        self.values_left = left;
        Ok(())
    }

    pub(crate) fn open(&mut self, bracket: u8, wanted: &str) -> Result<(), JsonError> {
        self.expect_kind(bracket, wanted)?;
        self.count()?;
        self.at += 1;
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
        if self.depth > self.limits.depth {
            let message = format!("nested deeper than {} levels", self.limits.depth);
            return Err(self.error(message).of(Fault::TooDeep));
        }
        Ok(())
    }

    fn expect_kind(&mut self, first: u8, wanted: &str) -> Result<(), JsonError> {
        let found = self.peek()?;
        if found == first {
            return Ok(());
        }
        let message = format!("{wanted} was expected, found {}", kind_of(found));
        Err(self.error(message))
    }

    /// Reads a comma or the closing bracket after a member; returns whether it was a comma.
    pub(crate) fn another(&mut self, closing: u8) -> Result<bool, JsonError> {
        match self.peek()? {
            b',' => {
                self.at += 1;
                Ok(true)
            }
            found if found == closing => {
                self.at += 1;
                self.depth -= 1;
                Ok(false)
            }
            _ => Err(self.error(format!("',' or '{}' was expected", closing as char))),
        }
    }

    /// Whether the object or list just opened is empty; then reads its closing bracket.
    pub(crate) fn is_empty(&mut self, closing: u8) -> Result<bool, JsonError> {
        let is_empty = self.peek()? == closing;
        if is_empty {
            self.at += 1;
            self.depth -= 1;
        }
        Ok(is_empty)
    }

    /// Reads the name of a member and the colon after it.
    pub(crate) fn name(&mut self) -> Result<Cow<'a, str>, JsonError> {
        self.expect_kind(b'"', "a property name")?;
        let name = self.string_here()?;
        if self.peek()? != b':' {
            return Err(self.error("':' was expected"));
        }
        self.at += 1;
        Ok(name)
    }

    /// Reads an object. `member` is called for each property whose value is not `null`, and must
    /// read or [skip](Self::skip) that value.
    ///
    /// # Errors
    /// When there is no object here, it is malformed or over the limits, or `member` fails.
    pub fn object(
        &mut self,
        mut member: impl FnMut(&mut Self, &str) -> Result<(), JsonError>,
    ) -> Result<(), JsonError> {
        self.open(b'{', "an object")?;
        if self.is_empty(b'}')? {
            return Ok(());
        }
        loop {
            let key = self.name()?;
            if self.null()? {
                self.count()?;
            } else {
                member(self, &key).map_err(|error| error.in_key(&key))?;
            }
            if !self.another(b'}')? {
                return Ok(());
            }
        }
    }

    /// Reads a list. `element` is called for each element and must read or skip it.
    ///
    /// # Errors
    /// When there is no list here, it is malformed or over the limits, or `element` fails.
    pub fn list(
        &mut self,
        mut element: impl FnMut(&mut Self) -> Result<(), JsonError>,
    ) -> Result<(), JsonError> {
        self.open(b'[', "a list")?;
        if self.is_empty(b']')? {
            return Ok(());
        }
        for index in 0.. {
            element(self).map_err(|error| error.in_index(index))?;
            if !self.another(b']')? {
                break;
            }
        }
        Ok(())
    }

    /// Looks ahead for the value of the property `class` of the object that begins here, without
    /// reading the object.
    ///
    /// # Errors
    /// When there is no object here, it is malformed, or the document puts `class` so late so often
    /// that finding it would cost many times the document's length.
    pub fn class(&mut self) -> Result<Option<Cow<'a, str>>, JsonError> {
        self.expect_kind(b'{', "an object")?;
        let mut ahead = self.clone();
        ahead.open(b'{', "an object")?;
        let mut more = !ahead.is_empty(b'}')?;
        while more {
            if ahead.name()? == "class" {
                if ahead.null()? {
                    return Ok(None);
                }
                return ahead
                    .string()
                    .map(Some)
                    .map_err(|error| error.in_key("class"));
            }
            let before = ahead.at;
            ahead.skip()?;
            let Some(left) = self.look_ahead_left.checked_sub(ahead.at - before) else {
                return Err(self.error("\"class\" must be the first property of an object"));
            };
            self.look_ahead_left = left;
            more = ahead.another(b'}')?;
        }
        Ok(None)
    }

    /// Skips a `null`; returns whether there was one.
    ///
    /// # Errors
    /// When the document ends here.
    pub fn null(&mut self) -> Result<bool, JsonError> {
        let is_null = self.peek()? == b'n';
        if is_null {
            self.word("null")?;
        }
        Ok(is_null)
    }

    pub(crate) fn word(&mut self, word: &str) -> Result<(), JsonError> {
        if !self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            return Err(self.error("not a JSON value"));
        }
        self.at += word.len();
        Ok(())
    }

    /// Reads `true` or `false`.
    ///
    /// # Errors
    /// When the next value is neither.
    pub fn boolean(&mut self) -> Result<bool, JsonError> {
        let first = self.peek()?;
        self.count()?;
        match first {
            b't' => self.word("true").map(|()| true),
            b'f' => self.word("false").map(|()| false),
            found => {
                let message = format!("true or false was expected, found {}", kind_of(found));
                Err(self.error(message))
            }
        }
    }

    /// Reads a string.
    ///
    /// # Errors
    /// When there is no string here, it is too long, has a bad escape, or half a surrogate pair.
    pub fn string(&mut self) -> Result<Cow<'a, str>, JsonError> {
        self.expect_kind(b'"', "a string")?;
        self.count()?;
        self.string_here()
    }

    /// Whether the next value is a string.
    ///
    /// # Errors
    /// When the document ends here.
    pub fn at_string(&mut self) -> Result<bool, JsonError> {
        Ok(self.peek()? == b'"')
    }

    fn string_here(&mut self) -> Result<Cow<'a, str>, JsonError> {
        let start = self.at + 1;
        let end = scan::plain_end(self.text.as_bytes(), start);
        match end.filter(|end| end - start <= self.limits.string_bytes) {
            Some(end) if self.text.as_bytes()[end] == b'"' => {
                self.at = end + 1;
                Ok(Cow::Borrowed(&self.text[start..end]))
            }
            _ => {
                self.at = start;
                self.escaped_string(start).map(Cow::Owned)
            }
        }
    }

    /// Moves past the bytes of a string, up to its end or the next escape.
    fn plain_bytes(&mut self, start: usize) -> Result<(), JsonError> {
        let end = scan::plain_end(self.text.as_bytes(), self.at);
        let longest = start
            .saturating_add(self.limits.string_bytes)
            .saturating_add(1);
        self.at = end.unwrap_or(self.text.len()).min(longest);
        self.check_length(start)?;
        match self.byte() {
            None => Err(self.error("the document ends within a string")),
            Some(..0x20) => Err(self.error("a control character within a string")),
            Some(_) => Ok(()),
        }
    }

    fn check_length(&self, start: usize) -> Result<(), JsonError> {
        if self.at - start <= self.limits.string_bytes {
            return Ok(());
        }
        let message = format!("a string longer than {} bytes", self.limits.string_bytes);
        Err(self.error(message).of(Fault::TooLong))
    }

    /// Reads a string that has escapes, or finds what is wrong with it.
    fn escaped_string(&mut self, start: usize) -> Result<String, JsonError> {
        let mut text = String::new();
        loop {
            let plain = self.at;
            self.plain_bytes(start)?;
            text.push_str(&self.text[plain..self.at]);
            let is_end = self.byte() == Some(b'"');
            self.at += 1;
            if is_end {
                return Ok(text);
            }
            text.push(self.escape()?);
            self.check_length(start)?;
        }
    }

    fn escape(&mut self) -> Result<char, JsonError> {
        let escape = self
            .byte()
            .ok_or_else(|| self.error("the document ends within a string"))?;
        let plain = match escape {
            b'"' | b'\\' | b'/' => char::from(escape),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode_escape(),
            _ => return Err(self.error("an unknown escape")),
        };
        self.at += 1;
        Ok(plain)
    }

    fn unicode_escape(&mut self) -> Result<char, JsonError> {
        self.at += 1;
        let first = self.four_hex_digits()?;
        let unit = match first {
            0xD800..=0xDBFF => {
                if !self.text.as_bytes()[self.at..].starts_with(b"\\u") {
                    return Err(self.error("half a surrogate pair"));
                }
                self.at += 2;
                let second = self.four_hex_digits()?;
                if !(0xDC00..=0xDFFF).contains(&second) {
                    return Err(self.error("half a surrogate pair"));
                }
                0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00)
            }
            _ => first,
        };
        char::from_u32(unit).ok_or_else(|| self.error("half a surrogate pair"))
    }

    fn four_hex_digits(&mut self) -> Result<u32, JsonError> {
        let Some(unit) = scan::four_hex_digits(self.text.as_bytes(), self.at) else {
            return Err(self.error("\\u needs four hexadecimal digits"));
        };
        self.at += 4;
        Ok(unit)
    }

    /// Reads a number as it is written.
    ///
    /// # Errors
    /// When there is no number here, or it has more than [`Limits::string_bytes`] bytes.
    pub fn number(&mut self) -> Result<&'a str, JsonError> {
        let found = self.peek()?;
        if found != b'-' && !found.is_ascii_digit() {
            let message = format!("a number was expected, found {}", kind_of(found));
            return Err(self.error(message));
        }
        self.count()?;
        let start = self.at;
        if found == b'-' {
            self.at += 1;
        }
        let leads_with_zero = self.byte() == Some(b'0');
        let integer_digits = self.digits()?;
        if leads_with_zero && integer_digits > 1 {
            return Err(self.error("a number may not begin with 0"));
        }
        if self.byte() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.byte(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.byte(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        if self.at - start > self.limits.string_bytes {
            let message = format!("a number longer than {} bytes", self.limits.string_bytes);
            return Err(self.error(message).of(Fault::TooLong));
        }
        Ok(&self.text[start..self.at])
    }

    fn digits(&mut self) -> Result<usize, JsonError> {
        let start = self.at;
        while self.byte().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at == start {
            return Err(self.error("a digit was expected"));
        }
        Ok(self.at - start)
    }

    /// Reads a 64-bit integer.
    ///
    /// # Errors
    /// When there is no integer here, or it does not fit.
    pub fn integer(&mut self) -> Result<i64, JsonError> {
        let number = self.number()?;
        number
            .parse()
            .map_err(|_| self.error("a whole number of at most 64 bits was expected"))
    }

    /// Skips the next value, whatever it is.
    ///
    /// # Errors
    /// When it is malformed or over the limits.
    pub fn skip(&mut self) -> Result<(), JsonError> {
        let bounds = Bounds {
            depth: self.limits.depth.saturating_sub(self.depth),
            values: self.values_left,
            text_bytes: self.limits.string_bytes,
        };
        let Some(passed) = scan::value(self.text.as_bytes(), self.at, bounds) else {
            return self.skip_one_by_one();
        };
        self.at = passed.end;
        self.deepest = self.deepest.max(self.depth + passed.levels);
        self.values_left -= passed.values;
        Ok(())
    }

    /// Skips a value by reading it, which finds the error and its path.
    fn skip_one_by_one(&mut self) -> Result<(), JsonError> {
        match self.peek()? {
            b'{' => self.object(|reader, _| reader.skip_one_by_one()),
            b'[' => self.list(Self::skip_one_by_one),
            b'"' => self.string().map(|_| ()),
            b't' | b'f' => self.boolean().map(|_| ()),
            b'n' => {
                self.count()?;
                self.word("null")
            }
            _ => self.number().map(|_| ()),
        }
    }

    /// Skips the next value and returns its text.
    ///
    /// # Errors
    /// When it is malformed or over the limits.
    pub fn raw(&mut self) -> Result<&'a str, JsonError> {
        self.peek()?;
        let start = self.at;
        self.skip()?;
        Ok(&self.text[start..self.at])
    }
}

fn kind_of(first: u8) -> &'static str {
    match first {
        b'{' => "an object",
        b'[' => "a list",
        b'"' => "a string",
        b't' | b'f' => "a boolean",
        b'n' => "null",
        b'-' | b'0'..=b'9' => "a number",
        _ => "something that is not JSON",
    }
}
