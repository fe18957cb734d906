//! The edges of a vertex at one point of both times, in the order of their keys.

use std::ops::Range;

use varve_encoding::DecodeError;
use varve_encoding::key;
use varve_encoding::row::{Header, RowKind};
use varve_encoding::tables::{EDGE, EVENT};
use varve_kv::{ClusteringRange, Flow, PartitionRange, Reader, ScanRequest};
use varve_model::VertexId;

use super::resolve;
use super::view::{Point, View};
use crate::error::GraphError;

/// Keys read at a time of one range, from the current rows and from the events each.
const CHUNK: usize = 512;
/// The same for each of several ranges that are read together.
const CHUNK_OF_EACH: usize = 64;
/// The most ranges that are read together in the past.
const TOGETHER: usize = 64;

/// An edge in an adjacency scan.
#[derive(Debug, Clone, Copy)]
pub struct Adjacent<'a> {
    /// Clustering key of the edge in the partition of the scanned vertex. With the vertex it
    /// identifies the edge ([`key::decode_edge`]).
    pub clustering: &'a [u8],
    /// Content of the edge's row ([`varve_encoding::row::edge_parts`]).
    pub content: &'a [u8],
}

impl View {
    /// Visits the edges of `vertex` whose clustering keys are in `range`, in ascending order, until
    /// `visit` breaks.
    ///
    /// # Errors
    /// When the store fails or is damaged.
    pub fn adjacent(
        &self,
        vertex: &VertexId,
        range: &ClusteringRange,
        visit: &mut dyn FnMut(Adjacent<'_>) -> Flow,
    ) -> Result<(), GraphError> {
        self.adjacent_counted(vertex, range, &mut || Flow::Continue(()), visit)
    }

    /// Visits the edges of several vertices, each with the position of its vertex in `vertices`.
    /// The edges of one vertex are visited together, as by [`View::adjacent`], and a break ends the
    /// visits of that vertex only. Vertices are read together, which is cheaper than one call for
    /// each, except with a policy, and except in the past of a view that is one committed state.
    ///
    /// # Errors
    /// As [`View::adjacent`].
    pub fn adjacent_each(
        &self,
        vertices: &[VertexId],
        visit: &mut dyn FnMut(usize, Adjacent<'_>) -> Flow,
    ) -> Result<(), GraphError> {
        let partitions: Vec<Vec<u8>> = vertices.iter().map(key::vertex_id).collect();
        let slices: Vec<&[u8]> = partitions.iter().map(Vec::as_slice).collect();
        let all = ClusteringRange::all();
        let ranges = PartitionRange::of_each(&slices, &all);
        self.adjacent_ranges(&ranges, &mut |_| Flow::Continue(()), visit)
    }

    /// Visits the edges of many ranges, each with the position of its range, as
    /// [`Reader::scan_many`] visits rows. `looked` is called as by [`View::adjacent_counted`], with
    /// the position of the range. A break of either ends the visits of that range only.
    ///
    /// # Errors
    /// As [`View::adjacent`].
    pub fn adjacent_ranges(
        &self,
        ranges: &[PartitionRange<'_>],
        looked: &mut dyn FnMut(usize) -> Flow,
        visit: &mut dyn FnMut(usize, Adjacent<'_>) -> Flow,
    ) -> Result<(), GraphError> {
        let (reader, point) = (self.reader(), self.point());
        if let Some(guard) = &self.guard {
            for (at, PartitionRange { partition, range }) in ranges.iter().copied().enumerate() {
                let (mut looked, mut visit) = (|| looked(at), |edge: Adjacent<'_>| visit(at, edge));
                self.shown_adjacent(guard, (partition, range), &mut looked, &mut visit)?;
            }
            return Ok(());
        }
        if !self.scope().is_now() {
            if !self.is_one_state() {
                return past_together(reader, ranges, point, looked, visit);
            }
            for (at, PartitionRange { partition, range }) in ranges.iter().copied().enumerate() {
                let mut looked = || looked(at);
                let mut visit = |edge: Adjacent<'_>| visit(at, edge);
                let (looked, visit) = (&mut looked, &mut visit);
                past(
                    reader,
                    partition,
                    range,
                    point,
                    First::Events,
                    looked,
                    visit,
                )?;
            }
            return Ok(());
        }
        let mut failed = None;
        reader.scan_many(EDGE, ranges, &mut |at, clustering, row| {
            if failed.is_some() || looked(at).is_break() {
                return Flow::Break(());
            }
            let mut visit = |edge: Adjacent<'_>| visit(at, edge);
            let partition = ranges[at].partition;
            let shown = present_row(reader, partition, (clustering, row), point, &mut visit);
            shown.unwrap_or_else(|error| {
                failed = Some(error);
                Flow::Break(())
            })
        })?;
        failed.map_or(Ok(()), Err)
    }

    /// As [`View::adjacent`]. `looked` is called once for each stored edge, before it is visited,
    /// even if it is not visited because it does not exist at this point or the policy hides it. A
    /// break ends the read: no further edge is looked at. So the caller can bound a read of many
    /// edges of which none is visited.
    ///
    /// # Errors
    /// As [`View::adjacent`].
    pub fn adjacent_counted(
        &self,
        vertex: &VertexId,
        range: &ClusteringRange,
        looked: &mut dyn FnMut() -> Flow,
        visit: &mut dyn FnMut(Adjacent<'_>) -> Flow,
    ) -> Result<(), GraphError> {
        self.adjacent_in(&key::vertex_id(vertex), range, looked, visit)
    }

    /// As [`View::adjacent_counted`], for the vertex with this partition key.
    ///
    /// # Errors
    /// As [`View::adjacent`].
    pub fn adjacent_in(
        &self,
        partition: &[u8],
        range: &ClusteringRange,
        looked: &mut dyn FnMut() -> Flow,
        visit: &mut dyn FnMut(Adjacent<'_>) -> Flow,
    ) -> Result<(), GraphError> {
        match &self.guard {
            None => self.stored_adjacent(partition, range, looked, visit),
            Some(guard) => self.shown_adjacent(guard, (partition, range), looked, visit),
        }
    }

    /// As [`View::adjacent_in`], including edges that the policy hides.
    pub(super) fn stored_adjacent(
        &self,
        partition: &[u8],
        range: &ClusteringRange,
        looked: &mut dyn FnMut() -> Flow,
        visit: &mut dyn FnMut(Adjacent<'_>) -> Flow,
    ) -> Result<(), GraphError> {
        let (reader, point) = (self.reader(), self.point());
        if self.scope().is_now() {
            return present(reader, partition, range, point, looked, visit);
        }
        let first = match self.is_one_state() {
            true => First::Events,
            false => First::Rows,
        };
        past(reader, partition, range, point, first, looked, visit)
    }
}

fn present(
    reader: &dyn Reader,
    partition: &[u8],
    range: &ClusteringRange,
    point: Point,
    looked: &mut dyn FnMut() -> Flow,
    visit: &mut dyn FnMut(Adjacent<'_>) -> Flow,
) -> Result<(), GraphError> {
    each_row(reader, partition, range, &mut |clustering, row| {
        if looked().is_break() {
            return Ok(Flow::Break(()));
        }
        present_row(reader, partition, (clustering, row), point, visit)
    })
}

/// Visits the edge of a current row, if the edge exists in the present of `point`.
fn present_row(
    reader: &dyn Reader,
    partition: &[u8],
    (clustering, row): (&[u8], &[u8]),
    point: Point,
    visit: &mut dyn FnMut(Adjacent<'_>) -> Flow,
) -> Result<Flow, GraphError> {
    let (header, content) = Header::decode(row)?;
    if point.row_decides(&header) {
        return Ok(visit(Adjacent {
            clustering,
            content,
        }));
    }
    let (valid, version) = (point.valid(), point.version());
    let resolved = resolve(reader, partition, clustering, Some(row), valid, version)?;
    Ok(match resolved {
        Some(resolved) => visit(Adjacent {
            clustering,
            content: &resolved.content,
        }),
        None => Flow::Continue(()),
    })
}

/// Receives a clustering key and the row stored under it.
type ShowRow<'v> = &'v mut dyn FnMut(&[u8], &[u8]) -> Result<Flow, GraphError>;

/// Visits the current rows of edges, until `visit` breaks or returns an error.
fn each_row(
    reader: &dyn Reader,
    partition: &[u8],
    range: &ClusteringRange,
    visit: ShowRow<'_>,
) -> Result<(), GraphError> {
    let mut failed = None;
    let request = ScanRequest {
        table: EDGE,
        partition,
        range,
        reverse: false,
    };
    reader.scan(request, &mut |clustering, row| {
        visit(clustering, row).unwrap_or_else(|error| {
            failed = Some(error);
            Flow::Break(())
        })
    })?;
    failed.map_or(Ok(()), Err)
}

/// What is read first. Without a snapshot, current rows must be read before events: a commit in
/// between moves a row from the current table to the event table, and the read must not miss it.
/// With a snapshot, events are read first, since often there are none.
enum First {
    Events,
    Rows,
    /// Rows and events have been read already, rows first.
    Read(Chunk, Chunk),
}

/// Returns the part of a range that may contain edges; `None` if no part may. It excludes the
/// vertex's own events, which sort before those of its edges, and may be many and long.
fn of_edges(range: &ClusteringRange) -> Option<ClusteringRange> {
    let is_before = |to: &Vec<u8>| to.as_slice() <= key::EDGES_FROM;
    if range.to.as_ref().is_some_and(is_before) {
        return None;
    }
    let mut range = range.clone();
    if range.from.as_slice() < key::EDGES_FROM {
        range.from = key::EDGES_FROM.to_vec();
    }
    Some(range)
}

/// Visits the edges of many ranges in the past, without a snapshot. The first chunks of up to
/// [`TOGETHER`] ranges are read together.
fn past_together(
    reader: &dyn Reader,
    ranges: &[PartitionRange<'_>],
    point: Point,
    looked: &mut dyn FnMut(usize) -> Flow,
    visit: &mut dyn FnMut(usize, Adjacent<'_>) -> Flow,
) -> Result<(), GraphError> {
    let wanted = ranges.iter().enumerate();
    let wanted = wanted.filter_map(|(at, of)| Some((at, of.partition, of_edges(of.range)?)));
    let wanted: Vec<(usize, &[u8], ClusteringRange)> = wanted.collect();
    for window in wanted.chunks(TOGETHER) {
        let ranges = window
            .iter()
            .map(|(_, partition, range)| PartitionRange { partition, range });
        let ranges: Vec<PartitionRange<'_>> = ranges.collect();
        let rows = Chunk::of_rows_each(reader, &ranges)?;
        let events = Chunk::of_events_each(reader, &ranges, point)?;
        let read = rows.into_iter().zip(events).zip(window);
        for ((rows, events), (at, partition, range)) in read {
            let mut looked = || looked(*at);
            let mut visit = |edge: Adjacent<'_>| visit(*at, edge);
            let first = First::Read(rows, events);
            past(
                reader,
                partition,
                range,
                point,
                first,
                &mut looked,
                &mut visit,
            )?;
        }
    }
    Ok(())
}

/// Visits the edges of a range in the past: merges current rows and events, a chunk of each at a
/// time. If one chunk is full, keys of the other chunk beyond its last key are read again with the
/// next chunks.
fn past(
    reader: &dyn Reader,
    partition: &[u8],
    range: &ClusteringRange,
    point: Point,
    first: First,
    looked: &mut dyn FnMut() -> Flow,
    visit: &mut dyn FnMut(Adjacent<'_>) -> Flow,
) -> Result<(), GraphError> {
    let Some(mut range) = of_edges(range) else {
        return Ok(());
    };
    let mut show = |clustering: &[u8], row: Option<&[u8]>, event: Option<&[u8]>| {
        if looked().is_break() {
            return Ok(Flow::Break(()));
        }
        Ok::<_, GraphError>(match decided(row, event, point)? {
            Some(content) => visit(Adjacent {
                clustering,
                content,
            }),
            None => Flow::Continue(()),
        })
    };
    let rows_first = !matches!(first, First::Events);
    let mut read = match first {
        First::Read(rows, events) => Some((rows, events)),
        First::Events | First::Rows => None,
    };
    loop {
        let (rows, events) = if let Some(read) = read.take() {
            read
        } else if rows_first {
            let rows = Chunk::of_rows(reader, partition, &range)?;
            (rows, Chunk::of_events(reader, partition, &range, point)?)
        } else {
            let events = Chunk::of_events(reader, partition, &range, point)?;
            if events.entries.is_empty() {
                return each_row(reader, partition, &range, &mut |clustering, row| {
                    show(clustering, Some(row), None)
                });
            }
            (Chunk::of_rows(reader, partition, &range)?, events)
        };
        // After the last key of a full chunk there are more on that side, so the merge ends there.
        let ends = [rows.end(), events.end()];
        let end = ends.into_iter().flatten().min();
        if merged(&rows, &events, end, &mut show)?.is_break() {
            return Ok(());
        }
        let Some(end) = end else { return Ok(()) };
        // Continue after every key that extends `end` by a version. No edge's key is a prefix of
        // another edge's key.
        let mut from = end.to_vec();
        from.extend_from_slice(&[0xFF; key::EVENT_SUFFIX]);
        from.push(0);
        range.from = from;
    }
}

/// Receives the key of an edge, its current row, and its newest event that covers the point; `None`
/// for what does not exist.
type Show<'a> = dyn FnMut(&[u8], Option<&[u8]>, Option<&[u8]>) -> Result<Flow, GraphError> + 'a;

/// Passes the keys of two chunks, up to `end`, to `show`, in order and without duplicates.
fn merged(
    rows: &Chunk,
    events: &Chunk,
    end: Option<&[u8]>,
    show: &mut Show<'_>,
) -> Result<Flow, GraphError> {
    let (mut row_at, mut event_at) = (0, 0);
    loop {
        let keys = [rows.key(row_at), events.key(event_at)];
        let Some(key) = keys.into_iter().flatten().min() else {
            break;
        };
        if end.is_some_and(|end| key > end) {
            break;
        }
        let [has_row, has_event] = keys.map(|found| found == Some(key));
        let row = has_row.then(|| rows.content(row_at)).flatten();
        let event = has_event.then(|| events.content(event_at)).flatten();
        if show(key, row, event)?.is_break() {
            return Ok(Flow::Break(()));
        }
        row_at += usize::from(has_row);
        event_at += usize::from(has_event);
    }
    Ok(Flow::Continue(()))
}

/// Returns the content of an edge in the past, by the rule of [`fn@resolve`]; `None` if the edge
/// does not exist at the point. `event` is its newest event that covers the point, if there is one.
fn decided<'r>(
    row: Option<&'r [u8]>,
    event: Option<&'r [u8]>,
    point: Point,
) -> Result<Option<&'r [u8]>, GraphError> {
    let row = row.map(Header::decode).transpose()?;
    let row = row.filter(|(row, _)| {
        let is_there = row.kind == RowKind::Put && row.version <= point.version();
        is_there && row.period().covers(point.valid())
    });
    if let Some((header, content)) = &row
        && !header.overlaid
    {
        return Ok(Some(content));
    }
    let event = event.map(Header::decode).transpose()?;
    let newest = row.as_ref().map(|(row, _)| row.version);
    let event = event.filter(|(event, _)| newest.is_none_or(|row| event.version >= row));
    let decided = event.or(row);
    let put = decided.filter(|(header, _)| header.kind == RowKind::Put);
    Ok(put.map(|(_, content)| content))
}

/// Keys of edges in ascending order, in one buffer. Each has its current row, or its newest event
/// that covers the point, if there is one.
struct Chunk {
    /// The most keys that it may contain.
    most: usize,
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    /// Whether the range has further keys.
    is_full: bool,
}

struct Entry {
    key: Range<usize>,
    content: Option<Range<usize>>,
}

impl Chunk {
    const fn new(most: usize) -> Self {
        Self {
            most,
            bytes: Vec::new(),
            entries: Vec::new(),
            is_full: false,
        }
    }

    /// Reads the first current rows of each range.
    fn of_rows_each(
        reader: &dyn Reader,
        ranges: &[PartitionRange<'_>],
    ) -> Result<Vec<Self>, GraphError> {
        let mut chunks: Vec<Self> = ranges.iter().map(|_| Self::new(CHUNK_OF_EACH)).collect();
        reader.scan_many(EDGE, ranges, &mut |at, clustering, row| {
            if !chunks[at].add(clustering) {
                return Flow::Break(());
            }
            chunks[at].put(row);
            Flow::Continue(())
        })?;
        Ok(chunks)
    }

    /// Reads each range as [`Chunk::of_events`] does.
    fn of_events_each(
        reader: &dyn Reader,
        ranges: &[PartitionRange<'_>],
        point: Point,
    ) -> Result<Vec<Self>, GraphError> {
        let mut chunks: Vec<Self> = ranges.iter().map(|_| Self::new(CHUNK_OF_EACH)).collect();
        let mut damaged = None;
        reader.scan_many(EVENT, ranges, &mut |at, clustering, event| {
            if damaged.is_some() {
                return Flow::Break(());
            }
            let added = chunks[at].add_event(clustering, event, point);
            added.unwrap_or_else(|error| {
                damaged = Some(error);
                Flow::Break(())
            })
        })?;
        damaged.map_or(Ok(chunks), |error: DecodeError| Err(error.into()))
    }

    /// Reads the first current rows of a range.
    fn of_rows(
        reader: &dyn Reader,
        partition: &[u8],
        range: &ClusteringRange,
    ) -> Result<Self, GraphError> {
        let mut chunk = Self::new(CHUNK);
        each_row(reader, partition, range, &mut |clustering, row| {
            if !chunk.add(clustering) {
                return Ok(Flow::Break(()));
            }
            chunk.put(row);
            Ok(Flow::Continue(()))
        })?;
        Ok(chunk)
    }

    /// Reads the first edges of a range that have events, each with its newest event that covers
    /// the point, if there is one.
    fn of_events(
        reader: &dyn Reader,
        partition: &[u8],
        range: &ClusteringRange,
        point: Point,
    ) -> Result<Self, GraphError> {
        let mut chunk = Self::new(CHUNK);
        let mut damaged = None;
        let request = ScanRequest {
            table: EVENT,
            partition,
            range,
            reverse: false,
        };
        reader.scan(request, &mut |clustering, event| {
            chunk
                .add_event(clustering, event, point)
                .unwrap_or_else(|error| {
                    damaged = Some(error);
                    Flow::Break(())
                })
        })?;
        damaged.map_or(Ok(chunk), |error: DecodeError| Err(error.into()))
    }

    /// Adds an event; breaks if the chunk is full. The events of an edge must come newest first.
    fn add_event(
        &mut self,
        clustering: &[u8],
        event: &[u8],
        point: Point,
    ) -> Result<Flow, DecodeError> {
        let (current, version) = key::split_event(clustering)?;
        let is_another = self
            .entries
            .len()
            .checked_sub(1)
            .and_then(|at| self.key(at))
            != Some(current);
        if is_another && !self.add(current) {
            return Ok(Flow::Break(()));
        }
        let is_open = self
            .entries
            .last()
            .is_some_and(|last| last.content.is_none());
        if is_open && version <= point.version() {
            let (header, _) = Header::decode(event)?;
            if header.period().covers(point.valid()) {
                self.put(event);
            }
        }
        Ok(Flow::Continue(()))
    }

    /// Adds a key. Returns false if the chunk is full; then the key is read again with the next
    /// chunk.
    fn add(&mut self, key: &[u8]) -> bool {
        self.is_full = self.entries.len() == self.most;
        if !self.is_full {
            let key = self.append(key);
            self.entries.push(Entry { key, content: None });
        }
        !self.is_full
    }

    /// Sets the row or event of the last key.
    fn put(&mut self, content: &[u8]) {
        let content = self.append(content);
        if let Some(last) = self.entries.last_mut() {
            last.content = Some(content);
        }
    }

    fn append(&mut self, bytes: &[u8]) -> Range<usize> {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        start..self.bytes.len()
    }

    fn key(&self, at: usize) -> Option<&[u8]> {
        let entry = self.entries.get(at)?;
        Some(&self.bytes[entry.key.clone()])
    }

    fn content(&self, at: usize) -> Option<&[u8]> {
        let content = self.entries.get(at)?.content.clone()?;
        Some(&self.bytes[content])
    }

    /// The last key; `None` if the range has no further keys.
    fn end(&self) -> Option<&[u8]> {
        self.is_full.then(|| self.key(self.most - 1)).flatten()
    }
}
