//! Random lists of operations for a graph and the model: a seed gives a list, and a failing list
//! shrinks.
//!
//! Operations are plain data that do not depend on what earlier ones did: elements are named by id,
//! instants are offsets from what is now when the operation runs. So any part of a list is a list,
//! and [`shrink`] may leave out whatever the failure does not need.

mod operations;
mod schema;
mod shrinking;

pub use operations::{Case, LONG_TEXT, Operation, UNIT, case};
pub use schema::{SchemaPlan, labels, plan};
pub use shrinking::shrink;
