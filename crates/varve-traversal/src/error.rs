//! Why a traversal gave no answer.

use varve_view::ViewError;

/// Why a traversal gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum TraversalError {
    /// The request's capacity was reached. The message is HugeGraph's.
    #[error("{0}")]
    Capacity(String),
    /// A read ended early.
    #[error(transparent)]
    View(#[from] ViewError),
}
