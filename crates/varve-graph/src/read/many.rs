//! Many elements at one point of both times.
//!
//! Of the past, what the current row does not decide is looked for among an element's events. To begin a search of the engine
//! costs several times what it takes to lead it to another vertex, so one search goes through the events of all vertices.

use varve_encoding::DecodeError;
use varve_encoding::key;
use varve_encoding::row::{Header, Kind};
use varve_encoding::tables::{EVENT, VERTEX};
use varve_kv::{Flow, PartitionRange, Reader, TableId};
use varve_model::VertexId;

use super::resolve::{covers, events_range};
use super::view::{Point, View, read_element};
use crate::error::GraphError;

impl View {
    /// Calls `found` with the position of each of these vertices that exists, and with the content of its row, in no order.
    ///
    /// # Errors
    /// When the store fails or is damaged.
    pub fn with_vertices(
        &self,
        ids: &[VertexId],
        found: &mut dyn FnMut(usize, &[u8]),
    ) -> Result<(), GraphError> {
        let place = |id: &VertexId| (key::vertex_id(id), key::VERTEX_CLUSTERING.to_vec());
        let places: Vec<Place> = ids.iter().map(place).collect();
        read_elements(self.reader(), VERTEX, &places, self.point(), found)
    }
}

/// The partition and clustering key of an element's row, of an edge on its source's side.
pub(crate) type Place = (Vec<u8>, Vec<u8>);

/// An element that its current row does not decide.
struct Undecided {
    at: usize,
    /// The current row, if an event about the same time may have replaced it.
    row: Option<Vec<u8>>,
    is_over: bool,
}

/// Calls `found` with the position and content of each of the elements at these places of a table that exists, in no order.
pub(crate) fn read_elements(
    reader: &dyn Reader,
    table: TableId,
    places: &[Place],
    point: Point,
    found: &mut dyn FnMut(usize, &[u8]),
) -> Result<(), GraphError> {
    if point.scope.is_now() {
        for (at, (partition, clustering)) in places.iter().enumerate() {
            let mut found = |content: &[u8]| found(at, content);
            read_element(reader, table, partition, clustering, point, &mut found)?;
        }
        return Ok(());
    }
    let mut undecided = Vec::new();
    for (at, (partition, clustering)) in places.iter().enumerate() {
        let (mut row, mut is_decided, mut damaged) = (None, false, None);
        reader.get_with(
            table,
            partition,
            clustering,
            &mut |stored| match Header::decode(stored) {
                Ok((header, content)) if point.row_decides(&header) => {
                    is_decided = true;
                    found(at, content);
                }
                Ok((header, _)) if covers(&header, point.valid(), point.version()) => {
                    row = Some(stored.to_vec());
                }
                Ok(_) => {}
                Err(error) => damaged = Some(error),
            },
        )?;
        if let Some(damaged) = damaged {
            return Err(damaged.into());
        }
        if !is_decided {
            let is_over = false;
            undecided.push(Undecided { at, row, is_over });
        }
    }
    decide(reader, places, point, undecided, found)
}

/// Looks for what decides among the events.
fn decide(
    reader: &dyn Reader,
    places: &[Place],
    point: Point,
    mut undecided: Vec<Undecided>,
    found: &mut dyn FnMut(usize, &[u8]),
) -> Result<(), GraphError> {
    if undecided.is_empty() {
        return Ok(());
    }
    let own: Vec<&Place> = undecided.iter().map(|one| &places[one.at]).collect();
    let rows = undecided.iter().map(|one| one.row.as_deref());
    let newest: Vec<_> = rows
        .map(|row| {
            Ok(row
                .map(Header::decode)
                .transpose()?
                .map(|(row, _)| row.version))
        })
        .collect::<Result<_, DecodeError>>()?;
    let range_of = |(_, clustering): &Place| events_range(clustering, point.version());
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
        let one = &mut undecided[number];
        one.is_over = true;
        if header.kind == Kind::Put {
            found(one.at, content);
        }
        Flow::Break(())
    };
    let ranges: Vec<_> = own.iter().map(|place| range_of(place)).collect();
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
