//! Errors in a text, with their position and the names that openCypher's TCK gives them.

mod runtime;

use std::fmt;

use crate::tree::Span;

pub use runtime::{CypherError, Error, ErrorClass, Phase};
pub(crate) use runtime::{Outcome, argument_error, arithmetic_error, not_supported, type_error};

/// The result of parsing.
pub type Result<T> = std::result::Result<T, ParseError>;

macro_rules! kinds {
    ($($(#[$note:meta])* $variant:ident),+ $(,)?) => {
        /// What is wrong with a text. All but the last three are details of the TCK's
        /// `SyntaxError`, raised at compile time.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ErrorKind { $($(#[$note])* $variant),+ }

        impl ErrorKind {
            /// The detail as the TCK names it, such as `UnexpectedSyntax`. Its text is stable.
            #[must_use]
            pub const fn detail(self) -> &'static str {
                match self { $(ErrorKind::$variant => stringify!($variant)),+ }
            }
        }
    };
}

kinds! {
    /// The text does not match the grammar.
    UnexpectedSyntax,
    /// A number has characters that its form does not allow.
    InvalidNumberLiteral,
    /// An integer does not fit 64 bits.
    IntegerOverflow,
    /// A number does not fit a float of 64 bits.
    FloatingPointOverflow,
    /// `\u` in a string without four hexadecimal digits, or a surrogate alone.
    InvalidUnicodeLiteral,
    /// A character outside ASCII that is neither a letter nor white space.
    InvalidUnicodeCharacter,
    /// The length of a relationship is malformed.
    InvalidRelationshipPattern,
    /// A relationship to create does not have exactly one type.
    NoSingleRelationshipType,
    /// A relationship to create has no direction.
    RequiresDirectedRelationship,
    /// A relationship to create has a variable length.
    CreatingVarLength,
    /// A parameter is the property map of a pattern to match.
    InvalidParameterUse,
    /// Clauses in an order, or in a place, where they are not allowed.
    InvalidClauseComposition,
    /// A procedure in a query of several clauses is called without its arguments.
    InvalidArgumentPassingMode,
    /// `DELETE` of a label.
    InvalidDelete,
    /// A construct of Cypher or GQL that Varve does not support; the message names it.
    NotSupported,
    /// Nested deeper than [`NESTING_MAX`](crate::NESTING_MAX).
    TooDeep,
    /// The text is 4 GiB long or longer.
    TooLong,
}

impl ErrorKind {
    /// The TCK's phase.
    #[must_use]
    pub const fn phase(self) -> &'static str {
        "compile time"
    }

    /// The TCK's kind of the error.
    #[must_use]
    pub const fn name(self) -> &'static str {
        "SyntaxError"
    }
}

/// An error and its position.
#[derive(Debug, Clone, PartialEq)]
pub struct ParseError {
    /// The kind of error.
    pub kind: ErrorKind,
    /// The part of the text that the error is about.
    pub span: Span,
    /// The line, from 1.
    pub line: u32,
    /// The character in its line, from 1.
    pub column: u32,
    /// What was found and what was expected, or what to do instead.
    pub message: String,
}

impl ParseError {
    /// An error at a span of a text.
    pub(crate) fn at(
        text: &str,
        kind: ErrorKind,
        span: Span,
        message: impl Into<String>,
    ) -> ParseError {
        let before = &text[..text.floor_char_boundary(span.start as usize)];
        // The two characters of `\r\n` end one line.
        let ends = before.matches(['\n', '\r']).count();
        let lines = ends - before.matches("\r\n").count();
        let line_start = before.rfind(['\n', '\r']).map_or(0, |place| place + 1);
        let column = before[line_start..].chars().count();
        ParseError {
            kind,
            span,
            line: u32::try_from(lines + 1).unwrap_or(u32::MAX),
            column: u32::try_from(column + 1).unwrap_or(u32::MAX),
            message: message.into(),
        }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ParseError {
            kind,
            line,
            column,
            message,
            ..
        } = self;
        let (name, detail) = (kind.name(), kind.detail());
        write!(
            out,
            "{name}: {detail}: line {line}, column {column}: {message}"
        )
    }
}

impl std::error::Error for ParseError {}
