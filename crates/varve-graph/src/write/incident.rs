//! The edges of a vertex that a deletion or a purge of it takes along.

use varve_encoding::key;
use varve_encoding::tables::{EDGE, EVENT};
use varve_kv::{ClusteringRange, Flow, Reader, ScanRequest, TableId};
use varve_model::{EdgeId, VertexId};

use super::emit::Current;
use crate::error::{ErrorKind, GraphError};
use crate::limits::Limits;

/// Which edges of a vertex are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Those that exist now or at some later instant: what has no current row does not.
    NowOrLater,
    /// Those that ever existed, too.
    Ever,
}

/// How much a deletion or a purge may take along in one commit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    /// Edges of one vertex.
    pub(crate) edges: usize,
    /// Bytes of the edges' keys, on both sides, and contents, of all vertices of the commit.
    pub(crate) bytes: usize,
}

impl Room {
    /// What one commit has.
    pub(crate) fn of(limits: &Limits) -> Self {
        Self {
            edges: limits.vertex_delete_edges_max,
            bytes: limits.vertex_delete_bytes_max,
        }
    }

    /// The smaller of both.
    pub(crate) fn at_most(self, edges: usize, bytes: usize) -> Self {
        Self {
            edges: self.edges.min(edges),
            bytes: self.bytes.min(bytes),
        }
    }
}

/// The bytes that an edge's row on one side stands for, its other side's keys included.
pub(super) fn edge_bytes(partition: &[u8], clustering: &[u8], content: &[u8]) -> usize {
    2 * (partition.len() + clustering.len()) + content.len()
}

/// The stored edges of `vertex`, ascending and each once. What they take is taken from the bytes of `room`.
///
/// # Errors
/// [`ErrorKind::LimitExceeded`] when there are more than `room` has; or when the store fails or is damaged.
pub(crate) fn incident_edges(
    reader: &dyn Reader,
    vertex: &VertexId,
    reach: Reach,
    room: &mut Room,
) -> Result<Vec<EdgeId>, GraphError> {
    let tables: &[TableId] = match reach {
        Reach::NowOrLater => &[EDGE],
        Reach::Ever => &[EDGE, EVENT],
    };
    listed(reader, vertex, tables, room, None)
}

/// The edges that `vertex` ever had, as [`incident_edges`] lists them, and its own events, newest first, which stand before
/// theirs: one search finds both.
///
/// # Errors
/// As [`incident_edges`].
pub(super) fn incident_ever(
    reader: &dyn Reader,
    vertex: &VertexId,
    room: &mut Room,
) -> Result<(Vec<EdgeId>, Vec<Current>), GraphError> {
    let mut own = Vec::new();
    let edges = listed(reader, vertex, &[EDGE, EVENT], room, Some(&mut own))?;
    Ok((edges, own))
}

fn listed(
    reader: &dyn Reader,
    vertex: &VertexId,
    tables: &[TableId],
    room: &mut Room,
    mut own: Option<&mut Vec<Current>>,
) -> Result<Vec<EdgeId>, GraphError> {
    let partition = key::vertex_id(vertex);
    let range = ClusteringRange {
        from: match own {
            Some(_) => key::VERTEX_CLUSTERING.to_vec(),
            None => key::EDGES_FROM.to_vec(),
        },
        to: None,
    };
    let mut found: Vec<EdgeId> = Vec::new();
    let (mut damaged, mut failed) = (None, None);
    let mut bytes = 0;
    for table in tables.iter().copied() {
        let request = ScanRequest {
            table,
            partition: &partition,
            range: &range,
            reverse: false,
        };
        reader.scan(request, &mut |clustering, row| {
            let current = match table {
                EVENT => key::split_event(clustering).map(|(current, _)| current),
                _ => Ok(clustering),
            };
            if let (Ok(key::VERTEX_CLUSTERING), Some(own)) = (&current, &mut own) {
                match Current::decode(row) {
                    Ok(event) => own.push(event),
                    Err(error) => failed = Some(error),
                }
                return match failed {
                    Some(_) => Flow::Break(()),
                    None => Flow::Continue(()),
                };
            }
            match current.and_then(|current| key::decode_edge(&partition, current)) {
                Ok((id, _)) if found.last() != Some(&id) => {
                    found.push(id);
                    bytes += edge_bytes(&partition, clustering, row);
                }
                Ok(_) => {}
                Err(error) => damaged = Some(error),
            }
            if damaged.is_some() || found.len() > room.edges || bytes > room.bytes {
                Flow::Break(())
            } else {
                Flow::Continue(())
            }
        })?;
    }
    if let Some(error) = failed {
        return Err(error);
    }
    if let Some(error) = damaged {
        return Err(error.into());
    }
    if found.len() > room.edges {
        let limit = room.edges;
        let message = format!("Vertex '{vertex}' has more than {limit} edges: delete them first");
        return Err(GraphError::new(ErrorKind::LimitExceeded, message));
    }
    if bytes > room.bytes {
        let message = format!(
            "The edges of the vertices to be deleted have more bytes than limits.vertex_delete_bytes_max allows at once: \
             delete edges of vertex '{vertex}' first"
        );
        return Err(GraphError::new(ErrorKind::LimitExceeded, message));
    }
    room.bytes -= bytes;
    found.sort_unstable();
    found.dedup();
    Ok(found)
}
