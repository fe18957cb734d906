//! The places of a partition with many rows: sorted chunks, and an unsorted tail of those added
//! since the last read.
//!
//! A new place is appended to the tail without reading any other row. The next reader of the
//! partition *folds* the tail into the chunks. So writes without reads cost no comparison.
//! Alternating writes and reads cost as much as keeping the partition sorted.

use std::cmp::Ordering;
use std::collections::VecDeque;

use crate::arena::{Arena, At, PREFETCHED};
use crate::heads::{self, Head, Item};

/// The largest chunk; a larger one is split.
pub(super) const CHUNK_MAX: usize = if cfg!(test) { 8 } else { 256 };
/// When many places are added at once, chunks are filled only up to this number of places, so that
/// later places find room.
const CHUNK_FILLED: usize = CHUNK_MAX / 4 * 3;
/// Up to this number of places are inserted one by one, each with a search.
const SINGLY_MAX: usize = if cfg!(test) { 3 } else { 8 };
/// The number of chunks that a merge passes over in the time of one search and insertion.
const CHUNKS_PASSED: usize = 16;
/// The largest capacity that an empty tail keeps.
const TAIL_KEPT: usize = 1024;
/// The heads of the keys ([`Head`]) are computed anew when more than 1/`OUTSIDE_PART` of the keys
/// do not begin with the common prefix.
const OUTSIDE_PART: usize = 8;

/// A position among the chunks: chunk and index in it. The position past the end is (number of
/// chunks, 0).
pub(super) type Position = (usize, usize);

/// Up to `CHUNK_MAX` consecutive places. Their heads are stored apart, so that a search reads few
/// cache lines.
#[derive(Debug)]
struct Chunk {
    heads: Vec<Head>,
    places: Vec<At>,
}

#[derive(Debug)]
pub(crate) struct Many {
    /// The common prefix of the clustering keys; heads contain the bytes after it.
    common: Box<[u8]>,
    /// The number of sorted keys without that prefix. Their heads are [`Head::MIN`] or
    /// [`Head::MAX`].
    outside: usize,
    sorted: usize,
    /// There is at least one chunk, and none is empty.
    chunks: Vec<Chunk>,
    /// The first head of each chunk.
    firsts: Vec<Head>,
    /// The unsorted places, oldest first, all newer than those in the chunks.
    tail: VecDeque<At>,
}

/// The oldest places of a tail, sorted, ready to be folded.
#[derive(Debug)]
pub(crate) struct Folding {
    items: Vec<Item>,
    /// The oldest of these places.
    oldest: At,
    /// The common prefix after which the heads begin.
    common: Box<[u8]>,
    outside: usize,
}

/// The input of a [`Folding`]. It is sorted without the shard's lock.
#[derive(Debug)]
pub(crate) struct Unsorted {
    common: Box<[u8]>,
    places: Vec<At>,
}

impl Unsorted {
    /// Sorts the places.
    pub(crate) fn sort(self, arena: &Arena) -> Folding {
        let mut outside = 0;
        let mut items = Vec::with_capacity(self.places.len());
        for (n, at) in self.places.iter().enumerate() {
            if let Some(later) = self.places.get(n + PREFETCHED) {
                arena.prefetch(*later);
            }
            let key = arena.op(*at).clustering();
            outside += usize::from(!key.starts_with(&self.common));
            let head = Head::behind(&self.common, key);
            items.push(Item { head, at: *at });
        }
        heads::sort(&mut items, |at| arena.op(at).clustering());
        Folding {
            items,
            oldest: self.places[0],
            common: self.common,
            outside,
        }
    }
}

impl Many {
    /// Creates a list from sorted places.
    pub(super) fn of_sorted(arena: &Arena, places: Vec<At>) -> Self {
        let sorted = places.len();
        let heads = vec![Head::MIN; sorted];
        let mut many = Self {
            common: Box::default(),
            outside: 0,
            sorted,
            firsts: vec![Head::MIN],
            chunks: vec![Chunk { heads, places }],
            tail: VecDeque::new(),
        };
        many.take_heads(arena);
        many
    }

    /// Computes the common prefix of all sorted keys, and all heads after it. The prefix becomes
    /// shorter each time, so a list does this at most once for each byte of the prefix. With many
    /// rows it is very rare.
    fn take_heads(&mut self, arena: &Arena) {
        let key = |at: At| arena.op(at).clustering();
        let (Some(first), Some(last)) = (self.chunks.first(), self.chunks.last()) else {
            return;
        };
        let (first, last) = (
            key(first.places[0]),
            key(last.places[last.places.len() - 1]),
        );
        let alike = first.iter().zip(last).take_while(|(a, b)| a == b).count();
        self.common = first[..alike].into();
        self.outside = 0;
        for (chunk, first) in self.chunks.iter_mut().zip(&mut self.firsts) {
            for (head, at) in chunk.heads.iter_mut().zip(&chunk.places) {
                *head = Head::behind(&self.common, key(*at));
            }
            *first = chunk.heads[0];
        }
    }

    pub(super) fn chunks(&self) -> usize {
        self.chunks.len()
    }

    pub(super) fn chunk(&self, number: usize) -> &[At] {
        &self.chunks[number].places
    }

    /// Adds the newest place.
    #[inline]
    pub(super) fn push(&mut self, new: At) {
        self.tail.push_back(new);
    }

    /// The unsorted places, oldest first.
    #[inline]
    pub(super) fn tail(&self) -> &VecDeque<At> {
        &self.tail
    }

    /// The number of unsorted places, or 0 if none of them is in the first `visible` blocks.
    #[inline]
    pub(super) fn unsorted(&self, visible: u32) -> usize {
        match self.tail.front() {
            Some(oldest) if oldest.block() < visible => self.tail.len(),
            _ => 0,
        }
    }

    /// Returns the first position whose place is not `before`. `before` must be true for all places
    /// of keys less than `key`, and false for all places of greater keys. Among the places of
    /// `key`, those for which it is true must come first.
    pub(super) fn position(&self, key: &[u8], before: impl Fn(At) -> bool) -> Position {
        let head = Head::behind(&self.common, key);
        let past = split(&self.firsts, head, |n| before(self.chunks[n].places[0]));
        let Some(number) = past.checked_sub(1) else {
            return (0, 0);
        };
        let Chunk { heads, places } = &self.chunks[number];
        match split(heads, head, |n| before(places[n])) {
            at if at == places.len() => (number + 1, 0),
            at => (number, at),
        }
    }

    /// Returns the oldest unsorted places, up to `most`; there must be at least one.
    pub(super) fn oldest(&self, most: usize) -> Unsorted {
        Unsorted {
            common: self.common.clone(),
            places: self.tail.iter().take(most).copied().collect(),
        }
    }

    /// Sorts the whole tail into the chunks.
    pub(super) fn fold_all(&mut self, arena: &Arena) {
        if self.tail.len() <= SINGLY_MAX.max(self.chunks.len() / CHUNKS_PASSED) {
            while let Some(at) = self.tail.pop_front() {
                self.insert(arena, at);
            }
            self.check_heads(arena);
        } else {
            let folding = self.oldest(usize::MAX).sort(arena);
            self.fold(arena, folding);
        }
    }

    /// Merges a sorted part of the tail. If the tail's oldest place or the common prefix has
    /// changed since that part was taken, the part is discarded, and the caller has to sort again
    /// if need be.
    pub(super) fn fold(&mut self, arena: &Arena, folding: Folding) {
        if self.tail.front() != Some(&folding.oldest) || self.common != folding.common {
            return;
        }
        let items = &folding.items;
        self.tail.drain(..items.len());
        if self.tail.is_empty() && self.tail.capacity() > TAIL_KEPT {
            self.tail = VecDeque::new();
        }
        self.sorted += items.len();
        self.outside += folding.outside;
        self.merge(arena, items);
        self.check_heads(arena);
    }

    fn check_heads(&mut self, arena: &Arena) {
        if self.outside * OUTSIDE_PART > self.sorted {
            self.take_heads(arena);
        }
    }

    /// Inserts a place after all places whose keys are not greater.
    fn insert(&mut self, arena: &Arena, at: At) {
        let key = arena.op(at).clustering();
        self.sorted += 1;
        self.outside += usize::from(!key.starts_with(&self.common));
        let head = Head::behind(&self.common, key);
        let before = |at: At| arena.op(at).clustering() <= key;
        let past = split(&self.firsts, head, |n| before(self.chunks[n].places[0]));
        let number = past.saturating_sub(1);
        let chunk = &mut self.chunks[number];
        let place = split(&chunk.heads, head, |n| before(chunk.places[n]));
        chunk.heads.insert(place, head);
        chunk.places.insert(place, at);
        if place == 0 {
            self.firsts[number] = head;
        }
        if chunk.places.len() > CHUNK_MAX {
            // If rows arrive in ascending order, the old chunk stays full.
            let keep = match place {
                CHUNK_MAX => CHUNK_MAX,
                _ => CHUNK_MAX / 2,
            };
            let upper = chunk.split_off(keep);
            self.firsts.insert(number + 1, upper.heads[0]);
            self.chunks.insert(number + 1, upper);
        }
    }

    /// Merges sorted items, all newer than the places in the chunks, in one pass over the chunks.
    fn merge(&mut self, arena: &Arena, items: &[Item]) {
        let room = self.chunks.len() + items.len() / CHUNK_FILLED + 1;
        let old = std::mem::replace(&mut self.chunks, Vec::with_capacity(room));
        let firsts = std::mem::replace(&mut self.firsts, Vec::with_capacity(room));
        let mut left = items;
        let mut old = old.into_iter().zip(1..).peekable();
        while let Some((mut chunk, next)) = old.next() {
            let mine = match old.peek() {
                None => left.len(),
                Some((above, _)) => {
                    let first = Item {
                        head: firsts[next],
                        at: above.places[0],
                    };
                    let below = |item: &&Item| key_order(arena, item, &first).is_lt();
                    left.iter().take_while(below).count()
                }
            };
            let (these, rest) = left.split_at(mine);
            left = rest;
            let ascending = old.peek().is_none() && chunk.is_before(arena, these);
            chunk.merge(arena, these);
            self.append(chunk, ascending);
        }
    }

    /// Adds a chunk at the end. Splits it if it is too large: with `ascending` keys, into full
    /// chunks and a rest.
    fn append(&mut self, chunk: Chunk, ascending: bool) {
        let length = chunk.places.len();
        if length <= CHUNK_MAX {
            self.firsts.push(chunk.heads[0]);
            self.chunks.push(chunk);
            return;
        }
        let each = match ascending {
            true => CHUNK_MAX,
            false => length.div_ceil(length.div_ceil(CHUNK_FILLED)),
        };
        for (heads, places) in chunk.heads.chunks(each).zip(chunk.places.chunks(each)) {
            self.firsts.push(heads[0]);
            self.chunks.push(Chunk::with_room(heads, places));
        }
    }
}

impl Chunk {
    fn with_room(heads: &[Head], places: &[At]) -> Self {
        let mut chunk = Self {
            heads: Vec::with_capacity(CHUNK_MAX + 1),
            places: Vec::with_capacity(CHUNK_MAX + 1),
        };
        chunk.heads.extend_from_slice(heads);
        chunk.places.extend_from_slice(places);
        chunk
    }

    /// Splits off the places from `from` on.
    fn split_off(&mut self, from: usize) -> Self {
        let upper = Self::with_room(&self.heads[from..], &self.places[from..]);
        self.heads.truncate(from);
        self.places.truncate(from);
        upper
    }

    /// Whether all items come after all places.
    fn is_before(&self, arena: &Arena, items: &[Item]) -> bool {
        let (Some(head), Some(at)) = (self.heads.last(), self.places.last()) else {
            return true;
        };
        let last = Item {
            head: *head,
            at: *at,
        };
        items
            .first()
            .is_none_or(|first| key_order(arena, &last, first).is_le())
    }

    /// Merges sorted items that are newer than all places, from the greatest key down.
    fn merge(&mut self, arena: &Arena, items: &[Item]) {
        let mut old = self.places.len();
        let mut end = old + items.len();
        self.heads.resize(end, Head::MIN);
        self.places.resize(end, At::new(0, 0));
        for item in items.iter().rev() {
            let stays = split(&self.heads[..old], item.head, |n| {
                arena.op(self.places[n]).clustering() <= arena.op(item.at).clustering()
            });
            self.heads.copy_within(stays..old, end - (old - stays));
            self.places.copy_within(stays..old, end - (old - stays));
            end -= old - stays + 1;
            old = stays;
            self.heads[end] = item.head;
            self.places[end] = item.at;
        }
    }
}

fn key_order(arena: &Arena, a: &Item, b: &Item) -> Ordering {
    let key = |item: &Item| arena.op(item.at).clustering();
    a.head.cmp(&b.head).then_with(|| key(a).cmp(key(b)))
}

/// Returns the number of sorted `heads` that come before a key with this head. Among equal heads
/// `before` decides.
fn split(heads: &[Head], head: Head, before: impl Fn(usize) -> bool) -> usize {
    let less = heads.partition_point(|known| *known < head);
    let equal = match heads.get(less) {
        Some(known) if *known == head => heads[less..].partition_point(|known| *known == head),
        _ => return less,
    };
    let (mut from, mut to) = (less, less + equal);
    while from < to {
        let middle = from.midpoint(to);
        if before(middle) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    from
}

#[cfg(test)]
mod tests {
    use varve_kv::{Batch, TableId};

    use super::*;
    use crate::record;

    #[test]
    fn heads_are_taken_anew_when_many_keys_begin_otherwise() {
        let arena = Arena::new();
        let add = |key: String| {
            let mut batch = Batch::new();
            batch.put(TableId(0), b"p", key.as_bytes(), b"");
            let block = arena.push(record::batch(batch.bytes()));
            let at = arena.ops(block).map(|(at, _)| at).next();
            at.expect("a batch of one")
        };
        let first = (0..64).map(|n| add(format!("person/{n:04}"))).collect();
        let later: Vec<At> = (0..64).map(|n| add(format!("place/{n:04}"))).collect();
        let mut many = Many::of_sorted(&arena, first);
        assert_eq!(*many.common, *b"person/00");
        let mut kept = 0;
        for at in later {
            many.push(at);
            many.fold_all(&arena);
            assert!(many.outside * OUTSIDE_PART <= many.sorted);
            kept += usize::from(many.outside > 0);
        }
        // Nine keys without the prefix were too few for new heads.
        assert_eq!((kept, &*many.common), (9, &b"p"[..]));
        assert!(many.chunks.iter().all(|chunk| chunk.heads.is_sorted()));
    }
}
