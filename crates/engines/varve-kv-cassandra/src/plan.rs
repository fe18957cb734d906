//! The plan of a batch: for each partition, the ranges to remove, and then the last operation on
//! each row.
//!
//! Cassandra does not order writes with the same timestamp, so the order within a batch is resolved
//! here.
//!
//! A deleted row leaves a tombstone for days, which every read near it must skip. If a batch
//! promises to remove all stored rows of a range ([`varve_kv::Batch::sweep`]), adjacent removed
//! rows without a put between them are removed as one range: one tombstone. If the range is the
//! whole partition, the partition is removed.

use std::collections::HashMap;
use std::sync::Arc;

use varve_kv::range::prefix_end;
use varve_kv::{ClusteringRange, OpKind, RawOp, Sweep, TableId};

/// The most bytes of a key; Cassandra's own limit.
pub(crate) const KEY_BYTES_MAX: usize = 65_535;
/// The most bytes of one row. A mutation may use half a segment of the commit log: 16 MiB by
/// default.
pub(crate) const ROW_BYTES_MAX: usize = 8 << 20;
/// The most bytes of a batch.
pub(crate) const BATCH_BYTES_MAX: usize = 512 << 20;
/// The size and number of changes from which a partition's writes are split into several requests.
const PIECE_BYTES: usize = 1 << 20;
const PIECE_CHANGES: usize = 4_000;

/// The fewest rows that are removed as a range: a range has two ends, each of which counts when it
/// is read.
const SWEPT_ROWS_MIN: usize = 3;

/// Replaces the empty partition key, which Cassandra refuses. A table with the empty key has no
/// other, as no partition key is a prefix of another.
const EMPTY_PARTITION: &[u8] = &[0];

/// A range of the plan's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    at: usize,
    len: usize,
}

/// The kind of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChangeKind {
    /// Stores a value.
    Put,
    /// Removes a row.
    Delete,
    /// Removes the rows whose clustering keys start with a prefix.
    DeletePrefix,
    /// Removes the rows from the clustering key to the key in `value`, both included.
    DeleteRange,
}

/// One change to a partition.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Change {
    pub(crate) kind: ChangeKind,
    pub(crate) table: TableId,
    clustering: Span,
    value: Span,
}

/// Changes to one partition, in one or several tables, that are sent as one request.
#[derive(Debug)]
pub(crate) struct Piece {
    partition: Span,
    pub(crate) changes: Vec<Change>,
    pub(crate) byte_len: usize,
}

/// The changes of a batch.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    bytes: Arc<[u8]>,
    pieces: Arc<[Piece]>,
}

/// Returns the key of a partition as it is stored.
pub(crate) fn stored_partition(partition: &[u8]) -> &[u8] {
    if partition.is_empty() {
        EMPTY_PARTITION
    } else {
        partition
    }
}

/// Returns the first key after one; `None` if there is none.
pub(crate) fn next_key(mut key: Vec<u8>) -> Option<Vec<u8>> {
    if key.len() >= KEY_BYTES_MAX {
        // No longer key has it as a prefix.
        return prefix_end(&key);
    }
    key.push(0);
    Some(key)
}

impl Plan {
    /// Creates the plan of the operations in `bytes` from `start` on, in the layout of
    /// [`varve_kv::batch`]. `sweeps` are the batch's promises; they do not change the result, and
    /// the log does not store them.
    ///
    /// # Errors
    /// A description of what exceeds Cassandra's limits.
    pub(crate) fn of(bytes: Arc<[u8]>, start: usize, sweeps: &[Sweep]) -> Result<Self, String> {
        if bytes.len() > BATCH_BYTES_MAX {
            let len = bytes.len();
            return Err(format!(
                "a batch of {len} bytes, at most {BATCH_BYTES_MAX} are taken"
            ));
        }
        let mut partitions: Vec<(Span, Vec<Change>)> = Vec::new();
        let mut places: HashMap<&[u8], usize> = HashMap::new();
        let mut at = start;
        while let Some(op) = RawOp::read(&bytes, at) {
            check(&op)?;
            // The value ends the operation, and the key is right before it.
            let value = Span {
                at: op.end - op.value.len(),
                len: op.value.len(),
            };
            let clustering = Span {
                at: value.at - op.clustering().len(),
                len: op.clustering().len(),
            };
            let partition = Span {
                at: clustering.at - op.partition_len,
                len: op.partition_len,
            };
            let place = *places.entry(op.partition()).or_insert_with(|| {
                partitions.push((partition, Vec::new()));
                partitions.len() - 1
            });
            let kind = match op.kind {
                OpKind::Put => ChangeKind::Put,
                OpKind::Delete => ChangeKind::Delete,
                OpKind::DeletePrefix => ChangeKind::DeletePrefix,
            };
            let change = Change {
                kind,
                table: op.table,
                clustering,
                value,
            };
            partitions[place].1.push(change);
            at = op.end;
        }
        drop(places);
        let mut pieces = Vec::with_capacity(partitions.len());
        for (partition, changes) in partitions {
            let mut changes = resolved(&bytes, changes);
            let key = &bytes[partition.at..][..partition.len];
            let swept: Vec<&Sweep> = sweeps.iter().filter(|it| it.partition == key).collect();
            if !swept.is_empty() {
                changes = in_ranges(&bytes, changes, &swept);
            }
            part(partition, changes, &mut pieces);
        }
        Ok(Self {
            bytes,
            pieces: pieces.into(),
        })
    }

    /// The pieces, each of which is one request.
    pub(crate) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Returns the partition's key, as it is stored.
    pub(crate) fn partition(&self, piece: &Piece) -> &[u8] {
        stored_partition(self.at(piece.partition))
    }

    /// Returns the clustering key of a change: that of its row, the prefix of the removed keys, or
    /// the first removed key.
    pub(crate) fn clustering(&self, change: &Change) -> &[u8] {
        self.at(change.clustering)
    }

    /// Returns the value of a change, or the last key that it removes.
    pub(crate) fn value(&self, change: &Change) -> &[u8] {
        self.at(change.value)
    }

    fn at(&self, span: Span) -> &[u8] {
        &self.bytes[span.at..span.at + span.len]
    }
}

fn check(op: &RawOp<'_>) -> Result<(), String> {
    for (what, key) in [
        ("partition", op.partition()),
        ("clustering", op.clustering()),
    ] {
        if key.len() > KEY_BYTES_MAX {
            let len = key.len();
            return Err(format!(
                "a {what} key of {len} bytes, at most {KEY_BYTES_MAX} are taken"
            ));
        }
    }
    if op.value.len() > ROW_BYTES_MAX {
        let len = op.value.len();
        return Err(format!(
            "a row of {len} bytes, at most {ROW_BYTES_MAX} are taken"
        ));
    }
    Ok(())
}

/// Drops changes that later ones replace. Returns removals of ranges first, then rows.
fn resolved(bytes: &[u8], changes: Vec<Change>) -> Vec<Change> {
    if changes.len() == 1 {
        return changes;
    }
    let key = |change: &Change| &bytes[change.clustering.at..][..change.clustering.len];
    let mut ranges: Vec<Change> = Vec::new();
    let mut rows: Vec<Change> = Vec::with_capacity(changes.len());
    for change in changes {
        if change.kind == ChangeKind::DeletePrefix {
            rows.retain(|row| row.table != change.table || !key(row).starts_with(key(&change)));
            ranges.push(change);
        } else {
            rows.push(change);
        }
    }
    // The sort is stable, so of equal keys the last one counts.
    rows.sort_by(|a, b| (a.table, key(a)).cmp(&(b.table, key(b))));
    let mut kept: Vec<Change> = ranges;
    for at in 0..rows.len() {
        let next = rows.get(at + 1);
        let last =
            next.is_none_or(|next| next.table != rows[at].table || key(next) != key(&rows[at]));
        if last {
            kept.push(rows[at]);
        }
    }
    kept
}

/// Replaces adjacent removed rows of a partition by ranges, if nothing else remains between them.
/// Ranges come first, as they have the earlier timestamp.
fn in_ranges(bytes: &[u8], changes: Vec<Change>, sweeps: &[&Sweep]) -> Vec<Change> {
    let key = |change: &Change| &bytes[change.clustering.at..][..change.clustering.len];
    let swept = |change: &Change, range: &ClusteringRange, table| {
        change.kind == ChangeKind::Delete
            && change.table == table
            // The key after the range's last one is one byte longer.
            && change.clustering.len < KEY_BYTES_MAX
            && range.contains(key(change))
    };
    let (mut ranges, mut rows) = (Vec::new(), Vec::with_capacity(changes.len()));
    let mut left = changes.as_slice();
    let whole = sweeps.iter().map(|sweep| (sweep.table, &sweep.range));
    let whole: Vec<TableId> = whole
        .filter(|(table, range)| {
            let of_table = |change: &&Change| change.table == *table;
            let mut own = changes.iter().filter(of_table);
            **range == ClusteringRange::all() && own.all(|it| it.kind != ChangeKind::Put)
        })
        .map(|(table, _)| table)
        .collect();
    while let [first, ..] = left {
        if first.kind == ChangeKind::Delete && whole.contains(&first.table) {
            let run = left.iter().take_while(|it| it.table == first.table).count();
            ranges.push(Change {
                kind: ChangeKind::DeletePrefix,
                clustering: Span {
                    len: 0,
                    ..first.clustering
                },
                ..*first
            });
            left = &left[run..];
            continue;
        }
        let within = sweeps.iter().filter_map(|sweep| {
            let rest = left.iter();
            let run = rest.take_while(|change| swept(change, &sweep.range, sweep.table));
            Some(run.count()).filter(|count| *count >= SWEPT_ROWS_MIN)
        });
        let run = within.max().unwrap_or(1);
        let (taken, rest) = left.split_at(run);
        match taken {
            [_, .., last] => ranges.push(Change {
                kind: ChangeKind::DeleteRange,
                value: last.clustering,
                ..*first
            }),
            _ if first.kind == ChangeKind::DeletePrefix => ranges.push(*first),
            _ => rows.push(*first),
        }
        left = rest;
    }
    ranges.extend(rows);
    ranges
}

/// Splits the changes of one partition if they are too many for one request.
fn part(partition: Span, changes: Vec<Change>, pieces: &mut Vec<Piece>) {
    let mut piece = Piece {
        partition,
        changes: Vec::new(),
        byte_len: 0,
    };
    for change in changes {
        let full = piece.byte_len >= PIECE_BYTES || piece.changes.len() >= PIECE_CHANGES;
        if full {
            let next = Piece {
                partition,
                changes: Vec::new(),
                byte_len: 0,
            };
            pieces.push(std::mem::replace(&mut piece, next));
        }
        piece.byte_len += partition.len + change.clustering.len + change.value.len;
        piece.changes.push(change);
    }
    pieces.push(piece);
}

#[cfg(test)]
mod tests {
    use super::*;
    use varve_kv::Batch;

    type ChangeRow = (ChangeKind, u8, Vec<u8>, Vec<u8>);

    fn plan(batch: &Batch) -> Plan {
        Plan::of(Arc::from(batch.bytes()), 0, batch.sweeps()).unwrap()
    }

    fn change_rows(plan: &Plan, piece: &Piece) -> Vec<ChangeRow> {
        let changes = piece.changes.iter();
        changes
            .map(|change| {
                (
                    change.kind,
                    change.table.0,
                    plan.clustering(change).to_vec(),
                    plan.value(change).to_vec(),
                )
            })
            .collect()
    }

    #[test]
    fn rows_of_one_partition_key_go_together_whatever_their_table() {
        let mut batch = Batch::new();
        batch.put(TableId(1), b"p", b"c", b"1");
        batch.put(TableId(2), b"q", b"c", b"2");
        batch.put(TableId(3), b"p", b"c", b"3");
        batch.put(TableId(4), b"", b"c", b"4");
        let plan = plan(&batch);
        let keys: Vec<&[u8]> = plan
            .pieces()
            .iter()
            .map(|piece| plan.partition(piece))
            .collect();
        assert_eq!(keys, [&b"p"[..], b"q", b"\0"]);
        let first = change_rows(&plan, &plan.pieces()[0]);
        let put = |table, value: &[u8]| (ChangeKind::Put, table, b"c".to_vec(), value.to_vec());
        assert_eq!(first, [put(1, b"1"), put(3, b"3")]);
    }

    #[test]
    fn the_last_operation_on_a_row_counts() {
        let mut batch = Batch::new();
        let t = TableId(1);
        batch.put(t, b"p", b"a", b"1");
        batch.delete(t, b"p", b"a");
        batch.delete(t, b"p", b"b");
        batch.put(t, b"p", b"b", b"2");
        batch.put(t, b"p", b"b", b"3");
        let plan = plan(&batch);
        assert_eq!(
            change_rows(&plan, &plan.pieces()[0]),
            [
                (ChangeKind::Delete, 1, b"a".to_vec(), vec![]),
                (ChangeKind::Put, 1, b"b".to_vec(), b"3".to_vec()),
            ]
        );
    }

    #[test]
    fn a_range_takes_what_came_before_it_and_leaves_what_comes_after() {
        let mut batch = Batch::new();
        batch.put(TableId(1), b"p", b"ab", b"1");
        batch.put(TableId(2), b"p", b"ab", b"2");
        batch.put(TableId(1), b"p", b"b", b"3");
        batch.delete_prefix(TableId(1), b"p", b"a");
        batch.put(TableId(1), b"p", b"ac", b"4");
        let plan = plan(&batch);
        let put = |table, key: &[u8], value: &[u8]| {
            (ChangeKind::Put, table, key.to_vec(), value.to_vec())
        };
        assert_eq!(
            change_rows(&plan, &plan.pieces()[0]),
            [
                (ChangeKind::DeletePrefix, 1, b"a".to_vec(), vec![]),
                put(1, b"ac", b"4"),
                put(1, b"b", b"3"),
                put(2, b"ab", b"2"),
            ]
        );
    }

    #[test]
    fn rows_of_a_sweep_that_are_removed_one_after_the_other_are_a_range() {
        let (swept, other) = (TableId(1), TableId(2));
        let range = ClusteringRange {
            from: vec![2],
            to: Some(vec![9]),
        };
        let kinds = |batch: &Batch| -> Vec<ChangeRow> {
            let plan = plan(batch);
            change_rows(&plan, &plan.pieces()[0])
        };
        let row = |kind, table: TableId, key: u8| (kind, table.0, vec![key], vec![]);
        let range_of = |first: u8, last: u8| {
            let kind = ChangeKind::DeleteRange;
            (kind, swept.0, vec![first], vec![last])
        };
        let mut batch = Batch::new();
        for key in (0..12).rev() {
            batch.delete(swept, b"p", &[key]);
            batch.delete(other, b"p", &[key]);
        }
        let mut plain = kinds(&batch);
        batch.sweep(swept, b"q", ClusteringRange::all());
        assert_eq!(kinds(&batch), plain, "another partition");
        batch.sweep(swept, b"p", range.clone());
        plain.retain(|(_, table, key, _)| *table == other.0 || !range.contains(key));
        let with_range = [vec![range_of(2, 8)], plain].concat();
        assert_eq!(kinds(&batch), with_range);
        // Rows that the batch puts are never removed, not even for a moment.
        batch.put(swept, b"p", &[5], b"");
        let parted = kinds(&batch);
        assert_eq!(parted[..2], [range_of(2, 4), range_of(6, 8)]);
        let at_five = parted.iter().filter(|it| it.1 == swept.0 && it.2 == [5]);
        assert!(at_five.eq([&row(ChangeKind::Put, swept, 5)]));
        batch.put(swept, b"p", &[3], b"");
        let few = kinds(&batch);
        assert_eq!(few[0], range_of(6, 8));
        for key in [2, 4] {
            assert!(few.contains(&row(ChangeKind::Delete, swept, key)), "{key}");
        }
    }

    #[test]
    fn a_partition_whose_rows_are_all_removed_is_removed_whole() {
        let (swept, other) = (TableId(1), TableId(2));
        let mut batch = Batch::new();
        batch.delete(swept, b"p", b"b");
        batch.delete(other, b"p", b"b");
        batch.sweep(swept, b"p", ClusteringRange::all());
        let kinds = |batch: &Batch| -> Vec<ChangeRow> {
            let plan = plan(batch);
            change_rows(&plan, &plan.pieces()[0])
        };
        let whole = (ChangeKind::DeletePrefix, 1, vec![], vec![]);
        let single = |table| (ChangeKind::Delete, table, b"b".to_vec(), vec![]);
        assert_eq!(kinds(&batch), [whole, single(2)]);
        // Rows that the batch puts are never removed, not even for a moment.
        batch.put(swept, b"p", b"c", b"");
        assert!(kinds(&batch).contains(&single(1)));
    }

    #[test]
    fn large_partitions_are_parted() {
        let mut batch = Batch::new();
        for n in 0..10_000u32 {
            batch.put(TableId(0), b"p", &n.to_be_bytes(), b"v");
        }
        let plan = plan(&batch);
        let sizes: Vec<usize> = plan
            .pieces()
            .iter()
            .map(|piece| piece.changes.len())
            .collect();
        assert_eq!(sizes, [PIECE_CHANGES, PIECE_CHANGES, 2_000]);
    }

    #[test]
    fn what_is_too_large_is_refused() {
        let mut batch = Batch::new();
        batch.put(TableId(0), &vec![1; KEY_BYTES_MAX + 1], b"c", b"v");
        let refused = Plan::of(Arc::from(batch.bytes()), 0, batch.sweeps()).unwrap_err();
        assert!(refused.contains("partition key"), "{refused}");
        let mut batch = Batch::new();
        batch.put(TableId(0), b"p", b"c", &vec![1; ROW_BYTES_MAX + 1]);
        let refused = Plan::of(Arc::from(batch.bytes()), 0, batch.sweeps()).unwrap_err();
        assert!(refused.contains("row"), "{refused}");
    }
}
