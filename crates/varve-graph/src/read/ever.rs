//! Every element that a graph ever had and did not purge, also those that exist at no point any more that a listing shows.
//!
//! First come the elements with a current row, then those that have events only. An element that is deleted between two
//! pages may come on both.

use varve_encoding::key::{self, VERTEX_CLUSTERING};
use varve_encoding::tables::{EDGE, EVENT, VERTEX};
use varve_kv::{Flow, TableId};
use varve_model::{Direction, ElementId};

use super::View;
use crate::error::{ErrorKind, GraphError};
use crate::write::sides;

/// Rows looked at for one page: a page ends early after so many.
const LOOKED_AT_MAX: usize = 100_000;

/// One page of ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EverPage {
    /// The ids, of vertices or of edges.
    pub ids: Vec<ElementId>,
    /// What to go on with; `None` at the end. A page may be empty and have a next one.
    pub next: Option<Vec<u8>>,
}

/// The part of the walk.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Current = 0,
    Events = 1,
}

/// How far a walk has come: the last element passed in its phase.
type Place = (Phase, Option<ElementId>);

impl View {
    /// The next `limit` ids of vertices, after the page that gave `after`.
    ///
    /// # Errors
    /// [`ErrorKind::BadPage`] when no page of vertices gave `after`; when the store fails or is damaged.
    pub fn ever_vertices(
        &self,
        after: Option<&[u8]>,
        limit: usize,
    ) -> Result<EverPage, GraphError> {
        let place = parse(after, |id| matches!(id, ElementId::Vertex(_)))?;
        self.ever(
            VERTEX,
            |clustering| clustering == VERTEX_CLUSTERING,
            place,
            limit,
        )
    }

    /// The next `limit` ids of edges, after the page that gave `after`.
    ///
    /// # Errors
    /// As [`View::ever_vertices`].
    pub fn ever_edges(&self, after: Option<&[u8]>, limit: usize) -> Result<EverPage, GraphError> {
        let place = parse(after, |id| matches!(id, ElementId::Edge(_)))?;
        let out =
            |clustering: &[u8]| clustering.starts_with(&key::direction_prefix(Direction::Out));
        self.ever(EDGE, out, place, limit)
    }

    fn ever(
        &self,
        table: TableId,
        wanted: fn(&[u8]) -> bool,
        (phase, after): Place,
        limit: usize,
    ) -> Result<EverPage, GraphError> {
        let mut ids = Vec::new();
        let (mut phase, mut after) = (phase, after);
        loop {
            let room = limit - ids.len();
            let (found, last) = match phase {
                Phase::Current => self.stored(table, wanted, after.as_ref(), room)?,
                Phase::Events => self.with_events(wanted, after.as_ref(), room)?,
            };
            match phase {
                Phase::Current => ids.extend(found),
                Phase::Events => {
                    for id in found {
                        let side = sides(&id).1.remove(0);
                        let row = self
                            .reader()
                            .get(table, &side.partition, &side.clustering)?;
                        if row.is_none() {
                            ids.push(id);
                        }
                    }
                }
            }
            (phase, after) = match (last, phase) {
                (Some(last), _) => (phase, Some(last)),
                (None, Phase::Current) => (Phase::Events, None),
                (None, Phase::Events) => return Ok(EverPage { ids, next: None }),
            };
            if after.is_some() || ids.len() == limit {
                let next = Some(write(phase, after.as_ref()));
                return Ok(EverPage { ids, next });
            }
        }
    }

    /// Up to `room` elements of the current table after `after`, and the one to go on behind unless the table has ended.
    fn stored(
        &self,
        table: TableId,
        wanted: fn(&[u8]) -> bool,
        after: Option<&ElementId>,
        room: usize,
    ) -> Result<(Vec<ElementId>, Option<ElementId>), GraphError> {
        let after = after.map(|id| sides(id).1.remove(0));
        let from = after.as_ref();
        let from = from.map(|side| (side.partition.as_slice(), side.clustering.as_slice()));
        let mut walk = Walk::new(room);
        self.reader().scan_table(table, from, &mut |row| {
            walk.look(wanted, row.partition, row.clustering)
        })?;
        walk.end()
    }

    /// Up to `room` elements that have events, alike.
    fn with_events(
        &self,
        wanted: fn(&[u8]) -> bool,
        after: Option<&ElementId>,
        room: usize,
    ) -> Result<(Vec<ElementId>, Option<ElementId>), GraphError> {
        // Behind the oldest event of the last element: its key ends in the greatest inverted version.
        let after = after.map(|id| {
            let side = sides(id).1.remove(0);
            let last = [side.clustering.as_slice(), &[0xFF; key::EVENT_SUFFIX]].concat();
            (side.partition, last)
        });
        let from = after.as_ref();
        let from = from.map(|(partition, last)| (partition.as_slice(), last.as_slice()));
        let mut walk = Walk::new(room);
        self.reader().scan_table(
            EVENT,
            from,
            &mut |row| match key::split_event(row.clustering) {
                Ok((clustering, _)) => walk.look(wanted, row.partition, clustering),
                Err(error) => walk.fail(error.into()),
            },
        )?;
        walk.end()
    }
}

/// What a scan has found so far.
struct Walk {
    room: usize,
    looked_at: usize,
    found: Vec<ElementId>,
    /// Partition and clustering key of the last element found.
    last: Option<(Vec<u8>, Vec<u8>)>,
    full: bool,
    failed: Option<GraphError>,
}

impl Walk {
    fn new(room: usize) -> Self {
        Self {
            room,
            looked_at: 0,
            found: Vec::new(),
            last: None,
            full: false,
            failed: None,
        }
    }

    fn look(&mut self, wanted: fn(&[u8]) -> bool, partition: &[u8], clustering: &[u8]) -> Flow {
        self.looked_at += 1;
        let again = self
            .last
            .as_ref()
            .is_some_and(|(p, c)| p == partition && c == clustering);
        if again || !wanted(clustering) {
            return Flow::Continue(());
        }
        if self.found.len() >= self.room || (self.looked_at > LOOKED_AT_MAX && self.last.is_some())
        {
            self.full = true;
            return Flow::Break(());
        }
        let id = if clustering == VERTEX_CLUSTERING {
            key::decode_vertex_id(partition).map(ElementId::Vertex)
        } else {
            key::decode_edge(partition, clustering).map(|(id, _)| ElementId::Edge(id))
        };
        match id {
            Ok(id) => self.found.push(id),
            Err(error) => return self.fail(error.into()),
        }
        self.last = Some((partition.to_vec(), clustering.to_vec()));
        Flow::Continue(())
    }

    fn fail(&mut self, error: GraphError) -> Flow {
        self.failed = Some(error);
        Flow::Break(())
    }

    fn end(self) -> Result<(Vec<ElementId>, Option<ElementId>), GraphError> {
        match self.failed {
            Some(error) => Err(error),
            None => {
                let last = self.found.last().filter(|_| self.full).cloned();
                Ok((self.found, last))
            }
        }
    }
}

fn write(phase: Phase, last: Option<&ElementId>) -> Vec<u8> {
    let mut bytes = vec![phase as u8];
    if let Some(last) = last {
        key::put_element(last, &mut bytes);
    }
    bytes
}

fn parse(after: Option<&[u8]>, fits: fn(&ElementId) -> bool) -> Result<Place, GraphError> {
    let Some(bytes) = after else {
        return Ok((Phase::Current, None));
    };
    let bad = || GraphError::new(ErrorKind::BadPage, "Invalid page");
    let (phase, id) = bytes.split_first().ok_or_else(bad)?;
    let phase = match phase {
        0 => Phase::Current,
        1 => Phase::Events,
        _ => return Err(bad()),
    };
    if id.is_empty() {
        return Ok((phase, None));
    }
    let id = key::decode_element(id).map_err(|_| bad())?;
    fits(&id).then_some((phase, Some(id))).ok_or_else(bad)
}
