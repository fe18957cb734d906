//! Errors of the protocol.

use thiserror::Error;

use crate::handshake::Version;
use crate::request::Kind;
use crate::state::State;

/// The result of reading, writing or admitting a message.
pub type Result<T> = std::result::Result<T, BoltError>;

/// An error in the bytes of a client or in a message to it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BoltError {
    /// The first four bytes are not Bolt's.
    #[error("the connection does not begin with 60 60 B0 17, so it is not Bolt")]
    NotBolt,
    /// A message is longer than the decoder allows.
    #[error("a message is longer than `message_bytes_max`, which is {message_bytes_max} bytes")]
    TooLong {
        /// The limit of the [`Decoder`](crate::framing::Decoder).
        message_bytes_max: usize,
    },
    /// The message ends inside a value.
    #[error("the message ends inside {0}")]
    Short(&'static str),
    /// The bytes are not PackStream.
    #[error("byte {place}: {problem}")]
    Malformed {
        /// The offset of the byte in the message.
        place: usize,
        /// The error.
        problem: String,
    },
    /// Nested deeper than [`DEPTH_MAX`](crate::packstream::DEPTH_MAX).
    #[error(
        "the message is nested deeper than {} levels",
        crate::packstream::DEPTH_MAX
    )]
    TooDeep,
    /// The message is a value, but not a structure.
    #[error("the message is a value of the type {0}, not a structure")]
    NotAMessage(&'static str),
    /// No request of the version has this tag.
    #[error("Bolt {version} has no request with the tag {tag:02X}")]
    UnknownRequest {
        /// The tag of the structure.
        tag: u8,
        /// The version of the connection.
        version: Version,
    },
    /// A request has too few or too many fields.
    #[error("{request} has {found} fields, not {expected}")]
    FieldCount {
        /// The request.
        request: Kind,
        /// The number of fields that it must have.
        expected: usize,
        /// The number of fields that it has.
        found: usize,
    },
    /// A field, or an entry of a field, is wrong or missing.
    #[error("{request}: `{field}` must be {expected}, not {found}")]
    Field {
        /// The request.
        request: Kind,
        /// The name of the field or of its entry.
        field: &'static str,
        /// What it must be.
        expected: &'static str,
        /// The type or the number that it has.
        found: String,
    },
    /// The scheme of authentication is none that the crate reads.
    #[error("the authentication scheme {0:?} is not supported; use none, basic or bearer")]
    UnknownScheme(String),
    /// The state of the connection does not allow the request.
    #[error("{request} is not allowed in the state {state:?}")]
    NotAllowed {
        /// The request.
        request: Kind,
        /// The state of the connection.
        state: State,
    },
    /// A value of the server that PackStream cannot express.
    #[error("PackStream cannot express {0}")]
    Unwritable(&'static str),
}

impl BoltError {
    /// The Neo4j code with which a server reports the error to the client.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            BoltError::UnknownScheme(_) => "Neo.ClientError.Security.Unauthorized",
            BoltError::NotAllowed { .. } | BoltError::UnknownRequest { .. } => {
                "Neo.ClientError.Request.Invalid"
            }
            BoltError::Unwritable(_) => "Neo.DatabaseError.General.UnknownError",
            _ => "Neo.ClientError.Request.InvalidFormat",
        }
    }
}

/// The beginning of a client's text, for an error.
pub(crate) fn excerpt(text: &str) -> String {
    text.chars().take(60).collect()
}
