//! A front table: blocks of rows in the order of writing, and a hash index of their partitions.
//!
//! The one writer adds a block, indexes its operations and then publishes it. A reader that has
//! seen `n` published blocks reads only those, so it sees every batch wholly or not at all, without
//! a lock over the whole table. The index has shards with a lock each. The locks protect the index
//! only: the rows' bytes never move.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use parking_lot::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};
use smallvec::SmallVec;
use varve_kv::{OpKind, RawOp, TableId};

use crate::arena::{Arena, At, Placed};
use crate::cursor::PartitionSpan;
use crate::hash::partition_hash;
use crate::list::{List, TOLERATED};
use crate::sorted::Sorted;

mod many;

const SHARDS: usize = 64;
/// Shift of the hash bits that choose the shard. They are neither those that choose the bucket nor
/// those compared in it.
const SHARD_SHIFT: u32 = 40;
/// Estimated memory of the index for one operation, and of a block besides its bytes.
const INDEX_BYTES: usize = 40;
const BLOCK_BYTES: usize = 48;
/// From this number of operations on, a batch is grouped by shard, so that each lock is taken once.
const BY_SHARD_FROM: usize = 16;

/// Partitions that are prefetched together.
const AT_ONCE: usize = 32;

#[inline]
fn shard_of(hash: u64) -> usize {
    (hash >> SHARD_SHIFT) as usize % SHARDS
}

/// The places of a partition's rows.
#[derive(Debug)]
struct Partition {
    hash: u64,
    rows: List,
}

/// The places of a partition's prefix deletes, in the order of writing.
#[derive(Debug)]
struct Deletes {
    hash: u64,
    places: SmallVec<[At; 2]>,
}

#[derive(Debug, Default)]
struct Shard {
    partitions: HashTable<Partition>,
    deletes: HashTable<Deletes>,
}

/// The result of looking up a row in one table.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Answer<'a> {
    /// The row's value.
    Value(&'a [u8]),
    /// The row was deleted in this table.
    Deleted,
    /// The table does not have the row; older tiers may.
    Nothing,
}

/// One row of a look-up of many.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted<'a> {
    /// The hash of its partition.
    pub(crate) hash: u64,
    /// The index of the row in the look-up.
    pub(crate) number: usize,
    /// Partition key and clustering key.
    pub(crate) key: (&'a [u8], &'a [u8]),
}

/// Buffers for grouping a batch's operations, reused from one batch to the next.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    hashed: Vec<(u64, At)>,
    by_shard: Vec<(u64, At)>,
}

impl Scratch {
    /// The operations of the last batch with the hashes of their partitions.
    pub(crate) fn hashed(&self) -> &[(u64, At)] {
        &self.hashed
    }
}

#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) arena: Arena,
    shards: Box<[RwLock<Shard>]>,
    /// The number of blocks that readers may read.
    published: AtomicU32,
    /// Whether any indexed operation is a prefix delete.
    has_deletes: AtomicBool,
    bytes: AtomicUsize,
    operations: AtomicUsize,
    /// The progress of this table's flush, in thousandths.
    flushed: AtomicU32,
    partitions: AtomicUsize,
    /// The time of the first batch.
    written: OnceLock<Instant>,
    /// Held while a reader folds many rows of a partition, so that two readers never sort the same
    /// rows.
    folding: Mutex<()>,
    /// The runs that full scans have sorted so far.
    pub(crate) sorted: Mutex<Sorted>,
}

impl Table {
    /// Creates an empty table with capacity for this many partitions.
    pub(crate) fn new(partitions: usize) -> Self {
        let shard = || {
            RwLock::new(Shard {
                partitions: HashTable::with_capacity(partitions / SHARDS),
                deletes: HashTable::new(),
            })
        };
        Self {
            arena: Arena::new(),
            shards: (0..SHARDS).map(|_| shard()).collect(),
            published: AtomicU32::new(0),
            has_deletes: AtomicBool::new(false),
            bytes: AtomicUsize::new(0),
            operations: AtomicUsize::new(0),
            flushed: AtomicU32::new(0),
            partitions: AtomicUsize::new(0),
            written: OnceLock::new(),
            folding: Mutex::default(),
            sorted: Mutex::default(),
        }
    }

    /// Adds a record with a batch and indexes it; readers do not see it before [`Table::publish`].
    /// Only one writer at a time.
    pub(crate) fn apply(&self, record: Box<[u8]>, scratch: &mut Scratch) {
        self.written.get_or_init(Instant::now);
        let mut bytes = record.len() + BLOCK_BYTES;
        let block = self.arena.push(record);
        let Scratch { hashed, by_shard } = scratch;
        hashed.clear();
        let ops = self.arena.ops(block);
        hashed.extend(ops.map(|(at, op)| (partition_hash(op.table, op.partition()), at)));
        bytes += hashed.len() * INDEX_BYTES;
        if hashed.len() < BY_SHARD_FROM {
            for (hash, at) in &*hashed {
                self.index(&mut self.shards[shard_of(*hash)].write(), *hash, *at);
            }
        } else {
            group_by_shard(hashed.iter().copied(), by_shard, (0, At::new(0, 0)));
            for group in by_shard.chunk_by(|a, b| shard_of(a.0) == shard_of(b.0)) {
                let mut shard = self.shards[shard_of(group[0].0)].write();
                for part in group.chunks(AT_ONCE) {
                    self.prefetch(&shard, part.iter().map(|(hash, _)| *hash));
                }
                for (hash, at) in group {
                    self.index(&mut shard, *hash, *at);
                }
            }
        }
        self.operations.fetch_add(hashed.len(), Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Prefetches the memory that a look-up of these partitions reads, in three steps: the index
    /// entries, then their lists, then the rows in these lists. So the cache misses of several
    /// partitions overlap.
    fn prefetch(&self, shard: &Shard, group: impl Iterator<Item = u64>) {
        let known = group.filter_map(|hash| shard.partitions.find(hash, |it| it.hash == hash));
        let known: SmallVec<[&Partition; AT_ONCE]> = known.collect();
        known.iter().for_each(|known| known.rows.prefetch_list());
        known
            .iter()
            .for_each(|known| known.rows.prefetch(&self.arena));
    }

    /// Makes all applied batches visible to readers.
    pub(crate) fn publish(&self) {
        self.published.store(self.arena.blocks(), Ordering::Release);
    }

    /// The number of blocks that readers may read now.
    pub(crate) fn published(&self) -> u32 {
        self.published.load(Ordering::Acquire)
    }

    /// The estimated memory of the table, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// The number of operations in the table.
    pub(crate) fn operations(&self) -> usize {
        self.operations.load(Ordering::Relaxed)
    }

    /// The progress of this table's flush, from 0 to 1, estimated.
    pub(crate) fn flushed(&self) -> f64 {
        f64::from(self.flushed.load(Ordering::Relaxed)) / 1_000.0
    }

    pub(crate) fn set_flushed(&self, part: f64) {
        self.flushed
            .store((part * 1_000.0) as u32, Ordering::Relaxed);
    }

    pub(crate) fn partitions(&self) -> usize {
        self.partitions.load(Ordering::Relaxed)
    }

    /// Whether the first batch is at least `age` old.
    pub(crate) fn is_older_than(&self, age: Duration) -> bool {
        self.written
            .get()
            .is_some_and(|first| first.elapsed() >= age)
    }

    pub(crate) fn has_deletes(&self) -> bool {
        self.has_deletes.load(Ordering::Acquire)
    }

    fn index(&self, shard: &mut Shard, hash: u64, at: At) {
        let op = self.arena.op(at);
        if op.kind == OpKind::DeletePrefix {
            self.index_delete(shard, hash, at, &op);
            return;
        }
        let entry = shard.partitions.entry(
            hash,
            |known| known.hash == hash && self.same_partition(known.rows.any(), &op),
            |known| known.hash,
        );
        match entry {
            Entry::Occupied(mut known) => {
                let rows = &mut known.get_mut().rows;
                rows.insert(&self.arena, at);
            }
            Entry::Vacant(place) => {
                let rows = List::One(at);
                place.insert(Partition { hash, rows });
                self.partitions.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    fn index_delete(&self, shard: &mut Shard, hash: u64, at: At, op: &RawOp<'_>) {
        self.has_deletes.store(true, Ordering::Release);
        let entry = shard.deletes.entry(
            hash,
            |known| known.hash == hash && self.same_partition(known.places[0], op),
            |known| known.hash,
        );
        match entry {
            Entry::Occupied(mut known) => known.get_mut().places.push(at),
            Entry::Vacant(place) => {
                let places = SmallVec::from_slice(&[at]);
                place.insert(Deletes { hash, places });
            }
        }
    }

    fn same_partition(&self, at: At, op: &RawOp<'_>) -> bool {
        self.holds(at, op.table, op.partition())
    }

    fn holds(&self, at: At, table: TableId, partition: &[u8]) -> bool {
        let known = self.arena.op(at);
        known.table == table && known.partition() == partition
    }

    /// Calls `read` with a partition's rows. Before, it folds the partition's list if more than
    /// `unordered` rows of the first `visible` blocks are not in order.
    fn with_rows<T>(
        &self,
        hash: u64,
        table: TableId,
        partition: &[u8],
        visible: u32,
        unordered: usize,
        read: impl FnOnce(&Shard, Option<&List>) -> T,
    ) -> T {
        let is = |known: &Partition| {
            known.hash == hash && self.holds(known.rows.any(), table, partition)
        };
        let shard = self.shards[shard_of(hash)].read();
        let known = shard.partitions.find(hash, is);
        if known.is_none_or(|known| !known.rows.must_fold(visible, unordered)) {
            return read(&shard, known.map(|known| &known.rows));
        }
        drop(shard);
        let shard = self.fold(hash, is, visible);
        let known = shard.partitions.find(hash, is);
        read(&shard, known.map(|known| &known.rows))
    }

    /// Sorts the unordered rows of a partition in the first `visible` blocks into its list. A short
    /// tail is folded under the lock; a long one in parts, which are sorted without the lock.
    fn fold(
        &self,
        hash: u64,
        is: impl Fn(&Partition) -> bool,
        visible: u32,
    ) -> RwLockReadGuard<'_, Shard> {
        let lock = &self.shards[shard_of(hash)];
        let mut alone = None;
        let mut folding = None;
        loop {
            let mut shard = lock.write();
            let Some(known) = shard.partitions.find_mut(hash, &is) else {
                return RwLockWriteGuard::downgrade(shard);
            };
            if let Some(folding) = folding.take() {
                known.rows.fold(&self.arena, folding);
            }
            let Some(unsorted) = known.rows.fold_little(&self.arena, visible) else {
                return RwLockWriteGuard::downgrade(shard);
            };
            RwLockWriteGuard::unlock_fair(shard);
            if alone.is_none() {
                // Another reader may have folded the rows while this one waited.
                alone = Some(self.folding.lock());
            } else {
                folding = Some(unsorted.sort(&self.arena));
            }
        }
    }

    /// Looks up a row in the first `visible` blocks.
    pub(crate) fn find(
        &self,
        hash: u64,
        table: TableId,
        partition: &[u8],
        clustering: &[u8],
        visible: u32,
    ) -> Answer<'_> {
        let (found, cover) =
            self.with_rows(hash, table, partition, visible, TOLERATED, |shard, rows| {
                let found = rows.and_then(|rows| rows.find(&self.arena, clustering, visible));
                let cover = self.covering(shard, hash, table, partition, clustering, visible);
                (found, cover)
            });
        Self::answer(found, cover)
    }

    /// Combines a row's newest operation with the newest prefix delete that covers the row.
    fn answer<'t>(found: Option<Placed<'t>>, cover: Option<At>) -> Answer<'t> {
        match found {
            Some((at, op)) if cover.is_none_or(|cover| cover < at) => match op.kind {
                OpKind::Put => Answer::Value(op.value),
                OpKind::Delete | OpKind::DeletePrefix => Answer::Deleted,
            },
            _ if cover.is_some() => Answer::Deleted,
            _ => Answer::Nothing,
        }
    }

    /// Returns the newest prefix delete in the first `visible` blocks that covers a row.
    fn covering(
        &self,
        shard: &Shard,
        hash: u64,
        table: TableId,
        partition: &[u8],
        clustering: &[u8],
        visible: u32,
    ) -> Option<At> {
        if shard.deletes.is_empty() {
            return None;
        }
        let known = shard.deletes.find(hash, |known| {
            known.hash == hash && self.holds(known.places[0], table, partition)
        })?;
        let covers = |at: &&At| {
            at.block() < visible && clustering.starts_with(self.arena.op(**at).clustering())
        };
        known.places.iter().rev().find(covers).copied()
    }

    /// Returns the newest prefix delete in the first `visible` blocks that covers a row.
    pub(crate) fn cover(
        &self,
        hash: u64,
        table: TableId,
        partition: &[u8],
        clustering: &[u8],
        visible: u32,
    ) -> Option<At> {
        if !self.has_deletes() {
            return None;
        }
        let shard = self.shards[shard_of(hash)].read();
        self.covering(&shard, hash, table, partition, clustering, visible)
    }

    /// Appends the newest visible version of each row in the requested range to `out`, up to
    /// `limit` rows. Deletes of single rows count as versions. Returns whether there may be more
    /// rows.
    pub(crate) fn collect<'t>(
        &'t self,
        request: &PartitionSpan<'_>,
        visible: u32,
        limit: usize,
        out: &mut Vec<Placed<'t>>,
    ) -> bool {
        let PartitionSpan {
            hash,
            table,
            partition,
            span,
        } = *request;
        self.with_rows(hash, table, partition, visible, 0, |_, rows| {
            rows.is_some_and(|rows| {
                rows.prefetch_rows(&self.arena);
                rows.collect(&self.arena, span, visible, limit, out)
            })
        })
    }
}

/// Copies `hashed` into `by_shard`, ordered by shard; the order within a shard is kept.
fn group_by_shard<T: Copy>(
    hashed: impl Iterator<Item = (u64, T)> + Clone,
    by_shard: &mut Vec<(u64, T)>,
    any: (u64, T),
) {
    let mut starts = [0usize; SHARDS + 1];
    for (hash, _) in hashed.clone() {
        starts[shard_of(hash) + 1] += 1;
    }
    for shard in 0..SHARDS {
        starts[shard + 1] += starts[shard];
    }
    by_shard.clear();
    by_shard.resize(starts[SHARDS], any);
    for item in hashed {
        let next = &mut starts[shard_of(item.0)];
        by_shard[*next] = item;
        *next += 1;
    }
}

#[cfg(test)]
mod tests;
