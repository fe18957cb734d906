//! A view that fails once its request's deadline has passed or its budget of elements is spent. So
//! a query that reads many elements and finds few ends too.

use std::cell::Cell;

use varve_graph::query::{Resolver, RowHeader, RowKey};
use varve_graph::read::View;
use varve_graph::{ErrorKind, GraphError};
use varve_kv::{ClusteringRange, Flow, PartitionRange, Reader, TableId};
use varve_model::TemporalScope;
use varve_view::ElementPolicy;

use crate::request::RequestContext;

/// Edges of one vertex that are read between two checks of the deadline.
const DEADLINE_EVERY: usize = 1024;

/// A view with a deadline and a budget of elements.
pub(crate) struct Timed<'a> {
    view: &'a View,
    context: &'a RequestContext,
    /// Elements that may still be read, about.
    effort: Cell<usize>,
}

impl<'a> Timed<'a> {
    pub(crate) fn new(view: &'a View, context: &'a RequestContext) -> Self {
        Self::with_effort(view, context, usize::MAX)
    }

    /// A view that fails once about `effort` elements have been read.
    pub(crate) fn with_effort(view: &'a View, context: &'a RequestContext, effort: usize) -> Self {
        Self {
            view,
            context,
            effort: Cell::new(effort),
        }
    }

    /// Whether the budget of elements is spent.
    pub(crate) fn is_spent(&self) -> bool {
        self.effort.get() == 0
    }

    fn spend(&self, elements: usize) -> Result<(), GraphError> {
        self.effort.set(self.effort.get().saturating_sub(elements));
        if self.is_spent() {
            return Err(GraphError::new(ErrorKind::Busy, "Too many elements read"));
        }
        Ok(())
    }

    /// Lets short reads go first; fails once the deadline has passed or the request was cancelled.
    fn check(&self) -> Result<(), GraphError> {
        self.context
            .check_deadline()
            .map_err(|error| GraphError::new(ErrorKind::Busy, error.message()))
    }
}

impl Resolver for Timed<'_> {
    fn reader(&self) -> &dyn Reader {
        self.view.reader()
    }

    fn scope(&self) -> TemporalScope {
        self.view.scope()
    }

    fn policy(&self) -> Option<&ElementPolicy> {
        self.view.policy()
    }

    fn decides(&self, header: &RowHeader) -> bool {
        self.view.decides(header)
    }

    fn pause(&self) -> Result<(), GraphError> {
        self.check()
    }

    fn is_remote(&self) -> bool {
        self.view.is_remote()
    }

    fn visit_elements(
        &self,
        table: TableId,
        keys: &[RowKey],
        visit: &mut dyn FnMut(usize, &[u8]) -> Flow,
    ) -> Result<(), GraphError> {
        self.check()?;
        self.spend(keys.len())?;
        self.view.visit_elements(table, keys, visit)
    }

    fn visit_adjacent(
        &self,
        owner: &[u8],
        range: &ClusteringRange,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
    ) -> Result<(), GraphError> {
        self.check()?;
        let mut effort = Looked::new(self);
        self.view
            .adjacent_in(owner, range, &mut || effort.edge(), &mut |edge| {
                visit(edge.clustering, edge.content)
            })?;
        effort.over
    }

    fn visit_adjacent_each(
        &self,
        ranges: &[PartitionRange<'_>],
        visit: &mut dyn FnMut(usize, &[u8], &[u8]) -> Flow,
    ) -> Result<(), GraphError> {
        self.check()?;
        let mut effort = Looked::new(self);
        self.view
            .adjacent_ranges(ranges, &mut |_| effort.edge(), &mut |at, edge| {
                visit(at, edge.clustering, edge.content)
            })?;
        effort.over
    }
}

/// Counts the edges that one read has looked at.
struct Looked<'a> {
    view: &'a Timed<'a>,
    edges: usize,
    over: Result<(), GraphError>,
}

impl<'a> Looked<'a> {
    fn new(view: &'a Timed<'a>) -> Self {
        Self {
            view,
            edges: 0,
            over: Ok(()),
        }
    }

    fn edge(&mut self) -> Flow {
        if self.over.is_ok() {
            self.edges += 1;
            self.over = match self.edges.is_multiple_of(DEADLINE_EVERY) {
                true => self.view.check(),
                false => self.view.spend(1),
            };
        }
        match self.over {
            Ok(()) => Flow::Continue(()),
            Err(_) => Flow::Break(()),
        }
    }
}
