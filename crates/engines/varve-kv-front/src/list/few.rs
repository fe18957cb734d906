//! The places of a partition with few rows: one list, with an unsorted tail as in a large
//! partition.

use crate::arena::{self, Arena, At};

/// Up to this number of unsorted places are inserted one by one; otherwise the whole list is
/// sorted.
const SINGLY_MAX: usize = 3;
const FIRST_ROOM: usize = 4;

/// Kept small, because it is stored in the partition's entry of the hash table.
#[derive(Debug)]
pub(crate) struct Few {
    room: Box<[At]>,
    length: u16,
    /// The number of sorted places, which are the first ones.
    sorted: u16,
    /// Whether all places are sorted. (A `bool` has invalid values, which [`super::List`] uses as
    /// its niche.)
    in_order: bool,
}

impl Few {
    /// Creates a list of two places, the older first.
    pub(super) fn of_two(old: At, new: At) -> Self {
        let mut room = vec![old; FIRST_ROOM].into_boxed_slice();
        room[1] = new;
        Self {
            room,
            length: 2,
            sorted: 1,
            in_order: false,
        }
    }

    /// The number of places, sorted or not.
    pub(super) fn len(&self) -> usize {
        usize::from(self.length)
    }

    /// The sorted places; there is at least one.
    #[inline]
    pub(super) fn in_order(&self) -> &[At] {
        &self.room[..usize::from(self.sorted)]
    }

    /// The unsorted places, oldest first. All of them are newer than the sorted ones.
    #[inline]
    pub(super) fn tail(&self) -> &[At] {
        match self.in_order {
            true => &[],
            false => &self.room[usize::from(self.sorted)..usize::from(self.length)],
        }
    }

    /// Prefetches the memory of the first place and of the next free one.
    #[inline]
    pub(super) fn prefetch(&self) {
        arena::prefetch(&self.room[0]);
        let next = usize::from(self.length).min(self.room.len() - 1);
        arena::prefetch(&self.room[next]);
    }

    pub(super) fn push(&mut self, new: At) {
        let length = usize::from(self.length);
        if length == self.room.len() {
            let mut larger = vec![new; length * 2].into_boxed_slice();
            larger[..length].copy_from_slice(&self.room);
            self.room = larger;
        }
        self.room[length] = new;
        self.length += 1;
        self.in_order = false;
    }

    /// Sorts all places by key, and places of equal keys by age.
    pub(super) fn fold(&mut self, arena: &Arena) {
        let (sorted, length) = (usize::from(self.sorted), usize::from(self.length));
        let list = &mut self.room[..length];
        let key = |at: At| arena.op(at).clustering();
        if length - sorted <= SINGLY_MAX {
            for end in sorted..length {
                let new = key(list[end]);
                let place = list[..end].partition_point(|at| key(*at) <= new);
                list[place..=end].rotate_right(1);
            }
        } else {
            // The sort is stable, and places in front are older.
            list.sort_by(|a, b| key(*a).cmp(key(*b)));
        }
        self.sorted = self.length;
        self.in_order = true;
    }
}
