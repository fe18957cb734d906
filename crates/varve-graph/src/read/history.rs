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

    /// Shows the events of `id` older than `before` that this view's transaction time shows, newest first, one at a time,
    /// until `visit` breaks. Costs a step for each newer event too.
    ///
    /// # Errors
    /// When the store fails or is damaged.
    pub fn visit_history(
        &self,
        id: &ElementId,
        before: Option<CommitVersion>,
        visit: &mut dyn FnMut(Version) -> Flow,
    ) -> Result<(), GraphError> {
        let (table, sides) = sides(id);
        let side = &sides[0];
        let mut lister = Lister {
            id,
            before,
            seen: Vec::new(),
            visit,
            over: false,
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
        if let Some((own, content)) = current.filter(|_| !lister.over) {
            let _ = lister.add(own, content);
        }
        lister.failed.map_or(Ok(()), Err)
    }
}

struct Lister<'a> {
    id: &'a ElementId,
    before: Option<CommitVersion>,
    seen: Vec<(CommitVersion, Period)>,
    visit: &'a mut dyn FnMut(Version) -> Flow,
    over: bool,
    failed: Option<GraphError>,
}

impl Lister<'_> {
    fn add(&mut self, header: Header, content: &[u8]) -> Flow {
        let period = header.period();
        let wanted = self.before.is_none_or(|before| header.version < before);
        if wanted {
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
                        self.over = true;
                        return Flow::Break(());
                    }
                },
                Kind::Delete | Kind::Marker => (VersionKind::Delete, None),
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
        self.seen.push((header.version, period));
        Flow::Continue(())
    }
}
