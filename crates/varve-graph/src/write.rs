//! Writes: a request of mutations becomes one commit, all or nothing.
//!
//! The order of work is: take the latches, read the current rows, compute the new states, build the
//! batch, hand it to the committer. Everything up to there may be repeated after a conflict, so it
//! has no effect outside.

mod emit;
mod held;
mod incident;
mod internal;
mod keys;
mod known;
mod label_rules;
mod large_delete;
mod places;
mod settling;
mod transaction;
mod unique;
mod working;

use std::sync::Arc;

use smallvec::SmallVec;
use varve_encoding::row;
use varve_model::{CommitVersion, Edge, EdgeId, Element, ElementId, Instant, Vertex, VertexId};
use varve_view::{AccessPolicy, Search};

pub use crate::commit::Ticket;
use crate::error::{ErrorKind, GraphError};

pub(crate) use emit::{Current, EmitContext, Emitter, PairHash, Side, decode_element, sides};
pub(crate) use incident::{Reach, Room, incident_edges};
pub(crate) use internal::{commit_internal, commit_unlatched, current_rows};
pub(crate) use known::{KnownPairs, KnownVertices, VertexMark};
pub(crate) use large_delete::write;
pub(crate) use transaction::transact;
pub use transaction::{EdgeVisit, Touch, Transaction};
use working::prepare;

/// The valid period that a write asks for; `None` = from the commit on, and for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WritePeriod {
    /// First instant at which the written state holds.
    pub from: Option<Instant>,
    /// First instant at which it holds no more.
    pub to: Option<Instant>,
}

/// Whether a new edge's end vertices must exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndCheck {
    /// They are not looked at.
    Skip,
    /// They must exist with the edge's end labels.
    Exist {
        /// Whether the writer named the end labels (a mismatch is then reported as such).
        labels_given: bool,
    },
}

/// What deleting something that is not there does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// It is an error of kind NotFound.
    Refuse,
    /// Nothing.
    Ignore,
}

/// What a sequenced update does where the element does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gaps {
    /// Nothing, unless it exists nowhere in the period.
    Keep,
    /// The modifier makes a state.
    Fill,
}

/// Computes an element's new state from its state; with a period from each state that it has in it.
/// May be called again after a conflict.
pub type Modifier = Box<dyn Fn(Option<Element>) -> Result<Element, GraphError> + Send + Sync>;

/// An element's label and properties, encoded as its rows hold them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content(SmallVec<[u8; 32]>);

impl Content {
    pub(crate) fn new(bytes: &[u8]) -> Self {
        Self(SmallVec::from_slice(bytes))
    }

    /// The bytes, as [`crate::content`] reads them.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Names the element of a mutation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdRef<'a> {
    /// A vertex.
    Vertex(&'a VertexId),
    /// An edge.
    Edge(&'a EdgeId),
}

/// One change of a request.
pub enum Mutation {
    /// Writes an element as a whole, replacing one of the same id, from its encoded content: as
    /// [`crate::element::Inserts`] makes it.
    PutRow {
        /// Which element.
        id: ElementId,
        /// Its content, checked against the schema.
        content: Content,
        /// The id was generated for this request: no element can have it.
        fresh: bool,
        /// What must hold for the ends of an edge.
        ends: EndCheck,
    },
    /// Writes a vertex as a whole, replacing one of the same id.
    PutVertex {
        /// The vertex, checked against the schema.
        vertex: Vertex,
        /// The id was generated for this request: no vertex can have it.
        fresh: bool,
    },
    /// Writes an edge as a whole, replacing one of the same id.
    PutEdge {
        /// The edge, checked against the schema.
        edge: Edge,
        /// What must hold for its ends.
        ends: EndCheck,
    },
    /// Reads an element and writes what the modifier makes of it. With a period every state that it
    /// has in the period is read and written (a sequenced update).
    Modify {
        /// Which element.
        id: ElementId,
        /// What must hold for the ends of an edge.
        ends: EndCheck,
        /// What happens with a period where the element does not exist in a part of it.
        gaps: Gaps,
        /// The change.
        modify: Modifier,
    },
    /// Deletes an element; a vertex takes its edges with it.
    Delete {
        /// Which element.
        id: ElementId,
        /// What if it is not there.
        missing: Missing,
    },
    /// Deletes edges of a vertex, from now on, and not the vertex: as many as one step of the
    /// deletion of a vertex takes.
    DeleteEdges {
        /// Which vertex.
        vertex: VertexId,
        /// The key on its side of the first edge that may go.
        from: Vec<u8>,
        /// What if the vertex is not there.
        missing: Missing,
    },
}

/// Changes that are stored together or not at all. Later ones see the effect of earlier ones.
#[derive(Default)]
pub struct WriteRequest {
    /// The changes, in order.
    pub mutations: Vec<Mutation>,
    /// The valid period of all of them.
    pub period: WritePeriod,
    /// The valid period of each change, where they differ; empty when all have
    /// [`WriteRequest::period`].
    pub periods: Vec<WritePeriod>,
    /// Whether an element that has the new state already, for the whole of the period, is left as
    /// it is: it gets no version.
    pub skip_unchanged: bool,
    /// What the request depends on.
    pub expected: Expectations,
    /// What the writer may do; `None` = everything.
    pub access: Option<Arc<AccessPolicy>>,
}

/// What must still hold when a request is written, under its latches.
#[derive(Default)]
pub struct Expectations {
    /// For each mutation, the version of its element's row, `None` = it has none; the outer `None`
    /// = whatever it is. Empty: whatever all are.
    pub rows: Vec<Option<Option<CommitVersion>>>,
    /// Searches that must find nothing.
    pub absent: Vec<Absent>,
}

/// A search that must find nothing.
pub struct Absent {
    /// Commits that depend on searches of one name follow one another.
    pub name: Vec<u8>,
    /// The search.
    pub search: Arc<Search>,
    /// Whether it also finds elements that the client may not read.
    pub finds_hidden: bool,
}

impl Expectations {
    /// A refusal as a conflict, where what it is about was checked on the state before.
    fn of(&self, error: GraphError) -> GraphError {
        let is_checked = !self.rows.is_empty();
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
    /// A request that is valid from its commit on.
    #[must_use]
    pub fn now(mutations: Vec<Mutation>) -> Self {
        Self {
            mutations,
            ..Self::default()
        }
    }

    /// The valid period of a change, by its place.
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

/// What to do when another commit holds a latch that this one needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contention {
    /// Block until it is free. Not for threads that serve others.
    Wait,
    /// Give up at once.
    Refuse,
}

impl Mutation {
    /// The element that is changed.
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

/// A request on its way to storage.
#[derive(Debug)]
pub struct Written {
    /// For each mutation, what became of its element.
    states: Vec<StateAfter>,
    /// Where a [`Mutation::DeleteEdges`] is to go on, if it has not come to the last edge.
    rest: Option<Vec<u8>>,
    /// Reports when it is stored.
    pub ticket: Ticket,
}

/// An element after a request.
#[derive(Debug)]
enum StateAfter {
    /// It is what its [`Mutation::PutRow`] says.
    AsSent,
    /// It has this content.
    Content(Vec<u8>),
    /// It does not exist.
    Deleted,
}

impl Written {
    /// The content, as [`crate::content`] reads it, that the element of each mutation of `request`
    /// has after it; `None` for deletions. `request` is the one that was written.
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

fn vertex_content(vertex: &Vertex) -> Vec<u8> {
    let mut content = Vec::with_capacity(64);
    row::put_vertex_content(vertex, &mut content);
    content
}

fn edge_content(edge: &Edge) -> Vec<u8> {
    let mut content = Vec::with_capacity(64);
    row::put_edge_content(edge, &mut content);
    content
}

fn content_of(element: &Element) -> Vec<u8> {
    match element {
        Element::Vertex(vertex) => vertex_content(vertex),
        Element::Edge(edge) => edge_content(edge),
    }
}
