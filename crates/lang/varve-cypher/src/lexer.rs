//! Splits a text into tokens. The first error is a token too, so that the parser reports it only
//! when it gets there.

use crate::error::{ErrorKind, ParseError};
use crate::tree::Span;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Word,
    /// A name in backticks; its bytes include them.
    Escaped,
    Number,
    /// A quoted string; its bytes include the quotes.
    String,
    LeftParen,
    RightParen,
    LeftBracket,
    RightBracket,
    LeftBrace,
    RightBrace,
    Comma,
    Semicolon,
    Colon,
    /// `::`
    ColonColon,
    Dot,
    /// `..`
    DotDot,
    Plus,
    /// `+=`
    PlusEqual,
    Minus,
    Star,
    Slash,
    Percent,
    Caret,
    Equal,
    /// `=~`
    Matches,
    /// `<>` or `!=`
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Bar,
    /// `||`
    BarBar,
    Ampersand,
    Bang,
    Dollar,
    Question,
    /// What is no token; see [`Tokens::error`].
    Invalid,
    End,
}

/// A token: its kind and its byte range in the text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) span: Span,
}

/// The tokens of a text. The last one is [`TokenKind::End`] or [`TokenKind::Invalid`].
pub(crate) struct Tokens {
    pub(crate) tokens: Vec<Token>,
    /// The error of the invalid token.
    pub(crate) error: Option<ParseError>,
}

/// Tokens of two bytes, before their prefixes.
const PAIRS: &[(&[u8; 2], TokenKind)] = &[
    (b"::", TokenKind::ColonColon),
    (b"..", TokenKind::DotDot),
    (b"+=", TokenKind::PlusEqual),
    (b"=~", TokenKind::Matches),
    (b"<>", TokenKind::NotEqual),
    (b"!=", TokenKind::NotEqual),
    (b"<=", TokenKind::LessEqual),
    (b">=", TokenKind::GreaterEqual),
    (b"||", TokenKind::BarBar),
];

/// The tokens of a text of less than 4 GiB.
pub(crate) fn tokens(text: &str) -> Tokens {
    let mut lexer = Lexer { text, place: 0 };
    let mut tokens: Vec<Token> = Vec::with_capacity(text.len() / 4);
    loop {
        match lexer.next() {
            Ok(token) => {
                tokens.push(token);
                if token.kind == TokenKind::End {
                    return Tokens {
                        tokens,
                        error: None,
                    };
                }
            }
            Err(error) => {
                tokens.push(Token {
                    kind: TokenKind::Invalid,
                    span: error.span,
                });
                return Tokens {
                    tokens,
                    error: Some(error),
                };
            }
        }
    }
}

struct Lexer<'s> {
    text: &'s str,
    place: usize,
}

impl Lexer<'_> {
    fn byte(&self, offset: usize) -> u8 {
        let bytes = self.text.as_bytes();
        bytes.get(self.place + offset).copied().unwrap_or(0)
    }

    fn character(&self) -> Option<char> {
        self.text[self.place..].chars().next()
    }

    fn error(&self, kind: ErrorKind, start: usize, message: impl Into<String>) -> ParseError {
        let span = Span {
            start: start as u32,
            end: self.text.len().min(self.place.max(start + 1)) as u32,
        };
        ParseError::at(self.text, kind, span, message)
    }

    fn next(&mut self) -> Result<Token, ParseError> {
        self.skip_blank()?;
        let start = self.place;
        let first = self.byte(0);
        let kind = match first {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.word(),
            b'0'..=b'9' => self.number(),
            b'.' if self.byte(1).is_ascii_digit() => self.number(),
            b'"' | b'\'' => self.quoted(first)?,
            b'`' => self.escaped()?,
            _ if start >= self.text.len() => TokenKind::End,
            _ if first >= 0x80 => self.foreign_word()?,
            _ => self.punctuation(first)?,
        };
        let span = Span {
            start: start as u32,
            end: self.place as u32,
        };
        Ok(Token { kind, span })
    }

    fn skip_blank(&mut self) -> Result<(), ParseError> {
        loop {
            match (self.byte(0), self.byte(1)) {
                (b'\t'..=b'\r' | b' ' | 0x1C..=0x1F, _) => self.place += 1,
                (b'/', b'/') => {
                    let rest = &self.text.as_bytes()[self.place..];
                    let length = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
                    self.place += length.unwrap_or(rest.len());
                }
                (b'/', b'*') => {
                    let Some(length) = self.text[self.place + 2..].find("*/") else {
                        let message = "a comment begins with /* and does not end";
                        return Err(self.error(ErrorKind::UnexpectedSyntax, self.place, message));
                    };
                    self.place += length + 4;
                }
                (0x80.., _) => match self.character() {
                    Some(blank) if blank.is_whitespace() || blank == '\u{FEFF}' => {
                        self.place += blank.len_utf8();
                    }
                    _ => return Ok(()),
                },
                _ => return Ok(()),
            }
        }
    }

    fn word(&mut self) -> TokenKind {
        loop {
            match self.byte(0) {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' => self.place += 1,
                0x80.. => match self.character() {
                    Some(next) if next.is_alphanumeric() => self.place += next.len_utf8(),
                    _ => return TokenKind::Word,
                },
                _ => return TokenKind::Word,
            }
        }
    }

    fn foreign_word(&mut self) -> Result<TokenKind, ParseError> {
        match self.character() {
            Some(next) if next.is_alphabetic() => Ok(self.word()),
            next => {
                let next = next.unwrap_or_default();
                let message = format!("the character '{next}' has no meaning here");
                Err(self.error(ErrorKind::InvalidUnicodeCharacter, self.place, message))
            }
        }
    }

    /// Reads digits, letters and underscores, at most one point if a digit follows it, and the
    /// sign of an exponent. The parser decides whether they form a number.
    fn number(&mut self) -> TokenKind {
        let based = self.byte(0) == b'0' && matches!(self.byte(1), b'x' | b'X' | b'o' | b'O');
        let mut point = based;
        loop {
            match self.byte(0) {
                b'e' | b'E' if !based => {
                    point = true;
                    self.place += 1;
                    if matches!(self.byte(0), b'+' | b'-') && self.byte(1).is_ascii_digit() {
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

    fn quoted(&mut self, quote: u8) -> Result<TokenKind, ParseError> {
        let start = self.place;
        self.place += 1;
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.place) {
            match *byte {
                b'\\' => self.place += 2,
                byte if byte == quote && self.byte(1) == quote => self.place += 2,
                byte if byte == quote => {
                    self.place += 1;
                    return Ok(TokenKind::String);
                }
                _ => self.place += 1,
            }
        }
        self.place = self.text.len();
        Err(self.error(ErrorKind::UnexpectedSyntax, start, "a string does not end"))
    }

    fn escaped(&mut self) -> Result<TokenKind, ParseError> {
        let start = self.place;
        self.place += 1;
        while let Some(length) = self.text[self.place..].find('`') {
            self.place += length + 1;
            if self.byte(0) != b'`' {
                return Ok(TokenKind::Escaped);
            }
            self.place += 1;
        }
        let message = "a name in backticks does not end";
        self.place = self.text.len();
        Err(self.error(ErrorKind::UnexpectedSyntax, start, message))
    }

    fn punctuation(&mut self, first: u8) -> Result<TokenKind, ParseError> {
        let pair = [first, self.byte(1)];
        if let Some((_, kind)) = PAIRS.iter().find(|(text, _)| **text == pair) {
            self.place += 2;
            return Ok(*kind);
        }
        let kind = match first {
            b'(' => TokenKind::LeftParen,
            b')' => TokenKind::RightParen,
            b'[' => TokenKind::LeftBracket,
            b']' => TokenKind::RightBracket,
            b'{' => TokenKind::LeftBrace,
            b'}' => TokenKind::RightBrace,
            b',' => TokenKind::Comma,
            b';' => TokenKind::Semicolon,
            b':' => TokenKind::Colon,
            b'.' => TokenKind::Dot,
            b'+' => TokenKind::Plus,
            b'-' => TokenKind::Minus,
            b'*' => TokenKind::Star,
            b'/' => TokenKind::Slash,
            b'%' => TokenKind::Percent,
            b'^' => TokenKind::Caret,
            b'=' => TokenKind::Equal,
            b'<' => TokenKind::Less,
            b'>' => TokenKind::Greater,
            b'|' => TokenKind::Bar,
            b'&' => TokenKind::Ampersand,
            b'!' => TokenKind::Bang,
            b'$' => TokenKind::Dollar,
            b'?' => TokenKind::Question,
            _ => {
                let message = format!("'{}' has no meaning here", first.escape_ascii());
                return Err(self.error(ErrorKind::UnexpectedSyntax, self.place, message));
            }
        };
        self.place += 1;
        Ok(kind)
    }
}
