//! What a query needs of the reader of elements.

use varve_kv::{ClusteringRange, Flow, Reader};
use varve_model::{EdgeId, TemporalScope, VertexId};

use crate::GraphError;

/// Reads elements at one point of both times, many with each call. All calls of one query see one committed state.
///
/// Contents are what [`varve_encoding::row::Header::decode`] returns beside the head: [`varve_encoding::row::vertex_parts`]
/// and [`varve_encoding::row::edge_parts`] read them. Visitors stop a read by breaking.
pub trait Resolver {
    /// The tables below, for index and full scans.
    fn reader(&self) -> &dyn Reader;

    /// The point of both times. The present is read from current tables only.
    fn scope(&self) -> TemporalScope;

    /// Called now and then in long walks, while nothing is locked: may wait so that others go first.
    ///
    /// # Errors
    /// When the walk's time is over.
    fn pause(&self) -> Result<(), GraphError> {
        Ok(())
    }

    /// Visits those of `ids` that exist, in ascending position: `visit(position in ids, content)`.
    ///
    /// # Errors
    /// When the engine fails or stored bytes are damaged.
    fn visit_vertices(
        &self,
        ids: &[VertexId],
        visit: &mut dyn FnMut(usize, &[u8]) -> Flow,
    ) -> Result<(), GraphError>;

    /// Visits those of `ids` that exist, as [`Resolver::visit_vertices`].
    ///
    /// # Errors
    /// As [`Resolver::visit_vertices`].
    fn visit_edges(
        &self,
        ids: &[EdgeId],
        visit: &mut dyn FnMut(usize, &[u8]) -> Flow,
    ) -> Result<(), GraphError>;

    /// Visits the edges of `owner` that exist and whose clustering key lies in `range`, ascending by that key:
    /// `visit(clustering key, content)`.
    ///
    /// # Errors
    /// As [`Resolver::visit_vertices`].
    fn visit_adjacent(
        &self,
        owner: &VertexId,
        range: &ClusteringRange,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
    ) -> Result<(), GraphError>;
}
