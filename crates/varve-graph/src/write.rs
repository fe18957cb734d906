//! Writes: a request of mutations becomes one commit, all or nothing.
//!
//! The steps: acquire the latches, read the current rows, compute the new states, build the batch,
//! submit it to the committer. All steps before the last may be repeated after a conflict, so they
//! have no side effects.

mod destruction;
mod emit;
mod held;
mod incident;
mod internal;
mod keys;
mod label_rules;
mod labels;
mod large_delete;
mod places;
mod rules;
mod settling;
mod transaction;
mod unique;
mod working;

use std::sync::Arc;

use smallvec::SmallVec;
use varve_model::{
    CommitVersion, Edge, EdgeId, Element, ElementId, Instant, Period, Vertex, VertexId,
};
use varve_view::{AccessPolicy, Search};

pub use crate::commit::Ticket;
use crate::error::{ErrorKind, GraphError};

pub(crate) use destruction::{States, destroy, is_put, record_purge, states};
pub(crate) use emit::{EmitContext, Emitter};
pub(crate) use incident::{Reach, Room, incident_edges};
pub(crate) use internal::{commit_internal, commit_unlatched, current_rows, current_rows_near};
pub(crate) use keys::read_latch;
pub(crate) use large_delete::write;
pub(crate) use transaction::transact;
pub use transaction::{EdgeVisit, Touch, Transaction};
use working::prepare;
pub use working::{PlannedEdge, PlannedEnd};
pub(crate) use working::{check_planned, visit_states_from};

/// The valid period of a write; a `None` start means from the commit on, a `None` end means for
/// ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct WritePeriod {
    /// First instant at which the written state holds.
    pub from: Option<Instant>,
    /// First instant at which the written state no longer holds.
    pub to: Option<Instant>,
}

impl WritePeriod {
    /// Refuses an empty period: of the request, or of the element with this number.
    ///
    /// # Errors
    /// [`crate::ErrorKind::InvalidArgument`].
    pub fn check(self, now: Instant, element: Option<usize>) -> Result<(), GraphError> {
        let to = self.to.unwrap_or(Instant::FOREVER);
        if Period::new(self.from.unwrap_or(now), to).is_some() {
            return Ok(());
        }
        let message = match self.from {
            Some(_) => "The valid_from must be before the valid_to",
            None => "The valid_to must be after now when no valid_from is given",
        };
        Err(GraphError::invalid(match element {
            Some(at) => format!("Element {at}: {message}"),
            None => message.to_owned(),
        }))
    }
}

/// Whether the end vertices of a new edge must exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndCheck {
    /// The ends are not checked.
    Skip,
    /// The ends must exist where the edge did not exist before: an update may let it exist longer.
    WhereNew,
    /// The ends must exist in the whole period, with the edge's end labels.
    Exist {
        /// Whether the writer named the end labels; then a mismatch is reported as such.
        labels_given: bool,
    },
}

/// What happens if an element to be deleted does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// The request is refused with `NotFound`.
    Refuse,
    /// Nothing happens.
    Ignore,
}

/// What a sequenced update does in the parts of its period in which the element does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gaps {
    /// The gap stays. If the element exists nowhere in the period, the modifier is called without a
    /// state and returns the error.
    Keep,
    /// The modifier creates a state.
    Fill,
}

/// Computes an element's new state from its old one. With a period it is called for each state of
/// the element in the period. It may be called again after a conflict.
pub type Modifier = Box<dyn Fn(Option<Element>) -> Result<Element, GraphError> + Send + Sync>;

/// An element's label and properties, encoded as in its rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content(SmallVec<[u8; 32]>);

impl Content {
    pub(crate) fn new(bytes: &[u8]) -> Self {
        Self(SmallVec::from_slice(bytes))
    }

    /// The bytes, which [`crate::content`] decodes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// The id of a mutation's element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdRef<'a> {
    /// A vertex.
    Vertex(&'a VertexId),
    /// An edge.
    Edge(&'a EdgeId),
}

/// One change of a request.
pub enum Mutation {
    /// Puts a whole element from its encoded content, which [`crate::element::Inserts`] makes. It
    /// replaces an element with the same id.
    PutRow {
        /// The element's id.
        id: ElementId,
        /// Its content, checked against the schema.
        content: Content,
        /// Whether the id was generated for this request, so that no element can have it.
        fresh: bool,
        /// How the ends of an edge are checked.
        ends: EndCheck,
    },
    /// Puts a whole vertex. It replaces a vertex with the same id.
    PutVertex {
        /// The vertex, checked against the schema.
        vertex: Vertex,
        /// Whether the id was generated for this request, so that no vertex can have it.
        fresh: bool,
    },
    /// Puts a whole edge. It replaces an edge with the same id.
    PutEdge {
        /// The edge, checked against the schema.
        edge: Edge,
        /// How its ends are checked.
        ends: EndCheck,
    },
    /// Reads an element and writes the result of the modifier. With a period, it reads and writes
    /// every state that the element has in the period (a sequenced update).
    Modify {
        /// The element's id.
        id: ElementId,
        /// How the ends of an edge are checked.
        ends: EndCheck,
        /// What happens in parts of the period in which the element does not exist.
        gaps: Gaps,
        /// The change.
        modify: Modifier,
    },
    /// Deletes an element, and with a vertex all its edges.
    Delete {
        /// The element's id.
        id: ElementId,
        /// What happens if the element does not exist.
        missing: Missing,
    },
    /// Deletes edges of a vertex from now on, but not the vertex. It deletes as many edges as one
    /// step of the deletion of a large vertex.
    DeleteEdges {
        /// The id of the vertex.
        vertex: VertexId,
        /// The clustering key, on the vertex's side, from which edges are deleted.
        from: Vec<u8>,
        /// What happens if the vertex does not exist.
        missing: Missing,
    },
}

/// Changes that are stored together or not at all. Later ones see the effect of earlier ones.
#[derive(Default)]
pub struct WriteRequest {
    /// The changes, in order.
    pub mutations: Vec<Mutation>,
    /// The valid period of all changes.
    pub period: WritePeriod,
    /// The valid period of each change, if they differ; empty if all have [`WriteRequest::period`].
    pub periods: Vec<WritePeriod>,
    /// Whether an element that already has the new state for the whole period gets no new version.
    pub skip_unchanged: bool,
    /// Whether an element that is put until a `valid_to` does not exist after it, whatever is
    /// stored of it.
    pub ends: bool,
    /// What must still hold when the request is written.
    pub expected: Expectations,
    /// The access policy of the writer; `None` = no restriction.
    pub access: Option<Arc<AccessPolicy>>,
}

/// Conditions that are checked when a request is written, under its latches.
#[derive(Default)]
pub struct Expectations {
    /// For each mutation, the expected version of its element's row: `Some(None)` means no row, and
    /// an outer `None` means no check. Empty: no checks.
    pub rows: Vec<Option<Option<CommitVersion>>>,
    /// Searches that must return nothing.
    pub absent: Vec<Absent>,
}

/// A search that must return nothing.
pub struct Absent {
    /// The name of a latch: commits that depend on searches of the same name run one after the
    /// other.
    pub name: Vec<u8>,
    /// The search.
    pub search: Arc<Search>,
    /// Whether the search also returns elements that the client may not read.
    pub finds_hidden: bool,
}

impl Expectations {
    /// Turns an error about an element into a conflict if the request expects rows and writes the
    /// present: the writer has already made the same check on the state that it read.
    fn of(&self, error: GraphError, is_plain: bool) -> GraphError {
        let is_checked = is_plain && !self.rows.is_empty();
        match error.kind {
            ErrorKind::InvalidArgument | ErrorKind::NotFound if is_checked => GraphError {
                kind: ErrorKind::Conflict,
                ..error
            },
            _ => error,
        }
    }
}

impl WriteRequest {
    /// A request whose changes hold from the commit on.
    #[must_use]
    pub fn now(mutations: Vec<Mutation>) -> Self {
        Self {
            mutations,
            ..Self::default()
        }
    }

    /// Returns the valid period of the change at a position.
    #[must_use]
    pub fn period_of(&self, change: usize) -> WritePeriod {
        self.periods.get(change).copied().unwrap_or(self.period)
    }

    /// Whether every change holds from the commit on and for ever.
    fn is_plain(&self) -> bool {
        let mut all = self.periods.iter().chain([&self.period]);
        all.all(|period| *period == WritePeriod::default())
    }
}

/// What to do if another commit holds a needed latch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contention {
    /// Blocks until the latch is free; not for threads that serve other requests, too.
    Wait,
    /// Gives up at once.
    Refuse,
}

impl Mutation {
    /// The id of the changed element.
    #[must_use]
    pub const fn id(&self) -> IdRef<'_> {
        match self {
            Self::PutVertex { vertex, .. } => IdRef::Vertex(&vertex.id),
            Self::DeleteEdges { vertex, .. } => IdRef::Vertex(vertex),
            Self::PutEdge { edge, .. } => IdRef::Edge(&edge.id),
            Self::PutRow { id, .. } | Self::Modify { id, .. } | Self::Delete { id, .. } => match id
            {
                ElementId::Vertex(id) => IdRef::Vertex(id),
                ElementId::Edge(id) => IdRef::Edge(id),
            },
        }
    }
}

/// A request that has been submitted to the committer.
#[derive(Debug)]
pub struct Written {
    /// For each mutation, the element's state after the request.
    states: Vec<StateAfter>,
    /// The key at which a [`Mutation::DeleteEdges`] must continue; `None` after the last edge.
    rest: Option<Vec<u8>>,
    /// Completes when the commit is stored.
    pub ticket: Ticket,
}

/// The state of an element after a request.
#[derive(Debug)]
enum StateAfter {
    /// The content of its [`Mutation::PutRow`].
    AsSent,
    /// This content.
    Content(Vec<u8>),
    /// The element does not exist.
    Deleted,
}

impl Written {
    /// Returns, for each mutation of `request`, the content of its element after the request (which
    /// [`crate::content`] decodes); `None` for deletions. `request` must be the one that was
    /// written.
    pub fn contents<'a>(
        &'a self,
        request: &'a WriteRequest,
    ) -> impl ExactSizeIterator<Item = (IdRef<'a>, Option<&'a [u8]>)> {
        let pairs = request.mutations.iter().zip(&self.states);
        pairs.map(|(mutation, state)| {
            let content = match (state, mutation) {
                (StateAfter::AsSent, Mutation::PutRow { content, .. }) => Some(content.bytes()),
                (StateAfter::Content(content), _) => Some(content.as_slice()),
                (StateAfter::AsSent | StateAfter::Deleted, _) => None,
            };
            (mutation.id(), content)
        })
    }
}
