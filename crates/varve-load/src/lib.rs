//! Rows of files as elements of a graph, for `varve load` and the server's `…/load`.
//!
//! A [`Mapping`] names the files, and says what their columns mean; [`infer()`] drafts one. With
//! the graph's schema, a [`Catalogue`], a [`Converter`] makes each row an [`Element`]: JSON in the
//! form of the batch resources. [`Batches`] collects them, and [`store_each`] finds the elements
//! that a store refuses; [`Trial`] finds those that it would refuse.

mod batches;
mod catalogue;
mod checks;
mod converter;
mod element;
mod exported;
mod infer;
mod known;
mod mapping;
mod requests;
mod store;
mod trial;
mod values;

pub use batches::{BadRow, Batch, BatchKind, Batches, Sending};
pub use catalogue::{Catalogue, EdgeLabel, Key, VertexLabel};
pub use checks::{columns as check_columns, schema as check_schema};
pub use converter::Converter;
pub use element::{Action, Element, Period, identity};
pub use infer::{ColumnPreview, Inferred, Note, Preview, RefusedRow, RowPreview, infer, source_of};
pub use known::{Counts, Mark, Owners};
pub use mapping::{Columns, DateFormats, Mapping, Source, When};
pub use requests::Storing;
pub use store::{Refused, store_each};
pub use trial::{PLANNED_MAX, Trial};
