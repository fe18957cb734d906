//! Reads the events of the elements of a step. Most have none, and a scan for each element costs as
//! much as several gets, so one scan covers all partitions of a step.

use std::collections::HashMap;

use varve_encoding::key;
use varve_encoding::row::{Header, RowKind};
use varve_encoding::tables::EVENT;
use varve_kv::{Flow, Reader};
use varve_model::{CommitVersion, Period};

use super::prints::print;
use super::rows::Rows;
use crate::near::scan_between;

/// The most events that this scan may read, and about 60 bytes of memory each.
const EVENTS_MAX: usize = 32_000;

/// An event without its content.
#[derive(Debug, Clone, Copy)]
pub(super) struct Brief {
    pub(super) version: CommitVersion,
    pub(super) period: Period,
    pub(super) kind: RowKind,
}

impl Brief {
    pub(super) fn of(header: &Header) -> Self {
        Self {
            version: header.version,
            period: header.period(),
            kind: header.kind,
        }
    }
}

/// The events of the elements of some rows.
#[derive(Debug, Default)]
pub(super) struct Eventful {
    /// By the fingerprint of the current row, newest first; `None` if the scan would read too many
    /// or has met damage, so that each element's events must be read.
    known: Option<HashMap<u64, Vec<Brief>>>,
}

impl Eventful {
    /// Scans the events from the first row's element to the last row's.
    pub(super) fn of(reader: &dyn Reader, rows: &Rows) -> Self {
        let (Some((first, begin, _)), Some((last, last_row, _))) = (rows.first(), rows.last())
        else {
            return Self::default();
        };
        let [begin, end] = [
            key::event_clustering(begin, CommitVersion::MAX),
            key::event_clustering(last_row, CommitVersion::ZERO),
        ];
        let range = ((first, &*begin), (last, &*end));
        let (mut known, mut passed) = (HashMap::<u64, Vec<Brief>>::new(), 0);
        let mut is_sound = true;
        let scanned = scan_between(reader, EVENT, range, &mut |row| {
            passed += 1;
            // The check of the element reports the damage.
            let (current, event) = (key::split_event(row.clustering), Header::decode(row.value));
            is_sound = match (current, event) {
                (Ok((current, _)), Ok((header, _))) => {
                    let events = known.entry(print(row.partition, current)).or_default();
                    events.push(Brief::of(&header));
                    passed < EVENTS_MAX
                }
                _ => false,
            };
            match is_sound {
                true => Flow::Continue(()),
                false => Flow::Break(()),
            }
        });
        // The scan of the element itself reports a read error.
        let is_whole = scanned.is_ok() && is_sound;
        Self {
            known: is_whole.then_some(known),
        }
    }

    /// The events of the element with this current row, newest first; `None` if they must be read.
    pub(super) fn of_element(&self, partition: &[u8], clustering: &[u8]) -> Option<Vec<Brief>> {
        let known = self.known.as_ref()?;
        let events = known.get(&print(partition, clustering));
        Some(events.cloned().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use varve_encoding::tables::TABLES;
    use varve_kv::{Batch, Durability, Engine, MemoryEngine, Row};
    use varve_model::VertexId;

    use super::*;

    #[test]
    fn the_events_of_a_step_are_known_unless_there_are_too_many() {
        let space = MemoryEngine::new()
            .open("g", TABLES, true)
            .expect("a space");
        let ids: Vec<Vec<u8>> = (0..4)
            .map(|n| key::vertex_id(&VertexId::Number(n)))
            .collect();
        let mut rows = Rows::default();
        for id in &ids[..3] {
            rows.push(&Row {
                partition: id,
                clustering: key::VERTEX_CLUSTERING,
                value: &[],
            });
        }
        let add = |id: &[u8], current: &[u8], events: u64| {
            let mut batch = Batch::new();
            for number in 0..events {
                let version = CommitVersion(number);
                let kind = RowKind::Delete;
                let mut row = Vec::new();
                Header {
                    kind,
                    version,
                    ..Header::put_now()
                }
                .encode(&mut row);
                let clustering = key::event_clustering(current, version);
                batch.put(EVENT, id, &clustering, &row);
            }
            space.write(&batch, Durability::Buffered).expect("written");
        };
        let of = || {
            let eventful = Eventful::of(&*space, &rows);
            let vertex = key::VERTEX_CLUSTERING;
            let of_each = ids[..3].iter().map(|id| eventful.of_element(id, vertex));
            of_each
                .map(|events| Some(events?.len()))
                .collect::<Vec<_>>()
        };
        let vertex = key::VERTEX_CLUSTERING;
        assert_eq!(of(), [Some(0), Some(0), Some(0)]);
        add(&ids[1], vertex, 2);
        add(&ids[3], vertex, EVENTS_MAX as u64);
        // Behind the last row.
        add(&ids[2], &[1, 2], EVENTS_MAX as u64);
        assert_eq!(of(), [Some(0), Some(2), Some(0)]);
        add(&ids[1], &[1, 2], EVENTS_MAX as u64);
        assert_eq!(of(), [None, None, None]);
        let none = Eventful::of(&*space, &Rows::default());
        assert_eq!(none.of_element(&ids[0], vertex).map(|it| it.len()), None);
    }
}
