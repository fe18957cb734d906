//! The rules for vertices and edges: from what a writer sends to elements that the schema allows.
//!
//! Input ([`VertexInput`], [`EdgeInput`]) holds names and unconverted values; [`Rules`] turns it
//! into elements or, for updates, into [`crate::write::Mutation`]s that look at the stored state
//! under the write's latches. The sentences of errors are those of HugeGraph 1.5.0, since clients
//! compare them. Everything here is pure: no store, no wire format.

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

pub use convert::{convert, convert_member};
pub use edge::{EdgeForm, NewEdge, check_link};
pub use input::{DEFAULT_VERTEX_LABEL, EdgeInput, RawProperty, RawValue, VertexInput};
pub use inserts::Inserts;
pub(crate) use olap::remove_olap_value;
pub use strategy::{Strategies, UpdateStrategy};
pub use update::{UpdateAction, change, not_there};
pub use vertex::{NewVertex, primary_key_id, vertex_id};

use crate::schema::{GraphMode, Schema};

/// What the rules depend on.
pub struct Rules<'a> {
    /// The schema.
    pub schema: &'a Schema,
    /// The graph's mode.
    pub mode: GraphMode,
    /// Gives ids to vertices of id strategy AUTOMATIC, and the numbers of hidden sort values.
    pub next_vertex_id: &'a dyn Fn() -> i64,
}
