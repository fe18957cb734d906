//! From the changes of a transaction to one commit.

use std::sync::Arc;

use varve_model::{CommitVersion, Element, ElementId, TemporalScope};

use super::{
    Changed, CommitEvery, HeldBytes, OptimisticLimits, OptimisticTransaction, Step,
    TransactionState,
};
use crate::element::not_there;
use crate::error::{ErrorKind, GraphError};
use crate::graph::Graph;
use crate::read::View;
use crate::write::{
    Contention, EndCheck, Expectations, Gaps, Missing, Mutation, WritePeriod, WriteRequest,
};

/// The changes as mutations, and what each expects of the row it meets.
#[derive(Default)]
struct Mutations {
    all: Vec<Mutation>,
    seen: Vec<Option<Option<CommitVersion>>>,
}

impl Mutations {
    fn push(&mut self, mutation: Mutation, seen: Option<Option<CommitVersion>>) {
        self.all.push(mutation);
        self.seen.push(seen);
    }
}

impl OptimisticTransaction {
    /// Commits the changes, valid in `period`, and waits until they are stored. The commit version,
    /// or `None` where nothing was changed.
    ///
    /// # Errors
    /// [`ErrorKind::Conflict`] when another commit has changed what this one depends on; as
    /// [`Graph::write`].
    pub fn commit(self, period: WritePeriod) -> Result<Option<CommitVersion>, GraphError> {
        store(
            &self.graph,
            &self.base.load(),
            self.state.into_inner(),
            period,
        )
    }

    /// Commits in between, where that is due: not if `next`, the element that is changed next, is
    /// changed already, as the changes of one step to an element stay in one commit. `count`: how
    /// many elements are changed together with it.
    pub(super) fn commit_if_due(
        &self,
        next: Option<&ElementId>,
        count: usize,
    ) -> Result<bool, GraphError> {
        let due = self.state.read().due(next, count, &self.limits);
        let Some(CommitEvery { period, check, .. }) = due else {
            return Ok(false);
        };
        check.map_or(Ok(()), |check| check())?;
        let state = self.state.write().take(&self.limits);
        let base = self.base();
        let stored = store(&self.graph, &base, state, period)?.is_some();
        self.state.write().has_committed |= stored;
        let scope = TemporalScope {
            valid: None,
            transaction: Some(CommitVersion::MAX),
        };
        let next = self.graph.view(scope)?.guarded_by(base.access());
        self.base.store(Arc::new(next));
        Ok(true)
    }
}

impl TransactionState {
    /// The commit in between, if one is due.
    fn due(
        &self,
        next: Option<&ElementId>,
        count: usize,
        limits: &OptimisticLimits,
    ) -> Option<CommitEvery> {
        let every = self.every.as_ref()?;
        let is_full = self.order.len() >= every.elements
            || self.order.len() + count > limits.elements_max
            || self.bytes >= limits.bytes_max / 2;
        let is_changed = match next {
            Some(ElementId::Vertex(id)) => self.vertices.get(id).is_some_and(|own| own.last > 0),
            Some(ElementId::Edge(id)) => self.edges.get(id).is_some_and(|own| own.last > 0),
            None => false,
        };
        (is_full && !is_changed && !self.order.is_empty()).then(|| every.clone())
    }

    /// Takes the changes so far; an empty state stays.
    fn take(&mut self, limits: &OptimisticLimits) -> Self {
        let next = Self {
            changes: self.changes,
            committed: self.changes,
            has_committed: self.has_committed,
            every: self.every.clone(),
            share: limits.all.clone().map(HeldBytes::share),
            ..Self::default()
        };
        std::mem::replace(self, next)
    }
}

/// Commits changes over a view and waits until they are stored.
fn store(
    graph: &Arc<Graph>,
    base: &View,
    state: TransactionState,
    period: WritePeriod,
) -> Result<Option<CommitVersion>, GraphError> {
    let mutations = mutations(&state, period != WritePeriod::default());
    if mutations.all.is_empty() {
        return Ok(None);
    }
    let request = WriteRequest {
        mutations: mutations.all,
        period,
        access: base.access().cloned(),
        expected: Expectations {
            rows: mutations.seen,
            absent: state.expected,
        },
        ..WriteRequest::default()
    };
    match graph.write(&request, Contention::Wait)? {
        Some(written) => written.ticket.wait().map(Some),
        None => Err(GraphError::new(
            ErrorKind::Busy,
            "The elements are being written by others",
        )),
    }
}

/// Vertices that are there, edges that are there, edges that are gone, vertices that are gone: each
/// may depend on those before. `in_period`: a change of properties is made to every state that the
/// element has in the commit's period.
fn mutations(state: &TransactionState, in_period: bool) -> Mutations {
    let mut mutations = Mutations::default();
    let vertices = || {
        let ids = state.order.iter().filter_map(|id| match id {
            ElementId::Vertex(id) => state.vertices.get(id),
            ElementId::Edge(_) => None,
        });
        ids.filter(|changed| !changed.is_idle())
    };
    let edges = || {
        let ids = state.order.iter().filter_map(|id| match id {
            ElementId::Edge(id) => state.edges.get(id).map(|changed| (id, changed)),
            ElementId::Vertex(_) => None,
        });
        ids.filter(|(_, changed)| !changed.is_idle())
    };
    for changed in vertices() {
        if let Some(vertex) = &changed.now {
            let mutation = match in_period && changed.is_update() {
                true => sequenced(ElementId::Vertex(vertex.id.clone()), &changed.steps),
                false => Mutation::PutVertex {
                    vertex: vertex.clone(),
                    fresh: changed.seen.is_none(),
                },
            };
            mutations.push(mutation, changed.seen);
        }
    }
    for (_, changed) in edges() {
        if let Some(edge) = &changed.now {
            let ends = match changed.base {
                None => EndCheck::Exist { labels_given: true },
                Some(_) => EndCheck::Skip,
            };
            let edge = edge.clone();
            let mutation = match in_period && changed.is_update() {
                true => sequenced(ElementId::Edge(edge.id), &changed.steps),
                false => Mutation::PutEdge { edge, ends },
            };
            mutations.push(mutation, changed.seen);
        }
    }
    for (id, changed) in edges() {
        if changed.now.is_none() {
            let id = ElementId::Edge(id.clone());
            mutations.push(delete(id), changed.seen);
        }
    }
    for changed in vertices() {
        if let (None, Some(vertex)) = (&changed.now, &changed.base) {
            let id = ElementId::Vertex(vertex.id.clone());
            mutations.push(delete(id), changed.seen);
        }
    }
    mutations
}

/// These changes of properties, one after the other, of each state that the element has in the
/// commit's period.
fn sequenced(id: ElementId, steps: &[Step]) -> Mutation {
    let (own, steps) = (id.clone(), steps.to_vec());
    let modify = move |state: Option<Element>| {
        let mut state = state;
        for step in &steps {
            state = Some(step(state)?);
        }
        state.ok_or_else(|| not_there(&own))
    };
    Mutation::Modify {
        id,
        ends: EndCheck::Skip,
        gaps: Gaps::Keep,
        modify: Box::new(modify),
    }
}

const fn delete(id: ElementId) -> Mutation {
    let missing = Missing::Ignore;
    Mutation::Delete { id, missing }
}

impl<T> Changed<T> {
    /// Whether it was there, is there, and only its properties were changed.
    const fn is_update(&self) -> bool {
        self.last > 0 && self.base.is_some() && self.now.is_some() && !self.is_replaced
    }

    /// Whether it was not there and is not there.
    const fn is_idle(&self) -> bool {
        self.base.is_none() && self.now.is_none()
    }
}
