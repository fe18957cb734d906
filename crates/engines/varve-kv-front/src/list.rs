//! The rows of one partition in a front table: a list of their *places*, which are addresses in the
//! arena. The list is sorted by clustering key. The versions of one row are sorted by age, oldest
//! first.
//!
//! The list is a single place at first, so that a vertex costs no allocation; then a short list
//! ([`few`]), then sorted chunks ([`many`]). A new place is appended to an unsorted tail. The next
//! read of the partition *folds* the tail into the sorted part. So an insertion costs no
//! comparison, whatever the number of rows.

mod few;
mod many;

use std::cmp::Ordering;
use std::ops::Bound;

use crate::arena::{Arena, At, PREFETCHED, Placed};
use few::Few;
pub(crate) use many::{Folding, Unsorted};
use many::{Many, Position};

/// The largest number of places in one [`Few`].
const LIST_MAX: usize = if cfg!(test) { 16 } else { 64 };
/// The largest number of places that are sorted and merged at once. So a merge holds the shard's
/// lock for a millisecond or two only; the places are sorted before, without the lock.
const FOLDED_AT_ONCE: usize = if cfg!(test) { 16 } else { 16_384 };
/// Up to this number of places are sorted under the shard's lock.
const SORTED_IN_PLACE: usize = if cfg!(test) { 8 } else { 256 };
/// A point read checks up to this number of unsorted places one by one, rather than have them
/// folded.
pub(crate) const TOLERATED: usize = 4;
/// After this number of versions of one row, the end of its versions is found by binary search.
const VERSIONS_WALKED: usize = 8;

/// A range of clustering keys, and the direction of its scan.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span<'a> {
    pub(crate) from: Bound<&'a [u8]>,
    pub(crate) to: Bound<&'a [u8]>,
    pub(crate) reverse: bool,
}

#[derive(Debug)]
pub(crate) enum List {
    One(At),
    Few(Few),
    Many(Box<Many>),
}

// There is one for each vertex in the table.
const _: () = assert!(size_of::<List>() == 24);

impl List {
    fn chunks(&self) -> usize {
        match self {
            Self::One(_) | Self::Few(_) => 1,
            Self::Many(many) => many.chunks(),
        }
    }

    fn chunk(&self, number: usize) -> &[At] {
        match self {
            Self::One(at) => std::slice::from_ref(at),
            Self::Few(few) => few.in_order(),
            Self::Many(many) => many.chunk(number),
        }
    }

    /// Returns any place of the partition; the partition key is the same in all of them.
    pub(crate) fn any(&self) -> At {
        match self {
            Self::One(at) => *at,
            Self::Few(few) => few.in_order()[0],
            Self::Many(many) => many.chunk(0)[0],
        }
    }

    /// Returns the first position whose place is not `before`. `before` must be true for all places
    /// of keys less than `key`, and false for all places of greater keys. Among the places of
    /// `key`, those for which it is true must come first.
    fn position(&self, key: &[u8], before: impl Fn(At) -> bool) -> Position {
        let list = match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Few(few) => few.in_order(),
            Self::Many(many) => return many.position(key, before),
        };
        match list.partition_point(|at| before(*at)) {
            at if at == list.len() => (1, 0),
            at => (0, at),
        }
    }

    fn place(&self, position: Position) -> Option<At> {
        if position.0 >= self.chunks() {
            return None;
        }
        self.chunk(position.0).get(position.1).copied()
    }

    fn before(&self, (number, at): Position) -> Option<Position> {
        if at > 0 {
            return Some((number, at - 1));
        }
        let number = number.checked_sub(1)?;
        Some((number, self.chunk(number).len() - 1))
    }

    /// Adds the newest place. Reads other rows only if the list becomes sorted chunks.
    pub(crate) fn insert(&mut self, arena: &Arena, new: At) {
        match self {
            Self::One(old) => *self = Self::Few(Few::of_two(*old, new)),
            Self::Few(few) => {
                few.push(new);
                if few.len() > LIST_MAX {
                    few.fold(arena);
                    let many = Many::of_sorted(arena, few.in_order().to_vec());
                    *self = Self::Many(Box::new(many));
                }
            }
            Self::Many(many) => many.push(new),
        }
    }

    /// Prefetches the memory that [`List::prefetch`] reads and an insertion writes.
    #[inline]
    pub(crate) fn prefetch_list(&self) {
        if let Self::Few(few) = self {
            few.prefetch();
        }
    }

    /// Prefetches the memory that an insertion reads.
    #[inline]
    pub(crate) fn prefetch(&self, arena: &Arena) {
        match self {
            Self::One(at) => arena.prefetch(*at),
            Self::Few(few) => arena.prefetch(few.in_order()[0]),
            // A large list was used recently, so it is in the processor's caches.
            Self::Many(_) => {}
        }
    }

    /// Prefetches the rows that [`List::collect`] reads first.
    #[inline]
    pub(crate) fn prefetch_rows(&self, arena: &Arena) {
        let places = match self {
            Self::One(at) => std::slice::from_ref(at),
            Self::Few(few) => few.in_order(),
            // It is searched by the first bytes of the keys, which it stores apart from the rows.
            Self::Many(_) => &[],
        };
        for at in places.iter().take(PREFETCHED) {
            arena.prefetch(*at);
        }
    }

    /// Whether more than `tolerated` places in the first `visible` blocks are not sorted.
    #[inline]
    pub(crate) fn must_fold(&self, visible: u32, tolerated: usize) -> bool {
        let first = match self {
            Self::One(_) => None,
            Self::Few(few) => few.tail().get(tolerated),
            Self::Many(many) => many.tail().get(tolerated),
        };
        first.is_some_and(|at| at.block() < visible)
    }

    /// Folds the tail if it is short. Otherwise returns its oldest part, which the caller must sort
    /// without the lock and then pass to [`List::fold`].
    pub(crate) fn fold_little(&mut self, arena: &Arena, visible: u32) -> Option<Unsorted> {
        let many = match self {
            Self::One(_) => return None,
            Self::Few(few) => {
                few.fold(arena);
                return None;
            }
            Self::Many(many) => many,
        };
        match many.unsorted(visible) {
            0 => {}
            1..=SORTED_IN_PLACE => many.fold_all(arena),
            _ => return Some(many.oldest(FOLDED_AT_ONCE)),
        }
        None
    }

    /// Merges a sorted part of the tail.
    pub(crate) fn fold(&mut self, arena: &Arena, folding: Folding) {
        if let Self::Many(many) = self {
            many.fold(arena, folding);
        }
    }

    /// Finds the newest version of a row in the first `visible` blocks. Some places in these blocks
    /// may be in the unsorted tail.
    pub(crate) fn find<'a>(
        &self,
        arena: &'a Arena,
        clustering: &[u8],
        visible: u32,
    ) -> Option<Placed<'a>> {
        let newest = |tail: &mut dyn Iterator<Item = &At>| {
            tail.take_while(|at| at.block() < visible)
                .map(|at| (*at, arena.op(*at)))
                .filter(|(_, op)| op.clustering() == clustering)
                .last()
        };
        let waits = match self {
            Self::One(_) => None,
            Self::Few(few) => newest(&mut few.tail().iter()),
            Self::Many(many) => newest(&mut many.tail().iter()),
        };
        waits.or_else(|| self.find_in_order(arena, clustering, visible))
    }

    fn find_in_order<'a>(
        &self,
        arena: &'a Arena,
        clustering: &[u8],
        visible: u32,
    ) -> Option<Placed<'a>> {
        let at = match self {
            Self::One(at) => *at,
            Self::Few(_) | Self::Many(_) => {
                let past = self.position(clustering, |at| {
                    match arena.op(at).clustering().cmp(clustering) {
                        Ordering::Less => true,
                        Ordering::Equal => at.block() < visible,
                        Ordering::Greater => false,
                    }
                });
                self.place(self.before(past)?)?
            }
        };
        let op = arena.op(at);
        (op.clustering() == clustering && at.block() < visible).then_some((at, op))
    }

    /// Appends to `out` the newest version in the first `visible` blocks of each row of `span`, up
    /// to `limit` rows. Returns whether there may be more rows. All places in these blocks must be
    /// sorted.
    pub(crate) fn collect<'a>(
        &self,
        arena: &'a Arena,
        span: Span<'_>,
        visible: u32,
        limit: usize,
        out: &mut Vec<Placed<'a>>,
    ) -> bool {
        if span.reverse {
            self.collect_back(arena, span, visible, limit, out)
        } else {
            self.collect_forward(arena, span, visible, limit, out)
        }
    }

    fn collect_forward<'a>(
        &self,
        arena: &'a Arena,
        span: Span<'_>,
        visible: u32,
        limit: usize,
        out: &mut Vec<Placed<'a>>,
    ) -> bool {
        let most = out.len() + limit;
        let mut walk = self.walk(arena, self.start(arena, span.from));
        // The row whose versions are being read, and the number of its versions after the first.
        let (mut row, mut versions): (Option<&[u8]>, _) = (None, 0);
        while let Some(placed) = walk.next() {
            let (at, op) = &placed;
            let is_visible = at.block() < visible;
            if row == Some(op.clustering()) {
                versions += 1;
                if versions == VERSIONS_WALKED {
                    let of = op.clustering();
                    let found = self.find_in_order(arena, of, visible);
                    if let (Some(found), Some(newest)) = (found, out.last_mut()) {
                        *newest = found;
                    }
                    let past = self.position(of, |at| arena.op(at).clustering() <= of);
                    walk = self.walk(arena, past);
                } else if is_visible && let Some(newest) = out.last_mut() {
                    // The last entry of `out` is an older version of the same row.
                    *newest = placed;
                }
                continue;
            }
            if past_end(op.clustering(), span.to) {
                return false;
            }
            if out.len() == most {
                return true;
            }
            row = Some(op.clustering());
            versions = 0;
            if is_visible {
                out.push(placed);
            }
        }
        false
    }

    /// Returns an iterator over the operations from a position on.
    fn walk<'l, 'a>(&'l self, arena: &'a Arena, (number, at): Position) -> Walk<'l, 'a> {
        let mut walk = Walk {
            list: self,
            arena,
            number,
            chunk: &[],
            at,
        };
        walk.enter(at);
        walk
    }

    fn collect_back<'a>(
        &self,
        arena: &'a Arena,
        span: Span<'_>,
        visible: u32,
        limit: usize,
        out: &mut Vec<Placed<'a>>,
    ) -> bool {
        let most = out.len() + limit;
        let clustering = |at: At| arena.op(at).clustering();
        let end = match span.to {
            Bound::Unbounded => (self.chunks(), 0),
            Bound::Excluded(to) => self.position(to, |at| clustering(at) < to),
            Bound::Included(to) => self.position(to, |at| clustering(at) <= to),
        };
        let mut next = self.before(end);
        while let Some(last) = next.and_then(|position| self.place(position)) {
            let row = clustering(last);
            let inside = match span.from {
                Bound::Unbounded => true,
                Bound::Included(from) => row >= from,
                Bound::Excluded(from) => row > from,
            };
            if !inside {
                return false;
            }
            if out.len() == most {
                return true;
            }
            out.extend(self.find_in_order(arena, row, visible));
            let first = self.position(row, |at| clustering(at) < row);
            next = self.before(first);
        }
        false
    }

    fn start(&self, arena: &Arena, from: Bound<&[u8]>) -> Position {
        match from {
            Bound::Unbounded | Bound::Included([]) => (0, 0),
            Bound::Included(from) => self.position(from, |at| arena.op(at).clustering() < from),
            Bound::Excluded(from) => self.position(from, |at| arena.op(at).clustering() <= from),
        }
    }
}

/// Iterates over the places of a list. Each row is read once, and prefetched before.
struct Walk<'l, 'a> {
    list: &'l List,
    arena: &'a Arena,
    number: usize,
    chunk: &'l [At],
    at: usize,
}

impl Walk<'_, '_> {
    /// Begins a chunk at the index `at`.
    fn enter(&mut self, at: usize) {
        self.at = at;
        self.chunk = match self.number < self.list.chunks() {
            true => self.list.chunk(self.number),
            false => &[],
        };
        // The rows of a short list were prefetched before the list was searched.
        if let List::Many(_) = self.list {
            for soon in self.chunk.iter().skip(at).take(PREFETCHED) {
                self.arena.prefetch(*soon);
            }
        }
    }
}

impl<'a> Iterator for Walk<'_, 'a> {
    type Item = Placed<'a>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.at == self.chunk.len() && !self.chunk.is_empty() {
            self.number += 1;
            self.enter(0);
        }
        let at = *self.chunk.get(self.at)?;
        if let Some(soon) = self.chunk.get(self.at + PREFETCHED) {
            self.arena.prefetch(*soon);
        }
        self.at += 1;
        Some((at, self.arena.op(at)))
    }
}

fn past_end(row: &[u8], to: Bound<&[u8]>) -> bool {
    match to {
        Bound::Unbounded => false,
        Bound::Excluded(to) => row >= to,
        Bound::Included(to) => row > to,
    }
}
