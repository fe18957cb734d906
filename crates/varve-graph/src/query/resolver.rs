//! The interface by which a query reads elements.

pub use varve_encoding::row::Header as RowHeader;
use varve_kv::{ClusteringRange, Flow, PartitionRange, Reader, TableId};
use varve_model::TemporalScope;
use varve_view::ElementPolicy;

use crate::GraphError;

/// Partition and clustering key of an element's current row; an edge's on its source's side.
pub type RowKey = (Vec<u8>, Vec<u8>);

/// Reads elements at one point of both times, many in each call. All calls of one query read the
/// same committed state.
///
/// A content is the second part of the result of [`varve_encoding::row::Header::decode`];
/// [`varve_encoding::row::vertex_parts`] and [`varve_encoding::row::edge_parts`] decode it. A
/// visitor ends a read by breaking.
pub trait Resolver {
    /// The reader of the tables, for index scans and full scans.
    fn reader(&self) -> &dyn Reader;

    /// The point of both times. The present is read from current tables only.
    fn scope(&self) -> TemporalScope;

    /// The access policy; `None` if everything may be shown. With a policy, a row of
    /// [`Resolver::reader`] may be shown only if [`Resolver::visit_elements`] visits its element.
    fn policy(&self) -> Option<&ElementPolicy> {
        None
    }

    /// Whether a current row with this header decides its element's state at the point without a
    /// look at the events. False is always allowed.
    fn decides(&self, header: &RowHeader) -> bool;

    /// Called at intervals during long walks, while no lock is held. It may wait, so that shorter
    /// requests run first.
    ///
    /// # Errors
    /// When the deadline has passed.
    fn pause(&self) -> Result<(), GraphError> {
        Ok(())
    }

    /// Called before rows are read, with their number, to charge them to the query.
    ///
    /// # Errors
    /// When the query has used up its budget.
    fn looked(&self, _rows: usize) -> Result<(), GraphError> {
        Ok(())
    }

    /// Whether each read is a request to a cluster. Then many rows should be read together, even if
    /// some are not needed.
    fn is_remote(&self) -> bool {
        false
    }

    /// Visits the elements of `keys` that exist, in ascending position: `visit(position in keys,
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

    /// Visits the existing edges of the vertex with the partition key `owner` whose clustering key
    /// is in `range`, in ascending order of that key: `visit(clustering key, content)`.
    ///
    /// # Errors
    /// As [`Resolver::visit_elements`].
    fn visit_adjacent(
        &self,
        owner: &[u8],
        range: &ClusteringRange,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
    ) -> Result<(), GraphError>;

    /// Visits the edges of several ranges as [`Resolver::visit_adjacent`] does, range by range,
    /// each with the position of its range. A break ends the visits of that range only.
    ///
    /// # Errors
    /// As [`Resolver::visit_elements`].
    #[expect(
        clippy::type_complexity,
        reason = "the visitor's signature says it better than a name would"
    )]
    fn visit_adjacent_each(
        &self,
        ranges: &[PartitionRange<'_>],
        visit: &mut dyn FnMut(usize, &[u8], &[u8]) -> Flow,
    ) -> Result<(), GraphError> {
        for (at, PartitionRange { partition, range }) in ranges.iter().enumerate() {
            self.visit_adjacent(partition, range, &mut |clustering, content| {
                visit(at, clustering, content)
            })?;
        }
        Ok(())
    }
}
