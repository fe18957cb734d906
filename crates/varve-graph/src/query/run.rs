//! Walking the legs of a plan: fetching candidates, checking them, handing them out.

use varve_encoding::key;
use varve_encoding::row::{edge_parts, vertex_parts};
use varve_encoding::{DecodeError, index};
use varve_kv::{ClusteringRange, Flow};
use varve_model::{EdgeId, ElementId, PropertyKeyId, VertexId};

use super::delivery::{Delivery, FETCH_MAX};
use super::filter::{Filter, pick};
use super::merge::Merge;
use super::plan::{ElementLabel, Entries, Leg, Source};
use super::resolver::Resolver;
use crate::GraphError;

/// Receives vertices: id and content.
pub type VertexVisitor<'a> = dyn FnMut(&VertexId, &[u8]) -> Flow + 'a;
/// Receives edges: id and content.
pub type EdgeVisitor<'a> = dyn FnMut(&EdgeId, &[u8]) -> Flow + 'a;

/// Takes the element at a position of what was asked for.
pub(super) type TakeElement<'a> =
    dyn FnMut(&mut Run<'_>, usize, &[u8]) -> Result<Flow, GraphError> + 'a;

/// What all legs of one query share.
pub(super) struct Run<'a> {
    pub(super) resolver: &'a dyn Resolver,
    pub(super) filter: Filter,
    pub(super) delivery: Delivery,
    /// Rows of a full scan since the last pause.
    pub(super) walked: usize,
}

/// Rows of a full scan between two pauses.
const PAUSE_EVERY: usize = 1024;

/// Whom elements are handed to.
pub(super) enum Receiver<'a, 'b> {
    Vertices(&'a mut VertexVisitor<'b>),
    Edges(&'a mut EdgeVisitor<'b>),
}

impl Run<'_> {
    /// Counts a row of a full scan, and pauses now and then.
    pub(super) fn step(&mut self) -> Result<(), GraphError> {
        self.walked += 1;
        match self.walked.is_multiple_of(PAUSE_EVERY) {
            true => self.resolver.pause(),
            false => Ok(()),
        }
    }

    /// Walks `legs` from `leg` on, that one from `position` on.
    pub(super) fn walk(
        &mut self,
        legs: &[Leg],
        first: usize,
        position: &[u8],
        receiver: &mut Receiver<'_, '_>,
    ) -> Result<(), GraphError> {
        let mut position = position.to_vec();
        for (at, leg) in legs.iter().enumerate().skip(first) {
            self.delivery
                .begin(u32::try_from(at).unwrap_or(u32::MAX), &position);
            if self.leg(leg, &position, receiver)?.is_break() {
                break;
            }
            position.clear();
        }
        Ok(())
    }

    fn leg(
        &mut self,
        leg: &Leg,
        after: &[u8],
        receiver: &mut Receiver<'_, '_>,
    ) -> Result<Flow, GraphError> {
        match (&leg.source, receiver) {
            (Source::Vertices(ids), Receiver::Vertices(visit)) => {
                self.listed(leg, ids, after, visit)
            }
            (Source::Entries(entries), receiver) => self.entries(leg, entries, after, receiver),
            (Source::EdgesOfLabel { parent, label }, Receiver::Edges(visit)) => {
                let prefix =
                    key::edge_label_prefix(varve_model::Direction::Out, *parent, Some(*label));
                let sources = index::partition(index::IndexId::EdgeLabel(*label), 0, &[]);
                self.by_source(
                    leg,
                    &[sources],
                    &ClusteringRange::prefix(&prefix),
                    after,
                    visit,
                )
            }
            (Source::Adjacent { owner, range }, Receiver::Edges(visit)) => {
                self.adjacent(leg, owner, range, after, &[], visit)
            }
            (Source::AllVertices, Receiver::Vertices(visit)) => {
                self.all_vertices(leg, after, visit)
            }
            (Source::AllEdges, Receiver::Edges(visit)) => self.all_edges(leg, after, visit),
            // The planner makes no other pairs.
            _ => Ok(Flow::Continue(())),
        }
    }

    /// Vertices by id; the position counts them.
    fn listed(
        &mut self,
        leg: &Leg,
        ids: &[VertexId],
        after: &[u8],
        visit: &mut VertexVisitor<'_>,
    ) -> Result<Flow, GraphError> {
        let mut done = after
            .first_chunk::<4>()
            .map_or(0, |at| u32::from_be_bytes(*at) as usize)
            .min(ids.len());
        while done < ids.len() {
            let batch = &ids[done..ids.len().min(done + FETCH_MAX as usize)];
            let flow = self.vertices(batch, &mut |run, at, content| {
                let matches = run.vertex_matches(leg, content)?;
                let position = u32::try_from(done + at + 1)
                    .unwrap_or(u32::MAX)
                    .to_be_bytes();
                Ok(run
                    .delivery
                    .offer(&position, matches, &mut || visit(&batch[at], content)))
            })?;
            if flow.is_break() {
                return Ok(flow);
            }
            done += batch.len();
        }
        Ok(Flow::Continue(()))
    }

    /// Elements by the entries of an index; the position is an entry's clustering key.
    fn entries(
        &mut self,
        leg: &Leg,
        entries: &Entries,
        after: &[u8],
        receiver: &mut Receiver<'_, '_>,
    ) -> Result<Flow, GraphError> {
        let after = (!after.is_empty()).then_some(after);
        let reader = self.resolver.reader();
        let mut merge = Merge::new(
            reader,
            self.resolver.scope(),
            &entries.partitions,
            &entries.range,
            after,
            false,
        );
        let mut keys = Vec::new();
        let mut count = self.delivery.fetch();
        loop {
            keys.clear();
            merge.next(usize::try_from(count).unwrap_or(1), &mut keys)?;
            if keys.is_empty() {
                return Ok(Flow::Continue(()));
            }
            let before = self.delivery.examined();
            if self.candidates(leg, entries, &keys, receiver)?.is_break() {
                return Ok(Flow::Break(()));
            }
            let last = keys.last().map_or(&[][..], Vec::as_slice);
            if self.missing(before, keys.len(), last).is_break() {
                return Ok(Flow::Break(()));
            }
            // What is checked away has to be fetched for: take more at a time.
            count = (count * 2).min(FETCH_MAX);
        }
    }

    fn candidates(
        &mut self,
        leg: &Leg,
        entries: &Entries,
        keys: &[Vec<u8>],
        receiver: &mut Receiver<'_, '_>,
    ) -> Result<Flow, GraphError> {
        let element = |key: &Vec<u8>| {
            let damaged = || DecodeError::new("an index entry", key, 0);
            key::decode_element(index::element_key(key, entries.values).ok_or_else(damaged)?)
        };
        match receiver {
            Receiver::Vertices(visit) => {
                let (mut ids, mut places) = (
                    Vec::with_capacity(keys.len()),
                    Vec::with_capacity(keys.len()),
                );
                for key in keys {
                    if let ElementId::Vertex(id) = element(key)? {
                        ids.push(id);
                        places.push(key);
                    }
                }
                self.vertices(&ids, &mut |run, at, content| {
                    let id = &ids[at];
                    let matches = run.vertex_matches(leg, content)?
                        && run.vertex_has_entry(entries, id, content, places[at])?;
                    Ok(run
                        .delivery
                        .offer(places[at], matches, &mut || visit(id, content)))
                })
            }
            Receiver::Edges(visit) => {
                let (mut ids, mut places) = (
                    Vec::with_capacity(keys.len()),
                    Vec::with_capacity(keys.len()),
                );
                for key in keys {
                    if let ElementId::Edge(id) = element(key)? {
                        ids.push(id);
                        places.push(key);
                    }
                }
                self.edges(&ids, &mut |run, at, content| {
                    let id = &ids[at];
                    let matches = run.edge_matches(leg, id, content)?
                        && run.edge_has_entry(entries, id, content, places[at])?;
                    Ok(run
                        .delivery
                        .offer(places[at], matches, &mut || visit(id, content)))
                })
            }
        }
    }

    /// The edges in `range` of each source vertex that an entry names; the position is the length of the source's key,
    /// that key, and the edge's clustering key.
    fn by_source(
        &mut self,
        leg: &Leg,
        partitions: &[Vec<u8>],
        range: &ClusteringRange,
        after: &[u8],
        visit: &mut EdgeVisitor<'_>,
    ) -> Result<Flow, GraphError> {
        let (resumed, mut edge_after) = split_by_source(after);
        let reader = self.resolver.reader();
        let all = ClusteringRange::all();
        let mut merge = Merge::new(
            reader,
            self.resolver.scope(),
            partitions,
            &all,
            resumed,
            true,
        );
        let mut keys = Vec::new();
        loop {
            keys.clear();
            merge.next(
                usize::try_from(self.delivery.fetch()).unwrap_or(1),
                &mut keys,
            )?;
            if keys.is_empty() {
                return Ok(Flow::Continue(()));
            }
            for source in &keys {
                let ElementId::Vertex(owner) = key::decode_element(source)? else {
                    continue;
                };
                let edge_after = if resumed == Some(source.as_slice()) {
                    edge_after
                } else {
                    &[]
                };
                let mut front = u16::try_from(source.len())
                    .unwrap_or(u16::MAX)
                    .to_be_bytes()
                    .to_vec();
                front.extend_from_slice(source);
                let flow = self.adjacent(leg, &owner, range, edge_after, &front, visit)?;
                // After every edge of this source: no clustering key begins so.
                front.push(0xFF);
                if flow.is_break() || self.delivery.passed(1, &front).is_break() {
                    return Ok(Flow::Break(()));
                }
            }
            edge_after = &[];
        }
    }

    /// The edges of `owner` in `range`; the position is `front` and the edge's clustering key.
    fn adjacent(
        &mut self,
        leg: &Leg,
        owner: &VertexId,
        range: &ClusteringRange,
        after: &[u8],
        front: &[u8],
        visit: &mut EdgeVisitor<'_>,
    ) -> Result<Flow, GraphError> {
        let mut range = range.clone();
        if !after.is_empty() {
            // No edge's key is the start of another's; its events' keys are it and a version. This is after all of them.
            range.from = [after, &[0xFF; key::EVENT_SUFFIX], &[0]].concat();
        }
        if range.is_empty() {
            return Ok(Flow::Continue(()));
        }
        let partition = key::vertex_id(owner);
        let resolver = self.resolver;
        let mut position = front.to_vec();
        let mut outcome = Ok(Flow::Continue(()));
        resolver.visit_adjacent(owner, &range, &mut |clustering, content| {
            position.truncate(front.len());
            position.extend_from_slice(clustering);
            outcome = self.edge_row(leg, &partition, clustering, content, &position, visit);
            flow_of(&outcome)
        })?;
        outcome
    }

    /// Counts those of `asked` candidates up to `position` that do not exist; `before` is what was examined before.
    pub(super) fn missing(&mut self, before: u64, asked: usize, position: &[u8]) -> Flow {
        let offered = self.delivery.examined() - before;
        self.delivery
            .passed((asked as u64).saturating_sub(offered), position)
    }

    pub(super) fn edge_row(
        &mut self,
        leg: &Leg,
        partition: &[u8],
        clustering: &[u8],
        content: &[u8],
        position: &[u8],
        visit: &mut EdgeVisitor<'_>,
    ) -> Result<Flow, GraphError> {
        let (id, _) = key::decode_edge(partition, clustering)?;
        let matches = self.edge_matches(leg, &id, content)?;
        Ok(self
            .delivery
            .offer(position, matches, &mut || visit(&id, content)))
    }

    /// Reads vertices and hands each to `take`, which may fail.
    pub(super) fn vertices(
        &mut self,
        ids: &[VertexId],
        take: &mut TakeElement<'_>,
    ) -> Result<Flow, GraphError> {
        let resolver = self.resolver;
        let mut outcome = Ok(Flow::Continue(()));
        resolver.visit_vertices(ids, &mut |at, content| {
            outcome = take(self, at, content);
            flow_of(&outcome)
        })?;
        outcome
    }

    /// Reads edges and hands each to `take`, which may fail.
    pub(super) fn edges(
        &mut self,
        ids: &[EdgeId],
        take: &mut TakeElement<'_>,
    ) -> Result<Flow, GraphError> {
        let resolver = self.resolver;
        let mut outcome = Ok(Flow::Continue(()));
        resolver.visit_edges(ids, &mut |at, content| {
            outcome = take(self, at, content);
            flow_of(&outcome)
        })?;
        outcome
    }

    pub(super) fn vertex_matches(&self, leg: &Leg, content: &[u8]) -> Result<bool, GraphError> {
        let (label, properties) = vertex_parts(content)?;
        if leg
            .label
            .is_some_and(|wanted| wanted != ElementLabel::Vertex(label))
        {
            return Ok(false);
        }
        let picked = pick(properties, self.filter.keys())?;
        Ok(self.filter.holds(&picked, &leg.searched))
    }

    pub(super) fn edge_matches(
        &self,
        leg: &Leg,
        id: &EdgeId,
        content: &[u8],
    ) -> Result<bool, GraphError> {
        if leg
            .label
            .is_some_and(|wanted| wanted != ElementLabel::Edge(id.label))
        {
            return Ok(false);
        }
        if self.filter.keys().is_empty() {
            return Ok(true);
        }
        let (_, _, properties) = edge_parts(content)?;
        let picked = pick(properties, self.filter.keys())?;
        Ok(self.filter.holds(&picked, &leg.searched))
    }

    fn vertex_has_entry(
        &self,
        entries: &Entries,
        id: &VertexId,
        content: &[u8],
        clustering: &[u8],
    ) -> Result<bool, GraphError> {
        let Some(check) = &entries.check else {
            return Ok(true);
        };
        let (_, properties) = vertex_parts(content)?;
        let picked = pick(properties, &sorted(&check.fields))?;
        let of = crate::index::entries(check, &ElementId::Vertex(id.clone()), &picked);
        Ok(of.iter().any(|entry| entries.has(entry, clustering)))
    }

    fn edge_has_entry(
        &self,
        entries: &Entries,
        id: &EdgeId,
        content: &[u8],
        clustering: &[u8],
    ) -> Result<bool, GraphError> {
        let Some(check) = &entries.check else {
            return Ok(true);
        };
        let (_, _, properties) = edge_parts(content)?;
        let picked = pick(properties, &sorted(&check.fields))?;
        let of = crate::index::entries(check, &ElementId::Edge(id.clone()), &picked);
        Ok(of.iter().any(|entry| entries.has(entry, clustering)))
    }
}

impl Entries {
    fn has(&self, entry: &crate::index::IndexEntry, clustering: &[u8]) -> bool {
        entry.clustering == clustering && self.partitions.contains(&entry.partition)
    }
}

fn sorted(keys: &[PropertyKeyId]) -> Vec<PropertyKeyId> {
    let mut keys = keys.to_vec();
    keys.sort_unstable();
    keys
}

pub(super) fn flow_of(outcome: &Result<Flow, GraphError>) -> Flow {
    match outcome {
        Ok(flow) => *flow,
        Err(_) => Flow::Break(()),
    }
}

/// The source's key and the edge's clustering key of a position that [`Run::by_source`] made.
fn split_by_source(position: &[u8]) -> (Option<&[u8]>, &[u8]) {
    let parts = position
        .split_first_chunk::<2>()
        .and_then(|(length, rest)| rest.split_at_checked(usize::from(u16::from_be_bytes(*length))));
    match parts {
        Some((source, edge)) => (Some(source), edge),
        None => (None, &[]),
    }
}
