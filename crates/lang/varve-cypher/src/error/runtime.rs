//! Errors of binding and running, with the names of openCypher's TCK.

use std::fmt;

use varve_view::ViewError;

use super::ParseError;
use crate::tree::Span;

/// The result of binding, evaluating and running.
pub(crate) type Outcome<T> = std::result::Result<T, CypherError>;

/// The TCK's classes of errors, and `NotSupported` for what Varve lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the TCK's")]
pub enum ErrorClass {
    SyntaxError,
    SemanticError,
    TypeError,
    ArgumentError,
    ArithmeticError,
    EntityNotFound,
    PropertyNotFound,
    LabelNotFound,
    ParameterMissing,
    ProcedureError,
    ConstraintValidationFailed,
    ConstraintVerificationFailed,
    NotSupported,
}

impl ErrorClass {
    /// The name as the TCK writes it. Stable.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            ErrorClass::SyntaxError => "SyntaxError",
            ErrorClass::SemanticError => "SemanticError",
            ErrorClass::TypeError => "TypeError",
            ErrorClass::ArgumentError => "ArgumentError",
            ErrorClass::ArithmeticError => "ArithmeticError",
            ErrorClass::EntityNotFound => "EntityNotFound",
            ErrorClass::PropertyNotFound => "PropertyNotFound",
            ErrorClass::LabelNotFound => "LabelNotFound",
            ErrorClass::ParameterMissing => "ParameterMissing",
            ErrorClass::ProcedureError => "ProcedureError",
            ErrorClass::ConstraintValidationFailed => "ConstraintValidationFailed",
            ErrorClass::ConstraintVerificationFailed => "ConstraintVerificationFailed",
            ErrorClass::NotSupported => "NotSupported",
        }
    }
}

/// When an error is raised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Before the query runs.
    Compile,
    /// While it runs.
    Run,
}

impl Phase {
    /// The TCK's name of the phase.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Phase::Compile => "compile time",
            Phase::Run => "runtime",
        }
    }
}

/// An error in a query or in the values that it meets.
#[derive(Debug, Clone, PartialEq)]
pub struct Error {
    /// Its class.
    pub class: ErrorClass,
    /// The detail as the TCK names it, such as `InvalidArgumentType`.
    pub detail: &'static str,
    /// When it was raised.
    pub phase: Phase,
    /// What happened, for the user.
    pub message: String,
    /// The part of the text that it is about, if known.
    pub span: Option<Span>,
    /// Line and column of that part, from 1.
    pub position: Option<(u32, u32)>,
}

impl Error {
    /// An error that is raised while a query runs.
    #[must_use]
    pub fn run(class: ErrorClass, detail: &'static str, message: impl Into<String>) -> Error {
        Error {
            class,
            detail,
            phase: Phase::Run,
            message: message.into(),
            span: None,
            position: None,
        }
    }

    /// An error that is raised before a query runs.
    #[must_use]
    pub fn compile(
        class: ErrorClass,
        detail: &'static str,
        span: Span,
        message: impl Into<String>,
    ) -> Error {
        Error {
            phase: Phase::Compile,
            span: Some(span),
            ..Error::run(class, detail, message)
        }
    }

    /// The same error with the line and column of its span in `text`.
    #[must_use]
    pub fn placed(mut self, text: &str) -> Error {
        if let Some(span) = self.span {
            let at = ParseError::at(text, super::ErrorKind::UnexpectedSyntax, span, "");
            self.position = Some((at.line, at.column));
        }
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}: ", self.class.name(), self.detail)?;
        if let Some((line, column)) = self.position {
            write!(out, "line {line}, column {column}: ")?;
        }
        out.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<ParseError> for Error {
    fn from(error: ParseError) -> Error {
        let class = match error.kind {
            super::ErrorKind::NotSupported => ErrorClass::NotSupported,
            _ => ErrorClass::SyntaxError,
        };
        Error {
            class,
            detail: error.kind.detail(),
            phase: Phase::Compile,
            message: error.message,
            span: Some(error.span),
            position: Some((error.line, error.column)),
        }
    }
}

/// Why a query failed.
#[derive(Debug, thiserror::Error)]
pub enum CypherError {
    /// The query, or a value that it met, is wrong.
    #[error(transparent)]
    Error(Box<Error>),
    /// A limit was exceeded, or the store failed or refused.
    #[error(transparent)]
    View(#[from] ViewError),
}

impl From<Error> for CypherError {
    fn from(error: Error) -> CypherError {
        CypherError::Error(Box::new(error))
    }
}

impl From<ParseError> for CypherError {
    fn from(error: ParseError) -> CypherError {
        Error::from(error).into()
    }
}

/// An error of the class `TypeError`, at run time.
pub(crate) fn type_error(detail: &'static str, message: impl Into<String>) -> CypherError {
    Error::run(ErrorClass::TypeError, detail, message).into()
}

/// An error of the class `ArgumentError`, at run time.
pub(crate) fn argument_error(detail: &'static str, message: impl Into<String>) -> CypherError {
    Error::run(ErrorClass::ArgumentError, detail, message).into()
}

/// An error of the class `ArithmeticError`, at run time.
pub(crate) fn arithmetic_error(detail: &'static str, message: impl Into<String>) -> CypherError {
    Error::run(ErrorClass::ArithmeticError, detail, message).into()
}

/// What Varve does not support, found at run time.
pub(crate) fn not_supported(message: impl Into<String>) -> CypherError {
    Error::run(ErrorClass::NotSupported, "NotSupported", message).into()
}
