//! Why a request failed. Each protocol renders it in its own form.

use varve_graph::GraphError;
use varve_view::{ErrorKind, ViewError};

/// Why a request failed: its kind, which has a stable code, and a message for the person who sent
/// it.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// The kind.
    pub kind: ErrorKind,
    /// The message.
    pub message: String,
    /// The underlying error of the engine or the encoding, if any.
    #[source]
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
    /// After how many seconds the request may be sent again, if the server knows better than the
    /// kind does.
    pub retry_after_seconds: Option<u32>,
}

impl Failure {
    /// A failure of a kind.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            source: None,
            retry_after_seconds: None,
        }
    }

    /// The server has no room for the request now.
    #[must_use]
    pub fn busy(retry_after_seconds: u32) -> Self {
        Self {
            retry_after_seconds: Some(retry_after_seconds),
            ..Self::new(
                ErrorKind::Busy,
                "The server is too busy, please try again later",
            )
        }
    }

    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.kind.code()
    }
}

impl From<GraphError> for Failure {
    fn from(error: GraphError) -> Self {
        Self {
            kind: error.kind,
            message: error.message,
            source: error.source,
            retry_after_seconds: None,
        }
    }
}

impl From<ViewError> for Failure {
    /// A query that ended at its deadline, or that was cancelled, is [`ErrorKind::Busy`]; at a
    /// limit, [`ErrorKind::LimitExceeded`].
    fn from(error: ViewError) -> Self {
        match error {
            ViewError::Deadline | ViewError::Cancelled => {
                Self::new(ErrorKind::Busy, error.to_string())
            }
            ViewError::Rows { .. } | ViewError::Memory { .. } => {
                Self::new(ErrorKind::LimitExceeded, error.to_string())
            }
            ViewError::NoIndex(message) => Self::new(ErrorKind::NoIndex, message),
            ViewError::Store(error) => GraphError::from(*error).into(),
        }
    }
}
