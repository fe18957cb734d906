//! The partition cache: partitions of the sorted files that are read often.
//!
//! A scan of a partition in sorted files looks for its first row in every run of files, and merges
//! the runs: three microseconds and more, even if all blocks are in memory. Here a partition is
//! found by one hash, as in a front table, and its rows lie side by side.
//!
//! **Never a stale partition.** The rule is that of the row cache ([`crate::rows`]): the files
//! change only when a frozen table is ingested. The flusher first begins a generation, then removes
//! the table's partitions from the cache, and then publishes the view. A cached partition is
//! visible to views of the generation in which it was read, and of later ones.
//!
//! **Of a large partition**, ranges are cached, each once it is read for the second time within the
//! last misses. They are found by the number of the partition's entry, so they end with it.
//!
//! **Rarely read partitions evict nothing.** Without room, a partition is read whole and added only
//! if it was missed recently.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use hashbrown::HashTable;
use parking_lot::Mutex;
use varve_kv::table::Summarize;
use varve_kv::{ClusteringRange, Flow, TableId, TableSpec};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::options::Budget;
use crate::rows::Tables;

/// Larger partitions are not cached as a whole, in bytes.
pub(crate) const WHOLE_BYTES_MAX: usize = 16 << 10;
/// Larger ranges are not cached, in bytes.
const RANGE_BYTES_MAX: usize = 1 << 20;
/// The most shards, which have a lock each, and the least size of one.
const SHARDS_MAX: usize = 64;
const SHARD_BYTES_MIN: usize = 64 << 10;
/// Memory of a partition besides its bytes: its slot, its place in the index, its allocation.
const SLOT_BYTES: usize = 80;
/// Misses that a shard remembers.
const GHOSTS: usize = 256;

/// The partition cache of all spaces of an engine.
#[derive(Debug)]
pub struct PartitionCache {
    shards: Box<[Mutex<Shard>]>,
    /// Bytes that are the cache's alone.
    share: usize,
    /// What this budget has left, the cache may use, too.
    beside: Arc<Budget>,
    /// The numbers of large partitions that were given.
    numbers: AtomicU64,
    /// The limit when partitions were last evicted because of it.
    trimmed_to: AtomicUsize,
    spaces: AtomicU32,
}

/// The cached partitions of one space.
#[derive(Debug)]
pub(crate) struct SpacePartitions {
    cache: Arc<PartitionCache>,
    specs: &'static [TableSpec],
    space: u32,
    /// The generation that was begun last.
    generation: Arc<AtomicU64>,
    /// The tables of which partitions may have been cached since the space was opened.
    tables: AtomicU64,
    /// Partitions of earlier generations are invalid.
    floor: AtomicU64,
}

/// What is cached of a partition.
#[derive(Debug)]
enum Kept {
    Whole(Block),
    /// It is large. Ranges of it that are cached have this number.
    Large(u64),
    /// A range of a large partition; `None` if the range is too large itself.
    Range(ClusteringRange, Option<Block>),
}

/// Rows of a partition. Layout: table (1 byte), length of the partition key (2), number of rows
/// (4), length of the summary (4), partition key, summary, then for each row the position of its
/// end (4), then the rows: length of the clustering key (2), clustering key, value. Positions count
/// from the first row.
#[derive(Debug, Clone)]
pub(crate) struct Block(Arc<[u8]>);

/// The result of a look-up.
#[derive(Debug)]
pub(crate) enum Found {
    /// All rows of the partition.
    Whole(Block),
    /// All rows of the range.
    Range(Block),
    /// Nothing is cached, and the whole partition is to be added.
    WantWhole,
    /// The partition is large, and the range is to be added.
    WantRange,
    /// Of the partition nothing is cached, nor to be added.
    Unwanted,
    /// The partition is large, and the range is not to be added.
    UnwantedRange,
}

#[derive(Debug)]
struct Slot {
    hash: u64,
    space: u32,
    used: bool,
    /// The generation in which the partition was read.
    since: u64,
    kept: Kept,
}

#[derive(Debug, Default)]
struct Shard {
    /// Positions in `slots`.
    index: HashTable<u32>,
    slots: Vec<Slot>,
    bytes: usize,
    /// The next slot that may be evicted.
    hand: usize,
    /// Hashes that were missed without room.
    ghosts: Box<[u32]>,
    next_ghost: usize,
}

/// The identity of a partition.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PartitionKey<'a> {
    pub(crate) table: TableId,
    pub(crate) partition: &'a [u8],
    /// The hash of both.
    pub(crate) hash: u64,
}

/// Bytes of a block before its partition key.
const HEAD: usize = 11;

impl Block {
    fn number(&self, at: usize) -> usize {
        read_number(&self.0, at)
    }

    fn partition_len(&self) -> usize {
        usize::from(u16::from_le_bytes([self.0[1], self.0[2]]))
    }

    fn is_of(&self, key: &PartitionKey<'_>) -> bool {
        self.0[0] == key.table.0
            && self.partition_len() == key.partition.len()
            && self.0[HEAD..].starts_with(key.partition)
    }

    fn len(&self) -> usize {
        self.number(3)
    }

    /// The summary of the rows; `None` if they have none.
    pub(crate) fn summary(&self) -> Option<&[u8]> {
        let start = HEAD + self.partition_len();
        let summary = &self.0[start..start + self.number(7)];
        (!summary.is_empty()).then_some(summary)
    }

    /// The ends of the rows, and the rows.
    fn rows(&self) -> (&[u8], &[u8]) {
        let (_, rest) = self
            .0
            .split_at(HEAD + self.partition_len() + self.number(7));
        rest.split_at(4 * self.len())
    }

    /// Visits the rows of a range.
    pub(crate) fn scan(
        &self,
        range: &ClusteringRange,
        reverse: bool,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
    ) -> Flow {
        let rows = self.rows();
        let row = |at: usize| row_at(rows, at);
        let before = |limit: &[u8]| {
            let (mut low, mut high) = (0, self.len());
            while low < high {
                let middle = usize::midpoint(low, high);
                match row(middle).0 < limit {
                    true => low = middle + 1,
                    false => high = middle,
                }
            }
            low
        };
        let first = if range.from.is_empty() {
            0
        } else {
            before(&range.from)
        };
        let past = range.to.as_deref().map_or(self.len(), before);
        let show = &mut |at: usize| {
            let (clustering, value) = row(at);
            visit(clustering, value)
        };
        match reverse {
            false => (first..past).try_for_each(show),
            true => (first..past).rev().try_for_each(show),
        }
    }
}

/// The clustering key and the value of a row, by the ends of the rows and the rows.
fn row_at<'r>((ends, rows): (&[u8], &'r [u8]), at: usize) -> (&'r [u8], &'r [u8]) {
    let end = |at: usize| read_number(ends, 4 * at);
    let start = if at == 0 { 0 } else { end(at - 1) };
    let (length, row) = rows[start..end(at)].split_at(2);
    row.split_at(usize::from(u16::from_le_bytes([length[0], length[1]])))
}

fn read_number(bytes: &[u8], at: usize) -> usize {
    let number = bytes[at..].first_chunk().copied().unwrap_or_default();
    u32::from_le_bytes(number) as usize
}

/// Collects rows of a partition, in their order.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    ends: Vec<u8>,
    rows: Vec<u8>,
    is_full: bool,
}

impl Builder {
    /// Adds a row. Breaks if there are more than `bytes_max` bytes of rows; they are then useless.
    pub(crate) fn add(&mut self, clustering: &[u8], value: &[u8], bytes_max: usize) -> Flow {
        let bytes = self.rows.len() + self.ends.len() + clustering.len() + value.len();
        let length = u16::try_from(clustering.len());
        let (Ok(length), true) = (length, bytes <= bytes_max) else {
            self.is_full = true;
            return Flow::Break(());
        };
        self.rows.extend_from_slice(&length.to_le_bytes());
        self.rows.extend_from_slice(clustering);
        self.rows.extend_from_slice(value);
        self.ends
            .extend_from_slice(&(self.rows.len() as u32).to_le_bytes());
        Flow::Continue(())
    }

    /// Takes the rows that were added since the last call; `None` if there were too many.
    pub(crate) fn take(
        &mut self,
        key: &PartitionKey<'_>,
        summarize: Option<Summarize>,
    ) -> Option<Block> {
        let length = u16::try_from(key.partition.len());
        let block = length.ok().filter(|_| !self.is_full).map(|length| {
            let count = self.ends.len() / 4;
            let summary = summarize.map_or_else(Vec::new, |summarize| {
                let each = &mut (0..count).map(|at| row_at((&self.ends, &self.rows), at));
                summarize(key.partition, each)
            });
            let mut head = [key.table.0; HEAD];
            head[1..3].copy_from_slice(&length.to_le_bytes());
            head[3..7].copy_from_slice(&(count as u32).to_le_bytes());
            head[7..].copy_from_slice(&(summary.len() as u32).to_le_bytes());
            let pieces = [&head[..], key.partition, &summary, &self.ends, &self.rows];
            Block(pieces.concat().into())
        });
        self.ends.clear();
        self.rows.clear();
        self.is_full = false;
        block
    }
}

impl Kept {
    fn bytes(&self) -> usize {
        let of_block = |block: &Block| block.0.len();
        SLOT_BYTES
            + match self {
                Self::Whole(block) => of_block(block),
                Self::Large(_) => 0,
                Self::Range(range, block) => {
                    let to = range.to.as_ref().map_or(0, Vec::len);
                    range.from.len() + to + block.as_ref().map_or(0, of_block)
                }
            }
    }
}

/// The hash of a range of the large partition with this number.
fn range_hash(number: u64, range: &ClusteringRange) -> u64 {
    let to = range.to.as_deref().unwrap_or_default();
    xxh3_64_with_seed(to, xxh3_64_with_seed(&range.from, number))
}

impl PartitionCache {
    /// Creates a cache of about `share` bytes, and as many more as `beside` has left: what others
    /// take of that budget later, the cache gives up.
    #[must_use]
    pub fn new(share: usize, beside: Arc<Budget>) -> Self {
        let bytes = share + beside.limit();
        let shards = (bytes / SHARD_BYTES_MIN).clamp(1, SHARDS_MAX);
        Self {
            shards: (0..shards).map(|_| Mutex::default()).collect(),
            share,
            beside,
            numbers: AtomicU64::new(0),
            trimmed_to: AtomicUsize::new(usize::MAX),
            spaces: AtomicU32::new(0),
        }
    }

    /// The most bytes of a shard now.
    fn shard_bytes(&self) -> usize {
        (self.share + self.beside.left()) / self.shards.len()
    }

    /// Evicts partitions if the limit has become lower. Called about once a second.
    pub(crate) fn trim(&self) {
        let limit = self.shard_bytes();
        if self.trimmed_to.swap(limit, Ordering::Relaxed) > limit {
            for shard in &self.shards {
                shard.lock().evict(limit);
            }
        }
    }

    /// Registers a space and returns its part of the cache. `generation` is that of the space's
    /// files, which was begun last.
    pub(crate) fn space(
        self: Arc<Self>,
        specs: &'static [TableSpec],
        generation: Arc<AtomicU64>,
    ) -> SpacePartitions {
        SpacePartitions {
            specs,
            generation,
            space: self.spaces.fetch_add(1, Ordering::Relaxed),
            cache: self,
            tables: AtomicU64::new(0),
            floor: AtomicU64::new(0),
        }
    }

    fn shard(&self, hash: u64) -> &Mutex<Shard> {
        // Neither the bits that choose the bucket nor those compared in it.
        &self.shards[(hash >> 40) as usize % self.shards.len()]
    }
}

impl SpacePartitions {
    /// How rows of a table are summarized.
    pub(crate) fn summarize(&self, table: TableId) -> Option<Summarize> {
        let spec = self.specs.get(usize::from(table.0));
        spec.and_then(|spec| spec.summarize)
    }

    /// Looks up a range of a partition for a view of `generation`, and notes a miss.
    pub(crate) fn find(
        &self,
        generation: u64,
        key: &PartitionKey<'_>,
        range: &ClusteringRange,
    ) -> Found {
        self.look_up(generation, key, range, true)
    }

    /// The rows of a range if they are cached. Nothing is noted.
    pub(crate) fn cached(
        &self,
        generation: u64,
        key: &PartitionKey<'_>,
        range: &ClusteringRange,
    ) -> Option<Block> {
        match self.look_up(generation, key, range, false) {
            Found::Whole(rows) | Found::Range(rows) => Some(rows),
            _ => None,
        }
    }

    fn look_up(
        &self,
        generation: u64,
        key: &PartitionKey<'_>,
        range: &ClusteringRange,
        may_add: bool,
    ) -> Found {
        let hash = self.hash(key);
        let floor = self.floor.load(Ordering::Acquire);
        let mut shard = self.cache.shard(hash).lock();
        // What an older view has read could not be added.
        let may_add = may_add && self.generation.load(Ordering::Relaxed) == generation;
        let Some(at) = shard.position(hash, self.space) else {
            return match may_add && shard.is_wanted(hash, self.cache.shard_bytes()) {
                true => Found::WantWhole,
                false => Found::Unwanted,
            };
        };
        let slot = &mut shard.slots[at];
        if !(floor..=generation).contains(&slot.since) {
            return match may_add {
                true => Found::WantWhole,
                false => Found::Unwanted,
            };
        }
        slot.used = true;
        let number = match &slot.kept {
            Kept::Whole(block) if block.is_of(key) => return Found::Whole(block.clone()),
            Kept::Large(number) => *number,
            _ => return Found::Unwanted,
        };
        shard.find_range(range_hash(number, range), (self.space, may_add), key, range)
    }

    /// Adds a partition that a view of `generation` has read from the files, unless a later one has
    /// begun; `None` if the partition is large.
    pub(crate) fn put(&self, generation: u64, key: &PartitionKey<'_>, whole: Option<Block>) {
        let kept = match whole {
            Some(block) => Kept::Whole(block),
            None => Kept::Large(self.cache.numbers.fetch_add(1, Ordering::Relaxed)),
        };
        let hash = self.hash(key);
        let mut shard = self.cache.shard(hash).lock();
        self.add(&mut shard, hash, (generation, key.table), kept);
    }

    /// Adds a range of a large partition, likewise; `None` if the range is too large.
    pub(crate) fn put_range(
        &self,
        generation: u64,
        key: &PartitionKey<'_>,
        range: &ClusteringRange,
        rows: Option<Block>,
    ) {
        let hash = self.hash(key);
        let mut shard = self.cache.shard(hash).lock();
        let slot = shard.position(hash, self.space).map(|at| &shard.slots[at]);
        // An entry from before the floor may be of other rows.
        let floor = self.floor.load(Ordering::Acquire);
        let Some(Kept::Large(number)) = slot
            .filter(|slot| slot.since >= floor)
            .map(|slot| &slot.kept)
        else {
            return;
        };
        let hash = range_hash(*number, range);
        let kept = Kept::Range(range.clone(), rows);
        self.add(&mut shard, hash, (generation, key.table), kept);
    }

    /// Adds an entry to a shard, unless a later generation than the given one has begun.
    fn add(&self, shard: &mut Shard, hash: u64, (since, table): (u64, TableId), kept: Kept) {
        // First the table, then the generation; the flusher uses the opposite order. So either this
        // thread sees the new generation, or the flusher sees the table, and removes the partition
        // once it has the shard's lock.
        self.tables
            .fetch_or(Tables::of(table).bits(), Ordering::SeqCst);
        if self.generation.load(Ordering::SeqCst) != since {
            return;
        }
        if let Some(at) = shard.position(hash, self.space) {
            shard.remove(at);
        }
        let Some(others) = self.cache.shard_bytes().checked_sub(kept.bytes()) else {
            return;
        };
        shard.evict(others);
        shard.add(Slot {
            hash,
            space: self.space,
            used: false,
            since,
            kept,
        });
    }

    /// The most bytes of rows of one cached range.
    pub(crate) fn range_bytes_max(&self) -> usize {
        RANGE_BYTES_MAX.min(self.cache.shard_bytes() / 4)
    }

    /// The tables of which partitions may be cached.
    pub(crate) fn tables(&self) -> Tables {
        Tables::from_bits(self.tables.load(Ordering::SeqCst))
    }

    /// Removes a partition that has changed.
    pub(crate) fn remove(&self, key: &PartitionKey<'_>) {
        let hash = self.hash(key);
        let mut shard = self.cache.shard(hash).lock();
        // Removing another partition with the same hash does no harm.
        if let Some(at) = shard.position(hash, self.space) {
            shard.remove(at);
        }
    }

    /// Invalidates all partitions of the space that were read before `generation`.
    pub(crate) fn remove_before(&self, generation: u64) {
        self.floor.store(generation, Ordering::Release);
    }

    fn hash(&self, key: &PartitionKey<'_>) -> u64 {
        key.hash ^ u64::from(self.space).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }
}

impl Shard {
    fn position(&self, hash: u64, space: u32) -> Option<usize> {
        let slot = |at: &u32| &self.slots[*at as usize];
        let is = |at: &u32| slot(at).hash == hash && slot(at).space == space;
        self.index.find(hash, is).map(|at| *at as usize)
    }

    /// Looks up a range of a large partition.
    fn find_range(
        &mut self,
        hash: u64,
        (space, may_add): (u32, bool),
        key: &PartitionKey<'_>,
        range: &ClusteringRange,
    ) -> Found {
        if let Some(at) = self.position(hash, space) {
            let slot = &mut self.slots[at];
            slot.used = true;
            return match &slot.kept {
                Kept::Range(own, Some(block)) if own == range && block.is_of(key) => {
                    Found::Range(block.clone())
                }
                _ => Found::UnwantedRange,
            };
        }
        match may_add && self.was_missed(hash) {
            true => Found::WantRange,
            false => Found::UnwantedRange,
        }
    }

    /// Whether a partition that was not found is to be added: if there is room, or it was missed
    /// recently.
    fn is_wanted(&mut self, hash: u64, bytes_max: usize) -> bool {
        self.bytes + WHOLE_BYTES_MAX.min(bytes_max / 2) <= bytes_max || self.was_missed(hash)
    }

    /// Returns whether this hash was missed recently, and notes the miss.
    fn was_missed(&mut self, hash: u64) -> bool {
        let mark = (hash as u32).max(1);
        if self.ghosts.contains(&mark) {
            return true;
        }
        if self.ghosts.is_empty() {
            self.ghosts = vec![0; GHOSTS].into();
        }
        self.ghosts[self.next_ghost] = mark;
        self.next_ghost = (self.next_ghost + 1) % GHOSTS;
        false
    }

    fn add(&mut self, slot: Slot) {
        let (hash, bytes) = (slot.hash, slot.kept.bytes());
        self.bytes += bytes;
        varve_kv::cached::add(bytes);
        let at = self.slots.len() as u32;
        self.slots.push(slot);
        let slots = &self.slots;
        self.index
            .insert_unique(hash, at, |at| slots[*at as usize].hash);
    }

    /// Removes a slot; the last one takes its place.
    fn remove(&mut self, at: usize) -> Slot {
        let own = at as u32;
        if let Ok(entry) = self
            .index
            .find_entry(self.slots[at].hash, |other| *other == own)
        {
            entry.remove();
        }
        let last = self.slots.len() - 1;
        if at != last
            && let Some(moved) = self
                .index
                .find_mut(self.slots[last].hash, |other| *other == last as u32)
        {
            *moved = own;
        }
        let removed = self.slots.swap_remove(at);
        let bytes = removed.kept.bytes();
        self.bytes -= bytes;
        varve_kv::cached::subtract(bytes);
        removed
    }

    /// Removes partitions that were not read since the clock hand passed them last, until the rest
    /// has at most `bytes_max`.
    fn evict(&mut self, bytes_max: usize) {
        while self.bytes > bytes_max && !self.slots.is_empty() {
            self.hand %= self.slots.len();
            let slot = &mut self.slots[self.hand];
            if slot.used {
                slot.used = false;
                self.hand += 1;
            } else {
                self.remove(self.hand);
            }
        }
    }
}

#[cfg(test)]
mod tests;
