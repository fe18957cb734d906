//! The places of a partition with a few rows: one list, of which the end may wait to be sorted, as
//! in a large partition.

use crate::arena::{self, Arena, At};

/// Up to so many places more are inserted one by one, when the list is sorted; the whole list is
/// sorted otherwise.
const SINGLY_MAX: usize = 3;
const FIRST_ROOM: usize = 4;

/// Small, since a partition's place in the hash has room for it.
#[derive(Debug)]
pub(crate) struct Few {
    room: Box<[At]>,
    length: u16,
    /// So many from the first on are in order.
    sorted: u16,
    /// Whether all are. (That a `bool` has values to spare lets [`super::List`] tell its forms by
    /// it.)
    in_order: bool,
}

impl Few {
    /// Of two places, the older first.
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

    /// How many places there are, in order or not.
    pub(super) fn len(&self) -> usize {
        usize::from(self.length)
    }

    /// The places that are in order: one at least.
    #[inline]
    pub(super) fn in_order(&self) -> &[At] {
        &self.room[..usize::from(self.sorted)]
    }

    /// Those that wait, oldest first; all are newer than those in order.
    #[inline]
    pub(super) fn tail(&self) -> &[At] {
        match self.in_order {
            true => &[],
            false => &self.room[usize::from(self.sorted)..usize::from(self.length)],
        }
    }

    /// Asks the processor for the first place and for that of the next one.
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

    /// Sorts all by key, those of equal keys by age.
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
            // Stable, and those in front are older.
            list.sort_by(|a, b| key(*a).cmp(key(*b)));
        }
        self.sorted = self.length;
        self.in_order = true;
    }
}
