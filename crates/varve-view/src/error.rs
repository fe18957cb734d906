//! Why a read through a view ended early.

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
    /// The store failed or is damaged. Contains the error of the crate that implements the view.
    #[error(transparent)]
    Store(Box<dyn Error + Send + Sync>),
}

impl ViewError {
    /// Wraps an error of the store below a view.
    #[must_use]
    pub fn store(error: impl Error + Send + Sync + 'static) -> Self {
        Self::Store(Box::new(error))
    }
}
