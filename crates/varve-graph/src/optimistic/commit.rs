//! From the changes of a transaction to one commit.

use varve_model::{CommitVersion, ElementId};

use super::{Changed, OptimisticTransaction, State};
use crate::error::{ErrorKind, GraphError};
use crate::write::{
    Contention, EndCheck, Expectations, Missing, Mutation, WritePeriod, WriteRequest,
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
        if period != WritePeriod::default() {
            check_period(&state)?;
        }
        let mutations = mutations(&state);
        if mutations.all.is_empty() {
            return Ok(None);
        }
        let request = WriteRequest {
            mutations: mutations.all,
            period,
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
/// may depend on those before.
fn mutations(state: &State) -> Mutations {
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
            let put = Mutation::PutVertex {
                vertex: vertex.clone(),
                fresh: changed.seen.is_none(),
            };
            mutations.push(put, changed.seen);
        }
    }
    for (_, changed) in edges() {
        if let Some(edge) = &changed.now {
            let ends = match changed.base {
                None => EndCheck::Exist { labels_given: true },
                Some(_) => EndCheck::Skip,
            };
            let edge = edge.clone();
            mutations.push(Mutation::PutEdge { edge, ends }, changed.seen);
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

/// Refuses changes of elements that exist: in a period of their own each state would have to keep
/// what the change does not name.
fn check_period(state: &State) -> Result<(), GraphError> {
    let vertices = state.vertices.values().map(Changed::is_update);
    let mut all = vertices.chain(state.edges.values().map(Changed::is_update));
    if !all.any(|is_update| is_update) {
        return Ok(());
    }
    Err(GraphError::new(
        ErrorKind::NotSupported,
        "With valid_from or valid_to elements are added and removed; a property of an element that \
         exists is changed in a period by the REST API (append with valid_from)",
    ))
}

const fn delete(id: ElementId) -> Mutation {
    let missing = Missing::Ignore;
    Mutation::Delete { id, missing }
}

impl<T> Changed<T> {
    /// Whether it was there, is there, and was changed.
    const fn is_update(&self) -> bool {
        self.last > 0 && self.base.is_some() && self.now.is_some()
    }

    /// Whether it was not there and is not there.
    const fn is_idle(&self) -> bool {
        self.base.is_none() && self.now.is_none()
    }
}
