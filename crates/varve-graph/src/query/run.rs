//! Walks the legs of a plan: fetches candidates, checks them and delivers the matches.
//!
//! A candidate is the key of a row. For an edge it is the row on the source's side, or on the side
//! that is walked. Ids are decoded only when an element is delivered.

use std::sync::Arc;

use varve_encoding::row::{edge_parts, vertex_parts};
use varve_encoding::tables::VERTEX;
use varve_encoding::{DecodeError, index, key};
use varve_kv::{ClusteringRange, Flow, TableId};
use varve_model::{Direction, ElementId, IndexLabel, PropertyKeyId, VertexId};

use super::delivery::{Delivery, FETCH_MAX, Position};
use super::filter::{Filter, pick};
use super::merge::Merge;
use super::plan::{ElementLabel, Entries, Leg, Source};
use super::resolver::{Resolver, RowKey};
use crate::GraphError;
use crate::index::IndexEntry;

/// The row of an element that a query found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FoundRow<'a> {
    pub(crate) partition: &'a [u8],
    pub(crate) clustering: &'a [u8],
    pub(crate) content: &'a [u8],
}

pub(crate) type RowVisitor<'a> = dyn FnMut(FoundRow<'_>) -> Result<Flow, GraphError> + 'a;

/// Receives the content of an element and its position in the requested keys.
type TakeElement<'a> = dyn FnMut(&mut Run<'_>, usize, &[u8]) -> Result<Flow, GraphError> + 'a;

/// The state that all legs of one query share.
pub(super) struct Run<'a> {
    pub(super) resolver: &'a dyn Resolver,
    /// The table of current rows: of vertices or of edges.
    pub(super) table: TableId,
    pub(super) filter: Filter,
    pub(super) delivery: Delivery,
    /// Rows of a full scan since the last pause.
    pub(super) walked: usize,
}

/// Rows of a full scan between two pauses.
const PAUSE_EVERY: usize = 1024;

impl Run<'_> {
    /// Counts a row of a full scan, and pauses every [`PAUSE_EVERY`] rows.
    pub(super) fn step(&mut self) -> Result<(), GraphError> {
        self.resolver.looked(1)?;
        self.walked += 1;
        match self.walked.is_multiple_of(PAUSE_EVERY) {
            true => self.resolver.pause(),
            false => Ok(()),
        }
    }

    /// Walks `legs` from number `first` on. In that leg it starts at `position`.
    pub(super) fn walk(
        &mut self,
        legs: &[Leg],
        first: usize,
        position: &[u8],
        visit: &mut RowVisitor<'_>,
    ) -> Result<(), GraphError> {
        let mut position = position.to_vec();
        for (at, leg) in legs.iter().enumerate().skip(first) {
            self.delivery
                .begin(u32::try_from(at).unwrap_or(u32::MAX), &position);
            if self.leg(leg, &legs[..at], &position, visit)?.is_break() {
                break;
            }
            position.clear();
        }
        Ok(())
    }

    fn leg(
        &mut self,
        leg: &Leg,
        earlier: &[Leg],
        after: &[u8],
        visit: &mut RowVisitor<'_>,
    ) -> Result<Flow, GraphError> {
        match &leg.source {
            Source::Vertices(ids) => self.listed(leg, ids, after, visit),
            Source::Entries(entries) => self.entries(leg, (entries, earlier), after, visit),
            Source::EdgesOfLabel { parent, label } => {
                let prefix = key::edge_label_prefix(Direction::Out, *parent, Some(*label));
                let sources = Entries {
                    partitions: vec![index::partition(index::IndexId::EdgeLabel(*label), 0, &[])],
                    range: ClusteringRange::all(),
                    values: 0,
                    reverse: false,
                    check: None,
                };
                let range = ClusteringRange::prefix(&prefix);
                self.by_source(leg, &sources, &range, after, visit)
            }
            Source::Adjacent { owner, range } => {
                self.adjacent(leg, &key::vertex_id(owner), range, after, visit)
            }
            Source::All => self.all(leg, after, visit),
        }
    }

    /// Visits vertices by id. The position is the number of ids passed.
    fn listed(
        &mut self,
        leg: &Leg,
        ids: &[VertexId],
        after: &[u8],
        visit: &mut RowVisitor<'_>,
    ) -> Result<Flow, GraphError> {
        let mut done = after
            .first_chunk::<4>()
            .map_or(0, |at| u32::from_be_bytes(*at) as usize)
            .min(ids.len());
        while done < ids.len() {
            let batch = &ids[done..ids.len().min(done + FETCH_MAX as usize)];
            let row_key = |id| (key::vertex_id(id), key::VERTEX_CLUSTERING.to_vec());
            let keys: Vec<RowKey> = batch.iter().map(row_key).collect();
            let before = self.delivery.examined();
            let position = |at: usize, out: &mut Vec<u8>| {
                let passed = u32::try_from(done + at + 1).unwrap_or(u32::MAX);
                out.extend_from_slice(&passed.to_be_bytes());
            };
            if self.fetch(leg, &keys, None, &position, visit)?.is_break() {
                return Ok(Flow::Break(()));
            }
            let last = |out: &mut Vec<u8>| position(batch.len() - 1, out);
            if self.missing(before, batch.len(), &last).is_break() {
                return Ok(Flow::Break(()));
            }
            done += batch.len();
        }
        Ok(Flow::Continue(()))
    }

    /// Visits elements by the entries of an index. The position is an entry's clustering key.
    fn entries(
        &mut self,
        leg: &Leg,
        (entries, earlier): (&Entries, &[Leg]),
        after: &[u8],
        visit: &mut RowVisitor<'_>,
    ) -> Result<Flow, GraphError> {
        let after = (!after.is_empty()).then_some(after);
        let mut merge = Merge::new(self.resolver, entries, after, false);
        let mut places = Vec::new();
        let mut count = self.delivery.fetch();
        loop {
            places.clear();
            merge.next(usize::try_from(count).unwrap_or(1), &mut places)?;
            let Some(last) = places.last() else {
                return Ok(Flow::Continue(()));
            };
            self.resolver.looked(places.len())?;
            let before = self.delivery.examined();
            let keys = self.candidates(entries, &places)?;
            let check = Some(Places {
                entries,
                earlier,
                places: &places,
            });
            let position = |at: usize, out: &mut Vec<u8>| out.extend_from_slice(&places[at]);
            if self.fetch(leg, &keys, check, &position, visit)?.is_break() {
                return Ok(Flow::Break(()));
            }
            let last = |out: &mut Vec<u8>| out.extend_from_slice(last);
            if self.missing(before, places.len(), &last).is_break() {
                return Ok(Flow::Break(()));
            }
            // The filter rejects candidates, so the next fetch is larger.
            count = (count * 2).min(FETCH_MAX);
        }
    }

    /// Returns the row keys of the elements that index entries name.
    fn candidates(&self, entries: &Entries, places: &[Vec<u8>]) -> Result<Vec<RowKey>, GraphError> {
        let each = places.iter().map(|place| {
            let damaged = || DecodeError::new("an index entry", place, 0);
            let element = index::element_key(place, entries.values).ok_or_else(damaged)?;
            match key::is_vertex_element(element) == (self.table == VERTEX) {
                true => Ok(key::current_of(element)?),
                false => Err(damaged().into()),
            }
        });
        each.collect()
    }

    /// Reads candidates and offers those that exist. `check` has the entries that named them. Then
    /// an element must still have the entry by its content, and is offered only at its first entry.
    /// `position` appends the position of a candidate.
    fn fetch(
        &mut self,
        leg: &Leg,
        keys: &[RowKey],
        check: Option<Places<'_>>,
        position: &dyn Fn(usize, &mut Vec<u8>),
        visit: &mut RowVisitor<'_>,
    ) -> Result<Flow, GraphError> {
        self.elements(keys, &mut |run, at, content| {
            let row = FoundRow {
                partition: &keys[at].0,
                clustering: &keys[at].1,
                content,
            };
            let mut matches = run.matches(leg, row)?;
            if let (true, Some(check)) = (matches, check) {
                matches = run.has_entry(check, at, row)?;
            }
            run.offer(&|out| position(at, out), matches, row, visit)
        })
    }

    /// Visits the edges of `owner` in `range`. The position is the edge's clustering key.
    fn adjacent(
        &mut self,
        leg: &Leg,
        owner: &[u8],
        range: &ClusteringRange,
        after: &[u8],
        visit: &mut RowVisitor<'_>,
    ) -> Result<Flow, GraphError> {
        let range = beyond(range, after);
        if range.is_empty() {
            return Ok(Flow::Continue(()));
        }
        let resolver = self.resolver;
        let mut outcome = Ok(Flow::Continue(()));
        resolver.visit_adjacent(owner, &range, &mut |clustering, content| {
            let position = |out: &mut Vec<u8>| out.extend_from_slice(clustering);
            let row = FoundRow {
                partition: owner,
                clustering,
                content,
            };
            outcome = self.row(leg, row, &position, visit);
            flow_of(&outcome)
        })?;
        outcome
    }

    /// Counts the candidates up to `position` that do not exist. `asked` is the number of
    /// candidates, and `before` the number examined before they were read.
    pub(super) fn missing(&mut self, before: u64, asked: usize, position: Position<'_>) -> Flow {
        let offered = self.delivery.examined() - before;
        self.delivery
            .passed((asked as u64).saturating_sub(offered), position)
    }

    pub(super) fn row(
        &mut self,
        leg: &Leg,
        row: FoundRow<'_>,
        position: Position<'_>,
        visit: &mut RowVisitor<'_>,
    ) -> Result<Flow, GraphError> {
        let matches = self.matches(leg, row)?;
        self.offer(position, matches, row, visit)
    }

    fn offer(
        &mut self,
        position: Position<'_>,
        matches: bool,
        row: FoundRow<'_>,
        visit: &mut RowVisitor<'_>,
    ) -> Result<Flow, GraphError> {
        let mut failed = Ok(());
        let flow = self.delivery.offer(position, matches, &mut || {
            visit(row).unwrap_or_else(|error| {
                failed = Err(error);
                Flow::Break(())
            })
        });
        failed.map(|()| flow)
    }

    /// Reads elements and passes each to `take`, which may fail.
    pub(super) fn elements(
        &mut self,
        keys: &[RowKey],
        take: &mut TakeElement<'_>,
    ) -> Result<Flow, GraphError> {
        let resolver = self.resolver;
        let mut outcome = Ok(Flow::Continue(()));
        resolver.visit_elements(self.table, keys, &mut |at, content| {
            outcome = take(self, at, content);
            flow_of(&outcome)
        })?;
        outcome
    }

    fn matches(&self, leg: &Leg, row: FoundRow<'_>) -> Result<bool, GraphError> {
        let keys = self.filter.keys();
        let picked = if self.table == VERTEX {
            let (label, properties) = vertex_parts(row.content)?;
            let label = ElementLabel::Vertex(label);
            if leg.label.is_some_and(|wanted| wanted != label) {
                return Ok(false);
            }
            if keys.is_empty() {
                return Ok(true);
            }
            pick(properties, keys)?
        } else {
            let damaged = || DecodeError::new("an edge key", row.clustering, 0);
            let (_, label, _) = key::edge_parts(row.clustering).ok_or_else(damaged)?;
            let label = ElementLabel::Edge(label);
            if leg.label.is_some_and(|wanted| wanted != label) {
                return Ok(false);
            }
            if keys.is_empty() {
                return Ok(true);
            }
            pick(edge_parts(row.content)?.2, keys)?
        };
        Ok(self.filter.holds(&picked, &leg.searched))
    }

    fn has_entry(
        &self,
        places: Places<'_>,
        at: usize,
        row: FoundRow<'_>,
    ) -> Result<bool, GraphError> {
        let entries = places.entries;
        let Some(check) = &entries.check else {
            return Ok(true);
        };
        let fields = sorted(&check.fields);
        let (id, picked) = if self.table == VERTEX {
            let id = ElementId::Vertex(key::decode_vertex_id(row.partition)?);
            (id, pick(vertex_parts(row.content)?.1, &fields)?)
        } else {
            let (id, _) = key::decode_edge(row.partition, row.clustering)?;
            (
                ElementId::Edge(id),
                pick(edge_parts(row.content)?.2, &fields)?,
            )
        };
        let of = crate::index::entries(check, &id, &picked);
        let own = of.iter().filter(|entry| entries.has(entry));
        let own = own.map(|entry| &entry.clustering);
        let first = match entries.reverse {
            true => own.max(),
            false => own.min(),
        };
        let is_first = first == Some(&places.places[at]);
        Ok(is_first && (of.len() == 1 || !places.came_earlier(&of)))
    }
}

/// The index entries that named a batch of candidates.
#[derive(Clone, Copy)]
struct Places<'p> {
    entries: &'p Entries,
    /// The legs before the leg of the entries.
    earlier: &'p [Leg],
    /// The clustering keys of the entries.
    places: &'p [Vec<u8>],
}

impl Places<'_> {
    /// Whether an earlier leg has walked one of these entries.
    fn came_earlier(&self, of: &[IndexEntry]) -> bool {
        let same = |check: &Arc<IndexLabel>| {
            let own = self.entries.check.as_ref();
            own.is_some_and(|own| own.id == check.id)
        };
        self.earlier.iter().any(|leg| match &leg.source {
            Source::Entries(walked) if walked.check.as_ref().is_some_and(same) => {
                of.iter().any(|entry| walked.has(entry))
            }
            _ => false,
        })
    }
}

impl Entries {
    fn has(&self, entry: &IndexEntry) -> bool {
        self.range.contains(&entry.clustering) && self.partitions.contains(&entry.partition)
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

/// Returns the part of a range of edges after the edge with the clustering key `after`; the whole
/// range if that is empty.
pub(super) fn beyond(range: &ClusteringRange, after: &[u8]) -> ClusteringRange {
    let mut range = range.clone();
    if !after.is_empty() {
        // No edge's key is a prefix of another edge's key, and an event's key is the edge's key and
        // a version. So this key is after the edge and all its events.
        range.from = [after, &[0xFF; key::EVENT_SUFFIX], &[0]].concat();
    }
    range
}
