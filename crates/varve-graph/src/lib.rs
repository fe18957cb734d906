//! The property graph on the storage seam: schema, transactions, uniqueness, indexes, history,
//! retention, tasks.
//!
//! This crate knows no HTTP, no JSON and no storage engine's name. [`Graph`] is one graph;
//! [`mod@write`] changes it, [`read`] reads it at a point of both times.

pub mod backup;
pub mod changes;
pub mod commit;
pub mod content;
pub mod deadline;
pub mod element;
pub mod error;
pub mod graph;
pub mod index;
pub mod limits;
pub mod maintenance;
pub mod notes;
mod numbers;
pub mod optimistic;
pub mod query;
pub mod read;
pub mod registry;
pub mod schema;
pub mod tasks;
pub mod variables;
pub mod verify;
pub mod write;

mod bodies;
mod clock_watch;
mod hash;
mod near;
mod recorded;
mod rows;
mod snowflake;

pub use bodies::{Jobs, OwnerCheck};
pub use commit::{AskLeader, CommitLatency, DurabilityMode, LATENCY_BUCKETS, Position, Standing};
pub use error::{ErrorKind, GraphError};
pub use graph::{Graph, GraphOptions};
pub use limits::Limits;
pub use registry::Registry;
pub use schema::{Catalogue, Schema};
pub use tasks::{TaskBodies, Tasks};
pub use variables::Variables;
