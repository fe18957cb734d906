//! The rules for vertices and edges: conversion of a client's input to elements that the schema
//! allows.
//!
//! Input ([`VertexInput`], [`EdgeInput`]) has names and unconverted values. [`Rules`] converts it
//! to elements or, for updates, to [`crate::write::Mutation`]s that read the stored state under the
//! write's latches. Error messages are those of HugeGraph 1.5.0, since clients compare them.
//! Everything here is pure: no store, no wire format.

mod convert;
mod direct;
mod edge;
mod input;
mod inserts;
mod olap;
mod properties;
mod strategy;
pub mod text;
mod typed;
mod update;
mod vertex;

pub(crate) use convert::narrowed;
pub use convert::{condition_error, convert, convert_condition, wrong_type};
pub use edge::{EdgeForm, NewEdge, check_link};
pub use input::{DEFAULT_VERTEX_LABEL, EdgeInput, JavaClass, RawProperty, RawValue, VertexInput};
pub use inserts::Inserts;
pub(crate) use olap::remove_olap_value;
pub use strategy::{Strategies, UpdateStrategy};
pub use update::{UpdateAction, change, not_there};
pub use vertex::{NewVertex, primary_key_id, vertex_id};

use crate::schema::{GraphMode, Schema};

/// The rules, with everything that they depend on.
pub struct Rules<'a> {
    /// The schema.
    pub schema: &'a Schema,
    /// The graph's mode.
    pub mode: GraphMode,
    /// Generates ids of vertices with id strategy AUTOMATIC.
    pub next_vertex_id: &'a dyn Fn() -> i64,
    /// Generates numbers of hidden sort values.
    pub next_edge_number: &'a dyn Fn() -> i64,
}
