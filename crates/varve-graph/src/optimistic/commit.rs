//! From the changes of a transaction to one commit.

use varve_model::{CommitVersion, Element, ElementId};

use super::{Changed, OptimisticTransaction, State, Step};
use crate::element::not_there;
use crate::error::{ErrorKind, GraphError};
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
    /// [`Graph::write`](crate::Graph::write).
    pub fn commit(self, period: WritePeriod) -> Result<Option<CommitVersion>, GraphError> {
        let state = self.state.into_inner();
        let mutations = mutations(&state, period != WritePeriod::default());
        if mutations.all.is_empty() {
            return Ok(None);
        }
        let request = WriteRequest {
            mutations: mutations.all,
            period,
            access: self.base.access().cloned(),
            expected: Expectations {
                rows: mutations.seen,
                absent: state.expected,
            },
            ..WriteRequest::default()
        };
        match self.graph.write(&request, Contention::Wait)? {
            Some(written) => written.ticket.wait().map(Some),
            None => Err(GraphError::new(
                ErrorKind::Busy,
                "The elements are being written by others",
            )),
        }
    }
}

/// Vertices that are there, edges that are there, edges that are gone, vertices that are gone: each
/// may depend on those before. `in_period`: a change of properties is made to every state that the
/// element has in the commit's period.
fn mutations(state: &State, in_period: bool) -> Mutations {
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
