//! The commit of a transaction's changes.

use std::sync::Arc;

use varve_model::{CommitVersion, Element, ElementId};

use super::{Changed, OptimisticTransaction, Step, TransactionState};
use crate::element::not_there;
use crate::error::{ErrorKind, GraphError};
use crate::graph::Graph;
use crate::read::View;
use crate::write::{
    Contention, EndCheck, Expectations, Gaps, Missing, Mutation, WritePeriod, WriteRequest,
};

/// The changes as mutations, and the row version that each expects ([`Changed::seen`]).
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
    /// Commits the changes, valid in `period`, and waits until they are stored. Returns the commit
    /// version, or `None` if there are no changes.
    ///
    /// # Errors
    /// [`ErrorKind::Conflict`] when another commit has changed something that this one depends on;
    /// else as [`Graph::write`].
    pub fn commit(self, period: WritePeriod) -> Result<Option<CommitVersion>, GraphError> {
        store(
            &self.graph,
            &self.base.load(),
            self.state.into_inner(),
            period,
        )
    }
}

/// Commits changes made on top of a view, and waits until they are stored.
pub(super) fn store(
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

/// Converts changes to mutations. The order is changed vertices, changed edges, removed edges,
/// removed vertices, since each group may depend on those before. `in_period`: changes of
/// properties apply to every state of the element in the commit's period.
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
                Some(_) => EndCheck::WhereNew,
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

/// The mutation that applies changes of properties, one after another, to each state of the element
/// in the commit's period.
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
    /// Whether the element existed, exists, and only its properties were changed.
    const fn is_update(&self) -> bool {
        self.last > 0 && self.base.is_some() && self.now.is_some() && !self.is_replaced
    }

    /// Whether the element did not exist and does not exist.
    const fn is_idle(&self) -> bool {
        self.base.is_none() && self.now.is_none()
    }
}
