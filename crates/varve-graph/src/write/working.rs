//! Prepares a commit: latches, reads, the new state of every element, and the batch.

use std::sync::Arc;

use rustc_hash::{FxBuildHasher, FxHashMap};
use varve_encoding::key;
use varve_encoding::row::{self, Kind};
use varve_encoding::tables::VERTEX;
use varve_kv::{Reader, fail_point};
use varve_model::schema::Retention;
use varve_model::{
    CommitVersion, Edge, EdgeId, Element, ElementId, Instant, Period, Value, VertexId,
    VertexLabelId,
};

use super::emit::{EventPeriod, decode_element, sides};
use super::incident::{Reach, incident_edges};
use super::unique::Claim;
use super::{
    Change, Contention, EmitContext, Emitter, EndCheck, Missing, Modifier, Mutation, WritePeriod,
    WriteRequest, Written,
};
use crate::commit::{Commit, LatchKey, LatchSet, Ticket, ticket};
use crate::element::check_link;
use crate::error::{ErrorKind, GraphError};
use crate::graph::{Graph, SCHEMA_LATCH};
use crate::read::{Resolved, resolve};
use crate::schema::{Schema, SchemaElement, SchemaKind};
use crate::write::emit::Current;

/// Edges that a vertex may take with it while a thread waits that serves others.
const INLINE_EDGES_MAX: usize = 500;
/// How often a commit is prepared anew because another one held the latch of a unique value or of an edge of a vertex
/// that is deleted.
const ATTEMPTS_MAX: usize = 64;

/// Prepares `request` and hands it to the committer. `None` when a latch is taken and `contention` says not to wait.
pub(crate) fn prepare(
    graph: &Arc<Graph>,
    request: &WriteRequest,
    contention: Contention,
) -> Result<Option<Written>, GraphError> {
    let mut keys = latch_keys(request);
    for _ in 0..ATTEMPTS_MAX {
        let mut latches = match contention {
            Contention::Wait => graph.latches.acquire(keys.clone()),
            Contention::Refuse => match graph.latches.try_acquire(keys.clone()) {
                Some(latches) => latches,
                None => return Ok(None),
            },
        };
        fail_point::COMMIT_LATCHED.pass();
        let schema = graph.schema();
        let mut working = WorkingSet::new(graph, &schema, request.period)?;
        if contention == Contention::Refuse {
            working.edges_max = working.edges_max.min(INLINE_EDGES_MAX);
        }
        if let Some(taken) = working.claim_edges(&request.mutations, &mut latches)? {
            if contention == Contention::Refuse {
                return Ok(None);
            }
            keys.extend(taken);
            continue;
        }
        let touched = working.run(&request.mutations)?;
        let latches = match working.claim_unique(latches)? {
            Claim::Held(latches) => latches,
            Claim::Taken(key) => {
                if contention == Contention::Refuse {
                    return Ok(None);
                }
                // Next time it is taken in its place, and in the right mode where this request holds it shared.
                keys.push(key);
                continue;
            }
        };
        let elements = touched
            .iter()
            .map(|at| working.elements[*at].outcome.element())
            .collect();
        let ticket = working.submit(latches)?;
        return Ok(Some(Written { elements, ticket }));
    }
    Err(GraphError::new(
        ErrorKind::Busy,
        "Other writes kept holding the same unique values or edges",
    ))
}

fn latch_keys(request: &WriteRequest) -> Vec<LatchKey> {
    let mut keys = Vec::with_capacity(request.mutations.len() * 3 + 1);
    keys.push(LatchKey::shared(SCHEMA_LATCH));
    let vertex = |id: &VertexId, keys: &mut Vec<LatchKey>| {
        keys.push(LatchKey::exclusive(&key::vertex_id(id)));
    };
    let edge = |id: &EdgeId, keys: &mut Vec<LatchKey>| {
        keys.push(LatchKey::shared(&key::vertex_id(&id.source)));
        keys.push(LatchKey::shared(&key::vertex_id(&id.target)));
        keys.push(LatchKey::of_edge(id));
    };
    for mutation in &request.mutations {
        match mutation {
            Mutation::PutVertex { vertex: put, .. } => vertex(&put.id, &mut keys),
            Mutation::PutEdge { edge: put, .. } => edge(&put.id, &mut keys),
            Mutation::Modify { id, .. } | Mutation::Delete { id, .. } => match id {
                ElementId::Vertex(id) => vertex(id, &mut keys),
                ElementId::Edge(id) => edge(id, &mut keys),
            },
        }
    }
    keys
}

pub(super) enum Outcome {
    Untouched,
    Put(Element),
    Delete,
}

impl Outcome {
    fn element(&self) -> Option<Element> {
        match self {
            Self::Put(element) => Some(element.clone()),
            Self::Untouched | Self::Delete => None,
        }
    }
}

pub(super) struct Working {
    pub(super) id: ElementId,
    current: Option<Current>,
    pub(super) outcome: Outcome,
}

pub(super) struct WorkingSet<'a> {
    pub(super) graph: &'a Arc<Graph>,
    pub(super) schema: &'a Schema,
    pub(super) reader: &'a dyn Reader,
    pub(super) now: Instant,
    /// The instant at which states are looked up: the period's start, or now.
    pub(super) valid: Instant,
    pub(super) period: WritePeriod,
    /// Edges that the deletion of one vertex may take with it.
    edges_max: usize,
    pub(super) elements: Vec<Working>,
    pub(super) places: FxHashMap<ElementId, usize>,
    /// The stored edges of the vertices that this request deletes, latched.
    incident: FxHashMap<VertexId, Vec<EdgeId>>,
}

impl<'a> WorkingSet<'a> {
    fn new(
        graph: &'a Arc<Graph>,
        schema: &'a Schema,
        period: WritePeriod,
    ) -> Result<Self, GraphError> {
        let now = graph.now();
        let to = period.to.unwrap_or(Instant::FOREVER);
        if Period::new(period.from.unwrap_or(now), to).is_none() {
            return Err(GraphError::invalid(match period.from {
                Some(_) => "The valid_from must be before the valid_to",
                None => "The valid_to must be after now when no valid_from is given",
            }));
        }
        let reader: &dyn Reader = graph.reader();
        let places = FxHashMap::with_hasher(FxBuildHasher);
        let valid = period.from.unwrap_or(now);
        Ok(Self {
            graph,
            schema,
            reader,
            now,
            valid,
            period,
            edges_max: graph.limits().vertex_delete_edges_max,
            elements: Vec::new(),
            places,
            incident: FxHashMap::default(),
        })
    }

    /// Applies the mutations in order; returns the place of the element that each touched.
    fn run(&mut self, mutations: &[Mutation]) -> Result<Vec<usize>, GraphError> {
        let mut touched = Vec::with_capacity(mutations.len());
        self.elements.reserve(mutations.len());
        for mutation in mutations {
            touched.push(match mutation {
                Mutation::PutVertex { vertex, fresh } => {
                    let at = self.place(&ElementId::Vertex(vertex.id.clone()), *fresh)?;
                    self.elements[at].outcome = Outcome::Put(Element::Vertex(vertex.clone()));
                    at
                }
                Mutation::PutEdge { edge, ends } => self.put_edge(edge, *ends)?,
                Mutation::Modify { id, ends, modify } => self.modify(id, *ends, modify)?,
                Mutation::Delete { id, missing } => self.delete(id, *missing)?,
            });
        }
        Ok(touched)
    }

    /// The place of `id`, its current row read unless it is `fresh`.
    fn place(&mut self, id: &ElementId, fresh: bool) -> Result<usize, GraphError> {
        if let Some(at) = self.places.get(id) {
            return Ok(*at);
        }
        let current = if fresh {
            None
        } else {
            read_current(self.reader, id)?
        };
        let at = self.elements.len();
        self.elements.push(Working {
            id: id.clone(),
            current,
            outcome: Outcome::Untouched,
        });
        self.places.insert(id.clone(), at);
        Ok(at)
    }

    /// The state of the element at `at` before this request, at the instant the request is about.
    fn stored_state(&self, at: usize) -> Result<Option<Element>, GraphError> {
        let Working { id, current, .. } = &self.elements[at];
        if let Some(current) = current {
            let plain = self.period.from.is_none()
                && current.header.kind == Kind::Put
                && current.header.until > self.now;
            if plain {
                return decode_element(id, &current.content).map(Some);
            }
        } else if self.period.from.is_none() {
            return Ok(None);
        }
        let resolved = self.resolve(id)?;
        resolved
            .map(|resolved| decode_element(id, &resolved.content))
            .transpose()
    }

    fn resolve(&self, id: &ElementId) -> Result<Option<Resolved>, GraphError> {
        resolve_at(self.reader, id, self.valid)
    }

    /// The state of the element at `at` as earlier mutations of this request left it.
    fn state(&self, at: usize) -> Result<Option<Element>, GraphError> {
        match &self.elements[at].outcome {
            Outcome::Put(element) => Ok(Some(element.clone())),
            Outcome::Delete => Ok(None),
            Outcome::Untouched => self.stored_state(at),
        }
    }

    fn put_edge(&mut self, edge: &Edge, ends: EndCheck) -> Result<usize, GraphError> {
        let mut edge = edge.clone();
        self.check_ends(&mut edge, ends)?;
        let at = self.place(&ElementId::Edge(edge.id.clone()), false)?;
        self.elements[at].outcome = Outcome::Put(Element::Edge(edge));
        Ok(at)
    }

    /// Checks that both ends exist with labels that the edge's label links, and takes over their labels if the writer
    /// did not name them.
    fn check_ends(&self, edge: &mut Edge, ends: EndCheck) -> Result<(), GraphError> {
        let EndCheck::Exist { labels_given } = ends else {
            return Ok(());
        };
        let source = self.end_label(&edge.id.source)?;
        let target = self.end_label(&edge.id.target)?;
        if labels_given && (source, target) != (edge.source_label, edge.target_label) {
            return Err(self.unmatched(edge, (source, target)));
        }
        check_link(self.schema, edge.id.label, (source, target))?;
        (edge.source_label, edge.target_label) = (source, target);
        Ok(())
    }

    /// The label of an existing vertex.
    fn end_label(&self, id: &VertexId) -> Result<VertexLabelId, GraphError> {
        let missing = || GraphError::invalid(format!("Invalid vertex id '{id}'"));
        if let Some(at) = self.places.get(&ElementId::Vertex(id.clone())) {
            match &self.elements[*at].outcome {
                Outcome::Put(Element::Vertex(vertex)) => return Ok(vertex.label),
                Outcome::Delete => return Err(missing()),
                _ => {}
            }
        }
        let partition = key::vertex_id(id);
        let mut label = None;
        if self.period.from.is_none() {
            self.reader
                .get_with(VERTEX, &partition, key::VERTEX_CLUSTERING, &mut |row| {
                    if row::decides_always(row) {
                        let content = row::Header::decode(row).map(|(_, content)| content);
                        label = Some(content.and_then(row::vertex_label));
                    }
                })?;
        }
        match label {
            Some(label) => Ok(label?),
            None => {
                let resolved = self
                    .resolve(&ElementId::Vertex(id.clone()))?
                    .ok_or_else(missing)?;
                Ok(row::vertex_label(&resolved.content)?)
            }
        }
    }

    fn unmatched(&self, edge: &Edge, stored: (VertexLabelId, VertexLabelId)) -> GraphError {
        let name = |label| self.schema.vertex_label_name(label);
        let (id, expected, actual) = if stored.0 == edge.source_label {
            (&edge.id.target, edge.target_label, stored.1)
        } else {
            (&edge.id.source, edge.source_label, stored.0)
        };
        GraphError::invalid(format!(
            "The label of vertex '{id}' is unmatched, users expect label '{}', actual label stored is '{}'",
            name(expected),
            name(actual)
        ))
    }

    fn modify(
        &mut self,
        id: &ElementId,
        ends: EndCheck,
        modify: &Modifier,
    ) -> Result<usize, GraphError> {
        let at = self.place(id, false)?;
        let mut element = modify(self.state(at)?)?;
        if let Element::Edge(edge) = &mut element {
            self.check_ends(edge, ends)?;
        }
        self.elements[at].outcome = Outcome::Put(element);
        Ok(at)
    }

    fn delete(&mut self, id: &ElementId, missing: Missing) -> Result<usize, GraphError> {
        let at = self.place(id, false)?;
        let exists = self.state(at)?.is_some();
        if !exists && missing == Missing::Refuse {
            let kind = if matches!(id, ElementId::Vertex(_)) {
                "Vertex"
            } else {
                "Edge"
            };
            return Err(GraphError::not_found(format!(
                "{kind} '{id}' does not exist"
            )));
        }
        self.elements[at].outcome = Outcome::Delete;
        if let ElementId::Vertex(vertex) = id {
            for edge in self.incident(vertex) {
                let at = self.place(&ElementId::Edge(edge), false)?;
                self.elements[at].outcome = Outcome::Delete;
            }
        }
        Ok(at)
    }

    /// Finds the stored edges that the deletions of vertices among `mutations` end, and latches each: another commit may
    /// be ending it for its other vertex. Otherwise returns the latches that this commit must begin with.
    fn claim_edges(
        &mut self,
        mutations: &[Mutation],
        latches: &mut LatchSet,
    ) -> Result<Option<Vec<LatchKey>>, GraphError> {
        let reach = match self.period.from {
            Some(from) if from < self.now => Reach::Ever,
            _ => Reach::NowOrLater,
        };
        for mutation in mutations {
            let Mutation::Delete { id, .. } = mutation else {
                continue;
            };
            let ElementId::Vertex(vertex) = id else {
                continue;
            };
            let edges = incident_edges(self.reader, vertex, reach, self.edges_max)?;
            let keys: Vec<LatchKey> = edges.iter().map(LatchKey::of_edge).collect();
            if !latches.try_add_all(keys.clone()) {
                return Ok(Some(keys));
            }
            self.incident.insert(vertex.clone(), edges);
        }
        Ok(None)
    }

    /// Every edge of `vertex` that its deletion must end: the stored ones and those of earlier mutations of this request.
    fn incident(&mut self, vertex: &VertexId) -> Vec<EdgeId> {
        let mut found = self.incident.remove(vertex).unwrap_or_default();
        let touches = |id: &EdgeId| id.source == *vertex || id.target == *vertex;
        found.extend(
            self.elements
                .iter()
                .filter_map(|working| match &working.id {
                    ElementId::Edge(id) if touches(id) => Some(id.clone()),
                    _ => None,
                }),
        );
        found
    }

    fn submit(self, latches: LatchSet) -> Result<Ticket, GraphError> {
        let pairs = self.graph.pairs();
        let known = |hash| pairs.contain(hash);
        let (schema, now) = (self.schema, self.now);
        let context = EmitContext {
            reader: self.reader,
            schema,
            now,
            known_pair: &known,
        };
        let mut emitter = Emitter::new(context);
        for working in &self.elements {
            let current = working.current.clone();
            match &working.outcome {
                Outcome::Untouched => {}
                Outcome::Put(element) => {
                    self.check_label(element, current.as_ref())?;
                    let (retention, ttl) = self.label_rules(element);
                    if let Some(period) = self.period_of(element, retention, ttl)? {
                        emitter.emit(&working.id, current, &Change::Put(element), period)?;
                    }
                }
                Outcome::Delete => {
                    // Without a row nothing is now or later, without events nothing was.
                    let reaches = match (&current, self.period.from) {
                        (Some(_), _) => true,
                        (None, None) => false,
                        (None, Some(_)) => emitter.has_events(&sides(&working.id).1[0])?,
                    };
                    if reaches {
                        let to = self.period.to.unwrap_or(Instant::FOREVER);
                        let period = EventPeriod {
                            from: self.period.from,
                            to,
                        };
                        emitter.emit(&working.id, current, &Change::Delete, period)?;
                    }
                }
            }
        }
        if emitter.batch.is_empty() {
            return Ok(Ticket::done(self.graph.published()));
        }
        let (ticket, completer) = ticket();
        let put = std::mem::take(&mut emitter.new_pairs);
        let pairs = Arc::clone(pairs);
        let published: Option<Box<dyn FnOnce(CommitVersion) + Send>> = if put.is_empty() {
            None
        } else {
            Some(Box::new(move |_| pairs.remember(put)))
        };
        let (batch, stamps) = (emitter.batch, emitter.stamps);
        self.graph.submit(Commit {
            now,
            batch,
            stamps,
            latches,
            completer,
            published,
        })?;
        Ok(ticket)
    }

    /// Refuses a new element of a label that is being removed or gone: a request may have been read with an older schema
    /// than the one that holds while it is stored.
    fn check_label(&self, element: &Element, current: Option<&Current>) -> Result<(), GraphError> {
        let put = current.filter(|current| current.header.kind == Kind::Put);
        match element {
            Element::Vertex(vertex) => {
                let Some(label) = self.schema.vertex_label(vertex.label) else {
                    return Ok(());
                };
                let had = put.map(|put| row::vertex_label(&put.content)).transpose()?;
                if label.is_usable() || had == Some(vertex.label) {
                    return Ok(());
                }
                Err(SchemaKind::VertexLabel.undefined(&label.name))
            }
            Element::Edge(edge) => match self.schema.edge_label(edge.id.label) {
                Some(label) if !label.is_usable() && put.is_none() => {
                    Err(SchemaKind::EdgeLabel.undefined(&label.name))
                }
                _ => Ok(()),
            },
        }
    }

    fn label_rules(&self, element: &Element) -> (Retention, Option<Ttl>) {
        let (retention, ttl, start) = match element {
            Element::Vertex(vertex) => match self.schema.vertex_label(vertex.label) {
                Some(label) => (label.retention, label.ttl, label.ttl_start_time),
                None => return (Retention::All, None),
            },
            Element::Edge(edge) => match self.schema.edge_label(edge.id.label) {
                Some(label) => (label.retention, label.ttl, label.ttl_start_time),
                None => return (Retention::All, None),
            },
        };
        let start = start.and_then(|key| match element.properties().get(key) {
            Some(Value::Date(millis)) => Some(Instant::from_millis(*millis)),
            _ => None,
        });
        (retention, (ttl > 0).then_some(Ttl { millis: ttl, start }))
    }

    /// The period of a put, shortened by the label's time to live; `None` when it would be over before it starts.
    fn period_of(
        &self,
        element: &Element,
        retention: Retention,
        ttl: Option<Ttl>,
    ) -> Result<Option<EventPeriod>, GraphError> {
        let WritePeriod { from, to } = self.period;
        if retention == Retention::None && (from.is_some() || to.is_some()) {
            return Err(GraphError::invalid(format!(
                "The label of '{}' keeps no history: valid_from and valid_to are not supported for it",
                element.id()
            )));
        }
        let mut period = EventPeriod {
            from,
            to: to.unwrap_or(Instant::FOREVER),
        };
        if let Some(ttl) = ttl {
            let start = ttl.start.or(from).unwrap_or(self.now);
            let expires = start.plus_micros(ttl.millis.saturating_mul(1_000));
            period.to = period.to.min(expires);
            if from.is_none() && period.to <= self.now {
                period.from = Some(start);
            }
        }
        Ok((period.from.unwrap_or(self.now) < period.to).then_some(period))
    }
}

/// The current row of an element.
pub(super) fn read_current(
    reader: &dyn Reader,
    id: &ElementId,
) -> Result<Option<Current>, GraphError> {
    let (table, sides) = sides(id);
    let (partition, clustering) = (&sides[0].partition, &sides[0].clustering);
    let mut current = None;
    reader.get_with(table, partition, clustering, &mut |row| {
        current = Some(Current::decode(row));
    })?;
    current.transpose()
}

/// The state of an element at an instant of valid time, as it is known now.
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

/// A time to live and the instant it counts from, if that is a property's.
#[derive(Clone, Copy)]
struct Ttl {
    millis: i64,
    start: Option<Instant>,
}
