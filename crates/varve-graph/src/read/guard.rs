//! The view of a client with an access policy: the graph without the elements that the policy does
//! not cover ([`Sight`] has the rule).

use std::sync::Arc;

use parking_lot::Mutex;
use varve_encoding::row::edge_parts;
use varve_encoding::tables::{EDGE, VERTEX};
use varve_encoding::{DecodeError, key};
use varve_kv::{ClusteringRange, Flow, TableId};
use varve_model::{Direction, Element, ElementId, Instant, TemporalScope, VertexLabelId};
use varve_view::AccessPolicy;

use super::adjacency::Adjacent;
use super::many::RowPlace;
use super::sight::Sight;
use super::view::{View, read_element};
use crate::error::{ErrorKind, GraphError};
use crate::hash::IdMap;
use crate::rows::content_of;

/// The most ends of edges whose visibility is cached.
const KNOWN_MAX: usize = 1 << 16;
/// Elements that are checked together.
const BATCH: usize = 256;
/// Edges that are checked together, at first: most walks are short.
const EDGES_MIN: usize = 16;

/// A policy, and its cached results at one point of both times.
pub(crate) struct Guard {
    policy: Arc<AccessPolicy>,
    /// Whether vertices are visible, by their keys.
    known: Mutex<IdMap<Vec<u8>, bool>>,
}

impl Guard {
    fn new(policy: Arc<AccessPolicy>) -> Arc<Self> {
        let known = Mutex::default();
        Arc::new(Self { policy, known })
    }

    /// The same policy at another point.
    pub(super) fn elsewhere(&self) -> Arc<Self> {
        Self::new(Arc::clone(&self.policy))
    }
}

impl GraphError {
    /// The error for an operation on an element that the policy does not permit.
    pub(crate) fn denied(permission: &str, graph: &str, id: &ElementId) -> Self {
        Self::denied_of(permission, graph, id, &id.to_string())
    }

    /// As [`GraphError::denied`], without the id, for an element that the client may not know of.
    pub(crate) fn denied_unnamed(permission: &str, graph: &str, id: &ElementId) -> Self {
        Self::denied_of(permission, graph, id, "*")
    }

    fn denied_of(permission: &str, graph: &str, id: &ElementId, operated: &str) -> Self {
        let kind = match id {
            ElementId::Vertex(_) => "VERTEX",
            ElementId::Edge(_) => "EDGE",
        };
        Self::new(
            ErrorKind::Denied,
            format!(
                "Permission denied: {permission} Resource{{graph={graph},type={kind},operated={operated}}}"
            ),
        )
    }
}

impl View {
    /// Restricts the view to the elements that a policy permits to read; `None` = all elements.
    #[must_use]
    pub fn guarded_by(mut self, policy: Option<&Arc<AccessPolicy>>) -> Self {
        self.guard = policy.map(|policy| Guard::new(Arc::clone(policy)));
        self
    }

    /// The policy of this view.
    pub(crate) fn access(&self) -> Option<&Arc<AccessPolicy>> {
        self.guard.as_ref().map(|guard| &guard.policy)
    }

    /// Whether an element of a table with these keys and this content is visible.
    pub(super) fn shows(
        &self,
        guard: &Guard,
        table: TableId,
        (partition, clustering): (&[u8], &[u8]),
        content: &[u8],
    ) -> Result<bool, GraphError> {
        match table {
            VERTEX => self.shows_vertex(guard, partition, content),
            _ => self.shows_edge(guard, (partition, clustering), content),
        }
    }

    fn sight<'a>(&'a self, guard: &'a Guard) -> Sight<'a> {
        Sight {
            reader: self.reader(),
            policy: &guard.policy.read,
            is_now: self.scope().is_now(),
            now: self.point().now,
        }
    }

    fn shows_vertex(
        &self,
        guard: &Guard,
        partition: &[u8],
        content: &[u8],
    ) -> Result<bool, GraphError> {
        self.sight(guard).vertex(partition, content)
    }

    fn shows_edge(
        &self,
        guard: &Guard,
        keys: (&[u8], &[u8]),
        content: &[u8],
    ) -> Result<bool, GraphError> {
        let sight = self.sight(guard);
        sight.edge(keys, content, &mut |end, label| {
            self.shows_end(guard, end, label)
        })
    }

    /// Whether an end of an edge is visible; `label` is the end's label as stored in the edge.
    fn shows_end(
        &self,
        guard: &Guard,
        vertex: &[u8],
        label: VertexLabelId,
    ) -> Result<bool, GraphError> {
        if let Some(shown) = self.sight(guard).end_by_label(label) {
            return Ok(shown);
        }
        if let Some(known) = guard.known.lock().get(vertex) {
            return Ok(*known);
        }
        let mut content = None;
        let (point, clustering) = (self.point(), key::VERTEX_CLUSTERING);
        let found = &mut |row: &[u8]| content = Some(row.to_vec());
        read_element(self.reader(), VERTEX, vertex, clustering, point, found)?;
        let shown = match content {
            Some(content) => self.shows_vertex(guard, vertex, &content)?,
            None => false,
        };
        self.remember(guard, vertex, shown);
        Ok(shown)
    }

    fn remember(&self, guard: &Guard, vertex: &[u8], shown: bool) {
        let mut known = guard.known.lock();
        if known.len() >= KNOWN_MAX {
            known.clear();
        }
        known.insert(vertex.to_vec(), shown);
    }

    /// Checks the ends of edges in one batch, if the policy has conditions on vertices.
    pub(super) fn look_at_ends<'e>(
        &self,
        guard: &Guard,
        edges: impl Iterator<Item = (&'e [u8], &'e [u8], &'e [u8])>,
    ) -> Result<(), GraphError> {
        let sight = self.sight(guard);
        if !sight.policy.has_vertex_conditions() {
            return Ok(());
        }
        let mut ends: Vec<&[u8]> = Vec::new();
        for (partition, clustering, content) in edges {
            let damaged = || DecodeError::new("an edge key", clustering, 0);
            let (direction, _, other) = key::edge_parts(clustering).ok_or_else(damaged)?;
            let (source_label, target_label, _) = edge_parts(content)?;
            let (source, target) = match direction {
                Direction::Out => (partition, other),
                Direction::In => (other, partition),
            };
            for (end, label) in [(source, source_label), (target, target_label)] {
                if sight.end_by_label(label).is_none() {
                    ends.push(end);
                }
            }
        }
        ends.sort_unstable();
        ends.dedup();
        {
            let known = guard.known.lock();
            ends.retain(|end| !known.contains_key(*end));
        }
        let places = ends.iter().map(|end| (*end, key::VERTEX_CLUSTERING));
        let places: Vec<RowPlace<'_>> = places.collect();
        let mut contents = vec![None; places.len()];
        self.stored_elements(VERTEX, &places, &mut |at, content| {
            contents[at] = Some(content.to_vec());
        })?;
        for (end, content) in ends.iter().zip(contents) {
            let shown = match content {
                Some(content) => self.shows_vertex(guard, end, &content)?,
                None => false,
            };
            self.remember(guard, end, shown);
        }
        Ok(())
    }

    /// [`View::elements`] of a view with a policy.
    pub(super) fn shown_elements(
        &self,
        guard: &Guard,
        table: TableId,
        places: &[RowPlace<'_>],
        found: &mut dyn FnMut(usize, &[u8]),
    ) -> Result<(), GraphError> {
        for (number, places) in places.chunks(BATCH).enumerate() {
            let mut contents = Vec::with_capacity(places.len());
            self.stored_elements(table, places, &mut |at, content| {
                contents.push((at, content.to_vec()));
            })?;
            if table == EDGE {
                let edges = contents.iter().map(|(at, content)| {
                    let (partition, clustering) = places[*at];
                    (partition, clustering, &**content)
                });
                self.look_at_ends(guard, edges)?;
            }
            for (at, content) in &contents {
                if self.shows(guard, table, places[*at], content)? {
                    found(number * BATCH + at, content);
                }
            }
        }
        Ok(())
    }

    /// [`View::adjacent_in`] of a view with a policy.
    pub(super) fn shown_adjacent(
        &self,
        guard: &Guard,
        (partition, range): (&[u8], &ClusteringRange),
        looked: &mut dyn FnMut() -> Flow,
        visit: &mut dyn FnMut(Adjacent<'_>) -> Flow,
    ) -> Result<(), GraphError> {
        let policy = &guard.policy.read;
        let is_now = self.scope().is_now();
        if !policy.has_vertex_conditions() && (is_now || !policy.has_edge_conditions()) {
            // Nothing has to be read, so batches would gain nothing.
            let mut failed = None;
            self.stored_adjacent(partition, range, looked, &mut |edge| {
                let keys = (partition, edge.clustering);
                match self.shows(guard, EDGE, keys, edge.content) {
                    Ok(true) => visit(edge),
                    Ok(false) => Flow::Continue(()),
                    Err(error) => {
                        failed = Some(error);
                        Flow::Break(())
                    }
                }
            })?;
            return failed.map_or(Ok(()), Err);
        }
        let mut range = range.clone();
        let mut most = EDGES_MIN;
        while !range.is_empty() {
            let mut edges: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
            let mut is_ended = false;
            let mut look = || {
                let flow = looked();
                is_ended = flow.is_break();
                flow
            };
            self.stored_adjacent(partition, &range, &mut look, &mut |edge| {
                edges.push((edge.clustering.to_vec(), edge.content.to_vec()));
                match edges.len() < most {
                    true => Flow::Continue(()),
                    false => Flow::Break(()),
                }
            })?;
            let each = edges.iter();
            let each = each.map(|(clustering, content)| (partition, &**clustering, &**content));
            self.look_at_ends(guard, each)?;
            for (clustering, content) in &edges {
                let shown = self.shows(guard, EDGE, (partition, clustering), content)?;
                let edge = Adjacent {
                    clustering,
                    content,
                };
                if shown && visit(edge).is_break() {
                    return Ok(());
                }
            }
            match edges.last() {
                Some((last, _)) if !is_ended && edges.len() == most => {
                    range.from = [last.as_slice(), &[0xFF; key::EVENT_SUFFIX], &[0]].concat();
                }
                _ => return Ok(()),
            }
            most = (most * 2).min(BATCH);
        }
        Ok(())
    }

    /// Whether a state is visible at `begins`, the point at which it begins, or, if it decides at
    /// this view's point, at that point: when an edge began, its ends may have been hidden.
    pub(super) fn shows_state_at(
        &self,
        element: &Element,
        begins: TemporalScope,
        decides: bool,
    ) -> Result<bool, GraphError> {
        Ok(self.shows_state(element, begins)?
            || (decides && self.shows_state(element, TemporalScope::NOW)?))
    }

    /// Whether a state of an element at a point of both times is visible.
    fn shows_state(&self, element: &Element, at: TemporalScope) -> Result<bool, GraphError> {
        let then = self.moved_to(at);
        let Some(guard) = &then.guard else {
            return Ok(true);
        };
        let (table, id) = match element {
            Element::Vertex(vertex) => (VERTEX, ElementId::Vertex(vertex.id.clone())),
            Element::Edge(edge) => (EDGE, ElementId::Edge(edge.id.clone())),
        };
        let (partition, clustering) = key::current(&id);
        then.shows(
            guard,
            table,
            (&partition, &clustering),
            &content_of(element),
        )
    }

    /// Returns the instant at which the ends of an edge are checked for a version with this period:
    /// the view's instant if it is in the period, else the start of the period.
    pub(super) fn instant_in(&self, from: Instant, to: Instant) -> Instant {
        let asked = self.scope().valid;
        asked.filter(|at| *at >= from && *at < to).unwrap_or(from)
    }
}
