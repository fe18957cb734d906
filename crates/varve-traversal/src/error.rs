//! The errors of traversals.

use varve_view::ViewError;

/// An error of a traversal.
#[derive(Debug, thiserror::Error)]
pub enum TraversalError {
    /// The request's capacity was reached. The message is HugeGraph's.
    #[error("{0}")]
    Capacity(String),
    /// An edge's weight is negative or not a number.
    #[error("The weight of an edge must be a number >= 0, but is {0}")]
    Weight(String),
    /// An edge's weight is not a number.
    #[error("The weight of an edge must be a number, but is {0}")]
    NotANumber(String),
    /// A read failed or reached a limit.
    #[error(transparent)]
    View(#[from] ViewError),
}
