//! Prepares a commit: latches, reads, the new state of every element, and the batch.

mod ahead;
mod deletion;
mod emission;
mod ends;
mod expected;
mod planned;
mod policy;
mod relabel;
mod sequenced;
mod submission;

use std::borrow::Cow;
use std::sync::Arc;

use varve_encoding::row::RowKind;
use varve_kv::{Absences, ClusteringRange, Reader, ReaderExt, fail_point};
use varve_model::{
    CommitVersion, EdgeId, Element, ElementId, Instant, Period, VertexId, VertexLabelId,
};
use varve_view::AccessPolicy;

use super::incident::Room;
use super::keys::{Keys, RowKeys};
use super::labels::Labels;
use super::places::Places;
use super::unique::Claim;
use super::{
    Contention, EndCheck, Gaps, IdRef, Modifier, Mutation, StateAfter, WritePeriod, WriteRequest,
    Written,
};
use crate::commit::LatchKey;
use crate::error::{ErrorKind, GraphError};
use crate::graph::Graph;
use crate::hash::IdMap;
use crate::index::Deriver;
use crate::read::{Resolved, resolve};
use crate::rows::{Current, content_of, decode_element, edge_content, sides, vertex_content};
use crate::schema::Schema;

pub(crate) use sequenced::visit_states_from;
use sequenced::{Part, first_state};

/// The most edges that a vertex may have to be deleted on a thread that serves other requests, too.
const INLINE_EDGES_MAX: usize = 500;
/// The most bytes of these edges.
const INLINE_EDGE_BYTES_MAX: usize = 1 << 20;
/// How often a commit is prepared again because another one held the latch of a unique value or of
/// an edge of a deleted vertex.
const ATTEMPTS_MAX: usize = 64;

/// Prepares `request` and submits it to the committer. Returns `None` if a latch is taken and
/// `contention` forbids waiting.
pub(crate) fn prepare(
    graph: &Arc<Graph>,
    request: &WriteRequest,
    contention: Contention,
) -> Result<Option<Written>, GraphError> {
    let mut keys = keys_of(request);
    // Latches that earlier attempts found necessary.
    let mut found = Vec::new();
    for _ in 0..ATTEMPTS_MAX {
        let mut latched = latches_of(&keys, request.mutations.len());
        latched.extend_from_slice(&found);
        let absent = &request.expected.absent;
        latched.extend(absent.iter().map(|each| LatchKey::exclusive(&each.name)));
        let mut latches = match contention {
            Contention::Wait => graph.latches.acquire(latched)?,
            Contention::Refuse => match graph.latches.try_acquire(latched) {
                Some(latches) => latches,
                None => return Ok(None),
            },
        };
        fail_point::COMMIT_LATCHED.pass();
        let schema = graph.catalogue().current_guard();
        let mut working = WorkingSet::new(graph, &schema, request, keys)?;
        if contention == Contention::Refuse {
            working.room = working
                .room
                .at_most(INLINE_EDGES_MAX, INLINE_EDGE_BYTES_MAX);
        }
        if let Some(taken) = working.claim_edges(&request.mutations, &mut latches)? {
            if contention == Contention::Refuse {
                return Ok(None);
            }
            found.extend(taken);
            keys = working.keys;
            continue;
        }
        let touched = working.run(&request.mutations);
        let touched = touched.map_err(|error| request.expected.of(error, request.is_plain()))?;
        working.check_access()?;
        working.check_labels()?;
        working.check_rules()?;
        working.check_expected(&touched)?;
        let latches = match working.claim_unique(latches)? {
            Claim::Held(latches) => latches,
            Claim::Taken(needed) => {
                if contention == Contention::Refuse {
                    return Ok(None);
                }
                // The next attempt acquires these latches in order, and in the right mode where
                // this request holds one shared.
                found = needed;
                keys = working.keys;
                keys.truncate(request.mutations.len());
                continue;
            }
        };
        let states = working.states(&request.mutations, &touched);
        let rest = working.rest.take();
        let ticket = working.submit(latches, contention)?;
        return Ok(Some(Written {
            states,
            rest,
            ticket,
        }));
    }
    Err(GraphError::new(
        ErrorKind::Busy,
        "Other writes kept holding the same unique values or edges",
    ))
}

/// Returns the row keys of the mutations' elements, numbered as the mutations.
fn keys_of(request: &WriteRequest) -> Keys {
    let mut keys = Keys::with_capacity(request.mutations.len());
    for mutation in &request.mutations {
        match mutation.id() {
            IdRef::Vertex(id) => keys.add_vertex(id),
            IdRef::Edge(id) => keys.add_edge(id),
        };
    }
    keys
}

/// Returns the latches for the first `count` elements of `keys`, and the schema's latch.
fn latches_of(keys: &Keys, count: usize) -> Vec<LatchKey> {
    let mut latches = Vec::with_capacity(count * 3 + 1);
    latches.push(LatchKey::SCHEMA);
    for number in (0..).take(count) {
        keys.of(number).latches(&mut latches);
    }
    latches
}

/// The new state of an element.
pub(super) enum Outcome<'a> {
    Untouched,
    /// The element has this content in the whole period.
    Put(Cow<'a, [u8]>),
    /// The element has these states and gaps in the parts of its period.
    Parts(Vec<Part>),
    Delete,
}

pub(super) struct Working<'a> {
    pub(super) id: Cow<'a, ElementId>,
    /// The number of the element's row keys.
    keys: u32,
    current: Option<Current>,
    pub(super) outcome: Outcome<'a>,
    /// The valid period of the outcome.
    pub(super) period: WritePeriod,
}

impl Working<'_> {
    /// The states that the element gets, each with its period.
    pub(super) fn states(&self) -> impl Iterator<Item = (WritePeriod, &[u8])> {
        let (whole, parts) = match &self.outcome {
            Outcome::Put(content) => (Some((self.period, &**content)), &[][..]),
            Outcome::Parts(parts) => (None, &parts[..]),
            Outcome::Untouched | Outcome::Delete => (None, &[][..]),
        };
        whole
            .into_iter()
            .chain(parts.iter().filter_map(Part::state))
    }
}

/// The labels of an edge's ends that are known without a read.
type KnownEnds = (Option<VertexLabelId>, Option<VertexLabelId>);

pub(super) struct WorkingSet<'a> {
    pub(super) graph: &'a Arc<Graph>,
    pub(super) schema: &'a Schema,
    pub(super) labels: Labels<'a>,
    deriver: Option<Arc<dyn Deriver>>,
    pub(super) reader: &'a dyn Reader,
    pub(super) now: Instant,
    request: &'a WriteRequest,
    /// The period of the current mutation.
    pub(super) period: WritePeriod,
    /// The instant at which states are read: the start of that period, or now.
    pub(super) valid: Instant,
    /// The remaining limits for edges that are deleted with vertices.
    room: Room,
    keys: Keys,
    pub(super) elements: Vec<Working<'a>>,
    /// The positions of the elements, by the identity of their row keys.
    places: Places,
    /// Whether any of the elements is a vertex.
    has_vertices: bool,
    /// For each mutation, the known labels of its edge's ends; empty if no mutation needs a check
    /// of the ends.
    ends: Vec<KnownEnds>,
    /// The rows of ends that were read ahead, by their partitions.
    end_rows: IdMap<Box<[u8]>, Option<Vec<u8>>>,
    /// For each mutation, whether its element is known to have no row.
    absent: Absences,
    /// For each mutation, its element's row, if rows are read ahead; a used row is removed.
    ahead: Vec<Option<Option<Vec<u8>>>>,
    /// The stored edges of the vertices that this request deletes; they are latched.
    incident: IdMap<VertexId, Vec<EdgeId>>,
    /// For each such vertex, a range of its edges' keys of which every row is deleted. Filled only
    /// if the request contains nothing but deletions.
    swept: Vec<(VertexId, ClusteringRange)>,
    /// The key at which the deletion of a vertex's edges must continue.
    rest: Option<Vec<u8>>,
}

impl<'a> WorkingSet<'a> {
    fn new(
        graph: &'a Arc<Graph>,
        schema: &'a Schema,
        request: &'a WriteRequest,
        keys: Keys,
    ) -> Result<Self, GraphError> {
        let now = graph.now();
        let period = request.period;
        period.check(now, None)?;
        for (at, period) in request.periods.iter().enumerate() {
            period.check(now, Some(at))?;
        }
        let reader: &dyn Reader = graph.reader();
        let valid = period.from.unwrap_or(now);
        Ok(Self {
            graph,
            schema,
            labels: Labels::new(schema),
            // Read under the latches: a change of the deriver waits for all commits that do not
            // know it.
            deriver: graph.deriver(),
            reader,
            now,
            request,
            period,
            valid,
            room: Room::of(graph.limits()),
            keys,
            elements: Vec::new(),
            places: Places::default(),
            has_vertices: false,
            ends: Vec::new(),
            end_rows: IdMap::default(),
            absent: Absences::new(),
            ahead: Vec::new(),
            incident: IdMap::default(),
            swept: Vec::new(),
            rest: None,
        })
    }

    /// Applies the mutations in order. Returns the position of each mutation's element.
    fn run(&mut self, mutations: &'a [Mutation]) -> Result<Vec<usize>, GraphError> {
        let mut touched = Vec::with_capacity(mutations.len());
        self.elements.reserve(mutations.len());
        self.places.reserve(mutations.len());
        self.look_ahead(mutations);
        if !self.graph.has_states() {
            self.read_ahead(mutations)?;
        }
        for (number, mutation) in (0..).zip(mutations) {
            if !self.request.periods.is_empty() {
                self.period = self.request.period_of(number as usize);
                self.valid = self.period.from.unwrap_or(self.now);
            }
            touched.push(match mutation {
                Mutation::PutRow {
                    id,
                    content,
                    fresh,
                    ends,
                } => {
                    let content = Cow::Borrowed(content.bytes());
                    self.put(Cow::Borrowed(id), number, content, (*fresh, *ends))?
                }
                Mutation::PutVertex { vertex, fresh } => {
                    let id = Cow::Owned(ElementId::Vertex(vertex.id.clone()));
                    let content = Cow::Owned(vertex_content(vertex));
                    self.put(id, number, content, (*fresh, EndCheck::Skip))?
                }
                Mutation::PutEdge { edge, ends } => {
                    let id = Cow::Owned(ElementId::Edge(edge.id.clone()));
                    let content = Cow::Owned(edge_content(edge));
                    self.put(id, number, content, (false, *ends))?
                }
                Mutation::Modify {
                    id,
                    ends,
                    gaps,
                    modify,
                } => self.modify(id, number, *ends, (*gaps, modify))?,
                Mutation::Delete { id, missing } => self.delete(id, number, *missing)?,
                Mutation::DeleteEdges {
                    vertex, missing, ..
                } => self.delete_edges(vertex, number, *missing)?,
            });
        }
        Ok(touched)
    }

    /// Returns the position of the element with the row keys `keys`. Reads its current row unless
    /// it is `fresh`.
    fn place(
        &mut self,
        id: Cow<'a, ElementId>,
        keys: u32,
        fresh: bool,
    ) -> Result<usize, GraphError> {
        let (all, elements) = (&self.keys, &self.elements);
        let row = all.of(keys);
        let at = self.places.find_or_insert(row.identity(), |at| {
            elements.get(at).map(|it| all.of(it.keys).identity())
        });
        if at < elements.len() {
            self.check_same_period(at)?;
            return Ok(at);
        }
        let current = if fresh || self.absent.get(keys as usize) == Some(&true) {
            None
        } else if let Some(row) = self.ahead.get_mut(keys as usize).and_then(Option::take) {
            row.as_deref().map(Current::decode).transpose()?
        } else {
            read_row(self.reader, row)?
        };
        self.has_vertices |= matches!(row, RowKeys::Vertex { .. });
        self.elements.push(Working {
            id,
            keys,
            current,
            outcome: Outcome::Untouched,
            period: self.period,
        });
        Ok(at)
    }

    /// Refuses a second period for an element: a commit gives each element at most one event.
    fn check_same_period(&self, at: usize) -> Result<(), GraphError> {
        let known = &self.elements[at];
        if known.period == self.period {
            return Ok(());
        }
        let id = &known.id;
        Err(GraphError::invalid(format!(
            "'{id}' is named twice in one request, with different valid_from or valid_to: send them in separate requests"
        )))
    }

    /// Returns an element of this request.
    pub(super) fn working_of(&self, id: &ElementId) -> Option<&Working<'a>> {
        let mut one = Keys::with_capacity(1);
        let number = one.add(id);
        self.working_at(one.of(number))
    }

    /// Returns the instants of a period; a period that starts with the commit starts now.
    pub(super) fn span(&self, period: WritePeriod) -> Period {
        Period {
            from: period.from.unwrap_or(self.now),
            to: period.to.unwrap_or(Instant::FOREVER),
        }
    }

    fn working_at(&self, row: RowKeys<'_>) -> Option<&Working<'a>> {
        let identity = |at: usize| {
            let known = self.elements.get(at);
            known.map(|it| self.keys.of(it.keys).identity())
        };
        let at = self.places.find(row.identity(), identity)?;
        Some(&self.elements[at])
    }

    /// The ids that the graph makes must not meet one that a writer gave.
    fn note_number(&self, id: &ElementId) {
        if let ElementId::Vertex(VertexId::Number(number)) = id {
            self.graph.numbers().given(*number);
        }
    }

    fn put(
        &mut self,
        id: Cow<'a, ElementId>,
        keys: u32,
        content: Cow<'a, [u8]>,
        (fresh, ends): (bool, EndCheck),
    ) -> Result<usize, GraphError> {
        self.note_number(&id);
        let within = self.span(self.period);
        let content = self.with_ends(&id, keys, content, (ends, within))?;
        let at = self.place(id, keys, fresh)?;
        if ends == EndCheck::WhereNew {
            self.check_extension(at, keys, &content)?;
        }
        self.elements[at].outcome = match self.request.ends {
            true => self.put_and_end(&self.elements[at].id, content)?,
            false => Outcome::Put(content),
        };
        Ok(at)
    }

    /// Returns the state of each mutation's element after the request.
    fn states(&self, mutations: &[Mutation], touched: &[usize]) -> Vec<StateAfter> {
        let state = |(mutation, at): (&Mutation, &usize)| match &self.elements[*at].outcome {
            Outcome::Untouched | Outcome::Delete => StateAfter::Deleted,
            Outcome::Parts(parts) => match first_state(parts) {
                Some(content) => StateAfter::Content(content.to_vec()),
                None => StateAfter::Deleted,
            },
            Outcome::Put(Cow::Owned(content)) => StateAfter::Content(content.clone()),
            Outcome::Put(Cow::Borrowed(content)) => match mutation {
                Mutation::PutRow { content: sent, .. } if std::ptr::eq(sent.bytes(), *content) => {
                    StateAfter::AsSent
                }
                // A later mutation replaced the content.
                _ => StateAfter::Content(content.to_vec()),
            },
        };
        mutations.iter().zip(touched).map(state).collect()
    }

    /// Reads the state of the element at `at` before this request, at the instant of the mutation.
    fn stored_state(&self, at: usize) -> Result<Option<Element>, GraphError> {
        let Working { id, current, .. } = &self.elements[at];
        if let Some(current) = current {
            let plain = self.period.from.is_none()
                && current.header.kind == RowKind::Put
                && current.header.until > self.now;
            if plain {
                return match self.is_hidden(id, &current.content, self.valid)? {
                    true => Ok(None),
                    false => decode_element(id, &current.content).map(Some),
                };
            }
        } else if self.period.from.is_none() {
            return Ok(None);
        }
        match self.resolve(id)? {
            Some(resolved) if !self.is_hidden(id, &resolved.content, self.valid)? => {
                decode_element(id, &resolved.content).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn resolve(&self, id: &ElementId) -> Result<Option<Resolved>, GraphError> {
        resolve_at(self.reader, id, self.valid)
    }

    /// Returns the state of the element at `at` after the earlier mutations of this request.
    fn state(&self, at: usize) -> Result<Option<Element>, GraphError> {
        match &self.elements[at].outcome {
            Outcome::Put(content) => decode_element(&self.elements[at].id, content).map(Some),
            Outcome::Parts(parts) => {
                let first = parts.first().and_then(|part| part.content.as_ref());
                let decode = |content: &Vec<u8>| decode_element(&self.elements[at].id, content);
                first.map(decode).transpose()
            }
            Outcome::Delete => Ok(None),
            Outcome::Untouched => self.stored_state(at),
        }
    }

    fn modify(
        &mut self,
        id: &'a ElementId,
        keys: u32,
        ends: EndCheck,
        (gaps, modify): (Gaps, &Modifier),
    ) -> Result<usize, GraphError> {
        self.note_number(id);
        let at = self.place(Cow::Borrowed(id), keys, false)?;
        if self.period != WritePeriod::default() {
            self.modify_parts(at, keys, ends, (gaps, modify))?;
            return Ok(at);
        }
        let content = Cow::Owned(content_of(&modify(self.state(at)?)?));
        let within = self.span(self.period);
        let content = self.with_ends(id, keys, content, (ends, within))?;
        if ends == EndCheck::WhereNew {
            self.check_extension(at, keys, &content)?;
        }
        self.elements[at].outcome = Outcome::Put(content);
        Ok(at)
    }
}

/// An end of an edge that would be written.
#[derive(Debug)]
pub struct PlannedEnd {
    /// The vertex.
    pub id: VertexId,
    /// The name of its label, which the schema may lack.
    pub label: String,
    /// When it will exist with that label, whatever is stored of it.
    pub planned: Vec<WritePeriod>,
}

/// An edge that would be written.
#[derive(Debug)]
pub struct PlannedEdge {
    /// The name of its label, which the schema may lack.
    pub label: String,
    /// Its valid period.
    pub period: WritePeriod,
    /// Its source and its target.
    pub ends: [PlannedEnd; 2],
}

/// For each edge of a dry run, why a write of it would be refused for its period or its ends.
/// Nothing is latched or written.
///
/// # Errors
/// When the store fails or is damaged.
pub(crate) fn check_planned(
    graph: &Arc<Graph>,
    edges: &[PlannedEdge],
    access: Option<Arc<AccessPolicy>>,
) -> Result<Vec<Option<GraphError>>, GraphError> {
    let request = WriteRequest {
        access,
        ..WriteRequest::default()
    };
    let schema = graph.catalogue().current_guard();
    let mut working = WorkingSet::new(graph, &schema, &request, Keys::with_capacity(0))?;
    let mut refused = Vec::with_capacity(edges.len());
    for edge in edges {
        refused.push(match working.check_edge(edge) {
            Ok(()) => None,
            Err(error) if error.kind == ErrorKind::InvalidArgument => Some(error),
            Err(error) => return Err(error),
        });
    }
    Ok(refused)
}

/// Reads the current row of an element.
pub(super) fn read_current(
    reader: &dyn Reader,
    id: &ElementId,
) -> Result<Option<Current>, GraphError> {
    let mut one = Keys::with_capacity(1);
    let number = one.add(id);
    read_row(reader, one.of(number))
}

fn read_row(reader: &dyn Reader, row: RowKeys<'_>) -> Result<Option<Current>, GraphError> {
    let (table, partition, clustering) = row.first();
    let mut current = None;
    reader.get_with(table, partition, clustering, &mut |row| {
        current = Some(Current::decode(row));
    })?;
    current.transpose()
}

/// Reads the state of an element at an instant of valid time, at the latest transaction time.
pub(super) fn resolve_at(
    reader: &dyn Reader,
    id: &ElementId,
    valid: Instant,
) -> Result<Option<Resolved>, GraphError> {
    let (table, sides) = sides(id);
    let (partition, clustering) = (&sides[0].partition, &sides[0].clustering);
    let row = reader.get(table, partition, clustering)?;
    let newest = CommitVersion::MAX;
    resolve(reader, partition, clustering, row.as_deref(), valid, newest)
}
