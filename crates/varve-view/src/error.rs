//! Why a read through a view ended early.

use std::error::Error;

/// Why a read through a [`GraphView`](crate::GraphView) ended without an answer.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// The query looked at more rows than it may.
    #[error("The query looked at more than {max} rows")]
    Rows {
        /// The limit, in rows.
        max: u64,
    },
    /// The query held more memory than it may.
    #[error("The query needs more than {max} bytes of memory")]
    Memory {
        /// The limit, in bytes.
        max: u64,
    },
    /// The query's deadline has passed.
    #[error("The query did not end before its deadline")]
    Deadline,
    /// The client is gone, or asked for the end of the query.
    #[error("The query was cancelled")]
    Cancelled,
    /// No index serves the conditions or the order of a scan. Holds the reason.
    #[error("{0}")]
    NoIndex(String),
    /// The store failed or is damaged. Holds the error of the crate that implements the view.
    #[error(transparent)]
    Store(Box<dyn Error + Send + Sync>),
}

impl ViewError {
    /// The failure of the store below a view.
    #[must_use]
    pub fn store(error: impl Error + Send + Sync + 'static) -> Self {
        Self::Store(Box::new(error))
    }
}
