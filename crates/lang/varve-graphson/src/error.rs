//! Errors of reading values and messages.

use thiserror::Error;

/// The result of reading.
pub type Result<T> = std::result::Result<T, WireError>;

/// An error in GraphSON or GraphBinary.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum WireError {
    /// The bytes end inside a value.
    #[error("the message ends inside {0}")]
    Short(&'static str),
    /// The bytes do not follow the format.
    #[error("byte {place}: {message}")]
    Malformed {
        /// The offset of the byte.
        place: usize,
        /// The error.
        message: String,
    },
    /// A type that is unknown, or that a server does not accept.
    #[error("the type {0} is not supported here")]
    Unsupported(String),
    /// A value does not have the parts that its type requires.
    #[error("a value of the type {kind} is wrong: {message}")]
    Value {
        /// The type.
        kind: String,
        /// The error.
        message: String,
    },
    /// Nested deeper than [`NESTING_MAX`](crate::NESTING_MAX).
    #[error("the message is nested deeper than {} levels", crate::NESTING_MAX)]
    TooDeep,
    /// More values than [`VALUES_MAX`](crate::VALUES_MAX).
    #[error("the message has more than {} values", crate::VALUES_MAX)]
    TooMany,
}

impl WireError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            WireError::Short(_) => "wire_short",
            WireError::Malformed { .. } => "wire_malformed",
            WireError::Unsupported(_) => "wire_unsupported_type",
            WireError::Value { .. } => "wire_value",
            WireError::TooDeep => "wire_too_deep",
            WireError::TooMany => "wire_too_many_values",
        }
    }

    /// An error in a value of a type.
    pub(crate) fn value(kind: &str, message: impl Into<String>) -> WireError {
        WireError::Value {
            kind: kind.to_owned(),
            message: message.into(),
        }
    }
}
