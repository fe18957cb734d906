//! Changes: the effects of each commit on elements, in order of transaction time.
//!
//! If a graph keeps changes ([`crate::GraphOptions::changes`]), each commit writes rows to the
//! table `change` that name the elements it touched. The rows do not contain the events: a reader
//! reads each event by element and version. The tidier's commits name the elements whose planned
//! states are due; a commit after each change of the schema names the changed schema elements. A
//! commit is visible only when every smaller version is, so a reader that asks for the changes
//! after a version misses none and sees none twice.

mod forgetting;
mod kept;
mod schema;
mod touches;

use varve_encoding::change::{self, Keys, Touched};
use varve_encoding::row::{Header, RowKind};
use varve_encoding::tables::{CHANGE, EDGE, EVENT, SCHEMA, VERTEX};
use varve_encoding::{DecodeError, datum, key};
use varve_kv::{ClusteringRange, Flow, PartitionRange, Reader, ReaderExt, ScanRequest, TableId};
use varve_model::{CommitVersion, Datum, Element, ElementId, Instant, Period, TemporalScope};

pub(crate) use self::forgetting::forget;
pub(crate) use self::kept::{Keeping, KeptChanges, NOTE};
pub(crate) use self::schema::list_schema;
pub(crate) use self::touches::Touches;
use crate::error::GraphError;
use crate::graph::Graph;
use crate::read::{Point, read_element};
use crate::rows::decode_element;
use crate::schema::SchemaKind;

/// The approximate bytes of lists that one scan reads; the list of a commit is always read as a
/// whole.
const READ_BYTES: usize = 1024 * 1024;

/// The most entries of lists that are read together, if they are of several commits.
const TOUCHED_TOGETHER: usize = 256;

/// The effect of a commit on an element.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// The element has a state in a period, or does not exist in it.
    Event {
        /// The valid time of the event.
        period: Period,
        /// The state; `None` = the element does not exist.
        element: Option<Element>,
    },
    /// The element was destroyed with all its versions; a vertex with all its edges.
    Purged,
    /// Retention has deleted the event: its content is unknown.
    Forgotten,
    /// A planned state has begun or ended, without a client's commit at that time.
    Effective {
        /// When it began or ended.
        at: Instant,
        /// The state until then.
        before: Option<Element>,
        /// The state from then on, different from `before`.
        after: Option<Element>,
    },
}

/// One change of a commit.
#[derive(Debug, Clone, PartialEq)]
pub enum CommitChange {
    /// The change of an element.
    Element(Box<ElementChange>),
    /// A schema element was created, changed or removed.
    Schema {
        /// Its kind.
        kind: SchemaKind,
        /// Its name.
        name: String,
    },
}

/// A change of an element.
#[derive(Debug, Clone, PartialEq)]
pub struct ElementChange {
    /// The version of the event.
    pub version: CommitVersion,
    /// The element.
    pub id: ElementId,
    /// The effect.
    pub change: Change,
}

/// All changes of one commit.
#[derive(Debug, Clone, PartialEq)]
pub struct CommitChanges {
    /// The commit's last version: the cursor to continue from.
    pub version: CommitVersion,
    /// Its changes, in the order in which it touched elements.
    pub changes: Vec<CommitChange>,
}

impl Graph {
    /// The version at which the list of changes began, and the version after which it is complete;
    /// `None` if the graph keeps no changes. Of a followed graph, reads what the leader has stored.
    ///
    /// # Errors
    /// When the store fails.
    pub fn changes_kept(&self) -> Result<Option<(CommitVersion, CommitVersion)>, GraphError> {
        match self.is_followed() {
            false => Ok(self.kept_changes().range()),
            true => kept::stored_range(&self.notes()),
        }
    }

    /// Calls `visit` with the changes of each commit after `since`, in order. Stops when `visit`
    /// breaks, or when `goes_on`, called before each read but the first, returns false. Returns the
    /// version up to which all changes were visited; if it is not the newest, a further call can
    /// continue from there. Returns `None` if changes after `since` are no longer kept, or `since`
    /// is newer than the graph; some of them may have been visited.
    ///
    /// # Errors
    /// When the store fails or is damaged.
    pub fn visit_changes(
        &self,
        since: CommitVersion,
        goes_on: &mut dyn FnMut() -> bool,
        visit: &mut dyn FnMut(CommitChanges) -> Flow,
    ) -> Result<Option<CommitVersion>, GraphError> {
        let view = self.view(TemporalScope::NOW)?;
        let (reader, newest) = (view.reader(), view.last_commit()?);
        let is_known = |since| {
            let kept = self.changes_kept()?;
            Ok::<_, GraphError>(kept.is_some_and(|(_, oldest)| {
                let latest = newest.max(self.published()).max(oldest);
                (oldest..=latest).contains(&since)
            }))
        };
        // Checked after the view was opened: changes that are deleted later are still in its
        // snapshot.
        if !is_known(since)? {
            return Ok(None);
        }
        let visited = visit_commits(reader, (since, newest), goes_on, visit)?;
        // Without a snapshot they may have been deleted while they were read.
        match self.has_states() || is_known(since)? {
            true => Ok(Some(visited)),
            false => Ok(None),
        }
    }
}

/// Calls `visit` with the changes of each commit after `since` up to `newest`; see
/// [`Graph::visit_changes`].
fn visit_commits(
    reader: &dyn Reader,
    (since, newest): (CommitVersion, CommitVersion),
    goes_on: &mut dyn FnMut() -> bool,
    visit: &mut dyn FnMut(CommitChanges) -> Flow,
) -> Result<CommitVersion, GraphError> {
    let mut partition = Some(change::partition(since.next()));
    let (mut after, mut is_first, mut most) = (since, true, 1);
    while let Some(at) = partition.filter(|at| change::first_of(*at) <= newest) {
        if !is_first && !goes_on() {
            // Everything before this partition was visited.
            let before = CommitVersion(change::first_of(at).0.saturating_sub(1));
            return Ok(before.max(after));
        }
        let (pieces, is_whole) = pieces(reader, at, (after, newest))?;
        let commits = whole(pieces);
        let lists = commits
            .iter()
            .map(|(version, list)| List::of(*version, list));
        let lists = lists.collect::<Result<Vec<_>, _>>()?;
        let mut left = &lists[..];
        while !left.is_empty() {
            let (group, rest) = left.split_at(together(left, most));
            // Few at first, so that a small page reads little.
            most = (4 * most).min(TOUCHED_TOGETHER);
            left = rest;
            for (list, changes) in group.iter().zip(resolved(reader, group)?) {
                if !is_first && !goes_on() {
                    return Ok(after);
                }
                is_first = false;
                let version = list.last;
                after = version;
                if visit(CommitChanges { version, changes }).is_break() {
                    return Ok(version);
                }
            }
        }
        is_first = false;
        if is_whole {
            partition = change::next(at);
        }
    }
    Ok(newest.max(since))
}

type Piece = (CommitVersion, Vec<u8>);

/// Reads the next pieces of a partition after one version and up to another, in order. Returns
/// them, and whether they are the last.
fn pieces(
    reader: &dyn Reader,
    partition: [u8; change::PARTITION_BYTES],
    (after, newest): (CommitVersion, CommitVersion),
) -> Result<(Vec<Piece>, bool), GraphError> {
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
    let (mut pieces, mut damaged): (Vec<Piece>, _) = (Vec::new(), None);
    let (mut bytes, mut is_whole) = (0, true);
    reader.scan(request, &mut |clustering, value| {
        let version = match change::split(clustering) {
            Ok((version, _)) => version,
            Err(error) => {
                damaged = Some(error);
                return Flow::Break(());
            }
        };
        if bytes >= READ_BYTES && pieces.last().is_some_and(|(last, _)| *last != version) {
            is_whole = false;
            return Flow::Break(());
        }
        bytes += clustering.len() + value.len();
        pieces.push((version, value.to_vec()));
        Flow::Continue(())
    })?;
    damaged.map_or(Ok((pieces, is_whole)), |error| Err(error.into()))
}

/// Joins the pieces of each commit.
fn whole(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut commits: Vec<Piece> = Vec::with_capacity(pieces.len());
    for (version, piece) in pieces {
        match commits.last_mut().filter(|(last, _)| *last == version) {
            // Skips the byte for the number of versions, which is that of the first piece.
            Some((_, list)) => list.extend_from_slice(piece.get(1..).unwrap_or_default()),
            None => commits.push((version, piece)),
        }
    }
    commits
}

/// What a commit touched.
struct List<'l> {
    /// Its first and its last version.
    first: CommitVersion,
    last: CommitVersion,
    touched: Vec<Touched<'l>>,
    bytes: &'l [u8],
}

impl<'l> List<'l> {
    fn of(last: CommitVersion, bytes: &'l [u8]) -> Result<Self, DecodeError> {
        let mut touched = Vec::new();
        let versions = change::visit(bytes, &mut |each| touched.push(each))?;
        Ok(Self {
            first: CommitVersion(last.0.saturating_sub(versions as u64 - 1)),
            last,
            touched,
            bytes,
        })
    }

    fn written(&self) -> impl Iterator<Item = Written<'l>> {
        let (first, last) = (self.first, self.last);
        self.touched.iter().filter_map(move |each| match *each {
            Touched::Element(keys) => Some(Written { keys, first, last }),
            _ => None,
        })
    }

    /// Its changes; `events` has those of the elements that it wrote.
    fn changes(
        &self,
        reader: &dyn Reader,
        events: &mut dyn Iterator<Item = Events>,
    ) -> Result<Vec<CommitChange>, GraphError> {
        let mut changes = Vec::new();
        for each in &self.touched {
            let keys = match *each {
                Touched::Element(keys) | Touched::Purged(keys) | Touched::Due(keys, _) => keys,
                Touched::Schema(kind, id) => {
                    let kind = SchemaKind::from_byte(kind).ok_or_else(|| unknown(self.bytes))?;
                    let name = name_of(reader, kind, id)?;
                    changes.push(CommitChange::Schema { kind, name });
                    continue;
                }
            };
            let id = id_of(keys)?;
            let mut add = |version, change| {
                changes.push(CommitChange::Element(Box::new(ElementChange {
                    version,
                    id: id.clone(),
                    change,
                })));
            };
            match *each {
                Touched::Purged(_) => add(self.last, Change::Purged),
                Touched::Due(_, at) => {
                    if let Some(change) = effective(reader, &id, keys, (at, self.last))? {
                        add(self.last, change);
                    }
                }
                _ => {
                    let events = events.next().unwrap_or_default();
                    if events.is_empty() {
                        add(self.last, Change::Forgotten);
                    }
                    for (header, content) in events {
                        let element = match header.kind {
                            RowKind::Put => Some(decode_element(&id, &content)?),
                            RowKind::Delete | RowKind::Marker => None,
                        };
                        let period = header.period();
                        add(header.version, Change::Event { period, element });
                    }
                }
            }
        }
        Ok(changes)
    }
}

/// How many of the first of these lists are read together, for at most so many entries.
fn together(lists: &[List<'_>], most: usize) -> usize {
    let mut touched = 0;
    let fits = lists.iter().take_while(|list| {
        touched += list.touched.len();
        touched <= most
    });
    fits.count().max(1)
}

/// Reads the changes that these lists name, those of each.
fn resolved(reader: &dyn Reader, lists: &[List<'_>]) -> Result<Vec<Vec<CommitChange>>, GraphError> {
    let written: Vec<Written<'_>> = lists.iter().flat_map(List::written).collect();
    let mut events = events(reader, &written)?.into_iter();
    let changes = lists.iter().map(|list| list.changes(reader, &mut events));
    changes.collect()
}

/// The name of a schema element, from its stored record: the schema in memory may not have it yet.
fn name_of(reader: &dyn Reader, kind: SchemaKind, id: u32) -> Result<String, GraphError> {
    let record = reader.get(SCHEMA, &[kind.byte()], &id.to_be_bytes())?;
    let record = record.as_deref().map(datum::decode).transpose()?;
    Ok(
        match record.as_ref().and_then(|record| record.get("name")) {
            Some(Datum::Text(name)) => name.clone(),
            _ => String::new(),
        },
    )
}

fn unknown(list: &[u8]) -> DecodeError {
    DecodeError::new("a change of the schema", list, 0)
}

fn id_of(keys: Keys<'_>) -> Result<ElementId, DecodeError> {
    if keys.clustering == key::VERTEX_CLUSTERING {
        return Ok(ElementId::Vertex(key::decode_vertex_id(keys.partition)?));
    }
    let (id, _) = key::decode_edge(keys.partition, keys.clustering)?;
    Ok(ElementId::Edge(id))
}

const fn table_of(keys: Keys<'_>) -> TableId {
    match keys.clustering.len() == key::VERTEX_CLUSTERING.len() {
        true => VERTEX,
        false => EDGE,
    }
}

/// The change of an element's state at an instant that had passed when a commit listed the element.
/// `None` if its state did not change then, or the state has changed again since.
fn effective(
    reader: &dyn Reader,
    id: &ElementId,
    keys: Keys<'_>,
    (at, version): (Instant, CommitVersion),
) -> Result<Option<Change>, GraphError> {
    let state = |valid: Instant| -> Result<Option<Vec<u8>>, GraphError> {
        let scope = TemporalScope {
            valid: Some(valid),
            transaction: Some(version),
        };
        let (mut state, now) = (None, version.instant());
        let (partition, clustering) = (keys.partition, keys.clustering);
        let mut found = |content: &[u8]| state = Some(content.to_vec());
        let point = Point { scope, now };
        read_element(
            reader,
            table_of(keys),
            partition,
            clustering,
            point,
            &mut found,
        )?;
        Ok(state)
    };
    let (before, after) = (state(Instant(at.0.saturating_sub(1)))?, state(at)?);
    // A state that no longer holds was replaced by another commit, which has its own list.
    if before == after || after != state(version.instant())? {
        return Ok(None);
    }
    let element =
        |state: Option<Vec<u8>>| state.map(|state| decode_element(id, &state)).transpose();
    Ok(Some(Change::Effective {
        at,
        before: element(before)?,
        after: element(after)?,
    }))
}

/// An element that a commit wrote.
struct Written<'l> {
    keys: Keys<'l>,
    /// The commit's first and its last version.
    first: CommitVersion,
    last: CommitVersion,
}

impl Written<'_> {
    fn has(&self, version: CommitVersion) -> bool {
        (self.first..=self.last).contains(&version)
    }

    fn range(&self) -> ClusteringRange {
        let before = CommitVersion(self.first.0.saturating_sub(1));
        ClusteringRange {
            from: key::event_clustering(self.keys.clustering, self.last),
            to: Some(key::event_clustering(self.keys.clustering, before)),
        }
    }
}

/// Events of an element, with their contents.
type Events = Vec<(Header, Vec<u8>)>;

/// The events that the commits wrote of each of these elements, oldest first. All rows are read
/// together, then all events: on a cluster, a request for each would take long.
fn events(reader: &dyn Reader, written: &[Written<'_>]) -> Result<Vec<Events>, GraphError> {
    let mut events: Vec<Events> = written.iter().map(|_| Vec::new()).collect();
    let mut damaged = None;
    for table in [VERTEX, EDGE] {
        let is_of = |at: &usize| table_of(written[*at].keys) == table;
        let own: Vec<usize> = (0..written.len()).filter(is_of).collect();
        let places = own.iter().map(|at| {
            let keys = written[*at].keys;
            (keys.partition, keys.clustering)
        });
        let places: Vec<_> = places.collect();
        let mut found = |number: usize, row: &[u8]| match Header::decode(row) {
            Ok((header, content)) => {
                let at = own[number];
                if header.kind == RowKind::Put && written[at].has(header.version) {
                    events[at].push((header, content.to_vec()));
                }
            }
            Err(error) => damaged = Some(error),
        };
        reader.get_each(table, &places, &mut found)?;
    }
    // A version has one event of an element at most.
    let is_open = |at: &usize| written[*at].first < written[*at].last || events[*at].is_empty();
    let open: Vec<usize> = (0..written.len()).filter(is_open).collect();
    let ranges: Vec<_> = open.iter().map(|at| written[*at].range()).collect();
    let partitions = open.iter().map(|at| written[*at].keys.partition);
    let scans = partitions.zip(&ranges);
    let scans: Vec<_> = scans
        .map(|(partition, range)| PartitionRange { partition, range })
        .collect();
    reader.scan_many(EVENT, &scans, &mut |number, _, row| {
        match Header::decode(row) {
            Ok((header, content)) => events[open[number]].push((header, content.to_vec())),
            Err(error) => damaged = Some(error),
        }
        Flow::Continue(())
    })?;
    damaged.map_or(Ok(()), Err)?;
    for each in &mut events {
        each.sort_by_key(|(header, _)| header.version);
        // Without a snapshot, a row may have become an event meanwhile.
        each.dedup_by_key(|(header, _)| header.version);
    }
    Ok(events)
}
