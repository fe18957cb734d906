//! Encodes a batch of the seam as a RocksDB write batch, in one pass.
//!
//! Layout (stable since RocksDB 3, because its log contains it): sequence number (8 bytes, filled
//! in by RocksDB), count (4, little endian), then for each operation a tag, the column family's id,
//! and strings with their lengths, all numbers as varints.

use varve_kv::range::prefix_end;
use varve_kv::{Batch, Op};

const HEADER: usize = 12;
const TAG_DELETE: u8 = 0x4;
const TAG_PUT: u8 = 0x5;
const TAG_DELETE_RANGE: u8 = 0xE;
/// The most bytes of a tag, a column family's id and two lengths.
const OP_OVERHEAD_MAX: usize = 1 + 3 * 5;

/// Encodes batches, reusing its memory.
#[derive(Debug, Default)]
pub(crate) struct Encoder {
    bytes: Vec<u8>,
    /// Operations before they are sorted, without the header. `places` has their positions.
    unsorted: Vec<u8>,
    places: Vec<SortEntry>,
}

/// An operation in the unsorted bytes, with its sort key.
#[derive(Debug, Clone, Copy)]
struct SortEntry {
    family: u32,
    /// The first bytes of the key as a number, so that most comparisons need not read the key.
    key_head: u64,
    start: u32,
    key_start: u32,
    key_end: u32,
    end: u32,
}

impl Encoder {
    /// Returns the bytes of `batch`; `families` has the column families' ids by table.
    ///
    /// At least `sort_from` operations are sorted by key. That saves the memtable most of its
    /// search, since neighbours in the batch are inserted near each other. Operations on the same
    /// row keep their order, so the result is the same.
    ///
    /// `unbounded` is called for a prefix delete whose prefix has no end (all its bytes are 0xFF,
    /// those of the partition key included). It must return the stored keys with the prefix.
    /// RocksDB's range delete needs an end, so those keys are deleted one by one, and also those
    /// that the batch itself put before.
    ///
    /// # Errors
    /// The errors of `unbounded`.
    pub(crate) fn encode<E>(
        &mut self,
        batch: &Batch,
        families: &[u32],
        sort_from: usize,
        unbounded: impl FnMut(usize, &[u8]) -> Result<Vec<Vec<u8>>, E>,
    ) -> Result<&[u8], E> {
        if batch.len() < sort_from || !self.encode_sorted(batch, families) {
            encode(batch, families, &mut self.bytes, unbounded)?;
        }
        Ok(&self.bytes)
    }

    /// Gives back memory beyond `bytes`.
    pub(crate) fn shrink(&mut self, bytes: usize) {
        if self.bytes.capacity() > bytes {
            *self = Self::default();
        }
    }

    /// Encodes the batch sorted; returns false if that is impossible: prefix deletes depend on
    /// their order among the other operations, and the positions are limited to 32 bits.
    fn encode_sorted(&mut self, batch: &Batch, families: &[u32]) -> bool {
        let most = batch.byte_len() + batch.len() * OP_OVERHEAD_MAX;
        if u32::try_from(most).is_err() {
            return false;
        }
        self.unsorted.clear();
        self.unsorted.reserve(most);
        self.places.clear();
        self.places.reserve(batch.len());
        for op in batch.ops() {
            let Some(place) = push_unsorted(&mut self.unsorted, &op, families) else {
                return false;
            };
            self.places.push(place);
        }
        let unsorted = &self.unsorted[..];
        let key = |place: &SortEntry| &unsorted[place.key_start as usize..place.key_end as usize];
        self.places.sort_unstable_by(|a, b| {
            (a.family, a.key_head)
                .cmp(&(b.family, b.key_head))
                .then_with(|| key(a).cmp(key(b)))
                .then_with(|| a.start.cmp(&b.start))
        });
        self.bytes.clear();
        self.bytes.reserve(HEADER + unsorted.len());
        self.bytes.resize(HEADER, 0);
        for place in &self.places {
            let op = &unsorted[place.start as usize..place.end as usize];
            self.bytes.extend_from_slice(op);
        }
        let count = self.places.len() as u32;
        self.bytes[8..HEADER].copy_from_slice(&count.to_le_bytes());
        true
    }
}

/// Appends a put or delete; `None` for a prefix delete.
fn push_unsorted(out: &mut Vec<u8>, op: &Op<'_>, families: &[u32]) -> Option<SortEntry> {
    let (tag, table, partition, clustering, value) = match *op {
        Op::Put {
            table,
            partition,
            clustering,
            value,
        } => (TAG_PUT, table, partition, clustering, Some(value)),
        Op::Delete {
            table,
            partition,
            clustering,
        } => (TAG_DELETE, table, partition, clustering, None),
        Op::DeletePrefix { .. } => return None,
    };
    let family = families[usize::from(table.0)];
    let start = out.len() as u32;
    head(out, tag, family);
    joined(out, partition, clustering);
    let key_end = out.len();
    let key_start = key_end - partition.len() - clustering.len();
    let mut key_head = [0; 8];
    let length = (key_end - key_start).min(8);
    key_head[..length].copy_from_slice(&out[key_start..key_start + length]);
    if let Some(value) = value {
        string(out, value);
    }
    Some(SortEntry {
        family,
        key_head: u64::from_be_bytes(key_head),
        start,
        key_start: key_start as u32,
        key_end: key_end as u32,
        end: out.len() as u32,
    })
}

/// Encodes `batch` into `out` in its own order, clearing `out` first.
fn encode<E>(
    batch: &Batch,
    families: &[u32],
    out: &mut Vec<u8>,
    mut unbounded: impl FnMut(usize, &[u8]) -> Result<Vec<Vec<u8>>, E>,
) -> Result<(), E> {
    out.clear();
    out.reserve(HEADER + batch.byte_len() + batch.len() * OP_OVERHEAD_MAX);
    out.resize(HEADER, 0);
    let mut count = 0u32;
    for (at, op) in batch.ops().enumerate() {
        count += 1;
        if push_unsorted(out, &op, families).is_some() {
            continue;
        }
        let Op::DeletePrefix {
            table,
            partition,
            prefix,
        } = op
        else {
            unreachable!("puts and deletes were appended above")
        };
        let family = families[usize::from(table.0)];
        let start = [partition, prefix].concat();
        if let Some(end) = prefix_end(&start) {
            head(out, TAG_DELETE_RANGE, family);
            string(out, &start);
            string(out, &end);
            continue;
        }
        let mut keys = unbounded(usize::from(table.0), &start)?;
        keys.extend(put_before(batch, at, table, &start));
        count = count - 1 + keys.len() as u32;
        for key in keys {
            head(out, TAG_DELETE, family);
            string(out, &key);
        }
    }
    out[8..HEADER].copy_from_slice(&count.to_le_bytes());
    Ok(())
}

/// Returns the keys with the prefix `start` that the first `end` operations of the batch put.
fn put_before(
    batch: &Batch,
    end: usize,
    in_table: varve_kv::TableId,
    start: &[u8],
) -> Vec<Vec<u8>> {
    let keys = batch.ops().take(end).filter_map(|op| match op {
        Op::Put {
            table,
            partition,
            clustering,
            ..
        } if table == in_table => Some([partition, clustering].concat()),
        _ => None,
    });
    keys.filter(|key| key.starts_with(start)).collect()
}

fn head(out: &mut Vec<u8>, tag: u8, family: u32) {
    out.push(tag);
    varint(out, family as usize);
}

fn joined(out: &mut Vec<u8>, partition: &[u8], clustering: &[u8]) {
    varint(out, partition.len() + clustering.len());
    out.extend_from_slice(partition);
    out.extend_from_slice(clustering);
}

fn string(out: &mut Vec<u8>, bytes: &[u8]) {
    varint(out, bytes.len());
    out.extend_from_slice(bytes);
}

fn varint(out: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

#[cfg(test)]
mod tests {
    use rust_rocksdb::WriteBatch;
    use varve_kv::TableId;

    use super::*;

    /// Compares only the count, and that RocksDB accepts the bytes. The suite compares the rows
    /// that are read back.
    #[test]
    fn rocksdb_counts_what_was_encoded() {
        let mut batch = Batch::new();
        batch.put(TableId(0), b"p", b"c", &[7; 300]);
        batch.delete(TableId(1), b"p", b"c");
        batch.delete_prefix(TableId(1), b"p", b"c");
        batch.put(TableId(0), &[0xFF], &[0xFF, 1], b"v");
        batch.delete_prefix(TableId(0), &[0xFF], &[]);
        let mut encoder = Encoder::default();
        let stored = |table: usize, start: &[u8]| -> Result<Vec<Vec<u8>>, ()> {
            assert_eq!((table, start), (0, &[0xFF][..]));
            Ok(vec![vec![0xFF, 2]])
        };
        let bytes = encoder.encode(&batch, &[1, 300], 0, stored).unwrap();
        let encoded = WriteBatch::from_data(bytes);
        assert_eq!(encoded.len(), 6);
        assert_eq!(encoded.data(), bytes);
        assert_eq!(
            bytes[12..20],
            [TAG_PUT, 1, 2, b'p', b'c', 0xAC, 0x02, 7],
            "tag, family, key, length 300 as a varint, value"
        );
    }

    #[test]
    fn sorting_keeps_the_order_of_operations_on_one_row() {
        let (mut batch, mut sorted) = (Batch::new(), Batch::new());
        let key = |n: u8| [n; 11];
        for n in [5, 3, 9, 3, 200, 5] {
            batch.put(TableId(1), &key(n), b"c", &[n, batch.len() as u8]);
            batch.delete(TableId(0), &key(n), b"");
        }
        for n in [3, 3, 5, 5, 9, 200] {
            sorted.delete(TableId(0), &key(n), b"");
        }
        for (n, at) in [(3, 2), (3, 6), (5, 0), (5, 10), (9, 4), (200, 8)] {
            sorted.put(TableId(1), &key(n), b"c", &[n, at]);
        }
        let none = |_: usize, _: &[u8]| -> Result<Vec<Vec<u8>>, ()> { unreachable!() };
        let (mut one, mut other) = (Encoder::default(), Encoder::default());
        let got = one.encode(&batch, &[1, 2], 0, none).unwrap();
        let expected = other.encode(&sorted, &[1, 2], usize::MAX, none).unwrap();
        assert_eq!(got, expected);
    }
}
