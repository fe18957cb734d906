//! The errors of graph operations.

use varve_encoding::DecodeError;
use varve_kv::KvError;

/// The kind of a failure. Each kind has a stable code and maps to one status and exception name of
/// the REST API (the mapping is `varve-server`'s).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// A value, name or combination that is not accepted; nothing changed.
    InvalidArgument,
    /// A schema element with that name exists already.
    Existed,
    /// Another element has the values of a unique index; nothing changed.
    Unique,
    /// The schema does not allow the change.
    NotAllowed,
    /// No index serves the query, and nothing else limits the elements to scan.
    NoIndex,
    /// A predicate, feature or combination that is not supported.
    NotSupported,
    /// The element, schema element, task or graph that was named does not exist.
    NotFound,
    /// A named limit was exceeded.
    LimitExceeded,
    /// The state of the graph forbids the operation, for example while a task runs.
    IllegalState,
    /// An invalid page token.
    BadPage,
    /// The client has no right to do this to the element; nothing happened.
    Denied,
    /// Too many requests wait, or a deadline has passed; try again after a while.
    Busy,
    /// Another commit has changed something that this one depends on; nothing happened.
    Conflict,
    /// The outcome of a write is unknown: its deadline has passed, or this server cannot finish it.
    /// It may be stored, now or later.
    OutcomeUnknown,
    /// The disk is full or cannot be written; reads work.
    Unwritable,
    /// Another server leads the graph; nothing happened.
    Elsewhere,
    /// A read met too many tombstones.
    Tombstones,
    /// Stored data is damaged, or the engine failed.
    Storage,
}

impl ErrorKind {
    /// All kinds, in the order of the variants.
    pub const ALL: [Self; 18] = [
        Self::InvalidArgument,
        Self::Existed,
        Self::Unique,
        Self::NotAllowed,
        Self::NoIndex,
        Self::NotSupported,
        Self::NotFound,
        Self::LimitExceeded,
        Self::IllegalState,
        Self::BadPage,
        Self::Denied,
        Self::Busy,
        Self::Conflict,
        Self::OutcomeUnknown,
        Self::Unwritable,
        Self::Elsewhere,
        Self::Tombstones,
        Self::Storage,
    ];

    /// The stable code of this kind, as documented in `docs/errors.md`.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::InvalidArgument => "VRV-ARG",
            Self::Existed => "VRV-EXISTED",
            Self::Unique => "VRV-UNIQUE",
            Self::NotAllowed => "VRV-NOT-ALLOWED",
            Self::NoIndex => "VRV-NO-INDEX",
            Self::NotSupported => "VRV-NOT-SUPPORTED",
            Self::NotFound => "VRV-NOT-FOUND",
            Self::LimitExceeded => "VRV-LIMIT",
            Self::IllegalState => "VRV-STATE",
            Self::BadPage => "VRV-PAGE",
            Self::Denied => "VRV-DENIED",
            Self::Busy => "VRV-BUSY",
            Self::Conflict => "VRV-CONFLICT",
            Self::OutcomeUnknown => "VRV-OUTCOME-UNKNOWN",
            Self::Unwritable => "VRV-UNWRITABLE",
            Self::Elsewhere => "VRV-ELSEWHERE",
            Self::Tombstones => "VRV-TOMBSTONES",
            Self::Storage => "VRV-STORAGE",
        }
    }
}

/// A failure of a graph operation: its kind and a message.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct GraphError {
    /// The kind.
    pub kind: ErrorKind,
    /// The message, for the person who sent the request.
    pub message: String,
    /// The underlying error of the engine or the encoding, if any.
    #[source]
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl GraphError {
    /// An error of `kind` with a message.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            source: None,
        }
    }

    /// [`ErrorKind::InvalidArgument`] with a message.
    #[must_use]
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidArgument, message)
    }

    /// [`ErrorKind::NotFound`] with a message.
    #[must_use]
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotFound, message)
    }

    /// Adapts the failure of one commit for an operation of several commits, some of which are
    /// stored; `part` describes what these have done. A kind that promises that nothing happened
    /// becomes [`ErrorKind::OutcomeUnknown`].
    #[must_use]
    pub fn after_part(self, part: &str) -> Self {
        match self.kind {
            ErrorKind::NotFound | ErrorKind::OutcomeUnknown | ErrorKind::Storage => self,
            _ => Self {
                kind: ErrorKind::OutcomeUnknown,
                message: format!("{part}: {}", self.message),
                source: Some(Box::new(self)),
            },
        }
    }
}

impl From<KvError> for GraphError {
    fn from(error: KvError) -> Self {
        let kind = match error {
            KvError::DiskFull { .. } | KvError::ReadOnly { .. } => ErrorKind::Unwritable,
            KvError::Busy { .. } | KvError::Away { .. } | KvError::InUse { .. } => ErrorKind::Busy,
            KvError::InvalidName { .. } => ErrorKind::InvalidArgument,
            KvError::TooLarge { .. } => ErrorKind::LimitExceeded,
            KvError::OutcomeUnknown { .. } => ErrorKind::OutcomeUnknown,
            KvError::Led { .. } => ErrorKind::Elsewhere,
            KvError::Tombstones { .. } => ErrorKind::Tombstones,
            _ => ErrorKind::Storage,
        };
        Self {
            kind,
            message: error.to_string(),
            source: Some(Box::new(error)),
        }
    }
}

impl From<DecodeError> for GraphError {
    fn from(error: DecodeError) -> Self {
        let message = format!("Stored data is damaged: {error}");
        Self {
            kind: ErrorKind::Storage,
            message,
            source: Some(Box::new(error)),
        }
    }
}
