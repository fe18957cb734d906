//! The parser: recursive descent over the tokens, with as much lookahead as a decision needs, so
//! that nothing is read twice.

mod atom;
mod call;
mod command;
mod expression;
mod label;
mod pattern;
mod projection;
mod query;
mod read;
mod show;
mod statement;
mod time;
mod types;
mod write;

use crate::error::{ErrorKind, ParseError, Result};
use crate::lexer::{Token, TokenKind, tokens};
use crate::literals::{escaped_name, shortened};
use crate::tree::{Name, Span, Statement, Text};

/// The most levels of nesting, counting each operand of an operator as one.
pub const NESTING_MAX: u16 = 128;

/// Parses one statement, which may end with a semicolon.
///
/// # Errors
/// Fails if the text is no statement, uses a construct that is not supported, or is nested deeper
/// than [`NESTING_MAX`]. The first error in the text is returned.
pub fn parse(text: &str) -> Result<Statement> {
    if u32::try_from(text.len()).is_err() {
        let message = "the text is 4 GiB long or longer";
        return Err(ParseError::at(
            "",
            ErrorKind::TooLong,
            Span::default(),
            message,
        ));
    }
    Parser::new(text).whole_statement()
}

struct Parser<'s> {
    text: &'s str,
    tokens: Vec<Token>,
    /// The error of the invalid token at the end, if there is one.
    error: Option<ParseError>,
    /// For each token that opens a bracket, the place of the one that closes it, or 0.
    closing: Vec<u32>,
    /// The place of the next token.
    place: usize,
    /// The number of levels around the next token.
    depth: u16,
    /// The height of the tree read since the current level began.
    height: u16,
    /// Whether `|` ends the expression, so that it does not join labels.
    bar_ends: bool,
    /// The construct that surrounds the next token and may not write, such as `EXISTS`.
    reads_only: Option<&'static str>,
}

impl<'s> Parser<'s> {
    fn new(text: &'s str) -> Parser<'s> {
        let split = tokens(text);
        Parser {
            text,
            closing: closing(&split.tokens),
            tokens: split.tokens,
            error: split.error,
            place: 0,
            depth: 0,
            height: 0,
            bar_ends: false,
            reads_only: None,
        }
    }

    /// The token `ahead` places after the next one; the last one if there are fewer.
    fn token(&self, ahead: usize) -> Token {
        let place = (self.place + ahead).min(self.tokens.len() - 1);
        self.tokens[place]
    }

    fn kind(&self, ahead: usize) -> TokenKind {
        self.token(ahead).kind
    }

    fn at(&self, kind: TokenKind) -> bool {
        self.kind(0) == kind
    }

    fn span(&self) -> Span {
        self.token(0).span
    }

    /// Whether the token `ahead` is this word, in any case.
    fn is_word(&self, ahead: usize, word: &str) -> bool {
        let token = self.token(ahead);
        token.kind == TokenKind::Word && token.span.of(self.text).eq_ignore_ascii_case(word)
    }

    fn at_word(&self, word: &str) -> bool {
        self.is_word(0, word)
    }

    /// Whether these words come next.
    fn at_words(&self, words: &[&str]) -> bool {
        (0..)
            .zip(words)
            .all(|(ahead, word)| self.is_word(ahead, word))
    }

    /// The first of these words that is next.
    fn any_word<'w>(&self, words: &[&'w str]) -> Option<&'w str> {
        words.iter().copied().find(|word| self.at_word(word))
    }

    fn is_name(&self, ahead: usize) -> bool {
        matches!(self.kind(ahead), TokenKind::Word | TokenKind::Escaped)
    }

    fn advance(&mut self) -> Token {
        let token = self.token(0);
        self.place = (self.place + 1).min(self.tokens.len() - 1);
        token
    }

    fn take(&mut self, kind: TokenKind) -> bool {
        let found = self.at(kind);
        if found {
            self.advance();
        }
        found
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.advance();
        }
        found
    }

    fn take_words(&mut self, words: &[&str]) -> bool {
        let found = self.at_words(words);
        if found {
            self.place += words.len();
        }
        found
    }

    fn expect(&mut self, kind: TokenKind, what: &str) -> Result<Token> {
        if self.at(kind) {
            return Ok(self.advance());
        }
        Err(self.unexpected(what))
    }

    fn expect_word(&mut self, word: &str) -> Result<()> {
        if self.take_word(word) {
            return Ok(());
        }
        Err(self.unexpected(word))
    }

    /// Takes one of two words.
    fn expect_either(&mut self, one: &str, other: &str) -> Result<()> {
        if self.take_word(one) {
            return Ok(());
        }
        self.expect_word(other)
    }

    fn name(&mut self, what: &str) -> Result<Name> {
        let token = self.token(0);
        let written = token.span.of(self.text);
        let text = match token.kind {
            TokenKind::Word => Text::from(written),
            TokenKind::Escaped => escaped_name(written),
            _ => return Err(self.unexpected(what)),
        };
        self.advance();
        let span = token.span;
        Ok(Name { text, span })
    }

    /// Reads items with commas between them.
    fn list<T>(&mut self, mut read: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut items = vec![read(self)?];
        while self.take(TokenKind::Comma) {
            items.push(read(self)?);
        }
        Ok(items)
    }

    fn error(&self, kind: ErrorKind, span: Span, message: impl Into<String>) -> ParseError {
        ParseError::at(self.text, kind, span, message)
    }

    /// The error of the next token, which is not allowed here.
    fn unexpected(&self, expected: &str) -> ParseError {
        let token = self.token(0);
        let message = match (token.kind, &self.error) {
            (TokenKind::Invalid, Some(error)) => return error.clone(),
            (TokenKind::End, _) => format!("the text ends where {expected} is expected"),
            _ => {
                let found = shortened(token.span.of(self.text));
                format!("unexpected '{found}', expected {expected}")
            }
        };
        self.error(ErrorKind::UnexpectedSyntax, token.span, message)
    }

    /// The error of a construct that Varve does not have.
    fn not_supported(&self, construct: &str) -> ParseError {
        let message = format!("{construct} is not supported");
        self.error(ErrorKind::NotSupported, self.span(), message)
    }

    /// The span from `start` to the end of the last token taken.
    fn span_from(&self, start: u32) -> Span {
        let last = self.tokens[self.place.saturating_sub(1)];
        let end = last.span.end.max(start);
        Span { start, end }
    }

    /// Calls `read` one level deeper.
    fn deeper<R>(&mut self, read: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        if self.depth >= NESTING_MAX {
            return Err(self.too_deep());
        }
        self.depth += 1;
        let outer = std::mem::take(&mut self.height);
        let result = read(self)?;
        self.depth -= 1;
        self.height = self.height.max(outer);
        Ok(result)
    }

    /// Counts a node above the highest one of this level.
    fn node_above(&mut self) -> Result<()> {
        if self.height > NESTING_MAX {
            return Err(self.too_deep());
        }
        self.height += 1;
        Ok(())
    }

    fn too_deep(&self) -> ParseError {
        let message = format!("the text is nested deeper than {NESTING_MAX} levels");
        self.error(ErrorKind::TooDeep, self.span(), message)
    }

    /// Calls `read` where `|` ends expressions, or does not.
    fn with_bar<R>(
        &mut self,
        bar_ends: bool,
        read: impl FnOnce(&mut Self) -> Result<R>,
    ) -> Result<R> {
        let outer = std::mem::replace(&mut self.bar_ends, bar_ends);
        let result = read(self);
        self.bar_ends = outer;
        result
    }

    /// How many places ahead the bracket is closed that opens at `ahead`.
    fn closing(&self, ahead: usize) -> Option<usize> {
        let place = *self.closing.get(self.place + ahead)? as usize;
        place.checked_sub(self.place).filter(|_| place > 0)
    }
}

fn closing(tokens: &[Token]) -> Vec<u32> {
    let mut closing = vec![0; tokens.len()];
    let mut open = Vec::new();
    for (place, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::LeftParen | TokenKind::LeftBracket | TokenKind::LeftBrace => {
                open.push(place);
            }
            TokenKind::RightParen | TokenKind::RightBracket | TokenKind::RightBrace => {
                if let Some(start) = open.pop() {
                    closing[start] = place as u32;
                }
            }
            _ => {}
        }
    }
    closing
}
