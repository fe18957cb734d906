//! Turns an event of an element into rows, moved events, index entries and pending boundaries.
//!
//! `docs/time.md` defines the rules and the terms. An edge has two sides, and every row operation
//! is applied to both with the same bytes.

mod entries;
mod several;
mod touched;

use rustc_hash::FxHashSet;
use varve_encoding::index::{IndexId, plain_partition};
use varve_encoding::key;
use varve_encoding::row::{self, Header, RowKind};
use varve_encoding::tables::{EDGE, EVENT, EVENT_INDEX, INDEX, PENDING, VERTEX};
use varve_kv::{Batch, Flow, Reader, ReaderExt, TableId};
use varve_model::schema::{IndexBase, Retention};
use varve_model::{CommitVersion, EdgeLabelId, ElementId, Instant};

use super::keys::RowKeys;
use super::labels::Label;
use super::settling::Settling;
use crate::changes::Touches;
use crate::commit::{PairHash, Stamps};
use crate::error::GraphError;
use crate::index::Deriver;
use crate::read::scan_events;
use crate::rows::{Current, Side, sides};
use crate::schema::Schema;

pub(crate) use entries::unique_entries;

/// Approximate bytes of a row of a batch beside its content, for the initial capacity of a batch.
pub(crate) const ROW_BYTES: usize = 64;

/// Returns the hash of the (edge label, source) entry of the edges that leave the vertex with the
/// partition key `source`.
pub(super) fn pair_of(label: EdgeLabelId, source: &[u8], scratch: &mut Vec<u8>) -> PairHash {
    scratch.clear();
    scratch.extend_from_slice(&plain_partition(IndexId::EdgeLabel(label)));
    scratch.push(key::ELEMENT_VERTEX);
    scratch.extend_from_slice(source);
    crate::hash::wide(scratch)
}

/// The effect of the new event.
pub(crate) enum Change<'a> {
    /// The element has the state with this row content.
    Put(&'a [u8]),
    /// The element does not exist.
    Delete,
}

/// The context that all emissions of one commit share.
pub(crate) struct EmitContext<'a> {
    pub(crate) reader: &'a dyn Reader,
    pub(crate) schema: &'a Schema,
    /// Computes the entries of derived indexes.
    pub(crate) deriver: Option<&'a dyn Deriver>,
    /// The instant of now for the whole commit.
    pub(crate) now: Instant,
    /// Whether the (edge label, source) entry with that hash is known to be in the index.
    pub(crate) known_pair: &'a dyn Fn(PairHash) -> bool,
    /// Whether the graph records changes.
    pub(crate) keeps_changes: bool,
}

/// Builds the batch of one commit.
pub(crate) struct Emitter<'a> {
    context: EmitContext<'a>,
    pub(crate) batch: Batch,
    pub(crate) stamps: Stamps,
    /// (edge label, source) entries that this commit puts; they are remembered after publication.
    pub(crate) new_pairs: FxHashSet<PairHash>,
    /// The number of the event among the events of its element in this commit.
    number: u8,
    row: Vec<u8>,
    /// Scratch buffer for [`pair_of`].
    pair: Vec<u8>,
    /// The elements that the commit touches, if the graph records changes.
    touches: Option<Touches>,
}

/// The valid period of an event. If `from` is `None`, the period starts with the commit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EventPeriod {
    pub(crate) from: Option<Instant>,
    pub(crate) to: Instant,
}

impl EventPeriod {
    fn covers_now(self, now: Instant) -> bool {
        self.from.is_none_or(|from| from <= now) && now < self.to
    }

    fn future_start(self, now: Instant) -> Option<Instant> {
        self.from.filter(|from| *from > now)
    }
}

impl<'a> Emitter<'a> {
    pub(crate) fn new(context: EmitContext<'a>) -> Self {
        let (batch, stamps) = (Batch::new(), Stamps::default());
        let touches = context.keeps_changes.then(Touches::new);
        Self {
            touches,
            context,
            batch,
            stamps,
            new_pairs: FxHashSet::default(),
            number: 0,
            row: Vec::new(),
            pair: Vec::new(),
        }
    }

    /// Fast path of [`Emitter::emit`], for a put from now on and for ever of an element without a
    /// current row: nearly every insert. `new_pair` is the (edge label, source) entry of an edge,
    /// unless it is known to be in the index.
    pub(super) fn emit_first(
        &mut self,
        (id, label): (&ElementId, &Label<'_>),
        keys: RowKeys<'_>,
        content: &[u8],
        new_pair: Option<PairHash>,
    ) -> Result<(), GraphError> {
        match keys {
            RowKeys::Vertex { partition } => self.touch(partition, key::VERTEX_CLUSTERING),
            RowKeys::Edge {
                source,
                out_clustering,
                ..
            } => self.touch(source, out_clustering),
        }
        let (batch, stamps) = (&mut self.batch, &mut self.stamps);
        let row: [&[u8]; 2] = [&row::PUT_NOW, content];
        match (keys, id) {
            (RowKeys::Vertex { partition }, _) => {
                let at = batch.put_parts(VERTEX, partition, &[key::VERTEX_CLUSTERING], &row);
                stamps.row(at, 0);
                if let (IndexBase::Vertex(label), true) = (label.base, label.is_listed) {
                    let index = plain_partition(IndexId::VertexLabel(label));
                    let clustering: [&[u8]; 2] = [&[key::ELEMENT_VERTEX], partition];
                    self.batch.put_parts(INDEX, &index, &clustering, &[]);
                }
                self.put_index_entries(label.indexes, id, content)
            }
            (
                RowKeys::Edge {
                    source,
                    out_clustering,
                    target,
                    in_clustering,
                    ..
                },
                ElementId::Edge(edge),
            ) => {
                stamps.row(batch.put_parts(EDGE, source, &[out_clustering], &row), 0);
                stamps.row(batch.put_parts(EDGE, target, &[in_clustering], &row), 0);
                if let Some(pair) = new_pair {
                    self.put_new_pair(edge.label, source, pair);
                }
                self.put_index_entries(label.indexes, id, content)
            }
            (RowKeys::Edge { .. }, ElementId::Vertex(_)) => {
                unreachable!("an element's keys are made from its id")
            }
        }
    }

    /// Writes one event of `id`. `current` is the current row, read under the commit's latches.
    pub(crate) fn emit(
        &mut self,
        id: &ElementId,
        current: Option<Current>,
        change: &Change<'_>,
        period: EventPeriod,
    ) -> Result<(), GraphError> {
        let current = self.settled(id, current)?;
        if period.covers_now(self.context.now) {
            self.emit_deciding(id, current.as_ref(), change, period)
        } else {
            self.emit_elsewhere(id, current, change, period).map(|_| ())
        }
    }

    /// Reads the committed current row of `id`.
    pub(crate) fn read_current(&self, id: &ElementId) -> Result<Option<Current>, GraphError> {
        let (table, sides) = sides(id);
        let row = self
            .context
            .reader
            .get(table, &sides[0].partition, &sides[0].clustering)?;
        row.as_deref().map(Current::decode).transpose()
    }

    /// If the current row has ceased to decide, replaces it by the event that decides now. Returns
    /// the row that decides.
    pub(crate) fn settled(
        &mut self,
        id: &ElementId,
        current: Option<Current>,
    ) -> Result<Option<Current>, GraphError> {
        let now = self.context.now;
        let Some(stale) = current else {
            return Ok(None);
        };
        if stale.header.until > now {
            return Ok(Some(stale));
        }
        let (table, sides) = sides(id);
        let found = Settling::find(self.context.reader, &sides[0], &stale, now)?;
        let mut retention = Retention::All;
        if stale.header.kind == RowKind::Put {
            retention = self.retention(id, &stale.content)?;
            self.move_to_events(&sides, &stale, retention, now);
        }
        let settled = found
            .winner
            .filter(|winner| winner.header.kind == RowKind::Put);
        match &settled {
            Some(winner) => {
                for side in &sides {
                    let event = key::event_clustering(&side.clustering, winner.header.version);
                    self.batch.delete(EVENT, &side.partition, &event);
                }
                self.put_current(table, &sides, &winner.header, &winner.content);
            }
            None if found.until < Instant::FOREVER => self.put_marker(table, &sides, found.until),
            None => self.delete_current(table, &sides),
        }
        if found.until < Instant::FOREVER {
            self.put_pending(id, found.until);
        }
        let quiet = found.until == Instant::FOREVER;
        let successor = settled.as_ref().map(|it| it.content.as_slice());
        self.move_entries(id, Some(&stale), successor, quiet, retention)?;
        Ok(match settled {
            None if found.until < Instant::FOREVER => Some(marker(found.until)),
            settled => settled,
        })
    }

    /// Writes an event that decides now: it becomes the current row, and the old row moves to the
    /// event table.
    fn emit_deciding(
        &mut self,
        id: &ElementId,
        current: Option<&Current>,
        change: &Change<'_>,
        period: EventPeriod,
    ) -> Result<(), GraphError> {
        let (table, sides) = sides(id);
        let put = current.filter(|current| current.header.kind == RowKind::Put);
        let retention = match (put, change) {
            (Some(current), _) => self.retention(id, &current.content)?,
            (None, Change::Put(content)) => self.retention(id, content)?,
            (None, Change::Delete) => Retention::All,
        };
        if let Some(current) = put {
            self.move_to_events(&sides, current, retention, period.to);
        }
        let mut header = Header {
            from: period.from,
            to: period.to,
            until: period.to,
            ..Header::put_now()
        };
        let mut successor = None;
        match change {
            Change::Put(content) => {
                self.put_stamped(table, &sides, &header, content);
                successor = Some(*content);
            }
            Change::Delete => {
                header.kind = RowKind::Delete;
                let forgotten = retention == Retention::None
                    && period.to == Instant::FOREVER
                    && !self.has_events(&sides[0])?;
                match forgotten {
                    true => self.touch_side(&sides),
                    false => self.put_event(&sides, &header, &[]),
                }
                if period.to < Instant::FOREVER {
                    self.put_marker(table, &sides, period.to);
                } else if current.is_some() {
                    self.delete_current(table, &sides);
                }
            }
        }
        if period.to < Instant::FOREVER {
            self.put_pending(id, period.to);
        }
        let quiet = period.to == Instant::FOREVER;
        self.move_entries(id, put, successor, quiet, retention)
    }

    /// Writes an event that does not decide now to the event table, and marks the current row.
    /// Returns the marked row.
    fn emit_elsewhere(
        &mut self,
        id: &ElementId,
        current: Option<Current>,
        change: &Change<'_>,
        period: EventPeriod,
    ) -> Result<Option<Current>, GraphError> {
        let (table, sides) = sides(id);
        let now = self.context.now;
        let kind = if matches!(change, Change::Delete) {
            RowKind::Delete
        } else {
            RowKind::Put
        };
        let header = Header {
            kind,
            from: period.from,
            to: period.to,
            until: period.to,
            ..Header::put_now()
        };
        let content = match change {
            Change::Put(content) => Some(*content),
            Change::Delete => None,
        };
        self.put_event(&sides, &header, content.unwrap_or_default());
        let starts = period.future_start(now);
        let updated = match current {
            Some(mut current) if current.header.kind == RowKind::Put => {
                current.header.overlaid = true;
                current.header.until = current.header.until.min(starts.unwrap_or(Instant::FOREVER));
                self.put_current(table, &sides, &current.header, &current.content);
                Some(current)
            }
            Some(marked) => {
                let until = marked.header.until.min(starts.unwrap_or(Instant::FOREVER));
                self.put_marker(table, &sides, until);
                Some(marker(until))
            }
            None => match (starts, content) {
                (Some(starts), Some(_)) => {
                    self.put_marker(table, &sides, starts);
                    Some(marker(starts))
                }
                _ => None,
            },
        };
        if let Some(starts) = starts {
            self.put_pending(id, starts);
        }
        if let Some(content) = content {
            let target = if starts.is_some() { INDEX } else { EVENT_INDEX };
            for entry in self.entries(id, content)? {
                if target == INDEX || !entry.unique {
                    self.batch
                        .put(target, &entry.partition, &entry.clustering, &[]);
                }
            }
            self.put_derived(target, id, content)?;
            self.put_edge_pair(id);
        }
        Ok(updated)
    }

    fn put_stamped(&mut self, table: TableId, sides: &[Side], header: &Header, content: &[u8]) {
        self.build_row(header, content);
        for side in sides {
            let at = self
                .batch
                .put(table, &side.partition, &side.clustering, &self.row);
            self.stamps.row(at, self.number);
        }
        self.touch_side(sides);
    }

    fn put_event(&mut self, sides: &[Side], header: &Header, content: &[u8]) {
        self.build_row(header, content);
        for side in sides {
            let clustering = key::event_clustering(&side.clustering, CommitVersion::ZERO);
            let at = self
                .batch
                .put(EVENT, &side.partition, &clustering, &self.row);
            self.stamps.event(at, self.number);
        }
        self.touch_side(sides);
    }

    fn build_row(&mut self, header: &Header, content: &[u8]) {
        self.row.clear();
        header.encode(&mut self.row);
        self.row.extend_from_slice(content);
    }

    /// Whether an element has stored events; then the event of its deletion must be stored, too.
    pub(crate) fn has_events(&self, side: &Side) -> Result<bool, GraphError> {
        let mut any = false;
        let (reader, newest) = (self.context.reader, CommitVersion::MAX);
        scan_events(
            reader,
            &side.partition,
            &side.clustering,
            newest,
            &mut |_, _| {
                any = true;
                Flow::Break(())
            },
        )?;
        Ok(any)
    }

    /// Stores a superseded row as an event, without the flags that are only for current rows. If no
    /// history is kept, stores it only if it may decide again: its period ends after `until`. That
    /// is the end of its successor's period, or now.
    fn move_to_events(
        &mut self,
        sides: &[Side],
        current: &Current,
        retention: Retention,
        until: Instant,
    ) {
        if retention == Retention::None && current.header.to <= until {
            return;
        }
        let header = Header {
            overlaid: false,
            until: current.header.to,
            ..current.header
        };
        self.build_row(&header, &current.content);
        for side in sides {
            let clustering = key::event_clustering(&side.clustering, header.version);
            self.batch
                .put(EVENT, &side.partition, &clustering, &self.row);
        }
    }

    fn put_current(&mut self, table: TableId, sides: &[Side], header: &Header, content: &[u8]) {
        self.build_row(header, content);
        for side in sides {
            self.batch
                .put(table, &side.partition, &side.clustering, &self.row);
        }
    }

    fn put_marker(&mut self, table: TableId, sides: &[Side], until: Instant) {
        let header = marker(until).header;
        self.put_current(table, sides, &header, &[]);
    }

    fn delete_current(&mut self, table: TableId, sides: &[Side]) {
        for side in sides {
            self.batch.delete(table, &side.partition, &side.clustering);
        }
    }

    fn put_pending(&mut self, id: &ElementId, at: Instant) {
        let clustering = key::pending_clustering(at, id);
        self.batch
            .put(PENDING, key::PENDING_PARTITION, &clustering, &[]);
    }

    /// Returns the retention of the label that the content names.
    fn retention(&self, id: &ElementId, content: &[u8]) -> Result<Retention, GraphError> {
        let schema = self.context.schema;
        Ok(match id {
            ElementId::Vertex(_) => {
                let label = row::vertex_label(content)?;
                schema
                    .vertex_label(label)
                    .map_or(Retention::All, |label| label.retention)
            }
            ElementId::Edge(edge) => schema
                .edge_label(edge.label)
                .map_or(Retention::All, |label| label.retention),
        })
    }
}

fn marker(until: Instant) -> Current {
    let header = Header {
        kind: RowKind::Marker,
        until,
        ..Header::put_now()
    };
    Current {
        header,
        content: Vec::new(),
    }
}
