//! JSON as GraphSON needs it: numbers as they are written, so that no digit is lost, members in
//! order, and bounded nesting.

use std::borrow::Cow;

use crate::budget::{Budget, JSON_NESTING_MAX};
use crate::error::{Result, WireError};

/// A JSON value that borrows from its text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Json<'t> {
    Null,
    Bool(bool),
    /// The number's own text.
    Number(&'t str),
    String(Cow<'t, str>),
    Array(Vec<Json<'t>>),
    Object(Vec<(Cow<'t, str>, Json<'t>)>),
}

impl<'t> Json<'t> {
    /// Reads a text that is one JSON value of at most so many.
    pub(crate) fn read(text: &'t str, values_max: usize) -> Result<Json<'t>> {
        let mut reader = Reader {
            text,
            place: 0,
            budget: Budget::new(JSON_NESTING_MAX, values_max),
        };
        let value = reader.value()?;
        match reader.peek() {
            None => Ok(value),
            Some(_) => Err(reader.wrong("nothing may follow the value")),
        }
    }

    /// Removes and gives the member with this name.
    pub(crate) fn take(
        members: &mut Vec<(Cow<'t, str>, Json<'t>)>,
        name: &str,
    ) -> Option<Json<'t>> {
        let place = members.iter().position(|(key, _)| key == name)?;
        Some(members.remove(place).1)
    }
}

struct Reader<'t> {
    text: &'t str,
    place: usize,
    budget: Budget,
}

impl<'t> Reader<'t> {
    fn wrong(&self, message: impl Into<String>) -> WireError {
        WireError::Malformed {
            place: self.place,
            message: message.into(),
        }
    }

    /// The next byte that is no white space.
    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.place) {
            if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                return Some(*byte);
            }
            self.place += 1;
        }
        None
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.place += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8) -> Result<()> {
        if self.take(byte) {
            return Ok(());
        }
        match self.peek() {
            None => Err(WireError::Short("JSON")),
            Some(_) => Err(self.wrong(format!("'{}' is expected", char::from(byte)))),
        }
    }

    fn value(&mut self) -> Result<Json<'t>> {
        self.budget.enter()?;
        let value = match self.peek() {
            None => return Err(WireError::Short("JSON")),
            Some(b'{') => self.object()?,
            Some(b'[') => self.array()?,
            Some(b'"') => Json::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(_) => self.word()?,
        };
        self.budget.leave();
        Ok(value)
    }

    fn word(&mut self) -> Result<Json<'t>> {
        for (word, value) in [
            ("null", Json::Null),
            ("true", Json::Bool(true)),
            ("false", Json::Bool(false)),
        ] {
            if self.text.as_bytes()[self.place..].starts_with(word.as_bytes()) {
                self.place += word.len();
                return Ok(value);
            }
        }
        Err(self.wrong("a JSON value is expected"))
    }

    fn number(&mut self) -> Result<Json<'t>> {
        let rest = &self.text[self.place..];
        let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
        let length = rest.bytes().take_while(|byte| is_part(byte)).count();
        let number = &rest[..length];
        if number.parse::<f64>().is_err() {
            return Err(self.wrong("a number is expected"));
        }
        self.place += length;
        Ok(Json::Number(number))
    }

    fn array(&mut self) -> Result<Json<'t>> {
        self.place += 1;
        let mut members = Vec::new();
        if self.take(b']') {
            return Ok(Json::Array(members));
        }
        loop {
            members.push(self.value()?);
            if self.take(b']') {
                return Ok(Json::Array(members));
            }
            self.expect(b',')?;
        }
    }

    fn object(&mut self) -> Result<Json<'t>> {
        self.place += 1;
        let mut members = Vec::new();
        if self.take(b'}') {
            return Ok(Json::Object(members));
        }
        loop {
            if self.peek() != Some(b'"') {
                return Err(self.wrong("the name of a member is expected"));
            }
            let name = self.string()?;
            self.expect(b':')?;
            members.push((name, self.value()?));
            if self.take(b'}') {
                return Ok(Json::Object(members));
            }
            self.expect(b',')?;
        }
    }

    fn string(&mut self) -> Result<Cow<'t, str>> {
        self.place += 1;
        let start = self.place;
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(self.place) {
                None => return Err(WireError::Short("a string")),
                Some(b'"') => {
                    let text = &self.text[start..self.place];
                    self.place += 1;
                    return Ok(Cow::Borrowed(text));
                }
                Some(b'\\') => return self.escaped(start).map(Cow::Owned),
                Some(0..=0x1F) => return Err(self.wrong("a control character in a string")),
                Some(_) => self.place += 1,
            }
        }
    }

    /// The rest of a string that has escapes.
    fn escaped(&mut self, start: usize) -> Result<String> {
        let mut text = self.text[start..self.place].to_owned();
        loop {
            let rest = &self.text[self.place..];
            let Some(next) = rest.chars().next() else {
                return Err(WireError::Short("a string"));
            };
            self.place += next.len_utf8();
            match next {
                '"' => return Ok(text),
                '\\' => self.escape(&mut text)?,
                '\0'..='\u{1F}' => return Err(self.wrong("a control character in a string")),
                next => text.push(next),
            }
        }
    }

    fn escape(&mut self, text: &mut String) -> Result<()> {
        let Some(escape) = self.text.as_bytes().get(self.place).copied() else {
            return Err(WireError::Short("a string"));
        };
        self.place += 1;
        text.push(match escape {
            b'"' | b'\\' | b'/' => char::from(escape),
            b'b' => '\u{8}',
            b'f' => '\u{C}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => self.unicode()?,
            _ => {
                self.place -= 1;
                return Err(self.wrong("no such escape"));
            }
        });
        Ok(())
    }

    /// The character of `\uXXXX`, or of two that are a surrogate pair.
    fn unicode(&mut self) -> Result<char> {
        let unit = self.code_unit()?;
        let rest = self.text.as_bytes().get(self.place..self.place + 2);
        if (0xD800..0xDC00).contains(&unit) && rest == Some(b"\\u") {
            let before = self.place;
            self.place += 2;
            let low = self.code_unit()?;
            if (0xDC00..0xE000).contains(&low) {
                let code = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.place = before;
        }
        Ok(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn code_unit(&mut self) -> Result<u32> {
        let digits = self.text.get(self.place..self.place + 4);
        let unit = digits
            .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
            .and_then(|digits| u32::from_str_radix(digits, 16).ok());
        match unit {
            Some(unit) => {
                self.place += 4;
                Ok(unit)
            }
            None => Err(self.wrong("\\u needs four hexadecimal digits")),
        }
    }
}

/// Writes a JSON string.
pub(crate) fn write_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let mut plain = 0;
    for (place, byte) in text.bytes().enumerate() {
        let escape: &[u8] = match byte {
            b'"' => b"\\\"",
            b'\\' => b"\\\\",
            b'\n' => b"\\n",
            b'\r' => b"\\r",
            b'\t' => b"\\t",
            0..=0x1F => b"",
            _ => continue,
        };
        out.extend_from_slice(&text.as_bytes()[plain..place]);
        plain = place + 1;
        if escape.is_empty() {
            out.extend_from_slice(format!("\\u{byte:04x}").as_bytes());
        } else {
            out.extend_from_slice(escape);
        }
    }
    out.extend_from_slice(&text.as_bytes()[plain..]);
    out.push(b'"');
}
