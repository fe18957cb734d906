//! Which (edge label, source) entries were put into the index lately, so that they are not put again with every edge.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::PairHash;

/// Pairs remembered: one a slot, 8 bytes each. The newest of those that share a slot stays.
const SLOTS: usize = 1 << 21;

/// The pairs that a graph's newest commits put. Shared with commits on their way: those must not hold their graph, whose
/// last handle would then go on the committer's own thread.
#[derive(Debug, Default)]
pub(crate) struct KnownPairs(OnceLock<Box<[AtomicU64]>>);

/// The slot of a pair, and what stands there: 84 bits of the hash tell pairs apart. Zero is an empty slot.
fn place(hash: PairHash) -> (usize, u64) {
    ((hash >> 64) as usize & (SLOTS - 1), hash as u64 | 1)
}

impl KnownPairs {
    /// Whether the entry of that hash is stored for certain.
    pub(crate) fn contain(&self, hash: PairHash) -> bool {
        let (slot, mark) = place(hash);
        self.0
            .get()
            .is_some_and(|slots| slots[slot].load(Ordering::Acquire) == mark)
    }

    /// Remembers entries that are stored now.
    pub(crate) fn remember(&self, hashes: impl IntoIterator<Item = PairHash>) {
        let slots = self
            .0
            .get_or_init(|| (0..SLOTS).map(|_| AtomicU64::new(0)).collect());
        for hash in hashes {
            let (slot, mark) = place(hash);
            slots[slot].store(mark, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_remembered_is_known_until_another_takes_its_place() {
        let pairs = KnownPairs::default();
        let (one, other) = (7_u128 << 64 | 4, 7_u128 << 64 | 8);
        assert!(!pairs.contain(one));
        pairs.remember([one]);
        assert!(pairs.contain(one) && !pairs.contain(other));
        pairs.remember([other]);
        assert!(pairs.contain(other) && !pairs.contain(one));
    }
}
