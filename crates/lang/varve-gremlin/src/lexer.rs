//! Splits a text into tokens. A newline is not a token, but a flag of the token after it.

use crate::error::{ErrorCode, ParseError, Result};
use crate::tree::Span;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Word,
    Number,
    /// A quoted string; its bytes include the quotes.
    String,
    Dot,
    /// `..`
    DotDot,
    Comma,
    Colon,
    Semicolon,
    LeftParen,
    RightParen,
    LeftBracket,
    RightBracket,
    LeftBrace,
    RightBrace,
    /// `->`
    Arrow,
    Assign,
    /// An assignment with an operator, such as `+=`.
    AssignWith,
    Plus,
    Minus,
    PlusPlus,
    MinusMinus,
    Star,
    StarStar,
    Slash,
    Percent,
    Bang,
    EqualEqual,
    BangEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Spaceship,
    LessLess,
    AndAnd,
    OrOr,
    /// `|`, between the classes of a `catch`.
    Pipe,
    Question,
    Elvis,
    End,
}

/// A token: its kind and its byte range in the text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    /// Whether there is a newline between the previous token and this one.
    pub(crate) newline: bool,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Token {
    pub(crate) fn span(self) -> Span {
        Span {
            start: self.start,
            end: self.end,
        }
    }
}

/// A text, and the position after the last token that was read.
#[derive(Clone, Copy)]
pub(crate) struct Lexer<'s> {
    text: &'s str,
    place: usize,
}

/// Operators and separators of two or three bytes. Each one comes before its own prefixes.
const LONG: &[(&[u8], TokenKind)] = &[
    (b"**=", TokenKind::AssignWith),
    (b"<=>", TokenKind::Spaceship),
    (b"->", TokenKind::Arrow),
    (b"..", TokenKind::DotDot),
    (b"==", TokenKind::EqualEqual),
    (b"!=", TokenKind::BangEqual),
    (b"<=", TokenKind::LessEqual),
    (b">=", TokenKind::GreaterEqual),
    (b"<<", TokenKind::LessLess),
    (b"&&", TokenKind::AndAnd),
    (b"||", TokenKind::OrOr),
    (b"?:", TokenKind::Elvis),
    (b"++", TokenKind::PlusPlus),
    (b"--", TokenKind::MinusMinus),
    (b"**", TokenKind::StarStar),
    (b"+=", TokenKind::AssignWith),
    (b"-=", TokenKind::AssignWith),
    (b"*=", TokenKind::AssignWith),
    (b"/=", TokenKind::AssignWith),
    (b"%=", TokenKind::AssignWith),
];

impl<'s> Lexer<'s> {
    /// A lexer at the beginning of a text of less than 4 GiB.
    pub(crate) fn new(text: &'s str) -> Lexer<'s> {
        Lexer { text, place: 0 }
    }

    fn byte(&self, offset: usize) -> u8 {
        self.text
            .as_bytes()
            .get(self.place + offset)
            .copied()
            .unwrap_or(0)
    }

    fn wrong(&self, code: ErrorCode, start: usize, message: impl Into<String>) -> ParseError {
        let span = Span {
            start: start as u32,
            end: self.text.len().min(self.place.max(start + 1)) as u32,
        };
        ParseError::at(self.text, code, span, message)
    }

    pub(crate) fn next(&mut self) -> Result<Token> {
        let newline = self.skip_blank()?;
        let start = self.place;
        let first = self.byte(0);
        let kind = match first {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' => self.word(),
            b'0'..=b'9' => self.number(),
            b'"' | b'\'' => self.quoted(first)?,
            _ if start >= self.text.len() => TokenKind::End,
            _ if first >= 0x80 => self.foreign_word()?,
            _ => self.punctuation(first)?,
        };
        Ok(Token {
            kind,
            newline,
            start: start as u32,
            end: self.place as u32,
        })
    }

    /// Skips white space and comments. Returns whether a newline was among them. As in Groovy, a
    /// carriage return ends a line too.
    fn skip_blank(&mut self) -> Result<bool> {
        let mut newline = false;
        loop {
            match self.byte(0) {
                b'\n' | b'\r' => newline = true,
                b' ' | b'\t' | 0x0C => {}
                b'/' if self.byte(1) == b'/' => {
                    let rest = &self.text.as_bytes()[self.place..];
                    let length = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
                    self.place += length.unwrap_or(rest.len());
                    continue;
                }
                b'/' if self.byte(1) == b'*' => {
                    let Some(length) = self.text[self.place + 2..].find("*/") else {
                        let place = self.place;
                        return Err(self.wrong(
                            ErrorCode::Syntax,
                            place,
                            "a comment begins with /* and does not end",
                        ));
                    };
                    newline |= self.text[self.place + 2..][..length].contains(['\n', '\r']);
                    self.place += length + 4;
                    continue;
                }
                _ => return Ok(newline),
            }
            self.place += 1;
        }
    }

    fn word(&mut self) -> TokenKind {
        loop {
            match self.byte(0) {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'$' => self.place += 1,
                0x80.. => match self.text[self.place..].chars().next() {
                    Some(next) if next.is_alphanumeric() => self.place += next.len_utf8(),
                    _ => return TokenKind::Word,
                },
                _ => return TokenKind::Word,
            }
        }
    }

    fn foreign_word(&mut self) -> Result<TokenKind> {
        let next = self.text[self.place..].chars().next();
        match next {
            Some(next) if next.is_alphabetic() => Ok(self.word()),
            Some(next) => Err(self.wrong(
                ErrorCode::Syntax,
                self.place,
                format!("the character '{next}' has no meaning here"),
            )),
            None => Ok(TokenKind::End),
        }
    }

    /// Reads digits, letters and underscores, at most one point if a digit follows it, and the sign
    /// of an exponent. The parser decides whether they form a number.
    fn number(&mut self) -> TokenKind {
        let hexadecimal = self.byte(0) == b'0' && matches!(self.byte(1), b'x' | b'X');
        let mut point = false;
        loop {
            match self.byte(0) {
                b'e' | b'E' if !hexadecimal => {
                    self.place += 1;
                    if matches!(self.byte(0), b'+' | b'-') {
                        self.place += 1;
                    }
                }
                b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.place += 1,
                b'.' if !point && self.byte(1).is_ascii_digit() => {
                    point = true;
                    self.place += 1;
                }
                _ => return TokenKind::Number,
            }
        }
    }

    fn quoted(&mut self, quote: u8) -> Result<TokenKind> {
        let start = self.place;
        let triple = self.byte(1) == quote && self.byte(2) == quote;
        self.place += if triple { 3 } else { 1 };
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.place) {
            match *byte {
                b'\\' => self.place += 2,
                byte if byte == quote => {
                    if !triple {
                        self.place += 1;
                        return Ok(TokenKind::String);
                    }
                    if self.byte(1) == quote && self.byte(2) == quote {
                        self.place += 3;
                        return Ok(TokenKind::String);
                    }
                    self.place += 1;
                }
                b'$' if quote == b'"' && self.byte(1) == b'{' => {
                    return Err(self.wrong(
                        ErrorCode::Interpolation,
                        self.place,
                        "\"${…}\" in a string is not supported; write '$' in single quotes, or join strings with +",
                    ));
                }
                _ => self.place += 1,
            }
        }
        self.place = self.text.len();
        Err(self.wrong(ErrorCode::Syntax, start, "a string does not end"))
    }

    fn punctuation(&mut self, first: u8) -> Result<TokenKind> {
        let rest = &self.text.as_bytes()[self.place..];
        let single = match first {
            b'(' | b')' | b',' | b'[' | b']' | b'{' | b'}' | b';' | b':' => true,
            b'.' => self.byte(1) != b'.',
            _ => false,
        };
        if !single && let Some((text, kind)) = LONG.iter().find(|(text, _)| rest.starts_with(text))
        {
            self.place += text.len();
            return Ok(*kind);
        }
        let kind = match first {
            b'.' => TokenKind::Dot,
            b',' => TokenKind::Comma,
            b':' => TokenKind::Colon,
            b';' => TokenKind::Semicolon,
            b'(' => TokenKind::LeftParen,
            b')' => TokenKind::RightParen,
            b'[' => TokenKind::LeftBracket,
            b']' => TokenKind::RightBracket,
            b'{' => TokenKind::LeftBrace,
            b'}' => TokenKind::RightBrace,
            b'=' => TokenKind::Assign,
            b'+' => TokenKind::Plus,
            b'-' => TokenKind::Minus,
            b'*' => TokenKind::Star,
            b'/' => TokenKind::Slash,
            b'%' => TokenKind::Percent,
            b'!' => TokenKind::Bang,
            b'<' => TokenKind::Less,
            b'>' => TokenKind::Greater,
            b'?' => TokenKind::Question,
            b'|' => TokenKind::Pipe,
            _ => {
                return Err(self.wrong(
                    ErrorCode::Syntax,
                    self.place,
                    format!(
                        "the character '{}' has no meaning here",
                        first.escape_ascii()
                    ),
                ));
            }
        };
        self.place += 1;
        Ok(kind)
    }
}
