//! The edges that a transaction has changed, by their end vertices.

use std::collections::{BTreeMap, btree_map};

use varve_encoding::key;
use varve_kv::ClusteringRange;
use varve_model::{Direction, EdgeId};
use varve_view::{Expand, Flow, GraphView as _, Meter, Neighbour, ViewError};

use super::TransactionState;
use super::overlay::picked;
use crate::read::View;

/// The changed edges of one vertex, by their clustering keys there: in the order in which a view
/// visits edges.
pub(super) type EdgesByKey = BTreeMap<Vec<u8>, EdgeId>;

/// A walk over the neighbours of many vertices, which merges the changed edges into those of the
/// view.
pub(super) struct Walk<'w> {
    state: &'w TransactionState,
    from: &'w [&'w [u8]],
    ask: &'w Expand<'w>,
    /// The ranges of keys that are requested.
    ranges: &'w [ClusteringRange],
    /// The position in `from` of the vertex that the walk has reached.
    at: usize,
    /// The changed edges of that vertex that were not visited yet.
    own: Option<Own<'w>>,
    /// Whether the visitor has stopped the walk at that vertex.
    pub(super) ended: bool,
}

/// The changed edges of one vertex in the requested ranges, ascending.
struct Own<'w> {
    edges: &'w EdgesByKey,
    ranges: std::slice::Iter<'w, ClusteringRange>,
    range: btree_map::Range<'w, Vec<u8>, EdgeId>,
    next: Option<(&'w [u8], &'w EdgeId)>,
}

impl<'w> Own<'w> {
    fn new(edges: &'w EdgesByKey, ranges: &'w [ClusteringRange]) -> Self {
        let mut own = Self {
            edges,
            ranges: ranges.iter(),
            range: btree_map::Range::default(),
            next: None,
        };
        own.advance();
        own
    }

    fn advance(&mut self) {
        self.next = loop {
            if let Some((key, id)) = self.range.next() {
                break Some((key, id));
            }
            let Some(ClusteringRange { from, to }) = self.ranges.next() else {
                break None;
            };
            self.range = match to {
                Some(to) => self.edges.range::<Vec<u8>, _>(from..to),
                None => self.edges.range::<Vec<u8>, _>(from..),
            };
        };
    }
}

impl<'w> Walk<'w> {
    pub(super) fn new(
        state: &'w TransactionState,
        from: &'w [&'w [u8]],
        ask: &'w Expand<'w>,
        ranges: &'w [ClusteringRange],
    ) -> Self {
        let mut walk = Self {
            state,
            from,
            ask,
            ranges,
            at: 0,
            own: None,
            ended: false,
        };
        walk.load();
        walk
    }

    /// Whether an edge that the view has at a vertex was loaded or changed.
    pub(super) fn is_changed(
        &self,
        view: &View,
        at: usize,
        seen: &Neighbour<'_>,
    ) -> Result<bool, ViewError> {
        if !self.state.adjacent.contains_key(self.from[at]) {
            return Ok(false);
        }
        let id = view.edge_id(self.from[at], seen.edge)?;
        Ok(self.state.edges.contains_key(&id))
    }

    /// Visits the changed edges of the vertices before `at`, then those of `at` with keys before
    /// `key`; without a key none of `at`.
    pub(super) fn own_until(
        &mut self,
        at: usize,
        key: Option<&[u8]>,
        meter: &Meter,
        visit: &mut dyn FnMut(usize, &Neighbour<'_>) -> Flow,
    ) -> Result<(), ViewError> {
        while self.at < at {
            self.show(None, meter, visit)?;
            self.at += 1;
            self.load();
        }
        match key {
            Some(key) => self.show(Some(key), meter, visit),
            None => Ok(()),
        }
    }

    /// Loads the changed edges of the vertex that the walk has reached.
    fn load(&mut self) {
        let from = self.from.get(self.at);
        let edges = from.and_then(|from| self.state.adjacent.get(*from));
        self.own = edges.map(|edges| Own::new(edges, self.ranges));
        self.ended = false;
    }

    /// Visits the changed edges of that vertex with keys before `before`; without it, all.
    fn show(
        &mut self,
        before: Option<&[u8]>,
        meter: &Meter,
        visit: &mut dyn FnMut(usize, &Neighbour<'_>) -> Flow,
    ) -> Result<(), ViewError> {
        while let Some(own) = &mut self.own {
            let Some((clustering, id)) = own.next else {
                break;
            };
            if before.is_some_and(|before| clustering >= before) {
                break;
            }
            own.advance();
            let changed = self.state.edges.get(id);
            let Some(edge) = changed.and_then(|changed| changed.now.as_ref()) else {
                continue;
            };
            meter.row()?;
            let is_out = clustering.starts_with(&key::direction_prefix(Direction::Out));
            let (direction, other, other_label) = match is_out {
                true => (Direction::Out, &id.target, edge.target_label),
                false => (Direction::In, &id.source, edge.source_label),
            };
            let neighbour = Neighbour {
                direction,
                label: id.label,
                edge: clustering,
                other: &key::vertex_id(other),
                other_label,
                properties: &picked(&edge.properties, self.ask.properties),
            };
            if visit(self.at, &neighbour).is_break() {
                self.end();
            }
        }
        Ok(())
    }

    /// Stops visiting the edges of that vertex.
    pub(super) fn end(&mut self) {
        self.own = None;
        self.ended = true;
    }
}
