//! The edges that a transaction has changed, at the vertices that they join.

use std::collections::{BTreeMap, btree_map};

use varve_encoding::key;
use varve_kv::ClusteringRange;
use varve_model::{Direction, EdgeId};
use varve_view::{Expand, Flow, GraphView as _, Meter, Neighbour, ViewError};

use super::TransactionState;
use super::overlay::picked;
use crate::read::View;

/// The changed edges of one vertex, by their keys at it: in the order in which a view shows edges.
pub(super) type EdgesByKey = BTreeMap<Vec<u8>, EdgeId>;

/// A visit of the neighbours of many vertices, which puts the changed edges in their places.
pub(super) struct Walk<'w> {
    state: &'w TransactionState,
    from: &'w [&'w [u8]],
    ask: &'w Expand<'w>,
    /// The keys that are asked for.
    ranges: &'w [ClusteringRange],
    /// The vertex that the visit has come to.
    at: usize,
    /// Its changed edges that were not shown yet.
    own: Option<Own<'w>>,
    /// Whether the visitor wants no more of its edges.
    pub(super) ended: bool,
}

/// The changed edges of one vertex whose keys are asked for, ascending.
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

    /// Whether an edge that the view shows at a vertex was changed.
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

    /// Shows the changed edges that come before an edge of the vertex `at`; before all of its edges
    /// where there is no key.
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

    /// Begins with the changed edges of the vertex that the visit has come to.
    fn load(&mut self) {
        let from = self.from.get(self.at);
        let edges = from.and_then(|from| self.state.adjacent.get(*from));
        self.own = edges.map(|edges| Own::new(edges, self.ranges));
        self.ended = false;
    }

    /// Shows the changed edges that come before a key.
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

    /// Shows no more edges of the vertex that the visit has come to.
    pub(super) fn end(&mut self) {
        self.own = None;
        self.ended = true;
    }
}
