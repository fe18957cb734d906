//! Reads of a [`View`] whose rows are counted by a meter.

use std::cell::{Cell, RefCell};

use varve_encoding::row;
use varve_kv::{ClusteringRange, PartitionRange, Reader, TableId};
use varve_model::TemporalScope;
use varve_view::{ElementPolicy, Flow, Meter, ViewError};

use super::view::View;
use crate::error::{ErrorKind, GraphError};
use crate::query::{Resolver, RowKey};

/// A view that counts the rows of its reads at a meter, and ends a read when the meter returns an
/// error. After that, every read fails.
pub(super) struct Metered<'a> {
    view: &'a View,
    meter: &'a Meter,
    /// The meter's error that ended the read.
    ended: RefCell<Option<ViewError>>,
    has_ended: Cell<bool>,
}

impl<'a> Metered<'a> {
    pub(super) fn new(view: &'a View, meter: &'a Meter) -> Self {
        Self {
            view,
            meter,
            ended: RefCell::new(None),
            has_ended: Cell::new(false),
        }
    }

    /// Counts rows. Returns false if the meter ends the read now, or has ended it before.
    fn count(&self, rows: usize) -> bool {
        if self.has_ended.get() {
            return false;
        }
        for _ in 0..rows {
            if let Err(error) = self.meter.row() {
                self.has_ended.set(true);
                *self.ended.borrow_mut() = Some(error);
                return false;
            }
        }
        true
    }

    /// Returns the result of a read. If the meter has ended it, returns the meter's error instead,
    /// which has caused any other error of the read.
    pub(super) fn outcome<T>(self, read: Result<T, GraphError>) -> Result<T, ViewError> {
        match self.ended.into_inner() {
            Some(ended) => Err(ended),
            None => Ok(read?),
        }
    }
}

impl Resolver for Metered<'_> {
    fn reader(&self) -> &dyn Reader {
        self.view.reader()
    }

    fn scope(&self) -> TemporalScope {
        self.view.scope()
    }

    fn policy(&self) -> Option<&ElementPolicy> {
        self.view.policy()
    }

    fn looked(&self, rows: usize) -> Result<(), GraphError> {
        match self.count(rows) {
            true => Ok(()),
            false => Err(GraphError::new(
                ErrorKind::Busy,
                "The query has reached its limit",
            )),
        }
    }

    fn is_remote(&self) -> bool {
        self.view.is_remote()
    }

    fn decides(&self, header: &row::Header) -> bool {
        self.view.decides(header)
    }

    fn visit_elements(
        &self,
        table: TableId,
        keys: &[RowKey],
        visit: &mut dyn FnMut(usize, &[u8]) -> Flow,
    ) -> Result<(), GraphError> {
        self.looked(keys.len())?;
        self.view.visit_elements(table, keys, visit)
    }

    fn visit_adjacent(
        &self,
        owner: &[u8],
        range: &ClusteringRange,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
    ) -> Result<(), GraphError> {
        let mut looked = || match self.count(1) {
            true => Flow::Continue(()),
            false => Flow::Break(()),
        };
        self.view
            .adjacent_in(owner, range, &mut looked, &mut |edge| {
                visit(edge.clustering, edge.content)
            })?;
        self.looked(0)
    }

    fn visit_adjacent_each(
        &self,
        ranges: &[PartitionRange<'_>],
        visit: &mut dyn FnMut(usize, &[u8], &[u8]) -> Flow,
    ) -> Result<(), GraphError> {
        let mut looked = |_| match self.count(1) {
            true => Flow::Continue(()),
            false => Flow::Break(()),
        };
        self.view
            .adjacent_ranges(ranges, &mut looked, &mut |at, edge| {
                visit(at, edge.clustering, edge.content)
            })?;
        self.looked(0)
    }
}
