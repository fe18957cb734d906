//! Many elements by the keys of their rows: what queries read their candidates by.

use varve_encoding::row::Header;
use varve_kv::{ClusteringRange, Flow, Reader, TableId};
use varve_model::TemporalScope;

use super::{View, resolve};
use crate::error::GraphError;
use crate::query::{Resolver, RowKey};

/// How many rows are asked of the engine together.
const BATCH: usize = 256;

impl Resolver for View {
    fn reader(&self) -> &dyn Reader {
        Self::reader(self)
    }

    fn scope(&self) -> TemporalScope {
        Self::scope(self)
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
}

impl View {
    /// Visits those elements of one table that exist here; positions count from `start`.
    fn visit_rows(
        &self,
        table: TableId,
        keys: &[RowKey],
        start: usize,
        visit: &mut dyn FnMut(usize, &[u8]) -> Flow,
    ) -> Result<Flow, GraphError> {
        let borrowed: Vec<(&[u8], &[u8])> = keys
            .iter()
            .map(|(p, c)| (p.as_slice(), c.as_slice()))
            .collect();
        let rows = self.reader().multi_get(table, &borrowed)?;
        let point = self.point();
        for (at, (row, (partition, clustering))) in rows.iter().zip(&borrowed).enumerate() {
            if let Some(row) = row {
                let (header, content) = Header::decode(row)?;
                if point.row_decides(&header) {
                    if visit(start + at, content).is_break() {
                        return Ok(Flow::Break(()));
                    }
                    continue;
                }
            } else if point.scope.is_now() {
                // Of the present, a missing row says that the element does not exist.
                continue;
            }
            let row = row.as_deref();
            let resolved = resolve(
                self.reader(),
                partition,
                clustering,
                row,
                point.valid(),
                point.version(),
            )?;
            if resolved.is_some_and(|resolved| visit(start + at, &resolved.content).is_break()) {
                return Ok(Flow::Break(()));
            }
        }
        Ok(Flow::Continue(()))
    }
}
