//! What writes know of the store without asking it: which (edge label, source) entries are in the index, so that they
//! are not put again with every edge, and which labels vertices have, so that checking an edge's ends seldom reads.
//!
//! Both are tables of 64-bit marks without locks, of fixed size; what has no room pushes something else out. A mark tells
//! keys apart by their hashes, of which it and its place together hold some 70 or 80 bits.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use varve_encoding::tables::VERTEX;
use varve_kv::{Batch, Op};
use varve_model::VertexLabelId;

use super::PairHash;

/// Marks that share a place: a line of the processor's cache.
const WAYS: usize = 8;
/// Places that are made together when the first of them is needed.
const SEGMENT: usize = 1 << 13;
/// Places that are looked at together.
const AT_ONCE: usize = 32;
/// Segments of the pairs' table: 16 MiB when all are in use.
const PAIR_SEGMENTS: usize = 1 << 5;
/// Segments of the vertices' table: 32 MiB when all are in use, for 4 million vertices.
const VERTEX_SEGMENTS: usize = 1 << 6;

#[derive(Debug)]
#[repr(align(64))]
struct Place([AtomicU64; WAYS]);

/// A table of marks; zero is none.
#[derive(Debug)]
struct Marks(Box<[OnceLock<Box<[Place]>>]>);

impl Marks {
    fn new(segments: usize) -> Self {
        Self((0..segments).map(|_| OnceLock::new()).collect())
    }

    /// The segment and the place in it that belong to a hash.
    fn at(&self, hash: u64) -> (usize, usize) {
        let place = hash as usize;
        (
            (place / SEGMENT) & (self.0.len() - 1),
            place & (SEGMENT - 1),
        )
    }

    fn place(&self, hash: u64) -> Option<&Place> {
        let (segment, place) = self.at(hash);
        Some(&self.0[segment].get()?[place])
    }

    /// The mark at the place of `hash` that equals `mark` but for the bits of `rest`.
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

    fn put(&self, hash: u64, mark: u64) {
        let (segment, place) = self.at(hash);
        let segment = self.0[segment].get_or_init(|| {
            let empty = || Place(std::array::from_fn(|_| AtomicU64::new(0)));
            (0..SEGMENT).map(|_| empty()).collect()
        });
        let ways = &segment[place].0;
        let free = |way: &&AtomicU64| matches!(way.load(Ordering::Relaxed), 0) || is(way, mark);
        let way = ways.iter().find(free);
        // The bits that choose the victim are not those that chose the place.
        let way = way.unwrap_or(&ways[(hash >> 32) as usize % WAYS]);
        way.store(mark, Ordering::Release);
    }

    /// Takes away the marks at the place of `hash` that equal `mark` but for the bits of `rest`.
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

/// The (edge label, source) entries that a graph's newest commits put. Shared with commits on their way: those must not
/// hold their graph, whose last handle would then go on the committer's own thread.
#[derive(Debug)]
pub(crate) struct KnownPairs(Marks);

impl Default for KnownPairs {
    fn default() -> Self {
        Self(Marks::new(PAIR_SEGMENTS))
    }
}

/// A pair's place and its mark, which is never zero.
fn pair(hash: PairHash) -> (u64, u64) {
    ((hash >> 64) as u64, hash as u64 | 1)
}

impl KnownPairs {
    /// Whether the entry of that hash is stored for certain.
    pub(crate) fn contain(&self, hash: PairHash) -> bool {
        let (hash, mark) = pair(hash);
        self.0.find(hash, mark, 0).is_some()
    }

    /// Remembers entries that are stored now.
    pub(crate) fn remember(&self, hashes: impl IntoIterator<Item = PairHash>) {
        for hash in hashes {
            let (hash, mark) = pair(hash);
            self.0.put(hash, mark);
        }
    }
}

/// The labels of vertices that exist now and, as far as is stored, for ever. Whoever asks or adds holds the vertex's
/// latch at least shared; whoever writes its row holds it exclusively and has it forgotten before that is stored.
#[derive(Debug)]
pub(crate) struct KnownVertices(Marks);

impl Default for KnownVertices {
    fn default() -> Self {
        Self(Marks::new(VERTEX_SEGMENTS))
    }
}

/// The bits of a mark that hold the label; the others are the hash's.
const LABEL: u64 = 0xFFFF;

/// A vertex that is to be remembered once it is stored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VertexMark {
    hash: u64,
    mark: u64,
}

/// The place of a vertex and the part of its mark that is its own. Its mark and its place hold 66 bits of its hash: asked
/// 400,000 times a second for vertices that do not exist, one would be taken for another once in decades.
fn vertex(partition: &[u8]) -> (u64, u64) {
    let hash = xxhash_rust::xxh3::xxh3_128(partition);
    ((hash >> 64) as u64, hash as u64 & !LABEL)
}

impl VertexMark {
    /// For the vertex with this partition key; `None` when its label has no room in a mark.
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
    /// The label of the vertex with this partition key.
    pub(crate) fn label(&self, partition: &[u8]) -> Option<VertexLabelId> {
        let (hash, mark) = vertex(partition);
        let label = self.0.find(hash, mark, LABEL)? & LABEL;
        u32::try_from(label).ok().map(VertexLabelId)
    }

    /// Remembers a vertex that is stored now.
    pub(crate) fn remember(&self, vertex: VertexMark) {
        self.0.put(vertex.hash, vertex.mark);
    }

    /// Remembers many. Their places are looked at first, so that the processor waits for many of them at once.
    pub(crate) fn remember_all(&self, vertices: &[VertexMark]) {
        for part in vertices.chunks(AT_ONCE) {
            let places = part.iter().filter_map(|mark| self.0.place(mark.hash));
            let seen = places.fold(0, |seen, place| seen ^ place.0[0].load(Ordering::Relaxed));
            std::hint::black_box(seen);
            part.iter().for_each(|mark| self.remember(*mark));
        }
    }

    /// Forgets every vertex whose row a batch changes.
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
                self.0.remove(hash, mark, LABEL);
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
}
