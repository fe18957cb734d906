//! The places of a partition with many rows: sorted chunks, and a tail of those that came since
//! somebody read.
//!
//! A row that comes is put at the tail's end without a look at any other. Who reads the partition
//! first *folds* the tail into the chunks, so that a partition that is only written to costs no
//! comparison at all, and one that is written and read in turns costs what keeping it sorted would.

use std::cmp::Ordering;
use std::collections::VecDeque;

use crate::arena::{Arena, At, PREFETCHED};
use crate::heads::{self, Head, Item};

/// A chunk is split when it would have more places.
pub(super) const CHUNK_MAX: usize = if cfg!(test) { 8 } else { 256 };
/// To so many places a chunk is filled when many come at once: the next ones then find room.
const CHUNK_FILLED: usize = CHUNK_MAX / 4 * 3;
/// Up to so many places are searched for and inserted one by one.
const SINGLY_MAX: usize = if cfg!(test) { 3 } else { 8 };
/// So many chunks are passed over in the time of one search and insertion.
const CHUNKS_PASSED: usize = 16;
/// An empty tail keeps room for so many places.
const TAIL_KEPT: usize = 1024;
/// When more than one of so many keys do not begin as the heads suppose, heads are taken anew.
const OUTSIDE_PART: usize = 8;

/// Where among the chunks: chunk, and place in it. A position past the end has the number of chunks
/// and 0.
pub(super) type Position = (usize, usize);

/// Some hundred neighbours, their heads apart so that a search touches few cache lines.
#[derive(Debug)]
struct Chunk {
    heads: Vec<Head>,
    places: Vec<At>,
}

#[derive(Debug)]
pub(crate) struct Many {
    /// What the clustering keys begin with: heads are of what follows.
    common: Box<[u8]>,
    /// How many of the sorted keys do not begin so. Their heads are the least or the greatest there
    /// is.
    outside: usize,
    sorted: usize,
    /// None is empty, and there is one at least.
    chunks: Vec<Chunk>,
    /// The first head of each chunk.
    firsts: Vec<Head>,
    /// Places in the order they came, all newer than those in the chunks.
    tail: VecDeque<At>,
}

/// The oldest places of a tail, sorted, ready to be folded.
#[derive(Debug)]
pub(crate) struct Folding {
    items: Vec<Item>,
    /// The oldest of them.
    oldest: At,
    /// What the heads are behind.
    common: Box<[u8]>,
    outside: usize,
}

/// What is needed to prepare a [`Folding`] while others write and read.
#[derive(Debug)]
pub(crate) struct Unsorted {
    common: Box<[u8]>,
    places: Vec<At>,
}

impl Unsorted {
    /// Sorts them.
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
    /// Of places that are sorted already.
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

    /// Takes all heads behind what all sorted keys begin with. In the life of a list that happens
    /// at most once for each byte that the beginning has, and hardly ever once there are many rows.
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

    /// Adds a place, the newest of all.
    #[inline]
    pub(super) fn push(&mut self, new: At) {
        self.tail.push_back(new);
    }

    /// Those that wait to be sorted, oldest first.
    #[inline]
    pub(super) fn tail(&self) -> &VecDeque<At> {
        &self.tail
    }

    /// How many places wait to be sorted, if any of them is in the first `visible` blocks.
    #[inline]
    pub(super) fn unsorted(&self, visible: u32) -> usize {
        match self.tail.front() {
            Some(oldest) if oldest.block() < visible => self.tail.len(),
            _ => 0,
        }
    }

    /// The first position whose place `before` does not hold for. It must hold for all places of
    /// keys less than `key`, for none of keys greater, and for none after one it does not hold for.
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

    /// The oldest unsorted places, up to `most`; there must be one.
    pub(super) fn oldest(&self, most: usize) -> Unsorted {
        Unsorted {
            common: self.common.clone(),
            places: self.tail.iter().take(most).copied().collect(),
        }
    }

    /// Sorts the whole tail in.
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

    /// Takes in what was sorted, unless the list has changed meanwhile: then it has to be sorted
    /// again, if at all.
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

    /// Inserts a place behind those of keys that are not greater.
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
            // Rows that come in ascending order leave full chunks behind.
            let keep = match place {
                CHUNK_MAX => CHUNK_MAX,
                _ => CHUNK_MAX / 2,
            };
            let upper = chunk.split_off(keep);
            self.firsts.insert(number + 1, upper.heads[0]);
            self.chunks.insert(number + 1, upper);
        }
    }

    /// Merges sorted items, all newer than what the chunks have, in one pass over the chunks.
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

    /// Adds a chunk at the end, in pieces if it is too large: full ones if what comes next comes
    /// after them.
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

    /// Takes away the places from `from` on.
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

/// How many of the sorted `heads` are before a key with this head; of those equal to it, `before`
/// decides.
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
        // A few alone were no reason.
        assert_eq!((kept, &*many.common), (9, &b"p"[..]));
        assert!(many.chunks.iter().all(|chunk| chunk.heads.is_sorted()));
    }
}
