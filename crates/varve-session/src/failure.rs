//! Why a request failed. Each protocol renders it in its own form.

use varve_auth::{AuthError, DirectoryError};
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

    /// The client sends too much, and may go on after a while.
    #[must_use]
    pub fn throttled(message: impl Into<String>, retry_after_seconds: u32) -> Self {
        Self {
            retry_after_seconds: Some(retry_after_seconds),
            ..Self::new(ErrorKind::Throttled, message)
        }
    }

    /// A client has cancelled the work.
    #[must_use]
    pub fn cancelled() -> Self {
        Self::new(ErrorKind::Cancelled, "The query was cancelled")
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

impl From<Failure> for ViewError {
    fn from(failure: Failure) -> Self {
        GraphError::from(failure).into()
    }
}

impl From<Failure> for GraphError {
    fn from(failure: Failure) -> Self {
        Self {
            source: failure.source,
            ..Self::new(failure.kind, failure.message)
        }
    }
}

impl From<AuthError> for Failure {
    fn from(error: AuthError) -> Self {
        match error {
            AuthError::Missing | AuthError::Failed => {
                Self::new(ErrorKind::Unauthenticated, error.to_string())
            }
            AuthError::Header(_) => Self::new(ErrorKind::InvalidArgument, error.to_string()),
            AuthError::Throttled(wait) => {
                let seconds = u32::try_from(wait.as_secs().max(1));
                Self::throttled(error.to_string(), seconds.unwrap_or(u32::MAX))
            }
            AuthError::Directory(error) => error.into(),
            AuthError::Graph(error) => error.into(),
        }
    }
}

impl From<DirectoryError> for Failure {
    fn from(error: DirectoryError) -> Self {
        match error {
            DirectoryError::Invalid(message) => Self::new(ErrorKind::InvalidArgument, message),
            DirectoryError::Conflict(message) => Self::new(ErrorKind::Existed, message),
            DirectoryError::NotFound(message) => Self::new(ErrorKind::NotFound, message),
            DirectoryError::Denied(message) => Self::new(ErrorKind::Denied, message),
        }
    }
}
