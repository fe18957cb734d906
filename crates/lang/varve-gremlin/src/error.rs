//! Errors in a text or in bytecode, with their position.

use std::fmt;

use crate::tree::Span;

/// The result of parsing.
pub type Result<T> = std::result::Result<T, ParseError>;

macro_rules! codes {
    ($($(#[$note:meta])* $variant:ident = $text:literal),+ $(,)?) => {
        /// The kinds of errors. Their texts are stable.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ErrorCode { $($(#[$note])* $variant),+ }

        impl ErrorCode {
            /// The code in answers and logs.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self { $(ErrorCode::$variant => $text),+ }
            }
        }
    };
}

codes! {
    /// The text does not match the grammar.
    Syntax = "gremlin_syntax",
    /// A literal is invalid, such as a number out of range, or a date that does not exist.
    Literal = "gremlin_literal",
    /// No step, predicate, terminal method or script method has this name.
    NoSuchMethod = "gremlin_no_such_method",
    /// A step or predicate does not take arguments of these types.
    WrongArguments = "gremlin_wrong_arguments",
    /// A closure or lambda.
    Closure = "gremlin_closure",
    /// `new` of a class that is neither a vertex nor a strategy.
    New = "gremlin_new",
    /// A definition of a class, interface, enum, trait, record or method.
    Definition = "gremlin_definition",
    /// `import` or `package`.
    Import = "gremlin_import",
    /// `"${…}"`: a value in a string.
    Interpolation = "gremlin_interpolation",
    /// A class of Java or Groovy, or a static member of one.
    Static = "gremlin_static",
    /// `System.exit`.
    Exit = "gremlin_exit",
    /// A keyword of Groovy that is not supported.
    Keyword = "gremlin_keyword",
    /// The text is longer than [`SCRIPT_BYTES_MAX`](crate::SCRIPT_BYTES_MAX).
    TooLong = "gremlin_too_long",
    /// Nested deeper than [`NESTING_MAX`](crate::NESTING_MAX).
    TooDeep = "gremlin_too_deep",
    /// More steps than [`STEPS_MAX`](crate::STEPS_MAX).
    TooManySteps = "gremlin_too_many_steps",
    /// Bytecode that is not a valid traversal, such as one with an unknown member of an enum.
    Bytecode = "gremlin_bytecode",
}

impl ErrorCode {
    /// The name of the exception that Groovy throws in this case. Clients of HugeGraph recognize
    /// some of these names.
    #[must_use]
    pub const fn groovy_exception(self) -> &'static str {
        match self {
            ErrorCode::NoSuchMethod | ErrorCode::WrongArguments => {
                "groovy.lang.MissingMethodException"
            }
            ErrorCode::Static => "groovy.lang.MissingPropertyException",
            ErrorCode::Exit => "java.lang.SecurityException",
            _ => "org.codehaus.groovy.control.MultipleCompilationErrorsException",
        }
    }
}

/// An error and its position.
#[derive(Debug, Clone, PartialEq)]
pub struct ParseError {
    /// The kind of error.
    pub code: ErrorCode,
    /// The part of the text that the error is about; empty without a text.
    pub span: Span,
    /// The line, from 1; 0 for an error outside a text, such as in bytecode.
    pub line: u32,
    /// The number of characters before the error in its line.
    pub column: u32,
    /// What happened, and what to do.
    pub message: String,
}

impl ParseError {
    /// An error in a text. Computes line and column from the start of the span.
    pub(crate) fn at(
        text: &str,
        code: ErrorCode,
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
            code,
            span,
            line: u32::try_from(lines + 1).unwrap_or(u32::MAX),
            column: u32::try_from(column).unwrap_or(u32::MAX),
            message: message.into(),
        }
    }

    /// An error outside a text: in bytecode, or in a step that a running script makes.
    pub(crate) fn without_place(code: ErrorCode, message: impl Into<String>) -> ParseError {
        ParseError {
            code,
            span: Span::default(),
            line: 0,
            column: 0,
            message: message.into(),
        }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ParseError {
            line,
            column,
            message,
            ..
        } = self;
        if *line == 0 {
            return out.write_str(message);
        }
        write!(
            out,
            "Query parsing failed at line {line}, character position at {column}, \
             error message : {message}"
        )
    }
}

impl std::error::Error for ParseError {}
