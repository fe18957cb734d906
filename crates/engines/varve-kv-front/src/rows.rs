//! The row cache: single rows of the sorted files.
//!
//! A read of one row from sorted files walks an index, a filter and a block: about three
//! microseconds when all of them are in memory. A recently read row is found here by one hash.
//! Scans use the block cache instead.
//!
//! **Never a stale row.** The rows of the files change only when a frozen table is ingested. That
//! begins a new *generation* of the space, and every view has a generation. A cached row has the
//! generation in which it was read, and is visible to views of that generation and later ones.
//!
//! When a table was ingested, the flusher first begins the next generation. From then on, rows that
//! older views read are not added to the cache. Then it removes the table's rows from the cache,
//! and only then does it publish the view. So a cached row has not changed since its generation. A
//! prefix delete may delete any row, so it invalidates all rows of its space.
//!
//! **Rarely read rows evict nothing.** In a full set, a row is added when it is read for the second
//! time within the last few misses of the set. So a large scan of rows read once does not evict
//! those that are read often.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use smallvec::SmallVec;
use varve_kv::TableId;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::arena::{prefetch, prefetch_lines};

/// The number of rows in one set.
const WAYS: usize = 4;
/// The largest total size of the rows of one set, with their keys, in bytes.
const SET_ROW_BYTES: usize = 1024;
/// Longer rows are not cached.
const ROW_BYTES_MAX: usize = SET_ROW_BYTES / 2;
/// Sets that are allocated together on the first write to one of them, so that an idle server
/// allocates none.
const CHUNK_SETS: usize = 1024;
/// Misses that a set remembers.
const GHOSTS: usize = 8;
/// Bytes of a row before its key: table, length of partition key, length of clustering key.
const HEAD: usize = 5;

/// The row cache of all spaces of an engine.
#[derive(Debug)]
pub struct RowCache {
    chunks: Box<[OnceLock<Chunk>]>,
    /// For each set, a bitmap of the hashes of its rows. Most flushed rows are not cached, and the
    /// bitmap shows that without reading the set. It is written only under the set's lock.
    marks: Box<[AtomicU32]>,
    spaces: AtomicU32,
}

/// Sets that are allocated together.
type Chunk = Box<[Mutex<Set>]>;

#[derive(Debug, Default)]
struct Set {
    ways: [Option<CachedRow>; WAYS],
    ghosts: [u16; GHOSTS],
    next_ghost: u8,
    hand: u8,
}

#[derive(Debug)]
struct CachedRow {
    hash: u64,
    space: u32,
    used: bool,
    /// The generation in which the row was read.
    since: u64,
    /// Head, key and value.
    row: Arc<[u8]>,
}

/// The cached rows of one space.
#[derive(Debug)]
pub(crate) struct SpaceRows {
    cache: Arc<RowCache>,
    space: u32,
    generation: Arc<AtomicU64>,
    /// Rows of earlier generations are invalid.
    floor: AtomicU64,
    /// The tables of which rows may have been cached since the space was opened.
    tables: AtomicU64,
}

/// A set of tables. Two tables whose ids differ by a multiple of 64 are not distinguished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tables(u64);

impl Tables {
    pub(crate) fn of(table: TableId) -> Self {
        Self(1 << (table.0 % 64))
    }

    pub(crate) fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    pub(crate) fn bits(self) -> u64 {
        self.0
    }

    pub(crate) fn has(self, table: TableId) -> bool {
        self.0 & Self::of(table).0 != 0
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// The key of a row in the cache.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowKey<'a> {
    pub(crate) table: TableId,
    pub(crate) partition: &'a [u8],
    pub(crate) clustering: &'a [u8],
    /// The hash of table and partition.
    pub(crate) hash: u64,
}

impl RowKey<'_> {
    fn head(&self) -> Option<[u8; HEAD]> {
        let partition = u16::try_from(self.partition.len()).ok()?.to_ne_bytes();
        let clustering = u16::try_from(self.clustering.len()).ok()?.to_ne_bytes();
        let ([p, q], [c, d]) = (partition, clustering);
        Some([self.table.0, p, q, c, d])
    }

    fn value_at(&self) -> usize {
        HEAD + self.partition.len() + self.clustering.len()
    }

    fn is_of(&self, row: &[u8]) -> bool {
        let Some((key, _)) = row.split_at_checked(self.value_at()) else {
            return false;
        };
        let (head, key) = key.split_at(HEAD);
        let (partition, clustering) = key.split_at(self.partition.len());
        self.head().is_some_and(|own| own == head)
            && partition == self.partition
            && clustering == self.clustering
    }

    fn with_value(&self, value: &[u8]) -> Option<Arc<[u8]>> {
        let head = self.head()?;
        let pieces = [&head[..], self.partition, self.clustering, value];
        Some(pieces.concat().into())
    }
}

/// A row that was found.
#[derive(Debug)]
pub(crate) struct FoundRow {
    row: Arc<[u8]>,
    value_at: usize,
}

impl FoundRow {
    pub(crate) fn value(&self) -> &[u8] {
        &self.row[self.value_at..]
    }
}

impl RowCache {
    /// Creates a cache of about this many bytes.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        let each = SET_ROW_BYTES + size_of::<Mutex<Set>>();
        let sets = (bytes / each).max(1);
        Self {
            marks: (0..sets).map(|_| AtomicU32::new(0)).collect(),
            chunks: (0..sets.div_ceil(CHUNK_SETS))
                .map(|_| OnceLock::new())
                .collect(),
            spaces: AtomicU32::new(0),
        }
    }

    /// Returns a set, unless its chunk was never written.
    fn set(&self, at: usize) -> Option<&Mutex<Set>> {
        let chunk = self.chunks[at / CHUNK_SETS].get()?;
        Some(&chunk[at % CHUNK_SETS])
    }

    fn set_to_write(&self, at: usize) -> &Mutex<Set> {
        let make = || (0..CHUNK_SETS).map(|_| Mutex::default()).collect();
        let chunk = self.chunks[at / CHUNK_SETS].get_or_init(make);
        &chunk[at % CHUNK_SETS]
    }

    /// Registers a space and returns its part of the cache.
    pub(crate) fn space(self: Arc<Self>) -> SpaceRows {
        SpaceRows {
            space: self.spaces.fetch_add(1, Ordering::Relaxed),
            cache: self,
            generation: Arc::default(),
            floor: AtomicU64::new(0),
            tables: AtomicU64::new(0),
        }
    }
}

impl SpaceRows {
    /// Returns the row if it is cached and valid for a view of `generation`.
    pub(crate) fn get(&self, generation: u64, key: &RowKey<'_>) -> Option<FoundRow> {
        let hash = self.hash(key);
        let floor = self.floor.load(Ordering::Acquire);
        let mut set = self.cache.set(self.set(hash))?.lock();
        let kept = set.find(hash, self.space, key)?;
        if !(floor..=generation).contains(&kept.since) {
            return None;
        }
        kept.used = true;
        Some(FoundRow {
            row: Arc::clone(&kept.row),
            value_at: key.value_at(),
        })
    }

    /// Prefetches the rows that [`SpaceRows::get`] would find.
    pub(crate) fn prefetch(&self, keys: &[RowKey<'_>]) {
        let hashes: SmallVec<[u64; 32]> = keys.iter().map(|key| self.hash(key)).collect();
        let set = |hash: &u64| self.cache.set(self.set(*hash));
        for set in hashes.iter().filter_map(set) {
            prefetch_lines(set);
        }
        for hash in &hashes {
            let Some(set) = set(hash) else {
                continue;
            };
            let set = set.lock();
            if let Some(kept) = set.ways.iter().flatten().find(|kept| kept.hash == *hash) {
                prefetch(&kept.row[0]);
            }
        }
    }

    /// Caches a row that a view of `generation` has read from the files, if the set has room or has
    /// missed the row before.
    pub(crate) fn put(&self, generation: u64, key: &RowKey<'_>, value: &[u8]) {
        let bytes = key.value_at() + value.len();
        if bytes > ROW_BYTES_MAX {
            return;
        }
        let hash = self.hash(key);
        let at = self.set(hash);
        let mut set = self.cache.set_to_write(at).lock();
        if set.room_for(bytes).is_none() && !set.was_missed(hash) {
            return;
        }
        let Some(row) = key.with_value(value) else {
            return;
        };
        // Order: first the table and the mark, then the generation. The flusher, which begins the
        // next generation, uses the opposite order. So either this thread sees the new generation,
        // or the flusher sees table and mark, and removes the row once it has the set's lock.
        self.tables
            .fetch_or(Tables::of(key.table).0, Ordering::SeqCst);
        self.cache.marks[at].fetch_or(mark(hash), Ordering::SeqCst);
        if self.generation.load(Ordering::SeqCst) != generation {
            return;
        }
        let since = generation;
        if let Some(known) = set.find(hash, self.space, key) {
            (known.since, known.row) = (since, row);
            return;
        }
        set.add(CachedRow {
            hash,
            space: self.space,
            used: false,
            since,
            row,
        });
        self.cache.marks[at].store(set.marks(), Ordering::SeqCst);
    }

    /// The generation that was begun last.
    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::SeqCst)
    }

    /// The same, for another cache of the space.
    pub(crate) fn shared_generation(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.generation)
    }

    /// Begins the next generation and returns its number. Before a view of it is published, the
    /// caller must call [`SpaceRows::remove`] for each changed row of the [`SpaceRows::tables`]
    /// read after this call, or [`SpaceRows::remove_all`].
    pub(crate) fn begin_generation(&self) -> u64 {
        self.generation.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// The tables of which rows may be cached. A table whose rows were never read from the files is
    /// not among them.
    pub(crate) fn tables(&self) -> Tables {
        Tables(self.tables.load(Ordering::SeqCst))
    }

    /// Removes a row that has changed.
    pub(crate) fn remove(&self, key: &RowKey<'_>) {
        let hash = self.hash(key);
        let at = self.set(hash);
        if self.cache.marks[at].load(Ordering::SeqCst) & mark(hash) == 0 {
            return;
        }
        let mut set = self.cache.set_to_write(at).lock();
        for way in &mut set.ways {
            // Removing another row with the same hash does no harm.
            if way.as_ref().is_some_and(|kept| kept.hash == hash) {
                *way = None;
            }
        }
        self.cache.marks[at].store(set.marks(), Ordering::SeqCst);
    }

    /// Invalidates all rows of the space that were read before the present generation.
    pub(crate) fn remove_all(&self) {
        let generation = self.generation.load(Ordering::Acquire);
        self.floor.store(generation, Ordering::Release);
    }

    fn hash(&self, key: &RowKey<'_>) -> u64 {
        xxh3_64_with_seed(key.clustering, key.hash ^ u64::from(self.space))
    }

    /// Returns the index of the set that a row belongs to.
    fn set(&self, hash: u64) -> usize {
        // The high bits choose the set evenly for any number of sets; the rest distinguishes rows.
        let sets = self.cache.marks.len() as u64;
        ((u128::from(hash) * u128::from(sets)) >> 64) as usize
    }
}

/// The bit of a row in the bitmap of its set.
fn mark(hash: u64) -> u32 {
    // The low bits, because the high bits are similar for all rows of a set.
    1 << (hash & 31)
}

impl Set {
    fn marks(&self) -> u32 {
        let rows = self.ways.iter().flatten();
        rows.fold(0, |marks, kept| marks | mark(kept.hash))
    }

    fn find(&mut self, hash: u64, space: u32, key: &RowKey<'_>) -> Option<&mut CachedRow> {
        let mut kept = self.ways.iter_mut().flatten();
        kept.find(|kept| kept.hash == hash && kept.space == space && key.is_of(&kept.row))
    }

    /// Returns whether a row with this hash was missed recently, and notes the miss.
    fn was_missed(&mut self, hash: u64) -> bool {
        let mark = (hash as u16).max(1);
        if self.ghosts.contains(&mark) {
            return true;
        }
        self.ghosts[usize::from(self.next_ghost)] = mark;
        self.next_ghost = (self.next_ghost + 1) % GHOSTS as u8;
        false
    }

    /// Returns a free way, if a row of this size fits in beside the others.
    fn room_for(&self, bytes: usize) -> Option<usize> {
        let others = self.ways.iter().flatten().map(|kept| kept.row.len());
        let free = self.ways.iter().position(Option::is_none)?;
        (others.sum::<usize>() + bytes <= SET_ROW_BYTES).then_some(free)
    }

    /// Adds a row. If need be, evicts rows that were not read since the clock hand passed them
    /// last.
    fn add(&mut self, kept: CachedRow) {
        loop {
            if let Some(free) = self.room_for(kept.row.len()) {
                self.ways[free] = Some(kept);
                return;
            }
            let way = &mut self.ways[usize::from(self.hand)];
            self.hand = (self.hand + 1) % WAYS as u8;
            match way {
                Some(kept) if kept.used => kept.used = false,
                way => *way = None,
            }
        }
    }
}

#[cfg(test)]
mod tests;
