//! Reads many elements by the keys of their rows, as queries do with their candidates.

use std::borrow::Cow;

use varve_encoding::key;
use varve_encoding::row::Header;
use varve_encoding::tables::{EDGE, VERTEX};
use varve_kv::{ClusteringRange, Flow, PartitionRange, Reader, TableId};
use varve_model::{Direction, EdgeId, TemporalScope, VertexId};
use varve_view::ElementPolicy;

use super::View;
use super::guard::Guard;
use super::many::{Looked, borrowed, decide, look_at};
use crate::error::GraphError;
use crate::query::{Resolver, RowKey};

/// The most rows that are read from the engine together.
const BATCH: usize = 256;

impl Resolver for View {
    fn reader(&self) -> &dyn Reader {
        Self::reader(self)
    }

    fn scope(&self) -> TemporalScope {
        Self::scope(self)
    }

    fn policy(&self) -> Option<&ElementPolicy> {
        self.access().map(|access| &access.read)
    }

    fn decides(&self, header: &Header) -> bool {
        self.point().row_decides(header)
    }

    fn is_remote(&self) -> bool {
        // Only engines over a network have no snapshots.
        !self.is_one_state()
    }

    fn visit_elements(
        &self,
        table: TableId,
        keys: &[RowKey],
        visit: &mut dyn FnMut(usize, &[u8]) -> Flow,
    ) -> Result<(), GraphError> {
        for (number, batch) in keys.chunks(BATCH).enumerate() {
            if self
                .visit_rows(table, batch, number * BATCH, visit)?
                .is_break()
            {
                break;
            }
        }
        Ok(())
    }

    fn visit_adjacent(
        &self,
        owner: &[u8],
        range: &ClusteringRange,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
    ) -> Result<(), GraphError> {
        let mut looked = || Flow::Continue(());
        self.adjacent_in(owner, range, &mut looked, &mut |edge| {
            visit(edge.clustering, edge.content)
        })
    }

    fn visit_adjacent_each(
        &self,
        ranges: &[PartitionRange<'_>],
        visit: &mut dyn FnMut(usize, &[u8], &[u8]) -> Flow,
    ) -> Result<(), GraphError> {
        let mut looked = |_| Flow::Continue(());
        self.adjacent_ranges(ranges, &mut looked, &mut |at, edge| {
            visit(at, edge.clustering, edge.content)
        })
    }
}

impl View {
    /// Visits those of many vertices that exist and that the policy shows, in ascending position,
    /// until `visit` breaks: `visit(position in ids, content)`.
    ///
    /// # Errors
    /// When the engine fails or stored bytes are damaged.
    pub fn visit_vertices(
        &self,
        ids: &[VertexId],
        visit: &mut dyn FnMut(usize, &[u8]) -> Flow,
    ) -> Result<(), GraphError> {
        let place = |id: &VertexId| (key::vertex_id(id), key::VERTEX_CLUSTERING.to_vec());
        let keys: Vec<RowKey> = ids.iter().map(place).collect();
        self.visit_elements(VERTEX, &keys, visit)
    }

    /// As [`View::visit_vertices`], for edges.
    ///
    /// # Errors
    /// As [`View::visit_vertices`].
    pub fn visit_edges(
        &self,
        ids: &[EdgeId],
        visit: &mut dyn FnMut(usize, &[u8]) -> Flow,
    ) -> Result<(), GraphError> {
        let place = |id: &EdgeId| {
            let clustering = key::edge_clustering(id, Direction::Out);
            (key::vertex_id(&id.source), clustering)
        };
        let keys: Vec<RowKey> = ids.iter().map(place).collect();
        self.visit_elements(EDGE, &keys, visit)
    }

    /// Visits the elements of `keys` that exist and that the policy shows; positions count from
    /// `start`.
    fn visit_rows(
        &self,
        table: TableId,
        keys: &[RowKey],
        start: usize,
        visit: &mut dyn FnMut(usize, &[u8]) -> Flow,
    ) -> Result<Flow, GraphError> {
        let places = borrowed(keys);
        let (mut bytes, mut rows) = (Vec::new(), vec![None; places.len()]);
        self.reader().get_each(table, &places, &mut |at, row| {
            let start = bytes.len();
            bytes.extend_from_slice(row);
            rows[at] = Some(start..bytes.len());
        })?;
        let point = self.point();
        let mut undecided = Vec::new();
        let mut contents: Vec<Option<Cow<'_, [u8]>>> = Vec::with_capacity(rows.len());
        for (at, row) in rows.into_iter().enumerate() {
            let row = row.map(|row| &bytes[row]);
            contents.push(match look_at(at, row, point)? {
                Looked::Content(content) => Some(Cow::Borrowed(content)),
                Looked::Nothing => None,
                Looked::Undecided(one) => {
                    undecided.push(one);
                    None
                }
            });
        }
        decide(
            self.reader(),
            &places,
            point,
            undecided,
            &mut |at, content| {
                contents[at] = Some(Cow::Owned(content.to_vec()));
            },
        )?;
        if let Some(guard) = &self.guard {
            self.hide(guard, table, keys, &mut contents)?;
        }
        for (at, content) in contents.iter().enumerate() {
            if let Some(content) = content
                && visit(start + at, content).is_break()
            {
                return Ok(Flow::Break(()));
            }
        }
        Ok(Flow::Continue(()))
    }

    /// Removes the contents of elements that the policy hides.
    fn hide(
        &self,
        guard: &Guard,
        table: TableId,
        keys: &[RowKey],
        contents: &mut [Option<Cow<'_, [u8]>>],
    ) -> Result<(), GraphError> {
        if table == EDGE {
            let each = keys.iter().zip(contents.iter());
            let edges = each.filter_map(|((partition, clustering), content)| {
                let content = content.as_deref()?;
                Some((partition.as_slice(), clustering.as_slice(), content))
            });
            self.look_at_ends(guard, edges)?;
        }
        for ((partition, clustering), content) in keys.iter().zip(contents) {
            if let Some(found) = content.as_deref()
                && !self.shows(guard, table, (partition, clustering), found)?
            {
                *content = None;
            }
        }
        Ok(())
    }
}
