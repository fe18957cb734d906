//! A batch of the seam as the bytes of a RocksDB write batch, in one pass.
//!
//! Layout (stable since RocksDB 3, it is what the log holds): sequence number (8 bytes, filled in by RocksDB), count
//! (4, little endian), then for each operation a tag, the column family's id, and strings with their lengths, all
//! numbers as varints.

use varve_kv::range::prefix_end;
use varve_kv::{Batch, Op};

const HEADER: usize = 12;
const TAG_DELETE: u8 = 0x4;
const TAG_PUT: u8 = 0x5;
const TAG_DELETE_RANGE: u8 = 0xE;
/// The most a tag, a column family's id and two lengths take.
const OP_OVERHEAD_MAX: usize = 1 + 3 * 5;

/// Writes `batch` into `out`, emptying it first; `families` are the column families' ids by table.
///
/// `unbounded` is called for a prefix delete whose prefix has no end (it is all 0xFF, and so is its partition): it must
/// return the keys stored under the prefix. RocksDB's range delete needs an end, so those keys are deleted singly,
/// together with those that the batch itself put before.
///
/// # Errors
/// Those of `unbounded`.
pub(crate) fn encode<E>(
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
        match op {
            Op::Put {
                table,
                partition,
                clustering,
                value,
            } => {
                head(out, TAG_PUT, families[usize::from(table.0)]);
                joined(out, partition, clustering);
                string(out, value);
            }
            Op::Delete {
                table,
                partition,
                clustering,
            } => {
                head(out, TAG_DELETE, families[usize::from(table.0)]);
                joined(out, partition, clustering);
            }
            Op::DeletePrefix {
                table,
                partition,
                prefix,
            } => {
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
        }
    }
    out[8..HEADER].copy_from_slice(&count.to_le_bytes());
    Ok(())
}

/// Keys under `start` that the first `end` operations of the batch put.
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

    /// What RocksDB itself writes for the same operations in the default column family has the same strings; here only
    /// the count and the acceptance of the bytes are compared, the suite compares what is read back.
    #[test]
    fn rocksdb_counts_what_was_encoded() {
        let mut batch = Batch::new();
        batch.put(TableId(0), b"p", b"c", &[7; 300]);
        batch.delete(TableId(1), b"p", b"c");
        batch.delete_prefix(TableId(1), b"p", b"c");
        batch.put(TableId(0), &[0xFF], &[0xFF, 1], b"v");
        batch.delete_prefix(TableId(0), &[0xFF], &[]);
        let mut bytes = Vec::new();
        let stored = |table: usize, start: &[u8]| -> Result<Vec<Vec<u8>>, ()> {
            assert_eq!((table, start), (0, &[0xFF][..]));
            Ok(vec![vec![0xFF, 2]])
        };
        encode(&batch, &[1, 300], &mut bytes, stored).unwrap();
        let encoded = WriteBatch::from_data(&bytes);
        assert_eq!(encoded.len(), 6);
        assert_eq!(encoded.data(), &bytes[..]);
        assert_eq!(
            bytes[12..20],
            [TAG_PUT, 1, 2, b'p', b'c', 0xAC, 0x02, 7],
            "tag, family, key, length 300 as a varint, value"
        );
    }
}
