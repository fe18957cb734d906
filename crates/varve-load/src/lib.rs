//! Rows of files as elements of a graph, for `varve load` and the server's `…/load`.
//!
//! A [`Mapping`] names the files, and says what their columns mean; [`infer()`] drafts one. With
//! the graph's schema, a [`Catalogue`], each row becomes an [`Element`]: JSON in the form of the
//! batch resources. [`Batches`] collects them, and [`store_each`] finds the elements that a store
//! refuses.

mod batches;
mod catalogue;
mod checks;
mod element;
mod exported;
mod infer;
mod known;
mod mapping;
mod store;

pub use batches::{BadRow, Batch, BatchKind, Batches, Sending};
pub use catalogue::{Catalogue, EdgeLabel, Key, VertexLabel};
pub use checks::{columns as check_columns, schema as check_schema};
pub use element::{Action, Element, Period, identity};
pub use infer::{ColumnPreview, Inferred, Note, Preview, RefusedRow, RowPreview, infer, source_of};
pub use known::{Counts, Mark, Owners};
pub use mapping::{Columns, DateFormats, Mapping, Source, When};
pub use store::{Refused, store_each};

use serde_json::{Map, Value};

/// The element of a row, whose id is noted; `None` if the row is no edge for lack of an end.
///
/// # Errors
/// A message that names the wrong column and the reason.
pub fn element(
    columns: &Map<String, Value>,
    (kind, source): (BatchKind, &Source),
    catalogue: &Catalogue,
    owners: &mut Owners,
) -> Result<Option<Element>, String> {
    let element = match kind {
        kind if source.label.is_empty() => {
            return exported::element(columns, kind, source, catalogue);
        }
        BatchKind::Vertices => {
            let vertex = element::vertex(columns, source, catalogue)?;
            owners.claim(&source.label, vertex.identity)?;
            vertex
        }
        BatchKind::Edges if source.skip_empty && source.lacks_end(columns) => return Ok(None),
        BatchKind::Edges => element::edge(columns, source, catalogue)?,
    };
    Ok(Some(element))
}
