//! The batches of one front table in the order of writing, each in one block. A block is never
//! moved or changed, so readers need no lock for its bytes. The order of the blocks is the order of
//! the writes.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use varve_kv::RawOp;

use crate::record::RECORD_HEAD;

/// The place of an operation: block and offset. A later operation has a greater place, so a place
/// is also a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct At(u64);

impl At {
    pub(crate) fn new(block: u32, offset: u32) -> Self {
        Self(u64::from(block) << 32 | u64::from(offset))
    }

    #[inline]
    pub(crate) fn block(self) -> u32 {
        (self.0 >> 32) as u32
    }

    #[inline]
    fn offset(self) -> usize {
        self.0 as u32 as usize
    }
}

/// An operation and its place.
pub(crate) type Placed<'a> = (At, RawOp<'a>);

/// Bytes that the processor fetches at once.
const CACHE_LINE: usize = 64;

/// Prefetches the cache line of a value that will be read soon.
#[inline]
pub(crate) fn prefetch<T>(soon: &T) {
    prefetch_at(std::ptr::from_ref(soon).cast());
}

/// Prefetches all cache lines of a value.
pub(crate) fn prefetch_lines<T>(soon: &T) {
    let start = std::ptr::from_ref(soon).cast::<u8>();
    for at in (0..size_of::<T>()).step_by(CACHE_LINE) {
        prefetch_at(start.wrapping_add(at));
    }
}

#[inline]
fn prefetch_at(at: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing as far as the program can tell, and is harmless for any
        // address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

/// How many rows ahead rows are prefetched in a visit of rows that are scattered in memory.
pub(crate) const PREFETCHED: usize = 16;

/// Blocks of the first group; each further group has room for twice as many as the one before.
const FIRST_GROUP: u32 = 64;
const GROUPS: usize = 26;

type Group = Box<[OnceLock<Box<[u8]>>]>;

/// An append-only list of blocks.
#[derive(Debug)]
pub(crate) struct Arena {
    groups: [OnceLock<Group>; GROUPS],
    blocks: AtomicU32,
}

impl Arena {
    pub(crate) fn new() -> Self {
        Self {
            groups: [const { OnceLock::new() }; GROUPS],
            blocks: AtomicU32::new(0),
        }
    }

    /// Appends a block and returns its number. Only one writer at a time.
    pub(crate) fn push(&self, bytes: Box<[u8]>) -> u32 {
        let number = self.blocks.load(Ordering::Relaxed);
        let (group, at) = place(number);
        let length = (FIRST_GROUP as usize) << group;
        let group =
            self.groups[group].get_or_init(|| (0..length).map(|_| OnceLock::new()).collect());
        let stored = group[at].set(bytes);
        assert!(stored.is_ok(), "one writer appends, each block once");
        self.blocks.store(number + 1, Ordering::Release);
        number
    }

    /// The number of blocks.
    pub(crate) fn blocks(&self) -> u32 {
        self.blocks.load(Ordering::Acquire)
    }

    #[inline]
    pub(crate) fn block(&self, number: u32) -> &[u8] {
        let (group, at) = place(number);
        self.groups[group]
            .get()
            .and_then(|group| group[at].get())
            .expect("block numbers come from push")
    }

    #[inline]
    pub(crate) fn op(&self, at: At) -> RawOp<'_> {
        RawOp::read(self.block(at.block()), at.offset())
            .expect("places are those of whole operations")
    }

    /// Prefetches the first bytes of an operation.
    #[inline]
    pub(crate) fn prefetch(&self, at: At) {
        let block = self.block(at.block());
        for place in [at.offset(), at.offset() + CACHE_LINE] {
            if let Some(byte) = block.get(place) {
                prefetch(byte);
            }
        }
    }

    /// Iterates over the operations of a block, with their places.
    pub(crate) fn ops(&self, block: u32) -> impl Iterator<Item = (At, RawOp<'_>)> {
        let bytes = self.block(block);
        let mut next = RECORD_HEAD;
        std::iter::from_fn(move || {
            let op = RawOp::read(bytes, next)?;
            // It fits: larger batches are refused before they are stored.
            let at = At::new(block, next as u32);
            next = op.end;
            Some((at, op))
        })
    }
}

/// Returns the group of a block, and the block's index in it.
#[inline]
fn place(number: u32) -> (usize, usize) {
    let shifted = number + FIRST_GROUP;
    let group = (shifted / FIRST_GROUP).ilog2();
    (group as usize, (shifted - (FIRST_GROUP << group)) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_found_again_over_the_groups() {
        let arena = Arena::new();
        for n in 0..1_000u32 {
            assert_eq!(arena.push(n.to_le_bytes().into()), n);
        }
        assert_eq!(arena.blocks(), 1_000);
        for n in 0..1_000u32 {
            assert_eq!(arena.block(n), n.to_le_bytes());
        }
        assert_eq!(place(0), (0, 0));
        assert_eq!(place(63), (0, 63));
        assert_eq!(place(64), (1, 0));
        assert_eq!(place(191), (1, 127));
        assert_eq!(place(192), (2, 0));
    }

    #[test]
    fn places_order_as_writes_do() {
        assert!(At::new(0, u32::MAX) < At::new(1, 0));
        assert!(At::new(3, 4) < At::new(3, 5));
    }
}
