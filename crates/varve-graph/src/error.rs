//! The errors of graph operations.

use varve_encoding::DecodeError;
use varve_kv::KvError;
pub use varve_view::ErrorKind;
use varve_view::{StoreError, ViewError};

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

impl From<GraphError> for ViewError {
    fn from(error: GraphError) -> Self {
        match error.kind {
            ErrorKind::NoIndex => Self::NoIndex(error.message),
            kind => Self::Store(Box::new(StoreError {
                kind,
                message: error.message,
                source: error.source,
            })),
        }
    }
}

impl From<StoreError> for GraphError {
    fn from(error: StoreError) -> Self {
        Self {
            kind: error.kind,
            message: error.message,
            source: error.source,
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
