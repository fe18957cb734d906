//! A view that gives up once its request's time is over, so that a query which finds little in much ends too.

use varve_graph::query::Resolver;
use varve_graph::read::View;
use varve_graph::{ErrorKind, GraphError};
use varve_kv::{ClusteringRange, Flow, Reader};
use varve_model::{EdgeId, TemporalScope, VertexId};

use crate::request::RequestContext;

/// How many edges of one vertex are looked at between two looks at the clock.
const DEADLINE_EVERY: usize = 1024;

/// A view with a deadline.
pub(crate) struct Timed<'a> {
    view: &'a View,
    context: &'a RequestContext,
}

impl<'a> Timed<'a> {
    pub(crate) fn new(view: &'a View, context: &'a RequestContext) -> Self {
        Self { view, context }
    }

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

    fn visit_vertices(
        &self,
        ids: &[VertexId],
        visit: &mut dyn FnMut(usize, &[u8]) -> Flow,
    ) -> Result<(), GraphError> {
        self.check()?;
        self.view.visit_vertices(ids, visit)
    }

    fn visit_edges(
        &self,
        ids: &[EdgeId],
        visit: &mut dyn FnMut(usize, &[u8]) -> Flow,
    ) -> Result<(), GraphError> {
        self.check()?;
        self.view.visit_edges(ids, visit)
    }

    fn visit_adjacent(
        &self,
        owner: &VertexId,
        range: &ClusteringRange,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
    ) -> Result<(), GraphError> {
        self.check()?;
        let mut looked_at = 0_usize;
        let mut over = Ok(());
        self.view
            .visit_adjacent(owner, range, &mut |clustering, content| {
                looked_at += 1;
                if looked_at.is_multiple_of(DEADLINE_EVERY) {
                    over = self.check();
                }
                if over.is_err() {
                    return Flow::Break(());
                }
                visit(clustering, content)
            })?;
        over
    }
}
