//! The edges of a vertex at one point of both times, in the order of their keys.

use varve_encoding::key;
use varve_encoding::row::Header;
use varve_encoding::tables::{EDGE, EVENT};
use varve_kv::{ClusteringRange, Flow, Reader, ScanRequest, TableId};
use varve_model::VertexId;

use super::resolve;
use super::view::{Point, View};
use crate::error::GraphError;

/// Keys read at a time when the past must be merged with the present.
const CHUNK: usize = 512;

/// An edge as an adjacency scan sees it.
#[derive(Debug, Clone, Copy)]
pub struct Adjacent<'a> {
    /// Clustering key on the scanned vertex's side; with the vertex it gives the edge's id ([`key::decode_edge`]).
    pub clustering: &'a [u8],
    /// Content of the edge's row ([`varve_encoding::row::edge_parts`]).
    pub content: &'a [u8],
}

impl View {
    /// Visits the edges of `vertex` whose clustering keys lie in `range`, ascending, until `visit` breaks.
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

    /// As [`View::adjacent`]; `looked` is called before each row that was stored for an edge, whether or not the edge exists
    /// at this point, and ends the walk when it breaks. So a walk over many rows that show nothing can be bounded too.
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
        let partition = key::vertex_id(vertex);
        let walk = if self.scope().is_now() { present } else { past };
        walk(
            self.reader(),
            &partition,
            range,
            self.point(),
            looked,
            visit,
        )
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
    let mut failed = None;
    let request = ScanRequest {
        table: EDGE,
        partition,
        range,
        reverse: false,
    };
    reader.scan(request, &mut |clustering, row| {
        looked()?;
        let row = Some(row);
        match visit_row(reader, partition, clustering, row, point, visit) {
            Ok(flow) => flow,
            Err(error) => {
                failed = Some(error);
                Flow::Break(())
            }
        }
    })?;
    failed.map_or(Ok(()), Err)
}

fn visit_row(
    reader: &dyn Reader,
    partition: &[u8],
    clustering: &[u8],
    row: Option<&[u8]>,
    point: Point,
    visit: &mut dyn FnMut(Adjacent<'_>) -> Flow,
) -> Result<Flow, GraphError> {
    if let Some(row) = row {
        let (header, content) = Header::decode(row)?;
        if point.row_decides(&header) {
            return Ok(visit(Adjacent {
                clustering,
                content,
            }));
        }
    }
    let resolved = resolve(
        reader,
        partition,
        clustering,
        row,
        point.valid(),
        point.version(),
    )?;
    Ok(match resolved {
        Some(resolved) => visit(Adjacent {
            clustering,
            content: &resolved.content,
        }),
        None => Flow::Continue(()),
    })
}

/// Merges the keys of current rows and of events, a chunk at a time, and resolves each edge.
fn past(
    reader: &dyn Reader,
    partition: &[u8],
    range: &ClusteringRange,
    point: Point,
    looked: &mut dyn FnMut() -> Flow,
    visit: &mut dyn FnMut(Adjacent<'_>) -> Flow,
) -> Result<(), GraphError> {
    let mut range = range.clone();
    loop {
        let rows = chunk(reader, EDGE, partition, &range)?;
        let events = chunk(reader, EVENT, partition, &range)?;
        // Beyond the last key of a full chunk there may be more on that side.
        let ends = [&rows, &events].map(|keys| keys.full.then(|| keys.rows.last()).flatten());
        let end = ends.into_iter().flatten().map(|(key, _)| key.clone()).min();
        let mut merged: Vec<(Vec<u8>, Option<Vec<u8>>)> = rows.rows;
        merged.extend(events.rows.into_iter().map(|(key, _)| (key, None)));
        // Of equal keys the one with a row comes first.
        merged.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.is_some().cmp(&a.1.is_some())));
        merged.dedup_by(|later, first| later.0 == first.0);
        for (clustering, row) in &merged {
            if end.as_ref().is_some_and(|end| clustering > end) {
                break;
            }
            if looked().is_break()
                || visit_row(reader, partition, clustering, row.as_deref(), point, visit)?
                    .is_break()
            {
                return Ok(());
            }
        }
        let Some(mut end) = end else { return Ok(()) };
        // After every key that extends `end` by a version: an edge's key is never a prefix of another's.
        end.extend_from_slice(&[0xFF; key::EVENT_SUFFIX]);
        end.push(0);
        range.from = end;
    }
}

struct Chunk {
    rows: Vec<(Vec<u8>, Option<Vec<u8>>)>,
    full: bool,
}

fn chunk(
    reader: &dyn Reader,
    table: TableId,
    partition: &[u8],
    range: &ClusteringRange,
) -> Result<Chunk, GraphError> {
    let mut rows: Vec<(Vec<u8>, Option<Vec<u8>>)> = Vec::new();
    let mut damaged = None;
    let request = ScanRequest {
        table,
        partition,
        range,
        reverse: false,
    };
    reader.scan(request, &mut |clustering, row| {
        if rows.len() > CHUNK {
            return Flow::Break(());
        }
        if table == EDGE {
            rows.push((clustering.to_vec(), Some(row.to_vec())));
            return Flow::Continue(());
        }
        match key::split_event(clustering) {
            // The vertex's own events are not edges.
            Ok((current, _)) if current == key::VERTEX_CLUSTERING => {}
            Ok((current, _)) => {
                if rows.last().is_none_or(|(last, _)| last != current) {
                    rows.push((current.to_vec(), None));
                }
            }
            Err(error) => {
                damaged = Some(error);
                return Flow::Break(());
            }
        }
        Flow::Continue(())
    })?;
    if let Some(error) = damaged {
        return Err(error.into());
    }
    // The row too many tells that there is more; it is read again with the next chunk.
    let full = rows.len() > CHUNK;
    rows.truncate(CHUNK);
    Ok(Chunk { rows, full })
}
