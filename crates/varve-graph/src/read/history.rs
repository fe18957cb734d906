//! An element's history: its events, newest first.

use varve_encoding::row::{Header, Kind};
use varve_kv::Flow;
use varve_model::{CommitVersion, Element, ElementId, Period};

use super::{View, scan_events};
use crate::error::GraphError;
use crate::write::{decode_element, sides};

/// Which part of a history to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistoryPage {
    /// Only versions older than this one.
    pub before: Option<CommitVersion>,
    /// At most so many.
    pub limit: usize,
}

/// Whether a version says that the element is there, or that it is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VersionKind {
    /// The element had a state.
    Put,
    /// The element did not exist.
    Delete,
}

/// One event of an element.
#[derive(Debug, Clone, PartialEq)]
pub struct Version {
    /// When it was committed: start of its transaction time.
    pub version: CommitVersion,
    /// The valid time it speaks of.
    pub period: Period,
    /// What it says.
    pub kind: VersionKind,
    /// The state, for a put.
    pub element: Option<Element>,
    /// The next newer event about an overlapping valid time: end of its transaction time, for that part.
    pub superseded: Option<CommitVersion>,
}

impl View {
    /// Lists the events of `id` that this view's transaction time shows, newest first. A page costs a step for each newer
    /// event too.
    ///
    /// # Errors
    /// When the store fails or is damaged.
    pub fn history(&self, id: &ElementId, page: HistoryPage) -> Result<Vec<Version>, GraphError> {
        let (table, sides) = sides(id);
        let side = &sides[0];
        let mut lister = Lister {
            id,
            page,
            seen: Vec::new(),
            versions: Vec::new(),
            failed: None,
        };
        let row = self
            .reader()
            .get(table, &side.partition, &side.clustering)?;
        let current = row.as_deref().map(Header::decode).transpose()?;
        let mut current = current
            .filter(|(header, _)| header.kind == Kind::Put && header.version <= self.version());
        // Events of earlier pages are looked at too: any of them may be what supersedes one of this page.
        let newest = self.version();
        scan_events(
            self.reader(),
            &side.partition,
            &side.clustering,
            newest,
            &mut |header, content| {
                if let Some((own, own_content)) =
                    current.take_if(|(own, _)| own.version > header.version)
                    && lister.add(own, own_content).is_break()
                {
                    return Flow::Break(());
                }
                lister.add(header, content)
            },
        )?;
        if let Some((own, content)) = current {
            let _ = lister.add(own, content);
        }
        lister.failed.map_or(Ok(lister.versions), Err)
    }
}

struct Lister<'a> {
    id: &'a ElementId,
    page: HistoryPage,
    seen: Vec<(CommitVersion, Period)>,
    versions: Vec<Version>,
    failed: Option<GraphError>,
}

impl Lister<'_> {
    fn add(&mut self, header: Header, content: &[u8]) -> Flow {
        let period = header.period();
        let wanted = self
            .page
            .before
            .is_none_or(|before| header.version < before);
        if wanted {
            if self.versions.len() >= self.page.limit {
                return Flow::Break(());
            }
            let overlapping = self
                .seen
                .iter()
                .rev()
                .find(|(_, newer)| newer.overlaps(period));
            let superseded = overlapping.map(|(version, _)| *version);
            let (kind, element) = match header.kind {
                Kind::Put => match decode_element(self.id, content) {
                    Ok(element) => (VersionKind::Put, Some(element)),
                    Err(error) => {
                        self.failed = Some(error);
                        return Flow::Break(());
                    }
                },
                Kind::Delete | Kind::Marker => (VersionKind::Delete, None),
            };
            let version = header.version;
            self.versions.push(Version {
                version,
                period,
                kind,
                element,
                superseded,
            });
        }
        self.seen.push((header.version, period));
        Flow::Continue(())
    }
}
