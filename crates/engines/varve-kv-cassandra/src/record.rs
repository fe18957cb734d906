//! The record of a batch in the log: the batch and the names of its tables, in chunks.
//!
//! A record is one byte of format, the CRC-32C of the rest in 4 bytes, the number of names in 1,
//! each name after its length in 1, and the batch in the layout of [`varve_kv::batch`]. A chunk is
//! a row of the log; its clustering key is the batch's timestamp in 8 bytes, the chunk's number in
//! 4 and the number of chunks in 4, all big endian.

use std::sync::Arc;

use varve_kv::{Batch, OpKind, RawOp, TableId, TableSpec};

const FORM: u8 = 1;
/// Bytes before the names.
const HEAD: usize = 6;
/// The most bytes of one chunk.
pub(crate) const CHUNK_BYTES: usize = 512 << 10;
const KEY_BYTES: usize = 16;

/// A batch's record, and the offset in it at which the batch begins.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    pub(crate) bytes: Arc<[u8]>,
    pub(crate) start: usize,
}

impl Record {
    /// Creates the record of `batch`, whose table ids are those of `specs`.
    pub(crate) fn of(batch: &Batch, specs: &[TableSpec]) -> Self {
        let mut bytes = vec![FORM, 0, 0, 0, 0];
        bytes.reserve(batch.byte_len() + 32 * specs.len());
        bytes.push(short(specs.len()));
        for spec in specs {
            bytes.push(short(spec.name.len()));
            bytes.extend_from_slice(spec.name.as_bytes());
        }
        let start = bytes.len();
        bytes.extend_from_slice(batch.bytes());
        let sum = crc32c::crc32c(&bytes[5..]);
        bytes[1..5].copy_from_slice(&sum.to_be_bytes());
        Self {
            bytes: bytes.into(),
            start,
        }
    }

    /// The chunks to be stored.
    pub(crate) fn chunks(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.bytes.chunks(CHUNK_BYTES)
    }
}

fn short(length: usize) -> u8 {
    u8::try_from(length)
        .expect("a space has fewer than 256 tables, with names of fewer than 256 bytes")
}

/// The clustering key of a chunk.
pub(crate) fn chunk_key(stamp: i64, number: usize, count: usize) -> [u8; KEY_BYTES] {
    let of = |number: usize| {
        let number = u32::try_from(number).expect("a batch has fewer than 4 billion chunks");
        number.to_be_bytes()
    };
    let mut key = [0; KEY_BYTES];
    key[..8].copy_from_slice(&stamp.to_be_bytes());
    key[8..12].copy_from_slice(&of(number));
    key[12..].copy_from_slice(&of(count));
    key
}

/// Returns a clustering key after those of all chunks up to `stamp`, and before those of later
/// ones.
pub(crate) fn key_after(stamp: i64) -> [u8; KEY_BYTES] {
    let mut key = [0xFF; KEY_BYTES];
    key[..8].copy_from_slice(&stamp.to_be_bytes());
    key
}

/// A row of the log as it was read.
#[derive(Debug, Clone)]
pub(crate) struct Chunk {
    pub(crate) key: Vec<u8>,
    pub(crate) bytes: Vec<u8>,
}

/// Assembles records from chunks in the order of their keys. A record with a missing chunk was
/// never acknowledged, and is skipped.
#[derive(Default)]
pub(crate) struct Assembly {
    bytes: Vec<u8>,
    /// The timestamp of the bytes, and the number of the next chunk.
    at: Option<(i64, u32)>,
}

impl Assembly {
    /// Adds a chunk. Returns the batch of the record that it completes, with its timestamp.
    ///
    /// # Errors
    /// When the row is not a chunk, or the record is damaged.
    pub(crate) fn add(
        &mut self,
        chunk: &Chunk,
        specs: &[TableSpec],
    ) -> Result<Option<(i64, Batch)>, String> {
        let (stamp, number, count) = read_key(&chunk.key)?;
        match self.at {
            Some((current, next)) if current == stamp && next == number => {}
            _ if number == 0 => self.bytes.clear(),
            _ => {
                self.at = None;
                return Ok(None);
            }
        }
        self.bytes.extend_from_slice(&chunk.bytes);
        self.at = Some((stamp, number + 1));
        if number + 1 < count {
            return Ok(None);
        }
        self.at = None;
        Ok(Some((stamp, read(&self.bytes, specs)?)))
    }
}

fn read_key(key: &[u8]) -> Result<(i64, u32, u32), String> {
    let key: [u8; KEY_BYTES] = key
        .try_into()
        .map_err(|_| format!("a row of the log has a key of {} bytes", key.len()))?;
    let four = |at: usize| u32::from_be_bytes([key[at], key[at + 1], key[at + 2], key[at + 3]]);
    let stamp = i64::from(four(0)) << 32 | i64::from(four(4));
    Ok((stamp, four(8), four(12)))
}

/// Returns the batch of a record, with the table ids of `specs`.
fn read(bytes: &[u8], specs: &[TableSpec]) -> Result<Batch, String> {
    let damaged = || "a record of the log is damaged".to_owned();
    let head = bytes.get(..HEAD).ok_or_else(damaged)?;
    if head[0] != FORM {
        return Err(format!("a record of the log has the form {}", head[0]));
    }
    let sum = u32::from_be_bytes([head[1], head[2], head[3], head[4]]);
    if sum != crc32c::crc32c(&bytes[5..]) {
        return Err(damaged());
    }
    let mut at = HEAD;
    let mut tables = Vec::with_capacity(usize::from(head[5]));
    for _ in 0..head[5] {
        let length = usize::from(*bytes.get(at).ok_or_else(damaged)?);
        let name = bytes.get(at + 1..at + 1 + length).ok_or_else(damaged)?;
        let place = specs.iter().position(|spec| spec.name.as_bytes() == name);
        tables.push(place.and_then(|place| u8::try_from(place).ok()));
        at += 1 + length;
    }
    let mut batch = Batch::new();
    while at < bytes.len() {
        let op = RawOp::read(bytes, at).ok_or_else(damaged)?;
        let table = tables.get(usize::from(op.table.0)).copied().flatten();
        let table = TableId(table.ok_or("the log has a table that is not known")?);
        let (partition, clustering) = (op.partition(), op.clustering());
        match op.kind {
            OpKind::Put => {
                batch.put(table, partition, clustering, op.value);
            }
            OpKind::Delete => batch.delete(table, partition, clustering),
            OpKind::DeletePrefix => batch.delete_prefix(table, partition, clustering),
        }
        at = op.end;
    }
    Ok(batch)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn spec(name: &'static str) -> TableSpec {
        TableSpec {
            name,
            partition_len: |_| Some(1),
            point_reads: true,
            probed: None,
            cold: false,
            summarize: None,
        }
    }

    static TABLES: &[TableSpec] = &[spec("one"), spec("two")];
    static TURNED: &[TableSpec] = &[spec("two"), spec("one")];

    fn batch(value: &[u8]) -> Batch {
        let mut batch = Batch::new();
        batch.put(TableId(0), b"p", b"c", value);
        batch.delete(TableId(1), b"p", b"d");
        batch.delete_prefix(TableId(1), b"q", b"");
        batch
    }

    fn whole(chunks: Vec<Chunk>, specs: &[TableSpec]) -> Result<Vec<(i64, Batch)>, String> {
        let mut assembly = Assembly::default();
        let found = chunks.iter().map(|chunk| assembly.add(chunk, specs));
        found.filter_map(Result::transpose).collect()
    }

    fn chunks(stamp: i64, record: &Record) -> Vec<Chunk> {
        let count = record.chunks().len();
        let chunks = record.chunks().enumerate();
        chunks
            .map(|(number, bytes)| Chunk {
                key: chunk_key(stamp, number, count).to_vec(),
                bytes: bytes.to_vec(),
            })
            .collect()
    }

    #[test]
    fn a_record_comes_back_with_its_tables_by_name() {
        let record = Record::of(&batch(b"v"), TABLES);
        assert_eq!(&record.bytes[record.start..], batch(b"v").bytes());
        let found = whole(chunks(7, &record), TURNED).unwrap();
        assert_eq!(found.len(), 1);
        let tables: Vec<u8> = found[0]
            .1
            .ops()
            .map(|op| match op {
                varve_kv::Op::Put { table, .. }
                | varve_kv::Op::Delete { table, .. }
                | varve_kv::Op::DeletePrefix { table, .. } => table.0,
            })
            .collect();
        assert_eq!((found[0].0, tables), (7, vec![1, 0, 0]));
    }

    #[test]
    fn only_whole_records_count() {
        let large = Record::of(&batch(&vec![7; 2 * CHUNK_BYTES]), TABLES);
        let small = Record::of(&batch(b"v"), TABLES);
        let (first, last) = (chunks(1, &large), chunks(3, &large));
        assert_eq!(first.len(), 3);
        let all = [first.clone(), chunks(2, &small), last.clone()].concat();
        let stamps = |chunks| -> Vec<i64> {
            let found = whole(chunks, TABLES).unwrap();
            found.into_iter().map(|(stamp, _)| stamp).collect()
        };
        assert_eq!(stamps(all.clone()), [1, 2, 3]);
        for missing in 0..3 {
            let mut some = all.clone();
            some.remove(missing);
            assert_eq!(stamps(some), [2, 3], "without chunk {missing} of the first");
            let mut some = all.clone();
            some.remove(4 + missing);
            assert_eq!(stamps(some), [1, 2], "without chunk {missing} of the last");
        }
    }

    #[test]
    fn what_is_settled_has_the_smaller_keys() {
        let last = usize::try_from(u32::MAX).expect("it fits");
        let stamp = 1_766_000_000_000_001;
        assert!(chunk_key(stamp, last - 1, last) < key_after(stamp));
        assert!(key_after(stamp) < chunk_key(stamp + 1, 0, 1));
        assert!(key_after(stamp) < chunk_key(stamp + 10_000_000, 0, 1));
    }

    #[test]
    fn damage_is_reported() {
        let record = Record::of(&batch(b"v"), TABLES);
        for at in 0..record.bytes.len() {
            let mut chunk = chunks(1, &record).remove(0);
            chunk.bytes[at] ^= 0x40;
            assert!(whole(vec![chunk], TABLES).is_err(), "byte {at}");
        }
        let only = &TABLES[..1];
        assert!(whole(chunks(1, &record), only).is_err(), "a table is gone");
        let chunk = Chunk {
            key: vec![1],
            bytes: vec![],
        };
        assert!(whole(vec![chunk], TABLES).is_err());
    }
}
