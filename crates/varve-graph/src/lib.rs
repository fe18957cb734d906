//! The property graph on the storage seam: schema, transactions, uniqueness, indexes, history, retention, tasks.
//!
//! Knows no HTTP, no JSON and no storage engine's name.

pub mod error;
pub mod index;

pub use error::{ErrorKind, GraphError};
