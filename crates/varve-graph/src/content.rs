//! Reads the content of elements: the bytes that [`crate::Graph::with_vertex`] and queries pass to
//! their visitors.
//!
//! This is for code that writes answers and needs no owned element. Only `varve-encoding` knows the
//! byte format.

pub use crate::query::owned_value;
pub use varve_encoding::row::{PropertyReader, edge_parts, vertex_parts};
pub use varve_encoding::value::{ValueRef, take_value};
