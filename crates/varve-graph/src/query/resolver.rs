//! What a query needs of the reader of elements.

use varve_encoding::row::Header;
use varve_kv::{ClusteringRange, Flow, Reader, TableId};
use varve_model::TemporalScope;
use varve_view::ElementPolicy;

use crate::GraphError;

/// Partition and clustering key of an element's current row; an edge's on its source's side.
pub type RowKey = (Vec<u8>, Vec<u8>);

/// Reads elements at one point of both times, many with each call. All calls of one query see one
/// committed state.
///
/// Contents are what [`varve_encoding::row::Header::decode`] returns beside the head:
/// [`varve_encoding::row::vertex_parts`] and [`varve_encoding::row::edge_parts`] read them.
/// Visitors stop a read by breaking.
pub trait Resolver {
    /// The tables below, for index and full scans.
    fn reader(&self) -> &dyn Reader;

    /// The point of both times. The present is read from current tables only.
    fn scope(&self) -> TemporalScope;

    /// What bounds what is shown, unless that is everything. Then a row of [`Resolver::reader`]
    /// may be shown only if [`Resolver::visit_elements`] shows its element.
    fn policy(&self) -> Option<&ElementPolicy> {
        None
    }

    /// Whether a current row with this header decides the state of its element at the point,
    /// whatever events there are. May be false although it does.
    fn decides(&self, _header: &Header) -> bool {
        false
    }

    /// Called now and then in long walks, while nothing is locked: may wait so that others go
    /// first.
    ///
    /// # Errors
    /// When the walk's time is over.
    fn pause(&self) -> Result<(), GraphError> {
        Ok(())
    }

    /// Called before rows are looked at, with how many: what a query costs is counted here.
    ///
    /// # Errors
    /// When the query may cost no more.
    fn looked(&self, _rows: usize) -> Result<(), GraphError> {
        Ok(())
    }

    /// Visits those elements of a table that exist, in ascending position: `visit(position in keys,
    /// content)`.
    ///
    /// # Errors
    /// When the engine fails or stored bytes are damaged.
    fn visit_elements(
        &self,
        table: TableId,
        keys: &[RowKey],
        visit: &mut dyn FnMut(usize, &[u8]) -> Flow,
    ) -> Result<(), GraphError>;

    /// Visits the edges of the vertex with the partition key `owner` that exist and whose
    /// clustering key lies in `range`, ascending by that key: `visit(clustering key, content)`.
    ///
    /// # Errors
    /// As [`Resolver::visit_elements`].
    fn visit_adjacent(
        &self,
        owner: &[u8],
        range: &ClusteringRange,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
    ) -> Result<(), GraphError>;
}
