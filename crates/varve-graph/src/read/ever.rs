//! Every element that a graph ever had and did not purge, also those that exist at no point any more that a listing shows.
//!
//! First come the elements with a current row, then those that have events only. An element that is deleted between two
//! pages may come on both. A page ends after so many rows, whatever they are, and the next one goes on at the row after: a
//! page token names a row, not an element.

use varve_encoding::key::{self, VERTEX_CLUSTERING};
use varve_encoding::tables::{EDGE, EVENT, VERTEX};
use varve_kv::{Flow, TableId};
use varve_model::{Direction, ElementId};

use super::View;
use crate::error::{ErrorKind, GraphError};
use crate::write::sides;

/// Rows looked at for one page: a page ends after so many.
pub const EVER_ROWS_MAX: usize = 100_000;
/// Bytes of the ids of one page: a page ends after so many.
const ID_BYTES_MAX: usize = 8 << 20;

/// One page of ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EverPage {
    /// The ids, of vertices or of edges.
    pub ids: Vec<ElementId>,
    /// What to go on with; `None` at the end. A page may be short, or empty, and have a next one.
    pub next: Option<Vec<u8>>,
}

/// Which elements are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Vertices = 0,
    Edges = 2,
}

impl Kind {
    fn table(self) -> TableId {
        match self {
            Self::Vertices => VERTEX,
            Self::Edges => EDGE,
        }
    }

    /// Whether a current row with this clustering key stands for an element that is listed: an edge's on its source's side.
    fn wants(self, clustering: &[u8]) -> bool {
        match self {
            Self::Vertices => clustering == VERTEX_CLUSTERING,
            Self::Edges => clustering.starts_with(&key::direction_prefix(Direction::Out)),
        }
    }
}

/// The part of the walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Current = 0,
    Events = 1,
}

/// Partition and clustering key of a row.
type RowPlace = (Vec<u8>, Vec<u8>);

impl View {
    /// At most `limit` ids of vertices, after the page that gave `after`. `looked` is called before each row that is looked
    /// at, and ends the page when it breaks.
    ///
    /// # Errors
    /// [`ErrorKind::BadPage`] when no page of vertices gave `after`; when the store fails or is damaged.
    pub fn ever_vertices(
        &self,
        after: Option<&[u8]>,
        limit: usize,
        looked: &mut dyn FnMut() -> Flow,
    ) -> Result<EverPage, GraphError> {
        self.ever(Kind::Vertices, after, limit, looked)
    }

    /// At most `limit` ids of edges, alike.
    ///
    /// # Errors
    /// As [`View::ever_vertices`].
    pub fn ever_edges(
        &self,
        after: Option<&[u8]>,
        limit: usize,
        looked: &mut dyn FnMut() -> Flow,
    ) -> Result<EverPage, GraphError> {
        self.ever(Kind::Edges, after, limit, looked)
    }

    fn ever(
        &self,
        kind: Kind,
        after: Option<&[u8]>,
        limit: usize,
        looked: &mut dyn FnMut() -> Flow,
    ) -> Result<EverPage, GraphError> {
        let (mut phase, mut after) = match after {
            None => (Phase::Current, None),
            Some(token) => parse(kind, token)?,
        };
        let mut page = Page {
            kind,
            room: limit,
            id_bytes: 0,
            rows: 0,
            looked,
        };
        let mut ids = Vec::new();
        loop {
            let (found, last) = self.walk(&mut page, phase, after)?;
            match phase {
                Phase::Current => ids.extend(found),
                Phase::Events => {
                    for id in found {
                        let side = sides(&id).1.remove(0);
                        let table = kind.table();
                        let row = self
                            .reader()
                            .get(table, &side.partition, &side.clustering)?;
                        if row.is_none() {
                            ids.push(id);
                        }
                    }
                }
            }
            let next = match (last, phase) {
                (Some(last), _) => Some((phase, Some(last))),
                (None, Phase::Current) => {
                    (phase, after) = (Phase::Events, None);
                    if !page.is_full() {
                        continue;
                    }
                    Some((phase, None))
                }
                (None, Phase::Events) => None,
            };
            let next = next.map(|(phase, last)| write(kind, phase, last.as_ref()));
            return Ok(EverPage { ids, next });
        }
    }

    /// The elements of a phase's rows after `after`, as many as the page takes; and the last row looked at, unless the rows
    /// have ended.
    fn walk(
        &self,
        page: &mut Page<'_>,
        phase: Phase,
        after: Option<RowPlace>,
    ) -> Result<(Vec<ElementId>, Option<RowPlace>), GraphError> {
        let table = match phase {
            Phase::Current => page.kind.table(),
            Phase::Events => EVENT,
        };
        let mut walk = Walk {
            page,
            phase,
            found: Vec::new(),
            last: after.clone().unwrap_or_default(),
            ended: true,
            failed: None,
        };
        let from = after.as_ref();
        let from =
            from.map(|(partition, clustering)| (partition.as_slice(), clustering.as_slice()));
        self.reader().scan_table(table, from, &mut |row| {
            walk.look(row.partition, row.clustering)
        })?;
        match walk.failed {
            Some(error) => Err(error),
            None => Ok((walk.found, (!walk.ended).then_some(walk.last))),
        }
    }
}

/// What a page may still take.
struct Page<'a> {
    kind: Kind,
    /// Ids.
    room: usize,
    /// Of the ids found so far.
    id_bytes: usize,
    /// Looked at so far.
    rows: usize,
    looked: &'a mut dyn FnMut() -> Flow,
}

impl Page<'_> {
    fn is_full(&self) -> bool {
        self.room == 0 || self.id_bytes >= ID_BYTES_MAX || self.rows >= EVER_ROWS_MAX
    }
}

/// What a scan has found so far.
struct Walk<'a, 'p> {
    page: &'a mut Page<'p>,
    phase: Phase,
    found: Vec<ElementId>,
    /// The last row looked at; both keys are empty before the first.
    last: RowPlace,
    ended: bool,
    failed: Option<GraphError>,
}

impl Walk<'_, '_> {
    fn look(&mut self, partition: &[u8], clustering: &[u8]) -> Flow {
        if self.page.is_full() || (self.page.looked)().is_break() {
            self.ended = false;
            return Flow::Break(());
        }
        self.page.rows += 1;
        if let Err(error) = self.take(partition, clustering) {
            self.failed = Some(error);
            return Flow::Break(());
        }
        for (last, now) in [
            (&mut self.last.0, partition),
            (&mut self.last.1, clustering),
        ] {
            last.clear();
            last.extend_from_slice(now);
        }
        Flow::Continue(())
    }

    /// Adds the element of a row, unless it is none that is wanted or the row before was of the same.
    fn take(&mut self, partition: &[u8], clustering: &[u8]) -> Result<(), GraphError> {
        let current = element_part(self.phase, clustering)?;
        if !self.page.kind.wants(current) {
            return Ok(());
        }
        let (last_partition, last_clustering) = &self.last;
        // The clustering keys of events of one element differ in their last bytes only.
        let again = last_partition == partition
            && element_part(self.phase, last_clustering).is_ok_and(|last| last == current);
        if again {
            return Ok(());
        }
        self.found.push(match self.page.kind {
            Kind::Vertices => ElementId::Vertex(key::decode_vertex_id(partition)?),
            Kind::Edges => ElementId::Edge(key::decode_edge(partition, current)?.0),
        });
        self.page.room -= 1;
        self.page.id_bytes += partition.len() + current.len();
        Ok(())
    }
}

/// The clustering key of the current row of an element that a row of a phase belongs to.
fn element_part(phase: Phase, clustering: &[u8]) -> Result<&[u8], GraphError> {
    match phase {
        Phase::Current => Ok(clustering),
        Phase::Events => Ok(key::split_event(clustering)?.0),
    }
}

/// A page token: a byte for kind and phase, then the keys of the last row looked at, if there is one.
fn write(kind: Kind, phase: Phase, last: Option<&RowPlace>) -> Vec<u8> {
    let mut bytes = vec![kind as u8 | phase as u8];
    if let Some((partition, clustering)) = last {
        bytes.extend_from_slice(partition);
        bytes.extend_from_slice(clustering);
    }
    bytes
}

fn parse(kind: Kind, token: &[u8]) -> Result<(Phase, Option<RowPlace>), GraphError> {
    let bad = || GraphError::new(ErrorKind::BadPage, "Invalid page");
    let (first, row) = token.split_first().ok_or_else(bad)?;
    let phase = match first.checked_sub(kind as u8) {
        Some(0) => Phase::Current,
        Some(1) => Phase::Events,
        _ => return Err(bad()),
    };
    if row.is_empty() {
        return Ok((phase, None));
    }
    let length = key::vertex_id_len(row).ok_or_else(bad)?;
    let (partition, clustering) = row.split_at_checked(length).ok_or_else(bad)?;
    let current = element_part(phase, clustering).map_err(|_| bad())?;
    let sound = key::decode_vertex_id(partition).is_ok()
        && (current == VERTEX_CLUSTERING || key::decode_edge(partition, current).is_ok());
    if !sound {
        return Err(bad());
    }
    Ok((phase, Some((partition.to_vec(), clustering.to_vec()))))
}
