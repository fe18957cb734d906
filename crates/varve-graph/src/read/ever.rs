//! Lists every element that a graph ever had and that was not purged, including elements that exist
//! at no point of an ordinary listing.
//!
//! The first phase lists the elements with a current row, the second phase those that have only
//! events. An element that is written between two pages may be listed twice. If it was deleted when
//! the first phase passed it, and exists again when the second phase does, its current row is newer
//! than the first page; so the second phase lists it, too.
//!
//! A page ends after a number of rows, whether or not they are listed, and the next one begins at
//! the row after. So a page token names a row, not an element. If the rest of a partition has
//! nothing to list, the token names the end of the partition, since keys of edges are long.

use varve_encoding::key::{self, VERTEX_CLUSTERING};
use varve_encoding::row::{Header, RowKind};
use varve_encoding::tables::{EDGE, EVENT, VERTEX};
use varve_kv::{ClusteringRange, Flow, ScanRequest, TableId};
use varve_model::{CommitVersion, Direction, EdgeId, ElementId, VertexId};

use super::View;
use crate::error::{ErrorKind, GraphError};
use crate::near::{Place, get_near};
use crate::query::RowKey;
use crate::rows::sides;

/// The most rows read for one page.
pub const EVER_ROWS_MAX: usize = 100_000;
/// The most bytes of ids in one page.
const ID_BYTES_MAX: usize = 8 << 20;
/// The most elements with events whose current rows are looked up in one go, without a call to the
/// caller in between.
const LOOK_UPS_MAX: usize = 256;
/// Sorts after all clustering keys of vertices, edges and their events.
const PARTITION_END: &[u8] = &[0xFF];

/// One page of ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EverPage {
    /// The ids, of vertices or of edges.
    pub ids: Vec<ElementId>,
    /// The page token of the next page; `None` at the end. A page may be short or empty and still
    /// have a next one.
    pub next: Option<Vec<u8>>,
}

/// The kind of elements that are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ListedKind {
    Vertices = 0,
    Edges = 2,
}

impl ListedKind {
    fn table(self) -> TableId {
        match self {
            Self::Vertices => VERTEX,
            Self::Edges => EDGE,
        }
    }

    /// Whether a current row with this clustering key is an element of this kind; for an edge, only
    /// the row on its source's side.
    fn wants(self, clustering: &[u8]) -> bool {
        match self {
            Self::Vertices => clustering == VERTEX_CLUSTERING,
            Self::Edges => key::is_out_edge(clustering),
        }
    }

    /// Whether neither the row with this clustering key, of either phase, nor any later row of its
    /// partition is of this kind.
    fn is_done_at(self, clustering: &[u8]) -> bool {
        let of_vertex = clustering.starts_with(VERTEX_CLUSTERING);
        !of_vertex && (self == Self::Vertices || !key::is_out_edge(clustering))
    }
}

/// The phase of the walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Current = 0,
    Events = 1,
}

impl View {
    /// Returns at most `limit` ids of vertices, after the page that returned `after`. `looked` is
    /// called before each row that is read, and a break ends the page.
    ///
    /// # Errors
    /// [`ErrorKind::BadPage`] when `after` is not a token of a page of vertices; when the store
    /// fails or is damaged.
    pub fn ever_vertices(
        &self,
        after: Option<&[u8]>,
        limit: usize,
        looked: &mut dyn FnMut() -> Flow,
    ) -> Result<EverPage, GraphError> {
        self.ever(ListedKind::Vertices, after, limit, looked)
    }

    /// As [`View::ever_vertices`], for edges.
    ///
    /// # Errors
    /// As [`View::ever_vertices`].
    pub fn ever_edges(
        &self,
        after: Option<&[u8]>,
        limit: usize,
        looked: &mut dyn FnMut() -> Flow,
    ) -> Result<EverPage, GraphError> {
        self.ever(ListedKind::Edges, after, limit, looked)
    }

    /// Visits the visible edges that ever left a vertex and were not purged, each at least once,
    /// until `visit` breaks. `looked` is called for each row, with whether its edge is visible, and
    /// a break ends the visits, too.
    ///
    /// # Errors
    /// When the store fails or is damaged.
    pub fn ever_edges_of(
        &self,
        source: &VertexId,
        looked: &mut dyn FnMut(bool) -> Flow,
        visit: &mut dyn FnMut(EdgeId) -> Flow,
    ) -> Result<(), GraphError> {
        let partition = key::vertex_id(source);
        let range = ClusteringRange::prefix(&key::direction_prefix(Direction::Out));
        let (mut last, mut is_shown) = (Vec::new(), false);
        for table in [EDGE, EVENT] {
            let request = ScanRequest {
                table,
                partition: &partition,
                range: &range,
                reverse: false,
            };
            let (mut outcome, mut flow) = (Ok(()), Flow::Continue(()));
            let mut see = |clustering: &[u8]| {
                let current = match table {
                    EVENT => key::split_event(clustering)?.0,
                    _ => clustering,
                };
                let mut new = None;
                if last != current {
                    last = current.to_vec();
                    let id = ElementId::Edge(key::decode_edge(&partition, current)?.0);
                    is_shown = self.guard.is_none() || self.shows_some_state(&id)?;
                    new = Some(id);
                }
                Ok::<_, GraphError>(match (looked(is_shown), new) {
                    (Flow::Continue(()), Some(ElementId::Edge(id))) if is_shown => visit(id),
                    (flow, _) => flow,
                })
            };
            self.reader().scan(request, &mut |clustering, _| {
                flow = see(clustering).unwrap_or_else(|error| {
                    outcome = Err(error);
                    Flow::Break(())
                });
                flow
            })?;
            outcome?;
            if flow.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn ever(
        &self,
        kind: ListedKind,
        after: Option<&[u8]>,
        limit: usize,
        looked: &mut dyn FnMut() -> Flow,
    ) -> Result<EverPage, GraphError> {
        let mut token = self.token(kind, after)?;
        let mut page = Page {
            kind,
            room: limit,
            id_bytes: 0,
            rows: 0,
            looked,
        };
        let mut ids = Vec::new();
        // With a policy, a token names only rows that were listed.
        let mut listed_last = None;
        loop {
            let walked = self.walk(&mut page, token.phase, token.last)?;
            let mut only_here = match token.phase {
                Phase::Current => Vec::new(),
                Phase::Events => self.are_only_here(kind, &walked.found, token.seen)?,
            }
            .into_iter();
            let mut left = walked.found.into_iter().peekable();
            while let Some(found) = left.next() {
                let listed = only_here.next().unwrap_or(true);
                if !listed || (self.guard.is_some() && !self.shows_some_state(&found.id)?) {
                    continue;
                }
                if self.guard.is_some() {
                    listed_last = Some((token.phase, found.at.clone()));
                }
                page.room -= 1;
                page.id_bytes += found.bytes();
                ids.push(found.id);
                if page.is_filled() && left.peek().is_some() {
                    token.last = Some(found.at);
                    let next = Some(token.write(kind));
                    return Ok(EverPage { ids, next });
                }
            }
            let ended = walked.stopped.is_none();
            token.last = walked.stopped;
            if ended && token.phase == Phase::Events {
                return Ok(EverPage { ids, next: None });
            }
            if ended {
                token.phase = Phase::Events;
            }
            if page.is_filled() || page.rows >= EVER_ROWS_MAX || walked.broken {
                match (&self.guard, listed_last.take()) {
                    (None, _) => {}
                    (Some(_), Some((phase, last))) => {
                        (token.phase, token.last) = (phase, Some(last));
                    }
                    (Some(_), None) if walked.broken => return Ok(EverPage { ids, next: None }),
                    (Some(_), None) => {
                        page.rows = 0;
                        continue;
                    }
                }
                let next = Some(token.write(kind));
                return Ok(EverPage { ids, next });
            }
        }
    }

    /// Returns the start of a listing: after the token, or at the beginning.
    fn token(&self, kind: ListedKind, after: Option<&[u8]>) -> Result<Token, GraphError> {
        match after {
            None => Ok(Token {
                phase: Phase::Current,
                seen: self.last_commit()?,
                last: None,
            }),
            Some(token) => Token::parse(kind, token),
        }
    }

    /// Whether each of these elements, which have events, may have had no current row when the
    /// first phase passed it. `seen` is the last commit before the first page.
    fn are_only_here(
        &self,
        kind: ListedKind,
        found: &[EverListed],
        seen: CommitVersion,
    ) -> Result<Vec<bool>, GraphError> {
        let sides: Vec<_> = found.iter().map(|it| sides(&it.id).1.remove(0)).collect();
        let places: Vec<Place<'_>> = sides
            .iter()
            .map(|side| (&side.partition[..], &side.clustering[..]))
            .collect();
        let mut only_here = vec![true; found.len()];
        let mut damaged = Ok(());
        get_near(self.reader(), kind.table(), &places, &mut |at, row| {
            match Header::decode(row) {
                Ok((header, _)) => {
                    let written = match header.kind {
                        // A marker has no version; the event that it announces has.
                        RowKind::Marker => found[at].newest,
                        RowKind::Put | RowKind::Delete => header.version,
                    };
                    only_here[at] = written > seen;
                }
                Err(error) => damaged = Err(error),
            }
        })?;
        damaged?;
        Ok(only_here)
    }

    /// Reads the elements of a phase's rows after `after`. The first phase reads no more than the
    /// page takes. The second phase reads a whole batch, since most of its elements are not listed.
    fn walk(
        &self,
        page: &mut Page<'_>,
        phase: Phase,
        after: Option<RowKey>,
    ) -> Result<Walked, GraphError> {
        let table = match phase {
            Phase::Current => page.kind.table(),
            Phase::Events => EVENT,
        };
        let most = match phase {
            Phase::Current => page.room,
            Phase::Events => LOOK_UPS_MAX,
        };
        let mut walk = Walk {
            id_bytes: page.id_bytes,
            page,
            phase,
            most,
            found: Vec::new(),
            last: after.clone().unwrap_or_default(),
            ended: true,
            broken: false,
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
            None => Ok(Walked {
                found: walk.found,
                stopped: (!walk.ended).then_some(walk.last),
                broken: walk.broken,
            }),
        }
    }
}

/// An element found in the rows of a phase.
struct EverListed {
    id: ElementId,
    /// The version of its newest event, in the second phase.
    newest: CommitVersion,
    /// The first of its rows.
    at: RowKey,
}

impl EverListed {
    /// The length of its keys, in bytes.
    fn bytes(&self) -> usize {
        self.at.0.len() + self.at.1.len()
    }
}

/// The result of one scan.
struct Walked {
    found: Vec<EverListed>,
    /// The last row read; `None` if the rows have ended.
    stopped: Option<RowKey>,
    /// Whether the caller ended the scan.
    broken: bool,
}

/// The page that is being filled.
struct Page<'a> {
    kind: ListedKind,
    /// How many ids it still takes.
    room: usize,
    /// Bytes of the keys of the ids listed so far.
    id_bytes: usize,
    /// Rows read so far.
    rows: usize,
    looked: &'a mut dyn FnMut() -> Flow,
}

impl Page<'_> {
    fn is_filled(&self) -> bool {
        self.room == 0 || self.id_bytes >= ID_BYTES_MAX
    }
}

/// The state of one scan.
struct Walk<'a, 'p> {
    page: &'a mut Page<'p>,
    phase: Phase,
    /// The most elements to find.
    most: usize,
    /// As [`Page::id_bytes`], if all found elements were listed.
    id_bytes: usize,
    found: Vec<EverListed>,
    /// The last row read; both keys are empty before the first.
    last: RowKey,
    ended: bool,
    broken: bool,
    failed: Option<GraphError>,
}

impl Walk<'_, '_> {
    fn look(&mut self, partition: &[u8], clustering: &[u8]) -> Flow {
        let full = self.found.len() >= self.most
            || self.id_bytes >= ID_BYTES_MAX
            || self.page.rows >= EVER_ROWS_MAX;
        self.broken = !full && (self.page.looked)().is_break();
        if full || self.broken {
            self.ended = false;
            return Flow::Break(());
        }
        self.page.rows += 1;
        if let Err(error) = self.take(partition, clustering) {
            self.failed = Some(error);
            return Flow::Break(());
        }
        let done = self.page.kind.is_done_at(clustering);
        let clustering = if done { PARTITION_END } else { clustering };
        for (last, now) in [
            (&mut self.last.0, partition),
            (&mut self.last.1, clustering),
        ] {
            last.clear();
            last.extend_from_slice(now);
        }
        Flow::Continue(())
    }

    /// Adds the element of a row, unless it is of the other kind or the previous row was of the
    /// same element.
    fn take(&mut self, partition: &[u8], clustering: &[u8]) -> Result<(), GraphError> {
        let (current, newest) = element_part(self.phase, clustering)?;
        if !self.page.kind.wants(current) {
            return Ok(());
        }
        let (last_partition, last_clustering) = &self.last;
        // The clustering keys of events of one element differ in their last bytes only.
        let again = last_partition == partition
            && element_part(self.phase, last_clustering).is_ok_and(|(last, _)| last == current);
        if again {
            return Ok(());
        }
        let id = match self.page.kind {
            ListedKind::Vertices => ElementId::Vertex(key::decode_vertex_id(partition)?),
            ListedKind::Edges => ElementId::Edge(key::decode_edge(partition, current)?.0),
        };
        let at = (partition.to_vec(), clustering.to_vec());
        let found = EverListed { id, newest, at };
        self.id_bytes += found.bytes();
        self.found.push(found);
        Ok(())
    }
}

/// Returns the clustering key of the current row to which a row of a phase belongs, and the version
/// of an event.
fn element_part(phase: Phase, clustering: &[u8]) -> Result<(&[u8], CommitVersion), GraphError> {
    match phase {
        Phase::Current => Ok((clustering, CommitVersion::ZERO)),
        Phase::Events => Ok(key::split_event(clustering)?),
    }
}

/// The position between two pages.
struct Token {
    phase: Phase,
    /// The last commit before the first page.
    seen: CommitVersion,
    /// The last row read in this phase, or the end of its partition; `None` at the start.
    last: Option<RowKey>,
}

impl Token {
    /// Encodes the token: a byte for kind and phase, the version, then the keys of the row, if
    /// there is one.
    fn write(&self, kind: ListedKind) -> Vec<u8> {
        let mut bytes = vec![kind as u8 | self.phase as u8];
        bytes.extend_from_slice(&self.seen.0.to_be_bytes());
        if let Some((partition, clustering)) = &self.last {
            bytes.extend_from_slice(partition);
            bytes.extend_from_slice(clustering);
        }
        bytes
    }

    fn parse(kind: ListedKind, token: &[u8]) -> Result<Self, GraphError> {
        let bad = || GraphError::new(ErrorKind::BadPage, "Invalid page");
        let (first, rest) = token.split_first().ok_or_else(bad)?;
        let phase = match first.checked_sub(kind as u8) {
            Some(0) => Phase::Current,
            Some(1) => Phase::Events,
            _ => return Err(bad()),
        };
        let (seen, row) = rest.split_first_chunk::<8>().ok_or_else(bad)?;
        let seen = CommitVersion(u64::from_be_bytes(*seen));
        if row.is_empty() {
            let last = None;
            return Ok(Self { phase, seen, last });
        }
        let length = key::vertex_id_len(row).ok_or_else(bad)?;
        let (partition, clustering) = row.split_at_checked(length).ok_or_else(bad)?;
        let names_row = || {
            element_part(phase, clustering).is_ok_and(|(current, _)| {
                current == VERTEX_CLUSTERING || key::decode_edge(partition, current).is_ok()
            })
        };
        let sound = key::decode_vertex_id(partition).is_ok()
            && (clustering == PARTITION_END || names_row());
        if !sound {
            return Err(bad());
        }
        let last = Some((partition.to_vec(), clustering.to_vec()));
        Ok(Self { phase, seen, last })
    }
}
