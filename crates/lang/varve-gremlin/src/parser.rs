//! A recursive-descent parser of scripts and traversals.
//!
//! It looks one token ahead. Where Groovy needs more (a definition, a map's key), it backtracks.
//! [`NESTING_MAX`] bounds both its own recursion and the height of the tree, so that code that
//! walks the tree may recurse.

mod argument;
mod expression;
mod predicate;
mod statement;
mod traversal;
mod words;

use std::collections::HashSet;

use crate::error::{ErrorCode, ParseError, Result};
use crate::lexer::{Lexer, Token, TokenKind};
use crate::tree::{Argument, Script, Span, Statement, StatementKind, Traversal};

pub(crate) use expression::begins_traversal;
pub(crate) use predicate::{all_of, any_of, negated, test};
use words::bare_token;
pub(crate) use words::class_member;

/// The longest text that is parsed, in bytes.
pub const SCRIPT_BYTES_MAX: usize = 1 << 20;
/// The most nested levels of arguments, collections, operators and blocks.
pub const NESTING_MAX: u16 = 256;
/// The most steps and source instructions of a text.
pub const STEPS_MAX: usize = 10_000;

/// Parses a script: a traversal, or statements.
///
/// # Errors
///
/// If the text is not a supported script, or exceeds a limit.
pub fn parse_script(text: &str) -> Result<Script> {
    parse_script_with(text, [])
}

/// As [`parse_script`], for a script with these variables. A variable hides the token of its name,
/// such as `from` or `day`.
///
/// # Errors
///
/// As [`parse_script`].
pub fn parse_script_with<'s>(
    text: &'s str,
    variables: impl IntoIterator<Item = &'s str>,
) -> Result<Script> {
    let mut parser = Parser::new(text)?;
    let tokens = variables
        .into_iter()
        .filter(|name| bare_token(name).is_some());
    parser.declared.extend(tokens);
    Ok(Script {
        statements: parser.script()?,
    })
}

/// Parses a text that is one traversal from a source.
///
/// # Errors
///
/// If the text is not a traversal, or contains more than one.
pub fn parse_traversal(text: &str) -> Result<Traversal> {
    let mut statements = parse_script(text)?.statements;
    if let [Statement { kind, .. }] = statements.as_mut_slice()
        && let StatementKind::Expression(Argument::Traversal(traversal)) = kind
    {
        let empty = Traversal::anonymous(Vec::new(), Span::default());
        return Ok(std::mem::replace(traversal, empty));
    }
    let span = statements
        .first()
        .map_or(Span::default(), |first| first.span);
    Err(ParseError::at(
        text,
        ErrorCode::Syntax,
        span,
        "the text is not one traversal",
    ))
}

/// The state of parsing.
pub(crate) struct Parser<'s> {
    text: &'s str,
    lexer: Lexer<'s>,
    /// The next token.
    current: Token,
    /// The current depth of recursion.
    depth: u16,
    /// The height of the tree node that was read last.
    height: u16,
    /// The number of steps so far.
    steps: usize,
    /// The number of open parentheses and brackets. Inside them a newline does not end a statement.
    brackets: u16,
    /// Variables declared by the script. They hide enum tokens of the same name.
    declared: HashSet<&'s str>,
    /// The end of the last token taken.
    last_end: u32,
    /// The start of the argument that is being read.
    argument_start: u32,
}

/// A state to backtrack to.
struct Mark<'s> {
    lexer: Lexer<'s>,
    current: Token,
}

impl<'s> Parser<'s> {
    fn new(text: &'s str) -> Result<Parser<'s>> {
        if text.len() > SCRIPT_BYTES_MAX {
            let message = format!(
                "the script has {} bytes, at most {SCRIPT_BYTES_MAX} are allowed; send data as bindings",
                text.len()
            );
            return Err(ParseError::at(
                text,
                ErrorCode::TooLong,
                Span::default(),
                message,
            ));
        }
        let mut lexer = Lexer::new(text);
        let current = lexer.next()?;
        Ok(Parser {
            text,
            lexer,
            current,
            depth: 0,
            height: 0,
            steps: 0,
            brackets: 0,
            declared: HashSet::new(),
            last_end: 0,
            argument_start: 0,
        })
    }

    /// Takes the next token.
    fn advance(&mut self) -> Result<Token> {
        let next = self.lexer.next()?;
        self.last_end = self.current.end;
        Ok(std::mem::replace(&mut self.current, next))
    }

    /// The token after the next one.
    fn second(&self) -> Result<Token> {
        let mut lexer = self.lexer;
        lexer.next()
    }

    fn mark(&self) -> Mark<'s> {
        Mark {
            lexer: self.lexer,
            current: self.current,
        }
    }

    fn return_to(&mut self, mark: Mark<'s>) {
        self.lexer = mark.lexer;
        self.current = mark.current;
    }

    fn text_of(&self, token: Token) -> &'s str {
        &self.text[token.start as usize..token.end as usize]
    }

    fn at(&self, kind: TokenKind) -> bool {
        self.current.kind == kind
    }

    /// Whether the next token is this word.
    fn at_word(&self, word: &str) -> bool {
        self.at(TokenKind::Word) && self.text_of(self.current) == word
    }

    /// Whether the next token is on a new line, which ends the statement.
    fn line_ends(&self) -> bool {
        self.current.newline && self.brackets == 0
    }

    /// Takes the next token if it is of this kind.
    fn take(&mut self, kind: TokenKind) -> Result<bool> {
        let found = self.at(kind);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    /// Takes the next token, which must be of this kind.
    fn expect(&mut self, kind: TokenKind, what: &str) -> Result<Token> {
        if self.at(kind) {
            return self.advance();
        }
        Err(self.unexpected(what))
    }

    fn error(&self, code: ErrorCode, span: Span, message: impl Into<String>) -> ParseError {
        ParseError::at(self.text, code, span, message)
    }

    /// The error of a next token that is not allowed here.
    fn unexpected(&self, expected: &str) -> ParseError {
        match self.current.kind {
            TokenKind::LeftBrace | TokenKind::Arrow => self.closure(self.current.span()),
            TokenKind::End => self.error(
                ErrorCode::Syntax,
                self.current.span(),
                format!("the text ends where {expected} is expected"),
            ),
            _ => {
                let found = crate::literals::shortened(self.text_of(self.current));
                let message = format!("unexpected '{found}', expected {expected}");
                self.error(ErrorCode::Syntax, self.current.span(), message)
            }
        }
    }

    fn closure(&self, span: Span) -> ParseError {
        self.error(
            ErrorCode::Closure,
            span,
            "Closures are not supported; use a traversal, such as __.out() instead of { it.out() }",
        )
    }

    /// The span from `start` to the end of the last token taken.
    fn span_from(&self, start: u32) -> Span {
        Span {
            start,
            end: self.last_end,
        }
    }

    /// Calls `read` one level deeper.
    fn deeper<R>(&mut self, read: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        if self.depth >= NESTING_MAX {
            return Err(self.too_deep());
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Sets the height of a new node whose highest child has this height.
    fn node_above(&mut self, height: u16) -> Result<()> {
        if height >= NESTING_MAX {
            return Err(self.too_deep());
        }
        self.height = height + 1;
        Ok(())
    }

    fn too_deep(&self) -> ParseError {
        self.error(
            ErrorCode::TooDeep,
            self.current.span(),
            format!("the script is nested deeper than {NESTING_MAX} levels"),
        )
    }

    fn count_step(&mut self) -> Result<()> {
        self.steps += 1;
        if self.steps > STEPS_MAX {
            return Err(self.error(
                ErrorCode::TooManySteps,
                self.current.span(),
                format!("the script has more than {STEPS_MAX} steps"),
            ));
        }
        Ok(())
    }

    /// Calls `read` where newlines do not end statements.
    fn in_brackets<R>(&mut self, read: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        self.brackets += 1;
        let result = read(self);
        self.brackets -= 1;
        result
    }

    fn is_declared(&self, name: &str) -> bool {
        self.declared.contains(name)
    }

    fn declare(&mut self, name: &'s str) {
        self.declared.insert(name);
    }
}
