//! Plans of queries and the operators that run them over the graph view.
//!
//! A language binds its text to a [`Plan`]. A [`Query`] runs the plan on one
//! [`GraphView`](varve_view::GraphView): operators pull rows in batches, merge equal rows into one
//! with a count, and read the graph for many rows at once. A child plan of a step (`where(…)`,
//! `by(…)`) also runs on a whole batch: each row of the parent is a *segment*, and an operator of
//! the child that counts or sorts does so within each segment.

#![allow(
    clippy::mutable_key_type,
    reason = "a vertex is its id; what is filled in later is not hashed"
)]

mod conditions;
mod error;
pub mod pattern;
pub mod plan;
mod predicate;
mod rules;
mod run;
pub mod strategy;
pub mod value;

pub use error::QueryError;
pub use plan::Plan;
pub use predicate::{Custom, Predicate, Test};
pub use run::{Query, QueryOptions};
pub use value::Value;
pub use varve_view::{ViewError, work};
