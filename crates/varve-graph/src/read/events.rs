//! The events of elements as they are stored, newest first, whatever the point of time.
//!
//! The header of the current row says whether newer events exist. Most often the current row is the
//! newest event, and the event table is read only if the visitor wants more.

use varve_encoding::DecodeError;
use varve_encoding::key;
use varve_encoding::row::{Header, RowKind};
use varve_encoding::tables::{EVENT, VERTEX};
use varve_kv::{Flow, PartitionRange, Reader, ReaderExt};
use varve_model::{CommitVersion, ElementId, Period, VertexId};

use super::View;
use super::resolve::{events_range, scan_events};
use crate::error::GraphError;
use crate::rows::{Side, sides};

/// One event of an element, as it is stored.
#[derive(Debug, Clone, Copy)]
pub struct Event<'a> {
    /// The commit version of the event.
    pub version: CommitVersion,
    /// The period of valid time that it is about.
    pub period: Period,
    /// The content of the element's row; `None` = a delete.
    pub content: Option<&'a [u8]>,
}

impl View {
    /// Visits the stored events of `id`, newest first, of all points of both times, until `visit`
    /// breaks.
    ///
    /// # Errors
    /// When the store fails or is damaged.
    pub fn visit_events(
        &self,
        id: &ElementId,
        visit: &mut dyn FnMut(Event<'_>) -> Flow,
    ) -> Result<(), GraphError> {
        visit_events(self.reader(), id, visit)
    }

    /// As [`View::visit_events`], for several vertices: `visit` is called with the position of each
    /// event's vertex, and a break ends the visits of that vertex only. One scan reads the events
    /// of all vertices whose visits continue after the current row.
    ///
    /// # Errors
    /// As [`View::visit_events`].
    pub fn visit_events_of_vertices(
        &self,
        ids: &[VertexId],
        visit: &mut dyn FnMut(usize, Event<'_>) -> Flow,
    ) -> Result<(), GraphError> {
        let reader = self.reader();
        let partitions: Vec<Vec<u8>> = ids.iter().map(key::vertex_id).collect();
        let row = |partition: &Vec<u8>| reader.get(VERTEX, partition, key::VERTEX_CLUSTERING);
        let rows: Vec<Option<Vec<u8>>> = partitions.iter().map(row).collect::<Result<_, _>>()?;
        let mut open = Vec::new();
        for (at, row) in rows.iter().enumerate() {
            let merged = Merged::begin(row.as_deref(), &mut |event| visit(at, event))?;
            if !merged.is_over {
                open.push((at, merged));
            }
        }
        let wanted: Vec<&[u8]> = open.iter().map(|(at, _)| &partitions[*at][..]).collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let range = events_range(key::VERTEX_CLUSTERING, CommitVersion::MAX);
        let mut damaged: Option<DecodeError> = None;
        let ranges = PartitionRange::of_each(&wanted, &range);
        reader.scan_many(EVENT, &ranges, &mut |number, key, row| {
            if key.len() != key::VERTEX_CLUSTERING.len() + key::EVENT_SUFFIX {
                return Flow::Continue(());
            }
            let (at, merged) = &mut open[number];
            match Header::decode(row) {
                Ok((header, content)) => {
                    merged.show(header, content, &mut |event| visit(*at, event))
                }
                Err(error) => {
                    damaged = Some(error);
                    Flow::Break(())
                }
            }
        })?;
        if let Some(damaged) = damaged {
            return Err(damaged.into());
        }
        for (at, merged) in open {
            merged.end(&mut |event| visit(at, event));
        }
        Ok(())
    }
}

/// Visits the events of `id`, newest first, until `visit` breaks.
///
/// # Errors
/// When the store fails or is damaged.
pub(crate) fn visit_events(
    reader: &dyn Reader,
    id: &ElementId,
    visit: &mut dyn FnMut(Event<'_>) -> Flow,
) -> Result<(), GraphError> {
    let (table, sides) = sides(id);
    let side = &sides[0];
    let row = reader.get(table, &side.partition, &side.clustering)?;
    visit_events_of(reader, side, row.as_deref(), visit)
}

/// As [`visit_events`], for an element whose current row is known.
///
/// # Errors
/// As [`visit_events`].
pub(crate) fn visit_events_of(
    reader: &dyn Reader,
    side: &Side,
    row: Option<&[u8]>,
    visit: &mut dyn FnMut(Event<'_>) -> Flow,
) -> Result<(), GraphError> {
    let mut merged = Merged::begin(row, visit)?;
    if merged.is_over {
        return Ok(());
    }
    let (partition, clustering) = (&side.partition, &side.clustering);
    let newest = CommitVersion::MAX;
    scan_events(
        reader,
        partition,
        clustering,
        newest,
        &mut |header, content| merged.show(header, content, visit),
    )?;
    merged.end(visit);
    Ok(())
}

/// Merges the current row of an element into its events.
struct Merged<'r> {
    /// The row, until it was visited.
    current: Option<(Header, &'r [u8])>,
    /// Whether the visitor broke.
    is_over: bool,
}

impl<'r> Merged<'r> {
    /// Visits the row at once if it is the newest event.
    fn begin(
        row: Option<&'r [u8]>,
        visit: &mut dyn FnMut(Event<'_>) -> Flow,
    ) -> Result<Self, DecodeError> {
        let current = row.map(Header::decode).transpose()?;
        let current = current.filter(|(header, _)| header.kind == RowKind::Put);
        let mut merged = Self {
            current,
            is_over: false,
        };
        // The row's header records whether a newer event exists: B1 of docs/time.md.
        let newest = merged.current.take_if(|(own, _)| !own.overlaid);
        if let Some((own, content)) = newest {
            merged.is_over = visit(event(own, content)).is_break();
        }
        Ok(merged)
    }

    /// Visits an event, and before it the row if that is newer.
    fn show(
        &mut self,
        header: Header,
        content: &[u8],
        visit: &mut dyn FnMut(Event<'_>) -> Flow,
    ) -> Flow {
        let newer = self
            .current
            .take_if(|(own, _)| own.version > header.version);
        let flow = match newer {
            Some((own, content)) => visit(event(own, content)),
            None => Flow::Continue(()),
        };
        let flow = match flow {
            Flow::Continue(()) => visit(event(header, content)),
            over => over,
        };
        self.is_over = flow.is_break();
        flow
    }

    /// Visits the row if all events were newer.
    fn end(self, visit: &mut dyn FnMut(Event<'_>) -> Flow) {
        if let (Some((own, content)), false) = (self.current, self.is_over) {
            let _ = visit(event(own, content));
        }
    }
}

fn event(header: Header, content: &[u8]) -> Event<'_> {
    Event {
        version: header.version,
        period: header.period(),
        content: (header.kind == RowKind::Put).then_some(content),
    }
}
