//! The reads of a transaction: its view, with its changes on top.
//!
//! A scan shows no element that is added while it runs. Otherwise a query that adds an element for
//! each one that it finds would not end.

use std::cell::RefCell;

use varve_encoding::key;
use varve_model::schema::EdgeLabelType;
use varve_model::{
    Condition, Direction, Edge, EdgeId, EdgeLabel, EdgeLabelId, Element, ElementId, Instant,
    Properties, PropertyKeyId, TemporalScope, Vertex, VertexId, VertexLabelId,
};
use varve_view::{
    EdgeFound, Elements, ErrorKind, Expand, Flow, GraphView, Meter, Neighbour, PastVersion,
    ScanAsk, ScanPosition, ScannedEdge, ScannedElement, SchemaView, VertexFound, ViewError,
};

use super::adjacent::Walk;
use super::{OptimisticTransaction, TransactionState};
use crate::read::edge_ranges;

/// The first byte of a scan's position: it continues in the view, or among the changes.
const IN_VIEW: u8 = 0;
const IN_CHANGES: u8 = 1;
/// Candidates read between two checks of the meter.
const CHECK_EVERY: usize = 1_024;

impl GraphView for OptimisticTransaction {
    fn put_vertex_key(&self, id: &VertexId, out: &mut Vec<u8>) {
        self.base().put_vertex_key(id, out);
    }

    fn vertex_id(&self, key: &[u8]) -> Result<VertexId, ViewError> {
        self.base().vertex_id(key)
    }

    fn edge_id(&self, from: &[u8], edge: &[u8]) -> Result<EdgeId, ViewError> {
        self.base().edge_id(from, edge)
    }

    fn neighbours(
        &self,
        from: &[&[u8]],
        ask: &Expand<'_>,
        meter: &Meter,
        visit: &mut dyn FnMut(usize, &Neighbour<'_>) -> Flow,
    ) -> Result<(), ViewError> {
        let state = self.state.read();
        if state.adjacent.is_empty() {
            drop(state);
            return self.base().neighbours(from, ask, meter, visit);
        }
        let ranges = edge_ranges(self.schema.current(), ask);
        let mut walk = Walk::new(&state, from, ask, &ranges);
        let mut failed = None;
        self.base().neighbours(from, ask, meter, &mut |at, seen| {
            let before = walk.own_until(at, Some(seen.edge), meter, visit);
            match before.and_then(|()| walk.is_changed(&self.base(), at, seen)) {
                _ if walk.ended => Flow::Break(()),
                Ok(true) => Flow::Continue(()),
                Ok(false) => {
                    let flow = visit(at, seen);
                    if flow.is_break() {
                        walk.end();
                    }
                    flow
                }
                Err(error) => {
                    failed = Some(error);
                    Flow::Break(())
                }
            }
        })?;
        match failed {
            Some(error) => Err(error),
            None => walk.own_until(from.len(), None, meter, visit),
        }
    }

    fn vertices(
        &self,
        keys: &[&[u8]],
        properties: &[PropertyKeyId],
        meter: &Meter,
        found: &mut dyn FnMut(usize, VertexLabelId, Properties),
    ) -> Result<(), ViewError> {
        let state = self.state.read();
        if state.vertices.is_empty() {
            drop(state);
            return self.base().vertices(keys, properties, meter, found);
        }
        let mut rest = Vec::with_capacity(keys.len());
        let mut places = Vec::with_capacity(keys.len());
        for (at, key) in keys.iter().enumerate() {
            match state.vertices.get(&self.base().vertex_id(key)?) {
                None => {
                    rest.push(*key);
                    places.push(at);
                }
                Some(changed) => {
                    meter.row()?;
                    if let Some(vertex) = &changed.now {
                        let properties = picked(&vertex.properties, properties);
                        found(at, vertex.label, properties);
                    }
                }
            }
        }
        drop(state);
        let mut show = |at: usize, label, properties| found(places[at], label, properties);
        self.base().vertices(&rest, properties, meter, &mut show)
    }

    fn scan(
        &self,
        ask: &ScanAsk<'_>,
        from: Option<&ScanPosition>,
        demand: usize,
        meter: &Meter,
        visit: &mut dyn FnMut(&ScannedElement<'_>) -> Flow,
    ) -> Result<Option<ScanPosition>, ViewError> {
        let state = self.state.read();
        if state.order.is_empty() && from.is_none_or(|place| place.bytes()[0] == IN_VIEW) {
            // Later changes do not belong to this scan.
            let from = from.map(Inner::of).transpose()?;
            let inner = from.as_ref().map(|inner| &inner.place);
            drop(state);
            let next = self.base().scan(ask, inner, demand, meter, visit)?;
            let changes = from.as_ref().map_or(0, |inner| inner.changes);
            return Ok(next.map(|next| Inner::place(changes, &next)));
        }
        if ask.order.is_some() {
            return Err(ViewError::NoIndex(
                "No index has the order of what a transaction has changed".to_owned(),
            ));
        }
        let scan = Scan {
            transaction: self,
            state: &state,
            ask,
            meter,
        };
        let (changes, inner) = match from {
            None => (state.changes, None),
            Some(place) if place.bytes()[0] == IN_VIEW => {
                let inner = Inner::of(place)?;
                (inner.changes, Some(inner.place))
            }
            Some(place) => return scan.own(place, demand, visit),
        };
        let next = scan.view(inner.as_ref(), demand, visit)?;
        Ok(Some(match next {
            Some(next) => Inner::place(changes, &next),
            None => own_place(changes, 0),
        }))
    }

    fn estimate(
        &self,
        ask: &ScanAsk<'_>,
        most: u64,
        meter: &Meter,
    ) -> Result<Option<u64>, ViewError> {
        let changed = self.state.read().order.len() as u64;
        if changed > 0 && ask.order.is_some() {
            return Ok(None);
        }
        let stored = match self.base().estimate(ask, most, meter)? {
            None if changed > 0 => self.base().estimate(&unconditional(ask), most, meter)?,
            stored => stored,
        };
        Ok(stored.map(|stored| stored.saturating_add(changed).min(most)))
    }

    fn edges(
        &self,
        ids: &[EdgeId],
        properties: &[PropertyKeyId],
        meter: &Meter,
        found: &mut dyn FnMut(usize, EdgeFound<'_>),
    ) -> Result<(), ViewError> {
        let state = self.state.read();
        let mut rest = Vec::with_capacity(ids.len());
        let mut places = Vec::with_capacity(ids.len());
        for (at, id) in ids.iter().enumerate() {
            match state.edges.get(id) {
                None => {
                    rest.push(id.clone());
                    places.push(at);
                }
                Some(changed) => {
                    meter.row()?;
                    if let Some(edge) = &changed.now {
                        let properties = &picked(&edge.properties, properties);
                        let (source_label, target_label) = (edge.source_label, edge.target_label);
                        found(
                            at,
                            EdgeFound {
                                source_label,
                                target_label,
                                properties,
                            },
                        );
                    }
                }
            }
        }
        drop(state);
        let mut show = |at: usize, edge: EdgeFound<'_>| found(places[at], edge);
        self.base().edges(&rest, properties, meter, &mut show)
    }

    fn edges_given(
        &self,
        id: &VertexId,
        meter: &Meter,
        found: &mut dyn FnMut(EdgeId),
    ) -> Result<(), ViewError> {
        let own = self.state.read().given.get(id).cloned();
        let mut own = own.unwrap_or_default();
        own.retain(|edge| {
            let label = self.edge_label(edge.label);
            label.is_some_and(EdgeLabel::has_hidden_sort)
        });
        let mut stored = |edge: EdgeId| {
            if !own.contains(&edge) {
                found(edge);
            }
        };
        self.base().edges_given(id, meter, &mut stored)?;
        own.into_iter().for_each(found);
        Ok(())
    }

    /// Reads the view only: the transaction's changes are not part of the past yet.
    fn valid_at(&self) -> Option<Instant> {
        self.base().valid_at()
    }

    fn at_valid(&self, at: Instant) -> Result<Box<dyn GraphView>, ViewError> {
        if self.is_changed() {
            let message = "Uncommitted changes are not visible at another valid time: commit before \
                           a read FOR VALID_TIME AS OF";
            return Err(ViewError::failed(ErrorKind::InvalidArgument, message));
        }
        self.base().at_valid(at)
    }

    fn has_uncommitted(&self, element: &ElementId) -> bool {
        let state = self.state.read();
        match element {
            ElementId::Vertex(id) => state.vertices.get(id).is_some_and(|own| own.last > 0),
            ElementId::Edge(id) => state.edges.get(id).is_some_and(|own| own.last > 0),
        }
    }

    fn versions(
        &self,
        id: &ElementId,
        meter: &Meter,
        visit: &mut dyn FnMut(PastVersion) -> Flow,
    ) -> Result<(), ViewError> {
        self.base().versions(id, meter, visit)
    }

    fn element_at(
        &self,
        id: &ElementId,
        at: TemporalScope,
        meter: &Meter,
    ) -> Result<Option<Element>, ViewError> {
        self.base().element_at(id, at, meter)
    }

    fn satisfies(&self, conditions: &[Condition], properties: &Properties) -> bool {
        self.base().satisfies(conditions, properties)
    }
}

/// The same request without its conditions.
const fn unconditional<'a>(ask: &ScanAsk<'a>) -> ScanAsk<'a> {
    ScanAsk {
        conditions: &[],
        ..*ask
    }
}

/// The wanted properties; `wanted` is sorted.
pub(super) fn picked(properties: &Properties, wanted: &[PropertyKeyId]) -> Properties {
    let each = properties.iter();
    each.filter(|(key, _)| wanted.binary_search(key).is_ok())
        .map(|(key, value)| (key, value.clone()))
        .collect()
}

/// A position in the view, and the number of changes when the scan began.
struct Inner {
    changes: u64,
    place: ScanPosition,
}

impl Inner {
    fn of(place: &ScanPosition) -> Result<Self, ViewError> {
        let (changes, rest) = split(place)?;
        let place = ScanPosition::new(rest.to_vec());
        Ok(Self { changes, place })
    }

    fn place(changes: u64, inner: &ScanPosition) -> ScanPosition {
        let mut bytes = vec![IN_VIEW];
        bytes.extend_from_slice(&changes.to_be_bytes());
        bytes.extend_from_slice(inner.bytes());
        ScanPosition::new(bytes)
    }
}

/// A position among the changed elements, by their order.
fn own_place(changes: u64, next: u64) -> ScanPosition {
    let mut bytes = vec![IN_CHANGES];
    bytes.extend_from_slice(&changes.to_be_bytes());
    bytes.extend_from_slice(&next.to_be_bytes());
    ScanPosition::new(bytes)
}

fn split(place: &ScanPosition) -> Result<(u64, &[u8]), ViewError> {
    let broken = || {
        ViewError::failed(
            crate::ErrorKind::InvalidArgument,
            "The place of a scan is broken",
        )
    };
    let rest = place.bytes().get(1..).ok_or_else(broken)?;
    let (changes, rest) = rest.split_first_chunk::<8>().ok_or_else(broken)?;
    Ok((u64::from_be_bytes(*changes), rest))
}

/// A scan of a transaction with changes.
struct Scan<'s> {
    transaction: &'s OptimisticTransaction,
    state: &'s TransactionState,
    ask: &'s ScanAsk<'s>,
    meter: &'s Meter,
}

impl Scan<'_> {
    /// Visits the elements of the view, with their changes. If no index of the view serves the
    /// conditions, scans without them and checks them here. The scan must not fail for lack of an
    /// index, since the transaction's own changes can be searched without one.
    fn view(
        &self,
        from: Option<&ScanPosition>,
        demand: usize,
        visit: &mut dyn FnMut(&ScannedElement<'_>) -> Flow,
    ) -> Result<Option<ScanPosition>, ViewError> {
        match self.view_by(self.ask, from, demand, visit) {
            Err(ViewError::NoIndex(_)) if !self.ask.conditions.is_empty() => {
                let needed = self.ask.conditions.iter().map(|condition| condition.key);
                let mut properties: Vec<PropertyKeyId> =
                    needed.chain(self.ask.properties.iter().copied()).collect();
                properties.sort_unstable();
                properties.dedup();
                let ask = ScanAsk {
                    properties: &properties,
                    ..unconditional(self.ask)
                };
                self.view_by(&ask, from, demand, visit)
            }
            shown => shown,
        }
    }

    fn view_by(
        &self,
        ask: &ScanAsk<'_>,
        from: Option<&ScanPosition>,
        demand: usize,
        visit: &mut dyn FnMut(&ScannedElement<'_>) -> Flow,
    ) -> Result<Option<ScanPosition>, ViewError> {
        let base = self.transaction.base();
        let is_filtered = ask.conditions.is_empty() && !self.ask.conditions.is_empty();
        let failed = RefCell::new(None);
        let mut show = |found: &ScannedElement<'_>| {
            let shown = match found {
                ScannedElement::Vertex { key, .. } => base.vertex_id(key).map(|id| {
                    let changed = self.state.vertices.get(&id)?;
                    let was = changed.base.as_ref();
                    let leads = !is_filtered || was.is_some_and(|was| self.asks_vertex(was));
                    let now = changed.now.as_ref().filter(|_| leads);
                    Some(now.map(|now| self.vertex(now, visit)))
                }),
                ScannedElement::Edge(edge) => base.edge_id(edge.source, edge.edge).map(|id| {
                    let changed = self.state.edges.get(&id)?;
                    let was = changed.base.as_ref();
                    let leads = !is_filtered || was.is_some_and(|was| self.asks_edge(was));
                    let now = changed.now.as_ref().filter(|_| leads);
                    Some(now.map(|now| self.edge(now, visit)))
                }),
            };
            match shown {
                // The element was not changed.
                Ok(None) if is_filtered => self.filtered(found, visit),
                Ok(None) => visit(found),
                // It was removed, or [`Scan::own`] visits it.
                Ok(Some(None)) => Flow::Continue(()),
                Ok(Some(Some(flow))) => flow,
                Err(error) => {
                    *failed.borrow_mut() = Some(error);
                    Flow::Break(())
                }
            }
        };
        let next = base.scan(ask, from, demand, self.meter, &mut show)?;
        failed.into_inner().map_or(Ok(next), Err)
    }

    /// Visits an element of the view, if its properties satisfy the conditions.
    fn filtered(
        &self,
        found: &ScannedElement<'_>,
        visit: &mut dyn FnMut(&ScannedElement<'_>) -> Flow,
    ) -> Flow {
        let all = match found {
            ScannedElement::Vertex { vertex, .. } => vertex.properties,
            ScannedElement::Edge(edge) => edge.properties,
        };
        if !self.transaction.satisfies(self.ask.conditions, all) {
            return Flow::Continue(());
        }
        let properties = &picked(all, self.ask.properties);
        visit(&match found {
            ScannedElement::Vertex { key, vertex } => ScannedElement::Vertex {
                key,
                vertex: VertexFound {
                    properties,
                    ..*vertex
                },
            },
            ScannedElement::Edge(edge) => ScannedElement::Edge(ScannedEdge {
                properties,
                ..*edge
            }),
        })
    }

    /// Visits the changed elements that the scan of the view does not visit.
    fn own(
        &self,
        place: &ScanPosition,
        demand: usize,
        visit: &mut dyn FnMut(&ScannedElement<'_>) -> Flow,
    ) -> Result<Option<ScanPosition>, ViewError> {
        let (changes, next) = split(place)?;
        let next = next
            .first_chunk::<8>()
            .map_or(0, |next| u64::from_be_bytes(*next));
        let start = usize::try_from(next).unwrap_or(usize::MAX);
        let most = demand.max(1);
        let places = self.state.index.candidates(self.ask, start, most);
        for (looked, at) in places.iter().enumerate() {
            if looked % CHECK_EVERY == 0 {
                self.meter.check()?;
            }
            let flow = match &self.state.order[*at] {
                ElementId::Vertex(id) => match self.own_vertex(id, changes) {
                    Some(vertex) => {
                        self.meter.row()?;
                        self.vertex(vertex, visit)
                    }
                    None => continue,
                },
                ElementId::Edge(id) => match self.own_edge(id, changes) {
                    Some(edge) => {
                        self.meter.row()?;
                        self.edge(edge, visit)
                    }
                    None => continue,
                },
            };
            if flow.is_break() {
                return Ok(Some(own_place(changes, *at as u64 + 1)));
            }
        }
        let last = places.last().filter(|_| places.len() == most);
        Ok(last.map(|last| own_place(changes, *last as u64 + 1)))
    }

    /// A changed vertex that matches the scan, if the scan of the view does not visit it and its
    /// first change is older than the scan. `changes`: the number of changes when the scan began.
    fn own_vertex(&self, id: &VertexId, changes: u64) -> Option<&Vertex> {
        let changed = self.state.vertices.get(id)?;
        let now = changed.now.as_ref().filter(|now| self.asks_vertex(now))?;
        let was = changed
            .base
            .as_ref()
            .is_some_and(|base| self.asks_vertex(base));
        (!was && changed.first <= changes).then_some(now)
    }

    /// [`Scan::own_vertex`], for an edge.
    fn own_edge(&self, id: &EdgeId, changes: u64) -> Option<&Edge> {
        let changed = self.state.edges.get(id)?;
        let now = changed.now.as_ref().filter(|now| self.asks_edge(now))?;
        let was = changed
            .base
            .as_ref()
            .is_some_and(|base| self.asks_edge(base));
        (!was && changed.first <= changes).then_some(now)
    }

    fn asks_vertex(&self, vertex: &Vertex) -> bool {
        let Elements::Vertices(labels) = self.ask.elements else {
            return false;
        };
        (labels.is_empty() || labels.contains(&vertex.label))
            && self
                .transaction
                .satisfies(self.ask.conditions, &vertex.properties)
    }

    fn asks_edge(&self, edge: &Edge) -> bool {
        let Elements::Edges(labels) = self.ask.elements else {
            return false;
        };
        let is_asked = |label: &EdgeLabelId| {
            let known = self.transaction.edge_label(*label);
            let is_parent = known.is_some_and(|known| known.label_type == EdgeLabelType::Parent);
            *label == edge.id.label || is_parent && *label == edge.id.parent
        };
        (labels.is_empty() || labels.iter().any(is_asked))
            && self
                .transaction
                .satisfies(self.ask.conditions, &edge.properties)
    }

    /// Visits a vertex, if it matches the scan.
    fn vertex(&self, vertex: &Vertex, visit: &mut dyn FnMut(&ScannedElement<'_>) -> Flow) -> Flow {
        if !self.asks_vertex(vertex) {
            return Flow::Continue(());
        }
        let properties = &picked(&vertex.properties, self.ask.properties);
        let label = vertex.label;
        visit(&ScannedElement::Vertex {
            key: &key::vertex_id(&vertex.id),
            vertex: VertexFound { label, properties },
        })
    }

    /// Visits an edge, if it matches the scan.
    fn edge(&self, edge: &Edge, visit: &mut dyn FnMut(&ScannedElement<'_>) -> Flow) -> Flow {
        if !self.asks_edge(edge) {
            return Flow::Continue(());
        }
        visit(&ScannedElement::Edge(ScannedEdge {
            source: &key::vertex_id(&edge.id.source),
            target: &key::vertex_id(&edge.id.target),
            edge: &key::edge_clustering(&edge.id, Direction::Out),
            label: edge.id.label,
            source_label: edge.source_label,
            target_label: edge.target_label,
            properties: &picked(&edge.properties, self.ask.properties),
        }))
    }
}
