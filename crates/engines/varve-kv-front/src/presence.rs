//! The presence filter: a Bloom filter in memory over the keys of all tiers.
//!
//! Every insert reads a row that does not exist yet. Without the filter, this read searches every
//! front table and then the filter of every sorted file, which takes about three microseconds in
//! all. With the filter, it costs one cache line. The filter has only the rows that their table
//! declares as [probed](varve_kv::TableSpec::probed).
//!
//! **Never a false "absent".** A key is added before its batch is published, and no key is ever
//! removed. Once enough reads of absent rows have reached the sorted files, a separate thread, the
//! learner, adds the keys that the sorted files already had when the space was opened. Until it has
//! finished, the filter never answers "absent".
//!
//! The learner reads in steps, each from the newest state of the files, so it pins no state for
//! long. A row that appears between two steps was added by its writer. A row that was deleted
//! between two steps may be missing in the filter, although older views have it. So views from
//! before the end of the learner's work never get the answer "absent".
//!
//! The filter is a split block Bloom filter (Putze, Sanders, Singler: Cache-, Hash- and
//! Space-Efficient Bloom Filters, 2007): one bit in each of the eight words of one cache line. It
//! grows by segments. Each is eight or sixteen times as large as the one before, or takes the
//! memory that is left. When no memory is left, the last segment continues to fill, and the filter
//! answers "absent" ever more rarely.

use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use parking_lot::{Condvar, Mutex};
use smallvec::{SmallVec, smallvec};
use varve_kv::{Absences, Flow, KvError, OpKind, TableId, TableSpec};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::arena::{self, Arena, At};
use crate::base::Base;
use crate::hash::partition_hash;
use crate::options::Budget;
use crate::table::Table;

/// Words of a block, which is one cache line.
const LANES: usize = 8;
const BLOCK_BYTES: usize = LANES * size_of::<u64>();
/// The smallest unit of memory that the operating system gives.
const PAGE_BYTES: usize = 4 << 10;
/// Bytes of the segments, in the order in which they are filled. There are few of them, since each
/// adds a cache miss and a chance of a false positive. Together they have 9.1 GiB, for 3 to 6
/// billion keys.
const SEGMENT_BYTES: [usize; 6] = [64 << 10, 1 << 20, 16 << 20, 128 << 20, 1 << 30, 8 << 30];
/// The last segment may be smaller than its regular size, but not below 1/`LEAST` of it.
const LEAST: usize = 16;
/// The last, largest segment leaves 1/`RESERVE` of the memory budget to other spaces.
const RESERVE: usize = 16;
/// Bits per key at which the next segment is begun. The rate of false positives is then 6 in
/// 100,000. The rate must be low, because a full segment keeps its false positives while a larger
/// one fills. The last segment has no next one, so it continues to fill. It is useful down to 12
/// bits per key, where its rate is 4 in 1,000.
const BITS_PER_KEY: usize = 24;
/// Bits per key in segments of up to [`SMALL_BYTES`], whose memory is cheap: 3 errors in a million.
const BITS_PER_KEY_SMALL: usize = 40;
const SMALL_BYTES: usize = 16 << 20;
/// Larger segments than [`SMALL_BYTES`] are allocated by a separate thread, since that can take a
/// second. It starts when all but 1/`AHEAD_PART` of the last segment's capacity is used. Until it
/// ends, keys go to the last segment.
const AHEAD_PART: usize = 16;
/// Keys whose cache lines are prefetched together.
const AT_ONCE: usize = 32;
/// Segments up to this size are in the processor's caches.
const NEAR_BYTES: usize = 1 << 20;
/// Failed look-ups in the sorted files after which the learner is started.
const LEARN_FROM: u64 = 1_000;
/// Rows count as "nearly all new" if at most one in `NEARLY_ALL` exists already or is a false
/// positive.
const NEARLY_ALL: u64 = 10;
/// Rows that the learner reads in one step.
const STEP_ROWS: usize = 10_000;

/// Keys that the learner adds before it releases the lock, so that a writer can add its own.
const ADDED_AT_ONCE: usize = 1_000;

/// What the filter can answer. Only a `Whole` filter answers "absent".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum FilterState {
    /// The sorted files have rows that the filter does not know.
    Partial = 0,
    Whole = 1,
    /// There was no memory for the filter.
    Off = 2,
}

/// The filter of one space.
#[derive(Debug)]
pub(crate) struct Presence {
    tables: &'static [TableSpec],
    /// Filled from the front; only the first ones exist.
    segments: [Arc<OnceLock<Segment>>; SEGMENT_BYTES.len()],
    /// The lock ensures that only one thread adds keys at a time.
    filling: Mutex<Filling>,
    keys: AtomicU64,
    bytes: AtomicUsize,
    state: AtomicU8,
    /// Views of this and all later generations have no row that the filter does not know. The field
    /// is written before `state`.
    from_generation: AtomicU64,
    budget: Arc<Budget>,
    misses: AtomicU64,
    /// The number of puts of new rows since the last [`Presence::take_new`].
    put_new: AtomicU64,
    /// The number of puts of existing rows and of deletes since then.
    put_again: AtomicU64,
    learner: Learner,
}

/// The segments in use.
#[derive(Debug, Default)]
struct Filling {
    /// The index of the segment that takes keys.
    takes: usize,
    /// The last segment that has got memory: `takes`, or the next one, which another thread may
    /// still be allocating.
    begun: Option<usize>,
}

/// The state that the learner thread waits on.
#[derive(Debug, Default)]
struct Learner {
    wanted: Mutex<bool>,
    changed: Condvar,
    stop: AtomicBool,
}

#[derive(Debug)]
struct Segment {
    _share: Arc<Share>,
    words: Box<[AtomicU64]>,
    /// The index of the first word that begins a cache line.
    first: usize,
    blocks: usize,
    keys: AtomicUsize,
}

/// The hash of a row, from that of its partition.
#[inline]
pub(crate) fn row_hash(partition_hash: u64, clustering: &[u8]) -> u64 {
    xxh3_64_with_seed(clustering, partition_hash)
}

/// A segment's share of the budget. The share is given back when the segment is dropped, even if
/// the filter is dropped while the segment is still being allocated.
#[derive(Debug)]
struct Share {
    budget: Arc<Budget>,
    bytes: usize,
}

impl Drop for Share {
    fn drop(&mut self) {
        self.budget.give_back(self.bytes);
    }
}

impl Segment {
    fn new(share: Arc<Share>) -> Self {
        let blocks = share.bytes / BLOCK_BYTES;
        // One extra block, so that the first block can be aligned to a cache line.
        let words = bytemuck::zeroed_slice_box::<AtomicU64>((blocks + 1) * LANES);
        // The system allocates a page at the first write to it. That write is done here, so that
        // writers do not wait for it.
        for word in words.iter().step_by(PAGE_BYTES / size_of::<u64>()) {
            word.store(0, Ordering::Relaxed);
        }
        let first = words.as_ptr().align_offset(BLOCK_BYTES).min(LANES);
        Self {
            _share: share,
            words,
            first,
            blocks,
            keys: AtomicUsize::new(0),
        }
    }

    fn bytes(&self) -> usize {
        self.blocks * BLOCK_BYTES
    }

    fn capacity(&self) -> usize {
        let bits_per_key = if self.bytes() <= SMALL_BYTES {
            BITS_PER_KEY_SMALL
        } else {
            BITS_PER_KEY
        };
        self.bytes() * 8 / bits_per_key
    }

    #[inline]
    fn block(&self, hash: u64) -> &[AtomicU64] {
        let number = ((hash >> 32) * self.blocks as u64) >> 32;
        let at = self.first + number as usize * LANES;
        &self.words[at..at + LANES]
    }

    #[inline]
    fn prefetch(&self, hash: u64) {
        arena::prefetch(&self.block(hash)[0]);
    }

    #[inline]
    fn has(&self, hash: u64) -> bool {
        let words = self.block(hash).iter().zip(bits(hash));
        let missing = words.fold(0, |missing, (word, bit)| {
            missing | (!word.load(Ordering::Relaxed) & bit)
        });
        missing == 0
    }

    /// Only one thread at a time may call this.
    fn add(&self, hash: u64) {
        for (word, bit) in self.block(hash).iter().zip(bits(hash)) {
            word.store(word.load(Ordering::Relaxed) | bit, Ordering::Relaxed);
        }
        self.keys.fetch_add(1, Ordering::Relaxed);
    }
}

/// Returns the bit in each word of a block.
#[inline]
fn bits(hash: u64) -> impl Iterator<Item = u64> {
    // The upper half of the hash chooses the block. This mixes both halves into the upper 48 bits.
    let mixed = (hash ^ (hash >> 29)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (0..LANES).map(move |lane| 1 << ((mixed >> (16 + 6 * lane)) & 63))
}

impl Presence {
    /// Creates the filter of a space with the sorted files `base`. It contains the rows of
    /// `replayed`, the replayed log.
    pub(crate) fn new(
        tables: &'static [TableSpec],
        base: &dyn Base,
        replayed: &Table,
        budget: Arc<Budget>,
    ) -> Self {
        let partly = tables.iter().enumerate().any(|(number, table)| {
            table.probed.is_some() && base.may_hold(crate::space::table_id(number))
        });
        let state = if partly {
            FilterState::Partial
        } else {
            FilterState::Whole
        };
        let presence = Self {
            tables,
            segments: Default::default(),
            filling: Mutex::default(),
            keys: AtomicU64::new(0),
            bytes: AtomicUsize::new(0),
            state: AtomicU8::new(state as u8),
            from_generation: AtomicU64::new(0),
            budget,
            misses: AtomicU64::new(0),
            put_new: AtomicU64::new(0),
            put_again: AtomicU64::new(0),
            learner: Learner::default(),
        };
        for block in 0..replayed.arena.blocks() {
            let ops = replayed.arena.ops(block);
            presence.add_all(
                ops.filter(|(_, op)| op.kind == OpKind::Put)
                    .filter_map(|(_, op)| {
                        let hash = || partition_hash(op.table, op.partition());
                        presence.hash_of(op.table, hash, op.clustering())
                    }),
            );
        }
        presence
    }

    fn is(&self, state: FilterState) -> bool {
        self.state.load(Ordering::Acquire) == state as u8
    }

    fn probed(&self, table: TableId, clustering: &[u8]) -> bool {
        self.tables[usize::from(table.0)]
            .probed
            .is_some_and(|probed| probed(clustering))
    }

    fn hash_of(
        &self,
        table: TableId,
        partition_hash: impl FnOnce() -> u64,
        clustering: &[u8],
    ) -> Option<u64> {
        self.probed(table, clustering)
            .then(|| row_hash(partition_hash(), clustering))
    }

    /// Returns whether a row is known to be absent from all tiers of a view of `generation`. `hash`
    /// is that of the row's partition.
    #[inline]
    pub(crate) fn lacks(
        &self,
        generation: u64,
        table: TableId,
        hash: u64,
        clustering: &[u8],
    ) -> bool {
        self.is(FilterState::Whole)
            && generation >= self.from_generation.load(Ordering::Relaxed)
            && self.probed(table, clustering)
            && !self.has(row_hash(hash, clustering))
    }

    /// [`Presence::lacks`] for each of `rows`; without a generation, for the newest view.
    pub(crate) fn lacks_each(
        &self,
        rows: &[(TableId, &[u8], &[u8])],
        generation: Option<u64>,
    ) -> Absences {
        let known = |generation| generation >= self.from_generation.load(Ordering::Relaxed);
        if !self.is(FilterState::Whole) || !generation.is_none_or(known) {
            return smallvec![false; rows.len()];
        }
        let hash = |(table, partition, clustering): &(TableId, &[u8], &[u8])| {
            self.hash_of(*table, || partition_hash(*table, partition), clustering)
        };
        let mut lacking = Absences::with_capacity(rows.len());
        for part in rows.chunks(AT_ONCE) {
            let hashes: SmallVec<[Option<u64>; AT_ONCE]> = part.iter().map(hash).collect();
            self.prefetch(hashes.iter().flatten());
            let lacks = |hash: &Option<u64>| hash.is_some_and(|hash| !self.has(hash));
            lacking.extend(hashes.iter().map(lacks));
        }
        lacking
    }

    /// Prefetches the cache lines of many keys, so that their cache misses overlap.
    fn prefetch<'h>(&self, hashes: impl Iterator<Item = &'h u64> + Clone) {
        for segment in self.segments.iter().map_while(|segment| segment.get()) {
            // Smaller segments are in the processor's caches.
            if segment.bytes() > NEAR_BYTES {
                hashes.clone().for_each(|hash| segment.prefetch(*hash));
            }
        }
    }

    fn has(&self, hash: u64) -> bool {
        let segments = self.segments.iter().map_while(|segment| segment.get());
        segments.into_iter().any(|segment| segment.has(hash))
    }

    /// Adds the rows that a batch puts. `hashed` has its operations with the hashes of their
    /// partitions.
    pub(crate) fn add_batch(&self, arena: &Arena, hashed: &[(u64, At)]) {
        if self.is(FilterState::Off) {
            return;
        }
        self.add_all(hashed.iter().filter_map(|(hash, at)| {
            let op = arena.op(*at);
            if op.kind != OpKind::Put {
                self.put_again.fetch_add(1, Ordering::Relaxed);
                return None;
            }
            self.hash_of(op.table, || *hash, op.clustering())
        }));
    }

    fn add_all(&self, hashes: impl Iterator<Item = u64>) {
        let mut hashes = hashes.peekable();
        if hashes.peek().is_none() {
            return;
        }
        let mut filling = self.filling.lock();
        let (mut added, mut again) = (0, 0);
        let mut part: SmallVec<[u64; AT_ONCE]> = SmallVec::new();
        while hashes.peek().is_some() && !self.is(FilterState::Off) {
            part.clear();
            part.extend(hashes.by_ref().take(AT_ONCE));
            self.prefetch(part.iter());
            for hash in &part {
                if self.has(*hash) {
                    again += 1;
                    continue;
                }
                added += 1;
                if let Some(segment) = self.room(&mut filling) {
                    segment.add(*hash);
                }
            }
        }
        self.keys.fetch_add(added, Ordering::Relaxed);
        self.put_new.fetch_add(added, Ordering::Relaxed);
        self.put_again.fetch_add(again, Ordering::Relaxed);
    }

    /// Returns the segment for the next key, and begins the next segment in time.
    fn room(&self, filling: &mut Filling) -> Option<&Segment> {
        let Some(segment) = self.segments[filling.takes].get() else {
            self.begin(filling, 0);
            let first = self.segments[0].get();
            if first.is_none() {
                self.state.store(FilterState::Off as u8, Ordering::Release);
            }
            return first;
        };
        let (keys, capacity) = (segment.keys.load(Ordering::Relaxed), segment.capacity());
        let next = filling.takes + 1;
        if keys < capacity - capacity / AHEAD_PART || next == SEGMENT_BYTES.len() {
            return Some(segment);
        }
        if filling.begun < Some(next) && (keys >= capacity || SEGMENT_BYTES[next] > SMALL_BYTES) {
            self.begin(filling, next);
        }
        match self.segments[next].get() {
            Some(empty) if keys >= capacity => {
                filling.takes = next;
                Some(empty)
            }
            _ => Some(segment),
        }
    }

    /// Begins a segment, if the budget has memory for it.
    fn begin(&self, filling: &mut Filling, number: usize) {
        let Some(bytes) = self.take(number) else {
            return;
        };
        filling.begun = Some(number);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        let slot = Arc::clone(&self.segments[number]);
        let share = Arc::new(Share {
            budget: Arc::clone(&self.budget),
            bytes,
        });
        let make = move || {
            slot.get_or_init(|| Segment::new(Arc::clone(&share)));
        };
        if bytes <= SMALL_BYTES {
            return make();
        }
        let thread = std::thread::Builder::new().name("varve-known-rows".to_owned());
        if thread.spawn(make.clone()).is_err() {
            make();
        }
    }

    /// Takes memory for a segment from the budget. Returns its size in bytes.
    fn take(&self, number: usize) -> Option<usize> {
        let wanted = SEGMENT_BYTES[number];
        let next_least = SEGMENT_BYTES.get(number + 1).map_or(0, |next| next / LEAST);
        self.budget.try_take(|left| {
            // All that is left, except the reserve for other spaces.
            let rest = left.saturating_sub(self.budget.limit() / RESERVE);
            if wanted <= left {
                // The rest would be too small for a further segment, so this one takes it.
                let whole = number > 0 && left - wanted < next_least;
                return Some(if whole { rest.max(wanted) } else { wanted });
            }
            (number > 0 && rest >= wanted / LEAST).then_some(rest)
        })
    }

    /// Notes that a row was not found in the sorted files.
    pub(crate) fn missed(&self, table: TableId, clustering: &[u8]) {
        if !self.is(FilterState::Partial) || !self.probed(table, clustering) {
            return;
        }
        if self.misses.fetch_add(1, Ordering::Relaxed) + 1 == LEARN_FROM {
            *self.learner.wanted.lock() = true;
        }
    }

    /// Whether [`Presence::learn`] should run: enough reads of absent rows have reached the files.
    pub(crate) fn wants_to_learn(&self) -> bool {
        self.is(FilterState::Partial) && *self.learner.wanted.lock()
    }

    /// Ends a running [`Presence::learn`].
    pub(crate) fn stop(&self) {
        self.learner.stop.store(true, Ordering::Release);
        drop(self.learner.wanted.lock());
        self.learner.changed.notify_all();
    }

    fn stopped(&self) -> bool {
        self.learner.stop.load(Ordering::Acquire)
    }

    /// Adds the keys of the sorted files, and then lets the filter answer. `generation` returns the
    /// generation of the newest view, or of a view that is about to be published. If a read fails,
    /// its error is returned, and the filter still does not answer.
    pub(crate) fn learn(
        &self,
        base: &dyn Base,
        generation: impl Fn() -> u64,
    ) -> Result<(), KvError> {
        for (number, table) in self.tables.iter().enumerate() {
            if table.probed.is_some() {
                self.learn_table(base, crate::space::table_id(number))?;
            }
        }
        if !self.stopped() {
            // Excludes the present generation, too: the base may already have the files of the next
            // view, which is not published yet.
            self.from_generation
                .store(generation() + 1, Ordering::Relaxed);
            let _ = self.state.compare_exchange(
                FilterState::Partial as u8,
                FilterState::Whole as u8,
                Ordering::AcqRel,
                Ordering::Acquire,
            );
        }
        Ok(())
    }

    fn learn_table(&self, base: &dyn Base, table: TableId) -> Result<(), KvError> {
        let mut last: Option<(Vec<u8>, Vec<u8>)> = None;
        let mut hashes = Vec::with_capacity(STEP_ROWS);
        loop {
            let started = Instant::now();
            let after = last.take();
            let after = after.as_ref().map(|(p, c)| (p.as_slice(), c.as_slice()));
            let mut rows = 0;
            base.scan_table(table, after, &mut |row| {
                let hash = || partition_hash(table, row.partition);
                hashes.extend(self.hash_of(table, hash, row.clustering));
                rows += 1;
                if rows < STEP_ROWS {
                    return Flow::Continue(());
                }
                last = Some((row.partition.to_vec(), row.clustering.to_vec()));
                Flow::Break(())
            })?;
            for part in hashes.chunks(ADDED_AT_ONCE) {
                self.add_all(part.iter().copied());
            }
            hashes.clear();
            if last.is_none() || self.stopped() || self.is(FilterState::Off) {
                return Ok(());
            }
            // Pauses for as long as the step took, so that others get half of the time.
            let mut wanted = self.learner.wanted.lock();
            if !self.stopped() {
                self.learner
                    .changed
                    .wait_for(&mut wanted, started.elapsed());
            }
        }
    }

    /// Returns whether nearly all rows that were written since the last call are known to be new.
    pub(crate) fn take_new(&self) -> bool {
        let new = self.put_new.swap(0, Ordering::Relaxed);
        let again = self.put_again.swap(0, Ordering::Relaxed);
        self.is(FilterState::Whole) && again * NEARLY_ALL <= new
    }

    /// The approximate number of keys that were added.
    pub(crate) fn keys(&self) -> u64 {
        self.keys.load(Ordering::Relaxed)
    }

    /// The memory of the filter, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Whether the filter can answer "absent".
    pub(crate) fn is_whole(&self) -> bool {
        self.is(FilterState::Whole)
    }
}

#[cfg(test)]
mod tests;
