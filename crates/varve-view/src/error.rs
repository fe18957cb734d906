//! Why a read through a view ended early, and the kinds of failures of a store.

use std::error::Error;

/// Why a read through a [`GraphView`](crate::GraphView) ended early.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// The query read more rows than its limit.
    #[error("The query looked at more than {max} rows")]
    Rows {
        /// The limit, in rows.
        max: u64,
    },
    /// The query needs more memory than its limit.
    #[error("The query needs more than {max} bytes of memory")]
    Memory {
        /// The limit, in bytes.
        max: u64,
    },
    /// The query's deadline has passed.
    #[error("The query did not end before its deadline")]
    Deadline,
    /// The client has disconnected or has cancelled the query.
    #[error("The query was cancelled")]
    Cancelled,
    /// No index serves the conditions or the order of a scan. Contains the reason.
    #[error("{0}")]
    NoIndex(String),
    /// The store refused the read or failed.
    #[error(transparent)]
    Store(Box<StoreError>),
}

impl ViewError {
    /// A failure of a kind, with a message for the person who sent the request.
    #[must_use]
    pub fn failed(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self::Store(Box::new(StoreError {
            kind,
            message: message.into(),
            source: None,
        }))
    }

    /// The failure of an engine, or damaged data.
    #[must_use]
    pub fn store(error: impl Error + Send + Sync + 'static) -> Self {
        Self::Store(Box::new(StoreError {
            kind: ErrorKind::Storage,
            message: error.to_string(),
            source: Some(Box::new(error)),
        }))
    }

    /// The kind of the store's failure; `None` where a limit, the deadline or a cancelled query
    /// ended the read.
    #[must_use]
    pub fn kind(&self) -> Option<ErrorKind> {
        match self {
            Self::NoIndex(_) => Some(ErrorKind::NoIndex),
            Self::Store(error) => Some(error.kind),
            Self::Rows { .. } | Self::Memory { .. } | Self::Deadline | Self::Cancelled => None,
        }
    }
}

/// A failure of the store below a view: its kind and a message.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct StoreError {
    /// The kind.
    pub kind: ErrorKind,
    /// The message, for the person who sent the request.
    pub message: String,
    /// The underlying error of the engine or the encoding, if any.
    #[source]
    pub source: Option<Box<dyn Error + Send + Sync>>,
}

/// The kind of a failure, from the store to the session. Each kind has a stable code, and each
/// protocol has one form for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// A value, name or combination that is not accepted; nothing changed.
    InvalidArgument,
    /// A schema element with that name exists already.
    Existed,
    /// Another element has the values of a unique index; nothing changed.
    Unique,
    /// An element would break a constraint of existence or type; nothing changed.
    Constraint,
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
    /// The request is larger than the server can take.
    TooLarge,
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
    /// The client is not authenticated, or its credentials are not valid.
    Unauthenticated,
    /// The client sends too many requests, or has failed to log in too often.
    Throttled,
    /// A client has cancelled the work.
    Cancelled,
    /// A defect of the server, or a failure of the system below it.
    Internal,
}

impl ErrorKind {
    /// All kinds, in the order of the variants.
    pub const ALL: [Self; 24] = [
        Self::InvalidArgument,
        Self::Existed,
        Self::Unique,
        Self::Constraint,
        Self::NotAllowed,
        Self::NoIndex,
        Self::NotSupported,
        Self::NotFound,
        Self::LimitExceeded,
        Self::TooLarge,
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
        Self::Unauthenticated,
        Self::Throttled,
        Self::Cancelled,
        Self::Internal,
    ];

    /// The stable code of this kind, as documented in `docs/errors.md`.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::InvalidArgument => "VRV-ARG",
            Self::Existed => "VRV-EXISTED",
            Self::Unique => "VRV-UNIQUE",
            Self::Constraint => "VRV-CONSTRAINT",
            Self::NotAllowed => "VRV-NOT-ALLOWED",
            Self::NoIndex => "VRV-NO-INDEX",
            Self::NotSupported => "VRV-NOT-SUPPORTED",
            Self::NotFound => "VRV-NOT-FOUND",
            Self::LimitExceeded => "VRV-LIMIT",
            Self::TooLarge => "VRV-TOO-LARGE",
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
            Self::Unauthenticated => "VRV-UNAUTHENTICATED",
            Self::Throttled => "VRV-TOO-MANY-REQUESTS",
            Self::Cancelled => "VRV-CANCELLED",
            Self::Internal => "VRV-INTERNAL",
        }
    }
}
