//! A reader that asks an engine over a network for each edge and vertex of a query once.
//!
//! A query comes to the same vertex by many paths. On an engine in this process a second read costs
//! about what a look-up here would; over a network it is a request. What is remembered belongs to
//! one view, so it is what the first read has found: never newer than the view, and rows were read
//! before the events that are read after them.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use varve_encoding::tables::{EDGE, VERTEX};
use varve_kv::{Flow, KvError, PartitionRange, Reader, ReaderLayer, ScanRequest, TableId};

/// Bytes that one query remembers. Later reads go to the engine. They count as the query's memory,
/// like all that its thread allocates.
const BYTES_MAX: usize = 32 << 20;
/// Rows of a range that is remembered; a range with more is read as it is visited.
const ROWS_MAX: usize = 512;
/// Ranges that are read together before any of them is visited.
const TOGETHER: usize = 256;
/// About what an entry takes beside its bytes.
const ENTRY_BYTES: usize = 96;

/// The rows of a range.
#[derive(Debug, Default)]
struct Rows {
    bytes: Vec<u8>,
    /// Where the clustering key and the value of each row end.
    ends: Vec<(usize, usize)>,
}

impl Rows {
    fn push(&mut self, clustering: &[u8], value: &[u8]) {
        self.bytes.extend_from_slice(clustering);
        let key_end = self.bytes.len();
        self.bytes.extend_from_slice(value);
        self.ends.push((key_end, self.bytes.len()));
    }

    fn each(&self, visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow) {
        let mut start = 0;
        for &(key_end, end) in &self.ends {
            let (clustering, value) = (&self.bytes[start..key_end], &self.bytes[key_end..end]);
            if visit(clustering, value).is_break() {
                return;
            }
            start = end;
        }
    }

    fn size(&self) -> usize {
        self.bytes.capacity() + self.ends.capacity() * size_of::<(usize, usize)>()
    }
}

#[derive(Default)]
struct Memory {
    ranges: HashMap<Vec<u8>, Arc<Rows>>,
    /// Vertices; `None` for one that does not exist.
    vertices: HashMap<Vec<u8>, Option<Arc<[u8]>>>,
    bytes: usize,
}

impl Memory {
    /// Whether there is room for an entry of so many bytes; counts it.
    fn has_room(&mut self, bytes: usize) -> bool {
        let after = self.bytes + bytes + ENTRY_BYTES;
        let has = after <= BYTES_MAX;
        if has {
            self.bytes = after;
        }
        has
    }
}

/// A reader of one query.
pub(super) struct RememberingReader {
    below: Arc<dyn Reader>,
    memory: Mutex<Memory>,
}

impl RememberingReader {
    pub(super) fn new(below: Arc<dyn Reader>) -> Self {
        Self {
            below,
            memory: Mutex::default(),
        }
    }

    /// The rows of these ranges of the table of edges; `None` for one with too many.
    fn rows(&self, ranges: &[PartitionRange<'_>]) -> Result<Vec<Option<Arc<Rows>>>, KvError> {
        let keys: Vec<Vec<u8>> = ranges.iter().map(key_of_range).collect();
        let mut found: Vec<Option<Arc<Rows>>> = {
            let memory = self.memory.lock();
            let known = keys.iter().map(|key| memory.ranges.get(key).cloned());
            known.collect()
        };
        // The places at which a range stands first, of those that are not known.
        let mut first: HashMap<&[u8], usize> = HashMap::new();
        let mut unknown = Vec::new();
        for (at, key) in keys
            .iter()
            .enumerate()
            .filter(|(at, _)| found[*at].is_none())
        {
            first.entry(key).or_insert_with(|| {
                unknown.push(at);
                unknown.len() - 1
            });
        }
        let asked: Vec<_> = unknown.iter().map(|at| ranges[*at]).collect();
        let mut read: Vec<Option<Rows>> = asked.iter().map(|_| Some(Rows::default())).collect();
        self.below.scan_many(
            EDGE,
            &asked,
            &mut |at, clustering, value| match &mut read[at] {
                Some(rows) if rows.ends.len() < ROWS_MAX => {
                    rows.push(clustering, value);
                    Flow::Continue(())
                }
                large => {
                    *large = None;
                    Flow::Break(())
                }
            },
        )?;
        let read: Vec<Option<Arc<Rows>>> =
            read.into_iter().map(|rows| rows.map(Arc::new)).collect();
        for (at, key) in keys.iter().enumerate() {
            if let Some(rows) = first
                .get(key.as_slice())
                .and_then(|place| read[*place].as_ref())
            {
                found[at] = Some(Arc::clone(rows));
            }
        }
        let mut memory = self.memory.lock();
        for (place, at) in unknown.into_iter().enumerate() {
            if let Some(rows) = &read[place]
                && memory.has_room(keys[at].len() + rows.size())
            {
                memory.ranges.insert(keys[at].clone(), Arc::clone(rows));
            }
        }
        Ok(found)
    }
}

/// The name of a range in the memory: partition, beginning and end, each with its length.
fn key_of_range(range: &PartitionRange<'_>) -> Vec<u8> {
    let PartitionRange { partition, range } = range;
    let to = range.to.as_deref();
    let length = partition.len() + range.from.len() + to.map_or(0, <[u8]>::len);
    let mut key = Vec::with_capacity(length + 9);
    put(&mut key, partition);
    put(&mut key, &range.from);
    key.push(u8::from(to.is_some()));
    key.extend_from_slice(to.unwrap_or_default());
    key
}

fn key_of_row(partition: &[u8], clustering: &[u8]) -> Vec<u8> {
    let mut key = Vec::with_capacity(partition.len() + clustering.len() + 4);
    put(&mut key, partition);
    key.extend_from_slice(clustering);
    key
}

fn put(key: &mut Vec<u8>, part: &[u8]) {
    // Keys of tables are far shorter than 4 GiB.
    key.extend_from_slice(&(part.len() as u32).to_be_bytes());
    key.extend_from_slice(part);
}

impl ReaderLayer for RememberingReader {
    type Below<'a> = dyn Reader;

    fn read<T>(&self, read: impl FnOnce(&Self::Below<'_>) -> T) -> T {
        read(&*self.below)
    }

    fn get_each(
        &self,
        table: TableId,
        keys: &[(&[u8], &[u8])],
        found: &mut dyn FnMut(usize, &[u8]),
    ) -> Result<(), KvError> {
        if table != VERTEX {
            return self.below.get_each(table, keys, found);
        }
        let names: Vec<Vec<u8>> = keys.iter().map(|(p, c)| key_of_row(p, c)).collect();
        let mut rows: HashMap<&[u8], Option<Arc<[u8]>>> = HashMap::new();
        let mut unknown = Vec::new();
        {
            let memory = self.memory.lock();
            for (at, name) in names.iter().enumerate() {
                rows.entry(name)
                    .or_insert_with(|| match memory.vertices.get(name) {
                        Some(row) => row.clone(),
                        None => {
                            unknown.push(at);
                            None
                        }
                    });
            }
        }
        let asked: Vec<_> = unknown.iter().map(|at| keys[*at]).collect();
        self.below.get_each(table, &asked, &mut |at, value| {
            rows.insert(&names[unknown[at]], Some(value.into()));
        })?;
        {
            let mut memory = self.memory.lock();
            for at in unknown {
                let row = rows.get(names[at].as_slice()).cloned().flatten();
                let size = names[at].len() + row.as_ref().map_or(0, |row| row.len());
                if memory.has_room(size) {
                    memory.vertices.insert(names[at].clone(), row);
                }
            }
        }
        for (at, name) in names.iter().enumerate() {
            if let Some(Some(row)) = rows.get(name.as_slice()) {
                found(at, row);
            }
        }
        Ok(())
    }

    fn scan(
        &self,
        request: ScanRequest<'_>,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
    ) -> Result<(), KvError> {
        if request.table != EDGE || request.reverse {
            return self.below.scan(request, visit);
        }
        let range = PartitionRange {
            partition: request.partition,
            range: request.range,
        };
        ReaderLayer::scan_many(
            self,
            request.table,
            &[range],
            &mut |_, clustering, value| visit(clustering, value),
        )
    }

    fn scan_many(
        &self,
        table: TableId,
        ranges: &[PartitionRange<'_>],
        visit: &mut dyn FnMut(usize, &[u8], &[u8]) -> Flow,
    ) -> Result<(), KvError> {
        if table != EDGE {
            return self.below.scan_many(table, ranges, visit);
        }
        for (part, together) in ranges.chunks(TOGETHER).enumerate() {
            let first = part * TOGETHER;
            for (at, rows) in self.rows(together)?.into_iter().enumerate() {
                let mut visit =
                    |clustering: &[u8], value: &[u8]| visit(first + at, clustering, value);
                match rows {
                    Some(rows) => rows.each(&mut visit),
                    None => self.below.scan(together[at].request(table), &mut visit)?,
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use varve_encoding::key;
    use varve_encoding::tables::TABLES;
    use varve_kv::{Batch, ClusteringRange, Durability, Engine, MemoryEngine, Space, state_of};
    use varve_model::VertexId;
    use varve_testkit::{Random, Reads, WatchedEngine};

    use super::*;

    const PARTITIONS: usize = 40;

    fn partition(number: usize) -> Vec<u8> {
        key::vertex_id(&VertexId::Number(number as i64))
    }

    /// Partitions of up to 30 rows, and one with more than are remembered.
    fn filled() -> (Arc<dyn Space>, Arc<Reads>) {
        let (engine, reads) = WatchedEngine::new(Arc::new(MemoryEngine::new()));
        let space = engine.open("s", TABLES, true).unwrap();
        let mut batch = Batch::new();
        for partition in 0..PARTITIONS {
            let rows = match partition {
                0 => ROWS_MAX + 10,
                other => other * 7 % 31,
            };
            let key = self::partition(partition);
            for row in 0..rows {
                let clustering = (row as u16).to_be_bytes();
                batch.put(EDGE, &key, &clustering, &[row as u8, partition as u8]);
            }
            if partition % 3 > 0 {
                batch.put(VERTEX, &key, key::VERTEX_CLUSTERING, &key);
            }
        }
        space.write(&batch, Durability::Buffered).unwrap();
        (space, reads)
    }

    /// What a scan visits that ends each range after some rows.
    fn visited(
        reader: &dyn Reader,
        ranges: &[PartitionRange<'_>],
        most: usize,
    ) -> Vec<(usize, Vec<u8>, Vec<u8>)> {
        let mut seen: Vec<(usize, Vec<u8>, Vec<u8>)> = Vec::new();
        reader
            .scan_many(EDGE, ranges, &mut |at, clustering, value| {
                seen.push((at, clustering.to_vec(), value.to_vec()));
                match seen.iter().filter(|(of, ..)| *of == at).count() < most {
                    true => Flow::Continue(()),
                    false => Flow::Break(()),
                }
            })
            .unwrap();
        seen
    }

    #[test]
    fn it_visits_what_the_reader_below_visits() {
        let (below, _) = filled();
        let mut random = Random::new(7);
        let ranges = [
            ClusteringRange::all(),
            ClusteringRange::prefix(&[0]),
            ClusteringRange {
                from: vec![0, 3],
                to: Some(vec![0, 9]),
            },
        ];
        for _ in 0..20 {
            let reader = RememberingReader::new(state_of(&below));
            for _ in 0..5 {
                let partitions: Vec<Vec<u8>> = (0..random.below(300))
                    .map(|_| partition(random.below(PARTITIONS)))
                    .collect();
                let asked: Vec<PartitionRange<'_>> = partitions
                    .iter()
                    .map(|partition| PartitionRange {
                        partition,
                        range: &ranges[random.below(3)],
                    })
                    .collect();
                let most = 1 + random.below(20);
                assert_eq!(
                    visited(&reader, &asked, most),
                    visited(&*below, &asked, most)
                );
                let keys: Vec<(&[u8], &[u8])> = partitions
                    .iter()
                    .map(|key| (&key[..], key::VERTEX_CLUSTERING))
                    .collect();
                let each = |reader: &dyn Reader| {
                    let mut found = Vec::new();
                    let mut add = |at: usize, row: &[u8]| found.push((at, row.to_vec()));
                    reader.get_each(VERTEX, &keys, &mut add).unwrap();
                    found.sort();
                    found
                };
                assert_eq!(each(&reader), each(&*below));
            }
        }
    }

    #[test]
    fn each_range_and_each_vertex_is_read_once() {
        let (below, reads) = filled();
        let reader = RememberingReader::new(state_of(&below));
        let keys: Vec<Vec<u8>> = (1..PARTITIONS).map(partition).collect();
        let all = ClusteringRange::all();
        let twice: Vec<&[u8]> = keys.iter().chain(&keys).map(|key| &key[..]).collect();
        let ranges = PartitionRange::of_each(&twice, &all);
        let rows: Vec<(&[u8], &[u8])> = twice
            .iter()
            .map(|key| (*key, key::VERTEX_CLUSTERING))
            .collect();
        for _ in 0..3 {
            visited(&reader, &ranges, usize::MAX);
            let reader: &dyn Reader = &reader;
            reader.get_each(VERTEX, &rows, &mut |_, _| {}).unwrap();
        }
        let counted = reads.counted();
        let once = keys.len() as u64;
        assert_eq!((counted.scans, counted.gets), (once, once), "{counted:?}");
    }

    #[test]
    fn what_exceeds_the_memory_is_read_again() {
        let mut memory = Memory::default();
        assert!(memory.has_room(BYTES_MAX - ENTRY_BYTES));
        assert!(!memory.has_room(0));
        assert_eq!(memory.bytes, BYTES_MAX);
    }
}
