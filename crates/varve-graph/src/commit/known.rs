//! Caches that spare writes a read of the store. The cache of pairs has the (edge label, source)
//! entries that are in the index, so that few edges put their entry again. The cache of vertices
//! has the labels of vertices, so that the check of an edge's ends rarely reads.
//!
//! Both are set-associative caches of 64-bit marks with a maximal size. They take no locks, except
//! while a segment is allocated. A new mark may evict another one. A mark identifies a key by its
//! hash: the mark and the number of its set together hold 81 bits of a pair's hash, and at least
//! 67 bits of a vertex's.
//!
//! The cache of vertices has several levels. Once full sets of a level have refused
//! [`REFUSED_MIN`] marks, the next level takes the marks that this one refuses. A read of a vertex
//! costs more than the rest of inserting an edge, so a graph with many vertices may use much memory
//! for this cache. A graph with few vertices uses the first level only.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};

use rustc_hash::FxHashSet;
use varve_encoding::tables::VERTEX;
use varve_kv::{Batch, Op};
use varve_model::VertexLabelId;

/// Hash of an (edge label, source) entry; collisions are negligible.
pub(crate) type PairHash = u128;

/// Marks in a set, which is one cache line of the processor.
const WAYS: usize = 8;
/// Sets that are allocated together when the first of them is needed.
const SEGMENT: usize = 1 << 13;
/// Sets that are prefetched together.
const AT_ONCE: usize = 32;
/// Segments of the cache of pairs: 16 MiB when all are allocated.
const PAIR_SEGMENTS: usize = 1 << 5;
/// Segments of the levels of the cache of vertices: 32, 32 and 64 MiB when all are allocated, for
/// 4, 4 and 8 million vertices.
const VERTEX_SEGMENTS: [usize; 3] = [1 << 6, 1 << 6, 1 << 7];
/// The most segments of the later levels (all but the first) of all graphs together: 96 MiB.
const LATER_SEGMENTS_MAX: usize = 192;
/// Marks that a level must refuse before the next one is used. Reads of so many vertices cost more
/// than the next level.
const REFUSED_MIN: usize = 1 << 16;

/// Allocated segments of the later levels of all graphs.
static LATER_SEGMENTS: AtomicUsize = AtomicUsize::new(0);

#[derive(Debug)]
#[repr(align(64))]
struct MarkSlots([AtomicU64; WAYS]);

impl MarkSlots {
    /// Stores a mark if this set has a free slot or has the mark already. Returns whether it did.
    fn take(&self, mark: u64) -> bool {
        let free = |way: &&AtomicU64| matches!(way.load(Ordering::Relaxed), 0) || is(way, mark);
        let way = self.0.iter().find(free);
        way.inspect(|way| way.store(mark, Ordering::Release))
            .is_some()
    }
}

fn empty_segment() -> Box<[MarkSlots]> {
    let empty = || MarkSlots(std::array::from_fn(|_| AtomicU64::new(0)));
    (0..SEGMENT).map(|_| empty()).collect()
}

/// A set-associative cache of marks; zero means an empty slot.
#[derive(Debug)]
struct Marks(Box<[OnceLock<Box<[MarkSlots]>>]>);

impl Marks {
    fn new(segments: usize) -> Self {
        Self((0..segments).map(|_| OnceLock::new()).collect())
    }

    /// Returns the segment of a hash, and the set in that segment.
    fn at(&self, hash: u64) -> (usize, usize) {
        let place = hash as usize;
        (
            (place / SEGMENT) & (self.0.len() - 1),
            place & (SEGMENT - 1),
        )
    }

    fn place(&self, hash: u64) -> Option<&MarkSlots> {
        let (segment, place) = self.at(hash);
        Some(&self.0[segment].get()?[place])
    }

    /// Returns the mark in the set of `hash` that equals `mark` outside the bits of `rest`; `None`
    /// if there is none.
    fn find(&self, hash: u64, mark: u64, rest: u64) -> Option<u64> {
        let mut found = 0;
        for each in &self.place(hash)?.0 {
            let stored = each.load(Ordering::Acquire);
            if stored & !rest == mark & !rest {
                found = stored;
            }
        }
        (found != 0).then_some(found)
    }

    /// Stores a mark, in place of another one if its set is full. Allocates the segment.
    fn put(&self, hash: u64, mark: u64) {
        let (segment, place) = self.at(hash);
        let segment = self.0[segment].get_or_init(empty_segment);
        if !segment[place].take(mark) {
            // The bits that choose the victim are not those that choose the set.
            let victim = (hash >> 32) as usize % WAYS;
            segment[place].0[victim].store(mark, Ordering::Release);
        }
    }

    /// Stores a mark if its segment is allocated, and its set has a free slot or has the mark
    /// already. Returns whether it did.
    fn take(&self, hash: u64, mark: u64) -> bool {
        self.place(hash).is_some_and(|place| place.take(mark))
    }

    /// Allocates the segment of a hash, unless it is allocated or the later levels have
    /// [`LATER_SEGMENTS_MAX`] segments. Returns whether it is allocated now.
    fn has_later_segment(&self, hash: u64) -> bool {
        let segment = &self.0[self.at(hash).0];
        if segment.get().is_some() {
            return true;
        }
        let more = |made: usize| (made < LATER_SEGMENTS_MAX).then_some(made + 1);
        let counted = LATER_SEGMENTS.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        if counted.is_ok() && segment.set(empty_segment()).is_err() {
            LATER_SEGMENTS.fetch_sub(1, Ordering::Relaxed);
        }
        segment.get().is_some()
    }

    /// Removes the marks in the set of `hash` that equal `mark` outside the bits of `rest`.
    fn remove(&self, hash: u64, mark: u64, rest: u64) {
        for way in self.place(hash).iter().flat_map(|place| &place.0) {
            if way.load(Ordering::Relaxed) & !rest == mark & !rest {
                way.store(0, Ordering::Release);
            }
        }
    }
}

fn is(way: &AtomicU64, mark: u64) -> bool {
    way.load(Ordering::Relaxed) == mark
}

/// Both caches of a graph.
///
/// The committer shares them with the graph. It must not hold the graph itself: the last handle of
/// the graph might then be dropped on the committer's own thread.
#[derive(Debug, Default)]
pub(crate) struct Known {
    pub(crate) pairs: KnownPairs,
    pub(crate) vertices: KnownVertices,
    /// The stored bound of the vertex ids that are made ([`crate::numbers`]).
    pub(crate) numbers_bound: AtomicI64,
}

/// What a commit adds to the caches once it is published.
#[derive(Debug, Default)]
pub(crate) struct Additions {
    pub(crate) pairs: FxHashSet<PairHash>,
    pub(crate) vertices: Vec<VertexMark>,
    /// The new bound that the commit stores.
    pub(crate) numbers_bound: Option<i64>,
}

impl Known {
    pub(crate) fn add(&self, additions: Additions) {
        self.pairs.remember(additions.pairs);
        self.vertices.remember_all(&additions.vertices);
        if let Some(bound) = additions.numbers_bound {
            self.numbers_bound.fetch_max(bound, Ordering::AcqRel);
        }
    }
}

/// The cache of the (edge label, source) entries that a graph's newest commits put.
#[derive(Debug)]
pub(crate) struct KnownPairs(Marks);

impl Default for KnownPairs {
    fn default() -> Self {
        Self(Marks::new(PAIR_SEGMENTS))
    }
}

/// The set of a pair, and its mark, which is never zero.
fn pair(hash: PairHash) -> (u64, u64) {
    ((hash >> 64) as u64, hash as u64 | 1)
}

impl KnownPairs {
    /// Whether the entry with that hash is known to be stored; `false` means unknown.
    pub(crate) fn contain(&self, hash: PairHash) -> bool {
        let (hash, mark) = pair(hash);
        self.0.find(hash, mark, 0).is_some()
    }

    /// Adds entries that have been stored.
    pub(crate) fn remember(&self, hashes: impl IntoIterator<Item = PairHash>) {
        for hash in hashes {
            let (hash, mark) = pair(hash);
            self.0.put(hash, mark);
        }
    }
}

/// The cache of the labels of vertices whose current state, by the stored events, never ends.
///
/// A caller that looks up or adds a vertex must hold at least a shared latch on it. A caller that
/// writes the row of a stored vertex must hold the exclusive latch, and must remove the vertex from
/// this cache before the row is stored.
#[derive(Debug)]
pub(crate) struct KnownVertices([Level; VERTEX_SEGMENTS.len()]);

#[derive(Debug)]
struct Level {
    marks: Marks,
    /// The number of marks that full sets refused; counted up to about [`REFUSED_MIN`].
    refused: AtomicUsize,
}

impl Default for KnownVertices {
    fn default() -> Self {
        Self(VERTEX_SEGMENTS.map(|segments| Level {
            marks: Marks::new(segments),
            refused: AtomicUsize::new(0),
        }))
    }
}

impl Drop for KnownVertices {
    fn drop(&mut self) {
        let later = self.0[1..].iter().flat_map(|level| &level.marks.0);
        let made = later.filter(|segment| segment.get().is_some()).count();
        LATER_SEGMENTS.fetch_sub(made, Ordering::Relaxed);
    }
}

/// The bits of a vertex's mark for the label; the other bits are from the hash.
const LABEL: u64 = 0xFFFF;

/// A vertex to be added to the cache once it is stored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VertexMark {
    hash: u64,
    mark: u64,
}

/// The set of a vertex and the hash bits of its mark, together at least 67 bits of the hash. At
/// 400,000 look-ups of absent vertices per second, with all sets full, a false match is expected
/// once in one to three years.
fn vertex(partition: &[u8]) -> (u64, u64) {
    let hash = crate::hash::wide(partition);
    ((hash >> 64) as u64, hash as u64 & !LABEL)
}

impl VertexMark {
    /// Returns the mark of the vertex with this partition key; `None` if its label does not fit
    /// into a mark, which holds labels from 1 to 65,535.
    pub(crate) fn new(partition: &[u8], label: VertexLabelId) -> Option<Self> {
        let label = u64::from(label.0);
        if label == 0 || label > LABEL {
            return None;
        }
        let (hash, mark) = vertex(partition);
        let mark = mark | label;
        Some(Self { hash, mark })
    }
}

impl KnownVertices {
    /// Returns the label of the vertex with this partition key, if it is cached.
    pub(crate) fn label(&self, partition: &[u8]) -> Option<VertexLabelId> {
        let (hash, mark) = vertex(partition);
        for level in &self.0 {
            if let Some(found) = level.marks.find(hash, mark, LABEL) {
                return u32::try_from(found & LABEL).ok().map(VertexLabelId);
            }
            if level.refused.load(Ordering::Relaxed) < REFUSED_MIN {
                break;
            }
        }
        None
    }

    /// Adds a vertex that has been stored.
    pub(crate) fn remember(&self, vertex: VertexMark) {
        let VertexMark { hash, mark } = vertex;
        for (number, level) in self.0.iter().enumerate() {
            let marks = &level.marks;
            if number > 0 && !marks.has_later_segment(hash) {
                break;
            }
            if marks.take(hash, mark) {
                return;
            }
            if level.refused.load(Ordering::Relaxed) < REFUSED_MIN {
                level.refused.fetch_add(1, Ordering::Relaxed);
                break;
            }
        }
        self.0[0].marks.put(hash, mark);
    }

    /// Adds many vertices that have been stored. Loads their sets of the first level beforehand, so
    /// that the processor overlaps the cache misses.
    pub(crate) fn remember_all(&self, vertices: &[VertexMark]) {
        let first = &self.0[0].marks;
        for part in vertices.chunks(AT_ONCE) {
            let places = part.iter().filter_map(|mark| first.place(mark.hash));
            let seen = places.fold(0, |seen, place| seen ^ place.0[0].load(Ordering::Relaxed));
            std::hint::black_box(seen);
            part.iter().for_each(|mark| self.remember(*mark));
        }
    }

    /// Removes every vertex whose row a batch changes.
    pub(crate) fn forget(&self, batch: &Batch) {
        for op in batch.ops() {
            let (Op::Put {
                table, partition, ..
            }
            | Op::Delete {
                table, partition, ..
            }
            | Op::DeletePrefix {
                table, partition, ..
            }) = op;
            if table == VERTEX {
                let (hash, mark) = vertex(partition);
                for level in &self.0 {
                    level.marks.remove(hash, mark, LABEL);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_remembered_is_known_until_others_take_its_place() {
        let pairs = KnownPairs::default();
        let of = |number: u128| 7_u128 << 64 | number << 1;
        assert!(!pairs.contain(of(0)));
        let all: Vec<PairHash> = (0..WAYS as u128).map(of).collect();
        pairs.remember(all.iter().copied());
        pairs.remember(all.iter().copied());
        assert!(all.iter().all(|pair| pairs.contain(*pair)));
        assert!(!pairs.contain(of(100)) && !pairs.contain(8_u128 << 64));
        pairs.remember([of(100)]);
        assert!(pairs.contain(of(100)));
        let left = all.iter().filter(|pair| pairs.contain(**pair)).count();
        assert_eq!(left, WAYS - 1);
    }

    #[test]
    fn a_vertex_is_forgotten_when_its_row_changes() {
        let known = KnownVertices::default();
        let remember = |name: &[u8], label| {
            let mark = VertexMark::new(name, VertexLabelId(label)).expect("a small label");
            known.remember(mark);
        };
        for at in 0..1_000_u32 {
            remember(&at.to_be_bytes(), at % 5 + 1);
        }
        let mark = |at: u32| VertexMark::new(&at.to_be_bytes(), VertexLabelId(7));
        known.remember_all(&(2_000..2_100).filter_map(mark).collect::<Vec<_>>());
        let sevens = (2_000..2_100_u32).map(|at| known.label(&at.to_be_bytes()));
        assert!(
            sevens
                .into_iter()
                .all(|label| label == Some(VertexLabelId(7)))
        );
        for at in 0..1_000_u32 {
            let label = known.label(&at.to_be_bytes());
            assert_eq!(label, Some(VertexLabelId(at % 5 + 1)));
        }
        assert!(VertexMark::new(b"a", VertexLabelId(70_000)).is_none());
        assert!(VertexMark::new(b"a", VertexLabelId(0)).is_none());
        let mut batch = Batch::new();
        batch.put(VERTEX, &1_u32.to_be_bytes(), b"c", b"v");
        batch.delete(VERTEX, &2_u32.to_be_bytes(), b"c");
        batch.delete_prefix(VERTEX, &3_u32.to_be_bytes(), b"");
        batch.put(
            varve_encoding::tables::EDGE,
            &4_u32.to_be_bytes(),
            b"c",
            b"v",
        );
        known.forget(&batch);
        for at in 0..1_000_u32 {
            let is_known = known.label(&at.to_be_bytes()).is_some();
            assert_eq!(is_known, !(1..=3).contains(&at), "{at}");
        }
    }

    #[test]
    fn many_vertices_are_known_and_forgotten_in_every_level() {
        let first: usize = VERTEX_SEGMENTS[0] * SEGMENT * WAYS;
        let known = KnownVertices::default();
        let many = (first * 5 / 4) as u32;
        let mark = |at: u32| VertexMark::new(&at.to_be_bytes(), VertexLabelId(3)).expect("small");
        for from in (0..many).step_by(1_000) {
            let marks: Vec<_> = (from..many.min(from + 1_000)).map(mark).collect();
            known.remember_all(&marks);
        }
        let is_known = |at: u32| known.label(&at.to_be_bytes()) == Some(VertexLabelId(3));
        let found = (0..many).filter(|at| is_known(*at)).count();
        assert!(found > many as usize * 95 / 100, "{found} of {many}");
        assert!(known.0[1].marks.0.iter().any(|it| it.get().is_some()));
        // A vertex may have its mark in any level, so marks must be removed from all levels.
        let mut batch = Batch::new();
        for at in (0..many).step_by(3) {
            batch.delete(VERTEX, &at.to_be_bytes(), b"c");
        }
        known.forget(&batch);
        assert_eq!((0..many).step_by(3).filter(|at| is_known(*at)).count(), 0);
        assert!(!is_known(many + 1));
        let segments = LATER_SEGMENTS.load(Ordering::Relaxed);
        assert!((1..=LATER_SEGMENTS_MAX).contains(&segments));
        drop(known);
        assert!(LATER_SEGMENTS.load(Ordering::Relaxed) < segments);
    }
}
