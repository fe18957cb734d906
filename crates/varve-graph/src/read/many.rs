//! Many elements at one point of both times.
//!
//! In the past, a state that the current row does not decide is searched for in the element's
//! events. Starting a scan costs several times as much as moving it to another vertex, so one scan
//! reads the events of all vertices.

use varve_encoding::DecodeError;
use varve_encoding::key;
use varve_encoding::row::{Header, RowKind};
use varve_encoding::tables::{EVENT, VERTEX};
use varve_kv::{Flow, PartitionRange, Reader, ReaderExt, TableId};
use varve_model::VertexId;

use super::resolve::{covers, events_range};
use super::view::{Point, View, read_element};
use crate::error::GraphError;
use crate::query::RowKey;

impl View {
    /// Calls `found` with the position of each of these vertices that exists, and with the content
    /// of its row, in any order.
    ///
    /// # Errors
    /// When the store fails or is damaged.
    pub fn with_vertices(
        &self,
        ids: &[VertexId],
        found: &mut dyn FnMut(usize, &[u8]),
    ) -> Result<(), GraphError> {
        let keys: Vec<Vec<u8>> = ids.iter().map(key::vertex_id).collect();
        let places = keys.iter().map(|key| (&**key, key::VERTEX_CLUSTERING));
        let places: Vec<RowPlace<'_>> = places.collect();
        self.elements(VERTEX, &places, found)
    }

    /// Calls `found` with the position and content of each existing element at these places of a
    /// table, in any order. On a cluster the rows are read together, and so are the events of the
    /// elements that the rows do not decide.
    pub(crate) fn elements(
        &self,
        table: TableId,
        places: &[RowPlace<'_>],
        found: &mut dyn FnMut(usize, &[u8]),
    ) -> Result<(), GraphError> {
        match &self.guard {
            None => self.stored_elements(table, places, found),
            Some(guard) => self.shown_elements(guard, table, places, found),
        }
    }

    /// As [`View::elements`], including elements that the policy hides.
    pub(super) fn stored_elements(
        &self,
        table: TableId,
        places: &[RowPlace<'_>],
        found: &mut dyn FnMut(usize, &[u8]),
    ) -> Result<(), GraphError> {
        let (reader, point) = (self.reader(), self.point());
        if self.is_one_state() {
            return read_elements(reader, table, places, point, found);
        }
        for (number, places) in places.chunks(BATCH).enumerate() {
            let rows = reader.multi_get(table, places)?;
            let mut found = |at, content: &[u8]| found(number * BATCH + at, content);
            let mut undecided = Vec::new();
            for (at, row) in rows.iter().enumerate() {
                match look_at(at, row.as_deref(), point)? {
                    Looked::Content(content) => found(at, content),
                    Looked::Nothing => {}
                    Looked::Undecided(one) => undecided.push(one),
                }
            }
            decide(reader, places, point, undecided, &mut found)?;
        }
        Ok(())
    }
}

/// The result of reading an element's current row.
pub(super) enum Looked<'r> {
    /// The element exists, with this content.
    Content(&'r [u8]),
    /// The element does not exist.
    Nothing,
    /// An event may decide.
    Undecided(Undecided),
}

/// Evaluates the row of the element at position `at`.
pub(super) fn look_at(
    at: usize,
    row: Option<&[u8]>,
    point: Point,
) -> Result<Looked<'_>, DecodeError> {
    let (mut row_that_covers, is_over) = (None, false);
    match row {
        // In the present, a missing row means that the element does not exist.
        None if point.scope.is_now() => return Ok(Looked::Nothing),
        None => {}
        Some(stored) => {
            let (header, content) = Header::decode(stored)?;
            if point.row_decides(&header) {
                return Ok(Looked::Content(content));
            }
            if covers(&header, point.valid(), point.version()) {
                row_that_covers = Some(stored.to_vec());
            }
        }
    }
    Ok(Looked::Undecided(Undecided {
        at,
        row: row_that_covers,
        is_over,
    }))
}

/// The partition and clustering key of an element's row; for an edge, on its source's side.
pub(crate) type RowPlace<'k> = (&'k [u8], &'k [u8]);

pub(super) fn borrowed(keys: &[RowKey]) -> Vec<RowPlace<'_>> {
    let each = keys.iter();
    each.map(|(partition, clustering)| (&**partition, &**clustering))
        .collect()
}

/// How many rows are read from a cluster together.
const BATCH: usize = 256;

/// An element whose state the current row does not decide.
pub(super) struct Undecided {
    at: usize,
    /// The current row, if it covers the point; a newer event may supersede it.
    row: Option<Vec<u8>>,
    is_over: bool,
}

/// Calls `found` with the position and content of each element at these places of a table that
/// exists now, in any order.
fn present_elements(
    reader: &dyn Reader,
    table: TableId,
    places: &[RowPlace<'_>],
    point: Point,
    found: &mut dyn FnMut(usize, &[u8]),
) -> Result<(), GraphError> {
    let (mut undecided, mut damaged) = (Vec::new(), None);
    reader.get_each(table, places, &mut |at, row| match Header::decode(row) {
        Ok((header, content)) if point.row_decides(&header) => found(at, content),
        Ok(_) => undecided.push(at),
        Err(error) => damaged = Some(error),
    })?;
    if let Some(error) = damaged {
        return Err(error.into());
    }
    for at in undecided {
        let (partition, clustering) = places[at];
        let mut found = |content: &[u8]| found(at, content);
        read_element(reader, table, partition, clustering, point, &mut found)?;
    }
    Ok(())
}

/// Calls `found` with the position and content of each existing element at these places of a table,
/// in any order.
pub(crate) fn read_elements(
    reader: &dyn Reader,
    table: TableId,
    places: &[RowPlace<'_>],
    point: Point,
    found: &mut dyn FnMut(usize, &[u8]),
) -> Result<(), GraphError> {
    if point.scope.is_now() {
        return present_elements(reader, table, places, point, found);
    }
    let mut undecided = Vec::new();
    for (at, (partition, clustering)) in places.iter().enumerate() {
        let mut failed = None;
        let mut look = |row: Option<&[u8]>| match look_at(at, row, point) {
            Ok(Looked::Content(content)) => found(at, content),
            Ok(Looked::Nothing) => {}
            Ok(Looked::Undecided(one)) => undecided.push(one),
            Err(error) => failed = Some(error),
        };
        let show = &mut |row: &[u8]| look(Some(row));
        if !reader.get_with(table, partition, clustering, show)? {
            look(None);
        }
        if let Some(error) = failed {
            return Err(error.into());
        }
    }
    decide(reader, places, point, undecided, found)
}

/// Finds the deciding events of elements that their rows do not decide.
pub(super) fn decide(
    reader: &dyn Reader,
    places: &[RowPlace<'_>],
    point: Point,
    mut undecided: Vec<Undecided>,
    found: &mut dyn FnMut(usize, &[u8]),
) -> Result<(), GraphError> {
    if undecided.is_empty() {
        return Ok(());
    }
    let own: Vec<RowPlace<'_>> = undecided.iter().map(|one| places[one.at]).collect();
    let rows = undecided.iter().map(|one| one.row.as_deref());
    let newest: Vec<_> = rows
        .map(|row| {
            Ok(row
                .map(Header::decode)
                .transpose()?
                .map(|(row, _)| row.version))
        })
        .collect::<Result<_, DecodeError>>()?;
    let range_of = |(_, clustering): &RowPlace<'_>| events_range(clustering, point.version());
    let mut damaged = None;
    let mut look = |number: usize, key: &[u8], event: &[u8]| {
        if key.len() != own[number].1.len() + key::EVENT_SUFFIX {
            return Flow::Continue(());
        }
        let (header, content) = match Header::decode(event) {
            Ok(event) => event,
            Err(error) => {
                damaged = Some(error);
                return Flow::Break(());
            }
        };
        if newest[number].is_some_and(|row| header.version < row) {
            return Flow::Break(());
        }
        if !header.period().covers(point.valid()) {
            return Flow::Continue(());
        }
        let one: &mut Undecided = &mut undecided[number];
        one.is_over = true;
        if header.kind == RowKind::Put {
            found(one.at, content);
        }
        Flow::Break(())
    };
    let ranges: Vec<_> = own.iter().map(range_of).collect();
    let scans = own.iter().zip(&ranges);
    let scans: Vec<_> = scans
        .map(|((partition, _), range)| PartitionRange { partition, range })
        .collect();
    reader.scan_many(EVENT, &scans, &mut look)?;
    if let Some(damaged) = damaged {
        return Err(damaged.into());
    }
    for one in undecided.iter().filter(|one| !one.is_over) {
        if let Some(row) = &one.row {
            found(one.at, Header::decode(row)?.1);
        }
    }
    Ok(())
}
