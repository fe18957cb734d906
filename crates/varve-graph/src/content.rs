//! Reading elements' content: the bytes that [`crate::Graph::with_vertex`] and query visitors hand
//! out.
//!
//! For writers of answers that need no owned element. What the bytes look like stays the business
//! of `varve-encoding`.

pub use crate::query::owned_value;
pub use varve_encoding::row::{PropertyReader, edge_parts, vertex_parts};
pub use varve_encoding::value::{ValueRef, take_value};
