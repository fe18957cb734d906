//! Why bytes are no value or no message.

use thiserror::Error;

/// The result of reading.
pub type Result<T> = std::result::Result<T, WireError>;

/// What is wrong with bytes that should be GraphSON or GraphBinary.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum WireError {
    /// The bytes end inside a value.
    #[error("the message ends inside {0}")]
    Short(&'static str),
    /// The bytes follow no rule of the format.
    #[error("byte {place}: {message}")]
    Malformed {
        /// The offset of the byte.
        place: usize,
        /// What is wrong there.
        message: String,
    },
    /// A type that is not known, or that cannot be sent to a server.
    #[error("the type {0} is not supported here")]
    Unsupported(String),
    /// A value does not have the parts that its type asks for.
    #[error("a value of the type {kind} is wrong: {message}")]
    Value {
        /// The type.
        kind: String,
        /// What is wrong.
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

    /// A value of a type is wrong.
    pub(crate) fn value(kind: &str, message: impl Into<String>) -> WireError {
        WireError::Value {
            kind: kind.to_owned(),
            message: message.into(),
        }
    }
}
