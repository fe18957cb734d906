//! Finds the elements that have events beside their rows. Most have none, and a scan of each
//! partition costs as much as several gets, so one scan covers all partitions of a step.

use std::collections::HashSet;

use varve_encoding::tables::EVENT;
use varve_kv::{ClusteringRange, Flow, KvError, Reader, ScanRequest};

use super::rows::Rows;

/// The most events that this scan may read.
const EVENTS_MAX: usize = 8_000;

/// Which partitions of some rows have events.
#[derive(Debug, Default)]
pub(super) struct Eventful {
    /// All partitions with events; `None` if the scan would read too many.
    known: Option<HashSet<Vec<u8>>>,
    /// The last partition that was checked, and whether it has events.
    last: Option<(Vec<u8>, bool)>,
}

impl Eventful {
    /// Scans the events of all partitions from the first row's to the last row's.
    pub(super) fn of(reader: &dyn Reader, rows: &Rows) -> Self {
        let (Some((first, ..)), Some((last, ..))) = (rows.first(), rows.last()) else {
            return Self::default();
        };
        let end = reader.partition_order(EVENT, last);
        let (mut known, mut passed) = (HashSet::new(), 0);
        let mut newest: Vec<u8> = Vec::new();
        let scanned = reader.scan_table(EVENT, Some((first, &[])), &mut |row| {
            if row.partition != newest {
                if reader.partition_order(EVENT, row.partition) > end {
                    return Flow::Break(());
                }
                newest = row.partition.to_vec();
                known.insert(newest.clone());
            }
            passed += 1;
            match passed < EVENTS_MAX {
                true => Flow::Continue(()),
                false => Flow::Break(()),
            }
        });
        // The scan of the partition itself reports a read error.
        let is_whole = scanned.is_ok() && passed < EVENTS_MAX;
        Self {
            known: is_whole.then_some(known),
            last: None,
        }
    }

    /// Whether a partition has events; the rows of one partition are consecutive.
    pub(super) fn has(&mut self, reader: &dyn Reader, partition: &[u8]) -> Result<bool, KvError> {
        if let Some(known) = &self.known {
            return Ok(known.contains(partition));
        }
        if let Some((last, has_events)) = &self.last
            && last == partition
        {
            return Ok(*has_events);
        }
        let mut has_events = false;
        let request = ScanRequest {
            table: EVENT,
            partition,
            range: &ClusteringRange::all(),
            reverse: false,
        };
        reader.scan(request, &mut |_, _| {
            has_events = true;
            Flow::Break(())
        })?;
        self.last = Some((partition.to_vec(), has_events));
        Ok(has_events)
    }
}

#[cfg(test)]
mod tests {
    use varve_encoding::key;
    use varve_encoding::tables::TABLES;
    use varve_kv::{Batch, Durability, Engine, MemoryEngine, Row};
    use varve_model::VertexId;

    use super::*;

    #[test]
    fn partitions_with_events_are_known_however_many_events_there_are() {
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
        let add = |id: &[u8], events: usize| {
            let mut batch = Batch::new();
            for number in 0..events {
                batch.put(EVENT, id, &number.to_be_bytes(), &[]);
            }
            space.write(&batch, Durability::Buffered).expect("written");
        };
        let of = |rows| {
            let mut eventful = Eventful::of(&*space, rows);
            let has = ids[..3].iter().map(|id| eventful.has(&*space, id));
            let has: Vec<bool> = has.collect::<Result<_, _>>().expect("read");
            (eventful.known.is_some(), has)
        };
        assert_eq!(of(&rows), (true, vec![false, false, false]));
        add(&ids[1], 2);
        add(&ids[3], EVENTS_MAX);
        assert_eq!(of(&rows), (true, vec![false, true, false]));
        add(&ids[0], EVENTS_MAX);
        assert_eq!(of(&rows), (false, vec![true, true, false]));
        assert!(Eventful::of(&*space, &Rows::default()).known.is_none());
    }
}
