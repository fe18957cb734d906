//! A cache of single rows of the sorted files.
//!
//! A read of one row from sorted files walks an index, a filter and a block: some three
//! microseconds when all of them are in memory. A row that was read lately is found here by one
//! hash. Blocks stay what scans are served from.
//!
//! **Never a stale row.** The rows of the files change when a frozen table is taken in and at no
//! other time. That makes a new *generation* of the space, which every view names. A row carries
//! the generation it was read in and is shown to views of that generation and later ones. When a
//! table is taken in, the flusher first begins the next generation, from when on rows read by older
//! views are not kept any more; then it removes the rows that the table has; and only then
//! publishes the view. So a row that is here has not changed since the generation it was read in. A
//! prefix delete may remove any row, so it ends all rows of its space.
//!
//! **Seldom read rows push nothing out.** Where there is no room, a row is kept when it is read for
//! the second time within the last few misses of its set: so reading much once leaves what is read
//! often alone.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use varve_kv::TableId;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Rows of one set.
const WAYS: usize = 4;
/// Bytes that the rows of one set may take together, with their keys.
const SET_ROW_BYTES: usize = 1024;
/// Longer rows are not kept.
const ROW_BYTES_MAX: usize = SET_ROW_BYTES / 2;
/// Sets that are made together, when one of them is first written to: an idle server has none.
const CHUNK_SETS: usize = 1024;
/// Misses of a set that are remembered.
const GHOSTS: usize = 8;
/// Bytes of a row before its key: table, length of the partition key, length of the clustering key.
const HEAD: usize = 5;

/// The rows of all spaces of an engine.
#[derive(Debug)]
pub struct RowCache {
    chunks: Box<[OnceLock<Chunk>]>,
    /// For each set, a bit for each of its rows: most rows that are flushed are not here, and that
    /// is seen without a look at the set. Written under the set's lock only.
    marks: Box<[AtomicU32]>,
    spaces: AtomicU32,
}

/// Sets that stand side by side.
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
    /// The generation in which it was read.
    since: u64,
    /// Head, key and value.
    row: Arc<[u8]>,
}

/// The rows of one space.
#[derive(Debug)]
pub(crate) struct SpaceRows {
    cache: Arc<RowCache>,
    space: u32,
    generation: AtomicU64,
    /// Rows of generations before this one are not shown.
    floor: AtomicU64,
    /// The tables of which rows may have been kept, since the space was opened.
    tables: AtomicU64,
}

/// Some tables. Two whose numbers are 64 apart are not distinguished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tables(u64);

impl Tables {
    fn of(table: TableId) -> Self {
        Self(1 << (table.0 % 64))
    }

    pub(crate) fn has(self, table: TableId) -> bool {
        self.0 & Self::of(table).0 != 0
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// What a row is looked up by.
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
    /// A cache of about so many bytes.
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

    /// A set, unless nothing was ever written to its chunk.
    fn set(&self, at: usize) -> Option<&Mutex<Set>> {
        let chunk = self.chunks[at / CHUNK_SETS].get()?;
        Some(&chunk[at % CHUNK_SETS])
    }

    fn set_to_write(&self, at: usize) -> &Mutex<Set> {
        let make = || (0..CHUNK_SETS).map(|_| Mutex::default()).collect();
        let chunk = self.chunks[at / CHUNK_SETS].get_or_init(make);
        &chunk[at % CHUNK_SETS]
    }

    /// The place for the rows of one more space.
    pub(crate) fn space(self: Arc<Self>) -> SpaceRows {
        SpaceRows {
            space: self.spaces.fetch_add(1, Ordering::Relaxed),
            cache: self,
            generation: AtomicU64::new(0),
            floor: AtomicU64::new(0),
            tables: AtomicU64::new(0),
        }
    }
}

impl SpaceRows {
    /// The row, if it is kept and a view of `generation` may see it.
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

    /// Keeps a row that a view of `generation` has read from the files, if there is room or it was
    /// missed before.
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
        // First the table and the mark, then the generation; whoever begins the next one does it
        // the other way round. So either this sees the new generation, or the other sees table and
        // mark, and removes the row once it has the set's lock.
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

    /// Begins the next generation. Until a view of it is published, [`SpaceRows::remove`] must be
    /// called for each row of [`SpaceRows::tables`], as they are then, that changes with it, or
    /// [`SpaceRows::remove_all`].
    pub(crate) fn begin_generation(&self) -> u64 {
        self.generation.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// The tables of which rows may be kept. What is written only, and never read from the files,
    /// is not among them.
    pub(crate) fn tables(&self) -> Tables {
        Tables(self.tables.load(Ordering::SeqCst))
    }

    /// Removes a row that changes.
    pub(crate) fn remove(&self, key: &RowKey<'_>) {
        let hash = self.hash(key);
        let at = self.set(hash);
        if self.cache.marks[at].load(Ordering::SeqCst) & mark(hash) == 0 {
            return;
        }
        let mut set = self.cache.set_to_write(at).lock();
        for way in &mut set.ways {
            // Another row of the same hash is no loss.
            if way.as_ref().is_some_and(|kept| kept.hash == hash) {
                *way = None;
            }
        }
        self.cache.marks[at].store(set.marks(), Ordering::SeqCst);
    }

    /// Ends all rows of the space that were read before the present generation.
    pub(crate) fn remove_all(&self) {
        let generation = self.generation.load(Ordering::Acquire);
        self.floor.store(generation, Ordering::Release);
    }

    fn hash(&self, key: &RowKey<'_>) -> u64 {
        xxh3_64_with_seed(key.clustering, key.hash ^ u64::from(self.space))
    }

    /// The number of the set that a row belongs to.
    fn set(&self, hash: u64) -> usize {
        // The high half chooses the set evenly whatever their number; the rest distinguishes rows.
        let sets = self.cache.marks.len() as u64;
        ((u128::from(hash) * u128::from(sets)) >> 64) as usize
    }
}

/// The bit of a row in the marks of its set.
fn mark(hash: u64) -> u32 {
    // Not of the high half, which all rows of a set share.
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

    /// Whether a row of this hash was missed lately; remembers that it is now.
    fn was_missed(&mut self, hash: u64) -> bool {
        let mark = (hash as u16).max(1);
        if self.ghosts.contains(&mark) {
            return true;
        }
        self.ghosts[usize::from(self.next_ghost)] = mark;
        self.next_ghost = (self.next_ghost + 1) % GHOSTS as u8;
        false
    }

    /// A free place, if a row of so many bytes fits in beside the others.
    fn room_for(&self, bytes: usize) -> Option<usize> {
        let others = self.ways.iter().flatten().map(|kept| kept.row.len());
        let free = self.ways.iter().position(Option::is_none)?;
        (others.sum::<usize>() + bytes <= SET_ROW_BYTES).then_some(free)
    }

    /// Adds a row, if need be in the place of others that were not read since the hand came by the
    /// last time.
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
