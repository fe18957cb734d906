//! A batch: the writes of one transaction, or of several put together, in one buffer.
//!
//! Layout of an operation in the buffer: kind (1 byte), table (1), lengths of partition, clustering
//! and value (4 each, little endian), then the three byte strings. Engines read it by
//! [`Batch::ops`], or in place by [`RawOp`]. An engine may store these bytes on disk, so a change
//! of the layout needs a new version of the file format that contains them.

use crate::{ClusteringRange, TableId};

const PUT: u8 = 1;
const DELETE: u8 = 2;
const DELETE_PREFIX: u8 = 3;
const HEADER: usize = 2 + 3 * 4;

/// The kind of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpKind {
    /// Stores a value.
    Put,
    /// Removes a row.
    Delete,
    /// Removes the rows of a partition whose clustering keys start with a prefix.
    DeletePrefix,
}

/// An operation read in place from a batch's bytes, with its key in one piece.
#[derive(Debug, Clone, Copy)]
pub struct RawOp<'a> {
    /// The kind.
    pub kind: OpKind,
    /// The table.
    pub table: TableId,
    /// Partition key and clustering key (or prefix), one after the other.
    pub key: &'a [u8],
    /// The length of the partition key within `key`, in bytes.
    pub partition_len: usize,
    /// The value; empty unless the operation is a put.
    pub value: &'a [u8],
    /// The position right after the operation, where the next one begins.
    pub end: usize,
}

impl<'a> RawOp<'a> {
    /// Reads the operation that begins at `at`; `None` if the bytes there are not a whole
    /// operation.
    #[must_use]
    #[inline]
    pub fn read(bytes: &'a [u8], at: usize) -> Option<Self> {
        let (header, rest) = bytes.get(at..)?.split_first_chunk::<HEADER>()?;
        let length = |at: usize| {
            u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
                as usize
        };
        let (partition_len, value_len) = (length(2), length(10));
        let key_len = partition_len.checked_add(length(6))?;
        let (key, rest) = rest.split_at_checked(key_len)?;
        let value = rest.get(..value_len)?;
        let kind = match header[0] {
            PUT => OpKind::Put,
            DELETE => OpKind::Delete,
            DELETE_PREFIX => OpKind::DeletePrefix,
            _ => return None,
        };
        Some(Self {
            kind,
            table: TableId(header[1]),
            key,
            partition_len,
            value,
            end: at + HEADER + key_len + value_len,
        })
    }

    /// The partition key.
    #[must_use]
    #[inline]
    pub fn partition(&self) -> &'a [u8] {
        &self.key[..self.partition_len]
    }

    /// The clustering key, or the prefix of clustering keys.
    #[must_use]
    #[inline]
    pub fn clustering(&self) -> &'a [u8] {
        &self.key[self.partition_len..]
    }

    /// Returns the position of the table id of the operation at `at` in a batch's bytes.
    #[must_use]
    pub fn table_at(at: usize) -> usize {
        at + 1
    }
}

/// Writes to be applied together, in order: of two writes to the same row, the later one wins.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    bytes: Vec<u8>,
    ops: usize,
    sweeps: Vec<Sweep>,
}

/// A hint that a batch deletes or puts every stored row in a range of a partition. It does not
/// change the effect of the batch ([`Batch::sweep`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sweep {
    /// The table.
    pub table: TableId,
    /// Partition key.
    pub partition: Vec<u8>,
    /// The range of clustering keys.
    pub range: ClusteringRange,
}

/// One write of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op<'a> {
    /// Stores a value, replacing an existing one.
    Put {
        /// The table.
        table: TableId,
        /// Partition key.
        partition: &'a [u8],
        /// Clustering key.
        clustering: &'a [u8],
        /// The value.
        value: &'a [u8],
    },
    /// Removes a row; removing a missing one does nothing.
    Delete {
        /// The table.
        table: TableId,
        /// Partition key.
        partition: &'a [u8],
        /// Clustering key.
        clustering: &'a [u8],
    },
    /// Removes every row of a partition whose clustering key starts with `prefix`. Rare: engines
    /// may be slow at it.
    DeletePrefix {
        /// The table.
        table: TableId,
        /// Partition key.
        partition: &'a [u8],
        /// Start of the clustering keys; empty for the whole partition.
        prefix: &'a [u8],
    },
}

impl Batch {
    /// An empty batch.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a put. Returns the position of the value's first byte in [`Batch::bytes_mut`], so that
    /// a value can be completed after it was added; the clustering key ends right before it.
    pub fn put(
        &mut self,
        table: TableId,
        partition: &[u8],
        clustering: &[u8],
        value: &[u8],
    ) -> usize {
        self.push(PUT, table, partition, clustering, value);
        self.bytes.len() - value.len()
    }

    /// [`Batch::put`] of a row whose clustering key and value are given in pieces, so that the
    /// caller need not join them first.
    pub fn put_parts(
        &mut self,
        table: TableId,
        partition: &[u8],
        clustering: &[&[u8]],
        value: &[&[u8]],
    ) -> usize {
        let length = |parts: &[&[u8]]| parts.iter().map(|part| part.len()).sum::<usize>();
        let value_len = length(value);
        self.head(PUT, table, [partition.len(), length(clustering), value_len]);
        self.bytes.extend_from_slice(partition);
        for part in clustering.iter().chain(value) {
            self.bytes.extend_from_slice(part);
        }
        self.bytes.len() - value_len
    }

    /// Reserves memory for `bytes` more, so that a batch of known size grows once.
    pub fn reserve(&mut self, bytes: usize) {
        self.bytes.reserve(bytes);
    }

    /// Adds a delete.
    pub fn delete(&mut self, table: TableId, partition: &[u8], clustering: &[u8]) {
        self.push(DELETE, table, partition, clustering, &[]);
    }

    /// Adds a delete of all rows of `partition` whose clustering key starts with `prefix`.
    pub fn delete_prefix(&mut self, table: TableId, partition: &[u8], prefix: &[u8]) {
        self.push(DELETE_PREFIX, table, partition, prefix, &[]);
    }

    /// Promises that the batch has a delete or a put for every stored row in this range.
    ///
    /// So no row is left between two deleted rows that have no put between them. An engine with
    /// expensive tombstones may remove such a gap by one range delete; other engines ignore the
    /// promise. The caller must ensure that no other writer changes the range from the caller's
    /// read of it until the batch is written.
    pub fn sweep(&mut self, table: TableId, partition: &[u8], range: ClusteringRange) {
        self.sweeps.push(Sweep {
            table,
            partition: partition.to_vec(),
            range,
        });
    }

    /// The ranges added by [`Batch::sweep`].
    #[must_use]
    pub fn sweeps(&self) -> &[Sweep] {
        &self.sweeps
    }

    /// Appends all operations of `other`. Positions returned by `other.put` move by the former
    /// [`Batch::byte_len`] of `self`.
    pub fn append(&mut self, other: &Batch) {
        self.bytes.extend_from_slice(&other.bytes);
        self.ops += other.ops;
        self.sweeps.extend_from_slice(&other.sweeps);
    }

    /// The number of operations.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ops
    }

    /// Whether the batch has no operations.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ops == 0
    }

    /// Size of the buffer in bytes.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.bytes.len()
    }

    /// The buffer, to be read by [`RawOp`].
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The buffer, to complete values and keys whose positions [`Batch::put`] returned.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// Empties the batch; its memory is reused.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ops = 0;
        self.sweeps.clear();
    }

    /// The operations in the order they were added.
    #[must_use]
    pub fn ops(&self) -> Ops<'_> {
        Ops { rest: &self.bytes }
    }

    fn push(
        &mut self,
        kind: u8,
        table: TableId,
        partition: &[u8],
        clustering: &[u8],
        value: &[u8],
    ) {
        self.head(
            kind,
            table,
            [partition.len(), clustering.len(), value.len()],
        );
        self.bytes.extend_from_slice(partition);
        self.bytes.extend_from_slice(clustering);
        self.bytes.extend_from_slice(value);
    }

    /// Appends an operation's header and reserves memory for its keys and value.
    fn head(&mut self, kind: u8, table: TableId, lengths: [usize; 3]) {
        let mut head = [0; HEADER];
        (head[0], head[1]) = (kind, table.0);
        for (length, at) in lengths.iter().zip([2, 6, 10]) {
            let length =
                u32::try_from(*length).expect("parts of a row are bounded far below 4 GiB");
            head[at..at + 4].copy_from_slice(&length.to_le_bytes());
        }
        self.bytes.reserve(HEADER + lengths.iter().sum::<usize>());
        self.bytes.extend_from_slice(&head);
        self.ops += 1;
    }
}

/// Iterator over a batch's operations.
#[derive(Debug, Clone)]
pub struct Ops<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Ops<'a> {
    type Item = Op<'a>;

    fn next(&mut self) -> Option<Op<'a>> {
        let (header, rest) = self.rest.split_at_checked(HEADER)?;
        let length = |at: usize| {
            u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
                as usize
        };
        let (partition, rest) = rest.split_at(length(2));
        let (clustering, rest) = rest.split_at(length(6));
        let (value, rest) = rest.split_at(length(10));
        self.rest = rest;
        let table = TableId(header[1]);
        Some(match header[0] {
            PUT => Op::Put {
                table,
                partition,
                clustering,
                value,
            },
            DELETE => Op::Delete {
                table,
                partition,
                clustering,
            },
            _ => Op::DeletePrefix {
                table,
                partition,
                prefix: clustering,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_can_be_read_in_place() {
        let mut batch = Batch::new();
        batch.put(TableId(1), b"part", b"c", b"value");
        let second = batch.byte_len();
        batch.delete_prefix(TableId(2), b"q", b"");
        let op = RawOp::read(batch.bytes(), 0).unwrap();
        assert_eq!(
            (op.kind, op.table, op.end),
            (OpKind::Put, TableId(1), second)
        );
        assert_eq!((op.partition(), op.clustering()), (&b"part"[..], &b"c"[..]));
        assert_eq!((op.key, op.value), (&b"partc"[..], &b"value"[..]));
        let op = RawOp::read(batch.bytes(), second).unwrap();
        assert_eq!((op.kind, op.end), (OpKind::DeletePrefix, batch.byte_len()));
        assert!(RawOp::read(batch.bytes(), batch.byte_len()).is_none());
        for cut in 0..second {
            assert!(RawOp::read(&batch.bytes()[..cut], 0).is_none());
        }
        batch.bytes_mut()[0] = 9;
        assert!(RawOp::read(batch.bytes(), 0).is_none());
    }

    #[test]
    fn pieces_make_the_same_row() {
        let (mut whole, mut pieces) = (Batch::new(), Batch::new());
        let at = whole.put(TableId(1), b"partition", b"clustering", b"value");
        pieces.reserve(100);
        let parts: [&[u8]; 3] = [b"clus", b"", b"tering"];
        assert_eq!(
            pieces.put_parts(TableId(1), b"partition", &parts, &[b"val", b"ue"]),
            at
        );
        assert_eq!(whole.bytes_mut(), pieces.bytes_mut());
        assert_eq!(whole.len(), pieces.len());
    }

    #[test]
    fn operations_come_back_in_order() {
        let mut batch = Batch::new();
        let at = batch.put(TableId(1), b"p", b"c", b"value");
        batch.bytes_mut()[at] = b'V';
        batch.delete(TableId(2), b"q", b"");
        let mut other = Batch::new();
        other.delete_prefix(TableId(3), b"r", b"x");
        let range = ClusteringRange::prefix(b"x");
        other.sweep(TableId(3), b"r", range.clone());
        batch.append(&other);
        let sweep = Sweep {
            table: TableId(3),
            partition: b"r".to_vec(),
            range,
        };
        assert_eq!(batch.sweeps(), [sweep]);
        let ops: Vec<Op<'_>> = batch.ops().collect();
        assert_eq!(batch.len(), 3);
        assert_eq!(
            ops,
            [
                Op::Put {
                    table: TableId(1),
                    partition: b"p",
                    clustering: b"c",
                    value: b"Value"
                },
                Op::Delete {
                    table: TableId(2),
                    partition: b"q",
                    clustering: b""
                },
                Op::DeletePrefix {
                    table: TableId(3),
                    partition: b"r",
                    prefix: b"x"
                },
            ]
        );
    }
}
