//! Heads: the first bytes of keys as numbers, stored next to the addresses of the rows. So most
//! comparisons need not read the keys, which are scattered in memory.

use std::cmp::Ordering;

use crate::arena::At;

/// The length of a head in bytes.
const HEAD_LEN: usize = 16;

/// The first 16 bytes of a key, or of its rest after a common prefix. A shorter one is padded with
/// zeros. So of two different keys, the smaller has a smaller or an equal head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head([u64; 2]);

impl Head {
    pub(crate) const MIN: Self = Self([0; 2]);
    pub(crate) const MAX: Self = Self([u64::MAX; 2]);

    #[inline]
    pub(crate) fn of(key: &[u8]) -> Self {
        let mut bytes = [0; HEAD_LEN];
        let length = key.len().min(HEAD_LEN);
        bytes[..length].copy_from_slice(&key[..length]);
        let number = u128::from_be_bytes(bytes);
        Self([(number >> 64) as u64, number as u64])
    }

    /// Returns the head of the rest of `key` after `common`. A key without that prefix has the
    /// least head if it is less than all keys with the prefix, and the greatest head if it is
    /// greater. So the order of heads with the same `common` never contradicts the order of keys.
    #[inline]
    pub(crate) fn behind(common: &[u8], key: &[u8]) -> Self {
        match key.strip_prefix(common) {
            Some(rest) => Self::of(rest),
            None if key < common => Self::MIN,
            None => Self::MAX,
        }
    }

    #[inline]
    fn number(self) -> u128 {
        u128::from(self.0[0]) << 64 | u128::from(self.0[1])
    }
}

impl Ord for Head {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.number().cmp(&other.number())
    }
}

impl PartialOrd for Head {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }

    #[inline]
    fn lt(&self, other: &Self) -> bool {
        self.number() < other.number()
    }

    #[inline]
    fn le(&self, other: &Self) -> bool {
        self.number() <= other.number()
    }
}

/// The address of a row, with the head of the row's key.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Item {
    pub(crate) head: Head,
    pub(crate) at: At,
}

/// Sorts by key and then by address. All heads must be made with the same common prefix. The sort
/// by heads alone needs no branches; after it, the few groups of equal heads are sorted by key.
pub(crate) fn sort<'a>(items: &mut [Item], key: impl Fn(At) -> &'a [u8]) {
    items.sort_unstable_by_key(|item| item.head.number());
    for alike in items.chunk_by_mut(|a, b| a.head == b.head) {
        if alike.len() > 1 {
            alike.sort_unstable_by(|a, b| key(a.at).cmp(key(b.at)).then(a.at.cmp(&b.at)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_never_contradict_the_order_of_keys() {
        let keys: [&[u8]; 9] = [
            b"",
            b"\0",
            b"a",
            b"a\0",
            b"aaaaaaaaaaaaaaaa",
            b"aaaaaaaaaaaaaaaab",
            b"ab",
            b"\xff",
            &[0xff; 20],
        ];
        for pair in keys.windows(2) {
            assert!(pair[0] < pair[1]);
            assert!(Head::of(pair[0]) <= Head::of(pair[1]), "{pair:?}");
        }
        for common in keys {
            for pair in keys.windows(2) {
                let heads = [pair[0], pair[1]].map(|key| Head::behind(common, key));
                assert!(heads[0] <= heads[1], "{pair:?} behind {common:?}");
            }
        }
        assert!(Head::of(b"a") < Head::of(b"ab"));
        assert!(Head::of(b"aaaaaaaab") < Head::of(b"aaaaaaaac"));
        assert_eq!(
            (Head::of(b""), Head::of(&[0xff; 16])),
            (Head::MIN, Head::MAX)
        );
    }

    #[test]
    fn equal_heads_are_sorted_by_key_and_place() {
        let keys: [&[u8]; 5] = [b"k\0\0", b"k\0", b"k", b"j", b"k\0"];
        let item = |(n, key): (usize, &&[u8])| Item {
            head: Head::of(key),
            at: At::new(n as u32, 0),
        };
        let mut items: Vec<Item> = keys.iter().enumerate().map(item).collect();
        sort(&mut items, |at| keys[at.block() as usize]);
        let order: Vec<u32> = items.iter().map(|item| item.at.block()).collect();
        assert_eq!(order, [3, 2, 1, 4, 0]);
    }
}
