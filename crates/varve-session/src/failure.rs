//! Why a request failed. Each protocol renders it in its own form.

use varve_graph::GraphError;
use varve_view::ErrorKind;

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
