//! Counts of the bytes written to each partition: an estimate for all partitions, and exact counts
//! for those with many bytes.

use std::collections::{BTreeSet, HashMap};

use varve_kv::{Batch, Op, TableId};
use xxhash_rust::xxh3::xxh3_64;

use crate::parts::Parts;

/// The approximate size of a row besides its keys and value.
const ROW_BYTES: usize = 24;
/// The least size that a row counts as: partitions of many small rows are expensive, too.
const ROW_BYTES_MIN: usize = 100;
/// The number of records written while a partition takes its share of bytes. The count since the
/// last record is lost when the space is closed, so a partition may exceed its share by that much
/// each time.
const RECORDS: u64 = 8;
const CELLS: usize = 1 << 15;
/// The cells are halved when their average reaches 1/`FULL` of the bytes from which on a partition
/// is watched. Otherwise small partitions that share cells would eventually seem large.
const FULL: u64 = 8;

/// The size that a row counts as.
pub(crate) fn row_bytes(clustering: &[u8], value: &[u8]) -> u64 {
    let bytes = clustering.len() + value.len() + ROW_BYTES;
    bytes.max(ROW_BYTES_MIN) as u64
}

/// Two rows of counters. A partition adds to one cell of each row, so the smaller of its two cells
/// is an upper bound of its bytes.
#[derive(Debug)]
struct Sketch {
    cells: Box<[[u64; 2]]>,
    /// The sum of the cells of one row.
    total: u64,
    /// The sum from which on the cells are halved.
    total_max: u64,
}

impl Sketch {
    /// Creates a sketch for partitions that are watched from `step` bytes on.
    fn new(step: u64) -> Self {
        Self {
            cells: vec![[0; 2]; CELLS].into_boxed_slice(),
            total: 0,
            total_max: (CELLS as u64).saturating_mul(step) / FULL,
        }
    }

    /// Halves all counts, so that bytes written long ago to a slowly growing partition count less.
    fn halve(&mut self) {
        for cell in self.cells.iter_mut().flatten() {
            *cell /= 2;
        }
        self.total /= 2;
    }

    /// Adds to a partition's bytes; returns an upper bound of them.
    fn add(&mut self, partition: &[u8], bytes: u64) -> u64 {
        let hash = xxh3_64(partition);
        let mut least = u64::MAX;
        for (row, part) in [hash, hash >> 32].into_iter().enumerate() {
            let at = usize::try_from(part & 0xFFFF_FFFF).unwrap_or_default() % CELLS;
            let cell = &mut self.cells[at][row];
            *cell += bytes;
            least = least.min(*cell);
        }
        self.total += bytes;
        if self.total > self.total_max {
            self.halve();
        }
        least
    }
}

/// A partition whose bytes are counted exactly.
#[derive(Debug)]
struct Watched {
    parts: Parts,
    /// The bytes that the newest epoch has taken, and how many of them are recorded.
    bytes: u64,
    recorded: u64,
}

/// A record to be stored.
#[derive(Debug)]
pub(crate) struct Due {
    pub(crate) partition: Vec<u8>,
    pub(crate) parts: Parts,
    pub(crate) bytes: u64,
}

/// A partition with this share of bytes is watched from this number of bytes on, and recorded again
/// after each further such number.
fn step(bytes_max: u64) -> u64 {
    (bytes_max / RECORDS).max(1)
}

/// The counts.
#[derive(Debug)]
pub(crate) struct Counts {
    bytes_max: u64,
    sketch: Sketch,
    watched: HashMap<Vec<u8>, Watched>,
    /// The partitions whose records are out of date.
    due: BTreeSet<Vec<u8>>,
}

impl Counts {
    pub(crate) fn new(bytes_max: u64) -> Self {
        let bytes_max = bytes_max.max(1);
        Self {
            bytes_max,
            sketch: Sketch::new(step(bytes_max)),
            watched: HashMap::new(),
            due: BTreeSet::new(),
        }
    }

    /// Adds a partition from its record.
    pub(crate) fn learn(&mut self, partition: &[u8], parts: Parts, bytes: u64) {
        let watched = Watched {
            parts,
            bytes,
            recorded: bytes,
        };
        self.watched.insert(partition.to_vec(), watched);
    }

    fn step(&self) -> u64 {
        step(self.bytes_max)
    }

    /// Counts the puts of a batch for which `counted` returns true.
    pub(crate) fn count(&mut self, batch: &Batch, counted: impl Fn(TableId, &[u8]) -> bool) {
        for op in batch.ops() {
            if let Op::Put {
                table,
                partition,
                clustering,
                value,
            } = op
                && counted(table, clustering)
            {
                self.add(partition, row_bytes(clustering, value));
            }
        }
    }

    /// Adds bytes to a partition's count.
    pub(crate) fn add(&mut self, partition: &[u8], bytes: u64) {
        let step = self.step();
        let Some(watched) = self.watched.get_mut(partition) else {
            let bytes = self.sketch.add(partition, bytes);
            if bytes >= step {
                self.watch(partition, bytes);
            }
            return;
        };
        watched.bytes += bytes;
        let full = watched.bytes >= self.bytes_max * u64::from(watched.parts.newest());
        let grown = full && watched.parts.grow();
        if grown {
            (watched.bytes, watched.recorded) = (0, 0);
        }
        if grown || watched.bytes - watched.recorded >= step {
            self.due.insert(partition.to_vec());
        }
    }

    fn watch(&mut self, partition: &[u8], bytes: u64) {
        self.learn(partition, Parts::whole(), 0);
        self.add(partition, bytes);
        self.due.insert(partition.to_vec());
    }

    /// Raises the count of a whole partition to the bytes that a scan has found in it. Ignored
    /// below the bytes from which on a partition is watched.
    pub(crate) fn found(&mut self, partition: &[u8], bytes: u64) {
        if bytes < self.step() {
            return;
        }
        match self.watched.get_mut(partition) {
            None => self.watch(partition, bytes),
            Some(watched) if watched.parts.is_whole() && watched.bytes < bytes => {
                let more = bytes - watched.bytes;
                self.add(partition, more);
            }
            Some(_) => {}
        }
    }

    pub(crate) fn is_due(&self) -> bool {
        !self.due.is_empty()
    }

    /// Takes the records to be stored.
    pub(crate) fn take_due(&mut self) -> Vec<Due> {
        let due = std::mem::take(&mut self.due);
        let records = due.into_iter().filter_map(|partition| {
            let watched = self.watched.get(&partition)?;
            Some(Due {
                parts: watched.parts.clone(),
                bytes: watched.bytes,
                partition,
            })
        });
        records.collect()
    }

    /// Returns records that could not be stored.
    pub(crate) fn put_back(&mut self, records: Vec<Due>) {
        self.due
            .extend(records.into_iter().map(|record| record.partition));
    }

    /// Notes that records were stored.
    pub(crate) fn stored(&mut self, records: &[Due]) {
        for record in records {
            if let Some(watched) = self.watched.get_mut(&record.partition)
                && watched.parts == record.parts
            {
                watched.recorded = record.bytes;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: TableId = TableId(0);

    fn batch(partition: &[u8], rows: u8) -> Batch {
        let mut batch = Batch::new();
        for row in 0..rows {
            batch.put(TABLE, partition, &[row], b"v");
        }
        batch
    }

    #[test]
    fn a_partition_grows_by_what_it_takes() {
        let mut counts = Counts::new(800);
        for n in 0..200_u8 {
            counts.count(&batch(&[n], 1), |_, _| false);
        }
        assert!(!counts.is_due(), "none of it counts");
        let mut epochs = Vec::new();
        for _ in 0..80 {
            counts.count(&batch(b"hub", 1), |_, _| true);
            let due = counts.take_due();
            epochs.extend(due.iter().map(|due| due.parts.newest()));
            counts.stored(&due);
        }
        // The first eight rows fill the partition, 64 more fill its first parts.
        let of = |parts| epochs.iter().filter(|newest| **newest == parts).count();
        assert_eq!((of(1), of(8), of(64)), (7, 64, 9));
    }

    #[test]
    fn small_partitions_stay_small_however_many_there_are() {
        let mut counts = Counts::new(16_000);
        for n in 0..400_000_u32 {
            let mut batch = Batch::new();
            batch.put(TABLE, &n.to_be_bytes(), b"c", b"v");
            counts.count(&batch, |_, _| true);
            assert!(!counts.is_due(), "{n} partitions of one row");
        }
        // A growing partition is detected beside them.
        let seen = (0..100).any(|_| {
            counts.count(&batch(b"hub", 1), |_, _| true);
            counts.is_due()
        });
        assert!(seen);
    }

    #[test]
    fn what_is_recorded_counts_on_and_what_could_not_be_is_due_again() {
        let mut counts = Counts::new(800);
        counts.learn(b"hub", Parts::whole(), 700);
        assert!(!counts.is_due());
        counts.count(&batch(b"hub", 1), |_, _| true);
        let due = counts.take_due();
        assert_eq!(due[0].parts.newest(), 8);
        assert!(!counts.is_due());
        counts.put_back(due);
        assert!(counts.is_due());
        assert_eq!(counts.take_due()[0].parts.newest(), 8);
    }

    #[test]
    fn what_a_scan_finds_is_counted_once() {
        let mut counts = Counts::new(800);
        counts.found(b"hub", 99);
        assert!(!counts.is_due());
        counts.found(b"hub", 500);
        counts.found(b"hub", 500);
        assert_eq!(counts.take_due()[0].bytes, 500);
        counts.found(b"hub", 900);
        counts.found(b"hub", 900);
        let due = counts.take_due();
        assert_eq!((due[0].parts.newest(), due[0].bytes), (8, 0));
    }
}
