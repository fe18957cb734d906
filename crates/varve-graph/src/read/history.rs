//! An element's history: its events, newest first.

use std::collections::BTreeMap;

use varve_encoding::key;
use varve_encoding::row::{Header, RowKind};
use varve_encoding::tables::EVENT;
use varve_kv::{Flow, ReaderExt, TableId};
use varve_model::{CommitVersion, Element, ElementId, Instant, Period, TemporalScope};

use super::{View, scan_events};
use crate::error::GraphError;
use crate::hash::IdMap;
use crate::near::{Place, get_near, in_scan_order, scan_between};
use crate::rows::{Side, decode_element, sides};

/// Which part of a history to return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistoryPage {
    /// Only versions older than this one.
    pub before: Option<CommitVersion>,
    /// The most versions to return.
    pub limit: usize,
}

/// Whether a version is a put or a delete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VersionKind {
    /// The element has a state.
    Put,
    /// The element does not exist.
    Delete,
}

/// One event of an element.
#[derive(Debug, Clone, PartialEq)]
pub struct Version {
    /// Its commit version: the start of its transaction time.
    pub version: CommitVersion,
    /// The period of valid time that it is about.
    pub period: Period,
    /// Whether it is a put or a delete.
    pub kind: VersionKind,
    /// The state; `None` for a delete.
    pub element: Option<Element>,
    /// The next newer event with an overlapping period: the end of this event's transaction time,
    /// for the overlap.
    pub superseded: Option<CommitVersion>,
}

impl View {
    /// Returns the events of `id` at this view's transaction time, newest first. A page also costs
    /// one step for each newer event.
    ///
    /// # Errors
    /// When the store fails or is damaged.
    pub fn history(&self, id: &ElementId, page: HistoryPage) -> Result<Vec<Version>, GraphError> {
        let mut versions = Vec::new();
        if page.limit > 0 {
            self.visit_history(id, page.before, &mut |version| {
                versions.push(version);
                if versions.len() < page.limit {
                    Flow::Continue(())
                } else {
                    Flow::Break(())
                }
            })?;
        }
        Ok(versions)
    }

    /// Visits the events of `id` older than `before` at this view's transaction time, newest first,
    /// until `visit` breaks. It also costs one step for each newer event.
    ///
    /// # Errors
    /// When the store fails or is damaged.
    pub fn visit_history(
        &self,
        id: &ElementId,
        before: Option<CommitVersion>,
        visit: &mut dyn FnMut(Version) -> Flow,
    ) -> Result<(), GraphError> {
        match self.guard {
            None => self.visit_stored_history(id, before, visit),
            Some(_) => self.visit_shown_history(id, before, visit),
        }
    }

    /// A delete is visible if the next older state is. A visible event names only visible ones as
    /// newer, so those of earlier pages are looked at, too.
    fn visit_shown_history(
        &self,
        id: &ElementId,
        before: Option<CommitVersion>,
        visit: &mut dyn FnMut(Version) -> Flow,
    ) -> Result<(), GraphError> {
        let mut deletions: Vec<Version> = Vec::new();
        let mut newer = Newer::default();
        let mut show = |mut version: Version| {
            version.superseded = newer.add(version.version, version.period);
            match before.is_none_or(|before| version.version < before) {
                true => visit(version),
                false => Flow::Continue(()),
            }
        };
        let mut failed = None;
        self.visit_stored_history(id, None, &mut |version| {
            let Some(element) = &version.element else {
                deletions.push(version);
                return Flow::Continue(());
            };
            let Period { from, to } = version.period;
            let begins = TemporalScope {
                valid: Some(self.instant_in(from, to)),
                transaction: Some(version.version),
            };
            let decides = version.superseded.is_none() && version.period.covers(self.valid());
            match self.shows_state_at(element, begins, decides) {
                Ok(true) => {}
                Ok(false) => return Flow::Continue(()),
                Err(error) => {
                    failed = Some(error);
                    return Flow::Break(());
                }
            }
            deletions.drain(..).try_for_each(&mut show)?;
            show(version)
        })?;
        failed.map_or(Ok(()), Err)
    }

    /// Whether any state that the element has or had is visible.
    pub(super) fn shows_some_state(&self, id: &ElementId) -> Result<bool, GraphError> {
        let mut shown = false;
        self.visit_history(id, None, &mut |_| {
            shown = true;
            Flow::Break(())
        })?;
        Ok(shown)
    }

    /// Reads the histories of several elements at once, to be visited by
    /// [`View::visit_read_history`]. The elements should be near one another in a listing.
    ///
    /// # Errors
    /// When the store fails.
    pub fn read_histories(&self, ids: &[ElementId]) -> Result<StoredHistories, GraphError> {
        match self.guard {
            None => StoredHistories::read(self, ids),
            // Which events are visible depends on further reads.
            Some(_) => Ok(StoredHistories::default()),
        }
    }

    /// As [`View::visit_history`], for the element `id`, which was number `at` of those of `read`.
    ///
    /// # Errors
    /// As [`View::visit_history`].
    pub fn visit_read_history(
        &self,
        read: &StoredHistories,
        (at, id): (usize, &ElementId),
        visit: &mut dyn FnMut(Version) -> Flow,
    ) -> Result<(), GraphError> {
        let Some(stored) = read.of.get(at).filter(|stored| stored.is_whole) else {
            return self.visit_history(id, None, visit);
        };
        let mut merged = Merged::new(self, id, None, stored.row.as_deref(), visit)?;
        for event in &stored.events {
            let (header, content) = Header::decode(event)?;
            if merged.event(header, content).is_break() {
                break;
            }
        }
        merged.end()
    }

    fn visit_stored_history(
        &self,
        id: &ElementId,
        before: Option<CommitVersion>,
        visit: &mut dyn FnMut(Version) -> Flow,
    ) -> Result<(), GraphError> {
        let (table, sides) = sides(id);
        let side = &sides[0];
        let row = self
            .reader()
            .get(table, &side.partition, &side.clustering)?;
        let mut merged = Merged::new(self, id, before, row.as_deref(), visit)?;
        // Newer events of earlier pages are read, too: any of them may supersede an event of this
        // page.
        let newest = self.version();
        scan_events(
            self.reader(),
            &side.partition,
            &side.clustering,
            newest,
            &mut |header, content| merged.event(header, content),
        )?;
        merged.end()
    }
}

/// The stored rows of some elements ([`View::read_histories`]).
#[derive(Debug, Default)]
pub struct StoredHistories {
    of: Vec<StoredHistory>,
}

/// The stored rows of one element.
#[derive(Debug, Clone, Default)]
struct StoredHistory {
    row: Option<Vec<u8>>,
    /// The rows of the events up to the view's transaction time, newest first.
    events: Vec<Vec<u8>>,
    /// Whether all events were read.
    is_whole: bool,
}

/// The most events that are read for some elements at once, and the bytes of these events.
const EVENTS_MAX: usize = 20_000;
const EVENT_BYTES_MAX: usize = 8 << 20;

impl StoredHistories {
    /// Reads the rows, and then the events up to a number of them: an event that leaves a row
    /// meanwhile is among the events.
    fn read(view: &View, ids: &[ElementId]) -> Result<Self, GraphError> {
        let (reader, newest) = (view.reader(), view.version());
        let mut of = vec![StoredHistory::default(); ids.len()];
        let places: Vec<(TableId, Side)> = ids
            .iter()
            .map(|id| {
                let (table, mut sides) = sides(id);
                (table, sides.swap_remove(0))
            })
            .collect();
        let keys: Vec<Place<'_>> = places
            .iter()
            .map(|(_, side)| (&side.partition[..], &side.clustering[..]))
            .collect();
        let Some((table, _)) = places.first() else {
            return Ok(Self { of });
        };
        // A page of histories may have elements of two listings: those that have a row, and those
        // that were deleted.
        let order = in_scan_order(reader, *table, &keys);
        let (first, last) = (keys[order[0]], keys[order[order.len() - 1]]);
        get_near(reader, *table, &keys, &mut |at, row| {
            of[at].row = Some(row.to_vec());
        })?;
        let numbers: IdMap<Place<'_>, usize> = order
            .iter()
            .enumerate()
            .map(|(position, at)| (keys[*at], position))
            .collect();
        let [begin, end] = [
            key::event_clustering(first.1, CommitVersion::MAX),
            key::event_clustering(last.1, CommitVersion::ZERO),
        ];
        let (mut passed, mut bytes) = (0, 0);
        let mut reached = None;
        let range = ((first.0, &begin[..]), (last.0, &end[..]));
        scan_between(reader, EVENT, range, &mut |row| {
            // A damaged key belongs to no element; `varve verify` reports it.
            let Ok((current, version)) = key::split_event(row.clustering) else {
                return Flow::Continue(());
            };
            passed += 1;
            if let Some(position) = numbers.get(&(row.partition, current))
                && version <= newest
            {
                reached = Some(*position);
                bytes += row.value.len();
                of[order[*position]].events.push(row.value.to_vec());
            }
            match passed < EVENTS_MAX && bytes < EVENT_BYTES_MAX {
                true => Flow::Continue(()),
                false => Flow::Break(()),
            }
        })?;
        let is_all = passed < EVENTS_MAX && bytes < EVENT_BYTES_MAX;
        let whole = if is_all {
            ids.len()
        } else {
            reached.unwrap_or(0)
        };
        for at in &order[..whole] {
            of[*at].is_whole = true;
        }
        Ok(Self { of })
    }
}

/// Merges the current row of an element into its events, newest first.
struct Merged<'a> {
    lister: Lister<'a>,
    /// The row, until it was visited.
    current: Option<(Header, &'a [u8])>,
}

impl<'a> Merged<'a> {
    fn new(
        view: &View,
        id: &'a ElementId,
        before: Option<CommitVersion>,
        row: Option<&'a [u8]>,
        visit: &'a mut dyn FnMut(Version) -> Flow,
    ) -> Result<Self, GraphError> {
        let current = row.map(Header::decode).transpose()?;
        let shown = |(header, _): &(Header, _)| {
            header.kind == RowKind::Put && header.version <= view.version()
        };
        Ok(Self {
            lister: Lister {
                id,
                before,
                newer: Newer::default(),
                visit,
                over: false,
                failed: None,
            },
            current: current.filter(shown),
        })
    }

    fn event(&mut self, header: Header, content: &[u8]) -> Flow {
        if let Some((own, own_content)) = self
            .current
            .take_if(|(own, _)| own.version > header.version)
        {
            self.lister.add(own, own_content)?;
        }
        self.lister.add(header, content)
    }

    fn end(mut self) -> Result<(), GraphError> {
        if let Some((own, content)) = self.current.filter(|_| !self.lister.over) {
            let _ = self.lister.add(own, content);
        }
        self.lister.failed.map_or(Ok(()), Err)
    }
}

struct Lister<'a> {
    id: &'a ElementId,
    before: Option<CommitVersion>,
    newer: Newer,
    visit: &'a mut dyn FnMut(Version) -> Flow,
    over: bool,
    failed: Option<GraphError>,
}

impl Lister<'_> {
    fn add(&mut self, header: Header, content: &[u8]) -> Flow {
        let period = header.period();
        let superseded = self.newer.add(header.version, period);
        let wanted = self.before.is_none_or(|before| header.version < before);
        if wanted {
            let (kind, element) = match header.kind {
                RowKind::Put => match decode_element(self.id, content) {
                    Ok(element) => (VersionKind::Put, Some(element)),
                    Err(error) => {
                        self.failed = Some(error);
                        self.over = true;
                        return Flow::Break(());
                    }
                },
                RowKind::Delete | RowKind::Marker => (VersionKind::Delete, None),
            };
            let version = header.version;
            let shown = (self.visit)(Version {
                version,
                period,
                kind,
                element,
                superseded,
            });
            if shown.is_break() {
                self.over = true;
                return shown;
            }
        }
        Flow::Continue(())
    }
}

/// The events so far, newest first, as pieces of valid time, each with the version of the oldest
/// event that covers it. Pieces do not overlap. An event replaces all pieces within its period, so
/// the amortized cost of an event is low.
#[derive(Default)]
struct Newer {
    /// Start of a piece to its end and version.
    pieces: BTreeMap<Instant, (Instant, CommitVersion)>,
}

impl Newer {
    /// Adds an event that is older than all previous ones. Returns the next newer event with an
    /// overlapping period.
    fn add(&mut self, version: CommitVersion, period: Period) -> Option<CommitVersion> {
        let Period { from, to } = period;
        if from >= to {
            return None;
        }
        let first = self.pieces.range(..from).next_back();
        let first = first.map_or(from, |(first, _)| *first);
        let touched: Vec<(Instant, Instant, CommitVersion)> = self
            .pieces
            .range(first..to)
            .map(|(start, (end, newer))| (*start, *end, *newer))
            .filter(|(_, end, _)| *end > from)
            .collect();
        for (start, end, newer) in &touched {
            self.pieces.remove(start);
            if *start < from {
                self.pieces.insert(*start, (from, *newer));
            }
            if *end > to {
                self.pieces.insert(to, (*end, *newer));
            }
        }
        self.pieces.insert(from, (to, version));
        touched.into_iter().map(|(_, _, newer)| newer).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_newer_event_is_the_one_that_a_look_at_all_finds() {
        let mut random = 7_u64;
        let mut below = |bound: u64| {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % bound
        };
        for _ in 0..200 {
            let (mut newer, mut seen) = (Newer::default(), Vec::new());
            for version in (1..=60).rev().map(CommitVersion) {
                let from = below(40) as i64;
                let to = match below(8) {
                    0 => Instant::FOREVER,
                    _ => Instant(from + 1 + below(12) as i64),
                };
                let period = Period::new(Instant(from), to).expect("not empty");
                let expected = seen
                    .iter()
                    .rev()
                    .find(|(_, other): &&(CommitVersion, Period)| other.overlaps(period))
                    .map(|(version, _)| *version);
                assert_eq!(newer.add(version, period), expected, "{period:?} {seen:?}");
                seen.push((version, period));
            }
        }
    }

    #[test]
    fn pieces_that_an_event_covers_are_given_up() {
        let mut newer = Newer::default();
        for version in (1..=1_000_u64).rev() {
            let from = Instant(10 * version as i64);
            let period = Period::new(from, Instant(from.0 + 5)).expect("not empty");
            assert_eq!(newer.add(CommitVersion(version), period), None);
        }
        assert_eq!(newer.pieces.len(), 1_000);
        let all = Period::new(Instant(0), Instant::FOREVER).expect("not empty");
        assert_eq!(newer.add(CommitVersion(0), all), Some(CommitVersion(1)));
        assert_eq!(newer.pieces.len(), 1);
    }
}
