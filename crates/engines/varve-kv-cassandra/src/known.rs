//! The presence filter: a Bloom filter in memory over the keys of a space that only this process
//! writes.
//!
//! Every insert reads a row that does not exist yet, and that read costs the cluster as much as the
//! write. The filter has only the rows that their table declares as
//! [probed](varve_kv::TableSpec::probed). **Never a false "absent":** a key is added before any
//! request of its batch is sent, and no key is ever removed.
//!
//! The filter answers only when it has all keys. It has them from the start if the probed tables
//! had no row when the space was opened, after the log was carried out. Otherwise it has them once
//! the existing keys were read ([`crate::learn`]), which the first insert starts. All later rows
//! are written by this process, as long as it has the lease.
//!
//! It is a split block Bloom filter (Putze, Sanders, Singler: Cache-, Hash- and Space-Efficient
//! Bloom Filters, 2007): one bit in each of the eight words of one cache line. It grows by
//! segments. The last one continues to fill, and the filter answers "absent" ever more rarely.
//!
//! All filters of an engine share one memory budget. A filter that cannot get memory for a segment
//! gives up: it frees its memory, and the space works without it. A filter that is too small would
//! become less useful with each key.

use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::{Mutex, RwLock};
use scylla::response::PagingState;
use tokio::sync::Notify;
use varve_kv::{OpKind, RawOp, TableId, TableSpec};
use xxhash_rust::xxh3::Xxh3;

use crate::cluster::Cluster;
use crate::failure::Failure;
use crate::statements::{BEFORE_ALL_TOKENS, Cell, Store};

/// Words of a block.
const LANES: usize = 8;
/// Blocks of the segments: 64 KiB, 1 MiB, 16 MiB and 256 MiB, together for about 180 million rows.
const SEGMENT_BLOCKS: [usize; 4] = [1 << 10, 1 << 14, 1 << 18, 1 << 22];
/// Bits per key at which the next segment is begun. The rate of false positives is then 4 in 1,000.
const BITS_PER_KEY: usize = 12;
/// The longest check whether a space has rows.
const LOOK_TIME_MAX: Duration = Duration::from_secs(3);

/// A cache line.
#[derive(Debug)]
#[repr(align(64))]
struct Block([AtomicU64; LANES]);

/// The memory budget of all filters of an engine.
#[derive(Debug)]
pub(crate) struct KnownMemory {
    bytes_left: AtomicUsize,
}

impl KnownMemory {
    /// Creates a budget of `bytes_max` bytes.
    pub(crate) fn new(bytes_max: usize) -> Arc<Self> {
        Arc::new(Self {
            bytes_left: AtomicUsize::new(bytes_max),
        })
    }

    /// Takes bytes from the budget; `None` if fewer are left.
    fn take(self: &Arc<Self>, bytes: usize) -> Option<Taken> {
        let less = |left: usize| left.checked_sub(bytes);
        let taken = self
            .bytes_left
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, less);
        taken.ok().map(|_| Taken {
            memory: Arc::clone(self),
            bytes,
        })
    }
}

/// A share of the budget, returned when it is dropped.
#[derive(Debug)]
struct Taken {
    memory: Arc<KnownMemory>,
    bytes: usize,
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.memory
            .bytes_left
            .fetch_add(self.bytes, Ordering::AcqRel);
    }
}

#[derive(Debug)]
struct Segment {
    blocks: Box<[Block]>,
    keys: AtomicU64,
    /// Declared after the blocks, so that it is returned when they are freed.
    _taken: Taken,
}

impl Segment {
    /// Returns `None` if the budget does not suffice.
    fn new(blocks: usize, memory: &Arc<KnownMemory>) -> Option<Self> {
        let taken = memory.take(blocks * size_of::<Block>())?;
        let empty = || Block(std::array::from_fn(|_| AtomicU64::new(0)));
        Some(Self {
            blocks: (0..blocks).map(|_| empty()).collect(),
            keys: AtomicU64::new(0),
            _taken: taken,
        })
    }

    fn is_full(&self) -> bool {
        let bits = self.blocks.len() * size_of::<Block>() * 8;
        self.keys.load(Ordering::Relaxed) >= (bits / BITS_PER_KEY) as u64
    }

    fn block(&self, hash: u64) -> &Block {
        let number = ((hash >> 32) * self.blocks.len() as u64) >> 32;
        &self.blocks[number as usize]
    }

    fn has(&self, hash: u64) -> bool {
        let words = self.block(hash).0.iter().zip(bits(hash));
        let missing = words.fold(0, |missing, (word, bit)| {
            missing | (!word.load(Ordering::Relaxed) & bit)
        });
        missing == 0
    }

    fn add(&self, hash: u64) {
        for (word, bit) in self.block(hash).0.iter().zip(bits(hash)) {
            word.fetch_or(bit, Ordering::Relaxed);
        }
        self.keys.fetch_add(1, Ordering::Relaxed);
    }
}

/// Returns the bit in each word of a block.
fn bits(hash: u64) -> impl Iterator<Item = u64> {
    // The block is chosen by the upper half; this mixes both halves into the upper 48 bits.
    let mixed = (hash ^ (hash >> 29)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (0..LANES).map(move |lane| 1 << ((mixed >> (16 + 6 * lane)) & 63))
}

/// Returns whether the probed tables of a space are known to have no row. The lease is not renewed
/// during the check, and many tombstones may precede the first row. So the check has a timeout,
/// after which the result is false.
pub(crate) async fn is_empty(cluster: &Cluster, store: &Store, specs: &[TableSpec]) -> bool {
    let looked = tokio::time::timeout(LOOK_TIME_MAX, lacks_rows(cluster, store, specs)).await;
    matches!(looked, Ok(Ok(true)))
}

async fn lacks_rows(
    cluster: &Cluster,
    store: &Store,
    specs: &[TableSpec],
) -> Result<bool, Failure> {
    let probed = store.iter().zip(specs);
    for (table, _) in probed.filter(|(_, spec)| spec.probed.is_some()) {
        let values = vec![Cell::Number(BEFORE_ALL_TOKENS), Cell::Number(i64::MAX)];
        let start = PagingState::start();
        let page = cluster.page(&table.of_tokens.first, values, start).await?;
        if page.rows.rows_num() > 0 || page.next.is_some() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The keys that a filter has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Has {
    /// None: the space had rows, and none was inserted since.
    Nothing,
    /// The keys put since the first insert, and some of the earlier ones.
    Some,
    All,
    /// No more keys are added, and the filter never answers.
    GivenUp,
}

/// The presence filter of a space.
#[derive(Debug)]
pub(crate) struct Known {
    space: Arc<str>,
    specs: &'static [TableSpec],
    memory: Arc<KnownMemory>,
    /// A [`Has`], which only increases; it is at least [`Has::Some`] before a row is put.
    has: AtomicU8,
    /// Notified when the existing rows should be read.
    pub(crate) wanted: Arc<Notify>,
    /// Replaced only when the filter gives up.
    segments: RwLock<Segments>,
    /// Held while a segment is allocated, so that only one thread does it.
    making: Mutex<()>,
}

/// Allocated as they are needed.
type Segments = [OnceLock<Segment>; SEGMENT_BLOCKS.len()];

impl Known {
    /// Creates a filter; `empty` if the probed tables have no row.
    pub(crate) fn new(
        space: &str,
        specs: &'static [TableSpec],
        empty: bool,
        memory: &Arc<KnownMemory>,
    ) -> Self {
        let has = if empty { Has::All } else { Has::Nothing };
        Self {
            space: space.into(),
            specs,
            memory: Arc::clone(memory),
            has: AtomicU8::new(has as u8),
            wanted: Arc::default(),
            segments: RwLock::default(),
            making: Mutex::default(),
        }
    }

    fn raise(&self, to: Has) {
        self.has.fetch_max(to as u8, Ordering::AcqRel);
    }

    /// Whether the filter has the keys of all rows.
    pub(crate) fn is_whole(&self) -> bool {
        self.has.load(Ordering::Acquire) == Has::All as u8
    }

    /// Notes that the keys of all existing rows were added.
    pub(crate) fn learnt(&self) {
        self.raise(Has::All);
    }

    /// Gives up, since the existing keys cannot be read, and frees the memory.
    pub(crate) fn give_up(&self) {
        // Set before the segments are replaced, so that no key missing in the new ones counts as
        // absent.
        self.raise(Has::GivenUp);
        *self.segments.write() = Segments::default();
    }

    /// Whether the filter has given up, so that reading keys is of no use.
    pub(crate) fn has_given_up(&self) -> bool {
        self.has.load(Ordering::Acquire) == Has::GivenUp as u8
    }

    /// Whether the filter has many false positives.
    pub(crate) fn is_full(&self) -> bool {
        let segments = self.segments.read();
        let last = segments.last().and_then(OnceLock::get);
        last.is_some_and(Segment::is_full)
    }

    fn hash(&self, table: TableId, partition: &[u8], clustering: &[u8]) -> Option<u64> {
        let probed = self.specs[usize::from(table.0)].probed?;
        if !probed(clustering) {
            return None;
        }
        // No partition key is a prefix of another, so no separator is needed.
        let mut hash = Xxh3::with_seed(u64::from(table.0));
        hash.update(partition);
        hash.update(clustering);
        Some(hash.digest())
    }

    /// Whether a row is known to be absent.
    pub(crate) fn lacks(&self, table: TableId, partition: &[u8], clustering: &[u8]) -> bool {
        // While this lock is held, the segments cannot be replaced.
        let segments = self.segments.read();
        self.is_whole()
            && self
                .hash(table, partition, clustering)
                .is_some_and(|hash| !has(&segments, hash))
    }

    /// Adds the rows that a batch puts, before any of its requests is sent. `batch` has the layout
    /// of [`varve_kv::batch`].
    pub(crate) fn add(&self, batch: &[u8]) {
        let mut at = 0;
        while let Some(op) = RawOp::read(batch, at) {
            at = op.end;
            if op.kind == OpKind::Put {
                self.add_row(op.table, op.partition(), op.clustering());
            }
        }
    }

    /// Adds a row that exists or is about to be written.
    pub(crate) fn add_row(&self, table: TableId, partition: &[u8], clustering: &[u8]) {
        let Some(hash) = self.hash(table, partition, clustering) else {
            return;
        };
        let segments = self.segments.read();
        let had = self.has.load(Ordering::Acquire);
        if had == Has::GivenUp as u8 {
            return;
        }
        if had == Has::Nothing as u8 {
            self.raise(Has::Some);
            self.wanted.notify_one();
        }
        if has(&segments, hash) {
            return;
        }
        if let Some(segment) = self.room(&segments) {
            return segment.add(hash);
        }
        drop(segments);
        tracing::warn!(space = %self.space, "no memory is left for row keys: each insert reads whether its rows exist");
        self.give_up();
    }

    /// Returns the segment for the next key: the first that is not full, or the last. `None` if
    /// there is no memory for it.
    fn room<'a>(&self, segments: &'a Segments) -> Option<&'a Segment> {
        let is_open = |segment: &&Segment| !segment.is_full();
        let last = segments.last().and_then(OnceLock::get);
        let mut made = segments.iter().map_while(OnceLock::get);
        if let Some(segment) = made.find(is_open).or(last) {
            return Some(segment);
        }
        let _making = self.making.lock();
        for (place, blocks) in segments.iter().zip(SEGMENT_BLOCKS) {
            let segment = match place.get() {
                Some(segment) => segment,
                None => {
                    let segment = Segment::new(blocks, &self.memory)?;
                    place.get_or_init(|| segment)
                }
            };
            if is_open(&segment) {
                return Some(segment);
            }
        }
        segments.last().and_then(OnceLock::get)
    }

    /// The number of keys in the filter.
    pub(crate) fn rows(&self) -> u64 {
        let segments = self.segments.read();
        let segments = segments.iter().map_while(OnceLock::get);
        segments
            .map(|segment| segment.keys.load(Ordering::Relaxed))
            .sum()
    }

    /// The memory in use, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let segments = self.segments.read();
        let segments = segments.iter().map_while(OnceLock::get);
        segments.map(|segment| size_of_val(&*segment.blocks)).sum()
    }
}

fn has(segments: &Segments, hash: u64) -> bool {
    let mut made = segments.iter().map_while(OnceLock::get);
    made.any(|segment| segment.has(hash))
}

#[cfg(test)]
mod tests {
    use super::*;
    use varve_kv::Batch;
    use varve_kv::table::always;

    const fn spec(probed: Option<fn(&[u8]) -> bool>) -> TableSpec {
        TableSpec {
            name: "t",
            partition_len: |_| Some(4),
            point_reads: true,
            probed,
            cold: false,
            summarize: None,
        }
    }

    static TABLES: &[TableSpec] = &[
        spec(Some(always)),
        spec(Some(|clustering| clustering == b"a")),
        spec(None),
    ];
    const ALL: TableId = TableId(0);
    const SOME: TableId = TableId(1);
    const NONE: TableId = TableId(2);

    /// A filter of a new space, with memory for every segment.
    fn with_room(empty: bool) -> Known {
        Known::new("s", TABLES, empty, &KnownMemory::new(1 << 30))
    }

    fn batch(rows: impl Iterator<Item = u32>) -> Batch {
        let mut batch = Batch::new();
        for row in rows {
            batch.put(ALL, &row.to_be_bytes(), b"c", b"v");
        }
        batch
    }

    #[test]
    fn what_was_put_is_never_absent_and_little_else_is_taken_for_present() {
        let known = with_room(true);
        assert!(known.lacks(ALL, &[0; 4], b"c"), "nothing was put");
        // Fills up to the third segment.
        for part in 0..6 {
            known.add(batch(part * 150_000..(part + 1) * 150_000).bytes());
        }
        assert!((0..900_000_u32).all(|row| !known.lacks(ALL, &row.to_be_bytes(), b"c")));
        let others = 1_000_000..1_100_000_u32;
        let wrong = others.filter(|row| !known.lacks(ALL, &row.to_be_bytes(), b"c"));
        assert!(wrong.count() < 1_500);
        assert!((890_000..=900_000).contains(&known.rows()));
        assert_eq!(known.bytes(), (64 << 10) + (1 << 20) + (16 << 20));
    }

    #[test]
    fn only_what_is_probed_and_put_is_kept() {
        let known = with_room(true);
        let mut batch = Batch::new();
        batch.put(SOME, &[1; 4], b"a", b"v");
        batch.put(SOME, &[1; 4], b"b", b"v");
        batch.put(NONE, &[1; 4], b"a", b"v");
        batch.delete(ALL, &[2; 4], b"c");
        known.add(batch.bytes());
        assert_eq!(known.rows(), 1);
        assert!(!known.lacks(SOME, &[1; 4], b"a"));
        assert!(known.lacks(SOME, &[2; 4], b"a"));
        assert!(
            !known.lacks(SOME, &[2; 4], b"b"),
            "of that nothing is known"
        );
        assert!(
            !known.lacks(NONE, &[2; 4], b"a"),
            "of that nothing is known"
        );
        assert!(known.lacks(ALL, &[1; 4], b"a"), "another table's row");
    }

    #[test]
    fn of_a_space_that_had_rows_nothing_is_said_before_they_are_learnt() {
        let known = with_room(false);
        let lacks = |row: u32| known.lacks(ALL, &row.to_be_bytes(), b"c");
        assert_eq!(known.bytes(), 0);
        known.add(batch(0..10).bytes());
        assert!(!lacks(99), "it may be one of before");
        known.add_row(ALL, &50_u32.to_be_bytes(), b"c");
        known.learnt();
        assert!(lacks(99) && !lacks(50));
        assert!((0..10).all(|row| !lacks(row)));
        let known = with_room(false);
        known.add(batch(0..10).bytes());
        assert!(known.bytes() > 0);
        known.give_up();
        known.learnt();
        known.add(batch(0..10).bytes());
        assert!(!known.lacks(ALL, &99_u32.to_be_bytes(), b"c"));
        assert_eq!(known.bytes(), 0, "what is of no use is not kept");
    }

    fn left(memory: &KnownMemory) -> usize {
        memory.bytes_left.load(Ordering::Relaxed)
    }

    #[test]
    fn who_finds_no_room_gives_up_and_leaves_it_to_others() {
        const FIRST: usize = 64 << 10;
        let memory = KnownMemory::new(2 * FIRST);
        let [large, small, other] =
            ["large", "small", "other"].map(|name| Known::new(name, TABLES, true, &memory));
        large.add(batch(0..10).bytes());
        small.add(batch(0..10).bytes());
        assert_eq!(left(&memory), 0);
        other.add(batch(0..10).bytes());
        assert!(other.has_given_up() && !other.lacks(ALL, &[9; 4], b"c"));
        assert!(large.lacks(ALL, &[9; 4], b"c"), "it keeps what it has");
        // The next segment is larger than the whole budget.
        large.add(batch(10..50_000).bytes());
        assert!(large.has_given_up() && !large.lacks(ALL, &[9; 4], b"c"));
        assert_eq!((large.bytes(), large.rows()), (0, 0));
        assert_eq!(left(&memory), FIRST);
        assert!(small.lacks(ALL, &[9; 4], b"c") && !small.lacks(ALL, &[0; 4], b"c"));
        drop(small);
        assert_eq!(left(&memory), 2 * FIRST, "who is closed keeps nothing");
    }

    #[test]
    fn without_memory_an_empty_space_says_so_until_its_first_row() {
        let known = Known::new("s", TABLES, true, &KnownMemory::new(0));
        assert!(known.lacks(ALL, &[0; 4], b"c"));
        known.add(batch(0..1).bytes());
        assert!(!known.lacks(ALL, &[0; 4], b"c") && !known.lacks(ALL, &[9; 4], b"c"));
        known.learnt();
        assert!(known.has_given_up());
    }

    #[test]
    fn threads_that_need_a_segment_at_once_make_one() {
        let most = (64 << 10) + (1 << 20);
        let memory = KnownMemory::new(most);
        let known = Known::new("s", TABLES, true, &memory);
        std::thread::scope(|scope| {
            for thread in 0..4_u32 {
                let known = &known;
                scope.spawn(move || {
                    known.add(batch(thread * 20_000..(thread + 1) * 20_000).bytes());
                });
            }
        });
        assert!(!known.has_given_up());
        assert_eq!((known.bytes(), left(&memory)), (most, 0));
        assert!((0..80_000_u32).all(|row| !known.lacks(ALL, &row.to_be_bytes(), b"c")));
    }
}
