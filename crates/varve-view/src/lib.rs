//! How queries read a graph: the [`GraphView`] trait, the [`Meter`] of a query's cost, and access
//! policies.
//!
//! A view is one committed state of a graph at one point of both times. Traversers and query
//! languages read through it and know neither rows nor engines. Reads take batches, since a batch
//! of keys costs an engine little more than one key.

mod dictionary;
mod empty;
mod error;
mod meter;
mod past;
mod policy;
mod scan;
mod schema;
mod view;
pub mod work;
mod writer;

pub use dictionary::Dictionary;
pub use empty::EmptyGraph;
pub use error::{ErrorKind, StoreError, ViewError};
pub use meter::{CancelToken, Meter, MeterLimits, SharedBytes};
pub use past::PastVersion;
pub use policy::{AccessPolicy, AnyOf, Coverage, ElementPolicy};
pub use scan::{Elements, ScanAsk, ScanOrder, ScanPosition, ScannedEdge, ScannedElement};
pub use schema::SchemaView;
pub use view::{Counted, EdgeFound, Expand, Flow, GraphView, Neighbour, VertexFound};
pub use writer::{EdgeAddition, GraphWriter, Occurrence, PropertyWrite, Search, VertexAddition};
