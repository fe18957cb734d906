//! The edges of a vertex that are deleted or purged with it.

use varve_encoding::key;
use varve_encoding::tables::{EDGE, EVENT};
use varve_kv::{ClusteringRange, Flow, Reader, ScanRequest, TableId};
use varve_model::{EdgeId, ElementId, VertexId};

use super::held::HeldRows;
use crate::error::{ErrorKind, GraphError};
use crate::hash::IdMap;
use crate::limits::Limits;
use crate::rows::Current;

/// Which edges of a vertex to return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Edges that exist now or later; an edge without a current row does neither.
    NowOrLater,
    /// Edges that ever existed, too.
    Ever,
}

/// The most that one commit may delete or purge with vertices.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    /// Edges of one vertex.
    pub(crate) edges: usize,
    /// Bytes of the edges' keys, on both sides, and of their contents, for all vertices of the
    /// commit.
    pub(crate) bytes: usize,
}

impl Room {
    /// The limits of one commit.
    pub(crate) fn of(limits: &Limits) -> Self {
        Self {
            edges: limits.vertex_delete_edges_max,
            bytes: limits.vertex_delete_bytes_max,
        }
    }

    /// Returns an error if a vertex has more edges, or they have more bytes, than there is room
    /// for.
    fn check(&self, vertex: &VertexId, edges: usize, bytes: usize) -> Result<(), GraphError> {
        if edges > self.edges {
            let limit = self.edges;
            let message =
                format!("Vertex '{vertex}' has more than {limit} edges: delete them first");
            return Err(GraphError::new(ErrorKind::LimitExceeded, message));
        }
        if bytes > self.bytes {
            let message = format!(
                "The edges of the vertices to be deleted have more bytes than limits.vertex_delete_bytes_max allows for one commit: \
                 delete edges of vertex '{vertex}' first"
            );
            return Err(GraphError::new(ErrorKind::LimitExceeded, message));
        }
        Ok(())
    }

    /// The limits of one step of the deletion of a vertex that has too many edges for one commit.
    pub(crate) fn of_step(limits: &Limits) -> Self {
        Self::of(limits).at_most(STEP_EDGES, STEP_BYTES)
    }

    /// Reduces both limits to at most these values.
    pub(crate) fn at_most(self, edges: usize, bytes: usize) -> Self {
        Self {
            edges: self.edges.min(edges),
            bytes: self.bytes.min(bytes),
        }
    }
}

/// The most edges that one step deletes, and the bytes of edges after which a step ends.
const STEP_EDGES: usize = 10_000;
const STEP_BYTES: usize = 16 << 20;

/// Returns the bytes of an edge, counted from its row on one side: the keys of both sides and one
/// content.
pub(super) fn edge_bytes(partition: &[u8], clustering: &[u8], content: &[u8]) -> usize {
    2 * (partition.len() + clustering.len()) + content.len()
}

/// Returns the stored edges of `vertex`, ascending and without duplicates. Their bytes are
/// subtracted from `room`.
///
/// # Errors
/// [`ErrorKind::LimitExceeded`] when the edges exceed `room`; or when the store fails or is
/// damaged.
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

/// Returns the stored edges of `vertex` whose key on its side is at least `from`, in the order of
/// these keys, until `room` is full; and the key at which to continue, if there may be more. An
/// edge from the vertex to itself may come twice.
///
/// # Errors
/// When the store fails or is damaged.
pub(super) fn some_edges(
    reader: &dyn Reader,
    vertex: &VertexId,
    from: &[u8],
    room: Room,
) -> Result<(Vec<EdgeId>, Option<Vec<u8>>), GraphError> {
    let partition = key::vertex_id(vertex);
    let range = ClusteringRange {
        from: from.to_vec(),
        to: None,
    };
    let request = ScanRequest {
        table: EDGE,
        partition: &partition,
        range: &range,
        reverse: false,
    };
    let (mut found, mut rest, mut damaged) = (Vec::new(), None, None);
    let mut bytes = 0;
    reader.scan(request, &mut |clustering, row| {
        match key::decode_edge(&partition, clustering) {
            Ok((id, _)) => found.push(id),
            Err(error) => {
                damaged = Some(error);
                return Flow::Break(());
            }
        }
        bytes += edge_bytes(&partition, clustering, row);
        if found.len() < room.edges && bytes < room.bytes {
            return Flow::Continue(());
        }
        // The first key after this one.
        rest = Some([clustering, &[0]].concat());
        Flow::Break(())
    })?;
    match damaged {
        Some(error) => Err(error.into()),
        None => Ok((found, rest)),
    }
}

/// Returns the edges that `vertex` ever had, as [`incident_edges`] does. The vertex's own events
/// sort before the events of its edges, so the same scan finds them; they are added to `own`. The
/// vertex is latched, so the edges' current rows can be cached in `rows`.
///
/// # Errors
/// As [`incident_edges`].
pub(super) fn incident_ever(
    reader: &dyn Reader,
    vertex: &VertexId,
    room: &mut Room,
    own: &mut OwnEvents,
    rows: &mut HeldRows,
) -> Result<Vec<EdgeId>, GraphError> {
    let mut found = VertexEvents {
        left: OWN_EVENTS_BYTES_MAX.saturating_sub(own.bytes),
        bytes: 0,
        events: Some(Vec::new()),
        rows,
    };
    let edges = listed(reader, vertex, &[EDGE, EVENT], room, Some(&mut found))?;
    if let Some(events) = found.events {
        own.bytes += found.bytes;
        own.of.insert(vertex.clone(), events);
    }
    Ok(edges)
}

/// The most bytes of events that one transaction caches.
const OWN_EVENTS_BYTES_MAX: usize = 4 << 20;

/// The cached events of vertices, newest first, so that a purge need not read them again. The
/// events of a vertex that would take too much memory are not cached.
#[derive(Default)]
pub(super) struct OwnEvents {
    of: IdMap<VertexId, Vec<Current>>,
    /// Bytes of all cached events.
    bytes: usize,
}

impl OwnEvents {
    /// Removes and returns the cached events of a vertex.
    pub(super) fn take(&mut self, vertex: &VertexId) -> Option<Vec<Current>> {
        self.of.remove(vertex)
    }
}

/// The events of one vertex that a scan finds.
struct VertexEvents<'r> {
    /// The most bytes that the events may have.
    left: usize,
    bytes: usize,
    /// `None` if they exceeded `left`.
    events: Option<Vec<Current>>,
    /// Receives the current rows of the vertex's edges.
    rows: &'r mut HeldRows,
}

impl VertexEvents<'_> {
    fn add(&mut self, row: &[u8]) -> Result<(), GraphError> {
        let Some(events) = &mut self.events else {
            return Ok(());
        };
        self.bytes += size_of::<Current>() + row.len();
        if self.bytes > self.left {
            self.events = None;
            return Ok(());
        }
        events.push(Current::decode(row)?);
        Ok(())
    }
}

fn listed(
    reader: &dyn Reader,
    vertex: &VertexId,
    tables: &[TableId],
    room: &mut Room,
    mut own: Option<&mut VertexEvents<'_>>,
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
                failed = own.add(row).err();
                return match failed {
                    Some(_) => Flow::Break(()),
                    None => Flow::Continue(()),
                };
            }
            match current.and_then(|current| key::decode_edge(&partition, current)) {
                Ok((id, _)) if found.last() != Some(&id) => {
                    if let (EDGE, Some(own)) = (table, &mut own) {
                        let id = ElementId::Edge(id.clone());
                        let key_bytes = partition.len() + clustering.len();
                        own.rows.keep_copy(&id, key_bytes, row);
                    }
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
    room.check(vertex, found.len(), bytes)?;
    room.bytes -= bytes;
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use varve_encoding::row::Header;
    use varve_encoding::tables::{TABLES, VERTEX};
    use varve_kv::{Batch, Durability, Engine, MemoryEngine};
    use varve_model::CommitVersion;

    use super::*;

    #[test]
    fn events_are_kept_as_long_as_there_is_room() {
        const EVENTS: u64 = 8;
        let space = MemoryEngine::new()
            .open("g", TABLES, true)
            .expect("a space");
        let mut batch = Batch::new();
        let each = OWN_EVENTS_BYTES_MAX / 2 / EVENTS as usize;
        let vertices = ["half", "most", "too much", "little"].map(VertexId::text);
        for (vertex, bytes) in vertices.iter().zip([each, each - 1_000, 4 * each, 1]) {
            let partition = key::vertex_id(vertex);
            for version in 1..=EVENTS {
                let row = event(version, bytes);
                let clustering =
                    key::event_clustering(key::VERTEX_CLUSTERING, CommitVersion(version));
                batch.put(EVENT, &partition, &clustering, &row);
            }
            batch.put(VERTEX, &partition, key::VERTEX_CLUSTERING, b"not looked at");
        }
        space.write(&batch, Durability::Buffered).expect("written");
        let mut own = OwnEvents::default();
        for vertex in &vertices {
            let mut room = Room { edges: 0, bytes: 0 };
            let mut rows = HeldRows::default();
            let edges = incident_ever(&*space, vertex, &mut room, &mut own, &mut rows);
            assert_eq!(edges.expect("listed"), []);
        }
        assert!(own.bytes <= OWN_EVENTS_BYTES_MAX);
        let [half, most, too_much, little] = vertices.map(|vertex| own.take(&vertex));
        for kept in [half, most, little] {
            let versions = kept.expect("there was room").into_iter();
            let versions: Vec<u64> = versions.map(|event| event.header.version.0).collect();
            assert_eq!(versions, (1..=EVENTS).rev().collect::<Vec<_>>());
        }
        assert!(too_much.is_none());
    }

    fn event(version: u64, bytes: usize) -> Vec<u8> {
        let mut row = Vec::new();
        let header = Header {
            version: CommitVersion(version),
            ..Header::put_now()
        };
        header.encode(&mut row);
        row.resize(row.len() + bytes, 0);
        row
    }
}
