//! What a query needs of the reader of elements.

use varve_kv::{ClusteringRange, Flow, Reader};
use varve_model::{EdgeId, TemporalScope, VertexId};

use crate::GraphError;

/// Reads elements at one point of both times, many with each call. All calls of one query should see one committed
/// state; index entries are hints, so that a state that moves costs at most an element more or less.
///
/// Contents are what [`varve_encoding::row::Header::decode`] returns beside the head: [`varve_encoding::row::vertex_parts`]
/// and [`varve_encoding::row::edge_parts`] read them. Visitors stop a read by breaking.
pub trait Resolver {
    /// The tables below, for index and full scans.
    fn reader(&self) -> &dyn Reader;

    /// Visits those of `ids` that exist at `scope`, in ascending position: `visit(position in ids, content)`.
    ///
    /// # Errors
    /// When the engine fails or stored bytes are damaged.
    fn vertices_at(
        &self,
        ids: &[VertexId],
        scope: TemporalScope,
        visit: &mut dyn FnMut(usize, &[u8]) -> Flow,
    ) -> Result<(), GraphError>;

    /// Visits those of `ids` that exist at `scope`, as [`Resolver::vertices_at`].
    ///
    /// # Errors
    /// As [`Resolver::vertices_at`].
    fn edges_at(
        &self,
        ids: &[EdgeId],
        scope: TemporalScope,
        visit: &mut dyn FnMut(usize, &[u8]) -> Flow,
    ) -> Result<(), GraphError>;

    /// Visits the edges of `owner` that exist at `scope` and whose clustering key lies in `range`, ascending by that
    /// key: `visit(clustering key, content)`.
    ///
    /// # Errors
    /// As [`Resolver::vertices_at`].
    fn adjacent(
        &self,
        owner: &VertexId,
        range: &ClusteringRange,
        scope: TemporalScope,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
    ) -> Result<(), GraphError>;
}
