//! The nouns of Varve: ids, labels, property values, schema elements, instants and periods.
//!
//! Pure values with the rules that hold for them everywhere. This crate does no I/O, and has no
//! async runtime, no wire format and no byte layout: `varve-encoding` lays values out as bytes,
//! `varve-server` as JSON.

pub mod datum;
pub mod decimal;
pub mod element;
pub mod id;
pub mod many;
pub mod names;
pub mod predicate;
pub mod schema;
pub mod sortable;
pub mod time;
pub mod value;

pub use datum::Datum;
pub use decimal::Decimal;
pub use element::{Edge, Element, ElementId, Properties, Vertex};
pub use id::{
    Direction, EdgeId, EdgeLabelId, IndexLabelId, PropertyKeyId, VertexId, VertexLabelId,
};
pub use many::{Many, Numbered, OneValue};
pub use predicate::{Bounds, Condition, Predicate};
pub use schema::{EdgeLabel, IndexLabel, PropertyKey, VertexLabel};
pub use time::{Clock, CommitVersion, Instant, Period, TemporalScope};
pub use value::{Cardinality, DataType, Value};
