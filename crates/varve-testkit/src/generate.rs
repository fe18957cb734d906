//! Random lists of operations for a graph and the model: a seed determines a list, and a failing
//! list is shrunk.
//!
//! Operations are plain data and independent of earlier ones: elements are named by id, and
//! instants are offsets from the current instant when the operation runs. So any subset of a list
//! is a valid list, and [`shrink`] may leave out everything that the failure does not need.

mod operations;
mod schema;
mod shrinking;

pub use operations::{Case, LONG_TEXT, Operation, UNIT, case};
pub use schema::{SchemaPlan, labels, plan};
pub use shrinking::shrink;
