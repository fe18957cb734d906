//! Changes: what each commit did to elements, in order of transaction time.
//!
//! Where a graph keeps changes ([`crate::GraphOptions::changes`]), each commit leaves rows in the
//! table `change` that name the elements it touched. The events themselves stay where they are; a
//! reader looks each up by element and version. A commit is visible only when every smaller version
//! is, so whoever asks for what comes after a version misses nothing and sees nothing twice.

use std::sync::atomic::{AtomicU64, Ordering};

use varve_encoding::change::{self, Touched};
use varve_encoding::row::{Header, Kind};
use varve_encoding::tables::{CHANGE, EDGE, EVENT, VERTEX};
use varve_encoding::{DecodeError, key};
use varve_kv::{Batch, ClusteringRange, Flow, Reader, ScanRequest};
use varve_model::schema::Retention;
use varve_model::{CommitVersion, Element, ElementId, Instant, Period, TemporalScope};

use crate::commit::Stamps;
use crate::error::GraphError;
use crate::graph::Graph;
use crate::notes::Notes;
use crate::write::{commit_internal, decode_element};

/// The note with the version since which changes are kept, and the oldest that is still there.
const NOTE: &str = "changes";
/// Bytes of one piece of a commit's list, about.
const PIECE_BYTES_MAX: usize = 64 * 1024;
/// Partitions that one call looks at: about eleven days.
const PARTITIONS_MAX: usize = 100_000;
/// Rows that are forgotten in one step.
const FORGET_ROWS: usize = 2_000;

/// What a commit touches, as its rows will say.
#[derive(Debug)]
pub(crate) struct Touches {
    /// Each begins with a byte for the number of versions.
    pieces: Vec<Vec<u8>>,
    /// Where the last element of the last piece begins.
    last: usize,
}

impl Touches {
    pub(crate) fn new() -> Self {
        Self {
            pieces: vec![vec![0]],
            last: 1,
        }
    }

    /// Adds an element, unless it is the one that was added last.
    pub(crate) fn add(&mut self, touched: &Touched<'_>) {
        let Some(piece) = self.pieces.last_mut() else {
            return;
        };
        let start = piece.len();
        touched.put(piece);
        if start > self.last && piece[start..] == piece[self.last..start] {
            piece.truncate(start);
        } else if start > PIECE_BYTES_MAX {
            let mut next = vec![0];
            next.extend_from_slice(&piece[start..]);
            piece.truncate(start);
            self.pieces.push(next);
            self.last = 1;
        } else {
            self.last = start;
        }
    }

    /// Puts the rows, whose keys miss the commit's version.
    pub(crate) fn write(self, batch: &mut Batch, stamps: &mut Stamps) {
        let versions = u8::try_from(stamps.versions() - 1).unwrap_or(u8::MAX);
        for (number, mut piece) in self.pieces.into_iter().enumerate() {
            if piece.len() == 1 {
                continue;
            }
            piece[0] = versions;
            let number = u16::try_from(number).unwrap_or(u16::MAX);
            let clustering = change::clustering(CommitVersion::ZERO, number);
            let partition = [0; change::PARTITION_BYTES];
            let at = batch.put(CHANGE, &partition, &clustering, &piece);
            stamps.change(at);
        }
    }
}

/// Since when a graph keeps changes, and which it still has.
#[derive(Debug)]
pub(crate) struct KeptChanges {
    retention: Retention,
    /// The version at which keeping began.
    since: CommitVersion,
    /// Changes after this version are there.
    oldest: AtomicU64,
}

impl KeptChanges {
    /// What a graph keeps that is being opened at `now`, whose newest version is `newest`; `None`
    /// if it keeps none. What was kept before a time without is not continued.
    pub(crate) fn open(
        notes: &Notes,
        retention: Retention,
        (newest, now): (CommitVersion, Instant),
    ) -> Result<Option<Self>, GraphError> {
        let stored = notes.get(NOTE)?.filter(|note| !note.is_empty());
        if retention == Retention::None {
            if stored.is_some() {
                notes.put(NOTE, &[])?;
            }
            return Ok(None);
        }
        let (since, oldest) = match stored.as_deref().and_then(read_note) {
            Some(known) => known,
            None => {
                // Before the first version that a commit may get from now on.
                let before = CommitVersion(CommitVersion::first_at(now).0.saturating_sub(1));
                let since = newest.max(before);
                notes.put(NOTE, &write_note(since, since))?;
                (since, since)
            }
        };
        Ok(Some(Self {
            retention,
            since,
            oldest: AtomicU64::new(oldest.0),
        }))
    }

    fn oldest(&self) -> CommitVersion {
        CommitVersion(self.oldest.load(Ordering::Acquire))
    }
}

fn read_note(note: &[u8]) -> Option<(CommitVersion, CommitVersion)> {
    let (since, oldest) = note.split_first_chunk::<8>()?;
    let version = |bytes| CommitVersion(u64::from_be_bytes(bytes));
    Some((version(*since), version(*oldest.first_chunk()?)))
}

fn write_note(since: CommitVersion, oldest: CommitVersion) -> [u8; 16] {
    let mut note = [0; 16];
    note[..8].copy_from_slice(&since.0.to_be_bytes());
    note[8..].copy_from_slice(&oldest.0.to_be_bytes());
    note
}

/// What an event or a purge did to an element.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// The element has a state in a period, or does not exist in it.
    Event {
        /// The valid time it speaks of.
        period: Period,
        /// The state; `None` = the element does not exist.
        element: Option<Element>,
    },
    /// The element was destroyed with all its versions; a vertex with all its edges.
    Purged,
    /// The event is not kept any more (retention): what it said is not known here.
    Forgotten,
}

/// One change of a commit.
#[derive(Debug, Clone, PartialEq)]
pub struct ElementChange {
    /// The version of the event.
    pub version: CommitVersion,
    /// The element.
    pub id: ElementId,
    /// What happened.
    pub change: Change,
}

/// What all changes of one commit are, with its last version.
#[derive(Debug, Clone, PartialEq)]
pub struct CommitChanges {
    /// The commit's last version: where to go on.
    pub version: CommitVersion,
    /// Its changes, in the order in which it touched elements.
    pub changes: Vec<ElementChange>,
}

impl Graph {
    /// The version at which keeping of changes began, and the oldest after which they are all
    /// there; `None` if the graph keeps none.
    #[must_use]
    pub fn changes_kept(&self) -> Option<(CommitVersion, CommitVersion)> {
        let kept = self.kept_changes()?;
        Some((kept.since, kept.oldest()))
    }

    /// Shows the changes of all commits after `since` in order, commit by commit, until `visit`
    /// breaks or a long time has been looked at. Returns the version up to which all were shown:
    /// the newest one, unless it is to be called again from there. `None` if changes after `since`
    /// are not kept any more, or `since` is a version that the graph has not had yet.
    ///
    /// # Errors
    /// When the store fails or is damaged.
    pub fn visit_changes(
        &self,
        since: CommitVersion,
        visit: &mut dyn FnMut(CommitChanges) -> Flow,
    ) -> Result<Option<CommitVersion>, GraphError> {
        let view = self.view(TemporalScope::NOW)?;
        let (reader, newest) = (view.reader(), view.last_commit()?);
        // Looked at after the view was opened: what is forgotten later, this view still has.
        let is_known = self.changes_kept().is_some_and(|(_, oldest)| {
            let latest = newest.max(self.published()).max(oldest);
            (oldest..=latest).contains(&since)
        });
        if !is_known {
            return Ok(None);
        }
        let mut partition = Some(change::partition(since.next()));
        let (mut after, mut left) = (since, PARTITIONS_MAX);
        while let Some(at) = partition.filter(|at| change::first_of(*at) <= newest) {
            if left == 0 {
                let before = CommitVersion(change::first_of(at).0.saturating_sub(1));
                return Ok(Some(before.max(after)));
            }
            left -= 1;
            let mut pieces = pieces(reader, at, (after, newest))?.into_iter().peekable();
            while let Some((version, mut commit)) = pieces.next() {
                while let Some((_, piece)) = pieces.next_if(|(next, _)| *next == version) {
                    // The next piece's number of versions is that of the first.
                    commit.extend_from_slice(&piece[1..]);
                }
                let changes = resolved(reader, version, &commit)?;
                after = version;
                if visit(CommitChanges { version, changes }).is_break() {
                    return Ok(Some(version));
                }
            }
            partition = change::next(at);
        }
        Ok(Some(newest.max(since)))
    }
}

type Piece = (CommitVersion, Vec<u8>);

/// The pieces of one partition after one version and up to another, in order.
fn pieces(
    reader: &dyn Reader,
    partition: [u8; change::PARTITION_BYTES],
    (after, newest): (CommitVersion, CommitVersion),
) -> Result<Vec<Piece>, GraphError> {
    let range = ClusteringRange {
        from: change::clustering(after.next(), 0).to_vec(),
        to: Some(change::clustering(newest.next(), 0).to_vec()),
    };
    let request = ScanRequest {
        table: CHANGE,
        partition: &partition,
        range: &range,
        reverse: false,
    };
    let (mut pieces, mut damaged) = (Vec::new(), None);
    reader.scan(request, &mut |clustering, value| {
        match change::split(clustering) {
            Ok((version, _)) => pieces.push((version, value.to_vec())),
            Err(error) => damaged = Some(error),
        }
        Flow::Continue(())
    })?;
    damaged.map_or(Ok(pieces), |error| Err(error.into()))
}

/// The changes that a commit's list names.
fn resolved(
    reader: &dyn Reader,
    last: CommitVersion,
    list: &[u8],
) -> Result<Vec<ElementChange>, GraphError> {
    let mut touched = Vec::new();
    let versions = change::visit(list, &mut |each| touched.push(each))?;
    let first = CommitVersion(last.0.saturating_sub(versions as u64 - 1));
    let mut changes = Vec::new();
    for each in touched {
        let id = id_of(&each)?;
        if each.is_purged {
            let change = Change::Purged;
            let version = last;
            changes.push(ElementChange {
                version,
                id,
                change,
            });
            continue;
        }
        let events = events(reader, &each, (first, last))?;
        if events.is_empty() {
            changes.push(ElementChange {
                version: last,
                id: id.clone(),
                change: Change::Forgotten,
            });
        }
        for (header, content) in events {
            let element = match header.kind {
                Kind::Put => Some(decode_element(&id, &content)?),
                Kind::Delete | Kind::Marker => None,
            };
            changes.push(ElementChange {
                version: header.version,
                id: id.clone(),
                change: Change::Event {
                    period: header.period(),
                    element,
                },
            });
        }
    }
    Ok(changes)
}

fn id_of(touched: &Touched<'_>) -> Result<ElementId, DecodeError> {
    if touched.clustering == key::VERTEX_CLUSTERING {
        return Ok(ElementId::Vertex(key::decode_vertex_id(touched.partition)?));
    }
    let (id, _) = key::decode_edge(touched.partition, touched.clustering)?;
    Ok(ElementId::Edge(id))
}

/// The events of an element with versions of one commit, oldest first.
fn events(
    reader: &dyn Reader,
    touched: &Touched<'_>,
    (first, last): (CommitVersion, CommitVersion),
) -> Result<Vec<(Header, Vec<u8>)>, GraphError> {
    let (partition, clustering) = (touched.partition, touched.clustering);
    let table = match clustering == key::VERTEX_CLUSTERING {
        true => VERTEX,
        false => EDGE,
    };
    let mut events = Vec::new();
    let row = reader.get(table, partition, clustering)?;
    if let Some(row) = &row {
        let (header, content) = Header::decode(row)?;
        if header.kind == Kind::Put && (first..=last).contains(&header.version) {
            events.push((header, content.to_vec()));
        }
    }
    let range = ClusteringRange {
        from: key::event_clustering(clustering, last),
        to: Some(key::event_clustering(
            clustering,
            CommitVersion(first.0.saturating_sub(1)),
        )),
    };
    let request = ScanRequest {
        table: EVENT,
        partition,
        range: &range,
        reverse: false,
    };
    let mut damaged = None;
    reader.scan(request, &mut |_, row| {
        match Header::decode(row) {
            Ok((header, content)) => events.push((header, content.to_vec())),
            Err(error) => damaged = Some(error),
        }
        Flow::Continue(())
    })?;
    damaged.map_or(Ok(()), Err)?;
    events.sort_by_key(|(header, _)| header.version);
    Ok(events)
}

/// Forgets changes that are older than the graph keeps them. Returns how many rows.
///
/// # Errors
/// When the store fails.
pub(crate) fn forget(graph: &std::sync::Arc<Graph>) -> Result<usize, GraphError> {
    let Some(kept) = graph.kept_changes() else {
        return Ok(0);
    };
    let Retention::For(micros) = kept.retention else {
        return Ok(0);
    };
    let horizon = CommitVersion::first_at(Instant(graph.now().0.saturating_sub(micros)));
    let from = kept.oldest();
    if horizon <= from {
        return Ok(0);
    }
    // The note comes first, so that no reader trusts rows that are being deleted.
    graph.notes().put(NOTE, &write_note(kept.since, horizon))?;
    kept.oldest.store(horizon.0, Ordering::Release);
    let (mut partition, mut forgotten) = (Some(change::partition(from)), 0);
    while let Some(at) = partition.filter(|at| change::first_of(*at) < horizon) {
        let old = pieces_before(graph.reader(), at, horizon)?;
        for rows in old.chunks(FORGET_ROWS) {
            commit_internal(graph, &[], &[], |emitter| {
                for clustering in rows {
                    emitter.batch.delete(CHANGE, &at, clustering);
                }
                Ok(())
            })?
            .wait()?;
        }
        forgotten += old.len();
        partition = change::next(at);
    }
    Ok(forgotten)
}

/// The keys of a partition's pieces up to a version.
fn pieces_before(
    reader: &dyn Reader,
    partition: [u8; change::PARTITION_BYTES],
    horizon: CommitVersion,
) -> Result<Vec<Vec<u8>>, GraphError> {
    let range = ClusteringRange {
        from: Vec::new(),
        to: Some(change::clustering(horizon.next(), 0).to_vec()),
    };
    let request = ScanRequest {
        table: CHANGE,
        partition: &partition,
        range: &range,
        reverse: false,
    };
    let mut keys = Vec::new();
    reader.scan(request, &mut |clustering, _| {
        keys.push(clustering.to_vec());
        Flow::Continue(())
    })?;
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use varve_model::VertexId;

    use super::*;

    #[test]
    fn elements_that_come_twice_are_stored_once_wherever_a_piece_ends() {
        let keys: Vec<Vec<u8>> = (0..20_000)
            .map(|number| key::vertex_id(&VertexId::Number(number)))
            .collect();
        let mut touches = Touches::new();
        for partition in keys.iter().flat_map(|key| [key, key]) {
            touches.add(&Touched {
                partition,
                clustering: key::VERTEX_CLUSTERING,
                is_purged: false,
            });
        }
        let mut stored = Vec::new();
        for piece in &touches.pieces {
            let took = change::visit(piece, &mut |each| stored.push(each.partition.to_vec()));
            took.expect("a piece");
        }
        assert!(touches.pieces.len() > 1);
        assert_eq!(stored, keys);
    }
}
